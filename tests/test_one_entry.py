"""A new method is one entry: command, tables, model files and pages learn of it from there."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from typer.testing import CliRunner

import fnmf
from fnmf.baselines import Card, Method, register_method, unregister_method
from fnmf.cli._app import app
from fnmf.experiments import Problem, methods, register_dataset
from fnmf.experiments._execute import execute
from fnmf.experiments._output import build_table
from fnmf.experiments._plan import PROFILES, Run, first_stage
from fnmf.experiments._registry import _PROBLEMS
from fnmf.experiments._store import Store
from fnmf.persistence import ModelFileError

PAGE = Path(__file__).parents[1] / "docs" / "methods.md"


class Halves(ClusterMixin, BaseEstimator):
    """Cuts one feature into equal parts: a method as small as they come."""

    def __init__(self, n_clusters=2, *, feature=0, random_state=None):
        self.n_clusters = n_clusters
        self.feature = feature
        self.random_state = random_state

    def fit(self, X, y=None):
        values = np.asarray(X)[:, self.feature]
        self.n_features_in_ = np.shape(X)[1]
        self.cuts_ = np.quantile(values, np.arange(1, self.n_clusters) / self.n_clusters)
        self.labels_ = np.searchsorted(self.cuts_, values)
        return self

    def predict(self, X):
        return np.searchsorted(self.cuts_, np.asarray(X)[:, self.feature])


@pytest.fixture
def entry():
    yield register_method(
        Method(
            "Halves",
            Halves,
            grid={"feature": [0, 1, 2]},
            median=True,
            label_rule="quantiles",
            card=Card("cut at quantiles", "n log n", "never"),
        )
    )
    unregister_method("Halves")


@pytest.fixture
def X():
    X = np.random.default_rng(0).random((40, 3))
    X[:20, 1] += 2
    return X


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output + result.stderr
    return result.output


def test_the_list_of_methods_shows_it(entry):
    cards = json.loads(run("methods", "--json"))["methods"]
    (card,) = [card for card in cards if card["name"] == "Halves"]
    assert card["formula"] == "cut at quantiles"
    assert card["cost"] == "n log n"
    assert card["use"] == "never"
    assert card["new_rows"] is True
    assert "Halves" in run("methods")
    assert "--param feature" in run("methods", "halves")
    assert "## Halves" in run("methods", "--markdown")


@pytest.mark.skipif(not PAGE.is_file(), reason="the docs are not beside the tests")
def test_the_page_of_methods_is_what_the_entries_say():
    assert PAGE.read_text("utf-8") == run("methods", "--markdown"), (
        "write it again: fnmf methods --markdown > docs/methods.md"
    )


def test_the_command_clusters_with_it_and_applies_it_to_new_rows(entry, X, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("table.csv", X, delimiter=",", header="a,b,c", comments="", fmt="%.6f")
    options = ["-k", "2", "--method", "halves", "--param", "feature=1", "--restarts", "0"]
    options += ["--normalize", "none"]
    run("cluster", "table.csv", *options, "--out", "out")
    with open("out/labels.csv", newline="") as lines:
        labels = [int(row["cluster"]) for row in csv.DictReader(lines)]
    assert len(set(labels[:20])) == len(set(labels[20:])) == 1
    assert labels[0] != labels[-1]
    run("apply", "out/model.fnmf", "table.csv", "--out", "again")
    with open("again/labels.csv", newline="") as lines:
        assert [int(row["cluster"]) for row in csv.DictReader(lines)] == labels
    assert "Halves" in (tmp_path / "out/report.html").read_text("utf-8")


def test_its_models_can_be_saved_and_loaded_while_it_is_registered(entry, X, tmp_path):
    model = Halves(feature=1).fit(X)
    fnmf.save(model, tmp_path / "m.fnmf")
    again = fnmf.load(tmp_path / "m.fnmf")
    assert type(again) is Halves
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    unregister_method("Halves")
    try:
        with pytest.raises(ModelFileError, match="does not know"):
            fnmf.load(tmp_path / "m.fnmf")
        with pytest.raises(ModelFileError, match="Halves is not an estimator of fnmf"):
            fnmf.save(model, tmp_path / "other.fnmf")
    finally:
        register_method(entry)


def test_the_tables_have_a_row_for_it(entry, X, tmp_path):
    from sklearn.utils import Bunch

    data = Bunch(data=X, target=np.repeat([0, 1], 20))
    register_dataset(Problem("pair", "Pair", lambda home: data, unit=False, table="clean"))
    try:
        assert methods()["Halves"] is entry
        chosen = {"Halves": entry}
        runs = first_stage(["table-acc"], ["pair"], chosen, PROFILES["full"])
        assert len(runs) == 60
        with Store(tmp_path / "store.sqlite") as store:
            for planned in [Run("pair", "Halves", (("feature", f),), 0) for f in (0, 1, 2)]:
                assert store.claim(planned, "data")
                store.finish(planned.key("data"), execute(planned), {})
            table = build_table("table-acc", store)
        assert table.entries["pair", "Halves"].ours == 1.0
        assert table.entries["pair", "Halves, median"].ours < 1.0
        place = table.rows.index("Halves")
        assert table.rows[place + 1] == "Halves, median"
    finally:
        del _PROBLEMS["pair"]
