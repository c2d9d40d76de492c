"""Parts of the speed benchmark that take seconds: a whole fit against its peers."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import NMF
from threadpoolctl import threadpool_limits

from _fit_data import K, cells, planted, topics
from _fit_rows import Clock, against, report
from _timing import THREADS, fnmf_iteration, sklearn_iteration
from fnmf import FNMF, RelevanceClusterer, choose_n_components
from memory import Peak
from repeated import CASES, NEAR_N, cost


def ours(X: np.ndarray | sp.csr_array, k: int = K) -> FNMF:
    return FNMF(k, random_state=0, n_jobs=Clock.threads).fit(X)


def theirs(X: np.ndarray | sp.csr_array, k: int = K) -> None:
    with threadpool_limits(Clock.threads):
        model = NMF(k, init="nndsvda", max_iter=200, random_state=0)
        KMeans(k, n_init=10, random_state=0).fit(model.fit_transform(X))


def small() -> None:
    X = load_digits().data.astype(np.float32)
    against("digits 1,797 x 64", 1.2, lambda: ours(X), lambda: theirs(X))


def tables() -> None:
    for n, bar in ((5_000, 1.0), (20_000, 0.5), (80_000, 0.2)):
        X = planted(n)
        against(f"{n:,} x 784", bar, lambda X=X: ours(X), lambda X=X: theirs(X))


def sparse() -> None:
    X = topics()
    against("CSR 50,000 x 10,000, 0.5 % filled", 1.2, lambda: ours(X), lambda: theirs(X))


def cells_as_csr() -> None:
    X = cells()
    S = sp.csr_array(X)
    filled = S.nnz / X.size
    what = f"CSR 2,100 x 2,000, {filled:.0%} filled, against the same data dense"
    against(what, 1.2, lambda: ours(S, 8), lambda: ours(X, 8))


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


def repeated() -> None:
    """Rows that repeat each other, and nearly as many clusters as rows; processor seconds."""
    cases = [(name, 10_000, 3) for name in CASES]
    cases += [(f"k = {round(share * 400)}", 400, 10) for share in NEAR_N]
    for name, n, bar in cases:
        own, peer, extra, size = cost(name, n)
        report(f"{name}, {n:,} rows, against KMeans and NMF", own / peer, bar, f"{own:.2f} s")
        report("  extra memory, share of the larger of X and 200 MB", extra / max(size, 2e8), 1)


def paper() -> None:
    """One iteration of ``weighting="paper"`` against scikit-learn's ``NMF(solver="mu")``."""
    rng = np.random.default_rng(0)
    wide, sparse = (20_000, 784), (50_000, 10_000)
    with threadpool_limits(Clock.threads):
        for shape, c, kind, bar in (
            ((2_000, 256), 10, "float32", 1.5),
            (wide, 10, "float32", 1.0),
            (wide, 10, "float64", 1.0),
            (wide, 40, "float32", 1.3),
            (sparse, 10, "float32", 1.0),
            (sparse, 10, "float64", 1.0),
        ):
            if shape == sparse:
                X = sp.random_array(shape, density=0.005, rng=rng, dtype=kind, format="csr")
            else:
                X = rng.random(shape, dtype=kind)
            iterations = 200 if shape[0] < 5_000 else 10
            many = {"iterations": iterations, "repeats": 3, "timed": Clock.seconds}
            own = fnmf_iteration(X, c, n_threads=Clock.threads, **many)
            peer = sklearn_iteration(X, c, **many)
            what = f"iteration of paper, {shape[0]:,} x {shape[1]:,} {kind}, c = {c}"
            report(what + ", CSR" * (shape == sparse), own / peer, bar, f"{1e3 * own:.1f} ms")


def wide() -> None:
    """Memory of a default fit of many features."""
    rng = np.random.default_rng(0)
    dense = rng.random((5_000, 20_000), dtype=np.float32)
    dense[:, :200] += rng.random((K, 200), dtype=np.float32)[rng.integers(K, size=5_000)]
    counts = topics(5_000, 20_000, 0.02)
    ours(planted(500))
    ours(topics(500, 1_000, 0.02))
    for name, X, size in (
        ("dense", dense, dense.nbytes),
        ("CSR, 2 % filled", counts, counts.data.nbytes + counts.indices.nbytes),
    ):
        with Peak() as peak:
            ours(X)
        report(f"5,000 x 20,000 {name}: extra memory, share of X", peak.extra / size, 0.25)


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
