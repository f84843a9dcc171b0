"""`[1.0, 2.0] * n` and `a += b` give arrays where NumPy has a say: parts of those are views, no copies."""

import numpy as np
import pytest

from gendsl import gen, normal
from gendsl.errors import GenDSLError
from tests.runtime.idioms import SEEDS, Programs

PROGRAMS = Programs()
written = PROGRAMS.written
COUNTS = (2, 2), (np.int64(2), 3), (np.array(2), 2), (np.array(2), np.array(3)), (1, np.array(2))
PAIRS = (2, [1.0, 2.0]), (2, np.array([1.0, 2.0])), (2, (0.5, 1.5))


@written(*COUNTS)
@gen
def repeated(n, m):
    """Whatever counts may be an array of no dimension, as 2 may be: `range` takes both."""
    s = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(s, 1)
    a = [1.0, s] * n
    turned = a[::-1]
    a[0] = ~normal(0, 1)
    return turned, a


@written(*COUNTS)
@gen
def repeated_twice(n, m):
    s = ~normal(0, 1)
    a = 2 * (n * [1.0, s]) * m
    last = a[1:]
    for j in range(2):
        a[j] = ~normal(0, 1)
    return last


@written(*COUNTS)
@gen
def repeated_in_place(n, m):
    s = ~normal(0, 1)
    a = [1.0, s]
    a *= n
    last = a[1:]
    for j in range(2):
        last[0] = ("b", j) @ ~normal(a[1], 1)
    a[1] = ~normal(0, 1)
    return last, a


@written(*COUNTS)
@gen
def one_of_several(n, m):
    s = ~normal(0, 1)
    a, (b, k) = [1.0, s] * n, ([2.0, s] * m, 3)
    c: list = [s, s] * n
    parts = a[1:], b[1:], c[1:]
    for j in range(2):
        a[j] = ~normal(0, 1)
        b[j] = ~normal(0, 1)
        c[j] = ~normal(0, 1)
    return parts, k


@written(*PAIRS)
@gen
def added(n, more):
    s = ~normal(0, 1)
    a = [s, 1.0]
    a += more
    last = a[1:]
    a[1] = ~normal(0, 1)
    return last, a


@written(*PAIRS)
@gen
def added_and_gone_on(n, more):
    s = ~normal(0, 1)
    a = [s, 1.0]
    a += more
    held = a
    for j in range(n):
        a[j] = ~normal(0, 1)
    y = ~normal(held[1], 1)
    return len(held)


@pytest.mark.parametrize("columns_from", [None, 2])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", [*SEEDS, 2, 3, 4])
def test_both_runtimes_agree(name, seed, columns_from):
    PROGRAMS.agree(name, seed, columns_from=columns_from)


@pytest.mark.parametrize("name", ["repeated", "repeated_twice", "repeated_in_place", "one_of_several"])
@pytest.mark.parametrize("args", COUNTS)
def test_what_is_returned(name, args):
    model, _ = PROGRAMS[name]
    trace = model.simulate(args, rng=1)
    for s in (0.5, 0.25):
        trace = trace.update({"s": s}).trace
        expected = model.reference.assess(args, trace.choices).retval
        assert repr(trace.retval) == repr(expected)


@gen
def appended(n):
    s = ~normal(0, 1)
    a = [s, 1.5] * n
    for i in range(30):
        a.append(("x", i) @ ~normal(s, 1))
    y = ~normal(a[0], 1)


@pytest.mark.parametrize("n", [2, np.array(2)])
def test_arrays_have_no_append(n):
    runs = [lambda: appended.simulate((n,), rng=1), lambda: appended.reference.simulate((n,), rng=1)]
    runs.append(lambda: appended.simulate((3,), rng=1).update({("x", 0): 0.5}, args=(n,)))
    for run in runs:
        if isinstance(n, int):
            run()
            continue
        with pytest.raises(AttributeError, match="has no attribute 'append'") as raised:
            run()
        assert not isinstance(raised.value, GenDSLError)


@gen
def plain(n, more):
    s = ~normal(0, 1)
    a = [1.0, s] * n
    a += more
    a *= n
    first = a[:1]
    a[0] = ~normal(first[0], 1)
    return first, a


def test_lists_keep_a_body_incremental():
    trace = plain.simulate((2, [0.5]), rng=1)
    assert "Nothing updates incrementally" not in plain.explain() or plain.is_reference
    assert trace.update({"s": 0.5}).trace.retval[0] == [1.0]
