"""Every competitor describes each of its parameters, with the default it has, and each result."""

import inspect
import re

import pytest

import fnmf.baselines
from fnmf.baselines._base import Competitor

CLASSES = [
    known
    for name in fnmf.baselines.__all__
    if inspect.isclass(known := getattr(fnmf.baselines, name)) and issubclass(known, Competitor)
]


def described(known, title):
    body = re.search(rf"{title}\n-+\n(.*?)\n\n\w+\n---", known.__doc__, re.DOTALL)[1]
    heads = re.findall(r"^(\S.*(?:\\\n.*)?)$", body.replace("\\\n", " "), re.MULTILINE)
    return {name: head for head in heads for name in head.split(" :")[0].split(", ")}


@pytest.mark.parametrize("known", CLASSES, ids=lambda known: known.__name__)
def test_parameters_are_described_in_order_with_their_defaults(known):
    told = described(known, "Parameters")
    parameters = inspect.signature(known).parameters
    assert list(told) == list(parameters)
    for name, parameter in parameters.items():
        default = parameter.default
        if "optional" in told[name]:
            assert default is None
        else:
            words = f'"{default}"' if isinstance(default, str) else str(default)
            said = re.search(r"default=(.*)$", told[name])[1]
            assert said == words or float(said) == default


@pytest.mark.parametrize("known", CLASSES, ids=lambda known: known.__name__)
def test_declared_attributes_are_described(known):
    declared = {
        name
        for part in known.__mro__
        for name in inspect.get_annotations(part)
        if name.endswith("_") and not name.startswith("_")
    }
    assert declared <= set(described(known, "Attributes"))
