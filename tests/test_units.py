"""Data in any units give the clusters of the same data in ordinary units."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import fnmf
from fnmf import MappedCSR
from fnmf.baselines import GNMF, NMF
from fnmf.metrics import clustering_accuracy
from fnmf.validation import in_ordinary_units


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    kinds = np.arange(60) % 3
    X = rng.random((60, 8))
    X[np.arange(60), kinds] += 3
    return X, kinds


def model(**changes):
    return fnmf.FNMF(3, tol=1e-3, random_state=0, **changes)


# Not 1e-320: such numbers have lost most of their digits before we see them.
@pytest.mark.parametrize("power", [-300, -100, -45, 45, 80, 300])
@pytest.mark.parametrize("weighting", ["relevance", "uniform"])
def test_units_do_not_change_the_clusters(data, power, weighting):
    X, _ = data
    expected = model(weighting=weighting).fit(X)
    # Beyond the limits both are brought to the same units, so that all is equal but rounding.
    found = model(weighting=weighting).fit(X * 10.0**power)
    assert clustering_accuracy(expected.labels_, found.labels_) == 1
    np.testing.assert_allclose(found.feature_importances_, expected.feature_importances_, atol=0.02)
    assert np.isfinite(found.components_).all()
    np.testing.assert_array_equal(found.predict(X * 10.0**power), found.labels_)


@pytest.mark.parametrize("power", [-40, -15, 12, 37])
@pytest.mark.parametrize("sparse", [False, True])
def test_single_precision_too(data, power, sparse):
    X, _ = data
    scaled = (X * 10.0**power).astype(np.float32)
    expected = model().fit(X.astype(np.float32))
    found = model().fit(sp.csr_array(scaled) if sparse else scaled)
    assert clustering_accuracy(expected.labels_, found.labels_) == 1


def test_a_power_of_two_changes_no_digit(data):
    X, _ = data
    first, second = (model().fit(X * 2.0**power) for power in (300, 700))
    np.testing.assert_array_equal(first.embedding_, second.embedding_)
    assert second.unit_ / first.unit_ == 2.0**400


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, np.float32])
def test_ordinary_data_are_not_copied(data, kind):
    X = kind(data[0])
    keeper = SimpleNamespace()
    assert in_ordinary_units(keeper, X, reset=True) is X
    assert keeper.unit_ == 1


def test_rows_come_back_in_their_own_units(data):
    X, _ = data
    fitted = model(weighting="uniform").fit(X * 1e200)
    back = fitted.inverse_transform(fitted.embedding_)
    assert np.median(back / (X * 1e200)) == pytest.approx(1, rel=0.5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", [NMF, GNMF])
@pytest.mark.parametrize("power", [-200, 200])
def test_factorisations_among_the_competitors_too(data, method, power):
    X, kinds = data
    found = method(n_clusters=3, random_state=0).fit(X * 10.0**power)
    assert clustering_accuracy(kinds, found.labels_) == 1


@pytest.mark.parametrize("sparse", [False, True])
def test_mapped_data_in_extreme_units_are_copied_if_small_and_else_refused(
    data, tmp_path, monkeypatch, sparse
):
    X = data[0] * 1e200
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    if sparse:
        MappedCSR.write(sp.csr_array(X), tmp_path / "x")
        mapped = MappedCSR.open(tmp_path / "x")
    wanted = model().fit(sp.csr_array(X) if sparse else X).labels_
    np.testing.assert_array_equal(model().fit(mapped).labels_, wanted)
    monkeypatch.setattr("fnmf.validation._checks._MOST_COPIED", 100)
    with pytest.raises(ValueError, match="Store X divided by"):
        model().fit(mapped)
