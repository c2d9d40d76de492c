"""What the paper leaves open, measured: how much each choice moves the accuracy.

    FNMF_DATA_HOME=... python benchmarks/differences.py [--seeds 3] [--datasets ...] [--methods ...]

One line for each method and choice, mean ACC over the seeds on every data set. Where a method has
a graph term, the better of ``smoothness`` 1, 10 and 100 counts, chosen with the labels as the
paper does.
"""

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from fnmf import FNMF
from fnmf.baselines import CAN, CLR, GNMF, KMM, LCNMF, NMF, PCAN, RMNMF, RNMF
from fnmf.datasets import load, unit_rows
from fnmf.experiments._registry import TABLE_SETS
from fnmf.metrics import clustering_accuracy

STRENGTHS = (1.0, 10.0, 100.0)


def few_starts(make: Callable[..., Any], starts: int) -> Callable[..., Any]:
    """The same method with labels from fewer starts of k-means than ten."""

    class FewStarts:
        def __init__(self, n_clusters: int, random_state: int) -> None:
            self.model, self.seed = make(n_clusters, random_state=random_state), random_state

        def fit_predict(self, X: np.ndarray) -> np.ndarray:
            codes = self.model.fit(X).embedding_
            k = self.model.n_clusters
            return KMeans(k, n_init=starts, random_state=self.seed).fit_predict(codes)

    return FewStarts


def seedless(make: Callable[..., Any], **parameters: Any) -> Callable[..., Any]:
    """A method without chance, which takes no seed."""

    def made(n_clusters: int, random_state: int) -> Any:
        return make(n_clusters, **parameters)

    return made


def paper(n_clusters: int, **parameters: Any) -> FNMF:
    settings = {"weighting": "paper", "solver": "mu", "assignment": "shared"}
    return FNMF(n_clusters, n_jobs=1, **{**settings, **parameters})


unit_components = partial(FNMF, weighting="uniform", n_weightings=1, n_jobs=1)

# Method, choice, how to make it, whether rows have unit length, whether smoothness is searched.
CHOICES: list[tuple[str, str, Callable[..., Any], bool, bool]] = [
    ("NMF", "as in the tables", NMF, True, False),
    ("NMF", "50 iterations", partial(NMF, max_iter=50), True, False),
    ("NMF", "one k-means start", few_starts(NMF, 1), True, False),
    ("NMF", "rows as they are", NMF, False, False),
    ("NMF", "nndsvda start", partial(NMF, init="nndsvda"), True, False),
    ("RNMF", "as in the tables", RNMF, True, False),
    ("RNMF", "rows as they are", RNMF, False, False),
    ("GNMF", "as in the tables", GNMF, True, True),
    ("GNMF", "normalised start", partial(GNMF, normalize_start=True), True, True),
    ("GNMF", "unit components", partial(unit_components, init="random"), True, True),
    ("GNMF", "unit components and k-means start", unit_components, True, True),
    ("LCNMF", "as in the tables", LCNMF, True, False),
    ("LCNMF", "labels from the graph", partial(LCNMF, labels="components"), True, False),
    ("RMNMF", "as in the tables", RMNMF, True, True),
    ("RMNMF", "30 iterations", partial(RMNMF, max_iter=30), True, True),
    ("PCAN", "as in the tables", seedless(PCAN, n_projected="all"), True, False),
    ("PCAN", "c − 1 dimensions", seedless(PCAN), True, False),
    ("PCAN", "5 neighbours", seedless(PCAN, n_projected="all", n_neighbors=5), True, False),
    ("CAN", "as in the tables", seedless(CAN), True, False),
    ("CAN", "all samples", seedless(CAN, neighborhood="full"), True, False),
    ("CLR", "graph not symmetrised", seedless(CLR), True, False),
    ("CLR", "the same with l1 loss", seedless(CLR, loss="l1"), True, False),
    ("CLR", "the same with 10 neighbours", seedless(CLR, n_neighbors=10), True, False),
    ("KMM", "as in the tables", partial(KMM, graph="two-sided", init="random"), True, False),
    ("KMM", "k-means start", partial(KMM, graph="two-sided"), True, False),
    ("KMM", "one-sided graph", partial(KMM, init="random"), True, False),
    ("KMM", "one-sided graph and k-means start", KMM, True, False),
    ("KMM", "the same with rows as they are", KMM, False, False),
    ("FNMF (article)", "as in the tables", paper, True, True),
    (
        "FNMF (article)",
        "each sample its own mixture",
        partial(paper, assignment="sample"),
        True,
        True,
    ),
    ("FNMF (article)", "random start", partial(paper, init="random"), True, True),
    ("FNMF (article)", "60 iterations", partial(paper, max_iter=60), True, True),
    (
        "FNMF (article)",
        "components not normalised",
        partial(paper, normalize_components=False),
        True,
        True,
    ),
]


def accuracy(
    make: Callable[..., Any], X: np.ndarray, y: np.ndarray, searched: bool, seeds: int
) -> float:
    settings = [{"smoothness": value} for value in STRENGTHS] if searched else [{}]
    k = len(np.unique(y))
    means = [
        np.mean(
            [
                clustering_accuracy(y, make(k, random_state=seed, **setting).fit_predict(X))
                for seed in range(seeds)
            ]
        )
        for setting in settings
    ]
    return float(max(means))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--datasets", nargs="*", default=list(TABLE_SETS), choices=TABLE_SETS)
    names = sorted({choice[0] for choice in CHOICES})
    parser.add_argument("--methods", nargs="*", default=names, choices=names)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("method,choice," + ",".join(options.datasets), flush=True)
    loaded = {name: load(name) for name in options.datasets}
    for method, choice, make, unit, searched in CHOICES:
        if method not in options.methods:
            continue
        cells = []
        for bunch in loaded.values():
            X = np.asarray(bunch.data, dtype=np.float64)
            X = unit_rows(X) if unit else X / X.max()
            cells.append(f"{accuracy(make, X, bunch.target, searched, options.seeds):.3f}")
        print(f"{method},{choice}," + ",".join(cells), flush=True)


if __name__ == "__main__":
    main()
