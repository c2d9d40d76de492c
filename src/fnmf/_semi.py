"""The estimators for some labels and some links. No mathematics here."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import ClassifierTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fnmf._base import ClusterBase
from fnmf._clusterer import RelevanceClusterer
from fnmf._fnmf import FNMF
from fnmf._sklearn import with_callbacks
from fnmf.data import is_dask
from fnmf.labels.guidance import Guidance
from fnmf.labels.known import read_labels, unknown_mark
from fnmf.labels.links import contradictions, read_links
from fnmf.labels.rows import class_distributions
from fnmf.labels.scheme import (
    FittedClassClusters,
    FittedLabels,
    GuidedClusterScheme,
    GuidedScheme,
)
from fnmf.validation import check_choice

if TYPE_CHECKING:
    from fnmf._settings import Settings
    from fnmf.factorization import Scheme

# Contradictions that a warning names.
_NAMED = 5


def was_guided(estimator: Any) -> bool:
    """Whether a fit had labels or links; an error says so if it had none."""
    fitted = hasattr(estimator, "labels_") or hasattr(estimator, "components_")
    if fitted and not hasattr(estimator, "classes_"):
        raise AttributeError("this fit had neither labels nor links, so that there are no classes.")
    return True


def _named(classes: np.ndarray, mark: Any, codes: np.ndarray, reached: np.ndarray) -> np.ndarray:
    """Classes by their names, with a mark where no label reaches, if there is one."""
    named: np.ndarray = classes[codes]
    return named if mark is None else np.where(reached, named, mark)


class SemiSupervisedBase(ClusterBase):
    """What estimators share that take labels and links of some rows."""

    classes_: np.ndarray
    reached_: np.ndarray
    unreached: str
    trust_labels: bool
    class_sizes: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # It has probabilities of classes, whose number its checks ask for.
        tags.classifier_tags = ClassifierTags()
        return tags

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
            Pairs of rows that belong together, or apart; a third column says how probable it is
            that a pair is right, above 0.5 and at most 1.

        Returns
        -------
        self
        """
        from fnmf._fitting import fit_estimator

        check_choice("unreached", self.unreached, ("nearest", "unknown"))
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
        fit_estimator(self, X, guidance=guidance)
        if guidance is None:
            for name in ("transduction_", "contradictory_links_"):
                self.__dict__.pop(name, None)
        else:
            found = contradictions(guidance.must, guidance.cannot, guidance.known.codes)
            self.contradictory_links_ = found
            self.transduction_ = self._by_name(self.labels_, self.reached_)
            if found:
                named = "; ".join(found[:_NAMED])
                # Past scikit-learn's wrapper, to the line that called fit.
                warnings.warn(f"{len(found)} links cannot hold: {named}.", stacklevel=3)
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
        if is_dask(X):
            return self._lazily("predict", self._checked(X), None)
        shares, reached = self._distributions(X)
        return self._by_name(shares.argmax(axis=1), reached)

    @available_if(was_guided)  # type: ignore[untyped-decorator]
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
            return self._lazily("predict_proba", self._checked(X), len(self.classes_))
        return self._distributions(X)[0]

    def _distributions(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        from fnmf.affinity import completed_new
        from fnmf.execution import threads

        settings, fitted = self._settings(), self._record.of(vars(self._light()))
        data = self._checked(X)
        with threads(settings.n_jobs) as runner:
            view = completed_new(data, fitted, runner)
            return class_distributions(fitted, settings, view, runner)

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


class SemiFNMF(SemiSupervisedBase, FNMF):  # type: ignore[misc]
    """FNMF when the classes of some samples are known, or pairs that belong together or apart.

    Labels spread along the neighbour graph, make features that tell them apart count more, and
    name the clusters. Those that the data contradict are kept, listed, and do not spread.
    Without labels and links it is :class:`fnmf.FNMF`.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components and, unless ``n_clusters`` is given, of classes. More than were
        labelled finds the rest: "new 1", ...; fewer count as those that were. ``"auto"`` takes the
        labelled classes, and without labels what :func:`fnmf.choose_n_components` recommends.

    unreached : {"nearest", "unknown"}, default="nearest"
        Class of a sample that no label reaches along the graph: the one its features and cluster
        are nearest to, or -1 (``""`` among texts).

    trust_labels : bool, default=True
        Whether given labels are kept. With ``False`` suspicious ones are replaced by what the
        data suggest.

    class_sizes : dict or sequence, default=None
        How many samples each class has, in any units: a mapping from classes, or numbers in the
        order of ``classes_``. By default classes are as large as their labels are frequent.

    **parameters
        All others are those of :class:`fnmf.FNMF`; ``weighting`` must be ``"relevance"`` if there
        are labels or links.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labelled classes in order, then those that nobody labelled.
    transduction_ : ndarray of shape (n_samples,)
        Class of each training sample.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Probabilities of the classes, calibrated on labels that were held out; certain for given
        labels.
    suspicious_labels_ : structured ndarray
        Labels that the others contradict, surest first: ``row``, ``given`` and ``suggested``
        (places in ``classes_``), and the ``probability`` that the label is wrong.
    violated_links_ : ndarray of shape (n_violated, 3)
        Links that do not hold: two rows, and 1 for a must-link or 0 for a cannot-link.
    contradictory_links_ : list of str
        Links that cannot all hold, also through chains and labels, in words.
    label_relevance_ : ndarray of shape (n_features,)
        Share of each feature that the labels explain beyond chance.
    labelled_ : ndarray of shape (n_samples,)
        Whether the class of a sample was given.
    reached_ : ndarray of shape (n_samples,)
        Whether a label reaches a sample along the graph.

    See Also
    --------
    fnmf.FNMF : The same without labels, with all other parameters and attributes.
    fnmf.SemiRelevanceClusterer : The same without a factorisation, for any real data.

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf import SemiFNMF
    >>> from fnmf.datasets import make_noisy_gaussians
    >>> X, truth = make_noisy_gaussians(random_state=0)
    >>> y = np.full(len(X), -1)
    >>> some = [np.flatnonzero(truth == c)[0] for c in range(3)]
    >>> y[some] = truth[some]
    >>> model = SemiFNMF(random_state=0).fit(X, y)
    >>> bool(np.mean(model.transduction_ == truth) > 0.9)
    True
    """

    _record = FittedLabels
    _stored_shapes: ClassVar = FittedLabels.shapes()

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        n_weightings: int = 3,
        diversity: float = 0.01,
        smoothness: float = 100.0,
        n_neighbors: int = 5,
        graph: Any = "adaptive",
        weighting: Any = "relevance",
        graph_refresh: int | None = None,
        assignment: str = "sample",
        solver: str = "mu-fast",
        init: Any = "kmeans",
        row_norm: str = "auto",
        column_units: str = "auto",
        normalize_components: bool = True,
        n_clusters: int | None = None,
        consensus: int | None = None,
        negative: str = "error",
        max_iter: int = 300,
        tol: float = 1e-4,
        n_init: int = 1,
        unreached: str = "nearest",
        trust_labels: bool = True,
        class_sizes: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_components,
            n_weightings=n_weightings,
            diversity=diversity,
            smoothness=smoothness,
            n_neighbors=n_neighbors,
            graph=graph,
            weighting=weighting,
            graph_refresh=graph_refresh,
            assignment=assignment,
            solver=solver,
            init=init,
            row_norm=row_norm,
            column_units=column_units,
            normalize_components=normalize_components,
            n_clusters=n_clusters,
            consensus=consensus,
            negative=negative,
            max_iter=max_iter,
            tol=tol,
            n_init=n_init,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.unreached = unreached
        self.trust_labels = trust_labels
        self.class_sizes = class_sizes

    def fit_transform(
        self, X: ArrayLike | sp.sparray, y: Any = None, **fit_params: Any
    ) -> np.ndarray:
        """Fit and return the representation of the training samples, ``embedding_``."""
        return self.fit(X, y, **fit_params).embedding_

    def _scheme(self, settings: Settings) -> type[Scheme]:
        return GuidedScheme if settings.scheme == "relevance" else super()._scheme(settings)


class SemiRelevanceClusterer(SemiSupervisedBase, RelevanceClusterer):  # type: ignore[misc]
    """RelevanceClusterer when the classes of some samples are known, or pairs of samples.

    What labels and links do is what they do for :class:`fnmf.SemiFNMF`; there is no
    factorisation, so that it takes any real data. Without labels and links it is
    :class:`fnmf.RelevanceClusterer`.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of classes, as ``n_components`` of :class:`fnmf.SemiFNMF`.

    unreached, trust_labels, class_sizes
        As for :class:`fnmf.SemiFNMF`.

    **parameters
        All others are those of :class:`fnmf.RelevanceClusterer`.

    Attributes
    ----------
    classes_, transduction_, label_distributions_, suspicious_labels_, violated_links_, \
    contradictory_links_, label_relevance_, labelled_, reached_
        As for :class:`fnmf.SemiFNMF`.

    See Also
    --------
    fnmf.RelevanceClusterer : The same without labels, with all other parameters and attributes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from fnmf import SemiRelevanceClusterer
    >>> X, truth = load_iris(return_X_y=True)
    >>> y = np.full(len(X), -1)
    >>> y[::10] = truth[::10]
    >>> model = SemiRelevanceClusterer(random_state=0).fit(scale(X), y)
    >>> bool(np.mean(model.transduction_ == truth) > 0.9)
    True
    """

    _record = FittedClassClusters
    _stored_shapes: ClassVar = FittedClassClusters.shapes()

    def __init__(
        self,
        n_clusters: Any = "auto",
        *,
        n_neighbors: int = 5,
        graph: Any = "adaptive",
        row_norm: str = "auto",
        column_units: str = "auto",
        false_discovery_rate: float = 0.1,
        unreached: str = "nearest",
        trust_labels: bool = True,
        class_sizes: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_clusters,
            n_neighbors=n_neighbors,
            graph=graph,
            row_norm=row_norm,
            column_units=column_units,
            false_discovery_rate=false_discovery_rate,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.unreached = unreached
        self.trust_labels = trust_labels
        self.class_sizes = class_sizes

    def _scheme(self, settings: Settings) -> type[Scheme]:
        return GuidedClusterScheme
