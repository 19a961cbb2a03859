"""site/errors.md: each message comes up on the installed TensorFlow, each remedy runs.

An entry is a heading, a block of Python that provokes it, a block of text with what is
shown then, a paragraph, and a block of Python with the remedy.
"""

import contextlib
import io
import re
import shutil
from pathlib import Path

import pytest

from custom_ops.tensorflow_start import stderr_held_back

PAGE = Path(__file__).resolve().parents[1] / "site" / "errors.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
HEAD, *ENTRIES = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
TITLES = [entry.partition("\n")[0] for entry in ENTRIES]


def shown_by(code, names):
    """What code prints, and the message of the error that ends it."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, stderr_held_back(False):
        try:
            exec(code, names)
        except Exception as error:
            return printed.getvalue() + str(error), error
    return printed.getvalue(), None


@pytest.mark.parametrize("entry", ENTRIES, ids=TITLES)
def test_entry(entry):
    names = {}
    exec(BLOCK.search(HEAD)[2], names)
    title, body = entry.split("\n", 1)
    (_, provoke), (kind, text), (_, remedy) = BLOCK.findall(body)
    assert kind == "text"
    found, error = shown_by(provoke, names)
    assert text.strip() in found, found
    if title.startswith("Silent"):
        assert error is None and found.strip() == text.strip()
    else:
        assert error is not None
        message = re.search("`(.*)`", title)[1]
        plain = re.sub(r"pyfunc_\d+", "pyfunc_0", found.replace("`", ""))
        assert message.replace("`", "") in plain, found
    if "load_op" in remedy and not shutil.which("g++"):
        pytest.skip("the remedy needs a C++ compiler")
    assert 1 <= len(remedy.splitlines()) <= 2
    _, error = shown_by(remedy, names)
    assert error is None, error
