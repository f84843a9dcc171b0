"""The types of the values of a closed program, and how a value of any type is stored as numbers.

A value of a type is a sequence of *leaves*: numbers and references, whose kinds `leaves(type)` gives. A tuple
has the leaves of its items, a union a tag and the leaves of each alternative; what can change in place (a
list, an array, a dict, an object with attributes that change) is one reference, and its type names the
place where it is made, its *site*. What is known of the items of a site is a fact that only grows; see
`facts`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any


class Type:
    """A type; types are immutable and compare by structure."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Number(Type):
    """A number: kind "f" a float, "i" an integer, "b" a truth value.

    NumPy's scalars are the same numbers to a text, but not all operations mean the same: the sum of two of
    its truth values is one of them, and so on. `numpy` says whether it is one of them, or an array without
    axes, which all operations take for one: NO, MAYBE, YES, ARRAY, or EITHER, if it may be such an array.
    `mixed` is whether it may be of a narrower kind in the program, as an item of `[1, 0.5]`; `members` are
    the enumerations of which it may be a member.
    """

    kind: str
    numpy: int = 0
    mixed: bool = False
    members: frozenset[type] = frozenset()


NO, MAYBE, YES, ARRAY, EITHER = 0, 1, 2, 3, 4
"""Whether a number is one of NumPy's scalars, or an array without axes."""
FLOAT, INT, BOOL = Number("f"), Number("i"), Number("b")


@dataclass(frozen=True, slots=True)
class Never(Type):
    """The type of what is not known yet, such as the items of a list to which nothing was added so far."""


NEVER = Never()


@dataclass(frozen=True, slots=True)
class Unread(Type):
    """The type of what no text can be given, which does no harm where the program does not look at it."""

    reason: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Text(Type):
    """A string that is not known when the text is made: its number in a table of strings.

    Attributes:
        options: the constants of which it is one; None for a string of the data, or one of many.
        members: the enumerations of which it may be a member.
    """

    options: frozenset[str] | None = None
    members: frozenset[type] = frozenset()


TEXT = Text()


@dataclass(frozen=True, slots=True)
class Padded:
    """An integer in a string, with zeros before it up to a width, as `f"{i:02d}"` has it."""

    width: int


@dataclass(frozen=True, slots=True)
class Joined(Type):
    """A string that is made of values: its constants, None for each integer, or how it is padded, ... for
    each string of the data.

    It is also what a part of an address that is such a string is in a template.
    """

    pieces: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Known(Type):
    """A Python object that is known when the text is made; it has no leaves."""

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Known):
            return NotImplemented
        mine, theirs = self.value, other.value
        if mine is theirs:
            return True
        if type(mine) is type(theirs) is tuple:  # made anew in each walk
            return len(mine) == len(theirs) and all(map(Known.__eq__, map(Known, mine), map(Known, theirs)))
        if type(mine) is not type(theirs) or not isinstance(mine, (int, float, str, bytes, type(None))):
            return False
        return repr(mine) == repr(theirs)  # tells 0.0 from -0.0

    def __hash__(self) -> int:
        value = self.value
        if type(value) is tuple:
            return hash(tuple(map(Known, value)))
        plain = isinstance(value, (int, float, str, bytes, type(None)))
        return hash((type(value), repr(value))) if plain else hash(id(value))


@dataclass(frozen=True, slots=True)
class Tuple(Type):
    """A tuple, or an instance of a class whose attributes never change (`cls`, `names`)."""

    items: tuple[Type, ...]
    cls: Any = tuple
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class List(Type):
    """A list made at a site; `frozen` where it may be one that the program was given, which it must not
    change.
    """

    site: int
    frozen: bool = False


@dataclass(frozen=True, slots=True)
class Array(Type):
    """A NumPy array of numbers of one kind.

    Its leaves are the reference to a list of its numbers, the place of its first entry there, and for each
    axis the length and the stride, so that a view shares the list. `frozen` is as for a list.
    """

    kind: str
    rank: int
    frozen: bool = False


@dataclass(frozen=True, slots=True)
class Dict(Type):
    """A dict made at a site: an insertion-ordered map of numbers, or tuples of them; `frozen` as for a
    list. `missing` is what a `defaultdict` calls for a key that it doesn't have, or `Counter`.
    """

    site: int
    frozen: bool = False
    missing: Any = None

    @property
    def own_class(self) -> type[dict[Any, Any]]:
        """Its class."""
        if self.missing is None:
            return dict
        return Counter if self.missing is Counter else defaultdict


@dataclass(frozen=True, slots=True)
class Set(Type):
    """A set made at a site: in a text it is a dict without values; `frozen` as for a list, or a frozenset."""

    site: int
    frozen: bool = False


def is_unhashable(type: Type) -> bool:
    """Whether a text has the values of a type neither as keys nor as parts of addresses."""
    return isinstance(type, (List, Array, Dict, Set)) or may_be_array(type)


def may_be_array(type: Type) -> bool:
    """Whether a number may be an array without axes."""
    return isinstance(type, Number) and type.numpy in (ARRAY, EITHER)


@dataclass(frozen=True, slots=True)
class Object(Type):
    """An instance of a class with attributes that change, made at a site."""

    site: int
    cls: Any


@dataclass(frozen=True, slots=True)
class Box(Type):
    """A reference to a value of a type that may hold itself, as a tree does; it is opened where it is
    used.
    """

    site: int


@dataclass(frozen=True, slots=True)
class Union(Type):
    """One of several types: a tag, and the leaves of each."""

    alternatives: tuple[Type, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Closure(Type):
    """A nested function or lambda with the activation that it was made in.

    Its leaves are those of the defaults of its parameters, and of what it captured.

    Attributes:
        remembers: whether it is called once for the same arguments.
        captured: the variables of functions around that it uses; None where they are looked up in the
            activation, as they may change.
    """

    node: Any
    frame: Any
    defaults: tuple[tuple[str, Type], ...] = ()
    remembers: bool = False
    captured: tuple[tuple[str, Type], ...] | None = None

    @property
    def made_in(self) -> int:
        """What tells functions apart that are made by the same lines."""
        return id(self.frame if self.captured is None else self.frame.function)

    @property
    def parts(self) -> tuple[tuple[str, Type], ...]:
        """What its leaves are of."""
        return (*self.defaults, *(self.captured or ()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Closure) and self._said() == other._said()

    def __hash__(self) -> int:
        return hash(self._said())

    def _said(self) -> tuple[Any, ...]:
        return id(self.node), self.made_in, self.defaults, self.remembers, self.captured


@dataclass(frozen=True, slots=True)
class Method(Type):
    """A function bound to a value: its leaves are those of the value."""

    owner: Type
    function: Any


@dataclass(frozen=True, slots=True)
class Iterator(Type):
    """`range`, `enumerate`, `zip`, `reversed`, `map` or a generator expression, before it is used."""

    name: str
    parts: tuple[Type, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Generator(Type):
    """A generator expression with one `for`, before it is used: its items are evaluated one by one where they
    are, in the activation that it was made in. Its leaves are those of what it goes over.
    """

    node: Any
    frame: Any
    source: Type


class Rest:
    """The class of the last of the arguments of a call by place, where it is a list of more of them."""


@dataclass(frozen=True, slots=True)
class Below:
    """The first part of an address below a call of a program that calls itself: the number of that call,
    its *node*.
    """

    function: Any


@dataclass(frozen=True, slots=True)
class Nested:
    """Stands before the parts of an address that are together one part of it, a tuple."""

    count: int


@dataclass(frozen=True, slots=True)
class PathPart:
    """A tuple in an address whose length is known only when the text runs: its number.

    Attributes:
        spread: whether its items are parts of the address, as in `("mean", *at)`; otherwise it is one part.
    """

    spread: bool


@dataclass(frozen=True, slots=True)
class SubTrace(Type):
    """A trace that a program is given, with the constants and numbers of an address prefix."""

    trace: Any
    prefix: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class OneOf:
    """A part of an address of a trace that is one of some constants."""

    options: frozenset[str]


def index_count(part: Any) -> int:
    """How many indices a part of an address stands for."""
    if isinstance(part, Joined):
        return sum(not isinstance(piece, str) for piece in part.pieces)
    return int(part is None or part is ... or isinstance(part, (Below, OneOf, PathPart)))


def leaves(type: Type) -> tuple[str, ...]:
    """The kinds of the leaves of a value of a type."""
    match type:
        case Number(kind):
            return (kind,)
        case Text():
            return ("i",)
        case Joined():
            return ("i",) * index_count(type)
        case List() | Dict() | Set() | Object() | Box():
            return ("r",)
        case Array(rank=rank):
            return ("r", "i", *("i",) * (2 * rank))
        case Tuple(items):
            return tuple(kind for item in items for kind in leaves(item))
        case Union(alternatives):
            return ("i", *(kind for item in alternatives for kind in leaves(item)))
        case Method(owner):
            return leaves(owner)
        case Closure():
            return tuple(kind for _, part in type.parts for kind in leaves(part))
        case Iterator(_, parts):
            return tuple(kind for part in parts for kind in leaves(part))
        case Generator(_, _, source):
            return leaves(source)
        case SubTrace(_, prefix):
            return ("i",) * sum(map(index_count, prefix))
    return ()


def holds_closure(type: Type) -> bool:
    """Whether a value of a type holds a nested function, but for those in lists."""
    match type:
        case Closure():
            return True
        case Tuple(items):
            return any(map(holds_closure, items))
        case Union(alternatives):
            return any(map(holds_closure, alternatives))
        case Iterator(_, parts):
            return any(map(holds_closure, parts))
        case Method(owner):
            return holds_closure(owner)
    return False


def looks_up(type: Type) -> bool:
    """Whether a value of a type holds a function that looks its variables up where it was made."""
    match type:
        case Closure(captured=captured):
            return captured is None or any(looks_up(part) for _, part in type.parts)
        case Tuple(items) | Union(items):
            return any(map(looks_up, items))
        case Method(owner):
            return looks_up(owner)
    return False


def may_change(type: Type) -> bool:
    """Whether a value of a type, or what it holds, may be changed in place, or be another one later."""
    match type:
        case List(frozen=frozen) | Dict(frozen=frozen) | Set(frozen=frozen) | Array(frozen=frozen):
            return not frozen
        case Object() | Box():
            return True
        case Tuple(items) | Union(items):
            return any(map(may_change, items))
        case Closure(captured=captured):
            return captured is None or any(may_change(part) for _, part in type.parts)
    return False


def depth(type: Type) -> int:
    """How deeply tuples lie in tuples, and functions in functions."""
    match type:
        case Tuple(items) | Union(items) | Iterator(_, items):
            return 1 + max(map(depth, items), default=0)
        case Closure():
            return 1 + max((depth(part) for _, part in type.parts), default=0)
    return 0


def describe(type: Type) -> str:
    """A type as a message shows it."""
    match type:
        case Number(kind):
            return {"f": "float", "i": "int", "b": "bool"}[kind]
        case Known(value):
            return f"the constant {value!r}"[:80]
        case Tuple(items, cls):
            if cls is not tuple:
                return str(cls.__name__)
            return f"tuple of {len(items)}"
        case Union(alternatives):
            return " or ".join(map(describe, alternatives))
        case Joined(pieces):
            return f"a string like {''.join(p if isinstance(p, str) else '{}' for p in pieces)!r}"
        case Never():
            return "a value that is never made"
    return str(type.__class__.__name__).lower()


REPEATABLE = ("range", "keys", "values", "items")
"""What can be gone through more than once."""


def goes_once(type: Type) -> bool:
    """Whether a value of a type is, or holds, what can be gone through once only."""
    match type:
        case Iterator(name):
            return name not in REPEATABLE
        case Generator():
            return True
        case Tuple(items) | Union(items):
            return any(map(goes_once, items))
    return False
