"""Whole moves by plans: the acceptance ratio comes from a straight line, and is what it is without."""

import contextlib
import math
import operator
from collections import Counter
from importlib import import_module

import numpy as np
import pytest

from gendsl import (
    Distribution,
    bernoulli,
    continuous,
    copy,
    discrete,
    exponential,
    gamma,
    gen,
    involutive_mcmc,
    mixture_of_normals,
    mvnormal,
    normal,
    poisson,
    read,
    transform,
    uniform_discrete,
    write,
)
from gendsl.errors import GenDSLError, RuntimeMismatchError
from gendsl.inference import proposal
from gendsl.runtime.watched import runs_whole
from gendsl.supports import Interval, Real
from gendsl.transforms.moves import Scored
from gendsl.transforms.recorded_programs import Plate

pytestmark = pytest.mark.skipif(runs_whole(), reason="the reference runtime has no plans")

plans_module, moves_module = map(import_module, ("gendsl.transforms.plans", "gendsl.transforms.moves"))
SCALE = 2.0


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Moves are made early, so that short chains have them."""
    monkeypatch.setattr(plans_module, "SEEN", 4)
    monkeypatch.setattr(moves_module, "SEEN", 2)


def chain(trace, q, f, n, *, plans, q_args=(), seed=1, check=False):
    """Each step's choices and what is known of it, or the error that ends the chain."""
    f.plans.__init__()
    f.plans.off = not plans
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        try:
            trace, info = involutive_mcmc(trace, q, q_args, f, check=check, rng=rng)
        except GenDSLError as error:
            found.append((type(error), error.problem))
            break
        found.append((trace.choices, info))
    return found


def assert_same_chain(kinds, trace, q, f, n=200, least=50, **options):
    """With plans and without, a chain is the same, and at least so many steps had no trace at first."""
    known = chain(trace, q, f, n, plans=True, **options)
    assert kinds[Scored] >= least
    plain = chain(trace, q, f, n, plans=False, **options)
    assert len(known) == len(plain)
    for (choices, info), (expected, wanted) in zip(known, plain, strict=True):
        assert choices == expected
        if isinstance(info, str):
            assert info == wanted
            continue
        for name in ("log_accept_ratio", "log_model_ratio", "log_aux_ratio", "log_abs_det"):
            assert getattr(info, name) == pytest.approx(getattr(wanted, name), rel=1e-9, abs=1e-9), name
        assert (info.accepted, info.reason) == (wanted.accepted, wanted.reason)


# --- programs ---------------------------------------------------------------------------------------


class bump(Distribution):
    """A user's own, which only keeps what it is called with."""

    checks_support = True
    parameters = ("low", "high")

    def __init__(self, low, high):
        self.low, self.high = low, high

    @property
    def support(self):
        return Interval(self.low, self.high)

    def sample(self, rng):
        return self.low + (self.high - self.low) * rng.beta(2, 2)

    def logpdf(self, x):
        low, high = self.low, self.high
        if not low < x < high:
            return -math.inf
        return math.log(6 * (x - low) * (high - x) / (high - low) ** 3)


@gen
def step(trace, size):
    j = ~uniform_discrete(0, trace["k"] - 1)
    u = ~normal(0.1 * trace["mu", j], size)


@transform
def walk(model_in, aux_in, *, model_out, aux_out):
    j = read(aux_in["j"], discrete)
    copy(aux_in["j"], aux_out["j"])
    x, u = read(model_in["mu", j], continuous), read(aux_in["u"], continuous)
    write(model_out["mu", j], x + SCALE * u)
    write(aux_out["u"], -u)


@gen
def grow(trace):
    k = trace["k"]
    birth = ~bernoulli(1.0 if k == 1 else 0.0 if k == 4 else 0.5)
    if birth:
        u = ~normal(0.5 * trace["mu", 0], 2)


@transform
def grow_or_shrink(model_in, aux_in, *, model_out, aux_out):
    k, birth = read(model_in["k"]), read(aux_in["birth"])
    write(aux_out["birth"], not birth)
    if birth:
        write(model_out["k"], k + 1)
        write(model_out["mu", k], 1 + SCALE * read(aux_in["u"]))
    else:
        write(model_out["k"], k - 1)
        write(aux_out["u"], (read(model_in["mu", k - 1]) - 1) / SCALE)


@gen
def data_at_once(n):
    k = ~(1 + poisson(1))
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    weights = [1 / k] * k
    for i in range(n):
        ("x", i) @ ~mixture_of_normals(weights, mu, [1.0] * k)


@gen
def data_by_arithmetic(n, z):
    k = ~(1 + poisson(1))
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    tau = ~gamma(2, 1)
    shift = 0.0
    if mu[0] > 0.5:
        shift = 1.0
    total = sum(mu)
    for i in range(n):
        ("x", i) @ ~normal(shift + total * z[i], tau)


@gen
def bumps(z):
    k = ~(1 + poisson(1))
    last, mu = -9.0, []
    for j in range(k):
        last = ("mu", j) @ ~bump(last, 10.0)
        mu.append(last)
    place = ~mvnormal([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
    flag = ~bernoulli(0.5)
    centre = mu[-1] + place[0] if flag else mu[0] * place[1]
    x = ~normal(centre, 1)
    whole = ~mvnormal(z, [[1.0, 0.0], [0.0, 1.0]])


@gen
def prior(spread):
    k = ~(1 + poisson(1))
    return [("mu", j) @ ~normal(0, spread) for j in range(k)]


@gen
def calls():
    mu = ... @ ~prior(3.0)
    inner = "nested" @ ~prior(1.0 + abs(mu[0]))
    x = ~normal(sum(mu) + sum(inner), 1)


def traces():
    x = np.linspace(-2, 3, 20)
    given = {"k": 3, ("mu", 0): 0.4, ("mu", 1): 1.0, ("mu", 2): 3.0}
    two = {key: value for key, value in given.items() if key != ("mu", 2)} | {"k": 2}
    return {
        "mixture": data_at_once.generate((20,), {"x": x}, init=given, rng=1).trace,
        "arithmetic": data_by_arithmetic.generate((20, x), {"x": x}, init=given, rng=1).trace,
        "bumps": bumps.generate((np.array([1.0, 2.0]),), {"x": 0.5}, init=two, rng=1).trace,
        "calls": calls.generate((), {"x": 0.5}, init=two, rng=1).trace,
    }


@pytest.mark.parametrize("check", [False, True, "reject"])
@pytest.mark.parametrize("name", ["mixture", "arithmetic", "bumps", "calls"])
def test_a_chain_is_the_same_without_traces_of_proposals(kinds, name, check):
    assert_same_chain(kinds, traces()[name], step, walk, q_args=(0.7,), check=check)


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("name", ["mixture", "arithmetic", "calls"])
def test_a_chain_that_changes_its_dimension_is_the_same(kinds, name, check):
    assert_same_chain(kinds, traces()[name], grow, grow_or_shrink, 300, check=check)


# --- what ends a move -------------------------------------------------------------------------------


def ratio(trace, q, f, seed, **options):
    return involutive_mcmc(trace, q, options.pop("q_args", ()), f, rng=seed, **options)[1].log_accept_ratio


def test_a_global_name_of_the_model_that_gets_another_value_ends_a_move(kinds, monkeypatch):
    @gen
    def scaled():
        k = ~uniform_discrete(1, 1)
        mu = [("mu", j) @ ~normal(0, SCALE) for j in range(k)]
        x = ~normal(mu[0], 1)

    @transform
    def refresh(model_in, aux_in, *, model_out, aux_out):
        copy(aux_in["j"], aux_out["j"])
        copy(model_in["mu", 0], aux_out["u"])
        copy(aux_in["u"], model_out["mu", 0])

    trace = scaled.generate((), {"x": 1.0}, rng=1).trace
    known = [ratio(trace, step, refresh, seed, q_args=(1.0,)) for seed in range(60)]
    assert kinds[Scored] > 20
    monkeypatch.setitem(scaled.compiled.original.__globals__, "SCALE", 5.0)
    init = {"k": 1, ("mu", 0): trace["mu", 0]}
    changed = scaled.generate((), {"x": 1.0}, init=init, rng=1).trace
    refresh.plans.dry = 0
    now = [ratio(changed, step, refresh, seed, q_args=(1.0,)) for seed in range(60)]
    refresh.plans.off = True
    plain = [ratio(changed, step, refresh, seed, q_args=(1.0,)) for seed in range(60)]
    assert now == pytest.approx(plain, rel=1e-12)
    assert now != pytest.approx(known, rel=1e-3)


def test_a_move_is_of_one_model_one_auxiliary_program_and_its_arguments(kinds):
    """Traces in turn, of other models and of other arguments, by other programs and arguments."""

    @gen
    def wide(trace, size):
        j = ~uniform_discrete(0, trace["k"] - 1)
        u = ~normal(0, 3 * size)

    some = [*traces().values(), data_at_once.generate((30,), {"x": np.zeros(30)}, rng=2).trace]

    def all_ratios():
        return [
            ratio(trace, q, walk, seed, q_args=(size,), check=check)
            for seed in range(12) for trace in some for q in (step, wide) for size in (0.5, 2.0)
            for check in (False, True)
        ]  # fmt: skip

    walk.plans.__init__()
    known = all_ratios()
    assert kinds[Scored] > 100
    walk.plans.off = True
    assert known == pytest.approx(all_ratios(), rel=1e-9)
    walk.plans.__init__()


def test_a_data_loop_reads_what_the_new_trace_reads():
    """A variable that a comparison gave a constant isn't that of the old trace."""
    trace = traces()["arithmetic"].update({"tau": 30.0}).trace
    walk.plans.__init__()
    rng = np.random.default_rng(1)
    sides = Counter()
    for _ in range(400):
        before = trace
        trace, info = involutive_mcmc(trace, step, (0.5,), walk, rng=rng)
        if info.accepted:
            sides[before["mu", 0] > 0.5, trace["mu", 0] > 0.5] += 1
            change = trace.log_prob - before.log_prob
            assert info.log_model_ratio == pytest.approx(change, rel=1e-9, abs=1e-9)
    assert sides[True, False] > 0 and sides[False, True] > 0


def test_a_wrong_density_is_found_when_a_trace_is_made(kinds):
    """It must be the density that the model has: a mistake planted in the line."""
    trace = traces()["mixture"]
    walk.plans.__init__()
    rng = np.random.default_rng(1)
    for _ in range(200):
        trace, _ = involutive_mcmc(trace, step, (0.5,), walk, rng=rng)
    assert kinds[Scored] > 50
    nodes = [*walk.plans.roots.values()]
    planted = 0
    while nodes:
        node = nodes.pop()
        nodes += node.children.values()
        for line in node.lines:
            for i, move in enumerate(line.moves.made):

                def wrong(*args, function=move.function):
                    result = function(*args)
                    return result and (*result[:3], result[3] + 1.0, *result[4:])

                line.moves.made[i] = move._replace(function=wrong)
                planted += 1
    assert planted
    with pytest.raises(RuntimeMismatchError, match="the log probability changes by"):
        for _ in range(200):
            trace, _ = involutive_mcmc(trace, step, (0.5,), walk, rng=rng)
    walk.plans.__init__()


def test_where_most_is_accepted_traces_are_made_at_once(kinds):
    @gen
    def little(trace, size):
        j = ~uniform_discrete(0, trace["k"] - 1)
        u = ~normal(0, size)

    trace = traces()["mixture"]
    walk.plans.__init__()
    rng = np.random.default_rng(1)
    for _ in range(400):
        trace, _ = involutive_mcmc(trace, little, (0.001,), walk, rng=rng)
    waited = kinds[Scored]
    assert waited > 32
    for _ in range(100):
        trace, _ = involutive_mcmc(trace, little, (0.001,), walk, rng=rng)
    assert kinds[Scored] == waited
    walk.plans.__init__()


# --- the way back -----------------------------------------------------------------------------------


def lines(f):
    """The lines of a transform."""
    nodes, found = [*f.plans.roots.values()], []
    while nodes:
        node = nodes.pop()
        nodes += node.children.values()
        found += node.lines
    return found


@pytest.mark.parametrize(("name", "q", "f"), [("mixture", step, walk), ("calls", grow, grow_or_shrink)])
def test_a_checked_move_knows_the_way_back(monkeypatch, name, q, f):
    """Most steps ask the transform no more than once in 64."""
    looked = Counter()
    comes_back = proposal.comes_back

    def counting(*args):
        looked["back"] += 1
        return comes_back(*args)

    trace = traces()[name]
    f.plans.__init__()
    rng = np.random.default_rng(1)
    args = (0.7,) if q is step else ()
    for _ in range(300):
        trace, _ = involutive_mcmc(trace, q, args, f, check=True, rng=rng)
    assert any(move.checked for line in lines(f) for move in line.moves.made)
    monkeypatch.setattr(proposal, "comes_back", counting)
    for _ in range(200):
        trace, _ = involutive_mcmc(trace, q, args, f, check=True, rng=rng)
    assert looked["back"] < 60
    f.plans.__init__()


@pytest.mark.parametrize("mistake", [lambda x: 1e-12 * x**9, lambda x: 0.0 if x < 2.5 else 1e-3])
def test_a_move_that_doesnt_lead_back_from_some_places_is_found(kinds, mistake):
    """From where it starts it does, and so for long: plans must find the same step as the transform."""

    @transform
    def drifting(model_in, aux_in, *, model_out, aux_out):
        j = read(aux_in["j"], discrete)
        copy(aux_in["j"], aux_out["j"])
        x, u = read(model_in["mu", j]), read(aux_in["u"])
        write(model_out["mu", j], x + u)
        write(aux_out["u"], -u + mistake(x))

    ends = []
    for plans in (True, False):
        drifting.plans.__init__()
        drifting.plans.off = not plans
        rng, moves = np.random.default_rng(4), 0
        near = data_at_once.generate((9,), {"x": np.zeros(9)}, init={"k": 1, ("mu", 0): 0.1}, rng=1).trace
        far = near.update({("mu", 0): 6.0}).trace
        with pytest.raises(GenDSLError) as caught:
            while moves < 300:
                involutive_mcmc(near if moves < 200 else far, step, (0.5,), drifting, check=True, rng=rng)
                moves += 1
        ends.append((moves, type(caught.value), caught.value.problem))
    assert kinds[Scored] > 50
    assert ends[0] == ends[1]
    assert ends[0][0] == 200


def test_a_way_back_that_is_taken_for_granted_is_run_all_the_same():
    """A mistake planted in the line, which says that everything leads back; and a transform that doesn't."""
    @transform
    def there_and_back(model_in, aux_in, *, model_out, aux_out):
        j = read(aux_in["j"], discrete)
        copy(aux_in["j"], aux_out["j"])
        x, u = read(model_in["mu", j]), read(aux_in["u"])
        write(model_out["mu", j], x + u)
        write(aux_out["u"], -u if x < 3 else 1e-3 - u)

    near = data_at_once.generate((9,), {"x": np.zeros(9)}, init={"k": 1, ("mu", 0): 0.1}, rng=1).trace
    far = near.update({("mu", 0): 6.0}).trace
    rng = np.random.default_rng(1)
    for _ in range(100):
        involutive_mcmc(near, step, (0.5,), there_and_back, check=True, rng=rng)
        with contextlib.suppress(GenDSLError):
            involutive_mcmc(far, step, (0.5,), there_and_back, check=True, rng=rng)
    for line in lines(there_and_back):
        for i, move in enumerate(line.moves.made):

            def granted(*args, function=move.function):
                result = function(*args)
                return result and (*result[:-1], True)

            line.moves.made[i] = move._replace(checked=granted)
    failed = 0
    for _ in range(512):
        try:
            involutive_mcmc(far, step, (0.5,), there_and_back, check=True, rng=rng)
        except GenDSLError:
            failed += 1
    assert 512 // 64 <= failed < 100


# --- what no move is made of ------------------------------------------------------------------------


def halved(x):
    return x / 2 if isinstance(x, float) and x > 1 else x


class counted(Distribution):
    """A user's own, of which there is an object that may change."""

    parameters = ("sd",)
    support = Real()

    def __init__(self, sd):
        self.sd = sd

    def sample(self, rng):
        return self.sd * rng.normal()

    def logpdf(self, x):
        return -0.5 * (x / self.sd) ** 2 - math.log(self.sd)


COUNTED = counted(2.0)


@gen
def asks_for_classes():
    k = ~uniform_discrete(1, 1)
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    x = ~normal(halved(mu[0]), 1)


@gen
def matches_classes():
    k = ~uniform_discrete(1, 1)
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    shift = 0.0
    match mu[0]:
        case float(value):
            shift = 2.0 * value
    x = ~normal(shift, 1)


@gen
def looks_at_an_object():
    k = ~uniform_discrete(1, 1)
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    x = ~normal(mu[0], COUNTED.sd)


@gen
def looks_up(n):
    k = ~uniform_discrete(2, 2)
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    z = [("z", i) @ ~uniform_discrete(0, 1) for i in range(n)]
    for i in range(n):
        ("x", i) @ ~normal(mu[z[i]], 1)


@gen
def more_than_is_recorded():
    k = ~uniform_discrete(1, 1)
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    many = [("many", j) @ ~normal(mu[0], 1 + j) for j in range(70)]


@pytest.mark.parametrize(
    "trace",
    [
        lambda: asks_for_classes.generate((), {"x": 1.0}, rng=1).trace,
        lambda: matches_classes.generate((), {"x": 1.0}, rng=1).trace,
        lambda: looks_at_an_object.generate((), {"x": 1.0}, rng=1).trace,
        lambda: looks_up.generate((30,), {"x": np.linspace(-1, 1, 30)}, rng=1).trace,
        lambda: more_than_is_recorded.generate((), rng=1).trace,
    ],
    ids=["isinstance", "match", "an object", "an index", "many choices"],
)
def test_no_move_is_made_of_what_may_not_be_told(kinds, trace):
    assert_same_chain(kinds, trace(), step, walk, least=0, q_args=(0.7,))
    assert kinds[Scored] == 0


def test_a_list_that_grows_later_is_what_it_was(kinds):
    @gen
    def growing():
        k = ~uniform_discrete(3, 3)
        mu = []
        for j in range(k):
            ("mu", j) @ ~summed(mu, 1.0)
            mu.append(0.5 * j)
        y = ~summed(mu, 2.0)

    assert_same_chain(kinds, growing.generate((), {"y": 1.0}, rng=1).trace, step, walk, q_args=(0.7,))


class summed(Distribution):
    """Normal about a sum."""

    parameters = ("parts", "sd")

    support = Real()

    def __init__(self, parts, sd):
        self.parts, self.sd = [*parts], sd

    def sample(self, rng):
        return sum(self.parts) + self.sd * rng.normal()

    def logpdf(self, x):
        return -0.5 * ((x - sum(self.parts)) / self.sd) ** 2 - math.log(self.sd)


# --- what a move is asked of a trace ----------------------------------------------------------------


def outcomes(some, q, f, rounds, **options):
    """What comes of steps from several traces in turn: the ratio, or the error."""
    found = []
    for seed in range(rounds):
        for trace in some:
            try:
                found.append(ratio(trace, q, f, seed, **options))
            except GenDSLError as error:
                found.append((type(error), error.problem))
    return found


def assert_same_in_turn(kinds, some, q, f, first_rounds=30, rounds=40, least=4, **options):
    """Steps from several traces in turn come to the same with plans and without; many are moves."""
    f.plans.__init__()
    first = outcomes(some[:1], q, f, first_rounds, **options)
    assert kinds[Scored] >= least
    known = first + outcomes(some, q, f, rounds, **options)
    f.plans.__init__()
    f.plans.off = True
    plain = outcomes(some[:1], q, f, first_rounds, **options) + outcomes(some, q, f, rounds, **options)
    f.plans.__init__()
    assert len(known) == len(plain)
    for now, then in zip(known, plain, strict=True):
        assert now == (then if isinstance(then, tuple) else pytest.approx(then, rel=1e-9, abs=1e-9))


@gen
def another(trace, centre=0.0):
    u = ~normal(centre, 1)


@transform
def other(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["u"], model_out["a"])
    copy(model_in["a"], aux_out["u"])


@gen
def affine_in(c, xs):
    a = ~normal(c, 1)
    z = ~bernoulli(0.5)
    y = ~normal(a * xs[1] if z else 3 * a, 1)


@gen
def affine_too(c, xs):
    a = ~normal(c, 5)
    z = ~bernoulli(0.5)
    y = ~normal(a * xs[1] if z else 3 * a, 2)


def test_the_arguments_and_the_choices_that_a_move_keeps_are_asked_for(kinds):
    """Of a number, of an array, of a choice that is only looked at by the model, and of the program."""

    def made(program, c, xs, z):
        return program.generate((c, np.array(xs)), {"y": 1.0}, init={"a": 0.3, "z": z}, rng=1).trace

    some = [
        made(affine_in, 0.0, [1.0, 2.0], True), made(affine_in, 1.0, [1.0, 2.0], True),
        made(affine_in, 0.0, [1.0, 4.0], True), made(affine_in, 0.0, [1.0, 2.0], False),
        made(affine_too, 0.0, [1.0, 2.0], True),
    ]  # fmt: skip
    assert_same_in_turn(kinds, some, another, other, first_rounds=100)


@gen
def toss(trace):
    flag = ~bernoulli(0.5)


@transform
def swap(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["flag"], model_out["flag"])
    copy(model_in["flag"], aux_out["flag"])


@gen
def flagged(n):
    flag = ~bernoulli(0.4)
    a = ~normal(2.0 if flag else 0.0, 1)
    for i in range(n):
        ("x", i) @ ~normal(a + flag, 1)


@pytest.mark.parametrize("n", [2, 20])
def test_a_discrete_choice_that_is_only_copied_is_asked_for(kinds, n):
    some = [
        flagged.generate((n,), {"x": np.ones(n)}, init={"flag": flag, "a": 0.5}, rng=1).trace
        for flag in (True, False)
    ]
    assert_same_in_turn(kinds, some, toss, swap, check=True)


@gen
def with_more(n):
    a = ~normal(0, 1)
    if a > 0:
        b = ~normal(0, 1)
    for i in range(n):
        ("x", i) @ ~normal(a, 1)


@gen
def with_many(n):
    a = ~bump(-20.0, 20.0)
    many = [("b", j) @ ~bump(-10.0, 10.0) for j in range(1 if a > 0 else 0)]
    for i in range(n):
        ("x", i) @ ~normal(a, 1)


@gen
def with_a_call(n):
    a = ~normal(0, 1)
    inner = "inner" @ ~if_so(a)
    for i in range(n):
        ("x", i) @ ~normal(inner, 1)


@gen
def if_so(a):
    if a > 0:
        b = ~normal(0, 1)
    return a


@pytest.mark.parametrize("n", [2, 20])
@pytest.mark.parametrize("program", [with_more, with_many, with_a_call])
def test_a_choice_that_some_traces_have_besides_is_missed(kinds, program, n):
    """Where a number is lowered a choice is gone that nothing accounts for; the transform doesn't look."""
    some = [
        program.generate((n,), {"x": np.ones(n)}, init={"a": a}, rng=1).trace for a in (-0.5, 0.5, -0.1)
    ]
    assert_same_in_turn(kinds, some, another, other, first_rounds=100)


@gen
def cut():
    a = ~normal(-5, 0.2)
    b = ~bump(-5.0 if a > -5 else a, 10.0)


def test_a_distribution_of_a_users_is_made_again_where_its_arguments_change(kinds):
    """A score is kept only where its distribution was made of the same objects, as an earlier edit found."""
    trace = cut.generate((), {"b": 0.0}, init={"a": -4.9}, rng=1).trace.update({"a": -4.8}).trace
    assert_same_chain(kinds, trace, another, other, 300, q_args=(-5.0,))


def test_what_comes_back_is_looked_at_besides_the_determinant(kinds):
    """The determinants cancel wherever a step leads; the numbers come back only on one side."""

    @transform
    def sided(model_in, aux_in, *, model_out, aux_out):
        j = read(aux_in["j"], discrete)
        copy(aux_in["j"], aux_out["j"])
        x, u = read(model_in["mu", j]), read(aux_in["u"])
        write(model_out["mu", j], x + u)
        write(aux_out["u"], -u + 1e-4 * (1 + math.tanh(20 * (x - 3))))

    near = data_at_once.generate((9,), {"x": np.zeros(9)}, init={"k": 1, ("mu", 0): -20.0}, rng=1).trace
    far = near.update({("mu", 0): 1.5}).trace
    assert_same_in_turn(kinds, [near, far], step, sided, q_args=(2.5,), check=True)


# --- arguments that are objects, and what a trace is known to be ------------------------------------


@gen
def told_by_is(spread, n):
    a = ~normal(0, 1.0 if spread is None else 3.0)
    for i in range(n):
        ("x", i) @ ~normal(a, 1)


@gen
def told_by_match(spread, n):
    sd = 1.0
    match spread:
        case [_, *_]:
            sd = 3.0
        case None:
            sd = 2.0
    a = ~normal(0, sd)
    for i in range(n):
        ("x", i) @ ~normal(a, 1)


@gen
def told_by_function(spread, n):
    a = ~normal(0, 1.0 if operator.is_(spread, None) else 3.0)
    for i in range(n):
        ("x", i) @ ~normal(a, 1)


@pytest.mark.parametrize("n", [2, 20])
@pytest.mark.parametrize("program", [told_by_is, told_by_match, told_by_function])
@pytest.mark.parametrize("spread", [np.ones(100), {"of": 1.0}, [1.0], normal], ids=repr)
def test_an_argument_of_which_it_is_asked_what_it_is_must_be_the_same(kinds, program, spread, n):
    """A move that was made of a trace with an array as an argument was used for one with None."""
    some = [
        program.generate((given, n), {"x": np.ones(n)}, init={"a": 0.4}, rng=1).trace
        for given in (spread, None)
    ]
    assert_same_in_turn(kinds, some, another, other, first_rounds=100, least=0)


@gen
def in_two_ways(shifts, n):
    flag = ~bernoulli(0.4)
    if flag:
        a = ~normal(2, 1)
    else:
        a = ~normal(0, 3)
    for i in range(n):
        ("x", i) @ ~normal(a + shifts[1], 1)


def test_a_trace_that_was_made_of_another_isnt_known_to_be_as_that_was(kinds):
    """Which way a branch went is asked of each trace, though both ways lead to the same addresses."""
    one = in_two_ways.generate(
        (np.zeros(2), 20), {"x": np.ones(20)}, init={"flag": True, "a": 0.5}, rng=1
    ).trace
    chain(one, another, other, 200, plans=True)
    assert_same_in_turn(kinds, [one, one.update({"flag": False}).trace, one], another, other)


def test_an_array_that_is_changed_after_it_was_an_argument_changes_nothing(kinds):
    """A trace has its own; so what is known of its form stays so."""
    shifts = np.array([0.0, 0.5])
    trace = in_two_ways.generate(
        (shifts, 20), {"x": np.ones(20)}, init={"flag": True, "a": 0.5}, rng=1
    ).trace
    before = outcomes([trace], another, other, 100)
    assert kinds[Scored] > 10
    shifts[1] = 3.0
    assert outcomes([trace], another, other, 100) == pytest.approx(before, rel=1e-9)


# --- loops over data of which the parameters are what they read -------------------------------------


@gen
def data_of_one(n):
    tau = ~gamma(2, 1)
    for i in range(n):
        ("x", i) @ ~exponential(tau)


@gen
def data_of_two(n):
    tau = ~gamma(2, 1)
    a = ~normal(0, 1)
    for i in range(n):
        ("x", i) @ ~normal(a, tau)


@gen
def data_with_a_constant(n):
    tau = ~gamma(2, 1)
    for i in range(n):
        ("x", i) @ ~normal(0.25, tau)


@gen
def data_of_a_mixture(n):
    tau = ~gamma(2, 1)
    a = ~normal(0, 1)
    means, sds = [a, 2.0, -1.0], [1.0, tau, 0.5]
    weights = [0.2, 0.3, 0.5]
    for i in range(n):
        ("x", i) @ ~mixture_of_normals(vars=sds, means=means, weights=weights)


@gen
def data_of_an_alias(n):
    tau = ~gamma(2, 1)
    again = tau
    for i in range(n):
        ("x", i) @ ~gamma(again, tau)


@gen
def data_by_a_test(n):
    tau = ~gamma(2, 1)
    other = None if n > 100 else tau
    for i in range(n):
        ("x", i) @ ~normal(0.0 if other is None else 0.5, tau)


@gen
def data_of_nothing(n):
    tau = ~gamma(2, 1)
    for i in range(n):
        ("x", i) @ ~normal(0.5, 1.5)


@gen
def longer(trace):
    u = ~normal(0, 0.3)


@transform
def stretch(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"], continuous)
    write(model_out["tau"], read(model_in["tau"], continuous) * math.exp(u), continuous)
    write(aux_out["u"], -u, continuous)


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("n", [40, 200])
@pytest.mark.parametrize(
    ("program", "quick"),
    [
        (data_of_one, True), (data_of_two, True), (data_with_a_constant, True),
        (data_of_a_mixture, True), (data_of_an_alias, True), (data_by_a_test, False),
        (data_of_nothing, False),
    ],
)  # fmt: skip
def test_a_loop_that_is_given_its_parameters_scores_what_it_did(kinds, monkeypatch, program, quick, n, check):
    picked = []
    parameters = Plate._parameters
    monkeypatch.setattr(Plate, "_parameters", lambda *args: picked.append(parameters(*args)) or picked[-1])
    x = np.random.default_rng(1).gamma(2.0, size=n)
    trace = program.generate((n,), {"x": x}, init={"tau": 1.5}, rng=1).trace
    assert_same_chain(kinds, trace, longer, stretch, 500, least=30, check=check)
    assert picked and (picked[-1] is not None) is quick


# --- dense Jacobians, and choices that aren't at hand ------------------------------------------------


@gen
def product_of_two():
    w = ~mvnormal(np.zeros(2), np.eye(2))
    _y = ~normal(w[0] * w[1], 1)


@gen
def three(trace):
    _v = ~mvnormal(np.zeros(3), np.eye(3))


@transform
def reflect(model_in, aux_in, *, model_out, aux_out):
    """All five numbers change with each, and the determinant has as many minors as the line has variables."""
    a, b = read(model_in["w"], continuous)
    c, d, e = read(aux_in["_v"], continuous)
    total = (a + b + c + d + e) * 0.4
    write(model_out["w"], [total - a, total - b])
    write(aux_out["_v"], [total - c, total - d, total - e])


@pytest.mark.parametrize("check", [False, True])
def test_the_variables_of_a_determinant_are_no_others(kinds, check):
    """A minor once had the name of the array that was written, so that no such move could be made."""
    start = product_of_two.generate((), {"_y": 3.0}, rng=0).trace
    assert_same_chain(kinds, start, three, reflect, least=100, check=check)


def test_a_choice_that_was_not_looked_up_yet_is_found(kinds):
    """A move once was made for each new trace of which the line read more than the transform."""
    start = product_of_two.generate((), {"_y": 3.0}, rng=0).trace
    assert_same_chain(kinds, start, three, reflect, least=100)
    chain(start, three, reflect, 300, plans=True)
    (line,) = lines(reflect)
    assert len(line.moves.made) == 1
