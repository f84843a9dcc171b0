"""Hamiltonian Monte Carlo as an involution: found right, and its mistakes found."""

import numpy as np
import pytest

from gendsl import check_involutive, errors, involutive_mcmc


@pytest.fixture(scope="module")
def hmc(load_example):
    return load_example("hmc_by_involution")


def check(hmc, f, n=15):
    return check_involutive(hmc.bioassay, (), hmc.draw_momentum, f, observed="deaths", n=n, rng=1)


def test_the_move_passes_every_check(hmc):
    report = check(hmc, hmc.leapfrog)
    assert report.ok, str(report)


@pytest.mark.parametrize("name", ["no_turn", "no_half_steps"])
def test_mistakes_are_found_in_random_cases_and_at_the_first_checked_step(hmc, name):
    f = getattr(hmc, name)
    report = check(hmc, f)
    assert len(report.failures) == 15
    error = hmc.mistake(f)
    assert isinstance(error, errors.InvolutionError)
    assert error.address == ("theta",)
    assert "is not an involution" in str(error) and 'write(model_out["theta"], theta' in str(error)


def test_whole_steps_at_both_ends_are_reversible(hmc):
    """As the comment in the example says: no mistake, only another integrator."""
    report = check(hmc, hmc.leapfrog.bind(first=1.0, last=1.0))
    assert report.ok, str(report)


def test_the_force_is_the_gradient_of_the_model(hmc):
    for theta in ([0.3, 4.0], [-1.0, 11.0]):
        theta = np.array(theta)
        trace = hmc.bioassay.generate((), {"deaths": hmc.DEATHS}, init={"theta": theta}).trace
        gradient = np.empty(2)
        for i, step in enumerate(1e-5 * np.eye(2)):
            up, down = (trace.update({"theta": theta + s}).trace.log_prob for s in (step, -step))
            gradient[i] = (up - down) / 2e-5
        np.testing.assert_allclose(hmc.force(theta, hmc.DEATHS), gradient, rtol=1e-6, atol=1e-6)


def test_the_determinant_is_found_to_be_one_where_the_map_is_far_from_the_identity(hmc):
    trace = hmc.start_trace()
    for seed in range(5):
        after, info = involutive_mcmc(trace, hmc.draw_momentum, (), hmc.leapfrog, rng=seed)
        assert abs(info.log_abs_det) < 1e-12
        if info.accepted:
            assert np.abs(after["theta"] - trace["theta"]).max() > 0.1
    # and it is no constant: damping the momentum shrinks volume, two coordinates by 0.9 each
    damped = hmc.leapfrog.bind(turn=-0.9)
    _, info = involutive_mcmc(trace, hmc.draw_momentum, (), damped, rng=1)
    assert info.log_abs_det == pytest.approx(2 * np.log(0.9))


def test_the_exact_answer_doesnt_depend_on_the_grid(hmc, monkeypatch):
    exact = hmc.exact_means()
    monkeypatch.setattr(hmc, "LEVELS", np.linspace(-7.99, 11.99, 1000))
    monkeypatch.setattr(hmc, "SLOPES", np.linspace(-20.2, 90.1, 500))
    for name, value in hmc.exact_means().items():
        assert value == pytest.approx(exact[name], rel=1e-3), name


def test_the_command_prints_its_result(hmc, run_main):
    out, size = run_main(hmc, "--draws", "60")
    assert "all passed" in out and out.count("is not an involution") == 2
    assert "log|det J|" in out and "exact" in out
    assert size > 20_000


@pytest.mark.statistical
def test_the_chain_agrees_with_quadrature(hmc):
    chain, log_dets = hmc.run(800, seed=2, progress=False)
    assert np.abs(log_dets).max() < 1e-10
    assert chain.acceptance["step"].rate > 0.8
    for name, (mean, error, exact) in hmc.compare(chain).items():
        assert abs(mean - exact) < 4 * error, name
        assert error < 0.1 * abs(exact), name
