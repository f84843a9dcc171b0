"""A caller that reads a part of what a call returned sees it change with the `return` that is reached."""

import pytest

from gendsl import gen, normal


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
