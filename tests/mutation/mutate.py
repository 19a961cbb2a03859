"""Do the tests see it when the helper is changed? A sample of mutants, by cosmic-ray.

    .venv/bin/pip install -r tests/mutation/requirements.txt
    .venv/bin/python tests/mutation/mutate.py --count 60 --seed 1

Each mutant is one small change of one module of custom_ops/, as it is committed:
another operator, another number, a condition turned round, a loop that does nothing. It
is killed when a test of its module fails or hangs. What survives is either a fault that
no test would see, or a change that makes no difference: a person has to tell. The
mutants live in clones; the same seed and code give the same sample.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 900  # at most, for the tests of a module
# The tests of each module, by the beginning of its path; what fits best comes first,
# since the first failure ends the run.
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


def mutants(database):
    """Of each place and kind of change one, in an order by chance."""
    paths = sorted(Path("custom_ops").rglob("*.py"))
    with use_db(database, WorkDB.Mode.create) as db:
        init(paths, db, {})
        found = list(db.work_items)
    found.sort(key=lambda item: str(item.mutations))  # job ids are by chance
    random.shuffle(found)
    kinds = {}
    for item in found:
        [one] = item.mutations
        kind = one.operator_name.rpartition("/")[2].split("_")[0]
        kinds[one.module_path, one.start_pos, kind] = item
    return list(kinds.values())


def go_to_a_clone(folder):
    clone = tempfile.mkdtemp(dir=folder)
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
    os.chdir(clone)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


def test(item):
    """The outcome of a mutant's tests, and what was changed."""
    path = item.mutations[0].module_path.relative_to("custom_ops").as_posix()
    names = next(names for start, names in TESTS.items() if path.startswith(start))
    files = " ".join(f"tests/{name}.py" for name in names)
    command = f"{sys.executable} -m pytest -x -n 0 -q -p no:cacheprovider -m '' {files}"
    result = mutate_and_test(item.mutations, command, SECONDS)
    return result.test_outcome, result.diff


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=60, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="test runs at a time")
    wanted = parser.parse_args()
    random.seed(wanted.seed)
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        chosen = mutants(f"{folder}/all.sqlite")[: wanted.count]
        survivors = 0
        with ProcessPoolExecutor(wanted.jobs, None, go_to_a_clone, [folder]) as pool:
            for outcome, diff in pool.map(test, chosen):
                survivors += outcome is TestOutcome.SURVIVED
                print(f"{outcome.value if outcome else 'no change'}:\n{diff}\n")
    print(f"{len(chosen) - survivors} of {len(chosen)} killed, seed {wanted.seed}")


if __name__ == "__main__":
    main()
