"""What two runtimes make of one program: the reference writes a script of operations, each runtime plays it.

All choices that an operation needs are given, but for `simulate`, so that it makes no difference in which
order a runtime draws.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gendsl.errors import GenDSLError
from gendsl.testing import running_on, runtimes

Args = tuple[Any, ...]
SHARED = "what is the same object in retval"

# --- values ------------------------------------------------------------------------------------------

STEPWISE = [name for name in runtimes() if name not in ("native", "python")]
"""The runtimes that differ where there are no chains."""


def alike(a: Any, b: Any) -> bool:
    """Whether two values have the same types and are equal, floats to 1e-9."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        same_kind = a.dtype == b.dtype and a.shape == b.shape
        return same_kind and all(map(alike, a.ravel().tolist(), b.ravel().tolist()))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, dict):
        return alike([*a], [*b]) and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, (float, np.floating)):
        same_sign = a != 0 or b != 0 or math.copysign(1, a) == math.copysign(1, b)
        return bool(same_sign and (a == b or abs(a - b) <= 1e-9 * (1 + abs(a)) or (a != a and b != b)))
    return bool(a == b)


def shared(value: Any, seen: dict[int, int] | None = None) -> Any:
    """Which lists and dicts in a value are the same object: each as the number of its first occurrence."""
    seen = {} if seen is None else seen
    if not isinstance(value, (list, tuple, dict)):
        return None
    if not isinstance(value, tuple):
        if id(value) in seen:
            return seen[id(value)]
        seen[id(value)] = len(seen)
    return [shared(part, seen) for part in (value.values() if isinstance(value, dict) else value)]


def attempt(operation: Callable[[], Any]) -> Any:
    """What an operation returns, or the exception that it raises."""
    try:
        return operation()
    except Exception as error:
        return error


def seen(trace: Any) -> dict[str, Any]:
    """Everything of a trace that is compared, as it is now."""
    sharing = shared(trace.retval)
    found = {"choices": trace.choices.to_flat_dict(), "retval": trace.retval, "log_prob": trace.log_prob}
    return {**copy.deepcopy(found), "args": trace.args, SHARED: sharing}


def outcome(result: Any) -> Any:
    """What came of an operation: a class and a text where it raised, else its parts by name."""
    if isinstance(result, Exception):
        return type(result), str(result.address if isinstance(result, GenDSLError) else result)
    if hasattr(result, "trace"):
        discard = result.discard.to_flat_dict() if hasattr(result, "discard") else {}
        discard = dict(sorted(discard.items(), key=repr))  # it has no order of its own
        return {**seen(result.trace), "log_weight": result.log_weight, "discard": discard}
    if hasattr(result, "choices"):
        return seen(result)
    return dict(result._asdict())


# --- scripts -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Script:
    """Operations on a program.

    Attributes:
        args: the arguments of the first trace.
        seed: of `simulate`, or None where it isn't compared.
        choices: all choices of the first trace; None where the program can't be simulated.
        updates: the number of the trace to update, the choices given, new arguments or None.
    """

    args: Args
    seed: int | None
    choices: dict[Any, Any] | None
    updates: list[tuple[int, dict[Any, Any], Args | None]] = field(default_factory=list)


def write_script(
    model: Any, args: Args, others: Sequence[Args] = (), *, seed: int = 0, draws: bool = True
) -> Script:
    """A script for a program, and for others of its arguments, written by the reference runtime.

    Args:
        draws: whether traces from the same seed are compared.
    """
    with running_on("reference"):
        first = attempt(lambda: model.simulate(copy.deepcopy(args), rng=seed))
        if isinstance(first, Exception):
            return Script(args, seed, None)
        script = Script(args, seed if draws else None, first.choices.to_flat_dict())
        rng, traces = random.Random(seed), [first]
        elsewhere = attempt(lambda: model.simulate(copy.deepcopy(args), rng=seed + 1000))
        values = {} if isinstance(elsewhere, Exception) else elsewhere.choices.to_flat_dict()
        possible = [path for path in script.choices or () if path in values]
        planned: list[tuple[dict[Any, Any], Args | None]] = [({}, other) for other in others]
        planned += [({path: values[path]}, None) for path in rng.sample(possible, min(3, len(possible)))]
        planned += [({path: values[path] for path in possible}, None)]
        for given, new_args in planned:
            start = rng.randrange(len(traces))
            old = traces[start]
            result = attempt(lambda old=old, given=given, to=new_args: old.update(given, args=to, rng=seed))
            if not isinstance(result, Exception):
                traces.append(result.trace)
                fresh = {p: v for p, v in result.trace.choices.items() if p not in old.choices}
                given = {**fresh, **given}
            script.updates.append((start, given, copy.deepcopy(new_args)))
    return script


def play(model: Any, script: Script, runtime: str) -> list[tuple[str, Any]]:
    """What a runtime makes of a script: each operation in words, and what came of it."""
    found: list[tuple[str, Any]] = []

    def do(what: str, operation: Callable[[], Any]) -> Any:
        result = attempt(operation)
        found.append((what, outcome(result)))
        return result

    with running_on(runtime):
        args = copy.deepcopy(script.args)
        if script.seed is not None or script.choices is None:
            do(f"simulate, seed {script.seed}", lambda: model.simulate(args, rng=script.seed))
        if script.choices is None:
            return found
        given = script.choices
        do("assess", lambda: model.assess(args, given))
        first = do("generate", lambda: model.generate(args, {}, init=given, rng=1))
        if isinstance(first, Exception):
            return found
        traces = [first.trace]
        before = [seen(first.trace)]
        for start, changes, new_args in script.updates:
            if start >= len(traces):
                break  # an update failed, which is a difference
            what = f"update of trace {start} to {changes}, args {new_args}"
            base = traces[start]
            result = do(what, lambda base=base, to=new_args, c=changes: base.update(c, args=to, rng=1))
            if not isinstance(result, Exception):
                traces.append(result.trace)
                before.append(seen(result.trace))
        for number, (trace, then) in enumerate(zip(traces, before, strict=True)):
            found.append((f"trace {number} at the end", {"is as it was": alike(seen(trace), then)}))
    return found


def first_difference(
    expected: list[tuple[str, Any]], found: list[tuple[str, Any]], names: tuple[str, str]
) -> str | None:
    """Where what two runtimes made of a script is first different, in words; None if nowhere."""
    first, second = names
    for (what, one), (_, two) in zip(expected, found, strict=False):
        if isinstance(one, tuple) or isinstance(two, tuple):
            if one != two:
                return f"{what}: {first} gives {one}, {second} {two}"
            continue
        for name, value in one.items():
            if name == "log_weight" and abs(value - two[name]) <= 1e-12 * abs(one["log_prob"]):
                continue  # it is a difference of log probabilities, and these are large
            if not alike(value, two[name]):
                return f"{what}: {name} is {value} by {first}, {two[name]} by {second}"
    if len(expected) != len(found):
        return f"{first} did {len(expected)} operations, {second} {len(found)}"
    return None


def compare(
    model: Any,
    args: Args,
    others: Sequence[Args] = (),
    *,
    first: str = "reference",
    second: str,
    seed: int = 0,
    draws: bool = True,
    identity: bool = True,
) -> str | None:
    """Where two runtimes differ on a program, in words; None if nowhere.

    Args:
        draws: whether traces from the same seed are compared.
        identity: whether it is compared which parts of a return value are the same object.
    """
    script = write_script(model, args, others, seed=seed, draws=draws)
    names = first, second
    played = [play(model, script, name) for name in names]
    if not identity:
        for _, result in played[0] + played[1]:
            if isinstance(result, dict):
                result.pop(SHARED, None)
    return first_difference(*played, names)
