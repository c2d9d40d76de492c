"""Nothing further in knows what is further out: all imports, lazy and type-checking ones too."""

import ast
from pathlib import Path

import pytest

import fnmf

ROOT = Path(fnmf.__file__).parent
# From the inside out; a part may use those of its own line and of the lines above it.
LAYERS = (
    ("exceptions", "_atomic", "_sklearn", "_compile", "_parameters", "relevance.defaults"),
    ("data", "validation", "_settings", "_fitted", "metrics", "datasets"),
    ("kernels", "execution"),
    ("statistics", "kmeans"),
    ("display",),
    ("affinity",),
    ("factorization",),
    ("relevance",),
    ("labels",),
    ("choosing",),
    ("streaming",),
    (
        "describe",
        "explain",
        "graph",
        "_interpretation",
        "_missing",
        "_new_rows",
        "_weights",
        "_starting",
    ),
    (
        "_fnmf",
        "_minibatch",
        "_semi",
        "_semi_base",
        "_semi_stream",
        "_base",
        "_callbacks",
        "_checkpoint",
        "_choose",
        "_clusterer",
        "_deep",
        "_fitting",
        "baselines",
    ),
    ("io", "persistence", "reporting", "experiments", "inspection", "demo", "scverse"),
    ("cli",),
)
RANK = {part: rank for rank, layer in enumerate(LAYERS) for part in layer}
MODULES = {
    ".".join(("fnmf", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
}
HOMES = {name: home for name, home in fnmf._HOME.items() if home in MODULES}


def path_of(module):
    path = ROOT.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def named(module, name):
    """The module that ``from module import name`` asks for."""
    if f"{module}.{name}" in MODULES:
        return f"{module}.{name}"
    return HOMES.get(name, module) if module == "fnmf" else module


def imports(module):
    """Modules of the package that a module imports, wherever in its text."""
    for node in ast.walk(ast.parse(path_of(module).read_text())):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            found = [named(node.module, alias.name) for alias in node.names]
        else:
            continue
        yield from (name for name in found if name.split(".")[0] == "fnmf")


GRAPH = {module: sorted(set(imports(module)) - {module, "fnmf"}) for module in MODULES - {"fnmf"}}


def part_of(module):
    """The record of constants imports nothing and is read by every layer: a part of its own."""
    name = module.removeprefix("fnmf.")
    return name if name in RANK else name.split(".")[0]


def cycle_in(graph):
    """Some closed walk, or nothing."""
    done, trail = set(), []

    def visit(node):
        if node in trail:
            return [*trail[trail.index(node) :], node]
        if node in done:
            return None
        trail.append(node)
        for other in graph.get(node, ()):
            if (found := visit(other)) is not None:
                return found
        done.add(trail.pop())
        return None

    return next((found for node in sorted(graph) if (found := visit(node))), None)


def test_every_part_has_its_place():
    assert {part_of(module) for module in GRAPH} == set(RANK)


@pytest.mark.parametrize("module", sorted(GRAPH))
def test_imports_point_inward(module):
    outward = [other for other in GRAPH[module] if RANK[part_of(other)] > RANK[part_of(module)]]
    assert not outward


@pytest.mark.parametrize("module", sorted(GRAPH))
def test_no_private_module_of_another_package_is_imported(module):
    home = module if path_of(module).name == "__init__.py" else module.rpartition(".")[0]
    for other in GRAPH[module]:
        parts = other.split(".")
        for place, part in enumerate(parts):
            if part.startswith("_"):
                owner = ".".join(parts[:place])
                assert f"{home}.".startswith(f"{owner}."), f"{other} belongs to {owner}"


INSIDE = ("kernels", "statistics", "affinity", "factorization", "relevance")
INSIDE += ("choosing", "streaming")


def test_only_what_data_come_through_knows_dask():
    inside = [path for part in INSIDE for path in (ROOT / part).rglob("*.py")]
    inside.append(ROOT / "kmeans.py")
    assert not [path.name for path in inside if "is_dask" in path.read_text()]
    asking = [path.name for path in inside for _ in range(path.read_text().count(".remote"))]
    assert sorted(asking) == [
        "_affinity.py",
        "_anchor_affinity.py",
        "_initial.py",
        "_problem.py",
        "record.py",
    ]


def test_modules_form_no_cycle():
    # A package stands for what its __init__ imports; its own modules may name it in return.
    graph = {
        module: [other for other in others if not f"{module}.".startswith(f"{other}.")]
        for module, others in GRAPH.items()
    }
    assert cycle_in(graph) is None


def test_packages_form_no_cycle():
    graph: dict[str, set[str]] = {}
    for module, others in GRAPH.items():
        part = part_of(module)
        graph.setdefault(part, set()).update(part_of(other) for other in others)
    assert cycle_in({part: sorted(others - {part}) for part, others in graph.items()}) is None


def test_a_cycle_would_be_found():
    assert cycle_in({"a": ["b"], "b": ["c"], "c": ["a"]}) == ["a", "b", "c", "a"]
    assert cycle_in({"a": ["b", "c"], "b": ["c"], "c": []}) is None
