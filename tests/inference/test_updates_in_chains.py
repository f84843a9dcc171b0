"""Chains of kernels that update choices one by one: as machine code they are what they are step by step."""

import math
from importlib import import_module

import numpy as np
import pytest

from gendsl import (
    categorical,
    continuous,
    discrete,
    gamma,
    gen,
    mvnormal,
    normal,
    poisson,
    read,
    sample,
    select,
    transform,
    uniform_discrete,
    write,
)
from gendsl.compiler.llvm.native import available
from gendsl.errors import RuntimeMismatchError
from gendsl.inference import (
    cycle,
    ellipses,
    elliptical_slice,
    gibbs,
    involutive,
    lines,
    mh,
    mixture,
    random_walk,
    repeat,
    single_site,
    slice_sampling,
)
from gendsl.inference.compiled import policy
from gendsl.testing import running_on
from tests.inference.forms import AS, FORMS

needs_llvm = pytest.mark.skipif(available() is not None, reason="there is no LLVM here")


@gen
def clusters(n):
    k = ~uniform_discrete(1, 4)
    mu = [("mu", j) @ ~normal(0, 5) for j in range(k)]
    s = ~gamma(2, 1)
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        ("x", i) @ ~normal(mu[z % k], s)


@gen
def empty(trace):
    pass


@gen
def a_mean(trace):
    if trace["k"] < 4:
        new = ~normal(0, 5)


@transform
def more_or_fewer(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    if k < 4:
        write(model_out["k"], k + 1, discrete)
        write(model_out["mu", k], read(aux_in["new"], continuous), continuous)
    else:
        write(model_out["k"], 3, discrete)
        write(aux_out["new"], read(model_in["mu", 3], continuous), continuous)


def by_k(trace):
    return [1.0, 0.5 * trace["k"], 2.0]


RNG = np.random.default_rng(2)
MEAN, COVARIANCE = np.array([1.0, -1.0]), np.array([[2.0, 1.2], [1.2, 1.0]])
START = clusters.generate((9,), {("x", i): float(RNG.normal(3 * (i % 2))) for i in range(9)}, rng=4).trace
KERNELS = {
    "a sweep": cycle(gibbs("z"), slice_sampling(select("mu", "s"))),
    "the number, too": cycle(mh("k"), gibbs("z"), slice_sampling("mu")),
    "some of many": cycle(
        single_site(select("z", "s"), skip_absent=True), slice_sampling(select(("mu", 2)), skip_absent=True)
    ),
    "at random": cycle(gibbs("z", scan="random"), slice_sampling(select("mu", "s"), scan="random")),
    "repeated": repeat(cycle(single_site("z"), gibbs("z")), 3),
    "mixed": mixture([gibbs("z"), slice_sampling("s"), mh("s")], [1, 2, 3]),
    "mixed by the state": mixture(
        [gibbs("z", scan="random"), slice_sampling("s", scan="random"), single_site("z")], by_k
    ),
    "blocks": cycle(gibbs(select(("z", 0), ("z", 3)), block=True), gibbs("z", scan="random"), mh("k")),
    "along ellipses": cycle(elliptical_slice("mu"), gibbs("z"), mh("k")),
    "along ellipses at random": mixture(
        [gibbs("z", scan="random"), elliptical_slice("mu"), slice_sampling("s", scan="random")], by_k
    ),
    "with a jump": cycle(involutive(a_mean, more_or_fewer), slice_sampling("mu"), gibbs("z")),
}


@pytest.mark.parametrize("name", KERNELS)
def test_the_same_chain(name, form):
    kernel, found = KERNELS[name], []
    for runtime in (form, "compiled"):
        with running_on(runtime):
            found.append(sample(kernel, START, 60, thin=2, seed=3, record=["k", "s", ("z", 0), ("mu", 0)]))
    native, stepwise = found
    assert native.ran == [AS[form]]
    for address in ("k", "s", ("z", 0), ("mu", 0)):
        assert np.allclose(native[address], stepwise[address], rtol=1e-12, atol=0.0)
    assert dict(native.last.choices) == pytest.approx(dict(stepwise.last.choices), rel=1e-12)
    assert native.chains[0].acceptance.keys() == stepwise.chains[0].acceptance.keys()
    for one, tally in native.chains[0].acceptance.items():
        other = stepwise.chains[0].acceptance[one]
        assert (tally.proposed, tally.accepted) == (other.proposed, other.accepted)
        assert tally.reasons == other.reasons
        assert tally.log_ratio == pytest.approx(other.log_ratio, rel=1e-9, abs=1e-9)
        assert tally.log_aux == pytest.approx(other.log_aux, rel=1e-9, abs=1e-9)
    assert any(len(set(native[address].ravel())) > 1 for address in ("s", ("z", 0), ("mu", 0)))


def test_a_planted_mistake_is_found(monkeypatch, form):
    kernel = gibbs("z", name="planted")
    monkeypatch.setattr(lines, "log_weights", lambda line, every: [0.0] * len(every))
    with running_on(form), pytest.raises(RuntimeMismatchError, match=f"planted: the {FORMS[form]}"):
        sample(kernel, START, 20, seed=1, record=["s"])


@gen
def line(n):
    f = ~mvnormal(MEAN, COVARIANCE)
    b = ~normal(1, 2)
    for i in range(n):
        ("y", i) @ ~normal(f[0] + i * f[1] + (i - 2) * (i - 2) * b, 1.5)


def exact_moments(n, y):
    """The posterior mean and covariance of f and b."""
    mean, covariance = np.append(MEAN, 1.0), np.zeros((3, 3))
    covariance[:2, :2], covariance[2, 2] = COVARIANCE, 4.0
    x = np.array([[1.0, i, (i - 2) ** 2] for i in range(n)])
    gain = covariance @ x.T @ np.linalg.inv(x @ covariance @ x.T + 2.25 * np.eye(n))
    return mean + gain @ (y - x @ mean), covariance - gain @ x @ covariance


def largest_z(kernel, seed):
    """The largest z-score of first and second moments of a chain as machine code, by batches of draws."""
    y = np.array([0.5, 1.0, -1.0, 2.0])
    start = line.generate((4,), {("y", i): float(y[i]) for i in range(4)}, rng=1).trace
    with running_on("native"):
        run = sample(kernel, start, 40_000, thin=2, seed=seed, record=["f", "b"], progress=False)
    assert run.ran == ["as machine code"]
    draws = np.column_stack([run["f"].reshape(-1, 2), run["b"].ravel()])[200:]
    mean, covariance = exact_moments(4, y)
    apart = np.linalg.solve(np.linalg.cholesky(covariance), (draws - mean).T).T  # standard normal
    moments = np.column_stack([apart, *(apart[:, i] * apart[:, j] for i in range(3) for j in range(i + 1))])
    moments -= np.array([0, 0, 0, *(float(i == j) for i in range(3) for j in range(i + 1))])
    batches = moments[: len(moments) // 100 * 100].reshape(100, -1, moments.shape[1]).mean(1)
    return np.abs(batches.mean(0) / batches.std(0, ddof=1) * 10).max()


SAMPLERS = {
    "elliptical_slice": lambda: elliptical_slice(select("b", "f")),
    "slice_sampling": lambda: slice_sampling(select("b", "f"), width=2.0),
}


@needs_llvm
@pytest.mark.parametrize("name", SAMPLERS)
def test_exact_posteriors(name):
    assert largest_z(SAMPLERS[name](), seed=1) < 4.0


PI, MATRIX = [0.5, 0.3, 0.2], np.array([[0.8, 0.1, 0.1], [0.2, 0.8, 0.0], [0.3, 0.3, 0.4]])


@gen
def states(n):
    z = ("z", 0) @ ~categorical(PI)
    ("y", 0) @ ~normal(z, 1)
    for t in range(1, n):
        z = ("z", t) @ ~categorical(MATRIX[z])
        ("y", t) @ ~normal(z, 1)


def largest_z_of_states(kernel):
    """The largest z-score of the counts of joint values, in a chain of independent draws as machine code."""
    y = [0.2, 1.5, 1.0]
    start = states.generate((3,), {("y", t): y[t] for t in range(3)}, rng=1).trace
    with running_on("native"):
        run = sample(kernel, start, 20_000, seed=3, record=["z"], progress=False)
    assert run.ran == ["as machine code"]
    exact = np.zeros((3, 3, 3))
    for z in np.ndindex(3, 3, 3):
        prior = PI[z[0]] * MATRIX[z[0], z[1]] * MATRIX[z[1], z[2]]
        exact[z] = prior * np.exp(-0.5 * sum((y[t] - z[t]) ** 2 for t in range(3)))
    exact = (exact / exact.sum()).ravel()
    draws = run["z"].reshape(-1, 3) @ [9, 3, 1]
    counts = np.bincount(draws.astype(int), minlength=27)
    assert not counts[exact == 0.0].any()
    spread = np.sqrt(len(draws) * exact * (1 - exact))[exact > 0.0]
    return np.abs((counts - len(draws) * exact)[exact > 0.0] / spread).max()


@needs_llvm
def test_exact_joint_values():
    assert largest_z_of_states(gibbs("z", block=True)) < 4.0


def _by_the_largest_alone(log_weights, rng):
    """The first of the values whose density is within a factor of that of the most probable one."""
    level = max(log_weights) + 2.0 * math.log(rng.random())
    chosen = 0
    for i in range(len(log_weights)):
        if log_weights[i] >= level:
            chosen = i
    return chosen


@needs_llvm
def test_wrong_joint_values_are_seen(monkeypatch):
    monkeypatch.setattr(import_module("gendsl.inference.gibbs"), "_draw", _by_the_largest_alone)
    assert largest_z_of_states(gibbs("z", block=True)) > 6.0


def _to_the_first_point(ellipse, rng):
    """A step that goes wherever the first angle leads, with a density above half of the level."""
    level, angle = rng.random(), 6.283185307179586 * rng.random()
    weight = ellipses.log_weight(ellipse, angle)
    evaluations = 1 + int(level)
    lines.check_level(level, weight)
    if 0.5 * level < math.exp(min(weight, 0.0)):
        ellipses.move(ellipse)
        return angle, evaluations
    return 0.0, evaluations


@needs_llvm
def test_a_wrong_posterior_is_seen(monkeypatch):
    monkeypatch.setattr(import_module("gendsl.inference.elliptical"), "_update", _to_the_first_point)
    assert largest_z(elliptical_slice(select("b", "f")), seed=1) > 6.0


@gen
def process(covariance):
    f = ~mvnormal(np.zeros(len(covariance)), covariance)
    g = ~(1 + 2 * mvnormal(np.zeros(len(covariance)), covariance))
    y = ~normal(f[0] + g[1], 1)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "stays"), [(20, False), (100, True)])
def test_large_matrices_are_left_to_lapack(n, stays, form):
    trace = process.generate((np.eye(n),), {"y": 1.0}, rng=1).trace
    kernel, rng = elliptical_slice(select("f", "g")), np.random.default_rng(1)
    decided = policy.decide(kernel, trace, rng, 10**5, 100, {})
    assert (decided.machine is None) is stays
    assert not stays or "more than 64 rows" in decided.reason
    other = policy.decide(random_walk("f", 0.1), trace, rng, 10**5, 100, {})
    assert "rows" not in (other.reason or "")  # what it moves changes the rest anyway
    small = process.generate((np.eye(n),), {"y": 1.0}, rng=1).trace
    with running_on(form):  # whoever asks for it gets it
        assert policy.decide(kernel, small, rng, 10, 1, {}).machine is not None


@gen
def many(n):
    a = ~normal(0, 1)
    for i in range(n):
        z = ("z", i) @ ~poisson(2)
        ("x", i) @ ~normal(a + z, 1)


@gen
def backwards(n):
    a = ~normal(0, 1)
    bs = [("b", i) @ ~poisson(2) for i in range(n)]
    for i in range(n):
        ("y", i) @ ~normal(a + bs[n - 1 - i], 1)


@gen
def some(n):
    """Each of the choices at "c" is read by one iteration, which is not told from the rest."""
    a = ~normal(0, 1)
    cs = []
    for i in range(n):
        c = ("c", i) @ ~poisson(2)
        if i % 3 != 1:
            cs.append(c)
    for i in range(len(cs)):
        ("y", i) @ ~normal(a + cs[i], 1)


OF_ONE, ALL_OF_ALL = slice_sampling("b"), slice_sampling("c")
MODELS = {OF_ONE: backwards, ALL_OF_ALL: some}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "stays"),
    [
        (slice_sampling("z"), False),  # which looks at what has to do with each
        (OF_ONE, False),
        (ALL_OF_ALL, True),
        (single_site("z"), True),
        (slice_sampling("a"), False),
        (mh("a"), False),
    ],
    ids=lambda one: getattr(one, "name", one),
)
@needs_llvm
def test_many_choices_on_which_little_depends_stay_on_the_other_runtime(kernel, stays):
    model = MODELS.get(kernel, many)
    small, large = (model.simulate((n,), rng=1) for n in (100, 3000))
    rng = np.random.default_rng(1)
    assert policy.decide(kernel, small, rng, 10**5, 100, {}).machine is not None
    decided = policy.decide(kernel, large, rng, 10**5, 100, {})
    assert (decided.machine is None) is stays
    assert not stays or "few choices depend" in decided.reason


@gen
def step_of_a(trace):
    a = ~normal(trace["a"], 0.1)


ALL_LINES_OF_ALL = cycle(mh(step_of_a), ALL_OF_ALL)


@pytest.mark.parametrize(
    ("kernel", "stays"),
    [
        (cycle(mh(step_of_a), single_site("z")), False),  # which looks at all choices once in a step
        (cycle(mh(step_of_a), slice_sampling("z", scan="random")), False),
        (cycle(mh(step_of_a), slice_sampling("z")), False),  # which looks at what has to do with each
        (ALL_LINES_OF_ALL, True),
        (cycle(mh(step_of_a), repeat(single_site("z"), 30)), True),
        (mixture([mh(step_of_a), single_site("z")], [0.5, 0.5]), False),
        (mixture([mh(step_of_a), single_site("z")], [0.02, 0.98]), True),
    ],
    ids=["one site", "one line", "all lines", "all lines of all", "many sites", "half", "mostly sites"],
)
@needs_llvm
def test_what_the_other_moves_of_a_step_cost_counts_too(kernel, stays, monkeypatch):
    monkeypatch.setattr(policy, "wanted", lambda: "")  # whatever runs the other tests
    model = some if kernel is ALL_LINES_OF_ALL else many
    trace = model.simulate((2500,), rng=1)
    decided = policy.decide(kernel, trace, np.random.default_rng(1), 10**5, 100, {})
    assert (decided.machine is None) is stays
    assert not stays or "few choices depend" in decided.reason


@gen
def restaurant(n):
    sizes = []
    for i in range(n):
        z = ("z", i) @ ~categorical([size / (i + 1) for size in sizes] + [1 / (i + 1)])
        if z == len(sizes):
            sizes.append(0)
        sizes[z] += 1
        ("y", i) @ ~normal(3 * z, 1)


@needs_llvm
def test_what_depends_on_a_choice_is_looked_at(monkeypatch):
    """A place at a table changes the probabilities of all later ones, though each has one observation."""
    monkeypatch.setattr(policy, "wanted", lambda: "")
    tables = {("z", i): i % 3 if i > 2 else i for i in range(1500)}
    seen = {("y", i): 3.0 * z for (_, i), z in tables.items()}
    trace = restaurant.generate((1500,), seen, init=tables, rng=1).trace
    decided = policy.decide(single_site("z"), trace, np.random.default_rng(1), 10**5, 100, {})
    assert decided.machine is not None


@gen
def fragile(n):
    for i in range(n):
        z = ("z", i) @ ~poisson(2)
        if z > 2:
            raise RuntimeError("a value that no chain has")
        ("x", i) @ ~normal(z, 1)


def test_what_is_only_looked_at_may_fail():
    zeros = {("z", i): 0 for i in range(1500)}
    trace = fragile.generate((1500,), zeros, rng=1).trace
    assert policy._takes_longer(policy.flattened(single_site("z")), policy._Start(trace))
