"""Programs in the words of statisticians and of NumPy mean on both runtimes the same."""

import math
import os
from collections import Counter, defaultdict, deque, namedtuple
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from gendsl import bernoulli, categorical, gen, log_normal, mvnormal, normal, poisson
from tests.laws.edits import Session, random_edits

LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")

PROGRAMS = {}


def written(*sizes):
    """Register a program, with the sizes that it is run at."""

    def register(model):
        PROGRAMS[model.name] = model, [(n,) for n in sizes or (3, 2, 5)]
        return model

    return register


# --- several entries of an array at once ------------------------------------------------------------


@written()
@gen
def new_axes(n):
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    x = np.array([a, b])
    whole = x[None]
    ("first", 0) @ ~normal(whole.sum() + x[...].max(), 1)
    differences = x[:, None] - x[None, :]
    ("second", 0) @ ~normal((differences**2).sum() + x[1,] + x[(0,)], 1)


@written(3, 60, 1)
@gen
def masks_and_groups(n):
    mu = np.zeros(n)
    for j in range(n):
        mu[j] = ~normal(0, 2)
    groups = np.arange(2 * n) % n
    means = mu[groups]
    for i in range(2 * n):
        ("x", i) @ ~normal(means[i], 1)
    y = ~normal(mu[mu > 0].sum() + mu[[0, -1]].mean() + mu[None].max(), 1)
    return mu[:, None].shape, y


@written(3, 2)
@gen
def cells_of_rows(n):
    cells = np.zeros((n, 2))
    a = ~normal(0, 1)
    for i in range(n):
        cells[i] = [a * i, ("b", i) @ ~normal(0, 1)]
    ("y", 0) @ ~normal(cells[1, 0] + cells[0][1], 1)
    ("y", 1) @ ~normal(cells[:, 1].sum() - cells[-1, -1], 1)
    return cells


@written(3, 1, 60)
@gen
def entries_so_far(n):
    x = np.zeros(n + 2)
    for i in range(n):
        x[i] = ~normal(x[[i, -1]].sum() + x[x > 1].sum() + x[None].min(), 1)
    return x[0,]


@written()
@gen
def truth_as_index(n):
    listed = [("m", j) @ ~normal(0, 3) for j in range(2)]
    filled = np.zeros(2)
    for j in range(2):
        filled[j] = ~normal(0, 1)
    z = ~bernoulli(0.5)
    ("x", 0) @ ~normal(listed[z], 1)
    ("x", 1) @ ~normal(filled[z].sum(), 1)
    return filled[z].shape


# --- truth values in columns -----------------------------------------------------------------------


@written(60, 3)
@gen
def functions_of_truth(n):
    """NumPy's functions of a truth value give numbers of 16 bits."""
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.3)
        ("x", i) @ ~normal(np.exp(z), 1)
        ("y", i) @ ~normal(math.exp(z) + abs(z) - (-z), 1)


@written(60, 3)
@gen
def arithmetic_of_truth(n):
    """The sum of two of NumPy's truth values is one, that of Python's a number."""
    treated = np.arange(n) % 2 == 0
    late = np.arange(n) % 3 == 0
    effect = ~normal(0, 1)
    sums = []
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.3)
        w = ("w", i) @ ~bernoulli(0.3)
        sums.append(z + w)
        ("x", i) @ ~normal(z * w + effect * treated[i], 1)
        ("y", i) @ ~normal((treated[i] + late[i]) * effect, 1)
    return sums


# --- objects that change ---------------------------------------------------------------------------


class Table:
    def __init__(self):
        self.number, self.total = 0, 0.0

    def seat(self, x):
        self.number += 1
        self.total += x

    def mean(self):
        return self.total / (self.number + 1)


def seat(table, x):
    table.number += 1
    table.total += x


def pick(tables, z):
    return tables[z]


def mark(seen, z):
    seen.add(z)


def count(counts, z):
    counts[z] = counts.get(z, 0) + 1


def shift(values, by):
    values -= by


def fill(row, value):
    row[:] = value


@written()
@gen
def tables_of_a_list(n):
    tables = [Table(), Table()]
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.5)
        x = ("x", i) @ ~normal(tables[z].mean(), 1)
        tables[z].seat(x)
    return [table.number for table in tables]


@written(2)
@gen
def tables_one_by_one(n):
    tables = {"a": Table(), "b": Table()}
    x = ~normal(0, 1)
    tables["a"].seat(x)
    for table in tables.values():
        table.seat(x)
    y = ~normal(tables["a"].mean(), 1)
    pick(tables, "b").seat(y)
    ("w", 0) @ ~normal(tables["b"].mean() + tables["a"].number, 1)


@written(2)
@gen
def table_of_a_function(n):
    table = Table()
    x = ~normal(0, 1)
    seat(table, x)
    y = ~normal(table.mean(), 1)
    seat(table, y)
    return table.number, table.total


@written(2)
@gen
def tables_of_a_function(n):
    tables = [Table() for _ in range(2)]
    x = ~normal(0, 1)
    seat(tables[0], x)
    ("y", 0) @ ~normal(tables[0].mean(), 1)
    return tables[0].number


@written(2)
@gen
def bound_method(n):
    table = Table()
    add = table.seat
    x = ~normal(0, 1)
    add(x)
    y = ~normal(table.mean(), 1)
    add(y)
    return table.number


@written(2)
@gen
def sets_and_counters(n):
    seen, counts = set(), Counter()
    z = ~poisson(2)
    mark(seen, z)
    count(counts, z)
    w = ~poisson(2)
    mark(seen, w)
    count(counts, w)
    ("x", 0) @ ~normal(len(seen) + counts[2], 1)
    return sorted(seen), dict(counts)


@written(3, 1)
@gen
def counter_in_a_loop(n):
    counts = Counter()
    for i in range(n):
        z = ("z", i) @ ~categorical([0.5, 0.3, 0.2])
        count(counts, z)
        ("x", i) @ ~normal(counts[z], 1)
    return dict(counts)


@written(2)
@gen
def keys_that_are_looked_up(n):
    known = defaultdict(float, {0: 1.0})
    z = ~poisson(2)
    ("x", 0) @ ~normal(known[z], 1)
    ("y", 0) @ ~normal(len(known), 1)
    return len(known)


@written(2)
@gen
def last_few(n):
    last = deque(maxlen=3)
    x = ~normal(0, 1)
    last += [x]
    y = ~normal(sum(last), 1)
    last += [y]
    return list(last)


@written(2)
@gen
def arrays_of_a_function(n):
    by = ~normal(0, 1)
    x = ~normal(0, 1)
    means = np.array([[1.0, 2.0], [0.5, 1.0]]) @ np.array([x, 1.0])
    shift(means, by)
    rows = np.zeros((2, 2))
    fill(rows[0], by)
    y = ~normal(means[0] + rows.sum(), 1)
    fill(rows[1], y)
    return means, rows


class Turns:
    def __init__(self):
        self.number = 0

    @property
    def next(self):
        self.number += 1
        return self.number

    def __iter__(self):
        self.number += 1
        return iter([1.0] * self.number)


@written(2)
@gen
def properties_and_iterators(n):
    turns = Turns()
    x = ~normal(turns.next, 1)
    y = ~normal(sum(turns) + x, 1)
    ("z", 0) @ ~normal(turns.next + y, 1)


def passed_on(function):
    def wrapper(*args):
        return function(*args)

    return wrapper


@passed_on
def scaled(values, by):
    return [value * by for value in values]


@passed_on
def pushed(values, value):
    values.append(value)
    return sum(values)


@written(2)
@gen
def decorated_helpers(n):
    """The wrappers have one code; what they call is in their closures."""
    values = [1.0]
    a = ~normal(0, 1)
    b = ~normal(sum(scaled(values, a)), 1)
    c = ~normal(pushed(values, b), 1)
    ("d", 0) @ ~normal(pushed(values, c), 1)
    return values


@written(2)
@gen
def arrays_without_copies(n):
    x = np.array([1.0, np.nan, 2.0])
    y = np.zeros(2)
    same = y.astype(float, copy=False)
    a = ~normal(0, 1)
    y[0] = a
    gaps = np.isnan(x * a).sum()
    np.nan_to_num(x, copy=False, nan=a)
    ("x", 0) @ ~normal(same.sum() + gaps + x.sum(), 1)
    return same


# --- objects that don't ----------------------------------------------------------------------------

State = namedtuple("State", "number total")


@dataclass
class Parameters:
    mean: float
    weights: list = field(default_factory=list)
    hidden: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class Component:
    mean: float
    sd: float = 1.0

    def distribution(self):
        return normal(self.mean, self.sd)


@written()
@gen
def named_tuples(n):
    state = State(0, 0.0)
    for i in range(n):
        x = ("x", i) @ ~normal(state.total, 1)
        state = state._replace(number=state.number + 1, total=state.total + x)
    return state.number


@written()
@gen
def data_classes(n):
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    old = Parameters(1.0, [a], hidden=b)
    x = ~normal(old.hidden + old.mean + old.weights[0], 1)
    new = replace(old, mean=x)
    components = [Component(a), Component(b, 2.0)]
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.4)
        ("y", i) @ ~components[z].distribution()
    return new.mean + new.hidden


@written()
@gen
def counts_that_are_read(n):
    z = [("z", i) @ ~categorical([0.5, 0.3, 0.2]) for i in range(n)]
    counts = Counter(z)
    seen = set(z)
    for k in sorted(seen):
        ("x", k) @ ~normal(counts[k] + len(seen), 1)


class Kernel:
    def __init__(self, length):
        self.length = length

    @property
    def precision(self):
        return 1 / self.length**2

    def between(self, t, s):
        return np.exp(-0.5 * self.precision * (t - s) ** 2)


def covariances(kernel, times):
    return kernel.between(times[:, None], times) + np.eye(len(times))


@written()
@gen
def kernels(n):
    length = ~log_normal(0, 1)
    kernel = Kernel(length)
    ("y", 0) @ ~mvnormal(np.zeros(n), covariances(kernel, np.arange(n)))


@pytest.mark.parametrize(
    "model", [kernels, data_classes, named_tuples, counts_that_are_read], ids=lambda m: m.name
)
def test_objects_that_are_only_read_keep_a_body_incremental(model):
    assert "incrementally: a change" in model.explain() or model.is_reference


# --- arguments -------------------------------------------------------------------------------------


@gen
def first_and_rest(first, *rest, scale=1.0):
    x = ~normal(first + sum(rest), scale)
    return x + len(rest)


@gen
def all_of(*values):
    for i, value in enumerate(values):
        ("x", i) @ ~normal(value, 1)
    return values[-1]


@written(2)
@gen
def arguments_that_are_gathered(n):
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    c = ~normal(0, 1)
    d = "d" @ ~first_and_rest(a, b, c)
    "e" @ ~first_and_rest(a, b, c, scale=1 + d**2)
    "f" @ ~all_of(a, b, c)
    "g" @ ~all_of(*[a, b], c)


def test_each_of_the_arguments_that_are_gathered_counts():
    trace = arguments_that_are_gathered.simulate((2,), rng=1)
    for name in "abc":
        new = trace.update({name: 4.0}).trace
        assert new.log_prob == pytest.approx(arguments_that_are_gathered.assess((2,), new.choices).log_prob)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(12 if LONG else 1))
def test_both_runtimes_agree(name, seed):
    model, args = PROGRAMS[name]

    def vary(before, rng):
        return args[int(rng.integers(len(args)))]

    Session(model, [args[seed % len(args)], *args], vary).run(random_edits(seed), seed)
