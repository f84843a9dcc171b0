"""Traces that hypothesis draws are traces of the program; counterexamples of moves are the smallest."""

import ast

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from examples import birth_death
from gendsl import (
    ChoiceMap,
    Distribution,
    Selection,
    Trace,
    bernoulli,
    gen,
    normal,
    pair,
    poisson,
    read,
    select,
    transform,
    write,
)
from gendsl.errors import HandleError, InvolutionError, KernelError, UnknownAddressError, ValueTypeError
from gendsl.supports import Support
from gendsl.testing import TracePair, assert_bijection, assert_involution, assert_weight_laws
from gendsl.testing.strategies import trace_pairs, traces
from tests.programs import PROGRAMS

SETTINGS = settings(
    max_examples=60, derandomize=True, database=None, deadline=None,
    phases=[Phase.generate, Phase.shrink],
)  # fmt: skip
FEW = settings(SETTINGS, max_examples=8)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_traces_of_every_program(program):
    @FEW
    @given(traces(program.model, program.args[0]))
    def check(trace):
        found = program.score(program.args[0], trace.choices)
        assert trace.log_prob == pytest.approx(found.log_prob, rel=1e-9, abs=1e-9)
        assert trace.log_prob > -float("inf")
        assert len(trace.observed) == 0

    check()


@gen
def counted():
    n = ~poisson(1)
    for i in range(n):
        ("x", i) @ ~normal(i, 1)


def test_observations_are_fixed_or_drawn():
    @FEW
    @given(traces(counted, (), {"n": 2, ("x", 0): 0.25}))
    def fixed(trace):
        assert trace.observed.to_flat_dict() == {("n",): 2, ("x", 0): 0.25}
        assert ("x", 1) in trace

    @FEW
    @given(traces(counted, (), select("n")))
    def drawn(trace):
        assert list(trace.observed) == [("n",)]

    fixed()
    drawn()


def test_a_whole_column_is_observed():
    @FEW
    @given(traces(counted, (), {"n": 2, "x": [0.25, 0.5]}))
    def check(trace):
        assert len(trace.observed) == 3
        assert trace["x", 1] == 0.5

    check()


def failure(test):
    """The smallest failing case of a test, as hypothesis prints it, and the error."""
    with pytest.raises(Exception) as caught:
        test()
    return "\n".join(caught.value.__notes__), caught.value


def test_a_typo_in_an_observation_is_an_error():
    for observations in ({"m": 2}, select("m")):
        @FEW
        @given(traces(counted, (), observations))
        def check(trace):
            """Nothing: the trace can't be drawn."""

        with pytest.raises(UnknownAddressError):
            check()


@pytest.mark.slow
def test_the_flawed_birth_and_death_shrinks_to_its_smallest_case():
    @settings(SETTINGS, max_examples=200)
    @given(
        trace_pairs(birth_death.clusters, (1,), birth_death.propose_flawed, observations=select("x"))
    )
    def check(case):
        assert_involution(case, birth_death.flawed)

    text, error = failure(check)
    assert error.address == ("deletion_idx",)
    assert "comes back as 1" in str(error)
    shown = text.replace("array(", "").replace("])", "]")
    model, aux = (ast.literal_eval(part) for part in _dicts(shown))
    assert model == {
        "k": 2, ("mu", 0): 0.0, ("mu", 1): 0.0, ("var", 0): 1.0, ("var", 1): 1.0, "weights": [0.5, 0.5],
        ("x", 0): 0.0,
    }  # fmt: skip
    assert aux == {"is_birth": False, "deletion_idx": 0}


def _dicts(text):
    """The two dicts in the text of a pair of traces."""
    start = text.index("model=") + len("model=")
    middle = text.index(", aux=", start)
    return text[start:middle], text[middle + len(", aux=") : text.index("}", middle) + 1]


def test_the_corrected_birth_and_death_passes():
    @settings(SETTINGS, max_examples=40)
    @given(trace_pairs(birth_death.clusters, (1,), birth_death.propose, observations=select("x")))
    def check(case):
        assert_involution(case, birth_death.birth_death)

    check()


# --- moves without an auxiliary program, pairs, and sets of probability zero ---------------------------


@gen
def point():
    x = ~normal(0, 1)
    on = ~bernoulli(0.5)


@transform
def reciprocal(model_in, *, model_out):
    write(model_out["x"], 1 / read(model_in["x"]))


@transform
def doubled(model_in, *, model_out):
    write(model_out["x"], 2 * read(model_in["x"]))


@transform
def halved(model_in, *, model_out):
    write(model_out["x"], read(model_in["x"]) / 2)


@transform
def wrong_where_on(model_in, *, model_out):
    x = read(model_in["x"])
    write(model_out["x"], x + 1 if read(model_in["on"]) and x > 1.5 else -x)


POINTS = trace_pairs(point, (), None)


def test_a_failure_on_a_set_of_probability_zero_is_none():
    @settings(SETTINGS, max_examples=30)
    @given(POINTS)
    def check(case):
        assert_involution(case, reciprocal)  # fails at x = 0 alone, the first that hypothesis tries

    check()


def test_a_failure_in_a_corner_is_found_and_simple():
    @settings(SETTINGS, max_examples=300)
    @given(POINTS)
    def check(case):
        assert_involution(case, wrong_where_on)

    text, _ = failure(check)
    assert "TracePair(model={'x': 2.0, 'on': True}, aux=None)" in text


def test_bijections():
    @FEW
    @given(POINTS)
    def check(case):
        assert_bijection(case, doubled, halved)
        assert_bijection(case, pair(doubled, halved))

    check()

    with pytest.raises(InvolutionError, match="is not an involution"):
        assert_bijection(TracePair(point.generate(init={"x": 0.5}).trace), doubled, doubled)


def test_what_is_no_case_is_an_error():
    with pytest.raises(ValueTypeError, match="draw it from trace_pairs"):
        assert_involution(point.simulate(rng=1), doubled)
    with pytest.raises(ValueTypeError, match="decorate it with @gen"):
        traces(lambda: 0)
    with pytest.raises(ValueTypeError, match="must be a tuple"):
        traces(point, 3)
    with pytest.raises(KernelError, match="auxiliary program"):
        trace_pairs(point, (), doubled)
    with pytest.raises(HandleError, match="assert_bijection"):
        assert_involution(None, pair(doubled, halved))
    with pytest.raises(HandleError, match="give its inverse"):
        assert_bijection(None, doubled)
    with pytest.raises(HandleError, match="leave the other out"):
        assert_bijection(None, pair(doubled, halved), halved)


# --- weight laws, and gendsl's own types ---------------------------------------------------------------


def test_weight_laws_hold_at_traces_with_observations():
    @FEW
    @given(traces(counted, (), {("n"): 2}))
    def check(trace):
        assert_weight_laws(trace)

    check()


def test_from_type_knows_gendsl_types():
    for kind in (ChoiceMap, Selection, Distribution, Support):
        @FEW
        @given(st.from_type(kind))
        def check(thing):
            assert isinstance(thing, kind)

        check()


def test_traces_are_traces():
    @FEW
    @given(st.data())
    def check(data):
        assert isinstance(data.draw(traces(point)), Trace)

    check()
