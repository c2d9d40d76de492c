"""What comes to the client does not grow with the rows; what is there can be fetched and kept."""

import cloudpickle
import numpy as np
import pytest

from constants import vary
from fnmf import FNMF
from fnmf.data import drawn
from fnmf.execution.dask import _blocks

da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.filterwarnings("ignore")
D, C, BLOCKS = 8, 3, 4
CASES = {
    "default": {},
    "about means": {"weighting": "relevance", "smoothness": 0.0},
    "no graph": {"graph": None},
    "paper": {"weighting": "paper", "graph": None, "init": "random"},
}


def rows(block_info=None):
    (start, stop), _ = block_info[None]["array-location"]
    rng = np.random.default_rng(start)
    y = rng.integers(0, C, stop - start)
    X = rng.uniform(0, 1, (stop - start, D))
    X[:, :C] = rng.uniform(0, 0.3, (stop - start, C)) + np.eye(C)[y]
    return X.astype(np.float32)


@pytest.fixture
def received(monkeypatch):
    """Bytes that have come here."""
    sizes = []

    def counted(method):
        def counting(self, made, *place):
            for one in method(self, made, *place):
                sizes.append(len(cloudpickle.dumps(one)))
                yield one

        return counting

    for name in ("results", "pick"):
        method = getattr(_blocks._LocalBlocks, name)
        monkeypatch.setattr(_blocks._LocalBlocks, name, counted(method))
    # Both numbers of rows below have a sample to begin with.
    vary(monkeypatch, n_anchors=60, exact_rows=1000)
    monkeypatch.setattr("fnmf.kmeans._MOST", 500)
    monkeypatch.setattr("fnmf.factorization._initial._KMEANS_ROWS", 500)
    return sizes


@pytest.mark.parametrize("case", CASES)
def test_no_more_comes_here_from_more_rows(case, received):
    totals = []
    for n in (6000, 24000):
        received.clear()
        X = da.map_blocks(rows, chunks=((n // BLOCKS,) * BLOCKS, (D,)), dtype=np.float32)
        model = FNMF(C, random_state=0, n_jobs=1, max_iter=3, tol=0.0, **CASES[case]).fit(X)
        # How often features are weighed anew, and clusters moved, depends on the data.
        totals.append((sum(received), max(received)))
        assert model.labels_.chunks == ((n // BLOCKS,) * BLOCKS,)
    (few, largest), (many, largest_of_many) = totals
    assert largest_of_many <= 1.1 * largest
    assert many <= 1.5 * few


def test_a_draw_of_many_rows_makes_no_list_of_all():
    found = drawn(10**15, 50, np.random.RandomState(0))
    assert len(np.unique(found)) == 50
    assert (np.diff(found) > 0).all()
    assert found[-1] < 10**15
    np.testing.assert_array_equal(found, drawn(10**15, 50, np.random.RandomState(0)))
    np.testing.assert_array_equal(drawn(3, 50, np.random.RandomState(0)), np.arange(3))
