"""What memory the kernel of each lesson takes.

    .venv/bin/python benchmarks/measure_memory.py

Runs each lesson in a kernel of its own, and prints the largest memory that it held
at any time ("peak"), what it holds at the end ("end"), and what of that no other
process can share ("own"): kernels on one machine share the files of TensorFlow that
are mapped into memory. Linux only.
"""

import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
MEASURE = """
from pathlib import Path as _Path
print(_Path("/proc/self/status").read_text())
print(_Path("/proc/self/smaps_rollup").read_text())
"""


def megabytes(text, *names):
    """Sum of the lines `name: … kB` of Linux's tables."""
    found = [re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE) for name in names]
    return sum(int(number[1]) for number in found) * 1024 / 1e6


def measure(path):
    notebook = nbformat.read(path, 4)
    notebook.cells.append(nbformat.v4.new_code_cell(MEASURE))
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=600, resources=resources).execute()
    text = "".join(o.get("text", "") for o in notebook.cells[-1].outputs)
    own = megabytes(text, "Private_Clean", "Private_Dirty")
    return megabytes(text, "VmHWM"), megabytes(text, "VmRSS"), own


def main():
    print(f"{'megabytes':30}{'peak':>8}{'end':>8}{'own':>8}")
    largest = [0, 0, 0]
    for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        found = measure(path)
        largest = list(map(max, largest, found))
        print(f"{path.stem:30}" + "".join(f"{number:8.0f}" for number in found))
    print(f"{'largest':30}" + "".join(f"{number:8.0f}" for number in largest))


if __name__ == "__main__":
    main()
