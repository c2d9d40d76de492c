"""Batches: neighbours of every batch, relevance within batches, what separates batches is told."""

import numpy as np
import pytest

from fnmf import FNMF, RelevanceClusterer, load, save
from fnmf.affinity._balanced import balanced_graph
from fnmf.data import view_of
from fnmf.datasets import make_planted_subspaces
from fnmf.execution import threads
from fnmf.metrics import clustering_accuracy


@pytest.fixture(scope="module")
def data():
    """Four groups in two batches; ten features that no group has are higher in the second."""
    X, y, _ = make_planted_subspaces(300, 4, random_state=0)
    rng = np.random.default_rng(0)
    batch = rng.permutation(len(X)) % 2
    marks = rng.random((len(X), 10)) + 3.0 * batch[:, None]
    return np.hstack([X, X.max() * marks / marks.max()]), y, batch


def test_every_batch_has_the_same_say_in_the_graph():
    rng = np.random.default_rng(0)
    batch = np.repeat([0, 1, 2], [60, 25, 15])
    # Batches are far from each other, so that no neighbour by distance is of another one.
    X = rng.random((100, 4)) + 50.0 * batch[:, None]
    with threads(1) as runner:
        graph = balanced_graph(view_of(X), batch, 5, runner)
    np.testing.assert_allclose((graph - graph.T).toarray(), 0)
    assert graph.sum() == pytest.approx(100)
    assert graph.diagonal().sum() == 0
    within = [graph[batch == a][:, batch == b].sum() for a in range(3) for b in range(3)]
    ties = np.reshape(within, (3, 3))
    # A third of what each row sends goes to each batch.
    np.testing.assert_allclose(np.diag(ties), np.array([60, 25, 15]) / 3)


@pytest.mark.parametrize("kind", [FNMF, RelevanceClusterer])
def test_groups_are_found_and_batches_are_told(data, kind, tmp_path):
    X, y, batch = data
    model = kind(4, random_state=0).fit(X, batch=np.array(["a", "b"])[batch])
    assert clustering_accuracy(y, model.labels_) > 0.95
    assert model.batch_mixing_.min() > 0.9
    assert (model.batch_relevance_[-10:] > 0.5).all()
    # Within batches these features say nothing.
    assert (model.feature_relevance_[-10:] < 0.1).all()
    assert np.median(model.batch_relevance_[:-10]) < 0.05
    save(model, tmp_path / "m.fnmf")
    np.testing.assert_array_equal(load(tmp_path / "m.fnmf").batch_mixing_, model.batch_mixing_)
    model.fit(X)
    assert not hasattr(model, "batch_mixing_")


def test_the_number_of_clusters_is_that_of_a_batch(data):
    X, _, batch = data
    assert FNMF("auto", random_state=0).fit(X, batch=batch).n_components_ == 4


def test_missing_values_and_batches_go_together(data):
    X, y, batch = data
    gaps = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    gaps[3] = np.nan
    with pytest.raises(ValueError, match="batch has shape"):
        FNMF(4).fit(gaps, batch=batch[:5])
    model = FNMF(4, random_state=0).fit(gaps, batch=batch)
    assert clustering_accuracy(y, model.labels_) > 0.9
    assert model.rows_without_values_.tolist() == [3]


def test_batches_that_do_not_fit_are_refused(data):
    X, _, batch = data
    with pytest.raises(ValueError, match="batch has shape"):
        FNMF(4).fit(X, batch=batch[:5])
    with pytest.raises(ValueError, match="batch '7' has 1 sample"):
        FNMF(4).fit(X, batch=np.where(np.arange(len(X)) == 3, 7, batch))
    with pytest.raises(ValueError, match="batch balances the neighbours"):
        FNMF(4, weighting="uniform").fit(X, batch=batch)


@pytest.mark.parametrize("nothing", [None, np.nan, "", "  "])
def test_a_batch_that_is_missing_is_refused(data, nothing):
    X, _, batch = data
    names = [*np.array(["a", "b"])[batch]]
    names[3] = names[8] = nothing
    with pytest.raises(ValueError, match=r"batch is missing for 2 sample\(s\), row\(s\) 3, 8;"):
        FNMF(4).fit(X, batch=names)
    with pytest.raises(ValueError, match="batch is missing"):
        FNMF(4).fit(X, batch=np.array(names))
    with pytest.raises(ValueError, match="batch is missing"):
        FNMF(4).fit(X, batch=np.where(np.arange(len(X)) > 20, np.nan, batch))


def test_a_batch_that_is_missing_in_pandas_is_refused_unless_the_row_does_not_count(data):
    pd = pytest.importorskip("pandas")
    X, _, batch = data
    series = pd.Series(batch, dtype="Int64").mask(np.arange(len(X)) == 5)
    with pytest.raises(ValueError, match=r"row\(s\) 5; leave them out"):
        FNMF(4).fit(X, batch=series)
    model = FNMF(4, random_state=0, max_iter=2).fit(
        X, batch=series, sample_weight=np.arange(len(X)) != 5
    )
    assert model.sample_confidence_[5] == 0


@pytest.mark.parametrize(
    "make",
    [
        RelevanceClusterer,
        FNMF,
        lambda k, **p: FNMF("auto", **p),
        lambda k, **p: FNMF(k, init="random", **p),
    ],
    ids=["clusters", "default", "auto", "random start"],
)
def test_weight_is_repetition_within_batches(data, make):
    X, _, batch = data
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 4, len(X))
    # Rows that equal each other in one batch are one, those of several are not.
    X = X.copy()
    X[:20] = X[20:40]
    rows = rng.permutation(np.repeat(np.arange(len(X)), weights))
    weighted = make(4, random_state=0).fit(X, sample_weight=weights, batch=batch)
    twice = make(4, random_state=0).fit(X[rows], batch=batch[rows])
    np.testing.assert_array_equal(weighted.labels_[rows], twice.labels_)
    np.testing.assert_array_equal(weighted.predict(X), twice.predict(X))
    np.testing.assert_allclose(weighted.batch_mixing_, twice.batch_mixing_)
    np.testing.assert_allclose(weighted.batch_relevance_, twice.batch_relevance_)
    np.testing.assert_allclose(weighted.transform(X), twice.transform(X))


def test_weight_0_is_absence_and_1_changes_nothing_in_batches(data):
    X, _, batch = data
    there = np.random.default_rng(4).random(len(X)) < 0.8
    names = np.where(there, batch, 7)  # a batch that does not count is none
    model = FNMF(4, random_state=0).fit(X, sample_weight=there, batch=names)
    without = FNMF(4, random_state=0).fit(X[there], batch=batch[there])
    np.testing.assert_array_equal(model.embedding_[there], without.embedding_)
    np.testing.assert_array_equal(model.labels_, without.predict(X))
    np.testing.assert_array_equal(model.batch_mixing_, without.batch_mixing_)
    with pytest.raises(ValueError, match="batch '7' has 1 sample"):
        FNMF(4).fit(X, sample_weight=there | (np.cumsum(~there) == 1), batch=names)


def test_weights_below_one_are_no_counts_and_a_batch_may_be_one_row(data):
    X, y, batch = data
    X, batch = X.copy(), batch.copy()
    X[:20], batch[:20] = X[0], 2
    model = FNMF(4, random_state=0).fit(X, sample_weight=np.full(len(X), 1e-3), batch=batch)
    assert clustering_accuracy(y[20:], model.labels_[20:]) > 0.95


def test_batches_of_cells_are_a_column(data):
    ad = pytest.importorskip("anndata")
    import fnmf.scverse as fv

    X, y, batch = data
    cells = ad.AnnData(X)
    cells.obs["donor"] = np.array(["a", "b"])[batch]
    fv.tl.fnmf(cells, 4, rng=0, batch_key="donor")
    assert clustering_accuracy(y, cells.obs["fnmf"].to_numpy().astype(int)) > 0.95
    assert (cells.var["fnmf_batch_relevance"][-10:] > 0.5).all()
    with pytest.raises(ValueError, match="batch_key='who' is no column"):
        fv.tl.fnmf(cells, 4, batch_key="who")


def test_the_command_finds_groups_across_batches(data, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from fnmf.cli._app import app

    X, y, batch = data
    names = [f"f{k}" for k in range(X.shape[1])]
    rows = [",".join(f"{value:.4f}" for value in row) for row in X]
    lines = [f"{row},day {b}" for row, b in zip(rows, batch, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join([",".join([*names, "day"]), *lines]))
    monkeypatch.chdir(tmp_path)
    words = ["cluster", "t.csv", "-k", "4", "--batch", "day"]
    refused = CliRunner().invoke(app, [*words, "--label-column", "day"])
    assert "--label-column does not go with --batch" in refused.stderr
    (tmp_path / "gap.csv").write_text("\n".join([",".join([*names, "day"]), *lines, f"{rows[0]},"]))
    refused = CliRunner().invoke(app, ["cluster", "gap.csv", *words[2:]])
    assert f"--batch day: 1 cell(s) are empty, the first in row {len(X) + 1};" in refused.stderr
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output + done.stderr
    rows = (tmp_path / "t.csv-clusters/labels.csv").read_text().splitlines()[1:]
    assert clustering_accuracy(y, [int(row.split(",")[1]) for row in rows]) > 0.95
    page = (tmp_path / "t.csv-clusters/report.html").read_text()
    assert "These features separate batches, not groups: f2" in page
    assert "Batches are mixed within clusters by" in page
