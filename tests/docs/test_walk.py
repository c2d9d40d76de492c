"""A new user's walk through README and site works word for word."""

import re
import runpy
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fnmf.cli._app import app

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docs/start.md", "docs/stages.md", "docs/from_sklearn.md"]


def blocks(page, language):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in blocks(page, "python"):
        exec(compile(code, page, "exec"), names)
    assert names["model"].labels_ is not None
    if page == "docs/start.md":
        told = capsys.readouterr().out
        assert float(told.splitlines()[0]) > 0.8
        assert "samples: " in told
        assert (tmp_path / "report.html").is_file()


@pytest.mark.parametrize("page", ["README.md", "docs/start.md"])
def test_the_commands_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples/make_customers.py"))["write"](Path("customers.csv"))
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("$ fnmf ")]
    assert commands
    for line in commands:
        result = CliRunner().invoke(app, shlex.split(line)[2:])
        assert result.exit_code == 0, result.output
    assert (tmp_path / "customers.csv-clusters/report.html").is_file()


def test_the_demonstration_table_is_made_where_readme_says():
    assert (ROOT / "examples/make_customers.py").is_file()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_of_the_front_pages_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert links
    for link in links:
        assert (ROOT / link).exists(), link
