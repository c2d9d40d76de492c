"""Bars beyond memory and one machine; every line prints a figure and the bar it is held to.

    python benchmarks/scale.py [PART ...] [--rows 400000] [--client-rows 5000000] [--blocks 32]
                               [--fits 20] [--seeds 3] [--data-home DIR]

``runner``: LocalCluster of 2 workers x 1 thread against the thread runner with 2 threads, --rows x
784 float32 in --blocks blocks, one iteration and the whole default fit; and the fixed cost of an
iteration, from the same fit of hardly any rows.
``cost``: the constants of the cost model, measured; what it says of iterations that are measured
too, and its prediction.
``replay``: what it costs to store rows every k tasks, --rows / 4 x 784, and how many tasks are
repeated for a lost worker.
``killed``: fits with a worker killed at a random moment of each.
``resumed``: fits killed and resumed from their checkpoint.
``checkpoint``: what a checkpoint every 30 s costs, 1,000,000 x 100.
``memory``: workers beyond their blocks; tasks of an iteration.
``client``: memory of the client, --client-rows / 4 and --client-rows x 8; what the scheduler keeps.
``stream``: MiniBatchFNMF after one pass against FNMF and against scikit-learn's MiniBatchNMF, on
USPS (the means over --seeds) and on --rows / 2 x 200 + 600 of noise.
``drift``: informative features that change half-way; --out and --figure keep the curves.
``batches``: memory over 2,000 batches.
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

from _cluster import chunked, cluster, ended, evenly, model, of_client, of_workers
from _cost import constants_and_prediction, of_the_store, per_iteration
from _streams import change, clustered, flat, passes, seconds
from fnmf import Checkpoint

PARTS = (
    "runner",
    "cost",
    "replay",
    "killed",
    "resumed",
    "checkpoint",
    "memory",
    "client",
    "stream",
    "drift",
    "batches",
)


def runner(args: argparse.Namespace) -> None:
    small, large = chunked(3200, 32, 8), chunked(args.rows, args.blocks)
    X = large.compute()
    here, whole_here = per_iteration(lambda k: model(k, n_jobs=2).fit(X))
    with cluster() as client:
        kept = evenly(client, large)
        there, whole_there = per_iteration(lambda k: model(k).fit(kept))
        few = evenly(client, small)
        fixed, _ = per_iteration(lambda k: model(k).fit(few), many=63)
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


def cost(args: argparse.Namespace) -> None:
    constants_and_prediction(args.rows)


def replay(args: argparse.Namespace) -> None:
    of_the_store(args.rows // 4, args.blocks)


def killed(args: argparse.Namespace) -> None:
    X, equal = chunked(8000, 8, 40), 0
    expected = model(30).fit(X).embedding_.compute()
    client = cluster()
    length = seconds(lambda: model(30).fit(X))
    rng = np.random.default_rng(0)
    for number in range(args.fits):
        # Of whom Dask has not yet noticed that he is dead nothing is heard.
        pids = list(client.run(os.getpid, on_error="ignore").values())
        victim = int(rng.choice(pids))
        timer = threading.Timer(rng.uniform(0, length), os.kill, (victim, signal.SIGKILL))
        timer.start()
        equal += np.array_equal(model(30).fit(X).embedding_.compute(), expected)
        print(f"\r{equal} of {number + 1} equal", end="", flush=True)
        # The timer may be later than the end of the fit, and Dask takes a moment to notice.
        timer.join()
        time.sleep(2)
        until = time.monotonic() + 30
        while len(client.nthreads()) < 2 and time.monotonic() < until:
            time.sleep(0.1)
        if len(client.nthreads()) < 2:
            # On a busy machine Dask may give up to start a worker again.
            ended(client)
            client = cluster()
    ended(client)
    print(f"\rfits with a worker killed: {equal} of {args.fits} equal results (all)")


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
    plain, kept = [], []
    for _ in range(3):
        # By turns, the best of three: the difference is smaller than what a machine scatters.
        plain.append(seconds(lambda: model(100).fit(X)))
        with tempfile.TemporaryDirectory() as folder:
            kept.append(
                seconds(lambda f=folder: model(100).fit(X, checkpoint=Checkpoint(f, every=30)))
            )
    plain, kept = min(plain), min(kept)
    print(
        f"checkpoint every 30 s, 1,000,000 x 100: {100 * (kept / plain - 1):.1f} % (<= 2 %) "
        f"of {plain:.0f} s"
    )


def memory(args: argparse.Namespace) -> None:
    of_workers(args.rows, args.blocks)


def client(args: argparse.Namespace) -> None:
    of_client(args.client_rows)


def stream(args: argparse.Namespace) -> None:
    passes(args.rows // 2, args.seeds, args.data_home)


def drift(args: argparse.Namespace) -> None:
    change(args.out, args.figure)


def batches(args: argparse.Namespace) -> None:
    flat()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--client-rows", type=int, default=5_000_000)
    parser.add_argument("--blocks", type=int, default=32)
    parser.add_argument("--fits", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", metavar="CSV", help="where ``drift`` keeps its curves")
    parser.add_argument("--figure", metavar="IMAGE", help="where ``drift`` draws them")
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
