"""Cells, progress and sentences of the command."""

import io

import pytest

from fnmf.cli import _progress
from fnmf.cli._errors import sentence
from fnmf.cli._outputs import safe_cell, to_json


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+1-555", "'+1-555"),
        ("-2.5e3", "-2.5e3"),
        (" =x", "' =x"),
        ("\t=x", "'\t=x"),
        ("plain", "plain"),
        ("a\r\nb", "a\r\nb"),
        ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),
        ("\x1b[0m", "\ufffd[0m"),
    ],
)
def test_cells_cannot_run_in_a_spreadsheet(text, cell):
    assert safe_cell(text) == cell


def test_json_output_has_no_control_characters():
    assert "\x1b" not in to_json({"a": "\x1b[31m\u202e"})


@pytest.mark.parametrize(
    ("error", "words", "code"),
    [
        (FileNotFoundError(2, "No such file", "x.csv"), "x.csv: no such file", 2),
        (PermissionError(13, "Permission denied", "x"), "x: no permission", 2),
        (OSError(28, "No space left", "x"), "the disk is full", 1),
        (MemoryError(), "not enough memory", 1),
        (ValueError("bad\nvalue"), "bad value", 2),
        (RuntimeError("strange"), "RuntimeError: strange", 1),
        (ModuleNotFoundError("needs jinja2"), "needs jinja2", 1),
    ],
)
def test_exceptions_become_sentences(error, words, code):
    text, number = sentence(error)
    assert words in text
    assert number == code


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("wait", "shown"), [(0.0, True), (60.0, False)])
def test_the_bar_shows_only_after_a_while(monkeypatch, wait, shown):
    import time

    monkeypatch.setattr(_progress, "_WAIT", wait)
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with _progress.working("Reading [x]") as step:
        time.sleep(0.3)
        step(3, 10)
        time.sleep(0.3)
    assert ("Reading [x]" in terminal.getvalue()) is shown


def test_no_bar_without_a_terminal(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(_progress, "_WAIT", 0.0)
    with _progress.working("Reading") as step:
        step(1)
    assert stream.getvalue() == ""
