"""
Digits among noise
==================

Handwritten digits of 8 × 8 pixels with three times as many features of pure noise beside them.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from fnmf import FNMF
from fnmf.datasets import add_noise_features, unit_rows
from fnmf.metrics import clustering_accuracy

digits = load_digits()
X, y = digits.data[:600], digits.target[:600]
noisy, informative = add_noise_features(X, 192, random_state=0)

# %%
# Accuracy without and with the useless features.
for name, data in (("64 pixels", X), ("and 192 useless", noisy)):
    data = unit_rows(data)
    ours = FNMF(10, random_state=0).fit(data)
    means = KMeans(10, n_init=10, random_state=0).fit_predict(data)
    print(
        f"{name:>16}: FNMF {clustering_accuracy(y, ours.labels_):.3f}, "
        f"k-means {clustering_accuracy(y, means):.3f}"
    )

# %%
# The pixels found, as an image, and where the noise ended up.
relevance = ours.feature_relevance_
figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(9, 2.8), width_ratios=[1, 1, 1.8], layout="constrained"
)
left.imshow(X.mean(axis=0).reshape(8, 8), cmap="gray_r")
left.set_title("mean digit", fontsize=10)
pixels = np.zeros(64)
pixels[:] = relevance[informative]
middle.imshow(pixels.reshape(8, 8), cmap="viridis")
middle.set_title("relevance of the pixels", fontsize=10)
for axis in (left, middle):
    axis.set_axis_off()
bins = np.linspace(0, 1, 30)
right.hist([relevance[informative], relevance[~informative]], bins, label=["pixels", "noise"],
           color=["#286893", "#fc6128"])  # fmt: skip
right.set(xlabel="relevance", yscale="log")
right.legend(frameon=False)
print(f"noise features called relevant: {(relevance[~informative] > 0).sum()} of 192")
plt.show()
