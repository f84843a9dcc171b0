"""A caller that reads a part of what a call returned sees it change with the `return` that is reached."""

import numpy as np
import pytest

from gendsl import gen, normal, uniform_discrete
from gendsl.choices import same_value

pytestmark = pytest.mark.usefixtures("runtime")


@gen
def early():
    x = ~normal(0, 1)
    if x > 0:
        return x, "positive"
    return 0.25, "negative"


@gen
def first_part():
    pair = "h" @ ~early()
    return pair[0]


@gen
def scored_by_a_part():
    pair = ... @ ~early()
    y = ~normal(pair[0], 1)


@pytest.mark.parametrize(("old", "new"), [(-1.0, 2.0), (2.0, -1.0), (1.0, 2.0)])
def test_another_return_is_another_value(old, new):
    trace = first_part.generate(init={("h", "x"): old}, rng=1).trace
    updated = trace.update({("h", "x"): new}).trace
    assert updated.retval == (new if new > 0 else 0.25)
    trace = scored_by_a_part.generate(init={"x": old, "y": 0.5}).trace
    updated = trace.update({"x": new}).trace
    assert updated.log_prob == pytest.approx(scored_by_a_part.assess((), updated.choices).log_prob, abs=1e-12)


@gen
def several(a):
    """Returns a list, a dict and an array: made by the body, by a loop and of what a loop made."""
    shifts = [a + 2.0, a, a + 1.0]
    means = [("mean", j) @ ~normal(0, 1) for j in range(3)]
    return shifts, {"means": means}, np.array(means)


@gen
def reads_returned(n):
    a = ~normal(0, 1)
    shifts, found, array = "several" @ ~several(a)
    scales = [0.5, 1.5, 1.0]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 2)
        ("y", i) @ ~normal(shifts[z] + found["means"][z] * array[z], scales[z])
    return scales, [("last", i) @ ~normal(0, 1) for i in range(n)]


@pytest.mark.parametrize("n", [3, 60])
def test_what_was_returned_may_be_changed_by_who_asks_for_it(n):
    trace = reads_returned.simulate((n,), rng=1)
    for scales, last in (trace.retval, reads_returned.simulate((n,)).retval):
        scales.sort()
        last.clear()
    for shifts, found, array in (trace["several"], trace.calls["several",]):
        shifts.reverse()
        found["means"].clear()
        array[:] = 7.0
    for choices in ({("z", 1): 2, ("y", 1): 0.5}, {("several", "mean", 1): 0.25}, {"a": -1.0}):
        trace = trace.update(choices).trace
        assessed = reads_returned.reference.assess((n,), trace.choices)
        assert trace.log_prob == pytest.approx(assessed.log_prob, abs=1e-9)
        assert same_value(trace.retval, assessed.retval)
