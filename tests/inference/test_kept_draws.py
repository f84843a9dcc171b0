"""Whole traces that chains of compiled kernels keep are those of chains that run step by step."""

import pickle

import numpy as np
import pytest

from gendsl import bernoulli, categorical, gen, mvnormal, normal, poisson, sample, select
from gendsl.compiler.run.kept_choices import KeptChoices
from gendsl.errors import NotDeterministicError
from gendsl.inference import birth_death, cycle, gibbs, mh, random_walk, resume, single_site, slice_sampling
from gendsl.inference.compiled.at_hand import place_of
from gendsl.testing import running_on
from tests.inference.forms import AS
from tests.inference.test_looked_at import KERNEL, READ, flat, needs_llvm, start


@gen
def mixture(count):
    k = ~poisson(2)
    for j in range(k + 1):
        ("mu", j) @ ~normal(0, 3)
    for i in range(count):
        z = ("z", i) @ ~categorical([1 / (k + 1)] * (k + 1))
        ("x", i) @ ~normal(0.5 * z, 1)
    return k


@gen
def means():
    k = ~poisson(2)
    total = 0.0
    for j in range(k):
        total += ("mu", j) @ ~normal(0, 3)
    for i in range(3):
        ("x", i) @ ~normal(total, 1)
    return total


@gen
def vectors():
    at = ~mvnormal(np.zeros(2), np.eye(2))
    shifted = ~bernoulli(0.5)
    if shifted:
        by = ~mvnormal(at, 0.5 * np.eye(2))
    ("seen", 0) @ ~mvnormal(by if shifted else at, np.eye(2))
    return at.sum()


@gen
def shift(trace):
    shifted = ~bernoulli(0.5)
    if shifted:
        by = ~mvnormal(trace["at"], 0.5 * np.eye(2))


@gen
def tree(depth):
    if "split" @ ~bernoulli(0.5 if depth < 3 else 0.0):
        return ("left" @ ~tree(depth + 1)) + ("right" @ ~tree(depth + 1))
    return "leaf" @ ~normal(0, 1)


@gen
def forest():
    total = "root" @ ~tree(0)
    y = ~normal(total, 1)
    return total


SEEN = {("seen", 0): np.array([1.0, 2.0])}


def begun(model, args, observed):
    return model.generate(args, observed, rng=3).trace


CHAINS = {
    "calls, and vectors of weights": (KERNEL, start()),
    "labels": (
        cycle(single_site(select("mu")), gibbs(select("z"))),
        begun(mixture, (9,), {("x", i): 0.3 * i for i in range(9)}),
    ),
    "components that come and go": (
        birth_death("mu"),
        begun(means, (), {("x", i): 0.3 * i for i in range(3)}),
    ),
    "vectors": (cycle(mh(shift), random_walk(select("at"), 0.4)), begun(vectors, (), SEEN)),
    "vectors, in turn": (slice_sampling(select("at")), begun(vectors, (), SEEN)),
    "trees": (mh(select("root")), begun(forest, (), {"y": 0.5})),
}


def kept(name, runtime, steps=80):
    kernel, trace = CHAINS[name]
    with running_on(runtime):
        return sample(kernel, trace, steps, seed=2, progress=False)


@pytest.mark.parametrize("name", CHAINS)
def test_traces_that_are_kept_are_those_of_steps_by_themselves(name, form):
    run, expected = kept(name, form), kept(name, "compiled")
    assert run.ran[0].startswith(AS[form])
    assert len({id(trace) for trace in run.traces}) > 3
    for trace, other in zip(run.traces, expected.traces, strict=True):
        assert dict(trace.choices.items()).keys() == dict(other.choices.items()).keys()
        for path, value in other.choices.items():
            assert flat(trace[path]) == pytest.approx(flat(value), rel=1e-9, abs=1e-12)
            assert type(trace[path]) is type(other[path])
        assert trace.log_prob == pytest.approx(other.log_prob, rel=1e-9)
        assert flat(trace.retval) == pytest.approx(flat(other.retval), rel=1e-9, abs=1e-12)
    for one, other in zip(run.latent_choices()[0], expected.latent_choices()[0], strict=True):
        assert one.keys() == other.keys()
    assert run.traces[-1] is run.last


@pytest.mark.parametrize("name", READ)
def test_what_can_be_asked_of_a_trace_that_is_kept(name, form):
    run, expected = (kept("calls, and vectors of weights", runtime, 30) for runtime in (form, "compiled"))
    for trace, other in zip(run.traces, expected.traces, strict=True):
        one, other = flat(READ[name](trace)), flat(READ[name](other))
        assert [type(value) for value in one] == [type(value) for value in other]
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12) if type(one[0]) is float else one == other


def test_draws_between_which_no_move_was_accepted_have_one_trace(form):
    run = kept("trees", form)
    (tally,) = run.acceptance.values()
    accepted = tally.accepted
    assert 3 < accepted < 70
    assert accepted <= len({id(trace) for trace in run.traces}) <= accepted + 1


@needs_llvm
def test_what_did_not_change_between_draws_is_kept_once():
    kernel, trace = single_site(select(("z", 7), ("z", 1999))), begun(mixture, (2000,), {})
    with running_on("native"):
        run = sample(kernel, trace, 40, seed=2, progress=False)
    first, *others = {id(trace): place_of(trace).held for trace in run.traces[:-1]}.values()
    assert len(others) > 10 and all(isinstance(one, KeptChoices) for one in others)
    columns = [column for one in others for columns in one._written for column in columns]
    blocks = {id(block) for column in columns for block in column}
    assert len(first._written) > 1 and len(blocks) < 4 * len(others)


def test_a_kernel_goes_on_by_hand_from_a_trace_that_is_kept(form):
    kernel, _ = CHAINS["components that come and go"]
    run = kept("components that come and go", form)
    rng, again = np.random.default_rng(5), np.random.default_rng(5)
    for trace in run.traces[10:40:10]:
        one, _ = kernel(trace, rng)
        other, _ = kernel(means.score((), dict(trace.choices.items())), again)
        assert dict(one.choices.items()) == dict(other.choices.items())


SHIFT = 0.5


@gen
def of_global():
    mu = ~normal(SHIFT, 1)
    y = ~normal(mu, 1)
    return mu + SHIFT


def test_values_are_there_when_the_program_finds_something_else(form, monkeypatch):
    trace = begun(of_global, (), {"y": 1.0})
    with running_on(form):
        run = sample(mh(select("mu")), trace, 20, seed=1, progress=False)
    before, asked = [trace["mu"] for trace in run.traces], run.traces[3].retval
    monkeypatch.setitem(globals(), "SHIFT", 2.5)
    assert [trace["mu"] for trace in run.traces] == before
    assert run.traces[3].retval == asked
    changed = next(trace for trace in run.traces if trace["mu"] != run.traces[3]["mu"])
    with pytest.raises(NotDeterministicError, match="finds something else outside"):
        changed.retval


def test_a_run_with_whole_traces_goes_on_from_its_files(form, tmp_path):
    kernel, trace = CHAINS["components that come and go"]
    with running_on(form):
        run = sample(kernel, trace, 60, seed=2, progress=False, checkpoint=tmp_path / "run")
        again = resume(tmp_path / "run", kernel, means)
    assert run.ran[0].startswith(AS[form])
    assert run.latent_choices() == again.latent_choices()


def test_a_run_is_pickled_with_the_traces_that_it_keeps(form):
    run = kept("components that come and go", form, 30)
    again = pickle.loads(pickle.dumps(run))
    assert run.latent_choices() == again.latent_choices()
    assert [trace.log_prob for trace in run.traces] == pytest.approx([one.log_prob for one in again.traces])
