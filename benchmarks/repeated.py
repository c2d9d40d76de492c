"""What a default fit costs where rows repeat each other, in CPU seconds against a peer.

    python benchmarks/repeated.py [--rows 500 5000 10000 50000]

One thread for both sides, each case in a process of its own, after a first fit that loads compiled
code. The peer is scikit-learn's KMeans (10 starts) and NMF (its defaults) in the same process.
Memory is the most that the process had beyond what it had before the fit, beside the size of X.
"""

import argparse
import subprocess
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF
from threadpoolctl import threadpool_limits

from fnmf import FNMF
from memory import Peak

Maker = Callable[[np.random.Generator, int], object]


def _two_words(rng: np.random.Generator, n: int) -> sp.csr_array:
    # scikit-learn wants 32-bit places.
    words = rng.integers(0, 2000, 2 * n).astype(np.int32)
    places = np.repeat(np.arange(n, dtype=np.int32), 2), words
    return sp.csr_array((np.ones(2 * n), places), shape=(n, 2000))


def _table(rng: np.random.Generator, n: int) -> np.ndarray:
    flags, numbers = rng.integers(0, 2, (n, 9)), rng.integers(0, 8, (n, 8))
    return np.hstack([flags, numbers]).astype(float)


def _one_hot(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.hstack([np.eye(4)[rng.integers(4, size=n)] for _ in range(3)])


# Data of n rows, and the number of clusters that is asked for.
CASES: dict[str, tuple[Maker, int]] = {
    "binary, 5 columns": (lambda rng, n: (rng.random((n, 5)) < 0.5) * 1.0, 2),
    "codes 0-9, 1 column": (lambda rng, n: rng.integers(10, size=(n, 1)) * 1.0, 3),
    "one-hot, 3 x 4": (_one_hot, 4),
    "grid, 11 x 11": (lambda rng, n: np.round(rng.random((n, 2)) * 10), 4),
    "Pareto counts, 6 columns": (lambda rng, n: np.floor(rng.pareto(1.5, (n, 6))), 4),
    "two words of 2,000": (_two_words, 5),
    "20 rows repeated": (lambda rng, n: rng.random((20, 10))[rng.integers(20, size=n)], 5),
    "flags and integers, 17": (_table, 4),
}
# The number of clusters as a share of 400 rows of three columns, none of which repeat.
NEAR_N = (0.125, 0.5, 1 - 1 / 400)


def cost(name: str, n: int) -> tuple[float, float, int, int]:
    """CPU seconds of FNMF and of its peer, bytes of memory beyond X, and bytes of X."""
    rng = np.random.default_rng(0)
    if name.startswith("k = "):
        X, k = rng.random((n, 3)), int(name[4:])
    else:
        make, k = CASES[name]
        X = make(rng, n)
    size = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes

    def own() -> None:
        FNMF(k, random_state=0, n_jobs=1).fit(X)

    def peer() -> None:
        KMeans(k, n_init=10, random_state=0).fit(X)
        NMF(min(k, *X.shape), random_state=0).fit(X)

    with threadpool_limits(1):
        # The first fits load or compile what the others use.
        for task in (own, peer):
            task()
        with Peak() as peak:
            times = [_cpu(own)]
        times.append(_cpu(peer))
    return times[0], times[1], peak.extra, size


def _cpu(task: Callable[[], None]) -> float:
    begun = time.process_time()
    task()
    return time.process_time() - begun


def measure(name: str, n: int) -> None:
    """Print one line: CPU seconds of both sides, their ratio, memory beyond X."""
    warnings.simplefilter("ignore")
    own, peer, extra, size = cost(name, n)
    print(
        f"{name:26} n = {n:6}: FNMF {own:6.2f} s, peer {peer:6.2f} s, "
        f"ratio {own / peer:5.2f}, memory {extra / 1e6:5.0f} MB (X {size / 1e6:.0f} MB)",
        flush=True,
    )


def main() -> None:
    """All cases, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 5000, 10_000, 50_000])
    parser.add_argument("--case", nargs=2, metavar=("NAME", "ROWS"), help="a single one, here")
    given = parser.parse_args()
    if given.case:
        measure(given.case[0], int(given.case[1]))
        return
    cases = [(name, n) for name in CASES for n in given.rows]
    cases += [(f"k = {round(share * 400)}", 400) for share in NEAR_N]
    for name, n in cases:
        subprocess.run([sys.executable, __file__, "--case", name, str(n)], check=True)


if __name__ == "__main__":
    main()
