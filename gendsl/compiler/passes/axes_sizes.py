"""Which loops of a text go over data, and which functions are called in loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Body,
    Call,
    Const,
    Expr,
    Fill,
    For,
    Function,
    Length,
    Loop,
    Return,
    Set,
    Var,
    Visit,
)
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.hir.text_effects import templates_changed


def repeated(functions: Iterable[Function]) -> set[int]:
    """The functions, by identity, that are called in loops, directly or not."""
    found: set[int] = set()
    for function in functions:
        for loop in hir.walk(function.body):
            if isinstance(loop, (For, Loop)):
                for call in hir.walk(loop.body):
                    if isinstance(call, Call) and id(call.function) not in found:
                        found.update(map(id, hir.functions(call.function)))
    return found


class Sizes:
    """Tells loops over data from those over what a chain changes, as components, which are few.

    A number of items is *small* where it comes from a discrete choice, or is that of a list with so many, or
    of an array that is a choice, and may be another.
    """

    def __init__(self, functions: Sequence[Function]) -> None:
        self.small: dict[int, set[Var]] = {id(one): set() for one in functions}
        self.results: dict[int, set[int]] = {id(one): set() for one in functions}
        self.templates = templates_changed(functions)
        called = {one: [f for f in _called(one) if id(f) in self.small] for one in functions}
        left = dict.fromkeys(functions)  # those that may find more
        while left:
            function = next(iter(left))
            del left[function]
            concerned = function, *called[function]
            before = [len(self.small[id(one)]) for one in concerned]
            results = len(self.results[id(function)])
            self._grow(function)
            for one, count in zip(concerned, before, strict=True):
                if len(self.small[id(one)]) > count:
                    left[one] = None
            if len(self.results[id(function)]) > results:
                left |= dict.fromkeys(one for one in functions if function in called[one])

    def is_over_data(self, function: Function, loop: For) -> bool:
        """Whether a loop may be one over data."""
        if isinstance(loop.stop, Const) and isinstance(loop.stop.value, int) and loop.stop.value < 16:
            return False
        return not self._is_small(function, loop.stop)

    def _is_small(self, function: Function, expr: Expr) -> bool:
        if isinstance(expr, Const):
            return isinstance(expr.value, int) and abs(expr.value) < 16 and expr.kind == "i"
        if isinstance(expr, hir.Op) and expr.name == "mul":  # an array with an axis of data has many entries
            return all(self._is_small(function, factor) for factor in expr.args)
        small = self.small[id(function)]
        return bool(variables_of(expr) & small)

    def _grow(self, function: Function) -> None:
        small = self.small[id(function)]

        def visit(body: Body, is_small: bool) -> None:
            for one in body:
                inner = is_small
                match one:
                    case Visit(targets=targets) | hir.Read(targets=targets) | hir.Choice(targets=targets):
                        is_array = any(var.kind == "r" for var in targets)
                        if not is_array or id(one.template) in self.templates:
                            small.update(var for var in targets if var.kind in "ri")
                    case hir.Count(target=target) | hir.Draw(target=target) | hir.Extent(target=target):
                        small.add(target)
                    case Set(targets=targets, values=values):
                        small.update(
                            target
                            for target, value in zip(targets, values, strict=True)
                            if target.kind in "ri"
                            and variables_of(value) & small
                            and (not isinstance(value, hir.Op) or self._is_small(function, value))
                        )
                    case Fill(target=target, count=count):
                        if self._is_small(function, count):
                            small.add(target)
                    case Length(target=target, list=ref):
                        if ref in small:
                            small.add(target)
                    case Append(list=Var() as ref):
                        if is_small:
                            small.add(ref)
                    case For(stop=stop):
                        inner = is_small or self._is_small(function, stop)
                    case Call(targets=targets, function=called, args=args):
                        if id(called) in self.small:
                            self.small[id(called)].update(
                                var
                                for var, arg in zip(called.parameters, args, strict=True)
                                if var.kind in "ri" and variables_of(arg) & small
                            )
                            small.update(targets[place] for place in self.results[id(called)])
                    case Return(values=values):
                        self.results[id(function)].update(
                            place for place, value in enumerate(values) if variables_of(value) & small
                        )
                for within in hir.bodies(one):
                    visit(within, inner)

        visit(function.body, False)


def _called(function: Function) -> list[Function]:
    """The functions that one calls itself."""
    found = {one.function: None for one in hir.walk(function.body) if isinstance(one, Call)}
    return [*found]
