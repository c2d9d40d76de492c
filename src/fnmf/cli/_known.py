"""What columns say of rows: known classes, ``--known COLUMN``, and batches, ``--batch``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fnmf.cli._errors import UsageError
from fnmf.cli._models import OURS

if TYPE_CHECKING:
    from fnmf.cli._fit_options import Model
    from fnmf.cli._options import Reading
    from fnmf.io import Table


_NAMED = 5


def check_known(model: "Model", reading: "Reading", refused: dict[str, Any]) -> None:
    """Raise if other options contradict ``--known``; ``refused`` does not go with it at all."""
    if model.known is None:
        return
    for option, value in refused.items():
        if value is not None:
            raise UsageError(f"{option} does not go with --known; leave it out.")
    if reading.label_column is not None or reading.labels is not None:
        other = "--labels" if reading.labels is not None else "--label-column"
        raise UsageError(
            f"--known leads the fit, {other} only scores it; give one of them. To score, compare "
            "labels.csv with the classes that were held back."
        )


def known_classes(table: "Table", model: "Model", na: Sequence[str]) -> np.ndarray:
    """The class of each row, "" where it is not known; what looks odd is told in the notes."""
    from fnmf.io import MISSING, Note

    found = given_classes(table, na)
    classes = sorted({cell for cell in found if cell})
    shown = int(np.sum(found != ""))
    where = f"--known {model.known}"
    if not classes:
        raise UsageError(f"{where}: all cells of the column are empty; fill some in.")
    if len(classes) == shown and shown > max(2, model.clusters or 0):
        raise UsageError(
            f"{where}: all {shown} cells are different, so that they are no classes; name the "
            "column that holds classes, or give the number of classes with -k if there is one row "
            "of each."
        )
    if len(classes) == 1 and model.clusters is None:
        raise UsageError(
            f"{where}: {classes[0]!r} is the only class; give the number of classes with -k, so "
            "that the others are found."
        )
    if model.clusters is not None and model.clusters < len(classes):
        raise UsageError(
            f"-k {model.clusters} is fewer than the {len(classes)} classes of {where}; choose more "
            "or leave it out."
        )
    for name in classes:
        if name.lower() in {*MISSING, "-1"}:
            text = f"{where}: {name!r} is taken as a class; --na {name} makes it unknown"
            table.notes.append(Note(text))
    for same in _alike(classes):
        text = f"{where}: {' and '.join(map(repr, same))} are different classes"
        table.notes.append(Note(f"{text}; correct the file if they are one"))
    return found


def given_classes(table: "Table", na: Sequence[str]) -> np.ndarray:
    """Cells of the column, "" where they say that nothing is known."""
    unknown = {text.strip() for text in na}
    cells = [str(cell).strip() for cell in table.labels or []]
    return np.array(["" if cell in unknown else cell for cell in cells], dtype=object)


def _alike(classes: list[str]) -> list[list[str]]:
    """Classes that differ by case or spaces only."""
    groups: dict[str, list[str]] = {}
    for name in classes:
        groups.setdefault("".join(name.casefold().split()), []).append(name)
    return [group for group in groups.values() if len(group) > 1][:_NAMED]


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


def take_batches(table: "Table", name: str, na: Sequence[str]) -> np.ndarray:
    """The batch of each row; the column has no other part."""
    batch = given_classes(table, na)
    table.labels = None
    empty = np.flatnonzero(batch == "")
    if len(empty):
        raise UsageError(
            f"--batch {name}: {len(empty)} cell(s) are empty, the first in row {empty[0] + 1}; "
            "fill them in, or leave these rows out."
        )
    return batch


def most_frequent(batch: np.ndarray) -> Any:
    """The largest batch, of equally large ones the first by name."""
    names, sizes = np.unique(batch, return_counts=True)
    return names[sizes.argmax()]
