"""What others expect of a repository: rules of the community, one version, addresses that exist."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import fnmf

ROOT = Path(__file__).parents[1]
if not (ROOT / ".github").is_dir():
    pytest.skip("the source archive holds no workflows", allow_module_level=True)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TEXTS = [
    *ROOT.glob("*.md"),
    *ROOT.glob("*.cff"),
    *ROOT.glob(".github/**/*.*"),
    *ROOT.glob("packaging/*"),
    ROOT / "pyproject.toml",
    ROOT / ".pre-commit-config.yaml",
]


def test_rules_of_the_scientific_python_community_hold():
    processor = pytest.importorskip("repo_review.processor")
    pytest.importorskip("sp_repo_review")
    found = processor.process(ROOT).results
    assert len(found) > 50
    failed = {one.name: one.err_msg for one in found if one.result is False}
    assert not failed


def test_every_excused_rule_has_a_reason():
    excused = PROJECT["tool"]["repo-review"]["ignore"]
    assert all(len(reason.split()) > 3 for reason in excused.values())


def test_the_version_is_the_same_everywhere():
    assert PROJECT["project"]["dynamic"] == ["version"]
    named = {
        "CITATION.cff": r"^version: (.+)$",
        "packaging/recipe.yaml": r'^  version: "(.+)"$',
        "docs/cite.md": r"version = \{(.+)\}",
    }
    for name, pattern in named.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        assert re.search(pattern, text, re.MULTILINE)[1] == fnmf.__version__, name


def test_lower_bounds_of_the_recipe_are_those_of_the_package():
    recipe = (ROOT / "packaging/recipe.yaml").read_text(encoding="utf-8")
    wanted = PROJECT["project"]["dependencies"] + PROJECT["project"]["optional-dependencies"]["cli"]
    for requirement in wanted:
        assert f"- {requirement.replace('>=', ' >=')}\n" in recipe


def test_supported_versions_are_tested():
    classified = {
        one.rpartition(" ")[2]
        for one in PROJECT["project"]["classifiers"]
        if re.search(r":: 3\.\d+$", one)
    }
    workflow = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    assert classified == set(re.findall(r'"(3\.\d+)"', workflow))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_nothing_names_a_registry_or_an_address_of_ours(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"pypi\.org|pythonhosted|anaconda\.org", text)
    assert not re.search(r"github\.com/[\w-]+/fnmf", text)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize("bound", ["oldest", "latest"])
def test_bounds_are_tried_in_environments_of_their_own(bound):
    command = ["make", "--dry-run", f"test-{bound}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert f".venv-{bound}/bin/python -m pytest" in done.stdout
    assert ".venv/" not in done.stdout


def test_every_extra_is_tried_alone():
    text = (ROOT / "packaging/try_wheel.py").read_text(encoding="utf-8")
    tried = set(re.findall(r'^    "(\w+)": ', text, re.MULTILINE))
    assert tried == set(PROJECT["project"]["optional-dependencies"]) - {"all"}


def test_papers_cite_what_the_list_holds():
    text = (ROOT / "paper.md").read_text(encoding="utf-8")
    listed = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper.bib").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"@(\w+)[\];]", text)) == set(listed)


def test_the_paper_has_the_form_of_its_journal_and_figures_of_the_readme():
    text = (ROOT / "paper.md").read_text(encoding="utf-8")
    sections = re.findall(r"^# (.+)$", text, re.MULTILINE)
    assert sections == [
        "Summary",
        "Statement of need",
        "State of the field",
        "Software design",
        "Research impact statement",
        "AI usage disclosure",
        "Acknowledgements",
        "References",
    ]
    assert 750 <= len(text.split("---", 2)[2].split()) <= 1750
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    (mean,) = (line for line in lines if line.startswith("| mean of 24 sets |"))
    before = lines[: lines.index(mean)]
    at = max(k for k, line in enumerate(before) if line.startswith("| data | FNMF |"))
    cells = (re.split(r"\s*\|\s*", line.strip("| ")) for line in (lines[at], mean))
    figures = dict(zip(*cells, strict=True))
    names = {
        "FNMF": "`fnmf`",
        "Leiden": "Leiden",
        "GNMF": "graph regularised NMF",
        "spectral": "spectral clustering",
        "k-means": "k-means",
        "NMF": "NMF",
    }
    told = " ".join(text.split())
    for method, name in names.items():
        assert f"{float(figures[method].strip('*')):.2f} for {name}" in told
