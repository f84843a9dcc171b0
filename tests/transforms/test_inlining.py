"""Lines without the variables that are used once, against the lines as they were."""

import math

import numpy as np

from gendsl.transforms.inlining import inlined


def random_lines(seed):
    """Assignments to values, slopes and minors, each of those before it; and what is returned."""
    rng = np.random.default_rng(seed)
    names, lines = ["x1", "x2", "x3"], []
    for i in range(4, int(rng.integers(5, 40))):
        a, b = rng.choice(names, 2)
        text = [f"{a} + {b}", f"{a} * -{b}", f"({a} / 3.0)", f"{a} - {b} * {b}", f"sin({a})", f"-{a}"]
        name = f"{rng.choice(['y', 'd', 'm'])}{i}"
        lines.append(f"{name} = {rng.choice(text)}")
        names.append(name)
        if rng.random() < 0.2:
            lines.append(f"if {a} == 7.0: return None")
    given = rng.choice(names, 3)
    return [*lines, f"return [{', '.join(given)}]"], names[3:]


def result_of(lines):
    namespace = {"sin": math.sin}
    exec("\n".join(["def f(x1, x2, x3):", *(f"    {line}" for line in lines)]), namespace)
    return namespace["f"](0.3, -1.7, 2.9)


def test_what_is_returned_is_the_same_to_the_last_digit():
    fewer = 0
    for seed in range(300):
        lines, _ = random_lines(seed)
        short = inlined(lines)
        fewer += len(short) < len(lines)
        assert result_of(short) == result_of(lines), lines
    assert fewer > 250


def test_what_is_assigned_once_and_used_once_is_gone():
    lines = ["d1 = x1 + x2", "d2 = d1 * x3", "m3 = d2 - x1", "return m3"]
    assert inlined(lines) == ["return (((x1 + x2) * x3) - x1)"]


def test_what_is_used_twice_stays_and_slopes_that_are_not_used_go():
    lines = ["y1 = x1 + x2", "d2 = y1 * x3", "d3 = d2 * d2", "y4 = log(x1)", "return [y1, y1]"]
    assert inlined(lines) == ["y1 = x1 + x2", "y4 = log(x1)", "return [y1, y1]"]


def test_only_slopes_and_values_are_moved():
    """Other names may get another value before the next line."""
    lines = ["z = x1 / 2.0", "t1 = z * z", "z = x2 / 2.0", "t2 = z * z", "return [t1, t2]"]
    assert inlined(lines) == lines


def test_expressions_stay_short_enough_for_python():
    for text in ("d{} + x1", "x1 + d{}", "-d{}", "sin(d{})"):
        chain = [f"d{i + 1} = {text.format(i)}" for i in range(1, 2000)]
        lines = ["d1 = x2 + x3", *chain, "return d2000"]
        short = inlined(lines)
        assert len(short) < 200
        assert result_of(short) == result_of(lines)
