"""One checkout against another, in one run: seconds of an iteration, CPU or memory of a fit.

    python benchmarks/against.py OTHER [dense sparse memory fit] [--rounds 5] [--most 1.03]
        [--own ROOT]

OTHER is the root of another checkout of this repository, say of an older commit. Both sides run
in processes of their own and take turns, so that a disturbance meets both; the best of all rounds
counts. By default dense and sparse iterations are timed. Ends with status 1 if a ratio, ours over
theirs, is above ``--most``.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
DENSE = [
    (n, d, c, dtype, shared, solver)
    for n, d, c in ((20_000, 784, 10), (20_000, 784, 40), (2_000, 256, 10))
    for dtype in ("float32", "float64")
    for shared in (False, True)
    for solver in ("mu", "hals")
]
SPARSE = [
    (50_000, 10_000, 10, dtype, shared, solver)
    for dtype in ("float32", "float64")
    for shared in (False, True)
    for solver in ("mu", "hals")
]

# What a side does: it reads a case from each line and answers with a number.
SIDE = """
import json, sys, warnings
root = sys.argv[1]
sys.path[:0] = [root + "/src", root + "/benchmarks"]
warnings.simplefilter("ignore")
import numpy as np, scipy.sparse as sp
from threadpoolctl import threadpool_limits
from _timing import THREADS, fnmf_iteration
data = {}
def planted(X, c):
    X = X.copy()
    X[:, : 4 * c] += np.eye(c).repeat(4, axis=1)[np.arange(len(X)) % c]
    return X
for line in sys.stdin:
    kind, (n, d, c, dtype, shared, solver) = json.loads(line)
    key = kind, n, d, dtype
    if key not in data:
        data.clear()
        rng = np.random.default_rng(0)
        if kind == "sparse":
            data[key] = sp.random_array((n, d), density=0.005, rng=rng, dtype=dtype, format="csr")
        else:
            data[key] = rng.random((n, d), dtype=dtype)
    with threadpool_limits(THREADS):
        if kind == "memory":
            import memory
            graph = memory.random_graph(n, np.dtype(dtype))
            fit = dict(graph=graph, solver=solver, max_iter=5)
            memory.model(**fit).fit(data[key])
            with memory.Peak() as peak:
                memory.model(**fit).fit(data[key])
            print(json.dumps(peak.extra), flush=True)
            continue
        if kind == "fit":
            import time
            from fnmf import FNMF
            begin = time.process_time()
            FNMF(c, random_state=0, solver=solver, n_jobs=1).fit(planted(data[key], c))
            print(json.dumps(time.process_time() - begin), flush=True)
            continue
        iterations = 10 if kind == "sparse" else 20 if n > 5000 else 200
        spent = fnmf_iteration(
            data[key], c, shared=shared, solver=solver, iterations=iterations, repeats=1
        )
    print(json.dumps(spent), flush=True)
"""


class Side:
    """A checkout in a process of its own."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-c", SIDE, str(root)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, kind: str, case: tuple) -> float:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps((kind, case)) + "\n")
        self.process.stdin.flush()
        return float(json.loads(self.process.stdout.readline()))


def compare(kind: str, cases: list[tuple], sides: list[Side], rounds: int) -> float:
    """Prints every ratio; returns the largest."""
    worst = 0.0
    for case in cases:
        found = [[side.ask(kind, case) for side in sides] for _ in range(rounds)]
        ours, theirs = (min(times) for times in zip(*found, strict=True))
        n, d, c, dtype, shared, solver = case
        name = f"{kind} {n} x {d} {dtype} c={c} {'shared' if shared else 'sample'} {solver}"
        if kind == "memory":
            detail = f"{ours / 1e6:.1f} MB against {theirs / 1e6:.1f} MB"
        else:
            detail = f"{1e3 * ours:.2f} ms against {1e3 * theirs:.2f} ms"
        print(f"{name:<60} {ours / theirs:6.3f}  {detail}", flush=True)
        worst = max(worst, ours / theirs)
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="root of the other checkout")
    parser.add_argument("parts", nargs="*", help="any of dense, sparse, memory, fit")
    parser.add_argument("--own", type=Path, default=HERE, help="root of this side")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=float, default=1.03)
    options = parser.parse_args()
    cases = {
        "dense": DENSE,
        "sparse": SPARSE,
        "memory": [(100_000, 784, 10, "float32", False, solver) for solver in ("mu", "hals")],
        "fit": [(n, d, 10, "float64", False, "mu") for n, d in ((2_000, 256), (5_000, 784))],
    }
    sides = [Side(options.own.resolve()), Side(options.other.resolve())]
    parts = options.parts or ["dense", "sparse"]
    worst = max(compare(part, cases[part], sides, options.rounds) for part in parts)
    print(f"largest ratio {worst:.3f}, at most {options.most} asked for")
    sys.exit(worst > options.most)


if __name__ == "__main__":
    main()
