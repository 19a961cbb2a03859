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
    return v4.new_code_cell(
        source,
        outputs=list(outputs),
        execution_count=1,
        metadata={"tags": list(tags)},
    )


def printed(text):
    return v4.new_output("stream", name="stdout", text=text)


def png(width=120, height=80, box=(20, 20, 60, 60), fill="black"):
    image = Image.new("RGB", (width, height), "white")
    ImageDraw.Draw(image).rectangle(box, fill=fill)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def show(drawn, stored, tags=(), **data):
    """A cell that displays one picture, and stores another as its output."""
    source = (
        "import base64\nfrom IPython.display import Image, display\n"
        f"display(Image(base64.b64decode({base64.b64encode(drawn)!r})))"
    )
    data |= {"text/plain": "<IPython.core.display.Image object>"}
    if stored is not None:
        data["image/png"] = base64.b64encode(stored).decode()
    return code(source, v4.new_output("display_data", data=data), tags=tags)


HELLO = code("print('hello')", printed("hello\n"))
GOOD = {
    "prints": HELLO,
    "draws": show(png(), png()),
    "draws almost the same": show(png(), png(fill="#050505")),
    "has words beside its picture": show(
        png(), png(), **{"text/html": "<img alt='x'>"}
    ),
    "is not compared": show(png(), png(fill="red"), ["nbval-ignore-output"]),
}
# What is wrong: the cell, and what the report says.
BAD = {
    "number": (code("print(1)", printed("2\n")), "Cell outputs differ"),
    "missing picture": (show(png(), None), "Missing output|Unexpected output|1 were"),
    "changed picture": (show(png(), png(box=(20, 20, 60, 64))), "grey levels off at x"),
    "resized picture": (show(png(), png(width=140)), "the size is 120 x 80 pixels"),
    "exits": (code("import os\nos._exit(1)"), "The kernel died"),
    "after it": (HELLO, "Not run: the kernel is dead"),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """All notebooks run by a pytest of its own, where there is no compiler: for each
    the outcomes of its cells, as (outcome, text)."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "bin").mkdir()
    for name, cells in {
        "good": list(GOOD.values()),
        "bad": [cell for cell, _ in BAD.values()],
        "compiled": [HELLO, code("1 / 0", tags=["needs-compiler"])],
    }.items():
        notebook = v4.new_notebook(cells=[cell.copy() for cell in cells])
        nbformat.write(notebook, folder / f"{name}.ipynb")
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml")]
    command += ["--rootdir", str(folder), "-n", "0", "-p", "no:cacheprovider"]
    command += ["--junitxml", str(folder / "report.xml"), str(folder)]
    environment = os.environ | {"PATH": str(folder / "bin")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    found = defaultdict(list)
    for case in ET.parse(folder / "report.xml").iter("testcase"):
        name = case.get("classname").split(".")[0]
        for outcome in list(case) or [ET.Element("passed")]:
            found[name].append((outcome.tag, outcome.text or ""))
    return found


@pytest.mark.slow
def test_good_cells_pass(outcomes):
    assert outcomes["good"] == [("passed", "")] * len(GOOD)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(BAD)), ids=list(BAD))
def test_a_bad_cell_fails_and_says_why(outcomes, number):
    outcome, text = outcomes["bad"][number]
    assert outcome == "failure"
    said = list(BAD.values())[number][1]
    assert any(part in text for part in said.split("|")), text


@pytest.mark.slow
def test_skipped_without_a_compiler(outcomes):
    assert [outcome for outcome, _ in outcomes["compiled"]] == ["skipped"] * 2


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (png(), ""),
        (png(fill="#0a0a0a"), ""),
        (png(width=121), ""),
        (png(width=130), "the size is 130 x 80 pixels instead of 120 x 80"),
        (png(box=(20, 20, 60, 63)), "off at x="),
        (png(fill="red"), "255 of 255 grey levels off at x="),
    ],
    ids=["same", "shade", "margin", "size", "moved", "colour"],
)
def test_difference_of_pictures(other, found):
    said = pictures.difference(png(), other)
    assert said if found else not said
    assert found in said
