"""What lesson 12 needs besides its package: processes, a picture, and two checks."""

import tempfile
from pathlib import Path

import keras
import matplotlib.pyplot as plt
import numpy as np
from numpy.testing import assert_raises_regex as fails

from custom_ops.cpp_op import _go_on_without_compiler
from utils import compile_command, gives, gradient_right, holds, judge, tf

from .lesson_12_worker import attempt
from .processes import load_early, start
from .quiet import quietly

load_early("keras")
CPP = Path(__file__).resolve().parents[1] / "cpp"


def look_for_compiler():
    """Without a C++ compiler, say so, and skip the cells that begin with `# C++`."""
    try:
        compile_command(next(CPP.rglob("*.cc")))
    except FileNotFoundError as error:
        _go_on_without_compiler(error)


def show(name, start, end=None):
    """Print a part of a file in cpp: from `start` to before `end`."""
    _, start, part = (CPP / name).read_text("utf-8").partition(start)
    print(start + (part.partition(end)[0] if end else part).rstrip())


def in_new_process(program, calls, folder):
    """A list of what these calls return in a program elsewhere, or of their errors."""
    process, connection = start(attempt, program, calls, str(folder))
    try:
        return connection.recv()
    except EOFError:  # it ended before it sent them
        process.join()
        return [f"dead, with exit code {process.exitcode}"]


def judge_soft_maximum(f, library):
    """Judge exercise 1: what a process with only the library finds; the gradient."""
    x, ids = np.array([2, 3, 2.9, -5, 2.1, 80, 79.9]), np.int32([2, 0, 2, 6, 0, 1, 1])
    y = np.array([np.logaddexp.reduce(10 * x[ids == s]) / 10 for s in range(7)])
    right = np.concatenate([y, np.exp(10 * (x - y[ids]))])
    program = f"""
import tensorflow as tf
tf.load_op_library({str(library)!r})
x = tf.Variable({x.tolist()}, dtype="float64")
def y_and_dx():
    with tf.GradientTape() as tape:
        y = tf.saved_model.load(".").call(x, {ids.tolist()})
    return tf.concat([y, tape.gradient(y, x, None, "zero")], 0).numpy()
"""

    def of_friend():
        model = tf.Module()
        specs = tf.TensorSpec([None], tf.float64), tf.TensorSpec([None], tf.int32)
        model.call = tf.function(lambda x, ids: f(x, ids, 7), specs)
        with tempfile.TemporaryDirectory() as folder, quietly():
            tf.saved_model.save(model, folder)
            return in_new_process(program, ["y_and_dx()"], folder)[0]

    error, ours = (tf.errors.OpError, "not in 0 to"), "-1 is no id: is y from our op?"
    few = "float32, segments = 2:"
    judge(
        gives(of_friend, [], right, "y, then dx, with only the library:", 1e-9, False),
        holds(lambda: not fails(*error, tf.function(f), x, -ids, 7), ours),
        gradient_right(lambda x: f(x, ids[4:], 2), [np.float32(x[:3])], few),
    )


def judge_layer(layer):
    """Judge exercise 2: save a model with two such layers, load it, and compare."""
    x, ids = np.float32([3, -5, -4, 12, -2]), np.int32([2, 0, 2, 0, 3])
    right = [13, 0, 5, 2, 0, 15.2043298, 0, 6.151143, 2]  # p = 2, then 1.2345
    options = {"name": "lengths", "trainable": False, "activity_regularizer": "l2"}

    def model():
        inputs = keras.Input([]), keras.Input([], dtype="int32")
        other = layer(segments=4, p=1.2345, dtype="float64", **options)
        return keras.Model(inputs, [layer(segments=5)(*inputs), other(*inputs)])

    def loaded():
        with tempfile.TemporaryDirectory() as folder:
            model().save(f"{folder}/model.keras")
            return keras.saving.load_model(f"{folder}/model.keras")

    def keeps():
        default, kept = loaded().layers[-2:]
        found = [default.trainable, kept.trainable, kept.name, kept(x, ids).dtype]
        found += [layer(segments=5, autocast=False).autocast]
        whole = kept.activity_regularizer and "name" in default.get_config()
        return found == [True, False, "lengths", "float64", False] and whole

    registered, name = keras.saving.get_registered_name, "segment_norm>SegmentNorm"
    first = "segments = 5, then 4 with p = 1.2345, not saved yet:"
    hint = "the same, saved and loaded: what does Keras hand to `__init__`?"
    judge(
        holds(lambda: registered(layer) == name, f"by which name is it found? {name}"),
        gives(lambda: np.hstack(model()([x, ids])), [], right, first, 1e-5, False),
        gives(lambda: np.hstack(loaded()([x, ids])), [], right, hint, 1e-5, False),
        holds(keeps, "name, dtype or an option is lost: who takes and returns them?"),
    )


def draw_package():
    """The two parts of the package and a file; what has to travel besides the file?"""
    _, axes = plt.subplots(figsize=(8, 2.2))
    here = ["file with the model", "Python: gradient, layer", "library: C++"]
    bars = axes.barh([0, 1.2, 2.1] * 2, 4, 0.8, [0] * 3 + [6] * 3, fc="w", ec="C0")
    axes.bar_label(bars, [*here, here[0], "?", "?"], label_type="center")
    axes.annotate("", (5.9, 0), (4.1, 0), arrowprops={"arrowstyle": "->"})
    axes.set(yticks=[1.65], yticklabels=["package"], frame_on=False, xticks=[2, 8])
    axes.set_xticklabels(["your computer", "your friend's"], weight="bold")
    axes.tick_params(length=0)
