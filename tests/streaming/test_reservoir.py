"""The sample of a stream: its size, its memory, its form."""

import numpy as np
import pytest
import scipy.sparse as sp

from fnmf.streaming import Reservoir


def fed(n_batches, rate, size, rows=20, seed=0):
    """A reservoir after batches that hold their own number; ``rate`` is −log of the decay."""
    rng = np.random.RandomState(seed)
    reservoir = Reservoir.empty(np.zeros((0, 1)), np.dtype(float))
    for number in range(n_batches):
        batch = np.full((rows, 1), float(number))
        reservoir.add(batch, rate * number, size, rng)
    return reservoir


def test_size_never_grows():
    assert len(fed(50, 0.01, 64)) == 64


def test_without_forgetting_every_row_is_as_likely():
    ages = np.concatenate([fed(40, 0.0, 50, seed=s).rows.ravel() for s in range(60)])
    counts = np.bincount(ages.astype(int), minlength=40)
    expected = counts.sum() / 40
    assert np.sum((counts - expected) ** 2 / expected) < 80  # 39 degrees of freedom


def test_rows_are_drawn_in_proportion_to_what_they_count_for():
    rate = 0.1
    ages = np.concatenate([fed(60, rate, 30, seed=s).rows.ravel() for s in range(200)])
    # A small sample from many rows is nearly one with replacement: shares decay like weights.
    recent, older = np.mean(ages >= 50), np.mean((ages < 50) & (ages >= 40))
    assert older / recent == pytest.approx(np.exp(-rate * 10), rel=0.2)


def test_what_is_forgotten_goes_even_if_there_is_room():
    reservoir = fed(100, 0.5, 10_000)
    assert reservoir.rows.min() >= 99 - np.log(20) / 0.5
    assert len(reservoir) < 200


def test_sparse_and_dense_batches_mix():
    rng = np.random.RandomState(0)
    X = np.random.default_rng(0).uniform(size=(30, 4)) * (np.arange(4) % 2)
    for first, second in ((X, sp.csr_array(X)), (sp.csr_array(X), X)):
        reservoir = Reservoir.empty(first[:0], first.dtype)
        reservoir.add(first, 0.0, 100, rng)
        reservoir.add(second, 0.0, 100, rng)
        assert type(reservoir.rows) is type(first)
        rows = reservoir.rows if isinstance(first, np.ndarray) else reservoir.rows.toarray()
        np.testing.assert_array_equal(np.sort(rows, axis=0), np.sort(np.vstack([X, X]), axis=0))


@pytest.mark.parametrize("size", [20_000, 2_000, 200])
def test_rows_count_in_the_sample_as_they_do_in_the_stream(size):
    """Rows of weight 3 are three quarters of all rows, whether they all have room or few do."""
    rng = np.random.RandomState(0)
    reservoir = Reservoir.empty(np.empty((0, 1)), np.dtype(float))
    counts = np.where(np.arange(2000) % 2 == 0, 3.0, 1.0)
    for _ in range(10):
        reservoir.add(counts[:, None], 0.0, size, rng, counts)
    own = reservoir.sample_weight
    heavy = own[reservoir.rows[:, 0] == 3].sum() / own.sum()
    assert heavy == pytest.approx(0.75, abs=0.08 if size == 200 else 0.03)
    if size == 20_000:
        np.testing.assert_array_equal(own, reservoir.counts)
    reservoir.counts = np.ones(len(reservoir))
    assert reservoir.sample_weight is None
