"""Answers to the exercises of lesson 07: wrong ones with a word of the hint, right ones
of another form."""

FILL = """
    for (int i = 0; i < x.NumElements(); ++i) {
      y_values(i) = T(0);
      index_values(i) = i;
    }
"""


def loop(code):
    return f"loop = '''{code}'''\n"


WRONG = {
    1: [
        (
            "float32, length 2",
            "def my_grad(op, dy, dindices):\n"
            "    return dy * tf.one_hot(0, tf.size(dy), dtype=tf.float64)\n",
        ),
        (
            "shapes",
            "def my_grad(op, dy, dindices):\n"
            "    return dy * tf.one_hot(0, 3, dtype=dy.dtype)\n",
        ),
        (
            "zero_out",
            "def my_grad(op, dy, dindices):\n    return ops.zero_out(dy).y\n",
        ),
        (
            "multiplied by dy",
            "def my_grad(op, dy, dindices):\n"
            "    return tf.one_hot(0, tf.size(dy), dtype=dy.dtype)\n",
        ),
        (
            "3 were given",
            "def my_grad(op, dy):\n"
            "    return dy * tf.one_hot(0, tf.size(dy), dtype=dy.dtype)\n",
        ),
        (
            "element",
            "def my_grad(op, dy, dindices):\n"
            "    return dy * tf.one_hot(1, tf.size(dy), dtype=dy.dtype)\n",
        ),
        (
            "for x = [-3.0, 0.0, 4.0]",
            "def my_grad(op, dy, dindices):\n"
            "    return tf.where(op.inputs[0] == op.outputs[0], dy, "
            "tf.zeros_like(dy))\n",
        ),
        (
            "for x = [0.0, 7.0]",
            "def my_grad(op, dy, dindices):\n"
            "    return tf.where(op.outputs[0] != 0, dy, tf.zeros_like(dy))\n",
        ),
        (
            "for x = [-3.0, 0.0, 4.0]",
            "def my_grad(op, dy, dindices):\n    return dy * tf.sign(op.outputs[0])\n",
        ),
        (
            "for x = [-3.0, 0.0, 4.0]",
            "def my_grad(op, dy, dindices):\n"
            "    return dy * op.outputs[0] / op.inputs[0]\n",
        ),
        (
            "no Python",
            "from utils import like, py_func\n\n\n"
            "def my_grad(op, dy, dindices):\n"
            "    return py_func(lambda d: d * (np.arange(len(d)) == 0), [dy], "
            "like(dy))\n",
        ),
        (
            "dindices is None",
            "def my_grad(op, dy, dindices):\n"
            "    return (dy + tf.cast(dindices, dy.dtype)) "
            "* tf.one_hot(0, tf.size(dy), dtype=dy.dtype)\n",
        ),
        (
            "tf.size(dy) finds it",
            "def my_grad(op, dy, dindices):\n"
            "    return dy * tf.one_hot(0, dy.shape[0], dtype=dy.dtype)\n",
        ),
    ],
    2: [
        ("index 2", loop(FILL + "    y_values(2) = x.vec<T>()(2);\n")),
        (
            "index 3",
            loop(FILL + "    y_values(x.NumElements()) = x.vec<T>()(x.NumElements());"),
        ),
        (
            "element 0",
            loop(FILL + "    y_values(0) = x.vec<T>()(x.NumElements() - 1);\n"),
        ),
        (
            "y is wrong",
            loop(
                "    for (int i = 0; i < x.NumElements(); ++i) index_values(i) = i;\n"
                "    const int last = x.NumElements() - 1;\n"
                "    y_values(last) = x.vec<T>()(last);\n"
            ),
        ),
        (
            "indices",
            loop(
                "    const int last = x.NumElements() - 1;\n"
                "    for (int i = 0; i < last; ++i) y_values(i) = T(0);\n"
                "    y_values(last) = x.vec<T>()(last);\n"
            ),
        ),
        (
            "index 3 was written",
            loop(FILL + "    y_values.data()[x.NumElements()] = T(0);\n"),
        ),
        (
            "float, 3 elements: y is wrong at element 2",
            loop(
                "    T best = x.vec<T>()(0);\n"
                "    for (int i = 0; i < x.NumElements(); ++i) {\n"
                "      y_values(i) = T(0);\n"
                "      index_values(i) = i;\n"
                "      best = std::max(best, x.vec<T>()(i));\n"
                "    }\n"
                "    y_values(x.NumElements() - 1) = best;\n"
            ),
        ),
        ("read-only", loop("    x.vec<T>()(0) = T(0);\n")),
        (
            "compile",
            loop(FILL + "    y_values(last) = x.vec<T>()(last);\n"),
        ),
    ],
}
RIGHT = {
    1: [
        "def my_grad(op, dy, dindices):\n"
        "    return tf.concat([dy[:1], tf.zeros_like(dy[1:])], axis=0)\n",
        "def my_grad(op, dy, dindices):\n"
        "    return tf.where(tf.range(tf.size(dy)) == 0, dy, tf.zeros_like(dy))\n",
    ],
    2: [
        loop(
            "    for (int i = 0; i < x.NumElements(); ++i) {\n"
            "      y_values(i) = i + 1 < x.NumElements() ? T(0) : x.vec<T>()(i);\n"
            "      index_values(i) = i;\n"
            "    }\n"
        ),
        loop(
            "    auto numbers = x.vec<T>();\n"
            "    for (int64_t i = numbers.size() - 1; i >= 0; --i) {\n"
            "      const bool is_last = i == numbers.size() - 1;\n"
            "      y_values(i) = is_last ? numbers(i) : T(0);\n"
            "      index_values(i) = i;\n"
            "    }\n"
        ),
        loop(
            "    const int64_t n = x.dim_size(0);\n"
            "    y_values.setZero();\n"
            "    for (int64_t i = 0; i < x.shape().dim_size(0); ++i) {\n"
            "      index_values.data()[i] = i;\n"
            "    }\n"
            "    y->flat<T>()(y->NumElements() - 1) = x.flat<T>()(n - 1);\n"
        ),
        loop(
            "    auto numbers = x.flat<T>();\n"
            "    const int64_t last = numbers.dimension(0) - 1;\n"
            "    for (int64_t i = 0; i <= last; ++i) {\n"
            "      y_values.data()[i] = i < last ? T(0) : numbers.data()[i];\n"
            "      index_values(i) = i;\n"
            "    }\n"
        ),
    ],
}
