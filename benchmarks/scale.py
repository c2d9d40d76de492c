"""Bars beyond memory and one machine; every line prints a figure and the bar it is held to.

    python benchmarks/scale.py [PART ...] [--rows 400000] [--fits 20] [--seeds 3] [--data-home DIR]

``runner``: LocalCluster of 2 workers x 1 thread against the thread runner with 2 threads, --rows x
784 float32 in 32 blocks, one iteration and the whole default fit; and the fixed cost of an
iteration, from the same fit of hardly any rows.
``cost``: the constants of the cost model, and its prediction.
``killed``: fits with a worker killed at a random moment of each.
``resumed``: fits killed and resumed from their checkpoint.
``checkpoint``: what a checkpoint every 30 s costs, 1,000,000 x 100.
``memory``: workers beyond their blocks, the client with ever more rows; tasks of an iteration.
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

from _streams import C, change, clustered, flat, passes, seconds
from fnmf import FNMF, Checkpoint

PARTS = (
    "runner",
    "cost",
    "killed",
    "resumed",
    "checkpoint",
    "memory",
    "stream",
    "drift",
    "batches",
)


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


def cost(args: argparse.Namespace) -> None:
    """The three constants of the cost model of docs/scale.md, and what it says of 10⁹ rows."""
    X = clustered(40_000, 784, 50)[0]
    fitted = model(1, n_jobs=1).fit(X)
    m = len(fitted.feature_weights_)
    speed = X.size * (3 * C + 5 * m) / per_iteration(lambda k: model(k, n_jobs=1).fit(X))[0]
    with cluster() as client:
        few, many = client.persist(chunked(3200, 32, 8)), client.persist(chunked(args.rows, 32, 8))
        m = len(model(1).fit(few).feature_weights_)
        task = per_iteration(lambda k: model(k).fit(few), many=23)[0] / (2 * 32)
        m = len(model(1).fit(many).feature_weights_)
        swept = args.rows * 8 * (3 * C + 5 * m) / (2 * speed)
        sent = per_iteration(lambda k: model(k).fit(many))[0] - 2 * 32 * task - swept
        band = 4 * args.rows * (4 * C + 3 * m) / sent
    print(f"s = {speed:.2g} multiply-adds/s, t = {1000 * task:.2f} ms, b = {band / 1e9:.2f} GB/s")
    n, d, m, workers, blocks = 1e9, 1000, 3, 100, 20_000
    parts = (
        n * d * (3 * C + 5 * m) / (workers * speed),
        2 * blocks * task,
        4 * n * (4 * C + 3 * m) / band,
    )
    print(
        f"10⁹ x 1,000 on 100 workers, predicted: {sum(parts):.0f} s an iteration: sweeps "
        f"{parts[0]:.0f}, {blocks:,} blocks {parts[1]:.0f}, what the client sends {parts[2]:.0f}"
    )


def killed(args: argparse.Namespace) -> None:
    X, equal = chunked(8000, 8, 40), 0
    expected = model(30).fit(X).embedding_.compute()
    client = cluster()
    length = seconds(lambda: model(30).fit(X))
    rng = np.random.default_rng(0)
    for number in range(args.fits):
        pids = list(client.run(os.getpid).values())
        victim = int(rng.choice(pids))
        timer = threading.Timer(rng.uniform(0, length), os.kill, (victim, signal.SIGKILL))
        timer.start()
        equal += np.array_equal(model(30).fit(X).embedding_.compute(), expected)
        print(f"\r{equal} of {number + 1} equal", end="", flush=True)
        # The timer may be later than the end of the fit, and Dask takes a moment to notice.
        timer.join()
        time.sleep(2)
        try:
            client.wait_for_workers(2, timeout=30)
        except TimeoutError:
            # On a busy machine Dask may give up to start a worker again.
            ended(client)
            client = cluster()
    ended(client)
    print(f"\rfits with a worker killed: {equal} of {args.fits} equal results (all)")


def ended(client) -> None:
    client.close()
    client.cluster.close()


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


def reset_peak() -> None:
    """Begin to measure the peak of this process anew."""
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Largest resident memory since then, in bytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


def memory(args: argparse.Namespace) -> None:
    from distributed import get_task_stream, wait

    with cluster() as client:
        model(3).fit(chunked(3200, 32, 8))
        kept = client.persist(chunked(args.rows, 32))
        wait(kept)
        # A worker with its libraries and its blocks, before it has worked on them.
        idle = client.run(_resident)
        client.run(reset_peak)
        counts = []
        for iterations in (3, 13):
            with get_task_stream(client=client) as tasks:
                model(iterations).fit(kept)
            counts.append(len(tasks.data))
        blocks = kept.nbytes / len(idle)
        beyond = max(most - idle[where] for where, most in client.run(peak).items())
        print(
            f"worker: peak {beyond / 2**20:.0f} MB beyond its blocks of {blocks / 2**20:.0f} MB, "
            f"{100 * beyond / blocks:.0f} % (<= 15 %)"
        )
        print(f"tasks of an iteration: {(counts[1] - counts[0]) / 10 / 32:.2f} a block (< 3)")
        del kept
        sizes = {}
        for rows in (500_000, 1_000_000, 2_000_000):
            reset_peak()
            before = peak()
            model(3).fit(chunked(rows, 32, 8))
            sizes[rows] = f"{(peak() - before) / 2**20:.0f} MB"
        print(f"client: peak beyond what it had, by rows: {sizes} (independent of n)", flush=True)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


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
