"""Choices in expressions that are not always evaluated: `and`, `or` and `... if ... else ...`."""

import pytest

from gendsl import bernoulli, gen, normal, poisson, select
from gendsl.errors import MissingAddressError


@gen
def mixed(n):
    a = ("x" @ ~normal(0, 1)) if n > 0 else 3.0
    if n > 1 and (g := ~bernoulli(0.5)) and n < 10:
        b = ~normal(a, 1)
    else:
        b = n > 2 or ("y" @ ~poisson(2))
    c = 2 * (("u" @ ~normal(0, 1)) if b else ("v" @ ~normal(b, 2))) + (n and ("w" @ ~normal(0, 1)))
    return a, b, c


@gen
def tree(depth, scale=1.0):
    value = ~normal(0, scale)
    if depth > 0 and (grow := ~bernoulli(0.6)):
        left = ~tree(depth - 1, scale=scale / 2)
        return value + left
    return ("down" @ ~tree(depth - 1)) if depth > 0 else value


@pytest.mark.parametrize("program", [mixed, tree], ids=["mixed", "tree"])
def test_they_are_branches(program):
    assert "opaque" not in program.explain()
    trace = program.simulate((3,), rng=1)
    for seed in range(40):
        trace = trace.regenerate(select.all, rng=seed).trace
        trace = trace.update(args=(seed % 4,), rng=seed).trace
        log_prob, retval = program.reference.assess(trace.args, trace.choices)
        assert trace.log_prob == pytest.approx(log_prob)
        assert trace.retval == retval


@pytest.mark.parametrize("runtime", ["compiled_version", "reference"])
def test_the_name_before_the_condition_gives_no_address(runtime):
    @gen
    def program(n, d):
        x = ~d if n else 1.0
        return x

    with pytest.raises(MissingAddressError):
        getattr(program, runtime).simulate((1, normal(0, 1)))
