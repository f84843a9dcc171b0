"""Branches in loops: what an arm reads concerns the iterations that took it."""

import numpy as np
import pytest

from gendsl import bernoulli, categorical, dirichlet, gen, normal, poisson
from tests.laws.agreement import simulated
from tests.laws.edits import new_value
from tests.runtime.idioms import SEEDS, Programs

programs = Programs()
written = programs.written


@written(60, 55, 5)
@gen
def one_arm(n):
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    for i in range(n):
        z = ("z", i) @ ~categorical([0.6, 0.3, 0.1])
        if z == 1:
            ("x", i) @ ~normal(a, 1)
        elif z == 2:
            ("y", i) @ ~normal(a + b, 1)


@written(60, 55, 5)
@gen
def both_arms(n):
    a = ~normal(0, 1)
    for i in range(n):
        if ("z", i) @ ~bernoulli(0.5):
            ("x", i) @ ~normal(a, 1)
        else:
            ("x", i) @ ~normal(0, 1 + a * a)


@written(60, 55)
@gen
def going_on(n):
    a = ~normal(0, 1)
    for i in range(n):
        if ("z", i) @ ~bernoulli(0.7):
            continue
        ("x", i) @ ~normal(a, 1)


@written(60, 55)
@gen
def left_early(n):
    a = ~normal(0, 1)
    for i in range(n):
        z = ("z", i) @ ~categorical([0.9, 0.05, 0.05])
        if z == 1:
            break
        if z == 2:
            return a + i
        ("x", i) @ ~normal(a, 1)
    return i


@written(20, 15)
@gen
def entries_and_all(n):
    k = ~poisson(4)
    mu = [("mu", j) @ ~normal(0, 1) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~categorical([0.5, 0.2, 0.2, 0.1])
        if z == 0 and k:
            ("x", i) @ ~normal(mu[i % k], 1)
        elif z == 1:
            ("x", i) @ ~normal(sum(mu), 1)
        elif z == 2:
            ("x", i) @ ~normal(len(mu), 1)


@written(20, 15)
@gen
def loops_in_arms(n):
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    k = ~poisson(2)
    for i in range(n):
        m = ("m", i) @ ~poisson(1)
        if m:
            for j in range(m):
                if ("z", i, j) @ ~bernoulli(0.5):
                    ("x", i, j) @ ~normal(a, 1)
        elif i % 2:
            last = b
            for j in range(k):
                last = ("w", i, j) @ ~normal(last, 1)


@written(20, 15)
@gen
def filled_in_arms(n):
    a = ~normal(0, 1)
    out = {-1: a}
    for i in range(n):
        if ("z", i) @ ~bernoulli(0.5):
            for j in range(2):
                out[i, j] = ("x", i, j) @ ~normal(0, 1)
        if i % 3 == 0 and ("w", i) @ ~bernoulli(0.5):
            ("s", i) @ ~normal(sum(out.values()), 1)
    return len(out)


@written(20, 15)
@gen
def looking_back(n):
    a = ~normal(0, 1)
    out = [a]
    for i in range(n):
        z = ("z", i) @ ~categorical([0.4, 0.2, 0.2, 0.2])
        if z == 1:
            mean = sum(out)
        elif z == 2:
            mean = out[i // 2]
        elif z == 3:
            mean = len(out)
        else:
            mean = 0.0
        out.append(("x", i) @ ~normal(mean, 1))
    return out[-1]


@gen
def leaf(a, taken):
    if taken:
        x = ~normal(a, 1)
        return x
    return 0.0


@written(60, 55)
@gen
def carried_in_arms(n):
    a = ~normal(0, 1)
    s = 0.0
    for i in range(n):
        taken = ("z", i) @ ~bernoulli(0.3)
        if taken:
            s = s / 2 + (("leaf", i) @ ~leaf(a, taken))
    return s


@written(30, 25)
@gen
def made_anew(n):
    k = ~poisson(3)
    w = ~dirichlet([1.0, 2.0, 3.0])
    word = "a" * k
    pair = (1.0, 2.0) if ("which" @ ~bernoulli(0.5)) else [3.0, 4.0]
    for i in range(n):
        z = ("z", i) @ ~categorical([0.6, 0.2, 0.2])
        if z == 1:
            ("x", i) @ ~normal(w[i % 3] + pair[i % 2], 1)
        elif z == 2:
            ("x", i) @ ~normal(len(word), 1)


@written(40, 35)
@gen
def looked_up(n):
    k = ~poisson(2)
    mu = [("mu", j) @ ~normal(0, 1) for j in range(k + 2)]
    for i in range(n):
        z = ("z", i) @ ~categorical([0.5, 0.5])
        w = ("w", i) @ ~categorical([0.4, 0.3, 0.3])
        if w == 1:
            ("x", i) @ ~normal(mu[z], 1)
        elif w == 2:
            ("x", i) @ ~normal(mu[-1 - z], 1)


@written(20, 15)
@gen
def looked_up_inside(n):
    mu = [("mu", j) @ ~normal(0, 1) for j in range(3)]
    for i in range(n):
        if ("w", i) @ ~bernoulli(0.5):
            for j in range(2):
                z = ("z", i, j) @ ~categorical([0.3, 0.3, 0.4])
                ("x", i, j) @ ~normal(mu[z], 1)


@written(20, 15)
@gen
def looked_up_behind(n):
    out = [0.0]
    for i in range(n):
        back = ("back", i) @ ~categorical([0.4, 0.3, 0.3])
        if ("w", i) @ ~bernoulli(0.5):
            x = ("x", i) @ ~normal(out[max(i - back, 0)], 1)
        else:
            x = 1.0
        out.append(x)
    return out[-1]


@written(20, 15)
@gen
def ended_inside(n):
    a = ~normal(0, 1)
    for i in range(n):
        for j in range(2):
            if ("end", i, j) @ ~bernoulli(0.03):
                return float(i)
        if ("w", i) @ ~bernoulli(0.5):
            ("x", i) @ ~normal(a, 1)
    return 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", programs)
def test_what_arms_read_changes_between_other_edits(name):
    model, args = programs[name]
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        pair = simulated(model, args[seed % 2], seed)
        for step in range(40):
            paths = list(pair.twin.choices)
            if step % 2:  # those of one name
                name = rng.choice(sorted({path[0] for path in paths}))
                paths = [path for path in paths if path[0] == name]
            path = paths[int(rng.integers(len(paths)))]
            size = args[step // 5 % len(args)]
            after = pair.update({path: new_value(pair, path, rng)}, size if step % 5 == 0 else None, step)
            pair = pair if after is None else after
        pair.check_scores(rng)


def test_an_arm_that_is_cut_off_and_comes_back():
    n = 20
    seen = {**{("end", i, j): 0 for i in range(n) for j in range(2)}, **{("w", i): 1 for i in range(n)}}
    values = {**seen, ("a",): 0.0, **{("x", i): 0.5 for i in range(n)}}
    trace = ended_inside.generate((n,), init=values).trace
    for change in (
        {("a",): 1.0}, {("end", 7, 0): 1}, {("a",): 2.0}, {("end", 7, 0): 0}, {("a",): 3.0},
    ):  # fmt: skip
        values |= change
        back = change.get(("end", 7, 0)) == 0
        come = {path: value for path, value in values.items() if back and path[1:2] >= (7,)}
        trace = trace.update({**come, **change}).trace
        expected = ended_inside.reference.generate((n,), init=trace.choices).trace
        assert trace.log_prob == pytest.approx(expected.log_prob, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", programs)
def test_both_runtimes_agree(name, seed):
    programs.agree(name, seed)
