"""Constraints: a choice map as one run of a program consumes it, with arrays in place of indices.

The program asks for one address after another; at the end, what it never asked for is an error, so
that no constraint is silently ignored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from gendsl.address import Path, format_address
from gendsl.choices.choice_map import MISSING, ChoiceMapLike, choicemap
from gendsl.choices.unknown import explain_unknown
from gendsl.choices.values import as_entries, is_sequence
from gendsl.errors import PartialObservationWarning, UnknownAddressError, warn_user

__all__ = ["OBSERVATIONS", "Constraints", "Exactly"]

OBSERVATIONS = "observations"
"""What constraints are called that are held fixed, where what they leave out is drawn."""

_SHOWN = 5  # unused addresses that an error names

_USUAL = frozenset((float, int, bool, str, list, tuple, np.ndarray))
"""Types of values that are their own entries, or have none."""


class Exactly:
    """Values given to a program exactly at their addresses, without a word on which it asks for."""

    __slots__ = ("values",)

    def __init__(self, values: dict[Path, Any]) -> None:
        self.values = values

    def lookup(self, path: Path) -> Any:
        """The value at a path, or MISSING."""
        return self.values.get(path, MISSING)


class Constraints:
    """The choices that one run of a program is given, and which of them it has asked for.

    A list, tuple, range or array at `("x",)`, or a column of a table, also answers for `("x", 0)`,
    `("x", 1)`, ..., and for `("x", i, j)` where it has more axes; the entries of arrays come as Python
    numbers, their rows as arrays. Indices are not negative: `("x", -1)` is an address of its own.
    """

    __slots__ = ("_flat", "_get", "_get_entries", "_sequences", "_spaces", "_touch", "_touched")

    def __init__(self, choices: ChoiceMapLike = None) -> None:
        self._flat = choicemap(choices)._flat
        self._get = self._get_entries = self._flat.get
        others = [path for path, value in self._flat.items() if type(value) not in _USUAL]
        if others:
            self._get_entries = {**self._flat, **{p: as_entries(self._flat[p]) for p in others}}.get
        self._touched: list[Path] = []
        self._touch = self._touched.append
        self._sequences: dict[Path, _Sequence] = {}
        self._spaces: set[Path] | None = None

    def lookup(self, path: Path) -> Any:
        """The value given for a choice, which counts as used from now on; MISSING if there is none."""
        value = self._get(path, MISSING)
        if value is MISSING:
            return self._entry(path)
        self._touch(path)
        return value

    def column(self, before: Path, indices: range, after: Path = ()) -> Any:
        """What is given for the choices `(*before, i, *after)`; MISSING if nothing is.

        None if it is given otherwise than by one list or array for all of them. It counts as used when
        `use_column` says so.
        """
        if self._spaces is None:
            self._spaces = {path[:n] for path in self._flat for n in range(1, len(path))}
        length = len(before)
        if before in self._spaces:
            return None
        while length:
            value = self._get_entries(before[:length], MISSING)
            if value is not MISSING and is_sequence(value):
                break
            length -= 1
        else:
            return MISSING
        first, last = indices.start, indices.stop
        if length < len(before) or after or indices.step != 1 or first < 0 or last > len(value):
            return None
        return value[first:last]

    def use_column(self, before: Path, indices: range) -> None:
        """Count what `column` gave as used."""
        sequence = self._sequences.get(before)
        if sequence is None:
            sequence = self._sequences[before] = _Sequence(self._get_entries(before))
        sequence.ranges.append(indices)

    def _entry(self, path: Path) -> Any:
        """The entry of an enclosing list or array that the trailing integers of `path` index."""
        length = len(path) - 1
        while length and isinstance(path[length], (int, np.integer)):
            above = path[:length]
            sequence = self._sequences.get(above)
            if sequence is None:
                value = self._get_entries(above, MISSING)
                if value is MISSING:
                    length -= 1
                    continue
                if not is_sequence(value):
                    return MISSING
                sequence = self._sequences[above] = _Sequence(value)
            return sequence.entry(path[length:])
        return MISSING

    def unused(self) -> list[Path]:
        """The addresses that were given and never asked for.

        A list or array none of whose entries was used is named as a whole, one that was used in part
        by the entries left over, such as `("x", 80)`. An empty one stands for no choice at all.
        """
        touched = set(self._touched)
        left: list[Path] = []
        for path, value in self._flat.items():
            if path in touched or _is_empty(value if type(value) in _USUAL else self._get_entries(path)):
                continue
            sequence = self._sequences.get(path)
            if sequence is not None and (sequence.used or sequence.ranges):
                left.extend(path + index for index in sequence.unused())
            else:
                left.append(path)
        return left

    def check_used(self, known: Collection[Path], what: str = "the choice map") -> None:
        """Raise unless everything was used; `known` are the addresses that the program visited.

        Raises:
            UnknownAddressError: with the first unused address and, if there is one, the nearest known.

        Warns:
            PartialObservationWarning: observations that are a list or array ended before the program did.
        """
        if what == OBSERVATIONS:
            self._warn_if_short(known)
        unused = self.unused()
        if not unused:
            return
        problem = f"the program has no choice at an address given in {what}"
        if len(unused) > 1:
            shown = ", ".join(format_address(path) for path in unused[:_SHOWN])
            more = f" and {len(unused) - _SHOWN} more" if len(unused) > _SHOWN else ""
            problem = f"the program has no choice at {len(unused)} addresses given in {what}: {shown}{more}"
        if unused[0] not in self._flat:
            problem += f"; {self._lengths(unused[0], known)}"
        raise UnknownAddressError(problem, address=unused[0], fix=explain_unknown(unused[0], known))

    def _lengths(self, path: Path, known: Collection[Path]) -> str:
        """How long the list or array is that a path is an index into, and for how many choices it is.

        Args:
            known: the addresses of the choices that the program makes.
        """
        parent, depth = path[:-1], len(path)
        above = next(path[:n] for n in range(1, depth) if path[:n] in self._sequences)
        row: Any = self._sequences[above].entries
        for i in parent[len(above) :]:
            row = row[i]
        choices = len({p[:depth] for p in known if len(p) >= depth and p[: depth - 1] == parent})
        entries, made = _counted(len(row), "entry", "entries"), _counted(choices, "choice", "choices")
        return f"{format_address(parent)} has {entries} for {made}"

    def _warn_if_short(self, known: Collection[Path]) -> None:
        """Warn of each list or array that was asked for entries beyond its end.

        That may be meant, where data are missing. Whoever means it gives the others by their addresses.
        """
        for above, sequence in self._sequences.items():
            if sequence.beyond is None:
                continue
            name, first = format_address(above), format_address(above + sequence.beyond)
            lengths = self._lengths(above + sequence.beyond, known)
            warn_user(
                PartialObservationWarning(
                    f"what is given for {name} in observations ends before the choices do: {lengths}; "
                    f"the program makes {first}, too, which is latent\n"
                    "  fix: give a value for every choice; if some are meant to be missing, give the others "
                    f"one by one: {{({', '.join(map(repr, above))}, i): x[i] for i in ...}}"
                )
            )


class _Sequence:
    """A list or array that stands for the addresses of its entries.

    Attributes:
        used: the indices that were asked for.
        ranges: ranges of such indices.
        beyond: the first index that was asked for and is past the end.
    """

    __slots__ = ("_entries", "axes", "beyond", "ranges", "used", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.axes = value.ndim if isinstance(value, np.ndarray) else 0
        self._entries: Any = None
        self.used: list[tuple[Any, ...]] = []
        self.ranges: list[range] = []
        self.beyond: tuple[Any, ...] | None = None

    @property
    def entries(self) -> Any:
        """The entries as Python numbers."""
        if self._entries is None:
            # one conversion for all entries: `array[i].item()` for each costs several times as much
            self._entries = self.value.tolist() if isinstance(self.value, np.ndarray) else self.value
        return self._entries

    def entry(self, index: tuple[Any, ...]) -> Any:
        entry = self.entries
        for i in index:
            if not (type(entry) is list or is_sequence(entry)) or not 0 <= i < len(entry):
                if self.beyond is None and is_sequence(entry) and i >= 0:
                    self.beyond = index
                return MISSING
            entry = entry[i]
        self.used.append(index)
        if len(index) < self.axes:
            return self.value[index]
        return entry.item() if isinstance(entry, np.generic) else entry

    def unused(self) -> Iterator[tuple[Any, ...]]:
        """The indices of what no index used, neither itself nor in part nor as a whole."""
        if not self.used and any(len(r) == len(self.value) for r in self.ranges):
            return
        used = {*self.used, *((i,) for indices in self.ranges for i in indices)}
        used_in_part = {index[:n] for index in used for n in range(1, len(index))}
        stack: list[tuple[tuple[Any, ...], Any]] = [((), self.entries)]
        while stack:
            index, entry = stack.pop()
            if index in used or _is_empty(entry):
                continue
            if index and index not in used_in_part:
                yield index
            else:
                stack.extend(((*index, i), entry[i]) for i in reversed(range(len(entry))))


def _counted(n: int, one: str, several: str) -> str:
    return f"{n} {one if n == 1 else several}"


def _is_empty(value: Any) -> bool:
    """Whether a list or array has no entries at all, at any depth."""
    if isinstance(value, np.ndarray):
        return value.size == 0
    return isinstance(value, (list, tuple)) and all(map(_is_empty, value))
