"""What a file declares is checked before memory is taken; no line takes more than linear time."""

import io
import subprocess
import sys
import time
import zipfile

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fnmf.io import TableError, _h5ad, read_table
from fnmf.io._numbers import ALL_MARKS, parse_number

HUGE = 10**10


def write_mtx(path):
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n3 {2**31 - 1} 1\n1 1 1\n")


def write_npz(path):
    parts = {
        "indices": np.array([0], dtype=np.int64),
        "indptr": np.array([0, 1, 1, 1], dtype=np.int64),
        "format": np.array(b"csr"),
        "shape": np.array([3, HUGE]),
        "data": np.ones(1),
    }
    np.savez(path, **parts)


def write_csc(path):
    parts = {
        "indices": np.array([0], dtype=np.int64),
        "indptr": np.array([0, 1], dtype=np.int64),
        "format": np.array(b"csc"),
        "shape": np.array([HUGE, 1]),
        "data": np.ones(1),
    }
    np.savez(path, **parts)


def write_h5ad(path):
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"] = "csr_matrix"
        group.attrs["shape"] = (3, HUGE)
        group["data"], group["indices"] = np.ones(1), np.zeros(1, dtype=int)
        group["indptr"] = np.array([0, 1, 1, 1])
        for axis, count in (("obs", 3), ("var", 0)):
            frame = file.create_group(axis)
            frame.attrs["encoding-type"], frame.attrs["encoding-version"] = "dataframe", "0.2.0"
            frame.attrs["_index"], frame.attrs["column-order"] = "names", np.array([], dtype="S1")
            frame["names"] = np.array([b"x"] * count)


def write_npy(path):
    header = io.BytesIO()
    shape = {"descr": "|b1", "fortran_order": False, "shape": (1, HUGE)}
    np.lib.format.write_array_header_1_0(header, shape)
    with open(path, "wb") as file:
        file.write(header.getvalue())
        # A sparse file: as long as it says, and empty.
        file.truncate(HUGE + len(header.getvalue()))


def write_csv(path):
    path.write_bytes(b"," * (1 << 23) + b"\n")


LIMITED = """
import resource, sys
limit = int(sys.argv[2])
from fnmf.io import TableError, read_table
import fnmf.io._arrays, fnmf.io._frames, fnmf.io._csv, fnmf.io._h5ad, pyarrow.parquet
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + limit, used + limit))
try:
    read_table(sys.argv[1])
except TableError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("x.mtx", write_mtx),
        ("x.npz", write_npz),
        ("y.npz", write_csc),
        ("x.h5ad", write_h5ad),
        ("x.npy", write_npy),
        ("x.csv", write_csv),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded as Linux does it")
def test_columns_and_rows_that_do_not_exist_take_no_memory(tmp_path, name, write):
    write(tmp_path / name)
    # A mapped file counts as memory here, so it gets its own size in addition.
    room = (1 << 29) + (HUGE if name == "x.npy" else 0)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path / name, str(room)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert name in done.stdout, done.stderr
    assert "columns" in done.stdout or "rows" in done.stdout


def test_parquet_of_one_value_many_times_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("fnmf.io._guard.FREE_SIZE", 1 << 20)
    pq.write_table(pa.table({"a": np.zeros(4_000_000)}), tmp_path / "x.parquet")
    with pytest.raises(TableError, match="which no honest data does"):
        read_table(tmp_path / "x.parquet")


@pytest.mark.parametrize(
    "cell",
    [
        "{}x",
        "{}.{}x",
        "1.{}x",
        "1e{}x",
        "-{}e5x",
        " {}x",
        "{},{}x",
        "{0}.{0}.{0}",
        "1,234,{}",
        "1'{}",
    ],
)
def test_a_cell_is_judged_in_linear_time(cell):
    def seconds(length):
        text = cell.format("1" * length, "2" * length)
        start = time.process_time()
        for marks in ALL_MARKS:
            parse_number(text, marks)
        return time.process_time() - start

    small = min(seconds(20_000) for _ in range(3))
    # Eight times the length: linear gives 8, quadratic 64.
    assert min(seconds(160_000) for _ in range(3)) < 24 * small + 0.01


def test_long_lines_of_digits_are_refused_or_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + ("1" * 16_000 + "x,2\n") * 11)
    with pytest.raises(TableError, match=r"t\.csv"):
        read_table(path, required=["a"])
    assert read_table(path).names == ["b"]


def test_damaged_archives_are_told_by_name(tmp_path):
    path = tmp_path / "t.npz"
    np.savez_compressed(path, X=np.random.default_rng(0).random((20, 5)))
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        data = bytearray(whole)
        for at in rng.integers(0, len(data), 3):
            data[at] = rng.integers(256)
        path.write_bytes(data)
        try:
            told = str(read_table(path).path)
        except TableError as error:
            told = str(error)
            refused += 1
        assert "t.npz" in told
    assert refused > 100


def test_a_zip_whose_method_nobody_knows_is_told(tmp_path):
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("t.csv", "a,b\n1,2\n")
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 10] = data[8] = 99
    path.write_bytes(data)
    with pytest.raises(TableError, match=r"t\.zip"):
        read_table(path)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("import time; time.sleep(60)", "took more than"),
        # As compiled code hangs: no other thread of Python runs meanwhile.
        ("import re; re.match('(a*)*b', 'a' * 40)", "took more than"),
        ("import os; os.kill(os.getpid(), 9)", "crashed on it"),
    ],
)
def test_a_decoder_that_hangs_or_crashes_is_told(tmp_path, monkeypatch, program, words):
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file["X"] = np.ones((2, 2))
    worker = tmp_path / "worker.py"
    own = _h5ad._WORKER.read_text(encoding="utf-8")
    worker.write_text(own.replace("main(wanted)", program), encoding="utf-8")
    monkeypatch.setattr(_h5ad, "_WORKER", worker)
    monkeypatch.setattr(_h5ad, "_SECONDS", 5.0 if "kill" in program else 0.2)
    with pytest.raises(TableError, match=rf"x\.h5ad is damaged: its decoder {words}"):
        read_table(tmp_path / "x.h5ad")


@pytest.mark.parametrize("size", [str(HUGE), "9" * 5000])
def test_sizes_beyond_any_index_are_named(tmp_path, size):
    path = tmp_path / "t.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n3 {size} 1\n1 1 1\n")
    with pytest.raises(TableError, match=r"t\.mtx, line 2 declares a size of 1e\+"):
        read_table(path)
