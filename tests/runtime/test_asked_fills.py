"""Several entries an iteration, at indices of which only a run can tell that each names one entry."""

import numpy as np
import pytest

from gendsl import bernoulli, gen, normal, uniform_discrete
from tests.runtime.idioms import Programs

PROGRAMS = Programs()
written = PROGRAMS.written


@written((4, 3), (2, 3), (5, 3), (4, 2), (4, 1))
@gen
def first_and_last(n, m):
    x = np.zeros((n, m))
    for t in range(n):
        x[t, 0] = ~normal(0, 1)
        x[t, m - 1] = ("last", t) @ ~normal(x[t, 0], 1)
    for t in range(n):
        ("y", t) @ ~normal(x[t, m - 1] - x[t - 1, 0], 1)
    return x


@written(([0.5, 1.5, 2.5], 1), ([0.5, 1.5], 0), ([0.5, 1.5, 2.5, 3.5], -1), ([0.5, 1.5, 2.5], -3))
@gen
def shifted_by(xs, shift):
    last = len(xs) - 1
    f = [0.5] * len(xs)
    for t, x in enumerate(xs):
        f[t] = ("f", t) @ ~normal(x + f[last], 1)
        f[shift] = ("g", t) @ ~normal(f[t], 1)
        f[last - t] = ("h", t) @ ~normal(f[shift] + f[0], 1)
    for t in range(len(xs)):
        ("y", t) @ ~normal(f[t], 1)
    return f


@written((4, "a", "b"), (3, "a", "a"), (2, ("a", 1), None), (4, "b", 0))
@gen
def any_keys(n, first, second):
    s = {(first, -1): 0.5, second: 2.0}
    for t in range(n):
        s[first, t] = ("a", t) @ ~normal(s[first, t - 1], 1)
        s[second, t] = ("b", t) @ ~normal(s[first, t], 1)
    for t in range(n):
        ("y", t) @ ~normal(s[first, t] * s[second, t] + s[second], 1)
    ("z",) @ ~normal(len(s), 1)
    return s


@written((4, [2, 0, 1]), (3, [1, 0, 1]), (5, [0, 1, 1]))
@gen
def same_key_again(n, order):
    s = dict(enumerate([0.5], 9))
    for t in range(n):
        b = ("b", t) @ ~bernoulli(0.5)
        z = ("z", t) @ ~uniform_discrete(0, 2)
        s[b] = ("f", t) @ ~normal(0, 1)
        s[order[t % 3]] = s[b] + t
        s[z] = ("g", t) @ ~normal(s[b], 1)
        s[b] = -s[z]
    for k, v in s.items():
        ("y", k) @ ~normal(v, 1)
    return s, [type(k) for k in s]


@written((4, [2, 0, 1]), (3, [1, 1, 2]), (4, [0, 0, 0]), (5, [2, 0, 1]))
@gen
def looked_up(n, order):
    f = np.zeros(3)
    for t in range(n):
        z = ("z", t) @ ~uniform_discrete(0, 2)
        f[order[z]] = ("f", t) @ ~normal(f[0], 1)
        f[order[z] - 1] = ("g", t) @ ~normal(f[order[0]], 1)
    for k in range(3):
        ("y", k) @ ~normal(f[k], 1)
    return f


@written(4, 3, 5)
@gen
def counted(n):
    s = {}
    for t in range(n):
        z = ("z", t) @ ~uniform_discrete(0, 3)
        if z not in s:
            s[z] = 0
        s[z] = s[z] + 1
    for z in s:
        ("y", z) @ ~normal(s[z], 1)
    return s


@written(4, 3, 5)
@gen
def first_under_a_condition(n):
    f = [0.0] * 4
    for t in range(n):
        z = ("z", t) @ ~uniform_discrete(0, 3)
        if z > 1:
            f[z] = ("f", t) @ ~normal(0, 1)
        f[z - 1] = f[z] + 1
    for k in range(4):
        ("y", k) @ ~normal(f[k], 1)
    return f


@written(4, 3, 5)
@gen
def under_two_conditions(n):
    s = {}
    for t in range(n):
        z = ("z", t) @ ~uniform_discrete(0, 3)
        if z > 2:
            s[z] = 1.0
        if z < 1:
            s[z - 1] = ("s", t) @ ~normal(0, 1)
        if z in s:
            ("l", t) @ ~normal(len(s), 1)
    for z in s:
        ("y", z) @ ~normal(s[z], 1)
    return s


test_both_runtimes_agree = PROGRAMS.test_of_agreement(columns_from=[None, 2])
test_none_is_executed_whole = PROGRAMS.test_of_blocks()


def some_and_one():
    """A program, anew for each test: how it runs depends on what it has met."""

    @gen
    def model(n, some):
        f = np.zeros(4)
        for t in range(n):
            f[t] = ("f", t) @ ~normal(0, 1)
            f[some] = ("g", t) @ ~normal(f[t], 1)
        for t in range(4):
            ("y", t) @ ~normal(f[t], 1)
        return f

    return model


AT_ONCE = [
    np.array([0, 2]), [1, 3], np.array([True, False, False, True]), slice(1, 3), np.array(2), (np.array([1]),)
]  # fmt: skip


@pytest.mark.parametrize("some", AT_ONCE, ids=str)
def test_where_it_is_an_array_of_indices_the_body_is_executed_whole(some):
    model = some_and_one()
    first = model.simulate((3, 1), rng=1)
    assert "opaque" not in model.explain()
    for given in (first, model.simulate((3, some), rng=2)):
        after = given.update({("f", 1): 0.25}, args=(4, some), rng=3).trace
        fresh = model.reference.assess((4, some), after.choices)
        assert after.log_prob == pytest.approx(fresh.log_prob, rel=1e-9)
        np.testing.assert_array_equal(after.retval, fresh.retval)
        back = after.update({("g", 0): -0.5}, args=(2, 3), rng=4).trace
        assert back.log_prob == pytest.approx(model.reference.assess((2, 3), back.choices).log_prob, rel=1e-9)
    assert first.log_prob == pytest.approx(model.reference.assess((3, 1), first.choices).log_prob, rel=1e-9)


def test_it_says_what_to_write_where_it_is_an_array_of_indices():
    model = some_and_one()
    model.simulate((3, np.array([0, 2])), rng=1)
    assert "several entries at once" in model.explain()
    assert "write one entry after another" in model.explain()


@pytest.mark.parametrize("last", [4, -5, 1.5, "a", None])
def test_what_is_no_index_is_the_same_error(last):
    @gen
    def model(n, last):
        f = [0.5] * 4
        for t in range(n):
            f[t] = ("f", t) @ ~normal(0, 1)
            f[last] = ("g", t) @ ~normal(f[t], 1)

    trace = model.simulate((3, 1), rng=1)
    with pytest.raises((IndexError, TypeError)) as expected:
        model.reference.simulate((3, last), rng=1)
    with pytest.raises(type(expected.value)):
        model.simulate((3, last), rng=1)
    with pytest.raises(type(expected.value)):
        trace.update({}, args=(3, last))


def test_a_name_of_a_list_and_of_a_dict():
    @gen
    def model(n):
        f = [0.5] * n
        for t in range(n):
            f[t] = ("e", t) @ ~normal(0, 1)
        first = f[0]
        f = {}
        for t in range(n):
            f[t] = ("f", t) @ ~normal(first, 1)
            f[n - 1] = ("g", t) @ ~normal(f[t], 1)
            f[t] = -f[n - 1]
        return [*f]

    trace = model.simulate((3,), rng=1).update({("f", 1): 0.25}).trace
    assert trace.retval == [0, 2, 1]
    assert "give them two names" in model.explain()
