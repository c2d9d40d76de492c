"""Pictures of feature weights show the right features."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fnmf import FNMF
from fnmf.datasets import make_planted_subspaces
from fnmf.inspection import plot_feature_weights


@pytest.fixture(scope="module")
def fitted():
    X, _, features = make_planted_subspaces(120, 3, 4, 36, random_state=0)
    frame = pd.DataFrame(X, columns=[f"gene {k}" for k in range(36)])
    return FNMF(3, weighting="relevance", random_state=0, max_iter=2000).fit(frame), features


def test_bars_name_the_heaviest_features(fitted):
    model, features = fitted
    figure = plot_feature_weights(model, top=12)
    named = {text.get_text() for text in figure.axes[0].get_yticklabels()}
    assert named == {f"gene {k}" for k in np.flatnonzero(features.any(axis=0))}
    assert len(figure.axes) == 1 + len(model.feature_weights_)


def test_longest_bar_is_on_top_and_none_is_empty(fitted):
    model, _ = fitted
    for axis in plot_feature_weights(model, top=30).axes:
        widths = [bar.get_width() for bar in axis.patches]
        assert widths == sorted(widths)
        assert min(widths) > 0


def test_images_hold_the_weights(fitted):
    model, _ = fitted
    figure = plot_feature_weights(model, image_shape=(4, 9))
    for axis, weights in zip(figure.axes[1:], model.feature_weights_, strict=True):
        np.testing.assert_array_equal(axis.images[0].get_array().ravel(), weights)


def test_given_names_and_figure_are_used(fitted):
    model, features = fitted
    mine = Figure()
    names = [f"word {k}" for k in range(36)]
    assert plot_feature_weights(model, feature_names=names, top=1, figure=mine) is mine
    best = int(np.argmax(model.feature_importances_))
    assert mine.axes[0].get_yticklabels()[0].get_text() == f"word {best}"
    assert features.any(axis=0)[best]


def test_wrong_shapes_are_named(fitted):
    model, _ = fitted
    with pytest.raises(ValueError, match=r"image_shape=\(5, 5\) has 25 pixels"):
        plot_feature_weights(model, image_shape=(5, 5))
    with pytest.raises(ValueError, match="2 names"):
        plot_feature_weights(model, feature_names=["a", "b"])
