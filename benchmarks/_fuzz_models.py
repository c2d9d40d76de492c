"""Models whose files are changed by fuzz.py, and their use after that."""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import _mutations as mutations


def make_models(folder: Path) -> None:
    """Small fitted models: the default with a recipe that encodes text, and other kinds."""
    from fnmf import FNMF, save
    from fnmf.baselines import all_methods
    from fnmf.io import Prepared, Recipe, Table

    folder.mkdir()
    rng = np.random.default_rng(0)
    rows = rng.random((30, 5)) + 3 * np.eye(5)[np.arange(30) % 3]
    texts = {
        "city": ["Graz", "Lyon"] * 15,
        "day": [f"2024-{1 + i % 9}-{i % 28 + 1}" for i in range(30)],
    }
    table = Table(Path("made here"), rows, list("abcde"), texts=texts)
    recipe = Recipe.learn(table, scale="max")
    prepared = recipe.prepare(table.X)
    common: dict[str, Any] = {"n_neighbors": 3, "tol": 1e-2, "random_state": 0}
    model = FNMF(3, **common).fit(prepared)
    save(Prepared(model, recipe), folder / "recipe")
    save(FNMF("auto", **common).fit(rows), folder / "auto")
    save(FNMF(3, weighting="paper", n_weightings=2, **common).fit(rows), folder / "paper")
    for name in ("SparseKMeans", "LaplacianScore", "GNMF"):
        rival = all_methods()[name].factory(n_clusters=3, random_state=0)
        save(rival.fit(rows), folder / name)


def use(model: Any) -> str:
    """Predict with a model as far as it is fitted; it may refuse rows, in words."""
    if not (hasattr(model, "n_features_in_") and hasattr(model, "predict")):
        return ""
    try:
        model.predict(_new_rows(model))
    except ValueError as error:
        return str(error) or "refused without a word"
    return ""


def _new_rows(model: Any) -> Any:
    """Two rows for a model, with text where its recipe wants some."""
    import pandas as pd

    recipe = getattr(model, "recipe", None)
    if recipe is None or recipe.encoding is None:
        return np.ones((2, model.n_features_in_))
    words = {"city": ["Graz", "Rome"], "day": ["2024-03-04", "2024-05-06"]}
    return pd.DataFrame({name: [1.0, 2.0] for name in "abcde"} | words)


def every_place() -> None:
    """Change every place of every model; print how many files there were and what was odd."""
    import warnings

    from fnmf.persistence import ModelFileError, load

    warnings.simplefilter("ignore")
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path, models = Path(folder) / "case.model", Path(folder) / "models"
        make_models(models)
        for model in sorted(models.iterdir()):
            for number, content in enumerate(mutations.every_change(model.read_bytes())):
                path.write_bytes(content)
                try:
                    use(load(path))
                    outcomes["read"] += 1
                except ModelFileError:
                    outcomes["refused"] += 1
                except Exception as error:
                    outcomes["odd"] += 1
                    print(model.name, number, type(error).__name__, error)
    print(f"{outcomes.total():,} files:", ", ".join(f"{v:,} {k}" for k, v in outcomes.items()))
