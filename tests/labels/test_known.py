"""What users know of some rows, as they write it."""

import warnings
from ast import literal_eval

import numpy as np
import pytest

from fnmf import SemiFNMF, SemiMiniBatchFNMF, SemiRelevanceClusterer
from fnmf.datasets import make_noisy_gaussians
from fnmf.labels.guidance import Guidance
from fnmf.labels.known import read_labels, with_new
from fnmf.labels.links import Links, contradictions, keep_links, read_links
from fnmf.labels.seeds import Seeds


def test_labels_contradict_links():
    links = read_links("must_link", [(0, 1), (1, 2)], 4), read_links("cannot_link", [(2, 3)], 4)
    assert contradictions(*links, np.array([0, -1, 1, 1]), 2) == [
        "cannot_link (2, 3) against the labels of 2 and 3, which are the same",
        "must_link 0 - 1 - 2 against the labels of 0 and 2, which differ",
    ]


def test_labels_contradict_links_through_chains():
    links = read_links("must_link", [(0, 1), (3, 2)], 4), read_links("cannot_link", [(1, 2)], 4)
    assert contradictions(*links, np.array([0, -1, -1, 0]), 2) == [
        "cannot_link (1, 2) against the labels of 0 and 3, which are the same "
        "(must_link 1 - 0 and 2 - 3)",
    ]
    assert contradictions(*links, np.array([0, -1, -1, 1]), 2) == []


@pytest.mark.parametrize(
    ("must", "cannot", "n_classes", "named"),
    [
        (None, [(0, 1), (1, 2), (0, 2)], 2, ["(0, 1), (1, 2), (0, 2)"]),
        (None, [(0, 1), (1, 2), (0, 2)], 3, []),
        # Five in a ring, one of whose places are two rows that belong together.
        ([(2, 5)], [(0, 1), (1, 2), (5, 3), (3, 4), (4, 0)], 2, [""]),
        (None, [(0, 1), (1, 2), (2, 3), (3, 0)], 2, []),
        (None, [(a, b) for a in range(4) for b in range(a)], 3, [""]),
        (None, [(a, b) for a in range(4) for b in range(a)][1:], 3, []),
        (None, [(4, 5)], 1, ["(4, 5)"]),
    ],
)
def test_links_that_need_more_classes_than_there_are(must, cannot, n_classes, named):
    links = read_links("must_link", must, 6), read_links("cannot_link", cannot, 6)
    found = contradictions(*links, np.full(6, -1), n_classes)
    assert len(found) == len(named)
    for text, pairs in zip(found, named, strict=True):
        assert f"which need more than {n_classes} classes" in text
        listed = sorted(map(tuple, map(sorted, literal_eval(f"[{text[12:].split(', which')[0]}]"))))
        wanted = literal_eval(f"[{pairs}]") or cannot
        assert listed == sorted(map(tuple, map(sorted, wanted)))


def test_links_with_and_without_a_confidence_go_together():
    links = read_links("must_link", {(0, 1)}, 4)
    assert (links.pairs.tolist(), links.sure.tolist()) == ([[0, 1]], [1.0])
    links = read_links("must_link", {(0, 1): 0.8}, 4)
    assert (links.pairs.tolist(), links.sure.tolist()) == ([[0, 1]], [0.8])
    links = read_links("must_link", [(0, 1), (2, 3, 0.9)], 4)
    assert (links.pairs.tolist(), links.sure.tolist()) == ([[0, 1], [2, 3]], [1.0, 0.9])


@pytest.mark.parametrize("links", [5, "ab", [0, 1], [("a", "b")], [(0, 1, 1, 1)], [(0,)]])
def test_what_are_no_pairs_is_refused(links):
    with pytest.raises(ValueError, match="must_link must hold pairs of rows"):
        read_links("must_link", links, 4)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        # NumPy makes texts of numbers that stand beside texts.
        (np.array(["a", -1, np.nan, "b"]), ["a", "b"]),
        (np.array([b"a", b"", b"", b"b"]), ["a", "b"]),
        (np.array(["2020", "NaT", "NaT", "2021"], "M8[Y]"), ["2020", "2021"]),
        (np.array(["2020", "NaT", "NaT", "2021"], "M8[ns]"), ["2020-01-01", "2021-01-01"]),
        # Texts that someone wrote are names.
        (["nan", None, "", "-1"], ["-1", "nan"]),
    ],
)
def test_texts_that_mark_the_unknown(y, classes):
    known = read_labels(y, 4)
    assert known.classes.tolist() == classes
    assert known.rows.tolist() == [0, 3]


def test_a_new_class_has_a_name_of_its_own():
    assert with_new(np.array(["new 1", "old"]), 4).tolist() == ["new 1", "old", "new 2", "new 3"]


def test_sizes_of_classes_go_by_name():
    pd = pytest.importorskip("pandas")
    known = read_labels(["a", "b", "b", "b"], 4)
    counts = pd.Series(["a", "b", "b", "b"]).value_counts()
    assert Guidance(known, class_sizes=counts).sizes(known.classes).tolist() == [0.25, 0.75]


def test_an_unsure_link_gives_way_to_the_data():
    logs = np.log([[0.99, 0.01], [0.99, 0.01]])
    none, free = Links(np.empty((0, 2), int), np.empty(0)), np.full(2, -1)
    for sure, labels in ((0.6, [0, 0]), (1.0, [0, 1])):
        apart = read_links("cannot_link", [(0, 1, sure)], 2)
        assert sorted(keep_links(logs, free, none, apart)) == labels


def test_one_class_is_all_there_is_unless_more_are_asked_for():
    X, y = make_noisy_gaussians(random_state=0)
    only = np.where((y == 1) & (np.arange(len(y)) % 5 == 0), 1, -1)
    for model in (SemiFNMF(max_iter=1), SemiRelevanceClusterer(), SemiMiniBatchFNMF()):
        number = "n_clusters" if isinstance(model, SemiRelevanceClusterer) else "n_components"
        with pytest.warns(UserWarning, match=f"1 is the only class that has labels.*{number}="):
            assert set(model.fit(X, only).predict(X)) == {1}
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "1 is the only class")
            model.set_params(**{number: 3}).fit(X, only)


def test_without_labels_there_are_no_probabilities_and_the_error_says_why():
    X, _ = make_noisy_gaussians(random_state=0)
    for model in (SemiRelevanceClusterer(3), SemiMiniBatchFNMF(3)):
        with pytest.raises(AttributeError, match=r"neither labels nor links.*give some to fit"):
            model.fit(X).predict_proba(X)
        assert not hasattr(model, "predict_proba")
        assert "Probabilities" in type(model).predict_proba.__doc__


def test_the_only_label_of_a_class_is_no_suspect():
    X, y = make_noisy_gaussians(random_state=0)
    given = np.full(len(y), -1)
    for kind in range(3):
        given[np.flatnonzero(y == kind)[: 1 if kind == 2 else 10]] = kind
    model = SemiFNMF(max_iter=1, random_state=0).fit(X, given)
    assert not np.isin(model.suspicious_labels_["given"], [2]).any()


def test_few_labels_say_little_about_sizes():
    # Labels 3 and 1 of ten rows: 4 and 2 parts of six.
    seeds = Seeds(np.arange(4), np.array([0, 0, 0, 1]), np.ones(4, bool))
    np.testing.assert_allclose(seeds.shares(10, 2), [4 / 6, 2 / 6])
    assert seeds.spared.tolist() == [True, True, True, False]
    assert seeds.parts(2, 0)[3] == -1


def test_many_classes_of_one_label_each_are_no_matter():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 30
    X = rng.random((120, 30)) + 3 * np.eye(30)[y]
    given = np.where(np.arange(120) < 30, y, -1)
    assert SemiRelevanceClusterer(random_state=0).fit(X, given).predict(X).shape == (120,)


def test_measurements_are_no_classes():
    X, _ = make_noisy_gaussians(random_state=0)
    told = np.arange(len(X)) % 10 == 0
    with pytest.raises(ValueError, match=r"pass classes, not measurements.*as texts"):
        SemiFNMF().fit(X, np.where(told, X[:, 0], np.nan))
    halves = np.where(told, (X[:, 0] > X[:, 0].mean()) + 0.5, np.nan)
    assert SemiFNMF(max_iter=1).fit(X, halves).classes_.tolist() == [0.5, 1.5]


def test_sizes_of_no_classes_are_told():
    X, _ = make_noisy_gaussians(random_state=0)
    with pytest.warns(UserWarning, match="class_sizes without labels or links"):
        SemiFNMF(3, max_iter=1, class_sizes=[1, 2, 3]).fit(X)
