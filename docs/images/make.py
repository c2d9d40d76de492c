"""Draw the screenshots of the report; needs Chromium. Run from the root of the repository."""

import importlib.util
import runpy
import shutil
import tempfile
import warnings
from pathlib import Path

from sklearn.datasets import load_digits, make_blobs
from sklearn.preprocessing import normalize

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
    model = fnmf.FNMF(4, random_state=0).fit(normalize(table.X))
    fnmf.report(
        model,
        table.X,
        path,
        title="Clusters in customers.csv",
        feature_names=table.names,
        sample_names=table.ids,
        labels_true=table.labels,
        n_restarts=3,
    )


def digits(path: Path) -> None:
    data = load_digits()
    model = fnmf.FNMF(10, weighting="paper", random_state=0).fit(normalize(data.data))
    fnmf.report(
        model,
        data.data,
        path,
        title="Handwritten digits",
        feature_names=data.feature_names,
        labels_true=data.target,
        image_shape=(8, 8),
    )


def sixty(path: Path) -> None:
    X, y = make_blobs(3000, 20, centers=60, random_state=0)
    X -= X.min(axis=0)
    model = fnmf.FNMF(60, random_state=0, max_iter=100).fit(normalize(X))
    names = [f"measure {k}" for k in range(1, 21)]
    fnmf.report(model, X, path, title="Sixty clusters", feature_names=names, labels_true=y)


def main() -> None:
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        pages = {
            make: Path(folder) / f"{make.__name__}.html" for make in (customers, digits, sixty)
        }
        for make, path in pages.items():
            make(path)
        browser = _browser()
        shots = [
            ("report-light", customers, False, 1180, "0"),
            ("report-many", sixty, True, 900, "0"),
            ("report-images", digits, False, 1250, "0"),
            (
                "report-dark",
                digits,
                True,
                800,
                "document.getElementById('convergence').offsetTop - 60",
            ),
        ]
        for name, make, dark, height, top in shots:
            browser.open(pages[make], dark=dark, height=height)
            browser.js(f"window.scrollTo(0, {top})")
            browser.screenshot(HERE / f"{name}.png", full=False)
        browser.close()


if __name__ == "__main__":
    main()
