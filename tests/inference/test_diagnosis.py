"""What a run says of itself: warnings where its numbers can't be trusted, and why moves were rejected."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from gendsl import bernoulli, gen, normal, sample, select, uniform_discrete
from gendsl.inference import Kernel, Run, Tally, cycle, hmc, mh, mixture
from gendsl.inference.results import diagnosis
from gendsl.inference.results.diagnosis import kernel_text
from gendsl.inference.results.scalars import few_scalars
from gendsl.inference.running.chain import Chain
from gendsl.inference.running.columns import Columns
from gendsl.inference.running.tally import count
from gendsl.runtime.saving import latent
from tests.inference.test_chains import autoregression
from tests.inference.test_executors import InTurn
from tests.inference.test_tally import SCALE
from tests.inference.test_tally import start as start_of_scale


def made(*chains, name="x", **acceptance):
    """A run whose chains recorded these values."""
    return Run([Chain(Columns([{name: v} for v in chain]), [], None, dict(acceptance)) for chain in chains])


def warnings_of(run):
    """The warnings in the text of a run, and the other lines below its kernels."""
    lines = str(run).splitlines()[1 + len(run.acceptance) :]
    return [line.strip()[9:] for line in lines if line.startswith("  warning: ")], [
        line.strip() for line in lines if not line.startswith("  warning: ")
    ]


def independent(n, m=4, seed=7):
    return np.random.default_rng(seed).normal(size=(m, n))


# --- what is wrong -----------------------------------------------------------------------------------


def test_a_good_run_has_no_warning():
    run = made(*independent(1000), a=Tally(10, 4))
    assert warnings_of(run) == ([], [])
    assert run.diagnose().problems == () and "Nothing is wrong that could be seen" in str(run.diagnose())
    assert run.summary().problems == []


def test_chains_that_disagree():
    chains = independent(1000)
    chains[3] += 0.5
    run = made(*chains)
    (text, few), remarks = warnings_of(run)
    ratio = run.summary()["x"].r_hat
    assert ratio > 1.01 and remarks == []
    assert text == f"R-hat is above 1.01, so the chains don't agree: x {ratio:.3f}"
    assert run.diagnose().problems[0] == f"{text}." and run.summary().problems == [text, few]
    assert f"warning: {text}" in str(run.summary()) and text in run._repr_html_().replace("&#x27;", "'")


def test_one_chain_has_its_halves_and_a_quiet_line():
    drifting = np.linspace(0, 2, 2000) + independent(2000, 1)[0]
    texts, remarks = warnings_of(made(drifting))
    assert texts[0].startswith("R-hat is above 1.01, so the halves of the chain don't agree: x 1.")
    assert remarks == ["one chain: R-hat compares its halves; several that start apart tell more"]
    assert warnings_of(made(independent(1000)[0])) == ([], remarks)


def test_few_effective_draws():
    rng = np.random.default_rng(3)
    run = made(*(autoregression(0.95, 3000, rng) for _ in range(4)))
    row = run.summary()["x"]
    assert row.ess_bulk < 400 and row.r_hat < 1.02
    assert f"fewer than 100 effective draws a chain, so errors aren't known: x {row.ess_bulk / 4:.4g}" in (
        warnings_of(run)[0]
    )
    (text,), _ = warnings_of(made(*independent(60)))
    assert text.startswith("60 draws a chain are too few")


def test_the_tail_counts_too():
    """Half of the time a chain is in a tail for long: the bulk mixes, the tail doesn't."""
    rng = np.random.default_rng(5)
    chains = []
    for _ in range(4):
        wide = autoregression(0.998, 4000, rng) > 1.5
        chains.append(rng.normal(size=4000) * np.where(wide, 8, 1))
    run = made(*chains)
    row = run.summary()["x"]
    assert row.ess_tail < 400 < row.ess_bulk
    assert any(text.startswith("fewer than 100 effective draws a chain") for text in warnings_of(run)[0])


def test_divergences_and_an_acceptance_of_zero():
    run = made(*independent(200), jump=Tally(800, 0), leap=Tally(50, 20, divergences=3), never=Tally(0, 0))
    assert warnings_of(run)[0] == [
        "none of 3200 proposals of jump was accepted",
        "12 of 200 trajectories of leap diverged: draws may be missing where the density changes fast",
    ]
    assert run.diagnose().problems[0] == "None of 3200 proposals of jump was accepted."


# --- structures that were entered seldom -------------------------------------------------------------


def test_a_chain_that_jumped_once_knows_nothing_of_the_share():
    """Chains that jumped at one time have a fine R-hat."""
    chains = [np.repeat([1, 2], 500), np.repeat([2, 1], 500), np.repeat([1, 2], 500), np.repeat([2, 1], 500)]
    texts, _ = warnings_of(made(*chains, name="k"))
    assert "entered fewer than 20 times, so the shares aren't known: k = 1 (2), k = 2 (2)" in texts
    single, _ = warnings_of(made(np.repeat([1, 2], 500), name="k"))
    assert "entered fewer than 20 times, so the shares aren't known: k = 1 (0), k = 2 (1)" in single


@pytest.mark.parametrize(("visits", "warned"), [(19, True), (20, False)])
def test_twenty_entries_are_enough(visits, warned):
    """In all chains together, of which each begins elsewhere."""
    first = [1] * 100 + [*[2] * 50, *[1] * 50] * 10
    second = [1] * 100 + [*[2] * 50, *[1] * 50] * (visits - 10)
    run = made(first, second, name="k")
    assert run.frequency("k").entries == {1: visits, 2: visits}
    assert any("the shares aren't known" in text for text in warnings_of(run)[0]) is warned


def test_a_rare_value_is_no_reason_to_warn():
    k = np.random.default_rng(1).choice([1, 2], size=(2, 3000))
    k[0, 1000:1003] = 5
    texts, remarks = warnings_of(made(*k, name="k"))
    assert texts == []
    assert remarks == ["entered fewer than 20 times, so the shares aren't known: k = 5 (1)"]


def test_which_structures_there_were_is_seen_without_k():
    """By a number that some draws have; by values that are no numbers; not by what has too many values."""
    here = [0.1 * (i % 7) if 300 < i < 600 else None for i in range(1000)]
    texts, _ = warnings_of(made(here, here, name="second mean"))
    assert any("that there is second mean (2)" in text for text in texts)
    both = Run([Chain(Columns([{"x": x, "k": int(x is not None)} for x in here]), [], None)] * 2)
    assert "that there is" not in str(both) and "k = 1 (2)" in str(both)
    names = ["one"] * 500 + ["two"] * 500
    texts, _ = warnings_of(made(names, names, name="name"))
    assert texts == [
        "entered fewer than 20 times, so the shares aren't known: name = 'one' (0), name = 'two' (2)"
    ]
    many = np.random.default_rng(1).integers(0, 500, size=(4, 1000))
    assert warnings_of(made(*many, name="count")) == ([], [])
    partitions = [(int(i), int(i) % 3) for i in np.random.default_rng(1).integers(0, 90, size=1000)]
    assert "share" not in str(made([str(p) for p in partitions], [str(p) for p in partitions]))


def test_what_never_changes_is_a_remark():
    assert warnings_of(made([2] * 200, [2] * 200, name="k")) == ([], ["the same in every draw: k is 2"])
    forgotten = made([0.1] * 200, [0.1] * 200, name="scale")
    assert warnings_of(forgotten) == ([], ["the same in every draw: scale is 0.1"])
    apart, _ = warnings_of(made([1] * 200, [2] * 200, name="k"))
    assert apart[0] == "R-hat is above 1.01, so the chains don't agree: k inf"
    assert apart[-1].endswith("k = 1 (0), k = 2 (0)")


# --- runs ----------------------------------------------------------------------------------------------


@gen
def model():
    k = ~uniform_discrete(1, 3)
    for j in range(k):
        ("mu", j) @ ~normal(0, 1)
    b = ~bernoulli(0.5)


KERNEL = cycle(mh("k", name="number"), mh("b", name="flag"), mh(("mu", 0), name="first"))


@pytest.mark.slow
def test_runs_of_whole_traces():
    run = sample(KERNEL, model.simulate((), rng=1), 4000, chains=2, seed=1, executor=InTurn())
    assert warnings_of(run) == ([], [])
    other = cycle(mh("b"), mh(("mu", 0)))
    one = model.generate((), init={"k": 1}, rng=1).trace
    stuck = sample(other, one, 1000, chains=2, seed=1, executor=InTurn())
    assert warnings_of(stuck) == ([], ["the same in every draw: k is 1"])


def test_the_log_density_is_looked_at():
    """What is recorded may agree where what isn't doesn't."""

    @gen
    def two():
        a = ~normal(0, 1)
        b = ~normal(0, 1)

    starts = [two.generate((), init={"a": 0.0, "b": b}).trace for b in (0.0, 4.0)]
    run = sample(mh("a"), starts, 500, record="a", seed=1, executor=InTurn())
    texts, _ = warnings_of(run)
    assert texts[0].startswith("R-hat is above 1.01, so the chains don't agree: log density ")
    assert "a 1." not in texts[0]


def test_of_whole_traces_of_many_choices_some_are_looked_up(monkeypatch):
    """One by one: a dict of all choices of every draw would take long, and much memory."""

    @gen
    def large(n):
        k = ~uniform_discrete(1, 2)
        for i in range(n):
            ("a", i) @ ~normal(0, 1)

    kernel = mixture([mh("k"), mh(("a", 0))], [0.005, 0.995])
    run = sample(kernel, large.simulate((50,), rng=1), 500, chains=2, seed=1, executor=InTurn())
    found = run.diagnose()
    texts, remarks = warnings_of(run)
    monkeypatch.setattr(diagnosis, "_WORK", 5000)
    monkeypatch.setattr(Run, "latent_choices", lambda run: pytest.fail("looked at all choices"))
    few, fewer = warnings_of(run)
    assert few == texts and any("k = 1 (" in text for text in texts)
    assert fewer[-1] == "looked at 8 choices at most; run.summary() looks at all"
    assert "a[5] is" not in str(remarks) and found.problems
    kept = [[latent(trace) for trace in chain.traces] for chain in run.chains]
    dicts = Run([Chain(Columns(), each, run.last[0]) for each in kept])
    assert {"k", "a[0]"} <= set(few_scalars(dicts, 10)) == set(few_scalars(run, 10))
    for name, chains in few_scalars(run, 10).items():
        np.testing.assert_array_equal(chains, few_scalars(dicts, 10)[name])


def test_the_text_of_a_long_run_takes_little_time(monkeypatch):
    """Every second draw is looked at, or third, and so on; and not every number."""
    monkeypatch.setattr(diagnosis, "_LONGEST", 500)
    looked = []
    monkeypatch.setattr(diagnosis, "r_hat", lambda chains: looked.append([len(c) for c in chains]) or 1.0)
    made(*independent(1600, 2)).diagnose()
    str(made(*independent(1600, 2)))
    assert looked == [[1600, 1600], [1600, 1600], [400, 400]]
    monkeypatch.setattr(diagnosis, "_WORK", 1)
    looked.clear()
    str(made([[float(i)] * 30 for i in range(400)]))
    assert len(looked) == 8


def test_a_run_without_draws_and_a_short_one():
    assert warnings_of(made([], name="k")) == ([], [])
    assert str(made([]).diagnose()).strip() == ""
    (text,), _ = warnings_of(made([1.0]))
    assert text.startswith("1 draws a chain are too few")


# --- why moves were rejected ---------------------------------------------------------------------------


def test_the_terms_are_told_for_each_kernel():
    kernel = cycle(SCALE, mixture([mh("x", name="prior")], name="mixed"))
    run = sample(kernel, start_of_scale(), 400, record="x", seed=2)
    found = run.diagnose()
    assert list(found.kernels) == ["scale", "prior"]
    tally, terms = run.acceptance["scale"], run.acceptance["scale"].rejected_terms
    assert found.kernels["scale"].startswith(
        f"scale accepted {tally.rate:.1%} of 400 proposals. Of {tally.weighed} that were rejected the log "
        f"ratio was {terms.log_ratio:.5g} on average: model {terms.log_model:+.5g}, auxiliary densities "
        f"{terms.log_aux:+.5g}, determinant {terms.log_abs_det:+.5g}; "
    )
    outside = tally.reasons["out of support at 'w'"]
    assert found.kernels["scale"].endswith(f"Rejected for another reason: out of support at 'w' ({outside}).")
    assert "auxiliary" not in found.kernels["prior"] and "determinant" not in found.kernels["prior"]
    assert str(found).splitlines()[-1] == found.kernels["prior"] and repr(found) == str(found)
    assert found._repr_html_().count("<p>") == len(found.problems) + len(found.remarks) + 2


@pytest.mark.parametrize(
    ("aux", "det", "why"),
    [(-1.0, 0.0, "what is proposed fits the model worse"),
     (-5.0, 3.0, "the way back is less probable than the way there"),
     (1.0, -6.0, "the map shrinks volumes")],
)  # fmt: skip
def test_the_term_that_decides_is_explained(aux, det, why):
    tally = Tally(10, 6, weighed=4, log_ratio=4 * -3.0, log_aux=4 * aux, log_abs_det=4 * det)
    assert f"log ratio was -3 on average: model {-3 - aux - det:+.5g}, " in kernel_text("m", tally)
    assert kernel_text("m", tally).endswith(f"; {why}.")


def test_kernels_that_tell_less():
    tallies = {}
    for info in (SimpleNamespace(accepted=False, log_accept_ratio=-2.0), None):
        count(tallies, "mine", info, 0.0)
    assert kernel_text("mine", tallies["mine"]) == (
        "mine accepted 50.0% of 2 proposals. Of 1 that were rejected the log ratio was -2 on average, of "
        "which the kernel tells no terms."
    )
    assert kernel_text("gibbs", Tally(5, 5)) == "gibbs accepted 100.0% of 5 proposals."
    reasons = {f"reason {i}": 10 - i for i in range(6)}
    text = kernel_text("m", Tally(100, 20, 3, divergences=2, reasons=reasons))
    assert "reason 0 (10); reason 1 (9); reason 2 (8); reason 3 (7); others (11)." in text
    assert text.endswith("3 failed a check. 2 trajectories diverged.")


def test_a_diverging_sampler_says_so():
    @gen
    def sharp():
        x = ~normal(0, 0.01)

    run = sample(hmc("x", 1.0, 20, name="leap"), sharp.simulate((), rng=1), 200, record="x", seed=1)
    texts, _ = warnings_of(run)
    assert texts[0] == "none of 200 proposals of leap was accepted" and "diverged" in texts[1]
    assert "Rejected for another reason: the trajectory diverged (200)" in str(run.diagnose())


def test_a_kernel_of_the_users_that_stays_where_it_is():
    run = sample(Kernel(lambda trace, rng: (trace, None), "stay"), model.simulate((), rng=1), 150,
                 record="k", seed=1)  # fmt: skip
    assert warnings_of(run)[0] == [] and math.isnan(run.summary()["k"].r_hat)
    assert "Nothing that was looked at changes from draw to draw." in str(run.diagnose())
    assert run.diagnose().kernels == {"stay": "stay accepted 100.0% of 150 proposals."}
    assert sample(mh(select("k")), model.simulate((), rng=1), 0, record="k").diagnose().problems == ()
