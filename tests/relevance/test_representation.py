"""Codes as smooth as suits the representation; clusters do not depend on it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csgraph
from sklearn.datasets import load_digits

from fnmf import FNMF
from fnmf.relevance.defaults import DEFAULTS
from fnmf.relevance.factors import code_smoothness

KINDS = ("clusters", "parts", "auto")


def digits():
    X, y = load_digits(return_X_y=True)
    return X[y < 4][:240], X[y < 4][240:280]


def fit(representation, **parameters):
    model = FNMF(4, random_state=0, representation=representation, tol=1e-3, **parameters)
    return model.fit(digits()[0])


@pytest.fixture(scope="module")
def models():
    return {kind: fit(kind) for kind in KINDS}


@pytest.fixture
def few_anchors(monkeypatch):
    changed = replace(DEFAULTS, exact_rows=100, n_anchors=60, sample_rows=80)
    monkeypatch.setattr(FNMF, "_defaults", changed)


def test_labels_do_not_depend_on_it(models):
    for kind in KINDS[1:]:
        np.testing.assert_array_equal(models[kind].labels_, models["clusters"].labels_)
        sure = models["clusters"].sample_confidence_
        np.testing.assert_array_equal(models[kind].sample_confidence_, sure)


@pytest.mark.parametrize(("kind", "smoothness"), [("clusters", 100), ("auto", 10), ("parts", 1)])
def test_neighbours_are_held_together_as_asked(models, kind, smoothness):
    assert models[kind].smoothness_ == smoothness
    strength = models["clusters"]._strength * smoothness / 100
    assert models[kind]._strength == pytest.approx(strength)


@pytest.mark.parametrize(
    ("modularity", "components", "smoothness"),
    [
        (-0.1, 4, 1),
        (0.8, 4, 2),
        (0.9, 4, 4.5),
        (0.9, 8, 1.1),
        (0.9, 2, 4.5),
        (1, 4, 10),
        (1, 8, 2.5),
    ],
)
def test_neighbours_are_trusted_as_far_as_clusters_hold_together(
    modularity, components, smoothness
):
    settings = FNMF(components, n_clusters=4)._read_settings()
    assert code_smoothness(settings, modularity, DEFAULTS) == pytest.approx(smoothness)


def spread_inside(model):
    """Share of the variance of the codes that is inside the clusters."""
    V, labels = model.embedding_, model.labels_
    inside = sum(((V[labels == a] - V[labels == a].mean(0)) ** 2).sum() for a in set(labels))
    return inside / ((V - V.mean(0)) ** 2).sum()


def test_parts_tell_samples_of_a_cluster_apart(models):
    assert spread_inside(models["parts"]) > 2 * spread_inside(models["clusters"])


def test_codes_minimise_the_objective_of_their_smoothness(models):
    """No codes of another smoothness have a lower value of it."""
    X, model = digits()[0], models["parts"]
    assert len(model._omega) == 1
    rows = X * model._units * np.sqrt(model._omega.max(axis=0))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    root = np.sqrt(model._omega.max(axis=0))
    laplacian = csgraph.laplacian((model.graph_ + model.graph_.T) / 2).toarray()

    def value(one):
        V, U = one.embedding_, one.components_ * root
        return np.sum((rows - V @ U) ** 2) + model._strength * np.sum(V * (laplacian @ V))

    assert value(model) < min(value(models["clusters"]), value(models["auto"]))


def test_the_run_of_the_labels_is_a_round_of_its_own(models):
    assert set(models["clusters"].history_["round"]) == {0}
    history = models["parts"].history_
    assert set(history["round"]) == {0, 1}
    for number in (0, 1):
        total = history["total"][history["round"] == number]
        assert (np.diff(total) <= 1e-9 * total[:-1]).all()
    first = history[history["round"] == 0]
    np.testing.assert_array_equal(first["total"], models["clusters"].history_["total"])


def test_every_row_is_solved_as_a_new_one_with_its_neighbours(models):
    """The codes of the fit minimise ‖x − Uᵀv‖² + β Σ_r s_r ‖v − v_r‖², weights summing to 1."""
    X, model = digits()[0], models["parts"]
    assert len(model._omega) == 1
    root = np.sqrt(model._omega.max(axis=0))
    rows = X * model._units * root
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    V, U = model.embedding_, model.components_ * root
    shares = model.graph_ / model.graph_.sum(axis=1)[:, None]
    slope = (V @ U - rows) @ U.T + model._strength * (V - shares @ V)
    # The neighbours' codes are those before this step, which are close.
    assert np.abs(slope[V > 0]).max() < 0.05
    assert slope[V == 0].min() > -0.05


def test_new_rows_are_held_as_those_of_the_fit(models):
    X, new = digits()
    for model in models.values():
        codes = model.transform(X)
        error = np.linalg.norm(codes - model.embedding_) / np.linalg.norm(model.embedding_)
        assert error < 0.25
        assert model.transform(new).shape == (len(new), 4)


@pytest.mark.usefixtures("few_anchors")
def test_with_anchors_codes_are_solved_once():
    found = {kind: fit(kind) for kind in KINDS}
    assert found["auto"].graph_ is None
    for model in found.values():
        np.testing.assert_array_equal(model.labels_, found["clusters"].labels_)
        assert set(model.history_["round"]) == {0}
    assert [found[kind].smoothness_ for kind in KINDS] == [100, 1, 10]
    same = fit("clusters", smoothness=10)
    np.testing.assert_array_equal(same.embedding_, found["auto"].embedding_)


def test_nothing_is_solved_again_where_nothing_holds():
    X = digits()[0]
    one = FNMF(4, random_state=0, tol=1e-3, smoothness=0).fit(X)
    other = FNMF(4, random_state=0, tol=1e-3, smoothness=0, representation="parts").fit(X)
    np.testing.assert_array_equal(one.embedding_, other.embedding_)
    assert one.smoothness_ == 0


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="representation"):
        fit("labels")
