"""Answers to the template's exercises: wrong ones with a word of the hint, right ones
of another form."""

WRONG = {
    1: [
        ("slope", "def cube_grad(op, dy):\n    return 3 * op.inputs[0] * dy\n"),
        ("multiplied by dy", "def cube_grad(op, dy):\n    return 3 * op.inputs[0]**2\n"),
        ("slope", "def cube_grad(op, dy):\n    return op.inputs[0] ** 3 * dy\n"),
        ("NumPy", "def cube_grad(op, dy):\n    return 3 * np.square(op.inputs[0]) * dy\n"),
    ],
    2: [
        ("more a", "def product_grad(op, dy):\n    a, b = op.inputs\n    return a * dy, b * dy"),
        ("more a", "def product_grad(op, dy):\n    return op.inputs"),
        ("2 inputs", "def product_grad(op, dy):\n    a, b = op.inputs\n    return a * b * dy"),
    ],
}
RIGHT = {
    1: [
        "def cube_grad(op, dy):\n    return dy * 3 * tf.square(op.inputs[0])\n",
        "def cube_grad(op, dy):\n    x = op.inputs[0]\n    return x * x * (dy + 2 * dy)",
        "cube_grad = lambda op, dy: 3 * dy * op.inputs[0] * op.inputs[0]",
    ],
    2: [
        "def product_grad(op, dy):\n    return [dy * x for x in reversed(op.inputs)]",
        "def product_grad(op, dy):\n    a, b = op.inputs\n    return [b * dy, dy * a]",
    ],
}
