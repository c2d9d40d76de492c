"""The commands in the documentation do what the documentation says."""

import re
import runpy
import shlex
from pathlib import Path

from typer.testing import CliRunner

from fnmf.cli._app import app

ROOT = Path(__file__).parents[2]


def test_the_path_of_a_new_user(tmp_path, monkeypatch):
    text = (ROOT / "docs/command.md").read_text(encoding="utf-8")
    runpy.run_path(str(ROOT / "examples/make_customers.py"))["write"](tmp_path / "customers.csv")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    assert sum(line.startswith("$ fnmf ") for line in commands) >= 4
    for position, line in enumerate(commands):
        if not line.startswith("$ fnmf "):
            continue
        end = next(
            (k for k in range(position + 1, len(commands)) if commands[k].startswith("$ ")),
            len(commands),
        )
        told = "\n".join(commands[position + 1 : end]).strip()
        assert not told or told.startswith("fnmf: ")
        result = CliRunner().invoke(app, shlex.split(line)[2:])
        assert result.exit_code == (2 if told else 0), result.output
        assert result.stderr.strip() == told
    assert (tmp_path / "customers.csv-applied/labels.csv").exists()


def test_every_picture_of_the_documentation_exists():
    text = (ROOT / "docs/command.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert len(pictures) >= 4
    for picture in pictures:
        assert (ROOT / "docs" / picture).stat().st_size > 10_000
