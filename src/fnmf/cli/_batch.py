"""Rows that were measured together: ``--batch COLUMN``."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fnmf.cli._errors import UsageError
from fnmf.cli._models import OURS

if TYPE_CHECKING:
    from fnmf.cli._fit_options import Model
    from fnmf.cli._options import Reading
    from fnmf.io import Table


def check_batch_option(model: "Model", reading: "Reading", estimator: Any) -> None:
    """Raise if other options contradict ``--batch``."""
    if type(estimator).__name__ != OURS:
        raise UsageError(f"--batch works with --method {OURS} only.")
    others = {
        "--known": model.known,
        "--label-column": reading.label_column,
        "--labels": reading.labels,
        "--restarts": model.restarts or None,
    }
    for option, value in others.items():
        if value is not None:
            raise UsageError(f"{option} does not go with --batch; leave it out.")


def take_batches(table: "Table") -> np.ndarray:
    """The batch of each row; the column has no other part."""
    batch = np.array([str(cell).strip() for cell in table.labels or []])
    table.labels = None
    return batch


def most_frequent(batch: np.ndarray) -> Any:
    """The largest batch, of equally large ones the first by name."""
    names, sizes = np.unique(batch, return_counts=True)
    return names[sizes.argmax()]
