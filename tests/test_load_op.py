"""`load_op`: compiles once, sees every change, and says what is wrong in words.

TINY has none of TensorFlow's headers, which take ten seconds. What loads an op runs
in a process of its own, as no process can unload one.
"""

import ctypes
import os
import re
import shutil
import subprocess
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


def answer(tiny):
    return ctypes.CDLL(str(libraries(tiny)[-1])).answer()


def script(path, code):
    path.write_text(f"#!/bin/sh\n{code}\n")
    path.chmod(0o755)
    return str(path)


def python(code):
    return other_process.run("from utils import load_op, tf\n" + textwrap.dedent(code))


@needs_compiler
def test_second_call_does_not_compile(tiny, monkeypatch):
    load_op(tiny)
    script(tiny.with_name("g++"), f'[ "$1" = --version ] && exec {GXX} "$@"; exit 1')
    monkeypatch.setenv("PATH", f"{tiny.parent}:{os.environ['PATH']}")
    load_op(tiny)
    tiny.write_text(TINY + "// changed\n")
    with pytest.raises(ValueError, match="does not compile"):
        load_op(tiny)


@needs_compiler
def test_a_change_of_any_file_that_is_included_is_seen(tiny, monkeypatch):
    folder = tiny.parent
    names = ["v.hpp", "plain", "sub/v.inc", "a b.h", "ü$#.h", "back\\slash.h"]
    names += ["system/found.h", "far/forced.h", "far/target"]
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("// first\n")
    (folder / "link.h").symlink_to(folder / "far" / "target")
    included = [f'"{name}"' for name in names[:6]] + ["<found.h>", f'"{folder}/link.h"']
    tiny.write_text("".join(f"#include {name}\n" for name in included) + TINY)
    monkeypatch.setenv("CXX", f"g++ -isystem {folder}/system -include far/forced.h")
    load_op(tiny)
    for number, name in enumerate(names, start=2):
        before = (folder / name).stat()
        (folder / name).write_text("// other\n")  # as long, and as old
        os.utime(folder / name, ns=(before.st_atime_ns, before.st_mtime_ns))
        load_op(tiny)
        assert len(libraries(tiny)) == number, name


@needs_compiler
def test_options_in_cxx_are_used(tiny, monkeypatch):
    tiny.write_text(TINY.replace("42", "VALUE"))
    for value in (1, 2):
        monkeypatch.setenv("CXX", f"{GXX} -DVALUE={value}")
        load_op(tiny)
        assert answer(tiny) == value


@needs_compiler
def test_a_damaged_library_or_note_is_made_anew(tiny):
    load_op(tiny)
    for file in [*libraries(tiny), *(tiny.parent / "cache").rglob("*.json")]:
        whole = file.read_bytes()
        for damaged in (b"", whole[:200], whole[:-1] + b"?"):
            file.unlink()  # the old one is in use
            file.write_bytes(damaged)
            load_op(tiny)
            assert file.read_bytes() == whole


@needs_compiler
def test_a_change_while_it_compiles_is_not_taken_for_the_old(tiny, monkeypatch):
    header = tiny.with_name("v.h")
    header.write_text("#define V 1\n")
    tiny.write_text('#include "v.h"\n' + TINY.replace("42", "V"))
    edit = f'case "$*" in *" -o "*) echo "#define V 2" > {header};; esac'
    slow = script(tiny.with_name("slow"), f'{edit}\nexec {GXX} "$@"')
    monkeypatch.setenv("CXX", slow)
    load_op(tiny)
    assert answer(tiny) == 2
    script(Path(slow), f'exec {GXX} "$@"')
    header.write_text("#define V 1\n")
    load_op(tiny)
    assert answer(tiny) == 1


@needs_compiler
def test_two_processes_at_once(tiny):
    other = other_process.OtherProcess(
        f"""
        from utils import load_op
        connection.send(connection.recv())
        load_op({str(tiny)!r})
        """
    )
    other.say("go")
    assert other.hear() == "go"
    load_op(tiny)
    other.printed()
    assert len(libraries(tiny)) == 1 and answer(tiny) == 42


@needs_compiler
@pytest.mark.parametrize("start", ["// café".encode("latin-1"), b"\xef\xbb\xbf"])
def test_odd_encodings_names_and_an_editors_lock_file(tiny, start):
    tiny.with_name(".#tiny.h").symlink_to("user@host.1234:1")
    odd = tiny.with_name("odd ü$#.cc")
    odd.write_bytes(start + b"\r\n" + TINY.encode())
    load_op(odd)
    assert answer(tiny) == 42


@needs_compiler
def test_compile_command_compiles(tiny):
    subprocess.run(compile_command(tiny), cwd=tiny.parent, check=True)
    assert ctypes.CDLL(str(tiny.with_suffix(".so"))).answer() == 42


def test_no_such_file_and_more_than_one(tiny):
    with pytest.raises(FileNotFoundError, match="there is no file nothing.cc"):
        load_op("nothing.cc")
    with pytest.raises(TypeError, match="path of one C.* call it once for each"):
        load_op([tiny, tiny])


@pytest.mark.parametrize("call", [load_op, compile_command])
def test_no_compiler_and_one_that_cannot_run(tiny, monkeypatch, call):
    for named in ("gxx-13", 'g++ "', "false"):
        monkeypatch.setenv("CXX", named)
        with pytest.raises(FileNotFoundError, match=re.escape(f"CXX={named!r}: unset")):
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


@needs_compiler
def test_a_compilers_error_is_shown_from_its_first_line(tiny):
    tiny.write_text("#warning first\nint f() { return wrong; }\n")
    with pytest.raises(ValueError, match=r"not compile:\ntiny.cc:2:18: error: .*wrong"):
        load_op(tiny)
    assert not libraries(tiny)


@needs_compiler
def test_a_symbol_that_is_defined_nowhere_is_named(tiny):
    tiny.write_text("namespace my { int f(int); }\nint g() { return my::f(1); }\n")
    with pytest.raises(ValueError, match=r"tiny.cc cannot be loaded: .* my::f\(int\)"):
        load_op(tiny)


@needs_compiler
def test_a_source_without_an_op_is_told(tiny):
    tiny.write_text(f'// REGISTER_OP("Tiny")\n{TINY}')
    with pytest.warns(UserWarning, match="registers no op: it needs a REGISTER_OP"):
        load_op(tiny)


@needs_compiler
@pytest.mark.slow
def test_an_op_that_is_there_already_is_refused_and_works_on(tiny):
    shutil.copy(ZERO_OUT, tiny)
    own = tiny.with_name("own.cc")
    own.write_text(
        '#include "tensorflow/core/framework/op.h"\n'
        "#define MINE(name) REGISTER_OP(#name)\nMINE(MatMul);\n"
    )
    said = python(
        f"""
        ops = load_op({str(tiny)!r})
        with open({str(tiny)!r}, "a") as file:
            file.write("// changed")
        for path in ({str(tiny)!r}, {str(own)!r}):
            try:
                load_op(path)
            except RuntimeError as error:
                print(error)
        print(ops.zero_out([5.0, 6.0]).y.numpy())
        """
    )
    changed, own, value = said.splitlines()
    assert re.search("the op ZeroOut, .* restart the kernel", changed)
    assert re.search("the op MatMul, .* another name", own) and value == "[5. 0.]"


@needs_compiler
def test_a_gradient_can_be_registered_again():
    said = python(
        """
        for factor in (1.0, 3.0):
            ops = load_op("zero_out.cc")
            @ops.RegisterGradient("ZeroOut")
            def zero_out_grad(op, dy, dindices):
                return factor * dy
            with tf.GradientTape() as tape:
                x = tf.Variable([1.0, 2.0])
                y = ops.zero_out(x).y
            print(tape.gradient(y, x).numpy())
        """
    )
    assert said.splitlines() == ["[1. 1.]", "[3. 3.]"]
