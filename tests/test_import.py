"""What a fresh process loads, and the public names."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fnmf

# Packages of all extras, and where one of them, or a part of the system, may be missing quietly.
EXTRAS = ("faiss", "pandas", "pyarrow", "dask", "h5py", "zarr", "leidenalg", "igraph", "openpyxl")
EXTRAS += ("PIL", "jinja2", "anndata", "matplotlib", "pooch", "typer", "rich")
MISSING = ("ImportError", "ModuleNotFoundError")
QUIET = {"_sklearn.py": "callbacks", "_atomic.py": "locks of files", "_rows.py": "same, slower"}


def run(code):
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
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


def fitted_without(missing):
    code = (
        "import sys\nfrom importlib.machinery import PathFinder\n"
        "class Without(PathFinder):\n"
        "    @classmethod\n"
        "    def find_spec(cls, name, *where):\n"
        f"        gone = name.partition('.')[0] in {missing!r}\n"
        "        return None if gone else super().find_spec(name, *where)\n"
        "sys.meta_path[sys.meta_path.index(PathFinder)] = Without\n"
        "import json\nfrom fnmf import FNMF\nfrom fnmf.datasets import make_planted_subspaces\n"
        "X, _, _ = make_planted_subspaces(400, 3, random_state=0)\n"
        "model = FNMF(3, random_state=0).fit(X)\n"
        "print(json.dumps([model.labels_.tolist(), model.embedding_.tolist()]))"
    )
    return json.loads(run(code))


def test_a_fit_is_the_same_without_any_extra():
    labels, embedding = fitted_without(EXTRAS)
    others, codes = fitted_without(())
    assert labels == others
    np.testing.assert_array_equal(embedding, codes)


def goes_on_without(node):
    """Whether the code goes on if a module is not there."""
    text = ast.unparse(node)
    if isinstance(node, ast.ExceptHandler):
        asked = node.type is not None and ast.unparse(node.type) in MISSING
        return asked and "raise " not in text and "exit" not in text.lower()
    if isinstance(node, ast.Call):
        return text.startswith("suppress(") and any(name in text for name in MISSING)
    return isinstance(node, ast.Return) and "find_spec" in text


def test_a_missing_extra_is_an_error_and_no_other_way():
    package = Path(fnmf.__file__).parent
    files = {path: ast.walk(ast.parse(path.read_text())) for path in package.rglob("*.py")}
    quiet = {path.name for path, nodes in files.items() if any(map(goes_on_without, nodes))}
    assert quiet == set(QUIET)
