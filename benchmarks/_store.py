"""What was measured, in a CSV file: measured once, read again by whoever prints it."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np


class Store:
    """Rows of a CSV file, read once and appended to.

    Parameters
    ----------
    path : Path
        The file, which need not exist.
    keys : sequence of str
        Columns that say what a row is of; ``figures`` are those that hold what was found.
    """

    def __init__(self, path: Path, keys: Sequence[str], figures: Sequence[str]) -> None:
        self.path, self.keys, self.figures = path, tuple(keys), tuple(figures)
        self.rows: list[dict[str, str]] = []
        if path.exists():
            with path.open() as file:
                self.rows = list(csv.DictReader(file))

    def has(self, *key: object) -> bool:
        """Whether there is a row of this key."""
        return any(self._of(row, key) for row in self.rows)

    def add(self, *key: object, **figures: float) -> None:
        """Append a row, here and in the file; figures that are not given are NaN."""
        found = [f"{float(figures.get(name, np.nan)):.5g}" for name in self.figures]
        names, values = self.keys + self.figures, [*map(str, key), *found]
        self.rows.append(dict(zip(names, values, strict=True)))
        with self.path.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if file.tell() == 0:
                writer.writerow(names)
            writer.writerow(values)
        print(*values, flush=True)

    def values(self, *key: object, field: str = "acc") -> np.ndarray:
        """A figure of all rows whose key begins with this one."""
        return np.array([float(row[field]) for row in self.rows if self._of(row, key)])

    def mean(self, *key: object, field: str = "acc") -> float:
        """Their mean; NaN if there is none."""
        values = self.values(*key, field=field)
        return float(values.mean()) if len(values) else np.nan

    def _of(self, row: dict[str, str], key: Sequence[object]) -> bool:
        return all(row[name] == str(one) for name, one in zip(self.keys, key, strict=False))
