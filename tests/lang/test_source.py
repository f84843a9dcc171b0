"""Where models may be defined, what is refused, and what tracebacks, debuggers and coverage see."""

import bdb
import importlib.util
import inspect
import itertools
import linecache
import os
import pathlib
import subprocess
import sys
import traceback

import pytest

from gendsl import gen, normal, select
from gendsl.errors import ParameterError, SourceUnavailableError
from gendsl.inference import mh
from gendsl.lang.source import find_source

ROOT = str(pathlib.Path(__file__).parents[2])
NUMBER = itertools.count()
MODEL = """\
from gendsl import gen, normal
@gen
def model():
    return "x" @ ~normal({mean}, 1e-9)
"""


def load(path, name=None):
    name = name or f"sourced_{next(NUMBER)}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def register(filename, text):
    """Put text into linecache, as interactive shells do."""
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)


def executed(text, filename, **names):
    namespace = {"__name__": "executed", **names}
    exec(compile(text, filename, "exec"), namespace)
    return namespace


def python(*arguments, stdin=None, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ROOT, **environment},
    )


# --- where a model may be defined ------------------------------------------------------------------


def test_a_module_with_future_annotations(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        '"""Doc."""\nfrom __future__ import annotations\nfrom gendsl import gen, normal\n'
        "import os.path, math as m\nfrom collections import *\n"
        "@gen\ndef model(n: Undefined, *, k: Missing = 1) -> AlsoMissing:\n"
        "    x: NotThere = ~normal(n, m.exp(-20))\n"
        "    def inner(y: Nowhere): return os.path.join(y, y)\n"
        "    return inner('a'), inner.__annotations__\n"
    )
    model = load(path).model
    assert model.simulate((3,), rng=1).retval == (os.path.join("a", "a"), {"y": "Nowhere"})
    assert str(inspect.signature(model)) == "(n: 'Undefined', *, k: 'Missing' = 1) -> 'AlsoMissing'"


def test_a_script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(MODEL.format(mean=5) + "print(round(model.simulate(rng=1).retval), model.source)\n")
    done = python(str(path))
    assert done.stderr == "" and done.stdout.startswith("5 def model(*, __gendsl__):")


def test_a_model_in_main_pickles(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(
        "import pickle\n" + MODEL.format(mean=5) + "t = model.simulate(rng=1)\n"
        "again, same = pickle.loads(pickle.dumps((t, model)))\n"
        "print(again.choices == t.choices, same == model)\n"
    )
    assert python(str(path)).stdout == "True True\n"


@pytest.mark.parametrize("way", ["-c", "stdin"])
def test_without_a_file_it_works_or_says_what_to_do(way):
    text = MODEL.format(mean=5) + "print(round(model.simulate(rng=1).retval))\n"
    done = python("-c", text) if way == "-c" else python("-", stdin=text)
    if done.stdout:
        assert (done.stdout, done.stderr) == ("5\n", "")
    else:
        assert "SourceUnavailableError: the source of model is not available" in done.stderr
        assert "save the code in a file and import it" in done.stderr


IPYTHON = """
import sys, warnings
warnings.simplefilter("ignore")
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
def cell(text):
    result = shell.run_cell(text, store_history=True)
    result.raise_error()
    return result.result
cell("import math\\nfrom gendsl import gen, normal\\nimport numpy as np")
cell('''
import os
@gen
def model(n):
    a = np.zeros(n)
    for i in range(n):
        a[i] = ~normal(math.exp(1) + np.float64(0), 1e-9)
    return a.sum(), os.getpid()
''')
assert abs(cell("model.simulate((2,), rng=1).retval[0]") - 5.43656) < 1e-4
cell('''
@gen
def model(n):
    a = ~normal(7, 1e-9)
    return a
''')
assert abs(cell("model.simulate((2,), rng=1).retval") - 7) < 1e-4
# one cell: a magic, a helper and two models, one calling the other and itself
cell('''
%precision 3
def helper(x):
    return math.exp(x)
@gen
def down(n):
    return 0.0 if n == 0 else "v" @ ~normal(1, 1e-9) + ("d" @ ~down(n - 1))
@gen
def both(n):
    return helper(0) * ("d" @ ~down(n))
await_me = 1
''')
assert abs(cell("both.simulate((3,), rng=1).retval") - 3) < 1e-4
grad = cell("from gendsl import select\\nboth.simulate((1,), rng=1).gradients(select('d'))")
assert len(grad) == 1
try:
    cell("@gen\\ndef wrong():\\n    return ~normal(0, 1)")
except SyntaxError as error:
    assert error.lineno == 3 and error.text.strip() == "return ~normal(0, 1)", error.text
else:
    raise AssertionError
try:
    cell("@gen\\ndef fails():\\n    x = ~normal(0, -1)\\n    return x\\nfails.simulate(rng=1)")
except ValueError as error:
    assert error.address == ("x",) and error.location.lineno == 3, error
else:
    raise AssertionError
shell.run_cell_magic("capture", "", "@gen\\ndef captured():\\n    return 'x' @ ~normal(3, 1e-9)")
assert abs(cell("captured.simulate(rng=1).retval") - 3) < 1e-4
try:
    shell.run_cell_magic("time", "", "@gen\\ndef timed():\\n    return 'x' @ ~normal(3, 1e-9)")
    assert abs(cell("timed.simulate(rng=1).retval") - 3) < 1e-4
except OSError as error:
    assert "the source of timed is not available" in str(error)
cell("from __future__ import annotations")
cell("@gen\\ndef annotated(n: Nowhere):\\n    return 'x' @ ~normal(n, 1e-9)")
assert abs(cell("annotated.simulate((4,), rng=1).retval") - 4) < 1e-4
print("done")
"""


@pytest.mark.slow
def test_ipython_cells(tmp_path):
    done = python("-c", IPYTHON, IPYTHONDIR=str(tmp_path))
    assert done.stdout.endswith("done\n"), done.stdout + done.stderr


def test_exec_without_source(monkeypatch):
    monkeypatch.delitem(linecache.cache, "<string>", False)  # the text of `python -c`, from Python 3.13 on
    with pytest.raises(SourceUnavailableError) as caught:
        exec(MODEL.format(mean=1), {})
    assert caught.value.problem == "the source of model is not available (its file is '<string>')"
    assert caught.value.fix.startswith("save the code in a file and import it, or run it in an IPython")


def test_exec_with_registered_source():
    text = MODEL.format(mean=4)
    register("<registered>", text)
    model = executed(text, "<registered>")["model"]
    assert model.simulate(rng=1).retval == pytest.approx(4)


# --- never another function's text -----------------------------------------------------------------


DIFFERENT = {
    "number": MODEL.format(mean=2),
    "kind of number": MODEL.format(mean=1.0),
    "order": MODEL.format(mean=1).replace("1, 1e-9", "1e-9, 1"),
    "operator": MODEL.format(mean="1").replace('"x" @ ~', '"x" @ -'),
    "address": MODEL.format(mean=1).replace('"x"', '"y"'),
    "function": MODEL.format(mean=1).replace("~normal", "~laplace"),
    "argument": MODEL.format(mean=1).replace("model()", "model(x)"),
    "name": MODEL.format(mean=1).replace("def model", "def other"),
    "line": "\n" + MODEL.format(mean=1),
    "default of an inner function": MODEL.format(mean=1).replace("return", "f = lambda x=1: x; return"),
    "no code": "# nothing\n",
    "no Python": "def (:\n",
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_another_text_under_the_same_file_name(name):
    filename = "<string>"
    register(filename, DIFFERENT[name])
    try:
        with pytest.raises(SourceUnavailableError, match=r"is not what is running|doesn't parse any more"):
            executed(MODEL.format(mean=1), filename)
        register(filename, MODEL.format(mean=1))
        model = executed(MODEL.format(mean=1), filename)["model"]
    finally:
        del linecache.cache[filename]
    assert model.simulate(rng=1).retval == pytest.approx(1)


def test_two_texts_with_one_name_and_line():
    models = {}
    for mean in (1, 2):
        register(f"<cell {mean}>", MODEL.format(mean=mean))
        models[mean] = executed(MODEL.format(mean=mean), f"<cell {mean}>")["model"]
    for mean, model in models.items():
        assert model.simulate(rng=1).retval == pytest.approx(mean)


def test_a_file_edited_after_import(tmp_path):
    path = tmp_path / "edited.py"
    path.write_text("def model():\n    return 'x' @ ~normal(1, 1e-9)\n\ndef other():\n    return 1\n")
    module = load(path)
    linecache.getlines(str(path))
    path.write_text("def model():\n    return 'x' @ ~normal(2, 1e-9)\n\ndef other():\n    return 1\n# more\n")
    with pytest.raises(SourceUnavailableError, match="the file was edited since"):
        gen(module.model)
    assert gen(module.other).simulate(rng=1).retval == 1  # this one is what it was
    path.write_text("\n\ndef model(:\n")
    with pytest.raises(SourceUnavailableError, match="doesn't parse any more"):
        gen(module.model)
    path.unlink()
    with pytest.raises(SourceUnavailableError, match="is not available"):
        gen(module.model)


def test_functions_that_assert_under_pytest():
    # pytest compiles these with more in them than their text says
    def asserting(n, k=1):
        assert n == 3, f"n was {n}"
        return [("x", i) @ ~normal(i, 1e-9) for i in range(n)]

    assert gen(asserting).simulate((3,), rng=1).retval == pytest.approx([0, 1, 2], abs=1e-6)
    with pytest.raises(AssertionError, match="n was 4"):
        gen(asserting).simulate((4,), rng=1)

    text = linecache.getlines(__file__)
    code = asserting.__code__.replace(co_filename="<rewritten>")
    moved = type(asserting)(code, globals())
    for old, new in {"": "", "range(n)": "range(k)", "~normal(i, 1e-9)": "~normal(i, 1e-8)"}.items():
        line = code.co_firstlineno + 1
        other = [*text[:line], text[line].replace(old, new), *text[line + 1 :]]
        register("<rewritten>", "".join(other))
        if not old:
            assert find_source(moved, "gen").filename == "<rewritten>"
            continue
        with pytest.raises(SourceUnavailableError):
            find_source(moved, "gen")


def test_definitions_by_branch_and_by_nesting(tmp_path):
    path = tmp_path / "branches.py"
    path.write_text(
        "from gendsl import gen, normal\nimport sys\n"
        "if sys.version_info < (3, 0):\n"
        "    @gen\n    def model():\n        return 'x' @ ~normal(1, 1e-9)\n"
        "else:\n"
        "    @gen\n    def model():\n        return 'x' @ ~normal(2, 1e-9)\n"
        "def make(a):\n"
        "    class Local:\n"
        "        @gen\n        def model(self):\n"
        "            return 'x' @ ~normal(a, 1e-9), Local, __class__\n"
        "    return Local\n"
        "try:\n    pass\nfinally:\n"
        "    for i in range(3):\n"
        "        @gen\n        def loop(): return 'x' @ ~normal(i, 1e-9)\n"
        "def uses_global():\n"
        "    global made_global\n"
        "    @gen\n    def made_global(n): return 0 if n == 0 else 1 + ('x' @ ~made_global(n - 1))\n"
        "uses_global()\n"
        "def shadow():\n"
        "    @gen\n    def shadow(): return shadow\n"
        "    return shadow\n"
    )
    module = load(path)
    assert module.model.simulate(rng=1).retval == pytest.approx(2)
    local = module.make(5)
    assert local().model.simulate(rng=1).retval == (pytest.approx(5), local, local)
    assert module.loop.simulate(rng=1).retval == pytest.approx(2)
    assert module.made_global.simulate((3,), rng=1).retval == 3
    shadow = module.shadow()
    assert shadow.simulate(rng=1).retval is shadow


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters")
def test_generics(tmp_path):
    path = tmp_path / "generic.py"
    path.write_text(
        "from gendsl import gen, normal\n"
        "@gen\ndef first[T, *S](x: T, *rest: *S) -> T:\n"
        "    y: T = ~normal(x, 1e-9)\n    return T.__name__, y\n"
        "@gen\ndef plain[T: int](x: T) -> T:\n    return 'y' @ ~normal(x, 1e-9)\n"
        "class Box[T]:\n"
        "    @gen\n    def method[U](self, x: T, y: U) -> T:\n"
        "        type Both = tuple[T, U]\n"
        "        return T.__name__, U.__name__, 'z' @ ~normal(x, 1e-9), Both\n"
        "def outer(n):\n"
        "    @gen\n    def inner[T](x: T): return [T, n, 'z' @ ~normal(x, 1e-9)]\n"
        "    return inner\n"
    )
    module = load(path)
    assert module.first.simulate((3,), rng=1).retval == ("T", pytest.approx(3))
    assert module.plain.simulate((3,), rng=1).retval == pytest.approx(3)
    assert module.Box().method.simulate((4, 5), rng=1).retval[:3] == ("T", "U", pytest.approx(4))
    assert module.outer(7).simulate((1,), rng=1).retval[1:] == [7, pytest.approx(1)]
    assert module.first.source.startswith("def first[T, *S](x: T, *rest: *S, __gendsl__) -> T:\n")


# --- tracebacks, debuggers, coverage ---------------------------------------------------------------


def helper(x):
    return 1 / x  # helper line


@gen
def raises(n):
    values = [("x", i) @ ~normal(0, 1) for i in range(n)]
    return (
        "y"
        @ ~normal(
            0, helper(0)  # the call
        )
    )  # fmt: skip


@gen
def outer(n):
    return "inner" @ ~raises(n)  # the traced call


def test_tracebacks_show_the_users_lines():
    with pytest.raises(ZeroDivisionError) as caught:
        outer.simulate((2,), rng=1)
    frames = [f for f in traceback.extract_tb(caught.tb) if f.filename == __file__][1:]
    assert [(f.name, f.line) for f in frames] == [
        ("outer", 'return "inner" @ ~raises(n)  # the traced call'),
        ("raises", "0, helper(0)  # the call"),
        ("helper", "return 1 / x  # helper line"),
    ]
    text = linecache.getline(__file__, frames[1].lineno)
    assert text[frames[1].colno : frames[1].end_colno] == "helper(0)"
    text = linecache.getline(__file__, frames[0].lineno)
    assert text[frames[0].colno : frames[0].end_colno] == '"inner" @ ~raises(n)'


def test_an_address_is_looked_for_in_the_right_file():
    # the generator's frame is of another file, where the same line and columns mean something else
    late = (
        "from gendsl import gen, normal\n@gen\ndef late():\n"
        "    return [(('y', i) @ ~normal(0, -1) for i in range(2))]\n"
    )
    early = (
        "from gendsl import gen, normal\n@gen\ndef early(late):\n"
        "    return 'a longer address, to stand at the same columns' @ ~normal(next(('c' @ ~late())[0]), 1)\n"
    )
    programs = []
    for name, text in (("late", late), ("early", early)):
        register(f"<{name}>", text)
        programs.append(executed(text, f"<{name}>")[name])
    with pytest.raises(ParameterError) as caught:
        programs[1].simulate((programs[0],), rng=1)
    assert caught.value.address is None and caught.value.location.filename == "<late>"


class Debugger(bdb.Bdb):
    """Stops at breakpoints and notes where, and what the local variables are."""

    def __init__(self):
        super().__init__()
        self.stops = []

    def user_line(self, frame):
        if self.break_here(frame):
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
            self.stops.append((frame.f_code.co_name, line, dict(frame.f_locals)))
        self.set_continue()


@gen
def debugged(n):
    total = 0.0
    for i in range(n):
        x = ("x", i) @ ~normal(i, 1e-9)
        total += x  # break here
    return total


def test_the_line_of_a_call_is_shown_when_an_update_fails():
    @gen
    def inner(x):
        return 1 / x  # the division

    @gen
    def caller():
        x = ~normal(0, 1)
        return "inner" @ ~inner(x)  # the call

    trace = caller.simulate(rng=1)
    for fails in (lambda: trace.update({"x": 0.0}), lambda: caller.generate((), {"x": 0.0})):
        with pytest.raises(ZeroDivisionError) as caught:
            fails()
        frames = [f for f in traceback.extract_tb(caught.tb) if f.filename == __file__][2:]
        assert [(f.name, f.line) for f in frames] == [
            ("caller", 'return "inner" @ ~inner(x)  # the call'),
            ("inner", "return 1 / x  # the division"),
        ]


def test_breakpoints():
    lines, first = inspect.getsourcelines(debugged)
    line = next(first + i for i, text in enumerate(lines) if "break here" in text)
    debugger = Debugger()
    assert debugger.set_break(__file__, line) is None
    trace = debugger.runcall(debugged.simulate, (3,), rng=1)
    assert [stop[:2] for stop in debugger.stops] == [("debugged", "total += x  # break here")] * 3
    assert [stop[2]["i"] for stop in debugger.stops] == [0, 1, 2]
    assert [stop[2]["x"] for stop in debugger.stops] == list(trace.choices.values())
    assert debugger.stops[2][2]["total"] == trace["x", 0] + trace["x", 1]


def test_breakpoints_in_a_body_whose_trace_was_made_before():
    lines, first = inspect.getsourcelines(debugged)
    line = next(first + i for i, text in enumerate(lines) if "break here" in text)
    trace = debugged.simulate((3,), rng=1)
    for operation in (
        lambda: trace.update({("x", 0): 2.0}),
        lambda: trace.regenerate(select(("x", 0)), rng=1),
        lambda: mh(select(("x", 0)))(trace, 1),
    ):
        debugger = Debugger()
        assert debugger.set_break(__file__, line) is None
        debugger.runcall(operation)
        assert [stop[2]["i"] for stop in debugger.stops] == [0, 1, 2]
    assert trace.update({("x", 0): 2.0}).trace["x", 0] == 2.0  # and without the debugger


def test_stepping_visits_the_lines_of_the_file():
    visited = []

    def tracer(frame, event, argument):
        if frame.f_code.co_filename != __file__ or frame.f_code.co_name != "debugged":
            return tracer
        if event == "line":
            visited.append(linecache.getline(__file__, frame.f_lineno).strip())
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        debugged.simulate((1,), rng=1)
    finally:
        sys.settrace(before)
    assert visited == [
        "total = 0.0", "for i in range(n):", "x = (\"x\", i) @ ~normal(i, 1e-9)", "total += x  # break here",
        "for i in range(n):", "return total",
    ]  # fmt: skip


def test_coverage(tmp_path):
    pytest.importorskip("coverage")
    path = tmp_path / "covered.py"
    path.write_text(
        "from gendsl import gen, normal, bernoulli\n"
        "@gen\n"
        "def model(n):\n"
        "    x = ~normal(0, 1)\n"
        "    if n:\n"
        "        y = ~normal(\n"
        "            x,\n"
        "            1,\n"
        "        )\n"
        "    else:\n"
        "        y = ~normal(x, 2)\n"
        "    return [\n"
        "        ('z', i) @ ~normal(y, 1)\n"
        "        for i in range(n)\n"
        "    ]\n"
        "model.simulate((2,), rng=1)\n"
    )
    script = (
        "import coverage, runpy, sys\n"
        f"c = coverage.Coverage(data_file=None, include=[{str(path)!r}], branch=True)\n"
        f"c.start(); runpy.run_path({str(path)!r}); c.stop()\n"
        f"print(c.analysis2({str(path)!r})[3], c._analyze({str(path)!r}).missing_branch_arcs())\n"
    )
    done = python("-c", script)
    assert done.stdout.startswith("[11] "), done.stdout + done.stderr
    assert "{5: [11]}" in done.stdout


def test_profilers_name_the_function():
    import cProfile
    import pstats

    profile = cProfile.Profile()
    profile.runcall(debugged.simulate, (3,), rng=1)
    names = {key[2]: key[0] for key in pstats.Stats(profile).stats}
    assert names["debugged"] == __file__
