"""Random programs for hypothesis: each is written twice, as a `@gen` function and as its oracle.

Every statement is emitted as a pair of lines, one for each version; they differ only in how a choice is
made and how a function is called. Variables have names of their own throughout a program, and an address
is a variable's name with the indices of the loops around it, so that no two choices meet by accident.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from hypothesis import strategies as st

from tests.laws.modules import imported
from tests.programs import Program

_HEADER = "import math\nimport numpy as np\nfrom gendsl import *\n\n"
_ARGS = ((0.5, 2), (-1.0, 3), (0.25, 0))


@dataclass
class Scope:
    """What a statement may refer to: variables by kind, the loops around it, how deep it is."""

    reals: list[str]
    wholes: list[str]
    flags: list[str] = field(default_factory=list)
    loops: tuple[str, ...] = ()
    depth: int = 0

    def inner(self, *loops: str) -> Scope:
        """The scope of a block inside this one."""
        return Scope(
            [*self.reals], [*self.wholes], [*self.flags], (*self.loops, *loops), self.depth + 1
        )


class Writer:
    """Writes one program."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.count = 0
        self.lines: list[tuple[str, str]] = []
        self.helpers: list[str] = []
        self.unspliced: list[str] = []
        self.current = ""

    # --- pieces ---

    def one_of(self, *options):
        """One of the options."""
        return self.draw(st.sampled_from(options))

    def name(self, kind: str) -> str:
        """A new variable."""
        self.count += 1
        return f"{kind}{self.count}"

    def emit(self, depth: int, line: str, oracle: str | None = None) -> None:
        """One line of both versions."""
        indent = "    " * (depth + 1)
        self.lines.append((indent + line, indent + (line if oracle is None else oracle)))

    def real(self, scope: Scope) -> str:
        """An expression for a number between about -2 and 2."""
        x, y = self.one_of(*scope.reals), self.one_of(*scope.reals)
        whole = self.one_of(*scope.wholes)
        return self.one_of(
            "0.5", f"math.tanh({x})", f"math.sin({x}) + math.cos({y})", f"math.tanh({x} * {y})",
            f"0.3 * {whole}", f"({x} if {x} < 1.0 else 1.0 / {x})",
        )  # fmt: skip

    def positive(self, scope: Scope) -> str:
        """An expression for a positive number."""
        return self.one_of("1.0", f"math.exp({self.real(scope)} / 2)", f"0.5 + abs({self.real(scope)})")

    def share(self, scope: Scope) -> str:
        """An expression for a number between 0 and 1."""
        return self.one_of("0.5", f"1 / (1 + math.exp(-({self.real(scope)})))")

    def small(self, scope: Scope) -> str:
        """An expression for a whole number from 0 to 3."""
        return self.one_of("2", "3", f"min({self.one_of(*scope.wholes)}, 3)")

    def condition(self, scope: Scope) -> str:
        """An expression that is true or false."""
        options = [f"{self.one_of(*scope.reals)} > 0.1", f"{self.one_of(*scope.wholes)} == 1"]
        options += [*scope.flags, *(f"not {flag}" for flag in scope.flags)]
        return self.one_of(*options)

    # --- statements ---

    def choice(self, scope: Scope) -> None:
        """A choice, in one of the ways to address it."""
        kind = self.one_of("real", "real", "whole", "flag", "array")
        name = self.name(kind)
        if kind == "real":
            family, parameters = self.one_of(
                ("normal", [self.real(scope), self.positive(scope)]),
                ("gamma", ["2.0", self.positive(scope)]),
                ("exponential", [self.positive(scope)]),
                ("student_t", ["5.0", self.real(scope), self.positive(scope)]),
                ("beta", ["2.0", self.positive(scope)]),
            )
        elif kind == "whole":
            family, parameters = self.one_of(
                ("poisson", [self.positive(scope)]),
                ("uniform_discrete", ["0", f"1 + {self.small(scope)}"]),
                ("binom", ["3", self.share(scope)]),
                ("categorical", ["[0.25, 0.25, 0.5]"]),
            )
        elif kind == "flag":
            family, parameters = "bernoulli", [self.share(scope)]
        else:
            family, parameters = self.one_of(
                ("multinomial", [f"1 + {self.small(scope)}", "[0.5, 0.25, 0.25]"]),
                ("dirichlet", ["[1.0, 2.0, 1.5]"]),
            )
        distribution = f"{family}({', '.join(parameters)})"
        parts = [repr(name), *scope.loops]
        made = f"choose((*at, {', '.join(parts)}), {family!r}, {', '.join(parameters)})"
        form = self.one_of("sugar", "address", "held", "list")
        address = f"({', '.join(parts)},)"
        if form == "sugar" and not scope.loops:
            self.emit(scope.depth, f"{name} = ~{distribution}", f"{name} = {made}")
        elif form == "sugar":
            self.emit(scope.depth, f"{name} = {{}}")
            index = ", ".join(scope.loops)
            self.emit(
                scope.depth, f"{name}[{index}] = ~{distribution}", f"{name}[{index}] = {made}"
            )
            self.emit(scope.depth, f"{name} = {name}[{index}]")
        elif form == "held":
            self.emit(scope.depth, f"{name}_law = {distribution}", "pass")
            self.emit(scope.depth, f"{name} = {address} @ ~{name}_law", f"{name} = {made}")
        elif form == "list":
            made = made.replace(f"choose((*at, {', '.join(parts)})", f"choose((*at, {', '.join(parts)}, i)")
            loop = f"for i in range({self.small(scope)})"
            self.emit(
                scope.depth,
                f"{name}_all = [({', '.join(parts)}, i) @ ~{distribution} {loop}]",
                f"{name}_all = [{made} {loop}]",
            )
            return
        else:
            self.emit(scope.depth, f"{name} = {address} @ ~{distribution}", f"{name} = {made}")
        if kind == "array":
            self.emit(scope.depth, f"whole{name} = int({name}[0] > 0.5)")
            scope.wholes.append(f"whole{name}")
        else:
            {"real": scope.reals, "whole": scope.wholes, "flag": scope.flags}[kind].append(name)

    def call(self, scope: Scope) -> None:
        """A traced call of an earlier function; perhaps spliced."""
        if not self.helpers:
            return self.choice(scope)
        name = self.name("real")
        arguments = f"{self.real(scope)}, n={self.small(scope)}"
        splice = self.unspliced and not scope.loops and scope.depth == 0 and self.one_of(True, False)
        if splice:
            helper = self.unspliced.pop()
            self.emit(
                scope.depth,
                f"{name}_all = ... @ ~{helper}({arguments})",
                f"{name}_all = {helper}_oracle(choose, {arguments}, at=at)",
            )
        else:
            helper = self.one_of(*self.helpers)
            parts = ", ".join([repr(name), *scope.loops])
            self.emit(
                scope.depth,
                f"{name}_all = ({parts},) @ ~{helper}({arguments})",
                f"{name}_all = {helper}_oracle(choose, {arguments}, at=(*at, {parts}))",
            )
        self.emit(scope.depth, f"{name} = {name}_all[0]")
        scope.reals.append(name)

    def recursion(self, scope: Scope) -> None:
        """A call of the function itself, one level further down."""
        name = self.name("real")
        parts = ", ".join([repr(name), *scope.loops])
        arguments = f"{self.real(scope)}, n=min(n, 2) - 1"
        self.emit(scope.depth, f"{name} = 0.0")
        self.emit(scope.depth, f"if n > 0 and {self.condition(scope)}:")
        self.emit(
            scope.depth + 1,
            f"{name} = (({parts},) @ ~{self.current}({arguments}))[0]",
            f"{name} = {self.current}_oracle(choose, {arguments}, at=(*at, {parts}))[0]",
        )
        scope.reals.append(name)

    def branch(self, scope: Scope) -> None:
        """An if, with the same address in both arms or choices of their own."""
        if self.one_of(True, False):
            name = self.name("real")
            parts = ", ".join([repr(name), *scope.loops])
            arms = [("normal", self.real(scope)), ("laplace", self.real(scope))]
            self.emit(scope.depth, f"if {self.condition(scope)}:")
            for arm, (family, mean) in enumerate(arms):
                if arm:
                    self.emit(scope.depth, "else:")
                self.emit(
                    scope.depth + 1,
                    f"{name} = ({parts},) @ ~{family}({mean}, 1.0)",
                    f"{name} = choose((*at, {parts}), {family!r}, {mean}, 1.0)",
                )
            scope.reals.append(name)
            return
        self.emit(scope.depth, f"if {self.condition(scope)}:")
        self.block(scope.inner())
        if self.one_of(True, False):
            self.emit(scope.depth, "else:")
            self.block(scope.inner())

    def loop(self, scope: Scope) -> None:
        """A loop; perhaps with a carried value, perhaps left early."""
        index, carried = self.name("i"), self.name("real")
        times = self.small(scope)
        self.emit(scope.depth, f"{carried} = 0.25")
        self.emit(scope.depth, f"for {index} in range({times}):")
        inner = scope.inner(index)
        inner.reals.append(carried)
        inner.wholes.append(index)
        self.block(inner)
        if self.one_of(True, False):
            self.emit(inner.depth, f"{carried} = math.tanh({carried} + {self.real(inner)})")
        if self.one_of(True, False, False):
            self.emit(inner.depth, f"if {self.condition(inner)}:")
            self.emit(inner.depth + 1, self.one_of("break", "continue"))
        scope.reals.append(carried)

    def block(self, scope: Scope) -> None:
        """One to three statements."""
        kinds = [self.choice, self.choice, self.call]
        if scope.depth < 2:
            kinds += [self.branch, self.loop]
        for _ in range(self.one_of(1, 1, 2, 3)):
            self.one_of(*kinds)(scope)

    def function(self, name: str, recursive: bool) -> None:
        """A function of a number and a count."""
        self.current = name
        self.lines.append(("@gen", ""))
        self.lines.append((f"def {name}(x, n=2):", f"def {name}_oracle(choose, x, n=2, at=()):"))
        scope = Scope(["x"], ["n"])
        self.emit(0, "total = 0.5")
        scope.reals.append("total")
        self.block(scope)
        if recursive:
            self.recursion(scope)
        if self.one_of(True, False, False):
            self.emit(0, f"if {self.condition(scope)}:")
            self.emit(1, f"return {scope.reals[-1]}, n, 'early'")
        self.block(scope)
        self.emit(0, f"return ({scope.reals[-1]}, {', '.join(scope.wholes)}, [{', '.join(scope.flags)}])")
        self.lines.append(("", ""))
        self.helpers.append(name)
        self.unspliced.append(name)


@st.composite
def sources(draw: st.DrawFn) -> tuple[str, str]:
    """The text of a random program, and that of its oracle; the last function is the program."""
    writer = Writer(draw)
    for i in range(draw(st.integers(0, 2))):
        writer.function(f"helper{i}", draw(st.booleans()))
    writer.function("program", draw(st.booleans()))
    texts = ["\n".join(lines) + "\n" for lines in zip(*writer.lines, strict=True)]
    return _HEADER + texts[0], "import math\n\n" + texts[1]


@contextmanager
def loaded(texts: tuple[str, str]) -> Iterator[Program]:
    """The program of two texts, as if the first were a module that was imported."""
    with imported(texts[0]) as module:
        oracle: dict[str, object] = {}
        exec(texts[1], oracle)
        yield Program("generated", module.program, _ARGS, oracle["program_oracle"])
