"""What is the same in all steps of a run is computed once, before the first of them."""

import math

import numpy as np
import pytest

from gendsl import (
    Distribution,
    bernoulli,
    factor,
    gamma,
    gen,
    mvnormal,
    normal,
    poisson,
    product,
    read,
    select,
    supports,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.compiler.hir.failures import FailedText
from gendsl.compiler.hir.observations import observed_alone
from gendsl.compiler.llvm.native_layout import Word
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.inference import cycle, involutive, mh, mixture, random_walk, repeat, sample, single_site
from gendsl.inference.compiled.moves import flattened
from gendsl.inference.compiled.texts import observed_of
from gendsl.testing import running_on
from tests.compiler.closed_outcomes import outcome
from tests.compiler.closed_steps import WAYS, AsMachineCode, compared, needs_llvm
from tests.compiler.test_recursive_moves import same_chains


def once_of(kernel, trace):
    """The text of what is computed once, and that of what each step does."""
    text = kernel.source_of("step", trace)
    functions = ["def " + one for one in text.split("\ndef ")[1:]]
    once = [one for one in functions if "_once" in one.partition("(")[0]]
    return "\n".join(once), "\n".join(one for one in functions if one not in once)


@gen
def counts(xs):
    slope = ~normal(0, 1)
    level = ~gamma(2, 1)
    for i, x in enumerate(xs):
        ("y", i) @ ~poisson(level * math.exp(slope * x))


XS = tuple(np.linspace(-1.0, 1.0, 30).tolist())


def counted_trace():
    observed = {("y", i): i % 4 for i in range(len(XS))}
    return counts.generate((XS,), observed, init={"slope": 0.1, "level": 1.5}, rng=1).trace


@needs_llvm
def test_what_depends_on_observations_is_computed_once(monkeypatch):
    kernel = random_walk("slope", 0.3)
    once, each = once_of(kernel, counted_trace())
    assert "np_lgamma(" in once
    assert "lgamma(float(x)" not in each
    assert "state.level.look(())" in once  # no step writes it, so its density is the same as well
    made = same_chains(repeat(kernel, 3), counted_trace(), monkeypatch, draws=200, record=["slope"])
    assert not made.fallbacks


@needs_llvm
def test_what_another_kernel_of_the_chain_changes_is_not(monkeypatch):
    kernel = cycle(random_walk("slope", 0.3), random_walk("level", 0.2))
    once, _ = once_of(kernel, counted_trace())
    assert "np_lgamma(" in once
    assert "state.level" not in once
    assert "state.slope" not in once
    made = same_chains(kernel, counted_trace(), monkeypatch, draws=200, record=["slope", "level"])
    assert not made.fallbacks


@needs_llvm
def test_what_is_no_kernel_of_the_text_may_change_it(monkeypatch):
    def drawn_anew(trace, rng):
        return trace.update({"level": rng.gamma(2.0)}, rng=rng).trace, None

    kernel = cycle(repeat(random_walk("slope", 0.3), 2), drawn_anew, mh(select("slope")))
    assert "state.level.look(())" in once_of(random_walk("slope", 0.3), counted_trace())[0]
    same_chains(kernel, counted_trace(), monkeypatch, draws=120, record=["slope", "level"])


@needs_llvm
def test_what_is_missing_is_not(monkeypatch):
    observed = {("y", i): i % 4 for i in range(len(XS)) if i % 5}
    trace = counts.generate((XS,), observed, init={"slope": 0.1, "level": 1.5}, rng=1).trace
    kernel = cycle(random_walk("slope", 0.3), mh(select(*(("y", i) for i in range(0, len(XS), 5)))))
    assert "state.y" not in once_of(kernel, trace)[0]
    same_chains(kernel, trace, monkeypatch, draws=200, record=["slope", ("y", 0), ("y", 5)])


@gen
def image(side):
    level = ~gamma(3, 1)
    tilt = ~normal(0, 0.1)
    for row in range(side):
        for column in range(side + 2):
            ("pixel", row, column) @ ~poisson(level * math.exp(tilt * (row - column)))


@needs_llvm
def test_loops_in_loops(monkeypatch):
    observed = {("pixel", i, j): (i + 2 * j) % 5 for i in range(6) for j in range(8)}
    trace = image.generate((6,), observed, init={"level": 2.0, "tilt": 0.05}, rng=1).trace
    kernel = cycle(random_walk("level", 0.3), random_walk("tilt", 0.05))
    once, _ = once_of(kernel, trace)
    assert "np_lgamma(" in once
    assert "[row * (side + 2) + column] = " in once
    made = same_chains(kernel, trace, monkeypatch, draws=200, record=["level", "tilt"])
    assert not made.fallbacks


@gen
def with_trend(a, ys):
    trend = ~bernoulli(0.3)
    mu = ~normal(0, 1)
    if trend:
        mu = min(mu, math.exp(a))
    for i in range(len(ys)):
        ("y", i) @ ~normal(mu, 1)


@transform
def flipped(model_in, *, model_out):
    write(model_out["trend"], not read(model_in["trend"]))


@needs_llvm
@pytest.mark.parametrize("a", [2.5, 800.0])
def test_what_may_fail_fails_where_it_is_come_to(monkeypatch, a):
    ys = (0.1, 0.7, 0.4)
    observed = {("y", i): y for i, y in enumerate(ys)}
    trace = with_trend.generate((a, ys), observed, init={"trend": False, "mu": 0.2}, rng=1).trace
    walk = random_walk("mu", 0.5)
    once, _ = once_of(walk, trace)
    assert "exp(a)" in once
    made = same_chains(walk, trace, monkeypatch, draws=50, record=["mu"])
    assert not made.fallbacks
    kernel = cycle(walk, involutive(None, flipped))
    if a < 700:
        assert not same_chains(kernel, trace, monkeypatch, draws=50, record=["mu", "trend"]).fallbacks
        return
    for runtime in ("native", "compiled"):
        with running_on(runtime), pytest.raises(OverflowError, match="math range error"):
            sample(kernel, trace, 50, seed=1, progress=False)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_no_number_is_not_gone_on_with(way):
    observed = {("y", i): y for i, y in enumerate((0.1, 0.7, 0.4))}
    start = {"trend": False, "mu": 0.2}
    trace = with_trend.generate((800.0, (0.1, 0.7, 0.4)), observed, init=start, rng=1).trace
    closed = ClosedKernel(with_trend, trace.args, [involutive(None, flipped).move])
    assert closed.before[0] is not None
    with pytest.raises(FailedText, match=r"math range error|exp out of its domain"):
        way(closed, trace, np.random.default_rng(1)).step()


@gen
def long_lists(n):
    mu = ~normal(0, 1)
    width = ~gamma(40, 0.1)
    parts = [mu * (i % 7) for i in range(int(n * width))]
    for i in range(n):
        ("y", i) @ ~poisson(math.exp(0.01 * parts[i % len(parts)]))


@gen
def longer(trace):
    width = ~gamma(60, trace["width"] / 40)


@needs_llvm
def test_memory_that_grows_while_it_is_kept(monkeypatch):
    n = 3000
    rng = np.random.default_rng(1)
    observed = {("y", i): y for i, y in enumerate(rng.poisson(1.0, n).tolist())}
    trace = long_lists.generate((n,), observed, init={"mu": 0.1, "width": 1.0}, rng=1).trace
    kernel = cycle(random_walk("mu", 0.3), mh(longer), mh(longer))
    assert "np_lgamma(" in once_of(kernel, trace)[0]
    same_chains(kernel, trace, monkeypatch, draws=40, record=["mu", "width"])


@needs_llvm
def test_memory_does_not_grow_from_run_to_run():
    trace = counted_trace()
    closed = ClosedKernel(counts, trace.args, [random_walk("slope", 0.3).move], observed_of(trace))
    assert closed.before[0] is not None
    steps = AsMachineCode(closed, trace, np.random.default_rng(1))
    steps.step()
    used = int(steps.native.words[Word.START]) - steps.native.arena.ctypes.data
    assert used > 0
    for _ in range(50):
        steps.step()
    assert int(steps.native.words[Word.START]) - steps.native.arena.ctypes.data == used


@gen
def shared(rows):
    sd = ~gamma(2, 0.5)
    means = [("mean", j) @ ~normal(0, 1) for j in range(3)]
    for i, row in enumerate(rows):
        for j, (mean, _) in enumerate(zip(means, row, strict=True)):
            ("y", i, j) @ ~normal(mean, sd)


@needs_llvm
def test_what_is_the_same_in_all_iterations_needs_no_list():
    rows = [[0.1, 0.2, 0.3]] * 20
    observed = {("y", i, j): y for i, row in enumerate(rows) for j, y in enumerate(row)}
    trace = shared.generate((rows,), observed, init={"sd": 1.0}, rng=1).trace
    once, _ = once_of(random_walk(select("mean"), 0.1), trace)
    assert "log(" in once
    assert "table" not in once


@gen
def walls():
    height = ~uniform(0, 4)
    for i in range(3):
        ("y", i) @ ~normal(height, 1)


@needs_llvm
def test_numbers_of_the_text_alone_are_left_to_llvm():
    observed = {("y", i): 0.5 * i for i in range(3)}
    trace = walls.generate((), observed, init={"height": 1.0}, rng=1).trace
    assert once_of(random_walk("height", 0.3), trace)[0] == ""


@needs_llvm
def test_warm_up_changes_what_it_has_found(monkeypatch):
    kernel = cycle(random_walk("slope"), single_site(select("level")))  # its scale is found in warm-up
    same_chains(kernel, counted_trace(), monkeypatch, draws=100, warmup=300, record=["slope", "level"])


@gen
def line(xs):
    slope = ~normal(0, 1)
    ys = ~product(normal, slope * xs, 1.0)


@needs_llvm
def test_arrays_that_no_step_writes_are_data():
    xs = np.linspace(0.0, 1.0, 30)
    trace = line.generate((xs,), {"ys": xs + 0.1}, init={"slope": 1.0}, rng=1).trace
    text = random_walk("slope", 0.3).source_of("step", trace)
    (loop,) = (
        one for one in text[text.index("def ProductOfFamily_logpdf") :].splitlines()[:9] if "for " in one
    )
    assert "in lanes" in loop


@needs_llvm
def test_observations_stay_also_where_choices_are_drawn_anew(monkeypatch):
    kernel = cycle(random_walk("slope", 0.3), mh(select("level")))
    once, _ = once_of(kernel, counted_trace())
    assert "np_lgamma(" in once
    made = same_chains(kernel, counted_trace(), monkeypatch, draws=200, record=["slope", "level"])
    assert not made.fallbacks


@gen
def some_seen(n):
    m = ~uniform_discrete(1, 6)
    mu = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~poisson(math.exp(mu))
    for i in range(n, n + m):
        ("y", i) @ ~poisson(math.exp(mu) + 1)


@needs_llvm
def test_choices_that_come_beside_observations(monkeypatch):
    observed = {("y", i): i % 3 for i in range(6)}
    trace = some_seen.generate((5,), observed, init={"m": 1, "mu": 0.2}, rng=1).trace
    assert observed_of(trace) == {("y", None)}
    kernel = cycle(mh(select("m")), random_walk("mu", 0.3))
    assert "np_lgamma(" in once_of(kernel, trace)[0]
    made = same_chains(kernel, trace, monkeypatch, draws=300, record=["m", "mu"])
    ((reason, times),) = made.fallbacks.items()  # then another text is made
    assert reason.endswith("a choice that is not given") and times == 1


@needs_llvm
def test_other_observations_have_another_text():
    kernel = cycle(random_walk("slope", 0.3), mh(select("level")))
    for observed in ({("y", i): i % 4 for i in range(30)}, {("y", i): i % 4 for i in range(1, 30)}):
        trace = counts.generate((XS,), observed, init={"slope": 0.1, "level": 1.5}, rng=1).trace
        with running_on("native"):
            assert sample(kernel, trace, 50, seed=1, progress=False).ran == ["as machine code"]


def test_strings_of_addresses_that_are_observed_alone():
    paths = [("a",), ("b",), ("y", 0), ("y", 1), ("g", 0, "y", 1), ("g", 0, "z", 1), ("g", 1, "z", 1)]
    observed = {("y", 0), ("y", 1), ("g", 0, "y", 1), ("g", 0, "z", 1), ("b",), ("s", "t")}
    found = observed_alone([*paths, ("s", 0), ("s", "t")], observed)
    assert found == {("y", None), ("g", None, "y", None), ("b",), ("s", "t")}
    assert observed_alone(paths, set()) == set()


@gen
def walk_of_known_width(trace):
    slope = ~normal(trace["slope"], 0.1 + math.lgamma(trace["level"] - 1.5))


@needs_llvm
@pytest.mark.parametrize(
    "picked",
    [
        lambda walk, other: mixture([walk, other], lambda trace: [1.0, 1.0 if trace["level"] > 1.5 else 0.0]),
        lambda walk, other: mixture(
            [walk, repeat(cycle(other, walk, other), 2)], lambda trace: [2.0, max(trace["level"] - 1.5, 0.0)]
        ),
    ],
)
def test_steps_that_are_never_picked_do_not_fail(monkeypatch, picked):
    kernel = picked(random_walk("slope", 0.3), mh(walk_of_known_width))
    assert "np_lgamma(" in once_of(kernel, counted_trace())[0]
    made = same_chains(kernel, counted_trace(), monkeypatch, draws=100, record=["slope"])
    assert not made.fallbacks


def where_there_is_one(x, limit):
    if limit == -math.inf:
        return 0.3
    return math.lgamma(x) + math.sqrt(x)


@gen
def limited(ys, x):
    mu = ~normal(0, 1)
    limit = -math.inf if mu < 50 else mu
    shift = where_there_is_one(x, limit)
    for i in range(len(ys)):
        ("y", i) @ ~poisson(math.exp(mu) + shift)


@needs_llvm
def test_a_program_that_asks_for_minus_infinity_itself(monkeypatch):
    """That is no density of zero, where what comes after is left out only rarely."""
    ys = (1, 0, 2, 1)
    trace = limited.generate((ys, -1.0), {("y", i): y for i, y in enumerate(ys)}, init={"mu": 0.1}).trace
    made = same_chains(random_walk("mu", 0.3), trace, monkeypatch, draws=100, record=["mu"])
    assert not made.fallbacks


@gen
def levels(ys):
    shape = ~gamma(2, 1)
    level = ~gamma(2, 1)
    for i in range(len(ys)):
        ("y", i) @ ~poisson(level + shape)


@transform
def inverted(model_in, *, model_out):
    size = math.exp(math.lgamma(read(model_in["shape"]) + 1))
    write(model_out["level"], size / read(model_in["level"]))


@needs_llvm
def test_what_a_transform_reads_is_noted_in_each_step(monkeypatch):
    """The rows of a Jacobian are numbers of what was read in that step."""
    ys = (3, 1, 2, 4)
    observed = {("y", i): y for i, y in enumerate(ys)}
    trace = levels.generate((ys,), observed, init={"shape": 1.0, "level": 1.2}).trace
    kernel = involutive(None, inverted)
    made = same_chains(kernel, trace, monkeypatch, draws=100, record=["level"])
    assert not made.fallbacks


class Group:
    def __init__(self, prior):
        self.prior, self.members = prior, []

    def add(self, x):
        self.members.append(x)
        return self

    def total(self):
        return self.prior + sum(self.members)


def extended(items, x):
    items.append(x)


@gen
def grouped(n):
    x = ~normal(0, 1)
    groups = [Group(0.5), Group(2.0)]
    groups[n % 2].add(x)
    y = ~normal(sum(group.total() for group in groups), 1)


@gen
def rows_extended(n):
    x = ~normal(0, 1)
    rows = [[1.0], [2.0, 3.0]]
    row = rows[0] if n == 1 else rows[-1]
    extended(row, x)
    y = ~normal(sum(map(sum, rows)), 1)


@gen
def rows_of_data(rows):
    x = ~normal(0, 1)
    found = []
    for row in rows:
        extended(found, row[0] * x)
    y = ~normal(sum(found), 1)


@pytest.mark.parametrize(
    ("program", "args"),
    [
        (grouped, (1,)),
        (grouped, (2,)),
        (rows_extended, (1,)),
        (rows_extended, (2,)),
        (rows_of_data, ([[1.0], [2.0]],)),
    ],
)
def test_items_of_a_list_that_a_function_changes_are_made_in_each_step(monkeypatch, program, args):
    trace = program.generate(args, {"y": 1.0}, init={"x": 0.3}, rng=1).trace
    same_chains(mh(select("x")), trace, monkeypatch, draws=200, record=["x"])


@gen
def censored(times, seen):
    b = ~normal(0, 1)
    for i in range(len(times)):
        if seen[i]:
            ("d", i) @ ~factor(-math.log(times[i]) * b)
        else:
            ("d", i) @ ~factor(-b)


@needs_llvm
@pytest.mark.parametrize("as_list", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 7, 8, 9, 12, 15, 16, 17, 31])
def test_truth_values_and_numbers_of_data_are_kept_whatever_their_number(n, as_list):
    """Machine code replaces the last items of a list, and leaves what lies behind it in memory alone."""
    rng = np.random.default_rng(n)
    seen = rng.random(n) < 0.6
    args = rng.weibull(1.5, n), seen.tolist() if as_list else seen
    start = censored.generate(args, init={"b": 0.2}).trace
    runs = []
    for runtime in ("reference", "native"):
        with running_on(runtime):
            runs.append(sample(mh("b"), start, 50, record="b", seed=1))
    assert runs[1].ran == ["as machine code"]
    assert np.allclose(runs[0]["b"], runs[1]["b"], rtol=1e-12)


class Gauss(Distribution):
    """A distribution of vectors whose density takes its matrix apart each time."""

    parameters = ("mean", "cov")

    def __init__(self, mean, cov):
        self.mean, self.cov = mean, cov

    def sample(self, rng):
        return self.mean + rng.normal(size=2)

    def logpdf(self, x):
        d = x - self.mean
        return -0.5 * (d @ np.linalg.inv(self.cov) @ d) - 0.5 * math.log(np.linalg.det(self.cov))

    @property
    def support(self):
        return supports.RealVector(2)


@gen
def of_ones_own(n, cov):
    m = ~mvnormal(np.zeros(2), np.eye(2))
    for i in range(n):
        ("y", i) @ ~Gauss(m, cov)


def zeros(n):
    return [0.0] * n


def either_of(given, n):
    made = [1.0] * n
    return made if n > 2 else given


def ones(n):
    return np.ones(n)


@gen
def changed_each_time(n, data):
    """What functions make is made anew in each iteration, where that is changed, or kept."""
    x = ~normal(0, 1)
    rows, total = [], 0.0
    for i in range(n):
        room = zeros(3)
        room[i % 3] += x + i
        total += room[0] - 2 * room[1] + 3 * room[2]
        kept = ones(2)
        rows.append(kept)
        kept[0] += x * i
        given = either_of(data, 2)
        total += sum(given) + sum(either_of(data, 3))
        view = ones(4)[1:]
        view *= 1.0 + x
        total += view.sum()
    rows[0][1] = 5.0
    for row in rows:
        total += row[0] * row[1]
    y = ~normal(total, 1.0)


def test_what_a_class_of_the_users_computes_of_data_is_computed_once(monkeypatch):
    rng = np.random.default_rng(2)
    data = {("y", i): rng.normal(size=2) for i in range(5)}
    start = of_ones_own.generate((5, np.array([[1.0, 0.3], [0.3, 0.5]])), data, rng=1).trace
    once, each = once_of(random_walk("m", scale=0.3), start)
    assert "inv(" in once and "det(" in once
    density = each[each.index("def logpdf_each(") :].split("\n\n")[0]
    assert "inv(" not in density and "det(" not in density
    same_chains(random_walk("m", scale=0.3), start, monkeypatch, draws=100, record=["m"])


def test_lists_that_functions_make_are_made_anew_where_they_are_changed(monkeypatch):
    start = changed_each_time.generate((5, [0.5, 0.25]), {"y": 1.0}, init={"x": 0.2}, rng=1).trace
    same_chains(random_walk("x", scale=0.3), start, monkeypatch, draws=200, record=["x"])
    assert outcome(changed_each_time, (4, [0.5, 0.25])) == "equal"


@gen
def up_to(limits):
    b = ~normal(0, 1)
    for i, limit in enumerate(limits):
        scale = 1.0
        if b > 0:
            scale = math.log(limit) if i % 2 == 0 else math.exp(limit) + math.sqrt(limit)
        ("y", i) @ ~normal(b * math.tanh(scale), 1)


@needs_llvm
@pytest.mark.parametrize("n", [4, 40])
@pytest.mark.parametrize("last", [math.inf, math.nan, 0.4])
def test_functions_of_data_that_are_infinite_or_nan_are_no_errors(monkeypatch, last, n):
    """Where the number that is kept is not finite, it is computed again, and fails where the program does."""
    limits = np.linspace(1.0, 2.0, n)
    limits[2] = last
    observed = {("y", i): 0.1 for i in range(n)}
    trace = up_to.generate((limits,), observed, init={"b": -0.2}).trace
    made = same_chains(random_walk("b", 0.3), trace, monkeypatch, draws=100, record=["b"])
    assert bool(made.fallbacks) == math.isnan(last)  # a mean that is NaN is rejected by the interpreter


@gen
def rate_of_a_number(n):
    k = ~uniform_discrete(1, 3)
    for i in range(n):
        ("z", i) @ ~bernoulli(0.3)
    for t in range(n):
        x = 0.1
        unused = x if k // 2 != t else 1.0
        ("y", t) @ ~poisson(math.exp(min(x, 3.0)))


@pytest.mark.parametrize("way", WAYS)
def test_a_number_that_is_set_in_a_branch_is_there_for_what_is_computed_once(way):
    trace = rate_of_a_number.generate((5,), {("y", i): 1 for i in range(5)}, rng=1).trace
    kernel = single_site(select("z"))
    (part,) = flattened(kernel).parts
    closed = ClosedKernel(trace.gen_fn, trace.args, [part.move], observed_of(trace))
    found = {what for what, *_ in compared(way, closed, trace, kernel, 20)}
    assert found <= {"accepted", "rejected"} and "accepted" in found
