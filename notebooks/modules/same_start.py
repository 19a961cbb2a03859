"""For lesson 10's second exercise: unseeded noise is told by giving it one start."""

from contextlib import contextmanager
from unittest import mock


@contextmanager
def same_start():
    """Inside of it, NumPy's generators that are given no seed all start alike.

    Elsewhere they ask the operating system for a start, which no other process has.
    So noise that differs here from seed to seed comes from the seeds.
    """
    where = "numpy.random.bit_generator.randbits"
    with mock.patch(where, lambda bits: 1, create=True):
        yield
