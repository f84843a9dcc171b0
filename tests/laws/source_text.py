"""Random programs as text: functions that call each other and themselves, and the arguments to run them on.

The programs need no oracle of their own: two runtimes of gendsl are compared on each.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.laws.expressions import HEADER, Container, Scope
from tests.laws.tables import Tables


class Functions(Tables):
    """Writes a whole program."""

    def __init__(self, one_of: Callable[..., Any]) -> None:
        super().__init__(one_of)
        self.helpers: list[tuple[str, str]] = []  # name and what it returns
        self.unspliced: list[str] = []
        self.recursive: str | None = None

    # --- calls ---

    def call(self, scope: Scope) -> None:
        """A traced call of an earlier function, in one of the places where a call can be."""
        if not self.helpers:
            return self.choice(scope) and None
        helper, returns = self.one_of(*self.helpers)
        name = self.name("r")
        made = f"{self.address(name, scope)} @ ~{helper}({self.arguments(scope)})"
        form = self.one_of("plain", "plain", "sugar", "splice", "list", "ignored")
        if form == "splice" and self.unspliced and not scope.depth:
            helper = self.unspliced.pop()
            returns = dict(self.helpers)[helper]
            made = f"... @ ~{helper}({self.arguments(scope)})"
        if form == "list":
            index = self.name("j")
            inner = scope.inner(index)
            inner.wholes.append(index)
            made = f"{self.address(name, inner)} @ ~{helper}({self.arguments(inner)})"
            size = self.size(scope)
            value = {"real": made, "pair": f"({made})[0]", "list": f"sum({made})"}[returns]
            self.emit(scope, f"{name} = [{value} for {index} in range({size})]")
            scope.containers.append(Container(name, size, "real", "list"))
            return None
        if form == "ignored":
            return self.emit(scope, made)
        if form == "sugar" and not scope.loops:
            made = f"~{helper}({self.arguments(scope)})"
        match returns:
            case "real":
                self.emit(scope, f"{name} = {made}")
            case "pair" if "@" in made:
                self.emit(scope, f"{name}, {name}b = {made}")
                scope.reals.append(f"{name}b")
            case "pair":
                self.emit(scope, f"{name} = {made}", f"{name} = {name}.first")
            case "list":
                self.emit(scope, f"{name} = {made}")
                scope.containers.append(Container(name, None, "real", "tuple"))
                return None
        return scope.bind("real", name)

    def arguments(self, scope: Scope) -> str:
        """Arguments for a helper."""
        n = self.small(scope)
        container = self.pick(scope, "real")
        third = f", xs={container.name}" if container and container.form != "dict" and self.chance(3) else ""
        return f"{self.real(scope)}, {self.one_of('n=', '')}{n}{third}"

    def recursion(self, scope: Scope) -> None:
        """A call of the function itself, or of the one that calls it, one level further down."""
        name = self.name("r")
        arguments = f"{self.real(scope)}, n=min(n, 2) - 1"
        made = f"({self.address(name, scope)} @ ~{self.recursive}({arguments}))"
        self.emit(scope, f"{name} = 0.0", f"if n > 0 and {self.condition(scope)}:", f"    {name} = {made}")
        if self.chance(3):
            second = f"({self.address(name + 'b', scope)} @ ~{self.recursive}({name}, n - 2))"
            self.emit(scope, f"    if {self.condition(scope)} and n > 1:", f"        {name} += {second}")
        scope.reals.append(name)

    # --- blocks and functions ---

    def block(self, scope: Scope) -> None:
        """One to three statements."""
        kinds = [self.choice, self.choice, self.choice, self.plain, self.call]
        if scope.depth < 3:
            kinds += [self.branch]
        if len(scope.loops) < 2:
            filled = self.one_of(self.derived, self.scattered, self.named, self.labelled, self.lazy)
            kinds += [self.comprehension, self.opaque, filled]
            kinds += [self.loop, self.walk] if len(scope.loops) < 1 or self.chance(3) else []
        for _ in range(self.one_of(1, 1, 2, 3)):
            self.one_of(*kinds)(scope)
        if scope.in_loop and scope.loops and self.chance(12):
            self.leave(scope)

    def statement(self, scope: Scope) -> None:
        """A statement at the top level of a function."""
        self.one_of(
            self.choice, self.choice, self.plain, self.length, self.comprehension, self.comprehension,
            self.loop, self.loop, self.loop, self.branch, self.call, self.call, self.walk, self.mixture,
            self.vector, self.while_loop, self.opaque, self.grid, self.states, self.derived, self.derived,
            self.one_of(self.named, self.scattered), self.labelled, self.lazy, self.in_arms,
        )(scope)  # fmt: skip

    def function(self, name: str, returns: str, statements: int, recursive: str | None) -> None:
        """A function of a number, a count and some data."""
        self.recursive = recursive
        main = name == "program"
        last = "xss=()" if main else "xs=()"
        self.lines += ["@gen", f"def {name}(x, n=2, {'xs=(), ' if main else ''}{last}):"]
        scope = Scope(["x"], ["n"], ["n", "2", "3"])
        if main or self.chance(3):
            scope.containers.append(Container("xs", "len(xs)", "real", "tuple"))
            scope.sizes.append("len(xs)")
        self.emit(scope, "v0 = 0.5")
        scope.reals.append("v0")
        for place in range(statements):
            self.statement(scope)
            if recursive and place == 0:
                self.recursion(scope)
            if place == statements // 2 and self.chance(5):
                self.emit(scope, f"if {self.condition(scope)}:", f"    return {self.result(scope, returns)}")
        if main and self.chance(3):
            self.ragged(scope)
        self.emit(scope, f"return {self.result(scope, returns)}")
        self.lines += ["", ""]

    def ragged(self, scope: Scope) -> None:
        """A loop over data of ragged lengths."""
        row, i, j, x = (self.name(kind) for kind in ("row", "i", "j", "x"))
        inner = scope.inner(i)
        self.emit(scope, f"for {i}, {row} in enumerate(xss):")
        mean = self.choice(inner, "real")
        innermost = inner.inner(j)
        self.emit(inner, f"for {j}, {x}_data in enumerate({row}):")
        law = f"normal({mean} + {x}_data, {self.positive(scope)})"
        self.emit(innermost, f"{self.address(x, innermost)} @ ~{law}")

    def result(self, scope: Scope, returns: str) -> str:
        """What a function returns."""
        match returns:
            case "real":
                return self.real(scope)
            case "pair":
                return f"Pair({self.real(scope)}, {self.variable(scope)})"
            case "list":
                return f"[{self.real(scope)}, {', '.join(scope.reals[-3:])}]"
        parts = [*scope.reals[-4:], *scope.wholes[-2:], *scope.flags[-2:]]
        parts += [c.name for c in scope.containers[-3:]]
        return self.one_of(f"({', '.join(parts)})", f"[{', '.join(parts)}]",
                           f"{{'a': {parts[0]}, 'b': [{', '.join(parts[1:])}]}}", parts[-1])  # fmt: skip

    def program(self) -> str:
        """The text of a program; its last function is the program."""
        shape = self.one_of("alone", "alone", "helper", "helper", "two", "recursive", "mutual")
        short = self.one_of(1, 1, 2, 3)
        if shape in ("helper", "two"):
            for i in range(1 if shape == "helper" else 2):
                returns = self.one_of("real", "pair", "list")
                self.function(f"helper{i}", returns, short, None)
                self.add_helper(f"helper{i}", returns)
        elif shape == "recursive":
            self.function("helper0", "real", short, "helper0")
            self.add_helper("helper0", "real")
        elif shape == "mutual":
            self.function("helper0", "real", 1, "helper1")
            self.function("helper1", "real", 1, "helper0")
            self.add_helper("helper0", "real")
            self.add_helper("helper1", "real")
        self.function("program", "all", self.one_of(1, 2, 3, 4, 5), None)
        return HEADER + "\n".join(self.lines)

    def add_helper(self, name: str, returns: str) -> None:
        """From now on calls of a function can be written."""
        self.helpers.append((name, returns))
        self.unspliced.append(name)


def random_source(seed: int) -> str:
    """The text of one program, without hypothesis: for long hunts."""
    rng = random.Random(seed)
    return Functions(lambda *options: rng.choice(options)).program()


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The texts of random programs."""
    return Functions(lambda *options: draw(st.sampled_from(options))).program()
