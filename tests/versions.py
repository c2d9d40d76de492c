"""What not every supported version of a library has."""

from importlib.util import find_spec

import pytest

needs_callbacks = pytest.mark.skipif(
    find_spec("sklearn.callback") is None, reason="callbacks came with scikit-learn 1.9"
)
