"""What the default chooses, and what must not change it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from sklearn.preprocessing import minmax_scale

from constants import vary
from fnmf import FNMF
from fnmf.exceptions import NoStructureWarning
from fnmf.metrics import clustering_accuracy

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


def fitted(X, k, **parameters):
    return FNMF(k, random_state=0, max_iter=20, **parameters).fit(X)


@pytest.mark.parametrize(
    ("load", "k", "least"), [(load_iris, 3, 0.93), (load_breast_cancer, 2, 0.93)]
)
def test_size_of_a_row_is_kept_where_it_tells_classes_apart(load, k, least):
    X, y = load(return_X_y=True)
    model = fitted(minmax_scale(X), k)
    assert model.chosen_[0]["rows"] == "own"
    assert clustering_accuracy(y, model.labels_) >= least


def test_length_of_documents_is_not_taken_for_their_topic():
    rng = np.random.default_rng(0)
    topics, lengths = rng.integers(0, 4, 400), rng.geometric(0.02, 400) + 10
    words = np.full((4, 200), 0.2)
    for topic in range(4):
        words[topic, 30 * topic : 30 * (topic + 1)] = 2
    words /= words.sum(axis=1, keepdims=True)
    X = np.array([rng.multinomial(n, words[t]) for n, t in zip(lengths, topics, strict=True)])
    model = fitted(X.astype(float), 4)
    assert model.chosen_[0]["rows"] == "unit"
    assert clustering_accuracy(topics, model.labels_) > 0.9


@pytest.mark.parametrize("kind", ["uniform", "heavy tails", "families"])
def test_noise_in_any_units_changes_neither_clusters_nor_ranking(kind):
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    n, count = len(X), 3 * X.shape[1]
    noise = {
        "uniform": lambda: rng.uniform(size=(n, count)),
        "heavy tails": lambda: rng.pareto(1.5, (n, count)),
        "families": lambda: (
            np.repeat(np.abs(rng.standard_normal((n, 10))), 20, axis=1)[:, :count]
            + 0.5 * np.abs(rng.standard_normal((n, count)))
        ),
    }[kind]()
    noise *= X.mean() * 10 ** rng.uniform(-2, 2, count)
    clean = clustering_accuracy(y, fitted(X, 10).labels_)
    model = fitted(np.hstack([X, noise]), 10)
    assert clustering_accuracy(y, model.labels_) >= 0.95 * clean
    real = np.arange(X.shape[1] + count) < X.shape[1]
    alive = np.concatenate([X.std(axis=0) > 0, np.ones(count, bool)])
    assert roc_auc_score(real[alive], model.feature_relevance_[alive]) > 0.9


def test_copies_of_features_change_little(digits):
    X, _ = digits
    rng = np.random.default_rng(0)
    noisy = np.hstack([X, rng.uniform(0, X.max(), (len(X), 5))])
    copied = np.hstack([noisy, np.repeat(noisy[:, -5:], 39, axis=1), 3 * noisy[:, 20:30]])
    labels = [fitted(form, 10).labels_ for form in (noisy, copied)]
    assert adjusted_rand_score(*labels) > 0.8


@pytest.mark.parametrize("form", [sp.csr_array, np.float32, np.asfortranarray])
def test_storage_and_number_type_change_no_label(digits, form):
    X, _ = digits
    np.testing.assert_array_equal(fitted(form(X), 10).labels_, fitted(X, 10).labels_)


@pytest.mark.parametrize("factor", [2.0**-20, 2.0**30])
def test_units_of_all_data_change_no_label(digits, factor):
    X, _ = digits
    np.testing.assert_array_equal(fitted(factor * X, 10).labels_, fitted(X, 10).labels_)


def test_number_of_threads_changes_nothing(digits):
    X, _ = digits
    one, two = (fitted(X, 10, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_shuffled_columns_are_called_chance(load):
    X = minmax_scale(load().data[:400])
    with pytest.warns(NoStructureWarning, match="half of the features"):
        model = fitted(np.random.default_rng(0).permuted(X, axis=0), 4)
    assert model.structure_found_ is False
    assert fitted(X, 4).structure_found_ is True


@pytest.mark.parametrize("seed", range(2))
def test_clusters_of_very_uneven_sizes_that_stand_apart_are_found(seed):
    X, y = make_blobs([400, 60, 15], 4, centers=None, random_state=seed)
    model = fitted(X - X.min(axis=0), 3)
    assert clustering_accuracy(y, model.labels_) > 0.99


def test_few_samples_of_many_features_without_clusters_are_called_chance():
    # Features in use were chosen by the clusters, and agree with each other even by chance.
    chance = [np.random.default_rng(seed).gamma(2.0, size=(60, 1500)) for seed in range(8)]
    with pytest.warns(NoStructureWarning):
        found = [fitted(X, 2).structure_found_ for X in chance]
    assert sum(found) <= 1


def test_choices_can_be_fixed(digits):
    X, _ = digits
    model = fitted(X, 10, row_norm="none", column_units="typical")
    assert [(one["rows"], one["columns"]) for one in model.chosen_] == [("own", "typical")]
    assert len(fitted(X, 10).chosen_) > 2


def test_many_samples_are_held_to_anchors(monkeypatch):
    vary(monkeypatch, exact_rows=300, n_anchors=100)
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500]
    model = fitted(X, 10)
    assert model.graph_ is None
    assert model._fit_X.shape[0] == 100
    assert clustering_accuracy(y, model.labels_) > 0.7
    assert np.mean(model.predict(X) == model.labels_) > 0.95
    assert model.transform(X).shape == (500, 10)
