"""Steps that change one choice, and keep all others: only what has to do with it is scored.

    log p(x') = log p(x) + log p_i(x') - log p_i(x),

where p_i are the factors of p that the choice has to do with, its Markov blanket. A step that changes several
choices, or has others than the current trace, scores the whole. So does one where the density is zero, for
which choice is told then, or where the sum has lost digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from itertools import pairwise

from gendsl.compiler import hir
from gendsl.compiler.hir import Body, Call, Const, For, Function, If, Op, Primitive, Set, Statement, Var
from gendsl.compiler.hir.rewriting import cost_of, variables_of
from gendsl.compiler.hir.templates import MODEL, Template
from gendsl.compiler.hir.text_effects import read_by
from gendsl.compiler.steps.updates import OF_A_SUM, has_digits

_TIMES, _UNTIL = 64, 4
"""How often a loop over a range is taken to run, which is not known when a text is made; and one that runs
until something is found, as those over the iterations that an index has for a choice."""
_OF_A_TRACE = (hir.Read, hir.Visit, hir.Node, Primitive, hir.Fail, hir.Return)
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
    costs, rank = _Costs(), len(part.parameters) - len(whole.parameters)
    of_part = costs.of_function(part, part.parameters[rank:])
    return _SURELY * of_part < costs.of_function(whole, whole.parameters)


class _Costs:
    """About what functions cost in each step, where all loops of which nothing is known run as often.

    What does not depend on choices is computed once in a run.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, frozenset[Var]], int] = {}

    def of_function(self, function: Function, same: Iterable[Var]) -> int:
        """What a function costs, some of whose parameters are the same in all steps."""
        key = id(function), frozenset(same)
        if key not in self._known:
            self._known[key] = self._of(function.body, set(key[1]))
        return self._known[key]

    def _of(self, body: Body, same: set[Var]) -> int:
        """What statements cost; `same` has more variables then."""
        total = 0
        for one in body:
            inside = list(hir.walk([one]))
            targets = {var for each in inside for var in hir.targets(each)}
            needed = {var for each in inside for var in read_by(each)} - targets
            if needed <= same and not any(isinstance(each, _OF_A_TRACE) for each in inside):
                same |= targets
                continue
            same -= targets
            total += 1 + sum(map(cost_of, hir.expressions(one)))
            total += _times(one) * sum(self._of(each, same) for each in hir.bodies(one))
            if isinstance(one, Call) and not one.function.repeats:  # such are made once in a run
                pairs = zip(one.function.parameters, one.args, strict=True)
                total += self.of_function(one.function, [x for x, arg in pairs if variables_of(arg) <= same])
        return total


def _times(one: Statement) -> int:
    """How often the bodies of a statement are taken to run."""
    match one:
        case For(start=Const(int(start)), stop=Const(int(stop)), step=Const(int(step))):
            return len(range(start, stop, step))
        case For():
            return _TIMES
        case hir.Loop():
            return _UNTIL
    return 1


def _size(x: Var) -> Op:
    return Op("abs", (x,), "f")


def _is_exchange(one: Statement) -> bool:
    return isinstance(one, Primitive) and one.name == "exchange"


def _is_score(one: Statement) -> bool:
    return isinstance(one, Call) and one.function.scores
