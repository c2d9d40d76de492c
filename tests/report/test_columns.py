"""Categories as one column, names that can be changed, any two clusters, nothing cut off."""

import re

import numpy as np
import pytest

from fnmf.reporting.page import write_page
from fnmf.reporting.summary import About, summarise

SOURCES = ["visits_per_month", "days_since_last_order", "region", "region", "region", "news", "age"]
NAMES = [*SOURCES[:2], *(f"region={place}" for place in ("north", "south", "coast")), "news=yes"]
NAMES.append("age")


@pytest.fixture
def mixed(make, tmp_path):
    """A page of numbers, a flag and a category, with decisions."""
    rng = np.random.default_rng(0)
    case = make(d=7)
    labels = case.model.labels_
    place = np.where(rng.random(120) < 0.9, labels, rng.integers(0, 3, 120))
    X = np.column_stack(
        [
            rng.normal(3 + 5 * (labels == 0), 0.5),
            rng.normal(10 + 90 * (labels == 1), 5),
            *(place == k for k in range(3)),
            labels == 2,
            rng.normal(40, 10, 120),
        ]
    ).astype(float)
    about = About(
        title="Clients of the spring campaign, all regions",
        feature_names=NAMES,
        sources=SOURCES,
        unit="customers",
        decisions=[{"what": "columns of dates are left out", "why": "w", "otherwise": "--encode"}],
    )
    summary = summarise(case.model, X, about)
    write_page(summary, tmp_path / "mixed.html")
    return tmp_path / "mixed.html", summary


def test_a_category_is_one_column(mixed, browser):
    path, summary = mixed
    assert summary["features"]["count"] == 5
    rows = {row["name"]: row for row in summary["features"]["rows"]}
    assert "region" in rows
    assert not any("region=" in name for name in rows)
    assert rows["region"]["explained"] > 0.5
    told = " ".join(cluster["sentence"] for cluster in summary["clusters"])
    assert "region=north 9" in told
    assert "%" in told
    browser.open(path)
    browser.js(
        "[...document.querySelectorAll('#feature-table .pick')]"
        ".find(b => b.textContent === 'region').click()"
    )
    profile = browser.js("document.querySelector('#profile svg').getAttribute('aria-label')")
    assert "north 9" in profile
    assert "coast" in browser.js("document.getElementById('legend').textContent")
    assert browser.fit_warnings() == []


def test_any_two_clusters_are_compared_on_the_page(mixed, browser):
    path, _ = mixed
    browser.open(path)
    change = "(i => { i.value = %d; i.dispatchEvent(new Event('change')); })"
    change += "(document.getElementById('contrast-%s'))"
    browser.js(change % (1, "a"))
    browser.js(change % (2, "b"))
    rows = browser.every("#contrast tbody tr", "[...e.cells].map(c => c.textContent)")
    first = {row[0]: row[1:] for row in rows}
    assert first["days_since_last_order"][2] == "higher"
    assert float(first["days_since_last_order"][0]) > 90
    assert first["news=yes"][:2] == ["0%", "100%"]
    assert any(name.startswith("region ") for name in first)


def test_names_are_changed_everywhere_and_can_be_downloaded(mixed, browser):
    path, _ = mixed
    browser.open(path)
    browser.js(
        "(i => { i.value = 'frequent, \\'dear\\' ones'; i.dispatchEvent(new Event('input')); })"
        "(document.querySelector('[data-rename=\"0\"]'))"
    )
    assert "frequent, 'dear' ones" in browser.js("document.querySelector('.pick').textContent")
    href = browser.js("decodeURIComponent(document.getElementById('names-file').href)")
    assert href.startswith("data:text/csv")
    assert "1,\"frequent, 'dear' ones\"" in href


@pytest.mark.parametrize("width", [1280, 1400, 1920])
def test_nothing_is_cut_off_on_a_screen(mixed, browser, page, width):
    long = [f"days_since_the_last_order_{k}" for k in range(12)]
    for path in (mixed[0], page(k=5, d=12, confidence=True, feature_names=long)):
        browser.open(path, width=width)
        browser.js("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert browser.cut_off() == []
        assert browser.fits()


def test_on_a_phone_only_tables_scroll(mixed, browser, page):
    for path in (mixed[0], page(k=5, d=12)):
        browser.open(path, width=390)
        browser.js("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert browser.fits()
        cut = browser.cut_off()
        assert all(name.startswith(("DIV.scroll", "FIGURE.choice", "PRE.")) for name in cut), cut


def test_sentences_keep_their_spaces(mixed, browser, page):
    browser.open(mixed[0])
    for selector in (".lead", "figcaption", ".scores", ".sentence"):
        for text in browser.every(selector, "e.innerText"):
            assert not re.search(r"[a-z][.:;][A-Za-z]", text), text
