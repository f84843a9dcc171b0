"""Lists in lists, and arrays that look like lists, that change in place by another way: they are noticed."""

import numpy as np

from gendsl import gen, normal
from tests.runtime.idioms import Programs

PROGRAMS = Programs()
written = PROGRAMS.written


@written(2, 3)
@gen
def put_in_by_an_addition(n):
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    rows = [0.5]
    rows += [xs]
    row = rows[1]
    row += [2.0]
    ("y",) @ ~normal(len(xs), 1)
    return xs


@written(2, 3)
@gen
def added_from_a_variable(n):
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    more = [xs]
    rows = [0.5]
    rows += more
    row = rows[1]
    row += [2.0]
    ("y",) @ ~normal(len(xs), 1)


@written(2, 3)
@gen
def put_in_by_a_union(n):
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    rows = {"b": 0.5}
    rows |= {"a": xs}
    row = rows["a"]
    row += [2.0]
    ("y",) @ ~normal(len(xs), 1)


@written(2, 3)
@gen
def put_in_by_a_keyword(n):
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    rows = {"b": 0.5}
    rows.update(a=xs)
    row = rows["a"]
    row += [2.0]
    ("y",) @ ~normal(len(xs), 1)


@written((np.array([1.0, -2.0]),), (np.array([3.0]),), (-1.5,))
@gen
def absolute_values(w):
    x = ~normal(0, 1)
    rows = [abs(w), 0.5]
    row = rows[0]
    row += 1.0
    ("y",) @ ~normal(np.sum(rows[0]) + x, 1)


@written((np.array([1.0, -2.0]),), (np.array([3.0, 0.5]),), (2,))
@gen
def list_times_array(w):
    x = ~normal(0, 1)
    both = [0.5, 0.25] * w
    last = both[1:]
    both[1] = x
    ("y",) @ ~normal(last[0], 1)
    return last


@written((np.array([1.0, -2.0]),), (np.array([3.0, 0.5]),), (2,))
@gen
def array_times_list_and_more(w):
    x = ~normal(0, 1)
    both = w * [0.5, 0.25] + [1.0] * len([0.5, 0.25] * w)
    last = both[1:]
    both += [x] * len(last)
    ("y",) @ ~normal(last[0], 1)


@written(2, 3)
@gen
def numbers_only(n):
    values = [0.0] * (len(range(n)) + 1)  # n itself may be an array of one number
    for i in range(n):
        before = values[i]
        values[i + 1] = ("x", i) @ ~normal(before, 1)
    start = [0.0]
    start += [1.0, 2.0]
    first = start[0]
    first += abs(-2.0)
    ("y",) @ ~normal(first, 1)
    return values


test_both_runtimes_agree = PROGRAMS.test_of_agreement(columns_from=[None, 2, 1000])


def test_numbers_are_known_to_be_numbers():
    program = PROGRAMS["numbers_only"][0].compiled.program
    assert program.opaque is None
    assert not any(code.asks for code in program.codes)


def test_what_turned_out_to_be_an_array_is_explained():
    list_times_array.simulate((np.ones(2),))
    shown = " ".join(list_times_array.explain().replace("|", " ").split())
    assert "Nothing updates incrementally, because of line 72" in shown
    assert "it changes both, an array" in shown
