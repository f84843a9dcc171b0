"""Selections: sets of addresses, named by prefixes and patterns, with `|`, `&`, `-` and `~`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from gendsl.address import Path, as_path, format_address
from gendsl.choices import ChoiceMap, explain_unknown
from gendsl.errors import UnknownAddressError, ValueTypeError

__all__ = ["Selection", "select"]

Formula = tuple[Any, ...]
"""What a selection says of an address: ("begins", patterns), that it begins with one of these, `...` for any
component; ("any", formulas) or ("all", formulas), that one or each of these holds;
("not", formula), that it does not.
"""
_SHOWN = 8  # patterns that the repr of a long selection names


class Selection:
    """A set of addresses. What is below a named address is in the selection with it.

    Made by `select(address, ...)` and combined by `|`, `&`, `-` and `~`. Selections are hashable, and
    equal where they are built of equal parts.
    """

    __slots__ = ()

    @staticmethod
    def all() -> Selection:
        """Every address; also `select.all`."""
        return _EVERYTHING

    def contains(self, path: Path) -> bool:
        """Whether a path (a tuple) is in the selection."""
        raise TypeError(f"{type(self).__name__} must define contains(self, path)")

    def addresses(self) -> tuple[Path, ...]:
        """The addresses and patterns that it was built from, those under `~` included."""
        raise TypeError(f"{type(self).__name__} must define addresses(self)")

    def reach(self) -> tuple[Path, ...]:
        """Addresses and patterns at and below which all of the selection lies; `()` is above everything."""
        return ((),)

    def formula(self) -> Formula | None:
        """What it says of an address, in tuples; None of a selection of another class."""
        return None

    def __contains__(self, address: Any) -> bool:
        return self.contains(address if type(address) is tuple else (address,))

    def __or__(self, other: Any) -> Selection:
        return _union((self, _selection(other, "|")))

    def __and__(self, other: Any) -> Selection:
        return _intersection((self, _selection(other, "&")))

    def __sub__(self, other: Any) -> Selection:
        return _intersection((self, ~_selection(other, "-")))

    def __invert__(self) -> Selection:
        return _Complement(self)

    def __bool__(self) -> bool:
        raise ValueTypeError(
            "a selection is neither true nor false",
            fix="ask `address in selection`, or write |, & and ~ for or, and, not",
        )

    def check(self, known: Collection[Path], what: str = "the selection") -> None:
        """Raise if an address that the selection names matches none of `known`.

        `known` are the paths of a trace's choices; a dict, set or choice map makes this fast.

        Raises:
            UnknownAddressError: with the address and, if there is one, the nearest known.
        """
        if isinstance(known, (list, tuple)):
            known = dict.fromkeys(known)
        patterns = self.addresses()
        unknown = {p: None for p in patterns if ... not in p and p not in known}
        lengths = {len(path) for path in unknown}
        for path in known if unknown else ():
            for length in lengths:
                unknown.pop(path[:length], None)
            if not unknown:
                break
        for path in unknown:
            raise UnknownAddressError(
                f"an address named in {what} doesn't exist",
                address=path,
                fix=_joined(path, patterns, known) or explain_unknown(path, known),
            )
        for pattern in patterns:
            if ... in pattern and not any(_matches(pattern, path) for path in known):
                raise UnknownAddressError(
                    f"{_show(pattern)}, named in {what}, matches no address",
                    fix=explain_unknown(pattern, known),
                )


def _selection(thing: Any, operator: str) -> Selection:
    """The right side of an operator between selections."""
    if isinstance(thing, Selection):
        return thing
    raise ValueTypeError(f"a selection {operator} {thing!r}", fix=f"write {operator} select({thing!r})")


class _Named(Selection):
    """The addresses that begin with one of `patterns`, where `...` stands for any one component."""

    __slots__ = ("_lengths", "_paths", "_wild", "patterns")

    def __init__(self, patterns: Iterable[Path]) -> None:
        self.patterns = named = tuple(patterns)
        if len(named) == 1 and ... not in named[0]:  # the most usual, made anew in many a step
            self._wild: tuple[Path, ...] = ()
            self._paths = frozenset(named)
            self._lengths = [len(named[0])]
            return
        self.patterns = tuple(dict.fromkeys(named))
        self._wild = tuple(pattern for pattern in self.patterns if ... in pattern)
        self._paths = frozenset(self.patterns).difference(self._wild)
        self._lengths = sorted({len(path) for path in self._paths})

    def contains(self, path: Path) -> bool:
        paths = self._paths
        if path in paths:
            return True
        size = len(path)
        for length in self._lengths:
            if length >= size:
                break
            if path[:length] in paths:
                return True
        return bool(self._wild) and any(_matches(pattern, path) for pattern in self._wild)

    def addresses(self) -> tuple[Path, ...]:
        return self.patterns

    def reach(self) -> tuple[Path, ...]:
        return self.patterns

    def formula(self) -> Formula | None:
        return "begins", self.patterns

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Named) and set(self.patterns) == set(other.patterns)

    def __hash__(self) -> int:
        return hash(frozenset(self.patterns))

    def __repr__(self) -> str:
        shown = [_show(pattern) for pattern in self.patterns[:_SHOWN]]
        if len(self.patterns) > _SHOWN:
            shown.append(f"… {len(self.patterns) - _SHOWN} more")
        return f"select({', '.join(shown)})"


class _Combined(Selection):
    """A union or an intersection of parts; their order makes no difference."""

    __slots__ = ("parts",)
    _sign: str
    _word: str

    def __init__(self, parts: Iterable[Selection]) -> None:
        self.parts = tuple(dict.fromkeys(parts))

    def addresses(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(path for part in self.parts for path in part.addresses()))

    def formula(self) -> Formula | None:
        parts = tuple(part.formula() for part in self.parts)
        return None if None in parts else (self._word, parts)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and set(self.parts) == set(other.parts)

    def __hash__(self) -> int:
        return hash((self._sign, frozenset(self.parts)))

    def __repr__(self) -> str:
        return f"({f' {self._sign} '.join(map(repr, self.parts))})"


class _Union(_Combined):
    __slots__ = ()
    _sign, _word = "|", "any"

    def contains(self, path: Path) -> bool:
        return any(part.contains(path) for part in self.parts)

    def reach(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(path for part in self.parts for path in part.reach()))


class _Intersection(_Combined):
    __slots__ = ()
    _sign, _word = "&", "all"

    def contains(self, path: Path) -> bool:
        return all(part.contains(path) for part in self.parts)

    def reach(self) -> tuple[Path, ...]:
        return min((part.reach() for part in self.parts), key=lambda paths: (() in paths, len(paths)))


class _Complement(Selection):
    __slots__ = ("part",)

    def __init__(self, part: Selection) -> None:
        self.part = part

    def contains(self, path: Path) -> bool:
        return not self.part.contains(path)

    def addresses(self) -> tuple[Path, ...]:
        return self.part.addresses()

    def formula(self) -> Formula | None:
        formula = self.part.formula()
        return None if formula is None else ("not", formula)

    def __invert__(self) -> Selection:
        return self.part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Complement) and self.part == other.part

    def __hash__(self) -> int:
        return hash(("~", self.part))

    def __repr__(self) -> str:
        return "select.all" if self == _EVERYTHING else f"~{self.part!r}"


_NOTHING = _Named(())
_EVERYTHING = _Complement(_NOTHING)


def _parts(kind: type[_Combined], selections: Iterable[Selection]) -> list[Selection]:
    """The selections, with those that are themselves of `kind` taken apart."""
    parts: list[Selection] = []
    for selection in selections:
        parts.extend(selection.parts if isinstance(selection, kind) else [selection])
    return parts


def _union(selections: Iterable[Selection]) -> Selection:
    """The union, with all plain lists of addresses in one, so that membership is one look-up."""
    parts = _parts(_Union, selections)
    named = _Named(p for part in parts if isinstance(part, _Named) for p in part.patterns)
    others = [part for part in parts if not isinstance(part, _Named)]
    if named.patterns:
        others.insert(0, named)
    return _Union(others) if len(set(others)) > 1 else (others or [_NOTHING])[0]


def _intersection(selections: Iterable[Selection]) -> Selection:
    parts = [part for part in _parts(_Intersection, selections) if part != _EVERYTHING]
    return _Intersection(parts) if len(set(parts)) > 1 else (parts or [_EVERYTHING])[0]


def _joined(unknown: Path, patterns: tuple[Path, ...], known: Collection[Path]) -> str | None:
    """What to do where one address was written as two: select("z", 3) in place of select(("z", 3))."""
    for pattern in patterns if len(patterns) == 2 else ():
        path = pattern + unknown
        if pattern != unknown and any(p[: len(path)] == path for p in known):
            return (
                f"select takes several addresses; the one address {_show(path)} is written "
                f"select({_show(path)}), with parentheses of its own"
            )
    return None


def _matches(pattern: Path, path: Path) -> bool:
    return len(pattern) <= len(path) and all(p is ... or p == c for p, c in zip(pattern, path, strict=False))


def _show(pattern: Path) -> str:
    if ... not in pattern:
        return format_address(pattern)
    parts = ["..." if component is ... else repr(component) for component in pattern]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


class _Select:
    """The function `select`, which also has `select.all`."""

    __slots__ = ()

    def __call__(self, *addresses: Any) -> Selection:
        """The selection of the given addresses and everything below them.

        In an address `...` stands for any one component: `select(("mu", ...))` is everything strictly
        below "mu". A choice map stands for the addresses of its choices, a selection for itself.

        Raises:
            InvalidAddressError: something can't be an address.
        """
        patterns: list[Path] = []
        selections: list[Selection] = []
        for address in addresses:
            if isinstance(address, Selection):
                selections.append(address)
            elif isinstance(address, ChoiceMap):
                patterns.extend(address)
            else:
                pattern = address if type(address) is tuple else (address,)
                for component in pattern:
                    if component is ...:
                        as_path(tuple(0 if part is ... else part for part in pattern))
                        break
                else:
                    as_path(pattern)
                patterns.append(pattern)
        named = _Named(patterns)
        return _union((named, *selections)) if selections else named

    @property
    def all(self) -> Selection:
        """Every address."""
        return _EVERYTHING

    def __repr__(self) -> str:
        return "select"


select = _Select()
