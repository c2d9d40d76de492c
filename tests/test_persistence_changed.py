"""A model file that was changed and signed again is refused, or what it holds still works."""

import copy
import datetime

import numpy as np
import pandas as pd
import pytest

import fnmf
from fnmf.baselines import all_methods
from fnmf.io import Prepared, Recipe, read_table
from fnmf.persistence import ModelFileError
from toy_model import rewrite, split

VALUES = (None, True, -1, 0, 10**12, 1.5, "x", [], {}, [1, 2], {"$": "array", "array": 0}, "nan")
GONE = object()
ROWS = np.random.default_rng(0).random((20, 4)) + 2 * np.eye(4)[np.arange(20) % 2]


def places(node, path=()):
    """Every place of a tree of JSON."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def changed(header, path, value):
    tree = copy.deepcopy(header)
    node = tree
    for key in path[:-1]:
        node = node[key]
    if value is GONE:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return tree


def plain(weighting):
    return fnmf.FNMF(2, weighting=weighting, n_neighbors=3, tol=0.1, random_state=0).fit(ROWS)


def rival(name):
    return all_methods()[name].factory(n_clusters=2, random_state=0).fit(ROWS)


def with_recipe(tmp_path):
    """A model of a table with categories, dates, a missing and a negative value."""
    lines = ["id,city,from,to,a,b,c,d"]
    for i, row in enumerate(ROWS):
        day = datetime.date(2024, 1, 1) + datetime.timedelta(days=9 * i)
        cells = [f"C{i}", ("Graz", "Lyon")[i % 2], day, day + datetime.timedelta(days=1 + i % 3)]
        lines.append(",".join(map(str, [*cells, *row.round(3)])))
    lines[4] = lines[4].rsplit(",", 1)[0] + ","
    lines[6] = lines[6].rsplit(",", 1)[0] + ",-1"
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    table = read_table(tmp_path / "t.csv", keep_texts=True)
    recipe = Recipe.learn(table, missing="median", negative="shift", scale="max")
    model = fnmf.FNMF(2, weighting="uniform", n_neighbors=3, tol=0.1, random_state=0)
    return Prepared(model.fit(recipe.prepare(table.X)), recipe), pd.read_csv(tmp_path / "t.csv")


def work_or_refuse(path, rows):
    """Load and use a file; True if it works. Anything but an error in words is raised."""
    try:
        model = fnmf.load(path)
        if hasattr(model, "n_features_in_"):
            # Rows may not fit what the file says now.
            model.predict(rows)
    except ValueError as error:
        told = str(error)
    else:
        return True
    assert told
    return False


@pytest.mark.parametrize("name", ["SparseKMeans", "LaplacianScore", "paper"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_single_change_of_a_model_makes_an_odd_error(tmp_path, name):
    path = tmp_path / "m.fnmf"
    fnmf.save(plain(name) if name == "paper" else rival(name), path)
    header, payload = split(path)
    assert work_or_refuse(path, ROWS)
    refused = 0
    # Parameters are many and alike; fitted attributes and arrays are what compiled code sees.
    for place in [p for p in places(header) if p[0] == "arrays" or "attributes" in p]:
        for value in (GONE, *VALUES[:: 2 if name == "paper" else 1]):
            rewrite(path, changed(header, place, value), payload)
            refused += not work_or_refuse(path, ROWS)
    assert refused > 100


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_no_single_change_of_a_recipe_makes_an_odd_error(tmp_path):
    model, frame = with_recipe(tmp_path)
    path = tmp_path / "m.fnmf"
    fnmf.save(model, path)
    header, payload = split(path)
    assert work_or_refuse(path, frame)
    refused = 0
    for place in [p for p in places(header) if p[0] == "metadata"]:
        for value in (GONE, 10**12, "x", {"$": "array", "array": 0}):
            rewrite(path, changed(header, place, value), payload)
            refused += not work_or_refuse(path, frame)
    assert refused > 100


@pytest.mark.parametrize("value", ["nan", "x", True, {"$": "list", "items": [1.0]}])
def test_attributes_that_are_no_arrays_are_held_to_their_types(tmp_path, value):
    path = tmp_path / "m.fnmf"
    fnmf.save(plain("relevance"), path)
    header, payload = split(path)
    for name in ("_row_scale", "_strength", "n_iter_", "structure_"):
        assert name in header["model"]["attributes"]
        rewrite(path, changed(header, ("model", "attributes", name), value), payload)
        with pytest.raises(ModelFileError, match=f"{name} is not what a fit leaves behind"):
            fnmf.load(path)


def test_a_model_of_one_weighting_that_claims_another_is_refused(tmp_path):
    path = tmp_path / "m.fnmf"
    fnmf.save(plain("paper"), path)
    header, payload = split(path)
    del header["model"]["params"]["weighting"]
    rewrite(path, header, payload)
    with pytest.raises(ModelFileError, match="lacks _caps"):
        fnmf.load(path)
