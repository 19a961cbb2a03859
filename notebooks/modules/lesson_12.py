"""What lesson 12 needs besides its package: parts of files, programs, and a picture."""

import os
import pickle
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import custom_ops

CPP = Path(__file__).resolve().parents[1] / "cpp"
CALLER = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
from custom_ops import load_op
import tensorflow as tf
op = getattr(load_op("op.cc"), sys.argv[2])
calls, refuses, never_records = pickle.load(sys.stdin.buffer)
found = [op(*inputs, **options).numpy() for inputs, options in calls]
for inputs, options in refuses:
    try:
        op(*inputs, **options)
        found.append(False)
    except tf.errors.InvalidArgumentError:
        found.append(True)
for inputs, options in never_records:
    try:
        tf.function(lambda: op(*inputs, **options)).get_concrete_function()
        found.append(False)
    except ValueError:
        found.append(True)
inputs, options = calls[0]
recorded = tf.function(lambda *inputs: op(*inputs, **options))
recorded = recorded.get_concrete_function(*inputs)
found.append(str(recorded.output_shapes))
pickle.dump(found, sys.stdout.buffer)
"""
ATTEMPTS = """
def try_all():
    for attempt in attempts:
        try:
            said = attempt()
        except Exception as error:  # its essential words
            said = str(error).split("Exception encountered: ")[-1].split(".")[0]
            said = said.split(" in binary")[0].split(" (op type")[0]
        print(f"    {attempt.__name__:13} {said}")
"""


def show(name, start, end=None):
    """Print a part of a file in cpp: from `start` to before `end`."""
    text = (CPP / name).read_text("utf-8")
    part = text[text.index(start) :]
    print((part[: part.index(end)] if end else part).rstrip())


def run(*words, folder):
    """Run a program in a folder, and print what it says, or why it failed."""
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, env={**os.environ, **quiet}
    )
    print(done.stdout, done.stderr if done.returncode else "", sep="", end="")


def try_after(steps, code, python, folder):
    """Run `code`, then after each step, a line of Python, its `attempts`."""
    program = [code, ATTEMPTS]
    for step in steps:
        title = f"after {step.partition('(')[0] or 'nothing'}:"
        program += [f"print({title!r})", step, "try_all()"]
    run(python, "-c", "\n".join(program), folder=folder)


def fresh_environment(folder):
    """A virtual environment to which our packages are lent; the path of its Python."""
    venv.create(folder, with_pip=False)
    [packages] = folder.glob("lib/python*/site-packages")
    ours = sysconfig.get_path("purelib")  # Python reads a .pth file as it starts
    (packages / "lent.pth").write_text(f"import site; site.addsitedir({ours!r})")
    return folder / "bin" / "python"


def call_elsewhere(code, name, calls, refuses=(), never_records=()):
    """Compile an op, call it in another process: its outputs, or why there are none.

    Args:
        code: the text of a C++ file.
        name: of the op, as Python spells it.
        calls: a list with the inputs and the attributes (a dict) of each call.
        refuses: calls that the op should refuse; for each, whether it did is added.
        never_records: calls that fail while a tf.function is recorded; the same.

    The last of what it returns is the shape that a recorded first call is to have.
    """
    if not isinstance(code, str):
        return f"C++ code is a text, not {type(code).__name__}"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "op.cc").write_text(code, "utf-8")
        project = Path(custom_ops.__file__).resolve().parents[1]
        try:
            done = subprocess.run(
                [sys.executable, "-c", CALLER, project, name],
                input=pickle.dumps((calls, refuses, never_records)),
                cwd=folder,
                env={**os.environ, "TF_NUM_INTRAOP_THREADS": "2"},  # to find a race
                capture_output=True,
                timeout=200,
            )
        except subprocess.TimeoutExpired:
            return "stopped after 200 seconds: does each loop come to an end?"
    if done.returncode < 0:
        return "it ends the process: does it write or read where nothing is?"
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").replace(folder, "")
        return said[said.rindex("Error: ") + 7 :].strip() if "Error: " in said else said
    return pickle.loads(done.stdout)


def draw_segments(terms, ids, segments):
    """exp(x) above, the segments below, a line from each term to its segment."""
    _, axes = plt.subplots(figsize=(8, 2.8))
    box = {"boxstyle": "square,pad=0.5", "facecolor": "w"}
    centre = {"ha": "center", "va": "center"}
    places = np.linspace(0, len(ids) - 1, segments)
    for i, (term, s) in enumerate(zip(terms, ids, strict=True)):
        axes.plot([i, places[s]], [1, 0], "-", color=f"C{s}", lw=2, zorder=0)
        axes.text(i, 1, f"{term:.0f}", bbox={**box, "edgecolor": f"C{s}"}, **centre)
    for s, place in enumerate(places):
        axes.text(place, 0, f"y[{s}]", bbox={**box, "edgecolor": f"C{s}"}, **centre)
    for first, who in (0, "one thread"), (segments // 2, "another thread"):
        left, right = places[first], places[first + segments // 2 - 1]
        axes.plot([left - 0.4, right + 0.4], [-0.35, -0.35], "k-")
        axes.text((left + right) / 2, -0.55, who, **centre)
    axes.text(-0.6, 1, "exp(x)", ha="right", va="center")
    axes.set(xlim=(-1.5, len(ids) - 0.4), ylim=(-0.7, 1.25))
    axes.axis("off")
