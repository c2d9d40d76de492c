"""Chance or not: do clusters found from one half of the features come back in the other?"""

from dataclasses import replace

import numpy as np

from fnmf.execution import Runner
from fnmf.relevance.columns import duplicate_groups
from fnmf.relevance.search import Candidate, SearchContext, refit_candidate
from fnmf.relevance.selection import association
from fnmf.relevance.weights import relevance

# Halves of the features that must agree for clusters to be more than chance.
_SPLITS = 3
# Halves that agree by less than this leave no hope for others,
_HOPELESS = 1.0
# and by more than this no doubt.
_BEYOND_CHANCE = 5.0


def structure(context: SearchContext, chosen: Candidate, runner: Runner) -> float | None:
    """Do clusters found from one half of the features come back in the other?

    Returns the largest association over a few halves in standard deviations; one that is clearly
    beyond chance ends the search, and so does a first one without any. ``None`` if there are too
    few features. Copies of a feature stay together.
    """
    groups = duplicate_groups(context.table)
    live = context.table.scatter > 0
    # Equally relevant features go to different halves, so that neither is left without.
    explained = relevance(context.moments(chosen.labels))
    order = np.argsort(-explained, kind="stable")
    names = list(dict.fromkeys(groups[order][live[order]].tolist()))
    # A single feature of unit length is the same everywhere.
    if len(names) < (4 if chosen.unit else 2):
        return None
    rng = np.random.RandomState(context.seed)
    found = -np.inf
    for _ in range(_SPLITS):
        turns = rng.randint(2, size=len(names) // 2)
        first = np.isin(groups, [names[2 * pair + turn] for pair, turn in enumerate(turns)])
        halves = [(live & first,), (live & ~first,)]
        one, other = runner.each(lambda half: _half(context, chosen, half), halves)
        found = max(found, association(one, other, context.n_clusters))
        if not _HOPELESS < found < _BEYOND_CHANCE:
            break
    return float(found)


def beyond_chance(found: float | None) -> bool | None:
    """Whether an association is more than chance; ``None`` if nothing could be compared."""
    return None if found is None else found > _BEYOND_CHANCE


def _half(context: SearchContext, chosen: Candidate, half: np.ndarray) -> np.ndarray:
    """Clusters from some of the features alone, prepared as the candidate was."""
    kept = np.flatnonzero(half)
    part = replace(
        context,
        table=context.table.columns(kept),
        refreshes=min(context.refreshes, 1),
        duplicate_weights=context.duplicate_weights[kept],
        independence=context.independence[kept],
        related=context.related[kept],
    )
    return refit_candidate(part, chosen).labels
