"""What the abstract interpreter knows of the places where values are made, and joins of types.

It is one module, as a join of two types is one of what is known of their places.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import replace
from enum import Enum
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.joined import parsed
from gendsl.compiler.hir.types import (
    BOOL,
    EITHER,
    MAYBE,
    NEVER,
    YES,
    Array,
    Box,
    Closure,
    Dict,
    Generator,
    Iterator,
    Joined,
    Known,
    List,
    Method,
    Never,
    Number,
    Object,
    Set,
    Text,
    Tuple,
    Type,
    Union,
    depth,
    describe,
    leaves,
    looks_up,
)
from gendsl.compiler.hir.values import Value, alternatives_of, items_of, number_leaf

MOST_ALTERNATIVES = 8
DEEPEST = 10
MOST_OPTIONS = 16
"""Of how many constants it is known that a string is one."""
_TUPLE, _LIST, _MIXED = "is of tuples", "is of lists that are given", "is of lists and tuples"
_MADE = "is of what is made by the program"
_EITHER = "containers that are given meet others that are made"
_UNDER, _OTHER_KEYS = "what lies under the key", "has keys that are no strings of the program"


def _with_parts(closure: Closure, parts: list[Type]) -> Closure:
    """The type of a nested function with others for the types of what it holds."""
    named = [(name, part) for (name, _), part in zip(closure.parts, parts, strict=True)]
    count = len(closure.defaults)
    kept = None if closure.captured is None else tuple(named[count:])
    return replace(closure, defaults=tuple(named[:count]), captured=kept)


def number_type(type: Type) -> Number | None:
    """The type of numbers like one that is known; None where there is none."""
    match type:
        case Number():
            return type
        case Known(value=bool()):
            return BOOL
        case Known(value=int() as found):
            return Number("i", members=members_of(found)) if -(2**63) <= found < 2**63 else None
        case Known(value=float() as found):
            return Number("f", members=members_of(found))
    return None


def members_of(value: Any) -> frozenset[Any]:
    """The enumeration of which a constant is a member."""
    return frozenset([type(value)] if isinstance(value, Enum) else ())


def _either_text(a: Type, b: Type) -> Text:
    """The type of strings that are of one of two types."""
    options: set[str] | None = set()
    members: frozenset[Any] = frozenset()
    for one in (a, b):
        found = one.options if isinstance(one, Text) else {str.__str__(one.value)}  # type: ignore[attr-defined]
        options = None if options is None or found is None else options | found
        members |= one.members if isinstance(one, Text) else members_of(one.value)  # type: ignore[attr-defined]
    few = options is not None and len(options) <= MOST_OPTIONS
    return Text(frozenset(options) if few and options else None, members)


def _is_of_site(place: Hashable) -> bool:
    """Whether a place, or a flag, is what a site has."""
    return isinstance(place, tuple) and bool(place) and isinstance(place[0], int)


_NUMBERED = threading.Lock()


class TextColumn:
    """Stands among the inputs of a text for what each string that it is given has: a number, or a list.

    Attributes:
        function: what makes the entries of all strings. The strings that it adds to the table are closed:
            made of them again and again there are finitely many.
        values: those of the strings so far: one list, which grows in place.
    """

    def __init__(self, function: Callable[[list[str]], list[Any]]) -> None:
        self.function = function
        self.values: list[Any] = []


class Facts:
    """What is known so far of the types at each place of the source; it only grows.

    A place is any hashable key: (the activation, the node, what of it). Sites are places of creation, as
    small integers; two that meet become one, but for those of values of a dict of data, of which labels say
    which are kept `apart`. `looked_into` are the identities of the given values whose type
    is being found.
    """

    def __init__(self) -> None:
        self.looked_into: set[int] = set()
        self.types: dict[Hashable, Type] = {}
        self.sites: dict[Hashable, int] = {}
        self.parents: list[int] = []
        self.flags: set[Hashable] = set()
        self.changed = False
        self.texts: dict[str, int] = {}
        self.columns: dict[Hashable, TextColumn] = {}
        self.joined: list[Joined] = []
        self.paths: list[tuple[Hashable, tuple[Any, ...]]] = []
        self.keys: set[Any] = set()
        self.apart: dict[int, Hashable] = {}

    # --- sites ------------------------------------------------------------------------------------

    def site(self, place: Hashable) -> int:
        """The site of a place."""
        if place not in self.sites:
            self.sites[place] = len(self.parents)
            self.parents.append(len(self.parents))
        return self.find(self.sites[place])

    def find(self, site: int) -> int:
        """The site that stands for all that it met."""
        while self.parents[site] != site:
            site = self.parents[site]
        return site

    def _unify(self, a: int, b: int) -> int:
        a, b = self.find(a), self.find(b)
        if a == b:
            return a
        a, b = min(a, b), max(a, b)
        if ((a, _TUPLE) in self.flags) != ((b, _TUPLE) in self.flags):
            self.flags.add((a, _MIXED))
        self.parents[b] = a
        self.changed = True
        labels = {self.apart.pop(one) for one in (a, b) if one in self.apart}
        if len(labels) == 1:
            self.apart[a] = labels.pop()
        for key in [key for key in self.types if isinstance(key, tuple) and key[0] == b and len(key) > 1]:
            self.grow((a, *key[1:]), self.types[key])
        for flag in [flag for flag in self.flags if isinstance(flag, tuple) and flag[0] == b]:
            self.flags.add((a, *flag[1:]))
        return a

    def keep_apart(self, site: int, label: Hashable) -> None:
        """Note that what is made at a site is told from what is made at those with other labels."""
        self.apart.setdefault(self.find(site), label)

    def _may_meet(self, a: int, b: int) -> bool:
        one, other = (self.apart.get(self.find(site)) for site in (a, b))
        return one is None or other is None or one == other

    def note_made(self, site: int) -> None:
        """Note that what is made at a site is made by the program, and not what it was given."""
        self.flag((self.find(site), _MADE))

    def is_made(self, site: int) -> bool:
        """Whether some of what is made at a site is made by the program."""
        return (self.find(site), _MADE) in self.flags

    def make_tuple(self, site: int) -> None:
        """Note that what is made at a site are tuples, whose lengths are known only when the text runs."""
        self.flag((self.find(site), _TUPLE))

    def note_given(self, site: int, sequence: type) -> None:
        """Note that what is given at a site is a list or a tuple."""
        self.flag((self.find(site), _TUPLE if sequence is tuple else _LIST))

    def sequence(self, site: int) -> type | None:
        """Whether what is made at a site are lists or tuples; None for one or the other."""
        site = self.find(site)
        if (site, _MIXED) in self.flags or {(site, _TUPLE), (site, _LIST)} <= self.flags:
            return None
        return tuple if (site, _TUPLE) in self.flags else list

    def flag(self, flag: Hashable) -> None:
        """Note something that holds from now on."""
        if flag not in self.flags:
            self.flags.add(flag)
            self.changed = True

    def of_values(self) -> Facts:
        """What there is to know to store values: what is at sites, but not which places these are."""
        made = Facts()
        made.types = {place: type for place, type in self.types.items() if _is_of_site(place)}
        made.flags = set(filter(_is_of_site, self.flags))
        made.parents, made.texts = self.parents, self.texts
        made.columns, made.joined = self.columns, self.joined
        made.paths, made.keys, made.apart = self.paths, self.keys, self.apart
        return made

    # --- types ------------------------------------------------------------------------------------

    @property
    def may_be_made(self) -> bool:
        """Whether some container may be one that the program was given, or one that it makes and changes."""
        return _EITHER in self.flags

    def grow(self, place: Hashable, type: Type) -> Type:
        """What is known of a place, after it met a type."""
        before = self.types.get(place, NEVER)
        joined = self.join(before, type)
        if joined != before:
            if depth(joined) > DEEPEST:
                raise NotClosed("a value that holds values like itself, ever more deeply")
            self.types[place] = joined
            self.changed = True
        return joined

    def get(self, place: Hashable) -> Type:
        """What is known of a place."""
        return self.types.get(place, NEVER)

    def item(self, site: int, what: Hashable = "item") -> Type:
        """The type of the items of a site."""
        return self.canonical(self.get((self.find(site), what)))

    def grow_item(self, site: int, type: Type, what: Hashable = "item") -> Type:
        """The type of the items of a site, after one of a type was put there."""
        if isinstance(type, Generator):
            raise NotClosed("a generator that is kept")
        if isinstance(type, Iterator) and type.name not in ("range", "keys", "values", "items"):
            raise NotClosed(f"{type.name}(...) that is kept, and can be gone through once only")
        if looks_up(type):
            raise NotClosed(
                "a nested function in a list or a dict that uses a variable which may change; give that to a "
                "parameter as its default, make the function in a function of its own, or put an object with "
                "__call__ in its place"
            )
        return self.grow((self.find(site), what), type)

    def grow_value(self, site: int, key: Type, type: Type) -> Type:
        """The type of the values of a dict's site, after one of a type was put there under a key of a type.

        What lies under each string that is written in a program is known by itself, if all keys are such.
        """
        if isinstance(key, Known) and isinstance(key.value, str):
            self.grow_item(site, type, (_UNDER, key.value))
            self.flag((self.find(site), _UNDER))
        else:
            self.flag((self.find(site), _OTHER_KEYS))
        return self.grow_item(site, type, "value")

    def value_under(self, site: int, key: Type) -> Type:
        """The type of what lies under a key of a type in the dicts of a site."""
        site = self.find(site)
        is_string = isinstance(key, Known) and isinstance(key.value, str)
        if not is_string or (site, _OTHER_KEYS) in self.flags:
            return self.item(site, "value")
        return self.item(site, (_UNDER, key.value))  # type: ignore[attr-defined]

    def knows_keys(self, site: int) -> bool:
        """Whether it is known of each key of the dicts of a site what lies under it."""
        site = self.find(site)
        return (site, _UNDER) in self.flags and (site, _OTHER_KEYS) not in self.flags

    def canonical(self, type: Type) -> Type:
        """A type with the sites that stand for those in it."""
        match type:
            case List(site, frozen):
                return List(self.find(site), frozen)
            case Dict(site, frozen, missing):
                return Dict(self.find(site), frozen, missing)
            case Set(site, frozen):
                return Set(self.find(site), frozen)
            case Object(site, cls):
                return Object(self.find(site), cls)
            case Box(site):
                return Box(self.find(site))
            case Tuple(items, cls, names):
                return Tuple(tuple(map(self.canonical, items)), cls, names)
            case Union(alternatives):
                return Union(tuple(map(self.canonical, alternatives)))
            case Closure():
                return _with_parts(type, [self.canonical(part) for _, part in type.parts])
        return type

    def is_discrete(self, type: Type, seen: frozenset[int] = frozenset()) -> bool:
        """Whether it is known that there is no float in a value of a type, at any depth.

        Args:
            seen: the lists that the value is in.
        """
        match self.canonical(type):
            case Number(kind) | Array(kind=kind):
                return kind != "f"
            case Text() | Known():
                return True
            case Tuple(items) | Union(items):
                return all(self.is_discrete(item, seen) for item in items)
            case List(site):
                return site in seen or self.is_discrete(self.item(site), seen | {site})
        return False

    def join(self, a: Type, b: Type) -> Type:
        """The smallest type that holds the values of both."""
        a, b = self.canonical(a), self.canonical(b)
        if a == b or isinstance(b, Never):
            return a
        if isinstance(a, Never):
            return b
        merged = self._merge(a, b)
        if merged is not None:
            return merged
        found: list[Type] = []
        for type in (a, b):
            for one in type.alternatives if isinstance(type, Union) else (type,):
                self._add(found, one)
        if len(found) == 1:
            return found[0]
        if len(found) > MOST_ALTERNATIVES:
            if any(isinstance(one, Closure) for one in found):
                raise NotClosed("one of many nested functions; objects with __call__ may be in their place")
            raise NotClosed(f"a value of more than {MOST_ALTERNATIVES} types: {describe(found[0])}, ...")
        return Union(tuple(found))

    def _add(self, found: list[Type], one: Type) -> None:
        for i, other in enumerate(found):
            merged = other if other == one else self._merge(other, one)
            if merged is not None:
                found[i] = merged
                return
        found.append(one)

    def _merge(self, a: Type, b: Type) -> Type | None:
        """The one type, not a union, that holds the values of both; None where there is none."""
        if type(a) is type(b) and getattr(a, "frozen", False) != getattr(b, "frozen", False):
            self.flag(_EITHER)
        x, y = number_type(a), number_type(b)
        if x is not None and y is not None:
            kind = max(x.kind, y.kind, key="bif".index)
            mixed = x.mixed or y.mixed or x.kind != y.kind
            either = EITHER if max(x.numpy, y.numpy) > YES else MAYBE
            return Number(kind, x.numpy if x.numpy == y.numpy else either, mixed, x.members | y.members)
        match a, b:
            case (Known(value=str()) | Text(), Known(value=str()) | Text()):
                return _either_text(a, b)
            case List(first, frozen), List(second, other) if self._may_meet(first, second):
                return List(self._unify(first, second), frozen or other)
            case Array(kind, rank, frozen), Array(second, same, other) if (kind, rank) == (second, same):
                return Array(kind, rank, frozen or other)
            case Dict(first, frozen, missing), Dict(second, other, same) if (
                missing is same and self._may_meet(first, second)
            ):
                return Dict(self._unify(first, second), frozen or other, missing)
            case Set(first, frozen), Set(second, other):
                return Set(self._unify(first, second), frozen or other)
            case Box(first), Box(second):
                return Box(self._unify(first, second))
            case Object(first, cls), Object(second, other) if cls is other:
                return Object(self._unify(first, second), cls)
            case Tuple(items, cls, names), Tuple(others, same, attributes) if (
                cls is same and len(items) == len(others) and names == attributes
            ):
                return Tuple(tuple(map(self.join, items, others)), cls, names)
            case Known(value=tuple() as objects), Tuple():
                return self._merge(Tuple(tuple(map(Known, objects))), b)
            case Tuple(), Known(value=tuple() as objects):  # in this order: what is known keeps its own
                return self._merge(a, Tuple(tuple(map(Known, objects))))
            case Known(value=tuple() as objects), Known(value=tuple() as others) if len(objects) == len(
                others
            ):
                return self._merge(Tuple(tuple(map(Known, objects))), Tuple(tuple(map(Known, others))))
            case Method(owner, function), Method(other, same) if function is same:
                joined = self._merge(owner, other)
                return None if joined is None else Method(joined, function)
            case Closure(node), Closure(other) if node is other and a.made_in == b.made_in and (
                a.remembers == b.remembers and len(a.parts) == len(b.parts)
            ):
                pairs = zip(a.parts, b.parts, strict=True)
                return _with_parts(a, [self.join(x, y) for (_, x), (_, y) in pairs])
        return None

    # --- values as other types --------------------------------------------------------------------

    def text_number(self, text: str) -> int:
        """The number of a string in the table of strings."""
        number = self.texts.get(text)
        if number is None:
            with _NUMBERED:  # as chains in threads may share a table
                number = self.texts.setdefault(text, len(self.texts))
        return number

    def column(self, key: Hashable, function: Callable[[list[str]], list[Any]]) -> TextColumn:
        """The column of the table of strings that a function makes of these."""
        return self.columns.setdefault(key, TextColumn(function))

    def fill_columns(self) -> None:
        """Let columns have an entry for each string that is known by now."""
        while behind := [one for one in self.columns.values() if len(one.values) != len(self.texts)]:
            for one in behind:
                one.values[:] = one.function(list(self.texts))

    def note_joined(self, joined: Joined) -> None:
        """Note that strings in addresses are made of such pieces."""
        if joined not in self.joined:
            self.joined.append(joined)
            self.changed = True

    def note_path(self, kind: Hashable, parts: tuple[Any, ...]) -> None:
        """Note that addresses of a kind have such parts, with tuples whose lengths are not known."""
        if (kind, parts) not in self.paths:
            self.paths.append((kind, parts))
            self.changed = True

    def note_key(self, text: Any) -> None:
        """Note that a string may be an item of a tuple in an address; ... for any string."""
        if text not in self.keys:
            self.keys.add(text)
            self.changed = True

    def may_be_key(self, text: str) -> bool:
        """Whether a string may be an item of a tuple in an address."""
        return text in self.keys or ... in self.keys

    def as_joined(self, text: str) -> tuple[str | Joined, tuple[int, ...]]:
        """A string in an address as one made of pieces, with their values, if others there are such."""
        for joined in self.joined:
            found = parsed(joined, text)
            if found is not None:
                numbers = (self.text_number(one) if isinstance(one, str) else one for one in found)
                return joined, tuple(numbers)
        return text, ()

    def convert(self, value: Value, type: Type) -> tuple[Expr, ...]:
        """The leaves of a value as one of a type that holds it."""
        mine, type = self.canonical(value.type), self.canonical(type)
        if mine == type:
            return value.leaves
        if isinstance(mine, Never):
            return tuple(hir.ZEROS[kind] for kind in leaves(type))
        match type:
            case Number(kind):
                return (number_leaf(value, kind),)
            case Text():
                if isinstance(mine, Text):
                    return value.leaves
                assert isinstance(mine, Known)
                return (Const(self.text_number(mine.value), "i"),)
            case Tuple(items):
                parts = zip(items_of(value), items, strict=True)
                return tuple(leaf for part, item in parts for leaf in self.convert(part, item))
            case Union():
                return self._as_union(value, type)
            case List() | Dict() | Set() | Array() | Box() if mine.__class__ is type.__class__:
                return value.leaves  # only whether it may be changed differs
            case Method(owner):
                assert isinstance(mine, Method)
                return self.convert(Value(mine.owner, value.leaves), owner)
            case Closure() if isinstance(mine, Closure):
                own = (Tuple(tuple(part for _, part in one.parts)) for one in (mine, type))
                before, after = own
                return self.convert(Value(before, value.leaves), after)
        raise NotClosed(f"{describe(mine)} is no {describe(type)}")

    def _as_union(self, value: Value, type: Union) -> tuple[Expr, ...]:
        if isinstance(value.type, Union):
            places = [self.alternative(one.type, type) for one in alternatives_of(value)]
            tag: Expr = Const(places[-1], "i")
            for i in range(len(places) - 2, -1, -1):
                test = Op("eq", (value.leaves[0], Const(i, "i")), "b")
                tag = Op("select", (test, Const(places[i], "i"), tag), "i")
            result: list[Expr] = [tag]
            for place, alternative in enumerate(type.alternatives):
                given = [(i, one) for i, one in enumerate(alternatives_of(value)) if places[i] == place]
                if not given:
                    result += [hir.ZEROS[kind] for kind in leaves(alternative)]
                    continue
                parts = list(self.convert(given[-1][1], alternative))
                for i, one in given[:-1]:
                    test = Op("eq", (value.leaves[0], Const(i, "i")), "b")
                    chosen = self.convert(one, alternative)
                    parts = [Op("select", (test, x, y), y.kind) for x, y in zip(chosen, parts, strict=True)]
                result += parts
            return tuple(result)
        place = self.alternative(value.type, type)
        result = [Const(place, "i")]
        for i, alternative in enumerate(type.alternatives):
            if i == place:
                result += self.convert(value, alternative)
            else:
                result += [hir.ZEROS[kind] for kind in leaves(alternative)]
        return tuple(result)

    def alternative(self, type: Type, union: Union) -> int:
        """The number of the alternative of a union that holds the values of a type."""
        type = self.canonical(type)
        for i, one in enumerate(union.alternatives):
            if one == type:
                return i
        for i, one in enumerate(union.alternatives):
            before = self.changed
            if self._merge(one, type) == one:
                return i
            self.changed = before
        raise NotClosed(f"{describe(type)} is no {describe(union)}")
