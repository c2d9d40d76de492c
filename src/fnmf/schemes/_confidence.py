"""How sure a sample is of its cluster, and which would be its second.

Neighbours vote; without any, the distances of the codes to the centres of the clusters do. The
votes are then turned into a probability: that the sample is of the kind that most of its cluster
is of. The numbers of this map were fitted on labelled data sets, each left out in turn to see
that the map holds for data it has not seen (``benchmarks/choose.py confidence``).
"""

from typing import Any

import numpy as np

# The logistic map from votes to probabilities: level, and slopes of the votes for the sample, for
# its cluster on average, and for all samples.
_LEVEL, _SAMPLE, _CLUSTER, _ALL = -1.27, 0.5, 0.1, 0.31
# The same where it is known how much of the clusters comes back: slopes of the votes for the
# sample, and of what comes back on average (``benchmarks/confidence_map.py`` fits them again).
_KNOWN_LEVEL, _KNOWN_SAMPLE, _BACK = -0.70, 0.52, 0.74
# A vote that nobody gets or lacks.
_DOUBT = 0.02
_TINY = 1e-12


def confidence(
    votes: np.ndarray | None,
    codes: np.ndarray,
    labels: np.ndarray,
    n_clusters: int,
    stability: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Probability of the own cluster and the second-best one, both (n,).

    ``stability`` is the share of each cluster that comes back from halves of the samples. Where no
    other cluster has a vote, the second is the one whose centre is nearest to the codes.
    """
    n = len(labels)
    if n_clusters < 2:
        return np.ones(n), labels.copy()
    rows = np.arange(n)
    near = centre_votes(codes, labels, n_clusters)
    votes = near if votes is None else votes
    own = np.clip(votes[rows, labels], 0, 1)
    if stability is None:
        sizes = np.maximum(np.bincount(labels, minlength=n_clusters), 1)
        of_cluster = np.bincount(labels, own, n_clusters) / sizes
        odds = _LEVEL + _SAMPLE * _odds(own) + _CLUSTER * _odds(of_cluster)[labels]
        odds += _ALL * _odds(own.mean())
    else:
        odds = _KNOWN_LEVEL + _KNOWN_SAMPLE * _odds(own) + _BACK * _odds(stability[labels].mean())
    others = votes + _TINY * near
    others[rows, labels] = -1
    return 1 / (1 + np.exp(-odds)), others.argmax(axis=1)


def _odds(votes: Any) -> Any:
    return np.log((votes + _DOUBT) / (1 - votes + _DOUBT))


def centre_votes(codes: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Posterior of each cluster, if codes lie about their centres with one spread, (n, k)."""
    codes = codes.astype(np.float64)
    counts = np.bincount(labels, minlength=n_clusters)
    members = np.zeros((n_clusters, len(labels)))
    members[labels, np.arange(len(labels))] = 1
    centres = members @ codes / np.maximum(counts, 1)[:, None]
    squares = (codes**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2 * codes @ centres.T
    squares = np.maximum(squares, 0)
    within = squares[np.arange(len(labels)), labels].mean() / codes.shape[1]
    evidence = np.log(np.maximum(counts, _TINY)) - squares / (2 * max(within, _TINY))
    evidence -= evidence.max(axis=1, keepdims=True)
    likely = np.exp(evidence)
    return likely / likely.sum(axis=1, keepdims=True)
