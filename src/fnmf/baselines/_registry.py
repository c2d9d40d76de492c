"""The ten methods as the experiments need them."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# The grid of the FNMF article: 1e-3 ... 1e3.
GRID = tuple(10.0**exponent for exponent in range(-3, 4))


@dataclass(frozen=True)
class Method:
    """One method: how to make it, what to search, what to cite.

    Parameters
    ----------
    name : str
        Name of the class in :mod:`fnmf.baselines`.
    factory : callable
        ``factory(n_clusters=..., random_state=..., **params)`` makes an unfitted estimator.
        Deterministic methods take the seed and ignore it.
    grid : mapping
        Values to search for each parameter; empty when there is none.
    random : bool
        Whether runs with different seeds differ.
    label_rule : str
        How labels come about in the evaluation protocol.
    citation : str
        The article.
    """

    name: str
    factory: Callable[..., Any]
    grid: Mapping[str, Sequence[float]] = field(default_factory=dict)
    random: bool = True
    label_rule: str = "k-means on the representation"
    citation: str = ""


def _factory(name: str, *, seeded: bool = True) -> Callable[..., Any]:
    def make(*, n_clusters: int, random_state: Any = None, **params: Any) -> Any:
        # Imported here: the list of methods must not load numba.
        module = importlib.import_module(f"fnmf.baselines._{name.lower()}")
        if seeded:
            params["random_state"] = random_state
        return getattr(module, name)(n_clusters=n_clusters, **params)

    return make


_KDD14 = (
    "F. Nie, X. Wang, H. Huang, Clustering and Projected Clustering with Adaptive Neighbors, "
    "KDD 2014, 977-986"
)
_COMPONENTS = "connected components of the learned graph"

_METHODS = (
    Method(
        "NMF",
        _factory("NMF"),
        citation="D. D. Lee, H. S. Seung, Algorithms for Non-negative Matrix Factorization, "
        "NIPS 13 (2000), 556-562",
    ),
    Method(
        "RNMF",
        _factory("RNMF"),
        citation="D. Kong, C. Ding, H. Huang, Robust Nonnegative Matrix Factorization using "
        "L21-norm, CIKM 2011, 673-682",
    ),
    Method(
        "GNMF",
        _factory("GNMF"),
        grid={"smoothness": GRID},
        citation="D. Cai, X. He, J. Han, T. S. Huang, Graph Regularized Nonnegative Matrix "
        "Factorization for Data Representation, IEEE TPAMI 33(8), 2011, 1548-1560",
    ),
    Method(
        "RMNMF",
        _factory("RMNMF"),
        grid={"smoothness": GRID},
        citation="J. Huang, F. Nie, H. Huang, C. Ding, Robust Manifold Nonnegative Matrix "
        "Factorization, ACM TKDD 8(3), 2014, article 11",
    ),
    Method(
        "LCNMF",
        _factory("LCNMF"),
        grid={"rank_strength": GRID},
        citation="H. Gao, F. Nie, H. Huang, Local Centroids Structured Non-Negative Matrix "
        "Factorization, AAAI 2017",
    ),
    Method(
        "ONGR",
        _factory("ONGR"),
        grid={"coupling": GRID},
        citation="J. Han, K. Xiong, F. Nie, Orthogonal and Nonnegative Graph Reconstruction for "
        "Large Scale Clustering, IJCAI 2017",
    ),
    Method(
        "CAN",
        _factory("CAN", seeded=False),
        random=False,
        label_rule=_COMPONENTS,
        citation=_KDD14,
    ),
    Method(
        "PCAN",
        _factory("PCAN", seeded=False),
        random=False,
        label_rule=_COMPONENTS,
        citation=_KDD14,
    ),
    Method(
        "CLR",
        _factory("CLR", seeded=False),
        random=False,
        label_rule=_COMPONENTS,
        citation="F. Nie, X. Wang, M. I. Jordan, H. Huang, The Constrained Laplacian Rank "
        "Algorithm for Graph-Based Clustering, AAAI 2016",
    ),
    Method(
        "KMM",
        _factory("KMM"),
        label_rule=_COMPONENTS,
        citation="F. Nie, C.-L. Wang, X. Li, K-Multiple-Means: A Multiple-Means Clustering "
        "Method with Specified K Clusters, KDD 2019, 959-967",
    ),
)


def all_methods() -> dict[str, Method]:
    """The ten methods by name, in the order of the article's tables.

    Examples
    --------
    >>> from fnmf.baselines import all_methods
    >>> methods = all_methods()
    >>> list(methods)
    ['NMF', 'RNMF', 'GNMF', 'RMNMF', 'LCNMF', 'ONGR', 'CAN', 'PCAN', 'CLR', 'KMM']
    >>> methods["CLR"].factory(n_clusters=3, random_state=0)
    CLR(n_clusters=3)
    """
    return {method.name: method for method in _METHODS}
