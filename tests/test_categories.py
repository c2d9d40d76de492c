"""Frames with categories, booleans and missing cells, as pandas and Polars have them."""

import numpy as np
import pytest

import fnmf
from fnmf import FNMF, RelevanceClusterer
from fnmf.metrics import clustering_accuracy

pd = pytest.importorskip("pandas")


def frame(n: int = 300):
    """Three groups in two columns and a category, beside an unrelated flag and an ordered size."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    plan = np.array(["basic", "family", "pro"])[np.where(rng.random(n) < 0.9, y, 0)]
    size = np.array(["S", "M", "L"])[rng.integers(0, 3, n)]
    table = pd.DataFrame(
        {
            "visits": rng.normal(5 * y + 10, 1),
            "spent": rng.normal(40 - 5 * y, 1),
            "plan": pd.Categorical(plan),
            "member": rng.random(n) < 0.5,
            "size": pd.Categorical(size, ["S", "M", "L"], ordered=True),
            "sex": pd.Categorical(np.array(["f", "m"])[rng.integers(0, 2, n)]),
        },
        index=rng.permutation(n),
    )
    return table, y


NAMES = ["visits", "spent", "plan=basic", "plan=family", "plan=pro", "member", "size", "sex=m"]


def test_categories_are_features_of_their_levels_and_found():
    X, y = frame()
    model = FNMF(3, random_state=0).fit(X)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.column_kinds_[2:].tolist() == [*["category"] * 3, "flag", "integer", "flag"]
    assert clustering_accuracy(y, model.labels_) > 0.95
    assert (model.feature_relevance_[:5] > 0.1).all()
    assert (model.feature_relevance_[5:] < 0.05).all()
    assert (model.predict(X) == model.labels_).mean() > 0.95


def test_ordered_levels_are_whole_numbers_in_their_order():
    X, _ = frame()
    model = RelevanceClusterer(3, random_state=0).fit(X)
    assert model.categories_["size"].names == ("S", "M", "L")
    coded = model.transform(X)
    assert coded.shape[1] == 5


def test_missing_and_new_levels_are_missing(tmp_path):
    X, _ = frame()
    X.iloc[3, 2] = None
    model = FNMF(3, random_state=0).fit(X)
    new = X.assign(plan=X["plan"].cat.add_categories("trial"))
    new.iloc[5, 2] = "trial"
    assert (model.predict(new) == model.labels_).mean() > 0.95
    path = tmp_path / "model.fnmf"
    fnmf.save(model, path)
    np.testing.assert_array_equal(fnmf.load(path).predict(new), model.predict(new))


def test_another_fit_forgets_the_categories():
    X, _ = frame()
    model = FNMF(3, random_state=0).fit(X)
    model.fit(X[["visits", "spent"]])
    assert not hasattr(model, "categories_")
    assert model.n_features_in_ == 2


def test_text_is_refused_with_the_remedy():
    X, _ = frame()
    with pytest.raises(ValueError, match=r'astype\("category"\)'):
        FNMF(3).fit(X.assign(plan=X["plan"].astype(str)))


def test_polars_and_pandas_frames_have_equal_results():
    polars = pytest.importorskip("polars")
    X, _ = frame()
    X = X.drop(columns="size")
    other = polars.DataFrame(
        {
            name: X[name].astype(str if name in ("plan", "sex") else X[name].dtype).to_numpy()
            for name in X
        }
    ).with_columns(polars.col("plan", "sex").cast(polars.Categorical))
    one, two = (FNMF(3, random_state=0).fit(table) for table in (X, other))
    np.testing.assert_array_equal(one.labels_, two.labels_)
