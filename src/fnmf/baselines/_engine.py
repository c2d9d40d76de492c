"""NMF, RNMF and GNMF on the engine of FNMF: the same solver, without feature weights."""

import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.lib.recfunctions import repack_fields
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from fnmf._initial import initial_factors
from fnmf._labels import kmeans_on
from fnmf._validation import Data, check_choice, check_data, check_integer, check_real
from fnmf.baselines._base import Competitor, as_seed
from fnmf.engine.encode import encode
from fnmf.engine.parallel import crew
from fnmf.engine.solver import Factors, Options, Result, solve
from fnmf.engine.sweeps import Sweeps
from fnmf.engine.views import view_of, working_dtype
from fnmf.model.weighting import FixedWeighting

_MIN_ITER = 30
_MAX_SEED = np.iinfo(np.int32).max


class EngineFactorisation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Competitor):
    """X ≈ V Uᵀ by multiplicative updates; subclasses say which terms the objective has."""

    _non_negative = True
    _robust = False

    init: Any
    max_iter: int
    tol: float
    n_init: int
    random_state: Any
    n_jobs: int | None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn basis, representation and clusters.

        Parameters
        ----------
        X : array-like, sparse matrix or memory map of shape (n_samples, n_features)
            Non-negative data; float32 stays float32, sparse data are never made dense.
        y : ignored

        Returns
        -------
        self : object
        """
        n_clusters = check_integer("n_clusters", self.n_clusters, low=1)
        check_integer("max_iter", self.max_iter, low=1)
        check_real("tol", self.tol)
        n_init = check_integer("n_init", self.n_init, low=1)
        if isinstance(self.init, str):
            check_choice("init", self.init, ("random", "nndsvda", "kmeans"))
        data = check_data(self, X, reset=True, min_samples=2)
        if n_clusters > data.shape[0]:
            raise ValueError(
                f"n_clusters={n_clusters} is more than n_samples={data.shape[0]}; lower n_clusters."
            )
        seed = as_seed(self.random_state)
        best = self._best_start(data, self._neighbor_graph(data), n_clusters, seed, n_init)
        self._keep(best, n_clusters, seed)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Representation of new rows, each solved on its own with the basis as fitted.

        Parameters
        ----------
        X : array-like, sparse matrix or memory map of shape (n_samples, n_features)
            Non-negative data.

        Returns
        -------
        V : ndarray of shape (n_samples, n_clusters)
        """
        check_is_fitted(self)
        data = check_data(self, X, reset=False)
        # The graph term was weighed before the columns of U were scaled to unit length.
        U = self.components_.T.astype(np.float64) * self._scales
        pull, drag = self._ties(data)
        weights, own = np.ones((1, len(U))), np.ones(1)
        V, _, _ = encode(view_of(data), U, weights, False, own, pull, drag)
        return (V * self._scales).astype(working_dtype(data.dtype))

    def _neighbor_graph(self, data: Data) -> sp.csr_array | None:
        return None

    def _ties(self, data: Data) -> tuple[np.ndarray | None, np.ndarray | None]:
        """What holds new rows to training rows: nothing, unless there is a graph."""
        return None, None

    def _smoothness(self) -> float:
        return 0.0

    def _start(self, U: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What a method makes of the starting factors."""
        return U, V

    def _best_start(
        self, data: Data, graph: sp.csr_array | None, n_clusters: int, seed: int, n_init: int
    ) -> Result:
        options = Options(
            weighting=FixedWeighting(),
            shared=True,
            smoothness=self._smoothness(),
            robust=self._robust,
            solver="mu-fast",
            max_iter=self.max_iter,
            min_iter=_MIN_ITER,
            tol=float(self.tol),
        )
        # The first start depends on the seed alone, however many follow.
        seeds = [seed, *np.random.RandomState(seed).randint(_MAX_SEED, size=n_init - 1)]
        best: Result | None = None
        with crew(self.n_jobs) as workers:
            sweeps = Sweeps(view_of(data), graph, workers)
            for one in seeds:
                generator = np.random.RandomState(one)
                U, V = self._start(*initial_factors(data, n_clusters, self.init, 1.0, generator))
                # One weighting of ones, fully used by every sample: no weights at all.
                factors = Factors(U, V, np.ones((1, 1), V.dtype), np.ones((1, len(U))))
                result = solve(sweeps, factors, options)
                if best is None or result.history["total"][-1] < best.history["total"][-1]:
                    best = result
        assert best is not None
        return best

    def _keep(self, best: Result, n_clusters: int, seed: int) -> None:
        U, V = best.factors.U, best.factors.V
        scales = np.linalg.norm(U.astype(np.float64), axis=0)
        self._scales = np.where(scales > 0, scales, 1.0)
        self.components_ = np.ascontiguousarray((U / self._scales).T, dtype=V.dtype)
        self.embedding_ = (V * self._scales).astype(V.dtype)
        self._n_features_out = n_clusters
        kept = best.history[["total", "reconstruction", "smoothness"]]
        self.history_ = repack_fields(kept).copy()
        self.objective_ = float(self.history_["total"][-1])
        self.n_iter_, self.converged_ = best.n_iter, bool(best.converged)
        self.labels_ = kmeans_on(self.embedding_, n_clusters, seed).labels_
        if not self.converged_:
            warnings.warn(
                f"{type(self).__name__} stopped at max_iter={self.max_iter} before it had "
                "settled; raise max_iter, or tol if the result is good enough.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        assert tags.transformer_tags is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
