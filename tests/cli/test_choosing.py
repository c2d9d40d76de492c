"""``fnmf cluster`` without -k, and ``fnmf explain``."""

import csv
import json

import pytest
from typer.testing import CliRunner

from fnmf import FNMF
from fnmf.cli._app import app
from fnmf.datasets import make_planted_subspaces

runner = CliRunner()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("choosing")
    X, _, _ = make_planted_subspaces(150, 3, 6, 40, random_state=0)
    with open(folder / "table.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *(f"f{k}" for k in range(X.shape[1]))])
        writer.writerows([f"s{i}", *row] for i, row in enumerate(X.round(4).tolist()))
    command = ["cluster", str(folder / "table.csv"), "--out", str(folder / "out")]
    command += ["--id-column", "name", "--restarts", "0"]
    shown = runner.invoke(app, command)
    assert shown.exit_code == 0, shown.output
    return folder, X.round(4), shown.output


def test_one_command_gives_a_number_and_how_sure_it_is(run):
    folder, _, shown = run
    assert "Recommended: 3 clusters" in shown
    assert "solid" in shown
    record = json.loads((folder / "out" / "run.json").read_text())
    assert record["number"]["recommended"] == 3
    assert [row["k"] for row in record["number"]["scores"]][:2] == [2, 3]
    with open(folder / "out" / "labels.csv") as file:
        rows = list(csv.DictReader(file))
    assert all(0 <= float(row["confidence"]) <= 1 for row in rows)
    assert all(row["second"] != row["cluster"] for row in rows)
    with open(folder / "out" / "features.csv") as file:
        assert "qvalue" in next(csv.reader(file))
    assert (folder / "out" / "number.svg").read_text().startswith("<svg")


def test_python_and_command_agree(run):
    folder, X, _ = run
    model = FNMF("auto", random_state=0).fit(X)
    with open(folder / "out" / "labels.csv") as file:
        labels = [int(row["cluster"]) for row in csv.DictReader(file)]
    assert model.labels_.tolist() == labels


def test_a_row_is_explained_in_the_units_of_the_table(run):
    folder, X, _ = run
    shown = runner.invoke(app, ["explain", str(folder / "out"), "s7", "--json"])
    assert shown.exit_code == 0, shown.output
    found = json.loads(shown.output)
    assert found["row"] == "s7"
    first = found["pulls"][0]
    assert first["feature"] == f"f{first['index']}"
    assert first["value"] == pytest.approx(X[7, first["index"]])
    told = runner.invoke(app, ["explain", str(folder / "out" / "model.fnmf"), "8"])
    assert "s7 is in cluster" in told.output
    assert first["feature"] in told.output


def test_rows_that_do_not_exist_are_named(run):
    shown = runner.invoke(app, ["explain", str(run[0] / "out"), "nobody"])
    assert shown.exit_code != 0
    assert "nobody" in shown.output
