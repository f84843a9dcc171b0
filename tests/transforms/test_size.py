"""What a move costs doesn't depend on the size of the trace: nothing goes through all choices of one."""

import numpy as np
import pytest

from gendsl import (
    beta,
    categorical,
    copy,
    dirichlet,
    discrete,
    gen,
    involutive_mcmc,
    normal,
    poisson,
    read,
    transform,
    uniform_discrete,
    write,
)
from gendsl.runtime.trace import ReferenceTrace


class Unlisted(dict):
    """Records that can be looked up, and not gone through."""

    def refuse(self, *_):
        raise AssertionError("the whole trace was gone through")

    __iter__ = keys = values = items = copy = refuse


class UnlistedPaths(frozenset):
    __iter__ = Unlisted.refuse


def plain(trace):
    """The same trace, with records that can be gone through."""
    records = trace.records
    return trace.with_records(dict(dict.items(records) if isinstance(records, dict) else records.items()))


@pytest.fixture
def unlisted(monkeypatch):
    """Makes a trace that can't be gone through, nor can what edits make of it."""
    edit = ReferenceTrace.edit

    def guarded(trace):
        trace = trace.with_records(Unlisted(trace.records))
        trace.observed_paths = UnlistedPaths(trace.observed_paths)
        return trace

    def guarded_edit(self, values, **options):
        whole = plain(self)
        whole.observed_paths = frozenset(frozenset.union(frozenset(), self.observed_paths))
        result = edit(whole, values, **options)
        return result._replace(trace=guarded(result.trace))

    monkeypatch.setattr(ReferenceTrace, "edit", guarded_edit)
    return guarded


@gen
def clusters(n):
    k = ~(1 + poisson(2.0))
    weights = ~dirichlet([2.0] * k)
    means = [("mu", j) @ ~normal(0.0, 10.0) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~categorical(weights)
        ("x", i) @ ~normal(means[z % k], 1.0)  # so that it runs outside its support, too


@gen
def pick(trace):
    k = trace["k"]
    i = ~uniform_discrete(0, k - 1)
    j = ~uniform_discrete(0, k - 1)
    u = ~normal(0.0, 1.0)


@transform
def shift(model_in, aux_in, *, model_out, aux_out):
    i = read(aux_in["i"], discrete)
    u = read(aux_in["u"])
    write(model_out["mu", i], read(model_in["mu", i]) + 0.1 * u)
    write(aux_out["u"], -u)
    copy(aux_in["i"], aux_out["i"])
    copy(aux_in["j"], aux_out["j"])


@gen
def fraction(trace):
    k = trace["k"]
    up = ~uniform_discrete(0, 1 if k > 1 else 0)
    if up == 0:
        u = ~beta(2.0, 2.0)
        mu = ~normal(0.0, 10.0)


@transform
def birth_or_death(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    w = read(model_in["weights"])
    if read(aux_in["up"], discrete) == 0:
        u = read(aux_in["u"])
        write(model_out["k"], k + 1, discrete)
        write(model_out["weights"], [*(x * (1 - u) for x in w), u])
        copy(aux_in["mu"], model_out["mu", k])
        write(aux_out["up"], 1)
    else:
        u = w[k - 1]
        write(model_out["k"], k - 1, discrete)
        write(model_out["weights"], [x / (1 - u) for x in w[: k - 1]])
        copy(model_in["mu", k - 1], aux_out["mu"])
        write(aux_out["u"], u)
        write(aux_out["up"], 0)


@gen
def scale(trace):
    u = ~normal(0.0, 1.0)


@transform
def negative_scale(model_in, aux_in, *, model_out, aux_out):
    write(model_out["sd"], -read(model_in["sd"]))  # the model can't run there
    copy(aux_in["u"], aux_out["u"])


@gen
def scaled():
    sd = ~beta(2.0, 2.0)
    for i in range(3):
        ("x", i) @ ~normal(0.0, sd)


@transform
def swap(model_in, *, model_out):
    a, b = read(model_in["mu", 0]), read(model_in["mu", 1])
    write(model_out["mu", 0], b)
    write(model_out["mu", 1], a)


def start(k=3, n=30):
    rng = np.random.default_rng(3)
    init = {"k": k, "weights": np.full(k, 1 / k), "z": rng.integers(0, k, n)}
    return clusters.generate((n,), {"x": rng.normal(size=n)}, init=init, rng=rng).trace


@pytest.mark.parametrize("check", [False, True, "reject"])
@pytest.mark.parametrize(
    ("q", "f"), [(None, swap), (pick, shift), (fraction, birth_or_death)], ids=["swap", "shift", "birth"]
)
def test_a_step_looks_up_what_it_touches(q, f, check, unlisted):
    trace, rng = start(), np.random.default_rng(4)
    for _ in range(20):
        ordinary, _ = involutive_mcmc(trace, q, (), f, check=check, rng=np.random.default_rng(5))
        guarded, info = involutive_mcmc(unlisted(trace), q, (), f, check=check, rng=np.random.default_rng(5))
        assert plain(guarded).choices == plain(ordinary).choices
        assert not info.check_failed
        trace = plain(involutive_mcmc(trace, q, (), f, rng=rng)[0])


def test_neither_does_the_check_of_a_departure(unlisted):
    trace = unlisted(scaled.simulate(rng=1))
    step, info = involutive_mcmc(trace, scale, (), negative_scale, check=True, rng=1)
    assert step is trace and info.reason == "out of support at 'sd'"
