"""Lists and dicts of rows whose entries loops write, `f[i][j] = ...`, update entry by entry."""

import numpy as np
import pytest

from gendsl import bernoulli, gamma, gen, iid, normal, uniform_discrete
from tests.runtime.idioms import SEEDS, Programs

PROGRAMS = Programs()
written = PROGRAMS.written


@written((3, 2), (2, 3), (3, 3), (1, 2), (0, 2))
@gen
def lists_in_a_list(n, m):
    f = [[0.0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            f[i][j] = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(f[i][0] + sum(f[i]), 1)
    for i in range(n):
        for j in range(m):
            ("c", i, j) @ ~normal(f[i][j] + f[i - 1][-j], 1)
    return f


@written((3, 2), (2, 3), (3, 3), (1, 2))
@gen
def columns_first(n, m):
    s = ~gamma(2, 1)
    f = [[0.5 for j in range(m)] for _ in range(n)]
    for j in range(m):
        for i in range(n):
            f[i][j] = ("f", i, j) @ ~normal(0, s)
    for i, row in enumerate(f):
        ("y", i) @ ~normal(row[0] + max(row), 1)
    for row, first in zip(f, f[0], strict=False):
        ("z", first) @ ~normal(row[-1], 1)
    return f, len(f), [len(row) for row in f]


@written((4, 2), (2, 3), (5, 2), (3, 3))
@gen
def series(n, k):
    x = [[0.0] * n for _ in range(k)]
    for t in range(1, n):
        x[0][t] = ~normal(x[0][t - 1], 1)
        x[k - 1][t] = ("last", t) @ ~normal(x[k - 1][t - 1] + x[0][t], 1)
    for t in range(n):
        ("y", t) @ ~normal(sum(x[i][t] for i in range(k)), 1)
    return x


@written(4, 3, 5)
@gen
def walk_of_pairs(n):
    x = [[0.0, 1.0] for _ in range(n)]
    for t in range(1, n):
        x[t][0] = ~normal(x[t - 1][0] + x[t - 1][1], 1)
        x[t][1] = ("v", t) @ ~normal(x[t - 1][1] + x[t][0] / 2, 1)
        ("o", t) @ ~normal(sum(x[t]) + len(x[t]), 1)
    for t in range(n):
        ("y", t) @ ~normal(x[t][0] * x[-t][1], 1)
    return x


@written((("a", "bb", "c"), 2), (("c", "a"), 3), (("a", "bb", "c", "d"), 2), (("a", "bb"), 2))
@gen
def dict_of_lists(names, m):
    f = {name: [0.5] * m for name in names}
    for name in names:
        for j in range(m):
            f[name][j] = ~normal(0, 1)
    for name in names:
        ("y", name) @ ~normal(f[name][0] + f[names[0]][-1], 1)
    ("z",) @ ~normal(sum(sum(row) for row in f.values()) + len(f), 1)
    for name, row in f.items():
        ("w", name) @ ~normal(row[0], 1)
    return f


@written(3, 2, 4)
@gen
def list_of_dicts(n):
    f = [{"a": 0.0} for _ in range(n)]
    for i in range(n):
        f[i]["a"] = ~normal(0, 1)
        f[i]["b", -1] = ("b", i) @ ~normal(f[i]["a"], 1)
    for i in range(n):
        f[i - 1][-i] = ("c", i) @ ~normal(f[i]["b", -1], 1)
    for i in range(n):
        ("y", i) @ ~normal(f[i]["a"] + f[i]["b", -1] + len(f[i]) + f[i - 1].get(-i, 0.0), 1)
    return f


@written(3, 2, 4)
@gen
def dict_of_dicts(n):
    f = {}
    for i in range(n):
        f[i, "x"] = {}
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(-2, 1)
        for j in range(2):
            f[i, "x"][z, j] = ("f", i, j) @ ~normal(z, 1)
    for i in range(n):
        ("y", i) @ ~normal(f[i, "x"].get((0, 1), 5.0) + len(f[i, "x"]), 1)
    return f


@written((3, 2), (2, 3), (3, 3), (1, 2))
@gen
def list_of_arrays(n, m):
    f = [np.zeros(m, dtype=int) for _ in range(n)]
    g = [np.zeros((m, 2)) for _ in range(n)]
    for i in range(n):
        for j in range(m):
            f[i][j] = ~normal(0, 5)  # which the array rounds towards zero
        g[i][-1] = ("g", i) @ ~iid(normal(0, 1), 2)
    for i in range(n):
        ("y", i) @ ~normal(f[i].sum() + f[i][0] / 2 + g[i][m - 1][0] + g[i][:, 1].sum(), 1)
    return f, g


@written((3, 2), (2, 3), (3, 3))
@gen
def appended_rows(n, m):
    f = []
    for i in range(n):
        f.append([float(i)] * m)
    g = []
    for i in range(n):
        row = []
        for j in range(m):
            row.append(("g", i, j) @ ~normal(0, 1))
        g.append(row)
    for i in range(n):
        for j in range(m):
            f[i][j] = ("f", i, j) @ ~normal(g[i][j], 1)
    for i in range(n):
        ("y", i) @ ~normal(f[i][0] + g[i][-1], 1)
    return f, g


@written(((3, 1, 2),), ((3, 1, 3),), ((1, 1, 2, 2),), ((1,),))
@gen
def ragged(sizes):
    f = [[0.0] * n for n in sizes]
    for i, n in enumerate(sizes):
        a = ("a", i) @ ~normal(0, 1)
        for j in range(n):
            f[i][j] = ("f", i, j) @ ~normal(a, 1)
    for i in range(len(sizes)):
        f[i][-1] = ("last", i) @ ~normal(f[i][0], 1)
    for i, n in enumerate(sizes):
        ("y", i) @ ~normal(f[i][-1] + f[i][n - 1] + f[-1][0], 1)
    return f


@written(4, 3, 5)
@gen
def rows_chosen(n):
    f = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    for t in range(n):
        z = ("z", t) @ ~uniform_discrete(-1, 2)
        w = ("w", t) @ ~bernoulli(0.5)
        f[z][w] = ("f", t) @ ~normal(f[t % 3][1 - w], 1)
    for t in range(n):
        z = ("u", t) @ ~uniform_discrete(0, 2)
        ("y", t) @ ~normal(f[z][0] - f[z - 1][-1], 1)
    return f


@written((3, 2), (2, 3), (3, 3))
@gen
def over_chosen_rows(n, m):
    f = [[("base", i, j) @ ~normal(0, 1) for j in range(m)] for i in range(n)]
    for i in range(n):
        f[i][0] = ("f", i) @ ~normal(f[i][m - 1], 1)
    for i in range(n):
        for j in range(1, m):
            f[i][j] = ("g", i, j) @ ~normal(i, 1) if j % 2 else 0.5
    for i in range(n):
        for j in range(m):
            ("y", i, j) @ ~normal(f[i][j], 1)
    return f


@written((3, 2), (2, 3), (3, 3))
@gen
def whole_rows_and_entries(n, m):
    f = [[0.0] * m for _ in range(n)]
    for i in range(n):
        f[i] = [("row", i, j) @ ~normal(0, 1) for j in range(m)]
    for i in range(n - 1):
        f[i][0] = ("cell", i) @ ~normal(f[i][m - 1], 1)
    for i in range(n):
        ("y", i) @ ~normal(f[i][0] + sum(f[i - 1]), 1)
    for i in range(n - 1):
        f[i + 1] = [("again", i) @ ~normal(0, 1)] * m
    for i in range(n):
        ("z", i) @ ~normal(f[i][0] + f[i][-1], 1)
    return f


@written((3, 2), (2, 3), (3, 3))
@gen
def nothing_chosen(n, m):
    a = [("a", i) @ ~normal(0, 1) for i in range(n)]
    f = [[0.0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            f[i][j] = a[i] * j
    f[0][1] = 2.0
    f[n - 1][0] = ("corner",) @ ~normal(f[0][1], 1)
    for i in range(n):
        for j in range(m):
            ("y", i, j) @ ~normal(f[i][j], 1)
    return f


@gen
def average(rows, i):
    total = ~normal(sum(rows[i]), 1)
    return total + rows[0][0]


@written((3, 2), (2, 3), (3, 3))
@gen
def handed_on(n, m):
    f = [[0.0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            f[i][j] = ~normal(0, 1)
    a = [("a", i) @ ~average(f, i) for i in range(n)]
    rows = [row for row in f if row[0] > 0]
    ("y",) @ ~normal(len(rows) + sum(row[-1] for row in rows), 1)
    last = f[-1]
    ("z",) @ ~normal(last[0] + f[0][0], 1)
    return a, rows


test_both_runtimes_agree = PROGRAMS.test_of_agreement(columns_from=[None, 2])
test_none_is_executed_whole = PROGRAMS.test_of_blocks()


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("lists_in_a_list", [(2, 2), (3, 2), (3, 3), (2, 3)]),
        ("ragged", [((3, 1, 2),), ((1, 1),), ((1, 3, 2),), ((3, 3, 2, 1),)]),
        ("dict_of_lists", [(("a", "b"), 2), (("a", "x", "c"), 2), (("c", "a"), 3), (("d", "a"), 3)]),
        ("list_of_dicts", [(2,), (4,), (3,), (1,)]),
        ("series", [(3, 2), (5, 2), (5, 3), (4, 1)]),
    ],
)
def test_other_arguments_one_after_another(name, steps):
    PROGRAMS.follow(name, steps)


# --- rows that others hold -------------------------------------------------------------------------

SHARED = Programs()
shared = SHARED.written


@shared((3, 2), (2, 3), (3, 3))
@gen
def one_row_many_times(n, m):
    f = [[0.0] * m] * n
    for i in range(n):
        for j in range(m):
            f[i][j] = ~normal(f[0][0], 1)
    for i in range(n):
        ("y", i) @ ~normal(f[i][0] + sum(f[i]), 1)
    return f


@shared((3, 2), (2, 3), (3, 3))
@gen
def one_row_in_each(n, m):
    row = [0.0] * m
    f = [row for _ in range(n)]
    for i in range(n):
        f[i][0] = ~normal(0, 1)
    ("y",) @ ~normal(f[0][0] + row[0], 1)


@shared(3, 2, 4)
@gen
def held_before(n):
    f = [[0.0, 1.0] for _ in range(n)]
    first = f[0]
    for i in range(n):
        f[i][0] = ~normal(0, 1)
    ("y",) @ ~normal(first[0], 1)


@shared(3, 2, 4)
@gen
def held_in_between(n):
    f = [[0.0, 1.0] for _ in range(n)]
    kept = []
    for i in range(n):
        kept.append(f[i])
        f[i][0] = ~normal(kept[0][0], 1)
    ("y",) @ ~normal(kept[-1][0], 1)


@shared(3, 2, 4)
@gen
def a_list_of_the_same_rows(n):
    f = [[0.0, 1.0] for _ in range(n)]
    g = f.copy()
    h = f + [[0.5]]  # noqa: RUF005 (as users write it)
    for i in range(n):
        f[i][0] = ~normal(0, 1)
    ("y",) @ ~normal(g[0][0] + h[1][0], 1)


@shared(3, 2, 4)
@gen
def one_more_list_of_them(n):
    g = []
    f = [[0.0, 1.0] for _ in range(n)]
    g += f
    for i in range(n):
        f[i][0] = ~normal(0, 1)
    ("y",) @ ~normal(g[0][0], 1)


@shared(3, 2, 4)
@gen
def row_in_a_row(n):
    f = [[0.0, 1.0] for _ in range(n)]
    f[0][1] = f[1]
    for i in range(n):
        f[i][0] = ~normal(0, 1)
    ("y",) @ ~normal(f[0][1][0], 1)


@shared(3, 2, 4)
@gen
def put_there_later(n):
    row = [0.0, 1.0]
    f = [[0.0, 1.0] for _ in range(n)]
    f[0] = row
    for i in range(n):
        f[i][0] = ~normal(0, 1)
    ("y",) @ ~normal(row[0], 1)


@shared(3, 2, 4)
@gen
def changed_by_another_name(n):
    f = [[0.0, 1.0] for _ in range(n)]
    for i in range(n):
        f[i][0] = ~normal(0, 1)
    for row in f:
        row[1] = row[0]
    for i in range(n):
        f[i][0] = ("g", i) @ ~normal(f[i][1], 1)
    ("y",) @ ~normal(f[0][0] + f[0][1], 1)


@shared((3, slice(0, 1)), (3, slice(1, 3)), (4, slice(0, 2)))
@gen
def several_rows(n, some):
    f = [[0.0, 1.0] for _ in range(n)]
    first = f[some][0]
    for i in range(n):
        f[some][0] = ("f", i) @ ~normal(0, 1)
        f[i][0] = ("g", i) @ ~normal(0, 1)
    ("y",) @ ~normal(first[0] + f[0][0], 1)


@shared((3, slice(0, 1)), (3, slice(1, 3)), (4, slice(0, 2)))
@gen
def first_of_several(n, some):
    f = [[0.0, 1.0] for _ in range(n)]
    first = f[some][0]
    for i in range(n):
        f[i][0] = ~normal(0, 1)
    ("y",) @ ~normal(first[0] + f[0][0], 1)


@shared((3, slice(0, 1)), (3, slice(1, 3)), (4, 1))
@gen
def written_to_a_part(n, some):
    f = [[0.0, 1.0] for _ in range(n)]
    for i in range(n):
        f[some][0] = ("f", i) @ ~normal(0, 1)
    ("y",) @ ~normal(f[0][0], 1)


@shared(3, 2, 4)
@gen
def three_deep(n):
    f = [[[0.0] * 2] * 2 for _ in range(n)]
    for i in range(n):
        f[i][0][1] = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(f[i][1][1], 1)


@pytest.mark.parametrize("columns_from", [None, 2])
@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_that_others_hold_are_right_too(name, seed, columns_from):
    SHARED.agree(name, seed, columns_from=columns_from)


# --- entries for which there is no room ------------------------------------------------------------


@gen
def past_a_row(n):
    f = [[0.0] * 2 for _ in range(3)]
    for i in range(3):
        for j in range(n):
            f[i][j] = ~normal(0, 1)


@gen
def past_the_rows(n):
    f = [[0.0] * 2 for _ in range(3)]
    for i in range(n):
        f[i][1] = ~normal(0, 1)


@gen
def no_such_key(n):
    f = {i: [0.0] for i in range(4)}
    for i in range(n):
        f[i][0] = ~normal(0, 1)


@gen
def chosen(n):
    f = [[0.0] * 2, [0.0]]
    z = ~uniform_discrete(0, 1)
    for i in range(n):
        f[z][i % 2] = ("f", i) @ ~normal(0, 1)


@pytest.mark.parametrize(
    ("model", "few", "many", "values"),
    [(past_a_row, 2, 3, {}), (past_the_rows, 3, 4, {}), (no_such_key, 4, 5, {}), (chosen, 2, 2, {"z": 1})],
    ids=lambda given: getattr(given, "name", ""),
)
def test_an_entry_for_which_there_is_no_room_is_an_error(model, few, many, values):
    trace = model.generate((few,), init={"z": 0} if values else {}, rng=1).trace
    for runtime in (model, model.reference):
        with pytest.raises((IndexError, KeyError)) as whole:
            runtime.generate((many,), values, rng=1)
    with pytest.raises(type(whole.value)):
        trace.update(values, args=(many,), rng=1)


def test_a_text_takes_no_entries():
    @gen
    def model(n):
        f = [0.0, "text"] if n else [[0.0]]
        for i in range(2):
            f[i][0] = ~normal(0, 1)

    for runtime in (model, model.reference):
        with pytest.raises(TypeError):
            runtime.simulate((1,), rng=1)


def test_what_makes_shared_rows_incremental_is_said():
    said = " ".join(one_row_many_times.explain().replace("|", " ").split())
    assert "it changes something inside f" in said
    assert "make the rows where f is made, `[[0.0] * m for _ in range(n)]`, or fill an array" in said


def test_the_explanation_names_the_entries_that_are_read():
    said = " ".join(walk_of_pairs.explain().replace("|", " ").split())
    assert "x at [t - 1][1] and [t - 1][0]" in said
    assert "x at [i][t] for i in range(k)" in " ".join(series.explain().replace("|", " ").split())
