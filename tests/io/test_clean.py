"""Missing and negative values: refused with their place, or treated as chosen."""

import numpy as np
import pytest
import scipy.sparse as sp

from fnmf.io import Cleaning, Recipe, Table, TableError, clean, read_table


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,a,b\nx,1,2\ny,-3,\nz,5,6\n")
    return read_table(path, id_column="id")


def test_missing_values_are_refused_with_their_place(table):
    with pytest.raises(
        TableError, match=r"line 3, column 'b': the value is missing.*missing=\"drop\""
    ):
        clean(table, Cleaning())


def test_negative_values_are_refused_with_their_place(table):
    with pytest.raises(TableError, match=r"line 3, column 'a': -3 is negative.*\"shift\".*\"abs\""):
        clean(table, Cleaning(missing="zero"))


def test_drop_leaves_rows_out_everywhere(table):
    clean(table, Cleaning(missing="drop"))
    assert table.X.tolist() == [[1, 2], [5, 6]]
    assert table.ids == ["x", "z"]
    assert table.lines.tolist() == [2, 4]


@pytest.mark.parametrize(("missing", "fill"), [("zero", 0), ("median", 4)])
def test_fill_and_shift(table, missing, fill):
    cleaning = Cleaning(missing, "shift")
    clean(table, cleaning)
    assert table.X.tolist() == [[4, 2], [0, fill], [8, 6]]
    assert cleaning.shift.tolist() == [3, 0]


def test_missing_cells_may_stay(table):
    cleaning = Cleaning("keep", "shift")
    clean(table, cleaning)
    np.testing.assert_array_equal(table.X, [[4, 2], [0, np.nan], [8, 6]])
    assert "1 missing cell stays missing" in table.notes[0]
    new = Table(table.path, np.array([[-3.0, np.nan]]), ["a", "b"])
    clean(new, cleaning, fitted=True)
    np.testing.assert_array_equal(new.X, [[0, np.nan]])


def test_a_missing_category_is_one_missing_cell(tmp_path):
    table = Table(tmp_path, np.arange(8.0)[:, None], ["n"])
    table.texts = {"plan": ["a", "b", "c", "", "a", "b", "c", "a"]}
    Recipe.learn(table, missing="keep")
    assert np.isnan(table.X).sum() == 3
    assert any(note.startswith("1 missing cell stays missing") for note in table.notes)


def test_abs(table):
    clean(table, Cleaning("zero", "abs"))
    assert table.X.tolist() == [[1, 2], [3, 0], [5, 6]]


def test_new_rows_are_treated_like_the_first_ones(table, tmp_path):
    cleaning = Cleaning("median", "shift")
    clean(table, cleaning)
    new = Table(tmp_path, np.array([[-5.0, np.nan], [0.0, 1.0]]), ["a", "b"])
    clean(new, cleaning, fitted=True)
    assert new.X.tolist() == [[0, 4], [3, 1]]
    assert "values below the training minimum" in new.notes[-1]


def test_infinity_is_never_filled(tmp_path):
    table = Table(tmp_path, np.array([[np.nan, 1], [2, np.inf]]), ["a", "b"])
    with pytest.raises(TableError, match="row 2, column 'b': the value is infinite"):
        clean(table, Cleaning("zero"))


def test_sparse_values_are_found(tmp_path):
    X = np.zeros((5, 4))
    X[3, 2] = -1
    table = Table(tmp_path, sp.csr_array(X), list("abcd"))
    with pytest.raises(TableError, match="row 4, column 'c': -1 is negative"):
        clean(table, Cleaning())
    with pytest.raises(TableError, match="would make sparse data dense"):
        clean(table, Cleaning(negative="shift"))
    clean(table, Cleaning(negative="abs"))
    np.testing.assert_array_equal(table.X.toarray(), abs(X))


def test_memory_mapped_arrays_are_not_changed(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[1, -2], [3, 4]]))
    table = read_table(tmp_path / "x.npy")
    clean(table, Cleaning(negative="shift"))
    assert table.X.tolist() == [[1, 0], [3, 6]]
    assert np.load(tmp_path / "x.npy").tolist() == [[1, -2], [3, 4]]
