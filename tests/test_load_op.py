"""`load_op`: compiles, remembers, and never runs old code in silence.

What loads an op runs in a process of its own, as no process can unload one.
"""

import os
import re
import shutil
import subprocess
import symtable
import sys
import textwrap
from pathlib import Path

import nbformat
import pytest
import tensorflow as tf

import other_process
import utils
from custom_ops import cpp_op

PROJECT = Path(__file__).resolve().parents[1]
SOURCES = sorted((PROJECT / "notebooks" / "cpp").glob("*.cc"))

LESSONS = sorted((PROJECT / "notebooks").glob("0[78]_*.ipynb"))

needs_compiler = pytest.mark.skipif(
    cpp_op._compiler()[0] is None,
    reason="no C++ compiler: the C++ lessons and load_op cannot run",
)

# A whole library that TensorFlow can load, without its slow headers.
TINY = 'extern "C" int answer() { return 42; }\n'


def python(code, **environ):
    """What code prints after `from utils import load_op, tf`."""
    start = "from utils import load_op, tf\n"
    return other_process.run(start + textwrap.dedent(code), **environ).strip()


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A small source, and an empty cache for this process and its children."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "tiny.cc"
    path.write_text(TINY)
    return path


def libraries(tmp_path):
    """What is in the cache, temporary folders too."""
    return sorted((tmp_path / "cache" / "tensorflow-load-op").rglob("*"))


# --------------------------------------------------------------- the cache


@needs_compiler
def test_second_call_does_not_compile(tiny, tmp_path, monkeypatch):
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
    with pytest.raises(ValueError, match="compiled again"):
        utils.load_op(tiny)


@needs_compiler
def test_a_changed_source_or_header_is_compiled_anew(tiny, tmp_path):
    tiny.write_text('#include "tiny.h"\n' + TINY)
    for header in ("// first\n", "// second\n"):
        tiny.with_name("tiny.h").write_text(header)
        utils.load_op(tiny)
    assert len(libraries(tmp_path)) == 2
    tiny.write_text(TINY)
    utils.load_op(tiny)
    assert len(libraries(tmp_path)) == 3


@needs_compiler
def test_flags_and_compiler_are_part_of_the_name(tiny, tmp_path, monkeypatch):
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
def test_interrupted_build_leaves_nothing(tiny, tmp_path, monkeypatch):
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


@needs_compiler
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
        from custom_ops import cpp_op
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
    names = [source.name for source in SOURCES]
    assert names == ["powers.cc", "relu.cc", "roi_pool.cc", "zero_out.cc"]


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
