"""Delimited text: what is detected, and where errors point."""

import bz2
import csv
import gzip
import io
import lzma
import os
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fnmf.io import TableError, read_table

few = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def write(tmp_path):
    def _write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _write


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends_are_detected(write, delimiter, end):
    rows = [["a", "b", "c"], ["1", "2.5", "3e2"], ["4", ".5", "-6"]]
    table = read_table(write(end.join(delimiter.join(row) for row in rows) + end))
    assert table.names == ["a", "b", "c"]
    assert table.X.tolist() == [[1, 2.5, 300], [4, 0.5, -6]]
    assert table.lines.tolist() == [2, 3]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_are_detected(write, encoding):
    table = read_table(write("größe,prix €\n1,2\n3,4\n".encode(encoding)))
    assert table.names == ["größe", "prix €"]
    assert table.X.tolist() == [[1, 2], [3, 4]]


def test_accents_that_come_late_do_not_stop_the_reader(write):
    text = "name,a\n" + "x,1\n" * 100_000 + "é,2\n"
    table = read_table(write(text.encode("cp1252")), id_column="name")
    assert table.ids[-1] == "é"
    assert len(table.X) == 100_001


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compression_is_told_by_content(write, pack):
    assert read_table(write(pack(b"a,b\n1,2\n"), "table.csv")).X.tolist() == [[1, 2]]


def test_zip_of_one_file_is_read_and_of_two_refused(tmp_path):
    for names in (["a.csv"], ["a.csv", "b.csv"]):
        with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
            for name in names:
                archive.writestr(name, "a,b\n1,2\n")
        if len(names) == 1:
            assert read_table(tmp_path / "t.zip").X.tolist() == [[1, 2]]
        else:
            with pytest.raises(TableError, match="archive of 2 files"):
                read_table(tmp_path / "t.zip")


def test_no_header_is_noticed_and_can_be_forced(write):
    path = write("1,2\n3,4\n")
    table = read_table(path)
    assert table.names == ["column 1", "column 2"]
    assert table.X.shape == (2, 2)
    assert any("no header" in note for note in table.notes)
    assert read_table(path, header=True).names == ["1", "2"]


def test_decimal_commas(write):
    table = read_table(write("a;b\n1,5;2\n-0,25;1e3\n"))
    assert table.X.tolist() == [[1.5, 2], [-0.25, 1000]]


def test_text_columns_are_left_out_and_named(write):
    table = read_table(write("city,a,b\nRome,1,2\nParis,3,4\nRome,3,4\n"))
    assert table.names == ["a", "b"]
    (note,) = table.notes
    assert note.startswith("columns of text are left out: 'city'")


def test_roles_are_kept_apart(write):
    table = read_table(
        write("n,cls,a,b,c\nx,0,1,2,9\ny,1,3,4,9\n"),
        id_column="n",
        label_column="cls",
        exclude=["c"],
    )
    assert (table.names, table.ids, table.labels) == (["a", "b"], ["x", "y"], ["0", "1"])


def test_a_column_that_counts_rows_is_no_feature(write):
    table = read_table(write(",a,b\n0,1,2\n1,3,4\n2,5,7\n"))
    assert table.names == ["a", "b"]
    assert table.ids == ["0", "1", "2"]
    assert table.X.tolist() == [[1, 2], [3, 4], [5, 7]]


def test_identifiers_among_the_features_are_noted(write):
    path = write("customer_id,grid,a\n901,5,1\n377,6,2\n512,7,3\n")
    (note,) = read_table(path).notes
    assert note.startswith("column 'customer_id' looks like an identifier")
    assert read_table(path, exclude=["customer_id"]).notes == []


def test_required_columns_are_numbers_whatever_they_look_like(write):
    path = write("id,a,b\n0,x,\n1,y,\n2,z,\n")
    assert read_table(path, required=["id", "b"]).names == ["id", "b"]
    with pytest.raises(TableError, match="line 2, column 'a': 'x' is not a number"):
        read_table(path, required=["a"])


def test_empty_columns_are_left_out(write):
    table = read_table(write("a,b,c,\n1,,3,\n4,,6,\n"))
    assert table.names == ["a", "c"]
    assert table.X.tolist() == [[1, 3], [4, 6]]


def test_quoted_cells_may_hold_delimiters_and_lines(write):
    table = read_table(write('id,a\n"x,\ny",1\nz,2\n'), id_column="id")
    assert table.ids == ["x,\ny", "z"]
    assert table.lines.tolist() == [2, 4]


def test_identifiers_with_underscores_are_text(write):
    path = write("a,b\n" + "1,2\n" * 5 + "3,1_000\n")
    with pytest.raises(TableError, match="line 7, column 'b': '1_000' is not a number"):
        read_table(path)


def test_missing_values_become_nan(write):
    table = read_table(write("a,b\n1,NA\n,2\n?,3\n4,nan\n5,6\n"))
    np.testing.assert_array_equal(np.isnan(table.X).sum(axis=0), [2, 2])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("a,b\n", "no rows of data"),
        (" \n\n", "nothing but blank lines"),
        ("a,b\n1,2\n3\n", "line 3: 1 values where the header has 2"),
        ("a,b\n1,2\n\n3,4,5\n", "line 4: 3 values where the header has 2"),
        (
            "a,b\n" + "1,2\n" * 4 + "3,red\n",
            r"line 6, column 'b': 'red' is not a number.*exclude=\['b'\]",
        ),
        ("a,b,a\n1,2,3\n", "two columns named 'a' .columns 1 and 3."),
        ("a,b\nx,y\nz,w\n", "no numeric column left"),
        ('a,b\n1,2\n"3,4\n5,6\n', "lines 3 to .*quotation mark"),
        (b"\x00\x01\x02\x03" * 50, "not text"),
        (b"PAR1\x00\x00", "a Parquet file; give it the ending .parquet"),
        (b"%PDF-1.4\n%\xe2", "a PDF document"),
        (b"a,b\n1,2\n" + b"3,4\n" * 70000 + b"5,\x006\n", "line 70003 holds binary data"),
        (b"\x1f\x8b\x08garbage", "damaged compressed file"),
        (gzip.compress(b"a,b\n1,2\n" * 9999)[:-30], "damaged compressed file"),
        (b"PK\x03\x04garbage", "damaged or locked zip"),
    ],
)
def test_errors_say_where_and_what(write, content, words):
    path = write(content)
    with pytest.raises(TableError, match=words) as caught:
        read_table(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_excel_workbook_named_csv_is_told(tmp_path):
    with zipfile.ZipFile(tmp_path / "book.csv", "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    with pytest.raises(TableError, match="spreadsheet"):
        read_table(tmp_path / "book.csv")


@pytest.mark.parametrize("role", ["id_column", "label_column"])
def test_unknown_columns_are_answered_with_the_known_ones(write, role):
    with pytest.raises(TableError, match="no column 'z'; its columns are 'a', 'b'"):
        read_table(write("a,b\n1,2\n"), **{role: "z"})


def test_an_unknown_encoding_is_told(write):
    with pytest.raises(TableError, match="'klingon' is not a known encoding"):
        read_table(write("a,b\n1,2\n"), encoding="klingon")


def test_folders_missing_files_and_pipes_are_told(tmp_path):
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(TableError, match="does not exist"):
        read_table(tmp_path / "none.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(TableError, match="not a regular file"):
        read_table(tmp_path / "pipe.csv")


def test_a_file_without_permission_is_told(write, monkeypatch):
    path = write("a,b\n1,2\n")
    if os.geteuid() == 0:
        # The superuser may read everything, so the refusal is played.
        def refuse(*_, **__):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", refuse)
    else:
        path.chmod(0)
    with pytest.raises(TableError, match="no permission"):
        read_table(path)


def test_decompression_bombs_are_stopped(write, monkeypatch):
    monkeypatch.setattr("fnmf.io._open.FREE_SIZE", 1 << 20)
    path = write(gzip.compress(b"a,b\n" + b"0,0\n" * 2_000_000), "bomb.csv.gz")
    with pytest.raises(TableError, match="400 times its size"):
        read_table(path)


def test_a_header_longer_than_the_first_look_is_read_whole(write):
    names = [f"a rather long name of gene {k}" for k in range(20_000)]
    row = ",".join(["1.5"] * 20_000)
    table = read_table(write(",".join(names) + "\n" + (row + "\n") * 20))
    assert table.names == names
    assert table.X.shape == (20, 20_000)


def test_a_single_column_with_blank_lines(write):
    table = read_table(write("a\n1\n\n2\n" + "\n" * 10 + "3\n"))
    assert table.X.ravel().tolist() == [1, 2, 3]
    assert table.lines.tolist() == [2, 4, 15]


def test_wide_and_long_tables_equal_numpy(write):
    for shape in ((3, 5000), (5000, 3)):
        X = np.random.default_rng(0).random(shape)
        text = io.StringIO()
        np.savetxt(text, X, delimiter=",", fmt="%.17g")
        np.testing.assert_array_equal(read_table(write(text.getvalue())).X, X)


def test_both_ways_of_splitting_agree(write, monkeypatch):
    rng = np.random.default_rng(0)
    lines = ["id,a,b,kind"]
    for i, row in enumerate(rng.random((400, 2))):
        second = "NA" if i % 97 == 5 else f"{row[1]:.17g}"
        lines.append(f"r{i},{row[0]:.17g},{second},k{i % 3}")
        if i % 150 == 7:
            lines.append("")
    monkeypatch.setattr("fnmf.io._rows._CHUNK", 500)
    monkeypatch.setattr("fnmf.io._rows._CHUNK_FOR_A_COLUMN", 1)
    plain = read_table(write("\n".join(lines)), id_column="id", label_column="kind")
    quoted = "\n".join(
        ",".join(f'"{c}"' for c in line.split(",")) if line else "" for line in lines
    )
    careful = read_table(write(quoted), id_column="id", label_column="kind")
    assert plain.X.tobytes() == careful.X.tobytes()
    assert plain.lines.tolist() == careful.lines.tolist()
    assert (plain.ids, plain.labels) == (careful.ids, careful.labels)


@pytest.mark.parametrize("where", [3, 150, 399])
@pytest.mark.parametrize(
    ("line", "words"),
    [("1,2,3", "3 values where the header has 2"), ("1,x", "column 'b': 'x' is not a number")],
)
def test_trouble_is_located_in_any_block(write, monkeypatch, where, line, words):
    monkeypatch.setattr("fnmf.io._rows._CHUNK", 200)
    monkeypatch.setattr("fnmf.io._rows._CHUNK_FOR_A_COLUMN", 1)
    lines = ["a,b"] + ["1,2"] * 400
    lines[where] = line
    with pytest.raises(TableError, match=f"line {where + 1}.*{words}"):
        read_table(write("\n".join(lines)))


cell = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


@few
@given(
    st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2),
        min_size=1,
    )
)
def test_numbers_survive_writing_and_reading(write, rows):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["first", "second"])
    writer.writerows([[repr(v) for v in row] for row in rows])
    assert read_table(write(text.getvalue())).X.tolist() == rows


@few
@given(names=st.lists(cell, min_size=2, max_size=4), rows=st.lists(st.lists(cell, max_size=4)))
def test_any_text_gives_a_table_or_one_clear_sentence(write, names, rows):
    text = io.StringIO()
    csv.writer(text).writerows([names, *rows])
    path = write(text.getvalue())
    try:
        result = read_table(path).X.shape
    except TableError as error:
        result = str(error)
    assert isinstance(result, tuple) or result.startswith(str(path))


@settings(few, max_examples=200)
@given(st.binary(max_size=200))
def test_any_bytes_give_a_table_or_one_clear_sentence(write, content):
    for name in ("t.csv", "t.csv.gz", "t.tsv", "t.npy", "t.npz", "t.mtx", "t.parquet", "t.h5ad"):
        path = write(content, name)
        try:
            result = read_table(path).X.shape
        except TableError as error:
            result = str(error)
        assert isinstance(result, tuple) or str(path) in result
