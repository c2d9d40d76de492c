"""
Three groups and five useless features
======================================

The toy of the article: three Gaussians in two features, and five features of uniform noise. Plain
NMF describes the noise as faithfully as the rest; FNMF finds out what is worth describing.
"""

# %%
# The data, drawn in the two features that matter and in two that do not.
import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF

from fnmf import FNMF
from fnmf.datasets import make_noisy_gaussians
from fnmf.metrics import clustering_accuracy

X, y = make_noisy_gaussians(random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for axis, (a, b) in zip(axes, [(0, 1), (3, 4)], strict=True):
    axis.scatter(X[:, a], X[:, b], c=y, s=8, cmap="viridis")
    axis.set(xlabel=f"feature {a}", ylabel=f"feature {b}")

# %%
# Both models, clustered by k-means on their representation.
model = FNMF(3, random_state=0).fit(X)
codes = NMF(3, init="nndsvda", max_iter=1000, random_state=0).fit_transform(X)
plain = KMeans(3, n_init=10, random_state=0).fit_predict(codes)
print(f"NMF and k-means: {clustering_accuracy(y, plain):.3f}")
print(f"FNMF:            {clustering_accuracy(y, model.labels_):.3f}")

# %%
# The relevance of a feature is the share of its variance that the clusters explain beyond chance.
figure, axis = plt.subplots(figsize=(6, 2.6), layout="constrained")
axis.bar(range(7), model.feature_relevance_, color=["#286893"] * 2 + ["#fc6128"] * 5)
axis.set(xlabel="feature (2 useful, 5 noise)", ylabel="relevance", ylim=(0, 1))
plt.show()
