"""Draw the screenshots of the report; needs Chromium. Run from the root of the repository."""

import importlib.util
import runpy
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_wine, make_blobs

import fnmf
from fnmf.io import Cleaning, clean, read_table

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


def _browser():
    place = ROOT / "tests/report/conftest.py"
    spec = importlib.util.spec_from_file_location("browser", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Browser(next(filter(None, map(shutil.which, module.BROWSERS))))


def customers(path: Path) -> None:
    table_file = path.with_name("customers.csv")
    runpy.run_path(str(ROOT / "examples/make_customers.py"))["write"](table_file)
    table = read_table(table_file, id_column="customer", label_column="group")
    clean(table, Cleaning("median", "shift"))
    model = fnmf.FNMF("auto", random_state=0).fit(table.X)
    fnmf.report(
        model,
        table.X,
        path,
        title="Clusters in customers.csv",
        feature_names=table.names,
        sample_names=table.ids,
        labels_true=table.labels,
        n_restarts=3,
        unit="customers",
    )


def digits(path: Path) -> None:
    data = load_digits()
    model = fnmf.FNMF(10, random_state=0).fit(data.data)
    fnmf.report(
        model,
        data.data,
        path,
        title="Handwritten digits",
        feature_names=data.feature_names,
        labels_true=data.target,
        image_shape=(8, 8),
        unit="images",
    )


def sixty(path: Path) -> None:
    X, y = make_blobs(3000, 20, centers=60, random_state=0)
    X -= X.min(axis=0)
    model = fnmf.FNMF(60, random_state=0).fit(X)
    names = [f"measure {k}" for k in range(1, 21)]
    fnmf.report(model, X, path, title="Sixty clusters", feature_names=names, labels_true=y)


def wines(path: Path) -> None:
    """The example of docs/labels.md, as the command makes it."""
    data = load_wine(as_frame=True)
    table = data.data.assign(grower=[f"grower {t + 1}" for t in data.target])
    known = np.random.default_rng(0).choice(len(table), 20, replace=False)
    table.loc[known[0], "grower"] = "grower 1"
    table.loc[~table.index.isin(known), "grower"] = ""
    place = path.with_name("wine.csv")
    table.to_csv(place, index=False)
    command = [sys.executable, "-m", "fnmf.cli", "cluster", place, "--known", "grower"]
    # The folder of results is made where the command runs.
    subprocess.run([*command, "--rows-are", "wines"], check=True, cwd=path.parent)
    shutil.copy(path.with_name("wine.csv-clusters") / "report.html", path)


# Name, page, dark, height, selection in the address, section to show.
SHOTS = [
    ("report-light", customers, False, 860, "", ""),
    ("report-selection", customers, False, 1000, "clusters=2&feature=0&colour=feature", "features"),
    ("report-many", sixty, True, 860, "", ""),
    ("report-images", digits, False, 860, "colour=class", ""),
    ("report-dark", digits, True, 900, "sample=9", "features"),
    ("labels-report", wines, False, 700, "", "labels"),
]


def number() -> None:
    """The choice of a number of clusters, which draws itself."""
    found = fnmf.choose_n_components(load_digits().data, random_state=0)
    (HERE / "number-digits.svg").write_text(found.to_svg() + "\n", encoding="utf-8")


def main() -> None:
    warnings.simplefilter("ignore")
    number()
    with tempfile.TemporaryDirectory() as folder:
        pages = {
            make: Path(folder) / f"{make.__name__}.html"
            for make in (customers, digits, sixty, wines)
        }
        for make, path in pages.items():
            make(path)
        browser = _browser()
        for name, make, dark, height, chosen, section in SHOTS:
            browser.open(pages[make], dark=dark, height=height)
            browser.js(f"location.hash = {chosen!r}")
            browser.js("new Promise(done => setTimeout(done, 300))")
            if section:
                browser.js(f"document.getElementById({section!r}).scrollIntoView()")
            browser.js("new Promise(done => setTimeout(done, 300))")
            browser.screenshot(HERE / f"{name}.png", full=False)
        browser.close()


if __name__ == "__main__":
    main()
