"""What is opaque: statements, or whole bodies, that are executed as the reference runtime executes them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator
from typing import Any

from gendsl.address import Path
from gendsl.distributions import Distribution
from gendsl.errors import Location
from gendsl.interface import CallRequest
from gendsl.runtime.blocks import NOTHING, Block, Later, Touched
from gendsl.runtime.change import UNSET, difference
from gendsl.runtime.executions import Closed, Execution
from gendsl.runtime.namespaces import check_namespaces, duplicate
from gendsl.runtime.reads import Changes, Frame, Frames, Runner
from gendsl.runtime.records import REMEMBERED, Record, Records


class Called:
    """A traced call: what was called, and the frame of its body.

    Attributes:
        request: the function with its arguments.
        linked: the callee's blocks, or None if it is opaque; then `records` and `calls` hold its choices.
    """

    __slots__ = ("_value", "calls", "frame", "linked", "records", "request")

    def __init__(
        self, request: CallRequest, linked: Any, frame: Frame, records: Records, calls: Any, retval: Any
    ) -> None:
        self.request = request
        self.linked = linked
        self.frame = frame
        self.records = records
        self.calls = calls
        self._value = retval

    @property
    def retval(self) -> Any:
        """What the call returned; a value that could wait is made now."""
        value = self._value
        if type(value) is Later:
            value = self._value = value.make(self.frame)
        return value


class Whole(Execution):
    """The execution of something opaque within that of a compiled body.

    Args:
        outer: the operation that is running, which says where values come from.
        old, old_calls: the choices and calls that it made last time.
    """

    def __init__(self, outer: Any, old: Records, old_calls: Container[Path]) -> None:
        super().__init__()
        self.outer = outer
        self.old = old
        self.old_calls = old_calls
        self.prefix = outer.prefix
        self.function = outer.function

    def choose(self, path: Path, distribution: Distribution) -> Record:
        before = self.old.get(path)
        if before is None:
            return self.outer.choose(path, distribution)  # type: ignore[no-any-return]
        return self.outer.revisit(path, distribution, before)  # type: ignore[no-any-return]

    def note_call(self, path: Path) -> None:
        super().note_call(path)
        if path not in self.old_calls:
            if path in self.outer.called:
                raise self.fail(duplicate("calls", path))
            self.outer.called.add(path)

    def close(self) -> None:
        """Report what is no longer made; raise an error that the body caught."""
        outer = self.outer
        if self.failure is not None:
            raise self.failure
        check_namespaces(self.records, self.calls)
        gone = [path for path in self.old if path not in self.records]
        for path in gone:
            outer.remove(path, self.old[path])
        discarded = getattr(outer, "discarded", None)
        if gone and discarded:  # what is gone lies between what has changed, which was put there before
            for path in self.old:
                if path in discarded:
                    discarded[path] = discarded.pop(path)
        for path, record in self.records.items():
            if len(outer.records) >= REMEMBERED:
                break
            outer.records[path] = record
        if outer.seen is not None:
            outer.see(self.records)
        self.__class__ = Closed  # type: ignore[assignment]


def run_opaque(execution: Any, request: CallRequest) -> tuple[Called, float]:
    """Run a program whose body is opaque; what was called, and its score."""
    return _run(execution, request, {}, ())


def rerun_opaque(execution: Any, called: Called, request: CallRequest | None) -> tuple[Called, float, Any]:
    """Run such a program again; what was called, its score, and how its value changed."""
    updated, score = _run(execution, request or called.request, called.records, called.calls)
    return updated, score, difference(called.retval, updated.retval)


def _run(
    execution: Any, request: CallRequest, old: Records, old_calls: Container[Path]
) -> tuple[Called, float]:
    whole = Whole(execution, old, old_calls)
    try:
        retval = whole.run(request)
        whole.close()
    except BaseException:
        execution.unfinished = whole.records
        raise
    return Called(request, None, [], whole.records, whole.calls, retval), whole.score


class RegionBlock(Block):
    """Opaque statements within a body. Its state is its records and calls, and its score."""

    heads: frozenset[Any] | None = None

    def __init__(
        self,
        node: ast.AST,
        runner: Runner,
        defs: list[int],
        state: int,
        locate: Callable[[ast.AST], Location],
    ) -> None:
        self.node = node
        self.runner = runner
        self.defs = defs
        self.state = state
        self.locate = locate
        self.uses = runner.reads

    def whole(self, execution: Any, old: Records, old_calls: Container[Path]) -> Whole:
        """The execution of the statements within another."""
        return Whole(execution, old, old_calls)

    def _execute(
        self, execution: Any, frames: Frames, old: Records, old_calls: Container[Path]
    ) -> tuple[Any, ...]:
        whole = self.whole(execution, old, old_calls)
        try:
            values: tuple[Any, ...] = self.runner.call(*frames, __gendsl__=whole)
            whole.close()
        except BaseException:
            execution.unfinished = whole.records
            raise
        frames[-1][self.state] = whole.records, whole.calls, whole.score
        return values

    def run(self, execution: Any, frames: Frames) -> None:
        for slot, value in zip(self.defs, self._execute(execution, frames, {}, ()), strict=True):
            frames[-1][slot] = value

    def update(self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched) -> int:
        frame = new[-1]
        mask = 0
        records, calls, _ = frame[self.state]
        values = self._execute(execution, new, records, calls)
        for slot, value in zip(self.defs, values, strict=True):
            change = difference(frame[slot], value)
            if change is not None:
                frame[slot] = value
                changes[-1][slot] = change
                mask |= self.readers.get(slot, 0)
        return mask

    def remove(self, execution: Any, frames: Frames) -> None:
        for path, record in frames[-1][self.state][0].items():
            execution.remove(path, record)

    def clear(self, frame: Frame) -> None:
        frame[self.state] = NOTHING
        for slot in self.defs:
            frame[slot] = UNSET

    def records(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        return iter(frames[-1][self.state][0].items())

    def calls(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        return iter(frames[-1][self.state][1].items())

    def addresses(self, frames: Frames, offset: int) -> Iterator[Path]:
        records, calls, _ = frames[-1][self.state]
        return (path[offset:] for path in (*records, *calls))

    def find(self, frames: Frames, path: Path, offset: int, below: bool) -> Iterator[tuple[Path, Any]]:
        records, calls, _ = frames[-1][self.state]
        if below:
            size = len(path)
            for at, record in records.items():
                if at[:size] == path:
                    yield at, record
        elif path in records:
            yield path, records[path]
        if path in calls:
            yield path, (None, calls[path], 0.0)
