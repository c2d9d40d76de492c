"""RelevanceClusterer: clusters and features of any real data, without a factorisation."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fnmf import FNMF, MappedCSR, RelevanceClusterer, load, save
from fnmf.datasets import make_planted_subspaces
from fnmf.metrics import clustering_accuracy
from fnmf.persistence import ModelFileError
from fnmf.relevance.defaults import DEFAULTS


@pytest.fixture(scope="module")
def planted():
    X, y, _ = make_planted_subspaces(240, 3, random_state=0)
    return X, y


@pytest.fixture(scope="module")
def fitted(planted):
    return RelevanceClusterer(3, random_state=0).fit(planted[0])


def same_partition(one, other):
    return clustering_accuracy(one, other) == 1


def table(n=300, seed=0):
    """Six columns of three groups and six of noise, with negative values, in different units."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    centres = np.array([rng.permutation([-4.0, 0.0, 4.0]) for _ in range(6)]).T
    X = np.hstack([centres[y] + rng.normal(size=(n, 6)), rng.normal(size=(n, 6))])
    return X * 10.0 ** rng.integers(-2, 3, 12), y


class TestClusters:
    def test_the_planted_ones_are_found_and_counted(self, planted):
        X, y = planted
        model = RelevanceClusterer(random_state=0).fit(X)
        assert model.n_clusters_ == 3
        assert model.k_interval_[0] <= 3 <= model.k_interval_[1]
        assert model.structure_found_
        assert clustering_accuracy(y, model.labels_) == 1

    def test_standardised_features_do(self, planted):
        X, y = planted
        model = make_pipeline(StandardScaler(), RelevanceClusterer(random_state=0))
        assert clustering_accuracy(y, model.fit_predict(X)) == 1
        last = model[-1]
        assert last.n_clusters_ == 3
        assert {one["rows"] for one in last.chosen_} == {"own"}
        assert {one["columns"] for one in last.chosen_} == {"own", "spread"}

    @pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
    def test_tables_with_negative_values_do(self, storage):
        X, y = table()
        model = RelevanceClusterer(3, random_state=0).fit(storage(X))
        assert clustering_accuracy(y, model.labels_) > 0.98
        assert set(model.column_kinds_) == {"continuous"}
        assert model.get_support()[:6].all()
        assert model.feature_relevance_[:6].min() > model.feature_relevance_[6:].max()

    def test_a_shift_of_signed_features_changes_nothing(self):
        X, _ = table()
        one, other = (
            RelevanceClusterer(3, column_units="spread", random_state=0).fit(X - shift)
            for shift in (np.zeros(12), X.max(axis=0) / 2)
        )
        assert same_partition(one.labels_, other.labels_)
        np.testing.assert_allclose(one.feature_relevance_, other.feature_relevance_, atol=1e-5)

    @pytest.mark.parametrize("changed", [{"exact_rows": 100, "n_anchors": 60}, {}])
    def test_they_are_those_that_fnmf_starts_from(self, planted, changed):
        # With anchors the factorisation does not change labels; on clear groups nor with a graph.
        X, _ = planted
        models = RelevanceClusterer(3, random_state=0), FNMF(3, random_state=0, max_iter=3, tol=1)
        for model in models:
            model._defaults = replace(DEFAULTS, **changed)
            model.fit(X)
        mine, theirs = models
        np.testing.assert_array_equal(mine.labels_, theirs.labels_)
        np.testing.assert_array_equal(mine.feature_relevance_, theirs.feature_relevance_)
        np.testing.assert_array_equal(mine.feature_qvalues_, theirs.feature_qvalues_)
        np.testing.assert_array_equal(mine.cluster_stability_, theirs.cluster_stability_)
        np.testing.assert_array_equal(mine.predict(X[::3] * 1.01), theirs.predict(X[::3] * 1.01))

    def test_one_cluster_if_there_is_no_structure(self):
        X = np.random.default_rng(0).normal(size=(120, 30))
        model = RelevanceClusterer(random_state=0).fit(X)
        assert model.n_clusters_ == 1
        assert not model.labels_.any()


class TestStorage:
    def test_csr_mapped_and_single_precision_give_the_same(self, planted, fitted, tmp_path):
        X, _ = planted
        MappedCSR.write(sp.csr_array(X), tmp_path / "csr")
        np.save(tmp_path / "X.npy", X)
        forms = (
            sp.csr_array(X),
            MappedCSR.open(tmp_path / "csr"),
            np.load(tmp_path / "X.npy", mmap_mode="r"),
            X.astype(np.float32),
        )
        for form in forms:
            other = RelevanceClusterer(3, random_state=0).fit(form)
            assert same_partition(fitted.labels_, other.labels_)
            np.testing.assert_array_equal(fitted.get_support(), other.get_support())
            chosen = other.transform(form)
            chosen = chosen.toarray() if sp.issparse(chosen) else chosen
            np.testing.assert_allclose(chosen, X[:, fitted.get_support()], rtol=1e-6)
            np.testing.assert_array_equal(other.predict(form), other.labels_)

    def test_dask_arrays_with_negative_values(self, planted):
        da = pytest.importorskip("dask.array")
        X = StandardScaler().fit_transform(planted[0])
        rows = da.from_array(X, chunks=(100, -1))
        model = RelevanceClusterer(3, random_state=0).fit(rows)
        assert clustering_accuracy(planted[1], model.labels_.compute()) > 0.98
        assert len(model.sample_confidence_.compute()) == len(X)
        chosen = model.transform(rows).compute()
        np.testing.assert_array_equal(chosen, X[:, model.get_support()])
        np.testing.assert_array_equal(model.predict(rows).compute(), model.predict(X))


class TestFeatures:
    def test_those_of_a_q_value_below_the_rate_are_selected(self, fitted):
        strict = RelevanceClusterer(false_discovery_rate=1e-30)
        strict.__dict__.update({k: v for k, v in vars(fitted).items() if k.endswith("_")})
        np.testing.assert_array_equal(fitted.get_support(), fitted.feature_qvalues_ <= 0.1)
        np.testing.assert_array_equal(strict.get_support(), fitted.feature_qvalues_ <= 1e-30)
        assert 0 < strict.get_support().sum() < fitted.get_support().sum()

    def test_their_names_come_out(self, planted):
        pd = pytest.importorskip("pandas")
        names = [f"gene {k}" for k in range(planted[0].shape[1])]
        frame = pd.DataFrame(planted[0], columns=names)
        model = RelevanceClusterer(3, random_state=0).set_output(transform="pandas")
        chosen = model.fit_transform(frame)
        assert list(chosen.columns) == list(model.get_feature_names_out())
        assert list(chosen.columns) == list(np.array(names)[model.get_support()])

    def test_importances_sum_to_one(self, fitted):
        assert fitted.feature_importances_.sum() == pytest.approx(1)


class TestSamples:
    def test_the_second_best_is_the_nearest_other_mean_where_nobody_votes(self):
        # Three groups on a line, far apart: no neighbour is of another group.
        rng = np.random.default_rng(0)
        y = np.arange(150) % 3
        X = np.array([-20.0, 0.0, 30.0])[y][:, None] + rng.normal(size=(150, 4))
        model = RelevanceClusterer(3, random_state=0).fit(X)
        assert same_partition(y, model.labels_)
        names = np.array([model.labels_[y == group][0] for group in range(3)])
        np.testing.assert_array_equal(model.second_labels_, names[np.array([1, 0, 1])][y])

    # Two clusters of data that have three are a choice.
    @pytest.mark.filterwarnings("ignore::fnmf.exceptions.AmbiguousClustersWarning")
    def test_confidence_is_lower_between_clusters(self):
        X, _ = table(seed=3)
        model = RelevanceClusterer(2, random_state=0).fit(X)
        assert ((model.sample_confidence_ > 0) & (model.sample_confidence_ < 1)).all()
        assert np.all(model.second_labels_ != model.labels_)

    def test_explanations_scores_and_descriptions(self, planted, fitted):
        X, _ = planted
        why = fitted.explain(0)
        assert why.cluster == fitted.labels_[0]
        new = fitted.explain(X[0] * 1.001)
        assert (new.cluster, new.second) == (why.cluster, why.second)
        assert fitted.score(X) > 0.3
        assert len(fitted.describe_clusters()) == 3


class TestFiles:
    def test_a_model_comes_back(self, planted, fitted, tmp_path):
        X, _ = planted
        save(fitted, tmp_path / "model.fnmf")
        back = load(tmp_path / "model.fnmf")
        np.testing.assert_array_equal(back.predict(X), fitted.predict(X))
        np.testing.assert_array_equal(back.transform(X), fitted.transform(X))
        np.testing.assert_array_equal(back.sample_confidence_, fitted.sample_confidence_)
        assert back.chosen_ == fitted.chosen_

    def test_kinds_of_columns_come_back(self, tmp_path):
        model = RelevanceClusterer(3, random_state=0).fit(table()[0])
        save(model, tmp_path / "model.fnmf")
        back = load(tmp_path / "model.fnmf")
        np.testing.assert_array_equal(back.column_kinds_, model.column_kinds_)

    @pytest.mark.parametrize("name", ["labels_", "_omega", "_fit_X", "feature_importances_"])
    def test_one_without_its_clusters_is_refused(self, fitted, tmp_path, name):
        broken = RelevanceClusterer(3)
        broken.__dict__.update(vars(fitted))
        delattr(broken, name)
        save(broken, tmp_path / "model.fnmf")
        with pytest.raises(ModelFileError, match=name):
            load(tmp_path / "model.fnmf")

    def test_a_notebook_shows_what_was_found(self, fitted):
        assert "3 clusters" in fitted._repr_html_()


class TestRefusals:
    def test_without_ties_there_are_no_clusters(self, planted):
        for graph in (None, sp.csr_array((240, 240))):
            with pytest.raises(ValueError, match="graph has no ties"):
                RelevanceClusterer(3, graph=graph).fit(planted[0])

    def test_typical_values_of_signed_features(self):
        model = RelevanceClusterer(3, column_units="typical")
        with pytest.raises(ValueError, match="negative values"):
            model.fit(table()[0])

    @pytest.mark.parametrize("wrong", [0, "many", 2.5, None])
    def test_numbers_that_are_none(self, planted, wrong):
        with pytest.raises((ValueError, TypeError), match="n_clusters"):
            RelevanceClusterer(wrong).fit(planted[0])

    def test_more_clusters_than_samples(self, planted):
        with pytest.raises(ValueError, match="n_clusters=241"):
            RelevanceClusterer(241).fit(planted[0])

    def test_a_rate_below_zero(self, planted):
        with pytest.raises(ValueError, match="false_discovery_rate"):
            RelevanceClusterer(3, false_discovery_rate=-0.1).fit(planted[0])


def test_rows_of_unit_length_on_demand():
    """Directions of rows with negative values, as of embeddings, if the user says so."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 4
    X = 3 * rng.normal(size=(4, 200))[y] + rng.normal(size=(200, 200))
    X *= 10 ** rng.uniform(-2, 2, size=(200, 1))
    model = RelevanceClusterer(4, row_norm="unit", random_state=0).fit(X)
    assert model.chosen_[0]["rows"] == "unit"
    assert clustering_accuracy(y, model.labels_) == 1
