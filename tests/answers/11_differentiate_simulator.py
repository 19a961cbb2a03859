"""Answers to the exercises of lesson 11: wrong ones with a word of the hint, right
ones of another form."""

CELLS = 0, 1

ANGLE = "def angle_grad(op, dE):\n    M, e = op.inputs\n    E = op.outputs[0]\n"
JUMP = "def jump(state, dy):\n    return state + [*dy, 0, 0]\n\n\n"
SLOPES = (
    JUMP + "def backward(t, state, saved, b, c):\n"
    "    s, i = saved(t)\n    worth_s, worth_i = state[:2]\n"
    "    J = np.array([[-b * i, -b * s], [b * i, b * s - c]])\n"
    "    worth = np.array([worth_s, worth_i])\n"
)

WRONG = {
    1: [
        # e in place of the equation's derivative by E
        ("each term", ANGLE + "    return dE * (1 - e * tf.cos(E)), dE * tf.sin(E)\n"),
        ("each term", ANGLE + "    dM = dE / (1 - e * tf.cos(M))\n    return dM, dM * tf.sin(M)\n"),
        # E held fixed
        ("What else in it moves", ANGLE + "    return dE / (1 - e * tf.cos(E)), dE * tf.sin(E)\n"),
        (
            "What else in it moves",
            ANGLE + "    dM = dE / (1 - e * tf.cos(E))\n    return dM, -dM * tf.sin(E)\n",
        ),
        # forgets the upstream gradient
        ("each term", ANGLE + "    dM = 1 / (1 - e * tf.cos(E))\n    return dM, dM * tf.sin(E)\n"),
        # cut off where the orbit is long and the planet near the sun
        (
            "each term",
            ANGLE + "    dM = dE / tf.maximum(1 - e * tf.cos(E), 0.01)\n"
            "    return dM, dM * tf.sin(E)\n",
        ),
        # takes 1 − e cos E for positive, as it is for every e below 1
        (
            "use that E",
            ANGLE + "    dM = dE / tf.abs(1 - e * tf.cos(E))\n    return dM, dM * tf.sin(E)\n",
        ),
        # runs the solver again
        (
            "use that E",
            ANGLE + "    E = py_func(find_angle, [M, e], like(M))\n"
            "    dM = dE / (1 - e * tf.cos(E))\n    return dM, dM * tf.sin(E)\n",
        ),
        # differences of the solver
        (
            "use that E",
            ANGLE + "    dM = dE / (1 - e * tf.cos(E))\n\n"
            "    def slope(M, e):\n"
            "        return (find_angle(M, e + 1e-5) - find_angle(M, e - 1e-5)) / 2e-5\n"
            "\n    return dM, dE * py_func(slope, [M, e], like(M))\n",
        ),
    ],
    2: [
        ("four slopes", JUMP + "def backward(t, state, saved, b, c):\n    pass\n"),
        # changes the state in place, and returns nothing
        (
            "returned None",
            SLOPES + "    B = np.array([[-s * i, 0], [s * i, -i]])\n"
            "    return np.concatenate([-worth @ J, -worth @ B])\n\n\n"
            "def jump(state, dy):\n    state[:2] += dy\n",
        ),
        # J instead of its transpose
        (
            "worth",
            SLOPES + "    return [*(-J @ worth),\n"
            "            (worth_s - worth_i) * s * i, worth_i * i]\n",
        ),
        # at t = 2 only the direct part is left
        (
            "the jump",
            SLOPES + "    return [*(-worth @ J),\n"
            "            (worth_s - worth_i) * s * i, worth_i * i]\n\n\n"
            "def jump(state, dy):\n    return np.array([*dy, *state[2:]])\n",
        ),
        # those who recover are forgotten
        (
            "worth",
            SLOPES + "    J[1, 1] = b * s\n    return [*(-worth @ J),\n"
            "            (worth_s - worth_i) * s * i, worth_i * i]\n",
        ),
        ("b: which slopes", SLOPES + "    return [*(-worth @ J), -worth_i * s * i, worth_i * i]\n"),
        # b of one run, written as a number
        (
            "b: which slopes",
            SLOPES.replace("-b * s]", "-1.7 * s]") + "    return [*(-worth @ J),\n"
            "            (worth_s - worth_i) * s * i, worth_i * i]\n",
        ),
        (
            "b: which slopes",
            SLOPES + "    return [*(-worth @ J),\n"
            "            (worth_i - worth_s) * s * i, worth_i * i]\n",
        ),
        (
            "c: which slopes",
            SLOPES + "    return [*(-worth @ J),\n"
            "            (worth_s - worth_i) * s * i, -worth_i * i]\n",
        ),
    ],
}

RIGHT = {
    1: [
        "def angle_grad(op, dE):\n"
        "    (M, e), (E,) = op.inputs, op.outputs\n"
        "    F_E = 1 - e * tf.cos(E)\n"
        "    return [dE / F_E, dE * tf.sin(E) / F_E]\n",
        "def angle_grad(op, dE):\n"
        "    M, e = op.inputs\n"
        "    E = op.outputs[0]\n"
        "    with tf.GradientTape() as tape:\n"
        "        tape.watch([E, e])\n"
        "        F = E - e * tf.sin(E)\n"
        "    by_E, by_e = tape.gradient(F, [E, e])\n"
        "    return dE / by_E, -dE * by_e / by_E\n",
        # sin E is (E − M) / e where e is not 0
        ANGLE + "    dM = dE / (1 - e * tf.cos(E))\n"
        "    sine = tf.where(e == 0, tf.sin(E), tf.math.divide_no_nan(E - M, e))\n"
        "    return dM, dM * sine\n",
    ],
    2: [
        SLOPES + "    B = np.array([[-s * i, 0], [s * i, -i]])\n"
        "    return np.concatenate([-worth @ J, -worth @ B])\n",
        SLOPES + "    B = np.array([[-s * i, 0], [s * i, -i]])\n"
        "    return (*(-J.T @ worth), *(-B.T @ worth))\n",
    ],
}
