"""`py_func`: a NumPy function as a TensorFlow op with a gradient of its own.

The idea fits into eight lines, which lesson 09 explains:

    def py_func(func, inp, Tout, grad):
        @tf.custom_gradient
        def run(*inputs):
            op = SimpleNamespace(inputs=inputs)

            def backward(dy):
                return grad(op, dy)

            return tf.numpy_function(func, inputs, Tout), backward

        return run(*inp)

`tf.numpy_function` runs `func`, and `tf.custom_gradient` tells TensorFlow of `grad`.
This module does both by hand, to keep the promises that those lines break: a missing
gradient is an error, what `func` and `grad` return is held to what was promised
(`promises.py`), and a graph that is no longer used takes `func` and `grad` with it
(TensorFlow's two keep them for the rest of the process).

**Run `func`.** Eagerly, it is called there and then. A graph has no numbers while it is
built, so it gets a *node* of the type PyFunc with a text, the *token*. When the graph
runs and comes to the node, TensorFlow looks the token up in a table of Python
functions, and calls what it finds.

**Tell of `grad`**, in both places where TensorFlow looks for a gradient. One is the
*record* that a tape keeps of each op that it sees: `record_operation` writes ours, and
`_PythonCode.vjp` calls `grad`. The other is the node: it can hold the name under which
a gradient is registered, `gradient_override_map` writes it there, and
`_gradient_of_node` finds the Python code by the token.

| who asks                      | looks at   | `grad` is called                        |
|-------------------------------|------------|-----------------------------------------|
| a tape, eagerly               | the record | when the tape is asked                  |
| a tape inside a `tf.function` | the record | when it is asked, while tracing         |
| a tape around a `tf.function` | the node   | at the first call while a tape watches  |
| `tf.gradients` (in a session) | the node   | when it is asked                        |
"""

import re
import uuid
from collections import namedtuple

import numpy as np

from . import promises
from . import tensorflow_private as private
from .promises import as_tensor, differentiable
from .tensorflow_start import tf


class NoGradientError(LookupError):
    """A gradient was asked for, and there is none: a LookupError, as in TensorFlow."""

    # AutoGraph keeps the class of an error only if it has the __init__ of Exception.
    __init__ = Exception.__init__


@tf.autograph.experimental.do_not_convert
def py_func(func, inp, Tout, stateful=True, name=None, grad=None):
    """Turn a NumPy function into a TensorFlow op with a gradient of its own.

    The op gives the same values and the same gradients in eager mode, inside a
    `tf.function` and in a `tf.compat.v1` session. Lesson 09 builds it by hand.

    Args:
        func: called with one read-only NumPy array for each input (0-d for a
            scalar). Returns the outputs: one array or number, or a list of them.
        inp: list of inputs: tensors, variables, arrays or numbers of any shape
            and dtype, or a `keras.Input` (then every `Tout` needs a shape).
        Tout: what each output is: a dtype or, better, a `tf.TensorSpec`, which
            also gives the static shape; or a list of these. Results are cast
            within a kind (float64 to float32), never to another one.
        stateful: False says that `func` always gives the same for the same
            inputs; a graph may then run it once for two calls, or not at all
            where nobody uses the result.
        name: name of the op; by default that of `func`.
        grad: `grad(op, *dys)` gets the op (`op.inputs`, `op.outputs`: tensors;
            `op.name`) and one upstream gradient dy for each output, of its shape
            and dtype, zeros where nobody uses it. Takes its tensors from `op`,
            for `tf.vectorized_map` maps no others. Returns the vector-Jacobian
            product: for each input a gradient of its shape, or None. Made of
            TensorFlow ops or other `py_func`s it can be differentiated again.

    Returns:
        One tensor, or a list of tensors where `Tout` is a list.

    Raises:
        TypeError, ValueError: an argument, a result or a gradient is not of the type,
            number, dtype or shape that it has to be; `func` writes to an input.
        NoGradientError: (a LookupError) a gradient is asked for, and there is
            none. For a tape around a `tf.function`: an OpError that says so.
        tf.errors.OpError: any of these, or an error of `func` itself, as a graph
            runs; the text names op and function and has the traceback.

    Example:
        >>> def square_grad(op, dy):
        ...     return 2 * op.inputs[0] * dy
        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = py_func(np.square, [x], tf.float32, grad=square_grad)
        >>> float(tape.gradient(y, x))
        6.0

    The op is Python code and runs in this process, on the CPU. XLA can't compile it:
    `jit_compile=True` fails and names PyFunc (on a GPU, `Model.compile` needs
    jit_compile=False where a layer of your own calls the op). No file holds it: a
    loaded SavedModel or a frozen graph (and a dataset in another dataset) runs it
    only in the process that traced it, while the traced function is kept there.

    Call no `tf.function` in `func`: as in `tf.numpy_function`, it waits for ever if
    all of TensorFlow's threads are busy with such functions. Call it before or after
    the op, or use `tf.py_function`.

    Source: the recipe of 2016, a registered gradient put in place by
    `gradient_override_map`, is from the gist harpone/3453185b41d8d985356cbe5e57d67342,
    after https://github.com/tensorflow/tensorflow/issues/1095.
    """
    if not callable(func):
        raise TypeError(f"py_func: func must be callable, got {func!r}")
    if callable(stateful):
        raise TypeError(f"py_func: stateful must be True or False, got {stateful!r}; "
                        "pass a gradient by its name: grad=...")
    if not isinstance(inp, (list, tuple)):
        raise TypeError("py_func: inp must be a list of inputs, got "
                        f"{type(inp).__name__}; pass [x] for a single x")
    several = isinstance(Tout, (list, tuple))
    promised = promises.outputs_of(Tout)
    if any(type(x).__name__ == "KerasTensor" for x in inp):
        from .keras_layer import call_as_layer  # only here, for Keras is slow to load

        specs = [tf.TensorSpec(y.shape, y.dtype) for y in promised]
        return call_as_layer(lambda inputs: py_func(
            func, inputs, specs if several else specs[0], stateful, name, grad),
            inp, specs)
    inputs = [as_tensor(x, f"py_func: input {index}") for index, x in enumerate(inp)]
    code = _PythonCode(func, inputs, promised, grad, name)
    if tf.executing_eagerly():
        outputs = code.run_eagerly(inputs)
    else:
        outputs = code.add_node(inputs, stateful)
    op = Op(tuple(inputs), tuple(outputs), code.name)
    # This reaches the tapes that watch the inputs. (A tape around a tf.function watches
    # nothing inside of it while it is traced; such a tape asks the node, later.)
    private.record_operation(code.name, outputs, inputs, lambda *dys: code.vjp(op, dys))
    return list(outputs) if several else outputs[0]


Op = namedtuple("Op", "inputs outputs name")  # what `grad` gets


class _PythonCode(private.EagerFunc):
    """The Python half of an op: `func`, `grad`, and what is promised of them."""

    def __init__(self, func, inputs, promised, grad, name):
        self.func, self.grad, self.promised = func, grad, promised
        self.input_dtypes = [x.dtype.as_numpy_dtype for x in inputs]
        function = promises.name_of(func)
        # What TensorFlow allows in the name of a node
        name = re.sub(r"[^A-Za-z0-9_./-]", "", str(name or function.split(".")[-1]))
        self.name = name.strip("_/-") or "py_func"
        self.label = f"py_func '{self.name}' (function {function})"

    def run_eagerly(self, inputs):
        """Call `func` now, on the numbers of eager tensors; return the outputs."""
        return [tf.constant(result, output.dtype)
                for result, output in zip(self.run(inputs), self.promised, strict=True)]

    def add_node(self, inputs, stateful):
        """Add a node to the graph that is being built; return its outputs."""
        graph = tf.compat.v1.get_default_graph()
        # TensorFlow shows it where the table does not have it: so it says why.
        token = (f"{self.label}: its Python code, which no SavedModel and no frozen "
                 "graph holds; run it in the process that traced it, as long as the "
                 f"function is kept that was traced [{uuid.uuid4()}]")
        private.functions_by_token[token] = self
        # The table refers to it weakly, so the graph has to keep it.
        graph.add_to_collection(_PythonCode, self)
        make = tf.raw_ops.PyFunc if stateful else tf.raw_ops.PyFuncStateless
        # The node gets the name of our gradient; the record is written by `py_func`.
        gradient = dict.fromkeys(("PyFunc", "PyFuncStateless"), _GRADIENT)
        with graph.gradient_override_map(gradient), private.stop_recording():
            ys = make(input=inputs, token=token, name=self.name,
                      Tout=[output.dtype for output in self.promised])
            if not self.promised:
                return []  # for no outputs, `make` returns the node
            for y, output in zip(ys, self.promised, strict=True):
                y.set_shape(output.shape)
            # A saved graph has no shapes that were set, so an op tells them as well.
            return [y if y.shape.rank is None else tf.ensure_shape(y, y.shape)
                    for y in ys]

    # AutoGraph has rewritten a `func` that is defined inside a tf.function, and would
    # go on and rewrite what `func` calls, when the graph runs: this tells it not to.
    @tf.autograph.experimental.do_not_convert
    def __call__(self, device, token, arrays):
        """Run in a graph: TensorFlow calls this when it comes to the node."""
        try:
            return promises.owned(self.run(arrays))
        except BaseException as error:  # KeyboardInterrupt, too, has no other way out
            raise promises.as_graph_error(error, self.label) from None

    def run(self, inputs):
        """Call `func` on read-only arrays; return arrays, as promised."""
        arrays = [np.asarray(x, dtype)
                  for x, dtype in zip(inputs, self.input_dtypes, strict=True)]
        for array in arrays:
            array.setflags(write=False)  # the memory is TensorFlow's
        if type(self.func).__module__.startswith("numba."):
            arrays = [a.copy() for a in arrays]  # with a signature it wants them so
        try:
            results = self.func(*arrays)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise ValueError(
                f"{self.label} writes into a read-only array ({error}); its inputs are "
                "read-only, for they belong to TensorFlow: to change one, copy it "
                "first: x = x.copy()") from error
        return promises.results_as_promised(results, self.promised, self.label)

    def vjp(self, op, dys, in_advance=False):
        """Call `grad`: from one dy for each output to one gradient for each input.

        Without `grad` it raises NoGradientError. Or, if called `in_advance`, before
        anybody asks, it returns gradients that raise if they are computed.
        """
        if self.grad is not None:
            dys = [tf.zeros_like(y) if dy is None else tf.convert_to_tensor(dy)
                   for y, dy in zip(op.outputs, dys, strict=True)]
            # `op` may be the node. `grad` gets an Op, with lists of its own, even then.
            given = Op(list(op.inputs), list(op.outputs), op.name)
            grads = self.grad(given, *dys)
            return promises.gradients_as_promised(grads, op.inputs, self.label)
        text = (f"{self.label} has no gradient; pass grad=... to py_func, or put "
                "tf.stop_gradient around its result")
        if not in_advance:
            raise NoGradientError(text)
        return _gradients_that_raise(text, op.inputs, dys)


# The name is new in each import, for a name can be registered only once.
_GRADIENT = f"PyFuncWithGradient-{uuid.uuid4()}"


@tf.RegisterGradient(_GRADIENT)
def _gradient_of_node(node, *dys):
    """What TensorFlow calls for the gradient of a node that py_func has made."""
    if node is None:  # tf.saved_model.save asks, with the op's inputs in place of dys
        return _gradient_for_a_file(dys)
    code = private.functions_by_token.get(node.get_attr("token").decode())
    if code is None:
        raise LookupError(f"the Python code of op '{node.name}' is gone")
    # tf.gradients asks in the graph of the node, because somebody wants the gradient.
    # For a tape around a tf.function, TensorFlow calls this when that is first called,
    # in a second graph and for all nodes: perhaps nobody will ask for this gradient.
    in_advance = node.graph is not tf.compat.v1.get_default_graph()
    return code.vjp(node, dys, in_advance)


def _gradient_for_a_file(inputs):
    """What a SavedModel holds as the gradient: it raises when it is run."""
    text = "a SavedModel does not hold the gradient of a py_func"
    with tf.control_dependencies([tf.debugging.Assert(False, [text])]):
        return [tf.identity(x) for x in inputs]


def _gradients_that_raise(text, inputs, dys):
    """For each input zeros, which raise the error when they are computed, if a dy is
    not zero. (If all are zero, nobody uses the outputs: then the zeros are right.)"""

    def zero_or_error(*dys):
        if any(dy.any() for dy in dys):
            raise NoGradientError(text)
        return 0

    dys = [dy for dy in dys if dy is not None]
    return [tf.fill(tf.shape(x), py_func(zero_or_error, dys, x.dtype, stateful=False))
            if differentiable(x) else None for x in inputs]
