"""Answers to the exercises of lesson 06: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 14

SPEC = "tf.TensorSpec([1, None, None, 3], tf.uint8)"
MISTAKES = (
    "def draw_mistakes(images, labels, scores):\n"
    "    def f(images, labels, scores):\n"
    "        answers = {answers}\n"
    "        wrong = {wrong}\n"
    "        titles = [{title} for a, b in zip(labels[wrong], answers[wrong])]\n"
    "        return np_digits({images}, titles)\n"
    f"    return py_func(f, [images, labels, scores], {SPEC})\n"
)
PARTS = {
    "answers": "scores.argmax(axis=1)",
    "wrong": "answers != labels",
    "title": "f'{a}, not {b}'",
    "images": "images[wrong]",
}
BALANCED = """
@tf.custom_gradient
def balanced(z):
    return {y}, lambda dz: {dz}
"""


def mistakes(**changed):
    return MISTAKES.format(**{**PARTS, **changed})


def balanced(dz, y="tf.identity(z)"):
    return BALANCED.format(dz=dz, y=y)


DZ = "dz - tf.reduce_mean(dz, axis=0)"

WRONG = {
    1: [
        ("forward", balanced(DZ, y="tf.nn.relu(z)")),
        ("forward", balanced(DZ, y="z - tf.reduce_mean(z, axis=0)")),
        ("three images", balanced("dz")),
        ("three images", balanced("tf.reduce_mean(dz, axis=0) - dz")),
        ("three images", balanced("dz - tf.reduce_mean(dz)")),
        ("three images", balanced("dz - tf.reduce_mean(dz, axis=1, keepdims=True)")),
        ("three images", balanced("dz - tf.reduce_mean(z, axis=0)")),
        ("three images", balanced("0 * dz + tf.reduce_mean(dz, axis=0)")),
        ("three images", balanced("tf.where(z > 0, dz - tf.reduce_mean(dz, axis=0), 0.0)")),
        ("in a graph", balanced("dz - np.mean(dz, axis=0)")),
        ("one image", balanced("dz - tf.reduce_sum(dz, axis=0) / 3")),
    ],
    2: [
        ("3 of 12", mistakes(wrong="answers == labels")),
        ("3 of 12", mistakes(title="f'{b}, not {a}'")),
        ("3 of 12", mistakes(images="images")),
        ("3 of 12", mistakes(answers="scores.argmin(axis=1)")),
        ("3 of 12", mistakes(answers="scores.astype(int).argmax(axis=1)")),
        ("3 of 12", mistakes(title="f'{a}'")),
        ("0 of 9", mistakes(wrong="[1, 4, 8]")),
        ("9 of 30", mistakes(wrong="np.flatnonzero(answers != labels)[:3]")),
        ("0 of 9", mistakes(wrong="[k for k in range(12) if answers[k] != labels[k]]")),
        (
            "3 of 12",
            mistakes(
                wrong="sorted(np.flatnonzero(answers != labels), key=lambda k: -scores[k].max())"
            ),
        ),
        (
            "in a graph",
            "def draw_mistakes(images, labels, scores):\n"
            "    def f(images, labels, scores):\n"
            "        answers = [scores[k].argmax() for k in range(n)]\n"
            "        wrong = [k for k in range(n) if answers[k] != labels[k]]\n"
            "        titles = [f'{labels[k]}, not {answers[k]}' for k in wrong]\n"
            "        return np_digits(images[wrong], titles)\n"
            "    n = images.shape[0]\n"
            f"    return py_func(f, [images, labels, scores], {SPEC})\n",
        ),
        (
            "in a graph",
            "def draw_mistakes(images, labels, scores):\n"
            "    answers = np.argmax(scores, axis=1)\n"
            "    wrong = answers != labels\n"
            "    titles = [f'{a}, not {b}' for a, b in zip(labels[wrong], answers[wrong])]\n"
            "    return tf.constant(np_digits(images[wrong], titles))\n",
        ),
    ],
}
RIGHT = {
    1: [
        balanced("dz - tf.reduce_sum(dz, 0) / tf.cast(tf.shape(dz)[0], dz.dtype)"),
        """
def balanced(z):
    mean = tf.reduce_mean(z, axis=0)
    return z - mean + tf.stop_gradient(mean)
""",
        """
def balanced(z):
    def grad(op, dz):
        return py_func(lambda dz: dz - dz.mean(axis=0), [dz], spec)

    spec = tf.TensorSpec(z.shape, z.dtype)
    return py_func(np.copy, [z], spec, grad=grad)
""",
    ],
    2: [
        "def draw_mistakes(images, labels, scores):\n"
        "    answers = tf.argmax(scores, axis=1)\n"
        "    wrong = tf.cast(labels, tf.int64) != answers\n"
        "    inputs = [tf.boolean_mask(a, wrong) for a in (images, labels, answers)]\n"
        "    def f(images, labels, answers):\n"
        "        titles = [f'{a}, not {b}' for a, b in zip(labels, answers)]\n"
        "        return np_digits(images, titles)\n"
        f"    return py_func(f, inputs, {SPEC})\n",
        "def draw_mistakes(images, labels, scores):\n"
        "    def f(images, labels, scores):\n"
        "        answers = np.argmax(scores, 1)\n"
        "        rows = [k for k in range(len(labels)) if answers[k] != labels[k]][:8]\n"
        "        titles = [str(labels[k]) + ', not ' + str(answers[k]) for k in rows]\n"
        "        return np_digits(images[rows], titles)\n"
        "    return tf.numpy_function(f, [images, labels, scores], tf.uint8)\n",
    ],
}
