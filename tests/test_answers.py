"""Scores, descriptions and explanations of fitted models."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, KFold

from fnmf import FNMF
from fnmf.datasets import make_planted_subspaces


@pytest.fixture(scope="module")
def case():
    X, y, features = make_planted_subspaces(150, 3, 5, 30, random_state=3)
    return X, y, features, FNMF(3, random_state=0).fit(X)


def own_features(case, cluster):
    _, y, features, model = case
    return features[np.bincount(y[model.labels_ == cluster]).argmax()]


def test_features_that_pull_are_those_of_the_clusters(case):
    X, _, _, model = case
    for i in (0, 70, 149):
        why = model.explain(i, top=4)
        assert why.cluster == model.labels_[i]
        assert why.second == model.second_labels_[i]
        told = own_features(case, why.cluster) | own_features(case, why.second)
        assert all(told[e.index] for e in why.pulls[:3])
        assert all(e.share > 0 for e in why.pulls)
        assert all(e.share < 0 for e in why.against)
        assert why.pulls[0].value == X[i, why.pulls[0].index]


def test_the_change_does_change_the_cluster(case):
    X, _, _, model = case
    why = model.explain(10)
    assert why.becomes is not None
    row = X[10].copy()
    for change in why.changes:
        row[change.index] = change.to
    assert model.predict(row[None])[0] == why.becomes != why.cluster
    without_last = X[10].copy()
    for change in why.changes[:-1]:
        without_last[change.index] = change.to
    assert model.predict(without_last[None])[0] == why.cluster


def test_nearest_samples_do_not_contain_the_sample(case):
    why = case[3].explain(5)
    assert len(why.nearest) == 5
    assert 5 not in [one.index for one in why.nearest]
    gaps = [one.distance for one in why.nearest]
    assert gaps == sorted(gaps)


def test_values_are_told_in_the_units_asked_for(case):
    X, _, _, model = case
    why = model.explain(0, X=100 * X, feature_names=[f"gene {k}" for k in range(30)])
    plain = model.explain(0)
    assert why.pulls[0].feature == f"gene {plain.pulls[0].index}"
    assert why.pulls[0].value == pytest.approx(100 * plain.pulls[0].value)
    assert why.changes[0].to == pytest.approx(100 * plain.changes[0].to)
    assert "gene" in str(why)


def test_new_rows_and_sparse_models_are_explained_alike(case):
    X, _, _, model = case
    new = model.explain(X[20])
    assert new.confidence is None
    assert new.cluster == model.labels_[20]
    sparse = FNMF(3, random_state=0).fit(sp.csr_array(X)).explain(20)
    assert [e.index for e in sparse.pulls] == [e.index for e in model.explain(20).pulls]


@pytest.mark.parametrize("weighting", ["paper", "uniform"])
def test_other_weightings_are_explained_too(case, weighting):
    X = case[0]
    model = FNMF(3, weighting=weighting, random_state=0).fit(X)
    why = model.explain(3)
    assert why.cluster == model.labels_[3]
    assert why.pulls


def test_a_single_cluster_needs_no_reason(case):
    why = FNMF(1, random_state=0).fit(case[0]).explain(0)
    assert why.pulls == ()
    assert "the only one" in str(why)


@pytest.mark.parametrize(("sample", "told"), [(150, "out of range"), (-1, "too small")])
def test_samples_that_do_not_exist_are_refused(case, sample, told):
    with pytest.raises(ValueError, match=told):
        case[3].explain(sample)


def test_rows_are_explained_one_at_a_time(case):
    with pytest.raises(ValueError, match="one at a time"):
        case[3].explain(case[0][:2])


def test_other_data_than_those_of_the_fit_are_refused(case):
    with pytest.raises(ValueError, match="150"):
        case[3].describe_clusters(case[0][:10])


def test_clusters_are_described_by_their_own_features(case):
    for c, described in enumerate(case[3].describe_clusters(top=3)):
        raised = [e.index for e in described.contrasts if e.effect > 0]
        assert raised
        assert all(own_features(case, c)[k] for k in raised)


def test_score_is_the_modularity_of_predicted_clusters(case):
    X, _, _, model = case
    assert model.score(X) == pytest.approx(0.7 * 2 / 3, abs=0.05)
    shuffled = np.column_stack([np.random.RandomState(k).permutation(X[:, k]) for k in range(30)])
    assert model.score(shuffled) < 0.1
    assert FNMF(1, random_state=0).fit(X).score(X) == pytest.approx(0)


def test_score_guides_a_search_without_a_scorer(case):
    folds = KFold(3, shuffle=True, random_state=0)
    model = FNMF(random_state=0, tol=0.01)
    search = GridSearchCV(model, {"n_components": [2, 3, 6]}, cv=folds).fit(case[0])
    assert search.best_params_ == {"n_components": 3}


def test_too_few_rows_cannot_be_scored(case):
    with pytest.raises(ValueError, match="at least 3"):
        case[3].score(case[0][:2])


def test_answers_show_themselves_and_come_as_frames():
    from fnmf.datasets import make_noisy_gaussians

    X, _ = make_noisy_gaussians(random_state=0)
    model = FNMF(3, tol=1e-2, random_state=0).fit(X)
    why = model.explain(0, feature_names=["<i>", *"bcdefg"])
    assert "&lt;i&gt;" in why._repr_html_()
    assert "Explanation(" not in repr(why)
    frame = model.explain(0, as_frame=True)
    assert list(frame.columns) == ["feature", "value", "own", "second", "share"]
    assert len(frame) == len(why.pulls) + len(why.against)
    assert set(model.describe_clusters(as_frame=True)["cluster"]) == {"0", "1", "2"}
    assert "<table>" in model.describe_clusters()._repr_html_()
