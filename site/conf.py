"""Sphinx builds the site from the notebooks' stored outputs; it runs nothing.

Everything that the pages load is copied into the output, so that they work from a
folder (file://) with no network. The source folder is the project's, so that links
between notebooks, pictures and the data card hold on the site, too.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import static_lesson  # noqa: E402

project = "Custom ops in Jupyter"
project_copyright = "the authors, Apache License 2.0"
root_doc = "site/index"
include_patterns = [
    "site/index.md",
    "site/errors.md",
    "site/glossary.md",
    "notebooks/*.ipynb",
    "data/README.md",
]
exclude_patterns = [".*", "**/.*", "site/_build", "tests"]
extensions = ["myst_nb"]

nb_execution_mode = "off"
nb_ipywidgets_js = {}  # by default require.js and the widgets come from a CDN
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = project
html_extra_path = ["top"]
html_copy_source = False
html_show_sphinx = False
# Over file:// a page may not read another one, so no excerpts of what is found.
html_show_search_summary = False
# One file that has all of TeX's extensions and, as pictures, all letters: over file://
# a browser may refuse to load fonts.
html_static_path = [str(static_lesson.mathjax() / "tex-svg-full.js")]
mathjax_path = "tex-svg-full.js"


def read_lesson(app, docname, source):
    if docname.startswith("notebooks/"):
        notebook = json.loads(source[0])
        static_lesson.describe(notebook)
        static_lesson.without_widgets(notebook)
        static_lesson.fold(notebook)
        source[0] = json.dumps(notebook)


# A box that is wider than the page is scrolled by keys once the Tab key leads to it.
REACHABLE = """
function letKeysScroll() {
  for (const box of document.querySelectorAll("article pre, .table-wrapper")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("load", letKeysScroll);
addEventListener("resize", letKeysScroll);
"""


def setup(app):
    app.connect("source-read", read_lesson)
    # Marking what was searched for fails on words in the theme's icons ("mode").
    forget = "localStorage.removeItem('sphinx_highlight_terms')"
    app.add_js_file(None, body=forget)
    app.add_js_file(None, body=REACHABLE)
