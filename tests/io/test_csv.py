"""Delimited text: what is detected, and where errors point."""

import bz2
import csv
import gzip
import io
import lzma
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fnmf.io import TableError, read_table
from fnmf.io._open import open_bytes

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


def zipped(content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", content)
    return buffer.getvalue()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zipped])
def test_bombs_are_refused_by_their_beginning(write, monkeypatch, pack):
    monkeypatch.setattr("fnmf.io._open._UNWATCHED", 1 << 20)
    # Far below what a file may ask for in all.
    content = b"a,b\n" + b"0,0\n" * 5_000_000
    path = write(pack(content), "bomb.csv.gz")
    with open_bytes(path) as file:
        file.read(1 << 20)
        with pytest.raises(TableError, match="400 times its size"):
            file.read(len(content) // 2)


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
