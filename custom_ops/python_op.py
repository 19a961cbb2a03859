"""`py_func`: a NumPy function as a TensorFlow op with a gradient of its own."""

import re
import uuid

import numpy as np

from . import hangs
from .errors import as_status, code_of, names_of, with_remedy
from .gradients import NoGradientError, Op, call_grad
from .lifetimes import keep
from .memory import owned
from .quiet_start import tf
from .results import as_promised, require_shapes, specs_of
from .tensorflow_private import (
    TENSORS_MEMORY,
    EagerFunc,
    py_funcs,
    record_operation,
    stop_recording,
)
from .tensors import as_array, as_tensor, differentiable, is_tensor

__all__ = ["NoGradientError", "py_func"]


class _PyOp(EagerFunc):
    """The Python half of one op: its two functions, and the promises about them.

    A graph's op PyFunc finds it in the table `py_funcs` and calls it.
    """

    def __init__(self, func, Tout, grad, name):
        self.func, self.grad, self.specs = func, grad, specs_of(Tout)
        # Code that AutoGraph rewrote has free variables, and must not make it rewrite
        # what it calls. Other code is spared the 20 microseconds that this takes, and
        # so is what NumPy computes in C: all but the objects of np.frompyfunc.
        code = code_of(func)
        in_c = isinstance(func, np.ufunc) and func.types and "O" not in func.types[0]
        if not in_c and (code is None or code.co_freevars):
            self.func = tf.autograph.experimental.do_not_convert(func)
        own_name, qualified = names_of(func)
        name = re.sub(r"[^A-Za-z0-9_./-]", "", str(name or own_name))
        self.name = name.lstrip("_/-").rstrip("/") or "py_func"
        self.label = f"py_func '{self.name}' (function {qualified})"
        self.in_eager_world = tf.compat.v1.executing_eagerly_outside_functions()
        # numba, told the types, takes no read-only arrays, and compiles nothing new.
        self.copies = (type(func).__module__.startswith("numba.")
                       and getattr(func, "_can_compile", None) is False)

    def run(self, arrays):
        """Call `func` on read-only arrays; return arrays as `Tout` promised."""
        for array in arrays:
            array.setflags(write=False)  # the memory is TensorFlow's
        given = [array.copy() for array in arrays] if self.copies else arrays
        try:
            results = self.func(*given)
        except (ValueError, TypeError) as error:
            told = with_remedy(error, arrays, self.label)
            if told is error:
                raise
            raise told from error
        return as_promised(results, self.specs, self.label)

    def __call__(self, device, token, arrays):
        """Run inside a graph, which takes over without a copy what is its alone."""
        arrays = [a if isinstance(a, np.ndarray) else  # a scalar is a number here
                  np.asarray(a, object if isinstance(a, bytes) else None)
                  for a in arrays]
        outer = hangs.begin(self.label)
        try:
            return owned(self.run(arrays), lambda: self.shared(arrays))
        except BaseException as error:  # KeyboardInterrupt, too, has no other way out
            raise as_status(error, self.label) from None
        finally:
            hangs.end(outer)

    def shared(self, arrays):
        """The inputs in TensorFlow's memory, which nobody writes as long as it is used.

        Only the variables of a graph of TensorFlow 1 do that.
        """
        if not self.in_eager_world:
            return []
        return [a for a in arrays if type(a.base).__name__ == TENSORS_MEMORY]

    def vjp(self, op, dys, when_run=False):
        """Call `grad`: from one dy for each output to one gradient an input.

        Without `grad` it raises NoGradientError or, `when_run`, returns tensors
        that do: TensorFlow traces gradients in advance that nobody may ask for.
        """
        if self.grad is not None:
            return call_grad(self.grad, op, dys, self.label)
        text = (f"{self.label} has no gradient; pass grad=... to py_func, or put "
                "tf.stop_gradient around its result")
        if when_run:
            return _gradients_that_raise(text, op.inputs, dys)
        raise NoGradientError(text)


def _gradients_that_raise(text, inputs, dys):
    """For each input a gradient that raises NoGradientError when it is computed.

    Zeros are let through: a tape around a `tf.function` computes the gradients of
    all its outputs, with zeros for those that nobody asked for.
    """

    def raise_unless_zero(*dys):
        if any(dy.any() for dy in dys):
            raise NoGradientError(text)
        return 0

    dys = [dy for dy in dys if dy is not None]
    return [tf.fill(tf.shape(x), py_func(raise_unless_zero, dys, x.dtype, False))
            if differentiable(x) else None for x in inputs]


# One gradient for every op that py_func makes in a graph, registered once. The
# name is new in each import: a reloaded module must not meet its older self.
_GRADIENT = f"PyFuncWithGradient-{uuid.uuid4()}"


@tf.RegisterGradient(_GRADIENT)
def _gradient_in_graph(op, *dys):
    if op is None:  # tf.saved_model.save asks so, with op.inputs instead of dys
        text = "a SavedModel does not hold the gradient of a py_func"
        with tf.control_dependencies([tf.debugging.Assert(False, [text])]):
            return [tf.identity(x) for x in dys]
    py_op = py_funcs.get(op.get_attr("token").decode())
    if py_op is None:
        raise LookupError(f"the Python code of op '{op.name}' is gone")
    in_advance = op.graph is not tf.compat.v1.get_default_graph()
    return py_op.vjp(op, dys, when_run=in_advance)


def _graph_op(py_op, inputs, stateful):
    """Add the op to the graph that is being built; return its outputs."""
    graph = tf.compat.v1.get_default_graph()
    if getattr(graph, "name", "").startswith("scratch_graph"):  # of a keras.Input
        require_shapes(py_op.specs)
    # The token is also what a process reads that has the graph, but not the code.
    token = (f"{py_op.label}, which is Python code: a SavedModel cannot hold it, so "
             f"run it in the process that made it [{uuid.uuid4()}]")
    keep(py_op, token, graph)
    make = tf.raw_ops.PyFunc if stateful else tf.raw_ops.PyFuncStateless
    override = dict.fromkeys(("PyFunc", "PyFuncStateless"), _GRADIENT)
    with graph.gradient_override_map(override), stop_recording():
        outputs = make(input=inputs, token=token, name=py_op.name,
                       Tout=[spec.dtype for spec in py_op.specs])
        if not py_op.specs:
            return []
        for y, spec in zip(outputs, py_op.specs, strict=True):
            y.set_shape(spec.shape)
        # An op of its own: set_shape alone is lost on the graph's optimizer.
        return [y if spec.shape.rank is None else tf.ensure_shape(y, spec.shape)
                for y, spec in zip(outputs, py_op.specs, strict=True)]


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
            and dtype, zeros where nobody uses it. Returns the vector-Jacobian
            product: for each input a gradient of its shape, or None where there
            is none. Made of TensorFlow ops it can be differentiated again; what
            is NumPy in it, call by a `py_func`.

    Returns:
        One tensor, or a list of tensors where `Tout` is a list.

    Raises:
        TypeError: `func`, `inp` or `Tout` of a wrong type; a result or a
            gradient of another kind than promised.
        ValueError: a wrong number of results or gradients, a wrong shape, an
            integer that does not fit, an input that `func` writes into.
        NoGradientError: (a LookupError) a gradient is asked for, and there is
            none. Where TensorFlow prepares gradients in advance, when they run.
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

    The op is Python code: a SavedModel cannot hold it, XLA cannot compile it
    (`jit_compile=True` fails and names PyFunc; on a GPU, `Model.compile` needs
    jit_compile=False where a layer of your own calls the op), and it runs in this
    process, on the CPU.

    Source: the recipe of 2016, a gradient registered under a random name and put
    in place by `Graph.gradient_override_map`, is from the gist
    harpone/3453185b41d8d985356cbe5e57d67342, after the discussion in
    https://github.com/tensorflow/tensorflow/issues/1095. Tapes do not see such an
    override; here they are told, and one registered gradient serves every op.
    """
    if not callable(func):
        raise TypeError(f"py_func: func must be callable, got {func!r}")
    if not isinstance(inp, (list, tuple)):
        raise TypeError("py_func: inp must be a list of inputs, got "
                        f"{type(inp).__name__}; pass [x] for a single x")
    py_op = _PyOp(func, Tout, grad, name)
    if any(type(x).__name__ == "KerasTensor" for x in inp):
        from .keras_layer import PyFuncLayer  # only here, for Keras is slow to load

        require_shapes(py_op.specs)
        Tout = list(Tout) if isinstance(Tout, (list, tuple)) else Tout
        layer = PyFuncLayer(lambda xs: py_func(func, xs, Tout, stateful, name, grad))
        return layer([x if is_tensor(x) else as_tensor(index, x)
                      for index, x in enumerate(inp)])  # Keras takes no numbers
    inputs = [as_tensor(*pair) for pair in enumerate(inp)]
    if tf.executing_eagerly():
        results = py_op.run([as_array(x) for x in inputs])
        outputs = [tf.constant(result, spec.dtype)
                   for result, spec in zip(results, py_op.specs, strict=True)]
    else:
        outputs = _graph_op(py_op, inputs, stateful)
    op = Op(tuple(inputs), tuple(outputs), py_op.name)
    record_operation(py_op.name, outputs, inputs, lambda *dys: py_op.vjp(op, dys))
    return list(outputs) if isinstance(Tout, (list, tuple)) else outputs[0]
