"""Labels and links guide a fit, and never silently."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine

from fnmf import (
    FNMF,
    RelevanceClusterer,
    SemiFNMF,
    SemiRelevanceClusterer,
    load,
    save,
)
from fnmf.labels import samples_to_label
from fnmf.relevance.defaults import DEFAULTS

N = 180


def made(n_samples):
    """Three groups on nine features, and nine features of noise."""
    rng = np.random.default_rng(0)
    y = np.arange(n_samples) % 3
    X = rng.uniform(0, 0.4, (n_samples, 9)) + np.eye(3).repeat(3, axis=1)[y]
    return np.hstack([X, rng.uniform(0, 1, (n_samples, 9))]), y


@pytest.fixture(scope="module")
def groups():
    return made(N)


def some(y, count=4):
    """Labels of the first rows of each class, -1 elsewhere."""
    given = np.full(len(y), -1)
    for code in np.unique(y):
        given[np.flatnonzero(y == code)[:count]] = code
    return given


def fitted(X, y=None, **options):
    links = {name: options.pop(name) for name in ("must_link", "cannot_link") if name in options}
    return SemiFNMF(random_state=0, tol=0.1, **options).fit(X, y, **links)


@pytest.mark.parametrize("y", [None, np.full(N, -1), [None] * N, [""] * N, np.full(N, np.nan)])
def test_without_labels_it_is_fnmf(groups, y):
    X, _ = groups
    ours = fitted(X, y, n_components=3)
    plain = FNMF(3, random_state=0, tol=0.1).fit(X)
    np.testing.assert_array_equal(ours.embedding_, plain.embedding_)
    np.testing.assert_array_equal(ours.labels_, plain.labels_)
    np.testing.assert_array_equal(ours.predict(X), plain.predict(X))
    assert not hasattr(ours, "classes_")
    assert not hasattr(ours, "predict_proba")


def test_few_labels_name_all_rows(groups):
    X, y = groups
    model = fitted(X, some(y, 1))
    assert np.mean(model.transduction_ == y) > 0.95
    assert model.n_components_ == 3


def test_marks_of_the_unknown_are_the_same(groups):
    X, y = groups
    given = some(y)
    texts = np.array(["ash", "birch", "cedar"], object)[y]
    named = [texts[i] if given[i] >= 0 else (None, "", np.nan, -1)[i % 4] for i in range(N)]
    floats = np.where(given >= 0, given, np.nan)
    by_texts, by_floats, by_codes = fitted(X, named), fitted(X, floats), fitted(X, given)
    assert by_texts.classes_.tolist() == ["ash", "birch", "cedar"]
    assert by_floats.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(by_texts.labels_, by_codes.labels_)
    np.testing.assert_array_equal(by_floats.transduction_, by_codes.transduction_)
    assert set(by_texts.predict(X[:5])) <= set(by_texts.classes_)


def wrong_label(y):
    given = some(y, 12)
    given[0] = (given[0] + 1) % 3
    return given


def test_a_wrong_label_is_kept_and_listed(groups):
    X, y = groups
    given = wrong_label(y)
    model = fitted(X, given)
    told = given >= 0
    np.testing.assert_array_equal(model.transduction_[told], given[told])
    first = model.suspicious_labels_[0]
    assert (first["row"], first["given"], first["suggested"]) == (0, given[0], y[0])
    assert first["probability"] > 0.5


def test_a_wrong_label_is_replaced_if_labels_are_not_trusted(groups):
    X, y = groups
    model = fitted(X, wrong_label(y), trust_labels=False)
    assert model.transduction_[0] == y[0]


def test_a_class_that_nobody_labelled_is_new(groups):
    X, y = groups
    given = some(y, 8)
    given[y == 2] = -1
    model = fitted(X, given, n_components=3)
    assert model.classes_.tolist() == ["0", "1", "new 1"]
    assert np.mean((model.transduction_ == "new 1") == (y == 2)) > 0.95


def test_probabilities_belong_to_the_classes(groups):
    X, y = groups
    model = fitted(X, some(y))
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))
    assert np.mean(model.predict(X + 0.001) == y) > 0.95
    given = some(y) >= 0
    np.testing.assert_array_equal(model.label_distributions_[given].max(axis=1), 1)


def test_labels_make_features_count_that_clusters_do_not_show():
    rng = np.random.default_rng(1)
    X = np.hstack([rng.uniform(0, 0.3, (200, 6)) + np.eye(2).repeat(3, axis=1)[np.arange(200) % 2]])
    side = rng.uniform(0, 1, 200)
    X = np.hstack([X, side[:, None], rng.uniform(0, 1, (200, 5))])
    y = (side > 0.5).astype(int)
    given = np.where(rng.uniform(size=200) < 0.5, y, -1)
    model = fitted(X, given)
    assert model.label_relevance_.argmax() == 6
    assert np.count_nonzero(model.label_relevance_) == 1
    free = given < 0
    assert np.mean(model.transduction_[free] == y[free]) > 0.9


def test_few_labels_prove_nothing_about_features(groups):
    X, y = groups
    assert not fitted(X, some(y, 1)).label_relevance_.any()


def test_unreached_rows_are_unknown_on_request():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.uniform(0, 0.1, (30, 4)) + np.eye(3, 4)[i] for i in range(3)])
    y = np.full(90, -1)
    y[:3], y[30:33] = 5, 7
    graph = sp.csr_array(np.kron(np.eye(3), np.ones((30, 30))) - np.eye(90))
    unknown = fitted(X, y, graph=graph, unreached="unknown", row_norm="none")
    assert (unknown.transduction_[60:] == -1).all()
    assert (unknown.transduction_[:30] == 5).all()
    nearest = fitted(X, y, graph=graph, row_norm="none")
    assert set(nearest.transduction_[60:]) <= {5, 7}


def test_class_sizes_are_met(groups):
    X, y = groups
    sizes = {0: 60, 1: 60, 2: 60}
    model = fitted(X, some(y, 1), class_sizes=sizes)
    assert np.abs(np.bincount(model.labels_) - 60).max() <= 6
    with pytest.raises(ValueError, match="size of class '2'"):
        fitted(X, some(y), class_sizes={0: 1, 1: 1})


def test_links_are_kept(groups):
    X, y = groups
    rng = np.random.default_rng(0)
    pairs = rng.choice(N, (60, 2), replace=False) if N >= 120 else None
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    model = fitted(X, n_components=3, must_link=pairs[same], cannot_link=pairs[~same])
    assert len(model.violated_links_) == 0
    assert model.contradictory_links_ == []
    # A link that the data contradict is kept as well.
    odd = np.flatnonzero(y == 0)[0], np.flatnonzero(y == 1)[0]
    model = fitted(X, some(y)[::1], must_link=[(odd[0] + 90, odd[1] + 90)])
    assert model.transduction_[odd[0] + 90] == model.transduction_[odd[1] + 90]


def test_links_that_contradict_through_a_chain_are_named(groups):
    X, y = groups
    with pytest.warns(UserWarning, match="cannot_link \\(3, 9\\) against must_link 3 - 6 - 9"):
        model = fitted(X, some(y), must_link=[(3, 6), (6, 9)], cannot_link=[(3, 9)])
    assert model.violated_links_.tolist() == [[3, 9, 0]]
    assert len(model.contradictory_links_) == 1


def test_links_that_need_a_third_class_are_named(groups):
    X, _ = groups
    with pytest.warns(UserWarning, match="need more than 2 classes"):
        model = fitted(X, n_components=2, cannot_link=[(0, 1), (1, 2), (0, 2)])
    assert len(model.violated_links_) == len(model.contradictory_links_) == 1


def test_anchors_carry_labels(groups, monkeypatch):
    X, y = groups
    monkeypatch.setattr(SemiFNMF, "_defaults", replace(DEFAULTS, exact_rows=50, n_anchors=40))
    model = fitted(X, some(y))
    assert model.graph_ is None
    assert np.mean(model.transduction_ == y) > 0.95
    assert np.mean(model.predict(X) == y) > 0.95


def test_threads_do_not_change_a_class(groups):
    X, y = groups
    one, two = (fitted(X, some(y), n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.label_distributions_, two.label_distributions_)


def test_a_model_file_keeps_classes(groups, tmp_path):
    X, y = groups
    texts = np.array(["ash", "birch", "cedar", ""])[some(y)]
    model = fitted(X, texts)
    save(model, tmp_path / "model.fnmf")
    again = load(tmp_path / "model.fnmf")
    np.testing.assert_array_equal(again.predict_proba(X[:9]), model.predict_proba(X[:9]))
    np.testing.assert_array_equal(again.predict(X[:9]), model.predict(X[:9]))
    np.testing.assert_array_equal(again.suspicious_labels_, model.suspicious_labels_)


def test_a_fit_without_labels_forgets_classes(groups):
    X, y = groups
    model = fitted(X, some(y)).set_params(n_components=3)
    model.fit(X)
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "transduction_")


@pytest.mark.parametrize(
    ("y", "options", "told"),
    [
        (np.zeros(5), {}, "one label for each of 180"),
        (np.arange(N), {"n_components": 3}, "not measurements"),
        (np.zeros(N), {"weighting": "paper"}, "ties of a graph"),
        (np.zeros(N), {"consensus": 3}, "consensus"),
        (np.zeros(N), {"unreached": "maybe"}, "unreached"),
        (np.full(N, np.inf), {}, "infinite"),
        ([[1]] * (N - 1) + [[1, 2]], {}, "one class for each sample"),
        (np.zeros(N), {"class_sizes": {0: 1, 7: 2}}, "'7', which is none of the classes 0"),
        (np.zeros(N), {"class_sizes": {7: 2}}, "size of class '0'"),
        (np.zeros(N), {"class_sizes": "many"}, "1 positive numbers"),
        (None, {"must_link": [(0, 999)]}, "no rows of X"),
        (None, {"must_link": [(1, np.nan)]}, "no rows of X"),
        (None, {"must_link": [(1, 1)]}, "with itself"),
        (None, {"cannot_link": [(0, 1, 0.2)]}, "confidence"),
    ],
)
def test_what_makes_no_sense_is_refused(groups, y, options, told):
    with pytest.raises(ValueError, match=told):
        fitted(groups[0], y, **options)


def test_trust_is_yes_or_no(groups):
    with pytest.raises(TypeError, match="trust_labels must be True or False"):
        fitted(groups[0], some(groups[1]), trust_labels="no")


def test_dask_arrays_are_predicted(groups):
    da = pytest.importorskip("dask.array")
    X, y = groups
    texts = np.array(["ash", "birch", "cedar", ""])[some(y)]
    lazy = da.from_array(X, chunks=(70, -1))
    model = fitted(X, texts)
    np.testing.assert_array_equal(model.predict(lazy).compute(), model.predict(X))
    np.testing.assert_array_equal(model.predict_proba(lazy).compute(), model.predict_proba(X))


@pytest.mark.parametrize("kind", [SemiFNMF, SemiRelevanceClusterer])
def test_a_fit_of_a_dask_array_is_that_of_anchors(kind):
    da = pytest.importorskip("dask.array")
    X, y = made(2 * N)
    texts = np.array(["ash", "birch", "cedar", ""])[some(y)]
    texts[0] = "birch"
    lazy = da.from_array(X, chunks=(70, -1))
    links = {"must_link": [(50, 51)], "cannot_link": [(60, 63)]}

    class Anchored(kind):
        # Half of so many rows are a sample.
        _defaults = replace(DEFAULTS, exact_rows=2 * N - 1)

    there = Anchored(random_state=0, unreached="unknown").fit(lazy, da.from_array(texts), **links)
    here = Anchored(random_state=0, unreached="unknown").fit(X, texts, **links)
    np.testing.assert_array_equal(there.transduction_.compute(), here.transduction_)
    np.testing.assert_allclose(
        there.label_distributions_.compute(), here.label_distributions_, atol=1e-6
    )
    np.testing.assert_array_equal(there.labels_.compute(), here.labels_)
    for name in ("row", "given", "suggested"):
        np.testing.assert_array_equal(there.suspicious_labels_[name], here.suspicious_labels_[name])
    # Sums by block round otherwise than those of the whole, as above.
    probabilities = (m.suspicious_labels_["probability"] for m in (there, here))
    np.testing.assert_allclose(*probabilities, atol=1e-6)
    assert there.suspicious_labels_["row"][0] == 0
    assert there.transduction_[0].compute() == "birch"
    assert there.transduction_[50].compute() == there.transduction_[51].compute()
    assert there.transduction_[60].compute() != there.transduction_[63].compute()
    free = texts == ""
    names = np.array(["ash", "birch", "cedar"])[y]
    linked = np.isin(np.arange(len(y)), (50, 51, 60, 63))
    assert np.mean(here.transduction_[free & ~linked] == names[free & ~linked]) > 0.95
    np.testing.assert_array_equal(there.predict(lazy).compute(), there.predict(X))


def test_a_clusterer_takes_labels_of_any_real_data(groups, tmp_path):
    X, y = groups
    X = X - X.mean(axis=0)
    plain = RelevanceClusterer(3, random_state=0).fit(X, y)
    without = SemiRelevanceClusterer(3, random_state=0).fit(X)
    np.testing.assert_array_equal(plain.labels_, without.labels_)
    np.testing.assert_array_equal(plain.predict(X), without.predict(X))
    assert not hasattr(without, "predict_proba")
    model = SemiRelevanceClusterer(random_state=0).fit(X, some(y))
    assert model.n_clusters_ == 3
    assert np.mean(model.transduction_ == y) > 0.95
    np.testing.assert_array_equal(model.predict(X), model.transduction_)
    np.testing.assert_allclose(model.predict_proba(X), model.label_distributions_)
    assert model.get_support()[:9].all()
    save(model, tmp_path / "model.fnmf")
    again = load(tmp_path / "model.fnmf")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert (y[samples_to_label(again, 5)] >= 0).all()


def test_columns_of_a_table_count_beyond_its_clusters_for_new_rows_too(tmp_path):
    X, y = load_wine(return_X_y=True)
    seen, new = np.split(np.random.default_rng(0).permutation(len(y)), [120])
    model = fitted(X[seen], some(y[seen]), n_clusters=2)
    # Less than sure clusters: no column is left out of what labels spread by.
    assert model._spread_by.min() > 0
    assert np.mean(model.predict(X[new]) == y[new]) > 0.9
    assert np.isfinite(model.score(X[new]))
    save(model, tmp_path / "model.fnmf")
    again = load(tmp_path / "model.fnmf")
    np.testing.assert_array_equal(again.predict_proba(X[new]), model.predict_proba(X[new]))


def test_rows_worth_a_label_need_a_representation(groups):
    model = RelevanceClusterer(3, random_state=0).fit(groups[0])
    with pytest.raises(ValueError, match="no representation of rows; use SemiFNMF"):
        samples_to_label(model)
