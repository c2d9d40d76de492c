"""Parquet files, batch by batch."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fnmf.io._apart import note_left_out
from fnmf.io._buffer import RowBuffer
from fnmf.io._dates import date_form
from fnmf.io._guard import COLUMNAR_RATIO, check_bytes, check_shape
from fnmf.io._options import Options
from fnmf.io._table import Table, check_not_empty, unique_names
from fnmf.io._told import TableError, one_line

_CELLS_AT_ONCE = 1_000_000
_EXAMPLES = 50


def read_parquet(path: Path, options: Options, problems: list[TableError]) -> Table:
    """The numeric columns of a Parquet file."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise TableError(
            f'{path}: reading Parquet needs pyarrow; install it with: pip install "fnmf[parquet]"'
        ) from None
    try:
        with pq.ParquetFile(path) as file:
            return _Reader(path, pa, file, options, problems).table()
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(f"{path} is not a usable Parquet file: {one_line(error)}") from error


class _Reader:
    def __init__(
        self, path: Path, pa: Any, file: Any, options: Options, problems: list[TableError]
    ) -> None:
        self.path, self.pa, self.file, self.options = path, pa, file, options
        schema = file.schema_arrow
        n_rows = file.metadata.num_rows
        check_shape(path, 1, len(schema.names), n_rows)
        self.names, self.notes = unique_names(
            [str(name) for name in schema.names], path, options.duplicates, problems
        )
        options.roles.check(self.names, path)
        # The position in the file survives names that come twice.
        self.at = {name: k for k, name in enumerate(self.names)}
        self.kinds = dict(zip(self.names, schema.types, strict=True))
        apart = set(options.roles.named())
        self.index = None if options.roles.id_column else self._index_column()
        free = [name for name in self.names if name not in apart and name != self.index]
        forced = options.roles.texts
        self.columns = [n for n in free if _is_number(pa, self.kinds[n]) and n not in forced]
        self.left_out = [n for n in free if n not in set(self.columns)]
        check_bytes(path, n_rows * len(self.columns) * 8, COLUMNAR_RATIO)
        check_not_empty(n_rows, len(self.columns) + options.keep_texts, path, self.left_out)

    def _index_column(self) -> str | None:
        """The index that pandas wrote into the file, if it is a single named column of text."""
        raw = (self.file.schema_arrow.metadata or {}).get(b"pandas")
        try:
            index = json.loads(raw)["index_columns"] if raw else []
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        if isinstance(index, list) and len(index) == 1 and isinstance(index[0], str):
            return index[0] if index[0] in self.at else None
        return None

    def table(self) -> Table:
        roles = self.options.roles
        named = [n for n in (roles.id_column or self.index, roles.label_column) if n]
        encoded = self.left_out if self.options.keep_texts else []
        texts: dict[str, list[str]] = {name: [] for name in dict.fromkeys([*named, *encoded])}
        examples = self._examples()
        buffer = RowBuffer(len(self.columns), np.dtype(self.options.dtype))
        size = max(1, _CELLS_AT_ONCE // max(1, len(self.columns)))
        for batch in self._batches([*self.columns, *texts], size):
            block = buffer.extend(batch.num_rows)
            for target, name in enumerate(self.columns):
                numbers = self._column(batch, name).cast(self.pa.float64(), safe=False)
                block[:, target] = numbers.to_numpy(zero_copy_only=False)
            for name, cells in texts.items():
                cells += _cells(self._column(batch, name))
            self.options.told(buffer.n_rows)
        table = Table(self.path, buffer.finish(), self.columns, notes=[*self.notes])
        id_column = roles.id_column or self.index
        table.ids, table.id_name = texts[id_column] if id_column else None, id_column
        table.labels = texts[roles.label_column] if roles.label_column else None
        if table.ids is None:
            self._name_rows(table, examples, texts)
        table.texts = {name: texts[name] for name in encoded if name in examples}
        if not encoded:
            note_left_out(table, examples)
        return table

    def _batches(self, names: list[str], size: int) -> Iterator[Any]:
        # Columns can be chosen by name only where no name comes twice.
        plain = self.names == list(self.file.schema_arrow.names)
        return self.file.iter_batches(batch_size=size, columns=names if plain else None)

    def _column(self, batch: Any, name: str) -> Any:
        plain = batch.num_columns < len(self.names)
        return batch.column(name if plain else self.at[name])

    def _examples(self) -> dict[str, list[str]]:
        if not self.left_out:
            return {}
        batch = next(self._batches(self.left_out, _EXAMPLES))
        return {name: _cells(self._column(batch, name)) for name in self.left_out}

    def _name_rows(
        self, table: Table, examples: dict[str, list[str]], texts: dict[str, list[str]]
    ) -> None:
        """A column of text without repetition names the rows."""
        for name, cells in list(examples.items()):
            if len(set(cells)) < len(cells) or "" in cells or date_form(cells):
                continue
            whole = texts.get(name) or _cells(self.file.read(columns=[name]).column(0))
            if len(set(whole)) == len(whole) == len(table.X) and "" not in whole:
                table.name_rows(whole, name)
                del examples[name]
                return


def _cells(column: Any) -> list[str]:
    return ["" if value is None else str(value) for value in column.to_pylist()]


def _is_number(pa: object, kind: object) -> bool:
    types = pa.types  # type: ignore[attr-defined]
    checks = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(check(kind) for check in checks)
