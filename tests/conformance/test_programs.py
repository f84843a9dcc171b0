"""Runtimes agree on random programs of each class of mistake; and planted mistakes of each class are found.

GENDSL_LONG=1 compares thousands of programs.
"""

import os

import pytest

from tests.conformance.comparing import STEPWISE, attempt, first_difference, play, write_script
from tests.conformance.programs import KINDS, built, difference, program, programs
from tests.conformance.templates import TEMPLATES

LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")
COUNT = 500 if LONG else 14  # each piece once, at least


@pytest.mark.parametrize("runtime", STEPWISE[1:])
@pytest.mark.parametrize("kind", KINDS)
def test_a_runtime_does_what_the_reference_does(kind, runtime):
    for case in programs(kind, COUNT):
        found = difference(case, "reference", runtime)
        assert found is None, f"{found}\n{case.args}\n{case.source}"


@pytest.mark.parametrize("kind", KINDS)
def test_programs_are_the_same_at_each_call(kind):
    assert programs(kind, 5, seed=3) == programs(kind, 8)[3:]
    assert len({case.source for case in programs(kind, 40)}) > 30


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "raises"])
def test_programs_rarely_raise(kind):
    raised = 0
    for case in programs(kind, len(TEMPLATES[kind])):
        with built(case.source) as model:
            result = attempt(lambda model=model, args=case.args: model.simulate(args, rng=0))
            raised += isinstance(result, Exception)
    assert raised <= len(TEMPLATES[kind]) / 6


# --- planted mistakes: the program that a wrong runtime would have run ---------------------------------

MISTAKES = {
    "a row is copied into storage": ("identity", "[row1] * ", "[row1[:]] + [row1[:]] * "),
    "an alias is a copy": ("identity", "same1 = xs1 = [v + a for v in xs]", "same1 = xs; xs1 = list(xs)"),
    "an operation in place rebinds": ("in place", "s1 += ", "s1 = s1 + "),
    "a view is a copy": ("in place", "tr1 = q1.T", "tr1 = q1.T.copy()"),
    "a swap of rows copies": ("in place", "g1[0], g1[1] = g1[1], g1[0]", "g1[[0, 1]] = g1[[1, 0]]"),
    "an effect is dropped": ("effects", "(best1 := ", "("),
    "an effect is repeated": ("effects", "shift1(x, row) for", "shift1(x, row) + 0 * shift1(x, row) for"),
    "an iterator starts again": ("effects", "= zip(xs, [a, b, x])", "= list(zip(xs, [a, b, x]))"),
    "an array of integers widens": ("types", "np.zeros(3, int)", "np.zeros(3)"),
    "out= is ignored": ("arguments", ", out=v1)", ")"),
    "axis= is ignored": ("arguments", "(axis=0)", "()"),
    "a truth value is an integer": ("truth", "np.exp(True)", "np.exp(1.0)"),
    "a mask is an index": ("truth", "v1[[True, False, True]]", "v1[[1, 0, 1]]"),
    "an address is evaluated twice": ("keys", "0, next1())", "0, (next1(), next1())[1])"),
    "a negative key is a position": ("keys", "d1[-1] = x", "d1[len(d1) - 1] = x"),
    "a wrapper is taken off": ("decorated", "@twice1\n", "\n"),
    "binding is too early": ("binding", "g1 = (v * s1 for v in xs)", "g1 = [v * s1 for v in xs]"),
    "a loop runs over what was there": ("growth", "for q in queue1:", "for q in [*queue1]:"),
    "a union is one type": ("several types", "None if z else a", "a"),
    "an error is passed over": ("raises", "except IndexError:\n", "except KeyError:\n"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_planted_mistake_is_found(name):
    kind, right, wrong = MISTAKES[name]
    cases = (program(kind, seed) for seed in range(3000))
    tried = found = 0
    while tried < 6 and found < 2:
        case = next(cases)
        if right not in case.source:
            continue
        tried += 1
        for seed in range(2):  # a choice may keep the mistake from being run
            with built(case.source) as model, built(case.source.replace(right, wrong)) as mistaken:
                script = write_script(model, case.args, case.others, seed=seed)
                played = play(model, script, "reference"), play(mistaken, script, "reference")
            if first_difference(*played, ("right", "wrong")) is not None:
                found += 1
                break
    assert found == 2, f"{found} of {tried} programs"
