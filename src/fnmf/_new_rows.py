"""What a fitted model says of rows: clusters, codes, a score, values for missing cells."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from fnmf._missing import imputed, largest_where_empty
from fnmf._settings import Settings
from fnmf._sklearn import available_if
from fnmf._weights import check_sample_weight
from fnmf.data import Data, distinct_rows, is_dask, view_of, working_dtype
from fnmf.relevance.defaults import DEFAULTS

if TYPE_CHECKING:
    from fnmf.factorization import Scheme

_FEWEST_TO_SCORE = 3


def _recovers_rows(estimator: Any) -> None:
    from fnmf.relevance.scheme import SCHEMES

    # A stream has no other.
    own = getattr(estimator, "weighting", "relevance")
    given = not isinstance(own, str)
    if (given and not np.all(np.asarray(own) > 0)) or (
        not given and own in SCHEMES and not SCHEMES[own].decodes
    ):
        named = "weights of 0" if given else f'weighting="{own}"'
        raise AttributeError(
            f"inverse_transform does not exist for {named}: features of weight 0 cannot be "
            "recovered from the representation."
        )


class NewRows:
    """What an estimator says of rows that it need not have seen: clusters and a score."""

    @abstractmethod
    def _model(self) -> tuple[Any, Settings, type[Scheme]]:
        """What was fitted, the settings of that fit, and the scheme that reads it."""

    def _unfitted(self) -> str | None:
        """What is said before there is a model, if it is not what scikit-learn says."""
        return None

    def predict(self: Any, X: ArrayLike | sp.sparray) -> np.ndarray:
        """Cluster of new samples.

        The one that most of their nearest training samples belong to, or the nearest mean or the
        likeliest group where clusters were found about means or by a mixture (``chosen_``); without
        a graph, or with another weighting than ``"relevance"``, the nearest centre of their
        representation.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, msg=self._unfitted())
        data = self._checked(X)
        if is_dask(data):
            return self._lazily("predict", data, None)
        return self._new_rows("predict", data)

    def score(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """How well the clusters of the model hold together in data it has not seen.

        Every row of ``X`` gets its cluster from :meth:`predict`. The score is the modularity of
        these clusters in the graph of the nearest neighbours among the rows of ``X`` themselves,
        in the features as the model weights them, at a resolution of 0.7: 0.7 (1 - s) - o, where o
        is the share of ties that lead out of their cluster, and s what clusters of these sizes
        would keep by chance. A single cluster has 0, clusters that mean nothing less, none 0.7 or
        more. It falls if separate clusters are taken together, and if a cluster is cut where it
        is dense; so a search over ``n_components`` needs no other scorer. In two or three features
        neighbours are so near that cuts cost little; :func:`fnmf.choose_n_components` sees more.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Non-negative data, at least three rows.
        y : Ignored
            Present by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            As how many samples each counts; equal rows are one.

        Returns
        -------
        float

        Examples
        --------
        >>> from sklearn.model_selection import GridSearchCV, KFold
        >>> from fnmf import FNMF
        >>> from fnmf.datasets import make_planted_subspaces
        >>> X, y, _ = make_planted_subspaces(150, 3, 5, 30, random_state=3)
        >>> folds = KFold(3, shuffle=True, random_state=0)
        >>> model = FNMF(random_state=0, tol=0.01)
        >>> search = GridSearchCV(model, {"n_components": [2, 3, 6]}, cv=folds)
        >>> search.fit(X).best_params_
        {'n_components': 3}
        """
        from fnmf.affinity import completed_new, neighbor_graph, ties_between
        from fnmf.execution import threads

        check_is_fitted(self, msg=self._unfitted())
        data, (fitted, settings, scheme) = self._checked(X), self._model()
        if is_dask(data):
            raise ValueError("score takes data in memory; pass a sample of the rows, computed.")
        found = distinct_rows(view_of(data), check_sample_weight(sample_weight, data))
        if found is not None:
            data = view_of(data).subset(found.rows).X
        n = data.shape[0]
        if n < _FEWEST_TO_SCORE:
            raise ValueError(f"score needs at least {_FEWEST_TO_SCORE} samples, got n_samples={n}.")
        with threads(settings.n_jobs) as runner:
            view = completed_new(data, fitted, runner)
            labels = scheme.predict(fitted, settings, view, runner)
            weighted, _ = scheme.comparable_rows(fitted, view, runner)
            weighted.weighing(None if found is None else found.weights)
            near = min(settings.n_neighbors, n - 2)
            graph = neighbor_graph(weighted, near, "exact", runner, verbose=0)
        ties = ties_between(graph, labels, int(labels.max()) + 1)
        by_chance, out = float(np.sum(ties.sum(axis=1) ** 2)), 1 - float(np.trace(ties))
        return DEFAULTS.resolution * (1 - by_chance) - out

    def _as_given(self, rows: Any) -> Any:
        """Rows as a fit sees them in the units of the data, and where these start."""
        # Models stored before there were units have none.
        rows, shift = rows * getattr(self, "unit_", 1.0), getattr(self, "shift_", None)
        return rows if shift is None or not shift.any() else rows - shift.astype(rows.dtype)

    def _new_rows(self, what: str, data: Data) -> np.ndarray:
        """What the scheme of the fit makes of new rows."""
        from fnmf.affinity import completed_new
        from fnmf.execution import threads

        fitted, settings, scheme = self._model()
        with threads(settings.n_jobs) as runner:
            view = completed_new(data, fitted, runner)
            found = getattr(scheme, what)(fitted, settings, view, runner)
        return largest_where_empty(view, found, fitted) if what == "predict" else found


class NewCodes(NewRows, TransformerMixin):
    """What an estimator with components says of rows, also of those that it sees only in part."""

    def transform(self: Any, X: ArrayLike | sp.sparray) -> np.ndarray:
        """Representation of new samples.

        Each is solved on its own, with basis and weights as fitted, and is held to its
        nearest training samples by the graph term; other new samples have no influence.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Non-negative data. Missing values, NaN in dense data, have no part in the solve; where
            neighbours are looked for, they are those of the nearest training samples.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self, msg=self._unfitted())
        data = self._checked(X)
        if is_dask(data):
            return self._lazily("transform", data, len(self.components_))
        return self._new_rows("encode", data).astype(working_dtype(data.dtype))

    @available_if(_recovers_rows)
    def impute(self: Any, X: ArrayLike) -> np.ndarray:
        """Samples with their missing values filled.

        A missing value is what the representation says of it, as
        ``inverse_transform(transform(X))`` would, and what that misses on average in the nearest
        training samples. Values that are there stay.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Non-negative data; missing values are NaN.

        Returns
        -------
        ndarray of shape (n_samples, n_features)

        Examples
        --------
        >>> import numpy as np
        >>> from fnmf import FNMF
        >>> from fnmf.datasets import make_noisy_gaussians
        >>> X, y = make_noisy_gaussians(random_state=0)
        >>> X[3, 0] = np.nan
        >>> model = FNMF(3, random_state=0).fit(X)
        >>> bool(np.isnan(model.impute(X)).any())
        False
        """
        from fnmf.affinity import completed_new, neighbors_of
        from fnmf.execution import threads

        check_is_fitted(self, msg=self._unfitted())
        data, (fitted, settings, scheme) = self._checked(X), self._model()
        if not isinstance(data, np.ndarray):
            raise TypeError("impute takes dense data in memory.")
        count = min(DEFAULTS.nearest_rows, len(fitted.rows))
        with threads(settings.n_jobs) as runner:
            view = completed_new(data, fitted, runner)
            here, there = scheme.comparable_rows(fitted, view, runner)
            near = neighbors_of(there, count, runner, queries=here)
            codes = scheme.encode(fitted, settings, view, runner)
            model = scheme.decode(fitted, codes) / scheme.lengths(fitted, view, runner)
        kept = fitted.embedding if fitted.held_codes is None else fitted.held_codes
        scales = 1.0 if fitted.row_scales is None else fitted.row_scales[:, None]
        missed = scheme.decode(fitted, kept.astype(np.float64)) / scales
        return self._as_given(imputed(view, model, fitted.rows, missed, near))

    @available_if(_recovers_rows)
    def inverse_transform(self: Any, X: ArrayLike) -> np.ndarray:
        """Samples from their representation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Representation.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        codes = check_array(X, dtype=(np.float64, np.float32), input_name="X")
        if codes.shape[1] != self._n_features_out:
            raise ValueError(
                f"X has {codes.shape[1]} columns, but the representation of this "
                f"{type(self).__name__} has {self._n_features_out}; pass what transform returns."
            )
        fitted, _, scheme = self._model()
        return self._as_given(scheme.decode(fitted, codes))
