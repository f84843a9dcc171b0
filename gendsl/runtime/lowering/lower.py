"""Lower a body to blocks: Python's control flow becomes branches, loops, calls and what is opaque.

A statement that can't be vouched for becomes a region, which is executed whole; where not even its
effects on other statements are known, the whole body is opaque. Each says why.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gendsl.lang.names import (
    binds,
    exits,
    has_choice,
    is_idle,
    loaded,
    stored,
    unbound_after,
)
from gendsl.lang.rewrite import rewrite_statements
from gendsl.lang.sites import assigned_address, is_choice, is_splice, known_value
from gendsl.lang.source import Source as Definition
from gendsl.lang.trees import clone, walk
from gendsl.runtime.lowering.conditional import assigned_at_once, assigned_surely
from gendsl.runtime.lowering.families import ARRAYS, INTEGERS, SCALARS, is_in
from gendsl.runtime.lowering.fixed import mark_fixed
from gendsl.runtime.lowering.groups import Grouping, Statement, as_member
from gendsl.runtime.lowering.helpers import Helper
from gendsl.runtime.lowering.hoist import Hoist, unhoistable, without_walrus
from gendsl.runtime.lowering.ir import (
    RAW,
    WHOLE,
    Branch,
    Copy,
    Exit,
    Fragment,
    Load,
    Node,
    Part,
    Program,
    Region,
    Return,
    Site,
)
from gendsl.runtime.lowering.lower_filled import FilledLowering
from gendsl.runtime.lowering.scope import REMAKE, OpaqueError
from gendsl.runtime.lowering.syntax import (
    as_requested,
    augmented_names,
    evaluated_in_order,
    is_simple,
    keyword,
    only_bare,
)
from gendsl.runtime.lowering.unswitch import unswitched
from gendsl.runtime.lowering.vectorise import vectorise
from gendsl.runtime.lowering.versions import Version, joined_kind


class Lowerer(FilledLowering):
    """Lowers one function, statement by statement."""

    # --- the body ---------------------------------------------------------------------------------

    def program(self) -> Program:
        """The lowered body."""
        parameters, body = self.parameters, self.definition.node.body
        opaque = self.effects.unknowable(body)
        if opaque is None:
            for name in parameters:
                self.env[name] = Version(0, self.new(), aliased=True)
            statements: list[Statement] = []
            try:
                for node in body:
                    before, start = dict(self.env), len(self.nodes)
                    goes_on = self.statement(node)
                    made = self.nodes[start:]
                    member = as_member(self.definition, node, made)
                    state = -1 if member is None else self.new()
                    statements.append(Statement(node, before, dict(self.env), made, member, state))
                    if not goes_on:
                        break
            except OpaqueError as error:
                opaque = error.reason, error.rewrite, error.node
        if opaque is not None:
            return Program(parameters, [], 0, opaque, [], None)
        helpers: list[Helper] = []
        vectorise(self.definition, self.nodes, self.codes, helpers)
        grouping = Grouping(self, statements)
        mark_fixed(self.nodes)
        return Program(parameters, self.nodes, self.sizes[0], None, self.codes, grouping, helpers)

    def block(self, statements: Iterable[ast.stmt]) -> bool:
        """Lower statements in order; whether control can reach their end."""
        return all(map(self.statement, statements))

    # --- statements -------------------------------------------------------------------------------

    def statement(self, node: ast.stmt) -> bool:
        """Lower one statement; whether control can go on after it."""
        if is_idle(node):
            return True
        if self.entries and isinstance(node, _SIMPLE):
            node = self.with_entries(node)
        choices, leaves = has_choice(node), exits(node)
        if not choices and not leaves:
            self.deterministic(node)
            return True
        saved = dict(self.env), list(self.nodes), len(self.codes)
        try:
            return self.structured(node)
        except OpaqueError as error:
            if error.whole or leaves or self.effects.outlives(node):
                raise OpaqueError(error.reason, error.rewrite, error.node, whole=True) from None
            self.env, self.nodes = saved[0], saved[1]
            del self.codes[saved[2] :]
            self.region(node, error)
            return True

    def structured(self, node: ast.stmt) -> bool:
        """Lower a statement with choices, or one that leaves its block."""
        match node:
            case ast.Return():
                value = node.value or ast.copy_location(ast.Constant(None), node)
                value = self.hoisted(value)
                self.nodes.append(Return(node, self.code(value, raw=True), is_simple(value)))
                self.note_aliases(value)
                return False
            case ast.Break() | ast.Continue():
                self.leave_iteration(node)
                self.nodes.append(Exit(node, "break" if isinstance(node, ast.Break) else "continue"))
                return False
            case ast.If():
                return self.branch(node, node.test, node.body, node.orelse)
            case ast.For():
                self.for_loop(node)
                return True
            case ast.While():
                self.while_loop(node)
                return True
            case ast.Assign() | ast.Expr() if self.is_nest(node):
                return True
            case ast.Assign() | ast.AnnAssign():
                self.assignment(node)
                return True
            case ast.AugAssign() | ast.Expr() | ast.Assert() | ast.Raise():
                beside: list[ast.AST] = []
                if isinstance(node, ast.AugAssign):
                    self.check_target(node.target)
                    beside = [node]
                if isinstance(node, ast.Assert) and node.msg is not None and has_choice(node.msg):
                    raise unhoistable(node.msg, "a choice in an expression that is not always evaluated")
                changed = copy.copy(node)
                for field in ("value", "test", "exc", "cause"):
                    part = getattr(node, field, None)
                    if isinstance(part, ast.expr):
                        setattr(changed, field, self.hoisted(part, *beside))
                made: Any = getattr(changed, "value", None)
                if self.loops and self.loops[-1].writes(node):
                    self.store(self.loops[-1], node, made.args[0])
                elif not (isinstance(node, ast.Expr) and isinstance(made, ast.Name)):
                    self.fragment(changed)
                return True
        raise OpaqueError(
            f"choices inside `{keyword(node)}`", "move the choices out of it, or into a @gen function", node
        )

    def assignment(self, node: ast.Assign | ast.AnnAssign) -> None:
        """`target = value`, where the value has choices in it."""
        targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value
        assert value is not None
        new: ast.expr
        address = assigned_address(targets[0]) if len(targets) == 1 else None
        if is_choice(value) and isinstance(value, ast.UnaryOp) and address is not None:
            if evaluated_in_order(targets[0], value):
                targets = [clone(targets[0])]
                thing = self.kept(as_requested(self.hoisted(value.operand)))
                address = self.kept_indices(targets[0])
                new = self.site(value, address, thing, sugar=True)
            else:
                new = self.site(value, address, self.hoisted(value.operand), sugar=True)
        else:
            self.check_target(*targets)
            new = self.hoisted(value)
        if len(targets) == 1 and isinstance(targets[0], ast.Name) and isinstance(new, ast.Name):
            version = self.env[new.id]
            if new.id.startswith("__gendsl_"):  # a temporary becomes the variable
                self.bind(targets[0].id, version)
                return
        changed = ast.copy_location(ast.Assign(targets, new), node)
        iteration = self.loops[-1] if self.loops else None
        if iteration is not None and iteration.writes(node):
            self.store(iteration, node, new)
            return
        self.fragment(changed)

    def check_target(self, *targets: ast.expr) -> None:
        """Raise if a choice is made to find out what is assigned to."""
        for target in targets:
            if has_choice(target):
                raise OpaqueError("a choice in what is assigned to", "make the choice before", target)

    def kept(self, value: ast.expr) -> ast.expr:
        """A temporary variable for the value of an expression."""
        name = self.temporary()
        target = ast.copy_location(ast.Name(name, ast.Store()), value)
        self.fragment(ast.copy_location(ast.Assign([target], value), value))
        return ast.copy_location(ast.Name(name, ast.Load()), value)

    def kept_indices(self, target: ast.expr) -> ast.expr | None:
        """The address that a target gives, its indices evaluated into temporaries that the target uses."""
        rebinds = any(isinstance(part, ast.NamedExpr) for part in walk(target))

        def kept(index: ast.expr) -> ast.expr:
            stable = isinstance(index, ast.Constant) or (isinstance(index, ast.Name) and not rebinds)
            return index if stable else self.kept(self.hoisted(index))

        subscripts: list[ast.Subscript] = []
        part = target
        while isinstance(part, ast.Subscript):
            subscripts.insert(0, part)
            part = part.value
        for subscript in subscripts:
            index = subscript.slice
            if isinstance(index, ast.Tuple):
                index.elts = [kept(element) for element in index.elts]
            else:
                subscript.slice = kept(index)
        return assigned_address(target)

    def fragment(self, node: ast.stmt) -> None:
        """A deterministic statement, executed whole when anything it reads has changed."""
        if self.loops:
            iteration = self.loops[-1]
            if isinstance(node, (ast.For, ast.If)) and iteration.writes_in(node):
                self.structured(node)
                return
            if iteration.writes(node):
                value = node.value if isinstance(node, ast.Assign) else node.value.args[0]  # type: ignore[attr-defined]
                self.store(iteration, node, value)
                return
        changed = self.effects.changed(node)
        self.check_changes(changed, node)
        guarded = self.guarded(node)
        self.check_exposed(node)
        compound = isinstance(node, (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match))
        names = self.defined_by(node, changed)
        for name in self.only_inside(node, names) - changed.keys() if compound else ():
            names.remove(name)
            self.env.pop(name, None)
        sure = (assigned_surely if compound else assigned_at_once)(node) - changed.keys()
        unsure = [name for name in names if name not in sure]
        blank = tuple(filter(self.may_be_unset, unsure))
        result = ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())
        extra = [name for name in unsure if name in self.env]
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            extra.append(node.target.id)
        owned = augmented_names(node).union(changed)
        code = self.code(result, [node], extra, owned, blank, guarded=guarded)
        defs = [self.new() for _ in names]
        self.nodes.append(Fragment(node, code, defs))
        self.note_aliases(node)
        for name, slot in zip(names, defs, strict=True):
            before = self.env.get(name)
            kind, aliased = "other", False
            if name in changed and before is not None:
                kind, aliased = before.kind, before.aliased
            elif compound or name not in sure:
                kind, aliased = self.given(name, node)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                chained = isinstance(node, ast.Assign) and len(node.targets) > 1
                values = [node.value] if chained else self.effects.bindings(name, node)
                if len(values) == 1 and values[0] is not None:
                    kind = self.kind_of(values[0])
                if kind == "other":
                    kind, aliased = self.shared(*values)
                walrus = any(isinstance(part, ast.NamedExpr) for part in walk(node.value))
                aliased = aliased or chained or walrus
            elif isinstance(node, ast.AugAssign) and binds(node.target, name) and before is not None:
                kind = before.kind
                if kind == "number" and not self.is_number(node.value):
                    kind = "other"
            self.bind(name, Version(self.depth, slot, kind, aliased, name in blank))
            if kind == "array" and isinstance(node, ast.Assign) and self.is_whole(node.value):
                self.whole.add((self.depth, slot))

    def defined_by(self, node: ast.stmt, changed: Iterable[str]) -> list[str]:
        """The variables to which a statement gives new values."""
        gone = unbound_after(node)
        for name in gone:
            if name in self.env:
                reason = f"`except ... as {name}` unassigns {name}"
                raise OpaqueError(reason, "use a name of its own for the exception", node, whole=True)
        names = dict.fromkeys((*stored(node), *changed))
        return [name for name in names if self.is_local(name) and name not in gone]

    def region(self, node: ast.stmt, why: OpaqueError) -> None:
        """A statement with choices in it that is executed whole."""
        changed = self.effects.changed(node)
        self.check_changes(changed, node)
        guarded = self.guarded(node)
        self.check_exposed(node)
        names = self.defined_by(node, changed)
        statements = rewrite_statements([node])
        gone = unbound_after(node)
        names += [
            name
            for name in stored(*statements)
            if name not in names and name not in gone and not name.startswith("__gendsl_i")
        ]
        blank = tuple(filter(self.may_be_unset, names))
        result = ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())
        extra = [name for name in names if name in self.env]
        owned = augmented_names(node).union(changed)
        code = self.code(result, statements, extra, owned, blank, guarded=guarded, traced=True)
        defs = [self.new() for _ in names]
        self.nodes.append(Region(node, code, defs, self.new(), why.reason, why.rewrite))
        self.note_aliases(node)
        for name, slot in zip(names, defs, strict=True):
            before = self.env.get(name)
            kind, aliased = "other", False
            if name in changed and before is not None:
                kind, aliased = before.kind, before.aliased
            else:
                kind, aliased = self.given(name, node)
            self.bind(name, Version(self.depth, slot, kind, aliased, before is None or before.unset))

    # --- choices and calls ------------------------------------------------------------------------

    def hoisted(self, expression: ast.expr, *beside: ast.AST) -> ast.expr:
        """An expression with its choices taken out, each into a temporary variable, in order.

        What stands beside it is evaluated before it in the user's program, and after its choices in this.
        """
        if not has_choice(expression):
            return expression
        for name, _, at in self.effects.changes(expression):
            if not has_choice(at):
                reason = f"it changes {name} beside its choices"
                raise OpaqueError(reason, "do so in a statement of its own", at)
        for part in walk(expression):
            if isinstance(part, ast.NamedExpr) and part.target.id in loaded(expression, *beside):
                raise unhoistable(part, "`:=` of a variable that it reads")
        return Hoist(self).visit(clone(expression))  # type: ignore[no-any-return]

    def site(
        self, node: ast.expr, address: ast.expr | None, operand: ast.expr, *, sugar: bool = False
    ) -> ast.Name:
        """Add the site of a choice or call; the temporary variable that holds its value."""
        splice = address is not None and is_splice(address)
        self.check_exposed(operand)
        arguments: list[Load | None] = []
        hands_on = False
        written, operand = operand, copy.copy(operand)
        if isinstance(operand, ast.Call):
            called = known_value(self.definition, operand.func)
            hands_on = hasattr(called, "compiled") and not operand.keywords
            for argument in operand.args:
                version = self.env.get(argument.id) if isinstance(argument, ast.Name) else None
                if hands_on and version is not None and version.own is None and not version.unset:
                    arguments.append(Load(argument.id, version.depth, version.slot, RAW))  # type: ignore[attr-defined]
                else:
                    arguments.append(None)
            if any(isinstance(argument, ast.Starred) for argument in operand.args):
                arguments = []
            operand = as_requested(operand)
        raw = {load.name for load in arguments if load is not None}
        thing = self.code(operand)
        for load in thing.loads:
            if load.name in raw and load.mode == WHOLE and only_bare(load.name, operand):
                load.mode = RAW
        arguments = [
            load if load is None or any(t.name == load.name and t.mode == RAW for t in thing.loads) else None
            for load in arguments
        ]
        parts = code = None
        if address is not None and not splice:
            code = self.code(address)
            if isinstance(address, (ast.Tuple, ast.Constant)):
                elements = address.elts if isinstance(address, ast.Tuple) else [address]
                parts = [self.part(element) for element in elements]
        name = self.temporary()
        value, state = self.new(), self.new()
        self.nodes.append(Site(node, code, parts, thing, arguments, sugar, splice, value, state))
        self.bind(name, self.version_of(written, value))
        if isinstance(written, ast.Call) and is_in(known_value(self.definition, written.func), INTEGERS):
            self.whole.add((self.depth, value))
        if isinstance(written, ast.Call) and not self.effects.is_drawn(written):
            self.note_aliases(written)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def version_of(self, thing: ast.expr, slot: int) -> Version:
        """The version of what `~thing` is."""
        if not isinstance(thing, ast.Call):
            return Version(self.depth, slot)
        known = known_value(self.definition, thing.func)
        if is_in(known, SCALARS):
            return Version(self.depth, slot, "number")
        if self.effects.is_drawn(thing):
            return Version(self.depth, slot, "array" if is_in(known, ARRAYS) else "other")
        if isinstance(known, np.ufunc) or getattr(known, "__module__", None) == "numpy":
            return Version(self.depth, slot, "array")
        return Version(self.depth, slot, *self.shared(thing))

    def part(self, element: ast.expr) -> Part:
        """A component of an address, as far as it is known before the body runs."""
        if isinstance(element, ast.Constant):
            return element.value, None
        version = self.env.get(element.id) if isinstance(element, ast.Name) else None
        return None, None if version is None else (version.depth, version.slot)

    # --- branches ---------------------------------------------------------------------------------

    def branch(
        self, node: ast.stmt, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]
    ) -> bool:
        """`if`: both arms lowered over the same frame, and their variables joined."""
        return self.fork(node, test, lambda: self.block(body), lambda: self.block(orelse))

    def name_value(self, name: str, value: ast.expr) -> bool:
        """Let a temporary variable have the value of an expression with choices in it; True."""
        new = self.hoisted(value)
        if isinstance(new, ast.Name) and new.id.startswith("__gendsl_"):
            self.bind(name, self.env[new.id])
        else:
            target = ast.copy_location(ast.Name(name, ast.Store()), value)
            self.fragment(ast.copy_location(ast.Assign([target], new), value))
        return True

    def fork(
        self, node: ast.AST, test: ast.expr, first: Callable[[], bool], second: Callable[[], bool]
    ) -> bool:
        """A branch whose arms are lowered by calls, which say whether control goes on after them."""
        test = self.hoisted(self.own_entries(test) if self.entries else test)
        test = without_walrus(self, test, node)
        code = self.code(test)
        start = self.env
        arms: list[list[Node]] = []
        ends: list[dict[str, Version] | None] = []
        for lower_arm in (first, second):
            self.env = dict(start)
            outer, self.nodes = self.nodes, []
            goes_on = lower_arm()
            arms.append(self.nodes)
            ends.append(self.env if goes_on else None)
            self.nodes = outer
        self.env, defs = self.joined(node, start, arms, ends)
        state = self.new()
        self.nodes.append(Branch(node, code, (arms[0], arms[1]), defs, state))
        return ends[0] is not None or ends[1] is not None

    def joined(
        self,
        node: ast.AST,
        start: dict[str, Version],
        arms: list[list[Node]],
        ends: list[dict[str, Version] | None],
    ) -> tuple[dict[str, Version], list[int]]:
        """The environment after a branch; copies into common slots are added to its arms."""
        first, second = ends
        if first is None or second is None:
            env = dict(first if first is not None else second if second is not None else start)
            if first is None and second is None:
                return env, []
            # the slots that the one way defines are read after the branch
            return env, [v.slot for n, v in env.items() if start.get(n) != v and v.depth == self.depth]
        env = {}
        defs: list[int] = []
        for name in dict.fromkeys((*first, *second)):
            one, other = first.get(name), second.get(name)
            if one is not None and other is not None and (one.depth, one.slot) == (other.depth, other.slot):
                env[name] = self.either(node, arms, [one, other], defs)
                continue
            slot = self.new()
            defs.append(slot)
            for arm, version in zip(arms, (one, other), strict=True):
                if version is not None and version.own is not None:
                    raise OpaqueError(f"{name} is written in one arm only", REMAKE, node, whole=True)
                arm.append(Copy(node, None if version is None else (version.depth, version.slot), slot))
            known = [v for v in (one, other) if v is not None]
            unset = len(known) < 2 or any(v.unset for v in known)
            env[name] = Version(self.depth, slot, *joined_kind(known), unset)
        return env, defs


_SIMPLE = ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Assert


def lower(definition: Definition) -> Program:
    """The body of a `@gen` function as blocks."""
    return Lowerer(unswitched(definition)).program()
