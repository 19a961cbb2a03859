"""`py_func`: a NumPy function as a TensorFlow op with a gradient of its own."""

import re
import sys
import traceback
import uuid
from collections import namedtuple
from pathlib import Path

import numpy as np

from .quiet_start import tf
from .tensorflow_private import EagerFunc, py_funcs, record_operation, stop_recording
from .tensors import as_tensor, differentiable

_PACKAGE = Path(__file__).parent
_Op = namedtuple("_Op", "inputs outputs name")  # what `grad` gets of a tape
_Spec = namedtuple("_Spec", "dtype shape numpy_dtype static_shape")  # one of Tout


class NoGradientError(LookupError):
    """A gradient was asked for, and there is none."""

    __init__ = Exception.__init__  # AutoGraph then keeps the class of the error


def _kind(dtype):
    """The family of a NumPy dtype, within which a cast keeps the meaning."""
    kinds = {"f": "float", "c": "complex", "i": "integer", "u": "integer",
             "b": "bool", "S": "string", "U": "string", "O": "string"}
    return kinds.get(dtype.kind, "float" if "float" in dtype.name else dtype.name)


class _PyOp(EagerFunc):
    """The Python half of one op: its two functions, and the promises about them.

    A graph's op PyFunc finds it in the table `py_funcs` and calls it.
    """

    def __init__(self, func, Tout, grad, name):
        self.func, self.grad, self.specs = func, grad, _specs(Tout)
        # Code that AutoGraph rewrote has free variables, and must not make it rewrite
        # what it calls. Other code is spared the 20 microseconds that this takes.
        code = getattr(func, "__code__", None)
        if code is None or code.co_freevars:
            self.func = tf.autograph.experimental.do_not_convert(func)
        own_name = getattr(func, "__name__", type(func).__name__)
        qualname = getattr(func, "__qualname__", own_name)  # a ufunc may have none
        name = name or own_name
        self.name = re.sub(r"[^A-Za-z0-9_./-]", "", name).lstrip("_/-") or "py_func"
        self.label = (f"py_func '{self.name}' (function "
                      f"{qualname.split('<locals>.')[-1]})")

    def run(self, arrays):
        """Call `func` on read-only arrays; return arrays as `Tout` promised."""
        for array in arrays:
            array.setflags(write=False)  # the memory is TensorFlow's
        try:
            results = self.func(*arrays)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise ValueError(
                f"{self.label} writes into its input ({error}), which belongs to "
                "TensorFlow; copy it first: x = x.copy()") from error
        if not isinstance(results, (list, tuple)):
            results = [] if results is None else [results]
        if len(results) != len(self.specs):
            raise ValueError(f"{self.label} returned {len(results)} results, but "
                             f"Tout promises {len(self.specs)}")
        return [self._as_promised(*pair) for pair in enumerate(results)]

    def _as_promised(self, index, result):
        """One result, cast within its kind and laid out as TensorFlow needs it."""
        spec = self.specs[index]
        text = isinstance(result, (bytes, str))  # NumPy would cut a last zero byte
        array = np.asarray(result, object if text else None, order="C")
        if array.dtype != spec.numpy_dtype or spec.numpy_dtype.hasobject:
            found, wanted = _kind(array.dtype), _kind(spec.numpy_dtype)
            number = type(result) in (int, float) and wanted in ("float", "complex")
            if found != wanted and not number:  # a Python number has no dtype yet
                raise TypeError(
                    f"{self.label}: output {index} is {array.dtype} ({found}), but "
                    f"Tout promises {spec.dtype.name} ({wanted}); change what the "
                    "function returns, or Tout")
            if wanted == "string":
                texts = [tf.compat.as_bytes(text) for text in array.ravel()]
                array = np.array(texts, object).reshape(array.shape)
            with np.errstate(over="ignore"):  # too large is inf, as in tf.cast
                cast = array.astype(spec.numpy_dtype, copy=False)
            if wanted == "integer" and (cast != array).any():
                raise ValueError(f"{self.label}: output {index} has values that do "
                                 f"not fit into {spec.dtype.name}")
            array = cast
        if (spec.static_shape != array.shape  # a quick look, then a thorough one
                and not spec.shape.is_compatible_with(array.shape)):
            raise ValueError(f"{self.label}: output {index} has shape {array.shape}, "
                             f"but Tout promises {spec.shape}")
        return array

    def __call__(self, device, token, arrays):
        """Run inside a graph, which takes the arrays over without a copy."""
        arrays = [a if isinstance(a, np.ndarray) else  # a scalar is a number here
                  np.asarray(a, object if isinstance(a, bytes) else None)
                  for a in arrays]
        try:
            return [array if _ours_alone(array) else array.copy()
                    for array in self.run(arrays)]
        except Exception as error:
            raise self._as_status(error) from None

    def _as_status(self, error):
        """The error to raise in a graph, where only its class and text go on.

        StopIteration may not: there it means that a dataset has come to its end.
        """
        classes = ValueError, TypeError, NotImplementedError, MemoryError
        kind = next((c for c in classes if isinstance(error, c)), RuntimeError)
        text = str(error)
        if not text.startswith(self.label):  # else it is one of our own checks
            text = f"{self.label} failed with {type(error).__name__}: {text}"
        frames = traceback.extract_tb((error.__cause__ or error).__traceback__)
        users = [frame for frame in frames
                 if Path(frame.filename).parent != _PACKAGE]
        return kind("\n".join([text, *traceback.format_list(users)]))

    def vjp(self, op, dys, when_run=False):
        """Call `grad`: from one dy for each output to one gradient an input.

        Without `grad` it raises NoGradientError or, `when_run`, returns tensors
        that do: TensorFlow traces gradients in advance that nobody may ask for.
        """
        if self.grad is None:
            text = (f"{self.label} has no gradient; pass grad=... to py_func, or put "
                    "tf.stop_gradient around its result")
            if when_run:
                return _gradients_that_raise(text, op.inputs, dys)
            raise NoGradientError(text)
        dys = [tf.zeros_like(y) if dy is None else tf.convert_to_tensor(dy)
               for y, dy in zip(op.outputs, dys, strict=True)]
        grads = self.grad(op, *dys)
        if not isinstance(grads, (list, tuple)):
            grads = [grads]
        if len(grads) != len(op.inputs):
            raise ValueError(
                f"{self.label}: grad returned {len(grads)} gradients, but the op has "
                f"{len(op.inputs)} inputs; return one for each, or None")
        return [None if dx is None or not differentiable(x)
                else self._like_input(index, x, dx)
                for index, (x, dx) in enumerate(zip(op.inputs, grads, strict=True))]

    def _like_input(self, index, x, dx):
        """A gradient of the dtype and shape of its input, or an error."""
        label = f"{self.label}: the gradient of input {index}"
        dx = tf.convert_to_tensor(dx, dtype_hint=x.dtype)
        if (dx.dtype.is_floating, dx.dtype.is_complex) != (
                x.dtype.is_floating, x.dtype.is_complex):
            raise TypeError(f"{label} is {dx.dtype.name}, but the input is "
                            f"{x.dtype.name}")
        dx = tf.cast(dx, x.dtype)
        if not dx.shape.is_compatible_with(x.shape):
            raise ValueError(f"{label} has shape {dx.shape}, but the input has "
                             f"{x.shape}; it is never broadcast")
        if dx.shape.is_fully_defined() and x.shape.is_fully_defined():
            return dx
        found, expected = tf.shape(dx), tf.shape(x)  # known when it runs
        same = tf.raw_ops.Equal(x=found, y=expected, incompatible_shape_error=False)
        same = tf.reduce_all(same) & tf.equal(tf.size(found), tf.size(expected))
        check = tf.debugging.Assert(same, [f"{label} has shape", found, "but the "
                                           "input has", expected, "(no broadcast)"])
        with tf.control_dependencies([check]):
            dx = tf.identity(dx)
        dx.set_shape(x.shape)
        return dx


def _ours_alone(array):
    """Whether nobody else can write into an array that TensorFlow takes over.

    A fresh array is known by a list, two variables called `array` and the call of
    getrefcount; a view by its base, which only the view and that call know.
    """
    if array.base is not None:
        return not array.flags.writeable or sys.getrefcount(array.base) <= 2
    return not array.flags.writeable or sys.getrefcount(array) <= 4


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
        _require_shapes(py_op.specs)
    # The token is also what a process reads that has the graph, but not the code.
    token = (f"{py_op.label}, which is Python code: a SavedModel cannot hold it, so "
             f"run it in the process that made it [{uuid.uuid4()}]")
    py_funcs._funcs[token] = py_op
    for owner in _graphs_around(graph):  # each of them may outlive the others
        owner._py_ops = [*getattr(owner, "_py_ops", ()), py_op]
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


def _graphs_around(graph):
    """The graph and those that it is built inside of, but not that of eager mode."""
    while graph.building_function:
        yield graph
        graph = graph.outer_graph
    if not tf.compat.v1.executing_eagerly_outside_functions():
        yield graph


def _specs(Tout):
    """`Tout` as a list of what is promised of each output."""
    specs = []
    for promise in Tout if isinstance(Tout, (list, tuple)) else [Tout]:
        try:
            spec = (promise if isinstance(promise, tf.TensorSpec)
                    else tf.TensorSpec(None, tf.as_dtype(promise)))
        except TypeError as error:
            raise TypeError("py_func: Tout must be a dtype, a tf.TensorSpec or a list "
                            f"of these, got {promise!r}") from error
        static_shape = tuple(spec.shape) if spec.shape.is_fully_defined() else None
        numpy_dtype = np.dtype(spec.dtype.as_numpy_dtype)
        specs.append(_Spec(spec.dtype, spec.shape, numpy_dtype, static_shape))
    return specs


def _require_shapes(specs):
    """Keras plans a model by its shapes, before there is a tensor."""
    for spec in specs:
        if spec.shape.rank is None:
            dtype = f"tf.{spec.dtype.name}"
            raise ValueError(
                f"py_func: Keras needs the shape of each output; instead of {dtype} "
                f"give Tout a tf.TensorSpec, such as tf.TensorSpec(x.shape, {dtype})")


@tf.autograph.experimental.do_not_convert
def py_func(func, inp, Tout, stateful=True, name=None, grad=None):
    """Turn a NumPy function into a TensorFlow op with a gradient of its own.

    The op gives the same values and the same gradients in eager mode, inside a
    `tf.function` and in a `tf.compat.v1` session. Lesson 00 builds it by hand.

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
        import keras  # only here: TensorFlow loads it late, for it is slow to load

        _require_shapes(py_op.specs)
        layer = keras.layers.Lambda(
            lambda xs: py_func(func, xs, Tout, stateful, name, grad))
        layer.supports_jit = False  # so Model.compile does without XLA, on a GPU too
        return layer(list(inp))
    inputs = [as_tensor(*pair) for pair in enumerate(inp)]
    if tf.executing_eagerly():
        results = py_op.run([np.asarray(x) for x in inputs])
        outputs = [tf.convert_to_tensor(result, spec.dtype)
                   for result, spec in zip(results, py_op.specs, strict=True)]
    else:
        outputs = _graph_op(py_op, inputs, stateful)
    op = _Op(inputs, outputs, py_op.name)
    record_operation(py_op.name, outputs, inputs, lambda *dys: py_op.vjp(op, dys))
    return outputs if isinstance(Tout, (list, tuple)) else outputs[0]
