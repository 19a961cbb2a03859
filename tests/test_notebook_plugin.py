"""Notebooks that are wrong in one way each must fail, and say why."""

import base64
import inspect
import io
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import nbformat
import nbval.plugin
import pytest
from nbformat import v4
from nbval.kernel import RunningKernel
from PIL import Image, ImageDraw

import notebook_plugin
import pictures

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT = 5  # seconds a cell


def code(source, *outputs, tags=(), count=1):
    return v4.new_code_cell(
        source,
        outputs=list(outputs),
        execution_count=count,
        metadata={"tags": list(tags)},
    )


def printed(text, name="stdout"):
    return v4.new_output("stream", name=name, text=text)


def raised(name, message):
    return v4.new_output("error", ename=name, evalue=message)


def png(width=120, height=80, box=(20, 20, 60, 60), fill="black"):
    image = Image.new("RGB", (width, height), "white")
    ImageDraw.Draw(image).rectangle(box, fill=fill)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def show(drawn, stored, text="<IPython.core.display.Image object>", **options):
    """A cell that displays one picture, and stores another as its output."""
    source = (
        "import base64\nfrom IPython.display import Image, display\n"
        f"display(Image(base64.b64decode({base64.b64encode(drawn)!r})))"
    )
    data = {"text/plain": text}
    if stored is not None:
        data["image/png"] = base64.b64encode(stored).decode()
    return code(source, v4.new_output("display_data", data=data), **options)


def described(drawn, stored):
    """A cell that displays a picture in HTML; (pixels, words) shown and stored."""
    page = '<img alt="{1}" src="data:image/png;base64,{0}">'
    source = f"from IPython.display import HTML\nHTML({page.format(*drawn)!r})"
    data = {"text/plain": "<IPython.core.display.HTML object>"}
    return code(
        source,
        v4.new_output("execute_result", {**data, "text/html": page.format(*stored)}),
    )


def hello():
    return code("print('hello')", printed("hello\n"))


def result(text):
    return v4.new_output("execute_result", {"text/plain": text})


GOOD = {
    "prints": hello(),
    "returns": code("6 * 7", result("42")),
    "draws": show(png(), png()),
    "draws almost the same": show(png(), png(fill="#050505")),
    "other pixels in HTML": described(("aB+/0=", "A dot"), ("cD12", "A dot")),
    "expected error": code(
        "1 / 0",
        raised("ZeroDivisionError", "division by zero"),
        tags=["raises-exception"],
    ),
    "command": code("!exit 0"),
    "magic": code("%pwd", tags=["nbval-ignore-output"]),
    "not compared": show(png(), png(fill="red"), tags=["nbval-ignore-output"]),
    "empty": code("", count=None),
    "user's Matplotlib": code(
        "import matplotlib\nmatplotlib.rcParams['font.size']", result("10.0")
    ),
    "user's startup file": code("'noise' in globals()", result("False")),
    "user's terminal": code("import os\n'COLUMNS' in os.environ", result("False")),
}

# What is wrong: the cell, and what the report says.
BAD = {
    "number": (code("print(1)", printed("2\n")), "Cell outputs differ"),
    "error": (
        code(
            "1 / 0",
            raised("ZeroDivisionError", "by what?"),
            tags=["raises-exception"],
        ),
        "Cell outputs differ",
    ),
    "no error": (
        code("pass", raised("ValueError", "bad"), tags=["raises-exception"]),
        "Cell outputs differ",
    ),
    "never executed": (code("1", count=None), "Never executed"),
    "unknown magic": (
        code(
            "%nosuchmagic",
            printed(
                "UsageError: Line magic function `%nosuchmagic` not found.\n", "stderr"
            ),
        ),
        "UsageError: Line magic function `%nosuchmagic` not found",
    ),
    "failing command": (code("!exit 3"), "A !command failed with exit code 3"),
    "missing picture": (show(png(), None), "0 pictures are stored, 1 were drawn"),
    "changed picture": (
        show(png(), png(box=(20, 20, 60, 64))),
        "of 255 grey levels off at x=",
    ),
    "resized picture": (
        show(png(), png(width=140)),
        "the size is 120 x 80 pixels instead of 140 x 80",
    ),
    "picture's words": (
        described(("aB+/", "A dot"), ("aB+/", "A line")),
        "Cell outputs differ",
    ),
    "picture's text": (show(png(), png(), text="<Figure>"), "Cell outputs differ"),
}

# What happens: a cell in the middle of a notebook, what the report says about it,
# and about the next ones. A dead kernel must be noticed before the time is out.
FATAL = {
    "exits": (
        "import os\nos._exit(1)",
        "The kernel died with exit code 1",
        "Not run: The kernel died with exit code 1 in cell 1",
    ),
    "killed": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
        "The kernel died of SIGKILL",
        "Not run: The kernel died of SIGKILL in cell 1",
    ),
    "endless": (
        "import time\nwhile True: time.sleep(1)",
        f"Timeout of {TIMEOUT} seconds exceeded",
        "Not run: cell 1 took too long",
    ),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """All notebooks run by a pytest of their own, started elsewhere.

    The user's settings there would make the good ones fail, and there is no
    compiler. Gives what pytest printed and, by name of the notebook, the outcomes
    of its cells as (outcome, text).
    """
    folder = tmp_path_factory.mktemp("run")
    notebooks = {
        "good": list(GOOD.values()),
        "bad": [cell for cell, _ in BAD.values()],
        "compiled": [hello(), code("1 / 0", tags=["needs-compiler"])],
    }
    for name, (source, *_) in FATAL.items():
        notebooks[name] = [hello(), code(source), hello(), hello()]
    (folder / "notebooks").mkdir()
    for name, cells in notebooks.items():
        nbformat.write(
            v4.new_notebook(cells=cells), folder / "notebooks" / f"{name}.ipynb"
        )

    startup = folder / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text("noise = True\nprint('noise')\n")
    (folder / "matplotlibrc").write_text("font.size: 20\n")
    (folder / "bin").mkdir()
    (folder / "bin" / "sh").symlink_to("/bin/sh")
    settings = {
        "IPYTHONDIR": str(folder / "ipython"),
        "PYTHONSTARTUP": str(startup / "00.py"),
        "MATPLOTLIBRC": str(folder / "matplotlibrc"),
        "COLUMNS": "20",
        "PATH": str(folder / "bin"),
    }
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml")]
    command += ["--rootdir", str(folder), "-n", "0", "-p", "no:cacheprovider"]
    command += [f"--nbval-cell-timeout={TIMEOUT}"]
    command += ["--junitxml", str(folder / "report.xml"), str(folder / "notebooks")]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | settings, capture_output=True, text=True
    )
    said = done.stdout + done.stderr
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, said

    cells = defaultdict(list)
    for case in ET.parse(folder / "report.xml").iter("testcase"):
        name = case.get("classname").split(".")[1]
        for outcome in list(case) or [ET.Element("passed")]:
            cells[name].append((outcome.tag, outcome.text or ""))
    return SimpleNamespace(said=said, cells=cells)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(GOOD)), ids=list(GOOD))
def test_good_cell_passes(run, number):
    assert run.cells["good"][number] == ("passed", "")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(BAD)), ids=list(BAD))
def test_bad_cell_fails_and_says_why(run, number):
    outcome, text = run.cells["bad"][number]
    assert outcome == "failure"
    assert list(BAD.values())[number][1] in text


@pytest.mark.slow
@pytest.mark.parametrize("name", FATAL)
def test_cells_after_a_fatal_one_are_not_run(run, name):
    _, reason, consequence = FATAL[name]
    outcomes = run.cells[name]
    assert [outcome for outcome, _ in outcomes] == ["passed"] + ["failure"] * 3
    assert reason in outcomes[1][1]
    assert consequence in outcomes[2][1]
    assert consequence in outcomes[3][1]


@pytest.mark.slow
def test_pictures_that_differ_are_kept_to_look_at(run):
    _, text = run.cells["bad"][list(BAD).index("changed picture")]
    stored, new = (
        Path(word) for word in text.split() if word.endswith(("stored.png", "new.png"))
    )
    assert stored.read_bytes() == png(box=(20, 20, 60, 64))
    assert new.read_bytes() == png()


@pytest.mark.slow
def test_skipped_without_a_compiler(run):
    assert [outcome for outcome, _ in run.cells["compiled"]] == ["skipped"] * 2
    assert "compiled.ipynb needs a C++ compiler, and none of c++" in run.said


def test_other_release_of_nbval_is_refused(monkeypatch):
    monkeypatch.setattr(notebook_plugin, "NBVAL", "0.0.1")
    with pytest.raises(pytest.UsageError, match="builds on .* nbval 0.0.1, but nbval"):
        notebook_plugin.pytest_configure()


def test_requirements_name_the_release_of_nbval():
    text = (ROOT / "requirements.txt").read_text("utf-8").replace(" ", "")
    pins = [line.partition("#")[0] for line in text.splitlines()]
    assert f"nbval=={notebook_plugin.NBVAL}" in pins


@pytest.mark.parametrize(
    ("owner", "name", "arguments"),
    [
        (RunningKernel, "execute_cell_input", "self cell_input allow_stdin"),
        (RunningKernel, "get_message", "self stream timeout"),
        (RunningKernel, "is_alive", "self"),
        (RunningKernel, "stop", "self"),
        (nbval.plugin, "RunningKernel", "kernel_name cwd startup_timeout"),
        (nbval.plugin.IPyNbFile, "setup", "self"),
        (nbval.plugin.IPyNbFile, "collect", "self"),
        (nbval.plugin.IPyNbCell, "__init__", "name parent cell_num cell options"),
        (nbval.plugin.IPyNbCell, "setup", "self"),
        (nbval.plugin.IPyNbCell, "runtest", "self"),
        (nbval.plugin.IPyNbCell, "raise_cell_error", "self message args kwargs"),
    ],
)
def test_nbval_still_has_what_the_plugin_hooks_into(owner, name, arguments):
    assert hasattr(owner, name), f"nbval moved {owner.__name__}.{name}"
    found = inspect.signature(getattr(owner, name)).parameters
    assert set(arguments.split()) <= set(found), (
        f"nbval changed {owner.__name__}.{name}{tuple(found)}; "
        "see what tests/notebook_plugin.py does with it"
    )


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
