"""Steps of kernels by their texts, as Python and as machine code, against the interpreter's."""

import math

import numpy as np
import pytest

from gendsl.compiler.hir.failures import FailedText
from gendsl.compiler.llvm.native import available
from gendsl.compiler.llvm.native_layout import ACCEPTED, Word
from gendsl.compiler.moves import REPEAT, RUN
from gendsl.compiler.run.native_state import NativeState
from gendsl.errors import GenDSLError

needs_llvm = pytest.mark.skipif(available() is not None, reason="there is no LLVM here")


def values(trace):
    return {path: record[1] for path, record in trace.records.items()}


def alike(found, expected):
    return found.keys() == expected.keys() and all(
        np.allclose(found[path], expected[path], rtol=1e-12, atol=1e-12) for path in expected
    )


def differ(one, other):
    return one.keys() != other.keys() or any(not np.array_equal(one[path], other[path]) for path in one)


class AsPython:
    """The steps of a kernel, by Python text."""

    def __init__(self, closed, trace, rng):
        self.closed, self.rng = closed, rng
        self.state = closed.state(values(trace), trace.observed_paths, trace.log_prob, rng)

    def step(self):
        """Whether it was accepted, the log acceptance ratio, and the log determinant."""
        accepted, ratio, *_, log_det = self.closed.step_python(0, self.state)
        return accepted, ratio, log_det

    def choices(self):
        return self.closed.choices(self.state)

    def log_density(self):
        return self.state.lp


class AsMachineCode:
    """The same by machine code."""

    def __init__(self, closed, trace, rng):
        self.native = NativeState(closed)
        self.native.start(rng.bit_generator, [RUN, 0, REPEAT, 0])
        self.native.load(values(trace), trace.observed_paths, trace.log_prob)
        self.native.words[Word.ZERO_ROOM] = 0  # why a density is zero is another test's

    def step(self):
        before = int(self.native.tallies[0, ACCEPTED])
        self.native.words[Word.SWEEPS] = 1
        failure = self.native.go_on()
        if failure is not None:
            raise failure
        floats = self.native.words.view(np.float64)
        accepted = bool(self.native.tallies[0, ACCEPTED] - before)
        return accepted, float(floats[Word.LAST_RATIO]), float(floats[Word.LAST_DET])

    def choices(self):
        return self.native.choices()

    def log_density(self):
        return self.native.log_density()


WAYS = [AsPython, pytest.param(AsMachineCode, marks=needs_llvm)]


def compared(way, closed, trace, kernel, steps, *, afresh=None):
    """What became of steps, each from where the interpreter's chain is: in a word, what the interpreter tells
    of the step, and whether values changed.

    Args:
        kernel: the interpreter's step, of a trace and a generator.
        afresh: makes a trace anew where the text goes on from it.
    """
    running, rng = None, np.random.default_rng(7)
    trace = trace if afresh is None else afresh(trace)
    for _ in range(steps):
        twin = np.random.default_rng()
        twin.bit_generator.state = rng.bit_generator.state
        if running is None:
            running = way(closed, trace, rng)
        try:
            made = running.step()
        except FailedText as failure:
            made = failure
        try:
            new, info = kernel(trace, twin)
        except GenDSLError as error:
            assert isinstance(made, FailedText), (made, error)
            yield "raises", error, False
            rng, running = twin, None
            continue
        if isinstance(made, FailedText):
            yield f"fails: {made}", info, True
            rng, running = twin, None
            trace = new if afresh is None else afresh(new)
            continue
        accepted, ratio, log_det = made
        assert accepted == info.accepted, (ratio, info)
        assert str(rng.bit_generator.state) == str(twin.bit_generator.state)
        expected = getattr(info, "log_accept_ratio", math.inf)
        assert ratio == pytest.approx(expected, rel=1e-9, abs=1e-8), info
        if math.isfinite(ratio):
            assert log_det == pytest.approx(getattr(info, "log_abs_det", 0.0), rel=1e-9, abs=1e-9)
        assert alike(running.choices(), values(new))
        assert running.log_density() == pytest.approx(new.log_prob, rel=1e-9, abs=1e-8)
        yield "accepted" if accepted else "rejected", info, differ(values(new), values(trace))
        trace = new
