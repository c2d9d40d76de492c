"""Rows from their representation, and values for missing cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from fnmf._fitted import Fitted
from fnmf._missing import imputed
from fnmf._sklearn import available_if
from fnmf.relevance.defaults import DEFAULTS

if TYPE_CHECKING:
    from fnmf._settings import Settings
    from fnmf.factorization import Scheme


def _recovers_rows(estimator: Any) -> None:
    from fnmf.relevance.scheme import SCHEMES

    own = estimator.weighting
    given = not isinstance(own, str)
    if (given and not np.all(np.asarray(own) > 0)) or (
        not given and own in SCHEMES and not SCHEMES[own].decodes
    ):
        named = "weights of 0" if given else f'weighting="{own}"'
        raise AttributeError(
            f"inverse_transform does not exist for {named}: features of weight 0 cannot be "
            "recovered from the representation."
        )


def impute_rows(data: Any, fitted: Fitted, settings: Settings, scheme: type[Scheme]) -> np.ndarray:
    """Rows with their missing cells filled by a model, in its units, (n, d)."""
    from fnmf.affinity import completed_new, neighbors_of
    from fnmf.execution import threads

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
    return imputed(view, model, fitted.rows, missed, near)


class RecoveryMixin:
    """What an estimator with components says of rows that it sees only in part."""

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
        scheme = self._scheme(self._settings())
        return self._as_given(scheme.decode(Fitted.of(vars(self)), codes))

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
        check_is_fitted(self)
        settings, fitted = self._settings(), Fitted.of(vars(self._light()))
        rows = impute_rows(self._checked(X), fitted, settings, self._scheme(settings))
        return self._as_given(rows)
