"""The summary for notebooks."""

from html.parser import HTMLParser

import numpy as np

from fnmf.display import summary_html


class Text(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data + "\n"


def test_clusters_features_and_convergence_are_shown(make):
    case = make()
    seen = Text(summary_html(case.model))
    for words in ("3 clusters of 120 samples", "Most important of 10 features", "40 iterations"):
        assert words in seen.text
    best = int(np.argmax(case.model.feature_importances_))
    assert f"feature {best}\n" in seen.text


def test_hostile_names_stay_text(make):
    case = make()
    case.model.feature_names_in_ = np.array(["<img src=x onerror=alert(1)>"] * 10, dtype=object)
    case.model.labels_ = np.array(["</table><script>x</script>"] * 120)
    seen = Text(summary_html(case.model))
    assert not {"img", "script"} & set(seen.tags)
    assert "<img src=x onerror=alert(1)>" in seen.text


def test_a_model_with_labels_alone_has_a_summary(make):
    case = make(300, 10, 50)
    for name in ("feature_importances_", "history_"):
        delattr(case.model, name)
    assert "50 clusters of 300 samples, the first 30" in Text(summary_html(case.model)).text


def test_it_renders_without_complaints(browser, make, tmp_path):
    page = tmp_path / "notebook.html"
    head = "<!doctype html><meta charset=utf-8>"
    page.write_text(head + summary_html(make().model), encoding="utf-8")
    browser.open(page)
    assert browser.fit_warnings() == []
    assert browser.js("document.querySelectorAll('.fnmf table').length") == 3
