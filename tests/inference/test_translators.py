"""Trace translators: their weights against densities written by hand, there and back, and as estimators."""

import math

import numpy as np
import pytest
from scipy import stats

from gendsl import (
    bernoulli,
    categorical,
    continuous,
    copy,
    errors,
    gamma,
    gen,
    involutive_mcmc,
    log_normal,
    mvnormal,
    normal,
    pair,
    poisson,
    read,
    select,
    transform,
    uniform,
    write,
)
from gendsl.inference import (
    deterministic_translator,
    extending_translator,
    general_translator,
    symmetric_translator,
)
from gendsl.transforms import translators

# --- two models, with auxiliary choices on both sides ------------------------------------------------


@gen
def one():
    x = ~normal(0.2, 1.0)
    label = ~bernoulli(0.3)
    "y" @ ~normal(x, 1.0)


@gen
def two(n):
    a = ~normal(0.0, 2.0)
    kind = ~categorical([0.5, 0.2, 0.3])
    b = ~gamma(2.0, 1.0)
    for i in range(n):
        ("data", i) @ ~normal(a, 1.0 + 0.1 * kind)


@gen
def there(trace, sd):
    u = ~normal(trace["x"], sd)
    w = ~gamma(3.0, 0.5)
    if trace["label"]:
        more = ~bernoulli(0.6)


@gen
def back(trace):
    c = ~normal(0.3 * trace["a"], 1.5)


@transform
def f(model_in, aux_in, *, model_out, aux_out):
    x, u, w = read(model_in["x"]), read(aux_in["u"], continuous), read(aux_in["w"])
    write(model_out["a"], x + 2.0 * u, continuous)
    write(model_out["b"], w * np.exp(x))
    copy(aux_in["u"], aux_out["c"])
    kind = 0 if not read(model_in["label"]) else 1 + int(read(aux_in["more"]))
    write(model_out["kind"], kind)


@transform
def g(model_in, aux_in, *, model_out, aux_out):
    a, u = read(model_in["a"]), read(aux_in["c"])
    x = a - 2.0 * u
    write(model_out["x"], x)
    write(aux_out["u"], u)
    write(aux_out["w"], read(model_in["b"]) * math.exp(-x))
    kind = read(model_in["kind"])
    write(model_out["label"], kind > 0)
    if kind > 0:
        write(aux_out["more"], kind == 2)


DATA = {"data": [0.4, -0.3, 1.1]}


def translator(**options):
    return general_translator(
        pair(f, g), two, (3,), DATA, forward=there, forward_args=(0.7,), backward=back, **options
    )


def weight_by_hand(old, new, aux, sd):
    """new - old + backward - forward + log |det J|, by scipy."""
    log = 0.0
    log += stats.norm(0, 2).logpdf(new["a"]) + math.log([0.5, 0.2, 0.3][new["kind"]])
    log += stats.gamma(2.0).logpdf(new["b"])
    log += sum(stats.norm(new["a"], 1 + 0.1 * new["kind"]).logpdf(y) for y in DATA["data"])
    log -= stats.norm(0.2, 1).logpdf(old["x"]) + math.log(0.3 if old["label"] else 0.7)
    log -= stats.norm(old["x"], 1).logpdf(old["y"])
    log += stats.norm(0.3 * new["a"], 1.5).logpdf(aux["c"])
    w = new["b"] * math.exp(-old["x"])
    log -= stats.norm(old["x"], sd).logpdf(aux["c"]) + stats.gamma(3.0, scale=0.5).logpdf(w)
    if old["label"]:
        log -= math.log(0.6 if new["kind"] == 2 else 0.4)
    return log + old["x"]  # the Jacobian's determinant is -exp(x)


def old_traces(n, seed=0):
    rng = np.random.default_rng(seed)
    return [one.generate((), {"y": 0.5}, rng=rng).trace for _ in range(n)]


def test_the_weight_is_the_one_derived_by_hand():
    kinds = set()
    for seed, old in enumerate(old_traces(30)):
        new, log_weight, info = translator(check=True)(old, rng=seed)
        kinds.add(new["kind"])
        assert log_weight == pytest.approx(weight_by_hand(old, new, info.aux, 0.7), rel=1e-9, abs=1e-9)
        assert info.log_abs_det == pytest.approx(old["x"], rel=1e-9, abs=1e-9)
        assert log_weight == info.log_model_ratio + info.log_aux_ratio + info.log_abs_det
        assert dict(new.observed.items()) == {("data", i): y for i, y in enumerate(DATA["data"])}
    assert kinds == {0, 1, 2}


def there_and_back(n=20):
    """The largest sum of the weights of a translator and of its inverse."""
    worst = 0.0
    for seed, old in enumerate(old_traces(n)):
        forward = translator()
        new, log_weight, info = forward(old, rng=seed)
        returned, log_back, info_back = forward.inverse(old)(new, aux=info.aux.choices)
        assert returned["x"] == pytest.approx(old["x"], rel=1e-9)
        assert returned["label"] == old["label"]
        assert returned.observed == old.observed
        again, log_again, _ = forward(old, aux=info_back.aux.choices)
        assert again["b"] == pytest.approx(new["b"], rel=1e-9)
        worst = max(worst, abs(log_weight + log_back), abs(log_again - log_weight))
    return worst


def test_weights_there_and_back_sum_to_zero():
    assert there_and_back() < 1e-9


@gen
def latent():
    x = ~normal(0.0, 1.0)


@gen
def with_data():
    mean = ~normal(1.0, 1.0)
    sd = ~log_normal(0.0, 0.2)
    y = ~normal(mean, 1.0)


@gen
def propose_sd(trace):
    v = ~log_normal(0.1, 0.25)


@transform
def grow(model_in, aux_in, *, model_out, aux_out):
    x, v = read(model_in["x"]), read(aux_in["v"])
    write(model_out["mean"], 1.2 * x + 0.5)
    write(model_out["sd"], v)


def mean_weight_z(n=1500, seed=1):
    """The z-score of the mean weight from exact draws against the ratio of the evidences."""
    rng = np.random.default_rng(seed)
    go = general_translator(grow, with_data, (), {"y": 1.3}, forward=propose_sd)
    weights = np.array([math.exp(go(latent.simulate((), rng=rng), rng=rng).log_weight) for _ in range(n)])
    exact = stats.norm(1.0, math.sqrt(2.0)).pdf(1.3)
    return (weights.mean() - exact) / (weights.std() / math.sqrt(n))


def test_the_mean_weight_is_the_ratio_of_the_evidences():
    assert abs(mean_weight_z()) < 4


def test_adding_the_forward_score_is_found(monkeypatch):
    correct = translators._weighted

    def wrong(there, aux):
        found = correct(there, aux)
        return found._replace(log_weight=found.log_weight + 2.0 * aux.log_prob)

    monkeypatch.setattr(translators, "_weighted", wrong)
    assert there_and_back(5) > 0.1
    assert abs(mean_weight_z()) > 8


def test_forgetting_the_jacobian_is_found(monkeypatch):
    correct = translators._weighted

    def wrong(there, aux):
        found = correct(there, aux)
        return found._replace(log_weight=found.log_weight - there.log_abs_det)

    monkeypatch.setattr(translators, "_weighted", wrong)
    assert abs(mean_weight_z()) > 8


def test_the_backward_program_may_stand_alone():
    """From two dimensions to one: what is lost goes to the backward program."""

    @gen
    def lost(trace):
        d = ~normal(trace["x"], 2.0)

    @gen
    def plane():
        p = ~normal(0.0, 1.0)
        q = ~normal(0.0, 3.0)

    @transform
    def rotate(model_in, aux_in, *, model_out, aux_out):
        p, q = read(model_in["p"]), read(model_in["q"])
        write(model_out["x"], p + q)
        write(aux_out["d"], p - q)

    old = plane.simulate((), rng=3)
    new, log_weight, info = general_translator(rotate, latent, backward=lost)(old)
    p, q = old["p"], old["q"]
    expected = stats.norm(0, 1).logpdf(p + q) + stats.norm(p + q, 2).logpdf(p - q) + math.log(2.0)
    assert log_weight == pytest.approx(expected - old.log_prob, rel=1e-9)
    assert info.aux["d"] == p - q


# --- deterministic -----------------------------------------------------------------------------------


@gen
def cartesian():
    x, y = "x" @ ~normal(0.3, 1), "y" @ ~normal(0, 2)
    "d" @ ~normal(x, 1)


@gen
def polar():
    r = ~gamma(2, 1)
    angle = ~uniform(-math.pi, math.pi)
    "d" @ ~normal(r * math.cos(angle), 1)


@transform
def to_polar(model_in, *, model_out):
    x, y = read(model_in["x"], continuous), read(model_in["y"], continuous)
    write(model_out["r"], math.sqrt(x * x + y * y))
    write(model_out["angle"], math.atan2(y, x))


@transform
def to_cartesian(model_in, *, model_out):
    r, angle = read(model_in["r"]), read(model_in["angle"])
    write(model_out["x"], r * math.cos(angle))
    write(model_out["y"], r * math.sin(angle))


def test_deterministic_with_new_observations():
    old = cartesian.generate((), {"d": 0.2}, rng=1).trace
    go = deterministic_translator(pair(to_polar, to_cartesian), polar, (), {"d": -0.4}, check=True)
    new, log_weight, info = go(old)
    r = math.hypot(old["x"], old["y"])
    assert info.log_abs_det == pytest.approx(-math.log(r), rel=1e-9)
    assert log_weight == pytest.approx(new.log_prob - old.log_prob - math.log(r), rel=1e-9)
    assert new["d"] == -0.4 and ("d",) in new.observed
    returned, log_back, _ = go.inverse(old)(new)
    assert returned["d"] == 0.2 and returned["y"] == pytest.approx(old["y"], rel=1e-9)
    assert log_weight + log_back == pytest.approx(0.0, abs=1e-9)


def test_a_wrong_inverse_is_found():
    @transform
    def wrong(model_in, *, model_out):
        write(model_out["x"], read(model_in["r"]))
        write(model_out["y"], read(model_in["angle"]))

    go = deterministic_translator(pair(to_polar, wrong), polar, (), {"d": 0.4}, check=True)
    with pytest.raises(errors.InvolutionError, match="is not the inverse of") as caught:
        go(cartesian.generate((), {"d": 0.2}, rng=1).trace)
    assert caught.value.address == ("x",)


@pytest.mark.parametrize("side", ["model_in", "aux_in"])
def test_a_discrete_choice_that_is_not_read_is_found_without_the_inverse(side):
    @gen
    def forward(trace):
        coin = ~bernoulli(0.3)

    @gen
    def backward(trace):
        label = ~bernoulli(0.5)
        coin = ~bernoulli(1.0)

    @transform
    def forget(model_in, aux_in, *, model_out, aux_out):
        copy(model_in["x"], model_out["x"])
        write(aux_out["label"], False if side == "model_in" else read(model_in["label"]))
        write(aux_out["coin"], True if side == "aux_in" else read(aux_in["coin"]))

    @gen
    def other():
        x = ~normal(0, 1)

    old = one.generate((), {"y": 0.0}, init={"label": False}, rng=1).trace
    go = general_translator(forget, other, forward=forward, backward=backward)
    with pytest.raises(errors.CoverageError, match=f"discrete choice of {side}, so nothing says") as caught:
        go(old, aux={"coin": True})
    assert caught.value.address == (("label",) if side == "model_in" else ("coin",))


def test_a_discrete_choice_that_is_lost_is_found():
    @transform
    def drop(model_in, *, model_out):
        read(model_in["label"])
        copy(model_in["x"], model_out["x"])

    @transform
    def guess(model_in, *, model_out):
        copy(model_in["x"], model_out["x"])
        write(model_out["label"], False)

    @gen
    def other():
        x = ~normal(0, 1)

    olds = [one.generate((), {"y": 0.0}, init={"label": label}, rng=1).trace for label in (False, True)]
    go = deterministic_translator(pair(drop, guess), other, check=True)
    go(olds[0])
    with pytest.raises(errors.InvolutionError, match=r"is not restored|comes back as"):
        go(olds[1])


@gen
def coded():
    k = ~categorical([0.5, 0.0, 0.5])
    n = ~poisson(2.0)
    x = ~normal(0, 1)
    w = ~mvnormal([0, 0], np.eye(2))


@gen
def plain():
    x = ~normal(0, 1)
    w = ~mvnormal([0, 0], np.eye(2))


@gen
def which(trace):
    back = ~poisson(3)


@transform
def both_ignored(model_in, *, model_out):
    read(model_in["k"]), read(model_in["n"])
    copy(model_in["x"], model_out["x"])
    write(model_out["w"], 2.0 * read(model_in["w"]))


@transform
def parity_ignored(model_in, aux_in, *, model_out, aux_out):
    k, n = read(model_in["k"]), read(model_in["n"])
    write(model_out["x"], read(model_in["x"]))
    copy(model_in["w"], model_out["w"])
    write(aux_out["back"], 2 * (n // 2) + k // 2)


@transform
def told_by_x(model_in, aux_in, *, model_out, aux_out):
    x = read(model_in["x"])
    write(model_out["x"], -x if read(model_in["k"]) else x)  # at x = 0 only the derivative tells k
    copy(model_in["w"], model_out["w"])
    write(aux_out["back"], read(model_in["n"]))


@transform
def told_by_w(model_in, aux_in, *, model_out, aux_out):
    w = read(model_in["w"])
    write(model_out["w"], np.cumsum(w) * (2.0 if read(model_in["k"]) else 3.0))
    copy(model_in["x"], model_out["x"])
    write(aux_out["back"], read(model_in["n"]))


@pytest.mark.parametrize("f", [both_ignored, parity_ignored], ids=lambda f: f.name)
def test_a_discrete_choice_that_is_read_and_makes_no_difference_is_found_without_the_inverse(f):
    backward = None if f is both_ignored else which
    go = general_translator(f, plain, backward=backward)
    lost = ("k", 0, 2) if f is both_ignored else ("n", 2, 3)
    start = coded.generate((), init={"k": 0, "n": 2}, rng=1).trace
    with pytest.raises(errors.CoverageError, match=f"from {lost[1]} and from {lost[2]} as the") as caught:
        go(start)
    assert caught.value.address == (lost[0],)


@pytest.mark.parametrize("f", [told_by_x, told_by_w], ids=lambda f: f.name)
def test_discrete_choices_that_make_a_difference_are_no_error(f):
    go = general_translator(f, plain, backward=which)
    for k in (0, 2):
        for n in range(12):
            trace = coded.generate((), init={"k": k, "n": n, "x": 0.0, "w": [0.0, 0.0]}).trace
            assert go(trace).trace["x"] == 0.0


def test_a_value_with_which_there_are_other_choices_says_nothing():
    @gen
    def branching():
        many = ~bernoulli(0.5)
        if many:
            more = ~normal(0, 1)
        x = ~normal(0, 1)

    @gen
    def one_normal():
        x = ~normal(0, 1)

    @gen
    def rest(trace):
        more = ~normal(0, 1)

    @transform
    def halve(model_in, *, model_out):  # of the traces without `more`: no other leads there by this
        read(model_in["many"])
        copy(model_in["x"], model_out["x"])

    for _ in range(3):
        go = deterministic_translator(halve, one_normal)
        assert go(branching.generate((), init={"many": False}).trace).trace is not None


def test_an_auxiliary_choice_that_makes_no_difference_is_found():
    @gen
    def forward(trace):
        coin = ~bernoulli(0.3)
        u = ~normal(0, 1)

    @gen
    def two():
        x = ~normal(0, 1)
        z = ~normal(0, 1)

    @gen
    def one_normal():
        x = ~normal(0, 1)

    @transform
    def add(model_in, aux_in, *, model_out, aux_out):
        read(aux_in["coin"])
        copy(model_in["x"], model_out["x"])
        write(model_out["z"], read(aux_in["u"]))

    go = general_translator(add, two, forward=forward)
    with pytest.raises(errors.CoverageError, match="a discrete choice of aux_in") as caught:
        go(one_normal.simulate(rng=1), rng=1)
    assert caught.value.address == ("coin",)


def test_out_of_support_the_weight_is_zero():
    @gen
    def positive(n):
        sd = ~gamma(2, 1)
        for i in range(n):
            ("y", i) @ ~normal(0.0, sd)  # which doesn't run where sd < 0

    @transform
    def same(model_in, *, model_out):
        copy(model_in["x"], model_out["sd"])

    for observations in ({}, {"y": [0.1, 0.2]}):
        go = deterministic_translator(same, positive, (len(observations) * 2,), observations)
        for value in (-1.0, 1.0):
            old = latent.generate((), init={"x": value}).trace
            new, log_weight, info = go(old)
            assert (new is None, log_weight == -math.inf) == (value < 0, value < 0)
            assert info.reason == ("out of support at 'sd'" if value < 0 else None)


def test_impossible_observations_have_weight_zero():
    @gen
    def flat():
        x = ~normal(0, 1)
        y = ~uniform(0, 1)

    @transform
    def same(model_in, *, model_out):
        copy(model_in["x"], model_out["x"])

    new, log_weight, info = deterministic_translator(same, flat, (), {"y": 2.0})(latent.simulate((), rng=1))
    assert new is None and log_weight == -math.inf and "'y'" in info.reason


# --- errors ------------------------------------------------------------------------------------------


def fails(error, message, f, model=None, args=(), observations=None, address=None, **options):
    with pytest.raises(error, match=message) as caught:
        general_translator(f, model or cartesian, args, observations, **options)(latent.simulate((), rng=1))
    if address is not None:
        assert caught.value.address == address
    return caught.value


def test_a_choice_that_is_not_covered():
    @transform
    def half(model_in, *, model_out):
        copy(model_in["x"], model_out["x"])

    error = fails(errors.CoverageError, "neither writes nor copies", half, observations={"d": 0.1})
    assert error.address == ("y",) and "never fills a choice in by sampling" in error.fix


def test_nothing_is_copied_implicitly():
    """Both models have an x; it isn't taken over unless the transform says so."""

    @gen
    def other():
        x = ~normal(0, 1)

    @transform
    def nothing(model_in, *, model_out):
        pass

    fails(errors.CoverageError, "neither writes nor copies", nothing, other, address=("x",))


def test_a_choice_that_is_not_used():
    @gen
    def empty():
        pass

    @transform
    def nothing(model_in, *, model_out):
        pass

    error = fails(errors.DimensionError, "maps 1 free continuous coordinates to 0", nothing, empty)
    assert "model_in['x']" in str(error)


def test_a_surplus_choice():
    @transform
    def surplus(model_in, *, model_out):
        copy(model_in["x"], model_out["z"])

    @gen
    def other():
        k = ~poisson(1)

    fails(errors.CoverageError, "neither writes nor copies", surplus, other, address=("k",))

    @transform
    def both(model_in, *, model_out):
        copy(model_in["x"], model_out["z"])
        write(model_out["k"], 1)

    fails(errors.CoverageError, "doesn't have", both, other, address=("z",))


def test_a_write_to_an_observation():
    @transform
    def clash(model_in, *, model_out):
        write(model_out["d"], 1.0)

    fails(errors.ProtectedObservationError, "observation", clash, observations={"d": 0.1}, address=("d",))

    @gen
    def many(n):
        for i in range(n):
            ("d", i) @ ~normal(0, 1)

    @transform
    def entry(model_in, *, model_out):
        write(model_out["d", 1], 1.0)

    fails(errors.ProtectedObservationError, "observation", entry, many, (2,), {"d": [1.0, 2.0]})


def test_a_surplus_observation():
    @transform
    def same(model_in, *, model_out):
        copy(model_in["x"], model_out["x"])

    fails(errors.UnknownAddressError, "observations", same, latent, (), {"typo": 1.0}, address=("typo",))


def test_parts_that_don_t_fit():
    with pytest.raises(errors.KernelError, match="which is no model"):
        deterministic_translator(to_polar, "model")
    with pytest.raises(errors.KernelError, match="its inverse is not known"):
        deterministic_translator(to_polar, polar, check=True)
    with pytest.raises(errors.KernelError, match="its inverse is not known"):
        deterministic_translator(to_polar, polar).inverse(cartesian.simulate((), rng=1))
    with pytest.raises(errors.HandleError):
        general_translator(to_polar, polar, forward=propose_sd)
    with pytest.raises(errors.KernelError, match="which is no trace"):
        deterministic_translator(to_polar, polar)({"x": 1})
    with pytest.raises(errors.KernelError, match="has no auxiliary program"):
        deterministic_translator(to_polar, polar)(cartesian.simulate((), rng=1), aux={"u": 1.0})
    with pytest.raises(errors.UnknownAddressError, match="aux"):
        translator()(old_traces(1)[0], aux={"u": 1.0, "w": 1.0, "typo": 1, "more": True})


def test_a_start_of_density_zero():
    old = cartesian.generate((), {"d": 0.2}, init={"x": 1e200}, rng=1).trace
    with pytest.raises(errors.ZeroProbabilityError):
        deterministic_translator(to_polar, polar, (), {"d": 0.2})(old)


# --- symmetric ---------------------------------------------------------------------------------------


@gen
def scaled():
    x = ~log_normal(0.3, 0.8)
    y = ~normal(x, 1)


@gen
def propose(trace):
    u = ~log_normal(0.1 * trace["x"], 0.5)


@transform
def invert(model_in, aux_in, *, model_out, aux_out):
    x, u = read(model_in["x"]), read(aux_in["u"])
    write(model_out["x"], x * u)
    write(aux_out["u"], 1 / u)


@transform
def enlarge(model_in, *, model_out):
    write(model_out["x"], 3 * read(model_in["x"]))


@transform
def shrink(model_in, *, model_out):
    write(model_out["x"], read(model_in["x"]) / 3)


def test_symmetric_is_the_ratio_of_the_involutive_move():
    for seed in range(20):
        old = scaled.generate((), {"y": 0.7}, rng=seed).trace
        new, log_weight, info = symmetric_translator(propose, invert, check=True)(old, rng=seed)
        _, move = involutive_mcmc(old, propose, (), invert, rng=seed)
        assert log_weight == pytest.approx(move.log_accept_ratio, rel=1e-12)
        assert new["y"] == 0.7 and ("y",) in new.observed
        returned, log_back, _ = symmetric_translator(propose, invert)(new, aux=info.aux.choices)
        assert returned["x"] == pytest.approx(old["x"], rel=1e-12)
        assert log_weight + log_back == pytest.approx(0.0, abs=1e-12)


def test_symmetric_with_a_pair():
    old = scaled.generate((), {"y": 0.7}, rng=1).trace
    go = symmetric_translator(None, pair(enlarge, shrink), check=True)
    new, log_weight, info = go(old)
    assert new["x"] == 3 * old["x"] and info.log_abs_det == pytest.approx(math.log(3))
    returned, log_back, _ = go.inverse(old)(new)
    assert returned["x"] == pytest.approx(old["x"]) and log_weight + log_back == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(errors.InvolutionError):
        symmetric_translator(None, enlarge, check=True)(old)


# --- extending ---------------------------------------------------------------------------------------


@gen
def walk(n, sd=1.0):
    x = 0.0
    for t in range(n):
        x = ("x", t) @ ~normal(x, sd)
        ("y", t) @ ~normal(x, 0.5)


@gen
def next_x(trace, y):
    t = trace.args[0]
    ("x", t) @ ~normal(y, 0.6)


def test_extending_draws_from_the_prior():
    old = walk.generate((2,), {"y": [0.1, 0.4]}, rng=1).trace
    new, log_weight, _ = extending_translator((3,), {("y", 2): 0.7})(old, rng=2)
    assert [new["x", t] == old["x", t] for t in range(2)] == [True, True]
    assert log_weight == pytest.approx(stats.norm(new["x", 2], 0.5).logpdf(0.7), rel=1e-9)
    assert set(new.observed) == {("y", t) for t in range(3)} and set(old.observed) == {("y", 0), ("y", 1)}
    assert new.log_prob == pytest.approx(walk.assess((3,), new.choices).log_prob, rel=1e-12)


def test_extending_with_a_proposal_and_other_arguments():
    old = walk.generate((1,), {"y": [0.1]}, rng=1).trace
    go = extending_translator((2, 1.5), {("y", 1): 0.7}, proposal=next_x, proposal_args=(0.7,))
    new, log_weight, info = go(old, rng=2)
    x0, x1 = new["x", 0], new["x", 1]
    expected = stats.norm(0, 1.5).logpdf(x0) - stats.norm(0, 1.0).logpdf(x0)
    expected += stats.norm(x0, 1.5).logpdf(x1) + stats.norm(x1, 0.5).logpdf(0.7)
    expected -= stats.norm(0.7, 0.6).logpdf(x1)
    assert log_weight == pytest.approx(expected, rel=1e-9)
    assert info.log_aux_ratio == pytest.approx(-stats.norm(0.7, 0.6).logpdf(x1), rel=1e-12)


def test_extending_by_an_array_and_replacing_data():
    old = walk.generate((2,), {"y": [0.1, 0.4]}, rng=1).trace
    new, _, _ = extending_translator((4,), {"y": [0.2, 0.4, 0.6, 0.8]})(old, rng=2)
    assert [new["y", t] for t in range(4)] == [0.2, 0.4, 0.6, 0.8]
    assert set(new.observed) == {("y", t) for t in range(4)}
    assert ("x", 3) not in new.observed


def test_observed_addresses_stay_few_parts():
    trace = walk.generate((1,), {("y", 0): 0.0}, rng=1).trace
    rng = np.random.default_rng(1)
    for t in range(1, 70):
        trace = extending_translator((t + 1,), {("y", t): 0.1})(trace, rng=rng).trace
    paths = trace.observed_paths
    assert set(paths) == {("y", t) for t in range(70)} and len(paths) == 70
    assert len(getattr(paths, "parts", ())) < 9
    with pytest.raises(errors.ObservedError):
        trace.regenerate(select(("y", 69)))


def test_an_impossible_extension_has_weight_zero():
    @gen
    def bounded(n):
        x = ~uniform(0, 1)
        for t in range(n):
            ("y", t) @ ~uniform(0, x)

    old = bounded.generate((1,), {("y", 0): 0.1}, init={"x": 0.5}).trace
    new, log_weight, info = extending_translator((2,), {("y", 1): 0.7})(old, rng=1)
    assert new is None and log_weight == -math.inf and "('y', 1)" in info.reason


def refuses(error, message, address, **options):
    old = walk.generate((2,), {"y": [0.1, 0.4]}, rng=1).trace
    go = extending_translator(options.pop("args", (3,)), options.pop("observations", {}), **options)
    with pytest.raises(error, match=message) as caught:
        go(old, rng=1)
    assert caught.value.address == address


def test_what_extending_refuses():
    @gen
    def kept(trace):
        ("x", 0) @ ~normal(0, 1)

    @gen
    def data(trace):
        ("y", 2) @ ~normal(0, 1)

    @gen
    def typo(trace):
        ("z", 2) @ ~normal(0, 1)

    @gen
    def count(trace):
        ("x", 2) @ ~poisson(1)

    new = {("y", 2): 0.5}
    refuses(errors.CoverageError, "has already", ("x", 0), proposal=kept)
    refuses(errors.ObservedError, "proposes an observation", ("y", 2), proposal=data, observations=new)
    refuses(errors.UnknownAddressError, "doesn't make", ("z", 2), proposal=typo)
    refuses(errors.LabelError, "discrete", ("x", 2), proposal=count)
    refuses(errors.CoverageError, "is gone", ("x", 1), args=(1,))
    refuses(errors.ObservedError, "latent choice", ("x", 0), observations={("x", 0): 0.5})
    refuses(errors.UnknownAddressError, "the program has no choice", ("y", 9), observations={("y", 9): 0.5})
    with pytest.raises(errors.KernelError, match="the proposal is 'q'"):
        extending_translator((2,), proposal="q")
    with pytest.raises(errors.KernelError, match="proposal_args must be a tuple"):
        extending_translator((2,), proposal=next_x, proposal_args=1)
    with pytest.raises(errors.KernelError, match="has no inverse"):
        extending_translator((2,)).inverse(None)


def test_a_kept_choice_of_another_kind_is_refused():
    @gen
    def either(count):
        x = ~(poisson(2.0) if count else normal(0, 1))

    old = either.simulate((True,), rng=1)
    with pytest.raises(errors.LabelError, match="the extension of the trace keeps this choice"):
        extending_translator((False,))(old)
