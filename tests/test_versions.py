"""What differs between supported versions of scikit-learn, and random numbers in their new form."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import fnmf
from estimators import make_blobs
from fnmf import FNMF, MiniBatchFNMF, RelevanceClusterer, SemiFNMF, choose_n_components
from fnmf.baselines import all_methods
from fnmf.datasets import add_noise_features, make_noisy_gaussians, make_planted_subspaces

SOURCES = sorted(Path(fnmf.__file__).parent.rglob("*.py"))
# The module is hidden from the adapter, and from nobody else: scikit-learn itself needs it.
WITHOUT_CALLBACKS = """
import sys
import numpy as np, sklearn.cluster, warnings
hidden = sys.modules.get("sklearn.callback")
sys.modules["sklearn.callback"] = None
import fnmf._sklearn
sys.modules["sklearn.callback"] = hidden
from fnmf import FNMF
X = np.load(sys.argv[1])
model = FNMF(3, random_state=0)
assert not hasattr(model, "set_callbacks")
try:
    model.set_callbacks()
except AttributeError as error:
    assert "scikit-learn 1.9" in str(error)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    FNMF(3, weighting="paper", max_iter=1, random_state=0).fit(X)
assert caught[0].filename == "<string>", caught[0].filename
model.fit(X)
assert 'class="fnmf"' in model._repr_html_()
np.savez(sys.argv[2], embedding=model.embedding_, labels=model.labels_, new=model.transform(X))
"""


def test_fits_are_the_same_without_callbacks(tmp_path):
    X, _ = make_blobs()
    np.save(tmp_path / "X.npy", X)
    command = [sys.executable, "-c", WITHOUT_CALLBACKS, tmp_path / "X.npy", tmp_path / "found.npz"]
    subprocess.run([str(part) for part in command], check=True)
    model = FNMF(3, random_state=0).fit(X)
    with np.load(tmp_path / "found.npz") as found:
        np.testing.assert_array_equal(found["embedding"], model.embedding_)
        np.testing.assert_array_equal(found["labels"], model.labels_)
        np.testing.assert_array_equal(found["new"], model.transform(X))


PRIVATE = re.compile(
    r"sklearn(\.\w+)*\._[a-z]|from sklearn\S* import _[a-z]"
    r"|_html_repr|_skl_callbacks|_init_callback_context"
)


def test_private_parts_of_scikit_learn_have_one_place():
    found = {path.name for path in SOURCES if PRIVATE.search(path.read_text(encoding="utf-8"))}
    assert found == {"_sklearn.py"}


def test_what_notebooks_ask_for_is_one_answer():
    X, _ = make_blobs()
    model = FNMF(3, random_state=0).fit(X)
    assert 'class="fnmf"' in model._repr_mimebundle_()["text/html"]
    assert 'class="fnmf"' not in clone(model)._repr_mimebundle_()["text/html"]


SEEDED = {
    name: entry
    for name, entry in all_methods().items()
    if "random_state" in entry.factory(n_clusters=3).get_params()
}


def fitted(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X).labels_


@pytest.mark.parametrize("name", sorted(SEEDED))
def test_every_method_takes_a_generator(name):
    X, _ = make_blobs()
    one, other = (
        fitted(
            SEEDED[name].factory(n_clusters=3, random_state=np.random.default_rng(5)),
            X[:, :4] + 0.1,
        )
        for _ in range(2)
    )
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", [RelevanceClusterer, SemiFNMF])
def test_the_other_estimators_take_a_generator(kind):
    X, y = make_blobs()
    labels = [
        fitted(kind(3, random_state=np.random.default_rng(5)), X)
        if kind is RelevanceClusterer
        else kind(3, random_state=np.random.default_rng(5)).fit(X, y).labels_
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*labels)


def test_a_generator_goes_on_where_it_was():
    X, _ = make_blobs()
    model = FNMF(3, init="random", weighting="paper", max_iter=2)
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = clone(model).set_params(random_state=np.random.default_rng(0)).fit(X).embedding_
        model.set_params(random_state=rng)
        np.testing.assert_array_equal(first, model.fit(X).embedding_)
        assert not np.array_equal(first, model.fit(X).embedding_)


def test_streams_choices_and_data_sets_take_a_generator(tmp_path):
    X, _ = make_noisy_gaussians(200, random_state=np.random.default_rng(3))
    np.testing.assert_array_equal(
        X, make_noisy_gaussians(200, random_state=np.random.default_rng(3))[0]
    )
    assert not np.array_equal(X, make_noisy_gaussians(200, random_state=0)[0])
    make_planted_subspaces(random_state=np.random.default_rng(3))
    add_noise_features(X, 2, random_state=np.random.default_rng(3))
    streams = [MiniBatchFNMF(3, random_state=np.random.default_rng(1)).fit(X) for _ in range(2)]
    np.testing.assert_array_equal(streams[0].labels_, streams[1].labels_)
    fnmf.save(streams[0], tmp_path / "stream.fnmf")
    fnmf.load(tmp_path / "stream.fnmf").partial_fit(X)
    choices = [choose_n_components(X, (2, 3), random_state=np.random.default_rng(1)) for _ in "ab"]
    assert choices[0].n_components == choices[1].n_components
