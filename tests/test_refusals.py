"""Everything is checked before any work is done."""

import numpy as np
import pytest
import scipy.sparse as sp

from estimators import C, D, N, make_blobs
from fnmf import FNMF, MappedCSR
from fnmf.affinity import _exact


@pytest.fixture
def no_search(monkeypatch):
    def refuse(*args, **others):
        raise AssertionError("a neighbour search was begun")

    monkeypatch.setattr(_exact, "_search_block", refuse)
    monkeypatch.setattr(_exact, "make_frame", refuse)


@pytest.mark.parametrize("weighting", ["relevance", "paper", "uniform"])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"init": (np.ones((N, C)), np.ones((C, D + 1)))}, "init has arrays of shapes"),
        ({"init": (np.ones((N, C)), -np.ones((C, D)))}, "finite and non-negative"),
        ({"init": 3}, "init=3 is not known"),
        ({"n_neighbors": N - 1}, f"n_neighbors={N - 1} needs at least {N + 1} samples"),
        ({"n_clusters": N + 1}, "n_clusters"),
        ({"graph": sp.eye_array(N + 1, format="csr")}, "graph has shape"),
    ],
)
def test_wrong_parameters_are_refused_before_the_graph_is_built(
    no_search, weighting, parameters, message
):
    X, _ = make_blobs()
    with pytest.raises(ValueError, match=message):
        FNMF(C, weighting=weighting, **parameters).fit(X)


def test_a_start_that_mapped_data_cannot_have_is_refused_first(no_search, tmp_path):
    X, _ = make_blobs()
    MappedCSR.write(sp.csr_array(X), tmp_path)
    with pytest.raises(ValueError, match='init="nndsvda" cannot work on a MappedCSR'):
        FNMF(C, init="nndsvda").fit(MappedCSR.open(tmp_path))


@pytest.mark.parametrize("weighting", ["relevance", "paper"])
def test_a_refit_keeps_nothing_of_the_fit_before(weighting):
    X, _ = make_blobs()
    other = "paper" if weighting == "relevance" else "relevance"
    settings = {"n_components": C, "random_state": 0, "max_iter": 500, "tol": 1e-2}
    again = FNMF(weighting=other, **settings).fit(X).set_params(weighting=weighting).fit(X)
    fresh = FNMF(weighting=weighting, **settings).fit(X)
    assert set(vars(again)) == set(vars(fresh))
