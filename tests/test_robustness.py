"""Unusual but honest uses: each works, or says what to do."""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

import fnmf
from fnmf import FNMF, DeepFNMF, MiniBatchFNMF
from fnmf._compile import tell_first_compiling
from fnmf.datasets.loading import cache_home

pytestmark = pytest.mark.filterwarnings(
    f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning",
    "ignore::fnmf.exceptions.WeightCollapseWarning",
)
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.fixture(scope="module")
def X():
    rows, _ = make_blobs(300, 4, centers=12, random_state=0, center_box=(0, 60))
    return rows - rows.min(axis=0)


@pytest.fixture(scope="module")
def model(X):
    return FNMF(12, random_state=0).fit(X)


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_of_numpy_are_integers(X, model, kind):
    numbers = {"n_components": 12, "n_neighbors": 5, "n_clusters": 12, "n_weightings": 3}
    numbers |= {"n_init": 1, "max_iter": 100, "verbose": 0, "n_jobs": 1, "random_state": 0}
    given = FNMF(**{name: kind(value) for name, value in numbers.items()}).fit(X)
    plain = FNMF(**numbers).fit(X)
    np.testing.assert_array_equal(given.labels_, plain.labels_)
    np.testing.assert_array_equal(given.transform(X[:9]), plain.transform(X[:9]))
    np.testing.assert_array_equal(given.predict(X[:9]), plain.predict(X[:9]))
    # The parameter itself stays what it was: clone asks for that.
    assert type(clone(given).n_components) is kind


def test_integers_of_numpy_are_integers_for_streams(X):
    given = MiniBatchFNMF(np.uint8(12), batch_size=np.uint8(100), sample_size=np.int16(200))
    plain = MiniBatchFNMF(12, batch_size=100, sample_size=200)
    labels = [one.set_params(random_state=0).fit(X).labels_ for one in (given, plain)]
    np.testing.assert_array_equal(*labels)


@pytest.mark.parametrize(("fitted", "then"), [("relevance", "uniform"), ("uniform", "relevance")])
@pytest.mark.parametrize("method", ["transform", "predict", "inverse_transform"])
def test_a_weighting_changed_after_the_fit_is_refused(X, fitted, then, method):
    model = FNMF(3, weighting=fitted, random_state=0).fit(X)
    rows = model.transform(X) if method == "inverse_transform" else X
    model.set_params(weighting=then)
    with pytest.raises(ValueError, match=f'weighting was set to "{then}" after a fit'):
        getattr(model, method)(rows)
    before = model.set_params(weighting=fitted)
    assert len(getattr(before, method)(rows)) == len(X)


class Small(FNMF):
    def __init__(self, n_components=12, *, random_state=None):
        super().__init__(n_components, random_state=random_state)


class SmallStream(MiniBatchFNMF):
    def __init__(self, n_components=3, *, random_state=None):
        super().__init__(n_components, n_neighbors=3, random_state=random_state)


class SmallLayers(DeepFNMF):
    def __init__(self, *, random_state=None):
        super().__init__((5, 3), random_state=random_state)


class Empty(FNMF):
    def __init__(self, n_components=12):
        self.n_components = n_components


def test_subclasses_may_have_fewer_parameters(X, model):
    small = clone(Small(random_state=0)).fit(X)
    np.testing.assert_array_equal(small.labels_, model.labels_)
    np.testing.assert_array_equal(small.transform(X[:9]), model.transform(X[:9]))
    with pytest.raises(TypeError, match="n_weightings is not set; __init__ of a subclass"):
        Empty().fit(X)


def test_subclasses_of_the_stream_keep_what_they_set(X):
    small, plain = SmallStream(random_state=0), MiniBatchFNMF(3, n_neighbors=3, random_state=0)
    np.testing.assert_array_equal(small.fit(X).transform(X), plain.fit(X).transform(X))


def test_subclasses_with_layers_keep_what_they_set(X):
    small, plain = SmallLayers(random_state=0).fit(X), DeepFNMF((5, 3), random_state=0).fit(X)
    np.testing.assert_array_equal(small.transform(X[:9]), plain.transform(X[:9]))


def test_a_subclass_transforms_dask_arrays(X, model):
    da = pytest.importorskip("dask.array")
    found = Small(random_state=0).fit(X).transform(da.from_array(X, chunks=(100, 4))).compute()
    np.testing.assert_array_equal(found, model.transform(X))


@pytest.mark.parametrize("width", [11, 13])
def test_codes_of_the_wrong_width_are_refused(model, width):
    with pytest.raises(ValueError, match=f"X has {width} columns, but .* has 12"):
        model.inverse_transform(np.ones((2, width)))
    with pytest.raises(ValueError, match="2D"):
        model.inverse_transform(np.ones(12))


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("exponent", [50, 100, -50, -300])
def test_a_column_in_units_beyond_all_others(convert, exponent):
    rows, _ = make_blobs(150, 4, centers=3, random_state=0)
    rows -= rows.min(axis=0)
    rows[:, 0] *= 10.0**exponent
    # What cannot be seen beside the others is said, and counts as nothing.
    seen = rows.copy()
    seen[:, 1:] *= exponent < 0
    seen[:, 0] *= exponent > 0
    with pytest.warns(UserWarning, match="cannot be seen beside it and were left out"):
        found = FNMF(3, random_state=0).fit(convert(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = FNMF(3, random_state=0).fit(convert(seen))
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    for name in ("components_", "embedding_", "feature_importances_"):
        assert np.isfinite(getattr(found, name)).all()


# Functions that are in no file cannot be kept either, and numba says so in the same way.
UNKEPT = """
import warnings
from fnmf._compile import njit

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")

    @njit(cache=True, nogil=True)
    def one(x):
        return x + 1

    @njit(cache=True)
    def two(x):
        return one(x) + 1

print([(w.category.__name__, "NUMBA_CACHE_DIR" in str(w.message)) for w in caught], two(1))
"""


@pytest.mark.filterwarnings("ignore::fnmf.exceptions.NoStructureWarning")
@pytest.mark.parametrize("graph", ["adaptive", None])
@pytest.mark.parametrize("n_samples", [3, 4, 5, 6])
def test_a_few_rows_are_clustered(n_samples, graph):
    X = np.random.default_rng(n_samples).random((n_samples, 3))
    for k in range(1, n_samples):
        model = FNMF(k, n_neighbors=1, graph=graph, random_state=0).fit(X)
        assert model.labels_.shape == (n_samples,)
        assert model.labels_.max() < k


def test_structure_that_cannot_be_tested_is_none(X):
    assert FNMF(3, random_state=0).fit(X[:, :1]).structure_ is None


def test_where_nothing_can_be_kept_functions_are_compiled_anew_and_told_once():
    command = [sys.executable, "-c", UNKEPT]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == "[('RuntimeWarning', True)] 3\n"


def test_an_account_without_a_home_is_enough(X, monkeypatch):
    def unknown(_):
        raise KeyError

    monkeypatch.setattr(pytest.importorskip("pwd"), "getpwuid", unknown)
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(RuntimeError, match="home"):
        Path.home()
    tell_first_compiling.cache_clear()
    assert FNMF(3, random_state=0).fit(X).labels_.max() == 2
    assert cache_home().is_relative_to(tempfile.gettempdir())


def test_all_compiled_functions_come_through_that_door():
    root = Path(fnmf.__file__).parent
    named = {p.name for p in root.rglob("*.py") if "numba.njit" in p.read_text(encoding="utf-8")}
    direct = [p for p in root.rglob("*.py") if "import njit" in p.read_text(encoding="utf-8")]
    assert named == {"_compile.py"}
    for path in direct:
        assert "from fnmf._compile import njit" in path.read_text(encoding="utf-8")
