"""What lesson 07 draws: a point on a circle, and dy along its tangent."""

import matplotlib.pyplot as plt
import numpy as np

from utils import tf


def draw_circle(op, x, dsine, dcosine):
    """Draw (cosine, sine) of x with dy, and dx over all angles.

    Args:
        op: returns sine and cosine, as a named tuple.
        x: the angle.
        dsine, dcosine: the upstream gradient, one number for each output.
    """
    xs = tf.constant(np.append(np.linspace(0, 2 * np.pi, 100), x))
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = op(xs)
        loss = dsine * y.sine + dcosine * y.cosine
    dx, sine, cosine = tape.gradient(loss, xs), y.sine[-1], y.cosine[-1]
    end = cosine - sine * dx[-1], sine + cosine * dx[-1]
    _, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2))
    left.plot(y.cosine[:-1], y.sine[:-1], "k-", cosine, sine, "ko")
    left.arrow(cosine, sine, dcosine, dsine, head_width=0.12, color="C1")
    left.plot([cosine, end[0]], [sine, end[1]], "C0-", lw=4)
    left.text(cosine + dcosine + 0.15, sine + dsine, "dy", color="C1")
    left.text(end[0], end[1] + 0.15, "dx", color="C0", ha="right")
    left.set(xlabel="cosine", ylabel="sine", aspect="equal")
    left.set(xlim=(-2.4, 2.4), ylim=(-2.4, 2.4))
    right.plot(xs[:-1], dx[:-1], "C0--", x, dx[-1], "ko")
    right.set(xlabel="x", ylabel="dx", ylim=(-1.6, 1.6))
