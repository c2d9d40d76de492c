"""What the estimators share that take labels and links of some rows. No mathematics here."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from fnmf._base import ClusterBase
from fnmf._new_rows import NewRows
from fnmf._sklearn import available_if, with_callbacks
from fnmf.data import Data, is_dask
from fnmf.display import counted
from fnmf.labels.guidance import Guidance
from fnmf.labels.known import read_labels, unknown_mark
from fnmf.labels.links import contradictions, read_links
from fnmf.labels.rows import class_distributions
from fnmf.validation import check_choice, check_flag

if TYPE_CHECKING:
    from fnmf._settings import Settings

# Contradictions that a warning names.
_NAMED = 5


def was_guided(estimator: Any) -> None:
    """Raise if a fit had neither labels nor links."""
    fitted = hasattr(estimator, "labels_") or hasattr(estimator, "components_")
    if fitted and not hasattr(estimator, "classes_"):
        raise AttributeError(
            "this fit had neither labels nor links, so that there are no classes; give some to fit."
        )


def warn_of_only_class(estimator: Any, stacklevel: int) -> None:
    """Say so if all samples are of one class because no other was labelled, or asked for."""
    numbers = [name for name in ("n_components", "n_clusters") if hasattr(estimator, name)]
    asked = {getattr(estimator, name) for name in numbers}
    if len(vars(estimator).get("classes_", [])) == 1 and asked <= {None, "auto"}:
        warnings.warn(
            f"{estimator.classes_[0]!s} is the only class that has labels, so that all samples are "
            f"of it; give the number of classes, {numbers[0]}=, to find the others.",
            stacklevel=stacklevel,
        )


def _named(classes: np.ndarray, mark: Any, codes: np.ndarray, reached: np.ndarray) -> np.ndarray:
    """Classes by their names, with a mark where no label reaches, if there is one."""
    named: np.ndarray = classes[codes]
    return named if mark is None else np.where(reached, named, mark)


class NewClasses(NewRows):
    """What estimators that were given labels say of rows."""

    classes_: np.ndarray
    trust_labels: bool
    class_sizes: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        # It has probabilities of classes, whose number its checks ask for.
        tags.classifier_tags = ClassifierTags()
        return tags

    @available_if(was_guided)
    def predict_proba(self: Any, X: ArrayLike | sp.sparray) -> np.ndarray:
        """Probabilities of the classes of new samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self, msg=self._unfitted())
        data = self._checked(X)
        if is_dask(data):
            return self._lazily("predict_proba", data, len(self.classes_))
        return self._distributions(data)[0]

    def _distributions(self, data: Data) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of the classes of rows, and which of these a label reaches."""
        from fnmf.affinity import completed_new
        from fnmf.execution import threads

        fitted, settings, _ = self._model()
        with threads(settings.n_jobs) as runner:
            view = completed_new(data, fitted, runner)
            return class_distributions(fitted, settings, view, runner)


class SemiSupervisedBase(NewClasses, ClusterBase):
    """What estimators share that take labels and links of some rows."""

    reached_: np.ndarray
    unreached: str

    @with_callbacks
    def fit(
        self,
        X: ArrayLike | sp.sparray,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
    ) -> Self:
        """Learn features, classes and representation.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory map, MappedCSR} of shape (n_samples, n_features)
            Data as for the estimator without labels; Dask arrays too.
        y : array-like of shape (n_samples,), default=None
            Classes, numbers or texts; -1, ``None``, NaN or ``""`` where they are not known.
        must_link, cannot_link : array-like of shape (n_pairs, 2) or (n_pairs, 3), default=None
            Pairs of rows that belong together, or apart; a third column, or the values of a
            mapping, says how probable it is that a pair is right, above 0.5 and at most 1.

        Returns
        -------
        self
        """
        from fnmf._fitting import fit_estimator

        check_choice("unreached", self.unreached, ("nearest", "unknown"))
        check_flag("trust_labels", self.trust_labels)
        guidance = None
        if y is not None or must_link is not None or cannot_link is not None:
            rows: Any = X
            n = rows.shape[0] if hasattr(rows, "shape") else len(np.asarray(rows))
            known = read_labels(y, n)
            must = read_links("must_link", must_link, n)
            cannot = read_links("cannot_link", cannot_link, n)
            guidance = Guidance(known, must, cannot, bool(self.trust_labels), self.class_sizes)
        if guidance is not None and guidance.empty:
            guidance = None
        if guidance is None and self.class_sizes is not None:
            warnings.warn("class_sizes without labels or links says nothing.", stacklevel=3)
        fit_estimator(self, X, guidance=guidance)
        if guidance is None:
            for name in ("transduction_", "contradictory_links_"):
                self.__dict__.pop(name, None)
        else:
            links, codes = (guidance.must, guidance.cannot), guidance.known.codes
            found = contradictions(*links, codes, len(self.classes_))
            self.contradictory_links_ = found
            self.transduction_ = self._by_name(self.labels_, self.reached_)
            if found:
                named = "; ".join(found[:_NAMED])
                # Past scikit-learn's wrapper, to the line that called fit.
                warnings.warn(f"{counted(len(found), 'links')} cannot hold: {named}.", stacklevel=3)
            warn_of_only_class(self, stacklevel=4)
        return self

    def fit_predict(
        self, X: ArrayLike | sp.sparray, y: Any = None, **fit_params: Any
    ) -> np.ndarray:
        """Fit and return the class of each training sample, ``transduction_``."""
        self.fit(X, y, **fit_params)
        return self.transduction_ if hasattr(self, "classes_") else self.labels_

    def predict(self, X: ArrayLike | sp.sparray) -> np.ndarray:
        """Class of new samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n_samples,)
            Of ``classes_``; clusters, if the fit had neither labels nor links.
        """
        check_is_fitted(self)
        if not hasattr(self, "classes_"):
            return super().predict(X)
        data = self._checked(X)
        if is_dask(data):
            return self._lazily("predict", data, None)
        shares, reached = self._distributions(data)
        return self._by_name(shares.argmax(axis=1), reached)

    def _by_name(self, codes: Any, reached: Any) -> Any:
        """Classes by their names, with the mark of the unknown where that is asked for."""
        mark = unknown_mark(self.classes_) if self.unreached == "unknown" else None
        named = partial(_named, self.classes_, mark)
        if is_dask(codes):
            return codes.map_blocks(named, reached, dtype=self.classes_.dtype)
        return named(codes, reached)

    def _light(self) -> Self:
        light = super()._light()
        for name in ("label_distributions_", "reached_", "transduction_"):
            if is_dask(vars(light).get(name)):
                delattr(light, name)
        return light

    def _settings(self) -> Settings:
        settings = super()._settings()  # type: ignore[safe-super]
        classes = self.__dict__.get("classes_")
        # Labels may have asked for more clusters than the parameter says.
        return settings if classes is None else replace(settings, n_clusters=len(classes))
