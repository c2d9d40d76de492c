"""Memory bars of the engine: anonymous memory beyond the data during a fit.

    python benchmarks/memory.py [extra mapped] [--gigabytes 8] [--folder DIR]

``extra``: 100,000 x 784 float32 in memory, graph given and graph built; bar 10 % of X. Data are
uniform noise, and samples around 100 centres in 20 hidden directions with a little noise; of
noise alone no short code can tell the neighbours, so there the search warns of its recall.
``mapped``: a memory-mapped array of the given size; anonymous memory stays below 1 GB, and the
fit of a slice equals the fit of the same rows in memory bit for bit.
"""

import argparse
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

from _timing import THREADS, random_graph
from fnmf import FNMF
from fnmf.affinity import release_freed_memory


class Peak:
    """Largest anonymous memory of this process while the context is open, in bytes."""

    def __enter__(self) -> "Peak":
        release_freed_memory()  # or room left by the making of the data would hide what is taken
        self.before = self.most = _anonymous()
        self._open = True
        self._watch = threading.Thread(target=self._look)
        self._watch.start()
        return self

    def _look(self) -> None:
        while self._open:
            self.most = max(self.most, _anonymous())
            time.sleep(0.002)

    def __exit__(self, *_: object) -> None:
        self._open = False
        self._watch.join()

    @property
    def extra(self) -> int:
        return self.most - self.before


def _anonymous() -> int:
    """Anonymous resident memory: what is not backed by a file. Linux only."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise OSError("this benchmark reads RssAnon from /proc/self/status")


def model(**options: object) -> FNMF:
    return FNMF(
        10, weighting="paper", init="random", random_state=0, n_jobs=THREADS, tol=0.0, **options
    )


def warm_up(graph: object) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((500, 40), dtype=np.float32)
    model(graph=random_graph(500, X.dtype), max_iter=2).fit(X)
    if isinstance(graph, str):
        model(graph=graph, max_iter=2).fit(rng.random((40_000, 8), dtype=np.float32))


def extra() -> None:
    """Extra memory of a fit in memory."""
    n, d = 100_000, 784
    noise = np.random.default_rng(0).random((n, d), dtype=np.float32)
    report_extra("noise, graph given", noise, random_graph(n, noise.dtype))
    report_extra("noise, graph approximate", noise, "approximate")
    del noise
    report_extra("centres, graph approximate", around_centres(n, d), "approximate")


def report_extra(name: str, X: np.ndarray, graph: object) -> None:
    warm_up(graph)
    with Peak() as peak, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model(graph=graph, max_iter=5, verbose=1).fit(X)
    for warning in caught:
        if "algorithm=" in str(warning.message):
            print(f"    warned: {warning.message}")
    share = peak.extra / X.nbytes
    verdict = "met" if share <= 0.1 else "NOT MET"
    print(
        f"{X.shape[0]} x {X.shape[1]} float32, {name}: {peak.extra / 1e6:.1f} MB, "
        f"{share:.1%} of X (bar 10 %): {verdict}",
        flush=True,
    )


def around_centres(n: int, d: int) -> np.ndarray:
    """Samples around 100 centres in 20 hidden directions, with noise in all features."""
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((20, d), dtype=np.float32)
    centres = rng.standard_normal((100, 20), dtype=np.float32)
    X = np.empty((n, d), dtype=np.float32)
    for start in range(0, n, 1000):
        part = X[start : start + 1000]
        hidden = centres[rng.integers(100, size=len(part))]
        hidden += 0.5 * rng.standard_normal(hidden.shape, dtype=np.float32)
        np.matmul(hidden, directions, out=part)
        part += 0.3 * rng.standard_normal(part.shape, dtype=np.float32)
        np.abs(part, out=part)
    return X


def mapped(gigabytes: float, folder: Path | None) -> None:
    """A memory-mapped array many times larger than the memory it may take."""
    d = 2048
    n = int(gigabytes * 1e9 / (4 * d))
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        path = Path(scratch) / "X.npy"
        write(path, n, d)
        X = np.load(path, mmap_mode="r")
        graph = random_graph(n, np.dtype(np.float32))
        warm_up(None)
        start = time.perf_counter()
        with Peak() as peak:
            model(graph=graph, max_iter=3, verbose=1).fit(X)
        verdict = "met" if peak.most < 1e9 else "NOT MET"
        print(
            f"{n} x {d} float32, {X.nbytes / 1e9:.1f} GB mapped: anonymous memory at most "
            f"{peak.most / 1e6:.0f} MB, {peak.extra / 1e6:.0f} MB more than before the fit "
            f"(bar 1000 MB): {verdict}; {time.perf_counter() - start:.0f} s",
            flush=True,
        )
        part = X[:20_000]
        inside = model(graph=None, max_iter=3).fit(np.array(part))
        outside = model(graph=None, max_iter=3).fit(part)
        equal = np.array_equal(inside.embedding_, outside.embedding_)
        print(f"slice of 20000 rows, mapped and in memory: {'identical' if equal else 'DIFFER'}")


def write(path: Path, n: int, d: int) -> None:
    """Random rows around ten centres, a few thousand at a time."""
    rng = np.random.default_rng(0)
    centres = rng.random((10, d), dtype=np.float32)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, d))
    for start in range(0, n, 8192):
        rows = min(8192, n - start)
        block = rng.random((rows, d), dtype=np.float32)
        block += centres[rng.integers(10, size=rows)]
        out[start : start + rows] = block
    out.flush()
    del out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="extra, mapped (default: both)")
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--folder", type=Path, help="where the large file is made")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    parts = options.parts or ["extra", "mapped"]
    if "extra" in parts:
        extra()
    if "mapped" in parts:
        mapped(options.gigabytes, options.folder)


if __name__ == "__main__":
    main()
