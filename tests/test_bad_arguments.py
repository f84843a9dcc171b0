"""Bad arguments across the public interface: each is refused by name, at the user's line, with what to do.

`CALLS` are refused where they are called. Below them are programs and transforms, refused on the line that is
marked `# here`, as in `test_bad_inputs`.
"""

import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.optimize
import scipy.stats as st

from gendsl import (
    Distribution,
    affine,
    as_distribution,
    binom,
    check_involutive,
    continuous,
    copy,
    gamma,
    gen,
    iid,
    involutive_mcmc,
    load_trace,
    multinomial,
    mvnormal,
    normal,
    poisson,
    read,
    read_choices,
    sample,
    select,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.errors import (
    GenDSLError,
    KernelError,
    LabelError,
    LostDerivativeError,
    NaNError,
    NotADistributionError,
    ParameterError,
    RecursionDepthError,
    SupportError,
    UnknownAddressError,
    ValueTypeError,
    ZeroProbabilityError,
)
from gendsl.inference import (
    Kernel,
    adapt,
    birth_death,
    cycle,
    hmc,
    importance_sampling,
    involutive,
    log_likelihood,
    mala,
    maximise,
    mh,
    monte_carlo_error,
    nuts,
    particle_filter,
    random_walk,
    smc,
)
from gendsl.supports import FiniteSet, Interval, Real
from gendsl.testing import (
    CannotEnumerateError,
    assert_exact,
    assert_laws,
    assert_stationary,
    simulation_based_calibration,
    strategies,
)
from gendsl.viz import plot_acceptance, plot_k_trace, plot_posterior_structure, plot_trace_tree
from tests.test_bad_inputs import Row, marked_line


@gen
def model():
    x = ~normal(0, 1)
    y = ~normal(x, 1)


@gen
def plate(n):
    mu = ~normal(0, 10)
    for i in range(n):
        ("x", i) @ ~normal(mu, 1)


@gen
def vector():
    x = ~iid(normal(0, 1), 3)


@gen
def clusters(n):
    k = ~(1 + poisson(1))
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(mu[z], 1)


@gen
def unit():
    x = ~uniform(0, 1)


RNG = np.random.default_rng(1)


@transform
def stay(model_in, *, model_out):
    copy(model_in["x"], model_out["x"])


TRACE = model.generate((), {"y": 1.0}, rng=1).trace
MIXED = clusters.generate((2,), {"x": [0.1, 0.2]}, init={"k": 2}, rng=1).trace
WALK = mh(select("x"))
QUIET = {"seed": 1, "progress": False}
RUN = sample(WALK, TRACE, 5, **QUIET)
EMPTY = sample(WALK, TRACE, 0, **QUIET)
PARTICLES = importance_sampling(model, (), {"y": 1.0}, 5, rng=1)

CALLS = [
    # generators and seeds
    (lambda: model.simulate((), rng="abc"), ValueTypeError, "'abc' is neither a seed nor", "0 or more"),
    (lambda: model.simulate((), rng=1.5), ValueTypeError, "1.5 is neither a seed", "default_rng"),
    (lambda: model.simulate((), rng=-1), ValueTypeError, "expected non-negative integer"),
    (lambda: sample(WALK, TRACE, 3, seed="abc"), ValueTypeError, "'abc' is neither a seed nor"),
    (lambda: TRACE.update({"x": 1.0}, rng={}), ValueTypeError, "{} is neither a seed"),
    # observations that are missing
    (lambda: plate.generate((2,), {"x": [0.1, math.nan]}), NaNError, "observation is NaN", ("x", 1)),
    (lambda: vector.generate((), {"x": [0.1, math.nan, 0.3]}), NaNError, "entries of an observation", "x"),
    (lambda: model.reference.generate((), {"y": math.nan}), NaNError, "an observation is NaN", "y"),
    # distributions
    (lambda: as_distribution(5), NotADistributionError, "needs a distribution, got 5", "scipy.stats"),
    (lambda: as_distribution(normal), NotADistributionError, "call it with its parameters: normal(mean, sd)"),
    (lambda: iid(normal, 3), NotADistributionError, "iid needs a distribution", "normal(mean, sd)"),
    (lambda: affine(3), NotADistributionError, "affine needs a distribution, got 3"),
    (lambda: normal(0, 1) ** 2, ParameterError, "shifted, scaled and divided", "x = ~d"),
    (lambda: 1 / gamma(2, 1), ParameterError, "arithmetic on gamma(shape=2, scale=1)"),
    (lambda: abs(normal(0, 1)), ParameterError, "abs(x)"),
    (lambda: normal(0, 1) < 0, ParameterError, "x < 0"),
    (lambda: binom(10**19, 0.5).sample(RNG), ParameterError, "don't fit into 64 bits", "continuous"),
    (lambda: uniform_discrete(0, 10**30).sample(RNG), ParameterError, "don't fit into 64 bits"),
    (lambda: multinomial(10**20, [0.5, 0.5]).sample(RNG), ParameterError, "don't fit into 64 bits"),
    (lambda: iid(binom(10**19, 0.5), 2).sample(RNG), ParameterError, "don't fit into 64 bits"),
    (lambda: iid(normal(0, 1), 10**15).sample(RNG), ParameterError, "doesn't fit into memory", "fewer"),
    (lambda: FiniteSet(()), ParameterError, "FiniteSet: the elements are ()", "one or more"),
    (lambda: Interval(1, 0), ParameterError, "Interval"),
    # selections
    (lambda: select("x") & "y", ValueTypeError, "a selection & 'y'", "select('y')"),
    (lambda: select("x") | 3, ValueTypeError, "select(3)"),
    (lambda: select("x") - "y", ValueTypeError, "select('y')"),
    # kernels
    (lambda: nuts("k")(MIXED, 1), LabelError, "a discrete choice is selected", "gibbs", "k"),
    (lambda: hmc("z")(MIXED, 1), LabelError, "a discrete choice is selected", ("z", 0)),
    (lambda: nuts("muu")(MIXED, 1), UnknownAddressError, "did you mean 'mu'", "muu"),
    (lambda: mala("muu")(MIXED, 1), UnknownAddressError, "did you mean 'mu'", "muu"),
    (lambda: random_walk("muu")(MIXED, 1), UnknownAddressError, "did you mean 'mu'", "muu"),
    (lambda: hmc("mu")(MIXED, 1), KernelError, "has no step size yet", "warmup=1000"),
    (lambda: mh(normal(0, 1)), KernelError, "needs a selection or an address, got normal(mean=0, sd=1)"),
    (lambda: Kernel(5, "five"), KernelError, "step=5", "(trace, rng) -> (trace, info)"),
    (lambda: Kernel(lambda trace, rng: (trace, None), 5), KernelError, "name=5", "a string"),
    (lambda: adapt(nuts("x"), 5), ValueTypeError, "a chain starts from a trace, got 5", "model.generate"),
    (lambda: maximise(5), ValueTypeError, "a chain starts from a trace, got 5"),
    (lambda: maximise(TRACE, iterations=0), ValueTypeError, "iterations=0", "1 or more"),
    (lambda: maximise(TRACE, tolerance=-1), ValueTypeError, "tolerance=-1"),
    (lambda: log_likelihood(5), ValueTypeError, "needs a trace, got 5"),
    (lambda: birth_death("mu", propose="mu"), KernelError, "the proposal is 'mu'", "@gen"),
    (lambda: involutive(None, stay, check=np.zeros(2)), KernelError, "check=array", "True, False or"),
    # files
    (lambda: load_trace(0), ValueTypeError, "load_trace got 0", "such as 'trace.json'"),
    (lambda: load_trace(np.zeros(2), model), ValueTypeError, "load_trace got array"),
    (lambda: read_choices(True), ValueTypeError, "read_choices got True", "the path of a file"),
    (lambda: TRACE.save(None), ValueTypeError, "trace.save got None", "the path of a file"),
    # runs
    (lambda: sample(WALK, TRACE, 3, executor=5), ValueTypeError, "executor=5", "ThreadPoolExecutor"),
    (lambda: sample(WALK, TRACE, 3, executor=ThreadPoolExecutor), ValueTypeError, "executor=<class"),
    (lambda: sample(WALK, [TRACE, unit.simulate()], 3), ValueTypeError, "of model and of unit", "one model"),
    (lambda: sample(WALK, TRACE, 3, record=[]), ValueTypeError, "record=[] records nothing"),
    (lambda: EMPTY.summary(), ValueTypeError, "summary got a run without draws"),
    (lambda: EMPTY.to_arviz(), ValueTypeError, "to_arviz got a run without draws"),
    (lambda: EMPTY["x"], UnknownAddressError, "the run has no draws of x"),
    (lambda: RUN.summary(5), ValueTypeError, "names=5", "list of quantities"),
    (lambda: monte_carlo_error("abc"), ValueTypeError, "draws that are numbers, got 'abc'"),
    (lambda: monte_carlo_error(5), ValueTypeError, "draws that are numbers, got 5"),
    # particles
    (lambda: smc([], []), ValueTypeError, "smc starts from particles, got []", "importance_sampling"),
    (lambda: smc(PARTICLES, 5), ValueTypeError, "smc needs trace translators, got 5"),
    (lambda: particle_filter(plate, 5, 5), ValueTypeError, "steps=5", "(args, observations)"),
    # tests
    (lambda: assert_stationary(WALK, 5), ValueTypeError, "needs a model, got 5", "@gen"),
    (lambda: assert_stationary(WALK, model, false_alarm=5), ValueTypeError, "false_alarm=5", "a probability"),
    (lambda: assert_stationary(WALK, model, statistics=5), ValueTypeError, "statistics=5", "dict"),
    (lambda: assert_stationary(WALK, model, statistics={}), ValueTypeError, "statistics={}"),
    (
        lambda: assert_stationary(WALK, model, statistics={"a": repr}, draws=100, steps=1, chains=8),
        ValueTypeError, "a is '<trace of model", "return a number",
    ),
    (lambda: simulation_based_calibration(WALK, 5, observed="y"), ValueTypeError, "needs a model, got 5"),
    (lambda: assert_exact(5, model), KernelError, "5 is no kernel"),
    (lambda: assert_exact(WALK, 5), ValueTypeError, "needs a model, got 5"),
    (lambda: assert_laws(model, cases=0), ValueTypeError, "cases=0", "1 or more"),
    (lambda: strategies.values(5), NotADistributionError, "values needs a distribution, got 5"),
    # pictures
    (lambda: plot_acceptance(RUN, axes=5), ValueTypeError, "axes=5", "matplotlib"),
    (lambda: plot_posterior_structure(RUN, most=0), ValueTypeError, "most=0"),
    (lambda: plot_k_trace(RUN, "x", most=0), ValueTypeError, "most=0"),
    (lambda: plot_trace_tree(TRACE, most=0), ValueTypeError, "most=0"),
    (lambda: plot_trace_tree(TRACE, depth=-1), ValueTypeError, "depth=-1"),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda call: str(call[0].__code__.co_firstlineno))
def test_bad_call(call):
    function, kind, *fragments = call
    at = None
    if fragments[-1] in ("x", "y", "k", "muu") or isinstance(fragments[-1], tuple):
        at = fragments.pop()
    with pytest.raises(GenDSLError) as caught:
        function()
    error = caught.value
    assert type(error) is kind, str(error)
    for fragment in fragments:
        assert fragment in str(error)
    assert error.address == (at if at is None or isinstance(at, tuple) else (at,))
    first = function.__code__.co_firstlineno
    assert error.location.filename == __file__ and first <= error.location.lineno <= first + 1, str(error)
    assert error.fix or isinstance(error, ParameterError | ValueTypeError)


def test_a_name_of_a_quantity_is_not_taken_apart():
    @gen
    def named():
        mean = ~normal(0, 1)

    run = sample(mh(select("mean")), named.simulate(rng=1), 10, record="mean", **QUIET)
    assert list(run.summary("mean")) == ["mean"]


def test_the_runtime_of_the_environment_is_checked():
    environment = {**os.environ, "GENDSL_RUNTIME": "refrence"}
    command = [sys.executable, "-c", "from gendsl import gen"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "GENDSL_RUNTIME is 'refrence'" in done.stderr
    assert '"reference", "compiled", "native" or "python"' in done.stderr


# --- programs, kernels and transforms ----------------------------------------------------------------

TABLE = []


def bad(error, *fragments, at=None):
    """Add a function to the table: it must fail with `error` on its line `# here`, about the address `at`."""

    def add(function):
        path = at if at is None or isinstance(at, tuple) else (at,)
        TABLE.append(Row(function, error, fragments, path))
        return function

    return add


def step(f, trace=TRACE, q=None, **options):
    return involutive_mcmc(trace, q, (), f, rng=1, **options)


@bad(RecursionDepthError, "tree makes calls more than", "may never halt", "recursion")
def endless_program():
    @gen
    def tree(depth):
        value = ~normal(0, 1)
        left = ~tree(depth + 1)  # here

    tree.simulate((0,))


@bad(RecursionDepthError, "may never halt")
def endless_program_with_observations():
    @gen
    def tree(depth):
        value = ~normal(0, 1)
        left = ~tree(depth + 1)  # here

    tree.generate((0,), {"value": 1.0})


@bad(RecursionDepthError, "program makes calls", "may never halt")
def endless_after_an_update():
    def deeper(x):
        return deeper(x + 1)  # here

    @gen
    def program():
        x = ~normal(0, 1)
        y = ~normal(0.0 if x < 100 else deeper(x), 1)

    program.simulate(rng=1).update({"x": 200.0})


@bad(RecursionDepthError, "transform f makes calls", "may never halt")
def endless_transform():
    @transform
    def f(model_in, *, model_out):
        f(model_in, model_out=model_out)  # here

    step(f)


@bad(ParameterError, "high must not be less than low", "'k' is impossible: -3 is outside the support of",
     at=("z", 0))  # fmt: skip
def impossible_value_that_breaks_the_program():
    @gen
    def program():
        k = ~poisson(3)
        ("z", 0) @ ~uniform_discrete(0, k - 1)  # here

    program.generate((), {"k": -3})


@bad(ParameterError, "high must not be less than low", "'k' is impossible: -3 is outside", at=("z", 0))
def impossible_value_in_an_update():
    @gen
    def program():
        k = ~poisson(3)
        if k != 0:
            ("z", 0) @ ~uniform_discrete(0, k - 1)  # here

    program.generate((), {"k": 2}, rng=1).trace.update({"k": -3})


@bad(NotADistributionError, "~ is before 5.0, which is no distribution", "x = ~normal(0, 1)", at="x")
def choice_from_a_number():
    @gen
    def program():
        x = ~5.0  # here

    program.simulate()


@bad(NotADistributionError, "no distribution and no call of a @gen function", at="x")
def choice_from_a_class():
    @gen
    def program():
        x = ~normal  # here

    program.reference.simulate()


class NoDensity(Distribution):
    support = Real()

    def sample(self, rng):
        return 0.0


class NoGenerator(Distribution):
    support = Real()

    def sample(self):
        return 0.0

    def logpdf(self, x):
        return 0.0


class NoSupport(Distribution):
    support = (0, 1)

    def sample(self, rng):
        return 0.5

    def logpdf(self, x):
        return 0.0


@bad(NotADistributionError, "NoDensity is a distribution, and must define logpdf(self, x)", at="x")
def class_without_a_density():
    @gen
    def program():
        x = ~NoDensity()  # here

    program.simulate()


@bad(NotADistributionError, "NoGenerator.sample can't be called with a generator", "(self, rng)", at="x")
def class_whose_sampler_takes_no_generator():
    @gen
    def program():
        x = ~NoGenerator()  # here

    program.simulate()


@bad(NotADistributionError, "the support of NoSupport is (0, 1)", "Interval(0, 1)", at="x")
def class_whose_support_is_none():
    @gen
    def program():
        x = ~NoSupport()  # here

    program.simulate()


@bad(KernelError, "was given a trace of model and returned one of unit", "trace.update(...)")
def kernel_of_another_model():
    def lost(trace, rng):  # here
        return unit.simulate((), rng=rng), None

    sample(cycle(WALK, lost), TRACE, 3, **QUIET)


@bad(KernelError, "kernel counting returned 3.0", "pair (trace, info)")
def kernel_that_returns_a_number():
    def counting(trace, rng):  # here
        return 3.0

    sample(counting, TRACE, 3, **QUIET)


@bad(KernelError, "a choice that is none of a component's", "under 'mu'", "`mu = ~normal(0, 1)`", at="nu")
def proposal_of_a_component_elsewhere():
    @gen
    def propose(trace):  # here
        nu = ~normal(0, 1)

    step_up(birth_death("mu", propose=propose))


@bad(KernelError, "makes a choice that is none of a component's", "without the number", at=("mu", "value"))
def proposal_of_a_component_in_a_namespace():
    @gen
    def inner():
        value = ~normal(0, 1)

    @gen
    def propose(trace):  # here
        mu = ~inner()

    step_up(birth_death("mu", propose=propose))


def step_up(kernel):
    """A birth, as from one component there is no death."""
    kernel(clusters.generate((0,), None, init={"k": 1}, rng=1).trace, 1)


@bad(CannotEnumerateError, "rng.standard_normal has no finite list", "assert_stationary tests", at="x")
def exact_test_of_a_continuous_model():
    @gen
    def program():
        x = ~normal(0, 1)  # here

    assert_exact(WALK, program)


@bad(LostDerivativeError, "scipy.stats.norm.cdf would drop the derivative", "scipy.special.ndtr")
def scipy_stats_in_a_transform():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], st.norm.cdf(read(model_in["x"], continuous)))  # here

    step(f)


@bad(LostDerivativeError, "scipy.stats.norm.ppf would drop the derivative")
def frozen_scipy_stats_in_a_transform():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], st.norm(0, 1).ppf(read(model_in["x"], continuous)))  # here

    step(f)


@bad(LostDerivativeError, "scipy.linalg", "expm would drop the derivative")
def scipy_linalg_in_a_transform():
    @transform
    def f(model_in, *, model_out):
        x = read(model_in["x"], continuous)
        write(model_out["x"], scipy.linalg.expm([[x]])[0, 0])  # here

    step(f)


@bad(LostDerivativeError, "scipy.optimize", "brentq would drop the derivative")
def scipy_solver_in_a_transform():
    @transform
    def f(model_in, *, model_out):
        x = read(model_in["x"], continuous)
        write(model_out["x"], scipy.optimize.brentq(lambda t: t - x, -10, 10))  # here

    step(f)


NOT_SEEN = {
    "scipy.stats": lambda x: st.norm.cdf(x),
    "a frozen distribution": lambda x: st.norm(0, 1).ppf(x),
    "a solver": lambda x: scipy.optimize.brentq(lambda t: t - x, -10, 10),
    "a minimiser": lambda x: scipy.optimize.minimize_scalar(lambda t: (t - x) ** 2).x,
    "scipy.linalg": lambda x: scipy.linalg.solve(np.array([[x, 0], [0, 1]]), [1, 2])[0],
    "numpy.fft": lambda x: np.fft.fft(np.array([x, 1]))[0].real,
    "a ufunc of an array of objects": lambda x: scipy.special.gamma(np.array([x, 1]))[0],
}


@pytest.mark.parametrize("name", NOT_SEEN)
def test_a_function_without_derivatives_in_a_lambda(name):
    function = NOT_SEEN[name]

    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], function(read(model_in["x"], continuous)))

    for _ in range(8):  # what C makes of an error that it met changes once Python has specialised the code
        with pytest.raises(LostDerivativeError) as caught:
            step(f)
        if name != "numpy.fft":  # NumPy 1.26 asks for complex(x), which says so itself
            assert "a derivative can't be followed: " in str(caught.value)
            assert "in a plain `def`, not in a lambda" in str(caught.value)
        assert caught.value.location.filename == __file__


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x: x + "a", TypeError),
        (lambda x: x.shape, AttributeError),
        (lambda x: math.log(-1.0) + x, ValueError),
        (lambda x: np.reshape([x, 1], (3,))[0], ValueError),
        (lambda x: x + scipy.integrate.quad(lambda t: t + "a", 0, 1)[0], TypeError),
        (lambda x: x + np.linalg.inv(np.zeros((2, 2)))[0, 0], np.linalg.LinAlgError),
    ],
)
def test_other_errors_of_a_transform_are_left_as_they_are(function, error):
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], function(read(model_in["x"], continuous)))

    with pytest.raises(error) as caught:
        step(f)
    assert caught.type is error


@bad(LostDerivativeError, "numpy.linalg.norm(..., ord=1) of a matrix would drop the derivative")
def norm_of_a_matrix_in_a_transform():
    @transform
    def f(model_in, *, model_out):
        v = read(model_in["v"], continuous)
        write(model_out["v"], v * np.linalg.norm(np.outer(v, v), 1))  # here

    @gen
    def program():
        v = ~mvnormal([0.0, 0.0], np.eye(2))

    step(f, program.simulate(rng=1))


@bad(SupportError, "the density of normal(mean=0, sd=1) at", "underflows to 0", at="x")
def move_to_where_the_density_underflows():
    @transform
    def f(model_in, *, model_out):
        x = read(model_in["x"])
        write(model_out["x"], x * 1e200 if abs(x) < 1e100 else x / 2e200)  # here

    step(f, check=True)


@bad(ZeroProbabilityError, "the density of normal(mean=0, sd=1) at 1e+200 underflows to 0", at="x")
def start_where_the_density_underflows():
    trace = model.generate((), None, init={"x": 1e200, "y": 0.0}).trace
    WALK(trace, 1)  # here


@bad(ZeroProbabilityError, "finite and sum to -inf")
def start_where_the_sum_overflows():
    @gen
    def program():
        x = ~gamma(1, 1)
        y = ~gamma(1, 1)

    trace = program.generate((), None, init={"x": 1.5e308, "y": 1.5e308}).trace
    WALK(trace, 1)  # here


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.function.__name__)
def test_bad_program(row):
    with pytest.raises(GenDSLError) as caught:
        row.function()
    error = caught.value
    text = str(error)
    assert type(error) is row.error, text
    for fragment in row.fragments:
        assert fragment in text
    assert error.address == row.address, text
    assert (error.location.filename, error.location.lineno) == (__file__, marked_line(row.function)), text
    assert error.fix


# --- what isn't an error any more, and what an error of Python's own is told -------------------------


def test_norms_of_vectors_have_derivatives():
    """The determinant there and back, for each order; and finite differences of the map."""

    @gen
    def program():
        v = ~mvnormal([0.0, 0.0, 0.0], np.eye(3))

    for order in (1, 3, 0.5, -1, np.inf, -np.inf, 2, None):

        @transform
        def f(model_in, *, model_out, order=order):
            v = read(model_in["v"])
            write(model_out["v"], v / np.linalg.norm(v, order) ** 2)  # of size 1 / |v|, and back

        check_involutive(program, (), None, f, n=10, rng=1).raise_if_failed()


def test_an_impossible_value_is_named_beside_an_error_of_the_program():
    @gen
    def program():
        k = ~poisson(3)
        x = ~normal([0.0, 1.0][k], 1)

    with pytest.raises(IndexError) as caught:
        program.generate((), {"k": -3})
    assert caught.value.__notes__ == [
        "gendsl: 'k' is impossible: -3 is outside the support of poisson(rate=3)"
    ]
    with pytest.raises(IndexError) as caught:
        program.generate((), {"k": 3})
    assert not hasattr(caught.value, "__notes__")


def test_a_proposal_whose_density_underflows_says_so():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], -1e200 * read(model_in["x"]))

    _, info = step(f)
    assert info.reason == "density 0 at 'x': it underflows"

    @gen
    def far(trace):
        x = ~normal(1e200, 1)

    _, info = mh(far)(TRACE, 1)
    assert info.reason == "density 0 at 'x': it underflows"


def test_a_model_and_its_reference_are_one_model():
    """A kernel may return the trace of the other runtime, or one made by the model anew."""

    def other(trace, rng):
        choices = {path: trace[path] for path in trace.choices}
        return model.reference.generate((), {"y": trace["y"]}, init={"x": choices["x",]}).trace, None

    run = sample(cycle(other, WALK), TRACE, 3, **QUIET)
    assert len(run) == 3


def test_huge_counts_can_be_scored():
    assert uniform_discrete(0, 10**30).logpdf(5) == pytest.approx(-math.log(10**30 + 1))
    assert math.isfinite(binom(10**19, 0.5).logpdf(5 * 10**18))
