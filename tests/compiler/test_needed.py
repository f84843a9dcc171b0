"""What is left of a program that is followed once more for what it returned."""

import math
import random
import re

import numpy as np
import pytest

from gendsl import bernoulli, factor, gen, normal
from gendsl.compiler import hir
from gendsl.compiler.hir import Append, Call, Const, Fail, Function, If, Load, New, Op, Return, Var
from gendsl.compiler.hir.text_effects import ANY, NONE, TextEffects
from gendsl.compiler.passes.needed import keep_needed
from gendsl.compiler.python.print_python import name_apart, print_python
from gendsl.inference import gibbs, mh, sample
from gendsl.inference.compiled.policy import why_no_machine_code
from gendsl.selection import select
from gendsl.testing import running_on
from tests.compiler.hir_programs import RandomProgram, arguments, result_of


def program(seed):
    """A random function that returns one of the two numbers it computes."""
    main = RandomProgram(seed).main()
    for one in hir.walk(main.body):
        if isinstance(one, Return):
            one.values = one.values[1:]
    main.results = main.results[1:]
    return main


def test_random_functions_that_do_not_fail_mean_the_same():
    shorter = compared = 0
    for seed in range(250):
        before, after = program(seed), program(seed)
        keep_needed(after, TextEffects())
        sizes = [sum(1 for _ in hir.walk(one.body)) for one in (before, after)]
        if sizes[0] == sizes[1]:
            continue
        shorter += 1
        for one in (before, after):
            name_apart([one])
        plain, text = print_python(before), print_python(after)
        for place in range(3):
            given = arguments(random.Random(3 * seed + place))
            expected = result_of(plain, given)
            if expected in (None, "failed"):
                continue
            compared += 1
            assert result_of(text, given) == expected, f"{seed}: {given}\n{plain}\n{text}"
    assert shorter > 120 and compared > 120


XS, AT, NEEDED, OTHER = Var("xs", "r"), Var("at", "i"), Var("needed", "f"), Var("other", "f")
ZERO = Const(0, "i")


def test_a_test_stays_where_what_it_tests_is_needed():
    tests = [If(Op("lt", (one, zero), "b"), [Fail("a test")], []) for one, zero in
             ((AT, ZERO), (OTHER, Const(0.0, "f")))]  # fmt: skip
    body = [*tests, Load([NEEDED], XS, ("f",), AT), Load([OTHER], XS, ("f",), ZERO), Return([NEEDED])]
    function = Function("main", [XS, AT], ["f"], body)
    keep_needed(function, TextEffects())
    assert function.body == [tests[0], body[2], body[4]]


def recursive(change):
    """A function that calls itself, and may change the list that it is given."""
    function = Function("again", [XS, AT], [])
    body = [Append(XS, ("f",), (Const(1.0, "f"),))] if change else []
    deeper = [Call([], function, [XS, Op("sub", (AT, Const(1, "i")), "i")])]
    function.body = [*body, If(Op("gt", (AT, ZERO), "b"), deeper, []), Return([])]
    return function


def test_what_a_function_that_calls_itself_does():
    assert TextEffects().of(recursive(change=False)).changes == NONE
    assert TextEffects().of(recursive(change=True)).changes == frozenset([("f",)])
    first, second = recursive(change=False), recursive(change=True)
    second.body = [Append(XS, ("f",), (Const(1.0, "f"),)), Call([], first, [XS, AT]), Return([])]
    first.body = [If(Op("gt", (AT, ZERO), "b"), [Call([], second, [XS, AT])], []), Return([])]
    assert TextEffects().of(first).changes >= ANY  # each calls itself by way of the other


def test_a_list_that_has_another_name_is_kept():
    again = Function("again", [XS], ["r"], [Return([XS])])
    made, same = Var("made", "r"), Var("same", "r")
    body = [
        New(made, ("f",), []), Call([same], again, [made]), Append(made, ("f",), (Const(1.0, "f"),)),
        Load([NEEDED], same, ("f",), ZERO), Return([NEEDED]),
    ]  # fmt: skip
    function = Function("main", [], ["f"], list(body))
    keep_needed(function, TextEffects())
    assert function.body == body


# --- programs ---------------------------------------------------------------------------------------


@gen
def segmented(counts):
    n = len(counts)
    starts = [0] + [t for t in range(1, n) if ("cp", t) @ ~bernoulli(0.3)]
    score, parts = 0.0, []
    for a, b in zip(starts, [*starts[1:], n], strict=True):
        total = sum(counts[a:b])
        score += math.lgamma(2 + total) - (2 + total) * math.log(b - a + 0.5)
        score -= sum([math.lgamma(count + 1) for count in counts[a:b]])
        parts.append(total / (b - a))
    "likelihood" @ ~factor(score)
    return len(starts), parts


@gen
def at_an_index(values):
    k = [("k", i) @ ~bernoulli(0.5) for i in range(3)]
    centre = values[sum(k)]
    levels = np.zeros(len(values))
    for i in range(len(values)):
        levels[i] = math.lgamma(values[i] + 2.0) * centre
    y = ~normal(np.sum(levels), 20.0)
    return centre


@pytest.mark.skipif(why_no_machine_code() is not None, reason="there is no machine code")
@pytest.mark.parametrize(
    "program, args, record",
    [
        (segmented, ((3, 1, 0, 2, 9, 7, 8, 2),), {"it": lambda t: t.retval, "one": lambda t: t.retval[0]}),
        (at_an_index, ((0.5, 1.5, 2.5, 3.5),), {"it": lambda t: t.retval}),
    ],
)
def test_what_is_returned_needs_no_score(program, args, record):
    """The logarithms of gammas, which may have other bits in machine code, are of the score alone."""
    address = "cp" if program is segmented else "k"
    found = {}
    for way in ("reference", "native"):
        with running_on(way):
            trace = program.simulate(args, rng=1)
            run = sample(gibbs(select(address)), trace, 60, seed=2, record=record, progress=False)
        found[way] = [run.recorded[name] for name in record]
    assert run.ran == ["as machine code"]
    assert len(set(map(str, found["native"][0]))) > 1
    assert found["native"] == found["reference"]


@gen
def image(n):
    brightness = ~normal(1, 1)
    picture = np.zeros((n, n))
    for i in range(2):
        x, y = (("x", i) @ ~normal(0, 1)), (("y", i) @ ~normal(0, 1))
        picture += brightness * np.outer(
            np.exp(-((np.arange(n) - x) ** 2)), np.exp(-((np.arange(n) - y) ** 2))
        )
    "seen" @ ~factor(-((picture - 1.0) ** 2).sum())


def test_the_densities_of_what_is_drawn_anew_need_no_more_than_their_own():
    """The current trace was scored: of what else the program computes nothing is made, nor found to fail."""
    trace = image.generate((5,), {"seen": True}, rng=1).trace
    kernel = mh(select(("x", 0)))
    text = kernel.source_of("step", trace)
    (let_go,) = re.findall(r"def image_let_go\(.*?\n\n", text, re.S)
    assert "normal_logpdf" in let_go and "exp" not in let_go and "broadcast" not in let_go
    runs = {}
    for way in ("native", "python", "reference"):
        with running_on(way):
            runs[way] = sample(kernel, trace, 60, record=[("x", 0)], seed=1, progress=False)["x", 0]
    np.testing.assert_allclose(runs["native"], runs["reference"], rtol=1e-10)
    np.testing.assert_allclose(runs["python"], runs["reference"], rtol=1e-10)
    assert len(set(runs["native"])) > 5
