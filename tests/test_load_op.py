"""`load_op`: compiles once, sees every change, and says what is wrong in words.

TINY has none of TensorFlow's headers, which take ten seconds. What loads an op runs
in a process of its own, as no process can unload one.
"""

import ctypes
import os
import re
import shutil
import textwrap
from pathlib import Path

import pytest

import other_process
from utils import compile_command, load_op

ZERO_OUT = Path(__file__).parents[1] / "notebooks" / "cpp" / "zero_out.cc"
TINY = 'extern "C" int answer() { return 42; }\n'
GXX = shutil.which("g++")
needs_compiler = pytest.mark.skipif(not GXX, reason="no g++, so no op in C++")
pytestmark = pytest.mark.filterwarnings("ignore:.* registers no op")


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A small source, and an empty cache for this process and its children."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CXX", raising=False)
    path = tmp_path / "tiny.cc"
    path.write_text(TINY)
    return path


def libraries(tiny):
    """What was built, the newest last."""
    found = (tiny.parent / "cache").rglob("*.so")
    return sorted(found, key=lambda file: file.stat().st_mtime_ns)


def python(code):
    return other_process.run("from utils import load_op, tf\n" + textwrap.dedent(code))


@needs_compiler
def test_it_compiles_once_until_a_file_or_the_command_changes(tiny, monkeypatch):
    folder, compiler = tiny.parent, tiny.with_name("compiler")
    names = ["v.hpp", "a b ü$#.inc", "system/found.h", "forced.h"]
    (folder / "system").mkdir()
    for name in names:
        (folder / name).write_text("// first\n")
    tiny.write_text(f'#include "{names[0]}"\n#include "{names[1]}"\n{TINY}')
    counted = f'case "$*" in *" -o "*) echo >> {folder}/builds;; esac; exec {GXX} "$@"'
    compiler.write_text(f"#!/bin/sh\n{counted}\n")
    compiler.chmod(0o755)
    options = f"{compiler} -isystem {folder}/system -include found.h -include forced.h"

    def builds():
        for _ in range(2):
            load_op(tiny)
        return len((folder / "builds").read_text())

    monkeypatch.setenv("CXX", options)
    assert builds() == 1
    for number, name in enumerate(names, start=2):
        before = (folder / name).stat()
        (folder / name).write_bytes("// éther\n".encode("latin-1"))  # as long, as old
        os.utime(folder / name, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert builds() == number, name
    monkeypatch.setenv("CXX", f"{options} -Danswer=other")
    assert builds() == len(names) + 2
    assert ctypes.CDLL(str(libraries(tiny)[-1])).other() == 42


@needs_compiler
def test_a_damaged_library_or_note_is_made_anew(tiny):
    load_op(tiny)
    for file in [*libraries(tiny), *(tiny.parent / "cache").rglob("*.json")]:
        whole = file.read_bytes()
        for damaged in (whole[:200], whole[:-1] + b"?"):
            file.unlink()  # the old one is in use
            file.write_bytes(damaged)
            load_op(tiny)
            assert file.read_bytes() == whole


@needs_compiler
def test_two_processes_may_build_at_once(tiny):
    code = f"from utils import load_op; load_op({str(tiny)!r})"
    for process in [other_process.OtherProcess(code) for _ in range(2)]:
        process.printed()
    [library] = libraries(tiny)
    assert ctypes.CDLL(str(library)).answer() == 42


def test_no_such_file_and_more_than_one_are_refused(tiny):
    with pytest.raises(FileNotFoundError, match="there is no file nothing.cc"):
        load_op("nothing.cc")
    with pytest.raises(TypeError, match="path of one C.* call it once for each"):
        load_op([tiny, tiny])


@pytest.mark.parametrize("call", [load_op, compile_command])
def test_a_missing_compiler_is_named_with_a_remedy(tiny, monkeypatch, call):
    for named in "gxx-13 -O2", "false":
        monkeypatch.setenv("CXX", named)
        with pytest.raises(FileNotFoundError, match=f"CXX='{named}': unset it, or"):
            call(tiny)
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(FileNotFoundError, match=r"no compiler: install a C\+\+ "):
        call(tiny)


def test_a_notebook_without_a_compiler_goes_on(tiny, monkeypatch):
    monkeypatch.setenv("CXX", "gxx-13")
    said = python(
        f"""
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance(user_ns=dict(load_op=load_op))
        for cell in (f"ops = load_op({str(tiny)!r})", "# C++\\nprint(ops.missing())",
                     "print('goes on', ops)\\n# C++"):
            shell.run_cell(cell).raise_error()
        """
    )
    first, *others = said.splitlines()
    assert first.startswith("load_op cannot run CXX='gxx-13'")
    assert others == ["Skipped: this cell needs a C++ compiler.", "goes on None"]


WRONG = {
    "#warning first\nint f() { return wrong; }\n":
        r"tiny.cc does not compile:\ntiny.cc:2:18: error: .*wrong",
    "namespace my { int f(int); }\nint g() { return my::f(1); }\n":
        r"tiny.cc cannot be loaded: .* my::f\(int\)",
}  # fmt: skip


@needs_compiler
@pytest.mark.parametrize("source", WRONG, ids=["syntax", "missing symbol"])
def test_what_is_wrong_with_a_source_is_shown_from_its_first_line(tiny, source):
    tiny.write_text(source)
    with pytest.raises(ValueError, match=WRONG[source]):
        load_op(tiny)


@needs_compiler
def test_a_source_without_an_op_is_told(tiny):
    tiny.write_text(f'// REGISTER_OP("Tiny")\n{TINY}')
    with pytest.warns(UserWarning, match="registers no op: it needs a REGISTER_OP"):
        load_op(tiny)


@needs_compiler
@pytest.mark.slow
def test_a_changed_op_is_refused_and_the_loaded_one_takes_a_new_gradient(tiny):
    shutil.copy(ZERO_OUT, tiny)
    said = python(
        f"""
        for factor in (1.0, 3.0):
            ops = load_op({str(tiny)!r})
            @ops.RegisterGradient("ZeroOut")
            def zero_out_grad(op, dy, dindices, factor=factor):
                return factor * dy
        with open({str(tiny)!r}, "a") as file:
            file.write("// changed")
        try:
            load_op({str(tiny)!r})
        except RuntimeError as error:
            print(error)
        with tf.GradientTape() as tape:
            x = tf.Variable([5.0, 6.0])
            y = ops.zero_out(x).y
        print(y.numpy(), tape.gradient(y, x).numpy())
        """
    )
    refused, values = said.splitlines()
    assert re.search("the op ZeroOut, .* restart the kernel", refused)
    assert values == "[5. 0.] [3. 3.]"
