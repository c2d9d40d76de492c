"""The worked example of docs/reproducing.md works as printed."""

import re
from pathlib import Path

import pytest

from fnmf.experiments import _registry, methods, problems
from fnmf.experiments._execute import execute
from fnmf.experiments._plan import PROFILES, Run, grid_points

PAGE = Path(__file__).parents[2] / "docs" / "reproducing.md"


@pytest.mark.skipif(not PAGE.is_file(), reason="the docs are not beside the tests")
def test_the_example_adds_a_method_and_a_data_set_that_run(tmp_path, monkeypatch):
    monkeypatch.setattr("fnmf.baselines.registry._METHODS", methods())
    monkeypatch.setattr(_registry, "_PROBLEMS", problems())
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)
    path = tmp_path / "mine.py"
    path.write_text(code, encoding="utf-8")
    _registry.run_plugin(path)
    assert problems()["wine"].table == "clean"
    points = grid_points(methods()["Ward"], PROFILES["full"])
    assert len(points) == 2
    for params in points:
        outcome = execute(Run("wine", "Ward", params, 0))
        assert "reason" not in outcome
        assert outcome["acc"] > 0.8
