"""Model files that version 0.1.0 wrote still load, and predict what they did."""

import json
from pathlib import Path

import numpy as np
import pytest

from fnmf import load

FOLDER = Path(__file__).parent / "version-0.1.0"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


@pytest.mark.parametrize("name", EXPECTED["models"])
def test_a_stored_model_predicts_the_same(name):
    model, expected = load(FOLDER / f"{name}.fnmf"), EXPECTED["models"][name]
    rows = np.array(EXPECTED["rows"])
    np.testing.assert_array_equal(model.labels_, expected["labels"])
    np.testing.assert_allclose(model.transform(rows), expected["codes"], rtol=1e-5, atol=1e-6)
    if "predicted" in expected:
        np.testing.assert_array_equal(model.predict(rows), expected["predicted"])
