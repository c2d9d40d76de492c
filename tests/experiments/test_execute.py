import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import normalized_mutual_info_score
from sklearn.utils import Bunch

from fnmf.experiments import Method, Problem, _execute, _registry, methods, problems
from fnmf.experiments._execute import data_digest, execute, one_line
from fnmf.experiments._plan import Run
from fnmf.experiments._store import unpack


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("two\nlines\tand \x1b[31mcolour", "two lines and  [31mcolour"),
        ("cannot import (/home/me/src/pkg/mod.py)", "cannot import (mod.py)"),
        (r"no file C:\Users\me\data.npz here", "no file data.npz here"),
        ("see https://example.org/a/b.html", "see https://example.org/a/b.html"),
        ("a ratio of 1/2 and x/y", "a ratio of 1/2 and x/y"),
    ],
)
def test_reasons_are_one_printable_line_without_the_folders_of_a_machine(text, line):
    assert one_line(text) == line


def test_reasons_are_bounded():
    assert len(one_line("x" * 10_000)) == 300


@pytest.fixture
def registry(monkeypatch):
    monkeypatch.setattr("fnmf.baselines.registry._METHODS", methods())
    monkeypatch.setattr(_registry, "_PROBLEMS", problems())
    X, y = make_blobs(60, centers=3, random_state=0)
    data = Bunch(data=X - X.min(axis=0), target=y)
    _registry.register_dataset(Problem("blobs", "Blobs", lambda home: Bunch(**data), unit=False))
    _execute.prepared.cache_clear()
    _execute._shared_graph.cache_clear()
    yield data
    _execute.prepared.cache_clear()
    _execute._shared_graph.cache_clear()


def test_a_run_is_measured_as_the_protocol_says(registry):
    _registry.register_method(Method("Plain", KMeans))
    outcome = execute(Run("blobs", "Plain", (("n_init", 3),), 5))
    labels = KMeans(3, n_init=3, random_state=5).fit_predict(registry.data)
    np.testing.assert_array_equal(unpack(outcome["labels"])["labels"], labels)
    expected = normalized_mutual_info_score(registry.target, labels, average_method="max")
    assert outcome["nmi"] == pytest.approx(expected)
    assert outcome["n_found"] == 3
    assert outcome["seconds"] > 0
    assert outcome["details"] is None


def test_history_and_weights_are_kept_for_details_only(registry):
    class Model(KMeans):
        def fit_predict(self, X, y=None):
            self.history_ = np.array(
                [(3.0, 1.0), (2.0, 1.0)], dtype=[("total", float), ("b", float)]
            )
            self.feature_weights_ = np.eye(2)
            return super().fit_predict(X)

    _registry.register_method(Method("Model", Model))
    details = unpack(execute(Run("blobs", "Model", (), 0, "detail"))["details"])
    np.testing.assert_array_equal(details["history"], [3.0, 2.0])
    np.testing.assert_array_equal(details["weights"], np.eye(2))


def test_the_graph_is_shared_where_it_would_be_built_and_nowhere_else(registry):
    seen = []

    class Graphs(KMeans):
        def __init__(self, n_clusters=8, random_state=None, graph="adaptive", weighting="paper"):
            super().__init__(n_clusters, n_init=1, random_state=random_state)
            self.graph, self.weighting = graph, weighting

        def fit_predict(self, X, y=None):
            seen.append(self.graph)
            return super().fit_predict(X)

    _registry.register_method(Method("Graphs", Graphs))
    for params in ((), (), (("graph", None),), (("weighting", "relevance"),)):
        assert "reason" not in execute(Run("blobs", "Graphs", params, 0))
    assert seen[0] is seen[1]
    assert seen[0].shape == (60, 60)
    assert seen[2] is None
    assert seen[3] == "adaptive"


def test_the_digest_of_data_changes_with_any_value_and_class(registry):
    base = data_digest(registry)
    for name in ("data", "target"):
        changed = Bunch(**registry)
        changed[name] = changed[name].copy()
        changed[name].flat[0] += 1
        assert data_digest(changed) != base
