"""A py_func on a `keras.Input`, as a layer. Keras is slow to load: import this late."""

import keras


class PyFuncLayer(keras.layers.Layer):
    """Calls an op on its inputs as they are: Keras would cast them to its own dtype."""

    def __init__(self, op, **options):
        super().__init__(**{**options, "autocast": False})
        self.op = op if isinstance(op, PythonCode) else PythonCode(op)
        self.supports_jit = False  # so Model.compile does without XLA, on a GPU too

    def call(self, inputs):
        return self.op.call(inputs)

    def get_config(self):
        """For a clone of the model, which shares the op; it can't be written down."""
        return {**super().get_config(), "op": self.op}


class PythonCode:
    """A function that Keras hands on as it is, and can't write into a file."""

    def __init__(self, call):
        self.call = call

    def __deepcopy__(self, _):
        return self

    def get_config(self):
        raise TypeError(
            "a py_func on a keras.Input is Python code, which no file of a model "
            "holds; call it in a Layer of your own with a name "
            "(keras.saving.register_keras_serializable), and use that in the model")
