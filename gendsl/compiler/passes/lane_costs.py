"""About what a loop costs in lanes, and iteration by iteration: whether lanes are worth it.

The numbers are nanoseconds an iteration, measured on one machine with AVX2; the sign of their sum counts.
Of a divergent branch about half of the lanes take each side, while all wait, unless one side surely is rare:
a side that no lane takes is skipped. Of a divergent loop the lane that goes on for the longest decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    FALSE,
    TRUE,
    Append,
    Body,
    Call,
    Const,
    Expr,
    Fail,
    Fill,
    For,
    If,
    Load,
    Loop,
    Op,
    Return,
    Set,
    Store,
    Visit,
)
from gendsl.compiler.hir.machine import LANES, math_symbol
from gendsl.compiler.passes.axes_facts import CONSECUTIVE, VARYING, WIDE, Lanes

_FUNCTIONS = {
    "exp": (4.2, 0.7), "log": (4.0, 0.8), "log1p": (6.5, 1.1), "sin": (9.0, 1.3), "cos": (9.0, 1.3),
    "sqrt": (1.5, 0.7), "lgamma": (15.0, 2.5), "gendsl_special_gammaln": (20.0, 2.5),
    "gendsl_special_expit": (7.0, 1.2),
}  # fmt: skip
"""What a function costs, as it is and in lanes."""
_OTHER = (0.0, 0.3)
"""What any other function costs more, as it is called lane by lane."""
_DIVISION, _ARITHMETIC = (1.2, 0.6), (0.3, 0.1)
_LANE_BY_LANE = frozenset([
    "floordiv", "mod", "ipow", "lshift", "rshift", "bits", "mix", "range_length", "np_mod", "np_floordiv",
    "int_trunc", "int_floor", "int_ceil", "int_round", "np_floor", "np_ceil", "np_rint",
])  # fmt: skip
_GATHERED, _LOADED, _STORED, _SCATTERED = (0.4, 0.8), (0.4, 0.1), (0.6, 0.3), (0.4, 1.2)
_OWN, _LOOKED_AT = (0.6, 0.7), (0.0, 1.2)
_VISITED, _VISITED_APART, _BRANCH = (1.5, 0.5), (1.5, 2.5), (0.2, 0.6)
_INNER, _SOUGHT = 3.0, 2.0
"""How often an inner loop runs, and one that has no range: most are those that look for a key of a dict."""
_LARGE, _RARE = 1e4, 0.02
"""A number that is compared with so large a constant is beyond it so often."""
_UNEVEN = 1.7
"""How much more often one runs that goes on until no lane does."""


def saved(lanes: Lanes, body: Body) -> float:
    """What lanes save of each iteration."""
    return _Saved(lanes).of(body, 1.0, 1.0)


class _Saved:
    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.likely: dict[Expr, float] = {TRUE: 1.0, FALSE: 0.0}
        """How often a truth value is true."""

    def of(self, body: Body, share: float, times: float) -> float:
        """What lanes save of a body.

        Args:
            share: how often an iteration comes to it.
            times: how often a block of lanes does.
        """
        total = 0.0

        def add(cost: tuple[float, float]) -> None:
            nonlocal total
            total += cost[0] * share - cost[1] * times

        rank = self.lanes.rank
        for one in body:
            for expr in hir.expressions(one):
                self._expression(expr, add)
            inner = share, times
            match one:
                case Load(list=ref, index=index, targets=targets):
                    if rank(ref) == VARYING:
                        cost = _OWN
                    elif rank(ref) == WIDE:
                        cost = _GATHERED if rank(index) else _STORED
                    else:
                        is_near = self.lanes.is_affine(index) and len(targets) == 1
                        cost = _LOADED if is_near else _GATHERED
                    if rank(ref) or rank(index):
                        add(cost)
                        for _ in filter(lambda var: var.kind == "r", targets):
                            add(_LOOKED_AT)
                case Store(list=ref) if ref in self.lanes.stored:
                    add(_STORED)
                case Store(keeps=True):
                    add(_SCATTERED)
                case Store(list=ref, index=index) if rank(ref) == WIDE:
                    add(_SCATTERED if rank(index) else _STORED)
                case Append(list=ref, item=item) if rank(ref) == WIDE or ref in self.lanes.collected:
                    for _ in item:
                        add(_STORED)
                case Fill(target=target) if rank(target) == WIDE:
                    add(_STORED)
                case Visit():
                    add(_VISITED_APART if self.lanes.apart[id(one)] else _VISITED)
                case If(test=test, then=then, orelse=orelse) if id(one) in self.lanes.divergent:
                    add(_BRANCH)
                    taken = self._taken(test, then, orelse)
                    for side, part in ((then, taken), (orelse, 1.0 - taken)):
                        total += self.of(side, share * part, times * (1.0 - (1.0 - part) ** LANES))
                    self._note(taken, then, orelse)
                    continue
                case For() | Loop():
                    often = _INNER if isinstance(one, For) else _SOUGHT
                    uneven = _UNEVEN if id(one) in self.lanes.divergent else 1.0
                    inner = share * often, times * often * uneven
                case Call() if self.lanes.called[id(one)] is not None:
                    found = self.lanes.called[id(one)]
                    assert found is not None
                    total += _Saved(found[2]).of(found[0].body, share, times)
            for within in hir.bodies(one):
                total += self.of(within, *inner)
        return total

    def _taken(self, test: Expr, then: Body, orelse: Body) -> float:
        """How often a branch is taken."""
        if any(isinstance(one, Store) and one.keeps for one in hir.walk(then)):
            return _RARE  # as what is kept is looked up by most
        if _is_given_up(then) != _is_given_up(orelse):
            return 0.0 if _is_given_up(then) else 1.0
        return self._likely(test)

    def _likely(self, test: Expr) -> float:
        """How often a test holds, as far as that can be guessed."""
        if isinstance(test, Op) and test.name in ("gt", "ge", "lt", "le"):
            low, high = test.args if test.name[0] == "l" else reversed(test.args)
            for sign, least, most in ((1.0, low, high), (-1.0, high, low)):
                if isinstance(least, Const) and sign * float(least.value or 0) >= _LARGE:
                    return _RARE
                if isinstance(most, Const) and sign * float(most.value or 0) >= _LARGE:
                    return 1.0 - _RARE
        return self.likely.get(test, 0.5)

    def _note(self, taken: float, then: Body, orelse: Body) -> None:
        """Note how often a variable is true that both sides of a branch set."""
        match then, orelse:
            case [[*_, Set([one], [x])], [*_, Set([other], [y])]] if one == other and one.kind == "b":
                self.likely[one] = taken * self._likely(x) + (1.0 - taken) * self._likely(y)

    def _expression(self, expr: Expr, add: Callable[[tuple[float, float]], None]) -> None:
        if not isinstance(expr, Op) or self.lanes.rank(expr) in (0, CONSECUTIVE):
            return
        for arg in expr.args:
            self._expression(arg, add)
        symbol = math_symbol(expr.name)
        if symbol is not None:
            add(_FUNCTIONS.get(symbol, _OTHER))
        elif expr.name in ("truediv", "np_div"):
            add(_DIVISION)
        else:
            add(_OTHER if expr.name in _LANE_BY_LANE else _ARITHMETIC)


def _is_given_up(body: Body) -> bool:
    """Whether what is scored has no density, or an error, there."""
    match body:
        case [*_, Fail()]:
            return True
        case [*_, Set(values=[Const(value=value)]) | Return(values=[Const(value=value)])]:
            return value == -math.inf
    return False
