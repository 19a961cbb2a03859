"""Notebooks that are wrong in one way each must fail, and say why."""

import base64
import io
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

import nbformat
import pytest
from nbformat import v4
from PIL import Image, ImageDraw

import pictures

ROOT = Path(__file__).resolve().parents[1]


def code(source, *outputs, tags=()):
    about = {"execution_count": 1, "metadata": {"tags": list(tags)}}
    return v4.new_code_cell(source, outputs=list(outputs), **about)


def png(width=120, height=80, box=(20, 20, 60, 60), fill="black"):
    image = Image.new("RGB", (width, height), "white")
    ImageDraw.Draw(image).rectangle(box, fill=fill)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def draws(stored, tags=(), **data):
    """A cell that displays png(), and stores another picture as its output."""
    source = (
        "import base64\nfrom IPython.display import Image, display\n"
        f"display(Image(base64.b64decode({base64.b64encode(png())!r})))"
    )
    data["text/plain"] = "<IPython.core.display.Image object>"
    if stored:
        data["image/png"] = base64.b64encode(stored).decode()
    return code(source, v4.new_output("display_data", data=data), tags=tags)


HELLO = code("print('hello')", v4.new_output("stream", text="hello\n"))
# From a cell to what the report says; "" where it passes.
CELLS = [
    (HELLO, ""),
    (draws(png(fill="#050505")), ""),
    (draws(png(), **{"text/html": "<img alt='x'>"}), ""),
    (draws(png(fill="red"), tags=["nbval-ignore-output"]), ""),
    (code("print(1)", v4.new_output("stream", text="2\n")), "Cell outputs differ"),
    (draws(None), "0 pictures are stored, 1 were drawn"),
    (draws(png(box=(20, 20, 60, 64))), "grey levels off at x"),
    (code("import os\nos._exit(1)"), "The kernel died"),
    (code("1"), "Not run: the kernel is dead"),
]


@pytest.mark.slow
def test_a_bad_cell_says_why_and_what_needs_a_compiler_is_skipped_without(tmp_path):
    (tmp_path / "bin").mkdir()  # a PATH with no compiler
    compiled = [code("1"), code("1 / 0", tags=["needs-compiler"])]
    for name, cells in ("all", [cell for cell, _ in CELLS]), ("compiled", compiled):
        notebook = v4.new_notebook(cells=cells)
        nbformat.write(notebook, tmp_path / f"{name}.ipynb")
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml")]
    command += ["--rootdir", str(tmp_path), "-n", "0", "-p", "no:cacheprovider"]
    command += ["--junitxml", str(tmp_path / "report.xml"), str(tmp_path)]
    environment = os.environ | {"PATH": str(tmp_path / "bin")}
    subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
    found = defaultdict(list)
    for case in ET.parse(tmp_path / "report.xml").iter("testcase"):
        outcome = next(iter(case), ET.Element("passed"))
        found[case.get("classname").split(".")[0]].append(outcome)
    assert [outcome.tag for outcome in found["compiled"]] == ["skipped"] * 2
    for outcome, (_, said) in zip(found["all"], CELLS, strict=True):
        assert outcome.tag == ("failure" if said else "passed"), outcome.text
        assert said in (outcome.text or ""), outcome.text


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (png(fill="#0a0a0a"), ""),
        (png(width=121), ""),
        (png(width=130), "the size is 130 x 80 pixels instead of 120 x 80"),
        (png(box=(20, 20, 60, 63)), "off at x="),
        (png(fill="red"), "255 of 255 grey levels off at x="),
    ],
    ids=["shade", "margin", "size", "moved", "colour"],
)
def test_difference_of_pictures(other, found):
    said = pictures.difference(png(), other)
    assert bool(said) == bool(found) and found in said
