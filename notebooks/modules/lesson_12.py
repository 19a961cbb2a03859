"""What lesson 12 needs besides its package: processes, a picture, and two checks."""

import tempfile
from pathlib import Path

import keras
import matplotlib.pyplot as plt
import numpy as np

from custom_ops.cpp_op import _go_on_without_compiler
from utils import compile_command, gives, gradient, holds, judge, tf

from .lesson_12_worker import attempt, differentiate
from .processes import load_early, start
from .quiet import quietly

load_early()
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
    """What each of these calls returns in a program elsewhere, or its error."""
    return start(attempt, program, calls, str(folder))[1].recv()


def judge_soft_maximum(function, library):
    """Judge exercise 1: values here, and what a process with only the library finds."""
    x, ids = np.array([2, 3, 2.1, -5, 2.9, 80, 79.9]), np.int32([2, 0, 2, 6, 0, 1, 1])
    y = np.array([np.logaddexp.reduce(10 * x[ids == s]) / 10 for s in range(7)])
    few, dy = np.float32([2, 3, 4]), np.array([1, -2, 3, 0.5, 4, 0, -1])
    dx = dy[ids] * np.exp(10 * (x - y[ids]))

    def refuses_an_id():
        try:
            tf.function(function)(x, ids - 1, 7)
        except tf.errors.InvalidArgumentError as error:
            return "not in 0 to" in str(error)

    def in_branch(x, ids):
        none = tf.zeros(7, x.dtype)
        return tf.cond(tf.size(x) > 0, lambda: function(x, ids, 7), lambda: none)

    def of_friend():
        model = tf.Module()
        specs = tf.TensorSpec([None], tf.float64), tf.TensorSpec([None], tf.int32)
        model.call = tf.function(in_branch, specs)
        with tempfile.TemporaryDirectory() as folder, quietly():
            tf.saved_model.save(model, folder)
            said = start(differentiate, str(library), folder, x, ids, dy)[1].recv()
        bare = "AssertionError, as for `bare`: where is a `tf.function` needed?"
        return bare if str(said) == "AssertionError" else said

    def second(x):  # of one customer: 10 p (1 - p) and -10 p (1 - p) with p = 1/2
        both = np.int32([0, 0])
        return gradient(lambda x: gradient(lambda x: function(x, both, 1), x)[0], x)

    here = "3 customers saw one offer each; `segments` is 3, a number and no tensor:"
    hint = "called in a tf.cond; y, then dx, of a friend who has only the library:"
    judge(
        gives(lambda x: function(x, [2, 0, 1], 3), [few], few[[1, 2, 0]], here),
        holds(refuses_an_id, "an id of -1 is not refused: is it our op that gives y?"),
        gives(of_friend, [], np.concatenate([y, dx]), hint, 1e-9, graph=False),
        gives(second, [np.float32([2, 2])], [2.5, -2.5], "second derivative, float32:"),
    )


def judge_layer(layer):
    """Judge exercise 2: save a model with two such layers, load it, and compare."""
    named = {"name": "lengths", "trainable": False, "dtype": "float64"}
    options = {**named, "segments": 4, "p": 1.537}
    x, ids = np.float32([3, -5, -4, 12, -2]), np.int32([2, 0, 2, 0, 3])
    right = [13, 0, 5, 2, 0, 13.9498769, 0, 5.5245401, 2]

    def loaded():
        inputs = keras.Input([]), keras.Input([], dtype="int32")
        layers = layer(segments=5), layer(**options, activity_regularizer="l2")
        model = keras.Model(inputs, [one(*inputs) for one in layers])
        with tempfile.TemporaryDirectory() as folder:
            model.save(f"{folder}/model.keras")
            return keras.saving.load_model(f"{folder}/model.keras")

    def keeps():
        default, kept = loaded().layers[-2:]
        same = all(getattr(kept, name) == value for name, value in named.items())
        same = same and default.trainable and kept(x, ids).dtype == kept.dtype
        return same and kept.activity_regularizer is not None

    registered, name = keras.saving.get_registered_name, "segment_norm>SegmentNorm"
    hint = "loaded, with segments = 5, then 4: what does Keras hand to `__init__`?"
    lost = "name, trainable, dtype or the regularizer is lost: who returns them?"
    judge(
        holds(lambda: registered(layer) == name, f"by which name is it found? {name}"),
        gives(lambda: np.concatenate(loaded()([x, ids])), [], right, hint, 1e-5, False),
        holds(lambda: keeps() and "name" in layer(segments=5).get_config(), lost),
    )


def draw_package(library="?", python="?"):
    """The two parts of the package and a file: here, and what is needed elsewhere."""
    _, axes = plt.subplots(figsize=(8, 2.6))

    def box(x, y, width, height, text, style="-"):
        axes.add_patch(plt.Rectangle((x, y), width, height, fc="w", ec="C0", ls=style))
        axes.text(x + width / 2, y + height / 2, text, ha="center", va="center")

    here = 0, "your computer", "-", ("library\n\nC++", "Python\n\ngradient\nlayer")
    for x, whose, style, texts in (here, (6, "your friend's", "--", (library, python))):
        axes.text(x + 2, 4.25, whose, ha="center", weight="bold")
        box(x, 1.3, 4, 2.7, "", style)
        box(x + 0.2, 1.5, 1.7, 1.9, texts[0], style)
        box(x + 2.1, 1.5, 1.7, 1.9, texts[1], style)
        box(x, 0, 4, 0.9, "file with the model")
    axes.text(2, 3.7, "package", ha="center", va="center")
    axes.annotate("", (5.9, 0.45), (4.1, 0.45), arrowprops={"arrowstyle": "->"})
    axes.set(xlim=(-0.2, 10.2), ylim=(-0.2, 4.6))
    axes.axis("off")
