"""`load_op`: compiles, remembers, and never runs old code in silence.

What loads an op runs in a process of its own, as no process can unload one.
"""

import ctypes
import os
import re
import shutil
import subprocess
import symtable
import sys
import textwrap
import types
from pathlib import Path

import nbformat
import pytest
import tensorflow as tf

import other_process
import utils
from custom_ops import cpp_build, cpp_op
from custom_ops.places import user_cache

PROJECT = Path(__file__).resolve().parents[1]
SOURCES = sorted((PROJECT / "notebooks" / "cpp").glob("**/*.cc"))

LESSONS = sorted(
    path
    for number in ("07", "08", "12")
    for path in (PROJECT / "notebooks").glob(f"{number}_*.ipynb")
)

needs_compiler = pytest.mark.skipif(
    cpp_op._compiler()[0] is None,
    reason="no C++ compiler: the C++ lessons and load_op cannot run",
)

# A whole library that TensorFlow can load, without its slow headers.
TINY = 'extern "C" int answer() { return 42; }\n'


def python(code, **environ):
    """What code prints after `from custom_ops.places import user_cache
    from utils import load_op, tf`."""
    start = "from utils import load_op, tf\n"
    return other_process.run(start + textwrap.dedent(code), **environ).strip()


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A small source, and an empty cache for this process and its children."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "tiny.cc"
    path.write_text(TINY)
    return path


@pytest.fixture
def unasked(monkeypatch):
    """Take the ops from the text, as to ask a library for them takes a second."""
    for module in (cpp_build, cpp_op):
        monkeypatch.setattr(module, "ops_of", lambda path, library, ops: ops)


def libraries(tmp_path):
    """What is in the cache, temporary folders too."""
    return sorted((tmp_path / "cache" / "tensorflow-load-op").rglob("*"))


# --------------------------------------------------------------- the cache


@needs_compiler
def test_second_call_does_not_compile(tiny, tmp_path, monkeypatch, unasked):
    utils.load_op(tiny)
    [library] = libraries(tmp_path)
    before = library.stat().st_mtime_ns
    # This compiler says its version as the real one does, and cannot compile.
    fake = tmp_path / "bin" / cpp_op._compiler()[0][0]
    fake.parent.mkdir()
    real = shutil.which(fake.name)
    fake.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && exec {real} --version\n'
        "echo 'error: compiled again' >&2; exit 1\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    utils.load_op(tiny)
    assert libraries(tmp_path) == [library]
    assert library.stat().st_mtime_ns == before
    tiny.write_text(TINY + "// changed\n")
    with pytest.raises(ValueError, match="compiled again") as caught:
        utils.load_op(tiny)
    assert "more)" not in str(caught.value)


@needs_compiler
def test_a_changed_source_or_header_is_compiled_anew(tiny, tmp_path, unasked):
    tiny.write_text('#include "tiny.h"\n' + TINY)
    for header in ("// first\n", "// second\n"):
        tiny.with_name("tiny.h").write_text(header)
        utils.load_op(tiny)
    assert len(libraries(tmp_path)) == 2
    tiny.write_text(TINY)
    utils.load_op(tiny)
    assert len(libraries(tmp_path)) == 3


@needs_compiler
def test_flags_and_compiler_are_part_of_the_name(tiny, tmp_path, monkeypatch, unasked):
    utils.load_op(tiny)
    monkeypatch.setenv("CXX", f"{shutil.which('c++')} -DCHANGED")
    utils.load_op(tiny)
    assert len(libraries(tmp_path)) == 2


@needs_compiler
def test_two_processes_at_once(tiny, tmp_path):
    other = other_process.OtherProcess(
        f"""
        import utils
        connection.send("ready")
        connection.recv()
        utils.load_op({str(tiny)!r})
        """
    )
    assert other.hear() == "ready"
    other.say("go")
    utils.load_op(tiny)
    other.printed()
    assert [path.suffix for path in libraries(tmp_path)] == [".so"]


@needs_compiler
def test_interrupted_build_leaves_nothing(tiny, tmp_path, monkeypatch, unasked):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        utils.load_op(tiny)
    assert libraries(tmp_path) == []
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    utils.load_op(tiny)
    assert len(libraries(tmp_path)) == 1


@needs_compiler
def test_cache_that_cannot_be_written(tiny, tmp_path, monkeypatch):
    tmp_path.joinpath("file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(OSError, match="cannot write to its cache.*XDG_CACHE_HOME"):
        utils.load_op(tiny)


@pytest.mark.slow
@needs_compiler
def test_a_change_of_any_file_that_is_included_is_seen(
    tiny, tmp_path, monkeypatch, unasked
):
    """Whatever it is called and wherever it lies."""
    source = tmp_path / "a" / "src dir" / "tiny.cc"
    source.parent.mkdir(parents=True)
    lines = [
        '#include "v.hpp"',
        '#include "plain"',
        '#include "sub/v.inc"',
        '#include "../v.h"',
        f'#include "{tmp_path / "absolute $x#.h"}"',
        "#define NAMED <found.h>",
        "#include NAMED",
        '#include "link.h"',
    ]
    source.write_text("\n".join([*lines, TINY]))
    files = [source.parent / name for name in ("v.hpp", "plain", "sub/v.inc", "../v.h")]
    files += [tmp_path / "absolute $x#.h", tmp_path / "include" / "found.h"]
    files += [tmp_path / "target", tmp_path / "forced.h"]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text("// first\n")
    (source.parent / "link.h").symlink_to(files[-2])
    options = f"-I{tmp_path / 'include'} -include {files[-1]}"
    monkeypatch.setenv("CXX", f"{cpp_op._compiler()[0][0]} {options}")
    utils.load_op(source)
    for number, file in enumerate(files):
        before = file.stat()
        file.write_text("// other\n")  # as long, and as old
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        utils.load_op(source)
        assert len(libraries(tmp_path)) == number + 2, file
    for file in files:
        file.write_text("// first\n")
    utils.load_op(source)  # all as it was
    assert len(libraries(tmp_path)) == len(files) + 1


@needs_compiler
def test_a_change_of_what_the_command_itself_reads_is_seen(
    tiny, tmp_path, monkeypatch, unasked
):
    """Options in a file, the script that CXX names, and what an asm statement reads."""
    real = cpp_op._compiler()[0][0]
    files = {
        "options": "-DV=1 @more",  # from the folder of the source
        "more": "-DW=1",
        "wrap": f'#!/bin/sh\nexec {real} -DX=1 "$@"\n',
        "value.bin": "1",
        "other value.bin": "1",
        "value.s": ".byte 1",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "wrap").chmod(0o755)
    tiny.write_text(
        """
        #define NAME "other value.bin"
        asm(".globl value\\nvalue: .incbin \\"value.bin\\"\\n"
            ".incbin \\"" NAME "\\"\\n" R"(.include "value.s")");
        extern "C" const char value[];
        extern "C" int answer() { return V + W + X + value[0] + value[1] + value[2]; }
        """
    )
    monkeypatch.setenv("CXX", f"{tmp_path / 'wrap'} @options")
    utils.load_op(tiny)
    seen = set(libraries(tmp_path))
    for name, text in files.items():
        before = (tmp_path / name).stat()
        (tmp_path / name).write_text(text.replace("1", "2"))
        os.utime(tmp_path / name, ns=(before.st_atime_ns, before.st_mtime_ns))
        for _ in range(2):
            utils.load_op(tiny)
        assert len(set(libraries(tmp_path)) - seen) == 1, name
        seen = set(libraries(tmp_path))
    [newest] = sorted(seen, key=lambda path: path.stat().st_mtime_ns)[-1:]
    assert ctypes.CDLL(str(newest)).answer() == 2 + 2 + 2 + 50 + 50 + 2


@needs_compiler
def test_a_header_that_appears_earlier_is_seen(tiny, tmp_path, monkeypatch, unasked):
    tiny.write_text(
        '#include "sub/v.h"\n#if __has_include("extra/w.h")\nint w;\n#endif\n' + TINY
    )
    later = tmp_path / "later"
    places = [later, tmp_path / "earlier", tmp_path]  # the last: beside the source
    monkeypatch.setenv("CXX", f"{cpp_op._compiler()[0][0]} -I{places[1]} -I{places[0]}")
    for number, place in enumerate(places):
        (place / "sub").mkdir(parents=True)
        (place / "sub" / "v.h").write_text(f"// {number}\n")
        utils.load_op(tiny)
        assert len(libraries(tmp_path)) == number + 1
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra" / "w.h").write_text("")
    utils.load_op(tiny)
    assert len(libraries(tmp_path)) == 4
    (tmp_path / "sub" / "v.h").unlink()
    (tmp_path / "extra" / "w.h").unlink()
    utils.load_op(tiny)
    assert len(libraries(tmp_path)) == 4


@needs_compiler
def test_a_change_while_it_compiles_is_not_kept_as_the_old(
    tiny, tmp_path, monkeypatch, unasked
):
    header = tiny.with_name("v.h")
    header.write_text("#define V 1\n")
    tiny.write_text('#include "v.h"\nextern "C" int answer() { return V; }\n')
    slow = tmp_path / "slow"
    slow.write_text(
        f'#!/bin/sh\n[ -e {tmp_path}/done ] || case "$*" in *--version|*-E*) ;; *)'
        f" touch {tmp_path}/done; echo '#define V 2' > {header} ;; esac\n"
        f'exec {cpp_op._compiler()[0][0]} "$@"\n'
    )
    slow.chmod(0o755)
    monkeypatch.setenv("CXX", str(slow))
    utils.load_op(tiny)
    [library] = libraries(tmp_path)
    assert ctypes.CDLL(str(library)).answer() == 2
    header.write_text("#define V 1\n")
    utils.load_op(tiny)
    [other] = set(libraries(tmp_path)) - {library}
    assert ctypes.CDLL(str(other)).answer() == 1


@needs_compiler
def test_a_damaged_library_is_built_anew_and_never_loaded(
    tiny, tmp_path, monkeypatch, unasked
):
    utils.load_op(tiny)
    [library] = libraries(tmp_path)
    whole = library.read_bytes()
    loaded = []
    monkeypatch.setattr(
        tf, "load_op_library", lambda name: loaded.append(Path(name).read_bytes())
        or types.ModuleType("ops"),
    )  # fmt: skip
    flipped = whole[:3000] + bytes([whole[3000] ^ 1]) + whole[3001:]
    for damaged in (b"", whole[:3000], flipped):
        library.unlink()
        library.write_bytes(damaged)
        utils.load_op(tiny)
        assert loaded.pop() == whole and libraries(tmp_path) == [library]


@needs_compiler
def test_a_damaged_note_is_written_anew(tiny, tmp_path, unasked):
    utils.load_op(tiny)
    [note] = (tmp_path / "cache" / "tensorflow-load-op-notes").iterdir()
    whole = note.read_bytes()
    for damaged in (b"", whole[:50], b"[]", b'{"key": 1}', b"\xff"):
        note.write_bytes(damaged)
        utils.load_op(tiny)
        assert note.read_bytes() == whole and len(libraries(tmp_path)) == 1


@needs_compiler
def test_a_library_that_lost_its_note_is_asked_for_its_ops(
    tiny, tmp_path, monkeypatch, unasked
):
    utils.load_op(tiny)
    [note] = (tmp_path / "cache" / "tensorflow-load-op-notes").iterdir()
    note.unlink()
    asked, module = [], types.ModuleType("ops")
    monkeypatch.setattr(tf, "load_op_library", lambda name: module)
    monkeypatch.setattr(
        cpp_op, "ops_of", lambda *given: asked.append(given) or ["ItsOp"]
    )
    for _ in range(2):  # the second time, the note knows
        monkeypatch.setattr(cpp_op, "_loaded", {})
        utils.load_op(tiny)
        assert len(asked) == 1 and "ItsOp" in note.read_text()


@needs_compiler
def test_a_cache_that_can_only_be_read(tiny, tmp_path, monkeypatch, unasked):
    """What another user has built there is used."""
    utils.load_op(tiny)
    notes = tmp_path / "cache" / "tensorflow-load-op-notes"
    shutil.rmtree(notes)
    notes.write_text("a file: not even root can write into it as a folder")
    before = libraries(tmp_path)
    monkeypatch.setattr(cpp_op, "build", None)
    utils.load_op(tiny)
    assert libraries(tmp_path) == before


@needs_compiler
def test_nowhere_to_keep_a_cache(monkeypatch):
    def homeless(path):
        raise RuntimeError("no home directory")

    monkeypatch.setattr(Path, "expanduser", homeless)
    with pytest.raises(OSError, match="no home directory.*set XDG_CACHE_HOME"):
        user_cache("anything")


@pytest.mark.parametrize("cache", ["relative", "~/cache", ""])
def test_relative_places(tiny, tmp_path, monkeypatch, unasked, cache):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    monkeypatch.chdir(tmp_path)
    shutil.copy(tiny, home)
    for source in ("tiny.cc", Path("tiny.cc"), "~/tiny.cc"):
        utils.load_op(source)
    folder = {"relative": tmp_path / cache, "": home / ".cache"}
    folder = folder.get(cache, home / "cache")
    assert len(list(folder.rglob("*.so"))) == len(list(tmp_path.rglob("*.so"))) == 1


@needs_compiler
@pytest.mark.parametrize(
    "name, start",
    [
        ("latin-1.cc", "// caf\xe9, °C\n".encode("latin-1")),
        ("mark.cc", b"\xef\xbb\xbf"),
        ("-o odd ü$#.cc", b""),
        ("dos.cc", b"// a\r\n"),
    ],
)
def test_odd_encodings_and_names(tiny, tmp_path, unasked, name, start):
    tiny.with_name(".#tiny.h").symlink_to("user@host.1234:1")  # as editors lock a file
    path = tmp_path / name
    path.write_bytes(start + TINY.encode())
    for _ in range(2):
        utils.load_op(path)
    assert len(libraries(tmp_path)) == 1


@needs_compiler
def test_compile_command_is_what_load_op_runs(tiny, tmp_path, monkeypatch, unasked):
    ran = []
    monkeypatch.setattr(
        cpp_build.Recipe, "run", lambda self, words, run=cpp_build.Recipe.run: (
            ran.append(words) or run(self, words))
    )  # fmt: skip
    utils.load_op(tiny)
    command = utils.compile_command(tiny)
    assert ran[-1][:-1] == command[:-1] and command[-2:] == ["-o", "tiny.so"]
    assert "tiny.cc" in command and "-O3" in command
    subprocess.run(command, cwd=tmp_path, check=True)
    assert ctypes.CDLL(str(tmp_path / "tiny.so")).answer() == 42


# ------------------------------------------------------------- what is wrong


def test_no_such_file():
    with pytest.raises(FileNotFoundError, match="there is no file nothing.cc, nor"):
        utils.load_op("nothing.cc")


@pytest.mark.parametrize("environ", [{"PATH": "/nonexistent"}, {"CXX": "no-such-g++"}])
def test_no_compiler(tiny, tmp_path, monkeypatch, environ):
    monkeypatch.delenv("CXX", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(FileNotFoundError) as caught:
        utils.load_op(tiny)
    text = str(caught.value)
    assert text.startswith("load_op found no C++ compiler: install one")
    assert "\n" not in text and not (tmp_path / "cache").exists()


def test_no_compiler_in_a_notebook(tiny):
    """Cells marked as C++ are skipped, all others run, and nothing fails."""
    answer = python(
        f"""
        from IPython.core.interactiveshell import InteractiveShell
        import IPython
        shell = InteractiveShell.instance()
        shell.user_ns["load_op"] = load_op
        for cell in (f"ops = load_op({str(tiny)!r})",
                     f"# C++\\nops = load_op({str(tiny)!r})",
                     "# C++\\nprint(ops.missing())",
                     "print('goes on', ops)\\n# C++"):
            shell.run_cell(cell).raise_error()
        """,
        PATH="/nonexistent",
    )
    first, *rest = answer.splitlines()
    assert first.startswith("load_op found no C++ compiler: install one")
    assert first.endswith("until then the cells that need it are skipped.")
    skipped = "Skipped: this cell needs a C++ compiler."
    assert rest == [skipped, skipped, "goes on None"]


@needs_compiler
def test_source_that_does_not_compile(tiny, tmp_path):
    tiny.write_text("int good;\nint f() { return wrong1; }\nint g() { return wrong2; }")
    with pytest.raises(ValueError) as caught:
        utils.load_op(tiny)
    text = str(caught.value)
    assert text.startswith("tiny.cc does not compile, first error:\ntiny.cc:2:18: e")
    assert "wrong1" in text and "wrong2" not in text and "(and 1 more)" in text
    assert len(text.splitlines()) <= 5
    assert libraries(tmp_path) == []


@needs_compiler
def test_name_of_an_op_of_tensorflow(tiny, tmp_path):
    tiny.write_text('// REGISTER_OP("InAComment")\nREGISTER_OP("MatMul");')
    with pytest.raises(RuntimeError, match="has an op MatMul of its own.*another name"):
        utils.load_op(tiny)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    "named", ["gxx-13", 'g++ "', "/", "./here", "false", "/no such/g++"]
)
def test_a_compiler_that_is_not_there_is_named(tiny, monkeypatch, named):
    monkeypatch.setenv("CXX", named)
    for call in (utils.load_op, utils.compile_command):
        with pytest.raises(FileNotFoundError, match="unset .* CXX: it is") as caught:
            call(tiny)
        assert named in str(caught.value)


@needs_compiler
def test_a_compiler_by_its_path(tiny, tmp_path, monkeypatch, unasked):
    real = shutil.which(cpp_op._compiler()[0][0])
    mine = tmp_path / "my tools" / "my g++"
    mine.parent.mkdir()
    mine.symlink_to(real)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for named in (str(mine), "'../my tools/my g++' -O1", " "):
        monkeypatch.setenv("CXX", named)
        utils.load_op(tiny)


@needs_compiler
def test_a_symbol_that_is_defined_nowhere(tiny, tmp_path):
    """It is named as the source names it; what Python has loaded is no such symbol."""
    tiny.write_text(
        "namespace mine { double helper(int); }\n"
        'extern "C" double answer() { return mine::helper(1); }\n'
    )
    with pytest.raises(ValueError) as caught:
        utils.load_op(tiny)
    text = str(caught.value)
    assert text.startswith("tiny.cc compiles, but cannot be loaded: ")
    assert "mine::helper(int)" in text and "_ZN" not in text
    assert libraries(tmp_path) == []
    tiny.write_text(
        'extern "C" void* TF_LoadLibrary(const char*, void*);\n'
        'extern "C" void* answer() { return TF_LoadLibrary("", nullptr); }\n'
    )
    if hasattr(ctypes.CDLL(None), "TF_LoadLibrary"):
        utils.load_op(tiny)
    else:  # an older TensorFlow keeps it to itself
        with pytest.raises(ValueError, match="loaded: undefined symbol: TF_LoadLib"):
            utils.load_op(tiny)
        assert libraries(tmp_path) == []


@needs_compiler
def test_what_tensorflow_itself_cannot_load_is_told(
    tiny, tmp_path, monkeypatch, unasked
):
    def refuse(name):
        raise tf.errors.NotFoundError(None, None, f"{name}: undefined symbol: f")

    monkeypatch.setattr(tf, "load_op_library", refuse)
    with pytest.raises(ValueError, match=r"^tiny\.cc compiles, but cannot be loaded: "):
        utils.load_op(tiny)
    assert libraries(tmp_path) == []


@needs_compiler
def test_a_library_that_ends_the_process_is_not_loaded(tiny, tmp_path):
    """The last lines of what it said are told."""
    tiny.write_text(
        "#include <cstdio>\n"
        'static int once = [] { std::fputs("1\\n2\\n3\\n4\\n5\\n", stderr);\n'
        "                        __builtin_trap(); return 0; }();\n"
    )
    match = r"tiny.cc compiles, but .* ends the process \(.*\)\n3\n4\n5$"
    with pytest.raises(ValueError, match=match):
        utils.load_op(tiny)
    assert libraries(tmp_path) == []


@needs_compiler
def test_what_only_looks_like_an_op_does_no_harm(tiny, unasked):
    tiny.write_text(
        """
        #define REGISTER_OP_NO_GRADIENT(name)
        REGISTER_OP_NO_GRADIENT("MatMul")
        // REGISTER_OP("MatMul");
        /* " */ const char* a = "REGISTER_OP(\\"MatMul\\")";  /* " */
        const char* b = R"x(")" REGISTER_OP("MatMul"); )x";
        const int c = 1'000'000, d = '"';
        const char* e = "// \\\\";
        #if 0
        REGISTER_OP("MatMul");
        #endif
        """
    )
    utils.load_op(tiny)


@pytest.mark.parametrize(
    "code",
    [
        'REGISTER_OP("MatMul");',
        'REGISTER_OP(\n    "Mat"\n    "Mul")\n    .Input("x: float");',
        "#define MY_OP(name) REGISTER_OP(#name)\nMY_OP(MatMul);",
        'const char* a = "/*"; REGISTER_OP("MatMul");',
        "#define NAME \"MatMul\"\nint d = 1'000; REGISTER_OP(NAME); // it's",
    ],
)
@needs_compiler
def test_an_op_is_found_behind_macros_and_strings(tiny, tmp_path, code):
    tiny.write_text(code)
    with pytest.raises(RuntimeError, match="has an op MatMul of its own"):
        utils.load_op(tiny)
    assert not (tmp_path / "cache").exists()


# An op without TensorFlow's slow headers; its name is in no REGISTER_OP.
C_OP = """
    extern "C" {
    void* TF_NewStatus();
    void* TF_NewOpDefinitionBuilder(const char* name);
    void TF_RegisterOpDefinition(void* builder, void* status);
    }
    static int once = [] {
      TF_RegisterOpDefinition(TF_NewOpDefinitionBuilder("TinyOp"), TF_NewStatus());
      return 0;
    }();
"""


@pytest.mark.slow
@needs_compiler
def test_the_library_itself_is_asked_for_its_ops(tiny):
    tiny.write_text(C_OP)
    answer = python(
        f"""
        import pathlib, shutil
        tiny = pathlib.Path({str(tiny)!r})
        first = load_op(tiny)
        assert first.tiny_op and load_op(tiny) is first
        copy = tiny.parent / "copy" / tiny.name
        copy.parent.mkdir()
        shutil.copy(tiny, copy)
        assert load_op(copy) is first
        tiny.write_text(tiny.read_text() + "// changed")
        for _ in range(2):
            try:
                load_op(tiny)
            except RuntimeError as error:
                print(error)
        """
    )
    first, again = answer.splitlines()
    assert first == again
    assert "TinyOp is already loaded (it was compiled before a change)" in first


@needs_compiler
@pytest.mark.slow
def test_changed_source_and_same_op_from_elsewhere(tmp_path):
    """Refused in words before anything happens, and the loaded op works on."""
    source = tmp_path / "zero_out.cc"
    shutil.copy(PROJECT / "notebooks" / "cpp" / "zero_out.cc", source)
    elsewhere = tmp_path / "elsewhere" / "zero_out.cc"
    elsewhere.parent.mkdir()
    elsewhere.write_text(source.read_text() + "// another\n")
    answer = python(
        f"""
        import importlib, pathlib
        from custom_ops import cpp_build, cpp_op
        first = load_op({str(source)!r})
        assert load_op("zero_out.cc") is first  # the same text
        assert importlib.reload(cpp_op).load_op("zero_out.cc") is first
        source, elsewhere = map(pathlib.Path, {[str(source), str(elsewhere)]!r})
        source.write_text(source.read_text() + "// changed")
        for path in source, elsewhere:
            for _ in range(2):
                try:
                    load_op(path)
                except RuntimeError as error:
                    print(error)
        print(first.zero_out(tf.constant([5.0, 6.0], tf.float64)).y.numpy().tolist())
        """
    )
    changed, again, other, other_again, value = answer.splitlines()
    assert changed == again and other == other_again
    assert "ZeroOut is already loaded (it was compiled before a change)" in changed
    assert f"ZeroOut is already loaded (from {source})" in other
    assert "restart the kernel" in changed and "restart the kernel" in other
    assert value == "[5.0, 0.0]"


# --------------------------------------------------------------- gradients


@needs_compiler
def test_gradient_can_be_registered_again():
    answer = python(
        """
        ops = load_op("zero_out.cc")
        x = tf.constant([1.0, 2.0])
        for factor in (1.0, 3.0):
            @load_op("zero_out.cc").RegisterGradient("ZeroOut")
            def zero_out_grad(op, dy, dindices):
                return factor * dy
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = ops.zero_out(x).y
            print(tape.gradient(y, x).numpy().tolist())
        try:
            ops.RegisterGradient("ZeroOat")
        except ValueError as error:
            print(error)
        """
    )
    assert answer.splitlines() == [
        "[1.0, 1.0]",
        "[3.0, 3.0]",
        "RegisterGradient: no op of the name ZeroOat is loaded",
    ]


# -------------------------------------------------------------- the sources


@needs_compiler
@pytest.mark.slow
def test_sources_have_no_warnings(tmp_path):
    """All in one go, as TensorFlow's headers take ten seconds each time.

    Only what our files say counts: the headers are included with -isystem. That the
    last fields of a FunctionDefHelper::Node are left out, and so empty, is the form
    in which TensorFlow's own gradients are written.
    """
    everything = tmp_path / "everything.cc"
    everything.write_text(
        "".join(
            f'#include "{path}"\n'
            + "".join(
                f"#undef {name}\n"
                for name in re.findall(r"#define (\w+)", path.read_text())
            )
            for path in SOURCES
        )
    )
    flags = [re.sub("^-I", "-isystem", f) for f in tf.sysconfig.get_compile_flags()]
    run = subprocess.run(
        [
            *cpp_op._compiler()[0],
            *flags,
            "-fsyntax-only",
            "-Wall",
            "-Wextra",
            "-Wno-missing-field-initializers",
            "-Werror",
            everything,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_source_prints_nothing(source):
    assert not re.search(r"\b(printf|cout|cerr|clog|puts|LOG)\b", source.read_text())


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_source_has_googles_format(source):
    pytest.importorskip("clang_format", reason="pip install clang-format")
    command = [sys.executable, "-c", "import clang_format as c; c.clang_format()"]
    run = subprocess.run(
        [*command, "--style=Google", "--dry-run", "-Werror", source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_sources_are_there():
    names = sorted(source.stem for source in SOURCES)
    assert names == ["lambert_w", "powers", "relu", "roi_pool", "sin_cos", "zero_out"]


# -------------------------------------------------------------- the lessons


def defined(source):
    table = symtable.symtable(source, "cell", "exec")
    return {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_assigned() or symbol.is_imported()
    }


def needed(source):
    """The names of other cells that a cell, or a function in it, refers to."""

    def referred(table):
        for symbol in table.get_symbols():
            if symbol.is_referenced() and symbol.is_global():
                yield symbol.get_name()
        for child in table.get_children():
            yield from referred(child)

    table = symtable.symtable(source, "cell", "exec")
    top = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    return (top | set(referred(table))) - defined(source)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lesson_without_a_compiler_needs_nothing_from_skipped_cells(path):
    cells = [c.source for c in nbformat.read(path, 4).cells if c.cell_type == "code"]
    skipped = [source for source in cells if source.startswith("# C++\n")]
    others = [source for source in cells if not source.startswith("# C++\n")]
    lost = set().union(*map(defined, skipped)) - set().union(*map(defined, others))
    assert skipped and not lost & set().union(*map(needed, others))
    for source in others:  # what load_op returns is None then
        assert not re.search(r"^\S.*\bops\.", source, re.MULTILINE)
