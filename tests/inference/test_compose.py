"""Kernels made of kernels: which parts run, in which order, how often, and what their infos say."""

from dataclasses import dataclass

import numpy as np
import pytest

from gendsl import gen, normal, select
from gendsl.errors import KernelError
from gendsl.inference import (
    ComposedInfo,
    PickedInfo,
    adapt,
    cycle,
    gibbs,
    mh,
    mixture,
    random_walk,
    repeat,
    sample,
    tempered,
    tempered_mh,
)
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


def test_every_part_is_timed():
    log = []
    _, info = cycle(marking("a", log), repeat(marking("b", log), 2))(TRACE, 1)
    assert len(info.seconds) == 2 and min(info.seconds) >= 0
    assert len(info.parts[1][1].seconds) == 2


def test_weights_of_the_state():
    log = []
    kernel = mixture(
        [Kernel(marking(name, log).step, name, reversible=True) for name in "ab"],
        lambda trace: [0, 2] if trace["x"] > 0 else [3, 0],
    )
    for x, name in ((1.0, "b"), (-1.0, "a")):
        trace = TRACE.update({"x": x}).trace
        after, info = kernel(trace, 1)
        assert after is trace and log.pop() == name
        ((part, picked),) = info.parts
        assert part == name and picked == PickedInfo(True, 0.0, Said(True))


@dataclass(frozen=True)
class Diverged:
    accepted: bool = False
    divergences: int = 2
    check_failed: bool = True


@pytest.mark.parametrize("deep", [False, True])
def test_divergences_and_failed_checks_are_counted_inside(deep):
    trace = model.simulate(rng=1)
    part = Kernel(lambda trace, rng: (trace, Diverged()), "part", reversible=True)
    inner = cycle(part) if deep else part
    for kernel, ran in ((mixture([inner], lambda trace: [1.0]), 1), (tempered(lambda beta: inner, [0.5]), 2)):
        run = sample(kernel, trace, 3, record="x", seed=1, progress=False)
        (tally,) = run.acceptance.values()
        assert tally.divergences == 3 * ran * 2 and tally.failed_checks == 3


def test_a_step_to_where_the_kernel_isnt_picked_is_rejected():
    def flip(trace, rng):
        return trace.update({"x": -trace["x"]}).trace, Said(True)

    kernel = mixture(
        [Kernel(flip, "flip", reversible=True), mh(select("x"))],
        lambda trace: [float(trace["x"] > 0), float(trace["x"] < 0)],
    )
    trace = TRACE.update({"x": 1.0}).trace
    after, info = kernel(trace, 1)
    assert after is trace and not info.accepted
    assert info.parts[0][1].log_weight_ratio == -np.inf


def test_weights_of_the_state_need_reversible_kernels():
    weights = lambda trace: [1, 1]
    a, b = mh(select("x")), mh(select("x"))
    with pytest.raises(KernelError, match="needs reversible kernels, and both is not"):
        mixture([cycle(a, b, name="both"), a], weights)
    with pytest.raises(KernelError, match="step doesn't say whether it is"):
        mixture([a, Kernel(a.step, "step")], weights)
    with pytest.raises(KernelError, match=r'scan="random"'):
        mixture([a, gibbs("z")], weights)
    mixture([cycle(a, b, a), repeat(a, 2), mixture([a, b])], lambda trace: [1, 1, 1])


def test_wrong_weights_of_the_state():
    for weights in ([1], [1, -1], [0, 0], [1, np.nan], "ab", None):
        kernel = mixture([mh(select("x")), mh(select("x"))], lambda trace, w=weights: w)
        with pytest.raises(KernelError, match="from its function of the trace"):
            kernel(TRACE, 1)


def test_warm_up_reaches_the_parts():
    walk = random_walk(select("x"))
    for kernel in (
        cycle(walk, mh(select("x")), walk),
        repeat(walk, 2),
        mixture([walk, mh(select("x"))]),
        mixture([walk, mh(select("x"))], lambda trace: [1, 1]),
        cycle(repeat(mixture([walk]), 2), mh(select("x"))),
    ):
        adapted, trace = adapt(kernel, TRACE, steps=40, rng=1)
        assert adapted.name == kernel.name and adapted.reversible == kernel.reversible
        inner = adapted
        while hasattr(inner, "parts"):
            assert inner.parts[0] is inner.parts[-1] or len(inner.parts) == 2
            inner = inner.parts[0]
        assert inner.tuning.step_size > 0 and walk.tuning.step_size is None
        adapted(trace, 1)
    plain = cycle(mh(select("x")))
    assert adapt(plain, TRACE, steps=5, rng=1).kernel is plain


# --- tempered transitions ------------------------------------------------------------------------------


@gen
def hills(temperature):
    x = ~normal(0, 3)
    y = ~normal(abs(x), temperature)


HILL = hills.generate((0.3,), {"y": 3.0}, init={"x": 3.0}).trace


@gen
def leap(trace):
    x = ~normal(trace["x"], 2)


def test_tempered_transitions_cross_from_mode_to_mode():
    for kernel in (
        tempered(mh(leap), [(0.6,), (1.2,), (2.0,)]),
        tempered(lambda beta: tempered_mh(leap, beta), [0.5, 0.2, 0.05]),
    ):
        run = sample(kernel, HILL, 300, record=["x", lambda trace: trace.args], seed=1)
        assert (run["x"] > 0).any() and (run["x"] < 0).any()
        assert np.all(np.asarray(run["value"]) == 0.3)
        _, info = kernel(HILL, 1)
        assert len(info.parts) == 6


def test_ladders_that_are_refused():
    for ladder in ([], [1.5], [0.5, (1,)], 3, "ab", [0.0]):
        with pytest.raises(KernelError, match="got the ladder"):
            tempered(mh(leap), ladder)
    with pytest.raises(KernelError, match="one target for all temperatures"):
        tempered(mh(leap), [0.5])
    with pytest.raises(KernelError, match="decreasing order"):
        tempered(lambda beta: tempered_mh(leap, beta), [0.2, 0.5])
    with pytest.raises(KernelError, match="tempered needs reversible kernels"):
        tempered(cycle(mh(leap), mh(select("x"))), [(1.0,)])


@pytest.mark.parametrize(
    "make, name, target",
    [
        (lambda beta: mh(leap), "mh leap", "the posterior"),
        (lambda beta: tempered_mh(leap, 0.4), "mh leap at 0.4", "beta = 0.4"),
        (lambda beta: mixture([tempered_mh(leap, beta), mh(select("x"))]), "mh select", "the posterior"),
        (lambda beta: repeat(random_walk("x", 0.3), 2), "random walk", "the posterior"),
    ],
    ids=["mh", "another power", "a part", "tunable"],
)
def test_a_kernel_for_another_temperature_is_refused(make, name, target):
    with pytest.raises(KernelError, match=f"at beta = 0.5, and {name}.* is for {target}"):
        tempered(make, [0.5])


def test_kernels_for_the_target_are_taken():
    def own(beta):
        return Kernel(lambda trace, rng: mh(leap)(trace, rng), "of my own", reversible=True)

    for make in (own, lambda beta: repeat(mixture([tempered_mh(leap, beta), own(beta)]), 2)):
        assert tempered(make, [0.5, 0.2]).reversible
    with pytest.raises(KernelError, match=r"at beta = 1, and mh leap at 0\.5 is for beta = 0\.5"):
        tempered(tempered_mh(leap, 0.5), [(0.6,)])


def test_arguments_that_make_other_choices():
    @gen
    def sized(n):
        for i in range(n):
            ("x", i) @ ~normal(0, 1)

    trace = sized.simulate((2,), rng=1)
    for n in (1, 3):
        with pytest.raises(KernelError, match="makes other choices with the arguments") as caught:
            tempered(mh(select(("x", 0))), [(n,)])(trace, 1)
        assert caught.value.address == ("x", {1: 1, 3: 2}[n])
