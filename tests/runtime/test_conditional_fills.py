"""What loops put into containers in some of their iterations only updates entry by entry."""

import numpy as np
import pytest

from gendsl import bernoulli, gamma, gen, normal, uniform_discrete
from tests.runtime.idioms import SEEDS, Programs

PROGRAMS = Programs()
written = PROGRAMS.written


@written(6, 3, 9, 1)
@gen
def made_when_needed(n):
    mu = {}
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        if z not in mu:
            mu[z] = ("mu", z) @ ~normal(0, 1)
        ("y", i) @ ~normal(mu[z], 1)
    return mu, list(mu)


@written(6, 3, 9)
@gen
def made_with_more(n):
    s = ~gamma(2, 1)
    mu = {(0, 0): 0.5}
    sizes = {}
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 2)
        w = ("w", i) @ ~bernoulli(0.5)
        key = z, int(w)
        if key not in mu:
            scale = ("scale", key) @ ~gamma(2, s)
            mu[key] = ("mu", key) @ ~normal(len(mu), scale)
        if not (z in sizes):  # noqa: E713 (as users write it)
            sizes[z] = i
        ("y", i) @ ~normal(mu[key] + sizes[z], s)
    for key in mu:
        ("x", key) @ ~normal(mu[key], 1)
    return mu, sizes, len(sizes)


@written(6, 3, 9)
@gen
def overwritten_at_times(n):
    f = [0.5] * 4
    g = np.zeros(n)
    h = {}
    for t in range(n):
        c = ("c", t) @ ~bernoulli(0.5)
        z = ("z", t) @ ~uniform_discrete(-2, 3)
        if c:
            f[z] = ("f", t) @ ~normal(f[z - 1], 1)
        if not c:
            g[t] = ("g", t) @ ~normal(g[t - 1], 1)
        if z > 0:  # noqa: SIM102
            if c:
                h[z] = f[z] + g[t]
        ("w", t) @ ~normal(f[-1] - f[2] + g[0] + (h[1] if 1 in h else 0.5), 1)  # noqa: SIM401
    for k in range(4):
        ("y", k) @ ~normal(f[k] + sum(h.values()), 1)
    return f, g, h


@written(6, 3, 9)
@gen
def two_and_one_that_is_there(n):
    f = {}
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        f[2] = ("f", i) @ ~normal(0, 1)
        f[z] = ("g", i) @ ~normal(f[z] if z in f else 0.5, 1)  # noqa: SIM401
        ("y", i) @ ~normal(f[z - 1] if z - 1 in f else 0.5, 1)  # noqa: SIM401
    return f


@written(6, 3, 9)
@gen
def one_way_or_the_other(n):
    x = [0.0] * n
    seen = {}
    for t in range(n):
        c = ("c", t) @ ~bernoulli(0.5)
        if c:
            a = ("a", t) @ ~normal(0, 1)
            if a > 0:
                x[t] = a
        else:
            a = 1.5
        if t not in seen:
            seen[t % 2, c] = a
        ("y", t) @ ~normal(x[t] + x[t - 1] + a, 1)
    return x, seen


@written((6, (0, 1, 0, 2, 1, 0, 3)), (3, (0, 1, 0, 2, 1, 0, 3)), (6, (1, 1, 0, 2, 2, 0, 3)), (7, (3,) * 7))
@gen
def groups_as_they_come(n, groups):
    a, b = {}, {}
    for i in range(n):
        g = groups[i]
        if g not in a:
            a[g] = ("a", g) @ ~normal(0, 1)
        x = ("x", i) @ ~normal(a[g], 1)
        if x > 0 and g + 1 not in b:
            b[g + 1] = ("b", g, i) @ ~normal(x, 1)
    for g in sorted(a):
        ("y", g) @ ~normal(a[g] + (b[g] if g in b else 0.0), 1)  # noqa: SIM401 (as users write it)
    return a, b


@written(6, 3, 9)
@gen
def cells_at_times(n):
    f = [[0.0, 1.0] for _ in range(3)]
    for t in range(n):
        z = ("z", t) @ ~uniform_discrete(0, 2)
        c = ("c", t) @ ~bernoulli(0.5)
        if c:
            f[z][t % 2] = ("f", t) @ ~normal(f[z][0], 1)
        ("w", t) @ ~normal(f[z][1] + sum(f[0]), 1)
    return f


test_both_runtimes_agree = PROGRAMS.test_of_agreement(columns_from=[None, 2], seeds=[*SEEDS, 12, 13])
test_none_is_executed_whole = PROGRAMS.test_of_blocks()


@pytest.mark.parametrize("seed", range(8))
def test_the_one_that_needs_it_first_may_be_another_at_each_edit(seed):
    rng = np.random.default_rng(seed)
    trace = made_when_needed.simulate((8,), rng=seed)
    known = [(trace, trace.log_prob)]
    for _ in range(30):
        which = rng.choice(8, size=rng.integers(1, 4), replace=False)
        values = {("z", int(i)): int(rng.integers(4)) for i in which}
        after, weight, discard = trace.update(values, rng=rng)
        fresh = made_when_needed.reference.assess((8,), after.choices)
        assert after.log_prob == pytest.approx(fresh.log_prob, rel=1e-9)
        assert (after.retval[0], after.retval[1]) == (fresh.retval[0], fresh.retval[1])
        kept = [k for k in after.retval[0] if ("mu", k) in trace]
        assert all(after["mu", k] == trace["mu", k] for k in kept)
        assert {k for k in range(4) if ("mu", k) in discard} == set(trace.retval[0]) - set(after.retval[0])
        trace = after if rng.random() < 0.8 else known[int(rng.integers(len(known)))][0]
        known.append((trace, trace.log_prob))
    for old, log_prob in known:
        fresh = made_when_needed.reference.assess((8,), old.choices)
        assert log_prob == old.log_prob == pytest.approx(fresh.log_prob, rel=1e-9)


OPAQUE = Programs()


@OPAQUE.written(6, 3, 9)
@gen
def looked_up_under_the_condition(n):
    mu = {}
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        if z not in mu:
            mu[z] = ("mu", z) @ ~normal(0, 1)
            ("w", z) @ ~normal(mu[z], 1)
        ("y", i) @ ~normal(mu[z], 1)


@OPAQUE.written(6, 3, 9)
@gen
def left_before(n):
    mu = {}
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        if z in mu:
            continue
        if z > 1:
            mu[z] = ("mu", z) @ ~normal(0, 1)
    return mu


@OPAQUE.written(6, 3, 9)
@gen
def left_after(n):
    mu = {}
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        if z not in mu:
            mu[z] = ("mu", z) @ ~normal(0, 1)
            if mu[z] > 1:
                break
            continue
        ("y", i) @ ~normal(mu[z], 1)
    return mu


@OPAQUE.written(6, 3, 9)
@gen
def left_in_the_arm(n):
    mu = {}
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        if z not in mu:
            mu[z] = ("mu", z) @ ~normal(0, 1)
            continue
        ("y", i) @ ~normal(mu[z], 1)
    return mu


@OPAQUE.written(4, 2, 5)
@gen
def in_an_inner_loop(n):
    f = np.zeros((n, 3))
    for i in range(n):
        for j in range(3):
            c = ("c", i, j) @ ~bernoulli(0.5)
            if c:
                f[i, j] = ("f", i, j) @ ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(f[i].sum(), 1)
    return f


@OPAQUE.written(6, 3, 9)
@gen
def in_both_arms(n):
    f = [0.5] * 3
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 2)
        if z:
            f[z] = ("f", i) @ ~normal(0, 1)
        else:
            f[0] = ("g", i) @ ~normal(f[1], 1)
        ("y", i) @ ~normal(f[1], 1)
    return f


@OPAQUE.written(6, 3, 9)
@gen
def values_of_a_list(n):
    f = [0, 1, 2]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        if z not in f:
            f[0] = z
        ("y", i) @ ~normal(f[0] + (2 in f), 1)
    return f


@pytest.mark.parametrize("name", OPAQUE)
@pytest.mark.parametrize("seed", [*SEEDS, 12])
def test_what_is_executed_whole_is_right_too(name, seed):
    OPAQUE.agree(name, seed)
