"""Bodies that are run once by one call: their choices are drawn, or scored, by statements of the body's own.

This is for programs whose traces are looked at and not edited, as those of auxiliary programs are. A choice
from one of gendsl's own families of one number takes no call at all but for those that its formulas make.
Whatever is out of the ordinary goes the usual way, so nothing but the time depends on this module.
"""

from __future__ import annotations

import ast
import builtins
import threading
from collections.abc import Callable
from math import inf
from typing import Any

from gendsl.choices import MISSING
from gendsl.compiler.build import Compiled
from gendsl.compiler.methods import Constants, load, made, own, value_of
from gendsl.compiler.spread import spread
from gendsl.compiler.trees import Transformer
from gendsl.errors import EXECUTION
from gendsl.runtime.executions import Assess, Execution, Simulate
from gendsl.runtime.records import PLAIN_FAMILIES, drawn

_KEEP = """\
if path in __gendsl__.records:
    raise __gendsl__.twice(path)
__gendsl__.records[path] = record
__gendsl__.score += record[2]
"""

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
if -inf < score < inf:
    record = distribution, value, score
else:
    record = drawn(distribution, value)
"""
    + _KEEP
)
"""How a choice is made that is drawn."""

_GIVEN = """\
MAKE
value = __gendsl__.values.get(path, MISSING)
try:
    if type(value) is number:
        SCORE
    else:
        score = inf
except (TypeError, OverflowError):
    score = inf
if -inf < score < inf:
    record = distribution, value, score
""" + "".join(f"    {line}\n" for line in _KEEP.splitlines()) + """\
else:
    value = __gendsl__.at(path, distribution)
"""
"""How a choice is made that is given."""

_VARIABLES = frozenset(("distribution", "path", "record", "score", "value"))
_SCOPE = {**vars(builtins), "MISSING": MISSING, "drawn": drawn, "inf": inf}
_CONSTANTS = Constants()
_MAKING = threading.Lock()  # chains run in threads


def body_at_once(compiled: Compiled, kind: type[Execution]) -> Callable[..., Any]:
    """The body of a program for an execution of some class, its first argument, that runs nothing else."""
    with _MAKING:
        body = compiled.at_once.get(kind)
        if body is None:
            body = compiled.at_once[kind] = spread(compiled.origin, _BLOCKS[kind], _CONSTANTS)
    return body


class _Blocks(dict[Any, list[ast.stmt]]):
    """For each family, the statements of a template."""

    def __init__(self, template: str) -> None:
        super().__init__()
        self.template = template

    def __missing__(self, family: Any) -> list[ast.stmt]:
        made = self[family] = _Filler(family, _CONSTANTS).visit_all(ast.parse(self.template).body)
        return made


class _Filler(Transformer):
    """Fills a template in."""

    def __init__(self, family: Any, constants: Constants) -> None:
        self.family = family
        self.constants = constants
        self.scope = {**_SCOPE, "number": PLAIN_FAMILIES[family]}

    def visit_Expr(self, node: ast.Expr) -> Any:
        place = getattr(node.value, "id", None)
        if place == "MAKE":
            return made(self.family, self.constants)
        if place == "DRAW":
            rng = ast.Attribute(ast.Name(EXECUTION, ast.Load()), "rng", ast.Load())
            return value_of(self.family, "sample", {"rng": rng}, "value", self.constants)
        if place == "SCORE":
            return value_of(self.family, "at", {"x": load("value")}, "score", self.constants)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in _VARIABLES:
            return ast.Name(own(node.id), node.ctx)
        return node if node.id == EXECUTION else self.constants.load(self.scope[node.id])


_BLOCKS: dict[type[Execution], _Blocks] = {Simulate: _Blocks(_DRAWN), Assess: _Blocks(_GIVEN)}
