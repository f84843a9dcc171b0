"""`simulate`, `generate` and `assess` in a loop of the user's own run as machine code, and give the same."""

from __future__ import annotations

import gc
import math
import pickle
import threading
import warnings
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

from benchmarks.models import families
from gendsl import (
    Distribution,
    bernoulli,
    beta,
    categorical,
    dirichlet,
    factor,
    gamma,
    gen,
    iid,
    mvnormal,
    normal,
    poisson,
    sample,
    select,
    uniform_discrete,
)
from gendsl.choices import choicemap, same_value
from gendsl.compiler.run import called_sampler, drawn_choices
from gendsl.errors import (
    MissingChoiceError,
    NotDeterministicError,
    RuntimeMismatchError,
    UnknownAddressError,
)
from gendsl.inference import importance_resampling, importance_sampling, mh
from gendsl.inference.compiled import operations, policy, thresholds
from gendsl.inference.compiled.looked_at import LookedAt
from gendsl.runtime import generative
from gendsl.supports import Positive
from gendsl.testing import running_on, stationarity

pytestmark = pytest.mark.skipif(
    policy.why_no_machine_code() is not None, reason="there is no machine code here"
)
MODELS = [model for models in families().values() for model in models]


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Programs are compiled at the first call; nothing is given up, and everything is compared."""
    monkeypatch.setattr(generative, "_FEW_CALLS", 0)
    monkeypatch.setattr(operations, "_KEEPS_ORDER", False)
    monkeypatch.setattr(thresholds, "LEAST_CALLS", 1)
    monkeypatch.setattr(thresholds, "LEAST_WORK", 0)
    monkeypatch.setattr(thresholds, "FIRST_COMPARED", 1_000)
    monkeypatch.setattr(thresholds, "CHEAP", 60.0)
    monkeypatch.setattr(thresholds, "MOST_STRAYS", 1.0)
    monkeypatch.setattr(thresholds, "MOST_FALLBACKS", 1.0)


def is_compiled(program):
    return operations.told_of(program) == "as machine code"


def failed(program):
    """How often machine code gave nothing."""
    return sum(sampler.failed for sampler in operations._called(program).samplers)


def is_close(one, other):
    return one == other or abs(one - other) <= 1e-9 * (1 + abs(one))


def assert_same(found, expected):
    """Two traces are the same, in all that users see of them."""
    assert is_close(found.log_prob, expected.log_prob)
    assert list(dict(found.choices.items())) == list(dict(expected.choices.items()))
    for path, value in expected.choices.items():
        assert type(found[path]) is type(value)
        assert same_value(found[path], value, 1e-12, 1e-12), path
    assert list(dict(found.observed.items())) == list(dict(expected.observed.items()))
    assert type(found.retval) is type(expected.retval)
    assert same_value(found.retval, expected.retval, 1e-12, 1e-12)
    assert same_value(found.args, expected.args)


# --- models ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [pytest.param(m, marks=pytest.mark.slow if i % 3 else (), id=m.name) for i, m in enumerate(MODELS)],
)
def test_the_models_of_the_families(model):
    size = min(model.size, 12)
    program, args, init = model.program, model.args(size), model.init(size)
    observations = model.observations(size, np.random.default_rng(5))
    program.generate(args, observations, init=init, rng=0)
    if model.name in ("recursive", "grammar"):
        assert operations.told_of(program) == "step by step: a function that calls itself"
        return
    before = failed(program)
    rng, own = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(3):
        found, weight = program.generate(args, observations, init=init, rng=own)
        expected, log_weight = program.reference.generate(args, observations, init=init, rng=rng)
        assert type(found) is LookedAt and is_close(weight, log_weight)
        assert str(own.bit_generator.state) == str(rng.bit_generator.state)
        assert_same(found, expected)
    for seed in range(3):
        found, expected = program.simulate(args, rng=seed), program.reference.simulate(args, rng=seed)
        assert_same(found, expected)
        known = program.assess(args, expected.choices)
        assert is_close(known.log_prob, expected.log_prob)
        assert same_value(known.retval, expected.retval, 1e-12, 1e-12)
    assert is_compiled(program) and failed(program) == before


# --- what is given, and how ------------------------------------------------------------------------


class half(Distribution):
    """A user's own distribution, which keeps what it is given."""

    parameters = ("scale",)

    def __init__(self, scale):
        self.scale = scale

    support = Positive()

    def logpdf(self, x):
        return -x / self.scale - math.log(self.scale)

    def sample(self, rng):
        return rng.exponential(self.scale)


@gen
def model(xs, scale):
    k = ~poisson(2.0)
    w = ~dirichlet([1.0, 1.0])
    far = ~bernoulli(0.5)
    t = ~half(scale)
    slopes = ~mvnormal([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])
    if far:
        shift = ("more", "shift") @ ~normal(5.0, 1.0)
    else:
        shift = 0.0
    for i in range(len(xs)):
        z = ("z", i) @ ~categorical(w)
        ("y", i) @ ~normal(shift + slopes[z] * xs[i] + k, t)
    for i in range(2):
        for j in range(2):
            ("cell", i, j) @ ~normal(0.0, 1.0)
    near = ~factor(-abs(shift))
    return shift, k


XS = [0.5, -1.0, 2.0]
GIVEN = [
    {},
    None,
    {"y": [1.0, 2.0, 3.0]},
    {"y": (1.0, 2, 3.0)},
    {"y": np.array([1.0, 2.0, 3.0])},
    {"y": np.array([1, 2, 3])},
    {"y": np.array([1, 2, 3], np.float32)},
    {"y": range(3)},
    {("y", 0): 1.0, ("y", 2): -1.0},
    {("y", np.int64(0)): 1.0},
    {("y", True): 1.0},
    {("y", 1.0): 1.0},
    {"y": {0: 1.0, 1: 2.0}},
    {"y": [1.0, 2.0]},
    {"y": [1.0, 2.0, 3.0, 4.0]},
    {"y": []},
    {"y": [1.0, math.nan, 2.0]},
    {"y": ["a", "b", "c"]},
    {"y": 1.0},
    {"cell": np.arange(4.0).reshape(2, 2)},
    {"cell": [[1.0, 2.0], [3.0, 4.0]]},
    {"cell": np.arange(6.0).reshape(2, 3)},
    {("cell", 0): [1.0, 2.0]},
    {"k": 3},
    {"k": 3.0},
    {"k": np.int64(3)},
    {"k": True},
    {"k": -1},
    {"k": 2.5},
    {"k": 10**30},
    {"far": 1},
    {"far": np.bool_(True), "more": {"shift": 2.0}},
    {"far": False, "more": {"shift": 2.0}},
    {"far": 2},
    {"t": 2},
    {"t": -1.0},
    {"t": 0.5},
    {"w": [0.25, 0.75]},
    {"w": (0.25, 0.75)},
    {"w": np.array([0.25, 0.75])},
    {"w": [0.25, 0.25, 0.5]},
    {"w": [0.25, 0.25]},
    {"slopes": [1, 2]},
    {"slopes": np.array([1.0, 2.0])},
    {"slopes": np.zeros((2, 1))},
    {"z": [0, 1, 1]},
    {"z": [0, 1, 2]},
    {"near": True},
    {"near": False},
    {"unknown": 1.0},
    {"k": None},
    {"k": "two"},
    choicemap({"k": 2, "y": [1.0, 2.0, 3.0]}),
    [("k", 2)],
    7,
]


def outcome(operation, *args, **options):
    """What an operation gives, or the error that it raises, with all that it warns of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = operation(*args, **options)
        except Exception as error:
            found = error
    return found, sorted({(one.category, str(one.message)) for one in told}, key=str)


def assert_same_outcome(found, expected):
    assert found[1] == expected[1]
    found, expected = found[0], expected[0]
    if isinstance(expected, Exception):
        assert (type(found), str(found)) == (type(expected), str(expected))
        return
    assert is_close(found.log_weight, expected.log_weight)
    assert_same(found.trace, expected.trace)


@pytest.fixture
def uncompared(monkeypatch):
    """What machine code gives is not compared with what the reference makes, whose errors would be seen."""
    monkeypatch.setattr(operations._Sampler, "is_due", lambda self, size, now: False)


@pytest.mark.usefixtures("uncompared")
@pytest.mark.parametrize("where", ["observations", "init"])
@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_whatever_is_given(given, where):
    model.generate((XS, 1.0), {"k": 1}, rng=0)
    assert is_compiled(model)
    for seed in range(2):
        options = {"observations": None, "init": None, where: given, "rng": seed}
        found = outcome(model.generate, (XS, 1.0), **options)
        with running_on("compiled"):
            expected = outcome(model.generate, (XS, 1.0), **options)
        assert_same_outcome(found, expected)


@pytest.mark.parametrize(("where", "least"), [("observations", 23), ("init", 25)])
def test_most_of_it_is_machine_code(where, least):
    found = 0
    for given in GIVEN:
        made = outcome(model.generate, (XS, 1.0), **{where: given}, rng=0)[0]
        found += isinstance(made, tuple) and type(made.trace) is LookedAt
    assert found >= least


@pytest.mark.usefixtures("uncompared")
def test_addresses_that_python_takes_for_others():
    model.generate((XS, 1.0), {("y", 1): 1.0}, rng=0)
    model.generate((XS, 1.0), {("y", 1): 1.0}, rng=0)
    for part in (True, 1.0, np.int64(1)):
        found = outcome(model.generate, (XS, 1.0), {("y", part): 1.0}, rng=1)
        with running_on("compiled"):
            expected = outcome(model.generate, (XS, 1.0), {("y", part): 1.0}, rng=1)
        assert_same_outcome(found, expected)


@pytest.mark.usefixtures("uncompared")
def test_more_room_than_for_what_is_given():
    @gen
    def local(n):
        for i in range(n):
            ("x", i) @ ~normal(0.0, 1.0)
            ("v", i) @ ~mvnormal([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])

    for n in (6, 7, 40, 41, 300, 5):
        given = {("x", 2): float(n), ("x", 4): 6.0 + n, ("v", 3): [7.0, 8.0 * n]}
        assert_same(
            local.generate((n,), given, rng=n).trace, local.reference.generate((n,), given, rng=n).trace
        )
    assert failed(local) == 1  # the last, where there is far too much room


@pytest.mark.parametrize(
    "change",
    [{}, {"k": 7}, {"k": None}, {"near": False}, {"extra": 1.0}, {"w": np.array([0.5, 0.5])}, {"far": True}],
    ids=str,
)
@pytest.mark.usefixtures("uncompared")
def test_assess(change):
    trace = model.simulate((XS, 1.0), rng=4)
    assert not trace["far"]
    choices = {**dict(trace.choices.items()), **{(key,): value for key, value in change.items()}}
    choices = {path: value for path, value in choices.items() if value is not None}
    for _ in range(2):
        found = outcome(model.assess, (XS, 1.0), choices)
    with running_on("compiled"):
        expected = outcome(model.assess, (XS, 1.0), choices)
    if isinstance(expected[0], Exception):
        assert (type(found[0]), str(found[0])) == (type(expected[0]), str(expected[0]))
    else:
        assert is_close(found[0].log_prob, expected[0].log_prob)
        assert found[0].retval == expected[0].retval


def test_other_values_at_the_same_addresses():
    for shift in range(5):
        data = np.array([1.0, 2.0, 3.0]) + shift
        w = np.array([0.5, 0.5]) if shift % 2 else np.array([0.1, 0.9])
        found = model.generate((XS, 1.0), {"y": data, "w": w}, rng=shift)
        expected = model.reference.generate((XS, 1.0), {"y": data, "w": w}, rng=shift)
        assert_same(found.trace, expected.trace)
        data[:] = 0.0
        w[:] = 0.0  # which the trace must not see
        assert [found.trace["y", i] for i in range(3)] == [1.0 + shift, 2.0 + shift, 3.0 + shift]
        assert found.trace["w"].sum() == 1.0
    assert len(operations._called(model).samplers) == 1


def test_other_arguments():
    @gen
    def local(xs, scale):
        for i in range(len(xs)):
            ("y", i) @ ~normal(xs[i], scale)
        return xs[0], scale

    every = [
        (XS, 1.0), ([1.0, 2.0], 1.0), ([1, 2], 1.0), (np.array(XS), 2.0), ((1.0, 2.0), 1), ([3.0], True),
        ([np.float64(1.0)], np.float64(2.0)), ([4.0], 0.5), (XS, -1.0), (XS, "a"), ([1.0], 1.0),
    ]  # fmt: skip
    for _ in range(2):
        for args in every:
            found = outcome(local.simulate, args, rng=1)
            with running_on("compiled"):
                expected = outcome(local.simulate, args, rng=1)
            if isinstance(expected[0], Exception):
                assert (type(found[0]), str(found[0])) == (type(expected[0]), str(expected[0]))
            else:
                assert_same(found[0], expected[0])
                assert repr(found[0].retval) == repr(expected[0].retval)


def test_arguments_that_are_changed_afterwards():
    xs = [1.0, 2.0]
    traces = []
    for _ in range(4):
        traces.append((model.simulate((xs, 1.0), rng=1), list(xs)))
        xs[0] += 1.0
        xs.append(0.0)
    for trace, then in traces:
        assert trace.args == (then, 1.0)
        assert is_close(trace.update({}).trace.log_prob, trace.log_prob)


@dataclass
class Setting:
    scale: float


def test_objects_that_change():
    @gen
    def local(setting):
        x = ~normal(0.0, setting.scale)
        return x

    setting = Setting(1.0)
    for scale in (1.0, 2.0, 2.0, 3.0):
        setting.scale = scale
        found, expected = local.simulate((setting,), rng=1), local.reference.simulate((setting,), rng=1)
        assert found["x"] == expected["x"] and is_close(found.log_prob, expected.log_prob)


# --- what is drawn from ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_generators(kind):
    mine, theirs = (np.random.Generator(kind(7)) for _ in range(2))
    for _ in range(4):
        assert_same(model.simulate((XS, 1.0), rng=mine), model.reference.simulate((XS, 1.0), rng=theirs))
        assert str(mine.bit_generator.state) == str(theirs.bit_generator.state)
    assert is_compiled(model)


def test_an_error_leaves_the_generator_where_it_does_otherwise():
    @gen
    def local():
        x = ~normal(0.0, 1.0)
        y = ~normal(0.0, 1.0 if x < 0.7 else -1.0)
        return y

    raised = 0
    mine, theirs = np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(12):
        found, expected = outcome(local.simulate, rng=mine), outcome(local.reference.simulate, rng=theirs)
        if isinstance(expected[0], Exception):
            raised += 1
            assert (type(found[0]), str(found[0])) == (type(expected[0]), str(expected[0]))
        else:
            assert_same(found[0], expected[0])
        assert str(mine.bit_generator.state) == str(theirs.bit_generator.state)
    assert 0 < raised < 12


def test_a_generator_of_another_class():
    class Counted(np.random.Generator):
        def standard_normal(self, *args, **options):
            return 1.0

    @gen
    def local():
        x = ~normal(0.0, 1.0)

    rng = Counted(np.random.PCG64(1))
    for _ in range(3):
        assert type(local.simulate(rng=rng)) is not LookedAt
    assert is_compiled(local)


def test_draws_are_of_the_program():
    """A z-score of the mean, with a seed that machine code alone draws from."""

    @gen
    def local():
        n = ~uniform_discrete(1, 3)
        return [("x", i) @ ~gamma(2.0, 1.5) for i in range(n)]

    rng, sums = np.random.default_rng(0), []
    for _ in range(4_000):
        trace = local.simulate(rng=rng)
        sums.append(sum(trace.retval))
    # E = 2 * 3; Var = E[n] 2 * 1.5^2 + Var(n) 3^2
    z = (np.mean(sums) - 6.0) / math.sqrt((2 * 4.5 + 2 / 3 * 9.0) / len(sums))
    assert abs(z) < 3.0
    assert failed(local) == 0


# --- what is returned ------------------------------------------------------------------------------


@gen
def returns_none():
    x = ~normal(0.0, 1.0)


@gen
def returns_text():
    x = ~normal(0.0, 1.0)
    return "high" if x > 0 else "low"


@gen
def returns_lists():
    n = ~poisson(1.0)
    return [(i, 0.5 * i) for i in range(n)], [[float(j) for j in range(i)] for i in range(n)]


@gen
def returns_arrays():
    x = ~iid(normal(0.0, 1.0), 3)
    return x[::-1], np.outer(x, x), x > 0, x[:0]


@gen
def returns_either():
    n = ~poisson(1.0)
    x = ~normal(0.0, 1.0)
    if n == 0:
        return None
    return (n, [x]) if n == 1 else x


@gen
def returns_numpy():
    x = ~normal(0.0, 1.0)
    return np.float64(x) * 2, np.exp(x), np.int64(3), np.array([x])[0]  # of which one has other bits


@gen
def returns_dict():
    x = ~normal(0.0, 1.0)
    return {"x": x}


@pytest.mark.parametrize(
    "program",
    [returns_none, returns_text, returns_lists, returns_arrays, returns_either, returns_numpy, returns_dict],
    ids=lambda program: program.name,
)
def test_return_values(program):
    for seed in range(12):
        found, expected = program.simulate(rng=seed), program.reference.simulate(rng=seed)
        assert repr(found.retval) == repr(expected.retval)
        known = program.assess((), expected.choices)
        assert repr(known.retval) == repr(expected.retval)
    assert is_compiled(program)
    if program in (returns_none, returns_text, returns_lists, returns_arrays, returns_either):
        assert operations._called(program).samplers[0].returns


# --- traces ----------------------------------------------------------------------------------------


def both(seed=3):
    given = {"y": [1.0, 2.0, 3.0]}
    model.simulate((XS, 1.0), rng=0)
    made = model.generate((XS, 1.0), given, rng=seed).trace
    assert type(made) is LookedAt
    return made, model.reference.generate((XS, 1.0), given, rng=seed).trace


def test_what_traces_are_for():
    found, expected = both()
    for path in [("k",), ("w",), ("z", 1), ("y", 2), ("cell", 1, 0)]:
        assert same_value(found[path], expected[path]) and path in found
    assert ("z", 9) not in found and "more" not in found
    with pytest.raises(Exception, match="no such choice"):
        found["z", 9]
    assert repr(found) == repr(expected) and str(found) == str(expected)
    assert is_close(found.project(select("k", "w")), expected.project(select("k", "w")))
    for change in ({"k": 4}, {("y", 1): 0.0}, {"far": True, ("more", "shift"): 1.0}):
        mine, theirs = found.update(change, rng=5), expected.update(change, rng=5)
        assert is_close(mine.log_weight, theirs.log_weight)
        assert_same(mine.trace, theirs.trace)
    mine, theirs = found.regenerate(select("slopes"), rng=5), expected.regenerate(select("slopes"), rng=5)
    assert is_close(mine.log_weight, theirs.log_weight)
    gradients = found.gradients(select("t", "slopes")), expected.gradients(select("t", "slopes"))
    assert same_value(gradients[0]["slopes"], gradients[1]["slopes"], 1e-9, 1e-9)
    assert_same(pickle.loads(pickle.dumps(found)), expected)


def test_traces_keep_what_they_have():
    traces = [both(seed) for seed in range(6)]
    for found, expected in traces:
        assert_same(found, expected)


def test_chains_start_from_them():
    found, expected = both()
    kernel = mh(select("k"))
    mine = sample(kernel, found, 40, record=["k", "t"], seed=1, progress=False)
    theirs = sample(kernel, expected, 40, record=["k", "t"], seed=1, progress=False)
    assert (mine["k"] == theirs["k"]).all()


# --- when machine code is not used -----------------------------------------------------------------


SCALE = 1.0
DATA = np.array([1.0, 2.0])


@gen
def outside():
    x = ~normal(DATA.sum(), SCALE)
    return DATA[0]


def test_what_lies_outside_may_change(monkeypatch):
    outside.simulate(rng=0)
    assert is_compiled(outside)
    kept = outside.simulate(rng=1), outside.reference.simulate(rng=1)
    monkeypatch.setitem(globals(), "DATA", np.array([5.0, 5.0]))
    for seed in range(3):
        assert_same(outside.simulate(rng=seed), outside.reference.simulate(rng=seed))
        DATA[0] += 1.0
        assert_same(outside.simulate(rng=seed), outside.reference.simulate(rng=seed))
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    for seed in range(3):
        assert_same(outside.simulate(rng=seed), outside.reference.simulate(rng=seed))
    assert operations.told_of(outside).startswith("step by step: ")
    assert kept[0]["x"] == kept[1]["x"] and kept[0].retval == kept[1].retval == 1.0


def test_programs_that_are_not_closed():
    @gen
    def local():
        x = ~normal(0.0, 1.0)
        return print and eval("x + 1")

    for seed in range(3):
        assert local.simulate(rng=seed).retval == local.reference.simulate(rng=seed).retval
    assert operations.told_of(local).startswith("step by step: ")


def test_it_is_given_up_where_traces_are_edited(monkeypatch):
    monkeypatch.setattr(thresholds, "FIRST_CALLS", 8)
    monkeypatch.setattr(thresholds, "MOST_STRAYS", 0.2)

    @gen
    def local():
        x = ~normal(0.0, 1.0)
        y = ~normal(x, 1.0)

    local.simulate(rng=0)
    assert local.explain().endswith("\nsimulate, generate and assess run as machine code")
    for seed in range(12):
        local.simulate(rng=seed).update({"y": 1.0})
    assert operations.told_of(local) == "step by step: more than choices is asked of the traces too often"


def test_it_is_given_up_where_it_fails(monkeypatch):
    monkeypatch.setattr(thresholds, "FIRST_CALLS", 8)
    monkeypatch.setattr(thresholds, "MOST_FALLBACKS", 0.2)

    @gen
    def local():
        x = ~normal(0.0, 1.0)
        y = ~beta(1.0, 1.0)

    for seed in range(12):
        assert local.generate((), {"y": 2.0}, rng=seed).log_weight == -math.inf
    assert operations.told_of(local) == "step by step: machine code fails too often"


def test_few_calls_are_not_compiled(monkeypatch):
    monkeypatch.undo()

    @gen
    def local():
        x = ~normal(0.0, 1.0)

    for seed in range(40):
        local.simulate(rng=seed)
    assert operations.told_of(local) is None and not operations._called(local).samplers
    operations.expect(local, 10_000)
    for seed in range(40):
        local.simulate(rng=seed)
    assert is_compiled(local)


@pytest.mark.parametrize("runtime", ["reference", "compiled", "python"])
def test_other_runtimes(runtime):
    @gen
    def local():
        x = ~normal(0.0, 1.0)

    with running_on(runtime):
        for seed in range(3):
            assert type(local.simulate(rng=seed)) is not LookedAt


def test_a_mistake_of_the_machine_code_is_found(monkeypatch):
    @gen
    def local():
        x = ~normal(0.0, 1.0)

    local.simulate(rng=0)
    made = drawn_choices.DrawnChoices.choices
    monkeypatch.setattr(drawn_choices.DrawnChoices, "choices", lambda self: {("x",): made(self)["x",] + 1e-6})
    with pytest.raises(RuntimeMismatchError, match=r"code of 'simulate' has .* there") as told:
        local.simulate(rng=1)
    assert told.value.address == ("x",)


def test_other_random_numbers_are_found(monkeypatch):
    @gen
    def local():
        x = ~normal(0.0, 1.0)

    local.simulate(rng=0)
    make = called_sampler.CalledSampler.make

    def other(self, rng, **options):
        made = make(self, rng, **options)
        return made._replace(states=(made.states[0], np.random.PCG64(9).state))

    monkeypatch.setattr(called_sampler.CalledSampler, "make", other)
    with pytest.raises(RuntimeMismatchError, match="other random numbers"):
        local.simulate(rng=1)


def test_threads():
    @gen
    def local(n):
        m = ~normal(0.0, 1.0)
        for i in range(n):
            ("x", i) @ ~normal(m, 1.0)

    found = {}

    def work(number):
        rng = np.random.default_rng(number)
        found[number] = [local.simulate((number + 2,), rng=rng) for _ in range(30)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, traces in found.items():
        rng = np.random.default_rng(number)
        for trace in traces:
            assert_same(trace, local.reference.simulate((number + 2,), rng=rng))


def test_programs_are_let_go():
    def made():
        @gen
        def local():
            x = ~normal(0.0, 1.0)

        for seed in range(3):
            local.simulate(rng=seed)
        assert is_compiled(local)
        return weakref.ref(local)

    gone = made()
    gc.collect()
    assert gone() is None


# --- what a review found ---------------------------------------------------------------------------


@gen
def tree(p):
    s = ~bernoulli(p)
    if s:
        left = "l" @ ~tree(p)
        right = "r" @ ~tree(p)
        return 1
    return 0


def test_programs_that_call_themselves_are_left_to_today(monkeypatch):
    for seed in range(3):
        assert_same(tree.simulate((0.3,), rng=seed), tree.reference.simulate((0.3,), rng=seed))
    assert operations.told_of(tree) == "step by step: a function that calls itself"


def test_indices_that_are_far_apart(monkeypatch):
    @gen
    def ids(us):
        m = ~normal(0.0, 1.0)
        for u in us:
            ("x", u) @ ~normal(m, 1.0)

    for far in (3, 1_000_000, 4, 20_000, 5):
        args = ([1, 2, far],)
        found = ids.simulate(args, rng=far)
        assert_same(found, ids.reference.simulate(args, rng=far))
        assert type(found) is (LookedAt if 3 < far < 1_000 else type(found))
    sampler = operations._called(ids).samplers[0]
    assert sampler.failed == 2 and sum(map(len, sampler.memories[0].columns[1])) < 1_000


def test_one_generator_for_many_threads():
    @gen
    def grows(p):
        i = 0
        while ("s", i) @ ~bernoulli(p):
            i += 1
        z = ~normal(0.0, 1.0)

    grows.simulate((0.5,), rng=0)
    rng, found = np.random.default_rng(1), []

    def work():
        found.extend(grows.simulate((0.9,), rng=rng)["z"] for _ in range(60))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == len(found) == 360


class Slots:
    __slots__ = ("a",)


SHARED = [1.0, 2.0]


def test_types_of_what_is_given():
    @gen
    def of_dict(d):
        x = ~normal(d["a"] - 2**53, 1.0)
        return d["a"]

    @gen
    def of_object(o):
        x = ~normal(0.0, 1.0)
        return o.a

    @gen
    def of_shared():
        x = ~normal(0.0, 1.0)
        return SHARED[0]

    for a in (1.0, 2**53 + 1, True, np.float64(2.0)):
        given = {"a": a, "b": 2.0, "c": 1}
        assert_same(of_dict.simulate((given,), rng=1), of_dict.reference.simulate((given,), rng=1))
        thing = Slots()
        thing.a = a
        assert_same(of_object.simulate((thing,), rng=1), of_object.reference.simulate((thing,), rng=1))
        SHARED[:] = [a, 4.0]
        assert_same(of_shared.simulate(rng=1), of_shared.reference.simulate(rng=1))


def test_nothing_of_a_trace_can_be_changed():
    @gen
    def local(xs):
        x = ~iid(normal(0.0, 1.0), 3)
        y = ~mvnormal([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])

    given = np.array([1.0, 2.0])
    _, one, other = (local.generate(([1.0, 2.0],), {"y": given}, rng=1).trace for _ in range(3))
    assert type(one) is LookedAt
    for array in (one["x"], one["y"], one.choices["x"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 99.0
    given[0] = 99.0
    assert one["y"][0] == 1.0
    assert one.args[0] is not other.args[0]


def test_a_trace_says_so_where_the_program_is_another_by_then(monkeypatch):
    @gen
    def local():
        x = ~normal(0.0, SCALE)
        y = ~normal(x, SCALE)
        return {"x": x}

    local.simulate(rng=0)
    trace = local.simulate(rng=1)
    assert type(trace) is LookedAt
    value, density = trace["x"], trace.log_prob
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert trace["x"] == value and trace.log_prob == density and dict(trace.choices.items())
    for ask in (
        lambda: trace.retval,
        lambda: trace.project(select("x")),
        lambda: trace.update({"x": 1.0}),
        lambda: trace.regenerate(select("x")),
        lambda: pickle.dumps(trace),
    ):
        with pytest.raises(NotDeterministicError, match="something else outside"):
            ask()


def test_errors_of_numpy():
    @gen
    def local():
        x = ~normal(-5.0, 1.0)
        y = ~bernoulli(0.5 if np.isnan(np.log(x)) else 0.1)

    with np.errstate(all="ignore"):
        local.simulate(rng=0)
    assert is_compiled(local)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        local.simulate(rng=1)


def test_what_is_observed_and_given_a_start():
    for given, start in [({("y", 1): 1.0}, {"y": [5.0]}), ({"y": [1.0, 2.0, 3.0]}, {("y", 1): 5.0})]:
        rngs = [np.random.default_rng(1) for _ in range(2)]
        found = outcome(model.generate, (XS, 1.0), given, init=start, rng=rngs[0])
        with running_on("compiled"):
            expected = outcome(model.generate, (XS, 1.0), given, init=start, rng=rngs[1])
        assert isinstance(expected[0], UnknownAddressError)
        assert_same_outcome(found, expected)
        assert len({str(rng.bit_generator.state) for rng in rngs}) == 1


@pytest.mark.usefixtures("uncompared")
def test_assess_draws_nothing():
    @gen
    def local():
        i = 0
        while not ("stop", i) @ ~bernoulli(1e-12):
            i += 1

    local.assess((), {("stop", 0): True})
    assert is_compiled(local)
    with pytest.raises(MissingChoiceError):
        local.assess((), {("stop", 0): False})
    assert max(map(len, operations._called(local).samplers[0].memories[0].columns[0])) < 100


def test_a_wrong_call_changes_nothing():
    @gen
    def local(n):
        x = ~normal(n, 1.0)

    local.simulate((1.0,), rng=0)
    for _ in range(3):
        with pytest.raises(Exception, match="tuple"):
            local.simulate([1.0], rng=0)
    assert is_compiled(local)


def test_other_addresses_in_each_call(monkeypatch):
    monkeypatch.setattr(thresholds, "FIRST_CALLS", 8)
    monkeypatch.setattr(thresholds, "MOST_STRAYS", 0.2)

    @gen
    def local(n):
        for i in range(n):
            ("x", i) @ ~normal(0.0, 1.0)

    for n in range(1, 12):
        local.generate((n,), {("x", i): 1.0 for i in range(n)}, rng=n)
    assert operations.told_of(local) == "step by step: choices are given at other addresses too often"


# --- importance sampling ---------------------------------------------------------------------------


@gen
def line(n):
    slope = ~normal(0.0, 1.0)
    for i in range(n):
        ("y", i) @ ~normal(slope * i, 1.0)
    return slope


def test_importance_sampling():
    data = {"y": [0.1, 0.9, 2.2]}
    found = importance_sampling(line, (3,), data, 400, rng=2)
    assert is_compiled(line) and type(found.traces[-1]) is LookedAt
    with running_on("compiled"):
        expected = importance_sampling(line, (3,), data, 400, rng=2)
    np.testing.assert_allclose(found.log_weights, expected.log_weights, rtol=1e-9)
    assert is_close(found.mean("slope").mean, expected.mean("slope").mean)
    # of slope ~ N(0, 1) and y_i ~ N(slope i, 1)
    assert abs(found.mean("slope").mean - 5.3 / 6.0) < 4 * found.mean("slope").standard_error
    drawn = importance_resampling(line, (3,), data, 400, rng=2).trace
    assert type(drawn) is LookedAt
    assert drawn.retval == drawn["slope"]


def test_choices_that_count_as_observations_later():
    """As tests of kernels make them of simulated traces."""

    @gen
    def local():
        x = ~normal(0, 1)
        y = ~normal(x, 1)

    for _ in range(20):
        trace = local.simulate(rng=1)
    assert isinstance(trace, LookedAt)
    x, y = trace["x"], trace["y"]
    trace.observed_paths = frozenset([("y",)])
    assert dict(trace.observed.items()) == {("y",): y}
    after = trace.update({"x": 1.0}).trace
    assert dict(after.observed.items()) == {("y",): y} and trace["x"] == x

    def from_the_prior(trace, rng):
        return local.generate((), {"y": trace["y"]}, rng=rng).trace, None

    report = stationarity(from_the_prior, local, observed="y", steps=5, draws=500, chains=20)
    assert report.worst.name == "'x' · 'y'"


@gen
def two_by_two(n, sd):
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.3)
        ("y", i) @ ~normal(3.0 * z, sd)


def drawn(trace):
    return dict(trace.choices.items())


def is_compiled_but_for(program, operation):
    return (
        operations.told_of(program) == f"as machine code, but for {operation}, which draws loops in columns"
    )


def test_one_seed_gives_one_trace_however_often_it_is_called(monkeypatch):
    """Today's runtime draws long loops in columns; machine code would draw in the order of the program."""
    monkeypatch.setattr(operations, "_KEEPS_ORDER", True)
    first = [drawn(two_by_two.simulate((n, 1.0), rng=7)) for n in (4, 12)]
    assert first[1] != drawn(two_by_two.reference.simulate((12, 1.0), rng=7))
    for _ in range(5):
        for n, expected in zip((4, 12), first, strict=True):
            assert drawn(two_by_two.simulate((n, 1.0), rng=7)) == expected
    data = {("y", i): float(i % 3) for i in range(12)}
    weights = {two_by_two.generate((12, 1.0), data, rng=7).trace.log_prob for _ in range(5)}
    assert len(weights) == 1 and is_compiled_but_for(two_by_two, "simulate")


def test_longer_loops_than_those_it_was_compiled_for(monkeypatch):
    """Which are then drawn in columns; the generator is left where that leaves it."""
    monkeypatch.setattr(operations, "_KEEPS_ORDER", True)

    @gen
    def local(n):
        for i in range(n):
            x = ("x", i) @ ~normal(0, 1)
            ("y", i) @ ~normal(x, 1)

    for _ in range(3):
        assert drawn(local.simulate((3,), rng=1)) == drawn(local.reference.simulate((3,), rng=1))
    assert is_compiled(local)
    today = local._simulate((20,), rng=(mine := np.random.default_rng(5)))
    found = local.simulate((20,), rng=(other := np.random.default_rng(5)))
    assert drawn(found) == drawn(today) and mine.bit_generator.state == other.bit_generator.state
    assert drawn(local.simulate((20,), rng=5)) == drawn(today)
    assert is_compiled_but_for(local, "simulate")


def test_columns_that_are_drawn_by_groups(monkeypatch):
    """Of choices that look up their probabilities, today's runtime draws those with the same together."""
    monkeypatch.setattr(operations, "_KEEPS_ORDER", True)
    rows = [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.1, 0.1, 0.8]]

    @gen
    def by_groups(group):
        for i in range(len(group)):
            ("z", i) @ ~categorical(rows[group[i]])

    group = [(i * i) % 3 for i in range(30)]
    first = drawn(by_groups.generate((group,), {}, rng=7).trace)
    assert first != drawn(by_groups.reference.generate((group,), {}, rng=7).trace)
    for _ in range(4):
        assert drawn(by_groups.generate((group,), {}, rng=7).trace) == first
