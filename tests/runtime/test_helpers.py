"""Plates that call plain functions of the user's: at once, as one by one, and as the functions are now."""

import functools
import math
import sys

import numpy as np
import pytest

from gendsl import bernoulli, gen, normal, poisson
from gendsl.runtime.lowering.ir import Loop
from tests.runtime.idioms import SEEDS, Programs, calls_of_an_update, slopes_are_right

PROGRAMS = Programs()
written = PROGRAMS.written

XS = [0.5, -1.25, 0.0, 2.0, -0.5]
X = np.array([[0.5, 1.0], [-1.0, 0.25], [2.0, -0.5], [0.0, 1.5]])
SCALE = 2.0
j = 7.0


def mean(x, b):
    return b[0] + b[1] * x


def logistic(x):
    """The probability of log odds."""
    return 1 / (1 + math.exp(-x))


def in_steps(x, b, *, power=2, scale=0.5):
    """Assignments, a loop, conditions and defaults."""
    x = x * scale
    total = 0.0
    for j in range(power):
        term = b[j] * x
        total += term**2
    if total > 1:
        total = math.sqrt(total)
    return SCALE * total


def in_pieces(x, cut):
    if x < cut:
        return logistic(x) * 2
    elif x == cut:
        return cut
    y = math.log(1 + x - cut)
    return y + cut


def dot(row, b):
    return row @ b


def added(row, b):
    eta = 0.0
    for x, c in zip(row, b):  # noqa: B905
        eta += x * c
    return eta + row[0] / 2


def summed(x, b):
    return sum(c * x for c in b)


def outer(row, b):
    return mean(row[1], b) + added(row, b) + summed(row[0], b)


@written((XS,), (XS[:3],), (np.array(XS),), ([1, 0, 2],), ([True, False],))
@gen
def simple(xs):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(len(xs)):
        ("y", i) @ ~normal(mean(xs[i], b), 1)
    for i, x in enumerate(xs):
        eta = mean(x, b=b) - mean(b=b, x=i)
        ("z", i) @ ~bernoulli(logistic(eta))


@written((XS, 2), (XS[:3], 1), (np.array(XS), 0), ([1, 0, 2], 2))
@gen
def of_several_statements(xs, power):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(len(xs)):
        k = ("k", i) @ ~poisson(1)
        ("y", i) @ ~normal(in_steps(xs[i], b) + in_steps(k - b[0], b, power=power), 1)
        ("w", i) @ ~normal(in_pieces(k, b[1]) if xs[i] > 0 else in_pieces(xs[i], 0.5), 1)
    for i in range(len(xs)):
        if xs[i] > 0:
            m = in_steps(xs[i], b)
        else:
            m = 0.0
        ("v", i) @ ~normal(m, sum(in_pieces(xs[i], c) ** 2 for c in b) + 1)


@written((X,), (X[:3],), (X.round().astype(int),))
@gen
def of_rows(xs):
    b = np.array([("b", j) @ ~normal(0, 1) for j in range(2)])
    for i in range(len(xs)):
        ("y", i) @ ~normal(dot(xs[i], b), 1)
    for i, row in enumerate(xs):
        ("w", i) @ ~normal(dot(row, b) + outer(row, b), 1)
    for i, row in enumerate(xs):
        ("v", i) @ ~normal(row[0] * b[1] + row[1] * b[0], 1)


def made(a):
    def shifted(x):
        return x * a + SCALE

    @gen
    def inner(xs):
        c = ~normal(0, 1)
        for i in range(len(xs)):
            ("y", i) @ ~normal(shifted(xs[i]) * c, 1)

    inner.__wrapped__.__name__ = "inner"
    return inner


closure = written((XS,), (XS[:3],))(made(0.5))


def fails_at_zero(x, k):
    unused = 1 / k
    return x


@written((XS, 1), (XS[:3], 2), (XS, 0))
@gen
def fails_in_all(xs, k):
    for i in range(len(xs)):
        ("y", i) @ ~normal(fails_at_zero(xs[i], k) if k >= 0 else 0.0, 1)


@written((XS,), (XS[:3],), ([1, 0],))
@gen
def fails_in_one(xs):
    a = ~normal(0, 1)
    for i in range(len(xs)):
        ("y", i) @ ~normal(a if xs[i] == 0 else fails_at_zero(a, xs[i]), 1)


def changes(parts, x):
    parts[0] = x
    return x


def recursive(x, n):
    return x if n == 0 else recursive(x / 2, n - 1)


def of_any_number(*xs):
    return sum(xs)


def leaves_something_out(x):
    if x > 0:
        return x


def reads_a_name_of_two_meanings(x):
    return sum([x * j for j in range(2)]) + j


def asks_for_the_type(x):
    return x / 2 if isinstance(x, int) else x


def twice(function):
    @functools.wraps(function)
    def wrapper(x):
        return function(function(x))

    return wrapper


@twice
def decorated(x):
    return x / 2


halved = lambda x: x / 2


def early(xs, x):
    for y in xs:
        if y > x:
            return y
    return x


def with_the_last(x, b):
    j = 5
    total = x
    for j in range(2):
        total = total + b[j]
    return total * j  # the last one, not the first


def counted(x):
    counted.calls = x
    return x


@written(5, 3)
@gen
def one_by_one_by_recursion(n):
    for i in range(n):
        ("y", i) @ ~normal(recursive(i, 3), 1)


@written(5, 3)
@gen
def one_by_one_by_decoration(n):
    for i in range(n):
        ("y", i) @ ~normal(decorated(i) + halved(i), 1)


@written(5, 3)
@gen
def one_by_one_by_variable(n):
    for i in range(n):
        ("y", i) @ ~normal(with_the_last(i, [0.5, 1.5]), 1)


@written(5, 3)
@gen
def one_by_one_by_type(n):
    for i in range(n):
        ("y", i) @ ~normal(asks_for_the_type(i), 1)


@written(5, 3)
@gen
def one_by_one_by_name(n):
    for i in range(n):
        ("y", i) @ ~normal(reads_a_name_of_two_meanings(i), 1)


@written(5, 3)
@gen
def one_by_one_by_arguments(n):
    for i in range(n):
        ("y", i) @ ~normal(of_any_number(i, 1), 1)


@written(5, 3)
@gen
def one_by_one_by_leaving_early(n):
    for i in range(n):
        ("y", i) @ ~normal(early([1.5, 2.5], i), 1)


@written(5, 3)
@gen
def one_by_one_by_nothing(n):
    for i in range(n):
        x = leaves_something_out(i + 1)
        ("y", i) @ ~normal(x, 1)


@written(5, 3)
@gen
def one_by_one_by_change(n):
    for i in range(n):
        ("y", i) @ ~normal(changes([0.0], i), 1)


@written(5, 3)
@gen
def one_by_one_by_memory(n):
    for i in range(n):
        ("y", i) @ ~normal(counted(i), 1)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed, in_columns):
    PROGRAMS.agree(name, seed, columns_from=1000 if seed % 2 else 2)


@pytest.mark.parametrize("name", PROGRAMS)
def test_which_run_at_once(name):
    model, _ = PROGRAMS[name]
    loops = [node for node in model.compiled.program.body if isinstance(node, Loop)]
    if name.startswith("one_by_one"):
        assert not loops or loops[-1].columns is None
    else:
        assert loops
        assert all(loop.columns is not None for loop in loops)


def score_now(model, trace):
    """The log probability of the choices of a trace, given as columns, as both runtimes have it now."""
    columns = {}
    for path, value in trace.choices.items():
        columns.setdefault(path[0], []).append(value)
    given = {name: np.array(values) if name != "c" else values[0] for name, values in columns.items()}
    made = model.generate(trace.args, given).trace.log_prob
    assert made == pytest.approx(model.reference.assess(trace.args, trace.choices)[0], rel=1e-10)
    return made


def test_they_are_what_they_are_now(monkeypatch):
    """What a function is, and what it finds outside itself, is looked up when it is called."""
    model, _ = PROGRAMS["of_several_statements"]
    here = sys.modules[__name__]
    trace = model.simulate((np.linspace(-1, 1, 60), 2), rng=1)
    seen = {score_now(model, trace)}
    changes = [
        lambda patch: patch.setattr(here, "SCALE", 3.0),
        lambda patch: patch.setitem(in_steps.__kwdefaults__, "scale", 0.75),
        lambda patch: patch.setattr(here, "logistic", lambda x: math.tanh(x)),
        lambda patch: patch.setattr(here, "in_pieces", lambda x, cut: x / 100 + cut),
        lambda patch: patch.setattr(in_steps, "__code__", (lambda x, b, *, power=2, scale=0.5: x).__code__),
    ]
    for change in changes:
        with monkeypatch.context() as patch:
            change(patch)
            seen.add(score_now(model, trace))
    assert len(seen) == 6


@pytest.mark.parametrize("name", ["zip", "sum", "math", "in_pieces", "logistic"])
def test_a_name_that_a_module_gives_another_meaning(name, monkeypatch):
    model, _ = PROGRAMS["of_rows" if name in ("zip", "sum") else "of_several_statements"]
    rng = np.random.default_rng(1)
    args = (rng.normal(size=(60, 2)),) if name in ("zip", "sum") else (rng.normal(size=60), 2)
    trace = model.simulate(args, rng=1)
    before = score_now(model, trace)
    others = {
        "zip": lambda *several: [(2.0, 3.0)],
        "sum": lambda terms: 1.0,
        "math": type(math)("other"),
        # the same code, but another function
        "in_pieces": type(in_pieces)(in_pieces.__code__, {**globals(), "logistic": math.sin}),
        "logistic": type(logistic)(logistic.__code__, {**globals(), "math": np}),
    }
    vars(others["math"]).update(vars(math), log=math.log1p)
    monkeypatch.setattr(sys.modules[__name__], name, others[name], raising=False)
    after = score_now(model, trace)
    assert name == "logistic" or after != pytest.approx(before, rel=1e-6)


def test_a_name_that_helper_and_module_no_longer_have(monkeypatch):
    model, _ = PROGRAMS["of_several_statements"]
    trace = model.simulate((np.linspace(-1, 1, 60), 2), rng=1)
    monkeypatch.delattr(sys.modules[__name__], "SCALE")
    for program in (model, model.reference):
        with pytest.raises(NameError, match="SCALE"):
            program.assess(trace.args, trace.choices)


def test_a_variable_of_the_enclosing_function_that_changes():
    shift = 1.0

    def shifted(x):
        return x + shift

    @gen
    def model(n):
        c = ~normal(0, 1)
        for i in range(n):
            ("y", i) @ ~normal(shifted(i) * c, 1)

    trace = model.simulate((60,), rng=1)
    before = score_now(model, trace)
    shift = 2.0
    assert score_now(model, trace) != pytest.approx(before)


@pytest.mark.parametrize(
    ("name", "change"),
    [("simple", ("b", 1)), ("of_several_statements", ("b", 0)), ("of_rows", ("b", 1)), ("inner", "c"),
     ("fails_in_one", "a")],
)  # fmt: skip
def test_a_change_outside_takes_as_many_calls_however_many_iterations_there_are(name, change, unwatched):
    model, given = PROGRAMS[name]
    made = []
    for n in (60, 600):
        rng = np.random.default_rng(1)
        xs = rng.normal(size=(n, 2)) if name == "of_rows" else rng.normal(size=n)
        trace = model.simulate((xs, *given[0][1:]), rng=2)
        made.append(calls_of_an_update(trace, change))
    assert made[1] < made[0] + 60


@pytest.mark.parametrize("name", ["simple", "of_several_statements", "of_rows"])
def test_gradients(name, monkeypatch):
    model, given = PROGRAMS[name]
    rng = np.random.default_rng(1)
    xs = rng.normal(size=(60, 2)) if name == "of_rows" else rng.normal(size=60)
    at_once = slopes_are_right(model.simulate((xs, *given[0][1:]), rng=2), "b", monkeypatch)
    assert at_once == (name != "of_several_statements")
