"""The page as text: complete, small, self-contained, and deaf to hostile names."""

import json
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fnmf
from fnmf.display import number, visible
from fnmf.reporting.page import json_for_html

HOSTILE = [
    "<script>document.title='owned'</script>",
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
    "</style><style>body{display:none}",
    "<!-- comment",
    "a\u202egnp.exe",
    "line\nbreak\x00\x1b[31m",
    "\ud800 broken",
    "=cmd|' /C calc'!A0",
]


class Elements(HTMLParser):
    """Every element with its attributes, as an independent parser sees them."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.text = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def page_of(case, tmp_path, **options):
    path = tmp_path / "report.html"
    fnmf.report(case.model, case.X, path, **options)
    return path.read_text(encoding="utf-8")


def test_every_section_is_there(make, tmp_path):
    page = page_of(make(), tmp_path, labels_true=["x"] * 120)
    ids = {attrs.get("id") for _, attrs in Elements(page).elements}
    wanted = {"answer", "features", "samples", "differences", "classes", "weights", "run"}
    assert wanted <= ids
    for word in ("ACC", "NMI", "silhouette", "fnmf.load", "smoothness", "Weighting 3", "connected"):
        assert word in page


def test_ids_are_unique_and_links_lead_somewhere(make, tmp_path):
    elements = Elements(page_of(make(), tmp_path)).elements
    ids = [attrs["id"] for _, attrs in elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in elements:
        for key in ("href", "aria-labelledby", "aria-controls", "aria-describedby", "for"):
            if key in attrs:
                assert attrs[key].removeprefix("#") in ids


def test_nothing_is_loaded_and_nothing_inline_is_needed(make, tmp_path):
    page = page_of(make(), tmp_path, image_shape=(2, 5))
    for tag, attrs in Elements(page).elements:
        assert tag not in ("link", "iframe", "object", "embed", "form", "base")
        assert not any(key.startswith("on") for key in attrs)
        assert "style" not in attrs
        assert attrs.get("src", "data:").startswith("data:image/png;base64,") or "src" not in attrs
        if tag == "script":
            assert "src" not in attrs
    policy = next(a["content"] for _, a in Elements(page).elements if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in policy
    # The name space of SVG is not needed inside HTML, so no address at all appears.
    assert "://" not in page


@pytest.mark.parametrize(
    ("n", "d", "k"), [(30, 10, 3), (600, 20, 60), (300, 50_000, 5), (7000, 40, 12)]
)
def test_any_size_stays_below_five_megabytes(make, tmp_path, n, d, k):
    page = page_of(make(n, d, k), tmp_path)
    assert len(page.encode()) < 5_000_000
    assert page.count('class="card" id="cluster-') == k


def test_long_names_of_many_features_stay_below_five_megabytes(make, tmp_path):
    names = [f"{'long name ' * 30}{k}" for k in range(30_000)]
    page = page_of(make(50, 30_000), tmp_path, feature_names=names)
    assert len(page.encode()) < 5_000_000


def test_hostile_names_stay_text(make, tmp_path):
    clean = Elements(page_of(make(d=len(HOSTILE)), tmp_path, notes=["note"] * len(HOSTILE)))
    case = make(d=len(HOSTILE))
    case.model.labels_ = np.array(["<b>x</b>", "{{c}}", "</td>"])[case.model.labels_]
    dirty = Elements(
        page_of(
            case,
            tmp_path,
            title=HOSTILE[1],
            feature_names=HOSTILE,
            sample_names=[HOSTILE[i % len(HOSTILE)] for i in range(120)],
            notes=HOSTILE,
        )
    )
    assert sorted(tag for tag, _ in dirty.elements) == sorted(tag for tag, _ in clean.elements)
    assert any("<script>document.title='owned'</script>" in text for text in dirty.text)
    assert any("{{ 7 * 7 }}" in text for text in dirty.text)
    assert not any(key.startswith("on") for _, attrs in dirty.elements for key in attrs)


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(names=st.lists(st.text(max_size=30), min_size=10, max_size=10), title=st.text(max_size=30))
def test_any_names_give_the_same_elements(make, tmp_path, names, title):
    def count(page):
        tags = [tag for tag, _ in Elements(page).elements]
        return {tag: tags.count(tag) for tag in set(tags)}

    case = make(30)
    samples = (names * 3)[:30]
    plain = count(
        page_of(case, tmp_path, title="t", feature_names=["n"] * 10, sample_names=["s"] * 30)
    )
    odd = count(page_of(case, tmp_path, title=title, feature_names=names, sample_names=samples))
    assert odd == plain


def test_embedded_json_cannot_end_its_element():
    text = json_for_html({"a": "</script><!--&\u2028"})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": "</script><!--&\u2028"}


def test_names_are_one_visible_line():
    assert visible("a\tb\nc") == "a b c"
    assert "\u202e" not in visible("a\u202eb")
    visible("\ud800").encode()
    assert len(visible("x" * 1000)) == 160


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1.0, "1"),
        (0.12345, "0.1235"),
        (123456.7, "123,457"),
        (1.5e-7, "1.50e−07"),
        (-2.5, "−2.5"),
    ],
)
def test_numbers_are_for_people(value, text):
    assert number(value) == text


def test_sparse_data_gives_the_same_page(make, tmp_path):
    case = make()
    case.X[case.X < 0.5] = 0
    dense = page_of(case, tmp_path)
    case.X = sp.csr_array(case.X)
    assert page_of(case, tmp_path) == dense


def test_models_without_weights_or_representation_have_a_page(make, tmp_path):
    case = make()
    for name in ("embedding_", "feature_weights_", "feature_importances_", "history_", "graph_"):
        delattr(case.model, name)
    page = page_of(case, tmp_path)
    assert 'id="weights"' not in page
    assert 'id="differences"' in page


def test_weightings_are_shown_only_where_they_differ(make, tmp_path):
    case = make()
    case.model.feature_weights_[:] = case.model.feature_weights_[0]
    page = page_of(case, tmp_path)
    assert 'id="weights"' not in page
    assert "All 3 weightings coincide" in page


def test_equal_importances_are_not_ranked(make, tmp_path):
    case = make()
    case.model.feature_importances_ = np.full(10, 0.1)
    case.model.feature_weights_ = np.full((1, 10), 0.1)
    case.model.assignments_ = np.ones((120, 1))
    page = page_of(case, tmp_path)
    assert "All features weigh the same in this model" in page
    assert '<td class="number importance">equal</td>' in page


def test_warnings_come_before_the_clusters(make, tmp_path):
    case = make()
    case.model.structure_found_ = False
    page = page_of(case, tmp_path)
    assert page.index("No structure was found") < page.index('<li class="answer"')
    assert "no groups were found: a division of shuffled data is as clear" in page


def test_what_a_model_knows_of_its_certainty_is_shown(make, tmp_path):
    case = make()
    case.model.sample_confidence_ = np.linspace(0.1, 1, 120)
    case.model.second_labels_ = (case.model.labels_ + 1) % 3
    case.model.cluster_stability_ = np.array([0.9, 0.6, 0.2])
    case.model.feature_qvalues_ = np.array([0.001] * 3 + [0.5] * 7)
    fields = [("k", "i8"), ("score", "f8"), ("spread", "f8"), ("rows_agree", "f8")]
    scores = [(2, 0.5, 0.1, 0.4), (3, 0.75, 0.1, 0.9), (4, 0.25, 0.1, 0.1)]
    case.model.k_scores_ = np.array(scores, dtype=fields)
    case.model.n_components_, case.model.k_interval_ = 3, (3, 3)
    case.model.chosen_ = [{"rows": "unit", "score": 7.25}, {"rows": "own", "score": 6.5}]
    page = page_of(case, tmp_path)
    for words in (
        "3 of 10 columns tell them apart",
        "false discovery rate of 10%",
        "60% of the cluster comes back from resamples",
        '<b class="not-reproducible">not reproducible</b>, 20% comes back',
        "Solid from 75%, soft from 50%",
        "median confidence 0.55",
        "3 clusters fit the data best, and clearly so.",
        "Next is 2, with a score lower by 0.25.",
        '3<span class="hidden"> (recommended)</span>',
        "rows agree",
        "Preparations of the data that were tried",
        "7.25",
        "confidence <b>0.55</b>",
        '<option value="confidence">',
    ):
        assert words in page


@pytest.mark.parametrize(
    ("best", "interval", "told"),
    [
        (3, (2, 4), "3 clusters fit the data best; 2 and 4 would do nearly as well."),
        (
            1,
            (1, 1),
            "No clusters were found: no division of the samples is clearer than chance makes it.",
        ),
    ],
)
def test_the_recommended_number_comes_with_what_can_be_defended(
    make, tmp_path, best, interval, told
):
    case = make()
    fields = [("k", "i8"), ("score", "f8"), ("spread", "f8")]
    case.model.k_scores_ = np.array([(2, 0.7, 0), (3, 0.75, 0), (4, -0.1, 0)], dtype=fields)
    case.model.n_components_, case.model.k_interval_ = best, interval
    page = page_of(case, tmp_path)
    assert page.index(told) < page.index('<li class="answer"')


def test_features_that_do_not_matter_are_grey_among_what_sets_clusters_apart(make, tmp_path):
    case = make()
    case.model.feature_qvalues_ = np.array([0.001] * 3 + [0.5] * 7)
    page = page_of(case, tmp_path)
    table = page[page.index('data-apart="0"') :].split("</table>")[0]
    assert 0 < table.count('<tr class="idle">') < table.count("<tr")


def test_collapsed_weights_are_told(make, tmp_path):
    case = make(d=40)
    case.model.feature_weights_ = np.eye(40)[[30, 30, 31]]
    page = page_of(case, tmp_path)
    assert "collapsed" in page
    assert "weighting=&#34;relevance&#34;" in page


def test_stability_compares_with_other_starts(make, tmp_path):
    # Labels of the made-up model do not depend on the start.
    page = page_of(make(), tmp_path, n_restarts=2)
    assert "2 fits from other random starts put 100% of the samples" in page
    assert "100% of the cluster comes back from other starts" in page


def test_without_a_path_the_page_comes_back(make, tmp_path):
    case = make()
    report = fnmf.report(case.model, case.X)
    assert report.html == page_of(case, tmp_path)
    report.save(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == report.html
    (frame,) = Elements(report._repr_html_()).elements
    assert frame[0] == "iframe"
    assert frame[1]["srcdoc"] == report.html


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"feature_names": ["a"]}, "feature_names has 1 names, but X has 10"),
        ({"sample_names": ["a"]}, "sample_names has 1 names, but X has 120"),
        ({"image_shape": (3, 3)}, r"image_shape=\(3, 3\) has 9 pixels"),
        ({"labels_true": ["a"]}, "labels_true has 1 labels, but X has 120"),
    ],
)
def test_wrong_arguments_are_named(make, tmp_path, options, words):
    with pytest.raises(ValueError, match=words):
        page_of(make(), tmp_path, **options)


def test_unfitted_models_are_refused(make, tmp_path):
    case = make()
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError

    case.model = clone(case.model)
    with pytest.raises(NotFittedError):
        page_of(case, tmp_path)


@pytest.mark.parametrize("power", [-305, 200])
def test_values_beyond_single_precision_are_shown_in_units_that_are_told(make, tmp_path, power):
    case = make()
    case.X = case.X * 10.0**power
    page = page_of(case, tmp_path)
    assert "values on this page are in units of 1e" in page
    assert f"e+{power}" not in page
    assert f"e{power}" not in page.replace("units of 1e", "")
