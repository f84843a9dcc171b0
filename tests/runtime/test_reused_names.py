"""Variables whose names several loops use: what a loop leaves in one is kept where something may read it."""

import pytest

from gendsl import gen, normal, poisson
from gendsl.runtime.loops import LoopBlock
from tests.runtime.idioms import SEEDS, Programs

PROGRAMS = Programs()
written = PROGRAMS.written
LEFT = {}  # name of a program -> for each loop of its body, how many variables it leaves


def leaves(*counts):
    def noted(model):
        LEFT[model.name] = list(counts)
        return model

    return noted


@leaves(0, 0)
@written()
@gen
def two_plates(n):
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        ("y", i) @ ~normal(x, 1)
    for i in range(n):
        x = ("z", i) @ ~normal(0, 1)
        ("v", i) @ ~normal(x, 1)


@leaves(0, 0)
@written()
@gen
def a_plate_and_a_chain(n):
    for i in range(n):
        ("y", i) @ ~normal(i, 1)
    z = 0.0
    for i in range(n):
        half = z / 2
        z = ("z", i) @ ~normal(half, 1)


@leaves(0, 0)
@written((2, 3), (3, 0), (1, 2))
@gen
def loops_in_loops(n, m):
    for i in range(n):
        for j in range(m):
            ("x", i, j) @ ~normal(0, 1)
        for j in range(m):
            ("y", i, j) @ ~normal(j, 1)
    for j in range(m):
        for i in range(n):
            ("z", j, i) @ ~normal(i - j, 1)


@leaves(1, 1)
@written((3, 2), (3, 0), (2, 1))
@gen
def read_after_both(n, m):
    i = -1
    for i in range(n):
        ("x", i) @ ~normal(0, 1)
    for i in range(m):
        ("y", i) @ ~normal(i, 1)
    ("last", 0) @ ~normal(i, 1)
    return i


@leaves(1, 0)
@written((3,), (1,), (2,))
@gen
def gone_through_again(n):
    i = 2
    for i in range(n):
        ("x", i) @ ~normal(0, 1)
    for i in range(i + 1):  # noqa: B020
        ("y", i) @ ~normal(i, 1)


@leaves(1, 0)
@written()
@gen
def read_before_it_is_bound(n):
    last = 0.0
    for i in range(n):
        last = ("x", i) @ ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(last, 1)
        last = ("z", i) @ ~normal(0, 1)


@leaves(1, 0)
@written()
@gen
def bound_in_some_iterations(n):
    x = 5.0
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
    for i in range(n):
        if i > 0:
            x = ("y", i) @ ~normal(0, 1)
        ("z", i) @ ~normal(x, 1)


@leaves(1, 0)
@written()
@gen
def added_to(n):
    x = 5.0
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
    for i in range(n):
        x += ("y", i) @ ~normal(x, 1)


@leaves(1)
@written((2, 2), (3, 1), (2, 0))
@gen
def read_around(n, m):
    """The inner loop's variable is the outer one's, and read where both have been."""
    i = 0
    for i in range(n):
        ("w", i) @ ~normal(i, 1)
        for i in range(m):
            ("x", i) @ ~normal(0, 1)
        ("y", i) @ ~normal(i, 1)
        break
    return i


@leaves(0)
@written((2, 2), (3, 1), (2, 0))
@gen
def read_in_the_next_iteration(n, m):
    """The second inner loop binds it; what reads it is before, in the next iteration of the outer one."""
    for t in range(n):
        if t > 0:
            ("before", t) @ ~normal(i, 1)  # noqa: F821
        i = 7
        for i in range(m):
            ("x", t, i) @ ~poisson(2)
        for i in range(m + 1):
            ("y", t, i) @ ~normal(i, 1)


@leaves(1, 1)  # the loop with an `else` is executed as it is written
@written((2, 2), (3, 1), (2, 0))
@gen
def otherwise(n, m):
    i = 0
    for i in range(n):
        ("x", i) @ ~normal(0, 1)
    for i in range(m):
        ("y", i) @ ~normal(0, 1)
    else:
        ("z", 0) @ ~normal(i, 1)
    for i in range(m):
        ("v", i) @ ~normal(0, 1)


@leaves(1, 1)
@written((2, 2), (3, 1), (2, 0))
@gen
def read_later_by_a_function(n, m):
    i = 0
    reads = [lambda: 0]
    for i in range(n):
        ("x", i) @ ~normal(0, 1)
    for i in range(m):
        reads = [lambda: i]
        ("y", i) @ ~normal(i, 1)
    ("z", 0) @ ~normal(reads[0](), 1)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed):
    PROGRAMS.agree(name, seed)


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_runtimes_agree_where_loops_are_columns(name):
    PROGRAMS.agree(name, 7, columns_from=2)


@pytest.mark.skipif(two_plates.is_reference, reason="the reference runtime has no loops of its own")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_loop_leaves_what_may_be_read(name):
    linked = PROGRAMS[name][0].linked
    if linked is None:
        pytest.skip("it is executed whole")
    loops = [block for block in linked.body.blocks if isinstance(block, LoopBlock)]
    assert [len(loop.outs) for loop in loops] == LEFT[name]
