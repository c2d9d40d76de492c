"""What a gate lets through by chance must not be heard above the rest."""

import numpy as np
import pytest

from fnmf.relevance.weights import single_weighting
from fnmf.statistics import Moments

N_REAL, N_NOISE = 30, 4000


@pytest.fixture(scope="module")
def rows():
    """Three clusters in thirty features, and noise in units from 0.01 to 100 times theirs."""
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 3
    real = rng.normal(size=(300, N_REAL)) + rng.normal(size=(3, N_REAL))[labels]
    noise = rng.uniform(size=(300, N_NOISE)) * 10 ** rng.uniform(-2, 2, N_NOISE)
    return np.hstack([real, noise]), labels


def moments_of(X, labels):
    centred = X - X.mean(axis=0)
    members = (labels == np.arange(labels.max() + 1)[:, None]).astype(float)
    sums, squares = members @ centred, members @ centred**2
    fourth = (centred**4).sum(axis=0)
    return Moments.from_sums(members.sum(axis=1), X.mean(axis=0), sums, squares, fourth)


def test_noise_that_passes_a_gate_counts_no_more_than_a_real_feature(rows):
    X, labels = rows
    moments = moments_of(X, labels)
    weights, _ = single_weighting(moments, np.ones(X.shape[1]))
    passed = weights[N_REAL:] > 0
    assert passed.sum() > 5
    heard = weights * X.var(axis=0)
    assert heard[N_REAL:].max() <= np.median(heard[:N_REAL]) * 1.5


def test_noise_is_hushed_in_the_units_in_use(rows):
    X, labels = rows
    units = 1 / X.std(axis=0)
    in_units, _ = single_weighting(moments_of(X, labels), units)
    rescaled, _ = single_weighting(moments_of(X * units, labels), np.ones(X.shape[1]))
    np.testing.assert_allclose(in_units, rescaled, atol=1e-9)


def test_clusters_without_meaning_hush_no_feature(rows):
    X, labels = rows
    shuffled = np.random.default_rng(1).permutation(labels)
    noise = X[:, N_REAL : N_REAL + 50]
    moments = moments_of(noise, shuffled)
    weights, _ = single_weighting(moments, np.ones(50))
    loud, _ = single_weighting(moments, np.logspace(-2, 2, 50))
    np.testing.assert_array_equal(weights, loud)
