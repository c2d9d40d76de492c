"""What estimators share that take labels and links of some rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import ClassifierTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fnmf._base import ClusterBase
from fnmf.data import is_dask
from fnmf.labels.guidance import Guidance
from fnmf.labels.known import read_labels, unknown_mark
from fnmf.labels.links import contradictions, read_links
from fnmf.labels.new_rows import class_distributions
from fnmf.validation import check_choice

# Contradictions that a warning names.
_NAMED = 5


def _was_guided(estimator: LabelsMixin) -> bool:
    if hasattr(estimator, "labels_") and not hasattr(estimator, "classes_"):
        raise AttributeError("this fit had neither labels nor links, so that there are no classes.")
    return True


class LabelsMixin(ClusterBase):
    """``fit(X, y)`` with labels of some rows, and classes of new ones."""

    unreached: str
    trust_labels: bool
    class_sizes: Any
    # Of fits with labels or links.
    classes_: np.ndarray | None
    reached_: np.ndarray | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # There are probabilities of classes, whose number checks of classifiers ask for.
        tags.classifier_tags = ClassifierTags()
        return tags

    def _guidance(self, X: Any, y: Any, must_link: Any, cannot_link: Any) -> Guidance | None:
        """What is known of some rows, checked; ``None`` if nothing is."""
        check_choice("unreached", self.unreached, ("nearest", "unknown"))
        if y is None and must_link is None and cannot_link is None:
            return None
        n = X.shape[0] if hasattr(X, "shape") else len(np.asarray(X))
        known = read_labels(y, n)
        must = read_links("must_link", must_link, n)
        cannot = read_links("cannot_link", cannot_link, n)
        guidance = Guidance(known, must, cannot, bool(self.trust_labels), self.class_sizes)
        return None if guidance.empty else guidance

    def _name_classes(self, guidance: Guidance | None) -> None:
        """Classes of the training rows, after a fit; links that cannot hold are told."""
        if guidance is None:
            for name in ("transduction_", "contradictory_links_"):
                self.__dict__.pop(name, None)
            return
        found = contradictions(guidance.must, guidance.cannot, guidance.known.codes)
        self.contradictory_links_ = found
        self.transduction_ = self._named(self.labels_, self.reached_)
        if found:
            named = "; ".join(found[:_NAMED])
            # Past ``fit`` and scikit-learn's wrapper, to the line that called it.
            warnings.warn(f"{len(found)} links cannot hold: {named}.", stacklevel=4)

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
        if is_dask(X):
            return self._lazily("predict", self._checked(X), None)
        shares, reached = self._distributions(X)
        return self._named(shares.argmax(axis=1), reached)

    @available_if(_was_guided)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike | sp.sparray) -> np.ndarray:
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
        check_is_fitted(self)
        if is_dask(X):
            return self._lazily("predict_proba", self._checked(X), len(np.asarray(self.classes_)))
        return self._distributions(X)[0]

    def _distributions(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        from fnmf.affinity import completed_new
        from fnmf.execution import threads

        settings, fitted = self._settings(), self._record.of(vars(self))
        data = self._checked(X)
        with threads(settings.n_jobs) as runner:
            view = completed_new(data, fitted, runner)
            return class_distributions(fitted, settings, view, runner)

    def _named(self, codes: np.ndarray, reached: Any) -> np.ndarray:
        """Classes by their names, with the mark of the unknown where that is asked for."""
        classes = np.asarray(self.classes_)
        named = classes[codes]
        if self.unreached == "unknown":
            named = np.where(reached, named, unknown_mark(classes))
        return named
