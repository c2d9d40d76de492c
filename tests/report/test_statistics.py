"""Cluster statistics against their definitions."""

import numpy as np
import pytest
import scipy.sparse as sp

from fnmf.reporting._samples import chosen_samples
from fnmf.statistics import _clusters as _statistics
from fnmf.statistics import cluster_statistics, top_indices


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("cells", [1, 50, 1 << 22])
def test_statistics_equal_their_definitions(kind, cells, monkeypatch):
    monkeypatch.setattr(_statistics, "_CELLS_AT_ONCE", cells)
    rng = np.random.default_rng(0)
    X = rng.random((40, 7)) * (rng.random((40, 7)) > 0.5)
    X[:, 3] = 2.5
    labels = rng.choice(["a", "b", "c"], 40)
    stats = cluster_statistics(kind(X), labels)
    for c, name in enumerate(["a", "b", "c"]):
        mask = labels == name
        np.testing.assert_allclose(stats.means[c], X[mask].mean(axis=0))
        np.testing.assert_allclose(stats.rest[c], X[~mask].mean(axis=0))
    np.testing.assert_allclose(stats.spread, X.std(axis=0), atol=1e-7)
    fitted = stats.means[stats.codes]
    live = np.arange(7) != 3
    np.testing.assert_allclose(
        stats.explained[live], (fitted.var(axis=0) / np.where(live, X.var(axis=0), 1))[live]
    )
    assert stats.explained[3] == 0
    assert np.isfinite(stats.effect).all()


def test_labels_must_fit_the_data():
    with pytest.raises(ValueError, match="3 samples, and there are 2 labels"):
        cluster_statistics(np.ones((3, 2)), [0, 1])


def test_a_sample_of_every_cluster_is_drawn():
    codes = np.repeat([0, 1, 2], [100_000, 3, 1])
    chosen = chosen_samples(codes, 1000)
    assert set(codes[chosen]) == {0, 1, 2}
    assert len(chosen) <= 1100


def test_top_indices_are_the_largest_and_break_ties_by_position():
    values = np.array([1.0, 3, 3, 2, 3])
    assert top_indices(values, 2) == [1, 2]
    assert top_indices(values, 9) == [1, 2, 4, 3, 0]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("power", [-300, 300])
def test_statistics_do_not_depend_on_units(kind, power):
    rng = np.random.default_rng(0)
    X, labels = rng.random((40, 5)) * (rng.random((40, 5)) > 0.3), np.arange(40) % 3
    ordinary = cluster_statistics(kind(X), labels)
    extreme = cluster_statistics(kind(X * 10.0**power), labels)
    for name in ("explained", "chance", "effect"):
        np.testing.assert_allclose(getattr(extreme, name), getattr(ordinary, name), rtol=1e-9)
    np.testing.assert_allclose(extreme.means, ordinary.means * 10.0**power, rtol=1e-9)
    np.testing.assert_allclose(extreme.spread, ordinary.spread * 10.0**power, rtol=1e-9)
