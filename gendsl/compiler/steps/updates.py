"""The step of a move that updates choices given all others, and the log weights of their other values."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from math import nan
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front.lines import AlongEntries
from gendsl.compiler.hir import (
    IMPOSSIBLE,
    Body,
    Const,
    Draw,
    Expr,
    Function,
    If,
    Op,
    Primitive,
    Return,
    Set,
    Var,
)
from gendsl.compiler.hir.types import leaves
from gendsl.compiler.programs.sums import if_zero
from gendsl.compiler.steps.move import RESULTS, UNTOLD, ZERO, Sites, all_there
from gendsl.compiler.steps.step_parts import Called

_MOST_TIMES = 16.0
"""How many times as large as a log density a log weight is at most that it is made up of."""
OF_A_SUM = 1e-3
"""How much less a sum is rounded, relative to its size, than what its terms are computed from."""


def updating(
    name: str,
    sites: Sites,
    absent: Sequence[tuple[Body, Expr]],
    updates: Sequence[Function],
    *,
    skip_absent: bool,
    random: bool,
) -> Function:
    """The step of a move that updates selected choices, each given all others.

    Args:
        sites: these choices.
        absent: for each address that is named, what finds out whether the trace has it, and whether it has.
        updates: for each template of theirs what updates one, of its indices.
        skip_absent: whether those that it hasn't are left out.
        random: whether one of them is picked, with equal probabilities; all in turn if not.

    It returns in place of the terms of a ratio how many it visited, and the sum of what the updates return.
    """
    made = Function(name, results=[kind for _, kind in RESULTS], origin=f"a step of {name}")
    count, site, number, found, total = (
        Var(one, "i") for one in ("count", "site", "number", "found", "total")
    )

    def updated(update: Function) -> Callable[[Sequence[Var]], Body]:
        if not update.results:  # it always raises
            return lambda indices: [Called(update, tuple(indices)).into()]
        add = Set([total], [Op("add", (total, found), "i")])
        return lambda indices: [Called(update, tuple(indices)).into(found), copy.copy(add)]

    visited: Expr = count
    visit = [*sites.which(site, number), *sites.visit(site, number, list(map(updated, updates)))]
    if random:
        pick: Body = [Draw(site, "integers", (hir.ZEROS["i"], count)), *visit]
        visits: hir.Statement = If(Op("gt", (count, hir.ZEROS["i"]), "b"), pick, [])
        visited = Op("imin", (count, Const(1, "i")), "i")
    else:
        visits = hir.For(site, hir.ZEROS["i"], count, Const(1, "i"), visit, 2)
    made.body = [
        Primitive([], "begin"),
        *([] if skip_absent else all_there(absent)),
        *sites.list(count),
        Set([total], [hir.ZEROS["i"]]),
        visits,
        Return([hir.TRUE, UNTOLD, *(Op("float", (one,), "f") for one in (visited, total)), ZERO]),
    ]
    return made


def fill_along(along: Any, score: Called) -> None:
    """Make the bodies of the functions along the lines of a template."""
    if isinstance(along, AlongEntries):
        entries_along(along, score)
    else:
        log_weight_along(along.weight, score, along.template)
        move_along(along.move, score, along.template)


def log_weight_along(made: Function, score: Called, template: Any) -> None:
    """Make the body of a function that gives the log weight of a value of a choice; see `front.lines`."""
    lp, before, here = Var("lp", "f"), Var("lp_before", "f"), Var("here", "i")
    made.body = [
        *_with_value(made, template, made.parameters[template.rank :], here),
        score.into(lp),
        Primitive([], "release", (here,)),
        Primitive([], "exchange"),
        *_weighed(lp, before),
    ]


def scored_by(along: Any) -> Function | None:
    """What a function along the lines of a template scores the whole by; None where it is not called."""
    found = [one for one in along.weight.body if _is_score(one)]
    return found[0].function if len(found) == 1 and isinstance(found[0], hir.Call) else None


def score_parts(along: Any, part: Function, *, keeps: bool) -> None:
    """Let the log weight of another value be the difference of the parts of the log densities that have to
    do with the choice.

    Args:
        part: one of these, by the indices of the choice and the arguments of the whole.
        keeps: whether that of the current trace is found once in an update; see `begin_updates`.
    """
    body = along.weight.body
    (at,) = (at for at, one in enumerate(body) if _is_score(one))
    score = body[at]
    assert isinstance(score, hir.Call)
    before, args = Var("lp_before", "f"), [*along.weight.parameters[: along.template.rank], *score.args]
    kept = [
        one
        for one in body
        if not (isinstance(one, Primitive) and one.name in ("same_choices", "same_factors", "log_density"))
    ]
    kept[at] = hir.Call(list(score.targets), part, list(args), line=score.line)
    first, *rest = kept  # behind which all memory is let go of
    there: Body = [hir.Call([before], part, args)]
    if keeps:
        is_new = Op("isnan", (before,), "b")
        kept_part, keep = Primitive([before], "kept_part"), Primitive([], "keep_part", (before,))
        there = [kept_part, If(is_new, [*there, keep], [])]
    along.weight.body = [first, *there, *rest]


def begin_updates(updates: Iterable[Function]) -> None:
    """Let functions that update a choice forget what was kept of the one before."""
    for function in updates:
        function.body.insert(0, Primitive([], "keep_part", (Const(nan, "f"),)))


def narrow_ties(updates: Iterable[Function], others: Iterable[Function], lines: Iterable[Any]) -> None:
    """Let decisions of updates be ties only where they depend on the rounding of parts.

    Of all other terms of a log density, which are the same in all that are compared, that of their sum
    is left.

    Args:
        others: what decides by whole log densities, with functions that it may have in common with these.
        lines: the functions along the lines of templates, which have no decisions in them.
    """
    apart = {id(one) for along in lines for one in vars(along).values() if isinstance(one, Function)}
    apart |= {id(one) for other in others for one in hir.functions(other)}
    found = {id(one): one for update in updates for one in hir.functions(update) if id(one) not in apart}
    for function in found.values():
        for body in _bodies(function.body):
            for at, one in reversed(list(enumerate(body))):
                if isinstance(one, Primitive) and one.name == "log_density":
                    (lp,) = one.targets
                    body.insert(at + 1, Set([lp], [Op("mul", (Const(OF_A_SUM, "f"), lp), "f")]))


def _bodies(body: Body) -> list[Body]:
    return [body, *(inner for one in hir.walk(body) for inner in hir.bodies(one))]


def _is_score(one: hir.Statement) -> bool:
    return isinstance(one, hir.Call) and one.function.scores


def _weighed(lp: Var, before: Var) -> Body:
    """The end of a function that gives a log weight, of the log density there."""
    return [
        if_zero(lp, [Return([IMPOSSIBLE])]),
        Primitive([], "same_choices"),
        Primitive([], "same_factors"),
        Primitive([before], "log_density"),
        Return([Op("sub", (lp, before), "f")]),
    ]


def move_along(made: Function, score: Called, template: Any) -> None:
    """Make the body of a function that lets a choice have a value, whose log weight it is given.

    The log density there is found anew where the log weight is so large that the sum has lost digits.
    """
    *values, weight = made.parameters[template.rank :]
    lp, before, here = Var("lp", "f"), Var("lp_before", "f"), Var("here", "i")
    made.body = [*_with_value(made, template, values, here), *stay(lp, before, weight, score)]


def stay(lp: Var, before: Var, weight: Var, score: Called) -> Body:
    """The end of a function that moves along a line."""
    return [
        Primitive([before], "log_density"),
        Set([lp], [Op("add", (before, weight), "f")]),
        If(has_digits(lp, weight), [], [score.into(lp)]),
        Primitive([], "stay", (lp,)),
        Return([]),
    ]


def has_digits(lp: Expr, weight: Expr) -> Expr:
    """Whether a log density to which a log weight was added is a number, and has its digits still."""
    size = Op("add", (Const(1.0, "f"), Op("abs", (lp,), "f")), "f")
    return Op("lt", (Op("abs", (weight,), "f"), Op("mul", (Const(_MOST_TIMES, "f"), size), "f")), "b")


def entries_along(along: Any, score: Called) -> None:
    """Make the bodies of the functions that move the coordinates of an array; see `front.lines`.

    The array is changed in place, in a copy that the trace has meanwhile.
    """
    template, lp, before = along.template, Var("lp", "f"), Var("lp_before", "f")
    here, was = Var("here", "i"), Var("was", "f")
    indices = tuple(along.begin.parameters)
    value = [Var(f"value{leaf or ''}", kind) for leaf, kind in enumerate(leaves(template.type))]
    read = hir.Read(list(value), template, indices, False)

    def put(x: Expr) -> Body:
        """Put a number in the place."""
        body: Body = [hir.Store(value[0], ("f",), place, (x,))]
        return [*body, *_last(value)] if along.leaves_last else body

    copied: Body = [
        Primitive([here], "try_again"),
        copy.copy(read),
        hir.Write(template, indices, tuple(value)),
    ]
    along.begin.body = [*copied, Primitive([], "exchange"), Return([])]
    *_, place, x = along.weight.parameters
    along.weight.body = [
        Primitive([here], "try_again"),
        copy.copy(read),
        hir.Load([was], value[0], ("f",), place),
        *put(x),
        score.into(lp),
        Primitive([], "release", (here,)),
        *put(was),
        *_weighed(lp, before),
    ]
    *_, place, x, weight = along.move.parameters
    along.move.body = [
        Primitive([here], "try_again"),
        copy.copy(read),
        *put(x),
        *stay(lp, before, weight, score),
    ]
    along.end.body = [
        *map(copy.copy, copied),
        Primitive([], "keep_arrays"),
        Primitive([], "exchange"),
        Return([]),
    ]


def _last(value: Sequence[Var]) -> Body:
    """Let the last entry of a vector be what the others leave of one."""
    i, end, total, entry = Var("i", "i"), Var("last", "i"), Var("total", "f"), Var("entry", "f")
    add: Body = [
        hir.Load([entry], value[0], ("f",), i),
        Set([total], [Op("add", (total, entry), "f")]),
    ]
    return [
        Set([end, total], [Op("sub", (value[2], Const(1, "i")), "i"), ZERO]),
        hir.For(i, hir.ZEROS["i"], end, Const(1, "i"), add, 1),
        hir.Store(value[0], ("f",), end, (Op("sub", (Const(1.0, "f"), total), "f"),)),
    ]


def _with_value(made: Function, template: Any, values: Sequence[Var], here: Var) -> Body:
    """Give a choice another value for now."""
    return [
        Primitive([here], "try_again"),
        hir.Write(template, tuple(made.parameters[: template.rank]), tuple(values)),
        Primitive([], "exchange"),
    ]
