"""Very many rows begin with the factors of a sample."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from constants import vary
from fnmf import FNMF, Checkpoint
from fnmf.affinity import Nearest
from fnmf.affinity._anchor_moves import cluster_by_anchors
from fnmf.data import view_of
from fnmf.execution import threads
from fnmf.factorization import sample_sizes
from fnmf.metrics import clustering_accuracy
from versions import needs_callbacks

pytestmark = pytest.mark.filterwarnings("ignore")
N, D, C = 1500, 30, 4


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, C, N)
    X = rng.uniform(0, 1, (N, D))
    X[:, :12] = np.abs(rng.uniform(0, 1, (C, 12))[y] + 0.1 * rng.normal(size=(N, 12)))
    return X.astype(np.float32), y


@pytest.fixture
def small(monkeypatch):
    """What is many for the library is few here."""
    vary(monkeypatch, exact_rows=600, n_anchors=100)


def fit(X, **options):
    return FNMF(C, random_state=0, max_iter=500, **options).fit(X)


@pytest.mark.parametrize("n_weightings", [1, 3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_it_ends_as_low_with_fewer_iterations(data, small, monkeypatch, form, n_weightings):
    X, y = data
    begun = fit(form(X), n_weightings=n_weightings)
    # The same search, from which all rows are solved for at once.
    monkeypatch.setattr("fnmf.relevance.pipeline.sample_sizes", lambda *_: [])
    whole = fit(form(X), n_weightings=n_weightings)
    assert begun.objective_ <= 1.01 * whole.objective_
    assert begun.n_iter_ <= whole.n_iter_ / 2
    np.testing.assert_array_equal(begun.labels_, whole.labels_)
    assert clustering_accuracy(y, begun.labels_) > 0.95
    unused = begun.feature_weights_.max(axis=0) == 0
    assert not begun.components_[:, unused].any()


def test_a_start_of_the_users_is_left_alone(data, small, monkeypatch):
    X, _ = data

    def refuse(*_):
        raise AssertionError("begun on a sample")

    monkeypatch.setattr("fnmf.relevance.pipeline.start_on_samples", refuse)
    fit(X, init="random")
    with pytest.raises(AssertionError, match="sample"):
        fit(X)


@pytest.mark.parametrize("smoothness", [0.0, 1.0])
def test_without_ties_too(data, small, smoothness):
    X, _ = data
    assert np.isfinite(fit(X, smoothness=smoothness).objective_)


def test_samples_grow_and_stay_a_part_of_all_rows():
    for n, entries in ((10_000, 50), (20_000, 784), (10**6, 50), (10**7, 50), (10**6, 20_000)):
        sizes = sample_sizes(n, entries)
        assert all(2 * a <= b <= n / 10 for a, b in pairwise(sizes))
        assert sum(sizes) * entries <= 2 * 2**25
    assert sample_sizes(10_000, 50) == sample_sizes(10**6, 20_000) == []
    assert len(sample_sizes(10**7, 20)) == 4


def test_threads_do_not_matter(data, small):
    X, _ = data
    one, two = (fit(X, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.components_, two.components_)


@needs_callbacks
def test_a_checkpoint_goes_on_with_the_same_bits(data, small, tmp_path):
    X, _ = data
    whole = fit(X)

    class StopError(Exception):
        pass

    class Stopping:
        def setup(self, estimator, context):
            """Nothing."""

        def teardown(self, estimator, context):
            """Nothing."""

        def on_fit_task_begin(self, estimator, context):
            """Nothing."""

        def on_fit_task_end(self, estimator, context, *, metadata=None):
            if context.task_name == "iteration" and metadata["iteration"] == 2:
                raise StopError
            return False

    model = FNMF(C, random_state=0, max_iter=500)
    with pytest.raises(StopError):
        model.set_callbacks(Stopping()).fit(X, checkpoint=Checkpoint(tmp_path, every=0))
    resumed = FNMF(C, random_state=0, max_iter=500).fit(X, checkpoint=tmp_path)
    np.testing.assert_array_equal(resumed.embedding_, whole.embedding_)
    np.testing.assert_array_equal(resumed.assignments_, whole.assignments_)
    assert resumed.objective_ == whole.objective_


def test_dask_begins_on_the_same_sample(data, small, monkeypatch):
    da = pytest.importorskip("dask.array")
    X, _ = data
    sizes = (512, 496, 492)
    bounds = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    whole = list(pairwise(bounds))
    usual = type(view_of(X)).blocks
    monkeypatch.setattr(
        "fnmf.data._views.DenseView.blocks",
        lambda self: whole if self.shape[0] == N else usual(self),
    )
    there, here = fit(da.from_array(X, chunks=(sizes, D))), fit(X)
    np.testing.assert_array_equal(there.embedding_.compute(), here.embedding_)
    np.testing.assert_array_equal(there.components_, here.components_)


def test_moves_leave_no_cluster_empty():
    """Blocks do not see each other, and all of them could take the last samples away."""
    rng = np.random.default_rng(0)
    n, anchors, k = 40_000, 20, 6
    indices = rng.integers(0, anchors, (n, 2)).astype(np.int16)
    nearest = Nearest(indices, np.full((n, 2), 0.5, np.float32))
    mass = np.bincount(indices.ravel(), minlength=anchors) * 0.5
    of_anchors = np.repeat(np.arange(k), 4)[:anchors]
    with threads(2) as runner:
        view = view_of(np.zeros((n, 300), np.float32))
        assert len(view.blocks()) > 1
        labels = cluster_by_anchors(nearest, mass, of_anchors, view, runner)
    present = len(np.unique(of_anchors))
    assert len(np.unique(labels)) == present
