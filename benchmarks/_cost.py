"""What an iteration on a cluster costs: constants measured one by one, and a model made of them."""

import os
import signal
from collections import Counter
from pathlib import Path

import dask
import numpy as np

from _cluster import chunked, cluster, ended, model
from _streams import C, clustered, seconds

# Anchors that samples are held to; each block sends what they need of its codes.
ANCHORS = 2000
# No anchors, and a start that costs nothing.
PLAIN = {"weighting": "paper", "graph": None, "init": "random", "n_weightings": 3}


def per_iteration(fit, few: int = 3, many: int = 13) -> tuple[float, float]:
    """Seconds of an iteration and of a fit with few, whose fixed part cancels out.

    The best of three each: a difference of two scatters twice as much.
    """
    fit(1)
    short, long = (min(seconds(lambda k=k: fit(k)) for _ in range(3)) for k in (few, many))
    return (long - short) / (many - few), short


def sums_bytes(d: int, m: int, anchors: int = ANCHORS) -> int:
    """What a block sends to the client in an iteration."""
    return 4 * d * (C + 2 * m) + 4 * anchors * C


class Constants:
    """Multiply-adds a second, a task, a round trip, the bandwidth into the client, its own steps.

    Tasks are empty ones; arrays of known size are fetched, and their time grows with the size by
    the inverse of the bandwidth. What a fit of hardly any rows takes is what a feature costs the
    client.
    """

    def __init__(self, client, rows: int) -> None:
        X = clustered(rows, 784, 50)[0]
        m = len(model(1, n_jobs=1).fit(X).feature_weights_)
        each = per_iteration(lambda k: model(k, n_jobs=1).fit(X))[0]
        self.speed = X.size * (3 * C + 5 * m) / each
        many = 2000
        _empty(client, many)
        self.task = min(seconds(lambda: _empty(client, many)) for _ in range(3)) / many
        trips = [seconds(lambda: client.submit(_nothing, 0, pure=False).result()) for _ in "x" * 50]
        self.round = float(np.median(trips))
        self.band = 1 / _slope(lambda size: _fetch(client, size))
        self.between = 1 / _slope(lambda size: _move(client, size))
        wide = clustered(64, 5000, 50)[0]
        self.feature = per_iteration(lambda k: model(k, n_jobs=1, **PLAIN).fit(wide))[0] / 5000

    def iteration(self, n: float, d: int, m: int, blocks: int, workers: int, anchors=ANCHORS):
        """Seconds of sweeps, of tasks, of sums that come to the client and of its own steps."""
        # One sweep where weights are given; without anchors they are learned here.
        passes = 1 if anchors else 2
        return (
            n * d * (3 * C + 5 * m) / (workers * self.speed),
            # One task that works and one that brings its sums, for each worker.
            passes * 2 * (self.round + workers * self.task),
            blocks * sums_bytes(d, m, anchors) / self.band,
            d * self.feature,
        )


def _nothing(_):
    return None


def _empty(client, many: int) -> None:
    client.gather(client.map(_nothing, range(many), pure=False))


def _slope(task) -> float:
    """Seconds for a byte, by arrays of several sizes, each the best of five."""
    sizes = [2**20, 2**22, 2**24, 2**26]
    times = [min(task(size) for _ in range(5)) for size in sizes]
    return float(np.polyfit(sizes, times, 1)[0])


def _bytes(size: int):
    return np.ones(size, np.uint8)


def _held(client, size: int):
    """An array on the first worker."""
    from distributed import wait

    first = next(iter(client.nthreads()))
    future = client.submit(_bytes, size, pure=False, workers=[first])
    wait(future)
    return future


def _fetch(client, size: int) -> float:
    return seconds(_held(client, size).result)


def _move(client, size: int) -> float:
    future, second = _held(client, size), list(client.nthreads())[-1]
    return seconds(lambda: client.submit(len, future, pure=False, workers=[second]).result())


def constants_and_prediction(rows: int) -> None:
    with cluster() as client:
        found = Constants(client, min(40_000, rows))
        print(
            f"s = {found.speed:.2g} multiply-adds/s, t = {1000 * found.task:.2f} ms for a task, "
            f"r = {1000 * found.round:.1f} ms for a round trip, b = {found.band / 1e9:.2f} GB/s "
            f"into the client, {found.between / 1e9:.2f} GB/s between workers, u = "
            f"{1e6 * found.feature:.1f} µs for a feature"
        )
        for n, blocks, d, options in (
            (3200, 32, 8, {}),
            (min(40_000, rows), 8, 784, {}),
            (32 * 16, 32, 5000, PLAIN),
        ):
            X = client.persist(chunked(n, blocks, d))
            m = len(model(1, **options).fit(X).feature_weights_)
            took = per_iteration(lambda k, X=X, o=options: model(k, **o).fit(X))[0]
            anchors = 0 if options else min(ANCHORS, n // 2)
            said = sum(found.iteration(n, d, m, blocks, 2, anchors))
            print(
                f"iteration of {n:,} x {d:,}, {blocks} blocks: {1000 * took:.0f} ms, the model says"
                f" {1000 * said:.0f} ms"
            )
    workers, blocks = 100, 20_000
    parts = found.iteration(1e9, 1000, 3, blocks, workers)
    print(
        f"10⁹ x 1,000 on 100 workers, predicted: {sum(parts):.0f} s an iteration: sweeps "
        f"{parts[0]:.0f}, tasks {parts[1]:.1f}, sums of {blocks:,} blocks {parts[2]:.1f}, "
        f"own steps {parts[3]:.1f}"
    )


class Killing:
    """A callback that does something once, after some iterations."""

    def __init__(self, number: int, action) -> None:
        self.number, self.action = number, action

    def setup(self, estimator, context) -> None:
        """Nothing."""

    def teardown(self, estimator, context) -> None:
        """Nothing."""

    def on_fit_task_begin(self, estimator, context, *, X=None) -> None:
        """Nothing."""

    def on_fit_task_end(self, estimator, context, *, X=None, metadata=None, fitted_estimator=None):
        if context.task_name == "iteration" and metadata["iteration"] == self.number:
            self.action()
        return False


def of_the_store(rows: int, blocks: int) -> None:
    """What it costs to store rows every so many tasks, and what a lost worker costs then."""
    from distributed import get_task_stream

    times = {}
    for often in (0, 5, 10, 20, 40):
        # A new cluster each time: what one has moved or lost is no matter of the next.
        client = cluster()
        with dask.config.set({"fnmf.store.every": often}):
            kept = client.persist(chunked(rows, blocks))
            times[often], _ = per_iteration(lambda k, X=kept: model(k).fit(X), many=43)
            small, again = chunked(8000, 8, 40), Counter()

            def kill(client=client) -> None:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

            with get_task_stream(client=client) as stream:
                model(60).set_callbacks(Killing(50, kill)).fit(small)
            for task in stream.data:
                again[str(task["key"])] += str(task["key"]).startswith("on_blocks")
        ended(client)
        print(
            f"stored every {often} tasks: an iteration takes {times[often] / times[0]:.3f} of what "
            f"it does without; {sum(runs - 1 for runs in again.values() if runs)} tasks are "
            "repeated for a worker killed after 50 iterations",
            flush=True,
        )
    with cluster() as client:
        written = _written(client, rows, blocks)
    print(f"rows of {rows:,} samples in files at most: {written / 2**20:.1f} MB")


def _written(client, rows: int, blocks: int) -> int:
    """The largest size of all files of a fit at a time."""
    import tempfile

    most = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        dask.config.set({"fnmf.store.folder": folder}),
    ):

        def look() -> None:
            nonlocal most
            files = Path(folder).glob(".fnmf-rows-*/[0-9]*")
            most = max(most, sum(file.stat().st_size for file in files))

        fit = model(30).set_callbacks(*(Killing(number, look) for number in range(1, 31)))
        fit.fit(client.persist(chunked(rows, blocks)))
    return most
