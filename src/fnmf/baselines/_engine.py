"""NMF, RNMF and GNMF on the solver of FNMF: the same, without feature weights."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.lib.recfunctions import repack_fields
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from fnmf._weights import check_sample_weight
from fnmf.affinity import Attraction
from fnmf.baselines._base import Factorisation, WeightedCompetitor, as_seed
from fnmf.data import Data, Scaling, View, view_of, working_dtype
from fnmf.execution import Runner, threads
from fnmf.factorization import initial_factors
from fnmf.factorization.solver import (
    ExecutionContext,
    Factors,
    Result,
    RowModel,
    Stopping,
    encode,
    solve,
)
from fnmf.factorization.terms import (
    FixedWeighting,
    Objective,
    graph_ties,
)
from fnmf.kmeans import kmeans_on
from fnmf.validation import check_data, check_init, check_integer, check_real, in_ordinary_units

_MIN_ITER = 30
_MAX_SEED = np.iinfo(np.int32).max


class EngineFactorisation(WeightedCompetitor, Factorisation):
    """X ≈ V Uᵀ by multiplicative updates; subclasses say which terms the objective has.

    Parameters
    ----------
    n_clusters : int, default=8
        Columns of V, and clusters.
    init : {"random", "nndsvda", "kmeans"} or tuple of arrays, default="random"
        Start; a tuple holds an embedding (n_samples, n_clusters) and components (n_clusters,
        n_features).
    max_iter : int, default=300
        Iterations of each start.
    tol : float, default=1e-6
        After 30 iterations, one that changes the objective by less than ``tol`` and the
        representation by less than ten times ``tol``, both relative, is the last.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        k-means on the rows of ``embedding_``.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        V.
    components_ : ndarray of shape (n_clusters, n_features)
        Uᵀ, rows of unit length; V takes the scale, once, at the end.
    objective_ : float
        The objective at the end.
    converged_ : bool
        Whether it settled; if not, a ``ConvergenceWarning`` says so. Multiplicative updates
        are slow and often use all iterations.
    history_ : ndarray
        One row an iteration: total, reconstruction, smoothness (0 without a graph).
    n_iter_ : int
        Iterations of the start that was kept.
    """

    _non_negative = True
    # Whether lengths of residuals are added up, not their squares.
    _robust = False

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "random",
        max_iter: int = 300,
        tol: float = 1e-6,
        n_init: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, X: Any, sample_weight: Any = None) -> None:
        """Learn basis, representation and clusters."""
        n_clusters = check_integer("n_clusters", self.n_clusters, low=1)
        check_integer("max_iter", self.max_iter, low=1)
        check_real("tol", self.tol)
        n_init = check_integer("n_init", self.n_init, low=1)
        self._smoothness()
        checked = check_data(self, X, reset=True, min_samples=2)
        data = in_ordinary_units(self, checked, reset=True)
        rows = weighted_rows(data, sample_weight)
        if n_clusters > rows.view.shape[0]:
            raise ValueError(
                f"n_clusters={n_clusters} is more than n_samples={rows.view.shape[0]}; "
                "lower n_clusters."
            )
        init = check_init(self.init, data, n_clusters)
        if isinstance(init, tuple):
            init = init[0][rows.places], init[1]
        seed = as_seed(self.random_state)
        # The first start depends on the seed alone, however many follow.
        seeds = [seed, *np.random.RandomState(seed).randint(_MAX_SEED, size=n_init - 1)]
        with threads(self.n_jobs) as runner:
            graph = self._neighbor_graph(rows, runner)
            runs = (
                self._run(rows.view, runner, graph, init, np.random.RandomState(one))
                for one in seeds
            )
            best = min(runs, key=lambda run: run.history["total"][-1])
        self._keep(best, rows, seed)

    def _encode(self, X: Any) -> np.ndarray:
        """Representation of new rows, each solved on its own with the basis as fitted."""
        data = in_ordinary_units(self, check_data(self, X, reset=False), reset=False)
        return self._codes(view_of(data)).astype(working_dtype(data.dtype))

    def _codes(self, view: View) -> np.ndarray:
        # The graph term was weighed before the columns of U were scaled to unit length.
        U = self.components_.T.astype(np.float64) * self._scales
        model = RowModel(U, np.ones((1, len(U))), on_residual=False, shared=np.ones(1))
        with threads(self.n_jobs) as runner:
            V, _, _ = encode(view, model, runner, self._attraction(view, runner))
        return V * self._scales

    def _neighbor_graph(self, rows: WeightedRows, runner: Runner) -> sp.csr_array | None:
        return None

    def _attraction(self, view: View, runner: Runner) -> Attraction | None:
        """What holds new rows to training rows: nothing, unless there is a graph."""
        return None

    def _smoothness(self) -> float:
        return 0.0

    def _factors_of_rows(self, weights: np.ndarray) -> np.ndarray:
        """What rows and codes are multiplied with, so that residuals count by these weights."""
        return np.sqrt(weights)

    def _start(
        self, view: View, runner: Runner, init: Any, rng: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        """U and V to begin with."""
        return initial_factors(view, self.n_clusters, init, 1.0, rng, runner)

    def _run(
        self,
        view: View,
        runner: Runner,
        graph: sp.csr_array | None,
        init: Any,
        rng: np.random.RandomState,
    ) -> Result:
        U, V = self._start(view, runner, init, rng)
        each = None
        if view.weights is not None:
            each = self._factors_of_rows(view.weights)
            V = V * each[:, None].astype(V.dtype)
            d = view.shape[1]
            view = view.scaled(Scaling(each, np.full(d, np.inf), np.ones(d))).weighing(None)
        # One weighting of ones, fully used by every sample: no weights of features at all.
        factors = Factors(U, V, np.ones((1, 1), V.dtype), np.ones((1, len(U))))
        objective = Objective(
            weighting=FixedWeighting(),
            ties=graph_ties(graph, self._smoothness(), view.dtype, each),
            shared=True,
            unit=False,
            robust=self._robust,
        )
        stopping = Stopping(max_iter=self.max_iter, min_iter=_MIN_ITER, tol=float(self.tol))
        context = ExecutionContext(view, runner)
        result = solve(context, objective, factors, "mu-fast", stopping)
        return replace(result, factors=result.factors.without(each))

    def _keep(self, best: Result, rows: WeightedRows, seed: int) -> None:
        U, V = best.factors.U, best.factors.V
        scales = np.linalg.norm(U.astype(np.float64), axis=0)
        self._scales = np.where(scales > 0, scales, 1.0)
        self.components_ = np.ascontiguousarray((U / self._scales).T, dtype=V.dtype)
        self.embedding_ = (V * self._scales).astype(V.dtype)
        self._n_features_out = self.n_clusters
        kept = best.history[["total", "reconstruction", "smoothness"]]
        self.history_ = repack_fields(kept).copy()
        self.objective_ = float(self.history_["total"][-1])
        self.n_iter_, self.converged_ = best.n_iter, bool(best.converged)
        kmeans = kmeans_on(self.embedding_, self.n_clusters, seed, rows.view.weights)
        self.labels_ = kmeans.labels_
        if rows.absent is not None:
            self._held_codes = self.embedding_
            codes = self._codes(rows.absent).astype(V.dtype)
            self.embedding_ = rows.together(self.embedding_, codes)
            self.labels_ = rows.together(kmeans.labels_, kmeans.predict(codes))
        if not self.converged_:
            warnings.warn(
                f"{type(self).__name__} stopped at max_iter={self.max_iter} before it had "
                "settled; raise max_iter, or tol if the result is good enough.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        assert tags.transformer_tags is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class WeightedRows(NamedTuple):
    """Rows of a fit.

    Attributes
    ----------
    view : View
        Samples that count, with their weights unless all count once.
    places : ndarray of int or slice
        Where they are.
    absent : View or None
        Samples of weight 0, if there are any.
    """

    view: View
    places: Any = slice(None)
    absent: View | None = None

    def together(self, present: np.ndarray, absent: np.ndarray) -> np.ndarray:
        """Values of all samples, from those of both kinds."""
        whole = np.empty((len(present) + len(absent), *present.shape[1:]), present.dtype)
        there = np.zeros(len(whole), bool)
        there[self.places] = True
        whole[there], whole[~there] = present, absent
        return whole


def weighted_rows(data: Data, sample_weight: Any) -> WeightedRows:
    """The rows that count, and how much."""
    weights, view = check_sample_weight(sample_weight, data), view_of(data)
    if weights is None or np.all(weights == 1):
        return WeightedRows(view)
    if weights.all():
        return WeightedRows(view.weighing(weights))
    places = np.flatnonzero(weights)
    present = view.subset(places).weighing(
        None if np.all(weights[places] == 1) else weights[places]
    )
    return WeightedRows(present, places, view.subset(np.flatnonzero(weights == 0)))
