import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from fnmf.experiments import Store, _store
from fnmf.experiments._plan import Run
from fnmf.experiments._store import pack

RUN = Run("tiny", "NMF", (("smoothness", 0.1),), 3)


def outcome(acc=0.5):
    return {"acc": acc, "nmi": 0.4, "seconds": 1.0, "labels": pack(labels=np.array([0, 1, 1]))}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


def test_a_finished_run_comes_back_with_everything(path):
    with Store(path) as store:
        assert store.claim(RUN, "data")
        store.finish(RUN.key("data"), outcome(), {"fnmf": "1"})
    with Store(path) as store:
        (row,) = store.results()
        assert (row["dataset"], row["method"], row["seed"]) == ("tiny", "NMF", 3)
        assert row["params"] == {"smoothness": 0.1}
        assert row["acc"] == 0.5
        np.testing.assert_array_equal(store.labels(row["key"]), [0, 1, 1])


def test_a_run_is_claimed_once_and_never_again_when_done(path):
    with Store(path) as one, Store(path) as two:
        assert one.claim(RUN, "data")
        assert not two.claim(RUN, "data")
        assert not one.claim(RUN, "data")
        one.finish(RUN.key("data"), outcome(), {})
        assert not two.claim(RUN, "data")
        assert two.claim(RUN, "other data")


def test_a_second_outcome_of_a_run_is_ignored(path):
    with Store(path) as store:
        store.claim(RUN, "data")
        store.finish(RUN.key("data"), outcome(0.5), {})
        store.finish(RUN.key("data"), outcome(0.9), {})
        assert [row["acc"] for row in store.results()] == [0.5]


def test_claims_end_with_their_owner(path):
    with Store(path) as one:
        one.claim(RUN, "data")
    with Store(path) as two:
        assert two.claim(RUN, "data")


def test_claims_of_a_killed_process_are_taken_over(path):
    script = (
        "import os, signal, sys\n"
        "from fnmf.experiments import Store\n"
        "from fnmf.experiments._plan import Run\n"
        "store = Store(sys.argv[1])\n"
        "assert store.claim(Run('tiny', 'NMF', (('smoothness', 0.1),), 3), 'data')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert ended.returncode == -9
    with Store(path) as store:
        assert store.states() == {RUN.key("data"): "claimed"}
        assert store.results() == []
        assert store.claim(RUN, "data")


def test_claims_of_a_process_elsewhere_are_taken_over_after_long_silence(path, monkeypatch):
    with Store(path) as one, Store(path) as two:
        one.claim(RUN, "data")
        monkeypatch.setattr(_store, "_alive", lambda pid: True)
        assert not two.claim(RUN, "data")
        monkeypatch.setattr(_store, "_SILENCE_SECONDS", -1.0)
        assert two.claim(RUN, "data")
        # The first owner wakes up late: its outcome no longer counts.
        one.finish(RUN.key("data"), outcome(), {})
        assert two.states() == {RUN.key("data"): "claimed"}


def test_failures_are_kept_with_their_reason_until_they_are_forgotten(path):
    with Store(path) as store:
        store.claim(RUN, "data")
        store.finish(RUN.key("data"), {"reason": "no"}, {})
        assert [(r["state"], r["reason"]) for r in store.results()] == [("failed", "no")]
        assert not store.claim(RUN, "data")
        assert store.forget_failures() == 1
        assert store.claim(RUN, "data")


def test_results_of_another_version_are_not_mixed(path):
    Store(path).close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = '0.0.0'")
    db.close()
    with pytest.raises(ValueError, match=r"fnmf 0\.0\.0.*--out"):
        Store(path)


def test_pictures_come_back(path):
    with Store(path) as store:
        assert store.picture("toy") is None
        store.keep_picture("toy", points=np.eye(2))
        np.testing.assert_array_equal(store.picture("toy")["points"], np.eye(2))


def test_keys_differ_in_every_part_of_a_run():
    runs = [
        RUN,
        Run("other", "NMF", RUN.params, 3),
        Run("tiny", "RNMF", RUN.params, 3),
        Run("tiny", "NMF", (("smoothness", 1.0),), 3),
        Run("tiny", "NMF", RUN.params, 4),
        Run("tiny", "NMF", RUN.params, 3, "detail"),
    ]
    keys = [run.key("data") for run in runs] + [RUN.key("other")]
    assert len(set(keys)) == len(keys)
