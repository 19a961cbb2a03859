"""The seven ways to make an op that lesson 13 compares; why some fields are not light.

A way takes a tensor x and the function to compute, by default `powers`, and gives a
list: x squared and x cubed.
"""

from notebooks.modules.probes import outcome, powers
from utils import like, load_op, py_func, tf


def slope(x, d_square, d_cube):
    """The gradient of `powers`, made of TensorFlow's ops."""
    return 2 * x * d_square + 3 * x * x * d_cube


def tf_ops(x, func=powers):
    return func(x)


def decorated_tf_ops(x, func=powers):
    """TensorFlow's own decorator around TensorFlow's ops.

    `stop_gradient` hides the gradient of the ops inside. Without it the two gradients
    would be equal, and nobody would see where ours is not used.
    """

    @tf.custom_gradient
    def op(x):
        return func(tf.stop_gradient(x)), lambda *dys: slope(x, *dys)

    return op(x)


def decorated_numpy(x, func=powers):
    """The decorator around NumPy, with static shapes put in by hand."""

    @tf.custom_gradient
    def op(x):
        outputs = tf.numpy_function(func, [x], [x.dtype] * 2)
        for y in outputs:
            y.set_shape(x.shape)
        return outputs, lambda *dys: slope(x, *dys)

    return op(x)


def numpy_function(x, func=powers):
    return tf.numpy_function(func, [x], [x.dtype] * 2)


def py_function(x, func=powers):
    return tf.py_function(func, [x], [x.dtype] * 2)


def our_py_func(x, func=powers):
    def grad(op, *dys):
        return slope(op.inputs[0], *dys)

    return py_func(func, [x], [like(x)] * 2, grad=grad)


def cpp_op():
    """The way of an op in C++, once it is compiled."""
    module = load_op("powers.cc")

    @module.RegisterGradient("Powers")
    def powers_grad(op, *dys):
        return slope(op.inputs[0], *dys)

    return lambda x, func=None: module.powers(x)  # what it computes is fixed


def all_ways():
    return {
        "TensorFlow ops": tf_ops,
        "decorated TF ops": decorated_tf_ops,
        "decorated NumPy": decorated_numpy,
        "numpy_function": numpy_function,
        "py_function": py_function,
        "our py_func": our_py_func,
        "C++ op": cpp_op(),
    }


# What no probe asks: is the gradient one's own, does the row hold for a function of
# NumPy's, may it compute what TensorFlow has no op for, does TFLite (phones) take it?
FACTS = _OWN, _NUMPY, _NEW, _TFLITE = (
    "own_gradient",
    "calls_numpy",
    "new_to_tensorflow",
    "tflite_for_phones",
)
_OFFERS = {
    "TensorFlow ops": {_TFLITE},
    "decorated TF ops": {_OWN, _TFLITE},
    "decorated NumPy": {_OWN, _NUMPY, _NEW},
    # No gradient is among its passed probes. Those of `py_function` hold for
    # TensorFlow's ops: around NumPy it has no gradient either.
    "numpy_function": {_NUMPY, _NEW},
    "our py_func": {_OWN, _NUMPY, _NEW},
    "C++ op": {_OWN, _NEW},
}


def offers(name, row):
    """The needs that a way meets: what it is made for, and its passed probes."""
    passed = {need for need, (word, _) in row.items() if word == "yes"}
    return passed | _OFFERS.get(name, set())


# Why a field of the table is not light: (way, need): why, and what to do about it.
_NO_GRADIENT = (
    "PyFunc is registered as an op without a gradient",
    "tf.custom_gradient or py_func around it",
)
_DTYPE = (
    "in eager mode nobody compares the result with Tout",
    "result.astype(x.dtype) in the function",
)
_SHAPE = ("nobody knows what Python will return", "y.set_shape(x.shape)")
_LEAK = (
    "the gradient stays registered for ever, and holds the graph",
    "build each graph once",
)
_NUMBER = (
    "the file holds a number, for which the other process has a function",
    "TensorFlow's ops or a C++ op; py_func refuses",
)
_KERAS = (
    "a keras.Input has no numbers: * takes it, an op or tf.square does not",
    "call the op inside a Keras layer",
)
_XLA = (
    "XLA compiles TensorFlow's own ops only",
    "do without XLA: Model.compile(jit_compile=False)",
)
_CODE = (
    "the file cannot hold Python code; saving gives no error, the call does",
    "TensorFlow's ops or a C++ op",
)
_TAPE = ("its tape serves one use, each row is another", "py_func")
WHY = {
    **{
        (way, "keras_input"): _KERAS
        for way in (
            "decorated TF ops",
            "decorated NumPy",
            "numpy_function",
            "py_function",
            "C++ op",
        )
    },
    **{
        (way, "xla"): _XLA
        for way in (
            "decorated NumPy",
            "numpy_function",
            "py_function",
            "our py_func",
            "C++ op",
        )
    },
    ("our py_func", "saved_model"): _CODE,
    ("py_function", "saved_model"): _CODE,
    ("py_function", "jacobian"): _TAPE,
    ("py_function", "vectorized_map"): _TAPE,
    ("numpy_function", "second_order"): _NO_GRADIENT,
    ("decorated TF ops", "vectorized_map"): (
        "the map builds each op anew, without our gradient's name",
        "tf.map_fn, or give the op the whole batch",
    ),
    ("decorated TF ops", "forward_mode"): (
        "the decorator has no rule for forward mode, which sees the ops inside",
        "tape.jacobian",
    ),
    ("decorated TF ops", "leaks_nothing"): _LEAK,
    ("decorated NumPy", "vectorized_map"): (
        "the map builds each op anew, without our gradient's name",
        "py_func, or let the NumPy function take the whole batch",
    ),
    ("decorated NumPy", "forward_mode"): (
        "the decorator has no rule for forward mode, so NumPy is a constant",
        "py_func, or tape.jacobian",
    ),
    ("decorated NumPy", "dtype_checked"): _DTYPE,
    ("decorated NumPy", "leaks_nothing"): _LEAK,
    ("decorated NumPy", "saved_model"): _NUMBER,
    ("numpy_function", "eager"): _NO_GRADIENT,
    ("numpy_function", "inner_tape"): _NO_GRADIENT,
    ("numpy_function", "outer_tape"): _NO_GRADIENT,
    ("numpy_function", "session"): _NO_GRADIENT,
    ("numpy_function", "jacobian"): _NO_GRADIENT,
    ("numpy_function", "vectorized_map"): _NO_GRADIENT,
    ("numpy_function", "forward_mode"): _NO_GRADIENT,
    ("numpy_function", "several_outputs"): _NO_GRADIENT,
    ("numpy_function", "static_shape"): _SHAPE,
    ("numpy_function", "dtype_checked"): _DTYPE,
    ("numpy_function", "saved_model"): _NUMBER,
    ("py_function", "second_order"): (
        "its tape is used up by the first derivative",
        "tf.custom_gradient, with a gradient of TensorFlow's ops",
    ),
    ("py_function", "static_shape"): _SHAPE,
}
KINDS = {"yes": "works", "error": "refuses", "None": "SILENT", "wrong": "SILENT"}


def try_all(ways, probe):
    """Print what each way answers to one more probe."""
    for name, way in ways.items():
        print(f"{probe.__name__}, {name}: {outcome(way, probe)[0]}")


def nearly(can, needs):
    """Where no way meets all needs: those that lack one, with a remedy for it."""
    lines = ["none: drop a need"]
    for name, offered in can.items():
        missing = needs - offered
        if len(missing) == 1 and (name, *missing) in WHY:
            remedy = WHY[name, *missing][1]
            lines.append(f"{name}, but for {missing.pop()}: {remedy}")
    return lines


def explain(found, kind="SILENT"):
    """Print each reason once, with the remedy and the fields of that kind."""
    fields = {}
    for way, row in sorted(found.items()):
        for need, (word, reason) in sorted(row.items()):
            if KINDS[word] == kind:
                unforeseen = reason, "on other machines this works"
                why = WHY.get((way, need), unforeseen)
                fields.setdefault(why, []).append((way, need))
    for (why, remedy), where in fields.items():
        ways = sorted({way for way, _ in where})
        needs = sorted({need.replace("_", " ") for _, need in where})
        print(f"{', '.join(ways)}: {', '.join(needs)}")
        print(f"    why:    {why}\n    remedy: {remedy}")


def draw_table(found):
    """The table as a picture: lightness, sign and word say the same thing."""
    import matplotlib.pyplot as plt

    looks = {
        "works": ("#f2f2f2", "black", "✓"),
        "refuses": ("#f0c04c", "black", "!"),
        "SILENT": ("#8c1515", "white", "✗"),
    }
    needs = list(next(iter(found.values())))
    fig, ax = plt.subplots(figsize=(9, 3.2))
    for row, answers in enumerate(found.values()):
        for column, (word, _) in enumerate(answers.values()):
            colour, ink, sign = looks[KINDS[word]]
            ax.bar(column, 0.9, 0.92, row - 0.45, color=colour)
            text = f"{sign}\n{word}"
            ax.text(column, row, text, ha="center", va="center", color=ink, size=7)
    labels = [need.replace("_", " ") for need in needs]
    ax.set_xticks(range(len(labels)), labels, rotation=40, ha="left")
    ax.set_yticks(range(len(found)), found)
    ax.set(ylim=(len(found) - 0.5, -0.5), xlim=(-0.5, len(needs) - 0.5))
    ax.xaxis.tick_top()
    for name, (colour, _, sign) in looks.items():
        ax.bar(0, 0, color=colour, label=f"{sign} {name.lower()}")
    fig.legend(loc="outside lower center", ncols=3)
