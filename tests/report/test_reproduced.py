"""The page of ``fnmf reproduce``: tables as wide as the article's on ordinary screens."""

import pytest

from fnmf.experiments._output import page as reproduced
from fnmf.experiments._summary import Cell
from fnmf.experiments._tables import build

DATA = ("Glass", "USPS-1854", "Control", "Wine", "BA", "Mfeat", "ORL", "Yale")
METHODS = ("FNMF", "NMF", "RMNMF", "LCNMF", "Spectral clustering", "Laplacian score", "CLR", "KMM")


@pytest.mark.parametrize("width", [1280, 1400, 1920])
def test_tables_of_all_sets_fit_on_a_screen(browser, tmp_path, width):
    cell = Cell(acc=0.8123, acc_std=0.0123, nmi=0.7, nmi_std=0.01, params={}, repeats=3, key="k")
    cells = {(data, method): cell for data in DATA for method in METHODS}
    published = {data: dict.fromkeys(METHODS, 0.7654) for data in DATA}
    names = {data: data for data in DATA}
    table = build("table-acc", "Accuracy", "acc", names, list(METHODS), cells, published)
    path = tmp_path / "index.html"
    path.write_text(reproduced([table], [], {"seed": 0}), encoding="utf-8")
    browser.open(path, width=width)
    assert browser.cut_off() == []
    assert browser.fits()
