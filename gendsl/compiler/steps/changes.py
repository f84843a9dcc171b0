"""Steps that change one choice, and keep all others: only what has to do with it is scored.

    log p(x') = log p(x) + log p_i(x') - log p_i(x),

where p_i are the factors of p that the choice has to do with, its Markov blanket. A step that changes several
choices, or has others than the current trace, scores the whole. So does one where the density is zero, for
which choice is told then, or where the sum has lost digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from itertools import pairwise

from gendsl.compiler import hir
from gendsl.compiler.hir import Body, Call, Const, For, Function, If, Op, Primitive, Set, Statement, Var
from gendsl.compiler.hir.rewriting import cost_of
from gendsl.compiler.hir.templates import MODEL, Template
from gendsl.compiler.steps.updates import OF_A_SUM, has_digits

_TIMES = 64
"""How often a loop is taken to run, which is not known when a text is made."""
_SURELY = 8
"""How many times as much the whole costs at least, by what is known then, as a part that takes less time."""


class Changes:
    """Which choices of the model one of some programs changes, if it may be a single one: none in a loop.

    Args:
        mains: the programs.
        changed: of which template a statement changes a choice; None if it changes none.

    Attributes:
        templates: those of the choices, by their numbers.
        surely: the numbers of those of which it changes some each time.
        are_several: whether these are surely, or may well be, more than one.
    """

    def __init__(self, mains: Sequence[Function], changed: Callable[[Statement], Template | None]) -> None:
        self.templates: dict[int, Template] = {}
        self.are_several = False
        self._changed = changed
        self._around: set[int] = set()
        self._recursive: set[int] = set()
        every = [self._of(main.body, in_loop=False) for main in mains]
        self.surely = every[0].intersection(*every[1:])
        self.are_several |= len(self.surely) > 1

    def _of(self, body: Body, *, in_loop: bool) -> set[int]:
        found: set[int] = set()
        for one in body:
            template = self._changed(one)
            if template is not None:
                self.templates[template.number] = template
                self.are_several |= in_loop
                found.add(template.number)
            elif isinstance(one, If):
                found |= self._of(one.then, in_loop=in_loop) & self._of(one.orelse, in_loop=in_loop)
            elif isinstance(one, Call):
                found |= self._called(one.function, in_loop=in_loop)
            else:
                repeats = in_loop or isinstance(one, (For, hir.Loop))
                inner = [self._of(each, in_loop=repeats) for each in hir.bodies(one)]
                found = found.union(*inner) if isinstance(one, hir.Block) else found
        return found

    def _called(self, function: Function, *, in_loop: bool) -> set[int]:
        if id(function) in self._around:
            self._recursive.add(id(function))
            return set()
        self._around.add(id(function))
        found = self._of(function.body, in_loop=in_loop)
        self._around.discard(id(function))
        self.are_several |= id(function) in self._recursive and bool(self.templates)
        return found


def written(one: Statement) -> Template | None:
    """The template of the model of which a statement of a transform changes a choice."""
    is_change = isinstance(one, (hir.Write, hir.Copy)) and one.template.trace == MODEL
    return one.template if is_change else None  # type: ignore[attr-defined]


def scored_by(step: Function) -> Function | None:
    """The function that scores the proposed trace in a step; None where it is not found."""
    at = _place(step)
    score = None if at is None else step.body[at + 1]
    return score.function if isinstance(score, Call) else None


def _place(step: Function) -> int | None:
    """Where a step exchanges what was written, and scores the model then."""
    pairs = pairwise(step.body)
    return next((at for at, (one, two) in enumerate(pairs) if _is_exchange(one) and _is_score(two)), None)


def score_change(step: Function, parts: Mapping[int, tuple[Template, Function]]) -> None:
    """Let a step that changes one choice score what has to do with it.

    What it decides is a tie only where it depends on the rounding of that. Of all other terms of the log
    density that of their sum is left.

    Args:
        step: that of an involutive move, or of one that proposes: it exchanges what was written, and scores
            the model.
        parts: for templates what scores that, as `passes.blankets` makes it.
    """
    body, at = step.body, _place(step)
    assert at is not None
    exchange, score = body[at : at + 2]
    assert isinstance(score, Call)
    (lp,), line = score.targets, score.line
    which, place = Var("changed", "i"), Var("place", "i")
    here, before, after, others = (Var(x, "f") for x in ("lp_here", "part_before", "part_after", "others"))
    terms, parts_of_it = (Op("add", (_size(a), _size(b)), "f") for a, b in ((lp, here), (before, after)))
    rest = Op("sub", (Op("mul", (Const(1.0 - OF_A_SUM, "f"), terms), "f"), parts_of_it), "f")
    is_whole, change = Var("is_whole", "b"), Op("sub", (after, before), "f")
    scored: Body = [exchange]
    for number, (template, part) in reversed(list(enumerate(parts.values()))):
        indices = [Var(f"at{axis}", "i") for axis in range(template.rank)]
        args = [*indices, *score.args]
        found: Body = [Primitive(list(indices), "changed_indices", (place,), (template,))] if indices else []
        own: Body = [
            *found,
            Call([before], part, list(args), line=line),
            copy(exchange),
            Call([after], part, list(args), line=line),
            Set([lp], [Op("add", (here, change), "f")]),
            Set([is_whole], [Op("not", (has_digits(lp, change),), "b")]),
        ]
        scored = [If(Op("eq", (which, Const(number, "i")), "b"), own, scored)]
    body[at : at + 2] = [
        Primitive([which, place], "only_change", (), tuple(template for template, _ in parts.values())),
        Primitive([here], "log_density"),
        Set([is_whole, others], [hir.TRUE, Const(0.0, "f")]),
        *scored,
        If(is_whole, [score], [Primitive([], "keep_choices"), Set([others], [rest])]),
    ]
    for one in hir.walk(body):
        if isinstance(one, Primitive) and one.name == "decide":
            ratio, scale, uniform = one.args
            one.args = ratio, Op("sub", (scale, others), "f"), uniform


def is_worth_it(part: Function, whole: Function) -> bool:
    """Whether a part takes so much less time than the whole that scoring it twice is surely faster."""
    return _SURELY * _cost(part, {}) < _cost(whole, {})


def _cost(function: Function, known: dict[int, int]) -> int:
    """About what a function costs, where all loops run as often."""

    def of(body: Body) -> int:
        total = 0
        for one in body:
            inner = sum(map(of, hir.bodies(one)))
            total += 1 + sum(map(cost_of, hir.expressions(one)))
            total += _TIMES * inner if isinstance(one, (For, hir.Loop)) else inner
            total += _cost(one.function, known) if isinstance(one, Call) else 0
        return total

    if id(function) not in known:
        known[id(function)] = of(function.body)
    return known[id(function)]


def _size(x: Var) -> Op:
    return Op("abs", (x,), "f")


def _is_exchange(one: Statement) -> bool:
    return isinstance(one, Primitive) and one.name == "exchange"


def _is_score(one: Statement) -> bool:
    return isinstance(one, Call) and one.function.scores
