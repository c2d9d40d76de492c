"""The list of methods is what the experiments rely on."""

import ast
import inspect
import subprocess
import sys

import pytest

import fnmf.baselines
from fnmf.baselines import Method, all_methods
from fnmf.baselines.registry import registered

PAPER = ["NMF", "RNMF", "GNMF", "RMNMF", "LCNMF", "ONGR", "CAN", "PCAN", "CLR", "KMM"]
RIVALS = ["IFPCA", "SparseKMeans", "EntropyKMeans", "LaplacianScore", "MCFS", "Spectral", "Leiden"]
NAMES = [*PAPER, *RIVALS, "ConsensusKMeans", "KMeans"]


def test_methods_come_in_the_order_of_the_tables_each_with_its_card():
    methods = all_methods()
    assert list(methods) == [*PAPER, "FNMF", *RIVALS, "ConsensusKMeans", "KMeans"]
    for method in methods.values():
        assert isinstance(method, Method)
        assert method.article()
        assert method.label_rule
        assert method.card.formula
        assert method.card.cost
        assert method.card.use
    assert [name for name, method in methods.items() if not method.random] == ["CAN", "PCAN", "CLR"]


def test_names_for_type_checkers_are_those_of_the_entries():
    source = ast.parse(inspect.getsource(fnmf.baselines))
    block = next(node for node in source.body if isinstance(node, ast.If))
    typed = {name.name for node in block.body for name in node.names}
    known = {m.estimator.partition(":")[2] for m in registered().values() if m.estimator}
    assert typed == known - {"FNMF"}
    assert set(fnmf.baselines.__all__) >= typed


@pytest.mark.parametrize("name", NAMES)
def test_factories_make_estimators_that_know_the_grid(name):
    method = all_methods()[name]
    model = method.factory(n_clusters=4, random_state=7)
    assert type(model) is getattr(fnmf.baselines, name)
    params = model.get_params()
    assert params["n_clusters"] == 4
    assert set(method.grid) <= set(params)
    assert params.get("random_state", 7) == 7
    assert method.random == ("random_state" in params)
    for parameter, values in method.grid.items():
        assert len(values) == 7
        made = method.factory(n_clusters=4, **{parameter: values[1]})
        assert made.get_params()[parameter] == values[1]
    assert set(method.fixed) <= set(params)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_after_the_first_are_by_name_only(name):
    parameters = list(inspect.signature(getattr(fnmf.baselines, name)).parameters.values())
    assert parameters[0].name == "n_clusters"
    assert {p.kind for p in parameters[1:]} == {inspect.Parameter.KEYWORD_ONLY}


def test_unknown_parameters_are_refused():
    with pytest.raises(TypeError, match="nonsense"):
        all_methods()["CAN"].factory(n_clusters=2, nonsense=1)
    with pytest.raises(AttributeError, match="Nonsense"):
        fnmf.baselines.Nonsense  # noqa: B018


def test_the_list_alone_does_not_load_the_compiler():
    code = "import sys, fnmf.baselines; fnmf.baselines.all_methods(); print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
