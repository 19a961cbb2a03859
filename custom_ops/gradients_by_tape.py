"""What TensorFlow computes: an f and its gradients as functions of one flat vector."""

import numpy as np

from .promises import differentiable
from .tensorflow_start import tf


def flat(tensors):
    """All their numbers as one float64 vector; a complex one is two in a row."""
    return np.concatenate([np.zeros(0), *map(_real, tensors)])


def _real(tensor):
    dtype = getattr(tensor.dtype, "as_numpy_dtype", tensor.dtype)
    array = np.atleast_1d(np.asarray(tensor, dtype))
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    return array.astype(np.float64).ravel()


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


class Inputs:
    """The inputs of f. Those that can be moved are one flat real vector x.

    Attributes:
        xs: the tensors. moved: the numbers of those that can be moved.
        x: the vector. ends: where the parts of the moved tensors end in it.
        unit: for each number of x, what a step is relative to.
    """

    def __init__(self, xs, names):
        self.xs, self.names = xs, names
        self.moved = [i for i, x in enumerate(xs) if differentiable(x)]
        parts = [flat([xs[i]]) for i in self.moved]
        self.x, self.ends = np.concatenate(parts), np.cumsum([p.size for p in parts])
        self.parts = parts
        self.exact = all(xs[i].dtype.real_dtype == tf.float64 for i in self.moved)
        self.unit = np.concatenate([self._scale(xs[i]) for i in self.moved])

    @staticmethod
    def _scale(x):
        """|x|, or where that is (nearly) 0 a hundredth of what it is elsewhere."""
        size = np.abs(np.asarray(x, x.dtype.as_numpy_dtype).astype(complex)).ravel()
        floor = np.median(size[size > 0]) / 100 if size.any() else 1.0
        return np.repeat(np.maximum(size, floor), 2 if x.dtype.is_complex else 1)

    def split(self, vector):
        """The parts of a vector like x that belong to the moved tensors."""
        return [vector[end - part.size:end]
                for end, part in zip(self.ends, self.parts, strict=True)]

    def _array(self, i, part):
        dtype = self.xs[i].dtype
        if dtype.is_complex:
            part = part[::2] + 1j * part[1::2]
        return part.astype(dtype.as_numpy_dtype)

    def tensors(self, x):
        """All inputs of f, with the numbers of x in those that move."""
        xs = list(self.xs)
        for i, part, old in zip(self.moved, self.split(x), self.parts, strict=True):
            if (part != old).any():
                xs[i] = tf.constant(self._array(i, part).reshape(xs[i].shape))
        return xs

    def rounded(self, x):
        """The numbers that f really gets for x."""
        return x if self.exact else flat(map(self._array, self.moved, self.split(x)))

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


class Upstreams:
    """Upstream gradients that show what a gradient does wrong.

    Ones are easy to read. Random ones, every element with either sign. Of several
    outputs each by itself. And random ones that are the larger the less an output
    moves, so that none is lost beside another.

    Attributes:
        dys: lists of tensors, one for each output. weights: the same, a row each.
        names: what to call them.
    """

    def __init__(self, ys, movement, rng):
        size = [rng.uniform(1.25, 2, (2, *y.shape)) for y in ys]  # never near 1
        sign = [rng.choice([-1, 1], s.shape) for s in size]
        mixed = [self._tensor(y, s * t) for y, s, t in zip(ys, size, sign, strict=True)]
        zeros = [tf.zeros_like(y) for y in ys]
        self.dys = [[tf.ones_like(y) for y in ys], mixed]
        self.names = ["ones", "random"]
        if len(ys) > 1:
            for i in range(len(ys)):
                self.dys.append([*zeros[:i], mixed[i], *zeros[i + 1:]])
                self.names.append(f"random for output {i}, zeros for the others")
        known = movement[(movement > 0) & np.isfinite(movement)]
        if known.size:
            middle, reach = np.exp(np.log(known).mean()), self._reach(ys)
            even = np.clip(middle / np.where(movement > 0, movement, middle),
                           1 / reach, reach)
        else:
            even = np.ones(movement.shape)
        start, balanced = 0, []
        for y, s, t in zip(ys, size, sign, strict=True):
            wide = 2 if y.dtype.is_complex else 1
            count = int(np.prod(y.shape)) * wide
            part = even[start:start + count].reshape(*y.shape, wide).max(axis=-1)
            start += count
            balanced.append(self._tensor(y, -t * rng.permuted(s, axis=0) * part))
        self.dys.append(balanced)
        self.names.append("random, larger where an output moves less")
        self.weights = np.stack([flat(dys) for dys in self.dys])

    def shrink(self):
        """Make all but the ones smaller: dy times the gradient may have overflowed."""
        self.dys[1:] = [[dy / 4 for dy in dys] for dys in self.dys[1:]]
        self.weights[1:] /= 4

    @staticmethod
    def _reach(ys):
        short = any(y.dtype.name in ("float16", "bfloat16") for y in ys)
        return 1e2 if short else 1e8

    @staticmethod
    def _tensor(y, pair):
        values = pair[0] + 1j * pair[1] if y.dtype.is_complex else pair[0]
        return tf.constant(np.asarray(values).astype(y.dtype.as_numpy_dtype))
