"""All constants of the default fit stand in one record, and a fit reads the one handed in."""

import ast
import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import fnmf
import fnmf._fitting  # what modules read of the record once, they have read then
from fnmf import FNMF
from fnmf.relevance.defaults import DEFAULTS, Defaults

ROOT = Path(fnmf.__file__).parent
RECORD = ROOT / "relevance" / "defaults.py"
# The default path: all of relevance, the affinity but the searches (exact, or faiss on demand), the
# number of clusters, k-means in few dimensions, and the start and loop of the factorisation.
PATH = sorted(
    [
        *(path for path in (ROOT / "relevance").glob("*.py") if path != RECORD),
        *(
            ROOT / "affinity" / f"_{name}.py"
            for name in (
                "adaptive",
                "affinity",
                "anchor_affinity",
                "anchor_moves",
                "anchors",
                "attraction",
                "confidence",
                "moves",
                "partition",
            )
        ),
        *(ROOT / "choosing" / f"{name}.py" for name in ("number", "scores")),
        ROOT / "kmeans.py",
        ROOT / "statistics" / "_passes.py",
        ROOT / "factorization" / "_sample_start.py",
        ROOT / "factorization" / "solver" / "_codes.py",
        ROOT / "factorization" / "solver" / "_loop.py",
        ROOT / "factorization" / "solver" / "_pull.py",
    ]
)
# Numbers of formulas: none, one, two, a half.
PLAIN = {0, 1, 2, 0.5}
# Other numbers, by file, and why they decide nothing.
ALLOWED = {
    ("_adaptive.py", 8192): "rows at once",
    ("_adaptive.py", 200): "rows whose recall is printed",
    ("_anchor_moves.py", 1e-12): "rounding",
    ("_anchors.py", 1024): "rows at once",
    ("_confidence.py", 1e-12): "avoids a division by 0",
    ("_confidence.py", 0.02): "keeps odds finite",
    ("_partition.py", 6): "precision of eigenvectors",
    ("_partition.py", 16): "precision of eigenvectors",
    ("_partition.py", 12): "precision of eigenvectors",
    ("_partition.py", 1e-3): "precision of eigenvectors",
    ("_partition.py", 0.999): "precision of eigenvectors",
    ("_moves.py", 1e-9): "rounding",
    ("kmeans.py", 10): "starts in the protocol of the article",
    ("kmeans.py", 200_000): "bounds time: codes of very many rows",
    ("kmeans.py", 100): "k-means has long come to rest",
    ("kmeans.py", 1): "bounds memory",
    ("kmeans.py", 23): "bounds memory",
    ("mixture.py", 100): "probabilities of groups have come to rest before",
    ("_moves.py", 1e-12): "rounding",
    ("_partition.py", 1e-12): "avoids a division by 0",
    ("_partition.py", 200): "rows whose eigenvectors are quicker densely",
    ("_partition.py", 0.35): "share of eigenvectors that are quicker densely",
    ("_pull.py", 1): "size from which a product is worth several threads",
    ("_pull.py", 16): "size from which a product is worth several threads",
    ("_sample_start.py", 1): "bounds memory",
    ("_sample_start.py", 25): "bounds memory",
    ("_sample_start.py", 5): "where the run over all rows begins",
    ("_sample_start.py", 1e-3): "where the run over all rows begins",
    ("_passes.py", 1e-8): "rounding: constant features",
    ("_passes.py", 3): "kurtosis of the normal law",
    ("_passes.py", 4): "fourth moments",
    ("_passes.py", 24): "bits that do not depend on the order of sums",
    ("candidates.py", 4096): "columns at once",
    ("preparations.py", 6): "rounding: equal columns",
    ("preparations.py", 1e4): "rounding: equal columns",
    ("factors.py", 1e-12): "avoids a division by 0",
    ("kmeans.py", 6): "precision of principal directions",
    ("kmeans.py", 4): "precision of principal directions",
    ("number.py", 16): "default of the public parameter numbers",
    ("prepare.py", 1e-12): "avoids a division by 0",
    ("prepare.py", 1e-30): "rounding: fourth powers",
    ("sample.py", 1e-300): "avoids the logarithm of 0",
    ("sample.py", 4): "fourth moments",
    ("sample.py", 1): "bounds memory",
    ("sample.py", 19): "bounds memory",
    ("sample.py", 23): "bounds memory",
    ("crossfit.py", 1e-9): "rounding",
    ("scores.py", 3): "clusters of which two can be one group",
    ("structure.py", 4): "features of which two halves can have a direction",
    ("weights.py", 1e-12): "avoids a division by 0",
}


def numbers(tree):
    """Numbers in code; a constant of a module is one whatever its value."""
    named = set()
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            named |= {id(one) for one in ast.walk(node.value)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
            continue
        if isinstance(node.value, int | float) and (id(node) in named or node.value not in PLAIN):
            yield node.value


@pytest.mark.parametrize("path", PATH, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_other_number_decides_a_result(path):
    found = {(path.name, number) for number in numbers(ast.parse(path.read_text()))}
    found -= {("number.py", 2)}  # where the public range of numbers begins
    assert found <= set(ALLOWED), f"put it into {RECORD.name}, or say why it decides nothing"


def test_no_permission_is_left_over():
    used = {(path.name, n) for path in PATH for n in numbers(ast.parse(path.read_text()))}
    assert set(ALLOWED) <= used


def test_numbers_are_found():
    tree = ast.parse("_STARTS = 2\ndef f(x, tol=0.3):\n    return 2 * x[1:] + 7")
    assert sorted(numbers(tree)) == [0.3, 2, 7]


def test_every_constant_says_why_and_what_supports_it():
    lines = RECORD.read_text().splitlines()
    for field in fields(Defaults):
        at = next(i for i, line in enumerate(lines) if line.startswith(f"    {field.name}: "))
        why = re.fullmatch(r"    # (.+); (.+)\.", lines[at - 1])
        assert why, f"{field.name} has no reason and figure above it"
        support = why[2]
        assert support == "unmeasured" or re.search(r"\d|as above|results/", support), field.name


def test_every_constant_is_used():
    code = "".join(path.read_text() for path in ROOT.rglob("*.py") if path != RECORD)
    assert not [field.name for field in fields(Defaults) if f".{field.name}" not in code]


def reads(monkeypatch):
    """Which record every constant is read from."""
    seen, names = [], {field.name for field in fields(Defaults)}

    def reading(self, name):
        if name in names:
            seen.append((name, self is DEFAULTS))
        return object.__getattribute__(self, name)

    monkeypatch.setattr(Defaults, "__getattribute__", reading)
    return seen


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ({"n_components": 3}, {}),
        ({"n_components": "auto"}, {}),
        ({"n_components": 3}, {"exact_rows": 60, "n_anchors": 40}),
        ({"n_components": 3}, {"small": -3.0}),
        ({"n_components": 3, "consensus": 2}, {}),
        ({"n_components": 3, "graph": None}, {}),
    ],
    ids=["graph", "auto", "anchors", "means", "consensus", "no graph"],
)
def test_a_fit_reads_the_record_that_is_handed_in(options, changes, monkeypatch):
    X = load_iris().data
    monkeypatch.setattr(FNMF, "_defaults", replace(DEFAULTS, **changes))
    seen = reads(monkeypatch)
    FNMF(random_state=0, max_iter=5, tol=1.0, **options).fit(X)
    assert len({name for name, _ in seen}) > 20
    assert not sorted({name for name, ours in seen if ours})


def test_a_constant_can_be_varied(monkeypatch):
    X = load_iris().data
    before = FNMF(3, random_state=0, tol=0.1).fit(X)
    monkeypatch.setattr(
        FNMF, "_defaults", replace(DEFAULTS, beyond_chance=DEFAULTS.beyond_chance + 1)
    )
    after = FNMF(3, random_state=0, tol=0.1).fit(X)
    np.testing.assert_allclose(after._caps - before._caps, X.std(axis=0))
