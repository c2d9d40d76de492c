"""Missing values beside useless features and labels, and values for missing cells."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import minmax_scale

from fnmf import FNMF, MiniBatchFNMF, RelevanceClusterer, SemiFNMF, SemiRelevanceClusterer
from fnmf.metrics import clustering_accuracy
from gaps import fit, with_gaps


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return minmax_scale(X), y


@pytest.mark.parametrize("kind", [SemiFNMF, SemiRelevanceClusterer])
def test_labels_and_links_of_rows_without_any_value(wine, kind):
    X, y = wine
    gaps, known = with_gaps(X, 0.2), np.where(np.arange(len(y)) % 9 == 0, y, -1)
    known[1], empty = 2, [0, 1, 4]
    gaps[empty] = np.nan
    links = {"must_link": [[4, 170], [5, 7], [3, 9]], "cannot_link": [[0, 160], [10, 12]]}
    model = kind(3, random_state=0).fit(gaps, known, **links)
    rest = {"must_link": [[2, 4], [1, 6]], "cannot_link": [[7, 9]]}
    without = kind(3, random_state=0)
    without.fit(np.delete(gaps, empty, axis=0), np.delete(known, empty), **rest)
    np.testing.assert_array_equal(np.delete(model.labels_, empty), without.labels_)
    assert model.rows_without_values_.tolist() == empty
    # Two of them have labels; the third is in the largest class, which nobody knows.
    assert model.transduction_[empty].tolist() == [0, 2, np.bincount(without.labels_).argmax()]
    assert model.sample_confidence_[empty].tolist() == [1, 1, 0]
    assert model.labelled_[empty].tolist() == model.reached_[empty].tolist() == [True, True, False]
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
    old = np.setdiff1d(np.arange(len(y)), empty)
    np.testing.assert_array_equal(model.violated_links_[:, :2], old[without.violated_links_[:, :2]])
    assert model.predict(gaps[empty]).tolist() == [model.transduction_[4]] * 3
    unknown = kind(3, random_state=0, unreached="unknown").fit(gaps, known)
    assert unknown.transduction_[empty].tolist() == [0, 2, -1]
    with pytest.raises(ValueError, match="class 7 is the label of rows without any value only"):
        model.fit(gaps, np.where(np.arange(len(y)) == 4, 7, known))


def test_useless_features_have_no_part_in_what_cells_are_filled_with():
    """By all features clusters are right for .89 of the samples, by those that count for .93."""
    X, y = load_digits(return_X_y=True)
    X, y = X[y < 6][:400], y[y < 6][:400]
    found = []
    for draw in range(3):
        rng = np.random.default_rng(draw)
        rows = np.hstack([X, rng.uniform(0, 16, (len(X), 320))])
        gaps = np.where(rng.random(rows.shape) < 0.4, np.nan, rows)
        labels = RelevanceClusterer(6, random_state=0).fit_predict(gaps)
        found.append(clustering_accuracy(y, labels))
    assert np.mean(found) > 0.91


def test_rows_of_few_features_with_gaps_keep_their_lengths():
    """Cells of this draw made directions look better than they are: .82 of the samples right."""
    X, y = load_breast_cancer(return_X_y=True)
    X = minmax_scale(X)
    gaps = np.where(np.random.default_rng(1).random(X.shape) < 0.3, np.nan, X)
    model = RelevanceClusterer(2, random_state=0).fit(gaps)
    assert {one["rows"] for one in model.chosen_} == {"own"}
    assert clustering_accuracy(y, model.labels_) > 0.92


def test_a_stream_fills_missing_values_from_the_rows_it_keeps(wine):
    X, _ = wine
    gaps = with_gaps(1000 * X, 0.1)
    stream = MiniBatchFNMF(3, random_state=0, batch_size=40).fit(gaps)
    found, missing = stream.impute(gaps), np.isnan(gaps)
    np.testing.assert_array_equal(found[~missing], gaps[~missing])
    means = np.where(missing, np.nanmean(gaps, axis=0), gaps)
    errors = [np.mean((one - 1000 * X)[missing] ** 2) for one in (found, means)]
    assert errors[0] < 0.6 * errors[1]


def test_imputed_values_are_nearer_than_means():
    X = load_digits().data[:600]
    gaps = with_gaps(X, 0.2)
    model = fit(gaps, n_components=10)
    found, missing = model.impute(gaps), np.isnan(gaps)
    np.testing.assert_array_equal(found[~missing], X[~missing])
    assert found.min() >= 0
    error = np.sqrt(np.mean((found - X)[missing] ** 2))
    means = np.broadcast_to(np.nanmean(gaps, axis=0), X.shape)
    assert error < 0.54 * np.sqrt(np.mean((means - X)[missing] ** 2))
    np.testing.assert_array_equal(model.impute(X), X)


def test_paper_weights_cannot_impute(wine):
    assert not hasattr(FNMF(weighting="paper"), "impute")
