"""Lower what loops write: the containers that their iterations fill, entry by entry.

The statements that write are no blocks of their own: what they write is the value of a slot of the iteration,
and the container is a view of the iterations (see `runtime.written`).
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import NamedTuple, TypeVar

from gendsl.compiler.emit import TOOLS
from gendsl.compiler.ir import Copy, Fragment, Node, Stored
from gendsl.compiler.names import has_choice, loaded, root_name, stored
from gendsl.compiler.rows import cell_of
from gendsl.compiler.scope import REMAKE, OpaqueError, Scope, Version
from gendsl.compiler.trees import Transformer, clone, located, walk

COUNT = "count or sum up in one expression, as `[z.count(k) for k in range(m)]`, once all of it is there"
OTHER = "__gendsl_other"
"""A key in code of ours, which no name of the user's is."""

_Tree = TypeVar("_Tree", bound=ast.AST)


def _is_plain_index(index: ast.expr) -> bool:
    """Whether an index is only names, numbers and lookups of them: to evaluate it again changes nothing."""
    plain = (
        ast.Name, ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.operator, ast.unaryop,
        ast.expr_context,
    )  # fmt: skip
    return all(isinstance(part, plain) for part in walk(index)) and not has_choice(index)


class Write(NamedTuple):
    """How statements write entries of a container.

    Attributes:
        kind: as in `Stored`.
        indices: how many indices name an entry of an array.
        rows: whether it is an entry of a row, `f[i][j]`.
        optional: whether it stands under a condition.
    """

    kind: str
    indices: int = 1
    rows: bool = False
    optional: bool = False


def _write_at(name: str, node: ast.stmt) -> Write | None:
    """How a statement writes one entry of a container at some key; None if it is no such statement."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=found), slice=index)]) if found == name:
            if _is_plain_index(index):
                return Write("index", len(index.elts) if isinstance(index, ast.Tuple) else 1)
        case ast.Assign(targets=[target]):
            cell = cell_of(name, target)
            if cell is not None and all(map(_is_plain_index, cell)):
                return Write("index", rows=True)
    return None


def _key_of(target: ast.AST) -> ast.expr:
    """The key at which an entry is written: of a row's, that of the row and its own."""
    assert isinstance(target, ast.Subscript)
    if isinstance(target.value, ast.Subscript):
        keys: list[ast.expr] = [clone(target.value.slice), clone(target.slice)]
        return ast.copy_location(ast.Tuple(keys, ast.Load()), target)
    return target.slice


def _times_named(name: str, *nodes: ast.AST) -> int:
    return sum(isinstance(part, ast.Name) and part.id == name for node in nodes for part in walk(node))


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

    def nested_in(self, node: ast.AST) -> Stored | None:
        """The container of which a loop in the iteration writes the iteration's entries, if one does."""
        return next((w for w, statement in self.statements if statement is node and w.kind == "nested"), None)

    def missing(self) -> bool:
        """Whether an iteration may end here without having written every container that it surely writes."""
        return any(id(written) not in self.done for written in self.stored if not written.optional)


def _lookup(node: ast.AST) -> tuple[str, str] | None:
    """The names in `name[index]`, where that is what an expression reads."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=index), ctx=ast.Load()):
            return name, index
    return None


def _adds_up(name: str, node: ast.AST) -> bool:
    return isinstance(node, ast.AugAssign) and _is_put(name, node.target)


def _writing(name: str, statement: ast.stmt) -> ast.stmt:
    """The statement that writes an entry of a container, in one that has it under a condition."""
    while isinstance(statement, ast.If):
        statement = next(s for s in statement.body if any(_is_put(name, part) for part in walk(s)))
    return statement


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
        nested = self.loops[-1].nested_in(node) if self.loops else None
        if nested is not None:
            filling = next(s for s in statements if nested.name in self.effects.changed(s))
            within = "nested" if isinstance(filling, ast.For) else "key"
            made = Stored(nested.name, within, None, -1, -1, -1, -1, indices=nested.indices, new=dict)
            iteration.add(made, filling)
            del changed[nested.name]
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
            if len(found) > 1 and self.effects.is_also_dict(name):
                raise OpaqueError(f"{name} is a dict in places, in others not", "give them two names", at)
            views = version.kind == "list" or self.effects.has_views(name)
            if any(self.hands_on(name, s, views) for s in statements):
                raise OpaqueError(f"it passes {name} on while it still changes it", REMAKE, at)
            if version.depth != self.depth:
                raise OpaqueError(f"it writes {name} from two loops deep", "build one row in each", at)
            in_a_loop = isinstance(found[0], ast.For)
            if in_a_loop and any(_times_named(name, s) for s in statements if s is not found[0]):
                raise OpaqueError(f"it reads {name} while it still changes it", REMAKE, at)
            base = version.depth, version.slot
            written = Stored(name, write.kind, base, -1, -1, self.new(), self.new())
            written.indices, written.rows, written.optional = write[1:]
            puts = [part for s in found for part in walk(s) if _is_put(name, part)]
            written.where = self.definition.location(puts[0] if len(puts) == 1 else node)
            for statement in found:
                iteration.add(written, _writing(name, statement))
        return iteration

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
        match statements:
            case [
                ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Name(id=found), attr="append"), args=[_], keywords=[]
                    )
                )
            ] if found == name:
                return Write("append") if self.env[name].kind == "list" else None
            case [ast.For(body=body, orelse=[]) as node] if _times_named(name, node) == 1:
                inner = self.write_of(name, [s for s in body if name in self.effects.changed(s)])
                known = inner is not None and inner.kind != "append" and not inner.optional
                return inner._replace(kind="nested") if known and inner is not None else None
            case [ast.If(body=body) as node]:
                changing = [i for i, s in enumerate(body) if name in self.effects.changed(s)]
                if len(changing) != 1 or any(_times_named(name, s) for s in body[changing[0] + 1 :]):
                    return None  # what has been put there can't be looked up before the arms join
                inner = self.write_of(name, [body[changing[0]]])
                known = inner is not None and inner.kind == "index" and not _times_named(name, *node.orelse)
                return inner._replace(optional=True) if known and inner is not None else None
        first, *others = {_write_at(name, statement) for statement in statements}
        if first is None or others:
            return None
        return first if len(statements) == 1 else first._replace(kind="nested")

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
        if written.optional:
            assert isinstance(node, ast.Assign)
            key = self.single(_key_of(node.targets[0]))
            self.bind(written.name, replace(self.env[written.name], own=slot, own_key=key))
            return
        written.value = slot
        iteration.done.add(id(written))
        if written.base is None:  # of a loop around this one: nothing reads it before that loop is done
            assert isinstance(node, ast.Assign)
            written.key = self.single(_key_of(node.targets[0]))
            return
        version = self.env[written.name]
        self.bind(written.name, replace(version, own=written.value, own_key=written.key))
        whole = written.base in self.whole and (self.depth, written.value) in self.whole
        if written.kind == "index" and written.key < 0:
            assert isinstance(node, ast.Assign)
            written.key = self.single(_key_of(node.targets[0]))
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
        key = _key_of(node.targets[0])
        if not self.is_number_or_text(key):
            key = self.asked(key, written.name)
        entries: ast.expr = ast.Dict([clone(key)], [value])
        version = self.env[written.name]
        if version.own is not None and version.own >= 0:
            before = self.temporary()
            self.bind(before, Version(self.depth, version.own, "other"))
            kept = before  # in a dict, a key stays where it was first written, and as it was written there
            if not self.effects.is_dict(written.name):
                # a key that was written before comes last now: f[-1] may be what f[n - 1] is
                same = ast.unparse(key)
                kept = f"{{{OTHER}: {before}[{OTHER}] for {OTHER} in {before} if {OTHER} != {same}}}"
            entries = ast.Dict([None, clone(key)], [ast.parse(kept, mode="eval").body, value])
        written.value = self.single(located(ast.copy_location(entries, value)))
        self.bind(written.name, replace(version, own=written.value))
        if node is [statement for other, statement in iteration.statements if other is written][-1]:
            iteration.done.add(id(written))

    def either(self, node: ast.AST, arms: list[list[Node]], ways: list[Version], defs: list[int]) -> Version:
        """The version of a variable whose value lies at one place after both arms of a branch: a container
        that the loop writes, of which one arm may have written an entry."""
        one, other = ways
        found = replace(one, aliased=one.aliased or other.aliased, unset=one.unset or other.unset)
        if (one.own, one.own_key) == (other.own, other.own_key):
            return found
        slots = self.new(), self.new()
        defs += slots
        for arm, way in zip(arms, ways, strict=True):
            for slot, own in zip(slots, (way.own, way.own_key), strict=True):
                arm.append(Copy(node, None if own is None or own < 0 else (self.depth, own), slot))
        return replace(found, own=slots[0], own_key=slots[1])

    def leave_optional(self, iteration: Iteration, node: ast.AST) -> None:
        """Note where an iteration leaves the entries that it may have written, or not."""
        for written in iteration.stored:
            if not written.optional:
                continue
            version = self.env[written.name]
            found = version.own if version.own is not None else -1, version.own_key
            if found[0] < 0 or (written.value >= 0 and found != (written.value, written.key)):
                raise OpaqueError("a container is written in some iterations only", REMAKE, node)
            written.value, written.key = found

    def asked(self, key: ast.expr, name: str) -> ast.expr:
        """A temporary variable for a key of one entry; whether it is one is asked where the body runs."""
        what = ast.Constant(name), ast.Constant(key.lineno)
        question = ast.Call(ast.Attribute(ast.Name(TOOLS, ast.Load()), "entry", ast.Load()), [key, *what], [])
        kept = self.kept(located(ast.copy_location(question, key)))
        made = self.nodes[-1]
        assert isinstance(made, Fragment)
        made.code.asks = True
        return kept

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
