"""Choices made in one call are the choices that the reference runtime makes, and fail as they do there."""

import contextlib
import inspect
import math
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, note, settings

import gendsl
from gendsl import Distribution, bernoulli, gamma, gen, normal, poisson, select, uniform, uniform_discrete
from gendsl.errors import (
    AddressConflictError,
    ArgumentError,
    DuplicateAddressError,
    InvalidAddressError,
    MissingChoiceError,
    NaNError,
    ParameterError,
    ValueTypeError,
)
from gendsl.runtime.executions import Assess, Simulate
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.inlined import UPDATED
from gendsl.runtime.records import PLAIN_FAMILIES
from gendsl.runtime.reexecutions import Update
from tests.laws.generated import loaded, sources

pytestmark = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME", "") != "", reason="the reference runtime makes choices in the usual way"
)


@gen
def inner(scale):
    u = ~uniform(0, scale)
    return u


@gen
def outer(n):
    k = ~poisson(2)
    start = "start" @ ~inner(1 + k)
    means = [("mu", j) @ ~normal(start, 1 + j) for j in range(k)]
    rate = ~gamma(2, 1 / (1 + k))
    both = ~bernoulli(0.5)
    if both and k > 1:
        shared = ... @ ~inner(rate)
        ("pick", 0) @ ~uniform_discrete(0, k - 1)
        means.append(shared)
    for i in range(n):
        ("x", i) @ ~normal(sum(means), math.exp(0.1))
    return means


def whole(trace):
    """The trace in the form that is executed whole at each edit."""
    whole = trace.whole() if hasattr(trace, "whole") else trace
    assert not whole.gen_fn.is_reference
    return whole


def same(mine, theirs):
    assert list(mine.records) == list(theirs.records)
    for path, (distribution, value, score) in mine.records.items():
        known = theirs.records[path]
        assert (distribution, value, score) == known and type(value) is type(known[1])
    assert mine.log_prob == pytest.approx(theirs.log_prob, rel=1e-12)
    assert mine.calls == theirs.calls


def edits(trace, rng):
    """Values for some choices, and some that stay."""
    values = {}
    for path, (distribution, _, _) in trace.records.items():
        if rng.random() < 0.4:
            values[path] = distribution.sample(rng)
    return values


@pytest.mark.parametrize("seed", range(20))
def test_edits_are_those_of_the_reference_runtime(seed):
    rng = np.random.default_rng(seed)
    trace = whole(outer.simulate((2,), rng=seed))
    reference = outer.reference.score((2,), {p: r[1] for p, r in trace.records.items()})
    for _ in range(5):
        values = edits(trace, rng)
        mine, theirs = (t.edit(values, rng=np.random.default_rng(seed)) for t in (trace, reference))
        same(mine.trace, theirs.trace)
        assert mine.log_weight == pytest.approx(theirs.log_weight, abs=1e-9, nan_ok=True)
        assert mine.removed == theirs.removed
        if mine.trace.log_prob == -math.inf:
            continue
        trace, reference = whole(mine.trace), theirs.trace
        mine, theirs = (t.resample(select("mu", "rate"), np.random.default_rng(seed), skip_absent=True)
                        for t in (trace, reference))  # fmt: skip
        same(mine.trace, theirs.trace)
        assert mine.log_weight == pytest.approx(theirs.log_weight, abs=1e-9)


@pytest.mark.slow
@settings(
    max_examples=40, derandomize=True, deadline=None, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(sources())
def test_generated_programs(texts):
    note(texts[0])
    with loaded(texts) as program:
        assume(all(len(program.model.simulate(args, rng=1).choices) < 100 for args in program.args))
        for number, args in enumerate(program.args):
            mine = program.model.simulate_once(args, np.random.default_rng(number))
            theirs = program.model.reference.simulate(args, rng=number)
            assert mine.choices == theirs.choices and mine.log_prob == pytest.approx(theirs.log_prob)
            scored = program.model.score_once(args, dict(theirs.choices.items()))
            assert scored.choices == theirs.choices and scored.log_prob == pytest.approx(theirs.log_prob)
            values = edits(theirs, np.random.default_rng(number))
            first, second = (
                t.edit(values, rng=np.random.default_rng(number)) for t in (whole(scored), theirs)
            )
            assert first.trace.choices == second.trace.choices
            assert first.log_weight == pytest.approx(second.log_weight, rel=1e-9, abs=1e-9)


FAILURES = [
    ({("k",): 1, ("start", "u"): -3.0}, ZeroProbability),
    ({("k",): 40, ("start", "u"): 1.0}, MissingChoiceError),
    ({("k",): 2.5}, ZeroProbability),
    ({("rate",): math.nan}, ZeroProbability),
]


@pytest.mark.parametrize(("values", "error"), FAILURES)
def test_what_is_out_of_the_ordinary_fails_as_on_the_reference_runtime(values, error):
    trace = whole(outer.generate((1,), init={"k": 1}, rng=1).trace)
    reference = outer.reference.score((1,), {p: r[1] for p, r in trace.records.items()})
    found = []
    for start in (trace, reference):
        with pytest.raises(error) as caught:
            start.edit(values, stop_at_zero=True)
        found.append(caught.value)
    assert str(found[0]) == str(found[1])


def run(program, *args):
    """One run of a program whose choices are made in one call, and one of the reference runtime."""
    found = []
    for function in (program, program.reference):
        try:
            found.append(function.simulate_once(args, np.random.default_rng(1)))
        except Exception as error:
            found.append(error)
    return found


def test_a_wrong_parameter_is_reported_at_its_choice():
    @gen
    def wrong(sd):
        ("x", 3) @ ~normal(0.0, sd)

    mine, theirs = run(wrong, -1.0)
    assert type(mine) is type(theirs) is ParameterError and mine.address == ("x", 3)
    assert mine.problem == theirs.problem and mine.location.lineno == theirs.location.lineno


def test_two_choices_at_one_address_and_addresses_that_are_none():
    @gen
    def twice():
        for _ in range(2):
            "x" @ ~normal(0, 1)

    unhashable_part: list = []

    @gen
    def unhashable():
        (unhashable_part, 2) @ ~normal(0, 1)

    for program, error in ((twice, DuplicateAddressError), (unhashable, InvalidAddressError)):
        mine, theirs = run(program)
        assert type(mine) is type(theirs) is error and str(mine) == str(theirs)


def test_a_name_that_means_something_else_later(monkeypatch):
    def another(mean, sd):
        return normal(mean, sd) + 100

    assert abs(renamed.simulate_once((), np.random.default_rng(1))["x"]) < 50
    monkeypatch.setitem(globals(), "drawn_from", another)
    assert renamed.simulate_once((), np.random.default_rng(1))["x"] > 50
    monkeypatch.setitem(globals(), "drawn_from", pair_of)
    assert set(renamed.simulate_once((), np.random.default_rng(1)).records) == {("x", "a"), ("x", "b")}


drawn_from = normal


@gen
def renamed():
    "x" @ ~drawn_from(0.0, 1.0)


@gen
def pair_of(mean, sd):
    a = ~normal(mean, sd)
    b = ~normal(mean, sd)
    return a + b


def test_a_choice_that_stays_keeps_its_record():
    trace = whole(outer.generate((1,), init={"k": 1}, rng=1).trace)
    new = trace.edit({("x", 0): 0.25}).trace
    assert new.records["rate",] is trace.records["rate",]
    assert new.records["x", 0] is not trace.records["x", 0]


def test_an_execution_of_another_kind_makes_choices_in_its_own_way():
    class Special(Update):
        pass

    assert Special.makers.template is None and Update.makers.template is UPDATED
    assert {Simulate.makers.template, Assess.makers.template}.isdisjoint({None, UPDATED})


FAMILIES = [kind for kind in vars(gendsl).values() if isinstance(kind, type) and PLAIN_FAMILIES[kind]]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_every_family_keeps_its_parameters_under_the_names_of_its_constructor(family):
    values = {
        "low": 0.0, "high": 3.0, "p": 0.5, "theta": 0.5, "probs": (0.25, 0.75), "bounds": (0.0, 1.0, 2.0),
        "weights": (0.5, 0.5), "means": (0.0, 1.0), "vars": (1.0, 1.0),
    }  # fmt: skip
    arguments = [values.get(name, 2.0) for name in family.parameters]
    assert list(inspect.signature(family).parameters)[: len(arguments)] == list(family.parameters)
    made = family(*arguments)
    for name, argument in zip(family.parameters, arguments, strict=True):
        assert np.array_equal(getattr(made, name), argument)


# --- programs that are run by one call of the body ---------------------------------------------------


def test_what_is_wrong_with_the_choices_of_a_run_is_found():
    @gen
    def below(deep):
        "a" @ ~normal(0, 1)
        if deep:
            ("a", "b") @ ~normal(0, 1)

    @gen
    def called():
        "c" @ ~inner(1.0)
        ("c",) @ ~normal(0, 1)

    @gen
    def caught():
        "a" @ ~normal(0, 1)
        with contextlib.suppress(DuplicateAddressError):
            "a" @ ~normal(0, 1)

    class Odd(Distribution):
        checks_support = True
        support = property(lambda self: gendsl.supports.Real())
        __repr__ = lambda self: "Odd()"

        def sample(self, rng):
            return 0.5

        def logpdf(self, x):
            return math.nan if x == 0.25 else 0.0

    @gen
    def nan():
        x = ~Odd()

    for program, args, error in (
        (below, (True,), AddressConflictError), (called, (), AddressConflictError),
        (caught, (), DuplicateAddressError), (below, (1, 2), ArgumentError), (below, (), ArgumentError),
    ):  # fmt: skip
        mine, theirs = run(program, *args)
        assert program.compiled.runs_at_once
        assert type(mine) is type(theirs) is error and str(mine) == str(theirs)
    assert run(below, False)[0].choices == run(below, False)[1].choices
    found = []
    for program in (nan, nan.reference):
        with pytest.raises(NaNError) as failure:
            program.score_once((), {("x",): 0.25})
        found.append(str(failure.value))
    assert found[0] == found[1]


def test_a_type_error_of_the_body_is_not_taken_for_one_of_its_call():
    @gen
    def adds(x):
        return x + ("x" @ ~normal(0, 1))

    mine, theirs = run(adds, "a")
    assert type(mine) is type(theirs) is TypeError and str(mine) == str(theirs)


def test_arguments_that_the_body_changes_stay_as_they_were():
    @gen
    def takes(values):
        x = ~normal(values.pop(), 1)

    values = [1.0, 2.0]
    first, second = (takes.simulate_once((values,), np.random.default_rng(1)) for _ in range(2))
    assert values == [1.0, 2.0] and first.choices == second.choices
    assert not takes.compiled.runs_at_once


def test_methods_and_classmethods_run_as_on_the_reference_runtime():
    class Shifted:
        shift = 3.0

        @gen
        def drawn(self, sd):
            x = ~normal(self.shift, sd)
            return x

        @gen
        @classmethod
        def of_class(cls, sd):
            x = ~normal(cls.shift, sd)
            return x

        @classmethod
        @gen
        def inside_out(cls, sd):
            x = ~normal(cls.shift, sd)
            return x

    mine, theirs = run(Shifted.__dict__["inside_out"].__func__, 2.0)
    assert type(mine) is type(theirs) is ValueTypeError and str(mine) == str(theirs)
    for program in (Shifted().drawn, Shifted.of_class, Shifted().of_class):
        mine, theirs = run(program, 2.0)
        assert mine.choices == theirs.choices and mine.retval == theirs.retval == mine["x"]
        same(mine, theirs)
