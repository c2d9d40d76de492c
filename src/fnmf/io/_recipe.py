"""The way of a table into a model, stored with the model so that new rows go the same way."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.io._clean import Cleaning, clean
from fnmf.io._encode import Encoding, learn_encoding
from fnmf.io._messages import Note, TableError, listed, report
from fnmf.io._options import ReadOptions
from fnmf.io._table import Table
from fnmf.validation import check_choice

_UNLIKE_UNITS = 1000.0
_KEYS = ("columns", "normalize", "missing", "negative", "fill", "shift", "scale")


@dataclass
class Recipe:
    """Columns and treatment of the training table.

    Attributes
    ----------
    columns : list of str
        The features, in the order of the model.
    normalize : {"samples", "none"}
        Whether rows are scaled to unit length.
    cleaning : Cleaning
        Treatment of missing and negative values.
    scale : ndarray or None
        Factor of each column.
    encoding : Encoding or None
        How columns of text and dates became features.
    transpose : bool
        Whether the samples are the columns of the file.
    id_column : str or None
        The column that names the rows.
    """

    columns: list[str]
    normalize: str = "samples"
    cleaning: Cleaning = field(default_factory=Cleaning)
    scale: np.ndarray | None = None
    encoding: Encoding | None = None
    transpose: bool = False
    id_column: str | None = None

    def __post_init__(self) -> None:
        check_choice("normalize", self.normalize, ("samples", "none"))

    @property
    def sources(self) -> list[str]:
        """The column of the file behind each feature."""
        known = {} if self.encoding is None else self.encoding.source_of()
        return [known.get(name, name) for name in self.columns]

    @property
    def groups(self) -> np.ndarray:
        """Number of the column of the file behind each feature, counted from 0; (n_features,)."""
        number = {name: k for k, name in enumerate(dict.fromkeys(self.sources))}
        return np.array([number[name] for name in self.sources], dtype=np.intp)

    @classmethod
    def learn(
        cls,
        table: Table,
        *,
        missing: str = "error",
        negative: str = "error",
        normalize: str = "samples",
        scale: str = "none",
        texts: str = "all",
        categories: Sequence[str] = (),
        problems: list[TableError] | None = None,
    ) -> "Recipe":
        """Treat the training table in place and note how.

        Of the columns of text that the table has kept all are encoded (``texts="all"``), or only
        flags and categories (``"categories"``); those named by ``categories`` are. What the choices
        do not cover is raised, or added to ``problems``.
        """
        check_choice("scale", scale, ("none", "max"))
        check_choice("texts", texts, ("all", "categories"))
        found: list[TableError] = []
        encoding = learn_encoding(table, texts == "all", categories) if table.texts else None
        cleaning = Cleaning(missing, negative)
        typical = None if encoding is None else encoding.typical(table)
        clean(table, cleaning, typical=typical, problems=found)
        report(found, problems)
        recipe = cls(list(table.names), normalize, cleaning, None, encoding)
        recipe.id_column = table.id_name
        if not found:
            recipe._learn_scale(table, scale)
        return recipe

    def _learn_scale(self, table: Table, scale: str) -> None:
        largest = _column_maxima(table.X)
        if scale == "max":
            self.scale = 1 / np.where(largest > 0, largest, 1.0)
            return
        live = largest[largest > 0]
        if live.size and live.max() > _UNLIKE_UNITS * live.min():
            text = (
                f"columns differ in scale (largest values from {live.min():.3g} to "
                f"{live.max():.3g}), and large ones dominate"
            )
            table.notes.append(Note(text, "scale"))

    def follow(self, table: Table) -> Any:
        """The rows of a new table as the model needs them: columns matched by name."""
        self._name_rows(table)
        unnamed = all(name == f"column {k}" for k, name in enumerate(table.names, start=1))
        by_position = unnamed and len(table.names) == len(self.columns)
        if not by_position:
            self._check_columns(table)
        if self.encoding is not None:
            self.encoding.apply(table)
        if not by_position:
            self._sort_columns(table)
        elif table.names != self.columns:
            text = "the new rows name no columns; they are taken in the model's order"
            table.notes.append(Note(text))
            table.names = list(self.columns)
        clean(table, self.cleaning, fitted=True)
        return self.prepare(table.X)

    def _check_columns(self, table: Table) -> None:
        """Raise if the file lacks columns that the model needs."""
        encoding = self.encoding or Encoding()
        made = set(encoding.features)
        needed = [*(name for name in self.columns if name not in made), *encoding.sources]
        there = [*table.names, *table.texts]
        known = set(there)
        missing = [name for name in needed if name not in known]
        if missing:
            raise TableError(
                f"{table.path} lacks {len(missing)} of the {len(needed)} columns the model "
                f"needs: {listed(missing, 6)}; it has {listed(there, 6)}"
            )

    def _sort_columns(self, table: Table) -> None:
        known = set(self.columns)
        extra = [name for name in table.names if name not in known]
        if extra:
            text = f"columns the model does not know were left out: {listed(extra, 6)}"
            table.notes.append(Note(text))
        if table.names != self.columns:
            at = {name: k for k, name in enumerate(table.names)}
            table.X = table.X[:, [at[name] for name in self.columns]]
            table.names = list(self.columns)

    def _name_rows(self, table: Table) -> None:
        """What named the rows of the training table names the new ones."""
        name = self.id_column
        if not isinstance(name, str) or table.ids is not None:
            return
        if name in table.texts:
            table.ids = [cell.strip() for cell in table.texts[name]]
        elif name in table.names and not sp.issparse(table.X):
            table.ids = [f"{value:.0f}" for value in table.X[:, table.names.index(name)]]
            table.leave_out([name])

    def in_own_units(self, X: Any) -> Any:
        """Cleaned rows in the units of the file, without the shift that made them non-negative."""
        shift = self.cleaning.shift
        return X if shift is None or not shift.any() else X - shift

    def prepare(self, X: Any) -> Any:
        """Scaled columns, then rows of unit length, as chosen."""
        sparse = sp.issparse(X)
        if self.scale is not None:
            X = X @ sp.diags_array(self.scale) if sparse else X * self.scale
        if self.normalize == "samples":
            X = _unit_rows(X)
        return sp.csr_array(X) if sparse else X

    def reading(self, options: ReadOptions | None = None) -> ReadOptions:
        """``options`` with what :func:`read_table` must know to read new rows for this recipe."""
        texts = self.encoding.sources if self.encoding is not None else []
        base = options or ReadOptions()
        return replace(base, required=self.columns, texts=texts, transpose=self.transpose)

    def to_metadata(self) -> dict[str, Any]:
        """Plain values for the model file."""
        return {
            "columns": np.array(self.columns, dtype=object),
            **{name: getattr(self, name) for name in ("normalize", "scale")},
            **vars(self.cleaning),
            "encoding": None if self.encoding is None else self.encoding.to_metadata(),
            **{name: getattr(self, name) for name in ("transpose", "id_column")},
        }

    @classmethod
    def from_metadata(cls, metadata: dict[str, Any]) -> "Recipe | None":
        """The recipe stored with a model, None if there is none, an error if it does not fit."""
        if not set(_KEYS) <= metadata.keys():
            return None
        try:
            columns = [str(name) for name in metadata["columns"]]
            for key in ("fill", "shift", "scale"):
                value = metadata[key]
                fits = value is None or (value.shape == (len(columns),) and value.dtype.kind == "f")
                if not fits:
                    raise ValueError(f"{key} does not fit the columns")
            cleaning = Cleaning(
                metadata["missing"], metadata["negative"], metadata["fill"], metadata["shift"]
            )
            stored = metadata.get("encoding")
            return cls(
                columns,
                str(metadata["normalize"]),
                cleaning,
                metadata["scale"],
                None if stored is None else Encoding.from_metadata(stored),
                bool(metadata.get("transpose", False)),
                metadata.get("id_column"),
            )
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"the treatment of its table is inconsistent: {error}") from error


def _unit_rows(X: Any) -> Any:
    """Rows of unit length, all-zero rows zero; missing cells count as the others do on average."""
    from sklearn.preprocessing import normalize

    if sp.issparse(X) or not np.isnan(np.min(X)):
        return normalize(X)
    known = np.count_nonzero(~np.isnan(X), axis=1)
    squares = np.nansum(X * X, axis=1) * X.shape[1] / np.maximum(known, 1)
    return X / np.sqrt(np.where(squares > 0, squares, 1))[:, None]


def _column_maxima(X: Any) -> np.ndarray:
    if sp.issparse(X):
        matrix: Any = X
        return matrix.nanmax(axis=0).toarray().ravel().astype(float)
    return np.asarray(np.fmax.reduce(X, axis=0), dtype=float)
