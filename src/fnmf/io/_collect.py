"""Rows of any table with named columns, block by block: who is a feature, a name, a class, text."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from fnmf.io._columns import leave_out_featureless, note_left_out
from fnmf.io._dates import date_form
from fnmf.io._messages import Note
from fnmf.io._options import ReadOptions
from fnmf.io._table import Table, check_not_empty

_MOST_ID_COLUMNS = 4


class RowBuffer:
    """A matrix that grows by blocks of rows, in place where the system allows it."""

    def __init__(self, n_columns: int, dtype: np.dtype) -> None:
        self._values = np.empty((0, n_columns), dtype=dtype)
        self.n_rows = 0

    def extend(self, n_rows: int) -> np.ndarray:
        """Room for ``n_rows`` more rows, to be filled by the caller."""
        needed = self.n_rows + n_rows
        if needed > len(self._values):
            grown = max(needed, len(self._values) + len(self._values) // 4)
            # Nobody else holds the array between two calls, so it may move.
            self._values.resize((grown, self._values.shape[1]), refcheck=False)
        block = self._values[self.n_rows : needed]
        self.n_rows = needed
        return block

    def finish(self) -> np.ndarray:
        """The rows so far; the buffer must not be used afterwards."""
        self._values.resize((self.n_rows, self._values.shape[1]), refcheck=False)
        return self._values


class Collector:
    """Keeps numbers, ids, labels and, on request, columns of text; columns go by position.

    ``numeric`` says which columns look like numbers; ``unusable`` ones are neither that nor text.

    Attributes
    ----------
    numbers, texts : list of int
        Columns that the next block must bring as numbers, and as text.
    """

    def __init__(
        self,
        path: Path,
        names: Sequence[str],
        numeric: Sequence[bool],
        options: ReadOptions,
        unusable: Sequence[int] = (),
    ) -> None:
        self.path, self.names, self.options = path, list(names), options
        apart, required, forced = map(set, (options.named(), options.required, options.texts))
        free = [k for k, name in enumerate(names) if name not in apart]
        self.numbers = [
            k for k in free if (numeric[k] or names[k] in required) and names[k] not in forced
        ]
        taken = {*self.numbers, *unusable}
        self.left_out = [k for k in free if k not in taken]
        self.encoded = self.left_out if options.keep_texts or options.texts else []
        roles = [names.index(n) for n in (options.id_column, options.label_column) if n]
        self._kept: dict[int, list[str]] = {k: [] for k in dict.fromkeys([*roles, *self.encoded])}
        # The first columns of text may name the rows, until a name comes again.
        free_texts = [k for k in self.left_out if names[k] not in forced]
        possible = [] if options.id_column else free_texts[:_MOST_ID_COLUMNS]
        self._rivals: dict[int, dict[str, None]] = {k: {} for k in possible}
        self.texts = [*{**self._kept, **self._rivals}]
        self.buffer = RowBuffer(len(self.numbers), np.dtype(options.dtype))

    def add(self, n_rows: int, texts: Mapping[int, Iterable[str]]) -> np.ndarray:
        """Keep the texts of some rows; room for their numbers, to be filled by the caller."""
        block = self.buffer.extend(n_rows)
        for k, kept in self._kept.items():
            kept += texts[k]
        for k, names in list(self._rivals.items()):
            names.update(dict.fromkeys(cell.strip() for cell in texts[k]))
            if len(names) != self.buffer.n_rows or "" in names:
                del self._rivals[k]
                if k not in self._kept:
                    self.texts.remove(k)
        return block

    def table(
        self,
        notes: Sequence[Note],
        examples: Mapping[int, Sequence[str]],
        lines: np.ndarray | None = None,
    ) -> Table:
        """The table; ``examples`` are cells of the columns of text."""
        names, roles = [self.names[k] for k in self.numbers], self.options
        table = Table(self.path, self.buffer.finish(), names, notes=list(notes), lines=lines)
        texts = {self.names[k]: cells for k, cells in self._kept.items()}
        table.id_name = roles.id_column
        if roles.id_column:
            table.ids = [cell.strip() for cell in texts[roles.id_column]]
        if roles.label_column:
            table.labels = [cell.strip() for cell in texts[roles.label_column]]
        left_out = {self.names[k]: examples.get(k, []) for k in self.left_out}
        if self._rivals and table.ids is None:
            position, ids = next(iter(self._rivals.items()))
            name = self.names[position]
            if not (self.encoded and date_form(left_out[name])):
                table.name_rows(list(ids), name)
                del left_out[name]
        table.texts = {name: texts[name] for name in left_out if self.encoded}
        n_rows = len(table.X)
        check_not_empty(n_rows, len(names) + len(table.texts), self.path, list(left_out))
        if not table.texts:
            note_left_out(table, left_out)
        leave_out_featureless(table, frozenset(roles.required))
        check_not_empty(n_rows, len(table.names) + len(table.texts), self.path)
        return table
