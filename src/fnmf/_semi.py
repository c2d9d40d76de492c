"""The estimators for some labels and some links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from fnmf._clusterer import RelevanceClusterer
from fnmf._fnmf import FNMF
from fnmf._parameters import with_parameters_of
from fnmf._semi_base import SemiSupervisedBase
from fnmf.labels.scheme import (
    FittedClassClusters,
    FittedLabels,
    GuidedClusterScheme,
    GuidedScheme,
)

if TYPE_CHECKING:
    from fnmf._settings import Settings
    from fnmf.factorization import Scheme


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
        order of ``classes_``. By default classes are as large as their labels are frequent, one
        more label counted for each class.

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
        (places in ``classes_``), and the ``probability`` that it is wrong by all others. The only
        label of a class is never among them.
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

    @with_parameters_of(
        FNMF, without=("representation", "feature_groups", "components", "warm_start")
    )
    def __init__(
        self,
        n_components: Any = "auto",
        *,
        unreached: str = "nearest",
        trust_labels: bool = True,
        class_sizes: Any = None,
        **shared: Any,
    ) -> None:
        super().__init__(n_components, **shared)
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

    @with_parameters_of(RelevanceClusterer, without=("feature_groups",))
    def __init__(
        self,
        n_clusters: Any = "auto",
        *,
        unreached: str = "nearest",
        trust_labels: bool = True,
        class_sizes: Any = None,
        **shared: Any,
    ) -> None:
        super().__init__(n_clusters, **shared)
        self.unreached = unreached
        self.trust_labels = trust_labels
        self.class_sizes = class_sizes

    def _scheme(self, settings: Settings) -> type[Scheme]:
        return GuidedClusterScheme
