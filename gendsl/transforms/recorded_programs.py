"""Run a model, or an auxiliary program, once on recorded numbers, with all of its choices given.

The body is the one that derivatives run, which asks what to call for every function. Its choices leave terms
on the tape (`gendsl.transforms.tape`), and its loops over data, where they are kept as columns, one term.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from gendsl.address import Path, as_path
from gendsl.distributions import Distribution
from gendsl.distributions.arithmetic import affine
from gendsl.distributions.base import is_ours, measured
from gendsl.distributions.column_laws import total_column
from gendsl.interface import CallRequest, GenerativeFunction
from gendsl.runtime.change import is_same
from gendsl.runtime.column_carried import hand_on
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.column_steps import LARGE, column_total
from gendsl.runtime.executions import Execution
from gendsl.runtime.loop_parts import Iterations
from gendsl.runtime.lowering.build import Compiled
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.other_programs import OtherChoice
from gendsl.runtime.records import PLAIN_FAMILIES, Records
from gendsl.runtime.totals import value as total_value
from gendsl.supports import Real, RealArray, Simplex
from gendsl.transforms.recording import Recorder
from gendsl.transforms.surroundings import compares_objects
from gendsl.transforms.tape import (
    Kept,
    Made,
    Read,
    Tape,
    Term,
    Traced,
    TracedVector,
    Unrecordable,
    Unseen,
    Written,
    refuse,
)
from gendsl.transforms.vectors import SHORT

_MOST_CHOICES = 64
_SHORT_SHAPES = frozenset((n,) for n in range(1, SHORT + 1))
_NUMBERS = frozenset((int, bool, str))
_ABSENT = object()


class _Programs(Recorder):
    """What is called in place of functions."""

    def lift(self, function: Any) -> Any:
        if isinstance(function, type) and issubclass(function, Distribution):
            return _making(function)
        if isinstance(function, GenerativeFunction):
            return function
        return super().lift(function)


def _making(kind: type[Distribution]) -> Callable[..., Any]:
    """What is called in place of a class of distributions; one of a user's may look at anything."""

    def make(*arguments: Any, **named: Any) -> Any:
        if not is_ours(kind) or _holds_recorded(arguments) or _holds_recorded(named):
            return Made(kind, _copied(arguments), {name: _copied(value) for name, value in named.items()})
        return kind(*arguments, **named)

    return make


def _copied(thing: Any) -> Any:
    """A value with lists of its own, as the body may change those that it has."""
    return type(thing)(map(_copied, thing)) if type(thing) in (list, tuple) else thing


def _holds_recorded(thing: Any) -> bool:
    if type(thing) in (Traced, TracedVector, Made, Unseen):
        return True
    if isinstance(thing, (list, tuple, set)):
        return any(map(_holds_recorded, thing))
    return isinstance(thing, dict) and any(map(_holds_recorded, thing.values()))


_PROGRAMS = _Programs()


class RecordedProgram(Execution):
    """An execution that scores a program's choices on a tape.

    Args:
        side: 0 for the model, 1 for the auxiliary program.
        program: the function that is run.
        written: the choices that the transform writes.
        values: what it wrote in the run that is recorded.
        before: the old trace of a model, whose other choices are kept; None for an auxiliary program.
        after: the new trace.
        arguments: those that the body is called with, as far as they are objects.

    Attributes:
        choices: what the body saw of each choice.
    """

    slice = slice
    lift = staticmethod(_PROGRAMS.lift)

    def __init__(
        self,
        tape: Tape,
        side: int,
        program: Any,
        written: Mapping[Path, Written],
        values: Mapping[Path, Any],
        before: Any,
        after: Any,
        arguments: tuple[Any, ...] = (),
    ) -> None:
        super().__init__()
        self.tape = tape
        self.side = side
        self.program = program
        self.written = written
        self.given = values
        self.old: Records | None = None if before is None else before.records
        self.before = before
        self.after = after
        self.arguments = arguments
        self.choices: dict[Path, Any] = {}
        self.plates: list[Plate] = []

    def body_of(self, compiled: Compiled) -> Callable[..., Any]:
        return compiled.differentiable

    @staticmethod
    def put(value: Any, container: Any, index: Any, *deeper: Any) -> Any:
        """What `container` is after `container[index] = value`."""
        if deeper:
            value = RecordedProgram.put(value, container[index], *deeper)
        if type(container) not in (list, dict):
            refuse()
        container[index] = value
        return container

    @staticmethod
    def inplace(name: str, left: Any, right: Any) -> Any:
        """`left += right`, or another operator."""
        if isinstance(left, np.ndarray):
            refuse()
        return getattr(operator, f"i{name.removesuffix('_')}")(left, right)

    def plate(self, number: int, sources: Callable[[], tuple[Any, ...]], *steps: Any) -> bool:
        """Score the choices of a loop at once; False, and nothing is done, if they must come one by one."""
        if self.prefix or self.function is not self.program or self.side or self.block_of(number) is None:
            return False
        self.plates.append(Plate(self, number, sources, steps))
        return True

    def block_of(self, number: int) -> ColumnLoopBlock | None:
        """The block of the old trace that keeps a plate as columns, if there is one."""
        called: Any = getattr(self.before, "_called", None)
        plate = self.program.compiled.plates[number]
        parts = [step.site.parts for step in plate.steps if step.site is not None]
        for block in () if called is None else called.linked.body.blocks:
            if type(block) is not ColumnLoopBlock or _place(block.node) != plate.place:
                continue
            if [step.site.parts for step in block.sites if step.site is not None] == parts:
                iterations = called.frame[block.state][0]
                return block if type(iterations.frames) is ColumnFrames else None
        return None

    def is_argument(self, value: Any) -> bool:
        """Whether a value is an argument as it is, which the old trace has, too."""
        return any(value is argument for argument in self.arguments)

    # --- choices ------------------------------------------------------------------------------------

    def at(self, address: Any, thing: Any, sugar: bool | str = False) -> Any:
        if type(thing) is OtherChoice:
            refuse()
        if type(thing) is not Made and not isinstance(thing, Distribution):
            return self._other(address, thing, sugar) if type(thing) is CallRequest else refuse()
        path = self.prefix + as_path(address)
        if path in self.choices or len(self.choices) >= _MOST_CHOICES:
            refuse()
        is_kept = path not in self.written
        value, text = self._kept(path) if is_kept else self._written(path, self.written[path])
        self.choices[path] = value
        self._score(thing, self.after.records[path][0], text, path if is_kept else None)
        return value

    def _written(self, path: Path, written: Written) -> tuple[Any, Any]:
        """What the body sees of a choice that the transform writes, and what is scored."""
        value = self.given[path]
        if not np.array_equal(value, self.after.records[path][1]):
            refuse()
        if type(value) in _NUMBERS:
            if written.names:  # one that is copied
                (name,) = written.names
                self.tape.test(f"{name}.__class__ is {type(value).__name__} and {name} == {value!r}", True)
            return value, value
        if type(value) is float and not written.vector:
            number = Traced(self.tape, written.names[0], value)
            return number, number
        if type(value) is not np.ndarray or not written.vector:
            refuse()
        text = f"{written.names[0]}_" if written.copied else self.tape.array(written.names)
        entries = [
            Traced(self.tape, name, x) if name.isidentifier() else float(name.strip("()"))
            for name, x in zip(written.names, value.tolist(), strict=True)
        ]
        return TracedVector(entries, text), Unseen(text)  # type: ignore[arg-type]

    def _kept(self, path: Path) -> tuple[Any, Any]:
        """The same of a choice that is kept."""
        record = None if self.old is None else self.old.get(path)
        if record is None:
            refuse()
        tape = self.tape
        support, value = measured(record[0]), record[1]
        if self.after.records[path][1] is not value and not is_same(self.after.records[path][1], value):
            refuse()
        known = tape.seeds.get((0, path))
        if known is not None:
            seen = known[1]
            return seen, Unseen(str(seen.text)) if type(seen) is TracedVector else seen
        kind = type(support)
        if not kind.__module__.startswith("gendsl.supports") and kind.discrete is not False:
            refuse()
        if support.discrete and type(value) is not np.ndarray:
            if type(value) not in _NUMBERS:
                refuse()
            tape.steps.append(Kept(path, tape.name("k"), kind, support.shape, (value,)))
            return value, value
        if kind is Real and type(value) is float:
            name = tape.name("x")
            read = Read(0, path, (name,), kind, (), 1)
            seen = Traced(tape, name, value)
            text: Any = seen
        elif kind in (Simplex, RealArray) and type(value) is np.ndarray and value.shape in _SHORT_SHAPES:
            names = tuple(tape.name("x") for _ in range(len(value)))
            read = Read(0, path, names, kind, value.shape, support.dim)
            numbers = [Traced(tape, name, x) for name, x in zip(names, value.tolist(), strict=True)]
            seen = TracedVector(numbers, f"{names[0]}_")
            text = Unseen(f"{names[0]}_")
        else:
            name = tape.name("k")
            tape.steps.append(Kept(path, name, kind, support.shape, None))
            unseen = Unseen(name)
            return unseen, unseen
        tape.steps.append(read)
        return seen, text

    def _score(self, thing: Any, distribution: Distribution, value: Any, kept: Path | None) -> None:
        """Note the log density of a value; `distribution` is what it was scored with when it was made."""
        kind = type(distribution)
        if (thing.kind if type(thing) is Made else type(thing)) is not kind:
            refuse()
        is_plain = PLAIN_FAMILIES[kind] is (float if type(value) is Traced else type(value))
        method = "at" if is_plain else "logpdf"
        if type(thing) is Made:
            self.tape.steps.append(Term(self.side, thing, method, (value,), is_plain, kept))
            return
        function = getattr(thing, method)
        family = type(thing.dist) if kind is affine else kind
        if type(value) in _NUMBERS and PLAIN_FAMILIES[family] is not None:
            self.score += float(function(value))
        else:
            self.tape.steps.append(Term(self.side, function, None, (value,), is_plain))

    # --- what can't be ------------------------------------------------------------------------------

    def choose(self, path: Path, distribution: Distribution) -> NoReturn:
        refuse()

    unaddressed = nested = refuse

    def splice(self, thing: Any) -> Any:
        return self.run(thing) if type(thing) is CallRequest else refuse()

    spliced = refuse


class RecordedTrace:
    """The new trace of a model, as an auxiliary program may look at it in a run that is recorded."""

    def __init__(self, choices: Mapping[Path, Any]) -> None:
        self._choices = choices

    def __getitem__(self, address: Any) -> Any:
        value = self._choices.get(as_path(address), _ABSENT)
        return refuse() if value is _ABSENT else value

    __hash__ = __bool__ = __len__ = __iter__ = __contains__ = __eq__ = refuse


class Plate:
    """The log density of a loop over data that a trace keeps as columns, where it only reads other values.

    Attributes:
        slots: what it reads of the body around it.
        affected: what of it depends on that.
        parameters: what gives the parameters from it where no code has to be run.

    Raises:
        Unrecordable: it does something else.
    """

    def __init__(
        self, run: RecordedProgram, number: int, sources: Callable[[], tuple[Any, ...]], steps: Any
    ) -> None:
        block = run.block_of(number)
        assert block is not None
        values: dict[int, Any] = {}
        for step, function in zip(run.program.compiled.plates[number].steps, steps, strict=True):
            names = function.__code__.co_freevars
            cells = dict(zip(names, function.__closure__ or (), strict=True))
            for name, slot in step.outer:
                if name in cells and not run.is_argument(value := cells[name].cell_contents):
                    values[slot] = _copied(value)
        affected = block.affected.alike(frozenset(values))
        if not _is_given(sources()) or affected is None:
            raise Unrecordable("a loop over data looks something up")
        iterations: Iterations = run.before._called.frame[block.state][0]
        self.block = block
        self.slots = tuple(values)
        self.affected = affected
        scored = {step.number for step in affected.steps}
        self.others = sorted({*range(len(block.sites))} - scored)
        self.size = len(iterations.frames)
        self.sources = iterations.values
        if not (self.holds(run.before._called.frame) and self.holds(run.after._called.frame)):
            raise Unrecordable("a loop over data is another")
        self.parameters = self._parameters(run)
        run.tape.steps.append(Term(0, self, None, (Unseen("trace"), tuple(values.values())), False))

    def _parameters(self, run: RecordedProgram) -> Callable[[tuple[Any, ...]], tuple[Any, ...]] | None:
        """What picks the parameters of the only choice from the values that the loop reads, if that is all
        there is to do, and the step changes them."""
        block, affected = self.block, self.affected
        if not len(block.sites) == len(affected.steps) == 1:
            return None
        if affected.columns or affected.handed or affected.assigned:
            return None
        (step,) = affected.steps
        if block.needed_targets or compares_objects(step.runner.call.__code__):
            return None
        frames = [trace._called.frame[block.state][0].frames.outer[0] for trace in (run.before, run.after)]
        if all(is_same(*(outer[slot] for outer in frames)) for slot in self.slots):
            return None
        marks = {slot: Unseen(str(slot)) for slot in frames[0]}
        places: list[int] = []
        constants: list[float] = []
        try:
            kind, *made = step.runner.call(marks, {})
        except (Unrecordable, Exception):  # it does something with them
            return None
        for parameter in made:
            if type(parameter) in (int, float):
                places.append(len(self.slots) + len(constants))
                constants.append(parameter)
            else:
                places += [i for i, slot in enumerate(self.slots) if parameter is marks[slot]]
        if kind is not step.family or len(places) != len(made):
            return None
        pick = operator.itemgetter(*(places if len(places) > 1 else [slice(places[0], places[0] + 1)]))
        return (lambda values: pick((*values, *constants))) if constants else pick

    def holds(self, frame: Any) -> bool:
        """Whether a frame has the same iterations as columns."""
        iterations: Iterations = frame[self.block.state][0]
        if type(iterations.frames) is not ColumnFrames or iterations.frames.size != self.size:
            return False
        sources = iterations.values
        return len(sources) == len(self.sources) and all(map(_is_alike, sources, self.sources))

    def __call__(self, trace: Any, values: tuple[Any, ...]) -> float:
        """What the loop scores where it reads these values, and else what it read in a trace."""
        block, affected = self.block, self.affected
        store: ColumnFrames = trace._called.frame[block.state][0].frames
        if self.parameters is not None:
            step = affected.steps[0]
            total = total_column(step.family, store.columns[0].array(), self.parameters(values))
            if total is not None and abs(total) < LARGE * self.size:
                return total
        outer = store.outer[0]
        if all(map(is_same, map(outer.__getitem__, self.slots), values)):
            return total_value(store.total())
        columns = store.columns
        frame = block.vector_frame(store.values, store.size, store.arrays) if block.needed_targets else {}
        for slot, i in affected.columns:
            frame[slot] = columns[i].array()
        scope = ({**outer, **dict(zip(self.slots, values))}, frame)  # noqa: B905 (of one length)
        hand_on(affected.handed, scope, columns)
        for step in affected.assigned:
            block.assign(step, scope)
        totals = [store.totals[i] for i in self.others]
        for step in affected.steps:
            column = columns[step.number].array()
            totals.append(column_total(step.family, column, block.parameters(step, scope)))
        if len(totals) == 1:
            return total_value(totals[0])
        if any(infinite for _, _, infinite in totals):
            raise NotColumnsError
        return math.fsum(high + low for high, low, _ in totals)


def _is_given(thing: Any) -> bool:
    """Whether a value is made of constants and arguments."""
    if type(thing) is Unseen:
        return thing.text.startswith("args[")
    if isinstance(thing, (list, tuple)):
        return all(map(_is_given, thing))
    return not _holds_recorded(thing)


def _place(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _is_alike(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and type(a) in (int, range) and a == b)
