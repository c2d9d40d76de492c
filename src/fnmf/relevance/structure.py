"""Chance or not: do clusters found from one half of the features come back in the other?"""

from dataclasses import replace

import numpy as np

from fnmf.execution import Runner
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.search import Candidate, SearchContext, refit_candidate
from fnmf.relevance.selection import association
from fnmf.relevance.weights import relevance


def structure(context: SearchContext, chosen: Candidate, runner: Runner) -> float | None:
    """Do clusters found from one half of the features come back in the other?

    Returns the largest association over a few halves in standard deviations; one that is clearly
    beyond chance ends the search, and so does a first one without any. ``None`` if there are too
    few features. Copies of a feature stay together.
    """
    defaults = context.defaults
    groups = context.groups
    live = context.table.scatter > 0
    # Equally relevant features go to different halves, so that neither is left without.
    explained = relevance(context.moments(chosen.labels), defaults)
    order = np.argsort(-explained, kind="stable")
    names = list(dict.fromkeys(groups[order][live[order]].tolist()))
    # A single feature of unit length is the same everywhere.
    fewest = defaults.fewest_features
    if len(names) < (2 * fewest if chosen.unit else fewest):
        return None
    rng = np.random.RandomState(context.seed)
    found = -np.inf
    for _ in range(defaults.feature_splits):
        turns = rng.randint(2, size=len(names) // 2)
        first = np.isin(groups, [names[2 * pair + turn] for pair, turn in enumerate(turns)])
        halves = [(live & first,), (live & ~first,)]
        one, other = runner.each(lambda half: _half(context, chosen, half), halves)
        found = max(found, association(one, other, context.n_clusters, defaults))
        if not defaults.hopeless < found < defaults.beyond_chance:
            break
    return float(found)


def beyond_chance(found: float | None, defaults: Defaults = DEFAULTS) -> bool | None:
    """Whether an association is more than chance; ``None`` if nothing could be compared."""
    return None if found is None else found > defaults.beyond_chance


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
        groups=context.groups[kept],
    )
    return refit_candidate(part, chosen).labels
