"""Lesson 10's training, and the same in other libraries through NumPy callbacks.

train_mnist.py starts this file, once for each twin, in a process of its own:

    python twins.py lesson|torch|jax DATA.npz

It prints "ready", trains each time a line comes in, and answers with the seconds
that it took; the weights, and the bias as their last row, are then in
DATA.npz.torch.npy (.jax.npy, .lesson.npy). A twin has the same callbacks as the lesson
(the product, log-sum-exp with the probabilities, and the gradient of the weights:
three a step) and keeps the same three curves.
"""

import contextlib
import io
import sys
import time
from pathlib import Path

import numpy as np

RATE = 0.3


def np_lse_and_p(y):
    m = y.max(axis=1, keepdims=True)
    e = np.exp(y - m)
    s = e.sum(axis=1, keepdims=True)
    return (m + np.log(s))[:, 0], e / s


def lesson_itself(pixels, targets, batches):
    root = Path(__file__).parents[1]
    sys.path[:0] = [str(root), str(root / "tests")]
    from test_lesson_02_full import lesson_namespace

    silence = contextlib.redirect_stdout(io.StringIO())  # stdout tells the times
    with silence:
        lesson = lesson_namespace("sample", until="train", lesson="10_make_it_fast")
    data = *map(lesson["tf"].constant, (pixels, targets)), batches

    def run():
        weights, bias, records = lesson["fast_loop"](*lesson["start"], *data)
        records.numpy()
        return np.vstack([weights, bias])

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

    class LogSumExp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, y):
            lse, p = map(torch.from_numpy, np_lse_and_p(y.numpy()))
            ctx.save_for_backward(p)
            return lse

        @staticmethod
        def backward(ctx, dl):
            return dl[:, None] * ctx.saved_tensors[0]

    pixels, targets = torch.from_numpy(pixels), torch.from_numpy(targets)
    batches = torch.from_numpy(batches)

    def run():
        w = torch.zeros(784, 10, requires_grad=True)
        b, records = torch.zeros(10, requires_grad=True), []
        for rows in batches:
            x, t = pixels[rows], targets[rows]
            y = Matmul.apply(x, w) + b
            loss = (LogSumExp.apply(y) - (t * y).sum(dim=1)).mean()
            dw, db = torch.autograd.grad(loss, [w, b])
            with torch.no_grad():
                right = (y.argmax(dim=1) == t.argmax(dim=1)).float().mean()
                records.append(torch.stack([loss, right, dw.norm()]))
                w -= RATE * dw
                b -= RATE * db
        torch.stack(records).numpy()
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

    def lse_and_p(y):
        return call(np_lse_and_p, (shape(y.shape[0]), shape(*y.shape)), y)

    @jax.custom_vjp
    def log_sum_exp(y):
        return lse_and_p(y)[0]

    log_sum_exp.defvjp(lse_and_p, lambda p, dl: (dl[:, None] * p,))

    def loss_and_y(weights, x, t):
        w, b = weights
        y = matmul(x, w) + b
        return jnp.mean(log_sum_exp(y) - jnp.sum(t * y, axis=1)), y

    @jax.jit
    def loop(w, pixels, targets, batches):
        def step(weights, rows):
            x, t = pixels[rows], targets[rows]
            both = jax.value_and_grad(loss_and_y, has_aux=True)(weights, x, t)
            (loss, y), (dw, db) = both
            right = jnp.mean(y.argmax(axis=1) == t.argmax(axis=1))
            w, b = weights
            record = jnp.stack([loss, right, jnp.linalg.norm(dw)])
            return (w - RATE * dw, b - RATE * db), record

        return jax.lax.scan(step, w, batches)

    pixels, targets, batches = map(jnp.asarray, (pixels, targets, batches))

    def run():
        start = jnp.zeros([784, 10]), jnp.zeros([10])
        (w, b), records = loop(start, pixels, targets, batches)
        np.asarray(records)
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
