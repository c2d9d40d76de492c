"""
The figures of the article
==========================

Small versions of the figures in *Feature Weighted Non-negative Matrix Factorization*, computed
here with the article's weighting on the Yale faces; ``fnmf reproduce`` makes them in full. Its
first figure is :ref:`sphx_glr_gallery_plot_0_toy.py`. Needs the data set
(``fnmf data fetch yale``).
"""

# %%
# Features
# --------
# The quarter of the pixels that each weighting holds highest.
import warnings

import matplotlib.pyplot as plt
import numpy as np

from fnmf import FNMF
from fnmf.datasets import load, occlude, unit_rows
from fnmf.metrics import clustering_accuracy

warnings.simplefilter("ignore")
faces = load("yale")
X, y, shape = unit_rows(faces.data), faces.target, faces.image_shape


def article(**parameters):
    """The model as the article prints it."""
    given = {"weighting": "paper", "assignment": "shared", "solver": "mu", "random_state": 0}
    given |= {"n_components": 15, "smoothness": 0.01, "diversity": 10.0, "max_iter": 60}
    return FNMF(**(given | parameters)).fit(X)


model = article()
figure, axes = plt.subplots(1, 4, figsize=(8, 2.2), layout="constrained")
axes[0].imshow(faces.data[0].reshape(shape), cmap="gray")
for axis, weights in zip(axes[1:], model.feature_weights_, strict=True):
    axis.imshow((weights >= np.quantile(weights, 0.75)).reshape(shape), cmap="gray")
for axis in axes:
    axis.set_axis_off()
plt.show()

# %%
# Occlusion
# ---------
# Blocks of 4, 6 and 8 pixels at random places.
figure, axes = plt.subplots(1, 4, figsize=(8, 2.2), layout="constrained")
for axis, size in zip(axes, (0, 4, 6, 8), strict=True):
    picture = faces.data
    if size:
        picture = occlude(picture, shape, size, random_state=0)
    axis.imshow(picture[0].reshape(shape), cmap="gray")
    axis.set_title(f"{size} × {size}" if size else "as it is", fontsize=9)
    axis.set_axis_off()
plt.show()

# %%
# Convergence
# -----------
figure, axis = plt.subplots(figsize=(6, 2.8), layout="constrained")
axis.plot(model.history_["total"], color="#286893")
axis.set(xlabel="iteration", ylabel="objective", yscale="log")
plt.show()

# %%
# Parameters
# ----------
# Accuracy over diversity and smoothness.
grid = [0.01, 1.0, 100.0]
table = [
    [clustering_accuracy(y, article(diversity=a, smoothness=b).labels_) for b in grid] for a in grid
]
figure, axis = plt.subplots(figsize=(4.4, 3.4), layout="constrained")
image = axis.imshow(table, cmap="viridis", vmin=0, vmax=0.6)
axis.set_xticks(range(3), grid)
axis.set_yticks(range(3), grid)
axis.set(xlabel="smoothness", ylabel="diversity")
figure.colorbar(image, label="accuracy")
plt.show()

# %%
# Number of weightings
# --------------------
scores = [clustering_accuracy(y, article(n_weightings=m).labels_) for m in range(1, 7)]
figure, axis = plt.subplots(figsize=(5, 2.6), layout="constrained")
axis.plot(range(1, 7), scores, "o-", color="#286893")
axis.set(xlabel="weightings", ylabel="accuracy", ylim=(0, 0.7))
plt.show()
