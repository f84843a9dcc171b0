"""The checks of a move: the round trip, the determinants, the support; and random test cases of it."""

import logging
import math

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    categorical,
    check_involutive,
    continuous,
    copy,
    dirichlet,
    discrete,
    exponential,
    gamma,
    gen,
    iid,
    involutive_mcmc,
    multinomial,
    mvnormal,
    normal,
    pair,
    poisson,
    product,
    read,
    select,
    transform,
    uniform,
    uniform_discrete,
    wishart,
    write,
)
from gendsl.errors import (
    CoverageError,
    DerivativeError,
    GenDSLError,
    InvolutionError,
    LabelError,
    ParameterError,
    ReadError,
    SupportError,
)
from gendsl.supports import FiniteSet
from gendsl.transforms.random_cases import CASES

pytestmark = pytest.mark.usefixtures("runtime")


def line_of(marker):
    """The number of the line of this file that ends with a marker."""
    with open(__file__) as lines:
        return next(n for n, line in enumerate(lines, 1) if line.rstrip().endswith(marker))


@gen
def one_normal():
    x = ~normal(0, 1)


def step(f, model=one_normal, init=None, check=True, q=None):
    trace, _ = model.generate((), init=init, rng=1)
    return involutive_mcmc(trace, q, (), f, check=check, rng=1)


# --- the round trip: tolerance -----------------------------------------------------------------------


@pytest.mark.parametrize(("error", "passes"), [(0.0, True), (1e-10, True), (1e-7, False), (1e-2, False)])
@pytest.mark.parametrize("x", [1.0, 1e6, 1e-6])
def test_tolerance_is_relative(x, error, passes):
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], -read(model_in["x"]) * (1 + error))

    if passes:
        step(f, init={"x": x})
    else:
        with pytest.raises(InvolutionError, match="'x' of model_out, which was"):
            step(f, init={"x": x})


def test_what_is_not_written_on_the_way_back_stays_changed():
    @gen
    def model():
        x = ~normal(0, 1)

    @gen
    def q(trace):
        there = ~bernoulli(0.5)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        there = read(aux_in["there"])
        write(aux_out["there"], not there)
        if there:
            write(model_out["x"], read(model_in["x"]) + 1.0)

    trace = model.generate((), init={"x": 0.25}).trace
    seed = next(seed for seed in range(10) if q.simulate_once((trace,), np.random.default_rng(seed))["there"])
    with pytest.raises(InvolutionError, match=r"'x' of model_out, which was 0.25, comes back as 1.25"):
        involutive_mcmc(trace, q, (), f, check=True, rng=seed)


def test_cancellation_is_forgiven_where_the_numbers_were_large():
    """1 + 1e6 - 1e6 loses ten digits; that is no mistake of the transform."""

    @gen
    def model():
        x = ~normal(0, 1)
        big = ~normal(0, 1e6)

    @transform
    def f(model_in, *, model_out):
        x, big = read(model_in["x"]), read(model_in["big"])
        write(model_out["x"], x + big)
        write(model_out["big"], -big)

    step(f, model, {"x": 1.1e-4, "big": 1.23456789e6})


@pytest.mark.parametrize("wrong", [False, True])
def test_values_of_every_kind_must_come_back(wrong):
    class Symbol:
        support = FiniteSet(("left", "right", ("a", 1), None))

        def sample(self, rng):
            return "left"

        def logpdf(self, value):
            return -1.0

    @gen
    def model():
        symbol = ~Symbol()
        counts = ~multinomial(4, [0.5, 0.5])
        flags = ~iid(bernoulli(0.5), 2)
        pairs = ~product(poisson(2), poisson(2))
        w = ~dirichlet([1.0, 1.0])

    turn = {"left": "right", "right": "left", ("a", 1): None, None: "left" if wrong else ("a", 1)}

    @transform
    def f(model_in, *, model_out):
        write(model_out["symbol"], turn[read(model_in["symbol"], discrete)], discrete)
        for name in ("counts", "flags", "pairs", "w"):
            write(model_out[name], read(model_in[name])[::-1])

    for symbol in ("left", ("a", 1)):
        init = {"symbol": symbol, "counts": np.array([1, 3])}
        if wrong and symbol != "left":
            with pytest.raises(InvolutionError, match=r"which was \('a', 1\), comes back as 'left'"):
                step(f, model, init)
        else:
            trace, info = step(f, model, init)
            assert info.log_abs_det == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("error", "passes"), [(0.0, True), (1e-10, True), (1e-7, False)])
@pytest.mark.parametrize("size", [2, 40])
def test_every_entry_of_a_vector_must_come_back(size, error, passes):
    @gen
    def model():
        x = ~iid(normal(0, 1), size)

    @transform
    def f(model_in, *, model_out):
        x = read(model_in["x"])
        write(model_out["x"], [*x[1:][::-1] * -1.0, x[0] * (1 + error)][::-1])

    init = {"x": np.linspace(1.0, 2.0, size)}
    if passes:
        step(f, model, init)
    else:
        with pytest.raises(InvolutionError, match="'x' of model_out, which was array"):
            step(f, model, init)


def test_integers_in_a_vector_are_not_rounded():
    @gen
    def model():
        n = ~iid(uniform_discrete(0, 10**12), 2)

    @transform
    def f(model_in, *, model_out):
        first, second = read(model_in["n"])
        write(model_out["n"], np.array([10**12 - first + (first > 5 * 10**11), second]))

    with pytest.raises(InvolutionError, match="'n' of model_out"):
        step(f, model, {"n": np.array([10**12 - 10, 7])})


def test_an_integer_that_is_off_by_one_is_no_rounding():
    @gen
    def model():
        n = ~uniform_discrete(0, 10**12)

    @transform
    def f(model_in, *, model_out):
        write(model_out["n"], 10**12 - read(model_in["n"]) + (read(model_in["n"]) > 5 * 10**11))

    with pytest.raises(InvolutionError):
        step(f, model, {"n": 10**12 - 10})


def test_an_auxiliary_choice_must_come_back():
    @gen
    def q(trace):
        u = ~normal(0, 1)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        write(model_out["x"], read(model_in["x"]) + read(aux_in["u"]))
        write(aux_out["u"], read(aux_in["u"]))  # of aux

    with pytest.raises(InvolutionError) as caught:
        step(f, q=q)
    assert caught.value.location.lineno in (line_of("# of aux"), line_of("# of aux") - 1)


def test_a_discrete_auxiliary_choice_alone_must_come_back():
    """The model's choice does, and no determinant tells of a discrete one."""

    @gen
    def q(trace):
        n = ~uniform_discrete(0, 2)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        write(model_out["x"], -read(model_in["x"]))
        write(aux_out["n"], 2 if read(aux_in["n"]) == 0 else 0)

    trace = one_normal.simulate(rng=1)
    drawn = {q.simulate_once((trace,), np.random.default_rng(seed))["n"]: seed for seed in range(20)}
    for n in (0, 2):
        involutive_mcmc(trace, q, (), f, check=True, rng=drawn[n])
    with pytest.raises(InvolutionError, match="'n' of aux_out, which was 1, comes back as 2"):
        involutive_mcmc(trace, q, (), f, check=True, rng=drawn[1])


def test_an_auxiliary_choice_that_the_way_back_forgets():
    @gen
    def q(trace):
        n = ~bernoulli(0.5)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        x = read(model_in["x"])
        write(model_out["x"], -x)
        if x > 0:
            copy(aux_in["n"], aux_out["n"])

    with pytest.raises(InvolutionError, match=r"'n' of aux_out, .* is not restored"):
        step(f, init={"x": 1.0}, q=q)


@pytest.mark.parametrize("wrong", ["x", "w", "n"])
def test_a_label_that_is_wrong_on_the_way_back_alone(wrong):
    @gen
    def model():
        x = ~normal(0, 1)
        w = ~dirichlet([1.0, 1.0])
        n = ~uniform_discrete(0, 2)

    @transform
    def f(model_in, *, model_out):
        x = read(model_in["x"])
        labels = {"x": continuous, "w": continuous, "n": discrete}
        if x < 0:
            labels[wrong] = discrete if labels[wrong] is continuous else continuous
        write(model_out["x"], -x, labels["x"])
        write(model_out["w"], [*read(model_in["w"])][::-1], labels["w"])
        write(model_out["n"], 2 - read(model_in["n"]), labels["n"])

    init = {"x": 1.0, "w": [0.3, 0.7], "n": 0}
    step(f, model, init, check=False)
    with pytest.raises(LabelError) as caught:
        step(f, model, init)
    assert caught.value.address == (wrong,)


def test_weights_that_go_round_do_not_come_back_after_two_turns():
    """The determinant is 1 both ways."""

    @gen
    def model():
        w = ~dirichlet([1.0, 2.0, 3.0])

    @transform
    def f(model_in, *, model_out, by=1):
        w = read(model_in["w"])
        write(model_out["w"], [w[by], w[(1 + by) % 3], w[(2 + by) % 3]])

    @transform
    def swapped(model_in, *, model_out):
        w = read(model_in["w"])
        write(model_out["w"], [w[1], w[0], w[2]])

    init = {"w": [0.2, 0.3, 0.5]}
    step(f.bind(by=0), model, init)
    step(swapped, model, init)
    with pytest.raises(InvolutionError, match="'w' of model_out, which was array"):
        step(f, model, init)


def test_copies_that_go_round_do_not_come_back_after_two_turns():
    @gen
    def model():
        for i in range(3):
            ("x", i) @ ~normal(0, 1)

    @transform
    def f(model_in, *, model_out, n=3):
        for i in range(n):
            copy(model_in["x", i], model_out["x", (i + 1) % n])

    init = {"x": [0.2, 0.3, 0.5]}
    step(f.bind(n=2), model, init)
    with pytest.raises(InvolutionError, match=r"of model_out, which was 0\.3, comes back as 0\.5"):
        step(f, model, init)


@pytest.mark.parametrize("error", [0.0, 1e-7])
def test_every_entry_of_a_matrix_must_come_back(error):
    @gen
    def model():
        x = ~wishart(4.0, np.eye(2))

    @transform
    def f(model_in, *, model_out):
        x = read(model_in["x"])
        write(model_out["x"], x[::-1, ::-1] * (1 + error))

    init = {"x": np.array([[2.0, 0.5], [0.5, 3.0]])}
    if error:
        with pytest.raises(InvolutionError, match="'x' of model_out, which was array"):
            step(f, model, init)
    else:
        step(f, model, init)


def test_a_choice_that_the_way_back_forgets():
    """The way back needs an auxiliary choice that the way there didn't write."""

    @gen
    def model():
        k = ~bernoulli(0.5)
        if k:
            x = ~normal(0, 1)

    @gen
    def q(trace):
        if not trace["k"]:
            u = ~normal(0, 1)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        k = read(model_in["k"], discrete)
        write(model_out["k"], not k, discrete)
        if not k:
            copy(aux_in["u"], model_out["x"])
        else:
            copy(model_in["x"], aux_out["v"])  # typo

    with pytest.raises(CoverageError, match="neither writes nor copies to a choice") as caught:
        step(f, model, {"k": True, "x": 0.3}, q=q)
    assert caught.value.address == ("u",)
    with pytest.raises(InvolutionError, match="there is a choice in aux_out that wasn't there") as caught:
        step(f, model, {"k": False}, q=q)
    assert caught.value.address == ("v",)
    assert caught.value.location.lineno == line_of("# typo")


def test_a_choice_that_the_way_back_should_make_and_does_not():
    @gen
    def model():
        k = ~bernoulli(0.5)
        if k:
            x = ~normal(0, 1)

    @gen
    def q(trace):
        if not trace["k"]:
            u = ~normal(0, 1)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        k = read(model_in["k"], discrete)
        write(model_out["k"], not k, discrete)
        if k:
            copy(model_in["x"], aux_out["u"])  # and x is not made from u

    with pytest.raises(InvolutionError, match="not restored: nothing is written or copied to it") as caught:
        step(f, model, {"k": True, "x": 0.3}, q=q)
    assert caught.value.address == ("x",)
    assert "write or copy to model_out['x']" in caught.value.fix


def test_a_write_on_the_way_back_to_a_choice_that_was_never_there():
    @transform
    def f(model_in, *, model_out):
        x = read(model_in["x"])
        write(model_out["x"], -x)
        if x < 0:
            write(model_out["extra"], 1.0)  # surplus

    with pytest.raises(InvolutionError, match="a choice in model_out that wasn't there before") as caught:
        step(f, init={"x": 1.0})
    assert caught.value.address == ("extra",)
    assert caught.value.location.lineno == line_of("# surplus")


def test_what_comes_back_wrong_is_named_before_what_is_new():
    """k goes from 1 to 2 to 3: that is the mistake, and the third mean only its consequence."""

    @gen
    def model():
        k = ~uniform_discrete(1, 3)
        mu = [("mu", j) @ ~categorical([0.5, 0.5]) for j in range(k)]

    @transform
    def f(model_in, *, model_out):
        k = read(model_in["k"], discrete)
        write(model_out["k"], k + 1, discrete)
        write(model_out["mu", k], 0, discrete)

    with pytest.raises(InvolutionError, match="'k' of model_out, which was 1, comes back as 3"):
        step(f, model, {"k": 1})


def test_determinants_are_compared():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], 2 * read(model_in["x"]) - 1)  # 1 is a fixed point

    _, info = step(f, init={"x": 1.0}, check=False)
    assert info.log_abs_det == pytest.approx(math.log(2))
    with pytest.raises(InvolutionError, match=r"0\.69314718 there and 0\.69314718 back") as caught:
        step(f, init={"x": 1.0})
    assert caught.value.location.lineno == line_of("# 1 is a fixed point") - 1


# --- departures from the support ---------------------------------------------------------------------


@gen
def bounded():
    x = ~uniform(0, 1)


@gen
def walk(trace):
    d = ~normal(0, 1)


@transform
def shift(model_in, aux_in, *, model_out, aux_out):
    d = read(aux_in["d"])
    write(model_out["x"], read(model_in["x"]) + d)
    write(aux_out["d"], -d)


@pytest.mark.parametrize("check", [False, True, "reject"])
def test_a_walk_out_of_the_support_is_rejected_by_every_check(check):
    trace, _ = bounded.generate((), init={"x": 0.9})
    rng, outcomes = np.random.default_rng(1), set()
    for _ in range(40):
        after, info = involutive_mcmc(trace, walk, (), shift, check=check, rng=rng)
        outcomes.add(info.reason)
        assert not info.check_failed
        assert (after is trace) == (not info.accepted)
    assert outcomes == {None, "out of support at 'x'"}


def test_a_departure_with_no_way_back_is_an_error():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], read(model_in["x"]) + 1)

    with pytest.raises(SupportError, match=r"is outside the support of uniform\(low=0, high=1\)") as caught:
        step(f, bounded, {"x": 0.5})
    assert caught.value.address == ("x",)
    assert isinstance(caught.value.__cause__, InvolutionError)
    assert "which was 0.5, comes back as 2.5" in str(caught.value)
    trace, info = step(f, bounded, {"x": 0.5}, check=False)
    assert not info.accepted and info.reason == "out of support at 'x'"


def test_a_departure_where_the_model_cannot_run_is_checked_by_the_transform_alone():
    """A random walk on a standard deviation proposes negative ones; rejecting these is right."""

    @gen
    def model():
        sd = ~uniform(0, 1)
        y = ~normal(0, sd)

    @transform
    def f(model_in, *, model_out):
        write(model_out["sd"], -read(model_in["sd"]))

    @transform
    def g(model_in, *, model_out):
        write(model_out["sd"], -2 * read(model_in["sd"]))

    _, info = step(f, model)
    assert not info.accepted and info.reason == "out of support at 'sd'"
    with pytest.raises(SupportError, match="the way back from there fails"):
        step(g, model)


# --- check="reject" ----------------------------------------------------------------------------------


def reject(f, caplog, **options):
    with caplog.at_level(logging.WARNING, logger="gendsl"):
        trace, info = step(f, check="reject", **options)
    assert not info.accepted and info.check_failed and info.log_accept_ratio == -math.inf
    (record,) = caplog.records
    assert record.name == "gendsl" and record.levelno == logging.WARNING
    return info, record.getMessage()


def test_a_rejected_failure_is_logged(caplog):
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], read(model_in["x"]) + 1)  # logged

    info, message = reject(f, caplog, init={"x": 2.0})
    assert "transform f failed a check, the proposal is rejected" in message
    assert "which was 2.0, comes back as 4.0" in message
    assert f"{__file__}:{line_of('# logged')}" in message
    assert info.reason.startswith("transform f is not an involution")


def test_arithmetic_that_fails_is_rejected(caplog):
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], math.sqrt(read(model_in["x"])))

    info, message = reject(f, caplog, init={"x": -1.0})
    assert info.reason == "ValueError: math domain error"
    with pytest.raises(ValueError, match="math domain error"):
        step(f, init={"x": -1.0}, check=True)


def test_parameters_that_a_proposal_makes_invalid_are_rejected(caplog):
    @gen
    def model():
        x = ~normal(0, 1)
        y = ~normal(0, 1 + x)

    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], -read(model_in["x"]))

    info, message = reject(f, caplog, model=model, init={"x": 2.0})
    assert info.reason.startswith("normal: sd must be positive") and "address: 'y'" in message
    with pytest.raises(ParameterError):
        step(f, model, {"x": 2.0})


def test_nan_is_rejected(caplog):
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], read(model_in["x"]) * math.inf - math.inf)

    info, _ = reject(f, caplog, init={"x": 1.0})
    assert info.reason == "the value written here is NaN"


def test_mistakes_in_the_program_are_not_rejected():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], [][0])

    with pytest.raises(IndexError):
        step(f, check="reject")


# --- random test cases -------------------------------------------------------------------------------


@gen
def clusters(n):
    k = ~(1 + poisson(1))
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        ("x", i) @ ~normal(mu[i % k], 1)


@gen
def choose(trace):
    birth = ~bernoulli(1.0 if trace["k"] == 1 else 0.5)
    if birth:
        new = ~normal(0, 10)
    else:
        idx = ~uniform_discrete(0, trace["k"] - 1)


@transform
def flawed(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    birth = read(aux_in["birth"], discrete)
    write(aux_out["birth"], not birth, discrete)
    if birth:
        write(model_out["k"], k + 1, discrete)
        copy(aux_in["new"], model_out["mu", k])
        write(aux_out["idx"], k, discrete)  # always the last
    else:
        idx = read(aux_in["idx"], discrete)
        write(model_out["k"], k - 1, discrete)
        copy(model_in["mu", idx], aux_out["new"])
        for j in range(idx + 1, k):
            copy(model_in["mu", j], model_out["mu", j - 1])


def test_a_flawed_move_is_found_and_explained():
    report = check_involutive(clusters, (3,), choose, flawed, observed="x", n=100, rng=1)
    assert not report and not report.ok
    assert report.name == "flawed" and report.cases == 100 and 10 < len(report.failures) < 60
    case, error = report.failures[0]
    assert isinstance(error, InvolutionError) and error.address == report.address
    assert report.location == error.location and report.location.filename == __file__
    text = str(report)
    assert f"flawed: {len(report.failures)} of 100 random cases failed; the first, case {case}:" in text
    assert "InvolutionError: transform flawed is not an involution" in text
    assert "which was" in text and "comes back as" in text
    assert "model trace:" in text and "auxiliary trace:" in text and "birth" in text
    model, aux = report.first_case
    assert model["k"] > 1 and aux["birth"] is False
    with pytest.raises(InvolutionError):
        report.raise_if_failed()


@transform
def corrected(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    birth = read(aux_in["birth"], discrete)
    write(aux_out["birth"], not birth, discrete)
    if birth:
        write(model_out["k"], k + 1, discrete)
        copy(aux_in["new"], model_out["mu", k])
    else:
        write(model_out["k"], k - 1, discrete)
        copy(model_in["mu", k - 1], aux_out["new"])


@gen
def choose_last(trace):
    birth = ~bernoulli(1.0 if trace["k"] == 1 else 0.5)
    if birth:
        new = ~normal(0, 10)


def test_a_correct_move_passes():
    report = check_involutive(clusters, (3,), choose_last, corrected, observed=["x"], n=100, rng=1)
    assert report and report.failures == () and report.address is None and report.location is None
    assert str(report) == (
        "corrected: 100 random cases, all passed\n"
        "  so many find a mistake on 2% of the prior with probability 0.87"
    )
    report.raise_if_failed()


def test_departures_are_counted():
    report = check_involutive(bounded, (), walk, shift, n=100, rng=1)
    assert report.ok and 20 < report.departures < 90
    assert str(report).startswith("shift: 100 random cases, all passed")
    outside = f"({report.departures} led out of the support, and back: {report.departures}% of the proposals)"
    assert outside in str(report)


@transform
def to_minus(model_in, *, model_out):
    write(model_out["x"], -read(model_in["x"]))


def test_a_move_that_always_leaves_the_support_fails():
    """-x of a uniform x on (0, 1): the way back is right, and no proposal can ever be accepted."""

    @gen
    def unit():
        x = ~uniform(0, 1)

    report = check_involutive(unit, (), None, to_minus, rng=1)
    assert not report.ok and report.departures == report.proposals == report.cases == CASES
    assert report.departed == 1.0 and report.address == ("x",)
    assert report.location.filename == __file__ and report.location.function == "to_minus"
    model, aux = report.first_case
    assert 0 < model["x"] < 1 and aux is None
    with pytest.raises(SupportError, match=f"in all of {CASES} proposals.*-0.* is outside the support"):
        report.raise_if_failed()
    text = str(report)
    assert f"to_minus: none of {CASES} random cases can be accepted; the first, case 0:" in text
    assert "outside the support of uniform(low=0, high=1)" in text and "map into the support" in text


def test_one_proposal_inside_the_support_is_enough():
    @gen
    def mostly_positive():
        x = ~uniform(-0.02, 1)

    report = check_involutive(mostly_positive, (), None, to_minus, n=400, rng=1)
    assert report.ok and 0.9 < report.departed < 1.0


def test_both_directions_of_a_pair_are_proposals():
    @gen
    def unit():
        x = ~uniform(0, 1)

    @transform
    def up(model_in, *, model_out):
        write(model_out["x"], read(model_in["x"]) + 0.9)

    @transform
    def down(model_in, *, model_out):
        write(model_out["x"], read(model_in["x"]) - 0.9)

    report = check_involutive(unit, (), None, pair(up, down), n=100, rng=1)
    assert report.ok and report.proposals == 200 and 0.8 < report.departed < 0.98
    wrong = str(check_involutive(unit, (), None, pair(up, to_minus), n=10, rng=1))
    assert "10 of 10 random cases failed" in wrong


def test_the_report_says_how_probably_a_rare_mistake_is_found():
    """A mistake on 2 % of the prior, in 80 runs of 30 cases; the default finds it with probability 0.98."""

    @gen
    def unit():
        x = ~uniform(0, 1)

    @transform
    def wrong_below(model_in, *, model_out):
        x = read(model_in["x"])
        write(model_out["x"], x + 0.1 if x < 0.02 else x)

    reports = [check_involutive(unit, (), None, wrong_below, n=30, rng=seed) for seed in range(80)]
    power = reports[0].power
    assert power == pytest.approx(1 - 0.98**30)
    found = sum(not report for report in reports) / 80
    assert abs(found - power) < 3 * math.sqrt(power * (1 - power) / 80)
    report = check_involutive(unit, (), None, wrong_below, rng=1)
    assert report.cases == CASES == 194 and 0.98 <= report.power < 0.981 and not report


def test_a_seed_gives_the_same_cases():
    reports = [check_involutive(clusters, (3,), choose, flawed, n=50, rng=seed) for seed in (1, 1, 2)]
    cases = [[case for case, _ in report.failures] for report in reports]
    assert cases[0] == cases[1] != cases[2]


def test_observed_choices_are_held_fixed():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x", 0], -read(model_in["x", 0]))

    assert check_involutive(clusters, (2,), None, f, n=5, rng=1).ok
    for observed in ("x", ["x"], ("x", 0), select("x"), {"x"}):
        report = check_involutive(clusters, (2,), None, f, observed=observed, n=5, rng=1)
        assert len(report.failures) == 5
        assert "observation of model_out" in str(report)
        assert report.address == ("x", 0)


def test_arguments_of_the_auxiliary_program_reach_both():
    @gen
    def q(trace, p):
        j = ~categorical(p)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        assert aux_in.args == ([0.5, 0.5],)
        copy(aux_in["j"], aux_out["j"])

    assert check_involutive(clusters, (1,), q, f, q_args=([0.5, 0.5],), n=5, rng=1).ok


def test_the_examples_of_the_paper_are_told_apart():
    """A read of an address that exists in some cases only fails in the others."""

    @transform
    def f(model_in, *, model_out):
        write(model_out["mu", 1], -read(model_in["mu", 1]))

    report = check_involutive(clusters, (0,), None, f, n=60, rng=1)
    assert 0 < len(report.failures) < 60
    assert all(isinstance(error, ReadError) for _, error in report.failures)
    assert all(isinstance(error, GenDSLError) for _, error in report.failures)


@pytest.mark.parametrize("check", [False, True])
def test_a_vector_that_is_forgotten_when_its_length_changes(check):
    """It would be out of its support in every proposal, and the move would never be accepted."""

    @gen
    def model():
        k = ~uniform_discrete(2, 3)
        w = ~dirichlet([1.0] * k)

    @transform
    def f(model_in, *, model_out):
        write(model_out["k"], 5 - read(model_in["k"]))

    with pytest.raises(LabelError, match=r"is now continuous \(2-dimensional\)") as caught:
        step(f, model, {"k": 2}, check=check)
    assert caught.value.address == ("w",)


def test_check_of_the_support_with_an_observation_of_another_length():
    """Observations stay whatever their distribution is; the proposal is out of support, and rejected."""

    @gen
    def model():
        k = ~uniform_discrete(2, 3)
        w = ~dirichlet([1.0] * k)

    @transform
    def f(model_in, *, model_out):
        write(model_out["k"], 5 - read(model_in["k"]))

    trace, _ = model.generate((), {"w": np.array([0.25, 0.75])}, init={"k": 2})
    after, info = involutive_mcmc(trace, None, (), f, check=True)
    assert after is trace and info.reason == "out of support at 'w'"


# --- derivatives against finite differences ------------------------------------------------------------


def bisect(function, target):
    low, high = -60.0, 60.0
    for _ in range(120):
        middle = (low + high) / 2
        if function(middle) < target:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@gen
def one_exponential():
    x = ~exponential(1.0)


@gen
def another_exponential(trace):
    u = ~exponential(1.0)


@transform
def found_by_comparing(model_in, aux_in, *, model_out, aux_out):
    """(x, u) -> (u + g(u), x - k(x)), g and its companion found by bisection: an exact involution."""
    x, u = read(model_in["x"]), read(aux_in["u"])
    write(model_out["x"], u + bisect(lambda y: y**3, u))
    write(aux_out["u"], x - bisect(lambda y: y + y**3, x))


def test_a_value_found_by_comparing_has_lost_its_derivative_and_the_test_cases_say_so():
    report = check_involutive(one_exponential, (), another_exponential, found_by_comparing, n=10, rng=0)
    assert len(report.failures) == 10
    error = report.failures[0][1]
    assert isinstance(error, DerivativeError)
    assert error.location.function == "found_by_comparing"
    assert "not that of finite differences" in str(report)


def test_finite_differences_agree_with_vectors_simplexes_and_covariances():
    @gen
    def model():
        w = ~dirichlet([2.0, 1.0, 3.0])
        v = ~mvnormal([0.0, 0.0], [[1.0, 0.5], [0.5, 2.0]])
        s = ~gamma(2, 1)

    @transform
    def f(model_in, *, model_out):
        w, v, s = read(model_in["w"]), read(model_in["v"]), read(model_in["s"])
        write(model_out["w"], w[::-1])
        write(model_out["v"], np.array([-v[0], v[1] / s**0]))
        write(model_out["s"], 1 / s)

    report = check_involutive(model, (), None, f, n=20, rng=0)
    assert report.ok, str(report)


# --- discrete choices that nothing of the output tells ----------------------------------------------


@gen
def labelled():
    k = ~poisson(1)
    label = ~categorical([0.2, 0.8])


@gen
def tossed(trace):
    coin = ~bernoulli(0.3)


@gen
def certain(trace):
    coin = ~bernoulli(1.0)


@transform
def forget_a_toss(model_in, aux_in, *, model_out, aux_out):
    write(model_out["label"], 1 - read(model_in["label"]))
    write(aux_out["coin"], True)


@transform
def forget_a_label(model_in, *, model_out):
    write(model_out["label"], 1)


@transform
def keep_all(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["coin"], aux_out["coin"])
    write(model_out["label"], 1 - read(model_in["label"]))


def test_a_discrete_choice_that_is_lost_is_an_error_without_check():
    trace = labelled.generate((), init={"k": 1, "label": 1}).trace
    for q, f, address in ((tossed, forget_a_toss, ("coin",)), (None, forget_a_label, ("label",))):
        with pytest.raises(CoverageError, match="neither reads nor copies a discrete choice") as error:
            involutive_mcmc(trace, q, (), f, rng=1)
        assert error.value.address == address
    involutive_mcmc(trace, tossed, (), keep_all, rng=1)
    involutive_mcmc(trace, certain, (), forget_a_toss, rng=1)  # it has no other value


# --- signs -------------------------------------------------------------------------------------------


@gen
def momentum(trace):
    p = ~normal(0, 1)
    kind = ~bernoulli(0.5)


@gen
def vector_and_scale():
    x = ~iid(normal(0, 1), 2)
    s = ~gamma(2, 1)


@gen
def vector_momentum(trace):
    p = ~iid(normal(0, 1), 2)


@transform
def drift(model_in, aux_in, *, model_out, aux_out, turn=1.0):
    x, p = read(model_in["x"]), read(aux_in["p"])
    write(model_out["x"], x + 0.3 * p)
    write(aux_out["p"], turn * p)
    copy(aux_in["kind"], aux_out["kind"])


@transform
def vector_drift(model_in, aux_in, *, model_out, aux_out, turn=1.0):
    x, p = read(model_in["x"]), read(aux_in["p"])
    p = p - 0.2 * np.sin(x)
    write(model_out["x"], x + 0.3 * p)
    write(aux_out["p"], turn * (p - 0.2 * np.sin(x + 0.3 * p)))


@pytest.mark.parametrize(
    ("model", "q", "f"), [(one_normal, momentum, drift), (vector_and_scale, vector_momentum, vector_drift)]
)
def test_a_momentum_that_is_not_turned_round_is_named(model, q, f):
    assert check_involutive(model, (), q, f.bind(turn=-1.0), rng=1)
    with pytest.raises(InvolutionError) as caught:
        check_involutive(model, (), q, f, rng=1).raise_if_failed()
    assert "forget to flip a sign? If minus the value is written to aux_out['p']" in caught.value.fix


def test_a_value_that_comes_back_with_the_other_sign():
    @transform
    def rotation(model_in, aux_in, *, model_out, aux_out):
        write(model_out["x"], read(aux_in["p"]))
        write(aux_out["p"], -read(model_in["x"]))
        copy(aux_in["kind"], aux_out["kind"])

    with pytest.raises(InvolutionError) as caught:
        check_involutive(one_normal, (), momentum, rotation, rng=1).raise_if_failed()
    assert "forget to flip a sign?" in caught.value.fix

    @transform
    def quarter(model_in, *, model_out):
        x = read(model_in["x"])
        write(model_out["x"], [-x[1], x[0]])

    with pytest.raises(InvolutionError, match="comes back as") as caught:
        check_involutive(vector_and_scale, (), None, quarter, rng=1).raise_if_failed()
    assert caught.value.fix.startswith("it comes back with the other sign: did you forget to flip a sign")


@pytest.mark.parametrize("shift", [0.1, -0.1])
def test_other_mistakes_have_no_hint_about_signs(shift):
    @transform
    def wrong(model_in, aux_in, *, model_out, aux_out):
        write(model_out["x"], read(aux_in["p"]) + shift)
        write(aux_out["p"], read(model_in["x"]))
        copy(aux_in["kind"], aux_out["kind"])

    with pytest.raises(InvolutionError) as caught:
        check_involutive(one_normal, (), momentum, wrong, rng=1).raise_if_failed()
    assert "sign" not in caught.value.fix


def test_a_guess_about_signs_that_can_not_be_tried_is_dropped():
    @gen
    def offset(trace):
        u = ~normal(0, 1)

    @transform
    def grows(model_in, aux_in, *, model_out, aux_out):
        x, u = read(model_in["x"]), read(aux_in["u"])
        assert x < 100 or u > 0
        write(model_out["x"], x + 1000)
        write(aux_out["u"], u if u > 0 else -u)

    with pytest.raises(InvolutionError) as caught:
        check_involutive(one_normal, (), offset, grows, rng=1).raise_if_failed()
    assert "the branch taken on the way back" in caught.value.fix
