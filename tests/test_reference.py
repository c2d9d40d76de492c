"""The labels of some sixty fits: as in version 0.1.0, those of relevance as in the next one.

Relevance chooses its preparation since then, and its clusters are those of the graph.
"""

import json
from pathlib import Path

import pytest

from reference_cases import as_text, cases, run

LABELS = json.loads((Path(__file__).with_name("reference_labels.json")).read_text())
CASES = cases()


def test_every_case_has_its_labels():
    assert list(CASES) == list(LABELS)


@pytest.mark.parametrize("name", LABELS)
def test_labels_are_those_on_record(name, tmp_path):
    found = run(CASES[name], tmp_path)
    for kind, expected in LABELS[name].items():
        assert as_text(found[kind]) == expected, kind
