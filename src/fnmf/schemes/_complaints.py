"""What the user of a fit by relevance should know before reading the clusters."""

from __future__ import annotations

import numpy as np

from fnmf._settings import Settings
from fnmf.exceptions import NoStructureWarning, WeightCollapseWarning
from fnmf.schemes._choice import Choice
from fnmf.schemes._problem import not_settled
from fnmf.terms import Moments

# Weights on fewer features than this share of the live ones, and than clusters, have collapsed.
_COLLAPSED = 0.01


def unseen(faint: int) -> list[Warning]:
    """That some features are nothing beside the largest one, and what to do."""
    if not faint:
        return []
    told = (
        f"{faint} features are so much smaller than the largest one that they cannot be seen "
        "beside it and were left out; bring the columns of X to common units, for example with "
        "sklearn.preprocessing.MinMaxScaler."
    )
    return [UserWarning(told)]


def complaints(
    choice: Choice, found: Moments, converged: bool, settings: Settings
) -> list[Warning]:
    """Warnings, the gravest first."""
    said: list[Warning] = []
    if choice.real is False:
        said.append(
            NoStructureWarning(
                "No structure beyond chance was found: clusters from one half of the features do "
                "not come back in the other. The labels cut the data into parts that may mean "
                "nothing; see structure_found_."
            )
        )
    live = np.count_nonzero(found.live)
    used = np.count_nonzero(choice.weights.top)
    if used <= settings.clusters and used < _COLLAPSED * live:
        said.append(
            WeightCollapseWarning(
                f"The clusters rest on {used} of {live} features; more features may carry them in "
                "other ways. Compare row_norm and column_units, or leave these features out."
            )
        )
    if not converged:
        said.append(not_settled(settings.max_iter))
    return said
