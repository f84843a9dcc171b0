"""Closed kernels: whole steps of moves as one text, run as Python or as machine code.

Of which runs of the model each kind of step is made is said here for all of them, as they share these runs;
so this is one module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front.argument_types import type_of, types_of_arguments
from gendsl.compiler.front.lines import Along
from gendsl.compiler.front.program import Entries, Entry, Lowering
from gendsl.compiler.hir import collector, observations
from gendsl.compiler.hir.addresses import Addresses, Paths
from gendsl.compiler.hir.coordinates import TRIANGLE, UNKNOWN
from gendsl.compiler.hir.copies import RUNS, assessed, looked, read_again, scored
from gendsl.compiler.hir.decode import from_python
from gendsl.compiler.hir.failures import PYTHON_FAILURES, NotClosed
from gendsl.compiler.hir.meetings import meetings
from gendsl.compiler.hir.observations import Strings
from gendsl.compiler.hir.slopes import slopes
from gendsl.compiler.hir.templates import MODEL, ArgumentsOf
from gendsl.compiler.hir.text_effects import TextEffects
from gendsl.compiler.hir.types import leaves
from gendsl.compiler.llvm.print_llvm import print_llvm_steps
from gendsl.compiler.llvm.shared import shared
from gendsl.compiler.moves import (
    Blocking,
    Involution,
    Move,
    Picked,
    Proposing,
    Resampling,
    Rotating,
    Several,
    Step,
    Transition,
    Updating,
    Walk,
    Warming,
)
from gendsl.compiler.passes import merge, per_run
from gendsl.compiler.passes.axes import Axes
from gendsl.compiler.passes.blankets import blanket
from gendsl.compiler.passes.invariants import simplify
from gendsl.compiler.passes.needed import follow
from gendsl.compiler.programs import density, replay, sampler
from gendsl.compiler.programs.density import Zeros
from gendsl.compiler.python.choice_values import index_of, indices_of
from gendsl.compiler.python.numpy_loops import print_at_once
from gendsl.compiler.python.numpy_runtime import Table
from gendsl.compiler.python.print_python import input_name, name_apart, print_python
from gendsl.compiler.python.state import LEGEND, NOTES, MoveState
from gendsl.compiler.run.chain_kernel import ChainKernel, Placed, all_of, is_input_of
from gendsl.compiler.run.closed import CompiledText
from gendsl.compiler.steps import (
    block_runs,
    changes,
    ellipse_runs,
    move,
    redraw,
    step_parts,
    tangents,
    transitions,
    walk,
    warming,
)
from gendsl.compiler.steps.coordinate_runs import Walked, runs, walked
from gendsl.compiler.steps.kernel_entries import PICKING, entries_of, updates_of
from gendsl.compiler.steps.pivots import take_out_pivots
from gendsl.compiler.steps.proposals import Proposals
from gendsl.compiler.steps.selections import InTurn, OneSite, Selections
from gendsl.compiler.steps.updates import (
    begin_updates,
    fill_along,
    narrow_ties,
    score_parts,
    scored_by,
    updating,
)


class ClosedKernel(CompiledText, ChainKernel):
    """Steps on the traces of one program, for arguments of given types, with the text that says what they do.

    Args:
        observed: the strings of the addresses that have nothing but observations; where others have some,
            the text fails.

    Attributes:
        steps: for each step the function that makes it; None where a kernel is called that is not compiled.
        before: for each the function that computes its arguments once a run, or None.
        functions: those that there are.
        scores_parts: whether each choice that is updated given all others is scored with what has to do with
            it alone.
        scores_changes: whether all moves score what has to do with one choice, where they change one.
        roots: those, and what tells which choices there are, if that is needed.
    """

    @collector.waiting()
    def __init__(
        self,
        model: Any,
        args: tuple[Any, ...],
        steps: Sequence[Step | None],
        observed: frozenset[Strings] = observations.NONE,
    ) -> None:
        self.start(args, steps)
        self.observed = observed
        within = all_of(steps)
        lowering = Lowering(
            draws=True,
            charts=any(isinstance(one, (Walk, Warming)) for one in within),
            turns=any(isinstance(one, Rotating) for one in within),
        )
        types = types_of_arguments(lowering.facts, model, args)
        entries: list[Entry | Entries] = []
        entries.append(Entry(MODEL, model.compiled.origin, tuple(types), bound=model.bound))
        titles = {MODEL: f"model {model.name}"}
        for number, one in enumerate(within):
            own = entries_of(lowering, number, one)
            titles |= {entry.name.partition("_")[0]: f"kernel {one.name}" for entry in own}
            entries += own
            if isinstance(one, (Updating, Rotating, Blocking, Warming)):
                entries.append(updates_of(number, one))
                titles[f"u{number}"] = titles[f"v{number}"] = f"kernel {one.name}"
        self.slopes = slopes() if any(isinstance(one, Involution) for one in within) else None
        try:
            every = lowering.lower_together(entries)
        except NotClosed as reason:
            reason.about = titles.get(reason.program.partition("_")[0], "")
            raise
        mains = {name: lowered.main for name, lowered in every.items()}
        self.lowered = every[MODEL]
        self.meetings = meetings(self.lowered)
        self.lowering = lowering
        self._tell_kept()
        self.scores: dict[Zeros, hir.Function] = {}
        self.memories: dict[int, warming.Memory] = {}
        self.updates: set[str] = set()
        self.scores_parts = True
        self.target: str | None = None
        self.numbers = {id(one): number for number, one in enumerate(within)}
        if any(isinstance(one, Transition) and one.args for one in within):
            transitions.check_arguments(within, lowering)
        begin_updates(main for name, main in mains.items() if name[0] in "uv")
        replay.fill_all(self.lowered, mains)
        for along in lowering.lines.values():
            fill_along(along, self._score(mains[MODEL], Zeros.END))
        self.made: dict[tuple[str | None, int], hir.Function] = {}
        self.changes: dict[int, changes.Changes] = {}
        self.steps = [None if step is None else self._made(step, mains) for step in steps]
        self.functions = [function for function in self.steps if function is not None]
        sizes = [len(step.parts) if isinstance(step, Picked) else 1 for step in steps]
        self.rows = [sum(sizes[:number]) for number in range(len(sizes))]
        self.row_count = sum(sizes)
        self._refuse_unknown(mains)
        self.telling = [self._score(mains[MODEL], Zeros.END)] if self.meetings else []
        merge.merge(self.functions, lowering.function_name)
        self.roots = [*self.functions, *(one.function for one in self.telling)]
        simplify(self.roots, self.meetings, for_parts=bool(lowering.lines))
        self._score_parts(mains)
        self._score_changes(within)
        changing = [
            at
            for at, (one, _) in enumerate(self.lowered.inputs)
            if any(is_input_of(one, f"walk{number}") for number in self.memories)
        ]
        observed_alone = set(map(id, self.observed_alone))
        self.steps, self.before = per_run.take_out(self.steps, self.made.values(), changing, observed_alone)
        self.functions = [one for pair in zip(self.before, self.steps, strict=True) for one in pair if one]
        self.roots = [*self.functions, *(one.function for one in self.telling)]
        name_apart(self.roots)

    def _tell_kept(self) -> None:
        """Let the log densities of choices fail where these would be kept with another base measure.

        Raises:
            NotClosed: the text can't tell.
        """
        observed = set(map(id, self.observed_alone))  # of which that is no error
        every = (one for function in hir.functions(self.lowered.main) for one in hir.walk(function.body))
        for one in every:
            if not isinstance(one, hir.Choice) or id(one.template) in observed:
                continue
            if one.template.number in self.lowering.of_kinds:
                reason = f"choices at one address, {one.template.name}, of several kinds or dimensions"
                raise NotClosed(reason, one.line)
            if one.kept is not None:
                one.density = one.kept

    def _score_parts(self, mains: dict[str, hir.Function]) -> None:
        """Score of what is updated given all others only what has to do with it, where that is less."""
        effects = TextEffects()
        concerned = {part.number for one in self.meetings for part in (one.lower, one.upper)}
        updates = [main for name, main in mains.items() if name in self.updates]
        others = [main for name, main in mains.items() if name[0] in "uv" and name not in self.updates]
        for along in self.lowering.lines.values():
            whole = scored_by(along)
            part = None if whole is None else blanket(whole, along.template, concerned, effects)
            if part is None:
                self.scores_parts = False
            else:
                score_parts(along, part, keeps=isinstance(along, Along) and not others)
        if self.scores_parts:
            narrow_ties(updates, others, self.lowering.lines.values())

    def _score_changes(self, within: Iterable[Step]) -> None:
        """Score in steps that change one choice only what has to do with it, where that is less."""
        effects = TextEffects()
        concerned = {part.number for one in self.meetings for part in (one.lower, one.upper)}
        every = {id(one): one for root in self.functions for one in hir.functions(root)}
        made: dict[tuple[int, int], hir.Function | None] = {}
        every_step, scored = {id(one): one for one in within}, set[int]()
        for key, found in self.changes.items():
            whole = changes.scored_by(every[key]) if key in every and not found.are_several else None
            if whole is None:
                continue
            parts = {}
            for number, template in found.templates.items():
                which = id(whole), number
                if which not in made:
                    part = blanket(whole, template, concerned, effects)
                    made[which] = part if part is not None and changes.is_worth_it(part, whole) else None
                part = made[which]
                if part is not None:
                    parts[number] = template, part
            if parts and found.surely <= parts.keys():
                changes.score_change(every[key], parts)
                scored.add(key)
        self.scores_changes = self.scores_parts and all(
            isinstance(every_step[which], (Several, Picked, Updating)) or id(function) in scored
            for (_, which), function in self.made.items()
        )

    def _called(self, name: str, function: hir.Function) -> step_parts.Called:
        """A function with the arguments of its program."""
        every = self.lowering.arguments_of(name if self.target is None or name != MODEL else self.target)
        return step_parts.Called(function, tuple(leaf for value in every for leaf in value.leaves))

    def _absent(
        self, one: Resampling | Updating | Rotating | Blocking, main: hir.Function
    ) -> list[tuple[hir.Body, hir.Expr]]:
        """For each address that is named, what finds out whether a trace has it, and whether it has."""
        selected = Selections(self.lowered, one.wanted, self.meetings)
        return selected.presence(lambda: self._counted(main, selected))

    def _walk(self, number: int, name: str, one: Walk, main: hir.Function) -> hir.Function:
        """The step of a random walk."""
        selected = walked(self.lowered, one.wanted, self.meetings)

        def given(value: Any) -> hir.Expr:
            """A value of the kernel as an input of the text."""
            key, inputs = f"walk{number}", self.lowered.inputs
            self.values[key] = (*self.values.get(key, ()), value)
            position = len(self.values[key]) - 1
            kind = type_of(self.lowering.facts, (key, position), value)
            inputs.append((ArgumentsOf(key, position), kind))
            (leaf,) = leaves(kind)
            return hir.Input(len(inputs) - 1, 0, leaf)

        stride = walk.stride(one, self.lowered, selected, given)
        made = self._runs(one, main, selected)
        return walk.step(name, made.here, made.there, selected, stride, made.absent)

    def _runs(self, one: Walk, main: hir.Function, selected: Walked) -> warming.Runs:
        """The two runs of a random walk, and what finds out whether what must be there is."""
        one_way, other_way = (hir.copied(main, suffix, change) for suffix, change in RUNS.items())
        here, there = (self._called(MODEL, run) for run in runs(one_way, other_way, selected))
        absent: list[tuple[hir.Body, hir.Expr]] = []
        every = selected.every
        if every is not None and not one.skip_absent:
            absent = every.presence(lambda: self._counted(main, every))
        return warming.Runs(here, there, selected, absent)

    def _warming(self, number: int, name: str, one: Warming, mains: dict[str, hir.Function]) -> hir.Function:
        """The step of a random walk that is adapted."""
        selected = walked(self.lowered, one.walk.wanted, self.meetings)
        memory, lists = warming.memory_of(number, one, self.lowering, self.lowered, selected)
        self.memories[number], self.values[f"walk{number}"] = memory, tuple(memory.values())
        made, rules = self._runs(one.walk, mains[MODEL], selected), warming.rules_of(number, mains)
        warming.fill(self.lowering.adapted[number], one, made, rules)
        return warming.step(name, one, made, rules, lists)

    def _transition(
        self, number: int, name: str, one: Transition, mains: dict[str, hir.Function]
    ) -> hir.Function:
        """The step of a tempered transition."""
        if one.powers is not None:
            parts = [self._made(part, mains) for part in one.parts]
            likelihood, pairs = self._likelihood(mains[MODEL]), list(pairwise(one.powers))
            up = [transitions.to_power(likelihood, after - before) for before, after in pairs]
            down = [transitions.to_power(likelihood, before - after) for before, after in pairs]
            return transitions.transition(name, parts, up, down)
        parts, scores = [], [self._score(mains[MODEL], Zeros.END)]
        for rung, (part, args) in enumerate(zip(one.parts, one.args, strict=True)):
            self.target = f"t{number}_{rung}"
            transitions.give_arguments(self.lowering, self.target, args)
            scores.append(self._score(mains[MODEL], Zeros.END))
            parts.append(self._made(part, mains))
        self.target = None
        up, down = ([transitions.to_arguments(score) for score in to] for to in (scores[1:], scores[:-1]))
        return transitions.transition(name, parts, up, down)

    def _likelihood(self, main: hir.Function) -> step_parts.Called:
        """The log density of the observations of the current trace."""
        return self._along(main, transitions.observed(hir.copied(main, "_observed", read_again)))

    def _along(self, main: hir.Function, made: hir.Function) -> step_parts.Called:
        """A run along the current trace, without what it does not need."""
        follow(hir.functions(made), hir.functions(main))
        return self._called(MODEL, made)

    def _power(self, one: Proposing | Resampling, main: hir.Function) -> step_parts.Power | None:
        """The power of the likelihood in the target of a move, if it is not 1."""
        return None if one.power == 1.0 else step_parts.Power(self._likelihood(main), one.power)

    def _counted(self, main: hir.Function, selected: Selections) -> step_parts.Called:
        """What counts the choices of the current trace that are selected, for each pattern."""
        counts = redraw.counted(hir.copied(main, "_counted", read_again), selected)
        return self._along(main, counts)

    def _sites(self, one: Resampling | Updating, main: hir.Function) -> move.Sites:
        """The choices that are selected."""
        ordered = InTurn(self.lowered, one.wanted)
        if isinstance(one, Resampling) or one.scan == "random":
            ordered.check_few()
        listed = redraw.listed(hir.copied(main, "_listed", read_again), ordered)
        templates = self.lowering.templates_of(MODEL)
        return move.Sites(
            self._along(main, listed), ordered.turns, tuple(filter(ordered.may_have, templates))
        )

    def _resampling(self, name: str, one: Resampling, main: hir.Function) -> hir.Function:
        """The step of a move that draws choices anew."""
        sites = self._sites(one, main) if one.picks else None
        selected: redraw.Selected = Selections(self.lowered, one.wanted, self.meetings)
        if sites is not None:
            selected = OneSite(sites.templates, self.meetings)
        observed = {id(one) for one in self.observed_alone if one.number not in selected.shared}
        draw = redraw.redrawn(hir.copied(main, "_redrawn", scored), selected, observed)
        let_go = redraw.let_go(hir.copied(main, "_let_go", read_again), observed)
        return move.resampling(
            name, self._called(MODEL, draw), self._along(main, let_go), self._absent(one, main),
            skip_absent=one.skip_absent, sites=sites, power=self._power(one, main),
        )  # fmt: skip

    def _updating(
        self, number: int, name: str, one: Updating, mains: dict[str, hir.Function]
    ) -> hir.Function:
        """The step of a move that updates choices given all others."""
        sites = self._sites(one, mains[MODEL])
        names = [f"u{number}_{template.number}" for template in sites.templates]
        self.updates.update(names)
        updates = [mains[one] for one in names]
        return updating(
            name, sites, self._absent(one, mains[MODEL]), updates,
            skip_absent=one.skip_absent, random=one.scan == "random",
        )  # fmt: skip

    def _rotating(
        self, number: int, name: str, one: Rotating, mains: dict[str, hir.Function]
    ) -> hir.Function:
        """The step of a move of several choices along an ellipse."""
        main, ordered = mains[MODEL], InTurn(self.lowered, one.wanted)
        ordered.check_few()
        every = Selections(self.lowered, one.wanted, self.meetings)
        start = self._called(MODEL, ellipse_runs.started(hir.copied(main, "_start", read_again), ordered))
        score = self._called(MODEL, ellipse_runs.told(assessed(main, "_told"), every))
        templates = self.lowering.templates_of(MODEL)
        sites = move.Sites(start, ordered.turns, tuple(filter(ordered.may_have, templates)))
        laws = ellipse_runs.normal_choices(main)
        ellipse_runs.fill(self.lowering.ellipses[number], sites, laws, score)
        return ellipse_runs.rotating(
            name, sites, start, score, self._absent(one, main), mains[f"u{number}"],
            skip_absent=one.skip_absent,
        )  # fmt: skip

    def _blocking(
        self, number: int, name: str, one: Blocking, mains: dict[str, hir.Function]
    ) -> hir.Function:
        """The step of a move of a block."""
        every = Selections(self.lowered, one.wanted, self.meetings)
        listing = block_runs.listed(hir.copied(mains[MODEL], "_listed", read_again), every)
        score = self._called(MODEL, block_runs.ordered(assessed(mains[MODEL], "_ordered"), every))
        templates = tuple(filter(every.may_have, self.lowering.templates_of(MODEL)))
        sites = move.Sites(self._called(MODEL, listing), 1, templates)
        values = {one.number: mains[f"v{number}_{one.number}"] for one in templates}
        block_runs.check(templates, self.lowering)
        through = self.lowering.function_name("go_through")
        block_runs.fill(self.lowering.blocks[number], sites, values, score, through)
        return block_runs.blocking(
            name, sites.listed, self._absent(one, mains[MODEL]), mains[f"u{number}"],
            skip_absent=one.skip_absent,
        )  # fmt: skip

    def _score(self, main: hir.Function, zeros: Zeros) -> step_parts.Called:
        """The log density of the model."""
        if zeros not in self.scores:
            suffix = "" if zeros is Zeros.END else "_whole"
            self.scores[zeros] = density.score(assessed(main, suffix), zeros=zeros)
        return self._called(MODEL, self.scores[zeros])

    def _made(self, one: Step, mains: dict[str, hir.Function]) -> hir.Function:
        """The step of a kernel, for the target whose turn it is."""
        key = self.target, id(one)
        if key not in self.made:
            try:
                self.made[key] = self._step(self.numbers[id(one)], one, mains)
            except NotClosed as reason:
                reason.about = reason.about or f"kernel {one.name}"
                raise
        return self.made[key]

    def _step(self, number: int, one: Step, mains: dict[str, hir.Function]) -> hir.Function:
        name = self.lowering.function_name(f"step_{hir.identifier(one.name)}")
        if isinstance(one, Transition):
            return self._transition(number, name, one, mains)
        if isinstance(one, (Several, Picked)):
            parts = [self._made(part, mains) for part in one.parts]
        if isinstance(one, Several):
            return move.several(name, parts, one.times, one.bounds)
        if isinstance(one, Picked):
            made: dict[int, hir.Function] = {}
            pick, log_share = (
                hir.copied(mains[f"{which}{number}"], "", looked, made=made) for which in PICKING
            )
            if (pick.results, log_share.results) != (["i", "f"], ["f"]):
                raise NotClosed(f"the weights of {one.name}, which are none")
            several = [not isinstance(part, Move) for part in one.parts]
            return move.picked(name, pick, log_share, parts, several)
        if isinstance(one, Resampling):
            return self._resampling(name, one, mains[MODEL])
        if isinstance(one, Walk):
            return self._walk(number, name, one, mains[MODEL])
        if isinstance(one, (Warming, Updating, Rotating, Blocking)):
            kinds: dict[type, Callable[..., hir.Function]] = {
                Warming: self._warming, Updating: self._updating, Rotating: self._rotating,
                Blocking: self._blocking,
            }  # fmt: skip
            return kinds[type(one)](number, name, one, mains)
        check = isinstance(one, Involution) and one.check
        zeros = Zeros.NOTED if check else Zeros.END
        score = self._score(mains[MODEL], zeros)
        auxiliary = None if one.q is None else self._auxiliary(f"q{number}", mains[f"q{number}"], zeros)
        if isinstance(one, Proposing):
            assert auxiliary is not None
            proposals = Proposals(self.lowering, f"q{number}")
            propose, give_back = proposals.propose(), proposals.give_back()
            power = self._power(one, mains[MODEL])
            step = move.proposal(name, score, auxiliary, propose, give_back, power)
            if power is None:
                self.changes[id(step)] = changes.Changes([mains[f"q{number}"]], proposals.proposed)
            return step
        assert self.slopes is not None
        maps = self._maps(number, one, mains, "_slopes")
        for each in maps:
            take_out_pivots(each.function, self.slopes, self.lowered.coordinates)
        whole = maps
        if check and any(each.function.results for each in maps):
            whole = self._maps(number, one, mains, "_all_slopes")
        step = move.involutive(name, score, auxiliary, maps, self.slopes, check=check, whole=whole)
        mapped = [mains[f"f{number}_{place}"] for place in range(len(one.maps))]
        self.changes[id(step)] = changes.Changes(mapped, changes.written)
        return step

    def _maps(
        self, number: int, one: Involution, mains: dict[str, hir.Function], suffix: str
    ) -> list[step_parts.Called]:
        """The transforms of a move with tangents."""
        assert self.slopes is not None
        every = [mains[f"f{number}_{place}"] for place in range(len(one.maps))]
        return [step_parts.Called(tangents.differentiate(each, suffix, self.slopes)) for each in every]

    def _auxiliary(self, name: str, main: hir.Function, zeros: Zeros) -> step_parts.Auxiliary:
        """What draws the choices of a program, and what scores them."""
        return step_parts.Auxiliary(
            self._called(name, sampler.simulate(hir.copied(main, "_draw", looked))),
            self._called(name, density.score(assessed(main, "_score"), zeros=zeros)),
        )

    def _refuse_unknown(self, mains: dict[str, hir.Function]) -> None:
        """Refuse transforms of choices whose coordinates are not known."""
        for name, main in mains.items():
            functions = hir.functions(main) if name.startswith("f") else []
            for statement in (one for function in functions for one in hir.walk(function.body)):
                match statement:
                    case (
                        hir.Write(template=template)
                        | hir.Copy(template=template)
                        | hir.Read(template=template, followed=True)
                    ):
                        known_as = self.lowered.coordinates.get(template.number)
                        copied = isinstance(statement, hir.Copy)
                        if known_as == UNKNOWN or (known_as == TRIANGLE and not copied):
                            raise NotClosed(f"the coordinates of {template.parts!r}")

    def printed(self, axes: Axes | None) -> str:
        return LEGEND + print_python(*self.roots, notes=NOTES, axes=axes)

    def running(self) -> str:
        return print_at_once(*self.roots, meetings=self.meetings)

    @cached_property
    def axes(self) -> Axes:
        return Axes(self.roots, self.meetings)

    @cached_property
    @collector.waiting()
    def llvm(self) -> tuple[str, list[tuple[int, str]]]:
        sites = [] if self.slopes is None else shared().sites
        return print_llvm_steps(self.steps, self.before, self.layout, self.rows, self.axes, sites)

    def shared(self) -> list[str]:
        return [] if self.slopes is None else [shared().text]

    @cached_property
    def slopes_of(self) -> set[tuple[int, int]]:
        return {
            (one.number, one.leaf)
            for statement in self._statements()
            for whole in hir.expressions(statement)
            for one in hir.parts(whole)
            if isinstance(one, hir.Input) and one.tangents
        }

    @cached_property
    def written(self) -> set[int]:
        return {
            statement.template.number
            for statement in self._statements()
            if isinstance(statement, (hir.Write, hir.Copy, hir.Redraw)) and statement.template.trace == MODEL
        }

    @cached_property
    def writes_in_loops(self) -> bool:
        """Whether a step may change any number of choices."""
        known: dict[int, bool] = {}

        def writes(body: hir.Body) -> bool:
            return any(
                (isinstance(one, (hir.Write, hir.Copy, hir.Redraw)) and one.template.trace == MODEL)
                or (isinstance(one, hir.Call) and function_writes(one.function))
                for one in hir.walk(body)
            )

        def function_writes(function: hir.Function) -> bool:
            if id(function) not in known:
                known[id(function)] = False  # of itself, if it is recursive
                known[id(function)] = writes(function.body)
            return known[id(function)]

        return any(isinstance(one, (hir.For, hir.Loop)) and writes(one.body) for one in self._statements())

    def looked_at(self, paths: Iterable[Any]) -> tuple[int, list[Any]]:
        """How many of some choices Python text looks at one by one, and which of them a step may change."""
        at_once = set(re.findall(r"\bstate\.(\w+)\.row\(", self.runs[0]))
        addresses, singly, changed = Addresses(self.lowered), 0, []
        for path in paths:
            template, _ = addresses.find_all(path)[0]
            singly += template.name not in at_once
            if template.number in self.written:
                changed.append(path)
        return singly, changed

    def _statements(self) -> Iterator[hir.Statement]:
        """All statements of the text."""
        for function in {id(one): one for step in self.functions for one in hir.functions(step)}.values():
            yield from hir.walk(function.body)

    # --- Python text ------------------------------------------------------------------------------

    def state(self, choices: dict[Any, Any], observed: Any, lp: float, rng: Any) -> MoveState:
        """The state of Python text, from the choices of a trace."""
        addresses = Addresses(self.lowered)
        placed = self.placed(addresses, choices)
        state = self._empty(addresses, rng)
        for path, (template, indices, parts) in placed.items():
            column, index = state.columns[template.number], index_of(indices)
            column.values[index] = index_of(tuple(parts))
            column.current[index] = state.current[0]
            if path in observed:
                column.observed.add(index)
        state.counts[0] = sum(template.counted for template, *_ in placed.values())
        state.lp = lp
        return state

    def _empty(self, addresses: Addresses, rng: Any) -> MoveState:
        """The state of Python text, with the calls of programs that call themselves and no choices."""
        state = MoveState(self.lowered.templates, self.lowered.coordinates, rng, self.meetings)
        for (number, indices), node in addresses.nodes.items():
            column, index = state.columns[number], index_of(indices)
            column.values[index], column.current[index] = node, state.current[0]
        state.nodes = len(addresses.nodes)
        return state

    def placed(self, addresses: Addresses, choices: Mapping[Any, Any]) -> dict[Any, Placed]:
        """The templates, indices and leaves of the choices of a trace.

        Where a choice may be one of several templates, the program tells which it makes.

        Raises:
            NotClosed: there are none, or that can't be told.
        """
        if not self.meetings:
            return {path: addresses.place(path, value) for path, value in choices.items()}
        every = {path: addresses.places(path, value) for path, value in choices.items()}
        if all(len(found) == 1 for found in every.values()):
            return {path: found[0] for path, found in every.items()}
        state = self._empty(addresses, None)
        state.now += 1
        for template, indices, parts in (one for found in every.values() for one in found):
            column, index = state.columns[template.number], index_of(indices)
            column.values[index], column.current[index] = index_of(tuple(parts)), state.current[0]
        (told,) = self.telling
        try:
            given = [self.python[input_name(leaf)] for leaf in told.args if isinstance(leaf, hir.Input)]
            self.python[told.function.name](state, *given)
        except PYTHON_FAILURES as error:
            raise NotClosed(f"choices of which it can't be told what makes them: {error}") from error
        result = {}
        for path, found in every.items():
            stamps = [state.columns[template.number].visited[index_of(at)] for template, at, _ in found]
            made = [one for one, stamp in zip(found, stamps, strict=True) if stamp == state.now]
            if len(made) != 1:
                raise NotClosed(f"it can't be told which choice {path!r} is")
            (result[path],) = made
        return result

    def make_step(self, functions: dict[str, Any], number: int, state: MoveState) -> Any:
        """One step of a move, by the functions of a Python text; what it returns."""
        made, once = self.steps[number], self.before[number]
        assert made is not None
        if number not in state.same:
            state.same[number] = () if once is None else _results(once, functions[once.name](state))
        return functions[made.name](state, *state.same[number])

    def step_python(self, number: int, state: MoveState) -> tuple[bool, float, float, float, float]:
        """One step of a move, by Python text.

        Raises:
            FailedText: the reference interpreter decides.
        """
        try:
            with np.errstate(all="ignore"):
                return self.make_step(self.python, number, state)  # type: ignore[no-any-return]
        except PYTHON_FAILURES as error:
            raise self.failed(error) from error

    def choices(self, state: MoveState) -> dict[Any, Any]:
        """The choices of the current trace."""
        calls = {
            node: (column.template, indices_of(index))
            for column in state.columns
            if column.is_node
            for index, node in column.values.items()
        }
        paths = Paths(self.lowered, calls)
        found = {}
        for column in state.columns:
            if not column.is_model or column.template.calls is not None:
                continue
            for index, value in column.values.items():
                if column.has(index):
                    path = paths.path(column.template, indices_of(index) if column.template.rank else ())
                    found[path] = from_python(column.template.type, indices_of(value))
        return found


def _results(function: hir.Function, found: Any) -> tuple[Any, ...]:
    """What a function of Python text returned, as its results, whose lists stay as they are."""
    every = found if len(function.results) > 1 else (found,)
    return tuple(Table(one) if type(one) is list else one for one in every)
