"""Closed programs as text: `defaultdict`, `Counter`, dicts that are compared, slices by any step."""

import heapq
import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from gendsl import factor, gen, normal, uniform_discrete
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.closed_outcomes import outcome, raises_everywhere


def told(table, key):
    return table[key]


@gen
def with_defaults(n):
    k = ~uniform_discrete(1, 3)
    level = defaultdict(lambda: 1.5)
    rows = defaultdict(lambda: [0.0] * 2)
    sized = defaultdict(lambda: np.zeros(k))
    nested = defaultdict(lambda: defaultdict(float), {7: defaultdict(float)})
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 2)
        level[z] += 1.0
        rows[z][1] += 2.0
        sized[z][0] += i
        nested[z][i % 2] += 1
    for z in range(3):
        ("y", z) @ ~normal(level[z] + rows[z][1] + sized[z].sum() + nested[z][0] + told(level, z + 1), 1)
    ("y", 3) @ ~normal(len(level) + len(nested) + len(sized[0]) + (5 in rows), 1)


@gen
def looked_up_elsewhere(n):
    k = ~uniform_discrete(1, 3)
    sized = defaultdict(lambda: 1.0 * k)
    y = ~normal(told(sized, 1), 1)


@gen
def changes_later(n):
    k = ~uniform_discrete(1, 3)
    level = 1.0
    table = defaultdict(lambda: level)
    level = 2.0
    y = ~normal(table[k], 1)


@gen
def counted(n):
    x = [("x", i) @ ~uniform_discrete(0, 3) for i in range(n)]
    c = Counter(x)
    value, count = c.most_common(1)[0]
    ("y", 0) @ ~normal(value + 10 * count + c.total() + len(c.most_common(2)), 1)
    for i, (value, count) in enumerate(c.most_common()):
        ("z", i) @ ~normal(value - count, 1)
    ("y", 1) @ ~normal(sum(v for v, _ in c.most_common(100)) + len(c.most_common(0)), 1)


@gen
def compared(n):
    x = [("x", i) @ ~uniform_discrete(0, 1) for i in range(n)]
    d, e = {0: x[0], 1: x[1]}, {1: x[1], 0: x[2]}
    f = {i: v for i, v in enumerate(x) if v}
    ("y", 0) @ ~normal(
        (d == e) + 2 * (d != e) + 4 * (f == {0: 1}) + 8 * (f == {}) + 16 * (d == {0: 1.0, 1: 0}), 1
    )
    lists = {"a": [x[0]], "b": []}
    ("y", 1) @ ~normal(
        (lists == {"b": [], "a": [1]}) + 2 * (defaultdict(int, d) == d) + 4 * (d == dict(d)), 1
    )


@gen
def by_any_step(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    k = ~uniform_discrete(-3, 3)
    step = k or 2
    a = np.array(x)
    ("y", 0) @ ~normal(
        sum(i * v for i, v in enumerate(x[::step])) + (a[::step] * 2).sum() + len(x[1:-1:step]), 1
    )
    ("y", 1) @ ~normal(sum(x[-2:step:step]) + sum(x[k:9:step]) + a[4:k:step].sum() + len(tuple(x)[::step]), 1)
    a[::step] = 1.0
    ("y", 2) @ ~normal((a * np.arange(n)).sum(), 1)


@pytest.mark.parametrize("program", [with_defaults, counted, compared, by_any_step])
@pytest.mark.parametrize("rng", range(8))
def test_dicts_that_have_more_and_slices(program, rng):
    assert outcome(program, (6,), rng=rng) == "equal"


def with_missing(level, function):
    """It is given a function, and so written out where it is called."""
    return defaultdict(lambda: function(level))


def twice(x):
    return 2.0 * x


@gen
def one_of_each_iteration(n):
    x = ~normal(0, 1)
    tables = []
    for j in range(n):
        tables.append(with_missing(x + j, lambda t: twice(t)))
    ("y", 0) @ ~normal(tables[0][7] + 10.0 * tables[-1][7], 1)


@gen
def of_what_is_set_before_the_loop(n):
    x = ~normal(0, 1)
    level = 2.0 * x
    one, two = with_missing(x, lambda t: t + 1.0), with_missing(level, lambda t: t + 1.0)
    total = 0.0
    for j, table in enumerate([one, two, one]):
        kept = defaultdict(lambda: level)
        kept[j] += table[j]
        total = 3.0 * total + kept[j] + kept[j + 1]
    ("y", 0) @ ~normal(total, 1)


def test_factories_of_what_is_set_before_a_loop():
    assert outcome(of_what_is_set_before_the_loop, (3,)) == "equal"


@pytest.mark.parametrize("program", [looked_up_elsewhere, changes_later, one_of_each_iteration])
def test_factories_that_may_find_something_else_are_refused(program):
    assert outcome(program, (3,)).startswith("refused")


@gen
def no_step(n):
    k = ~uniform_discrete(0, 1)
    x = [1.0, 2.0][::k]


def test_a_slice_by_nothing_fails():
    raises_everywhere(no_step, (3,), {("k",): 0})


@gen
def of_counters(n, more):
    x = [("x", i) @ ~uniform_discrete(0, 3) for i in range(n)]
    few, many = Counter(x), Counter(more)
    few[0] -= 3
    ("places", 0) @ ~normal(sum(10**i * part for i, part in enumerate((few + many).values())), 1)
    ("places", 1) @ ~normal(sum(10**i * part for i, part in enumerate((few - many).values())), 1)
    ("places", 2) @ ~normal(sum(10**i * part for i, part in enumerate((few | many).values())), 1)
    ("places", 3) @ ~normal(sum(10**i * part for i, part in enumerate((few & many).values())), 1)
    few.update(more)
    few.update({9: 5, 0: 1})
    many.subtract(x)
    many.subtract(few)
    ("sums",) @ ~normal(sum(k * c for k, c in few.items()) + 100 * sum(k * c for k, c in many.items()), 1)


@gen
def of_heaps(n):
    heap = []
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        heapq.heappush(heap, (x, i))
    ("least",) @ ~normal(heap[0][0], 1)
    numbers = [x for x, _ in heap]
    numbers.extend([0.5, -0.5])
    numbers.reverse()
    heapq.heapify(numbers)
    ("order",) @ ~normal(sum(i * x for i, x in enumerate(numbers)), 1)
    first, second = heapq.heapreplace(numbers, 2.0), heapq.heappushpop(numbers, -9.0)
    while len(numbers) > 2:
        first = 0.5 * first + heapq.heappop(numbers)
    ("rest",) @ ~normal(first + second + numbers[0], 1)


@pytest.mark.parametrize("rng", range(4))
def test_counters_with_one_another_and_heaps(rng):
    assert outcome(of_counters, (6, [1, 1, 3, 5]), rng=rng) == "equal"
    assert outcome(of_heaps, (rng + 1,), rng=rng) == "equal"


@gen
def adds_dicts(n):
    k = ~uniform_discrete(0, 1)
    ("y",) @ ~normal(len(Counter([k]) + {1: 2}), 1)


def test_a_program_that_always_fails_is_refused():
    with pytest.raises(NotClosed, match="it always comes to add of dict and dict"):
        ClosedDensity(adds_dicts, (1,))


NEIGHBOURS = defaultdict(list, {0: [1, 2], 1: [0], 2: [0, 3], 3: [2]})
TALLY = Counter([0, 1, 1, 2, 2, 2])
NESTED = defaultdict(lambda: defaultdict(float), {"a": defaultdict(float, {0: 1.0, 2: 0.4, 1: 0.1})})


@gen
def given_to(neighbours, tally, nested):
    k = ~uniform_discrete(0, 3)
    for j in neighbours[k]:
        ("f", k, j) @ ~factor(0.25 * j)
    total = sum(count * (k + 1) for _, count in tally.most_common(2))
    y = ~normal(total + tally[k] + tally["no"] + len(tally) + sum(NESTED["a"].values()), 3)
    copied = neighbours.copy()
    copied[7 + k] = [k]
    z = ~normal(nested["a"][min(k, 2)] + len(copied) + len(Counter(neighbours[k]) + tally), 1)
    return y + z


@pytest.mark.parametrize("rng", range(4))
def test_those_that_a_program_is_given(rng):
    assert outcome(given_to, (NEIGHBOURS, TALLY, NESTED), rng=rng) == "equal"


@gen
def looked_up(weights):
    k = ~uniform_discrete(0, 2)
    _y = ~normal(weights[k], 1)


def test_a_key_that_one_that_is_given_would_get():
    """Python puts it into the dict of whoever gave it: the interpreter does that."""
    assert outcome(looked_up, (defaultdict(float, {0: 1.0, 1: 2.0, 2: 0.5}),), rng=1) == "equal"
    weights = defaultdict(float, {0: 1.0})
    closed = ClosedDensity(looked_up, (weights,))
    expected = normal(1, 1).logpdf(0.0) - math.log(3)
    assert closed.assess_python((weights,), {("k",): 0, ("_y",): 0.0}) == pytest.approx(expected)
    with pytest.raises(FailedText, match="a key that a defaultdict gets, which the program was given"):
        closed.assess_python((weights,), {("k",): 1, ("_y",): 0.0})
    assert list(weights) == [0]
    assert outcome(looked_up, (Counter(),), rng=1) == "equal"


@gen
def asked(given):
    k = ~uniform_discrete(0, 2)
    total = 0
    for one in (Counter([k]), defaultdict(int), {k: 1}):
        total += isinstance(one, defaultdict) + 2 * isinstance(one, dict) + 4 * isinstance(one, Counter)
        total += 8 * (type(one) is dict) + 16 * (type(one) is Counter) + 32 * (type(one) is defaultdict)
        total += 64 * hasattr(one, "most_common")
    for one in given:
        total += isinstance(one, defaultdict) + 2 * isinstance(one, dict) + 4 * isinstance(one, Counter)
    "f" @ ~factor(total / 100)


def test_they_are_of_their_classes():
    assert outcome(asked, ((TALLY, NEIGHBOURS, {1: 2}),), rng=1) == "equal"


def test_another_kind_than_a_text_was_made_for_is_refused():
    closed = ClosedDensity(looked_up, (TALLY,))
    for other in (dict(TALLY), defaultdict(int, TALLY)):
        with pytest.raises(NotClosed):
            closed.arguments((other,))


@gen
def ends_that_are_none(numbers, k, end):
    for i, x in enumerate(numbers[None:end:k]):
        ("to", i) @ ~normal(x, 1)
    for i, x in enumerate(numbers[end:None:k]):
        ("from", i) @ ~normal(x, 1)
    for i, x in enumerate(numbers[None:None:k]):
        ("all", i) @ ~normal(x, 1)


@pytest.mark.parametrize(("k", "end"), [(2, 2), (-1, 1), (-1, -1), (3, 0)])
def test_slices_whose_ends_are_none(k, end):
    """They are those that are left out."""
    assert outcome(ends_that_are_none, ([1.0, 2.0, 3.0], k, end)) == "equal"
