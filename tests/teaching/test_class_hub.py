"""The example of a hub works as it stands, and the measurement sees what goes wrong."""

import re
import shutil
from pathlib import Path

import pytest

pytest.importorskip(
    "jupyterhub",
    reason="JupyterHub is not installed: pip install -r teaching/requirements.txt",
)
from teaching.hub import measure_class  # noqa: E402  (after the skip)

pytestmark = pytest.mark.teaching

ROOT = Path(__file__).resolve().parents[2]
PROXY = "configurable-http-proxy"
needs_proxy = pytest.mark.skipif(
    not (
        shutil.which(PROXY) or (ROOT / "hub" / "node_modules" / ".bin" / PROXY).exists()
    ),
    reason=f"{PROXY} is not installed: see teaching/README.md",
)


def lesson(number):
    (path,) = (ROOT / "notebooks").glob(f"{number}_*.ipynb")
    return path


@needs_proxy
def test_two_students_run_a_lesson_at_once():
    result = measure_class.measure(2, "01")
    assert result.failures == [] and result.differences == []
    assert result.same and set(result.outputs) == {"student01", "student02"}
    for part in measure_class.PARTS:
        assert len(result.seconds[part]) == 2
    for who in ("student01", "student02", "hub"):
        assert result.memory[who] > 30e6
    assert result.memory["all"] < 4e9
    assert re.match(r"\| 2 \|.*\| 0 \| yes \|", measure_class.row(result))


@needs_proxy
def test_a_wrong_password_is_a_failure_of_that_student_alone(tmp_path, monkeypatch):
    log_in = measure_class.Student.log_in

    def mistype(student):
        student.password += "x" * (student.name == "student02")
        log_in(student)

    monkeypatch.setattr(measure_class.Student, "log_in", mistype)
    result = measure_class.measure(2, "01")
    assert len(result.failures) == 1
    assert result.failures[0].startswith("student02, log in: RuntimeError: the hub")
    assert set(result.outputs) == {"student01"} and not result.differences
    assert not result.same


def test_another_number_is_a_difference():
    stored = measure_class.stored_outputs(lesson("01"))
    assert sum(map(bool, stored.values())) > 5
    seen = {"student01": dict(stored), "student02": dict(stored)}
    assert not list(measure_class.differences(stored, seen))
    cell = next(cell for cell, text in stored.items() if "0.9" in text)
    seen["student02"][cell] = stored[cell].replace("0.9", "0.8", 1)
    (found,) = measure_class.differences(stored, seen)
    assert found.startswith(f"student02, cell {cell}: ")
    del seen["student02"][cell]
    assert len(list(measure_class.differences(stored, seen))) == 1


def test_a_progress_bar_is_what_it_was_in_the_end():
    found = [("stdout", " 0%|\r"), ("stderr", "warning"), ("stdout", "100%|\ndone\n")]
    assert measure_class.as_seen(found) == "100%|\ndone\n"


def test_without_lessons_the_configuration_says_what_to_do(tmp_path):
    done = measure_class.subprocess.run(
        [
            measure_class.sys.executable,
            "-m",
            "jupyterhub",
            "--config",
            str(measure_class.CONFIG),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "hand_out.py" in done.stdout + done.stderr
