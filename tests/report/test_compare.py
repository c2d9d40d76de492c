"""Two fits side by side, in Python and from the command."""

import copy
import runpy
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fnmf.cli._app import app
from fnmf.reporting import compare
from fnmf.reporting._compare import compare_models

ROOT = Path(__file__).parents[2]


def two_fits(make):
    first = make().model
    second = copy.deepcopy(first)
    # Other names for the same clusters, seven samples elsewhere, one feature more important.
    second.labels_ = np.array(["z", "y", "x"])[first.labels_]
    second.labels_[np.flatnonzero(first.labels_ == 0)[:7]] = "y"
    second.feature_importances_ = first.feature_importances_.copy()
    second.feature_importances_[4] += 0.5
    second.max_iter = 70
    return first, second


def summary_of(first, second):
    return compare_models(
        first, second, names=("a", "b"), feature_names=None, sample_names=None, title=None
    )


def test_samples_that_moved_and_features_that_changed_are_found(make):
    found = summary_of(*two_fits(make))
    assert found["n_moved"] == 7
    assert {(m["from"], m["to"]) for m in found["moved"]} == {("0", "y (matches 1)")}
    assert [m["name"] for m in found["moved"][:2]] == ["row 1", "row 4"]
    assert [f["name"] for f in found["features"]["rows"]] == ["feature 4"]
    assert found["features"]["rows"][0]["change"] == pytest.approx(0.5)
    assert found["parameters"] == [{"name": "max_iter", "first": "50", "second": "70"}]


def test_a_fit_does_not_differ_from_itself(make):
    model = make().model
    found = summary_of(model, model)
    assert found["n_moved"] == 0
    assert found["features"]["rows"] == []
    assert found["sentences"] == ["Every cluster of one has its counterpart in the other."]


def test_divided_and_new_clusters_are_told(make):
    first, second = two_fits(make)
    second.labels_ = first.labels_.copy()
    second.labels_[np.flatnonzero(first.labels_ == 1)[:15]] = 3
    told = " ".join(summary_of(first, second)["sentences"])
    assert "Cluster 1 of a is divided among 1 (25) and 3 (15) of b." in told
    assert "Cluster 3 of b is new; most of it comes from 1 of a (15)." in told


def test_other_samples_are_refused(make):
    with pytest.raises(ValueError, match="fitted on 120 samples, the second on 90"):
        compare(make().model, make(90).model)


def test_the_page_sorts_and_does_not_complain(browser, make, tmp_path):
    compare(*two_fits(make), tmp_path / "c.html", sample_names=[f"<b>{i}" for i in range(120)])
    browser.open(tmp_path / "c.html", width=380)
    assert browser.fit_warnings() == []
    assert browser.fits()
    names = "[...document.querySelectorAll('#samples tbody th')].map(c => c.textContent)"
    assert browser.js(names)[0] == "<b>0"
    browser.js("document.querySelector('#samples thead button').click()")
    assert browser.js(names)[0] == "<b>9"


def test_the_command_compares_two_models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples/make_customers.py"))["write"](Path("customers.csv"))
    fixed = ["--missing", "median", "--shift", "--id-column", "customer", "--restarts", "0"]
    for k in ("3", "4"):
        given = ["cluster", "customers.csv", "-k", k, "-o", f"k{k}", "--max-iter", "20", *fixed]
        result = CliRunner().invoke(app, given)
        assert result.exit_code == 0, result.output
    result = CliRunner().invoke(app, ["report", "k3/model.fnmf", "k4", "-o", "moved.html"])
    assert result.exit_code == 0, result.output
    page = Path("moved.html").read_text(encoding="utf-8")
    assert "k3 and k4 compared" in page
    assert '<th scope="row">C0' in page
    assert "n_clusters" in page
    for wrong, words in (
        (["report", "k3", "k4", "k3"], "3 paths were given"),
        (["report", "k3", "-o", "x.html"], "--out is for comparisons"),
    ):
        result = CliRunner().invoke(app, wrong)
        assert result.exit_code == 2
        assert words in result.stderr
