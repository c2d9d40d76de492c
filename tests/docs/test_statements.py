"""What pages say of results and rules is so."""

import csv
import importlib.util
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

import fnmf.relevance.choice as choice
from fnmf import choose_n_components
from fnmf.experiments import methods
from fnmf.relevance.candidates import Candidate
from fnmf.relevance.defaults import DEFAULTS
from fnmf.reporting._settings import number_of_clusters

ROOT = Path(__file__).parents[2]
COLUMNS = {
    "UMAP + k-means": "UMAP + KMeans",
    "FNMF": "FNMF",
    "Leiden": "Leiden, 5 nn",
    "GNMF": "GNMF",
    "spectral": "Spectral, 5 nn",
    "k-means": "KMeans",
    "k-means, standardised": "KMeans, standardised",
    "NMF": "NMF + KMeans",
}
ROWS = {
    "iris, columns scaled to [0, 1]": "iris",
    "iris, as it comes": "iris, raw",
    "breast cancer, columns scaled to [0, 1]": "breast_cancer",
    "breast cancer, as it comes": "breast_cancer, raw",
    "wine, as it comes": "wine, raw",
    "digits": "digits",
    "USPS digits": "usps",
    "COIL-20 objects": "coil20",
    "faces in changing light": "warppie10p",
    "TDT2 documents": "tdt2_10",
    "CNAE-9 documents": "cnae-9",
    "Glass": "glass",
}


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def measured():
    """Mean accuracy by data set and method."""
    runs = defaultdict(list)
    with (ROOT / "results/unseen.csv").open(encoding="utf-8") as file:
        for run in csv.DictReader(file):
            if run["part"] in ("sets", "more"):
                runs[run["part"], run["data"], run["method"]].append(float(run["acc"]))
    return {key: float(np.mean(values)) for key, values in runs.items()}


def table_of_readme(number):
    """Head and rows of one of the tables that begin with the column data."""
    part = page("README.md").split("\n| data |")[1 + number].split("\n\n")[0]
    lines = ["| data |" + part.splitlines()[0], *part.splitlines()[2:]]
    cells = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines]
    head, *rows = cells
    return head, {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


def test_the_representation_in_readme_is_what_was_measured():
    head, table = table_of_readme(1)
    with (ROOT / "results/representation.csv").open(encoding="utf-8") as file:
        runs = list(csv.DictReader(file))

    def mean(probe, method, **key):
        sets = {run["data"] for run in runs} if "data" not in key else {key["data"]}
        codes = ("k", "3k") if "data" not in key else ("k",)
        of = [
            [
                float(run[probe])
                for run in runs
                if (run["data"], run["codes"], run["method"]) == (name, length, method)
                and run["noise"] == key["noise"]
            ]
            for name in sets
            for length in codes
        ]
        return f"{np.mean([np.mean(one) for one in of]):.3f}"

    assert len(table) == 9
    for row, cells in table.items():
        key = {} if row.startswith("mean") else {"data": row.lower()}
        for column, cell in cells.items():
            method, _, noise = column.partition(", ")
            if cell:
                probes = [
                    mean(probe, method, noise="5" if noise else "0", **key)
                    for probe in ("linear", "neighbours")
                ]
                assert cell.replace("*", "") == " / ".join(probes), (row, column)
    assert head[1:4] == ["FNMF", "NMF", "PCA"]


def test_the_table_of_readme_is_what_was_measured():
    head, table = table_of_readme(0)
    found = measured()
    assert set(head[1:]) == set(COLUMNS)
    assert set(table) == {*ROWS, "mean of 24 sets"}
    names = {data for part, data, _ in found if part == "sets"}
    assert len(names) == 24
    for column, method in COLUMNS.items():
        mean = np.mean([found["sets", data, method] for data in names])
        assert table["mean of 24 sets"][column] == f"{mean:.3f}"
        for row, data in ROWS.items():
            part = "more" if data.endswith(", raw") else "sets"
            acc = found.get((part, data, method))
            assert table[row][column] == ("–" if acc is None else f"{acc:.3f}"), (row, column)


def test_the_example_of_the_number_of_clusters_is_current():
    number = choose_n_components(load_wine().data, random_state=0)
    lines = [f"`{number}`", number_of_clusters(number)["sentence"]]
    for row in number.scores[:4]:
        mark = " *" if row["k"] == number.n_components else "  "
        lines.append(
            f" {row['k']}{mark}   {row['score']:.3f}   {row['spread']:.3f}   "
            f"{number.price(row['k']):.3f}            {row['features_agree']:.2f}"
            f"                 {row['rows_agree']:.2f}"
        )
    text = page("docs/choosing.md")
    missing = [line for line in lines if line not in text]
    assert not missing, "\n".join(lines)


@pytest.mark.parametrize("second", [True, False])
def test_a_second_test_may_find_structure_that_the_first_does_not(second, monkeypatch):
    text = re.sub(r"\s+", " ", page("docs/relevance.md"))
    assert f"`structure_found_` is true if it is more than {DEFAULTS.beyond_chance:g}." in text
    assert f"agree by at least {DEFAULTS.small:g} (adjusted Rand index) more" in text
    monkeypatch.setattr(choice, "structure", lambda *_: -1.23)
    monkeypatch.setattr(choice, "agrees_beyond_chance", lambda *_: second)
    nothing = np.zeros(3)
    one = Candidate("own", "own", "graph", nothing, nothing, nothing, 0.5, 1.0, 1.0)

    class Context:
        defaults = DEFAULTS
        table = type("Table", (), {"scatter": np.ones(3)})

    best, found, real = choice._best_with_structure(Context(), [one], None)
    assert (best, found, real) == (one, -1.23, second)


@pytest.mark.parametrize("name", ["README.md", *(f"docs/{p.name}" for p in ROOT.glob("docs/*.md"))])
def test_nobody_claims_that_settings_were_not_tuned_on_the_sets_shown(name):
    assert "nobody tuned" not in page(name)


def test_the_default_has_one_name():
    """In the tables as in the package; the article's model says that it is the article's."""
    entries = methods()
    assert entries["FNMF"].fixed == {"weighting": "relevance"}
    assert entries["FNMF (article)"].fixed["weighting"] == "paper"
    for name in ("docs/reproducing.md", "results/README.md", "results/table-acc.md"):
        assert "FNMF-R" not in page(name)
    with (ROOT / "results/runs.csv").open(encoding="utf-8", newline="") as file:
        used = {run["method"] for run in csv.DictReader(file)}
    assert {name for name in used if "FNMF" in name} == {name for name in entries if "FNMF" in name}


def test_every_public_name_is_mentioned_in_a_guide():
    path = ROOT / "benchmarks/house.py"
    spec = importlib.util.spec_from_file_location("house", path)
    house = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(house)
    assert not list(house.unmentioned_names())
