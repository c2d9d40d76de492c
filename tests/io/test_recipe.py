"""The way of a table to a model: learned once, followed by new rows, stored with the model."""

import numpy as np
import pandas as pd
import pytest

import fnmf
from fnmf.io import REMEDIES, Prepared, Recipe, Table, TableError, decide, read_table

HEADER = "name,city,from,to,a,b,c\n"


def row(i):
    city = ("Graz", "Lyon", "Porto")[i % 3] if i % 20 else f"village {i}"
    end = f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}"
    return f"r{i},{city},2023-{1 + i % 12:02d}-05,{end},{i % 7},{-1.5 if i == 3 else i % 5},{i}\n"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(HEADER + "".join(row(i) for i in range(60)))
    return path


def test_text_and_dates_become_features_from_0_to_1(path):
    table = read_table(path, keep_texts=True)
    recipe = Recipe.learn(table, negative="shift")
    for name in ("city=Graz", "city=(other)", "from (month)", "to (days)", "to - from (days)"):
        assert name in recipe.columns
    encoded = table.X[:, 3:]
    assert encoded.min() >= 0
    assert encoded.max() <= 1
    cities = table.X[:, [k for k, n in enumerate(table.names) if n.startswith("city=")]]
    np.testing.assert_array_equal(cities.sum(axis=1), 1)
    graz = table.X[:, table.names.index("city=Graz")]
    np.testing.assert_array_equal(graz, [i % 3 == 0 and i % 20 != 0 for i in range(60)])


def test_without_encoding_text_and_dates_are_listed(path):
    notes = read_table(path).notes
    assert any("columns of text are left out: 'city'" in note for note in notes)
    assert any("columns of dates are left out: 'from', 'to'" in note for note in notes)


def test_new_rows_get_the_features_of_the_first_ones(path, tmp_path):
    table = read_table(path, keep_texts=True)
    recipe = Recipe.learn(table, negative="shift", scale="max")
    first = recipe.prepare(table.X)
    new = tmp_path / "new.csv"
    new.write_text(HEADER + row(7) + row(11).replace("Porto", "Atlantis"))
    X = recipe.follow(read_table(new, recipe.reading()))
    np.testing.assert_allclose(X[0], first[7])
    assert X.shape == (2, len(recipe.columns))
    other = recipe.columns.index("city=(other)")
    assert X[1, other] > 0


@pytest.mark.parametrize(
    ("treatment", "encode"),
    [
        ({"missing": "median", "negative": "shift", "scale": "max"}, False),
        ({"missing": "zero", "negative": "abs", "normalize": "none"}, False),
        ({"missing": "median", "negative": "shift"}, True),
    ],
)
def test_a_stored_model_takes_raw_rows_from_python(path, tmp_path, treatment, encode):
    table = read_table(path, keep_texts=encode)
    recipe = Recipe.learn(table, **treatment)
    model = fnmf.FNMF(2, n_neighbors=3, tol=1, random_state=0, weighting="uniform")
    model.fit(recipe.prepare(table.X))
    fnmf.save(Prepared(model, recipe), tmp_path / "m.fnmf")
    loaded = fnmf.load(tmp_path / "m.fnmf")
    raw = read_table(path, recipe.reading())
    expected = model.predict(recipe.follow(read_table(path, recipe.reading())))
    np.testing.assert_array_equal(loaded.predict(raw), expected)
    frame = pd.read_csv(path)
    np.testing.assert_array_equal(loaded.predict(frame[frame.columns[::-1]]), expected)
    np.testing.assert_array_equal(loaded.transform(frame), model.transform(loaded.prepare(frame)))
    if not encode:
        np.testing.assert_array_equal(loaded.predict(frame[["a", "b", "c"]].to_numpy()), expected)
    assert loaded.labels_.shape == (60,)
    assert raw.X.min() < 0, "the rows of the caller must not be changed"


def test_a_model_without_recipe_comes_back_as_itself(tmp_path):
    fnmf.save(fnmf.FNMF(3), tmp_path / "m.fnmf", metadata={"columns": "free text"})
    assert isinstance(fnmf.load(tmp_path / "m.fnmf"), fnmf.FNMF)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fill", np.zeros(7)),
        ("shift", np.array(["a", "b"])),
        ("columns", np.array(["a"], dtype=object)),
        ("missing", "guess"),
        ("normalize", "guess"),
        ("encoding", {"categories": 3}),
        (
            "encoding",
            {"categories": [], "moments": [["d", "xyz", [], 0.0, 1.0]], "differences": []},
        ),
    ],
)
def test_recipes_that_make_no_sense_are_refused_on_loading(tmp_path, key, value):
    rng = np.random.default_rng(0)
    model = fnmf.FNMF(2, graph=None, weighting="uniform", tol=1, random_state=0)
    model.fit(rng.random((20, 2)))
    metadata = Recipe(["a", "b"]).to_metadata() | {key: value}
    fnmf.save(model, tmp_path / "m.fnmf", metadata=metadata)
    with pytest.raises(fnmf.persistence.ModelFileError, match=r"inconsistent|do not fit"):
        fnmf.load(tmp_path / "m.fnmf")


def test_rows_that_lack_columns_are_refused_with_their_names():
    recipe = Recipe(["a", "b"])
    table = Table("new", np.ones((2, 1)), ["a"])
    with pytest.raises(TableError, match="lacks 1 of the 2 columns the model needs: 'b'"):
        recipe.follow(table)
    with pytest.raises(TableError, match="3 columns, and the model needs 2"):
        Prepared(None, recipe).prepare(np.ones((2, 3)))


def test_the_library_names_no_option_of_the_command():
    assert not any("--" in text for text in REMEDIES.values())


@pytest.mark.parametrize(
    ("bad", "words"),
    [(1, "a cell that is no number counts as missing"), (2, "2 cells that are no numbers count")],
)
def test_cells_that_are_no_numbers_are_decided_to_be_missing(tmp_path, bad, words):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "x,1\n" * bad + "".join(f"{i % 7},{i % 5}\n" for i in range(30)))
    problems = []
    table = read_table(path, problems=problems)
    assert decide(table, problems) == []
    assert any(f"column 'a': {words}" in note for note in table.notes)
    assert np.isnan(table.X[:, 0]).sum() == bad
