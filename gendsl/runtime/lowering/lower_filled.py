"""Lower loops and comprehensions without choices that fill containers, one entry in each iteration.

    w = [math.exp(v) for v in x]            for v in x:                     for i in range(n):
                                                w.append(math.exp(v))           w[i] = math.exp(x[i])

Such a statement is deterministic code as any other, and runs as such. Where its iterations are independent,
and nothing in them is left for others to find, it is lowered as a loop besides: after an edit only the
iterations that something concerns have to run again.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from gendsl.lang.names import COMPREHENSIONS
from gendsl.lang.trees import Transformer, clone, located, walk
from gendsl.runtime.lowering.ir import Code, Filled, Fragment, Loop, Stored
from gendsl.runtime.lowering.iterables import sources_of
from gendsl.runtime.lowering.liveness import all_loads
from gendsl.runtime.lowering.lower_nests import NestLowering
from gendsl.runtime.lowering.scope import OpaqueError
from gendsl.runtime.lowering.versions import Version


class _Filling(NamedTuple):
    """A statement as a loop: what `LoopLowering.loop` has to know of it."""

    node: ast.For | ast.ListComp | ast.DictComp
    iterable: ast.expr
    target: ast.expr
    statements: list[ast.stmt]
    element: tuple[str, ast.expr, ast.expr | None] | None


def _filling(node: ast.stmt) -> _Filling | None:
    """A statement as a loop that may fill containers; None if it is no such loop."""
    match node:
        case ast.For(target=target, iter=iterable, body=body, orelse=[]):
            return _Filling(node, iterable, target, body, None)
        case (
            ast.Assign(targets=[ast.Name()], value=(ast.ListComp() | ast.DictComp()) as made)
            | ast.AnnAssign(target=ast.Name(), value=(ast.ListComp() | ast.DictComp()) as made)
        ):
            match made.generators:
                case [ast.comprehension(target=target, iter=iterable, ifs=[], is_async=0)]:
                    if isinstance(made, ast.ListComp):
                        return _Filling(made, iterable, target, [], ("list", made.elt, None))
                    return _Filling(made, iterable, target, [], ("dict", made.value, made.key))
    return None


_SCOPES = ast.Lambda, ast.NamedExpr, *COMPREHENSIONS


class _Entry(Transformer):
    """Puts a lookup in place of a name."""

    def __init__(self, name: str, entry: ast.expr) -> None:
        self.name = name
        self.entry = entry

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id != self.name:
            return node
        return located(ast.copy_location(clone(self.entry), node))


class FilledLowering(NestLowering):
    """Lowers deterministic statements."""

    def deterministic(self, node: ast.stmt) -> None:
        """A statement without choices, which goes on to the next one."""
        filling = None if self.loops else _filling(node)
        before = dict(self.env)
        self.fragment(node)
        if filling is None or not self.leaves_no_trace(filling):
            return
        fragment = self.nodes[-1]
        assert isinstance(fragment, Fragment)
        start = len(self.codes)
        loop = self.as_loop(self.by_key(filling, before), before)
        if loop is None or not self.fills_only(loop, fragment, self.codes[start:]):
            del self.codes[start:]
            return
        self.nodes[-1] = Filled(node, fragment.code, fragment.defs, loop, self.new())

    def by_key(self, filling: _Filling, env: dict[str, Version]) -> _Filling:
        """A loop over what is in a dict of the body's as a loop over its keys, which looks the rest up."""
        match filling.iterable:
            case ast.Call(ast.Attribute(ast.Name(id=name), ("items" | "values" | "keys") as what), [], []):
                known = name in env and env[name].kind == "list"  # or a dict, since it has such a method
            case _:
                return filling
        match what, filling.target:
            case "items", ast.Tuple(elts=[ast.Name(id=key), ast.Name(id=value)]):
                pass
            case "values", ast.Name(id=value):
                key = self.temporary()
            case "keys", ast.Name(id=key):
                value = self.temporary()
            case _:
                return filling
        if not known or len({name, key, value}) < 3:
            return filling
        entry = ast.Subscript(ast.Name(name, ast.Load()), ast.Name(key, ast.Load()), ast.Load())
        statements, element = filling.statements, filling.element
        if element is not None:
            parts = [part for part in element[1:] if isinstance(part, ast.expr)]
            if any(isinstance(part, _SCOPES) for outer in parts for part in walk(outer)):
                return filling
            put = _Entry(value, entry)
            of_key = None if element[2] is None else put.visit(clone(element[2]))
            element = element[0], put.visit(clone(element[1])), of_key
        elif what != "keys":
            made = ast.Assign([ast.Name(value, ast.Store())], entry)
            statements = [located(ast.copy_location(made, filling.node)), *statements]
        over = ast.copy_location(ast.Name(name, ast.Load()), filling.iterable)
        target = ast.copy_location(ast.Name(key, ast.Store()), filling.target)
        return _Filling(filling.node, over, target, statements, element)

    def as_loop(self, filling: _Filling, env: dict[str, Version]) -> Loop | None:
        """A statement as a loop, lowered among the variables of before it; None where that can't be done."""
        kept = self.env, self.nodes
        self.env, self.nodes = env, []
        try:
            over = sources_of(filling.iterable, filling.target, self.effects)
            self.loop(filling.node, over, filling.statements, filling.target, filling.element)
            (loop,) = self.nodes
        except OpaqueError:
            return None
        finally:
            self.env, self.nodes = kept
        return loop if isinstance(loop, Loop) else None

    def leaves_no_trace(self, filling: _Filling) -> bool:
        """Whether no call in the iterations may do anything but return a value, for all that is known."""
        _, value, key = filling.element or ("", None, None)
        inside = [part for part in (*filling.statements, value, key) if part is not None]
        for part in (part for outer in inside for part in walk(outer)):
            if isinstance(part, ast.Call) and not self.effects.puts_into(part):
                if not self.effects.leaves_alone(part) or self._draws(part):
                    return False
                if self.effects.writes(part) or self.effects.is_unknown(part):
                    return False
        return True

    def _draws(self, call: ast.Call) -> bool:
        """Whether a call is of a function of NumPy's that draws random numbers."""
        module = getattr(self.effects.function_of(call), "__module__", None) or ""
        return module.startswith("numpy.random")

    def fills_only(self, loop: Loop, fragment: Fragment, codes: list[Code]) -> bool:
        """Whether all that a loop leaves are the containers that code defines, each iteration by itself.

        What it goes through must be there already: to make it again would cost what the code does.
        """
        if loop.carried or loop.outs or loop.exits or not all(type(n) is Fragment for n in loop.body):
            return False
        if any(source.load is None and not source.distinct for source in loop.sources):
            return False
        if any(code.asks or code.guarded for code in (fragment.code, *codes)):
            return False
        inside = {(loop.depth - 1, written.inside) for written in loop.stored if written.inside >= 0}
        loads = [load for code in codes for load in all_loads(code)]
        if any(load.own is not None or (load.depth, load.slot) in inside for load in loads):
            return False
        return len(loop.stored) == len(fragment.defs) == 1 and _is_plain(loop.stored[0])


def _is_plain(written: Stored) -> bool:
    """Whether an iteration writes one entry, of which it is clear from the beginning where it goes."""
    placed = written.kind in ("append", "key") or (written.kind == "index" and written.index >= 0)
    return placed and not written.rows
