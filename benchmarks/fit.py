"""What the default fit costs, each figure a ratio against a named peer in the same run.

    python benchmarks/fit.py [small tables sparse cells alone choosing compile first predict]
    python benchmarks/fit.py --profile [digits | rows of 784 columns]

Two threads for both sides, float32, warm, the best of a few, in turn. The peer is scikit-learn's
NMF (nndsvda, 200 iterations) followed by KMeans (10 starts), unless said otherwise. ``growth``,
``tall`` and ``mapped`` take minutes and gigabytes and run only when asked for; ``all`` is every
part. Wall clock on a quiet machine; ``--cpu`` counts processor seconds of one thread instead, for
a machine that others use. The processor is named first: ratios differ between kinds.
"""

import argparse
import cProfile
import os
import platform
import pstats
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
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import NMF
from threadpoolctl import threadpool_limits

from _timing import THREADS, best, seconds
from fnmf import FNMF, RelevanceClusterer, choose_n_components
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


class Clock:
    """Wall clock with as many threads as all benchmarks have, or processor time of one."""

    threads, now = THREADS, staticmethod(time.perf_counter)

    @classmethod
    def of_processor(cls) -> None:
        cls.threads, cls.now = 1, staticmethod(time.process_time)

    @classmethod
    def seconds(cls, task: Callable[[], object]) -> float:
        start = cls.now()
        task()
        return cls.now() - start


def ours(X: np.ndarray | sp.csr_array, k: int = K) -> FNMF:
    return FNMF(k, random_state=0, n_jobs=Clock.threads).fit(X)


def theirs(X: np.ndarray | sp.csr_array, k: int = K) -> None:
    with threadpool_limits(Clock.threads):
        model = NMF(k, init="nndsvda", max_iter=200, random_state=0)
        KMeans(k, n_init=10, random_state=0).fit(model.fit_transform(X))


def report(what: str, value: float, bar: float, detail: str = "") -> None:
    verdict = "met" if value <= bar else "NOT MET"
    print(f"{what:<66} {value:7.2f}  bar {bar:5.2f}  {verdict}  {detail}", flush=True)


def against(what: str, bar: float, one: Callable[[], object], other: Callable[[], object]) -> None:
    one()
    other()
    # In turn, so that both meet the same machine.
    pairs = [(Clock.seconds(one), Clock.seconds(other)) for _ in range(3)]
    a, b = (min(times) for times in zip(*pairs, strict=True))
    report(what, a / b, bar, f"{a:.2f} s against {b:.2f} s")


def small() -> None:
    X = load_digits().data.astype(np.float32)
    against("digits 1,797 x 64", 1.2, lambda: ours(X), lambda: theirs(X))


def tables() -> None:
    for n, bar in ((5_000, 1.0), (20_000, 0.5), (80_000, 0.2)):
        X = planted(n)
        against(f"{n:,} x 784", bar, lambda X=X: ours(X), lambda X=X: theirs(X))


def alone() -> None:
    clusterer = RelevanceClusterer(K, random_state=0, n_jobs=Clock.threads)
    for name, X in (("digits", load_digits().data.astype(np.float32)), ("5,000", planted(5_000))):
        what = f"RelevanceClusterer alone against FNMF, {name}"
        against(what, 0.6, lambda X=X: clusterer.fit(X), lambda X=X: ours(X))


def chosen(X: np.ndarray) -> object:
    return choose_n_components(X, range(2, 16), random_state=0, n_jobs=Clock.threads)


def choosing() -> None:
    for name, X, bar in (
        ("digits", load_digits().data.astype(np.float32), 4),
        ("iris", load_iris().data.astype(np.float32), 8),
    ):
        what = f"choosing among 2 to 15 clusters against one fit, {name}"
        against(what, bar, lambda X=X: chosen(X), lambda X=X: ours(X))


def compiling() -> None:
    """Processor seconds of a process that compiles everything a fit of digits needs."""
    code = (
        "import time, warnings; warnings.simplefilter('ignore')\n"
        "from fnmf import FNMF\nfrom sklearn.datasets import load_digits\n"
        "FNMF(10, random_state=0, n_jobs=1).fit(load_digits().data)\nprint(time.process_time())"
    )
    found = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            env = {**os.environ, "NUMBA_CACHE_DIR": folder, "OMP_NUM_THREADS": "1"}
            command = [sys.executable, "-c", code]
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
        found.append(float(done.stdout))
    report("first fit ever on a machine, digits, processor seconds", min(found), 8)


def profile(what: str) -> None:
    """What a fit spends its time on: cumulative and own, in one thread."""
    X = load_digits().data.astype(np.float32) if what == "digits" else planted(int(what))
    Clock.of_processor()
    ours(X)
    print(f"{what}: {best(lambda: Clock.seconds(lambda: ours(X)), 3):.2f} s, with profile:")
    profiler = cProfile.Profile(time.process_time)
    profiler.runcall(ours, X)
    stats = pstats.Stats(profiler)
    stats.strip_dirs().sort_stats("cumulative").print_stats(40)
    stats.sort_stats("tottime").print_stats(20)


def sparse() -> None:
    X = topics()
    against("CSR 50,000 x 10,000, 0.5 % filled", 1.2, lambda: ours(X), lambda: theirs(X))


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
    report("10,000,000 x 50 against KMeans (1 start)", a / b, 1, f"{a:.0f} s against {b:.0f} s")
    report("  extra memory, share of X", peak.extra / X.nbytes, 0.25)


def mapped() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        X = np.lib.format.open_memmap(path, "w+", np.float32, (2_000_000, 784))
        for start in range(0, len(X), 100_000):
            X[start : start + 100_000] = planted(100_000, seed=start)
        X.flush()
        X = np.load(path, mmap_mode="r")
        spans = range(0, len(X), 100_000)
        passed = seconds(
            lambda: [float(np.vdot(X[i : i + 100_000], X[i : i + 100_000])) for i in spans]
        )
        with Peak() as peak:
            took = seconds(lambda: ours(X))
        report("2,000,000 x 784 mapped, anonymous memory in GB", peak.most / 2**30, 2)
        report("  passes over the file (sum of squares)", took / passed, 6, f"{took:.0f} s")


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
            bar = 0.7 if name == "planted" else 1.0
            report(f"first fit in a new process, 2,000 x 256 {name}, seconds more", a - b, bar)


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
    "alone": alone,
    "choosing": choosing,
    "compile": compiling,
    "first": first,
    "predict": predict,
    "growth": growth,
    "tall": tall,
    "mapped": mapped,
}
ASKED_FOR = ("growth", "tall", "mapped")


def processor() -> str:
    """What the figures are from."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.exists() else []
    names = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    usual = [name for name in PARTS if name not in ASKED_FOR]
    parser.add_argument("parts", nargs="*", default=usual, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--cpu", action="store_true", help="processor seconds, one thread")
    parser.add_argument("--profile", metavar="DATA", help="digits, or how many rows of 784 columns")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.profile:
        profile(options.profile)
        return
    if options.cpu:
        Clock.of_processor()
    print(
        f"{processor()}, {os.cpu_count()} cores, {'processor' if options.cpu else 'wall'} seconds"
    )
    for name in PARTS if options.parts == ["all"] else options.parts:
        PARTS[name]()


if __name__ == "__main__":
    main()
