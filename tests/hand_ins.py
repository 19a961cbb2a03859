"""Hand-ins made from what was handed out: what a student might have written."""

import ast

import nbformat

from lesson_rules import EXERCISE_TAGS, Lesson, tags


def answered(stub, check, solution):
    """The stub's cell as a student would hand it in who found the solution.

    A solution uses names of its own and calls the check with them. With the names
    that the check cell calls it with, below the stub, it is a perfect answer.
    """
    *_, call = ast.parse(check.source).body
    *answer, solved = ast.parse(solution.source).body
    assert ast.unparse(call.value.func) == ast.unparse(solved.value.func), (
        "the last line of a check and of its solution call the same check"
    )
    pairs = zip(call.value.args, solved.value.args, strict=True)
    lines = [f"{ast.unparse(name)} = {ast.unparse(mine)}" for name, mine in pairs]
    return "\n".join([stub.source, "", *map(ast.unparse, answer), *lines])


def answers(lesson):
    """The right code for each exercise of the lesson at this path."""
    lesson = Lesson(lesson)
    cells = (lesson.tagged(kind) for kind in EXERCISE_TAGS)
    return [answered(*triple) for triple in zip(*cells, strict=True)]


def write(given, folder, exercises):
    """Hand in the notebook `given` with the code of some exercises, by number."""
    notebook = nbformat.read(given, as_version=4)
    stubs = [cell for cell in notebook.cells if "exercise" in tags(cell)]
    for number, code in exercises.items():
        stubs[number - 1].source = code
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / given.name)
    return folder / given.name
