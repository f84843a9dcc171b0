"""Numbers that write down what is done with them: the tape of a transform's run.

The discrete values that a transform reads decide which way it goes, and so does what it finds when it
compares numbers. Where all of these are the same, the run is the same straight line of arithmetic:

    read     model["mu", 0] as x1, aux["u"] as x2
    let      y3 = x1 - x2
    test     x2 < x1
    write    model["mu", 0] = y3

`gendsl.transforms.recording` runs a transform so, and `gendsl.transforms.plans` says when the line stands for
it. What can't be written down (a function of arrays, say) raises `Unrecordable`: there is no tape then.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from gendsl.address import Path
from gendsl.supports import Support
from gendsl.transforms.run import Label

_MOST_NAMES = 1000
"""How many variables a tape has at most; a longer line takes long to compile."""


class Unrecordable(BaseException):
    """A run does what no tape can hold. (No `except Exception` of the user's may take it for an error.)"""


# --- the tape --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Read:
    """A continuous choice, or a choice that is only copied, read into variables.

    Attributes:
        names: a variable for each entry of a vector, or one for a number or what is copied.
        kind: the class of its measure; None for a discrete choice that is copied, of any value.
        free: how many coordinates it has.
    """

    side: int
    path: Path
    names: tuple[str, ...]
    kind: type[Support] | None
    shape: tuple[int, ...]
    free: int


@dataclass(frozen=True, slots=True)
class Let:
    """A variable that is computed from others, with its slopes with respect to them.

    Attributes:
        needs: what must hold for the line to be what it was, as text.
    """

    name: str
    text: str
    slopes: tuple[tuple[str, str], ...]
    needs: str | None = None


@dataclass(frozen=True, slots=True)
class Test:
    """What a comparison was found to be."""

    text: str
    outcome: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """A choice of the model that a move doesn't read and leaves as it is.

    Attributes:
        kind, shape: the class of its measure, and the shape of that.
        same: the value that it must have, in a tuple; None if it may have any.
    """

    path: Path
    name: str
    kind: type[Support]
    shape: tuple[int, ...] | None
    same: tuple[Any] | None


@dataclass(frozen=True, slots=True)
class Term:
    """A log density.

    Attributes:
        side: 0 for a term of the model's, 1 for one of the auxiliary program's.
        function: what gives it: a function, or the method of what is made of numbers.
        method: the name of that method; None for a function.
        given: what it is called with.
        is_float: whether the result surely is a float.
        kept: the path of a choice of the model's that keeps its value.
    """

    side: int
    function: Any
    method: str | None
    given: tuple[Any, ...]
    is_float: bool
    kept: Path | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A value given to an output.

    Attributes:
        names: the variables or constants that it consists of, as text; none where it is a constant.
        constant: the value of one that depends on no number, such as those of discrete choices.
        copied: whether it is a choice of an input as it is.
        label: the label that the transform gave it.
    """

    side: int
    path: Path
    names: tuple[str, ...]
    vector: bool
    constant: Any
    copied: bool
    label: Label | None


@dataclass(slots=True)
class Tape:
    """One run of a transform.

    Attributes:
        switches: the discrete choices that were read, with their values, in the order in which they were.
        steps: what was read, computed and found, in the order in which it was.
        written: the outputs.
        seeds: the reads by side and path.
        looked_at: the choices, by side and path, that were read or copied.
        arrays: variables that hold arrays, by the names of the entries.
        computed: numbers by the text that computes them: what is computed twice is one variable.
    """

    switches: list[tuple[int, Path, Any]] = field(default_factory=list)
    steps: list[Read | Let | Test | Kept | Term] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    seeds: dict[tuple[int, Path], tuple[Read, Any]] = field(default_factory=dict)
    looked_at: set[tuple[int, Path]] = field(default_factory=set)
    arrays: dict[tuple[str, ...], str] = field(default_factory=dict)
    computed: dict[str, Traced] = field(default_factory=dict)
    names: int = 0

    def name(self, letter: str) -> str:
        """A new variable."""
        self.names += 1
        if self.names > _MOST_NAMES:
            raise Unrecordable("the run is long")
        return f"{letter}{self.names}"

    def let(self, value: Any, text: str, *slopes: tuple[str, str], needs: str | None = None) -> Traced:
        """The number that a new variable holds, or the one that holds it already."""
        known = self.computed.get(text)
        if known is not None:
            return known
        if type(value) is not float or value - value != 0.0:
            raise Unrecordable(f"{text} is {value!r}")
        made = self.computed[text] = Traced(self, self.name("y"), value)
        self.steps.append(Let(made.name, text, slopes, needs))
        return made

    def array(self, names: tuple[str, ...]) -> str:
        """A variable that holds an array of these entries."""
        if names not in self.arrays:
            self.arrays[names] = name = self.name("v")
            self.steps.append(Let(name, f"array([{', '.join(names)}], float)", ()))
        return self.arrays[names]

    def test(self, text: str, outcome: bool) -> bool:
        """Note what was found."""
        self.steps.append(Test(text, outcome))
        return outcome


def refuse(*_: Any, **__: Any) -> NoReturn:
    """Give the tape up."""
    raise Unrecordable("a number is used for what no tape can hold")


# --- numbers ---------------------------------------------------------------------------------------


def constant(x: Any) -> str | None:
    """A plain number as text; None for anything else."""
    if not isinstance(x, (float, int, np.floating, np.integer, np.bool_)):
        return None
    number = int(x) if isinstance(x, (int, np.bool_)) else float(x)
    if not abs(number) < 2.0**53:
        raise Unrecordable("a constant is too large")
    return repr(number) if number >= 0 and math.copysign(1.0, number) > 0.0 else f"({number!r})"


def _plain(x: Any) -> Any:
    return x.value if type(x) is Traced else int(x) if isinstance(x, (int, np.bool_)) else float(x)


_BINARY: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "+": (operator.add, "1.0", "1.0"),
    "-": (operator.sub, "1.0", "-1.0"),
    "*": (operator.mul, "{y}", "{x}"),
    "/": (operator.truediv, "(1.0 / {y})", "(-{z} / {y})"),
}


def _binary(op: str, a: Any, b: Any) -> Any:
    tape = a.tape if type(a) is Traced else b.tape
    x, y = (part.name if type(part) is Traced else constant(part) for part in (a, b))
    if x is None or y is None:
        return NotImplemented
    function, left, right = _BINARY[op]
    value = function(_plain(a), _plain(b))
    z = f"y{tape.names + 1}"
    slopes = [
        (part.name, rule.format(x=x, y=y, z=z))
        for part, rule in ((a, left), (b, right))
        if type(part) is Traced
    ]
    return tape.let(value, f"{x} {op} {y}", *slopes)


def _power(a: Any, b: Any) -> Any:
    tape = a.tape if type(a) is Traced else b.tape
    x, y = (part.name if type(part) is Traced else constant(part) for part in (a, b))
    if x is None or y is None:
        return NotImplemented
    base, exponent = _plain(a), _plain(b)
    z = f"y{tape.names + 1}"
    whole = type(b) is int and b > 0
    if not whole and not base > 0.0:
        raise Unrecordable("a power of what isn't positive")
    slopes = []
    if type(a) is Traced:
        slopes.append((a.name, f"(2.0 * {x})" if whole and b == 2 else f"({y} * {x} ** ({y} - 1))"))
    if type(b) is Traced:
        slopes.append((b.name, f"({z} * log({x}))"))
    return tape.let(base**exponent, f"{x} ** {y}", *slopes, needs=None if whole else f"{x} > 0.0")


def _operator(op: str, swapped: bool = False) -> Callable[[Any, Any], Any]:
    def method(self: Traced, other: Any) -> Any:
        a, b = (other, self) if swapped else (self, other)
        return _power(a, b) if op == "**" else _binary(op, a, b)

    return method


def _comparison(op: str, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Traced, other: Any) -> Any:
        text = other.name if type(other) is Traced else constant(other)
        if text is None:
            return refuse()
        return self.tape.test(f"{self.name} {op} {text}", bool(function(self.value, _plain(other))))

    return method


class Traced:
    """A number of a run that is recorded."""

    __slots__ = ("name", "tape", "value")

    def __init__(self, tape: Tape, name: str, value: float) -> None:
        self.tape = tape
        self.name = name
        self.value = value

    __add__, __radd__ = _operator("+"), _operator("+", True)
    __sub__, __rsub__ = _operator("-"), _operator("-", True)
    __mul__, __rmul__ = _operator("*"), _operator("*", True)
    __truediv__, __rtruediv__ = _operator("/"), _operator("/", True)
    __pow__, __rpow__ = _operator("**"), _operator("**", True)
    __lt__, __le__ = _comparison("<", operator.lt), _comparison("<=", operator.le)
    __gt__, __ge__ = _comparison(">", operator.gt), _comparison(">=", operator.ge)
    __eq__, __ne__ = _comparison("==", operator.eq), _comparison("!=", operator.ne)

    def __neg__(self) -> Traced:
        return self.tape.let(-self.value, f"-{self.name}", (self.name, "-1.0"))

    def __pos__(self) -> Traced:
        return self

    def __abs__(self) -> Traced:
        x = self.name
        slope = x, f"copysign(1.0, {x})"
        return self.tape.let(abs(self.value), f"abs({x})", slope, needs=f"{x} != 0.0")

    def __bool__(self) -> bool:
        return self.tape.test(f"{self.name} != 0.0", self.value != 0.0)

    __hash__ = __float__ = __int__ = __index__ = __complex__ = __round__ = refuse
    __floor__ = __ceil__ = __trunc__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = refuse
    __divmod__ = __rdivmod__ = __repr__ = __format__ = refuse
    __array_function__ = __array__ = refuse
    __array_ufunc__ = None  # so that a number of NumPy's leaves it to the methods above


class Made:
    """What a class makes of recorded numbers, a distribution: each use of a plan makes it anew."""

    __slots__ = ("arguments", "kind", "named")

    def __init__(self, kind: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.kind = kind
        self.arguments = arguments
        self.named = named


class Unseen:
    """A value of a run that is recorded of which only the name is known: it may be passed on."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    __hash__ = __bool__ = __len__ = __iter__ = __getitem__ = __setitem__ = __contains__ = __call__ = refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __pos__ = __abs__ = __invert__ = refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = refuse
    __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __float__ = __int__ = __index__ = refuse
    __array_ufunc__ = __array_function__ = __array__ = __repr__ = __format__ = refuse


class TracedVector:
    """A short vector of a run that is recorded: what a transform reads of one, entry by entry.

    Attributes:
        text: the variable that has it as an array, if there is one.
    """

    __slots__ = ("entries", "text")

    def __init__(self, entries: list[Traced], text: str | None = None) -> None:
        self.entries = entries
        self.text = text

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return TracedVector(self.entries[key])
        if type(key) is not int:
            refuse()
        return self.entries[key]

    def __iter__(self) -> Iterator[Traced]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    __hash__ = __bool__ = __array_ufunc__ = __array_function__ = __array__ = refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __pow__ = __rpow__ = refuse
    __matmul__ = __rmatmul__ = __setitem__ = __contains__ = __repr__ = __format__ = refuse
