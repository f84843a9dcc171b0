"""Choices in generator expressions, and loops after variables that only some arms of an `if` give a value."""

import math
from bisect import bisect

import numpy as np
import pytest

from gendsl import bernoulli, gamma, gen, normal, poisson, uniform, uniform_discrete
from tests.runtime.idioms import Programs, calls_of_an_update

pytestmark = pytest.mark.usefixtures("in_columns")

GENERATORS = Programs()
ARMS = Programs()


# --- generator expressions with choices ---------------------------------------------------------------


@GENERATORS.written()
@gen
def change_points(n):
    k = ~poisson(2)
    pos = sorted(("pos", j) @ ~uniform(0, n) for j in range(k))
    h = list(("h", j) @ ~gamma(2, 1) for j in range(k + 1))  # noqa: C400 (the spelling is the test)
    for i in range(n):
        ("y", i) @ ~poisson(h[bisect(pos, i)])
    return pos


@GENERATORS.written()
@gen
def backwards(n):
    pos = sorted((("pos", j) @ ~normal(0, 1) for j in range(n)), key=abs, reverse=True)
    for i in range(n):
        ("y", i) @ ~normal(pos[i], 1)
    return pos


@GENERATORS.written()
@gen
def of_all_kinds(n):
    s = sum(("s", j) @ ~normal(0, 1) for j in range(n))
    t = sum((("t", j) @ ~normal(0, 1) for j in range(n)), 0.5)
    low = min((("l", j) @ ~normal(s, 1) for j in range(n)), default=0.0)
    high = max((("h", j) @ ~normal(t, 1) for j in range(n)), key=abs, default=1.0)
    pair = tuple(("p", j) @ ~normal(low, 1) for j in range(n))
    some = set(("q", j) @ ~uniform_discrete(0, 2) for j in range(n))  # noqa: C401
    fixed = frozenset(("f", j) @ ~bernoulli(0.5) for j in range(n))
    named = dict((j, ("d", j) @ ~normal(high, 1)) for j in range(n))  # noqa: C402
    x = ~normal(sum(pair) + len(some) + len(fixed) + sum(named.values()), 1)
    return s, t, low, high, pair, sorted(some), sorted(fixed), named


@GENERATORS.written()
@gen
def of_each_other(n):
    x = sorted(("x", j) @ ~normal(sum(("u", j, m) @ ~normal(0, 1) for m in range(2)), 1) for j in range(n))
    y = ~normal(max(x, default=0.0) + len(list(range(n))), 1)
    return x


@gen
def a_part(j, scale):
    u = ~normal(0, scale)
    return u


@GENERATORS.written()
@gen
def of_calls(n):
    total = sum(("part", j) @ ~a_part(j, 1 + j) for j in range(n))
    y = ~normal(total, 1)
    return total


GENERATORS_WITH_SHADOWS = Programs()


@GENERATORS_WITH_SHADOWS.written()
@gen
def of_another_sum(n):
    sum = lambda values: next(iter(values), 0.0)
    total = sum(("x", j) @ ~normal(0, 1) for j in range(n))
    y = ~normal(total, 1)
    return total


@GENERATORS_WITH_SHADOWS.written()
@gen
def stops_early(n):
    found = any(("x", j) @ ~bernoulli(0.5) for j in range(n))
    y = ~normal(found, 1)
    return found


@GENERATORS_WITH_SHADOWS.written()
@gen
def takes_one(n):
    first = next((("u", j) @ ~normal(0, 1) for j in range(n)), 0.0)
    y = ~normal(first, 1)
    return first


test_generators_agree = GENERATORS.test_of_agreement(columns_from=[None, 1])
test_generators_are_blocks = GENERATORS.test_of_blocks()
test_what_stops_early_agrees = GENERATORS_WITH_SHADOWS.test_of_agreement(columns_from=[None])


@pytest.mark.parametrize("model", [of_another_sum, stops_early, takes_one], ids=lambda model: model.name)
def test_what_may_not_go_through_all_is_executed_whole(model):
    assert "opaque" in model.explain()
    sizes = {len(model.simulate((3,), rng=seed).choices) for seed in range(20)}
    assert sizes == ({2, 3, 4} if model is stops_early else {2})


# --- variables that may have no value ---------------------------------------------------------------------


@ARMS.written(3, 2, 5)
@gen
def optional_term(n):
    quadratic = ~bernoulli(0.5)
    a = ~normal(0, 1)
    if quadratic:
        c = ~normal(0, 1)
    for i in range(n):
        m = a * i
        if quadratic:
            m = m + c * i**2
        ("y", i) @ ~normal(m, 1)


@ARMS.written(3, 2, 5)
@gen
def optional_vector(n):
    k = ~uniform_discrete(0, 2)
    if k == 1:
        b = [("b", j) @ ~normal(0, 1) for j in range(2)]
        s = 0.5
    elif k == 2:
        b = [("c", j) @ ~normal(0, 2) for j in range(2)]
        s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal((b[i % 2] if k > 0 else 0.0), (s if k > 0 else 1.0))


@ARMS.written(3, 2, 5)
@gen
def tried(n):
    x = ~normal(0, 1)
    try:
        r = math.sqrt(x)
    except ValueError:
        late = True
    for i in range(n):
        ("y", i) @ ~normal(r if x >= 0 else i, 1)


@ARMS.written(3, 2, 5)
@gen
def found_in_a_loop(n):
    k = ~poisson(1)
    for j in range(k):
        last = ("x", j) @ ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(last + j if k else 0.25 * i, 1)


test_arms_agree = ARMS.test_of_agreement(columns_from=[None, 1])


@pytest.mark.usefixtures("unwatched")
@pytest.mark.parametrize(
    ("model", "init", "path"),
    [
        (optional_term, {"quadratic": True}, "c"),
        (optional_term, {"quadratic": False}, "a"),
        (optional_vector, {"k": 2}, "s"),
        (optional_vector, {"k": 1}, ("b", 0)),
        (tried, {"x": 0.5}, "x"),
        (found_in_a_loop, {"k": 2}, ("x", 1)),
        (change_points, {"k": 2}, ("h", 1)),
        (change_points, {"k": 2}, ("pos", 0)),
    ],
)
def test_the_loop_after_them_runs_at_once(model, init, path):
    few, many = (calls_of_an_update(model.generate((n,), init=init, rng=2).trace, path) for n in (100, 1000))
    assert many <= few + 100


@gen
def without_a_value(n):
    on = ~bernoulli(0.5)
    if on:
        m = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(m, 1)


@pytest.mark.parametrize("n", [3, 100])
def test_a_variable_without_a_value_is_an_error_where_it_is_read(n):
    def start(program):
        return program.generate((n,), init={"on": True}, rng=1).trace

    trace = start(without_a_value)
    for program in (without_a_value, without_a_value.reference):
        for operation in (
            lambda program=program: program.generate((n,), init={"on": False}, rng=1),
            lambda program=program: start(program).update({"on": False}),
        ):
            with pytest.raises(UnboundLocalError, match="'m'"):
                operation()
    assert trace.update({"m": 0.5}).trace["m"] == 0.5
    empty = without_a_value.generate((0,), init={"on": False}, rng=1).trace
    assert np.isclose(empty.log_prob, math.log(0.5))
