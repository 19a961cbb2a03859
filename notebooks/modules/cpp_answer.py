"""Compile an answer in C++ and run it in a process of its own, for lessons 07 and 12.

    judge(holds(lambda: run_cpp(answer, "lesson_12.cpp")))

A wrong answer may write where it must not, or never end: that ends the other process
and not the kernel. The programs that try an answer include none of TensorFlow's
headers, so that to compile one takes less than a second.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from custom_ops import compile_command

HERE = Path(__file__).resolve().parent
SECONDS = 10  # that an answer may run


def run_cpp(answer, program):
    """True where the program finds the answer right, else the reason why not.

    Args:
        answer: C++ code, as a text.
        program: a file beside this one that has `#include "answer"`, and prints
            `right` as its last line, or else a reason.
    """
    if not isinstance(answer, str):
        return f"C++ code is a text, not {type(answer).__name__}"
    words = compile_command(HERE.parent / "cpp" / "zero_out.cc")
    compiler = words[: words.index("-shared")]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "answer").write_text(answer, "utf-8")
        command = [*compiler, "-std=c++17", "-w", f"-I{folder}", HERE / program]
        compiled = _run([*command, "-o", Path(folder, "program")], folder)
        if compiled.returncode:
            return _first_error(compiled.stderr)
        try:
            ran = _run([Path(folder, "program")], folder, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"stopped after {SECONDS} seconds: does your loop come to an end?"
    if ran.returncode < 0:
        return "it ends the process: does it write or read where nothing is?"
    said = ran.stdout.strip().split("\n")[-1]
    return True if said == "right" else said


def _run(command, folder, **options):
    options |= {"capture_output": True, "text": True, "errors": "replace"}
    environment = {**os.environ, "LC_ALL": "C"}  # messages in English
    return subprocess.run(command, cwd=folder, env=environment, **options)


def _first_error(said):
    """The compiler's first error, without folders and columns."""
    lines = [line for line in said.split("\n") if "error: " in line]
    if not lines:
        return "it does not compile"
    line = re.search(r"answer:(\d+)", lines[0])
    where = f" in line {line[1]}" if line else ""
    return f"it does not compile{where}: " + lines[0].split("error: ", 1)[1]
