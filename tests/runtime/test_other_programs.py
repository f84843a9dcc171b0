"""Hand-written subclasses of the public `GenerativeFunction`, traced by `@gen` functions on both runtimes."""

import math
import pickle
from functools import partial

import numpy as np
import pytest

from gendsl import (
    GenerativeFunction,
    Trace,
    bernoulli,
    choicemap,
    continuous,
    discrete,
    gamma,
    gen,
    normal,
    poisson,
    read,
    sample,
    select,
    transform,
    write,
)
from gendsl.errors import (
    ArgumentError,
    DuplicateAddressError,
    LostDerivativeError,
    MissingChoiceError,
    ProgramError,
    UnknownAddressError,
)
from gendsl.inference import (
    enumerate_posterior,
    gibbs,
    importance_sampling,
    involutive,
    mh,
    nuts,
    random_walk,
    slice_sampling,
)
from gendsl.interface import Assessed, Generated, Proposed, Regenerated, Updated, as_rng
from gendsl.supports import Boolean, Integers, Positive, Real, RealArray, Repeated
from gendsl.supports.told import support_told
from gendsl.testing import assert_laws

# --- two programs by hand --------------------------------------------------------------------------


class HandTrace(Trace):
    """A flat dict of choices, with the log density of each."""

    def __init__(self, gen_fn, args, flat, scores, retval):
        self.gen_fn, self.args, self.retval = gen_fn, args, retval
        self.flat, self.scores, self.log_prob = flat, scores, math.fsum(scores.values())

    @property
    def choices(self):
        return choicemap(self.flat)

    @property
    def observed(self):
        return choicemap()

    @property
    def impossible(self):
        return choicemap({path: self.flat[path] for path, score in self.scores.items() if score == -math.inf})

    def __getitem__(self, address):
        return self.choices[address]

    def __contains__(self, address):
        return address in self.choices

    def update(self, choices=None, *, args=None, rng=None):
        given = choicemap(self.flat).merge(choices)
        new, weight = self.gen_fn.generate(self.args if args is None else args, given, rng=rng)
        old = {p: v for p, v in self.flat.items() if p not in new.flat or new.flat[p] != v}
        return Updated(new, weight - self.log_prob, choicemap(old))

    def regenerate(self, selection, *, args=None, rng=None):
        kept = self.choices.without(selection)
        new, weight = self.gen_fn.generate(self.args if args is None else args, kept, rng=rng)
        return Regenerated(new, weight - sum(self.scores[p] for p in kept.paths()))

    def project(self, selection):
        return sum(score for path, score in self.scores.items() if path in selection)

    def gradients(self, selection):
        raise NotImplementedError


class Hand(GenerativeFunction):
    """A program whose `body(choose, *args)` makes its choices by `choose(path, draw, logpdf)`."""

    source = "by hand"
    name = "hand"

    def explain(self):
        return "by hand"

    def __call__(self, *args):
        return self.simulate(args).retval

    def simulate(self, args=(), *, rng=None):
        return self.generate(args, rng=rng).trace

    def generate(self, args=(), observations=None, *, init=None, rng=None):
        rng, given = as_rng(rng), choicemap(observations).merge(init)
        flat, scores = {}, {}

        def choose(path, draw, logpdf):
            flat[path] = given[path] if path in given else draw(rng)
            scores[path] = logpdf(flat[path])
            return flat[path]

        retval = self.body(choose, *args)
        weight = math.fsum(score for path, score in scores.items() if path in given)
        return Generated(HandTrace(self, args, flat, scores, retval), weight)

    def assess(self, args, choices):
        trace = self.generate(args, choices).trace
        return Assessed(trace.log_prob, trace.retval)

    def propose(self, args=(), *, rng=None):
        trace = self.simulate(args, rng=rng)
        return Proposed(trace.choices, trace.log_prob, trace.retval)


def normal_logpdf(x, mean, sd):
    return -0.5 * ((x - mean) / sd) ** 2 - math.log(sd) - 0.5 * math.log(2 * math.pi)


class Walk(Hand):
    """z_i ~ N(z_(i-1), sd); it returns where the walk ends."""

    name = "walk"

    def body(self, choose, n, sd):
        z = 0.0
        for i in range(n):
            z = choose(("z", i), partial(self.draw, z, sd), partial(self.logpdf, z, sd))
        return z

    @staticmethod
    def draw(mean, sd, rng):
        return mean + sd * rng.standard_normal()

    @staticmethod
    def logpdf(mean, sd, x):
        return normal_logpdf(x, mean, sd)


class Run(Hand):
    """Heads until the first tail; then a number for each head."""

    name = "run"

    def body(self, choose, p):
        def logpdf(x):
            return math.log(p if x else 1 - p) if x in (True, False) else -math.inf

        heads = 0
        while choose(("flip", heads), lambda rng: bool(rng.random() < p), logpdf):
            heads += 1
        of_one = partial(normal_logpdf, mean=0.0, sd=1.0)
        return [choose(("x", i), lambda rng: rng.normal(), of_one) for i in range(heads)]


walk, run_of_heads = Walk(), Run()


@gen
def walk_twin(n, sd):
    z = 0.0
    for i in range(n):
        z = ("z", i) @ ~normal(z, sd)
    return z


@gen
def heads_twin(p):
    heads = 0
    while ("flip", heads) @ ~bernoulli(p):
        heads += 1
    return [("x", i) @ ~normal(0, 1) for i in range(heads)]


def programs(walk, heads):
    """The same programs over either."""

    @gen
    def in_a_namespace(n):
        s = ~gamma(2, 1)
        end = "walk" @ ~walk(n, s)
        y = ~normal(end, 1)
        return end + y

    @gen
    def assigned():
        end = ~walk(2, 0.5)
        return end

    @gen
    def in_a_loop(n):
        ends = []
        for i in range(n):
            sd = ("sd", i) @ ~gamma(2, 1)
            ends.append(("walk", i) @ ~walk(i + 1, sd))
        ("y", 0) @ ~normal(sum(ends), 1)
        return ends

    @gen
    def in_a_comprehension(n):
        return [("walk", i) @ ~walk(1, 1.0 + i) for i in range(n)]

    @gen
    def spliced():
        x = ~normal(0, 1)
        end = ... @ ~walk(3, 1.5)
        y = ~normal(end * x, 1)

    @gen
    def with_structure(p):
        a = ~normal(0, 1)
        xs = ("run", "of heads") @ ~heads(p)
        k = ~poisson(1.0 + len(xs))
        total = ~normal(sum(xs) + a, 1)
        return k, total

    @gen
    def inner(n):
        return "deep" @ ~walk(n, 1.0)

    @gen
    def below_another():
        n = ~poisson(1.0)
        end = "inner" @ ~inner(n)
        z = ~normal(end, 1)

    return {
        "namespace": (in_a_namespace, (3,), [(2,), (4,)]),
        "assigned": (assigned, (), []),
        "loop": (in_a_loop, (2,), [(3,), (1,)]),
        "comprehension": (in_a_comprehension, (2,), [(3,)]),
        "spliced": (spliced, (), []),
        "structure": (with_structure, (0.4,), [(0.6,)]),
        "below another": (below_another, (), []),
    }


BY_HAND, TWINS = programs(walk, run_of_heads), programs(walk_twin, heads_twin)
BOTH = pytest.mark.parametrize("runtime", ["default", "reference"])


def of(name, runtime="default", table=BY_HAND):
    model, args, others = table[name]
    return (model if runtime == "default" else model.reference), args, others


# --- the operations ----------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("name", BY_HAND)
def test_the_laws_hold(name, runtime):
    """Of generate, assess, update, regenerate and project, with weights by a second definition."""
    model, args, others = of(name, runtime)
    twin, _, _ = of(name, "reference", TWINS)

    def oracle(args, choices):
        trace = twin.generate(args, choices).trace
        return {path: record[2] for path, record in trace.records.items()}, trace.retval

    assert_laws(
        model, args, other_args=others, oracle=oracle, cases=4, differentiable=False, pickled=False, rng=1
    )


@BOTH
@pytest.mark.parametrize("name", BY_HAND)
def test_choices_weights_and_values_are_those_of_a_twin(name, runtime):
    model, args, others = of(name, runtime)
    twin, _, _ = of(name, runtime, TWINS)
    trace = model.simulate(args, rng=3)
    assert trace.log_prob == pytest.approx(twin.assess(args, trace.choices).log_prob)
    for seed in range(12):
        other, _ = twin.generate(args, trace.choices)
        assert list(other.choices.paths()) == list(trace.choices.paths())
        assert other.retval == trace.retval and other.log_prob == pytest.approx(trace.log_prob)
        for selection in (select(path) for path in trace.choices.paths()):
            assert trace.project(selection) == pytest.approx(other.project(selection))
        path = trace.choices.paths()[seed % len(trace.choices)]
        value = trace[path]
        changed = (not value) if type(value) is bool else value + 1 if type(value) is int else value + 0.3
        found = trace.update({path: changed}, rng=seed)
        fresh = [p for p in found.trace.choices.paths() if p not in trace.choices]
        expected = other.update({p: found.trace[p] for p in (path, *fresh)}, rng=seed)
        assert found.trace.choices == expected.trace.choices
        drawn = found.trace.project(select(*fresh)) if fresh else 0.0
        assert found.log_weight == pytest.approx(expected.log_weight - drawn)
        assert found.discard == expected.discard
        trace = found.trace.regenerate(select(path), rng=seed).trace


def test_both_runtimes_make_the_same_draws():
    for name in BY_HAND:
        one, two = (of(name, runtime)[0].simulate(of(name)[1], rng=7) for runtime in ("default", "reference"))
        assert one.choices == two.choices and one.log_prob == pytest.approx(two.log_prob)
        for seed in range(5):
            path = one.choices.paths()[seed % len(one.choices)]
            one, two = (trace.regenerate(select(path), rng=seed).trace for trace in (one, two))
            assert one.choices == two.choices and one.log_prob == pytest.approx(two.log_prob)


@BOTH
def test_draws_have_the_variances_of_the_walk(runtime):
    model, args, _ = of("comprehension", runtime)
    rng = np.random.default_rng(1)
    draws = np.array([model.simulate(args, rng=rng).retval for _ in range(600)])
    for i, sd in enumerate((1.0, 2.0)):
        z = ((draws[:, i] / sd) ** 2 - 1).mean() / math.sqrt(2 / 600)
        assert abs(z) < 4
    assert abs(np.corrcoef(draws.T)[0, 1]) < 4 / math.sqrt(600)


def test_calls_of_the_program_itself():
    @gen
    def outside():
        return "walk" @ ~walk(2, 1.0)

    assert type(outside()) is float and type(walk(2, 1.0)) is float
    trace = outside.simulate(rng=1)
    assert trace["walk"] == trace.retval == trace["walk", "z", 1]
    assert pickle.loads(pickle.dumps(trace.choices)) == trace.choices
    assert "call of walk" in outside.explain()


# --- kernels -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("runtime", ["default", "reference"])
@pytest.mark.parametrize("kernel", [mh("walk"), slice_sampling("walk"), random_walk("walk", 0.8)], ids=repr)
def test_a_posterior_through_the_call(kernel, runtime):
    """z_0 ~ N(0, 1), z_1 ~ N(z_0, 1), y = 1.5 ~ N(z_1, 1): z_1 is N(1, 2/3) given y."""

    @gen
    def model():
        end = "walk" @ ~walk(2, 1.0)
        y = ~normal(end, 1)

    program = model if runtime == "default" else model.reference
    start, _ = program.generate((), {"y": 1.5}, init={("walk", "z", 1): 0.5}, rng=1)
    draws = 96 if "slice" in repr(kernel) else 240
    run = sample(kernel, start, draws, record={"end": lambda trace: trace["walk"]}, seed=2)
    for found, exact in ((run["end"], 1.0), (run["end"] ** 2, 1 + 2 / 3)):
        error = found.reshape(16, -1).mean(1).std(ddof=1) / 4
        assert abs(found.mean() - exact) < 4 * error < 2.0


def test_discrete_choices_of_a_call():
    @gen
    def model():
        xs = "run" @ ~run_of_heads(0.4)
        y = ~normal(len(xs), 1)

    start, _ = model.generate((), {"y": 1.0}, init={("run", "flip", 0): True}, rng=5)
    run = sample(mh("run"), start, 600, record={"heads": lambda trace: len(trace["run"])}, seed=1)
    weights = np.array([0.6 * 0.4**k * math.exp(-0.5 * (k - 1.0) ** 2) for k in range(30)])
    expected = (weights * np.arange(30)).sum() / weights.sum()
    means = run["heads"].reshape(20, 30).mean(1)
    assert abs(means.mean() - expected) < 4 * means.std(ddof=1) / math.sqrt(20) < 0.7

    @gen
    def coin():
        flips = "run" @ ~flip_twice()
        y = ~normal(1.0 * sum(flips), 1)

    class Twice(Hand):
        name = "flip_twice"

        def body(self, choose):
            def logpdf(x):
                return math.log(0.3 if x else 0.7)

            return [choose((i,), lambda rng: bool(rng.random() < 0.3), logpdf) for i in range(2)]

    flip_twice = Twice()
    exact = enumerate_posterior(coin, (), {"y": 2.0}).marginal(("run", 0))
    weights = {k: math.comb(2, k) * 0.3**k * 0.7 ** (2 - k) * math.exp(-0.5 * (2 - k) ** 2) for k in range(3)}
    expected = (weights[2] + weights[1] / 2) / sum(weights.values())
    assert exact[True] == pytest.approx(expected)
    start, _ = coin.generate((), {"y": 2.0}, rng=1)
    run = sample(gibbs("run"), start, 400, record={"first": lambda trace: trace["run", 0]}, seed=1)
    assert abs(run["first"].mean() - expected) < 4 * math.sqrt(expected * (1 - expected) / 400)


def test_transforms_and_weighted_traces():
    @gen
    def model():
        flat = ~bernoulli(0.5)
        end = "walk" @ ~walk(2, 1.0)
        y = ~normal(end, 1)

    @transform
    def mirror(model_in, *, model_out):
        write(model_out["walk", "z", 0], -read(model_in["walk", "z", 0], continuous), continuous)
        write(model_out["walk", "z", 1], -read(model_in["walk", "z", 1], continuous), continuous)
        write(model_out["flat"], not read(model_in["flat"], discrete), discrete)

    start, _ = model.generate((), {"y": 0.0}, rng=1)
    move, trace, rng = involutive(None, mirror, check=True), start, np.random.default_rng(1)
    for i in range(40):
        trace, info = move(trace, rng)
        assert info.accepted and info.log_accept_ratio == pytest.approx(0.0, abs=1e-9)
        assert trace["walk", "z", 1] == (-1) ** (i + 1) * start["walk", "z", 1]
    found = importance_sampling(model, (), {"y": 0.5}, 600, rng=1)
    exact = normal_logpdf(0.5, 0.0, math.sqrt(3.0))
    assert found.log_evidence == pytest.approx(exact, abs=0.12)


# --- gradients ---------------------------------------------------------------------------------------


@BOTH
def test_derivatives_through_the_call_are_lost_with_an_error(runtime):
    model, args, _ = of("namespace", runtime)
    trace = model.simulate(args, rng=1)
    for selection in (select("s"), select("walk")):
        with pytest.raises(LostDerivativeError, match=r"walk\(\.\.\.\) drops the derivative"):
            trace.gradients(selection)
        with pytest.raises(LostDerivativeError, match="class of your own"):
            nuts(selection, 0.1)(trace, 1)
    slope = trace.gradients(select("y"))["y"]
    assert slope == pytest.approx(trace["walk"] - trace["y"])
    assert nuts("y", 0.3)(trace, 1)[0]["walk"] == trace["walk"]


# --- the contract ------------------------------------------------------------------------------------


class Bad(Walk):
    def __init__(self, change):
        self.change = change

    def generate(self, args=(), observations=None, *, init=None, rng=None):
        return self.change(super().generate(args, observations, init=init, rng=rng), choicemap(observations))


def _without_the_given(result, given):
    trace = result.trace
    if len(given):
        trace.flat[("z", 0)] = 17.0
    return result


def _backwards(result, given):
    trace = result.trace
    trace.flat = dict(reversed(trace.flat.items()))
    if len(given):
        trace.flat = {**{p: trace.flat[p] for p in trace.flat if p not in given}, **given.to_flat_dict()}
    return result


BROKEN = {
    "no trace": (lambda result, given: 3, r"`generate` of walk gave 3", "return Generated"),
    "no pair": (lambda result, given: result.trace, "`generate` of walk gave <", "return Generated"),
    "a given value": (_without_the_given, "without a value that was given", "must agree with all choices"),
    "weight": (
        lambda result, given: Generated(result.trace, 2 * result.log_weight), "the log weight of `generate`",
        "draw what is not given from the prior",
    ),
    "order": (_backwards, "not in the order in which they are made", "program order"),
}  # fmt: skip


@BOTH
@pytest.mark.parametrize("name", BROKEN)
def test_what_breaks_the_contract_is_found(name, runtime):
    change, problem, fix = BROKEN[name]
    bad = Bad(change)

    @gen
    def model():
        "walk" @ ~bad(2, 1.0)

    program = model if runtime == "default" else model.reference
    with pytest.raises(ProgramError, match=problem) as caught:
        program.simulate(rng=1)
    assert fix in caught.value.fix and caught.value.location.filename == __file__


@BOTH
def test_other_mistakes(runtime):
    @gen
    def by_keyword():
        "walk" @ ~walk(2, sd=1.0)

    @gen
    def twice():
        "walk" @ ~walk(1, 1.0)
        "walk" @ ~walk(1, 1.0)

    @gen
    def spliced_twice():
        ... @ ~walk(1, 1.0)
        ... @ ~walk(1, 1.0)

    @gen
    def once():
        "walk" @ ~walk(2, 1.0)

    def program(model):
        return model if runtime == "default" else model.reference

    with pytest.raises(ArgumentError, match="was called with sd as keywords"):
        program(by_keyword).simulate(rng=1)
    for model in (twice, spliced_twice):
        with pytest.raises(DuplicateAddressError):
            program(model).simulate(rng=1)
    with pytest.raises(MissingChoiceError) as caught:
        program(once).assess((), {("walk", "z", 0): 0.1})
    assert caught.value.address == ("walk", "z", 1)
    with pytest.raises(UnknownAddressError):
        program(once).generate((), {("walk", "z", 2): 0.1})


def test_impossible_values_have_density_zero():
    @gen
    def model():
        "run" @ ~run_of_heads(0.4)

    given = {("run", "flip", 0): True, ("run", "flip", 1): 7, ("run", "flip", 2): False}
    trace, weight = model.generate((), given, rng=1)
    assert weight == trace.log_prob == -math.inf


def test_supports():
    for value, expected in (
        (True, Boolean()), (3, Integers()), (0.5, Real()), (np.float64(0.5), Real()),
        (np.zeros((2, 3)), RealArray((2, 3))), (np.zeros(2, int), Repeated(Integers(), 2)),
        (np.zeros(2, bool), Repeated(Boolean(), 2)),
    ):  # fmt: skip
        assert support_told(value) == expected
    assert support_told("a").discrete and support_told("a").contains("b")

    class Sized(Walk):
        def support_of(self, path, value):
            return Positive()

    sized = Sized()

    @gen
    def model():
        "walk" @ ~sized(1, 1.0)
        "other" @ ~walk(1, 1.0)

    trace = model.simulate(rng=1)
    assert trace.records["walk", "z", 0][0].support == Positive()
    assert trace.records["other", "z", 0][0].support == Real()
