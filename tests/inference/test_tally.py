"""Why proposals were rejected: the terms of the log ratio that infos carry, and what chains count of them."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from gendsl import continuous, gamma, gen, normal, pair, read, sample, select, transform, uniform, write
from gendsl.inference import (
    Kernel,
    cycle,
    hmc,
    involutive,
    load_run,
    mala,
    mh,
    mixture,
    random_walk,
    resume,
    single_site,
    slice_sampling,
)
from gendsl.inference.infos import ComposedInfo
from gendsl.inference.running.tally import _REASONS, Tally, count
from gendsl.testing import running_on
from tests.inference.test_executors import InTurn


@gen
def model():
    x = ~normal(0, 1)
    y = ~normal(x, 0.5)
    w = ~uniform(0, 1)


@gen
def shrink(trace):
    x = ~normal(0.5 * trace["x"], 1)


@gen
def factor(trace):
    s = ~gamma(2, 1)


@transform
def up(model_in, aux_in, *, model_out, aux_out):
    s = read(aux_in["s"], continuous)
    write(model_out["x"], read(model_in["x"], continuous) * s)
    write(model_out["w"], read(model_in["w"], continuous) * s**2)
    write(aux_out["s"], 1 / s)


SCALE = involutive(factor, up, name="scale")


def start():
    return model.generate((), {"y": 0.7}, rng=1).trace


def stepped(kernel, steps, trace=None, seed=1):
    """The trace before each step, the one after, and the info."""
    trace, rng, told = trace or start(), np.random.default_rng(seed), []
    for _ in range(steps):
        before = trace
        trace, info = kernel(before, rng)
        told.append((before, trace, info))
    return told


def leaves(told):
    """Name and info of every step of a kernel that isn't composed."""
    for name, info in told:
        if type(info) is ComposedInfo:
            yield from leaves(info.parts)
        else:
            yield name, info


def log_target(x):
    return stats.norm.logpdf(x) + stats.norm.logpdf(0.7, x, 0.5)


# --- the terms that infos carry ----------------------------------------------------------------------


def test_the_terms_of_a_proposal_program():
    accepted = [each for each in stepped(mh(shrink), 300) if each[2].accepted]
    assert len(accepted) > 50
    for before, after, info in accepted:
        x, new = before["x"], after["x"]
        aux = stats.norm.logpdf(x, 0.5 * new) - stats.norm.logpdf(new, 0.5 * x)
        assert info.log_aux_ratio == pytest.approx(aux, abs=1e-10)
        assert info.log_accept_ratio == pytest.approx(log_target(new) - log_target(x) + aux, abs=1e-10)


def test_a_proposal_from_the_prior_has_no_term_of_its_own():
    told = stepped(mh(select("x")), 50) + stepped(random_walk(select("x"), 0.5), 50)
    assert {info.log_aux_ratio for _, _, info in told} == {0.0}


@pytest.mark.parametrize("kernel", [hmc("x", 0.7, 3), mala("x", 0.9)], ids=["hmc", "mala"])
def test_the_terms_of_kernels_with_gradients(kernel):
    accepted = [each for each in stepped(kernel, 200) if each[2].accepted]
    assert 50 < len(accepted) < 200
    sizes = []
    for before, after, info in accepted:
        model_ratio = log_target(after["x"]) - log_target(before["x"])
        assert info.log_accept_ratio - info.log_aux_ratio == pytest.approx(model_ratio, abs=1e-9)
        sizes.append(abs(info.log_aux_ratio))
    assert max(sizes) > 0.03


@gen
def growing():
    k = ~uniform(0, 3)
    for j in range(int(k)):
        ("a", j) @ ~normal(0, 1)


def test_the_term_of_a_single_site_that_changes_how_many_there_are():
    told = stepped(single_site(select("k", "a"), skip_absent=True), 300, growing.simulate((), rng=3))
    changed = [each for each in told if int(each[0]["k"]) != int(each[1]["k"])]
    assert len(changed) > 20
    for before, after, info in changed:
        n, new = 1 + int(before["k"]), 1 + int(after["k"])
        assert info.log_aux_ratio == pytest.approx(math.log(n / new), abs=1e-12)


# --- what is counted ---------------------------------------------------------------------------------


def expected(told):
    """Sums over the infos of rejected steps, by a loop of their own."""
    found = {}
    for name, info in leaves(told):
        tally = found.setdefault(name, {"weighed": 0, "ratio": 0.0, "aux": 0.0, "det": 0.0, "reasons": 0})
        if info.accepted:
            continue
        if info.reason is not None:
            tally["reasons"] += 1
            continue
        tally["weighed"] += 1
        tally["ratio"] += info.log_accept_ratio
        tally["aux"] += info.log_aux_ratio
        tally["det"] += getattr(info, "log_abs_det", 0.0)
    return found


def kernels():
    return cycle(SCALE, mh(shrink, name="shrink"), mixture([mh("x", name="prior"), random_walk("w", 3.0)]))


def noted(kernel, told):
    def step(trace, rng):
        trace, info = kernel(trace, rng)
        told.append((kernel.name, info))
        return trace, info

    return Kernel(step, kernel.name)


def agree(acceptance, told, whole=True):
    sums = expected(told)
    assert set(sums) == set(acceptance)
    for name, tally in acceptance.items():
        assert (tally.weighed, sum(tally.reasons.values())) == (sums[name]["weighed"], sums[name]["reasons"])
        assert tally.weighed + sum(tally.reasons.values()) + tally.accepted == tally.proposed
        for found, term in ((tally.log_ratio, "ratio"), (tally.log_aux, "aux"), (tally.log_abs_det, "det")):
            assert found == pytest.approx(sums[name][term], rel=1e-9, abs=1e-9)


def test_the_terms_of_rejected_proposals_are_counted():
    told = []
    run = sample(noted(kernels(), told), start(), 400, record="x", seed=2)
    agree(run.acceptance, told)
    scale = run.acceptance["scale"]
    assert list(scale.reasons) == ["out of support at 'w'"] and scale.weighed > 50
    terms = scale.rejected_terms
    assert terms.log_ratio == pytest.approx(terms.log_model + terms.log_aux + terms.log_abs_det)
    assert min(map(abs, terms)) > 0.05 and terms.log_ratio < 0
    shrunk = run.acceptance["shrink"].rejected_terms
    assert shrunk.log_abs_det == 0.0 and abs(shrunk.log_aux) > 0.01
    assert run.acceptance["prior"].rejected_terms.log_aux == 0.0


def test_several_chains_have_them():
    run = sample(kernels(), start(), 100, chains=2, record="x", seed=2, executor=InTurn())
    told = []
    for rng in np.random.default_rng(2).spawn(2):
        sample(noted(kernels(), told), start(), 100, record="x", seed=rng)
    agree(run.acceptance, told)


def test_runs_in_files_have_them(tmp_path, monkeypatch):
    """Also those of the part before the run was stopped, and of the part after."""
    monkeypatch.setattr("gendsl.inference.running.chain_store._PAUSE", 0.0)
    monkeypatch.setattr("gendsl.inference.running.chain_store._SHARE", math.inf)
    monkeypatch.setattr("gendsl.inference.running.checkpoint.steps_between", lambda trace: 10)
    left = [155]

    def interrupting(trace):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return trace["x"]

    record = {"x": interrupting}
    options = {"record": record, "seed": 2, "progress": False}
    stopped = sample(kernels(), start(), 300, checkpoint=tmp_path / "a", **options)
    assert stopped.interrupted
    read = load_run(tmp_path / "a").acceptance
    assert 0 < read["shrink"].weighed < stopped.acceptance["shrink"].proposed
    left[0] = 10**9
    resumed = resume(tmp_path / "a", kernels(), model, record=record, progress=False)
    whole = sample(kernels(), start(), 300, checkpoint=tmp_path / "b", **options)
    for name, tally in whole.acceptance.items():
        assert dataclasses.replace(resumed.acceptance[name], seconds=tally.seconds) == tally
        assert tally.weighed > 20


def test_what_else_an_info_may_be():
    tallies = {}
    for info in (None, {"accepted": False}, SimpleNamespace(accepted=False), SimpleNamespace(),
                 SimpleNamespace(accepted=False, log_accept_ratio=-2),
                 SimpleNamespace(accepted=False, log_accept_ratio=-math.inf),
                 SimpleNamespace(accepted=False, log_accept_ratio=math.nan),
                 SimpleNamespace(accepted=False, log_accept_ratio=-1.7e308),
                 SimpleNamespace(accepted=False, log_accept_ratio="low"),
                 SimpleNamespace(accepted=False, reason="tired"),
                 SimpleNamespace(accepted=False, reason="wrong", check_failed=True)):  # fmt: skip
        count(tallies, "mine", info, 0.5)
    tally = tallies["mine"]
    assert (tally.proposed, tally.accepted, tally.failed_checks, tally.seconds) == (11, 3, 1, 5.5)
    assert tally.reasons == {"the density there is zero": 2, "tired": 1}
    assert tally.weighed == 1 and tally.rejected_terms == (-2.0, 0.0, 0.0, 0.0)
    assert Tally(3, 3).rejected_terms is None


def test_reasons_are_counted_up_to_some_number():
    tallies = {}
    for number in range(100):
        count(tallies, "mine", SimpleNamespace(accepted=False, reason=f"reason {number}"), 0.0)
    reasons = tallies["mine"].reasons
    assert len(reasons) == _REASONS + 1 and sum(reasons.values()) == 100
    assert reasons["other reasons"] == 100 - _REASONS
    both = tallies["mine"] + Tally(reasons={"reason 3": 2, "new": 5})
    assert both.reasons["reason 3"] == 3 and both.reasons["other reasons"] == 105 - _REASONS
    assert reasons["reason 3"] == 1


def test_a_kernel_that_is_picked_by_the_state():
    """It is rejected for its own ratio, or for the probability of picking it."""
    told = []
    kernel = mixture([mh(shrink, name="shrink"), mh("x", name="prior")],
                     lambda trace: [1.0, 1.0 + 9.0 * (trace["x"] > 0)])  # fmt: skip
    run = sample(noted(kernel, told), start(), 400, record="x", seed=2)
    for name, tally in run.acceptance.items():
        ratio, aux, weighed, by_weight = 0.0, 0.0, 0, 0
        for part, picked in leaves(told):
            if part != name or picked.accepted:
                continue
            weighed += 1
            if picked.info.accepted:
                by_weight += 1
                ratio, aux = ratio + picked.log_weight_ratio, aux + picked.log_weight_ratio
            else:
                ratio, aux = ratio + picked.info.log_accept_ratio, aux + picked.info.log_aux_ratio
        assert tally.weighed == weighed and by_weight > 3
        assert (tally.log_ratio, tally.log_aux) == pytest.approx((ratio, aux))


def test_a_diverging_trajectory_is_a_reason():
    run = sample(hmc("x", 3.0, 20), start(), 50, record="x", seed=1)
    (tally,) = run.acceptance.values()
    assert tally.divergences > 10 and tally.reasons == {"the trajectory diverged": tally.divergences}


@transform
def larger(model_in, *, model_out):
    write(model_out["x"], 2 * read(model_in["x"], continuous))


@transform
def smaller(model_in, *, model_out):
    write(model_out["x"], read(model_in["x"], continuous) / 2)


def test_the_determinant_of_a_pair():
    told = []
    kernel = involutive(None, pair(larger, smaller), name="double")
    run = sample(noted(kernel, told), start(), 200, record="x", seed=4)
    agree(run.acceptance, told)
    dets = [info.log_abs_det for _, info in told if not info.accepted]
    assert np.abs(dets) == pytest.approx(math.log(2)) and min(dets) < 0 < max(dets)


@pytest.mark.parametrize("runtime", ["reference", "native"])
def test_kernels_with_one_name_are_told_where_the_first_stands(runtime):
    kernel = cycle(slice_sampling("x"), single_site(select("x")), slice_sampling("x"))
    with running_on(runtime):
        run = sample(kernel, start(), 50, record="x", seed=1)
    assert list(run.acceptance) == ["slice select('x')", "single_site select('x')"]
    assert [tally.proposed for tally in run.acceptance.values()] == [100, 50]
