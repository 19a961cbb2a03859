"""Digits in the form that lessons 02 and 10 train on, what 02's exercises ask for,
and 02's functions for 10."""

import numpy as np

from utils import tf


def prepare(images, labels):
    """Pixels from 0 to 1, one digit a row, and rows with a 1 at the label."""
    pixels = images.reshape(len(images), -1) / np.float32(255)
    return tf.constant(pixels), tf.one_hot(labels, 10)


def draw_batches(n, steps, size=100):
    """The numbers of `size` of n digits for each step: every digit once an epoch."""
    rng = np.random.default_rng(0)
    epochs = -(-steps * size // n)  # rounded up
    order = np.concatenate([rng.permutation(n) for _ in range(epochs)])
    return order[: steps * size].reshape(steps, size)


def in_numpy(func, *arrays):
    """Whether func(*arrays) is an array that no op of TensorFlow has computed.

    Inside a graph a tensor has no numbers: an answer that asks one for them, by
    `.numpy()`, fails there.

    Example:
        >>> in_numpy(np.sin, np.ones(3))
        True
    """
    with tf.Graph().as_default():
        try:
            return type(func(*arrays)) is np.ndarray
        except (AttributeError, NotImplementedError):
            return False


calls = []  # what the NumPy functions below were called for, in order


def np_matmul(a, b):
    calls.append("matmul")
    return a @ b


def np_log_sum_exp(y):
    """The logarithm of the sum of exp(y), row by row: (n, classes) to (n,)."""
    calls.append("log_sum_exp")
    m = y.max(axis=1)
    return m + np.log(np.exp(y - m[:, None]).sum(axis=1))


def np_softmax(y):
    """Probabilities of the scores y, row by row."""
    calls.append("softmax")
    e = np.exp(y - y.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
