"""Figures from a store filled by hand: every one renders, shows what it should, or is left out."""

import struct
from xml.etree import ElementTree

import numpy as np
import pytest

from fnmf.experiments import Store
from fnmf.experiments._figures import DRAWINGS, draw
from fnmf.experiments._plan import TABLE_SETS, TOY_METHODS, Run
from fnmf.experiments._registry import NOISED_SETS
from fnmf.experiments._store import pack

pytest.importorskip("matplotlib")


def add(store, run, acc, labels=None, **details):
    store.claim(run, "data")
    outcome = {"acc": acc, "nmi": acc, "seconds": 0.1}
    if labels is not None:
        outcome["labels"] = pack(labels=labels)
    if details:
        outcome["details"] = pack(**details)
    store.finish(run.key("data"), outcome, {})


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    rng = np.random.default_rng(0)
    with Store(tmp_path_factory.mktemp("store") / "store.sqlite") as store:
        classes = np.repeat([0, 1, 2], 30)
        points = rng.normal(size=(90, 2)) * 0.2 + np.array([[0, 0], [2, 0], [1, 2]])[classes]
        store.keep_picture("toy", points=points, classes=classes)
        for method in TOY_METHODS[:4]:
            add(store, Run("toy", method, (), 0), 0.9, (classes + 1) % 3)
        for name, side in (("yale", 16), ("orl", 32)):
            store.keep_picture(
                name, mean=rng.uniform(size=side**2), image_shape=np.array([side, side])
            )
        for name in NOISED_SETS[1:]:
            store.keep_picture(name, images=rng.uniform(size=(10, 16, 16)))
        for name in TABLE_SETS:
            side = {"yale": 16, "orl": 32}.get(name, 4)
            best = (("diversity", 1.0), ("smoothness", 10.0))
            for lam in (0.1, 1.0, 10.0):
                for beta in (0.1, 1.0, 10.0):
                    params = (("diversity", lam), ("smoothness", beta))
                    acc = 0.9 if params == best else rng.uniform(0.3, 0.6)
                    add(store, Run(name, "FNMF (article)", params, 0), acc)
            for m in (1, 2, 4, 5, 6):
                for seed in range(3):
                    params = (*best, ("n_weightings", m))
                    run = Run(name, "FNMF (article)", params, seed, "components")
                    add(store, run, 0.5 + 0.05 * m + 0.01 * seed)
            add(
                store, Run(name, "FNMF (article)", best, 0, "detail"), 0.9,
                history=100 * np.exp(-np.arange(60) / 5) + 3,
                weights=rng.dirichlet(np.ones(side**2), size=3),
            )  # fmt: skip
        yield store


@pytest.mark.parametrize("name", DRAWINGS)
def test_every_figure_is_a_png_and_an_svg_wide_enough_for_print(name, filled, tmp_path):
    path = draw(name, filled, tmp_path)
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    assert 1000 <= width <= 2000
    assert height >= 250
    root = ElementTree.parse(path.with_suffix(".svg")).getroot()
    assert root.tag.endswith("svg")


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_figure_without_results_is_left_out(name, tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        assert draw(name, store, tmp_path / "figures") is None
    assert not (tmp_path / "figures").exists()


@pytest.mark.parametrize("name", ["fig-toy", "fig-parameters"])
def test_the_same_store_gives_the_same_bytes(name, filled, tmp_path):
    first, second = (draw(name, filled, tmp_path / str(i)) for i in range(2))
    assert first.with_suffix(".svg").read_bytes() == second.with_suffix(".svg").read_bytes()


def test_the_toy_shows_clusters_in_the_colours_of_the_classes_they_match(filled):
    axes = DRAWINGS["fig-toy"](filled).axes
    drawn = [ax for ax in axes if ax.collections]
    assert len(drawn) == 5
    for ax in drawn[1:]:
        for ours, true in zip(ax.collections, drawn[0].collections, strict=True):
            np.testing.assert_array_equal(ours.get_offsets(), true.get_offsets())


def test_components_show_three_weightings_from_the_table_runs(filled):
    figure = DRAWINGS["fig-components"](filled)
    for ax in figure.axes:
        numbers, means = ax.lines[0].get_data()
        assert list(numbers) == [1, 2, 3, 4, 5, 6]
        assert means[2] == pytest.approx(0.9)
        assert means[0] == pytest.approx(0.56)


def test_parameters_show_the_whole_grid_and_mark_the_best(filled):
    figure = DRAWINGS["fig-parameters"](filled)
    maps = [ax for ax in figure.axes if ax.images]
    assert len(maps) == 8
    for ax in maps:
        assert ax.images[0].get_array().shape == (3, 3)
        assert ax.lines[0].get_data() == ([2], [1])


def test_features_outline_a_quarter_of_the_pixels(filled):
    figure = DRAWINGS["fig-features"](filled)
    faces = [ax for ax in figure.axes if len(ax.images) == 2]
    assert len(faces) == 6
    for ax in faces:
        assert np.isfinite(np.ma.filled(ax.images[1].get_array(), np.nan)).mean() == 0.25
