"""Bodies whose choices are made by statements of their own make the choices of the reference runtime."""

import ast
import contextlib
import cProfile
import math
import os
import pstats

import autograd
import numpy as np
import pytest

import gendsl
from gendsl import beta, gen, normal, poisson, uniform, uniform_discrete
from gendsl.compiler import methods, spread
from gendsl.errors import (
    DuplicateAddressError,
    MissingChoiceError,
    ParameterError,
    UnsupportedSyntaxError,
    ValueTypeError,
)
from gendsl.runtime.at_once import body_at_once
from gendsl.runtime.executions import Simulate, ZeroProbability
from gendsl.runtime.records import PLAIN_FAMILIES

pytestmark = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME", "") != "", reason="the reference runtime makes choices in the usual way"
)

FAMILIES = [kind for kind in vars(gendsl).values() if isinstance(kind, type) and PLAIN_FAMILIES[kind]]
NUMBERS = (
    2.0, 0.5, 1, 0, 0.0, 1.0, -1.0, True, np.float64(0.75), np.int64(3), math.inf, math.nan, "a", [0.5],
    1e200, 1e307,
)  # fmt: skip
OTHERS = {
    "probs": [(0.25, 0.75), (1.0, 0.0), (0.5, 0.4)],
    "bounds": [(0.0, 1.0, 2.0), (0.0, 0.0, 1.0)],
}
VALUES = (
    0.5, 0.0, 1.0, -0.0, 1, 0, 2, True, False, -1, -3.5, 7.25, 1e300, math.nan, math.inf, -math.inf,
    10**400, np.float64(0.25), np.int64(1), np.array([0.5, 0.5]), "a",
)  # fmt: skip


def program_of(family):
    """A program of one choice from a family."""

    @gen
    def one(a):
        x = ~family(a)
        return x

    @gen
    def two(a, b):
        x = ~family(a, b)
        return x

    @gen
    def three(a, b, c):
        x = ~family(a, b, c)
        return x

    @gen
    def four(a, b, c, d):
        x = ~family(a, b, c, d)
        return x

    return (one, two, three, four)[len(family.parameters) - 1]


def arguments(family, rng):
    """Arguments of a family, of which now and then some are wrong."""
    usual = {"low": 0, "high": 3, "p": 0.5, "theta": 0.5, "mean": 0.5, "sd": 2.0}
    made = []
    for name in family.parameters:
        choices = OTHERS.get(name, [usual.get(name, 2.0), *NUMBERS])
        made.append(choices[0] if rng.random() < 0.5 else choices[rng.integers(len(choices))])
    return tuple(made)


def outcome(run):
    """What a run of a program gives: its records, or its error."""
    try:
        trace = run()
    except (Exception, ZeroProbability) as error:
        address = getattr(error, "address", None)
        location = getattr(error, "location", None)
        where = None if location is None else (location.lineno, location.columns)
        return type(error), str(error), address, where
    known = [(*record, type(record[0]), type(record[1])) for record in trace.records.values()]
    return list(trace.records), repr(known), trace.log_prob, trace.retval, trace.calls


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_every_family_is_drawn_and_scored_as_on_the_reference_runtime(family):
    program = program_of(family)
    rng = np.random.default_rng(1)
    assert program.compiled.runs_at_once
    failed = 0
    for seed in range(120):
        args = arguments(family, rng)
        generators = [np.random.default_rng(seed) for _ in range(2)]
        mine = outcome(lambda: program.simulate_once(args, generators[0]))
        theirs = outcome(lambda: program.reference.simulate(args, rng=generators[1]))
        assert mine == theirs
        assert generators[0].random() == generators[1].random()
        failed += isinstance(mine[0], type)
        values = {("x",): VALUES[rng.integers(len(VALUES))]}
        for stop in (False, True):
            mine, theirs = (
                outcome(lambda: p.score_once(args, values, stop_at_zero=stop))
                for p in (program, program.reference)
            )
            assert repr(mine) == repr(theirs)
    assert 0 < failed < 110


def text(statements):
    return "\n".join(ast.unparse(ast.fix_missing_locations(s)) for s in statements)


def test_all_methods_of_families_can_be_put_as_statements():
    called = []
    for family in FAMILIES:
        for name in ("sample", "at"):
            statements = methods.value_of(family, name, {}, "value", methods.Constants())
            if f"__gendsl_distribution__.{name}()" in text(statements):
                called.append((family.__name__, name))
    assert called == []


def both(program, *args, values=None):
    """The outcomes of a run at once and of one of the reference runtime."""
    found = []
    for function in (program, program.reference):
        if values is None:
            found.append(outcome(lambda: function.simulate_once(args, np.random.default_rng(3))))
        else:
            found.append(outcome(lambda: function.score_once(args, values, stop_at_zero=True)))
    assert repr(found[0]) == repr(found[1])
    return found[0]


@gen
def many_forms(n, deep=False):
    i: int = ~uniform_discrete(0, n - 1)
    a = b = "a" @ ~normal(i, 1.0)
    c, d = (("c", 2) @ ~normal(a, 1)), b
    if i > 1:
        ("c", 3) @ ~uniform(0.0, 1.0 + (e := "e" @ ~beta(2, 2)))
        a += e
    else:
        try:
            k = ~poisson(abs(a))
        finally:
            d = d + 1.0
        a += k
    f = ~normal(c + d, sd=2.0)
    if deep:
        "deeper" @ ~many_forms(n)
    return "last" @ ~normal(f, 1.0)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("deep", [False, True])
def test_choices_that_are_values_of_statements(n, deep):
    for seed in range(10):
        mine = many_forms.simulate_once((n, deep), np.random.default_rng(seed))
        theirs = many_forms.reference.simulate((n, deep), rng=seed)
        assert list(mine.records.items()) == list(theirs.records.items())
        assert mine.calls == theirs.calls and mine.retval == theirs.retval
        assert mine.log_prob == theirs.log_prob
        values = {path: record[1] for path, record in theirs.records.items()}
        assert many_forms.score_once((n, deep), values).log_prob == theirs.log_prob
        del values["last",]
        assert both(many_forms, n, deep, values=values)[0] is MissingChoiceError


def test_a_wrong_parameter_is_reported_where_it_stands():
    @gen
    def wrong(sd):
        y = "y" @ ~normal(0.0, 1.0)
        x = ~normal(y, sd)

    kind, _, address, (line, columns) = both(wrong, -1.0)
    assert kind is ParameterError and address == ("x",)
    assert line == wrong.compiled.original.__code__.co_firstlineno + 3 and columns is not None


def test_values_out_of_the_ordinary():
    @gen
    def some():
        i = ~uniform_discrete(0, 3)
        x = ~uniform(0, 1)

    assert both(some, values={("i",): 7, ("x",): 0.5})[0] is ZeroProbability
    assert both(some, values={("i",): 1.0, ("x",): 1})[0] == [("i",), ("x",)]
    assert both(some, values={("i",): 1, ("x",): math.nan})[0] is ZeroProbability
    assert both(some, values={("i",): "1", ("x",): 0.5})[0] is ValueTypeError


def test_two_choices_at_one_address():
    @gen
    def twice(caught):
        x = ~normal(0, 1)
        with contextlib.suppress(DuplicateAddressError if caught else KeyError):
            "x" @ ~normal(0, 1)

    for caught in (False, True):
        assert both(twice, caught)[0] is DuplicateAddressError
        assert both(twice, caught, values={("x",): 0.5})[0] is DuplicateAddressError


def test_a_choice_within_the_target_of_another():
    @gen
    def within():
        found = {}
        found["key" @ ~poisson(2.0)] = "a" @ ~normal(0, 1)
        return found

    both(within)


changing = normal


@gen
def changes():
    x = ~changing(0.0, 1.0)
    return x


@gen
def a_pair(mean, sd):
    a = ~normal(mean, sd)
    return a + ("b" @ ~normal(mean, sd))


def test_a_name_that_means_something_else_later(monkeypatch):
    both(changes)
    for other in (uniform, lambda mean, sd: normal(mean, sd) + 100, a_pair):
        monkeypatch.setitem(globals(), "changing", other)
        both(changes)
    assert changes.simulate_once((), np.random.default_rng(1)).calls


def test_bodies_that_see_their_variables_see_their_own():
    @gen
    def looks(n):
        x = ~normal(0, 1)
        return sorted(name for name in locals() if not name.startswith("__gendsl__"))

    both(looks, 2)
    assert looks.simulate_once((2,), np.random.default_rng(1)).retval == ["n", "x"]


def test_names_that_a_body_has_for_itself():
    log, inf, type = 2.0, 3.0, 4.0

    @gen
    def shadows(int, path, value):
        x = ~normal(log, inf)
        y = ~uniform_discrete(int, type)
        return path, value, int, x, y

    @gen
    def recursive(n):
        x = ~uniform(0, 1)
        if n > 0:
            "below" @ ~recursive(n - 1)

    class Base:
        __sd = 2.0

        def mean(self):
            return 1.0

    class Derived(Base):
        __sd = 3.0

        def mean(self):
            return 5.0

        @gen
        def drawn(self):
            x = ~normal(super().mean(), self.__sd)

    both(shadows, 0, "p", "v")
    both(recursive, 3)
    both(Derived().drawn)
    both(module_recursive, 3)


def test_signatures_of_all_kinds_and_variables_that_inner_functions_see():
    shift = 3.0

    @gen
    def signature(x, /, sd=2, *rest, scale=1.5, **more):
        y = ~normal(x + shift, sd * scale)
        z = ~uniform(*(0.0, 1.0))
        return y, rest, more, (lambda: [y for _ in rest])()

    for args in ((1.0,), (1.0, 2.0), (1.0, 2, 5, 6), (), (1.0, -2)):
        both(signature, *args)


@gen
def module_recursive(n):
    x = ~uniform(0, 1)
    if n > 0:
        "below" @ ~module_recursive(n - 1)


unknown_yet = None


def test_a_choice_in_a_nested_function_that_is_found_out_late(monkeypatch):
    @gen
    def nests():
        def inner():
            x = ~unknown_yet(0, 1)
            return x

        y = ~normal(0, 1)
        return inner()

    monkeypatch.setitem(globals(), "unknown_yet", normal)
    assert both(nests)[0] is UnsupportedSyntaxError


def test_parameters_that_autograd_traces_are_refused():
    @gen
    def counts(rate):
        x = ~poisson(rate)

    for program in (counts, counts.reference):
        with pytest.raises(ValueTypeError, match="logpdf must return one number"):
            autograd.grad(lambda rate: program.score_once((rate,), {("x",): 0}).log_prob)(0.0)


def test_there_may_be_many_choices(monkeypatch):
    monkeypatch.setattr(spread, "MOST", 1)

    @gen
    def several():
        a = ~normal(0, 1)
        b = ~normal(a, 1)
        return b

    both(several)
    names = body_at_once(several.compiled, Simulate).__code__.co_names
    assert "makers" in names and "sample" not in names


def test_a_method_without_text_is_called(monkeypatch):
    monkeypatch.setattr(methods.linecache, "getlines", lambda *_: [])
    statements = methods.made(normal, methods.Constants())
    statements += methods.value_of(normal, "at", {"x": methods.load("value")}, "score", methods.Constants())
    assert text(statements) == (
        "__gendsl_distribution__ = __gendsl_constant_0__(__gendsl_mean__, __gendsl_sd__)\n"
        "__gendsl_mean__ = __gendsl_distribution__.mean\n"
        "__gendsl_sd__ = __gendsl_distribution__.sd\n"
        "__gendsl_score__ = __gendsl_distribution__.at(__gendsl_value__)"
    )


def test_the_usual_choice_takes_no_call_of_its_own():
    @gen
    def usual(n):
        i = ~uniform_discrete(0, n - 1)
        x = ~normal(0, 1)
        y = ~normal(x, 1.0)
        u = ~uniform(0, x * x)

    rng = np.random.default_rng(1)
    values = {("i",): 1, ("x",): 0.5, ("y",): 0.25, ("u",): 0.125}
    for run in (lambda: usual.simulate_once((3,), rng), lambda: usual.score_once((3,), values)):
        run()
        profile = cProfile.Profile()
        profile.runcall(run)
        made = [key[2] for key in pstats.Stats(profile).stats if key[0] != "~"]
        assert not {"make", "at", "sample", "keep", "choose"} & set(made) and len(made) <= 8
