"""f and what TensorFlow's tapes compute of it, as functions of one real vector x."""

import numpy as np

from ..quiet_start import tf
from .verdict import line_of


def differentiable(tensor):
    """Whether gradients flow through it."""
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def flat(tensors):
    """All their numbers as one float64 vector; a complex one is two in a row."""
    return np.concatenate([np.zeros(0), *map(_real, tensors)])


def _real(tensor):
    array = np.atleast_1d(tensor.numpy())
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    return array.astype(np.float64).ravel()


def in_float64(tensors):
    """The same numbers as float64 or complex128, where they are float or complex."""
    return [tf.cast(x, tf.complex128 if x.dtype.is_complex else tf.float64)
            if differentiable(x) else x for x in tensors]


def outputs(f, xs):
    """The outputs of f that have a gradient, as tensors."""
    y = f(*xs)
    if isinstance(y, tf.Tensor):  # most often: TensorFlow's way to tell takes longer
        return [y] if differentiable(y) else []
    ys = [tf.convert_to_tensor(y) for y in tf.nest.flatten(y)]
    return [y for y in ys if differentiable(y)]


def vjps(f, xs, upstreams):
    """The outputs, and for each upstream gradient (one dy for each output) the
    gradients of the inputs: of those outputs and inputs that have one, by dtype."""
    watched = [x for x in xs if differentiable(x)]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(watched)
        ys = outputs(f, xs)
    dxs = [tape.gradient(ys, watched, list(dys)) for dys in upstreams]
    return ys, [[None if dx is None else tf.convert_to_tensor(dx) for dx in row]
                for row in dxs]


class WrongForm(Exception):
    """A gradient has another shape or dtype than its input."""


class Function:
    """f at some inputs. Those that can be moved are one flat real vector x.

    Attributes:
        xs: the inputs. names: what to call them. moved: which of them can be moved.
        x (n,), y (m,): the numbers of the moved inputs, and of the outputs.
        ys: the outputs. dtypes: the real dtypes of all these.
        unit (n,): what a step is relative to.
        dys: upstream gradients, lists with one for each output; to be set.
    """

    def __init__(self, f, xs, names):
        self.f, self.xs, self.names = f, xs, names
        self.moved = [i for i, x in enumerate(xs) if differentiable(x)]
        self.parts = [flat([xs[i]]) for i in self.moved]
        self.x = np.concatenate(self.parts)
        self.ends = np.cumsum([part.size for part in self.parts])
        self.unit = np.concatenate([self._scale(xs[i]) for i in self.moved])
        self.ys, self.dys = outputs(f, xs), None
        self.y = flat(self.ys)
        self.dtypes = {tensor.dtype.real_dtype.name for tensor in
                       [xs[i] for i in self.moved] + self.ys}

    @staticmethod
    def _scale(x):
        """|x|, or where that is (nearly) 0 a hundredth of what it is elsewhere."""
        size = np.abs(x.numpy().astype(complex)).ravel()
        floor = np.median(size[size > 0]) / 100 if size.any() else 1.0
        return np.repeat(np.maximum(size, floor), 2 if x.dtype.is_complex else 1)

    def split(self, vector):
        """The parts of a vector like x that belong to the moved inputs."""
        return [vector[end - part.size:end]
                for end, part in zip(self.ends, self.parts, strict=True)]

    def shapes(self):
        """Of each moved input, with a last axis (real, imaginary) for complex ones."""
        return {self.names[i]: (*self.xs[i].shape, 2)[
            :None if self.xs[i].dtype.is_complex else -1] for i in self.moved}

    def _array(self, i, part):
        if self.xs[i].dtype.is_complex:
            part = part[::2] + 1j * part[1::2]
        return part.astype(self.xs[i].dtype.as_numpy_dtype)

    def tensors(self, x):
        """All inputs of f, with the numbers of x in those that move."""
        xs = list(self.xs)
        for i, part, old in zip(self.moved, self.split(x), self.parts, strict=True):
            if (part != old).any():
                xs[i] = tf.constant(self._array(i, part).reshape(xs[i].shape))
        return xs

    def rounded(self, x):
        """The numbers that f really gets for x."""
        if self.dtypes == {"float64"}:
            return x
        return flat(map(tf.constant, map(self._array, self.moved, self.split(x))))

    def __call__(self, x):
        """The numbers of the outputs where those of the inputs are x."""
        return flat(outputs(self.f, self.tensors(x)))

    def flat_gradient(self, dxs):
        """One gradient for each moved input, as one vector; zeros for None."""
        dense = []
        for i, dx in zip(self.moved, dxs, strict=True):
            x, name = self.xs[i], self.names[i]
            dx = tf.zeros_like(x) if dx is None else dx
            if dx.shape != x.shape:
                larger = dx.shape.num_elements() > x.shape.num_elements()
                raise WrongForm(
                    f"{name}: the gradient has shape {dx.shape}, the input has "
                    f"{x.shape}"
                    + ("; sum it over the axes that f broadcast" if larger else ""))
            if dx.dtype != x.dtype:
                raise WrongForm(f"{name}: the gradient is {dx.dtype.name}, the input "
                                f"is {x.dtype.name}")
            dense.append(dx)
        return flat(dense)

    @property
    def weights(self):
        """The upstream gradients as numbers (K, m)."""
        return np.stack([flat(dys) for dys in self.dys])

    def gradients(self, compute=None, x=None, dys=None):
        """The outputs; gradients (K, n), a row for each upstream gradient; and which
        numbers have none. compute: what `compiled` returns. x, dys: others."""
        xs = self.xs if x is None else self.tensors(x)
        ys, rows = compute(*xs) if compute else vjps(self.f, xs, dys or self.dys)
        missing = np.repeat([dx is None for dx in rows[0]],
                            [part.size for part in self.parts])
        return flat(ys), np.stack([self.flat_gradient(row) for row in rows]), missing

    def compiled(self):
        """`vjps` as a graph: traced once for sure, with no warning about many."""

        def trace(autograph):
            traced = tf.function(lambda *xs: vjps(self.f, xs, self.dys),
                                 autograph=autograph)
            return traced.get_concrete_function(*self.xs)

        try:
            return trace(autograph=False)
        except tf.errors.OperatorNotAllowedInGraphError:  # f has an `if` or a `for`
            return trace(autograph=True)

    def roughness(self, eps):
        """What rounding does to gradients: how they change when x changes by that."""
        rng, at_x, changes = np.random.default_rng(0), self.gradients()[1], 0.0
        for _ in range(6):
            beside = self.x * (1 + rng.integers(-2, 3, self.x.size) * eps)
            changes = np.fmax(changes, np.abs(self.gradients(x=beside)[1] - at_x))
        return changes

    def in_float64(self):
        """The same f at the same x in float64; None where f does not compute so."""
        try:
            twin = Function(self.f, in_float64(self.xs), self.names)
        except Exception:  # f may do without float64
            return None
        same = [y.shape for y in twin.ys] == [y.shape for y in self.ys]
        fine = same and twin.dtypes == {"float64"} and np.isfinite(twin.y).all()
        return twin if fine and twin.dtypes != self.dtypes else None

    def place(self, k):
        """Name the input and the element of number k of x."""
        part = int(np.searchsorted(self.ends, k, side="right"))
        x = self.xs[self.moved[part]]
        k -= self.ends[part - 1] if part else 0
        half = ""
        if x.dtype.is_complex:
            half, k = (" (imaginary part)" if k % 2 else " (real part)"), k // 2
        index = tuple(int(n) for n in np.unravel_index(k, x.shape))
        return f"{self.names[self.moved[part]]}, element {index}{half}"


def upstream_gradients(function, rng):
    """Upstream gradients that show what a gradient does wrong: names, and lists of
    tensors, one for each output of the `Function`.

    Ones are easy to read. Random ones, every element with either sign. Of several
    outputs each by itself. And random ones that are the larger the less an output
    moves when all inputs do, so that none is lost beside another.
    """
    ys, movement = function.ys, _movement(function, rng)
    size = [rng.uniform(1.25, 2, (2, *y.shape)) for y in ys]  # never near 1
    sign = [rng.choice([-1, 1], s.shape) for s in size]
    mixed = [_tensor(y, s * t) for y, s, t in zip(ys, size, sign, strict=True)]
    rows = {"ones": [tf.ones_like(y) for y in ys], "random": mixed}
    if len(ys) > 1:
        for i in range(len(ys)):
            rows[f"random for output {i}, zeros for the others"] = [
                dy if i == j else tf.zeros_like(dy) for j, dy in enumerate(mixed)]
    reach = 1e2 if any(y.dtype.size == 2 for y in ys) else 1e8
    known = movement[(movement > 0) & np.isfinite(movement)]
    middle = np.exp(np.log(known).mean()) if known.size else 1.0
    movement = np.where(movement > 0, movement, middle)
    even = np.nan_to_num(np.clip(middle / movement, 1 / reach, reach), nan=1.0)
    ends = np.cumsum([flat([y]).size for y in ys])
    balanced = [
        _tensor(y, -t * rng.permuted(s, axis=0) * part.reshape(*y.shape, 1 + y.dtype.is_complex).max(-1))
        for y, s, t, part in zip(ys, size, sign, np.split(even, ends[:-1]), strict=True)]
    rows["random, larger where an output moves less"] = balanced
    return list(rows), list(rows.values())


def _movement(function, rng):
    """How much each output moves, when all inputs do at random."""
    most = np.zeros(function.y.shape)
    for _ in range(2 if function.x.size else 0):
        line, stride = line_of(function, np.arange(function.x.size), rng)
        most = np.fmax(most, np.abs(line.at(2**-11 * stride)[1]))
    return most


def _tensor(y, pair):
    values = pair[0] + 1j * pair[1] if y.dtype.is_complex else pair[0]
    return tf.constant(np.asarray(values).astype(y.dtype.as_numpy_dtype))
