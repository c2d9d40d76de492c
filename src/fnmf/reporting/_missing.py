"""Missing cells by column and cluster, and whether these themselves set clusters apart."""

from typing import Any

import numpy as np
from scipy.stats import chi2, false_discovery_control

from fnmf.display import listed
from fnmf.relevance.defaults import DEFAULTS
from fnmf.statistics import Statistics

_MOST_COLUMNS = 30
_SHOWN_NAMES = 3
# Association of missing cells with the clusters below which nobody would notice (Cramér's V).
_LEAST_ASSOCIATION = 0.1


def missing_cells(
    stats: Statistics, names: list[str], clusters: list[str]
) -> dict[str, Any] | None:
    """Shares of missing cells by column and cluster, the most first; None if nothing is missing.

    Parameters
    ----------
    stats : Statistics
        By column.
    names, clusters : list of str
        Names of the columns and of the clusters.
    """
    counts = stats.missing.sum(axis=0)
    if not counts.any():
        return None
    n, shares = int(stats.sizes.sum()), stats.missing / stats.sizes[:, None]
    apart = _separating(stats)
    order = np.lexsort((-counts, ~apart))[: int(np.count_nonzero(counts))]
    total, cells = int(counts.sum()), n * len(counts)
    return {
        "clusters": clusters,
        "columns": int(np.count_nonzero(counts)),
        "text": f"{total:,} of {cells:,} cells are missing ({total / cells:.1%}).",
        "apart": _where_missing(apart, shares, names, clusters),
        "rows": [
            {
                "name": names[k],
                "count": int(counts[k]),
                "share": float(counts[k]) / n,
                "by_cluster": shares[:, k].tolist(),
                "apart": bool(apart[k]),
            }
            for k in order[:_MOST_COLUMNS]
        ],
    }


def _separating(stats: Statistics) -> np.ndarray:
    """Columns that are missing more often in some clusters than in others, (d,) bool.

    By the chi-square test of independence, with the rate of false discoveries that is allowed
    elsewhere, and only if the association is large enough to matter.
    """
    missing, sizes = stats.missing, stats.sizes[:, None]
    n, share = int(sizes.sum()), missing.sum(axis=0) / sizes.sum()
    both = (share > 0) & (share < 1)
    if len(sizes) < 2 or not both.any():
        return np.zeros(len(share), bool)
    expected = sizes * share[both]
    statistic = np.sum((missing[:, both] - expected) ** 2 / (expected * (1 - share[both])), axis=0)
    rates = false_discovery_control(chi2.sf(statistic, len(sizes) - 1))
    apart = np.zeros(len(share), bool)
    large = np.sqrt(statistic / n) > _LEAST_ASSOCIATION
    apart[both] = (rates <= DEFAULTS.small) & large
    return apart


def _where_missing(
    apart: np.ndarray, shares: np.ndarray, names: list[str], clusters: list[str]
) -> str:
    """Whether missing cells set clusters apart, as a sentence."""
    if not apart.any():
        return "They are spread evenly over the clusters."
    found = np.flatnonzero(apart)
    gaps = np.ptp(shares[:, found], axis=0)
    first = found[np.argsort(-gaps, kind="stable")]
    shown = listed([names[k] for k in first[:_SHOWN_NAMES]])
    more = f" and {len(first) - _SHOWN_NAMES} more" if len(first) > _SHOWN_NAMES else ""
    k = int(first[0])
    most, least = int(shares[:, k].argmax()), int(shares[:, k].argmin())
    return (
        f"That a cell is missing goes with the clusters in {shown}{more}: {names[k]} is missing "
        f"in {shares[most, k]:.0%} of cluster {clusters[most]} and {shares[least, k]:.0%} of "
        f"cluster {clusters[least]}. What is told of such a column is told of its observed values."
    )
