"""Workbooks, folders of images and of cells, arrays of images, layers, classes in other files."""

import datetime
import gzip
import itertools

import anndata
import duckdb
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse as sp
from PIL import Image

from fnmf.io import TableError, add_labels, is_many, read_table


@pytest.fixture
def X():
    return np.random.default_rng(0).integers(0, 5, (6, 4)).astype(float)


def write_book(path, rows, more=()):
    book = openpyxl.Workbook()
    book.active.title = "first"
    for row in rows:
        book.active.append(row)
    for name in more:
        book.create_sheet(name).append(["a"])
    book.save(path)


def test_a_workbook_is_read_with_names_dates_and_row_numbers(tmp_path):
    day = datetime.datetime(2024, 5, 17)
    rows = [["name", "a", "b", "when"], ["x", 1, 2.5, day], ["y", 3, None, day], ["z", -1, 4, day]]
    write_book(tmp_path / "t.xlsx", rows, ["notes"])
    table = read_table(tmp_path / "t.xlsx")
    assert (table.names, table.ids) == (["a", "b"], ["x", "y", "z"])
    np.testing.assert_array_equal(table.X, [[1, 2.5], [3, np.nan], [-1, 4]])
    assert table.lines.tolist() == [2, 3, 4]
    assert "'notes'" in table.notes[0]
    assert any("columns of dates are left out: 'when'" in note for note in table.notes)


def test_trouble_in_a_workbook_is_told_by_its_name_and_row(tmp_path):
    write_book(tmp_path / "t.xlsx", [["a", "b"], *[[1, 2]] * 5, ["red", 3]])
    with pytest.raises(TableError, match=r"t\.xlsx, line 7, column 'a': 'red' is not a number"):
        read_table(tmp_path / "t.xlsx")
    with pytest.raises(TableError, match="no sheet 'x'; it has 'first'"):
        read_table(tmp_path / "t.xlsx", sheet="x")


def test_a_workbook_that_is_none_is_refused(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04nothing")
    with pytest.raises(TableError, match=r"t\.xlsx"):
        read_table(tmp_path / "t.xlsx")


def test_a_folder_of_images_keeps_their_shape_and_folders(tmp_path, X):
    pictures = np.random.default_rng(0).integers(0, 256, (6, 5, 7)).astype(np.uint8)
    for i, picture in enumerate(pictures):
        place = tmp_path / "faces" / f"person {i % 2}"
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(place / f"{i}.png")
    table = read_table(tmp_path / "faces", label_column="folder")
    assert table.image_shape == (5, 7)
    order = [0, 2, 4, 1, 3, 5]
    np.testing.assert_array_equal(table.X, pictures[order].reshape(6, -1))
    assert table.labels == ["person 0"] * 3 + ["person 1"] * 3
    assert table.ids[0] == "person 0/0.png"
    Image.fromarray(pictures[0][:3]).save(tmp_path / "faces" / "z.png")
    with pytest.raises(TableError, match=r"z\.png has 3 x 7 pixels"):
        read_table(tmp_path / "faces")


def test_a_damaged_image_is_named(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    with pytest.raises(TableError, match=r"a\.png is not a usable image"):
        read_table(tmp_path)


@pytest.mark.parametrize("packed", [False, True])
def test_a_10x_folder_has_cells_as_samples(tmp_path, X, packed):
    scipy.io.mmwrite(tmp_path / "matrix.mtx", sp.coo_array(X.T))
    genes = "".join(f"ENSG{k}\t{'AB'[k % 2] if k else 'Z'}\tGene\n" for k in range(4))
    (tmp_path / "features.tsv").write_text(genes)
    (tmp_path / "barcodes.tsv").write_text("".join(f"CELL{i}-1\n" for i in range(6)))
    if packed:
        for name in ("matrix.mtx", "features.tsv", "barcodes.tsv"):
            path = tmp_path / name
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
    table = read_table(tmp_path)
    np.testing.assert_array_equal(table.X.toarray(), X)
    assert table.names == ["Z", "B (ENSG1)", "A", "B (ENSG3)"]
    assert table.ids[5] == "CELL5-1"


def test_folders_of_cells_and_images_are_one_table_whatever_else_lies_there(tmp_path, X):
    scipy.io.mmwrite(tmp_path / "matrix.mtx", sp.coo_array(X.T))
    (tmp_path / "features.tsv").write_text("a\n")
    assert not is_many(tmp_path)
    (tmp_path / "matrix.mtx").unlink()
    assert is_many(tmp_path)
    (tmp_path / "faces").mkdir()
    Image.fromarray(np.zeros((3, 2), dtype=np.uint8)).save(tmp_path / "faces" / "a.PNG")
    assert not is_many(tmp_path)


def test_three_dimensions_are_images(tmp_path):
    pictures = np.random.default_rng(0).random((4, 3, 5))
    np.save(tmp_path / "x.npy", pictures)
    np.savez(tmp_path / "x.npz", images=pictures, y=np.arange(4))
    for name in ("x.npy", "x.npz"):
        table = read_table(tmp_path / name)
        assert table.image_shape == (3, 5)
        np.testing.assert_array_equal(table.X, pictures.reshape(4, 15))


def test_layers_and_raw_data_of_h5ad(tmp_path, X):
    data = anndata.AnnData(np.hstack([X, X]), var=pd.DataFrame(index=list("abcdefgh")))
    data.raw = data
    data = data[:, :4].copy()
    data.X, data.layers["counts"] = X - 2, X
    data.write_h5ad(tmp_path / "x.h5ad")
    scaled = read_table(tmp_path / "x.h5ad")
    assert "counts are better" in scaled.notes[0]
    assert "layer 'counts'" in scaled.notes[0]
    np.testing.assert_array_equal(read_table(tmp_path / "x.h5ad", layer="counts").X, X)
    raw = read_table(tmp_path / "x.h5ad", raw=True)
    assert raw.names == list("abcdefgh")
    with pytest.raises(TableError, match="no layer 'x'; it has 'counts'"):
        read_table(tmp_path / "x.h5ad", layer="x")


def test_the_named_index_of_a_parquet_file_names_the_rows(tmp_path, X):
    frame = pd.DataFrame(X, columns=list("abcd"), index=pd.Index(list("uvwxyz"), name="who"))
    frame.to_parquet(tmp_path / "x.parquet")
    table = read_table(tmp_path / "x.parquet")
    assert (table.names, table.ids, table.id_name) == (list("abcd"), list("uvwxyz"), "who")


def test_a_column_of_text_without_repetition_names_the_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("kind,who,a\nx,Ann,1\nx,Bob,2\ny,Eve,3\n")
    table = read_table(path)
    assert (table.ids, table.names) == (["Ann", "Bob", "Eve"], ["a"])
    assert any("'kind'" in note and "'who'" not in note for note in table.notes)


def write_genes(path, n=300):
    rng = np.random.default_rng(0)
    lines = ["gene,s1,s2,s3"]
    lines += [f"ABC{i},{rng.random():.3f},{rng.random():.3f},{rng.random():.3f}" for i in range(n)]
    path.write_text("\n".join(lines))


def test_genes_in_rows_are_noticed_and_can_be_turned(tmp_path):
    write_genes(tmp_path / "t.csv")
    assert any(note.remedy == "transpose" for note in read_table(tmp_path / "t.csv").notes)
    table = read_table(tmp_path / "t.csv", transpose=True)
    assert table.X.shape == (3, 300)
    assert (table.ids, table.names[1]) == (["s1", "s2", "s3"], "ABC1")


def test_symbols_of_genes_need_no_heading(tmp_path):
    letters = "ABCDEFGHIJ"
    names = [
        f"{a}{b}{c}{i % 7}" for i, (a, b, c) in enumerate(itertools.product(letters, repeat=3))
    ]
    lines = ["who,s1,s2"] + [f"{name},{i},{i * 2}" for i, name in enumerate(names)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert any(note.remedy == "transpose" for note in read_table(tmp_path / "t.csv").notes)


@pytest.mark.parametrize("name", ["customer ", "C", "AB-", "Kunde"])
def test_customers_are_not_taken_for_genes(tmp_path, name):
    lines = ["who,a,b"] + [f"{name}{i:03},{i},{i * 2}" for i in range(300)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert not any(note.remedy == "transpose" for note in read_table(tmp_path / "t.csv").notes)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("who,class\nz,3\nx,1\ny,2\n", True),
        ("x;1\ny;2\nz;3\n", True),
        ("class\n1\n2\n3\n", False),
        ("1\n2\n3\n", False),
    ],
)
def test_classes_come_from_a_file_of_their_own(tmp_path, text, ids):
    (tmp_path / "t.csv").write_text("who,a\nx,1\ny,2\nz,3\n")
    (tmp_path / "l.csv").write_text(text)
    table = read_table(tmp_path / "t.csv")
    table.ids = table.ids if ids else None
    add_labels(table, tmp_path / "l.csv")
    assert table.labels == ["1", "2", "3"]


def test_classes_that_do_not_fit_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("who,a\nx,1\ny,2\nz,3\n")
    table = read_table(tmp_path / "t.csv")
    (tmp_path / "l.csv").write_text("class\na\n")
    with pytest.raises(TableError, match="holds 1 classes, the table has 3 rows"):
        add_labels(table, tmp_path / "l.csv")
    (tmp_path / "l.csv").write_text("who,c,d\nx,a,b\ny,a,b\nz,a,b\n")
    with pytest.raises(TableError, match="several columns"):
        add_labels(table, tmp_path / "l.csv")
    add_labels(table, tmp_path / "l.csv", "d")
    assert table.labels == ["b", "b", "b"]


def frames():
    """The same rows as frames of four libraries, with kinds that each keeps in its own way."""
    pandas = pd.DataFrame(
        {
            "a": pd.array([1, None, 3], dtype="Int64"),
            "flag": [True, False, True],
            "kind": pd.Categorical(["x", None, "x"]),
            "day": pd.to_datetime(["2024-05-17", "2024-05-18", "2024-05-17"]),
        }
    )
    arrow = pa.Table.from_pandas(pandas)
    yield pandas
    yield arrow
    yield pl.from_arrow(arrow)
    yield duckdb.sql("select * from arrow")


def test_frames_of_any_library_are_one_door():
    for frame in frames():
        table = read_table(frame, keep_texts=True)
        assert table.names == ["a", "flag"], type(frame)
        np.testing.assert_array_equal(table.X, [[1, 1], [np.nan, 0], [3, 1]])
        assert table.texts["kind"] == ["x", "", "x"]
        assert table.texts["day"][0].startswith("2024-05-17")


def test_the_named_index_of_a_frame_names_its_rows(X):
    index = pd.Index(list("uvwxyz"), name="who")
    table = read_table(pd.DataFrame(X, index=index))
    assert (table.names, table.ids) == (["0", "1", "2", "3"], list("uvwxyz"))
    with pytest.raises(TableError, match="the data frame has no column 'z'"):
        read_table(pd.DataFrame(X), exclude=["z"])
    with pytest.raises(TableError, match="the data frame cannot be used"):
        read_table(3)


@pytest.mark.parametrize(
    "above", ["Sales 2024\n\n", "Sales 2024,,\nby Ann,,\n,,\n", '"Sales, all"\n']
)
def test_a_title_above_the_names_of_columns_is_passed_over(tmp_path, above):
    path = tmp_path / "t.csv"
    path.write_text(above + "name,x,y\n" + "".join(f"n{k},{k}.5,{k % 3}\n" for k in range(9)))
    table = read_table(path)
    assert table.names == ["x", "y"]
    assert table.X.shape == (9, 2)
    assert table.lines[0] == above.count("\n") + 2
    assert any("was taken as a title" in str(note) for note in table.notes)


def test_a_row_with_a_single_cell_is_no_title_where_names_do_not_follow(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,,\n" + "".join(f"{k},{k}.5,{k % 3}\n" for k in range(9)))
    assert read_table(path).names == ["a", "column 2", "column 3"]
    path.write_text("Sales,,\nname,x,y\n" + "".join(f"n{k},{k}.5,{k}\n" for k in range(9)))
    with pytest.raises(TableError, match="'x' is not a number"):
        read_table(path, header=False)


def test_a_title_in_a_workbook_is_passed_over(tmp_path):
    rows = [["Sales 2024"], [], ["name", "x", "y"], *([f"n{k}", k + 0.5, k % 3] for k in range(9))]
    write_book(tmp_path / "t.xlsx", rows)
    table = read_table(tmp_path / "t.xlsx")
    assert table.names == ["x", "y"]
    assert table.lines[0] == 4


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ('{"a": [1, 2]}', "JSON"),
        ('[\n {"a": 1}]', "JSON"),
        ("\ufeff[[1, 2]]", "JSON"),
        ("<!DOCTYPE html><table>", "web page"),
        ('<?xml version="1.0"?>', "XML"),
    ],
)
def test_text_of_another_kind_is_named(tmp_path, content, what):
    path = tmp_path / "t.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(TableError, match=f"no table of text but .*{what}"):
        read_table(path)


def test_an_archive_called_npy_is_refused(tmp_path):
    path = tmp_path / "t.npy"
    np.savez(path.with_suffix(".npz"), X=np.eye(3))
    path.with_suffix(".npz").rename(path)
    with pytest.raises(TableError, match="not a usable NumPy file"):
        read_table(path)
