"""Components that are known stay, others are found; a fit can go on from another."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from fnmf import FNMF, load, save

pytestmark = pytest.mark.filterwarnings("ignore")
RNG = np.random.default_rng(0)
PARTS = RNG.gamma(0.3, 1, (4, 20))
X = RNG.gamma(0.5, 1, (200, 4)) @ PARTS
# Two of the four are known, in places of their own.
KNOWN = np.full((4, 20), np.nan)
KNOWN[1], KNOWN[3] = PARTS[0], 7 * PARTS[2]


def cosines(one, other):
    return one @ other.T / np.outer(np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1))


@pytest.mark.parametrize(
    "given",
    [
        {"weighting": "uniform", "graph": None, "solver": "hals"},
        {"weighting": "uniform", "graph": None, "solver": "mu-fast", "max_iter": 3000},
        {"row_norm": "none", "column_units": "own", "smoothness": 0, "max_iter": 1000},
    ],
    ids=["hals", "multiplicative", "relevance"],
)
def test_known_components_stay_and_the_others_are_found(given, tmp_path):
    model = FNMF(4, components=KNOWN, random_state=0, **{"tol": 1e-7, **given}).fit(X)
    used = model.feature_weights_.max(axis=0) > 0
    like = cosines(model.inverse_transform(np.eye(4))[:, used], PARTS[:, used])
    assert like[1, 0] == pytest.approx(1, abs=1e-6)
    assert like[3, 2] == pytest.approx(1, abs=1e-6)
    assert like[[0, 2]][:, [1, 3]].max(axis=0).min() > 0.98
    totals = model.history_["total"]
    assert np.all(np.diff(totals) <= 1e-9 * totals[0])
    save(model, tmp_path / "model.fnmf")
    again = load(tmp_path / "model.fnmf")
    assert np.array_equal(again.components, KNOWN, equal_nan=True)
    assert np.array_equal(again.transform(X), model.transform(X))


def test_a_fit_goes_on_where_it_or_another_ended():
    given = {"weighting": "uniform", "graph": None, "solver": "hals", "random_state": 0}
    noisy = X + RNG.random(X.shape)
    first = FNMF(4, warm_start=True, **given).fit(noisy)
    end = first.objective_
    assert first.history_["total"][0] > 1.05 * end
    for start in (clone(first).fit(noisy), FrozenEstimator(clone(first).fit(noisy))):
        other = FNMF(4, **given).set_params(init=start).fit(noisy)
        assert other.history_["total"][0] < 1.01 * end
    assert first.fit(noisy).history_["total"][0] < 1.01 * end


@pytest.mark.parametrize("weighting", ["relevance", "uniform"])
def test_a_start_of_another_width_is_refused(weighting):
    given = {"weighting": weighting, "max_iter": 2, "random_state": 0}
    model = FNMF(4, warm_start=True, **given).fit(X)
    text = "a model of 4 components and 20 features, but 4 and 13 are needed; fit it with as many"
    with pytest.raises(ValueError, match=f"init is {text}, or pass the name"):
        FNMF(4, init=model, **given).fit(X[:, :13])
    with pytest.raises(ValueError, match=f"starts from {text}, or set warm_start=False"):
        model.fit(X[:, :13])
    with pytest.raises(ValueError, match=r"warm_start=True starts from .* but 3 and 20 are needed"):
        model.set_params(n_components=3).fit(X)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"components": PARTS[:3]}, "components has shape"),
        ({"components": np.where(PARTS > 1, np.nan, PARTS)}, "NaN throughout"),
        ({"components": -PARTS}, "non-negative"),
        ({"components": PARTS, "weighting": "paper"}, "paper"),
        ({"init": FNMF(4)}, "fitted FNMF"),
    ],
)
def test_what_cannot_be_known(given, told):
    with pytest.raises(ValueError, match=told):
        FNMF(4, **given).fit(X)


def test_components_in_a_frame_are_known_by_name():
    pd = pytest.importorskip("pandas")
    names = [f"gene {number}" for number in range(20)]
    rows, known = pd.DataFrame(X, columns=names), pd.DataFrame(KNOWN, columns=names)
    given = {"weighting": "uniform", "graph": None, "random_state": 0, "max_iter": 20}
    expected = FNMF(4, components=KNOWN, **given).fit(X)
    for frame in (known, known[names[::-1]]):
        found = FNMF(4, components=frame, **given).fit(rows)
        np.testing.assert_array_equal(found.components_, expected.components_)
    FNMF(4, components=known, **given).fit(X)
    with pytest.raises(ValueError, match="'gene 0' is not in both"):
        FNMF(4, components=known.rename(columns={"gene 0": "other"}), **given).fit(rows)


def test_score_of_repeated_rows_is_that_of_weights():
    model = FNMF(3, random_state=0).fit(X)
    weights = RNG.integers(0, 3, len(X))
    weighted = model.score(X, sample_weight=weights)
    assert weighted == pytest.approx(model.score(np.repeat(X, weights, axis=0)), rel=1e-9)
    assert weighted != model.score(X)
