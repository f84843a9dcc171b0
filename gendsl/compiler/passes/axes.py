"""Which loops run several iterations at once: those that need nothing of one another but sums.

Of such a loop, and of the functions that it calls, this says what every variable is over the *lanes*, the
iterations that run at the same time:

- *uniform*: it has one value for all of them;
- *consecutive*: an integer that is one larger in each lane than in the one before, as the loop's variable;
- *varying*: it has a value for each. A list varies where each lane has one of its own, among those that are
  there before or that all lanes make; it is read alone. A list that all lanes make and whose items vary is
  *wide*, and has the same length in each.

A branch whose test varies is *divergent*, and so is what is around a statement that some lanes come to and
others do not, and that leaves it. What a variable is set to in one of these varies for what is outside.
Nothing here knows a family, or a model. What is found of one kind of statement changes what is found of
others, so that all of it is one module.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Sequence

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
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
    Load,
    Loop,
    New,
    Next,
    Op,
    Primitive,
    Return,
    Set,
    Statement,
    Store,
    Truncate,
    Var,
    Visit,
)
from gendsl.compiler.hir.meetings import Meeting
from gendsl.compiler.hir.rewriting import cost_of, variables_of
from gendsl.compiler.hir.text_effects import TextEffects, made_by, read_by
from gendsl.compiler.passes.axes_facts import (
    CONSECUTIVE,
    UNIFORM,
    VARYING,
    WIDE,
    Lanes,
    NotLanesError,
    Path,
    common_path,
)
from gendsl.compiler.passes.axes_sizes import Sizes, repeated
from gendsl.compiler.passes.axes_variables import (
    exposed,
    is_collected,
    is_passed_over,
    is_stored,
    is_sum,
    one_list,
    read_after,
    used_outside,
    values_of,
)
from gendsl.compiler.passes.lane_costs import saved
from gendsl.compiler.passes.signs import Signs

LITTLE, NOTHING = UNWORTHY = "it computes little", "lanes would save nothing"
"""Why loops do not run in lanes that might."""
_NOT: dict[type[Statement], str] = {
    hir.Read: "it reads a trace", hir.Given: "it asks for choices", hir.Present: "it asks for choices",
    hir.Draw: "it draws", Primitive: "it changes the state",
}  # fmt: skip


class Axes:
    """Finds the loops of a text that run in lanes.

    Attributes:
        loops: these, by their identity.
        reasons: why others do not, of those over data.
        repeated: the functions, by identity, that are called in loops.
    """

    def __init__(
        self, mains: Sequence[Function], meetings: Iterable[Meeting] = (), *, costs: bool = True
    ) -> None:
        """
        Args:
            meetings: where a choice of one template may have the address of one of another.
            costs: whether only those loops count that machine code saves time by, and not those that NumPy
                does.
        """
        self.costs = costs
        self.effects = TextEffects()
        self.concerned = {part.number for one in meetings for part in (one.lower, one.upper)}
        self.loops: dict[int, Lanes] = {}
        self.reasons: list[tuple[Function, For, str]] = []
        self.clones: dict[tuple[int, tuple[int, ...]], Lanes | NotLanesError] = {}
        functions = {id(one): one for main in mains for one in hir.functions(main)}
        sizes = Sizes(list(functions.values()))
        self.repeated = repeated(functions.values())
        for function in functions.values():
            self._find(function, function.body, [], sizes)

    def note(self, loop: For) -> str:
        """How a loop over data runs as machine code, for who reads its text."""
        if id(loop) in self.loops:
            return "in lanes"
        reasons = [why for _, one, why in self.reasons if one is loop and why not in UNWORTHY]
        if reasons and any(isinstance(one, Visit) for one in hir.walk(loop.body)):
            return f"in order: {reasons[0]}"
        return ""

    def _find(
        self, function: Function, body: Body, around: list[tuple[Statement | None, Body]], sizes: Sizes
    ) -> None:
        for at, statement in enumerate(body):
            if isinstance(statement, For) and sizes.is_over_data(function, statement):
                try:
                    after = [*around, (statement, body[at + 1 :])]
                    self.loops[id(statement)] = self.of_loop(function, statement, after)
                    continue
                except NotLanesError as error:
                    self.reasons.append((function, statement, str(error)))
            for inner in hir.bodies(statement):
                self._find(function, inner, [*around, (statement, body[at + 1 :])], sizes)

    def of_loop(self, function: Function, loop: For, around: list[tuple[Statement | None, Body]]) -> Lanes:
        """What is known of a loop that runs in lanes.

        Args:
            around: from the outside, each statement around it, and it itself, with what follows it.

        Raises:
            NotLanesError: it does not.
        """
        if loop.step != Const(1, "i"):
            raise NotLanesError("it does not count by one")
        visits = any(isinstance(one, Visit) for one in hir.walk(loop.body))
        if not visits and not self._is_worth(loop.body, set()):
            raise NotLanesError(LITTLE)
        inside = {var for one in hir.walk(loop.body) for var in hir.targets(one)}
        later = read_after({loop.var, *inside}, around)
        if loop.var in inside or loop.var in later:
            raise NotLanesError("its variable is set or read elsewhere")
        lanes = Lanes({loop.var: CONSECUTIVE})
        carried = inside & (exposed(loop.body)[0] | later)
        for var in sorted(carried, key=lambda var: var.name):
            if var.kind == "r" or not is_sum(loop.body, var):
                raise NotLanesError(f"an iteration goes on from {var.name}")
            lanes.sums.add(var)
            lanes.ranks[var] = VARYING
        _Settled(self, lanes, loop.body, function, loop).settle()
        lanes.may_be_short = id(function) in self.repeated or any(
            isinstance(outer, (For, Loop)) for outer, _ in around[:-1]
        )
        if saved(lanes, loop.body) <= 0 if self.costs else _is_triangular(lanes, loop):
            raise NotLanesError(NOTHING)
        return lanes

    def clone(self, function: Function, ranks: tuple[int, ...]) -> Lanes:
        """What is known of a function that is called with arguments of these ranks."""
        key = id(function), ranks
        if key not in self.clones:
            self.clones[key] = NotLanesError(f"{function.name} calls itself")
            given = {var: rank for var, rank in zip(function.parameters, ranks, strict=True) if rank}
            lanes = Lanes(given)
            try:
                _Settled(self, lanes, function.body, function, None).settle()
                self.clones[key] = lanes
            except NotLanesError as error:
                self.clones[key] = error
        found = self.clones[key]
        if isinstance(found, NotLanesError):
            raise found
        return found

    def _is_worth(self, body: Body, seen: set[int]) -> bool:
        """Whether there is a function or a division in a body, or in what it calls."""
        for statement in hir.walk(body):
            if any(cost_of(expr) for expr in hir.expressions(statement)):
                return True
            if isinstance(statement, Call) and id(statement.function) not in seen:
                seen.add(id(statement.function))
                if self._is_worth(statement.function.body, seen):
                    return True
        return False


class _Settled:
    """Finds what is known of a body: what varies because something else does, until nothing more is found."""

    def __init__(
        self,
        axes: Axes,
        lanes: Lanes,
        body: Body,
        function: Function,
        loop: For | None,
    ) -> None:
        self.axes, self.lanes, self.body, self.function, self.loop = axes, lanes, body, function, loop
        self.values = values_of(function)
        self.made = made_by(hir.walk(body)) - set(function.parameters)
        if loop is not None:
            outside = used_outside(function, loop)
            self.made -= outside
            lanes.collected = {
                var for var in outside if var.kind == "r" and is_collected(function, loop, var)
            }
            lanes.passed_over = {var for var in lanes.collected if is_passed_over(loop, var)}
            changed = {one.list for one in hir.walk(body) if isinstance(one, Store)} - lanes.collected
            lanes.stored = {
                var
                for var in changed
                if isinstance(var, Var) and var in outside and is_stored(function, loop, var)
            }
        loops = [one for one in hir.walk(body) if isinstance(one, (For, Loop))]
        self.repeated = {id(one) for inner in loops for part in hir.bodies(inner) for one in hir.walk(part)}
        self.several: dict[Var, bool] = {}
        self.given = set(function.parameters) if loop is None else {loop.var}
        self.outer = lanes.sums | lanes.collected | lanes.stored | set(function.parameters)
        self.returns = sum(isinstance(one, Return) for one in hir.walk(body))
        if loop is None:
            lanes.results = [UNIFORM] * len(function.results)

    @functools.cached_property
    def signs(self) -> Signs:
        """What is known of the integers of the function."""
        return Signs(self.function)

    def settle(self) -> None:
        if self.loop is not None:
            self._find_exits(self.body)
        self.changed = True
        while self.changed:
            self.changed = False
            self._find_paths()
            self._visit(self.body)
        self._check()

    # --- paths --------------------------------------------------------------------------------------

    def _find_paths(self) -> None:
        """The paths of statements, the homes of variables, and what varies as it is set elsewhere."""
        lanes = self.lanes
        occurrences: defaultdict[Var, list[Path]] = defaultdict(list)
        sets: defaultdict[Var, list[Path]] = defaultdict(list)
        inside: dict[int, tuple[Path, Statement]] = {}
        around: list[Statement] = []

        def visit(body: Body, path: Path) -> None:
            for one in body:
                lanes.paths[id(one)] = path
                within = [path, path]
                if id(one) in lanes.divergent:
                    within = [(*path, 2 * id(one)), (*path, 2 * id(one) + 1)]
                for var in read_by(one):
                    occurrences[var].append(path)
                for var in hir.targets(one):
                    at = within[0] if isinstance(one, For) else path
                    occurrences[var].append(at)
                    sets[var].append(at)
                if isinstance(one, (Leave, Next)) and one.label in inside:
                    self._leave(inside[one.label][0], path, around, inside[one.label][1])
                elif isinstance(one, Return) and self.loop is None:
                    if path != ():
                        self._leave_all(around)
                        if not lanes.returns_apart:
                            lanes.returns_apart = self.changed = True
                elif (id(one) in lanes.exits and isinstance(body[-1], Return)) or (
                    isinstance(one, Next) and self.loop is not None and one.label == self.loop.label
                ):
                    self._leave_all(around)
                if isinstance(one, (For, Loop, Block)):
                    inside[one.label] = path, one
                around.append(one)
                for inner, place in zip(hir.bodies(one), within, strict=False):
                    visit(inner, place)
                around.pop()

        visit(self.body, ())
        for var, paths in occurrences.items():
            home = () if var in self.outer else common_path(paths)
            lanes.homes[var] = home
            self.several[var] = len(sets[var]) + (var in self.given) > 1
            if any(path != home for path in sets[var]):
                self._raise(var, VARYING)

    def _leave(self, target: Path, path: Path, around: list[Statement], end: Statement) -> None:
        """Lanes leave what is around a statement, up to a loop or block; others may stay."""
        if path != target or id(end) in self.lanes.divergent:
            self._leave_all(around, end)

    def _leave_all(self, around: list[Statement], end: Statement | None = None) -> None:
        for one in reversed(around):
            if isinstance(one, (For, Loop, Block)) and id(one) not in self.lanes.divergent:
                self.lanes.divergent.add(id(one))
                self.changed = True
            if one is end:
                return

    def _raise(self, var: Var, rank: int) -> None:
        """A variable is at least of a rank."""
        if var.kind == "r" and rank:
            before = self.lanes.ranks.get(var, rank)
            if before != rank or (rank == VARYING and not self.axes.costs):
                raise NotLanesError(f"{var.name} may be one list or another")
        if rank == CONSECUTIVE and self.several.get(var):
            rank = VARYING  # it may be uniform where it is set elsewhere
        if self.lanes.ranks.get(var, UNIFORM) < rank:
            self.lanes.ranks[var] = rank
            self.changed = True

    # --- statements ---------------------------------------------------------------------------------

    def _visit(self, body: Body) -> None:
        for one in body:
            if id(one) in self.lanes.exits:
                continue
            self._statement(one)
            for inner in hir.bodies(one):
                self._visit(inner)

    def _statement(self, one: Statement) -> None:
        rank = self.lanes.rank
        for expr in hir.expressions(one):
            if isinstance(expr, Op) and any(rank(var) == WIDE for var in variables_of(expr)):
                raise NotLanesError("a list that varies is compared or chosen")
        match one:
            case Set(targets=targets, values=values):
                for target, value in zip(targets, values, strict=True):
                    if target not in self.lanes.sums:
                        self._raise(target, rank(value))
            case New(target=target, items=items, layout=layout):
                if any(rank(leaf) for item in items for leaf in item):
                    self._widen(target, layout)
            case Fill(target=target, count=count, item=item, layout=layout):
                if rank(count):
                    raise NotLanesError("a list has another length in each iteration")
                if any(map(rank, item)):
                    self._widen(target, layout)
            case Length(list=ref):
                self._check_list(ref)
                if rank(ref) == VARYING:
                    self._raise(one.target, VARYING)
            case Load(targets=targets, list=ref, index=index):
                self._check_list(ref)
                if rank(ref) or rank(index):
                    for target in targets:
                        self._raise(target, VARYING)
            case Store(keeps=True):
                pass
            case Store(list=ref, item=item, index=index, layout=layout):
                if ref in self.lanes.stored:
                    if "r" in layout:
                        raise NotLanesError("lists are put into lists")
                    return
                if ref not in self.made:
                    raise NotLanesError("a list that is made before is changed")
                if rank(index) or any(map(rank, item)) or self.lanes.paths[id(one)] != self.lanes.homes[ref]:
                    self._widen(ref, layout)
            case Append(list=ref, item=item, layout=layout):
                if ref in self.lanes.collected:
                    if "r" in layout:
                        raise NotLanesError("lists are collected")
                elif ref not in self.made:
                    raise NotLanesError("a list that is made before is changed")
                elif any(map(rank, item)):
                    self._widen(ref, layout)
            case Truncate(list=ref):
                if ref not in self.made:
                    raise NotLanesError("a list that is made before is changed")
            case If(test=test):
                if rank(test) and id(one) not in self.lanes.divergent:
                    self.lanes.divergent.add(id(one))
                    self.changed = True
            case For(start=start, stop=stop, step=step):
                if rank(start) or rank(step):
                    raise NotLanesError("a loop starts elsewhere in each iteration")
                if rank(stop) and id(one) not in self.lanes.divergent:
                    self.lanes.divergent.add(id(one))
                    self.changed = True
            case Call():
                self._call(one)
            case Return(values=values):
                if self.loop is not None:
                    raise NotLanesError("a loop ends early")
                for place, value in enumerate(values):
                    found = rank(value)
                    if self.lanes.returns_apart or (found == CONSECUTIVE and self.returns > 1):
                        found = VARYING
                    if found > self.lanes.results[place]:
                        self.lanes.results[place] = found
                        self.changed = True
            case Visit():
                self._of_visit(one)
            case Leave() | Next() | Loop() | Block() | Fail():
                pass
            case _:
                raise NotLanesError(_NOT.get(type(one), "it makes or writes choices"))

    def _widen(self, ref: Expr, layout: tuple[str, ...]) -> None:
        if "r" in layout:
            raise NotLanesError("a list of lists varies")
        assert isinstance(ref, Var)
        self._raise(ref, WIDE)

    def _check_list(self, ref: Expr) -> None:
        if not isinstance(ref, (Var, Input)):
            raise NotLanesError("it reads one list or another")

    def _call(self, call: Call) -> None:
        effects = self.axes.effects.of(call.function)
        ranks = tuple(self.lanes.rank(arg) for arg in call.args)
        if effects.changes:
            raise NotLanesError(f"{call.function.name} changes a list")
        if not effects.pure:
            raise NotLanesError(f"{call.function.name} makes choices")
        if not any(ranks):
            self.lanes.called[id(call)] = None
            return
        found = self.axes.clone(call.function, ranks)
        self.lanes.called[id(call)] = call.function, ranks, found
        for target, result in zip(call.targets, found.results, strict=True):
            self._raise(target, result)

    def _of_visit(self, visit: Visit) -> None:
        template, ranks = visit.template, [self.lanes.rank(index) for index in visit.indices]
        if template.number in self.axes.concerned:
            raise NotLanesError("a choice may have the address of another")
        if self.loop is None or not any(ranks):
            raise NotLanesError("one choice in each iteration")
        is_apart = any(ranks[:-1]) or ranks[-1] != CONSECUTIVE
        if is_apart and id(visit) in self.repeated:
            raise NotLanesError("an inner loop makes choices of one iteration")
        self.lanes.apart[id(visit)] = is_apart
        if not is_apart and not self.signs.is_natural(visit.indices[-1]):
            raise NotLanesError("choices whose last index may be negative")
        if any(target.kind == "r" for target in visit.targets):
            raise NotLanesError("choices that are arrays")
        for target in visit.targets:
            self._raise(target, VARYING)

    def _find_exits(self, body: Body) -> None:
        """The branches that note that a density is zero, and may end the function, and do nothing else."""
        sides = [side for one in hir.walk(body) if isinstance(one, If) for side in (one.then, one.orelse)]
        end = any(isinstance(one, Return) for one in hir.walk(body))
        for side in sides:
            notes = side[:-1] if side and isinstance(side[-1], Return) else side
            if not side or (end and notes is side):  # the first of all is kept, whatever it does
                continue
            read = set().union(*map(read_by, side))
            if any(var.kind == "r" or var in self.lanes.sums for var in read):
                continue
            if all(isinstance(note, Primitive) and note.name == "impossible" for note in notes):
                self.lanes.exits[id(side[0])] = list(side)
                for note in side[1:]:
                    self.lanes.exits[id(note)] = []

    def _check(self) -> None:
        """Refuse what is only known at the end."""
        lanes = self.lanes
        lanes.resized = any(
            isinstance(one, (Append, Truncate)) and one.list not in lanes.collected
            for one in hir.walk(self.body)
        )
        for one in hir.walk(self.body):
            if isinstance(one, Leave) and self.loop is not None and one.label == self.loop.label:
                raise NotLanesError("a loop ends early")
            if isinstance(one, (Append, Store, Truncate)) and lanes.rank(one.list) == VARYING:
                raise NotLanesError("one list or another is changed")
            if isinstance(one, (Append, Truncate)):
                assert isinstance(one.list, Var)
                home = () if one.list in lanes.collected else lanes.homes[one.list]
                if lanes.paths[id(one)] != home:
                    raise NotLanesError("a list has another length in each iteration")
            if isinstance(one, (New, Fill, Set, Call, Load)):
                for var in hir.targets(one):
                    if var.kind == "r" and var in self.given and not isinstance(one, Set):
                        raise NotLanesError("a list that a function is given is set anew")
                    elsewhere = lanes.paths[id(one)] != lanes.homes.get(var, ())
                    if var.kind == "r" and elsewhere and lanes.rank(var) != VARYING:
                        raise NotLanesError(f"{var.name} may be one list or another")
            if isinstance(one, Set):
                for target, value in zip(one.targets, one.values, strict=True):
                    if target.kind == "r" and not _may_be(lanes.rank(target), lanes.rank(value)):
                        raise NotLanesError("a list varies or does not")
            if isinstance(one, (New, Fill, Append, Store)) and "r" in one.layout:
                for expr in hir.expressions(one):
                    if expr.kind == "r" and expr != one_list(one) and lanes.rank(expr):
                        raise NotLanesError("a list that varies is kept in another")
            if isinstance(one, Return) and self.loop is None:
                for value, result in zip(one.values, lanes.results, strict=True):
                    if value.kind == "r" and not _may_be(result, lanes.rank(value)):
                        raise NotLanesError("one list or another is returned")


def _may_be(rank: int, given: int) -> bool:
    """Whether a list may be one of another rank: each lane may have the same for its own."""
    return rank == given or (rank, given) == (VARYING, UNIFORM)


def _is_triangular(lanes: Lanes, loop: For) -> bool:
    """Whether there is a loop in a loop which has about as many iterations as that has had."""
    return any(
        isinstance(one, For) and any(lanes.rank(var) == CONSECUTIVE for var in variables_of(one.stop))
        for one in hir.walk(loop.body)
    )
