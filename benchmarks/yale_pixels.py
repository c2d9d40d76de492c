"""Which 256 pixels did the paper use for Yale? The methods without chance tell them apart.

    FNMF_DATA_HOME=... python benchmarks/yale_pixels.py

No public file has 256 features, so they were made from the 32 x 32 images (``Yale_32x32.mat`` or
``yale32.npz`` in the folder). Each way of halving an image is tried with PCAN, CAN and CLR: no
seed, no grid, so equal data must give the published numbers. The package takes the mean of 2 x 2
blocks.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fnmf.baselines import CAN, CLR, PCAN
from fnmf.datasets import unit_rows
from fnmf.graph import adaptive_neighbors
from fnmf.metrics import clustering_accuracy, normalized_mutual_information

PUBLISHED = {"PCAN": (0.4121, 0.4381), "CAN": (0.4182, 0.4642), "CLR": (0.4485, 0.4548)}
SIZE = 32


def images() -> tuple[np.ndarray, np.ndarray]:
    """165 images of 32 x 32 pixels, and the person on each."""
    home = Path(os.environ.get("FNMF_DATA_HOME", "."))
    if (home / "yale32.npz").is_file():
        with np.load(home / "yale32.npz", allow_pickle=False) as arrays:
            X, y = arrays["X"], arrays["y"]
    elif (home / "Yale_32x32.mat").is_file():
        from scipy.io import loadmat

        content = loadmat(home / "Yale_32x32.mat")
        X, y = content["fea"].reshape(-1, SIZE, SIZE).transpose(0, 2, 1), content["gnd"].ravel()
    else:
        raise SystemExit("FNMF_DATA_HOME must name a folder with yale32.npz or Yale_32x32.mat")
    return X.reshape(-1, SIZE, SIZE).astype(float), y


def cubic(x: float) -> float:
    """Keys' kernel with a = −1/2."""
    x = abs(x)
    if x <= 1:
        return 1.5 * x**3 - 2.5 * x**2 + 1
    return -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2 if x < 2 else 0.0


def linear(x: float) -> float:
    return max(1.0 - abs(x), 0.0)


def halving(kernel: Callable[[float], float], reach: int, smooth: bool) -> np.ndarray:
    """Matrix from 32 to 16 positions; ``smooth`` widens the kernel, so that nothing aliases."""
    weights = np.zeros((SIZE // 2, SIZE))
    stretch = 2.0 if smooth else 1.0
    for out in range(SIZE // 2):
        centre = 2 * out + 0.5
        for place in range(int(centre - reach * stretch) - 1, int(centre + reach * stretch) + 2):
            # Images go on as in a mirror beyond their edge.
            inside = -1 - place if place < 0 else 2 * SIZE - 1 - place if place >= SIZE else place
            weights[out, inside] += kernel((place - centre) / stretch)
    return weights / weights.sum(axis=1, keepdims=True)


def ways(X: np.ndarray) -> dict[str, np.ndarray]:
    """Images of 16 x 16 pixels, made in several ways."""

    def halved(matrix: np.ndarray) -> np.ndarray:
        return np.einsum("ij,njk,lk->nil", matrix, X, matrix)

    return {
        "mean of 2 x 2 (used here)": halved(np.kron(np.eye(SIZE // 2), [[0.5, 0.5]])),
        "bicubic, antialiased": halved(halving(cubic, 2, True)),
        "bilinear, antialiased": halved(halving(linear, 1, True)),
        "bicubic": halved(halving(cubic, 2, False)),
        "every second pixel": X[:, ::2, ::2],
    }


def main() -> None:
    X, y = images()
    print(f"{'pixels':28}" + "".join(f"{name:>16}" for name in PUBLISHED))
    print(f"{'published':28}" + "".join(f"{a:9.4f} {n:.4f}" for a, n in PUBLISHED.values()))
    for way, small in ways(X).items():
        rows = unit_rows(np.ascontiguousarray(small).reshape(len(small), -1))
        graph = adaptive_neighbors(rows, 5)
        cells = ""
        for model in (PCAN(15, n_projected="all"), CAN(15), CLR(15, graph=graph)):
            labels = model.fit_predict(rows)
            acc = clustering_accuracy(y, labels)
            cells += f"{acc:9.4f} {normalized_mutual_information(y, labels):.4f}"
        print(f"{way:28}{cells}", flush=True)


if __name__ == "__main__":
    main()
