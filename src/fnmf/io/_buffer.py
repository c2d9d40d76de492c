"""Rows collected without ever holding them twice."""

import numpy as np


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
