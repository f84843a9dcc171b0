"""Lower loops and comprehensions: what they go through, carry along and write."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from gendsl.compiler.ir import FIRST, RAW, Copy, Fragment, Loop, Node, Source, Stored
from gendsl.compiler.iterables import Over, may_fail_later, sources_of
from gendsl.compiler.liveness import slots_read, without_copies
from gendsl.compiler.names import exits, loaded, read_elsewhere, stored
from gendsl.compiler.scope import REMAKE, OpaqueError, Scope, Version, joined_kind
from gendsl.compiler.syntax import breaks, is_range, parts_of
from gendsl.compiler.trees import Transformer, clone, walk

_Tree = TypeVar("_Tree", bound=ast.AST)


def _counted(index: ast.expr) -> tuple[str, int] | None:
    """The variable and the number that an index such as `t`, `t + 1` or `t - 1` is the sum of."""
    match index:
        case ast.Name(id=name):
            return name, 0
        case ast.BinOp(ast.Name(id=name), ast.Add() | ast.Sub() as op, ast.Constant(int() as shift)):
            return name, shift if isinstance(op, ast.Add) else -shift
        case ast.BinOp(ast.Constant(int() as shift), ast.Add(), ast.Name(id=name)):
            return name, shift
    return None


class Iteration:
    """What is known of a loop while its body is lowered."""

    def __init__(self) -> None:
        self.stored: list[Stored] = []
        self.statements: list[tuple[Stored, ast.stmt | None]] = []
        self.written: set[str] = set()
        self.outs: dict[str, int] = {}
        self.carried_in: dict[str, int] = {}
        self.kinds: dict[str, list[Version]] = {}
        self.done: set[int] = set()
        self.depth = 0
        self.unpacked = False
        self.body: list[ast.stmt] = []

    def add(self, written: Stored, statement: ast.stmt | None) -> None:
        self.stored.append(written)
        self.statements.append((written, statement))
        if written.name:
            self.written.add(written.name)

    def writes(self, node: ast.stmt) -> bool:
        return any(statement is node for _, statement in self.statements)

    def written_by(self, node: ast.stmt) -> Stored:
        return next(written for written, statement in self.statements if statement is node)

    def missing(self) -> bool:
        """Whether an iteration may end here without having written every container."""
        return any(id(written) not in self.done for written in self.stored)


def _lookup(node: ast.AST) -> tuple[str, str] | None:
    """The names in `name[index]`, where that is what an expression reads."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=index), ctx=ast.Load()):
            return name, index
    return None


class _Entries(Transformer):
    """Puts names in place of lookups, except where a scope inside may mean something else by them."""

    def __init__(self, names: dict[tuple[str, str], tuple[str, bool]]) -> None:
        self.names = names

    def _scope(self, node: ast.AST) -> ast.AST:
        return node

    visit_Lambda = visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _scope

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        for part, as_index in ((node, False), (node.slice, True)):
            lookup = _lookup(part)
            name, only_as_index = self.names.get(lookup, ("", False)) if lookup is not None else ("", False)
            if name and (as_index or not only_as_index):
                entry = ast.copy_location(ast.Name(name, ast.Load()), part)
                entry.stands_for = ast.unparse(part)  # type: ignore[attr-defined]
                if not as_index:
                    return entry
                node.slice = entry
        return self.generic_visit(node)


class LoopLowering(Scope):
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
    ) -> Version | None:
        """Lower a loop, or with `element` (kind, value, key) a comprehension; its container, if it is one."""
        sources = []
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
            simple = isinstance(expression, ast.Name) and expression.id in self.env
            code = self.code(expression, raw=True)
            load = code.loads[0] if simple and code.loads[0].mode == RAW else None
            ranged = isinstance(expression, ast.Call) and self.effects.is_builtin(expression.func, "range")
            sources.append(Source(code, counted, -1, load, counted or ranged))
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
                if written.base is not None:
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

    def enter(
        self,
        node: ast.AST,
        statements: list[ast.stmt],
        names: list[str],
        element: tuple[str, ast.expr, ast.expr | None] | None,
    ) -> Iteration:
        """What the iterations of a loop write, or the error why the loop can't be taken apart."""
        iteration = Iteration()
        iteration.body = statements
        if element is not None:
            kind = "append" if element[0] == "list" else "key"
            made = Stored("", kind, None, -1, -1, -1, -1, new=list if kind == "append" else dict)
            iteration.add(made, None)
            return iteration
        changed: dict[str, ast.AST] = {}
        for statement in statements:
            for name, at in self.effects.changed(statement).items():
                changed.setdefault(name, at)
        for name, at in changed.items():
            version = self.env.get(name)
            if version is None or self.assigned_first(name, statements):
                continue
            found = [s for s in statements if name in self.effects.changed(s)]
            write = self.write_of(name, found[0]) if len(found) == 1 else None
            alone = version.kind in ("list", "array") and not version.aliased
            if not alone or version.own is not None or name in names:
                raise OpaqueError(f"it changes {name} in place, which may be shared", REMAKE, at)
            if write is None:
                raise OpaqueError(f"it changes {name} in a way that depends on the order", REMAKE, at)
            always, parts = self.effects.aliased(ast.Module(statements, []))
            if version.kind == "array" and self.effects.has_views(name):
                always |= parts
            if name in always or any(name in self.effects.exposed(s) for s in statements):
                raise OpaqueError(f"it passes {name} on while it still changes it", REMAKE, at)
            if version.depth != self.depth:
                raise OpaqueError(f"it writes {name} from two loops deep", "build one row in each", at)
            written = Stored(name, write, (version.depth, version.slot), -1, -1, self.new(), self.new())
            iteration.add(written, found[0])
        return iteration

    def goes_through_a_copy(self, expression: ast.expr) -> bool:
        """Whether what a loop goes through stays as it is, whatever happens to what it was made from."""
        copies = ("range", "list", "tuple", "sorted", "dict", "set")
        return isinstance(expression, ast.Call) and any(
            self.effects.is_builtin(expression.func, name) for name in copies
        )

    def assigned_first(self, name: str, statements: list[ast.stmt]) -> bool:
        """Whether each iteration makes the value of a name anew before anything else uses it."""
        for statement in statements:
            if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                plain = any(isinstance(t, ast.Name) and t.id == name for t in targets)
                if plain and name not in loaded(statement):
                    return True
            if name in loaded(statement) or name in stored(statement):
                return False
        return False

    def write_of(self, name: str, node: ast.stmt) -> str | None:
        """How a statement writes one entry of a container: "append", "index" or None if it doesn't."""
        match node:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=found), attr="append"), args=[_], keywords=[]
                )
            ) if found == name:
                version = self.env[name]
                return "append" if version.kind == "list" else None
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=found), slice=index)]) if found == name:
                return None if _counted(index) is None else "index"
        return None

    def bind_targets(
        self, over: list[tuple[ast.expr, bool, ast.expr]], sources: list[Source], iteration: Iteration
    ) -> dict[str, int]:
        """Give the loop variables their slots; the names that take one value after another, by slot."""
        targets: dict[str, int] = {}
        for position, ((expression, _, target), source) in enumerate(zip(over, sources, strict=True)):
            source.target = self.new()
            version = Version(self.depth, source.target, *self.shared(expression))
            if isinstance(target, ast.Name):
                self.env[target.id] = version
                targets[target.id] = position
                if source.counted or is_range(source.code.result):
                    self.env[target.id] = replace(version, kind="number")
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
            if written.kind != "index" or statement is None:
                continue
            subscript = statement.targets[0]  # type: ignore[attr-defined]
            index, written.shift = _counted(subscript.slice) or ("", 0)
            if index not in targets or index in stored(*iteration.body):
                raise OpaqueError(
                    f"{written.name} is written at an index that is not the loop's own", REMAKE, subscript
                )
            written.index = targets[index]
            if isinstance(subscript.slice, ast.Name):
                written.key = sources[targets[index]].target
        return targets

    def element(self, iteration: Iteration, element: tuple[str, ast.expr, ast.expr | None]) -> None:
        """The element of a comprehension."""
        _, value, key = element
        written = iteration.stored[0]
        if key is not None:
            written.key = self.single(self.hoisted(key))
        written.value = self.single(self.hoisted(value))
        iteration.done.add(id(written))

    def single(self, expression: ast.expr) -> int:
        """The slot of the value of an expression."""
        if isinstance(expression, ast.Name):
            version = self.env.get(expression.id)
            here = version is not None and version.depth == self.depth and version.own is None
            if here and version is not None and not version.unset:
                return version.slot
        code = self.code(ast.copy_location(ast.Tuple([expression], ast.Load()), expression))
        slot = self.new()
        self.nodes.append(Fragment(expression, code, [slot]))
        self.note_aliases(expression)
        return slot

    def store(self, iteration: Iteration, node: ast.stmt, value: ast.expr) -> None:
        """A statement that writes this iteration's entry of a container."""
        written = iteration.written_by(node)
        if isinstance(value, ast.Name):
            always = {value.id}
            for name in always:
                version = self.env.get(name)
                if version is not None:
                    self.bind(name, replace(version, aliased=True))
        else:
            self.note_aliases(value)
        kind = self.env[value.id].kind if isinstance(value, ast.Name) and value.id in self.env else "other"
        written.value = self.single(value)
        iteration.done.add(id(written))
        version = self.env[written.name]
        self.bind(written.name, replace(version, own=written.value))
        whole = written.base in self.whole and (self.depth, written.value) in self.whole
        if written.kind == "index" and written.key < 0:
            assert isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)
            written.key = self.single(node.targets[0].slice)
        elif written.kind == "index" and (version.kind == "list" or whole):
            # what a list or a dict has at the loop's own index is what was just put there; an array has it
            # as a number of its own type, which makes no difference to an index
            assert isinstance(node, (ast.Assign, ast.AnnAssign))
            entry = self.temporary()
            kind = "number" if kind == "number" else "other"
            self.bind(entry, Version(self.depth, written.value, kind, aliased=kind != "number"))
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            at = _lookup(ast.Subscript(target.value, target.slice, ast.Load()))  # type: ignore[attr-defined]
            assert at is not None
            self.entries[at] = entry, version.kind != "list"

    def with_entries(self, node: ast.stmt) -> ast.stmt:
        """A simple statement with the entries that this iteration has written in place of their lookups."""
        changed = self.own_entries(node)
        if changed is not node:
            for iteration in self.loops:
                iteration.statements = [(w, changed if s is node else s) for w, s in iteration.statements]
        return changed

    def own_entries(self, node: _Tree) -> _Tree:
        """The same for an expression, too; the node itself where there are none."""
        known = {key: entry for key, entry in self.entries.items() if entry[0] in self.env}
        if not any(_lookup(part) in known for part in walk(node)):
            return node
        return _Entries(known).visit(clone(node))  # type: ignore[no-any-return]

    def leave_iteration(self, node: ast.AST) -> None:
        """Copy what the iteration leaves in its variables to where the next one, or what follows, looks."""
        if not self.loops:
            return  # pragma: no cover - break outside a loop is no Python
        iteration = self.loops[-1]
        if iteration.missing():
            raise OpaqueError("a container is written in some iterations only", REMAKE, node)
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
        carried, outs = [], []
        for name, slot in iteration.outs.items():
            before = self.env.get(name)
            first = None if before is None else (before.depth, before.slot)
            into = iteration.carried_in[name]
            is_carried = into in read
            if is_carried:
                carried.append((name, first, into, slot))
            if name in needed or (is_carried and self.loops):
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
            if written.after < 0:
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
