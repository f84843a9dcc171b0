"""Edits whose choices are made again by statements of the body are those of the reference runtime."""

import contextlib
import cProfile
import math
import os
import pstats

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, note, settings

from gendsl import Distribution, bernoulli, choicemap, dirichlet, gamma, gen, normal, poisson, uniform
from gendsl.errors import (
    AddressConflictError,
    DuplicateAddressError,
    InvalidAddressError,
    MissingChoiceError,
    NaNError,
    ParameterError,
    ValueTypeError,
)
from gendsl.runtime import groups, small, trace
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.groups import GroupBlock
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.lowering import spread
from gendsl.runtime.trace import ReferenceTrace
from gendsl.supports import Real
from tests.laws.generated import loaded, sources
from tests.runtime.test_at_once import FAMILIES, VALUES, arguments
from tests.runtime.test_groups import MODELS

pytestmark = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME", "") != "", reason="about what is done by default"
)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(small, "CHOICES", 24)


@pytest.fixture
def quick(monkeypatch):
    """Counts the edits that were made by statements, and those that went the usual way."""
    counts = {True: 0, False: 0}

    def counted(owner, name):
        made = getattr(owner, name)

        def count(*args):
            found = made(*args)
            counts[found is not None] += 1
            return found

        monkeypatch.setattr(owner, name, count)

    counted(trace, "executed_again")
    counted(GroupBlock, "_executed_again")
    return counts


def outcome(trace, values, stop_at_zero):
    """What an edit gives, or its error."""
    try:
        new, weight, removed, remeasured = trace.edit(values, stop_at_zero=stop_at_zero)
    except (Exception, ZeroProbability) as error:
        location = getattr(error, "location", None)
        path = error.path if type(error) is ZeroProbability else getattr(error, "address", None)
        return type(error), getattr(error, "problem", str(error)), path, location and location.lineno
    known = {path: (record, type(record[0]), type(record[1])) for path, record in new.records.items()}
    return new, repr(known), list(new.records), repr(removed), remeasured.keys(), weight


def agree(trace, values, stop_at_zero=True):
    """Compare an edit on both runtimes; the new trace, or the class of the error."""
    before = repr(dict(trace.records.items())), trace.log_prob
    reference = trace.gen_fn.reference.score(trace.args, {p: r[1] for p, r in trace.records.items()})
    reference.observed_paths = frozenset(trace.observed_paths)
    mine, theirs = (outcome(t, dict(values), stop_at_zero) for t in (trace, reference))
    assert (repr(dict(trace.records.items())), trace.log_prob) == before
    if isinstance(mine[0], type):
        assert mine == theirs
        return mine[0]
    assert mine[1:-1] == theirs[1:-1]
    if abs(trace.log_prob) + abs(mine[0].log_prob) < 1e7:  # or the reference has no digits left
        assert mine[-1] == pytest.approx(theirs[-1], rel=1e-9, abs=1e-9)
    new, other = mine[0], theirs[0]
    assert new.log_prob == pytest.approx(other.log_prob, rel=1e-12)
    assert repr(new.retval) == repr(other.retval) and dict(new.calls) == dict(other.calls)
    assert frozenset(new.observed_paths) == frozenset(other.observed_paths)
    return new


# --- families ----------------------------------------------------------------------------------------


def program_of(family, table):
    """A choice among arguments of a family, a choice from it, and data."""
    if len(family.parameters) == 1:

        @gen
        def program(n):
            i = ~poisson(1)
            x = ~family(table[i][0])
            for t in range(n):
                ("y", t) @ ~normal(i, 1.0)

    elif len(family.parameters) == 2:

        @gen
        def program(n):
            i = ~poisson(1)
            x = ~family(table[i][0], table[i][1])
            for t in range(n):
                ("y", t) @ ~normal(i, 1.0)

    elif len(family.parameters) == 3:

        @gen
        def program(n):
            i = ~poisson(1)
            x = ~family(table[i][0], table[i][1], table[i][2])
            for t in range(n):
                ("y", t) @ ~normal(i, 1.0)

    else:

        @gen
        def program(n):
            i = ~poisson(1)
            x = ~family(table[i][0], table[i][1], table[i][2], table[i][3])
            for t in range(n):
                ("y", t) @ ~normal(i, 1.0)

    return program


def is_drawn(family, given):
    """Whether arguments are such that one can draw."""
    try:
        family(*given).sample(np.random.default_rng(1))
    except Exception:
        return False
    return True


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_every_family_is_scored_as_on_the_reference_runtime(family, quick, unwatched):
    rng = np.random.default_rng(2)
    table = [arguments(family, rng) for _ in range(8)]
    while not is_drawn(family, table[0]):
        table[0] = arguments(family, rng)
    model = program_of(family, table)
    for n in (0, 60):  # executed as a whole, and in a group
        trace = model.generate((n,), init={"i": 0}, rng=1).trace
        before = quick[True]
        for _ in range(16):
            values = {("i",): int(rng.integers(8))} if rng.random() < 0.7 else {}
            if not values or rng.random() < 0.4:
                values[("x",)] = VALUES[rng.integers(len(VALUES))]
            new = agree(trace, values, stop_at_zero=bool(rng.random() < 0.5))
            if not isinstance(new, type) and abs(new.log_prob) < 1e6:
                trace = new
        assert quick[True] > before


# --- forms of bodies ---------------------------------------------------------------------------------


class laplace_like(Distribution):
    """A distribution of a user's."""

    parameters = ("loc",)

    def __init__(self, loc):
        self.loc = loc

    @property
    def support(self):
        return Real()

    def sample(self, rng):
        return self.loc + rng.laplace()

    def logpdf(self, x):
        return -abs(x - self.loc) - math.log(2)


@gen
def inner(scale, *, more=0):
    u = ~normal(0, scale)
    return [("v", i) @ ~laplace_like(u) for i in range(1 + more)]


@gen
def many_forms():
    k = ~poisson(2)
    j = 3
    a = [("a", j) @ ~normal(j, 1.0) for j in range(k)]
    pairs = [("b", i, j) @ ~uniform(-9 - i, 9 + j) for i in range(2) for j in range(k) if (i + j) % 2]
    c = [("c", m, n) @ ~laplace_like(m + n) for m, n in zip(a, range(j), strict=False)][:2]
    d = []
    for i in range(k):
        d.append(("d", i) @ ~normal(sum(a), 2))
    e: float = ~normal(0, 1)
    f, g = {}, [0.0] * 3
    f["x"] = ~gamma(2.0, 1.0 + k)
    g[j - 1] = ~normal(0, 1)
    g[1] = ~normal(g[2], f["x"])
    spliced = ... @ ~inner(1.0 + k, more=k)
    called = "call" @ ~inner(f["x"])
    kind = normal if k else laplace_like
    h = "h" @ ~(normal(0, 1) if k else laplace_like(2.0))
    w = ~dirichlet([1.0] * (1 + k))
    nested = [[("n", r, s) @ ~normal(r, 1) for s in range(2)] for r in range(k)]
    named = {r: ("m", r) @ ~bernoulli(0.3) for r in range(k)}
    last = "last" @ ~normal(("in", "it") @ ~normal(0, 1), 1.0) + 1
    return a, pairs, c, d, e, f, g, spliced, called, kind, h, w, nested, named, last, j


def random_edit(trace, rng, **share):
    """Values of another trace for some choices, and for all that are not in this one.

    Args:
        share: which share of the choices below an address, if not 0.3.
    """
    other = trace.gen_fn.simulate(trace.args, rng=rng)
    values = {}
    for path, record in other.records.items():
        if path not in trace.records or path in (("k",), ("w",)) or rng.random() < share.get(path[0], 0.3):
            values[path] = record[1]
    return values


@pytest.mark.parametrize("most", [0, 3, 100])
def test_forms_of_bodies(most, monkeypatch, quick):
    monkeypatch.setattr(spread, "MOST", most)
    monkeypatch.setattr(small, "CHOICES", 200)
    for program in (many_forms, inner):  # made anew, for each number of choices made by statements
        program.compiled.at_once.clear()
    rng = np.random.default_rng(3)
    trace = many_forms.simulate((), rng=1)
    assert type(trace) is ReferenceTrace
    for _ in range(25):
        trace = agree(trace, random_edit(trace, rng))
        assert not isinstance(trace, type)
    assert quick[True] == 25
    for program in (many_forms, inner):
        program.compiled.at_once.clear()


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_groups(model, quick, unwatched):
    rng = np.random.default_rng(4)
    for seed in range(3):
        trace = model.simulate(MODELS[model][0], rng=seed)
        for _ in range(4):
            before = trace
            structure = before.structure
            trace = agree(before, random_edit(before, rng, x=0.02, y=0.02, d=0.02, z=0.02))
            assert (trace.structure is structure) == (set(trace.choices) == set(before.choices))
            called = trace._called
            assert called.linked.groups == groups._groups(called.linked, called.frame)
            assert type(trace) is CompiledTrace
            values = {path: record[1] for path, record in trace.records.items()}
            assert trace.choices == model.reference.score(trace.args, values).choices
            assert trace._count in (-1, len(values))
    assert quick[True] > 2


@gen
def changeable(n):
    k = ~poisson(1)
    x = "x" @ ~(normal(0, 1) if k < 2 else poisson(2.0) if k == 2 else laplace_like(0.0))
    w = ~dirichlet([1.0] * (2 + (k == 3)))
    for i in range(n):
        ("y", i) @ ~normal(k, 1)


@pytest.mark.parametrize("n", [0, 60], ids=["alone", "group"])
def test_other_measures(n, quick):
    trace = changeable.generate((n,), init={"k": 0, "x": 2.0}, rng=1).trace
    found = {}
    for k in range(1, 4):
        new = agree(trace, {("k",): k}, stop_at_zero=False)
        found[k] = {path[0] for path in trace.edit({("k",): k}).remeasured}
    assert found == {1: set(), 2: {"x"}, 3: {"w"}}
    assert quick[True] > 2


@gen
def by_halves(n):
    """A choice of a family of numbers of the same type, discrete or not."""
    k = ~poisson(1)
    if k > 1:
        x = ~normal(0, 1)
    else:
        x = ~(0.5 * poisson(2.0))
    for i in range(n):
        ("y", i) @ ~normal(k, 1)


@pytest.mark.parametrize("most", [0, 16])
def test_a_family_in_place_of_a_discrete_one(most, monkeypatch, quick):
    monkeypatch.setattr(spread, "MOST", most)
    by_halves.compiled.at_once.clear()
    for n in (0, 60):
        trace = by_halves.generate((n,), init={"k": 0, "x": 1.5}, rng=1).trace
        for k, remeasured in ((1, []), (2, ["x"]), (3, [])):
            found = trace.edit({("k",): k}).remeasured
            assert [path[0] for path in found] == remeasured
            assert [path[0] for path in trace.edit(choicemap({"k": k})).remeasured] == remeasured
            trace = agree(trace, {("k",): k}, stop_at_zero=False)
    by_halves.compiled.at_once.clear()


@pytest.mark.parametrize("n", [0, 60], ids=["alone", "group"])
def test_values_are_kept_as_those_of_a_draw(n, quick):
    trace = changeable.generate((n,), init={"k": 3, "x": 2.0}, rng=1).trace
    short = changeable.generate((n,), init={"k": 0, "x": 2.0}, rng=1).trace
    few = np.float32([0.25, 0.75])
    for start, w in ((trace, [0.5, 0.25, 0.25]), (short, np.array([1, 0])), (short, few)):
        assert agree(start, {("w",): w, ("x",): 1}).records[("w",)][1].dtype == float
    assert quick[True] == 3


def test_observations_that_are_gone(quick):
    @gen
    def optional():
        k = ~poisson(1)
        return [("x", i) @ ~normal(0, 1) for i in range(k)]

    trace = optional.generate((), {("x", 0): 0.25, ("x", 1): 0.5}, init={"k": 2}, rng=1).trace
    assert frozenset(agree(trace, {("k",): 1}).observed_paths) == {("x", 0)}
    assert quick[True] == 1


@settings(
    max_examples=5, derandomize=True, deadline=None, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(sources())
def test_generated_programs(texts):
    note(texts[0])
    with loaded(texts) as program:
        assume(all(len(program.model.simulate(args, rng=1).choices) < 60 for args in program.args))
        rng = np.random.default_rng(1)
        for args in program.args:
            trace = program.model.simulate(args, rng=2)
            whole = trace.whole() if type(trace) is CompiledTrace else trace
            for _ in range(2):
                values = random_edit(whole, rng)
                for start in {id(t): t for t in (trace, whole)}.values():
                    agree(start, values, stop_at_zero=False)


# --- what is out of the ordinary -----------------------------------------------------------------------

kind_of = normal


@gen
def odd(n):
    k = ~poisson(1)
    x = [("x", i) @ ~normal(i, 0.5 - k / 4) for i in range(2)]
    y = "y" @ ~uniform(0.0, 1.0)
    z = "z" @ ~kind_of(0, 1)
    if k == 1:
        ("y", "below") @ ~normal(0, 1)
    for i in range(n):
        ("data", i) @ ~normal(x[0], 1)
    return x


@pytest.mark.parametrize("n", [0, 60], ids=["alone", "group"])
@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({("k",): 2}, ParameterError),
        ({("k",): 1}, MissingChoiceError),
        ({("k",): 1, ("y", "below"): 0.5}, AddressConflictError),
        ({("k",): -1}, ZeroProbability),
        ({("y",): 2.0}, ZeroProbability),
        ({("y",): math.nan}, ZeroProbability),
        ({("x", 1): "a"}, ValueTypeError),
        ({("x", 1): np.array([0.5, 1.0])}, ValueTypeError),
    ],
    ids=["parameter", "missing", "conflict", "negative", "outside", "nan", "text", "array"],
)  # fmt: skip
def test_errors_are_those_of_the_reference_runtime(values, error, n):
    trace = odd.generate((n,), init={"k": 0}, rng=4).trace
    assert agree(trace, values) is error


def test_a_trace_of_density_zero_goes_the_usual_way():
    trace = odd.generate((0,), init={"k": 0}, rng=4).trace.edit({("y",): 2.0}).trace
    assert trace.log_prob == -math.inf
    assert agree(trace, {("y",): 3.0}, stop_at_zero=False) is NaNError
    back = agree(trace, {("y",): 0.5}, stop_at_zero=False)
    assert math.isfinite(back.log_prob)


def test_a_name_that_means_something_else_later(monkeypatch):
    trace = odd.generate((0,), init={"k": 0}, rng=4).trace
    assert not isinstance(agree(trace, {("z",): 0.5}), type)
    for other, remeasured in (
        (lambda mean, sd: laplace_like(mean + 3), []), (lambda mean, sd: poisson(2.0), [("z",)]),
        (lambda mean, sd: normal(0, 1), []), (uniform, []),
    ):  # fmt: skip
        monkeypatch.setitem(globals(), "kind_of", other)
        edit = trace.edit({("y",): 0.5})
        values = {path: record[1] for path, record in edit.trace.records.items()}
        theirs = odd.reference.score((0,), values)
        assert edit.trace.log_prob == theirs.log_prob and edit.trace.records == theirs.records
        assert list(edit.remeasured) == remeasured


def test_two_choices_at_one_address_and_addresses_that_are_none():
    @gen
    def twice():
        k = ~poisson(1)
        found = [("x", i % (3 - k)) @ ~normal(0, 1) for i in range(2)]
        part = [] if k == 3 else 1
        (part, 2) @ ~normal(0, 1)
        return found

    trace = twice.generate((), init={"k": 0}, rng=1).trace
    assert agree(trace, {("k",): 2}) is DuplicateAddressError
    assert agree(trace, {("k",): 3}) is not None
    trace = twice.generate((), init={"k": 1}, rng=1).trace
    assert agree(trace, {("k",): 3}) in (ZeroDivisionError, InvalidAddressError)


def test_errors_that_a_body_catches():
    @gen
    def catches():
        k = ~poisson(1)
        try:
            x = ~normal(0, 2.0 - k)
        except ParameterError:
            x = "other" @ ~normal(0, 1)
        with contextlib.suppress(DuplicateAddressError):
            "x" @ ~normal(x, 1) if k == 1 else None
        return x

    trace = catches.generate((), init={"k": 0}, rng=1).trace.whole()
    assert agree(trace, {("k",): 2, ("other",): 0.5})["other"] == 0.5
    assert agree(trace, {("k",): 1}) is DuplicateAddressError


def test_bodies_that_see_their_variables_see_their_own():
    @gen
    def looks():
        x = ~normal(0, 1)
        y = [("y", i) @ ~normal(x, 1) for i in range(2)]
        return sorted(name for name in locals() if not name.startswith("__gendsl__")), y

    agree(looks.simulate((), rng=1), {("x",): 0.5})


def test_variables_of_comprehensions_are_their_own(quick):
    @gen
    def shadows():
        i = 5
        x = [("x", i) @ ~normal(i, 1) for i in range(2)]
        y = [("y", i, k) @ ~normal(i, 1) for i in range(i - 3) for k in [i]]
        return i, x, y, [i for _ in x], (lambda: i)()

    agree(shadows.simulate((), rng=1), {("x", 1): 0.5})
    assert shadows.simulate((), rng=1).edit({("x", 1): 0.5}).trace.retval[0] == 5
    assert quick[True] == 2


def test_an_argument_that_the_body_changes_goes_the_usual_way():
    @gen
    def changes(xs):
        xs.append(1.0)
        x = ~normal(sum(xs), 1)
        return list(xs)

    trace = changes.simulate(([0.5],), rng=1)
    for _ in range(3):
        trace = agree(trace, {("x",): 0.5})
        assert trace.retval == [0.5, 1.0]


def test_the_usual_choice_takes_no_call_of_its_own(unwatched):
    @gen
    def usual():
        k = ~poisson(2)
        x = [("x", i) @ ~normal(0, 1 + k) for i in range(4)]
        y = ~uniform(-9.0 - k, 9.0)
        return x, y

    trace = usual.simulate((), rng=1)
    trace.edit({("k",): 1})
    profile = cProfile.Profile()
    profile.runcall(lambda: trace.edit({("k",): 3, ("x", 1): 0.5}))
    made = [key[2] for key in pstats.Stats(profile).stats if key[0] != "~"]
    assert not {"make", "at", "again", "keep", "choose"} & set(made) and len(made) <= 16
