"""The sampler of closed programs: the text draws what the reference interpreter draws, number for number."""

import os
import re

import numpy as np
import pytest

from benchmarks.models import families
from gendsl import (
    Distribution,
    bernoulli,
    dirichlet,
    factor,
    gamma,
    gen,
    iid,
    inv_wishart,
    mixture,
    mixture_of_normals,
    multinomial,
    mvnormal,
    normal,
    ordered,
    poisson,
    product,
    uniform_discrete,
    wishart,
)
from gendsl.choices import choicemap
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.llvm import native_draws
from gendsl.compiler.llvm.native import available
from gendsl.compiler.python import print_python
from gendsl.compiler.run.closed_sampler import ClosedSampler
from gendsl.supports import Positive
from tests.conformance.programs import KINDS, built, programs
from tests.laws.modules import imported

LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")
NATIVE = available() is None
WAYS = ["generate_python", "generate_native"] if NATIVE else ["generate_python"]
MODELS = [model for models in families().values() for model in models]


def close(a, b):
    """Whether two values are equal but for roundings, and of one type."""
    if isinstance(a, np.ndarray) != isinstance(b, np.ndarray):
        return False
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and np.allclose(a, b, rtol=1e-12, atol=1e-14)
    return type(a) is type(b) and (a == b or abs(a - b) <= 1e-12 * max(abs(a), abs(b)) + 1e-14)


def same_state(first, second):
    return repr(first.bit_generator.state) == repr(second.bit_generator.state)


def difference(closed, way, expected, constraints, seed, rng):
    """How a text differs from a trace of the reference runtime, which left its generator `rng` so."""
    own = np.random.default_rng(seed)
    found = getattr(closed, way)(expected[0], constraints, own)
    trace, weight = expected[1:]
    choices = dict(trace.choices.items())
    if found.choices.keys() != choices.keys():
        return f"other addresses: {sorted(map(str, found.choices.keys() ^ choices.keys()))[:5]}"
    for path, value in choices.items():
        if not close(found.choices[path], value):
            return f"{path}: {found.choices[path]!r}, reference {value!r}"
    if not same_state(own, rng):
        return "another state of the generator"
    for name, mine, theirs in (
        ("log density", found.log_prob, trace.log_prob),
        ("weight", found.weight, weight),
    ):
        if not (mine == theirs or abs(mine - theirs) <= 1e-9 * max(1.0, abs(theirs))):
            return f"{name}: {mine}, reference {theirs}"
    return None


_samplers = {}


def sampler_of(program, args):
    """The sampler of a program, which the tests of one program share."""
    key = program.compiled.origin.function
    if key not in _samplers:
        _samplers[key] = ClosedSampler(program, args)
    return _samplers[key]


def outcome(model, args, seeds=(0, 1), ways=WAYS):
    """What the sampler of a program makes of it: "equal", or why there is none; never other draws."""
    try:
        closed = sampler_of(model, args)
    except NotClosed as refusal:
        return f"refused: {refusal}"
    found = "equal"
    for way in ways:
        for seed in seeds:
            rng = np.random.default_rng(seed)
            try:
                trace = model.reference.simulate(args, rng=rng)
            except Exception as error:  # as some of the programs are meant to
                found = f"raised: {error}"
                with pytest.raises((FailedText, NotClosed)):
                    getattr(closed, way)(args, {}, np.random.default_rng(seed))
                continue
            try:
                differs = difference(closed, way, (trace.args, trace, 0.0), {}, seed, rng)
            except NotClosed as refusal:
                return f"refused: {refusal}"
            except FailedText as failure:
                found = f"failed: {failure}"
                continue
            assert differs is None, f"{way}, seed {seed}: {differs}\n{closed.text}"
    return found


# --- programs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_simulate_of_families_of_models(model):
    found = outcome(model.program, model.args(min(model.size, 12)), ways=["generate_python"])
    assert found == "equal"


@pytest.mark.skipif(not NATIVE, reason="there is no machine code here")
@pytest.mark.parametrize(
    "model",
    [pytest.param(m, marks=pytest.mark.slow if i % 3 else (), id=m.name) for i, m in enumerate(MODELS)],
)
def test_simulate_of_families_of_models_by_machine_code(model):
    found = outcome(model.program, model.args(min(model.size, 12)), ways=["generate_native"])
    assert found == "equal"


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_generate_of_families_of_models(model):
    size = min(model.size, 12)
    args, given = model.args(size), model.init(size)
    observations = model.observations(size, np.random.default_rng(5))
    prefixes = {path for path, _ in choicemap({**given, **observations}).items()}
    closed = sampler_of(model.program, args)
    for way in WAYS:
        rng = np.random.default_rng(3)
        trace, weight = model.program.reference.generate(args, observations, init=given, rng=rng)
        constraints = {
            path: value
            for path, value in trace.choices.items()
            if any(path[: k + 1] in prefixes for k in range(len(path)))
        }
        differs = difference(closed, way, (args, trace, weight), constraints, 3, rng)
        assert differs is None, f"{way}: {differs}\n{closed.text}"


@pytest.mark.parametrize("kind", KINDS)
def test_random_programs_draw_the_same_or_are_refused(kind):
    for case in programs(kind, 200 if LONG else 1):
        with built(case.source) as model:
            outcome(model, case.args, ways=["generate_python"])


# --- families --------------------------------------------------------------------------------------

SCALARS = """
from gendsl import *

BOUNDS, SHARES = (-1.0, 0.5, 2.0, 7.0), (0.25, 0.0, 0.75)


@gen
def usual(n, s):
    for i in range(n):
        ("normal", i) @ ~normal(1, 2.5 * s)
        ("laplace", i) @ ~laplace(-1.5, s)
        ("cauchy", i) @ ~cauchy(0.5, s)
        ("student_t", i) @ ~student_t(3 * s, 1.0, 2.0)
        ("von_mises", i) @ ~von_mises(4.0 * s, 0.7 * s)
        ("von_mises, even", i) @ ~von_mises(1.0, 0)
        ("uniform", i) @ ~uniform(-1, 3 * s)
        ("beta", i) @ ~beta(0.5 * s, 2.0)
        ("beta_uniform", i) @ ~beta_uniform(0.4, 2.0 * s, 1.5)
        ("piecewise", i) @ ~piecewise_uniform(BOUNDS, SHARES)
        ("truncated", i) @ ~truncated_normal(0.0, 1.0, 0.5 * s, 2.5 * s)
        ("truncated, narrow", i) @ ~truncated_normal(0.0, 1.0, -0.1 * s, 0.3 * s)
        ("truncated, below", i) @ ~truncated_normal(s, 1.0, float("-inf"), s - 2.0)
        ("exponential", i) @ ~exponential(s)
        ("gamma", i) @ ~gamma(0.4 * s, 2.0)
        ("gamma, large", i) @ ~gamma(4 * s, 2.0)
        ("inv_gamma", i) @ ~inv_gamma(2.0, s)
        ("log_normal", i) @ ~log_normal(0.5, s)
        ("half_normal", i) @ ~half_normal(s)
        ("half_cauchy", i) @ ~half_cauchy(s)
        ("half_student_t", i) @ ~half_student_t(2.0, s)
        ("bernoulli", i) @ ~bernoulli(0.3)
        ("bernoulli, logit", i) @ ~bernoulli(logit=s)
        ("binom", i) @ ~binom(6, 0.3)
        ("binom, many", i) @ ~binom(1000, 0.7)
        ("binom, logit", i) @ ~binom(40, logit=-s)
        ("binom, none", i) @ ~binom(0, 0.5)
        ("binom, sure", i) @ ~binom(4, 1.0)
        ("geometric", i) @ ~geometric(0.2)
        ("geometric, sure", i) @ ~geometric(1.0)
        ("neg_binom", i) @ ~neg_binom(2.5 * s, 0.4)
        ("neg_binom, mean", i) @ ~neg_binom(mean=3.0 * s, dispersion=1.5)
        ("poisson", i) @ ~poisson(3 * s)
        ("poisson, many", i) @ ~poisson(300 * s)
        ("poisson, log", i) @ ~poisson(log_rate=s)
        ("poisson, none", i) @ ~poisson(0)
        ("uniform_discrete", i) @ ~uniform_discrete(-3, 4)
        ("uniform_discrete, many", i) @ ~uniform_discrete(-5, 2**40)
        ("categorical", i) @ ~categorical([0.2, 0.5, 0.3])
"""


@pytest.fixture(scope="module")
def scalars():
    with imported(SCALARS) as module:
        yield module.usual, ClosedSampler(module.usual, (3, 1.0))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scale", [1.0, 0.02, 40.0, 1e-12])
def test_every_scalar_family_is_drawn_as_by_the_reference(scalars, way, scale):
    program, closed = scalars
    args = (60, scale)
    rng = np.random.default_rng(11)
    trace = program.reference.simulate(args, rng=rng)
    assert difference(closed, way, (args, trace, 0.0), {}, 11, rng) is None


BOTH = product([normal(0, 1), normal(3, 2)])
CORRELATED = mvnormal([1.0, -1.0], [[2.0, 0.6], [0.6, 1.0]])
TWO = mixture([0.3, 0.7], [normal(-2, 1), normal(2, 0.5)])


@gen
def compounds(n):
    for i in range(n):
        p = ("p", i) @ ~dirichlet([0.5, 1.0, 2.5])
        ("sparse", i) @ ~dirichlet([0.05, 0.02, 0.09])
        ("counts", i) @ ~multinomial(10, p)
        ("many", i) @ ~multinomial(50, [0.1] * 10)
        ("mix", i) @ ~mixture_of_normals([0.2, 0.8], [-1.0, 1.0], [0.5, 2.0])
        ("either", i) @ ~mixture([p[0], 1.0 - p[0]], [normal(0, 1), normal(5, p[1] + 0.1)])
        ("pair", i) @ ~product([normal(0, 1), normal(2, p[0] + 0.1)])
        ("vector", i) @ ~product(normal, [1.0, 2.0, 3.0], 0.5)
        ("counted", i) @ ~product(poisson, p * 10.0)
        ("same", i) @ ~iid(poisson(2.5), 4)
        ("together", i) @ ~mvnormal([p[0], 0.0], [[1.0, 0.3], [0.3, 2.0]])
        ("increasing", i) @ ~ordered(normal(0, p[0] + 0.1), 3)
        ("shifted", i) @ ~(1 + 2 * poisson(3.0))
        ("scaled", i) @ ~(0.5 - p[1] * gamma(2.0, 1.0))
        ("vectors", i) @ ~iid(dirichlet([1.0, 2.0]), 2)
        ("outside", i) @ ~BOTH
        ("correlated", i) @ ~CORRELATED
        ("two", i) @ ~TWO
        ("drawn", i) @ ~uniform_discrete(0, len(p) - 1)


@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=pytest.mark.slow if "native" in way else ()) for way in WAYS]
)
def test_compound_families_are_drawn_as_by_the_reference(way):
    assert outcome(compounds, (20,), ways=[way]) == "equal"


@gen
def covariances(n, scale):
    for i in range(n):
        v = ("v", i) @ ~wishart(4.5, scale)
        ("w", i) @ ~inv_wishart(len(scale) + 2, v)
        ("x", i) @ ~mvnormal(np.zeros(len(scale)), v)
        ("one", i) @ ~inv_wishart(2.5, [[0.5 + v[0, 0]]])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scale", [[[2.0]], [[2.0, 0.5], [0.5, 1.0]], (np.eye(4) + 0.3).tolist()])
def test_covariance_matrices_are_drawn_as_by_the_reference(way, scale):
    assert outcome(covariances, (6, scale), ways=[way]) == "equal"


@gen
def weighed(n, a):
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        ("f", i) @ ~factor(-a * x * x)


def test_a_factor_is_not_drawn_and_counts_towards_the_weight():
    closed = sampler_of(weighed, (3, 0.5))
    given = {("x", 1): 0.25}
    for way in WAYS:
        rng = np.random.default_rng(4)
        trace, weight = weighed.reference.generate((3, 0.5), given, rng=rng)
        assert difference(closed, way, ((3, 0.5), trace, weight), given, 4, rng) is None


class Folded(Distribution):
    """A user's own family, with a rejection loop, a helper and arrays of draws."""

    parameters = ("scale", "least")

    def __init__(self, scale, least=0.0):
        self.scale = scale
        self.least = least

    def once(self, rng):
        return abs(rng.normal(0.0, self.scale)) + rng.exponential(scale=0.1)

    def sample(self, rng):
        x = self.once(rng)
        while x < self.least:
            x = self.once(rng)
        return float(x + 0.0 * np.sum(rng.random(3)) + 0.0 * rng.choice(3, p=[0.2, 0.3, 0.5]))

    def logpdf(self, x):
        return -0.5 * (x / self.scale) ** 2

    @property
    def support(self):
        return Positive()


class Untyped(Folded):
    def sample(self, rng):
        return int(rng.integers(1, 3))


@pytest.mark.parametrize("family", ["geometric(0.5 * p)", "neg_binom(2.0, p)", "uniform_discrete(0, 3 * p)"])
def test_products_whose_columns_are_drawn_in_another_order_are_refused(family):
    name, _, parameters = family[:-1].partition("(")
    source = f"""
from gendsl import *

@gen
def model(p):
    x = ~product({name}, {parameters})
"""
    with imported(source) as module, pytest.raises(NotClosed, match="all at once"):
        ClosedSampler(module.model, (np.array([1.0, 0.5]) if "discrete" not in name else np.array([1, 2]),))


class Shuffled(Folded):
    def sample(self, rng):
        return float(rng.permuted(np.arange(3))[0])


class InAnyOrder(Folded):
    def sample(self, rng):
        places = rng.permutation(int(10 * self.scale))
        return float(places[0] + abs(rng.normal(0.0, self.scale)) / (1 + places[-1]))


@gen
def folded(n, scale):
    for i in range(n):
        x = ("x", i) @ ~Folded(scale, 0.5)
        if x > 1.0:
            ("y", i) @ ~normal(x, 1)


def test_a_users_own_distribution_is_drawn_by_the_text_of_its_sample():
    assert outcome(folded, (30, 0.8)) == "equal"


@gen
def in_any_order(n):
    for i in range(n):
        ("x", i) @ ~InAnyOrder(0.15 + 0.3 * i, 0.5)


def test_a_permutation_is_drawn_as_the_generator_draws_it():
    assert outcome(in_any_order, (40,)) == "equal"


@pytest.mark.parametrize("law, reason", [(Untyped, "draws"), (Shuffled, "permuted")])
def test_a_draw_that_is_not_covered_is_refused_with_its_line(law, reason):
    @gen
    def program():
        x = ~law(1.0)

    with pytest.raises(NotClosed, match=reason) as refusal:
        ClosedSampler(program, ())
    assert refusal.value.line
    assert "def program" in program.source_of("assess")  # its density compiles


# --- NumPy's samplers ------------------------------------------------------------------------------

LAWS = """
from gendsl import Distribution, gen
from gendsl.supports import Integers, Real


class Law(Distribution):
    parameters = ("a", "b")
    checks_support = True

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def logpdf(self, x):
        return 0.0

    @property
    def support(self):
        return {support}

    def sample(self, rng):
        return {convert}(rng.{call})


@gen
def model(n, a, b):
    for i in range(n):
        ("x", i) @ ~Law(a, b)
"""
PARAMETERS = {
    "random()": [(0.0, 0.0)],
    "standard_normal()": [(0.0, 0.0)],
    "standard_exponential()": [(0.0, 0.0)],
    "standard_cauchy()": [(0.0, 0.0)],
    "standard_gamma(a)": [(a, 0.0) for a in (0.0, 1e-3, 0.3, 1.0, 1.5, 40.0, 1e10)],
    "standard_t(a)": [(a, 0.0) for a in (0.1, 1.0, 3.5, 1e6)],
    "normal(a, b)": [(1.0, 0.0), (-2.0, 3.0)],
    "laplace(a, scale=b)": [(1.0, 0.0), (-2.0, 3.0)],
    "gumbel(a, b)": [(1.0, 0.0), (-2.0, 3.0)],
    "logistic(a, b)": [(1.0, 0.0), (-2.0, 3.0)],
    "uniform(a, b)": [(0.0, 1.0), (-2.0, -2.0), (-1e300, 1e300)],
    "exponential(a)": [(0.0, 0.0), (2.0, 0.0)],
    "rayleigh(a)": [(0.0, 0.0), (2.0, 0.0)],
    "gamma(a, b)": [(0.5, 2.0), (3.0, 0.0)],
    "chisquare(a)": [(0.5, 0.0), (7.0, 0.0)],
    "beta(a, b)": [(0.01, 0.01), (0.5, 0.5), (0.7, 3.0), (2.0, 3.0), (1e5, 1e-3)],
    "lognormal(a, b)": [(0.0, 0.0), (1.0, 2.0)],
    "vonmises(a, b)": [(1.0, 0.0), (1.0, 1e-9), (-3.0, 1e-4), (2.0, 3.0), (7.0, 1e3), (0.5, 1e8)],
    "weibull(a)": [(0.0, 0.0), (0.5, 0.0), (3.0, 0.0)],
    "pareto(a)": [(0.5, 0.0), (3.0, 0.0)],
    "power(a)": [(0.5, 0.0), (3.0, 0.0)],
    "wald(a, b)": [(0.5, 2.0)],
    "poisson(a)": [(a, 0.0) for a in (0.0, 0.3, 9.99, 10.0, 77.0, 1e9, 1e18)],
    "binomial(a, b)": [(n, p) for n in (0, 1, 12, 100, 10**9) for p in (0.0, 0.1, 0.5, 0.93, 1.0)],
    "geometric(a)": [(1.0, 0.0), (0.5, 0.0), (0.1, 0.0), (1e-12, 0.0)],
    "integers(a, b)": [(0, 1), (0, 10), (-5, 2**31), (0, 2**32), (-1, 2**32), (-(2**62), 2**62)],
    "integers(a, b, endpoint=True)": [(0, 1), (-7, -7)],
}


@pytest.mark.parametrize("call", PARAMETERS)
def test_every_method_draws_what_numpys_generator_draws(call):
    whole = call.startswith(("poisson", "binomial", "geometric", "integers"))
    support = "Integers(float('-inf'))" if whole else "Real()"
    source = LAWS.format(call=_own(call), support=support, convert="int" if whole else "float")
    method = eval(f"lambda rng, a, b: rng.{call}")
    draws = 10_000 // (1 if LONG else len(PARAMETERS[call]))
    with imported(source) as module:
        kinds = sorted({tuple(map(type, pair)) for pair in PARAMETERS[call]}, key=str)
        closed = {kind: ClosedSampler(module.model, (3, *(k() for k in kind))) for kind in kinds}
        for a, b in PARAMETERS[call]:
            text = closed[type(a), type(b)]
            for way, count in zip(WAYS, (200, draws), strict=False):
                own, other = np.random.default_rng(7), np.random.default_rng(7)
                found = getattr(text, way)((count, a, b), {}, own).choices
                expected = [method(other, a, b) for _ in range(count)]
                assert [found["x", i] for i in range(count)] == expected, (call, a, b, way)
                assert same_state(own, other), (call, a, b, way)


def _own(call):
    """A call with the attributes of a distribution in place of parameters."""
    return re.sub(r"\b([ab])(?=[,)])", r"self.\1", call)


@pytest.mark.skipif(not NATIVE, reason="there is no machine code here")
@pytest.mark.parametrize("make", ["MT19937", "PCG64DXSM", "Philox", "SFC64"])
def test_every_bit_generator_serves(scalars, make):
    program, closed = scalars
    own, other = (np.random.Generator(getattr(np.random, make)(5)) for _ in range(2))
    found = closed.generate_native((5, 1.0), {}, own).choices
    trace = program.reference.simulate((5, 1.0), rng=other)
    assert all(close(found[path], value) for path, value in trace.choices.items())
    assert same_state(own, other)


@gen
def grown(depth):
    x = ~normal(0, 1)
    if depth < 6 and ("more" @ ~bernoulli(0.7)):
        left = ~grown(depth + 1)
        right = ~grown(depth + 1)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(6))
def test_what_is_given_below_calls_is_kept_and_the_rest_is_new(way, seed):
    """The calls of what is given have numbers, and none of them is given to another call."""
    given = {("more",): True, ("left", "x"): 0.5, ("right", "more"): True, ("right", "left", "x"): -1.5}
    rng = np.random.default_rng(seed)
    expected = grown.reference.generate((0,), given, rng=rng)
    found = ((0,), expected.trace, expected.log_weight)
    assert difference(sampler_of(grown, (0,)), way, found, given, seed, rng) is None


# --- where a text stops ----------------------------------------------------------------------------


@gen
def leaf(b):
    if b:
        x = ~normal(0, 1)


@gen
def several(n, kind):
    for i in range(n):
        y = ("y", i) @ ~normal(0, 1)
    if kind == 1:
        ("y", 0) @ ~normal(0, 1)
    if kind == 2:
        for j in range(2):
            ("call", 0) @ ~leaf(j == 0)
    if kind == 3:
        ("call", 0) @ ~normal(0, 1)
        ("call", 0) @ ~leaf(True)
    if kind == 4:
        ("z", 0) @ ~normal(0, 1.0 / (y - y))
    if kind == 5:
        ("z", -n) @ ~normal(0, 1)


@pytest.fixture(scope="module")
def stopping():
    return ClosedSampler(several, (3, 0))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_where_the_reference_raises_a_text_fails_and_the_generator_is_as_it_was(stopping, way, kind):
    with pytest.raises(Exception, match=r"address|call|division|zero"):
        several.reference.simulate((3, kind), rng=0)
    rng = np.random.default_rng(0)
    with pytest.raises(FailedText):
        getattr(stopping, way)((3, kind), {}, rng)
    assert same_state(rng, np.random.default_rng(0))
    assert len(getattr(stopping, way)((3, 0), {}, rng).choices) == 3


@pytest.mark.parametrize("way", WAYS)
def test_a_choice_that_is_given_and_not_made_fails(stopping, way):
    with pytest.raises(FailedText, match="does not make"):
        getattr(stopping, way)((3, 0), {("y", 7): 0.5}, np.random.default_rng(0))


@pytest.mark.skipif(not NATIVE, reason="there is no machine code here")
def test_the_state_grows_and_the_generator_starts_again(stopping):
    rng = np.random.default_rng(2)
    trace = several.reference.simulate((5000, 0), rng=rng)
    context = stopping.context((5000, 0), {("y", 70): 0.5})
    assert max(context.capacities[0]) < 100
    expected = several.reference.generate((5000, 0), {("y", 70): 0.5}, rng=2)
    found = context.generate(np.random.default_rng(2))
    assert found.choices == dict(expected.trace.choices.items())
    assert difference(stopping, "generate_native", ((5000, 0), trace, 0.0), {}, 2, rng) is None
    assert context.generate(np.random.default_rng(2)) == found  # the memory is used again


@pytest.mark.parametrize("way", WAYS)
def test_a_planted_mistake_is_seen(way, monkeypatch):
    @gen
    def program():
        x = ~normal(0, 1)
        y = ~poisson(4.0)

    if way == "generate_native":
        monkeypatch.setitem(native_draws.NATIVE, "standard_normal", "standard_cauchy")
        monkeypatch.setitem(
            native_draws.DECLARATIONS, "standard_normal", native_draws.DECLARATIONS["standard_cauchy"]
        )
    else:
        usual = print_python.drawn
        monkeypatch.setattr(
            print_python, "drawn", lambda name, args: usual(name, args) + " + 0 * int(state.rng.random())"
        )
    with pytest.raises(AssertionError, match=r"reference|state of the generator"):
        outcome(program, (), ways=[way])


@gen
def chain_of(k):
    """It calls itself, so that its calls are numbered."""
    if k > 2:
        "more" @ ~chain_of(k - 2)
    ("x", k) @ ~normal(0, 1)


@gen
def other_chain_of(k):
    if k > 2:
        "less" @ ~other_chain_of(k - 2)
    ("z", k) @ ~normal(0, 1)


@gen
def called_twice():
    "part" @ ~chain_of(1)
    "part" @ ~other_chain_of(2)


def test_two_calls_at_one_address_though_their_choices_are_apart():
    found = outcome(called_twice, ())
    assert found.startswith("raised"), found
