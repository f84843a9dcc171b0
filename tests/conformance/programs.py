"""Random programs for each class of mistake that a way to run programs may make; a comparison on them.

    for program in programs("identity", 50):
        assert difference(program, "reference", "compiled") is None

A program is a text that defines `model`, and its arguments, so that whatever can run a `@gen` function can be
tried on a list of them. The pieces that they are made of are in `templates.py`.
"""

from __future__ import annotations

import copy
import math
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from gendsl.errors import GenDSLError
from gendsl.testing import running_on
from tests.conformance.templates import TEMPLATES
from tests.laws.modules import imported

KINDS = tuple(TEMPLATES)

_HEADER = """\
import functools
import math
from dataclasses import dataclass, field

import numpy as np

from gendsl import bernoulli, gen, normal, uniform_discrete


@gen
def model(x, n, xs):
    a = ~normal(x, 1)
    b = ~normal(0, 2)
    z = ~bernoulli(0.5)
    k = ~uniform_discrete(0, 2)
"""


class Program(NamedTuple):
    """A program.

    Attributes:
        source: the text of a module with a `@gen` function `model`.
        args: the arguments of `model`.
        name: what it is made of, for messages.
    """

    source: str
    args: tuple[Any, ...]
    name: str


# --- texts -------------------------------------------------------------------------------------------


def _filled(template: str, number: int, rng: random.Random, at: str) -> list[str]:
    """The lines of a piece, with one of the alternatives in each place."""
    text = re.sub(r"⟨([^⟩]*)⟩", lambda found: rng.choice(re.split(r"¦(?:\n *)?", found[1])), template)
    return [line for line in text.replace("§", str(number)).replace("AT", at).split("\n") if line.strip()]


def _indented(lines: list[str], depth: int) -> list[str]:
    return ["    " * depth + line for line in lines]


def _piece(template: str, number: int, rng: random.Random) -> list[str]:
    """A piece as a part of the body: as it is, in a branch, in a loop, in a helper without choices."""
    form = rng.choice(["plain", "plain", "branch", "loop", "plain" if "@ ~" in template else "helper"])
    lines = _filled(template, number, rng, "t" if form == "loop" else "0")
    out, keep, all_ = f"out{number}", f"keep{number}", f"all{number}"
    choice = f'("y", {number}{", t" if form == "loop" else ""}) @ ~normal(0.5 * {out}, 1.0)'
    if form == "branch":
        test = rng.choice(["z", "k > 0", "a > b", "n > 1 or z"])
        body = [f"if {test}:", *_indented(lines, 1), "else:", f"    {out}, {keep} = x, None", choice]
    elif form == "loop":
        body = [f"{all_} = []", f"for t in range({rng.choice(['n', '2'])}):"]
        body += [*_indented([*lines, choice, f"{all_}.append({keep})"], 1), f"{keep} = {all_}"]
    elif form == "helper":
        body = [f"def piece{number}(x, n, xs, a, b, z, k):", *_indented(lines, 1)]
        body += [f"    return {out}, {keep}", f"{out}, {keep} = piece{number}(x, n, xs, a, b, z, k)", choice]
    else:
        body = [*lines, choice]
    return body


def program(kind: str, seed: int) -> Program:
    """One random program: one to three pieces of a kind."""
    rng = random.Random(f"{kind} {seed}")
    templates = TEMPLATES[kind]
    count = rng.choice([1, 1, 2, 3])
    pieces = [templates[seed % len(templates)], *rng.choices(templates, k=count - 1)]  # each has its turn
    lines = [line for i, template in enumerate(pieces, 1) for line in _piece(template, i, rng)]
    kept = ", ".join(f"{name}{i}" for i in range(1, count + 1) for name in ("out", "keep"))
    source = _HEADER + "\n".join(_indented([*lines, f"return ({kept})"], 1)) + "\n"
    xs = [round(rng.gauss(0, 1), 3) for _ in range(3)]
    return Program(source, (round(rng.gauss(0, 1), 3), rng.randint(1, 3), xs), f"{kind} {seed}")


def programs(kind: str, count: int, seed: int = 0) -> list[Program]:
    """Programs of a kind; the same at each call."""
    return [program(kind, i) for i in range(seed, seed + count)]


@contextmanager
def built(source: str) -> Iterator[Any]:
    """The `@gen` function `model` of a source."""
    with imported(source) as module:
        yield module.model


# --- comparing ---------------------------------------------------------------------------------------


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


def shape_of(value: Any, seen: dict[int, int] | None = None) -> Any:
    """Which lists and dicts in a value are the same object: each as the number of its first occurrence."""
    seen = {} if seen is None else seen
    if not isinstance(value, (list, tuple, dict)):
        return None
    if not isinstance(value, tuple):
        if id(value) in seen:
            return seen[id(value)]
        seen[id(value)] = len(seen)
    return [shape_of(part, seen) for part in (value.values() if isinstance(value, dict) else value)]


def attempt(operation: Callable[[], Any]) -> Any:
    """What an operation returns, or the exception that it raises."""
    try:
        return operation()
    except Exception as error:
        return error


def _failure(error: Exception) -> Any:
    """What two runtimes must agree on where both raise."""
    return type(error), str(error.address if isinstance(error, GenDSLError) else error)


def _seen(trace: Any) -> dict[str, Any]:
    """Everything of a trace that is compared, as it is now."""
    sharing = shape_of(trace.retval)
    found = {"choices": trace.choices.to_flat_dict(), "retval": trace.retval, "log_prob": trace.log_prob}
    return {**copy.deepcopy(found), "what is the same object in retval": sharing}


def _as_dict(result: Any) -> dict[str, Any]:
    """The parts of what an operation returned, by name."""
    if isinstance(result, dict):
        return result
    if hasattr(result, "log_weight"):
        found = {"log_weight": result.log_weight, **_seen(result.trace)}
        return {**found, "discard": result.discard.to_flat_dict()} if hasattr(result, "discard") else found
    if hasattr(result, "retval") and hasattr(result, "choices"):
        return _seen(result)
    return dict(result._asdict())


def _steps(model: Any, args: tuple[Any, ...], seed: int) -> Iterator[tuple[str, Any, Any]]:
    """Operations on a program: what was done, what came of it, and the trace that it came from, if any."""
    first = attempt(lambda: model.simulate(args, rng=seed))
    yield f"simulate, rng={seed}", first, None
    if isinstance(first, Exception):
        return
    choices = first.choices.to_flat_dict()
    yield "assess", attempt(lambda: model.assess(args, choices)), None
    rng = random.Random(seed)
    other = attempt(lambda: model.simulate(args, rng=seed + 1000))
    values = choices if isinstance(other, Exception) else other.choices.to_flat_dict()
    for path in rng.sample([*choices], min(3, len(choices))):
        if path in values:
            given = {path: values[path]}
            yield f"update {given}", attempt(lambda given=given: first.update(given, rng=seed)), first
    x, n, xs = args
    for new_args in ((x + 1.0, n, xs), (x, n % 3 + 1, xs), (x, n, [*xs[1:], x])):
        yield (
            f"update args={new_args}",
            attempt(lambda new_args=new_args: first.update({}, args=new_args, rng=seed)),
            first,
        )
    given = {path: value for path, value in values.items() if path in choices}
    last = attempt(lambda: first.update(given, rng=seed))
    yield "update of all choices", last, first
    if not isinstance(last, Exception):
        yield "and back", attempt(lambda: last.trace.update(last.discard, rng=seed)), last.trace


def observed(model: Any, args: tuple[Any, ...], runtime: str, seed: int) -> list[tuple[str, Any]]:
    """What a runtime makes of a program: operations, and what came of each."""
    found: list[tuple[str, Any]] = []
    with running_on(runtime):
        first: dict[int, tuple[Any, dict[str, Any]]] = {}
        for done, result, base in _steps(model, copy.deepcopy(args), seed):
            found.append((done, _failure(result) if isinstance(result, Exception) else _as_dict(result)))
            if base is not None:
                first.setdefault(id(base), (base, _seen(base)))
        for base, before in first.values():
            found.append(("the old trace afterwards", {"same": alike(_seen(base), before)}))
    return found


def difference(program: Program, first: str, second: str, seed: int = 0) -> str | None:
    """Where two runtimes differ on a program, in words; None if nowhere."""
    with built(program.source) as model:
        expected, found = (observed(model, program.args, runtime, seed) for runtime in (first, second))
    return first_difference(expected, found, (first, second))


def first_difference(
    expected: list[tuple[str, Any]], found: list[tuple[str, Any]], names: tuple[str, str]
) -> str | None:
    """Where what two runtimes made of a program is first different, in words; None if nowhere."""
    first, second = names
    for (done, one), (_, two) in zip(expected, found, strict=False):
        if isinstance(one, tuple) or isinstance(two, tuple):
            if one != two:
                return f"{done}: {first} gives {one}, {second} {two}"
            continue
        for name, value in one.items():
            if not alike(value, two[name]):
                return f"{done}: {name} is {value} by {first}, {two[name]} by {second}"
    if len(expected) != len(found):
        return f"{first} did {len(expected)} operations, {second} {len(found)}"
    return None
