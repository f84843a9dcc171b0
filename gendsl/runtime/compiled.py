"""Traces of the compiled runtime: a frame of the body, shared with its predecessor where nothing changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.address import Path, as_path
from gendsl.choices import ChoiceMap, Constraints, Exactly, choicemap
from gendsl.distributions import Distribution
from gendsl.errors import NaNError
from gendsl.interface import CallRequest, Choices, Regenerated, Rng, Updated, as_rng
from gendsl.runtime import small
from gendsl.runtime.arguments import private, separate
from gendsl.runtime.edits import RegenerateEdit, UpdateEdit
from gendsl.runtime.executions import FRESH
from gendsl.runtime.failures import beginning, by_reference
from gendsl.runtime.groups import fitted
from gendsl.runtime.guards import edit_or_whole
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.link import Linked
from gendsl.runtime.local import MOST, LocalDensity, LocalRedraw, edited, local_density, redrawn
from gendsl.runtime.lookup import record_at
from gendsl.runtime.lowering.ir import RETVAL, SCORE
from gendsl.runtime.namespaces import check_new
from gendsl.runtime.paths import check_paths, without
from gendsl.runtime.reads import Frame
from gendsl.runtime.records import REMEMBERED, Record, detached, factors, is_factor, without_factors
from gendsl.runtime.regions import Called
from gendsl.runtime.trace import (
    Edit,
    ReferenceTrace,
    at_definition,
    check_args,
    check_is_selection,
    not_nan,
)
from gendsl.runtime.verify import shape_after
from gendsl.runtime.views import CallsView, RecordsView
from gendsl.runtime.watched import runs_whole
from gendsl.runtime.written import whole
from gendsl.selection import Selection

if TYPE_CHECKING:
    from gendsl.runtime.generative import GenFunction


_GIVEN = frozenset((dict, ChoiceMap))
_new: Any = object.__new__


class CompiledTrace(ReferenceTrace):
    """A trace as a frame of its program's body."""

    __slots__ = ("_called", "_count", "_recent", "_records", "_shape")

    def __init__(
        self,
        gen_fn: GenFunction,
        args: tuple[Any, ...],
        called: Called,
        score: float,
        observed: Any,
        recent: dict[Path, Any],
    ) -> None:
        self.gen_fn = gen_fn
        self.args = args
        self._called = called
        self._recent = recent
        self._records: Mapping[Path, Record] | None = None
        self._count = -1  # how many choices there are, where that is known to have been few
        self.log_prob = score if type(score) is float else float(score)
        self.observed_paths = observed
        self._shape = 0  # which choices there are, but for those that there were at the start
        self._spaces = None
        self._structure = None
        self.scored_from = None

    @classmethod
    def start(
        cls,
        gen_fn: GenFunction,
        linked: Linked,
        execution: Any,
        args: tuple[Any, ...],
        *,
        once: bool = False,
    ) -> CompiledTrace:
        """The trace that a run of the program leaves; `once` if it won't be edited."""
        begun = beginning(gen_fn.compiled, execution)
        try:
            return cls._started(gen_fn, linked, execution, args, once)
        except (Exception, ZeroProbability) as error:
            again, failure = by_reference(error, execution, begun), error
            if again is None:
                raise
        again.run(gen_fn.called_with(args))
        at_definition(gen_fn, again.finish)
        raise failure

    @classmethod
    def _started(
        cls, gen_fn: GenFunction, linked: Linked, execution: Any, args: tuple[Any, ...], once: bool
    ) -> CompiledTrace:
        """The trace that the blocks of the body leave."""
        execution.function = gen_fn
        execution.seen = None if linked.disjoint else set()
        execution.called = set()
        called, score = linked.run_call(execution, CallRequest(gen_fn, args, {}))
        if execution.failure is not None:
            raise execution.failure
        execution.score = score
        if not once and score == score:
            called = fitted(called)
            score = called.frame[SCORE]
        records = execution.records
        trace = cls(gen_fn, args, called, score, frozenset(), records)
        if len(records) < REMEMBERED and not execution.partial:
            trace._records = records  # all of them
            trace._count = len(records)
        if execution.seen is not None or score != score:

            def finish() -> None:
                if execution.seen is not None:
                    check_paths(execution.seen, execution.called)
                trace.check_score()

            at_definition(gen_fn, finish)
        return trace

    def check_score(self) -> None:
        """Raise if the log probability is NaN."""
        if self.log_prob == self.log_prob:
            return
        for path, (distribution, value, score) in self.records.items():
            if score != score:
                raise NaNError(
                    f"the log density of {distribution!r} at {value!r} is NaN",
                    address=path,
                    fix="a logpdf must return -inf outside its support; check the parameters",
                )

    # --- looking ----------------------------------------------------------------------------------

    @property
    def records(self) -> Mapping[Path, Record]:  # type: ignore[override]
        """path -> (distribution, value, score), in program order; looked up, not stored."""
        records = self._records
        if records is None:
            records = self._records = RecordsView(self._called, self._recent)
        return records

    @property
    def calls(self) -> CallsView:  # type: ignore[override]
        """What each traced call returned, by its address; looked up, not stored."""
        return CallsView(self._called)

    @property
    def retval(self) -> Any:
        """What the program returned; what a loop goes through later may be the same, so this is a copy."""
        return separate(whole(self._called.retval))

    def __getitem__(self, address: Any) -> Any:
        path = address if type(address) is tuple else (address,)
        try:
            record = self._recent.get(path)
            if record is None:
                record = record_at(self._called.linked.body, (self._called.frame,), path)
        except TypeError:
            as_path(address)  # explains what can't be an address
            raise
        if record is None:
            raise self.unknown(as_path(address))
        return separate(whole(record[1])) if record[0] is None else detached(record[1])

    def __contains__(self, address: Any) -> bool:
        path = as_path(address)
        return any(True for _ in self._called.linked.body.find((self._called.frame,), path, 0, True))

    def _values(self) -> Iterator[tuple[Path, Any]]:
        """The values of the choices, in program order."""
        called = self._called
        return called.linked.body.values((called.frame,), ())  # type: ignore[no-any-return]

    @property
    def log_likelihood(self) -> float:
        called, observed = self._called, self.observed_paths
        return float(called.linked.body.score_of((called.frame,), (), observed)) if observed else 0.0

    def paths_below(self, prefix: Path) -> list[Path]:
        body, frames = self._called.linked.body, (self._called.frame,)
        found = body.find(frames, prefix, 0, True) if prefix else body.records(frames, ())
        size = len(prefix)
        return [path for path, record in found if record[0] is not None and len(path) > size]

    def __reduce__(self) -> Any:
        values = {path: record[1] for path, record in self.records.items()}
        return _rebuilt, (self.gen_fn, self.args, values, frozenset(self.observed_paths))

    # --- operations -------------------------------------------------------------------------------

    def _edited(self, execution: Any, args: tuple[Any, ...] | None, touched: Any) -> ReferenceTrace:
        """The trace after an edit."""
        begun = beginning(self.gen_fn.compiled, execution)
        try:
            return self._updated(execution, args, touched)
        except (Exception, ZeroProbability) as error:
            again, failure = by_reference(error, execution, begun, self), error
            if again is None:
                raise
        self.rerun(again, args)
        raise failure

    def _updated(self, execution: Any, args: tuple[Any, ...] | None, touched: Any) -> ReferenceTrace:
        """The trace after an edit that looks at what changes alone."""
        called = self._called
        request = None
        if args is not None:
            given = private(check_args(args, self.gen_fn.name), self.args)
            request = CallRequest(self.gen_fn, given, {})
        execution.function = self.gen_fn
        found = called.linked.update_call(execution, called, request, [], touched)
        if execution.failure is not None:
            raise execution.failure
        if found is None:
            return self
        updated, score, _ = found
        if execution.made or execution.gone or request is not None:
            updated = fitted(updated)
            score = updated.frame[SCORE]
        observed = self.observed_paths
        if execution.gone:
            if execution.made:
                made = execution.made
                execution.gone = {path: record for path, record in execution.gone.items() if path not in made}
            for path in execution.gone:
                if path in observed:
                    observed = without(observed, execution.gone)
                    break
        new_args = self.args if request is None else request.args
        recent = execution.records
        trace = CompiledTrace(self.gen_fn, new_args, updated, score, observed, recent)
        if self._structure is not None:
            trace._structure = self._structure.after(execution.made, execution.gone)
        if execution.crowded or score != score:
            at_definition(self.gen_fn, lambda: trace.settle(execution.made, execution.called))
        if self._count >= 0:
            trace._count = self._count + execution.added - len(execution.gone)
        trace._shape, is_new = self._shape, execution.news
        if execution.made or execution.gone:
            trace._shape = shape_after(self._shape, execution.made, execution.gone)
            is_new = is_new or called.linked.watch.is_new(trace._shape)
        if (trace._count != self._count or request is not None) and trace._may_be_small():
            return self.gen_fn.fitted(trace)
        return trace._watched(is_new)

    def _may_be_small(self) -> bool:
        """Whether there are few choices, and none in a loop over data that is kept as columns."""
        called = self._called
        if self._count > small.CHOICES or called.linked.has_columns(called.frame):
            return False
        if self._count < 0 and small.may_be_small(self.gen_fn.compiled):
            count = sum(1 for _ in islice(self._values(), small.CHOICES + 1))
            self._count = count if count <= small.CHOICES else -1
        return self._count >= 0

    def with_frame(self, frame: Frame, recent: dict[Path, Any]) -> CompiledTrace:
        """The trace that has the same choices, with what a new frame of the body holds."""
        called = self._called
        linked = called.linked
        frame[SCORE] = score = linked.body.score(frame)
        trace: CompiledTrace = _new(CompiledTrace)
        trace.gen_fn, trace.args, trace.observed_paths = self.gen_fn, self.args, self.observed_paths
        trace._called = Called(called.request, linked, frame, {}, {}, frame[RETVAL])
        trace.log_prob = score if type(score) is float else float(score)
        trace._recent, trace._records, trace._spaces = recent, None, None
        trace._structure, trace._count = self._structure, self._count
        trace._shape, trace.scored_from = self._shape, None
        return trace

    def _watched(self, is_new: bool = False) -> CompiledTrace:
        """This trace, compared with the reference runtime where that is due, or something in it is new."""
        watch = self._called.linked.watch
        watch.edits += 1
        if is_new or watch.edits >= watch.due:
            watch.keep(self, shape=self._shape)
        return self

    def settle(self, made: Iterable[Path], called: Iterable[Path]) -> None:
        """Raise if one of the choices and calls just made has another's address, or the score is NaN."""
        check_new(self._called.linked.body, self._called.frame, made, called)
        self.check_score()

    def _weight(self, execution: Any, trace: ReferenceTrace) -> float:
        """log p(t'; x') / (p(t; x) q(fresh)): the changes summed one by one, where they are finite."""
        weight: float = execution.weight
        if not (-inf < weight < inf and -inf < self.log_prob < inf):
            weight = not_nan(trace.log_prob - self.log_prob - execution.fresh_score, self)
        return float(weight)

    def _weight_of_kept(self, execution: Any, trace: ReferenceTrace, selection: Selection) -> float:
        """log p(t'; x') q(t; kept) / (p(t; x) q(t'; kept)): the changes of the choices that were kept."""
        weight: float = execution.weight
        if not -inf < self.log_prob < inf:
            # what was not looked at again counts too: -inf that stays is no change of 0
            old, new = self.records, trace.records
            kept = [path for path in old if path in new and not (path in selection or is_factor(old[path]))]
            weight = sum(new[path][2] - old[path][2] for path in kept)
            weight += factors(new.values()) - factors(old.values())
        elif execution.gone:
            weight -= factors(execution.gone.values())
        return float(not_nan(weight, self))

    def whole(self) -> ReferenceTrace:
        """The same trace on the reference runtime."""
        trace = self.with_records(dict(self.records.items()))
        trace.calls = dict(self.calls)
        return trace

    @edit_or_whole
    def update(
        self, choices: Choices | None = None, *, args: tuple[Any, ...] | None = None, rng: Rng = None
    ) -> Updated:
        if runs_whole():
            return self.whole().update(choices, args=args, rng=rng)
        few = type(choices) in _GIVEN and len(choices) <= MOST  # type: ignore[arg-type]
        if args is None and few and self._called.linked.alone:
            found = edited(self, choices.items())  # type: ignore[union-attr]
            if found is not None:
                # as Updated(...) does, in half of the time
                return tuple.__new__(Updated, (found[0]._watched(), found[1], ChoiceMap._from_flat(found[2])))
        flat = choicemap(choices)
        given = Constraints(flat)
        execution = UpdateEdit(self.records, given, FRESH if rng is None else as_rng(rng))
        trace = self._edited(execution, args, list(flat))
        given.check_used(trace.records, "the update")
        weight = self._weight(execution, trace)
        discard = {
            path: record[1]
            for path, record in execution.discarded.items()
            if path in execution.gone or path in execution.overwritten
        }
        return Updated(trace, weight, ChoiceMap._from_flat(discard))

    @edit_or_whole
    def regenerate(
        self, selection: Selection, *, args: tuple[Any, ...] | None = None, rng: Rng = None
    ) -> Regenerated:
        if runs_whole():
            return self.whole().regenerate(selection, args=args, rng=rng)
        if args is None and self._called.linked.alone:
            check_is_selection(selection)
            drawn = self._one_redrawn(selection, selection.reach(), as_rng(rng), False)
            if drawn is not None:
                return Regenerated(drawn.trace, drawn.log_weight)
        self.check_selection(selection)
        execution = RegenerateEdit(self.records, selection, as_rng(rng))
        trace = self._edited(execution, args, selection.reach())
        return Regenerated(trace, self._weight_of_kept(execution, trace, selection))

    @edit_or_whole
    def edit(
        self,
        values: dict[Path, Any] | ChoiceMap,
        *,
        args: tuple[Any, ...] | None = None,
        rng: np.random.Generator | None = None,
        stop_at_zero: bool = False,
    ) -> Edit:
        if runs_whole():
            return self.whole().edit(values, args=args, rng=rng, stop_at_zero=stop_at_zero)
        if args is None and self._called.linked.alone and len(values) <= MOST and type(values) is dict:
            found = edited(self, values.items())
            if found is not None:
                return Edit(found[0]._watched(), found[1], {}, {})
        given = Exactly(values) if type(values) is dict else Constraints(values)
        execution = UpdateEdit(self.records, given, rng, stop_at_zero=stop_at_zero)
        trace = self._edited(execution, args, values if type(values) is dict else list(values))
        if isinstance(given, Constraints):
            given.check_used(trace.records, "the new choices")
        weight = execution.weight
        if not (-inf < weight < inf and -inf < self.log_prob < inf):
            weight = self._weight(execution, trace)
        remeasured = self._remeasured(execution) if execution.remeasured else {}
        return Edit(trace, weight, without_factors(execution.gone), remeasured)

    @edit_or_whole
    def resample(
        self,
        selection: Selection,
        rng: np.random.Generator,
        *,
        skip_absent: bool = False,
        stop_at_zero: bool = False,
    ) -> Edit | LocalRedraw:
        if runs_whole():
            return self.whole().resample(
                selection, rng, skip_absent=skip_absent, stop_at_zero=stop_at_zero
            )
        paths = selection.reach()
        if self._called.linked.alone:
            drawn = self._one_redrawn(selection, paths, rng, stop_at_zero)
            if drawn is not None:
                return drawn
        execution = RegenerateEdit(self.records, selection, rng, stop_at_zero=stop_at_zero)
        trace = self._edited(execution, None, paths)
        observed = self.observed_paths
        for path in paths:
            # what the move has drawn anew was there to be selected; only the rest has to be looked for
            if path not in execution.overwritten or path in observed:
                self.check_selection(selection, skip_absent=skip_absent)
                break
        weight = self._weight_of_kept(execution, trace, selection)
        return Edit(trace, weight, without_factors(execution.gone), self._remeasured(execution))

    def _one_redrawn(
        self, selection: Selection, paths: Any, rng: np.random.Generator, stop_at_zero: bool
    ) -> Edit | LocalRedraw | None:
        """The edit that draws the one choice anew that is selected; None where it takes the usual way."""
        if len(paths) == 1:
            (path,) = paths
            if ... not in path and path not in self.observed_paths and selection.contains(path):
                return redrawn(self, path, rng, stop_at_zero)
        return None

    @edit_or_whole
    def redraw(
        self, path: Path, rng: np.random.Generator, *, stop_at_zero: bool = False
    ) -> Edit | LocalRedraw:
        if path not in self.observed_paths and not runs_whole():
            drawn = redrawn(self, path, rng, stop_at_zero)
            if drawn is not None:
                return drawn
        return super().redraw(path, rng, stop_at_zero=stop_at_zero)

    def local_density(self, path: Path) -> LocalDensity | None:
        return None if runs_whole() else local_density(self, path)

    def has_any(self, selection: Selection) -> bool:
        body, frames = self._called.linked.body, (self._called.frame,)
        return any(
            record[0] is not None and found in selection
            for path in selection.reach()
            if ... not in path and path
            for found, record in body.find(frames, path, 0, True)
        ) or (any(... in p or not p for p in selection.reach()) and super().has_any(selection))

    def _remeasured(self, execution: Any) -> dict[Path, tuple[Distribution, Distribution]]:
        observed = self.observed_paths
        return {path: pair for path, pair in execution.remeasured.items() if path not in observed}

    def check_selection(self, selection: Selection, *, skip_absent: bool = False) -> None:
        check_is_selection(selection)
        observed = self.observed_paths
        paths = selection.reach()
        if any(... in path or not path for path in paths):
            super().check_selection(selection, skip_absent=skip_absent)
            return
        body, frames = self._called.linked.body, (self._called.frame,)
        for path in paths:
            there = False
            for found, record in body.find(frames, path, 0, True):
                if record[0] is None:
                    continue
                there = True
                if observed and found in observed and found in selection:
                    super().check_selection(selection, skip_absent=skip_absent)  # says which is the first
            if not there and not skip_absent:
                super().check_selection(selection)  # says what is wrong with it
                return


def _rebuilt(
    gen_fn: GenFunction, args: tuple[Any, ...], values: dict[Path, Any], observed: frozenset[Path]
) -> ReferenceTrace:
    """A trace from its choices: how one is unpickled."""
    trace = gen_fn.score(args, values)
    trace.observed_paths = observed
    return trace

