"""The generated code as text."""

import ast
import subprocess
import sys

import astor
import pytest

import gendsl.runtime.watched
from gendsl import gen, normal
from gendsl.lang.render import render


def parse(text):
    return ast.parse(text).body[0]


def test_source_is_what_runs():
    @gen
    def model(n):
        """Documented."""
        x = [0.0] * n
        for i in range(n):
            x[i] = ~normal(0, 1)
        return "total" @ ~normal(sum(x), 1)

    assert model.compiled.rewritten == (
        "def model(n, *, __gendsl__):\n"
        '    """Documented."""\n'
        "    x = [0.0] * n\n"
        "    for i in range(n):\n"
        "        x[i] = __gendsl__.at(('x', i), __gendsl__.callee(normal)(0, 1), True)\n"
        "    return __gendsl__.at('total', __gendsl__.callee(normal)(sum(x), 1))\n"
    )
    assert model.compiled.node.decorator_list  # its lines stay, they just aren't shown
    assert model.reference.source == model.compiled.rewritten


def test_source_shows_the_pieces_that_updates_execute(monkeypatch):
    monkeypatch.setattr(gendsl.runtime.watched, "_RUNTIME", "compiled")
    monkeypatch.setattr(gendsl.runtime.generative, "runs_whole", lambda: False)

    @gen
    def model(n):
        x = ~normal(n, 1)
        return x + 1

    line = model.compiled.origin.node.lineno
    assert model.source == (
        f"{model.compiled.rewritten}\n\n"
        f"# line {line + 1}\n"
        "def _0(__gendsl_frame_0__, *, __gendsl__):\n"
        "    n = __gendsl_tools__.whole(__gendsl_frame_0__[4])\n"
        "    return __gendsl__.callee(normal)(n, 1)\n\n"
        f"# line {line + 1}\n"
        "def _1(__gendsl_frame_0__, *, __gendsl__):\n"
        "    return 'x',\n\n"
        f"# line {line + 2}\n"
        "def _2(__gendsl_frame_0__, *, __gendsl__):\n"
        "    x = __gendsl_tools__.whole(__gendsl_frame_0__[5])\n"
        "    return x + 1\n"
    )


def test_an_opaque_body_has_no_pieces():
    @gen
    def model():
        x = ~normal(0, 1)
        del x

    assert model.source == model.compiled.rewritten


def test_astor_where_it_can():
    node = parse("def f(x):\n    if not x:\n        return x.y[1:2] + {'a': (lambda: 3)}['a']()\n")
    assert render(node) == astor.to_source(node)


NOT_ASTORS = {
    "match": "def f(x):\n    match x:\n        case [1, *rest] if rest:\n            return rest\n",
    "except*": "def f(x):\n    try:\n        x()\n    except* ValueError as e:\n        return e\n",
}
if sys.version_info >= (3, 12):
    NOT_ASTORS["type"] = "def f(x):\n    type X = int\n    return X\n"
    NOT_ASTORS["generic"] = "def f[T, *S, **P](x: T) -> T:\n    return x\n"
    NOT_ASTORS["nested quotes"] = "def f(x):\n    return f'{x['a']}'\n"


@pytest.mark.parametrize("name", NOT_ASTORS)
def test_unparse_where_astor_cannot(name):
    node = parse(NOT_ASTORS[name])
    text = render(node)
    assert ast.dump(parse(text)) == ast.dump(node)


@pytest.mark.parametrize(
    "text",
    [
        "def f(a, /, b, *, c=1, **d):\n    return a if b else (yield c)\n",
        "async def f():\n    async with a as b, c:\n        await b\n",
        "def f():\n    return f'{x!r:>{width}} {{}}' 'é' + b'\\x00'.decode() + '''a\nb'''\n",
        "def f():\n    return -1 ** 2, (-1) ** 2, 1e300 * 1e300, not (a and b), a @ ~b, 10 ** -3\n",
        "def f():\n    x: int\n    (y): str = '\\n'\n    return (z := 3), [*a, b], {**c}, a[1:2, ::3, ...]\n",
    ],
)
def test_rendered_text_is_the_same_program(text):
    node = parse(text)
    assert ast.dump(parse(render(node))) == ast.dump(node)


def test_debug_prints(capsys, monkeypatch):
    def function(n):
        return "x" @ ~normal(n, 1)

    model = gen(debug=True)(function)
    assert capsys.readouterr().out == model.source + "\n"
    gen(function), gen(debug=False)(function), gen()(function)
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("GENDSL_DEBUG", "1")
    gen(function), gen()(function)
    assert capsys.readouterr().out == 2 * (model.source + "\n")
    gen(debug=False)(function)
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("GENDSL_DEBUG", "0")
    gen(function)
    assert capsys.readouterr().out == ""


def test_importing_gendsl_warns_of_nothing():
    subprocess.run([sys.executable, "-W", "error", "-c", "import gendsl"], check=True)
