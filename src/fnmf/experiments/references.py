"""Three methods of scikit-learn beside the paper's: an example of how a method is added.

This file is run like any file given to ``fnmf reproduce --with``.
"""

from typing import Any

from sklearn.cluster import HDBSCAN, SpectralClustering

from fnmf.baselines import Method, register_method


def _spectral(*, n_clusters: int, random_state: int | None, **params: Any) -> SpectralClustering:
    return SpectralClustering(
        n_clusters, affinity="nearest_neighbors", random_state=random_state, **params
    )


def _hdbscan(*, n_clusters: int, random_state: int | None, **params: Any) -> HDBSCAN:
    # It finds the number of clusters itself and draws nothing at random.
    return HDBSCAN(copy=True, **params)


register_method(
    Method(
        "SpectralClustering",
        _spectral,
        grid={"n_neighbors": (5, 10, 20)},
        command=False,
        label_rule="k-means on the spectral embedding",
        citation="U. von Luxburg, A Tutorial on Spectral Clustering, Statistics and Computing "
        "17, 2007, 395-416",
    )
)
register_method(
    Method(
        "HDBSCAN",
        _hdbscan,
        grid={"min_cluster_size": (5, 10, 20)},
        random=False,
        command=False,
        label_rule="its own; samples called noise count as one cluster",
        citation="R. J. G. B. Campello, D. Moulavi, J. Sander, Density-Based Clustering Based on "
        "Hierarchical Density Estimates, PAKDD 2013, 160-172",
    )
)
