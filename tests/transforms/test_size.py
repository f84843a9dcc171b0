"""What a move costs doesn't depend on the size of the trace: nothing goes through all choices of one."""

from contextlib import contextmanager

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
from gendsl.inference import proposal
from gendsl.inference.compiled import by_hand
from gendsl.runtime.loops import LoopBlock
from gendsl.runtime.trace import ReferenceTrace
from gendsl.runtime.verify import Schedule
from gendsl.runtime.watched import runs_whole


def refuse(*_):
    raise AssertionError("the whole trace was gone through")


class Unlisted(dict):
    """Records that can be looked up, and not gone through."""

    __iter__ = keys = values = items = copy = refuse


class UnlistedPaths(frozenset):
    __iter__ = refuse


def plain(trace):
    """The same trace, with records and observed paths that can be gone through."""
    if isinstance(trace.records, Unlisted):
        trace = trace.with_records(dict(dict.items(trace.records)))
    trace.observed_paths = frozenset(frozenset.union(frozenset(), trace.observed_paths))
    return trace


@contextmanager
def unlisted(trace):
    """A trace that meanwhile can't be gone through, nor can what edits make of it."""
    trace = plain(trace)
    with pytest.MonkeyPatch.context() as patch:
        # a check compares some traces with what the reference runtime makes of all their choices
        patch.setattr(proposal, "is_due", lambda trace: False)
        patch.setattr(Schedule, "keep", lambda *_, **__: True)
        if type(trace) is not ReferenceTrace:  # the compiled runtime: no loop lists its choices
            for kind in (LoopBlock, *LoopBlock.__subclasses__()):
                patch.setattr(kind, "records", refuse)
                patch.setattr(kind, "calls", refuse)
            trace.observed_paths = UnlistedPaths(trace.observed_paths)
            yield trace
            return
        edit = ReferenceTrace.edit

        def guarded(trace):
            trace = trace.with_records(Unlisted(trace.records))
            trace.observed_paths = UnlistedPaths(trace.observed_paths)
            return trace

        def guarded_edit(self, values, **options):
            result = edit(plain(self), values, **options)
            return result._replace(trace=guarded(result.trace))

        patch.setattr(ReferenceTrace, "edit", guarded_edit)
        yield guarded(trace)


@pytest.fixture(autouse=True)
def step_by_step():
    """Machine code, which looks at all choices, is not what steps are."""
    with by_hand.off():
        yield


@pytest.fixture(params=["compiled", "reference"])
def runtime(request):
    """The version of a model for one of the runtimes."""
    if request.param == "reference":
        return lambda model: model.reference
    if runs_whole():
        pytest.skip("everything runs on the reference runtime")
    return lambda model: model


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


def start(runtime, k=3, n=30):
    rng = np.random.default_rng(3)
    init = {"k": k, "weights": np.full(k, 1 / k), "z": rng.integers(0, k, n)}
    return runtime(clusters).generate((n,), {"x": rng.normal(size=n)}, init=init, rng=rng).trace


@pytest.mark.parametrize("check", [False, True, "reject"])
@pytest.mark.parametrize(
    ("q", "f"), [(None, swap), (pick, shift), (fraction, birth_or_death)], ids=["swap", "shift", "birth"]
)
def test_a_step_looks_up_what_it_touches(q, f, check, runtime):
    trace, rng = start(runtime), np.random.default_rng(4)
    for _ in range(20):
        ordinary, _ = involutive_mcmc(trace, q, (), f, check=check, rng=np.random.default_rng(5))
        with unlisted(trace) as guarded:
            moved, info = involutive_mcmc(guarded, q, (), f, check=check, rng=np.random.default_rng(5))
        assert plain(moved).choices == plain(ordinary).choices
        assert not info.check_failed
        trace = plain(involutive_mcmc(trace, q, (), f, rng=rng)[0])


def test_neither_does_the_check_of_a_departure(runtime):
    with unlisted(runtime(scaled).simulate(rng=1)) as trace:
        step, info = involutive_mcmc(trace, scale, (), negative_scale, check=True, rng=1)
        assert step is trace and info.reason == "out of support at 'sd'"
