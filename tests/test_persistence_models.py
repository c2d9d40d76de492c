"""Every estimator of the package comes back from its file as it was."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

import fnmf
from fnmf import MappedCSR
from fnmf.baselines import all_methods
from fnmf.persistence import ModelFileError
from toy_model import rewrite, split
from versions import needs_callbacks

NAMES = list(all_methods())
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def X():
    X = np.random.default_rng(0).random((40, 6))
    X[np.arange(40), np.arange(40) % 3] += 2
    return X


def make(name):
    if name == "FNMF":
        return fnmf.FNMF(3, random_state=0, max_iter=20)
    return all_methods()[name].factory(n_clusters=3, random_state=0)


def same(a, b):
    if isinstance(a, KMeans):
        return same(a.cluster_centers_, b.cluster_centers_)
    if isinstance(a, BaseEstimator):
        return vars(a).keys() == vars(b).keys() and all(
            same(vars(a)[k], vars(b)[k]) for k in vars(a)
        )
    if isinstance(a, np.ndarray):
        # What all rows share is stored for each of them.
        ordered = 0 in a.strides or a.flags.c_contiguous == b.flags.c_contiguous
        equal = ordered and a.tobytes("A") == b.tobytes("A")
        return equal and a.dtype == b.dtype and a.shape == b.shape
    if sp.issparse(a):
        return all(same(getattr(a, p), getattr(b, p)) for p in ("data", "indices", "indptr"))
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_round_trip(tmp_path, X, name, kind):
    data = X if kind == "dense" else sp.csr_array(X)
    model = make(name).fit(data)
    fnmf.save(model, tmp_path / "m.fnmf")
    again = fnmf.load(tmp_path / "m.fnmf")
    assert same(model, again)
    for method in ("transform", "predict"):
        if hasattr(model, method):
            before, after = getattr(model, method)(data), getattr(again, method)(data)
            assert before.tobytes() == after.tobytes()


@pytest.mark.parametrize("weighting", ["paper", "uniform", "relevance"])
def test_every_weighting_comes_back_and_is_checked(tmp_path, X, weighting):
    model = fnmf.FNMF(3, weighting=weighting, random_state=0, max_iter=30).fit(X)
    fnmf.save(model, tmp_path / "m.fnmf")
    again = fnmf.load(tmp_path / "m.fnmf")
    assert model.transform(X).tobytes() == again.transform(X).tobytes()
    # Nothing is as long as these, and no compiled code reads them.
    alone = ("history_", "cluster_stability_")
    arrays = [k for k, v in vars(model).items() if isinstance(v, np.ndarray) and k not in alone]
    for name in arrays:
        # Compiled code reads these side by side: one that is too short must never get there.
        setattr(again, name, getattr(model, name)[..., :-1])
        fnmf.save(again, tmp_path / "short.fnmf")
        with pytest.raises(ModelFileError, match="does not fit the rest"):
            fnmf.load(tmp_path / "short.fnmf")
        setattr(again, name, getattr(model, name))


@pytest.mark.parametrize("name", NAMES)
def test_round_trip_before_fit(tmp_path, name):
    model = make(name)
    fnmf.save(model, tmp_path / "m.fnmf")
    assert fnmf.load(tmp_path / "m.fnmf").get_params() == model.get_params()


def test_names_seen_in_fit_and_output_settings_come_back(tmp_path, X):
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(6)])
    model = make("FNMF").set_output(transform="pandas").fit(frame)
    fnmf.save(model, tmp_path / "m.fnmf")
    again = fnmf.load(tmp_path / "m.fnmf")
    pd.testing.assert_frame_equal(model.transform(frame), again.transform(frame))
    assert again.feature_names_in_.tolist() == list(frame)


def test_data_on_disk_come_back_in_memory(tmp_path, X):
    np.save(tmp_path / "X.npy", X)
    MappedCSR.write(sp.csr_array(X), tmp_path / "sparse")
    dense = make("FNMF").fit(X)
    for data in (np.load(tmp_path / "X.npy", mmap_mode="r"), MappedCSR.open(tmp_path / "sparse")):
        model = make("FNMF").fit(data)
        fnmf.save(model, tmp_path / "m.fnmf")
        again = fnmf.load(tmp_path / "m.fnmf")
        np.testing.assert_allclose(again.transform(X), dense.transform(X), atol=1e-6)


@needs_callbacks
def test_callbacks_are_left_behind(tmp_path, X):
    from sklearn.callback import ProgressBar

    model = make("FNMF").fit(X).set_callbacks(ProgressBar())
    fnmf.save(model, tmp_path / "m.fnmf")
    assert same(make("FNMF").fit(X), fnmf.load(tmp_path / "m.fnmf"))


@pytest.mark.parametrize(
    "name", ["components_", "feature_weights_", "embedding_", "_fit_X", "labels_"]
)
def test_arrays_that_do_not_fit_each_other_are_refused(tmp_path, X, name):
    # Compiled code would read past their end.
    model = make("FNMF").fit(X)
    setattr(model, name, getattr(model, name)[:-1])
    fnmf.save(model, tmp_path / "m.fnmf")
    with pytest.raises(ModelFileError, match="does not fit the rest"):
        fnmf.load(tmp_path / "m.fnmf")


def test_a_warning_of_the_fit_is_not_part_of_the_file(tmp_path, X):
    with pytest.warns(ConvergenceWarning):
        model = fnmf.FNMF(3, weighting="paper", max_iter=2, random_state=0).fit(X)
    fnmf.save(model, tmp_path / "m.fnmf")
    assert fnmf.load(tmp_path / "m.fnmf").n_iter_ == 2


@pytest.mark.parametrize(
    ("name", "weighting"),
    [(name, "relevance") for name in ("components_", "labels_", "_fit_X", "_omega", "_strength")]
    + [("_kmeans", "uniform"), ("embedding_", "paper")],
)
def test_a_signed_model_that_lacks_something_is_refused_on_loading(tmp_path, name, weighting):
    X = np.random.default_rng(0).random((12, 5))
    path = tmp_path / "m.fnmf"
    model = fnmf.FNMF(2, n_neighbors=3, tol=0.1, weighting=weighting, random_state=0)
    fnmf.save(model.fit(X), path)
    fnmf.load(path)
    header, payload = split(path)
    stored = header["model"]["attributes"]
    for value in (None, "gone"):
        stored[name] = None
        if value == "gone":
            del stored[name]
        rewrite(path, header, payload)
        with pytest.raises(ModelFileError, match=f"lacks {name}"):
            fnmf.load(path)


def test_a_fitted_model_with_parameters_that_no_fit_takes_is_refused(tmp_path):
    path = tmp_path / "m.fnmf"
    X = np.random.default_rng(0).random((12, 5))
    fnmf.save(fnmf.FNMF(2, weighting="uniform", n_neighbors=3, tol=0.1).fit(X), path)
    header, payload = split(path)
    header["model"]["params"]["smoothness"] = None
    rewrite(path, header, payload)
    with pytest.raises(ModelFileError, match="smoothness must be a number"):
        fnmf.load(path)


def test_a_model_whose_labels_are_no_clusters_is_refused(tmp_path):
    X = np.random.default_rng(0).random((12, 5))
    model = fnmf.FNMF(2, weighting="uniform", n_neighbors=3, tol=0.1).fit(X)
    for labels in (model.labels_ - 5, model.labels_ + 10**9, model.labels_ + 0.5):
        model.labels_ = labels
        fnmf.save(model, tmp_path / "m.fnmf")
        with pytest.raises(ModelFileError, match="labels_ holds numbers"):
            fnmf.load(tmp_path / "m.fnmf")
