"""From a lowered body to the blocks that run it."""

from __future__ import annotations

import ast
import copy
import dataclasses
import functools
import threading
from collections.abc import Callable
from typing import Any

from gendsl.address import Path
from gendsl.interface import CallRequest, GenerativeFunction
from gendsl.runtime import column_loops
from gendsl.runtime.at_once import statements_at_once
from gendsl.runtime.blocks import (
    NOTHING,
    Block,
    CopyBlock,
    ExitBlock,
    FragmentBlock,
    ReturnBlock,
    Sequence,
    Touched,
)
from gendsl.runtime.branches import BranchBlock
from gendsl.runtime.change import UNSET, Change, difference
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.column_steps import Lookup, Step
from gendsl.runtime.filled import FilledBlock
from gendsl.runtime.groups import Group, GroupBlock
from gendsl.runtime.guards import Guards
from gendsl.runtime.local_sites import sites_of
from gendsl.runtime.loop_parts import Source, all_states
from gendsl.runtime.loops import LoopBlock
from gendsl.runtime.lowering import ir, vectors
from gendsl.runtime.lowering.build import Compiled
from gendsl.runtime.lowering.disjoint import is_disjoint
from gendsl.runtime.lowering.emit import emit
from gendsl.runtime.lowering.helpers import Helper
from gendsl.runtime.lowering.ir import RETVAL
from gendsl.runtime.lowering.liveness import all_loads, levels
from gendsl.runtime.lowering.tables import Table
from gendsl.runtime.nest_loops import NestBlock
from gendsl.runtime.reads import Frame, Read, Runner
from gendsl.runtime.regions import Called, RegionBlock
from gendsl.runtime.sites import SiteBlock
from gendsl.runtime.verify import Schedule
from gendsl.runtime.watched import is_forced
from gendsl.runtime.writers import put_before
from gendsl.runtime.written import copied, copied_rows, whole
from gendsl.runtime.written_keys import CELL, cells

_MAKING = threading.Lock()  # a body makes the code of one group at a time, though chains run in threads


class _Requests:
    """What code finds under `__gendsl__` where it makes no choices itself."""

    @staticmethod
    def callee(function: Any) -> Any:
        """What to call where the user wrote `~function(...)`."""
        if type(function) is type:
            return function
        if isinstance(function, GenerativeFunction):
            return function.request
        inner = getattr(function, "__func__", None)
        if isinstance(inner, GenerativeFunction):  # what a classmethod makes of one, from Python 3.13 on
            return inner.__get__(function.__self__).request  # type: ignore[attr-defined]
        return function


class _Tools(Guards):
    """The helpers that generated code calls."""

    __slots__ = ("_helpers", "_tables")

    UNSET = UNSET
    vectors = vectors
    whole = staticmethod(whole)
    own = staticmethod(copied)
    own_rows = staticmethod(copied_rows)
    put_before = staticmethod(put_before)
    CELL = CELL
    cells = staticmethod(cells)

    locals = staticmethod(locals)

    def __init__(self, compiled: Compiled) -> None:
        super().__init__(compiled)
        self._tables: dict[tuple[int, int], Table] = {}
        self._helpers = compiled.program.helpers

    def table(self, container: Any, depth: int, slot: int) -> Any:
        """What array code looks up in: a list of a frame's slot, which never changes, is made a column once.

        The last one of each slot is kept, since all versions of a trace mostly have the same.
        """
        kind = type(container)
        if kind is not list and kind is not tuple:
            return container
        known = self._tables.get((depth, slot))
        if known is None or known.values is not container:
            known = self._tables[depth, slot] = Table(container)
        return known

    def helper(self, number: int, function: Any, *omitted: str) -> tuple[Any, ...]:
        """What a call of a function that array code stands for finds; see `compiler.helpers`."""
        helper: Helper = self._helpers[number]
        return helper.values(function, omitted)

    @staticmethod
    def values(variables: dict[str, Any], *names: str) -> tuple[Any, ...]:
        """The values of some variables, UNSET where they have none."""
        return tuple(variables.get(name, UNSET) for name in names)


class Linked:
    """A program ready to run: its blocks, and the frame they start from.

    Args:
        columns_from: the iterations from which on loops are kept as columns.

    Attributes:
        groups: which statements are executed as a whole, in this form of the body.
        units: its blocks by their statements: first, last, and whether these are a group.
        may_group: whether there are other forms, with groups.
        group_blocks: the groups' blocks.
        lone_loops: the loops that might be in a group and aren't, and how many choices each of their
            iterations makes.
        may_grow: whether choices that stand alone, side by side, might be a group.
        data_loops: the states of the loops over data that are in no group.
        plates: the first components of the addresses of choices in loops in columns of which no choice
            decides how many iterations there are.
        alone: the sites in loops whose choices are edited by themselves; see `local_sites`.
        watch: when a trace in this form is compared with the reference runtime.
    """

    def __init__(self, compiled: Compiled, program: ir.Program, *, columns_from: int | None = None) -> None:
        self.compiled = compiled
        self.program = program
        self.columns_from = columns_from
        self._functions, self.binder = emit(compiled.origin, program, _Tools(compiled), _Requests)
        self.parameters = len(program.parameters)
        arguments = compiled.origin.node.args
        self.positional = len(arguments.posonlyargs) + len(arguments.args)
        self.disjoint = is_disjoint(program)
        self.plates = _heads_of_data(program.body) if self.disjoint else frozenset()
        self._forms: dict[tuple[Group, ...], Linked] = {(): self}
        self._grouped: dict[Group, tuple[ir.Group, Runner]] = {}
        self._spread: dict[Group, Callable[..., Any] | None] = {}
        self._arrange(())
        self.tail: Frame = [UNSET] * (program.size - ir.FIRST - self.parameters)
        for slot in all_states(self.body):
            self.tail[slot - ir.FIRST - self.parameters] = NOTHING

    # --- linking ----------------------------------------------------------------------------------

    def _arrange(self, groups: tuple[Group, ...]) -> None:
        """Make the blocks of the form of the body that has some groups."""
        self.groups = groups
        self.watch = Schedule()
        self.units: dict[tuple[int, int, bool], list[Any]] = {}
        ends = dict(groups)
        statements = self.program.grouping.statements
        i = 0
        while i < len(statements):
            last = ends.get(i)
            if last is None:
                last = i + 1
                self.units[i, last, False] = [self._block(node, 0) for node in statements[i].nodes]
            else:
                self.units[i, last, True] = [self.group(i, last)]
            i = last
        self.body = Sequence([block for blocks in self.units.values() for block in blocks], 0)
        self.alone = sites_of(self.body) if self.disjoint else {}
        self.may_group = self.disjoint and not self.body.leaves_early and not is_forced()
        self.group_blocks = [blocks[0] for unit, blocks in self.units.items() if unit[2]]
        for group in self.group_blocks:
            group.link(self.body.blocks)
        ungrouped = [None if grouped else statements[i].member for i, _, grouped in self.units]
        self.lone_loops = [loop for member in ungrouped if member is not None for loop in member.loops]
        loops = (node for (i, _, grouped) in self.units for node in statements[i].nodes if not grouped)
        self.data_loops = [node.state for node in loops if isinstance(node, ir.Loop) and node.is_data]
        self.grouped_plates = self._grouped_plates()
        self.may_grow, choices = False, 0
        for member in ungrouped:
            choices = 0 if member is None or member.loops else choices + member.choices
            self.may_grow = self.may_grow or choices > 1

    def has_columns(self, frame: Frame) -> bool:
        """Whether a loop over data goes on for as long as one that is kept as columns, by what it has done.

        It isn't known of one in a group.
        """
        return bool(self.plates) and any(
            len(frame[state][0].frames) >= column_loops.FIXED for state in self.data_loops
        )

    def _grouped_plates(self) -> list[tuple[int, frozenset[Any], int]]:
        """The loops over data in groups: the group's state, what the addresses begin with, and how many
        choices an iteration makes."""
        return [
            (blocks[0].state, member.heads, choices)
            for (first, last, grouped), blocks in self.units.items() if grouped
            for member in (statement.member for statement in self.program.grouping.statements[first:last])
            for loop, choices in member.loops if loop.is_data and choices
        ]  # fmt: skip

    def grouped(self, groups: tuple[Group, ...]) -> Linked:
        """The same body with some groups of statements executed as a whole."""
        form = self._forms.get(groups)
        if form is None:
            form = copy.copy(self)
            form._arrange(groups)
            self._forms[groups] = form
        return form

    def group(self, first: int, last: int) -> GroupBlock:
        """A block of the statements from `first` to before `last`."""
        with _MAKING:
            made = self._grouped.get((first, last))
            if made is None:
                node: ir.Group = self.program.grouping.group(first, last)
                program = ir.Program([], [], 0, None, node.codes, None)
                functions, _ = emit(self.compiled.origin, program, _Tools(self.compiled), _Requests)
                runner = Runner(functions[node.code.index], self._reads(node.code, set(), functions))
                made = self._grouped[first, last] = node, runner
        node, runner = made
        again = functools.partial(self._again, first, last, node.code)
        return GroupBlock(node.node, runner, node.defs, node.state, self._locate, node.heads, again)

    def _again(self, first: int, last: int, code: ir.Code) -> Callable[..., Any] | None:
        """The code of a group that makes its choices again by statements; None if there is none."""
        with _MAKING:
            if (first, last) not in self._spread:
                origin = self.compiled.origin
                nodes = [statement.node for statement in self.program.grouping.statements[first:last]]
                made = None
                if self.compiled.is_spread and not code.asks:
                    statements, known = statements_at_once(origin, nodes)
                    spread = dataclasses.replace(code, statements=statements)
                    program = ir.Program([], [], 0, None, [spread], None)
                    ((made,), _) = emit(origin, program, _Tools(self.compiled), _Requests, known)
                self._spread[first, last] = made
        return self._spread[first, last]

    def _sequence(self, nodes: list[ir.Node], depth: int) -> Sequence:
        return Sequence([self._block(node, depth) for node in nodes], depth)

    def _runner(self, code: ir.Code) -> Runner:
        return Runner(self._functions[code.index], self._reads(code, set(), self._functions))

    def _reads(self, code: ir.Code, seen: set[Any], functions: list[Any]) -> list[Read]:
        """What code reads; what the keys of its lookups read is among it, once."""
        reads = []
        for load in code.loads:
            looked_up = tuple(ast.dump(key.result) for key in load.keys)
            inner_slots = tuple(inner.slot for inner in levels(load)[1:])
            same = load.depth, load.slot, load.mode, load.own, looked_up, inner_slots
            if load.depth < 0 or same in seen:
                continue
            seen.add(same)
            keys = [(functions[key.index], key.several) for key in load.keys]
            of_keys = [inner for key in load.keys for inner in all_loads(key)]
            key_slots = frozenset((inner.depth, inner.slot) for inner in of_keys)
            written = [(i.depth + 1, own) for i in of_keys if i.own is not None for own in (i.own, i.own_key)]
            key_slots = key_slots.union((depth, own) for depth, own in written if own >= 0)
            around = None
            for level in levels(load):
                read = Read(level.depth, level.slot, load.mode, keys, level.own, key_slots, around)
                reads.append(read)
                around = around or read
                own = (level.own, level.own_key) if level.own is not None else ()
                reads += [Read(level.depth + 1, slot, ir.RAW, [], None) for slot in own if slot >= 0]
            for key in load.keys:
                reads += self._reads(key, seen, functions)
        return reads

    def _locate(self, node: ast.AST) -> Any:
        return self.compiled.origin.location(node)

    def _block(self, node: ir.Node, depth: int) -> Block:
        match node:
            case ir.Filled():
                runner, loop = self._runner(node.code), self._loop(node.loop)
                return FilledBlock(node.node, runner, node.defs, loop, node.state)
            case ir.Fragment():
                return FragmentBlock(node.node, self._runner(node.code), node.defs)
            case ir.Copy():
                return CopyBlock(node.node, node.source, node.slot)
            case ir.Return():
                return ReturnBlock(node.node, self._runner(node.code), node.lazy and depth == 0)
            case ir.Exit():
                return ExitBlock(node.node, node.status)
            case ir.Site():
                address = None if node.address is None else self._runner(node.address)
                arguments = [None if a is None else (a.depth, a.slot) for a in node.arguments]
                thing = self._runner(node.thing)
                return SiteBlock(
                    node.node, address, node.parts, thing, arguments, node.sugar, node.splice, node.value,
                    node.state, self._locate,
                )  # fmt: skip
            case ir.Branch():
                arms = self._sequence(node.arms[0], depth), self._sequence(node.arms[1], depth)
                return BranchBlock(node.node, self._runner(node.test), arms, node.defs, node.state)
            case ir.Region():
                return RegionBlock(node.node, self._runner(node.code), node.defs, node.state, self._locate)
            case ir.Loop():
                return self._loop(node)
        raise TypeError(f"no block for {type(node).__name__}")

    def _loop(self, node: ir.Loop) -> LoopBlock:
        sources = [
            Source(
                self._runner(source.code),
                source.counted,
                source.target,
                None if source.load is None else (source.load.depth, source.load.slot),
                source.rows,
            )
            for source in node.sources
        ]
        body = self._sequence(node.body, node.depth)
        addresses = [part for block in node.body for part in _addresses(block)]
        columns = node.columns
        if columns is not None:
            steps = [self._step(step, body) for step in columns.steps]
            for number, step in enumerate(step for step in steps if step.site is not None):
                step.number = number
            lookups = [Lookup(self._runner(g.code), g.container, g.of) for g in columns.gathers]
            kind = functools.partial(NestBlock, node.levels) if node.levels else ColumnLoopBlock
            return kind(
                node.node, sources, body, node.size, node.carried, columns.leaves, node.outs, node.stored,
                node.state, node.strict, addresses, steps, lookups, columns.unlooked,
                self._columns_from(node),
            )  # fmt: skip
        return LoopBlock(
            node.node, sources, body, node.size, node.carried, node.outs, node.stored, node.state, node.exits,
            node.strict, addresses,
        )  # fmt: skip

    def _columns_from(self, node: ir.Loop) -> int:
        """The iterations from which on a loop is kept as columns."""
        if self.columns_from is not None:
            return self.columns_from
        return min(column_loops.FIXED, column_loops.LEAST) if node.fixed else column_loops.LEAST

    def _step(self, step: ir.ColumnSite | ir.ColumnValue, body: Sequence) -> Step:
        made = Step(self._runner(step.code), step.value if isinstance(step, ir.ColumnSite) else step.slot)
        if isinstance(step, ir.ColumnSite):
            made.site = next(b for b in body.blocks if isinstance(b, SiteBlock) and b.state == step.state)
            made.computes = step.computes
            made.family, made.position, made.index = step.family, step.position, step.index
            made.dtype, made.rows = step.dtype, step.rows
        return made

    # --- running ----------------------------------------------------------------------------------

    def frame(self, request: CallRequest) -> Frame:
        """The frame of a call before its body has run."""
        function: Any = request.function
        try:
            head = self.binder(*function.bound, *request.args, **request.kwargs)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            raise function.wrong_arguments(request.args, request.kwargs) from None
        return head + self.tail

    def run_call(self, execution: Any, request: CallRequest) -> tuple[Called, float]:
        """Run the body of a call; what was called, and its score."""
        frame = self.frame(request)
        if not self.disjoint:
            execution.crowd()
        self.body.run(execution, (frame,))
        frame[0] = score = self.body.score(frame)
        return Called(request, self, frame, {}, {}, frame[RETVAL]), score

    def update_call(
        self,
        execution: Any,
        called: Called,
        request: CallRequest | None,
        known: list[tuple[Change] | None],
        touched: Touched,
    ) -> tuple[Called, float, Change] | None:
        """Update the body of a call: what was called, its score and the change of its value; None if none.

        Args:
            request: the call as it is made now, or None if it is the same.
            known: for each positional argument the change that is known of it, or None.
        """
        if not self.disjoint:
            execution.crowd()
        old = called.frame
        frame = old.copy()
        changed: dict[int, Any] = {}
        if request is not None:
            function: Any = request.function
            shift = len(function.bound)
            head = self.frame(request)
            for slot in range(ir.FIRST, ir.FIRST + self.parameters):
                change: Change = None
                position = slot - ir.FIRST - shift
                single = slot - ir.FIRST < self.positional  # not one of `*rest`, or after them
                handed = known[position] if single and 0 <= position < len(known) else None
                if handed is not None:
                    change = handed[0]
                elif head[slot] is not frame[slot]:
                    change = difference(frame[slot], head[slot])
                if change is not None:
                    frame[slot] = head[slot]
                    changed[slot] = change
        else:
            request = called.request
        body = self.body
        changes = (changed,)
        hit = 0 if touched is None else body.routed(touched, len(execution.prefix))
        todo = body.affected(changes) | hit if changed else hit
        if not todo:
            if request is called.request:
                return None
            return Called(request, self, frame, {}, {}, frame[RETVAL]), old[0], None
        body.update(execution, (old,), (frame,), changes, touched, todo, hit)
        frame[0] = score = body.score(frame)
        return Called(request, self, frame, {}, {}, frame[RETVAL]), score, changed.get(RETVAL)

    # --- looking ----------------------------------------------------------------------------------

    def find(self, frame: Frame, path: Path) -> Any:
        """The record at a path, or a call's as (None, what it returned, 0.0); None if there is neither."""
        return next((record for _, record in self.body.find((frame,), path, 0, False)), None)


def _heads_of_data(body: list[ir.Node]) -> frozenset[Any]:
    """The first components of the addresses of choices in loops over data."""
    loops = (node for node in body if isinstance(node, ir.Loop) and node.is_data)
    parts = (site.parts for loop in loops for site in loop.body if isinstance(site, ir.Site))
    return frozenset(some[0][0] for some in parts if some and some[0][1] is None)


def _addresses(node: ir.Node) -> list[list[ir.Part] | None]:
    """The addresses of the sites in a block, as far as they are known; None for one that is not."""
    match node:
        case ir.Site():
            return [] if node.address is None and not node.splice else [None if node.splice else node.parts]
        case ir.Branch():
            return [a for arm in node.arms for inner in arm for a in _addresses(inner)]
        case ir.Loop():
            return [a for inner in node.body for a in _addresses(inner)]
        case ir.Region():
            return [None]
    return []
