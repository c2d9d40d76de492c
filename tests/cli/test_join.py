"""Groups of columns from the shell: several tables of the same rows, and prefixes."""

import csv
import json

import numpy as np
import pytest

import fnmf
from fnmf.metrics import clustering_accuracy

QUICK = ["-k", "3", "--restarts", "0", "--max-iter", "20"]


def write(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


@pytest.fixture
def tables(tmp_path):
    """Visits of 90 people, and purchases of 70 of them in another order; both have a column age."""
    rng = np.random.default_rng(0)
    kinds = np.arange(90) % 3
    visits, bought = rng.random((90, 3)), rng.random((90, 3))
    visits[:, 0] += 3 * (kinds == 0)
    bought[:, 0] += 3 * (kinds == 1)
    some = rng.permutation(90)[:70]
    cities = np.where(kinds == 2, "Rome", "Oslo")
    write(
        tmp_path / "visits.csv",
        ["id", "days", "hours", "age"],
        [[f"p{i}", *visits[i].round(4)] for i in range(90)],
    )
    write(
        tmp_path / "bought.csv",
        ["id", "bread", "milk", "age", "city"],
        [[f"p{i}", *bought[i].round(4), cities[i]] for i in some],
    )
    return kinds, set(some.tolist())


def test_tables_are_joined_by_the_names_of_rows(run, tmp_path, tables):
    kinds, some = tables
    said = run("cluster", "visits.csv", "bought.csv", "--join", "id", *QUICK).stdout
    assert "20 of 90 rows are not in bought.csv" in said
    folder = tmp_path / "visits.csv-clusters"
    model = fnmf.load(folder / "model.fnmf")
    rows = model._fit_X
    assert rows.shape[0] == 90
    lacks = np.isnan(rows).any(axis=1)
    assert lacks.tolist() == [i not in some for i in range(90)]
    record = json.loads((folder / "run.json").read_text())
    assert [one["file"].rpartition("/")[2] for one in record["input"]["joined"]] == ["bought.csv"]
    groups = {one["name"]: one for one in record["feature_groups"]}
    assert groups["visits"]["features"] == 3
    assert set(groups) == {"visits", "bought"}
    assert groups["bought"]["relevance"] == pytest.approx(model.group_relevance_["bought"])
    with open(folder / "features.csv", encoding="utf-8") as file:
        names = {row["feature"] for row in csv.DictReader(file)}
    assert {"days", "hours", "visits.age", "bread", "milk", "bought.age"} <= names
    assert clustering_accuracy(kinds, model.labels_) > 0.8
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Groups of columns" in page
    run("apply", folder, "visits.csv", "bought.csv", "--join", "id", "-o", "applied")
    with open(tmp_path / "applied" / "labels.csv", encoding="utf-8") as file:
        found = [int(row["cluster"]) - 1 for row in csv.DictReader(file)]
    assert np.mean(np.array(found) == model.labels_) > 0.95
    assert "p3 is in cluster" in run("explain", folder, "p3").stdout
    assert "Wrote" in run("report", folder, "--rows-are", "people").stdout
    (tmp_path / "bought.csv").write_text("id,bread\np1,2\n")
    assert "bought.csv is not the table of this run" in run("report", folder, code=2).stderr


def test_columns_named_alike_are_a_group(run, tmp_path):
    rng = np.random.default_rng(0)
    kinds = np.arange(60) % 3
    rows = rng.random((60, 5))
    rows[:, 0] += 3 * (kinds == 0)
    rows[:, 1] += 3 * (kinds == 1)
    header = ["id", "lab_iron", "lab_zinc", "walk_steps", "walk_hours", "age"]
    write(tmp_path / "t.csv", header, [[f"p{i}", *row.round(4)] for i, row in enumerate(rows)])
    run("cluster", "t.csv", "--groups", "_", *QUICK)
    model = fnmf.load(tmp_path / "t.csv-clusters" / "model.fnmf")
    assert list(model.feature_groups) == ["lab", "lab", "walk", "walk", "age"]
    assert model.group_relevance_["lab"] > 0.3
    assert model.group_relevance_["lab"] > model.group_relevance_["walk"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["visits.csv", "bought.csv"], "--join COLUMN"),
        (["visits.csv", "--join", "id"], "joins several files"),
        (["visits.csv", "bought.csv", "--join", "id", "--with-columns"], "--with-columns does"),
        (["visits.csv", "bought.csv", "--join", "id", "--transpose"], "--transpose does not go"),
        (["visits.csv", "bought.csv", "--join", "id", "--exclude", "shoes"], "no file has such"),
        (["visits.csv", "twice.csv", "--join", "id"], "several rows of the same name: 'p1'"),
        (["visits.csv", "bought.csv", "--join", "id", "--method", "gnmf"], "knows no groups"),
        (["visits.csv", "--groups", "%"], "no column has it in its name"),
    ],
)
def test_what_cannot_be_joined_is_told(run, tmp_path, tables, words, told):
    write(tmp_path / "twice.csv", ["id", "tea"], [["p1", 1.0], ["p1", 2.0], ["p2", 3.0]])
    result = run("cluster", *words, *QUICK, code=2)
    assert told in " ".join(result.stderr.split())
