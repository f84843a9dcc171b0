"""Comprehensions that read some entries of a container, others in each iteration of a loop."""

import pytest

from gendsl import bernoulli, gen, normal, poisson, select, uniform_discrete
from gendsl.runtime.watched import runs_whole
from tests.runtime.idioms import SEEDS, Programs

programs = Programs()
written = programs.written

NEAR = [[], [0], [0, 1], [2], [0, 3], [1, 4], [5, 0, 2]]
OTHER = [[], [0], [1], [0, 2, 1], [3], [1, 4], [0]]


@written((NEAR,), (OTHER,), (NEAR[:4],))
@gen
def neighbours(near):
    x = []
    for i, js in enumerate(near):
        m = sum(x[j] for j in js) / len(js) if js else 0.0
        x.append(("x", i) @ ~normal(m, 1))
    return x


@written((NEAR,), (OTHER,))
@gen
def neighbours_in_a_dict(near):
    x = {}
    for i, js in enumerate(near):
        m = sum([x[j] * 0.5 for j in js])
        x[i] = ("x", i) @ ~normal(m, 1)
        ("y", i) @ ~normal(x[i], 1)


@written((NEAR, [[0.5] * 3] * 7), (OTHER, [[1.0, -1.0, 2.0]] * 7))
@gen
def weighted(near, weights):
    mu = [("mu", j) @ ~normal(0, 1) for j in range(7)]
    for i in range(len(near)):
        js, ws = near[i], weights[i]
        m = sum(w * mu[j] for j, w in zip(js, ws, strict=False) if j != i)
        ("y", i) @ ~normal(m, 1)


@written(4, 3, 6)
@gen
def all_before(n):
    x = []
    for i in range(n):
        m = sum(x[j] * 0.5 ** (i - j) for j in range(i))
        x.append(("x", i) @ ~normal(m, 1))


@written(4, 3, 6)
@gen
def a_window(n):
    x = []
    for i in range(n):
        m = sum(x[i - k] for k in range(1, 3) if i >= k)
        x.append(("x", i) @ ~normal(m, 1))
    for i in range(n):
        ("y", i) @ ~normal(max(x[k] for k in range(max(i - 1, 0), min(i + 2, n))), 1)


@written(4, 5)
@gen
def from_the_end(n):
    x = ["x0" @ ~normal(0, 1), "x1" @ ~normal(0, 1)]
    for i in range(n):
        lags = ("lags", i) @ ~uniform_discrete(1, 2)
        m = sum(x[-k] for k in range(1, lags + 1))
        x.append(("z", i) @ ~normal(m / 2, 1))


@written(4, 2)
@gen
def the_last_of_some(n):
    k = ~poisson(3)
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k + 2)]
    for i in range(n):
        lags = ("lags", i) @ ~uniform_discrete(1, 2)
        ("y", i) @ ~normal(sum(mu[-d] for d in range(1, lags + 1)), 1)


@written(5, 3)
@gen
def chosen_members(n):
    mu = {j: ("mu", j) @ ~normal(0, 3) for j in range(4)}
    for i in range(n):
        a = ("a", i) @ ~uniform_discrete(0, 3)
        b = ("b", i) @ ~uniform_discrete(0, 3)
        low = min(mu[z] for z in (a, b))
        ("y", i) @ ~normal(low, 1)


@written(3, 4)
@gen
def nested(n):
    mu = [("mu", j) @ ~normal(0, 1) for j in range(n)]
    for i in range(n):
        k = ("k", i) @ ~poisson(1)
        total = sum(mu[j] * sum(mu[m] for m in range(j)) for j in range(min(k, n)))
        ("y", i) @ ~normal(total, 1)


@written(4, 2)
@gen
def by_name(n):
    mu = {name: (name,) @ ~normal(0, 1) for name in ("a", "b", "c")}
    for i in range(n):
        on = ("on", i) @ ~bernoulli(0.5)
        names = ("a", "b") if on else ("c",)
        picked = {name: mu[name] for name in names}
        ("y", i) @ ~normal(sum(picked.values()), 1)


@written(4, 2)
@gen
def a_name_that_is_used_outside_too(n):
    mu = [("mu", j) @ ~normal(0, 1) for j in range(3)]
    j = 2
    for i in range(n):
        k = ("k", i) @ ~uniform_discrete(0, 2)
        m = sum(mu[j] for j in range(k)) + mu[j]
        ("y", i) @ ~normal(m, 1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", programs)
def test_both_runtimes_agree(name, seed):
    programs.agree(name, seed)


@pytest.mark.skipif(runs_whole(), reason="the reference runtime visits everything")
def test_only_the_readers_of_an_entry_are_visited(monkeypatch, unwatched):
    from gendsl.runtime.loop_updates import LoopUpdate

    visited = []
    iteration = LoopUpdate._iteration

    def watched(self, t, previous):
        visited.append(t)
        return iteration(self, t, previous)

    near = [[j for j in (i - 1, i - 7) if j >= 0] for i in range(300)]
    trace = neighbours.simulate((near,), rng=1)
    monkeypatch.setattr(LoopUpdate, "_iteration", watched)
    update = trace.update({"x": {150: 0.3}})
    assert visited == [150, 151, 157]
    assert update.log_weight == pytest.approx(
        neighbours.reference.assess((near,), update.trace.choices).log_prob - trace.log_prob
    )
    trace.regenerate(select(("x", 40)), rng=1)
    assert visited[3:] == [40, 41, 47]
    assert "x at each of [j for j in js]" in " ".join(str(neighbours.explain()).split()).replace(" | ", " ")
