"""How sure, how many: the figures that a model has of itself, as they are drawn."""

import numpy as np
import pytest

import fnmf
from fnmf.choosing import NumberOfClusters
from fnmf.reporting import compare

SCORES = [("k", "i8"), ("score", "f8"), ("spread", "f8"), ("rows_agree", "f8")]


@pytest.fixture
def sure(make, tmp_path):
    """A page of a model that knows how sure it is, and which number it recommends."""

    def _sure():
        case = make()
        model = case.model
        model.sample_confidence_ = np.linspace(0.01, 0.99, 120)
        model.second_labels_ = (model.labels_ + 1) % 3
        model.cluster_stability_ = np.array([0.9, 0.6, 0.2])
        model.feature_qvalues_ = np.array([1e-9, 0.002, 0.003, *np.linspace(0.2, 0.9, 7)])
        scores = np.array([(2, 0.5, 0.1, 0.4), (3, 0.75, 0.1, 0.9), (4, 0.6, 0.1, 0.1)], SCORES)
        labels = np.array([model.labels_ // 2, model.labels_, np.arange(120) % 4])
        choice = NumberOfClusters(3, (3, 4), (), scores, None, labels, np.arange(120))
        path = tmp_path / "report.html"
        fnmf.report(model, case.X, path, choice=choice)
        return path

    return _sure


def test_the_least_and_the_most_sure_sample_end_the_scale_of_colours(browser, sure):
    browser.open(sure(), address="#colour=confidence")
    assert browser.js("document.getElementById('legend').innerText.split(/\\s+/)") == [
        "Confidence",
        "0",
        "1",
    ]
    fills = browser.js(
        "[...document.querySelectorAll('#map-points path')].map(p => p.getAttribute('fill'))"
    )
    # Confidence rises from sample to sample: the green of the scale rises with it.
    green = [int(fill.strip("rgb()").split(",")[1]) for fill in fills]
    assert green == sorted(green)
    assert green[0] < 10
    assert green[-1] > 220


def test_samples_sort_by_confidence(browser, sure):
    browser.open(sure())
    column = (
        "[...document.querySelectorAll('#sample-table tbody tr')].map(r => [r.cells[0].textContent,"
        " r.cells[2].textContent, r.cells[3].textContent])"
    )
    browser.js("document.querySelector('#sample-table [data-key=confidence]').click()")
    assert browser.js(column)[0] == ["row 120", "0.99", "1"]
    browser.js("document.querySelector('#sample-table [data-key=confidence]').click()")
    assert browser.js(column)[0] == ["row 1", "0.01", "2"]


def test_every_cluster_says_whether_it_comes_back(browser, sure):
    browser.open(sure())
    told = browser.js("[...document.querySelectorAll('.answer small')].map(s => s.innerText)")
    for text, words in zip(told, ("solid, 90%", "soft, 60%", "not reproducible, 20%"), strict=True):
        assert f"; {words} comes back" in text
    assert "resamples" in browser.js("document.querySelector('.reading').innerText")


def rates(browser):
    return browser.every("#feature-table tbody tr", "e.cells[4].textContent")


def test_rates_of_false_discoveries_are_told_and_sort(browser, sure):
    browser.open(sure())
    assert rates(browser).count("< 0.0001") == 1
    idle = "document.querySelectorAll('#feature-table tbody tr.idle').length"
    assert browser.js(idle) == 7
    browser.js("document.querySelector('#feature-table [data-key=qvalue]').click()")
    assert rates(browser)[0] == "0.9"
    browser.js("document.querySelector('#feature-table [data-key=qvalue]').click()")
    assert rates(browser)[0] == "< 0.0001"


def test_the_mark_of_chance_stands_where_chance_ends(browser, sure):
    from fnmf.statistics import cluster_statistics

    path = sure()
    browser.open(path)
    shown = browser.every(
        "#feature-table tbody tr",
        "[e.cells[0].textContent, Number(e.querySelector('.fill').getAttribute('width')),"
        " Number(e.querySelector('.chance').getAttribute('x'))]",
    )
    rng = np.random.default_rng(1)
    X = rng.random((120, 10))
    X[np.arange(120), np.arange(120) % 3] += 2
    found = cluster_statistics(X, np.arange(120) % 3)
    for name, width, mark in shown:
        k = int(name.removeprefix("feature "))
        assert width == pytest.approx(120 * found.explained[k], abs=0.1)
        assert mark == pytest.approx(120 * found.chance[k], abs=0.1)


def test_the_choice_of_a_number_is_drawn_with_what_splits(browser, sure):
    browser.open(sure())
    picture = "document.querySelector('.choice svg')"
    assert browser.js(f"{picture}.querySelectorAll('circle').length") == 3
    # The clusters of 2, 3 and 4, and the ground of the numbers that can be defended.
    assert browser.js(f"{picture}.querySelectorAll('rect').length") == 2 + 3 + 4 + 1
    assert browser.js(f"{picture}.querySelector('text[font-weight]').textContent") == "3"
    [[wide, right]] = browser.every(
        ".choice svg", "(b => [b.width, b.right])(e.getBoundingClientRect())"
    )
    assert 400 < wide < right < 1200
    assert "3 clusters fit the data best; 4 would do nearly as well" in browser.js(
        "document.querySelector('.scores').innerText"
    )
    scores = "[...document.querySelectorAll('#run table:first-of-type')][0]"
    browser.js(f"{scores}.querySelectorAll('thead button')[1].click()")
    assert browser.js(f"[...{scores}.tBodies[0].rows].map(r => r.cells[2].textContent)") == [
        "0.750",
        "0.600",
        "0.500",
    ]


def test_the_page_of_one_cluster_does_not_compare_it(browser, make, tmp_path):
    case = make()
    case.model.labels_ = np.zeros(120, dtype=int)
    case.model.sample_confidence_ = np.ones(120)
    case.model.second_labels_ = np.zeros(120, dtype=int)
    case.model.n_components_, case.model.k_interval_ = 1, (1, 1)
    case.model.k_scores_ = np.array([(2, 0.5, 0.1, 0.4), (3, 0.4, 0.1, 0.4)], SCORES)
    fnmf.report(case.model, case.X, tmp_path / "one.html")
    browser.open(tmp_path / "one.html")
    assert browser.fit_warnings() == []
    assert "are one group" in browser.js("document.querySelector('.lead').innerText")
    assert "nothing to set them apart" in browser.js("document.querySelector('.answer').innerText")
    heads = "[...document.querySelectorAll('#sample-table thead button')].map(b => b.textContent)"
    assert not {"Confidence", "Second best"} & set(browser.js(heads))
    assert browser.js("document.getElementById('differences')") is None
    browser.js("document.querySelector('.pick').click()")
    told = browser.js("document.getElementById('selection-text').textContent")
    assert "cluster 1 · all: 120 of 120 samples" in told


def test_bars_beyond_chance_are_explained_where_nothing_was_found(make, tmp_path):
    case = make()
    case.model.structure_found_ = False
    case.model.feature_qvalues_ = np.ones(10)
    page = fnmf.report(case.model, case.X).html
    assert "Bars beyond it prove nothing here" in page
    assert "any cut through the samples divides some features" in page
    case.model.structure_found_ = True
    assert "prove nothing" not in fnmf.report(case.model, case.X).html


def test_classes_that_are_numbers_stand_in_their_order(make):
    case = make(n=132)
    names = np.arange(132) % 11
    page = fnmf.report(case.model, case.X, labels_true=names).html
    places = [page.index(f'class="sort">{k}</button>') for k in range(11)]
    assert places == sorted(places)


@pytest.mark.parametrize("dark", [False, True])
def test_a_comparison_frames_matches_and_fits_screen_and_paper(browser, make, tmp_path, dark):
    first, second = make(k=4).model, make(k=4).model
    second.labels_ = (first.labels_ + 1) % 4
    second.feature_importances_ = second.feature_importances_[::-1].copy()
    compare(first, second, tmp_path / "c.html", names=("before", "after"))
    browser.open(tmp_path / "c.html", dark=dark)
    assert browser.fit_warnings() == []
    framed = browser.every("td.matched", "[e.parentNode.rowIndex, e.cellIndex]")
    # Renamed clusters are the same clusters.
    assert framed == [[1, 2], [2, 3], [3, 4], [4, 1]]
    assert "0 of 120 samples moved" in browser.js("document.querySelector('.lead').innerText")
    change = "#features tbody tr", "Number(e.cells[5].dataset.v)"
    shown = browser.every(*change)
    assert [abs(v) for v in shown] == sorted(map(abs, shown), reverse=True)
    browser.js("document.querySelector('#features thead th:last-child button').click()")
    assert browser.every(*change) == sorted(shown, reverse=True)
    assert browser.on_paper() == []
