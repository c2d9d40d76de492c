"""Bad input is refused with the name of the parameter, what was seen and what to do."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from fnmf import FNMF, MappedCSR

N, D = 20, 6


@pytest.fixture
def X():
    return np.random.default_rng(0).uniform(0.1, 1, (N, D))


def model(**parameters):
    return FNMF(**{"n_components": 3, "random_state": 0, "max_iter": 500, **parameters})


def changed(X, value, row=4, column=2):
    X = X.copy()
    X[row, column] = value
    return X


BAD_DATA = [
    (
        "negative",
        lambda X: changed(X, -0.25),
        r"Negative values.*smallest value of X is -0\.25.*shift",
    ),
    ("sparse negative", lambda X: sp.csr_array(changed(X, -2.0)), r"smallest value of X is -2"),
    ("inf", lambda X: changed(X, np.inf), r"Input X contains infinity"),
    ("sparse inf", lambda X: sp.csc_array(changed(X, np.inf)), r"Input X contains infinity"),
    (
        "strings",
        lambda X: changed(X.astype(object), "red"),
        r"X contains text.*red.*drop columns of text",
    ),
    ("no samples", lambda X: X[:0], r"Found array with 0 sample"),
    ("no features", lambda X: X[:, :0], r"Found array with 0 feature"),
    ("one dimension", lambda X: X[0], r"Expected 2D array"),
    ("three dimensions", lambda X: X[None], r"dim 3"),
    (
        "one sample",
        lambda X: X[:1],
        r"n_components=3 is more than the 1 samples.*lower n_components",
    ),
    ("too few samples", lambda X: X[:2], r"n_components=3 is more than the 2 samples"),
    ("fewer than neighbours", lambda X: X[:5], r"n_neighbors=5 needs.*n_samples=5; lower n_neigh"),
    ("complex", lambda X: X + 1j, r"Complex data not supported"),
]


@pytest.mark.parametrize(
    ("make", "message"), [c[1:] for c in BAD_DATA], ids=[c[0] for c in BAD_DATA]
)
def test_bad_data_is_refused(X, make, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        model().fit(make(X))


BAD_PARAMETERS = [
    *[
        (name, value, TypeError, "must be an integer")
        for name, value in [
            ("n_components", 2.5),
            ("n_components", True),
            ("n_components", "3"),
            ("n_weightings", 1.0),
            ("n_neighbors", None),
            ("n_clusters", "auto"),
            ("max_iter", 10.0),
            ("n_init", np.nan),
        ]
    ],
    *[
        (name, 0, ValueError, "at least 1")
        for name in (
            "n_components",
            "n_weightings",
            "n_neighbors",
            "n_clusters",
            "max_iter",
            "n_init",
        )
    ],
    *[
        (name, value, ValueError, "use a finite number of at least 0")
        for name in ("diversity", "smoothness", "tol")
        for value in (np.nan, np.inf, -1.0)
    ],
    *[
        (name, value, TypeError, "must be a number")
        for name in ("diversity", "smoothness", "tol")
        for value in ("1", None, True)
    ],
    *[
        (name, "papr", ValueError, 'use one of "')
        for name in ("graph", "weighting", "assignment", "solver", "init")
    ],
    ("weighting", None, ValueError, 'use one of "'),
    ("solver", 3, ValueError, 'use one of "mu", "mu-fast", "hals"'),
    ("normalize_components", "yes", TypeError, "must be True or False"),
    ("graph", np.eye(N), TypeError, "wrap a dense array in scipy.sparse.csr_array"),
    ("graph", 5, TypeError, "got int"),
    ("n_components", N + 1, ValueError, f"is more than the {N} samples"),
    ("n_clusters", N + 1, ValueError, f"is more than the {N} samples"),
    ("n_neighbors", N, ValueError, "lower n_neighbors"),
    ("random_state", "seed", ValueError, "cannot be used to seed"),
    ("n_jobs", 0, ValueError, "n_jobs"),
    ("n_jobs", "two", TypeError, "n_jobs"),
    ("n_jobs", 1.5, TypeError, "n_jobs"),
    ("verbose", "loud", TypeError, "verbose"),
    ("init", None, ValueError, "a pair of arrays"),
    ("init", 7, ValueError, "a pair of arrays"),
    ("init", (np.ones((N, 3)),), ValueError, "a pair of arrays"),
    ("init", np.ones((2, 3, 4)), ValueError, "shapes"),
    ("init", (np.ones((N, 2)), np.ones((3, D))), ValueError, rf"shapes \({N}, 2\) and \(3, {D}\)"),
    ("init", (np.ones((N, 3)), np.ones((3, D + 1))), ValueError, "shapes"),
    ("init", (-np.ones((N, 3)), np.ones((3, D))), ValueError, "finite and non-negative"),
    ("init", (np.ones((N, 3)), np.full((3, D), np.nan)), ValueError, "finite and non-negative"),
]


@pytest.mark.parametrize(("name", "value", "error", "message"), BAD_PARAMETERS)
def test_bad_parameter_is_refused_by_name(X, name, value, error, message):
    with pytest.raises(error, match=message) as caught:
        model(**{name: value}).fit(X)
    assert name in str(caught.value) or name == "random_state"


def test_message_shows_what_was_seen(X):
    for name, value in [("diversity", -3.5), ("n_components", 2.5), ("solver", "newton")]:
        with pytest.raises((TypeError, ValueError), match=re.escape(str(value))):
            model(**{name: value}).fit(X)


def ring(n=N, dtype=np.float64):
    S = np.zeros((n, n), dtype)
    for i in range(n):
        S[i, (i + 1) % n] = S[(i + 1) % n, i] = 1
    return S


BAD_GRAPHS = [
    (
        "shape",
        lambda: sp.csr_array(ring(N - 1)),
        rf"graph has shape \(19, 19\), but X has {N} samp",
    ),
    ("not square", lambda: sp.csr_array(np.ones((N, 3))), r"graph has shape \(20, 3\)"),
    ("negative", lambda: sp.csr_array(-ring()), r"graph has a negative weight \(-1\)"),
    (
        "not symmetric",
        lambda: sp.csr_array(np.triu(ring())),
        r"graph is not symmetric.*\(S \+ S\.T\)",
    ),
    ("NaN", lambda: sp.csr_array(ring() * np.nan), r"graph contains NaN or infinity"),
    (
        "inf",
        lambda: sp.csr_array(np.where(ring() > 0, np.inf, 0)),
        r"graph contains NaN or infinity",
    ),
]


@pytest.mark.parametrize(
    ("make", "message"), [c[1:] for c in BAD_GRAPHS], ids=[c[0] for c in BAD_GRAPHS]
)
def test_bad_graph_is_refused(X, make, message):
    with pytest.raises(ValueError, match=message):
        model(graph=make()).fit(X)


def malformed(kind, part):
    """A sparse matrix whose index or pointer lies outside, as SciPy lets one be made."""
    matrix = getattr(sp, kind)(np.random.default_rng(0).uniform(size=(N, N)))
    if part == "index too large":
        matrix.indices[3] = N
    elif part == "index negative":
        matrix.indices[3] = -1
    elif part == "pointer":
        matrix.indptr[1] = N * N + 5
    else:
        matrix.indptr[-1] += 1
    return matrix


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["csr_array", "csc_array", "csr_matrix", "csc_matrix"])
@pytest.mark.parametrize("part", ["index too large", "index negative", "pointer", "last pointer"])
def test_malformed_sparse_matrices_never_reach_a_kernel(X, kind, part):
    with pytest.raises(ValueError, match=r"X is a malformed CS[RC] matrix .*coo_array"):
        model().fit(malformed(kind, part))
    with pytest.raises(ValueError, match=r"graph is a malformed CS[RC] matrix"):
        model(graph=malformed(kind, part)).fit(X)
    fitted = model(graph=None, max_iter=3).fit(np.random.default_rng(1).uniform(size=(N, N)))
    for use in (fitted.transform, fitted.predict):
        with pytest.raises(ValueError, match=r"X is a malformed CS[RC] matrix"):
            use(malformed(kind, part))


def mapped(X, **changes):
    S = sp.csr_array(X)
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr, **changes}
    return MappedCSR(parts["data"], parts["indices"], parts["indptr"], X.shape)


def test_malformed_mapped_matrices_never_reach_a_kernel(X):
    S = sp.csr_array(X)
    too_large, negative = S.indices.copy(), S.indices.copy()
    too_large[5], negative[5] = D, -1
    swapped = S.indices.copy()
    swapped[:2] = swapped[1::-1]
    falling = S.indptr.copy()
    falling[2] = 1
    for changes, message in [
        ({"indices": too_large}, "outside"),
        ({"indices": negative}, "outside"),
        ({"indices": swapped}, "must rise"),
        ({"indptr": falling}, "indptr decreases"),
        ({"indptr": S.indptr[:-1]}, "does not fit"),
        ({"data": S.data[:-1]}, "values"),
        ({"data": -S.data}, "Negative values"),
        ({"data": np.full_like(S.data, np.nan)}, "every cell is missing"),
        ({"data": np.full_like(S.data, np.inf)}, "infinity"),
    ]:
        with pytest.raises(ValueError, match=message):
            model().fit(mapped(X, **changes))


@pytest.mark.parametrize(
    ("value", "message"), [(np.inf, "infinity .first in row 4"), (-1, "Negative values")]
)
def test_bad_memory_map_is_refused(X, value, message, tmp_path):
    np.save(tmp_path / "X.npy", changed(X, value))
    with pytest.raises(ValueError, match=message):
        model().fit(np.load(tmp_path / "X.npy", mmap_mode="r"))


def test_memory_map_of_wrong_shape_or_type_is_refused(X, tmp_path):
    for array, message in [
        (X[0], "1 dimensions"),
        (X + 1j, "complex"),
        (X.astype("U8"), "type"),
    ]:
        path = tmp_path / f"{array.dtype.kind}{array.ndim}.npy"
        np.save(path, array)
        with pytest.raises(ValueError, match=message):
            model().fit(np.load(path, mmap_mode="r"))


def test_new_data_are_checked_like_the_training_data(X):
    fitted = model().fit(X)
    for make, message in [
        (lambda X: changed(X, -1.0), "Negative values"),
        (lambda X: changed(X, np.inf), "infinity"),
        (lambda X: X[:, :-1], "expecting 6 features"),
        (lambda X: X[0], "2D"),
        (lambda X: X[:0], "0 sample"),
    ]:
        for use in (fitted.transform, fitted.predict):
            with pytest.raises(ValueError, match=message):
                use(make(X))


def test_graph_of_the_user_may_have_a_diagonal_and_any_format(X):
    S = ring()
    expected = model(graph=sp.csr_array(S)).fit(X)
    for graph in (
        sp.coo_array(S + np.eye(N)),
        sp.csc_matrix(S),
        sp.dok_array(S),
        sp.csr_array(S.astype(int)),
    ):
        found = model(graph=graph).fit(X)
        np.testing.assert_array_equal(found.embedding_, expected.embedding_)
        assert found.graph_.diagonal().sum() == 0
