"""What a trace must be like for a move that was made of another: which choices it has, and how it keeps them.

Of a trace that is executed whole these are the addresses. Of one in parts the choices aren't gone through:
each part is asked for what says which choices it has made (the way that a branch went, how often a loop ran).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.distributions import Distribution
from gendsl.runtime.blocks import Block, CopyBlock, FragmentBlock, ReturnBlock
from gendsl.runtime.branches import BranchBlock
from gendsl.runtime.change import is_same
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.groups import GroupBlock
from gendsl.runtime.loops import LoopBlock
from gendsl.runtime.lowering.ir import Part
from gendsl.runtime.reads import Frame
from gendsl.runtime.regions import Called
from gendsl.runtime.sites import SiteBlock
from gendsl.runtime.trace import ReferenceTrace
from gendsl.transforms.recorded_programs import Plate
from gendsl.transforms.tape import Unrecordable

PLAIN = frozenset((int, float, bool, str, type(None)))
"""Types of arguments that are compared, as short arrays are; of others nothing may depend but what is made of
them anew."""

_MOST_ITERATIONS = 64
_QUIET = FragmentBlock, CopyBlock, ReturnBlock

_MOST_ENTRIES = 64

Asked = Callable[[Frame], bool]
"""Whether a part of a frame is as it was."""


def is_plain_and_same(value: Any, other: Any) -> bool:
    """Whether two arguments are of one type in `PLAIN`, and the same, signs of zeros included."""
    if type(value) is not type(other) or type(value) not in PLAIN or value != other:
        return False
    return value != 0 or repr(value) == repr(other)


def is_short(value: Any) -> bool:
    """Whether an argument is an array that is short enough to be recorded entry by entry."""
    return type(value) is np.ndarray and value.size <= _MOST_ENTRIES and value.dtype.kind in "bif"


class Form:
    """What a trace must be.

    Args:
        plates: the loops over data whose densities are one term.
        by_object: whether arguments must be the same objects, as the program asks which they are.

    Raises:
        Unrecordable: that isn't quickly told.
    """

    def __init__(self, trace: Any, plates: list[Plate], *, by_object: bool) -> None:
        self.compiled = trace.gen_fn.compiled
        if trace.gen_fn.bound:
            raise Unrecordable("a method's object may change")
        self.args = [(i, a) for i, a in enumerate(trace.args) if type(a) in PLAIN]
        self.count = len(trace.args)
        self.same = [(i, a) for i, a in enumerate(trace.args) if is_short(a)]
        self.objects = [(i, a) for i, a in enumerate(trace.args) if by_object and type(a) not in PLAIN]
        self.kind = type(trace)
        self.linked: Any = None
        if self.kind is ReferenceTrace:
            self.paths = frozenset(trace.records)
            self.calls = frozenset(trace.calls)
            return
        if self.kind is not CompiledTrace:
            raise Unrecordable("a trace of another kind")
        called = trace._called
        self.linked = called.linked
        self.asked = _asked_of(self.linked.body, called.frame, {plate.block: plate for plate in plates})

    def holds(self, trace: Any) -> bool:
        """Whether a trace is so."""
        if type(trace) is not self.kind:
            return False
        program = trace.gen_fn
        if program.compiled is not self.compiled or program.bound:
            return False
        if self.linked is not None and self in trace.forms:
            return True
        args = trace.args
        if len(args) != self.count:
            return False
        for i, value in self.args:
            if not is_plain_and_same(value, args[i]):
                return False
        for i, value in self.same:
            if not is_same(value, args[i]):
                return False
        for i, value in self.objects:
            if args[i] is not value:
                return False
        if self.linked is None:
            same: bool = trace.records.keys() == self.paths and trace.calls.keys() == self.calls
            return same
        called = trace._called
        if called.linked is not self.linked:
            return False
        frame = called.frame
        for asked in self.asked:
            if not asked(frame):
                return False
        trace.forms = {*trace.forms, self}
        return True


def _asked_of(body: Any, frame: Frame, plates: dict[Any, Plate]) -> list[Asked]:
    """What to ask of a frame of a sequence of blocks."""
    if body.leaves_early:
        raise Unrecordable("control may leave early")
    return [asked for block in body.blocks for asked in _asked(block, frame, plates)]


def _asked(block: Block, frame: Frame, plates: dict[Any, Plate]) -> list[Asked]:
    if block in plates:
        return [plates[block].holds]
    match block:
        case SiteBlock():
            return _asked_of_site(block, frame)
        case GroupBlock():
            return [_made(block.state, frozenset(frame[block.state][0]))]
        case BranchBlock():
            arm = frame[block.state][0]
            return [_went(block.state, arm), *_asked_of(block.arms[arm], frame, plates)]
        case LoopBlock() if type(block) in (LoopBlock, ColumnLoopBlock) and not block.exits:
            return [_looped(block, frame)]
    if not isinstance(block, _QUIET):
        raise Unrecordable("a part that may make any choices")
    return []


def _asked_of_site(block: SiteBlock, frame: Frame) -> list[Asked]:
    if block.constant is None and not block.splice:
        raise Unrecordable("an address may change")
    state, made = block.state, frame[block.state][0]
    if type(made) is not Called:
        if not isinstance(made, Distribution):
            raise Unrecordable("a choice of another kind")
        return []
    linked = made.linked
    if linked is None:
        raise Unrecordable("a call of a program that is executed whole")
    inner = _asked_of(linked.body, made.frame, {})

    def called(frame: Frame) -> bool:
        now = frame[state][0]
        return type(now) is Called and now.linked is linked and all(asked(now.frame) for asked in inner)

    return [called]


def _made(state: int, paths: frozenset[Any]) -> Asked:
    def asked(frame: Frame) -> bool:
        records, calls, _ = frame[state]
        return not calls and records.keys() == paths

    return asked


def _went(state: int, arm: int) -> Asked:
    def asked(frame: Frame) -> bool:
        went: bool = frame[state][0] == arm
        return went

    return asked


def _looped(block: LoopBlock, frame: Frame) -> Asked:
    """A loop whose iterations all make the same choices, at addresses by their number."""
    state, frames = block.state, frame[block.state][0].frames
    size = len(frames)
    if size > _MOST_ITERATIONS:
        raise Unrecordable("a loop is long")
    given = frame[state][0].values
    numbers = [i for i, s in enumerate(block.sources) if s.counted or type(given[i]) is range]
    targets = {(block.depth, block.sources[i].target) for i in numbers}
    for inner in block.body.blocks:
        if isinstance(inner, SiteBlock):
            if inner.splice or not inner.parts or not all(_is_told(part, targets) for part in inner.parts):
                raise Unrecordable("an address may change")
            if not all(isinstance(one[inner.state][0], Distribution) for one in frames):
                raise Unrecordable("iterations call other programs")
        elif not isinstance(inner, _QUIET):
            raise Unrecordable("iterations may make any choices")
    starts = [given[i] for i in numbers]

    def asked(frame: Frame) -> bool:
        iterations = frame[state][0]
        values = iterations.values
        return len(iterations.frames) == size and [values[i] for i in numbers] == starts

    return asked


def _is_told(part: Part, targets: set[tuple[int, int]]) -> bool:
    """Whether a component of an address is a constant, or the number of the iteration."""
    constant, slot = part
    return constant is not None if slot is None else slot in targets
