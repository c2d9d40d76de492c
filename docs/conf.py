"""The documentation site: built offline, with a gallery that runs."""

import csv
import importlib
import inspect
import os
import re
from collections import defaultdict
from pathlib import Path

import fnmf

HERE = Path(__file__).parent

project = "fnmf"
author = "The fnmf developers"
copyright = "The fnmf developers"
release = version = fnmf.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "images", "**/GALLERY_HEADER.rst", "**/sg_execution_times.rst"]
nitpicky = False
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"

html_theme = "pydata_sphinx_theme"
html_title = "fnmf"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "fnmf"},
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
# Pages that have no pages below or beside them need no list of them.
html_sidebars = {page: [] for page in ("index", "start", "parameters", "methods")}
html_math_renderer = "mathml"

# Examples on real data need the data sets; without them they are shown, but not run.
NEED_DATA = "faces|documents|paper"
_has_data = "FNMF_DATA_HOME" in os.environ
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_" if _has_data else rf"plot_\d_(?!{NEED_DATA})",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    # That page would load scripts from the network.
    "write_computation_times": False,
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
}


def write_api(app):
    """One page for every public name, so that a new one needs no entry here."""
    folder = HERE / "api"
    folder.mkdir(exist_ok=True)
    lines = ["API reference", "=============", "", "Everything public, by module.", ""]
    wanted = {}
    modules = {name for name in fnmf.__all__ if _is_module(f"fnmf.{name}")}
    # Its functions are in two modules, as scanpy has them.
    modules = modules - {"scverse"} | {"scverse.tl", "scverse.pl"}
    rest = {"__version__", "scverse"} | modules
    names = [name for name in fnmf.__all__ if name not in rest]
    for module, members in [("fnmf", names), *((f"fnmf.{m}", None) for m in sorted(modules))]:
        found = importlib.import_module(module)
        title = (found.__doc__ or "").strip().splitlines()[0]
        lines += [
            module,
            "-" * len(module),
            "",
            title,
            "",
            ".. list-table::",
            "   :widths: 40 60",
            "",
        ]
        pages = []
        for name in members or sorted(_public(found)):
            full = f"{module}.{name}"
            if not callable(getattr(found, name)):
                # Tables and constants are explained where they are used.
                continue
            pages.append(f"   {full}")
            told = inspect.getdoc(getattr(found, name)) or ""
            lines += [f"   * - :doc:`{name} <{full}>`", f"     - {told.splitlines()[0]}"]
            kind = "autoclass" if isinstance(getattr(found, name), type) else "autofunction"
            # The package is known; its name would only push titles out of the list of pages.
            short = full.removeprefix("fnmf.")
            body = [short, "=" * len(short), "", f".. {kind}:: {full}"]
            body += [""]
            if kind == "autoclass":
                body += [f"   .. {role}:: {own}" for role, own in _members(getattr(found, name))]
            wanted[f"{full}.rst"] = "\n".join([*body, ""])
        lines += ["", ".. toctree::", "   :hidden:", "", *pages, ""]
    wanted["index.rst"] = "\n".join(lines)
    for page in folder.glob("*.rst"):
        if page.name not in wanted:
            page.unlink()
    for name, text in wanted.items():
        page = folder / name
        # Pages that have not changed are not built again.
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def _members(cls):
    """Public methods and properties that this package wrote, inherited ones too."""
    for name in dir(cls):
        value = getattr(cls, name)
        home = getattr(getattr(value, "fget", value), "__module__", None) or ""
        if name[0] != "_" and home.startswith("fnmf") and getattr(value, "__doc__", None):
            yield "autoproperty" if isinstance(value, property) else "automethod", name


def _public(module):
    own = [name for name, value in vars(module).items() if _is_own(value, module)]
    return getattr(module, "__all__", own)


def _is_own(value, module):
    return getattr(value, "__module__", "") == module.__name__ and value.__name__[0] != "_"


def _is_module(name):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return False
    return True


# Pages with a place of their own; all others belong to the user guide.
FIRST = ("relevance", "choosing", "report", "command", "scanpy", "scale", "performance")
FIRST += ("datasets",)
ELSEWHERE = ("index", "start", "guide", "about", "parameters", "methods")
ELSEWHERE += ("from_sklearn", "when_not", "cite", "changelog")


def what_was_measured():
    """The picture of the landing page in words, from the runs it is drawn from."""
    runs = defaultdict(list)
    with open(HERE.parent / "results/useless_features.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            runs[int(row["useless"]), row["method"]].append(row)
    methods = {method for _, method in runs}

    def mean(useless, method, field="acc"):
        found = [float(row[field]) for row in runs[useless, method]]
        return sum(found) / len(found)

    # Counts that every method has finished, as in the picture.
    counts = [count for count, _ in runs if all((count, name) in runs for name in methods)]
    few, many = min(counts), max(counts)
    others = {name: mean(many, name) for name in methods if not name.startswith("FNMF")}
    best = max(others, key=others.get)
    seeds = len(runs[many, "FNMF"])
    told = [
        f"With {many:,} of them FNMF puts {mean(many, 'FNMF'):.0%} of the digits into the right",
        f"cluster, and {mean(few, 'FNMF'):.0%} without any; the best of the others, {best},",
        f"{others[best]:.0%} and {mean(few, best):.0%}. It calls",
        f"{mean(many, 'FNMF', 'found'):.0f} of the 61 pixels relevant, and",
        f"{mean(many, 'FNMF', 'mistaken'):.0f} of the {many:,} useless features",
        f"({'one seed' if seeds == 1 else f'mean of {seeds} seeds'}).",
    ]
    return " ".join(told)


def complete_pages(app, docname, source):
    """List the pages of the guide; links to files of the repository become downloads."""
    if docname == "guide":
        rest = {page.stem for page in HERE.glob("*.md")} - set(ELSEWHERE) - set(FIRST)
        source[0] = source[0].replace("EVERY_PAGE", "\n".join([*FIRST, *sorted(rest)]))

    picture = "gallery/images/sphx_glr_plot_4_parameters_001.png"
    if docname == "parameters" and (HERE / picture).is_file():
        # The gallery has run by now, unless it was left out.
        shown = f"![Agreement with classes and relevant features over four parameters]({picture})"
        source[0] = source[0].replace("<!-- what each does -->", shown)
    if docname == "index":
        source[0] = source[0].replace("<!-- what was measured -->", what_was_measured())

    def download(match):
        text, path = match.groups()
        if (HERE / path).is_file():
            return f"{{download}}`{text.strip('`')} <{path}>`"
        return text

    source[0] = re.sub(r"\[([^\]]+)\]\((\.\./[^)]+)\)", download, source[0])


def mathml(translator, math, display):
    """Formulas as MathML, which browsers draw themselves: no script, no network."""
    from latex2mathml.converter import convert

    translator.body.append(convert(math.astext(), display="block" if display else "inline"))


def setup(app):
    from docutils.nodes import SkipNode

    def inline(translator, node):
        mathml(translator, node, display=False)
        raise SkipNode

    def block(translator, node):
        mathml(translator, node, display=True)
        raise SkipNode

    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("builder-inited", write_api)
    app.connect("source-read", complete_pages)
