"""RelevanceClusterer takes labels by the code of SemiFNMF."""

import numpy as np
import pytest

from fnmf import RelevanceClusterer, SemiFNMF, load, save
from fnmf.labels import samples_to_label

N = 180


@pytest.fixture(scope="module")
def groups():
    """Three groups on nine features, and nine features of noise."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % 3
    X = rng.uniform(0, 0.4, (N, 9)) + np.eye(3).repeat(3, axis=1)[y]
    return np.hstack([X, rng.uniform(0, 1, (N, 9))]), y


@pytest.fixture(scope="module")
def given(groups):
    return np.where(np.arange(N) < 12, np.array(["ash", "birch", "cedar"])[groups[1]], "")


@pytest.mark.parametrize("y", [np.full(N, -1), [None] * N])
def test_no_labels_change_nothing(groups, y):
    X, _ = groups
    ours, plain = (RelevanceClusterer(3, random_state=0).fit(X, told) for told in (y, None))
    for name in ("labels_", "feature_relevance_", "sample_confidence_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(plain, name))
    np.testing.assert_array_equal(ours.predict(X), plain.predict(X))
    assert not hasattr(ours, "classes_")


def test_classes_are_those_of_the_factorisation(groups, given):
    X, y = groups
    ours = RelevanceClusterer(random_state=0).fit(X, given)
    other = SemiFNMF(random_state=0, tol=0.1).fit(X, given)
    assert ours.classes_.tolist() == ["ash", "birch", "cedar"]
    np.testing.assert_array_equal(ours.label_distributions_, other.label_distributions_)
    np.testing.assert_array_equal(ours.predict(X[:20] + 0.01), other.predict(X[:20] + 0.01))
    assert np.mean(ours.classes_.searchsorted(ours.transduction_) == y) > 0.95
    assert given[samples_to_label(ours, 4)].tolist() == [""] * 4


def test_negative_data_and_more_classes(groups, given):
    X, y = groups
    some = np.where(given == "cedar", "", given)
    model = RelevanceClusterer(3, random_state=0).fit(X - X.mean(axis=0), some)
    assert model.classes_.tolist() == ["ash", "birch", "new 1"]
    assert np.mean((model.transduction_ == "new 1") == (y == 2)) > 0.9


def test_a_model_file_keeps_classes(groups, given, tmp_path):
    X, _ = groups
    model = RelevanceClusterer(random_state=0).fit(X, given, cannot_link=[(0, 1)])
    save(model, tmp_path / "model.fnmf")
    again = load(tmp_path / "model.fnmf")
    np.testing.assert_array_equal(again.predict_proba(X[:9]), model.predict_proba(X[:9]))
    np.testing.assert_array_equal(again.labelled_, given != "")
