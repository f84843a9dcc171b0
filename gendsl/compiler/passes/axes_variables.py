"""What an iteration of a loop needs of those before it: the variables and lists of one."""

from __future__ import annotations

from collections.abc import Collection

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Block,
    Body,
    Call,
    Expr,
    Fill,
    For,
    Function,
    If,
    Leave,
    Length,
    Load,
    Loop,
    New,
    Next,
    Op,
    Set,
    Statement,
    Store,
    Truncate,
    Var,
)
from gendsl.compiler.hir.list_uses import ListUses
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.hir.text_effects import left_by, made_by, read_by
from gendsl.compiler.passes.clean import ends


def exposed(body: Body) -> tuple[set[Var], set[Var] | None]:
    """The variables that a body may read before it sets them; those that it surely sets.

    The latter are None, for all, where its end is never reached.
    """
    read: set[Var] = set()
    known: set[Var] = set()
    for one in body:
        read |= read_by(one) - known
        if isinstance(one, If):
            found = [exposed(inner) for inner in hir.bodies(one)]
            read.update(*(some - known for some, _ in found))
            sides = zip(found, hir.bodies(one), strict=True)
            reached = [some for (_, some), inner in sides if some is not None and not ends(inner)]
            if not reached:
                return read, None
            known |= set.intersection(*reached)
            continue
        for inner in hir.bodies(one):
            inside, surely = exposed(inner)
            read |= inside - known - ({one.var} if isinstance(one, For) else set())
            if isinstance(one, Block) and not _is_left(one):
                if surely is None:
                    return read, None
                known |= surely
        if not isinstance(one, For):
            known.update(hir.targets(one))
    return read, known


def _is_left(block: Block) -> bool:
    return any(isinstance(one, Leave) and one.label == block.label for one in hir.walk(block.body))


def read_after(variables: set[Var], around: list[tuple[Statement | None, Body]]) -> set[Var]:
    """Those of the variables that a statement sets that may be read later.

    Args:
        around: from the outside, each statement around that one, and it itself, with what follows it.
    """
    found: set[Var] = set()
    left = set(variables)
    for at in reversed(range(len(around))):
        rest = around[at][1]
        read, known = exposed(rest)
        found |= left & read
        left -= found
        if not left_by(hir.walk(rest))[0]:  # it may be left before they are set
            left = left - known if known is not None else set()
        outer = around[at - 1][0] if at else None
        if left and isinstance(outer, (For, Loop)):
            found |= left & exposed(outer.body)[0]
            left -= found
        if not left:
            break
    return found


def needed_by(body: Body, variables: Collection[Var]) -> tuple[Body, set[Var]]:
    """The statements of a body that some variables, or the items of lists, are computed by, and the variables
    that these need.
    """
    kept: Body = []
    live = set(variables)
    for one in reversed(body):
        if isinstance(one, If):
            sides = [needed_by(inner, live) for inner in hir.bodies(one)]
            if any(inner for inner, _ in sides):
                kept.insert(0, If(one.test, sides[0][0], sides[1][0], line=one.line))
                live = {*sides[0][1], *sides[1][1], *read_by(one)}
            continue
        if isinstance(one, Set):
            pairs = [pair for pair in zip(one.targets, one.values, strict=True) if pair[0] in live]
            if pairs:
                targets, values = [target for target, _ in pairs], [value for _, value in pairs]
                kept.insert(0, Set(targets, values, line=one.line))
                live = live.difference(targets) | variables_of(*values)
            continue
        every = list(hir.walk([one]))
        changed = {inner.list for inner in every if isinstance(inner, (Append, Store, Truncate))}
        for inner in every:
            changed.update(hir.targets(inner))
            if isinstance(inner, Call):  # which may change the lists that it is given
                changed |= {var for var in read_by(inner) if var.kind == "r"}
        if live.isdisjoint(changed):
            continue
        kept.insert(0, one)
        read, surely = exposed([one])
        live = (live - (surely or set())) | read
    return kept, live


def surely_set(body: Body, loop: For) -> set[Var]:
    """The variables that are set wherever a loop begins."""
    known: set[Var] = set()
    for one in body:
        if one is loop:
            break
        inner = [within for within in hir.bodies(one) if any(found is loop for found in hir.walk(within))]
        if inner:
            return known | set(hir.targets(one)) | surely_set(inner[0], loop)
        known |= exposed([one])[1] or set()
    return known


def is_sum(body: Body, var: Var) -> bool:
    """Whether statements do nothing with a variable but add to it."""
    for one in hir.walk(body):
        if var in hir.targets(one):
            if not (isinstance(one, Set) and len(one.targets) == 1):
                return False
            term = term_of(one, var)
            if term is None or var in variables_of(term):
                return False
        elif var in read_by(one):
            return False
    return var.kind == "f"


def is_stored(function: Function, loop: For, var: Var) -> bool:
    """Whether all that a loop does with a list is to read and replace the item of its own iteration.

    Where it only replaces items they may begin anywhere, as those of a row do.
    """
    for one in hir.walk(loop.body):
        if var in read_by(one):
            own = isinstance(one, (Load, Store)) and one.list == var and one.index == loop.var
            if isinstance(one, Store) and one.list == var and _is_in_a_row(loop, one.index):
                own = sum(var in read_by(other) for other in hir.walk(loop.body)) == 1
            if not own or (isinstance(one, Store) and any(var in variables_of(leaf) for leaf in one.item)):
                return False
    return ListUses(function).is_alone(var) or is_fresh(function, loop, var)


def _is_in_a_row(loop: For, index: Expr) -> bool:
    """Whether an index is the number of an iteration, behind where the first one is."""
    if not isinstance(index, Op) or index.name != "add" or index.args.count(loop.var) != 1:
        return False
    set_inside = {var for one in hir.walk(loop.body) for var in hir.targets(one)} | {loop.var}
    return all(arg == loop.var or variables_of(arg).isdisjoint(set_inside) for arg in index.args)


def term_of(statement: Set, var: Var) -> Expr | None:
    """What a statement adds to a variable, if it does that."""
    value = statement.values[0]
    if isinstance(value, Op) and value.name == "add" and var in value.args:
        one, other = value.args
        return other if one == var else one
    return None


def used_outside(function: Function, loop: For) -> set[Var]:
    """The variables that statements outside a loop set or read."""
    within = {id(one) for one in hir.walk(loop.body)}
    found = set(function.parameters)
    for one in hir.walk(function.body):
        if id(one) not in within:
            found |= read_by(one)
            found.update(hir.targets(one))
    return found


def is_collected(function: Function, loop: For, var: Var) -> bool:
    """Whether all that a loop does with a list is that each iteration adds an item."""
    uses = [one for one in hir.walk(loop.body) if var in read_by(one)]
    if len(uses) != 1 or not isinstance(uses[0], Append) or uses[0] not in loop.body:
        return False
    append = uses[0]
    if append.list != var or any(var in variables_of(leaf) for leaf in append.item):
        return False
    kinds = {one.layout for one in hir.walk(loop.body) if isinstance(one, (Load, Length))}
    if append.layout not in kinds and not any(isinstance(one, Call) for one in hir.walk(loop.body)):
        return var in made_by(hir.walk(function.body)) - set(function.parameters)
    # nothing that the loop reads may be this list: it is made in the same body, and not handed on before
    return is_fresh(function, loop, var)


def is_passed_over(loop: For, var: Var) -> bool:
    """Whether an iteration may go on to the next one before it adds an item to a list that is collected."""
    at = next(at for at, one in enumerate(loop.body) if isinstance(one, Append) and one.list == var)
    return any(isinstance(one, Next) and one.label == loop.label for one in hir.walk(loop.body[:at]))


def is_fresh(function: Function, loop: For, var: Var) -> bool:
    """Whether a list is made in the body that a loop is in, and not handed on before that."""
    bodies = [function.body, *(inner for one in hir.walk(function.body) for inner in hir.bodies(one))]
    return any(_is_new_before(body, loop, var) for body in bodies)


def _is_new_before(body: Body, loop: For, var: Var) -> bool:
    if loop not in body:
        return False
    made = False
    for one in body[: body.index(loop)]:
        if isinstance(one, (New, Fill)) and one.target == var:
            made = True
        elif made and any(var in read_by(inner) or var in hir.targets(inner) for inner in hir.walk([one])):
            return False
    return made


def values_of(function: Function) -> dict[Var, Expr]:
    """The variables of a function that one statement sets, with what it sets them to."""
    found: dict[Var, Expr] = {}
    several = set(function.parameters)
    for one in hir.walk(function.body):
        for target in hir.targets(one):
            if target in found:
                several.add(target)
            found[target] = target
        if isinstance(one, Set):
            found.update(zip(one.targets, one.values, strict=True))
    return {var: value for var, value in found.items() if value != var and var not in several}


def one_list(statement: Statement) -> Expr | None:
    """The list that a statement changes."""
    return statement.list if isinstance(statement, (Append, Store)) else None
