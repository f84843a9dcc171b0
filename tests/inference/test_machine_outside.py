"""Callables in a cycle that change what the programs of compiled kernels are given, or find outside."""

from array import array
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np
import pytest

from gendsl import continuous, gen, involutive_mcmc, normal, read, sample, select, transform, write
from gendsl.errors import NotDeterministicError
from gendsl.inference import cycle, involutive, random_walk, repeat
from gendsl.inference.compiled import thresholds
from gendsl.testing import running_on
from tests.inference.forms import AS

SPREADS = [1.0]
WIDTHS = np.array([1.0])
WIDTH = 1.0


@gen
def model(n):
    mu = ~normal(0, 3)
    for i in range(n):
        ("y", i) @ ~normal(mu, 1.0)


@gen
def by_argument(trace, spreads):
    u = ~normal(0, spreads[0])


@gen
def by_list(trace):
    u = ~normal(0, SPREADS[0])


@gen
def by_array(trace):
    u = ~normal(0, WIDTHS[0])


@gen
def by_number(trace):
    u = ~normal(0, WIDTH)


@transform
def shift(model_in, aux_in, *, model_out, aux_out):
    mu, u = read(model_in["mu"], continuous), read(aux_in["u"], continuous)
    write(model_out["mu"], mu + u, continuous)
    write(aux_out["u"], -u, continuous)


def start():
    data = np.random.default_rng(1).normal(1.0, 1.0, 30)
    return model.generate((30,), {"y": data}, init={"mu": 0.5}, rng=1).trace


def reset():
    global WIDTH
    SPREADS[0] = WIDTHS[0] = WIDTH = 1.0
    SPREADS[:] = [1.0]


def run(make, runtime, draws=200, warmup=0):
    reset()
    try:
        with running_on(runtime):
            return sample(make(), start(), draws, warmup=warmup, record="mu", seed=1, progress=False)
    finally:
        reset()


def moved_by(q, *q_args):
    """A move beside a callable that changes what it draws with, in each sweep."""

    def adapted(trace, rng):
        global WIDTH
        for one in (SPREADS, WIDTHS, *q_args):
            one[0] *= 0.97
        WIDTH = SPREADS[0]
        return trace, None

    return cycle(repeat(involutive(q, shift, q_args), 2), adapted)


@pytest.mark.parametrize("q", [by_argument, by_list, by_array], ids=lambda q: q.__name__)
def test_what_is_changed_in_place_is_taken_over(q, form):
    def make():
        return moved_by(q, *([[1.0]] if q is by_argument else []))

    found, expected = run(make, form), run(make, "reference")
    assert found.ran == [f"{AS[form]} but for adapted"]
    np.testing.assert_allclose(found["mu"], expected["mu"], rtol=1e-12)


@pytest.mark.parametrize("q", [by_list, by_array, by_number], ids=lambda q: q.__name__)
def test_a_recorded_function_may_change_it_too(q, form):
    def chain(runtime):
        def adapted(trace):
            global WIDTH
            for one in (SPREADS, WIDTHS):
                one[0] *= 0.97
            WIDTH = SPREADS[0]
            return trace["mu"]

        reset()
        try:
            with running_on(runtime):
                return sample(involutive(q, shift), start(), 200, record=adapted, seed=1, progress=False)
        finally:
            reset()

    found, expected = chain(form), chain("reference")
    np.testing.assert_allclose(found["adapted"], expected["adapted"], rtol=1e-12)


RECORDED = {
    "list": lambda trace: trace["mu"] * SPREADS[0],
    "array": lambda trace: trace["mu"] * WIDTHS.sum(),
    "number": lambda trace: trace["mu"] * WIDTH,
    "whole list": lambda trace: SPREADS,
}


@pytest.mark.parametrize("what", RECORDED)
def test_what_is_recorded_sees_it_too(what, form):
    def chain(runtime):
        calls = []

        def adapted(trace, rng):
            global WIDTH
            calls.append(0)
            if len(calls) % 50 == 0:
                SPREADS[0] *= 0.5
                WIDTHS[0] *= 0.5
                WIDTH = SPREADS[0]
            return trace, None

        reset()
        try:
            with running_on(runtime):
                kernel = cycle(involutive(by_list, shift), adapted)
                return sample(kernel, start(), 1050, record={"it": RECORDED[what]}, seed=1, progress=False)
        finally:
            reset()

    found, expected = chain(form), chain("reference")
    assert found.ran[0].startswith(f"{AS[form]} but for adapted")
    np.testing.assert_allclose(found["it"], expected["it"], rtol=1e-12)


def test_what_the_text_takes_for_constant_ends_it_at_once(form):
    found, expected = run(lambda: moved_by(by_number), form), run(lambda: moved_by(by_number), "reference")
    assert found.ran[0].endswith("then step by step: WIDTH is not what it was")
    np.testing.assert_allclose(found["mu"], expected["mu"], rtol=1e-12)


@pytest.mark.parametrize("by", ["callable", "recorded"])
def test_what_the_model_finds_may_not_change(by, form, monkeypatch):
    monkeypatch.setattr(thresholds, "FIRST_COMPARED", 10**6)
    monkeypatch.setattr(thresholds, "CHEAP", 10.0)

    @gen
    def spread(n):
        mu = ~normal(0, 3)
        for i in range(n):
            ("y", i) @ ~normal(mu, SPREADS[0])

    def changed(trace, rng=None):
        SPREADS[0] *= 0.9
        return trace["mu"] if rng is None else (trace, None)

    reset()
    begun = spread.generate((5,), {"y": np.arange(5.0)}, init={"mu": 0.5}, rng=1).trace
    move = involutive(by_array, shift)
    kernel, record = (cycle(move, changed), "mu") if by == "callable" else (move, changed)
    try:
        with running_on(form), pytest.raises(NotDeterministicError, match="finds outside of itself now"):
            sample(kernel, begun, 200, record=record, seed=1, progress=False)
    finally:
        reset()


def test_what_is_of_another_type_ends_it(form):
    def make():
        calls = []

        def other(trace, rng):
            calls.append(trace["mu"])
            if len(calls) == 50:
                SPREADS[:] = ["wide"]
            if len(calls) == 51:
                SPREADS[:] = [0.5]
            return trace, None

        @gen
        def drawn(trace):
            u = ~normal(0, 1.0 if SPREADS[0] == "wide" else SPREADS[0])

        return cycle(involutive(drawn, shift), other)

    found, expected = run(make, form), run(make, "reference")
    np.testing.assert_allclose(found["mu"], expected["mu"], rtol=1e-12)


def test_what_a_warm_up_has_found_stays(form):
    def make():
        walk = random_walk(select("mu"))
        return cycle(walk, moved_by(by_argument, [1.0]))

    found, expected = run(make, form, warmup=100), run(make, "reference", warmup=100)
    np.testing.assert_allclose(found["mu"], expected["mu"], rtol=1e-9)


def test_a_loop_of_ones_own_takes_it_over_too():
    def chain(runtime):
        spreads, rng, trace, found = [1.0], np.random.default_rng(1), start(), []
        with running_on(runtime):
            for _ in range(200):
                trace, _ = involutive_mcmc(trace, by_argument, (spreads,), shift, rng=rng)
                spreads[0] *= 0.98
                found.append(trace["mu"])
        return found

    np.testing.assert_allclose(chain("native"), chain("reference"), rtol=1e-12)


def shrunk(step):
    return 0.9 * step


def halved(step):
    return step / 2


@gen
def by_function(trace):
    u = ~normal(0, shrunk(WIDTH))


def test_functions_whose_code_is_replaced_are_read_again(form, monkeypatch):
    """As IPython's `%autoreload` does, which leaves the functions that other modules have imported."""
    kernel = involutive(by_function, shift)

    def chain(runtime):
        with running_on(runtime):
            return sample(kernel, start(), 500, record="mu", seed=1, progress=False)

    before = chain(form)
    monkeypatch.setattr(shrunk, "__code__", halved.__code__)
    found, expected = chain(form), chain("reference")
    assert before.ran == found.ran == [AS[form]]
    np.testing.assert_allclose(found["mu"], expected["mu"], rtol=1e-12)
    assert not np.array_equal(before["mu"], found["mu"])


TABLES = {
    "a Counter": lambda: Counter({0: 2, 1: 1}),
    "a defaultdict": lambda: defaultdict(float, {0: 2.0, 1: 1.0}),
    "an OrderedDict": lambda: OrderedDict({0: 2.0, 1: 1.0}),
    "a deque": lambda: deque([2.0, 1.0]),
    "an array": lambda: array("d", [2.0, 1.0]),
}
ASKED = {"an item": lambda table: table[0], "all": sum, "the last": lambda table: sorted(table)[-1]}


@pytest.mark.parametrize("what", ASKED)
@pytest.mark.parametrize("name", TABLES)
def test_containers_of_other_classes_are_not_taken_for_constant(name, what, form):
    table, look, draws = TABLES[name](), ASKED[what], []

    @gen
    def by_table(trace):
        u = ~normal(0, 0.5 + look(table))

    def adapted(trace):
        draws.append(0)
        if len(draws) == 100:
            table[0] = 7
            table[1] = 5
        return trace["mu"]

    def chain(runtime):
        draws.clear()
        table.clear() if name != "an array" else table.__delitem__(slice(None))
        table.extend([2.0, 1.0]) if name in ("an array", "a deque") else table.update({0: 2, 1: 1})
        with running_on(runtime):
            return sample(involutive(by_table, shift), start(), 200, record=adapted, seed=1, progress=False)

    found, expected = chain(form), chain("reference")
    np.testing.assert_allclose(found["adapted"], expected["adapted"], rtol=1e-12)
