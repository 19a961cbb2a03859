"""`load_op`: compile an op that is written in C++, and load it."""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .quiet_start import tf

# Op name -> (library, source, module). A reload of this file must not empty it:
# what a process has loaded it cannot unload.
_loaded_ops = globals().get("_loaded_ops", {})

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
    source, headers, compiler, flags and TensorFlow takes milliseconds. The folder
    may be deleted at any time. Lesson 07 begins with it.

    Args:
        source: path of the file, or the name of one in `notebooks/cpp/`. Headers
            of its own lie beside it. The environment variable CXX names another
            compiler than g++, clang++ or c++.

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
        ValueError: the file does not compile; shows the compiler's first error.
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
    path = Path(source)
    if not path.is_file():
        path = Path(__file__).parents[1] / "notebooks" / "cpp" / path
    if not path.is_file():
        raise FileNotFoundError(f"load_op: there is no file {source}, nor {path}")
    path = path.resolve()
    compiler, version = _compiler()
    if compiler is None:
        return _go_on_without_compiler()

    # -isystem: with -I, g++ warns about TensorFlow's headers. -O3: with -O2, g++ 12
    # does not use vector instructions.
    command = [*compiler, "-shared", "-fPIC", "-O3", path.name] + [
        flag.replace("-I", "-isystem", 1) if flag.startswith("-I") else flag
        for flag in tf.sysconfig.get_compile_flags() + tf.sysconfig.get_link_flags()
    ]
    if sys.platform == "darwin":
        command += ["-undefined", "dynamic_lookup"]
    text, *headers = (
        file.read_bytes() for file in [path, *sorted(path.parent.glob("*.h"))]
    )
    built_from = repr((command, version, tf.__version__, os.uname().machine,
                       text, headers))
    key = hashlib.sha256(built_from.encode()).hexdigest()[:20]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    library = cache / "tensorflow-load-op" / f"{path.stem}-{key}.so"

    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text.decode(), flags=re.DOTALL)
    ops = re.findall(r'\bREGISTER_OP\(\s*"([^"]+)"', code)
    for op in ops:
        if op in _loaded_ops and _loaded_ops[op][0] == library:
            return _loaded_ops[op][2]
        _refuse_loaded(op, path)
    if not library.exists():
        _compile(command, path, library)
    module = tf.load_op_library(str(library))
    _loaded_ops.update((op, (library, path, module)) for op in ops)
    module.RegisterGradient = _register_gradient_anew({})
    return module


def _compiler():
    """The C++ compiler's command, as a list, and its version; None where is none."""
    names = [os.environ["CXX"]] if os.environ.get("CXX") else ["g++", "clang++", "c++"]
    for command in map(shlex.split, names):
        if sys.platform != "win32" and shutil.which(command[0]):
            # Without its developer tools, macOS has a g++ that only complains.
            run = subprocess.run([*command, "--version"], capture_output=True,
                                 check=False)
            if run.returncode == 0:
                return command, run.stdout
    return None, None


def _go_on_without_compiler():
    shell = "IPython" in sys.modules and sys.modules["IPython"].get_ipython()
    if not shell:
        raise FileNotFoundError(_NO_COMPILER)
    print(f"{_NO_COMPILER}; until then the cells that need it are skipped.")
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


def _refuse_loaded(op, path):
    """Raise in words before TensorFlow loads an op twice, which breaks both."""
    if not _is_op(op):
        return
    if hasattr(tf.raw_ops, op):
        raise RuntimeError(
            f"TensorFlow has an op {op} of its own: give the one in {path.name} "
            "another name"
        )
    other = _loaded_ops[op][1] if op in _loaded_ops else "another library"
    where = "it was compiled before a change" if other == path else f"from {other}"
    raise RuntimeError(
        f"cannot load {path}: the op {op} is already loaded ({where}), and no "
        "process can load an op twice; restart the kernel, then run this cell first"
    )


def _compile(command, path, library):
    """Build under a temporary name, so that nobody ever meets half a library."""
    try:
        library.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(prefix="build-", dir=library.parent)
    except OSError as error:
        raise OSError(
            f"load_op cannot write to its cache ({error}); set XDG_CACHE_HOME to a "
            "folder that can be written"
        ) from error
    with folder:
        built = os.path.join(folder.name, library.name)
        run = subprocess.run(
            [*command, "-o", built], cwd=path.parent, check=False, text=True,
            errors="replace", capture_output=True, env={**os.environ, "LC_ALL": "C"})
        if run.returncode:
            lines = run.stderr.splitlines() or ["the compiler gives no reason"]
            bad = [i for i, line in enumerate(lines)
                   if "error: " in line or "undefined reference" in line]
            first = bad[0] if bad else 0
            more = f"\n(and {len(bad) - 1} more)" if len(bad) > 1 else ""
            raise ValueError(f"{path.name} does not compile, first error:\n"
                             + "\n".join(lines[first:first + 3]) + more)
        os.replace(built, library)


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
