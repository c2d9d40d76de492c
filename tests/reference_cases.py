"""Some fifty fits over storages, number types, weightings, solvers and methods, by name."""

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits

from fnmf import FNMF, MappedCSR, baselines
from fnmf.affinity import adaptive_neighbors
from fnmf.datasets import make_planted_subspaces

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
    return found


def run(case, folder):
    """Labels and codes of the training rows, and of new rows where the method takes them."""
    data, storage, estimator = case
    X, new = digits() if data == "digits" else planted()
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
    """One character a sample."""
    return "".join("0123456789abcdefghijklmnopqrstuvwxyz"[label] for label in labels)
