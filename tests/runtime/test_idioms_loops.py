"""Loops, conditions and what they go through, as Python allows them, mean on both runtimes the same."""

import ast
from itertools import groupby, product
from operator import itemgetter

import numpy as np
import pytest

from gendsl import bernoulli, categorical, gamma, gen, normal, uniform_discrete
from gendsl.lang.source import find_source
from gendsl.runtime import column_loops, small
from gendsl.runtime.lowering.lower import lower
from tests.runtime.idioms import SEEDS, Programs, kept_as

PROGRAMS = Programs()
written = PROGRAMS.written


# --- assignments in conditions ---------------------------------------------------------------------


@written()
@gen
def assigned_in_conditions(n):
    top = -1.0
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    doubled = [y for x in xs if (y := x * 2) > 0]
    if (top := max(xs)) > 0.5:
        ("above", 0) @ ~normal(top, 1)
    if (low := min(xs)) + (high := top + 1) > 0:
        ("between", 0) @ ~normal(high - low, 1)
    return doubled, top


# --- indices that a loop writes at -----------------------------------------------------------------


@written()
@gen
def several_indices(n):
    m = np.zeros((n, 2))
    for ij in np.ndindex(n, 2):
        m[ij] = ("m", *ij) @ ~normal(0, 1)
    k = np.zeros((n, 2))
    for ij in product(range(n), range(2)):
        k[ij] = ~normal(m[ij], 1)
    for i in range(n):
        ("y", i) @ ~normal(m[i, 0] - k[i, 1], 1)
    return m


@written()
@gen
def masks_and_slices(n):
    a = np.zeros(3)
    for mask in (False, True):
        a[mask] = ~normal(0, 1)
    ("y", 0) @ ~normal(a[0] + 2 * a[1], 1)
    b = [0.0] * 4
    for t, part in enumerate((slice(0, 1), slice(1, 3))):
        b[part] = [("b", t) @ ~normal(len(b), 1)]
    ("y", 1) @ ~normal(b[1] + len(b), 1)
    return a, b


@written()
@gen
def fields(n):
    table = np.zeros(n, dtype=[("mean", float), ("number", int)])
    for name in ("mean", "number"):
        table[name] = ("table", name) @ ~normal(3, 1)
    ("y", 0) @ ~normal(table["mean"].sum() + table[0]["number"], 1)
    return table["mean"].copy()


@written()
@gen
def indices_more_than_once(n):
    a = [0.0] * 3
    for t, i in enumerate([0, 1, 0, 2, 1]):
        a[i] = ("a", t) @ ~normal(0, 1)
    b = [0.0] * 3
    for i in range(-2, 3):
        b[i] = ~normal(0, 1)
    for i in range(3):
        ("y", i) @ ~normal(a[i] - b[i], 1)
    return a, b


@written(3, 2, 5, 60)
@gen
def keys_that_are_drawn(n):
    z = [("z", i) @ ~categorical([0.4, 0.3, 0.3]) for i in range(n)]
    last = {z[i]: ("x", i) @ ~normal(0, 1) for i in range(n)}
    for k in last:
        ("y", k) @ ~normal(last[k], 1)
    return last


@written()
@gen
def counts_from_a_numpy_integer(n):
    x = np.array([("x", i) @ ~normal(0, 1) for i in range(n)])
    found = []
    for i, value in enumerate(x, x.argmax()):
        ("y", i) @ ~normal(value, 1)
        found.append(i)
    return found


# --- lengths ---------------------------------------------------------------------------------------


@written(4, 2)
@gen
def lengths_and_entries(n):
    mu = [("mu", j) @ ~normal(0, 1) for j in range(3)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, len(mu) - 1)
        ("x", i) @ ~normal(mu[z], 1)
    for i in range(n):
        for j in range(len(mu)):
            ("y", i, j) @ ~normal(mu[j] + len(mu), 1)


def test_a_loop_that_reads_a_length_too_gets_shorter():
    model = kept_as(lengths_and_entries, columns_from=2)
    trace = model.simulate((6,), rng=1)
    longer = trace.update({("mu", 0): 4.0}).trace
    shorter = longer.update(args=(3,)).trace
    assert shorter.log_prob == pytest.approx(model.assess((3,), shorter.choices).log_prob)


# --- targets ---------------------------------------------------------------------------------------


@written()
@gen
def all_but_the_first(n):
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    for i, *rest in enumerate(xs):
        ("y", i) @ ~normal(sum(rest), 1)
    for i, (x, *others) in enumerate(zip(xs, xs[2:], strict=False)):
        ("z", i) @ ~normal(x - sum(others), 1)
    return [others for _, *others in zip(xs, xs, strict=True)]


# --- declarations ----------------------------------------------------------------------------------

z = 7.0  # not what the program declares


@written()
@gen
def declared_variables(n):
    y: float
    y = ~normal(0, 1)
    total: float = 0.0
    for i in range(n):
        x: float
        x = ("x", i) @ ~normal(y, 1)
        total += x
    if y > 0:
        u: float
        u = ("u", "arm") @ ~normal(total, 1)
        y: float
    while True:
        v: float
        v = ("v", 0) @ ~normal(total, 1)
        break
    try:
        ("w", 0) @ ~normal(y + v + z, 1)  # noqa: F823
    except UnboundLocalError:
        ("w", 1) @ ~normal(y + v, 1)
    z: float  # noqa: F842
    return total


# --- dicts -----------------------------------------------------------------------------------------


@gen
def entries(given, first):
    x = ~normal(given[first], 1)
    for key in given:
        ("entry", key) @ ~normal(given[key] + x, 1)


@written(({"a": 1.0, "b": 2.0},), ({"a": 1.0, "b": 3.0},), ({"b": 1.0, "a": 3.0},), ({"a": 1.0},))
@gen
def keys_of_dicts(given):
    x = ~normal(0, 1)
    for key in given:
        ("y", key) @ ~normal(given[key] + x, 1)
    own = {"b": x, "c": 0.5}
    "own" @ ~entries(own, "c")
    for key in own:
        ("again", key) @ ~entries(own, key)


# --- what gives its elements one after another -----------------------------------------------------


def windows(values):
    """One list, which changes."""
    window = []
    for value in values:
        window.append(value)
        if len(window) > 2:
            window.pop(0)
        yield window


def pairs(values):
    for i, value in enumerate(values):
        for other in values[:i]:
            yield value, other


@written(((1.0, 2.0, 3.0), windows), ((0.5, 1.5), pairs))
@gen
def generators(data, parts):
    mu = ~normal(0, 1)
    j = 0
    for window in windows(data):
        ("w", j) @ ~normal(sum(window) + mu, 1)
        j += 1  # noqa: SIM113
    for i, part in enumerate(parts(data)):
        ("p", i) @ ~normal(len(part) + sum(part), 1)
    for i, (a, b) in enumerate(pairs(data)):
        ("q", i) @ ~normal(a - b + mu, 1)


@written(((0, 1.0), (0, 2.0), (1, 3.0)), ((0, 0.5), (1, 1.5)))
@gen
def groups(*data):
    mu = ~normal(0, 1)
    z = [("z", i) @ ~categorical([0.4, 0.3, 0.3]) for i in range(len(data))]
    for k, group in groupby(sorted(z)):
        ("size", k) @ ~normal(len(list(group)), 1)
    for k, group in groupby(data, key=itemgetter(0)):
        m = ("m", k) @ ~normal(mu, 1)
        for i, (_, value) in enumerate(group):
            ("y", k, i) @ ~normal(m + value, 1)
    return [("l", k) @ ~normal(len(list(group)), 1) for k, group in groupby(sorted(z))]


# --- things of one length --------------------------------------------------------------------------


@written((3, [1.0, 2.0, 3.0]), (3, (0.5, 2.0)), (4, np.array([0.5, 0.1, 0.2, 0.3])), (2, [0.5, 0.1, 0.2]))
@gen
def of_one_length(n, xs):
    slope = ~normal(0, 1)
    zs = [("z", i) @ ~normal(x, 1) for i, x in zip(range(n), xs, strict=True)]
    for i, (x, z) in enumerate(zip(xs, zs, strict=True), start=1):
        ("y", i) @ ~normal(slope * x + z, 1)
    for x, (i, z) in zip(xs, enumerate(zs), strict=True):
        ("w", i) @ ~normal(x * z, 1)
    for x, (z, w) in zip(xs, zip(zs, xs, strict=False), strict=True):
        ("v", z) @ ~normal(x * w, 1)
    return zs


@written()
@gen
def of_lengths_that_are_drawn(n):
    k = ~uniform_discrete(1, 4)
    a = [("a", i) @ ~normal(0, 1) for i in range(n)]
    b = [("b", i) @ ~normal(0, 1) for i in range(k)]
    for _, (x, y) in zip(range(2), zip(a, b, strict=True), strict=False):
        ("few", x) @ ~normal(y, 1)
    for i, x, y in zip(range(n), a, b, strict=True):
        ("c", i) @ ~normal(x * y, 1)


@written((3, [1.0, 2.0, 3.0]), (3, [1.0, 0.0, 3.0]), (2, [0.0, 0.1, 0.2]))
@gen
def ended_before_an_error(n, xs):
    for v in (1 / x for x in xs):
        if ("inverse", v) @ ~bernoulli(0.5):
            break
    for v in map((1.0).__truediv__, xs):
        if ("quotient", v) @ ~bernoulli(0.5):
            break
    for i, x in zip(range(n), xs, strict=True):
        if ("length", i) @ ~bernoulli(0.5):
            break
        ("y", i) @ ~normal(x, 1)


# --- choices that say what is assigned to -----------------------------------------------------------


@written()
@gen
def chosen_targets(n):
    xs, rows = [0.0, 0.0], {}
    xs["first" @ ~bernoulli(0.5)] = 3.0
    xs["at" @ ~bernoulli(0.5)] = "value" @ ~normal(0, 1)
    a, xs["also" @ ~bernoulli(0.5)] = "b" @ ~normal(0, 1), 2
    c = xs[0] = rows["c", "j" @ ~bernoulli(0.5)] = "d" @ ~normal(a, 1)
    counts = [0, 0, 0]
    for i in range(n):
        xs[("k", i) @ ~bernoulli(0.5)] = ~normal(xs[0], 1)
        xs[("l", i) @ ~bernoulli(0.5)] += ("m", i) @ ~normal(0, 1)
        counts[("z", i) @ ~uniform_discrete(0, 2)] += 1
        ("y", i) @ ~normal(xs[0] + counts[1], 1)
    return xs, a, c, rows, counts


# --- what follows a loop that isn't broken off ------------------------------------------------------


@written()
@gen
def the_next_one_otherwise(n):
    for i in range(n):
        for j in range(2):
            if ("hit", i, j) @ ~bernoulli(0.5):
                break
        else:
            continue
        ("y", i) @ ~normal(j, 1)
    i = 0
    while i < n:
        i += 1
        z = ("z", i) @ ~uniform_discrete(0, 3)
        for j in range(3):
            if j == z:
                break
        else:
            continue
        ("w", i) @ ~normal(j, 1)


@written()
@gen
def nothing_more_otherwise(n):
    for i in range(n):
        j = 0
        while j < 2:
            if ("hit", i, j) @ ~bernoulli(0.5):
                break
            j += 1
        else:
            break
        ("y", i) @ ~normal(j, 1)
    return i


# --- what columns can't hold, and what only looks as if they could ---------------------------------

NANOSECONDS = 1_700_000_000_000_000_001 + np.array([0, 13, 700, 5003])


@written((NANOSECONDS,), (NANOSECONDS[::-1],))
@gen
def large_integers(times):
    """Floats don't tell them apart."""
    first = int(times.min())
    rate = ~gamma(2, 1)
    for i in range(len(times)):
        ("y", i) @ ~normal((times[i] - first) * rate, 1)
    for i in range(1, len(times)):
        step = times[i] - times[i - 1]
        ("step", i) @ ~normal(step * rate, 1)
    for i in range(len(times)):
        ("square", i) @ ~normal((times[i] - first) * (times[i] - first + 10**9), 1)


class Sheet:
    """A sequence whose `column` is something of the user's."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, i):
        return self.numbers[i]

    def column(self):
        return np.zeros(len(self.numbers))


SHEET = Sheet([1.0, 2.0, 3.0, 4.0, 5.0])


@written()
@gen
def objects_with_a_column(n):
    slope = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(slope * SHEET[i], 1)


@written()
@gen
def added_to_in_a_plate(n):
    slope = ~normal(0, 1)
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        mean = slope
        mean += 0.5 * x
        if x > slope:
            mean -= slope * x
            mean *= 2.0
        elif x > 0:
            mean /= 2.0
        ("y", i) @ ~normal(mean, 1)


@written()
@gen
def counted_up_in_a_plate(n):
    rate = ~gamma(2, 1)
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        steps = z
        steps += 1
        if z > 1:
            steps *= z
        ("y", i) @ ~normal(rate * steps, 1)


@pytest.mark.parametrize("model", [added_to_in_a_plate, counted_up_in_a_plate])
def test_what_is_added_to_numbers_is_kept_as_columns(model):
    assert "kept as columns" in " ".join(model.explain().replace("|", " ").split())


def test_a_loop_may_end_before_an_error():
    choices = {("inverse", 1.0): True, ("quotient", 1.0): True, ("length", 0): True}
    trace, _ = ended_before_an_error.generate((2, [1.0, 0.0, 0.5]), choices)
    assert list(trace.choices) == list(choices)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed):
    PROGRAMS.agree(name, seed)


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_runtimes_agree_where_bodies_are_executed_whole(name, monkeypatch):
    monkeypatch.setattr(small, "CHOICES", 24)
    monkeypatch.setattr(small, "may_be_small", lambda compiled: not small.is_forced())
    PROGRAMS.agree(name, 7)


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_runtimes_agree_where_loops_are_columns(name, monkeypatch):
    monkeypatch.setattr(column_loops, "MANY", 1)
    PROGRAMS.agree(name, 7, columns_from=2)


@pytest.mark.parametrize("name", PROGRAMS)
def test_lowering_leaves_the_definition_as_it_is(name):
    model, _ = PROGRAMS[name]
    source = find_source(model.__wrapped__, "gen")
    before = ast.dump(source.node)
    lower(source)
    assert ast.dump(source.node) == before
