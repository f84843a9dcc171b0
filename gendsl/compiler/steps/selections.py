"""Selections of choices by what their addresses begin with, in a text."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gendsl.compiler import hir
from gendsl.compiler.front.program import Lowering
from gendsl.compiler.hir import Body, Const, Expr, Var
from gendsl.compiler.hir.addresses import unnested
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.joined import parsed
from gendsl.compiler.hir.key_paths import has_path
from gendsl.compiler.hir.meetings import Meeting
from gendsl.compiler.hir.templates import MODEL, Lowered, Template
from gendsl.compiler.hir.types import Joined, Nested, PathPart, index_count
from gendsl.compiler.moves import Wanted
from gendsl.compiler.steps.conditions import both, either, negation, one_of
from gendsl.compiler.steps.step_parts import Called
from gendsl.selection import Formula

Pattern = tuple[Any, ...]


class Range(NamedTuple):
    """Stands in a pattern for all integers from one to another."""

    first: int
    last: int


LEAST_TURNS = 16
"""By more turns than this a kernel goes by runs of patterns."""
LEAST_RUN = 4
"""So many patterns that differ by an integer alone, one behind the other, become one with a range of them."""
_OTHER = -1
"""How many parts of a pattern an address has that does not begin as the pattern does."""


def _wanted(part: Any, given: Any) -> Sequence[Any] | None:
    """What the indices of a part of a template must be, ... for any, where a pattern has something in its
    place; None if the part is never that.
    """
    if part == PathPart(True) or (part == PathPart(False) and isinstance(given, Nested)):
        raise NotClosed("a selection by items of a tuple whose length is not known")
    if given is ...:
        return [...] * index_count(part)
    if isinstance(part, Joined):
        return parsed(part, given) if type(given) is str else None
    if isinstance(given, Range):
        return [given] if part is None else None
    if part is None or part is ...:
        return [given] if type(given) is (int if part is None else str) else None
    return [] if part == given else None


class Selection:
    """The choices of the model whose addresses begin with a pattern; `...` stands for any component."""

    def __init__(self, lowered: Lowered | Lowering, pattern: Pattern) -> None:
        self.text, self.pattern = lowered.facts.text_number, unnested(pattern)
        if not all(part is ... or type(part) in (int, str, Nested, Range) for part in self.pattern):
            raise NotClosed(f"a selection of {pattern!r}")
        every = lowered.templates.values() if isinstance(lowered, Lowering) else lowered.templates
        self.templates = [one for one in every if one.trace == MODEL]
        self.matched = self._matched_below()

    def _matched_below(self) -> dict[object, set[int]]:
        """How many parts of the pattern the addresses of calls begin with, by the program that is called."""
        found: dict[object, set[int]] = {None: {0}}
        more = True
        while more:
            more = False
            for call in self.templates:
                if not call.has_nodes:
                    continue
                known = found.setdefault(call.calls, set())
                new = {
                    count for before in found.get(call.context, ()) for count in self._after(before, call.own)
                }
                more = more or not new <= known
                known |= new
        return found

    def _after(self, before: int, own: Pattern) -> set[int]:
        """How many parts an address may begin with, if what is before these parts begins with some."""
        if before in (_OTHER, len(self.pattern)):
            return {before}
        open_ = False
        for part, given in zip(own, self.pattern[before:], strict=False):
            wanted = _wanted(part, given)
            if wanted is None:
                return {_OTHER}
            open_ = open_ or any(one is not ... for one in wanted)
        after = min(before + len(own), len(self.pattern))
        return {after, _OTHER} if open_ else {after}

    @property
    def length(self) -> int:
        """For how many addresses the pattern stands that differ by an integer alone."""
        return next((one.last - one.first + 1 for one in self.pattern if isinstance(one, Range)), 1)

    def number_of(self, template: Template, indices: tuple[Expr, ...], first: int) -> Expr:
        """The number of the one of these addresses with which that of a choice begins, from a first number.

        Raises:
            NotClosed: the integer is in the address of a call.
        """
        if self.length == 1:
            return Const(first, "i")
        before, *others = sorted(self.matched[template.context] - {_OTHER})
        if others or before == len(self.pattern):
            raise NotClosed("a selection of many namespaces one by one")
        rest = list(indices[template.is_below :])
        for part, given in zip(template.own, self.pattern[before:], strict=False):
            if isinstance(given, Range):
                return hir.Op("add", (rest[0], Const(first - given.first, "i")), "i")
            del rest[: len(_wanted(part, given) or ())]
        raise NotClosed("a selection of many namespaces one by one")

    @property
    def is_open(self) -> bool:
        """Whether it must be told of calls, as they are made, how many parts their addresses begin with."""
        return any(len(found) > 1 for found in self.matched.values())

    def may_have(self, template: Template) -> bool:
        """Whether the address of a choice of a template may begin with the pattern."""
        indices = tuple(hir.Var(f"index_{axis}", "i") for axis in range(template.rank))
        return template.calls is None and self.begins(template, indices, hir.ZEROS["i"]) != hir.FALSE

    def begins(self, template: Template, indices: tuple[Expr, ...], matched: Expr) -> Expr:
        """Whether the address of a choice begins with the pattern.

        Args:
            matched: how many parts of the pattern that of the innermost call begins with, if there is one.
        """
        return self._by_count(
            template.context,
            matched,
            lambda count: self._test(template.own, indices[template.is_below :], self.pattern[count:]),
            hir.FALSE,
        )

    def after(self, call: Template, indices: tuple[Expr, ...], matched: Expr) -> Expr:
        """How many parts the address of a call begins with, if that of what makes it begins with some."""
        other = Const(_OTHER, "i")

        def after(count: int) -> Expr:
            if count == len(self.pattern):
                return Const(count, "i")
            end = min(count + len(call.own), len(self.pattern))
            test = self._test(call.own, indices[call.is_below :], self.pattern[count:end])
            return one_of(test, Const(end, "i"), other)

        return self._by_count(call.context, matched, after, other)

    def _by_count(
        self, context: object, matched: Expr, value: Callable[[int], Expr], otherwise: Expr
    ) -> Expr:
        """A value of how many parts the addresses of calls of a program begin with."""
        counts = self.matched.get(context, set())
        result = otherwise
        for count in sorted(counts - {_OTHER}):
            test = hir.TRUE if len(counts) == 1 else hir.Op("eq", (matched, Const(count, "i")), "b")
            result = one_of(test, value(count), result)
        return result

    def _test(self, own: Pattern, indices: tuple[Expr, ...], pattern: Pattern) -> Expr:
        """Whether parts with these indices begin with a pattern."""
        if len(pattern) > len(own) and not has_path(own):
            return hir.FALSE
        test: Expr = hir.TRUE
        rest = list(indices)
        for part, given in zip(own, pattern, strict=False):
            wanted = _wanted(part, given)
            if wanted is None:
                return hir.FALSE
            for one in wanted:
                index = rest.pop(0)
                if isinstance(one, Range):
                    for operation, end in zip(("ge", "le"), one, strict=True):
                        test = both(test, hir.Op(operation, (index, Const(end, "i")), "b"))
                elif one is not ...:
                    test = both(test, hir.Op("eq", (index, self._number(one)), "b"))
        return test

    def _number(self, wanted: int | str) -> Const:
        return Const(self.text(wanted) if isinstance(wanted, str) else wanted, "i")

    def presence(self, number: int) -> tuple[Body, Expr] | None:
        """Whether the current trace has a choice that a selection has that is not open: what finds that out,
        and whether it has; None where it takes a look at the indices of all choices.

        Args:
            number: which of several selections it is, for the names of variables.
        """
        body: Body = []
        found: Expr = hir.FALSE
        for template in self.templates:
            if not self.may_have(template):
                continue
            there = hir.Var(f"there_{number}_{template.number}", "b")
            pattern = self.pattern[min(self.matched[template.context]) :]
            fit = zip(template.own, pattern, strict=False)
            named = [one for part, given in fit for one in _wanted(part, given) or ()]
            if all(given is ... for given in named):
                body.append(hir.Primitive([there], "any_of", (), (template,)))
            elif len(named) == template.rank and ... not in named:
                body += self._all_present(there, template, named)
            else:
                return None
            found = either(found, there)
        return body, found

    def _all_present(self, there: Var, template: Template, named: Sequence[Any]) -> Body:
        """Find out whether the current trace has a choice, or each with indices of some ranges."""
        places = [hir.Var(f"{there.name}_{axis}", "i") for axis in range(len(named))]
        at = tuple(
            place if isinstance(one, Range) else self._number(one)
            for place, one in zip(places, named, strict=True)
        )
        if not any(isinstance(one, Range) for one in named):
            return [hir.Present(there, template, at)]
        one_there = hir.Var(f"{there.name}_one", "b")
        gone = hir.If(negation(one_there), [hir.Set([there], [hir.FALSE])], [])
        body: Body = [hir.Present(one_there, template, at), gone]
        for label, (place, one) in enumerate(zip(places, named, strict=True), 1):
            if isinstance(one, Range):
                ends = Const(one.first, "i"), Const(one.last + 1, "i")
                body = [hir.For(place, *ends, Const(1, "i"), body, label)]
        return [hir.Set([there], [hir.TRUE]), *body]


MOST_PATTERNS, MOST_RUNS, MOST_TURNS = 256, 64, 256
"""How many patterns there may be, by how many a kernel may go in turn, runs of them counted as one in both,
and in how many turns choices may be listed of which one is picked: the program runs once for each turn.
"""


class Selections:
    """Choices of the model that are selected by several patterns; see `redraw.Selected`.

    Attributes:
        every: for each pattern the choices whose addresses begin with it.
        shared: the numbers of the templates that may have the address of another one.
        integers: of how many patterns it must be told of calls how many parts their addresses begin with.
    """

    arguments = 0

    def __init__(
        self, lowered: Lowered | Lowering, wanted: Wanted, meetings: Sequence[Meeting] = (), *more: Pattern
    ) -> None:
        """
        Args:
            more: other patterns, which are looked for besides.
        """
        self.formula = _in_runs(wanted.formula)
        self.shared = {one.lower.number for one in meetings if one.is_same}
        self.patterns = list(dict.fromkeys(_patterns(self.formula)))
        if len(self.patterns) > MOST_PATTERNS:
            raise NotClosed(f"a selection of more than {MOST_PATTERNS} addresses")
        self.every = [Selection(lowered, one) for one in (*self.patterns, *more)]
        self.integers = sum(one.is_open for one in self.every)

    def may_have(self, template: Template) -> bool:
        """Whether a choice of a template may be selected."""
        indices = tuple(hir.Var(f"index_{axis}", "i") for axis in range(template.rank))
        matched = [hir.Var("matched", "i")] * self.integers
        return template.calls is None and self._chosen(template, indices, matched) != hir.FALSE

    def chosen(
        self,
        template: Template,
        indices: tuple[Expr, ...],
        known: Sequence[Expr],
        given: Sequence[Expr] = (),
    ) -> Expr:
        """Whether a choice is selected."""
        return self._chosen(template, indices, known)

    def _chosen(self, template: Template, indices: tuple[Expr, ...], known: Sequence[Expr]) -> Expr:
        named = self.named(template, indices, known)
        return _holds(self.formula, dict(zip(self.patterns, named, strict=False)))

    def named(self, template: Template, indices: tuple[Expr, ...], known: Sequence[Expr]) -> list[Expr]:
        """For each pattern whether the address of a choice begins with it."""
        rest = iter(known)
        return [
            one.begins(template, indices, next(rest) if one.is_open else hir.ZEROS["i"]) for one in self.every
        ]

    def entered(self, call: Template, indices: tuple[Expr, ...], known: Sequence[Expr]) -> list[Expr]:
        """How many parts of each pattern that is open the address of a call begins with."""
        opened = (one for one in self.every if one.is_open)
        return [one.after(call, indices, matched) for one, matched in zip(opened, known, strict=True)]

    def presence(self, counted: Callable[[], Called]) -> list[tuple[Body, Expr]]:
        """For each pattern whether the current trace has a choice that it selects: what finds that out, and
        whether it has.

        Args:
            counted: makes what counts these choices, for all patterns.

        Raises:
            NotClosed: there are runs of patterns, each of which would have to be counted by itself.
        """
        if not self.integers:
            quickly = [one.presence(number) for number, one in enumerate(self.every)]
            if None not in quickly:
                return quickly  # type: ignore[return-value]
        if any(isinstance(part, Range) for one in self.every for part in one.pattern):
            raise NotClosed("a selection of many namespaces one by one")
        counts = [hir.Var(f"found_{number}", "f") for number in range(len(self.every))]
        found: list[tuple[Body, Expr]] = [
            ([], hir.Op("gt", (count, hir.ZEROS["f"]), "b")) for count in counts
        ]
        found[0][0].append(counted().into(*counts))
        return found


class InTurn(Selections):
    """The same in the order in which kernels go through them: in turn what is below each address that is
    named, in the order of the program. The argument says whose turn it is.
    """

    arguments = 1

    def __init__(self, lowered: Lowered | Lowering, wanted: Wanted) -> None:
        prefixes = [unnested(one) for one in wanted.prefixes]
        runs = prefixes if len(prefixes) <= LEAST_TURNS else _in_order(prefixes)
        super().__init__(lowered, wanted, (), *runs)
        if len(runs) > MOST_RUNS:
            raise NotClosed(f"a selection of more than {MOST_RUNS} addresses in turn")
        self.turns = len(prefixes)

    def check_few(self) -> None:
        """Refuse more turns than a step may take that does one thing of what is listed."""
        if self.turns > MOST_TURNS:
            raise NotClosed(f"a selection of more than {MOST_TURNS} addresses that are not taken one by one")

    def chosen(
        self,
        template: Template,
        indices: tuple[Expr, ...],
        known: Sequence[Expr],
        given: Sequence[Expr] = (),
    ) -> Expr:
        chosen = self._chosen(template, indices, known)
        if chosen == hir.FALSE:
            return chosen
        turn: Expr = hir.Const(self.turns, "i")
        below = self.named(template, indices, known)[len(self.patterns) :]
        first = self.turns
        for run, test in reversed(list(zip(self.every[len(self.patterns) :], below, strict=True))):
            first -= run.length
            if test != hir.FALSE:
                turn = one_of(test, run.number_of(template, indices, first), turn)
        (its_turn,) = given
        return both(chosen, hir.Op("eq", (turn, its_turn), "b"))


def _patterns(formula: Formula) -> Iterator[Pattern]:
    """The patterns in a formula."""
    word, parts = formula
    if word == "begins":
        yield from parts
    else:
        for part in [parts] if word == "not" else parts:
            yield from _patterns(part)


def _in_runs(formula: Formula) -> Formula:
    """The same formula of runs of patterns."""
    word, parts = formula
    if word == "begins":
        return word, _runs(parts)
    return word, _in_runs(parts) if word == "not" else tuple(map(_in_runs, parts))


def _runs(patterns: Sequence[Pattern]) -> tuple[Pattern, ...]:
    """Patterns of which one stands for those that differ by an integer alone, one behind the other."""
    every = list(dict.fromkeys(map(unnested, patterns)))
    for place in reversed(range(max(map(len, every), default=0))):
        alike: dict[Pattern, set[int]] = {}
        for one in every:
            if place < len(one) and type(one[place]) is int:
                alike.setdefault((one[:place], one[place + 1 :]), set()).add(one[place])
        runs: dict[Pattern, Pattern] = {}
        for (before, after), numbers in alike.items():
            for run in _consecutive(numbers):
                if len(run) >= LEAST_RUN:
                    whole = (*before, Range(run[0], run[-1]), *after)
                    runs |= {(*before, number, *after): whole for number in run}
        every = list(dict.fromkeys(runs.get(one, one) for one in every))
    return tuple(every)


def _in_order(patterns: Sequence[Pattern]) -> list[Pattern]:
    """Patterns in their order, of which one stands for those whose integer is always one more than before."""
    runs: list[list[Pattern]] = []
    raised: int | None = None
    for one in patterns:
        place = _raised(one, runs[-1][-1]) if runs else None
        if place is not None and raised in (None, place):
            raised = place
            runs[-1].append(one)
        else:
            raised = None
            runs.append([one])
    found: list[Pattern] = []
    for run in runs:
        if len(run) < LEAST_RUN:
            found += run
            continue
        (first, *_, last), place = run, _raised(run[1], run[0])
        assert place is not None
        found.append((*first[:place], Range(first[place], last[place]), *first[place + 1 :]))
    return found


def _raised(one: Pattern, before: Pattern) -> int | None:
    """Where a pattern has an integer that is one more than in another, and differs in nothing else."""
    if len(one) != len(before):
        return None
    places = [at for at, (a, b) in enumerate(zip(one, before, strict=True)) if (type(a), a) != (type(b), b)]
    if len(places) != 1 or not type(one[places[0]]) is type(before[places[0]]) is int:
        return None
    return places[0] if one[places[0]] == before[places[0]] + 1 else None


def _consecutive(numbers: Iterable[int]) -> list[list[int]]:
    """Numbers in order, in lists of those that come one behind the other."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return found


def _holds(formula: Formula, tests: Mapping[Pattern, Expr]) -> Expr:
    """Whether a formula holds of an address, of which it is known with which patterns it begins."""
    word, parts = formula
    if word == "begins":
        named: list[Expr] = [hir.FALSE, *(tests[pattern] for pattern in parts)]
        return functools.reduce(either, named)
    if word == "not":
        return negation(_holds(parts, tests))
    every: list[Expr] = [_holds(part, tests) for part in parts]
    return functools.reduce(either if word == "any" else both, every)


class OneSite:
    """One choice of some templates; see `redraw.Selected`. The arguments are the number of its template among
    these, and its indices.
    """

    integers = 0

    def __init__(self, templates: Sequence[Template], meetings: Sequence[Meeting]) -> None:
        self.numbers = {template.number: number for number, template in enumerate(templates)}
        self.arguments = 1 + max((template.rank for template in templates), default=0)
        self.shared = {one.lower.number for one in meetings if one.is_same}

    def chosen(
        self, template: Template, indices: tuple[Expr, ...], known: Sequence[Expr], given: Sequence[Expr]
    ) -> Expr:
        """Whether it is this choice."""
        if template.number not in self.numbers:
            return hir.FALSE
        wanted, *at = given
        test: Expr = hir.Op("eq", (wanted, hir.Const(self.numbers[template.number], "i")), "b")
        for index, other in zip(indices, at, strict=False):
            test = both(test, hir.Op("eq", (index, other), "b"))
        return test

    def entered(self, call: Template, indices: tuple[Expr, ...], known: Sequence[Expr]) -> list[Expr]:
        """Nothing is known of the addresses of calls."""
        return []
