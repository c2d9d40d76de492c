"""Model files: what goes in comes out bit for bit."""

import os
import struct

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

from fnmf.persistence import ModelFileError, inspect, load, save
from toy_model import Toy, rewrite


def assert_same(a, b):
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.flags.f_contiguous == b.flags.f_contiguous
        assert a.flags.c_contiguous == b.flags.c_contiguous
        assert a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
    elif sp.issparse(a):
        assert a.shape == b.shape
        for part in ("data", "indices", "indptr"):
            assert_same(getattr(a, part), getattr(b, part))
    elif isinstance(a, np.generic):
        assert a.tobytes() == b.tobytes()
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_same(a[key], b[key])
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for left, right in zip(a, b, strict=True):
            assert_same(left, right)
    elif isinstance(a, KMeans):
        # Its private attributes serve the fit alone and depend on the machine.
        public = [{k: v for k, v in vars(m).items() if k[0] != "_"} for m in (a, b)]
        assert_same(*public)
    elif isinstance(a, BaseEstimator):
        assert_same(vars(a), vars(b))
    elif isinstance(a, float):
        assert struct.pack("d", a) == struct.pack("d", b)
    else:
        assert a == b


def test_round_trip_is_bit_exact(tmp_path, X):
    model = Toy(graph=sp.csc_matrix(np.eye(3)), init=np.float32([[1, 2]])).fit(X)
    save(model, tmp_path / "m")
    assert_same(load(tmp_path / "m"), model)


def test_metadata_comes_back(saved):
    info = inspect(saved)
    assert info.metadata == {"columns": ["a", "b"], "seed": 3}
    assert info.written_by.startswith("fnmf ")


def test_loaded_kmeans_predicts_as_before(saved, X):
    before, after = Toy().fit(X), load(saved)
    np.testing.assert_array_equal(
        before.kmeans_.predict(before.embedding_), after.kmeans_.predict(before.embedding_)
    )


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_generators_go_on_where_they_were(tmp_path, kind):
    generator = np.random.Generator(getattr(np.random, kind)(5))
    generator.integers(0, 9, 7, dtype=np.int32)
    save(Toy(random_state=generator), tmp_path / "m")
    again = load(tmp_path / "m").random_state
    assert again.standard_normal(9).tobytes() == generator.standard_normal(9).tobytes()


def test_random_states_go_on_where_they_were(tmp_path):
    state = np.random.RandomState(3)
    state.standard_normal(3)
    save(Toy(random_state=state), tmp_path / "m")
    again = load(tmp_path / "m").random_state
    assert again.standard_normal(9).tobytes() == state.standard_normal(9).tobytes()


def test_a_file_written_by_hand_in_version_1_loads(tmp_path):
    # The format as documented, from an independent writer: later versions must still read it.
    payload = np.array([[1.0, 2.0]]).tobytes().ljust(64, b"\0")
    header = {
        "written_by": "fnmf 0.1.0",
        "model": {
            "class": "toy_model:Toy",
            "params": {"n_components": 1},
            "attributes": {"components_": {"$": "array", "array": 0}, "n_features_in_": 2},
        },
        "metadata": {"$": "dict", "items": []},
        "arrays": [{"dtype": "<f8", "shape": [1, 2], "order": "C"}],
    }
    rewrite(tmp_path / "m", header, payload)
    model = load(tmp_path / "m")
    assert model.components_.tolist() == [[1.0, 2.0]]
    assert model.init == "random"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda x: x, "init=...* is of type function"),
        (np.array([object()]), "only arrays of text"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "datetime64"),
        (sp.coo_array(np.eye(2)), "coo_array"),
        (object, "is of type type"),
    ],
)
def test_what_cannot_be_stored_is_named_and_leaves_no_file(tmp_path, value, words):
    with pytest.raises(
        ModelFileError, match=words.replace("(", r"\(").replace("...*", r"\.\.\.\)")
    ):
        save(Toy(init=value), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_foreign_estimators_are_not_saved(tmp_path):
    with pytest.raises(ModelFileError, match="KMeans is not an estimator of fnmf"):
        save(KMeans(), tmp_path / "m")


def test_a_failed_write_keeps_the_older_file(saved, X, monkeypatch):
    before = saved.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(Toy(3).fit(X), saved)
    assert saved.read_bytes() == before
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]
