"""Which addresses of a move share a line of its picture, so that the picture stays small.

The same address before and after stands on one line. Neighbours that the move leaves alone share one, and so
do neighbours to which it does the same, if there are too many lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gendsl.address import Path
from gendsl.viz.move import Key, Move
from gendsl.viz.picture import shown_address, shown_value

_ALIKE = 3
"""More neighbours than this that are left alone share a line."""


@dataclass
class Slot:
    """A line of the picture: neighbouring addresses to which the same happens.

    Attributes:
        side: 0 the model, 1 the auxiliary trace.
        paths: the addresses; none where the line only says how many are left out.
        has_before, has_after: whether they are in the input and in the output.
        left_out: how many addresses are left out here.
    """

    side: int
    paths: list[Path]
    has_before: bool
    has_after: bool
    left_out: int = 0

    def label(self) -> str:
        """The address, or the first and the last."""
        if not self.paths:
            return f"… {self.left_out} more"
        if len(self.paths) == 1:
            return shown_address(self.paths[0])
        first, last = self.paths[0], self.paths[-1]
        if first[:-1] == last[:-1] and len(first) > 1:
            ends = f"{shown_address(first[-1:], 8)}…{shown_address(last[-1:], 8)}"
            return f"{shown_address(first[:-1], 24)}, {ends}"
        return f"{shown_address(first, 19)} … {shown_address(last, 19)}"

    def value(self, choices: dict[Key, Any]) -> str:
        """The value, or how many there are."""
        if not self.paths:
            return ""
        if len(self.paths) > 1:
            return f"({len(self.paths)})"
        return shown_value(choices[self.side, self.paths[0]].value)


def slots_of(move: Move, most: int) -> list[Slot]:
    """The lines of a picture: at most about `most`."""
    keys = [key for side in (0, 1) for key in _merged(move, side)]
    slots = _grouped(move, keys, only_left_alone=True)
    if len(slots) > most:
        slots = _grouped(move, keys, only_left_alone=False)
    return _cut(move, slots, most)


def _merged(move: Move, side: int) -> list[Key]:
    """The addresses before and after, in the order of the program as far as there is one."""
    order = [key for key in move.after if key[0] == side]
    place = {key: i for i, key in enumerate(order)}
    following: dict[int, list[Key]] = {}
    at = -1
    for key in move.before:
        if key[0] == side:
            if key in place:
                at = place[key]
            else:
                following.setdefault(at, []).append(key)
    merged = following.get(-1, [])
    for i, key in enumerate(order):
        merged += [key, *following.get(i, [])]
    return merged


def _signature(move: Move, key: Key) -> tuple[Any, ...]:
    before, after = move.before.get(key), move.after.get(key)
    status = None if before is None else (before.read, before.observed, before.gone)
    return key[0], key[1][:-1] or key[1], status, None if after is None else after.kind


def _grouped(move: Move, keys: list[Key], *, only_left_alone: bool) -> list[Slot]:
    copied = {arrow.source for arrow in move.arrows}
    runs: list[tuple[Any, list[Key]]] = []
    for key in keys:
        alone = key in move.before and key not in move.reads and key not in copied
        alone = alone and key in move.after and move.after[key].kind == "kept"
        signature = _signature(move, key) if alone or not only_left_alone else key
        if runs and runs[-1][0] == signature:
            runs[-1][1].append(key)
        else:
            runs.append((signature, [key]))
    slots = []
    for _, members in runs:
        groups = [members] if len(members) > _ALIKE else [[key] for key in members]
        for group in groups:
            first = group[0]
            slots.append(Slot(first[0], [p for _, p in group], first in move.before, first in move.after))
    return slots


def _cut(move: Move, slots: list[Slot], most: int) -> list[Slot]:
    """The first lines, those of what the move touches before others; the last says how many are left out."""
    if len(slots) <= most:
        return slots
    ends = {key for arrow in move.arrows for key in (arrow.source, arrow.target)}

    def idle(slot: Slot) -> bool:
        return not any((slot.side, path) in ends or (slot.side, path) in move.reads for path in slot.paths)

    ranked = sorted(range(len(slots)), key=lambda i: (idle(slots[i]), i))
    shown = sorted(ranked[: most - 2])
    cut: list[Slot] = []
    for side in (0, 1):
        kept = [slots[i] for i in shown if slots[i].side == side]
        left = sum(len(s.paths) for s in slots if s.side == side) - sum(len(s.paths) for s in kept)
        cut += kept
        if left:
            cut.append(Slot(side, [], True, True, left))
    return cut
