"""Results of rows that are too many for memory: they come block by block, and lie in files."""

import shutil
import weakref
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

# Rows of a file that are turned to text at a time.
_FEW = 10_000


class Spool:
    """Files that last as long as this does."""

    def __init__(self) -> None:
        self._folder = mkdtemp(prefix="fnmf-rows-")
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def kept(self, name: str, array: Any) -> np.ndarray:
        """A Dask array of rows as an array on disk; no more than a block of it is ever here."""
        path = Path(self._folder, f"{name}.npy")
        rows = np.lib.format.open_memmap(path, "w+", array.dtype, array.shape)
        start = 0
        for number in range(array.numblocks[0]):
            block = array.blocks[number].compute()
            rows[start : start + len(block)] = block
            start += len(block)
        rows.flush()
        return np.load(path, mmap_mode="r", allow_pickle=False)


def lines(values: np.ndarray) -> Iterator[list[Any]]:
    """Rows of a table: their name and what belongs to them."""
    for start in range(0, len(values), _FEW):
        for number, row in enumerate(values[start : start + _FEW], start=start + 1):
            yield [f"row {number}", *np.atleast_1d(row).tolist()]
