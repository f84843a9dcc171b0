"""Traces of few choices are executed whole; they become and stop being such without a trace."""

import math
import os

import numpy as np
import pytest

from gendsl import (
    Distribution,
    bernoulli,
    dirichlet,
    gen,
    involutive_mcmc,
    mvnormal,
    normal,
    poisson,
    read,
    select,
    transform,
    uniform,
    write,
)
from gendsl.inference import mh
from gendsl.runtime import small
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.records import is_unchanged
from gendsl.supports import Real

pytestmark = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME", "") != "", reason="about which runtime is taken by default"
)
MANY = list(range(1000))


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(small, "CHOICES", 6)


class shifted(Distribution):
    parameters = ("by",)

    def __init__(self, by):
        self.by = by


@gen
def inner(x):
    y = ~normal(x, 1)
    return y + 1


@gen
def counted(xs):
    k = ~poisson(2)
    means = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    for i in range(2):
        ("x", i) @ ~normal(sum(means), math.exp(0.1))
    return k, means


@gen
def of_calls(n):
    total = 0.0
    for i in range(n):
        total += ("in", i) @ ~inner(total)


@gen
def while_loop():
    x = ~normal(0, 1)
    while x > 0:
        x -= 1


@gen
def loop_without_choice(n):
    total = 0.0
    for i in range(n):
        total += i
    x = ~normal(total, 1)


@gen
def unknown_call(f):
    x = ~normal(f(1), 1)


@gen
def array_call():
    x = ~normal(np.linalg.norm(np.ones(3)), 1)


@gen
def much_data():
    x = ~normal(MANY[3], 1)


@gen
def of_what_it_is_given(f):
    "a" @ ~f()


@gen
def of_a_heavy_one():
    "a" @ ~array_call()


@gen
def own_family():
    x = ~shifted(1.0)


@pytest.mark.parametrize("program", [inner, counted, of_calls, own_family], ids=lambda p: p.name)
def test_light_programs(program):
    assert program.compiled.light


@pytest.mark.parametrize(
    "program",
    [while_loop, loop_without_choice, unknown_call, array_call, much_data, of_what_it_is_given,
     of_a_heavy_one],
    ids=lambda p: p.name,
)  # fmt: skip
def test_programs_that_may_take_long(program):
    assert not program.compiled.light


def is_whole(trace):
    return not isinstance(trace, CompiledTrace)


def test_the_number_of_choices_decides():
    for k in range(8):
        init = {"k": k, **{("mu", j): 0.5 for j in range(k)}}
        trace = counted.generate(((),), {("x", 0): 1.0}, init=init, rng=1).trace
        assert is_whole(trace) == (k + 3 <= 6)


def test_large_arguments_and_values_are_not_gone_through_again():
    assert not is_whole(counted.generate((MANY,), {"k": 1}, rng=1).trace)

    @gen
    def wide():
        x = ~mvnormal(np.zeros(300), np.eye(300))

    assert not is_whole(wide.simulate(rng=1))


def same(trace, reference):
    assert list(trace.choices.items()) == list(reference.choices.items())
    assert trace.observed == reference.observed
    assert trace.retval == reference.retval
    assert trace.log_prob == pytest.approx(reference.log_prob, rel=1e-12)
    assert trace.gen_fn == counted


def test_edits_across_the_border():
    start = {"k": 1, ("mu", 0): 0.5}
    data = {("x", 0): 1.0, ("x", 1): 2.0}
    trace = counted.generate(((),), data, init=start, rng=1).trace
    twin = counted.reference.generate(((),), data, init=start, rng=1).trace
    kinds = set()
    for seed, k in enumerate([5, 2, 6, 6, 3, 1, 4, 0, 7]):
        changes = {"k": k, **{("mu", j): 0.1 * j + seed for j in range(k)}}
        new, twin_new = trace.update(changes, rng=seed), twin.update(changes, rng=seed)
        kinds.add((is_whole(trace), is_whole(new.trace)))
        assert new.log_weight == pytest.approx(twin_new.log_weight, rel=1e-12)
        assert dict(new.discard.items()) == dict(twin_new.discard.items())
        trace, twin = new.trace, twin_new.trace
        same(trace, twin)
        again, twin_again = (
            t.regenerate(select("k"), rng=seed) for t in (trace, twin)
        )
        assert again.log_weight == pytest.approx(twin_again.log_weight, rel=1e-12)
        same(again.trace, twin_again.trace)
    assert kinds == {(True, True), (True, False), (False, True), (False, False)}


@gen
def propose(trace):
    k = trace["k"]
    grow = ~bernoulli(1.0 if k == 0 else 0.5)
    if grow:
        new = ~normal(0, 3)
    step = ~uniform(-0.1, 0.1)


@transform
def grow_or_shrink(model_in, aux_in, *, model_out, aux_out):
    k, grow, step = read(model_in["k"]), read(aux_in["grow"]), read(aux_in["step"])
    write(aux_out["grow"], not grow)
    write(aux_out["step"], -step)
    if grow:
        write(model_out["k"], k + 1)
        write(model_out["mu", k], read(aux_in["new"]) + step)
    else:
        write(model_out["k"], k - 1)
        write(aux_out["new"], read(model_in["mu", k - 1]) + step)


def test_a_chain_across_the_border_is_that_of_the_reference():
    data = {("x", 0): 4.0, ("x", 1): 5.0}
    trace = counted.generate(((),), data, init={"k": 1}, rng=1).trace
    twin = counted.reference.generate(((),), data, init={"k": 1}, rng=1).trace
    kernel = mh(select("mu"), skip_absent=True)
    one, other = np.random.default_rng(3), np.random.default_rng(3)
    kinds = set()
    for step in range(400):
        if step % 3:
            trace, _ = involutive_mcmc(trace, propose, (), grow_or_shrink, check=step % 10 == 0, rng=one)
            twin, _ = involutive_mcmc(twin, propose, (), grow_or_shrink, rng=other)
        else:
            trace, _ = kernel(trace, one)
            twin, _ = kernel(twin, other)
        kinds.add(is_whole(trace))
        same(trace, twin)
    assert kinds == {True, False}


def test_explain_says_so():
    assert "up to 6 choices is executed whole" in counted.explain()
    assert "executed whole" not in much_data.explain()


SCORED = []


class counting(Distribution):
    """A standard normal shifted by `by`, which notes each time that it is scored."""

    support = Real()

    def __init__(self, by, width):
        self.by, self.width = by, width

    def sample(self, rng):
        return self.by + rng.standard_normal()

    def logpdf(self, x):
        SCORED.append(self.by)
        return -0.5 * (x - self.by) ** 2 - 0.9189385332046727


@gen
def with_own_family():
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    y = ~counting(a, [1.0, 2.0])


def test_what_a_move_does_not_concern_is_not_scored_again(unwatched):
    trace = with_own_family.generate((), {"y": 0.5}, init={"a": 0.1, "b": 0.2}).trace
    assert is_whole(trace)
    SCORED.clear()
    changed = trace.update({"b": 1.0})
    assert SCORED == []
    assert changed.trace.log_prob == pytest.approx(
        with_own_family.assess((), {"a": 0.1, "b": 1.0, "y": 0.5}).log_prob, abs=1e-12
    )
    SCORED.clear()
    changed = trace.update({"a": 1.0})
    assert SCORED == [1.0]
    assert changed.trace.log_prob == pytest.approx(
        with_own_family.assess((), {"a": 1.0, "b": 0.2, "y": 0.5}).log_prob, abs=1e-12
    )
    SCORED.clear()
    trace.regenerate(select("b"), rng=1)
    assert SCORED == []
    with_own_family.reference.generate((), {"y": 0.5}).trace.regenerate(select("b"), rng=1)
    assert len(SCORED) == 2


def test_distributions_that_differ_anywhere_are_told_apart():
    kept = [0.0]
    assert is_unchanged(counting(1.0, kept), counting(1.0, kept))
    assert is_unchanged(counting(1.0, [1.0]), counting(1.0, [1.0]))
    assert not is_unchanged(counting(1.0, [1.0]), counting(1.0, [2.0]))
    assert not is_unchanged(counting(1.0, kept), counting(2.0, kept))
    assert not is_unchanged(counting(1.0, kept), shifted(1.0))
    more = counting(1.0, kept)
    more.also = 3
    assert not is_unchanged(more, counting(1.0, kept))
    one, other = counting(1.0, kept), counting(1.0, kept)
    one.first, one.second = 1.0, 2.0
    other.second, other.first = one.first, one.second
    assert not is_unchanged(one, other)
    assert is_unchanged(dirichlet([1.0, 2.0]), dirichlet([1.0, 2.0]))
    assert not is_unchanged(dirichlet([1.0, 2.0]), dirichlet([1.0, 3.0]))
