"""`load_op`: compile an op that is written in C++, and load it."""

import contextlib
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from .tensorflow_start import tf

_SOURCES = Path(__file__).parents[1] / "notebooks/cpp", Path(__file__).parent / "data"
_loaded = {}  # library -> module, as a process cannot unload one
_newest = {}  # op -> the gradient that was registered last


def load_op(source):
    """Compile a C++ file against the installed TensorFlow and load its ops.

    The first call takes some ten seconds. Later ones take milliseconds: the library is
    kept in `tensorflow-load-op` in `$XDG_CACHE_HOME` (else `~/.cache`), until a file
    that the compiler reads, its command or a version changes. Not seen: a new header
    that hides another, and what a script in CXX, an @file or `.incbin` reads.

    Args:
        source: path of the file, or the name of one in `notebooks/cpp/` (installed:
            `zero_out.cc`). The environment variable CXX names another compiler than
            g++, clang++ or c++, and its options.

    Returns:
        The module of `tf.load_op_library`: for an op ZeroOut it has `zero_out`. Its
        `RegisterGradient` is TensorFlow's, but may run again: the newest one counts.
        In a notebook without a compiler: None; cells with `# C++` on top are skipped.

    Raises:
        FileNotFoundError: no such file or, outside a notebook, no compiler.
        ValueError: the source does not compile, or needs what is defined nowhere.
        RuntimeError: an op of this name is there, as after a change of the source.

    Example:
        >>> load_op("zero_out.cc").zero_out([5.0, 6.0, 7.0]).y.numpy().tolist()
        [5.0, 0.0, 0.0]
    """
    path = _find(source)
    try:
        command = compile_command(path)[:-2]
    except FileNotFoundError as error:
        return _go_on_without_compiler(error)
    version = _run([*command[:command.index("-shared")], "--version"], path)
    made_by = command, version, tf.__version__
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cache = cache.absolute() / "tensorflow-load-op"
    name = cache / re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    note = Path(f"{name}-{_hash((made_by, path))}.json")
    library, whole, files, ops = "", "", [], []
    with contextlib.suppress(OSError, ValueError):  # no note yet, or a damaged one
        library, whole, files, ops = json.loads(note.read_text())
    while (library != f"{name}-{_hash(made_by, *files)}.so"
           or whole != _hash(made_by, library)):  # also if changed while it compiled
        files, ops = _files_and_ops(command, path)
        library = f"{name}-{_hash(made_by, *files)}.so"
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as own:  # two may build at once
            _run([*command, "-o", f"{own}/op.so"], path)
            os.replace(f"{own}/op.so", library)
        whole = _hash(made_by, library)
        note.write_text(json.dumps([library, whole, files, ops]))
    if library not in _loaded:
        if not ops:
            warnings.warn(f"{path.name} registers no op: it needs a REGISTER_OP and a "
                          "kernel, as in notebooks/cpp/zero_out.cc", stacklevel=2)
        _loaded[library] = _load(library, ops, path)
    return _loaded[library]


def compile_command(source):
    """The words of the command with which `load_op` compiles a C++ file.

    It runs in the folder of the file; `load_op` writes to its cache instead.

    Example:
        >>> words = compile_command("zero_out.cc")
        >>> "-shared" in words, words[-2:]
        (True, ['-o', 'zero_out.so'])
    """
    path = _find(source)
    # -isystem: with -I, g++ warns about TensorFlow's headers. -O3: with -O2, g++ 12
    # does not use vector instructions. C++17 is among TensorFlow's own flags.
    flags = tf.sysconfig.get_compile_flags() + tf.sysconfig.get_link_flags()
    flags = [re.sub("^-I", "-isystem", flag) for flag in flags]
    if sys.platform == "darwin":
        flags += ["-undefined", "dynamic_lookup"]
    return [*_compiler(), "-shared", "-fPIC", "-O3", path.name, *flags,
            "-o", f"{path.stem}.so"]


def _find(source):
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"load_op takes the path of one C++ file, got {source!r}: call "
                        "it once for each file")
    path = Path(source).expanduser()
    for place in (path, *(folder / path for folder in _SOURCES)):
        if place.is_file():
            return place.absolute()
    raise FileNotFoundError(f"load_op: there is no file {source}")


def _compiler():
    named = os.environ.get("CXX", "").strip()
    for name in [named] if named else ["g++", "clang++", "c++"]:
        with contextlib.suppress(OSError, ValueError):  # macOS' g++ may ask for tools
            run = subprocess.run([*shlex.split(name), "--version"], capture_output=True)
            if run.returncode == 0:
                return run.args[:-1]
    what = f"cannot run CXX={named!r}: unset it, or" if named else "found no compiler:"
    raise FileNotFoundError(
        f"load_op {what} install a C++ compiler (Debian, Ubuntu: apt install g++; "
        "macOS: xcode-select --install; Windows: work in WSL) and start again")


def _run(words, path):
    run = subprocess.run(words, cwd=path.parent, capture_output=True,
                         env={**os.environ, "LC_ALL": "C"})
    if run.returncode:
        said = run.stderr.decode("utf-8", "replace")
        first = re.search(r"^.*error: (.*\n?){,5}", said, re.MULTILINE)
        shown = first[0] if first else said
        raise ValueError(f"{path.name} does not compile:\n{shown}")
    return run.stdout


def _files_and_ops(command, path):
    """The files that the compiler reads, and the ops that they register."""
    code = _run([*command, "-E"], path)  # with a line `# 1 "a.h"` where a.h begins
    names = dict.fromkeys(re.findall(rb'^# \d+ "(.+)"', code, re.MULTILINE))
    ops = re.findall(rb'OpDefBuilderWrapper\((?:\s*#.*\n)*\s*"(\w+)"', code)
    names = [name.decode("unicode_escape").encode("latin-1") for name in names]
    files = [os.path.join(path.parent, os.fsdecode(name)) for name in names]
    return files, [op.decode() for op in ops]


def _hash(made_by, *files):
    sums = [os.path.isfile(file) and hashlib.sha256(Path(file).read_bytes()).digest()
            for file in files]
    return hashlib.sha256(repr((made_by, sums)).encode()).hexdigest()[:20]


def _load(library, ops, path):
    for op in ops:
        try:
            tf.Graph().op_def_for_type(op)
        except RuntimeError:  # there is none yet
            continue
        raise RuntimeError(
            f"{path} registers the op {op}, and there is one already: if it is yours, "
            "from before a change, restart the kernel; else give yours another name")
    try:
        module = tf.load_op_library(library)
    except tf.errors.NotFoundError as error:
        reason = error.message.replace(f"{library}: ", "")
        with contextlib.suppress(OSError):  # c++filt makes helper(int) of _Z6helperi
            reason = subprocess.run(["c++filt"], input=reason, text=True,
                                    capture_output=True).stdout.strip()
        raise ValueError(f"{path.name} cannot be loaded: {reason}") from error
    module.RegisterGradient = _register_gradient
    return module


def _register_gradient(op_type):
    def decorator(grad):
        if op_type not in _newest:
            tf.RegisterGradient(op_type)(lambda op, *dys: _newest[op_type](op, *dys))
        _newest[op_type] = grad
        return grad
    return decorator


def _go_on_without_compiler(error):
    shell = "IPython" in sys.modules and sys.modules["IPython"].get_ipython()
    if not shell:
        raise error
    print(f"{error}; until then the cells that need it are skipped.")
    skipped = ["print('Skipped: this cell needs a C++ compiler.')\n"]
    shell.input_transformers_cleanup.append(
        lambda lines: skipped if lines[:1] == ["# C++\n"] else lines)
