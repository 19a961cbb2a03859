"""Let nbconvert run the lessons and write their outputs, one command for all of them:

    python -m nbconvert --config site/execute_config.py --inplace --to notebook \
        notebooks/*.ipynb

What is stored is the same for every run (but for times and the ids of widgets), small,
and each picture gets the words that its cell's metadata has for it.
"""

import base64
import io
import re
import sys
from pathlib import Path

from nbconvert.preprocessors import CoalesceStreamsPreprocessor, ExecutePreprocessor
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parent))
import static_lesson  # noqa: E402


class Run(ExecutePreprocessor):
    """Keeps what a widget draws as an output of its cell.

    nbclient would put it into the widget, and tell the kernel: now and then a reply is
    lost on the way, and nothing goes on.
    """

    def on_comm_open_jupyter_widget(self, msg):
        return None


def tidy(notebook, resources):
    """Called with each notebook after it was run."""
    join = CoalesceStreamsPreprocessor(enabled=True)
    for cell in notebook.cells:
        join.preprocess_cell(cell, resources, 0)
    for data, _ in static_lesson.pictures(notebook):
        png = base64.b64decode(data["image/png"])
        data["image/png"] = base64.b64encode(small(png)).decode()
    save_hero(notebook, Path(resources["metadata"]["path"]))
    static_lesson.describe(notebook)
    return notebook, resources


def save_hero(notebook, folder):
    """Save what the cell tagged `hero` draws: the lesson opens with it."""
    for cell in notebook.cells:
        if "hero" in cell.metadata.get("tags", []):
            name = re.search(r"!\[.*?\]\((images/\S+)\)", notebook.cells[0].source)[1]
            [png] = [o.data["image/png"] for o in cell.outputs if o.get("data")]
            (folder / name).write_bytes(base64.b64decode(png))


def small(png):
    """A PNG file (bytes) with 256 colours, close to what they were: a third of it."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    few = picture.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    saved = io.BytesIO()
    few.save(saved, format="png", optimize=True)
    return saved.getvalue()


c = get_config()  # noqa: F821  (nbconvert defines it)
c.ExecutePreprocessor.kernel_name = "python3"
c.ExecutePreprocessor.record_timing = False
c.ExecutePreprocessor.timeout = 600
# A long traceback names files of this machine.
c.ExecutePreprocessor.extra_arguments = ["--InteractiveShell.xmode=Minimal"]
c.NotebookExporter.preprocessors = [Run, tidy]
