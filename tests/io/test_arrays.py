"""Binary tables: arrays, sparse matrices, Parquet and AnnData files."""

import gzip
import io
import subprocess
import sys
import zipfile

import anndata
import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

from fnmf import FNMF
from fnmf.io import TableError, read_table


@pytest.fixture
def X():
    return np.random.default_rng(0).integers(0, 3, (6, 4)).astype(float)


def test_npy_is_mapped_not_read(tmp_path, X):
    np.save(tmp_path / "x.npy", X)
    table = read_table(tmp_path / "x.npy")
    assert isinstance(table.X, np.memmap)
    np.testing.assert_array_equal(table.X, X)
    assert table.names[0] == "column 1"


def test_npy_columns_can_be_set_apart(tmp_path, X):
    np.save(tmp_path / "x.npy", X)
    table = read_table(tmp_path / "x.npy", label_column="column 2", exclude=["column 4"])
    np.testing.assert_array_equal(table.X, X[:, [0, 2]])
    assert table.labels == [f"{v:g}" for v in X[:, 1]]


@pytest.mark.parametrize(
    "array", [np.zeros(3), np.array([["a"]]), np.zeros((0, 3)), np.zeros((2, 2, 2, 2))]
)
def test_npy_that_is_no_table_is_refused(tmp_path, array):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(TableError, match=r"dimensions|no rows"):
        read_table(tmp_path / "x.npy")


def test_pickles_in_numpy_files_are_never_opened(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was executed",))

    bomb = np.array([[Bomb()]], dtype=object)
    np.save(tmp_path / "x.npy", bomb, allow_pickle=True)
    np.savez(tmp_path / "x.npz", X=bomb, allow_pickle=True)
    for name in ("x.npy", "x.npz"):
        with pytest.raises(TableError):
            read_table(tmp_path / name)


def test_npz_finds_data_names_and_labels(tmp_path, X):
    np.savez(tmp_path / "x.npz", data=X, target=np.arange(6), feature_names=list("abcd"))
    table = read_table(tmp_path / "x.npz", label_column="target")
    np.testing.assert_array_equal(table.X, X)
    assert table.names == list("abcd")
    assert table.labels == list("012345")


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_npz_stays_sparse(tmp_path, X, kind):
    sp.save_npz(tmp_path / "x.npz", sp.coo_array(X).asformat(kind))
    table = read_table(tmp_path / "x.npz")
    assert isinstance(table.X, sp.csr_array)
    np.testing.assert_array_equal(table.X.toarray(), X)


def test_sparse_matrices_have_small_sorted_indices(tmp_path, X):
    # scikit-learn refuses 64-bit indices, which many programs write.
    matrix = sp.csr_array(X)
    wide = sp.csr_array(
        (matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)),
        shape=X.shape,
    )
    sp.save_npz(tmp_path / "x.npz", wide)
    scipy.io.mmwrite(tmp_path / "x.mtx", sp.coo_array(X))
    write_h5ad(tmp_path / "x.h5ad", X, "csr")
    for name in ("x.npz", "x.mtx", "x.h5ad"):
        read = read_table(tmp_path / name).X
        assert read.indices.dtype == read.indptr.dtype == np.int32
        assert read.has_canonical_format


@pytest.mark.parametrize("index", [-1, 4, 10**6])
def test_sparse_indices_out_of_range_are_refused(tmp_path, X, index):
    matrix = sp.csr_array(X)
    matrix.indices[2] = index
    sp.save_npz(tmp_path / "x.npz", matrix)
    with pytest.raises(TableError, match="malformed sparse"):
        read_table(tmp_path / "x.npz")


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_pointers_that_decrease_are_refused(tmp_path, X, kind):
    matrix = sp.coo_array(X).asformat(kind)
    matrix.indptr[-1] = 0
    sp.save_npz(tmp_path / "x.npz", matrix)
    with pytest.raises(TableError, match="indptr decreases"):
        read_table(tmp_path / "x.npz")
    with pytest.raises(ValueError, match="malformed"):
        FNMF(2).fit(matrix)


def test_npz_that_declares_more_than_it_holds_is_refused(tmp_path):
    header = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
    np.lib.format.write_array_header_1_0(header, shape)
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("X.npy", header.getvalue())
    with pytest.raises(TableError, match="longer than its file"):
        read_table(tmp_path / "x.npz")
    (tmp_path / "x.npy").write_bytes(header.getvalue())
    with pytest.raises(TableError, match="not a usable NumPy file"):
        read_table(tmp_path / "x.npy")


def test_npz_bombs_are_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("fnmf.io._guard.FREE_SIZE", 1 << 20)
    np.savez_compressed(tmp_path / "x.npz", X=np.zeros((1000, 1000)))
    with pytest.raises(TableError, match="no honest data"):
        read_table(tmp_path / "x.npz")


@pytest.mark.parametrize("packed", [False, True])
def test_matrix_market(tmp_path, X, packed):
    buffer = io.BytesIO()
    scipy.io.mmwrite(buffer, sp.coo_array(X))
    path = tmp_path / ("x.mtx.gz" if packed else "x.mtx")
    path.write_bytes(gzip.compress(buffer.getvalue()) if packed else buffer.getvalue())
    table = read_table(path)
    assert isinstance(table.X, sp.csr_array)
    np.testing.assert_array_equal(table.X.toarray(), X)


@pytest.mark.parametrize("kind", [sp.coo_array, np.asarray])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_matrix_market_equals_what_scipy_wrote(tmp_path, kind, symmetric, field):
    X = np.random.default_rng(0).integers(0, 3, (9, 9)).astype(float)
    X = X + X.T if symmetric else X[:, :5]
    if field == "pattern":
        if kind is np.asarray:
            return
        X = (X > 0).astype(float)
    path = tmp_path / "x.mtx"
    data = kind(X.astype(int) if field == "integer" else X)
    symmetry = "symmetric" if symmetric else "general"
    scipy.io.mmwrite(path, data, field=field, symmetry=symmetry, comment="made here")
    read = read_table(path).X
    np.testing.assert_array_equal(read if kind is np.asarray else read.toarray(), X)


@pytest.mark.parametrize(
    "text",
    [
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n1 2 1\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1.5 1 1\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 x\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 -1\n",
        "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 1\n",
        "%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n2 1 1\n",
        "%%MatrixMarket matrix coordinate real general\n",
        "%%MatrixMarket vector coordinate real general\n2 1\n1 1\n",
        "%%MatrixMarket matrix coordinate real general\n9 9 99999999999\n1 1 1\n",
        "%%MatrixMarket matrix coordinate real general\n999999999 9 1\n1 1 1\n",
        "%%MatrixMarket matrix array real general\n99999 99999\n1\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n7 7 1\n",
        "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 1\n",
        "%%MatrixMarket matrix coordinate real general\nx\n",
        "1 2 3\n",
    ],
)
def test_impossible_matrix_market_files_are_refused(tmp_path, text):
    (tmp_path / "x.mtx").write_text(text)
    with pytest.raises(TableError):
        read_table(tmp_path / "x.mtx")


def test_parquet(tmp_path, X):
    columns = {"id": list("uvwxyz"), "a": X[:, 0], "b": X[:, 1].astype(int), "t": ["q"] * 6}
    columns["gap"] = [None, 1, 2, 3, 4, 5]
    pq.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=2)
    table = read_table(tmp_path / "x.parquet", id_column="id")
    assert table.names == ["a", "b", "gap"]
    assert table.ids == list("uvwxyz")
    np.testing.assert_array_equal(table.X[:, :2], X[:, :2])
    np.testing.assert_array_equal(table.X[:, 2], [np.nan, 1, 2, 3, 4, 5])
    assert "'t'" in table.notes[0]


def write_h5ad(path, X, sparse=None):
    kinds = pd.Categorical(["T", "B", "T", "B", None, "T"], categories=["T", "B"])
    obs = pd.DataFrame({"kind": kinds}, index=list("uvwxyz"))
    matrix = X if sparse is None else sp.coo_array(X).asformat(sparse)
    anndata.AnnData(matrix, obs=obs, var=pd.DataFrame(index=list("abcd"))).write_h5ad(path)


@pytest.mark.parametrize("sparse", [None, "csr", "csc"])
def test_h5ad(tmp_path, X, sparse):
    write_h5ad(tmp_path / "x.h5ad", X, sparse)
    table = read_table(tmp_path / "x.h5ad", label_column="kind", exclude=["b"])
    dense = table.X.toarray() if sparse else table.X
    np.testing.assert_array_equal(dense, X[:, [0, 2, 3]])
    assert (table.names, table.ids) == (list("acd"), list("uvwxyz"))
    assert table.labels == ["T", "B", "T", "B", "", "T"]


def test_h5ad_of_an_old_anndata(tmp_path, X):
    # Tables are records, categories lie in uns, and raw has no group of its own.
    kinds = zip("uvwxyz", [0, 1, 0, 1, -1, 0], strict=True)
    cells = np.array(list(kinds), dtype=[("index", "S1"), ("kind", "i1")])
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file["X"] = X - 5
        file["obs"] = cells
        file["var"] = np.array([(c,) for c in "abcd"], dtype=[("index", "S1")])
        file["raw.var"] = np.array([(c,) for c in "efgh"], dtype=[("index", "S1")])
        file["uns/kind_categories"] = np.array([b"T", b"B"])
        group = file.create_group("raw.X")
        group.attrs["h5sparse_format"], group.attrs["h5sparse_shape"] = "csr", X.shape
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(sp.csr_array(X), part)
    table = read_table(tmp_path / "x.h5ad", raw=True, label_column="kind")
    np.testing.assert_array_equal(table.X.toarray(), X)
    assert (table.names, table.ids) == (list("efgh"), list("uvwxyz"))
    assert table.labels == ["T", "B", "T", "B", "", "T"]
    with pytest.raises(TableError, match="it has 'index', 'kind'"):
        read_table(tmp_path / "x.h5ad", raw=True, label_column="sort")


def test_h5ad_never_reads_other_files(tmp_path, X):
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["X"] = X
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file["X"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "X")
    with pytest.raises(TableError, match="another file"):
        read_table(tmp_path / "x.h5ad")


def test_h5ad_far_larger_than_its_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("fnmf.io._h5ad.FREE_SIZE", 1 << 20)
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file.create_dataset("X", shape=(10**6, 10**6), chunks=(1000, 1000), dtype="f8")
    with pytest.raises(TableError, match="far larger"):
        read_table(tmp_path / "x.h5ad")


FUZZ = """
import pathlib, random, sys
from fnmf.io import TableError, read_table
random.seed(0)
for path in map(pathlib.Path, sys.argv[1:]):
    whole = path.read_bytes()
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(random.randrange(1, 4)):
            at = random.randrange(len(data))
            if random.random() < 0.6:
                data[at] ^= 1 << random.randrange(8)
            else:
                data[at : at + 4] = random.choice([b"\\xff" * 4, b"\\0" * 4, b"9999"])
        path.write_bytes(data)
        try:
            read_table(path)
        except TableError:
            pass
print("survived")
"""


def test_altered_binary_files_never_end_the_interpreter(tmp_path, X):
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", X=X, y=np.arange(6))
    sp.save_npz(tmp_path / "s.npz", sp.csr_array(X))
    scipy.io.mmwrite(tmp_path / "x.mtx", sp.coo_array(X))
    pq.write_table(pa.table({"a": X[:, 0]}), tmp_path / "x.parquet")
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n3,4\n"))
    files = sorted(str(path) for path in tmp_path.iterdir())
    # In a process of its own: a crash must fail this test and not end all others.
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", FUZZ, *files], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "survived\n"


def test_truncated_binary_files_give_one_clear_sentence(tmp_path, X):
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", X=X)
    pq.write_table(pa.table({"a": X[:, 0]}), tmp_path / "x.parquet")
    write_h5ad(tmp_path / "x.h5ad", X)
    for name in ("x.npy", "x.npz", "x.parquet", "x.h5ad"):
        data = (tmp_path / name).read_bytes()
        for length in range(1, len(data) - 8, max(1, len(data) // 40)):
            (tmp_path / name).write_bytes(data[:length])
            with pytest.raises(TableError, match=name):
                read_table(tmp_path / name)
