"""Lessons in JupyterLab, as learners see them: run, look, move.

A notebook without outputs is opened and run in a real browser: the first lesson, and
those with something to move. What is judged is the file that JupyterLab saves, and
what the page shows. Each widget is moved by keys. JupyterLab itself is opened once. A
picture has words in its place as the lesson is opened; once it is drawn anew, the text
below says what is seen.
"""

import json
import statistics
import time

import nbformat
import pytest
from accessible import wordless
from in_browser import (
    ARTEFACTS,
    MINUTE,
    ROOT,
    Tab,
    has_picture,
    has_widget,
    page_complaints,
)
from in_widgets import widget_complaints
from nbformat import v4

pytestmark = pytest.mark.browser
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
CLOSE_ALL = """async () => {
    await window.jupyterapp.restored;
    [...window.jupyterapp.shell.widgets('main')].forEach(widget => widget.dispose());
}"""
OPEN = "name => window.jupyterapp.commands.execute('docmanager:open', {path: name})"
RUN = """() => {
    window.outcome = null;
    const app = window.jupyterapp;
    app.commands.execute('notebook:run-all-cells').then(
        () => { window.outcome = 'done'; },
        error => { window.outcome = `${error}`; });
}"""
STATUS = (
    "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status"
)
# The cells that have run, as long as none of them is running.
RAN = f"""{STATUS} !== 'idle' ? -1 :
    window.jupyterapp.shell.currentWidget.content.widgets.filter(
        cell => cell.model.type === 'code' && cell.model.executionCount).length"""
SAVE = "window.jupyterapp.commands.execute('docmanager:save')"
SHUT_DOWN = "window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"


@pytest.fixture(scope="module")
def open_lab(chromium, wall, lab):
    with Tab.of(chromium, wall) as tab:
        tab.page.goto(lab.address)
        tab.page.wait_for_function("window.jupyterapp?.restored")
        yield tab


@pytest.fixture
def tab(open_lab):
    """The tab with JupyterLab, and no notebook open in it."""
    open_lab.page.evaluate(CLOSE_ALL)
    open_lab.forget()
    yield open_lab
    assert not open_lab.outside, "it tried to leave loopback"


def first_widget(cells):
    found = (index for index, cell in enumerate(cells) if has_widget(cell))
    return next(found, None)


def lessons_to_run():
    """The first lesson, and those that show a widget."""
    read = {path: nbformat.read(path, as_version=4).cells for path in LESSONS}
    return [path for path, cells in read.items()
            if path == LESSONS[0] or first_widget(cells)]  # fmt: skip


def wait_for_all_cells(page, notebook, patience):
    """Wait until all cells have run, or nothing has for a while (after an error).

    The command that runs all cells comes back early, where a cell raises what it is
    tagged to raise.
    """
    code = sum(cell.cell_type == "code" for cell in notebook.cells)
    end = time.monotonic() + 9 * MINUTE
    last, since = None, time.monotonic()
    while time.monotonic() < end:
        ran = page.evaluate(RAN)
        if ran == code:
            return
        if ran != last or ran == -1:
            last, since = ran, time.monotonic()
        elif time.monotonic() - since > patience:
            return
        page.wait_for_timeout(300)


def run_in_lab(tab, lab, name, patience=20):
    """Open a notebook, run all of it, save it; returns what was saved.

    Args:
        patience: seconds until a cell that has not begun is given up.
    """
    page = tab.page
    opened = nbformat.read(lab.notebooks / name, as_version=4)
    page.evaluate(OPEN, name)
    page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
    page.wait_for_function(f"{STATUS} === 'idle'")
    page.evaluate(RUN)
    page.wait_for_function("window.outcome", timeout=9 * MINUTE * 1000)
    assert page.evaluate("window.outcome") == "done"
    wait_for_all_cells(page, opened, patience)
    page.evaluate(SAVE)
    page.wait_for_load_state("networkidle")
    return nbformat.read(lab.notebooks / name, as_version=4)


def cell_errors(code):
    """What cells raised that are not tagged to raise it."""
    for number, cell in enumerate(code, start=1):
        for output in cell.outputs:
            if (
                output.output_type == "error"
                and "raises-exception" not in cell.metadata.get("tags", [])
            ):
                yield f"code cell {number}: {output.ename}: {output.evalue}"


def complaints(tab, saved, stored):
    """What is wrong with a lesson that was run: in the file, and on the page."""
    code = [cell for cell in saved.cells if cell.cell_type == "code"]
    counts = [cell.execution_count for cell in code]
    if counts != list(range(1, len(code) + 1)):
        yield f"the cells did not run one after the other: {counts}"
    yield from cell_errors(code)
    before = [cell for cell in stored.cells if cell.cell_type == "code"]
    for number, (old, new) in enumerate(zip(before, code, strict=True), start=1):
        if has_picture(old) and not has_picture(new) and not has_widget(new):
            yield f"code cell {number} drew no picture"
        if has_widget(old) and not has_widget(new):
            yield f"code cell {number} made no widget"
    for text in tab.page.locator(".jp-Dialog").all_inner_texts():
        yield f"a dialog is open: {text}"
    yield from page_complaints(tab.page, saved, ".jp-Notebook")


def shut_down(tab, lab):
    """Shut down this notebook's kernel; no other one may be left either."""
    tab.page.evaluate(SHUT_DOWN)
    assert lab.kernels() == []


def keep_views(tab, name):
    for view, selector in {
        "top": ".jp-Notebook .jp-Cell",
        "formula": ".jp-Notebook mjx-container[display=true]",
        "picture": ".jp-OutputArea img",
    }.items():
        found = tab.page.locator(selector)
        if found.count():
            found.first.scroll_into_view_if_needed()
            tab.keep(f"{name}-{view}")


@pytest.mark.parametrize("path", lessons_to_run(), ids=lambda path: path.stem)
def test_lesson_in_jupyterlab(path, tab, lab):
    stored = nbformat.read(path, as_version=4)
    saved = run_in_lab(tab, lab, path.name)
    keep_views(tab, path.stem)
    found = list(complaints(tab, saved, stored))
    if first_widget(stored.cells):
        found += moved_by_keys(path, tab, first_widget(stored.cells))
    shut_down(tab, lab)
    assert not found, "\n".join(found)
    assert not tab.errors


@pytest.mark.parametrize("path", lessons_to_run(), ids=lambda path: path.stem)
def test_stored_pictures_have_words(path, tab, lab):
    """As a lesson is opened, before anything is run."""
    name = f"stored_{path.name}"
    (lab.notebooks / name).write_bytes(path.read_bytes())
    tab.page.evaluate(OPEN, name)
    tab.page.wait_for_selector(".jp-OutputArea img")
    found = list(wordless(tab.page, ".jp-Notebook"))
    pictures = tab.page.locator(".jp-OutputArea img").count()
    tab.keep(f"{path.stem}-stored")
    shut_down(tab, lab)
    cells = nbformat.read(path, as_version=4).cells
    assert pictures == sum(map(has_picture, cells)) and not found, found


def moved_by_keys(path, tab, index):
    """What is wrong with the widget of a cell; how long it took is kept."""
    waits = []
    found = list(widget_complaints(tab, index, waits))
    note_waits(path, waits)
    return found


def note_waits(path, waits):
    """Keep how long the picture took to follow, for people to read."""
    ARTEFACTS.mkdir(exist_ok=True)
    file = ARTEFACTS / "seconds_from_key_to_picture.json"
    noted = json.loads(file.read_text()) if file.exists() else {}
    if waits:
        noted[path.stem] = {
            "median": round(statistics.median(waits), 3),
            "longest": round(max(waits), 3),
        }
    file.write_text(json.dumps(noted, indent=1))


DRAWING = """import matplotlib.pyplot as plt
plt.plot([0, 1])
plt.show()"""
ESCAPE = """from IPython.display import HTML
HTML('<img src="https://example.org/beacon.png">')"""
KERNEL_ESCAPE = """import urllib.request
try:
    urllib.request.urlopen("http://example.org/data", timeout=20)
except OSError:
    pass"""


MOVED_WRONGLY = """import ipywidgets


def dead(number):
    print("drawn once")


def failing(number):
    print(1 / (3 - number))


def missed(change):
    raise KeyError("nobody sees it")


def button(name, action):
    one = ipywidgets.Button(description=name)
    one.on_click(action)
    return one


def moved(draw, name="number"):
    slider = ipywidgets.IntSlider(2, description=name)
    return ipywidgets.VBox(
        [slider, ipywidgets.interactive_output(draw, {"number": slider})])


def slow(number):
    import time
    time.sleep(0.5 * (number > 2))
    print(number)"""
WIDGETS = {
    "moved(dead, name='')": "control 0 has no label",
    "moved(dead)": "it was moved, and what it shows stayed as it was",
    "moved(failing)": "it was moved, and failed: ZeroDivisionError: division by zero",
    "button('press', missed)": "it was moved, and failed: KeyError: 'nobody sees it'",
    "button('press', dead)": "it was moved, and what it shows stayed as it was",
    "print('no widget')": "there is nothing to move",
    "moved(slow)": None,
}


def test_a_widget_that_fails_is_seen(tab, lab):
    """And one that works has no complaints, and its time is taken."""
    cells = [v4.new_code_cell(source) for source in (MOVED_WRONGLY, *WIDGETS)]
    kernel = {"name": "python3", "display_name": "Python 3"}
    lab.write(
        "widgets.ipynb", v4.new_notebook(metadata={"kernelspec": kernel}, cells=cells)
    )
    run_in_lab(tab, lab, "widgets.ipynb")
    found, waits = {}, []
    for index, source in enumerate(WIDGETS, start=1):
        waits.clear()
        found[source] = list(widget_complaints(tab, index, waits))
    shut_down(tab, lab)
    for source, expected in WIDGETS.items():
        assert found[source][:1] == [expected] * bool(expected), found
    assert len(waits) == 1 and 0.5 <= waits[0] < 1.5


def test_what_is_broken_is_seen(tab, lab):
    """One notebook with each of the faults that the test above claims to see."""
    stored = v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        cells=[
            v4.new_markdown_cell(r"$\frac{1}$ lacks something"),
            v4.new_markdown_cell(r"$\notknown{x}$ is not known, $x$ is"),
            v4.new_markdown_cell("![a picture of nothing](images/missing.png)"),
            v4.new_code_cell(DRAWING),
            v4.new_code_cell("picture = 'not drawn any more'"),
            v4.new_code_cell(ESCAPE),
            v4.new_code_cell(KERNEL_ESCAPE),
            v4.new_code_cell("1 / 0"),
            v4.new_code_cell("print('never reached')"),
        ],
    )
    lab.write("broken.ipynb", stored)
    picture = v4.new_output("display_data", data={"image/png": "iVBORw0KGgo="})
    stored.cells[4].outputs = [picture]
    saved = run_in_lab(tab, lab, "broken.ipynb", patience=5)
    found = list(complaints(tab, saved, stored))
    shut_down(tab, lab)
    for expected in (
        "the cells did not run one after the other: [1, 2, 3, 4, 5, None]",
        "code cell 5: ZeroDivisionError: division by zero",
        "code cell 2 drew no picture",
        "a formula is broken: ",
        "a picture was not found: a picture of nothing",
    ):
        assert any(text.startswith(expected) for text in found), (expected, found)
    assert sum(text.startswith("a formula is broken") for text in found) == 2
    assert "https://example.org/beacon.png" in tab.outside
    assert any("http://example.org/data" in line for line in tab.outside)
    tab.forget()
