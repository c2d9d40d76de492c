"""The site builds without a warning, offline, and every link on it leads somewhere."""

import csv
import os
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import fnmf

ROOT = Path(__file__).parents[2]

pytest.importorskip("sphinx", reason='the site needs: pip install "fnmf[docs]"')


class Links(HTMLParser):
    """Targets of a page, addresses it points at, and files it loads."""

    def __init__(self, page):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("script", "img", "iframe") and given.get("src"):
            self.loads.append(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon"):
            self.loads.append(given["href"])


def build(folder):
    """The site without the pictures of the gallery, from a copy: Sphinx writes beside pages."""
    made = shutil.ignore_patterns("_build", "gallery", "api")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=made)
    for name in ("examples", "results", "src", "CHANGELOG.md", "CITATION.cff"):
        (folder / name).symlink_to(ROOT / name)
    words = ["-W", "--keep-going", "-q", "-D", "plot_gallery=0", "-b", "html", "docs", "html"]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    pages = (folder / "html").rglob("*.html")
    return {page: Links(page.read_text(encoding="utf-8")) for page in pages}


def dead_links(site):
    for page, found in site.items():
        for link in found.links:
            place = urlsplit(link)
            if place.scheme or place.netloc:
                continue
            target = (page.parent / unquote(place.path)).resolve() if place.path else page
            missing = target in site and unquote(place.fragment) not in site[target].ids
            if not target.is_file() or (place.fragment and missing):
                yield page.name, link


def test_the_site_builds_without_a_warning_and_leads_nowhere_wrong(tmp_path):
    site = build(tmp_path.resolve())
    assert list(dead_links(site)) == []
    loaded = {link for found in site.values() for link in found.loads}
    assert loaded
    assert not [link for link in loaded if urlsplit(link).netloc]
    # The landing page says what was measured, from the results themselves.
    front = (tmp_path / "html/index.html").read_text(encoding="utf-8")
    with open(ROOT / "results/useless_features.csv", encoding="utf-8", newline="") as file:
        runs = [row for row in csv.DictReader(file) if row["method"] == "FNMF"]
    clean = [float(row["acc"]) for row in runs if row["useless"] == "0"]
    assert f"and {sum(clean) / len(clean):.0%} without any; the best of the others" in front
    names = {page.stem for page in site}
    assert "fnmf.FNMF" in names
    for module in ("baselines", "datasets", "describe", "metrics", "graph"):
        public = getattr(fnmf, module)
        for name in public.__all__:
            assert f"fnmf.{module}.{name}" in names or not callable(getattr(public, name))
