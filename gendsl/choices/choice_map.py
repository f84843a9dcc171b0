"""Choice maps: immutable, ordered maps from addresses to the values of random choices.

Values are stored as they are given and handed out again, never copied: a value that is passed to
gendsl must not be mutated afterwards.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gendsl.address import Path, as_path, format_address
from gendsl.choices import display
from gendsl.choices.unknown import explain_unknown
from gendsl.choices.values import Layout, pack, same_value, unpack
from gendsl.errors import (
    AddressConflictError,
    DuplicateAddressError,
    GenDSLError,
    UnknownAddressError,
    ValueTypeError,
)

__all__ = ["MISSING", "ChoiceMap", "ChoiceMapLike", "Missing", "Structure", "choicemap"]


class Missing(enum.Enum):
    """The type of `MISSING`, which stands where an address has no value."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"

    __str__ = __repr__


MISSING = Missing.MISSING


class _Contains(Protocol):
    """What `restrict` and `without` need of a selection."""

    def contains(self, path: Path) -> bool: ...


@dataclass(frozen=True)
class Structure:
    """What `to_array` leaves out of the array: the addresses, and how each value lies in the array."""

    paths: tuple[Path, ...]
    layouts: tuple[Layout, ...]

    @property
    def size(self) -> int:
        """The length of the array."""
        return sum(layout.size for layout in self.layouts)


class ChoiceMap:
    """An immutable, ordered map from addresses to values.

    `cm[addr]` is the value of the choice at `addr`, or the choice map of what lies below it if `addr`
    is a namespace. Iteration, `len`, `items` and `values` go over the choices, with full paths.
    Nested dicts in `choices` are namespaces: `{"left": {"x": 1}}` is `{("left", "x"): 1}`.

    Raises:
        InvalidAddressError: a key can't be an address.
        DuplicateAddressError: one address is given twice.
        AddressConflictError: an address is both a choice and a namespace.
    """

    __slots__ = ("_flat", "_index")
    __hash__ = None  # type: ignore[assignment]
    _flat: dict[Path, Any]
    _index: dict[Path, list[Path]] | None

    def __init__(self, choices: ChoiceMapLike = None) -> None:
        self._flat = _flatten(choices)
        self._index = None
        _check_conflicts(self._flat)

    @classmethod
    def _from_flat(cls, flat: dict[Path, Any]) -> ChoiceMap:
        """The choice map that owns `flat`, which must be valid and is neither checked nor copied."""
        self = cls.__new__(cls)
        self._flat = flat
        self._index = None
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return ChoiceMap._from_flat, (self._flat,)

    # --- looking up ----------------------------------------------------------------------------

    def _below(self) -> dict[Path, list[Path]]:
        """For every namespace the paths of the choices below it; made when it is first needed."""
        if self._index is None:
            index: dict[Path, list[Path]] = {}
            for path in self._flat:
                for length in range(1, len(path)):
                    index.setdefault(path[:length], []).append(path)
            self._index = index
        return self._index

    def _find(self, address: Any) -> Any:
        """The value or the sub-map at an address, or MISSING."""
        try:
            value = self._flat.get(address if type(address) is tuple else (address,), MISSING)
        except TypeError:  # unhashable: `as_path` says which component
            value = MISSING
        if value is MISSING and as_path(address) in self._below():
            return self.submap(address)
        return value

    def __getitem__(self, address: Any) -> Any:
        found = self._find(address)
        if found is MISSING:
            path = as_path(address)
            raise UnknownAddressError(
                "the choice map has nothing at this address",
                address=path,
                fix=explain_unknown(path, self._flat),
            )
        return found

    def __contains__(self, address: Any) -> bool:
        path = as_path(address)
        return path in self._flat or path in self._below()

    def get(self, address: Any, default: Any = None) -> Any:
        """The value or the sub-map at an address, or `default` if there is neither."""
        found = self._find(address)
        return default if found is MISSING else found

    def submap(self, address: Any) -> ChoiceMap:
        """The choices strictly below an address, with that prefix taken off their paths; maybe empty."""
        path = as_path(address)
        start = len(path)
        return ChoiceMap._from_flat({p[start:]: self._flat[p] for p in self._below().get(path, ())})

    def __iter__(self) -> Iterator[Path]:
        return iter(self._flat)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueTypeError(
            "a choice map is no array", fix="np.array(list(choices.values())) has its values, in order"
        )

    def __len__(self) -> int:
        return len(self._flat)

    def keys(self) -> KeysView[Path]:
        """The paths of the choices, as a view; it makes `dict(cm)` the flat dict."""
        return self._flat.keys()

    def paths(self) -> tuple[Path, ...]:
        """The paths of the choices, in order."""
        return tuple(self._flat)

    def values(self) -> ValuesView[Any]:
        """The values of the choices, in order."""
        return self._flat.values()

    def items(self) -> ItemsView[Path, Any]:
        """Pairs of path and value, in order."""
        return self._flat.items()

    def namespaces(self) -> tuple[Path, ...]:
        """Every address that has choices strictly below it, at any depth."""
        return tuple(self._below())

    # --- making other choice maps --------------------------------------------------------------

    def merge(self, other: ChoiceMapLike) -> ChoiceMap:
        """Both maps' choices; where both have a value, that of `other`. Also written `cm | other`.

        Raises:
            AddressConflictError: an address is a choice in one map and a namespace in the other.
        """
        new = choicemap(other)._flat
        merged = {**self._flat, **new}
        if len(merged) > len(self._flat):
            _check_conflicts(merged)
        return ChoiceMap._from_flat(merged)

    def __or__(self, other: Any) -> ChoiceMap:
        return self.merge(other) if isinstance(other, (ChoiceMap, Mapping)) else NotImplemented

    def __ror__(self, other: Any) -> ChoiceMap:
        return choicemap(other).merge(self) if isinstance(other, Mapping) else NotImplemented

    def restrict(self, selection: _Contains) -> ChoiceMap:
        """The choices whose addresses are in the selection."""
        selected = _membership(selection)
        return ChoiceMap._from_flat({p: value for p, value in self._flat.items() if selected(p)})

    def without(self, selection: _Contains) -> ChoiceMap:
        """The choices whose addresses are not in the selection."""
        selected = _membership(selection)
        return ChoiceMap._from_flat({p: value for p, value in self._flat.items() if not selected(p)})

    def prefixed(self, address: Any) -> ChoiceMap:
        """The same choices below `address`: `cm.prefixed(a).submap(a) == cm`."""
        prefix = as_path(address)
        return ChoiceMap._from_flat({prefix + p: value for p, value in self._flat.items()})

    # --- plain dicts and arrays ----------------------------------------------------------------

    def to_dict(self) -> dict[Any, Any]:
        """Nested plain dicts, one level per component; `choicemap` of the result is this map again.

        A component that is a tuple appears as a 1-tuple of it. The values are the same objects. What
        doesn't come back is a choice whose value is a dict: it would read as a namespace.
        """
        return display.nest(self._flat.items(), dict)

    def to_flat_dict(self) -> dict[Path, Any]:
        """A new plain dict from paths to values (the same objects)."""
        return dict(self._flat)

    def to_array(self) -> tuple[np.ndarray[Any, Any], Structure]:
        """All values as one float array of shape (n,), and what `from_array` needs to undo it.

        Numbers, arrays (in C order), and lists and tuples of these, in the order of the choices.

        Raises:
            ValueTypeError: a value isn't made of real numbers, or can't be a float without rounding.
        """
        chunks: list[np.ndarray[Any, Any]] = []
        layouts = tuple(pack(value, path, chunks) for path, value in self._flat.items())
        array = np.concatenate(chunks) if chunks else np.empty(0)
        return array, Structure(tuple(self._flat), layouts)

    @staticmethod
    def from_array(structure: Structure, array: Any) -> ChoiceMap:
        """The choice map that `to_array` turned into `(array, structure)`; types are restored.

        Raises:
            ValueTypeError: the array has a wrong shape or type, or an integer would have to be rounded.
        """
        try:
            array = np.asarray(array, dtype=float)
        except (TypeError, ValueError):
            raise ValueTypeError(
                f"from_array takes an array of floats, got {display.summary(array)}"
            ) from None
        if array.shape != (structure.size,):
            raise ValueTypeError(
                f"from_array got an array of shape {array.shape}; the structure needs ({structure.size},)",
                fix="use the structure that came with this array from to_array()",
            )
        flat, start = {}, 0
        for path, layout in zip(structure.paths, structure.layouts, strict=True):
            flat[path] = unpack(layout, array[start : start + layout.size], path)
            start += layout.size
        return ChoiceMap._from_flat(flat)

    # --- comparing -----------------------------------------------------------------------------

    def difference(
        self, other: ChoiceMapLike, *, rtol: float = 0.0, atol: float = 0.0
    ) -> tuple[Path, Any, Any] | None:
        """The first address where the maps differ, with both values (MISSING for none); else None.

        Floats differ where `|a - b| > atol + rtol max(|a|, |b|)`, everything else where unequal; NaN
        is the same as NaN. The order of the choices makes no difference.
        """
        theirs = choicemap(other)._flat
        for path, mine in self._flat.items():
            value = theirs.get(path, MISSING)
            if value is MISSING or not same_value(mine, value, rtol, atol):
                return path, mine, value
        for path, value in theirs.items():
            if path not in self._flat:
                return path, MISSING, value
        return None

    def allclose(self, other: ChoiceMapLike, rtol: float = 1e-8, atol: float = 0.0) -> bool:
        """Whether both maps have the same addresses and, within the tolerance, the same values."""
        return self.difference(other, rtol=rtol, atol=atol) is None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Mapping):
            try:
                other = choicemap(other)
            except GenDSLError:  # a dict that is no choice map equals none
                return False
        if not isinstance(other, ChoiceMap):
            return NotImplemented
        return len(self) == len(other) and self.difference(other) is None

    # --- printing ------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return display.one_line(self._flat.items())

    def __str__(self) -> str:
        return display.text_tree(self._flat.items())

    def _repr_html_(self) -> str:
        return display.html_tree(self._flat.items())


ChoiceMapLike = ChoiceMap | Mapping[Any, Any] | Iterable[tuple[Any, Any]] | None


def choicemap(choices: ChoiceMapLike = None) -> ChoiceMap:
    """A choice map from a dict (maybe nested), pairs of address and value, or a choice map.

    Raises:
        InvalidAddressError: a key can't be an address.
        DuplicateAddressError: one address is given twice.
        AddressConflictError: an address is both a choice and a namespace.
        ValueTypeError: `choices` is nothing that a choice map can be made from.
    """
    return choices if isinstance(choices, ChoiceMap) else ChoiceMap(choices)


def _pairs(choices: Any) -> Iterator[tuple[Any, Any]]:
    if choices is None:
        return iter(())
    if isinstance(choices, (ChoiceMap, Mapping)):
        return iter(choices.items())
    try:
        if isinstance(choices, (str, bytes)):
            raise TypeError
        return iter([(address, value) for address, value in choices])
    except (TypeError, ValueError):
        raise ValueTypeError(
            f"a choice map can't be made from {display.summary(choices)}",
            fix='give a dict from addresses to values, such as {"k": 2, ("mu", 0): 1.5}',
        ) from None


def _flatten(choices: Any) -> dict[Path, Any]:
    """The flat dict of possibly nested choices. A stack, as chains nest deeper than Python recurses."""
    flat: dict[Path, Any] = {}
    stack: list[tuple[Path, Iterator[tuple[Any, Any]]]] = [((), _pairs(choices))]
    while stack:
        prefix, pairs = stack[-1]
        for address, value in pairs:
            path = prefix + as_path(address)
            if isinstance(value, (ChoiceMap, Mapping)):
                stack.append((path, _pairs(value)))
                break
            if path in flat:
                raise DuplicateAddressError(
                    "two values are given for one address", address=path, fix="keep one of them"
                )
            flat[path] = value
        else:
            stack.pop()
    return flat


def _check_conflicts(flat: Mapping[Path, Any]) -> None:
    for path in flat:
        for length in range(1, len(path)):
            above = path[:length]
            if above in flat:
                raise AddressConflictError(
                    f"{format_address(above)} has a value, and so has {format_address(path)} below it",
                    address=above,
                    fix="an address is either a choice or a namespace: rename one of the two",
                )


def _membership(selection: _Contains) -> Callable[[Path], bool]:
    if not callable(getattr(selection, "contains", None)):
        raise ValueTypeError(
            f"a selection is needed here, got {display.summary(selection)}",
            fix="make one with select(address, ...)",
        )
    return selection.contains
