"""What holds for every competitor: scikit-learn's contract, bad input, common attributes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import ClusterMixin, is_clusterer
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimators import expected_failures
from fnmf.baselines import CAN, CLR, GNMF, KMM, LCNMF, NMF, ONGR, PCAN, RMNMF, RNMF

METHODS = [NMF, RNMF, GNMF, RMNMF, LCNMF, ONGR, CAN, PCAN, CLR, KMM]
GRAPH_METHODS = [CAN, PCAN, CLR, KMM]
FACTORISATIONS = [NMF, RNMF, GNMF, RMNMF, LCNMF, ONGR]


def blobs(n_samples: int = 90) -> np.ndarray:
    centres = [[3, 3], [10, 3], [3, 10]]
    return make_blobs(n_samples, centers=centres, random_state=0)[0].clip(0)


# Random data without clusters need not fall into the number asked for, and the method says so.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [method() for method in METHODS],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", [LCNMF, GNMF])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_clusters_of_shifted_data_pass_the_check_of_clusterers(method):
    from sklearn.utils.estimator_checks import check_clustering

    class Shifted(ClusterMixin, method):
        _non_negative = False

        def fit(self, X, y=None):
            X = np.asarray(X)
            return super().fit(X - X.min(axis=0))

    check_clustering("Shifted", Shifted())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fitted_attributes_agree_with_each_other(method):
    X = blobs()
    model = method(n_clusters=3)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    labels = model.fit_predict(X)
    assert is_clusterer(model)
    assert np.array_equal(labels, model.labels_)
    assert labels.shape == (90,)
    assert len(model.history_) == model.n_iter_
    assert model.history_.dtype.names[0] == "total"
    assert isinstance(model.converged_, bool)
    if method in GRAPH_METHODS:
        assert sp.issparse(model.graph_)
        assert model.n_connected_components_ == len(np.unique(labels))
    if method in FACTORISATIONS:
        assert model.embedding_.shape[0] == 90
        assert model.embedding_.shape[1] == len(model.components_)
        assert len(model.get_feature_names_out()) == len(model.components_)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sparse_and_dense_data_give_the_same_clusters(method):
    X = load_digits().data[:150]
    X = normalize(X * (X > 6))
    params = {"n_clusters": 4}
    if "random_state" in method().get_params():
        params["random_state"] = 0
    dense = method(**params).fit(X)
    for container in (sp.csr_array, sp.csc_matrix):
        sparse = method(**params).fit(container(X))
        np.testing.assert_array_equal(sparse.labels_, dense.labels_)
        np.testing.assert_allclose(
            sparse.history_["total"], dense.history_["total"], rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_threads_do_not_change_the_result(method):
    X = blobs(60)
    params = {"random_state": 3} if "random_state" in method().get_params() else {}
    one = method(n_clusters=3, n_jobs=1, **params).fit(X)
    two = method(n_clusters=3, n_jobs=2, **params).fit(X)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.history_, two.history_)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("X", [np.ones((20, 3)), np.repeat(np.eye(3), 8, axis=0)])
def test_duplicated_samples_give_finite_results(method, X):
    model = method(n_clusters=3).fit(X)
    assert model.labels_.shape == (len(X),)
    assert np.isfinite(model.history_["total"]).all()


@pytest.mark.parametrize("method", [CAN, PCAN, CLR, KMM, ONGR])
@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_scale_of_the_data_does_not_matter(method, scale):
    X = blobs(60)
    params = {"random_state": 0} if "random_state" in method().get_params() else {}
    plain = method(n_clusters=3, **params).fit(X)
    with np.errstate(all="ignore"):
        other = method(n_clusters=3, **params).fit(X * scale)
    np.testing.assert_array_equal(plain.labels_, other.labels_)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"n_clusters": 0}, ValueError, "n_clusters=0"),
        ({"n_clusters": 2.5}, TypeError, "n_clusters"),
        ({"n_clusters": 91}, ValueError, "n_clusters=91 is more than n_samples=90"),
        ({"max_iter": 0}, ValueError, "max_iter=0"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors=0"),
        ({"n_neighbors": "many"}, TypeError, "n_neighbors"),
    ],
)
def test_bad_parameters_are_named(method, params, error, words):
    if set(params) - set(method().get_params()):
        pytest.skip(f"{method.__name__} has no such parameter")
    with pytest.raises(error, match=words):
        method(**params).fit(blobs())


@pytest.mark.parametrize("method", [CAN, PCAN, CLR, KMM, ONGR, RMNMF, GNMF])
def test_too_many_neighbors_are_refused(method):
    with pytest.raises(ValueError, match="lower n_neighbors"):
        method(n_clusters=2, n_neighbors=89).fit(blobs())


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (CAN, "neighborhood"),
        (PCAN, "neighborhood"),
        (CLR, "loss"),
        (CLR, "graph"),
        (KMM, "init"),
        (KMM, "graph"),
        (PCAN, "n_projected"),
        (LCNMF, "init"),
        (LCNMF, "labels"),
        (ONGR, "init"),
        (ONGR, "labels"),
        (RMNMF, "labels"),
        (RMNMF, "graph"),
        (GNMF, "graph"),
        (NMF, "init"),
    ],
)
def test_unknown_options_are_named(method, name):
    with pytest.raises(ValueError, match=f"{name}='nonsense' is not known"):
        method(**{name: "nonsense"}).fit(blobs())


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (CLR, "rank_strength"),
        (LCNMF, "rank_strength"),
        (ONGR, "coupling"),
        (RMNMF, "smoothness"),
        (RMNMF, "penalty"),
        (GNMF, "smoothness"),
        (NMF, "tol"),
    ],
)
def test_hyperparameters_that_are_no_numbers_are_named(method, name):
    for value in (np.nan, -1.0, np.inf):
        with pytest.raises(ValueError, match=name):
            method(**{name: value}).fit(blobs())


@pytest.mark.parametrize("method", [NMF, RNMF, GNMF, LCNMF, RMNMF])
def test_negative_data_are_refused(method):
    with pytest.raises(ValueError, match="Negative values in data"):
        method(n_clusters=2).fit(blobs() - 5)


@pytest.mark.parametrize("method", [CLR, GNMF, ONGR, RMNMF])
def test_bad_graphs_are_refused(method):
    X = blobs()
    with pytest.raises(ValueError, match="graph has shape"):
        method(n_clusters=2, graph=sp.eye_array(5, format="csr")).fit(X)
    with pytest.raises(TypeError, match="graph must be"):
        method(n_clusters=2, graph=np.eye(90)).fit(X)
    negative = sp.csr_array(-np.ones((90, 90)))
    with pytest.raises(ValueError, match="negative"):
        method(n_clusters=2, graph=negative).fit(X)
    broken = sp.csr_array(np.ones((90, 90)))
    broken.indices[0] = 10**6
    with pytest.raises(ValueError, match=r"indices|malformed|column"):
        method(n_clusters=2, graph=broken).fit(X)


@pytest.mark.parametrize("method", GRAPH_METHODS)
def test_another_number_of_components_is_said_aloud(method):
    # Five far groups of ten samples cannot become two components along neighbour edges.
    rng = np.random.default_rng(0)
    X = np.repeat(100.0 * np.arange(5), 10)[:, None] + rng.random((50, 2))
    params = {"n_prototypes": 20} if method is KMM else {}
    with pytest.warns(
        ConvergenceWarning, match=r"found \d+ connected components, not n_clusters=2"
    ):
        model = method(n_clusters=2, n_neighbors=3, **params).fit(X)
    assert model.converged_ is False
    assert model.n_connected_components_ == len(np.unique(model.labels_)) != 2


@pytest.mark.parametrize("method", FACTORISATIONS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_new_rows_are_transformed_one_by_one(method):
    X = normalize(load_digits().data[:160])
    model = method(n_clusters=5, random_state=0).fit(X[:120])
    together = model.transform(X[120:])
    assert np.isfinite(together).all()
    alone = np.vstack([model.transform(row[None]) for row in X[120:]])
    np.testing.assert_allclose(together, alone, atol=1e-9)
    np.testing.assert_allclose(together, model.transform(sp.csr_array(X[120:])), atol=1e-9)
