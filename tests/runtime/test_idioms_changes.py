"""What changes a list, a dict or an array in place, by whatever way, means on both runtimes the same."""

from functools import partial

import numpy as np
import pytest

from gendsl import bernoulli, categorical, gen, normal, poisson
from tests.runtime.idioms import SEEDS, Programs

PROGRAMS = Programs()
written = PROGRAMS.written


# --- what is changed has no name -------------------------------------------------------------------


@written()
@gen
def views_of_calls(n):
    m = np.zeros((2, 2))
    x = ~normal(0, 1)
    y = ~normal(0, 1)
    m.ravel()[0] += x
    ("z", 0) @ ~normal(m.sum() + y, 1)
    m.reshape(-1)[1] = y
    ("z", 1) @ ~normal(m.sum(), 1)
    return m


@written()
@gen
def one_or_the_other(n):
    a, b = [0.0], [0.0]
    z = ~bernoulli(0.5)
    x = ~normal(0, 1)
    (a if z else b).append(x)
    y = ~normal(sum(a), 1)
    (a if y > 0 else b)[0] = y + x
    (a and b).append(y)
    ("w", 0) @ ~normal(sum(a) - sum(b), 1)
    return a, b


@written()
@gen
def entries_of_displays(n):
    a, b = [0.0], [0.0]
    z = ~bernoulli(0.5)
    x = ~normal(0, 1)
    [a, b][z].append(x)
    {"a": a, "b": b}["a"].append(x)
    y = ~normal(sum(a), 1)
    (a, b)[z][0] = y
    ("w", 0) @ ~normal(sum(a) - sum(b), 1)
    return a, b


@written()
@gen
def entries_that_a_dict_gives(n):
    d = {"a": [0.0], "b": [1.0]}
    x = ~normal(0, 1)
    d.get("a")[0] = x
    y = ~normal(sum(d["a"]), 1)
    d.get("a")[0] += y
    ("w", 0) @ ~normal(sum(d["a"]), 1)
    return d


# --- functions that are called by others, or not known ---------------------------------------------


def shift(values, by):
    values -= by


def fill(row, value):
    row[:] = value


class Scale:
    def __init__(self, by):
        self.by = by

    def apply(self, row, x):
        row *= self.by + x

    def __call__(self, row, x):
        row += x


scale = Scale(2.0)
by_name = {"shift": shift, "fill": fill}
filled_with = partial(fill)


@written()
@gen
def mapped(n):
    m = np.zeros((2, 2))
    x = ~normal(0, 1)
    list(map(shift, m, [x, 1.0]))
    y = ~normal(m.sum(), 1)
    list(map(lambda row: shift(row, y), m))  # noqa: C417
    ("z", 0) @ ~normal(m.sum(), 1)
    return m


@written()
@gen
def in_comprehensions(n):
    m = np.zeros((2, 2))
    x = ~normal(0, 1)
    [shift(row, x) for row in m]
    y = ~normal(m.sum(), 1)
    [shift(row, y) for row in m]
    ("z", 0) @ ~normal(m.sum(), 1)
    return m


@written()
@gen
def methods_of_globals(n):
    m = np.ones((2, 2))
    x = ~normal(0, 1)
    y = ~normal(m.sum(), 1)
    scale.apply(m[0], x)
    ("z", 0) @ ~normal(m.sum(), 1)
    row = m[1]
    scale(row, y)
    ("z", 1) @ ~normal(m.sum(), 1)
    return m


@written()
@gen
def functions_of_a_table(n):
    m = np.ones((2, 2))
    x = ~normal(0, 1)
    y = ~normal(m.sum(), 1)
    by_name["shift"](m[0], x)
    ("z", 0) @ ~normal(m.sum(), 1)
    by_name["fill"](m[1], y)
    filled_with(m[0], y)
    ("z", 1) @ ~normal(m.sum(), 1)
    return m


@written((2, shift), (2, fill))
@gen
def functions_as_arguments(n, change):
    m = np.ones((2, 2))
    x = ~normal(0, 1)
    y = ~normal(m.sum(), 1)
    change(m[0], x)
    ("z", 0) @ ~normal(m.sum(), 1)
    for row in m:
        change(row, y)
    ("z", 1) @ ~normal(m.sum(), 1)
    return m


@written((3, abs), (2, round))
@gen
def link_functions(n, link):
    """A function that isn't known gets numbers here, which it can't change."""
    mu = [("mu", j) @ ~normal(0, 1) for j in range(n)]
    sd = np.zeros(n)
    for j in range(n):
        sd[j] = ~normal(2, 0.1)
    for j in range(n):
        ("x", j) @ ~normal(link(mu[j]), link(sd[j]) + 0.1)
    return [link(m) for m in mu]


# --- calls in returns, conditions, addresses and loops ---------------------------------------------


def push(values, x):
    values.append(x)
    return sum(values)


def popped(values):
    found = list(values)
    values.clear()
    return found


@written()
@gen
def in_returns(n):
    values = [1.0]
    x = ~normal(0, 1)
    y = ~normal(sum(values), 1)
    return push(values, x + y)


@written()
@gen
def in_conditions(n):
    values = [1.0]
    x = ~normal(0, 1)
    if push(values, x) > 1:
        ("y", 0) @ ~normal(sum(values), 1)
    ("z", 0) @ ~normal(len(values) + sum(values), 1)
    return values


@written()
@gen
def in_addresses(n):
    values = [1]
    x = ~poisson(2)
    ("y", push(values, x)) @ ~normal(0, 1)
    ("z", 0) @ ~normal(len(values) + sum(values), 1)
    return values


@written()
@gen
def in_what_loops_go_through(n):
    values = [("value", i) @ ~normal(0, 1) for i in range(n)]
    w = ~normal(0, 1)
    for i, x in enumerate(popped(values)):
        ("x", i) @ ~normal(x + w, 1)
    ("z", 0) @ ~normal(len(values), 1)
    return values


@written()
@gen
def in_elements(n):
    values = [1.0]
    sums = [push(values, ("x", i) @ ~normal(0, 1)) for i in range(n)]
    ("z", 0) @ ~normal(len(values) + sum(sums), 1)
    return values, sums


# --- arrays ----------------------------------------------------------------------------------------


@written()
@gen
def arrays_of_lists(n):
    cells = np.empty(2, dtype=object)
    for j in range(2):
        cells[j] = []
    x = ~normal(0, 1)
    cells[0].append(x)
    y = ~normal(sum(cells[0]), 1)
    cells[1].append(y)
    cells[0].append(y)
    ("z", 0) @ ~normal(sum(cells[0]) + sum(cells[1]), 1)
    return [list(cell) for cell in cells]


@written()
@gen
def arrays_of_dicts(n):
    cells = np.array([{}, {"k": 1.0}])
    x = ~normal(0, 1)
    cells[0]["k"] = x
    y = ~normal(cells[0]["k"], 1)
    cells[1]["k"] += y
    ("z", 0) @ ~normal(cells[1]["k"], 1)
    return [dict(cell) for cell in cells]


@written()
@gen
def places_for_results(n):
    x = np.array([("x", i) @ ~normal(0, 1) for i in range(n)])
    y = np.zeros(n)
    np.cumsum(x, 0, None, y)
    ("z", 0) @ ~normal(y.sum(), 1)
    x.cumsum(0, None, x)
    ("z", 1) @ ~normal(x.sum(), 1)
    return x, y


@written()
@gen
def arguments_that_may_be_overwritten(n):
    y = np.array([3.0, 1.0, 2.0])
    w = ~normal(0, 1)
    ("z", 0) @ ~normal(y[0] * w, 1)
    middle = np.median(y, overwrite_input=True)
    ("z", 1) @ ~normal(y[0] * w + middle, 1)
    return y


# --- a name in a loop, and what it has been put into -----------------------------------------------


@written()
@gen
def the_last_of_some_rows(n):
    x = ~normal(0, 1)
    rows = []
    for _ in range(2):
        row = [x]
        rows.append(row)
    y = ~normal(sum(rows[-1]), 1)
    row += [y]
    ("z", 0) @ ~normal(sum(rows[-1]), 1)
    return rows


# --- what an entry of something is -----------------------------------------------------------------


@written()
@gen
def one_of_two(n):
    z = ~bernoulli(0.5)
    x = ~normal(0, 1)
    a, b = [x], [1.0]
    c = [a, b][z]
    y = ~normal(0, 1)
    a.append(y)
    ("w", 0) @ ~normal(sum(c), 1)
    return c


@written()
@gen
def the_longest_of_two(n):
    x = ~normal(0, 1)
    a, b = [x, 1.0], [1.0]
    c = max([a, b], key=len)
    y = ~normal(0, 1)
    a.append(y)
    ("w", 0) @ ~normal(sum(c), 1)
    return c


@written()
@gen
def the_last_of_two(n):
    x = ~normal(0, 1)
    a, b, c = [x], [1.0], [2.0]
    for i, last in enumerate([b, a]):
        ("v", i) @ ~normal(sum(last), 1)
    for other in (b, c):
        kept = other
    y = ~normal(0, 1)
    a.append(y)
    c.append(y)
    ("w", 0) @ ~normal(sum(last) + sum(kept), 1)
    return last, kept


@written()
@gen
def collected_from_two(n):
    x = ~normal(0, 1)
    a, b = [x], [1.0]
    listed = [each for each in (a, b)]  # noqa: C416
    numbered = {i: each for i, each in enumerate((b, a))}  # noqa: C416
    y = ~normal(0, 1)
    a.append(y)
    ("w", 0) @ ~normal(sum(listed[0]) + sum(numbered[1]), 1)
    return listed


def made(x):
    return [x, 1.0]


@written()
@gen
def rows_of_a_copy(n):
    x = ~normal(0, 1)
    rows = [[x], [1.0]]
    copied = list(rows)
    y = ~normal(0, 1)
    copied[0] += [y]
    ("z", 0) @ ~normal(sum(rows[0]) + sum(copied[0]), 1)
    return rows, copied


@written()
@gen
def rows_that_functions_make(n):
    x = ~normal(0, 1)
    rows = [made(x), made(2.0)]
    y = ~normal(0, 1)
    rows[0] += [y]
    ("z", 0) @ ~normal(sum(rows[0]), 1)
    return rows


def test_an_entry_that_may_be_a_list_is_not_changed_behind_it():
    @gen
    def model(make):
        rows = [make(1.0)]
        first = rows[0]
        rows[0] += "step" @ ~normal(0, 1)
        return rows[0], first

    assert type(model.simulate((abs,), rng=1).retval[0]) is float
    assert model.compiled.program.opaque is None
    trace = model.simulate((np.atleast_1d,), rng=1)
    assert trace.retval[0] == trace.retval[1] == [1.0 + trace["step"]]
    assert model.is_reference or "rows[0] in place: a ndarray" in model.compiled.program.opaque[0]


@written((3, 1.0), (2, 0.5))
@gen
def counts_from_an_argument(n, alpha):
    counts = [alpha] * 3
    for i in range(n):
        z = ("z", i) @ ~categorical(np.array(counts) / sum(counts))
        counts[z] += 1
    return counts


DESIGN = np.array([[1.0, 2.0], [0.5, 1.0], [1.5, -1.0]])


@written()
@gen
def views_of_results(n):
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    residuals = DESIGN @ np.array([a, b])
    first = residuals[:1]
    residuals -= 1.0
    ("y", 0) @ ~normal(first[0] + residuals[0], 1)
    return residuals, first


@written()
@gen
def rows_of_results(n):
    a = ~normal(0, 1)
    table = DESIGN * a
    for row in table:
        last = row
    table += a
    ("y", 0) @ ~normal(last.sum(), 1)
    return table, last


@written()
@gen
def results_that_are_scaled(n):
    a = ~normal(0, 1)
    weights = np.exp(DESIGN[:, 0] * a)
    for i, weight in enumerate(weights):
        ("w", i) @ ~normal(weight, 1)
    weights /= weights.sum()
    ("y", 0) @ ~normal(weights[0], 1)
    return weights


@written()
@gen
def added_to_one_after_another(n):
    """What is added to is held by nothing else, and read before and after."""
    values, entries, seen, counts = np.zeros(2), [0.0], {1.0}, np.zeros(2)
    x = ~normal(0, 1)
    z = ~bernoulli(0.5)
    values += x
    entries += [x]
    seen |= {x}
    counts[int(z)] += 1
    ("y", 0) @ ~normal(values.sum() + sum(entries), 1)
    if z:
        values += 1.0
        entries += [x, x]
    ("y", 1) @ ~normal(values.sum() + len(entries) + sum(seen) + counts[1], 1)
    return values, entries, seen, counts


@pytest.mark.parametrize(
    "model",
    [link_functions, counts_from_an_argument, results_that_are_scaled, added_to_one_after_another],
)
def test_nothing_is_executed_as_a_whole_without_need(model):
    assert model.compiled.program.opaque is None


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed):
    PROGRAMS.agree(name, seed)
