"""Do the tests see it when the helper is changed? A sample of mutants, by cosmic-ray.

    .venv/bin/pip install -r tests/mutation/requirements.txt
    .venv/bin/python tests/mutation/mutate.py

Each mutant is one small change of one module of custom_ops/: another operator, another
number, a condition turned round, a loop that does nothing. It is killed when the tests
of its module fail or hang, the quick ones or else the slow ones. What survives is
either a fault that no test would see, or a change that makes no difference: a person
has to tell. The sample is the same for the same seed and code. The project itself is
not touched: the mutants live in copies.
"""

import argparse
import contextlib
import difflib
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import cosmic_ray.plugins
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "custom_ops").rglob("*.py"))
AT_LEAST = 3  # mutants of each module, where it has as many
ENOUGH = 0.92  # of the mutants have to be killed
SECONDS = 600  # at most, for the tests of a module
# The tests of each module, by the beginning of its path in custom_ops/; what fits best
# comes first, since the first failure ends the run.
TESTS = {
    "python_op": ["test_py_func", "test_py_func_errors", "test_py_func_memory"],
    "promises": ["test_py_func_memory", "test_py_func", "test_py_func_errors"],
    "tensorflow_private": ["test_py_func"],
    "tensorflow_start": ["test_layout", "test_py_func_errors"],
    "keras_layer": ["test_py_func", "test_py_func_errors"],
    "gradient_helpers": ["test_gradient_helpers"],
    "gradient_check/": ["test_check_gradient"],
    "cpp_op": ["test_load_op"],
    "mnist": ["test_load_mnist"],
    "exercises": ["test_exercises"],
    "student_code": ["test_exercises"],
    "__init__": ["test_layout", "test_package"],
}
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", "__pycache__", ".pytest_cache", "_build", "artefacts"
)


class Mutant(NamedTuple):
    """One change; `text` is the whole module with it."""

    path: Path
    line: int
    kind: str
    text: str

    def __str__(self):
        before = self.path.read_text("utf-8").splitlines()
        changes = difflib.unified_diff(before, self.text.splitlines(), lineterm="", n=0)
        lines = [f"    {changed}" for changed in list(changes)[3:]]
        return "\n".join([f"{self.path.name}:{self.line} {self.kind}", *lines])


def mutants(path):
    """At most one for each place and kind of change, in an order by chance."""
    source, found = path.read_text("utf-8"), defaultdict(list)
    tree = get_ast(source)
    for name in sorted(cosmic_ray.plugins.operator_names()):
        operator_class = cosmic_ray.plugins.get_operator(name)
        if operator_class.arguments():  # those want to be told what to do
            continue
        operator, kind = operator_class(), name.rpartition("/")[2].split("_")[0]
        places = [
            place[0]
            for node in ast_nodes(tree)
            for place in operator.mutation_positions(node)
        ]
        for occurrence, start in enumerate(places):
            found[start, kind].append((operator, occurrence))
    for (start, kind), choices in random.sample(
        sorted(found.items(), key=str), k=len(found)
    ):
        text = mutate_code(source, *random.choice(choices))
        if text and text != source and compiles(text):
            yield Mutant(path, start[0], kind, text)


def sample(paths, count):
    """Mutants, some of each module."""
    chosen, rest = [], []
    for path in paths:
        found = list(mutants(path))
        chosen += found[:AT_LEAST]
        rest += found[AT_LEAST:]
    return [*chosen, *random.sample(rest, k=len(rest))][:count]


def compiles(text):
    with contextlib.suppress(SyntaxError):
        return compile(text, "mutant", "exec")


def tests_of(path):
    place = path.relative_to(ROOT / "custom_ops").as_posix()
    names = next(names for start, names in TESTS.items() if place.startswith(start))
    return [f"tests/{name}.py" for name in names]


def run_tests(root, files, which):
    """Whether they pass; None if they took too long."""
    command = [sys.executable, "-m", "pytest", "-x", "-n", "0", "-q", *files]
    process = subprocess.Popen(
        [*command, "-p", "no:cacheprovider", "-m", which],
        cwd=root,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)  # what the tests started, too
        process.wait()
        return None
    return code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


def judge(mutant, copies):
    """ "killed", "timed out" or "survived"."""
    root = copies.get()
    place = root / mutant.path.relative_to(ROOT)
    original, files = place.read_text("utf-8"), tests_of(mutant.path)
    try:
        place.write_text(mutant.text, "utf-8")
        passed = run_tests(root, files, "not slow") and run_tests(root, files, "slow")
    finally:
        place.write_text(original, "utf-8")
        copies.put(root)
    return {True: "survived", False: "killed", None: "timed out"}[passed]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=150, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="test runs at a time")
    parser.add_argument("modules", nargs="*", help="such as mnist; all by default")
    wanted = parser.parse_args()
    paths = [p for p in MODULES if not wanted.modules or p.stem in wanted.modules]
    random.seed(wanted.seed)
    chosen = sample(paths, wanted.count)
    files = sorted({file for mutant in chosen for file in tests_of(mutant.path)})
    if not run_tests(ROOT, files, "not slow"):
        raise SystemExit("the tests fail without a mutant")
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = queue.Queue()
        for number in range(wanted.jobs):
            copy = Path(folder, str(number))
            copies.put(shutil.copytree(ROOT, copy, ignore=LEFT_OUT))
        with ThreadPoolExecutor(wanted.jobs) as pool:
            verdicts = pool.map(lambda mutant: judge(mutant, copies), chosen)
            survivors = []
            for mutant, verdict in zip(chosen, verdicts, strict=True):
                print(f"{verdict}: {mutant}", flush=True)
                survivors += [mutant] * (verdict == "survived")
    killed = len(chosen) - len(survivors)
    print(f"\n{killed} of {len(chosen)} killed, seed {wanted.seed}. Survivors:\n")
    print("\n".join(map(str, survivors)) or "none")
    raise SystemExit(killed < ENOUGH * len(chosen))


if __name__ == "__main__":
    main()
