"""Blocks that any worker can make again, and a callback at an iteration: for killing workers."""

import numpy as np

C = 3


def rows(block_info=None):
    """C clusters in six features, noise in the others; nothing but its place decides a block."""
    (start, stop), (_, width) = block_info[None]["array-location"]
    rng = np.random.default_rng(start)
    y = rng.integers(0, C, stop - start)
    X = rng.uniform(0, 1, (stop - start, width))
    X[:, :6] = rng.uniform(0, 0.3, (stop - start, 6)) + np.eye(C).repeat(2, axis=1)[y]
    return X.astype(np.float32)


class AtIteration:
    """A callback that does something once, after some iterations."""

    def __init__(self, number, action):
        self.number, self.action = number, action

    def setup(self, estimator, context):
        """Nothing."""

    def teardown(self, estimator, context):
        """Nothing."""

    def on_fit_task_begin(self, estimator, context, *, X=None):
        """Nothing."""

    def on_fit_task_end(self, estimator, context, *, X=None, metadata=None, fitted_estimator=None):
        if context.task_name == "iteration" and metadata["iteration"] == self.number:
            self.action()
        return False
