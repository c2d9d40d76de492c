"""Parquet files, batch by batch."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from fnmf.io._buffer import RowBuffer
from fnmf.io._table import Roles, Table, TableError, check_names, check_not_empty

_CELLS_AT_ONCE = 1_000_000


def read_parquet(
    path: Path, roles: Roles, *, dtype: type, progress: Callable[[int], None] | None
) -> Table:
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
            schema = file.schema_arrow
            names = [str(name) for name in schema.names]
            check_names(names, path)
            roles.check(names, path)
            kinds = dict(zip(names, schema.types, strict=True))
            apart = set(roles.named())
            columns = [n for n in names if n not in apart and _is_number(pa, kinds[n])]
            left_out = [n for n in names if n not in apart and not _is_number(pa, kinds[n])]
            notes = [f"columns that hold no numbers were left out: {left_out}"] if left_out else []
            check_not_empty(file.metadata.num_rows, len(columns), path, notes)
            texts = [name for name in (roles.id_column, roles.label_column) if name]
            buffer = RowBuffer(len(columns), np.dtype(dtype))
            kept: dict[str, list[str]] = {name: [] for name in texts}
            size = max(1, _CELLS_AT_ONCE // len(columns))
            for batch in file.iter_batches(batch_size=size, columns=columns + texts):
                block = buffer.extend(batch.num_rows)
                for target, name in enumerate(columns):
                    numbers = batch.column(name).cast(pa.float64(), safe=False)
                    block[:, target] = numbers.to_numpy(zero_copy_only=False)
                for name in texts:
                    kept[name] += [
                        "" if v is None else str(v) for v in batch.column(name).to_pylist()
                    ]
                if progress is not None:
                    progress(buffer.n_rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise TableError(f"{path} is not a usable Parquet file: {reason}.") from error
    table = Table(path, buffer.finish(), columns, notes=notes)
    table.ids = kept[roles.id_column] if roles.id_column else None
    table.labels = kept[roles.label_column] if roles.label_column else None
    return table


def _is_number(pa: object, kind: object) -> bool:
    types = pa.types  # type: ignore[attr-defined]
    checks = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(check(kind) for check in checks)
