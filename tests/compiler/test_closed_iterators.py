"""Closed programs as text: generators and iterators that are gone through where they are made."""

import itertools

import numpy as np
import pytest

from gendsl import bernoulli, gen, normal, uniform_discrete
from tests.compiler.closed_outcomes import outcome, raises_everywhere
from tests.compiler.test_sampler import outcome as sampled


@gen
def generators(n, xs):
    a = 0.0
    for v in (1 / (x + a) for x in xs):  # `a` is looked up when an item is made
        if ("inverse", int(v * 1000)) @ ~bernoulli(0.5):
            break
        a = a + v
    for i, v in enumerate(("x", j) @ ~normal(a, 1) for j in range(n)):
        ("y", i) @ ~normal(v, 1)
    for v in (x for x in xs if x > 1.5):
        if v > 2.5:
            continue
        a += v
    for v in filter(lambda z: z > 1.5, xs):
        if v > 2.9:
            break
        a += 2 * v
    for x in (1.0, 2.0):
        a += next((z for z in xs if z > x - 1), 0.5)
    for t in (w * 2 for w in (1, "a", 2)):
        if t == "aa":
            continue
        a += t
    b = next((x for x in xs if x > 1.5), 7.0) + next(iter(xs), 3.0) + next((x for x in xs if x > 100), 11.0)
    b += next((("u", j) @ ~normal(0, 1) for j in range(n)), 0.0)
    c = [i * v for i, v in enumerate(v + 1 for v in xs)]
    c += [max(filter(None, xs)), min(x for x in xs), max(map(abs, xs))]
    c += [p * q for p, q in zip(xs, (x + 1 for x in xs), strict=True)]
    c += list(itertools.accumulate(xs)) + list(itertools.accumulate(xs, lambda p, q: p * q))
    c += list(itertools.accumulate(xs, max, initial=2.0)) + list(itertools.chain(xs, range(2), (1.5,)))
    z = ~normal(a + b + sum(c) + len(c), 1)
    return a


@pytest.mark.parametrize("args", [(3, [1.0, 2.0, 3.0]), (1, [2.0]), (0, [2.6])])
def test_generators_are_gone_through_item_by_item(args):
    assert outcome(generators, args) == "equal"


@gen
def backwards(xs):
    """Reversed: constants of several types, of which each turn is written out; a list; a range."""
    a = 0.0
    for k, v in enumerate(reversed(("x", 2, 0.5, "y"))):
        a = 3 * a + (v * (k + 1) if v != "x" and v != "y" else len(v) + k)
    for v in reversed(xs):
        a = 2 * a + v
    for i in reversed(range(4)):
        a = a / 2 + i
    z = ~normal(a, 1)


def test_what_is_reversed_is_gone_through_from_its_end():
    assert outcome(backwards, ([1.0, 2.0, 4.0],)) == "equal"


@gen
def columns_of_a_table(table, grow):
    """Columns are lists and arrays, of integers, numbers or names."""
    slope = ~normal(0, 1)
    level = {g: ("level", g) @ ~normal(0, 1) for g in ("a", "b")}
    a = 0.0
    for i, (x, sd) in enumerate(zip(table["x"], table["sd"], strict=True)):
        ("y", i) @ ~normal(slope * x, sd)
        a = a / 2 + i * sd
    for g, x in zip(table["group"], reversed(table["x"]), strict=False):
        a = 2 * a + level[g] * x
    for x in map(abs, table["x"]):
        a = a / 3 + x
    a += sum(2 * s for _, s in enumerate(table["sd"], 1))
    either = [1.0, 2.0] if slope > 0 else [(1.0, 2.0), (3.0, 4.0)]
    for i, v in enumerate(either):
        a = a / 2 + (v if slope > 0 else v[1])
        if grow and i < 3:
            either.append(either[0])  # the loop goes over what is added, too
    z = ~normal(a + len(either), 1)
    return a


@pytest.mark.parametrize(
    ("x", "sd"),
    [
        (np.arange(3), np.array([1.0, 2.0, 0.5])),
        ([4, 1, 2], np.array([1.0, 2.0, 0.5])),
        (np.array([0.5, 1.0, -2.0]), [1, 2, 3]),
        (np.arange(12.0).reshape(3, 4)[:, 1], [1.0, 0.1, 0.3]),
        ([], np.array([])),
    ],
)
@pytest.mark.parametrize("grow", [False, True])
def test_a_loop_goes_over_columns_of_several_types(x, sd, grow):
    for rng in (1, 2, 3):
        table = {"x": x, "sd": sd, "group": ["a", "b", "a"]}
        assert outcome(columns_of_a_table, (table, grow), rng=rng) == "equal"


@gen
def columns_of_other_lengths(table):
    a = ~normal(0, 1)
    for x, sd in zip(table["x"], table["sd"], strict=True):
        a += x * sd
    z = ~normal(a, 1)


def test_columns_of_other_lengths_fail_as_in_python():
    table = {"x": [1, 2, 3], "sd": np.ones(2)}
    raises_everywhere(columns_of_other_lengths, (table,), {("a",): 0.0, ("z",): 0.0})


@gen
def drawn_one_by_one(n):
    """The items of a generator are drawn between what the loop draws; of `sum` all at once."""
    for i, v in enumerate(("x", j) @ ~normal(0, 1) for j in range(n)):
        if ("y", i) @ ~normal(v, 1) > 1:
            break
    for w, v in zip(range(2), (("u", j) @ ~normal(0, 1) for j in range(n)), strict=False):
        ("v", w) @ ~normal(v, 1)
    total = sum(("s", j) @ ~normal(0, 1) for j in range(n))
    for v in (("t", j) @ ~normal(total, 1) for j in range(n) if j != 1):
        if v > total:
            break
    first = next((("w", j) @ ~normal(0, 1) for j in range(n)), 0.0)
    z = ~normal(first, 1)


def test_draws_of_a_generator_come_one_by_one():
    assert outcome(drawn_one_by_one, (3,)) == "equal"
    assert sampled(drawn_one_by_one, (3,)) == "equal"


@gen
def next_at_the_end(n):
    a = ~normal(0, 1)
    b = next(x for x in [1.0, 2.0] if x > n)


@gen
def length_of_an_iterator(n):
    a = ~normal(0, 1)
    b = len(x for x in range(n))


@gen
def next_of_a_list(n):
    a = ~normal(0, 1)
    b = next([1.0, a])


@pytest.mark.parametrize("program", [next_at_the_end, length_of_an_iterator, next_of_a_list])
def test_where_python_raises_a_text_fails(program):
    raises_everywhere(program, (3,), {("a",): 0.0})


@gen
def used_twice(n):
    a = ~normal(0, 1)
    it = itertools.accumulate([a, 1.0])
    b = ~normal(sum(it) + sum(it), 1)


@gen
def kept(n):
    a = ~normal(0, 1)
    g = (x * a for x in range(n))
    b = ~normal(next(g) + next(g), 1)


@gen
def one_more_than_zip_gives(n):
    for v, i in zip((("x", j) @ ~normal(0, 1) for j in range(n)), range(2), strict=False):
        ("y", i) @ ~normal(v, 1)


def once_and_again(values):
    return sum(values) + sum(values)


@gen
def given_to_a_function(n):
    a = ~normal(0, 1)
    b = ~normal(once_and_again(x * a for x in range(n)), 1)


@gen
def of_two_loops(n):
    a = ~normal(0, 1)
    total = 0.0
    for v in (a * i + j for i in range(n) for j in range(2)):
        total += v
    b = ~normal(total, 1)


@gen
def of_functions(n):
    a = ~normal(0, 1)
    total = 0.0
    i = 7
    for item in ((lambda: a + i) for i in range(n)):
        total += item()
    b = ~normal(total, 1)


@pytest.mark.parametrize(
    "program",
    [used_twice, kept, one_more_than_zip_gives, given_to_a_function, of_two_loops, of_functions],
)
def test_an_iterator_that_is_no_simple_loop_is_refused(program):
    assert outcome(program, (3,)).startswith("refused")


@gen
def pairs_of_what_changes(xs):
    a = ~normal(0, 1)
    for first, second in itertools.pairwise(x * a for x in xs):
        a += first * second
    y = ~normal(a, 1)


@gen
def chain_of_a_list_that_grows(xs):
    a = ~normal(0, 1)
    values, total = [a, 1.0], 0.0
    for value in itertools.chain(values, xs):
        total += value
        if len(values) < 4:
            values.append(2.0)
    y = ~normal(total, 1)


@gen
def sums_by_a_function_that_looks(xs):
    a = ~normal(0, 1)
    scale = 1.0
    total = 0.0
    for value in itertools.accumulate(xs, lambda so_far, x: so_far + scale * x):
        total += value * a
        scale += 1.0
    y = ~normal(total, 1)


@gen
def places_of_an_array_that_changes(xs):
    a = ~normal(0, 1)
    table = np.array([1.0, 2.0, a])
    total = 0.0
    for (i,), value in np.ndenumerate(table):
        table[2] += i
        total += value
    y = ~normal(total, 1)


@gen
def changed_by_what_is_called(xs):
    a = ~normal(0, 1)
    values = [a, 1.0, 2.0]

    def told(one):
        values[2] += one
        return one

    y = ~normal(sum(told(second - first) for first, second in itertools.pairwise(values)), 1)


@gen
def counts_as_it_goes(xs):
    a = ~normal(0, 1)
    seen, total = [], 0.0

    def few(x):
        seen.append(x)
        return x < 3.5

    for x in itertools.takewhile(few, xs):
        total += x * len(seen)
    y = ~normal(total * a, 1)


@gen
def chooses_as_it_goes(xs):
    for i, (a, b) in enumerate(itertools.pairwise(("x", j) @ ~normal(0, 1) for j in range(3))):
        ("y", i) @ ~normal(a + b, 1)


@pytest.mark.parametrize("program", [counts_as_it_goes, chooses_as_it_goes])
def test_what_is_made_ahead_does_nothing_else(program):
    assert "changes what it has not made" in outcome(program, ([1.0, 3.0, 4.0],))


@gen
def made_ahead(xs):
    a = ~normal(0, 1)
    values, seen, total = [a, 1.0, 2.0], [], 0.0
    for first, second in itertools.pairwise(values):
        total += second - first
        seen.append(len(seen))
    for value in itertools.chain(xs, values, range(2)):
        total += value
    steps = [second - first for first, second in itertools.pairwise(x * a for x in xs)]
    for place, value in enumerate(itertools.accumulate(values)):
        total += place * value
    y = ~normal(total + sum(steps) + len(seen), 1)


@pytest.mark.parametrize(
    "program",
    [
        pairs_of_what_changes, chain_of_a_list_that_grows, sums_by_a_function_that_looks,
        places_of_an_array_that_changes, changed_by_what_is_called,
    ],
)  # fmt: skip
def test_what_a_loop_changes_that_it_goes_through_is_not_made_ahead(program):
    assert "which may change what its items are made of" in outcome(program, ([1.0, 3.0, 4.0],))


def test_what_no_loop_changes_is_made_ahead():
    assert outcome(made_ahead, ([1.0, 3.0, 4.0],)) == "equal"


@gen
def of_itertools(rows, xs):
    a = ~normal(0, 1)
    z = ~uniform_discrete(0, 2)
    total = sum(itertools.chain.from_iterable(rows)) + sum(itertools.chain.from_iterable([x] * 2 for x in xs))
    total += sum(itertools.islice(xs, 2)) + 2 * sum(itertools.islice(xs, z, None))
    total += sum(itertools.islice(xs, 0, 3, 2)) + sum(itertools.takewhile(lambda x: x < a + 2, xs))
    total += 3 * sum(itertools.dropwhile(lambda x: x < 2, xs))
    total += sum(itertools.starmap(lambda x, y: x * y * a, [(1.0, a), (2.0, z)]))
    for x in itertools.takewhile(lambda x: x < 3.5, (x + z for x in xs)):
        total += x
    ("y",) @ ~normal(total, 1)
    united = set().union(*[{i, z} for i in range(3)])
    joined = {7}.union([z, 9], {8})
    ("sets",) @ ~normal(len(united) + 10 * len(joined) + max(*xs) + min(*[x * a for x in xs]), 1)


@gen
def of_one_value(xs):
    ("y",) @ ~normal(max(*xs), 1)


@gen
def of_a_default(xs):
    ("y",) @ ~normal(max(*xs, default=0.0), 1)


@pytest.mark.parametrize("rng", range(4))
def test_more_of_itertools_and_stars(rng):
    assert outcome(of_itertools, ([[1.0], [], [2.0, 3.0]], [1.0, 3.0, 4.0]), rng=rng) == "equal"
    raises_everywhere(of_one_value, ([1.0],), {("y",): 0.1})
    raises_everywhere(of_a_default, ([1.0, 2.0],), {("y",): 0.1})


@gen
def shifted_as_it_goes():
    x = ~normal(0, 1)
    values, shift, total = [x, 2.0, 3.0], 0.0, 0.0
    for value in (one + shift for one in values):
        total += value
        shift = 0.5 * value
    ("y",) @ ~normal(total, 1)


def test_a_generator_reads_what_the_loop_over_it_changes():
    assert outcome(shifted_as_it_goes, ()) == "equal"
