"""Classes of new rows: what their neighbours of the fit were told, and their own features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fnmf._settings import Settings
from fnmf.affinity import adaptive_weights, neighbors_of
from fnmf.data import View
from fnmf.execution import Runner
from fnmf.labels.linear import Linear
from fnmf.labels.opinions import plain_rows, said_of
from fnmf.labels.pool import log_shares, logs, pooled
from fnmf.relevance.new_rows import TransformedRows


def class_distributions(
    fitted: Any, settings: Settings, view: View, runner: Runner
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of the classes (n, k), and whether a label reaches a row, (n,)."""
    new = TransformedRows.of(fitted, view, runner)
    if fitted.spread_by is not None:
        there = TransformedRows.of(replace(fitted, omega=fitted.spread_by[None]), view, runner)
        new = replace(there, scaled=new.scaled)
    k = min(settings.n_neighbors, len(fitted.held_reached) - 1)
    indices, distances = neighbors_of(new.there, k + 1, runner, queries=new.weighted)
    near, shares = indices[:, :k], adaptive_weights(distances).astype(np.float64)

    def met(table: np.ndarray) -> np.ndarray:
        return np.einsum("nk,nkc->nc", shares, table[near])

    opinions = [logs(met(np.exp(table))) for table in (fitted.by_graph, fitted.by_clusters)]
    plain = plain_rows(view, fitted.caps, fitted.row_scale is None, runner)
    for rows, slopes, level in zip((new.scaled, plain), fitted.slopes, fitted.levels, strict=True):
        opinions.append(said_of(Linear(slopes, level, np.empty(0)), rows, runner))
    found = np.exp(log_shares(pooled(opinions, fitted.pool) + fitted.offsets))
    # A row that the fit has seen is what it was.
    seen = distances[:, 0] == 0
    found[seen] = fitted.held_shares[indices[seen, 0]]
    return found, fitted.held_reached[near].any(axis=1)
