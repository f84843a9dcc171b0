"""Kernels made of kernels: which parts run, in which order, how often, and what their infos say."""

from dataclasses import dataclass

import numpy as np
import pytest

from gendsl import gen, normal, select
from gendsl.errors import KernelError
from gendsl.inference import ComposedInfo, cycle, mh, mixture, repeat, sample
from gendsl.inference.kernel import Kernel


@gen
def model():
    x = ~normal(0, 1)


@dataclass
class Said:
    accepted: bool


def marking(name, log, accepted=True):
    def step(trace, rng):
        log.append(name)
        return trace, Said(accepted)

    return Kernel(step, name)


TRACE = model.simulate(rng=1)


def test_cycle_runs_all_parts_in_order():
    log = []
    kernel = cycle(marking("a", log), marking("b", log), marking("a", log))
    _, info = kernel(TRACE, 1)
    assert log == ["a", "b", "a"]
    assert [name for name, _ in info.parts] == log and info.accepted


def test_repeat_runs_one_part_many_times():
    log = []
    kernel = repeat(marking("a", log), 3)
    _, info = kernel(TRACE, 1)
    assert log == ["a"] * 3 and len(info.parts) == 3
    assert kernel.name == "repeat a" and repeat(kernel, np.int64(2), name="twice").name == "twice"


def test_mixture_picks_with_its_weights():
    log = []
    kernel = mixture([marking(name, log) for name in "abc"], [1, 0, 3])
    rng = np.random.default_rng(1)
    for _ in range(2000):
        _, info = kernel(TRACE, rng)
        assert len(info.parts) == 1
    assert log.count("b") == 0
    z = (log.count("c") / 2000 - 0.75) / np.sqrt(0.75 * 0.25 / 2000)
    assert abs(z) < 4


def test_mixture_is_even_without_weights():
    log = []
    kernel = mixture([marking(name, log) for name in "abcd"])
    rng = np.random.default_rng(1)
    for _ in range(2000):
        kernel(TRACE, rng)
    counts = np.array([log.count(name) for name in "abcd"])
    assert np.abs((counts / 2000 - 0.25) / np.sqrt(0.25 * 0.75 / 2000)).max() < 4


def test_a_composition_is_accepted_if_a_part_is():
    log = []
    yes, no = marking("yes", log), marking("no", log, accepted=False)
    assert cycle(no, yes)(TRACE, 1)[1].accepted
    assert not cycle(no, no)(TRACE, 1)[1].accepted
    assert cycle(no, repeat(yes, 2))(TRACE, 1)[1].accepted
    assert not ComposedInfo(()).accepted


def test_each_part_starts_where_the_one_before_stopped():
    def add(trace, rng):
        return trace.update({"x": trace["x"] + 1})[0], None

    after, _ = cycle(add, repeat(add, 3), mixture([add]))(TRACE, 1)
    assert after["x"] == pytest.approx(TRACE["x"] + 5)


def test_tallies_of_nested_compositions():
    log = []
    kernel = cycle(
        repeat(marking("a", log), 3),
        mixture([marking("b", log), cycle(marking("b", log, accepted=False), marking("c", log))], [1, 1]),
        name="everything",
    )
    run = sample(kernel, TRACE, 40, warmup=5, thin=2, seed=1)
    logged = log[len(log) - sum(tally.proposed for tally in run.acceptance.values()) :]
    tallies = run.acceptance
    assert set(tallies) == {"a", "b", "c"}
    assert tallies["a"].proposed == tallies["a"].accepted == 3 * 80
    assert tallies["b"].proposed == 80
    assert 0 < tallies["c"].proposed < 80
    assert tallies["b"].accepted == 80 - tallies["c"].proposed
    for name, tally in tallies.items():
        assert logged.count(name) == tally.proposed
    assert tallies["b"].rate == tallies["b"].accepted / 80
    text = str(run)
    assert "a  accepted 100.0% of 240" in text


def test_functions_are_kernels_too():
    def stay(trace, rng):
        return trace, None

    run = sample(cycle(stay, mh(select("x"))), TRACE, 10, seed=1)
    assert list(run.acceptance) == ["stay", "mh select('x')"]
    assert run.acceptance["stay"].rate == 1.0  # it says nothing, so it counts as accepted


def test_a_wrong_result_names_the_part():
    def broken(trace, rng):
        return None, None

    with pytest.raises(KernelError, match=r"kernel broken returned \(None, None\)"):
        cycle(mh(select("x")), broken)(TRACE, 1)


def test_kernels_pass_the_generator_on():
    first, second = (cycle(mh(select("x")), mh(select("x")))(TRACE, seed)[0]["x"] for seed in (3, 3))
    assert first == second
