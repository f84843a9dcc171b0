"""Edits of one choice that loops in columns look up by its place in a container; see `local`.

    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~categorical(weights)
        ("x", i) @ ~normal(mu[z], 1)

Beside its own iteration, a mean concerns the points of its cluster, which an index finds. What scores them is
made once, for as many means as are asked for, by a function that is generated for each plate:

    def found(f0, t):
        before = f0[12][0]
        store = before.frames
        key = len(container.base) + t              where the container has the mean of iteration t
        ...
        bucket = index.bucket(key)
        if bucket is None: return before, None     no point has this mean
        columns = store.columns
        given = {9: key}                           what an iteration has, as z here
        entry = Entry(container, key)
        outer = {6: entry}                         and what it reads outside
        own1 = gathered(bucket, 1, columns[1])
        def score(value, before=False):
            entry.value = value
            s1 = own1.known(value) if before else None
            if s1 is None:
                made = call1(outer, given)         the parameters of the points, with this mean
                s1 = own1.total(family1, made[1:])
                ...
            return s1,
        return before, score

Others give the changes of the scores, and put them into the totals of the plate.
"""

from __future__ import annotations

from typing import Any

from gendsl.compiler.tables import Entry, NotColumnsError
from gendsl.compiler.vectors import taken
from gendsl.distributions.columns import VECTORS
from gendsl.runtime.column_carried import hand_on
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.column_scores import is_key
from gendsl.runtime.column_steps import moved_total
from gendsl.runtime.generated import generated
from gendsl.runtime.local_sites import Form, LocalSite, leaving, outer_text, total_text
from gendsl.runtime.loop_parts import Iterations
from gendsl.runtime.members import gathered
from gendsl.runtime.totals import value as total_value

# --- generating ------------------------------------------------------------------------------------

_FOUND = """\
def found(f0, t):
    before = f0[{state}][0]
    store = before.frames
    if type(store) is not ColumnFrames: raise NotColumnsError
    container = f0[{slot}]
    if container.kind == "append" and type(container.base) is list: key = len(container.base) + t
    else: key = key_of(container, t)
    index = before.readers.get(at)
    if index is None: index = loop.readers_of(before, (f0,), at)
    bucket = index.bucket(key)
    if bucket is None: return before, None
    columns = store.columns
    if not columns[{keys}].never_negative() and not is_key(loop, store, {of}, key, bucket.array()):
        raise NotColumnsError
    given = {{{given}}}
{targets}\
    entry = Entry(container, key)
    outer = {{{outer}}}
    scope = outer, given
{handed}\
{own}\
    def score(value, before=False):
        entry.value = value
{assigned}\
{scores}\
        return {all},
    return before, score
"""

_TARGETS = """\
    for at_target, column in loop.vector_frame(store.values, store.size, store.arrays).items():
        given[at_target] = taken(column, bucket.array())
"""

_SCORE = """\
{indent}s{i} = own{i}.total(family{i}, {parameters})
{indent}if s{i}[2]: raise NotColumnsError
"""

_PARAMETERS = """\
{indent}made = call{i}(outer, given)
{indent}if made[0] is not family{i}: raise NotColumnsError
"""

# where the parameters are decided by the entry alone, what it scored before is known
_KNOWN = """\
        s{i} = own{i}.known(value) if before else None
        if s{i} is None:
{computed}\
            own{i}.keep(value, s{i})
"""

_MOVED = """\
def moved(before, score, was, now):
    {totals}, = before.frames.totals
    {old}, = score(was, True)
    {new}, = score(now)
{changes}\
    return {change}, ({totals},)
"""

_PUT = """\
def put(f0, before, totals):
    store = before.frames
    {totals}, = totals
    frames = ColumnFrames(loop, {outer}, store.values, store.size, store.columns, totals, store.arrays)
    readers = {{**before.readers}}
{leaving}\
"""

_MOVE = """\
def move(f0, before, path, value, rng):
{placing}\
{found}\
    record, was, own, others, rest = own_move(f0, before, t, value, rng)
    if record[2] is None: return record, was, own, others, None
    try:
        given = record[1]
{moved}\
    except Exception:                              # the blocks meet it again
        if rng is None: raise
        return (record[0], given, None), was, 0.0, 0.0, None
    return record, was, own, others, (rest{told})
"""

_FOUND_FIRST = """\
    done{k}, score{k} = found{k}(f0, t)
    totals{k} = done{k}.frames.totals
"""

_MOVED_THEN = """\
        if score{k} is not None:
            change, totals{k} = moved{k}(done{k}, score{k}, was, given)
            others += change
"""

_PUT_ALL = """\
def put(f0, before, moved):
    record, was, own, others, (rest{told}) = moved
    own_put(f0, before, (record, was, own, others, rest))
{put}\
"""

_DENSITY = """\
def density(f0, before, path):
{placing}\
{found}\
    value, own = own_density(f0, before, t)
    scores = [score for score in ({scores},) if score is not None]
    def density(value):
        total = own(value)
        if total - total == 0.0:
            for score in scores:
                for high, low, _ in score(value): total += high + low
        return total
    return value, density
"""


class _Plate:
    """A plate in columns whose iterations look up entries of a container, each at the value of its choice.

    Attributes:
        found: what the plate has done (frame, t), and what gives the total score of each choice that depends
            on the entry that iteration t of the other loop has written, with a value there; None if no
            iteration looks it up.
        moved: what another value of the entry changes the scores by (what the plate has done, what gives the
            scores, the value before and after), and the totals of all choices after it.
        put: puts these into a frame (frame, what the plate has done, the totals).

    Raises:
        Exception: of any kind, where the iterations can't be found, or array code can't vouch for the scores.
    """

    __slots__ = ("found", "moved", "put")

    def __init__(self, loop: ColumnLoopBlock, slot: int) -> None:
        affected = loop.affected[frozenset(((0, slot),))]
        of: Any = next(lookup.of for lookup in loop.lookups if lookup.container == (0, slot))
        (reads,) = loop.reads
        scope: dict[str, Any] = {
            "ColumnFrames": ColumnFrames, "Entry": Entry, "Iterations": Iterations,
            "NotColumnsError": NotColumnsError, "at": (0, slot), "gathered": gathered, "hand_on": hand_on,
            "handed": affected.handed, "is_key": is_key, "key_of": _key, "loop": loop,
            "moved_total": moved_total, "taken": taken, "total_value": total_value,
        }  # fmt: skip
        given = {of: "key"}
        for own, i in affected.columns:
            given.setdefault(own, f"gathered(bucket, {i}, columns[{i}]).array")
        assigned, scores = [], []
        for i, step in enumerate(affected.assigned):
            scope[f"assigned{i}"] = step
            assigned.append(f"        loop.assign(assigned{i}, scope)\n")
        needs = set().union(*(step.needs for step in affected.steps))
        decided = needs <= {(0, slot), (loop.depth, of)}
        for step in affected.steps:
            i, indent = step.number, "            " if decided else "        "
            scope[f"step{i}"], scope[f"call{i}"], scope[f"family{i}"] = step, step.runner.call, step.family
            parameters, score = f"loop.parameters(step{i}, scope)", ""
            if not step.computes and step.family not in VECTORS:
                score, parameters = _PARAMETERS.format(i=i, indent=indent), "made[1:]"
            score += _SCORE.format(i=i, indent=indent, parameters=parameters)
            scores.append(_KNOWN.format(i=i, computed=score) if decided else score)
        numbers = [step.number for step in affected.steps]
        found = _FOUND.format(
            state=loop.state, slot=slot, keys=loop.column_of[of], of=of,
            given=", ".join(f"{own}: {value}" for own, value in given.items()),
            targets=_TARGETS if loop.needed_targets else "",
            outer=", ".join(f"{own}: {'entry' if own == slot else f'f0[{own}]'}" for own in reads),
            handed="    hand_on(handed, scope, columns, bucket.array())\n" if affected.handed else "",
            own="".join(f"    own{i} = gathered(bucket, {i}, columns[{i}])\n" for i in numbers),
            assigned="".join(assigned), scores="".join(scores), all=", ".join(f"s{i}" for i in numbers),
        )  # fmt: skip
        totals = ", ".join(f"p{i}" for i in range(len(loop.sites)))
        moved = _MOVED.format(
            totals=totals, old=", ".join(f"a{i}" for i in numbers), new=", ".join(f"b{i}" for i in numbers),
            changes="".join(f"    p{i} = moved_total(p{i}, a{i}, b{i})\n" for i in numbers),
            change=" + ".join(f"(b{i}[0] + b{i}[1]) - (a{i}[0] + a{i}[1])" for i in numbers),
        )  # fmt: skip
        put = _PUT.format(totals=totals, outer=outer_text(loop), leaving=leaving(loop, total_text(loop)))
        self.found = generated("found", [found], scope)
        self.moved = generated("moved", [moved], scope)
        self.put = generated("put", [put], scope)


def looked_up(form: Form, site: LocalSite) -> Form:
    """The functions for a site whose choices plates look up.

    Args:
        form: those that see to its own iterations; they are given an iteration where others get a path.
    """
    scope: dict[str, Any] = {"own_density": form.density, "own_move": form.move, "own_put": form.put}
    about: dict[str, str] = {"placing": site.placing(scope), "found": "", "moved": "", "told": "", "put": ""}
    for k, (loop, slot) in enumerate(site.lookups):
        plate = _Plate(loop, slot)
        scope |= {f"found{k}": plate.found, f"moved{k}": plate.moved, f"put{k}": plate.put}
        about["found"] += _FOUND_FIRST.format(k=k)
        about["moved"] += _MOVED_THEN.format(k=k)
        about["told"] += f", done{k}, totals{k}"
        about["put"] += f"    put{k}(f0, done{k}, totals{k})\n"
    about["scores"] = ", ".join(f"score{k}" for k in range(len(site.lookups)))
    move, density, put = (
        generated(name, [text.format(**about)], scope)
        for name, text in (("move", _MOVE), ("density", _DENSITY), ("put", _PUT_ALL))
    )
    return Form(move, density, put, True)


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
