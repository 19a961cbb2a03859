"""How nbgrader grades the lessons. Copy this file into your course folder.

A check says what it found in words, `well done` or `not yet: …`, while nbgrader
looks for errors. JudgeChecks translates, in this one place, so that the lessons stay
as they are. RunHandIn sees to it that a hand-in which hangs or crashes is graded.
"""

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat.v4 import new_output
from nbgrader.converters import Autograde
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_locked


class RunHandIn(Execute):
    """Run a hand-in as far as it goes; what comes after is not run, and judged.

    A cell that takes too long is interrupted, and the next one is tried. Code that
    hangs once more, does not answer at all or kills its kernel ends the run.
    """

    def preprocess(self, notebook, *args, **kwargs):
        self.timeouts = 0
        try:
            return super().preprocess(notebook, *args, **kwargs)
        except (CellTimeoutError, DeadKernelError) as error:
            self.log.warning("The hand-in was not run to its end: %s", error)
            return notebook, self.resources

    def on_cell_executed(self, cell, execute_reply, **kwargs):
        super().on_cell_executed(cell=cell, execute_reply=execute_reply, **kwargs)
        error = execute_reply["content"].get("ename")
        expected = "raises-exception" in cell.metadata.get("tags", [])
        if error and is_locked(cell) and not is_grade(cell) and not expected:
            # Not an exercise: is a package missing here? Or had a student broken it?
            self.log.warning(
                "The lesson's own cell %s failed: %s: %s",
                cell.metadata.nbgrader.grade_id,
                error,
                execute_reply["content"]["evalue"],
            )
        if error == "CellTimeoutError":
            self.timeouts += 1
            if self.timeouts > 1:
                raise CellTimeoutError("a second cell took too long")


class JudgeChecks(NbGraderPreprocessor):
    """Turn each check that did not end in `well done` into a failed test."""

    def preprocess_cell(self, cell, resources, index):
        if not is_grade(cell):
            return cell, resources
        said = "".join(
            output.text for output in cell.outputs if output.get("name") == "stdout"
        )
        lines = said.split("\n")
        refused = any(line.startswith("not yet") for line in lines)
        failed = any(output.output_type == "error" for output in cell.outputs)
        if failed or refused or not said.endswith("well done\n"):
            why = "no points: see above" if said else "the check did not run to its end"
            cell.outputs.append(
                new_output("error", ename="NotYet", evalue=why, traceback=[why])
            )
        # To nbgrader a warning is a failure and a number is partial credit: the
        # check alone has the word.
        for output in cell.outputs:
            if output.get("name") == "stderr":
                output.name = "stdout"
            elif output.output_type == "execute_result":
                output.output_type = "display_data"
                del output["execution_count"]
        return cell, resources


c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "custom_ops"

# The stubs are in place already, and students may change every cell: what is not
# an exercise is restored before it is graded.
c.ClearSolutions.enabled = False
c.LockCells.lock_readonly_cells = False
c.OverwriteCells.add_missing_cells = True

run, *then = Autograde.autograde_preprocessors.default()
assert run is Execute, f"another nbgrader: it begins with {run}"
c.Autograde.autograde_preprocessors = [RunHandIn, JudgeChecks, *then]
c.Execute.timeout = 300  # seconds for a cell: far more than any lesson needs
c.Execute.iopub_timeout = 60  # a busy server may be slow to show what was printed
