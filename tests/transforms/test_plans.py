"""Moves by plans: they lead to what the transform leads to, and hold no longer than what they stand for."""

import math
from importlib import import_module

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    beta,
    continuous,
    copy,
    dirichlet,
    discrete,
    gamma,
    gen,
    involutive_mcmc,
    normal,
    poisson,
    read,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.errors import (
    CoverageError,
    DimensionError,
    InvolutionError,
    ProtectedObservationError,
    RuntimeMismatchError,
)
from gendsl.runtime.watched import runs_whole
from gendsl.transforms.plans import Plans

pytestmark = pytest.mark.skipif(runs_whole(), reason="the reference runtime has no plans")


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Plans are made early, so that short chains have them."""
    monkeypatch.setattr(import_module("gendsl.transforms.plans"), "SEEN", 4)


def steps(trace, q, f, n, *, plans, seed=1, check=False):
    """Each step's trace, and what is known of it, along a chain; and how many were made by a plan."""
    f.plans.__init__()
    f.plans.off = not plans
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        trace, info = involutive_mcmc(trace, q, (), f, check=check, rng=rng)
        found.append((trace.choices, info))
    return found, f.plans.uses


def assert_same_chain(trace, q, f, n=300, least=100, check=False):
    """With plans and without, a chain is the same, and plans made at least so many of its steps."""
    known, uses = steps(trace, q, f, n, plans=True, check=check)
    plain, none = steps(trace, q, f, n, plans=False, check=check)
    assert uses >= least and none == 0
    for (choices, info), (expected, wanted) in zip(known, plain, strict=True):
        assert choices == expected
        for name in ("log_accept_ratio", "log_model_ratio", "log_aux_ratio", "log_abs_det"):
            assert getattr(info, name) == pytest.approx(getattr(wanted, name), rel=1e-9, abs=1e-9), name
        assert (info.accepted, info.reason) == (wanted.accepted, wanted.reason)


# --- moves ------------------------------------------------------------------------------------------


@gen
def mixture(n):
    k = ~(1 + poisson(1))
    means = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    weights = ~dirichlet([2.0] * k)
    for i in range(n):
        ("x", i) @ ~normal(sum(w * m for w, m in zip(weights, means)), 1)  # noqa: B905


@gen
def split_or_merge(trace):
    k = trace["k"]
    split = ~bernoulli(1.0 if k == 1 else 0.5)
    if split:
        j = ~uniform_discrete(0, k - 1)
        share = ~beta(2, 2)
        u = ~gamma(2, 1)
    else:
        i = ~uniform_discrete(0, k - 2)


@transform
def split_merge(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    w = read(model_in["weights"], continuous)
    split = read(aux_in["split"], discrete)
    write(aux_out["split"], not split, discrete)
    if split:
        j = read(aux_in["j"], discrete)
        share, u = read(aux_in["share"], continuous), read(aux_in["u"], continuous)
        mu = read(model_in["mu", j])
        write(aux_out["i"], j, discrete)
        write(model_out["k"], k + 1)
        write(model_out["weights"], [*w[:j], w[j] * share, *w[j + 1 :], w[j] * (1 - share)])
        write(model_out["mu", j], mu - u * math.sqrt((1 - share) / share))
        write(model_out["mu", k], mu + u / math.sqrt((1 - share) / share))
    else:
        j = read(aux_in["i"], discrete)
        low, high = read(model_in["mu", j]), read(model_in["mu", k - 1])
        total = w[j] + w[k - 1]
        share = w[j] / total
        root = math.sqrt((1 - share) / share)
        u = (high - low) / (root + 1 / root)
        write(aux_out["j"], j)
        write(aux_out["share"], share)
        write(aux_out["u"], u)
        write(model_out["k"], k - 1)
        write(model_out["weights"], [*w[:j], total, *w[j + 1 : k - 1]])
        write(model_out["mu", j], low + u * root)


@gen
def two():
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    flag = ~bernoulli(0.5)


@gen
def pushed(trace):
    u = ~normal(0, 1)


@transform
def push(model_in, aux_in, *, model_out, aux_out):
    """It goes three ways, as comparisons say."""
    a, u = read(model_in["a"]), read(aux_in["u"])
    if max(abs(a), abs(u)) < 1:
        copy(model_in["a"], aux_out["u"])
        copy(aux_in["u"], model_out["a"])
    else:
        write(model_out["a"], -a)
        copy(aux_in["u"], aux_out["u"])
        if min(abs(a), abs(u)) >= 0.5:
            write(model_out["flag"], not read(model_in["flag"]))


@transform
def exchange(model_in, aux_in, *, model_out, aux_out):
    copy(model_in["a"], aux_out["u"])
    copy(aux_in["u"], model_out["a"])


@gen
def shifted(trace):
    v = ~normal(0, 1)


@transform
def curved(model_in, aux_in, *, model_out, aux_out):
    """All of the functions and operators that are recorded."""
    a, b, v = read(model_in["a"]), read(model_in["b"]), read(aux_in["v"])
    c = math.exp(0.1 * b) + np.log1p(b**2) + math.tanh(b) - math.cos(b) / 7 + 2**b + (1 + b**2) ** -0.5
    c = c + math.log(3 + math.sin(b)) + np.sqrt(1 + abs(b)) - math.expm1(-(b**2)) + (2 + b**2) ** (b / 9)
    write(model_out["a"], c - a)
    write(aux_out["v"], -v * 1.0 + 0)


def mixture_trace():
    return mixture.generate((3,), {"x": np.array([1.0, 2.0, 0.5])}, init={"k": 2}, rng=3).trace


def two_trace():
    return two.simulate(rng=5)


@pytest.mark.slow
@pytest.mark.parametrize("check", [False, True, "reject"])
def test_a_chain_is_the_same_with_plans(check):
    assert_same_chain(mixture_trace(), split_or_merge, split_merge, 500, 200, check)


@pytest.mark.parametrize(("q", "f"), [(pushed, exchange), (shifted, curved)])
@pytest.mark.parametrize("check", [False, True])
def test_other_moves_are_the_same_with_plans(q, f, check):
    assert_same_chain(two_trace(), q, f, 200, 100, check)


def test_branches_on_comparisons_are_the_same_with_plans():
    assert_same_chain(two_trace(), pushed, push, 400, 100)
    assert_same_chain(two_trace(), pushed, push, 400, 50, check=True)


def doubled(x):
    return 2 * x + x


@gen
def numbers():
    for i in range(20):
        ("x", i) @ ~normal(1.5, 0.1)


@transform
def bent(model_in, aux_in, *, model_out, aux_out):
    """One function or operator for each number: its slope is a factor of the determinant."""
    x = [read(model_in["x", i]) for i in range(20)]
    y = [
        math.exp(-x[0]), math.log(x[1]), math.sqrt(x[2]), math.sin(x[3]), np.cos(x[4]), math.tanh(x[5]),
        np.log1p(x[6]), math.expm1(x[7]), x[8] ** 3, x[9] ** 0.3, 2.5 ** x[10], x[11] ** x[11],
        abs(x[12] - 3), 1 / x[13], x[14] / (1 + x[14]), -x[15], 3 - x[16] * x[16], +doubled(x[17]),
        x[18] - 2 / x[18], x[19] ** -2 + 1,
    ]  # fmt: skip
    for i in range(20):
        write(model_out["x", i], y[i])
    copy(aux_in["u"], aux_out["u"])


@transform
def bent_too(model_in, aux_in, *, model_out, aux_out):
    """The same of more functions; the last three take two numbers."""
    x = [read(model_in["x", i]) for i in range(20)]
    y = [
        math.asin(x[0] / 3), math.acos(x[1] / 3), math.atan(x[2]), np.arctan(x[3]), math.sinh(x[4]),
        math.cosh(x[5]), np.arcsinh(x[6]), math.acosh(x[7]), math.atanh(x[8] / 3), math.cbrt(x[9]),
        math.exp2(x[10]), np.log2(x[11]), math.log10(x[12]), math.tan(x[13] / 3), math.erf(x[14] / 2),
        math.erfc(x[15] / 2), math.hypot(x[16], 2.0), math.atan2(0.7, x[17]),
        math.hypot(x[18], x[19]), math.atan2(x[18], x[19]) + math.atan2(x[19], 0.4) + math.hypot(3, x[18]),
    ]  # fmt: skip
    for i in range(20):
        write(model_out["x", i], y[i])
    copy(aux_in["u"], aux_out["u"])


@gen
def unused(trace):
    u = ~normal(0, 1)


@pytest.mark.parametrize("f", [bent, bent_too])
def test_each_line_has_the_derivatives_of_the_transform(f):
    traces = [numbers.simulate(rng=seed) for seed in range(30)]

    def determinants():
        return [involutive_mcmc(t, unused, (), f, rng=1)[1].log_abs_det for t in traces]

    known = determinants()
    assert f.plans.uses >= 20
    f.plans.off = True
    assert known == pytest.approx(determinants(), rel=1e-12) and len(set(known)) == 30


# --- what a plan must not outlive -------------------------------------------------------------------

SCALE = 1.0


def stretched(x):
    return x * SCALE


@transform
def scaled(model_in, aux_in, *, model_out, aux_out):
    a, u = read(model_in["a"]), read(aux_in["u"])
    write(model_out["a"], stretched(u))
    write(aux_out["u"], a / SCALE)


def ratios(trace, q, f, n, seed=2, due=10**9):
    """The log acceptance ratios of some steps from one trace, whose plans are not compared before a use."""
    f.plans.due = due
    rng = np.random.default_rng(seed)
    return [involutive_mcmc(trace, q, (), f, rng=rng)[1].log_accept_ratio for _ in range(n)]


def test_a_global_name_that_gets_another_value_ends_a_plan(monkeypatch):
    trace = two_trace()
    before = ratios(trace, pushed, scaled, 20)
    assert scaled.plans.uses > 5
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    changed = ratios(trace, pushed, scaled, 20)
    scaled.plans.off = True
    assert changed == pytest.approx(ratios(trace, pushed, scaled, 20), rel=1e-12) and changed != before


def test_a_function_that_gets_another_body_ends_a_plan(monkeypatch):
    scaled.plans.__init__()
    trace = two_trace()
    ratios(trace, pushed, scaled, 20)
    assert scaled.plans.uses > 5
    monkeypatch.setattr(stretched, "__code__", (lambda x: x * SCALE * 3.0).__code__)
    changed = ratios(trace, pushed, scaled, 20)
    scaled.plans.off = True
    assert changed == pytest.approx(ratios(trace, pushed, scaled, 20), rel=1e-12)


def test_a_variable_of_a_function_around_it_ends_a_plan():
    factor = 1.0

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        a, u = read(model_in["a"]), read(aux_in["u"])
        write(model_out["a"], u * factor)
        write(aux_out["u"], a / factor)

    trace = two_trace()
    ratios(trace, pushed, f, 20)
    assert f.plans.uses > 5
    factor = 2.0
    changed = ratios(trace, pushed, f, 20)
    f.plans.off = True
    assert changed == pytest.approx(ratios(trace, pushed, f, 20), rel=1e-12)


CONFIGURATION = {"scale": 1.0}


@transform
def configured(model_in, aux_in, *, model_out, aux_out):
    scale = CONFIGURATION["scale"]
    a, u = read(model_in["a"]), read(aux_in["u"])
    write(model_out["a"], u * scale)
    write(aux_out["u"], a / scale)


@transform
def forgiving(model_in, aux_in, *, model_out, aux_out):
    a, u = read(model_in["a"]), read(aux_in["u"])
    try:
        math.log(a)
    except ValueError:
        a = a + 0.0
    write(model_out["a"], u)
    write(aux_out["u"], a)


@transform
def asking(model_in, aux_in, *, model_out, aux_out):
    a, u = read(model_in["a"]), read(aux_in["u"])
    if "b" in model_in and model_in.args == ():
        write(model_out["a"], u)
    write(aux_out["u"], a)


@pytest.mark.parametrize("f", [configured, forgiving, asking], ids=lambda f: f.name)
def test_there_are_no_plans_of_what_may_change_unseen(f):
    ratios(two_trace(), pushed, f, 60)
    assert f.plans.off and f.plans.uses == 0


def test_a_bound_parameter_has_its_own_plans():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out, scale=1.0):
        a, u = read(model_in["a"]), read(aux_in["u"])
        write(model_out["a"], u * scale)
        write(aux_out["u"], a / scale)

    trace = two_trace()
    for scale in (1.0, 3.0):
        bound = f.bind(scale=scale)
        by_plan = ratios(trace, pushed, bound, 30)
        assert bound.plans.uses > 5
        bound.plans.off = True
        assert by_plan == pytest.approx(ratios(trace, pushed, bound, 30), rel=1e-12)


# --- checks -----------------------------------------------------------------------------------------


def test_observations_are_held_fixed_by_plans():
    """One that is a latent choice of other traces, along which the plan was made."""
    exchange.plans.__init__()
    ratios(two_trace(), pushed, exchange, 20)
    assert exchange.plans.uses > 5
    with pytest.raises(ProtectedObservationError):
        ratios(two.generate((), {"a": 1.0}, rng=1).trace, pushed, exchange, 1)


def test_an_observation_that_is_only_written_is_held_fixed_by_plans():
    @transform
    def flip(model_in, aux_in, *, model_out, aux_out):
        write(model_out["flag"], not read(model_in["flag"]))
        copy(aux_in["u"], aux_out["u"])

    for flag in (False, True):
        ratios(two.generate((), init={"flag": flag}, rng=1).trace, pushed, flip, 20)
    assert flip.plans.uses > 20
    with pytest.raises(ProtectedObservationError):
        ratios(two.generate((), {"flag": True}, rng=1).trace, pushed, flip, 1)


def test_what_goes_unseen_is_counted():
    """A discrete choice that the transform doesn't read decides whether another is removed."""

    @gen
    def hidden():
        wide = ~bernoulli(0.5)
        more = ~bernoulli(0.5)
        if wide:
            a = ~normal(0, 1)
            if more:
                b = ~normal(0, 1)

    @gen
    def drawn(trace):
        if not trace["wide"]:
            u = ~normal(0, 1)

    @transform
    def shrink(model_in, aux_in, *, model_out, aux_out):
        wide = read(model_in["wide"])
        write(model_out["wide"], not wide)
        if wide:
            copy(model_in["a"], aux_out["u"])
        else:
            copy(aux_in["u"], model_out["a"])

    ratios(hidden.generate((), init={"wide": True, "more": False}, rng=1).trace, drawn, shrink, 20)
    assert shrink.plans.uses > 5
    with pytest.raises(DimensionError):
        ratios(hidden.generate((), init={"wide": True, "more": True}, rng=1).trace, drawn, shrink, 1)


def test_what_another_model_has_besides_is_counted():
    """It has a choice at an address that was new in the first, so the plan of that isn't its own."""

    @gen
    def small():
        wide = ~bernoulli(0.5)
        if wide:
            a = ~normal(0, 1)

    @gen
    def large():
        wide = ~bernoulli(0.5)
        a = ~normal(0, 1)

    @gen
    def born(trace):
        if not trace["wide"]:
            u = ~normal(0, 1)

    @transform
    def birth(model_in, aux_in, *, model_out, aux_out):
        wide = read(model_in["wide"])
        write(model_out["wide"], not wide)
        if not wide:
            copy(aux_in["u"], model_out["a"])
        else:
            copy(model_in["a"], aux_out["u"])

    start = small.generate((), init={"wide": False}, rng=1).trace
    ratios(start, born, birth, 20)
    assert birth.plans.uses > 5
    with pytest.raises(Exception, match="free continuous coordinates"):
        ratios(large.generate((), init={"wide": False}, rng=1).trace, born, birth, 1)


def test_a_check_finds_what_a_plan_was_made_of():
    """The transform isn't an involution: it was stepped without checks before."""

    @transform
    def drift(model_in, aux_in, *, model_out, aux_out):
        a, u = read(model_in["a"]), read(aux_in["u"])
        write(model_out["a"], a + u)
        write(aux_out["u"], u)

    trace = two_trace()
    ratios(trace, pushed, drift, 30)
    assert drift.plans.uses > 5
    for seed in range(20):
        with pytest.raises(InvolutionError):
            involutive_mcmc(trace, pushed, (), drift, check=True, rng=seed)


def test_a_choice_that_is_not_written_is_missed_by_plans_too():
    @transform
    def lazy(model_in, aux_in, *, model_out, aux_out):
        a, u = read(model_in["a"]), read(aux_in["u"])
        write(model_out["a"], u)
        write(aux_out["u"], a)

    @gen
    def more(trace):
        u = ~normal(0, 1)
        if trace["a"] > 1.0:
            extra = ~uniform(0, 1)

    trace = two.generate((), init={"a": 0.0}, rng=1).trace
    far = [more.simulate((trace,), rng=seed)["u"] > 1.0 for seed in range(60)]
    for seed in range(60):
        if not far[seed]:
            involutive_mcmc(trace, more, (), lazy, rng=seed)
    assert lazy.plans.uses > 30
    for seed in range(60):
        if far[seed]:
            with pytest.raises(CoverageError):
                involutive_mcmc(trace, more, (), lazy, rng=seed)
    with pytest.raises(DimensionError):  # and there where the choice is one that goes in
        involutive_mcmc(two.generate((), init={"a": 2.0}, rng=1).trace, more, (), lazy, rng=1)


def test_a_transform_that_is_not_deterministic_is_found():
    rng = np.random.default_rng(1)

    def noise():
        return float(rng.random())

    calls = [0.0]

    @transform
    def noisy(model_in, aux_in, *, model_out, aux_out):
        a, u = read(model_in["a"]), read(aux_in["u"])
        write(model_out["a"], u + calls[0])
        write(aux_out["u"], a - calls[0])

    ratios(two_trace(), pushed, noisy, 30)
    assert noisy.plans.off  # a list may change: there are no plans
    exchange.plans.__init__()
    ratios(two_trace(), pushed, exchange, 20)
    (line,) = next(iter(exchange.plans.roots.values())).lines
    function = line.function

    def wrong(*args):
        values, aux_values, log_det = function(*args)
        return {path: value + noise() for path, value in values.items()}, aux_values, log_det

    next(iter(exchange.plans.roots.values())).lines[:] = [line._replace(function=wrong)]
    with pytest.raises(RuntimeMismatchError):
        ratios(two_trace(), pushed, exchange, 40, due=1)
    exchange.plans.__init__()


def test_few_failures_switch_plans_off_and_many_values_fill_no_memory():
    plans = Plans()
    for _ in range(3):
        plans.learn(None, None, None, None)
    assert plans.off

    @gen
    def many():
        z = ~uniform_discrete(0, 10**9)
        a = ~normal(0, 1)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        read(model_in["z"])
        copy(model_in["a"], aux_out["u"])
        copy(aux_in["u"], model_out["a"])

    rng = np.random.default_rng(1)
    for _ in range(1500):
        involutive_mcmc(many.simulate(rng=rng), pushed, (), f, rng=rng)
    (root,) = f.plans.roots.values()
    assert len(root.misses) <= 1024 and len(root.children) <= 1
