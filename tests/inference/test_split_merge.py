"""Split and merge: exact on small models, the acceptance ratio held against a formula, and every error."""

import math
import sys
from importlib import import_module
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
from scipy import stats

from gendsl import (
    bernoulli,
    beta,
    categorical,
    check_involutive,
    dirichlet,
    errors,
    gen,
    iid,
    inv_gamma,
    mixture_of_normals,
    normal,
    poisson,
    uniform_discrete,
)
from gendsl.inference import birth_death, sample, split_merge
from gendsl.inference.split_merge import coins, pair_of_components
from gendsl.testing import assert_exact, enumerate_outcomes, running_on, runtimes, transitions
from gendsl.transforms.apply import run_transform

PACKAGE = Path(errors.__file__).parent

# --- models --------------------------------------------------------------------------------------------


@gen
def levels():
    k = ~uniform_discrete(1, 3)
    level = [("level", j) @ ~categorical([0.2, 0.5, 0.3]) for j in range(k)]
    x = ~bernoulli((1 + level[0] + 2 * level[-1]) / 8)


@gen
def sorted_levels():
    k = ~uniform_discrete(1, 3)
    low = -1
    for j in range(k):
        low = ("level", j) @ ~uniform_discrete(low + 1, max(low + 1, 4 - (k - 1 - j)))
    x = ~bernoulli((1 + low) / 7)


@gen
def allocated(n, most):
    k = ~uniform_discrete(1, most)
    level = [("level", j) @ ~categorical([0.2, 0.8]) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~bernoulli((1 + level[z]) / 4)


@gen
def allocated_by_vector(n, most):
    k = ~uniform_discrete(1, most)
    level = [("level", j) @ ~categorical([0.2, 0.8]) for j in range(k)]
    z = ~iid(uniform_discrete(0, k - 1), n)
    for i in range(n):
        ("x", i) @ ~bernoulli((1 + level[z[i]]) / 4)


@gen
def clusters(n):
    k = ~(1 + poisson(1))
    means = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    variances = [("var", j) @ ~inv_gamma(1, 10) for j in range(k)]
    weights = ~dirichlet([2.0] * k)
    for i in range(n):
        ("x", i) @ ~mixture_of_normals(weights, means, variances)


# --- the bijections ------------------------------------------------------------------------------------


def split_level(one, u):
    return {"level": one["level"]}, {"level": one["level"] + u["step"]}


def merge_levels(first, second):
    return {"level": first["level"]}, {"step": second["level"] - first["level"]}


LEVELS = (split_level, merge_levels)


@gen
def step_anywhere(trace, component):
    level = trace["level", component]
    step = ~uniform_discrete(-level, 2 - level)
    return {"step": step}


def steps_up_to(top):
    @gen
    def step_up(trace, component):
        step = ~uniform_discrete(0, top - trace["level", component])
        return {"step": step}

    return step_up


step_up = steps_up_to(2)
short_step_up = steps_up_to(1)


def by_level(trace, points, first, second):
    return np.full(len(points), (1 + second["level"]) / (3 + first["level"] + second["level"]))


@gen
def three_numbers(trace, component):
    u1 = ~beta(2, 2)
    u2 = ~beta(2, 2)
    u3 = ~beta(1, 1)


def split_cluster(one, u):
    w, mu, var = one["weights"], one["mu"], one["var"]
    u1, u2, u3 = u["u1"], u["u2"], u["u3"]
    first = {
        "weights": w * u1,
        "mu": mu - u2 * math.sqrt(var * (1 - u1) / u1),
        "var": u3 * (1 - u2**2) * var / u1,
    }
    second = {
        "weights": w * (1 - u1),
        "mu": mu + u2 * math.sqrt(var * u1 / (1 - u1)),
        "var": (1 - u3) * (1 - u2**2) * var / (1 - u1),
    }
    return first, second


def merge_clusters(first, second):
    w = first["weights"] + second["weights"]
    u1 = first["weights"] / w
    mu = u1 * first["mu"] + (1 - u1) * second["mu"]
    square = u1 * (first["mu"] ** 2 + first["var"]) + (1 - u1) * (second["mu"] ** 2 + second["var"])
    var = square - mu**2
    u2 = (mu - first["mu"]) / math.sqrt(var * (1 - u1) / u1)
    u3 = first["var"] * u1 / ((1 - u2**2) * var)
    return {"weights": w, "mu": mu, "var": var}, {"u1": u1, "u2": u2, "u3": u3}


CLUSTERS = {"bijection": (split_cluster, merge_clusters), "auxiliary": three_numbers, "vectors": ["weights"]}
X = {("x", 0): True, ("x", 1): False}

# --- pi K = pi -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"auxiliary": step_anywhere},
        {"auxiliary": step_anywhere, "split": 0.3},
        {"auxiliary": step_anywhere, "least": 2},
        {"auxiliary": step_up, "order": "level"},
        {"auxiliary": step_up, "order": "level", "pairs": "adjacent"},
        {"auxiliary": step_anywhere, "order": "level", "pairs": "adjacent"},
    ],
)
def test_exact_on_levels(options):
    kernel = split_merge("level", bijection=LEVELS, check=True, **options)
    found = assert_exact(kernel, levels, (), {"x": True})
    assert found.imbalance < 1e-12


@gen
def at_most_two():
    k = ~uniform_discrete(1, 3)
    level = [("level", j) @ ~categorical([0.2, 0.5, 0.3]) for j in range(k)]
    x = ~bernoulli(0.0 if k == 3 else (1 + level[0] + 2 * level[-1]) / 8)


def test_exact_up_to_most():
    """Nowhere is k = 3, by the observation, and the move never proposes it."""
    kernel = split_merge("level", bijection=LEVELS, auxiliary=step_anywhere, most=2, check=True)
    assert_exact(kernel, at_most_two, (), {"x": True})
    with pytest.raises(errors.KernelError, match="has 3 components, and split_merge was given most=2"):
        kernel(at_most_two.generate((), init={"k": 3}, rng=1).trace, 1)


def test_exact_where_components_are_sorted():
    kernel = split_merge(
        "level", bijection=LEVELS, auxiliary=steps_up_to(4), order="level", pairs="adjacent", ordered=True
    )
    found = assert_exact(kernel, sorted_levels, (), {"x": True})
    sizes = np.array([trace["k"] for trace in found.traces])
    assert found.matrix[np.ix_(sizes == 1, sizes == 2)].sum() > 1.0
    assert found.matrix[np.ix_(sizes == 3, sizes == 2)].sum() > 1.0


@gen
def nested_levels():
    k = ~uniform_discrete(1, 3)
    level = [("part", j, "level") @ ~categorical([0.2, 0.5, 0.3]) for j in range(k)]
    x = ~bernoulli((1 + level[0] + 2 * level[-1]) / 8)


@gen
def nested_step_up(trace, component):
    step = ~uniform_discrete(0, 2 - trace["part", component, "level"])


LEVEL = "part", "level"
NESTED = (
    lambda one, u: ({LEVEL: one[LEVEL]}, {LEVEL: one[LEVEL] + u["step"]}),
    lambda first, second: ({LEVEL: first[LEVEL]}, {"step": second[LEVEL] - first[LEVEL]}),
)


def test_exact_where_the_order_is_that_of_a_choice_below_a_namespace():
    kernel = split_merge("part", bijection=NESTED, auxiliary=nested_step_up, order=LEVEL, pairs="adjacent")
    found = assert_exact(kernel, nested_levels, (), {"x": True})
    sizes = np.array([trace["k"] for trace in found.traces])
    assert found.matrix[np.ix_(sizes == 1, sizes == 2)].sum() > 1.0


def test_a_choice_below_a_namespace_is_named_whole():
    kernel = split_merge("part", bijection=LEVELS, auxiliary=nested_step_up)
    with pytest.raises(errors.KernelError, match="a component has no 'level'") as caught:
        run(kernel, nested_levels)
    assert caught.value.fix == "write its whole address, ('part', 'level')"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "args", "allocate"),
    [(allocated, (2, 2), by_level), (allocated, (1, 3), None), (allocated_by_vector, (2, 2), by_level),
     (allocated_by_vector, (1, 3), by_level)],
)  # fmt: skip
def test_exact_with_allocations(model, args, allocate):
    kernel = split_merge(
        "level", bijection=LEVELS, auxiliary=short_step_up, order="level", allocations="z", allocate=allocate,
        check=True,
    )  # fmt: skip
    x = {("x", i): i == 0 for i in range(args[0])}
    assert_exact(kernel, model, args, x)


@pytest.mark.slow
def test_a_step_without_auxiliary_choices():
    """A component of nothing but its points is split by sharing them out."""

    @gen
    def groups(n):
        k = ~uniform_discrete(1, 3)
        for j in range(k):
            ("group", j) @ ~categorical([1.0])
        z = ~iid(uniform_discrete(0, k - 1), n)
        x = ~bernoulli(0.2 if len(set(z.tolist())) == 1 else 0.6)

    def both(one, u):
        return one, one

    def one(first, second):
        return first, {}

    kernel = split_merge("group", bijection=(both, one), allocations="z", check=True)
    assert_exact(kernel, groups, (3,), {"x": True})


# --- the ratio -----------------------------------------------------------------------------------------


def log_joint(trace, x):
    """log p of a state of `clusters`, all of it, by scipy."""
    k = trace["k"]
    means = np.array([trace["mu", j] for j in range(k)])
    variances = np.array([trace["var", j] for j in range(k)])
    weights = np.asarray(trace["weights"])
    total = stats.poisson.logpmf(k - 1, 1) + stats.norm.logpdf(means, 0, 10).sum()
    total += stats.invgamma.logpdf(variances, 1, scale=10).sum()
    total += stats.dirichlet.logpdf(weights, np.full(k, 2.0)) if k > 1 else 0.0
    return total + sum(np.log(np.sum(weights * stats.norm.pdf(xi, means, np.sqrt(variances)))) for xi in x)


def log_ratio_by_hand(small, large, pairs, x):
    """The log acceptance ratio of a split, with the Jacobian of Richardson and Green's equation (11)."""
    k = small["k"]
    old = {small["mu", j] for j in range(k)}
    new = [j for j in range(k + 1) if large["mu", j] not in old]
    first, second = sorted(new, key=lambda j: large["mu", j])
    gone = next(j for j in range(k) if small["mu", j] not in {large["mu", i] for i in range(k + 1)})
    w, mu, var = small["weights"][gone], small["mu", gone], small["var", gone]
    (w1, mu1, var1), (w2, mu2, var2) = (
        (large["weights"][j], large["mu", j], large["var", j]) for j in (first, second)
    )
    u1 = w1 / w
    u2 = (mu - mu1) / math.sqrt(var * w2 / w1)
    u3 = var1 * u1 / ((1 - u2**2) * var)
    jacobian = w * abs(mu1 - mu2) * var1 * var2 / (u2 * (1 - u2**2) * u3 * (1 - u3) * var)
    split, merge = (1.0 if k == 1 else 0.5), 0.5
    # k + 1 labels: without regard to labels a split picks one of k, a merge of an unordered pair one of `n`;
    # k! and (k + 1)! are the labellings
    n = k * (k + 1) / 2 if pairs == "random" else k
    picks = math.log(merge / n) - math.log(split / (k * (k + 1)))
    u = stats.beta.logpdf(u1, 2, 2) + stats.beta.logpdf(u2, 2, 2)
    return log_joint(large, x) - log_joint(small, x) + picks - u + math.log(jacobian)


@pytest.mark.parametrize("pairs", ["random", "adjacent"])
def test_the_acceptance_ratio_is_that_of_a_formula(pairs):
    kernel = split_merge("mu", "var", order="mu", pairs=pairs, check=True, **CLUSTERS)
    rng = np.random.default_rng(5)
    x = rng.normal(0, 5, 3)
    compared = {True: 0, False: 0}
    trace, _ = clusters.generate((3,), {"x": x}, rng=rng)
    for _ in range(250):
        if rng.random() < 0.3:
            trace, _ = clusters.generate((3,), {"x": x}, rng=rng)
        after, info = kernel(trace, rng)
        if info.accepted:
            split = after["k"] > trace["k"]
            small, large = (trace, after) if split else (after, trace)
            expected = log_ratio_by_hand(small, large, pairs, x)
            expected = expected if split else -expected
            assert info.log_accept_ratio == pytest.approx(expected, rel=1e-7, abs=1e-7)
            compared[split] += 1
        trace = after
    assert min(compared.values()) > 10, compared


def test_the_move_is_an_involution_on_random_traces():
    for options in ({"order": "mu"}, {"order": "mu", "pairs": "adjacent"}):
        kernel = split_merge("mu", "var", **options, **CLUSTERS)
        report = check_involutive(clusters, (3,), kernel.q, kernel.f, observed="x", n=60, rng=1)
        assert report.ok, str(report)


# --- the distributions of the auxiliary program ----------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "adjacent", "pairs"),
    [
        (None, False, {(i, j) for i in range(4) for j in range(4) if i != j}),
        ((3.0, 1.0, 2.0, 4.0), False, {(1, 2), (1, 0), (1, 3), (2, 0), (2, 3), (0, 3)}),
        ((3.0, 1.0, 2.0, 4.0), True, {(1, 2), (2, 0), (0, 3)}),
        ((1.0, 1.0, 0.0, 1.0), True, {(2, 0), (0, 1), (1, 3)}),
    ],
)
def test_pairs_of_components(keys, adjacent, pairs):
    law = pair_of_components(keys, 4, adjacent)
    drawn = {}
    for pair, probability in enumerate_outcomes(law.sample):
        drawn[pair] = drawn.get(pair, 0.0) + probability
    assert set(drawn) == {4 * i + j for i, j in pairs}
    for pair in range(-1, 18):
        assert math.exp(law.logpdf(pair)) == pytest.approx(drawn.get(pair, 0.0))
    assert law == pair_of_components(keys, 4, adjacent)


def test_coins():
    law = coins([0.2, 1.0])
    assert law.logpdf(np.array([True, True])) == pytest.approx(math.log(0.2))
    assert law.logpdf(np.array([False, False])) == -math.inf
    draws = np.array([law.sample(np.random.default_rng(i)) for i in range(400)])
    assert draws[:, 1].all() and abs(draws[:, 0].mean() - 0.2) < 4 * 0.02
    assert coins([]).logpdf(np.zeros(0, dtype=bool)) == 0.0


# --- planted mistakes ----------------------------------------------------------------------------------


def plant(monkeypatch, mistake):
    module = import_module("gendsl.inference.involutive")
    propose_image = module.propose_image

    def planted(f, inverse, at, check):
        proposal = propose_image(f, inverse, at, check)
        proposal.log_weight += mistake(at[0]["k"], proposal.trace()["k"])
        return proposal

    monkeypatch.setattr(module, "propose_image", planted)


@pytest.mark.parametrize(
    "mistake",
    [
        lambda k, after: math.copysign(math.log(2.0), after - k),  # ordered pairs taken for unordered ones
        lambda k, after: math.log(after / k),  # a (k + 1)! / k! too many
        lambda k, after: {1: math.log(2.0), 3: 0.0}.get(k, -math.log(2.0) if after == 1 else 0.0),  # at k = 1
    ],
    ids=["factor 2", "factor k + 1", "unbalanced ends"],
)
def test_a_mistake_in_the_ratio_is_seen(monkeypatch, mistake):
    kernel = split_merge("level", bijection=LEVELS, auxiliary=step_up, order="level")
    plant(monkeypatch, mistake)
    with pytest.raises(AssertionError, match="doesn't leave the posterior invariant"):
        assert_exact(kernel, levels, (), {"x": True})


def test_a_pair_counted_twice_is_seen(monkeypatch):
    """An unordered pair with the probability of an ordered one."""
    density = pair_of_components.logpdf
    monkeypatch.setattr(pair_of_components, "logpdf", lambda self, x: density(self, x) - math.log(2.0))
    kernel = split_merge("level", bijection=LEVELS, auxiliary=step_up, order="level")
    assert transitions(kernel, levels, (), {"x": True}).error > 1e-3


def test_points_shared_out_unweighed_are_seen(monkeypatch):
    monkeypatch.setattr(coins, "logpdf", lambda self, x: 0.0)
    kernel = split_merge(
        "level", bijection=LEVELS, auxiliary=short_step_up, order="level", allocations="z", allocate=by_level
    )
    assert transitions(kernel, allocated, (2, 2), X).error > 1e-3


# --- errors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bijection": split_level}, "bijection=<function split_level"),
        ({"auxiliary": 3}, "auxiliary program is 3"),
        ({"pairs": "all"}, "pairs='all'"),
        ({"pairs": "adjacent"}, "adjacent in some order"),
        ({"order": "level", "ordered": True}, "only adjacent ones"),
        ({"allocate": by_level}, "allocations=None"),
        ({"vectors": "weights"}, "vectors='weights'"),
        ({"number": len}, "nothing changes it"),
        ({"split": 2}, "split=2"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(errors.KernelError, match=message):
        split_merge("level", **{"bijection": LEVELS, "auxiliary": step_up, **options})


def run(kernel, model=levels, args=()):
    rng = np.random.default_rng(1)
    for _ in range(40):
        kernel(model.simulate(args, rng=rng), rng)


def test_a_component_that_is_not_whole():
    kernel = split_merge("level", bijection=(lambda one, u: ({}, {}), merge_levels), auxiliary=step_up)
    with pytest.raises(errors.KernelError, match=r"split returned a component with \[\]") as caught:
        run(kernel)
    assert caught.value.location.filename == __file__


def test_a_bijection_that_reads_what_components_or_the_program_do_not_have():
    def weigh(one, u):
        return {"level": one["weight"]}, one  # here

    def offset(one, u):
        return {"level": u["offset"]}, one

    with pytest.raises(errors.KernelError, match=r"a component has no 'weight', but \['level'\]") as caught:
        run(split_merge("level", bijection=(weigh, merge_levels), auxiliary=step_up))
    assert "vectors=[...]" in caught.value.fix and caught.value.location.filename == __file__
    with pytest.raises(errors.KernelError, match="the auxiliary program has no 'offset', but"):
        run(split_merge("level", bijection=(offset, merge_levels), auxiliary=step_up))


def test_a_choice_that_components_do_not_have():
    def split(one, u):
        return {**one, "colour": 1}, one

    with pytest.raises(errors.KernelError, match="split returned a component with 'colour'"):
        run(split_merge("level", bijection=(split, merge_levels), auxiliary=step_up))


def test_an_auxiliary_choice_that_does_not_come_back():
    kernel = split_merge(
        "level", bijection=(split_level, lambda first, second: (first, {})), auxiliary=step_up, order="level"
    )
    with pytest.raises(errors.CoverageError) as caught:
        run(kernel)
    assert caught.value.address == ("u", "step")
    assert "return every auxiliary choice" in caught.value.fix


def test_functions_that_are_not_inverse():
    def merge(first, second):
        return {"level": second["level"]}, {"step": second["level"] - first["level"]}

    kernel = split_merge(
        "level", bijection=(split_level, merge), auxiliary=step_up, order="level", check=True
    )
    with pytest.raises(errors.InvolutionError) as caught:
        run(kernel)
    assert points_at(caught.value, merge)
    assert "merge(*split(component, u)) must give" in caught.value.fix
    report = check_involutive(levels, (), kernel.q, kernel.f, rng=1)
    assert {error.location.function for _, error in report.failures} <= {"merge", "split_level"}
    assert any(points_at(error, merge) for _, error in report.failures)


def points_at(error, function):
    """Whether an error points at the definition of a function in this file."""
    place = error.location
    return (place.filename, place.lineno) == (__file__, function.__code__.co_firstlineno)


@gen
def offset(trace, component):
    u = ~normal(0, 1)


@gen
def means():
    k = ~uniform_discrete(1, 3)
    for j in range(k):
        ("mu", j) @ ~normal(0, 1)


def split_mean(one, u):
    return {"mu": one["mu"] - u["u"]}, {"mu": one["mu"] + u["u"]}


def merge_means(first, second):
    return {"mu": (first["mu"] + second["mu"]) / 2}, {"u": (second["mu"] - first["mu"]) / 2}


def test_values_that_are_wrong_point_at_the_function_that_returned_them():
    def lost(one, u):
        return {"mu": one["mu"] * math.nan}, {"mu": one["mu"] + u["u"]}

    def none(first, second):
        return {"mu": first["mu"]}, {"u": math.nan * second["mu"]}

    for bijection, wrong in (((lost, merge_means), lost), ((split_mean, none), none)):
        kernel = split_merge("mu", bijection=bijection, auxiliary=offset)
        with pytest.raises(errors.MoveNaNError) as caught:
            run(kernel, means)
        assert points_at(caught.value, wrong)


def test_what_the_move_itself_does_points_at_the_line_that_made_it():
    line = offset_line() + 1
    kernel = split_merge("mu", bijection=(split_mean, lambda a, b: ({"mu": a["mu"]}, {})), auxiliary=offset)
    assert (kernel.f.location.filename, kernel.f.location.lineno) == (__file__, line)
    report = check_involutive(means, (), kernel.q, kernel.f, rng=1)
    assert "neither writes nor copies" in str(report) and f"{__file__}:{line}" in str(report)
    assert str(PACKAGE) not in str(report)


def offset_line():
    return sys._getframe(1).f_lineno


def test_what_a_move_points_at_travels():
    kernel = split_merge("mu", bijection=(split_mean, merge_means), auxiliary=offset)
    f = cloudpickle.loads(cloudpickle.dumps(kernel)).f
    assert f.location == kernel.f.location and type(f) is type(kernel.f)
    there = run_transform(f, *pair_to_split(kernel), ())
    assert there.outputs[0].entries["mu", 0].line[2] == "split_mean"


def pair_to_split(kernel):
    rng = np.random.default_rng(1)
    while True:
        trace = means.simulate(rng=rng)
        aux = kernel.q.simulate((trace,), rng=rng)
        if trace["k"] == 1 and aux["split"]:
            return trace, aux


def test_points_are_shared_out_knowing_the_two_components():
    @gen
    def silent(trace, component):
        step = ~uniform_discrete(0, 1)

    kernel = split_merge("level", bijection=LEVELS, auxiliary=silent, allocations="z", allocate=by_level)
    with pytest.raises(errors.KernelError, match="auxiliary program returned None"):
        run(kernel, allocated, (3, 2))


def test_probabilities_that_are_none():
    kernel = split_merge(
        "level", bijection=LEVELS, auxiliary=short_step_up, allocations="z", allocate=lambda *_: [2.0]
    )
    with pytest.raises(errors.KernelError, match=r"allocate returned array\(\[2.\]\)"):
        run(kernel, allocated, (3, 2))


@pytest.mark.parametrize("runtime", runtimes())
@pytest.mark.parametrize(
    ("first", "last", "move"),
    [(first, last, move) for first, last in ((-1, -1), (1, 0)) for move in ("split_merge", "birth_death")],
)
def test_allocations_that_are_no_numbers_of_components(runtime, first, last, move):
    """-1, for points of none, would stand for the last component; numbers from 1 may be beyond it."""

    @gen
    def outliers(n):
        k = ~uniform_discrete(1, 3)
        for j in range(k):
            ("level", j) @ ~categorical([0.2, 0.8])
        for i in range(n):
            ("z", i) @ ~uniform_discrete(first, k + last)

    made = {
        "split_merge": split_merge("level", bijection=LEVELS, auxiliary=short_step_up, allocations="z"),
        "birth_death": birth_death("level", allocations="z"),
    }
    init = {"k": 2, ("z", 0): 0 if first < 0 else 1, ("z", 1): 1, ("z", 2): -1 if first < 0 else 2}
    with running_on(runtime):
        trace = outliers.generate((3,), init=init, rng=1).trace
        with pytest.raises(errors.KernelError, match=f"0 to 1, and one of them is {init['z', 2]}") as caught:
            sample(made[move], trace, 100, seed=1, progress=False)
    assert caught.value.address == ("z", 2)


@pytest.mark.parametrize("allocations", ["part", "vector"])
def test_allocations_that_are_no_integers(allocations):
    @gen
    def part(k):
        z = ~uniform_discrete(0, k - 1)
        height = ~normal(z, 1)

    @gen
    def parts():
        k = ~uniform_discrete(1, 3)
        for j in range(k):
            ("level", j) @ ~categorical([0.2, 0.8])
        "part" @ ~part(k)
        vector = ~iid(bernoulli(0.5), 2)

    kernel = split_merge("level", bijection=LEVELS, auxiliary=short_step_up, allocations=allocations)
    with pytest.raises(errors.KernelError, match=r"numbers of components, .* one of them is"):
        run(kernel, parts)


def test_no_allocations():
    kernel = split_merge("level", bijection=LEVELS, auxiliary=step_up, allocations="y")
    with pytest.raises(errors.KernelError, match="no allocations"):
        run(kernel, allocated, (3, 2))
