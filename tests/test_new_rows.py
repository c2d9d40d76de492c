"""The estimator after the fit: representation and clusters of new rows, copies, data frames."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_clusterer
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from estimators import VARIANTS, C, D, N, fit, make_blobs, model
from fnmf import FNMF
from fnmf.metrics import clustering_accuracy


@pytest.fixture(scope="module")
def blobs():
    return make_blobs()


@pytest.mark.parametrize("parameters", VARIANTS)
def test_new_rows_do_not_see_each_other(blobs, parameters):
    X, _ = blobs
    fitted = fit(X, **parameters)
    new = np.random.default_rng(5).uniform(0, 1, (11, D))
    together = fitted.transform(new)
    one_by_one = np.vstack([fitted.transform(row[None]) for row in new])
    backwards = fitted.transform(new[::-1])[::-1]
    np.testing.assert_allclose(together, one_by_one, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(together, backwards, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(together, fitted.transform(sp.csr_array(new)), rtol=1e-6, atol=1e-9)


def test_training_rows_come_back_close_to_their_embedding(blobs):
    X, _ = blobs
    for parameters in ({"max_iter": 500}, {"graph": None}):
        fitted = fit(X, **parameters)
        gap = np.linalg.norm(fitted.transform(X) - fitted.embedding_)
        assert gap < 0.1 * np.linalg.norm(fitted.embedding_)
    # Without a graph both are the same row solve.
    np.testing.assert_allclose(fitted.transform(X), fitted.embedding_, rtol=1e-6, atol=1e-9)


def test_fit_transform_and_fit_predict_return_the_attributes(blobs):
    X, _ = blobs
    fitted = fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        np.testing.assert_array_equal(model().fit_transform(X), fitted.embedding_)
        np.testing.assert_array_equal(model().fit_predict(X), fitted.labels_)


def test_predict_takes_the_nearest_centre_of_the_representation(blobs):
    X, y = blobs
    fitted = fit(X, max_iter=300)
    centres = np.stack([fitted.embedding_[fitted.labels_ == k].mean(0) for k in range(C)])
    codes = fitted.transform(X)
    nearest = ((codes[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    found = fitted.predict(X)
    assert np.mean(found == nearest) > 0.97
    assert np.mean(found == fitted.labels_) > 0.97
    keep = np.arange(N) != 7
    assert clustering_accuracy(y[keep], found[keep]) == 1.0


def test_clusterer_contract(blobs):
    X, y = blobs
    keep = np.arange(N) != 7
    fitted = fit(X, max_iter=300)
    assert is_clusterer(fitted)
    assert clustering_accuracy(y[keep], fitted.labels_[keep]) == 1.0
    assert fitted.labels_.dtype.kind == "i"
    np.testing.assert_array_equal(np.unique(fitted.labels_), np.arange(C))
    more = fit(X, n_clusters=5)
    np.testing.assert_array_equal(np.unique(more.labels_), np.arange(5))
    shuffled = np.random.default_rng(0).permutation(N)
    assert clustering_accuracy(fit(X[shuffled]).labels_, fitted.labels_[shuffled]) > 0.9
    assert set(fit(X, n_components=1, n_clusters=1).labels_) == {0}


def test_unfitted_model_says_so(blobs):
    for method in ("transform", "predict"):
        with pytest.raises(NotFittedError):
            getattr(model(), method)(blobs[0])


def test_outputs_can_be_data_frames(blobs):
    X = pd.DataFrame(blobs[0], columns=[f"gene{k}" for k in range(D)], index=range(100, 100 + N))
    fitted = fit(X)
    assert fitted.feature_names_in_.tolist() == X.columns.tolist()
    names = ["fnmf0", "fnmf1", "fnmf2"]
    assert fitted.get_feature_names_out().tolist() == names
    frame = fitted.set_output(transform="pandas").transform(X)
    assert frame.columns.tolist() == names
    assert frame.index.tolist() == X.index.tolist()
    assert fitted.predict(X).shape == (N,)


def test_clone_and_pickle(blobs):
    X, _ = blobs
    fitted = fit(X)
    again = clone(fitted)
    assert not hasattr(again, "components_")
    assert again.get_params() == fitted.get_params()
    restored = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(restored.transform(X), fitted.transform(X))
    np.testing.assert_array_equal(restored.predict(X), fitted.predict(X))


def test_inverse_transform_reconstructs_in_the_units_of_the_data(blobs):
    X, _ = blobs
    uniform = {"weighting": "uniform", "graph": None, "solver": "hals", "max_iter": 300}
    fitted = fit(X, n_components=8, **uniform)
    back = fitted.inverse_transform(fitted.transform(X))
    assert back.shape == X.shape
    assert np.linalg.norm(back - X) < 0.05 * np.linalg.norm(X)
    with pytest.raises(AttributeError, match="inverse_transform"):
        _ = fit(X).inverse_transform


def test_rows_of_a_fit_keep_their_codes():
    X = load_wine().data
    model = FNMF(3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    assert np.abs(model.transform(1.001 * X) - model.embedding_).max() < 0.1
