"""How far an iteration is from what the machine allows: reading X, and its peak multiply-adds.

python benchmarks/floor.py [--figure docs/images/floor.png]
"""

import argparse
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from _timing import THREADS, best, fnmf_iteration, seconds, sklearn_iteration
from fnmf.data import view_of
from fnmf.execution import threads


def reading(X: np.ndarray) -> float:
    """Seconds to read X once with all threads."""
    view = view_of(X)
    with threads(THREADS) as runner:

        def run() -> float:
            return seconds(lambda: list(runner.each(lambda a, b: X[a:b].max(), view.blocks())))

        return best(run, 7)


def peak(dtype: type) -> float:
    """Multiply-adds a second of a large matrix product with all threads."""
    size = 3000
    A = np.random.default_rng(0).random((size, size)).astype(dtype)
    with threadpool_limits(THREADS):
        return size**3 / best(lambda: seconds(lambda: A @ A), 4)


def measure() -> list[tuple[str, float, float, float, float]]:
    """Rows of name, seconds of ours, of scikit-learn, of reading, of the multiply-adds at peak."""
    m, rows = 3, []
    for dtype in (np.float32, np.float64):
        X = np.random.default_rng(0).random((20_000, 784), dtype=dtype)
        once, speed = reading(X), peak(dtype)
        for c, assignment in ((10, "sample"), (10, "shared"), (40, "sample")):
            shared = assignment == "shared"
            work = X.size * (2 * c if shared else 3 * c + 5 * m)
            ours = fnmf_iteration(X, c, shared=shared)
            with threadpool_limits(THREADS):
                theirs = sklearn_iteration(X, c)
            sweeps = 1 if shared else 2
            name = f"{np.dtype(dtype)}, c = {c}, {assignment}"
            rows.append((name, ours, theirs, sweeps * once, work / speed))
            print(
                f"{name}: {1e3 * ours:.1f} ms; scikit-learn {1e3 * theirs:.1f} ms; reading X "
                f"{sweeps} x {1e3 * once:.1f} ms; sums at peak {1e3 * work / speed:.1f} ms; "
                f"{ours / max(sweeps * once, work / speed):.1f} times the larger floor",
                flush=True,
            )
    return rows


def draw(rows: list[tuple[str, float, float, float, float]], path: Path) -> None:
    import matplotlib.pyplot as plt

    names = [row[0] for row in rows]
    places = np.arange(len(names))
    series = ("FNMF", "scikit-learn NMF (mu)", "reading X", "multiply-adds at peak")
    colours = ("#1f5a8a", "#d9822b", "#bbbbbb", "#777777")
    figure, axis = plt.subplots(figsize=(9, 4.2), layout="constrained")
    for number, (name, colour) in enumerate(zip(series, colours, strict=True)):
        values = [1e3 * row[1 + number] for row in rows]
        axis.barh(places + 0.2 * number - 0.3, values, 0.19, label=name, color=colour)
    axis.set_yticks(places, names)
    axis.invert_yaxis()
    axis.set(xlabel="milliseconds of one iteration, 20,000 x 784, two threads")
    axis.legend(frameon=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    rows = measure()
    if options.figure:
        draw(rows, options.figure)


if __name__ == "__main__":
    main()
