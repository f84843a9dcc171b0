"""Every function of `math` that texts have, in machine code: alone, and in a loop over data."""

import math

import pytest

from gendsl import gen, normal
from gendsl.compiler.front.numbers import OF_NUMBERS
from gendsl.compiler.llvm.native import available
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.closed_outcomes import outcome

OF_TWO = math.atan2, math.hypot, math.copysign, math.pow, math.fmod


@gen
def of_one(function, n):
    x = ~normal(0, 1)
    first = 0.5 + 0.4 * math.sin(x)
    for i in range(n):
        ("y", i) @ ~normal(function(first), 1)
    z = ~normal(function(0.9 - 0.3 * math.cos(x)), 1)


@gen
def of_two(function, n):
    x = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(function(0.3 * i + 2.0, 1.5 + math.sin(x)), 1)
    z = ~normal(function(abs(x), 1.5), 1)


@pytest.mark.parametrize("function", [f for f in OF_NUMBERS if f is not math.acosh], ids=lambda f: f.__name__)
def test_machine_code_has_it(function):
    model = of_two if function in OF_TWO else of_one
    assert outcome(model, (function, 30)) == "equal"
    if available() is None:
        trace = model.reference.simulate((function, 30), rng=2)
        closed = ClosedDensity(model, trace.args)
        assert closed.assess_native(trace.args, dict(trace.choices.items())) == pytest.approx(trace.log_prob)
