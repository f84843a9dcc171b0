"""Whatever goes wrong in a chain that runs as machine code is raised, or counted with its reason."""

import numpy as np
import pytest

from gendsl import sample
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.llvm.native import Native, available
from gendsl.compiler.llvm.native_layout import Word
from gendsl.compiler.run import recorded_functions
from gendsl.compiler.run.chain_state import ChainState
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.compiler.run.native_state import NativeState
from gendsl.compiler.run.python_state import PythonState
from gendsl.errors import CompilerWarning, ParameterError
from gendsl.inference import cycle, involutive
from gendsl.inference.compiled import machine, readings
from gendsl.inference.compiled.counted import Counted
from gendsl.inference.compiled.machine import Machine
from gendsl.testing import running_on
from tests.inference.forms import AS
from tests.inference.test_machine import counted, jump, move, often_left, start, step_size

pytestmark = pytest.mark.skipif(available() is not None, reason="there is no LLVM here")

KERNEL = cycle(involutive(step_size, often_left), move, jump)
STARTS = [
    (ClosedKernel, "__init__"),
    (ClosedKernel, "inputs"),
    (Native, "__init__"),
    (NativeState, "__init__"),
    (NativeState, "_make_memory"),
    (Machine, "__init__"),
]
"""What a chain does once, before its first step."""
STEPS = [
    (NativeState, "load"),
    (NativeState, "go_on"),
    (NativeState, "_call"),
    (NativeState, "_snapshot"),
    (NativeState, "_restore"),
    (NativeState, "_make_room"),
    (NativeState, "_grow"),
    (NativeState, "choices"),
    (readings, "reader"),
    (NativeState, "kernel"),
    (NativeState, "log_density"),
    (Machine, "load"),
    (Machine, "is_due"),
    (Machine, "compare"),
    (machine, "difference"),
    (Machine, "sweep"),  # the first draw, which is of more steps than are made at once by then
    (Machine, "draw"),
    (Machine, "_make_step"),
    (Machine, "quantity"),
    (Counted, "tell"),
    (Machine, "why_given_up"),
]
"""What it does again and again."""
TEXT_STARTS = [(ClosedKernel, "namespace"), (PythonState, "__init__"), (PythonState, "start")]
TEXT_STEPS = [
    (PythonState, name)
    for name in ("load", "go_on", "_call", "_snapshot", "_restore", "choices", "kernel", "log_density")
]
"""The same of a chain of Python text."""


def run(runtime):
    with running_on(runtime):
        return sample(KERNEL, start(), 75, thin=2, seed=11, record=["mu", ("x", 0)], progress=False)


@pytest.fixture(autouse=True)
def little_room(monkeypatch):
    """So that there has to be more of it."""
    monkeypatch.setattr("gendsl.compiler.run.native_state._FIRST_CAPACITY", 1)
    monkeypatch.setattr("gendsl.inference.compiled.texts._KNOWN", {})


def plant(monkeypatch, owner, name, error, at):
    """Make a method raise an error when it is called for the time `at`; the calls that there were."""
    calls, method = [], getattr(owner, name)

    def planted(*args, **kwargs):
        calls.append(name)
        if len(calls) == at:
            raise error
        return method(*args, **kwargs)

    monkeypatch.setattr(owner, name, planted)
    return calls


def raised(path, at):
    """What is raised where an error is planted."""
    before = path in (*STARTS, *TEXT_STARTS) or path[1] == "load"
    return CompilerWarning if before and at == 1 else RuntimeError


def cases():
    for path in (*STARTS, *STEPS):
        yield *path, 1
    for path in STEPS:
        if path[1] not in ("_make_room", "_grow", "reader"):
            yield *path, 3


@pytest.mark.parametrize(
    ("owner", "name", "at"), [pytest.param(*case, id="-".join(map(str, case[1:]))) for case in cases()]
)
def test_an_error_is_raised(monkeypatch, owner, name, at):
    """As a warning before the first step, which is an error in these tests."""
    calls = plant(monkeypatch, owner, name, RuntimeError("planted"), at)
    with pytest.raises(raised((owner, name), at), match="planted"):
        run("native")
    assert len(calls) >= at


@pytest.mark.parametrize("at", [1, 3])
@pytest.mark.parametrize(("owner", "name"), [*TEXT_STARTS, *TEXT_STEPS])
def test_an_error_is_raised_from_python_text(monkeypatch, owner, name, at):
    if (owner, name) in TEXT_STARTS and at > 1:
        return
    calls = plant(monkeypatch, owner, name, RuntimeError("planted"), at)
    with pytest.raises(raised((owner, name), at), match="planted"):
        run("python")
    assert len(calls) >= at


@pytest.mark.parametrize(("owner", "name"), TEXT_STARTS)
def test_what_is_refused_before_the_first_step_of_python_text_is_told(monkeypatch, owner, name):
    plant(monkeypatch, owner, name, NotClosed("planted"), 1)
    result = run("python")
    assert result.ran == ["step by step: planted"]
    np.testing.assert_array_equal(result["mu"], run("compiled")["mu"])


@pytest.mark.parametrize(("owner", "name"), STARTS)
def test_what_is_refused_before_the_first_step_is_told(monkeypatch, owner, name):
    plant(monkeypatch, owner, name, NotClosed("planted"), 1)
    result = run("native")
    assert result.ran == ["step by step: planted"]
    np.testing.assert_array_equal(result["mu"], run("compiled")["mu"])


@pytest.mark.parametrize(("owner", "name"), STARTS)
def test_a_mistake_of_the_compiler_is_a_warning_and_ends_no_chain(monkeypatch, owner, name):
    plant(monkeypatch, owner, name, RuntimeError("planted"), 1)
    with pytest.warns(CompilerWarning, match=r"RuntimeError: planted.* mistake in gendsl") as told:
        result = run("native")
    assert [one.filename for one in told] == [__file__]
    assert result.ran == ["step by step: the compiler failed (RuntimeError: planted)"]
    np.testing.assert_array_equal(result["mu"], run("compiled")["mu"])


def test_a_mistake_of_the_compiler_is_told_by_explain(monkeypatch):
    plant(monkeypatch, ClosedKernel, "__init__", IndexError("planted"), 1)
    with pytest.warns(CompilerWarning, match="IndexError: planted"):
        told = KERNEL.explain(start())
    assert "step by step: the compiler failed (IndexError: planted)" in told


def test_a_mistake_in_what_is_recorded_is_a_warning(monkeypatch):
    def square(trace):
        return trace["mu"] ** 2

    def squares(runtime):
        with running_on(runtime):
            return sample(KERNEL, start(), 75, thin=2, seed=11, record=square, progress=False)

    plant(monkeypatch, recorded_functions, "made", KeyError("planted"), 1)
    with pytest.warns(CompilerWarning, match="KeyError: 'planted'"):
        result = squares("native")
    assert "the compiler failed (KeyError: 'planted')" in result.ran[0]
    np.testing.assert_array_equal(result["square"], squares("compiled")["square"])


def test_an_error_on_purpose_in_compiling_is_no_mistake(monkeypatch):
    plant(monkeypatch, ClosedKernel, "__init__", ParameterError("planted"), 1)
    assert run("native").ran == ["step by step: planted"]


def test_steps_that_fail_are_counted(monkeypatch, form):
    """With the reason, whatever that is; and the chain is the same."""
    calls, planted, method = [], [], ChainState.go_on

    def failing(self, *args, **kwargs):
        steps = int(self.words[Word.STEPS])
        calls.append(kwargs)
        if len(calls) % 5 or kwargs.get("limit") == steps:
            return method(self, *args, **kwargs)
        failure = method(self, limit=steps)  # up to the next step
        if failure is None:
            planted.append(steps)
        return failure or FailedText(0, "planted")

    monkeypatch.setattr(ChainState, "go_on", failing)
    result, expected = run(form), run("compiled")
    assert len(planted) > 5
    assert f"; {len(planted)} by the interpreter: planted" in result.ran[0]
    assert counted(result) == counted(expected)
    np.testing.assert_allclose(result["mu"], expected["mu"], rtol=1e-12)


def test_a_trace_that_is_not_taken_ends_it(monkeypatch, form):
    """The chain goes on step by step, and says from when and why."""
    state = NativeState if form == "native" else PythonState
    calls = plant(monkeypatch, state, "load", NotClosed("planted"), 3)
    result, expected = run(form), run("compiled")
    assert len(calls) >= 3
    assert f"{AS[form]}; " in result.ran[0]
    assert result.ran[0].endswith("; then step by step: planted")
    assert counted(result) == counted(expected)
    np.testing.assert_allclose(result["mu"], expected["mu"], rtol=1e-12)
