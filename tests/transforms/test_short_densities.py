"""Log densities as text, against the distributions themselves and SciPy's."""

import math

import pytest
from scipy import stats

from gendsl import beta, dirichlet, exponential, gamma, inv_gamma, normal, uniform
from gendsl.transforms.short_densities import short_density


def value_of(kind, parameters, x, **variables):
    """The text's value; None where what it needs doesn't hold, or there is no text."""
    names = tuple(f"x{i}" for i in range(len(x))) if isinstance(x, list) else "x0"
    short = short_density(kind, parameters, names)
    if short is None:
        return None
    values = x if isinstance(x, list) else [x]
    space = {**vars(math), **variables, **{f"x{i}": value for i, value in enumerate(values)}}
    if not all(eval(need, space) for need in short.needs):
        return None
    if short.ratio is not None:
        space["z"] = eval(short.ratio, space)
    return short.constant + (eval(short.text, space) if short.text else 0.0)


LAWS = [
    (normal, {"mean": 0.7, "sd": 2.5}, [-30.0, 0.7, 3.0], lambda p: stats.norm(p["mean"], p["sd"])),
    (normal, {"mean": 0, "sd": 1}, [-1.5, 0.0], lambda p: stats.norm(0, 1)),
    (uniform, {"low": -2.0, "high": 3.0}, [-2.0, 0.0, 3.0], lambda p: stats.uniform(p["low"], 5.0)),
    (exponential, {"rate": 0.3}, [0.0, 5.0], lambda p: stats.expon(0, 1 / p["rate"])),
    (gamma, {"shape": 3.5, "scale": 0.4}, [1e-9, 80.0], lambda p: stats.gamma(p["shape"], 0, p["scale"])),
    (gamma, {"shape": 1.0, "scale": 40.0}, [1e-9, 2.0], lambda p: stats.gamma(1.0, 0, p["scale"])),
    (gamma, {"shape": 2, "scale": 40.0}, [1e-9, 2.0], lambda p: stats.gamma(2, 0, p["scale"])),
    (inv_gamma, {"shape": 1, "scale": 10.0}, [0.01, 50.0], lambda p: stats.invgamma(1, 0, p["scale"])),
    (inv_gamma, {"shape": 2.5, "scale": 0.1}, [0.01, 50.0], lambda p: stats.invgamma(2.5, 0, p["scale"])),
    (beta, {"a": 2, "b": 2}, [1e-12, 0.3, 0.9999], lambda p: stats.beta(2, 2)),
    (beta, {"a": 1.0, "b": 0.3}, [1e-12, 0.3, 0.9999], lambda p: stats.beta(1.0, 0.3)),
    (beta, {"a": 1, "b": 1}, [0.4], lambda p: stats.beta(1, 1)),
]


@pytest.mark.parametrize(("kind", "parameters", "xs", "frozen"), LAWS)
def test_the_text_of_constant_parameters_is_the_log_density(kind, parameters, xs, frozen):
    for x in xs:
        found = value_of(kind, list(parameters.values()), x)
        assert found == pytest.approx(kind(**parameters).logpdf(x), rel=1e-13, abs=1e-13)
        assert found == pytest.approx(frozen(parameters).logpdf(x), rel=1e-10, abs=1e-10)


VARIABLE = [{"mean"}, {"sd"}, {"mean", "sd"}, {"low"}, {"high"}, {"rate"}, {"scale"}]


@pytest.mark.parametrize(
    ("kind", "parameters", "xs", "variable"),
    [(*law[:3], names) for law in LAWS for names in VARIABLE if names <= law[1].keys()],
)
def test_the_text_of_variable_parameters_is_the_log_density(kind, parameters, xs, variable):
    names = [name if name in variable else value for name, value in parameters.items()]
    for x in xs:
        found = value_of(kind, names, x, **parameters)
        assert found == pytest.approx(kind(**parameters).logpdf(x), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize(
    ("alpha", "weights"),
    [
        ([2.0, 2.0, 2.0], [0.2, 0.3, 0.5]),
        ([1, 0.5], [1e-9, 1 - 1e-9]),
        ([1.0, 1.0], [0.4, 0.6]),
        ([3.0], [1.0]),
    ],
)
def test_the_text_of_weights_is_the_log_density(alpha, weights):
    found = value_of(dirichlet, [alpha], weights)
    assert found == pytest.approx(dirichlet(alpha).logpdf(weights), rel=1e-13, abs=1e-13)
    if len(alpha) > 1:
        assert found == pytest.approx(stats.dirichlet(alpha).logpdf(weights), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(
    ("kind", "parameters", "xs"),
    [
        (uniform, [0.0, 1.0], [-0.1, 1.1, math.nan]),
        (exponential, [1.0], [-0.1, math.inf, math.nan]),
        (gamma, [2.0, 1.0], [0.0, -1.0, math.inf, math.nan]),
        (inv_gamma, [2.0, 1.0], [0.0, -1.0, math.inf, math.nan]),
        (beta, [2.0, 2.0], [0.0, 1.0, -0.1, 1.1, math.nan]),
        (dirichlet, [[1.0, 1.0]], [[0.0, 1.0], [0.4, 0.7], [-0.4, 1.4], [math.nan, 0.4]]),
    ],
)
def test_a_value_outside_of_the_support_is_left_to_the_distribution(kind, parameters, xs):
    for x in xs:
        assert value_of(kind, parameters, x) is None


@pytest.mark.parametrize(
    ("kind", "names", "values"),
    [
        (normal, [0.0, "sd"], [{"sd": 0.0}, {"sd": -1.0}, {"sd": math.inf}, {"sd": math.nan}]),
        (uniform, ["low", 1.0], [{"low": 2.0}, {"low": math.nan}]),
        (exponential, ["rate"], [{"rate": 0.0}, {"rate": -1.0}, {"rate": math.inf}]),
        (gamma, [2.0, "scale"], [{"scale": 0.0}, {"scale": -1.0}, {"scale": math.inf}]),
        (inv_gamma, [2.0, "scale"], [{"scale": 0.0}, {"scale": -1.0}, {"scale": math.inf}]),
    ],
)
def test_a_parameter_that_is_none_is_left_to_the_distribution(kind, names, values):
    for variables in values:
        assert value_of(kind, names, 0.5, **variables) is None


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (normal, [0.0, 0.0]),
        (normal, [math.inf, 1.0]),
        (normal, [0.0, None]),
        (gamma, ["shape", 1.0]),
        (gamma, [1e4, 1.0]),
        (gamma, [1.0, -1.0]),
        (inv_gamma, [0.0, 1.0]),
        (beta, ["a", 1.0]),
        (beta, [-1.0, 1.0]),
        (uniform, [1.0, 1.0]),
        (exponential, [-1.0]),
    ],
)
def test_there_is_no_text_for_other_parameters(kind, parameters):
    assert short_density(kind, parameters, "x") is None


def test_there_is_no_text_for_other_families_and_shapes():
    class narrow(normal):
        pass

    assert short_density(narrow, [0.0, 1.0], "x") is None
    assert short_density(normal, [0.0, 1.0], ("x", "y")) is None
    assert short_density(dirichlet, [[1.0, 1.0]], "x") is None
    assert short_density(dirichlet, [[1.0, 1.0]], ("x", "y", "z")) is None
    assert short_density(dirichlet, [[1.0, -1.0]], ("x", "y")) is None
