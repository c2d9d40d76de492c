"""One selection goes through the whole page, by mouse, by keyboard and by address."""

import pytest

DIMMED = "[...document.querySelectorAll('#map-points path.dim')].length"
ROWS = "document.getElementById('sample-count').textContent"
TOLD = "document.getElementById('selection-text').textContent"
HASH = "location.hash"


def middle_of(browser, selector, index=0):
    return browser.js(
        f"(() => {{ const b = document.querySelectorAll({selector!r})[{index}]"
        ".getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )


def on_map(browser, x, y):
    """A place of the map's own coordinates on the screen."""
    box = browser.js(
        "(() => { const b = document.getElementById('map').getBoundingClientRect();"
        " return [b.x, b.y, b.width, b.height]; })()"
    )
    return box[0] + x / 640 * box[2], box[1] + y / 460 * box[3]


def test_a_cluster_filters_map_tables_heat_map_and_profiles(browser, page):
    browser.open(page())
    browser.js("document.querySelector('.pick[data-c=\"1\"]').focus()")
    browser.key("Enter")
    assert browser.js(DIMMED) == 80
    assert browser.js(ROWS) == "40 samples selected"
    assert browser.js("document.getElementById('heat').height") == 40
    gone = "[...document.querySelectorAll('details.card.gone')].map(d => d.dataset.c)"
    assert browser.js(gone) == ["0", "2"]
    rows = "[...document.querySelectorAll('#profile g text:first-child')].map(t => t.textContent)"
    assert browser.js(rows) == ["2 · high featur…", "all others"]
    assert "cluster 2 · high feature 1: 40 of 120 samples" in browser.js(TOLD)
    assert browser.js(HASH) == "#clusters=1"
    # What sets the selection apart stands beside every feature.
    assert browser.js("document.querySelector('#feature-table tbody .selected-only').textContent")
    browser.key("Enter")
    assert browser.js(DIMMED) == 0
    assert browser.js("document.getElementById('selection').hidden")
    assert "clusters" not in browser.js(HASH)


def test_the_address_brings_the_selection_back(browser, page):
    path = page(labels_true=["x", "y"] * 60)
    browser.open(path)
    browser.js("location.hash = '#clusters=0,2&class=1&feature=3&colour=feature&sample=4'")
    browser.js("new Promise(done => setTimeout(done, 60))")
    assert browser.js(ROWS) == "40 samples selected"
    assert browser.js("document.getElementById('card').hidden") is False
    assert browser.js("document.getElementById('colour').value") == "feature"
    assert "class y" in browser.js(TOLD)


def test_a_link_to_the_file_opens_the_same_selection(browser, page):
    path = page(confidence=True)
    browser.open(path)
    browser.drag(on_map(browser, 2, 2), on_map(browser, 320, 458))
    inside = 120 - browser.js(DIMMED)
    assert 0 < inside < 120
    browser.js(
        "(() => { const s = document.getElementById('colour'); s.value = 'confidence';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    told = browser.js(TOLD)
    address = browser.js(HASH)
    browser.open(path, address=address)
    assert browser.js(TOLD) == told
    assert 120 - browser.js(DIMMED) == inside
    assert browser.js("document.getElementById('colour').value") == "confidence"
    browser.open(path, address="#samples=3,5&layout=components")
    assert browser.js(ROWS) == "2 samples selected"
    assert browser.js("document.getElementById('layout').value") == "components"


def test_the_heat_map_the_table_and_the_picture_open_what_is_clicked(browser, page):
    browser.open(page(image_shape=(2, 5)))
    browser.js("document.getElementById('feature-image').scrollIntoView({ block: 'center' })")
    box = browser.js(
        "(() => { const b = document.getElementById('feature-image').getBoundingClientRect();"
        " return [b.x, b.y, b.width, b.height]; })()"
    )
    # The second row, the third of five columns: pixel 7.
    browser.click(box[0] + 0.5 * box[2], box[1] + 0.75 * box[3])
    assert browser.js("document.getElementById('profile-title').textContent") == "feature 7"
    browser.js("document.getElementById('clear').click()")
    browser.js("document.getElementById('heat').scrollIntoView({ block: 'center' })")
    browser.click(*middle_of(browser, "#heat"))
    assert browser.js("document.getElementById('card').hidden") is False
    assert "feature=" in browser.js(HASH)
    browser.js("document.getElementById('card-close').click()")
    name = "document.querySelector('#sample-table tbody button')"
    browser.js(f"{name}.click()")
    assert browser.js("document.getElementById('card-title').textContent") == browser.js(
        f"{name}.textContent"
    )
    # The sample's own picture is drawn.
    assert browser.js("document.querySelector('#card canvas').width") == 5


@pytest.mark.parametrize(
    "address", ["#clusters=99,x&feature=-1", "#box=1,2", "#=&=&", "#sample=1e9"]
)
def test_a_nonsense_address_selects_nothing(browser, page, address):
    browser.open(page())
    browser.js(f"location.hash = {address!r}")
    browser.js("new Promise(done => setTimeout(done, 60))")
    assert browser.js(DIMMED) == 0
    assert browser.fit_warnings() == []


def test_a_box_on_the_map_selects_samples(browser, page):
    browser.open(page())
    browser.drag(on_map(browser, 2, 2), on_map(browser, 320, 458))
    chosen = 120 - browser.js(DIMMED)
    assert 0 < chosen < 120
    left = browser.js(
        "[...document.querySelectorAll('#map-points path:not(.dim)')]"
        ".every(p => Number(p.getAttribute('transform').match(/[\\d.]+/)[0]) <= 321)"
    )
    assert left
    assert browser.js(ROWS) == f"{chosen} samples selected"
    assert browser.js("document.getElementById('heat').height") == chosen
    assert browser.js("document.querySelector('#profile g text').textContent") == "selection"
    assert "box=" in browser.js(HASH)
    browser.js("document.getElementById('clear').click()")
    assert browser.js(DIMMED) == 0


def test_the_keyboard_walks_opens_picks_and_draws_a_box(browser, page):
    browser.open(page())
    browser.js("document.getElementById('map').focus()")
    tip = "document.getElementById('tip').textContent"
    browser.key("ArrowRight")
    assert browser.js(tip) == "row 1: cluster 1 · high feature 0"
    browser.key("ArrowRight")
    assert browser.js(tip) == "row 4: cluster 1 · high feature 0"
    browser.key(" ")
    assert browser.js(ROWS) == "1 sample selected"
    browser.key(" ")
    assert browser.js(DIMMED) == 0
    for _ in range(3):
        browser.key("ArrowRight", shift=True)
        browser.key("ArrowDown", shift=True)
    assert "a box on the map" in browser.js(TOLD)
    browser.key("Escape")
    assert browser.js(DIMMED) == 0
    browser.key("ArrowRight")
    browser.key("Enter")
    assert browser.js("document.getElementById('card').hidden") is False
    assert browser.js("document.activeElement.id") == "card-title"
    browser.key("Escape")
    assert browser.js("document.getElementById('card').hidden")
    assert browser.js("document.activeElement.id") == "map"


def test_a_sample_has_a_card_with_values_reasons_and_neighbours(browser, page):
    browser.open(page(sample_names=[f"client {i}" for i in range(120)], confidence=True))
    x, y = middle_of(browser, "#map-points path", 7)
    browser.move(x, y)
    told = browser.js("document.getElementById('tip').textContent")
    assert told.startswith("client ")
    browser.click(x, y)
    title = browser.js("document.getElementById('card-title').textContent")
    assert told.startswith(title + ": cluster")
    card = browser.js("document.getElementById('card-body').innerText")
    for words in ("confidence 0.", "second best", "Values that matter", "Why here", "Nearest"):
        assert words in card
    i = int(title.removeprefix("client "))
    first = browser.js(
        "[...document.querySelectorAll('#card td, #card th button')]"
        ".slice(0, 2).map(c => c.textContent)"
    )
    feature = int(first[0].removeprefix("feature "))
    assert float(first[1]) == pytest.approx(page.case.X[i, feature], rel=1e-3)
    near = browser.js("document.querySelector('#card .chip').textContent.trim()")
    browser.js("document.querySelector('#card .chip').click()")
    assert browser.js("document.getElementById('card-title').textContent") == near
    browser.js("document.getElementById('card-close').click()")
    assert browser.js("document.getElementById('card').hidden")


def test_features_can_be_searched_and_chosen(browser, page):
    browser.open(page(feature_names=[f"gene {i}" for i in range(9)] + ["Zebra"]))
    browser.js("document.getElementById('find').focus()")
    browser.type("zeb")
    names = "[...document.querySelectorAll('#feature-table tbody button')].map(b => b.textContent)"
    assert browser.js(names) == ["Zebra"]
    assert browser.js("document.getElementById('found').textContent") == "1 feature found"
    browser.js("document.querySelector('#feature-table tbody button').click()")
    assert browser.js("document.getElementById('profile-title').textContent") == "Zebra"
    assert browser.js("document.getElementById('colour').value") == "feature"
    heads = "[...document.querySelectorAll('#sample-table thead button')].map(b => b.textContent)"
    assert browser.js(heads)[2] == "Zebra"
    current = "document.querySelector('#heat-names text.current').textContent"
    assert browser.js(current) == "Zebra"
    assert "feature=" in browser.js(HASH)
    # It stands in the table of every cluster.
    assert browser.every("table[data-apart] tr.current th") == ["Zebra"] * 3


def test_any_of_many_features_has_a_distribution(browser, page):
    browser.open(page(200, 20_000, 4))
    browser.js("document.getElementById('find').focus()")
    browser.type("feature 19999")
    browser.js("document.querySelector('#feature-table tbody button').click()")
    assert browser.js("document.querySelectorAll('#profile .median').length") == 4


def test_tables_sort_both_ways(browser, page):
    browser.open(page(labels_true=["x", "y"] * 60))
    browser.js("document.querySelector('#sample-table [data-key^=f]').click()")
    column = (
        "[...document.querySelectorAll('#sample-table tbody tr')]"
        ".map(r => Number(r.cells[3].textContent))"
    )
    values = browser.js(column)
    assert values == sorted(values, reverse=True)
    browser.js("document.querySelector('#sample-table [data-key^=f]').click()")
    values = browser.js(column)
    assert values == sorted(values)
    browser.js("document.querySelector('#feature-table [data-key=name]').click()")
    names = browser.js(
        "[...document.querySelectorAll('#feature-table tbody button')].map(b => b.textContent)"
    )
    assert names == sorted(names, reverse=True)
    browser.js("document.querySelector('.confusion thead th:nth-child(2) button').click()")
    head = "document.querySelector('.confusion thead th:nth-child(2)').getAttribute('aria-sort')"
    assert browser.js(head) == "descending"
    cells = browser.js(
        "[...document.querySelectorAll('.confusion tbody tr')]"
        ".map(r => Number(r.cells[1].dataset.v))"
    )
    assert cells == sorted(cells, reverse=True)


def test_the_map_is_coloured_by_cluster_class_confidence_and_feature(browser, page):
    browser.open(page(labels_true=["x", "y"] * 60, confidence=True))
    fills = (
        "[...new Set([...document.querySelectorAll('#map-points path')]"
        ".map(p => getComputedStyle(p).fill))].length"
    )

    def choose(mode):
        browser.js(
            f"(() => {{ const s = document.getElementById('colour'); s.value = {mode!r};"
            " s.dispatchEvent(new Event('change')); })()"
        )
        return browser.js(fills)

    assert browser.js(fills) == 3
    assert choose("class") == 2
    browser.js("document.querySelector('#legend button').click()")
    assert browser.js(ROWS) == "60 samples selected"
    browser.js("document.querySelector('#legend button').click()")
    assert choose("confidence") > 20
    assert browser.js("document.querySelector('#legend b').textContent") == "Confidence"
    assert choose("feature") > 20
    assert choose("cluster") == 3


def test_a_cell_of_the_confusion_table_selects_its_samples(browser, page):
    browser.open(page(labels_true=["x", "y"] * 60))
    browser.js('document.querySelector(\'button.cell[data-row="2"][data-k="1"]\').click()')
    assert browser.js(ROWS) == "20 samples selected"
    assert browser.js(HASH) == "#clusters=2&class=1"


def test_layouts_can_be_exchanged(browser, page):
    browser.open(page())
    places = (
        "[...document.querySelectorAll('#map-points path')].map(p => p.getAttribute('transform'))"
    )
    before = browser.js(places)
    browser.js(
        "(() => { const s = document.getElementById('layout'); s.selectedIndex = 1;"
        " s.dispatchEvent(new Event('change')); })()"
    )
    assert browser.js(places) != before
    assert "layout=" in browser.js(HASH)


def test_samples_at_one_place_are_all_seen(browser, page):
    browser.open(page(same=True))
    places = browser.js(
        "new Set([...document.querySelectorAll('#map-points path')]"
        ".map(p => p.getAttribute('transform'))).size"
    )
    assert places == 120
