"""Statements that are executed as a whole while they make few choices: which, and that they mean the same."""

import math
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gendsl import (
    Distribution,
    bernoulli,
    dirichlet,
    gen,
    inv_gamma,
    mixture_of_normals,
    normal,
    poisson,
    select,
    uniform,
    uniform_discrete,
)
from gendsl.runtime import column_loops, groups, small
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.groups import GroupBlock
from gendsl.runtime.lowering.scope import Scope
from gendsl.supports import Real
from tests.laws.edits import Session, random_edits

pytestmark = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME", "") != "", reason="about what is done by default"
)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(small, "CHOICES", 24)


@gen
def mixture(n):
    k = ~(1 + poisson(1))
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    var = [("var", j) @ ~inv_gamma(3, 10) for j in range(k)]
    w = ~dirichlet([2.0] * k)
    for i in range(n):
        ("x", i) @ ~mixture_of_normals(w, mu, var)


@gen
def two_groups(n):
    a = ~normal(0, 1)
    b = ~normal(a, 1)
    scale = float(np.exp(0.1 * b))
    c = ~normal(b, scale)
    k = ~poisson(2)
    more = [("m", j) @ ~normal(c, scale) for j in range(k)]
    total = float(np.sum(more))
    for i in range(n):
        ("x", i) @ ~normal(total, 1)
    return a, more


@gen
def leaked(n):
    k = ~poisson(1)
    last = -1.0
    for j in range(k):
        last = ("a", j) @ ~normal(last, 1)
    if k > 0:
        seen = np.float64(j + last)
    else:
        seen = np.float64(0.5)
    x = ~normal(float(seen), 1)
    for i in range(n):
        ("y", i) @ ~normal(x, 1)
    return last


@gen
def filled(n):
    k = ~poisson(2)
    mu = [0.0] * k
    by_name = {}
    for j in range(k):
        mu[j] = ~normal(0, 1)
        by_name[j] = ~normal(mu[j], 1)
    scale = float(np.exp(sum(mu) / 10))
    mu.append(scale)
    for i in range(n):
        ("x", i) @ ~normal(mu[i % len(mu)], scale)
    return mu, by_name


@gen
def rebound(xs):
    x = ~normal(len(xs), 1)
    x = 2 * x + xs[0]
    y = ~normal(x, 1)
    x = float(np.tanh(y))
    z = ~normal(x, 1)
    x = x + z
    u = ~uniform(-1.0, 1.0)
    for i, value in enumerate(xs):
        ("d", i) @ ~normal(x * value + u, 1)
    return x


@gen
def labels(n):
    k = ~(1 + poisson(1))
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    p = [1.0 / k] * k
    flip = ~bernoulli(0.5)
    for i in range(n):
        z = ("z", i) @ ~normal(0, 1)
        ("x", i) @ ~normal(mu[int(abs(z) * 10) % k] if flip else z * p[0], 1)


@gen
def around_one_heavy_statement(n):
    a = ~normal(0, 1)
    b = ~normal(a, 1)
    for i in range(n):
        ("x", i) @ ~normal(a, 1)
    c = ~normal(b, 1)
    d = ~normal(c, 1)
    return a + b + c + d


class Shifted(Distribution):
    """A user's own class."""

    parameters = ("shift",)

    def __init__(self, shift):
        self.shift = shift

    @property
    def support(self):
        return Real()

    def sample(self, rng):
        return self.shift + rng.standard_normal()

    def logpdf(self, x):
        return -0.5 * (x - self.shift) ** 2 - 0.5 * math.log(2 * math.pi)


@gen
def exchanged(n):
    k = ~uniform_discrete(0, 2)
    some = [("some", j) @ ~Shifted(0.0) for j in range(k)]
    others = [("other", j) @ ~Shifted(1.0) for j in range(2 - k)]
    c = ~normal(sum(some) - sum(others), 1)
    for i in range(n):
        ("x", i) @ ~normal(c, 1)
    return some, others


MODELS = {
    exchanged: ((30,), (7,)),
    mixture: ((30,), (31,)),
    two_groups: ((30,), (4,)),
    leaked: ((30,), (5,)),
    filled: ((30,), (12,)),
    rebound: (([0.5, 1.5, 2.5],), ([0.25] * 40,)),
    labels: ((30,), (29,)),
    around_one_heavy_statement: ((30,), (8,)),
}


@pytest.mark.slow
@pytest.mark.parametrize("choices", [24, 4])
@pytest.mark.parametrize("least", [48, 2])
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_it_agrees_with_the_reference(model, choices, least, monkeypatch):
    """With groups that form and dissolve as choices come and go, and with loops as columns."""
    monkeypatch.setattr(small, "CHOICES", choices)
    monkeypatch.setattr(column_loops, "LEAST", least)
    formed = 0

    def counted(called):
        nonlocal formed
        after = fitted(called)
        formed += bool(after.linked.groups)
        return after

    fitted = groups.fitted
    monkeypatch.setattr("gendsl.runtime.compiled.fitted", counted)
    for seed in range(8):
        Session(model, MODELS[model]).run(random_edits(seed), seed)
    assert formed > 8


def test_as_many_new_choices_as_are_gone_hide_none():
    """With a user's own class, whose choices are made in another way than those of gendsl's families."""
    old = {"k": 2, "some": {0: 0.5, 1: 0.2}, "c": 0.3, "x": np.zeros(30)}
    trace, reference = (model.generate((30,), old).trace for model in (exchanged, exchanged.reference))
    assert trace._called.linked.groups
    new = {("k",): 1, ("other", 0): 0.3}
    edit, expected = trace.edit(new), reference.edit(new)
    assert edit.removed.keys() == expected.removed.keys() == {("some", 1)}
    assert edit.log_weight == pytest.approx(expected.log_weight, abs=1e-12)


def random_values(trace, rng):
    """Some choices of another trace of the program, and all that this one lacks."""
    other = trace.gen_fn.simulate(trace.args, rng=rng)
    keep = {path for path in other.choices if path in trace.choices and rng.random() < 0.6}
    if trace.gen_fn is mixture and other["k"] != trace["k"]:
        keep.clear()  # there are as many weights as means
    return {path: value for path, value in other.choices.items() if path not in keep}


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_what_kernels_do_agrees_with_the_reference(model):
    """Edits whose choices are given one by one, and resampling: their weights, and what is gone."""
    rng = np.random.default_rng(1)
    for seed in range(12):
        trace = model.simulate(MODELS[model][0], rng=seed)
        for _ in range(4):
            twin = trace.whole()
            values = random_values(trace, rng)
            mine, theirs = (
                t.edit(values, rng=np.random.default_rng(seed)) for t in (trace, reference_of(twin))
            )
            same_edit(mine, theirs)
            paths = [path for path in trace.choices if rng.random() < 0.3]
            if paths:
                chosen = select(*paths)
                mine, theirs = (
                    t.resample(chosen, np.random.default_rng(seed)) for t in (trace, reference_of(twin))
                )
                same_edit(mine, theirs)
            trace = mine.trace


def reference_of(twin):
    """The same trace on the reference runtime."""
    return twin.gen_fn.reference.score(twin.args, {p: r[1] for p, r in twin.records.items()})


def same_edit(mine, theirs):
    assert mine.trace.choices == theirs.trace.choices
    assert mine.log_weight == pytest.approx(theirs.log_weight, rel=1e-9, abs=1e-9)
    assert mine.trace.log_prob == pytest.approx(theirs.trace.log_prob, rel=1e-9)
    assert mine.removed == theirs.removed
    assert mine.remeasured.keys() == theirs.remeasured.keys()
    if type(mine.trace) is CompiledTrace:
        called = mine.trace._called
        assert called.linked.groups == groups._groups(called.linked, called.frame)


def groups_of(trace):
    assert type(trace) is CompiledTrace
    return trace._called.linked.groups


def mixture_of(k, n=40):
    init = {"k": k, "w": np.full(k, 1 / k)}
    init |= {("mu", j): float(j) for j in range(k)} | {("var", j): 2.0 for j in range(k)}
    return mixture.generate((n,), {("x", i): 0.1 * i for i in range(n)}, init=init).trace


def test_the_number_of_choices_decides():
    assert groups_of(mixture_of(3)) == ((0, 4),)
    assert groups_of(mixture_of(11)) == ((0, 4),)
    assert groups_of(mixture_of(12)) == ()  # 26 choices


def grown(trace, k):
    """The trace with k components."""
    old = trace["k"]
    given = {"k": k, "w": np.full(k, 1 / k)}
    for j in range(old, k):
        given |= {("mu", j): float(j), ("var", j): 2.0}
    return trace.update(given).trace


def test_a_trace_passes_from_one_form_to_the_other():
    trace, told = mixture_of(10), []
    for k in (11, 12, 30, 12, 11, 3):
        trace = grown(trace, k)
        told.append(groups_of(trace))
        fresh = mixture.assess(trace.args, trace.choices)
        assert math.isclose(trace.log_prob, fresh.log_prob, rel_tol=1e-12)
        assert list(trace.choices) == list(mixture_of(k).choices)
    assert told == [((0, 4),), (), (), (), ((0, 4),), ((0, 4),)]


def test_a_trace_that_shrinks_is_executed_whole_in_the_end():
    """What kernels do: the choices are counted where they are made."""
    trace = mixture_of(2, 16)
    whole = [type(trace) is not CompiledTrace]
    for k in (6, 3, 4, 2):
        given = {("k",): k, ("w",): np.full(k, 1 / k)}
        given |= {(name, j): 1.0 + j for j in range(k) for name in ("mu", "var")}
        trace = trace.edit(given).trace
        whole.append(type(trace) is not CompiledTrace)
    assert whole == [True, False, True, False, True]


def test_the_form_is_a_function_of_the_choices():
    """A trace that was made of its choices has the form of one that came about by edits, so a run that is
    resumed goes on as the same."""
    trace = grown(grown(mixture_of(10), 20), 5)
    observed = trace.observed
    rest = {path: value for path, value in trace.choices.items() if path not in observed}
    again = mixture.generate(trace.args, observed, init=rest).trace
    assert groups_of(again) == groups_of(trace)
    assert again.log_prob == trace.log_prob


def test_only_what_is_concerned_runs(monkeypatch):
    """An edit of the data doesn't execute the group, nor does one group execute another without need."""
    ran = []
    whole = GroupBlock.whole

    def noted(self, *rest):
        ran.append(sorted(self.heads))
        return whole(self, *rest)

    trace = mixture_of(3)
    monkeypatch.setattr(GroupBlock, "whole", noted)
    trace.update({("x", 5): 1.0})
    assert ran == []
    trace.update({("mu", 1): 1.0})
    assert ran == [["k", "mu", "var", "w"]]
    ran.clear()
    twice = around_one_heavy_statement.simulate((30,), rng=1)
    assert groups_of(twice) == ((0, 2), (3, 5))
    ran.clear()
    twice.update({"d": 1.0})
    assert ran == [["c", "d"]]
    ran.clear()
    twice.update({"a": 1.0})
    assert ran == [["a", "b"]]  # b stays, so nothing that it is read by changes
    ran.clear()
    twice.regenerate(select("b"), rng=1)
    assert ran == [["a", "b"], ["c", "d"]]


def test_large_values_are_not_made_again():
    @gen
    def model(n):
        a = ~normal(0, 1)
        b = ~normal(0, 1)
        z = [0] * n
        for i in range(n):
            z[i] = ~bernoulli(0.5)

    def form(n):
        return groups_of(model.simulate((n,), rng=1))

    assert form(100) == ((0, 3),)
    assert form(1000) == ()


def test_programs_that_may_return_early_have_none():
    @gen
    def model(n):
        a = ~normal(0, 1)
        b = ~normal(0, 1)
        if a > 0:
            return a
        for i in range(n):
            ("x", i) @ ~normal(a, 1)
        c = ~normal(b, 1)

    for a in (0.5, -0.5):
        trace = model.generate((40,), init={"a": a}, rng=1).trace
        assert not isinstance(trace, CompiledTrace) or groups_of(trace) == ()
    assert a < 0 and groups_of(trace) == ()


def test_an_error_in_a_group_is_at_its_line():
    from gendsl.errors import ParameterError

    @gen
    def model(n):
        a = ~normal(0, 1)
        b = ~normal(0, a)
        for i in range(n):
            ("x", i) @ ~normal(b, 1)

    trace = model.generate((40,), init={"a": 1.0}, rng=1).trace
    assert groups_of(trace) == ((0, 2),)
    with pytest.raises(ParameterError) as caught:
        trace.update({"a": -1.0})
    assert caught.value.address == ("b",)
    assert caught.value.location.lineno == model.compiled.origin.node.lineno + 2
    assert trace.update({"a": 2.0}).trace["a"] == 2.0


def test_the_explanation_says_so(monkeypatch):
    said = "Statements side by side that make up to 24 choices are executed as one block."
    assert said in mixture.explain() and said in around_one_heavy_statement.explain()

    @gen
    def chain(n):
        x = ~normal(0, 1)
        for t in range(n):
            x = ("x", t) @ ~normal(x, 1)

    assert said not in chain.explain()
    monkeypatch.setattr(small, "CHOICES", 0)
    assert said not in mixture.explain()


def test_chains_in_threads_make_the_code_of_groups_one_at_a_time(monkeypatch):
    @gen
    def model(n):
        a = ~normal(0, 1)
        b = ~normal(a, 1)
        c = ~normal(b, 1)
        d = ~normal(c, 1)
        for i in range(n):
            ("x", i) @ ~normal(d, 1)

    code = Scope.code

    def slow_code(self, *rest, **options):
        made = code(self, *rest, **options)
        time.sleep(0.01)  # others get their turn
        return made

    linked = model.linked
    monkeypatch.setattr(Scope, "code", slow_code)
    ranges = [(i, j) for i in range(4) for j in range(i + 2, 5)]
    with ThreadPoolExecutor(8) as threads:
        blocks = list(threads.map(lambda r: linked.group(*r), ranges))
    for (first, last), block in zip(ranges, blocks, strict=True):
        assert sorted(block.heads) == sorted("abcd"[first:last])
        assert len(linked._grouped[first, last][0].codes) == 1
