"""Birth and death: exact on small models, the acceptance ratio held against a formula, and every error."""

import math
from importlib import import_module

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
    gamma,
    gen,
    iid,
    inv_gamma,
    involutive_mcmc,
    mixture_of_normals,
    mvnormal,
    normal,
    pair,
    poisson,
    read,
    sample,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import Place, birth_death
from gendsl.runtime.trace import definition
from gendsl.testing import assert_exact, transitions

# --- models --------------------------------------------------------------------------------------------


@gen
def levels(n):
    k = ~uniform_discrete(1, 3)
    level = [("level", j) @ ~categorical([0.3, 0.7]) for j in range(k)]
    for i in range(n):
        ("x", i) @ ~bernoulli((1 + level[i % k]) / 4)


@gen
def levels_from_none(n):
    k = ~categorical([0.4, 0.1, 0.5])
    level = [("level", j) @ ~categorical([0.3, 0.7]) for j in range(k)]
    for i in range(n):
        ("x", i) @ ~bernoulli((1 + sum(level)) / 5)


@gen
def level_of_one(trace):
    level = ~categorical([0.6, 0.4])


@gen
def allocated(n):
    k = ~uniform_discrete(1, 3)
    level = [("level", j) @ ~categorical([0.3, 0.7]) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~bernoulli((1 + level[z]) / 4)


@gen
def allocated_by_vector(n):
    k = ~uniform_discrete(1, 3)
    level = [("level", j) @ ~categorical([0.3, 0.7]) for j in range(k)]
    z = ~iid(uniform_discrete(0, k - 1), n)
    for i in range(n):
        ("x", i) @ ~bernoulli((1 + level[z[i]]) / 4)


@gen
def sorted_levels():
    k = ~uniform_discrete(1, 3)
    low = -1
    for j in range(k):  # increasing numbers below 6, each uniform over what leaves room for the rest
        low = ("level", j) @ ~uniform_discrete(low + 1, max(low + 1, 5 - (k - 1 - j)))
    x = ~bernoulli((1 + low) / 7)


@gen
def levels_with_ties():
    k = ~uniform_discrete(1, 3)
    low = 0
    for j in range(k):
        low = ("level", j) @ ~uniform_discrete(low, 2)
    x = ~bernoulli((1 + low + k) / 7)


@gen
def level_between(trace):
    level = ~uniform_discrete(0, 5)


@gen
def component():
    kind = ~bernoulli(0.4)
    if kind:
        shade = ~categorical([0.5, 0.5])
    return kind


@gen
def by_calls():
    k = ~uniform_discrete(1, 3)
    kinds = [("component", j) @ ~component() for j in range(k)]
    x = ~bernoulli((1 + sum(kinds)) / 5)


@gen
def new_call(trace):
    "component" @ ~component()


@gen
def clusters(n):
    k = ~(1 + poisson(1))
    means = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    variances = [("var", j) @ ~inv_gamma(1, 10) for j in range(k)]
    weights = ~dirichlet([2.0] * k)
    for i in range(n):
        ("x", i) @ ~mixture_of_normals(weights, means, variances)


@gen
def new_cluster(trace):
    mu = ~normal(1, 8)
    var = ~inv_gamma(2, 9)
    weights = ~beta(2, 3 * trace["k"])


def make_room(entries, new):
    return [w * (1 - new) for w in entries]


def close_up(entries, old):
    return [w / (1 - old) for w in entries]


WEIGHTS = {"weights": (make_room, close_up)}
X = {("x", 0): True, ("x", 1): False}


# --- pi K = pi -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("insert", ["swap", "shift", "last"])
@pytest.mark.parametrize("options", [{}, {"birth": 0.3}, {"least": 2}, {"propose": level_of_one}])
def test_exact_on_levels(insert, options):
    found = assert_exact(birth_death("level", insert=insert, check=True, **options), levels, (2,), X)
    assert found.imbalance < 1e-12


@gen
def at_most_two():
    k = ~uniform_discrete(1, 3)
    level = [("level", j) @ ~categorical([0.3, 0.7]) for j in range(k)]
    x = ~bernoulli(0.0 if k == 3 else (1 + sum(level)) / 5)


@gen
def at_most_two_allocated():
    k = ~uniform_discrete(1, 3)
    level = [("level", j) @ ~categorical([0.3, 0.7]) for j in range(k)]
    for i in range(2):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
    x = ~bernoulli(0.0 if k == 3 else (1 + level[z]) / 5)


@pytest.mark.parametrize("insert", ["swap", "shift", "last"])
def test_exact_up_to_most(insert):
    """Nowhere is k = 3, by the observation, and the move never proposes it."""
    assert_exact(birth_death("level", insert=insert, most=2, check=True), at_most_two, (), {"x": True})
    kernel = birth_death("level", insert=insert, most=2, allocations="z", check=True)
    assert_exact(kernel, at_most_two_allocated, (), {"x": True})


@pytest.mark.parametrize("allocations", [None, "z"])
@pytest.mark.parametrize("z", [[0, 1, 2], [0, 0, 0], [1, 2, 3]])
def test_more_components_than_there_may_be(allocations, z):
    @gen
    def counted():
        k = ~poisson(2)
        for j in range(k):
            ("level", j) @ ~categorical([0.3, 0.7])
        for i in range(3):
            ("z", i) @ ~uniform_discrete(0, k - 1)

    for k in (4, 5):
        trace = counted.generate((), init={"k": k, "z": z}, rng=1).trace
        with pytest.raises(errors.KernelError, match=f"has {k} components, and birth_death was given") as e:
            birth_death("level", allocations=allocations, most=3)(trace, 1)
        assert "start from a trace with at most 3, or give a larger most=" in e.value.fix
        assert e.value.address == ("k",)


def test_fewer_components_than_there_may_be_stay_as_they_are():
    @gen
    def none_or_one():
        k = ~uniform_discrete(0, 1)
        for j in range(k):
            ("at", j) @ ~categorical([0.1, 0.9])

    trace = none_or_one.generate((), init={"k": 0}, rng=1).trace
    for seed in range(5):
        assert birth_death("at", least=1, check=True)(trace, seed)[0]["k"] == 0


def test_exact_with_a_probability_that_depends_on_the_state():
    kernel = birth_death("level", birth=lambda trace: 0.2 + 0.2 * trace["level", 0])
    assert_exact(kernel, levels, (2,), X)


def test_exact_where_there_may_be_none():
    kernel = birth_death("level", propose=level_of_one, check=True)
    assert len(assert_exact(kernel, levels_from_none, (2,), X).traces) == 1 + 2 + 4


@pytest.mark.slow
@pytest.mark.parametrize("insert", ["swap", "shift", "last"])
@pytest.mark.parametrize("model", [allocated, allocated_by_vector])
def test_exact_with_allocations(model, insert):
    kernel = birth_death("level", allocations="z", insert=insert, check=True)
    assert_exact(kernel, model, (2,), X)


def test_only_empty_components_die():
    kernel = birth_death("level", allocations="z", least=1)
    found = transitions(kernel, allocated, (2,), X)
    for i, trace in enumerate(found.traces):
        occupied = {trace["z", 0], trace["z", 1]}
        for j in np.flatnonzero(found.matrix[i]):
            after = found.traces[j]
            assert after["k"] >= len(occupied)
            same = after["z", 0] == after["z", 1]
            assert same == (trace["z", 0] == trace["z", 1])


def test_exact_where_components_are_sorted():
    kernel = birth_death("level", insert="sorted", propose=level_between, check=True)
    found = assert_exact(kernel, sorted_levels)
    assert len(found.traces) == 2 * (6 + 15 + 20)
    # every component can die, and be born where it was
    assert (found.matrix > 0).sum(axis=1).min() >= 4


@gen
def sorted_parts():
    k = ~uniform_discrete(1, 3)
    low = -1
    for j in range(k):
        low = ("part", j, "level") @ ~uniform_discrete(low + 1, max(low + 1, 5 - (k - 1 - j)))
    x = ~bernoulli((1 + low) / 7)


@gen
def part_between(trace):
    ("part", "level") @ ~uniform_discrete(0, 5)


def test_exact_where_components_are_sorted_by_a_choice_below_a_namespace():
    kernel = birth_death("part", insert="sorted", order=("part", "level"), propose=part_between)
    found = assert_exact(kernel, sorted_parts)
    assert len(found.traces) == 2 * (6 + 15 + 20)


def test_exact_where_sorted_components_can_be_equal():
    kernel = birth_death("level", insert="sorted", propose=level_between)
    found = assert_exact(kernel, levels_with_ties)
    assert found.imbalance < 1e-12


def test_components_that_are_not_sorted():
    trace = levels.generate((0,), init={"k": 2, ("level", 0): 1, ("level", 1): 0}, rng=1).trace
    with pytest.raises(errors.KernelError, match=r"not in increasing order: \[1, 0\]"):
        birth_death("level", insert="sorted", propose=level_of_one)(trace, 1)


def test_exact_with_calls_that_have_different_choices():
    kernel = birth_death("component", propose=new_call, check=True)
    assert_exact(kernel, by_calls, (), {"x": True})


@pytest.mark.parametrize("runtime", ["compiled", "reference"])
def test_a_long_chain_keeps_the_prior_of_k(runtime):
    """Weights that are scaled up again and again still sum to one however often they are."""
    model = clusters.reference if runtime == "reference" else clusters
    kernel = birth_death("mu", "var", propose=new_cluster, vectors=WEIGHTS)
    chain = sample(kernel, model.simulate((0,), rng=1), 1500, record="k", seed=3, progress=False)
    for k, share in chain.frequency("k").items():
        if share.probability > 0.05:
            assert abs(share.probability - stats.poisson.pmf(k - 1, 1)) < 4 * share.standard_error, k
    assert abs(sum(chain.last["weights"]) - 1.0) < 1e-12


# --- the ratio -----------------------------------------------------------------------------------------


def log_ratio_by_hand(small, new, x):
    """The log acceptance ratio of a birth of `new` = (mu, var, w): Richardson and Green's equation (12) with
    one place of k + 1 for the new component, one of k + 1 to die, and this proposal."""
    k, (mu, var, w) = small["k"], new
    means = np.array([small["mu", j] for j in range(k)])
    variances = np.array([small["var", j] for j in range(k)])
    weights = np.asarray(small["weights"])

    def log_likelihood(weights, means, variances):
        return sum(np.log(np.sum(weights * stats.norm.pdf(xi, means, np.sqrt(variances)))) for xi in x)

    after = np.append(weights * (1 - w), w)
    prior = stats.poisson.logpmf(k, 1) - stats.poisson.logpmf(k - 1, 1)
    prior += stats.norm.logpdf(mu, 0, 10) + stats.invgamma.logpdf(var, 1, scale=10)
    prior += stats.dirichlet.logpdf(after, np.full(k + 1, 2.0))
    if k > 1:
        prior -= stats.dirichlet.logpdf(weights, np.full(k, 2.0))
    likelihood = log_likelihood(after, np.append(means, mu), np.append(variances, var))
    likelihood -= log_likelihood(weights, means, variances)
    death, birth = 0.5 / (k + 1), (1.0 if k == 1 else 0.5) / (k + 1)
    proposal = stats.norm.logpdf(mu, 1, 8) + stats.invgamma.logpdf(var, 2, scale=9)
    proposal += stats.beta.logpdf(w, 2, 3 * k)
    return prior + likelihood + math.log(death / birth) - proposal + (k - 1) * math.log(1 - w)


@pytest.mark.parametrize("insert", ["swap", "shift"])
def test_the_acceptance_ratio_is_that_of_a_formula(insert):
    kernel = birth_death("mu", "var", propose=new_cluster, vectors=WEIGHTS, insert=insert)
    rng = np.random.default_rng(5)
    x = rng.normal(0, 5, 4)
    compared = {"births": 0, "deaths": 0}
    for _ in range(120):
        small, _ = clusters.generate((4,), {"x": x}, rng=rng)
        after, info = kernel(small, rng)
        if info.accepted and after["k"] > small["k"]:
            place = next(j for j in range(after["k"]) if after["mu", j] not in {
                small["mu", i] for i in range(small["k"])})  # fmt: skip
            new = after["mu", place], after["var", place], after["weights"][place]
            assert info.log_accept_ratio == pytest.approx(log_ratio_by_hand(small, new, x), rel=1e-9)
            compared["births"] += 1
        elif info.accepted and after["k"] < small["k"]:
            kept = {after["mu", i] for i in range(after["k"])}
            place = next(j for j in range(small["k"]) if small["mu", j] not in kept)
            old = small["mu", place], small["var", place], small["weights"][place]
            assert info.log_accept_ratio == pytest.approx(-log_ratio_by_hand(after, old, x), rel=1e-9)
            compared["deaths"] += 1
    assert min(compared.values()) > 10, compared


def test_the_move_is_an_involution_on_random_traces():
    for insert in ("swap", "shift"):
        kernel = birth_death("mu", "var", propose=new_cluster, vectors=WEIGHTS, insert=insert)
        report = check_involutive(clusters, (3,), kernel.q, kernel.f, observed="x", n=80, rng=1)
        assert report.ok, str(report)


def test_births_from_the_prior_of_a_component_are_accepted_by_the_likelihood_alone():
    @gen
    def points():
        k = ~uniform_discrete(1, 4)
        centre = [("centre", j) @ ~mvnormal([0.0, 1.0], np.eye(2)) for j in range(k)]

    kernel = birth_death("centre", check=True)
    rng = np.random.default_rng(1)
    trace = points.simulate(rng=2)
    expected = {1: (0.5, None), 2: (1.0, 2.0), 3: (2.0, 1.0), 4: (None, 0.5)}  # of births, of deaths
    seen = set()
    for _ in range(60):
        aux = kernel.q.simulate((trace,), rng=rng)
        after, info = involutive_mcmc(trace, kernel.q, (), kernel.f, rng=rng)
        assert aux["birth"] in (True, False)
        ratio = math.exp(info.log_accept_ratio)
        assert min(abs(ratio - r) for r in expected[trace["k"]] if r is not None) < 1e-9
        seen.add((trace["k"], after["k"]))
        trace = after
    assert {(1, 2), (2, 1), (3, 4), (4, 3)} <= seen


# --- what else depends on k ----------------------------------------------------------------------------


@transform
def grow_matrix(model_in, aux_in, *, model_out, aux_out, place=None):
    matrix, k = read(model_in["links"]), place.others
    row = read(aux_in["row"])
    wider = np.zeros((k + 1, k + 1), dtype=int)
    at = [place.number(j) for j in range(k)]
    for i in range(k):
        for j in range(k):
            wider[at[i], at[j]] = matrix[i * k + j]
    order = [*at, place.index]
    wider[place.index, order] = row[: k + 1]
    wider[order[:-1], place.index] = row[k + 1 :]
    write(model_out["links"], wider.ravel())


@transform
def shrink_matrix(model_in, aux_in, *, model_out, aux_out, place=None):
    k = place.others
    matrix = read(model_in["links"]).reshape(k + 1, k + 1)
    at = [place.number(j) for j in range(k)]
    order = [*at, place.index]
    write(aux_out["row"], np.concatenate([matrix[place.index, order], matrix[order[:-1], place.index]]))
    write(model_out["links"], matrix[np.ix_(at, at)].ravel())


@gen
def network():
    k = ~uniform_discrete(1, 2)
    size = [("size", j) @ ~categorical([0.4, 0.6]) for j in range(k)]
    links = ~iid(bernoulli(0.3), k * k)
    x = ~bernoulli((1 + sum(size) + sum(links[: k + 1])) / 8)


@gen
def node(trace):
    size = ~categorical([0.5, 0.5])
    row = ~iid(bernoulli(0.4), 2 * trace["k"] + 1)


@pytest.mark.parametrize("insert", ["swap", "shift"])
def test_other_choices_are_changed_by_a_pair_of_transforms(insert):
    kernel = birth_death(
        "size", propose=node, others=pair(grow_matrix, shrink_matrix), insert=insert, check=True
    )
    assert_exact(kernel, network, (), {"x": True})


@transform
def one_longer(model_in, aux_in, *, model_out, aux_out, place=None):
    write(model_out["more", place.others], False)
    write(model_out["more", place.others - 1], True)


@transform
def one_shorter(model_in, aux_in, *, model_out, aux_out, place=None):
    write(model_out["more", place.others - 1], False)


@gen
def counted():
    k = 1
    while ("more", k - 1) @ ~bernoulli(0.5 if k < 3 else 0.0):
        k += 1
    level = [("level", j) @ ~categorical([0.3, 0.7]) for j in range(k)]
    x = ~bernoulli((1 + sum(level)) / 5)
    return k


def test_the_number_may_be_computed():
    kernel = birth_death(
        "level", number=lambda trace: trace.retval, least=1, most=3, others=pair(one_longer, one_shorter)
    )
    assert_exact(kernel, counted, (), {"x": False})


# --- places --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("swap", [True, False])
def test_a_place_renumbers_and_restores(swap):
    for k in range(5):
        for index in range(k + 1):
            place = Place(index, k, swap)
            old = [f"c{j}" for j in range(k)]
            everyone = place.insert(old, "new")
            assert everyone[index] == "new" and len(everyone) == k + 1
            assert [everyone[place.number(j)] for j in range(k)] == old
            assert [place.number_without(place.number(j)) for j in range(k)] == list(range(k))
            assert place.remove(everyone) == (old, "new")
            moved = {j: place.number(j) for j in range(k) if place.number(j) != j}
            assert dict(place.renumbered) == moved
            assert len(moved) <= 1 or not swap


# --- planted mistakes ----------------------------------------------------------------------------------


def log_places(k, after):
    """log((k + 1) / k) for a birth from k components: the place of the new one counted among k."""
    return math.log(after / k)


def log_ends(k, after):
    """Births counted as if proposed with probability 1/2 where there is one component, too."""
    return math.log(2.0) if k == 1 else -math.log(2.0) if after == 1 else 0.0


def log_upper_end(k, after):
    """Deaths counted as if proposed with probability 1/2 where there are most components, too."""
    return -math.log(2.0) if after == 3 else math.log(2.0) if k == 3 else 0.0


@pytest.mark.parametrize("mistake", [log_places, log_ends, log_upper_end])
def test_a_mistake_in_the_ratio_is_seen(monkeypatch, mistake):
    module = import_module("gendsl.inference.involutive")
    propose_image = module.propose_image

    def planted(f, inverse, at, check):
        proposal = propose_image(f, inverse, at, check)
        proposal.log_weight += mistake(at[0]["k"], proposal.trace()["k"])
        return proposal

    kernel = birth_death("level")
    assert_exact(kernel, levels, (2,), X)
    monkeypatch.setattr(module, "propose_image", planted)
    with pytest.raises(AssertionError, match="doesn't leave the posterior invariant"):
        assert_exact(kernel, levels, (2,), X)


@pytest.mark.parametrize("settled", [True, False])
def test_rounding_errors_of_weights_are_taken_out(monkeypatch, settled):
    """Scaled up by death after death they would grow until good moves are refused."""
    if not settled:
        module = import_module("gendsl.inference.birth_death")
        monkeypatch.setattr(module, "vector_of", lambda values, support: list(values))
    kernel = birth_death("mu", "var", propose=new_cluster, vectors=WEIGHTS)
    init = {"k": 3, "weights": [0.2, 0.3, 0.5 + 3e-10]}
    trace, _ = clusters.generate((0,), init=init, rng=1)
    rng, start = np.random.default_rng(3), trace
    while trace is start:
        trace, _ = kernel(start, rng)
    assert (abs(sum(trace["weights"]) - 1.0) < 1e-15) == settled


# --- errors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((), {}, "given no namespace"),
        (("mu", ("mu", "x")), {}, "one holds the other"),
        (("mu",), {"propose": 3}, "the proposal is 3"),
        (("mu",), {"insert": "first"}, "insert='first'"),
        (("mu",), {"order": "mu"}, "not sorted"),
        (("mu",), {"birth": 1.0}, "birth=1.0"),
        (("mu",), {"birth": "often"}, "birth='often'"),
        (("mu",), {"least": 3, "most": 3}, "least=3 and most=3"),
        (("mu",), {"most": "many"}, "most='many'"),
        (("mu",), {"vectors": ["weights"]}, "vectors=\\['weights'\\]"),
        (("mu",), {"vectors": WEIGHTS}, "nothing proposes them"),
        (("mu",), {"vectors": {"w": 3}, "propose": level_of_one}, "got 3 for a vector"),
        (("mu",), {"others": 3}, "others=3"),
        (("mu",), {"number": len}, "nothing changes it"),
        (("mu",), {"check": "often"}, "check='often'"),
    ],
)
def test_bad_arguments(arguments, options, message):
    with pytest.raises(errors.KernelError, match=message):
        birth_death(*arguments, **options)


def test_others_that_are_not_told_the_place():
    @transform
    def deaf(model_in, aux_in, *, model_out, aux_out):
        pass

    with pytest.raises(errors.KernelError, match="deaf is not told where"):
        birth_death("mu", others=pair(deaf, deaf))


def run(kernel, model=clusters, args=(2,)):
    rng = np.random.default_rng(1)
    for _ in range(40):
        kernel(model.simulate(args, rng=rng), rng)


def test_a_namespace_left_out_points_at_the_users_line():
    """A birth tells that the proposal makes more than a component has, a death what stays unwritten."""
    kernel = birth_death("mu", propose=new_cluster, vectors=WEIGHTS)
    rng = np.random.default_rng(1)
    found = {}
    for _ in range(40):
        try:
            kernel(clusters.simulate((2,), rng=rng), rng)
        except errors.GenDSLError as error:
            found[type(error)] = error
    assert found.keys() == {errors.KernelError, errors.CoverageError}
    of_birth, of_death = found[errors.KernelError], found[errors.CoverageError]
    assert of_birth.address == ("var",) and "name its namespace, too" in of_birth.fix
    assert of_birth.location.lineno == definition(new_cluster).lineno
    assert of_death.address in {("var", j) for j in range(9)} | {("new", "var")}
    assert "name the namespace of every choice" in of_death.fix
    assert {error.location.filename for error in found.values()} == {__file__}


def test_a_weight_left_out_is_an_error():
    with pytest.raises(errors.GenDSLError) as caught:
        run(birth_death("mu", "var", propose=new_cluster))
    assert caught.value.location.filename == __file__


def points_at(error, function):
    """Whether an error points at the definition of a function in this file."""
    place = error.location
    return (place.filename, place.lineno) == (__file__, function.__code__.co_firstlineno)


def closed_up_wrongly(entries, old):
    return [w / (1 - old) ** 2 for w in entries]


def test_a_wrong_inverse_points_at_what_changed_the_vector():
    @gen
    def rates():
        k = ~uniform_discrete(1, 3)
        for j in range(k):
            ("mu", j) @ ~normal(0, 1)
        rate = ~iid(gamma(2, 1), k)

    @gen
    def new_rate(trace):
        mu = ~normal(0, 1)
        rate = ~beta(2, 2)

    def make(check):
        vectors = {"rate": (make_room, closed_up_wrongly)}
        return birth_death("mu", propose=new_rate, vectors=vectors, check=check)

    with pytest.raises(errors.InvolutionError) as caught:
        run(make(True), rates, ())
    assert points_at(caught.value, closed_up_wrongly) or points_at(caught.value, make_room)
    assert "shrink(grow(entries, new), new) must give" in caught.value.fix
    kernel = make(False)
    report = check_involutive(rates, (), kernel.q, kernel.f, rng=1)
    wrong = [error for _, error in report.failures if isinstance(error, errors.InvolutionError)]
    assert any(points_at(error, closed_up_wrongly) for error in wrong)
    assert all(error.location.filename == __file__ for _, error in report.failures)


def test_a_component_that_can_not_be_points_at_the_proposal():
    @gen
    def scales():
        k = ~uniform_discrete(1, 3)
        for j in range(k):
            ("scale", j) @ ~gamma(2, 1)

    @gen
    def of_two(trace):
        scale = ~iid(gamma(2, 1), 2)

    with pytest.raises(errors.ValueTypeError, match="which is one number") as caught:
        run(birth_death("scale", propose=of_two), scales, ())
    place = definition(of_two)
    assert (caught.value.location.filename, caught.value.location.lineno) == (__file__, place.lineno)


def test_check_reject_rejects():
    kernel = birth_death(
        "mu", "var", propose=new_cluster, vectors={"weights": (make_room, lambda entries, old: entries)},
        check="reject",
    )  # fmt: skip
    rng = np.random.default_rng(1)
    infos = [kernel(clusters.simulate((2,), rng=rng), rng)[1] for _ in range(20)]
    assert any(info.check_failed for info in infos)
    assert not any(info.check_failed and info.accepted for info in infos)


def test_a_prior_that_ties_the_choices_of_a_component_is_refused():
    @gen
    def tied():
        k = ~uniform_discrete(1, 3)
        for j in range(k):
            scale = ("scale", j) @ ~gamma(2, 1)
            ("at", j) @ ~normal(0, scale)

    with pytest.raises(errors.KernelError, match="different distributions"):
        run(birth_death("scale", "at"), tied, ())


def test_no_component_to_see_the_prior_of():
    @gen
    def counted_from_none():
        k = 0
        while ("more", k) @ ~bernoulli(0.5):
            k += 1
        for j in range(k):
            ("level", j) @ ~categorical([0.3, 0.7])
        return k

    @transform
    def longer(model_in, aux_in, *, model_out, aux_out, place=None):
        write(model_out["more", place.others], True)
        write(model_out["more", place.others + 1], False)

    @transform
    def shorter(model_in, aux_in, *, model_out, aux_out, place=None):
        write(model_out["more", place.others], False)

    kernel = birth_death("level", number=lambda trace: trace.retval, others=pair(longer, shorter))
    with pytest.raises(errors.KernelError, match="no component to see the prior"):
        run(kernel, counted_from_none, ())


def test_the_first_component_from_its_prior():
    kernel = birth_death("level", check=True)
    assert len(assert_exact(kernel, levels_from_none, (2,), X).traces) == 1 + 2 + 4


def test_the_first_component_where_two_are_too_many():
    @gen
    def none_or_one():
        k = ~uniform_discrete(0, 1)
        for j in range(k):
            ("at", j) @ ~categorical([0.1, 0.9])

    assert len(assert_exact(birth_death("at", check=True), none_or_one).traces) == 3


def test_the_first_component_has_a_prior_that_ties_its_choices():
    @gen
    def tied():
        k = ~poisson(0.1)
        for j in range(k):
            scale = ("scale", j) @ ~gamma(2, 1)
            ("at", j) @ ~normal(0, scale)

    with pytest.raises(errors.KernelError, match="different distributions"):
        run(birth_death("scale", "at"), tied, ())


def test_a_component_that_is_not_there():
    with pytest.raises(errors.KernelError, match="no choice of number 0"):
        run(birth_death("mv"))


def test_a_probability_of_one_where_both_ways_are_open():
    with pytest.raises(errors.KernelError, match="probability of adding a component is 1"):
        run(birth_death("level", birth=lambda trace: 1.0), levels, (0,))


def test_the_parts_can_be_looked_at():
    kernel = birth_death("level", name="levels come and go")
    assert repr(kernel) == "<kernel levels come and go>"
    assert "is_birth" not in kernel.q.source and "birth" in kernel.q.source
    assert "birth" in kernel.f.source
    aux = kernel.q.simulate((levels.simulate((0,), rng=1),), rng=1)
    assert {path[0] for path in aux.choices} <= {"birth", "place", "new"}


@gen
def numbered_otherwise():
    n = ~poisson(2)
    for j in range(n):
        ("at", j) @ ~normal(0, 1)


def test_a_number_that_is_elsewhere_is_asked_for():
    kernel, trace = birth_death("at"), numbered_otherwise.simulate(rng=1)
    with pytest.raises(errors.KernelError, match="components at 'k', where the trace has no") as found:
        kernel(trace, np.random.default_rng(1))
    assert 'birth_death(..., number="' in found.value.fix
    assert "what comes before them always fails" in str(kernel.explain(trace))
    assert "closed, a text of" in str(birth_death("at", number="n").explain(trace))
