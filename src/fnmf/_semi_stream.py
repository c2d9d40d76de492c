"""The estimator for streams of which some rows have labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from fnmf._minibatch import MiniBatchFNMF
from fnmf._parameters import with_parameters_of
from fnmf._semi_base import NewClasses, warn_of_only_class
from fnmf.data import Data
from fnmf.validation import check_flag

if TYPE_CHECKING:
    from fnmf.streaming import Pace


class SemiMiniBatchFNMF(NewClasses, MiniBatchFNMF):
    """MiniBatchFNMF when the classes of some rows of the stream are known.

    Rows with a label stay in the sample until newer ones take their places, at most half of it,
    and guide every renewal as they guide :class:`fnmf.SemiFNMF`; a class that was not there
    before renews the model at once. Without labels it is :class:`fnmf.MiniBatchFNMF`.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components and, unless ``n_clusters`` is given, of classes, those that nobody
        labels included: "new 1", ...; fewer count as those that were labelled. ``"auto"`` takes
        the classes that were labelled so far, and 8 before there are any.

    trust_labels, class_sizes
        As for :class:`fnmf.SemiFNMF`.

    **parameters
        All others are those of :class:`fnmf.MiniBatchFNMF`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_clusters,)
        Classes in the order in which they were first labelled, then those that nobody labelled.
        Other attributes are those of :class:`fnmf.MiniBatchFNMF`; ``labels_`` are numbers of
        classes.
    suspicious_labels_ : structured ndarray
        Labels of the sample at the last renewal that the others contradict, as for
        :class:`fnmf.SemiFNMF`; ``row`` is a row of the sample.

    See Also
    --------
    fnmf.SemiFNMF : All data at once.

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf import SemiMiniBatchFNMF
    >>> from fnmf.datasets import make_noisy_gaussians
    >>> X, truth = make_noisy_gaussians(random_state=0)
    >>> y = np.where(np.arange(len(X)) % 20 < 3, truth, -1)
    >>> model = SemiMiniBatchFNMF(random_state=0)
    >>> for start in range(3):
    ...     model = model.partial_fit(X[start::3], y[start::3])
    >>> bool(np.mean(model.predict(X) == truth) > 0.9)
    True
    """

    @with_parameters_of(MiniBatchFNMF)
    def __init__(
        self,
        n_components: Any = "auto",
        *,
        trust_labels: bool = True,
        class_sizes: Any = None,
        **shared: Any,
    ) -> None:
        super().__init__(n_components, **shared)
        self.trust_labels = trust_labels
        self.class_sizes = class_sizes

    def fit(self, X: ArrayLike | sp.sparray, y: Any = None) -> Self:  # type: ignore[override]
        """Learn from one pass over the data, their rows in random order.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory map, MappedCSR} of shape (n_samples, n_features)
            Non-negative data.
        y : array-like of shape (n_samples,), default=None
            Classes, numbers or texts; -1, ``None``, NaN or ``""`` where they are not known.

        Returns
        -------
        self
        """
        self._fit(X, None, y)
        warn_of_only_class(self, stacklevel=3)
        return self

    def partial_fit(  # type: ignore[override]
        self, X: ArrayLike | sp.sparray, y: Any = None
    ) -> Self:
        """Learn from the next batch of a stream.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Non-negative rows, one or many.
        y : array-like of shape (n_samples,), default=None
            Their classes, as for ``fit``.

        Returns
        -------
        self
        """
        self._partial_fit(X, None, y)
        return self

    def fit_predict(  # type: ignore[override]
        self, X: ArrayLike | sp.sparray, y: Any = None
    ) -> np.ndarray:
        """Fit and return the class of each sample."""
        return self.fit(X, y).predict(X)

    def predict(self, X: ArrayLike | sp.sparray) -> np.ndarray:
        """Class of samples, of ``classes_``; clusters, if the stream had no labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Non-negative data.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        found = super().predict(X)
        return self.classes_[found] if hasattr(self, "classes_") else found

    def _new_rows(self, what: str, data: Data) -> np.ndarray:
        if what == "predict" and hasattr(self, "classes_"):
            return self._distributions(data)[0].argmax(axis=1)
        return super()._new_rows(what, data)

    def _pace(self) -> Pace:
        trusted = check_flag("trust_labels", self.trust_labels)
        own = {"trust_labels": trusted, "class_sizes": self.class_sizes}
        return replace(super()._pace(), **own)

    def _show(self) -> None:
        super()._show()
        for name in ("classes_", "suspicious_labels_"):
            self.__dict__.pop(name, None)
            found = getattr(self._stream.fitted, name[:-1], None)
            if found is not None:
                setattr(self, name, found)
