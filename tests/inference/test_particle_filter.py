"""Particle filters: the evidence of a hidden Markov model against the forward algorithm, and their steps."""

import itertools
import math

import numpy as np
import pytest

from gendsl import bernoulli, categorical, errors, gen, normal, select, uniform
from gendsl.inference import extending_translator, importance_sampling, mh, particle_filter
from gendsl.inference.particles import Particles
from gendsl.runtime import small
from gendsl.transforms import extending

START = np.array([0.7, 0.3])
MOVE = np.array([[0.8, 0.2], [0.3, 0.7]])
MEANS = np.array([-0.5, 1.0])
ROWS = [START.tolist(), *MOVE.tolist()]


@gen
def hmm(n):
    z = -1
    for t in range(n):
        z = ("z", t) @ ~categorical(ROWS[z + 1])
        ("y", t) @ ~normal(-0.5 + 1.5 * z, 0.8)


@gen
def guess(trace, y):
    t = trace.args[0]
    ("z", t) @ ~categorical([0.7, 0.3] if y < 0.25 else [0.3, 0.7])


@gen
def first_guess(y):
    ("z", 0) @ ~categorical([0.4, 0.6])


Y = [0.9, 1.3, -0.2, -1.0, 0.3, 1.1, 0.2]
STEPS = [((t + 1,), {("y", t): y}, (y,)) for t, y in enumerate(Y)]


def likelihood(y):
    return np.exp(-0.5 * ((y - MEANS) / 0.8) ** 2) / (0.8 * math.sqrt(2 * math.pi))


def forward(ys):
    """The filtering distributions and log evidences after each step, by the forward algorithm."""
    alpha, total, filtered, log_evidences = None, 0.0, [], []
    for y in ys:
        alpha = (START if alpha is None else alpha @ MOVE) * likelihood(y)
        total += math.log(alpha.sum())
        alpha = alpha / alpha.sum()
        filtered.append(alpha)
        log_evidences.append(total)
    return np.array(filtered), np.array(log_evidences)


def smoothed_first(ys):
    """p(z_0 = 1 | all ys), by summing over all paths."""
    total = np.zeros(2)
    for path in itertools.product(range(2), repeat=len(ys)):
        p = START[path[0]] * math.prod(MOVE[a, b] for a, b in itertools.pairwise(path))
        total[path[0]] += p * math.prod(likelihood(y)[z] for z, y in zip(path, ys, strict=True))
    return total[1] / total.sum()


FILTERED, LOG_EVIDENCES = forward(Y)


def last_two(trace, rng):
    """A kernel that moves the two latest states."""
    t = trace.args[0]
    return mh(select(*[("z", s) for s in range(max(0, t - 2), t)]))(trace, rng)


def z_scores(ratios):
    ratios = np.array(ratios)
    return (ratios.mean(axis=0) - 1.0) / (ratios.std(axis=0, ddof=1) / math.sqrt(len(ratios)))


OPTIONS = [
    {"resampling": "multinomial", "threshold": 1.0},
    {"resampling": "residual", "threshold": 0.9},
    {"resampling": "stratified", "threshold": 1.0, "kernel": last_two},
    {"resampling": "systematic", "threshold": 0.7, "kernel": last_two, "move": "always"},
    {"proposal": guess, "first_proposal": first_guess, "threshold": 0.8},
    {"threshold": 0.0},
]


def evidence_ratios(replicates=40, particles=10, seed=1, **options):
    rng = np.random.default_rng(seed)
    runs = [particle_filter(hmm, STEPS, particles, rng=rng, **options) for _ in range(replicates)]
    return np.array([np.exp(run.log_evidences - LOG_EVIDENCES) for run in runs]), runs


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS)
def test_the_evidence_estimate_is_unbiased(options):
    ratios, runs = evidence_ratios(**options)
    assert (np.abs(z_scores(ratios)) < 4).all()
    resampled = np.mean([run.resampled for run in runs])
    assert (resampled == 0.0) == (options["threshold"] == 0.0)
    assert all(run.log_evidence == run.log_evidences[-1] for run in runs)


def mean_scores(exact, replicates=12, particles=60, **options):
    """z-scores of weighted means against exact ones, for each of some addresses."""
    rng = np.random.default_rng(3)
    means = []
    for _ in range(replicates):
        run = particle_filter(hmm, STEPS, particles, rng=rng, threshold=0.8, **options)
        means.append([run.particles.mean(what).mean for what in exact])
    errors = np.std(means, axis=0, ddof=1) / math.sqrt(replicates)
    return (np.mean(means, axis=0) - list(exact.values())) / errors


LAST = ("z", len(Y) - 1)


@pytest.mark.statistical
@pytest.mark.parametrize("kernel", [None, last_two])
def test_filtering_and_smoothing_probabilities(kernel):
    exact = {LAST: FILTERED[-1, 1], ("z", 0): smoothed_first(Y)}
    assert (np.abs(mean_scores(exact, kernel=kernel)) < 5).all()


@pytest.mark.statistical
def test_the_family_errors_agree_with_the_spread():
    """With multinomial resampling the squared error of the evidence is unbiased."""
    ratios, runs = evidence_ratios(120, 15, seed=4, resampling="multinomial", threshold=1.0)
    stated = [(run.particles.log_evidence_error * r) ** 2 for run, r in zip(runs, ratios[:, -1], strict=True)]
    assert np.nanmean(stated) == pytest.approx(np.var(ratios[:, -1]), rel=0.5)


# --- planted mistakes --------------------------------------------------------------------------------


def test_a_forgotten_evidence_increment_is_found(monkeypatch):
    correct = Particles.resample

    def wrong(self, *args, **options):
        found = correct(self, *args, **options)
        object.__setattr__(found, "log_evidence_before", self.log_evidence_before)
        return found

    monkeypatch.setattr(Particles, "resample", wrong)
    ratios, _ = evidence_ratios(15, threshold=1.0)
    assert np.abs(z_scores(ratios)[-1]) > 8


def test_weights_that_are_not_reset_are_found(monkeypatch):
    correct = Particles.resample

    def wrong(self, *args, **options):
        found = correct(self, *args, **options)
        object.__setattr__(found, "log_weights", np.full(self.size, self.log_weights.max()))
        return found

    monkeypatch.setattr(Particles, "resample", wrong)
    ratios, _ = evidence_ratios(15, threshold=1.0)
    assert np.abs(z_scores(ratios)[-1]) > 8


def test_a_proposal_score_that_is_added_is_found(monkeypatch):
    correct = extending._Extending._translate

    def wrong(self, *args):
        found = correct(self, *args)
        return found._replace(log_weight=found.log_weight - 2 * found.info.log_aux_ratio)

    monkeypatch.setattr(extending._Extending, "_translate", wrong)
    ratios, _ = evidence_ratios(15, proposal=guess)
    assert np.abs(z_scores(ratios)[-1]) > 8


@pytest.mark.slow
def test_a_kernel_with_another_target_is_found():
    def to_one(trace, rng):
        return trace.update({("z", trace.args[0] - 1): 1}).trace, None

    ratios, _ = evidence_ratios(40, 20, kernel=to_one, move="always")
    assert np.abs(z_scores(ratios)).max() > 5


# --- what a run says ---------------------------------------------------------------------------------


def test_what_a_run_says():
    run = particle_filter(
        hmm, iter(STEPS), 25, kernel=last_two, threshold=1.0, rng=1,
        record=lambda particles: (particles.size, particles.traces[0].args[0]),
    )  # fmt: skip
    assert run.recorded == [(25, t + 1) for t in range(len(Y))]
    assert run.resampled.tolist() == [True] * (len(Y) - 1) + [False]
    assert np.isnan(run.acceptance[-1]) and (run.acceptance[:-1] > 0).all()
    assert (run.ess > 1).all() and (run.ess <= 25).all() and run.temperatures.size == 0
    for trace in run.particles.traces:
        assert trace.args == (len(Y),) and set(trace.observed) == {("y", t) for t in range(len(Y))}
        assert trace.log_prob == pytest.approx(hmm.assess(trace.args, trace.choices).log_prob)
    assert "resampled 6 times" in str(run) and repr(run).startswith("<25 particles")
    for _, share in run.particles.frequency(("z", 0)).items():
        assert 0 <= share.probability <= 1


def test_a_step_at_a_time_by_hand():
    rng, again = np.random.default_rng(5), np.random.default_rng(5)
    run = particle_filter(hmm, [step[:2] for step in STEPS[:3]], 10, threshold=1.0, rng=rng)
    particles = importance_sampling(hmm, (1,), {("y", 0): Y[0]}, 10, rng=again)
    for t in (1, 2):
        particles = particles.resample(rng=again)
        particles = particles.translate(extending_translator((t + 1,), {("y", t): Y[t]}), rng=again)
    assert particles.log_evidence == pytest.approx(run.log_evidence, rel=1e-12)


@gen
def gates(n):
    for t in range(n):
        x = ("open", t) @ ~bernoulli(0.5)
        ("y", t) @ ~uniform(0, 1 + x)


def test_particles_of_weight_zero_are_dropped_and_counted():
    rng = np.random.default_rng(6)
    steps = [((t + 1,), {("y", t): 1.5}) for t in range(3)]
    estimates = [math.exp(particle_filter(gates, steps, 30, rng=rng).log_evidence) for _ in range(40)]
    z = (np.mean(estimates) - 0.25**3) / (np.std(estimates, ddof=1) / math.sqrt(40))
    assert abs(z) < 4
    run = particle_filter(gates, steps, 30, threshold=0.0, rng=1)
    assert len(run.particles.traces) < 30 == run.particles.size
    assert all(trace["open", t] for trace in run.particles.traces for t in range(3))


def test_all_particles_lost():
    steps = [((1,), {("y", 0): 0.5}), ((2,), {("y", 1): 3.0})]
    with pytest.raises(errors.ZeroProbabilityError, match="all 5 particles have weight zero") as caught:
        particle_filter(gates, steps, 5, rng=1)
    assert "out of support at ('y', 1)" in str(caught.value)


def test_what_a_particle_filter_refuses():
    step = ((1,), {("y", 0): 0.5})
    for message, steps, options in (
        ("got no steps", [], {}),
        ("step 0 of the particle filter is", [{"y": 1}], {}),
        ("step 1 of the particle filter is", [step, (2, {})], {}),
        ("proposal_args of step 0", [(*step, 3)], {}),
        ("no resampling scheme", [step], {"resampling": "best"}),
        ("got threshold=2", [step], {"threshold": 2}),
        ("got move='never'", [step], {"move": "never"}),
    ):
        with pytest.raises(errors.ValueTypeError, match=message):
            particle_filter(hmm, steps, 3, rng=1, **options)
    with pytest.raises(errors.KernelError):
        particle_filter(hmm, [step], 3, kernel=guess)


def test_a_step_visits_what_is_new_only(monkeypatch):
    """The densities that are computed at a step don't grow with the number of steps before it."""
    if hmm.is_reference:
        pytest.skip("the reference runtime executes everything")
    counts = []
    count = [0]
    original = categorical.logpdf

    def counted(self, value):
        count[0] += 1
        return original(self, value)

    monkeypatch.setattr(categorical, "logpdf", counted)
    trace = hmm.generate((1,), {("y", 0): 0.1}, rng=1).trace
    rng = np.random.default_rng(1)
    for t in range(1, 60):
        count[0] = 0
        trace = extending_translator((t + 1,), {("y", t): 0.1})(trace, rng=rng).trace
        counts.append(count[0])
    assert max(counts[small.CHOICES :]) <= 4  # before, the trace is so small that it is executed whole
