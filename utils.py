"""The helper that every lesson imports, and that you may copy into work of your own.

* `py_func` turns a NumPy function into a TensorFlow op with its own gradient.
* `load_mnist` loads handwritten digits, with no network.
* `check_gradient` compares an op's gradient with central differences.
* `load_op` compiles an op that is written in C++, and loads it.

Import this module before TensorFlow: it keeps TensorFlow's start-up messages out
of your notebook and makes its numbers independent of the processor. Only to set up
devices or several workers (`tf.config`, `MultiWorkerMirroredStrategy`) import
TensorFlow first: that has to happen before its first op, and this module runs one.
"""

import contextlib
import gc
import hashlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import traceback
import uuid
import zipfile
from collections import deque, namedtuple
from functools import partial
from pathlib import Path

import numpy as np

# ---------------------------------------------------------------- start-up

# oneDNN picks its kernels by processor, and with them the last digits change.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
# A C++ kernel that fails raises an error in Python; the log repeats it.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


@contextlib.contextmanager
def _stderr_held_back(shown_on_failure=True):
    """Keep what C++ writes to file descriptor 2, and show it on failure or never.

    TensorFlow greets from C++ whatever its log level says, and each machine
    gets another greeting: in a notebook it would be stored as output.
    """
    sys.stderr.flush()
    saved = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            if shown_on_failure:
                os.dup2(saved, 2)
                held.seek(0)
                os.write(2, held.read())
            raise
        finally:
            os.dup2(saved, 2)
            os.close(saved)


@contextlib.contextmanager
def _garbage_left():
    """Don't look for garbage among all that TensorFlow loads: a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


if "tensorflow" in sys.modules:  # then devices may still have to be configured
    import tensorflow as tf
else:
    with _stderr_held_back(), _garbage_left():
        import tensorflow as tf

        tf.identity(0.0)  # the first op starts the devices, and they write too

# ------------------------------------------------- private TensorFlow, all of it

# Four names that TensorFlow does not export. tests/test_py_func.py says in
# words what to do when a release moves them.
#   record_operation puts a Python gradient on every tape that watches: the public
#     tf.custom_gradient does too, but keeps each closure alive for ever.
#   _py_funcs is the table in which the op PyFunc finds its Python function, by
#     token. It holds the function weakly: the graphs that use it keep it alive.
#   EagerFunc is what the table hands arrays to and from as they are. Whatever else
#     is in it has each result converted, which takes 10 microseconds.
from tensorflow.python.eager.record import (  # noqa: E402
    record_operation,
    stop_recording,
)
from tensorflow.python.ops.script_ops import EagerFunc, _py_funcs  # noqa: E402

# ----------------------------------------------------------------- py_func

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


def _differentiable(tensor):
    return tensor.dtype.is_floating or tensor.dtype.is_complex


class _PyOp(EagerFunc):
    """The Python half of one op: its two functions, and the promises about them.

    A graph's op PyFunc finds it in the table `_py_funcs` and calls it.
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
        users = [frame for frame in frames if frame.filename != __file__]
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
        return [None if dx is None or not _differentiable(x)
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
            if _differentiable(x) else None for x in inputs]


# One gradient for every op that py_func makes in a graph, registered once. The
# name is new in each import: a reloaded module must not meet its older self.
_GRADIENT = f"PyFuncWithGradient-{uuid.uuid4()}"


@tf.RegisterGradient(_GRADIENT)
def _gradient_in_graph(op, *dys):
    if op is None:  # tf.saved_model.save asks so, with op.inputs instead of dys
        text = "a SavedModel does not hold the gradient of a py_func"
        with tf.control_dependencies([tf.debugging.Assert(False, [text])]):
            return [tf.identity(x) for x in dys]
    py_op = _py_funcs.get(op.get_attr("token").decode())
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
    _py_funcs._funcs[token] = py_op
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


def _as_tensor(index, x, caller="py_func"):
    """Input `index` as a tensor, or a TypeError that says what to pass."""
    cure = {tf.RaggedTensor: "pass x.values or x.to_tensor()",
            tf.SparseTensor: "pass tf.sparse.to_dense(x) or x.values",
            dict: "pass its values as inputs of their own"}.get(type(x))
    reason = ""
    if cure is None and x is not None:
        try:
            tensor = tf.convert_to_tensor(x)
            if tensor.dtype not in (tf.resource, tf.variant):
                return tensor
        except (TypeError, ValueError) as error:
            reason = f" ({error})"
    raise TypeError(f"{caller}: input {index} is of type {type(x).__name__}{reason}; "
                    f"{cure or 'pass a tensor, a variable, an array or numbers'}")


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
    inputs = [_as_tensor(*pair) for pair in enumerate(inp)]
    if tf.executing_eagerly():
        results = py_op.run([np.asarray(x) for x in inputs])
        outputs = [tf.convert_to_tensor(result, spec.dtype)
                   for result, spec in zip(results, py_op.specs, strict=True)]
    else:
        outputs = _graph_op(py_op, inputs, stateful)
    op = _Op(inputs, outputs, py_op.name)
    record_operation(py_op.name, outputs, inputs, lambda *dys: py_op.vjp(op, dys))
    return outputs if isinstance(Tout, (list, tuple)) else outputs[0]


# --------------------------------------------------------------- load_mnist

_DATA = Path(__file__).with_name("data")
_MNIST_ORIGIN = (
    "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz"
)
# SHA-256 of the bytes of each array; data/README.md tells where they come from.
_MNIST_SUMS = {
    "sample": {
        "x_train": "a00c545805d610289c81b54ed4f8d00998b585e79ce516f5520b2ad9ec35f35e",
        "y_train": "2454644dc8344224d6f67836ba9cd36589541fa10109d13777216089654b7259",
        "x_test": "f3893c75d816024037a060d11b8e68c6872c779fd2ccd502b2dc3156843b0a31",
        "y_test": "9d40edd71021004e9caa75a0f756b8dd4f321ea9975a0ac9d32b5d7cbd0aaf04",
    },
    "full": {
        "x_train": "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757",
        "y_train": "1feba77c54802fa5339a11837ea4b2866434b83314ec45192930f1df69120c13",
        "x_test": "6d87418db22cc8025d05968bec9bd5c3932904b23485740db143a061a2c9d161",
        "y_test": "ddeff807876a9661a1110d45c266c86239a3a1b7d37da0c3716a7a683c852ff5",
    },
}


def load_mnist(source="sample"):
    """Load handwritten digits, as `keras.datasets.mnist.load_data()` does.

    Args:
        source: "sample" for the 5,000 digits in `data/`, no network needed;
            "full" for all 70,000, which the first call downloads into `data/`;
            or the path of an `.npz` with arrays x_train, y_train, x_test, y_test.

    Returns:
        `(x_train, y_train), (x_test, y_test)`, all uint8: images of shape
        (n, 28, 28), 0 for paper and 255 for ink, and labels 0 to 9 of shape (n,).
        The sample has n = 4,000 and 1,000, the full set 60,000 and 10,000.

    Raises:
        OSError: the file cannot be read (FileNotFoundError: there is none), or the
            full set cannot be downloaded or written; nothing is left then.
        ValueError: the file is cut, damaged, or holds something else. The arrays
            of both sets are checked against their SHA-256 sums on every load.

    Example:
        >>> (x_train, y_train), (x_test, y_test) = load_mnist()
        >>> x_train.shape, x_test.shape
        ((4000, 28, 28), (1000, 28, 28))

    Source: data/README.md is the data card, with licences and sums.
    """
    if source == "sample":
        return _read_mnist(_DATA / "mnist_sample.npz",
                           "restore it: git checkout -- data/mnist_sample.npz",
                           _MNIST_SUMS["sample"])
    if source == "full":
        path = _DATA / "mnist.npz"
        if not path.exists():
            _download_mnist(path)
        return _read_mnist(path, "delete it, and the next call downloads it anew",
                           _MNIST_SUMS["full"])
    if isinstance(source, (str, os.PathLike)) and Path(source).suffix == ".npz":
        return _read_mnist(Path(source), "give another file")
    raise ValueError(
        f'load_mnist: source must be "sample", "full" or the path of an .npz file, '
        f"got {source!r}"
    )


def _read_mnist(path, cure, sums=None, name=None):
    """The arrays of the file, every one of them checked."""
    try:
        file = io.BytesIO(path.read_bytes())
    except OSError as error:
        raise type(error)(f"{path} cannot be read: {error.strerror}; {cure}") from error
    try:
        arrays = _npz_arrays(file)
        _check_mnist(arrays, sums or {})
    except Exception as error:  # a damaged archive fails in a dozen ways
        raise ValueError(f"{name or path} cannot be used: {error}; {cure}") from error
    return ((arrays["x_train"], arrays["y_train"]),
            (arrays["x_test"], arrays["y_test"]))


def _npz_arrays(file):
    """The four arrays of an open .npz; pickled objects are never run."""
    if not zipfile.is_zipfile(file):
        raise ValueError("it is no .npz file, or its end is missing")
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        names = _MNIST_SUMS["full"]
        missing = [name for name in names if name not in archive.files]
        if missing:
            raise ValueError(f"it has no array {', '.join(missing)}")
        # asarray: a member that is no array comes as bytes
        return {name: np.asarray(archive[name]) for name in names}


def _check_mnist(arrays, sums):
    """Raise a ValueError that names the first array that is not as it must be."""
    for name, array in arrays.items():
        rank, shape = (3, "(n, 28, 28)") if name.startswith("x") else (1, "(n,)")
        if (array.dtype != np.uint8 or array.ndim != rank
                or array.shape[1:] != (28, 28)[:rank - 1]):
            raise ValueError(
                f"{name} is {array.dtype} of shape {array.shape}, expected uint8 of "
                f"shape {shape}"
            )
        found = hashlib.sha256(array.tobytes()).hexdigest()
        if found != sums.get(name, found):
            raise ValueError(
                f"{name} has the SHA-256 sum {found}, expected {sums[name]}"
            )
    for part in ("train", "test"):
        images, labels = arrays[f"x_{part}"], arrays[f"y_{part}"]
        if len(images) != len(labels):
            raise ValueError(
                f"x_{part} has {len(images)} images, but y_{part} has {len(labels)} "
                "labels"
            )
        if not len(labels) or labels.max() > 9:
            raise ValueError(f"y_{part} is empty or has labels above 9")


def _download_mnist(path):
    """Fetch the full set under a temporary name; rename it once it is checked.

    Each process fetches a copy of its own, so that two at once do no harm.
    """
    import keras  # only here: it is slow to load

    cure = ("check the network, or put a mnist.npz that you have into "
            f"{path.parent}; the sample needs neither")
    talks = keras.config.is_interactive_logging_enabled()
    keras.config.disable_interactive_logging()  # the progress bar, in this thread only
    try:
        path.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".mnist-", dir=path.parent) as folder:
            fetched = Path(keras.utils.get_file(
                "mnist.npz", _MNIST_ORIGIN, cache_dir=folder, cache_subdir=""))
            _read_mnist(fetched, cure, _MNIST_SUMS["full"],
                        name=f"what {_MNIST_ORIGIN} sent")
            os.replace(fetched, path)
    except ValueError:
        raise
    except Exception as error:  # Keras raises a bare Exception when a fetch fails
        raise OSError(
            f"{path} could not be downloaded from {_MNIST_ORIGIN}: {error}; {cure}"
        ) from error
    finally:
        if talks:
            keras.config.enable_interactive_logging()


# ----------------------------------------------------------- check_gradient

# For each dtype: the distance from 1 to the next number, and the relative
# tolerance, which leaves room for what rounding does to a gradient.
_PRECISION = {"float64": (2**-52, 1e-6), "float32": (2**-23, 3e-4),
              "float16": (2**-10, 2e-2), "bfloat16": (2**-7, 1e-1)}
_ONE_BY_ONE = 1000  # above so many elements: by random projections
_PROJECTIONS = 100  # so many, unless told otherwise
_PROBES = 600  # at most, to take apart the projections that disagree


class GradientReport:
    """What `check_gradient` found; true if the gradient is right.

    Attributes:
        ok: whether the gradient is right.
        lines: what `str(report)` shows, line by line.
        labels, analytic, numeric, wrong: lists with an entry for each input that
            was checked: "input 0", the gradient that TensorFlow computes, the
            central differences, and where these two disagree. Arrays of the
            input's shape, with a last axis (real, imaginary) for complex ones.
            Random projections have one entry for all inputs: the derivatives
            along the random directions. The upstream gradient is one of ones;
            where only a random one shows an error, it is that one.
        kinks, jumps: a text for each element at which f bends or jumps.
        undecided: how many elements have a gradient so small beside f that
            rounding hides whether it is right.
        second: the report on the second derivative; None for order=1.
    """

    def __init__(self):
        self.ok, self.lines, self.undecided, self.second = True, [], 0, None
        self.labels, self.analytic, self.numeric, self.wrong = [], [], [], []
        self.kinks, self.jumps = [], []

    def __bool__(self):
        return self.ok

    def __str__(self):
        return "\n".join(self.lines)

    __repr__ = __str__

    def draw(self):
        """Draw analytic, numeric and error side by side; returns the figure.

        A matrix is drawn as an image, all else as a line over its elements in
        order. Red crosses mark where the gradient is wrong.
        """
        import matplotlib.pyplot as plt

        rows = [row for r in (self, self.second) if r is not None
                for row in zip(r.labels, r.analytic, r.numeric, r.wrong, strict=True)]
        if not rows:
            raise ValueError("there is nothing to draw: " + self.lines[0])
        figure, grid = plt.subplots(len(rows), 3, figsize=(9, 2.6 * len(rows)),
                                    squeeze=False, layout="constrained")
        for axes, (label, analytic, numeric, wrong) in zip(grid, rows, strict=True):
            panels = [("analytic", analytic, "C0-o"), ("numeric", numeric, "C1--s"),
                      ("error", np.abs(analytic - numeric), "C2:.")]
            limits = [min(analytic.min(), numeric.min()),
                      max(analytic.max(), numeric.max())]
            matrix = analytic.ndim == 2 and min(analytic.shape) > 2
            for ax, (title, values, look) in zip(axes, panels, strict=True):
                if matrix:
                    low, high = limits if title != "error" else (None, None)
                    image = ax.imshow(values, aspect="auto", vmin=low, vmax=high)
                    figure.colorbar(image, ax=ax)
                    ax.set(xlabel="column", ylabel="row")
                else:
                    ax.plot(values.ravel(), look, markersize=3)
                    ax.set(xlabel="element", ylabel="derivative")
                ax.set_title(title)
            axes[0].set_ylabel(f"{label}\n{axes[0].get_ylabel()}")
            if matrix:
                axes[2].plot(*np.nonzero(wrong)[::-1], "rx")
            else:
                axes[0].sharey(axes[1])
                at = np.flatnonzero(wrong)
                axes[2].plot(at, panels[2][1].ravel()[at], "rx")
        return figure


def check_gradient(f, inputs, order=1, projections=None, rtol=None, seed=0):
    """Compare the gradient that TensorFlow computes with central differences.

    The gradient is computed by a tape in eager mode and inside a `tf.function`,
    for an upstream gradient of ones and for a random one of each output. An
    element whose two derivatives disagree at first is measured again with steps
    of many sizes, and the step of the smallest estimated error is believed. So a
    kink or a jump of f next to an element does not disturb; at the element itself
    the slopes on its two sides are found. The gradient has to lie between them,
    and the report names the place.

    Args:
        f: takes the inputs as arguments; returns a tensor or a list of tensors of
            any shape. Only outputs of float or complex dtype count.
        inputs: list of tensors, variables, arrays or numbers of any shape. Those
            of float or complex dtype are checked, the others held fixed. float64
            tells most: an error of a millionth is found there, in float32 one of
            a thousandth, in float16 of a twentieth, in bfloat16 of a fourth.
        order: 2 checks the first derivative, and then the derivative of that by
            the inputs and by the upstream gradient ("dy 0").
        projections: how many random directions to move the inputs in, instead of
            each element by itself; by default 100 above 1,000 elements. Each
            moves a part of the elements, no two the same; a part that disagrees
            is halved until a wrong element is found. Missed is what is small
            beside the rest of its part (1,000 for 10^5 elements): the tolerance
            holds for the norm of that part's gradient. A few wrong elements are
            found, not all of them counted. Kinks are named where they disturb.
        rtol: relative tolerance, added to the estimated error of the difference;
            by default 1e-6, 3e-4, 2e-2 or 1e-1, for the coarsest dtype in use.
        seed: of the random upstream gradients and directions.

    Returns:
        A `GradientReport`, which is true, prints well and draws itself.

    Raises:
        AssertionError: the gradient is wrong, missing, not finite, or of another
            shape; cannot be computed; depends on the mode; changes from call to
            call. The text names the worst element, the attribute `report` has
            the `GradientReport`, false.
        TypeError, ValueError: a wrong argument, nothing to differentiate, or an
            `f` that is not finite at the inputs.

    Example:
        >>> x = tf.constant([1.0, 2.0], tf.float64)
        >>> check_gradient(lambda x: x**2, [x])
        gradient right: 2 elements, order 1, eager and tf.function
        largest error: below 1e-06 of the largest derivative

    Source: the step eps**(1/3) |x| balances truncation and rounding (Nocedal and
    Wright, Numerical Optimization, 2nd edition, section 8.1). Steps of many sizes
    with an error estimated from neighbours: Ridders, Advances in Engineering
    Software 4 (1982) 75-76. Lesson 05 builds a check by hand.
    """
    if not callable(f):
        raise TypeError(f"check_gradient: f must be callable, got {f!r}")
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("check_gradient: inputs must be a list, got "
                        f"{type(inputs).__name__}; pass [x] for a single x")
    if order not in (1, 2):
        raise ValueError(f"check_gradient: order must be 1 or 2, got {order!r}")
    if projections is not None and (projections != int(projections)
                                    or projections < 1):
        raise ValueError("check_gradient: projections must be a positive integer or "
                         f"None, got {projections!r}")
    xs = [_as_tensor(*pair, "check_gradient") for pair in enumerate(inputs)]
    if not any(map(_differentiable, xs)):
        raise TypeError("check_gradient: no input is of float or complex dtype; got "
                        + (", ".join(x.dtype.name for x in xs) or "an empty list"))
    names = [f"input {i}" for i in range(len(xs))]
    options = projections, rtol, seed
    check = _GradientCheck(f, xs, names, "", *options)
    report = check.run()

    def first(*args):  # the first derivative is a function too, of inputs and dys
        dxs = _vjps(f, args[:len(xs)], [args[len(xs):]])[1][0]
        return [dx for dx in dxs if dx is not None]

    for dys, size in zip(check.upstreams[:2], check.sizes, strict=False):
        if order == 1 or size <= 1e3 * check.eps * check.sizes.max():
            continue  # a first derivative that is 0 but for rounding
        second_names = names + [f"dy {i}" for i in range(len(dys))]
        second = _GradientCheck(first, [*xs, *dys], second_names,
                                "second derivative, ", *options).run()
        report.second = report.second or second  # that of ones is easier to read
    report.lines = [f"gradient right: {check.x.size} elements, order {order}, eager "
                    "and tf.function", *report.lines,
                    *(report.second.lines if report.second else [])]
    return report


def _real(tensor):
    """Its numbers as one flat float64 vector; a complex one as two in a row."""
    array = np.atleast_1d(np.asarray(tensor))
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    return array.astype(np.float64).ravel()


def _outputs(f, xs):
    ys = [tf.convert_to_tensor(y) for y in tf.nest.flatten(f(*xs))]
    return [y for y in ys if _differentiable(y)]


def _vjps(f, xs, upstreams):
    """The outputs, and for each upstream gradient (one dy for each output) the
    gradients of the inputs: of those outputs and inputs that have one, by dtype."""
    watched = [x for x in xs if _differentiable(x)]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(watched)
        ys = _outputs(f, xs)
    dxs = [tape.gradient(ys, watched, list(dys)) for dys in upstreams]
    return ys, [[None if dx is None else tf.convert_to_tensor(dx) for dx in row]
                for row in dxs]


# What moving x did, and what was concluded. Arrays of K are one number for each
# upstream gradient.
_Probe = namedtuple("_Probe", "lengths changes along moved")
_Finding = namedtuple("_Finding", "kind analytic low high nearest bad hidden")


class _GradientCheck:
    """The check of one derivative. The inputs are one flat real vector x, the
    outputs another one y, and K upstream gradients weigh y: the rows of `weights`.

    A probe moves some elements of x, those in `where`, both ways along a direction.
    """

    def __init__(self, f, xs, names, prefix, projections, rtol, seed):
        self.f, self.xs, self.names, self.prefix = f, xs, names, prefix
        self.rng, self.report = np.random.default_rng(seed), GradientReport()
        self.probes = 0
        self.moved = [i for i, x in enumerate(xs) if _differentiable(x)]
        parts = [_real(xs[i]) for i in self.moved]
        self.x, self.ends = np.concatenate(parts), np.cumsum([p.size for p in parts])
        self.unit = np.concatenate([self.scale(xs[i]) for i in self.moved])
        ys = _outputs(f, xs)
        if not ys:
            raise TypeError(f"check_gradient: {prefix}f returns no float or complex "
                            "output")
        self.y, self.y_shapes = self.flat(ys), [y.shape for y in ys]
        if not np.isfinite(self.y).all():
            raise ValueError(f"check_gradient: {prefix}f is not finite at the inputs: "
                             f"{np.sum(~np.isfinite(self.y))} of {self.y.size} output "
                             "elements are inf or nan")
        dtypes = {t.dtype.real_dtype.name for t in [xs[i] for i in self.moved] + ys}
        if not dtypes <= _PRECISION.keys():
            raise TypeError("check_gradient: dtypes must be among "
                            f"{', '.join(_PRECISION)}, got {', '.join(dtypes)}")
        self.eps, tolerances = map(max, zip(*map(_PRECISION.get, dtypes), strict=True))
        self.rtol = tolerances if rtol is None else rtol
        self.digits = int(np.clip(-np.log10(self.rtol), 1, 4))
        self.upstreams = self.choose_upstreams(ys)
        self.weights = np.stack([self.flat(dys) for dys in self.upstreams])
        n = self.x.size
        self.projected = projections is not None or n > _ONE_BY_ONE
        count = min(n, projections or _PROJECTIONS) if self.projected else n
        order = self.rng.permutation(n) if self.projected else np.arange(n)
        self.parts = [np.sort(part) for part in np.array_split(order, count or 1)]

    def choose_upstreams(self, ys):
        """Ones, random numbers, and of several outputs each by itself."""

        def random(y):
            size = self.rng.uniform(1.25, 2, (2, *y.shape))  # never near to ones
            size *= self.rng.choice([-1, 1], size.shape)
            size = size[0] + 1j * size[1] if y.dtype.is_complex else size[0]
            return tf.constant(size.astype(y.dtype.as_numpy_dtype))

        mixed, zeros = [random(y) for y in ys], [tf.zeros_like(y) for y in ys]
        single = [[*zeros[:i], mixed[i], *zeros[i + 1:]] for i in range(len(ys))]
        return [[tf.ones_like(y) for y in ys], mixed, *(single if single[1:] else [])]

    @staticmethod
    def scale(x):
        """For each number of x what a step is relative to: |x|, or where that is
        (nearly) 0 a hundredth of what it is elsewhere."""
        size = np.abs(np.asarray(x).astype(complex)).ravel()
        floor = np.median(size[size > 0]) / 100 if size.any() else 1.0
        return np.repeat(np.maximum(size, floor), 2 if x.dtype.is_complex else 1)

    @staticmethod
    def flat(tensors):
        return np.concatenate([np.zeros(0), *map(_real, tensors)])

    def tensors(self, x):
        """The inputs of `f`, with numbers of `x` in those that move."""
        xs = list(self.xs)
        for i, part in zip(self.moved, np.split(x, self.ends[:-1]), strict=True):
            if xs[i].dtype.is_complex:
                part = part[::2] + 1j * part[1::2]
            part = part.astype(xs[i].dtype.as_numpy_dtype)
            xs[i] = tf.constant(part, shape=xs[i].shape)
        return xs

    # ..................................................... what TensorFlow computes

    def run(self):
        """Return the report, or raise AssertionError."""
        with np.errstate(all="ignore"):  # inf and nan are dealt with one by one
            self.require_same("f", self.y, self.flat(_outputs(self.f, self.xs)))
            eager, missing = self.gradients("eager mode")
            self.sizes = np.abs(eager).max(axis=1, initial=0)
            self.compare("eager mode", eager, missing)
            in_graph, also_missing = self.gradients("tf.function")
            if (missing != also_missing).any() or self.differ(eager, in_graph).any():
                self.compare("tf.function", in_graph, also_missing)
            self.require_same("f", self.y, self.flat(_outputs(self.f, self.xs)))
        return self.report

    def gradients(self, mode):
        """Flat gradients, a row for each upstream, and which elements have none."""

        def compute(*xs):
            return _vjps(self.f, xs, self.upstreams)

        def trace(autograph):  # one trace for sure, and no warning about many
            traced = tf.function(compute, autograph=autograph)
            return traced.get_concrete_function(*self.xs)

        try:
            try:
                run = compute if mode == "eager mode" else trace(autograph=False)
            except tf.errors.OperatorNotAllowedInGraphError:  # f has an `if` or a `for`
                run = trace(autograph=True)
            (ys, rows), (_, again) = run(*self.xs), run(*self.xs)
        except Exception as error:
            text = str(error).strip().split("\n")[0][:300]
            self.fail(f"no gradient in {mode}: {type(error).__name__}: {text}",
                      cause=error)
        y = self.flat(ys)
        if y.shape != self.y.shape or self.differ(self.y, y, self.rtol).any():
            self.fail("f changes from call to call" if mode == "eager mode" else
                      "f does not give the same in a tf.function as in eager mode")
        gradient = np.stack([self.flat_gradient(row, mode) for row in rows])
        self.require_same(f"the gradient in {mode}", gradient,
                          np.stack([self.flat_gradient(row, mode) for row in again]))
        sizes = np.diff(self.ends, prepend=0)
        return gradient, np.repeat([dx is None for dx in rows[0]], sizes)

    def flat_gradient(self, dxs, mode):
        """One gradient for each input that moves, as one vector, zeros for None."""
        dense = []
        for i, dx in zip(self.moved, dxs, strict=True):
            x = self.xs[i]
            dx = tf.zeros_like(x) if dx is None else dx
            if dx.shape != x.shape:
                hint = ("; sum it over the axes that f broadcast"
                        if dx.shape.num_elements() > x.shape.num_elements() else "")
                self.fail(f"{self.names[i]}: the gradient has shape {dx.shape}, the "
                          f"input has {x.shape} ({mode}){hint}")
            if dx.dtype != x.dtype:
                self.fail(f"{self.names[i]}: the gradient is {dx.dtype.name}, the "
                          f"input is {x.dtype.name} ({mode})")
            dense.append(dx)
        return self.flat(dense)

    def differ(self, first, second, rtol=None):
        """Where two results are further apart than rounding puts them."""
        size = np.maximum(np.abs(first), np.abs(second))
        bound = (rtol or 1e3 * self.eps) * size[np.isfinite(size)].max(initial=0)
        return ~((np.abs(first - second) <= bound) | (first == second)
                 | (np.isnan(first) & np.isnan(second)))

    def require_same(self, what, first, second):
        if first.shape != second.shape:
            self.fail(f"{what} has outputs of another size from call to call")
        differ = self.differ(first, second)
        if differ.any():
            k = int(differ.argmax())
            a, b = (self.short(values.ravel()[k]) for values in (first, second))
            self.fail(f"{what} changes from call to call: {a}, then {b}")

    # ............................................................ central differences

    def probe(self, where, direction, t):
        """Go from x to x - step and to x + step, where step = t * unit * direction.

        Returns lengths (2,) and changes (2, K) of the weighed outputs, on the left
        and on the right; `along` (of `where`), the change of x for a length of 1;
        and which outputs move.
        """
        self.probes += 1
        steps, changes = [], []
        for side in (-1, 1):
            x = self.x.copy()
            x[where] += side * t * self.unit[where] * direction
            xs = self.tensors(x)
            moved = self.flat(xs[i] for i in self.moved)
            y = self.flat(_outputs(self.f, xs))
            if y.shape != self.y.shape:
                raise ValueError("check_gradient: the shape of an output depends on "
                                 "the values of the inputs")
            steps.append(side * (moved[where] - self.x[where]))
            changes.append(side * (y - self.y))
        lengths = np.linalg.norm(steps, axis=1)
        return _Probe(lengths, np.stack(changes) @ self.weights.T,
                      np.sum(steps, axis=0) / lengths.sum(),
                      np.any(np.not_equal(changes, 0), axis=0))

    def noise(self, moved):
        """What rounding may do to a change of the weighed outputs, (K,)."""
        return 4 * self.eps * np.linalg.norm((self.weights * self.y)[:, moved], axis=1)

    def agrees(self, where, direction, gradient):
        """Whether one probe is enough to see that the gradient is right.

        Returns that, its foretold and its measured derivative, and their misfit.
        """
        p = self.probe(where, direction, np.cbrt(self.eps))
        foretold = gradient[:, where] @ p.along
        measured = p.changes.sum(axis=0) / p.lengths.sum()
        if not p.moved.any() and not foretold.any():  # lost in rounding, or nothing?
            far = self.probe(where, direction, 0.4 / min(1, self.unit[where].max()))
            return not far.moved.any(), foretold, measured, 0.0
        size = np.maximum(np.abs(measured),
                          np.linalg.norm(gradient[:, where] * p.along, axis=1))
        noise = self.noise(p.moved) / p.lengths.sum()
        error = np.abs(foretold - measured)
        fine = error <= self.rtol / 2 * size + noise
        fine &= noise <= self.rtol * max(size)
        if where.size == 1:  # at a kink the two sides differ
            fine &= np.abs(np.diff(p.changes / p.lengths[:, None], axis=0)[0]) <= (
                0.05 * max(size))
        misfit = np.max(error / np.where(size > 0, size, 1))
        return bool(fine.all()), foretold, measured, misfit

    def ladder(self, where, direction):
        """Probes of many step sizes, the smallest first, without repetitions."""
        low, high = self.eps ** (2 / 3), 0.4
        if where.size == 1:  # from next to x to where f is no longer its rounding
            unit = self.unit[where[0]]
            near = abs(self.x[where[0]]) / unit or 1.0
            low, high = self.eps * np.clip(near, 1e-6, 1), 0.4 / min(1, unit)
        ratio = np.clip(self.eps ** (-1 / 16), 2, 8)
        count = int(np.log(high / low) / np.log(ratio)) + 1
        probes = [self.probe(where, direction, high / ratio**n)
                  for n in reversed(range(count))]
        distinct, last = [], np.zeros(2)
        for p in probes:
            if (p.lengths > last).all():
                distinct.append(p)
                last = p.lengths
        return distinct

    def look_closer(self, where, direction, gradient):
        """Find the derivative, or that of either side, by steps of many sizes."""
        probes = self.ladder(where, direction)
        lengths, changes = (np.stack([getattr(p, name) for p in probes])
                            for name in ("lengths", "changes"))
        finite = np.isfinite(changes).all(axis=2)
        moved = np.any([p.moved for p in probes], axis=0)
        noise = self.noise(moved)
        rough = self.roughness(lengths, changes, finite)
        # More than a hundredth of f would be a fast f, and no noise.
        noise = np.where(rough * self.eps < 0.0025 * noise, np.maximum(noise, rough),
                         noise)
        both = finite.all(axis=1)
        kind, end = "edge", 0
        if both.sum() > 1:
            kind, end = self.kind(lengths[both], changes[both], noise)
        if where.size > 1 and both.all():  # some of many always have a kink nearby
            _, derivative, error = self.central(lengths, changes, noise)
            if (error < 0.01 * np.abs(derivative).max()).all():
                kind, end = "smooth", len(lengths)
        along = [probes[0].along] * len(noise)
        if kind == "smooth":
            best, derivative, error = self.central(lengths[both][:end],
                                                   changes[both][:end], noise)
            along = [np.stack([p.along for p in probes])[both][m] for m in best]
            low = high = derivative
        else:
            sides = [self.one_sided(lengths[finite[:, s], s],
                                    changes[finite[:, s], s], noise)
                     for s in (0, 1) if finite[:, s].sum() > 1]
            unknown = np.full((1, len(noise)), np.nan)
            slopes, errors = zip(*sides, strict=True) if sides else (unknown, unknown)
            low, high, error = np.min(slopes, 0), np.max(slopes, 0), np.max(errors, 0)
        analytic = np.array([row[where] @ a for row, a in
                             zip(gradient, along, strict=True)])
        nearest = np.clip(analytic, low, high)
        size = np.maximum(np.abs(analytic), np.abs(nearest))
        slack = 2 * error + self.rtol * size
        # An output may depend on x so little that it never moves.
        largest = np.abs(self.weights * self.y).max(axis=1, initial=0)
        unseen = 4 * self.eps * largest / lengths[max(end, 1) - 1].sum()
        bad = ~(np.abs(analytic - nearest) <= slack + unseen) & ~np.isnan(low)
        bad |= ~np.isfinite(analytic)
        hidden = bool(((slack > size / 2) & (size > unseen)).any() and not bad.any()
                      and (slack > size / 2).all())
        return _Finding(kind, analytic, low, high, nearest, bad, hidden)

    @staticmethod
    def central(lengths, changes, noise):
        """Of the central differences those with the smallest estimated errors.

        The error is what rounding does, plus what the difference to the next longer
        step or to any shorter one shows beyond rounding.
        """
        length = lengths.sum(axis=1)[:, None]
        derivative, rounding = changes.sum(axis=1) / length, noise / length
        gap = np.abs(np.diff(changes / lengths[..., None], axis=1)[-1])
        longer = np.vstack([np.abs(np.diff(derivative, axis=0)) / 2, gap])
        differ = np.abs(derivative[:, None] - derivative) - rounding
        is_shorter = np.tri(len(length), k=-1)[..., None]
        shorter = np.where(is_shorter, differ, 0).max(axis=1)
        error = rounding + np.maximum(longer, np.maximum(shorter, 0))
        best = error.argmin(axis=0)
        row = best, np.arange(len(noise))
        return best, derivative[row], error[row]

    @staticmethod
    def one_sided(lengths, changes, noise):
        """The same for the slopes on one side, between one step and the next: at a
        jump x itself may belong to the other side."""
        run = np.diff(lengths)[:, None]
        slope = np.diff(changes, axis=0) / run
        step = np.abs(np.diff(slope, axis=0))
        error = noise / run + np.vstack([step, step[-1:] if len(step) else 0 * slope])
        row = error.argmin(axis=0), np.arange(len(noise))
        return slope[row], error[row]

    @staticmethod
    def roughness(lengths, changes, finite):
        """Noise as it shows: how far the change of a step is from the straight line
        between its neighbours, at steps too small for curvature. Of these the
        larger, but not the largest: they may show a jump close to x."""
        rough = []
        for s in (0, 1):
            x, y = lengths[finite[:, s], s][:, None], changes[finite[:, s], s]
            part = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
            rough.append(np.abs(y[1:-1] - y[:-2] - part * (y[2:] - y[:-2])))
        rough = np.concatenate([side[:min(5, -(-len(side) // 3))] for side in rough])
        return 2 * np.quantile(rough, 0.7, axis=0) if len(rough) else 0.0

    @staticmethod
    def kind(lengths, changes, noise):
        """Smooth, kink or jump at x, and how many steps reach no further one.

        As steps shrink, the gap between the slopes on the left and on the right, or
        between a slope and that from there on, shrinks like the steps where f is
        smooth, stays at a kink, and grows at a jump.
        """
        slopes = changes / lengths[..., None]
        beyond = np.diff(changes, axis=0) / np.diff(lengths, axis=0)[..., None]
        gaps = np.abs(np.diff(slopes, axis=1)[:, 0])
        gaps[:-1] = np.maximum(gaps[:-1], np.abs(beyond - slopes[:-1]).max(axis=1))
        length = lengths.mean(axis=1)
        blurred = 2 * noise / length[:, None]
        kinds, end = {"smooth"}, len(gaps)
        for gap, blur in zip(gaps.T, blurred.T, strict=True):
            for m in range(len(gap) - 1):
                ratio = length[m + 1] / length[m]
                if min(gap[m] / ratio, gap[m + 1]) <= 4 * blur[m]:
                    continue  # it drowns in rounding
                power = np.log(gap[m + 1] / gap[m]) / np.log(ratio)
                if power < 0.5:
                    if m and gap[m - 1] < 0.75 * gap[m]:  # at a distance from x
                        end = min(end, m)
                    else:
                        kinds.add("jump" if power < -0.5 else "kink")
                    break
        return min(kinds, key=["jump", "kink", "smooth"].index), end

    # ................................................................. the verdict

    def compare(self, mode, gradient, missing):
        """Fill the report, or fail."""
        parts, doubts, findings, self.report = [], [], {}, GradientReport()
        for where in self.parts if self.x.size else []:
            direction = self.direction(where)
            fine, foretold, measured, misfit = self.agrees(where, direction, gradient)
            parts.append((foretold, measured))
            if not fine:
                doubts.append((misfit, where, direction))
        doubts = deque(pair for _, *pair in sorted(doubts, key=lambda d: d[0]))
        self.probes, wrong = 0, []
        enough = _PROBES if self.projected else np.inf
        while doubts and self.probes < enough and not (
                self.projected and len(wrong) >= 3):
            where, direction = doubts.pop()
            found = self.look_closer(where, direction, gradient)
            self.report.undecided += where.size * found.hidden
            if where.size == 1:
                findings[int(where[0])] = found
                wrong += [int(where[0])] if found.bad.any() else []
            elif found.kind != "smooth" or found.bad.any():  # halve it
                later = doubts.append if found.bad.any() else doubts.appendleft
                for half in np.array_split(self.rng.permutation(where), 2):
                    direction = self.direction(half)
                    if not self.agrees(half, direction, gradient)[0]:
                        later((half, direction))
        analytic, numeric = np.array(parts).reshape(
            len(parts), 2, len(self.weights)).transpose(1, 2, 0)
        if not self.projected:
            for k, found in findings.items():
                numeric[:, k] = found.nearest
        u = self.telling_upstream([findings[k] for k in wrong])
        self.fill_report(analytic[u], numeric[u], wrong)
        self.describe(findings, missing, np.abs(analytic - numeric).max(initial=0)
                      / (np.abs(analytic).max(initial=0) or 1))
        if wrong:
            self.fail_at(wrong, u, findings, gradient, missing, mode)
        unseen = sum(where.size for where, _ in doubts)
        if unseen:
            self.report.lines.append(
                f"{self.prefix}{unseen} elements were not told apart: f bends or jumps "
                "at many of them; check fewer elements, or other inputs")

    @staticmethod
    def telling_upstream(wrong):
        """The upstream gradient to speak of: ones, if they show the error well."""
        errors = [found.bad * np.nan_to_num(
            np.abs(found.analytic - found.nearest)
            / np.maximum(np.abs(found.analytic), np.abs(found.nearest)), nan=1)
            for found in wrong]
        worst = np.max(errors, axis=0, initial=0) if wrong else np.zeros(1)
        return 0 if worst[0] > 0.1 * worst.max() else int(worst.argmax())

    def direction(self, where):
        """Random, so that errors do not cancel; for one element to the right."""
        size = self.rng.uniform(0.5, 1, where.size)
        return (size * self.rng.choice([-1, 1], where.size) if where.size > 1
                else np.ones(1))

    def fill_report(self, analytic, numeric, wrong):
        r = self.report
        if self.projected:
            r.labels = ["random directions"]
            r.analytic, r.numeric = [analytic], [numeric]
            r.wrong = [np.array([np.isin(wrong, part).any() for part in self.parts])]
            return
        marks = np.isin(np.arange(self.x.size), wrong)
        for i, *rows in zip(self.moved, *(np.split(row, self.ends[:-1]) for row in
                                          (analytic, numeric, marks)), strict=True):
            shape = (*self.xs[i].shape, 2)[:None if self.xs[i].dtype.is_complex else -1]
            r.labels.append(self.prefix + self.names[i])
            for values, row in zip((r.analytic, r.numeric, r.wrong), rows, strict=True):
                values.append(row.reshape(shape))

    def describe(self, findings, missing, error):
        """Write the lines of a report on a right gradient."""
        r = self.report
        power = np.ceil(np.log10(max(error, self.rtol)))
        r.lines = [f"{self.prefix}largest error: below {10**power:.0e} of the largest "
                   "derivative"]
        if self.projected:
            r.lines.append(f"{self.prefix}{len(self.parts)} random directions, each of "
                           f"at most {self.parts[0].size} elements")
        for i, none in zip(self.moved, np.split(missing, self.ends[:-1]), strict=True):
            if none.any():
                r.lines.append(f"{self.prefix}{self.names[i]}: no gradient, and none "
                               "is needed: the outputs do not depend on it")
        for k, found in sorted(findings.items()):
            a, low, high = (self.short(v[0], found.high[0] - found.low[0]) for v in
                            (found.analytic, found.low, found.high))
            if found.kind == "kink":
                r.kinks.append(f"{self.place(k)}: a kink, the gradient {a} lies "
                               f"between the slopes {low} and {high}")
            elif found.kind == "jump":
                r.jumps.append(f"{self.place(k)}: a jump, the gradient {a} is that "
                               f"beside it, {low} to {high}")
            elif found.kind == "edge":
                r.jumps.append(f"{self.place(k)}: f is not finite on one side, the "
                               f"gradient {a} is that of the other")
        for texts in (r.kinks, r.jumps):
            r.lines += texts[:5]
            if len(texts) > 5:
                r.lines.append(f"and {len(texts) - 5} more like this")
        if r.undecided:
            r.lines.append(f"{self.prefix}{r.undecided} of {self.x.size} elements "
                           "undecided: rounding in f hides so small gradients")

    def short(self, number, scale=0.0, digits=4):
        """Few digits, with a point: 4.0 and not 4; rounding noise is 0.0."""
        if abs(number) < 10.0**-self.digits * abs(scale):
            number = 0.0
        return str(float(f"{number:.{digits}g}"))

    def place(self, k):
        """Name the input and the element of number `k` of the flat x."""
        part = int(np.searchsorted(self.ends, k, side="right"))
        x = self.xs[self.moved[part]]
        k -= self.ends[part - 1] if part else 0
        half = ""
        if x.dtype.is_complex:
            half, k = (" (imaginary part)" if k % 2 else " (real part)"), k // 2
        index = tuple(int(n) for n in np.unravel_index(k, x.shape))
        return f"{self.prefix}{self.names[self.moved[part]]}, element {index}{half}"

    def fail_at(self, wrong, u, findings, gradient, missing, mode):
        """Fail: first the worst element, then what else is known."""
        shown = [k for k in wrong if findings[k].bad[u]]
        error = [abs(findings[k].analytic[u] - findings[k].nearest[u]) for k in shown]
        k = shown[int(np.nan_to_num(error, nan=np.inf).argmax())]
        found = findings[k]
        a, n = found.analytic[u], found.nearest[u]
        none = missing[k]
        numeric = self.short(n, a, self.digits)
        count = f"{'at least ' if self.projected else ''}{len(wrong)}"
        lines = [f"{self.place(k)}: analytic {'None' if none else self.short(a)}, "
                 f"numeric {numeric} ({count} of {self.x.size} elements wrong)",
                 f"found in {mode}, upstream gradient: {'random' if u else 'ones'}"]
        if not none and self.short(a) == self.short(n):
            lines.append(f"they differ by a part of {abs(a - n) / abs(n):.0e}")
        if u > 1:
            lines[1] += f" for output {u - 2}, zeros for the others"
        lines += self.hints(found, u, none, gradient)
        both = np.array([(findings[k].analytic[u], findings[k].nearest[u])
                         for k in shown]).T
        if len(shown) > 1 and both[1].all() and np.isfinite(both).all():
            ratios = both[0] / both[1]
            if np.ptp(ratios) < 10 * self.rtol * abs(ratios[0]):
                lines.append(f"analytic / numeric is {self.short(ratios[0])} in all of "
                             "them")
        self.fail("\n".join(lines))

    def hints(self, found, u, none, gradient):
        lines = []
        if found.kind in ("kink", "jump"):
            low, high = (self.short(v[u], found.high[u] - found.low[u])
                         for v in (found.low, found.high))
            lines.append(f"f has a {found.kind} there, with the slopes {low} and "
                         f"{high}: the gradient lies outside")
        if none:
            lines.append("there is no gradient, but the outputs depend on this input")
        elif not np.isfinite(gradient).all():
            lines.append("the gradient is inf or nan where f is finite")
        zeros = [tf.zeros_like(dy) for dy in self.upstreams[0]]
        at_zero = [dx for dx in _vjps(self.f, self.xs, [zeros])[1][0] if dx is not None]
        if np.nan_to_num(self.flat(at_zero), posinf=0, neginf=0).any():
            lines.append("it is not 0 for an upstream gradient of 0: some of it is not "
                         "multiplied by dy")
        elif u:
            lines.append("it is right for an upstream gradient of ones: look at how dy "
                         "enters")
        r = self.report
        for i, a, n in zip(self.moved, r.analytic, r.numeric, strict=False):
            close = partial(np.allclose, rtol=10 * self.rtol, atol=0)
            if self.projected or close(a, n):
                continue
            if self.xs[i].dtype.is_complex and close(a * [1, -1], n):
                lines.append(f"{self.names[i]}: it is the complex conjugate of what "
                             "TensorFlow expects, dy * conj(f'(z))")
            elif a.ndim == 2 and a.shape == a.T.shape and close(a.T, n):
                lines.append(f"{self.names[i]}: it is the transpose of the right one")
        return lines

    def fail(self, text, cause=None):
        text = text if text.startswith(self.prefix) else self.prefix + text
        self.report.ok, self.report.lines = False, text.split("\n")
        error = AssertionError(text)
        error.report = self.report
        raise error from cause


# ----------------------------------------------------------------- load_op

# Op name -> (library, source, module). A reload of this file must not empty it:
# what a process has loaded it cannot unload.
_loaded_ops = globals().get("_loaded_ops", {})

_NO_COMPILER = (
    "load_op found no C++ compiler: install one (Debian, Ubuntu: sudo apt install "
    "g++; Fedora: sudo dnf install gcc-c++; macOS: xcode-select --install; Windows: "
    "work in WSL) and start again"
)


def load_op(source):
    """Compile a C++ file against the installed TensorFlow and load its ops.

    The first call takes about ten seconds, nearly all of it for TensorFlow's
    headers. The library is kept in the folder `tensorflow-load-op` of the user's
    cache (`$XDG_CACHE_HOME`, else `~/.cache`), and every later call for the same
    source, headers, compiler, flags and TensorFlow takes milliseconds. The folder
    may be deleted at any time. Lesson 07 begins with it.

    Args:
        source: path of the file, or the name of one in `notebooks/cpp/`. Headers
            of its own lie beside it. The environment variable CXX names another
            compiler than g++, clang++ or c++.

    Returns:
        The module of Python functions that `tf.load_op_library` makes: for an op
        ZeroOut it holds `zero_out`. It also gets a `RegisterGradient`, which does
        what `tf.RegisterGradient` does and may be run again, where TensorFlow's
        raises a KeyError; the newest gradient counts (but what a `tf.function` has
        traced stays). In a notebook without a compiler: None, after a sentence
        that says what to install; from then on cells that begin with the line
        `# C++` are skipped.

    Raises:
        FileNotFoundError: no such file or, outside a notebook, no compiler.
        ValueError: the file does not compile; shows the compiler's first error.
        RuntimeError: an op of this name is loaded, from the source as it was
            before a change or from another file. TensorFlow would go on with the
            old code or with none. Restart the kernel.
        OSError: the cache cannot be written.

    Example:
        >>> zero_out = load_op("zero_out.cc").zero_out
        >>> zero_out([5.0, 6.0, 7.0]).y.numpy().tolist()
        [5.0, 0.0, 0.0]

    Source: https://www.tensorflow.org/guide/create_op for the command.
    """
    path = Path(source)
    if not path.is_file():
        path = Path(__file__).with_name("notebooks") / "cpp" / path
    if not path.is_file():
        raise FileNotFoundError(f"load_op: there is no file {source}, nor {path}")
    path = path.resolve()
    compiler, version = _compiler()
    if compiler is None:
        return _go_on_without_compiler()

    # -isystem: with -I, g++ warns about TensorFlow's headers. -O3: with -O2, g++ 12
    # does not use vector instructions.
    command = [*compiler, "-shared", "-fPIC", "-O3", path.name] + [
        flag.replace("-I", "-isystem", 1) if flag.startswith("-I") else flag
        for flag in tf.sysconfig.get_compile_flags() + tf.sysconfig.get_link_flags()
    ]
    if sys.platform == "darwin":
        command += ["-undefined", "dynamic_lookup"]
    text, *headers = (
        file.read_bytes() for file in [path, *sorted(path.parent.glob("*.h"))]
    )
    built_from = repr((command, version, tf.__version__, os.uname().machine,
                       text, headers))
    key = hashlib.sha256(built_from.encode()).hexdigest()[:20]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    library = cache / "tensorflow-load-op" / f"{path.stem}-{key}.so"

    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text.decode(), flags=re.DOTALL)
    ops = re.findall(r'\bREGISTER_OP\(\s*"([^"]+)"', code)
    for op in ops:
        if op in _loaded_ops and _loaded_ops[op][0] == library:
            return _loaded_ops[op][2]
        _refuse_loaded(op, path)
    if not library.exists():
        _compile(command, path, library)
    module = tf.load_op_library(str(library))
    _loaded_ops.update((op, (library, path, module)) for op in ops)
    module.RegisterGradient = _register_gradient_anew({})
    return module


def _compiler():
    """The C++ compiler's command, as a list, and its version; None where is none."""
    names = [os.environ["CXX"]] if os.environ.get("CXX") else ["g++", "clang++", "c++"]
    for command in map(shlex.split, names):
        if sys.platform != "win32" and shutil.which(command[0]):
            # Without its developer tools, macOS has a g++ that only complains.
            run = subprocess.run([*command, "--version"], capture_output=True,
                                 check=False)
            if run.returncode == 0:
                return command, run.stdout
    return None, None


def _go_on_without_compiler():
    shell = "IPython" in sys.modules and sys.modules["IPython"].get_ipython()
    if not shell:
        raise FileNotFoundError(_NO_COMPILER)
    print(f"{_NO_COMPILER}; until then the cells that need it are skipped.")
    shell.input_transformers_cleanup.append(_skip_cpp_cell)


def _skip_cpp_cell(lines):
    if lines and lines[0].rstrip() == "# C++":
        return ["print('Skipped: this cell needs a C++ compiler.')\n"]
    return lines


def _is_op(name):
    try:
        return bool(tf.Graph().op_def_for_type(name))
    except RuntimeError:
        return False


def _refuse_loaded(op, path):
    """Raise in words before TensorFlow loads an op twice, which breaks both."""
    if not _is_op(op):
        return
    if hasattr(tf.raw_ops, op):
        raise RuntimeError(
            f"TensorFlow has an op {op} of its own: give the one in {path.name} "
            "another name"
        )
    other = _loaded_ops[op][1] if op in _loaded_ops else "another library"
    where = "it was compiled before a change" if other == path else f"from {other}"
    raise RuntimeError(
        f"cannot load {path}: the op {op} is already loaded ({where}), and no "
        "process can load an op twice; restart the kernel, then run this cell first"
    )


def _compile(command, path, library):
    """Build under a temporary name, so that nobody ever meets half a library."""
    try:
        library.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(prefix="build-", dir=library.parent)
    except OSError as error:
        raise OSError(
            f"load_op cannot write to its cache ({error}); set XDG_CACHE_HOME to a "
            "folder that can be written"
        ) from error
    with folder:
        built = os.path.join(folder.name, library.name)
        run = subprocess.run(
            [*command, "-o", built], cwd=path.parent, check=False, text=True,
            errors="replace", capture_output=True, env={**os.environ, "LC_ALL": "C"})
        if run.returncode:
            lines = run.stderr.splitlines() or ["the compiler gives no reason"]
            bad = [i for i, line in enumerate(lines)
                   if "error: " in line or "undefined reference" in line]
            first = bad[0] if bad else 0
            more = f"\n(and {len(bad) - 1} more)" if len(bad) > 1 else ""
            raise ValueError(f"{path.name} does not compile, first error:\n"
                             + "\n".join(lines[first:first + 3]) + more)
        os.replace(built, library)


def _register_gradient_anew(newest):
    def register_gradient(op_type):
        if not _is_op(op_type):
            raise ValueError(f"RegisterGradient: no op of the name {op_type} is loaded")

        def decorator(grad):
            if op_type not in newest:
                tf.RegisterGradient(op_type)(
                    lambda op, *dys: newest[op_type](op, *dys))
            newest[op_type] = grad
            return grad

        return decorator

    return register_gradient
