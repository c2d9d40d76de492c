"""Stored results become a store again: only what is asked for is done anew."""

import csv
import json

import numpy as np
import pytest

from fnmf.experiments import Store, _registry, methods, problems
from fnmf.experiments._adopt import adopt
from fnmf.experiments._plan import Run
from fnmf.experiments._reproduce import Order, reproduce

PLUGIN = """
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.utils import Bunch
from fnmf.experiments import Method, Problem, register_dataset, register_method

def tiny(data_home):
    X, y = make_blobs(60, centers=3, cluster_std=0.2, random_state=0)
    return Bunch(data=X - X.min(axis=0), target=y)

def lazy(*, n_clusters, random_state, tol):
    return KMeans(n_clusters, n_init=1, tol=tol, random_state=random_state)

register_dataset(Problem("tiny", "Tiny", tiny, unit=False, table="clean"))
for name in ("One", "Two"):
    register_method(Method(name, lazy, grid={"tol": [1e-4, 1e-3]}))
"""


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "plugin.py"
    path.write_text(PLUGIN)
    return path


@pytest.fixture
def results(plugin, tmp_path, monkeypatch):
    """A folder with the results of two methods."""
    monkeypatch.setattr("fnmf.baselines.registry._METHODS", methods())
    monkeypatch.setattr(_registry, "_PROBLEMS", problems())
    _registry.run_plugin(plugin)
    folder = tmp_path / "results"
    folder.mkdir()
    columns = [
        "dataset", "method", "purpose", "params", "seed", "state", "acc", "nmi", "objective",
        "n_iter", "n_found", "seconds", "cpu_seconds", "notes", "reason", "finished", "versions",
    ]  # fmt: skip
    with open(folder / "runs.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, columns)
        writer.writeheader()
        common = {"dataset": "tiny", "purpose": "table", "nmi": "0.5", "cpu_seconds": "0.1"}
        common |= {"seconds": "0.1", "n_found": "3", "versions": "1", "finished": "2026-01-01"}
        for method in ("One", "Two"):
            for tol in (1e-4, 1e-3, 1e-2):
                for seed, acc in ((0, "0.4"), (1, "0.6")):
                    row = {"method": method, "params": json.dumps({"tol": tol}), "seed": seed}
                    writer.writerow({**common, **row, "state": "done", "acc": acc})
        writer.writerow({**common, "method": "One", "params": "{}", "seed": 9, "state": "failed"})
    about = {"versions": [{"fnmf": "a"}, {"fnmf": "b"}], "data": {"tiny": "digest"}}
    (folder / "about.json").write_text(json.dumps(about))
    return folder


def test_finished_runs_with_settings_of_today_are_taken(results, tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        assert adopt(store, results) == 8
        rows = store.results()
        assert {row["params"]["tol"] for row in rows} == {1e-4, 1e-3}
        assert [json.loads(row["versions"]) for row in rows] == [{"fnmf": "b"}] * 8
        assert sum(row["acc"] for row in rows) == pytest.approx(4.0)
        assert not store.has_labels(rows[0]["key"])
        run = Run("tiny", rows[0]["method"], tuple(rows[0]["params"].items()), rows[0]["seed"])
        assert run.key("digest") == rows[0]["key"]
        assert not store.claim(run, "digest")
        # A second time there is nothing to take.
        assert adopt(store, results) == 0


def test_methods_to_be_done_again_are_left_out_and_new_runs_stay(results, tmp_path):
    run = Run("tiny", "Two", (("tol", 1e-4),), 0)
    with Store(tmp_path / "store.sqlite") as store:
        assert adopt(store, results, ["Two"]) == 4
        assert store.claim(run, "digest")
        store.finish(run.key("digest"), {"acc": 0.9, "nmi": 0.9, "seconds": 1.0}, {})
        assert adopt(store, results, ["Two"]) == 0
        kept = [row["acc"] for row in store.results() if row["method"] == "Two"]
        assert kept == [0.9]


def test_one_command_does_a_method_anew_and_draws_all_rows(results, plugin, tmp_path):
    from fnmf.experiments._execute import data_digest, prepared

    about = json.loads((results / "about.json").read_text())
    about["data"]["tiny"] = data_digest(prepared("tiny", None))
    (results / "about.json").write_text(json.dumps(about))
    order = Order(
        ["table-acc"],
        tmp_path / "out",
        profile="quick",
        datasets=["tiny"],
        methods=["One", "Two"],
        adopted=results,
        again=["two"],
        results=results,
        plugins=[str(plugin)],
    )
    reproduce(order)
    with open(results / "runs.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["acc"] for row in rows if row["method"] == "One"} == {"0.4", "0.6"}
    new = [float(row["acc"]) for row in rows if row["method"] == "Two"]
    assert len(new) == 4
    assert np.mean(new) > 0.9
    assert "0.500 ± 0.100" in (results / "table-acc.md").read_text()
    facts = json.loads((results / "about.json").read_text())
    assert len(facts["versions"]) == 2


def test_a_folder_without_results_is_named(tmp_path):
    with (
        Store(tmp_path / "store.sqlite") as store,
        pytest.raises(FileNotFoundError, match=r"--from .*: there are no runs.csv"),
    ):
        adopt(store, tmp_path / "nothing")
