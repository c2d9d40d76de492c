"""Files stay short, and functions take few parameters."""

import ast
from pathlib import Path

import pytest

import fnmf

ROOT = Path(fnmf.__file__).parent
REPOSITORY = Path(__file__).parents[2]
MOST_LINES = 350
MOST_PARAMETERS = 8
SOURCES = sorted(ROOT.rglob("*.py"))
FOLDERS = ("tests", "benchmarks", "examples")
EVERYTHING = SOURCES + sorted(p for f in FOLDERS for p in (REPOSITORY / f).rglob("*.py"))


def name_of(path):
    return str(path.relative_to(ROOT if path.is_relative_to(ROOT) else REPOSITORY))


@pytest.mark.parametrize("path", EVERYTHING, ids=name_of)
def test_no_file_is_long(path):
    assert len(path.read_text().splitlines()) <= MOST_LINES


def is_compiled(function):
    """Arrays are handed to kernels one by one."""
    texts = [ast.unparse(decorator) for decorator in function.decorator_list]
    return any(text.startswith(("njit", "register_jitable", "overload")) for text in texts)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_function_takes_many_parameters(path):
    """Constructors aside: estimators have as many as their models."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.FunctionDef) or is_compiled(node) or node.name == "__init__":
            continue
        every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        own = [argument.arg for argument in every if argument.arg not in ("self", "cls")]
        assert len(own) <= MOST_PARAMETERS, f"{node.name} takes {len(own)}"
