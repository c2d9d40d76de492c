"""Layers: one solver, a basis that is a product, and what can be read off it."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

import fnmf
from fnmf import FNMF, DeepFNMF
from fnmf.factorization.solver import product, update_layers
from fnmf.inspection import plot_hierarchy
from fnmf.persistence import ModelFileError
from fnmf.relevance.defaults import DEFAULTS

LAYERS = (16, 8, 4)


def digits():
    X, y = load_digits(return_X_y=True)
    return X[y < 4][:200], X[y < 4][200:240]


def deep(layers=LAYERS, **parameters):
    return DeepFNMF(layers, random_state=0, tol=1e-3, **parameters)


@pytest.fixture(scope="module")
def model():
    return deep().fit(digits()[0])


def test_one_layer_is_fnmf():
    X, new = digits()
    one, single = deep((4,)).fit(X), FNMF(4, random_state=0, tol=1e-3).fit(X)
    np.testing.assert_array_equal(one.embedding_, single.embedding_)
    np.testing.assert_array_equal(one.components_, single.components_)
    np.testing.assert_array_equal(one.labels_, single.labels_)
    np.testing.assert_array_equal(one.transform(new), single.transform(new))
    assert not hasattr(one, "layer_components_")
    assert one.hierarchy_ == ()


def value(layers, cross, grams, gains):
    """Σ_k u_kᵀ M_k u_k − 2 u_k·c_k, as it is written."""
    U = product(layers)
    matrices = np.einsum("jk,jab->kab", gains, grams)
    return np.einsum("ka,kab,kb->", U, matrices, U) - 2 * np.vdot(U, cross)


@pytest.mark.parametrize("solver", ["mu", "mu-fast"])
def test_every_layer_lowers_the_objective(solver):
    rng = np.random.default_rng(0)
    X, V, gains = rng.uniform(size=(30, 9)), rng.uniform(size=(30, 3)), rng.uniform(size=(2, 9))
    grams = np.stack([V[:15].T @ V[:15], V[15:].T @ V[15:]])
    cross = gains[0][:, None] * (X[:15].T @ V[:15]) + gains[1][:, None] * (X[15:].T @ V[15:])
    layers = [rng.uniform(size=shape) for shape in ((9, 6), (6, 4), (4, 3))]
    for _ in range(5):
        before = [layer.copy() for layer in layers]
        update_layers(layers, cross, grams, gains, solver)
        mixed = [[*layers[:done], *before[done:]] for done in range(4)]
        found = [value(one, cross, grams, gains) for one in mixed]
        assert (np.diff(found) < 0).all()


def test_the_objective_falls_when_all_are_trained_together(model):
    for number in set(model.history_["round"]):
        total = model.history_["total"][model.history_["round"] == number]
        assert (np.diff(total) <= 1e-9 * total[:-1]).all()


def test_components_are_the_product_of_the_layers(model):
    assert [layer.shape for layer in model.layer_components_] == [(16, 64), (8, 16), (4, 8)]
    first, second, third = model.layer_components_
    np.testing.assert_allclose(third @ second @ first, model.components_, atol=1e-12)
    assert all((layer >= 0).all() for layer in model.layer_components_)
    assert [part.shape[0] for part in model.layer_products_] == list(LAYERS)


def test_last_parts_are_in_units_of_the_features(model):
    X = digits()[0]
    rows = model.embedding_ @ model.layer_products_[-1]
    used = model._omega.max(axis=0) > 0
    np.testing.assert_allclose(rows[:, used], model.inverse_transform(model.embedding_)[:, used])
    assert model.inverse_transform(model.embedding_).shape == X.shape


def test_shares_of_finer_parts(model):
    assert [share.shape for share in model.hierarchy_] == [(8, 16), (4, 8)]
    for share in model.hierarchy_:
        np.testing.assert_allclose(share.sum(axis=1), 1)
        assert (share >= 0).all()


def test_planted_parts_are_found_below_their_clusters():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 60)
    X = rng.uniform(0, 0.1, (180, 18))
    # Each cluster has two parts of three features, which its samples mix.
    for a in range(3):
        mixed = rng.uniform(0.5, 1.5, (60, 2))
        X[y == a, 6 * a : 6 * a + 6] += np.repeat(mixed, 3, axis=1)
    model = deep((6, 3)).fit(X)
    (shares,) = model.hierarchy_
    fine, coarse = model.layer_products_
    home = fine.reshape(6, 3, 6).sum(axis=2).argmax(axis=1)
    owner = coarse.reshape(3, 3, 6).sum(axis=2).argmax(axis=1)
    assert all(shares[a, home == owner[a]].sum() > 0.8 for a in range(3))


def test_neighbours_are_those_of_the_rows_and_of_the_first_codes(model):
    single = FNMF(4, random_state=0, tol=1e-3).fit(digits()[0])
    assert (model.labels_ == single.labels_).mean() > 0.95
    rows = single.graph_.toarray() > 0
    assert (model.graph_.toarray()[rows] >= single.graph_.toarray()[rows] / 2).all()
    assert (model.graph_.toarray()[~rows] > 0).any()
    np.testing.assert_allclose(model.graph_.sum(), single.graph_.sum())
    np.testing.assert_array_equal(model.feature_weights_, single.feature_weights_)


def test_a_graph_of_the_user_stays_as_it_is():
    X = digits()[0]
    own = FNMF(4, random_state=0, tol=1e-3).fit(X).graph_
    np.testing.assert_array_equal(deep(graph=own).fit(X).graph_.toarray(), own.toarray())


def test_new_rows(model):
    X, new = digits()
    codes = model.transform(X)
    error = np.linalg.norm(codes - model.embedding_) / np.linalg.norm(model.embedding_)
    assert error < 0.25
    assert model.transform(new).shape == (len(new), 4)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_storages_give_the_same_model(model, tmp_path):
    X = digits()[0]
    sparse = deep().fit(sp.csr_array(X))
    np.testing.assert_array_equal(sparse.labels_, model.labels_)
    np.testing.assert_allclose(sparse.components_, model.components_, atol=1e-6)
    np.save(tmp_path / "X.npy", X)
    mapped = deep().fit(np.load(tmp_path / "X.npy", mmap_mode="r"))
    np.testing.assert_array_equal(mapped.embedding_, model.embedding_)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_change_nothing(model, n_jobs):
    again = deep(n_jobs=n_jobs).fit(digits()[0])
    np.testing.assert_array_equal(again.embedding_, model.embedding_)


def test_anchors(monkeypatch):
    changed = replace(DEFAULTS, exact_rows=100, n_anchors=60, sample_rows=80)
    monkeypatch.setattr(DeepFNMF, "_defaults", changed)
    X, new = digits()
    model = deep().fit(X)
    assert model.graph_ is None
    assert len(model.layer_components_) == 3
    assert model.transform(new).shape == (len(new), 4)


def test_model_file(model, tmp_path):
    new = digits()[1]
    fnmf.save(model, tmp_path / "deep.fnmf")
    again = fnmf.load(tmp_path / "deep.fnmf")
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    for one, other in zip(again.hierarchy_, model.hierarchy_, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_file_whose_layers_do_not_fit_is_refused(tmp_path):
    changed = deep().fit(digits()[0])
    changed.layer_components_ = changed.layer_components_[:1]
    fnmf.save(changed, tmp_path / "deep.fnmf")
    with pytest.raises(ModelFileError, match="layer"):
        fnmf.load(tmp_path / "deep.fnmf")


@pytest.mark.parametrize(
    ("layers", "error", "words"),
    [
        ((), TypeError, "layers must be a tuple"),
        (8, TypeError, "layers must be a tuple"),
        ((8, 0), ValueError, "layers=0"),
        ((8, 2.5), TypeError, "layers"),
        ((500, 4), ValueError, "layers=500 is more than the 200 samples"),
    ],
)
def test_layers_that_make_no_sense_are_refused(layers, error, words):
    with pytest.raises(error, match=words):
        deep(layers).fit(digits()[0])


def test_coordinate_descent_has_one_layer_only():
    X = digits()[0]
    with pytest.raises(ValueError, match="layers do not have"):
        deep(solver="hals").fit(X)
    one = deep((4,), solver="hals", representation="clusters").fit(X)
    assert one.components_.shape == (4, 64)


def test_nothing_is_shown_before_a_fit():
    with pytest.raises(NotFittedError):
        _ = deep().hierarchy_


def test_picture_of_the_hierarchy(model):
    figure = plot_hierarchy(model, n_finer=3, image_shape=(8, 8))
    assert len(figure.axes) == 4 * 4
    largest = model.hierarchy_[-1][0].argmax()
    assert figure.axes[1].get_title().startswith(f"{largest}: ")
    names = [f"pixel {k}" for k in range(64)]
    figure = plot_hierarchy(model, layer=1, n_finer=2, feature_names=names, top=3)
    assert len(figure.axes) == 8 * 3
    assert figure.axes[0].get_yticklabels()[0].get_text().startswith("pixel")
    for layer in (0, 3, -3):
        with pytest.raises(ValueError, match="finer parts"):
            plot_hierarchy(model, layer=layer)
    with pytest.raises(ValueError, match="pixels"):
        plot_hierarchy(model, image_shape=(8, 9))
