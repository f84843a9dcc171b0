"""`address @ ~thing`: a choice, a call of another program, or an ordinary value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Set
from math import inf
from typing import Any

from gendsl.address import Path, as_path
from gendsl.distributions import Distribution
from gendsl.distributions.base import ScalarFamily
from gendsl.distributions.scipy_frozen import find_distribution
from gendsl.errors import Location, MissingAddressError
from gendsl.interface import CallRequest, GenerativeFunction
from gendsl.lang.definition import raise_at
from gendsl.lang.sites import is_braced
from gendsl.runtime import fused
from gendsl.runtime.blocks import NOTHING, Block, Touched
from gendsl.runtime.change import ALL, SCALARS, UNSET, difference
from gendsl.runtime.executions import inverted
from gendsl.runtime.guards import unchanged_by
from gendsl.runtime.lowering.ir import Part
from gendsl.runtime.namespaces import duplicate
from gendsl.runtime.reads import Changes, Frame, Frames, Runner, is_dirty
from gendsl.runtime.records import REMEMBERED, detached, kept
from gendsl.runtime.regions import Called, rerun_opaque, run_opaque

_ORDINARY: Any = ("ordinary", None, 0.0)


class SiteBlock(Block):
    """The site of a choice or call. Its state is the choice's record, or what was called and its score."""

    def __init__(
        self,
        node: ast.AST,
        address: Runner | None,
        parts: list[Part] | None,
        thing: Runner,
        arguments: list[tuple[int, int] | None],
        sugar: bool,
        splice: bool,
        value: int,
        state: int,
        locate: Callable[[ast.AST], Location],
    ) -> None:
        self.node = node
        self.address = address
        self.parts = parts
        self.thing = thing
        self.arguments = arguments
        self.sugar = sugar
        self.splice = splice
        self.value = value
        self.state = state
        self.locate = locate
        self.uses = thing.reads if address is None else [*thing.reads, *address.reads]
        self.address_reads = [] if address is None else address.reads
        self.constant: Path | None = None
        self.heads = None
        if parts is not None and parts and not splice:
            if parts[0][1] is None and parts[0][0] is not None:
                self.heads = frozenset((parts[0][0],))
            if all(slot is None and constant is not None for constant, slot in parts):
                self.constant = tuple(constant for constant, _ in parts)

    def location(self) -> Location:
        """Where the site stands in the user's file."""
        return self.locate(self.node)

    def path(self, prefix: Path, frames: Frames) -> Path:
        """The address, below the namespace that the body runs in."""
        if self.constant is not None:
            return prefix + self.constant if prefix else self.constant
        if self.splice or self.address is None:
            return prefix
        address = self.address.call(*frames)
        if type(address) is not tuple:
            address = (address,)
        return prefix + (address or as_path(address)) if prefix else address

    # --- running ----------------------------------------------------------------------------------

    def run(self, execution: Any, frames: Frames) -> None:
        frame = frames[-1]
        if self.address is None and not self.splice:
            execution.site, execution.place = self, execution.prefix
            frame[self.value] = execution.unaddressed(self.thing.call(*frames))
            frame[self.state] = _ORDINARY
            execution.site = None
            return
        path = self.path(execution.prefix, frames)
        execution.site = self
        execution.place = path
        thing = self.thing.call(*frames)
        if isinstance(thing, Distribution) and not self.splice:
            self._choose(execution, frame, path, thing)
        else:
            self._other(execution, frame, path, thing)
        execution.site = None

    def _choose(self, execution: Any, frame: Frame, path: Path, distribution: Distribution) -> None:
        try:
            record = execution.choose(path, distribution)
            records = execution.records
            if len(records) < REMEMBERED:
                records[path] = record
            seen = execution.seen
            if seen is not None:
                if path in seen:
                    raise duplicate("choices", path)
                seen.add(path)
        except Exception as error:
            if isinstance(error, TypeError):
                as_path(path)  # explains what can't be an address, if that is what went wrong
            raise_at(error, self.node, self.location())
        frame[self.state] = record
        value = record[1]
        frame[self.value] = value if type(value) in SCALARS else detached(value)

    def _other(self, execution: Any, frame: Frame, path: Path, thing: Any) -> None:
        if type(thing) is CallRequest:
            as_path(path) if not self.splice else None
            if not self.splice:
                if path in execution.called:
                    raise duplicate("calls", path)
                execution.called.add(path)
            called, score = self._call(execution, path, thing)
            frame[self.state] = called, None, score
            frame[self.value] = called.retval
            return
        if self.splice:
            frame[self.value] = execution.splice(thing)  # explains why it can't be spliced
        local = path[len(execution.prefix) :]
        if isinstance(thing, GenerativeFunction):
            raise MissingAddressError(
                f"~{thing.name} is not a traced call",
                address=path,
                fix=f"call it: `addr @ ~{thing.name}(...)`",
            )
        distribution = find_distribution(thing)
        if distribution is not None:
            self._choose(execution, frame, path, distribution)
            return
        if self.sugar:
            frame[self.value] = inverted(thing)
        else:
            address: Any = local if len(local) != 1 else local[0]
            frame[self.value] = ({address} if is_braced(self.node) else address) @ inverted(thing)
        frame[self.state] = _ORDINARY

    def _call(self, execution: Any, path: Path, request: CallRequest) -> tuple[Called, float]:
        """Run the body of a requested call below an address."""
        outer = execution.prefix, execution.function
        execution.prefix, execution.function = path, request.function
        try:
            linked = getattr(request.function, "linked", None)
            if linked is None:
                return unchanged_by(request, outer[1], self.node, lambda: run_opaque(execution, request))
            return linked.run_call(execution, request)  # type: ignore[no-any-return]
        except Exception as error:
            raise_at(error, self.node, self.location())
        finally:
            execution.prefix, execution.function = outer

    # --- updating ---------------------------------------------------------------------------------

    def update(self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched) -> int:
        frame = new[-1]
        state = frame[self.state]
        first = state[0]
        if isinstance(first, Distribution):
            if touched is None and not (self.address_reads and is_dirty(self.address_reads, new, changes)):
                return self._rescore(execution, old, new, changes, state)
            path = self.path(execution.prefix, new)
            execution.site, execution.place = self, path
            moved = False
            if self.address_reads and is_dirty(self.address_reads, new, changes):
                moved = path != self.path(execution.prefix, old)
            distribution: Any = first
            if is_dirty(self.thing.reads, new, changes):
                distribution = self.thing.call(*new)
                if not isinstance(distribution, Distribution):
                    return self._anew(execution, old, new, changes)
            if moved:
                return self._anew(execution, old, new, changes)
            record = execution.revisit(path, distribution, state)
            execution.site = None
            if record is state:
                return 0
            frame[self.state] = record
            value = record[1]
            change = difference(state[1], value)
            if change is None:
                return 0
            frame[self.value] = value if type(value) in SCALARS else detached(value)
            changes[-1][self.value] = change
            return self.readers.get(self.value, 0)
        dirty = is_dirty(self.uses, new, changes)
        if type(first) is Called and not (self.address_reads and is_dirty(self.address_reads, new, changes)):
            return self._update_call(execution, old, new, changes, touched, dirty)
        return self._anew(execution, old, new, changes) if dirty else 0

    def _rescore(self, execution: Any, old: Frames, new: Frames, changes: Changes, state: Any) -> int:
        """Score a choice again that keeps its address and its value: the hot path of every update."""
        first, value, before = state
        if not is_dirty(self.thing.reads, new, changes):
            return 0
        execution.site, execution.place, execution.frames = self, None, new
        distribution = self.thing.call(*new)
        kind = type(distribution)
        if kind is type(first) and issubclass(kind, ScalarFamily) and type(value) is kind.number:
            try:
                score = distribution.at(value)
            except OverflowError:
                score = distribution.logpdf(value)
            if -inf < score < inf:
                if type(score) is not float:  # a NumPy number among the parameters
                    score = float(score)
                execution.weight += score - before
                new[-1][self.state] = distribution, value, score
                execution.site = None
                return 0
        if not isinstance(distribution, Distribution):
            return self._anew(execution, old, new, changes)
        if kept(state, distribution) is not value:  # it is of another type now
            return self._anew(execution, old, new, changes)
        path = execution.place = self.path(execution.prefix, new)
        new[-1][self.state] = execution.revisit(path, distribution, state)
        execution.site = None
        return 0

    def _anew(self, execution: Any, old: Frames, new: Frames, changes: Changes) -> int:
        """Take the site back and run it again: its address, or what kind of site it is, has changed."""
        before = new[-1][self.value]
        self.remove(execution, old)
        self.run(execution, new)
        change = difference(before, new[-1][self.value])
        if change is None:
            return 0
        changes[-1][self.value] = change
        return self.readers.get(self.value, 0)

    def _update_call(
        self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched, dirty: bool
    ) -> int:
        frame = new[-1]
        called, _, _ = frame[self.state]
        path = self.path(execution.prefix, new)
        execution.site, execution.place = self, path
        request = None
        if dirty:
            request = self.thing.call(*new)
            if type(request) is not CallRequest or request.function != called.request.function:
                return self._anew(execution, old, new, changes)
        outer = execution.prefix, execution.function
        execution.prefix, execution.function = path, called.request.function
        try:
            if called.linked is None:
                updated, score, change = unchanged_by(
                    request or called.request,
                    outer[1],
                    self.node,
                    lambda: rerun_opaque(execution, called, request),
                )
            else:
                known = [
                    None if argument is None else (changes[argument[0]].get(argument[1]),)
                    for argument in self.arguments
                ]
                found = called.linked.update_call(execution, called, request, known, touched)
                if found is None:
                    execution.site = None
                    return 0
                updated, score, change = found
        except Exception as error:
            raise_at(error, self.node, self.location())
        finally:
            execution.prefix, execution.function = outer
        execution.site = None
        frame[self.state] = updated, None, score
        if change is ALL:
            change = difference(called.retval, updated.retval)
        if change is None:
            return 0
        frame[self.value] = updated.retval
        changes[-1][self.value] = change
        return self.readers.get(self.value, 0)

    def written_out(self, i: int, frames: str, scope: dict[str, Any]) -> str:
        return fused.written_out_site(self, i, frames, scope)

    # --- removing and looking ---------------------------------------------------------------------

    def remove(self, execution: Any, frames: Frames) -> None:
        state = frames[-1][self.state]
        first = state[0]
        if isinstance(first, Distribution):
            execution.remove(self.path(execution.prefix, frames), state)
        elif type(first) is Called:
            for path, record in self.records(frames, execution.prefix):
                execution.remove(path, record)

    def clear(self, frame: Frame) -> None:
        frame[self.state] = NOTHING
        frame[self.value] = UNSET

    def records(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        state = frames[-1][self.state]
        first = state[0]
        if isinstance(first, Distribution):
            yield self.path(prefix, frames), state
        elif type(first) is Called:
            if first.linked is None:
                yield from first.records.items()
            else:
                yield from first.linked.body.records((first.frame,), self.path(prefix, frames))

    def values(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        first = frames[-1][self.state][0]
        if type(first) is Called and first.linked is not None:
            return first.linked.body.values((first.frame,), self.path(prefix, frames))  # type: ignore[no-any-return]
        return super().values(frames, prefix)

    def score_of(self, frames: Frames, prefix: Path, paths: Set[Path]) -> float:
        first = frames[-1][self.state][0]
        if type(first) is Called and first.linked is not None:
            inner = first.linked.body.score_of((first.frame,), self.path(prefix, frames), paths)
            return inner  # type: ignore[no-any-return]
        return super().score_of(frames, prefix, paths)

    def calls(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        first = frames[-1][self.state][0]
        if type(first) is Called:
            path = self.path(prefix, frames)
            if first.linked is None:
                yield from first.calls.items()
            else:
                yield from first.linked.body.calls((first.frame,), path)
            if not self.splice:
                yield path, first.retval

    def addresses(self, frames: Frames, offset: int) -> Iterator[Path]:
        first = frames[-1][self.state][0]
        if isinstance(first, Distribution) or (type(first) is Called and not self.splice):
            yield self.path((), frames)
        elif type(first) is Called:
            if first.linked is None:
                yield from (path[offset:] for path in (*first.records, *first.calls))
            else:
                yield from first.linked.body.addresses((first.frame,), offset)

    def find(self, frames: Frames, path: Path, offset: int, below: bool) -> Iterator[tuple[Path, Any]]:
        state = frames[-1][self.state]
        first = state[0]
        if first is None or first == "ordinary":
            return
        own = self.path(path[:offset], frames)
        size = len(own)
        if isinstance(first, Distribution):
            if own == path or (below and own[: len(path)] == path):
                yield own, state
            return
        if not (own == path[:size] or (below and own[: len(path)] == path)):
            return
        if own == path and not self.splice:
            yield own, (None, first.retval, 0.0)
            if not below:
                return
        if first.linked is None:
            for at, record in first.records.items():
                if at == path or (below and at[: len(path)] == path):
                    yield at, record
            if path in first.calls:
                yield path, (None, first.calls[path], 0.0)
        elif size >= len(path) and below:
            yield from first.linked.body.records((first.frame,), own)
        else:
            yield from first.linked.body.find((first.frame,), path, size, below)
