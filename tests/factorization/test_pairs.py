"""Every pair of term and solver runs and falls, or is refused with the reason."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from estimators import make_blobs
from fnmf import FNMF
from fnmf.data import view_of
from fnmf.execution import Threads
from fnmf.factorization.solver import ExecutionContext, Stopping, solve
from fnmf.factorization.terms import (
    RULES,
    FixedWeighting,
    GraphTies,
    Kinds,
    NoTies,
    Objective,
    PaperWeighting,
    ResidualWeighting,
    Ties,
)
from fnmf.relevance.scheme import SCHEMES
from problems import factors_of, make_problem, make_state


class ProductTies(Ties):
    """Ties that are a product of two thin matrices, S = Z Zᵀ."""

    def __init__(self, Z, strength):
        self.Z, self.strength = Z, strength
        self.degree = Z @ Z.sum(axis=0)

    def pull(self, V, out, context):
        out[:] = self.Z @ (self.Z.T @ V)
        return np.maximum((V * (self.degree[:, None] * V - out)).sum(axis=0), 0)


PROBLEM = make_problem(3, 24, 9, smoothness=0.3)
Z = np.random.default_rng(0).random((24, 3))
WEIGHTINGS = {
    "fixed": FixedWeighting(),
    "residual": ResidualWeighting(np.full((24, 2), 0.1)),
    "paper": PaperWeighting(0.1, PROBLEM.live),
}
TIES = {
    "none": NoTies(np.dtype(float)),
    "graph": GraphTies(sp.csr_array(PROBLEM.S), 0.3, np.dtype(float)),
    "product": ProductTies(Z, 0.3),
}
ROWS = {"even": False, "robust": True}


def reason(weighting, ties, rows, shared, solver):
    """What is expected to be wrong, in words of the message; empty if nothing is."""
    if ties == "product" and solver == "hals":
        return "list of neighbours, which ProductTies does not have"
    if rows == "even":
        return ""
    if not shared:
        return 'use assignment="shared"'
    if weighting != "fixed":
        return "weighs features"
    return "leave the ties out" if ties != "none" else ""


@pytest.mark.parametrize("solver", RULES)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_a_pair_falls_or_is_refused(solver, shared, unit):
    for weighting, ties, rows in itertools.product(WEIGHTINGS, TIES, ROWS):
        objective = Objective(WEIGHTINGS[weighting], TIES[ties], shared, unit, ROWS[rows])
        # The robust loss has one weighting: lengths of residuals have no shares.
        state = make_state(PROBLEM, 3, 3, 1 if rows == "robust" else 2, shared)
        factors = factors_of(state, shared)
        context = ExecutionContext(view_of(PROBLEM.X), Threads(1))
        stopping = Stopping(max_iter=12, tol=0)
        expected = reason(weighting, ties, rows, shared, solver)
        if expected:
            with pytest.raises(ValueError, match=expected):
                solve(context, objective, factors, solver, stopping)
            continue
        totals = solve(context, objective, factors, solver, stopping).history["total"]
        assert (np.diff(totals) <= 1e-12 * totals[0]).all(), (weighting, ties, rows)
        assert totals[-1] < totals[0]


def test_ties_without_lists_pull_like_the_graph_they_stand_for():
    S = Z @ Z.T
    results = []
    for ties in (ProductTies(Z, 0.3), GraphTies(sp.csr_array(S), 0.3, np.dtype(float))):
        objective = Objective(FixedWeighting(), ties, shared=True)
        factors = factors_of(make_state(PROBLEM, 3, 3, 1, True), True)
        context = ExecutionContext(view_of(PROBLEM.X), Threads(1))
        results.append(solve(context, objective, factors, "mu", Stopping(max_iter=20, tol=0)))
    np.testing.assert_allclose(results[0].factors.V, results[1].factors.V, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weighting", SCHEMES)
@pytest.mark.parametrize("assignment", ["sample", "shared"])
@pytest.mark.parametrize("solver", RULES)
@pytest.mark.parametrize("graph", ["adaptive", None])
def test_what_the_estimator_offers_fits_together(weighting, assignment, solver, graph):
    X, _ = make_blobs()
    weighting = np.arange(X.shape[1]) if weighting == "given" else weighting
    parameters = {"weighting": weighting, "assignment": assignment, "solver": solver}
    model = FNMF(3, graph=graph, max_iter=500, tol=1e-2, random_state=0, **parameters)
    assert np.isfinite(model.fit(X).embedding_).all()


def test_a_misfit_is_refused_before_the_data_are_looked_at(monkeypatch):
    def kinds(settings):
        return Kinds(FixedWeighting, ProductTies, shared=True)

    monkeypatch.setattr(SCHEMES["uniform"], "kinds", kinds)
    model = FNMF(3, weighting="uniform", solver="hals")
    with pytest.raises(ValueError, match='solver="hals" updates samples one after the other'):
        model.fit("no data at all")
