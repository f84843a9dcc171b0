"""What a choice does when a compiled trace is edited: those that an edit reaches are looked at again.

`choose` is asked for a choice that the block had not made before, `revisit` for one that it had, and
`remove` is told of one that it no longer makes. A choice that one block takes over from another at the same
address is removed and chosen; it counts as kept.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.choices import MISSING
from gendsl.distributions import Distribution, factor
from gendsl.distributions.base import ScalarFamily, measured
from gendsl.runtime.executions import Given
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.measures import same_measure
from gendsl.runtime.records import REMEMBERED, Record, as_given, as_score, draw, kept, rescored
from gendsl.runtime.reexecutions import Regenerate, Update
from gendsl.selection import Selection


class _Edit:
    """What edits have in common.

    Attributes:
        gone: the records of choices that their blocks no longer make.
        made: the choices that blocks make which had not made them before.
        overwritten: the records of choices that were given other values.
        discarded: both, in the order in which they were found.
        remeasured: the old and new distributions of choices that were kept, with other base measures.
        crowded: whether there may be two choices at one address.
        weight: the log weight of the edit so far.
    """

    old: Any
    stop_at_zero: bool
    crowded = False

    def start(self) -> None:
        self.seen: set[Path] | None = set()
        self.called: set[Path] = set()
        self.gone: dict[Path, Record] = {}
        self.made: dict[Path, Record] = {}
        self.overwritten: dict[Path, Record] = {}
        self.remeasured: dict[Path, tuple[Distribution, Distribution]] = {}
        self.discarded: dict[Path, Record] = {}
        self.weight = 0.0

    def crowd(self) -> None:
        """Note that a program is run in which two choices may have one address."""
        self.crowded = True

    def check(self, path: Path, distribution: Distribution, record: Record) -> None:
        """Stop where a proposal has left the support."""
        if record[2] == -inf and self.stop_at_zero:
            raise self.fail(ZeroProbability(path, distribution, record[1]))  # type: ignore[attr-defined]

    def compare(self, path: Path, before: Distribution, after: Distribution) -> None:
        """Note a kept choice whose distribution has another base measure than it had."""
        if type(before) is type(after) and isinstance(after, ScalarFamily):
            return
        if not same_measure(measured(before), measured(after)):
            self.remeasured[path] = before, after


class UpdateEdit(_Edit, Update):
    """Given choices are taken, those the trace had are kept, others drawn; see `Update`."""

    def __init__(
        self, old: Any, given: Given, rng: np.random.Generator | None, *, stop_at_zero: bool = False
    ) -> None:
        Update.__init__(self, old, given, rng, stop_at_zero=stop_at_zero)
        self.start()

    def choose(self, path: Path, distribution: Distribution) -> Record:
        fresh = len(self.fresh)
        record = super().choose(path, distribution)
        if len(self.fresh) == fresh:
            self.weight += record[2]
            before = self.old.get(path)
            if before is not None:
                if self.given.lookup(path) is not MISSING:
                    self.overwritten[path] = before
                    self.discarded.setdefault(path, before)
                else:
                    self.compare(path, before[0], distribution)
        self.made[path] = record
        return record

    def revisit(self, path: Path, distribution: Distribution, before: Record) -> Record:
        """The record of a choice that the block had made before."""
        value = self.given.lookup(path)
        if value is MISSING:
            if distribution is before[0]:
                return before
            value = kept(before, distribution)
            self.compare(path, before[0], distribution)
        else:
            self.overwritten[path] = self.discarded[path] = before
            value = as_given(value, distribution)
        score = distribution.logpdf(value)
        if type(score) is not float:
            score = as_score(score, distribution, value)
        if score == -inf and self.stop_at_zero:
            raise self.fail(ZeroProbability(path, distribution, value))
        self.weight += score - before[2]
        record = distribution, value, score
        if len(self.records) < REMEMBERED:
            self.records[path] = record
        return record

    def remove(self, path: Path, record: Record) -> None:
        """Note that a block no longer makes a choice."""
        self.gone[path] = self.discarded[path] = record
        self.weight -= record[2]


class RegenerateEdit(_Edit, Regenerate):
    """Selected choices are drawn anew, the others kept; see `Regenerate`."""

    def __init__(
        self, old: Any, selection: Selection, rng: np.random.Generator, *, stop_at_zero: bool = False
    ) -> None:
        Regenerate.__init__(self, old, selection, rng, stop_at_zero=stop_at_zero)
        self.start()
        self.selected = selection.contains

    def choose(self, path: Path, distribution: Distribution) -> Record:
        record = super().choose(path, distribution)
        before = self.old.get(path)
        if before is not None and path not in self.selection:
            self.compare(path, before[0], distribution)
        self.made[path] = record
        return record

    def revisit(self, path: Path, distribution: Distribution, before: Record) -> Record:
        """The record of a choice that the block had made before."""
        if self.selected(path):
            self.overwritten[path] = before
            if type(distribution) is not factor:
                return draw(distribution, self.rng)
        if distribution is before[0]:
            return before
        record = rescored(distribution, kept(before, distribution))
        self.check(path, distribution, record)
        self.compare(path, before[0], distribution)
        self.weight += record[2] - before[2]
        return record

    def remove(self, path: Path, record: Record) -> None:
        """Note that a block no longer makes a choice."""
        self.gone[path] = record
