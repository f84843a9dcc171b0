"""The steps of `birth_death` and `split_merge` as one text are the interpreter's, in each of their forms."""

import math
import os

import numpy as np
import pytest

from examples import mixture_hyper
from gendsl import (
    bernoulli,
    beta,
    copy,
    dirichlet,
    discrete,
    gamma,
    gen,
    iid,
    inv_wishart,
    mvnormal,
    normal,
    pair,
    poisson,
    product,
    read,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.errors import KernelError
from gendsl.inference import birth_death, involutive, sample, split_merge
from gendsl.inference.component_choices import labels_of
from gendsl.testing import running_on, runtimes
from tests.compiler.closed_steps import WAYS
from tests.compiler.test_closed_move import Move, compiled, outcomes

LONG = [False, True] if os.environ.get("GENDSL_LONG") else []

# --- models ------------------------------------------------------------------------------------------


@gen
def sums(n, rate):
    k = ~poisson(rate)
    total = 0.0
    for j in range(k):
        total += ("mu", j) @ ~normal(0, 2)
        total += ("shift", j) @ ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(total, 1)


@gen
def made(sd):
    centre = ~normal(0, sd)
    width = ~gamma(2, 0.5)
    return centre * width


@gen
def hierarchy(n):
    sd = ~gamma(3, 1)
    k = ~poisson(0.5 + sd)
    total = sum([("part", j) @ ~made(sd) for j in range(k)])
    for i in range(n):
        ("y", i) @ ~normal(total, 1)


@gen
def shares(n):
    k = ~uniform_discrete(1, 5)
    weights = ~dirichlet([1.0] * k)
    mu = [("mu", j) @ ~normal(0, 2) for j in range(k)]
    for i in range(n):
        ("y", i) @ ~normal(sum(w * m for w, m in zip(weights, mu, strict=True)), 1)


@gen
def sites(n):
    k = ~uniform_discrete(1, 6)
    low = total = 0.0
    for j in range(k):
        low = ("site", j) @ ~uniform(low, 10.0)
        total += low
    for i in range(n):
        ("y", i) @ ~normal(total, 2)


@gen
def whole_sites(n):
    k = ~uniform_discrete(1, 6)
    low = total = 0
    for j in range(k):
        low = ("site", j) @ ~uniform_discrete(low, 4)
        total += low
    for i in range(n):
        ("y", i) @ ~normal(total, 2)


@gen
def part():
    deep = ~bernoulli(0.5)
    if deep:
        for i in range(2):
            ("x", i) @ ~normal(0, 1)
    return deep


@gen
def parts(n):
    k = ~uniform_discrete(0, 4)
    found = [("part", j) @ ~part() for j in range(k)]
    for i in range(n):
        ("y", i) @ ~normal(float(sum(found)), 1)


@gen
def how_many(most):
    k = ~uniform_discrete(0, most)
    return k


@gen
def called(n):
    """The number of components is chosen in a call, and its support depends on another choice."""
    most = ~uniform_discrete(2, 4)
    k = "size" @ ~how_many(most)
    mu = [("mu", j) @ ~normal(0, 1) for j in range(k)]
    for i in range(n):
        ("y", i) @ ~normal(sum(mu), 1)


@gen
def labelled(n):
    k = ~uniform_discrete(1, 4)
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("y", i) @ ~normal(mu[z], 1)


@gen
def labelled_backwards(n):
    """The labels are made in another order than their numbers', which are those of the data points."""
    k = ~uniform_discrete(1, 4)
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    for i in reversed(range(n)):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("y", i) @ ~normal(mu[z], 1)


@gen
def labelled_at_once(n):
    k = ~uniform_discrete(1, 4)
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    z = ~iid(uniform_discrete(0, k - 1), n)
    for i in range(n):
        ("y", i) @ ~normal(mu[z[i]], 1)


# --- what the moves are given ------------------------------------------------------------------------


@gen
def new_pair(trace):
    mu = ~normal(0, 2)
    shift = ~normal(0, 1)


@gen
def new_share(trace):
    mu = ~normal(0, 2)
    weights = ~beta(1, trace["k"])


@gen
def new_site(trace):
    site = ~uniform(0, 10)


@gen
def new_whole_site(trace):
    site = ~uniform_discrete(0, 4)


@gen
def new_part(trace):
    part_ = "part" @ ~part()


@gen
def new_mu(trace):
    mu = ~normal(0, 3)


@gen
def offset(trace, j):
    u = ~normal(0, 1)
    return {"u": u}


@gen
def offset_and_share(trace, j):
    u = ~normal(0, 1)
    v = ~beta(2, 2)


def make_room(weights, new):
    return [w * (1 - new) for w in weights]


def close_up(weights, old):
    return [w / (1 - old) for w in weights]


def apart(one, u):
    return {"mu": one["mu"] - u["u"]}, {"mu": one["mu"] + u["u"]}


def together(first, second):
    return {"mu": (first["mu"] + second["mu"]) / 2}, {"u": (second["mu"] - first["mu"]) / 2}


def share_out(one, u):
    w, v = one["weights"], u["v"]
    return (
        {"mu": one["mu"] - u["u"], "weights": w * v},
        {"mu": one["mu"] + u["u"], "weights": w * (1 - v)},
    )


def share_together(first, second):
    w = first["weights"] + second["weights"]
    one, u = together(first, second)
    return {"mu": one["mu"], "weights": w}, {
        "u": u["u"],
        "v": first["weights"] / w,
    }


def halves(trace, points, first, second):
    return np.array([0.25 if trace["y", int(i)] < first["mu"] else 0.75 for i in points])


def more_where_few(trace):
    return 0.6 if trace["k"] < 3 else 0.3


@gen
def arrays(n, spread):
    k = ~(1 + poisson(1.5))
    at = [("at", j) @ ~product(normal, [0.0, 1.0], [1.0, spread]) for j in range(k)]
    tilt = [("tilt", j) @ ~mvnormal(np.zeros(2), np.array([[1.0, 0.2], [0.2, spread]])) for j in range(k)]
    share = [("share", j) @ ~dirichlet([0.5, 1.0, spread]) for j in range(k)]
    for i in range(n):
        ("y", i) @ ~normal(sum(x[0] * s[1] + t[1] for x, t, s in zip(at, tilt, share, strict=True)), 1)


@gen
def unlike(n, spread):
    k = ~(1 + poisson(1.5))
    for j in range(k):
        ("at", j) @ ~product(normal, [0.0, 1.0], [1.0, spread + j])
    for i in range(n):
        ("y", i) @ ~normal(0, 1)


@gen
def spreads(n):
    k = ~poisson(1.0)
    covariances = [("covariance", j) @ ~inv_wishart(4, [[1.0, 0.2], [0.2, 1.0]]) for j in range(k)]
    for i in range(n):
        ("y", i) @ ~normal(0, 1 + sum(c[0, 0] + c[0, 1] + c[1, 1] for c in covariances))


@gen
def new_spread(trace):
    covariance = ~inv_wishart(3.5, [[1.0, 0.0], [0.0, 2.0]])


MOVES = {
    "covariances": (spreads, (3,), birth_death("covariance", propose=new_spread)),
    "swap": (sums, (2, 2.0), birth_death("mu", "shift", propose=new_pair)),
    "shift": (sums, (2, 2.0), birth_death("mu", "shift", propose=new_pair, insert="shift", birth=0.3)),
    "last": (sums, (2, 2.0), birth_death("mu", "shift", propose=new_pair, insert="last", most=6)),
    "chance": (sums, (2, 2.0), birth_death("mu", "shift", propose=new_pair, birth=more_where_few)),
    "lambda": (sums, (2, 2.0), birth_death("mu", "shift", propose=new_pair, birth=lambda trace: 0.4)),
    "weights": (
        shares, (2,), birth_death("mu", propose=new_share, vectors={"weights": (make_room, close_up)}),
    ),
    "prior": (sums, (2, 2.0), birth_death("mu", "shift")),
    "prior of arrays": (arrays, (2, 2.0), birth_death("at", "tilt", "share")),
    "prior of a call": (hierarchy, (2,), birth_death("part", least=1)),
    "sorted": (sites, (1,), birth_death("site", propose=new_site, insert="sorted")),
    "sorted with ties": (whole_sites, (1,), birth_death("site", propose=new_whole_site, insert="sorted")),
    "calls": (parts, (2,), birth_death("part", propose=new_part)),
    "number in a call": (called, (2,), birth_death("mu", propose=new_mu, number=("size", "k"))),
    "empty": (labelled, (3,), birth_death("mu", propose=new_mu, allocations="z")),
    "empty, at once": (labelled_at_once, (3,), birth_death("mu", propose=new_mu, allocations="z")),
    "empty, last": (labelled, (3,), birth_death("mu", propose=new_mu, allocations="z", insert="last")),
    "split": (
        labelled, (4,), split_merge("mu", bijection=(apart, together), auxiliary=offset, allocations="z"),
    ),
    "split, at once": (
        labelled_at_once, (4,),
        split_merge("mu", bijection=(apart, together), auxiliary=offset, allocations="z", allocate=halves),
    ),
    "split, backwards": (
        labelled_backwards, (4,),
        split_merge("mu", bijection=(apart, together), auxiliary=offset, allocations="z", allocate=halves),
    ),
    "adjacent": (
        labelled, (4,),
        split_merge(
            "mu", bijection=(apart, together), auxiliary=offset, allocations="z", order="mu",
            pairs="adjacent", split=more_where_few,
        ),
    ),
    "split weights": (
        shares, (2,),
        split_merge(
            "mu", bijection=(share_out, share_together), auxiliary=offset_and_share, vectors=["weights"],
            order="mu",
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "check", "way"),
    [
        pytest.param(name, check, *getattr(way, "values", [way]), marks=getattr(way, "marks", ()))
        for place, name in enumerate(MOVES)
        for turn, way in enumerate(WAYS)
        for check in (LONG or [bool((place + turn) % 2)])
    ],
)
def test_forms(name, check, way):
    """Checked or not, by turns; both with GENDSL_LONG=1."""
    model, args, kernel = MOVES[name]
    trace = model.generate(args, {("y", i): 0.3 * i for i in range(args[0])}, rng=3).trace
    move = Move(kernel.q, kernel.f)
    results = outcomes(way, compiled(trace, move, check=check), trace, move, 150, check)
    assert results.keys() == {"accepted", "rejected"}, results
    assert min(results.values()) > 2, results


def test_labels_are_in_the_order_of_their_numbers():
    trace = labelled_backwards.generate((3,), init={"k": 3, "z": [2, 0, 1]}, rng=3).trace
    assert labels_of(trace, ("z",), 3).tolist() == [2, 0, 1]


@gen
def by_their_number():
    k = ~poisson(0.7)
    for j in range(k):
        ("part", j) @ ~normal(0, 1 / (1 + k))


@gen
def from_another_loop():
    k = ~poisson(0.7)
    scale = 0.0
    for i in range(2):
        scale += ("scale", i) @ ~gamma(2, 1)
    for j in range(k):
        ("part", j) @ ~normal(0, scale)


def shared(count):
    return 1 / (1 + count)


@gen
def by_their_number_elsewhere():
    """What a function makes of their number."""
    k = ~poisson(0.7)
    for j in range(k):
        ("part", j) @ ~normal(0, shared(k))


def either(x):
    if x > 0.5:
        return 2.0
    return 1.0


@gen
def from_two_places():
    """A function that returns in two places."""
    sd = ~gamma(2, 1)
    k = ~poisson(0.7)
    for j in range(k):
        ("part", j) @ ~normal(0, either(sd))


@pytest.mark.parametrize(
    "program",
    [by_their_number, by_their_number_elsewhere, from_another_loop, from_two_places],
    ids=lambda program: program.name,
)
@pytest.mark.parametrize("way", WAYS)
def test_the_prior_where_there_is_none_yet(program, way):
    """Also where more decides on it than arguments and choices at one address each, or their number."""
    kernel = birth_death("part")
    trace = program.generate((), init={"k": 0}, rng=3).trace
    move = Move(kernel.q, kernel.f)
    results = outcomes(way, compiled(trace, move), trace, move, 60)
    assert results.keys() == {"accepted", "rejected"}, results


@gen
def located(centre, spread):
    at = ~normal(centre, spread)
    weight = ~gamma(2, 1 / spread)
    return at * weight


@gen
def hyper(n, base):
    """Priors from choices, arguments and what is computed from them, in functions of their own."""
    centre = ~normal(0, 1)
    sd = ~gamma(3, 0.3)
    k = ~poisson(0.7)
    spread = math.sqrt(sd) + 0.1 * base
    total = sum([("part", j) @ ~located(2 * centre, spread) for j in range(k)])
    level = [("level", j) @ ~normal(-centre, abs(sd)) for j in range(k)]
    for i in range(n):
        ("y", i) @ ~normal(total + sum(level), 1)


def doubled(x, more):
    y = 2 * x
    return y + more, y


@gen
def loadings(n, size):
    """Vectors of a size that is given, of which the distribution is made by functions."""
    sd = ~gamma(3, 0.3)
    k = ~poisson(0.7)
    wide, _ = doubled(sd, 0.5)
    parts = [("part", j) @ ~iid(normal(0, wide), size) for j in range(k)]
    for i in range(n):
        ("y", i) @ ~normal(sum([part[i] for part in parts]), 1)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("program", "args", "namespaces"),
    [
        (hierarchy, (2,), ("part",)),
        (hyper, (2, 2.0), ("part", "level")),
        (loadings, (2, 3), ("part",)),
    ],
    ids=["one", "several", "vectors"],
)
@pytest.mark.parametrize("check", [False, True], ids=["unchecked", "checked"])
def test_the_prior_of_none_that_other_choices_tell(program, args, namespaces, way, check):
    kernel = birth_death(*namespaces)
    trace = program.generate(args, {("y", i): 0.3 for i in range(2)}, init={"k": 0}, rng=3).trace
    move = Move(kernel.q, kernel.f)
    results = outcomes(way, compiled(trace, move, check=check), trace, move, 120, check)
    assert results.keys() == {"accepted", "rejected"}, results


def test_the_prior_of_none_is_an_error_still_where_their_number_is_computed():
    @transform
    def one_more(model_in, aux_in, *, model_out, aux_out, place=None):
        write(model_out["k"], place.others + 1, discrete)

    @transform
    def one_less(model_in, aux_in, *, model_out, aux_out, place=None):
        write(model_out["k"], place.others, discrete)

    kernel = birth_death("part", number=lambda trace: trace["k"], others=pair(one_more, one_less))
    start = ramps.generate((3,), {("y", i): 0.1 for i in range(3)}, init={"k": 1}, rng=3).trace
    for runtime in runtimes():
        with running_on(runtime), pytest.raises(KernelError, match="no component to see the prior"):
            sample(kernel, start, 200, seed=1, progress=False)


@gen
def some_steps(ts, horizon, scale):
    k = ~poisson(0.5)
    at = [("at", j) @ ~uniform(0, horizon) for j in range(k)]
    height = [("height", j) @ ~normal(0, scale) for j in range(k)]
    for i, t in enumerate(ts):
        jumps = [h for a, h in zip(at, height, strict=True) if a < t]
        ("y", i) @ ~normal(sum(jumps), 1)


@pytest.mark.parametrize("way", WAYS)
def test_the_prior_of_none_that_arguments_alone_tell(way):
    kernel = birth_death("at", "height")
    args = [1.0, 2.0, 3.0], 4, 0.5
    trace = some_steps.generate(args, {("y", i): 0.3 for i in range(3)}, init={"k": 0}, rng=3).trace
    move = Move(kernel.q, kernel.f)
    results = outcomes(way, compiled(trace, move), trace, move, 60)
    assert results.keys() == {"accepted", "rejected"}, results


@gen
def ramp():
    slope = ~normal(0, 1)
    start = ~gamma(2, 0.5)
    return slope, start


@gen
def ramps(n):
    k = ~poisson(0.7)
    made = [("part", j) @ ~ramp() for j in range(k)]
    for i in range(n):
        ("y", i) @ ~normal(sum(slope * max(0.0, i - start) for slope, start in made), 1)


@pytest.mark.parametrize("way", WAYS)
def test_the_prior_of_several_choices_is_told_where_there_is_no_component(way):
    kernel = birth_death("part")
    trace = ramps.generate((3,), {("y", i): 0.1 for i in range(3)}, init={"k": 0}, rng=3).trace
    move = Move(kernel.q, kernel.f)
    results = outcomes(way, compiled(trace, move), trace, move, 80)
    assert results.keys() == {"accepted", "rejected"}, results


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_an_example(way):
    """Vectors, allocations, and what shares them out, all at once."""
    y = np.concatenate([np.linspace(-2, -1, 8), np.linspace(1, 3, 8)])
    trace = mixture_hyper.mixture.generate((16,), {"y": y}, init={"k": 3}, rng=1).trace
    for kernel in mixture_hyper.kernel().parts[-2:]:
        move = Move(kernel.q, kernel.f)
        results = outcomes(way, compiled(trace, move), trace, move, 100)
        assert results.keys() == {"accepted", "rejected"}, results


# --- what the interpreter refuses ----------------------------------------------------------------------


def forgetful(one, u):
    return {"mu": one["mu"]}, {"mu": one["mu"] + u["u"], "shift": 0.0}


def forgetful_merge(first, second):
    return {"mu": first["mu"], "shift": second["shift"]}, {"u": second["mu"] - first["mu"]}


@gen
def stranger(trace):
    mu = ~normal(0, 2)
    shift = ~normal(0, 1)
    other = ~bernoulli(0.5)


@gen
def of_other_kind(trace):
    mu = ~normal(0, 2)
    shift = ~bernoulli(0.5)


REFUSED = {
    "a component without a choice": split_merge(
        "mu", "shift", bijection=(forgetful, forgetful_merge), auxiliary=offset
    ),
    "a choice that is none of a component": birth_death("mu", "shift", propose=stranger),
    "a choice of another type": birth_death("mu", "shift", propose=of_other_kind),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", REFUSED)
def test_errors_stay_errors(name, way):
    kernel = REFUSED[name]
    trace = sums.generate((2, 2.0), {("y", i): 0.3 for i in range(2)}, init={"k": 2}, rng=3).trace
    move = Move(kernel.q, kernel.f)
    results = outcomes(way, compiled(trace, move), trace, move, 40)
    assert results["raises"] > 0, results


@pytest.mark.parametrize("way", WAYS)
def test_components_whose_arrays_have_unlike_priors_stay_an_error(way):
    kernel = birth_death("at")
    trace = unlike.generate((2, 1.0), {("y", i): 0.3 for i in range(2)}, init={"k": 2}, rng=3).trace
    results = outcomes(way, compiled(trace, Move(kernel.q, kernel.f)), trace, Move(kernel.q, kernel.f), 10)
    assert results["raises"] > 0, results


# --- parts of the compiler that these moves need -------------------------------------------------------


@gen
def looks(trace):
    u = ~normal(0, 1)
    return trace["mu", 0]


@transform
def overwrites(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["u"], aux_out["u"])
    write(model_out["mu", 0], -aux_in.retval)


@gen
def one_in_a_box():
    ("mu", 0) @ ~normal(0, 1)
    ("box", "a") @ ~normal(0, 1)


@gen
def two_in_a_bag(trace):
    ("bag", "a") @ ~normal(0, 1)
    ("bag", "b") @ ~bernoulli(0.5)


@transform
def copies_nowhere(model_in, aux_in, *, model_out, aux_out):
    """The model has no such choice as one of those that are copied, which may not be forgotten."""
    copy(aux_in["bag"], model_out["box"])
    copy(model_in["box"], aux_out["bag"])
    copy(aux_in["bag", "b"], aux_out["bag", "b"])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "move", [Move(looks, overwrites), Move(two_in_a_bag, copies_nowhere)], ids=["retval", "copy"]
)
def test_what_a_text_may_not_make_of_a_move(way, move):
    """What an auxiliary program returned has no derivatives, though the program looked at a choice."""
    trace = one_in_a_box.simulate((), rng=3)
    results = outcomes(way, compiled(trace, move), trace, move, 20)
    assert results.keys() == {"raises"}, results


@gen
def labelled(n):
    mu = ~normal(0, 1)
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.4)
        ("x", i) @ ~normal(mu + z, 1)


@gen
def flips(trace):
    """Which labels to change, and to what: the transform is told so, and reads none of them."""
    labels = [trace["z", i] for i in range(3)]
    first = ~bernoulli(0.5)
    if first:
        extra = ~bernoulli(0.3)
        return [i for i in range(3) if labels[i] == extra], extra
    return [0], not labels[0]


@transform
def as_told(model_in, aux_in, *, model_out, aux_out):
    chosen, value = aux_in.retval
    for i in chosen:
        write(model_out["z", i], not value if len(chosen) > 1 else value, discrete)
    copy(aux_in["first"], aux_out["first"])
    if "extra" in aux_in:
        write(aux_out["extra"], not value if len(chosen) > 1 else value, discrete)


@transform
def untold(model_in, aux_in, *, model_out, aux_out):
    write(model_out["z", 0], True, discrete)
    copy(aux_in["first"], aux_out["first"])
    copy(aux_in["extra"], aux_out["extra"])


@gen
def two(trace):
    first = ~bernoulli(0.5)
    extra = ~bernoulli(0.3)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_asked_may_tell_of_discrete_choices_that_are_not_read(way):
    trace = labelled.generate((3,), {("x", i): float(i) for i in range(3)}, rng=3).trace
    move = Move(flips, as_told)
    results = outcomes(way, compiled(trace, move), trace, move, 60)
    assert results["accepted"] > 5
    assert results["rejected"] > 0
    assert set(results) <= {"accepted", "rejected", "raises"}, results
    move = Move(two, untold)
    assert outcomes(way, compiled(trace, move), trace, move, 10).keys() == {"raises"}


@transform
def scaled_covariance(model_in, *, model_out):
    if read(model_in["k"], discrete) > 0:
        write(model_out["covariance", 0], 2.0 * read(model_in["covariance", 0]))


def test_a_map_that_computes_a_covariance_matrix_is_left_to_the_interpreter():
    trace = spreads.generate((1,), {("y", 0): 0.0}, init={"k": 1}, rng=3).trace
    kernel = involutive(None, scaled_covariance)
    assert "the coordinates of ('covariance', None)" in kernel.explain(trace)
