"""What the default fit costs, each figure a ratio against a named peer in the same run.

    python benchmarks/fit.py [small tables sparse cells growth tall mapped first predict]

Two threads for both sides, float32, warm, the best of a few. The peer is scikit-learn's NMF
(nndsvda, 200 iterations) followed by KMeans (10 starts), unless said otherwise. ``growth``,
``tall`` and ``mapped`` take minutes and gigabytes and run only when asked for.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF
from threadpoolctl import threadpool_limits

from _timing import THREADS, best, seconds
from fnmf import FNMF
from memory import Peak

K = 10


def planted(n: int, informative: int = 100, noise: int = 684, seed: int = 0) -> np.ndarray:
    """Ten clusters in some features, uniform noise in the others."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(size=(K, informative)).astype(np.float32)
    X = np.empty((n, informative + noise), np.float32)
    for start in range(0, n, 100_000):
        part = slice(start, min(start + 100_000, n))
        rows = part.stop - part.start
        labels = rng.integers(0, K, rows)
        spread = rng.standard_normal((rows, informative), dtype=np.float32)
        X[part, :informative] = np.abs(centres[labels] + 0.3 * spread)
        X[part, informative:] = rng.random((rows, noise), dtype=np.float32)
    return X


def topics(n: int = 50_000, d: int = 10_000, filled: float = 0.005) -> sp.csr_array:
    """Sparse counts: half of the words of a document come from its topic."""
    rng = np.random.default_rng(0)
    words = int(filled * d)
    labels = rng.integers(0, K, n)
    own = labels[:, None] * (d // K) + rng.integers(0, d // K, (n, words // 2))
    anywhere = rng.integers(0, d, (n, words - words // 2))
    columns = np.hstack([own, anywhere]).ravel()
    rows = np.repeat(np.arange(n), words)
    counts = rng.integers(1, 4, len(columns)).astype(np.float32)
    return sp.csr_array((counts, (rows, columns)), shape=(n, d))


def cells() -> np.ndarray:
    """A quarter of the entries filled, eight clusters of uneven sizes."""
    rng = np.random.default_rng(0)
    labels = rng.choice(8, 2100, p=np.array([8, 6, 5, 4, 3, 2, 1, 1]) / 30)
    rates = rng.gamma(0.3, 1.0, (8, 2000))
    return rng.poisson(rates[labels]).astype(np.float32)


def ours(X: np.ndarray | sp.csr_array, k: int = K) -> FNMF:
    return FNMF(k, random_state=0, n_jobs=THREADS).fit(X)


def theirs(X: np.ndarray | sp.csr_array, k: int = K) -> None:
    with threadpool_limits(THREADS):
        model = NMF(k, init="nndsvda", max_iter=200, random_state=0)
        KMeans(k, n_init=10, random_state=0).fit(model.fit_transform(X))


def report(what: str, value: float, bar: float, detail: str = "") -> None:
    verdict = "met" if value <= bar else "NOT MET"
    print(f"{what:<66} {value:7.2f}  bar {bar:5.2f}  {verdict}  {detail}", flush=True)


def against(what: str, bar: float, one: Callable[[], object], other: Callable[[], object]) -> None:
    one()
    a, b = best(lambda: seconds(one), 3), best(lambda: seconds(other), 3)
    report(what, a / b, bar, f"{a:.2f} s against {b:.2f} s")


def small() -> None:
    X = load_digits().data.astype(np.float32)
    against("digits 1,797 x 64", 3, lambda: ours(X), lambda: theirs(X))


def tables() -> None:
    for n in (5_000, 20_000, 80_000):
        X = planted(n)
        against(f"{n:,} x 784", 1.5, lambda X=X: ours(X), lambda X=X: theirs(X))


def sparse() -> None:
    X = topics()
    against("CSR 50,000 x 10,000, 0.5 % filled", 2, lambda: ours(X), lambda: theirs(X))


def cells_as_csr() -> None:
    X = cells()
    S = sp.csr_array(X)
    filled = S.nnz / X.size
    what = f"CSR 2,100 x 2,000, {filled:.0%} filled, against the same data dense"
    against(what, 1.2, lambda: ours(S, 8), lambda: ours(X, 8))


def growth() -> None:
    for sizes, informative, noise in (
        ((20_000, 40_000, 80_000, 160_000), 100, 684),
        ((20_000, 80_000, 320_000, 640_000), 30, 70),
    ):
        times = []
        for n in sizes:
            X = planted(n, informative, noise)
            ours(X)
            times.append(best(lambda X=X: seconds(lambda: ours(X)), 2))
            print(f"  {n:>8,} x {informative + noise}: {times[-1]:.2f} s", flush=True)
        slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        report(f"slope of log time on log n, {sizes[0]:,} to {sizes[-1]:,}", float(slope), 1.05)


def tall() -> None:
    X = planted(10_000_000, 20, 30)
    with Peak() as peak:
        a = seconds(lambda: ours(X))
    with threadpool_limits(THREADS):
        b = seconds(lambda: KMeans(K, n_init=1, random_state=0).fit(X))
    report("10,000,000 x 50 against KMeans (1 start)", a / b, 3, f"{a:.0f} s against {b:.0f} s")
    report("  extra memory, share of X", peak.extra / X.nbytes, 0.5)


def mapped() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        X = np.lib.format.open_memmap(path, "w+", np.float32, (2_000_000, 784))
        for start in range(0, len(X), 100_000):
            X[start : start + 100_000] = planted(100_000, seed=start)
        X.flush()
        X = np.load(path, mmap_mode="r")
        start = time.perf_counter()
        with Peak() as peak:
            ours(X)
        report("2,000,000 x 784 mapped, anonymous memory in GB", peak.most / 2**30, 2)
        print(f"  {time.perf_counter() - start:.0f} s")


def first() -> None:
    rows = {
        "noise": np.random.default_rng(0).random((2000, 256), dtype=np.float32),
        "planted": planted(2000, 100, 156),
    }
    code = (
        "import sys, time, warnings, numpy as np; warnings.simplefilter('ignore')\n"
        "X = np.load(sys.argv[1])\nstart = time.perf_counter()\n"
        "{}\nprint(time.perf_counter() - start)"
    )
    bodies = (
        "from fnmf import FNMF; FNMF(10, random_state=0).fit(X)",
        "from sklearn.decomposition import NMF; NMF(10, random_state=0).fit(X)",
    )

    # Python keeps what it has compiled, unless it is told not to.
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(body: str, path: Path) -> float:
        command = [sys.executable, "-W", "ignore", "-c", code.format(body), str(path)]
        found = subprocess.run(command, capture_output=True, text=True, check=True, env=usual)
        return float(found.stdout)

    with tempfile.TemporaryDirectory() as folder:
        for name, X in rows.items():
            path = Path(folder) / f"{name}.npy"
            np.save(path, X)
            run(bodies[0], path)
            a, b = (min(run(body, path) for _ in range(5)) for body in bodies)
            report(f"first fit in a new process, 2,000 x 256 {name}, seconds more", a - b, 1.0)


def predict() -> None:
    X, new = planted(20_000), planted(10_000, seed=1)
    model = ours(X)
    with threadpool_limits(THREADS):
        nmf = NMF(K, init="nndsvda", max_iter=200, random_state=0)
        clusters = KMeans(K, n_init=1, random_state=0).fit(nmf.fit_transform(X))
        against(
            "predict on 10,000 new rows",
            2,
            lambda: model.predict(new),
            lambda: clusters.predict(nmf.transform(new)),
        )


PARTS = {
    "small": small,
    "tables": tables,
    "sparse": sparse,
    "cells": cells_as_csr,
    "first": first,
    "predict": predict,
    "growth": growth,
    "tall": tall,
    "mapped": mapped,
}
ASKED_FOR = ("growth", "tall", "mapped")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    usual = [name for name in PARTS if name not in ASKED_FOR]
    parser.add_argument("parts", nargs="*", default=usual, metavar="PART", help=", ".join(PARTS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.parts:
        PARTS[name]()


if __name__ == "__main__":
    main()
