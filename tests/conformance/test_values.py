"""What a trace holds: numbers for scalar choices, arrays that nobody can change, starts that are possible."""

import itertools

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gendsl import (
    Distribution,
    bernoulli,
    categorical,
    check_involutive,
    copy,
    dirichlet,
    discrete,
    errors,
    gamma,
    gen,
    iid,
    involutive_mcmc,
    multinomial,
    mvnormal,
    normal,
    poisson,
    product,
    read,
    sample,
    select,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import cycle, involutive, mh, monte_carlo_error
from gendsl.supports import FiniteSet, Support

pytestmark = pytest.mark.usefixtures("runtime")


@gen
def weights():
    p = ~dirichlet([1.0, 1.0, 1.0])


@gen
def scalar():
    x = ~normal(0, 1)


@gen
def vector():
    v = ~mvnormal([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])


@gen
def counts(n):
    k = ~poisson(3)
    for i in range(n):
        ("x", i) @ ~poisson(k + 1)


def test_a_drawn_array_is_read_only():
    trace = weights.simulate((), rng=0)
    with pytest.raises(ValueError, match="read-only"):
        trace["p"][0] = 0.5
    with pytest.raises(ValueError, match="read-only"):
        trace.choices["p"] += 1


def test_given_arrays_are_copied_and_read_only():
    given = np.array([0.5, -0.5])
    for trace in (
        vector.generate((), {"v": given}).trace,
        vector.generate((), init={"v": given}).trace,
        vector.simulate((), rng=0).update({"v": given}).trace,
    ):
        given[0] = 99.0
        assert trace["v"][0] == 0.5
        with pytest.raises(ValueError, match="read-only"):
            trace["v"][0] = 1.0
        given[0] = 0.5


def test_a_proposal_that_changes_a_trace_in_place_is_an_error_not_a_wrong_posterior():
    @gen
    def in_place(trace):
        p = trace["p"]
        p += 0.05
        p = ~dirichlet(50 * p)

    with pytest.raises(ValueError, match="read-only"):
        sample(mh(in_place), weights.simulate((), rng=0), 1, seed=0)


@pytest.mark.parametrize("value", [np.array([1.0]), [1.0], np.array([1.0, 2.0]), np.array([[1.0]])], ids=str)
def test_an_array_for_a_scalar_choice_names_the_choice(value):
    for give in (
        lambda: scalar.generate((), {"x": value}),
        lambda: scalar.assess((), {"x": value}),
        lambda: scalar.simulate((), rng=0).update({"x": value}),
    ):
        with pytest.raises(errors.ValueTypeError, match="which is one number") as caught:
            give()
        assert caught.value.address == ("x",)
        assert caught.value.location.filename == __file__


def test_an_array_of_too_many_dimensions_names_both_shapes():
    shapes = r"shape \(1, 3\).*whose values are of shape \(3,\)"
    with pytest.raises(errors.ValueTypeError, match=shapes) as caught:
        weights.generate((), {"p": np.full((1, 3), 1 / 3)})
    assert caught.value.address == ("p",)


def test_a_generator_for_a_choice_is_refused():
    with pytest.raises(errors.ValueTypeError, match="type generator can't be copied"):
        weights.generate((), {"p": (x for x in (0.2, 0.3, 0.5))})


def test_zero_dimensional_arrays_and_whole_floats_become_numbers():
    assert type(scalar.generate((), {"x": np.float64(1.0)}).trace["x"]) is float
    assert type(counts.generate((2,), init={"k": 2.0}).trace["k"]) is int
    assert type(counts.generate((2,), {"x": np.array([1.0, 3.0])}).trace["x", 0]) is int


def test_a_whole_float_written_to_a_discrete_choice_becomes_an_int():
    @transform
    def same(model_in, *, model_out):
        write(model_out["k"], read(model_in["k"]) / 1)

    assert check_involutive(counts, (1,), None, same, n=5, rng=0).ok


def test_an_observation_that_is_nan_is_refused():
    with pytest.raises(errors.NaNError, match="an observation is NaN") as caught:
        counts.generate((2,), {"x": [np.nan, 2]}, rng=0)
    assert caught.value.address == ("x", 0)


@pytest.mark.parametrize("x", [[1.5, 2], [-1, 2]], ids=str)
def test_a_chain_does_not_start_at_probability_zero(x):
    trace, weight = counts.generate((2,), {"x": x}, rng=0)
    assert weight == -np.inf
    assert list(trace.impossible) == [("x", 0)]
    with pytest.raises(errors.ZeroProbabilityError, match="can't start from this trace") as caught:
        sample(mh(select("k")), trace, 10)
    assert caught.value.address == ("x", 0)


def test_a_typo_in_observed_is_an_error():
    @transform
    def nothing(model_in, *, model_out):
        pass

    with pytest.raises(errors.UnknownAddressError, match="Y"):
        check_involutive(counts, (2,), None, nothing, observed="Y", n=3, rng=0)


def test_a_forgotten_tilde_says_so():
    @gen
    def loops():
        k = poisson(3)
        for i in range(k):
            ("x", i) @ ~normal(0, 1)

    @gen
    def addressed():
        ("x", 0) @ normal(0, 1)

    @gen
    def branches():
        if bernoulli(0.5):
            x = ~normal(0, 1)

    for program in (loops, addressed, branches):
        with pytest.raises(errors.UntracedChoiceError, match="write `~` before it"):
            program.simulate()

    @gen
    def parameter():
        mu = normal(0, 1)
        x = ~normal(mu, 1)

    with pytest.raises(errors.ParameterError, match="draw it first, with `~`"):
        parameter.simulate()


def test_wrong_arguments_name_the_signature():
    with pytest.raises(errors.ArgumentError, match=r"counts\(n\) can.t be called with .*\(1, 2\)"):
        counts.simulate((1, 2))

    @gen
    def raises(n):
        return len(n)

    with pytest.raises(TypeError, match="has no len") as caught:
        raises.simulate((3,))
    assert not isinstance(caught.value, errors.GenDSLError)


def test_a_kernel_factory_is_no_kernel():
    with pytest.raises(errors.KernelError, match="mh makes kernels and is none itself"):
        cycle(mh)


def test_an_address_without_parentheses_is_refused():
    with pytest.raises(errors.UnsupportedSyntaxError, match="without parentheses"):

        @gen
        def bad():
            "x", 1 @ ~normal(0, 1)


# --- the type of a value is that of a draw, however it came into the trace -------------------------------


@pytest.mark.parametrize(
    "program, value",
    [
        (lambda: bernoulli(0.5), 1),
        (lambda: bernoulli(0.5), 1.0),
        (lambda: bernoulli(0.5), np.int64(1)),
        (lambda: poisson(3.0), 2.0),
        (lambda: poisson(3.0), True),
        (lambda: poisson(3.0), np.float64(2.0)),
        (lambda: normal(0.0, 1.0), 1),
        (lambda: normal(0.0, 1.0), np.float32(0.5)),
        (lambda: 0.5 + 0.5 * bernoulli(0.5), 1),
        (lambda: 1 + poisson(1.0), 3.0),
        (lambda: iid(bernoulli(0.5), 3), [0, 1, 1]),
        (lambda: iid(bernoulli(0.5), 3), np.array([0.0, 1.0, 1.0])),
        (lambda: iid(poisson(2.0), 3), [0, 1.0, 1]),
        (lambda: iid(normal(0.0, 1.0), 2), [0, 1]),
        (lambda: mvnormal([0.0, 0.0], np.eye(2)), (1, 0)),
        (lambda: dirichlet([1.0, 1.0]), [0, 1]),
        (lambda: multinomial(2, [0.5, 0.5]), [1.0, 1.0]),
        (lambda: product(bernoulli(0.5), bernoulli(0.5)), [1, 0]),
        (lambda: product(bernoulli(0.5), poisson(2.0)), [1.0, 0]),
        (lambda: categorical([0.5, 0.5]), 1.0),
    ],
)
def test_a_given_value_has_the_type_of_a_draw(program, value):
    @gen
    def model():
        x = ~program()

    drawn = model.simulate((), rng=0)
    for trace in (
        model.generate((), {"x": value}).trace,
        model.generate((), init={"x": value}).trace,
        drawn.update({"x": value}).trace,
    ):
        given, draw = trace["x"], drawn["x"]
        assert type(given) is type(draw)
        np.testing.assert_array_equal(given, value)
        if isinstance(draw, np.ndarray):
            assert given.dtype == draw.dtype


@pytest.mark.slow
def test_variable_selection_by_flipping_an_indicator_is_exact():
    """1 - g of a boolean mask is no mask: indexing by it picks columns 0 and 1, without an error."""
    X = np.array([[1.0, 0.2, -0.5], [0.3, 1.0, 0.8], [-0.7, 0.4, 1.0], [0.9, -1.1, 0.1]])
    y = np.array([1.3, 0.1, -1.0, 1.2])

    @gen
    def model():
        g = ~iid(bernoulli(0.5), 3)
        columns = X[:, g]
        y = ~mvnormal(np.zeros(4), np.eye(4) + columns @ columns.T)

    @gen
    def pick(trace):
        i = ~uniform_discrete(0, 2)

    @transform
    def flip(model_in, aux_in, *, model_out, aux_out):
        i = read(aux_in["i"])
        copy(aux_in["i"], aux_out["i"])
        g = read(model_in["g"])
        write(model_out["g"], [1 - g[j] if j == i else g[j] for j in range(3)], discrete)

    start, _ = model.generate((), {"y": y}, rng=0)
    run = sample(involutive(pick, flip, check=True), start, 6000, seed=1, record="g")
    density = {}
    for g in itertools.product([False, True], repeat=3):
        columns = X[:, np.array(g)]
        density[g] = multivariate_normal(np.zeros(4), np.eye(4) + columns @ columns.T).pdf(y)
    total = sum(density.values())
    for j in range(3):
        exact = sum(p for g, p in density.items() if g[j]) / total
        hits = run["g"][:, j].astype(float)
        assert abs(hits.mean() - exact) < 4 * monte_carlo_error(hits)


class Subset(Distribution):
    """A random subset of {0, 1}, as a Python set: a value that can be changed in place."""

    support = FiniteSet((set(), {0}, {1}, {0, 1}))

    def sample(self, rng):
        return {i for i in (0, 1) if rng.random() < 0.9}

    def logpdf(self, x):
        return len(x) * np.log(0.9) + (2 - len(x)) * np.log(0.1)


@gen
def subsets():
    z = ~Subset()


@pytest.mark.slow
def test_values_that_can_change_are_never_shared():
    trace = subsets.generate((), {"z": {0}}).trace
    z = trace["z"]
    z.add(1)
    assert trace["z"] == {0}

    @gen
    def pick(trace):
        i = ~uniform_discrete(0, 1)

    @transform
    def toggle(model_in, aux_in, *, model_out, aux_out):
        z = read(model_in["z"])
        z ^= {read(aux_in["i"])}
        write(model_out["z"], z)
        copy(aux_in["i"], aux_out["i"])

    start = subsets.simulate((), rng=0)
    run = sample(involutive(pick, toggle, check=True), start, 8000, seed=2, record=lambda t: len(t["z"]))
    sizes = next(iter(run.recorded.values()))
    for size, exact in ((0, 0.01), (1, 0.18), (2, 0.81)):
        hits = np.array(sizes) == size
        assert abs(hits.mean() - exact) < 4 * monte_carlo_error(hits)


def test_a_draw_that_its_own_density_excludes_is_an_error():
    class Wrong(Distribution):
        support = FiniteSet((0, 1))

        def sample(self, rng):
            return 1

        def logpdf(self, x):
            return 0.0 if x == 0 else -np.inf

    @gen
    def model():
        x = ~Wrong()

    with pytest.raises(errors.NaNError, match="sample and logpdf must agree") as caught:
        model.simulate()
    assert caught.value.address == ("x",)


def test_rounding_of_a_large_choice_excuses_no_drift_of_a_small_one():
    @gen
    def population():
        n = ~normal(1e6, 1e5)
        rate = ~gamma(2, 1e-9)

    @gen
    def step(trace):
        d = ~normal(0, 1e4)

    @transform
    def drift(model_in, aux_in, *, model_out, aux_out):
        d = read(aux_in["d"])
        write(model_out["n"], read(model_in["n"]) + d)
        write(aux_out["d"], -d)
        write(model_out["rate"], read(model_in["rate"]) + 1e-10)

    report = check_involutive(population, (), step, drift, n=20, rng=0)
    assert len(report.failures) == 20
    assert report.address == ("rate",)


def test_a_support_without_coordinates_shares_none():
    class Here(Distribution):
        class support(Support):
            dim = 0

            def contains(self, value):
                return value == 2.0

        support = support()

        def sample(self, rng):
            return 2.0

        def logpdf(self, x):
            return 0.0 if x == 2.0 else -np.inf

    @gen
    def model():
        c = ~Here()
        x = ~normal(0, 1)

    @transform
    def scale(model_in, *, model_out):
        write(model_out["x"], read(model_in["c"]) * read(model_in["x"]))

    _, info = involutive_mcmc(model.generate((), init={"x": 3.0}).trace, None, (), scale, rng=0)
    assert info.log_abs_det == pytest.approx(np.log(2.0))


@pytest.mark.parametrize("wrap", [lambda a: lambda t: a * t, lambda a: iter([a]), lambda a: a * 1j])
def test_return_values_that_could_hide_floats_are_refused(wrap):
    @gen
    def model():
        a = ~normal(0, 1)
        return wrap(a)

    @transform
    def f(model_in, *, model_out):
        model_in.retval

    with pytest.raises(errors.LostDerivativeError, match="may hold or compute floats"):
        involutive_mcmc(model.simulate((), rng=0), None, (), f)


def test_a_selection_may_name_what_exists_in_some_states_only():
    @gen
    def model():
        if switch := ~bernoulli(0.5):
            x = ~normal(0, 1)

    kernel = cycle(mh(select("switch")), mh(select("x"), skip_absent=True))
    run = sample(kernel, model.simulate((), rng=0), 2000, seed=0, record="switch")
    assert abs(run["switch"].mean() - 0.5) < 4 * monte_carlo_error(run["switch"])
    with pytest.raises(errors.UnknownAddressError):
        mh(select("x"))(model.generate((), {"switch": False}).trace, 0)
