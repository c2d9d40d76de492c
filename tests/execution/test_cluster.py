"""A real cluster of processes: the same bits, also when a worker is killed in the middle."""

import os
import signal
import threading

import numpy as np
import pytest

from fnmf import FNMF, Checkpoint
from fnmf.exceptions import ClusterLostError
from remade_blocks import AtIteration, C, rows
from versions import needs_callbacks

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")
N, D = 4096, 30


def data():
    return da.map_blocks(rows, chunks=((1024,) * 4, (D,)), dtype=np.float32)


def model(**parameters):
    given = {"n_components": C, "random_state": 0, "n_jobs": 1, "max_iter": 30, "tol": 0.0}
    return FNMF(**{**given, **parameters})


@pytest.fixture(scope="module")
def expected():
    """By Dask's local scheduler, which other tests compare with threads."""
    return model().fit(data())


@pytest.fixture(scope="module")
def cluster():
    """Two workers; who is killed is started again."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            memory_limit=0,
            worker_dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_a_sweep_has_one_task_a_worker_and_one_that_brings_its_sums(cluster):
    counts = []
    # The same blocks at the same places for both.
    X = cluster.persist(data())
    distributed.wait(X)
    for iterations in (5, 25):
        with distributed.get_task_stream(client=cluster) as tasks:
            fitted = model(max_iter=iterations, n_weightings=C).fit(X)
        names = [str(task["key"]).split("-")[0] for task in tasks.data]
        counts.append([sum(name == kind for name in names) for kind in ("on_blocks", "picked")])
    (few, fetched), (many, brought) = counts
    passes = 1 if len(fitted.feature_weights_) == 1 else 2
    # Two workers with one thread each, if both have blocks; what comes before the iterations may be
    # cut into another few tasks the second time.
    most = 1.2 * 2 * 20 * passes
    assert 0.8 * 20 * passes <= many - few <= most
    assert brought - fetched <= most


def test_results_stay_on_the_workers_until_somebody_asks(cluster, expected):
    fitted = model().fit(data())
    for name in ("embedding_", "labels_", "assignments_", "sample_confidence_"):
        found = getattr(fitted, name)
        assert found.chunks[0] == (1024,) * 4
        np.testing.assert_array_equal(found.compute(), getattr(expected, name).compute())


@needs_callbacks
def test_killed_workers_change_nothing(cluster, expected):
    killed = []

    def kill():
        # Some time after this, in the middle of whatever is done then.
        pid = next(iter(cluster.run(os.getpid).values()))
        killed.append(pid)
        threading.Timer(0.02, os.kill, (pid, signal.SIGKILL)).start()

    fitted = model().set_callbacks(AtIteration(4, kill), AtIteration(15, kill)).fit(data())
    assert len(killed) == 2
    np.testing.assert_array_equal(fitted.embedding_.compute(), expected.embedding_.compute())
    np.testing.assert_array_equal(fitted.labels_.compute(), expected.labels_.compute())
    np.testing.assert_array_equal(fitted.history_, expected.history_)


@needs_callbacks
def test_a_cluster_that_is_gone_is_an_error_and_the_fit_can_go_on(expected, tmp_path, monkeypatch):
    monkeypatch.setattr("fnmf.execution.dask._blocks._PATIENCE", 1.0)
    checkpoint = Checkpoint(tmp_path, every=0)
    options = {"dashboard_address": None, "worker_dashboard_address": None}
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit=0, **options
        ) as one,
        distributed.Client(one),
    ):
        stopped = model().set_callbacks(AtIteration(5, lambda: one.scale(0)))
        with pytest.raises(ClusterLostError, match="no worker for 1 seconds"):
            stopped.fit(data(), checkpoint=checkpoint)
    # Elsewhere, with what is left.
    fitted = model().fit(data(), checkpoint=checkpoint)
    np.testing.assert_array_equal(fitted.embedding_.compute(), expected.embedding_.compute())


def test_results_that_take_long_are_waited_for(monkeypatch):
    from concurrent.futures import Future
    from threading import Timer

    from fnmf.execution.dask import _blocks

    class Client:
        status = "running"

        def compute(self, chunks):
            return []

        def nthreads(self):
            return {"a worker": 1}

    monkeypatch.setattr(_blocks, "_LOOK", 0.01)
    blocks, asked = _blocks._ClusterBlocks(data(), Client()), []

    def asked_for(tasks):
        asked.append(tasks)
        found = Future()
        Timer(0.2, found.set_result, (["found"],)).start()
        return found

    monkeypatch.setattr(blocks, "_asked_for", asked_for)
    # Looked at twenty times, and never begun again.
    assert blocks._results(["it"]) == ["found"]
    assert asked == [["it"]]
