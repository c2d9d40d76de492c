"""Neighbour search against scikit-learn's brute force: time ratios and recall in one run.

Data: 100 cluster centres uniform in [0, 1]^d, samples = |centre + 0.15 N(0, 1)|, seed 0.

    python benchmarks/graph_search.py [--samples 70000] [--features 64] [--jobs 2] [--repeat 1]
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from fnmf.graph import estimate_recall, nearest_neighbors


def clustered(n_samples: int, n_features: int, dtype: Any) -> np.ndarray:
    rng = np.random.default_rng(0)
    centres = rng.random((100, n_features))
    X = centres[rng.integers(100, size=n_samples)]
    X += 0.15 * rng.standard_normal(X.shape)
    return np.abs(X, out=X).astype(dtype)


def best_time(run: Callable[[], Any], repeat: int) -> tuple[float, float, Any]:
    """Wall time, processor time (all threads; it says more on a busy machine) and the result."""
    walls, works, result = [], [], None
    for _ in range(repeat):
        wall, work = time.perf_counter(), time.process_time()
        result = run()
        walls.append(time.perf_counter() - wall)
        works.append(time.process_time() - work)
    return min(walls), min(works), result


def compare(
    samples: int = 70_000,
    features: int = 64,
    neighbors: int = 5,
    jobs: int = 2,
    repeat: int = 1,
    dtype: str = "float32",
) -> tuple[float, float]:
    """Print both searches beside brute force; return time ratio and recall of the approximate."""
    X = clustered(samples, features, dtype)
    for algorithm in ("exact", "faiss"):  # compile and load outside the clock
        nearest_neighbors(X[:2000], neighbors, algorithm=algorithm, n_jobs=jobs)

    def brute() -> np.ndarray:
        search = NearestNeighbors(n_neighbors=neighbors, algorithm="brute", n_jobs=jobs).fit(X)
        return search.kneighbors(return_distance=False)

    with threadpool_limits(limits=jobs):
        base, base_work, _ = best_time(brute, repeat)
    print(f"{samples} x {features} {dtype}, K = {neighbors}, {jobs} threads")
    print(f"scikit-learn brute force    {base:8.2f} s   processor {base_work:8.2f} s")
    for algorithm in ("exact", "faiss"):
        seconds, work, (indices, _) = best_time(
            lambda name=algorithm: nearest_neighbors(X, neighbors, algorithm=name, n_jobs=jobs),
            repeat,
        )
        recall = estimate_recall(X, indices, n_probes=1000, n_jobs=jobs)
        print(
            f"fnmf {algorithm:6}                 {seconds:8.2f} s   processor {work:8.2f} s   "
            f"ratio {seconds / base:.3f} (processor {work / base_work:.3f})   recall {recall:.4f}"
        )
    return seconds / base, recall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=70_000)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--neighbors", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    compare(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
