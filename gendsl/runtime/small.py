"""Which traces are executed whole at each edit: those of so few choices that this costs least.

Running a light body again costs one or two microseconds for each choice; following a change through blocks
costs some tens whatever the number of choices. Below about two dozen choices the first is cheaper, often
several times. It is not where a loop over data makes eight of them or more, which array code
scores at once. What a trace is depends on its program, its arguments and its choices alone, so that one seed
gives one chain however its traces came about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gendsl.runtime import column_loops
from gendsl.runtime.lowering.light import ENTRIES, entries
from gendsl.runtime.watched import is_forced

if TYPE_CHECKING:
    from gendsl.runtime.lowering.build import Compiled

CHOICES = 24
"""Up to how many choices the trace of a light program is executed whole."""


def may_be_small(compiled: Compiled) -> bool:
    """Whether traces of the program with few choices are executed whole."""
    return CHOICES > 0 and not is_forced() and compiled.light


def are_small(args: tuple[Any, ...], records: Mapping[Any, Any], plates: frozenset[Any]) -> bool:
    """Whether a trace of a light program is to be executed whole.

    Args:
        plates: what the addresses of choices begin with that columns may hold, however the others turn out.
    """
    if len(records) > CHOICES:
        return False
    if plates and len(records) >= column_loops.FIXED:
        made = Counter(path[0] for path in records)
        if any(made[head] >= column_loops.FIXED for head in plates):
            return False
    return entries(args) + sum(entries(record[1]) for record in records.values()) <= ENTRIES + CHOICES
