"""Model files: what goes in comes out bit for bit, and nothing else gets in."""

import hashlib
import json
import os
import struct

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans

from fnmf import persistence
from fnmf.persistence import ModelFileError, _estimators, inspect, load, save

MAGIC = b"\x89FNMF\r\n\x1a"
few = settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


class Toy(ClusterMixin, BaseEstimator):
    """Holds one of everything an estimator of the package may hold."""

    def __init__(
        self, n_components=2, *, graph=None, init="random", random_state=None, n_jobs=None
    ):
        self.n_components = n_components
        self.graph = graph
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        n, d = X.shape
        self.n_features_in_ = d
        self.components_ = np.asfortranarray(X[: self.n_components])
        self.embedding_ = np.ascontiguousarray(X[:, : self.n_components])
        self.feature_weights_ = np.full((3, d), 1 / d, dtype=np.float32)
        self.feature_names_in_ = np.array([f"näme {i}\x00\ud800" for i in range(d)], dtype=object)
        self.graph_ = sp.csr_array(np.eye(n)[::-1])
        self.labels_ = np.arange(n) % 2
        self.history_ = np.array(
            [(1.5, 2), (float("nan"), 3)], dtype=[("total", "f8"), ("iteration", "i4")]
        )
        self.objective_ = float("inf")
        self.error_ = np.float32(0.1)
        self.n_iter_ = 7
        self.note_ = None
        self.empty_ = np.zeros((0, 4))
        self.classes_ = np.array(["a", "bé"])
        self.settled_ = np.array([True, False])
        self.nested_ = {"list": [1, (2.5, "x")], "big": 2**100}
        self.kmeans_ = KMeans(2, n_init=1, random_state=0).fit(self.embedding_)
        return self


@pytest.fixture(autouse=True)
def allow_toy(monkeypatch):
    monkeypatch.setattr(_estimators, "_CLASSES", {"Toy": lambda: Toy})


@pytest.fixture
def X():
    return np.random.default_rng(0).random((12, 5))


@pytest.fixture
def saved(tmp_path, X):
    path = tmp_path / "model.fnmf"
    save(Toy().fit(X), path, metadata={"columns": ["a", "b"], "seed": 3})
    return path


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


def sign(header: bytes, payload: bytes = b"", version: int = 1, **sizes: int) -> bytes:
    """An independent writer of the format, for files no honest program would write."""
    head = MAGIC + struct.pack(
        "<IIQQ",
        version,
        0,
        sizes.get("header_size", len(header)),
        sizes.get("payload_size", len(payload)),
    )
    return head + hashlib.sha256(head + header + payload).digest() + header + payload


def split(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[16:24])[0]
    return json.loads(data[64 : 64 + size]), data[64 + size :]


def rewrite(path, header, payload):
    path.write_bytes(sign(json.dumps(header).encode(), payload))


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
            "class": "Toy",
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


def test_missing_file_and_folder_are_told(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


def test_pickles_are_refused(tmp_path):
    import pickle

    (tmp_path / "m").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ModelFileError, match="not a model file"):
        load(tmp_path / "m")


def test_newer_versions_ask_for_an_upgrade(tmp_path):
    (tmp_path / "m").write_bytes(sign(b"{}", version=persistence.FORMAT_VERSION + 1))
    with pytest.raises(ModelFileError, match="upgrade fnmf"):
        load(tmp_path / "m")


def test_declared_sizes_are_checked_before_anything_is_read(tmp_path):
    (tmp_path / "m").write_bytes(sign(b"{}", header_size=1 << 60))
    with pytest.raises(ModelFileError, match="declares a header"):
        load(tmp_path / "m")
    (tmp_path / "m").write_bytes(sign(b"{}", payload_size=1 << 60))
    with pytest.raises(ModelFileError, match="truncated"):
        load(tmp_path / "m")
    huge = {"arrays": [{"dtype": "<f8", "shape": [1 << 40, 1 << 40], "order": "C"}]}
    rewrite(tmp_path / "m", huge, b"")
    with pytest.raises(ModelFileError, match="arrays need"):
        load(tmp_path / "m")


@pytest.mark.parametrize("header", [b"[" * 100_000, b'{"a":' * 50_000, b"\xff", b"[]", b"9" * 9999])
def test_headers_that_are_no_header(tmp_path, header):
    (tmp_path / "m").write_bytes(sign(header))
    with pytest.raises(ModelFileError):
        load(tmp_path / "m")


@pytest.mark.parametrize(
    "dtype", ["|O", "O", "<f3", "|V8", "<M8[ns]", "|S0", [["a", "|O"]], 3, None]
)
def test_array_types_outside_the_list_are_refused(tmp_path, dtype):
    rewrite(tmp_path / "m", {"arrays": [{"dtype": dtype, "shape": [0], "order": "C"}]}, b"")
    with pytest.raises(ModelFileError, match="not allowed"):
        load(tmp_path / "m")


def change(header, where, value):
    *path, last = where
    for key in path:
        header = header[key]
    header[last] = value


@pytest.mark.parametrize(
    ("where", "value", "words"),
    [
        (("model", "class"), "os.system", "does not know"),
        (("model", "class"), "sklearn.KMeans", "describes no model"),
        (("model", "params", "surprise"), 1, "no parameter 'surprise'"),
        (("model", "params", "n_jobs"), 10**9, "n_jobs"),
        (("model", "attributes", "fit"), 1, "sets an attribute 'fit'"),
        (("model", "attributes", "__class__"), 1, "sets an attribute"),
        (("model", "attributes", "a b"), 1, "sets an attribute"),
        (("model", "attributes", "n_features_in_"), 4, "does not fit"),
        (("model", "attributes", "n_features_in_"), -1, "number of features"),
        (("model", "attributes", "embedding_"), 3, "not an array"),
        (("model", "attributes", "graph_", "shape"), [12, 3], "indices"),
        (("model", "attributes", "graph_", "shape"), [12], "described wrongly"),
        (("model", "attributes", "graph_", "parts"), [0, 0, 0], "wrong type"),
        (("model", "attributes", "note_"), {"$": "code", "value": "1"}, "unknown kind"),
        (("model", "attributes", "note_"), [1], "neither a plain value"),
        (("model", "attributes", "note_"), {"$": "array", "array": 999}, "does not exist"),
        (("model", "attributes", "note_"), {"$": "array", "array": -1}, "does not exist"),
        (("model", "attributes", "kmeans_", "attributes", "n_features_in_"), 9, "k-means"),
        (("metadata",), 3, "metadata"),
    ],
)
def test_signed_but_hostile_files_are_refused(saved, where, value, words):
    header, payload = split(saved)
    change(header, where, value)
    rewrite(saved, header, payload)
    with pytest.raises(ModelFileError, match=words):
        load(saved)


@pytest.mark.parametrize("index", [-1, 12, 10**6])
def test_graph_indices_out_of_range_are_refused(saved, X, index):
    model = Toy().fit(X)
    model.graph_.indices[3] = index
    save(model, saved)
    with pytest.raises(ModelFileError, match="ind"):
        load(saved)


def test_positions_that_would_read_outside_a_random_state_are_refused(tmp_path):
    path = tmp_path / "m"
    save(Toy(random_state=np.random.RandomState(0)), path)
    header, payload = split(path)
    text = json.dumps(header).replace('["pos", 624]', '["pos", 100000]')
    assert "100000" in text
    path.write_bytes(sign(text.encode(), payload))
    with pytest.raises(ModelFileError, match="pos=100000"):
        load(path)


def test_booleans_and_text_must_be_valid_bit_patterns(tmp_path):
    base = {"model": {"class": "Toy", "params": {}, "attributes": {}}}
    for dtype in ("|b1", "<U1"):
        header = {**base, "arrays": [{"dtype": dtype, "shape": [1], "order": "C"}]}
        rewrite(tmp_path / "m", header, b"\xff" * 64)
        with pytest.raises(ModelFileError, match="damaged"):
            load(tmp_path / "m")


def test_every_truncation_is_noticed(saved, tmp_path):
    data = saved.read_bytes()
    lengths = {*range(0, 200), *range(200, len(data), 97), len(data) - 1}
    for length in lengths:
        (tmp_path / "cut").write_bytes(data[:length])
        with pytest.raises(ModelFileError):
            load(tmp_path / "cut")
    (tmp_path / "cut").write_bytes(data + b"\0")
    with pytest.raises(ModelFileError, match="too long"):
        load(tmp_path / "cut")


@few
@given(position=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_every_flipped_bit_is_noticed(saved, position, bit):
    data = bytearray(saved.read_bytes())
    data[int(position * len(data))] ^= 1 << bit
    altered = saved.with_name("flipped")
    altered.write_bytes(data)
    with pytest.raises(ModelFileError):
        load(altered)


def nodes(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from nodes(value[key], (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from nodes(item, (*path, index))


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.just([]),
    st.just({}),
    st.sampled_from(["array", "strings", "sparse", "random", "estimator", "list", "dict", "|O"]),
    st.builds(lambda i: {"$": "array", "array": i}, st.integers(-2, 40)),
    st.builds(lambda i: {"$": "scalar", "array": i}, st.integers(-2, 40)),
    st.lists(st.integers(-3, 30), max_size=4),
)


@settings(few, max_examples=400)
@given(data=st.data())
def test_signed_nonsense_gives_a_model_or_a_clear_error(saved, X, data):
    header, payload = split(saved)
    for _ in range(data.draw(st.integers(1, 3))):
        places = [place for place in nodes(header) if place]
        change(header, data.draw(st.sampled_from(places)), data.draw(junk))
    altered = saved.with_name("nonsense")
    rewrite(altered, header, payload)
    try:
        model = load(altered)
    except ModelFileError as error:
        message = str(error)
    else:
        message = f"{altered} holds a {type(model).__name__}"
    # Any other exception, or the end of the interpreter, fails the test.
    assert message.startswith(str(altered))


@settings(few, max_examples=200)
@given(noise=st.binary(max_size=300))
def test_random_bytes_are_never_a_model(tmp_path, noise):
    for content in (noise, MAGIC + noise, sign(noise), sign(b"{}", noise)):
        (tmp_path / "noise").write_bytes(content)
        with pytest.raises(ModelFileError):
            load(tmp_path / "noise")
