"""f and what TensorFlow's tapes compute of it, as functions of one real vector x."""

import contextlib

import numpy as np

from ..tensorflow_start import tf
from .verdict import PRECISIONS


@contextlib.contextmanager
def full_float32():
    """GPUs round the factors of a float32 product to the 10 bits of TensorFloat-32:
    not here."""
    before = tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(False)
    try:
        yield
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(before)


def differentiable(tensor):
    """Whether gradients flow through it: its dtype is float or complex."""
    return tensor.dtype.real_dtype.name in PRECISIONS


def flat(tensors):
    """All their numbers as one float64 vector; a complex one is two in a row."""
    parts = [np.zeros(0)]
    for array in (np.atleast_1d(tensor.numpy()) for tensor in tensors):
        if array.dtype.kind == "c":
            array = np.stack([array.real, array.imag], axis=-1)
        parts.append(array.astype(np.float64).ravel())
    return np.concatenate(parts)


def like(tensors, vector):
    """Tensors of the shapes and dtypes of these, with the numbers of a vector."""
    start, made = 0, []
    for tensor in tensors:
        stop = start + tensor.shape.num_elements() * (1 + tensor.dtype.is_complex)
        part, start = vector[start:stop], stop
        part = part[::2] + 1j * part[1::2] if tensor.dtype.is_complex else part
        part = part.astype(tensor.dtype.as_numpy_dtype).reshape(tensor.shape)
        made.append(tf.constant(part))
    return made


def outputs(f, xs):
    """The outputs of f that have a gradient, as tensors."""
    ys = [tf.convert_to_tensor(y) for y in tf.nest.flatten(f(*xs))]
    return [y for y in ys if differentiable(y)]


def vjps(f, xs, upstreams):
    """For each upstream gradient (one dy for each output) the gradients of the inputs:
    of those outputs and inputs that have one, by dtype."""
    watched = [x for x in xs if differentiable(x)]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(watched)
        ys = outputs(f, xs)
    return [[None if dx is None else tf.convert_to_tensor(dx)
             for dx in tape.gradient(ys, watched, list(dys))] for dys in upstreams]


class Function:
    """f at some inputs. Those that can be moved are one flat real vector x.

    Attributes:
        xs: the inputs. ys: the outputs. moved: the names of the inputs that can be
            moved, and these. dtypes: the real dtypes of these and of the outputs.
        precision: of the coarsest of them; rtol replaces its tolerance.
        x (n,), y (m,): the numbers of the moved inputs, and of the outputs.
        unit (n,): what a step is relative to. weights (K, m): the upstream gradients.
    """

    def __init__(self, f, xs, names, rtol=None):
        self.f, self.xs, self.ys = f, xs, outputs(f, xs)
        pairs = zip(names, xs, strict=True)
        self.moved = {name: x for name, x in pairs if differentiable(x)}
        self.x, self.y = flat(self.moved.values()), flat(self.ys)
        self.unit = np.concatenate(list(map(_unit, self.moved.values())))
        self.dtypes = {tensor.dtype.real_dtype.name
                       for tensor in [*self.moved.values(), *self.ys]}
        coarse = max((PRECISIONS[name] for name in self.dtypes), key=lambda p: p.eps)
        self.precision = coarse if rtol is None else coarse._replace(
            rtol=rtol, blur=max(rtol, coarse.blur), shown=rtol)

    def tensors(self, x):
        """All inputs of f, with the numbers of x in those that move."""
        made = iter(like(self.moved.values(), x))
        return [next(made) if differentiable(old) else old for old in self.xs]

    def __call__(self, x):
        """The numbers of the outputs where those of the inputs are x."""
        return flat(outputs(self.f, self.tensors(x)))

    def gradients(self, compute=None, x=None):
        """Gradients (K, n), a row for each upstream gradient; and which numbers of x
        have none. compute: what `compiled` returns. x: elsewhere than at x."""
        dys = [like(self.ys, row) for row in self.weights]
        xs = self.xs if x is None else self.tensors(x)
        rows = compute(*xs) if compute else vjps(self.f, xs, dys)
        missing = []
        for (name, x), dx in zip(self.moved.items(), rows[0], strict=True):
            missing.append(np.full(flat([x]).size, dx is None))
            if dx is not None and dx.shape != x.shape:
                raise ValueError(
                    f"{name}: the gradient has shape {dx.shape}, the input has "
                    f"{x.shape}; if f broadcasts, sum_to undoes it")
            if dx is not None and dx.dtype != x.dtype:
                raise ValueError(
                    f"{name}: the gradient is {dx.dtype.name}, the input is "
                    f"{x.dtype.name}")
        dense = [[tf.zeros_like(x) if dx is None else dx for x, dx in
                  zip(self.moved.values(), row, strict=True)] for row in rows]
        return np.stack(list(map(flat, dense))), np.concatenate(missing)

    def compiled(self):
        """What `gradients` computes as a graph, traced without a warning."""
        dys = [like(self.ys, row) for row in self.weights]

        def vjp(*xs):  # of a lambda, TensorFlow's errors name no line
            return vjps(self.f, xs, dys)

        try:
            return tf.function(vjp, autograph=False).get_concrete_function(*self.xs)
        except tf.errors.OperatorNotAllowedInGraphError:  # f has an `if` or a `for`
            return tf.function(vjp).get_concrete_function(*self.xs)

    def roughness(self, eps):
        """What rounding does to gradients: how they change when x changes by that."""
        rng, at_x, changes = np.random.default_rng(0), self.gradients()[0], 0.0
        for _ in range(6):
            beside = self.x * (1 + rng.integers(-2, 3, self.x.size) * eps)
            changes = np.fmax(changes, np.abs(self.gradients(x=beside)[0] - at_x))
        return changes

    def in_float64(self):
        """The same f at the same x in float64, with the tolerance of its own dtype;
        None where f does not compute so."""
        try:
            xs = [tf.cast(x, tf.complex128 if x.dtype.is_complex else tf.float64)
                  if differentiable(x) else x for x in self.xs]
            twin = Function(self.f, xs, [str(i) for i in range(len(xs))])
        except Exception:  # f may do without float64
            return None
        same = [y.shape for y in twin.ys] == [y.shape for y in self.ys]
        wide = twin.dtypes == {"float64"} != self.dtypes
        if not (same and wide and np.isfinite(twin.y).all()):
            return None
        twin.precision = twin.precision._replace(
            rtol=self.precision.rtol, blur=self.precision.blur)
        return twin

    def place(self, k):
        """The name of the input of number k of x, and which element it is."""
        for name, x in self.moved.items():
            size, parts = flat([x]).size, 1 + x.dtype.is_complex
            if k < size:
                index = tuple(map(int, np.unravel_index(k // parts, x.shape)))
                part = (" (real part)", " (imaginary part)")[k % 2] * (parts - 1)
                return name, f"{index}{part}"
            k -= size


def _unit(x):
    """|x|, or where that is (nearly) 0 a hundredth of what it is elsewhere."""
    size = np.abs(x.numpy().astype(complex)).ravel()
    floor = max(np.median(size[size > 0]) / 100, 1e-290) if size.any() else 1.0
    return np.repeat(np.maximum(size, floor), 1 + x.dtype.is_complex)
