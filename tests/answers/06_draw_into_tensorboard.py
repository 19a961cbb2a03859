"""Answers to the exercises of lesson 06: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 5

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
REVIVING = """
@tf.custom_gradient
def reviving(z):
    return {y}, lambda dh: {dz}
"""


def mistakes(**changed):
    return MISTAKES.format(**{**PARTS, **changed})


def reviving(dz, y="tf.nn.relu(z)"):
    return REVIVING.format(dz=dz, y=y)


DZ = "dh * tf.where(z > 0, 1.0, tf.where(tf.reduce_all(z <= 0, axis=0), 0.1, 0.0))"

WRONG = {
    1: [
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
    2: [
        ("forward", reviving(DZ, y="tf.nn.leaky_relu(z, 0.1)")),
        ("off for all three", reviving("dh * tf.where(z > 0, 1.0, 0.1)")),
        ("off for all three", reviving("dh * tf.cast(z > 0, z.dtype)")),
        ("off for all three", reviving(DZ.replace("axis=0", "axis=1, keepdims=True"))),
        ("off for all three", reviving(DZ.replace("z <= 0", "z < 0"))),
        ("off for all three", reviving(DZ.replace("axis=0", "axis=None"))),
        ("off for all three", reviving(DZ.replace("reduce_all", "reduce_any"))),
        ("off for all three", reviving(DZ.replace("0.1", "1.0"))),
        ("off for all three", reviving(DZ.replace("dh *", "tf.sign(dh) *"))),
        (
            "a batch of one",
            reviving(
                DZ.replace(
                    "tf.reduce_all(z <= 0, axis=0)",
                    "tf.reduce_sum(tf.cast(z <= 0, tf.int32), axis=0) == 3",
                )
            ),
        ),
        (
            "30 images",
            reviving(
                DZ.replace(
                    "tf.reduce_all(z <= 0, axis=0)",
                    "tf.reduce_mean(tf.cast(z > 0, z.dtype), axis=0) < 0.2",
                )
            ),
        ),
        (
            "in a graph",
            reviving("dh * np.where(z > 0, 1.0, np.where(np.all(z <= 0, axis=0), 0.1, 0.0))"),
        ),
    ],
}
RIGHT = {
    1: [
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
    2: [
        reviving(
            "dh * tf.cast(z > 0, z.dtype) + dh * tf.cast(tf.reduce_max(z, 0) <= 0, z.dtype) / 10"
        ),
        """
def reviving(z):
    off = tf.cast(tf.reduce_all(z <= 0, axis=0), z.dtype)
    return tf.nn.relu(z) + 0.1 * off * (z - tf.stop_gradient(z))
""",
        """
def reviving(z):
    def grad(op, dh):
        z = op.inputs[0]
        dz = dh * tf.cast(z > 0, z.dtype)
        return tf.where(tf.reduce_any(z > 0, axis=0), dz, 0.1 * dh)

    return py_func(lambda z: np.maximum(z, 0), [z], tf.TensorSpec(z.shape, z.dtype), grad=grad)
""",
    ],
}
