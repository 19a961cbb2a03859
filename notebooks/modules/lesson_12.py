"""What lesson 12 needs besides its op: sources, programs, threads and the picture."""

import subprocess
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import psutil
from scipy.special import lambertw

from utils import gradient

PACKAGE = Path(__file__).resolve().parents[1] / "cpp" / "lambert_w"


def show(name, start, end=None):
    """Print a part of a file of the package: from `start` to before `end`."""
    text = (PACKAGE / name).read_text("utf-8")
    part = text[text.index(start) :]
    print(part.split(end)[0].rstrip() if end else part.rstrip())


def run(*words, folder):
    """Run a program in a folder, and print what it says, or why it failed."""
    done = subprocess.run([*words], cwd=folder, capture_output=True, text=True)
    print(done.stderr if done.returncode else done.stdout, end="")


def seconds(call):
    """Seconds that call() takes on the clock, and those of the busiest thread."""
    process = psutil.Process()
    before = {thread.id: thread.user_time for thread in process.threads()}
    start = time.perf_counter()
    call()
    clock = time.perf_counter() - start
    spent = [t.user_time - before.get(t.id, 0) for t in process.threads()]
    return np.array([clock, max(spent)])


def draw_newton(op, steps):
    """W and its slope, and how the error falls with each step of Newton's method."""
    _, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
    xs = np.linspace(-1 / np.e + 1e-4, 8, 2000)
    left.plot(xs, op(xs, steps=steps), "-", xs, gradient(op, xs), "--")
    left.set(xlabel="x", ylim=(-1.1, 3))
    left.legend(["W", "its slope"])
    numbers = range(1, steps + 1)
    for x, style in zip((-0.3, 1.0, 1e4), ("o-", "s--", "^:"), strict=True):
        found = [op(np.array(x), steps=number) for number in numbers]
        error = np.abs(np.array(found) - lambertw(x).real)
        right.semilogy(numbers, error + 1e-17, style, label=f"x = {x:.4g}")
    right.set(xlabel="steps", ylabel="error", ylim=(1e-17, 10))
    right.legend()
