"""Lower loops and comprehensions: what they go through, carry along and write."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from gendsl.lang.names import exits, loaded, read_elsewhere, stored
from gendsl.lang.trees import clone, walk
from gendsl.runtime.lowering.array_rows import as_entries
from gendsl.runtime.lowering.ir import FIRST, RAW, Copy, Loop, Node, Source
from gendsl.runtime.lowering.iterables import Over, may_fail_later, sources_of
from gendsl.runtime.lowering.liveness import slots_read, without_copies
from gendsl.runtime.lowering.lower_fills import FillLowering, Iteration
from gendsl.runtime.lowering.scope import OpaqueError
from gendsl.runtime.lowering.syntax import breaks, parts_of
from gendsl.runtime.lowering.versions import Version, joined_kind


def _counted_from(index: ast.expr) -> tuple[str, int] | None:
    """The variable and the number that an index such as `t`, `t + 1` or `t - 1` is the sum of."""
    match index:
        case ast.Name(id=name):
            return name, 0
        case ast.BinOp(ast.Name(id=name), ast.Add() | ast.Sub() as op, ast.Constant(int() as shift)):
            return name, shift if isinstance(op, ast.Add) else -shift
        case ast.BinOp(ast.Constant(int() as shift), ast.Add(), ast.Name(id=name)):
            return name, shift
    return None


def _start(made: ast.expr) -> ast.expr:
    """Where a range that counts up begins; of another one, -1."""
    match made:
        case ast.Call(args=[end], keywords=[]) if not isinstance(end, ast.Starred):
            return ast.Constant(0)
        case ast.Call(args=[start, end], keywords=[]) if not isinstance(end, ast.Starred):
            return start  # one that is starred doesn't count
    return ast.Constant(-1)


class LoopLowering(FillLowering):
    """Lowers loops; how statements and expressions are lowered is for a subclass to say."""

    def block(self, statements: Iterable[ast.stmt]) -> bool:
        """Lower statements in order; whether control can reach their end."""
        raise TypeError("defined by Lowerer")

    def fragment(self, node: ast.stmt) -> None:
        """Lower a deterministic statement."""
        raise TypeError("defined by Lowerer")

    def hoisted(self, expression: ast.expr) -> ast.expr:
        """An expression with its choices taken out."""
        raise TypeError("defined by Lowerer")

    # --- loops ------------------------------------------------------------------------------------

    def for_loop(self, node: ast.For) -> None:
        if node.orelse:
            raise OpaqueError("`else` of a loop", "use a flag in place of the loop's `else`", node)
        iterable = self.hoisted(node.iter)
        self.loop(node, sources_of(iterable, node.target, self.effects), node.body, node.target)

    def while_loop(self, node: ast.While) -> None:
        if node.orelse:
            raise OpaqueError("`else` of a loop", "use a flag in place of the loop's `else`", node)
        stop: list[ast.stmt] = [ast.copy_location(ast.Break(), node)]
        test: ast.stmt = ast.copy_location(ast.If(node.test, [ast.Pass()], stop), node)
        always = isinstance(node.test, ast.Constant) and bool(node.test.value)
        self.loop(node, Over([]), node.body if always else [test, *node.body], None)

    def loop(
        self,
        node: ast.AST,
        over: Over,
        statements: list[ast.stmt],
        target: ast.expr | None,
        element: tuple[str, ast.expr, ast.expr | None] | None = None,
        nest: ast.expr | None = None,
    ) -> Version | None:
        """Lower a loop, or with `element` (kind, value, key) a comprehension; its container, if it is one.

        Args:
            nest: of loops in loops that are one, what gives all that they go through.
        """
        sources = []
        statements = as_entries(self.definition, self.effects, statements)
        leaves = any(exits(s, True) or breaks(s) for s in statements)
        if leaves and (over.strict or any(may_fail_later(e, self.effects) for e, _, _ in over.sources)):
            reason = "it may end before it meets an error in what it goes through"
            raise OpaqueError(reason, "make a list of that first", node)
        for expression, counted, _ in over.sources:
            if (leaves or len(over.sources) > 1) and not counted and self.effects.may_not_end(expression):
                reason = "it goes through something that may have no end"
                raise OpaqueError(reason, "loop over `range(...)` or a list", node)
            if self.effects.changes_elements(expression):
                reason = "it goes through something whose elements change as it goes on"
                raise OpaqueError(reason, "make a list with a copy of each of them first", node)
            if nest is not None:
                continue
            simple = isinstance(expression, ast.Name) and expression.id in self.env
            code = self.code(expression, raw=True)
            load = code.loads[0] if simple and code.loads[0].mode == RAW else None
            distinct = counted or self.effects.is_range(expression)
            sources.append(Source(code, counted, -1, load, distinct))
        if nest is not None:
            code = self.code(nest)
            sources = [Source(code, False, -1) for _ in over.sources]
        names = [] if element else stored(*statements, *([target] if target is not None else []))
        names = [name for name in names if self.is_local(name)]
        iteration = self.enter(node, statements, names, element)
        for expression, _, _ in over.sources:
            self.note_parts(expression)
            for name in iteration.written & loaded(expression):
                if not self.goes_through_a_copy(expression):
                    reason = f"it goes through {name} while it changes it"
                    raise OpaqueError(reason, f"loop over list({name})", node)
        outer_env, outer_nodes, depth = dict(self.env), self.nodes, self.depth
        outside = self.env
        self.sizes.append(FIRST)
        self.nodes = []
        self.loops.append(iteration)
        try:
            self.env = dict(outside)
            carried_in = {}
            for written in iteration.stored:
                if written.within:
                    inner = Version(depth, written.inside, own=-1)
                    self.env[written.name] = outside[written.name].put(own=-1, own_key=-1, inner=inner)
                elif written.base is not None:
                    version = outside[written.name]
                    self.env[written.name] = replace(version, depth=depth, slot=written.inside, own=-1)
            for name in names:
                if name in iteration.written:
                    continue
                before = outside.get(name)
                carried_in[name] = self.new()
                unset = before is None or before.unset
                self.env[name] = Version(depth + 1, carried_in[name], *self.given(name, *statements), unset)
            targets = self.bind_targets(over.sources, sources, iteration)
            iteration.outs = {name: self.new() for name in carried_in}
            iteration.depth = depth + 1
            iteration.carried_in = carried_in
            if element is None:
                goes_on = self.block(statements)
            else:
                self.element(iteration, element)
                goes_on = True
            if goes_on:
                self.leave_iteration(node)
            body = self.nodes
            size = self.sizes[-1]
            inner_env = self.env
        finally:
            self.loops.pop()
            self.sizes.pop()
            self.env, self.nodes = outer_env, outer_nodes
        for name, inner in inner_env.items():
            outer = self.env.get(name)
            if outer is not None and (outer.depth, outer.slot) == (inner.depth, inner.slot) and inner.aliased:
                self.bind(name, replace(outer, aliased=True))
        return self.finish_loop(
            node, iteration, sources, over.strict, body, size, targets, statements, element
        )

    def bind_targets(
        self, over: list[tuple[ast.expr, bool, ast.expr]], sources: list[Source], iteration: Iteration
    ) -> dict[str, int]:
        """Give the loop variables their slots; the names that take one value after another, by slot."""
        targets: dict[str, int] = {}
        for position, ((expression, counted, target), source) in enumerate(zip(over, sources, strict=True)):
            source.target = self.new()
            version = Version(self.depth, source.target, *self.shared(expression))
            if isinstance(target, ast.Name):
                self.env[target.id] = version
                targets[target.id] = position
                if counted or self.effects.is_range(expression):
                    counts = self.counts_up(expression if counted else _start(expression))
                    self.env[target.id] = replace(version, kind="number", counts=source.distinct and counts)
                continue
            if any(not isinstance(n, (ast.Name, ast.Tuple, ast.List, ast.Starred)) for n in parts_of(target)):
                raise OpaqueError("a loop variable that is not a name", "loop over names", target)
            name = self.temporary()
            self.env[name] = version
            load = ast.copy_location(ast.Name(name, ast.Load()), target)
            iteration.unpacked = True
            unpacked = {n.id for n in walk(target) if isinstance(n, ast.Name)} - self.locals
            self.locals |= unpacked  # a comprehension's variables are those of the function for a while
            self.fragment(ast.copy_location(ast.Assign([clone(target)], load), target))
            self.locals -= unpacked
        for written, statement in iteration.statements:
            if written.kind != "index" or written.rows or written.optional or statement is None:
                continue
            subscript = statement.targets[0]  # type: ignore[attr-defined]
            index, shift = _counted_from(subscript.slice) or ("", 0)
            if index not in targets or index in stored(*iteration.body):
                continue  # what it is becomes known in the iteration
            written.index, written.shift = targets[index], shift
            if isinstance(subscript.slice, ast.Name):
                written.key = sources[targets[index]].target
        for written in iteration.stored:
            if written.kind == "index" and written.joined and written.key < 0:
                # each of the statements finds its key
                written.index, written.optional = -1, True
                if any(other is written for other in iteration.late):
                    written.kind = "nested"
        return targets

    def element(self, iteration: Iteration, element: tuple[str, ast.expr, ast.expr | None]) -> None:
        """The element of a comprehension."""
        _, value, key = element
        written = iteration.stored[0]
        if key is not None:
            written.key = self.single(self.hoisted(key))
        written.value = self.single(self.hoisted(value))

    def leave_iteration(self, node: ast.AST) -> None:
        """Copy what the iteration leaves in its variables to where the next one, or what follows, looks."""
        if not self.loops:
            return  # pragma: no cover - break outside a loop is no Python
        iteration = self.loops[-1]
        self.leave_written(iteration, node)
        for name, slot in iteration.outs.items():
            version = self.env.get(name)
            source = None if version is None else (version.depth, version.slot)
            self.nodes.append(Copy(node, source, slot))
            if version is not None:
                iteration.kinds.setdefault(name, []).append(version)

    def finish_loop(
        self,
        node: ast.AST,
        iteration: Iteration,
        sources: list[Source],
        strict: bool,
        body: list[Node],
        size: int,
        targets: dict[str, int],
        statements: list[ast.stmt],
        element: tuple[str, ast.expr, ast.expr | None] | None,
    ) -> Version | None:
        """Add the loop, without the variables that nothing carries, and bind what it leaves."""
        depth = self.depth
        read = slots_read(body, depth + 1)
        read |= {slot for written in iteration.stored for slot in (written.value, written.key)}
        needed = read_elsewhere(self.definition.node, node)
        again = loaded(node.iter) if self.loops and isinstance(node, ast.For) else set()
        carried, outs = [], []
        for name, slot in iteration.outs.items():
            before = self.env.get(name)
            first = None if before is None else (before.depth, before.slot)
            into = iteration.carried_in[name]
            is_carried = into in read
            if is_carried:
                carried.append((name, first, into, slot))
            if name in needed or name in again or (is_carried and self.loops):
                after = self.new()
                outs.append((after, slot, first))
                versions = iteration.kinds.get(name, [])
                unset = before is None or before.unset or any(v.unset for v in versions) or not versions
                kind, aliased = joined_kind(v for v in (before, *versions) if v is not None)
                self.bind(name, Version(depth, after, kind, aliased, unset))
            else:
                self.env.pop(name, None)
        keep = {slot for _, _, _, slot in carried} | {slot for _, slot, _ in outs}
        body = without_copies(body, set(iteration.outs.values()) - keep)
        container = None
        for written in iteration.stored:
            if written.within:
                self.bind(written.name, self.env[written.name].put(own=written.after, own_key=-1))
            elif written.base is None:
                written.inside, written.after = self.new(), self.new()
                container = Version(depth, written.after, "list")
            else:
                before = self.env[written.name]
                self.bind(written.name, Version(depth, written.after, before.kind))
        leaves = any(exits(s, True) or breaks(s) for s in statements) or not sources
        self.nodes.append(
            Loop(
                node, sources, body, size, depth + 1, carried, outs, iteration.stored, targets, self.new(),
                leaves, strict,
            )
        )  # fmt: skip
        return container
