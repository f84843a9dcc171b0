"""The steps of mixtures whose weights depend on the state, and of kernels made of several, as one text."""

import numpy as np
import pytest

from gendsl import gen, normal, sample
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.llvm.native import available
from gendsl.compiler.llvm.native_layout import Word
from gendsl.compiler.moves import REPEAT, RUN, Picked, Several
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.compiler.run.native_state import NativeState
from gendsl.compiler.steps.picking import log_share, picked
from gendsl.inference import cycle, involutive, mh, mixture, repeat
from gendsl.inference.compiled.moves import flattened
from gendsl.selection import select
from gendsl.testing import running_on, runtimes
from tests.compiler.test_closed_move import grown_or_shrunk, more_or_fewer, rescaled, shares
from tests.compiler.test_closed_move import start as groups_start
from tests.inference.test_machine import by_number, jump, move, start, weighed_start

needs_llvm = pytest.mark.skipif(available() is not None, reason="there is no LLVM here")


def values(trace):
    return {path: record[1] for path, record in trace.records.items()}


class AsPython:
    """The steps of a kernel, by Python text."""

    def __init__(self, closed, trace, rng):
        self.closed = closed
        self.state = closed.state(values(trace), trace.observed_paths, trace.log_prob, rng)

    def step(self):
        self.closed.step_python(0, self.state)

    def found(self):
        return self.closed.choices(self.state), self.state.lp


class AsMachineCode:
    """The same by machine code."""

    def __init__(self, closed, trace, rng):
        self.native = NativeState(closed)
        self.native.start(rng.bit_generator, [RUN, 0, REPEAT, 0])
        self.native.load(values(trace), trace.observed_paths, trace.log_prob)
        self.native.words[Word.ZERO_ROOM] = 0

    def step(self):
        self.native.words[Word.SWEEPS] = 1
        failure = self.native.go_on()
        if failure is not None:
            raise failure

    def found(self):
        return self.native.choices(), self.native.log_density()


WAYS = [AsPython, pytest.param(AsMachineCode, marks=needs_llvm)]


class Weights:
    def __init__(self, first):
        self.first = first

    def at(self, trace):
        return np.array([self.first, 1 + trace["k"], 1 if ("x", 2) in trace else 2])

    __call__ = at


KERNELS = {
    "function": mixture([move, jump], by_number),
    "method": mixture([move, jump, mh(select("mu"))], Weights(0.5).at),
    "object": mixture([move, jump, mh(select("mu"))], Weights(0.25)),
    "one": mixture([move], lambda trace: (2,)),
    "never picked": mixture([jump, move], lambda trace: [0.0 if trace["k"] else 1.0, 1.0]),
    "several": mixture([cycle(move, jump, move), repeat(jump, 3)], lambda trace: [1 + trace["k"], 1]),
    "either": mixture(
        [mixture([move, jump, move], [0.2, 0.3, 0.5]), move], lambda trace: [trace["mu"] ** 2, 0.1]
    ),
    "nested": mixture([mixture([jump, move], by_number), jump], lambda trace: [1, 3 if trace["k"] else 1]),
    "repeated": mixture(
        [repeat(mixture([jump, move], by_number), 2), move], lambda trace: [1 + trace["k"], 0.5]
    ),
}  # fmt: skip


def by_shares(trace):
    return [trace["shares"][0], 0.2 + trace["z"], 0.4]


def by_size(trace):
    return [1.0, 2.0 / trace["k"]]


grow, rescale = involutive(more_or_fewer, grown_or_shrunk, check=True), involutive(shares, rescaled)
OTHERS = {
    "arrays": (
        weighed_start,
        mixture([mh(select("shares")), mh(select("z")), repeat(mh(select("shares")), 2)], by_shares),
    ),
    "growth": (groups_start, mixture([grow, rescale], by_size)),
    "growth of several": (groups_start, mixture([repeat(cycle(grow, rescale, grow), 2), grow], by_size)),
}
CASES = {name: (start, kernel) for name, kernel in KERNELS.items()} | OTHERS


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_the_reference(name, way):
    """The choices, the log density and the random numbers of the kernel itself, step after step."""
    first, kernel = CASES[name]
    trace = first()
    flat = flattened(kernel)
    (part,), schedule = flat.parts, flat.schedule
    assert isinstance(part.move, Picked)
    assert schedule == [RUN, 0, REPEAT, 0]
    closed = ClosedKernel(trace.gen_fn, trace.args, [part.move])
    rng, twin = np.random.default_rng(3), np.random.default_rng(3)
    running, moved = way(closed, trace, rng), 0
    for _ in range(200):
        running.step()
        before = trace
        trace, _ = kernel(trace, twin)
        moved += trace is not before
        choices, log_density = running.found()
        assert str(rng.bit_generator.state) == str(twin.bit_generator.state)
        assert choices.keys() == values(trace).keys()
        for at, value in values(trace).items():
            np.testing.assert_allclose(choices[at], value, rtol=1e-12, atol=1e-12)
        assert log_density == pytest.approx(trace.log_prob, rel=1e-9)
    assert 20 < moved < 190


@needs_llvm
@pytest.mark.parametrize("name", ["several", "arrays", "growth of several"])
def test_where_there_is_little_room(name, monkeypatch):
    """A step that needs more is made again, and so is what it had kept."""
    for what, size in {"_FIRST_WORDS": 16, "_FIRST_HEAP": 16, "_FIRST_CAPACITY": 1, "_FIRST_ROOM": 2}.items():
        monkeypatch.setattr(f"gendsl.compiler.run.native_state.{what}", size)
    test_the_reference(name, AsMachineCode)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "given", [[1.0], [1.0, -1.0], [0.0, 0.0], [np.inf, 1.0], [np.nan, 1.0], [[1.0], [1.0]], np.ones((2, 2))]
)
def test_what_is_no_weights_fails(given, way):
    """Or is refused: the reference interpreter says what the error is."""
    trace = start()
    step = Picked("mixture", (move.move, jump.move), lambda trace: given)
    with pytest.raises((FailedText, NotClosed)):
        way(ClosedKernel(trace.gen_fn, trace.args, [step]), trace, np.random.default_rng(1)).step()


def test_a_number_next_to_the_end_of_a_probability_fails():
    """Sums in another order than the reference's may pick another move there."""
    assert picked(None, 0.3, lambda trace: [1, 1, 2], 3)[0] == 1
    for near in (0.25 - 1e-12, 0.25, 0.25 + 1e-12, 0.5):
        with pytest.raises(ValueError, match="a tie"):
            picked(None, near, lambda trace: [1, 1, 2], 3)


def test_the_probabilities_of_picking():
    shares = [0.1, 0.0, 0.6, 0.3]
    for uniform in np.linspace(0.005, 0.995, 100):
        chosen, logarithm = picked(None, uniform, lambda trace: [2 * share for share in shares], 4)
        assert chosen == np.searchsorted(np.cumsum(shares)[:-1], uniform, side="right")
        assert logarithm == pytest.approx(np.log(shares[chosen]))
    assert log_share(None, 1, lambda trace: shares, 4) == -np.inf


def test_one_kernel_has_one_text():
    """Wherever it is used; and of kernels that are made of others the text says how."""
    trace = start()
    kernel = cycle(move, mixture([move, cycle(move, jump, move)], by_number), jump)
    flat = flattened(kernel)
    parts, moves = flat.parts, flat.moves
    assert [part.names for part in parts] == [("shifted",), ("shifted", "cycle"), ("toggled",)]
    assert moves == 5
    inner = parts[1].move.parts[1]
    assert isinstance(inner, Several)
    assert inner.parts == (move.move, jump.move, move.move)
    closed = ClosedKernel(trace.gen_fn, trace.args, [part.move for part in parts])
    assert closed.rows == [0, 1, 3]
    assert closed.row_count == 4
    for line in ("def by_number(", "before = state.save()", "state.take_back()", "state.go_back(before)"):
        assert closed.text.count(line) == 1
    assert closed.text.count("def step_shifted(") == 1


def counted(run):
    return {name: (one.proposed, one.accepted, one.weighed) for name, one in run.chains[0].acceptance.items()}


@pytest.mark.parametrize("name", ["function", "either", "several"])
def test_each_kernel_of_a_mixture_has_its_own_counts(name):
    first, kernel = CASES[name]
    runs = []
    for runtime in ("reference", "native", "python"):
        with running_on(runtime):
            runs.append(sample(kernel, first(), 300, seed=3, progress=False))
    expected, *others = map(counted, runs)
    assert len({found[:2] for found in expected.values()}) > 1  # or a wrong row could not be told
    for found in others:
        assert found == expected


@gen
def a_needle():
    x = ~normal(0, 1)
    y = ~normal(x, 1e-3)


@gen
def anew(trace):
    x = ~normal(0, 1)


@pytest.mark.parametrize("runtime", runtimes())
def test_a_ratio_beyond_what_a_float_holds_is_a_step_that_is_made(runtime):
    """From log densities of about -10^11 the first proposal is accepted with a log ratio of as much."""
    with running_on(runtime):
        trace = a_needle.generate((), {"y": 0.0}, rng=1).trace.update({"x": 40.0}).trace
        run = sample(mh(anew), trace, 20, seed=2, progress=False, record=["x"])
    assert abs(run["x"][0]) < 5
    ((proposed, accepted, _),) = counted(run).values()
    assert proposed == 20 and accepted >= 1
