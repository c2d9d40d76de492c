"""What estimators share: checked data, the fitted record as attributes, new rows, tags."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin

from fnmf._fitted import Fitted, FittedClusters
from fnmf._interpretation import InterpretationMixin
from fnmf._new_rows import NewCodes
from fnmf._settings import Settings
from fnmf._sklearn import CallbackSupportMixin, as_random_state
from fnmf.data import Data, View, has_missing, is_dask, view_of, working_dtype
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.validation import check_data, check_groups, in_ordinary_units, shifted

if TYPE_CHECKING:
    from fnmf.execution import Runner
    from fnmf.factorization import Scheme


@contextmanager
def workplace(estimator: Any, data: Any, n_jobs: int | None) -> Iterator[tuple[View, Runner]]:
    """How data are seen, and who works through their blocks."""
    from fnmf.affinity import completed, filled_blocks
    from fnmf.execution import threads

    defaults = getattr(estimator, "_defaults", DEFAULTS)
    if is_dask(data):
        from fnmf.execution.dask import dask_runner, dask_view

        with dask_runner(n_jobs) as remote:
            view = dask_view(estimator, data)
            yield filled_blocks(view, defaults) if view.gaps else view, remote
        return
    with threads(n_jobs) as runner:
        yield completed(data, runner, defaults) if has_missing(data) else view_of(data), runner


def in_chunks(attributes: dict[str, Any], X: Any) -> dict[str, Any]:
    """Results of the rows of a Dask array as Dask arrays in the same chunks; others as they are."""
    if not is_dask(X):
        return attributes
    from fnmf.execution.dask import as_dask

    of_rows = (
        "embedding_",
        "assignments_",
        "labels_",
        "sample_confidence_",
        "second_labels_",
        "label_distributions_",
        "reached_",
    )
    found = {name: as_dask(attributes[name], X) for name in of_rows if name in attributes}
    return attributes | found


class NonNegativeBase(NewCodes, ClassNamePrefixFeaturesOutMixin, BaseEstimator):
    """A clusterer and transformer of non-negative rows, dense or sparse, that has components."""

    components_: np.ndarray

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = getattr(self, "negative", "error") != "shift"
        # Not through ClusterMixin: its checks feed negative data, which we must refuse.
        tags.estimator_type = "clusterer"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class ClusterBase(InterpretationMixin, CallbackSupportMixin):
    """An estimator that keeps a record of its clusters; subclasses have parameters and ``fit``."""

    # What it keeps; model files ask for everything that the record must have.
    _record: ClassVar[type[FittedClusters]]
    # Under what name it keeps how many clusters or components were chosen.
    _number: ClassVar[str]
    _non_negative: ClassVar[bool]
    # Constants of the default fit; benchmarks vary them.
    _defaults: ClassVar[Defaults] = DEFAULTS
    random_state: Any
    n_jobs: int | None
    verbose: int
    labels_: np.ndarray
    # Weightings other than by relevance leave none.
    feature_relevance_: np.ndarray | None

    @abstractmethod
    def fit(self, X: ArrayLike | sp.sparray, y: Any = None) -> Self:
        """Learn what there is to learn."""

    @abstractmethod
    def _read_settings(self) -> Settings:
        """The parameters, checked."""

    @abstractmethod
    def _settings(self) -> Settings:
        """Settings of the fit, with the number of components that it had."""

    @abstractmethod
    def _scheme(self, settings: Settings) -> type[Scheme]:
        """How it fits."""

    def fit_predict(
        self, X: ArrayLike | sp.sparray, y: Any = None, **fit_params: Any
    ) -> np.ndarray:
        """Fit and return the cluster of each training sample, ``labels_``."""
        return self.fit(X, **fit_params).labels_

    def _checked(self, X: Any, *, reset: bool = False) -> Data:
        """Data as a fit may see them; ``reset`` for those of the fit itself."""
        shift = getattr(self, "negative", "error") == "shift"
        data = check_data(self, X, reset=reset, non_negative=self._non_negative and not shift)
        if shift:
            data = shifted(self, data, reset=reset)
        return in_ordinary_units(self, data, reset=reset)

    def _model(self) -> tuple[FittedClusters, Settings, type[Scheme]]:
        settings = self._settings()
        return self._record.of(vars(self._light())), settings, self._scheme(settings)

    def _numbered(
        self, settings: Settings, data: Data, weights: np.ndarray | None = None
    ) -> tuple[Settings, dict[str, Any]]:
        """Settings with a number of components, and what is to be kept of its choice."""
        from fnmf.choosing.number import NUMBERS, choose_number
        from fnmf.relevance.batches import largest_batch

        if settings.consensus is not None and is_dask(data):
            raise ValueError("consensus takes data in memory; leave it out for Dask arrays.")
        if not settings.automatic:
            return settings, {}
        if settings.n_clusters is not None:
            return settings.with_components(settings.n_clusters), {}
        asked, seed = settings, as_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        if settings.feature_groups is not None:
            groups = check_groups(settings.feature_groups, data.shape[1])
            settings = replace(settings, feature_groups=groups)
        if settings.batch is not None:
            # Between batches there are groups that nobody wants counted.
            rows = largest_batch(settings.batch, weights)
            data, weights = view_of(data).subset(rows).X, None if weights is None else weights[rows]
            settings = replace(settings, batch=None)
        with workplace(self, data, settings.n_jobs) as (view, runner):
            view.weighing(weights)
            number = choose_number(view, settings, NUMBERS, seed, runner, self._defaults)
        return asked.with_components(number.n_components), number.kept()

    def _adopt(self, fitted: FittedClusters, X: Any) -> None:
        """Keep what was fitted on X, and nothing of an earlier fit."""
        attributes = in_chunks(fitted.attributes(), X)
        for name in self._record.names():
            if name in attributes:
                setattr(self, name, attributes[name])
            elif hasattr(self, name):
                delattr(self, name)

    def _lazily(self, method: str, X: Any, width: int | None) -> Any:
        """A Dask array of what new rows of another one come to, when somebody asks."""
        from fnmf.execution.dask import new_rows

        classes = getattr(self, "classes_", np.empty(0, np.int64))
        dtype = classes.dtype if width is None else working_dtype(X.dtype)
        light = self._light()
        # A subclass need not have them as parameters.
        light.n_jobs, light.verbose = 1, 0
        return new_rows(light, method, X, width, dtype)

    def _light(self) -> Self:
        """A copy without Dask arrays of rows, which new rows do not need."""
        light = copy(self)
        if is_dask(vars(self).get("labels_")):
            light.labels_ = np.empty(0, self.labels_.dtype)
        return light

    @property
    def _repr_html_(self) -> Any:
        """What a notebook shows: scikit-learn's diagram, and below it what was learned."""
        diagram = super()._repr_html_
        return lambda: diagram() + self._learned()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """The same for programs that ask for all forms at once."""
        forms = super()._repr_mimebundle_(**options)
        if "text/html" in forms:
            forms["text/html"] += self._learned()
        return forms

    def _learned(self) -> str:
        """A summary of the fit; nothing before it."""
        if not hasattr(self, "labels_"):
            return ""
        from fnmf.display import summary_html

        return summary_html(self)


class FactorisationBase(ClusterBase, NonNegativeBase):
    """An estimator that keeps a ``Fitted`` record; subclasses have parameters and ``fit``."""

    _record = Fitted
    _number = "n_components"
    _non_negative = True
    weighting: Any

    embedding_: np.ndarray
    assignments_: np.ndarray

    def fit_transform(
        self, X: ArrayLike | sp.sparray, y: Any = None, **fit_params: Any
    ) -> np.ndarray:
        """Fit and return the representation of the training samples, ``embedding_``."""
        return self.fit(X, **fit_params).embedding_

    def _read_settings(self) -> Settings:
        return Settings.of(self._parameters())

    def _parameters(self) -> Mapping[str, Any]:
        """What ``Settings`` are made of."""
        return vars(self)

    def _settings(self) -> Settings:
        settings = self._read_settings()
        serves = Fitted.serves_relevance(vars(self))
        if serves is not (settings.scheme == "relevance"):
            raise ValueError(
                f'weighting was set to "{settings.weighting}" after a fit with another one; fit '
                "again, or set it back."
            )
        return settings.with_components(len(self.components_))

    def _scheme(self, settings: Settings) -> type[Scheme]:
        from fnmf.relevance.scheme import SCHEMES

        return SCHEMES[settings.scheme]

    def _light(self) -> Self:
        light = super()._light()
        if is_dask(vars(self).get("labels_")):
            # Of all that they share new rows need one row.
            light.assignments_ = self.assignments_[:1].compute()  # type: ignore[attr-defined]
            light.embedding_ = np.empty((0, len(self.components_)), self.embedding_.dtype)
        return light
