"""What `load_op` asks of the compiler: what a source includes, and its library."""

import collections
import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .places import user_cache
from .tensorflow_start import tf

# Variables that tell compilers where to look for what.
_SEARCHED = ("CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH", "LIBRARY_PATH",
             "COMPILER_PATH", "GCC_EXEC_PREFIX", "SDKROOT",
             "MACOSX_DEPLOYMENT_TARGET", "CCC_OVERRIDE_OPTIONS")

_FORM = 2  # of a note; one of an older form knows of fewer files

# In a preprocessed text: what is no code, and what registers an op, also where the
# macro REGISTER_OP was never defined.
_REGISTERED = re.compile(r"""
    R"(?P<fence>[^()\\\s]{0,16})\(.*?\)(?P=fence)"
  | \b(?:OpDefBuilderWrapper|REGISTER_OP)\s*\(\s*(?P<op>(?:"[^"\\\n]*"\s*)+)\)
  | "(?:[^"\\\n]|\\.)*"
  | \b\d[\w.']*
  | '(?:[^'\\\n]|\\.)+'
""", re.VERBOSE | re.DOTALL)

# A process of its own asks a library for its ops, as no process can unload one. All
# of TensorFlow is there, as it is where Python has loaded it.
_ASK = """
import ctypes, os, sys
everything, library, answer = map(os.fsencode, sys.argv[1:])
tf = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t),
                ("deallocator", ctypes.c_void_p)]
def function(name, result, *arguments):
    function = getattr(tf, name)
    function.restype, function.argtypes = result, arguments
    return function
new = function("TF_NewStatus", ctypes.c_void_p)
load = function("TF_LoadLibrary", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
ops = function("TF_GetOpList", Buffer, ctypes.c_void_p)
why = function("TF_Message", ctypes.c_char_p, ctypes.c_void_p)
demangle = function("__cxa_demangle", ctypes.c_char_p, ctypes.c_char_p,
                    *[ctypes.c_void_p] * 3)
status = new()
with open(answer, "wb", buffering=0) as file:
    file.write(b"?")
    loaded = load(library, status)
    file.seek(0)
    if loaded:
        found = ops(loaded)
        file.write(b"+" + ctypes.string_at(found.data, found.length))
    else:
        import re
        plain = lambda name: demangle(name[0].replace(b"__Z", b"_Z"), *[None] * 3)
        file.write(b"-" + re.sub(rb"\\b_?_Z\\w+", lambda name: plain(name) or name[0],
                                 why(status)))
os._exit(0)
"""


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A source, and the command that compiles it in its own folder."""

    path: Path
    compiler: list  # words of the command
    version: bytes  # what the compiler says of itself
    flags: list

    def words(self, library):
        # Without ./ a name that begins with - would be an option.
        name = self.path.name
        source = f"./{name}" if name[0] in "-@" else name
        return [*self.compiler, "-shared", "-fPIC", "-O3", source, *self.flags,
                "-o", os.fspath(library)]

    def identity(self):
        searched = {name: os.environ.get(name) for name in _SEARCHED}
        return repr((self.words(""), self.version, tf.__version__, os.uname().machine,
                     searched))

    def run(self, words):
        return subprocess.run(
            words, cwd=self.path.parent, check=False, stdin=subprocess.DEVNULL,
            capture_output=True, env={**os.environ, "LC_ALL": "C"})

    def stem(self):
        return re.sub(r"[^\w.-]", "_", self.path.stem, flags=re.ASCII)[:60]


@dataclasses.dataclass
class Note:
    """What the compiler said of a source, and what has to be so for it to hold."""

    key: str  # stands for all that the library is made from
    ops: list  # names of the ops that the source registers
    states: dict  # path of each file that is included -> what tells a change
    places: list  # folders in which headers are looked for
    names: list  # what is looked for in each of them
    there: list  # what of that there is

    def holds(self):
        return (all(_state(path) == state for path, state in self.states.items())
                and _there(self.places, self.names) == self.there)


def note_of(recipe):
    """The note of an earlier call where it still holds, else None."""
    try:
        note = Note(**json.loads(_note_file(recipe).read_text("utf-8")))
        return note if note.holds() else None
    except (OSError, ValueError, TypeError, AttributeError):
        return None  # there is none, or it is damaged


def keep_note(recipe, note):
    """For later calls; without it they ask the compiler again."""
    file = _note_file(recipe)
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="note-", dir=file.parent) as folder:
            written = Path(folder) / file.name
            written.write_text(json.dumps(dataclasses.asdict(note)), "utf-8")
            os.replace(written, file)


def preprocessed(recipe):
    """A new note: the compiler itself names what the source includes."""
    with tempfile.TemporaryDirectory() as folder:
        rule = Path(folder) / "rule"
        run = recipe.run([*recipe.words("-"), "-E", "-P", "-MD", "-MF", rule,
                          "-MT", "x"])
        if run.returncode:
            raise ValueError(_first_error(recipe.path, run.stderr))
        files = _files_of_rule(os.fsdecode(rule.read_bytes()), recipe.path.parent)
    text = run.stdout.decode("latin-1")  # each byte is a character of it
    besides = _read_besides(recipe, run.stdout)
    states = {file: _state(file) for file in files + besides}
    own = [file for file in files if not _is_systems(file)]
    places = {*_search_path(recipe), *map(os.path.dirname, own)}
    names = {os.path.relpath(file, place) for file in files for place in places
             if file.startswith(place + os.sep)}
    places = sorted(place for place in places if not _is_systems(place + os.sep))
    for file in own:
        with contextlib.suppress(OSError):
            names.update(os.fsdecode(name) for name in re.findall(
                rb'__has_include(?:_next)?\s*\(\s*[<"]([^<>"\n]+)[>"]',
                Path(file).read_bytes()))
    names = sorted(names)
    made_from = repr((recipe.identity(), hashlib.sha256(run.stdout).hexdigest(),
                      sorted(filter(None, map(states.get, own)))
                      + [states[file] for file in besides]))
    return Note(hashlib.sha256(made_from.encode()).hexdigest()[:20],
                _registered(text), states, places, names, _there(places, names))


def whole_library(recipe, key):
    """The library that was built for this key, or None where it is not as it was.

    Its name ends with the SHA-256 sum of what it holds. A library that is cut could
    end the process that loads it.
    """
    for library in user_cache("tensorflow-load-op").glob(f"{recipe.stem()}-{key}-*.so"):
        try:
            if library.stem.endswith("-" + _sum(library)):
                return library
            library.unlink()
        except OSError:
            continue
    return None


def build(recipe, note):
    """Compile, and return the library and its ops; None, None if a file changed.

    All under a temporary name, so that nobody ever meets half a library.
    """
    cache = user_cache("tensorflow-load-op")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(prefix="build-", dir=cache)
    except OSError as error:
        raise OSError(
            f"load_op cannot write to its cache ({error}); set XDG_CACHE_HOME to a "
            "folder that can be written"
        ) from error
    with folder:
        built = Path(folder.name) / f"{recipe.stem()}.so"
        run = recipe.run(recipe.words(built))
        if run.returncode:
            raise ValueError(_first_error(recipe.path, run.stderr))
        ops = ops_of(recipe.path, built, note.ops)
        if not note.holds():
            return None, None
        library = cache / f"{recipe.stem()}-{note.key}-{_sum(built)}.so"
        os.replace(built, library)
    return library, ops


def ops_of(path, library, otherwise):
    """The names of the ops that a library of the source at path registers.

    The library itself is asked; `otherwise` is returned where it can't be.

    Raises a ValueError where it cannot be loaded: with a symbol that is defined
    nowhere, it compiles. (The linker alone can't tell: it knows libraries of
    TensorFlow's that it is told of, and Python has loaded more.)
    """
    from tensorflow.core.framework.op_def_pb2 import OpList

    everything = sorted(Path(tf.sysconfig.get_lib()).glob("libtensorflow_cc.*"))
    if not everything:
        return otherwise
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer"
        run = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _ASK, everything[0], library, answer],
            stdin=subprocess.DEVNULL, capture_output=True, check=False)
        said = answer.read_bytes() if answer.exists() else b""
    if said[:1] == b"+":
        return sorted(op.name for op in OpList.FromString(said[1:]).op)
    if not said:
        return otherwise  # not the library's fault
    if said == b"?":
        reason = f"it ends the process (exit status {run.returncode})"
        reason += "".join("\n" + line for line in _text(run.stderr).splitlines()[-3:])
    else:
        reason = _text(said[1:]).replace(f"{library}: ", "")
    raise cannot_be_loaded(path, reason)


def cannot_be_loaded(path, reason):
    """The error to raise where a library stands that this TensorFlow refuses."""
    return ValueError(f"{path.name} compiles, but cannot be loaded: {reason}")


def _text(said):
    return said.decode("utf-8", "replace").strip()


def _sum(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()[:20]


def _note_file(recipe):
    about = repr((_FORM, os.fspath(recipe.path), recipe.identity()))
    key = hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    return user_cache("tensorflow-load-op-notes") / f"{recipe.stem()}-{key}.json"


@functools.cache
def _systems():
    return (tf.sysconfig.get_include() + os.sep, "/usr/include/", "/usr/lib/",
            "/Library/Developer/", "/Applications/")


def _is_systems(file):
    """Whether it belongs to TensorFlow or the system, and not to the reader."""
    return file.startswith(_systems())


def _state(file):
    """What tells a change: the contents; of the system's 1,000 files, time and size."""
    try:
        if _is_systems(file):
            found = os.stat(file)
            return f"{found.st_size} {found.st_mtime_ns}"
        with open(file, "rb") as opened:
            return hashlib.sha256(opened.read()).hexdigest()
    except OSError:
        return None


def _there(places, names):
    """Which of the names there are in which place: a new one may come earlier."""
    by_first = collections.defaultdict(list)
    for name in names:
        by_first[name.partition(os.sep)[0]].append(name)
    found = []
    for place in places:
        with contextlib.suppress(OSError):
            here = {*os.listdir(place), os.pardir}
            for first in sorted(here & by_first.keys()):
                paths = [os.path.join(place, name) for name in by_first[first]]
                found += filter(os.path.exists, paths)
    return found


def _files_of_rule(rule, folder):
    """The absolute paths in a rule for make: `x: a.cc a\\ b.h \\`, line by line."""
    words = re.findall(r"(?:\\.|[^\s\\])+", rule.partition(":")[2].replace("\\\n", " "))
    plain = [re.sub(r"\\([ #])", r"\1", word).replace("$$", "$") for word in words]
    return sorted({os.path.join(folder, word) for word in plain})


def _read_besides(recipe, text):
    """The absolute paths of what is read and no rule for make names: scripts and
    @files of the command, and what an asm statement of the text takes in.
    """
    folder = recipe.path.parent
    scripts = [file for file in map(shutil.which, recipe.compiler)
               if file and os.path.getsize(file) < 100_000]  # else it is a program
    options = [word[1:] for word in recipe.compiler if word[:1] == "@"]
    for file in options:  # one may name others
        with contextlib.suppress(OSError):
            more = re.findall(rb"(?<!\S)@(\S+)", (folder / file).read_bytes())
            options += map(os.fsdecode, more)
    parts = re.findall(rb'\.inc(?:bin|lude)\b[\s\\]*"[\s\\"]*([^\\"]+)', text)
    return [os.path.join(folder, file)
            for file in (*scripts, *options, *map(os.fsdecode, parts))]


def _search_path(recipe):
    """The folders in which the compiler looks for headers, there or not."""
    said = os.fsdecode(recipe.run([*recipe.compiler, *recipe.flags, "-E", "-v", "-xc++",
                                   os.devnull]).stderr)
    listed = re.search(r"^#include.*?search starts here:(.*?)^End of search list", said,
                       re.DOTALL | re.MULTILINE)
    there = re.findall(r"^ (.+?)(?: \(framework directory\))?$",
                       listed[1] if listed else "", re.MULTILINE)
    missing = re.findall(r'^ignoring nonexistent directory "(.+)"', said, re.MULTILINE)
    return {os.path.join(recipe.path.parent, place) for place in there + missing}


def _registered(text):
    """The names of the ops that a preprocessed text registers in plain sight."""
    return sorted({"".join(re.findall(r'"([^"]*)"', found["op"]))
                   for found in _REGISTERED.finditer(text) if found["op"]})


def _first_error(path, said):
    lines = _text(said).splitlines() or ["the compiler gives no reason"]
    bad = [i for i, line in enumerate(lines)
           if "error: " in line or "undefined reference" in line]
    first = bad[0] if bad else 0
    more = f"\n(and {len(bad) - 1} more)" if len(bad) > 1 else ""
    return (f"{path.name} does not compile, first error:\n"
            + "\n".join(lines[first:first + 3]) + more)
