"""One run: fit, label, measure. Whatever goes wrong becomes a reason, never a crash."""

import hashlib
import re
import time
import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

from fnmf.experiments._plan import Run
from fnmf.experiments._registry import methods, problems
from fnmf.experiments._store import pack
from fnmf.metrics import clustering_accuracy, normalized_mutual_information

_REASON_LENGTH = 300
# The folders of an absolute path, on any system; results are published, machines are not.
_FOLDERS = re.compile(r"(?<![\w:/.])(?:[A-Za-z]:)?(?:[\\/][\w.+~-]+)+[\\/](?=[\w.+~-])")


def versions() -> dict[str, str]:
    """Versions that a result may depend on."""
    import platform

    import numba
    import scipy
    import sklearn

    from fnmf import __version__

    return {
        "fnmf": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "numba": numba.__version__,
        "machine": platform.machine(),
    }


def one_line(text: str) -> str:
    """Text fit for a table cell: one line, bounded, printable, files by their last name only."""
    text = _FOLDERS.sub("", text)
    line = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
    return line if len(line) <= _REASON_LENGTH else line[: _REASON_LENGTH - 1] + "…"


def data_digest(data: Bunch) -> str:
    """SHA-256 of prepared data: values, shapes and classes."""
    digest = hashlib.sha256()
    for array in (data.data, data.target):
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


@lru_cache(maxsize=2)
def prepared(dataset: str, data_home: Any) -> Bunch:
    """Data of a problem; the last ones are kept, because runs come data set by data set."""
    return problems()[dataset].prepare(data_home)


@lru_cache(maxsize=2)
def _shared_graph(dataset: str, data_home: Any, n_neighbors: int) -> Any:
    from fnmf.affinity import adaptive_neighbors

    return adaptive_neighbors(prepared(dataset, data_home).data, n_neighbors)


def _share_graph(model: Any, dataset: str, data_home: Any) -> None:
    """All repeats and settings on one data set start from the same neighbour graph."""
    params = model.get_params(deep=False)
    rebuilt = params.get("weighting", "paper") != "paper" or params.get("graph_refresh")
    if isinstance(params.get("graph"), str) and params["graph"] == "adaptive" and not rebuilt:
        k = params.get("n_neighbors") or 5
        model.set_params(graph=_shared_graph(dataset, data_home, k))


def _last(value: Any) -> float | None:
    return None if value is None else float(value)


def _objective(model: Any) -> float | None:
    for name in ("objective_", "reconstruction_err_", "inertia_"):
        if hasattr(model, name):
            return _last(getattr(model, name))
    history = _totals(model)
    return None if history is None or not len(history) else float(history[-1])


def _totals(model: Any) -> np.ndarray | None:
    """The objective after every iteration, whatever form the history has."""
    history = getattr(model, "history_", None)
    if history is None:
        return None
    if isinstance(history, dict):
        return np.asarray(history["total"], dtype=float)
    array = np.asarray(history)
    if array.dtype.names:
        return np.asarray(array["total"], dtype=float)
    return np.asarray(array if array.ndim == 1 else array[:, 0], dtype=float)


def _details(model: Any) -> bytes:
    kept = {"history": _totals(model), "weights": getattr(model, "feature_weights_", None)}
    return pack(**{name: np.asarray(a) for name, a in kept.items() if a is not None})


def _fit(run: Run, data_home: Any) -> dict[str, Any]:
    data = prepared(run.dataset, data_home)
    n_clusters = len(np.unique(data.target))
    method = methods()[run.method]
    settings = {**method.fixed, **dict(run.params)}
    model = method.factory(n_clusters=n_clusters, random_state=run.seed, **settings)
    _share_graph(model, run.dataset, data_home)
    start, cpu_start = time.perf_counter(), time.process_time()
    labels = np.asarray(model.fit_predict(data.data))
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    n_iter = getattr(model, "n_iter_", None)
    return {
        "acc": clustering_accuracy(data.target, labels),
        "nmi": normalized_mutual_information(data.target, labels),
        "objective": _objective(model),
        "n_iter": None if n_iter is None else int(np.max(n_iter)),
        "n_found": len(np.unique(labels)),
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "labels": pack(labels=labels.astype(np.int32)),
        "details": _details(model) if run.purpose == "detail" else None,
    }


def execute(run: Run, data_home: Any = None) -> dict[str, Any]:
    """Do one run; columns of its row in the store."""
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        warnings.simplefilter("always")
        try:
            outcome = _fit(run, data_home)
        except Exception as error:
            return {"reason": one_line(f"{type(error).__name__}: {error}")}
    kinds = sorted({warning.category.__name__ for warning in caught})
    return {**outcome, "notes": ", ".join(kinds) or None}
