"""What a fresh process loads, and the public names."""

import subprocess
import sys

import pytest

import fnmf


def run(code):
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_no_heavy_module():
    loaded = run("import sys, fnmf; print(*sys.modules)").split()
    heavy = {"numpy", "scipy", "numba", "sklearn", "matplotlib", "pandas", "faiss", "typer"}
    assert not heavy & {name.split(".")[0] for name in loaded}


def test_every_public_name_exists():
    for name in fnmf.__all__:
        assert getattr(fnmf, name) is not None
    assert sorted(fnmf.__all__) == dir(fnmf)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'FMNF'"):
        _ = fnmf.FMNF


def test_help_answers_without_loading_the_numerical_stack():
    code = (
        "import sys\n"
        "from fnmf.cli import main\n"
        "sys.argv = ['fnmf', '--help']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print('LOADED', *sys.modules)"
    )
    shown, loaded = run(code).split("LOADED")
    assert "Usage" in shown
    assert "cluster" in shown
    assert not {"numba", "sklearn", "matplotlib"} & {m.split(".")[0] for m in loaded.split()}
