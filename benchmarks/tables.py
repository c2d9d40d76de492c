"""The default on ordinary tables, beside what a user would try instead.

    python benchmarks/tables.py --out results/tables.csv --print

Parts: ``tables`` (the forty of FNMF_DATA_HOME/tables, with the published figures of peers.csv),
``blobs`` (sets that k-means solves), ``useless`` (useless columns added to known data),
``segments`` (made-up tables of uneven groups) and ``kinds`` (made-up tables in which flags,
categories and counts tell groups apart). One default, the true number of clusters, no labels.
UMAP (10 dimensions, min_dist 0) needs umap-learn, Leiden scanpy: its neighbours of at most fifty
principal components, and communities at the resolution that gives the number of clusters. Rows that
are in the file already are not computed again.
"""

import argparse
import csv
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import normalized_mutual_info_score
from sklearn.mixture import GaussianMixture

from fnmf import FNMF
from fnmf.metrics import clustering_accuracy

PARTS = ("tables", "blobs", "useless", "segments", "kinds")
KINDS = ("flags", "categories", "categories and numbers", "all kinds")
BLOBS = ["a1", "a2", "a3", "s1", "s2", "s3", "s4", "d31", "r15", "unbalance", "aggregation"]
USELESS = ("none", "flag", "category 3", "category 12", "integer", "date", "ten flags")
FIELDS = ("part", "data", "method", "seed", "acc", "nmi", "found", "stability")
METHODS = ("FNMF", "KMeans", "mixture", "spectral", "Leiden", "UMAP", "UMAP cosine")
# What scanpy takes by itself.
SCANPY_COMPONENTS, SCANPY_NEIGHBORS = 50, 15
# A peer that takes minutes on more rows is left out there.
MOST_ROWS = 5000
# Below this normalised mutual information of the best peer nothing is there to be found.
FOUND_NMI = 0.2

Data = tuple[np.ndarray, np.ndarray]


def stored(folder: str, name: str) -> Data:
    """A set of FNMF_DATA_HOME, columns with negative values shifted to start at 0."""
    path = Path(os.environ["FNMF_DATA_HOME"]) / folder / f"{name}.npz"
    with np.load(path, allow_pickle=False) as file:
        if "X" in file:
            X = file["X"].astype(np.float64)
        else:
            parts = file["data"], file["indices"], file["indptr"]
            X = sp.csr_array(parts, shape=tuple(file["shape"])).toarray().astype(np.float64)
        y = file["y"]
    if folder == "blobs":
        X, y = X[y != 0], y[y != 0]  # 0 marks noise points
    return X - np.minimum(X.min(axis=0), 0), np.unique(y, return_inverse=True)[1]


def planted(seed: int) -> Data:
    """Five clusters in twelve columns."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, 600)
    X = rng.normal(0, 1.6, (5, 12))[y] + rng.normal(size=(600, 12))
    return X - X.min(axis=0), y


def useless_columns(X: np.ndarray, kind: str, seed: int) -> np.ndarray:
    """The same with columns that say nothing."""
    rng, n = np.random.default_rng(1000 + seed), len(X)
    name, _, levels = kind.partition(" ")
    more = {
        "none": lambda: np.empty((n, 0)),
        "flag": lambda: rng.integers(0, 2, (n, 1)),
        "ten": lambda: rng.integers(0, 2, (n, 10)),
        "category": lambda: np.eye(int(levels))[rng.integers(0, int(levels), n)],
        "integer": lambda: rng.integers(0, 100, (n, 1)),
        "date": lambda: rng.integers(15000, 20000, (n, 1)),
    }[name]()
    return np.hstack([X, more]).astype(np.float64)


def segments(seed: int) -> Data:
    """Uneven groups in columns of different units, among useless ones of several kinds."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.choice([600, 1200, 2000])), int(rng.integers(3, 6))
    sizes = np.maximum(rng.dirichlet([4] * k), 0.06)
    y, d = rng.choice(k, n, p=sizes / sizes.sum()), int(rng.integers(5, 9))
    Z = rng.normal(0, 2, (k, d))[y] + rng.normal(size=(n, d)) * rng.uniform(0.6, 1.2, (k, 1))[y]
    X = (Z - Z.min(axis=0)) * 10.0 ** rng.integers(-2, 4, d)
    noise = [
        rng.gamma(2, 50, (n, 8)),
        rng.normal(500, 30, (n, 4)),
        rng.integers(0, 2, (n, 3)),
        np.eye(5)[rng.integers(0, 5, n)],
        rng.integers(0, 30, (n, 3)),
        rng.lognormal(3, 1, (n, 3)),
    ]
    X = np.hstack([X, *noise])
    return X[:, rng.permutation(X.shape[1])], y


def nested(seed: int) -> Data:
    """Groups that fall into smaller ones, in columns of different units, among useless ones."""
    rng = np.random.default_rng(seed)
    n, d, groups, parts = 1200, 8, int(rng.integers(2, 4)), int(rng.integers(2, 4))
    k = groups * parts
    y = rng.choice(k, n, p=0.5 * rng.dirichlet([5] * k) + 0.5 / k)
    centres = np.repeat(rng.normal(0, 6, (groups, d)), parts, axis=0) + rng.normal(0, 2, (k, d))
    X = centres[y] + rng.normal(size=(n, d))
    X = (X - X.min(axis=0)) * 10.0 ** rng.integers(-2, 4, d)
    return np.hstack([X, rng.gamma(2, 50, (n, 8)), rng.integers(0, 2, (n, 3))]), y


def kinds(name: str, seed: int) -> Data:
    """Groups told apart by columns of some kinds, among useless ones; features in any order."""
    rng = np.random.default_rng([KINDS.index(name), seed])
    n, k = int(rng.choice([200, 400, 800, 1500])), int(rng.integers(3, 6))
    sizes = np.maximum(rng.dirichlet([4] * k), 0.05)
    y = rng.choice(k, n, p=sizes / sizes.sum())

    def flags(m: int) -> np.ndarray:
        return (rng.random((n, m)) < rng.beta(0.5, 0.5, (k, m))[y]).astype(np.float64)

    def categories(m: int, concentration: float, groups: np.ndarray) -> list[np.ndarray]:
        found = []
        for levels in rng.integers(3, 8, m):
            shares = rng.dirichlet([concentration] * levels, groups.max() + 1)
            drawn = np.array([rng.choice(levels, p=shares[group]) for group in groups])
            found.append(np.eye(levels)[:, np.unique(drawn)][drawn])
        return found

    nothing = np.zeros(n, np.intp)
    numbers = [rng.gamma(2, 50, (n, 4)), rng.integers(0, 40, (n, 3)), rng.normal(500, 30, (n, 3))]
    useless_flags = rng.integers(0, 2, (n, 5))
    if name == "flags":
        parts = [flags(14), useless_flags, rng.integers(0, 2, (n, 5))]
    elif name == "categories":
        parts = categories(8, 0.5, y) + categories(5, 3, nothing)
    elif name == "categories and numbers":
        parts = categories(6, 0.5, y) + numbers
    else:
        told = rng.normal(0, 1.5, (k, 3))[y] + rng.normal(size=(n, 3))
        counts = rng.poisson(rng.gamma(2, 2, (k, 2))[y])
        parts = [(told - told.min(axis=0)) * 10.0 ** rng.integers(-2, 4, 3), flags(4), counts]
        parts += categories(3, 0.5, y) + categories(2, 3, nothing) + [*numbers, useless_flags]
    X = np.hstack(parts).astype(np.float64)
    return X[:, rng.permutation(X.shape[1])], y


def cases(part: str) -> Iterator[tuple[str, Data]]:
    """Names and data of a part."""
    if part == "tables":
        folder = Path(os.environ["FNMF_DATA_HOME"]) / "tables"
        for path in sorted(folder.glob("*.npz")):
            yield path.stem, stored("tables", path.stem)
    elif part == "blobs":
        for name in BLOBS:
            yield name, stored("blobs", name)
    elif part == "useless":
        known = {
            "iris": load_iris(return_X_y=True),
            "wine": load_wine(return_X_y=True),
            "cancer": load_breast_cancer(return_X_y=True),
            "digits": load_digits(return_X_y=True),
            "glass": stored("tables", "glass_identification"),
            **{f"planted {seed}": planted(seed) for seed in range(5)},
        }
        for name, (X, y) in known.items():
            for kind in USELESS:
                yield f"{name} + {kind}", (useless_columns(X, kind, 0), y)
    elif part == "kinds":
        for name in KINDS:
            for seed in range(5):
                yield f"{name} {seed}", kinds(name, seed)
    else:
        for seed in range(8):
            yield f"segments {seed}", segments(seed)


def standardised(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)


def leiden(Z: np.ndarray, k: int, seed: int) -> np.ndarray:
    """As scanpy has it: neighbours of principal components, and their communities."""
    import scanpy as sc
    from anndata import AnnData

    from fnmf.baselines import Leiden

    cells = AnnData(Z.astype(np.float32))
    most = min(Z.shape) - 1
    if most > SCANPY_COMPONENTS:
        sc.pp.pca(cells, n_comps=SCANPY_COMPONENTS, random_state=seed)
    near = min(SCANPY_NEIGHBORS, len(Z) - 1)
    n_pcs = 0 if most <= SCANPY_COMPONENTS else None
    sc.pp.neighbors(cells, near, n_pcs=n_pcs, transformer="sklearn", random_state=seed)
    graph = cells.obsp["connectivities"]
    return Leiden(k, graph=graph, random_state=seed).fit(Z - Z.min(axis=0)).labels_


def labels_of(method: str, X: np.ndarray, k: int, seed: int) -> tuple[np.ndarray, object, object]:
    """Labels, whether structure was found, and the least stability, where there are these."""
    if method == "FNMF":
        model = FNMF(k, random_state=seed).fit(X)
        stability = model.cluster_stability_
        return model.labels_, model.structure_found_, None if stability is None else stability.min()
    Z = standardised(X)
    if method == "Leiden":
        return leiden(Z, k, seed), None, None
    if method.startswith("UMAP"):
        from umap import UMAP

        metric = "cosine" if method.endswith("cosine") else "euclidean"
        size = min(10, len(X) - 2)
        Z = UMAP(n_components=size, min_dist=0, metric=metric, random_state=seed).fit_transform(Z)
        method = "KMeans"
    model = {
        "KMeans": lambda: KMeans(k, n_init=10, random_state=seed),
        "mixture": lambda: GaussianMixture(k, reg_covar=1e-2, random_state=seed),
        "spectral": lambda: SpectralClustering(k, affinity="nearest_neighbors", random_state=seed),
    }[method]()
    return model.fit_predict(Z), None, None


def compute(parts: list[str], seeds: int, path: Path) -> None:
    """All rows that are not there yet."""
    done = set()
    if path.exists():
        with open(path, newline="") as file:
            done = {(r["part"], r["data"], r["method"], r["seed"]) for r in csv.DictReader(file)}
    with open(path, "a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        for part in parts:
            for name, (X, y) in cases(part):
                k = len(np.unique(y))
                for method in METHODS:
                    if method[:4] in ("spec", "UMAP") and len(X) > MOST_ROWS:
                        continue
                    if method == "mixture" and X.shape[1] > 500:
                        continue
                    for seed in range(seeds if method == "FNMF" else 1):
                        if (part, name, method, str(seed)) in done:
                            continue
                        labels, found, stability = labels_of(method, X, k, seed)
                        nmi = normalized_mutual_info_score(y, labels)
                        acc = clustering_accuracy(y, labels)
                        scores = (f"{acc:.4f}", f"{nmi:.4f}", found, stability)
                        row = (part, name, method, seed, *scores)
                        writer.writerow(dict(zip(FIELDS, row, strict=True)))
                        file.flush()


def show(path: Path) -> None:
    """Means by part and method, where peers are ahead, what a useless column costs, and seeds."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    found: dict[str, dict[str, dict[str, list[dict[str, str]]]]] = {part: {} for part in PARTS}
    for row in rows:
        own = found[row["part"]].setdefault(row["data"], {})
        own.setdefault(row["method"], []).append(row)
    for part, sets in found.items():
        if sets:
            _show_part(part, sets)
    for data, own in found["useless"].items():
        before = _all(found["useless"][f"{data.split(' + ')[0]} + none"]["FNMF"], "acc")
        lost = max(before - _all(own["FNMF"], "acc")[: len(before)])
        if lost > 0.03:
            print(f"  {data}: {lost:.3f} less than without it")
    _show_published(found["tables"])


def _all(rows: list[dict[str, str]], measure: str) -> np.ndarray:
    """A figure of every seed."""
    return np.array([float(row[measure]) for row in rows])


def _show_part(part: str, sets: dict[str, dict[str, list[dict[str, str]]]]) -> None:
    for method in METHODS:
        own = [_all(by[method], "acc") for by in sets.values() if method in by]
        if own:
            mean, worst = np.mean([v.mean() for v in own]), min(v.min() for v in own)
            print(f"{part}, {method}: mean ACC {mean:.3f}, worst {worst:.3f} ({len(own)} sets)")
    compared = behind = 0
    for data, by in sets.items():
        own = _all(by["FNMF"], "acc")
        if own.std() > 0.03:
            print(f"  {data}: standard deviation between seeds {own.std():.3f}")
        peers = [by[m] for m in METHODS[1:4] if m in by]
        best = max(_all(peer, "acc").mean() for peer in peers)
        if part == "useless" or max(_all(peer, "nmi").mean() for peer in peers) <= FOUND_NMI:
            continue
        compared += 1
        if best - own.mean() > 0.05:
            behind += 1
            print(f"  {data}: {own.mean():.3f}, best of k-means, mixture, spectral {best:.3f}")
        sure = [row for row in by["FNMF"] if float(row["acc"]) < 0.8 and _solid(row)]
        if sure and best > 0.9:
            print(f"  {data}: called solid on {len(sure)} seeds, wrong on them")
    if compared:
        print(
            f"  more than .05 behind these on {behind} of {compared} where a peer finds something"
        )


def _solid(row: dict[str, str]) -> bool:
    return row["found"] == "True" and float(row["stability"] or 0) >= 0.75


def _show_published(sets: dict[str, dict[str, list[dict[str, str]]]]) -> None:
    path = Path(os.environ.get("FNMF_DATA_HOME", "")) / "tables" / "peers.csv"
    if not path.exists() or not sets:
        return
    with open(path, newline="") as file:
        peers = list(csv.DictReader(file))
    for measure in ("acc", "nmi"):
        names = [n for n in peers[0] if n.endswith(measure) and not n.startswith("best")]
        means = {n: np.mean([float(p[n]) for p in peers]) for n in names}
        best = max(means, key=lambda n: means[n])
        own = np.mean([_all(by["FNMF"], measure).mean() for by in sets.values()])
        print(f"published, {measure}: {best} {means[best]:.3f}; FNMF {own:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=[], help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("results/tables.csv"))
    parser.add_argument(
        "--print", action="store_true", help="show what is there, and compute nothing"
    )
    given = parser.parse_args()
    if not given.print or not given.out.exists():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compute(given.parts or list(PARTS), given.seeds, given.out)
    show(given.out)


if __name__ == "__main__":
    main()
