"""Random programs for each class of mistake that a way to run programs may make; a comparison on them.

    for program in programs("identity", 50):
        assert difference(program, "reference", "compiled") is None

A program is a text that defines `model`, and its arguments, so that whatever can run a `@gen` function can be
tried on a list of them. The pieces that they are made of are in `templates.py`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.conformance.comparing import compare
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

    @property
    def others(self) -> list[tuple[Any, ...]]:
        """Other arguments, each with one of them changed."""
        x, n, xs = self.args
        return [(x + 1.0, n, xs), (x, n % 3 + 1, xs), (x, n, [*xs[1:], x])]


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


def difference(program: Program, first: str, second: str, seed: int = 0) -> str | None:
    """Where two runtimes differ on a program, in words; None if nowhere."""
    with built(program.source) as model:
        return compare(model, program.args, program.others, first=first, second=second, seed=seed)
