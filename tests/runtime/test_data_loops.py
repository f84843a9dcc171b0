"""Loops over data, whose number of iterations no choice decides, are kept as columns from a few on."""

import math
import os

import numpy as np
import pytest

from gendsl import categorical, gamma, gen, mixture_of_normals, normal, poisson, uniform, uniform_discrete
from gendsl.runtime import column_loops, small
from gendsl.runtime.change import ALL, difference
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.lowering import ir
from gendsl.runtime.lowering.fixed import mark_fixed
from tests.laws.edits import Session, random_edits
from tests.runtime.test_cost import calls

usual = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME", "") != "", reason="about which runtime is taken by default"
)


@pytest.fixture(autouse=True)
def as_it_is_by_default(monkeypatch):
    monkeypatch.setattr(small, "CHOICES", 24)
    monkeypatch.setattr(column_loops, "FIXED", 8)


@gen
def regression(t):
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    for i in range(len(t)):
        ("y", i) @ ~normal(a + b * t[i], 1.0)


@gen
def effects(n):
    mu = ~normal(0, 1)
    for i in range(n):
        z = ("z", i) @ ~normal(mu, 1)
        ("y", i) @ ~normal(z, 0.5)


@gen
def mixture(n):
    k = ~(1 + poisson(1))
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    for i in range(n):
        ("x", i) @ ~mixture_of_normals([1 / k] * k, mu, [1.0] * k)


@gen
def assigned(n):
    mu = [("mu", j) @ ~normal(0, 3) for j in range(3)]
    for i in range(n):
        z = ("z", i) @ ~categorical([0.2, 0.3, 0.5])
        ("x", i) @ ~normal(mu[z], 1)


@gen
def chain(n):
    x = 0.0
    for i in range(n):
        x = ("x", i) @ ~normal(x, 1)
        ("y", i) @ ~normal(x, 0.5)


@gen
def waves(t):
    k = ~uniform_discrete(0, 3)
    mean = np.zeros(len(t))
    for j in range(k):
        w = ("w", j) @ ~uniform(0, math.pi)
        a = ("a", j) @ ~normal(0, 1)
        mean = mean + a * np.cos(w * t)
    for i in range(len(t)):
        ("y", i) @ ~normal(mean[i], 1)


@gen
def two_sizes(n, m):
    s = ~gamma(2, 1)
    for i in range(n):
        ("x", i) @ ~normal(0, s)
    for i in range(m):
        ("y", i) @ ~normal(1, s)


@gen
def computed(xs):
    """Containers that are as long as the data are gone through, too."""
    s = ~gamma(2, 1)
    scaled = [s * x for x in xs]
    z = []
    for i, v in enumerate(scaled):
        z.append(("z", i) @ ~normal(v, 1))
    y = np.zeros(len(z))
    for i, v in enumerate(z):
        y[i] = ~normal(v, s)


@gen
def by_choices(xs):
    """None of these loops is surely as long for other choices."""
    k = ~poisson(2)
    few = xs[:k]
    for i, x in enumerate(few):
        ("a", i) @ ~normal(x, 1)
    z = [("z", i) @ ~normal(0, 1) for i in range(len(xs))]
    taken = [v for v in z if v > 0]
    for i, v in enumerate(taken):
        ("b", i) @ ~normal(v, 1)
    some = {}
    for i in range(len(xs)):
        if z[i] > 0:
            some[i] = ("s", i) @ ~normal(0, 1)
    for i in some:
        ("e", i) @ ~normal(some[i], 1)
    for i in range(len([0] * k)):
        ("c", i) @ ~normal(0, 1)
    if k:
        for i in range(len(xs)):
            ("d", i) @ ~normal(0, 1)


@gen
def ends_early(n):
    u = ~uniform(0, 1)
    if u < 0.5:
        return 0
    for i in range(n):
        ("x", i) @ ~normal(0, 1)
    return 1


def heads_of_fixed(model):
    loops = [node for node in model.compiled.program.body if isinstance(node, ir.Loop)]
    sites = [site for loop in loops if loop.fixed for site in loop.body if isinstance(site, ir.Site)]
    return {site.parts[0][0] for site in sites}


@gen
def few_before_many(m, n):
    """The first two statements are one block while the loop is short."""
    s = ~gamma(2, 1)
    for i in range(m):
        ("y", i) @ ~normal(1, s)
    for i in range(n):
        ("x", i) @ ~normal(0, s)


FOUND = {
    regression: {"y"}, effects: {"z", "y"}, mixture: {"x"}, assigned: {"mu", "z", "x"}, chain: {"x", "y"},
    waves: {"y"}, two_sizes: {"x", "y"}, computed: {"z", "y"}, by_choices: {"z"}, ends_early: set(),
}  # fmt: skip


@pytest.mark.parametrize("model", FOUND, ids=lambda model: model.name)
def test_which_loops_they_are(model):
    assert heads_of_fixed(model) == FOUND[model]


def test_a_loop_is_looked_at_with_what_came_before():
    """Marking is a function of the whole body: of its end alone, a container of choices seems to be data."""
    body = by_choices.compiled.program.body
    *before, last = [node for node in body if isinstance(node, ir.Loop)]
    mark_fixed([last])
    assert last.fixed
    mark_fixed(body)
    assert not last.fixed
    assert before


ARGS = {
    regression: [(np.arange(n) * 0.1,) for n in (9, 12, 6, 30)],
    effects: [(9,), (8,), (3,), (20,)],
    mixture: [(9,), (7,), (8,), (22,)],
    assigned: [(9,), (8,), (3,), (12,)],
    chain: [(8,), (9,), (7,), (20,)],
    waves: [(np.arange(n) * 0.3,) for n in (9, 12, 6, 30)],
    few_before_many: [(5, 30), (9, 30), (3, 30), (7, 40), (12, 30)],
    two_sizes: [(8, 4), (6, 6), (4, 8), (5, 7), (12, 12)],
    computed: [([0.1 * i for i in range(n)],) for n in (9, 7, 8, 20)],
    by_choices: [([0.1 * i for i in range(n)],) for n in (9, 7, 8, 12)],
    ends_early: [(9,), (7,), (12,)],
}


@pytest.mark.parametrize("model", ARGS, ids=lambda model: model.name)
def test_it_agrees_with_the_reference(model):
    """With loops that become long enough for columns, and too short again, beside traces executed whole."""
    for seed in range(10):
        Session(model, ARGS[model]).run(random_edits(seed, 24), seed)


def form_of(trace):
    """In which form a trace is kept."""
    if type(trace) is not CompiledTrace:
        return "whole"
    linked, frame = trace._called.linked, trace._called.frame
    kept = [frame[state][0].frames for state in linked.data_loops]
    return linked.groups, [type(frames) is ColumnFrames for frames in kept if len(frames) >= 8]


@usual
def test_from_eight_on():
    forms = [form_of(regression.simulate((np.arange(n),), rng=1)) for n in (7, 8, 9)]
    assert forms == ["whole", (((0, 2),), [True]), (((0, 2),), [True])]
    assert form_of(mixture.simulate((7,), rng=1)) == "whole"
    assert form_of(mixture.simulate((8,), rng=1))[1] == [True]


@usual
@pytest.mark.parametrize("model", [two_sizes, effects, mixture, regression, assigned], ids=lambda m: m.name)
def test_the_form_is_the_same_however_a_trace_came_about(model):
    rng = np.random.default_rng(1)
    trace = model.simulate(ARGS[model][0], rng=rng)
    seen = set()
    for _ in range(30):
        args = ARGS[model][rng.integers(len(ARGS[model]))]
        trace = trace.update({}, args=args, rng=rng).trace
        made = model.generate(args, init=trace.choices).trace
        assert (form_of(trace) == "whole") == (form_of(made) == "whole")
        assert trace.log_prob == pytest.approx(made.log_prob, rel=1e-12)
        seen.add(form_of(trace) == "whole")
    assert len(seen) > 1


@usual
def test_a_loop_that_becomes_long_enough_for_columns_leaves_its_group():
    trace = few_before_many.simulate((5, 30), rng=1)
    together = ((0, 3),)  # the docstring is a statement, too
    assert trace._called.linked.groups == together
    for m, groups in ((7, together), (8, ()), (12, ()), (6, together)):
        trace = trace.update({}, args=(m, 30), rng=m).trace
        assert trace._called.linked.groups == groups


def test_iterations_that_come_one_by_one_stay_as_they_are_kept():
    """As in a filter: to make columns of them costs as much as there are, and to add to these is slower."""
    grown = two_sizes.simulate((30, 4), rng=1)
    for m in range(5, 12):
        grown = grown.update({}, args=(30, m), rng=m).trace
    assert form_of(grown)[1] == [True, False]
    made = two_sizes.generate((30, 11), init=grown.choices).trace
    assert form_of(made)[1] == [True, True]
    weights = [trace.update({"s": 0.7}).log_weight for trace in (grown, made)]
    assert weights[0] == pytest.approx(weights[1], rel=1e-12)


@usual
@pytest.mark.usefixtures("unwatched")
@pytest.mark.parametrize(
    ("model", "args", "path"),
    [
        (regression, lambda n: (np.arange(n) * 0.1,), "b"),
        (effects, lambda n: (n,), "mu"),
        (effects, lambda n: (n,), ("z", 3)),
        (assigned, lambda n: (n,), ("z", 3)),
        (chain, lambda n: (n,), ("x", 3)),
        (waves, lambda n: (np.arange(n) * 0.3,), ("a", 0)),
    ],
    ids=lambda value: getattr(value, "name", str(value) if isinstance(value, (str, tuple)) else ""),
)
def test_a_few_cost_as_much_as_many(model, args, path):
    """Calls of one update; they were some for each iteration up to 48, and with an array up to 64."""
    init = {"k": 2} if model is waves else {}
    counts = []
    for n in (10, 40, 60, 200):
        trace = model.generate(args(n), init=init, rng=1).trace
        counts.append(calls(lambda trace=trace: trace.update({path: 1})))
    assert max(counts) <= min(counts) + 40


@pytest.mark.parametrize("dtype", [float, np.int64, np.float32, bool, ">f8", complex])
def test_an_array_of_which_most_has_changed_has_changed_altogether(dtype):
    old = np.zeros(60, dtype)
    few, most = old.copy(), old.copy()
    few[[3, 59]] = 1
    most[:40] = 1
    assert difference(old, few) == {3, 59}
    assert difference(old, most) == (ALL if dtype in (float, np.int64) else {*range(40)})
    assert difference(old, old.copy()) is None


def test_an_array_is_compared_bit_by_bit():
    old = np.array([0.0, np.nan, 1.0, 2.0])
    assert difference(old, np.array([-0.0, np.nan, 1.0, 2.0])) == {0}
    strided = np.arange(8.0)[::2]
    assert difference(strided, np.array([0.0, 2.0, 5.0, 6.0])) == {2}
