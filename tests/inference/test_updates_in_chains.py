"""Chains of kernels that update choices one by one: as machine code they are what they are step by step."""

import numpy as np
import pytest

from gendsl import (
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
    uniform_discrete,
    write,
)
from gendsl.compiler.native import available
from gendsl.errors import RuntimeMismatchError
from gendsl.inference import (
    cycle,
    gibbs,
    involutive,
    lines,
    mh,
    mixture,
    policy,
    repeat,
    single_site,
    slice_sampling,
)
from gendsl.testing import running_on

pytestmark = pytest.mark.skipif(available() is not None, reason="there is no LLVM here")


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
    "with a jump": cycle(involutive(a_mean, more_or_fewer), slice_sampling("mu"), gibbs("z")),
}


@pytest.mark.parametrize("name", KERNELS)
def test_the_same_chain(name):
    kernel, found = KERNELS[name], []
    for runtime in ("native", "compiled"):
        with running_on(runtime):
            found.append(sample(kernel, START, 60, thin=2, seed=3, record=["k", "s", ("z", 0), ("mu", 0)]))
    native, stepwise = found
    assert native.ran == ["as machine code"]
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


def test_a_planted_mistake_is_found(monkeypatch):
    kernel = gibbs("z", name="planted")
    monkeypatch.setattr(lines, "log_weights", lambda line, every: [0.0] * len(every))
    with running_on("native"), pytest.raises(RuntimeMismatchError, match="planted: the machine code"):
        sample(kernel, START, 20, seed=1, record=["s"])


@gen
def many(n):
    a = ~normal(0, 1)
    for i in range(n):
        z = ("z", i) @ ~poisson(2)
        ("x", i) @ ~normal(a + z, 1)


@pytest.mark.parametrize(
    ("kernel", "stays"),
    [(slice_sampling("z"), True), (single_site("z"), True), (slice_sampling("a"), False), (mh("a"), False)],
    ids=lambda one: getattr(one, "name", one),
)
def test_many_choices_on_which_little_depends_stay_on_the_other_runtime(kernel, stays):
    small, large = (many.simulate((n,), rng=1) for n in (100, 3000))
    rng = np.random.default_rng(1)
    assert policy.decide(kernel, small, rng, 10**5, 100, {}).machine is not None
    decided = policy.decide(kernel, large, rng, 10**5, 100, {})
    assert (decided.machine is None) is stays
    assert not stays or "few choices depend" in decided.reason
