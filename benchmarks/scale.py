"""Bars beyond memory and one machine; every line prints a figure and the bar it is held to.

    python benchmarks/scale.py [PART ...] [--rows 400000] [--fits 20] [--data-home DIR]

``runner``: LocalCluster of 2 workers x 1 thread against the thread runner with 2 threads, --rows x
784 float32 in 32 blocks, one iteration and the whole default fit; and the fixed cost of an
iteration, from the same fit of hardly any rows.
``killed``: fits with a worker killed at a random moment of each.
``resumed``: fits killed and resumed from their checkpoint.
``checkpoint``: what a checkpoint every 30 s costs, 1,000,000 x 100.
``stream``: MiniBatchFNMF after one pass against FNMF and against scikit-learn's MiniBatchNMF, on
USPS and on --rows / 2 x 200 + 600 of noise.
``drift``: informative features that change half-way, and memory over 2,000 batches.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.decomposition import MiniBatchNMF
from sklearn.metrics import roc_auc_score

from fnmf import FNMF, Checkpoint, MiniBatchFNMF
from fnmf.datasets import load
from fnmf.metrics import clustering_accuracy

PARTS = ("runner", "killed", "resumed", "checkpoint", "stream", "drift")
C = 10


def clustered(n: int, d: int, informative: int, seed: int = 0, first: int = 0) -> tuple:
    """Rows of ten clusters that show in some features; the others are noise."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).uniform(0, 1, (C, informative)).astype(np.float32)
    labels = rng.integers(0, C, n)
    X = rng.random((n, d), dtype=np.float32)
    X[:, first : first + informative] = centres[labels]
    X[:, first : first + informative] += 0.1 * rng.random((n, informative), dtype=np.float32)
    return X, labels


def seconds(task) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def cluster():
    from distributed import Client, LocalCluster

    options = {"dashboard_address": None, "worker_dashboard_address": None, "memory_limit": 0}
    return Client(LocalCluster(n_workers=2, threads_per_worker=1, **options))


def chunked(n: int, blocks: int, d: int = 784):
    """A Dask array whose blocks are made where they are needed."""
    import dask.array as da

    def rows(block_info=None):
        (start, stop), _ = block_info[None]["array-location"]
        return clustered(stop - start, d, min(50, d // 2), seed=start)[0]

    sizes = tuple(len(part) for part in np.array_split(np.arange(n), blocks))
    return da.map_blocks(rows, chunks=(sizes, (d,)), dtype=np.float32)


def model(iterations: int, **options) -> FNMF:
    return FNMF(C, random_state=0, tol=0.0, max_iter=iterations, **options)


def per_iteration(fit, few: int = 3, many: int = 13) -> tuple[float, float]:
    """Seconds of an iteration and of a fit with few, whose fixed part cancels out."""
    fit(1)
    short = seconds(lambda: fit(few))
    return (seconds(lambda: fit(many)) - short) / (many - few), short


def runner(args: argparse.Namespace) -> None:
    small, large = chunked(3200, 32, 8), chunked(args.rows, 32)
    X = large.compute()
    here, whole_here = per_iteration(lambda k: model(k, n_jobs=2).fit(X))
    with cluster() as client:
        kept = client.persist(large)
        there, whole_there = per_iteration(lambda k: model(k).fit(kept))
        fixed, _ = per_iteration(lambda k: model(k).fit(client.persist(small)))
    print(
        f"iteration: cluster {there:.3f} s, threads {here:.3f} s, "
        f"ratio {there / here:.2f} (<= 1.25)"
    )
    print(
        f"fit: cluster {whole_there:.2f} s, threads {whole_here:.2f} s, "
        f"ratio {whole_there / whole_here:.2f} (<= 1.5)"
    )
    print(f"fixed cost of an iteration, 32 blocks: {1000 * fixed:.0f} ms (<= 50)")
    print(
        f"peak memory of the client: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB"
    )


def killed(args: argparse.Namespace) -> None:
    X, equal = chunked(8000, 8, 40), 0
    expected = model(30).fit(X).embedding_.compute()
    length = seconds(lambda: model(30).fit(X))
    rng = np.random.default_rng(0)
    with cluster() as client:
        for _ in range(args.fits):
            pids = list(client.run(os.getpid).values())
            victim = int(rng.choice(pids))
            threading.Timer(rng.uniform(0, length), os.kill, (victim, signal.SIGKILL)).start()
            equal += np.array_equal(model(30).fit(X).embedding_.compute(), expected)
            client.wait_for_workers(2)
    print(f"fits with a worker killed: {equal} of {args.fits} equal results (all)")


RESUMED = """
import sys, warnings
sys.path.insert(0, sys.argv[3])
warnings.simplefilter("ignore")
import numpy as np
import scale
from fnmf import Checkpoint
X = scale.clustered(8000, 40, 10)[0]
print("ready", flush=True)
fitted = scale.model(300, n_jobs=1).fit(X, checkpoint=Checkpoint(sys.argv[1], every=0.1))
np.save(sys.argv[2], fitted.embedding_)
"""


def resumed(args: argparse.Namespace) -> None:
    X, equal = clustered(8000, 40, 10)[0], 0
    expected = model(300, n_jobs=1).fit(X).embedding_
    length = seconds(lambda: model(300, n_jobs=1).fit(X))
    rng = np.random.default_rng(0)
    for _ in range(args.fits):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "V.npy")
            places = [str(Path(folder, "checkpoint")), str(out), str(Path(__file__).parent)]
            for attempt in range(2):
                process = subprocess.Popen(
                    [sys.executable, "-c", RESUMED, *places], stdout=subprocess.PIPE
                )
                process.stdout.readline()
                if attempt == 0:
                    time.sleep(rng.uniform(0, length))
                    process.kill()
                process.wait()
                process.stdout.close()
            equal += np.array_equal(np.load(out), expected)
    print(f"fits killed and resumed: {equal} of {args.fits} equal results (all)")


def checkpoint(args: argparse.Namespace) -> None:
    X = clustered(1_000_000, 100, 30)[0]
    model(1).fit(X)
    plain = seconds(lambda: model(100).fit(X))
    with tempfile.TemporaryDirectory() as folder:
        kept = seconds(lambda: model(100).fit(X, checkpoint=Checkpoint(folder, every=30)))
    print(
        f"checkpoint every 30 s, 1,000,000 x 100: {100 * (kept / plain - 1):.1f} % (<= 2 %) "
        f"of {plain:.0f} s"
    )


def one_pass(found, X: np.ndarray, order: np.ndarray):
    for start in range(0, len(X), 1024):
        found.partial_fit(X[order[start : start + 1024]])
    return found


def stream(args: argparse.Namespace) -> None:
    usps = load("usps", data_home=args.data_home)
    images = np.asarray(usps.data, np.float32)
    sets = {"USPS": (images - images.min(), usps.target, None)}
    X, labels = clustered(args.rows // 2, 800, 200)
    sets["200 + 600 of noise"] = X, labels, np.arange(800) < 200
    for name, (rows, y, informative) in sets.items():
        order = np.random.default_rng(0).permutation(len(rows))
        mini = MiniBatchFNMF(C, random_state=0)
        ours = seconds(lambda rows=rows, order=order, mini=mini: one_pass(mini, rows, order))
        rival = MiniBatchNMF(C, random_state=0, batch_size=1024)
        theirs = seconds(lambda rows=rows, order=order, rival=rival: one_pass(rival, rows, order))
        whole = clustering_accuracy(y, FNMF(C, random_state=0).fit(rows).labels_)
        found = clustering_accuracy(y, mini.predict(rows))
        print(f"{name}: ACC {found:.3f}, FNMF {whole:.3f}, ratio {found / whole:.3f} (>= 0.97)")
        if informative is not None:
            area = roc_auc_score(informative, mini.feature_importances_)
            print(f"{name}: AUC of importances {area:.3f} (>= 0.95)")
        print(
            f"{name}: {ours:.1f} s, MiniBatchNMF {theirs:.1f} s, ratio {ours / theirs:.2f} (<= 2)"
        )


def drift(args: argparse.Namespace) -> None:
    found = MiniBatchFNMF(C, random_state=0, batch_size=256, forget_factor=0.95, sample_size=1500)
    memory = 256 / (1 - 0.95)
    followed, sizes = None, []
    for number in range(2000):
        first = 0 if number < 1000 else 30
        found.partial_fit(clustered(256, 60, 20, seed=number, first=first)[0])
        informative = (np.arange(60) >= first) & (np.arange(60) < first + 20)
        area = roc_auc_score(informative, found.feature_importances_)
        if number >= 1000 and followed is None and area >= 0.95:
            followed = (number - 999) * 256 / memory
        if number % 100 == 99:
            sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
    print(f"relevance follows a change after {followed:.2f} of the memory of {memory:.0f} rows")
    print(f"peak memory after 500, 1000, 1500, 2000 batches: {sizes[4::5]} MB (flat)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--fits", type=int, default=20)
    parser.add_argument("--data-home", default=os.environ.get("FNMF_DATA_HOME"))
    args = parser.parse_args()
    unknown = set(args.parts) - set(PARTS)
    if unknown:
        parser.error(f"{', '.join(unknown)}: not one of {', '.join(PARTS)}")
    warnings.simplefilter("ignore")
    for part in args.parts or PARTS:
        globals()[part](args)


if __name__ == "__main__":
    main()
