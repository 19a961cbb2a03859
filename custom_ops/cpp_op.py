"""`load_op`: compile an op that is written in C++, and load it."""

import contextlib
import dataclasses
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from .cpp_build import (
    Recipe,
    build,
    cannot_be_loaded,
    keep_note,
    note_of,
    ops_of,
    preprocessed,
    whole_library,
)
from .tensorflow_start import tf

# Key of a library with ops -> (their names, source, module). A reload of this file
# must not empty it: what a process has loaded it cannot unload.
_loaded = globals().get("_loaded", {})

_PACKAGE = Path(__file__).parent
# A name that is no file is looked for in lesson 07's folder of a checkout, and among
# what an installed package brings along.
_SHIPPED = (_PACKAGE.parent / "notebooks" / "cpp", _PACKAGE / "data")

_NO_COMPILER = (
    "load_op found no C++ compiler: install one (Debian, Ubuntu: sudo apt install "
    "g++; Fedora: sudo dnf install gcc-c++; macOS: xcode-select --install; Windows: "
    "work in WSL) and start again"
)


def load_op(source):
    """Compile a C++ file against the installed TensorFlow and load its ops.

    The first call takes about ten seconds, nearly all of it for TensorFlow's
    headers. The library is kept in the folder `tensorflow-load-op` of the user's
    cache (`$XDG_CACHE_HOME`, else `~/.cache`), and every later call for the same
    source, compiler, flags and TensorFlow takes milliseconds. A change of any file
    that the source includes is seen (in files of TensorFlow and of the system: by
    their time or size), and so is one of a script or of an @file in CXX, and of a
    file that an asm statement names; a library that is damaged is built anew. What
    a script reads in turn, or CXX links besides, is not seen. That folder and
    `tensorflow-load-op-notes` beside it may be deleted at any time. Lesson 07 begins
    with it; `compile_command` shows what it runs.

    Args:
        source: path of the file, or the name of one in `notebooks/cpp/` (installed:
            `zero_out.cc`). The environment variable CXX names another compiler than
            g++, clang++ or c++, with options of its own where you like.

    Returns:
        The module of Python functions that `tf.load_op_library` makes: for an op
        ZeroOut it holds `zero_out`. It also gets a `RegisterGradient`, which does
        what `tf.RegisterGradient` does and may be run again, where TensorFlow's
        raises a KeyError; the newest gradient counts (but what a `tf.function` has
        traced stays). In a notebook without a compiler: None, after a sentence
        that says what to install; from then on cells that begin with the line
        `# C++` are skipped.

    Raises:
        FileNotFoundError: no such file or, outside a notebook, no compiler.
        ValueError: the file does not compile: shows the compiler's first error. Or it
            does and cannot be loaded: names a symbol that is defined nowhere.
        RuntimeError: an op of this name is loaded, from the source as it was
            before a change or from another file. TensorFlow would go on with the
            old code or with none. Restart the kernel.
        OSError: the cache cannot be written.

    Example:
        >>> zero_out = load_op("zero_out.cc").zero_out
        >>> zero_out([5.0, 6.0, 7.0]).y.numpy().tolist()
        [5.0, 0.0, 0.0]

    Source: https://www.tensorflow.org/guide/create_op for the command.
    """
    recipe = _recipe(source)
    if recipe is None:
        return _go_on_without_compiler()
    for _ in range(3):
        known = note_of(recipe)
        note = known or preprocessed(recipe)
        if note.key in _loaded:
            ops, _, module = _loaded[note.key]
            if not known:
                keep_note(recipe, dataclasses.replace(note, ops=ops))
            return module
        _refuse_loaded(note.ops, recipe.path)
        library, ops = whole_library(recipe, note.key), note.ops
        if library is None:
            library, ops = build(recipe, note)
        elif not known:
            ops = ops_of(recipe.path, library, note.ops)
        if library:
            if not known:
                keep_note(recipe, dataclasses.replace(note, ops=ops))
            _refuse_loaded(ops, recipe.path)
            return _load(library, recipe.path, note.key, ops)
    raise RuntimeError(f"{recipe.path} changes while it is compiled")


def _load(library, path, key, ops):
    try:
        module = tf.load_op_library(str(library))
    except tf.errors.NotFoundError as error:  # older TensorFlows lend fewer symbols
        library.unlink(missing_ok=True)
        raise cannot_be_loaded(path, error.message.replace(f"{library}: ", "")
                               ) from error
    module.RegisterGradient = _register_gradient_anew({})
    if ops:
        _loaded[key] = ops, path, module
    return module


def compile_command(source):
    """The words of the command with which `load_op` compiles a C++ file.

    To be run in the folder of the file; `load_op` writes to its cache instead of
    beside the source.

    Args:
        source: as for `load_op`.

    Returns:
        A list of words, as `subprocess.run` takes it; `shlex.join` makes one line.

    Raises:
        FileNotFoundError: no such file, or no compiler.

    Example:
        >>> words = compile_command("zero_out.cc")
        >>> "-shared" in words, words[-2:]
        (True, ['-o', 'zero_out.so'])
    """
    recipe = _recipe(source)
    if recipe is None:
        raise FileNotFoundError(_no_compiler())
    return recipe.words(recipe.path.with_suffix(".so").name)


def _recipe(source):
    """How to compile a source; None where there is no compiler."""
    path = Path(source)
    if os.fspath(source)[:1] in ("~", b"~"):
        with contextlib.suppress(RuntimeError):  # nobody of this name
            path = path if path.is_file() else path.expanduser()
    tried = [path, *(folder / path for folder in _SHIPPED)]
    found = [place for place in tried if place.is_file()]
    if not found:
        raise FileNotFoundError(f"load_op: there is no file {source}, nor {tried[1]}")
    compiler, version = _compiler()
    if compiler is None:
        return None
    # -isystem: with -I, g++ warns about TensorFlow's headers. -O3: with -O2, g++ 12
    # does not use vector instructions.
    flags = [
        flag.replace("-I", "-isystem", 1) if flag.startswith("-I") else flag
        for flag in tf.sysconfig.get_compile_flags() + tf.sysconfig.get_link_flags()
    ]
    if sys.platform == "darwin":
        flags += ["-undefined", "dynamic_lookup"]
    return Recipe(found[0].resolve(), compiler, version, flags)


def _compiler():
    """The C++ compiler's command, as a list, and its version; None where is none."""
    if sys.platform == "win32":
        return None, None
    for command in _named_compiler() or [["g++"], ["clang++"], ["c++"]]:
        # Without its developer tools, macOS has a g++ that only complains.
        with contextlib.suppress(OSError):
            if shutil.which(command[0]):
                run = subprocess.run([*command, "--version"], capture_output=True,
                                     stdin=subprocess.DEVNULL, check=False)
                if run.returncode == 0:
                    return command, run.stdout
    return None, None


def _named_compiler():
    """What CXX says, as a list of one command; empty where it says nothing."""
    named = os.environ.get("CXX", "").strip()
    try:
        # A path with spaces is one word. (A blank CXX has none.)
        words = [named] if shutil.which(named) else shlex.split(named)
    except ValueError:  # a quotation mark without its other
        words = [named]
    if words and os.sep in words[0]:  # as the compiler runs in the source's folder
        words[0] = os.path.abspath(os.path.expanduser(words[0]))
    return [words] if words else []


def _no_compiler():
    named = os.environ.get("CXX", "").strip()
    if not named:
        return _NO_COMPILER
    return (f"{_NO_COMPILER}, or unset the environment variable CXX: it is {named!r}, "
            "which cannot be run")


def _go_on_without_compiler():
    shell = "IPython" in sys.modules and sys.modules["IPython"].get_ipython()
    if not shell:
        raise FileNotFoundError(_no_compiler())
    print(f"{_no_compiler()}; until then the cells that need it are skipped.")
    shell.input_transformers_cleanup.append(_skip_cpp_cell)


def _skip_cpp_cell(lines):
    if lines and lines[0].rstrip() == "# C++":
        return ["print('Skipped: this cell needs a C++ compiler.')\n"]
    return lines


def _is_op(name):
    try:
        return bool(tf.Graph().op_def_for_type(name))
    except RuntimeError:
        return False


def _refuse_loaded(ops, path):
    """Raise in words before TensorFlow loads an op twice, which breaks both."""
    for op in filter(_is_op, ops):
        if hasattr(tf.raw_ops, op):
            raise RuntimeError(
                f"TensorFlow has an op {op} of its own: give the one in {path.name} "
                "another name"
            )
        others = [other for names, other, _ in _loaded.values() if op in names]
        where = f"from {others[0] if others else 'another library'}"
        if path in others:
            where = "it was compiled before a change"
        raise RuntimeError(
            f"cannot load {path}: the op {op} is already loaded ({where}), and no "
            "process can load an op twice; restart the kernel, then run this cell first"
        )


def _register_gradient_anew(newest):
    def register_gradient(op_type):
        if not _is_op(op_type):
            raise ValueError(f"RegisterGradient: no op of the name {op_type} is loaded")

        def decorator(grad):
            if op_type not in newest:
                tf.RegisterGradient(op_type)(
                    lambda op, *dys: newest[op_type](op, *dys))
            newest[op_type] = grad
            return grad

        return decorator

    return register_gradient
