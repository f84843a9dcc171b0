"""What texts and their memory know of programs that were lowered: addresses of choices, and what is given."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.hir.facts import Facts
from gendsl.compiler.hir.key_paths import PATHS
from gendsl.compiler.hir.types import Below, Joined, PathPart, Tuple, Type, index_count

MODEL = "model"
"""The name of the program that traces are of, among those that are lowered together."""

NO_VALUE = Tuple(())
"""The type of a template that only notes which calls were made."""


@dataclass(frozen=True)
class Template:
    """An address template: the strings of an address, None for each index, ... for each string of the data;
    before the items of a tuple in it stands how many there are.

    Attributes:
        number: its place in the state.
        type: the type of its values.
        name: its name in the text.
        calls: the program that is called at the address, if it calls itself; the value is then the call's
            node. Of any other program that is called it only notes that it is, where choices are drawn.
        trace: the name of the program, among those that are lowered together.
        weighs: whether its choices are factors, which are wherever the program makes them.
    """

    number: int
    parts: tuple[Any, ...]
    type: Type
    name: str
    calls: Any = None
    trace: str = MODEL
    weighs: bool = False

    @property
    def counted(self) -> bool:
        """Whether what it has counts among the choices that are visited, new or gone: not calls, and not
        factors, which no move has to write or read.
        """
        return self.calls is None and not self.weighs

    @property
    def rank(self) -> int:
        """How many indices it has."""
        return sum(map(index_count, self.parts))

    @property
    def label(self) -> str:
        """What variables with its values are called."""
        strings = [word for part in self.parts for word in words_of(part)]
        return strings[-1] if strings else "x"

    @property
    def has_nodes(self) -> bool:
        """Whether it is of calls of a program that calls itself."""
        return self.calls is not None and self.type != NO_VALUE

    @property
    def is_of_paths(self) -> bool:
        """Whether it is of the numbers of tuples in addresses."""
        return self.trace == PATHS

    @property
    def is_auxiliary(self) -> bool:
        """Whether it is one of a program that draws auxiliary choices."""
        return self.trace != MODEL and not self.is_of_paths

    @functools.cached_property
    def path_axes(self) -> tuple[int, ...]:
        """Which of its indices are numbers of tuples."""
        if self.is_of_paths:
            return (0,)
        starts = itertools.accumulate(map(index_count, self.parts), initial=0)
        return tuple(at for at, part in zip(starts, self.parts, strict=False) if isinstance(part, PathPart))

    @property
    def is_below(self) -> bool:
        """Whether it is of choices or calls below such a call, whose node is then the first index."""
        return bool(self.parts) and isinstance(self.parts[0], Below)

    @property
    def context(self) -> Any:
        """The program that calls itself which makes them; None for any other."""
        return self.parts[0].function if self.is_below else None

    @property
    def own(self) -> tuple[Any, ...]:
        """The parts of the address below that call."""
        return self.parts[1:] if self.is_below else self.parts


def words_of(part: Any) -> list[str]:
    """The strings in a part of a template."""
    if not isinstance(part, Joined):
        return [part] if isinstance(part, str) else []
    words = (hir.identifier(piece).strip("_") for piece in part.pieces if isinstance(piece, str))
    return [word for word in words if word]


@dataclass
class Lowered:
    """A program in HIR.

    Attributes:
        main: the function of the program; its parameters are the leaves of the arguments.
        arguments: the types of the arguments.
        inputs: objects that the program finds outside of itself, whose leaves are `Input` expressions.
        templates: the address templates of its choices.
        result: the type of its return value.
        guards: (where it was found, name, object): what the text took for constant.
        replays: the functions for the return values of traces, by the names of their programs; their bodies
            are still to be made.
        coordinates: those of the choices of each template, by its number.
        asked: the functions for the distributions of choices of traces, by the numbers of the templates: with
            these, and that of a choice of which they are told what it is; their bodies are still to be made.
        returned: the functions for what calls of programs returned, by the names of the traces' programs and
            the templates of the calls, or the programs, where these call themselves; the same.
    """

    main: hir.Function
    arguments: list[Type]
    inputs: list[tuple[Any, Type]]
    templates: list[Template]
    result: Type
    facts: Facts
    guards: list[tuple[Any, str, Any]] = field(default_factory=list)
    replays: dict[str, hir.Function] = field(default_factory=dict)
    coordinates: dict[int, int] = field(default_factory=dict)
    asked: dict[tuple[int, int | None], tuple[Template, hir.Function, Template | None]] = field(
        default_factory=dict
    )
    returned: dict[tuple[str, Template | FunctionType], hir.Function] = field(default_factory=dict)


@dataclass(frozen=True)
class ArgumentsOf:
    """Stands among the inputs of a text for an argument of the program that a trace is of."""

    name: str
    position: int


LOG_DENSITY = "the log density of the trace"
"""Stands among the inputs of a text for that."""
