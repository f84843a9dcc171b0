"""Random programs of chains: how they start, what is read of the steps before, and what is seen of each.

A chain goes on from one or two values before, a number or choices made before its loop, in states or along
the line; states have rows of probabilities and means, which may be points in the plane.
"""

from __future__ import annotations

import random

HEAD = """import numpy as np
from gendsl import categorical, dirichlet, gen, mvnormal, normal


@gen
def model(n, rows, cov):
"""
FIRST = "[0.2, 0.3, 0.5]"
OF_STATES = (
    "rows[{a}]",
    "rows[({a} + {b}) % 3]",
    "[(1 + (j == {a})) / 4 for j in range(3)]",
    "rows[{a} if {b} else 0]",
)
OF_NUMBERS = "0.5 * {a}", "0.9 * {a} - 0.3 * {b}", "{a} + 0.1 * np.tanh({b})", "abs({a}) - {b} * 0.2"
MATRICES = "cov", "np.eye(2)", "[[1.0, 0.0], [0.0, 2.0]]"


def program(seed):
    """The text of a program, and whether its choices are states."""
    rng = random.Random(seed)
    has_states, in_plane = rng.random() < 0.6, rng.random() < 0.4
    lines = []
    if has_states:
        mean = "mvnormal(np.zeros(2), 4 * np.eye(2))" if in_plane else "normal(0.0, 3.0)"
        lines.append(f'c = [("c", j) @ ~{mean} for j in range(3)]')
        if rng.random() < 0.5:
            lines.append('rows = [("row", j) @ ~dirichlet([1.0] * 3) for j in range(3)]')
    following = rng.choice(OF_STATES if has_states else OF_NUMBERS)
    first, number = (FIRST, "0") if has_states else ("0.0", "0.3")

    def draw(parameter, index):
        return f'("z", {index}) @ ~' + (
            f"categorical({parameter})" if has_states else f"normal({parameter}, 1.0)"
        )

    def seen(index, name):
        if has_states and in_plane:
            return f'("y", {index}) @ ~mvnormal(c[{name}], {rng.choice(MATRICES)})'
        mean = f"c[{name}]" if has_states else name
        return f'("y", {index}) @ ~normal({mean}, 1.0)'

    start, count = rng.choice(["number", "own", "other", "one of two"]), 0
    if start == "number":
        lines.append(f"a = b = {number}")
    elif start == "own":
        lines.append(f"b = {draw(first, 0)}")
        if rng.random() < 0.5:
            lines.append(seen(0, "b"))
        two = "{b}" in following
        second = first if rng.random() < 0.5 else following.format(a="b", b="b")
        lines.append(f"a = {draw(second, 1)}" if two else "a = b")
        count = 1 + two
    elif start == "other":
        lines.append('a = "w" @ ~' + (f"categorical({FIRST})" if has_states else "normal(0.0, 1.0)"))
        lines.append(rng.choice(["b = a", f"b = {number}"]))
    else:
        lines += [f"b = {number}", f"a = {draw(first, 0)}"]
        count = 1
    step = draw(following.format(a="a", b="b"), "t")
    test = rng.choice([f"t == {count}", "t % 3 == 2", "", "", ""])
    body = [f"z = {step}"]
    if test:
        body = [f"if {test}:", f"    z = {draw(first, 't')}", "else:", f"    z = {step}"]
    if rng.random() < 0.5:
        body.append(seen("t", rng.choice("zzab")))
        body += ["b = a", "a = z"]
    else:
        body += ["b, a = a, z", seen("t", "a")]
    lines += [f"for t in range({count}, n):", *(f"    {line}" for line in body)]
    if rng.random() < 0.2:
        lines.append('"last" @ ~normal(1.0 * a, 1.0)')
    return HEAD + "".join(f"    {line}\n" for line in lines), has_states
