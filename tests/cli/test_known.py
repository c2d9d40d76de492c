"""Classes of some rows from the shell: a messy file in, names, doubts and advice out."""

import csv
import json

import numpy as np
import pytest

NAMES = ("frequent", "rare, dear", "=bargain")
QUICK = ["--restarts", "0", "--max-iter", "20"]


@pytest.fixture
def shop(tmp_path):
    """Decimal commas, a text column, a missing cell, blank labels, "?", and one wrong label."""
    rng = np.random.default_rng(0)
    kinds = np.arange(120) % 3
    X = rng.random((120, 6))
    X[np.arange(120), kinds] += 1.5
    with open(tmp_path / "shop.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["customer", "city", "kind", *(f"item {k}" for k in range(6))])
        for i, row in enumerate(X):
            cells = [f"{value:.3f}".replace(".", ",") for value in row]
            label = NAMES[kinds[i]] if i % 4 == 0 else " " * (i % 3)
            if i == 8:
                label = NAMES[(kinds[i] + 1) % 3]
            if i == 5:
                label, cells[2] = "?", ""
            writer.writerow([f"C{i:03d}", "Rome", label, *cells])
    return kinds


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_known_classes_name_all_rows(run, tmp_path, shop):
    result = run("cluster", "shop.csv", "--known", "kind", "--na", "?", *QUICK)
    folder = tmp_path / "shop.csv-clusters"
    found = rows_of(folder / "labels.csv")
    named = [row["name"].lstrip("'") for row in found]
    given = [row["label"] not in ("", "?") for row in found]
    right = np.array(named) == np.array(NAMES)[shop]
    assert right[~np.array(given)].mean() > 0.95
    assert all(0 <= float(row["confidence"]) <= 1 for row in found)
    # The wrong label is kept, listed in all three places, and nothing ran as a formula.
    assert named[8] == NAMES[(shop[8] + 1) % 3]
    first = rows_of(folder / "suspicious.csv")[0]
    assert (first["id"], first["suggested"].lstrip("'")) == ("C008", NAMES[shop[8]])
    assert "C008" in result.output.split("suspicious label")[1]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Suspicious labels" in page
    assert "rare, dear" in page
    asked = rows_of(folder / "label-next.csv")
    assert len(asked) == 10
    assert not any(given[int(row["id"][1:])] for row in asked)
    record = json.loads((folder / "run.json").read_text())
    assert record["known"] == "kind"
    assert sum(one["given"] for one in record["labels"]["classes"]) == sum(given)


def test_what_follows_a_run_knows_its_classes(run, tmp_path, shop):
    run("cluster", "shop.csv", "--known", "kind", "--na", "?", *QUICK)
    run("apply", "shop.csv-clusters", "shop.csv", "--exclude", "kind")
    applied = rows_of(tmp_path / "shop.csv-applied/labels.csv")
    trained = rows_of(tmp_path / "shop.csv-clusters/labels.csv")
    assert [row["name"] for row in applied] == [row["name"] for row in trained]
    asked = json.loads(run("label-next", "shop.csv-clusters", "-n", 4, "--json").output)["rows"]
    assert len({row["row"] for row in asked}) == 4
    assert "C" in run("label-next", "shop.csv-clusters").output
    page = tmp_path / "shop.csv-clusters/report.html"
    before = page.read_text(encoding="utf-8")
    run("report", "shop.csv-clusters")
    assert page.read_text(encoding="utf-8").count("Suspicious labels") == before.count(
        "Suspicious labels"
    )


def test_a_run_without_classes_has_rows_worth_a_label(run, shop):
    run("cluster", "shop.csv", "-k", 3, "--exclude", "kind", *QUICK)
    asked = json.loads(run("label-next", "shop.csv-clusters", "-n", 6, "--json").output)["rows"]
    assert {shop[int(row["row"][1:])] for row in asked} == {0, 1, 2}


def test_more_clusters_than_classes_are_new(run, tmp_path, shop):
    text = (tmp_path / "shop.csv").read_text(encoding="utf-8")
    (tmp_path / "shop.csv").write_text(text.replace("=bargain", ""), encoding="utf-8")
    result = run("cluster", "shop.csv", "--known", "kind", "-k", 3, "--na", "?", *QUICK)
    assert "new 1" in result.output


def test_doubtful_names_of_classes_are_told(run, tmp_path, shop):
    text = (tmp_path / "shop.csv").read_text(encoding="utf-8")
    (tmp_path / "shop.csv").write_text(text.replace("frequent", "Frequent", 1), encoding="utf-8")
    told = run("cluster", "shop.csv", "--known", "kind", *QUICK).output
    assert "'Frequent' and 'frequent' are different classes" in told
    assert "--na ? makes it unknown" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--known", "sort"], "has no column 'sort'"),
        (["--known", "city"], "--known city: 'Rome' is the only class"),
        (["--known", "customer"], "--known customer: all 120 cells are different"),
        (["--known", "kind", "-k", "2"], "-k 2 is fewer than the 4 classes of --known kind"),
        (["--known", "kind", "--method", "kmeans"], "--known works with --method FNMF"),
        (["--known", "kind", "--label-column", "city"], "--label-column only scores"),
        (["--known", "kind", "--names", "a,b,c"], "--names does not go with --known"),
        (["--known", "kind", "--memory", "1GB"], "--known cannot be had"),
        (["--known", "kind", "--exclude", "kind"], "--known and --exclude"),
        (["--known", "kind", "--weighting", "paper"], "--weighting"),
    ],
)
def test_what_contradicts_known_classes_is_refused(run, shop, words, told):
    assert told in run("cluster", "shop.csv", *words, code=2).stderr
