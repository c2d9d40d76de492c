"""MCFS: multi-cluster feature selection, then k-means."""

import numpy as np
import scipy.sparse as sp

from fnmf.baselines._lars import least_angle
from fnmf.baselines._matrix import Matrix, dense
from fnmf.baselines._rival import SelectingKMeans
from fnmf.baselines._spectral import eigenmap


class MCFS(SelectingKMeans):
    """k-means on the features that explain the spectral embedding.

    For each of the ``n_clusters`` smoothest non-constant eigenvectors y of L y = λ D y of a
    neighbour graph, least-angle regression minimises

        ‖y − X a‖²      with at most ``n_features_to_select`` coefficients a_j ≠ 0

    and the score of a feature is its largest ‖a_j‖. The features with the highest scores are
    clustered by k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters, and eigenvectors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Largest coefficient of each feature; 0 for one that no regression took.

    References
    ----------
    D. Cai, C. Zhang, X. He, "Unsupervised Feature Selection for Multi-Cluster Data", KDD 2010,
    333-342.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from fnmf.baselines import MCFS
    >>> X, y = make_blobs(120, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    >>> X = np.column_stack([X, np.random.default_rng(0).normal(size=(120, 6))])
    >>> model = MCFS(n_clusters=3, n_features_to_select=2, random_state=0).fit(X)
    >>> np.flatnonzero(model.selected_features_)
    array([0, 1])
    """

    def _scores(self, X: Matrix, graph: sp.csr_array, n_clusters: int, wanted: int) -> np.ndarray:
        targets = eigenmap(graph, n_clusters, trivial=False)
        gram, products = dense(X.T @ X), dense(sp.csr_array(X).T @ targets)
        scores = np.zeros(X.shape[1])
        for column in products.T:
            scores = np.maximum(scores, np.abs(least_angle(gram, column.copy(), wanted)))
        # Coefficients of the features as they came.
        return scores * self._scale
