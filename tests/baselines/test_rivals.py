"""What holds for every rival: scikit-learn's contract, sparse data, threads, bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_clusterer
from sklearn.datasets import load_digits, make_blobs
from sklearn.preprocessing import normalize
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimators import expected_failures
from fnmf.baselines import (
    IFPCA,
    MCFS,
    ConsensusKMeans,
    EntropyKMeans,
    LaplacianScore,
    Leiden,
    SparseKMeans,
    Spectral,
)
from fnmf.metrics import clustering_accuracy

pytest.importorskip("leidenalg", reason="Leiden needs the extra fnmf[leiden]")

RIVALS = [
    IFPCA,
    SparseKMeans,
    EntropyKMeans,
    LaplacianScore,
    MCFS,
    Spectral,
    Leiden,
    ConsensusKMeans,
]
QUICK = {IFPCA: {"n_simulations": 500}, SparseKMeans: {"n_permutations": 2}}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def make(rival, **parameters):
    return rival(random_state=0, **{**QUICK.get(rival, {}), **parameters})


# Settings with which each finds what there is to find in the blobs.
FITTING = {
    EntropyKMeans: {"entropy": 300.0},
    LaplacianScore: {"n_features_to_select": 2},
    MCFS: {"n_features_to_select": 2},
}


def blobs(n_samples=90, noise=0):
    centres = [[3, 3], [10, 3], [3, 10]]
    X, y = make_blobs(n_samples, centers=centres, random_state=0)
    extra = np.random.default_rng(0).normal(5, 1, (n_samples, noise))
    return np.column_stack([X, extra]), y


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [rival(**QUICK.get(rival, {})) for rival in RIVALS],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("rival", RIVALS)
def test_clear_clusters_are_found(rival):
    X, y = blobs()
    if rival is IFPCA:
        # Features are told apart by how far from normal they are: most must be normal.
        y = np.repeat([0, 1], 45)
        X = np.random.default_rng(0).normal(size=(90, 100))
        X[:, :8] += 5 * y[:, None]
    model = make(rival, n_clusters=len(set(y)), **FITTING.get(rival, {})).fit(X)
    assert is_clusterer(model)
    assert clustering_accuracy(y, model.labels_) > 0.97


@pytest.mark.parametrize("rival", RIVALS)
def test_sparse_and_dense_data_give_the_same_clusters(rival):
    X = load_digits().data[:150]
    X = normalize(X * (X > 6))
    # Shuffled copies are drawn in another order, so the bound is given.
    parameters = {"bound": 4.0} if rival is SparseKMeans else {}
    dense = make(rival, n_clusters=4, **parameters).fit(X)
    for container in (sp.csr_array, sp.csc_matrix):
        sparse = make(rival, n_clusters=4, **parameters).fit(container(X))
        assert clustering_accuracy(dense.labels_, sparse.labels_) > 0.98


@pytest.mark.parametrize("rival", RIVALS)
def test_the_same_seed_gives_the_same_clusters_at_any_scale(rival):
    X, _ = blobs(60, noise=4)
    # γ is in the units of the squared data.
    parameters = {"entropy": 50.0} if rival is EntropyKMeans else {}
    first = make(rival, n_clusters=3, **parameters).fit(X)
    for scale in (1.0, 2.0**-400, 2.0**400):
        if rival is EntropyKMeans:
            parameters = {"entropy": 50.0 * scale**2}
        again = make(rival, n_clusters=3, **parameters).fit(X * scale)
        np.testing.assert_array_equal(first.labels_, again.labels_)


@pytest.mark.parametrize("rival", [LaplacianScore, MCFS, Spectral, Leiden])
def test_threads_do_not_change_the_result(rival):
    X, _ = blobs(60)
    one, two = (make(rival, n_clusters=3, n_jobs=jobs).fit(X) for jobs in (1, 2))
    np.testing.assert_array_equal(one.labels_, two.labels_)


@pytest.mark.parametrize("rival", RIVALS)
@pytest.mark.parametrize("X", [np.ones((20, 3)), np.repeat(np.eye(3), 8, axis=0)])
def test_equal_samples_are_no_problem(rival, X):
    model = make(rival, n_clusters=3).fit(X)
    assert model.labels_.shape == (len(X),)
    if len(np.unique(X, axis=0)) == 3 and rival not in (Leiden, IFPCA):
        assert clustering_accuracy(np.repeat([0, 1, 2], 8), model.labels_) == 1.0


@pytest.mark.parametrize("rival", [SparseKMeans, EntropyKMeans, LaplacianScore, MCFS])
def test_new_rows_go_to_the_nearest_centre(rival):
    X, y = blobs(120, noise=3)
    parameters = {"entropy": 100.0} if rival is EntropyKMeans else {}
    model = make(rival, n_clusters=3, **parameters).fit(X[:80])
    np.testing.assert_array_equal(model.predict(X[:80]), model.labels_)
    assert clustering_accuracy(y[80:], model.predict(X[80:])) > 0.95
    np.testing.assert_array_equal(model.predict(X[80:]), model.predict(sp.csr_array(X[80:])))


@pytest.mark.parametrize(
    ("rival", "parameters", "error", "words"),
    [
        *[(rival, {"n_clusters": 91}, ValueError, "n_clusters=91 is more") for rival in RIVALS],
        *[(rival, {"n_clusters": 0}, ValueError, "n_clusters=0") for rival in RIVALS],
        (IFPCA, {"n_simulations": 0}, ValueError, "n_simulations=0"),
        (SparseKMeans, {"bound": 0.5}, ValueError, "bound=0.5"),
        (SparseKMeans, {"n_permutations": 0}, ValueError, "n_permutations=0"),
        (EntropyKMeans, {"entropy": 0.0}, ValueError, "entropy=0.0"),
        (EntropyKMeans, {"n_init": "ten"}, TypeError, "n_init"),
        (LaplacianScore, {"n_features_to_select": 1.5}, ValueError, "n_features_to_select=1.5"),
        (MCFS, {"n_features_to_select": 0}, ValueError, "n_features_to_select=0"),
        (Spectral, {"n_neighbors": 89}, ValueError, "lower n_neighbors"),
        (Spectral, {"graph": "nonsense"}, ValueError, "graph='nonsense' is not known"),
        (Leiden, {"resolution": -1.0}, ValueError, "resolution=-1.0"),
        (ConsensusKMeans, {"share": 1.2}, ValueError, "share=1.2"),
        (ConsensusKMeans, {"n_runs": 0}, ValueError, "n_runs=0"),
    ],
)
def test_bad_parameters_are_named(rival, parameters, error, words):
    with pytest.raises(error, match=words):
        rival(**parameters).fit(blobs()[0])
