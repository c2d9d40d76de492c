"""Kinds of columns that are given, not found."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import fnmf
from fnmf import FNMF, RelevanceClusterer, SemiRelevanceClusterer, choose_n_components

pd = pytest.importorskip("pandas")


@pytest.fixture
def table():
    """Three groups in two columns, and a code, a scale of four steps and a flag beside them."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    columns = {
        "visits": rng.normal(6 * y),
        "spent": rng.normal(-5 * y),
        "code": rng.integers(1, 6, 300),
        "grade": rng.integers(0, 4, 300),
        "member": rng.integers(0, 2, 300),
    }
    frame = pd.DataFrame(columns)
    return frame - frame.min(), y


@pytest.mark.parametrize("model", [FNMF, RelevanceClusterer])
def test_a_code_that_is_called_a_category_becomes_one(model, table, tmp_path):
    X, y = table
    kinds = {"code": "category", "grade": "ordinal"}
    fitted = model(3, random_state=0, column_kinds=kinds).fit(X)
    names = fitted.feature_names_in_.tolist()
    assert [name for name in names if "=" in name] == [f"code={level}" for level in range(5)]
    told = dict(zip(names, fitted.column_kinds_.tolist(), strict=True))
    assert {told[f"code={level}"] for level in range(5)} == {"category"}
    assert (told["grade"], told["member"], told["visits"]) == ("ordinal", "flag", "continuous")
    assert adjusted_rand_score(y, fitted.labels_) > 0.95
    fnmf.save(fitted, tmp_path / "model.fnmf")
    back = fnmf.load(tmp_path / "model.fnmf")
    assert back.column_kinds == kinds
    # Of a column with a missing cell pandas makes another type.
    lacking = X.assign(code=X["code"].astype(float).where(np.arange(300) > 0))
    assert np.mean(back.predict(lacking) == fitted.labels_) > 0.99


def test_a_category_that_is_given_is_the_category_of_a_frame(table):
    X, _ = table
    given = RelevanceClusterer(3, random_state=0, column_kinds={"code": "category"}).fit(X)
    own = RelevanceClusterer(3, random_state=0).fit(X.assign(code=X["code"].astype("category")))
    np.testing.assert_array_equal(given.labels_, own.labels_)
    np.testing.assert_array_equal(given.feature_relevance_, own.feature_relevance_)
    assert given.feature_names_in_.tolist() == own.feature_names_in_.tolist()


def test_kinds_go_by_name_by_position_and_in_order(table):
    X, _ = table
    expected = ["continuous", "continuous", "integer", "continuous", "flag"]
    in_order = [None, None, None, "continuous", ""]
    for data, kinds in (
        (X, {"grade": "continuous"}),
        (X, pd.Series({"grade": "continuous"})),
        (X, in_order),
        (X.to_numpy(), {3: "continuous"}),
        (X.to_numpy(), np.array(["", "", "", "continuous", ""])),
    ):
        model = RelevanceClusterer(3, random_state=0, column_kinds=kinds).fit(data)
        assert model.column_kinds_.tolist() == expected
    again = RelevanceClusterer(3, random_state=0, column_kinds=model.column_kinds_).fit(X)
    assert again.column_kinds_.tolist() == expected


def test_a_lone_flag_makes_clusters_only_if_it_is_called_continuous():
    rng = np.random.default_rng(0)
    X = np.c_[rng.integers(0, 2, 400), rng.random((400, 2))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = RelevanceClusterer(2, random_state=0).fit(X)
        asked = RelevanceClusterer(2, random_state=0, column_kinds={0: "continuous"}).fit(X)
    assert not found.structure_found_
    assert adjusted_rand_score(X[:, 0], asked.labels_) == 1


def test_number_of_clusters_and_labels_know_the_kinds(table):
    X, y = table
    kinds = {"code": "category"}
    assert choose_n_components(X, random_state=0, column_kinds=kinds).n_components == 3
    known = np.where(np.arange(300) < 12, y, -1)
    model = SemiRelevanceClusterer(random_state=0, column_kinds=kinds).fit(X, known)
    assert model.column_kinds_.tolist().count("category") == 5


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ({"kode": "flag"}, "names 'kode', but X has the columns 'visits'"),
        ({"code": "nominal"}, "calls 'code' 'nominal'; use one of"),
        ({"code": "flag"}, "calls feature 2 flag, but it has 5 values"),
        (["flag"], "has 1 kind.* but X has 5 columns"),
        ("category", ".*but X has 5 columns"),
        ({9: "flag"}, "names 9"),
    ],
)
def test_kinds_that_cannot_be_are_refused(table, kinds, told):
    with pytest.raises(ValueError, match=f"column_kinds {told}"):
        RelevanceClusterer(3, column_kinds=kinds).fit(table[0])


def test_what_only_frames_and_tables_have_is_told(table):
    X = table[0].to_numpy()
    with pytest.raises(ValueError, match="pass a frame of pandas or Polars"):
        RelevanceClusterer(3, column_kinds={2: "category"}).fit(X)
    with pytest.raises(ValueError, match='use weighting="relevance"'):
        FNMF(3, column_kinds={2: "integer"}, weighting="paper").fit(X)
    plan = table[0].assign(plan=pd.Categorical(np.where(X[:, 0] > 5, "pro", "basic")))
    with pytest.raises(ValueError, match="the category 'plan' continuous"):
        RelevanceClusterer(3, column_kinds={"plan": "continuous"}).fit(plan)
    many = np.random.default_rng(0).random((100, 200))
    with pytest.warns(UserWarning, match="column_kinds has no effect"):
        RelevanceClusterer(2, random_state=0, column_kinds={0: "integer"}).fit(many)
