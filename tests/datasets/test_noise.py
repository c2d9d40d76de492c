import numpy as np
import pytest
from scipy import stats

from fnmf.datasets import add_noise_features, occlude, unit_rows

KINDS = ["uniform", "exponential", "counts", "permuted", "heavy-tailed"]


def data(n_samples=300, n_features=12):
    return np.random.default_rng(0).gamma(2.0, size=(n_samples, n_features))


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_appended_and_non_negative_and_the_mask_tells_it_apart(kind):
    X = data()
    noised, informative = add_noise_features(X, 7, kind, random_state=3)
    assert noised.shape == (300, 19)
    np.testing.assert_array_equal(noised[:, informative], X)
    assert noised[:, ~informative].min() >= 0
    assert informative.sum() == 12


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_same_noise_another_seed_another(kind):
    X = data()
    first, _ = add_noise_features(X, 5, kind, random_state=1)
    again, _ = add_noise_features(X, 5, kind, random_state=1)
    other, _ = add_noise_features(X, 5, kind, random_state=2)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_uniform_noise_fills_zero_to_the_largest_value():
    X = data()
    noise = add_noise_features(X, 40, random_state=0)[0][:, 12:].ravel()
    assert stats.kstest(noise / X.max(), "uniform").pvalue > 0.01


def test_exponential_noise_follows_the_exponential_law_with_the_mean_of_the_data():
    X = data()
    noise = add_noise_features(X, 40, "exponential", random_state=0)[0][:, 12:].ravel()
    assert stats.kstest(noise / X.mean(), "expon").pvalue > 0.01


def test_counts_are_mostly_zero_integers_with_the_mean_of_the_data():
    X = data()
    noise = add_noise_features(X, 60, "counts", random_state=0)[0][:, 12:]
    np.testing.assert_array_equal(noise, np.round(noise))
    assert (noise == 0).mean() > 0.6
    assert noise.mean() == pytest.approx(X.mean(), rel=0.1)


def test_permuted_noise_holds_the_values_of_a_real_feature_in_another_order():
    X = data()
    noise = add_noise_features(X, 6, "permuted", random_state=0)[0][:, 12:]
    columns = np.sort(X, axis=0).T
    for feature in noise.T:
        matches = [k for k in range(12) if np.array_equal(np.sort(feature), columns[k])]
        assert len(matches) == 1
        assert not np.array_equal(feature, X[:, matches[0]])


def test_heavy_tailed_noise_has_the_tail_of_a_pareto_law_of_index_two():
    X = data()
    noise = add_noise_features(X, 100, "heavy-tailed", random_state=0)[0][:, 12:].ravel()
    assert stats.kstest(noise / X.mean(), stats.lomax(2).cdf).pvalue > 0.01


def test_occlusion_changes_one_square_in_every_image_and_nothing_else():
    X = np.full((50, 9 * 7), 5.0)
    before = X.copy()
    hidden = occlude(X, (9, 7), 3, random_state=0).reshape(50, 9, 7)
    np.testing.assert_array_equal(X, before)
    corners = set()
    for image in hidden:
        rows, columns = np.nonzero(image != 5.0)
        assert len(rows) == 9
        assert np.ptp(rows) == np.ptp(columns) == 2
        corners.add((int(rows.min()), int(columns.min())))
    assert len(corners) > 10
    assert hidden.min() >= 0
    assert hidden.max() <= 5


def test_occlusion_of_the_whole_image_is_allowed_and_reaches_every_edge():
    hidden = occlude(np.ones((400, 16)), (4, 4), 1, random_state=0)
    assert ((hidden != 1).sum(axis=0) > 0).all()
    assert (occlude(np.ones((3, 16)), (4, 4), 4, random_state=0) != 1).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: occlude(np.ones((2, 16)), (4, 5), 2), "image_shape"),
        (lambda: occlude(np.ones((2, 16)), (4, 4), 5), "size=5"),
        (lambda: add_noise_features(np.ones((2, 3)), 2, "white"), "kind='white'"),
        (lambda: add_noise_features(np.ones((2, 3)), -1), "n_noise=-1"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_unit_rows_have_length_one_and_zero_rows_stay_zero_at_any_scale():
    X = data(20, 5)
    X[3] = 0
    for scale in (1e-200, 1.0, 1e200):
        length = np.linalg.norm(unit_rows(X * scale), axis=1)
        assert length[3] == 0
        np.testing.assert_allclose(np.delete(length, 3), 1)
    assert unit_rows(X.astype(np.float32)).dtype == np.float32
