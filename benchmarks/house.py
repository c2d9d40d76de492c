"""How much there is to read: figures of the code base, each with its bar.

    python benchmarks/house.py

Traces a default fit of 900 x 7 and reads the syntax trees. A file counts as executed if a function
of it was called, or if compiled code of it was: a kernel brings in the kernels it imports.
"""

import ast
import importlib.util
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

import fnmf
from fnmf import FNMF
from fnmf.relevance.defaults import Defaults

ROOT = Path(fnmf.__file__).parent
REPOSITORY = Path(__file__).parents[1]


def main() -> None:
    files = executed()
    lines = sum(length(path) for path in files)
    scan = constants_test()
    outside = {
        (path.name, number)
        for path in scan.PATH
        for number in scan.numbers(ast.parse(path.read_text()))
        if (path.name, number) not in scan.ALLOWED and (path.name, number) != ("number.py", 2)
    }
    most, where = max(parameters())
    unmentioned = sorted(unmentioned_names())
    rows = [
        ("files executed by a default fit", len(files), 50),
        ("lines of these files", lines, 6_500),
        ("constants in the record", len(fields(Defaults)), 40),
        ("constants outside of it", len(outside), 0),
        ("lines of src", sum(length(path) for path in ROOT.rglob("*.py")), 31_000),
        (f"most parameters of a function ({where})", most, 8),
        ("lines of docs/architecture.md", length(REPOSITORY / "docs" / "architecture.md"), 150),
        ("public names that no guide mentions", len(unmentioned), 0),
    ]
    for what, found, bar in rows:
        print(f"{what:<60} {found:>7,}  bar {bar:>6,}  {'met' if found <= bar else 'not met'}")
    if unmentioned:
        print("not mentioned:", ", ".join(unmentioned))


def length(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def executed() -> set[Path]:
    """Files of the package that a default fit runs."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 900)
    X = np.abs(rng.uniform(2, 5, (3, 7))[y] + rng.normal(size=(900, 7)))
    codes: set[CodeType] = set()

    def called(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        FNMF(3, random_state=0, n_jobs=1).fit(X)
        before = {name: len(one.signatures) for name, one in compiled()}
        sys.setprofile(called)
        FNMF(3, random_state=0, n_jobs=1).fit(X)
        sys.setprofile(None)
    files = {Path(code.co_filename) for code in codes if code.co_name != "<module>"}
    kernels = {module for (module, _), count in before.items() if count}
    waiting = [module for module in kernels if module.startswith("fnmf.kernels.")]
    while waiting:
        found = set(kernel_imports(sys.modules[waiting.pop()])) - kernels
        kernels |= found
        waiting += found
    files |= {Path(str(sys.modules[module].__file__)) for module in kernels}
    return {path for path in files if path.is_relative_to(ROOT)}


def compiled() -> Iterator[tuple[tuple[str, str], Dispatcher]]:
    """Compiled functions of the package, by module and name."""
    for module in [name for name in sys.modules if name.startswith("fnmf.")]:
        for name, one in vars(sys.modules[module]).items():
            if isinstance(one, Dispatcher) and one.py_func.__module__ == module:
                yield (module, name), one


def kernel_imports(module: ModuleType) -> Iterator[str]:
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text())):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("fnmf.kernels."):
            yield str(node.module)


def constants_test() -> Any:
    """The test that reads the syntax trees of the default path."""
    path = REPOSITORY / "tests" / "architecture" / "test_defaults.py"
    spec = importlib.util.spec_from_file_location("constants_test", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def parameters() -> Iterator[tuple[int, str]]:
    """Numbers of parameters, kernels and constructors left out."""
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef) or node.name == "__init__":
                continue
            if any(
                ast.unparse(one).startswith(("njit", "register_jitable", "overload", "intrinsic"))
                for one in node.decorator_list
            ):
                continue
            every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            own = [one for one in every if one.arg not in ("self", "cls")]
            yield len(own), f"{path.relative_to(ROOT)} {node.name}"


def unmentioned_names() -> Iterator[str]:
    """Public names that neither README nor a page of the guide has."""
    pages = [REPOSITORY / "README.md", *(REPOSITORY / "docs").glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    words = set(re.findall(r"\w+", text))
    for name in fnmf.__all__:
        found = getattr(fnmf, name)
        if name not in words:
            yield name
        if isinstance(found, ModuleType):
            public = getattr(found, "__all__", [one for one in vars(found) if one[0] != "_"])
            yield from (f"{name}.{one}" for one in public if one not in words)


if __name__ == "__main__":
    main()
