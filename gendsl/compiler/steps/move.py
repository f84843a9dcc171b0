"""The steps of kernels as functions of a text, made of those of a model, an auxiliary program and a map.

An involutive move from the trace x: draw y ~ q_x, map (x', y') = f(x, y), accept x' with probability
min(1, alpha),

    log alpha = log p(x') - log p(x) + log q_x'(y') - log q_x(y) + log |det J_f(x, y)|.

A move that is picked with probability w_i(x) is, where it leads to x', accepted with probability
min(1, w_i(x') / w_i(x)).

What the operations of the state do is said in `gendsl.compiler.python.state`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    IMPOSSIBLE,
    Body,
    Call,
    Const,
    Draw,
    Expr,
    Function,
    If,
    Kind,
    Op,
    Primitive,
    Return,
    Set,
    Var,
)
from gendsl.compiler.hir.slopes import Slopes
from gendsl.compiler.steps.step_parts import Auxiliary, Called, Power

ZERO, HALF = Const(0.0, "f"), Const(0.5, "f")


RESULTS: tuple[tuple[str, Kind], ...] = (
    ("accepted", "b"), ("log_ratio", "f"), ("log_model", "f"), ("log_aux", "f"), ("log_det", "f"),
)  # fmt: skip
"""What a step returns."""
CHOSEN: tuple[str, Kind] = ("chosen", "i")
"""What a step of a move that is picked returns besides."""
UNTOLD = Const(math.inf, "f")
"""The log acceptance ratio that a step of several moves returns, as it has none."""


def _op(name: str, *args: Expr, kind: Kind = "f") -> Op:
    return Op(name, args, kind)


REJECTED: tuple[Expr, ...] = (hir.FALSE, IMPOSSIBLE, ZERO, ZERO, ZERO)
"""What a step returns that leads to where the density is zero."""


def _rejected(uniform: Var) -> Body:
    """The end of a step that has found that the density is zero where it leads to."""
    return [Primitive([], "exchange"), Draw(uniform, "random", ()), Return(list(REJECTED))]


def _decided(
    lp: Var, log_det: Expr, log_q: Var | None, log_q_back: Var | None, power: Power | None = None
) -> Body:
    """The end of a step: the log acceptance ratio, the decision, and what follows from it."""
    accepted, ratio, log_model, log_aux, _ = (Var(*result) for result in RESULTS)
    before, uniform = Var("lp_before", "f"), Var("uniform", "f")
    difference: Expr = ZERO
    scale: Expr = _op("add", _op("abs", lp), _op("abs", before))
    if log_q is not None and log_q_back is not None:
        difference = _op("sub", log_q_back, log_q)
        scale = _op("add", scale, _op("add", _op("abs", log_q), _op("abs", log_q_back)))
    total, model = _op("add", log_model, log_aux), _op("sub", lp, before)
    if power is not None:
        model, scale = _op("add", model, power.term), _op("add", scale, power.size)
    if log_det is not ZERO:
        total, scale = _op("add", total, log_det), _op("add", scale, _op("abs", log_det))
    return [
        Primitive([before], "log_density"),
        Set([log_model], [model]),
        Set([log_aux], [difference]),
        Set([ratio], [total]),
        Draw(uniform, "random", ()),
        Primitive([accepted], "decide", (ratio, scale, uniform)),
        If(accepted, [Primitive([], "commit", (lp,))], []),
        Return([accepted, ratio, log_model, log_aux, log_det]),
    ]


def _is_zero(lp: Var) -> Op:
    return _op("eq", lp, IMPOSSIBLE, kind="b")


def proposal(
    name: str,
    score: Called,
    auxiliary: Auxiliary,
    propose: Body,
    give_back: Body,
    power: Power | None = None,
) -> Function:
    """The step of a move that proposes what a program draws, at the addresses at which it draws it.

        log alpha = log p(x') - log p(x) + log q(x | x') - log q(x' | x)

    Args:
        score: the log density of the model.
        auxiliary: the program.
        propose: copies what was drawn to the proposed trace.
        give_back: lets the auxiliary choices be those that would lead back.
        power: that of the likelihood, if it is not 1.
    """
    made = Function(name, results=[kind for _, kind in RESULTS], origin=f"a step of {name}")
    lp, uniform = Var("lp", "f"), Var("uniform", "f")
    log_q, log_q_back = Var("log_q", "f"), Var("log_q_back", "f")
    made.body = [
        *([] if power is None else power.here),
        Primitive([], "begin"),
        auxiliary.draw.into(log_q),
        Primitive([], "drawn"),
        *propose,
        Primitive([], "exchange"),
        score.into(lp),
        If(_is_zero(lp), _rejected(uniform), []),
        Primitive([], "exchange"),
        Primitive([], "forget_drawn"),
        *give_back,
        Primitive([], "exchange"),
        Primitive([], "turn"),
        auxiliary.score.into(log_q_back),
        *([] if power is None else power.there),
        Primitive([], "turn_back"),
        If(_is_zero(log_q_back), _rejected(uniform), []),
        Primitive([], "exchange"),
        Primitive([], "settle"),
        *_decided(lp, ZERO, log_q, log_q_back, power),
    ]
    return made


def in_turn(called: Called, turns: int, *more: Expr) -> Body:
    """Call a function once for each turn, of which it is told, and of what else is given, in the end."""
    if turns == 1:
        return [Called(called.function, (*called.args, hir.ZEROS["i"], *more)).into()]
    turn = Var("turn", "i")
    body: Body = [Called(called.function, (*called.args, turn, *more)).into()]
    return [hir.For(turn, hir.ZEROS["i"], Const(turns, "i"), Const(1, "i"), body, 1)]


@dataclass(frozen=True)
class Sites:
    """Choices that are selected.

    Attributes:
        listed: lists those that come in a turn, which is its last argument, in the order of the program.
        turns: how many turns there are.
        templates: the templates that they may be of.
    """

    listed: Called
    turns: int
    templates: tuple[Any, ...]

    def list(self, count: Var) -> Body:
        """List them all; how many there are in the list."""
        return [*in_turn(self.listed, self.turns), Primitive([count], "sites")]

    def which(self, site: Expr, number: Var) -> Body:
        """The number of the template of one of the list."""
        if len(self.templates) < 2:
            return [Set([number], [hir.ZEROS["i"]])]
        return [Primitive([number], "site_template", (site,), self.templates)]

    def visit(self, site: Expr, number: Var, each: Sequence[Callable[[Sequence[Var]], Body]]) -> Body:
        """Do something with one of the list, for each template, of its indices."""
        bodies: list[Body] = []
        for template, make in zip(self.templates, each, strict=True):
            indices = [Var(f"at{axis}", "i") for axis in range(template.rank)]
            found: Body = [Primitive(indices, "site_indices", (site,), (template,))] if indices else []
            bodies.append([*found, *make(indices)])
        tests = [_op("eq", number, Const(place, "i"), kind="b") for place in range(len(bodies) - 1)]
        return _one_of(tests, bodies) if bodies else []


def resampling(
    name: str,
    draw: Called,
    let_go: Called,
    absent: Sequence[tuple[Body, Expr]],
    *,
    skip_absent: bool,
    sites: Sites | None = None,
    power: Power | None = None,
) -> Function:
    """The step of a move that draws selected choices anew from the prior.

        log alpha = log p(u | t') - log p(u | t), with u the choices that are kept

    Args:
        draw: the program that draws them, with the log densities of all choices and of those that are kept.
        let_go: the log density of the choices of the current trace that are not kept.
        absent: for each address that is named, what finds out whether the trace has it, and whether it has.
        skip_absent: whether those that it hasn't are left out.
        sites: what is selected, where one of these is picked that is drawn. It is the last arguments of
            `draw`, as the number of its template and its indices, and log n - log n' is added, with n of them
            before and n' after.
        power: that of the likelihood, if it is not 1.
    """
    made = Function(name, results=[kind for _, kind in RESULTS], origin=f"a step of {name}")
    lp, kept, before, gone = (Var(one, "f") for one in ("lp", "lp_kept", "lp_before", "lp_let_go"))
    accepted, ratio, uniform = Var("accepted", "b"), Var("log_ratio", "f"), Var("uniform", "f")
    log_model, log_aux = Var("log_model", "f"), Var("log_aux", "f")
    count, both = Var("count", "i"), Var("count_of_both", "i")
    body = made.body
    body += [*([] if power is None else power.here), Primitive([], "begin")]
    some: Expr = hir.FALSE
    if not skip_absent:
        body += all_there(absent)
    elif sites is None:
        for finding, found in absent:
            body += finding
            some = found if some is hir.FALSE else _op("or", some, found, kind="b")
    nothing: Body = [Primitive([], "nothing_selected"), Return(list(REJECTED))]
    if sites is not None:
        body += sites.list(count)
        some = _op("gt", count, hir.ZEROS["i"], kind="b")
    if skip_absent or sites is not None:
        body.append(If(_op("not", some, kind="b"), nothing, []))
    if sites is not None:
        draw = _picked_site(sites, count, draw, body)
    scale: Expr = _op("add", _op("abs", lp), _op("add", _op("abs", before), _op("abs", kept)))
    body += [
        draw.into(lp, kept),
        If(_is_zero(lp), [Draw(uniform, "random", ()), Return(list(REJECTED))], []),
        let_go.into(gone),
        Primitive([], "keep_observed"),
        Primitive([before], "log_density"),
        Set([log_model], [_op("sub", kept, _op("sub", before, gone))]),
    ]
    if power is not None:
        scale = _op("add", scale, power.size)
        body += [
            *_in_proposed(power.there),
            Set([log_model], [_op("add", log_model, power.term)]),
        ]
    if sites is None:
        body.append(Set([log_aux, ratio], [ZERO, log_model]))
    else:
        after = _op("float", _op("sub", both, count, kind="i"))
        share = _op("log", _op("truediv", _op("float", count), after))
        body += [
            *_in_proposed(sites.list(both)),
            Set([log_aux], [share]),
            Set([ratio], [_op("add", log_model, log_aux)]),
        ]
    body += [
        Draw(uniform, "random", ()),
        Primitive([accepted], "decide", (ratio, scale, uniform)),
        If(accepted, [Primitive([], "commit", (lp,))], []),
        Return([accepted, ratio, log_model, log_aux, ZERO]),
    ]
    return made


def _in_proposed(body: Body) -> Body:
    """Do something in the proposed trace, as if it were the current one."""
    there, back = (Primitive([], "exchange"), Primitive([], "turn")), ("turn_back", "exchange")
    return [*there, *body, *(Primitive([], name) for name in back)]


def _picked_site(sites: Sites, count: Var, draw: Called, body: Body) -> Called:
    """Pick one of a list; `draw` with what it is."""
    picked, site, number = Var("picked", "f"), Var("site", "i"), Var("number", "i")
    width = max((template.rank for template in sites.templates), default=0)
    at = [Var(f"site_at{axis}", "i") for axis in range(width)]

    def kept(indices: Sequence[Var]) -> Body:
        zeros = [hir.ZEROS["i"]] * (width - len(indices))
        return [Set(list(at), [*indices, *zeros])] if at else []

    body += [
        Draw(picked, "random", ()),
        Set([site], [_op("int_trunc", _op("mul", _op("float", count), picked), kind="i")]),
        *sites.which(site, number),
        *sites.visit(site, number, [kept] * len(sites.templates)),
    ]
    return Called(draw.function, (*draw.args, number, *at))


def all_there(absent: Sequence[tuple[Body, Expr]]) -> Body:
    """Fail where the trace doesn't have an address that is named."""
    body: Body = []
    for finding, found in absent:
        fails = hir.Fail("a selected address that the trace doesn't have")
        body += [*finding, If(_op("not", found, kind="b"), [fails], [])]
    return body


def several(name: str, steps: Sequence[Function], times: int, bounds: Sequence[float] | None) -> Function:
    """The step of several moves: all, so many times; or the one that a uniform number picks among bounds."""
    made = Function(name, results=[kind for _, kind in RESULTS], origin=f"a step of {name}")
    accepted, moved, uniform = Var("accepted", "b"), Var("moved", "b"), Var("uniform", "f")
    each: list[Body] = [
        [Called(step).into(moved), Set([accepted], [_op("or", accepted, moved, kind="b")])] for step in steps
    ]
    made.body = [Set([accepted], [hir.FALSE])]
    if bounds is None:
        inside = [statement for body in each for statement in body]
        loop = hir.For(Var("time", "i"), hir.ZEROS["i"], Const(times, "i"), Const(1, "i"), inside, 1)
        made.body += inside if times == 1 else [loop]
    else:
        tests = [_op("lt", uniform, Const(bound, "f"), kind="b") for bound in bounds]
        made.body += [Draw(uniform, "random", ()), *_one_of(tests, each)]
    made.body.append(Return([accepted, UNTOLD, ZERO, ZERO, ZERO]))
    return made


def _one_of(tests: Sequence[Expr], bodies: Sequence[Body]) -> Body:
    """The first body whose test holds, or the last one, which has none."""
    *others, found = bodies
    for test, body in zip(reversed(tests), reversed(others), strict=True):
        found = [If(test, body, found)]
    return found


def picked(
    name: str, pick: Function, log_share: Function, steps: Sequence[Function], are_several: Sequence[bool]
) -> Function:
    """The step of a move that is picked with probabilities that depend on the state.

    Args:
        pick: which of them a uniform number picks, and the logarithm of that one's probability.
        log_share: that logarithm, for the current trace.
        steps: the steps of the moves.
        are_several: for each whether it is made of several, which together are gone back from.
    """
    made = Function(name, results=[kind for _, kind in (*RESULTS, CHOSEN)], origin=f"a step of {name}")
    accepted, ratio, log_model, log_aux, log_det = results = [Var(*result) for result in RESULTS]
    chosen, uniform, before = Var(*CHOSEN), Var("uniform", "f"), Var("before", "r")
    share, after = Var("log_share", "f"), Var("log_share_after", "f")
    tests = [_op("eq", chosen, Const(number, "i"), kind="b") for number in range(len(steps) - 1)]
    each: list[Body] = [[Called(step).into(*results)] for step in steps]
    back: list[Body] = [[Primitive([], "take_back")] for _ in steps]
    end: list[Body] = [[] for _ in steps]
    for number, is_several in enumerate(are_several):
        if is_several:
            each[number].insert(0, Primitive([before], "save"))
            back[number] = [Primitive([], "go_back", (before,))]
            end[number] = [Primitive([], "give_up", (before,))]
    never = If(_is_zero(ratio), [Primitive([], "never_picked")], [])
    moved: Body = [
        Call([after], log_share, [chosen]),
        Set([ratio], [_op("sub", after, share)]),
        Set([log_model, log_aux, log_det], [ZERO, ratio, ZERO]),
        Draw(uniform, "random", ()),
        Primitive([accepted], "decide", (ratio, _op("add", _op("abs", share), _op("abs", after)), uniform)),
        If(accepted, [], [*(_one_of(tests, back) if any(are_several) else back[0]), never]),
    ]
    made.body = [
        Primitive([], "begin"),
        Draw(uniform, "random", ()),
        Call([chosen, share], pick, [uniform]),
        *_one_of(tests, each),
        If(accepted, moved, []),
        *(_one_of(tests, end) if any(are_several) else []),
        Return([*results, chosen]),
    ]
    return made


def involutive(
    name: str,
    score: Called,
    auxiliary: Auxiliary | None,
    maps: Sequence[Called],
    slopes: Slopes,
    *,
    check: bool,
    whole: Sequence[Called] = (),
) -> Function:
    """The step of an involutive move.

    Args:
        score: the log density of the model.
        auxiliary: the auxiliary program, if there is one.
        maps: the transform, with tangents; or two, inverse to each other, of which a step takes either. One
            that returns a number has taken pivots out of the Jacobian, and that is the sum of their logs.
        check: whether to go back by the transform, or its inverse, and find out that all is as it was. Then
            the densities must not end where they are zero, for what follows is needed to go back.
        whole: the same maps without pivots, which say how far rounding may go, for a checked move.
    """
    made = Function(name, results=[kind for _, kind in RESULTS], origin=f"a step of {name}")
    lp, uniform = Var("lp", "f"), Var("uniform", "f")
    log_q, log_q_back = Var("log_q", "f"), Var("log_q_back", "f")
    log_det, log_det_back = Var("log_det", "f"), Var("log_det_back", "f")
    numbers, columns = Var("numbers", "r"), Var("columns", "r")
    coordinates, sizes = Var("coordinates", "r"), Var("sizes", "r")
    first, is_far, log_pivots = Var("first", "b"), Var("is_far", "b"), Var("log_pivots", "f")
    has_pivots = any(one.function.results for one in maps)

    def applied(one: Called) -> Body:
        if one.function.results or not has_pivots:
            return [one.into(*[log_pivots] * has_pivots)]
        return [one.into(), Set([log_pivots], [ZERO])]

    def either(of: Sequence[Called]) -> Body:
        calls = [applied(one) for one in of]
        return calls[0] if len(calls) == 1 else [If(first, calls[0], calls[1])]

    def determinant(into: Var) -> Body:
        body: Body = [
            Primitive([numbers], "rows"),
            Primitive([columns], "columns_written"),
            Call([into], slopes.log_abs_det, [columns, numbers]),
        ]
        if has_pivots:
            known = _op("gt", log_pivots, IMPOSSIBLE, kind="b")
            body += [
                If(_op("not", known, kind="b"), [hir.Fail("a determinant of zero")], []),
                Set([into], [_op("add", into, log_pivots)]),
            ]
        return body

    body = made.body
    body.append(Primitive([], "begin"))
    if auxiliary is not None:
        body += [auxiliary.draw.into(log_q), Primitive([], "drawn")]
    if len(maps) > 1:
        draw = Draw(uniform, "random", ())
        body += [draw, Set([first], [_op("lt", uniform, HALF, kind="b")])]
    body += [*either(maps), Primitive([], "exchange"), score.into(lp)]
    if not check:
        body.append(If(_is_zero(lp), _rejected(uniform), []))
    if auxiliary is not None:
        body += [Primitive([], "turn"), auxiliary.score.into(log_q_back), Primitive([], "turn_back")]
        if not check:
            body.append(If(_is_zero(log_q_back), _rejected(uniform), []))
    body += [Primitive([], "exchange"), *determinant(log_det)]
    if check:
        again: Body = [one.into() for one in whole[::-1]]
        bounded: Body = [
            Primitive([], "go_there"),
            *(again if len(again) == 1 else [If(first, again[:1], again[1:])]),
            Primitive([numbers], "rows"),
            Primitive([columns], "columns_written"),
            Primitive([coordinates], "coordinates"),
            Call([sizes], slopes.sizes, [columns, numbers, coordinates]),
            Primitive([], "note_rounding", (sizes,)),
            Primitive([], "return_here"),
        ]
        body += [
            Primitive([], "go_there"),
            *either(maps[::-1]),
            *determinant(log_det_back),
            Primitive([], "return_here"),
            Primitive([is_far], "is_far"),
            If(is_far, bounded, []),
            Primitive([], "came_back", (log_det, log_det_back)),
        ]
        zero = _is_zero(lp)
        if auxiliary is not None:
            zero = _op("or", zero, _is_zero(log_q_back), kind="b")
        body.append(If(zero, [Draw(uniform, "random", ()), Return(list(REJECTED))], []))
    terms = (None, None) if auxiliary is None else (log_q, log_q_back)
    body += _decided(lp, log_det, *terms)
    return made
