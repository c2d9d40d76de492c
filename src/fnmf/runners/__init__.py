"""Who works through the blocks of X: threads, on one level, for all that the library does."""

from fnmf.runners._runner import (
    Feed,
    Result,
    RowArray,
    Rows,
    Runner,
    State,
    Work,
    concatenated,
    parts_of,
)
from fnmf.runners._statistics import Statistics, add_up
from fnmf.runners._threads import Threads, n_threads, pools, threads

__all__ = [
    "Feed",
    "Result",
    "RowArray",
    "Rows",
    "Runner",
    "State",
    "Statistics",
    "Threads",
    "Work",
    "add_up",
    "concatenated",
    "n_threads",
    "parts_of",
    "pools",
    "threads",
]
