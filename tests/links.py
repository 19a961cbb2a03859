"""The links of Markdown files and notebooks, and whether they lead somewhere."""

import re
from urllib.parse import unquote

import nbformat

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)[^)]*\)")


def prose(markdown):
    """The text without code and formulas."""
    markdown = re.sub(r"```.*?```|``.*?``|`[^`]*`", " … ", markdown, flags=re.DOTALL)
    return re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$", " … ", markdown, flags=re.DOTALL)


def links(markdown):
    """(is a picture, text, target) of each link."""
    found = LINK.findall(prose(markdown))
    return [(bool(mark), text, target) for mark, text, target in found]


def anchors(path):
    """The anchors that a Markdown file or a notebook offers."""
    if path.suffix == ".ipynb":
        cells = nbformat.read(path, as_version=4).cells
        text = "\n\n".join(c.source for c in cells if c.cell_type == "markdown")
    else:
        text = path.read_text("utf-8")
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#{1,6} +(.+?) *$", text, re.MULTILINE)
    titles = [re.sub(r"[`*]", "", LINK.sub(r"\2", title)) for title in titles]
    if path.suffix != ".ipynb":  # Jupyter keeps capitals and marks
        titles = [re.sub(r"[^\w\- ]", "", title.lower()) for title in titles]
    return {title.replace(" ", "-") for title in titles}


def broken_links(markdown, source, root):
    """A sentence for each link of the file `source` that leads nowhere."""
    for is_picture, text, target in links(markdown):
        if is_picture and len(text.split()) < 3:
            yield f"the picture {target} needs an alt text that says what is seen"
        if target.startswith("https://"):
            continue
        if re.match(r"[a-z]+:", target):
            yield f"{target} is neither an https link nor a file of the project"
            continue
        name, _, anchor = unquote(target).partition("#")
        file = (source.parent / name).resolve() if name else source
        if not (file.exists() and file.is_relative_to(root.resolve())):
            yield f"there is no {name} in the project"
        elif anchor and anchor not in anchors(file):
            yield f"{file.name} has no heading for #{anchor}"
