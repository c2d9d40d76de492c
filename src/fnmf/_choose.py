"""``choose_n_components``: a recommended number of clusters, its alternatives, a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from fnmf._base import workplace
from fnmf._fnmf import FNMF
from fnmf._missing import Presence
from fnmf._settings import Settings
from fnmf._sklearn import as_random_state
from fnmf.choosing.number import NUMBERS, NumberOfClusters, choose_number
from fnmf.data import has_missing
from fnmf.validation import check_groups, check_integer, given_kinds

__all__ = ["choose_n_components"]

_MAX_SEED = 2**31 - 1


def choose_n_components(
    X: Any,
    numbers: Iterable[int] = NUMBERS,
    *,
    random_state: Any = None,
    n_jobs: int | None = None,
    **parameters: Any,
) -> NumberOfClusters:
    """Recommend a number of clusters.

    A sample of the rows is explored as a fit would do it, with features weighted by relevance.
    For every number the clusters of its graph are judged by what did not make them: graphs of
    random halves of the features, and clusters found from halves of the features and of the
    samples. If nothing beyond chance shows, the answer is 1.

    Parameters
    ----------
    X : {array-like, sparse matrix, memory map, MappedCSR} of shape (n_samples, n_features)
        Non-negative data; NaN are missing values.
    numbers : iterable of int, default=range(2, 16)
        Numbers to compare. Those with fewer than four samples for each cluster are left out.
    random_state : int, RandomState, Generator or None, default=None
        Seed.
    n_jobs : int or None, default=None
        Threads; results do not depend on it.
    **parameters
        Parameters of :class:`fnmf.FNMF` that the exploration is to respect, such as
        ``n_neighbors``, ``row_norm`` or ``column_units``.

    Returns
    -------
    NumberOfClusters
        ``n_components`` is the recommended number; printed, it is a sentence; in a notebook, a
        picture.

    Examples
    --------
    >>> from fnmf import choose_n_components
    >>> from fnmf.datasets import make_planted_subspaces
    >>> X, y, _ = make_planted_subspaces(300, 3, random_state=0)
    >>> choice = choose_n_components(X, range(2, 7), random_state=0)
    >>> choice.n_components
    3
    >>> choice.scores["k"].tolist()
    [2, 3, 4, 5, 6]
    """
    wanted = sorted({check_integer("numbers", k, low=1) for k in numbers} - {1})
    if not wanted:
        raise ValueError("numbers has no number above 1; pass a range such as range(2, 16).")
    model = FNMF("auto", random_state=random_state, n_jobs=n_jobs, **parameters)
    settings = Settings.of(model.get_params(deep=False))
    data = model._checked(X, reset=True)
    settings = settings.with_kinds(given_kinds(model, data.shape[1]))
    presence = Presence.of(data) if has_missing(data) else None
    data = data if presence is None else presence.rows_with_values(data)
    if settings.feature_groups is not None:
        groups = check_groups(settings.feature_groups, data.shape[1])
        settings = replace(settings, feature_groups=groups)
    seed = as_random_state(random_state).randint(_MAX_SEED)
    with workplace(model, data, settings.n_jobs) as (view, runner):
        found = choose_number(view, settings, wanted, seed, runner)
    if presence is None:
        return found
    return replace(found, rows=np.flatnonzero(presence.rows)[found.rows])
