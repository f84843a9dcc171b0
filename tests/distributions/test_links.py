"""Families by other parameters, given by keyword, and the improper prior: what they are in programs."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

from gendsl import bernoulli, binom, flat, gen, neg_binom, normal, poisson, product, select
from gendsl.distributions.links import bernoulli_logit
from gendsl.errors import ImproperError, ParameterError, ValueTypeError
from gendsl.inference import mh, nuts, random_walk, slice_sampling

LAWS = [
    bernoulli(logit=0.3), binom(5, logit=-0.4), poisson(log_rate=1.2), neg_binom(mean=2.0, dispersion=0.7),
]  # fmt: skip
BY_THEIR_OWN = [
    bernoulli(1 / (1 + math.exp(-0.3))), binom(5, 1 / (1 + math.exp(0.4))), poisson(math.exp(1.2)),
    neg_binom(0.7, 0.7 / 2.7),
]  # fmt: skip


@pytest.mark.parametrize("law, own", list(zip(LAWS, BY_THEIR_OWN, strict=True)), ids=repr)
def test_it_is_the_same_law_and_another_value(law, own):
    assert isinstance(law, type(own)) and law != own and law.support == own.support
    for name in own.parameters:
        assert getattr(law, name) == pytest.approx(getattr(own, name), rel=1e-15)
    for again in (pickle.loads(pickle.dumps(law)), copy.deepcopy(law), eval(repr(law))):
        assert again == law and type(again) is type(law) and repr(again) == repr(law)
    for x in range(2):
        value = bool(x) if isinstance(law, bernoulli) else x
        assert law.logpdf(value) == pytest.approx(own.logpdf(value), rel=1e-13)
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    assert [law.sample(rng) for _ in range(50)] == [own.sample(other) for _ in range(50)]


CALLS = [
    (lambda: bernoulli(0.3, logit=1.0), "bernoulli is given logit and p",
     "write either bernoulli(p) or bernoulli(logit=...)"),
    (lambda: bernoulli(), "bernoulli is given no parameter", "bernoulli(p) or bernoulli(logit=...)"),
    (lambda: binom(3), "binom is given n", "write either binom(n, p) or binom(n, logit=...)"),
    (lambda: binom(logit=0.3), "binom is given logit", "binom(n, logit=...)"),
    (lambda: binom(3, 0.5, logit=0.3), "binom is given logit and n and p", "binom(n, logit=...)"),
    (lambda: poisson(2.0, log_rate=0.3), "poisson is given log_rate and rate", "poisson(log_rate=...)"),
    (lambda: poisson(), "poisson is given no parameter", "write either poisson(rate) or "),
    (lambda: neg_binom(mean=2.0), "neg_binom is given mean",
     "write either neg_binom(r, p) or neg_binom(mean=..., dispersion=...)"),
    (lambda: neg_binom(2.0), "neg_binom is given r", "neg_binom(mean=..., dispersion=...)"),
    (lambda: neg_binom(2.0, 0.5, mean=2.0), "neg_binom is given mean and p and r", "neg_binom(r, p)"),
    (lambda: product(normal(0, 1), sd=1.0), "product: sd given by name, and no family", "product(bern"),
    (lambda: product(normal, mean=[0.0, 1.0]), "product: normal is given no sd", ""),
    (lambda: product(normal, [0.0, 1.0], 1.0, var=1.0), "product: normal has no parameter var", ""),
    (lambda: product(binom, 3, 0.5, logit=[0.0]), "binom is given logit and n and p", "binom(n, logit=...)"),
]  # fmt: skip


@pytest.mark.parametrize("call, problem, fix", CALLS, ids=lambda p: p if isinstance(p, str) else None)
def test_one_parameterisation_is_given(call, problem, fix):
    with pytest.raises(ParameterError) as caught:
        call()
    assert caught.value.problem == problem
    assert fix in (caught.value.fix or "")
    assert caught.value.location is not None


def test_a_keyword_that_no_family_has_is_an_error_of_python():
    with pytest.raises(TypeError, match="unexpected keyword argument 'logits'"):
        bernoulli(logits=0.3)


def test_an_error_names_the_family_that_was_called():
    with pytest.raises(ValueTypeError, match=r"^bernoulli: a value must be a number"):
        bernoulli(logit=0.3).logpdf("yes")


def test_a_rate_beyond_all_floats_cannot_be_drawn():
    with pytest.raises(ParameterError, match=r"poisson\(log_rate=800.0\) can't be sampled"):
        poisson(log_rate=800.0).sample(np.random.default_rng(1))


def test_a_subclass_of_a_users_has_its_own_constructor():
    class rare(bernoulli):
        parameters = ()

        def __init__(self, logit):
            super().__init__(math.exp(logit))

    assert type(rare(logit=-3.0)) is rare and rare(logit=-3.0).p == math.exp(-3.0)
    assert type(rare(-3.0)) is rare


def test_a_product_of_a_family_by_its_parameters_names():
    etas = np.array([-800.0, -0.3, 0.0, 800.0])
    x = np.array([False, True, False, True])
    law = product(bernoulli, logit=etas)
    each = [bernoulli(logit=e).logpdf(y) for e, y in zip(etas, x.tolist(), strict=True)]
    assert law.logpdf(x) == pytest.approx(sum(each))
    assert repr(law) == "product(bernoulli, logit=[-800.0, -0.3, 0.0, 800.0])"
    assert pickle.loads(pickle.dumps(law)) == law == product(bernoulli_logit, etas)
    assert law.sample(np.random.default_rng(1)).dtype == bool
    assert product(binom, 3, logit=etas[1:3]) == product(binom, n=3, logit=etas[1:3])
    assert product(normal, sd=1.0, mean=[0.0, 1.0]) == product(normal, [0.0, 1.0], 1.0)
    xs = [0, 2]
    counts = product(neg_binom, mean=[1.0, 2.0], dispersion=3.0)
    each = [neg_binom(mean=m, dispersion=3.0).logpdf(y) for m, y in zip([1.0, 2.0], xs, strict=True)]
    assert counts.logpdf(xs) == pytest.approx(sum(each))


@gen
def in_loops(x, trials):
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    d = ~normal(0, 0.3)
    for i in range(len(x)):
        ("y", i) @ ~bernoulli(logit=a + b * x[i])
    for i in range(len(x)):
        ("s", i) @ ~binom(7, logit=a + b * x[i])
    for i in range(len(x)):
        ("n", i) @ ~poisson(log_rate=a - b * x[i])
    for i in range(len(x)):
        ("m", i) @ ~neg_binom(mean=np.exp(a), dispersion=np.exp(d))
    for i in range(len(x)):
        ("t", i) @ ~binom(n=trials[i], logit=b)


@gen
def one_by_one(x, trials):
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    d = ~normal(0, 0.3)
    for i in range(len(x)):
        ("y", i) @ ~bernoulli(1 / (1 + np.exp(-(a + b * x[i]))))
    for i in range(len(x)):
        ("s", i) @ ~binom(7, 1 / (1 + np.exp(-(a + b * x[i]))))
    for i in range(len(x)):
        ("n", i) @ ~poisson(np.exp(a - b * x[i]))
    for i in range(len(x)):
        ("m", i) @ ~neg_binom(np.exp(d), np.exp(d) / (np.exp(d) + np.exp(a)))
    for i in range(len(x)):
        ("t", i) @ ~binom(trials[i], 1 / (1 + np.exp(-b)))


@pytest.mark.parametrize("runtime", ["compiled", "reference"])
def test_in_programs_it_is_the_law_that_it_says(runtime):
    """Densities, updates and gradients are those of a program with probabilities and rates."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=40)
    args = x, rng.integers(0, 9, 40).tolist()
    program = in_loops.reference if runtime == "reference" else in_loops
    trace = program.simulate(args, rng=1)
    other = one_by_one.reference.generate(args, trace.choices).trace
    assert trace.log_prob == pytest.approx(other.log_prob, rel=1e-12)
    for seed in range(3):
        new = {"a": float(np.random.default_rng(seed).normal()), "b": 0.3 * seed}
        trace, weight, _ = trace.update(new)
        other, weight2, _ = other.update(new)
        assert weight == pytest.approx(weight2, rel=1e-9)
    slopes, slopes2 = (t.gradients(select("a", "b", "d")) for t in (trace, other))
    for name in "abd":
        assert slopes[name] == pytest.approx(slopes2[name], rel=1e-9)


def test_links_in_a_loop_are_columns():
    assert str(in_loops.explain()).count("by itself, kept as columns\n") == 5


# --- flat ------------------------------------------------------------------------------------------------


@gen
def location(n):
    mean = ~flat()
    sd = ~flat(0)
    for i in range(n):
        ("y", i) @ ~normal(mean, sd)


DATA = {"y": [1.2, 0.3, 2.2, 1.9]}


@pytest.mark.parametrize("runtime", ["compiled", "reference"])
def test_an_improper_prior_counts_for_nothing_and_is_not_drawn(runtime):
    program = location.reference if runtime == "reference" else location
    trace, weight = program.generate((4,), DATA, init={"mean": 1.0, "sd": 0.5}, rng=1)
    expected = sum(normal(1.0, 0.5).logpdf(y) for y in DATA["y"])
    assert weight == pytest.approx(expected) == trace.log_prob
    assert trace.project(select("mean", "sd")) == 0.0
    assert trace.update({"mean": 2.0}).log_weight == pytest.approx(
        sum(normal(2.0, 0.5).logpdf(y) - normal(1.0, 0.5).logpdf(y) for y in DATA["y"])
    )
    assert trace.gradients(select("mean"))["mean"] == pytest.approx(sum(y - 1.0 for y in DATA["y"]) / 0.25)
    for attempt in (
        lambda: program.generate((4,), DATA, init={"sd": 1.0}),
        lambda: trace.regenerate(select("mean")),
        lambda: mh(select("mean"))(trace, np.random.default_rng(1)),
        lambda: program.simulate((4,)),
    ):
        with pytest.raises(ImproperError) as caught:
            attempt()
        error = caught.value
        assert error.problem == "flat(low=-inf, high=inf) is improper: it can't be drawn from"
        assert error.address == ("mean",)
        assert error.fix.startswith("give a starting value, generate(args, observations, init={'mean': 1.0})")
        assert error.location.filename == __file__


@pytest.mark.parametrize(
    "kernel", [nuts(select("mean", "sd"), 0.3), random_walk(select("mean", "sd"), 0.3),
               slice_sampling(select("mean", "sd"))], ids=lambda kernel: kernel.name
)  # fmt: skip
def test_kernels_that_draw_nothing_from_the_prior_move_it(kernel):
    trace, _ = location.generate((4,), DATA, init={"mean": 1.0, "sd": 0.5}, rng=1)
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(20):
        trace, _ = kernel(trace, rng)
        seen.add((trace["mean"], trace["sd"]))
    assert len(seen) > 5
