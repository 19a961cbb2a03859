"""The workers of lesson 14: what they run, none stays behind, an error has a name."""

import ast
import re
from pathlib import Path

import keras
import nbformat
import pytest
import tensorflow as tf

from notebooks.modules import lesson_14, processes

PROGRAM = Path(lesson_14.__file__).with_name("lesson_14_worker.py")


def run_workers(program, folder):
    cluster = {"worker": lesson_14.free_addresses(2)}
    tasks = [{"type": "worker", "index": index} for index in range(2)]
    configs = [{"cluster": cluster, "task": task} for task in tasks]
    return lesson_14.run_processes(program, *[(each, [folder]) for each in configs])


def test_no_worker_outlives_an_interrupted_cell(tmp_path, monkeypatch):
    started = []

    def start(*args):
        started.append(processes.start(*args))
        return started[-1]

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(lesson_14, "start", start)
    monkeypatch.setattr(lesson_14, "report", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_workers(PROGRAM, tmp_path)
    assert [process.is_alive() for process, _ in started] == [False, False]


def test_a_worker_that_fails_names_its_error(tmp_path):
    program = tmp_path / "program.py"
    program.write_text('print(\'{"step": 0, "loss": 2.0}\')\n1 / 0\n')
    assert run_workers(program, tmp_path) == [({0: 2.0}, "ZeroDivisionError")] * 2


ANOTHER_FOLDER_FOR_EACH = f"""
import json, os, runpy, sys
sys.argv[1] += "/" + str(json.loads(os.environ["TF_CONFIG"])["task"]["index"])
runpy.run_path({str(PROGRAM)!r})
"""


@pytest.mark.slow
def test_workers_that_do_not_share_a_folder_stop(tmp_path):
    layer = keras.layers.Dense(10, use_bias=False)
    model = keras.Sequential([keras.Input([784]), layer])
    optimizer = keras.optimizers.SGD()
    optimizer.build(model.trainable_variables)
    optimizer.iterations.assign(20)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    of_first = str(tmp_path / "0" / "worker0")
    tf.train.CheckpointManager(checkpoint, of_first, max_to_keep=1).save()
    program = tmp_path / "program.py"
    program.write_text(ANOTHER_FOLDER_FOR_EACH)
    assert run_workers(program, tmp_path) == [({}, "RuntimeError")] * 2


ONLY_WORKER = {
    "cluster": {"worker": ["localhost:1"]},
    "task": {"type": "worker", "index": 0},
}
IN_ONE_PROCESS = f"""
import runpy
import tensorflow as tf
[cpu] = tf.config.list_physical_devices("CPU")
halves = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, halves)
two = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
tf.distribute.MultiWorkerMirroredStrategy = lambda: two
resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
tf.distribute.MirroredStrategy.cluster_resolver = resolver
runpy.run_path({str(PROGRAM)!r})
"""


@pytest.mark.slow
def test_a_process_may_have_two_devices(tmp_path):
    """As it has with two GPUs: what a replica returns is then no single tensor."""
    program = tmp_path / "program.py"
    program.write_text(IN_ONE_PROCESS)
    [(losses, error)] = lesson_14.run_processes(program, (ONLY_WORKER, [tmp_path]))
    assert (len(losses), error) == (33, "no error")


def test_the_program_is_what_the_notebook_shows_of_it():
    [path] = Path(lesson_14.__file__).parents[1].glob("14_*.ipynb")
    cells = nbformat.read(path, as_version=4).cells
    code = "\n\n".join(cell.source for cell in cells if cell.cell_type == "code")
    program = PROGRAM.read_text("utf-8")
    [text] = [cell.source for cell in cells if "checkpoint.restore" in cell.source]
    [shown] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert shown in program

    def functions(source):
        found = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
        return {each.name: ast.unparse(each) for each in found}

    of_program = functions(program.split("# The training\n")[0])
    assert of_program and of_program.items() <= functions(code).items()
