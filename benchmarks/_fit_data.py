"""Data of the speed benchmarks: planted clusters, topics, cells, tables as a file."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

K = 10


def planted(n: int, informative: int = 100, noise: int = 684, seed: int = 0) -> np.ndarray:
    """Ten clusters in some features, uniform noise in the others."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(size=(K, informative)).astype(np.float32)
    X = np.empty((n, informative + noise), np.float32)
    for start in range(0, n, 100_000):
        part = slice(start, min(start + 100_000, n))
        rows = part.stop - part.start
        labels = rng.integers(0, K, rows)
        spread = rng.standard_normal((rows, informative), dtype=np.float32)
        X[part, :informative] = np.abs(centres[labels] + 0.3 * spread)
        X[part, informative:] = rng.random((rows, noise), dtype=np.float32)
    return X


def topics(n: int = 50_000, d: int = 10_000, filled: float = 0.005) -> sp.csr_array:
    """Sparse counts: half of the words of a document come from its topic."""
    rng = np.random.default_rng(0)
    words = int(filled * d)
    labels = rng.integers(0, K, n)
    own = labels[:, None] * (d // K) + rng.integers(0, d // K, (n, words // 2))
    anywhere = rng.integers(0, d, (n, words - words // 2))
    columns = np.hstack([own, anywhere]).ravel()
    rows = np.repeat(np.arange(n), words)
    counts = rng.integers(1, 4, len(columns)).astype(np.float32)
    return sp.csr_array((counts, (rows, columns)), shape=(n, d))


def cells() -> np.ndarray:
    """A quarter of the entries filled, eight clusters of uneven sizes."""
    rng = np.random.default_rng(0)
    labels = rng.choice(8, 2100, p=np.array([8, 6, 5, 4, 3, 2, 1, 1]) / 30)
    rates = rng.gamma(0.3, 1.0, (8, 2000))
    return rng.poisson(rates[labels]).astype(np.float32)


def written_table(path: Path, n: int, d: int) -> None:
    """A CSV file of numbers with planted clusters in a quarter of its columns."""
    X = planted(n, d // 4, d - d // 4)
    with path.open("w") as file:
        file.write(",".join(f"column {k}" for k in range(d)) + "\n")
        for start in range(0, n, 10_000):
            np.savetxt(file, X[start : start + 10_000], delimiter=",", fmt="%.4f")
