"""The documentation site: built offline, with a gallery that runs."""

import importlib
import os
import re
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
    names = [name for name in fnmf.__all__ if name not in modules and name != "__version__"]
    for module, members in [("fnmf", names), *((f"fnmf.{m}", None) for m in sorted(modules))]:
        found = importlib.import_module(module)
        title = (found.__doc__ or "").strip().splitlines()[0]
        lines += [module, "-" * len(module), "", title, "", ".. toctree::", "   :maxdepth: 1", ""]
        for name in members or sorted(_public(found)):
            full = f"{module}.{name}"
            if not callable(getattr(found, name)):
                # Tables and constants are explained where they are used.
                continue
            lines.append(f"   {full}")
            kind = "autoclass" if isinstance(getattr(found, name), type) else "autofunction"
            body = [full, "=" * len(full), "", f".. {kind}:: {full}"]
            body += [""]
            if kind == "autoclass":
                body += [f"   .. {role}:: {own}" for role, own in _members(getattr(found, name))]
            wanted[f"{full}.rst"] = "\n".join([*body, ""])
        lines.append("")
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
FIRST = ("relevance", "report", "command")
ELSEWHERE = ("index", "start", "guide", "about", "parameters", "methods")
ELSEWHERE += ("from_sklearn", "when_not", "cite", "changelog")


def complete_pages(app, docname, source):
    """List the pages of the guide; links to files of the repository become downloads."""
    if docname == "guide":
        rest = {page.stem for page in HERE.glob("*.md")} - set(ELSEWHERE) - set(FIRST)
        source[0] = source[0].replace("EVERY_PAGE", "\n".join([*FIRST, *sorted(rest)]))

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
