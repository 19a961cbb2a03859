"""Which arrays a graph may take over without a copy: what is certain, and no more.

A graph reads an array's memory after the call, and nobody may write there meanwhile.
Certain is an array that owns its memory and that nobody else holds, a view of which
the same is true for itself and for the array under it, and TensorFlow's own memory
that came in as an input. Whether an array is read-only says nothing: somebody else
may hold the array that is not.
"""

import sys
from weakref import getweakrefcount

import numpy as np


def owned(results, inputs):
    """The list `results` itself, each array in it copied unless that is needless.

    inputs: returns the op's inputs in TensorFlow's memory; asked only where it matters.

    Nobody but the list may hold an array. So an array has no name here: asking for it
    by `results[i]`, in whatever version of Python, counts two holders, the list and
    the call. A view is one holder of what lies under it, and the call the other.
    Nor may anybody get hold of it later, by a weak reference.
    """
    for i in range(len(results)):
        if results[i].dtype.hasobject:  # TensorFlow copies texts itself
            continue
        if type(results[i]) is np.ndarray:
            held = sys.getrefcount(results[i]) > 2 or getweakrefcount(results[i])
            if not held and (
                results[i].flags.owndata
                or type(results[i].base) is np.ndarray
                and results[i].base.flags.owndata
                and sys.getrefcount(results[i].base) <= 2
                and not getweakrefcount(results[i].base)
            ):
                continue
            if any(results[i] is x or results[i].base is x for x in inputs()):
                continue
        results[i] = np.array(results[i])
    return results
