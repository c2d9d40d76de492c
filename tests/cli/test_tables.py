"""Three realistic tables by the plain command without any option."""

import csv
import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import fnmf
from fnmf.cli._app import app
from fnmf.metrics import clustering_accuracy

ROOT = Path(__file__).parents[2]
MADE = runpy.run_path(str(ROOT / "examples/tables/make.py"))
NAMES = tuple(MADE["SEGMENTS"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tables")
    return made, MADE["write"](made)


@pytest.fixture(scope="module", params=NAMES)
def done(request, folder):
    """Name, record, what was shown and the folder of the results."""
    where, _ = folder
    name = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(where)
        patch.setattr("fnmf.cli._progress._FIRST_LINE", 3600.0)
        result = CliRunner().invoke(app, ["cluster", name])
    assert result.exit_code == 0, result.output + result.stderr
    results = where / f"{name}-clusters"
    return name, json.loads((results / "run.json").read_text()), result, results


def test_it_ends_in_an_answer_that_can_be_read_aloud(done):
    name, record, result, results = done
    rows = len(MADE["write"](results.parent)[name])
    word = {"customers.csv": "customers", "sensors.csv": "rows", "survey.csv": "respondents"}[name]
    assert f"The {rows} {word} fall into" in result.output
    page = (results / "report.html").read_text()
    assert f"The {rows} {word} fall into" in page
    assert "(others " in record["clusters"][0]["sentence"]
    for frightening in ("false discovery", "variance between", "Convergence", "--max-iter"):
        assert frightening not in result.output


def test_every_decision_is_told_with_its_reason_and_another_way(done):
    name, record, result, results = done
    wanted = {
        "customers.csv": {
            "column 'customer_id' names the rows": "--id-column",
            "flags, 1 or 0: 'newsletter=yes'": "--exclude",
            "categories: 'region'": "--exclude",
            "columns of dates are left out: 'signed_up'": "--encode",
            "missing cells stay missing": "--missing median",
            "moved up to start at 0: 'balance_eur'": "--abs",
            "columns of text are left out: 'comment'": "",
        },
        "sensors.csv": {
            "column 'time' names the rows": "--id-column",
            "missing cells stay missing": "--missing drop",
        },
        "survey.csv": {
            "column 'respondent' names the rows": "--id-column",
            "categories: 'channel', 'reason', 'visits'": "--exclude",
            "'answered_on'": "--encode",
        },
    }[name]
    page = (results / "report.html").read_text()
    assert "Decided for you" in page
    assert "decided for you" in result.output
    for text, option in wanted.items():
        (one,) = [entry for entry in record["decisions"] if text in entry["what"]]
        assert one["why"]
        assert option in one["otherwise"]


def test_strict_stops_with_the_command_that_solves_it(folder, monkeypatch):
    where, _ = folder
    monkeypatch.chdir(where)
    words = ["cluster", "customers.csv", "--strict", "-o", "never"]
    told = CliRunner().invoke(app, words)
    assert told.exit_code == 2
    assert "2 things stand in the way" in told.stderr
    assert told.stderr.strip().endswith("--missing median --shift")
    assert not (where / "never").exists()


def test_new_rows_go_the_same_way_and_keep_their_names(done, monkeypatch):
    name, record, _, results = done
    monkeypatch.chdir(results.parent)
    result = CliRunner().invoke(app, ["apply", results.name, name, "--with-columns", "--force"])
    assert result.exit_code == 0, result.output + result.stderr
    with open(f"{name}-applied/labels.csv", newline="") as file:
        applied = list(csv.DictReader(file))
    with open(results / "labels.csv", newline="") as file:
        trained = list(csv.DictReader(file))
    assert [row["id"] for row in applied] == [row["id"] for row in trained]
    same = np.mean([a["cluster"] == b["cluster"] for a, b in zip(applied, trained, strict=True)])
    assert same > 0.97
    assert {row["name"] for row in applied} <= {one["name"] for one in record["clusters"]}
    with open(name, newline="") as file:
        for row, whole in zip(csv.DictReader(file), applied, strict=True):
            assert row.items() <= whole.items()


def test_a_row_is_explained_in_the_units_of_the_file(done, monkeypatch):
    name, _, _, results = done
    monkeypatch.chdir(results.parent)
    with open(name, newline="") as file:
        table = list(csv.DictReader(file))
    for extra in ([], ["--data", name]):
        told = CliRunner().invoke(app, ["explain", results.name, "3", "--json", *extra])
        assert told.exit_code == 0, told.output + told.stderr
        found = json.loads(told.output)
        for entry in (*found["pulls"], *found["against"]):
            column, equals, value = entry["feature"].partition("=")
            cell = table[2][column]
            expected = float(cell == value) if equals else cell and float(cell)
            if cell:
                assert entry["value"] == pytest.approx(expected, abs=1e-6)


def test_missing_cells_are_counted_by_column_and_cluster(done):
    name, record, _, results = done
    with open(results.parent / name, newline="") as file:
        table = list(csv.DictReader(file))
    with open(results / "labels.csv", newline="") as file:
        clusters = [row["cluster"] for row in csv.DictReader(file)]
    told, page = record["missing_cells"], (results / "report.html").read_text()
    if name != "customers.csv":
        assert told["apart"] == "They are spread evenly over the clusters."
    assert f"Missing cells: {told['text']}" in page
    for row in told["rows"]:
        gone = [line[row["name"].partition("=")[0]] == "" for line in table]
        assert row["count"] == sum(gone) > 0
        for cluster, share in zip(told["clusters"], row["by_cluster"], strict=True):
            own = [one for one, c in zip(gone, clusters, strict=True) if c == cluster]
            assert share == pytest.approx(np.mean(own))


def test_features_of_one_category_belong_together(folder, done):
    name, _, _, results = done
    recipe = fnmf.load(results / "model.fnmf").recipe
    assert recipe.groups.shape == (len(recipe.columns),)
    for group in np.unique(recipe.groups):
        columns = np.array(recipe.columns)[recipe.groups == group]
        assert len({column.split("=")[0] for column in columns}) == 1
    n_columns = len(set(recipe.sources))
    assert recipe.groups.max() + 1 == n_columns
    if name == "survey.csv":
        assert n_columns == 10
        assert len(recipe.columns) > 20


def test_what_is_there_is_found(done, folder):
    name, record, _, results = done
    with open(results / "labels.csv", newline="") as file:
        labels = [int(row["cluster"]) for row in csv.DictReader(file)]
    informative = MADE["SEGMENTS"][name][1]
    told = " ".join(cluster["sentence"] for cluster in record["clusters"])
    found = [column for column in informative if column in told]
    assert len(found) >= len(informative) - 1
    assert clustering_accuracy(folder[1][name], labels) > 0.95
