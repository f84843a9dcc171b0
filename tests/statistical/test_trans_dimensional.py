"""Birth/death and split/merge leave posteriors over models of different dimension invariant.

The joint-distribution test of `gendsl.testing` on the helpers: with data and without, with weights, vectors,
allocations and components that are calls; then the same test with a planted mistake, which must fail.
"""

import math
from importlib import import_module

import numpy as np
import pytest

from gendsl import (
    beta,
    categorical,
    dirichlet,
    exponential,
    gamma,
    gen,
    iid,
    mvnormal,
    normal,
    select,
    uniform,
    uniform_discrete,
)
from gendsl.inference import birth_death, cycle, mh, sample, split_merge
from gendsl.testing import assert_stationary

pytestmark = pytest.mark.statistical

# --- weights, means and points, with and without allocations ------------------------------------------


@gen
def groups(n):
    k = ~uniform_discrete(1, 3)
    weights = ~dirichlet([1.0] * k)
    mu = [("mu", j) @ ~normal(0, 2) for j in range(k)]
    centre = sum(w * m for w, m in zip(weights, mu, strict=True))
    for i in range(n):
        ("y", i) @ ~normal(centre, 1.5)


@gen
def allocated(n):
    k = ~uniform_discrete(1, 3)
    weights = ~dirichlet([1.0] * k)
    mu = [("mu", j) @ ~normal(0, 2) for j in range(k)]
    z = ~iid(categorical(weights), n)
    for i in range(n):
        ("y", i) @ ~normal(mu[z[i]], 1.5)


@gen
def new_group(trace):
    mu = ~normal(0.5, 2)
    weights = ~beta(1, trace["k"] + 0.5)


def make_room(others, new):
    return [w * (1 - new) for w in others]


def close_up(others, old):
    return [w / (1 - old) for w in others]


WEIGHTS = {"weights": (make_room, close_up)}


@gen
def offset(trace, component):
    share = ~uniform(0, 1)
    gap = ~exponential(0.5)
    return {"share": share, "gap": gap}


@gen
def signed_offset(trace, component):
    share = ~uniform(0, 1)
    gap = ~normal(0, 2)
    return {"share": share, "gap": gap}


def split(one, u):
    w, mu, share, gap = one["weights"], one["mu"], u["share"], u["gap"]
    first = {"weights": w * share, "mu": mu - (1 - share) * gap}
    return first, {"weights": w * (1 - share), "mu": mu + share * gap}


def merge(first, second):
    w = first["weights"] + second["weights"]
    share = first["weights"] / w
    mu = share * first["mu"] + (1 - share) * second["mu"]
    return {"weights": w, "mu": mu}, {"share": share, "gap": second["mu"] - first["mu"]}


def to_second(trace, points, first, second):
    y = np.array([trace["y", i] for i in points.tolist()])
    logs = [math.log(c["weights"]) - (y - c["mu"]) ** 2 / 4.5 for c in (first, second)]
    return 1 / (1 + np.exp(logs[0] - logs[1]))


SPLIT = {"bijection": (split, merge), "vectors": ["weights"]}
REFRESH = cycle(mh(select("mu")), mh(select("weights")))

# --- components that are calls, with vectors and choices of several kinds ------------------------------


@gen
def shape(rate):
    kind = ~categorical([0.5, 0.3, 0.2])
    size = ~gamma(2, 1 / rate)
    if kind == 1:
        corner = ~mvnormal([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
        return size + corner[0]
    return size if kind == 0 else -size


@gen
def picture():
    rate = ~gamma(3, 1)
    k = ~categorical([0.3, 0.4, 0.3])
    total = sum([("shape", j) @ ~shape(rate) for j in range(k)])
    y = ~normal(total, 2)


@gen
def new_shape(trace):
    "shape" @ ~shape(trace["rate"] + 0.2)


def check(kernel, model, args, observed, steps=30, draws=4000):
    return assert_stationary(kernel, model, args, observed=observed, steps=steps, draws=draws)


CASES = {
    "birth/death with data": (
        cycle(birth_death("mu", propose=new_group, vectors=WEIGHTS), REFRESH), groups, (1,), "y"),
    "birth/death of empty components": (
        cycle(birth_death("mu", propose=new_group, vectors=WEIGHTS, allocations="z", insert="shift"),
              mh(select("z")), REFRESH), allocated, (2,), "y"),
    "birth/death of calls": (
        cycle(birth_death("shape", propose=new_shape, birth=0.4), mh(select("rate"))), picture, (), "y"),
    "split/merge of adjacent components": (
        cycle(split_merge("mu", auxiliary=offset, order="mu", pairs="adjacent", **SPLIT), REFRESH),
        groups, (1,), "y"),
    "split/merge of any two": (
        cycle(split_merge("mu", auxiliary=signed_offset, **SPLIT), REFRESH), groups, (1,), "y"),
    "split/merge with allocations": (
        cycle(split_merge("mu", auxiliary=offset, order="mu", allocations="z", allocate=to_second, **SPLIT),
              mh(select("z")), REFRESH), allocated, (2,), "y"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_stationary(name):
    report = check(*CASES[name])
    assert report.moved > 0.2


def test_stationary_without_data():
    moves = (
        birth_death("mu", propose=new_group, vectors=WEIGHTS),
        split_merge("mu", auxiliary=offset, order="mu", **SPLIT),
    )
    chain = sample(cycle(*moves), groups.simulate((0,), rng=1), 1500, record="k", seed=2, progress=False)
    for share in chain.frequency("k").values():
        assert abs(share.probability - 1 / 3) < 4 * share.standard_error


# --- planted mistakes ----------------------------------------------------------------------------------


def half_the_pairs(monkeypatch):
    """An unordered pair of components is given the probability of an ordered one."""
    law = import_module("gendsl.inference.split_merge").pair_of_components
    density = law.logpdf
    monkeypatch.setattr(law, "logpdf", lambda self, x: density(self, x) - math.log(2.0))


def one_too_many(monkeypatch):
    """(k + 1)! / k! is forgotten, or counted twice."""
    module = import_module("gendsl.inference.involutive")
    propose_image = module.propose_image

    def planted(f, inverse, at, check):
        proposal = propose_image(f, inverse, at, check)
        proposal.log_weight += math.log(proposal.trace()["k"] / at[0]["k"])
        return proposal

    monkeypatch.setattr(module, "propose_image", planted)


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        ("birth/death with data", one_too_many),
        ("split/merge of adjacent components", half_the_pairs),
    ],
)
def test_a_mistake_is_seen(name, mistake, monkeypatch):
    mistake(monkeypatch)
    with pytest.raises(AssertionError, match="not stationary"):
        check(*CASES[name], steps=15)
