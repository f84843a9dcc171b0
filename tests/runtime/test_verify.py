"""Traces of the compiled runtime are compared with the reference runtime, and a difference is an error."""

import os

import pytest

from gendsl import gen, involutive_mcmc, normal, poisson, read, transform, uniform, write
from gendsl.errors import RuntimeMismatchError
from gendsl.runtime import fused
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.sites import SiteBlock
from gendsl.runtime.verify import Schedule, accounted, compare_with_reference, is_due

pytestmark = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME") == "reference", reason="about the compiled runtime"
)


@gen
def line(xs):
    slope = ~normal(0, 1)
    n = ~poisson(2)
    means = [slope * x for x in xs]
    for i in range(len(xs)):
        ("y", i) @ ~normal(means[i], 1)
    return n, means


@gen
def step(trace):
    u = ~normal(0, 0.1)


@transform
def shift(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"])
    write(model_out["slope"], read(model_in["slope"]) + u)
    write(aux_out["u"], -u)


XS = [1.0, 2.0, -1.0]


@pytest.fixture
def trace():
    return line.generate((XS,), {"y": [1.0, 2.0, -1.0]}, rng=1).trace


def test_traces_agree(trace):
    for seed in range(20):
        trace, _ = involutive_mcmc(trace, step, (), shift, check=True, rng=seed)
        compare_with_reference(trace)


def forget_block_by_block(monkeypatch):
    monkeypatch.setattr(SiteBlock, "_rescore", lambda *_: 0)
    monkeypatch.setattr(fused, "AFTER", 10**9)


def forget_written_out(monkeypatch):
    planted = fused._SITE.replace("d, state[1], score", "d, state[1], state[2]")
    assert planted != fused._SITE
    monkeypatch.setattr(fused, "_SITE", planted)
    monkeypatch.setattr(fused, "AFTER", 0)


def trace_that_forgets(forget, monkeypatch):
    """A trace of a program that is linked with a planted mistake."""
    forget(monkeypatch)

    @gen
    def line(xs):
        slope = ~normal(0, 1)
        for i, x in enumerate(xs):
            ("y", i) @ ~normal(slope * x, 1)

    trace = line.generate((XS,), {"y": [1.0, 2.0, -1.0]}, rng=1).trace
    return trace


@pytest.mark.parametrize("forget", [forget_block_by_block, forget_written_out])
def test_a_score_that_is_not_brought_up_to_date_is_noticed(forget, monkeypatch, unwatched):
    trace = trace_that_forgets(forget, monkeypatch)
    for seed in range(20):
        involutive_mcmc(trace, step, (), shift, rng=seed)
    with pytest.raises(RuntimeMismatchError) as caught:
        for seed in range(100):
            involutive_mcmc(trace, step, (), shift, check=True, rng=seed)
    assert caught.value.address == ("y", 0)
    assert "line" in str(caught.value)


def test_a_wrong_return_value_is_noticed(trace):
    called = trace._called
    wrong = CompiledTrace(line, (XS,), called, trace.log_prob, trace.observed_paths, {})
    called._value = 0, [1.0, 2.0, 3.0]
    with pytest.raises(RuntimeMismatchError, match="returns"):
        compare_with_reference(wrong)


def test_a_density_of_zero_is_no_other():
    @gen
    def half():
        x = ~uniform(0, 1)
        y = ~normal(x, 1)

    trace = half.generate((), {"x": 2.0}, rng=1).trace
    compare_with_reference(trace)
    wrong = CompiledTrace(half, (), trace._called, -1.0, trace.observed_paths, {})
    with pytest.raises(RuntimeMismatchError, match=r"log_prob -1\.0, the reference -inf"):
        compare_with_reference(wrong)


def test_a_program_that_is_not_deterministic_is_noticed(unwatched):
    calls = []

    @gen
    def counting():
        x = ~normal(0, 1)
        calls.append(x)
        return len(calls)

    trace = counting.simulate(rng=1).update({"x": 0.5}).trace
    with pytest.raises(RuntimeMismatchError, match="deterministic"):
        compare_with_reference(trace)


def test_the_first_proposals_are_due_and_some_later_ones():
    @gen
    def fresh():
        x = ~normal(0, 1)

    trace = fresh.simulate(rng=1)
    due = [count for count in range(1, 300) if is_due(trace)]
    assert due == [*range(1, 17), 64, 128, 192, 256]
    assert not is_due(line.reference.simulate((XS,), rng=1))


# --- unasked ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("forget", [forget_block_by_block, forget_written_out])
def test_a_mistake_is_noticed_by_whoever_edits(forget, monkeypatch):
    trace = trace_that_forgets(forget, monkeypatch)
    with pytest.raises(RuntimeMismatchError) as caught:
        for seed in range(10):
            trace = trace.update({"slope": 0.1 * seed}).trace
    assert caught.value.address[0] == "y"


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves, and what has been compared; see `compared_edits`."""
    seconds = [0.0]
    monkeypatch.setattr("gendsl.runtime.verify.perf_counter", lambda: seconds[0])
    monkeypatch.setattr("gendsl.runtime.verify.thread_time", lambda: seconds[0])
    return seconds


def compared_edits(trace, monkeypatch, clock, *, edits, cost, each=0.001):
    """After which of some edits a trace is compared, where a comparison takes `cost` seconds."""
    compared = []
    watch = trace._called.linked.watch = Schedule()

    def compare(_):
        compared.append(watch.edits)
        clock[0] += cost

    monkeypatch.setattr("gendsl.runtime.verify.compare_with_reference", compare)
    with accounted() as account:
        for edit in range(edits):
            clock[0] += each
            trace = trace.update({("y", 0): 0.1 * edit}).trace
    assert watch.edits == edits
    assert account.spent == pytest.approx(cost * len(compared))
    return compared


def test_the_first_edits_are_compared_and_then_fewer_and_fewer(monkeypatch, clock):
    trace = line.generate((XS,), {"y": [1.0, 2.0, -1.0]}, rng=1).trace
    compared = compared_edits(trace, monkeypatch, clock, edits=100, cost=0.0)
    assert compared == [*range(1, 17), 25, 38, 58, 88]


def test_comparisons_take_a_twentieth_of_the_time(monkeypatch, clock):
    trace = line.generate((XS,), {"y": [1.0, 2.0, -1.0]}, rng=1).trace
    compared = compared_edits(trace, monkeypatch, clock, edits=5000, cost=0.1)  # of 5 s in all
    assert compared[0] == 1  # it isn't known before how long it takes
    assert 1 <= len(compared) <= 4
    assert 0.1 * len(compared) <= 0.05 * clock[0] + 0.1
    cheap = compared_edits(trace, monkeypatch, clock, edits=5000, cost=0.001)
    assert cheap[:16] == [*range(1, 17)]
    assert len(cheap) > 20


def test_a_trace_of_many_choices_is_compared_when_there_is_time_for_it(monkeypatch, clock):
    trace = line.generate(([0.5] * 5000,), {"slope": 1.0, "n": 2}, rng=1).trace
    compared = compared_edits(trace, monkeypatch, clock, edits=3000, cost=0.02)  # of 3 s in all
    assert compared
    assert compared[0] > 16
    assert 0.02 * len(compared) <= 0.05 * clock[0]


@gen
def growing(n):
    k = ~poisson(2)
    for i in range(k):
        ("mu", i) @ ~normal(0, 1)
    x = ~normal(0, 1)
    if x > 2.0:
        shift = ~normal(1.0, 1)
    else:
        shift = ~normal(0.0, 1)
    for j in range(n):
        ("y", j) @ ~normal(shift, 1)


def test_what_is_new_is_compared_at_once(monkeypatch, clock):
    compared = []
    trace = growing.generate((20,), init={"k": 1, "x": 0.0}, rng=1).trace
    with accounted():
        clock[0] += 1e6
        for edit in range(40):
            trace = trace.update({("y", 0): 0.1 * edit}).trace
    monkeypatch.setattr("gendsl.runtime.verify.compare_with_reference", lambda _: compared.append(1))
    with accounted():
        clock[0] += 1e6
        trace.update({("y", 0): 5.0})
        assert not compared
        other = trace.update({"k": 2}, rng=1).trace  # other choices together than ever before
        assert len(compared) == 1
        other.update({"k": 1})  # as before
        trace.update({"k": 2}, rng=2)
        assert len(compared) <= 2
        before = len(compared)
        trace.update({"x": 3.0})  # another arm
        assert len(compared) == before + 1
        trace.update({"x": 3.5})
        assert len(compared) == before + 1


def test_a_choice_that_the_reference_does_not_make():
    known = [True]

    @gen
    def changing():
        x = ~normal(0, 1)
        if known[0]:
            y = ~uniform(0, 1)  # of log density 0

    trace = changing.generate((), rng=1).trace
    compare_with_reference(trace)
    known[0] = False
    with pytest.raises(RuntimeMismatchError, match="makes a choice that the reference doesn't") as found:
        compare_with_reference(trace)
    assert found.value.address == ("y",)


def test_large_terms_may_be_rounded_more():
    @gen
    def far():
        x = ~normal(0, 1)
        y = ~normal(0, 1e-300)

    trace = far.generate((), init={"x": 37.0, "y": 0.0}, rng=1).trace
    large = abs(trace.records["x",][2]) + abs(trace.records["y",][2])
    exact = trace.log_prob
    assert abs(exact) < 10.0 and large > 1000.0
    trace.log_prob = exact + 0.5e-9 * large
    compare_with_reference(trace)
    trace.log_prob = exact + 2e-9 * large
    with pytest.raises(RuntimeMismatchError, match="has log_prob"):
        compare_with_reference(trace)
