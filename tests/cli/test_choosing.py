"""``fnmf cluster`` without -k, and ``fnmf explain``."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import fnmf
from fnmf import FNMF, choose_n_components
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
    assert "The 150 rows fall into 3 groups." in shown
    assert "3 clusters fit the data best" in shown
    assert "comes back" in shown
    assert "confidence" in shown
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
        labels = [int(row["cluster"]) - 1 for row in csv.DictReader(file)]
    assert model.labels_.tolist() == labels


def test_python_and_command_agree_on_parameters_too(run):
    folder, X, _ = run
    out = folder / "others"
    command = ["cluster", str(folder / "table.csv"), "-k", "auto", "--out", str(out)]
    options = ["--id-column", "name", "--restarts", "0", "--neighbors", "9", "--seed", "3"]
    shown = runner.invoke(app, [*command, *options])
    assert shown.exit_code == 0, shown.output
    choice = choose_n_components(X, random_state=3, n_neighbors=9)
    told = json.loads((out / "run.json").read_text())["number"]["scores"]
    assert [row["score"] for row in told] == pytest.approx(choice.scores["score"].tolist())


def test_report_shows_the_choice_with_its_picture(run):
    page = (run[0] / "out" / "report.html").read_text()
    section = page[page.index('<section id="run"') :].split("</section>")[0]
    assert "3 clusters fit the data best" in section
    assert "streams the samples they share" in section
    again = fnmf.load(run[0] / "out" / "model.fnmf").model
    assert again.k_interval_[0] <= 3 <= again.k_interval_[1]
    assert list(again.k_also_) == []


@pytest.mark.parametrize("text", ["two", "0", "2.5"])
def test_numbers_that_are_none_are_refused_with_what_would_do(run, text):
    shown = runner.invoke(app, ["cluster", str(run[0] / "table.csv"), "-k", text])
    assert shown.exit_code == 2
    assert "nor auto" in " ".join(shown.output.replace("│", "").split())


def test_data_without_clusters_are_one_and_nothing_is_said_of_it(tmp_path):
    X = np.abs(np.random.RandomState(0).normal(size=(80, 6)))
    np.savetxt(tmp_path / "noise.csv", X, delimiter=",", header="a,b,c,d,e,f", comments="")
    command = ["cluster", str(tmp_path / "noise.csv"), "--out", str(tmp_path / "out")]
    shown = runner.invoke(app, command)
    assert shown.exit_code == 0, shown.output
    assert "The 80 rows are one group: no division of them is clearer than" in shown.output
    assert not any(word in shown.output for word in ("high a", "confidence", "tell them apart"))


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
