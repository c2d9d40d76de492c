"""What an iteration with relevance weights costs beside one with the paper's."""

import time

import numpy as np

from fnmf.data import Scaling, View, view_of
from fnmf.datasets import make_planted_subspaces, unit_rows
from fnmf.execution import threads
from fnmf.factorization.solver import ExecutionContext, Factors, Stopping, solve
from fnmf.factorization.terms import (
    Objective,
    PaperWeighting,
    ResidualWeighting,
    Weighting,
    graph_ties,
    uniform_weights,
)
from fnmf.graph import adaptive_neighbors


def cost() -> float:
    """Seconds of an iteration over those of the paper's, three weightings, refreshes apart."""
    rng = np.random.default_rng(0)
    X = unit_rows(make_planted_subspaces(20_000, 10, 20, 784, random_state=0)[0])
    X = X.astype(np.float32)
    n, d = X.shape
    graph = adaptive_neighbors(X[:, rng.permutation(d)[:50]], 5)
    start = [rng.random(shape).astype(np.float32) for shape in ((d, 10), (n, 10))]
    live = np.ones(d, bool)
    scaled = view_of(X).scaled(Scaling(np.ones(n), np.full(d, 9.0), np.ones(d)))
    omega = rng.random((3, d)) * (rng.random((3, d)) < 0.5)
    sides = {
        "relevance": (scaled, omega, ResidualWeighting(rng.random((n, 3)))),
        "paper": (view_of(X), uniform_weights(3, live), PaperWeighting(0.01, live)),
    }

    def seconds(view: View, weights: np.ndarray, weighting: Weighting) -> float:
        ties = graph_ties(graph, 10.0, view.dtype)
        objective = Objective(weighting, ties, shared=False)
        P = np.full((n, 3), 1 / 3, np.float32)
        factors = Factors(*(part.copy() for part in start), P, weights.copy())
        with threads(2) as runner:
            machine, stopping = ExecutionContext(view, runner), Stopping(max_iter=10, tol=0.0)
            before = time.perf_counter()
            solve(machine, objective, factors, "mu-fast", stopping)
            return time.perf_counter() - before

    best = {name: min(seconds(*side) for _ in range(12)) for name, side in sides.items()}
    return best["relevance"] / best["paper"]
