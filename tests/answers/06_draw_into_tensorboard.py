"""Answers to the exercises of lesson 06: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10

WRONG = {
    1: [
        (
            "pixels and their order",
            "def sheet(pictures):\n"
            "    n, h, w, _ = pictures.shape\n"
            "    return tf.reshape(tf.transpose(pictures, [2, 0, 1, 3]), [1, h, n * w, 3])\n",
        ),
        (
            "float32",
            "def sheet(pictures):\n"
            "    rows = tf.concat(tf.unstack(pictures), 1)[None]\n"
            "    return tf.cast(rows, tf.float32) / 255\n",
        ),
        (
            "shape",
            "def sheet(pictures):\n    return tf.concat(tf.unstack(pictures), 1)\n",
        ),
        (
            "shape",
            "def sheet(pictures):\n    return tf.concat(tf.unstack(pictures), 0)[None]\n",
        ),
        (
            "numpy",
            "def sheet(pictures):\n    return np.hstack(pictures.numpy())[None]\n",
        ),
        (
            "pixels and their order",
            "def sheet(pictures):\n"
            "    return tf.concat(tf.unstack(pictures)[::-1], 1)[None]\n",
        ),
        (
            "out of bounds",
            "def sheet(pictures):\n"
            "    return tf.concat([pictures[k] for k in range(8)], 1)[None]\n",
        ),
        (
            "pixels",
            "def sheet(pictures):\n"
            "    return tf.reshape(tf.transpose(pictures, [1, 0, 2, 3]), [1, 140, -1, 3])\n",
        ),
        (
            "shape",
            "def sheet(pictures):\n    return np.hstack(final[:len(pictures)])[None]\n",
        ),
        (
            "in a graph",
            "def sheet(pictures):\n"
            "    return tf.concat([one for one in pictures], axis=1)[None]\n",
        ),
        (
            "tf.shape",
            "def sheet(pictures):\n"
            "    n, h, w, _ = pictures.shape\n"
            "    rows = tf.transpose(pictures, [1, 0, 2, 3])\n"
            "    return tf.reshape(rows, [1, h, n * w, 3])\n",
        ),
        (
            "tf.shape",
            "def sheet(pictures):\n    return tf.concat(tf.unstack(pictures), 1)[None]\n",
        ),
        (
            "uint8",
            "def sheet(pictures):\n"
            "    return tf.cast(tf.concat(tf.unstack(pictures), 1)[None], tf.int32)\n",
        ),
        (
            "uint8",
            "def sheet(pictures):\n    return [tf.concat(tf.unstack(pictures), 1)]\n",
        ),
    ],
    2: [
        (
            "largest element",
            "def stretch_grad(op, dy):\n"
            "    x, m = op.inputs[0], tf.reduce_max(op.inputs[0])\n"
            "    largest = tf.cast(x == m, x.dtype)\n"
            "    return dy / m + largest * tf.reduce_sum(dy * x) / m**2\n",
        ),
        (
            "largest element",
            "def stretch_grad(op, dy):\n"
            "    x, m = op.inputs[0], tf.reduce_max(op.inputs[0])\n"
            "    return dy / m - tf.reduce_sum(dy * x) / m**2\n",
        ),
        (
            "largest element",
            "def stretch_grad(op, dy):\n"
            "    x, m = op.inputs[0], tf.reduce_max(op.inputs[0])\n"
            "    largest = tf.cast(x == m, x.dtype)\n"
            "    return dy / m - largest * dy * x / m**2\n",
        ),
        (
            "dy",
            "def stretch_grad(op, dy):\n"
            "    x, m = op.inputs[0], tf.reduce_max(op.inputs[0])\n"
            "    largest = tf.cast(x == m, x.dtype)\n"
            "    return dy / m - largest * tf.reduce_sum(x) / m**2\n",
        ),
        (
            "tf.function",
            "def stretch_grad(op, dy):\n"
            "    x = op.inputs[0].numpy()\n"
            "    m = x.max()\n"
            "    return dy / m - (x == m) * np.sum(dy * x) / m**2\n",
        ),
        (
            "float",
            "def stretch_grad(op, dy):\n"
            "    x, m = op.inputs[0], tf.reduce_max(op.inputs[0])\n"
            "    largest = tf.cast(x == m, tf.float64)\n"
            "    return dy / m - largest * tf.reduce_sum(dy * x) / m**2\n",
        ),
        (
            "largest element",
            "def stretch_grad(op, dy):\n"
            "    x, m = op.inputs[0], tf.reduce_max(op.inputs[0])\n"
            "    big = tf.cast(x == m, x.dtype)\n"
            "    return dy / m - big * tf.reduce_sum((1 - big) * dy * x) / m**2\n",
        ),
        (
            "matrix",
            "def stretch_grad(op, dy):\n"
            "    x, m = op.inputs[0], tf.reduce_max(tf.abs(op.inputs[0]))\n"
            "    largest = tf.cast(x == m, x.dtype)\n"
            "    return dy / m - largest * tf.reduce_sum(dy * x) / m**2\n",
        ),
    ],
    3: [
        (
            "2 are wrong",
            "def draw_mistakes(images, labels, guesses):\n"
            "    return draw(images[:0], labels[:0], guesses[:0])\n",
        ),
        (
            "2 are wrong",
            "def draw_mistakes(images, labels, guesses):\n"
            "    wrong = tf.cast(labels, tf.int64) == guesses\n"
            "    return draw(*[tf.boolean_mask(a, wrong) for a in (images, labels, guesses)])\n",
        ),
        (
            "none is wrong",
            "def draw_mistakes(images, labels, guesses):\n"
            "    return draw(images[3:7:3], labels[3:7:3], guesses[3:7:3])\n",
        ),
        (
            "2 are wrong",
            "def draw_mistakes(images, labels, guesses):\n"
            "    wrong = labels != guesses\n"
            "    return draw(images[wrong], labels[wrong], guesses[wrong])\n",
        ),
        (
            "(8, 140, 120, 3)",
            "def draw_mistakes(images, labels, guesses):\n"
            "    def f(images, labels, guesses):\n"
            "        wrong = labels != guesses\n"
            "        return np_draw(images[wrong], labels[wrong], guesses[wrong])\n"
            "    return py_func(f, [images, labels, guesses],\n"
            "                   tf.TensorSpec([8, 140, 120, 3], tf.uint8))\n",
        ),
        (
            "inside a tf.function",
            "def draw_mistakes(images, labels, guesses):\n"
            "    wrong = np.asarray(labels) != np.asarray(guesses)\n"
            "    return draw(np.asarray(images)[wrong], np.asarray(labels)[wrong],\n"
            "                np.asarray(guesses)[wrong])\n",
        ),
        (
            "2 are wrong",
            "def draw_mistakes(images, labels, guesses):\n"
            "    wrong = tf.cast(labels, tf.int64) != guesses\n"
            "    return draw(tf.boolean_mask(images, wrong), labels, guesses)\n",
        ),
        (
            "all 5 are wrong",
            "def draw_mistakes(images, labels, guesses):\n"
            "    wrong = tf.cast(truth, tf.int64) != guesses\n"
            "    return draw(*[tf.boolean_mask(a, wrong) for a in (images, labels, guesses)])\n",
        ),
        (
            "uint8",
            "def draw_mistakes(images, labels, guesses):\n"
            "    wrong = tf.cast(labels, tf.int64) != guesses\n"
            "    inputs = images, labels, guesses\n"
            "    pictures = draw(*[tf.boolean_mask(a, wrong) for a in inputs])\n"
            "    return tf.cast(pictures, tf.int32)\n",
        ),
        (
            "all 5 are wrong",
            "def draw_mistakes(images, labels, guesses):\n"
            "    wrong = tf.abs(tf.cast(labels, tf.int64) - guesses) > 1\n"
            "    inputs = images, labels, guesses\n"
            "    return draw(*[tf.boolean_mask(a, wrong) for a in inputs])\n",
        ),
    ],
}
RIGHT = {
    1: [
        "def sheet(pictures):\n"
        "    shape = tf.shape(pictures)\n"
        "    rows = tf.transpose(pictures, [1, 0, 2, 3])\n"
        "    return tf.reshape(rows, [1, shape[1], -1, 3])\n",
        "def sheet(pictures):\n"
        "    n, h, w, c = [tf.shape(pictures)[k] for k in range(4)]\n"
        "    rows = tf.einsum('nhwc->hnwc', tf.cast(pictures, tf.int32))\n"
        "    return tf.cast(tf.reshape(rows, [1, h, n * w, c]), tf.uint8)\n",
        "def sheet(pictures):\n"
        "    columns = tf.transpose(pictures, [0, 2, 1, 3])\n"
        "    one = tf.reshape(columns, [-1, tf.shape(pictures)[1], 3])\n"
        "    return tf.transpose(one, [1, 0, 2])[None]\n",
    ],
    2: [
        "def stretch_grad(op, dy):\n"
        "    x, y, m = op.inputs[0], op.outputs[0], tf.reduce_max(op.inputs[0])\n"
        "    through_m = -tf.reduce_sum(dy * y) / m\n"
        "    return dy / m + tf.where(y == 1, through_m, tf.zeros_like(x))\n",
        "def stretch_grad(op, dy):\n"
        "    x = op.inputs[0]\n"
        "    return gradient(lambda x: dy * x / tf.reduce_max(x), x)\n",
    ],
    3: [
        "def draw_mistakes(images, labels, guesses):\n"
        "    def f(images, labels, guesses):\n"
        "        wrong = labels != guesses\n"
        "        return np_draw(images[wrong], labels[wrong], guesses[wrong])\n"
        "    return py_func(f, [images, labels, guesses],\n"
        "                   tf.TensorSpec([None, 140, 120, 3], tf.uint8))\n",
        "def draw_mistakes(images, labels, guesses):\n"
        "    at = tf.where(tf.cast(labels, tf.int64) != guesses)[:, 0]\n"
        "    return draw(tf.gather(images, at), tf.gather(labels, at),\n"
        "                tf.gather(guesses, at))\n",
    ],
}
