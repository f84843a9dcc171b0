"""The trace that a compiled chain stops at: its program runs when something is asked for that takes a run."""

import copy
import pickle

import numpy as np
import pytest

from gendsl import ChoiceMap, gen, inv_gamma, mixture, normal, poisson, sample, select
from gendsl.inference import cycle, mh, random_walk, repeat, single_site
from gendsl.inference.compiled.looked_at import LookedAt
from gendsl.inference.compiled.policy import why_no_machine_code
from gendsl.inference.running.chain import remade
from gendsl.runtime.generative import GenFunction


@gen
def blend(n):
    k = ~(1 + poisson(1))
    means = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    spread = ~inv_gamma(2, 2)
    for i in range(n):
        ("x", i) @ ~mixture([1 / k] * k, [normal(mean, spread) for mean in means])
    return k, float(sum(means))


@gen
def walk(trace):
    for j in range(trace["k"]):
        ("mu", j) @ ~normal(trace["mu", j], 0.5)


pytestmark = pytest.mark.skipif(why_no_machine_code() is not None, reason="there is no machine code")
N = 12
KERNEL = cycle(mh(walk), single_site(select("spread")))


def start():
    x = np.random.default_rng(3).normal(size=N)
    observed = {("x", i): x[i] for i in range(N)}
    init = {"k": 2, ("mu", 0): -1.0, ("mu", 1): 1.0, "spread": 1.0}
    return blend.generate((N,), observed, init=init, rng=1).trace


def drawn(trace, draws=3000, seed=2, kernel=KERNEL):
    run = sample(kernel, trace, draws, record=["spread"], seed=seed, progress=False)
    assert run.chains[0].ran.startswith("as ")  # machine code, or Python text
    return run


def densities(run):
    return list(run.chains[0].steps.log_prob)


@pytest.fixture(scope="module")
def left():
    return drawn(start())


def test_program_does_not_run_for_values_nor_for_chains_that_go_on(monkeypatch):
    """Neither does it for the start of the first."""
    begun = start()
    drawn(begun)  # the text is made, and compared
    last = drawn(begun).last

    def scored(*args, **options):
        raise AssertionError("the program runs")

    with monkeypatch.context() as patched:
        patched.setattr(GenFunction, "score", scored)
        monkeypatch.setattr("gendsl.inference.compiled.machine.Machine.is_due", lambda *_: False)
        assert type(last) is LookedAt
        assert last["k"] == 2 and ("mu", 1) in last
        again = drawn(last)
        assert type(again.last) is LookedAt and again.last["spread"] == again["spread"][-1]
        with pytest.raises(AssertionError, match="runs"):
            print(again.last.log_prob)


def test_all_that_is_asked_for_is_what_the_program_gives(left):
    last = left.last
    assert type(last) is LookedAt
    values = {path: last[path] for path in last.choices}
    whole = blend.score((N,), values)
    assert last.log_prob == whole.log_prob  # to the last bit
    assert last.log_prob == pytest.approx(densities(left)[-1], rel=1e-12)
    assert last.retval == whole.retval and list(last.choices) == list(whole.choices)
    assert last.choices == whole.choices and last.observed == start().observed
    assert last.args == (N,) and last.impossible == ChoiceMap()
    assert last.log_likelihood == pytest.approx(
        sum(score for path, (_, _, score) in whole.records.items() if path[0] == "x")
    )
    assert repr(last) == repr(remade(last)) and str(last) == str(remade(last))
    new = last.update({("mu", 0): 0.25}).trace
    assert new.log_prob == whole.update({("mu", 0): 0.25}).trace.log_prob
    assert last.project(select("spread")) == whole.project(select("spread"))
    assert last["mu", 0] != 0.25  # as it was


def test_what_goes_on_does_not_depend_on_what_was_asked_for():
    """Nor on whether the memory of the chain is there still, or the trace was pickled or copied."""
    begun = start()
    first = drawn(begun).last
    expected = drawn(first, seed=5)
    asked = drawn(begun).last
    assert asked.log_prob < 0 and asked.retval[0] == 2
    drawn(begun, seed=9)  # takes the memory
    pickled = pickle.loads(pickle.dumps(drawn(begun).last))
    copied = copy.deepcopy(drawn(begun).last)
    for trace in (asked, pickled, copied):
        run = drawn(trace, seed=5)
        assert densities(run) == densities(expected)
        assert list(run["spread"]) == list(expected["spread"])
        assert run.last.log_prob == expected.last.log_prob


def test_kernels_that_are_called_by_hand_go_on_from_it(left):
    expected = blend.score((N,), dict(left.last.choices.items()))
    expected.observed_paths = left.last.observed_paths
    trace, rng, other = left.last, np.random.default_rng(4), np.random.default_rng(4)
    for _ in range(20):
        trace, _ = KERNEL(trace, rng)
        expected, _ = KERNEL(expected, other)
    assert trace.choices == expected.choices and trace.log_prob == expected.log_prob


def test_pickled_trace_has_what_it_had(left):
    trace = pickle.loads(pickle.dumps(left.last))
    assert trace.choices == left.last.choices and trace.observed == left.last.observed
    assert trace.log_prob == left.last.log_prob and trace.args == (N,)


def test_chain_of_another_kernel_starts_there(left):
    """With other observations as well, and in warm-up."""
    kernel = random_walk(select("mu"))
    run = sample(kernel, left.last, 2000, warmup=500, record=["spread"], seed=1, progress=False)
    assert run.last["spread"] == left.last["spread"]
    fewer = left.last.update({("x", 0): 0.5}).trace
    moved = drawn(fewer, kernel=repeat(mh(walk), 3))
    assert moved.last["x", 0] == 0.5 and ("x", 0) in moved.last.observed


class Scale:
    factor = 1.0


SCALE = Scale()
ERRORS = np.array([1.0, 2.0])
SHIFTS = [0.5, -0.5]


def centred(x):
    return x


@gen
def measured(n):
    level = ~normal(0, 5)
    for i in range(n):
        ("x", i) @ ~normal(centred(level) + SHIFTS[i % 2], ERRORS[i % 2] * SCALE.factor)


@gen
def step(trace):
    level = ~normal(trace["level"], 1.0)


def times_three(patch):
    patch.setattr("tests.inference.test_left_trace.centred", lambda x: 3 * x)


@pytest.fixture
def _items_as_they_were():
    yield
    ERRORS[:], SHIFTS[:] = [1.0, 2.0], [0.5, -0.5]


CHANGES = {
    "an item of an array": lambda patch: ERRORS.__setitem__(0, 0.5),
    "an item of a list": lambda patch: SHIFTS.__setitem__(0, 2.0),
    "another array": lambda patch: patch.setitem(globals(), "ERRORS", np.array([0.5, 0.25])),
    "an attribute": lambda patch: patch.setattr(SCALE, "factor", 3.0, raising=False),
    "a function": times_three,
}


@pytest.mark.usefixtures("_items_as_they_were")
@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("pickled", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_outside_is_another_density_where_a_chain_goes_on(monkeypatch, change, pickled, asked):
    """Whether the density was asked for before that, or was not."""
    kernel, other = mh(step), repeat(mh(step), 2)
    begun = measured.generate((N,), {("x", i): 0.5 * i for i in range(N)}, rng=1).trace

    def levels(trace, kernel):
        run = sample(kernel, trace, 3000, record="level", seed=3, progress=False)
        assert run.chains[0].ran.startswith("as ")
        return list(run["level"]), densities(run)

    last = sample(kernel, begun, 3000, record="level", seed=2, progress=False).last
    if asked:
        assert last.log_prob < 0
    data = pickle.dumps(last) if pickled else None
    with monkeypatch.context() as patch:
        CHANGES[change](patch)
        assert type(last) is LookedAt and last.scored_from is not None
        afresh = measured.score((N,), dict(last.choices.items()))
        afresh.observed_paths = last.observed_paths
        last = pickle.loads(data) if data else last
        for one in kernel, other:
            assert levels(last, one) == levels(afresh, one)
