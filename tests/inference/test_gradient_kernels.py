"""Random walk, MALA, HMC and NUTS: what a step is, and what is refused. Their laws are tested elsewhere."""

import math
import pickle
from functools import partial

import cloudpickle
import numpy as np
import pytest

from gendsl import (
    bernoulli,
    dirichlet,
    exponential,
    gamma,
    gen,
    normal,
    sample,
    select,
    uniform,
    uniform_discrete,
)
from gendsl.errors import KernelError, LabelError, UnknownAddressError, ZeroProbabilityError
from gendsl.inference import Coordinates, hmc, mala, nuts, random_walk
from gendsl.inference.coordinates import OutsideError
from gendsl.inference.kernel import is_reversible
from gendsl.inference.metric import DenseMetric, Metric, check_mass, metric_at
from gendsl.inference.trajectory import State, leapfrog


@gen
def model():
    x = ~normal(0, 1)
    s = ~gamma(2, 1)
    k = ~bernoulli(0.5)
    y = ~normal(x, s)


SELECTED = select("x", "s")
KERNELS = [
    random_walk(SELECTED, 0.5), mala(SELECTED, 0.5), hmc(SELECTED, 0.3, 4), nuts(SELECTED, 0.3),
    hmc(SELECTED, 0.3, 4, mass=np.array([[2.0, 0.3], [0.3, 1.0]])), nuts(SELECTED, 0.3, {"s": 2.0}),
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_step(kernel):
    trace = model.generate((), {"y": 0.7}, rng=1).trace
    rng = np.random.default_rng(1)
    moved = 0
    for _ in range(30):
        after, info = kernel(trace, rng)
        assert info.accepted == (after is not trace)
        assert 0 <= info.accept_probability <= 1
        assert after["y"] == 0.7 and after["k"] == trace["k"]
        assert after.log_prob == pytest.approx(model.assess((), after.choices).log_prob)
        moved += info.accepted
        trace = after
    assert moved > 5


@pytest.mark.parametrize("kernel", KERNELS[:4], ids=repr)
def test_one_seed_gives_one_step(kernel):
    trace = model.simulate(rng=3)
    first, second = (kernel(trace, 7)[0] for _ in range(2))
    assert first.choices == second.choices


def test_leapfrog_runs_backwards_and_keeps_the_energy():
    trace = model.generate((), {"y": 0.7}, rng=1).trace
    coordinates = Coordinates(trace, SELECTED)
    metric = metric_at(check_mass(np.array([[2.0, 0.3], [0.3, 1.0]]), "test", SELECTED), coordinates)
    start = State(coordinates.start(), np.array([0.4, -1.1]))
    errors = []
    for size in (0.1, 0.05):
        state = start
        for _ in range(round(1 / size)):
            state = leapfrog(coordinates, metric, state, size)
        errors.append(abs(state.energy(metric) - start.energy(metric)))
        for _ in range(round(1 / size)):
            state = leapfrog(coordinates, metric, state, -size)
        assert state.point.position == pytest.approx(start.point.position, abs=1e-12)
        assert state.momentum == pytest.approx(start.momentum, abs=1e-12)
    assert errors[0] < 0.02 and errors[1] < 0.35 * errors[0]  # of second order


@pytest.mark.parametrize("metric", [Metric(np.array([1.0, 4.0])), DenseMetric(np.eye(2))])
def test_the_energy_of_a_diverged_trajectory_is_infinite(metric):
    """Without a warning: the divergence is counted."""
    assert metric.energy(np.array([1e200, 1e200])) == math.inf


def test_moving_by_the_momentum_is_seen(monkeypatch):
    """Moving by p instead of M^-1 p is reversible, so that the posterior stays invariant, but no dynamics."""
    plain, real = DenseMetric.velocity, leapfrog

    def planted(coordinates, metric, state, size):
        monkeypatch.setattr(DenseMetric, "velocity", lambda self, momentum: momentum)
        moved = real(coordinates, metric, state, size)
        monkeypatch.setattr(DenseMetric, "velocity", plain)
        return moved

    monkeypatch.setitem(test_leapfrog_runs_backwards_and_keeps_the_energy.__globals__, "leapfrog", planted)
    with pytest.raises(AssertionError):
        test_leapfrog_runs_backwards_and_keeps_the_energy()


@pytest.mark.parametrize("mass", [None, [2.0, 0.5], [[2.0, 0.3], [0.3, 1.0]], {"s": 3.0}])
def test_momenta_have_the_covariance_of_the_mass(mass):
    coordinates = Coordinates(model.simulate(rng=1), SELECTED)
    metric = metric_at(check_mass(mass, "test", SELECTED), coordinates)
    matrix = {True: np.eye(2)}.get(mass is None)
    if isinstance(mass, dict):
        matrix = np.diag([1.0, 3.0])
    elif mass is not None:
        matrix = np.diag(mass) if np.ndim(mass) == 1 else np.array(mass)
    rng = np.random.default_rng(0)
    draws = np.array([metric.draw(2, rng) for _ in range(20_000)])
    assert np.cov(draws.T) == pytest.approx(matrix, abs=0.1)
    p = np.array([0.3, -0.8])
    assert metric.velocity(p) == pytest.approx(np.linalg.solve(matrix, p))
    assert metric.energy(p) == pytest.approx(0.5 * p @ np.linalg.solve(matrix, p))
    noise = np.array([metric.spread(rng.standard_normal(2)) for _ in range(20_000)])
    assert np.cov(noise.T) == pytest.approx(np.linalg.inv(matrix), abs=0.1)
    assert metric.whiten(metric.spread(p)) == pytest.approx(p)


@pytest.mark.parametrize("scale", [0.5, [0.5, 0.2], [[0.25, 0.1], [0.1, 0.09]], {"s": 0.2}])
def test_scales_of_a_random_walk(scale):
    """The proposals of many steps from one trace, where flat densities accept all of them."""

    @gen
    def flat():
        x = ~normal(0, 1e6)
        s = ~normal(0, 1e6)

    trace = flat.generate((), init={"x": 0.0, "s": 0.0}).trace
    kernel = random_walk(SELECTED, scale)
    steps = np.array([list(kernel(trace, seed)[0].choices.values()) for seed in range(1200)])
    expected = {True: np.diag([0.25, 0.25])}.get(np.ndim(scale) == 0 and not isinstance(scale, dict))
    if isinstance(scale, dict):
        expected = np.diag([1.0, 0.04])
    elif expected is None:
        expected = np.diag(np.square(scale)) if np.ndim(scale) == 1 else np.array(scale)
    assert np.cov(steps.T) == pytest.approx(expected, rel=0.15, abs=0.02)


@pytest.mark.parametrize("make", [
    lambda s, **o: random_walk(s, 0.5, **o), lambda s, **o: mala(s, 0.5, **o),
    lambda s, **o: hmc(s, 0.5, **o), lambda s, **o: nuts(s, 0.5, **o),
])  # fmt: skip
def test_absent_and_wrong_selections(make):
    trace = model.simulate(rng=1)
    with pytest.raises(UnknownAddressError):
        make(select("nothing"))(trace, 1)
    after, info = make(select("nothing"), skip_absent=True)(trace, 1)
    assert after is trace and not info.accepted and "none of the selected" in info.reason
    assert info.accept_probability is None
    with pytest.raises(LabelError, match="discrete"):
        make(select("k"))(trace, 1)
    with pytest.raises(KernelError, match=r"needs a selection or an address, got \['x', 'k'\]") as caught:
        make(["x", "k"])
    assert "(select('x', 'k'))" in caught.value.fix
    with pytest.raises(KernelError, match="makes kernels and is none itself"):
        make(nuts)
    assert make("s").name == make(select("s")).name
    assert make("s")(trace, 1)[0].choices == make(select("s"))(trace, 1)[0].choices
    with pytest.raises(KernelError):
        make(model)
    impossible = model.generate((), {"y": math.inf}, rng=1).trace
    with pytest.raises(ZeroProbabilityError):
        make(SELECTED)(impossible, 1)


def test_on_the_border_nothing_is_moved():
    @gen
    def unit():
        x = ~uniform(0, 1)

    trace = unit.generate((), init={"x": 1.0}).trace
    for kernel in (random_walk(select("x"), 1.0), hmc(select("x"), 1.0), nuts(select("x"), 1.0)):
        after, info = kernel(trace, 1)
        assert after is trace and "border" in info.reason


def test_divergences_are_counted():
    @gen
    def steep():
        x = ~normal(0, 1e-4)

    trace = steep.generate((), init={"x": 1e-4}).trace
    _, info = nuts(select("x"), 1.0)(trace, 1)
    assert info.divergences == 1 and not info.accepted and info.steps == 1 and "diverges" in info.reason
    _, info = hmc(select("x"), 1.0, 3)(trace, 1)
    assert info.divergences == 1 and not info.accepted


def test_a_divergence_counts_also_where_the_state_that_was_drawn_is_rejected(monkeypatch):
    @gen
    def cliff():
        x = ~normal(0, 1)
        y = ~normal(0 if x < 0.5 else 1e6, 1)

    trace, _ = cliff.generate((), {"y": 0.0}, init={"x": 0.0}, rng=1)
    kernel = nuts(select("x"), 0.2)
    infos = {seed: kernel(trace, seed)[1] for seed in range(20)}
    seed = next(seed for seed, info in infos.items() if info.accepted and info.divergences)

    def refuse(coordinates, values):
        raise OutsideError("rounded")

    monkeypatch.setattr(Coordinates, "trace_at", refuse)
    _, info = kernel(trace, seed)
    assert not info.accepted and info.reason == "rounded" and info.divergences == 1


@pytest.mark.parametrize("kernel", [hmc(SELECTED, 1e3, 3), nuts(SELECTED, 1e3)], ids=repr)
def test_a_run_says_how_many_trajectories_diverged(kernel):
    trace = model.generate((), {"y": 0.7}, rng=1).trace
    run = sample(kernel, trace, 20, record="x", seed=1, progress=False)
    (tally,) = run.acceptance.values()
    assert 0 < tally.divergences <= 20
    assert f", {tally.divergences} diverged\n" in str(run)
    calm = sample(hmc(SELECTED, 1e-3, 3), trace, 20, record="x", seed=1, progress=False)
    assert "diverged" not in str(calm)


def test_a_density_that_cannot_be_computed_is_not_accepted():
    @gen
    def broken():
        x = ~normal(0, 1)
        y = ~normal(0 if x < 0.5 else math.sqrt(0.5 - x), 1)

    trace = broken.generate((), init={"x": 0.0}, rng=1).trace
    for kernel in (random_walk(select("x"), 1.0), mala(select("x"), 1.0), hmc(select("x"), 0.5, 5),
                   nuts(select("x"), 0.5)):  # fmt: skip
        rng, seen = np.random.default_rng(1), set()
        state = trace
        for _ in range(40):
            state, info = kernel(state, rng)
            assert state["x"] < 0.5
            seen.add(info.reason)
        assert seen - {None}


def test_structures_are_kept():
    @gen
    def structural():
        n = ~uniform(0, 1)
        if n > 0.5:
            extra = ~exponential(1.0)
        y = ~normal(n, 1)

    trace = structural.generate((), init={"n": 0.7}, rng=1).trace
    rng = np.random.default_rng(1)
    for kernel in (random_walk(select("n", "extra"), 1.0), hmc(select("n", "extra"), 0.4, 3), nuts(
            select("n", "extra"), 0.4)):  # fmt: skip
        state = trace
        for _ in range(20):
            state, _ = kernel(state, rng)
            assert "extra" in state


def test_arguments():
    for wrong in (0, -1.0, math.nan, math.inf, "1", True):
        with pytest.raises(KernelError, match="step_size"):
            hmc(SELECTED, wrong)
        with pytest.raises(KernelError, match="scale"):
            random_walk(SELECTED, wrong)
    for wrong in ([-1.0, 1.0], [[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.5], [0.0, 1.0]], "m", {"s": -1.0}):
        with pytest.raises(KernelError, match="mass"):
            nuts(SELECTED, 0.1, wrong)
    with pytest.raises(KernelError, match="steps"):
        hmc(SELECTED, 0.1, 0)
    with pytest.raises(KernelError, match="max_depth"):
        nuts(SELECTED, 0.1, max_depth=0)
    with pytest.raises(KernelError, match="dimension 3"):
        hmc(SELECTED, 0.1, mass=[1.0, 1.0, 1.0])(model.simulate(rng=1), 1)
    with pytest.raises(KernelError, match="has 2 entries"):
        hmc(SELECTED, 0.1, mass={"s": [1.0, 1.0]})(model.simulate(rng=1), 1)


@gen
def several(n):
    x = ~normal(0, 1)
    mu = [("mu", j) @ ~normal(0, 1) for j in range(n)]


@pytest.mark.parametrize(
    "make", [partial(hmc, step_size=0.1), partial(nuts, step_size=0.1), partial(mala, step_size=0.1), None]
)
def test_numbers_for_choices_that_there_aren_t(make):
    """They would be ignored, and the kernel would move as if they had not been given."""

    def kernel(numbers):
        chosen = select("mu", "x")
        return random_walk(chosen, numbers) if make is None else make(chosen, mass=numbers)

    with pytest.raises(KernelError, match="numbers for 'my', which isn't selected"):
        kernel({"x": 2.0, "my": 3.0})
    trace = several.simulate((2,), rng=1)
    with pytest.raises(KernelError, match=r"for a namespace(.|\n)*such as \('mu', 0\)"):
        kernel({"mu": 2.0})(trace, 1)
    kernel({("mu", 0): 2.0, ("mu", 5): 3.0})(trace, 1)  # this one may come


def test_names_and_reversibility():
    assert hmc(SELECTED, 0.1).name == "hmc select('x', 's')" and hmc(SELECTED, 0.1, name="h").name == "h"
    assert all(is_reversible(kernel) for kernel in KERNELS[:3]) and not is_reversible(KERNELS[3])


# --- without a selection ------------------------------------------------------------------------------

MAKERS = [partial(nuts, step_size=0.3), partial(hmc, step_size=0.3, steps=4), partial(mala, step_size=0.5),
          partial(random_walk, scale=0.5)]  # fmt: skip


@gen
def grows():
    k = ~uniform_discrete(1, 3)
    total = 0.0
    for j in range(k):
        total += ("mu", j) @ ~normal(0, 1)
    w = ~dirichlet([1.0, 1.0])
    y = ~normal(total, 1)


@pytest.mark.parametrize("runtime", ["compiled", "reference"])
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.func.__name__)
def test_all_continuous_latent_choices_are_moved_where_none_are_selected(make, runtime):
    for program, selected in ((model, ("x", "s")), (grows, ("mu", "w"))):
        program = program.reference if runtime == "reference" else program
        every, own = make(), make(select(*selected))
        trace = program.generate((), {"y": 0.7}, rng=1).trace
        other, rng, rng2 = trace, np.random.default_rng(5), np.random.default_rng(5)
        for _ in range(10):
            before = trace
            trace, info = every(trace, rng)
            other, info2 = own(other, rng2)
            assert info == info2 and trace.choices == other.choices
            assert trace["y"] == 0.7 and trace["k"] == before["k"]
        assert trace.choices != program.generate((), {"y": 0.7}, rng=1).trace.choices
    assert repr(every).count("all continuous latent choices") == 1


def test_what_is_moved_follows_what_the_trace_has():
    kernel = nuts(step_size=0.3)
    trace = grows.generate((), {"y": 0.7}, init={"k": 1}, rng=1).trace
    for k in (1, 3, 2):
        new = {("mu", j): 0.1 * j for j in range(k)}
        trace, _, _ = trace.update({"k": k, **new})
        after = trace
        for seed in range(20):
            after, _ = kernel(after, np.random.default_rng(seed))
        assert all(after["mu", j] != trace["mu", j] for j in range(k))
    _, info = kernel(model.generate((), {"x": 0.1, "s": 1.0, "y": 0.7}).trace, np.random.default_rng(1))
    assert info.reason == "the trace has none of the selected choices"


def test_a_kernel_without_a_selection_warms_up_and_travels():
    kernel = pickle.loads(cloudpickle.dumps(nuts()))
    trace = model.generate((), {"y": 0.7}, rng=1).trace
    run, here = (sample(k, trace, 20, warmup=60, record=["x", "s"], seed=3) for k in (kernel, nuts()))
    assert np.array_equal(run["x"], here["x"]) and len(set(run["s"])) > 10
    masses = nuts(step_size=0.3, mass={"s": 2.0}), nuts(select("x", "s"), 0.3, {"s": 2.0})
    first, second = (k(trace, np.random.default_rng(2))[0] for k in masses)
    assert first.choices == second.choices
