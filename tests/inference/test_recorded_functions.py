"""What machine code records of functions of the trace is what they give in Python, bit for bit.

What they have in common with addresses that are recorded is tested in test_recorded_draws.
"""

import io
import itertools
import math
import pickle
import random
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import special

from gendsl import bernoulli, factor, gen, normal, poisson, sample, select, uniform, uniform_discrete
from gendsl.compiler.front import library_exact, library_sums
from gendsl.compiler.front.numbers import ELEMENTWISE
from gendsl.compiler.llvm import ufunc_loops
from gendsl.compiler.llvm.native_layout import Word
from gendsl.compiler.llvm.recorded_values import Scalar, is_same
from gendsl.compiler.run import recorded_functions
from gendsl.compiler.run.closed_functions import ClosedFunctions
from gendsl.compiler.run.native_state import NativeState
from gendsl.compiler.run.recorded_functions import RecordedFunctions
from gendsl.errors import RuntimeMismatchError, UnknownAddressError
from gendsl.inference import birth_death, cycle, mh, resume, single_site
from gendsl.inference.compiled import policy, texts, thresholds
from gendsl.inference.compiled.machine import Machine
from gendsl.inference.compiled.moves import flattened
from gendsl.inference.compiled.policy import why_no_machine_code
from gendsl.runtime.travel import Pickler
from gendsl.testing import running_on

pytestmark = pytest.mark.skipif(why_no_machine_code() is not None, reason="there is no machine code")


@gen
def peaks(n):
    k = ~poisson(3)
    heights = [("height", j) @ ~normal(0, 2) for j in range(k)]
    noisy = ~bernoulli(0.5)
    centre = ~uniform(0, 10)
    for i in range(n):
        ("y", i) @ ~normal(sum(heights) * math.exp(-((i - centre) ** 2)), 2.0 if noisy else 1.0)
    return sum(heights), centre


@gen
def walk(trace):
    for j in range(trace["k"]):
        ("height", j) @ ~normal(trace["height", j], 0.5)


@gen
def turned(trace):
    noisy = ~bernoulli(0.4)


@gen
def moved(trace):
    centre = ~uniform(max(0, trace["centre"] - 1), min(10, trace["centre"] + 1))


DATA = {("y", i): 2.0 * (i == 3) + 0.1 * i for i in range(20)}
START = peaks.generate((20,), DATA, rng=3, init={"k": 2}).trace
MOVES = cycle(birth_death("height"), mh(walk), mh(turned), mh(moved))
SCALE = 2.0
DRAWS = 300


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Functions are compiled for fewer draws than pays."""
    monkeypatch.setattr(thresholds, "LEAST_DRAWS_OF_FUNCTIONS", 200)
    monkeypatch.setattr(thresholds, "LEAST_WORK", 2_000)


class Scaled:
    """A method that is recorded, with an attribute that it takes for constant."""

    def __init__(self, factor):
        self.factor = factor

    def centre(self, trace):
        return self.factor * trace["centre"]


def shifted(x, by=1.5):
    return x + by * SCALE


def tuple_of_moments(values):
    return np.mean(values), np.var(values), np.std(values), np.median(values), np.max(values)


def log_density(t):
    return t.log_prob


def heights(t):
    return [t["height", j] for j in range(t["k"])]


def powers(x, n):
    return x**2, x**0.5, (x - 4) ** 3, n**2, x**-1, 2**n, 1.5**n


def divisions(x, n):
    return x // 0.7, -x % 0.7, n // 2, -n % 3, n / 7, round(x), int(-x), math.floor(-x)


def counted(t):
    count = 0
    while count < t["k"] and t["height", count] > 0:
        count += 1
    return count


def inverse(t):
    try:
        return 1.0 / t["k"]
    except ZeroDivisionError:
        return -1.0


CLOSED = {
    "an int": lambda t: t["k"],
    "a float": lambda t: t["centre"] / 3 - 1,
    "a bool": lambda t: t["centre"] > 5,
    "an extreme": lambda t: max((t["height", j] for j in range(t["k"])), default=-1.0),
    "a function with def": counted,
    "None or a float": lambda t: max(heights(t)) if t["k"] else None,
    "a tuple": lambda t: (t["k"], t["centre"], t["noisy"], "a", None, (1.5, t["k"])),
    "None or a list": lambda t: heights(t) if t["k"] > 2 else None,
    "several types": lambda t: "none" if t["k"] == 0 else t["centre"] if t["k"] < 4 else (t["k"], True),
    "a list": heights,
    "a list of tuples": lambda t: [(j, t["height", j]) for j in range(t["k"])],
    "a tuple of any length": lambda t: tuple(t["height", j] for j in range(t["k"])),
    "a list in a tuple": lambda t: (t["k"], heights(t), [t["k"]]),
    "no items": lambda t: [],
    "a sorted list": lambda t: sorted(heights(t)),
    "an array": lambda t: np.array(heights(t)),
    "a matrix": lambda t: np.array([[t["centre"], 1.0, 2.0], [3.0, 4.0, t["centre"]]]).T,
    "an array of truths": lambda t: np.array([t["k"] > 2, True]),
    "an array of integers": lambda t: np.arange(t["k"]),
    "a string": lambda t: "even" if t["k"] % 2 == 0 else "odd",
    "a choice that comes and goes": lambda t: t["height", 1] if ("height", 1) in t else float("nan"),
    "NumPy's numbers": lambda t: (np.int64(t["k"]), np.floor(t["centre"]), np.abs(t["centre"]) > 3),
    "a sum": lambda t: sum([t["y", i] for i in range(20)], 0.0) if SCALE else 0.0,
    "a sum that may be of nothing": lambda t: sum(t["height", j] for j in range(t["k"])),
    "NumPy's sum": lambda t: np.sum([t["y", i] * t["centre"] for i in range(20)]),
    "NumPy's moments": lambda t: tuple_of_moments([t["y", i] / t["centre"] for i in range(20)]),
    "a spread": lambda t: np.std([t["y", i] / t["centre"] for i in range(20)], ddof=1),
    "a sum of integers": lambda t: np.sum([t["k"], 3, t["k"]]),
    "powers": lambda t: powers(t["centre"], t["k"]),
    "functions of math": lambda t: [f(t["centre"]) for f in (math.exp, math.log, math.sin, math.tanh)],
    "divisions": lambda t: divisions(t["centre"], t["k"]),
    "an argument": lambda t: t.args[0] + t["k"],
    "what the program returned": lambda t: t.retval[1],
    "a global and a default": lambda t: shifted(t["centre"]),
    "a method": Scaled(3.0).centre,
    "a negative zero": lambda t: -0.0 * t["centre"],
    "an error that is handled": inverse,
    "a float and what may be an integer": lambda t: t["centre"] + (t["k"] if t["noisy"] else 0.5),
}  # fmt: skip


def run_of(record, draws=DRAWS, kernel=MOVES, start=START, **options):
    return sample(kernel, start, draws, record=record, **{"seed": 1, "progress": False, **options})


def called_in_python(monkeypatch, *args, **options):
    """The same run with functions that Python calls for each draw."""
    with monkeypatch.context() as patch:
        patch.setattr(policy, "_give_functions", lambda *args, **options: None)
        return run_of(*args, **options)


def assert_same_draws(one, other):
    assert len(one.chains) == len(other.chains)
    for mine, theirs in zip(one.chains, other.chains, strict=True):
        assert len(mine) == len(theirs) == len(mine.steps)
        for row, same in zip(mine.rows, theirs.rows, strict=True):
            assert list(row) == list(same)
            # whose last bits are those of the sums of whatever runs the chain
            assert row.get("lp", 0.0) == pytest.approx(same.get("lp", 0.0), rel=1e-12)
            assert all(is_same(row[name], same[name]) for name in row if name != "lp"), (row, same)
        assert mine.steps.log_prob == theirs.steps.log_prob
        assert mine.last.choices == theirs.last.choices


def is_by_machine_code(run):
    """Whether machine code gave the values of functions."""
    return all("called" not in ran for ran in run.ran)


@pytest.fixture
def reads(monkeypatch):
    """Grows by one each time that machine code gives the values of one trace alone."""
    found, read = [], RecordedFunctions.read
    monkeypatch.setattr(RecordedFunctions, "read", lambda self: found.append(1) or read(self))
    return found


@pytest.mark.parametrize("name", CLOSED)
def test_a_function_gives_what_it_gives_in_python(monkeypatch, reads, name):
    record = {"it": CLOSED[name], "k": "k"}
    run = run_of(record)
    assert is_by_machine_code(run), run.ran
    assert 0 < len(reads) < DRAWS / 2, "draws are recorded one by one"
    assert_same_draws(run, called_in_python(monkeypatch, record))


@pytest.mark.slow
def test_several_functions_and_addresses_of_thinned_chains(monkeypatch):
    record = {"lp": log_density, "k": "k", "list": heights, "y": ("y", 3)}
    record["tuple"] = CLOSED["a tuple"]
    options = {"record": record, "thin": 3, "warmup": 20, "chains": 2, "draws": DRAWS}
    with ThreadPoolExecutor(2) as executor:
        run = run_of(executor=executor, **options)
        assert is_by_machine_code(run)
        assert_same_draws(run, called_in_python(monkeypatch, executor=executor, **options))
    elsewhere = run_of(**options)  # in other processes
    assert is_by_machine_code(elsewhere)
    assert_same_draws(run, elsewhere)
    assert [row["lp"] for chain in run.chains for row in chain.rows] == [
        lp for chain in run.chains for lp in chain.steps.log_prob
    ]


def test_a_function_alone_is_called_by_its_name(monkeypatch):
    for record in (counted, CLOSED["a float"]):
        run = run_of(record)
        assert is_by_machine_code(run) and list(run.chains[0].rows[0]) == [
            "counted" if record is counted else "value"
        ]
        assert_same_draws(run, called_in_python(monkeypatch, record))


def test_a_function_that_names_its_own_quantities_is_called(monkeypatch):
    run = run_of(lambda t: {"a": t["k"], "b": t["centre"]})
    assert "dict" in run.ran[0] and set(run.chains[0].rows[0]) == {"a", "b"}


def inner(values):
    return values @ values - 0.5 * values.sum() ** 2


def of_groups(returned):
    """A model whose density is of products of vectors, and what it returns of the groups and a product."""

    @gen
    def grouped(values):
        labels = [("z", i) @ ~uniform_discrete(0, 2) for i in range(len(values))]
        groups = {}
        for i, label in enumerate(labels):
            groups.setdefault(label, []).append(i)
        total = 0.0
        for label, members in groups.items():
            total = inner(values[members])
            ("group", label) @ ~factor(-total)
        return returned(groups, total)

    return grouped


VALUES = np.array([-2.0, -1.6, -0.3, 0.1, 0.4, 1.9, 2.2])
OF_NO_MATTER = {
    "how many": lambda groups, total: len(groups),
    "another": lambda groups, total: sum(len(members) for members in groups.values()),
}
OF_MATTER = {
    "itself": lambda groups, total: float(total),
    "in a list": lambda groups, total: [1.0 * len(groups), float(total)],
    "by a decision": lambda groups, total: 1 if total > 0.3 else len(groups),
    "by a function": lambda groups, total: float(abs(total)),
    "as a length": lambda groups, total: len([0] * (1 + int(total * total) % 3)),
}


@pytest.mark.parametrize("name", [*OF_NO_MATTER, *OF_MATTER])
def test_products_with_other_bits_may_be_computed_on_the_way(monkeypatch, name):
    model = of_groups({**OF_NO_MATTER, **OF_MATTER}[name])
    start = model.generate((VALUES,), rng=1).trace
    options = {"record": {"it": lambda t: t.retval}, "kernel": single_site("z"), "start": start}
    run = run_of(**options, draws=2000)
    assert is_by_machine_code(run) == (name in OF_NO_MATTER), run.ran
    assert ("last bits of" in run.ran[0]) == (name in OF_MATTER), run.ran
    other = called_in_python(monkeypatch, **options, draws=2000)
    mine, theirs = ([row["it"] for row in one.chains[0].rows] for one in (run, other))
    assert mine == theirs


# --- sums have the order in which NumPy adds ---------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 16, 100, 127, 128, 129, 250, 1000, 5000])
def test_sums_are_added_as_numpy_does(n):
    values = np.random.default_rng(n).normal(size=n)
    assert float(np.sum(values)) == library_exact.sum_all(values)
    assert float(np.mean(values)) == library_exact.mean_all(values)
    assert float(np.var(values)) == library_exact.var_all(values)
    assert float(np.std(values)) == library_exact.std_all(values)
    assert n < 2 or float(np.std(values, ddof=1)) == library_exact.root_spread(values, 1)
    assert n < 300 or float(np.sum(values)) != library_sums.sum_all(values)


def test_sums_of_many_numbers_have_numpy_s_bits(monkeypatch):
    table = np.random.default_rng(1).normal(size=1000)
    record = {"s": lambda t: np.sum(table * t["centre"]), "m": lambda t: (table / t["centre"]).mean()}
    run = run_of(record)
    assert is_by_machine_code(run)
    assert_same_draws(run, called_in_python(monkeypatch, record))


def test_sums_of_floats_have_the_bits_of_those_of_python(monkeypatch):
    """From Python 3.12 on `sum` adds what rounding takes away."""
    record = {
        "cancelled": lambda t: sum([1e16, t["centre"], -1e16, 1.0, t["y", 0]]),
        "from a float": lambda t: sum((t["y", i] * 1e9 / (i + 1) for i in range(20)), t["centre"]),
        "infinite": lambda t: sum([t["centre"], math.inf, 1.0]),
        "of zeros": lambda t: sum([-0.0 * t["y", i] for i in range(3)], -0.0),
    }
    run = run_of(record)
    assert is_by_machine_code(run)
    assert_same_draws(run, called_in_python(monkeypatch, record))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sums are added as they stand")
def test_sums_of_floats_and_integers_are_left_to_python():
    run = run_of({"it": lambda t: float(sum([t["k"], t["centre"]]))})
    assert "recorded functions are called: it: " in run.ran[0] and "sum" in run.ran[0]


INEXACT = {
    "np.log1p": lambda t: np.log1p(t["centre"]),
    "lgamma": lambda t: math.lgamma(t["centre"]),
    "cholesky": lambda t: np.linalg.cholesky(np.array([[3.0, t["centre"]], [t["centre"], 90.0]]))[1, 1],
    "matmul": lambda t: np.dot([t["centre"], 1.0], [t["centre"], 2.0]),
    "fsum": lambda t: math.fsum([t["centre"], 1.0]),
    "power": lambda t: np.floor(t["centre"]) ** 2.5,
    "several axes": lambda t: np.sum(np.array([[t["centre"], 1.0], [2.0, 3.0]])),
}


def test_functions_of_numpy_and_scipy_have_their_own_bits(monkeypatch):
    record = {
        "numpy": lambda t: (np.exp(t["centre"]), np.sin(t["centre"] * 1e3), np.log(1 + abs(t["y", 0]))),
        "arrays": lambda t: np.tanh(np.array([t["y", i] for i in range(7)])) * np.cos(t["centre"]),
        "two": lambda t: np.arctan2(t["centre"], t["y", 1]) + np.logaddexp(t["centre"], t["y", 1]),
        "scipy": lambda t: special.gammaln(t["centre"]) + special.expit(t["y", 1]) + special.ndtr(t["y", 0]),
        "sum": lambda t: np.sum(np.exp([t["centre"], 1.0, t["y", 0]])),
    }
    run = run_of(record)
    assert is_by_machine_code(run)
    assert_same_draws(run, called_in_python(monkeypatch, record))


def test_a_loop_that_gives_other_bits_is_not_called(monkeypatch):
    monkeypatch.setattr(ufunc_loops, "_gives_the_same", lambda cell, function: False)
    ufunc_loops._cell.cache_clear()
    try:
        run = run_of({"it": lambda t: np.exp(t["centre"])})
        assert "recorded functions are called: it: " in run.ran[0] and "np.exp" in run.ran[0]
    finally:
        ufunc_loops._cell.cache_clear()


@pytest.mark.parametrize("name", [*ELEMENTWISE.values()])
def test_loops_are_those_of_the_functions(name):
    if ufunc_loops.has_loop(name):
        assert [one for one, operation in ELEMENTWISE.items() if operation == name] == [
            ufunc_loops._function(name.removeprefix("np_"))
        ]


@pytest.mark.parametrize("what", INEXACT)
def test_what_may_have_other_bits_is_left_to_python(what):
    run = run_of({"it": INEXACT[what]})
    assert "recorded functions are called: it: " in run.ran[0] and what in run.ran[0]
    if what != "fsum":  # the line is the user's, also where the compiler's own texts compute it
        assert f"it: line {INEXACT[what].__code__.co_firstlineno}: " in run.ran[0]


def test_numbers_of_a_type_that_is_not_known_are_left_to_python():
    run = run_of({"it": lambda t: t["centre"] if t["k"] else 0})
    assert "now an int or a bool" in run.ran[0]
    assert {type(row["it"]) for row in run.chains[0].rows} == {int, float}


# --- functions with effects ---------------------------------------------------------------------------


def with_effects():
    seen, count, totals, counter = [], 0, {}, itertools.count()

    def appends(t):
        seen.append(t["k"])
        return t["k"]

    def counts(t):
        nonlocal count
        count += 1
        return count

    def counts_in_a_dict(t):
        totals[t["k"]] = totals.get(t["k"], 0) + 1
        return sum(totals.values())

    def goes_on(t):
        return next(counter)

    def remembers(t, known=[0]):  # noqa: B006
        known[0] += 1
        return known[0]

    def on_itself(t):
        on_itself.calls = getattr(on_itself, "calls", 0) + 1
        return on_itself.calls

    def draws(t):
        return random.random()

    def tells_the_time(t):
        return time.perf_counter()

    def prints(t):
        print(end="")
        return t["k"]

    def fills(t, room=np.zeros(2)):  # noqa: B008
        room[0] = t["k"]
        return room

    return [
        appends, counts, counts_in_a_dict, goes_on, remembers, on_itself, draws, tells_the_time, prints, fills
    ]  # fmt: skip


@pytest.mark.parametrize("place", range(len(with_effects())))
def test_a_function_with_an_effect_is_called_once_for_each_draw(place):
    function = with_effects()[place]
    calls = []

    def noted(t):
        calls.append(1)
        return function(t)

    noted.__name__ = function.__name__
    for record in (noted, function):
        run = run_of({"it": record})
        assert "recorded functions are called: it: line" in run.ran[0]
        assert calls == [1] * DRAWS
        found = [row["it"] for row in run.chains[0].rows]
        if "count" in function.__name__ or function.__name__ in ("goes_on", "remembers", "on_itself"):
            assert [value - found[0] for value in found] == list(range(DRAWS))


# --- what they take for constant ------------------------------------------------------------------------


def test_a_constant_that_is_another_in_the_next_run_is_noticed(monkeypatch):
    by = 1.0
    scaled = Scaled(2.0)
    record = {"f": lambda t: SCALE * t["centre"], "g": lambda t: t["centre"] + by, "m": scaled.centre}
    for _ in range(2):
        run = run_of(record)
        assert is_by_machine_code(run)
        for row in run.chains[0].rows:
            assert (row["f"], row["m"]) == (SCALE * (row["g"] - by), scaled.factor * (row["g"] - by)) or by
        assert_same_draws(run, called_in_python(monkeypatch, record))
        by, scaled.factor = 7.0, 5.0
        monkeypatch.setitem(globals(), "SCALE", 3.0)


def test_lists_and_arrays_are_those_of_the_run(monkeypatch):
    table, shifts = [1.0, 2.0], np.array([0.5, 0.25])
    record = {"f": lambda t: table[t["noisy"]] * t["centre"], "g": lambda t: shifts + t["centre"]}
    for _ in range(2):
        run = run_of(record)
        assert is_by_machine_code(run)
        assert_same_draws(run, called_in_python(monkeypatch, record))
        table[:], shifts[:] = [5.0, 7.0], 3.0


def test_a_constant_that_changes_meanwhile_is_noticed(monkeypatch):
    """Then the function is called, by draws that are compared at the latest."""
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    monkeypatch.setattr("gendsl.inference.compiled.thresholds.LOOK_EVERY", 0.0)
    monkeypatch.setattr(Machine, "draws_at_once", 20, raising=False)
    draw, made = Machine.draw, []

    def changing(self, *args):
        self.draws_at_once = 20
        made.append(len(draw_made.log_prob)) if (draw_made := draw(self, *args)) else None
        if len(made) == 10:
            globals()["SCALE"] = 3.0
        return draw_made

    monkeypatch.setattr(Machine, "draw", changing)
    run = run_of({"f": lambda t: SCALE * t["centre"], "c": "centre"})
    assert "recorded functions are called: SCALE is not what it was" in run.ran[0]
    factors = [row["f"] == 3.0 * row["c"] for row in run.chains[0].rows]
    first = factors.index(True)
    assert all(factors[first:]) and not any(factors[:first]) and 100 < first < 400


def test_one_text_serves_functions_that_are_made_again(monkeypatch):
    """A lambda in a loop is another function each time: by its code and what it finds it is known."""
    made = []
    of = ClosedFunctions.__init__
    monkeypatch.setattr(ClosedFunctions, "__init__", lambda self, *args: made.append(1) or of(self, *args))
    kernel = cycle(birth_death("height"), mh(moved))
    for power in (2.0, 3.0, 2.0, 3.0):
        run = run_of({"f": lambda t, power=power: t["centre"] ** power, "c": "centre"}, kernel=kernel)
        assert is_by_machine_code(run)
        assert [row["f"] for row in run.chains[0].rows] == [row["c"] ** power for row in run.chains[0].rows]
    assert len(made) == 2
    run_of({"f": lambda t: t["centre"]}, kernel=kernel, draws=100)  # so few draws are not worth a text
    assert len(made) == 2


# --- errors ---------------------------------------------------------------------------------------------


def test_an_error_is_the_user_s_own_from_the_same_draw(monkeypatch):
    """With the lines of the function, and what it says."""

    def fails(t):
        if t["centre"] > 9.9:
            raise ValueError(f"too far: {t['centre']}")
        return t["centre"]

    found = []
    for run in (run_of, lambda *args: called_in_python(monkeypatch, *args)):
        with pytest.raises(ValueError, match="too far") as error:
            run({"it": fails})
        found.append(str(error.value))
        assert error.traceback[-1].name == "fails"
    assert found[0] == found[1]


def test_a_choice_that_is_gone_is_the_same_error(monkeypatch):
    found = []
    for run in (run_of, lambda *args: called_in_python(monkeypatch, *args)):
        with pytest.raises(UnknownAddressError) as error:
            run({"it": lambda t: t["height", 4 - t["noisy"]] if t["k"] > 3 else 0.0})
        found.append(str(error.value))
    assert found[0] == found[1]


def test_an_error_that_is_looked_at_is_left_to_python(monkeypatch):
    def rate(t):
        try:
            return 1.0 / t["k"]
        except ZeroDivisionError as error:
            return -float(len(error.args))

    run = run_of({"it": rate})
    assert is_by_machine_code(run) and "values of functions by Python: line" in run.ran[0]
    assert -1.0 in run["it"]
    assert_same_draws(run, called_in_python(monkeypatch, {"it": rate}))


def test_a_function_that_machine_code_often_fails_at_is_called(monkeypatch):
    def rate(t):
        try:
            return 1.0 / (t["k"] // 9)
        except ZeroDivisionError as error:
            return -float(len(error.args))

    run = run_of({"it": rate})
    assert "recorded functions are called: machine code fails too often" in run.ran[0]
    assert_same_draws(run, called_in_python(monkeypatch, {"it": rate}))


@pytest.mark.parametrize("steps", [40, 1000, 4000])
def test_an_interrupted_run_has_the_values_of_its_draws(monkeypatch, steps):
    record = {"f": CLOSED["a list of tuples"], "lp": log_density}
    whole = run_of(record, draws=5000)
    call, interrupts, some_steps = NativeState._call, [], Machine._some_steps

    def interrupted(self):
        status = call(self)
        if self.words[Word.STEPS] >= steps and self.words[Word.RECORDED] and not interrupts:
            interrupts.append(steps)
            raise KeyboardInterrupt
        return status

    def few_steps(self):
        self.steps_at_once = 7
        return some_steps(self)

    monkeypatch.setattr(NativeState, "_call", interrupted)
    monkeypatch.setattr(Machine, "_some_steps", few_steps)
    run = run_of(record, draws=5000)
    assert run.interrupted and steps / 5 < len(run) < 5000
    for row, same in zip(run.chains[0].rows, whole.chains[0].rows, strict=False):
        assert is_same(row["f"], same["f"]) and row["lp"] == same["lp"]


def test_steps_that_fail_amid_recorded_draws(monkeypatch):
    @gen
    def plain():
        n = ~poisson(6)
        x = ~normal(0, 1)

    @gen
    def other(trace):
        try:
            rate = 1 / trace["n"]
        except ZeroDivisionError as error:
            rate = float(len(error.args))
        n = ~poisson(6)
        x = ~normal(rate, 1)

    options = {"record": {"f": lambda t: (t["n"], [t["x"]])}, "start": plain.simulate((), rng=1)}
    run = run_of(kernel=mh(other), thin=4, draws=4 * DRAWS, **options)
    assert is_by_machine_code(run) and "by the interpreter" in run.ran[0]
    options |= {"kernel": mh(other), "thin": 4, "draws": 4 * DRAWS}
    assert_same_draws(run, called_in_python(monkeypatch, **options))


# --- other ways to run --------------------------------------------------------------------------------


def test_chains_in_threads(monkeypatch):
    alone = run_of({"f": CLOSED["a list"], "lp": log_density})
    found = {}

    def chain(number):
        found[number] = run_of({"f": CLOSED["a list"], "lp": log_density})

    threads = [threading.Thread(target=chain, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for run in found.values():
        assert_same_draws(run, alone)


def test_functions_keep_the_names_of_their_files():
    """By which their text is found in other processes, and errors show their lines."""
    file = io.BytesIO()
    pickler = Pickler(file)
    pickler.dump(CLOSED["an extreme"])
    code = pickle.loads(file.getvalue()).__code__
    nested = next(one for one in code.co_consts if hasattr(one, "co_filename"))
    assert code.co_filename == nested.co_filename == __file__ and pickler.filenames == {__file__}


def test_resumed_runs_are_the_same(tmp_path):
    record = {"f": CLOSED["a list"], "lp": log_density}
    whole = run_of(record, draws=4000, checkpoint=tmp_path / "whole")
    assert is_by_machine_code(whole)
    again = run_of(record, draws=4000, checkpoint=tmp_path / "again")
    assert_same_draws(whole, again)
    resumed = resume(tmp_path / "again", MOVES, peaks, record=record)
    assert [row["lp"] for row in resumed.chains[0].rows] == [row["lp"] for row in whole.chains[0].rows]


@gen
def tree(depth):
    leaf = ~bernoulli(0.6)
    if leaf or depth > 4:
        value = ~normal(0, 1)
    else:
        "left" @ ~tree(depth + 1)
        "right" @ ~tree(depth + 1)


@gen
def other_tree(trace):
    ... @ ~tree(0)


def test_choices_below_calls_of_a_program_that_calls_itself(monkeypatch):
    record = {
        "leaf": lambda t: t["leaf"],
        "left": lambda t: t["left", "leaf"] + 1 if ("left", "leaf") in t else None,
        "far": lambda t: -t["left", "left", "value"] if ("left", "left", "value") in t else -1.0,
    }
    start = tree.simulate((0,), rng=1)
    run = run_of(record, kernel=mh(other_tree), start=start)
    assert is_by_machine_code(run), run.ran
    same = called_in_python(monkeypatch, record, kernel=mh(other_tree), start=start)
    assert list(run.chains[0].rows) == list(same.chains[0].rows)


@gen
def planted():
    "tree" @ ~tree(0)


PLANTED, OTHER = planted.simulate((), rng=1), mh(select("tree"))
LEAF = ("tree", "leaf")


@pytest.mark.parametrize(
    "record", [{"it": LEAF}, {"it": LEAF, "value": lambda t: t["tree", "value"] if t[LEAF] else None}]
)
def test_addresses_below_calls_of_a_program_that_calls_itself(monkeypatch, reads, record):
    """Where they lie is another place in each draw, so that rows can't hold them as they hold others."""
    run = run_of(record, kernel=OTHER, start=PLANTED)
    assert run.ran == ["as machine code"] and 0 < len(reads) < DRAWS / 2
    assert_same_draws(run, called_in_python(monkeypatch, record, kernel=OTHER, start=PLANTED))


def test_such_addresses_beside_functions_that_are_not_closed(monkeypatch, reads):
    record = {"open": lambda t: {"leaf": t[LEAF]}, "it": LEAF}
    run = run_of(record, kernel=OTHER, start=PLANTED)
    assert "functions are called" in run.ran[0] and len(reads) == DRAWS
    assert_same_draws(run, called_in_python(monkeypatch, record, kernel=OTHER, start=PLANTED))


def test_such_an_address_that_is_gone_is_an_error_with_a_way_out():
    start = planted.generate((), init={LEAF: False, ("tree", "left", "leaf"): True}, rng=1).trace
    with pytest.raises(UnknownAddressError, match="must exist in every draw") as error:
        run_of({"left": ("tree", "left", "leaf")}, kernel=OTHER, start=start)
    assert "record a function" in error.value.fix


def test_chains_of_kernels_that_are_called(monkeypatch):
    """They are read one by one, by machine code too."""

    move = mh(moved)
    kernel = cycle(*[move] * 12, lambda trace, rng: move(trace, rng))
    record = {"f": CLOSED["a list"], "c": "centre"}
    run = run_of(record, DRAWS, kernel)
    assert_same_draws(run, called_in_python(monkeypatch, record, DRAWS, kernel))


# --- comparisons ---------------------------------------------------------------------------------------


def test_values_of_another_type_at_first_are_left_to_python(monkeypatch):
    monkeypatch.setattr(Scalar, "take", lambda self, rows, at, rooms: [str(one) for one in rows[:, at]])
    run = run_of({"it": lambda t: t["k"] + 1, "k": "k"}, kernel=cycle(birth_death("height")))
    assert "machine code gives" in run.ran[0]
    assert [row["it"] for row in run.chains[0].rows] == [row["k"] + 1 for row in run.chains[0].rows]


def test_other_values_later_are_an_error(monkeypatch):
    take, taken = Scalar.take, []

    def wrong(self, rows, at, rooms):
        taken.append(1)
        found = take(self, rows, at, rooms)
        return found if len(taken) == 1 else [one + 1 for one in found]

    monkeypatch.setattr(Scalar, "take", wrong)
    monkeypatch.setattr("gendsl.inference.compiled.machine.is_affordable", lambda _: True)
    with pytest.raises(RuntimeMismatchError, match="recorded it"):
        run_of({"it": lambda t: t["k"] + 2}, kernel=cycle(birth_death("height")))


@pytest.mark.slow
def test_kept_texts_are_few():
    kernel = cycle(birth_death("height"), mh(moved))
    for number in range(recorded_functions.MOST_KEPT + 3):
        run_of({"f": lambda t, number=number: t["k"] + number}, kernel=kernel, draws=1000)
    compiled = texts.known(flattened(kernel).parts, START)
    assert len(compiled.functions_kept) == recorded_functions.MOST_KEPT


@gen
def two_numbers():
    x = ~normal(0, 1)
    n = ~poisson(3)


def test_functions_of_one_line_and_of_one_code():
    """The constants of their codes are equal, and yet 1, 1.0 and True, or 0.0 and -0.0."""
    start = two_numbers.simulate((), rng=1)
    record = {"a": lambda t: t["x"] + 1, "b": lambda t: t["x"] + 1, "c": lambda t: t["x"] * 0.0, "d": lambda t: t["x"] * -0.0, "e": lambda t: t["n"] + 1, "f": lambda t: t["n"] + 1.0, "g": lambda t: t["n"] + True}  # noqa: E501  # fmt: skip
    runs = []
    for form in ("reference", "native"):
        with running_on(form):
            runs.append(sample(mh(select("x", "n")), start, 100, record=record, seed=1))
    assert runs[1].ran == ["as machine code"]
    for name in record:
        expected, found = (np.asarray(run[name]) for run in runs)
        assert expected.dtype == found.dtype and expected.tobytes() == found.tobytes(), name
