"""What an iteration with relevance weights costs beside one with the paper's."""

import time
from typing import Any

import numpy as np

from fnmf.datasets import make_planted_subspaces, unit_rows
from fnmf.engine.parallel import crew
from fnmf.engine.scaled import Scaling, scaled_view_of
from fnmf.engine.solver import Factors, Options, solve
from fnmf.engine.sweeps import Sweeps
from fnmf.engine.views import View, view_of
from fnmf.graph import adaptive_neighbors
from fnmf.model.weighting import FixedWeighting, PaperWeighting, Weighting, uniform_weights


def cost() -> float:
    """Seconds of an iteration over those of the paper's, three weightings, refreshes apart."""
    rng = np.random.default_rng(0)
    X = unit_rows(make_planted_subspaces(20_000, 10, 20, 784, random_state=0)[0])
    X = X.astype(np.float32)
    n, d = X.shape
    graph = adaptive_neighbors(X[:, rng.permutation(d)[:50]], 5)
    start = [rng.random(shape).astype(np.float32) for shape in ((d, 10), (n, 10))]
    live = np.ones(d, bool)
    scaled = scaled_view_of(X, Scaling(np.ones(n), np.full(d, 9.0), np.ones(d)))
    omega = rng.random((3, d)) * (rng.random((3, d)) < 0.5)
    sides = {
        "relevance": (scaled, omega, FixedWeighting(on_residual=True), rng.random((n, 3))),
        "paper": (view_of(X), uniform_weights(3, live), PaperWeighting(0.01, live), None),
    }

    def seconds(view: View, weights: np.ndarray, weighting: Weighting, prices: Any) -> float:
        options = Options(
            weighting,
            shared=False,
            smoothness=10.0,
            solver="mu-fast",
            normalize=True,
            max_iter=10,
            tol=0.0,
            prices=prices,
        )
        P = np.full((n, 3), 1 / 3, np.float32)
        with crew(2) as workers:
            sweeps = Sweeps(view, graph, workers)
            before = time.perf_counter()
            solve(sweeps, Factors(*(part.copy() for part in start), P, weights.copy()), options)
            return time.perf_counter() - before

    best = {name: min(seconds(*side) for _ in range(12)) for name, side in sides.items()}
    return best["relevance"] / best["paper"]
