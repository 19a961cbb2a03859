"""Answers to the exercises of lesson 06: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 4

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
LIMIT = (
    "def limit(x, longest):\n"
    "    @tf.custom_gradient\n"
    "    def pass_on(x):\n"
    "        return {y}, lambda dy: {dx}\n"
    "    return pass_on(x)\n"
)


def mistakes(**changed):
    return MISTAKES.format(**{**PARTS, **changed})


def limit(dx, y="tf.identity(x)"):
    return LIMIT.format(dx=dx, y=y)


RIGHT_ROWS = "dy * longest / tf.maximum(tf.norm(dy, axis=1, keepdims=True), longest)"

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
        ("forward", limit(RIGHT_ROWS, y="tf.clip_by_norm(x, longest, axes=[1])")),
        ("longest is 1", limit("tf.clip_by_norm(dy, longest)")),
        ("longest is 1", limit("tf.clip_by_value(dy, -longest, longest)")),
        ("longest is 1", limit("dy * longest / tf.norm(dy, axis=1, keepdims=True)")),
        (
            "longest is 1",
            limit("dy / tf.maximum(tf.reduce_max(tf.abs(dy), 1, keepdims=True), longest)"),
        ),
        ("longest is 1", limit("tf.clip_by_norm(dy, longest, axes=[0])")),
        ("longest is 5", limit("tf.clip_by_norm(dy, 1.0, axes=[1])")),
        (
            "longest is 0.005",
            limit(
                "dy * tf.minimum(1.0, longest / tf.maximum(0.1, "
                "tf.norm(dy, axis=1, keepdims=True)))"
            ),
        ),
        (
            "longest is 5",
            limit(
                "tf.where(tf.reduce_sum(dy**2, 1, keepdims=True) > longest, "
                "dy * longest / tf.norm(dy, axis=1, keepdims=True), dy)"
            ),
        ),
        ("d is 4", limit("tf.clip_by_norm(tf.reshape(dy, [-1, 3]), longest, axes=[1])")),
        (
            "in a graph",
            limit("tf.stack([tf.clip_by_norm(dy[k], longest) for k in range(dy.shape[0])])"),
        ),
        ("n is 3", limit("tf.stack([tf.clip_by_norm(dy[k], longest) for k in range(6)])")),
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
        limit("tf.clip_by_norm(dy, longest, axes=[1])"),
        limit("dy * tf.minimum(1.0, longest / (tf.norm(dy, axis=1, keepdims=True) + 1e-6))"),
        "def limit(x, longest):\n"
        "    @tf.custom_gradient\n"
        "    def shorten(x):\n"
        "        def grad(dy):\n"
        "            length = tf.norm(dy, axis=1)\n"
        "            safe = tf.where(length > longest, length, 1)\n"
        "            short = dy * longest / safe[:, None]\n"
        "            return tf.where((length > longest)[:, None], short, dy)\n"
        "        return tf.identity(x), grad\n"
        "    return shorten(x)\n",
    ],
}
