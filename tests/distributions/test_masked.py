"""What is masked in an array of `numpy.ma` is missing: it is no parameter and no value of a choice."""

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    categorical,
    dirichlet,
    factor,
    gamma,
    gen,
    iid,
    mixture,
    multinomial,
    mvnormal,
    normal,
    poisson,
    product,
    select,
    uniform_discrete,
)
from gendsl.errors import ParameterError, ValueTypeError
from gendsl.testing import running_on

MASKED = np.ma.masked
NUMBERS = np.ma.masked_array([0.2, 0.3, 0.5], mask=[False, True, False])
COUNTS = np.ma.masked_array([1, 1, 1], mask=[True, False, False])
MATRIX = np.ma.masked_array([[1.0, 0.2], [0.2, 1.0]], mask=[[False, True], [False, False]])


@pytest.mark.parametrize("make", [
    lambda: normal(MASKED, 1.0), lambda: normal(0.0, MASKED), lambda: gamma(MASKED, 1.0),
    lambda: bernoulli(MASKED), lambda: uniform_discrete(0, MASKED), lambda: factor(MASKED),
    lambda: categorical(NUMBERS), lambda: dirichlet(NUMBERS), lambda: mixture(NUMBERS, [normal(0, 1)] * 3),
    lambda: mvnormal(NUMBERS, np.eye(3)), lambda: mvnormal(np.zeros(2), MATRIX),
    lambda: product(normal, NUMBERS, 1.0),
])  # fmt: skip
def test_what_is_masked_is_no_parameter(make):
    with pytest.raises(ParameterError):
        make()


@pytest.mark.parametrize(("distribution", "value"), [
    (normal(0.0, 1.0), MASKED), (poisson(2.0), MASKED), (mixture([0.5, 0.5], [normal(0, 1)] * 2), MASKED),
    (mvnormal(np.zeros(3), np.eye(3)), NUMBERS), (iid(normal(0.0, 1.0), 3), NUMBERS),
    (product(normal, np.zeros(3), 1.0), NUMBERS), (product(normal(0, 1), normal(1, 2), gamma(2, 1)), NUMBERS),
    (dirichlet(np.ones(3)), NUMBERS), (multinomial(3, np.ones(3) / 3), COUNTS), (iid(poisson(1), 3), COUNTS),
])  # fmt: skip
def test_what_is_masked_is_no_value(distribution, value):
    with pytest.raises(ValueTypeError):
        distribution.logpdf(value)

    @gen
    def model():
        "y" @ ~distribution

    for runtime in ("reference", "compiled"):
        with running_on(runtime), pytest.raises(ValueTypeError) as raised:
            model.generate((), {"y": value})
        assert raised.value.address == ("y",)


def test_an_array_of_which_nothing_is_masked_is_one_as_others_are():
    numbers = np.ma.masked_array([0.2, 0.3, 0.5])
    assert iid(normal(0, 1), 3).logpdf(numbers) == iid(normal(0, 1), 3).logpdf(np.array(numbers))
    assert normal(numbers[1], 1.0) == normal(0.3, 1.0)
    assert dirichlet(numbers) == dirichlet([0.2, 0.3, 0.5])


@gen
def kept(a):
    k = ~uniform_discrete(0, 2)
    found = a[k]
    _y = ~normal(k, 1.0)
    return found, 1


@pytest.mark.parametrize("runtime", ["reference", "compiled"])
def test_a_program_may_keep_what_is_masked(runtime):
    with running_on(runtime):
        trace = kept.generate((NUMBERS,), {"_y": 0.0}, init={"k": 0}, rng=1).trace
        assert trace.retval == (0.2, 1)
        for seed in range(20):
            trace = trace.regenerate(select("k"), rng=seed).trace
            assert (trace.retval[0] is MASKED) == (trace["k"] == 1)
