"""Speed bars of the engine, each a ratio against a peer in the same run.

    python benchmarks/speed.py [dense sparse growth hals start graph ...]

Both sides use two threads and are warm; times are the best of several. ``hals`` needs the
benchmark data sets (FNMF_DATA_HOME).
"""

import argparse
import subprocess
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from _timing import THREADS, best, fnmf_iteration, seconds, sklearn_iteration
from fnmf.data import view_of
from fnmf.execution import threads
from fnmf.factorization.solver import ExecutionContext, Factors, Progress, Stopping, solve
from fnmf.factorization.terms import (
    FixedWeighting,
    Objective,
    PaperWeighting,
    graph_ties,
    uniform_weights,
)
from fnmf.graph import adaptive_neighbors

NAMES = ("yale", "orl", "binary-alphadigits", "usps", "semeion", "cnae-9", "glass", "mfeat")


def report(what: str, value: float, bar: float, detail: str = "") -> None:
    verdict = "met" if value <= bar else "NOT MET"
    print(f"{what:<62} {value:7.3f}  bar {bar:5.3f}  {verdict}  {detail}", flush=True)


def dense() -> None:
    """One iteration against scikit-learn's NMF(solver="mu")."""
    rng = np.random.default_rng(0)
    cases = [
        (20_000, 784, 10, "sample", 1.0),
        (20_000, 784, 10, "shared", 0.8),
        (20_000, 784, 40, "sample", 1.3),
        (20_000, 784, 40, "shared", 1.3),
        (2_000, 256, 10, "sample", 1.5),
        (2_000, 256, 10, "shared", 1.5),
    ]
    for dtype in (np.float32, np.float64):
        for n, d, c, assignment, bar in cases:
            X = rng.random((n, d), dtype=dtype)
            iterations = 20 if n > 5_000 else 200
            ours = fnmf_iteration(X, c, shared=assignment == "shared", iterations=iterations)
            theirs = sklearn_iteration(X, c, iterations=iterations)
            name = f"{n} x {d} {np.dtype(dtype)} c={c} {assignment}"
            detail = f"{1e3 * ours:.2f} ms against {1e3 * theirs:.2f} ms"
            report(name, ours / theirs, bar, detail)


def sparse() -> None:
    """One iteration on sparse data against scikit-learn's."""
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        X = sp.random_array((50_000, 10_000), density=0.005, rng=rng, dtype=dtype, format="csr")
        for assignment in ("sample", "shared"):
            ours = fnmf_iteration(X, 10, shared=assignment == "shared", iterations=10)
            theirs = sklearn_iteration(X, 10, iterations=10)
            detail = f"{1e3 * ours:.1f} ms against {1e3 * theirs:.1f} ms"
            name = f"CSR 50000 x 10000, 0.5 % {np.dtype(dtype)} c=10 {assignment}"
            report(name, ours / theirs, 1.0, detail)


def growth() -> None:
    """Slope of log time on log n."""
    sizes = np.array([20_000, 40_000, 80_000, 160_000])
    X = np.random.default_rng(0).random((sizes[-1], 784), dtype=np.float32)
    times = [fnmf_iteration(X[:n], 10, iterations=5, repeats=4) for n in sizes]
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    report("growth with n, 20k to 160k", slope, 1.05, " ".join(f"{1e3 * t:.1f}" for t in times))


def _seconds_to(
    X: np.ndarray, S: sp.csr_array | None, terms: dict, solver: str, goal: float | None
) -> tuple[float, float, int]:
    """Run 300 iterations, or until the objective is at ``goal``: seconds, objective, iterations."""
    view = view_of(X)
    n, d = X.shape
    c = terms["n_components"]
    m = terms["n_weightings"]
    live = np.ones(d, bool)
    learned = m > 1
    objective = Objective(
        PaperWeighting(terms["diversity"], live) if learned else FixedWeighting(),
        graph_ties(S, terms["smoothness"], view.dtype),
        shared=not learned,
        unit=terms["normalize"],
    )
    stopping = Stopping(max_iter=300, tol=0)

    def reached(progress: Progress) -> bool:
        return goal is not None and progress.terms["total"] <= goal * (1 + 1e-9)

    def run() -> float:
        rng = np.random.default_rng(0)
        scale = 1 / d if learned else 1.0
        size = 2 * np.sqrt(scale * X.mean() / c)
        U, V = size * rng.random((d, c)), size * rng.random((n, c))
        weights = uniform_weights(m, live) if learned else np.ones((1, d))
        P = np.full((n if learned else 1, m), 1 / m)
        nonlocal result
        start = time.perf_counter()
        factors = Factors(U, V, P, weights)
        result = solve(machine, objective, factors, solver, stopping, reached)
        return time.perf_counter() - start

    result = None
    with threads(THREADS) as runner:
        machine = ExecutionContext(view, runner)
        _ = machine.column_energy
        run()
        return best(run, 3), result.objective, result.n_iter


def hals() -> None:
    """Time of hals to reach what mu reaches in 300 iterations."""
    from fnmf.datasets import load, unit_rows

    cases = {
        "NMF": {"n_weightings": 1, "smoothness": 0.0, "diversity": 0.0, "normalize": False},
        "GNMF": {"n_weightings": 1, "smoothness": 100.0, "diversity": 0.0, "normalize": False},
        "GNMF, unit components": {
            "n_weightings": 1,
            "smoothness": 100.0,
            "diversity": 0.0,
            "normalize": True,
        },
        "FNMF": {"n_weightings": 3, "smoothness": 0.01, "diversity": 10.0, "normalize": False},
    }
    for case, terms in cases.items():
        ratios = []
        for name in NAMES if case != "FNMF" else ("yale", "orl"):
            bunch = load(name)
            X = unit_rows(bunch.data.astype(np.float64))
            S = adaptive_neighbors(X, 5) if terms["smoothness"] else None
            terms = terms | {"n_components": len(np.unique(bunch.target))}
            slow, goal, _ = _seconds_to(X, S, terms, "mu", None)
            fast, reached, count = _seconds_to(X, S, terms, "hals", goal)
            failed = reached > goal * (1 + 1e-9)
            ratios.append(np.inf if failed else fast / slow)
            print(f"    {case} {name}: {ratios[-1]:.3f} ({count} iterations of hals)", flush=True)
        report(f"hals to the objective of mu after 300, {case}", float(np.median(ratios)), 0.2)


def start() -> None:
    """First fit in a new process, kernels cached, against scikit-learn's NMF in a new process."""
    data = "import numpy as np; X = np.random.default_rng(0).random((2000, 256));"
    quiet = "import warnings; warnings.simplefilter('ignore');"
    fit = "from fnmf import FNMF; FNMF(10, weighting={!r}, max_iter=20, random_state=0).fit(X)"
    theirs = (
        quiet
        + data
        + ("from sklearn.decomposition import NMF; NMF(10, max_iter=20, random_state=0).fit(X)")
    )

    def fresh(code: str) -> float:
        return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True))

    fresh(theirs)
    base = best(lambda: fresh(theirs), 5)
    for weighting in ("paper", "relevance"):
        ours = quiet + data + fit.format(weighting)
        fresh(ours)
        gap = best(lambda code=ours: fresh(code), 5) - base
        report(f"first fit in a new process, {weighting}: seconds more than NMF", gap, 1.5)


def graph() -> None:
    """Approximate neighbour search against scikit-learn's brute force."""
    from graph_search import compare

    ratio, recall = compare()
    report("approximate graph 70000 x 64 against brute force", ratio, 0.2)
    report("  one minus its recall", 1 - recall, 0.03)


PARTS = {part.__name__: part for part in (dense, sparse, growth, hals, start, graph)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=f"any of {', '.join(PARTS)}")
    warnings.simplefilter("ignore")
    for name in parser.parse_args().parts or PARTS:
        print(f"== {name}: {PARTS[name].__doc__}", flush=True)
        with threadpool_limits(THREADS):
            PARTS[name]()


if __name__ == "__main__":
    main()
