"""What the user of a fit by relevance should know before reading the clusters."""

from __future__ import annotations

import numpy as np

from fnmf._settings import Settings
from fnmf.exceptions import NoStructureWarning, WeightCollapseWarning
from fnmf.relevance.choice import Choice
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.statistics import Moments


def faint_features(count: int) -> tuple[Warning, ...]:
    """That some features are nothing beside the largest one, and what to do."""
    if not count:
        return ()
    told = (
        f"{count} features are so much smaller than the largest one that they cannot be seen "
        "beside it and were left out; bring the columns of X to common units, for example with "
        "sklearn.preprocessing.MinMaxScaler."
    )
    return (UserWarning(told),)


def fit_warnings(
    choice: Choice, found: Moments, settings: Settings, defaults: Defaults = DEFAULTS
) -> list[Warning]:
    """Warnings, the gravest first.

    That the factorisation used all its iterations is none: weights and clusters are found before.
    """
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
    if used <= settings.clusters and used < defaults.negligible * live:
        said.append(
            WeightCollapseWarning(
                f"The clusters rest on {used} of {live} features; more features may carry them in "
                "other ways. Compare row_norm and column_units, or leave these features out."
            )
        )
    return said
