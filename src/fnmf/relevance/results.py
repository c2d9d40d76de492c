"""What the default fit finds: clusters first, then their factors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from sklearn.cluster import KMeans

from fnmf.affinity import Affinity
from fnmf.execution import RowArray
from fnmf.factorization.solver import Result
from fnmf.factorization.terms import Ties
from fnmf.relevance.batches import BatchEffect
from fnmf.relevance.choice import Choice, cluster_stability
from fnmf.relevance.mixture import Mixture
from fnmf.relevance.prepare import FeatureStatistics, PreparedRows, Weights
from fnmf.statistics import Moments


@dataclass(frozen=True)
class FoundClusters:
    """Features and clusters, found without any factorisation.

    Attributes
    ----------
    choice : Choice
        The chosen preparation and weights, all candidates, and whether there is structure.
    statistics : FeatureStatistics
        Typical values and caps of the features, as chosen.
    prepared : PreparedRows
        All rows, prepared so.
    affinity : Affinity
        How much rows belong together.
    labels : array of shape (n,) or None
        Clusters; ``None`` where there is no affinity to tell.
    centres : ndarray of shape (k, d) or None
        Means of the clusters, where these decide who belongs to them.
    mixture : Mixture or None
        Whose groups the clusters are, where it decides who belongs to them.
    moments : Moments or None
        Moments of the capped features by cluster, once they are known.
    settled : bool
        Whether the factorisation must not change the labels.
    batch_effect : BatchEffect or None
        What batches do to features and clusters, if there are any.
    """

    choice: Choice
    statistics: FeatureStatistics
    prepared: PreparedRows
    affinity: Affinity
    labels: RowArray | None
    centres: np.ndarray | None = None
    mixture: Mixture | None = None
    moments: Moments | None = None
    settled: bool = False
    batch_effect: BatchEffect | None = None

    # Nothing is iterated that an observer could end.
    ended: ClassVar[bool] = False

    @property
    def quality(self) -> float:
        """By which starts are compared."""
        return self.choice.score

    def __str__(self) -> str:
        return f"score {self.quality:.4f}"

    @property
    def weights(self) -> Weights:
        """Weights of the features."""
        return self.choice.weights

    @cached_property
    def stability(self) -> np.ndarray | None:
        """Share of each cluster that is found again in halves of the sample, (k,)."""
        return None if self.labels is None else cluster_stability(self.choice, self.labels)


@dataclass(frozen=True)
class SmoothedCodes:
    """Codes of one smoothness.

    Attributes
    ----------
    smoothness : float
        As the user counts it.
    ties : Ties
        The affinity, as strong as that.
    result : Result
        Where the solver ended.
    """

    smoothness: float
    ties: Ties
    result: Result


@dataclass(frozen=True)
class FactorizedClusters:
    """A fit: clusters with their factors.

    Attributes
    ----------
    found : FoundClusters
        With the final labels and moments.
    codes : SmoothedCodes
        The factors, and how much neighbours are held together for them.
    kmeans : KMeans or None
        Of the codes, where no affinity gave clusters.
    ended : bool
        Whether an observer wants no further start.
    before : tuple of ndarray
        History of the run that labels were read off, where it was another.
    """

    found: FoundClusters
    codes: SmoothedCodes
    kmeans: KMeans | None
    ended: bool
    before: tuple[np.ndarray, ...] = ()

    @property
    def result(self) -> Result:
        """Factors and history of the solver."""
        return self.codes.result

    @property
    def quality(self) -> float:
        """By which starts are compared."""
        return self.found.quality

    def __str__(self) -> str:
        return f"score {self.quality:.4f} after {self.result.n_iter} iterations"
