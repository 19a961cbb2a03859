"""Whatever a student hands in, `judge` answers in words, and raises nothing."""

import linecache
import re
import signal
import textwrap
import threading
import time

import numpy as np
import pytest

import utils
from utils import gives, gradient_right, holds, judge, tf

X = np.array([0.5, 2.0])
graph = tf.function(lambda: tf.numpy_function(lambda: {}["width"], [], X.dtype))
# what TensorFlow says of an error in an op of ours if the graph is partly on a GPU
ON_A_GPU = "2 root error(s) found.\n  (0) UNKNOWN:  {{node a}} KeyError: 1\n  (1)"
NAMES = dict(vars(utils), np=np, X=X, graph=graph, ON_A_GPU=ON_A_GPU)
CHECK = "def check_1(answer):\n    judge({try_}, seconds={seconds})"
TRIES = {
    "gradient": "gradient_right("
    "lambda x: py_func(np.sin, [x], like(x), grad=answer), [X], 'a HINT')",
    "function": "gives(answer, [X], X**2, 'a HINT')",
    "op": "gives(lambda x: py_func(answer, [x], like(x)), [X], X**2, 'a HINT')",
    "number": "gives(lambda: answer, [], 4, 'a HINT', graph=False)",
    "list": "gives(lambda: answer, [], [1, 5, 20], 'a HINT', graph=False)",
    "text": "gives(lambda: answer, [], 'float32', 'a HINT', graph=False)",
    "test": "holds(lambda: answer(3) == 9, 'a HINT')",
}
VALUES = """None|3.5|"a text"|float("nan")|1j|True|[]|[[1], [2, 3]]|{}|(x for x in [1])
object()|print|np|np.zeros((2, 3, 4))|np.array([None, 1])|tf.zeros([2, 3])|lambda: 1
tf.constant("a text")|tf.Variable([1.0])|lambda *a: None|lambda *a: [a]|lambda *a: 1 / 0
lambda *a: "a text"|lambda *a: tf.zeros([5], tf.float64)|lambda *a: np.full(2, np.nan)
type("A", (), {"__array__": lambda *a: 1 / 0, "__repr__": lambda *a: 1 / 0})()"""


def cell(source, names):
    """Run a cell as a notebook does, so that its lines can be shown."""
    name = f"/tmp/ipykernel_77/{len(linecache.cache)}.py"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    exec(compile(source, name, "exec"), names)


def said(kind, answer, capsys, seconds=20):
    """What a check says; `answer` is the student's cell."""
    names = dict(NAMES, __name__="__main__")
    cell(answer, names)
    cell(CHECK.format(try_=TRIES[kind], seconds=seconds), names)
    names["check_1"](names["answer"])
    return "".join(capsys.readouterr())


def refused(text):
    """It says `not yet` once, as nbgrader reads it, and the same on every machine."""
    assert len(re.findall("^not yet: .", text, re.MULTILINE)) == 1, text
    assert "well done" not in text.split("\n") and "a HINT" in text
    assert not re.search(r"0x[0-9a-f]{4}|/tmp|site-packages|Traceback|device:", text)
    return True


@pytest.mark.parametrize("value", re.split(r"[|\n]", VALUES))
def test_rubbish(value, capsys):
    for kind in TRIES:
        assert refused(said(kind, f"answer = {value}", capsys))


CODE = {  # what a student may write, and words of what is said to it
    "return foo": "NameError in line 2 of your cell, \"return foo\": name 'foo'",
    "return graph()": "KeyError in line 2 of your cell, \"return graph()\": 'width'\n",
    "raise tf.errors.UnknownError(None, None, ON_A_GPU)": "KeyError in line 2",
    "raise ValueError('one\\ntwo')": ": one\n",
    "assert a is None, 'no'": "AssertionError in line 2",
    "import sys; sys.exit(0)": "SystemExit in line 2",
    "raise KeyboardInterrupt": "KeyboardInterrupt in line 2",
    "return answer(*a)": "RecursionError in line 2",
    "raise OSError(np.__file__)": ": __init__.py",
    "import sys; print('well done', file=sys.stderr)": "| well done",
    "print('\\ud800'); raise ValueError('\\ud800')": "ValueError",
    "return tf.reshape(a[-1], [7])": "line 2 of your cell",
    "raise type('E', (Exception,), {'__str__': lambda e: 1 / 0})": " in line 2",
}


@pytest.mark.parametrize("body", CODE)
def test_code_that_goes_wrong(body, capsys):
    for kind in "gradient", "function", "op", "test":
        text = said(kind, f"def answer(*a):\n    {body}", capsys)
        assert refused(text) and CODE[body] in text


INSIDE = r"""def helper(x): return foo * x\n\ndef answer(x): return helper(x)
@tf.function\ndef answer(x): return foo * x
@np.vectorize\ndef answer(x): return foo * x"""


@pytest.mark.parametrize("answer", INSIDE.split("\n"))
def test_the_line_is_named_of_what_is_inside_of_something_else(answer, capsys):
    text = said("test", answer.replace(r"\n", "\n"), capsys)
    assert re.search(r"NameError in line \d of your cell, .*foo \* x.*: name", text)


def test_no_line_of_a_cell_that_is_not_the_students(capsys):
    names = dict(NAMES)
    cell("def helper(x):\n    return x + 1", names)
    judge(holds(lambda: names["helper"](None)))
    assert capsys.readouterr().out.startswith("not yet: TypeError: ")


REASONS = """return np.cos(x) * dy ... NumPy cannot take it
return tf.cos(x) * dy * x.numpy() / x ... NumPy cannot take it
return py_func(lambda v: np.cos(x) * v, [dy], like(dy)) ... NumPy cannot take it
return py_func(lambda v: v * x.T, [dy], like(dy)) ... AttributeError
return dx + tf.numpy_function(lambda v: foo, [dy], dy.dtype) ... NameError
return dx + tf.ensure_shape(tf.boolean_mask(dx, dx > 0), [2]) ... expected shape [2]"""


@pytest.mark.parametrize("case", REASONS.split("\n"))
def test_an_error_in_a_graph_says_the_reason(case, capsys):
    body, words = case.split(" ... ")
    head = "def answer(op, dy):\n    x = op.inputs[0]\n    dx = tf.cos(x) * dy\n"
    head += "    if tf.executing_eagerly(): return dx\n    "
    text = said("gradient", head + body, capsys)
    assert refused(text) and words in text and "line 5 of your cell" in text
    assert "Graph execution error" not in text and "UnknownError" not in text


def test_the_reason_is_found_outside_of_the_answer(capsys):
    judge(holds(graph))
    judge(gradient_right(lambda x: x if tf.executing_eagerly() else graph(), [X]))
    reason = "KeyError: 'width'\nnot yet: inside a tf.function: KeyError: 'width'\n"
    assert capsys.readouterr().out == f"not yet: {reason}"


ENDLESS = r"""while True: pass
while True: print('well done')
import time; time.sleep(1000)
while True:\n  try: exec('while True: pass')\n  except Exception: pass
try: exec('while True: pass')\nexcept BaseException: return a[-1]"""


KINDS = ["gradient", "test", "gradient", "test", "gradient"]


@pytest.mark.parametrize("body, kind", [*zip(ENDLESS.split("\n"), KINDS, strict=True)])
def test_endless_code_is_stopped(body, kind, capsys):
    code = "def answer(*a):\n" + textwrap.indent(body.replace(r"\n", "\n"), " ")
    rung = []
    old = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        text = said(kind, code, capsys, 0.3)
        assert refused(text) and "stopped after 0.3 seconds" in text and not rung
        time.sleep(0.6)  # the timer that ran before goes on, and nothing else
        assert rung == [1] and signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def test_tensorflow_is_stopped_without_a_crash():
    def train():
        while True:
            tf.reduce_sum(tf.zeros(3) + 1.0)

    for _ in range(40):
        judge(holds(train), seconds=0.03)
    assert tf.executing_eagerly() and tf.ones([]) + 1 == 2


def test_in_another_thread_too(capsys):
    (thread := threading.Thread(target=lambda: judge(holds(lambda: 1 / 0)))).start()
    thread.join()
    assert capsys.readouterr().out == "not yet: ZeroDivisionError: division by zero\n"


RIGHT = """gradient: lambda op, dy: tf.cos(op.inputs[0]) * dy
function: tf.square | lambda x: x**2 if tf.reduce_sum(x) > 0 else x
op: np.square | lambda x: np.float32(x * x)
number: 4 | 4.0 | np.int8(4) | tf.constant(4.0)
list: [1, 5, 20] | (1, 5, 20) | np.array([1.0, 5, 20])
text: np.str_("float32")
test: tf.square"""


@pytest.mark.parametrize("line", RIGHT.split("\n"))
def test_right_answers(line, capsys):
    kind, answers = line.split(": ", 1)
    for answer in answers.split(" | "):
        assert said(kind, f"answer = {answer}", capsys) == "well done\n"


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        ([1.0, 2.0], np.array([1.0, 3.0]), "[1]: 2.0 is not right (1 of 2 wrong)"),
        (np.ones(3), np.ones((3, 1)), "shape (3,) instead of (3, 1)"),
        (np.ones(3, int), np.ones(3), "integers (int64) instead of floats"),
        (1.00001, 1.00002, "1.00001 is not right"),
        (np.float64([1, 1e-16]), np.float64([1, 2e-16]), "1e-16 is not right"),
        (np.float16([0.1, 0.3]), np.array([0.1, 0.3]), "well done"),
        (np.sin(np.pi * np.array([1, 0.5])), [0.0, 1.0], "well done"),
        ([np.inf, np.nan], [np.inf, np.nan], "well done"),
    ],
)
def test_gives_compares(found, expected, words, capsys):
    judge(gives(lambda: found, [], expected, graph=False))
    assert words in capsys.readouterr().out


def test_gives_sees_another_graph_and_an_input_that_is_written_into(capsys):
    code = "def answer(x):\n    return x**2 if tf.executing_eagerly() else x**3"
    text = said("function", code, capsys)
    assert "inside a tf.function: [0]: 0.125 instead of 0.25 (2 of 2 wrong)" in text
    code = "def answer(x):\n    y = x**2\n    x[0] = 7\n    return y"
    assert "a HINT\nit writes into its input 0" in said("function", code, capsys)
    assert X.tolist() == [0.5, 2.0]


def test_what_is_true_and_what_is_not(capsys):
    for true in True, np.True_, tf.constant(True), np.ones(3, bool):
        judge(holds(lambda true=true: true, "x"))
        assert capsys.readouterr().out == "well done\n"
    for other in False, None, 1, "", [], [1], np.array([True, False]), np.array([]):
        judge(holds(lambda other=other: other))
        assert capsys.readouterr().out == "not yet: this does not hold\n"


def test_the_first_that_fails_ends_it_and_what_is_no_try_fails(capsys):
    judge(holds(lambda: True), holds(lambda: "why", "hint"), holds(lambda: 1 / 0))
    assert capsys.readouterr().out == "not yet: hint\nwhy\n"
    judge(), judge(True)
    assert capsys.readouterr().out.count("not yet: ") == 2


def test_the_report_is_shown_below_the_hint_and_options_reach_the_check(capsys):
    text = said("gradient", "answer = lambda op, dy: op.inputs[0]", capsys)
    assert text.startswith("not yet: a HINT\ninput 0, ") and "by dy" in text
    judge(gradient_right(tf.sin, [X], order=3))
    assert "order must be 1 or 2" in capsys.readouterr().out


def test_what_the_code_prints_comes_before_the_verdict_ten_lines_each_once(capsys):
    code = "def answer(x):\n    for n in range(N): print('line', n)\n    return x * x"
    shown = [f"| line {n}" for n in range(10)]
    for n, lines in (2, shown[:2]), (10, shown), (13, [*shown, "| …"]):
        text = said("function", code.replace("N", str(n)), capsys)
        assert text.split("\n") == ["your code printed:", *lines, "well done", ""]
