"""How sure a sample is of its cluster, and which would be its second.

Neighbours vote; without any, the distances of the codes to the centres of the clusters do. The
votes are then turned into a probability: that the sample is of the kind that most of its cluster
is of. The numbers of this map were fitted on labelled data sets, each left out in turn to see
that the map holds for data it has not seen (``benchmarks/choose.py confidence``).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from fnmf.data import View
from fnmf.execution import BlockSource, RowArray, Rows, Runner
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.statistics import indicator

_TINY = 1e-12
# Keeps the odds of unanimous votes finite.
_DOUBT = 0.02


class NeighborVotes(NamedTuple):
    """Rows that votes are counted from, and what counts those of a block, (n, k)."""

    rows: Rows
    counted: Callable[..., np.ndarray | None]


class LabelledRows(NamedTuple):
    """What is known of samples: their votes, if they have any, codes (n, c) and labels (n,)."""

    voters: NeighborVotes | None
    codes: RowArray
    labels: RowArray


def confidence(
    of: LabelledRows,
    n_clusters: int,
    stability: np.ndarray | None,
    view: View,
    runner: Runner,
    defaults: Defaults = DEFAULTS,
) -> tuple[RowArray, RowArray]:
    """Probability of the own cluster and the second-best one, both (n,).

    ``stability`` is the share of each cluster that comes back from halves of the samples. Where no
    other cluster has a vote, the second is the one whose centre is nearest to the codes.
    """
    n, source = view.total, BlockSource(view)
    weights = () if view.weights is None else (view.weights,)
    voters = of.voters or NeighborVotes((), _no_votes)
    rows = (of.labels, of.codes, *voters.rows)
    given = (*rows[:2], *weights)
    counts, sums, squares = runner.sum_rows(partial(_centre_sums, n_clusters), source, *given)
    means = sums / np.where(counts > 0, counts, 1)[:, None]
    within = max(float(squares - np.vdot(means, sums)), 0.0)
    centres = Centres(counts, means, within / n / of.codes.shape[1])
    if stability is None:
        own_votes = partial(_own_votes, centres, voters.counted, len(weights))
        (own,) = runner.sum_rows(own_votes, source, *weights, *rows)
        base, slope, cluster, everyone = defaults.confidence_by_votes
        level = base + cluster * _odds(own / np.where(counts > 0, counts, 1))
        level = level + everyone * _odds(own.sum() / n)
    else:
        base, slope, back = defaults.confidence
        level = np.full(n_clusters, base + back * _odds(float(counts @ stability) / n))
    work = _SureWork(centres, voters.counted, level, slope)
    sure = runner.empty(view, (), of.codes.dtype)
    second = runner.empty(view, (), of.labels.dtype)
    runner.sweep(work, source, (sure, second, *rows))
    return sure, second


def _no_votes() -> None:
    """The count of those who have no votes."""


def _odds(votes: Any) -> Any:
    return np.log((votes + _DOUBT) / (1 - votes + _DOUBT))


class Centres(NamedTuple):
    """Sizes of the clusters, their mean codes, and the spread of codes about them."""

    counts: np.ndarray
    means: np.ndarray
    spread: float

    def squares(self, codes: np.ndarray) -> np.ndarray:
        """Squared distances of codes to all centres."""
        codes = codes.astype(np.float64)
        lengths = (codes**2).sum(axis=1)[:, None] + (self.means**2).sum(axis=1)
        return np.maximum(lengths - 2 * codes @ self.means.T, 0)

    def evidence(self, codes: np.ndarray) -> np.ndarray:
        """Logarithm of the posterior of each cluster, up to that of the likeliest, (n, k)."""
        distances = self.squares(codes) / (2 * max(self.spread, _TINY))
        evidence = np.log(np.maximum(self.counts, _TINY)) - distances
        evidence -= evidence.max(axis=1, keepdims=True)
        return evidence

    def votes(self, codes: np.ndarray) -> np.ndarray:
        """Posterior of each cluster, if codes lie about their centres with one spread, (n, k)."""
        likely = np.exp(self.evidence(codes))
        return likely / likely.sum(axis=1, keepdims=True)


def _centre_sums(
    n_clusters: int, labels: np.ndarray, codes: np.ndarray, own: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sizes of the clusters, sums of their codes, squares of all, samples as they count."""
    members = indicator(labels, n_clusters, np.dtype(np.float64), own)
    squares = np.einsum("ic,ic->", codes, codes, dtype=np.float64)
    if own is not None:
        squares = own @ np.sum(codes.astype(np.float64) ** 2, axis=1)
    return np.bincount(labels, own, n_clusters), members @ codes, np.asarray(squares)


def _own_votes(
    centres: Centres,
    counted: Callable[..., np.ndarray | None],
    weighted: int,
    *rows: np.ndarray,
) -> tuple[np.ndarray]:
    """Votes of samples for their own clusters, by cluster; rows begin with what samples count."""
    labels, codes, *voters = rows[weighted:]
    votes = counted(*voters)
    own = _own(centres.votes(codes) if votes is None else votes, labels)
    for each in rows[:weighted]:
        own = own * each
    return (np.bincount(labels, own, len(centres.counts)),)


@dataclass(frozen=True)
class _SureWork:
    """Rows are the probabilities and seconds, labels, codes and voters."""

    fills: ClassVar = (0, 1)
    centres: Centres
    counted: Callable[..., np.ndarray | None]
    level: np.ndarray
    slope: float

    def __call__(self, block: tuple[()], rows: Rows) -> tuple[Rows, tuple[()]]:
        sure, second, labels, codes, *voters = rows
        if len(self.level) < 2:
            sure[:], second[:] = 1, labels
            return rows, ()
        votes = self.counted(*voters)
        given = self.centres.votes(codes) if votes is None else votes
        odds = self.level[labels] + self.slope * _odds(_own(given, labels))
        # Where clusters are far apart the posteriors of others are all 0; their logarithms are not.
        others = given.astype(np.float64) + _TINY / (1 - self.centres.evidence(codes))
        others[np.arange(len(labels)), labels] = -1
        sure[:], second[:] = 1 / (1 + np.exp(-odds)), others.argmax(axis=1)
        return rows, ()


def known_votes(votes: np.ndarray) -> NeighborVotes:
    """Votes that are known, (n, k)."""
    return NeighborVotes((votes,), _as_they_are)


def _as_they_are(votes: np.ndarray) -> np.ndarray:
    return votes


def _own(votes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.clip(votes[np.arange(len(labels)), labels].astype(np.float64), 0, 1)


def graph_votes(graph: sp.csr_array, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Share of each cluster where walks of one and two steps end, (n, n_clusters).

    Walks back to the sample itself do not count: its own label is no evidence. A sample without
    neighbours has no votes. The graph is symmetric.
    """
    degree = np.asarray(graph.sum(axis=1), np.float64).ravel()
    inverse = np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0)
    everyone, members = np.arange(len(labels)), np.zeros((len(labels), n_clusters))
    members[everyone, labels] = 1
    one = inverse[:, None] * (graph @ members)
    two = inverse[:, None] * (graph @ one)
    two[everyone, labels] -= inverse * (graph.power(2) @ inverse)
    votes = one + np.maximum(two, 0)
    total = votes.sum(axis=1, keepdims=True)
    return (votes / np.where(total > 0, total, 1)).astype(graph.dtype)
