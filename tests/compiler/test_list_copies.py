"""A copy of a list is that list itself where nothing could tell them apart; and is a copy elsewhere."""

import numpy as np
import pytest

from gendsl import categorical, dirichlet, gen, multinomial, normal, piecewise_uniform, uniform_discrete
from gendsl.compiler.passes.axes import Axes
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.closed_outcomes import outcome, raises_everywhere

ROWS = [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3], [0.25, 0.25, 0.5]]


@gen
def states(n, rows):
    z = 0
    for t in range(n):
        z = ("z", t) @ ~categorical(rows[z])


@gen
def learnt_states(n, k):
    rows = [("row", a) @ ~dirichlet([1.0] * k) for a in range(k)]
    z = 0
    for t in range(n):
        z = ("z", t) @ ~categorical(rows[z])
        ("y", t) @ ~normal(z, 1)


def twice(xs):
    """A copy of a copy, in another function."""
    ys = list(xs)
    return [y for y in ys]  # noqa: C416


def every_second(xs, n):
    return [xs[2 * i + 1] for i in range(n)]


def entry(xs, i):
    return xs[i]


def mean_without(xs, i):
    """The mean of all items but one, which is looked up from the end."""
    return (sum(xs) - entry(xs, i - len(xs))) / max(len(xs) - 1, 1)


@gen
def read_only(n):
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    same = twice(xs)
    odd = every_second(xs, n // 2)
    for i in range(n):
        ("y", i) @ ~normal(same[i] - same[-i - 1] + mean_without(same, i), 1)
    for i in range(n // 2):
        ("z", i) @ ~normal(odd[i] + 2 * odd[-i - 1] + len(odd) + mean_without(odd, i), 1)


@gen
def changed_later(n):
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    before = list(xs)
    xs[0] = 5.0
    ("y", 0) @ ~normal(before[0] + 10 * xs[0], 1)
    before = list(xs)
    before[0] = -3.0
    ("y", 1) @ ~normal(before[0] + 10 * xs[0], 1)


@gen
def grows_later(n):
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    before = [x for x in xs]  # noqa: C416
    xs.append(1.0)
    ("y", 0) @ ~normal(len(before) + 10 * len(xs), 1)
    first = [xs[i] for i in range(n)]
    ("y", 1) @ ~normal(len(first) + sum(first), 1)


@gen
def changed_in_a_loop(n):
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    kept = [xs]
    for i in range(n):
        old = list(xs)
        kept[0][i] += 1.0
        ("y", i) @ ~normal(old[i] + 10 * xs[i], 1)


@gen
def one_of_the_last_iteration(n):
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    old = [0.0] * n
    for i in range(n):
        ("y", i) @ ~normal(old[i - 1] + 10 * xs[i], 1)
        old = list(xs)
        xs[i] = -1.0


def put(xs, i, value):
    xs[i] = value


@gen
def changed_by_a_function(n):
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    old = list(xs)
    put(xs, 0, 7.0)
    put(old, -1, 8.0)
    ("y", 0) @ ~normal(old[0] + 10 * xs[0] + 100 * old[-1] + 1000 * xs[-1], 1)
    old = list(xs)
    put(old, 0, 9.0)
    ("y", 1) @ ~normal(old[0] + 10 * xs[0], 1)


def itself(xs):
    total = 0.0
    for x in xs:
        total += x
    assert total < 1e9
    return xs


@gen
def kept_by_a_function(n):
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    old = list(xs)
    other = itself(old)
    other[0] = 2.0
    ("y", 0) @ ~normal(other[0] + 10 * xs[0], 1)


def some_of(xs, short):
    ys = []
    for x in xs:
        ys.append(x)
        if short and len(ys) == 1:
            break
    return ys


def up_to_a_large_one(xs):
    ys = []
    for x in xs:
        if x > 0.5:
            break
        ys.append(x)
    return ys


def each_for_each(xs, ys):
    return [x for x in xs for _ in ys]


def doubled(xs):
    ys = list(xs)
    for x in xs:
        ys.append(x)
    return ys


@gen
def no_copies(n):
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    few, many, more = some_of(xs, True), each_for_each(xs, [1, 2]), doubled(xs)
    sizes = len(few) + len(up_to_a_large_one(xs)) + len(many) + len(more)
    for i in range(1):
        ("y", i) @ ~normal(few[i] + many[i + 1] + more[-1] + sizes, 1)


@gen
def views(n):
    matrix = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            matrix[i, j] = ("x", i, j) @ ~normal(0, 1)
    for i in range(n):
        column, back = list(matrix[:, i]), list(matrix[i, ::-1])
        ("y", i) @ ~normal(column[i] - column[-1] + mean_without(column, 0) + entry(back, 0) + len(back), 1)


@gen
def parameters_of_many(n):
    cuts = np.array([-1.0, 0.5, 2.0])
    p = ~dirichlet([1.0, 2.0, 3.0])
    for i in range(n):
        ("c", i) @ ~piecewise_uniform(cuts, p[:2] / (p[0] + p[1]))
        ("m", i) @ ~multinomial(3, p)
        ("k", i) @ ~categorical(p[::-1])


def sum_from(xs, i):
    if i >= len(xs):
        return 0.0
    return xs[i] + 0.5 * sum_from(xs, i + 1)


def set_from(xs, i):
    """It changes the list that it is given after it has called itself with it."""
    if i >= len(xs):
        return 0.0
    rest = set_from(xs, i + 1)
    xs[i] = rest + 1.0
    return rest + xs[i]


@gen
def one_by_one(xs, i):
    if i < len(xs):
        y = ~normal(xs[i], 1)
        "next" @ ~one_by_one(xs, i + 1)


@gen
def given_to_what_calls_itself(n):
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    first = [xs[i] for i in range(n // 2)]
    old = list(xs)
    ("y", 0) @ ~normal(sum_from(old, 0) + sum_from(first, 0), 1)
    "first" @ ~one_by_one(list(xs), 0)
    changed = list(xs)
    ("y", 1) @ ~normal(set_from(changed, 0) + sum_from(xs, 0), 1)


MODELS = [
    read_only, changed_later, grows_later, changed_in_a_loop, one_of_the_last_iteration,
    changed_by_a_function, given_to_what_calls_itself, kept_by_a_function, no_copies, views,
    parameters_of_many,
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_copies_hold_what_they_should(model, n):
    assert outcome(model, (n,)) == "equal"


@pytest.mark.parametrize("rows", [ROWS, np.array(ROWS), np.array(ROWS)[::-1, ::-1], tuple(map(tuple, ROWS))])
@pytest.mark.parametrize("n", [1, 7, 40])
def test_rows_of_lists_and_arrays_are_read_where_they_are(rows, n):
    assert outcome(states, (n, rows)) == "equal"
    assert outcome(learnt_states, (n, 3)) == "equal"


def test_a_chain_of_states_is_read_in_lanes():
    """Its rows are checked and looked up in one loop over data, without a list of its own."""
    closed = ClosedDensity(learnt_states, (50, 3))
    assert "append" not in closed.text.partition("def check_probabilities")[2].partition("\ndef ")[0]
    waiting = {why for function, _, why in Axes([closed.main]).reasons if function is closed.main}
    assert waiting == {"choices that are arrays"}


@gen
def beyond(n):
    xs = [("x", j) @ ~normal(0, 1) for j in range(n)]
    i = ~uniform_discrete(-n, n)
    first = [xs[j] for j in range(n - 1)]
    ("y", 0) @ ~normal(entry(first, i), 1)


@pytest.mark.parametrize("i", [3, -4])
def test_an_index_beyond_a_copy_of_the_first_items_raises(i):
    raises_everywhere(beyond, (4,), {"i": i, **{("x", j): 0.5 for j in range(4)}, ("y", 0): 0.0})


@pytest.mark.parametrize("rng", range(6))
def test_an_index_within_a_copy_of_the_first_items_does_not(rng):
    assert outcome(beyond, (4,), rng=rng).startswith(("equal", "raised"))
