"""The choice of a runtime: what runs on it, where it ends, and what is no runtime."""

import sys
import threading

import pytest

from gendsl import gen, normal
from gendsl.errors import ValueTypeError
from gendsl.testing import running_on, runtimes

runs = []


def noted(x):
    runs.append(x)
    return x


@gen
def model():
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    c = ~normal(noted(a), 1)


@gen
def outer():
    inner = ~model()


def runs_of_an_update(program, address):
    """How often the middle of the body runs where a choice is changed that it doesn't read."""
    trace = program.simulate(rng=1)
    for value in range(40):  # some updates are compared with a run of the whole body, fewer and fewer
        runs.clear()
        trace, *_ = trace.update({address: float(value)})
    return len(runs)


def test_the_reference_comes_first():
    assert runtimes()[:2] == ("reference", "compiled")


@pytest.mark.parametrize("program, address", [(model, "b"), (outer, ("inner", "b"))])
def test_bodies_run_whole_on_the_reference_runtime_alone(program, address):
    with running_on("reference"):
        assert program.is_reference
        assert runs_of_an_update(program, address) == 1
        with running_on("compiled"):
            assert not program.is_reference
        assert program.is_reference


def test_a_debugger_makes_no_difference():
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        with running_on("compiled"):
            assert not model.is_reference
        with running_on("reference"):
            assert model.is_reference
    finally:
        sys.settrace(before)


def test_all_threads_run_on_it():
    found = []
    with running_on("reference"):
        thread = threading.Thread(target=lambda: found.append(model.is_reference))
        thread.start()
        thread.join()
    assert found == [True]


def test_it_ends_where_an_error_leaves_the_context():
    before = model.is_reference
    with pytest.raises(ZeroDivisionError), running_on("reference" if not before else "compiled"):
        assert model.is_reference is not before
        1 / 0
    assert model.is_reference is before


def test_a_name_that_is_none():
    with pytest.raises(ValueTypeError) as caught, running_on("quick"):
        pass
    problem, *_, fix = str(caught.value).splitlines()
    assert problem == "there is no runtime 'quick'"
    assert fix == "  fix: name one of 'reference', 'compiled', 'native', 'python'"
    assert caught.value.location.filename == __file__


@pytest.mark.parametrize("runtime", runtimes())
def test_a_chain_is_the_same_on_each(runtime):
    with running_on(runtime):
        trace = outer.simulate(rng=3)
        assert trace["inner", "a"] == pytest.approx(2.040919, abs=1e-6)
