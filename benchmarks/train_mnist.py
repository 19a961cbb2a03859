"""The training loop of lessons 02 and 10, beside other ways to write it.

    .venv/bin/python benchmarks/train_mnist.py [PEERS]

PEERS is the Python of an environment with NumPy and torch or jax or both, such as
/tmp/peers/bin/python; without it, the one that runs this file. What it lacks is
left out of the table. To make one:

    python3 -m venv /tmp/peers
    /tmp/peers/bin/pip install numpy torch "jax[cpu]"

2,000 steps of 100 digits as plain NumPy, as the code of 2017 through
tf.compat.v1, as TensorFlow's own ops, and as lesson 10's NumPy ops with the loop in a
graph; and as NumPy callbacks of JAX and of PyTorch (see twins.py).
The lesson and PyTorch run twice, with their threads and NumPy's as they come and
with one of each. All in turn, five times. Each way picks the same random digits,
step by step. The table gives medians, ratios, and the accuracy of each.
The whole of MNIST is used where it is at ../shared/data/mnist.npz, else the
sample. Run it on a quiet machine.
"""

import contextlib
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "notebooks")]
import numpy as np  # noqa: E402, I001
from test_lesson_02_full import lesson_namespace  # noqa: E402

from utils import load_mnist, tf  # noqa: E402  (utils comes before TensorFlow)

RATE, ROUNDS = 0.3, 5


def plain_numpy(pixels, targets, batches):
    weights, bias = np.zeros((784, 10), np.float32), np.zeros(10, np.float32)
    for rows in batches:
        x, t = pixels[rows], targets[rows]
        z = x @ weights + bias
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        dz = (p - t) / len(x)
        weights -= RATE * (x.T @ dz)
        bias -= RATE * dz.sum(axis=0)
    return weights, bias


def code_of_2017(pixels, targets, batches):
    """tf.compat.v1: a session, a feed a step, gradients put in by an override."""

    def py_func(func, inputs, dtype, grad):
        name = f"PyFuncGrad{uuid.uuid4()}"
        tf.RegisterGradient(name)(grad)
        graph = tf.compat.v1.get_default_graph()
        with graph.gradient_override_map({"PyFunc": name}):
            return tf.compat.v1.py_func(func, inputs, dtype)

    def matmul(x, w, shape):
        y = py_func(np.matmul, [x, w], tf.float32, matmul_grad)
        y.set_shape(shape)
        return y

    def matmul_grad(op, dy):
        x, w = op.inputs
        return (
            tf.compat.v1.py_func(np.matmul, [dy, tf.transpose(w)], tf.float32),
            tf.compat.v1.py_func(np.matmul, [tf.transpose(x), dy], tf.float32),
        )

    def log_grad(op, dy):
        return dy * tf.compat.v1.py_func(np.reciprocal, [op.inputs[0]], tf.float32)

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [None, 784])
        t = tf.compat.v1.placeholder(tf.float32, [None, 10])
        weights = tf.compat.v1.Variable(tf.zeros([784, 10]), use_resource=False)
        bias = tf.compat.v1.Variable(tf.zeros([10]), use_resource=False)
        p = tf.nn.softmax(matmul(x, weights, [None, 10]) + bias)
        log_p = py_func(np.log, [p], tf.float32, log_grad)
        log_p.set_shape([None, 10])
        loss = -tf.reduce_mean(tf.reduce_sum(t * log_p, axis=1))
        gradient, of_bias = tf.gradients(loss, [weights, bias])
        train = [
            tf.compat.v1.assign_sub(weights, RATE * gradient),
            tf.compat.v1.assign_sub(bias, RATE * of_bias),
        ]
        session.run(tf.compat.v1.global_variables_initializer())
        for rows in batches:
            session.run(train, {x: pixels[rows], t: targets[rows]})
        return session.run([weights, bias])


def loop_in_graph(lesson, product, cross_entropy):
    """The lesson's loop in a graph: from all three arrays to weights and bias."""
    loop = lesson["loop_in_graph"](lesson["make_step"](product, cross_entropy, RATE))

    def train(pixels, targets, batches):
        return [array.numpy() for array in loop(*lesson["start"], batches)]

    return train


class Twin:
    """The lesson, or its twin in another library, in a process of its own."""

    def __init__(self, python, library, data, threads=None):
        blas = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"
        names = *blas, "TF_NUM_INTRAOP_THREADS"
        limits = dict.fromkeys(names, str(threads)) if threads else {}
        self.weights = f"{data}.{library}.npy"
        self.process = subprocess.Popen(
            [python, Path(__file__).with_name("twins.py"), library, data],
            env=os.environ | limits,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{library}: see the error above")

    def __call__(self, *_):
        self.process.stdin.write("train\n")
        self.process.stdin.flush()
        if not self.process.stdout.readline():
            raise RuntimeError("the twin has ended: see the error above")
        weights = np.load(self.weights)
        return weights[:-1], weights[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()


def twins(python, data, stack):
    """The lesson with one thread, and the twins whose library `python` has."""

    def has(library):
        test = f"import importlib.util as u; exit(u.find_spec({library!r}) is None)"
        return not subprocess.run([python, "-c", test], check=False).returncode

    one_thread = Twin(sys.executable, "lesson", data, threads=1)
    yield "lesson, 1 thread", stack.enter_context(one_thread)

    for name, library, threads in (
        ("JAX twin", "jax", None),
        ("PyTorch, 1 thread", "torch", 1),
        ("PyTorch twin", "torch", None),
    ):
        if has(library):
            yield name, stack.enter_context(Twin(python, library, data, threads))
        else:
            print(f"{python} has no {library}: {name} left out")


def main(peers=sys.executable):
    whole = ROOT.parent / "shared/data/mnist.npz"
    source = str(whole) if whole.exists() else "sample"
    _, (x_test, y_test) = load_mnist(source)
    x_test = np.float32(x_test.reshape(-1, 784)) / 255

    os.chdir(ROOT / "notebooks")  # as a lesson does
    with contextlib.redirect_stdout(io.StringIO()):
        lesson = lesson_namespace(source, until="train", lesson="10_make_it_fast")

    names = "pixels", "targets", "batches"
    pixels, targets = lesson["pixels"].numpy(), lesson["targets"].numpy()
    batches = np.random.default_rng(0).integers(len(pixels), size=(2000, 100))
    arrays = [pixels, targets, batches]

    ways = {
        "plain NumPy": plain_numpy,
        "code of 2017": code_of_2017,
        "TensorFlow's ops": loop_in_graph(
            lesson, tf.matmul, lesson["tf_cross_entropy"]
        ),
        "the lesson": loop_in_graph(lesson, lesson["product"], lesson["cross_entropy"]),
    }
    seconds, accuracy = {}, {}
    print(f"{len(arrays[0]):,} digits, {os.cpu_count()} cores")
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        file = f"{folder}/data.npz"
        np.savez(file, **dict(zip(names, arrays, strict=True)))
        ways.update(twins(peers, file, stack))
        print(f"load before: {os.getloadavg()[0]:.2f}")
        for _ in range(ROUNDS + 1):
            for name, train in ways.items():
                start = time.perf_counter()
                weights, bias = train(*arrays)
                seconds.setdefault(name, []).append(time.perf_counter() - start)
                hits = (x_test @ weights + bias).argmax(axis=1) == y_test
                accuracy[name] = np.mean(hits)
        print(f"load after: {os.getloadavg()[0]:.2f}\n")
    # The first round traces, and is left out.
    median = {name: statistics.median(times[1:]) for name, times in seconds.items()}
    others = {"2017": "code of 2017", "NumPy": "plain NumPy", "lesson": "the lesson"}
    heads = "".join(f"{'of ' + other:>11}" for other in others)
    print(f"{'':18}{'seconds':>8}{heads}{'accuracy':>10}")
    for name, taken in median.items():
        ratios = "".join(f"{taken / median[other]:11.2f}" for other in others.values())
        print(f"{name:18}{taken:8.2f}{ratios}{accuracy[name]:10.4f}")
    if max(accuracy.values()) - min(accuracy.values()) > 0.001:
        sys.exit("not all ways learn the same")


if __name__ == "__main__":
    main(*sys.argv[1:])
