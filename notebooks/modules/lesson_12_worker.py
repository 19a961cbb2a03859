"""What lesson 12 runs in other processes: a friend's program, a student's op."""

import contextlib
import os
import sys
from pathlib import Path


def attempt(connection, program, name, folder):
    """Run a program in a folder, call its function `name`, and send what comes out."""
    os.chdir(folder)
    sys.path.insert(0, folder)
    try:
        exec(program, names := {})
        said = str(names[name]())
    except Exception as error:  # its essential words
        said = str(error).split("Exception encountered: ")[-1].split(".")[0]
        said = said.split(" in binary")[0].split(" (op type")[0]
    connection.send(said)


def call_op(connection, code, name, calls, folder):
    """Compile C++, call its op, and send the list of outcomes, or why there is none.

    Each is y, or None if the op refuses; its shape while a function is recorded, or
    None; and what `Shard` in judge_norm's C++ wrote into a file meanwhile.
    """
    os.environ["TF_NUM_INTRAOP_THREADS"] = "2"  # to find a race
    os.chdir(folder)
    import tensorflow as tf

    from custom_ops import load_op

    def outcome(inputs, options):
        y = shape = None
        Path("shard").write_text("0")
        with contextlib.suppress(tf.errors.InvalidArgumentError):
            y = op(*inputs, **options).numpy()
        with contextlib.suppress(ValueError):
            record = tf.function(lambda: op(*inputs, **options)).get_concrete_function
            shape = tuple(record().output_shapes)
        return y, shape, int(Path("shard").read_text())

    try:
        Path("op.cc").write_text(code, "utf-8")
        op = getattr(load_op("op.cc"), name)
        connection.send([outcome(*call) for call in calls])
    except Exception as error:
        connection.send(str(error))
