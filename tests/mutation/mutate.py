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
import difflib
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cosmic_ray.plugins
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "custom_ops").rglob("*.py"))
AT_LEAST = 3  # mutants of each module, where it has as many
ENOUGH = 0.92  # of the mutants have to be killed
SLOW = 1200  # seconds, at most, for the slow tests of a module
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


class Mutant:
    """One change; `text` is the whole module with it."""

    def __init__(self, path, line, kind, source, text):
        self.path, self.line, self.kind, self.text = path, line, kind, text
        self.diff = [
            changed
            for changed in difflib.unified_diff(
                source.splitlines(), text.splitlines(), lineterm="", n=0
            )
            if changed[:1] in "+-" and changed[:3] not in ("+++", "---")
        ]

    def __str__(self):
        lines = "\n".join(f"    {line}" for line in self.diff)
        return f"{self.path.name}:{self.line} {self.kind}\n{lines}"


def sites(path):
    """((line, column), kind of change) -> which (operator, occurrence) there are."""
    tree, found = get_ast(path.read_text("utf-8")), defaultdict(list)
    for name in sorted(cosmic_ray.plugins.operator_names()):
        operator_class = cosmic_ray.plugins.get_operator(name)
        if operator_class.arguments():  # those want to be told what to do
            continue
        operator = operator_class()
        places = [
            start for node in ast_nodes(tree) for start, _ in positions(operator, node)
        ]
        kind = name.rpartition("/")[2].split("_")[0]
        for occurrence, start in enumerate(places):
            found[start, kind].append((operator, occurrence))
    return found


def positions(operator, node):
    for place in operator.mutation_positions(node):
        yield place[0], place[1]


def sample(paths, count, seed):
    """Mutants, at most one for each place and kind, some of each module."""
    rng, chosen, rest = random.Random(seed), [], []
    for path in paths:
        places = [(path, *item) for item in sorted(sites(path).items(), key=str)]
        rng.shuffle(places)
        chosen += places[:AT_LEAST]
        rest += places[AT_LEAST:]
    rng.shuffle(rest)
    mutants, candidates = [], chosen + rest
    for path, ((line, _), kind), choices in candidates:
        if len(mutants) >= count:
            break
        source = path.read_text("utf-8")
        text = mutate_code(source, *rng.choice(choices))
        if text is None or text == source or not compiles(text):
            continue
        mutants.append(Mutant(path, line, kind, source, text))
    return mutants


def compiles(text):
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def tests_of(path, root):
    place = path.relative_to(ROOT / "custom_ops").as_posix()
    names = next(names for start, names in TESTS.items() if place.startswith(start))
    files = [f"tests/{name}.py" for name in names]
    assert all((root / file).exists() for file in files), files
    return files


def run_tests(root, files, seconds=None, which="not slow"):
    """Whether they pass; None if they took too long."""
    command = [sys.executable, "-m", "pytest", "-x", "-n", "0", "-q", *files]
    command += ["-p", "no:cacheprovider", "-m", f"{which} and not browser"]
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        command,
        cwd=root,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)  # what the tests started, too
        process.communicate()
        return None
    return process.returncode in (
        pytest.ExitCode.OK,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    )


def seconds_of(root):
    """How long the quick tests of a file take without a mutant."""

    def run(file):
        start = time.monotonic()
        if not run_tests(root, [file]):
            raise SystemExit(f"without a mutant, {file} fails")
        return time.monotonic() - start

    return run


def judge(mutant, copies, took):
    """ "killed", "timed out" or "survived"."""
    root = copies.get()
    place = root / mutant.path.relative_to(ROOT)
    original = place.read_text("utf-8")
    files = tests_of(mutant.path, ROOT)
    try:
        place.write_text(mutant.text, "utf-8")
        passed = run_tests(root, files, 60 + 4 * sum(took[file] for file in files))
        passed = passed and run_tests(root, files, SLOW, "slow")
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
    mutants = sample(paths, wanted.count, wanted.seed)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = queue.Queue()
        for number in range(wanted.jobs):
            copy = Path(folder, str(number))
            copies.put(shutil.copytree(ROOT, copy, ignore=LEFT_OUT))
        files = sorted({file for m in mutants for file in tests_of(m.path, ROOT)})
        with ThreadPoolExecutor(wanted.jobs) as pool:
            took = dict(zip(files, pool.map(seconds_of(copy), files), strict=True))
            verdicts = pool.map(lambda mutant: judge(mutant, copies, took), mutants)
            survivors = []
            for mutant, verdict in zip(mutants, verdicts, strict=True):
                print(f"{verdict}: {mutant}", flush=True)
                survivors += [mutant] * (verdict == "survived")
    killed = len(mutants) - len(survivors)
    print(f"\n{killed} of {len(mutants)} killed, seed {wanted.seed}. Survivors:\n")
    print("\n".join(map(str, survivors)) or "none")
    raise SystemExit(killed < ENOUGH * len(mutants))


if __name__ == "__main__":
    main()
