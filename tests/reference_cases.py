"""Some sixty fits over storages, number types, weightings, solvers and methods, by name."""

import hashlib
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from fnmf import FNMF, MappedCSR, MiniBatchFNMF, baselines
from fnmf.datasets import make_planted_subspaces
from fnmf.graph import adaptive_neighbors

WEIGHTINGS = ("paper", "relevance", "uniform")
SOLVERS = ("mu", "mu-fast", "hals")
STORAGES = ("dense32", "csr64", "csr32", "mapped", "mapped-csr")
METHODS = ("NMF", "GNMF", "RNMF", "LCNMF", "RMNMF", "ONGR", "CAN", "PCAN", "CLR", "KMM")

_K = 5


def digits():
    """Training rows and new rows: the digits 0 to 4, with twenty noise features."""
    bunch = load_digits()
    rows = np.flatnonzero(bunch.target < _K)[:200]
    noise = np.random.default_rng(0).integers(0, 17, (len(rows), 20))
    X = np.hstack([bunch.data[rows], noise])
    return X[:140], X[140:]


def planted():
    X, _, _ = make_planted_subspaces(150, _K, 6, 60, random_state=0)
    order = np.random.default_rng(1).permutation(len(X))
    return X[order[:100]], X[order[100:]]


def many():
    """More rows than a graph is built of, half of the features noise."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, _K, 10_600)
    X = np.maximum(rng.uniform(1, 6, (_K, 16))[y] + rng.normal(size=(len(y), 16)), 0)
    X[:, 8:] = rng.uniform(0, 6, (len(y), 8))
    return X[:10_500], X[10_500:]


def table(load):
    """A table as it comes; every fifth row is new."""

    def read():
        X, new = load().data, np.arange(5) == 4
        new = np.resize(new, len(X))
        return X[~new], X[new]

    return read


DATA = {
    "digits": digits,
    "planted": planted,
    "many": many,
    "iris": table(load_iris),
    "wine": table(load_wine),
    "cancer": table(load_breast_cancer),
}


def stored(X, storage, folder):
    """The same rows in another storage."""
    if storage == "dense32":
        return X.astype(np.float32)
    if storage in ("csr64", "csr32"):
        return sp.csr_array(X).astype(np.float64 if storage == "csr64" else np.float32)
    if storage == "mapped":
        np.save(folder / "X.npy", X.astype(np.uint8))
        return np.load(folder / "X.npy", mmap_mode="r")
    if storage == "mapped-csr":
        MappedCSR.write(sp.csr_array(X), folder / "csr")
        return MappedCSR.open(folder / "csr")
    if storage == "dask":
        import dask.array as da

        return da.from_array(X, chunks=(len(X) // 3, -1))
    return X


def model(**parameters):
    return FNMF(**{"n_components": _K, "random_state": 0, "max_iter": 100, **parameters})


def cases():
    """Name to (data set, storage, estimator)."""
    found = {}
    for weighting in WEIGHTINGS:
        for solver in SOLVERS:
            fit = model(weighting=weighting, solver=solver)
            found[f"{weighting} {solver}"] = ("digits", "dense64", fit)
        for storage in STORAGES:
            found[f"{weighting} {storage}"] = ("digits", storage, model(weighting=weighting))
    for weighting in ("paper", "relevance"):
        for solver in ("mu-fast", "hals"):
            fit = model(weighting=weighting, solver=solver, assignment="shared")
            found[f"{weighting} {solver} shared"] = ("planted", "dense64", fit)
        fit = model(weighting=weighting, graph=None)
        found[f"{weighting} without graph"] = ("planted", "dense32", fit)
        fit = model(weighting=weighting, init="nndsvda", n_clusters=4)
        found[f"{weighting} nndsvda"] = ("planted", "csr64", fit)
        fit = model(weighting=weighting, init="random", n_init=3)
        found[f"{weighting} three starts"] = ("planted", "dense64", fit)
        fit = model(weighting=weighting, graph_refresh=2, n_weightings=2)
        found[f"{weighting} two refreshes"] = ("planted", "dense64", fit)
        graph = adaptive_neighbors(planted()[0], 7)
        fit = model(weighting=weighting, graph=graph, n_weightings=1)
        found[f"{weighting} own graph"] = ("planted", "csr32", fit)
    rng = np.random.default_rng(3)
    start = rng.random((100, _K)), rng.random((_K, 60))
    found["relevance own start"] = ("planted", "dense64", model(init=start))
    fit = model(weighting="paper", normalize_components=False)
    found["paper free components"] = ("planted", "dense64", fit)
    for name in METHODS:
        seeded = {} if name in ("CAN", "PCAN", "CLR") else {"random_state": 0}
        method = getattr(baselines, name)(n_clusters=_K, **seeded)
        found[name] = ("planted", "dense64", method)
        if name in ("NMF", "GNMF", "RNMF"):
            found[f"{name} csr32"] = ("digits", "csr32", getattr(baselines, name)(_K, **seeded))
    for data, k in (("iris", 3), ("wine", 3), ("cancer", 2)):
        found[f"table {data}"] = (data, "dense64", model(n_components=k))
        found[f"table {data} auto"] = (data, "dense64", model(n_components="auto"))
    found["anchors"] = ("many", "dense64", model(max_iter=20))
    found["anchors csr32 unit rows"] = ("many", "csr32", model(max_iter=20, row_norm="unit"))
    found["dask"] = ("many", "dask", model(max_iter=20))
    found["dask without graph"] = ("digits", "dask", model(max_iter=20, graph=None))
    found["stream"] = ("many", "dense64", MiniBatchFNMF(_K, random_state=0, sample_size=500))
    return found


def run(case, folder):
    """Labels and codes of the training rows, and of new rows where the method takes them."""
    data, storage, estimator = case
    X, new = DATA[data]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = estimator.fit(stored(X, storage, folder))
        found = {"labels": fitted.labels_}
        if hasattr(fitted, "embedding_"):
            found["codes"] = fitted.embedding_
        there = stored(new, storage, folder) if storage.endswith(("64", "32")) else new
        if hasattr(fitted, "predict"):
            found["new labels"] = fitted.predict(there)
        if hasattr(fitted, "transform"):
            found["new codes"] = fitted.transform(there)
    return found


def as_text(labels):
    """One character a sample; a digest of these for many."""
    text = "".join("0123456789abcdefghijklmnopqrstuvwxyz"[label] for label in np.asarray(labels))
    return text if len(text) <= 1000 else hashlib.sha256(text.encode()).hexdigest()
