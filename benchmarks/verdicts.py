"""How many gradients check_gradient calls right, wrong and undecided, that are so.

    python benchmarks/verdicts.py [--utils PATH] [--every N] [--dtypes a,b]

200 functions, in four dtypes, each with its right gradient and with gradients that
are wrong in all elements: by 1e-4, by 1e-2, by 10 %, by a factor of 2, in the sign.
--utils: the folder of another utils.py, to compare. --every: every Nth function.

An error below the tolerance of a dtype cannot be found; it is counted by itself, as
"below" (float16 and bfloat16 by 1e-4, bfloat16 by 1e-2; float32 by 1e-4 where the
report is right to within what it documents, 1e-3).
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--utils", default=str(Path(__file__).parents[1]))
parser.add_argument("--every", type=int, default=1)
parser.add_argument("--first", type=int, default=0)
parser.add_argument("--dtypes", default="float64,float32,float16,bfloat16")
parser.add_argument("--list", action="store_true", help="name the surprises")
options = parser.parse_args()
sys.path.insert(0, options.utils)

import numpy as np  # noqa: E402

from utils import check_gradient, tf  # noqa: E402

WRONG = {
    "right": 1, "1e-4": 1.0001, "1e-2": 1.01, "10 %": 1.1, "factor 2": 2, "sign": -1,
}  # fmt: skip
TELLS = {"float64": 1e-5, "float32": 1e-3, "float16": 1e-2, "bfloat16": 0.1}

UNARY = {
    "sin": tf.sin, "cos": tf.cos, "tan": tf.tan, "exp": tf.exp, "tanh": tf.tanh,
    "sigmoid": tf.sigmoid, "square": tf.square, "softplus": tf.math.softplus,
    "atan": tf.math.atan, "asinh": tf.math.asinh, "sinh": tf.sinh, "cosh": tf.cosh,
    "softsign": tf.nn.softsign, "relu": tf.nn.relu, "elu": tf.nn.elu,
    "swish": tf.nn.silu, "cube": lambda x: x * x * x, "cubic": lambda x: x**3 - 2 * x,
    "abs": tf.abs, "reciprocal": lambda x: 1 / (2 + x * x),
    "log": lambda x: tf.math.log(2 + x * x), "sqrt": lambda x: tf.sqrt(1 + x * x),
    "rsqrt": lambda x: tf.math.rsqrt(1 + x * x), "sin 10x": lambda x: tf.sin(10 * x),
    "gauss": lambda x: tf.exp(-x * x), "1 - cos": lambda x: 1 - tf.cos(x),
    "log(1 + x)": lambda x: tf.math.log(1 + x * x), "linear": lambda x: 3 * x,
    "expm1": lambda x: tf.exp(x) - 1, "leaky": lambda x: tf.nn.leaky_relu(x, 0.1),
}  # fmt: skip
MANY = {
    "softmax": tf.nn.softmax,
    "log_softmax": tf.nn.log_softmax,
    "logsumexp": tf.reduce_logsumexp,
    "sum": tf.reduce_sum,
    "sum of squares": lambda x: tf.reduce_sum(x * x),
    "product": tf.reduce_prod,
    "mean": tf.reduce_mean,
    "max": tf.reduce_max,
    "norm": tf.norm,
    "variance": tf.math.reduce_variance,
    "layer norm": lambda x: (
        (x - tf.reduce_mean(x))
        * tf.math.rsqrt(tf.math.reduce_variance(x) + tf.cast(1e-3, x.dtype))
    ),
    "cross entropy": lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(
        [0], x[None]
    ),
    "outer": lambda x: x[:, None] * x,
    "cumsum": tf.math.cumsum,
    "reverse": lambda x: tf.reverse(x, [0]),
    "gather": lambda x: tf.gather(x, [0, 0, 1]),
    "two outputs": lambda x: (x * x, tf.sin(x)),
    "large beside small": lambda x: tf.stack([100 * x[0], x[1], x[2]]),
    "matmul": lambda x: tf.matmul(x[None], x[:, None]),
    "sort": tf.sort,
}
POINTS = {
    "near 1": [0.9, -1.1, 0.6],
    "small": [0.03, -0.011, 0.02],
    "large": [3.1, -2.2, 4.3],
    "mixed": [0.01, -1.3, 2.7],
}


def functions():
    for name, f in {**UNARY, **MANY}.items():
        for place, x in POINTS.items():
            yield f"{name}, {place}", f, x


def verdict(f, x, factor, dtype):
    @tf.custom_gradient
    def scaled(x):
        return tf.identity(x), lambda dy: dy * tf.cast(factor, dy.dtype)

    x = tf.constant(np.array(x), dtype)
    try:
        return check_gradient(lambda x: f(x if factor == 1 else scaled(x)), [x]).verdict
    except AssertionError as wrong:
        return wrong.report.verdict
    except (ValueError, TypeError):
        return "no answer"


def main():
    chosen = list(functions())[options.first :: options.every]
    print(f"{len(chosen)} functions")
    for dtype in options.dtypes.split(","):
        for kind, factor in WRONG.items():
            start, count = time.time(), Counter()
            for name, f, x in chosen:
                found = verdict(f, x, factor, dtype)
                surprise = found != ("right" if factor == 1 else "wrong")
                if found == "right" and factor != 1 and abs(factor - 1) < TELLS[dtype]:
                    found = "below"
                count[found] += 1
                if surprise and options.list:
                    print(f"    {dtype} {kind}: {name}: {found}", flush=True)
            row = ", ".join(f"{n} {what}" for what, n in sorted(count.items()))
            print(f"{dtype:9} {kind:9} {row} ({time.time() - start:.0f} s)", flush=True)


main()
