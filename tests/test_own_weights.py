"""FNMF with weights of the user's, and with negative values that are shifted."""

import numpy as np
import pytest
import scipy.sparse as sp

from estimators import make_blobs
from fnmf import FNMF, choose_n_components, load, save
from fnmf.metrics import clustering_accuracy
from fnmf.persistence import ModelFileError

SMALL = {"n_components": 3, "random_state": 0, "max_iter": 400, "tol": 1e-3}


class TestWeights:
    def test_even_ones_are_the_uniform_weighting(self):
        X, _ = make_blobs()
        own, uniform = (
            FNMF(weighting=weighting, n_weightings=1, **SMALL).fit(X)
            for weighting in (np.full(X.shape[1], 7.0), "uniform")
        )
        np.testing.assert_allclose(own.feature_weights_, uniform.feature_weights_)
        np.testing.assert_allclose(own.embedding_, uniform.embedding_, rtol=1e-6)
        np.testing.assert_allclose(own.transform(X), uniform.transform(X), rtol=1e-6)

    def test_features_of_weight_zero_do_not_matter(self):
        X, y = make_blobs()
        noise = np.random.default_rng(0).uniform(0, 100, (len(X), 20))
        weights = np.r_[np.ones(X.shape[1]), np.zeros(20)]
        model = FNMF(weighting=weights, **SMALL).fit(np.hstack([X, noise]))
        alone = FNMF(weighting=np.ones(X.shape[1]), **SMALL).fit(X)
        # The codes of the row without any value are arbitrary.
        assert clustering_accuracy(alone.labels_, model.labels_) > 0.98
        assert clustering_accuracy(y, model.labels_) > 0.95
        np.testing.assert_array_equal(model.feature_weights_[0, -20:], 0)
        other = np.hstack([X, 1 + noise[::-1]])
        np.testing.assert_array_equal(model.predict(other), model.predict(np.hstack([X, noise])))
        assert model.feature_weights_.shape == (1, X.shape[1] + 20)
        with pytest.raises(AttributeError, match="does not exist for weights of 0"):
            model.inverse_transform(model.embedding_)

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_rows_are_recovered_from_positive_ones(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(40, 2)) @ rng.uniform(size=(2, 6))
        weights = rng.uniform(1, 2, 6)
        model = FNMF(2, weighting=weights, graph=None, solver="hals", random_state=0)
        codes = model.fit_transform(X)
        np.testing.assert_allclose(model.inverse_transform(codes), X, atol=0.05)
        np.testing.assert_allclose(model.feature_weights_[0], weights / weights.sum())

    def test_a_model_comes_back(self, tmp_path):
        X, _ = make_blobs()
        model = FNMF(weighting=np.arange(9.0), **SMALL).fit(X)
        save(model, tmp_path / "model.fnmf")
        back = load(tmp_path / "model.fnmf")
        np.testing.assert_array_equal(back.transform(X), model.transform(X))

    @pytest.mark.parametrize(
        ("wrong", "match"),
        [
            (np.ones(8), "8 weights, but X has 9"),
            (-np.ones(9), "non-negative"),
            (np.zeros(9), "not 0 for all"),
            (np.full(9, np.nan), "finite"),
            (np.ones((9, 1)), "is not known"),
            (None, "is not known"),
            (5, "is not known"),
        ],
    )
    def test_others_are_refused(self, wrong, match):
        with pytest.raises(ValueError, match=match):
            FNMF(weighting=wrong, **SMALL).fit(make_blobs()[0])


class TestShift:
    def signed(self):
        X, y = make_blobs()
        X[:, :3] -= 0.5
        return X, y

    def test_the_error_names_the_parameter(self):
        with pytest.raises(ValueError, match='negative="shift"'):
            FNMF(**SMALL).fit(self.signed()[0])

    @pytest.mark.parametrize("weighting", ["relevance", "uniform"])
    def test_it_is_a_fit_of_features_that_start_at_zero(self, weighting):
        X, _ = self.signed()
        low = np.where(X.min(axis=0) < 0, X.min(axis=0), 0)
        model = FNMF(negative="shift", weighting=weighting, **SMALL).fit(X)
        plain = FNMF(weighting=weighting, **SMALL).fit(X - low)
        np.testing.assert_array_equal(model.shift_, -low)
        assert model.n_clipped_ == 0
        np.testing.assert_array_equal(model.embedding_, plain.embedding_)
        np.testing.assert_array_equal(model.predict(X), plain.predict(X - low))
        codes = model.embedding_
        np.testing.assert_allclose(
            model.inverse_transform(codes), plain.inverse_transform(codes) + low
        )

    def test_new_rows_below_are_raised_and_counted(self):
        X, _ = self.signed()
        model = FNMF(negative="shift", **SMALL).fit(X)
        new = X[:5].copy()
        new[1, 0], new[2, 5] = -9.0, -1.0
        raised = np.maximum(new, np.minimum(X.min(axis=0), 0))
        with pytest.warns(UserWarning, match="2 values lie below") as told:
            found = model.transform(new)
        assert len(told) == 1
        np.testing.assert_array_equal(found, model.transform(raised))
        assert model.n_clipped_ == 2

    def test_what_has_no_negative_values_stays(self):
        X, _ = make_blobs()
        shifted, plain = (FNMF(negative=name, **SMALL).fit(X) for name in ("shift", "error"))
        np.testing.assert_array_equal(shifted.embedding_, plain.embedding_)
        rows = sp.csr_array(X)
        shifted, plain = (FNMF(negative=name, **SMALL).fit(rows) for name in ("shift", "error"))
        np.testing.assert_array_equal(shifted.embedding_, plain.embedding_)

    def test_sparse_rows_would_be_filled(self):
        with pytest.raises(ValueError, match="would fill the zeros"):
            FNMF(negative="shift", **SMALL).fit(sp.csr_array(self.signed()[0]))

    def test_a_model_comes_back_with_its_shift(self, tmp_path):
        X, _ = self.signed()
        model = FNMF(negative="shift", **SMALL).fit(X)
        save(model, tmp_path / "model.fnmf")
        back = load(tmp_path / "model.fnmf")
        np.testing.assert_array_equal(back.predict(X), model.labels_)
        del model.shift_
        save(model, tmp_path / "broken.fnmf")
        with pytest.raises(ModelFileError, match="shift_"):
            load(tmp_path / "broken.fnmf")

    def test_words_and_numbers_are_those_of_the_data(self):
        X, _ = self.signed()
        model = FNMF(negative="shift", **SMALL).fit(X)
        told = model.describe_clusters()
        assert [str(one) for one in told] == [str(one) for one in model.describe_clusters(X)]
        why, same = model.explain(0), model.explain(0, X=X)
        assert str(why) == str(same)

    def test_the_number_of_clusters(self):
        X, _ = self.signed()
        choice = choose_n_components(X, range(2, 6), random_state=0, negative="shift")
        assert choice.n_components == 3

    def test_other_words_are_refused(self):
        with pytest.raises(ValueError, match="negative="):
            FNMF(negative="keep", **SMALL).fit(self.signed()[0])
