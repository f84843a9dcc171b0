"""What a random choice does where the body runs again for a trace that there is: update and regenerate."""

from __future__ import annotations

from collections.abc import Set
from math import inf
from types import GeneratorType
from typing import Any

import numpy as np

from gendsl.address import Path, as_path
from gendsl.choices import MISSING, Exactly
from gendsl.distributions import Distribution, factor
from gendsl.errors import GenDSLError, MissingChoiceError
from gendsl.runtime.executions import (
    FRESH,
    Closed,
    Execution,
    Given,
)
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.inlined import REGENERATED, UPDATED, Makers
from gendsl.runtime.namespaces import check_namespaces
from gendsl.runtime.records import (
    PLAIN_FAMILIES,
    UNCHANGEABLE,
    Record,
    Records,
    as_given,
    as_score,
    detached,
    draw,
    factors,
    is_unchanged,
    kept,
    of_factor,
    without_factors,
)
from gendsl.runtime.watched import is_usual
from gendsl.selection import Selection


class Update(Execution, makers=Makers(UPDATED)):
    """Given choices are taken, then those of the old trace, and the rest drawn from the prior.

    Attributes:
        fresh: the choices that were drawn.
        fresh_score: the sum of their scores.
        added: how many choices the old trace doesn't have.
        remade: where choices keep their values, from distributions that may have another base measure.
    """

    def __init__(
        self,
        old: Records,
        given: Given,
        rng: np.random.Generator | None,
        *,
        stop_at_zero: bool = False,
    ) -> None:
        self.records = {}
        self.calls = {}
        self.old = old
        self.given = given
        self.values = given.values if type(given) is Exactly else None
        self.rng = rng
        self.stop_at_zero = stop_at_zero
        self.fresh: list[Path] = []
        self.fresh_score = 0.0
        self.added = 0
        self.remade: list[Path] = []

    def afresh(self, rng: Any) -> Update:
        return Update(self.old, self.given, rng, stop_at_zero=self.stop_at_zero)

    def at(self, address: Any, thing: Any, sugar: bool | str = False) -> Any:
        number = PLAIN_FAMILIES[type(thing)]
        if number is None:
            return Execution.at(self, address, thing, sugar)
        path = address if type(address) is tuple else (address,)
        if self.prefix:
            path = self.prefix + (path or as_path(path))
        try:
            value, before = self.given.lookup(path), self.old.get(path)
            is_new = before is None
            if value is MISSING and before is not None:
                value = before[1]
                if type(thing) is not type(before[0]):
                    self.remade.append(path)
            score = thing.at(value) if type(value) is number else None
        except (TypeError, OverflowError):
            score = None
        if score is None or not -inf < score < inf:
            return Execution.at(self, address, thing, sugar)
        self.added += is_new
        return self.keep(path, (thing, value, score))

    def again(self, path: Path, thing: Any, sugar: bool | str, before: Record | None, value: Any) -> Any:
        """The value of a choice of a body that makes them by statements; see `at_once`.

        Args:
            path: the whole address.
            before: the record that it had, if any.
            value: what it is given, or MISSING.
        """
        if not isinstance(thing, Distribution):
            return self._other(path[len(self.prefix) :], thing, sugar)
        if value is not MISSING:
            value = as_given(value, thing)
        elif before is not None:
            value = kept(before, thing)
            self.remade.append(path)
        else:
            return self.at(path[len(self.prefix) :], thing, sugar)
        score = thing.logpdf(value)
        if type(score) is not float:
            score = as_score(score, thing, value)
        if not -inf < score < inf:
            return self.at(path[len(self.prefix) :], thing, sugar)
        if before is None:
            self.added += 1
        records = self.records
        if path in records:
            raise self.twice(path)
        records[path] = thing, value, score
        self.score += score
        return value if type(value) in UNCHANGEABLE else detached(value)

    def choose(self, path: Path, distribution: Distribution) -> Record:
        value = self.given.lookup(path)
        before = self.old.get(path)
        if value is MISSING:
            if before is None:
                return self._fresh(path, distribution)
            if self.quick and -inf < before[2] < inf and is_unchanged(distribution, before[0]):
                return before
            value = kept(before, distribution)
            self.remade.append(path)
        else:
            self.added += before is None
            value = as_given(value, distribution)
        score = distribution.logpdf(value)
        if type(score) is not float:
            score = as_score(score, distribution, value)
        if score == -inf and self.stop_at_zero:
            raise self.fail(ZeroProbability(path, distribution, value))
        return distribution, value, score

    def _fresh(self, path: Path, distribution: Distribution) -> Record:
        if type(distribution) is factor:  # which nothing draws: all of it is in the weight
            self.added += 1
            return of_factor(distribution)
        if self.rng is None:
            raise self.fail(
                MissingChoiceError(
                    "the new trace makes a choice that nothing gives a value",
                    address=path,
                    fix="give it a value; a move never fills one in by sampling",
                )
            )
        if self.rng is FRESH:
            self.rng = np.random.default_rng()
        record = draw(distribution, self.rng)
        self.added += 1
        self.fresh.append(path)
        self.fresh_score += record[2]
        return record


class Regenerate(Execution, makers=Makers(REGENERATED)):
    """Selected choices are drawn anew, the others kept; `weight` is the change in score of those kept.

    It has the change of all factors, too: those that are gone are taken off when the run is finished.
    """

    def __init__(
        self,
        old: Records,
        selection: Selection,
        rng: np.random.Generator,
        *,
        stop_at_zero: bool = False,
    ) -> None:
        super().__init__()
        self.old = old
        self.selection = selection
        self.values = {}
        self.rng = rng
        self.stop_at_zero = stop_at_zero
        self.weight = 0.0
        self.added = 0

    def afresh(self, rng: Any) -> Regenerate:
        return Regenerate(self.old, self.selection, rng, stop_at_zero=self.stop_at_zero)

    def choose(self, path: Path, distribution: Distribution) -> Record:
        before = self.old.get(path)
        if type(distribution) is factor:  # which nothing draws: all of it is in the weight
            record = of_factor(distribution)
            if record[2] == -inf and self.stop_at_zero:
                raise self.fail(ZeroProbability(path, distribution, True))
            self.added += before is None
            self.weight += record[2] - (0.0 if before is None else factors([before]))
            return record
        if before is None or path in self.selection:
            self.added += before is None
            return draw(distribution, self.rng)
        if self.quick and -inf < before[2] < inf and is_unchanged(distribution, before[0]):
            return before
        value = kept(before, distribution)
        score = distribution.logpdf(value)
        if type(score) is not float:
            score = as_score(score, distribution, value)
        if score == -inf and self.stop_at_zero:
            raise self.fail(ZeroProbability(path, distribution, value))
        self.weight += score - before[2]
        return distribution, value, score

    def finish(self) -> None:
        if len(self.records) - self.added < len(self.old):
            self.weight -= factors(r for path, r in self.old.items() if path not in self.records)
        super().finish()


Again = tuple[Update, Any, float, Records, Set[Path], bool]
"""What an execution leaves that makes choices again by statements: itself, which is over; what the body
returned; the change of the log probability; the choices that are no longer made; the paths of the
observations; and whether it makes the choices that were made before, and no others."""


def executed_again(trace: Any, given: Exactly, stop_at_zero: bool) -> Again | None:
    """Run the body of a trace again with its choices made by statements; see `at_once`.

    None where this is not the way, or anything is out of the ordinary. Nothing is drawn, so nothing is lost
    then: the edit goes the usual way.
    """
    gen_fn = trace.gen_fn
    compiled = gen_fn.compiled
    if gen_fn.direct or not compiled.is_spread or compiled.changes_arguments or not is_usual():
        return None
    old, observed = trace.records, trace.observed_paths
    execution = Update(old, given, None, stop_at_zero=stop_at_zero)
    execution.quick = execution.spread = True
    execution.function = gen_fn
    try:
        retval = gen_fn.run_body(execution, trace.args, {})
    except Exception:
        return None
    records = execution.records
    weight = execution.score - trace.log_prob
    if execution.failure is not None or not -inf < weight < inf or type(retval) is GeneratorType:
        return None
    execution.__class__ = Closed  # type: ignore[assignment]
    added, calls_alike = execution.added, execution.calls.keys() == trace.calls.keys()
    is_alike = not added and tuple(records) == tuple(old)  # in this order
    if added or not calls_alike:
        try:
            check_namespaces(records, execution.calls)
        except GenDSLError:
            return None
    gone: Records = {}
    if len(records) - added < len(old):
        gone = {path: record for path, record in old.items() if path not in records}
        for path in gone:
            if path in observed:
                observed = frozenset(path for path in observed if path in records)
                break
    return execution, retval, weight, without_factors(gone), observed, is_alike
