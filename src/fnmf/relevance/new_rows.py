"""How new rows enter a model fitted with ``weighting="relevance"``, and how rows leave it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fnmf._fitted import Fitted, FittedClusters, present
from fnmf._settings import Settings
from fnmf.affinity import Nearest, adaptive_weights, attraction_to, kept_view, neighbors_of, vote
from fnmf.data import IncompleteView, View
from fnmf.execution import Runner
from fnmf.factorization.solver import RowModel, encode
from fnmf.relevance.lloyd import likeliest, nearest_mean
from fnmf.relevance.mixture import Curves, Mixture
from fnmf.relevance.prepare import Preparation
from fnmf.statistics import unit_scales, weighted_distances


@dataclass(frozen=True)
class TransformedRows:
    """New rows as the fit saw its own, and the rows kept from then in which to look for neighbours.

    Attributes
    ----------
    scaled : View
        New rows, scaled.
    weighted, there : View
        New rows and those of the fit in the weighted features, comparable with each other.
    """

    scaled: View
    weighted: View
    there: View

    @classmethod
    def of(cls, fitted: FittedClusters, view: View, runner: Runner) -> "TransformedRows":
        """Bring new rows to the units of the fit."""
        columns = Preparation(present(fitted.caps), present(fitted.units))
        root = np.sqrt(present(fitted.omega).max(axis=0))
        n = view.shape[0]
        if fitted.row_scale is None:
            scales, _ = unit_scales(columns.view(view, np.ones(n), root), runner)
        else:
            scales = np.full(n, fitted.row_scale)
        kept = kept_view(fitted)
        # Sparse rows keep all features, so dense rows must when they meet.
        drop = not (view.sparse or kept.sparse)
        return cls(
            columns.view(view, scales),
            columns.view(view, scales, root, drop=drop),
            columns.view(kept, present(fitted.row_scales), root, drop=drop),
        )


def comparable_rows(fitted: FittedClusters, view: View, runner: Runner) -> tuple[View, View]:
    """New rows and those kept from the fit in the weighted features."""
    new = TransformedRows.of(fitted, view, runner)
    return new.weighted, new.there


def row_lengths(fitted: Fitted, view: View, runner: Runner) -> np.ndarray:
    """Factors that new rows are multiplied with, (n, 1)."""
    scaling = TransformedRows.of(fitted, view, runner).scaled.scaling
    assert scaling is not None
    return np.asarray(scaling.rows, np.float64)[:, None]


def encode_rows(fitted: Fitted, settings: Settings, view: View, runner: Runner) -> np.ndarray:
    """Codes of new rows, in the units of the fit."""
    new, held, seen = TransformedRows.of(fitted, view, runner), None, np.empty((0, 2), np.int64)
    codes = fitted.embedding if fitted.held_codes is None else fitted.held_codes
    if settings.graph is not None and fitted.strength:
        k = min(settings.n_neighbors, len(codes) - 1)
        indices, distances = neighbors_of(new.there, k + 1, runner, queries=new.weighted)
        held = attraction_to(indices[:, :k], distances, codes, fitted.strength)
        if not isinstance(view, IncompleteView):
            equal = np.flatnonzero(distances[:, 0] == 0)
            seen = np.column_stack([equal, indices[equal, 0]])
    omega, prices, mean = present(fitted.omega), present(fitted.prices), present(fitted.mean)
    own_prices = weighted_distances(new.scaled, mean, prices, runner) if prices.any() else None
    shared = settings.assignment == "shared" or len(omega) == 1
    together = fitted.assignments[0] if shared else None
    model = RowModel(fitted.components.T, omega, on_residual=True, shared=together)
    found = encode(new.scaled, model, runner, held, own_prices)[0]
    # A row that the fit has seen has the code it had.
    found[seen[:, 0]] = codes[seen[:, 1]]
    return found


def predict_rows(
    fitted: FittedClusters, settings: Settings, view: View, runner: Runner
) -> np.ndarray:
    """Clusters of new rows: by nearest rows of the fit, the nearest mean, a mixture or codes."""
    if isinstance(fitted, Fitted) and fitted.kmeans is not None:
        codes = encode_rows(fitted, settings, view, runner)
        return fitted.kmeans.predict(np.ascontiguousarray(codes, fitted.embedding.dtype))
    new = TransformedRows.of(fitted, view, runner)
    if fitted.centres is not None and fitted.precisions is not None:
        curves = Curves(present(fitted.log_low), present(fitted.log_offset))
        parts = present(fitted.intercepts), present(fitted.cell_offsets), curves
        mixture = Mixture(fitted.centres, fitted.precisions, *parts)
        return np.asarray(likeliest(new.scaled, mixture, runner), np.int64)
    if fitted.centres is not None:
        found = nearest_mean(new.weighted, fitted.centres, present(fitted.omega), runner)
        return found.astype(np.int64)
    labels = present(fitted.labels if fitted.held_labels is None else fitted.held_labels)
    k = min(settings.n_neighbors, len(labels) - 1)
    indices, distances = neighbors_of(new.there, k + 1, runner, queries=new.weighted)
    found = vote(Nearest(indices[:, :k], adaptive_weights(distances)), labels)
    if isinstance(view, IncompleteView):
        return _as_seen(fitted, view, found, labels)
    # A row that the fit has seen is where it was.
    return np.where(distances[:, 0] == 0, labels[indices[:, 0]], found).astype(np.int64, copy=False)


def _as_seen(
    fitted: FittedClusters, view: IncompleteView, found: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Rows that the fit has seen, missing cells and all, are where they were."""
    rows: Any = fitted.rows
    known = {row.tobytes(): int(label) for row, label in zip(rows, labels, strict=True)}
    asked = np.asarray(view.X, rows.dtype)
    return np.array(
        [known.get(row.tobytes(), label) for row, label in zip(asked, found.tolist(), strict=True)],
        np.int64,
    )


def decode(fitted: Fitted, codes: np.ndarray) -> np.ndarray:
    """Rows of X from their codes; features that no weighting uses are at their mean."""
    rows = codes @ fitted.components
    unused = present(fitted.omega).max(axis=0) == 0
    rows[:, unused] = present(fitted.mean)[unused]
    return rows / present(fitted.units)
