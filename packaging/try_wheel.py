"""Build the wheel and the source archive, and use the wheel where nothing else is installed.

``--extras`` also tries each extra alone, in an environment of its own.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIT = """
import numpy as np
from fnmf import FNMF
from fnmf.datasets import make_noisy_gaussians
X, y = make_noisy_gaussians(200, random_state=0)
model = FNMF(3, random_state=0).fit(X)
assert model.predict(X).shape == y.shape
"""
# What each extra is for, in a few lines; files are written to the working folder.
USES = {
    "cli": """
import subprocess, sys
subprocess.run([sys.executable, "-c", "from fnmf.cli import main; main()", "methods"], check=True)
""",
    "plot": """
import matplotlib
matplotlib.use("agg")
from fnmf.inspection import plot_feature_weights
plot_feature_weights(model)
""",
    "ann": "FNMF(3, graph='approximate', random_state=0).fit(X)",
    "data": "import pooch",
    "tables": """
import pandas as pd
frame = FNMF(3, random_state=0).set_output(transform='pandas').fit_transform(pd.DataFrame(X))
assert list(frame) == ['fnmf0', 'fnmf1', 'fnmf2']
""",
    "parquet": """
import pyarrow as pa, pyarrow.parquet as pq
pq.write_table(pa.table({f'f{i}': X[:, i] for i in range(3)}), 'x.parquet')
from fnmf.io import read_table
assert read_table('x.parquet').X.shape == (200, 3)
""",
    "h5ad": """
import anndata
anndata.AnnData(X).write_h5ad('x.h5ad')
from fnmf.io import read_table
assert read_table('x.h5ad').X.shape == X.shape
""",
    "zarr": "import zarr",
    "dask": """
import dask.array as da
fitted = FNMF(3, random_state=0).fit(da.from_array(X, chunks=(100, -1)))
assert fitted.labels_.compute().shape == y.shape
""",
    "leiden": """
from fnmf.baselines import all_methods
all_methods()['Leiden'].factory(n_clusters=3).fit(X)
""",
    "xlsx": """
import openpyxl
book = openpyxl.Workbook(); book.active.append(['a', 'b'])
for row in X[:20, :2].tolist(): book.active.append(row)
book.save('x.xlsx')
from fnmf.io import read_table
assert read_table('x.xlsx').X.shape == (20, 2)
""",
    "images": """
from PIL import Image
import os
os.mkdir('faces')
for i in range(6):
    Image.fromarray((X[i, :4].reshape(2, 2) * 50).astype('uint8')).save(f'faces/{i}.png')
from fnmf.io import read_table
assert read_table('faces').X.shape == (6, 4)
""",
    "report": "import fnmf; fnmf.report(model, X, 'page.html')",
    "scverse": """
import anndata as ad
from fnmf import scverse as fv
data = ad.AnnData(X.astype('float32'))
fv.tl.fnmf(data, 3, rng=0)
assert data.obs['fnmf'].nunique() == 3
""",
}


def run(*command: object, **options: object) -> None:
    """A command that must succeed."""
    subprocess.run([str(part) for part in command], check=True, **options)


def install(folder: Path, *wanted: object) -> Path:
    """The interpreter of a new environment with only these, and what they ask for."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted)
    return python


def main() -> None:
    """Build, check, install, use."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", action="store_true", help="try each extra alone too")
    parser.add_argument("--keep", type=Path, help="folder for wheel and source archive")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fnmf-wheel-") as name:
        work = Path(name)
        dist = given.keep.resolve() if given.keep else work / "dist"
        tools = install(work / "tools", "build", "twine")
        run(tools, "-m", "build", "--outdir", dist, ROOT)
        run(tools, "-m", "twine", "check", "--strict", *sorted(dist.iterdir()))
        (wheel,) = dist.glob("*.whl")
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        extras = [one for one in project["optional-dependencies"] if one != "all"]
        for extra in ["", *extras] if given.extras else [""]:
            python = install(work / f"with-{extra}", f"fnmf[{extra}] @ {wheel.as_uri()}")
            run(python, "-c", FIT + USES.get(extra, ""), cwd=work)
            print(f"fnmf{f'[{extra}]' if extra else ' alone'}: works", flush=True)


if __name__ == "__main__":
    sys.exit(main())
