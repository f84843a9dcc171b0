"""Closed programs as text: Python text and machine code make of a program what the reference makes of it."""

import inspect
import math
import os
import random

import pytest

from benchmarks.models import families
from gendsl import bernoulli, dirichlet, gen, normal, uniform_discrete
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.run.closed import ClosedDensity
from gendsl.errors import ArgumentError
from tests.compiler.closed_outcomes import NATIVE, equal, outcome
from tests.conformance.idioms import GROUPS
from tests.conformance.programs import KINDS, built, programs

LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")
MODELS = [model for models in families().values() for model in models]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_families_of_models(model):
    assert outcome(model.program, model.args(min(model.size, 12))) == "equal"


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_programs_of_this_repository_are_equal_or_refused(group):
    programs = [*GROUPS[group]().items()]
    found = [outcome(model, args[0], native=False) for _, (model, args) in programs[:: 1 if LONG else 6]]
    assert found


@pytest.mark.parametrize("kind", KINDS)
def test_random_programs_are_equal_or_refused(kind):
    for case in programs(kind, 200 if LONG else 3):
        with built(case.source) as model:
            outcome(model, case.args, native=False)


# --- what an operation means ---------------------------------------------------------------------------


@gen
def whole_numbers(a, b):
    results = [a // b, a % b, -a // b, a - b * (a // b), a & b, a | b, a ^ b, abs(a - b)]
    results += [min(a, b), max(a, b)]
    ("x", 0) @ ~normal(sum(results), 1)
    return results


@gen
def floats(a, b):
    results = [a // b, a % b, a / b, abs(a) ** 0.5, a**2, -(a**3), int(a), round(b), float(int(b))]
    ("x", 0) @ ~normal(sum(results), 1)


@pytest.mark.parametrize("program, draw", [
    (whole_numbers, lambda rng: rng.choice([-7, -3, -2, -1, 1, 2, 3, 10**9])),
    (floats, lambda rng: rng.choice([-7.5, -2.0, -0.5, 0.25, 1.5, 2.5, 1e9]) * rng.choice([1.0, 1.1])),
])  # fmt: skip
def test_arithmetic_is_pythons(program, draw):
    rng = random.Random(0)
    closed = ClosedDensity(program, (draw(rng), draw(rng)))
    for _ in range(60):
        args = draw(rng), draw(rng)
        choices = {("x", 0): rng.uniform(-5, 5)}
        expected = program.reference.assess(args, choices).log_prob
        assert equal(closed.assess_python(args, choices), expected)
        if NATIVE:
            assert equal(closed.assess_native(args, choices), expected)


def test_where_python_raises_a_text_fails():
    closed = ClosedDensity(whole_numbers, (3, 2))
    ways = [closed.assess_python, closed.assess_native] if NATIVE else [closed.assess_python]
    for way in ways:
        with pytest.raises(FailedText):
            way((3, 0), {("x", 0): 0.0})  # a division by zero
        with pytest.raises(FailedText):
            way((3, 2), {})  # a choice that is not given
        with pytest.raises((FailedText, NotClosed)):
            way((3, 2), {("x", 0): 0.0, ("x", 1): 0.0})  # one that the program does not make
    if NATIVE:
        with pytest.raises(FailedText, match="64 bits"):
            closed.assess_native((2**62, -(2**62)), {("x", 0): 0.0})


@gen
def twice(n):
    for _ in range(n):
        x = ~normal(0, 1)


def test_a_choice_that_is_made_twice_fails():
    closed = ClosedDensity(twice, (2,))
    assert equal(closed.assess_python((1,), {("x",): 0.5}), twice.assess((1,), {"x": 0.5}).log_prob)
    with pytest.raises(FailedText):
        closed.assess_python((2,), {("x",): 0.5})
    if NATIVE:
        with pytest.raises(FailedText, match="twice"):
            closed.assess_native((2,), {("x",): 0.5})


@gen
def parameters(p, alpha):
    z = ~bernoulli(p)
    w = ~dirichlet(alpha)


@pytest.mark.parametrize("args", [(1.5, [1.0, 1.0]), (0.5, [1.0, -1.0]), (0.5, [])])
def test_parameters_out_of_their_domain_fail(args):
    closed = ClosedDensity(parameters, (0.5, [1.0, 1.0]))
    choices = {("z",): True, ("w",): [0.5, 0.5]}
    valid = 0.5, [2.0, 1.0]
    assert equal(closed.assess_python(valid, choices), parameters.assess(valid, choices).log_prob)
    with pytest.raises(FailedText):
        closed.assess_python(args, choices)
    if NATIVE:
        with pytest.raises(FailedText):
            closed.assess_native(args, choices)


@gen
def of_lines(numbers):
    first = ~normal(0, 1)
    least = sorted(numbers)
    second = ~normal(least[0], 1)
    for i in range(3):
        ("third", i) @ ~normal(first, math.exp(second))


def test_failures_name_the_line_of_the_program():
    closed = ClosedDensity(of_lines, ([1.0, 2.0],))
    begin = inspect.unwrap(of_lines).__code__.co_firstlineno
    given = {("first",): 0.5, ("second",): 0.5, ("third", 0): 1.0, ("third", 1): 1.0}
    for way in [closed.assess_python, closed.assess_native] if NATIVE else [closed.assess_python]:
        for numbers, line in (([1.0, math.nan], 3), ([2.0, 1.0], 6)):
            with pytest.raises(FailedText, match=f"line {begin + line}: "):
                way((numbers,), given)


@gen
def exchanged(n):
    left = ~normal(0, 1)
    right, count = 2.0, 1.0
    for i in range(n):
        left, right, count = right, left, count + 1.0
        ("y", i) @ ~normal(left - right + count, 1)


def test_two_of_three_variables_that_a_loop_exchanges():
    """All are set at once, where not each needs the one before."""
    assert outcome(exchanged, (7,)) == "equal"


@gen
def growing(n):
    kept = []
    for i in range(n):
        row = [0.1 * j for j in range(i % 7)]
        kept.append(sum(row) + i)
    ("x", 0) @ ~normal(sum(kept) / n, 1)


@pytest.mark.skipif(not NATIVE, reason="there is no machine code here")
def test_the_arena_grows_and_iterations_give_back_what_they_take():
    closed = ClosedDensity(growing, (10,))
    context = closed.context((200_000,), {("x", 0): 0.0})
    expected = growing.reference.assess((200_000,), {("x", 0): 0.0}).log_prob
    assert equal(context.run(), expected)
    assert len(context.arena) <= 4 * 2**20  # the numbers that are kept, and no row
    assert equal(context.run(), expected)


# --- the text --------------------------------------------------------------------------------------------


@gen
def clusters(n):
    k = ~uniform_discrete(1, 3)
    means = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(means[z], 1)


def test_the_text_has_the_users_names_and_lines():
    text = clusters.source_of("assess", (5,))
    first = clusters.compiled.original.__code__.co_firstlineno + 1
    assert f"k = state.k[()]  # {first + 1}" in text
    for line in ("mu = state.mu[j]", f"t = k - 1  # {first + 4}", "z = state.z[i]", "x = state.x[i]"):
        assert line in text
    assert "def normal_logpdf(state, mean, sd, x):" in text
    compile(text, "text", "exec")


def test_the_text_of_generate_draws_what_is_not_given():
    text = clusters.source_of("generate", (5,))
    inside = text[text.index("def clusters") :]
    assert "x = state.x[i]" in inside
    assert "state.x[i] = x" in inside
    assert inside.rstrip().endswith("return lp, weight")
    compile(text, "text", "exec")


def test_there_is_no_text_of_other_operations():
    with pytest.raises(ArgumentError, match="no text for the operation 'update'"):
        clusters.source_of("update", (5,))


RENAMED = """
from gendsl import gen, normal, uniform_discrete

@gen
def model(n):
    {k} = "k" @ ~uniform_discrete(1, 3)
    {means} = [("mu", {j}) @ ~normal(0, 10) for {j} in range({k})]
    for {i} in range(n):
        {z} = ("z", {i}) @ ~uniform_discrete(0, {k} - 1)
        ("x", {i}) @ ~normal({means}[{z}], 1)
"""
NAMES = ["vars", "sum", "lp", "state", "t", "exp", "items", "dir", "result", "at", "value", "np", "fail"]


@pytest.mark.parametrize("seed", range(8))
def test_names_change_nothing(seed):
    chosen = random.Random(seed).sample(NAMES, 5)
    with built(RENAMED.format(**dict(zip(("k", "means", "j", "i", "z"), chosen, strict=True)))) as model:
        assert outcome(model, (6,)) == "equal"
        own, other = (program.source_of("assess", (6,)) for program in (model, clusters))
        assert len(own.split("\n")) == len(other.split("\n"))


def test_what_is_not_closed_says_why():
    from gendsl.errors import NotClosedError

    @gen
    def opens(x):
        with open(x) as file:
            y = ~normal(len(file.read()), 1)

    with pytest.raises(NotClosedError, match="`with` of a context"):
        opens.source_of("assess", ("a",))
