"""Lesson 10's training, and the same in other libraries through NumPy callbacks.

train_mnist.py starts this file, once for each twin, in a process of its own:

    python twins.py lesson|torch|jax DATA.npz

It prints "ready", trains each time a line comes in, and answers with the seconds
that it took; the weights, and the bias as their last row, are then in
DATA.npz.torch.npy (.jax.npy, .lesson.npy). A twin has the same callbacks as the lesson
(the product, cross-entropy, softmax, and the gradient of the weights: four a step).
"""

import contextlib
import io
import sys
import time
from pathlib import Path

import numpy as np

RATE = 0.3


def np_cross_entropy(y, t):
    y = y - y.max(axis=1, keepdims=True)
    return np.log(np.exp(y).sum(axis=1)) - np.sum(t * y, axis=1)


def np_softmax(y):
    e = np.exp(y - y.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def lesson_itself(pixels, targets, batches):
    root = Path(__file__).parents[1]
    sys.path[:0] = [str(root), str(root / "tests"), str(root / "notebooks")]
    from test_lesson_02_full import lesson_namespace

    silence = contextlib.redirect_stdout(io.StringIO())  # stdout tells the times
    with silence:
        lesson = lesson_namespace("sample", until="train", lesson="10_make_it_fast")
    constant = lesson["tf"].constant
    lesson.update(pixels=constant(pixels), targets=constant(targets))
    step = lesson["make_step"](lesson["product"], lesson["cross_entropy"], RATE)
    loop = lesson["loop_in_graph"](step)

    def run():
        return np.vstack(loop(*lesson["start"], batches))

    return run


def torch_twin(pixels, targets, batches):
    import torch

    class Matmul(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return torch.from_numpy(a.numpy() @ b.numpy())

        @staticmethod
        def backward(ctx, dc):
            a, b = (tensor.numpy() for tensor in ctx.saved_tensors)
            da = db = None
            if ctx.needs_input_grad[0]:
                da = torch.from_numpy(dc.numpy() @ b.T)
            if ctx.needs_input_grad[1]:
                db = torch.from_numpy(a.T @ dc.numpy())
            return da, db

    class CrossEntropy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, y, t):
            ctx.save_for_backward(y, t)
            return torch.from_numpy(np_cross_entropy(y.numpy(), t.numpy()))

        @staticmethod
        def backward(ctx, dl):
            y, t = ctx.saved_tensors
            return dl[:, None] * (torch.from_numpy(np_softmax(y.numpy())) - t), None

    pixels, targets = torch.from_numpy(pixels), torch.from_numpy(targets)
    batches = torch.from_numpy(batches)

    def run():
        w = torch.zeros(784, 10, requires_grad=True)
        b = torch.zeros(10, requires_grad=True)
        for rows in batches:
            x, t = pixels[rows], targets[rows]
            loss = CrossEntropy.apply(Matmul.apply(x, w) + b, t).mean()
            dw, db = torch.autograd.grad(loss, [w, b])
            with torch.no_grad():
                w -= RATE * dw
                b -= RATE * db
        return np.vstack([w.detach().numpy(), b.detach().numpy()])

    return run


def jax_twin(pixels, targets, batches):
    import jax
    import jax.numpy as jnp

    def call(func, like, *args):
        return jax.pure_callback(
            lambda *args: func(*map(np.asarray, args)), like, *args
        )

    def shape(*dims):
        return jax.ShapeDtypeStruct(dims, np.float32)

    @jax.custom_vjp
    def matmul(a, b):
        return call(np.matmul, shape(a.shape[0], b.shape[1]), a, b)

    def matmul_backward(kept, dc):
        a, b = kept
        da = call(lambda dc, b: dc @ b.T, shape(*a.shape), dc, b)
        db = call(lambda a, dc: a.T @ dc, shape(*b.shape), a, dc)
        return da, db

    matmul.defvjp(lambda a, b: (matmul(a, b), (a, b)), matmul_backward)

    @jax.custom_vjp
    def cross_entropy(y, t):
        return call(np_cross_entropy, shape(y.shape[0]), y, t)

    def cross_entropy_backward(kept, dl):
        y, t = kept
        return dl[:, None] * (call(np_softmax, shape(*y.shape), y) - t), None

    cross_entropy.defvjp(
        lambda y, t: (cross_entropy(y, t), (y, t)), cross_entropy_backward
    )

    def mean_loss(weights, x, t):
        w, b = weights
        return jnp.mean(cross_entropy(matmul(x, w) + b, t))

    @jax.jit
    def loop(w, pixels, targets, batches):
        def step(weights, rows):
            x, t = pixels[rows], targets[rows]
            dw, db = jax.grad(mean_loss)(weights, x, t)
            w, b = weights
            return (w - RATE * dw, b - RATE * db), None

        return jax.lax.scan(step, w, batches)

    pixels, targets, batches = map(jnp.asarray, (pixels, targets, batches))

    def run():
        start = jnp.zeros([784, 10]), jnp.zeros([10])
        (w, b), _ = loop(start, pixels, targets, batches)
        return np.vstack([w, b])

    return run


def main(library, path):
    with np.load(path) as data:
        arrays = data["pixels"], data["targets"], data["batches"]
    ways = {"lesson": lesson_itself, "torch": torch_twin, "jax": jax_twin}
    train = ways[library](*arrays)
    print("ready", flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        weights = train()
        taken = time.perf_counter() - start
        np.save(f"{path}.{library}.npy", weights)
        print(taken, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
