"""scikit-learn's callbacks on FNMF."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from fnmf import FNMF

callback = pytest.importorskip("sklearn.callback", reason="came with scikit-learn 1.9")


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.uniform(0, 0.3, (40, 6)) + np.eye(3).repeat(2, axis=1)[np.arange(40) % 3]


class Recorder:
    """Keeps what it is told; asks for a stop after ``stop_after`` iterations of a start."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.events, self.metadata, self.snapshots, self.depths = [], [], [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None):
        assert X is not None
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, metadata=None, fitted_estimator=None):
        assert X is not None
        self.events.append(f"end {context.task_name}")
        if context.task_name != "iteration":
            return False
        self.metadata.append(metadata)
        self.snapshots.append(fitted_estimator)
        return self.stop_after is not None and metadata["iteration"] >= self.stop_after


def model(**parameters):
    return FNMF(
        **{
            "n_components": 3,
            "weighting": "paper",
            "random_state": 0,
            "max_iter": 12,
            "tol": 0.0,
            **parameters,
        }
    )


def fit(estimator, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X)


def test_every_iteration_reports_its_values(X):
    recorder = Recorder()
    fitted = fit(model().set_callbacks(recorder), X)
    assert [m["iteration"] for m in recorder.metadata] == list(range(1, 13))
    for term in ("total", "reconstruction", "diversity", "smoothness"):
        np.testing.assert_array_equal([m[term] for m in recorder.metadata], fitted.history_[term])
    assert recorder.events[0] == "setup"
    assert recorder.events[-1] == "teardown"
    begun = [e.removeprefix("begin ") for e in recorder.events if e.startswith("begin")]
    ended = [e.removeprefix("end ") for e in recorder.events if e.startswith("end")]
    assert sorted(begun) == sorted(ended)


def test_callbacks_change_nothing(X):
    plain = fit(model(), X)
    watched = fit(model().set_callbacks(Recorder()), X)
    np.testing.assert_array_equal(plain.embedding_, watched.embedding_)
    np.testing.assert_array_equal(plain.labels_, watched.labels_)


def test_a_callback_can_stop_the_fit_without_a_warning(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = model().set_callbacks(Recorder(stop_after=4)).fit(X)
    assert fitted.n_iter_ == 4
    expected = fit(model(max_iter=4), X)
    np.testing.assert_array_equal(fitted.embedding_, expected.embedding_)


@pytest.mark.parametrize("assignment", ["sample", "shared"])
def test_snapshots_are_fitted_models_of_their_iteration(X, assignment):
    recorder = Recorder()
    fit(model(assignment=assignment).set_callbacks(recorder), X)
    for iteration in (1, 5, 12):
        snapshot = recorder.snapshots[iteration - 1]
        expected = fit(model(assignment=assignment, max_iter=iteration), X)
        # Kept until now, and still what it was at its time.
        for name in ("components_", "embedding_", "assignments_", "feature_weights_"):
            np.testing.assert_array_equal(getattr(snapshot, name), getattr(expected, name))
        np.testing.assert_array_equal(snapshot.transform(X), expected.transform(X))


def test_several_starts_are_tasks_of_their_own(X):
    recorder = Recorder(stop_after=3)
    fitted = fit(model(n_init=3, init="random").set_callbacks(recorder), X)
    assert fitted.n_iter_ == 3
    assert recorder.events.count("begin start") == 3
    assert recorder.events.count("end start") == 3
    assert [m["iteration"] for m in recorder.metadata] == [1, 2, 3] * 3
    lowest = min(m["total"] for m in recorder.metadata if m["iteration"] == 3)
    assert fitted.objective_ == lowest


@pytest.mark.parametrize("n_init", [1, 2])
def test_progress_bar_runs_to_its_end(X, n_init, capsys):
    fit(model(n_init=n_init).set_callbacks(callback.ProgressBar()), X)
    assert "FNMF" in capsys.readouterr().out


def test_scoring_monitor_sees_every_iteration(X):
    # It scores only where there is a target, which a clusterer has not; it logs all the same.
    monitor = callback.ScoringMonitor(scoring={"norm": lambda estimator, X, y: 0.0})
    fit(model(max_iter=5).set_callbacks(monitor), X)
    logged = [row["task_id"] for row in monitor.get_logs().data if row["task_name"] == "iteration"]
    assert logged == list(range(5))


def test_callbacks_work_inside_a_pipeline(X):
    recorder = Recorder(stop_after=2)
    pipeline = make_pipeline(MinMaxScaler(), model().set_callbacks(recorder))
    pipeline.fit(X)
    assert len(recorder.metadata) == 2
    assert pipeline[-1].n_iter_ == 2
    assert pipeline.transform(X).shape == (40, 3)


def test_a_failing_fit_still_tears_down(X):
    recorder = Recorder()
    with pytest.raises(ValueError, match="Negative"):
        model().set_callbacks(recorder).fit(-X)
    assert recorder.events.count("setup") == recorder.events.count("teardown")


@pytest.mark.parametrize("n_init", [1, 2])
def test_the_default_tells_what_it_does(X, n_init):
    recorder = Recorder()
    fit(FNMF(3, random_state=0, n_init=n_init, max_iter=5).set_callbacks(recorder), X)
    stages = ["searching preparations", "finding neighbours", "fitting all rows"]
    told = [event.removeprefix("begin ") for event in recorder.events if "begin" in event]
    assert [name for name in told if name in stages] == stages * n_init
    ended = [event.removeprefix("end ") for event in recorder.events if event.startswith("end")]
    assert sorted(told) == sorted(ended)
    assert 0 < told.count("iteration") <= 5 * n_init
