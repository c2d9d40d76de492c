"""What estimators that factorise share: the fitted record as attributes, new rows, tags."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fnmf._fitted import Fitted
from fnmf._interpretation import InterpretationMixin
from fnmf._missing import imputed, largest_where_empty
from fnmf._settings import Settings
from fnmf.data import Data, View, is_dask, working_dtype
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.validation import check_data, check_groups, in_ordinary_units

if TYPE_CHECKING:
    from fnmf.execution import Runner


def _recovers_rows(estimator: FactorisationBase) -> bool:
    from fnmf._schemes import SCHEMES

    if estimator.weighting in SCHEMES and not SCHEMES[estimator.weighting].decodes:
        raise AttributeError(
            f'inverse_transform does not exist for weighting="{estimator.weighting}": features '
            "of weight 0 cannot be recovered from the representation."
        )
    return True


@contextmanager
def workplace(estimator: Any, data: Any, n_jobs: int | None) -> Iterator[tuple[View, Runner]]:
    """How data are seen, and who works through their blocks."""
    if is_dask(data):
        from fnmf.execution.dask import dask_runner, dask_view

        with dask_runner(n_jobs) as remote:
            yield dask_view(estimator, data), remote
        return
    from fnmf.affinity import completed
    from fnmf.execution import threads

    with threads(n_jobs) as runner:
        yield completed(data, runner, getattr(estimator, "_defaults", DEFAULTS)), runner


def in_chunks(attributes: dict[str, Any], X: Any) -> dict[str, Any]:
    """Results of the rows of a Dask array as Dask arrays in the same chunks; others as they are."""
    if not is_dask(X):
        return attributes
    from fnmf.execution.dask import as_dask

    of_rows = ("embedding_", "assignments_", "labels_", "sample_confidence_", "second_labels_")
    found = {name: as_dask(attributes[name], X) for name in of_rows if name in attributes}
    return attributes | found


class NonNegativeBase(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A clusterer and transformer of non-negative rows, dense or sparse."""

    components_: np.ndarray

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        # Not through ClusterMixin: its checks feed negative data, which we must refuse.
        tags.estimator_type = "clusterer"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class FactorisationBase(InterpretationMixin, CallbackSupportMixin, NonNegativeBase):
    """An estimator that keeps a ``Fitted`` record; subclasses have parameters and ``fit``."""

    # Model files ask for everything that a ``Fitted`` record must have.
    _keeps_fitted: ClassVar[bool] = True
    # Constants of the default fit; benchmarks vary them.
    _defaults: ClassVar[Defaults] = DEFAULTS
    weighting: str
    random_state: Any
    embedding_: np.ndarray
    assignments_: np.ndarray
    labels_: np.ndarray

    @abstractmethod
    def fit(self, X: ArrayLike | sp.sparray, y: Any = None) -> Self:
        """Learn weights, basis, representation and clusters."""

    def fit_transform(
        self, X: ArrayLike | sp.sparray, y: Any = None, **fit_params: Any
    ) -> np.ndarray:
        """Fit and return the representation of the training samples, ``embedding_``."""
        return self.fit(X, **fit_params).embedding_

    def fit_predict(
        self, X: ArrayLike | sp.sparray, y: Any = None, **fit_params: Any
    ) -> np.ndarray:
        """Fit and return the cluster of each training sample, ``labels_``."""
        return self.fit(X, **fit_params).labels_

    def transform(self, X: ArrayLike | sp.sparray) -> np.ndarray:
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
        check_is_fitted(self)
        data = in_ordinary_units(self, check_data(self, X, reset=False), reset=False)
        if is_dask(data):
            return self._lazily("transform", data, len(self.components_))
        return self._new_rows("encode", data).astype(working_dtype(data.dtype))

    def predict(self, X: ArrayLike | sp.sparray) -> np.ndarray:
        """Cluster of new samples.

        The one that most of their nearest training samples belong to, or the nearest mean where
        clusters were found about means (``chosen_``); without a graph, or with another weighting
        than ``"relevance"``, the nearest centre of their representation.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Non-negative data.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        data = in_ordinary_units(self, check_data(self, X, reset=False), reset=False)
        if is_dask(data):
            return self._lazily("predict", data, None)
        return self._new_rows("predict", data)

    @available_if(_recovers_rows)
    def inverse_transform(self, X: ArrayLike) -> np.ndarray:
        """Samples from their representation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Representation.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        from fnmf._schemes import SCHEMES

        check_is_fitted(self)
        rows = SCHEMES[self.weighting].decode(Fitted.of(vars(self)), np.asarray(X))
        # Models stored before there were units have none.
        return rows * getattr(self, "unit_", 1.0)

    @available_if(_recovers_rows)
    def impute(self, X: ArrayLike) -> np.ndarray:
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
        from fnmf._schemes import SCHEMES
        from fnmf.affinity import completed_new
        from fnmf.execution import threads

        check_is_fitted(self)
        data = in_ordinary_units(self, check_data(self, X, reset=False), reset=False)
        if not isinstance(data, np.ndarray):
            raise TypeError("impute takes dense data in memory.")
        settings, fitted = self._settings(), Fitted.of(vars(self._light()))
        with threads(settings.n_jobs) as runner:
            scheme, view = SCHEMES[settings.weighting], completed_new(data, fitted, runner)
            codes = scheme.encode(fitted, settings, view, runner)
            model = scheme.decode(fitted, codes) / scheme.lengths(fitted, view, runner)
        kept = fitted.embedding if fitted.held_codes is None else fitted.held_codes
        scales = 1.0 if fitted.row_scales is None else fitted.row_scales[:, None]
        missed = scheme.decode(fitted, kept.astype(np.float64)) / scales
        return imputed(view, model, fitted.rows, missed) * getattr(self, "unit_", 1.0)

    def _new_rows(self, what: str, data: Data) -> np.ndarray:
        """What the scheme of the fit makes of new rows."""
        from fnmf._schemes import SCHEMES
        from fnmf.affinity import completed_new
        from fnmf.execution import threads

        settings, fitted = self._settings(), Fitted.of(vars(self._light()))
        with threads(settings.n_jobs) as runner:
            scheme = SCHEMES[settings.weighting]
            view = completed_new(data, fitted, runner)
            found = getattr(scheme, what)(fitted, settings, view, runner)
        return largest_where_empty(view, found, fitted) if what == "predict" else found

    def _numbered(self, settings: Settings, data: Data) -> tuple[Settings, dict[str, Any]]:
        """Settings with a number of components, and what is to be kept of its choice."""
        from fnmf.choosing.number import NUMBERS, choose_number

        if settings.consensus is not None and is_dask(data):
            raise ValueError("consensus takes data in memory; leave it out for Dask arrays.")
        if not settings.automatic:
            return settings, {}
        if settings.n_clusters is not None:
            return settings.with_components(settings.n_clusters), {}
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        groups = check_groups(settings.feature_groups, data.shape[1])
        settings = replace(settings, feature_groups=groups)
        with workplace(self, data, settings.n_jobs) as (view, runner):
            number = choose_number(view, settings, NUMBERS, seed, runner, self._defaults)
        return settings.with_components(number.n_components), number.kept()

    def _settings(self) -> Settings:
        """Settings of the fit, with the number of components that it had."""
        settings = Settings.of(self.get_params(deep=False))
        return settings.with_components(len(self.components_))

    def _adopt(self, fitted: Fitted, X: Any) -> None:
        """Keep what was fitted on X, and nothing of an earlier fit."""
        attributes = in_chunks(fitted.attributes(), X)
        for name in Fitted.names():
            if name in attributes:
                setattr(self, name, attributes[name])
            elif hasattr(self, name):
                delattr(self, name)

    def _lazily(self, method: str, X: Any, width: int | None) -> Any:
        """A Dask array of what new rows of another one come to, when somebody asks."""
        from fnmf.execution.dask import new_rows

        dtype = np.dtype(np.int64) if width is None else working_dtype(X.dtype)
        return new_rows(self._light().set_params(n_jobs=1, verbose=0), method, X, width, dtype)

    def _light(self) -> Self:
        """A copy without Dask arrays: of all that they hold new rows need one row."""
        light = copy(self)
        if is_dask(vars(self).get("labels_")):
            light.assignments_ = self.assignments_[:1].compute()  # type: ignore[attr-defined]
            light.embedding_ = np.empty((0, len(self.components_)), self.embedding_.dtype)
            light.labels_ = np.empty(0, self.labels_.dtype)
        return light

    def _html_repr(self) -> str:
        """What a notebook shows: scikit-learn's diagram, and below it what was learned."""
        diagram = super()._html_repr()
        if not hasattr(self, "labels_"):
            return diagram
        from fnmf.display import summary_html

        return diagram + summary_html(self)
