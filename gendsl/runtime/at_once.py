"""Bodies whose choices are drawn, scored or looked at again by statements of the body's own.

A choice from one of gendsl's own families of one number takes no call at all but for those that its formulas
make; nor does one that an edit leaves as it was. Whatever is out of the ordinary goes the usual way, so
nothing but the time depends on this module.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import threading
from collections.abc import Callable
from math import inf
from typing import Any

from gendsl.address import as_path
from gendsl.choices import MISSING
from gendsl.errors import EXECUTION, ParameterError
from gendsl.lang.source import Source
from gendsl.lang.trees import Transformer, clone
from gendsl.runtime.executions import Assess, Execution, Simulate
from gendsl.runtime.lowering.build import Compiled
from gendsl.runtime.lowering.methods import Constants, assign, load, made, own, value_of
from gendsl.runtime.lowering.spread import Making, spread, spread_statements
from gendsl.runtime.records import PLAIN_FAMILIES, UNCHANGEABLE, detached, drawn, is_unchanged
from gendsl.runtime.reexecutions import Update
from gendsl.runtime.remade import is_remade

_KEEP = """\
if SECOND:
    raise __gendsl__.twice(path)
records[path] = record
__gendsl__.score += score
"""
"""How a record is kept. It is not a second one where no other choice has such an address."""


def _indented(text: str, levels: int = 1) -> str:
    return "".join(f"{'    ' * levels}{line}\n" for line in text.splitlines())


def _found(lookups: str) -> str:
    """Statements that look something up at the address of a choice."""
    explained = """\
except TypeError:
    as_path(path)  # explains what can't be an address
    raise
"""
    return f"try:\n{_indented(lookups)}{explained}"


_RECORDS = """\
records = __gendsl__.records
"""
"""What a body begins with in which choices are made."""

_DRAWN = (
    """\
MAKE
DRAW
try:
    if type(value) is number:
        SCORE
    else:
        score = inf
except OverflowError:
    score = inf
if score - score == 0.0:
    record = distribution, value, score
else:
    record = drawn(distribution, value)
    score = record[2]
"""
    + _found(_KEEP)
)
"""How a choice is made that is drawn. (What is infinite or NaN is NaN when it is taken from itself.)"""

_SCORED = """\
try:
    if type(value) is number:
        SCORE
    else:
        score = inf
except (TypeError, OverflowError):
    score = inf
if score - score == 0.0:
    record = distribution, value, score
"""

_GIVEN = (
    "MAKE\n"
    + _found("value = given(path)")
    + _SCORED
    + _indented(_KEEP)
    + """\
else:
    value = __gendsl__.at(path, distribution)
"""
)
"""How a choice is made that is given."""

_GET = """\
given = __gendsl__.values.get
"""

_FIRST = """\
old = __gendsl__.old.get
values = __gendsl__.values
prefix = __gendsl__.prefix
"""
"""What a body begins with in which choices are made again, besides."""

_BEFORE = """\
if prefix:
    path = prefix + path
before = old(path)
"""

_KEEP_BEFORE = _KEEP.replace("= record", "= before").replace("score += score", "score += before[2]")

_KEPT = (
    _indented(_KEEP_BEFORE)
    + """\
    value = before[1]
    if type(value) not in UNCHANGEABLE:
        value = detached(value)
"""
)
"""How a choice of any class is kept as it was, where a test above says that it is."""

_AGAIN = (
    _BEFORE
    + "if path not in values and before is not None and SAME:\n"
    + _indented(_KEEP_BEFORE)
    + """\
    value = before[1]
else:
    MAKE
    value = values.get(path, MISSING)
    if value is MISSING and before is not None:
        value = before[1]
        if type(before[0]) is not type(distribution):
            __gendsl__.remade.append(path)
"""
    + _indented(_SCORED)
    + """\
        if before is None:
            __gendsl__.added += 1
"""
    + _indented(_KEEP, 2)
    + """\
    else:
        value = __gendsl__.at(path[len(prefix):], distribution)
"""
)
"""How a choice is made again that is given, or is what it was. (Infinite scores show in the sum.)"""

_ANY_AGAIN = (
    _BEFORE
    + """\
if path not in values and before is not None and (
    distribution is before[0] or is_unchanged(distribution, before[0])
):
"""
    + _KEPT
    + """\
else:
    value = __gendsl__.again(path, distribution, sugar, before, values.get(path, MISSING))
"""
)
"""The same where its distribution is of any class."""

_CALLED_AGAIN = (
    _BEFORE
    + """\
distribution = None
if path not in values and before is not None and (
    (was := before[0]._arguments) is not None and was[0] is kind and ALIKE
    or is_remade(kind, (ARGUMENTS,), distribution := CALLED(ARGUMENTS), before[0])
):
"""
    + _KEPT
    + """\
else:
    if distribution is None:
        distribution = CALLED(ARGUMENTS)
    value = __gendsl__.again(path, distribution, sugar, before, values.get(path, MISSING))
"""
)
"""The same where it is what a class or a function gives for some arguments.

A class that only keeps what it is called with isn't called where it was with the same objects.
"""

_VARIABLES = frozenset((
    "before", "distribution", "given", "kind", "old", "path", "prefix", "record", "records", "score",
    "sugar", "value", "values", "was",
))  # fmt: skip
_SCOPE = {
    **vars(builtins), "MISSING": MISSING, "UNCHANGEABLE": UNCHANGEABLE, "as_path": as_path,
    "detached": detached, "drawn": drawn, "inf": inf, "is_remade": is_remade,
    "is_unchanged": is_unchanged,
}  # fmt: skip
CONSTANTS = Constants()
_KNOWN: dict[tuple[Any, str], Any] = {}
_MAKING = threading.Lock()  # chains run in threads
_NUMBERS = frozenset((float, int))


def body_at_once(compiled: Compiled, kind: type[Execution]) -> Callable[..., Any]:
    """The body of a program for executions of some class, which are its first argument.

    Args:
        kind: Update; or Simulate or Assess, for executions that run nothing else.
    """
    with _MAKING:
        body = compiled.at_once.get(kind)
        if body is None:
            body = compiled.at_once[kind] = spread(compiled.origin, MAKING[kind], CONSTANTS)
    return body


def statements_at_once(
    source: Source, statements: list[ast.stmt]
) -> tuple[list[ast.stmt], dict[str, Any]]:
    """Statements of a body for executions of class Update, and the objects that they refer to."""
    return spread_statements(source, statements, MAKING[Update], CONSTANTS)


class _Blocks:
    """How choices from gendsl's own families are made, by a template.

    Args:
        once: whether a body runs only once in an execution, and has no choices in loops. Then a choice shares
            its address with no other but one of another `~`.
    """

    def __init__(self, template: str, *, once: bool) -> None:
        self.template = template
        self.once = once
        self._usual: dict[tuple[Any, bool], list[ast.stmt]] = {}

    def __call__(self, family: Any, constants: dict[str, float], alone: bool) -> list[ast.stmt]:
        """The statements that make a choice; see `Making`."""
        alone = alone and self.once
        if constants:
            return _filled(self.template, family, constants, alone)
        made = self._usual.get((family, alone))
        if made is None:
            made = self._usual[family, alone] = _filled(self.template, family, {}, alone)
        return [*map(clone, made)]


def _filled(
    template: str, family: Any = None, constants: dict[str, float] | None = None, alone: bool = False
) -> list[ast.stmt]:
    """The statements of a template, for a family if it is about one."""
    return _Filler(family, constants or {}, alone).visit_all(ast.parse(template).body)


def _known(family: Any, constants: dict[str, float]) -> Any:
    """The distribution of a family with these parameters, if they are all, and it keeps them as they are."""
    if len(constants) != len(family.parameters):
        return None
    key = family, repr(constants)
    if key not in _KNOWN:
        _KNOWN[key] = None
        with contextlib.suppress(ParameterError, ArithmeticError):  # raised again where the choice is made
            found = family(**constants)
            if all(getattr(found, name) is value for name, value in constants.items()):
                _KNOWN[key] = found
    return _KNOWN[key]


@functools.cache
def _called_again(count: int) -> list[ast.stmt]:
    """The statements that make a choice from what is called with some number of arguments."""
    names = [f"argument_{i}" for i in range(count)]
    alike = " and ".join(f"was[{i}] is {name}" for i, name in enumerate(names, 1))
    text = _CALLED_AGAIN.replace("ARGUMENTS", ", ".join(names)).replace("ALIKE", alike)
    return _filled(text.replace("CALLED", "(kind if type(kind) is type else __gendsl__.callee(kind))"))


class _Filler(Transformer):
    """Fills a template in."""

    def __init__(self, family: Any, constants: dict[str, float], alone: bool) -> None:
        self.family = family
        self.constants = constants
        self.alone = alone
        self.known = _known(family, constants) if constants else None
        self.scope = {**_SCOPE, "number": family and PLAIN_FAMILIES[family]}

    def visit_Expr(self, node: ast.Expr) -> Any:
        place = getattr(node.value, "id", None)
        if place == "MAKE":
            given = [assign(name, ast.Constant(value)) for name, value in self.constants.items()]
            if self.known is not None:
                return [*given, assign("distribution", CONSTANTS.load(self.known))]
            return [*given, *made(self.family, CONSTANTS, self.constants)]
        if place == "DRAW":
            rng = ast.Attribute(ast.Name(EXECUTION, ast.Load()), "rng", ast.Load())
            return value_of(self.family, "sample", {"rng": rng}, "value", CONSTANTS)
        if place == "SCORE":
            return value_of(self.family, "at", {"x": load("value")}, "score", CONSTANTS)
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> Any:
        if getattr(node.test, "id", None) == "SECOND":
            if self.alone:
                return []
            node.test = ast.parse("path in records", mode="eval").body
        return self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> Any:
        if self.alone and getattr(node.handlers[0].type, "id", None) == "TypeError":
            return self.visit_all(node.body)  # its address is a constant
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id == "SAME":
            return self._same()
        if node.id in _VARIABLES or node.id.startswith("argument_"):
            return ast.Name(own(node.id), node.ctx)
        if node.id == EXECUTION:
            return node
        value = self.scope[node.id]
        return ast.Constant(value) if type(value) is float else CONSTANTS.load(value)

    def _same(self) -> ast.expr:
        """Whether the distribution of before is of the family, and has its parameters, plain numbers."""
        earlier = ast.Subscript(load("before"), ast.Constant(0), ast.Load())
        tests: list[ast.expr] = [_compared(self._type_of(earlier), ast.Is(), CONSTANTS.load(self.family))]
        for name in self.family.parameters:
            now: ast.expr = load(name)
            if name in self.constants:
                now = ast.Constant(self.constants[name])
            else:
                tests.append(_compared(self._type_of(load(name)), ast.In(), CONSTANTS.load(_NUMBERS)))
            tests.append(_compared(ast.Attribute(earlier, name, ast.Load()), ast.Eq(), now))
        same = ast.BoolOp(ast.And(), tests)
        if self.known is None:
            return same
        return ast.BoolOp(ast.Or(), [_compared(earlier, ast.Is(), CONSTANTS.load(self.known)), same])

    def _type_of(self, node: ast.expr) -> ast.expr:
        return ast.Call(CONSTANTS.load(type), [node], [])


def _compared(left: ast.expr, how: ast.cmpop, right: ast.expr) -> ast.expr:
    return ast.Compare(left, [how], [right])


MAKING: dict[type[Execution], Making] = {
    Simulate: Making(_Blocks(_DRAWN, once=True), None, _filled(_RECORDS)),
    Assess: Making(_Blocks(_GIVEN, once=True), None, _filled(_RECORDS + _GET)),
    Update: Making(
        _Blocks(_AGAIN, once=False), _filled(_ANY_AGAIN), _filled(_RECORDS + _FIRST), _called_again
    ),
}
"""For each class of executions, the statements that make choices."""
