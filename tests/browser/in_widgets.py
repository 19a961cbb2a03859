"""A widget in JupyterLab, moved by keys as a hand on the keyboard does."""

CONTROLS = (
    ".jupyter-widgets [role=slider], .jupyter-widgets input[type=checkbox], "
    "button.jupyter-widgets, .jupyter-widgets select"
)
QUIET = 400  # milliseconds after a key or the kernel's work: nothing more will come
PRESSES = 12  # of an arrow key, until another picture has to be there
CELL = "window.jupyterapp.shell.currentWidget.content.widgets[index].node"
# What a cell shows is looked at in each frame of the browser and compared with what
# it was; how long after a key it changed is written down. So are errors.
WATCH = f"""index => {{
    const cell = {CELL};
    const all = selector => [...cell.querySelectorAll(selector)];
    const look = () => {{
        const pictures = all('img');
        if (pictures.some(picture => !picture.complete)) return null;
        return [...pictures.map(picture => picture.src),
            ...all('canvas').map(paper => paper.toDataURL()),
            ...all('.widget-output').map(area => area.innerText)].join();
    }};
    const session = window.jupyterapp.shell.currentWidget.sessionContext;
    const noted = window.noted = {{errors: [], waits: [], pressed: 0, busy: 0}};
    noted.settled = () => noted.waits.length > 0
        || performance.now() - Math.max(noted.pressed, noted.busy) > {QUIET};
    document.addEventListener(
        'keydown', () => {{ noted.pressed = performance.now(); }}, true);
    session.iopubMessage.connect(
        (_, message) => {{
            const said = message.content;
            if (message.header.msg_type === 'error')
                noted.errors.push(`${{said.ename}}: ${{said.evalue}}`);
            if (said.name === 'stderr') noted.errors.push(said.text);
        }});
    let before = look();
    const compare = () => {{
        if (!cell.isConnected) return;
        const now = look();
        if (session.session.kernel.status !== 'idle') noted.busy = performance.now();
        if (now !== null && now !== before) {{
            before = now;
            if (noted.pressed) noted.waits.push(performance.now() - noted.pressed);
        }}
        requestAnimationFrame(compare);
    }};
    requestAnimationFrame(compare);
}}"""
NAMES = f"""([index, controls]) => [...{CELL}.querySelectorAll(controls)].map(control =>
    (control.closest('label') ?? (control.matches('button') ? control
        : control.closest('.jupyter-widgets').querySelector('label')))
    ?.innerText.trim())"""
FOCUS = f"""([index, controls, number]) => {{
    const control = {CELL}.querySelectorAll(controls)[number];
    control.scrollIntoView({{block: 'nearest'}});
    control.focus();
    const [now, high] = ['aria-valuenow', 'aria-valuemax'].map(
        name => Number(control.getAttribute(name)));
    const arrow = now < high ? 'ArrowRight' : 'ArrowLeft';
    return [document.activeElement === control && control.tabIndex >= 0,
        control.matches('[role=slider]') ? arrow : 'Space'];
}}"""


def widget_complaints(tab, index, waits=None):
    """What is wrong with the widget of a cell, when each of its controls is moved.

    The last control comes first: what a button "clear" does is seen after another.

    Args:
        tab: with the notebook, run.
        index: of the cell.
        waits: a list; the seconds from a key to another picture are added to it.
    """
    page, waits = tab.page, [] if waits is None else waits
    names = page.evaluate(NAMES, [index, CONTROLS])
    if not names:
        yield "there is nothing to move"
        return
    page.evaluate(WATCH, index)
    still = []
    for number, name in reversed(list(enumerate(names))):
        if not name:
            yield f"control {number} has no label"
        reached, key = page.evaluate(FOCUS, [index, CONTROLS, number])
        if not reached:
            yield f"no key leads to {name}"
        if (wait := seconds_to_change(page, key)) is not None:
            waits.append(wait)
        else:
            still.append((name, key))
    page.wait_for_timeout(300)
    for error in page.evaluate("noted.errors"):
        yield f"it was moved, and failed: {error}"
    if len(still) == len(names):
        yield "it was moved, and what it shows stayed as it was"
    for name, key in still:
        if key != "Space":  # a box may be ticked without an effect
            yield f"{name} was moved, and what it shows stayed as it was"


def seconds_to_change(page, key):
    """From the key's last press to another picture; None if there was none."""
    page.wait_for_timeout(200)  # for what an earlier key may still do
    page.evaluate("noted.waits.length = 0")
    for _ in range(1 if key == "Space" else PRESSES):
        page.keyboard.press(key)
        page.wait_for_function("noted.settled()")
        if wait := page.evaluate("noted.waits[0]"):
            return wait / 1000
    return None
