"""
When not to use it
==================

Three tables that everybody knows. All their features are useful, and in some of them absolute size
makes the groups, which FNMF does not look at. The figures are measured when this page is built.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import minmax_scale, normalize

from fnmf import FNMF
from fnmf.metrics import clustering_accuracy

methods = ["FNMF", "k-means", "mixture", "spectral"]
table = {}
for loader in (load_iris, load_wine, load_breast_cancer):
    X, y = loader(return_X_y=True)
    X, k = minmax_scale(X), len(np.unique(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [
            FNMF(k, random_state=0).fit_predict(X),
            KMeans(k, n_init=10, random_state=0).fit_predict(X),
            GaussianMixture(k, n_init=5, random_state=0).fit_predict(X),
            SpectralClustering(k, affinity="nearest_neighbors", random_state=0).fit_predict(X),
        ]
    table[loader.__name__[5:]] = [clustering_accuracy(y, labels) for labels in found]
figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
colours = ["#286893", "#fc6128", "#00a4a7", "#b34cff"]
for k, (method, colour) in enumerate(zip(methods, colours, strict=True)):
    places = np.arange(3) + 0.2 * (k - 1.5)
    bars = axis.bar(places, [row[k] for row in table.values()], 0.18, color=colour, label=method)
    axis.bar_label(bars, fmt="%.2f", fontsize=8)
axis.set_xticks(range(3), table)
axis.set(ylabel="accuracy", ylim=(0, 1.1))
axis.legend(frameon=False, ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.18))
plt.show()

# %%
# The same table with its rows scaled to unit length: what is left when size is taken away.
X, y = load_iris(return_X_y=True)
labels = KMeans(3, n_init=10, random_state=0).fit_predict(normalize(minmax_scale(X)))
print(f"k-means on iris without size: {clustering_accuracy(y, labels):.3f}")
