"""Checkpoints: a fit that was interrupted ends as if it had not been."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp

from constants import vary
from fnmf import FNMF, Checkpoint
from fnmf.datasets import make_noisy_gaussians
from versions import needs_callbacks

# The data are few, noisy and never meant to settle.
pytestmark = pytest.mark.filterwarnings("ignore")
CASES = {
    "graph": {},
    "no graph": {"graph": None},
    "anchors": {},
    "two starts": {"n_init": 2, "n_weightings": 1},
    "paper": {"weighting": "paper", "graph_refresh": 1, "max_iter": 15, "tol": 0.0},
    "hals": {"solver": "hals"},
    "uniform": {"weighting": "uniform", "assignment": "shared"},
}


@pytest.fixture(scope="module")
def X():
    return make_noisy_gaussians(random_state=0)[0][:240].astype(np.float32)


def model(**parameters):
    return FNMF(**{"n_components": 3, "random_state": 0, "n_jobs": 1, **parameters})


class InterruptedFitError(Exception):
    """What stands for the end of a process."""


class Interrupt:
    """A callback that ends a fit in the middle."""

    def __init__(self, after):
        self.after = after

    def setup(self, estimator, context):
        """Nothing."""

    def teardown(self, estimator, context):
        """Nothing."""

    def on_fit_task_begin(self, estimator, context, *, X=None):
        """Nothing."""

    def on_fit_task_end(self, estimator, context, *, X=None, metadata=None, fitted_estimator=None):
        self.after -= context.task_name == "iteration"
        if self.after <= 0:
            raise InterruptedFitError
        return False


def assert_equal_fits(one, other):
    for name in ("components_", "embedding_", "labels_", "assignments_", "feature_weights_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(one.history_, other.history_)
    assert one.objective_ == other.objective_


@needs_callbacks
@pytest.mark.parametrize("case", CASES)
def test_an_interrupted_fit_goes_on_to_the_same_result(case, X, tmp_path, monkeypatch):
    if case == "anchors":
        vary(monkeypatch, exact_rows=100, n_anchors=60)
    whole = model(**CASES[case]).fit(X)
    checkpoint = Checkpoint(tmp_path / "c", every=0)
    for after in (1, 2, 2):
        interrupted = model(**CASES[case]).set_callbacks(Interrupt(after))
        with pytest.raises(InterruptedFitError):
            interrupted.fit(X, checkpoint=checkpoint)
    iterations = whole.n_iter_
    resumed = model(**CASES[case]).fit(X, checkpoint=checkpoint)
    assert_equal_fits(whole, resumed)
    assert iterations > 2
    # And a finished one is given back.
    assert_equal_fits(whole, model(**CASES[case]).fit(X, checkpoint=tmp_path / "c"))


def test_sparse_data_and_no_seed_go_on_too(X, tmp_path):
    rows = sp.csr_array(np.where(np.median(X) < X, X, 0))
    first = FNMF(3, random_state=None).fit(rows, checkpoint=tmp_path)
    again = FNMF(3, random_state=None).fit(rows, checkpoint=tmp_path)
    assert_equal_fits(first, again)


def test_another_fit_is_refused_with_what_differs(X, tmp_path):
    model().fit(X, checkpoint=tmp_path)
    changed = X.copy()
    changed[7, 1] += 1
    with pytest.raises(ValueError, match=r"differs in the values of X;"):
        model().fit(changed, checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"samples \(was 240, is 200\)"):
        model().fit(X[:200], checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"smoothness \(was 100\.0, is 5\)"):
        model(smoothness=5).fit(X, checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"differs in random_state;"):
        model(random_state=1).fit(X, checkpoint=tmp_path)
    graph = sp.csr_array(np.ones((len(X), len(X))))
    with pytest.raises(ValueError, match=r"differs in graph \(was 'adaptive'"):
        model(graph=graph).fit(X, checkpoint=tmp_path)
    # Threads do not change the result.
    model(n_jobs=2, verbose=0).fit(X, checkpoint=tmp_path)


def test_a_folder_of_something_else_is_left_alone(X, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ValueError, match="a folder with other files"):
        model().fit(X, checkpoint=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_checkpoint_must_be_a_folder(X):
    with pytest.raises(TypeError, match="checkpoint must be a folder"):
        model().fit(X, checkpoint=3)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"\x93NUMPY"])
@pytest.mark.parametrize("name", ["start-*.npz", "graph-*.npz", "checkpoint.json"])
def test_a_damaged_file_is_an_error_that_names_it(name, content, X, tmp_path):
    model().fit(X, checkpoint=tmp_path)
    (path,) = tmp_path.glob(name)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{path.name} is damaged"):
        model().fit(X, checkpoint=tmp_path)


def replaced(path, **arrays):
    with np.load(path) as file:
        kept = {name: file[name] for name in file.files}
    np.savez(path, **{**kept, **arrays})


def test_arrays_that_do_not_fit_never_reach_compiled_code(X, tmp_path):
    model().fit(X, checkpoint=tmp_path)
    (start,) = tmp_path.glob("start-*.npz")
    (graph,) = tmp_path.glob("graph-*.npz")
    good = start.read_bytes()
    replaced(start, V=np.zeros((3, 3), np.float32))
    with pytest.raises(ValueError, match="V has shape"):
        model().fit(X, checkpoint=tmp_path)
    start.write_bytes(good)
    replaced(start, pull=np.zeros((1, 3), np.float32))
    with pytest.raises(ValueError, match="does not fit this run"):
        model().fit(X, checkpoint=tmp_path)
    start.write_bytes(good)
    with np.load(graph) as file:
        replaced(graph, indices=file["indices"] + 10**6)
    with pytest.raises(ValueError, match="of the checkpoint does not fit the data"):
        model().fit(X, checkpoint=tmp_path)


def test_pickles_are_never_opened(X, tmp_path):
    model().fit(X, checkpoint=tmp_path)
    (start,) = tmp_path.glob("start-*.npz")
    replaced(start, V=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="damaged"):
        model().fit(X, checkpoint=tmp_path)


def test_it_is_written_every_so_many_seconds(X, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr("fnmf._checkpoint.write_arrays", lambda path, arrays: written.append(path))
    fitted = model(tol=0.0, max_iter=20, graph=None)
    fitted.fit(X, checkpoint=Checkpoint(tmp_path / "often", every=0))
    assert len(written) == 20
    written.clear()
    fitted.fit(X, checkpoint=Checkpoint(tmp_path / "seldom", every=1000))
    assert len(written) == 1


SCRIPT = """
import sys, warnings
import numpy as np
from fnmf import FNMF, Checkpoint
warnings.simplefilter("ignore")
X = np.load(sys.argv[1])
print("ready", flush=True)
model = FNMF(3, random_state=0, n_jobs=1, tol=0.0, max_iter=300)
model.fit(X, checkpoint=Checkpoint(sys.argv[2], every=0))
np.save(sys.argv[3], model.embedding_)
"""


def test_a_killed_process_goes_on_with_the_same_command(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    places = [str(tmp_path / name) for name in ("X.npy", "c", "V.npy")]
    command = [sys.executable, "-c", SCRIPT, *places]
    rng = np.random.default_rng(os.getpid())
    kills = 0
    for _ in range(12):
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        process.stdout.readline()
        if kills < 2:
            time.sleep(rng.uniform(0.1, 1.2))
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
        if process.wait() == 0:
            break
        process.stdout.close()
    process.stdout.close()
    assert kills
    assert not list((tmp_path / "c").glob(".*.partial"))
    assert json.loads((tmp_path / "c" / "checkpoint.json").read_text())["format"] == 1
    whole = model(tol=0.0, max_iter=300).fit(X)
    np.testing.assert_array_equal(np.load(places[2]), whole.embedding_)
