"""Clusters of processes, data that are made where they are needed, and what memory is used."""

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from _streams import C, clustered
from fnmf import FNMF


def cluster():
    from distributed import Client, LocalCluster

    options = {"dashboard_address": None, "worker_dashboard_address": None, "memory_limit": 0}
    return Client(LocalCluster(n_workers=2, threads_per_worker=1, **options))


def ended(client) -> None:
    """Close both; a cluster that has lost a worker may stumble over that."""
    client.close()
    with suppress(KeyError):
        client.cluster.close()


def chunked(n: int, blocks: int, d: int = 784):
    """A Dask array whose blocks are made where they are needed."""
    import dask.array as da

    def rows(block_info=None):
        (start, stop), _ = block_info[None]["array-location"]
        return clustered(stop - start, d, min(50, d // 2), seed=start)[0]

    sizes = tuple(n // blocks + (block < n % blocks) for block in range(blocks))
    return da.map_blocks(rows, chunks=(sizes, (d,)), dtype=np.float32)


def evenly(client, X):
    """The same, computed and kept, every worker with its share, which Dask would not see to."""
    import dask.array as da
    from distributed import wait

    workers = sorted(client.nthreads())
    parts = X.to_delayed().ravel()
    homes = [workers[number * len(workers) // len(parts)] for number in range(len(parts))]
    kept = [client.compute(part, workers=[home]) for part, home in zip(parts, homes, strict=True)]
    wait(kept)
    sizes = zip(kept, X.chunks[0], strict=True)
    return da.concatenate(
        [da.from_delayed(one, (size, X.shape[1]), dtype=X.dtype) for one, size in sizes]
    )


def model(iterations: int, **options) -> FNMF:
    return FNMF(C, random_state=0, tol=0.0, max_iter=iterations, **options)


def reset_peak() -> None:
    """Begin to measure the peak of this process anew."""
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Largest resident memory since then, in bytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


def of_workers(n: int, blocks: int) -> None:
    """Peak memory of a worker beyond its blocks, and tasks of an iteration."""
    from distributed import get_task_stream, wait

    with cluster() as client:
        model(3).fit(chunked(3200, 32, 8))
        kept = client.persist(chunked(n, blocks))
        wait(kept)
        # A fit on the same blocks has loaded and compiled all there is.
        model(1).fit(kept)
        client.run(gc.collect)
        idle = client.run(_resident)
        client.run(reset_peak)
        counts = []
        for iterations in (3, 13):
            with get_task_stream(client=client) as tasks:
                model(iterations).fit(kept)
            counts.append(len(tasks.data))
        held = kept.nbytes / len(idle)
        beyond = max(most - idle[where] for where, most in client.run(peak).items())
        print(
            f"worker: peak {beyond / 2**20:.0f} MB beyond its blocks of {held / 2**20:.0f} MB, "
            f"{100 * beyond / held:.0f} % (<= 15 %)"
        )
        each = (counts[1] - counts[0]) / 10 / blocks
        print(f"tasks of an iteration: {each:.2f} a block, those that bring sums too (< 3)")


def of_client(most: int) -> None:
    """In processes of their own, each with a scheduler elsewhere: what one holds stays with it."""
    sizes = {}
    for rows in (most // 4, most):
        found = subprocess.run(
            [sys.executable, "-c", CLIENT, str(rows), str(Path(__file__).parent)],
            capture_output=True,
            text=True,
            check=True,
        )
        sizes[rows], kept, tasks = map(float, found.stdout.split()[-3:])
        print(
            f"client: peak {sizes[rows]:.0f} MB beyond what it had, {rows:,} rows; the scheduler "
            f"keeps {kept:.0f} MB of {tasks:.0f} tasks",
            flush=True,
        )
    few, many = sizes.values()
    print(f"client: {many - few:+.0f} MB from four times the rows (independent of n)")


CLIENT = """
import sys, warnings
sys.path.insert(0, sys.argv[2])
warnings.simplefilter("ignore")
if __name__ == "__main__":
    import _cluster
    from distributed import Client
    with _cluster.elsewhere() as address, Client(address) as client:
        _cluster.model(3).fit(_cluster.chunked(3200, 32, 8))
        before = client.run_on_scheduler(_cluster.scheduler_memory)
        _cluster.reset_peak()
        had = _cluster.peak()
        fitted = _cluster.model(20).fit(_cluster.chunked(int(sys.argv[1]), 32, 8))
        most = _cluster.peak() - had
        after = client.run_on_scheduler(_cluster.scheduler_memory)
        print(most / 2**20, (after[0] - before[0]) / 2**20, after[1] - before[1])
"""


@contextmanager
def elsewhere():
    """The address of a scheduler with two workers, all processes of their own."""
    folder = tempfile.mkdtemp()
    place = Path(folder, "scheduler.json")
    dask = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    path = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*sys.path[1:], str(Path(__file__).parent)]),
    }
    started = []
    try:
        told = ["--scheduler-file", str(place)]
        few = ["--port", "0", "--no-dashboard"]
        started.append(subprocess.Popen([*dask, "scheduler", *told, *few], env=path, **quiet))
        for _ in range(2):
            work = ["worker", *told, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
            started.append(subprocess.Popen([*dask, *work], env=path, cwd=folder, **quiet))
        while not place.exists():
            time.sleep(0.1)
        yield json.loads(place.read_text())["address"]
    finally:
        for process in started:
            process.terminate()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def scheduler_memory(dask_scheduler=None) -> tuple[int, int]:
    """Bytes that a scheduler has, and tasks that it knows."""
    gc.collect()
    return _resident(), len(dask_scheduler.tasks)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
