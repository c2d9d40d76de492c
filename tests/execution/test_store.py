"""What a lost worker costs is bounded: rows are stored, and go on from there."""

import gc
import os
import signal
import time
import warnings
from collections import Counter

import dask
import numpy as np
import pytest

from fnmf import FNMF
from fnmf.execution.dask._blocks import blocks_of
from fnmf.execution.dask._store import Lineage, Store, every
from fnmf.execution.dask._worker import recalled
from remade_blocks import AtIteration, C, rows
from versions import needs_callbacks

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")
N, D, BLOCKS = 2048, 12, 4


def data():
    return da.map_blocks(rows, chunks=((N // BLOCKS,) * BLOCKS, (D,)), dtype=np.float32)


def model():
    # Assignments of their own, so that codes and shares are made of each other in turn.
    given = {"weighting": "paper", "graph": None, "init": "random", "n_weightings": 2}
    return FNMF(C, random_state=0, n_jobs=1, max_iter=24, tol=0.0, **given)


@pytest.fixture(scope="module")
def client():
    options = {"dashboard_address": None, "worker_dashboard_address": None, "memory_limit": 0}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def folder(tmp_path):
    with dask.config.set({"fnmf.store.folder": str(tmp_path)}):
        yield tmp_path


def files(folder):
    return list(folder.glob(".fnmf-rows-*/[0-9]*"))


def two_workers(client):
    """Wait for who is started again; the scheduler knows, the cluster may have lost count."""
    until = time.monotonic() + 60
    while len(client.nthreads()) < 2 and time.monotonic() < until:
        time.sleep(0.1)


def repeated(stream):
    """By their number, how many of the tasks of all passes have run again."""
    runs = Counter(str(task["key"]) for task in stream.data)
    again: Counter[int] = Counter()
    for key, times in runs.items():
        if key.startswith("on_blocks"):
            again[int(key.rpartition("-")[2])] += times - 1
    return again


def fit(client, kill_at=None):
    """Codes of a fit, and how many tasks of each worker have run again."""

    def kill():
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    found = model().set_callbacks(AtIteration(kill_at, kill))
    with distributed.get_task_stream(client=client) as stream:
        codes = found.fit(data()).embedding_.compute()
    two_workers(client)
    return codes, repeated(stream)


@needs_callbacks
def test_a_lost_worker_costs_no_more_tasks_than_came_since_rows_were_stored(client, folder):
    expected, nothing = fit(client)
    assert not +nothing
    worst = {}
    for often in (0, 6):
        with dask.config.set({"fnmf.store.every": often}):
            found, again = fit(client, kill_at=20)
        np.testing.assert_array_equal(found, expected)
        worst[often] = max(again.values())
    # Without a store all sweeps of codes and assignments; with it those since the last time, and
    # what was under way or looked at the rows meanwhile.
    assert worst[0] >= 2 * 20
    assert worst[6] <= 6 + 3


def test_what_is_stored_may_be_read_by_any_worker(client, folder):
    # Dask waits for ever for a worker that is asked for by name, once all have been gone.
    blocks = blocks_of(data())
    store = Store.made()
    stored = store.version(BLOCKS)
    written = np.arange(6, dtype=np.float32).reshape(2, 3)
    for path in stored.paths:
        with open(path, "wb") as file:
            np.save(file, written)
    made = blocks.recall(stored, [[(written.shape, written.dtype)]] * BLOCKS)

    def asked(dask_scheduler=None):
        tasks = dask_scheduler.tasks.values()
        return [str(one.worker_restrictions) for one in tasks if "recalled" in str(one.key)]

    for (found,) in blocks.results(made):
        np.testing.assert_array_equal(found, written)
    assert set(client.run_on_scheduler(asked)) == {"None"}


def test_files_last_as_long_as_what_rests_on_them(client, folder):
    with dask.config.set({"fnmf.store.every": 3}):
        # Codes that are held together end where the last iteration left them.
        fitted = FNMF(C, random_state=0, n_jobs=1, max_iter=9, tol=0.0).fit(data())
    gc.collect()
    kept = len(files(folder))
    # Codes and assignments, and rows from which they came; not those of all iterations.
    assert 0 < kept <= 6 * BLOCKS
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    assert fitted.embedding_.compute().shape == (N, C)
    del fitted
    gc.collect()
    assert not list(folder.glob(".fnmf-rows-*"))


def test_a_folder_that_workers_do_not_see_is_told_and_the_fit_goes_on(client, folder, monkeypatch):
    expected = model().fit(data()).embedding_.compute()
    monkeypatch.setattr("fnmf.execution.dask._store.sees", lambda path, word: False)
    with (
        dask.config.set({"fnmf.store.every": 3}),
        warnings.catch_warnings(record=True) as told,
    ):
        warnings.simplefilter("always")
        found = model().fit(data()).embedding_.compute()
    np.testing.assert_array_equal(found, expected)
    assert sum("fnmf.store.folder" in str(one.message) for one in told) == 1
    assert not list(folder.glob(".fnmf-rows-*"))


def test_a_folder_that_cannot_be_made_is_an_error_with_its_remedy(client, tmp_path):
    gone = {"fnmf.store.every": 3, "fnmf.store.folder": str(tmp_path / "gone")}
    with dask.config.set(gone), pytest.raises(OSError, match=r"fnmf\.store\.folder"):
        model().fit(data())


def test_leftovers_of_the_dead_are_cleared_and_those_of_the_living_stay(folder):
    living = Store.made()
    (own,) = folder.iterdir()
    dead = own.with_name(f"{own.name[:-12]}{'0' * 12}")
    dead.mkdir()
    other = Store.made()
    assert own.exists()
    assert not dead.exists()
    del living, other
    gc.collect()
    assert not list(folder.iterdir())


def test_rows_that_are_not_those_written_are_refused(tmp_path):
    path = tmp_path / "rows"
    with pytest.raises(OSError, match="cannot be read"):
        recalled(str(path), [((2, 3), np.dtype(np.float32))])
    rows = np.ones((2, 3), np.float32)
    np.save(path, rows)
    path = f"{path}.npy"
    (found,) = recalled(path, [(rows.shape, rows.dtype)])
    np.testing.assert_array_equal(found, rows)
    with pytest.raises(OSError, match="does not hold"):
        recalled(path, [((2, 4), rows.dtype)])
    np.save(path, np.array([{}]), allow_pickle=True)
    with pytest.raises(OSError, match="cannot be read"):
        recalled(path, [((1,), np.dtype(object))])


@pytest.mark.parametrize("wrong", [-1, 2.5, True, "often"])
def test_a_number_of_tasks_is_checked(wrong):
    with dask.config.set({"fnmf.store.every": wrong}), pytest.raises(ValueError, match="no number"):
        every()


def test_a_line_is_as_long_as_the_longest_and_rests_on_all():
    first, second = object(), object()
    line = Lineage.after([Lineage(3, (first,)), Lineage(5, (second, first)), Lineage()], 2)
    assert line.tasks == 7
    assert set(line.stored) == {first, second}
    assert Lineage.after([], 1) == Lineage(1)
