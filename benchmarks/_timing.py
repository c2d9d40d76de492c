"""What the speed benchmarks share: data, one iteration of each side, best of several."""

import time
import warnings
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import NMF

from fnmf.data import view_of
from fnmf.execution import threads
from fnmf.factorization.solver import ExecutionContext, Factors, Stopping, solve
from fnmf.factorization.terms import (
    Objective,
    PaperWeighting,
    graph_ties,
    uniform_weights,
)

THREADS = 2


def best(task: Callable[[], float], repeats: int) -> float:
    """Smallest of several values: what the machine can do when nobody disturbs it."""
    return min(task() for _ in range(repeats))


def seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def random_graph(n: int, dtype: np.dtype) -> sp.csr_array:
    """A symmetric graph with about as many entries as the adaptive one of five neighbours."""
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(n), 5)
    columns = rng.integers(n, size=rows.size)
    A = sp.csr_array((np.full(rows.size, 0.2, dtype), (rows, columns)), shape=(n, n))
    S = sp.csr_array((A + A.T) / 2).astype(dtype)
    S.setdiag(0)
    S.eliminate_zeros()
    return S


def fnmf_iteration(
    X: np.ndarray | sp.csr_array,
    n_components: int,
    *,
    shared: bool = False,
    solver: str = "mu",
    iterations: int = 20,
    repeats: int = 5,
    timed: Callable[[Callable[[], object]], float] = seconds,
    n_threads: int = THREADS,
) -> float:
    """Seconds of one FNMF iteration with three weightings and a neighbour graph."""
    view = view_of(X)
    n, d = view.shape
    live = np.ones(d, bool)
    ties = graph_ties(random_graph(n, view.dtype), 1.0, view.dtype)
    objective = Objective(PaperWeighting(1.0, live), ties, shared, unit=False)
    stopping = Stopping(max_iter=iterations, tol=0)
    with threads(n_threads) as runner:
        machine = ExecutionContext(view, runner)
        _ = machine.column_energy

        def run() -> float:
            rng = np.random.default_rng(0)
            U = rng.random((d, n_components)).astype(view.dtype) / d
            V = rng.random((n, n_components)).astype(view.dtype)
            P = np.full((1 if shared else n, 3), 1 / 3, view.dtype)
            factors = Factors(U, V, P, uniform_weights(3, live))
            return timed(lambda: solve(machine, objective, factors, solver, stopping)) / iterations

        run()
        return best(run, repeats)


def sklearn_iteration(
    X: np.ndarray | sp.csr_array,
    n_components: int,
    *,
    iterations: int = 20,
    repeats: int = 5,
    timed: Callable[[Callable[[], object]], float] = seconds,
) -> float:
    """Seconds of one iteration of scikit-learn's NMF(solver="mu"), without its fixed costs."""
    rng = np.random.default_rng(0)
    dtype = X.dtype
    W = rng.random((X.shape[0], n_components)).astype(dtype)
    H = rng.random((n_components, X.shape[1])).astype(dtype)

    def run(count: int) -> float:
        model = NMF(n_components, init="custom", solver="mu", tol=0, max_iter=count)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return timed(lambda: model.fit_transform(X, W=W.copy(), H=H.copy()))

    run(2)
    return (best(lambda: run(iterations + 1), repeats) - best(lambda: run(1), repeats)) / iterations
