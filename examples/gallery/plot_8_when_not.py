"""
When not to use it
==================

Six small tables in which every feature is useful, so that there is nothing to find out about them.
On the first three FNMF is level with methods that look at all features alike; on the others it is
not what you want: groups of very uneven sizes, and groups that are shapes. The figures are measured
when this page is built.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_circles, make_moons
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import minmax_scale

from fnmf import FNMF
from fnmf.metrics import clustering_accuracy

rng = np.random.default_rng(0)
sizes = np.repeat([0, 1, 2], [400, 60, 15])
centres = np.array([[2, 2, 2, 2], [5, 2, 2, 5], [2, 6, 5, 2]])
tables = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "breast cancer": load_breast_cancer(return_X_y=True),
    "400, 60 and 15\nof a kind": (rng.normal(centres[sizes], 0.8), sizes),
    "rings": make_circles(600, factor=0.45, noise=0.05, random_state=0),
    "moons": make_moons(600, noise=0.06, random_state=0),
}

# %%
# One setting for each method, and the true number of groups.
methods = ["FNMF", "k-means", "mixture", "spectral"]
accuracy, ours = {}, {}
for name, (X, y) in tables.items():
    X, k = minmax_scale(X), len(np.unique(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [
            FNMF(k, random_state=0).fit_predict(X),
            KMeans(k, n_init=10, random_state=0).fit_predict(X),
            GaussianMixture(k, n_init=5, random_state=0).fit_predict(X),
            SpectralClustering(k, affinity="nearest_neighbors", random_state=0).fit_predict(X),
        ]
    accuracy[name] = [clustering_accuracy(y, labels) for labels in found]
    ours[name] = found[0]
figure, axis = plt.subplots(figsize=(9, 3.2), layout="constrained")
colours = ["#286893", "#fc6128", "#00a4a7", "#b34cff"]
for k, (method, colour) in enumerate(zip(methods, colours, strict=True)):
    places = np.arange(len(tables)) + 0.2 * (k - 1.5)
    bars = axis.bar(places, [row[k] for row in accuracy.values()], 0.18, color=colour, label=method)
    axis.bar_label(bars, fmt="%.2f", fontsize=7)
axis.set_xticks(range(len(tables)), accuracy)
axis.set(ylabel="accuracy", ylim=(0, 1.1))
axis.legend(frameon=False, ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.18))
plt.show()

# %%
# Uneven groups, looked at: FNMF cuts the large group rather than leave a small one alone.
name = "400, 60 and 15\nof a kind"
counts = np.zeros((3, 3), dtype=int)
np.add.at(counts, (ours[name], tables[name][1]), 1)
print("rows: clusters found; columns: groups of 400, 60 and 15")
print(counts[np.argsort(-counts.sum(axis=1))])
