"""Nested loops that look up in the containers that they fill update entry by entry."""

import numpy as np
import pytest

from gendsl import bernoulli, gamma, gen, normal, uniform_discrete
from tests.runtime.idioms import SEEDS, Programs

PROGRAMS = Programs()
written = PROGRAMS.written
SIZES = (3, 2), (2, 3), (4, 3), (1, 2), (0, 2), (3, 0), (4, 1)


@written(*SIZES)
@gen
def walks(n, m):
    s = ~gamma(2, 1)
    x = np.zeros((n, m))
    for t in range(n):
        for j in range(m):
            x[t, j] = ~normal(x[t - 1, j] if t > 0 else 0.0, s)
    for t in range(n):
        for j in range(m):
            ("y", t, j) @ ~normal(x[t, j], 0.5)
    return x


@written(*SIZES)
@gen
def walks_in_a_dict(n, m):
    x = {}
    for t in range(n):
        for j in range(m):
            x[t, j] = ~normal(x[t - 1, j] if t > 0 else 0.0, 1)
            ("y", t, j) @ ~normal(x[t, j], 0.5)
    return x, len(x)


@written(*SIZES)
@gen
def walks_asked_for(n, m):
    x = {(0, 7): 0.5}
    for t in range(n):
        for j in range(m):
            x[t, j] = ~normal(x[t - 1, j] if (t - 1, j) in x else x[0, 7], 1)
        ("y", t) @ ~normal(x.get((t, 1), 0.25), 1)
    return list(x)


@written(*SIZES)
@gen
def walks_in_lists(n, m):
    x = [[0.0] * m for _ in range(n)]
    for t in range(n):
        for j in range(m):
            x[t][j] = ~normal(x[t - 1][j] if t > 0 else 0.0, 1)
            ("y", t, j) @ ~normal(x[t][j] - x[t][0], 0.5)
    for t in range(n):
        ("z", t) @ ~normal(sum(x[t]), 1)
    return x


@written(*SIZES)
@gen
def walks_in_a_dict_of_lists(n, m):
    x = {k: [0.5] * m for k in range(n)}
    for k in range(n):
        for j in range(m):
            x[k][j] = ~normal(x[k][j - 1] if j > 0 else 0.0, 1)
        ("z", k) @ ~normal(sum(x[k]) + sum(x[0]), 1)
    return x


@written(*SIZES)
@gen
def either_arm(n, m):
    a, b, c = np.zeros(n), [], {}
    x = np.zeros((n, m))
    for t in range(n):
        if t == 0:
            a[t] = ~normal(0, 1)
            b.append(("b", t) @ ~normal(a[t], 1))
            c[t] = 0.5
        elif t == 1:
            a[t] = ~normal(a[t - 1], 2)
            b.append(0.5)
            c[t - 1] = ~normal(c[0], 1)
        else:
            a[t] = ~normal(a[t - 1] + a[t - 2], 1)
            b.append(("b", t) @ ~normal(b[t - 1], 1))
            c[t] = ~normal(a[t], 1)
        ("o", t) @ ~normal(a[t] + b[t] + b[-1] + c[0], 1)
    for t in range(n):
        for j in range(m):
            if t == 0:
                x[t, j] = ~normal(0, 1)
            else:
                x[t, j] = ~normal(x[t - 1, j], 1)
            ("y", t, j) @ ~normal(x[t, j], 0.5)
    return a, b, c, x


@written(*SIZES)
@gen
def either_loop(n, m):
    x = np.zeros((n, m))
    for t in range(n):
        c = ("c", t) @ ~bernoulli(0.5)
        if c:
            for j in range(m):
                x[t, j] = ("a", t, j) @ ~normal(x[t - 1, j], 1)
        else:
            for j in range(m):
                x[t, j] = ("b", t, j) @ ~normal(x[t, j - 1], 1)
            ("w", t) @ ~normal(x[t].sum(), 1)
        ("v", t) @ ~normal(x[t, 0] if m else 0.0, 1)
    for t in range(n):
        for j in range(m):
            ("y", t, j) @ ~normal(x[t, j], 0.5)
    return x


@written(*SIZES)
@gen
def chosen_arms(n, m):
    f = np.zeros((n, m))
    g = {}
    h = [0.0] * 4
    for t in range(n):
        c = ("c", t) @ ~bernoulli(0.5)
        if c:
            h[t % 4] = ("h", t) @ ~normal(h[0], 1)
            ("hh", t) @ ~normal(h[t % 4], 1)
        else:
            h[(t + 1) % 4] = 1.5
        for j in range(m):
            z = ("z", t, j) @ ~uniform_discrete(0, 2)
            if z == 0:
                f[t, j] = ("f", t, j) @ ~normal(f[t - 1, j], 1)
                g[z, j] = f[t, j] + 0.5
            elif z == 1:
                f[t, j] = ("f", t, j) @ ~normal(f[t, j - 1], 1)
                ("v", t, j) @ ~normal(f[t, j], 1)
                g[z, t] = 0.5
            else:
                f[t, 0] = 1.0
                g[j, t] = f[t, 0] + f[t, j]
        ("w", t) @ ~normal(f[t].sum() + len(g) + h[0], 1)
    return f, g, h


@written(*SIZES)
@gen
def at_times(n, m):
    f = np.zeros((n, m))
    g = {}
    for t in range(n):
        if t > 0:
            for j in range(m):
                f[t, j] = ~normal(f[t - 1, j], 1)
        s = ("s", t) @ ~bernoulli(0.5)
        if s:
            g[t, m] = ("gm", t) @ ~normal(g[t - 1, m] if (t - 1, m) in g else 0.0, 1)  # noqa: SIM401
            ("v", t) @ ~normal(g[t, m], 1)
        for j in range(m):
            z = ("z", t, j) @ ~bernoulli(0.5)
            if z:
                g[t, j] = ("g", t, j) @ ~normal(g[t - 1, j] if (t - 1, j) in g else 0.0, 1)  # noqa: SIM401
        ("w", t) @ ~normal(f[t].sum() + len(g), 1)
    for key in g:
        ("y", *key) @ ~normal(g[key], 1)
    return f, g


@written(*SIZES)
@gen
def first_ones(n, m):
    x = np.zeros((n + 1, m))
    for j in range(m):
        x[0, j] = ~normal(0, 1)
    for t in range(1, n):
        for j in range(m):
            x[t, j] = ~normal(x[t - 1, j], 1)
    for t in range(n):
        ("y", t) @ ~normal(x[t].sum() + x[:, 0].sum() + x[t, 1:].sum() if m else 0.0, 1)
    return x


@written(*SIZES)
@gen
def fields(n, m):
    a = ~normal(0, 1)
    x = np.zeros((n, m))
    for t in range(n):
        for j in range(m):
            mean = 0.0
            if t > 0:
                mean += a * x[t - 1, j]
            if j > 0:
                mean += a * x[t, j - 1]
            x[t, j] = ~normal(mean, 1)
    for t in range(n):
        for j in range(m):
            ("y", t, j) @ ~normal(x[t, j], 0.5)


@written(*SIZES)
@gen
def by_rows(n, m):
    w = np.linspace(0.1, 0.5, max(m, 1))[:m]
    x = np.zeros((n, m))
    for t in range(n):
        mean = w @ x[t - 1, :] if t else 0.0
        for j in range(m):
            x[t, j] = ~normal(mean + x[t - 1].sum() + w[j:] @ x[t, j:], 1)
        ("z", t) @ ~normal(x[t].sum() + x[: t + 1, 0].sum() if m else 0.0, 1)
    for t in range(n):
        ("y", t) @ ~normal(x[t].mean() if m else 0.0, 0.5)
    return x


@written(*SIZES)
@gen
def panels(n, m):
    rho = ~normal(0, 1)
    y = np.zeros((n, m + 1))
    z = [[0.0] * (m + 1) for _ in range(n)]
    for i in range(n):
        a = ("a", i) @ ~normal(0, 1)
        y[i, 0] = ~normal(a, 1)
        for t in range(1, m + 1):
            y[i, t] = ~normal(a + rho * y[i, t - 1], 1)
        z[i][0] = ~normal(y[i, m], 1)
        for t in range(1, m + 1):
            z[i][t] = ~normal(z[i][t - 1] * rho + z[i - 1][t], 1)
        z[i][m] = ("last", i) @ ~normal(z[i][m] + z[i][0], 1)
        ("o", i) @ ~normal(z[i][m] + y[i].sum(), 1)
    return y, z


@written(*SIZES)
@gen
def several_at_once(n, m):
    x, v = np.zeros((n, m, 2)), {}
    for t in range(n):
        for j in range(m):
            v[t, j] = ~normal(v[t - 1, j] if t > 0 else 0.0, 1)
            x[t, j, 0] = ("a", t, j) @ ~normal(x[t - 1, j, 0] + v[t, j], 1)
            x[t, j, 1] = ("b", t, j) @ ~normal(x[t, j, 0] + x[t, j - 1, 1], 1)
        ("w", t) @ ~normal(x[t, :, 1].sum() + (v[t, 0] if m else 0.0), 1)
    for t in range(n):
        for j in range(m):
            ("y", t, j) @ ~normal(x[t, j].sum(), 1)
    return x, v


@written(*SIZES)
@gen
def three_deep(n, m):
    x = np.zeros((n, m, 2))
    for t in range(n):
        for i in range(m):
            for j in range(2):
                x[t, i, j] = ~normal(x[t - 1, i, j] + x[t, i - 1, j] + x[t, i, j - 1], 1)
            ("v", t, i) @ ~normal(x[t, i].sum(), 1)
        ("w", t) @ ~normal(x[t, 0, 1] if m else 0.0, 1)
    return x


@written(*SIZES)
@gen
def nothing_chosen(n, m):
    a = [("a", t) @ ~normal(0, 1) for t in range(n)]
    x, w = np.zeros((n, m)), np.zeros((n, m))
    for t in range(n):
        s = ("s", t) @ ~normal(0, 1)
        for j in range(m):
            if t == 0:
                w[t, j] = a[t]
            else:
                w[t, j] = 0.5 * w[t - 1, j] + a[t] * s
        for j in range(m):
            x[t, j] = w[t, j] * x[t - 1, j] + 1.0
    for t in range(n):
        for j in range(m):
            ("y", t, j) @ ~normal(x[t, j] + w[t, j], 1)


@written(*SIZES)
@gen
def arms(n, m):
    x = np.zeros((n, m))
    for t in range(n):
        for j in range(m):
            if j > 0 and x[t, j - 1] > 0.0:
                x[t, j] = ~normal(0.5, 1)
            else:
                x[t, j] = ~normal(x[t - 1, j] if t > 0 else 0.0, 1)
    return x


@written(*SIZES)
@gen
def whole_numbers(n, m):
    x = np.zeros((n, m), dtype=int)
    for t in range(n):
        for j in range(m):
            x[t, j] = ~normal(x[t - 1, j] + 0.5, 5)  # which the array rounds towards zero
            ("y", t, j) @ ~normal(x[t, j] / 2, 1)
    return x


@written(*SIZES)
@gen
def flat(n, m):
    x = [0.0] * (n * m + 1)
    v = np.zeros(n * m + 1)
    for t in range(n):
        for j in range(m):
            x[t * m + j] = ~normal(x[t * m + j - 1], 1)
            v[t * m + j + 1] = ("v", t, j) @ ~normal(v[t * m + j] + v[-1] + x[-2], 1)
    return x, v


@written((3, 2), (3, 3), (3, 4), (2, 3))
@gen
def last_one_first(n, m):
    x = np.zeros((n, m))
    for t in range(n):
        for j in range(m):
            x[t, m - 1 - j] = ("x", t, j) @ ~normal(x[t, -1] + x[-1, 0] + x[t - n, j], 1)
    return x


@written((3, 2), (2, 3), (4, 3), (1, 2), (0, 2), (4, 1))
@gen
def overwritten(n, m):
    x, v, w = np.zeros(m), {}, [[0.5] * m for _ in range(2)]
    for t in range(n):
        for j in range(m):
            x[j] = ("x", t, j) @ ~normal(x[j - 1] + 0.5 * x[(j + 1) % m], 1)
            v[j] = ("v", t, j) @ ~normal(v[j - 1] if j > 0 else x[0], 1)
            w[t % 2][j] = ("w", t, j) @ ~normal(w[0][j] + w[1][0] + sum(w[t % 2]), 1)
        ("y", t) @ ~normal(x[0] + v[0] + w[0][m - 1], 1)
    return x, v, w


@written(*SIZES)
@gen
def chosen_keys(n, m):
    f = np.zeros((3, 3))
    g = {}
    for t in range(n):
        for j in range(m):
            z = ("z", t, j) @ ~uniform_discrete(0, 2)
            f[z, t % 3] = ("f", t, j) @ ~normal(f[0, z] + f[z, -1], 1)
            g[z, j] = ("g", t, j) @ ~normal(g[0, 0] if (0, 0) in g else len(g), 1)
        ("w", t) @ ~normal(f[1].sum() + f[0, 0] + len(g), 1)
    return f, list(g.items())


@written((3, (2, 0, 3)), (2, (2, 0, 3)), (3, (1, 3, 3)), (4, (2, 0, 3, 1)), (3, (2, 2, 3)))
@gen
def ragged(n, sizes):
    f = {}
    k = ~uniform_discrete(0, 2)
    for i in range(n):
        more = ("more", i) @ ~uniform_discrete(0, 2)
        for j in range(sizes[i] + more):
            f[i, j] = ~normal(f[i - 1, j] if (i - 1, j) in f else f[0, 0] if f else k, 1)
    for i, j in f:
        ("y", i, j) @ ~normal(f[i, j], 1)
    return f


@written((3, 2, "ab"), (2, 3, "abc"), (3, 3, "b"), (4, 2, "ba"))
@gen
def named(n, m, names):
    x = {name: [0.0] * (n * m + 1) for name in names}
    y = {}
    for i, name in enumerate(names):
        for t in range(1, n):
            x[name][t] = ~normal(x[name][t - 1], 1)
            y[name, t] = ~normal(y[name, t - 1] if t > 1 else x[name][t], 1)
        for other, row in zip(names, [0.5] * m, strict=False):
            ("o", name, other) @ ~normal(row + x[name][n - 1] + i, 1)
    return x, y


@written(*SIZES)
@gen
def entries_by_name(n, m):
    s = 0.0
    x = np.zeros((n, m))
    v, w = np.ones((n, m), dtype=int), np.empty((n, m, 2))
    w[:] = 0.5
    for t in range(n):
        before = x[t - 1]
        for j in range(m):
            last = x[t - 1, j] if t > 0 else 0.5
            if j > 0:
                near = [last, x[t, j - 1]]
            else:
                near = [last]
            s = 0.5 * s + before[j]
            x[t, j] = ~normal(sum(near) + s, 1)
            s += x[t, j]
            v[t, j] = ("v", t, j) @ ~uniform_discrete(0, 3)
            count = v[t, j]
            w[t, j, 0] = ("w", t, j) @ ~normal(count, 1)
            w[t, j, 1] = w[t, j, 0] * w[t - 1, j, 1]
        ("y", t) @ ~normal(s, 1)
    return x, s, v, w


@written(*SIZES)
@gen
def rows_by_name(n, m):
    x = np.zeros((n, m))
    z = np.ones((n, m, 2))
    for t in range(n):
        before = x[t - 1]
        if t == 0:
            for j in range(m):
                x[t][j] = ~normal(before.sum(), 1)
        else:
            row = x[0]
            last = z[t - 1]
            for j in range(m):
                x[t][j] = ~normal(before[j] + row[-1] + last[j, 0] + last[j:].sum(), 1)
                x[t - 1][j] = 0.5 * before[j]
        own = x[t]
        for i, v in enumerate(("a", "b")):
            for j in range(m):
                z[t][j, i] = ("z", t, j, v) @ ~normal(own[j] + x[t][0] + sum(own[k] for k in range(j)), 1)
        ("y", t) @ ~normal(own.sum() + before.sum() + x[t][:1].sum(), 1)
    for t in range(n):
        ("w", t) @ ~normal(x[t][m - 1] + z[t].sum() if m else 0.0, 1)
    return x, z


@written(*SIZES)
@gen
def row_kept(n, m):
    x = np.zeros((n, m))
    for t in range(1, n):
        before = x[t - 1]
        for j in range(m):
            x[t, j] = ~normal(before.sum(), 1)
            x[t - 1, j] = 0.5
    return x


@pytest.mark.parametrize("runtime", ["model", "reference"])
def test_a_row_that_is_not_there_is_an_error(runtime):
    @gen
    def model(n):
        x = np.zeros((n, 2))
        for t in range(n):
            after = x[t + 1]
            for j in range(2):
                x[t, j] = ~normal(0.0 if t else after[j], 1)

    with pytest.raises(IndexError, match="out of bounds"):
        (model if runtime == "model" else model.reference).simulate((1,), rng=1)


@written((3, 2), (2, 3), (4, 3), (12, 2), (1, 2))
@gen
def rows_in_columns(n, m):
    b = ~normal(0, 1)
    x, v = np.zeros((n, m)), np.ones(m)
    for t in range(n):
        for j in range(m):
            x[t, j] = ~normal(x[t - 1, j], 1)
    z = []
    for i in range(n):
        z.append(("z", i) @ ~uniform_discrete(0, n - 1))
    for i in range(n):
        ("y", i) @ ~normal(b * x[z[i]].sum() + x[i].sum(), 1)
    for i in range(n):
        k = ("k", i) @ ~uniform_discrete(-n, n - 1)
        ("w", i) @ ~normal(x[k].mean() + np.sum(x[k, 1:]), 1)
    for t in range(n):
        ("u", t) @ ~normal(x[t] @ v + x[t, 0] + x[-1].sum(), 1)


OPAQUE = Programs()


@OPAQUE.written(*SIZES)
@gen
def from_the_end(n, m):
    f = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            f[-1 - i, j - m] = ~normal(f[-i, j] if i else 0.0, 1)
    for i in range(n):
        ("y", i) @ ~normal(f[i].sum(), 1)
    return f


@OPAQUE.written(*SIZES)
@gen
def many_at_once(n, m):
    f = np.zeros((n, m))
    some = np.arange(n)
    for i in range(n):
        for j in range(m):
            f[some, j] = ("f", i, j) @ ~normal(f[i - 1, j], 1)
    return f


@OPAQUE.written(*SIZES)
@gen
def row_passed_on(n, m):
    x = np.zeros((n, m))
    kept = []
    for t in range(1, n):
        before = x[t - 1]
        kept.append(before)
        for j in range(m):
            x[t, j] = ~normal(before.sum(), 1)
            x[t - 1, j] = 0.5
    return [row.sum() for row in kept]


@OPAQUE.written(*SIZES)
@gen
def another_name(n, m):
    x = np.zeros((n, m))
    for t in range(1, n):
        before = x[t - 1]
        for j in range(m):
            x[t, j] = ~normal(before.sum(), 1)
            before = before + 1.0
    return x


@OPAQUE.written(*SIZES)
@gen
def left_in_between(n, m):
    x = np.zeros((n, m))
    for t in range(n):
        for j in range(m):
            z = ("z", t, j) @ ~bernoulli(0.3)
            if z:
                break
            x[t, j] = ~normal(x[t - 1, j], 1)
    return x


ALL = {**PROGRAMS, **OPAQUE}


@pytest.mark.parametrize("columns_from", [None, 2])
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed, columns_from):
    (PROGRAMS if name in PROGRAMS else OPAQUE).agree(name, seed, columns_from=columns_from)


test_none_is_executed_whole = PROGRAMS.test_of_blocks()


def test_what_is_read_where_the_filled_entries_say_so():
    """An entry decides which arm the next one takes, and so whether the entry of the row before is read."""
    trace = arms.generate((3, 2), init={("x", t, j): -1.0 for t in range(3) for j in range(2)}, rng=1).trace
    changes = [
        (1, 0, 1.0),
        (0, 1, 0.25),
        (1, 0, -1.0),
        (0, 1, 0.75),
        (2, 0, 0.5),
        (1, 1, 0.5),
        (2, 0, -0.5),
        (1, 1, 2.0),
    ]
    for t, j, value in changes:
        trace = trace.update({("x", t, j): value}).trace
        assert trace.log_prob == pytest.approx(
            arms.reference.assess((3, 2), trace.choices).log_prob, abs=1e-9
        )


@gen
def as_long_as_the_last_one_says(n, m):
    k = ~uniform_discrete(0, 1)
    for t in range(n):
        ("w", t) @ ~normal(t, 1)
        for j in range(m - k):
            k = ("q", t, j) @ ~uniform_discrete(0, 1)


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("n", [4, 30])
def test_a_loop_goes_as_far_as_the_last_one_left_it(n, m):
    """Nothing else reads what the inner loop leaves: it says how long the next one is."""
    model = as_long_as_the_last_one_says
    for seed in range(4):
        trace = model.simulate((n, m), rng=seed)
        for value in (1, 0, 1):
            assessed = model.reference.assess((n, m), trace.choices)
            assert trace.log_prob == pytest.approx(assessed.log_prob, abs=1e-9)
            trace = trace.update({"k": value}, rng=seed).trace
