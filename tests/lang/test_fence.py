"""What `@gen` refuses when it is applied: the error, its place, and how it prints."""

import importlib.util
import itertools
import traceback

import pytest

from gendsl import GenDSLError
from gendsl.errors import SourceUnavailableError, UnsupportedSyntaxError

NUMBER = itertools.count()
HEADER = "from gendsl import *\nimport gendsl\nimport numpy as np\nd = normal(0, 1)\n"


@pytest.fixture
def load(tmp_path):
    """Load a module from its text."""

    def load(text):
        name = f"fenced_{next(NUMBER)}"
        path = tmp_path / f"{name}.py"
        path.write_text(HEADER + text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


# body, problem, and what the caret marks
REFUSED = {
    "return": ("return ~normal(0, 1)", "a random choice without an address", "~normal(0, 1)"),
    "statement": ("~normal(0, 1)", "a random choice without an address", "~normal(0, 1)"),
    "held distribution": ("return ~d", "a random choice without an address", "~d"),
    "module attribute": ("return ~gendsl.normal(0, 1)", "without an address", "~gendsl.normal(0, 1)"),
    "a maker of distributions": ("return ~iid(d, 2)", "without an address", "~iid(d, 2)"),
    "arithmetic": ("return ~(1 + poisson(3))", "without an address", "~(1 + poisson(3))"),
    "call": ("return ~other(1)", "a random choice without an address", "~other(1)"),
    "argument": ("print(~normal(0, 1))", "without an address", "~normal(0, 1)"),
    "condition": ("if ~bernoulli(0.5): pass", "without an address", "~bernoulli(0.5)"),
    "comprehension": ("return [~d for i in range(3)]", "without an address", "~d"),
    "non-ascii text before": ("é = 'ü', ~d", "without an address", "~d"),
    "inside an address": ("('x', ~d) @ ~other(1)", "without an address", "~d"),
    "inside an index": ("x = {}; x[~d] = ~other(1)", "without an address", "~d"),
    "inside a parameter": ("x = ~normal(~d, 1)", "without an address", "~d"),
    "inside an addressed parameter": ("'x' @ ~normal(~d, 1)", "without an address", "~d"),
    "tuple target": ("a, b = ~mvnormal([0, 0], np.eye(2))", "`(a, b) = ~...` gives no address", "a, b"),
    "list target": ("[a, b] = ~d", "gives no address", "[a, b]"),
    "star target": ("*a, = ~d", "gives no address", "*a,"),
    "attribute": ("x = d; x.y = ~d", "`x.y = ~...` gives no address", "x.y"),
    "attribute of subscript": ("x = d; x[0].y = ~d", "gives no address", "x[0].y"),
    "subscript of attribute": ("x = d; x.y[0] = ~d", "indices must be those of one element", "x.y[0]"),
    "subscript of call": ("dict()[0] = ~d", "gives no address", "dict()[0]"),
    "slice": ("x = [0]; x[0:1] = ~d", "indices must be those of one element", "x[0:1]"),
    "slice in tuple": ("x = [0]; x[0, :] = ~d", "indices must be those of one element", "x[0, :]"),
    "ellipsis index": ("x = [0]; x[...] = ~d", "indices must be those of one element", "x[...]"),
    "annotated attribute": ("x = d; x.y: int = ~d", "gives no address", "x.y"),
    "augmented": ("x = 0; x += ~d", "without an address", "~d"),
    "two targets": ("x = y = ~d", "which of several targets", "x"),
    "empty address": ("() @ ~d", "() is not an address", "()"),
    "list address": ("[1] @ ~d", "an address can't hold a list, set or dict", "[1]"),
    "two in braces": ("{'x', 1} @ ~d", "braces hold one address", "{'x', 1}"),
    "many in braces": ("{*'xy'} @ ~d", "braces hold one address", "{*'xy'}"),
    "braces in braces": ("{{'x'}} @ ~d", "braces hold one address", "{'x'}"),
    "braces inside address": ("('x', {1}) @ ~d", "an address can't hold a list, set or dict", "{1}"),
    "splice of distribution in braces": ("{...} @ ~d", "splices a call of a generative", "{...} @ ~d"),
    "precedence, in braces": ("{'k'} @ ~1 + poisson(3)", "`~` binds", "{'k'} @ ~1 + poisson(3)"),
    "lambda with braces": ("return lambda: {'x'} @ ~d", "inside a nested lambda", "~d"),
    "dict inside address": ("('x', {}) @ ~d", "an address can't hold", "{}"),
    "ellipsis inside address": ("('x', ...) @ ~d", "... can't be part of an address", "..."),
    "splice of distribution": ("... @ ~d", "splices a call of a generative function", "... @ ~d"),
    "uncalled program": ("'x' @ ~other", "~other is not a traced call", "'x' @ ~other"),
    "uncalled program, assigned": ("x = ~other", "~other is not a traced call", "~other"),
    "precedence": ("k = ~1 + poisson(3)", "`~` binds more tightly", "~1 + poisson(3)"),
    "precedence, addressed": ("'k' @ ~1 + poisson(3)", "`~` binds more tightly", "'k' @ ~1 + poisson(3)"),
    "a product, and an address": (
        "k = 2 * ('x', 1) @ ~normal(0, 1)",
        "`*` and `@` bind alike",
        "2 * ('x', 1) @ ~normal(0, 1)",
    ),
    "a quotient, and an address": ("k = 2 / 'x' @ ~normal(0, 1)", "`/` and `@`", "2 / 'x' @ ~normal(0, 1)"),
    "precedence, right": ("k = poisson(3) + ~1", "`~` binds more tightly", "poisson(3) + ~1"),
    "lambda": ("return lambda: 'x' @ ~d", "inside a nested lambda", "~d"),
    "nested def": ("def f(): x = ~normal(0, 1)", "inside a nested def", "~normal(0, 1)"),
    "nested call": ("def f(): x = ~other(1)", "inside a nested def", "~other(1)"),
    "nested default": ("def f(x=~d): pass", "inside a nested def", "~d"),
    "nested class": ("class C: x = ~normal(0, 1)", "inside a nested class", "~normal(0, 1)"),
    "nested async": ("async def f(): x = ~d", "inside a nested async def", "~d"),
    "lambda in comprehension": ("return [lambda: ~d for i in [1]]", "inside a nested lambda", "~d"),
    "yield": ("x = ~d; yield x", "can't be a generator", "yield x"),
    "yield from": ("yield from range(3)", "can't be a generator", "yield from range(3)"),
    "reserved name": ("__gendsl__ = 3", "the name __gendsl__ is gendsl's own", "__gendsl__"),
    "reserved argument": ("print(__gendsl__=3)", "is gendsl's own", "__gendsl__=3"),
    "reserved inside": ("def f(): return __gendsl__", "is gendsl's own", "__gendsl__"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(load, name):
    body, problem, marked = REFUSED[name]
    text = f"@gen\ndef other(n):\n    return n\n@gen\ndef model(a=1):\n    {body}\n"
    with pytest.raises(UnsupportedSyntaxError) as caught:
        load(text)
    error = caught.value
    assert problem in error.problem and error.fix
    line = f"    {body}"
    assert error.lineno == error.location.lineno == 10 and error.location.function == "model"
    start = line.index(marked) if name != "attribute" else line.rindex(marked, 0, line.index(" = ~"))
    if name == "two targets":
        start = 4
    assert line[error.offset - 1 : error.end_offset - 1] == marked
    assert error.offset - 1 == start
    # as a traceback prints it: the line, with the carets below what is meant
    printed = traceback.format_exception_only(error)
    assert printed[0].endswith(f'{error.filename}", line 10\n')
    carets = next(row for row in printed if row.strip() and set(row.strip()) == {"^"})
    source = printed[printed.index(carets) - 1]
    assert source[carets.index("^") :].startswith(marked) and carets.count("^") == len(marked)
    assert "UnsupportedSyntaxError: " in printed[-1] if len(printed) else True
    # as its own text shows it
    shown = str(error).splitlines()
    marks = next(i for i, row in enumerate(shown) if row.strip() and set(row.strip()) == {"^"})
    assert shown[marks - 1][shown[marks].index("^") :].startswith(marked)


@pytest.mark.parametrize(
    "text, problem",
    {
        "async": ("@gen\nasync def model():\n    return 1\n", "a @gen function can't be async"),
        "parameter": ("@gen\ndef model(__gendsl__):\n    return 1\n", "the name __gendsl__ is gendsl's own"),
        "lambda": ("model = gen(lambda: 1)\n", "@gen needs a function defined with `def`"),
        "class": ("@gen\nclass C:\n    pass\n", "@gen needs a function defined with `def`"),
        "twice": ("@gen\n@gen\ndef model():\n    return 1\n", "@gen needs a function defined with `def`"),
        "builtin": ("gen(len)\n", "@gen needs a function defined with `def`"),
        "callable": ("import functools\ngen(functools.partial(print, 1))\n", "@gen needs a function defined"),
    }.values(),
)
def test_refused_definitions(load, text, problem):
    with pytest.raises(UnsupportedSyntaxError) as caught:
        load(text)
    assert problem in caught.value.problem
    assert isinstance(caught.value, (SyntaxError, GenDSLError))


@pytest.mark.parametrize(
    "body",
    [
        "mask = ~np.array([True]); return mask",
        "def f(x): return ~x\n    return f(3)",
        "return (lambda x: 'a' @ ~x if False else 1)(1)",
        "def f():\n        yield 1\n    return list(f())",
        "x = [0]; x[0:1] = ~np.array([3]); return x",
        "a = b = ~3; return a",
        "normal = 3; return ~normal",
        "return [~normal for normal in [1, 2]]",
        "return ~helper(3)",
        "for d in [1]: pass\n    return ~d",
        "import numpy as d\n    return 1",
        "@gen\n    def inner(): return 'x' @ ~d\n    return 'i' @ ~inner()",
        "@gen(debug=False)\n    def inner(): return 'x' @ ~d\n    return 'i' @ ~inner()",
        "try:\n        raise KeyError\n    except KeyError as d:\n        return [not d]",
        "match 3:\n        case d:\n            return ~d",
        "return [1] @ ~np.array([1])",
        "return (lambda x: {'a'} @ ~x if False else 1)(1)",
        "@gen\n    def inner(): return {'x'} @ ~d\n    return {'i'} @ ~inner()",
    ],
)
def test_not_refused(load, body):
    load(f"def helper(x): return x\n@gen\ndef model():\n    {body}\n").model.simulate(rng=1)


def test_what_to_write_for_several_in_braces(load):
    for body, address in (("{'x', a} @ ~d", "('x', a)"), ("{*a} @ ~d", "(*a,)")):
        with pytest.raises(UnsupportedSyntaxError) as caught:
            load(f"@gen\ndef model(a):\n    {body}\n")
        assert caught.value.fix == f"write `{{{address}}} @ ~...`, or `{address} @ ~...`"


@pytest.mark.parametrize("value", ["~d if a else None", "2 * ~d", "[~d, 1]"])
def test_what_to_write_for_a_part_of_a_value(load, value):
    """A name stands before `=` already: that it isn't the address has to be said."""
    with pytest.raises(UnsupportedSyntaxError) as caught:
        load(f"@gen\ndef model(a=1):\n    x = {value}\n")
    assert "all that is behind it" in caught.value.fix and '"name" @ ~...' in caught.value.fix


def test_source_errors_come_before(load):
    with pytest.raises(SourceUnavailableError):
        exec("from gendsl import gen\n@gen\ndef f(): return ~normal(0, 1)\n", {})
