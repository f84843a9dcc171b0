"""Traces of machine code that are looked at after what the program finds outside of itself has changed."""

import numpy as np
import pytest

from gendsl import gen, normal, sample, select
from gendsl.errors import NotDeterministicError
from gendsl.inference import mh
from gendsl.inference.compiled import by_hand, thresholds
from gendsl.inference.compiled.policy import why_no_machine_code
from gendsl.testing import running_on

UNIT = 1.0
SHIFT = np.zeros(3)
STEP = 0.5
pytestmark = pytest.mark.skipif(why_no_machine_code() is not None, reason="there is no machine code")


@gen
def measured(data):
    mu = ~normal(0.0, 1.0)
    for i in range(len(data)):
        ("x", i) @ ~normal(mu + SHIFT[i], 1.0)
    return UNIT * mu


@gen
def walk(trace):
    mu = ~normal(trace["mu"], STEP)


DATA = [0.4, 0.7, -0.1]


def start():
    return measured.generate((DATA,), {("x", i): x for i, x in enumerate(DATA)}, rng=1).trace


def chain():
    """The trace that a chain stops at."""
    with running_on("native"):
        run = sample(mh(walk), start(), 200, record="mu", seed=2, progress=False)
    assert run.chains[0].ran == "as machine code"
    return [run.last]


def recorded():
    """Traces that a recorded function has kept."""
    kept = []

    def keep(trace):
        kept.append(trace)
        return trace["mu"]

    with running_on("native"):
        sample(mh(select("mu")), start(), 200, record={"mu": keep}, seed=2, progress=False)
    return kept[100:-1:20]


def loop():
    """Traces of a loop of the user's own."""
    trace, rng, kernel, kept = start(), np.random.default_rng(3), mh(walk), []
    for _ in range(60):
        trace, _ = kernel(trace, rng)
        kept.append(trace)
    assert by_hand._HANDS.running
    return kept[40:]


@pytest.fixture(params=[chain, recorded, loop])
def traces(request, monkeypatch):
    monkeypatch.setattr(thresholds, "LEAST_CALLS", 8)
    monkeypatch.setattr(thresholds, "LEAST_WORK", 0)
    monkeypatch.setattr(by_hand, "_HANDS", by_hand._Hands())
    return request.param()


def test_what_a_program_returned_is_not_made_of_what_changed_since(traces, monkeypatch):
    """A run would give 3 mu, where the trace of today's runtime has mu."""
    monkeypatch.setitem(globals(), "UNIT", 3.0)
    for trace in traces:
        with pytest.raises(NotDeterministicError, match="measured finds something else outside"):
            trace.retval
        with pytest.raises(NotDeterministicError):
            trace.log_likelihood
        assert repr(trace) == "<trace of measured as it was: 4 choices>"
        assert dict(trace.choices) == {("mu",): trace["mu"], **{("x", i): x for i, x in enumerate(DATA)}}
        assert len(trace.observed) == 3
        expected = normal(0.0, 1.0).logpdf(trace["mu"])
        expected += sum(normal(trace["mu"], 1.0).logpdf(x) for x in DATA)
        assert trace.log_prob == pytest.approx(expected, rel=1e-12)


def test_traces_that_are_kept_share_what_is_known_of_outside(traces):
    """There may be thousands of them, and a large array outside."""
    first = traces[0].outside
    assert first is not None and first.found is not None
    assert all(trace.outside.found is first.found and trace.outside.mark == first.mark for trace in traces)


def test_what_was_read_before_stays(traces, monkeypatch):
    before = [trace.retval for trace in traces]
    monkeypatch.setitem(globals(), "UNIT", 3.0)
    assert [trace.retval for trace in traces] == before == [trace["mu"] for trace in traces]


def test_what_a_proposal_finds_is_of_no_matter(traces, monkeypatch):
    monkeypatch.setitem(globals(), "STEP", 0.1)
    for trace in traces:
        assert trace.retval == trace["mu"]


def test_a_chain_goes_on_from_one(traces, monkeypatch):
    """With what the program finds now."""
    monkeypatch.setitem(globals(), "UNIT", 3.0)
    last = sample(mh(walk), traces[-1], 50, seed=4, progress=False).last
    assert last.retval == 3.0 * last["mu"]
