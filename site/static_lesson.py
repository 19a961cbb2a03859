"""A lesson without a kernel: what the site, the single pages and the slides change.

Each function takes a notebook as nbformat reads it and changes it in place.
"""

import re
from importlib.util import find_spec
from pathlib import Path

WIDGET = "application/vnd.jupyter.widget-view+json"
WIDGETS = "application/vnd.jupyter.widget-state+json"
NOTE = (
    "<p><em>In JupyterLab this can be moved; here is what it shows at first.</em></p>"
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


def without_widgets(notebook):
    """Put what widgets show at first, and a note, in the place of the widgets."""
    stored = notebook["metadata"].pop("widgets", {}).get(WIDGETS, {})
    for cell in notebook["cells"]:
        outputs = []
        for output in cell.get("outputs", []):
            view = output.get("data", {}).get(WIDGET)
            if view is None:
                outputs.append(output)
            else:
                first = shown(view["model_id"], stored.get("state", {}))
                note = {"output_type": "display_data", "metadata": {}}
                said = {"text/html": NOTE if first else NOTHING}
                outputs += [*first, {**note, "data": said}]
        if cell["cell_type"] == "code":
            cell["outputs"] = outputs


def shown(model_id, models):
    """The outputs, pictures and HTML in a widget, as outputs of a cell."""
    model = models.get(model_id, {})
    state = model.get("state", {})
    outputs = list(state.get("outputs", []))  # an Output widget
    if model.get("model_name") == "HTMLModel":  # a picture with its alt
        data = {"text/html": state["value"]}
        outputs.append({"output_type": "display_data", "metadata": {}, "data": data})
    if model.get("model_name") == "ImageModel":
        for buffer in model.get("buffers", []):
            data = {f"image/{state.get('format', 'png')}": buffer["data"]}
            output = {"output_type": "display_data", "metadata": {}, "data": data}
            outputs.append(output)
    for child in state.get("children", []):
        outputs += shown(child.removeprefix("IPY_MODEL_"), models)
    return outputs


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
