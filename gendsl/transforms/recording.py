"""Run a transform once on numbers that write down what is done with them (`gendsl.transforms.tape`).

The body is compiled a second time, with what records in the place of `read`, `write`, `copy` and of the
functions that it calls.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, NoReturn

import numpy as np

from gendsl.address import Path
from gendsl.lang.lift import Lifter
from gendsl.runtime.records import Record
from gendsl.supports import Real, RealArray, Simplex, Support
from gendsl.transforms.access import Accessor
from gendsl.transforms.formulas import SLOPES_AS_TEXT, Formulas, steps_of
from gendsl.transforms.functions import lifted as differentiable
from gendsl.transforms.handles import InputHandle, OutputHandle
from gendsl.transforms.run import continuous, discrete, measure_in
from gendsl.transforms.statements import copy, read, write
from gendsl.transforms.tape import Read, Tape, Traced, TracedVector, Unrecordable, Written, constant, refuse
from gendsl.transforms.vectors import SHORT

_ABSENT = object()

# --- handles ---------------------------------------------------------------------------------------


class RecordedInput(InputHandle):
    """An input trace of a run that is recorded."""

    __slots__ = ("name", "observed", "records", "side", "tape", "transform")
    path: Path = ()

    def __init__(self, tape: Tape, transform: Any, side: int, trace: Any) -> None:
        self.tape = tape
        self.transform = transform
        self.name = transform.inputs[side]
        self.side = side
        self.records = trace.records
        self.observed = trace.observed_paths

    @property
    def state(self) -> RecordedInput:  # type: ignore[override]
        """Itself: the handle of the whole trace."""
        return self

    @property
    def args(self) -> NoReturn:
        """Refused: what is computed from arguments is no constant."""
        refuse()

    retval = args

    def __contains__(self, address: Any) -> bool:
        refuse()

    def value(self, path: Path, label: Any) -> Any:
        """What `read` gives."""
        support, record = self.look_up(path)
        if label is not None and label is not (discrete if support.discrete else continuous):
            refuse()
        value = record[1]
        if support.discrete:
            if type(value) not in (int, bool, str) or support.shape != ():
                refuse()
            self.tape.looked_at.add((self.side, path))
            self.tape.switches.append((self.side, path, value))
            return value
        return self.seed(path, support, value)[1]

    def look_up(self, path: Path) -> tuple[Support, Record]:
        """The measure and the record of a choice."""
        record = self.records.get(path)
        support = None if record is None else measure_in(self.records, path)
        if record is None or support is None:
            raise Unrecordable("there is no such choice")
        return support, record

    def copied(self, path: Path) -> tuple[tuple[str, ...], Any, bool]:
        """The variables of a choice that is copied, its value if it has none, and whether it is a vector."""
        support, record = self.look_up(path)
        vector = support.shape != ()
        if not support.discrete:
            return self.seed(path, support, record[1])[0].names, None, vector
        name = self.tape.name("c")
        if type(record[1]) not in (int, bool, str) or vector:
            refuse()
        self.tape.steps.append(Read(self.side, path, (name,), None, (), 0))
        self.tape.looked_at.add((self.side, path))
        return (name,), None, vector

    def seed(self, path: Path, support: Support, value: Any) -> tuple[Read, Any]:
        """The variables of a continuous choice, and what `read` gives for it."""
        known = self.tape.seeds.get((self.side, path))
        if known is not None:
            return known
        if path in self.observed:
            refuse()
        tape, kind, shape = self.tape, type(support), support.shape
        made: tuple[Read, Any]
        if kind is Real and type(value) is float:
            name = tape.name("x")
            made = Read(self.side, path, (name,), kind, (), 1), Traced(tape, name, value)
        elif kind in (Simplex, RealArray) and type(value) is np.ndarray and shape is not None:
            if len(shape) != 1 or not 0 < shape[0] <= SHORT or value.shape != shape:
                refuse()
            names = tuple(tape.name("x") for _ in range(shape[0]))
            numbers = [Traced(tape, name, x) for name, x in zip(names, value.tolist(), strict=True)]
            vector = TracedVector(numbers, f"{names[0]}_")
            made = Read(self.side, path, names, kind, shape, support.dim), vector
        else:
            refuse()
        tape.steps.append(made[0])
        tape.seeds[self.side, path] = made
        tape.looked_at.add((self.side, path))
        return made


class RecordedOutput(OutputHandle):
    """An output trace of a run that is recorded."""

    __slots__ = ("name", "side", "tape", "transform")
    path: Path = ()

    def __init__(self, tape: Tape, transform: Any, side: int) -> None:
        self.tape = tape
        self.transform = transform
        self.name = transform.outputs[side]
        self.side = side

    @property
    def state(self) -> RecordedOutput:  # type: ignore[override]
        """Itself: the handle of the whole trace."""
        return self


# --- the run ---------------------------------------------------------------------------------------

USUAL = frozenset((
    range, len, enumerate, zip, list, tuple, set, dict, sum, min, max, sorted, reversed, abs, any, all, bool,
    slice, isinstance, type, map, filter, pow,
))  # fmt: skip
"""Builtins that do the same with recorded numbers as with others, or refuse them."""

MODULES = ("math", "numpy", "bisect", "_bisect", "operator", "_operator")
"""Modules whose functions always do the same."""


def _functions_of_one() -> dict[Any, str]:
    """The functions of `math` and NumPy that a tape can hold, with the names that `math` has for them."""
    found = {}
    for name in SLOPES_AS_TEXT:
        found[getattr(math, name)] = name
        in_numpy = f"arc{name[1:]}" if name.startswith("a") else name
        if hasattr(np, in_numpy):
            found[getattr(np, in_numpy)] = name
    return found


_UNARY = _functions_of_one()


_NEEDS = {
    "sqrt": "{x} > 0.0", "cbrt": "{x} != 0.0", "log": "{x} > 1e-300", "log2": "{x} > 1e-300",
    "log10": "{x} > 1e-300", "asin": "-1.0 < {x} < 1.0", "acos": "-1.0 < {x} < 1.0", "acosh": "{x} > 1.0",
}  # fmt: skip
"""Where functions have finite slopes, of those that also have values elsewhere: a run refuses others, whether
or not a determinant depends on them."""


def _unary(name: str, function: Any) -> Callable[[Any], Any]:
    compute, rule = getattr(math, name), SLOPES_AS_TEXT[name]

    def recorded(x: Any, /, *other: Any, **keywords: Any) -> Any:
        if other or keywords or type(x) is not Traced:
            return _without_numbers(function)(x, *other, **keywords)
        try:
            value = compute(x.value)
        except (ArithmeticError, ValueError) as error:
            raise Unrecordable(str(error)) from error
        z = f"y{x.tape.names + 1}"
        slope = x.name, f"({rule.format(x=x.name, y=z)})"
        needs = _NEEDS[name].format(x=x.name) if name in _NEEDS else None
        return x.tape.let(value, f"{name}({x.name})", slope, needs=needs)

    return recorded


def _hypot(x: Any, y: Any) -> Any:
    return _of_two(math.hypot, x, y, "({x} / {z})", "({y} / {z})")


def _atan2(y: Any, x: Any) -> Any:
    return _of_two(math.atan2, y, x, "({y} / ({x} * {x} + {y} * {y}))", "(-{x} / ({x} * {x} + {y} * {y}))")


_OF_TWO = {math.hypot: _hypot, math.atan2: _atan2}


def _of_two(function: Callable[[float, float], float], x: Any, y: Any, to_x: str, to_y: str) -> Any:
    """A function of two numbers that has no derivative where both are 0."""
    given = [part.name if type(part) is Traced else constant(part) for part in (x, y)]
    traced = [part for part in (x, y) if type(part) is Traced]
    if None in given or not traced:
        return function(x, y)
    tape = traced[0].tape
    value = function(*(part.value if type(part) is Traced else part for part in (x, y)))
    names = {"x": given[0], "y": given[1], "z": f"y{tape.names + 1}"}
    rules = ((part, rule.format(**names)) for part, rule in ((x, to_x), (y, to_y)))
    return tape.let(
        value,
        f"{function.__name__}({given[0]}, {given[1]})",
        *((part.name, slope) for part, slope in rules if type(part) is Traced),
        needs=f"{given[0]} != 0.0 or {given[1]} != 0.0",
    )


def _holds_number(thing: Any) -> bool:
    if type(thing) in (Traced, TracedVector):
        return True
    if isinstance(thing, (list, tuple, set)):
        return any(map(_holds_number, thing))
    return isinstance(thing, dict) and any(map(_holds_number, thing.values()))


def _without_numbers(function: Any) -> Callable[..., Any]:
    """A function that no recorded number may be given to."""

    def call(*args: Any, **keywords: Any) -> Any:
        if _holds_number(args) or _holds_number(keywords):
            refuse()
        return function(*args, **keywords)

    return call


class _Steps(Formulas):
    def __missing__(self, text: str) -> Callable[..., Any]:
        made = self[text] = steps_of(text, self.lift)
        return made


class Recorder(Accessor):
    """What a transform's body finds under `__gendsl__` in a run that is recorded."""

    def __init__(self) -> None:
        Lifter.__init__(self, lambda function: None)
        self.known = self  # type: ignore[assignment]
        self.formulas = _Steps(self.lift)

    def __getitem__(self, function: Any) -> Any:
        return self.lift(function)

    def lift(self, function: Any) -> Any:
        if function is read:
            return lambda source, label=None: self.read_at(read, source, (), label)
        if function is write or function is copy:
            refuse()  # by another way than the usual one, of which no line is known
        if function is operator.is_ or function is operator.is_not:
            refuse()  # unlike `is`, it isn't seen in the code
        try:
            name = _UNARY.get(function)
        except TypeError:
            refuse()
        if name is not None:
            return _unary(name, function)
        if function in _OF_TWO:
            return _OF_TWO[function]
        if function in USUAL:
            return function
        if differentiable(function) is not None:
            return _without_numbers(function)
        if type(function) is FunctionType:
            return self._lift_function(function)
        if isinstance(function, BuiltinFunctionType):
            owner = function.__self__
            if type(owner) in (list, tuple, dict, set, str) or (
                isinstance(owner, ModuleType) and owner.__name__ in MODULES
            ):
                return function
        return refuse()

    def read_at(self, function: Any, handle: Any, address: Any, label: Any = _ABSENT) -> Any:
        if function is not read:
            return self.lift(function)(handle[address], *(() if label is _ABSENT else (label,)))
        source = handle[address] if address != () else handle
        if not isinstance(source, InputHandle):
            refuse()
        return source.state.value(source.path, None if label is _ABSENT else label)

    def write_at(
        self, function: Any, line: Any, handle: Any, address: Any, value: Any, label: Any = _ABSENT
    ) -> None:
        target = handle[address]
        if function is not write or not isinstance(target, OutputHandle):
            refuse()
        state: Any = target.state
        path = target.path
        names: tuple[str, ...] = ()
        fixed, vector = None, False
        if type(value) is Traced:
            names = (value.name,)
        elif type(value) in (int, bool, str):
            fixed = value
        elif type(value) in (list, tuple, TracedVector) and len(value) <= SHORT:
            texts = [x.name if type(x) is Traced else constant(x) for x in value]
            if None in texts or not any(type(x) is Traced for x in value):
                refuse()
            names, vector = tuple(map(str, texts)), True
        else:
            refuse()
        given = None if label is _ABSENT else label
        if given not in (None, discrete, continuous):
            refuse()
        state.tape.written.append(Written(state.side, path, names, vector, fixed, False, given))

    def copy_at(self, function: Any, line: Any, source: Any, here: Any, target: Any, there: Any) -> None:
        start, end = source[here], target[there]
        if function is not copy or not isinstance(start, InputHandle) or not isinstance(end, OutputHandle):
            refuse()
        state: Any = start.state
        output: Any = end.state
        names, fixed, vector = state.copied(start.path)
        output.tape.written.append(Written(output.side, end.path, names, vector, fixed, True, None))


RECORDER = Recorder()


def record(f: Any, body: Callable[..., None], traces: list[Any]) -> Tape:
    """The tape of a run of a transform on input traces.

    Args:
        body: its body, compiled with `RECORDER`.

    Raises:
        Unrecordable: there is none.
    """
    tape = Tape()
    inputs = [RecordedInput(tape, f, side, trace) for side, trace in enumerate(traces)]
    outputs = {name: RecordedOutput(tape, f, side) for side, name in enumerate(f.outputs)}
    body(*inputs, **{**f.parameters, **outputs})
    seen = {(written.side, written.path) for written in tape.written}
    if len(seen) < len(tape.written):
        raise Unrecordable("an address is written twice")
    return tape
