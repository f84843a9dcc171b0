"""Containers that nested loops fill, arrays by several indices among them, update entry by entry."""

import numpy as np
import pytest

from gendsl import bernoulli, categorical, gamma, gen, iid, normal, uniform_discrete
from tests.runtime.idioms import SEEDS, Programs

PROGRAMS = Programs()
written = PROGRAMS.written


@written((3, 2), (2, 3), (3, 3), (1, 2), (0, 2))
@gen
def grid_of_numbers(n, m):
    s = ~gamma(2, 1)
    f = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            f[i, j] = ~normal(0, s)
    for i in range(n):
        for j in range(m):
            ("c", i, j) @ ~normal(f[i, j] + f[i - 1, -j], 1)
        ("r", i) @ ~normal(f[i].sum() + f[-1, 0], 1)
    for j in range(m):
        ("k", j) @ ~normal(np.mean(f[:, j]), s)
    return f


@written((3, 2), (2, 3), (3, 3), (1, 2), (0, 2))
@gen
def grid_in_a_dict(n, m):
    f = {(0, 7): 1.0, (0, 0): 2.0}
    for i in range(n):
        for j in range(m):
            f[i, j] = ("f", j, i) @ ~normal(i, 1)
    for i in range(n):
        for j in range(m):
            ("c", i, j) @ ~normal(f[i, j] - f[i, max(j - 1, 0)], 1)
    ("y",) @ ~normal(f[0, 7] + f[0, 0] + len(f), 1)
    ("z",) @ ~normal(sum(f.values()), 1)
    return f


@written((3, 2), (2, 3), (3, 3), (2, 2))
@gen
def spins(n, m):
    b = ~normal(0, 1)
    s = np.zeros((n, m), dtype=int)
    for i in range(n):
        for j in range(m):
            s[i, j] = ~bernoulli(0.5)
    for i in range(n):
        for j in range(m - 1):
            ("h", i, j) @ ~normal(b if s[i, j] == s[i, j + 1] else -b, 1)
    for i in range(n - 1):
        for j in range(m):
            ("v", i, j) @ ~normal(b if s[i, j] == s[i + 1, j] else -b, 1)


CELLS = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)]
TWICE = [(0, 0), (1, 0), (0, 0), (2, 1), (1, 0)]


@written((CELLS,), (TWICE,), (CELLS[:3],), (TWICE[::-1],))
@gen
def cells(at):
    f, g = {}, np.full((3, 2), 0.5)
    for t, (i, j) in enumerate(at):
        f[i, j] = ("f", t) @ ~normal(0, 1)
    for t, (i, j) in enumerate(at):
        g[i, j] = ("g", t) @ ~normal(g[0, 0] + g[i, j], 1)
    for t, (i, j) in enumerate(at):
        ("y", t) @ ~normal(f[i, j] + g[i, j] * g[2 - i, 1 - j], 1)
    return f, g


@written((CELLS,), (TWICE,), (CELLS[:3],))
@gen
def cells_whole(at):
    f = {}
    for t, at_t in enumerate(at):
        f[at_t] = ("f", t) @ ~normal(0, 1)
    for at_t in f:
        ("y", at_t) @ ~normal(f[at_t], 1)
    return f


@written(((3, 1, 2),), ((3, 1, 0),), ((1, 1, 2, 2),), ((0,),))
@gen
def ragged(sizes):
    f = {}
    g = np.zeros((4, 4))
    for i, n in enumerate(sizes):
        a = ("a", i) @ ~normal(0, 1)
        for j in range(n):
            f[i, j] = ~normal(a, 1)
        for j in range(n):
            g[j, i] = ("g", i, j) @ ~normal(a, 1)
    for i, n in enumerate(sizes):
        for j in range(n):
            ("y", i, j) @ ~normal(f[i, j] * g[j, i] + g[i, j], 1)


@written((2, 3), (3, 2), (2, 2))
@gen
def three_deep(n, m):
    f = np.ones((n, m, 2))
    u = ~normal(0, 1)
    for i in range(n):
        for j in range(m):
            for k in range(2):
                f[i, j, k] = ~normal(u, 1)
    for i in range(n):
        for j in range(m):
            ("y", i, j) @ ~normal(f[i, j, 0] - f[i, j, 1] + f[i, j, :].sum() + f[i, 0].sum(), 1)
    return f


@written((2, 3), (3, 2), (2, 2))
@gen
def nothing_chosen(n, m):
    a = [("a", i) @ ~normal(0, 1) for i in range(n)]
    b = [("b", j) @ ~normal(0, 1) for j in range(m)]
    f = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            f[i, j] = a[i] * b[j]
    for i in range(n):
        for j in range(m):
            ("y", i, j) @ ~normal(f[i, j], 1)


@written((3, 2), (2, 3), (3, 3))
@gen
def rows(n, m):
    f = np.zeros((n, m))
    for i in range(n):
        f[i] = ~iid(normal(0, 1), m)
    for i in range(n):
        for j in range(m):
            ("y", i, j) @ ~normal(f[i, j] + f[i][0] + f[-1, j], 1)
    ("z",) @ ~normal(f[0, :].sum(), 1)


@written((3, 2), (2, 3), (3, 3))
@gen
def rows_and_cells(n, m):
    f = np.zeros((n, m))
    for i in range(n):
        f[i] = ("row", i) @ ~iid(normal(0, 1), m)
    for i in range(n - 1):
        for j in range(m - 1):
            f[i, j] = ("cell", i, j) @ ~normal(0, 1)
    for i in range(n):
        for j in range(m):
            ("y", i, j) @ ~normal(f[i, j], 1)
    for i in range(n - 1):
        f[i] = ("again", i) @ ~iid(normal(0, 1), m)
    for i in range(n):
        ("z", i) @ ~normal(f[i, 0] + f[i].sum(), 1)


@written(4, 3, 5)
@gen
def keys_chosen(n):
    f = {0: 0.5, 1: -0.5, 2: 1.5}
    g = [0.0, 1.0, 2.0]
    h = np.zeros((3, 2))
    for t in range(n):
        z = ("z", t) @ ~uniform_discrete(0, 2)
        f[z] = ("f", t) @ ~normal(0, 1)
        g[z - 1] = ("g", t) @ ~normal(g[t % 3], 1)
        h[z, t % 2] = ("h", t) @ ~normal(h[z, 0], 1)
    for k in range(3):
        ("y", k) @ ~normal(f[k] + g[k] + h[k, 1], 1)
    return f, g, h


@written(6, 3, 8)
@gen
def keys_that_move(n):
    f = [0.5] * 4
    g = {0: 0.25}
    h = np.zeros((2, 3))
    for t in range(n):
        z = ("z", t) @ ~uniform_discrete(-2, 3)
        f[z] = ("f", t) @ ~normal(f[z - 1], 1)
        g[z] = ("g", t) @ ~normal(g[0] + len(g), 1)
        h[z % 2, z % 3] = ("h", t) @ ~normal(h[0, z % 3], 1)
        ("w", t) @ ~normal(f[-1] - f[2], 1)
    for k in range(4):
        ("y", k) @ ~normal(f[k] + h[k % 2, 1] + len(g), 1)
    for key in g:
        ("x", key) @ ~normal(g[key], 1)
    return f, g, h, list(g)


@written(6, 3, 8)
@gen
def one_of_the_others(n):
    f = [0.5] * 4
    for t in range(n):
        z = ("z", t) @ ~uniform_discrete(0, 3)
        f[z] = ("f", t) @ ~normal(0, 1)
        ("w", t) @ ~normal(f[3] - f[2], 1)


@written((4, [0, 1, 2, 3]), (4, [1, 0, 3, 2]), (4, [3, 3, 2, 2]), (3, [0, 1, 2]), (4, [0, 1, 3, 2]))
@gen
def others_in_an_order(n, order):
    f = [0.5] * 4
    for i, k in enumerate(order):
        f[k] = ("f", i) @ ~normal(0, 1)
        ("w", i) @ ~normal(f[3] - f[2], 1)
    return f, n


@written(4, 3, 5)
@gen
def keys_computed(n):
    order = [(3 * t + 1) % n for t in range(n)]
    f = [0.0] * n
    g = np.zeros(n)
    for t in range(n):
        f[n - 1 - t] = ("f", t) @ ~normal(0, 1)
    for t in range(n):
        g[order[t]] = ("g", t) @ ~normal(f[t], 1)
    for t in range(n):
        ("y", t) @ ~normal(f[t] - g[t] + g[-1], 1)
    return f


@written(4, 3, 5)
@gen
def walk_of_pairs(n):
    x = np.zeros((n, 2))
    for t in range(1, n):
        x[t, 0] = ~normal(x[t - 1, 0], 1)
    for t in range(1, n):
        x[t, 1] = ~normal(x[t - 1, 1] + x[t, 0], 1)
    for t in range(n):
        ("y", t) @ ~normal(x[t, 0] * x[t, 1], 1)
    return x


@written((3, 2), (2, 3), (3, 3))
@gen
def from_the_end(n, m):
    f = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            f[-1 - i, j - m] = ~normal(0, 1)
    for i in range(n):
        for j in range(2 * m):
            f[i, j % m - m] = ("g", i, j) @ ~normal(0, 1)
    for i in range(n):
        for j in range(m):
            ("y", i, j) @ ~normal(f[i, j] + f[i - n, j - m], 1)


@written((("a", "bb", "c"),), (("c", "a"),), (("a", "bb", "c", "d"),))
@gen
def named(names):
    a = {}
    for name in names:
        a[name] = ("a", name) @ ~normal(0, 1)
    for name in names:
        ("y", name) @ ~normal(a[name], 1)
    b = {name: ("b", name) @ ~normal(a[name], 1) for name in names}
    for name, xs in {name: [0.5] * len(name) for name in names}.items():
        for i, x in enumerate(xs):
            ("w", name, i) @ ~normal(b[name] + x, 1)


@written((3, 2), (2, 3), (3, 3))
@gen
def whole_numbers(n, m):
    counts = np.zeros((n, m), dtype=int)
    for i in range(n):
        for j in range(m):
            counts[i, j] = ~normal(0, 5)  # which the array rounds towards zero
    p = [0.25, 0.75]
    for i in range(n):
        for j in range(m):
            ("y", i, j) @ ~categorical(p if counts[i, j] > 0 else p[::-1])
    return counts


@written(4, 3, 5)
@gen
def two_a_step(n):
    q = ~gamma(2, 1)
    x = np.zeros((n, 2))
    for t in range(1, n):
        x[t, 0] = ~normal(x[t - 1, 0] + x[t - 1, 1], q)
        x[t, 1] = ~normal(x[t - 1, 1] + x[t, 0] / 2, 1)
    for t in range(n):
        ("y", t) @ ~normal(x[t, 0], 1)
        ("w", t) @ ~normal(x[t].sum() + x[-t, 1], 1)
    return x


@written(4, 3, 5)
@gen
def compartments(n):
    s = {("S", 0): 20.0, ("I", 0): 2.0}
    for t in range(1, n):
        new = ("new", t) @ ~uniform_discrete(0, 2)
        s["S", t] = s["S", t - 1] - new
        s["I", t] = ("I", t) @ ~normal(s["I", t - 1] + new + s["S", t], 1)
    for t in range(n):
        ("y", t) @ ~normal(s["S", t] * 0.1 + s["I", t], 1)
    ("z",) @ ~normal(len(s), 1)
    return s


@written(4, 3, 5)
@gen
def one_after_another(n):
    f = [0.5] * n
    g = np.zeros(n)
    for t in range(n):
        f[t] = ("f", t) @ ~normal(0, 1)
        f[0] = ("first", t) @ ~normal(f[t] - f[0], 1)
        f[-1] = f[t] + f[0]
    for t in range(n):
        k = ("k", t) @ ~uniform_discrete(0, 2)
        g[k] = ("g", t) @ ~normal(g[t], 1)
        g[t - 1] = ("h", t) @ ~normal(g[k], 1)
    for t in range(n):
        ("y", t) @ ~normal(f[t] + g[t], 1)
    return f


@written((3, 4), (3, 5), (2, 4), (3, 3))
@gen
def from_the_end_of_lists(n, size):
    f = [0.5] * size
    g = np.zeros((size, 2))
    for i in range(n):
        k = -1 - i
        f[k] = ("f", i) @ ~normal(0, 1)
        g[k, -1] = ("g", i) @ ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(f[size - 1 - i] + f[0] + g[size - 1 - i, 1] + g[0, 1], 1)


@written((5, (0, 1, 2, 3, 4)), (3, (0, 1, 2, 3, 4)), (5, (0, 1, 2, 4, 3)), (4, (0, 1, 2, 4, 3)))
@gen
def in_an_order(n, order):
    f = [0.5] * 5
    for t in range(n):
        f[order[t]] = ("f", t) @ ~normal(0, 1)
    for t in range(5):
        ("y", t) @ ~normal(f[t], 1)


@written((3, 2), (2, 3), (3, 3))
@gen
def rows_chosen(n, m):
    f = np.zeros((3, m))
    g = {}
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(-1, 1)
        for j in range(m):
            f[z, j] = ("f", i, j) @ ~normal(0, 1)
    for i in range(n):
        z = ("w", i) @ ~uniform_discrete(0, 2)
        g[z] = ("g", i) @ ~normal(0, 1)
    for i in range(3):
        for j in range(m):
            ("y", i, j) @ ~normal(f[i, j] + (g.get(i, 0.0)), 1)


@written(4, 2, 5)
@gen
def last_ones(n):
    x = []
    for i in range(n):
        x.append(("x", i) @ ~normal(0, 1))
    for i in range(3):
        z = ("z", i) @ ~uniform_discrete(0, 1)
        ("y", i) @ ~normal(x[-1 - z], 1)
        for j in range(2):
            ("w", i, j) @ ~normal(x[-1 - j] * x[-2], 1)


@written((3, 2), (2, 3), (3, 3))
@gen
def looked_up_in_inner_loops(n, m):
    mu = [("mu", k) @ ~normal(0, 1) for k in range(4)]
    for i in range(n):
        k = ("k", i) @ ~uniform_discrete(0, 3)
        for j in range(m):
            z = ("z", i, j) @ ~uniform_discrete(0, 3)
            ("x", i, j) @ ~normal(mu[z], 1)
        for j in range(k):
            ("v", i, j) @ ~normal(mu[j], 1)
        for j in range(k, 4):
            ("u", i, j) @ ~normal(mu[3 - j], 1)


@written(4, 2, 5)
@gen
def one_entry_by_two_names(n):
    f = [0.5] * 3
    for t in range(n):
        f[-1] = ("a", t) @ ~normal(0, 1)
        f[2] = ("b", t) @ ~normal(f[-1], 1)
        f[-1] = ("c", t) @ ~normal(f[2], 1)
        ("x", t) @ ~normal(f[2], 1)
    ("y",) @ ~normal(f[2] + f[0], 1)
    return f


@written((3, 2), (2, 3), (3, 3))
@gen
def blocks_of_cells(n, m):
    f = np.zeros((4, m))
    some = np.array([0, 2])
    for i in range(n):
        for j in range(m):
            f[some + i % 2, j] = ("f", i, j) @ ~normal(i, 1)
    for i in range(4):
        for j in range(m):
            ("y", i, j) @ ~normal(f[i, j], 1)


@written((3, 2), (2, 3), (3, 3), (1, 2))
@gen
def gone_through(n, m):
    f = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            f[i, j] = ~normal(0, 1)
    for i, row in enumerate(f):
        ("y", i) @ ~normal(row.sum(), 1)
    for i, (row, x) in enumerate(zip(f, f[0], strict=False)):
        ("z", i) @ ~normal(row[0] + x, 1)
    g = np.zeros((n, 2))
    for i in range(n):
        g[i, 0] = ~normal(0, 1)
        g[i, 1] = ~normal(g[i, 0], 1)
    for i, row in enumerate(g):
        ("w", i) @ ~normal(row[0] - row[1], 1)
    return [row.max() for row in f], [("v", i) @ ~normal(row[1], 1) for i, row in enumerate(g)]


@written((4, 3), (2, 1), (5, 3), (4, 2))
@gen
def several_at_once(n, k):
    f = np.zeros(n)
    g = np.zeros((n, 2))
    some = np.arange(k) % n
    for t in range(n):
        f[t] = ("f", t) @ ~normal(f[some].sum(), 1)
        g[t, t % 2] = ("g", t) @ ~normal(g[some].sum() + g[some, 1].sum(), 1)
    for t in range(n):
        ("y", t) @ ~normal(f[some].mean() + g[some, t % 2].mean(), 1)
    return f, g


OPAQUE = Programs()


@OPAQUE.written((3, 2), (2, 3), (3, 3))
@gen
def read_while_it_is_filled(n, m):
    f = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            f[i, j] = ~normal(0, 1)
        ("s", i) @ ~normal(f[i, 0] + f[0, 0], 1)


@OPAQUE.written(4, 2, 5)
@gen
def left_in_between(n):
    f = np.zeros((n, 2))
    for t in range(n):
        f[t, 0] = ~normal(0, 1)
        z = ("z", t) @ ~bernoulli(0.5)
        if z:
            continue
        f[t, 1] = ~normal(0, 1)
    for t in range(n):
        ("y", t) @ ~normal(f[t, 0] + f[t, 1], 1)


@OPAQUE.written(4, 2, 5)
@gen
def many_at_once(n):
    f = np.zeros(5)
    some = np.array([0, 2])
    for t in range(n):
        f[some] = ("f", t) @ ~normal(f[2], 1)
        f[t] = ("g", t) @ ~normal(f[0], 1)
    for t in range(5):
        ("y", t) @ ~normal(f[t], 1)


@OPAQUE.written((3, 2), (2, 3), (3, 3))
@gen
def lists_in_a_list(n, m):
    f = [[0.0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            f[i][j] = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(f[i][0] + sum(f[i]), 1)


@pytest.mark.parametrize("name", OPAQUE)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_executed_whole_is_right_too(name, seed):
    OPAQUE.agree(name, seed)


test_both_runtimes_agree = PROGRAMS.test_of_agreement(columns_from=[None, 2])


@pytest.mark.parametrize("name", PROGRAMS)
def test_none_is_executed_whole(name):
    model, _ = PROGRAMS[name]
    assert "opaque" not in model.explain()


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("from_the_end_of_lists", [(3, 4), (3, 6), (3, 4), (3, 5)]),
        ("from_the_end", [(2, 2), (3, 2), (3, 3), (2, 3)]),
        ("in_an_order", [(5, (0, 1, 2, 3, 4)), (3, (0, 1, 2)), (5, (0, 1, 2, 4, 3)), (4, (0, 1, 2, 4))]),
        ("cells", [(TWICE,), (CELLS,), (CELLS[:3],), (TWICE[:4],), (CELLS[:2],)]),
        ("ragged", [((3, 1, 2),), ((1, 1),), ((1, 3, 2),), ((3, 3, 2, 1),)]),
        ("named", [(("a", "bb", "c"),), (("a", "x", "c"),), (("c", "a", "bb"),), (("d", "bb", "a"),)]),
    ],
)
def test_other_arguments_one_after_another(name, steps):
    PROGRAMS.follow(name, steps)


# --- entries for which there is no room ------------------------------------------------------------


@gen
def past_a_list(n):
    f = [0.0] * 3
    for i in range(n):
        f[i] = ~normal(0, 1)


@gen
def past_an_array(n):
    f = np.zeros(4)
    for i in range(n):
        f[i + 1] = ~normal(0, 1)


@gen
def past_a_row(n):
    f = np.zeros((3, 2))
    for i in range(n):
        for j in range(2):
            f[i, j] = ~normal(0, 1)


@gen
def too_wide(n):
    f = np.zeros((3, 3))
    for i in range(3):
        f[i] = ~iid(normal(0, 1), n)


@gen
def doubled(n):
    f = [0.0] * 5
    for i in range(n):
        f[2 * i] = ~normal(0, 1)


@gen
def chosen(n):
    f = [0.0] * 3
    z = ~uniform_discrete(2, n - 1)
    for i in range(2):
        f[z - i] = ("f", i) @ ~normal(0, 1)


@gen
def two_of_a_list(n):
    f = [0.0] * 3
    for i in range(n):
        f[i] = ("f", i) @ ~normal(0, 1)
        f[-1 - i] = ("g", i) @ ~normal(0, 1)


@pytest.mark.parametrize(
    "model",
    [past_a_list, past_an_array, past_a_row, too_wide, doubled, chosen, two_of_a_list],
    ids=lambda model: model.name,
)
def test_an_entry_for_which_there_is_no_room_is_an_error(model):
    trace = model.simulate((3,), rng=1)
    for runtime in (model, model.reference):
        with pytest.raises((IndexError, ValueError)) as whole:
            runtime.simulate((50,), rng=1)
        if model is too_wide:
            continue  # the rows stay as they are, and fit
        with pytest.raises((IndexError, ValueError)) as changed:
            values = {"z": 7} if model is chosen else {}
            runtime.generate((3,), init=dict(trace.choices), rng=1).trace.update(values, args=(50,), rng=1)
        assert type(changed.value) is type(whole.value)


@gen
def scattered(n):
    for k in range(3):
        s = np.full(3, 0.25)
        for i in range(n):
            z = ("z", k, i) @ ~uniform_discrete(0, 2)
            s[z] = ("s", k, i) @ ~normal(0, 1)


@pytest.mark.parametrize("before", [{}, {("s", 0, 0): 0.5}, {("z", 0, 0): 1}, {("z", 1, 0): 1}], ids=str)
def test_an_entry_that_a_choice_moves_out_of_range_is_an_error(before):
    """Also in the second edit, when the array is one that an edit has made."""
    for runtime in (scattered, scattered.reference):
        trace = runtime.simulate((2,), rng=1).update(before).trace
        with pytest.raises(IndexError, match="out of bounds"):
            trace.update({("z", 0, 1): 3})


@pytest.mark.parametrize("index", [(3, 0), (-4, 0), (0, 2), (0, -3)])
def test_a_lookup_out_of_range_is_an_error(index):
    @gen
    def model():
        f = np.zeros((3, 2))
        for i in range(3):
            for j in range(2):
                f[i, j] = ~normal(0, 1)
        ("y",) @ ~normal(f[index], 1)

    for runtime in (model, model.reference):
        with pytest.raises(IndexError, match="out of bounds"):
            runtime.simulate((), rng=1)


def test_a_list_takes_no_two_indices():
    @gen
    def model(n):
        f = [0.0] * 3
        for i in range(n):
            f[i, 0] = ~normal(0, 1)

    for runtime in (model, model.reference):
        with pytest.raises(TypeError, match="list indices must be integers or slices, not tuple"):
            runtime.simulate((2,), rng=1)


@pytest.mark.parametrize("dtype", [float, int, bool, object])
@pytest.mark.parametrize("entry", [np.array([0.5]), np.array([[1.0]]), [2.5], (0.0,), [1, 2], "1"], ids=str)
def test_an_array_takes_what_it_takes_of_plain_python(dtype, entry):
    """An array's entry that is no number is taken, or refused, by an edit as by the whole loop."""

    @gen
    def model(n):
        f = np.zeros(n, dtype)
        for i in range(n):
            x = ("x", i) @ ~normal(0, 1)
            f[i] = entry if x == 2.0 else i
        return f[n - 1]

    found = []
    for runtime in (model, model.reference):
        trace = runtime.simulate((100,), rng=1)
        try:
            found.append(repr(trace.update({("x", 99): 2.0}).trace.retval))
        except (TypeError, ValueError) as error:
            found.append(type(error))
    assert found[0] == found[1]
