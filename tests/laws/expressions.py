"""Random expressions: what a line of a generated program can refer to, and what it makes of that.

Every expression stays tame: what is exponentiated goes through `tanh` first, products too, so that no
number overflows however the statements around it are combined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

HEADER = """\
import contextlib
import itertools
import math
from collections import namedtuple

import numpy as np

from gendsl import *

SCALE = 0.7
ROWS = ((0.7, 0.2, 0.1), (0.1, 0.8, 0.1), (0.3, 0.3, 0.4))
LENGTHS = (2, 0, 1)
Pair = namedtuple("Pair", "first second")


def shift(x, y=1.0):
    return 0.5 * x + 0.1 * y


def spread(values):
    return float(max(values, default=0.0) - min(values, default=0.0))


def push(values, x):
    values.append(x)


def pair(x):
    return x, 0.5 - x


class Table:
    def __init__(self):
        self.number, self.total = 0, 0.0

    def seat(self, x):
        self.number += 1
        self.total += 0.5 * x

    def mean(self):
        return self.total / (1 + self.number)


def seat(table, x):
    table.seat(x)


@gen
def gathered(first, *rest, scale=1.0):
    last = ~normal(first - sum(rest), scale)
    return last + len(rest)


"""


@dataclass(frozen=True)
class Container:
    """A list, tuple, dict or array of a program.

    Attributes:
        name: its variable.
        size: its length, as an expression; None where it isn't known when the program is written.
        element: "real", "flag", "whole", or "index <size>" for whole numbers below a size.
        form: "list", "tuple", "dict" or "array".
    """

    name: str
    size: str | None
    element: str
    form: str

    @property
    def values(self) -> str:
        """An expression for its elements in order."""
        return f"{self.name}.values()" if self.form == "dict" else self.name


@dataclass
class Scope:
    """What a statement may refer to, the loops around it, and how deep it is.

    Attributes:
        reals, wholes, flags: expressions that are surely bound, by kind.
        sizes: expressions for lengths; those in `positive` are at least 1.
        indices: pairs (expression, size) of whole numbers from 0 to below the size.
        loops: the indices of the loops around, which make addresses of choices differ.
        in_loop: whether `break` and `continue` are possible.
    """

    reals: list[str]
    wholes: list[str]
    sizes: list[str]
    flags: list[str] = field(default_factory=list)
    positive: set[str] = field(default_factory=lambda: {"2", "3"})
    containers: list[Container] = field(default_factory=list)
    indices: list[tuple[str, str]] = field(default_factory=list)
    loops: tuple[str, ...] = ()
    depth: int = 0
    in_loop: bool = False

    def inner(self, *loops: str) -> Scope:
        """The scope of a block inside this one: what it binds is not bound after it."""
        return Scope(
            [*self.reals], [*self.wholes], [*self.sizes], [*self.flags], {*self.positive},
            [*self.containers], [*self.indices], (*self.loops, *loops), self.depth + 1,
            self.in_loop or bool(loops),
        )  # fmt: skip

    def bind(self, kind: str, name: str) -> None:
        """A variable is bound from here on."""
        if kind.startswith("index "):
            self.indices.append((name, kind.removeprefix("index ")))
            self.wholes.append(name)
        else:
            {"real": self.reals, "whole": self.wholes, "flag": self.flags}[kind].append(name)


class Expressions:
    """Writes expressions.

    Args:
        one_of: picks one of its arguments.
    """

    def __init__(self, one_of: Callable[..., Any]) -> None:
        self.one_of = one_of
        self.count = 0
        self.loop_names = ["i", "j"]

    def chance(self, one_in: int) -> bool:
        """True once in so many times."""
        return self.one_of(*[False] * (one_in - 1), True)

    def name(self, kind: str) -> str:
        """A new variable."""
        self.count += 1
        name = f"{kind}{self.count}"
        if kind in ("i", "j"):
            self.loop_names.append(name)
        return name

    def address(self, name: str, scope: Scope, *more: str) -> str:
        """An address of its own for a choice: its name and the loops around it."""
        parts = [repr(name), *scope.loops, *more]
        if len(parts) == 1 and not self.chance(4):
            return parts[0]
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"

    # --- reading containers ---

    def pick(self, scope: Scope, *elements: str) -> Container | None:
        """A container whose elements are of one of some kinds, if there is one."""
        found = [c for c in scope.containers if c.element in elements]
        return self.one_of(*found[-4:]) if found else None

    def entry(self, scope: Scope, container: Container) -> str | None:
        """An expression for one entry of a container, if one surely exists."""
        name, size = container.name, container.size
        if size is None:
            if container.form == "dict":
                return None
            return f"({name}[-1] if len({name}) else 0)"
        options = [index for index, bound in scope.indices if bound == size][-4:] * 2
        for other in scope.containers:  # mu[z[i]]
            if other.element == f"index {size}" and (inner := self.direct(scope, other)):
                options += [inner, inner]
        if size in scope.positive:
            options += ["0", f"{self.one_of(*scope.wholes)} % {size}", f"{size} - 1"]
            options += ["-1"] if container.form != "dict" else []
        if not options:
            return None
        entry = f"{name}[{self.one_of(*options)}]"
        return f"float({entry})" if container.form == "array" and self.chance(3) else entry

    def direct(self, scope: Scope, container: Container) -> str | None:
        """An entry at the index of a loop around."""
        options = [index for index, bound in scope.indices if bound == container.size]
        return f"{container.name}[{self.one_of(*options)}]" if options else None

    def whole_container(self, container: Container) -> str:
        """A number made of all entries of a container."""
        values = container.values
        # a scope inside may use the names of loop variables, of this loop or of one before, for its own
        v = self.one_of("v", *self.loop_names[-3:])
        if container.form != "dict" and self.chance(3):
            entries = f"{container.name}[{v}] for {v} in range(len({container.name}))"
            last = f"(lambda {v}: {container.name}[{v}])(len({container.name}) - 1)"
            return self.one_of(
                f"0.2 * sum({entries})", f"sum([0.1 * {entries}])",
                f"({last} if len({container.name}) else 0.5)",
            )  # fmt: skip
        options = [f"0.2 * sum({values})", f"0.1 * len({container.name})", f"spread({values})",
                   f"math.tanh(max({values}, default=0.3))", f"sum(v for v in {values} if v > 0)",
                   f"sum([0.1 * v for v in {values}])", f"sum(map(shift, {values}))"]  # fmt: skip
        if container.form != "dict":
            options += [f"(float(np.mean({values})) if len({values}) else 0.0)", f"sum({values}[1:])",
                        f"float(np.sum(0.5 * np.asarray({values})))",
                        f"({values}[0] if len({values}) else 0.25)"]  # fmt: skip
        return self.one_of(*options)

    # --- numbers ---

    def real(self, scope: Scope) -> str:
        """An expression for a number of moderate size."""
        kind = self.one_of("simple", "simple", "mixed", "entry", "entry", "container", "call")
        if kind in ("entry", "container"):
            container = self.pick(scope, "real")
            entry = None
            if container is not None:
                entry = self.entry(scope, container) if kind == "entry" else self.whole_container(container)
            if entry is not None:
                return self.one_of(entry, entry, f"0.5 * {entry}", f"{entry} + {self.variable(scope)}")
        x, y, whole = self.variable(scope), self.variable(scope), self.one_of(*scope.wholes[-4:])
        if kind == "call":
            return self.one_of(f"shift({x})", f"shift({x}, y={y})", f"(lambda v: 0.5 * v)({x})")
        if kind == "mixed":
            return self.one_of(
                f"math.tanh({x} * {y})", f"math.sin({x}) + math.cos({y})", f"np.tanh({x})",
                f"({x} if {self.condition(scope)} else {y})", f"({x} if {x} < 1.0 else 1.0 / {x})",
                f"SCALE * {x}", f"min({x}, {y})", f"({x} > 0 and 0.5 or {y})", f"ROWS[{whole} % 3][1]",
            )  # fmt: skip
        return self.one_of("0.5", x, x, f"{x} + 0.5 * {y}", f"0.3 * {whole}", f"-{x}", f"{x} - {y}")

    def variable(self, scope: Scope) -> str:
        """A variable that holds a number; the most recent most often."""
        return self.one_of(*scope.reals[-5:], scope.reals[-1])

    def positive(self, scope: Scope) -> str:
        """An expression for a positive number."""
        x = self.variable(scope)
        return self.one_of("1.0", "0.5", f"math.exp(math.tanh({x}))", f"0.5 + abs({self.real(scope)})",
                           f"1.0 + {self.one_of(*scope.wholes)}", f"(0.5 if {self.condition(scope)} else 2)",
                           )  # fmt: skip

    def share(self, scope: Scope) -> str:
        """An expression for a number between 0 and 1."""
        return self.one_of("0.5", f"1 / (1 + math.exp(-math.tanh({self.real(scope)})))",
                           f"(0.2 if {self.condition(scope)} else 0.9)", "0.3")  # fmt: skip

    def small(self, scope: Scope) -> str:
        """An expression for a whole number from 0 to 3."""
        options = ["2", "3", f"min({self.one_of(*scope.wholes)}, 3)", f"{self.one_of(*scope.wholes)} % 3"]
        return self.one_of(*options)

    def size(self, scope: Scope) -> str:
        """A length that other containers may have too."""
        return self.one_of(*scope.sizes[-4:], scope.sizes[-1])

    def condition(self, scope: Scope) -> str:
        """An expression that is true or false."""
        x, whole = self.variable(scope), self.one_of(*scope.wholes[-4:])
        options = [f"{x} > 0.1", f"{whole} == 1", f"{whole} > 1", f"-0.5 < {x} < 0.7"]
        options += [flag for flag in scope.flags[-3:] for _ in range(2)]
        options += [f"not {flag}" for flag in scope.flags[-3:]]
        container = self.pick(scope, "flag")
        entry = container and self.entry(scope, container)
        return self.one_of(*options, *([entry, entry] if entry else []))

    # --- distributions ---

    def distribution(self, scope: Scope, kind: str) -> str:
        """A distribution whose values are of a kind."""
        if kind == "flag":
            return f"bernoulli({self.share(scope)})"
        if kind.startswith("index "):
            size = kind.removeprefix("index ")
            return self.one_of(
                f"uniform_discrete(0, {size} - 1)", f"categorical([1 / {size}] * {size})",
                f"categorical(np.ones({size}) / {size})",
            )  # fmt: skip
        real, positive = self.real(scope), self.positive(scope)
        if kind == "whole":
            return self.one_of(
                f"poisson({positive})", f"uniform_discrete(0, 1 + {self.small(scope)})",
                f"categorical(ROWS[{self.one_of(*scope.wholes)} % 3])", "categorical([0.25, 0.25, 0.5])",
                f"binom(3, {self.share(scope)})", f"(1 + poisson({positive}))",
            )  # fmt: skip
        return self.one_of(
            *[f"normal({real}, {positive})"] * 4, f"normal({real}, 1)", f"normal({real}, 0.01)",
            f"uniform({real}, {real} + {positive})", f"exponential({positive})", f"gamma(2.0, {positive})",
            f"mixture_of_normals([0.4, 0.6], [{real}, -1.0], [1.0, {positive}])",
            f"laplace({real}, {positive})",
            f"(normal({real}, 1.0) if {self.condition(scope)} else student_t(4.0, 0.0, {positive}))",
        )  # fmt: skip
