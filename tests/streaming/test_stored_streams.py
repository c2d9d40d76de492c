"""A stream that was stored goes on as if it had never been; a file that is no stream is refused."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp

import fnmf
from fnmf import MiniBatchFNMF
from fnmf.persistence import ModelFileError

pytestmark = pytest.mark.filterwarnings("ignore")
D, C = 12, 3


def batch(seed, n=80, informative=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n, D))
    X[:, informative : informative + 6] *= 0.3
    X[:, informative : informative + 6] += np.eye(C).repeat(2, axis=1)[rng.integers(0, C, n)]
    return np.where(X > 0.2, X, 0)


def streamed(form=np.asarray, batches=3, **parameters):
    given = {"batch_size": 80, "sample_size": 150, "forget_factor": 0.8, "max_iter": 10}
    model = MiniBatchFNMF(C, random_state=0, n_jobs=1, **{**given, **parameters})
    for seed in range(batches):
        model.partial_fit(form(batch(seed)))
    return model


def stored(model, folder):
    fnmf.save(model, folder / "stream.fnmf")
    return fnmf.load(folder / "stream.fnmf")


def assert_same(one, other):
    assert vars(one).keys() == vars(other).keys()
    for name in ("components_", "feature_importances_", "cluster_sizes_"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    assert (one.n_samples_seen_, one.n_renewals_) == (other.n_samples_seen_, other.n_renewals_)
    X = batch(99)
    assert one.transform(X).tobytes() == other.transform(X).tobytes()
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array])
def test_a_loaded_stream_goes_on_as_if_it_had_never_been_stored(tmp_path, form):
    model = streamed(form)
    again = stored(model, tmp_path)
    assert_same(model, again)
    # Long enough for renewals, of features that have changed.
    for seed in range(10, 20):
        for one in (model, again):
            one.partial_fit(form(batch(seed, informative=6)))
    assert model.n_renewals_ >= 3
    assert_same(model, again)


def test_a_stream_without_a_model_yet_goes_on(tmp_path):
    model = MiniBatchFNMF(C, random_state=0, n_jobs=1).partial_fit(batch(0, n=4))
    again = stored(model, tmp_path)
    assert again.n_samples_seen_ == 4
    assert_same(*(one.partial_fit(batch(1)) for one in (model, again)))


def test_labels_of_a_fit_come_back(tmp_path):
    model = streamed(batches=0).fit(batch(0, n=200))
    np.testing.assert_array_equal(stored(model, tmp_path).labels_, model.labels_)


def test_an_unfitted_one_comes_back(tmp_path):
    model = MiniBatchFNMF(4, forget_factor=0.5)
    assert stored(model, tmp_path).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda s: setattr(s.reservoir, "rows", s.reservoir.rows[:, 1:]), "does not fit the rest"),
        (lambda s: setattr(s.reservoir, "weights", s.reservoir.weights[1:]), "does not fit"),
        (lambda s: setattr(s, "seen", -1), "no number seen"),
        (lambda s: setattr(s, "weight", float("nan")), "no amount weight"),
        (lambda s: setattr(s, "rng", None), "not described"),
        (lambda s: s.fitted.labels.__setitem__(0, C), "numbers that no cluster has"),
        (lambda s: object.__setattr__(s.fitted, "omega", None), "lacks _omega"),
        (lambda s: object.__setattr__(s.fitted, "mean", s.fitted.mean[1:]), "does not fit"),
        (lambda s: object.__setattr__(s.memory, "about", None), "no memory"),
        (lambda s: object.__setattr__(s.memory, "limit", np.ones(2)), "what is strange"),
        (
            lambda s: object.__setattr__(
                s.memory, "sums", s.memory.sums._replace(counts=np.ones(C + 1))
            ),
            "does not fit",
        ),
    ],
)
def test_what_no_stream_can_be_is_refused(tmp_path, spoil, words):
    model = copy.deepcopy(streamed(batches=1))
    spoil(model._stream)
    with pytest.raises(ModelFileError, match=words):
        stored(model, tmp_path)


def test_a_model_that_lost_its_stream_is_refused(tmp_path):
    model = streamed(batches=1)
    del model._stream
    with pytest.raises(ModelFileError, match="lacks _stream"):
        stored(model, tmp_path)
