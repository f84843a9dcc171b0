"""Which choices a trace has, as far as kernels have asked: shared by traces that differ in values only.

A kernel that picks one of its choices at random, or visits them in turn, must know which there are, and
finding them takes as long as there are many. An edit that makes and removes no choice of a selection leaves
the answer as it was, so it is found once and handed on from trace to trace.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from typing import Any

from gendsl.address import Path
from gendsl.runtime.paths import column_of
from gendsl.selection import Selection

_REMEMBERED = 32  # selections; more than that are not one kernel's parts but made anew in every step


class Structure:
    """The paths of the choices in each selection that was asked for."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        # By identity: hashing a selection takes as long as its list of addresses. What a key stands for is
        # kept beside the answer, so that no other selection can have its identity.
        self._found: dict[tuple[int, bool], tuple[Selection, Set[Path], Sequence[Path]]] = {}

    def get(self, selection: Selection, observed: Set[Path], skip_absent: bool) -> Sequence[Path] | None:
        """The paths in a selection of a trace with these observations, if they are known.

        Args:
            skip_absent: whether there may be none at addresses that are named.
        """
        found = self._found.get((id(selection), skip_absent))
        return found[2] if found is not None and found[1] is observed else None

    def remember(
        self, selection: Selection, observed: Set[Path], skip_absent: bool, paths: Sequence[Path]
    ) -> None:
        """Keep the paths in a selection of a trace with these observations."""
        if len(self._found) >= _REMEMBERED:
            self._found.clear()
        self._found[id(selection), skip_absent] = selection, observed, paths

    def after(self, made: Collection[Path], gone: Collection[Path]) -> Structure:
        """The structure of a trace that has made and lost some choices."""
        if not made and not gone:
            return self
        changed = Structure()
        for key, entry in self._found.items():
            contains = entry[0].contains
            if not any(map(contains, made)) and not any(map(contains, gone)):
                changed._found[key] = entry
        return changed


def paths_in(trace: Any, selection: Selection) -> Sequence[Path]:
    """The paths of a trace's choices in a selection, in program order below each address it names."""
    contains = selection.contains
    found: dict[Path, None] = {}
    for pattern in selection.reach():
        prefix = pattern[: pattern.index(...)] if ... in pattern else pattern
        if prefix and prefix == pattern and prefix in trace.records:
            found[prefix] = None  # a choice, with nothing below it
        else:
            found.update(dict.fromkeys(trace.paths_below(prefix)))
    paths = tuple(path for path in found if contains(path))
    return column_of(paths) or paths
