"""What the model of a stream says of rows: codes, clusters, a score."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from fnmf._base import NonNegativeBase
from fnmf._interpretation import modularity_score
from fnmf._missing import largest_where_empty
from fnmf._recovery import impute_rows
from fnmf.data import Data, is_dask, working_dtype
from fnmf.validation import check_data, in_ordinary_units

if TYPE_CHECKING:
    from fnmf._settings import Settings
    from fnmf.streaming import Pace, Stream


class StreamedRows(NonNegativeBase):
    """Methods of an estimator that keeps a stream."""

    _stream: Stream

    @abstractmethod
    def _pace(self) -> Pace:
        """All parameters, checked."""

    def _settings(self) -> Settings:
        """Of the model that there is now."""
        return self._pace().numbered(len(self._stream.classes)).settings

    def transform(self, X: ArrayLike | sp.sparray) -> np.ndarray:
        """Representation of samples, each solved on its own and held to its nearest kept rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Non-negative data.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self, msg=self._unfitted())
        data = self._checked(X, reset=False)
        return self._new_rows("encode", data).astype(working_dtype(data.dtype))

    def predict(self, X: ArrayLike | sp.sparray) -> np.ndarray:
        """Cluster of samples: that of most of their nearest kept rows, or of the nearest mean.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Non-negative data.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, msg=self._unfitted())
        return self._new_rows("predict", self._checked(X, reset=False))

    def impute(self, X: ArrayLike) -> np.ndarray:
        """Samples with their missing values filled, as in :meth:`FNMF.impute`, from kept rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Non-negative data; missing values are NaN.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        from fnmf.relevance.scheme import SCHEMES

        check_is_fitted(self, msg=self._unfitted())
        assert self._stream.fitted is not None
        given = self._checked(X, reset=False), self._stream.fitted, self._pace().settings
        unit: float = getattr(self, "unit_", 1.0)
        return impute_rows(*given, SCHEMES["relevance"]) * unit

    def score(self, X: ArrayLike | sp.sparray, y: Any = None, sample_weight: Any = None) -> float:
        """How well the clusters of the model hold together in data it has not seen.

        The modularity of the predicted clusters in the graph of the nearest neighbours among the
        rows of ``X``, as in :meth:`FNMF.score`.

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
        """
        from fnmf.relevance.scheme import SCHEMES

        check_is_fitted(self, msg=self._unfitted())
        assert self._stream.fitted is not None
        data, scheme = self._checked(X, reset=False), SCHEMES["relevance"]
        return modularity_score(self._stream.fitted, self._settings(), scheme, data, sample_weight)

    def _checked(self, X: Any, *, reset: bool) -> Data:
        """Rows as the model may see them."""
        if is_dask(X):
            raise TypeError(
                "MiniBatchFNMF takes rows in memory; call partial_fit(block.compute()) for block "
                "in X.blocks, or fit FNMF, which takes Dask arrays as they are."
            )
        return in_ordinary_units(self, check_data(self, X, reset=reset), reset=reset)

    def _new_rows(self, what: str, data: Data) -> np.ndarray:
        from fnmf.affinity import completed_new
        from fnmf.execution import threads
        from fnmf.relevance.scheme import SCHEMES

        settings, make = self._settings(), getattr(SCHEMES["relevance"], what)
        fitted = self._stream.fitted
        assert fitted is not None
        with threads(settings.n_jobs) as runner:
            view = completed_new(data, fitted, runner)
            found = make(fitted, settings, view, runner)
        return largest_where_empty(view, found, fitted) if what == "predict" else found

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def _unfitted(self) -> str:
        seen = getattr(self, "n_samples_seen_", 0)
        return (
            f"This %(name)s instance is not fitted yet: it has seen {seen} rows, and needs at "
            f"least {self._pace().fewest}. Call 'fit', or 'partial_fit' with more rows."
        )
