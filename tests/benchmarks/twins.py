"""Lesson 02's training, and the same in other libraries through NumPy callbacks.

train_mnist.py starts this file, once for each twin, in a process of its own:

    python twins.py lesson|torch|jax DATA.npz

It prints "ready", trains each time a line comes in, and answers with the seconds
that it took; the weights are then in DATA.npz.torch.npy (.jax.npy, .lesson.npy). A
twin has the same callbacks as the lesson (the product, the logarithm with its
reciprocal, and the gradient of the weights: three a step) and keeps the same three
curves.
"""

import contextlib
import io
import sys
import time
from pathlib import Path

import numpy as np

RATE = 0.3


def np_log(x):
    return np.log(x), 1 / x


def lesson_itself(pixels, targets, batches):
    root = Path(__file__).parents[2]
    sys.path[:0] = [str(root), str(root / "tests")]
    from test_lesson_02_full import lesson_namespace

    silence = contextlib.redirect_stdout(io.StringIO())  # stdout tells the times
    with silence:
        lesson = lesson_namespace("sample", until="train")
    data = *map(lesson["tf"].constant, (pixels, targets)), batches

    def run():
        with silence:
            return lesson["train"](*data)[0]

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

    class Log(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y, reciprocal = map(torch.from_numpy, np_log(x.numpy()))
            ctx.save_for_backward(reciprocal)
            return y

        @staticmethod
        def backward(ctx, dy):
            return dy * ctx.saved_tensors[0]

    pixels, targets = torch.from_numpy(pixels), torch.from_numpy(targets)
    batches = torch.from_numpy(batches)

    def run():
        w, records = torch.zeros(784, 10, requires_grad=True), []
        for rows in batches:
            x, t = pixels[rows], targets[rows]
            p = torch.softmax(Matmul.apply(x, w), dim=1)
            loss = -(t * Log.apply(p + 1e-30)).sum(dim=1).mean()
            (dw,) = torch.autograd.grad(loss, w)
            with torch.no_grad():
                right = (p.argmax(dim=1) == t.argmax(dim=1)).float().mean()
                records.append(torch.stack([loss, right, dw.norm()]))
                w -= RATE * dw
        torch.stack(records).numpy()
        return w.detach().numpy()

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

    def log_and_reciprocal(x):
        return call(np_log, (shape(*x.shape), shape(*x.shape)), x)

    @jax.custom_vjp
    def log(x):
        return log_and_reciprocal(x)[0]

    log.defvjp(log_and_reciprocal, lambda reciprocal, dy: (dy * reciprocal,))

    def loss_and_p(w, x, t):
        p = jax.nn.softmax(matmul(x, w))
        return -jnp.mean(jnp.sum(t * log(p + 1e-30), axis=1)), p

    @jax.jit
    def loop(w, pixels, targets, batches):
        def step(w, rows):
            x, t = pixels[rows], targets[rows]
            (loss, p), dw = jax.value_and_grad(loss_and_p, has_aux=True)(w, x, t)
            right = jnp.mean(p.argmax(axis=1) == t.argmax(axis=1))
            return w - RATE * dw, jnp.stack([loss, right, jnp.linalg.norm(dw)])

        return jax.lax.scan(step, w, batches)

    pixels, targets, batches = map(jnp.asarray, (pixels, targets, batches))

    def run():
        w, records = loop(jnp.zeros([784, 10]), pixels, targets, batches)
        np.asarray(records)
        return np.asarray(w)

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
