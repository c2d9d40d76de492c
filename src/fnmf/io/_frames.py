"""Data frames of any library, and Parquet files, whose batches are frames too."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fnmf.io._collect import Collector
from fnmf.io._guard import COLUMNAR_RATIO, check_bytes, check_shape
from fnmf.io._messages import Problems, TableError, one_line, optional, refusing
from fnmf.io._options import Progress, ReadOptions
from fnmf.io._table import Table, check_not_empty, unique_names

_CELLS_AT_ONCE = 1_000_000
_EXAMPLES = 50


def _narwhals(source: object) -> Any:
    return optional("narwhals.stable.v2", f"{source}: reading frames", "tables")


def read_frame(frame: Any, options: ReadOptions, problems: Problems, progress: Progress) -> Table:
    """A frame of pandas, Polars, PyArrow, DuckDB or whatever else narwhals knows."""
    path = Path("the data frame")
    nw = _narwhals(path)
    with refusing(f"{path} cannot be used"):
        opened = nw.from_native(frame)
        data = opened.collect() if isinstance(opened, nw.LazyFrame) else opened
    names = [str(name) for name in data.columns]
    options.check_columns(names, path)
    collector = Collector(path, names, [_is_number(nw, d) for d in data.schema.dtypes()], options)
    _add(nw, collector, data, data.columns)
    progress(len(data))
    table = collector.table([], _examples(collector, data, data.columns))
    index = nw.maybe_get_index(data)
    if table.ids is None and getattr(index, "name", None) is not None:
        table.ids, table.id_name = [str(value) for value in index], str(index.name)
    return table


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """PyArrow's reader of a file; whatever fails in the context is blamed on the file."""
    parquet = optional("pyarrow.parquet", f"{path}: reading Parquet", "parquet")
    with refusing(f"{path} is not a usable Parquet file"), parquet.ParquetFile(path) as file:
        yield file


def read_parquet(path: Path, options: ReadOptions, problems: Problems, progress: Progress) -> Table:
    """The columns of a Parquet file, batch by batch."""
    with open_parquet(path) as file:
        return _read_batches(path, file, options, problems, progress)


def _read_batches(
    path: Path, file: Any, options: ReadOptions, problems: Problems, progress: Progress
) -> Table:
    import pyarrow as pa

    nw = _narwhals(path)
    schema, n_rows = file.schema_arrow, file.metadata.num_rows
    check_shape(path, 1, len(schema.names), n_rows)
    stored = [str(name) for name in schema.names]
    names, notes = unique_names(stored, path, options.duplicates, problems)
    options.check_columns(names, path)
    empty = nw.from_native(schema.empty_table().rename_columns(names))
    index = _index_column(schema, names) if options.id_column is None else None
    if index is not None:
        options = replace(options, id_column=index)
    collector = Collector(path, names, [_is_number(nw, d) for d in empty.schema.dtypes()], options)
    check_bytes(path, n_rows * len(collector.numbers) * 8, COLUMNAR_RATIO)
    check_not_empty(n_rows, len(collector.numbers) + len(collector.left_out), path)

    def batches(columns: list[int], size: int) -> Iterator[Any]:
        # Columns can be chosen by name only where no name comes twice.
        wanted = [names[k] for k in columns] if names == stored else None
        for batch in file.iter_batches(batch_size=size, columns=wanted):
            yield nw.from_native(pa.Table.from_batches([batch]).rename_columns(wanted or names))

    first = next(batches(collector.left_out, _EXAMPLES)) if collector.left_out else None
    examples = _examples(collector, first, names)
    size = max(1, _CELLS_AT_ONCE // max(1, len(collector.numbers)))
    for batch in batches([*collector.numbers, *collector.texts], size):
        _add(nw, collector, batch, names)
        progress(collector.buffer.n_rows)
    return collector.table(notes, examples)


def _index_column(schema: Any, names: Sequence[str]) -> str | None:
    """The index that pandas wrote into the file, if it is a single named column of text."""
    raw = (schema.metadata or {}).get(b"pandas")
    try:
        index = json.loads(raw)["index_columns"] if raw else []
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if isinstance(index, list) and len(index) == 1 and isinstance(index[0], str):
        return index[0] if index[0] in names else None
    return None


def _add(nw: Any, collector: Collector, frame: Any, names: Sequence[Any]) -> None:
    texts = {k: _cells(frame.get_column(names[k])) for k in collector.texts}
    block = collector.add(len(frame), texts)
    for target, k in enumerate(collector.numbers):
        series = frame.get_column(names[k])
        try:
            # Whole numbers and fractions need no cast, which would refuse digits it cannot keep.
            plain = series.dtype.is_integer() or series.dtype.is_float()
            block[:, target] = (series if plain else series.cast(nw.Float64)).to_numpy()
        except (TypeError, ValueError, nw.exceptions.NarwhalsError) as error:
            where = f"{collector.path}, column {names[k]!r}"
            raise TableError(f"{where}: {one_line(error)}") from error


def _examples(collector: Collector, frame: Any, names: Sequence[Any]) -> dict[int, list[str]]:
    return {k: _cells(frame.get_column(names[k]).head(_EXAMPLES)) for k in collector.left_out}


def _cells(series: Any) -> list[str]:
    empty = series.is_null().to_list()
    pairs = zip(series.to_list(), empty, strict=True)
    return ["" if missing else str(value) for value, missing in pairs]


def _is_number(nw: Any, kind: Any) -> bool:
    return kind.is_numeric() or kind == nw.Boolean
