"""The page in a real browser: it draws, it is safe, it can be read and printed."""

import base64
import re

import pytest


@pytest.mark.parametrize(
    ("n", "d", "k", "dark"), [(120, 10, 3, False), (600, 20, 60, True), (200, 50_000, 4, False)]
)
def test_renders_without_complaints_or_requests(browser, page, n, d, k, dark):
    browser.open(page(n, d, k), dark=dark)
    assert browser.fit_warnings() == []
    assert browser.js("document.querySelectorAll('details.card').length") == k
    assert browser.js("document.querySelectorAll('#map-points path').length") == n
    # The policy lets the page's own style and script through.
    assert browser.js("getComputedStyle(document.querySelector('.skip')).position") == "absolute"
    assert browser.js("document.getElementById('theme').hidden") is False
    # Nothing sticks out at the side.
    assert browser.fits()


def test_the_first_screen_is_the_answer(browser, page):
    browser.open(page(unit="customers", feature_names=["bread", "milk", "tea", *"abcdefg"]))
    seen = browser.js(
        "[...document.querySelectorAll('.sentence')]"
        ".filter(s => s.getBoundingClientRect().bottom <= innerHeight).map(s => s.textContent)"
    )
    assert len(seen) == 3
    assert seen[0].startswith("40 customers: bread ")
    assert "(others " in seen[0]
    lead = browser.js("document.querySelector('.lead').textContent").split()
    assert " ".join(lead).startswith("The 120 customers fall into 3 groups. 3 of 10 columns tell")
    assert browser.js("document.querySelector('.lead').getBoundingClientRect().bottom") < 300


def test_images_are_decoded(browser, page):
    browser.open(page(image_shape=(2, 5)))
    sizes = browser.js(
        "[...document.querySelectorAll('img')].map(i => [i.naturalWidth, i.naturalHeight])"
    )
    # Three clusters twice, all features, three weightings, three components.
    assert len(sizes) == 13
    assert set(map(tuple, sizes)) == {(5, 2)}
    assert browser.fit_warnings() == []


def test_numbers_arrive_as_they_were_sent(browser, page):
    path = page(d=4, k=2)
    browser.open(path)
    names = browser.js(
        "[...document.querySelectorAll('#sample-table thead button')].map(b => b.textContent)"
    )
    shown = browser.js(
        "[...document.querySelectorAll('#sample-table tbody tr')].slice(0, 5)"
        ".map(r => [...r.cells].map(c => c.textContent.trim()))"
    )
    X = page.case.X
    for row in shown:
        i = int(row[0].removeprefix("row ")) - 1
        for name, text in zip(names[2:], row[2:], strict=True):
            assert float(text) == pytest.approx(X[i, int(name.removeprefix("feature "))], rel=1e-3)


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
    browser.open(page(labels_true=["a", "b"] * 60, confidence=True))
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    named = {"image", "button", "searchbox", "table", "link", "combobox", "application"}
    roles = set()
    for node in nodes:
        role = node.get("role", {}).get("value")
        if role in named and not node.get("ignored"):
            roles.add(role)
            assert node.get("name", {}).get("value"), node
    assert roles >= {"button", "searchbox", "table", "link", "image", "combobox"}
    # Charts say their numbers.
    profile = browser.js("document.querySelector('#profile svg').getAttribute('aria-label')")
    assert re.search(r"0: median [\d.]+", profile)


@pytest.mark.parametrize(("n", "d", "k"), [(120, 10, 3), (600, 20, 30)])
def test_it_prints_on_a4_without_empty_pages(browser, page, n, d, k):
    browser.open(page(n, d, k))
    answer = browser.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
    pdf = base64.b64decode(answer["data"])
    assert pdf.startswith(b"%PDF")
    boxes = re.findall(rb"/MediaBox\s*\[([\d. ]+)\]", pdf)
    assert boxes
    for box in boxes:
        assert [round(float(v)) for v in box.split()[2:]] == [595, 842]
    # A page holds several clusters' tables: no half of it may stay empty.
    assert len(boxes) <= 4 + k // 4


def test_nothing_is_cut_off_on_paper(browser, page):
    names = [f"a rather long name of measurement number {k}" for k in range(10)]
    browser.open(
        page(feature_names=names, labels_true=[i % 60 for i in range(120)], confidence=True)
    )
    assert browser.js("document.querySelectorAll('.confusion thead th').length") == 61
    assert browser.js("getComputedStyle(document.querySelector('.paper-only')).display") == "none"
    assert browser.on_paper() == []
    assert "The first 25 of 60 classes are printed" in browser.js("document.body.innerText")
    # What can only be done on a screen is not asked of paper.
    for words in ("Drag a box", "Choose one", "Find a feature", "Show more", "Theme"):
        assert words not in browser.js("document.body.innerText")


def test_closed_clusters_are_opened_for_print(browser, page):
    browser.open(page(160, 6, 16))
    closed = "document.querySelectorAll('details.card:not([open])').length"
    assert browser.js(closed) == 4
    browser.js("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.js(closed) == 0
    browser.js("window.dispatchEvent(new Event('afterprint'))")
    assert browser.js(closed) == 4


def test_names_can_be_read_on_a_phone(browser, page):
    browser.open(page(), width=390, height=844)
    for drawing in ("map", "heat-names"):
        size = browser.js(
            f"(() => {{ const t = document.querySelector('#{drawing} text');"
            " return parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().d"
            " / (t.transform.baseVal.length ? Math.cos(50 * Math.PI / 180) : 1); })()"
        )
        assert size >= 9, drawing
    cut = (
        "[...document.querySelectorAll('#feature-table thead th')].filter(h => h.checkVisibility()"
        " && h.getBoundingClientRect().right > innerWidth).length"
    )
    assert browser.js(cut) == 0


@pytest.mark.parametrize("k", [3, 60])
def test_a_narrow_screen_needs_no_sideways_scrolling(browser, page, k):
    names = [f"a rather long name of measurement number {k}" for k in range(10)]
    path = page(k=k, labels_true=["a", "b"] * 60, feature_names=names)
    browser.open(path, width=390, height=844)
    assert browser.fits()


def test_names_are_not_broken_inside_a_word(browser, page):
    names = ["customer satisfaction", "electricity consumption", *(f"short {k}" for k in range(8))]
    browser.open(page(feature_names=names), width=380)
    lines = browser.js(
        "[...document.querySelectorAll('#feature-table th[scope=row] button')].map(b => {"
        "const r = document.createRange(), t = b.firstChild, words = [];"
        "let at = 0; t.data.split(' ').forEach(w => {"
        "r.setStart(t, at); r.setEnd(t, at + w.length);"
        "words.push(r.getClientRects().length); at += w.length + 1; });"
        "return Math.max(...words); })"
    )
    assert set(lines) == {1}


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
            labels_true=[hostile, "plain"] * 60,
            labels=[hostile, "'\"><svg onload=alert(1)>", "${7*7}{{7*7}}"],
        )
    )
    browser.js("document.getElementById('map').focus()")
    browser.key("ArrowRight")
    browser.key("Enter")
    assert "<img src=x" in browser.js("document.getElementById('tip').textContent")
    assert "<img src=x" in browser.js("document.getElementById('card-title').textContent")
    browser.js("document.getElementById('find').focus()")
    browser.type("onerror")
    assert "10 features" in browser.js("document.getElementById('found').innerText")
    assert browser.js("document.querySelectorAll('img').length") == 0
    assert browser.js("document.title").startswith("<img src=x")
    assert browser.fit_warnings() == []


def test_the_page_lives_in_a_notebook(browser, make, tmp_path):
    import fnmf

    case = make()
    shown = tmp_path / "notebook.html"
    frame = fnmf.report(case.model, case.X)._repr_html_()
    shown.write_text(f"<!doctype html><meta charset=utf-8>{frame}", encoding="utf-8")
    browser.open(shown)
    inside = "document.querySelector('iframe').contentDocument"
    ready = f"new Promise(done => {{ const look = () => {inside}.documentElement.dataset.ready"
    ready += " === 'yes' ? done(true) : setTimeout(look, 20); look(); })"
    assert browser.js(ready)
    browser.js(f"{inside}.querySelector('.pick[data-c=\"1\"]').click()")
    assert "cluster 2 · high feature 1" in browser.js(
        f"{inside}.getElementById('selection-text').textContent"
    )
    assert browser.fit_warnings() == []
