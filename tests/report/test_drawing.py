"""What the page is drawn with: colours everybody can tell apart, layouts that keep neighbours."""

import numpy as np
import pytest
import scipy.sparse as sp

from fnmf.reporting._layout import layouts, neighbours_kept, principal_components
from fnmf.reporting.page import DARK, LIGHT

# Full loss of one kind of cone, on linear RGB (Machado, Oliveira, Fernandes 2009).
VISIONS = {
    "all cones": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def linear(colours):
    rgb = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colours]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def oklab(rgb):
    cones = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]])
    lab = np.array(
        [[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]
    )
    return np.cbrt(np.clip(rgb, 0, 1) @ cones.T) @ lab.T


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_eight_colours_can_be_told_apart_by_all_eyes(palette, vision):
    seen = oklab(linear(palette) @ np.array(VISIONS[vision]).T)
    distance = np.linalg.norm(seen[:, None] - seen[None], axis=-1)
    assert len(palette) == 8
    # A just noticeable difference is about 0.02.
    assert distance[np.triu_indices(8, 1)].min() > 0.12


@pytest.mark.parametrize(("palette", "paper"), [(LIGHT, "#ffffff"), (DARK, "#12161c")])
def test_colours_stand_out_from_the_paper(palette, paper):
    def luminance(colours):
        return linear(colours) @ [0.2126, 0.7152, 0.0722] + 0.05

    ratio = luminance(palette) / luminance([paper])
    assert np.maximum(ratio, 1 / ratio).min() >= 3


@pytest.fixture
def rings():
    """Twelve circles, each a chain of neighbours, that lie on one another in the plane."""
    rng = np.random.default_rng(0)
    n = 30
    turn = np.tile(np.linspace(0, 2 * np.pi, n, endpoint=False), 12)
    ring = np.repeat(np.arange(12), n)
    points = np.column_stack([np.cos(turn), np.sin(turn), 0.1 * ring]) + 1.5
    points += rng.normal(0, 1e-3, points.shape)
    i = np.arange(12 * n)
    j = ring * n + (i + 1) % n
    graph = sp.csr_array((np.ones(12 * n), (i, j)), shape=(12 * n, 12 * n))
    return points, sp.csr_array(graph + graph.T)


def test_the_layout_that_keeps_more_neighbours_comes_first(rings):
    points, graph = rings
    first, second = layouts(points, graph, "the data", 3.0)
    assert first.kept >= second.kept
    assert first.key == "neighbours"
    again = layouts(points, graph, "the data", 3.0)[0]
    np.testing.assert_array_equal(again.xy, first.xy)


def test_neighbours_kept_equals_its_definition(rings):
    points, graph = rings
    xy, _ = principal_components(points)
    far = np.linalg.norm(xy[:, None] - xy[None], axis=-1)
    near = np.argsort(far, axis=1, kind="stable")[:, :11]
    dense = graph.toarray() > 0
    kept = sum(dense[i, near[i]].sum() for i in range(len(xy))) / dense.sum()
    assert neighbours_kept(graph, xy) == pytest.approx(kept)


def test_no_two_samples_lie_at_one_place(rings):
    points, graph = rings
    points[:] = points[0]
    for layout in layouts(points, graph, "the data", 3.0):
        assert len(np.unique(layout.xy.round(1), axis=0)) == len(points)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_handful_of_samples_has_a_map(n):
    graph = sp.csr_array((n, n))
    for layout in layouts(np.ones((n, 2)), graph, "the data", 3.0):
        assert np.isfinite(layout.xy).all()
