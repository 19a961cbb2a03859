"""The helper that every lesson imports, and that you may copy into work of your own.

* `py_func` turns a NumPy function into a TensorFlow op with its own gradient.
* `load_mnist` loads handwritten digits, with no network.
* `check_gradient` compares an op's gradient with central differences.

Import this module before TensorFlow: it keeps TensorFlow's start-up messages out
of your notebook and makes its numbers independent of the processor.
"""

import contextlib
import hashlib
import io
import os
import re
import sys
import tempfile
import traceback
import uuid
import zipfile
from collections import namedtuple
from pathlib import Path

import numpy as np

# ---------------------------------------------------------------- start-up

# oneDNN picks its kernels by processor, and with them the last digits change.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")


@contextlib.contextmanager
def _stderr_held_back():
    """Keep what C++ writes to file descriptor 2, and show it only on failure.

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
            os.dup2(saved, 2)
            held.seek(0)
            os.write(2, held.read())
            raise
        finally:
            os.dup2(saved, 2)
            os.close(saved)


if "tensorflow" in sys.modules:  # then devices may still have to be configured
    import tensorflow as tf
else:
    with _stderr_held_back():
        import tensorflow as tf

        tf.identity(0.0)  # the first op starts the devices, and they write too

# ------------------------------------------------- private TensorFlow, all of it

# Two names that TensorFlow does not export. tests/test_private_names.py says in
# words what to do when a release moves them.
#   record_operation puts a Python gradient on every tape that watches: the public
#     tf.custom_gradient does too, but keeps each closure alive for ever.
#   _py_funcs is the table in which the op PyFunc finds its Python function, by
#     token. It holds the function weakly: the graphs that use it keep it alive.
from tensorflow.python.eager.record import (  # noqa: E402
    record_operation,
    stop_recording,
)
from tensorflow.python.ops.script_ops import _py_funcs  # noqa: E402

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


class _PyOp:
    """The Python half of one op: its two functions, and the promises about them.

    A graph's op PyFunc finds it in the table `_py_funcs` and calls it.
    """

    def __init__(self, func, Tout, grad, name):
        self.func, self.grad, self.specs = func, grad, _specs(Tout)
        qualname = getattr(func, "__qualname__", type(func).__name__)
        name = name or getattr(func, "__name__", type(func).__name__)
        self.name = re.sub(r"[^A-Za-z0-9_./-]", "", name).lstrip("_/-") or "py_func"
        self.label = (f"py_func '{self.name}' (function "
                      f"{qualname.split('<locals>.')[-1]})")

    def run(self, arrays):
        """Call `func` on read-only arrays; return arrays as `Tout` promised."""
        for array in arrays:
            array.flags.writeable = False  # the memory is TensorFlow's
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
        if array.dtype != spec.numpy_dtype or spec.dtype == tf.string:
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

    @tf.autograph.experimental.do_not_convert
    def __call__(self, *arrays):
        """Run inside a graph, which takes the arrays over without a copy."""
        arrays = [np.asarray(a, object if isinstance(a, bytes) else None)
                  for a in arrays]  # a scalar arrives as a number
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


def _as_tensor(index, x):
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
    raise TypeError(f"py_func: input {index} is of type {type(x).__name__}{reason}; "
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
    jit_compile=False), and it runs in this process, on the CPU.

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
        return keras.layers.Lambda(
            lambda xs: py_func(func, xs, Tout, stateful, name, grad))(list(inp))
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

# Relative tolerance by dtype: above what rounding does to a central difference,
# which loses a third of the digits, and below the factor 1.001 where it can be.
_EPS = {"float64": 2**-52, "float32": 2**-23, "float16": 2**-10, "bfloat16": 2**-7}
_RTOL = {"float64": 1e-6, "float32": 4e-4, "float16": 2e-2, "bfloat16": 1e-1}


class GradientReport:
    """What `check_gradient` found; true if the gradient is right.

    Attributes:
        ok: whether the gradient is right.
        lines: what `str(report)` shows, line by line.
        analytic, numeric: for each comparison the derivative that TensorFlow
            computes and the central difference, float64 arrays of equal length.
        kinks, jumps, doubts: text for each element at which f bends or jumps, or
            where no central difference can be trusted.
    """

    def __init__(self):
        self.ok, self.lines = True, []
        self.kinks, self.jumps, self.doubts = [], [], []
        self.analytic, self.numeric = np.zeros(0), np.zeros(0)

    def __bool__(self):
        return self.ok

    def __str__(self):
        return "\n".join(self.lines)

    __repr__ = __str__

    def draw(self):
        """Analytic, numeric and error side by side; returns the figure."""
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 3, figsize=(9, 2.6), layout="constrained")
        panels = [("analytic", self.analytic, "C0", "-"),
                  ("numeric", self.numeric, "C1", "--"),
                  ("error", np.abs(self.analytic - self.numeric), "C3", ":")]
        for ax, (title, values, colour, style) in zip(axes, panels, strict=True):
            ax.plot(values, style, color=colour, marker=".")
            ax.set(title=title, xlabel="comparison", ylabel="derivative")
        axes[2].set_ylabel("|analytic − numeric|")
        axes[1].sharey(axes[0])
        return figure


def check_gradient(f, inputs, order=1, max_evaluations=1000, seed=0):
    """Compare the gradient that TensorFlow computes with central differences.

    The gradient is computed by a tape in eager mode and inside a `tf.function`,
    for the sum of the outputs (upstream gradients of one) and for a random
    upstream gradient. The step of each central difference is scaled to the dtype
    and to |x|; where a comparison is in doubt, more steps are tried and the one of
    the smallest estimated error is believed.

    Where the inputs have more elements than can be tried one by one, groups of
    them are moved at once, each by its own random sign, and only groups that fail
    are looked into. Two errors in one group that cancel are missed; so is an error
    below the tolerance of its group.

    Args:
        f: takes the inputs as arguments; returns a tensor or a list of tensors.
            Outputs that are not float or complex are left out.
        inputs: list of tensors, arrays or numbers of any shape. Those of float or
            complex dtype are checked, the others held fixed. float64 tells most:
            there an error of a millionth is found, in float32 one of 4e-4, in
            float16 of 2e-2, in bfloat16 of 1e-1.
        order: 2 checks the first derivative and then the second.
        max_evaluations: of `f`, about, before groups are formed.
        seed: of the random upstream gradients and signs.

    Returns:
        A `GradientReport`, which is true, prints well and draws itself.

    Raises:
        AssertionError: the gradient is wrong, missing, of another shape, depends
            on the mode, or differs from call to call. The text names the worst
            element; the attribute `report` holds the report.
        TypeError, ValueError: nothing to differentiate, a wrong argument, or an
            `f` that is not finite at the inputs.

    Example:
        >>> check_gradient(tf.sin, [tf.constant([0.0, 1.0], tf.float64)])
        gradient right: 2 elements, order 1, eager and tf.function
        largest error: below 1e-06 of the derivative

    Source: the step eps**(1/3) |x| balances rounding and truncation, see Nocedal
    and Wright, Numerical Optimization, 2nd ed., section 8.1. Lesson 05 builds the
    check by hand.
    """
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("check_gradient: inputs must be a list, got "
                        f"{type(inputs).__name__}; pass [x] for a single x")
    if order not in (1, 2):
        raise ValueError(f"check_gradient: order must be 1 or 2, got {order!r}")
    inputs = [_as_tensor(*pair) for pair in enumerate(inputs)]
    if not any(map(_differentiable, inputs)):
        raise TypeError("check_gradient: no input is of float or complex dtype; got "
                        + ", ".join(x.dtype.name for x in inputs))
    moved = [i for i, x in enumerate(inputs) if _differentiable(x)]
    check = _GradientCheck(f, inputs, moved, max_evaluations, seed)
    report = check.run("")
    if order == 2:
        # The first derivative, for one upstream gradient, is a function too.
        def first(*xs):
            dxs = _vjp(f, xs, moved, check.upstreams[1])
            return [dx for dx in dxs if dx is not None]

        second = _GradientCheck(first, inputs, moved, max_evaluations, seed)
        report.lines += second.run("second derivative, ").lines
    report.lines.insert(0, f"gradient right: {check.x.size} elements, order {order}, "
                        "eager and tf.function")
    return report


def _real(tensor):
    """Its numbers as one flat float64 vector; a complex one as two in a row."""
    array = np.atleast_1d(np.asarray(tensor))
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    return array.astype(np.float64).ravel()


def _float_outputs(result):
    return [y for y in tf.nest.flatten(result) if _differentiable(y)]


def _vjp(f, xs, moved, dys):
    """The gradients of the inputs that are moved, dense, None where there is none."""
    with tf.GradientTape() as tape:
        for i in moved:
            tape.watch(xs[i])
        ys = _float_outputs(f(*xs))
    dxs = tape.gradient(ys, [xs[i] for i in moved], dys)
    return [None if dx is None else tf.convert_to_tensor(dx) for dx in dxs]


class _GradientCheck:
    """The check of one derivative: the inputs as one flat vector `x`, and steps.

    A comparison is of two changes, as the inputs go from x - step to x + step: the
    one that the gradient foretells, and the one that the outputs make, each weighed
    with two upstream gradients, ones and random numbers.
    """

    def __init__(self, f, inputs, moved, max_evaluations, seed):
        self.f, self.inputs, self.moved = f, inputs, moved
        self.rng = np.random.default_rng(seed)
        self.budget = max_evaluations
        self.dtypes = [inputs[i].dtype.real_dtype for i in moved]
        parts = [_real(inputs[i]) for i in moved]
        self.x = np.concatenate(parts)
        self.ends = np.cumsum([part.size for part in parts])
        each = np.repeat(np.arange(len(moved)), [part.size for part in parts])
        eps = np.array([_EPS[dtype.name] for dtype in self.dtypes])[each]
        self.rtol = max(_RTOL[dtype.name] for dtype in self.dtypes)
        size = [np.median(np.abs(part[part != 0])) if part.any() else 1.0
                for part in parts]
        self.unit = np.maximum(np.abs(self.x), np.array(size)[each] / 100)
        self.step = np.cbrt(eps) * self.unit

    # .......................................................... evaluations

    def tensors(self, x):
        """The inputs, with the flat vector `x` in the place of those that move."""
        xs = list(self.inputs)
        for i, part in zip(self.moved, np.split(x, self.ends[:-1]), strict=True):
            if xs[i].dtype.is_complex:
                part = part[::2] + 1j * part[1::2]
            xs[i] = tf.constant(part.astype(xs[i].dtype.as_numpy_dtype),
                                shape=xs[i].shape)
        return xs

    def rounded(self, x):
        """`x` as the inputs' dtypes can hold it, so that a step is what it says."""
        parts = zip(np.split(x, self.ends[:-1]), self.dtypes, strict=True)
        return np.concatenate([part.astype(dtype.as_numpy_dtype).astype(np.float64)
                               for part, dtype in parts])

    def outputs(self, x):
        ys = _float_outputs(self.f(*self.tensors(x)))
        return np.concatenate([_real(y) for y in ys] or [np.zeros(0)])

    def changes(self, where, direction):
        """Move the elements `where`: steps and changes on the left and the right.

        Returns four arrays: the steps to the left and to the right, (2, n), the
        changes of the weighed outputs, (2, 2), and the noise of these, (2,).
        """
        left, right = self.x.copy(), self.x.copy()
        left[where] -= direction
        right[where] += direction
        left, right = self.rounded(left), self.rounded(right)
        steps = np.stack([self.x[where] - left[where], right[where] - self.x[where]])
        at_left, at_right = self.outputs(left), self.outputs(right)
        change = np.stack([self.y - at_left, at_right - self.y])
        moved = (change != 0).any(axis=0)
        rounding = self.weights * self.y * (moved if moved.any() else True)
        noise = 8 * self.y_eps * np.linalg.norm(rounding, axis=1)
        return steps, change @ self.weights.T, noise

    # .............................................................. verdicts

    def run(self, name):
        """Compare; returns a report, or raises AssertionError."""
        self.name, self.report = name, GradientReport()
        ys = _float_outputs(self.f(*self.inputs))
        if not ys:
            raise TypeError("check_gradient: f returns no float or complex output")
        self.y_eps = max(_EPS[y.dtype.real_dtype.name] for y in ys)
        self.rtol = max([self.rtol, *(_RTOL[y.dtype.real_dtype.name] for y in ys)])
        self.y = self.outputs(self.x)
        if not np.isfinite(self.y).all():
            raise ValueError("check_gradient: f is not finite at the inputs")
        self.same_twice("f", self.y, self.outputs(self.x))
        self.upstreams = [[tf.ones_like(y) for y in ys], [self.random(y) for y in ys]]
        self.weights = np.stack([np.concatenate([_real(dy) for dy in dys])
                                 for dys in self.upstreams])
        groups = self.measure_groups()
        for where in ("eager mode", "tf.function"):
            self.compare(where, self.gradients(where), groups)
        return self.report

    def random(self, y):
        size = self.rng.uniform(0.5, 1.5, y.shape) * self.rng.choice([-1, 1], y.shape)
        if y.dtype.is_complex:
            size = size + 1j * self.rng.uniform(0.5, 1.5, y.shape)
        return tf.cast(size, y.dtype)

    def gradients(self, where):
        """One flat gradient for each upstream, (2, n); nan where there is none."""

        def both(*xs):
            return [_vjp(self.f, xs, self.moved, dys) for dys in self.upstreams]

        try:
            run = both if where == "eager mode" else (
                tf.function(both).get_concrete_function(*self.inputs))
            found, again = run(*self.inputs), run(*self.inputs)
        except Exception as error:
            self.fail(f"no gradient in {where}: {type(error).__name__}: {error}", error)
        for dxs in found:
            for i, dx in zip(self.moved, dxs, strict=True):
                if dx is not None and dx.shape != self.inputs[i].shape:
                    self.fail(f"input {i}: the gradient has shape {dx.shape}, the "
                              f"input has {self.inputs[i].shape} ({where})")
        flat, flat_again = (
            np.stack([np.concatenate([
                np.full(_real(self.inputs[i]).size, np.nan) if dx is None else _real(dx)
                for i, dx in zip(self.moved, dxs, strict=True)]) for dxs in result])
            for result in (found, again))
        self.same_twice(f"the gradient in {where}", flat.ravel(), flat_again.ravel())
        return flat

    def same_twice(self, what, first, second):
        bound = 1e3 * self.y_eps * np.maximum(np.abs(first), np.abs(second))
        differ = np.abs(first - second) > bound
        if differ.any():
            k = int(differ.argmax())
            self.fail(f"{what} changes from call to call: {first[k]:.4g}, then "
                      f"{second[k]:.4g}")

    def measure_groups(self):
        """All elements in groups, each with the changes that moving it makes."""
        many = self.x.size > self.budget
        order = self.rng.permutation(self.x.size) if many else np.arange(self.x.size)
        count = max(1, self.budget // 5 if many else self.x.size)
        return [self.measure(group) for group in np.array_split(order, count)
                if group.size]

    def measure(self, group):
        signs = self.rng.choice([-1.0, 1.0], group.size) if group.size > 1 else 1
        return group, *self.changes(group, signs * self.step[group])

    def in_doubt(self, gradients, group, steps, changes, noise):
        """Whether the group needs a closer look, and its two derivatives."""
        parts = np.nan_to_num(gradients[:, group]) * steps.sum(axis=0)
        foretold, measured = parts.sum(axis=1), changes.sum(axis=0)
        size = np.maximum(np.abs(measured), np.linalg.norm(parts, axis=1))
        agree = np.abs(foretold - measured) <= self.rtol * size + noise
        gap = np.abs(changes[1] - changes[0])
        bent = (gap > 0.05 * np.abs(changes).sum(axis=0)) & (gap > 10 * noise)
        doubt = not agree.all() or (group.size == 1 and bent.any())
        span = np.linalg.norm(steps.sum(axis=0))
        return doubt, foretold / span, measured / span

    def compare(self, where, gradients, groups):
        """Look at every group; halve those in doubt until the elements are known."""
        rows, wrong, more, left = [], [], list(groups), 40 * self.budget
        while more:
            group, *measured = more.pop()
            doubt, foretold, found = self.in_doubt(gradients, group, *measured)
            if doubt and group.size > 1 and left > 0:
                more += map(self.measure, np.array_split(group, 2))
                left -= 4
                continue
            if doubt and group.size == 1:
                complaint, found = self.examine(group[0], gradients[:, group[0]])
                left -= 20
                wrong += complaint
            rows.append((group[0], *foretold, *found))
        _, analytic, analytic_1, numeric, numeric_1 = (
            np.array(sorted(rows)).reshape(-1, 5).T)
        report = self.report
        report.analytic, report.numeric = analytic, numeric
        if wrong:
            self.fail_at(wrong, where, gradients, complete=left > 0)
        size = np.abs([analytic_1, numeric_1]).max(initial=0)
        error = np.abs(analytic_1 - numeric_1).max(initial=0) / (size or 1)
        power = np.ceil(np.log10(max(error, self.rtol)))
        report.lines = [f"{self.name}largest error: below {10**power:.0e} of the "
                        "largest derivative"]
        for i, part in zip(self.moved, np.split(gradients[0], self.ends[:-1]),
                           strict=True):
            if np.isnan(part).any():
                report.lines.append(f"{self.name}input {i}: no gradient, and none is "
                                    "needed: the outputs do not depend on it")
        report.lines += (report.kinks + report.jumps + report.doubts)[:10]

    def examine(self, k, analytic):
        """All about one element, by steps of many lengths: which is best tells f.

        Returns what is wrong, as a list of at most one, and the numeric derivative.
        """
        ladder = {}
        relative = self.step[k] / self.unit[k] * abs(self.x[k])
        for unit in {self.step[k], relative or self.step[k]}:
            for factor in 4.0 ** np.arange(1, -9, -1):
                h, changes, noise = self.changes([k], unit * factor)
                if (h > 0).all() and np.isfinite(changes).all():
                    slopes = changes / h
                    central = changes.sum(axis=0) / h.sum()
                    ladder[float(h.sum())] = slopes, central, noise / h.sum()
        if not ladder:
            self.note("doubts", f"{self.place(k)}: not checked, f is not finite "
                                "beside it")
            return [], np.nan_to_num(analytic)
        lengths = sorted(ladder)
        slopes, centrals, noises = (np.stack(column) for column in
                                    zip(*(ladder[h] for h in lengths), strict=True))
        kind, at = self.kind(np.array(lengths), slopes, noises)
        if kind == "smooth":
            # A step is as good as it agrees with all shorter ones, noise allowed.
            differ = np.abs(centrals[:, None] - centrals[None]) - noises[None]
            shorter = np.tri(len(lengths), k=-1, dtype=bool)[:, :, None]
            errors = noises + np.where(shorter, differ.clip(0), 0).max(axis=1)
            errors[0] += np.abs(centrals[min(1, len(centrals) - 1)] - centrals[0])
            best = errors.sum(axis=1).argmin()
            slack = 2 * errors[best]
            low = high = np.where(np.abs(centrals[best]) > slack, centrals[best], 0)
        else:
            left, right = slopes[at]
            if kind == "jump":  # the side that does not cross it
                left = right = min(left, right, key=lambda side: np.abs(side).sum())
            low, high = np.minimum(left, right), np.maximum(left, right)
            slack = 0.01 * np.maximum(np.abs(low), np.abs(high)) + 4 * noises[at]
        found = np.nan_to_num(analytic)
        nearest = np.clip(found, low, high)
        slack = slack + self.rtol * np.maximum(np.abs(found), np.abs(nearest))
        wrong = np.abs(found - nearest) > slack
        if np.isnan(analytic).all() and kind == "smooth":
            wrong = np.abs(nearest) > slack
        sides = f"the slopes {_short(slopes[at][0][0])} and {_short(slopes[at][1][0])}"
        if not wrong.any():
            text = f"{self.place(k)}: a {kind}, the gradient {_short(found[0])} "
            if kind == "kink":
                self.note("kinks", f"{text}lies between {sides}")
            elif kind == "jump":
                self.note("jumps", f"{text}is that of one side")
            elif (kind == "smooth" and slack[0] > np.abs(centrals[best][0])
                  > 10 * noises[-1][0]):
                self.note("doubts", f"{self.place(k)}: not checked, no two of the "
                                    "central differences agree")
                nearest = found
            return [], nearest
        w = int(wrong.argmax())
        hint = f"f has a {kind} there, with {sides}" if kind != "smooth" else ""
        return [(k, w, analytic[w], nearest[w], hint)], nearest

    @staticmethod
    def kind(lengths, slopes, noises):
        """Smooth, kink or jump, and at which step that can be seen best.

        As the step shrinks, the gap between the slopes on the right and on the left
        shrinks with it where f is smooth, stays at a kink, and grows at a jump.
        """
        gaps = np.abs(slopes[:, 1] - slopes[:, 0]).max(axis=1)
        noise = noises.max(axis=1)
        for m in range(len(lengths) - 1):
            if gaps[m + 1] > 10 * noise[m + 1]:
                growth = np.log(gaps[m + 1] / max(gaps[m], noise[m], 1e-300))
                power = growth / np.log(lengths[m + 1] / lengths[m])
                if power < 0.5:
                    return ("jump" if power < -0.5 else "kink"), m
                break
        return "smooth", 0

    # .............................................................. messages

    def note(self, kind, text):
        texts = getattr(self.report, kind)
        if text not in texts:  # the eager mode has said so already
            texts.append(text)

    def place(self, k):
        """Input and element of the number `k` of the flat vector."""
        part = int(np.searchsorted(self.ends, k, side="right"))
        x = self.inputs[self.moved[part]]
        k -= self.ends[part - 1] if part else 0
        half = ""
        if x.dtype.is_complex:
            half, k = (" (imaginary part)" if k % 2 else " (real part)"), k // 2
        index = tuple(int(n) for n in np.unravel_index(k, x.shape))
        return f"{self.name}input {self.moved[part]}, element {index}{half}"

    def fail_at(self, wrong, where, gradients, complete):
        """Fail with the worst element first, and with what else is known."""

        def badness(entry):
            _, _, analytic, numeric, _ = entry
            if np.isnan(analytic):
                return np.inf, abs(numeric)
            return (abs(analytic - numeric) / max(abs(analytic), abs(numeric)),
                    abs(numeric))

        k, w, analytic, numeric, hint = max(wrong, key=badness)
        shown = "None" if np.isnan(analytic) else _short(analytic)
        hints = [hint] if hint else []
        if np.isnan(analytic):
            hints.append("there is no gradient, but the outputs depend on this input")
        elif w == 1 and np.array_equal(*gradients):
            hints.append("the gradient is the same for every upstream gradient: it is "
                         "not multiplied by dy")
        elif w == 1:
            hints.append("found with random upstream gradients; with ones it is right")
        ratios = np.array([a / n for _, _, a, n, _ in wrong if n])
        if len(ratios) > 1 and np.ptp(ratios) < 1e-3 * np.abs(ratios).max():
            hints.append(f"analytic / numeric is {_short(ratios[0])} in all of them")
        self.fail("\n".join([
            f"{self.place(k)}: analytic {shown}, numeric {_short(numeric)} "
            f"({'' if complete else 'at least '}{len(wrong)} of {self.x.size} "
            "elements wrong)",
            f"found in {where}", *hints]))

    def fail(self, text, cause=None):
        if not text.startswith(self.name):
            text = self.name + text
        self.report.ok, self.report.lines = False, text.split("\n")
        error = AssertionError(text)
        error.report = self.report
        raise error from cause


def _short(number):
    """Four digits, with a point: 4.0 and not 4."""
    return str(float(f"{number:.4g}"))
