"""The page in a real browser."""

import pytest

import fnmf


@pytest.fixture
def page(make, tmp_path):
    def _page(n=120, d=10, k=3, **options):
        case = make(n, d, k)
        path = tmp_path / "report.html"
        if labels := options.pop("labels", None):
            case.model.labels_ = [labels[c] for c in case.model.labels_]
        fnmf.report(case.model, case.X, path, **options)
        return path

    return _page


@pytest.mark.parametrize(
    ("n", "d", "k", "dark"), [(120, 10, 3, False), (600, 20, 60, True), (200, 50_000, 4, False)]
)
def test_renders_without_complaints_or_requests(browser, page, n, d, k, dark):
    browser.open(page(n, d, k), dark=dark)
    assert browser.complaints() == []
    assert browser.js("document.querySelectorAll('details.card').length") == k
    # The policy lets the page's own style and script through.
    assert browser.js("getComputedStyle(document.querySelector('.skip')).position") == "absolute"
    assert browser.js("document.getElementById('theme').hidden") is False
    # Nothing sticks out at the side.
    assert browser.js("document.documentElement.scrollWidth <= innerWidth")


def test_images_are_decoded(browser, page):
    browser.open(page(image_shape=(2, 5)))
    sizes = browser.js(
        "[...document.querySelectorAll('img.pixels')].map(i => [i.naturalWidth, i.naturalHeight])"
    )
    assert len(sizes) == 7
    assert set(map(tuple, sizes)) == {(5, 2)}
    assert browser.complaints() == []


def test_bars_are_as_long_as_their_numbers(browser, page):
    browser.open(page(n=100, k=3, labels=["a", "a", "b"]))
    widths = browser.js(
        "[...document.querySelectorAll('#sizes .fill')].map(r => r.getBoundingClientRect().width)"
    )
    track = browser.js("document.querySelector('#sizes .track').getBoundingClientRect().width")
    assert widths[0] == pytest.approx(track)
    assert widths[1] / widths[0] == pytest.approx(33 / 67, abs=0.02)


def test_pointing_at_a_sample_tells_its_name(browser, page):
    browser.open(page(sample_names=[f"client {i}" for i in range(120)]))
    x, y = browser.js(
        "(() => { const b = document.querySelectorAll('#map circle')[7].getBoundingClientRect();"
        " return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    browser.move(x, y)
    told = browser.js("document.getElementById('tip').textContent")
    assert told.startswith("client ")
    assert told.endswith((": cluster 0", ": cluster 1", ": cluster 2"))
    browser.move(2, 2)
    assert browser.js("document.getElementById('tip').hidden")


def test_the_map_can_be_read_with_the_keyboard(browser, page):
    browser.open(page())
    browser.js("document.getElementById('map').focus()")
    browser.key("ArrowRight")
    assert browser.js("document.getElementById('tip').textContent") == "row 1: cluster 0"
    browser.key("ArrowRight")
    assert browser.js("document.getElementById('tip').textContent") == "row 2: cluster 1"
    browser.key("Escape")
    assert browser.js("document.getElementById('tip').hidden")


def test_choosing_a_cluster_brings_it_out(browser, page):
    browser.open(page())
    browser.js("document.querySelector('.pick[data-c=\"1\"]').focus()")
    browser.key("Enter")
    dimmed = "[...document.querySelectorAll('#map circle.dim')].map(c => c.dataset.c)"
    assert set(browser.js(dimmed)) == {"0", "2"}
    assert browser.js("document.querySelector('.pick[data-c=\"1\"]').ariaPressed") == "true"
    browser.key("Enter")
    assert browser.js(dimmed) == []


def test_features_can_be_searched(browser, page):
    browser.open(page(feature_names=[f"gene {i}" for i in range(9)] + ["Zebra"]))
    browser.js("document.getElementById('find').focus()")
    browser.type("zeb")
    assert browser.js("document.getElementById('found').innerText").startswith("1 feature")
    assert "Zebra" in browser.js("document.getElementById('found').innerText")


def test_the_theme_can_be_chosen(browser, page):
    browser.open(page(), dark=True)
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = browser.js(colour)
    browser.js("document.getElementById('theme').click()")
    light = browser.js(colour)
    assert light == "rgb(255, 255, 255)"
    assert dark != light
    browser.js("document.getElementById('theme').click()")
    assert browser.js(colour) == dark


def test_tab_reaches_the_skip_link_first(browser, page):
    browser.open(page())
    browser.key("Tab")
    assert browser.js("document.activeElement.className") == "skip"


def test_the_accessibility_tree_has_names(browser, page):
    browser.open(page())
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    named = {"image", "button", "searchbox", "table", "link"}
    roles = set()
    for node in nodes:
        role = node.get("role", {}).get("value")
        if role in named and not node.get("ignored"):
            roles.add(role)
            assert node.get("name", {}).get("value"), node
    assert roles >= {"button", "searchbox", "table", "link"}


def test_it_can_be_printed(browser, page):
    browser.open(page(600, 20, 30))
    pdf = browser.call("Page.printToPDF", printBackground=True)["data"]
    assert pdf.startswith("JVBERi")  # %PDF in base64


def test_a_narrow_screen_needs_no_sideways_scrolling(browser, page):
    browser.open(page(), width=380, height=800)
    assert browser.js("document.documentElement.scrollWidth <= innerWidth")


def test_hostile_names_stay_text(browser, page):
    hostile = (
        "<img src=x onerror=\"document.title='owned'\">"
        "</script><script>document.title='owned'</script>"
    )
    browser.open(
        page(
            title=hostile,
            feature_names=[f"{hostile[:90]}{i}" for i in range(10)],
            sample_names=[f"{i}{hostile}" for i in range(120)],
            notes=[hostile],
            labels=[hostile, "'\"><svg onload=alert(1)>", "${7*7}{{7*7}}"],
        )
    )
    browser.js("document.getElementById('map').focus()")
    browser.key("ArrowRight")
    assert "<img src=x" in browser.js("document.getElementById('tip').textContent")
    browser.js("document.getElementById('find').focus()")
    browser.type("onerror")
    assert "10 features" in browser.js("document.getElementById('found').innerText")
    assert browser.js("document.querySelectorAll('img:not(.matrix)').length") == 0
    assert browser.js("document.title").startswith("<img src=x")
    assert browser.complaints() == []
