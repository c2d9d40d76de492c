"""Rows of a stream that count more or less than once."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

import fnmf
from fnmf import MiniBatchFNMF
from fnmf.data import view_of
from fnmf.execution import threads

pytestmark = pytest.mark.filterwarnings("ignore")
X = load_digits().data[:300]
WEIGHTS = np.random.default_rng(0).integers(0, 4, len(X))
SUMS = ("counts", "sums", "squares", "places", "crosses", "grams", "strange")


def streamed(rows, weights=None, form=np.asarray, **parameters):
    model = MiniBatchFNMF(10, random_state=0, **{"max_iter": 10, **parameters})
    return model.fit(form(rows), sample_weight=weights)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_weight_is_repetition_while_the_sample_holds_all(form):
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(len(X)), WEIGHTS))
    weighted, repeated = streamed(X, WEIGHTS, form), streamed(X[rows], None, form)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X))
    np.testing.assert_allclose(weighted.cluster_sizes_, repeated.cluster_sizes_)
    assert weighted.cluster_sizes_.sum() == pytest.approx(WEIGHTS.sum())
    assert weighted.score(X, sample_weight=WEIGHTS) == pytest.approx(repeated.score(X[rows]))
    assert weighted.n_samples_seen_ == len(X)
    assert repeated.n_samples_seen_ == len(rows)


def test_rows_of_weight_0_are_not_there():
    there = WEIGHTS > 0
    with_zeros = MiniBatchFNMF(10, random_state=0, max_iter=10)
    without = MiniBatchFNMF(10, random_state=0, max_iter=10)
    for part in (slice(0, 150), slice(150, 300)):
        with_zeros.partial_fit(X[part], sample_weight=there[part].astype(float))
        without.partial_fit(X[part][there[part]])
    np.testing.assert_array_equal(with_zeros.components_, without.components_)
    np.testing.assert_array_equal(with_zeros.cluster_sizes_, without.cluster_sizes_)


def test_sums_between_renewals_count_rows_as_their_weights(tmp_path):
    """A batch with weights moves the sums as far as one with repeated rows, and goes on stored."""
    one = streamed(X[:200], batch_size=400)
    fnmf.save(one, tmp_path / "stream.fnmf")
    other = fnmf.load(tmp_path / "stream.fnmf")
    new, weights = X[200:250], np.random.default_rng(2).integers(1, 3, 50)
    one.partial_fit(new, sample_weight=weights)
    # Past the step that takes equal rows together.
    with threads(1) as runner:
        other._stream.learn(view_of(np.repeat(new, weights, axis=0)), other._pace(), runner)
    assert one.n_renewals_ == other._stream.renewals == 1
    for name in SUMS:
        found, expected = (getattr(m._stream.memory.sums, name) for m in (one, other))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    fnmf.save(one, tmp_path / "weighted.fnmf")
    again = fnmf.load(tmp_path / "weighted.fnmf")
    for model in (one, again):
        model.partial_fit(X[250:], sample_weight=np.full(50, 20.0))
    assert one.n_renewals_ > 1
    np.testing.assert_array_equal(one.components_, again.components_)


def test_weights_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match=r"[Ss]ample.weight"):
        MiniBatchFNMF(3).partial_fit(X, sample_weight=np.ones(3))
    # The newer scikit-learn says it in its own words.
    with pytest.raises(ValueError, match=r"at least one (non-zero|sample must count)"):
        MiniBatchFNMF(3).fit(X, sample_weight=np.zeros(len(X)))
