"""Who works through the blocks of X: threads, on one level, for all that the library does."""

from fnmf.execution._runner import (
    BlockSource,
    Result,
    RowArray,
    Rows,
    Runner,
    State,
    Statistics,
    Threads,
    Work,
    add_up,
    concatenated,
    n_threads,
    parts_of,
    pools,
    threads,
)
