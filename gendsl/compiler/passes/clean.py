"""Passes that make HIR shorter without changing what it means.

Where a text fails, all that it did is discarded and the reference interpreter decides; so it does not
matter which of two failures comes first, and what has failed can't be seen in what a text has stored.
"""

from __future__ import annotations

from collections import Counter

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Block,
    Body,
    Call,
    Const,
    Expr,
    Fail,
    Fill,
    For,
    Function,
    If,
    Input,
    Leave,
    Length,
    Loop,
    New,
    Next,
    Op,
    Return,
    Set,
    Statement,
    Var,
)
from gendsl.compiler.hir.rewriting import may_fail, substitute, variables_of
from gendsl.compiler.passes.fold import always_equal, fold


def clean_one(function: Function) -> None:
    """Clean a function."""
    function.body = _structured(function.body)
    for _ in range(4):
        counts = _set_counts(function)
        _propagate(function, counts)
        folded = fold(function, counts)
        if not _drop_dead(function) and not folded:
            break
    _inline_temporaries(function)
    if fold(function, _set_counts(function)):
        _inline_temporaries(function)


# --- control -----------------------------------------------------------------------------------------


def ends(body: Body) -> bool:
    """Whether control never reaches the end of a body."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (Leave, Next, Return, Fail)):
        return True
    return isinstance(last, If) and ends(last.then) and ends(last.orelse)


def _structured(body: Body) -> Body:
    """Blocks that are only left where they end become plain branches; what nothing reaches goes."""
    result: Body = []
    for position, statement in enumerate(body):
        if isinstance(statement, Call):
            statement = _passed_on(statement)
        match statement:
            case Set(targets=[], values=[]):
                continue
            case If():
                statement.then, statement.orelse = _structured(statement.then), _structured(statement.orelse)
                if not statement.then and not statement.orelse and not may_fail(statement.test):
                    continue
                rest = body[position + 1 :]
                if ends(statement.then) and not ends(statement.orelse) and rest and _leaves(statement.then):
                    statement.orelse = _structured([*statement.orelse, *rest])
                    result.append(statement)
                    return result
            case For() | Loop():
                statement.body = _structured(statement.body)
            case Block():
                statement.body = _tail(_structured(statement.body), statement.label)
                if not any(
                    isinstance(s, Leave) and s.label == statement.label for s in hir.walk(statement.body)
                ):
                    result += statement.body
                    if ends(statement.body):
                        return result
                    continue
        result.append(statement)
        if ends([statement]):
            return result
    return result


def _passed_on(call: Call) -> Statement:
    """What a call does where the function does nothing but to return what it is given, or numbers."""
    function = call.function
    if len(function.body) != 1 or not isinstance(function.body[0], Return) or any(map(may_fail, call.args)):
        return call
    values = function.body[0].values
    given: dict[Expr, Expr] = dict(zip(function.parameters, call.args, strict=True))
    if not all(isinstance(value, (Const, Input)) or value in given for value in values):
        return call
    return Set(call.targets, [given.get(value, value) for value in values], line=call.line)


def _leaves(body: Body) -> bool:
    """Whether a body ends by leaving a block or loop."""
    last = body[-1]
    return isinstance(last, Leave) or (isinstance(last, If) and (_leaves(last.then) or _leaves(last.orelse)))


def _tail(body: Body, label: int) -> Body:
    """A body without the leaves at its end that lead where it ends anyway."""
    if not body:
        return body
    last = body[-1]
    if isinstance(last, Leave) and last.label == label:
        return _tail(body[:-1], label)
    if isinstance(last, If):
        last.then, last.orelse = _tail(last.then, label), _tail(last.orelse, label)
    return body


# --- variables ---------------------------------------------------------------------------------------


def _set_counts(function: Function) -> Counter[Var]:
    counts: Counter[Var] = Counter(function.parameters)
    for statement in hir.walk(function.body):
        counts.update(hir.targets(statement))
    return counts


def _use_counts(function: Function) -> Counter[Var]:
    counts: Counter[Var] = Counter()

    def visit(expr: Expr) -> None:
        if isinstance(expr, Var):
            counts[expr] += 1
        elif isinstance(expr, Op):
            for arg in expr.args:
                visit(arg)

    for statement in hir.walk(function.body):
        for expr in hir.expressions(statement):
            visit(expr)
    return counts


def _live(function: Function) -> set[Var]:
    """The variables that something needs: those that only set others that nothing needs do not count."""
    found: set[Var] = set()
    setters: list[tuple[Var, set[Var]]] = []
    for statement in hir.walk(function.body):
        if isinstance(statement, Set):
            for target, value in zip(statement.targets, statement.values, strict=True):
                if may_fail(value):
                    found |= variables_of(value)
                setters.append((target, variables_of(value)))
        else:
            for expr in hir.expressions(statement):
                found |= variables_of(expr)
    while True:
        more = [read for target, read in setters if target in found and not read <= found]
        if not more:
            return found
        found.update(*more)


def _propagate(function: Function, counts: Counter[Var]) -> None:
    """Use what a variable was copied from, where neither is ever set to anything else."""
    sets: dict[Var, list[Expr]] = {}
    for statement in hir.walk(function.body):
        if isinstance(statement, Set):
            for target, value in zip(statement.targets, statement.values, strict=True):
                sets.setdefault(target, []).append(value)
    values = always_equal(sets, counts)
    for target, (value, *others) in sets.items():
        if not others and counts[target] == 1 and (
            isinstance(value, (Const, hir.Input)) or (isinstance(value, Var) and counts[value] == 1)
        ):
            values[target] = value
    if not values:
        return
    for target in list(values):  # chains of copies
        seen = set()
        while isinstance(values[target], Var) and values[target] in values and values[target] not in seen:
            seen.add(values[target])
            values[target] = values[values[target]]  # type: ignore[index]
    for statement in hir.walk(function.body):
        substitute(statement, values)


def _drop_dead(function: Function) -> bool:
    """Drop what is computed and not used; whether anything was."""
    live, dropped = _live(function), False

    def visit(body: Body) -> Body:
        nonlocal dropped
        result: Body = []
        for statement in body:
            match statement:
                case Set():
                    pairs = zip(statement.targets, statement.values, strict=True)
                    kept = [(t, v) for t, v in pairs if (t in live or may_fail(v)) and t != v]
                    if len(kept) != len(statement.targets):
                        dropped = True
                        statement.targets, statement.values = [t for t, _ in kept], [v for _, v in kept]
                    if not kept:
                        continue
                case (
                    Length(target=target)
                    | New(target=target)
                    | Fill(target=target)
                    | hir.Present(target=target)
                    | hir.Count(target=target)
                    | hir.Node(target=target, made=False)
                    | hir.Extent(target=target)
                ) if target not in live and not any(map(may_fail, hir.expressions(statement))):
                    dropped = True
                    continue
                case If():
                    statement.then, statement.orelse = visit(statement.then), visit(statement.orelse)
                    if not statement.then and not statement.orelse and not may_fail(statement.test):
                        dropped = True
                        continue
                case For() | Loop() | Block():
                    statement.body = visit(statement.body)
                    if isinstance(statement, For) and not statement.body:
                        dropped = True
                        continue
            result.append(statement)
        return result

    function.body = visit(function.body)
    return dropped


def _jumps(statement: Statement) -> bool:
    return any(isinstance(s, (Leave, Next, Return)) for s in hir.walk([statement]))


def _inline_temporaries(function: Function) -> None:
    """Write an expression that is used once, in a later statement of the same body, where it is used."""
    sets, uses = _set_counts(function), _use_counts(function)

    def visit(body: Body) -> Body:
        pending: dict[Var, tuple[Statement, Expr]] = {}
        result: Body = []

        def flush(names: set[Var] | None = None) -> None:
            for var in list(pending):
                if names is None or variables_of(pending[var][1]) & names:
                    result.append(pending.pop(var)[0])

        for statement in body:
            mine: set[Var] = set().union(*map(variables_of, hir.expressions(statement)), set())
            chosen = {var: pending[var][1] for var in mine if var in pending}
            for var in chosen:
                del pending[var]
            if chosen:
                substitute(statement, chosen)
            if pending:
                if _jumps(statement):
                    flush()
                else:
                    flush({target for s in hir.walk([statement]) for target in hir.targets(s)})
            if pending:
                inside = set().union(
                    *(
                        variables_of(e)
                        for b in hir.bodies(statement)
                        for s in hir.walk(b)
                        for e in hir.expressions(s)
                    ),
                    set(),
                )
                for var in list(pending):
                    if var in inside:
                        result.append(pending.pop(var)[0])
            for inner in list(hir.bodies(statement)):
                inner[:] = visit(inner)
            if (
                isinstance(statement, Set)
                and len(statement.targets) == 1
                and sets[statement.targets[0]] == 1
                and uses[statement.targets[0]] == 1
                and isinstance(statement.values[0], Op)
                and _width(statement.values[0]) <= 14
            ):
                pending[statement.targets[0]] = (statement, statement.values[0])
                continue
            result.append(statement)
        flush()
        return result

    function.body = visit(function.body)


def _width(expr: Expr) -> int:
    return 1 + sum(map(_width, expr.args)) if isinstance(expr, Op) else 1
