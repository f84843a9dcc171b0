"""Variable selection: the moves, and the exact model probabilities they are compared with."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import invgamma, multivariate_normal

from gendsl import check_involutive
from gendsl.testing import assert_stationary


@pytest.fixture(scope="module")
def example(load_example):
    return load_example("variable_selection")


def test_the_data_give_the_published_least_squares_fit(example):
    """Draper and Smith: heat = 62.41 + 1.551 x1 + 0.510 x2 + 0.102 x3 - 0.144 x4, residual sum 47.86."""
    table = np.loadtxt(example.DATA, delimiter=",", skiprows=1)
    x = np.column_stack([np.ones(len(table)), table[:, :-1]])
    fit, residual, _, _ = np.linalg.lstsq(x, table[:, -1], rcond=None)
    np.testing.assert_allclose(fit, [62.4054, 1.5511, 0.5102, 0.1019, -0.1441], atol=6e-5)
    assert residual[0] == pytest.approx(47.86, abs=0.005)


def test_model_probabilities_agree_with_integration_over_the_variance(example):
    x, y = example.read_data()
    exact = example.exact_models(x, y)
    assert len(exact) == 16 and sum(exact.values()) == pytest.approx(1.0)

    def evidence(model):
        shape = np.eye(len(y)) + example.TAU**2 * x[:, model] @ x[:, model].T
        prior = invgamma(example.SHAPE, scale=example.SCALE)

        def integrand(log_variance):
            variance = math.exp(log_variance)
            density = multivariate_normal.logpdf(y, cov=variance * shape)
            return math.exp(density + prior.logpdf(variance) + log_variance)

        return quad(integrand, -8, 4, epsabs=0, epsrel=1e-8, limit=200)[0]

    models = [(0, 1), (0, 1, 3), (1, 2)]
    found = [evidence(model) for model in models]
    for model, value in zip(models, found, strict=True):
        assert value / found[0] == pytest.approx(exact[model] / exact[models[0]], rel=1e-6)


def test_the_conditional_of_a_coefficient_is_proportional_to_the_joint_density(example):
    x, y = example.read_data()
    init = {"variance": 0.2, "included": [True, True, False, False], "coefficient": [0.4, 1.0]}
    trace = example.regression.generate((x,), {"y": y}, init=init).trace
    mean, sd = example.given_others(trace, 1, without=1)
    at = lambda value: trace.update({("coefficient", 1): value}).trace.log_prob
    for z in (1.0, -2.0):
        assert at(mean + z * sd) - at(mean) == pytest.approx(-0.5 * z**2, rel=1e-9)


def test_the_moves_between_models_pass_every_check(example):
    x = np.random.default_rng(1).standard_normal((6, 3))
    for q, f in example.BETWEEN:
        report = check_involutive(example.regression, (x,), q, f, observed="y", n=60, rng=1)
        assert report.ok, str(report)


def test_the_moves_within_a_model_are_always_accepted(example):
    x, y = example.read_data()
    chain = example.run(x, y, 60, progress=False)
    for name in ("mh draw_coefficients", "mh draw_variance"):
        assert chain.acceptance[name].rate == 1.0


def test_the_command_prints_its_result(example, run_main):
    out, size = run_main(example, "--draws", "100")
    assert out.count("all passed") == 2
    assert "included | y)" in out and "exact" in out
    assert size > 20_000


@pytest.mark.statistical
def test_all_moves_are_stationary(example):
    x = np.random.default_rng(2).standard_normal((5, 3))
    x[:, 2] = x[:, 0] + 0.3 * x[:, 2]
    report = assert_stationary(
        example.KERNEL,
        example.regression,
        (x,),
        observed="y",
        chains=64,
        steps=40,
        draws=4000,
        rng=1,
        statistics={
            "log variance": lambda trace: math.log(trace["variance"]),
            "log variance²": lambda trace: math.log(trace["variance"]) ** 2,
            "size": lambda trace: len(example.model_of(trace)),
            "empty": lambda trace: not example.model_of(trace),
            "first and third": lambda trace: trace["included", 0] and trace["included", 2],
            "coefficient²": lambda trace: (
                trace["coefficient", 0] ** 2 / trace["variance"] if trace["included", 0] else 0.0
            ),
        },
    )
    assert report.moved > 0.9


@pytest.mark.statistical
def test_the_chain_agrees_with_the_exact_model_probabilities(example):
    x, y = example.read_data()
    chain, exact = example.run(x, y, 1500, seed=2, progress=False), example.exact_models(x, y)
    shares = chain.frequency("model")
    for model in [model for model, p in exact.items() if p > 0.05]:
        probability, error = shares[model]
        assert abs(probability - exact[model]) < 4 * error, (model, probability, error)
    for (share, error), p in list(example.inclusion(chain, exact).values())[1:]:
        assert abs(share - p) < 4 * error
