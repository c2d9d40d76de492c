"""Dask arrays: the same bits as threads on the same blocks; clear errors before any iteration."""

import numpy as np
import pytest
import scipy.sparse as sp

from constants import vary
from fnmf import FNMF, Checkpoint
from fnmf.data import view_of
from fnmf.metrics import clustering_accuracy

da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.filterwarnings("ignore")
N, D, C = 700, 24, 3
# Blocks of in-memory data are whole batches; so are these chunks.
SIZES = (256, 176, 256, 12)


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    y = rng.integers(0, C, N)
    X = rng.uniform(0, 1, (N, D))
    X[:, :6] = rng.uniform(0, 0.3, (N, 6)) + np.eye(C).repeat(2, axis=1)[y]
    return np.where(X > 0.2, X, 0).astype(np.float32)


@pytest.fixture(autouse=True)
def few_anchors(monkeypatch):
    """Threads hold rows to anchors too, and work on the blocks of the Dask array."""
    vary(monkeypatch, exact_rows=100, n_anchors=80)
    bounds = np.concatenate([[0], np.cumsum(SIZES)])
    same = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
    for kind in ("_views.DenseView", "_sparse.SparseView"):

        def blocks(self):
            return same if self.shape[0] == N else [(0, self.shape[0])]

        monkeypatch.setattr(f"fnmf.data.{kind}.blocks", blocks)


def chunked(X, sparse=False):
    whole = da.from_array(X, chunks=(SIZES, D))
    return whole.map_blocks(sp.csr_array, dtype=X.dtype) if sparse else whole


def model(**parameters):
    given = {"n_components": C, "random_state": 0, "n_jobs": 1, "max_iter": 40}
    return FNMF(**{**given, **parameters})


def assert_same(dask, threads):
    for name in ("embedding_", "labels_", "assignments_"):
        found = getattr(dask, name)
        assert found.chunks[0] == SIZES
        np.testing.assert_array_equal(found.compute(), getattr(threads, name))
    for name in ("components_", "feature_weights_", "feature_importances_", "history_"):
        np.testing.assert_array_equal(getattr(dask, name), getattr(threads, name))
    assert dask.objective_ == threads.objective_


CASES = {
    "default": {},
    "one weighting": {"n_weightings": 1},
    "no graph": {"graph": None},
    "hals": {"graph": None, "solver": "hals"},
    "paper": {"weighting": "paper", "graph": None},
    "shared": {"weighting": "uniform", "graph": None, "assignment": "shared", "init": "random"},
}


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("case", CASES)
def test_dask_gives_the_bits_of_threads(case, sparse, X):
    rows = sp.csr_array(X) if sparse else X
    assert_same(model(**CASES[case]).fit(chunked(X, sparse)), model(**CASES[case]).fit(rows))


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
def test_new_rows_of_any_kind(sparse, X):
    here, there = model().fit(X), model().fit(chunked(X, sparse=False))
    new = X[::-1][:300].copy()
    lazy = da.from_array(new, chunks=(120, D))
    lazy = lazy.map_blocks(sp.csr_array, dtype=X.dtype) if sparse else lazy
    labels, codes = there.predict(lazy), there.transform(lazy)
    assert labels.chunks == ((120, 120, 60),)
    assert codes.chunks == ((120, 120, 60), (C,))
    np.testing.assert_array_equal(labels.compute(), here.predict(new))
    np.testing.assert_allclose(codes.compute(), here.transform(new), rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(there.predict(new), here.predict(new))
    np.testing.assert_array_equal(here.predict(lazy).compute(), here.predict(new))


def test_a_checkpoint_made_by_threads_serves_dask(X, tmp_path):
    first = model(n_init=2).fit(X, checkpoint=Checkpoint(tmp_path, every=0))
    written = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert_same(model(n_init=2).fit(chunked(X), checkpoint=tmp_path), first)
    assert written == {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}


def test_a_checkpoint_made_by_dask_serves_threads(X, tmp_path):
    first = model().fit(chunked(X), checkpoint=Checkpoint(tmp_path, every=0))
    written = (tmp_path / "start-209652396.npz").stat().st_mtime_ns
    assert_same(first, model().fit(X, checkpoint=tmp_path))
    assert written == (tmp_path / "start-209652396.npz").stat().st_mtime_ns


def test_a_start_of_the_users_travels_to_the_blocks(X):
    rng = np.random.default_rng(1)
    init = rng.uniform(size=(N, C)).astype(np.float32), rng.uniform(size=(C, D)).astype(np.float32)
    assert_same(model(init=init).fit(chunked(X)), model(init=init).fit(X))


def test_empty_chunks_do_not_matter(X):
    holes = da.concatenate([chunked(X)[:256], chunked(X)[:0], chunked(X)[256:]])
    found = model().fit(holes)
    assert found.labels_.chunks == holes.chunks[:1]
    np.testing.assert_array_equal(found.labels_.compute(), model().fit(X).labels_)


def with_block(X, number, change):
    """A Dask array of which one block is changed."""

    def changed(block, block_info=None):
        return change(block) if block_info[0]["chunk-location"][0] == number else block

    return chunked(X).map_blocks(changed, dtype=X.dtype, meta=np.empty((0, 0), X.dtype))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda block: block - 1, r"block 2 of X \(rows 432 to 687\) goes down to -1"),
        (lambda block: block + np.inf, r"Block 2 of X .* contains infinity"),
        (lambda block: block[:50], r"Block 2 of X .* has 50 rows, but X says 256; mend"),
        (lambda block: block[:, :5], r"Block 2 of X .* has shape \(256, 5\), but X says 24"),
        (lambda block: block.astype(float), r"Block 2 of X .* is of type float64"),
        (lambda block: sp.csr_array(block), r"Block 2 of X .* is sparse, the first one is not"),
    ],
)
def test_a_bad_block_is_named_before_the_first_iteration(change, message, X, monkeypatch):
    monkeypatch.setattr(
        "fnmf.relevance.pipeline.feature_statistics", lambda *_: pytest.fail("too late")
    )
    with pytest.raises(ValueError, match=message):
        model().fit(with_block(X, 2, change))


@pytest.mark.parametrize("sparse", [False, True])
def test_missing_cells_are_filled_where_the_blocks_are(X, sparse):
    gaps = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.float32(np.nan), X)
    found, whole = model().fit(chunked(gaps, sparse)), model().fit(X)
    labels = found.labels_.compute()
    assert clustering_accuracy(whole.labels_, labels) > 0.95
    assert np.isfinite(found.embedding_.compute()).all()
    assert clustering_accuracy(labels, found.predict(chunked(gaps, sparse)).compute()) > 0.95


def test_chunks_that_cannot_work_are_refused(X):
    with pytest.raises(ValueError, match=r"3 chunks of columns; .* X.rechunk\(\{1: -1\}\)"):
        model().fit(da.from_array(X, chunks=(100, 10)))
    unknown = chunked(X)[chunked(X)[:, 0] > 0.5]
    with pytest.raises(ValueError, match=r"unknown chunk sizes; call X.compute_chunk_sizes"):
        model().fit(unknown)
    with pytest.raises(ValueError, match="two are needed"):
        model().fit(chunked(X)[0])
    with pytest.raises(ValueError, match="needs numbers"):
        model().fit(chunked(X).astype(str))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weighting": "paper"}, 'use weighting="relevance", or graph=None'),
        ({"solver": "hals"}, 'use "mu-fast", or graph=None'),
        ({"graph": "approximate"}, 'graph must be "adaptive"'),
        ({"graph": sp.eye_array(N, format="csr")}, 'graph must be "adaptive"'),
        ({"init": "nndsvda"}, 'cannot work on a Dask array; use "kmeans"'),
    ],
)
def test_what_needs_all_rows_in_one_place_is_refused(parameters, message, X):
    with pytest.raises(ValueError, match=message):
        model(**parameters).fit(chunked(X))


def test_rows_can_be_fetched_by_number_in_any_order(X):
    from fnmf.execution.dask import dask_view

    rows = np.array([699, 3, 256, 255, 3, 431])
    for sparse in (False, True):
        view = dask_view(model(), chunked(X, sparse))
        here = view_of(sp.csr_array(X) if sparse else X)
        found, expected = view.take(rows), here.take(rows)
        if sparse:
            found, expected = found.toarray(), expected.toarray()
        np.testing.assert_array_equal(found, expected)
        assert view.mean() == pytest.approx(here.mean())
        with pytest.raises(RuntimeError, match="through a runner only"):
            view.block(0, 3)
