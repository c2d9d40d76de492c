"""Accuracy and mutual information against brute force, scikit-learn and hand calculation."""

import itertools
import math

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from fnmf.metrics import clustering_accuracy, normalized_mutual_information


def accuracy_by_permutations(true, pred):
    """Try every one-to-one map from clusters to classes, padded with classes that do not exist."""
    classes, clusters = sorted(set(true)), sorted(set(pred))
    partners = [*classes, *[None] * len(clusters)]
    best = 0
    for chosen in itertools.permutations(partners, len(clusters)):
        matching = dict(zip(clusters, chosen, strict=True))
        best = max(best, sum(matching[p] == t for t, p in zip(true, pred, strict=True)))
    return best / len(true)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4])
@pytest.mark.parametrize("n_clusters", [1, 2, 3, 4])
def test_accuracy_equals_all_permutations(n_classes, n_clusters):
    rng = np.random.default_rng(10 * n_classes + n_clusters)
    for _ in range(3):
        true = rng.integers(n_classes, size=30)
        pred = rng.integers(n_clusters, size=30)
        expected = accuracy_by_permutations(true.tolist(), pred.tolist())
        assert clustering_accuracy(true, pred) == pytest.approx(expected, abs=1e-15)


def test_accuracy_equals_all_permutations_of_six():
    rng = np.random.default_rng(0)
    true = rng.integers(6, size=60)
    pred = np.where(rng.uniform(size=60) < 0.6, (true + 2) % 6, rng.integers(6, size=60))
    best = max(np.mean(np.array(order)[pred] == true) for order in itertools.permutations(range(6)))
    assert clustering_accuracy(true, pred) == pytest.approx(best, abs=1e-15)


def test_accuracy_does_not_depend_on_names():
    true = ["cat", "cat", "dog", "dog", "eel"]
    assert clustering_accuracy(true, [7, 7, -1, -1, 3]) == 1.0
    assert clustering_accuracy(true, ["x", "x", "x", "y", "z"]) == 0.8
    assert clustering_accuracy(np.array(true, dtype=object), [1, 1, 1, 1, 1]) == 0.4


def test_accuracy_counts_clusters_without_partner_as_wrong():
    assert clustering_accuracy([0, 0, 0, 0], [0, 1, 2, 3]) == 0.25
    assert clustering_accuracy([0, 1, 2, 3], [5, 5, 5, 5]) == 0.25


@pytest.mark.parametrize("method", ["max", "min", "geometric", "arithmetic"])
def test_mutual_information_equals_scikit_learn(method):
    rng = np.random.default_rng(1)
    true = rng.integers(4, size=80)
    pred = np.where(rng.uniform(size=80) < 0.5, true, rng.integers(6, size=80))
    expected = normalized_mutual_info_score(true, pred, average_method=method)
    found = normalized_mutual_information(true, pred, average_method=method)
    assert found == pytest.approx(expected, abs=1e-15)


def test_mutual_information_by_hand():
    # Classes 2 + 2, clusters 2 + 1 + 1: I = H(classes) = ln 2, H(clusters) = 1.5 ln 2.
    true, pred = [0, 0, 1, 1], [0, 0, 1, 2]
    assert normalized_mutual_information(true, pred) == pytest.approx(2 / 3, abs=1e-14)
    for method, expected in (("min", 1), ("geometric", math.sqrt(2 / 3)), ("arithmetic", 0.8)):
        found = normalized_mutual_information(true, pred, average_method=method)
        assert found == pytest.approx(expected, abs=1e-14)


def test_larger_entropy_is_the_default_and_the_smallest_value():
    rng = np.random.default_rng(2)
    true, pred = rng.integers(3, size=50), rng.integers(7, size=50)
    by_method = [
        normalized_mutual_information(true, pred, average_method=method)
        for method in ("max", "arithmetic", "geometric", "min")
    ]
    assert by_method[0] == normalized_mutual_information(true, pred)
    assert by_method == sorted(by_method)


@pytest.mark.parametrize(
    ("true", "pred", "expected"),
    [([0, 0], [1, 1], 1.0), ([0, 1], [1, 1], 0.0), ([1, 1], [0, 1], 0.0), ([5], ["a"], 1.0)],
)
def test_single_clusters(true, pred, expected):
    assert normalized_mutual_information(true, pred) == pytest.approx(expected)


@pytest.mark.parametrize("score", [clustering_accuracy, normalized_mutual_information])
def test_bad_labels_are_refused(score):
    with pytest.raises(ValueError, match="labels_true and labels_pred are empty"):
        score([], [])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        score([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match="1d array"):
        score([[0, 1], [1, 0]], [0, 1])


def test_unknown_average_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"average_method='mean' is unknown; use \"max\""):
        normalized_mutual_information([0, 1], [0, 1], average_method="mean")
