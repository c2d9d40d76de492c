"""Random problems, and the solver run on them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf import MappedCSR
from fnmf.data import view_of
from fnmf.execution import Threads
from fnmf.factorization.solver import ExecutionContext, Factors, Stopping, solve
from fnmf.factorization.terms import (
    FixedWeighting,
    Objective,
    PaperWeighting,
    graph_ties,
)
from oracle import Problem, State

VIEWS = ("c", "f", "read-only", "memmap", "csr", "csc", "mapped-csr")


def make_problem(seed, n=37, d=13, density=0.6, diversity=1.0, smoothness=1.0, scale_free=False):
    """Data with a dead feature, an empty sample and values that float32 holds exactly."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.1, 1, (n, 4)) @ rng.uniform(0, 1, (4, d)) + 0.3 * rng.uniform(size=(n, d))
    X *= rng.uniform(size=(n, d)) < density
    X[:, d // 2] = 0
    X[n // 3] = 0
    A = rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 4 / n)
    S = (A + A.T) / 2
    np.fill_diagonal(S, 0)
    X, S = (array.astype(np.float32).astype(np.float64) for array in (X, S))
    return Problem(X, S, diversity, smoothness, scale_free)


def make_state(problem, seed, n_components=4, n_weightings=3, shared=False):
    """Positive factors, weights and assignments inside the simplex, exact in float32.

    With a scale-free graph term the components have unit length, as after an iteration.
    """
    rng = np.random.default_rng(seed + 1000)
    n, d = problem.X.shape
    U = rng.uniform(0.05, 0.4, (d, n_components))
    V = rng.uniform(0.05, 0.4, (n, n_components))
    theta = rng.dirichlet(np.ones(d), n_weightings) * problem.live
    theta /= theta.sum(axis=1, keepdims=True)
    P = rng.dirichlet(np.ones(n_weightings), 1 if shared else n)
    U, V, P = (a.astype(np.float32).astype(np.float64) for a in (U, V, P))
    if problem.scale_free:
        U /= np.linalg.norm(U, axis=0)
    return State(U, V, np.broadcast_to(P, (n, n_weightings)).copy(), theta)


def as_view(X, kind, folder, dtype=np.float64):
    """The same data in one of the forms a user may hand over, as it looks behind the door."""
    X = np.ascontiguousarray(X, dtype)
    if kind == "f":
        return np.asfortranarray(X)
    if kind == "read-only":
        X = X.copy()
        X.flags.writeable = False
    elif kind == "memmap":
        np.save(folder / "X.npy", X)
        return np.load(folder / "X.npy", mmap_mode="r")
    elif kind == "csr":
        return sp.csr_array(X)
    elif kind == "csc":
        return sp.csc_array(X)
    elif kind == "mapped-csr":
        MappedCSR.write(sp.csr_array(X), folder)
        return MappedCSR.open(folder)
    return X


@dataclass(frozen=True)
class Options:
    """What is minimised, how, and for how long."""

    weighting: Any
    shared: bool
    smoothness: float
    solver: str
    normalize: bool
    max_iter: int = 1
    tol: float = 0.0

    def objective(self, graph, dtype):
        ties = graph_ties(graph, self.smoothness, dtype)
        return Objective(self.weighting, ties, self.shared, self.normalize)


def options_of(problem, shared, solver, learn=True, **others):
    weighting = PaperWeighting(problem.diversity, problem.live) if learn else FixedWeighting()
    settings = {"normalize": problem.scale_free, **others}
    return Options(weighting, shared, float(problem.smoothness), solver, **settings)


def factors_of(state, shared, dtype=np.float64):
    P = state.P[:1] if shared else state.P
    return Factors(
        np.array(state.U, dtype, order="C"),
        np.array(state.V, dtype, order="C"),
        np.array(P, dtype, order="C"),
        state.theta.copy(),
    )


def state_of(factors):
    """Back to the oracle's arrays, in double precision."""
    n = len(factors.V)
    P = np.broadcast_to(factors.P, (n, factors.P.shape[1]))
    return State(*(np.array(a, np.float64) for a in (factors.U, factors.V, P, factors.weights)))


def run_engine(X, problem, state, options, n_jobs=1):
    """Run ``options.max_iter`` iterations from ``state``."""
    X = sp.csr_array(X) if sp.issparse(X) else X
    view = view_of(X)
    graph = sp.csr_array(problem.S.astype(view.dtype))
    factors = factors_of(state, options.shared, view.dtype)
    return run_view(view, graph, factors, options, n_jobs)


def run_view(view, graph, factors, options, n_jobs=1):
    """The same on a view, with factors of its type."""
    runner = Threads(n_jobs)
    try:
        objective = options.objective(graph, view.dtype)
        stopping = Stopping(max_iter=options.max_iter, tol=options.tol)
        return solve(ExecutionContext(view, runner), objective, factors, options.solver, stopping)
    finally:
        runner.close()
