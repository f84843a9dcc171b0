"""Closed programs: the log density of a program as one text, run as Python or as machine code."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from traceback import walk_tb
from types import CodeType
from typing import Any, ClassVar

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front.argument_types import types_of_arguments
from gendsl.compiler.front.program import Lowering
from gendsl.compiler.hir import Input, collector
from gendsl.compiler.hir.encode import Words, deep_layout, flat, room, with_tangents
from gendsl.compiler.hir.failures import PYTHON_FAILURES, FailedText, NotClosed, TextFailure
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.types import Type, leaves
from gendsl.compiler.llvm.native import available
from gendsl.compiler.llvm.native_layout import FAILED, FULL, TemplateWords, Word
from gendsl.compiler.llvm.print_llvm import print_llvm
from gendsl.compiler.passes import invariants
from gendsl.compiler.passes.axes import Axes
from gendsl.compiler.programs import density
from gendsl.compiler.python.numpy_loops import arrays_of, print_at_once
from gendsl.compiler.python.print_python import (
    TEXT,
    compiled_python,
    input_name,
    name_apart,
    print_python,
    run_python,
)
from gendsl.compiler.python.whole_columns import Values, joined
from gendsl.compiler.run.compiled import Compiled

_ARENA = 1 << 16
_LARGEST_ARENA = 1 << 32
_SPARSE = 16
_PROGRAM_LINE = re.compile(r"  # (\d+)$")
"""What a line of Python text ends with that begins what a line of a program says."""


class _Column:
    """The choices of a template, as Python text looks them up: each once."""

    def __init__(self, kind: str, *, is_of_paths: bool = False) -> None:
        self.values, self.visited = Values(kind), set[Any]()
        self.is_of_paths = is_of_paths

    def __contains__(self, index: Any) -> bool:
        return index in self.values

    def __getitem__(self, index: Any) -> Any:
        value = self.values[index]
        if index in self.visited and not self.is_of_paths:
            raise TextFailure("a choice that is made twice")
        self.visited.add(index)
        return value

    def row(self, seen: list[Any], start: int, stop: int, *first: int) -> Any:
        """The values of choices whose last indices are one behind another, all at once."""
        if start < 0 or not self.values.kind:
            raise TextFailure("choices that are not looked at all at once")
        every = {joined(first, place) for place in range(start, stop)}
        if not every <= self.values.keys() or self.visited & every or any(one[0] is self for one in seen):
            raise TextFailure("choices that are made twice, or not given")
        seen.append((self, every))
        return self.values.row(first, start, stop)

    def count(self) -> int:
        """How many were looked up."""
        return len(self.visited)


def _looked_up(statement: hir.Statement) -> hir.Body | None:
    """The numbers of tuples in addresses are looked up: all that there are choices at have one."""
    if not isinstance(statement, hir.Node):
        return None
    target, template, indices = statement.target, statement.template, statement.indices
    return [hir.Visit([target], template, indices, line=statement.line)]


def _program_line(lines: list[str], at: int) -> int:
    """The line of the program that a line of Python text is of; 0 in functions of the library's."""
    while at > 1 and not lines[at - 1].startswith("def ") and not _PROGRAM_LINE.search(lines[at - 1]):
        at -= 1
    found = _PROGRAM_LINE.search(lines[at - 1])
    return int(found[1]) if found else 0


def _number(log_density: float) -> float:
    """A log density; where it is NaN, the reference says of which choice."""
    if log_density != log_density:
        raise FailedText(0, "a log density that is NaN")
    return log_density


class _State:
    """The choices of a trace, for Python text."""

    def see(self, seen: list[Any]) -> None:
        """Note that choices were looked up, all at once."""
        for column, every in seen:
            column.visited |= every


class CompiledText(Compiled):
    """The same with its Python text."""

    @abstractmethod
    def printed(self, axes: Axes | None) -> str:
        """The Python text; its comments say which loops run in lanes as machine code, if that is known."""

    @cached_property
    @abstractmethod
    def axes(self) -> Axes:
        """Which loops run in lanes as machine code."""

    def running(self) -> str:
        """The Python text that runs: loops over data are NumPy."""
        return self.printed(None)

    @cached_property
    def text(self) -> str:
        """The Python text, to be read."""
        return self.printed(self.axes)

    @cached_property
    def python(self) -> dict[str, Any]:
        """The functions of the Python text."""
        return self.namespace()

    @cached_property
    def runs(self) -> tuple[str, CodeType]:
        """The Python text that runs, and what Python made of it."""
        text = self.running()
        return text, compiled_python(text)

    def namespace(self) -> dict[str, Any]:
        """The functions of the Python text, with what is outside as it is now."""
        facts, given = self.lowered.facts, {}
        for number, found, kind in self.inputs():
            layout = deep_layout(facts, kind)
            for leaf, (value, (_, inner)) in enumerate(zip(flat(facts, found, kind), layout, strict=True)):
                given[input_name(Input(number, leaf, "r"))] = value
                if inner:
                    given[input_name(Input(number, leaf, "r", True))] = with_tangents(value, inner)
        text, code = self.runs
        return run_python(code, given | arrays_of(text, given))

    def failed(self, error: Exception) -> FailedText:
        """Where the Python text failed, by an error, in lines of the program."""
        lines = self.runs[0].splitlines()
        places = [at for frame, at in walk_tb(error.__traceback__) if frame.f_code.co_filename == TEXT]
        told = isinstance(error, (TextFailure, ArithmeticError, ValueError))
        reason = str(error) if told else f"{type(error).__name__}: {error}"
        of_program = filter(None, (_program_line(lines, at) for at in reversed(places)))
        return FailedText(next(of_program, 0), reason)


class ClosedText(CompiledText):
    """A text that is made of a program, for arguments of given types.

    Attributes:
        main: the function of the text that is called.
    """

    draws: ClassVar[bool] = False
    """Whether choices that are not given are drawn."""

    @collector.waiting()
    def __init__(self, program: Any, args: tuple[Any, ...]) -> None:
        lowering = Lowering(draws=self.draws)
        types = types_of_arguments(lowering.facts, program, args)
        self.lowered = lowering.lower(program, types)
        self.main = self.made(self.lowered.main)
        invariants.simplify([self.main])
        name_apart([self.main])

    @abstractmethod
    def made(self, main: hir.Function) -> hir.Function:
        """What becomes of the program."""

    def printed(self, axes: Axes | None) -> str:
        return print_python(self.main, axes=axes)

    @cached_property
    def axes(self) -> Axes:
        return Axes([self.main])

    def arguments(self, args: tuple[Any, ...]) -> list[Any]:
        """The leaves of arguments."""
        facts = self.lowered.facts
        found = [
            leaf
            for arg, kind in zip(args, self.lowered.arguments, strict=True)
            for leaf in flat(facts, arg, kind)
        ]
        facts.fill_columns()  # of the strings among them, too
        return found

    @cached_property
    @collector.waiting()
    def llvm(self) -> tuple[str, list[tuple[int, str]]]:
        return print_llvm(self.main, self.layout, self.axes)


class ClosedDensity(ClosedText):
    """The log density of a program for arguments of given types."""

    def made(self, main: hir.Function) -> hir.Function:
        scored = density.score(main)
        for function in hir.functions(scored):
            function.body = hir.copied_body(function.body, _looked_up)
        return scored

    def running(self) -> str:
        return print_at_once(self.main)

    def assess_python(self, args: tuple[Any, ...], choices: Mapping[Any, Any]) -> float:
        """The log density of choices, by Python text.

        Raises:
            FailedText: the reference interpreter decides.
            NotClosed: the arguments or choices are not of the types that the text is for.
        """
        state = _State()
        for template in self.lowered.templates:
            kinds = leaves(template.type)
            kind = kinds[0] if len(kinds) == 1 else ""
            setattr(state, template.name, _Column(kind, is_of_paths=template.is_of_paths))
        found = self.places(choices)
        for template in self.lowered.templates:
            column = getattr(state, template.name)
            for indices, parts in found[template.number]:
                index = indices[0] if len(indices) == 1 else indices
                column.values[index] = parts[0] if len(parts) == 1 else tuple(parts)
        given = self.arguments(args)
        try:
            with np.errstate(all="ignore"):
                result = float(self.python[self.main.name](state, *given))
        except PYTHON_FAILURES as error:
            raise self.failed(error) from error
        visited = sum(getattr(state, t.name).count() for t in self.lowered.templates if t.calls is None)
        if visited != len(choices):
            raise FailedText(0, "choices that the program does not make")
        return _number(result)

    def context(self, args: tuple[Any, ...], choices: Mapping[Any, Any]) -> Context:
        """The words of arguments and choices."""
        return Context(self, args, choices)

    def assess_native(self, args: tuple[Any, ...], choices: Mapping[Any, Any]) -> float:
        """The log density of choices, by machine code; raises as `assess_python` does."""
        if available() is not None:
            raise NotClosed(available() or "")
        return self.context(args, choices).run()


class Context:
    """The memory of one text: arguments, inputs, choices and the arena.

    Attributes:
        words: what the text is given the address of; see `native_layout`.
        stamps: for each template the four stamps of each place.
        columns: for each template the leaves of the choices.
        capacities: for each template how many places there are along each index.
    """

    def __init__(self, closed: Compiled, args: tuple[Any, ...], choices: Mapping[Any, Any]) -> None:
        self.closed = closed
        self.words = np.zeros(closed.layout.size, np.int64)
        self.arena = room(_ARENA)
        self.set_arguments(args)
        self.found = closed.places(choices)
        self.count = sum(len(self.found[t.number]) for t in closed.lowered.templates if t.counted)
        self.stamps: list[np.ndarray] = []
        self.columns: list[list[np.ndarray]] = []
        self.capacities: list[list[int]] = []
        self._choices()

    def set_arguments(self, args: tuple[Any, ...]) -> None:
        """Set the words of arguments, and of what lies outside.

        Raises:
            NotClosed: they are not of the types that the text is for.
        """
        lowered, facts = self.closed.lowered, self.closed.lowered.facts
        self.memory = Words()
        at = self.closed.layout.arguments
        for arg, kind in zip(args, lowered.arguments, strict=True):
            for leaf, (word, inner) in zip(flat(facts, arg, kind), deep_layout(facts, kind), strict=True):
                self.words[at] = self.memory.word(leaf, word, inner)
                at += 1
        for number, found, of in self.closed.inputs():
            self.set_input(number, found, of)

    def set_input(self, number: int, found: Any, kind: Type) -> None:
        """Set the words of an object from outside."""
        facts = self.closed.lowered.facts
        layout = deep_layout(facts, kind)
        kinds = leaves(kind)
        for leaf, (value, (word, inner)) in enumerate(zip(flat(facts, found, kind), layout, strict=True)):
            given = Input(number, leaf, kinds[leaf])
            self.words[self.closed.layout.input_word(given)] = self.memory.word(value, word, inner)

    def capacity(self, template: Template, rows: list[tuple[tuple[int, ...], list[Any]]]) -> list[int]:
        """How many places there are along each index of a template."""
        capacity = [
            1 + max((indices[axis] for indices, _ in rows), default=-1) for axis in range(template.rank)
        ]
        if math.prod(capacity) > _SPARSE * (len(rows) + 64):
            raise NotClosed(f"the indices of {template.parts!r} are far apart")
        return capacity

    def _choices(self) -> None:
        """Make columns and stamps, with the choices that are given."""
        closed = self.closed
        self.stamps, self.columns, self.capacities = [], [], []
        self.words[Word.NOW] = self.words[Word.CURRENT] = 1
        self.words[Word.CURRENT_AUXILIARY] = -1
        for template, words in zip(closed.lowered.templates, closed.layout.templates, strict=True):
            rows = self.found.get(template.number, [])
            if any(index < 0 for indices, _ in rows for index in indices):
                raise NotClosed("a negative index in an address")
            capacity = self.capacity(template, rows)
            size = max(math.prod(capacity), 1)
            self.stamps.append(room(4 * size).reshape(4, size))
            self.columns.append([room(size) for _ in leaves(template.type)])
            self.capacities.append(capacity)
            for indices, parts in rows:
                self.put(template, indices, parts)
            self.words[words.stamps(TemplateWords.TRACE)] = template.is_auxiliary
            self.words[words.stamps(TemplateWords.LEAVES)] = words.columns
            for axis, extent in enumerate(capacity):
                self.words[words.capacity(axis)] = extent
            self.point(template)

    def point(self, template: Template) -> None:
        """Let the words of a template point to its memory."""
        words = self.closed.layout.templates[template.number]
        for which, stamps in enumerate(self.stamps[template.number]):
            self.words[words.stamps(which)] = stamps.ctypes.data
        for leaf, column in enumerate(self.columns[template.number]):
            self.words[words.column(leaf)] = column.ctypes.data

    def index(self, template: Template, indices: tuple[int, ...]) -> int:
        """The place of a choice."""
        index = 0
        for axis, at in enumerate(indices):
            index = at if axis == 0 else index * self.capacities[template.number][axis] + at
        return index

    def put(self, template: Template, indices: tuple[int, ...], parts: list[Any]) -> None:
        """Put a choice into the current trace."""
        index = self.index(template, indices)
        self.stamps[template.number][TemplateWords.CURRENT, index] = self.words[Word.CURRENT]
        layout = deep_layout(self.closed.lowered.facts, template.type)
        for column, leaf, (kind, inner) in zip(self.columns[template.number], parts, layout, strict=True):
            column[index] = self.memory.word(leaf, kind, inner)

    def start(self) -> int:
        """Run the text once; the status."""
        self.words[Word.NOW] += 1
        self.words[Word.VISITED] = 0
        self.words[Word.NEXT] = self.arena.ctypes.data
        self.words[Word.END] = self.arena.ctypes.data + 8 * len(self.arena)
        return self.closed.native.entry(self.words.ctypes.data)

    def grow(self) -> None:
        """Make the arena larger.

        Raises:
            FailedText: it may not be larger.
        """
        if len(self.arena) >= _LARGEST_ARENA // 8:
            raise FailedText(0, "more memory than a text may use")
        self.arena = room(4 * len(self.arena))

    def _are_made(self, template: Template) -> bool:
        """Whether all choices of a template that are given were made."""
        stamps = self.stamps[template.number]
        given = stamps[TemplateWords.CURRENT] == self.words[Word.CURRENT]
        return not (given & (stamps[TemplateWords.VISITED] != self.words[Word.NOW])).any()

    def float_result(self, leaf: int) -> float:
        """A result that is a float."""
        at = self.closed.layout.result_word(leaf)
        return float(self.words[at : at + 1].view(np.float64)[0])

    def failure(self) -> FailedText:
        """Where the text failed."""
        return FailedText(*self.closed.llvm[1][int(self.words[Word.SITE])])

    def run(self) -> float:
        """The log density."""
        places = list(zip(self.closed.lowered.templates, self.closed.layout.templates, strict=True))
        factors = [(template, words) for template, words in places if template.weighs]
        for template, words in factors:
            for axis in range(template.rank):
                self.words[words.wanted(axis)] = -1
        while (status := self.start()) == FULL:
            for template, words in factors:
                for axis, capacity in enumerate(self.capacities[template.number]):
                    if self.words[words.wanted(axis)] >= capacity:
                        raise FailedText(0, "a factor that is not given")
            self.grow()
        if status == FAILED:
            raise self.failure()
        made = all(self._are_made(template) for template, _ in factors)
        if self.words[Word.VISITED] != self.count or not made:
            raise FailedText(0, "choices that the program does not make")
        return _number(self.float_result(0))
