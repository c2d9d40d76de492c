"""Model files: nothing gets in but what an honest program has written."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fnmf import persistence
from fnmf.persistence import ModelFileError, load, save
from toy_model import MAGIC, Toy, rewrite, sign, split

few = settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


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
        (("model", "attributes", "graph_", "shape"), [12, 3], "ind(ices|ex)"),
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
    base = {"model": {"class": "toy_model:Toy", "params": {}, "attributes": {}}}
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
