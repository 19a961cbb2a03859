"""What several lessons need: built by hand in one, and imported by the later ones."""

from .tensorflow_start import tf


def gradient(f, x):
    """The gradient of f at x, by a tape. For a y of many elements: of their sum.

    Args:
        f: takes x, or as many arguments as x has entries; returns a tensor.
        x: a tensor, array, number or variable of float or complex dtype, of any
            shape; or a list of these.

    Returns:
        A tensor of the shape and dtype of x; None where f has no gradient there.
        For a list, a list of them.

    Example:
        >>> gradient(tf.square, tf.constant([1.0, 2.0])).numpy().tolist()
        [2.0, 4.0]
    """
    several = isinstance(x, (list, tuple))
    xs = [v if isinstance(v, tf.Variable) else tf.convert_to_tensor(v)
          for v in (x if several else [x])]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    dxs = [None if dx is None else tf.convert_to_tensor(dx)  # tf.gather's is sparse
           for dx in tape.gradient(y, xs)]
    return dxs if several else dxs.pop()


def sum_to(dy, shape_of):
    """Sum dy over the axes that broadcasting stretched.

    The gradient of x + y needs it for an input that is smaller than the output.

    Args:
        dy: a tensor of the shape that `shape_of` was broadcast to.
        shape_of: a tensor, array or number; only its shape counts.

    Returns:
        A tensor of dy's dtype and of the shape of `shape_of`.

    Raises:
        ValueError: no broadcasting leads from one shape to the other.

    Example:
        >>> sum_to(tf.ones([2, 3]), tf.zeros([3])).numpy().tolist()
        [2.0, 2.0, 2.0]
    """
    dy, shape_of = tf.convert_to_tensor(dy), tf.convert_to_tensor(shape_of)
    small, large = shape_of.shape, dy.shape
    if small.is_fully_defined() and large.is_fully_defined():
        pairs = list(zip(reversed(small), reversed(large), strict=False))
        if len(small) > len(large) or any(a not in (1, b) for a, b in pairs):
            raise ValueError(f"sum_to: broadcasting does not lead from {small} to "
                             f"{large}, the shape of dy")
    shape = tf.shape(shape_of)
    axes, _ = tf.raw_ops.BroadcastGradientArgs(s0=shape, s1=tf.shape(dy))
    summed = tf.reshape(tf.reduce_sum(dy, axes), shape)
    summed.set_shape(small)
    return summed


def like(x):
    """The shape and dtype of x, as a `tf.TensorSpec`, which `py_func` takes for `Tout`.

    x is a tensor, array, variable, Keras input or number. What is unknown of its shape
    is unknown in the result. A ValueError or TypeError: no tensor can be made of it.

    Example:
        >>> like(tf.zeros([2, 3]))
        TensorSpec(shape=(2, 3), dtype=tf.float32, name=None)
    """
    if not (hasattr(x, "shape") and hasattr(x, "dtype")):
        x = tf.convert_to_tensor(x)
    return tf.TensorSpec(x.shape, x.dtype)
