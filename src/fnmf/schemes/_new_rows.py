"""How new rows enter a model fitted with ``weighting="relevance"``, and how rows leave it."""

import numpy as np

from fnmf._fitted import Fitted
from fnmf._settings import Settings
from fnmf.data import View, view_of
from fnmf.graph import attraction
from fnmf.runners import Runner
from fnmf.schemes._rows import Preparation, unit_scales
from fnmf.schemes._stages import price_samples
from fnmf.solver import RowModel, encode


def encode_rows(fitted: Fitted, settings: Settings, view: View, runner: Runner) -> np.ndarray:
    """Codes of new rows, in the units of the last round."""
    omega, prices, mean = _present(fitted.omega), _present(fitted.prices), _present(fitted.mean)
    columns = Preparation(_present(fitted.caps), _present(fitted.units))
    n, d = view.shape
    root = np.sqrt(omega.max(axis=0))
    _, scales = unit_scales(columns.view(view, np.ones(n), root), runner)
    scaled = columns.view(view, scales, np.ones(d))
    own_prices = price_samples(scaled, mean, prices, runner)
    held = None
    if settings.graph is not None and fitted.strength:
        there = view_of(fitted.rows)
        # Sparse rows keep all features, so dense rows must when they meet.
        drop = not (view.sparse or there.sparse)
        held = attraction(
            columns.view(there, _present(fitted.row_scales), root, drop=drop),
            columns.view(view, scales, root, drop=drop),
            fitted.embedding,
            settings.n_neighbors,
            fitted.strength,
            runner,
        )
    together = len(omega) == 1 or settings.assignment == "shared"
    shared = fitted.assignments[0] if together else None
    model = RowModel(fitted.components.T, omega, on_residual=True, shared=shared)
    return encode(scaled, model, runner, held, own_prices)[0]


def decode(fitted: Fitted, codes: np.ndarray) -> np.ndarray:
    """Rows of X from their codes; features that no weighting uses are at their mean."""
    rows = codes @ fitted.components
    unused = _present(fitted.omega).max(axis=0) == 0
    rows[:, unused] = _present(fitted.mean)[unused]
    return rows / _present(fitted.units)


def _present(array: np.ndarray | None) -> np.ndarray:
    assert array is not None
    return array
