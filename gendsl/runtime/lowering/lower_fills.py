"""Lower what loops write: the containers that their iterations fill, entry by entry.

The statements that write are no blocks of their own: what they write is the value of a slot of the iteration,
and the container is a view of the iterations (see `runtime.written`).
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TypeVar

from gendsl.lang.names import loaded, root_name, stored
from gendsl.lang.trees import Transformer, clone, located, walk
from gendsl.runtime.lowering.emit import TOOLS
from gendsl.runtime.lowering.ir import Copy, Fragment, Node, Stored
from gendsl.runtime.lowering.scope import REMAKE, OpaqueError, Scope
from gendsl.runtime.lowering.versions import Version
from gendsl.runtime.lowering.writes import Write, key_of, leaves, times_named, write_of

COUNT = "count or sum up in one expression, as `[z.count(k) for k in range(m)]`, once all of it is there"
OTHER, PUT = "__gendsl_other", "__gendsl_put"
"""A key and an entry in code of ours, which no names of the user's are."""

_Tree = TypeVar("_Tree", bound=ast.AST)


class Iteration:
    """What is known of a loop while its body is lowered."""

    def __init__(self) -> None:
        self.stored: list[Stored] = []
        self.statements: list[tuple[Stored, ast.stmt | None]] = []
        self.written: set[str] = set()
        self.outs: dict[str, int] = {}
        self.carried_in: dict[str, int] = {}
        self.late: list[Stored] = []  # those that an arm looks up in after it has written there
        self.kinds: dict[str, list[Version]] = {}
        self.depth = 0
        self.unpacked = False
        self.body: list[ast.stmt] = []

    def add(self, written: Stored, statement: ast.stmt | None) -> None:
        if not any(other is written for other in self.stored):
            self.stored.append(written)
        self.statements.append((written, statement))
        if written.name:
            self.written.add(written.name)

    def writes(self, node: ast.stmt) -> bool:
        return any(statement is node for _, statement in self.statements)

    def writes_in(self, node: ast.stmt) -> bool:
        """Whether a statement that writes is part of another one."""
        return any(map(self.writes, (part for part in walk(node) if isinstance(part, ast.stmt))))

    def written_by(self, node: ast.stmt) -> Stored:
        return next(written for written, statement in self.statements if statement is node)

    def nested_in(self, node: ast.AST) -> list[Stored]:
        """The containers of which a loop in the iteration writes the iteration's entries."""
        return [w for w, statement in self.statements if statement is node and w.kind == "nested"]


def _lookup(node: ast.AST) -> tuple[str, str] | None:
    """The names in `name[index]`, where that is what an expression reads."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=index), ctx=ast.Load()):
            return name, index
    return None


def _adds_up(name: str, node: ast.AST) -> bool:
    return isinstance(node, ast.AugAssign) and _is_put(name, node.target)


def _is_put(name: str, node: ast.AST) -> bool:
    """Whether something is put into what a variable holds."""
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and root_name(node) == name


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


class FillLowering(Scope):
    """Lowers the statements by which a loop fills containers; how others are is for a subclass to say."""

    def kept(self, value: ast.expr) -> ast.expr:
        """A temporary variable for the value of an expression."""
        raise TypeError("defined by Lowerer")

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
        for outer in self.loops[-1].nested_in(node) if self.loops else ():
            self.enter_within(iteration, outer, statements)
            changed.pop(outer.name, None)
        for name, at in changed.items():
            version = self.env.get(name)
            if version is None or self.assigned_first(name, statements):
                continue
            found = [s for s in statements if name in self.effects.changed(s)]
            write = self.write_of(name, found)
            alone = version.kind in ("list", "array") and not version.aliased
            if not alone or version.own is not None or name in names:
                raise OpaqueError(f"it changes {name} in place, which may be shared", REMAKE, at)
            if write is None and any(_adds_up(name, part) for s in found for part in walk(s)):
                reason = f"it adds up in {name}, one iteration after another"
                raise OpaqueError(reason, COUNT, at)
            if write is None or (write.rows and not self.effects.has_own_rows(name)):
                raise OpaqueError(f"it changes {name} in a way that depends on the order", REMAKE, at)
            if (len(found) > 1 or write.kind == "nested") and self.effects.is_also_dict(name):
                raise OpaqueError(f"{name} is a dict in places, in others not", "give them two names", at)
            views = version.kind == "list" or self.effects.has_views(name)
            if any(self.hands_on(name, s, views) for s in statements):
                raise OpaqueError(f"it passes {name} on while it still changes it", REMAKE, at)
            if version.depth != self.depth:
                raise OpaqueError(f"it writes {name} from two loops deep", "build one row in each", at)
            base = version.depth, version.slot
            written = Stored(name, write.kind, base, -1, -1, self.new(), self.new())
            written.indices, written.rows, written.optional, written.joined = write[1:5]
            written.optional |= write.kind == "index" and not write.key
            if write.late:
                iteration.late.append(written)
            puts = [part for s in found for part in walk(s) if _is_put(name, part)]
            written.where = self.definition.location(puts[0] if len(puts) == 1 else node)
            loops = [s for s in self.add_leaves(iteration, written, found) if isinstance(s, ast.For)]
            written.plain = bool(loops) and times_named(name, *statements) > len(puts)
        return iteration

    def add_leaves(self, iteration: Iteration, written: Stored, found: list[ast.stmt]) -> list[ast.stmt]:
        """Note which statements write a container; those."""
        name = written.name
        added = [leaf for s in found for leaf in leaves(s, lambda part: name in self.effects.changed(part))]
        for statement in added:
            iteration.add(written, statement)
        return added

    def enter_within(self, iteration: Iteration, outer: Stored, statements: list[ast.stmt]) -> None:
        """Note that a loop writes entries of a container that the loop around it writes."""
        found = [s for s in statements if outer.name in self.effects.changed(s)]
        write = self.write_of(outer.name, found)
        assert write is not None  # it was asked for in the loop around this one
        kind = "key" if write.kind == "index" and not write.late else "nested"
        own = self.env[outer.name].innermost.own
        base = None if own is None or own < 0 else (self.depth, own)
        written = Stored(outer.name, kind, base, -1, -1, self.new(), self.new(), indices=outer.indices)
        written.new, written.within, written.plain = dict, True, outer.plain
        written.of_rows = outer.rows or outer.of_rows
        written.optional, written.joined = write.optional, write.joined
        self.add_leaves(iteration, written, found)

    def hands_on(self, name: str, statement: ast.stmt, views: bool) -> bool:
        """Whether a statement lets others hold a container, or a part that changes with it, or change it."""
        always, parts = self.effects.aliased(statement)
        shown = views and name in parts and self.shows(name, statement)
        return name in always or shown or name in self.effects.exposed(statement)

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

    def write_of(self, name: str, statements: list[ast.stmt]) -> Write | None:
        """How statements write entries of a container; None if they do it in no such way."""
        write = write_of(name, statements, lambda statement: name in self.effects.changed(statement))
        if write is not None and write.kind == "append" and self.env[name].kind != "list":
            return None
        return write

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
        if written.kind == "nested":
            self.store_another(iteration, written, node, value)
            return
        if isinstance(value, ast.Name):
            always = {value.id}
            for name in always:
                version = self.env.get(name)
                if version is not None:
                    self.bind(name, replace(version, aliased=True))
        else:
            self.note_aliases(value)
        kind = self.env[value.id].kind if isinstance(value, ast.Name) and value.id in self.env else "other"
        slot = self.single(value)
        version = self.env[written.name]
        if written.optional or written.within or written.joined:
            key = written.key
            if written.kind != "append" and (written.optional or written.within):
                assert isinstance(node, ast.Assign)
                key = self.single(self.plain_key(written, node))
            self.bind(written.name, version.put(own=slot, own_key=key))
            return
        written.value = slot
        self.bind(written.name, replace(version, own=written.value, own_key=written.key))
        whole = written.base in self.whole and (self.depth, written.value) in self.whole
        if written.kind == "index" and written.key < 0:
            assert isinstance(node, ast.Assign)
            written.key = self.single(key_of(node.targets[0]))
            self.bind(written.name, replace(version, own=written.value, own_key=written.key))
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

    def store_another(
        self, iteration: Iteration, written: Stored, node: ast.stmt, value: ast.expr
    ) -> None:
        """One of several statements that write entries: a dict has those of the iteration so far."""
        assert isinstance(node, ast.Assign)
        self.note_aliases(value)
        key = self.plain_key(written, node)
        entries: ast.expr = ast.Dict([clone(key)], [value])
        version = self.env[written.name]
        own = version.innermost.own
        if own is not None and own >= 0:
            before = self.temporary()
            self.bind(before, Version(self.depth, own, "other"))
            before = f"{TOOLS}.put_before({before})"
            kept = before  # in a dict, a key stays where it was first written, and as it was written there
            if not self.effects.is_dict(written.name):
                # a key that was written before comes last now: f[-1] may be what f[n - 1] is
                same = ast.unparse(key)
                kept = f"{{{OTHER}: {PUT} for {OTHER}, {PUT} in {before}.items() if {OTHER} != {same}}}"
            entries = ast.Dict([None, clone(key)], [ast.parse(kept, mode="eval").body, value])
        slot = self.single(located(ast.copy_location(entries, value)))
        self.bind(written.name, version.put(own=slot, own_key=-1))

    def plain_key(self, written: Stored, node: ast.Assign) -> ast.expr:
        """The key at which a statement writes; whether it is one entry's is asked where the body runs."""
        key = key_of(node.targets[0])
        if written.plain and self.counts_up(key):
            return key
        if written.plain and (written.rows or written.of_rows or not self.effects.is_dict(written.name)):
            question = "counted_in_row" if self.effects.is_dict(written.name) else "counted"
            return self.asked(question, key, written.name)
        several = written.kind == "nested" and not self.is_number_or_text(key)
        return self.asked("entry", key, written.name) if several else key

    def either(self, node: ast.AST, arms: list[list[Node]], ways: list[Version], defs: list[int]) -> Version:
        """The version of a variable whose value lies at one place after both arms of a branch: a container
        that the loop writes, of which one arm may have written an entry."""
        one, other = ways
        found = replace(one, aliased=one.aliased or other.aliased, unset=one.unset or other.unset)
        owns = one.innermost, other.innermost
        if (owns[0].own, owns[0].own_key) == (owns[1].own, owns[1].own_key):
            return found
        slot = self.joined_slot(node, arms, [owns[0].own, owns[1].own], defs)
        if owns[0].own_key == owns[1].own_key:
            return found.put(own=slot)
        key = self.joined_slot(node, arms, [owns[0].own_key, owns[1].own_key], defs)
        return found.put(own=slot, own_key=key)

    def joined_slot(
        self, node: ast.AST, arms: list[list[Node]], slots: list[int | None], defs: list[int]
    ) -> int:
        """Where the values of the slots of two arms lie after them; of none it is unset."""
        made = self.new()
        defs.append(made)
        for arm, slot in zip(arms, slots, strict=True):
            arm.append(Copy(node, None if slot is None or slot < 0 else (self.depth, slot), made))
        return made

    def leave_written(self, iteration: Iteration, node: ast.AST) -> None:
        """Note where an iteration leaves the entries that it has written."""
        for written in iteration.stored:
            if not written.name:
                continue
            version = self.env[written.name].innermost
            found = version.own if version.own is not None else -1, version.own_key
            if found[0] < 0 or (written.value >= 0 and found != (written.value, written.key)):
                raise OpaqueError("a container is written in some iterations only", REMAKE, node)
            written.value, written.key = found

    def asked(self, question: str, key: ast.expr, name: str) -> ast.expr:
        """A temporary variable for a key; what is to be known of it is asked where the body runs."""
        what = ast.Constant(name), ast.Constant(key.lineno)
        tool = ast.Attribute(ast.Name(TOOLS, ast.Load()), question, ast.Load())
        kept = self.kept(located(ast.copy_location(ast.Call(tool, [key, *what], []), key)))
        made = self.nodes[-1]
        assert isinstance(made, Fragment)
        made.code.asks = True
        return kept

    def counts_up(self, index: ast.expr) -> bool:
        """Whether an index, or each part of one, surely is an integer that isn't negative."""
        match index:
            case ast.Name(id=name):
                return name in self.env and self.env[name].counts and not self.env[name].unset
            case ast.Constant(value=value):
                return type(value) is int and value >= 0
            case ast.Tuple(elts=parts):
                return all(map(self.counts_up, parts))
            case ast.BinOp(left, ast.Add() | ast.Mult() | ast.FloorDiv() | ast.Mod(), right):
                return self.counts_up(left) and self.counts_up(right)
        return False

    def is_number_or_text(self, index: ast.expr) -> bool:
        """Whether an index surely is a number or text, or made of such, and not an array of indices."""
        match index:
            case ast.Name(id=name):
                return name in self.env and self.env[name].kind == "number"
            case ast.Constant():
                return True
            case ast.Tuple(elts=parts):
                return all(map(self.is_number_or_text, parts))
            case ast.BinOp(left, _, right):
                return self.is_number_or_text(left) and self.is_number_or_text(right)
            case ast.UnaryOp(_, operand):
                return self.is_number_or_text(operand)
        return False

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
