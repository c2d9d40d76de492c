"""Missing values: filled on the way, left out of every sum and of the data term."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import minmax_scale

from fnmf import (
    FNMF,
    DeepFNMF,
    MappedCSR,
    MiniBatchFNMF,
    RelevanceClusterer,
    SemiFNMF,
    choose_n_components,
    load,
    save,
)
from fnmf.affinity._incomplete import _filled_block
from fnmf.baselines import GNMF
from fnmf.data import Fill, IncompleteView, Scaling, has_missing
from fnmf.exceptions import EmptyFeatureWarning
from fnmf.execution import threads
from fnmf.metrics import clustering_accuracy
from fnmf.relevance.defaults import DEFAULTS
from fnmf.relevance.weights import chance_probabilities, explained, relevance
from fnmf.statistics import Moments, cluster_means, cluster_moments, column_means
from gaps import fit, with_gaps

SCHEMES = [{}, {"weighting": "uniform"}, {"weighting": "paper"}]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return minmax_scale(X), y


def view_with(X, nearest=None):
    """A view of rows whose missing cells come from rows that follow them."""
    n, d = X.shape
    near = (np.arange(n)[:, None] + [1, 2]) % n if nearest is None else nearest
    fill = Fill(X, near.astype(np.int32), np.nanmean(X, axis=0), 0.5, np.arange(d))
    return IncompleteView(X, fill)


def test_a_missing_cell_reads_as_the_mean_of_its_nearest_rows_and_little_of_the_column():
    X = np.array([[np.nan, 1.0], [2.0, 1.0], [4.0, np.nan], [6.0, np.nan]])
    view = view_with(X)
    first = (2 + 4 + 0.5 * 4) / 2.5
    assert view.exact(0, 1)[0, 0] == pytest.approx(first)
    # The rows after the third: one has no value there, one has 1.
    assert view.exact(2, 3)[0, 1] == pytest.approx((0 + 0.5 * 1) / 0.5)
    for rows in (view.stored(0, 4)[0], view.take(np.arange(4)), view.part(0, 4).double(0, 4)):
        assert rows[0, 0] == pytest.approx(first)
        assert not np.isnan(rows).any()
    scaled = view.scaled(Scaling(np.ones(4), np.array([3.0, 9.0]), np.array([2.0, 0.0])), drop=True)
    assert scaled.subset(np.array([0])).exact(0, 1).tolist() == [[6.0]]
    assert np.isnan(X[0, 0])


def test_a_block_row_without_any_value_reads_as_the_means(wine):
    X = with_gaps(wine[0], 0.2)
    empty = np.full((1, X.shape[1]), np.nan)
    found = _filled_block(empty, references=X, defaults=DEFAULTS)
    np.testing.assert_allclose(found, np.nanmean(X, axis=0)[None])
    model = fit(X)
    assert np.isfinite(model.transform(empty)).all()
    assert np.isfinite(model.impute(empty)).all()


def test_sums_are_those_of_observed_cells(wine):
    X = with_gaps(wine[0], 0.3)
    labels = wine[1].astype(np.int32)
    view = view_with(X).scaled(Scaling(np.full(len(X), 2.0), np.full(13, 0.6), np.ones(13)))
    Z = 2 * np.minimum(X, 0.6)
    with threads(1) as runner:
        mean = column_means(view, runner)
        moments = cluster_moments(view, labels, 3, mean, runner)
        means, counts = cluster_means(view, labels, 3, runner)
    np.testing.assert_allclose(mean, np.nanmean(Z, axis=0))
    assert counts.tolist() == np.bincount(labels).tolist()
    for a in range(3):
        own = Z[labels == a]
        np.testing.assert_allclose(means[a], np.nanmean(own, axis=0))
        np.testing.assert_allclose(moments.shifts[a], np.nanmean(own, axis=0) - mean)
        within = np.nansum((own - np.nanmean(own, axis=0)) ** 2, axis=0)
        np.testing.assert_allclose(moments.within[a], within)
        assert moments.cells[a].tolist() == (~np.isnan(own)).sum(axis=0).tolist()


def test_chance_by_cells_is_chance_by_samples_where_nothing_is_missing(wine):
    X, y = wine
    counts, mean = np.bincount(y).astype(float), X.mean(axis=0)
    sums = np.stack([(X[y == a] - mean).sum(axis=0) for a in range(3)])
    squares = np.stack([((X[y == a] - mean) ** 2).sum(axis=0) for a in range(3)])
    given = counts, mean, sums, squares, ((X - mean) ** 4).sum(axis=0)
    whole, cells = (
        Moments.from_sums(*given),
        Moments.from_sums(*given, np.repeat(counts[:, None], 13, axis=1)),
    )
    for groups, m in ((np.zeros(3, int), 1), (np.array([0, 1, 0]), 2)):
        one, other = explained(whole, groups, m), explained(cells, groups, m)
        for name in ("within", "total", "spread", "share"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name))
        np.testing.assert_allclose(np.broadcast_to(one.level, (m, 13)), other.level)
    np.testing.assert_allclose(relevance(whole), relevance(cells))
    np.testing.assert_allclose(chance_probabilities(whole), chance_probabilities(cells))


@pytest.mark.parametrize("parameters", [*SCHEMES, {"solver": "hals"}, {"assignment": "shared"}])
def test_missing_cells_have_no_part_in_the_data_term(wine, parameters):
    """The objective is that of the observed cells, and never rises."""
    X = with_gaps(wine[0], 0.2)
    model = fit(X, **parameters)
    totals = model.history_["total"]
    rounds = model.history_["round"]
    for number in np.unique(rounds):
        steps = np.diff(totals[rounds == number])
        assert np.all(steps <= 1e-7 * totals[0])
    for rows in (model.embedding_, model.transform(X), model.components_):
        assert np.isfinite(rows).all()


def test_the_last_value_of_the_objective_counts_observed_cells_only(wine):
    X = with_gaps(wine[0], 0.2)
    model = fit(X, weighting="uniform", n_weightings=1, graph=None, max_iter=300)
    squares = (model.feature_weights_[0] * X - model.embedding_ @ model.components_) ** 2
    assert model.objective_ == pytest.approx(np.nansum(squares), rel=1e-3)


def test_clusters_of_a_table_survive_missing_cells(wine):
    X, y = wine
    for share, least in ((0.1, 0.97), (0.3, 0.94), (0.5, 0.88)):
        labels = [fit(with_gaps(X, gone, seed)).labels_ for gone in (0, share) for seed in range(3)]
        found = [clustering_accuracy(y, one) for one in labels]
        assert np.mean(found[3:]) >= least * np.mean(found[:3])


def test_clusters_survive_missing_cells():
    X, y = (part[:600] for part in load_digits(return_X_y=True))
    complete = clustering_accuracy(y, fit(X, n_components=10).labels_)
    for share, least in ((0.1, 0.97), (0.3, 0.95), (0.5, 0.9)):
        model = fit(with_gaps(X, share), n_components=10)
        assert clustering_accuracy(y, model.labels_) >= least * complete


@pytest.mark.parametrize("parameters", SCHEMES)
def test_new_rows_may_have_missing_cells(wine, parameters):
    X, _ = wine
    gaps = with_gaps(X, 0.2)
    for train in (X, gaps):
        model = fit(train[::2], **parameters)
        for new in (X[1::2], gaps[1::2]):
            assert np.isfinite(model.transform(new)).all()
            assert np.isfinite(model.score(new))
            # Whatever the model makes of complete rows it makes of most of these.
            assert np.mean(model.predict(new) == model.predict(X[1::2])) > 0.8


def test_a_row_of_the_fit_is_predicted_to_be_where_it_is(wine):
    X = with_gaps(wine[0], 0.3)
    model = fit(X)
    assert (model.predict(X) == model.labels_).all()


def test_rows_do_not_depend_on_threads_or_on_the_number_type(wine):
    X = with_gaps(wine[0], 0.3)
    one, two = fit(X, n_jobs=1), fit(X, n_jobs=2)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    narrow = fit(X.astype(np.float32))
    assert narrow.embedding_.dtype == np.float32
    assert np.mean(narrow.labels_ == one.labels_) > 0.95
    np.testing.assert_array_equal(fit(np.asfortranarray(X)).labels_, one.labels_)


def test_pandas_missing_values_are_missing_values(wine):
    X = with_gaps(wine[0], 0.1)
    table = pd.DataFrame(X).astype("Float64")
    assert table.isna().to_numpy().sum() == np.isnan(X).sum()
    expected = fit(X).labels_
    np.testing.assert_array_equal(fit(table).labels_, expected)
    mixed = table.astype(object)
    assert mixed.isna().to_numpy().any()
    mixed[0] = X[:, 0]
    for objects in (mixed, mixed.to_numpy()):
        np.testing.assert_array_equal(fit(objects).labels_, expected)
    assert mixed[1].isna().sum() == np.isnan(X[:, 1]).sum()


def test_mapped_files_and_stored_values_of_sparse_data_may_be_missing(wine, tmp_path):
    X = with_gaps(wine[0], 0.1)
    expected = fit(X)
    np.save(tmp_path / "X.npy", X)
    mapped = fit(np.load(tmp_path / "X.npy", mmap_mode="r"))
    sparse = fit(sp.csr_array(X))
    MappedCSR.write(sp.csr_array(X), tmp_path / "csr")
    both = fit(MappedCSR.open(tmp_path / "csr"))
    for model in (mapped, sparse, both):
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_array_equal(model.predict(sp.csr_array(X)), expected.labels_)


def test_clusters_alone_take_missing_values_of_any_sign(wine):
    X, y = wine
    gaps = with_gaps(X, 0.2) - 0.5
    gaps[[4, 9]] = np.nan
    model = RelevanceClusterer(3, random_state=0).fit(gaps)
    assert clustering_accuracy(y, model.labels_) > 0.9
    assert model.rows_without_values_.tolist() == [4, 9]
    assert model.sample_confidence_[4] == 0
    assert (model.predict(gaps) == model.labels_).all()
    assert np.isnan(model.transform(gaps)).any()
    low, high = RelevanceClusterer(random_state=0).fit(gaps).k_interval_
    assert low <= 3 <= high


def test_layers_labels_and_streams_take_missing_values(wine):
    X, y = wine
    gaps = with_gaps(X, 0.2)
    deep = DeepFNMF((6, 3), random_state=0).fit(gaps)
    assert clustering_accuracy(y, deep.labels_) > 0.85
    known = np.where(np.arange(len(y)) % 9 == 0, y, -1)
    semi = SemiFNMF(3, random_state=0).fit(gaps, known)
    assert np.mean(semi.transduction_ == y) > 0.9
    assert np.mean(semi.predict(gaps) == y) > 0.9
    gaps[4] = np.nan
    for rows in (gaps, sp.csr_array(gaps)):
        stream = MiniBatchFNMF(3, random_state=0, batch_size=40).fit(rows)
        assert clustering_accuracy(y, stream.labels_) > 0.85
        assert np.isfinite(stream.components_).all()
        assert np.isfinite(stream.feature_relevance_).all()
        assert stream.labels_[4] == np.bincount(stream._stream.fitted.labels).argmax()


def test_methods_that_take_no_missing_values_say_what_to_do(wine):
    with pytest.raises(ValueError, match="GNMF takes no missing values: fill them"):
        GNMF(3).fit(with_gaps(wine[0], 0.1))


def test_the_number_of_clusters_is_that_of_observed_cells(wine):
    X = with_gaps(wine[0], 0.1)
    X[7] = np.nan
    found = choose_n_components(X, random_state=0)
    assert found.n_components == 3
    assert 7 not in found.rows


def test_large_sparse_data_with_missing_values_are_refused():
    X = sp.csr_array(([np.nan], ([0], [0])), shape=(20_000, 20_000))
    with pytest.raises(ValueError, match="20000 x 20000 as a dense array"):
        FNMF(2).fit(X)


@pytest.mark.parametrize("parameters", SCHEMES)
def test_rows_without_any_value_are_in_the_largest_cluster_and_listed(wine, parameters):
    X, _ = wine
    gaps = with_gaps(X, 0.1)
    gaps[[4, 9, 170]] = np.nan
    model = fit(gaps, **parameters)
    without = fit(np.delete(gaps, [4, 9, 170], axis=0), **parameters)
    assert model.rows_without_values_.tolist() == [4, 9, 170]
    assert without.rows_without_values_.tolist() == []
    np.testing.assert_array_equal(np.delete(model.labels_, [4, 9, 170]), without.labels_)
    largest = np.bincount(without.labels_).argmax()
    assert (model.labels_[[4, 9, 170]] == largest).all()
    assert (model.sample_confidence_[[4, 9, 170]] == 0).all()
    assert model.predict(np.full((1, 13), np.nan))[0] == largest
    assert model.embedding_.shape == (178, 3)
    assert model.graph_.shape == (178, 178)
    assert np.diff(model.graph_.indptr)[[4, 9, 170]].tolist() == [0, 0, 0]
    new = with_gaps(X[:20], 0.2, seed=3)
    np.testing.assert_array_equal(model.predict(new), without.predict(new))
    np.testing.assert_allclose(model.transform(new), without.transform(new))


def test_data_without_any_value_are_refused():
    with pytest.raises(ValueError, match="every cell is missing"):
        fit(np.full((20, 4), np.nan))


@pytest.mark.parametrize("parameters", SCHEMES)
def test_a_column_without_any_value_weighs_nothing(wine, parameters):
    X = with_gaps(wine[0], 0.1)
    X[:, 5] = np.nan
    with pytest.warns(EmptyFeatureWarning, match=r"1 feature.*\(5\)"):
        model = fit(X, **parameters)
    assert (model.feature_weights_[:, 5] == 0).all()
    assert model.feature_importances_[5] == 0


def test_infinity_is_refused_beside_missing_values(wine):
    X = with_gaps(wine[0], 0.1)
    X[3, 3] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        fit(X)


def test_a_model_with_missing_cells_can_be_stored(wine, tmp_path):
    X = with_gaps(wine[0], 0.2)
    model = fit(X)
    save(model, tmp_path / "model.fnmf")
    again = load(tmp_path / "model.fnmf")
    new = with_gaps(wine[0], 0.3, seed=5)
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    np.testing.assert_array_equal(again.transform(new), model.transform(new))


def test_clusters_are_described_by_observed_cells(wine):
    X = with_gaps(wine[0], 0.2)
    model = fit(X)
    for cluster in model.describe_clusters():
        own = X[model.labels_ == int(cluster.name)]
        for contrast in cluster.contrasts:
            assert contrast.mean == pytest.approx(np.nanmean(own[:, contrast.index]))
    assert "cluster" in str(model.explain(0))


def test_missing_cells_are_found_in_float_arrays_only():
    assert has_missing(np.array([[1.0, np.nan]]))
    assert not has_missing(np.array([[1.0, 2.0]]))
    assert not has_missing(np.array([[1, 2]]))
