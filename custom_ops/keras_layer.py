"""A `py_func` on a `keras.Input`, as a layer. Import it late: Keras is slow to load."""

import keras

from .promises import as_tensor, is_tensor


def call_as_layer(op, inputs, specs):
    """Call a new layer that calls `op(inputs)`; `specs`: what it promises to return."""
    if any(spec.shape.rank is None for spec in specs):
        raise ValueError("py_func: Keras needs the shape of each output; instead of a "
                         "dtype give Tout a tf.TensorSpec(x.shape, dtype)")
    # Keras takes tensors only, and no numbers.
    tensors = [x if is_tensor(x) else as_tensor(x, f"py_func: input {index}")
               for index, x in enumerate(inputs)]
    return _PyFuncLayer(_SharedFunction(op))(tensors)


class _PyFuncLayer(keras.layers.Layer):
    def __init__(self, op, **options):
        # Keras would cast the inputs to a dtype of its own.
        super().__init__(**{**options, "autocast": False})
        self.op = op
        self.supports_jit = False  # so Model.compile does without XLA, on a GPU too

    def call(self, inputs):
        return self.op.call(inputs)

    def get_config(self):
        return {**super().get_config(), "op": self.op}


class _SharedFunction:
    """A function that clones of a layer share, and that goes into no file."""

    def __init__(self, call):
        self.call = call

    def __deepcopy__(self, _):
        return self

    def get_config(self):
        raise TypeError(
            "a py_func on a keras.Input is Python code, which no file of a model "
            "holds; call it in a Layer of your own with a name "
            "(keras.saving.register_keras_serializable), and use that in the model")
