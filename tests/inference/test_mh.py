"""Metropolis-Hastings kernels: their ratios by hand, and what they refuse."""

import math

import numpy as np
import pytest
from scipy import stats

from gendsl import (
    bernoulli,
    categorical,
    dirichlet,
    gamma,
    gen,
    normal,
    poisson,
    select,
    uniform,
    uniform_discrete,
)
from gendsl.errors import (
    CoverageError,
    KernelError,
    LabelError,
    NaNError,
    ObservedError,
    UnknownAddressError,
    ZeroProbabilityError,
)
from gendsl.inference import MHInfo, cycle, independent, mh, random_walk, sample, single_site
from gendsl.testing import running_on, runtimes


@gen
def model():
    x = ~normal(0, 1)
    y = ~normal(x, 0.5)


def start(x=0.3, y=0.8):
    return model.generate((), {"y": y}, init={"x": x}).trace


def steps(kernel, trace, n, seed=1):
    rng = np.random.default_rng(seed)
    return [kernel(trace, rng) for _ in range(n)]


def test_ratio_of_a_prior_proposal_is_that_of_the_likelihoods():
    seen = set()
    for after, info in steps(mh(select("x")), start(), 40):
        seen.add(info.accepted)
        if info.accepted:
            expected = stats.norm.logpdf(0.8, after["x"], 0.5) - stats.norm.logpdf(0.8, 0.3, 0.5)
            assert info.log_accept_ratio == pytest.approx(expected)
    assert seen == {True, False}


def test_ratio_of_a_proposal_program_has_its_densities_there_and_back():
    @gen
    def proposal(trace, spread):
        sd = spread * (1 + trace["x"] ** 2)
        x = ~normal(2 * trace["x"], sd)

    def log_q(new, old):
        return stats.norm.logpdf(new, 2 * old, 0.7 * (1 + old**2))

    def log_p(x):
        return stats.norm.logpdf(x, 0, 1) + stats.norm.logpdf(0.8, x, 0.5)

    accepted = 0
    for after, info in steps(mh(proposal, (0.7,)), start(), 40):
        if info.accepted:
            accepted += 1
            new = after["x"]
            expected = log_p(new) - log_p(0.3) + log_q(0.3, new) - log_q(new, 0.3)
            assert info.log_accept_ratio == pytest.approx(expected)
    assert accepted > 3


def test_a_rejected_step_returns_the_same_trace():
    trace = start()
    for after, info in steps(mh(select("x")), trace, 20):
        assert (after is trace) == (not info.accepted)


def test_a_proposal_that_changes_what_exists():
    """k is proposed with all that is new; what goes away is scored on the way back."""

    @gen
    def clusters():
        k = ~uniform_discrete(1, 2)
        for j in range(k):
            ("mu", j) @ ~normal(0, 2)

    @gen
    def proposal(trace):
        k = "k" @ ~uniform_discrete(3 - trace["k"], 3 - trace["k"])
        if k == 2:
            ("mu", 1) @ ~normal(trace["mu", 0], 1)

    trace, _ = clusters.generate((), init={"k": 1, ("mu", 0): 0.5})
    for after, info in steps(mh(proposal), trace, 30):
        if info.accepted:
            mu = after["mu", 1]
            expected = stats.norm.logpdf(mu, 0, 2) - stats.norm.logpdf(mu, 0.5, 1)
            assert info.log_accept_ratio == pytest.approx(expected)
            back, undo = mh(proposal)(after, 1)
            assert undo.log_accept_ratio == pytest.approx(-expected)


def test_out_of_support_is_a_rejection():
    @gen
    def bounded():
        x = ~uniform(0, 1)

    @gen
    def proposal(trace):
        x = ~uniform(trace["x"] - 5, trace["x"] + 5)

    trace, _ = bounded.generate((), init={"x": 0.5})
    outcomes = [info for _, info in steps(mh(proposal), trace, 60)]
    rejected = [info for info in outcomes if not info.accepted]
    assert MHInfo(False, -math.inf, "out of support at 'x'") in rejected
    assert any(info.accepted for info in outcomes)


def test_observations_stay():
    trace = start()
    run = sample(mh(select("x")), trace, 50, seed=1)
    assert {t["y"] for t in run.traces} == {0.8}
    assert len({t["x"] for t in run.traces}) > 3
    assert run.last.observed == trace.observed


def test_a_step_that_would_remove_an_observation():
    @gen
    def optional():
        k = ~bernoulli(0.5)
        if k:
            z = ~normal(0, 1)

    trace, _ = optional.generate((), {"z": 1.0}, init={"k": True})
    with pytest.raises(ObservedError, match="removes an observation") as caught:
        sample(mh(select("k")), trace, 100, seed=1)
    assert caught.value.address == ("z",)


def test_a_proposal_may_propose_nothing():
    @gen
    def idle(trace):
        return trace["x"]

    trace = start()
    _, info = mh(idle)(trace, 1)
    assert info.accepted and info.log_accept_ratio == pytest.approx(0.0)


def test_names():
    assert mh(select("x")).name == "mh select('x')"
    assert mh(select("x"), name="update x").name == "update x"

    @gen
    def walk(trace):
        x = ~normal(trace["x"], 1)

    assert mh(walk).name == "mh walk"


def test_discrete_proposals():
    @gen
    def counts():
        n = ~poisson(4)

    @gen
    def walk(trace):
        n = ~uniform_discrete(trace["n"] - 1, trace["n"] + 1)

    trace, _ = counts.generate((), init={"n": 4})
    run = sample(mh(walk), trace, 4000, record="n", seed=1)
    shares = run.frequency("n")
    for n, share in shares.items():
        if share.probability > 0.05:
            assert abs(share.probability - stats.poisson.pmf(n, 4)) < 4.5 * share.standard_error


def test_arguments_are_a_tuple():
    @gen
    def walk(trace, sd):
        x = ~normal(trace["x"], sd)

    with pytest.raises(KernelError, match=r"must be a tuple, got 0\.5"):
        mh(walk, 0.5)


def test_a_start_of_probability_zero():
    @gen
    def bounded():
        x = ~normal(0, 1)
        y = ~uniform(0, 1)

    trace, _ = bounded.generate((), init={"y": 3.0})

    @gen
    def walk(trace):
        x = ~normal(trace["x"], 1)

    for kernel in (mh(walk), mh(select("y"))):
        with pytest.raises(ZeroProbabilityError, match=r"3\.0 is outside the support") as caught:
            kernel(trace, 1)
        assert caught.value.address == ("y",)
    with pytest.raises(NaNError, match="log probability -inf"):
        trace.update({"x": 1.0})


# --- proposals of other kinds ----------------------------------------------------------------------


@gen
def several():
    k = ~uniform_discrete(1, 3)
    total = sum([("mu", j) @ ~normal(0, 1) for j in range(k)])
    y = ~normal(total, 1)


def several_start(k=2):
    return several.generate((), {"y": 0.5}, init={"k": k}, rng=1).trace


def test_an_independent_proposal_has_its_density_in_the_ratio():
    def log_w(x):
        posterior = stats.norm.logpdf(x, 0, 1) + stats.norm.logpdf(0.8, x, 0.5)
        return posterior - stats.norm.logpdf(x, 1, 2)

    @gen
    def proposal(centre):
        x = ~normal(centre, 2)

    for kernel in (independent({"x": normal(1, 2)}), independent(proposal, (1,))):
        accepted = [(t, i) for t, i in steps(kernel, start(), 40) if i.accepted]
        assert accepted
        for after, info in accepted:
            assert info.log_accept_ratio == pytest.approx(log_w(after["x"]) - log_w(0.3))


def test_wrong_independent_proposals():
    for wrong in (select("x"), {}, normal(0, 1), {"x": 3}):
        with pytest.raises(KernelError):
            independent(wrong)
    with pytest.raises(UnknownAddressError):
        independent({"z": normal(0, 1)})(start(), 1)
    with pytest.raises(CoverageError):  # a mean that is new and not proposed
        steps(independent({"k": uniform_discrete(3, 3)}), several_start(), 5)


def test_single_site_moves_one_choice_and_corrects_for_their_number():
    trace = several_start()
    kernel = single_site(select("k", "mu"))
    numbers = set()
    for after, info in steps(kernel, trace, 60):
        if info.accepted:
            changed = [p for p in trace.choices if p in after and after[p] != trace[p]]
            assert len(changed) <= 1
            numbers.add(after["k"])
            if changed == [("k",)]:
                total = sum(after["mu", j] for j in range(after["k"]))
                before = sum(trace["mu", j] for j in range(2))
                expected = stats.norm.logpdf(0.5, total) - stats.norm.logpdf(0.5, before)
                expected += math.log(3 / (after["k"] + 1))
                assert info.log_accept_ratio == pytest.approx(expected)
    assert numbers == {1, 2, 3}
    new, _ = single_site("mu")(trace, 1)  # an address stands for its selection
    assert new.choices.keys() == trace.choices.keys()
    with pytest.raises(KernelError, match=r"write single_site\(select\('mu', 'k'\)\)"):
        single_site(["mu", "k"])
    assert single_site(select("w"), skip_absent=True)(trace, 1)[1].reason is not None
    with pytest.raises(UnknownAddressError, match="a kernel takes skip_absent=True where only some traces"):
        single_site(select("w"))(trace, 1)


def test_a_function_may_pick_the_selection():
    trace = several_start()
    for after, _ in steps(mh(lambda trace, rng: select(("mu", int(rng.integers(trace["k"]))))), trace, 20):
        assert sum(after["mu", j] != trace["mu", j] for j in range(2)) <= 1
    infos = [info for _, info in steps(mh(lambda trace: select("k", ("mu", trace["k"] - 1))), trace, 30)]
    assert any("another selection" in (info.reason or "") for info in infos)
    assert any(info.accepted for info in infos)


def test_functions_that_pick_no_selection():
    with pytest.raises(KernelError, match="which is no selection"):
        mh(lambda trace: "x")(start(), 1)
    with pytest.raises(KernelError, match=r"takes \(trace\) or \(trace, rng\)"):
        mh(lambda a, b, c: select("x"))


@gen
def in_pairs(n):
    for i in range(n):
        a = ("a", i) @ ~normal(0, 1)
        ("b", i) @ ~normal(a, 1)
        ("z", i) @ ~categorical([0.3, 0.7])


@gen
def drawn_in_pairs(trace):
    for i in range(12):
        a = ("a", i) @ ~normal(0, 1)
        ("b", i) @ ~normal(a, 1)


@gen
def drawn_by_rows(trace):
    rows = np.array([[0.2, 0.8], [0.6, 0.4]])
    which = np.arange(12) % 2
    for i in range(12):
        ("z", i) @ ~categorical(rows[which[i]])


@pytest.mark.parametrize("proposal", [drawn_in_pairs, drawn_by_rows], ids=lambda one: one.name)
def test_proposals_with_loops_draw_in_the_order_of_the_program(proposal):
    """Also where a runtime could draw all values of one choice at once: chains are the same on every one."""
    runs, names = [], [("a", 3), ("b", 7), ("z", 2)]
    start = in_pairs.simulate((12,), rng=1)
    for runtime in runtimes():
        with running_on(runtime):
            runs.append(sample(mh(proposal), start, 40, record=names, seed=1))
    for run in runs[1:]:
        for name in names:
            assert np.allclose(run[name], runs[0][name], rtol=1e-12)


@gen
def weights_of_some():
    k = ~uniform_discrete(2, 3)
    w = ~dirichlet([1.0] * k)
    y = ~normal(w[0], 0.3)


@gen
def number_or_count():
    x = ~normal(0, 1)
    if x > 0:
        e = ~gamma(2, 1)
    else:
        e = ~poisson(2)


@gen
def another_k(trace):
    k = ~uniform_discrete(2, 3)


@pytest.mark.parametrize("runtime", ["reference", "compiled", "python", "native"])
@pytest.mark.parametrize(
    "kernel",
    [mh("k"), single_site("k"), mh(another_k), independent({"k": uniform_discrete(2, 3)})],
    ids=["mh", "single_site", "proposal", "independent"],
)
def test_a_kept_choice_of_another_dimension(kernel, runtime):
    """Its density is zero there: such a move would never be accepted, and the chain not move."""
    for k in (2, 3):
        trace = weights_of_some.generate((), {"y": 0.4}, init={"k": k}, rng=1).trace
        with running_on(runtime), pytest.raises(LabelError, match="keeps this choice") as caught:
            sample(cycle(kernel, mh("w")), trace, 200, seed=1, progress=False)
        assert caught.value.address == ("w",)


@pytest.mark.parametrize("runtime", ["reference", "compiled", "python", "native"])
@pytest.mark.parametrize(
    "kernel", [mh("x"), single_site("x"), random_walk("x", 0.5)], ids=["mh", "single_site", "random_walk"]
)
def test_a_kept_choice_of_another_kind(kernel, runtime):
    for x in (-0.5, 0.5):
        trace = number_or_count.generate((), init={"x": x}, rng=1).trace
        with running_on(runtime), pytest.raises(LabelError, match=r"which was (dis|con)"):
            sample(kernel, trace, 200, seed=1, progress=False)
