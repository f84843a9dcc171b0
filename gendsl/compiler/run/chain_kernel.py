"""Steps on the traces of a program as machine code, whether it was made now or kept: all that chains need."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from gendsl.compiler.hir.addresses import Addresses
from gendsl.compiler.hir.observations import Strings
from gendsl.compiler.hir.templates import MODEL, ArgumentsOf, Template
from gendsl.compiler.llvm.native_layout import Layout
from gendsl.compiler.moves import (
    Involution,
    Proposing,
    Step,
    Transition,
    Walk,
    Warming,
    all_within,
    given_trace,
)
from gendsl.compiler.run.compiled import Compiled

if TYPE_CHECKING:
    from gendsl.compiler.hir.meetings import Meeting
    from gendsl.compiler.run.closed_functions import Made
    from gendsl.compiler.steps.warming import Memory

Placed = tuple[Template, tuple[int, ...], list[Any]]
"""The template of a choice, its indices, and the leaves of its value."""


class ChainKernel(Compiled):
    """Steps on the traces of one program, for arguments of given types.

    Attributes:
        observed: the strings of the addresses that have nothing but observations; where others have some,
            the text fails.
        lowered: the programs in HIR, with the templates of all of them.
        meetings: the templates that may have the address of another one.
        memories: what its warm-ups have found, by the numbers of the steps.
        rows: for each step which row of the tallies it is counted in: where one move is picked among several,
            with probabilities that depend on the state, the row of the first.
        row_count: how many rows there are.
        compared: how many steps were compared with the reference.
        sizes_compared: how many choices the traces had that these started from.
        seconds: how long the last comparison took.
        auxiliary: the arguments of the auxiliary programs, by their names.
        functions_kept: the texts of functions whose values were recorded, or why there is none.
        left: the trace that the last chain stopped at, after how many steps, and its memory, for a chain that
            goes on from there; or nothing.
        compare_at: when there is to be one again, on the clock `time.perf_counter`, if nothing is new.
    """

    observed: frozenset[Strings]
    meetings: list[Meeting]
    memories: dict[int, Memory]
    rows: list[int]
    row_count: int

    def start(self, args: tuple[Any, ...], steps: Sequence[Step | None]) -> None:
        """Begin with no runs, and with the arguments of the programs."""
        self.compared, self.sizes_compared = 0, set[int]()
        self.seconds = self.compare_at = 0.0
        self.left: list[tuple[Any, int, Any]] = []
        self.functions_kept: list[tuple[Any, Made]] = []
        self.auxiliary = {
            f"q{i}": (*given_trace(one), *one.q_args)
            for i, one in enumerate(all_of(steps))
            if isinstance(one, (Involution, Proposing)) and one.q is not None
        }
        self.values: dict[str, tuple[Any, ...]] = {MODEL: args, **self.auxiliary}
        for number, one in enumerate(all_of(steps)):
            if isinstance(one, Transition):
                self.values |= {f"t{number}_{rung}": given for rung, given in enumerate(one.args)}

    def set_values_of_walks(self, steps: Sequence[Step | None]) -> None:
        """Set the values of random walks that the text is given.

        Raises:
            NotClosed: it can't be given these.
        """
        for number, one in enumerate(all_of(steps)):
            if isinstance(one, Walk):
                from gendsl.compiler.steps import walk  # with what makes texts
                from gendsl.compiler.steps.coordinate_runs import walked

                selected = walked(self.lowered, one.wanted, self.meetings)
                values = walk.values(one, self.lowered, selected)
                given = [at.position for at, _ in self.lowered.inputs if is_input_of(at, f"walk{number}")]
                self.values[f"walk{number}"] = values * (len(given) // len(values))  # for each of its targets
            elif isinstance(one, Warming):
                memory = self.memories[number].retuned(one)
                self.memories = {**self.memories, number: memory}
                self.values[f"walk{number}"] = tuple(memory.values())

    def retuned(self, steps: Sequence[Step | None]) -> Self:
        """The same text for steps that have it, of other values.

        Raises:
            NotClosed: the text can't be given these.
        """
        made = copy.copy(self)
        made.__dict__.pop("python", None)  # which has the values
        made.left, made.sizes_compared = [], set(self.sizes_compared)
        made.values = dict(self.values)
        made.set_values_of_walks(steps)
        return made

    @cached_property
    @abstractmethod
    def slopes_of(self) -> set[tuple[int, int]]:
        """The lists from outside that are needed with tangents: (number, leaf)."""

    @cached_property
    @abstractmethod
    def written(self) -> set[int]:
        """The numbers of the templates of the model whose choices a step may change."""

    @cached_property
    @abstractmethod
    def text(self) -> str:
        """The Python text, to be read."""

    @property
    def observed_alone(self) -> list[Template]:
        """The templates whose choices are all observed, in each trace that is loaded."""
        return [one for one in self.lowered.templates if one.parts in self.observed]

    def inputs(self) -> list[tuple[int, Any, Any]]:
        return [
            (number, self.values[one.name][one.position] if isinstance(one, ArgumentsOf) else one, kind)
            for number, one, kind in super().inputs()
        ]

    def _may_change(self, place: Any) -> bool:
        # of the model's arguments a trace has copies, of an auxiliary program's a kernel has none
        return super()._may_change(place) or (isinstance(place, ArgumentsOf) and place.name in self.auxiliary)

    def placed(self, addresses: Addresses, choices: Mapping[Any, Any]) -> dict[Any, Placed]:
        """The templates, indices and leaves of the choices of a trace."""
        return {path: addresses.place(path, value) for path, value in choices.items()}

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.lowered, self.meetings)


def all_of(steps: Sequence[Step | None]) -> list[Step]:
    """Steps, with all that they are made of, each once."""
    return list({id(one): one for step in steps for one in all_within(step)}.values())


def is_input_of(found: Any, name: str) -> bool:
    """Whether an input of a text is an argument of a program or a step."""
    return isinstance(found, ArgumentsOf) and found.name == name
