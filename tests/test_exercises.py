"""Whatever a student hands in, `judge` answers in words, and raises nothing."""

import functools
import linecache
import logging
import re
import signal
import sys
import textwrap
import threading
import time
import types

import numpy as np
import pytest

from custom_ops import student_code
from custom_ops.student_code import AGAIN, GRACE, PATIENCE, Run, Stopper, files_of
from utils import (
    check_gradient,
    gives,
    gradient_right,
    holds,
    judge,
    like,
    py_func,
    tf,
)

X = np.array([0.5, 2.0])
NAMES = {
    name: globals()[name]
    for name in "np tf py_func like gradient_right gives holds judge X".split()
}

GRAD = """
def check_1(answer):
    def f(x):
        return py_func(np.sin, [x], like(x), grad=answer)

    judge(gradient_right(f, [X], hint="a HINT"), seconds=SECONDS)
"""
FUNCTION = """
def check_1(answer):
    judge(gives(answer, [X], X**2, hint="a HINT"), seconds=SECONDS)
"""
NUMPY = """
def check_1(answer):
    judge(gives(answer, [X], X**2, hint="a HINT", graph=False), seconds=SECONDS)
"""
FORWARD = """
def check_1(answer):
    def f(x):
        return py_func(answer, [x], like(x))

    judge(gives(f, [X], X**2, hint="a HINT"), seconds=SECONDS)
"""
NUMBER = """
def check_1(answer):
    judge(gives(lambda: answer, [], 4, hint="a HINT", graph=False), seconds=SECONDS)
"""
LIST = """
def check_1(answer):
    tried = gives(lambda: answer, [], [1, 5, 20], hint="a HINT", graph=False)
    judge(tried, seconds=SECONDS)
"""
TEXT = """
def check_1(answer):
    tried = gives(lambda: answer, [], "float32", hint="a HINT", graph=False)
    judge(tried, seconds=SECONDS)
"""
TEST = """
def check_1(answer):
    judge(holds(lambda: answer(3) == 9, hint="a HINT"), seconds=SECONDS)
"""
RELATION = """
def check_1(answer):
    judge(holds(lambda: 2 < answer < 3, hint="a HINT"), seconds=SECONDS)
"""
CHECKS = {
    name: globals()[name]
    for name in "GRAD FUNCTION NUMPY FORWARD NUMBER LIST TEXT TEST RELATION".split()
}

VALUES = """None|3.5|-1|"a text"|b"bytes"|""|float("nan")|float("inf")|1j
True|[]|[[1], [2, 3]]
{}|{"a": 1}|set()|()|[None]|object()|object|int|print|...|NotImplemented|range(3)
(x for x in [1])|iter([])|np.zeros(0)|np.zeros((2, 3, 4))|np.array("text")
np.array([None, 1])|np.array([1, 2], "complex64")|np.float16(3)|np.ma.masked
np.datetime64("2020-01-01")|np.rec.array([(1, 2.0)])|np.zeros((2, 2), bool)
tf.constant("text")|tf.zeros([2, 3])|tf.Variable([1.0])|tf.ragged.constant([[1], []])
tf.sparse.from_dense([1.0])|tf.TensorSpec([2])|tf.keras.Input([2])|tf.float32
tf.data.Dataset.range(3)|np|tf|lambda: 1|lambda a, b, c, d: a|lambda *a: a
lambda *a: None|lambda *a: "text"|lambda *a: a[-1] * float("nan")|lambda *a: [a] * 3
lambda *a: (x for x in a)|lambda *a: tf.zeros([5, 5], tf.float64)|lambda *a: 1 / 0
lambda *a: a[-1] * 1j|lambda *a: np.zeros((2, 2), object)|type("A", (), {})()
lambda *a: tf.cast(a[-1], tf.int32)|lambda *a: {"a": 1}|lambda *a: tf.float32
lambda *a: tf.data.Dataset.range(3)|lambda *a: tf.ragged.constant([[1.0], []])
lambda *a: tf.IndexedSlices([1.0], [0])|lambda *a: 10**400|lambda *a: -(10**30)"""

CODE = {
    "returns nothing": "pass",
    "unknown name": "return foo",
    "raises": "raise ValueError('several\\nlines\\nwell done')",
    "raises with no text": "raise ValueError",
    "a class of its own": "class E(BaseException): pass\n    raise E('x')",
    "an error that can't be shown": "class E(Exception):\n"
    "        def __str__(self): raise RuntimeError\n    raise E",
    "an error that is false": "class E(Exception):\n"
    "        def __bool__(self): raise RuntimeError\n"
    "        def __eq__(self, o): raise RuntimeError\n    raise E",
    "an error from an error": "try:\n        1 / 0\n    except Exception as e:\n"
    "        raise KeyError('k') from e",
    "asserts": "assert False, 'well done'",
    "leaves Python": "import sys; sys.exit(0)",
    "quits": "raise SystemExit('well done')",
    "interrupts": "raise KeyboardInterrupt",
    "ends a generator": "raise GeneratorExit",
    "stops an iteration": "raise StopIteration",
    "is a generator": "yield 1",
    "calls itself": "return answer(*a)",
    "asks": "return input('?')",
    "an == that raises": "class E:\n        def __eq__(self, o): raise RuntimeError\n"
    "        __hash__ = None\n    return E()",
    "an == that agrees": "class E:\n        def __eq__(self, o): return self\n"
    "        def __lt__(self, o): return self\n        __gt__ = __lt__\n    return E()",
    "an __array__ that raises": "class E:\n"
    "        def __array__(self, *a, **k): raise KeyError('no')\n    return E()",
    "an __array__ of nothing": "class E:\n"
    "        def __array__(self, *a, **k): return None\n    return E()",
    "a len that lies": "class E(list):\n        def __len__(self): return 10**9\n"
    "    return E()",
    "a repr that raises": "class E:\n        def __repr__(self): raise RuntimeError\n"
    "    return E()",
    "a truth that raises": "class E:\n        def __bool__(self): raise RuntimeError\n"
    "        def __eq__(self, o): return self\n    return E()",
    "a text that agrees": "class E(str):\n        def __eq__(self, o): return 1\n"
    "        __hash__ = None\n    return E('x')",
    "a list of itself": "x = []\n    x.append(x)\n    return x",
    "says it itself": "print('well done')\n    return 'well done'",
    "prints much": "for n in range(10**4): print(n, 'well done')\n    return 0",
    "prints no line": "print('well done', end='')\n    return 0",
    "closes the screen": "import sys; sys.stdout.close()",
    "no screen": "import sys; sys.stdout = None; return 0",
    "another print": "import builtins; keep = print\n    return 0",
    "odd letters": "print('\\ud800\\x1b[31m\\x00'); raise ValueError('\\ud800')",
    "warns": "import warnings; warnings.warn('well done'); return 0",
    "warnings are errors": "import warnings; warnings.simplefilter('error')\n"
    "    return np.log(-1.0) * a[-1]",
    "writes into its input": "a[0][0] = 5; return a[0]",
    "changes its inputs": "a[0].inputs.clear()",
    "a symbolic if": "return 1.0 if a[-1][0] > 0 else 2.0",
    "needs memory": "return [0] * 10**15",
    "a thread that fails": "import threading\n"
    "    t = threading.Thread(target=sys.exit); t.start(); t.join()\n    return 0",
    "other error settings": "np.seterr(all='raise'); return np.exp(1e9) * a[-1]",
    "a tracer": "import sys; sys.settrace(None); return None",
    "a judge in the judge": "judge(holds(lambda: True)); return 0",
    "TensorFlow's errors": "return tf.reshape(a[-1], [7])",
    "an async function": "return (lambda: (yield))()",
    "a long name": "return " + "x" * 5000,
}
ENDLESS = {
    "a loop": "while True: pass",
    "a loop that listens to nothing": """while True:
        try:
            while True:
                pass
        except BaseException:
            pass""",
    "a loop in a loop that listens to nothing": """while True:
        try:
            while True:
                try:
                    while True: pass
                except: pass
        except: pass""",
    "a sleep": "import time; time.sleep(1000)",
    "a lock": "import threading; l = threading.Lock(); l.acquire(); l.acquire()",
    "prints for ever": "while True: print('well done')",
    "finally": """while True:
        try:
            while True: pass
        finally:
            continue""",
    "grows": "x = [1]\n    for y in x: x.append(1); del x[0]; x.insert(0, 1)",
}
ODD = """class A:
    def __getattr__(self, name): raise SystemExit
    def __call__(self, *a): return self
answer = A()
---
class A:
    def __getattribute__(self, name): raise KeyboardInterrupt
answer = A()
---
class A(type):
    def __getattr__(self, name): raise SystemExit
class answer(metaclass=A): pass
---
class A:
    def __iter__(self):
        while True: yield 1
    def __len__(self): return 2
    def __getitem__(self, place): return 1
answer = A()
---
class answer:
    def __init__(self, *a): undefined
---
answer = type("A", (list,), {"__iter__": lambda self: 1 / 0})([1.0, 5.0, 20.0])
---
import collections
answer = collections.defaultdict(list)
---
answer = iter(int, 1)
---
async def answer(*a): return 1
---
def answer(*a, b): return 1
---
def answer(*a):
    raise type("well done\\nwell done", (Exception,), {})("z")
---
def answer(*a):
    raise ExceptionGroup("g", [ValueError("well done")])
---
def answer(*a):
    import signal
    signal.setitimer(signal.ITIMER_REAL, 0)
    return 0
---
answer = np.ma.array([1.0, 5.0, 20.0], mask=[1, 0, 0])
---
answer = np.ma.array([0.25, 4.0], mask=[1, 0])
---
answer = judge
---
answer = [10**400, 2]
---
answer = np.array(["1", "5", "20"])
---
answer = tf.function(lambda *a: undefined)
---
answer = tf.custom_gradient(lambda *a: undefined)
---
answer = np.vectorize(lambda *a: undefined)
""".split("---\n")
count = 0


def cell(source, names):
    """Run a cell as a notebook does, so that its lines can be shown."""
    global count
    count += 1
    name = f"/tmp/ipykernel_77/{count}.py"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    exec(compile(source, name, "exec"), names)


def said(check, answer, capsys, seconds=20):
    """What the check answers; `answer` is the student's cell."""
    names = dict(NAMES, SECONDS=seconds, __name__="__main__")
    cell(answer, names)
    cell(check, names)
    capsys.readouterr()
    screen = sys.stdout
    with np.errstate():
        names["check_1"](names["answer"])
    assert sys.stdout is screen
    out, err = capsys.readouterr()
    assert not err
    return out


def refused(text):
    """It ends in `not yet`, as nbgrader reads it, and is the same on every machine."""
    lines = text.split("\n")
    starts = [n for n, line in enumerate(lines) if line.startswith("not yet: ")]
    assert len(starts) == 1 and lines[starts[0]] != "not yet: ", text
    assert "well done" not in lines and "a HINT" in text
    assert not re.search(r"0x[0-9a-f]{4}|/tmp|site-packages|Traceback|/home", text)
    assert max(map(len, lines)) < 2000
    return True


@pytest.mark.parametrize("value", re.split(r"[|\n]", VALUES))
def test_rubbish(value, capsys):
    for check in CHECKS.values():
        assert refused(said(check, f"answer = {value}", capsys))


@pytest.mark.parametrize("body", CODE)
def test_code_that_goes_wrong(body, capsys):
    answer = f"def answer(*a):\n    {CODE[body]}"
    for check in GRAD, FUNCTION, NUMPY, FORWARD, TEST:
        assert refused(said(check, answer, capsys))


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("answer", ODD)
def test_odd_things(answer, capsys):
    for check in CHECKS.values():
        assert refused(said(check, answer, capsys, 1))


def test_looking_at_an_answer_is_stopped_too(capsys):
    code = "class A:\n    def __getattr__(self, name):\n        while True: pass\n"
    text = said(GRAD, code + "answer = A()", capsys, 0.3)
    assert refused(text) and "stopped after 0.3 seconds" in text


def test_a_check_that_traces_often_is_no_warning(caplog):
    def check(answer):
        judge(holds(lambda: tf.function(answer)(X[0]) > 0))

    level = logging.getLogger("tensorflow").level
    for _ in range(8):
        check(lambda x: x * x)
    assert not caplog.records
    assert logging.getLogger("tensorflow").level == level


def test_an_error_that_nobody_can_catch_says_nothing(capsys, monkeypatch):
    hook = sys.__unraisablehook__  # as in a kernel; pytest has its own
    monkeypatch.setattr(sys, "unraisablehook", hook)
    code = """
class Odd:
    def __del__(self):
        1 / 0


def answer(x):
    Odd()
    return x * x
"""
    assert said(NUMPY, code, capsys) == "well done\n"
    assert sys.unraisablehook is hook


def test_when_the_time_is_over_nothing_more_is_run():
    def check(answer):
        judgement = Run(seconds=0.01)
        time.sleep(0.02)
        return judgement.result_of(lambda: "was run")

    assert check(None) == (
        None,
        "stopped after 0.01 seconds: does your code come to an end?",
    )


@pytest.mark.parametrize("check", ["GRAD", "NUMPY"])
@pytest.mark.parametrize("body", ENDLESS)
def test_endless_code_is_stopped(body, check, capsys):
    start = time.monotonic()
    text = said(CHECKS[check], f"def answer(*a):\n    {ENDLESS[body]}", capsys, 0.2)
    assert time.monotonic() - start < 10
    assert refused(text) and "stopped after 0.2 seconds" in text
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0) and sys.gettrace() is None


LOOKED_AT = {  # what is run when somebody looks at an error, or at an answer
    "an error's text": """class E(Exception):
        def __str__(self):
            while True: pass
    raise E""",
    "an error's ==": """class E(Exception):
        def __eq__(self, o):
            while True: pass
    try: 1 / 0
    except Exception as e: raise E from e""",
    "an error's class": """class E(Exception):
        @property
        def __class__(self):
            while True: pass
    raise E""",
    "an error's name": """class T(type):
        @property
        def __name__(self):
            while True: pass
    class E(Exception, metaclass=T): pass
    raise E""",
    "an error with always another cause": """class E(Exception):
        __cause__ = property(lambda self: E())
    raise E""",
    "an answer's repr": """class E:
        def __repr__(self):
            while True: pass
    return E()""",
}


@pytest.mark.parametrize("body", LOOKED_AT)
def test_looking_at_what_came_is_stopped_too(body, capsys):
    start = time.monotonic()
    text = said(NUMPY, f"def answer(*a):\n    {LOOKED_AT[body]}", capsys, 0.3)
    assert time.monotonic() - start < 10
    assert refused(text)
    if body != "an error's ==":  # nobody asks for that
        assert "stopped after 0.3 seconds" in text


def test_a_text_is_handed_on_without_asking_it(capsys):
    class Text(str):
        def __len__(self):
            raise RuntimeError

    class Liar:
        __class__ = str

    for reason in Text("reason"), Liar():
        judge(holds(lambda reason=reason: reason, "hint"))
    first, second, *_ = capsys.readouterr().out.split("not yet: ")[1:]
    assert first == "hint\nreason\n" and "hint" in second


@pytest.mark.parametrize(
    ("gone", "then"),
    [
        ("alarm(0)", "a loop"),
        ("alarm(1000)", "a sleep"),
        ("setitimer(signal.ITIMER_REAL, 0)", "a lock"),
        ("signal(signal.SIGALRM, signal.SIG_IGN)", "a loop"),
        ("signal(signal.SIGALRM, print)", "a loop"),
    ],
)
def test_code_that_takes_the_signal_away_is_stopped(gone, then, capsys):
    before = signal.getsignal(signal.SIGALRM)
    body = f"import signal; signal.{gone}\n    {ENDLESS[then]}"
    start = time.monotonic()
    text = said(NUMPY, f"def answer(*a):\n    {body}", capsys, 0.3)
    assert time.monotonic() - start < 10
    assert refused(text) and "stopped after 0.3 seconds" in text
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) is before


@pytest.mark.parametrize("place", ["in the answer", "before"])
def test_where_no_thread_can_be_started(place, capsys, monkeypatch):
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)  # for afterwards
    before = signal.getsignal(signal.SIGALRM)
    code = "import threading\nthreading.excepthook = None\n"
    if place == "in the answer":
        code = f"def answer(*a):\n    {'; '.join(code.splitlines())}; return 0"
        assert refused(said(NUMPY, code, capsys))
        code = ""
    assert said(NUMPY, code + "answer = np.square", capsys) == "well done\n"
    text = said(NUMPY, "def answer(x):\n    while True: pass", capsys, 0.3)
    assert refused(text) and "stopped after 0.3 seconds" in text
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) is before


RIGHT = {
    "GRAD": ["lambda op, dy: tf.cos(op.inputs[0]) * dy"],
    "FUNCTION": ["lambda x: x * x", "tf.square", "lambda x: tf.cast(x**2, tf.float32)"],
    "NUMPY": [
        "np.square",
        "lambda x: [v * v for v in x]",
        "np.vectorize(lambda x: x**2)",
    ],
    "FORWARD": ["np.square", "lambda x: (x**2).astype('float32')"],
    "NUMBER": [
        "4",
        "4.0",
        "np.int8(4)",
        "tf.constant(4.0)",
        "np.array(4)",
        "2 + 2 + 0j",
    ][:5],
    "LIST": ["[1, 5, 20]", "(1, 5, 20)", "np.array([1.0, 5, 20])"],
    "TEXT": ["'float32'", "np.str_('float32')", "tf.constant('float32')"],
    "TEST": ["lambda x: x * x", "np.square", "tf.square"],
    "RELATION": ["2.5", "tf.constant(2.5)", "np.array([2.2, 3.5])[0]"],
}


@pytest.mark.parametrize(
    ("check", "answer"), [(check, one) for check in RIGHT for one in RIGHT[check]]
)
def test_right_answers(check, answer, capsys):
    assert said(CHECKS[check], f"answer = {answer}", capsys) == "well done\n"


def test_the_students_own_line_is_named(capsys):
    code = "def helper(dy):\n    dx = foo * dy\n\n"
    code += "def answer(op, dy):\n    return helper(dy)"
    assert said(GRAD, code, capsys) == (
        "not yet: NameError in line 2 of your cell, \"dx = foo * dy\": name 'foo' is "
        "not defined\na HINT\n"
    )


def test_the_line_is_named_where_tensorflow_calls_the_code(capsys):
    code = "def answer(x):\n    return np.array(X) * bar"
    for check in (FORWARD, NUMPY, FUNCTION, TEST):
        assert '2 of your cell, "return np.array(X) * bar"' in said(check, code, capsys)


def test_no_line_of_a_cell_that_is_not_the_students(capsys):
    check = "def helper(x):\n    return x + 1\n\n" + TEST.replace(
        "answer(3)", "helper(answer)"
    )
    text = said(check, "answer = None", capsys)
    assert "your cell" not in text and refused(text)


def test_numpy_in_a_graph_is_explained(capsys):
    text = said(
        GRAD, "def answer(op, dy):\n    return np.cos(op.inputs[0]) * dy", capsys
    )
    assert "inside a tf.function" in text and "TensorFlow's own ops" in text


def test_numpy_in_an_op_within_a_graph_is_explained(capsys):
    code = """
    def answer(op, dy):
        x = op.inputs[0]
        return py_func(lambda dy: np.cos(x) * dy, [dy], like(x))
    """
    text = said(GRAD, textwrap.dedent(code), capsys)
    assert "Graph execution error" not in text
    assert "symbolic tf.Tensor" in text and "TensorFlow's own ops" in text


def test_a_graph_that_disagrees_is_seen(capsys):
    code = "def answer(x):\n    return x**2 if tf.executing_eagerly() else x**3"
    text = said(FUNCTION, code, capsys)
    assert "inside a tf.function: [0]: 0.125 instead of 0.25 (2 of 2 wrong)" in text


def test_a_condition_on_a_tensor_is_no_fault(capsys):
    names = dict(NAMES)
    cell("def f(x):\n    return x", names)

    def f(x):
        if tf.reduce_sum(x) > 0:
            return x**2
        return x

    judge(gives(f, [X], X**2))
    assert capsys.readouterr().out == "well done\n"


def test_the_whole_report_is_shown_below_the_hint(capsys):
    text = said(GRAD, "answer = lambda op, dy: tf.cos(op.inputs[0])", capsys)
    assert text.startswith("not yet: a HINT\ninput 0, element ")
    assert "not multiplied by dy" in text


def test_what_the_code_prints_comes_before_the_verdict(capsys):
    code = "def answer(x):\n    print('not yet: x')\n    print(3)\n    return x * x"
    assert said(FUNCTION, code, capsys) == (
        "your code printed:\n| not yet: x\n| 3\nwell done\n"
    )


def test_the_first_that_fails_ends_it(capsys):
    tried = []

    def note(number, answer):
        return holds(lambda: tried.append(number) or answer, f"hint {number}")

    judge(note(1, True), note(2, False), note(3, True))
    assert tried == [1, 2]
    assert capsys.readouterr().out == "not yet: hint 2\n"


@pytest.mark.parametrize("tries", [(), (None,), (True,), (3, 4), ("text",)])
def test_what_is_no_try_passes_nothing(tries, capsys):
    judge(*tries)
    assert capsys.readouterr().out.startswith("not yet: ")


@pytest.mark.parametrize("true", [True, np.True_, tf.constant(True), np.ones(3, bool)])
def test_true(true, capsys):
    judge(holds(lambda: true, "x"))
    assert capsys.readouterr().out == "well done\n"


@pytest.mark.parametrize(
    "other",
    [False, None, 1, "reason", "", [], [1], np.array([True, False]), np.ones(2)]
    + [np.array([], bool), tf.zeros([0, 2], tf.bool)],
)
def test_what_is_not_true(other, capsys):
    judge(holds(lambda: other, "x"))
    out = capsys.readouterr().out
    reason = "reason\n" if isinstance(other, str) and other else ""
    assert out == f"not yet: x\n{reason}"


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        ([1.0, 2.0], np.array([1.0, 3.0]), "[1]: 2.0 is not right (1 of 2 wrong)"),
        (np.ones(3), np.ones((3, 1)), "shape (3,) instead of (3, 1)"),
        (np.ones(3, int), np.ones(3), "integers (int64) instead of floats"),
        (np.ones(3), np.ones(3, int), "floats (float64) instead of integers"),
        (np.ones(3, bool), np.ones(3), "booleans (bool) instead of floats"),
        ([np.ones(2)], [np.ones(2), np.ones(3)], "1 results instead of 2"),
        ([np.ones(2), 1], [np.ones(2), np.ones(3)], "[1]: shape () instead of (3,)"),
        ({"a": 1}, {"b": 1}, "a dict with the keys ['a']"),
        ({"a": 1}, {"a": 2}, "['a']: 1 is not right"),
        (3, None, "3 instead of None"),
        (3, [np.ones(2), 1], "3 instead of 2 results"),
        (12345, 12346, "12345 is not right"),
        (1 + 1j / 3, 1 - 1j, "1+0.3333j is not right"),
        (1e-20, 2e-20, "1e-20 is not right"),
        (np.float64([1, 1e-9]), np.float64([1, 2e-9]), "1e-09 is not right"),
        (1 + 1j, 1 - 1j, "is not right"),
        (float("nan"), 1.0, "nan is not right"),
        (7, 8, "7 is not right"),
        (1.00001, 1.00002, "1.00001 is not right"),
        (True, 1, "booleans"),
    ],
)
def test_gives_says_what_differs(found, expected, words, capsys):
    judge(gives(lambda: found, [], expected, graph=False))
    out = capsys.readouterr().out
    assert out.startswith("not yet: ") and words in out


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (np.float32(0.1), 0.1),
        (np.float16([0.1, 0.3]), np.array([0.1, 0.3])),
        (tf.constant([0.1], tf.bfloat16), np.array([0.1])),
        (tf.constant(0.1, tf.bfloat16), np.array(0.1)),
        (tf.constant([1.05], tf.bfloat16), np.array([1.0])),  # 6 of 8 roundings
        (np.sin(np.pi * np.array([1, 0.5])), [0.0, 1.0]),
        (float("nan"), float("nan")),
        ([np.inf, 1], [np.inf, 1]),
        ((tf.ones(2), 3), [np.ones(2), 3]),
        ({"a": [1, 2]}, {"a": (1, 2)}),
        (None, None),
        (np.int8(3), 3),
        (np.uint8([1, 2]), np.array([1, 2])),
        (np.zeros((0, 3)), np.zeros((0, 3), np.float32)),
        (1 + 2j, np.complex64(1 + 2j)),
        (True, np.True_),
    ],
)
def test_gives_accepts(found, expected, capsys):
    judge(gives(lambda: found, [], expected, graph=False))
    assert capsys.readouterr().out == "well done\n"


def test_ten_lines_that_were_printed_are_shown(capsys):
    judge(holds(lambda: [print("line", n) for n in range(13)] and True))
    shown = [f"| line {n}" for n in range(10)]
    said = ["your code printed:", *shown, "| …", "well done"]
    assert capsys.readouterr().out.split("\n")[:-1] == said


def test_a_thing_that_cannot_be_shown_is_named_by_its_type(capsys):
    class Silent:
        def __repr__(self):
            raise RuntimeError("no")

    judge(gives(Silent, [], "a text", graph=False))
    assert "not yet: a Silent instead of a text" in capsys.readouterr().out


def test_an_input_that_is_written_into_is_seen(capsys):
    def f(x):
        y = x**2
        x[0] = 7
        return y

    x = np.array([1.0, 2.0])
    judge(gives(f, [x], x**2, graph=False))
    assert "it writes into its input 0" in capsys.readouterr().out
    assert x.tolist() == [1.0, 2.0]


def test_inputs_may_be_numbers(capsys):
    judge(gives(lambda x: 2 * x, [3.0], 6.0, graph=False))
    assert capsys.readouterr().out == "well done\n"


def test_options_reach_check_gradient(capsys):
    @tf.custom_gradient
    def f(x):
        return x**3, lambda dy: 3 * tf.stop_gradient(x) ** 2 * dy

    judge(gradient_right(f, [X]))
    judge(gradient_right(f, [X], order=2))
    good, bad, *_ = capsys.readouterr().out.split("\n")
    assert good == "well done" and bad.startswith("not yet: second derivative")
    with pytest.raises(AssertionError):
        check_gradient(f, [X], order=2)


def test_in_another_thread_too(capsys):
    def loop():
        while True:
            pass

    def work():
        judge(holds(lambda: False, "one"))
        judge(holds(loop, "two"), seconds=0.2)
        judge(holds(lambda: True, "four"))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    stopped = "not yet: stopped after 0.2 seconds: does your code come to an end?"
    assert capsys.readouterr().out == (f"not yet: one\n{stopped}\ntwo\nwell done\n")


def test_a_loop_in_a_thread_of_tensorflow(capsys):
    def func(x):
        if threading.current_thread() is not threading.main_thread():
            while True:
                pass
        return x

    @tf.function
    def f(x):
        return tf.map_fn(
            lambda v: py_func(func, [v], like(v)), x, parallel_iterations=4
        )

    judge(holds(lambda: f(tf.zeros(100))[0] == 1, "hint"), seconds=0.5)
    assert capsys.readouterr().out.startswith("not yet: ")


def test_map_fn_that_ends_in_an_error_spoils_nothing_for_later_code(capsys):
    @tf.function
    def f(x):
        return tf.map_fn(lambda v: 1 / 0, x)

    judge(holds(lambda: f(tf.zeros(3)), "hint"))
    assert "ZeroDivisionError" in capsys.readouterr().out
    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        tf.Variable(1.0)


def test_another_timer_goes_on(capsys):
    rung = []
    old = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        judge(holds(lambda: True, "x"))
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
        time.sleep(0.5)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert rung


def test_code_that_is_stopped_again_and_again_is_stopped_in_the_middle():
    stopper = Stopper(time.monotonic() + 1)
    pauses = [stopper.pause() for _ in range(30)]
    assert pauses[:4] == [AGAIN] * 4
    assert all(1e-6 < pause < 1e-3 for pause in pauses[4:])
    assert len(set(pauses[4:])) == 26  # at another moment each time


@pytest.mark.parametrize("before, soon", [(0, False), (PATIENCE, True)])
def test_an_alarm_that_cannot_raise_rings_again(before, soon):
    stopper = Stopper(time.monotonic() + 1)
    stopper.running, stopper.stopped = True, before
    ours = types.SimpleNamespace(f_globals={"__name__": Stopper.__module__})
    old = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    try:
        stopper.on_alarm(signal.SIGALRM, ours)  # no TookTooLong here
        left = signal.getitimer(signal.ITIMER_REAL)[0]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert left < 1e-3 if soon else AGAIN / 2 < left <= AGAIN


def test_an_alarm_that_was_lost_and_an_error_take_turns(monkeypatch):
    stopper = Stopper(time.monotonic() - 2 * GRACE)
    stopper.running, tried = True, []

    def wait(seconds):
        return len(tried) == 4

    monkeypatch.setattr(stopper.over, "wait", wait)
    monkeypatch.setattr(signal, "pthread_kill", lambda *_: tried.append("ring"))
    monkeypatch.setattr(student_code, "raise_in", lambda *_: tried.append("raise"))
    old = signal.signal(signal.SIGALRM, stopper.on_alarm)
    try:
        stopper.stop_threads(0)
    finally:
        signal.signal(signal.SIGALRM, old)
    assert tried == ["ring", "raise"] * 2


@pytest.mark.parametrize(
    "how, told",
    [
        ("raise KeyError('k')", "ZeroDivisionError"),
        ("raise KeyError('k') from e", "ZeroDivisionError"),
        ("raise KeyError('k') from None", "KeyError"),
    ],
)
def test_the_first_error_is_told_if_it_counts(how, told, capsys):
    code = "def answer(*a):\n    try:\n        1 / 0\n    except Exception as e:\n"
    text = said(GRAD, f"{code}        {how}", capsys)
    assert text.startswith(f"not yet: {told} in line ")


def typed(source="def f(x): return x"):
    """What a cell of a notebook defines under the name f."""
    names = {}
    exec(compile(source, "<cell>", "exec"), names)
    return names["f"]


def itself():
    answer = [typed()]
    answer[:0] = [answer]
    return answer


@pytest.mark.parametrize(
    "answer, found",
    [
        (typed(), 1),
        (functools.partial(typed(), 1), 1),
        (tf.function(typed()), 1),
        (np.vectorize(typed()), 1),
        (typed("class f:\n def __call__(self): pass"), 1),
        (typed("class f:\n def __call__(self): pass")(), 1),
        ([typed(), (typed(), 3.0)], 2),
        ([[[typed()]]], 1),
        ([[[[typed()]]]], 0),
        ([typed()] * 25, 20),
        (itself(), 3),
        (np.sin, 0),
        (functools.wraps, 0),
        (None, 0),
    ],
)
def test_where_the_code_of_an_answer_stands(answer, found):
    """In which cells, be it in a list, in a class, or inside of something else."""
    assert list(files_of(answer)) == ["<cell>"] * found
