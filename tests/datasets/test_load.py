"""The real data sets, where FNMF_DATA_HOME names a folder that holds them."""

import hashlib
import io
import os

import numpy as np
import pytest
from scipy.io import savemat

from fnmf.datasets import _parsers, available, load, noised_yale
from fnmf.datasets._files import arrays_sha256, read_npz
from fnmf.datasets.loading import folders
from fnmf.datasets.registry import SOURCES

needs_data = pytest.mark.skipif(
    not os.environ.get("FNMF_DATA_HOME"), reason="FNMF_DATA_HOME names no folder with the data"
)


def stored(name):
    return read_npz(folders(None)[0] / f"{SOURCES[name].stem}.npz")


@needs_data
@pytest.mark.parametrize("name", SOURCES)
def test_each_data_set_is_as_the_paper_says_and_non_negative(name):
    source = SOURCES[name]
    data = load(source.paper_name.upper())
    assert data.name == name
    assert data.data.shape == source.shape
    assert len(data.feature_names) == source.shape[1]
    assert data.data.min() >= 0
    np.testing.assert_array_equal(np.unique(data.target), np.arange(source.n_classes))
    assert len(data.target_names) == source.n_classes
    if data.image_shape is not None:
        assert np.prod(data.image_shape) == source.shape[1]


@needs_data
def test_known_traps_are_as_documented():
    letters = load("ba")
    np.testing.assert_array_equal(
        letters.data[letters.target == 0], letters.data[letters.target == 24]
    )
    assert np.flatnonzero(load("cnae-9").data.sum(axis=1) == 0).tolist() == [969]
    assert load("usps").data.max() <= 1


def semeion_text(arrays):
    for pixels, label in zip(arrays["X"], arrays["y"], strict=True):
        values = [*(f"{p:.4f}" for p in pixels), *(str(int(c == label)) for c in range(10))]
        yield " ".join(values) + " \r\n"


def mfeat_text(arrays):
    for pixels in arrays["X"]:
        yield "".join(f"{p:3d}" for p in pixels) + "\n"


@needs_data
@pytest.mark.parametrize(("name", "text"), [("semeion", semeion_text), ("mfeat", mfeat_text)])
def test_arrays_in_the_original_format_are_the_public_file_and_parse_back(name, text):
    arrays = stored(name)
    content = "".join(text(arrays)).encode()
    (original,) = SOURCES[name].originals
    assert hashlib.sha256(content).hexdigest() == original.sha256
    parsed = SOURCES[name].parse({original.member: content})
    np.testing.assert_array_equal(parsed["X"], arrays["X"])
    np.testing.assert_array_equal(parsed["y"], arrays["y"])


@needs_data
def test_tables_of_text_parse_back():
    def text(columns):
        buffer = io.StringIO()
        np.savetxt(buffer, np.column_stack(columns), fmt="%.6g", delimiter=",")
        return buffer.getvalue().encode()

    for name, columns in {
        "cnae-9": lambda a: (a["y"] + 1, a["X"]),
        "glass": lambda a: (np.arange(1, 215), a["X"], a["original_type"][a["y"]]),
    }.items():
        arrays = stored(name)
        parsed = SOURCES[name].parse({"any": text(columns(arrays))})
        np.testing.assert_array_equal(parsed["X"], arrays["X"])
        np.testing.assert_array_equal(parsed["y"], arrays["y"])


@needs_data
def test_matlab_files_parse_back():
    def matlab(**variables):
        buffer = io.BytesIO()
        savemat(buffer, variables)
        return {"any": buffer.getvalue()}

    faces = stored("orl")
    columns_first = faces["X"].reshape(-1, 32, 32).transpose(0, 2, 1).reshape(400, -1)
    parsed = _parsers.orl(matlab(fea=columns_first.astype(float), gnd=faces["y"][:, None] + 1))
    np.testing.assert_array_equal(parsed["X"], faces["X"])
    np.testing.assert_array_equal(parsed["y"], faces["y"])

    letters = stored("binary-alphadigits")
    cells = np.empty((36, 39), dtype=object)
    for index, image in enumerate(letters["X"]):
        cells[index // 39, index % 39] = image.reshape(20, 16)
    parsed = _parsers.binary_alphadigits(matlab(dat=cells))
    np.testing.assert_array_equal(parsed["X"], letters["X"])
    np.testing.assert_array_equal(parsed["y"], letters["y"])


@needs_data
def test_usps_is_rebuilt_from_the_public_files_to_a_millionth():
    path = folders(None)[0] / "usps.npz"
    if not path.is_file():
        pytest.skip("the full USPS is not in the data folder")
    full = read_npz(path)
    text = {}
    for name, part in (("zip.train", 0), ("zip.test", 1)):
        rows = full["split"] == part
        buffer = io.StringIO()
        np.savetxt(buffer, np.column_stack([full["y"][rows], full["X"][rows]]), fmt="%.4f")
        text[name] = buffer.getvalue().encode()
    raw = _parsers.usps(text)
    finished = _parsers.smoothed_usps(raw)
    wanted = stored("usps")
    np.testing.assert_array_equal(finished["y"], wanted["y"])
    assert np.abs(finished["X"] - wanted["X"]).max() < 1.1e-6
    assert arrays_sha256(raw["X"], raw["y"]) == SOURCES["usps"].raw_sha256


@needs_data
def test_noised_faces_follow_the_paper():
    clean = load("yale").data
    noise = noised_yale("Noise", random_state=0)
    assert noise.data.shape == (165, 256 + 85)
    assert noise.informative.sum() == 256
    np.testing.assert_array_equal(noise.data[:, :256], clean)
    for kind in ("4x4", "6x6", "8x8"):
        hidden = noised_yale(kind, random_state=0)
        assert ((hidden.data != clean).sum(axis=1) == int(kind[0]) ** 2).all()
        assert hidden.data.max() <= clean.max()


def test_data_that_need_no_file_are_always_there():
    assert load("digits").data.shape == (1797, 64)
    assert load("Toy").data.shape == (900, 7)


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="name='mnist'") as caught:
        load("mnist")
    assert all(name in str(caught.value) for name in available())
