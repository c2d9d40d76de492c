import time

from fnmf.experiments._plan import Run
from fnmf.experiments._workers import Workers

PLUGIN = """
import os, time
from sklearn.utils import Bunch
import numpy as np
from fnmf.experiments import Method, Problem, register_dataset, register_method

class Fixed:
    def __init__(self, pause): self.pause = pause
    def get_params(self, deep=False): return {}
    def fit_predict(self, X):
        time.sleep(self.pause)
        return np.arange(len(X)) % 2

register_dataset(Problem("two", "Two", lambda home: Bunch(
    data=np.ones((6, 2)), target=np.arange(6) % 2)))
register_method(Method("Fine", lambda **_: Fixed(0)))
register_method(Method("Forever", lambda **_: Fixed(600)))
register_method(Method("Crash", lambda **_: os._exit(7)))
"""


def test_slow_and_crashing_runs_are_reported_and_the_process_is_replaced(tmp_path):
    plugin = tmp_path / "plugin.py"
    plugin.write_text(PLUGIN)
    workers = Workers(1, plugins=[str(plugin)], limit=30.0)
    try:
        reasons = []
        for method in ("Fine", "Crash", "Fine", "Forever", "Fine"):
            if method == "Forever":
                workers._limit = 1.0  # the process is warm by now
            elif reasons:
                workers._limit = 30.0
            assert workers.idle
            workers.submit(Run("two", method, (), 0))
            while not (outcomes := workers.collect(0.5)):
                assert workers.busy
                time.sleep(0.01)
            ((run, outcome),) = outcomes
            assert run.method == method
            reasons.append(outcome.get("reason"))
        assert reasons[0] is reasons[2] is reasons[4] is None
        assert "exit code 7" in reasons[1]
        assert reasons[3] == "took longer than 1 seconds"
    finally:
        workers.stop()
