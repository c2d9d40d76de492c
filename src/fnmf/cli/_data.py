"""The way of a table into a model, kept so that new rows can go the same way."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.cli._errors import UsageError
from fnmf.cli._progress import working
from fnmf.io import Cleaning, Table, clean, read_table

_UNLIKE_UNITS = 1000.0


@dataclass
class Recipe:
    """Columns and treatment of the training table."""

    columns: list[str]
    normalize: str = "samples"
    cleaning: Cleaning = field(default_factory=Cleaning)
    scale: np.ndarray | None = None

    def to_metadata(self) -> dict[str, Any]:
        """Plain values for the model file."""
        return {
            "columns": np.array(self.columns, dtype=object),
            "normalize": self.normalize,
            "missing": self.cleaning.missing,
            "negative": self.cleaning.negative,
            "fill": self.cleaning.fill,
            "shift": self.cleaning.shift,
            "scale": self.scale,
        }

    @classmethod
    def from_metadata(cls, metadata: dict[str, Any]) -> "Recipe":
        """The recipe stored with a model; a clear error if there is none or it does not fit."""
        try:
            columns = [str(name) for name in metadata["columns"]]
            for key in ("fill", "shift", "scale"):
                if metadata[key] is not None and metadata[key].shape != (len(columns),):
                    raise UsageError(
                        f"The model file is inconsistent: {key} does not fit the columns."
                    )
            cleaning = Cleaning(
                metadata["missing"], metadata["negative"], metadata["fill"], metadata["shift"]
            )
            return cls(columns, str(metadata["normalize"]), cleaning, metadata["scale"])
        except (KeyError, TypeError, AttributeError):
            raise UsageError(
                "The model file does not say which columns it needs; it was not made by "
                "'fnmf cluster'. Load it in Python with fnmf.load."
            ) from None

    def prepare(self, X: Any) -> Any:
        """Scaled columns, then rows of unit length, as chosen."""
        sparse = sp.issparse(X)
        if self.scale is not None:
            X = X @ sp.diags_array(self.scale) if sparse else X * self.scale
        if self.normalize == "samples":
            from sklearn.preprocessing import normalize

            # All-zero rows stay zero.
            X = normalize(X)
        return sp.csr_array(X) if sparse else X


def read(path: Path, **options: Any) -> Table:
    """Read with a progress bar."""
    with working(f"Reading {path.name}") as step:
        return read_table(path, progress=step, **options)


def learn_recipe(
    table: Table, *, missing: str, negative: str, normalize: str, scale: str
) -> Recipe:
    """Clean the table in place and note how."""
    cleaning = Cleaning(missing, negative)
    clean(table, cleaning)
    largest = _column_maxima(table.X)
    factors = None
    if scale == "max":
        factors = 1 / np.where(largest > 0, largest, 1.0)
    else:
        live = largest[largest > 0]
        if live.size and live.max() > _UNLIKE_UNITS * live.min():
            table.notes.append(
                f"columns differ in scale (largest values from {live.min():.3g} to "
                f"{live.max():.3g}), and large ones dominate; --scale max makes them comparable"
            )
    return Recipe(list(table.names), normalize, cleaning, factors)


def follow_recipe(table: Table, recipe: Recipe) -> Any:
    """The rows of a new table as the model needs them: columns matched by name."""
    unnamed = all(name == f"column {k}" for k, name in enumerate(table.names, start=1))
    if unnamed and len(table.names) == len(recipe.columns):
        if table.names != recipe.columns:
            table.notes.append("the file names no columns; they are taken in the model's order")
        order = list(range(len(recipe.columns)))
    else:
        at = {name: k for k, name in enumerate(table.names)}
        missing = [name for name in recipe.columns if name not in at]
        if missing:
            raise UsageError(
                f"{table.path} lacks {len(missing)} of the {len(recipe.columns)} columns the model "
                f"needs: {_listed(missing)}; it has {_listed(table.names)}."
            )
        known = set(recipe.columns)
        extra = [name for name in table.names if name not in known]
        if extra:
            table.notes.append(f"columns the model does not know were left out: {_listed(extra)}")
        order = [at[name] for name in recipe.columns]
    if order != list(range(len(table.names))):
        table.X = table.X[:, order]
        table.names = list(recipe.columns)
    clean(table, recipe.cleaning, fitted=True)
    return recipe.prepare(table.X)


def file_hash(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _column_maxima(X: Any) -> np.ndarray:
    if sp.issparse(X):
        matrix: Any = X
        return matrix.max(axis=0).toarray().ravel().astype(float)
    return np.asarray(X.max(axis=0), dtype=float)


def _listed(names: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
