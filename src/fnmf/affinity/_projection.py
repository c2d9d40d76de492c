"""Rows turned onto their leading directions: short vectors for the index of the search."""

from typing import Any

import numpy as np

from fnmf.affinity._exact import Frame, as_dense
from fnmf.data import View, spans

BLOCK_BYTES = 1_000_000
_FEWEST_DIMENSIONS, _MOST_DIMENSIONS = 64, 256
_FEATURES_PER_DIMENSION = 10  # one byte of code for ten float32 features: 2.5 % of the data
_SMALL_CODE_BYTES = 4_000_000
_LANES = 16  # faiss compares codes of other lengths one number at a time
_SAMPLE_BYTES = 4_000_000
_SEED = 0


def sample_rows(n: int, size: int) -> np.ndarray:
    if n <= size:
        return np.arange(n)
    return np.sort(np.random.default_rng(_SEED).choice(n, size, replace=False))


def rows_per_block(rows: View, most: int = 1024) -> int:
    """Rows handled together; fewer when they are long, so that a thread needs little memory."""
    return most if rows.sparse else max(32, min(most, BLOCK_BYTES // (8 * rows.shape[1])))


def affordable_dimensions(n_samples: int, n_features: int) -> int:
    """Dimensions of codes that stay small beside float32 data, or small at all."""
    share = max(n_features // _FEATURES_PER_DIMENSION, _SMALL_CODE_BYTES // n_samples)
    wanted = min(n_features, max(_FEWEST_DIMENSIONS, min(_MOST_DIMENSIONS, share)))
    return -(-wanted // _LANES) * _LANES


class Projection:
    """Rows in the frame, turned onto their leading directions when they are long."""

    def __init__(self, references: View, frame: Frame) -> None:
        self.frame = frame
        self.basis: np.ndarray | None = None
        self.dimensions = affordable_dimensions(*references.shape)
        if references.shape[1] > self.dimensions or references.sparse:
            self.basis = self._leading(references)

    def _leading(self, references: View) -> np.ndarray:
        from sklearn.utils.extmath import randomized_svd

        sample = self._sample(references)
        rank = min(self.dimensions, *sample.shape)
        _, _, basis = randomized_svd(sample, rank, n_iter=2, random_state=_SEED)
        padded = np.zeros((references.shape[1], self.dimensions), dtype=np.float32)
        padded[:, :rank] = basis.T
        return padded

    def _sample(self, references: View) -> Any:
        """Some rows in the frame, float32 if dense: the directions need not be exact."""
        n_samples, n_features = references.shape
        size = max(2 * self.dimensions, min(20_000, _SAMPLE_BYTES // (4 * n_features)))
        chosen = sample_rows(n_samples, size)
        if references.sparse:
            return self.frame.apply(references.take(chosen))
        sample = np.empty((len(chosen), n_features), dtype=np.float32)
        for a, b in spans(len(chosen), rows_per_block(references)):
            sample[a:b] = self.frame.apply(references.take(chosen[a:b]))
        return sample

    def __call__(self, block: Any) -> np.ndarray:
        framed = self.frame.apply(block)
        if self.basis is None:
            padded = np.zeros((len(framed), self.dimensions), dtype=np.float32)
            padded[:, : framed.shape[1]] = framed
            return padded
        if not isinstance(framed, np.ndarray):
            return np.ascontiguousarray(as_dense(framed @ self.basis), dtype=np.float32)
        return np.matmul(framed.astype(np.float32), self.basis)
