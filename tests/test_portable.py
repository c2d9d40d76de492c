"""Nothing in the package counts on Linux: files, processes, signals, text."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fnmf
from estimators import make_blobs
from fnmf import FNMF

ROOT = Path(fnmf.__file__).parent
SOURCES = sorted(ROOT.rglob("*.py"))
# Each is used only where it exists, and something else is done elsewhere.
GUARDED = {"_atomic.py": "fcntl", "_adaptive.py": "malloc_trim"}
UNIX = re.compile(
    r"/proc/|/dev/(?!null)|/tmp\b|os\.fork|os\.getuid|os\.setsid|os\.sched_"
    r"|import resource|import pwd|SIGKILL|SIGHUP|SIGALRM|SIGUSR"
    r"|\bfcntl\b|malloc_trim|get_context\(\"fork"
)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_only_unix_has_is_guarded(path):
    found = set(UNIX.findall(path.read_text(encoding="utf-8")))
    assert found <= {GUARDED.get(path.name)}


def in_text_mode(call):
    """Whether a call of open() has a mode for text, or none."""
    given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
    return not given or (isinstance(given[0], ast.Constant) and "b" not in given[0].value)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_text_is_read_and_written_in_a_named_encoding(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        named = any(keyword.arg == "encoding" for keyword in node.keywords)
        if isinstance(node.func, ast.Name) and node.func.id == "open":
            assert named or not in_text_mode(node), f"line {node.lineno}"
        # The first argument of read_text is the encoding, that of write_text is the text.
        position = {"read_text": 0, "write_text": 1}.get(getattr(node.func, "attr", ""))
        if position is not None:
            assert named or len(node.args) > position, f"line {node.lineno}"


def test_no_two_files_differ_by_case_only():
    names = [str(path.relative_to(ROOT)).casefold() for path in ROOT.rglob("*")]
    assert len(names) == len(set(names))


SPAWNED = """
import multiprocessing as mp
import sys
import numpy as np
from fnmf import FNMF

def labels(seed):
    return FNMF(3, random_state=seed).fit(np.load(sys.argv[1])).labels_

if __name__ == "__main__":
    mp.set_start_method("spawn")
    with mp.Pool(1) as pool:
        np.save(sys.argv[2], pool.map(labels, [0])[0])
"""


def test_fits_work_in_spawned_processes_under_any_locale(tmp_path):
    X, _ = make_blobs()
    np.save(tmp_path / "X.npy", X)
    # Line ends of Windows; a locale that has no UTF-8.
    (tmp_path / "program.py").write_bytes(SPAWNED.replace("\n", "\r\n").encode())
    command = [sys.executable, tmp_path / "program.py", tmp_path / "X.npy", tmp_path / "y.npy"]
    changed = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([str(part) for part in command], check=True, env={**os.environ, **changed})
    found = np.load(tmp_path / "y.npy")
    np.testing.assert_array_equal(found, FNMF(3, random_state=0).fit(X).labels_)
