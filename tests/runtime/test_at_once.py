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
from gendsl import Distribution, bernoulli, beta, gen, normal, poisson, uniform, uniform_discrete
from gendsl.errors import (
    AddressConflictError,
    DuplicateAddressError,
    MissingChoiceError,
    NaNError,
    ParameterError,
    UnsupportedSyntaxError,
    ValueTypeError,
)
from gendsl.runtime.at_once import CONSTANTS, MAKING, body_at_once
from gendsl.runtime.executions import Assess, Simulate
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.lowering import methods, spread
from gendsl.runtime.records import PLAIN_FAMILIES
from gendsl.runtime.reexecutions import Update
from gendsl.supports import Real

pytestmark = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME", "") != "", reason="the reference runtime makes choices in the usual way"
)

FAMILIES = [
    kind
    for kind in vars(gendsl).values()
    if isinstance(kind, type) and PLAIN_FAMILIES[kind] and kind is not gendsl.flat  # which is never drawn
]
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
    statements = methods.made(normal, methods.Constants(), {})
    statements += methods.value_of(normal, "at", {"x": methods.load("value")}, "score", methods.Constants())
    assert text(statements) == (
        "__gendsl_distribution__ = __gendsl_constant_0__(__gendsl_mean__, __gendsl_sd__)\n"
        "__gendsl_mean__ = __gendsl_distribution__.mean\n"
        "__gendsl_sd__ = __gendsl_distribution__.sd\n"
        "__gendsl_score__ = __gendsl_distribution__.at(__gendsl_value__)"
    )


def test_the_usual_choice_takes_no_call_of_its_own(unwatched):
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
        assert not {"make", "at", "sample", "keep", "choose"} & set(made) and len(made) <= 9


@gen
def constants(n, x):
    a = ~normal(-1, 2.5)
    b = ~normal(x, -0.0 if n > 8 else 1.0)
    c = ~uniform_discrete(0, n)
    d = ~uniform_discrete(n, 10)
    e = ~beta(2, 1 / 2)
    f = ~normal(x, -(2.0 - 4))
    return a, b, c, d, e, f


ARGUMENTS = (3, 0.5), (0, 1), (10, 0.5), (11, 0.5), (-1, 0.5), (3.0, 0.5), (3, math.inf), (True, "a")


@pytest.mark.parametrize("n, x", ARGUMENTS)
def test_parameters_that_are_constants(n, x):
    both(constants, n, x)
    values = {("a",): 1.0, ("b",): 1.0, ("c",): 3, ("d",): 3, ("e",): 0.5, ("f",): 1.0}
    both(constants, n, x, values=values)
    both(constants, n, x, values={**values, ("d",): 11})
    both(constants, n, x, values={**values, ("e",): 1.0})


def bad_constants():
    @gen
    def negative():
        x = ~normal(0, -1)

    @gen
    def half(mean):
        x = ~normal(mean, -1.0)

    @gen
    def empty():
        x = ~uniform_discrete(3, 2)

    @gen
    def words():
        x = ~bernoulli("a")

    @gen
    def computed():
        x = ~normal(0, 1 / 2 - 3 * 2)

    return [(negative, ()), (half, (0.5,)), (empty, ()), (words, ()), (computed, ())]


@pytest.mark.parametrize("number", range(5))
def test_constants_that_are_no_parameters_are_said_to_be_where_the_choice_is_made(number):
    program, args = bad_constants()[number]
    assert both(program, *args)[0] is ParameterError


def test_an_error_of_constant_arithmetic_is_raised_where_the_choice_is_made():
    @gen
    def by_nothing():
        x = ~normal(0, 1 / 0)

    assert both(by_nothing)[0] is ZeroDivisionError


def test_constants_are_kept_as_they_are_or_as_the_family_has_them():
    @gen
    def kept():
        a = ~normal(0.0, 1)
        b = ~normal(-0.0, 1)
        c = ~normal(0, 1.0)
        d = ~uniform_discrete(0.0, 3)
        e = ~poisson(True)

    both(kept)
    shown = [[*map(repr, trace.records.values())] for trace in (
        kept.simulate_once((), np.random.default_rng(1)), kept.reference.simulate((), rng=1)
    )]  # fmt: skip
    assert shown[0] == shown[1]
    again = [kept.simulate_once((), np.random.default_rng(i)).records["a",][0] for i in range(2)]
    assert again[0] is again[1]


class OfAnotherType(np.random.Generator):
    def standard_normal(self):
        return np.float64(super().standard_normal())


def test_a_draw_of_another_type():
    @gen
    def one():
        x = ~normal(0, 1)

    mine = one.simulate_once((), OfAnotherType(np.random.PCG64(1)))
    traces = [mine, one.reference.simulate((), rng=OfAnotherType(np.random.PCG64(1)))]
    assert traces[0].log_prob == traces[1].log_prob and -math.inf < traces[0].log_prob < 0.0
    assert [*map(type, traces[0].records["x",])] == [*map(type, traces[1].records["x",])]


def collisions():
    @gen
    def in_a_loop(n):
        for _ in range(n):
            x = ~normal(0, 1)

    @gen
    def in_another_loop(n):
        while n > 0:
            n -= 1
            x = ~normal(0, 1)

    @gen
    def in_a_list(n):
        return ["x" @ ~normal(0, 1) for _ in range(n)]

    @gen
    def with_a_dynamic_one(n):
        if n > 1:
            ("xyz"[0],) @ ~normal(0, 1)
        x = ~normal(0, 1)

    @gen
    def with_a_deeper_one(n):
        ("x", 1) @ ~normal(0, 1)
        if n > 1:
            ("x", n - 1) @ ~normal(0, 1)

    @gen
    def below(n):
        x = ~normal(0, 1)

    @gen
    def with_a_splice(n):
        if n > 1:
            ... @ ~below(n)
        x = ~normal(0, 1)

    @gen
    def with_a_call(n):
        ("y", "x") @ ~normal(0, 1)
        if n > 1:
            y = ~below(n)

    @gen
    def in_both(n):
        if n:
            x = ~normal(0, 1)
        if n != 1:
            "x" @ ~normal(0, 1)

    return [value for value in locals().values() if value is not below]


@pytest.mark.parametrize("number", range(8))
def test_a_second_choice_at_an_address_is_found_wherever_there_may_be_one(number):
    program = collisions()[number]
    values = {("x",): 0.5, ("x", 1): 0.5, ("y", "x"): 0.5}
    for one in (program, program.reference):
        for run in (
            lambda n: one.simulate_once((n,), np.random.default_rng(1)),
            lambda n: one.score_once((n,), values),
            lambda n: one.simulate((1,), rng=1).edit({("x",): 0.25, ("y", "x"): 0.25}, args=(n,)).trace,
        ):
            assert outcome(lambda: run(1))[0] is not DuplicateAddressError
            assert outcome(lambda: run(2))[0] is DuplicateAddressError


def test_only_a_choice_that_may_have_the_address_of_another_is_looked_for():
    @gen
    def alone(n):
        x = ~normal(0, 1)
        if n > 3:
            y = ~normal(x, 1)
        else:
            y = ~normal(x, 2)
        "z" @ ~normal(x, 1)

    asked = "__gendsl_path__ in __gendsl_records__"
    for kind, count in ((Simulate, 2), (Assess, 2), (Update, 8)):  # in an update, for either of two records
        spreader = spread._Spreader(alone.compiled.origin, MAKING[kind], CONSTANTS)
        made = spread.rewritten(alone.compiled.origin, spreader, first=True)
        assert text(made.body).count(asked) == count


class Undefined(Distribution):
    support = Real()

    def sample(self, rng):
        return 0.5

    def logpdf(self, x):
        return math.nan

    def __repr__(self):
        return "Undefined()"


def test_what_is_wrong_with_all_choices_together():
    @gen
    def below(n):
        x = ~normal(0, 1)

    @gen
    def namespaces(n):
        x = ~normal(0, 1)
        if n > 0:
            ("x", 1) @ ~normal(0, 1)

    @gen
    def calls(n):
        x = ~normal(0, 1)
        if n > 0:
            "x" @ ~below(n)

    @gen
    def undefined(n):
        x = ~(Undefined() if n > 0 else normal(0, 1))

    values = {("x",): 0.5, ("x", 1): 0.5, ("x", "x"): 0.5}
    wrong = {namespaces: AddressConflictError, calls: AddressConflictError, undefined: NaNError}
    for program in wrong:
        for given in (None, values):
            assert both(program, 0, values=given)[0] == [("x",)]
            assert both(program, 1, values=given)[0] is wrong[program]
