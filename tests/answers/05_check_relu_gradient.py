"""Answers to the exercises of lesson 05: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 18

WRONG = {
    1: [
        ("power of eps", "def best_step(eps):\n    return eps ** 0.45\n"),
        ("power of eps", "def best_step(eps):\n    return eps ** 0.55\n"),
        ("power of eps", "def best_step(eps):\n    return eps\n"),
        ("power of eps", "def best_step(eps):\n    return 1.5e-8\n"),
        ("factor", "def best_step(eps):\n    return 1000 * eps ** 0.5\n"),
        ("factor", "def best_step(eps):\n    return 0.01 * np.sqrt(eps)\n"),
        ("positive", "def best_step(eps):\n    return -eps**0.5\n"),
        ("one positive", "def best_step(eps):\n    return np.array([eps]) ** 0.5\n"),
        ("factor", "def best_step(eps):\n    return (2 * eps) ** 0.5\n"),
        ("factor", "def best_step(eps):\n    return (eps / 2) ** 0.5\n"),
        ("factor", "def best_step(eps):\n    return 2 * eps**0.5\n"),
        ("factor", "def best_step(eps):\n    return eps**0.5 / 10\n"),
        ("factor", "def best_step(eps):\n    return 1e-4 if eps == 1e-8 else 1e-8\n"),
    ],
    2: [
        (
            "x = 100",
            "def mended_celu(x):\n    return tf.where(x < 0, tf.math.expm1(x), x)\n",
        ),
        (
            "x = 0",
            "def mended_celu(x):\n"
            "    return tf.nn.relu(x) + tf.math.expm1(-tf.nn.relu(-x))\n",
        ),
        (
            "instead of",
            "def mended_celu(x):\n"
            "    return tf.where(x < 0, tf.exp(tf.minimum(x, 0)), x)\n",
        ),
        (
            "tf.function",
            "def mended_celu(x):\n"
            "    return tf.constant(np.where(x < 0, np.expm1(np.minimum(x, 0)), x))\n",
        ),
        (
            "instead of",
            "def mended_celu(x):\n    return tf.nn.relu(x)\n",
        ),
        (
            "not only at x = 0",
            "def mended_celu(x):\n"
            "    @tf.custom_gradient\n"
            "    def f(x):\n"
            "        y = tf.where(x < 0, tf.math.expm1(tf.minimum(x, 0)), x)\n"
            "        return y, lambda dy: tf.exp(tf.minimum(x, 0))\n"
            "    return f(tf.convert_to_tensor(x))\n",
        ),
        (
            "not only at x = 0",
            "def mended_celu(x):\n"
            "    below = tf.stop_gradient(tf.math.expm1(tf.minimum(x, 0)))\n"
            "    return tf.where(x < 0, below, x)\n",
        ),
        (
            "dtype",
            "def mended_celu(x):\n"
            "    x = tf.cast(x, tf.float32)\n"
            "    return tf.where(x < 0, tf.math.expm1(tf.minimum(x, 0)), x)\n",
        ),
        (
            "dtype",
            "def mended_celu(x):\n"
            "    x = tf.cast(x, tf.float64)\n"
            "    return tf.where(x < 0, tf.math.expm1(tf.minimum(x, 0)), x)\n",
        ),
        (
            "shape",
            "def mended_celu(x):\n"
            "    x = tf.convert_to_tensor(x)\n"
            "    return tf.stack([tf.where(e < 0, tf.math.expm1(tf.minimum(e, 0)), e)\n"
            "                     for e in tf.unstack(tf.reshape(x, [-1]))])\n",
        ),
        (
            "instead of",
            "def mended_celu(x):\n"
            "    below = tf.math.expm1(tf.clip_by_value(x, -5.0, 0.0))\n"
            "    return tf.where(x < 0, below, x)\n",
        ),
    ],
    3: [
        ("360", "inputs = np.random.default_rng(0).normal(size=(6, 60))\n"),
        ("60 numbers", "inputs = np.random.default_rng(0).normal(size=(6, 10))\n"),
        ("0 to 5", "inputs = np.array([-1.0, 1.0, 7.0])\n"),
        ("-inf to 6", "inputs = np.array([1.0, 5.5, 7.0])\n"),
        ("0 to inf", "inputs = [-1, 0, 2, 4, 5.5]\n"),
        ("0 numbers", "inputs = np.zeros(0)\n"),
        ("ValueError", 'inputs = ["one", "two"]\n'),
    ],
}
RIGHT = {
    1: [
        "def best_step(eps):\n    return np.sqrt(eps)\n",
        "def best_step(eps):\n    return tf.sqrt(eps)\n",
        "def best_step(eps):\n    return tf.sqrt(tf.constant(eps, tf.float64))\n",
        "def best_step(eps):\n    return 10 ** (np.log10(eps) / 2)\n",
        "def best_step(eps):\n"
        "    grid = np.logspace(-12, 0, 1001)\n"
        "    return min(grid, key=lambda h: h + eps / h)\n",
    ],
    2: [
        "def mended_celu(x):\n    return tf.nn.elu(x)\n",
        "def mended_celu(x):\n"
        "    above = tf.maximum(tf.zeros_like(x), x)\n"
        "    return above + tf.math.expm1(tf.minimum(x, 0))\n",
        "def mended_celu(x):\n"
        "    return tf.nn.relu(x) + tf.math.expm1(tf.minimum(x, 0))\n",
        "def mended_celu(x):\n"
        "    negative = tf.math.expm1(tf.where(x < 0, x, tf.zeros_like(x)))\n"
        "    return tf.where(x < 0, negative, x)\n",
    ],
    3: [
        "inputs = [-3, 5.5, 100]\n",
        "inputs = np.array([[-1.0, 0.0, 1.0], [5.9, 6.0, 6.1]])\n",
        "inputs = tf.constant([-1.0, 5.5, 6.5])\n",
    ],
}
