"""Mixtures of independent columns: against formulas, scikit-learn, and as clusters of tables."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.cluster import KMeans
from sklearn.impute import KNNImputer
from sklearn.mixture import GaussianMixture

from fnmf import FNMF, MiniBatchFNMF, RelevanceClusterer, load, save
from fnmf.metrics import clustering_accuracy
from fnmf.relevance.candidates import search_context
from fnmf.relevance.defaults import DEFAULTS
from fnmf.relevance.mixture import Levels, _groups, _powers, completed_likelihoods, fit_mixture
from fnmf.relevance.sample import SampleTable
from fnmf.relevance.table_columns import CATEGORY, CONTINUOUS, FLAG


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def survey(seed, n=600, k=4, useless=4):
    """Answers to yes/no questions and of several choices that tell groups apart, among numbers."""
    rng = np.random.default_rng(seed)
    y = rng.choice(k, n, p=np.array([4, 3, 2, 1]) / 10)
    flags = rng.random((n, 6)) < rng.beta(0.4, 0.4, (k, 6))[y]
    choices = []
    for levels in rng.integers(3, 6, 5):
        shares = rng.dirichlet([0.5] * levels, k)
        drawn = np.array([rng.choice(levels, p=shares[group]) for group in y])
        choices.append(np.eye(levels)[:, np.unique(drawn)][drawn])
    return np.hstack([flags, *choices, rng.gamma(2, 50, (n, useless))]).astype(float), y


def test_likelihoods_are_those_of_normal_laws_and_of_shares():
    rng = np.random.default_rng(0)
    n, k = 50, 3
    level = rng.integers(0, 3, n)
    given = np.column_stack([rng.normal(size=(n, 2)), rng.random(n) < 0.4, np.eye(3)[level]])
    rows = standardised(given)
    kinds = np.array([CONTINUOUS] * 2 + [FLAG] + [CATEGORY] * 3)
    levels = Levels.of(rows, kinds, np.array([0, 1, 2, 3, 3, 3]))
    members = rng.dirichlet(np.ones(k), n)
    found = _groups(members, _powers(rows), levels, DEFAULTS).log_likelihoods(rows)
    expected = np.empty((n, k))
    for a, own in enumerate(members.T):
        size = own.sum()
        mean = own @ rows[:, :2] / size
        variance = (own @ (rows[:, :2] - mean) ** 2 + 1) / (size + 1)
        # Each group has one more row, as all are on average.
        share = (own @ given[:, 2:] + given[:, 2:].mean(axis=0)) / (size + 1)
        chosen = np.log(np.where(given[:, 3:] > 0, share[1:], 1)).sum(axis=1)
        flag = np.log(np.where(given[:, 2] > 0, share[0], 1 - share[0]))
        numbers = norm.logpdf(rows[:, :2], mean, np.sqrt(variance)).sum(axis=1)
        expected[:, a] = np.log((size + 1) / (n + k)) + numbers + flag + chosen
    # Normal densities have a constant that likelihoods do without.
    np.testing.assert_allclose(found, expected + np.log(2 * np.pi), rtol=1e-9)


def test_mixtures_of_numbers_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    y = rng.choice(3, 2000, p=(0.6, 0.3, 0.1))
    centres, spread = rng.normal(0, 3, (3, 4)), rng.uniform(0.5, 2, (3, 4))
    rows = standardised(centres[y] + spread[y] * rng.normal(size=(2000, 4)))
    levels = Levels.of(rows, np.full(4, CONTINUOUS), np.arange(4))
    start = KMeans(3, n_init=3, random_state=0).fit_predict(rows)
    labels = fit_mixture(rows, levels, [start], 3, None, DEFAULTS).labels(rows)
    peer = GaussianMixture(3, covariance_type="diag", n_init=3, random_state=0).fit_predict(rows)
    assert clustering_accuracy(peer, labels) > 0.99


def test_weights_of_rows_count_as_repeated_rows():
    X, _ = survey(2, n=80)
    rows, times = standardised(X[:, 6:]), np.random.default_rng(0).integers(1, 4, 80)
    levels = Levels.of(rows, np.full(rows.shape[1], CONTINUOUS), np.arange(rows.shape[1]))
    start = KMeans(3, n_init=1, random_state=0).fit_predict(rows)
    once = fit_mixture(rows, levels, [start], 3, times.astype(float), DEFAULTS)
    place = np.repeat(np.arange(80), times)
    again = fit_mixture(rows[place], levels, [start[place]], 3, None, DEFAULTS)
    np.testing.assert_allclose(again.centres, once.centres, atol=1e-6)


def test_a_feature_and_its_copies_count_once():
    X, _ = survey(3)
    kinds, rows = np.full(4, CONTINUOUS), standardised(X[:, -4:])
    copied = np.hstack([rows, rows[:, :1]])
    one = Levels.of(rows, kinds, np.arange(4))
    two = Levels.of(copied, np.full(5, CONTINUOUS), np.array([0, 1, 2, 3, 0]))
    members = np.random.default_rng(0).dirichlet(np.ones(3), len(rows))
    expected = _groups(members, _powers(rows), one, DEFAULTS).log_likelihoods(rows)
    found = _groups(members, _powers(copied), two, DEFAULTS).log_likelihoods(copied)
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_answers_that_tell_groups_apart_are_clustered_by_their_likelihood(seed):
    X, y = survey(seed)
    model = FNMF(4, random_state=0).fit(X)
    peer = KMeans(4, n_init=10, random_state=0).fit_predict(standardised(X))
    assert model.chosen_[0]["clusters"] == "mixture"
    assert clustering_accuracy(y, model.labels_) >= max(clustering_accuracy(y, peer), 0.85)
    assert np.array_equal(model.predict(X), model.labels_)
    assert (model.feature_relevance_[-4:] == 0).all()


def test_clusters_of_a_mixture_are_kept_in_model_files(tmp_path):
    X, _ = survey(0)
    model = RelevanceClusterer(4, random_state=0).fit(X)
    save(model, tmp_path / "model.fnmf")
    assert np.array_equal(load(tmp_path / "model.fnmf").predict(X), model.labels_)


def test_new_rows_and_rows_beyond_the_sample_belong_to_the_likeliest_group():
    X, y = survey(5, n=6000)
    model = RelevanceClusterer(4, random_state=0).fit(X[:4000])
    assert model.chosen_[0]["clusters"] == "mixture"
    assert clustering_accuracy(y[:4000], model.labels_) > 0.9
    assert clustering_accuracy(y[4000:], model.predict(X[4000:])) > 0.9


def test_mixtures_know_missing_cells_and_streams():
    X, y = survey(6, n=1200)
    gaps = np.random.default_rng(0).random(X.shape) < 0.1
    # A choice is missing as a whole or not at all.
    model = RelevanceClusterer(4, random_state=0).fit(np.where(gaps, np.nan, X))
    assert clustering_accuracy(y, model.labels_) > 0.75
    stream = MiniBatchFNMF(4, random_state=0).fit(X)
    assert clustering_accuracy(y, stream.predict(X)) > 0.85


@pytest.mark.parametrize("seed", range(3))
def test_the_number_of_groups_is_the_one_worth_its_parameters(seed):
    X, _ = survey(seed)
    model = RelevanceClusterer("auto", random_state=0).fit(X)
    assert model.n_clusters_ == 4
    assert model.k_scores_["score"].max() > 0


@pytest.mark.parametrize("seed", range(3))
def test_answers_that_have_nothing_in_common_are_one_group(seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((150, 12)) < rng.uniform(0.1, 0.9, 12)).astype(float)
    assert RelevanceClusterer("auto", random_state=0).fit(X).n_clusters_ == 1


def test_completed_likelihoods_choose_as_bic_does_where_groups_are_far_apart():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = np.hstack([4 * np.eye(3)[y] + rng.normal(size=(300, 3)), rng.random((300, 1)) < 0.5])
    rows = standardised(X)
    table = SampleTable(rows.astype(np.float32), np.ones(4))
    kinds = np.array([CONTINUOUS] * 3 + [FLAG])
    found = {}
    for k in (1, 2, 3, 4, 5):
        context = search_context(table, np.arange(4), k, 5, 3, 0, kinds=kinds)
        found[k] = completed_likelihoods(context, np.ones(4))[0].sum()
    peers = {k: GaussianMixture(k, covariance_type="diag", n_init=5, random_state=0) for k in found}
    bic = {k: peer.fit(rows[:, :3]).bic(rows[:, :3]) for k, peer in peers.items()}
    assert max(found, key=found.get) == min(bic, key=bic.get) == 3


def test_a_mixture_with_groups_that_no_row_is_in_is_not_chosen():
    X, _ = survey(0, n=40)
    model = RelevanceClusterer(20, random_state=0).fit(X)
    assert len(np.unique(model.labels_)) == 20


def amounts(seed, n=500, k=3):
    """Amounts of money, visits and yes/no answers that tell groups apart, among useless numbers."""
    rng = np.random.default_rng(seed)
    y = rng.choice(k, n, p=np.array([5, 3, 2]) / 10)
    money = np.exp(rng.normal(0, 1.5, (k, 3))[y] + rng.normal(0, 0.5, (n, 3)))
    flags = rng.random((n, 4)) < rng.beta(0.5, 0.5, (k, 4))[y]
    return np.hstack([100 * money, flags, rng.uniform(0, 50, (n, 3))]), y


@pytest.mark.parametrize("seed", range(3))
def test_skewed_amounts_are_taken_in_logarithms(seed, tmp_path):
    X, y = amounts(seed)
    model = RelevanceClusterer(3, random_state=0).fit(X)
    assert model.chosen_[0]["clusters"] == "mixture"
    assert (model._log_offset[:3] > 0).all()
    assert (model._log_offset[3:] == 0).all()
    assert clustering_accuracy(y, model.labels_) > 0.93
    save(model, tmp_path / "model.fnmf")
    assert np.array_equal(load(tmp_path / "model.fnmf").predict(X), model.labels_)
    # Values below all of the fit are as good as the lowest.
    assert np.isfinite(model.predict(np.zeros_like(X))).all()


def test_skewed_amounts_in_other_units_have_the_same_clusters():
    X, _ = amounts(0)
    first = RelevanceClusterer(3, random_state=0).fit(X).labels_
    again = RelevanceClusterer(3, random_state=0).fit(X * np.logspace(-3, 3, X.shape[1])).labels_
    assert clustering_accuracy(first, again) > 0.99


def test_missing_cells_have_no_part_in_likelihoods():
    X, y = survey(7)
    X = np.hstack([X, np.random.default_rng(3).lognormal(size=(len(X), 1))])
    kinds = np.array([FLAG] * 6 + [CATEGORY] * (X.shape[1] - 11) + [CONTINUOUS] * 5)
    rows = standardised(X)
    levels = Levels.of(rows, kinds, np.arange(X.shape[1]))
    gaps = np.random.default_rng(0).random(X.shape) < 0.3
    members = np.eye(4)[y]
    given = np.where(gaps, np.nan, rows)
    whole = _groups(members, _powers(given), levels, DEFAULTS)
    # A row's likelihood is that of a mixture of the features it has.
    for i in range(20):
        own = ~gaps[i]
        part = _groups(
            members,
            _powers(given[:, own]),
            Levels.of(rows[:, own], kinds[own], np.flatnonzero(own)),
            DEFAULTS,
        )
        np.testing.assert_allclose(
            whole.log_likelihoods(given[i : i + 1]),
            part.log_likelihoods(given[i : i + 1, own]),
            atol=1e-9,
        )
    filled = _groups(members, _powers(rows), levels, DEFAULTS)
    np.testing.assert_allclose(
        filled.of_powers(np.hstack([rows, rows**2, np.ones(rows.shape)])),
        filled.of_powers(_powers(rows)),
        atol=1e-9,
    )


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_groups_of_numbers_with_missing_cells_are_told_by_the_others(share, tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, 500)
    X = rng.normal(0, 1.6, (4, 12))[y] + rng.normal(size=(500, 12))
    X = np.hstack([X - X.min(axis=0), rng.gamma(2, 50, (500, 4))])
    X[rng.random(X.shape) < share] = np.nan
    X[7] = np.nan
    model = RelevanceClusterer(4, random_state=0).fit(X)
    assert model.chosen_[0]["clusters"] == "mixture"
    filled = standardised(KNNImputer().fit_transform(np.delete(X, 7, axis=0)))
    peer = KMeans(4, n_init=10, random_state=0).fit_predict(filled)
    rest = np.delete(np.arange(500), 7)
    assert clustering_accuracy(y[rest], model.labels_[rest]) > clustering_accuracy(y[rest], peer)
    assert np.array_equal(model.predict(X), model.labels_)
    save(model, tmp_path / "model.fnmf")
    assert np.array_equal(load(tmp_path / "model.fnmf").predict(X), model.labels_)
