"""What lesson 12 needs besides its package: programs, a picture, and a check."""

import contextlib
import os
import pickle
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import custom_ops
from custom_ops.cpp_op import _go_on_without_compiler
from utils import compile_command, gives, holds, judge, tf

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
        print(f"    {attempt.__name__:16} {said}")
"""


def look_for_compiler():
    """Without a C++ compiler, say so, and skip the cells that begin with `# C++`."""
    try:
        compile_command(next(CPP.rglob("*.cc")))
    except FileNotFoundError as error:
        _go_on_without_compiler(error)


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


@contextlib.contextmanager
def without_notes():
    """Meanwhile, of what TensorFlow logs, only warnings and errors are shown."""
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel("WARNING")
    try:
        yield
    finally:
        logger.setLevel(level)


def try_after(steps, code, folder):
    """In a new process, run `code`, then after each step, a line, its `attempts`."""
    program = [code, ATTEMPTS]
    for step in steps:
        title = f"after {step.partition('(')[0] or 'nothing'}:"
        program += [f"print({title!r})", step, "try_all()"]
    run(sys.executable, "-c", "\n".join(program), folder=folder)


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


def judge_norm(code):
    """Judge the C++ of SegmentNorm: values, ids, lengths, p, threads, and shape."""
    x, ids = np.array([3.0, -5.0, -4.0, 12.0, -2.0]), np.int32([2, 0, 2, 0, 3])
    million = [
        np.random.default_rng(0).normal(size=1_000_000),
        np.arange(1_000_000, dtype=np.int32) % 7,
    ]
    which = "a million numbers: which thread writes y, and what type is the sum?"
    tries = [
        (
            [x, ids],
            {},
            "p is 2 by default; most of the segments are empty",
        ),
        ([x, ids], {"p": 1.0}, "p = 1: what about the sign of x?"),
        ([np.float32(x), ids], {"p": 2.5}, "p = 2.5, in float32"),
        *[(million, {"p": 3.0}, which)] * 4,
    ]
    calls = [(inputs, {"segments": 1000, **p}) for inputs, p, _ in tries]
    four = {"segments": 4}
    lengths, matrices = ([x[:4], ids], four), ([x[None], ids[None]], four)
    refuses = [
        *[([x, ids + 1], four), ([x, ids - 1], four), lengths, matrices],
        *[([x, ids], {**four, "p": p}) for p in (0.0, -1.0, float("nan"))],
    ]
    found = "p is not yet an attribute in the interface"
    if str(code).count(".Attr(") > 2:  # else do not wait for the compiler
        found = call_elsewhere(code, "segment_norm", calls, refuses, refuses[2:4])
    n = len(tries)

    def right(x, ids, p=2.0):
        return np.bincount(ids, abs(x) ** p, 1000) ** (1 / p)

    def value(number, inputs, p, hint):
        y = right(*inputs, **p)
        return gives(lambda *_: found[number], inputs, y, hint, 1e-6, graph=False)

    judge(
        holds(lambda: isinstance(found, list) or found),
        *[value(number, *one) for number, one in enumerate(tries)],
        holds(
            lambda: all(np.array_equal(found[3], again) for again in found[4:n]),
            "the same call with a million numbers differs in its last digits, so the "
            "order differs: which thread writes y?",
        ),
        holds(
            lambda: all(found[n : n + 2]),
            "an id of 4 or -1 for four segments has to be refused: it would write "
            "where nothing is",
        ),
        holds(
            lambda: all(found[n + 4 : n + 7]),
            "p = 0, p = -1 and p = nan are to be refused: where does the kernel get p?",
        ),
        holds(
            lambda: "OP_REQUIRES" not in body_of_work(code),
            "OP_REQUIRES in `work` refuses too late: where does the kernel get p?",
        ),
        holds(
            lambda: all(found[n + 2 : n + 4] + found[n + 7 : n + 9]),
            "four numbers and five ids, or matrices, have to be refused, by the kernel "
            "and while a function is recorded",
        ),
        holds(
            lambda: found[-1] == "(1000,)",
            "which shape of the output does the shape function give for 1000 segments?",
        ),
    )


def body_of_work(code):
    """What stands in the braces of the functions that take a range of numbers."""
    code, found = re.sub("//.*", "", code), ""
    for head in re.finditer(r"\[[^\[\]]*\]\s*\([^()]*,[^()]*\)[^{};]*\{", code):
        end, depth = head.end(), 1
        while depth and end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        found += code[head.end() : end]
    return found


def draw_segments(terms, ids, segments):
    """exp(x) above, the segments below, a line from each term to its segment."""
    _, axes = plt.subplots(figsize=(8, 2.4))
    box = {"boxstyle": "square,pad=0.5", "facecolor": "w"}
    centre = {"ha": "center", "va": "center"}
    places = np.linspace(0, len(ids) - 1, segments)
    for i, (term, s) in enumerate(zip(terms, ids, strict=True)):
        axes.plot([i, places[s]], [1, 0], "-", color=f"C{s}", lw=2, zorder=0)
        axes.text(i, 1, f"{term:.0f}", bbox={**box, "edgecolor": f"C{s}"}, **centre)
    for s, place in enumerate(places):
        axes.text(place, 0, f"y[{s}]", bbox={**box, "edgecolor": f"C{s}"}, **centre)
    axes.text(-0.6, 1, "exp(x)", ha="right", va="center")
    axes.set(xlim=(-1.5, len(ids) - 0.4), ylim=(-0.25, 1.25))
    axes.axis("off")
