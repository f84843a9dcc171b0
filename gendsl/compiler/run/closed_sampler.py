"""Closed programs: `simulate` and `generate` of a program as one text, run as Python or as machine code.

The text draws from the user's generator what the reference interpreter draws from it. Where a text fails, or
there is no room for what it draws, the generator is put back to where it was.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.hir.addresses import Paths, may_meet
from gendsl.compiler.hir.decode import from_python, from_words, typed
from gendsl.compiler.hir.failures import PYTHON_FAILURES, FailedText, NotClosed, TextFailure
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.types import Number
from gendsl.compiler.llvm.native import available
from gendsl.compiler.llvm.native_draws import generator_address
from gendsl.compiler.llvm.native_layout import FAILED, FULL, TemplateWords, Word
from gendsl.compiler.programs import sampler
from gendsl.compiler.run.closed import ClosedText, Context
from gendsl.compiler.run.returned import Reader, reader

_FIRST_CAPACITY = 16
_GROWTH = 8
_LARGEST_STATE = 1 << 26
Row = tuple[Template, tuple[int, ...], list[Any]]


class Drawn(NamedTuple):
    """What a program made.

    Attributes:
        log_prob: the log density of all choices.
        weight: that of the choices that were given.
        choices: all choices, by their paths, in no order.
    """

    log_prob: float
    weight: float
    choices: dict[tuple[Any, ...], Any]


class _Column:
    """The choices of a template, as Python text looks them up and keeps them: each once."""

    def __init__(self, state: _State, given: dict[Any, Any]) -> None:
        self.state, self.values = state, given
        self.made: set[Any] = set()

    def __contains__(self, index: Any) -> bool:
        return index in self.values

    def __getitem__(self, index: Any) -> Any:
        if index in self.made:
            raise TextFailure("a choice that is made twice")
        self.made.add(index)
        return self.values[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if index in self.values:
            raise TextFailure("an address that is used twice")
        self.values[index] = value
        self.made.add(index)

    def node(self, index: Any) -> int:
        """The number of the node of a tuple in an address, from now on the same one."""
        if index not in self.values:
            self.values[index] = self.state.new_node()
        self.made.add(index)
        return self.values[index]  # type: ignore[no-any-return]


class _State:
    """The choices and the generator, for Python text."""

    def __init__(self, rng: np.random.Generator, nodes: int) -> None:
        self.rng = rng
        self.nodes = nodes

    def new_node(self) -> int:
        """The number of a call of a program that calls itself."""
        self.nodes += 1
        return self.nodes - 1


class ClosedSampler(ClosedText):
    """The sampler of a program for arguments of given types.

    Attributes:
        wanted: the words that say for which index there was no room.
        returned: what reads what the program returned; None if the text doesn't give that.
    """

    draws: ClassVar[bool] = True

    def __init__(self, program: Any, args: tuple[Any, ...], *, returns: bool = False) -> None:
        """
        Args:
            returns: whether it is to give that, where values of its type are given back as what they are.
        """
        self.returned: Reader | None = None
        self._returns = returns
        super().__init__(program, args)
        self.begin_small()
        templates = self.lowered.templates
        layout = self.layout.templates
        self.wanted = [words.wanted(axis) for words in layout for axis in range(words.rank)]
        self.may_meet = any(template.is_below for template in templates) or may_meet(templates)

    def begin_small(self) -> None:
        """Let there be room for few of each index until more are needed."""
        self.sizes = [[_FIRST_CAPACITY] * template.rank for template in self.lowered.templates]

    def made(self, main: hir.Function) -> hir.Function:
        if self._returns:
            with contextlib.suppress(NotClosed):
                self.returned = reader(self.lowered.facts, self.lowered.result)
        return sampler.sample(main, returns=self.returned is not None)

    def generate_python(
        self, args: tuple[Any, ...], choices: Mapping[Any, Any], rng: np.random.Generator
    ) -> Drawn:
        """All choices, those that are not given drawn, by Python text.

        Raises:
            FailedText: the reference interpreter decides; the generator is as it was.
            NotClosed: the arguments or choices are not of the types that the text is for.
        """
        found, given = self.places(choices), self.arguments(args)
        state = _State(rng, sum(len(found[t.number]) for t in self.lowered.templates if t.has_nodes))
        columns: list[_Column] = []
        for template in self.lowered.templates:
            values = {_key(indices): _key(parts) for indices, parts in found[template.number]}
            columns.append(_Column(state, values))
            setattr(state, template.name, columns[-1])
        before = rng.bit_generator.state
        try:
            log_prob, weight = self.python[self.main.name](state, *given)
            if any(len(column.made) != len(column.values) for column in columns):
                raise TextFailure("choices that the program does not make")
            rows = [
                (template, _unkey(index, template.rank), _unkey(value, 1))
                for template, column in zip(self.lowered.templates, columns, strict=True)
                for index, value in column.values.items()
            ]
            return Drawn(float(log_prob), float(weight), self.choices_of(rows, from_python, log_prob))
        except PYTHON_FAILURES as error:
            rng.bit_generator.state = before
            raise self.failed(error) from error
        except FailedText:
            rng.bit_generator.state = before
            raise

    def context(self, args: tuple[Any, ...], choices: Mapping[Any, Any]) -> SamplerContext:
        """The memory of machine code, for arguments and choices that are given."""
        if available() is not None:
            raise NotClosed(available() or "")
        return SamplerContext(self, args, choices)

    def generate_native(
        self, args: tuple[Any, ...], choices: Mapping[Any, Any], rng: np.random.Generator
    ) -> Drawn:
        """All choices, those that are not given drawn, by machine code; raises as `generate_python` does."""
        return self.context(args, choices).generate(rng)

    def choices_of(self, rows: list[Row], decoded: Any, log_prob: float) -> dict[tuple[Any, ...], Any]:
        """The choices by their paths.

        Raises:
            FailedText: two have one path, or one is below another, or the log density is NaN.
        """
        made = {value[0]: (template, indices) for template, indices, value in rows if template.has_nodes}
        paths = Paths(self.lowered, made)
        choices: dict[tuple[Any, ...], Any] = {}
        calls, count = [], 0
        for template, indices, value in rows:
            if template.calls is not None:
                calls.append((template, indices))
                continue
            count += 1
            choices[paths.path(template, indices)] = decoded(template.type, value)
        if log_prob != log_prob or len(choices) != count or () in choices:
            raise FailedText(0, "a log density that is NaN, or two choices at one address")
        if self.may_meet:
            called = [paths.path(template, indices) for template, indices in calls]
            above = {path[:n] for path in choices for n in range(1, len(path))}
            above |= {path[:n] for path in called for n in range(1, len(path) + 1)}
            if above & choices.keys() or len(set(called)) != len(called):
                raise FailedText(0, "an address that is used twice")
        return choices


class SamplerContext(Context):
    """The memory of one sampler."""

    closed: ClosedSampler
    most_places: ClassVar[int] = _LARGEST_STATE

    def capacity(self, template: Template, rows: list[tuple[tuple[int, ...], list[Any]]]) -> list[int]:
        least = [1 + max((indices[axis] for indices, _ in rows), default=-1) for axis in range(template.rank)]
        sizes = self.closed.sizes[template.number]
        found = [max(pair) for pair in zip(least, sizes, strict=True)]
        if math.prod(found) > self.most_places:
            raise NotClosed(f"the indices of {template.parts!r} are far apart")
        return found

    def put(self, template: Template, indices: tuple[int, ...], parts: list[Any]) -> None:
        super().put(template, indices, [parts[0] + 1] if template.is_of_paths else parts)

    def generate(self, rng: np.random.Generator) -> Drawn:
        """All choices, those that are not given drawn."""
        generator = rng.bit_generator
        before = generator.state
        self.words[Word.GENERATOR] = generator_address(generator)
        try:
            with generator.lock:
                status = self.run_with_room(generator, before)
            if status == FAILED:
                raise self.failure()
            log_prob, weight = self.float_result(0), self.float_result(1)
            choices = self.closed.choices_of(list(self.rows()), from_words, log_prob)
        except (FailedText, NotClosed):
            generator.state = before
            raise
        return Drawn(log_prob, weight, choices)

    def run_with_room(self, generator: Any, before: Any) -> int:
        """Run the text, with as much memory as it needs; the status."""
        templates, wanted = self.closed.lowered.templates, self.closed.wanted
        given = sum(len(self.found[t.number]) for t in templates if t.has_nodes)
        self.words[Word.NODES], self.words[Word.NODE_ROOM] = given, _LARGEST_STATE
        while True:
            self.words[wanted] = -1
            status = self.start()
            if status != FULL:
                return status
            generator.state = before
            if self._make_room():
                self.words[Word.NODES] = given
            else:
                self.grow()  # tuples in addresses keep the numbers that they got

    def _make_room(self) -> bool:
        """Make the state larger where there was no room; whether there was none anywhere."""
        grown = False
        for template, words in zip(self.closed.lowered.templates, self.closed.layout.templates, strict=True):
            sizes = self.closed.sizes[template.number]
            for axis, capacity in enumerate(self.capacities[template.number]):
                wanted = int(self.words[words.wanted(axis)])
                if wanted >= capacity:
                    sizes[axis] = max(wanted + 1, _GROWTH * capacity)
                    grown = True
        if grown:
            self._choices()
        return grown

    def rows(self) -> Iterator[Row]:
        """The choices and calls that were made.

        Raises:
            FailedText: one that was given is not among them.
        """
        for template, stamps, columns in zip(
            self.closed.lowered.templates, self.stamps, self.columns, strict=True
        ):
            if template.is_of_paths:  # a number more than that of the node, or none
                columns = [columns[0] - 1]
                made = columns[0] >= 0
            else:
                made = stamps[TemplateWords.VISITED] == self.words[Word.NOW]
            given = stamps[TemplateWords.CURRENT] == self.words[Word.CURRENT]
            if (given & ~made).any():
                raise FailedText(0, "choices that the program does not make")
            places = np.flatnonzero(made)
            if not len(places):
                continue
            capacity = self.capacities[template.number]
            found = np.unravel_index(places, capacity) if capacity else ()
            indices = zip(*(axis.tolist() for axis in found), strict=True) if capacity else [()]
            kind = template.type.kind if isinstance(template.type, Number) else "i"
            values = [typed(column[places], kind).tolist() for column in columns]
            rows = zip(*values, strict=True) if values else [()] * len(places)
            for at, row in zip(indices, rows, strict=True):
                yield template, at, list(row)


def _key(parts: Any) -> Any:
    """Indices or leaves as Python text writes them."""
    if len(parts) == 1:
        return parts[0]
    return tuple(parts)


def _unkey(found: Any, rank: int) -> Any:
    """Indices or leaves as a tuple."""
    if isinstance(found, tuple):
        return found
    return (found,) if rank else ()
