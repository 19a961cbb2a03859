"""Lessons in JupyterLab, as learners see them: look, run, press.

In a real browser the first lesson is opened and run, and each that has something to
press. A picture has words in its place as the lesson is opened; once it is drawn anew,
the text below says what is seen. What is judged is the file that JupyterLab saves, and
what the page shows.
"""

import contextlib
import json
import subprocess
import time
from pathlib import Path

import nbformat
import pytest
from accessible import wordless
from in_browser import LESSONS, MINUTE, Tab, copy_of_project, documented, has_output
from jupyter_server.serverapp import list_running_servers

pytestmark = pytest.mark.browser
WIDGET = "application/vnd.jupyter.widget-view+json"
# Where the interface would wait for an answer, ask the network, or leave cells out
# of the page until they are scrolled to.
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false"},
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
}
DO = """async ([what, options]) => {
    await window.jupyterapp.commands.execute(what, options);
}"""
RUN = "() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }"
IDLE = (
    "window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status"
    " === 'idle'"
)
# All cells have run; or none has for a while, after an error.
HAVE_RUN = """() => {
    const {content, sessionContext} = window.jupyterapp.shell.currentWidget;
    const code = content.widgets.filter(cell => cell.model.type === 'code');
    const ran = code.filter(cell => cell.model.executionCount).length;
    const idle = sessionContext.session?.kernel?.status === 'idle';
    if (!idle || window.ran !== ran)
        [window.ran, window.since] = [ran, performance.now()];
    return idle && ran === code.length || performance.now() - window.since > 10000;
}"""
CLOSE = """async () => {
    await window.jupyterapp.shell.currentWidget.sessionContext.shutdown();
    window.jupyterapp.shell.currentWidget.dispose();
}"""


@pytest.fixture(scope="module")
def lab(chromium, wall, tmp_path_factory):
    """A tab with JupyterLab, started as the README says on a copy of the project."""
    tree, environment = copy_of_project(tmp_path_factory.mktemp("lab"), wall)
    settings = Path(environment["JUPYTER_CONFIG_DIR"], "labconfig")
    settings.mkdir(parents=True)
    (settings / "default_setting_overrides.json").write_text(json.dumps(SETTINGS))
    command = [*documented("jupyter lab"), "--no-browser", "--allow-root"]
    command += ["--ServerApp.port=0", "--LabApp.expose_app_in_browser=True"]
    server = subprocess.Popen([*command, "--LabApp.news_url=None"], cwd=tree,
                              env=environment, stderr=subprocess.DEVNULL)  # fmt: skip
    with chromium.new_context(viewport={"width": 1280, "height": 900}) as context:
        try:
            tab = Tab(context, wall)
            tab.folder = tree / "notebooks"
            tab.page.goto(address(server, environment["JUPYTER_RUNTIME_DIR"]))
            tab.page.wait_for_function("window.jupyterapp?.restored")
            yield tab
        finally:
            server.terminate()
            server.wait(MINUTE)


def address(server, folder):
    """Where it serves JupyterLab, as soon as it says so."""
    end = time.monotonic() + 3 * MINUTE
    while server.poll() is None and time.monotonic() < end:
        with contextlib.suppress(ValueError):  # half written
            for about in list_running_servers(folder):
                return f"{about['url']}lab?token={about['token']}"
        time.sleep(0.3)
    raise AssertionError(f"JupyterLab did not start: {server.args}")


@contextlib.contextmanager
def opened(lab, name):
    """Open a notebook; in the end, shut down its kernel and close it."""
    lab.page.evaluate(DO, ["docmanager:open", {"path": name}])
    lab.page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
    lab.page.wait_for_function(IDLE)
    yield lab.page
    lab.page.evaluate(CLOSE)


def run_all(lab, name):
    """Run all cells of the open notebook, which show nothing yet; what is saved."""
    lab.page.evaluate(DO, ["notebook:clear-all-cell-outputs", {}])
    lab.page.evaluate(RUN)
    lab.page.wait_for_function(HAVE_RUN, timeout=9 * MINUTE * 1000)
    lab.page.evaluate(DO, ["docmanager:save", {}])
    return nbformat.read(lab.folder / name, as_version=4)


def complaints(lab, saved, stored):
    """What is wrong with a lesson that was run: in the file, and on the page."""
    code = [cell for cell in saved.cells if cell.cell_type == "code"]
    counts = [cell.execution_count for cell in code]
    if counts != list(range(1, len(code) + 1)):
        yield f"the cells did not run one after the other: {counts}"
    before = [cell for cell in stored.cells if cell.cell_type == "code"]
    for number, (old, new) in enumerate(zip(before, code, strict=True), start=1):
        for output in new.outputs:
            expected = "raises-exception" in new.metadata.get("tags", [])
            if output.output_type == "error" and not expected:
                yield f"code cell {number}: {output.ename}: {output.evalue}"
        for kind in "image/", WIDGET:
            if has_output(old, kind) and not has_output(new, kind):
                yield f"code cell {number} shows no {kind} any more"
    for text in lab.page.locator(".jp-Dialog").all_inner_texts():
        yield f"a dialog is open: {text}"
    yield from lab.complaints(".jp-Notebook", saved)


SHOWN = """([cell, before]) => {
    const drawn = [...cell.querySelectorAll('canvas')].map(each => each.toDataURL());
    const shown = cell.innerText + drawn;
    return before === shown ? null : shown;
}"""


def dead_buttons(page):
    """The buttons that show nothing else when a key presses them.

    The last one comes first: what "clear" does is seen after another.
    """
    from playwright.sync_api import TimeoutError  # not everybody has it

    for button in reversed(page.locator("button.jupyter-widgets").all()):
        cell = button.locator("xpath=ancestor::*[contains(@class, 'jp-CodeCell')]")
        cell = cell.element_handle()
        before = page.evaluate(SHOWN, [cell, None])
        button.press("Space")
        try:
            page.wait_for_function(SHOWN, arg=[cell, before], timeout=10_000)
        except TimeoutError:
            yield f"the button {button.inner_text()} was pressed, and nothing changed"


def has_widget(path):
    cells = nbformat.read(path, as_version=4).cells
    return any(has_output(cell, WIDGET) for cell in cells)


TO_RUN = [path for path in LESSONS if path == LESSONS[0] or has_widget(path)]


@pytest.mark.parametrize("path", TO_RUN, ids=lambda path: path.stem)
def test_lesson_has_words_for_pictures_runs_and_answers_keys(path, lab):
    stored = nbformat.read(path, as_version=4)
    with opened(lab, path.name) as page:
        page.wait_for_selector(".jp-OutputArea img")
        found = list(wordless(page, ".jp-Notebook"))
        pictures = page.locator(".jp-OutputArea img").count()
        saved = run_all(lab, path.name)
        lab.keep_views(path.stem, "mjx-container[display=true]", ".jp-OutputArea img")
        found += [*complaints(lab, saved, stored), *dead_buttons(page)]
        buttons = page.locator("button.jupyter-widgets").count()
    assert not found, "\n".join(found)
    assert pictures == sum(has_output(cell, "image/") for cell in stored.cells)
    assert bool(buttons) == has_widget(path)
