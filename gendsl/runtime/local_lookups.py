"""Edits of one choice that loops in columns look up by its place in a container; see `local`.

    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~categorical(weights)
        ("x", i) @ ~normal(mu[z], 1)

Beside its own iteration, a mean concerns the points of its cluster, which an index finds. What scores them is
generated for each plate, and stands in the functions for the site of the means, where plate 0 has done
before0 in its columns store0, and container0 is mu:

    key0 = len(container0.base) + t                where the container has the mean of iteration t
    bucket0 = index0.bucket(key0)
    if bucket0 is not None:                        else no point has this mean
        entry0 = Entry(container0, key0)           without its constructor, which takes longer
        given0 = {9: key0}                         what an iteration has, as z here
        outer0 = {6: entry0}                       and what it reads outside
        own0_1 = gathered(bucket0, 1, columns0[1])
        entry0.value = was
        a0_1 = own0_1.known(was)
        if a0_1 is None:
            made = call0_1(outer0, given0)         the parameters of the points, with this mean
            a0_1 = own0_1.total(family0_1, made[1:])
            ...
        entry0.value = now
        made = call0_1(outer0, given0)
        b0_1 = own0_1.total(family0_1, made[1:])
        ...
        high, low, infinite = changed(p0_1, a0_1[0], b0_1[0])
        p0_1 = high, low + (b0_1[1] - a0_1[1]), infinite

where p0_1 is the total of the plate's scores.
"""

from __future__ import annotations

from textwrap import dedent
from textwrap import indent as indented
from typing import Any

from gendsl.distributions.columns import VECTORS
from gendsl.runtime.column_carried import hand_on
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.column_scores import is_key
from gendsl.runtime.column_steps import Step
from gendsl.runtime.generated import generated
from gendsl.runtime.local_sites import Form, LocalSite, leaving, outer_text, total_text
from gendsl.runtime.lowering.tables import Entry, NotColumnsError
from gendsl.runtime.lowering.vectors import taken
from gendsl.runtime.members import gathered
from gendsl.runtime.totals import change as changed_total
from gendsl.runtime.totals import value as total_value

# --- generating ------------------------------------------------------------------------------------

_BEGUN = """\
before{k} = f0[{state}][0]
store{k} = before{k}.frames
if type(store{k}) is not ColumnFrames: raise NotColumnsError
container{k} = f0[{slot}]
index{k} = before{k}.readers.get(at{k})
if index{k} is None: index{k} = loop{k}.readers_of(before{k}, (f0,), at{k})
columns{k} = store{k}.columns
{totals}, = store{k}.totals
"""

_FOUND = """\
base = container{k}.base
if container{k}.kind == "append" and type(base) is list: key{k} = len(base) + t
else: key{k} = key_of(container{k}, t)
bucket{k} = index{k}.bucket(key{k})
if bucket{k} is not None:
    keys = columns{k}[{keys}]
    if not (keys.positive or keys.never_negative()) and not is_key(
        loop{k}, store{k}, {of}, key{k}, bucket{k}.array()
    ): raise NotColumnsError
    given{k} = {{{given}}}
{targets}\
    entry{k} = new(Entry)
    entry{k}.container, entry{k}.key = container{k}, key{k}
    outer{k} = {{{outer}}}
{scope}\
{handed}\
{own}\
"""

_TARGETS = """\
    for at_target, column in loop{k}.vector_frame(store{k}.values, store{k}.size, store{k}.arrays).items():
        given{k}[at_target] = taken(column, bucket{k}.array())
"""

_SCORE = """\
{s} = own{i}.total(family{i}, {parameters})
if {s}[2]: raise NotColumnsError
"""

_PARAMETERS = """\
made = call{i}(outer{k}, given{k})
if made[0] is not family{i}: raise NotColumnsError
"""

# where the parameters are decided by the entry alone, what it scored before is known
_KNOWN = """\
{s} = own{i}.known({value})
if {s} is None:
{computed}\
    own{i}.keep({value}, {s})
"""

_KEPT = """\
{computed}\
own{i}.keep({value}, {s})
"""

_MOVED = """\
if bucket{k} is not None:
{before}\
{after}\
{changes}\
    others += {change}
"""

_CHANGED = """\
    high, low, infinite = changed(p{i}, a{i}[0], b{i}[0])
    p{i} = high, low + (b{i}[1] - a{i}[1]), infinite
"""

_PUT = """\
before, store = before{k}, store{k}
frames = store.over({outer}, store.columns, ({totals},), {{}})
readers = {{**before.readers}}
"""

_MOVE = """\
def move(f0, before, path, value, rng):
{placing}\
{found}\
    record, was, own, others, rest = own_move(f0, before, t, value, rng)
    if record[2] is None: return record, was, own, others, None
    try:
        now = record[1]
{moved}\
    except Exception:                              # the blocks meet it again
        if rng is None: raise
        return (record[0], now, None), was, 0.0, 0.0, None
    return record, was, own, others, (rest, {told})
"""

_PUT_ALL = """\
def put(f0, before, moved):
    record, was, own, others, (rest, {told}) = moved
    own_put(f0, before, (record, was, own, others, rest))
{put}\
"""

_DENSITY = """\
def density(f0, before, path):
{placing}\
{found}\
    value, own = own_density(f0, before, t)
    def density(value):
        total = own(value)
        if total - total == 0.0:
{scored}\
        return total
    return value, density
"""

_SCORED = """\
if bucket{k} is not None:
{scores}\
    total += {sum}
"""


class Plate:
    """A plate in columns whose iterations look up entries of a container, each at the value of its choice.

    It is known as plate k in the functions that its parts are put into:

    Attributes:
        scope: what the names in them are.
        begun: what it has done, and the totals of its choices.
        found: the iterations that look up the entry that iteration t of the other loop has written.
        told: the variables that `put` needs.
        put: puts the totals into a frame.

    Those raise an exception of any kind where the iterations can't be found, or array code can't vouch for
    the scores.
    """

    __slots__ = ("_assigned", "_decided", "_steps", "begun", "found", "k", "put", "scope", "told")

    def __init__(self, k: int, loop: ColumnLoopBlock, slot: int) -> None:
        self.k = k
        affected = loop.affected[frozenset(((0, slot),))]
        of: Any = next(lookup.of for lookup in loop.lookups if lookup.container == (0, slot))
        (reads,) = loop.reads
        self.scope: dict[str, Any] = {
            "ColumnFrames": ColumnFrames, "Entry": Entry, "NotColumnsError": NotColumnsError,
            "changed": changed_total, "gathered": gathered, "hand_on": hand_on, "is_key": is_key,
            "key_of": _key, "new": object.__new__, "taken": taken, "total_value": total_value,
            f"at{k}": (0, slot), f"handed{k}": affected.handed, f"loop{k}": loop,
        }  # fmt: skip
        given = {of: f"key{k}"}
        for own, i in affected.columns:
            given.setdefault(own, f"gathered(bucket{k}, {i}, columns{k}[{i}]).array")
        self._assigned = ""
        for i, step in enumerate(affected.assigned):
            self.scope[f"assigned{k}_{i}"] = step
            self._assigned += f"    loop{k}.assign(assigned{k}_{i}, scope{k})\n"
        needs = set().union(*(step.needs for step in affected.steps))
        self._decided = needs <= {(0, slot), (loop.depth, of)}
        self._steps: list[Step] = affected.steps
        for step in self._steps:
            n = f"{k}_{step.number}"
            self.scope |= {f"step{n}": step, f"call{n}": step.runner.call, f"family{n}": step.family}
        totals = ", ".join(f"p{k}_{i}" for i in range(len(loop.sites)))
        self.begun = _BEGUN.format(k=k, state=loop.state, slot=slot, totals=totals)
        numbers = [step.number for step in self._steps]
        self.found = _FOUND.format(
            k=k, keys=loop.column_of[of], of=of,
            given=", ".join(f"{own}: {value}" for own, value in given.items()),
            targets=_TARGETS.format(k=k) if loop.needed_targets else "",
            outer=", ".join(f"{own}: {f'entry{k}' if own == slot else f'f0[{own}]'}" for own in reads),
            scope=f"    scope{k} = outer{k}, given{k}\n" if self._needs_scope(affected) else "",
            handed=f"    hand_on(handed{k}, scope{k}, columns{k}, bucket{k}.array())\n"
            if affected.handed else "",
            own="".join(f"    own{k}_{i} = gathered(bucket{k}, {i}, columns{k}[{i}])\n" for i in numbers),
        )  # fmt: skip
        self.told = f"before{k}, store{k}, {totals}"
        total = total_text(loop, f"p{k}_")
        self.put = _PUT.format(k=k, outer=outer_text(loop), totals=totals) + dedent(leaving(loop, total))

    def _needs_scope(self, affected: Any) -> bool:
        """Whether something is found by all that an iteration has and reads, not from the entry alone."""
        at_once = all(not step.computes and step.family not in VECTORS for step in self._steps)
        return bool(affected.handed or affected.assigned) or not at_once

    def scores(self, value: str, mark: str, keeping: str) -> str:
        """The lines that score the members with a value of the entry.

        Args:
            mark: what the names of the scores begin with.
            keeping: what is done of `_KNOWN` and `_KEPT` where the entry decides on all parameters.
        """
        k = self.k
        lines = f"    entry{k}.value = {value}\n{self._assigned}"
        for step in self._steps:
            i = f"{k}_{step.number}"
            s, parameters, score = f"{mark}{i}", f"loop{k}.parameters(step{i}, scope{k})", ""
            if not step.computes and step.family not in VECTORS:
                score, parameters = _PARAMETERS.format(i=i, k=k), "made[1:]"
            score += _SCORE.format(i=i, s=s, parameters=parameters)
            if self._decided and keeping:
                computed = indented(score, "    ") if keeping is _KNOWN else score
                score = keeping.format(s=s, i=i, value=value, computed=computed)
            lines += indented(score, "    ")
        return lines

    def moved(self, was: str, now: str) -> str:
        """The lines that put another value of the entry into the totals, and add to `others`."""
        marks = [f"{self.k}_{step.number}" for step in self._steps]
        return _MOVED.format(
            k=self.k, before=self.scores(was, "a", _KNOWN), after=self.scores(now, "b", _KEPT),
            changes="".join(_CHANGED.format(i=i) for i in marks),
            change=" + ".join(f"(b{i}[0] + b{i}[1]) - (a{i}[0] + a{i}[1])" for i in marks),
        )  # fmt: skip

    def scored(self) -> str:
        """The lines that add the scores with a value to `total`."""
        marks = [f"{self.k}_{step.number}" for step in self._steps]
        sums = " + ".join(f"s{i}[0] + s{i}[1]" for i in marks)
        return _SCORED.format(k=self.k, scores=self.scores("value", "s", ""), sum=sums)


def plates_of(site: LocalSite) -> list[Plate]:
    """The plates that look the choices of a site up."""
    return [Plate(k, loop, slot) for k, (loop, slot) in enumerate(site.lookups)]


def looked_up(form: Form, site: LocalSite, plates: list[Plate]) -> Form:
    """The functions for a site whose choices plates look up.

    Args:
        form: those that see to its own iterations; they are given an iteration where others get a path. Its
            `edit` sees to all.
    """
    scope: dict[str, Any] = {"own_density": form.density, "own_move": form.move, "own_put": form.put}
    placing = site.placing(scope)
    for plate in plates:
        scope |= plate.scope
    found = indented("".join(plate.begun + plate.found for plate in plates), "    ")
    told = ", ".join(plate.told for plate in plates)
    moved = indented("".join(plate.moved("was", "now") for plate in plates), "        ")
    put = indented("".join(plate.put for plate in plates), "    ")
    scored = indented("".join(plate.scored() for plate in plates), "            ")
    return Form(
        generated("move", [_MOVE.format(placing=placing, found=found, moved=moved, told=told)], scope),
        generated("density", [_DENSITY.format(placing=placing, found=found, scored=scored)], scope),
        generated("put", [_PUT_ALL.format(told=told, put=put)], scope),
        True,
        form.edit,
    )


def _key(container: Any, t: int) -> int:
    """The key under which the container that a loop fills has what iteration t writes, and only it does.

    Raises:
        NotColumnsError: it isn't known, or what it has there is another value.
    """
    one_each = container.kind == "append" or container.count is not None
    if not one_each or type(container.base) not in (list, dict):
        raise NotColumnsError
    key = container.key_of(t)
    if type(key) is not int:
        raise NotColumnsError
    return key
