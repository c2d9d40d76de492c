"""The command from end to end on a tiny data set: failures, kill -9, Ctrl-C, two processes."""

import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from fnmf.experiments import Store, _registry, methods, problems
from fnmf.experiments._execute import execute
from fnmf.experiments._plan import Run
from fnmf.experiments._reproduce import Order, reproduce

PLUGIN = """
import os, time
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.utils import Bunch
from fnmf.experiments import Method, Problem, register_dataset, register_method

def load(data_home):
    X, y = make_blobs(60, centers=3, cluster_std=0.2, random_state=0)
    return Bunch(data=X - X.min(axis=0), target=y)

class Slow(KMeans):
    def __init__(self, n_clusters=8, random_state=None, pause=0.0, twist=0):
        super().__init__(n_clusters, n_init=2, random_state=random_state)
        self.pause, self.twist = pause, twist
    def fit_predict(self, X, y=None):
        time.sleep(self.pause)
        return super().fit_predict(X)

def broken(**_):
    raise ValueError("needs <b>more</b> than this\\nand more")

def crash(**_):
    os._exit(7)

register_dataset(Problem("tiny", "Tiny", load, unit=False, table="clean"))
register_method(Method("Slow", Slow, grid={"pause": [0.2, 0.3], "twist": [1, 2]}))
register_method(Method("Quick", Slow, grid={"twist": [1, 2]}))
register_method(Method("Broken", broken))
register_method(Method("Crash", crash))
"""


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "plugin.py"
    path.write_text(PLUGIN)
    return path


@pytest.fixture
def command(plugin, tmp_path):
    def build(*arguments):
        return [
            sys.executable, "-c", "from fnmf.cli import main; main()", "reproduce", "table-acc",
            "--datasets", "tiny", "--methods", "Slow", "--with", str(plugin),
            "--out", str(tmp_path / "out"), *arguments,
        ]  # fmt: skip

    return build


def finished(path):
    """Rows that are done, read as a stranger would."""
    if not path.exists():
        return {}
    db = sqlite3.connect(path, timeout=30)
    try:
        rows = db.execute("SELECT key, acc, seconds, finished FROM runs WHERE state = 'done'")
        return {row[0]: row[1:] for row in rows}
    except sqlite3.OperationalError:
        return {}  # the tables are not made yet
    finally:
        db.close()


def wait_for(condition, process):
    while not condition():
        assert process.poll() is None, "the command ended too early"
        time.sleep(0.02)


def test_failures_become_reasons_and_tables_are_drawn_from_the_store_alone(
    plugin, tmp_path, monkeypatch
):
    monkeypatch.setattr("fnmf.baselines.registry._METHODS", methods())
    monkeypatch.setattr(_registry, "_PROBLEMS", problems())
    _registry.run_plugin(plugin)
    out = tmp_path / "out"
    options = {
        "profile": "quick",
        "datasets": ["tiny"],
        "methods": ["Quick", "Broken", "Crash"],
        "plugins": [str(plugin)],
    }
    reproduce(Order(["table-acc"], out, **options))
    page = (out / "index.html").read_text()
    assert "Broken: ValueError: needs &lt;b&gt;more&lt;/b&gt; than this and more" in page
    assert "<b>more</b>" not in page
    assert "exit code 7" in page
    with open(out / "runs.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert sorted(row["state"] for row in rows) == ["done"] * 4 + ["failed"] * 4
    for row in rows:
        if row["state"] == "done":
            run = Run("tiny", "Quick", tuple(json.loads(row["params"]).items()), int(row["seed"]))
            assert float(row["acc"]) == execute(run)["acc"] > 0.9

    names = [f"table-acc.{suffix}" for suffix in ("md", "tex", "csv")]
    before = {name: (out / name).read_bytes() for name in names}
    for name in names:
        (out / name).unlink()
    # Neither the methods nor the data are needed, and failures are not tried again.
    reproduce(Order(["table-acc"], out, **(options | {"run": False})))
    assert {name: (out / name).read_bytes() for name in names} == before
    shown = []
    reproduce(
        Order(["table-acc"], out, **options),
        show=lambda stage, p: shown.append((p.done, p.total)),
    )
    assert shown == [(8, 8)]


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="child processes are looked up in /proc")
def test_kill_9_loses_only_runs_in_flight_and_two_processes_go_on_together(command, tmp_path):
    store = tmp_path / "out" / "store.sqlite"
    process = subprocess.Popen(command("--jobs", "1"), stderr=subprocess.DEVNULL)
    wait_for(lambda: len(finished(store)) >= 2, process)
    children = [
        int(pid) for pid in os.listdir("/proc") if pid.isdigit() and parent(pid) == process.pid
    ]
    process.kill()
    process.wait()
    before = finished(store)
    assert 2 <= len(before) < 8
    deadline = time.monotonic() + 60
    while any(state(pid) != "Z" for pid in children):
        assert time.monotonic() < deadline, "workers outlived the command"
        time.sleep(0.1)

    pair = [
        subprocess.Popen(command("--jobs", "1"), stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in pair:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    after = finished(store)
    assert len(after) == 8
    assert {key: after[key] for key in before} == before


def status(pid):
    try:
        with open(f"/proc/{pid}/stat") as stream:
            return stream.read().rsplit(")", 1)[1].split()
    except OSError:
        return ["Z", "0"]


def parent(pid):
    return int(status(pid)[1])


def state(pid):
    return status(pid)[0]


def test_ctrl_c_ends_cleanly_and_says_how_to_go_on(command, tmp_path):
    store = tmp_path / "out" / "store.sqlite"
    # Under nohup the parent ignores Ctrl-C, and a child inherits that.
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(command(), stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, previous)
    wait_for(lambda: len(finished(store)) >= 1, process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "To go on: fnmf reproduce table-acc" in errors
    assert "Traceback" not in errors
    with Store(store) as kept:
        assert set(kept.states().values()) == {"done"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table-xyz"], "not a target"),
        (["--profile", "huge"], "use quick, screened, full"),
        (["--datasets", "mnist"], "'mnist' is not known"),
        (["--methods", "Nothing"], "'Nothing' is not known"),
        (["--with", "missing.py"], "no such Python file"),
    ],
)
def test_bad_arguments_are_answered_with_what_to_use(arguments, message, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from fnmf.cli._app import app

    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["reproduce", *arguments])
    assert result.exit_code == 2
    assert message in " ".join(result.output.replace("│", " ").split())
