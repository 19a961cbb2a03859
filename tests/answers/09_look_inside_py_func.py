"""Answers to the exercises of lesson 09: wrong ones with a word of the hint, right ones
of another form."""

RECIPE = """
def my_recipe(func, inp, Tout, stateful=True, grad=None):
    name = f"Gradient-{uuid.uuid4()}"
    tf.RegisterGradient(name)(grad)
    graph = tf.compat.v1.get_default_graph()
    with graph.gradient_override_map(TYPES):
        return tf.compat.v1.py_func(func, inp, Tout, stateful)
"""

GUARD = """def guarded(grad):
    def checked(op, dy):
        dx, x = grad(op, dy), op.inputs[0]
        if TEST:
            raise ValueError("shape")
        return dx
    return checked
"""

RECIPE_BOTH = RECIPE.replace("TYPES", '{"PyFunc": name, "PyFuncStateless": name}')

WRONG = {
    1: [
        # never hands the promise on
        ("hand stateful on", RECIPE_BOTH.replace("Tout, stateful)", "Tout, False)")),
        # takes dy for 1
        (
            "dy",
            RECIPE_BOTH.replace("(grad)", "(lambda op, dy: grad(op, 1.0))"),
        ),
        # one gradient for every op
        ("grad", RECIPE_BOTH.replace("(grad)", "(cube_grad)")),
        ("func", RECIPE_BOTH.replace("py_func(func", "py_func(np_cube")),
        # a name that the next gradient meets again
        (
            "grad",
            RECIPE_BOTH.replace(
                '    name = f"Gradient-{uuid.uuid4()}"\n'
                "    tf.RegisterGradient(name)(grad)\n",
                '    name = "Fixed"\n'
                "    try:\n"
                "        tf.RegisterGradient(name)(grad)\n"
                "    except KeyError:\n"
                "        pass\n",
            ),
        ),
        ("PyFunc has lost", RECIPE.replace("TYPES", '{"PyFuncStateless": name}')),
        ("PyFuncStateless", RECIPE.replace("TYPES", '{"PyFunc": name, "Py": name}')),
        ("PyFunc has lost", RECIPE.replace("TYPES", '{"EagerPyFunc": name}')),
        # gives the op a type that it should not have, and no gradient of its own
        (
            "PyFuncStateless",
            "def my_recipe(func, inp, Tout, stateful=True, grad=None):\n"
            "    return recipe(func, inp, Tout, stateful, grad)\n",
        ),
        (
            "PyFunc",
            "def my_recipe(func, inp, Tout, stateful=True, grad=None):\n"
            "    return None\n",
        ),
        # the gradient is right, the promise is not passed on
        (
            "hand stateful on",
            RECIPE.replace("TYPES", '{"PyFunc": name}').replace(
                "Tout, stateful)", "Tout, True)"
            ),
        ),
        (
            "hand stateful on",
            "def my_recipe(func, inp, Tout, stateful=True, grad=None):\n"
            "    return my_py_func(func, inp, Tout, grad)\n",
        ),
    ],
    2: [
        # guards in eager mode alone
        (
            "in a tf.function",
            GUARD.replace("TEST", "tf.executing_eagerly() and dx.shape != x.shape"),
        ),
        # guards matrices alone
        (
            "of shape (4,)",
            GUARD.replace(
                "TEST",
                "x.shape.rank == 2 and not dx.shape.is_compatible_with(x.shape)",
            ),
        ),
        # loses the second derivative
        (
            "dx itself",
            GUARD.replace("TEST", "not dx.shape.is_compatible_with(x.shape)").replace(
                "return dx", "return tf.stop_gradient(dx)"
            ),
        ),
        # compares with dy, which has the shape of y
        (
            "dy may have another",
            "def guarded(grad):\n"
            "    def checked(op, dy):\n"
            "        dx = grad(op, dy)\n"
            "        if dx.shape != dy.shape:\n"
            "            raise ValueError('shape')\n"
            "        return dx\n"
            "    return checked\n",
        ),
        # returns the error
        (
            "refused",
            "def guarded(grad):\n"
            "    def checked(op, dy):\n"
            "        dx = grad(op, dy)\n"
            "        if dx.shape != op.inputs[0].shape:\n"
            "            return ValueError('shape')\n"
            "        return dx\n"
            "    return checked\n",
        ),
        # counts the elements
        (
            "(6,)",
            "def guarded(grad):\n"
            "    def checked(op, dy):\n"
            "        dx = grad(op, dy)\n"
            "        if np.prod(dx.shape) != np.prod(op.inputs[0].shape):\n"
            "            raise ValueError('shape')\n"
            "        return dx\n"
            "    return checked\n",
        ),
        # compares the number of axes alone
        (
            "(3, 2)",
            "def guarded(grad):\n"
            "    def checked(op, dy):\n"
            "        dx = grad(op, dy)\n"
            "        if len(dx.shape) != len(op.inputs[0].shape):\n"
            "            raise ValueError('axes')\n"
            "        return dx\n"
            "    return checked\n",
        ),
        # raises another error
        (
            "AssertionError",
            "def guarded(grad):\n"
            "    def checked(op, dy):\n"
            "        dx = grad(op, dy)\n"
            "        assert dx.shape == op.inputs[0].shape\n"
            "        return dx\n"
            "    return checked\n",
        ),
        # broadcasts instead of refusing
        (
            "refused",
            "def guarded(grad):\n"
            "    def checked(op, dy):\n"
            "        x = op.inputs[0]\n"
            "        return tf.zeros_like(x) + grad(op, dy)\n"
            "    return checked\n",
        ),
        # checks, and forgets to return
        (
            "right",
            "def guarded(grad):\n"
            "    def checked(op, dy):\n"
            "        if grad(op, dy).shape != op.inputs[0].shape:\n"
            "            raise ValueError('shape')\n"
            "    return checked\n",
        ),
        # the rank and one dimension
        (
            "(2, 1)",
            GUARD.replace(
                "TEST", "len(dx.shape) != len(x.shape) or dx.shape[0] != x.shape[0]"
            ),
        ),
        (
            "(1, 3)",
            GUARD.replace(
                "TEST", "len(dx.shape) != len(x.shape) or dx.shape[-1] != x.shape[-1]"
            ),
        ),
        (
            "(2, 1)",
            GUARD.replace("TEST", "dx.shape[:1] != x.shape[:1] or len(dx.shape) > 2"),
        ),
        # guards what is wholly known alone
        (
            "(None, 5)",
            GUARD.replace(
                "TEST", "dx.shape.is_fully_defined() and dx.shape != x.shape"
            ),
        ),
        # takes a part that is not known for wrong
        (
            "unknown shapes fit",
            GUARD.replace("TEST", "dx.shape.rank is not None and dx.shape != x.shape"),
        ),
        # guards only where the shape of dy is known
        (
            "in a tf.function",
            GUARD.replace(
                "TEST",
                "dy.shape.rank is not None and"
                " not dx.shape.is_compatible_with(x.shape)",
            ),
        ),
        # refuses a right gradient whose shape is unknown when the graph is recorded
        ("is_compatible_with", GUARD.replace("TEST", "dx.shape != x.shape")),
        (
            "is_compatible_with",
            GUARD.replace("TEST", "tuple(dx.shape) != tuple(x.shape)"),
        ),
        (
            "is_compatible_with",
            GUARD.replace("TEST", "dx.shape.as_list() != x.shape.as_list()"),
        ),
        (
            "not with y",
            GUARD.replace("TEST", "dx.shape != op.outputs[0].shape"),
        ),
        # refuses everything
        (
            "right",
            "def guarded(grad):\n"
            "    def checked(op, dy):\n"
            "        raise ValueError('shape')\n"
            "    return checked\n",
        ),
    ],
}

RIGHT = {
    1: [
        RECIPE.replace("TYPES", 'dict.fromkeys(["PyFunc", "PyFuncStateless"], name)'),
        RECIPE.replace("TYPES", '{"PyFunc" if stateful else "PyFuncStateless": name}'),
        # not the recipe, but what the lesson teaches
        "def my_recipe(func, inp, Tout, stateful=True, grad=None):\n"
        "    @tf.custom_gradient\n"
        "    def run(*inputs):\n"
        "        y = tf.compat.v1.py_func(func, inputs, Tout, stateful)\n"
        "        op = SimpleNamespace(inputs=inputs, outputs=[y])\n"
        "        return y, lambda dy: grad(op, dy)\n"
        "    return run(*inp)\n",
    ],
    2: [
        GUARD.replace("TEST", "not x.shape.is_compatible_with(dx.shape)"),
        GUARD.replace(
            "TEST",
            "not all(a == b or None in (a, b) for a, b in zip(dx.shape, x.shape))"
            " or len(dx.shape) != len(x.shape)"
            " if None not in (dx.shape.rank, x.shape.rank) else False",
        ),
        "def guarded(grad):\n"
        "    def checked(op, dy):\n"
        "        dx = grad(op, dy)\n"
        "        dx.shape.merge_with(op.inputs[0].shape)\n"
        "        return tf.identity(dx)\n"
        "    return checked\n",
        "def guarded(grad):\n"
        "    def checked(op, dy):\n"
        "        dx = grad(op, dy)\n"
        "        dx.set_shape(op.inputs[0].shape)\n"
        "        return dx\n"
        "    return checked\n",
        "def guarded(grad):\n"
        "    def checked(op, dy):\n"
        "        dx = grad(op, dy)\n"
        "        dx.shape.assert_is_compatible_with(op.inputs[0].shape)\n"
        "        return dx\n"
        "    return checked\n",
    ],
}
