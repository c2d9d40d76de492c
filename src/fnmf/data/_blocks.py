"""How rows are cut into blocks: by the data alone, so that sums come out the same anywhere."""

# Rows that the dense kernels take together; blocks consist of whole batches.
BATCH = 16
# A block has at least this many entries, so that calling it costs little beside its work,
_SMALL = 1 << 18
# and at most this many, so that a converted copy of it stays small.
_LARGE = 1 << 22
_BLOCKS = 16
# Not too many rows either, for sums inside a block are in single precision.
_MOST_ROWS = 1 << 14
# A block of sparse rows has this many entries for each feature, so that adding up the sums over
# the features of all blocks costs little beside it.
_ENTRIES_PER_FEATURE = 32


def dense_blocks(n_rows: int, n_features: int) -> list[tuple[int, int]]:
    """Row ranges of dense data."""
    return _even_blocks(n_rows, n_features, _SMALL)


def sparse_blocks(n_rows: int, n_features: int, n_entries: int) -> list[tuple[int, int]]:
    """Row ranges of sparse data."""
    # One entry costs as much as several of a dense row: its features lie anywhere.
    fewest = max(_SMALL / 8, _ENTRIES_PER_FEATURE * n_features)
    return _even_blocks(n_rows, n_entries / max(n_rows, 1), fewest)


def _even_blocks(n_rows: int, per_row: float, fewest: float) -> list[tuple[int, int]]:
    """Blocks of equal size with at least ``fewest`` entries, ``per_row`` in each row."""
    per_row = max(per_row, 1)
    # Asked for in every sweep: plain numbers, no arrays.
    rows = int(min(max(n_rows / _BLOCKS, fewest / per_row), max(_LARGE / per_row, 1)))
    rows = -(-min(max(rows, 1), _MOST_ROWS) // BATCH) * BATCH
    return spans(n_rows, rows)


def spans(n: int, size: int) -> list[tuple[int, int]]:
    """Ranges of ``size`` that cover 0 to n, the last one shorter."""
    return [(start, min(start + size, n)) for start in range(0, n, size)]
