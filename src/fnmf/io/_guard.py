"""Declared sizes against the size of the file, before memory is taken.

A file may ask for a gibibyte whatever its size, and beyond that for as many times its own size as
honest data of its format can be packed.
"""

from pathlib import Path

from fnmf.io._messages import TableError

FREE_SIZE = 1 << 30
# Text and arrays shrink 5 to 50 times, a bomb a thousand times.
PACKED_RATIO = 400
# Formats for columns store runs of equal values as one.
COLUMNAR_RATIO = 1000
# Every row and column costs memory for its place and its name, even if it is empty.
_FREE_ROWS = 10_000_000
_FREE_COLUMNS = 1 << 22


def check_bytes(path: Path, declared: int, ratio: int, what: str = "it") -> None:
    """Raise if a file says it holds far more than it can."""
    size = path.stat().st_size
    if declared > max(FREE_SIZE, ratio * size):
        raise TableError(
            f"{path} is far too small for what it says: {what} would take {declared:,} bytes, more "
            f"than {ratio} times the {size:,} bytes of the file, which no honest data does"
        )


def check_shape(path: Path, n_rows: int, n_columns: int, stored: int) -> None:
    """Raise if nearly all rows or columns are empty; ``stored`` entries are really there."""
    for what, count, free in (("rows", n_rows, _FREE_ROWS), ("columns", n_columns, _FREE_COLUMNS)):
        if count < 0 or count > max(free, 4 * stored):
            raise TableError(
                f"{path} declares {count:,} {what} and holds {stored:,} entries: nearly all of "
                f"them would be empty"
            )
