"""A lesson without a kernel: what the site, the single pages and the slides change.

Each function takes a notebook as nbformat reads it and changes it in place.
"""

import re
from html import escape
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path

WIDGET = "application/vnd.jupyter.widget-view+json"
NOTE = (
    "<p><em>In JupyterLab this can be moved; above is what it shows at first.</em></p>"
)
NOTHING = "<p><em>In JupyterLab there is something to move here.</em></p>"
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)\s]+)\)")
LESSON = re.compile(r"(\d\d_\w+)\.ipynb(#.*)?")


def mathjax():
    """The folder with the copy of MathJax that a package brings."""
    folder = find_spec("sphinx-mathjax-offline").submodule_search_locations[0]
    return Path(folder, "static", "mathjax")


def reveal():
    """The folder with the copy of reveal.js that a package brings."""
    folder = find_spec("sphinx_revealjs").submodule_search_locations[0]
    return Path(folder, "_static", "revealjs")


def pictures(notebook):
    """For each picture of each code cell its data, by format, and its words or "".

    The words are in the cell's metadata, under `alt`: a text, or a list of them if the
    cell shows several pictures.
    """
    for cell in notebook["cells"]:
        drawn = [
            o["data"]
            for o in cell.get("outputs", [])
            if "image/png" in o.get("data", {})
        ]
        words = cell["metadata"].get("alt", "")
        words = [words] * len(drawn) if isinstance(words, str) else words
        yield from zip_longest(drawn, words[: len(drawn)], fillvalue="")


def describe(notebook):
    """Put an `<img>` with words beside each picture, for what is shown in a browser.

    JupyterLab and nbconvert prefer HTML to a PNG, which in JupyterLab has no `alt`.
    """
    for data, words in pictures(notebook):
        if words:
            source = f"data:image/png;base64,{data['image/png'].strip()}"
            data["text/html"] = f'<img alt="{escape(words)}" src="{source}">'


def without_widgets(notebook):
    """Put a note in the place of each widget; what it shows at first stands above."""
    notebook["metadata"].pop("widgets", None)
    for cell in notebook["cells"]:
        outputs = cell.get("outputs", [])
        for output in outputs:
            if WIDGET in output.get("data", {}):
                output["data"] = {"text/html": NOTE if len(outputs) > 1 else NOTHING}


def link_lessons(notebook, ending):
    """Let links to other lessons lead to their converted files.

    Links to other files of the project become text: a page stands alone.
    """

    def replace(link):
        text, target = link.groups()
        lesson = LESSON.fullmatch(target)
        return f"[{text}]({lesson[1]}{ending}{lesson[2] or ''})" if lesson else text

    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = LINK.sub(replace, cell["source"])


def folded(cell):
    """Whether JupyterLab folds the cell: set-up, drawing, asserts, solutions."""
    return cell["metadata"].get("jupyter", {}).get("source_hidden", False)


def fold(notebook):
    """Fold on the site what JupyterLab folds; readers can open it."""
    for cell in notebook["cells"]:
        if folded(cell):
            cell["metadata"].setdefault("tags", []).append("hide-input")


def as_slides(notebook):
    """Cut the lesson into slides, unless its cells say how (slide_type).

    Each section starts a slide to the right, each further text and each solution
    one below it. What is for teachers becomes speaker notes (press S). The set-up
    cell, the same in every lesson, is left out, and so is code that is folded.
    """
    for cell in notebook["cells"]:
        slideshow = cell["metadata"].setdefault("slideshow", {})
        if cell["cell_type"] == "markdown":
            source = cell["source"]
            if source.startswith("> **For teachers.**"):
                kind = "notes"
            else:
                kind = "slide" if re.match("##? ", source) else "subslide"
        else:
            tags = cell["metadata"].get("tags", [])
            kind = "subslide" if "solution" in tags else "-"
            kind = "skip" if "setup" in tags else kind
            if folded(cell) and "solution" not in tags:
                cell["metadata"]["transient"] = {"remove_source": True}
        slideshow.setdefault("slide_type", kind)
