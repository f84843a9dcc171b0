"""Bad programs and calls: each is refused with an error that says what happened, where, and what to do.

One table. A row is a function that does something wrong on the line marked `# here`; the error must be
of the row's class, point at that line, name the address, and contain the fragments.
"""

import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import gendsl
from gendsl import (
    bernoulli,
    categorical,
    check_involutive,
    choicemap,
    continuous,
    copy,
    dirichlet,
    discrete,
    gamma,
    gen,
    iid,
    involutive_mcmc,
    mvnormal,
    normal,
    pair,
    poisson,
    read,
    sample,
    select,
    transform,
    truncated_normal,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.errors import (
    AddressConflictError,
    CoverageError,
    DimensionError,
    DuplicateAddressError,
    GenDSLError,
    HandleError,
    InvalidAddressError,
    InvolutionError,
    KernelError,
    LabelError,
    LostDerivativeError,
    MissingAddressError,
    MissingChoiceError,
    MoveNaNError,
    NaNError,
    ObservedError,
    ParameterError,
    ProtectedObservationError,
    ReadError,
    SingularJacobianError,
    SourceUnavailableError,
    SupportError,
    UnknownAddressError,
    UnsupportedSyntaxError,
    UntracedChoiceError,
    ValueTypeError,
)
from gendsl.inference import cycle, involutive, mh, mixture, nuts, repeat
from gendsl.supports import FiniteSet, Real


class Row(NamedTuple):
    """A bad input and what its error must say."""

    function: Callable[[], Any]
    error: type[GenDSLError]
    fragments: tuple[str, ...]
    address: Any


TABLE: list[Row] = []


def bad(error: type[GenDSLError], *fragments: str, at: Any = None) -> Callable[[Any], Any]:
    """Add a function to the table: it must fail with `error`, about the address `at`."""

    def add(function: Callable[[], Any]) -> Callable[[], Any]:
        path = at if at is None or isinstance(at, tuple) else (at,)
        TABLE.append(Row(function, error, fragments, path))
        return function

    return add


def marked_line(function: Callable[[], Any]) -> int:
    """The number of the line marked `# here` in the source of a function."""
    lines, start = inspect.getsourcelines(function)
    (marked,) = (number for number, line in enumerate(lines, start) if line.rstrip().endswith("# here"))
    return marked


# --- models and moves that the rows share ------------------------------------------------------------


@gen
def one_normal():
    x = ~normal(0, 1)
    y = ~normal(x, 1)


@gen
def walk(trace):
    dx = ~normal(0, 1)


@gen
def regression(xs):
    slope = ~normal(0, 1)
    for i, x in enumerate(xs):
        ("y", i) @ ~normal(slope * x, 1)


@gen
def switching():
    k = ~uniform_discrete(1, 2)
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    z = ~normal(sum(mu), 1)


@gen
def offset(trace):
    if trace["k"] == 1:
        u = ~normal(0, 1)


def start(model=one_normal, args=(), observations=None, init=None):
    return model.generate(args, observations, init=init, rng=1).trace


def step(f, q=walk, model=one_normal, observations=None, init=None, check=False, q_args=()):
    return involutive_mcmc(start(model, (), observations, init), q, q_args, f, check=check, rng=1)


# --- the language: when a function is decorated ------------------------------------------------------


@bad(UnsupportedSyntaxError, "without an address", "name = ~...")
def no_address():
    @gen
    def model():
        return ~normal(0, 1)  # here


@bad(UnsupportedSyntaxError, "inside a nested lambda", "@gen")
def choice_in_lambda():
    @gen
    def model():
        f = lambda: "x" @ ~normal(0, 1)  # here
        return f()


@bad(UnsupportedSyntaxError, "inside a nested def", "decorate the inner function")
def choice_in_nested_def():
    @gen
    def model():
        def draw(i):
            return ("x", i) @ ~normal(0, 1)  # here

        return draw(0)


@bad(UnsupportedSyntaxError, "can't be a generator", "list")
def generator_body():
    @gen
    def model():
        x = ~normal(0, 1)
        yield x  # here


@bad(UnsupportedSyntaxError, "can't be async", "plain `def`")
def async_body():
    @gen
    async def model():  # here
        x = ~normal(0, 1)


@bad(UnsupportedSyntaxError, "() is not an address", "at least one component")
def empty_address():
    @gen
    def model():
        () @ ~normal(0, 1)  # here


@bad(UnsupportedSyntaxError, "list, set or dict", "tuple")
def list_address():
    @gen
    def model():
        ["x", 0] @ ~normal(0, 1)  # here


@bad(UnsupportedSyntaxError, "a, b", "gives no address", '"name" @ ~...')
def choice_into_tuple():
    @gen
    def model():
        (a, b) = ~mvnormal(np.zeros(2), np.eye(2))  # here


@bad(UnsupportedSyntaxError, "node.x", "gives no address")
def choice_into_attribute():
    @gen
    def model(node):
        node.x = ~normal(0, 1)  # here


@bad(UnsupportedSyntaxError, "gives no address", "one element at a time", '"name" @ ~...')
def choice_into_slice():
    @gen
    def model():
        x = np.zeros(3)
        x[:] = ~iid(normal(0, 1), 3)  # here


@bad(UnsupportedSyntaxError, "which of several targets")
def choice_into_two_names():
    @gen
    def model():
        a = b = ~normal(0, 1)  # here


@bad(UnsupportedSyntaxError, "__gendsl__", "another name")
def reserved_name():
    @gen
    def model():
        __gendsl__ = 3  # here


@bad(UnsupportedSyntaxError, "needs a function defined with `def`", "<lambda>")
def gen_of_lambda():
    gen(lambda: 3)  # here


@bad(SourceUnavailableError, "not available", "save the code in a file")
def gen_of_exec():
    space = {}
    exec(compile("def model():\n    return 3\n", "<nowhere>", "exec"), space)
    gen(space["model"])  # here


@bad(UnsupportedSyntaxError, "~one_normal is not a traced call", "call it")
def call_without_parentheses():
    @gen
    def model():
        x = ~one_normal  # here


@bad(UnsupportedSyntaxError, "splices a call of a generative function", "give the choice an address")
def splice_of_a_distribution():
    @gen
    def model():
        ... @ ~normal(0, 1)  # here


# --- the language: when a program runs ---------------------------------------------------------------


@bad(DuplicateAddressError, "two choices at one address", "index", at="x")
def duplicate_choice():
    @gen
    def model():
        for _ in range(2):
            x = ~normal(0, 1)  # here

    model.simulate()


@bad(DuplicateAddressError, "two calls at one address", at="left")
def duplicate_call():
    @gen
    def model():
        "left" @ ~one_normal()
        "left" @ ~one_normal()  # here

    model.simulate()


@bad(AddressConflictError, "both a choice and a namespace", "rename", at="x")
def choice_and_namespace():
    @gen
    def model():  # here
        x = ~normal(0, 1)
        ("x", 0) @ ~normal(0, 1)

    model.simulate()


@bad(InvalidAddressError, "[0, 1]", "not hashable", "strings, numbers and tuples", at=("x", [0, 1]))
def unhashable_address():
    @gen
    def model():
        where = [0, 1]
        ("x", where) @ ~normal(0, 1)  # here

    model.simulate()


@bad(MissingAddressError, "without an address", "give it one")
def distribution_held_in_a_variable():
    @gen
    def model(d):
        return ~d  # here

    model.simulate((normal(0, 1),))


@bad(MissingAddressError, "one_normal is not a traced call", "call it", at="x")
def program_held_in_a_variable():
    @gen
    def model(program):
        x = ~program  # here

    model.simulate((one_normal,))


@bad(MissingAddressError, "splices a call of a generative function", "give a choice an address")
def splice_of_a_variable():
    @gen
    def model(d):
        ... @ ~d  # here

    model.simulate((normal(0, 1),))


@bad(UntracedChoiceError, "without `~`", "addr @ ~one_normal(...)")
def untraced_call_in_a_body():
    @gen
    def model():
        one_normal()  # here

    model.simulate()


@bad(UntracedChoiceError, "only inside a @gen function", ".sample(rng)")
def choice_outside_gen():
    x = ~normal(0, 1)  # here


@bad(UntracedChoiceError, "one_normal", "@gen")
def call_outside_gen():
    "x" @ ~one_normal  # here


@bad(ValueTypeError, "tuple", "write (3,)")
def args_not_a_tuple():
    regression.simulate(3)  # here


@bad(ValueTypeError, "tuple", "write ([1.0],)")
def args_a_list():
    regression.generate([1.0], {("y", 0): 1.0})  # here


# --- distributions' parameters, inside a model -------------------------------------------------------


@bad(ParameterError, "normal: sd must be positive", "-1.0", at=("x", 1))
def negative_sd():
    @gen
    def model():
        for i in range(2):
            ("x", i) @ ~normal(0, 1.0 - 2 * i)  # here

    model.simulate()


@bad(ParameterError, "normal: sd", "nan", at="x")
def nan_sd():
    @gen
    def model():
        x = ~normal(0, math.nan)  # here

    model.simulate()


@bad(ParameterError, "bernoulli: p", "1.5", at="b")
def probability_above_one():
    @gen
    def model():
        b = ~bernoulli(1.5)  # here

    model.simulate()


@bad(ParameterError, "normal: mean", "product", at="x")
def array_parameter():
    @gen
    def model():
        x = ~normal(np.zeros(3), 1)  # here

    model.simulate()


@bad(ParameterError, "dirichlet: alpha", at="w")
def negative_concentration():
    @gen
    def model():
        w = ~dirichlet([1.0, -1.0])  # here

    model.simulate()


@bad(ParameterError, "categorical: probs", "sum", at="z")
def probabilities_do_not_sum():
    @gen
    def model():
        z = ~categorical([0.5, 0.6])  # here

    model.simulate()


@bad(ParameterError, "mvnormal: cov", "positive definite", at="v")
def covariance_not_positive_definite():
    @gen
    def model():
        v = ~mvnormal(np.zeros(2), np.ones((2, 2)))  # here

    model.simulate()


@bad(ParameterError, "uniform", "low", "high", at="u")
def interval_upside_down():
    @gen
    def model():
        u = ~uniform(1, 0)  # here

    model.simulate()


@bad(ParameterError, "poisson: rate", "'3'", at="n")
def string_parameter():
    @gen
    def model():
        n = ~poisson("3")  # here

    model.simulate()


@bad(ParameterError, "gamma: shape", at=("inner", "g"))
def parameter_in_a_callee():
    @gen
    def inner(shape):
        g = ~gamma(shape, 1)  # here

    @gen
    def model():
        "inner" @ ~inner(0)

    model.simulate()


@bad(ParameterError, "truncated_normal", at="t")
def empty_truncation():
    @gen
    def model():
        t = ~truncated_normal(0, 1, 2, 2)  # here

    model.simulate()


@bad(ValueTypeError, "normal: a value must be a number", "'tall' of type str", at="x")
def string_value():
    @gen
    def model():
        x = ~normal(0, 1)  # here

    model.generate((), {"x": "tall"})


# --- constraints and observations --------------------------------------------------------------------


@bad(UnknownAddressError, "no choice at an address given in observations", "did you mean 'slope'?", at="slop")
def typo_in_observations():
    regression.generate(([1.0],), {"slop": 1.0})  # here


@bad(UnknownAddressError, "init", "did you mean 'slope'?", at="slpe")
def typo_in_init():
    regression.generate(([1.0],), {("y", 0): 1.0}, init={"slpe": 1.0})  # here


@bad(UnknownAddressError, "observations", "'y' has 2 addresses below it", at=("y", 2))
def observations_too_long():
    regression.generate(([1.0, 2.0],), {"y": np.zeros(3)})  # here


@bad(UnknownAddressError, "both as an observation and as a starting value", "leave it out", at="slope")
def observed_and_initialised():
    regression.generate(([1.0],), {"slope": 1.0}, init={"slope": 2.0})  # here


@bad(MissingChoiceError, "not given", "every choice", at=("y", 1))
def assess_too_few():
    @gen
    def model():
        for i in range(2):
            ("y", i) @ ~normal(0, 1)  # here

    model.assess((), {"y": [0.0]})


@bad(UnknownAddressError, "choices", at="intercept")
def assess_too_many():
    regression.assess(([1.0],), {"slope": 1.0, ("y", 0): 0.0, "intercept": 1.0})  # here


@bad(ValueTypeError, "a choice map can't be made from 3.0", "give a dict")
def observations_of_a_wrong_type():
    regression.generate(([1.0],), 3.0)  # here


@bad(AddressConflictError, "'x' has a value, and so has ('x', 'y') below it", "rename", at="x")
def conflicting_choice_map():
    choicemap({"x": 1.0, ("x", "y"): 2.0})  # here


@bad(DuplicateAddressError, "two values are given for one address", at="x")
def duplicate_in_choice_map():
    choicemap({"x": 1.0, ("x",): 2.0})  # here


@bad(UnknownAddressError, "did you mean 'slope'?", at="slop")
def typo_in_choice_map_lookup():
    choicemap({"slope": 1.0})["slop"]  # here


# --- traces ------------------------------------------------------------------------------------------


@bad(UnknownAddressError, "trace of one_normal has no such choice", at="w")
def unknown_choice():
    start()["w"]  # here


@bad(UnknownAddressError, "namespace", "trace.choices['y']", at="y")
def namespace_is_no_choice():
    start(regression, ([1.0, 2.0],))["y"]  # here


@bad(InvalidAddressError, "slice")
def slice_of_a_trace():
    start()[0:2]  # here


@bad(InvalidAddressError, "not hashable")
def list_as_trace_address():
    start()[["x"]]  # here


@bad(UnknownAddressError, "the update", "did you mean 'slope'?", at="slpe")
def typo_in_update():
    start(regression, ([1.0],)).update({"slpe": 1.0})  # here


@bad(ValueTypeError, "tuple", "write (3,)")
def update_args_not_a_tuple():
    start(regression, ([1.0],)).update(args=3)  # here


@bad(UnknownAddressError, "named in the selection", "did you mean 'slope'?", at="slpe")
def typo_in_selection():
    start(regression, ([1.0],)).regenerate(select("slpe"))  # here


@bad(UnknownAddressError, "named in the selection", at="slpe")
def typo_in_complement():
    start(regression, ([1.0],)).regenerate(~select("slpe"))  # here


@bad(ValueTypeError, "expected a selection, got 'slope'", "select('slope')")
def selection_is_a_string():
    start(regression, ([1.0],)).regenerate("slope")  # here


@bad(ObservedError, "observation is selected", "~select(trace.observed)", at=("y", 0))
def regenerate_an_observation():
    start(regression, ([1.0],), {("y", 0): 1.0}).regenerate(select("y"))  # here


@bad(UnknownAddressError, "the projection", at="q")
def typo_in_projection():
    start().project(select("q"))  # here


@bad(UnknownAddressError, "the gradient", at="q")
def typo_in_gradient():
    start().gradients(select("q"))  # here


@bad(LostDerivativeError, "discrete choice has no gradient", "continuous choices only", at="k")
def gradient_of_a_discrete_choice():
    start(switching).gradients(select("k"))  # here


@bad(LostDerivativeError, "float(x) drops the derivative", "leave the choice out", at="y")
def gradient_through_float():
    @gen
    def model():
        x = ~normal(0, 1)
        y = ~normal(float(x), 1)  # here

    model.simulate(rng=1).gradients(select("x"))


@bad(NaNError, "positive probability")
def update_from_probability_zero():
    @gen
    def model():
        x = ~normal(0, 1)
        y = ~uniform(0, 1)

    trace, _ = model.generate((), {"y": 2.0})
    trace.update({"x": 1.0})  # here


@bad(ValueTypeError, "neither true nor false", "|, & and ~")
def selection_with_and():
    select("x") and select("y")  # here


# --- transforms: when they are decorated -------------------------------------------------------------


@bad(UnsupportedSyntaxError, "3 input", "def f(model_in, aux_in, *, model_out, aux_out)")
def transform_of_three_traces():
    @transform
    def f(a, b, c, *, d):  # here
        copy(a, d)


@bad(UnsupportedSyntaxError, "1 input and 2 output", "keyword-only with a default")
def transform_with_too_many_outputs():
    @transform
    def f(model_in, *, model_out, scale):  # here
        write(model_out["x"], scale)


@bad(UnsupportedSyntaxError, "*traces")
def transform_with_star_args():
    @transform
    def f(*traces):  # here
        pass


@bad(UnsupportedSyntaxError, "return", "write")
def transform_that_returns():
    @transform
    def f(model_in, *, model_out):
        x = read(model_in["x"], continuous)
        return -x  # here


@bad(UnsupportedSyntaxError, "generator")
def transform_that_yields():
    @transform
    def f(model_in, *, model_out):
        yield read(model_in["x"], continuous)  # here


@bad(UnsupportedSyntaxError, "async")
def async_transform():
    @transform
    async def f(model_in, *, model_out):  # here
        pass


@bad(ValueTypeError, "no extra parameter 'step'", "it has: scale", "keyword-only")
def bind_unknown_parameter():
    @transform
    def f(model_in, *, model_out, scale=1.0):
        pass

    f.bind(step=2.0)  # here


@bad(HandleError, "f", "involutive_mcmc")
def transform_called_on_traces():
    @transform
    def f(model_in, *, model_out):
        pass

    f(start(), model_out=start())  # here


# --- transforms: reading -----------------------------------------------------------------------------


@bad(ReadError, "model_in has no such choice", "did you mean 'x'?", at="xx")
def read_typo():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        x = read(model_in["xx"], continuous)  # here

    step(f)


@bad(ReadError, "namespace", "copy the whole namespace", at="mu")
def read_a_namespace():
    @transform
    def f(model_in, *, model_out):
        mu = read(model_in["mu"])  # here

    step(f, None, switching)


@bad(ReadError, "model_in has no such choice", "'mu' has one address below it", at=("mu", 1))
def read_beyond_the_last():
    @transform
    def f(model_in, *, model_out):
        mu = read(model_in["mu", 1])  # here

    step(f, None, switching, init={"k": 1})


@bad(ReadError, "traced call", "retval", at="left")
def read_a_call():
    @gen
    def model():
        left = ~one_normal()

    @transform
    def f(model_in, *, model_out):
        left = read(model_in["left"])  # here

    step(f, None, model)


@bad(ReadError, "no traced call", at="right")
def retval_of_no_call():
    @gen
    def model():
        left = ~one_normal()

    @transform
    def f(model_in, *, model_out):
        value = model_in["right"].retval  # here

    step(f, None, model)


@bad(HandleError, "only a whole trace has arguments", "model_in.args", at="left")
def args_of_a_namespace():
    @transform
    def f(model_in, *, model_out):
        args = model_in["left"].args  # here

    step(f, None)


@bad(HandleError, "can't read model_out['x']", "isn't an input trace", "model_in[...]")
def read_from_an_output():
    @transform
    def f(model_in, *, model_out):
        x = read(model_out["x"])  # here

    step(f, None)


@bad(HandleError, "can't read 0.5", 'model_in["k"]')
def read_a_value():
    @transform
    def f(model_in, *, model_out):
        x = read(0.5)  # here

    step(f, None)


@bad(HandleError, "address, not a value", "read(model_in['k'])", at="k")
def compare_a_handle():
    @transform
    def f(model_in, *, model_out):
        if model_in["k"] == 1:  # here
            pass

    step(f, None, switching)


@bad(HandleError, "read(model_in['x'])", at="x")
def arithmetic_on_a_handle():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], -model_in["x"])  # here

    step(f, None)


@bad(HandleError, "read(model_in['x'])", at="x")
def math_of_a_handle():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], math.exp(model_in["x"]))  # here

    step(f, None)


@bad(HandleError, "read(model_in['x'])", at="x")
def numpy_of_a_handle():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], np.exp(model_in["x"]))  # here

    step(f, None)


@bad(HandleError, "read(model_in['x'])", at="x")
def handle_floor_division():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], model_in["x"] // 2)  # here

    step(f, None)


@bad(HandleError, "read(model_in['k'])", at="k")
def handle_as_an_index():
    @transform
    def f(model_in, *, model_out):
        mu = read(model_in["mu", model_in["k"]])  # here

    step(f, None, switching)


@bad(HandleError, "read(model_in['k'])", at="k")
def handle_in_range():
    @transform
    def f(model_in, *, model_out):
        for _ in range(model_in["k"]):  # here
            pass

    step(f, None, switching)


@bad(HandleError, "read(model_in['k'])", at="k")
def loop_over_a_handle():
    @transform
    def f(model_in, *, model_out):
        for _ in model_in["k"]:  # here
            pass

    step(f, None, switching)


@bad(HandleError, "read(model_in['k'])", at="k")
def handle_as_a_key():
    @transform
    def f(model_in, *, model_out):
        name = {1: "one", 2: "two"}[model_in["k"]]  # here

    step(f, None, switching)


@bad(LostDerivativeError, "a continuous value is part of an address", "read(..., discrete)")
def continuous_value_in_an_address():
    @transform
    def f(model_in, *, model_out):
        j = read(model_in["mu", 0])
        mu = read(model_in["mu", j])  # here

    step(f, None, switching)


@bad(HandleError, "model_out is an output trace", "`in model_in`")
def membership_of_an_output():
    @transform
    def f(model_in, *, model_out):
        if "x" in model_out:  # here
            pass

    step(f, None)


@bad(LabelError, "labelled discrete but its distribution is continuous", "label it continuous", at="x")
def wrong_label_in_read():
    @transform
    def f(model_in, *, model_out):
        x = read(model_in["x"], discrete)  # here

    step(f, None)


@bad(LabelError, "labelled continuous but its distribution is discrete", "label it discrete", at="k")
def wrong_label_in_write():
    @transform
    def f(model_in, *, model_out):
        k = read(model_in["k"], discrete)
        write(model_out["k"], k, continuous)  # here

    step(f, None, switching)


@bad(LabelError, "'continuous' is no label", "without quotes", at="x")
def label_in_quotes():
    @transform
    def f(model_in, *, model_out):
        x = read(model_in["x"], "continuous")  # here

    step(f, None)


@bad(LabelError, "'continuous' is no label", "without quotes", at="x")
def label_in_quotes_in_write():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], read(model_in["x"]), "continuous")  # here

    step(f, None)


# --- transforms: writing and copying -----------------------------------------------------------------


@bad(CoverageError, "transform f (", "neither writes nor copies to a choice that aux_out has",
     "copy to aux_out['dx']", "never fills a choice in", at="dx")  # fmt: skip
def forgotten_auxiliary_write():
    @gen
    def proposal(trace):
        dx = ~normal(0, 1)  # here

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        write(model_out["x"], read(model_in["x"]) + read(aux_in["dx"]))

    step(f, proposal)


@bad(CoverageError, "transform f (", "neither writes nor copies to a choice that model_out has",
     "model_out['mu', 1]", at=("mu", 1))  # fmt: skip
def forgotten_model_write():
    @gen
    def model():
        k = ~uniform_discrete(1, 2)
        for j in range(k):
            ("mu", j) @ ~normal(0, 10)  # here

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        write(model_out["k"], 2, discrete)
        write(model_out["mu", 0], read(model_in["mu", 0]) - read(aux_in["u"]))

    step(f, offset, model, init={"k": 1})


@bad(CoverageError, "model_out doesn't have", "did you mean 'x'?", at="xx")
def write_typo():
    @transform
    def f(model_in, *, model_out):
        write(model_out["xx"], -read(model_in["x"]))  # here

    step(f, None)


@bad(CoverageError, "aux_out doesn't have", at="u")
def surplus_auxiliary_write():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        copy(aux_in["dx"], aux_out["dx"])
        write(aux_out["u"], 0.5)  # here

    step(f)


@bad(CoverageError, "model_out doesn't have", at=("mu", 1))
def surplus_model_write():
    @transform
    def f(model_in, *, model_out):
        write(model_out["mu", 1], read(model_in["mu", 0]))  # here

    step(f, None, switching, init={"k": 1})


@bad(CoverageError, "model_out is written twice", "exactly once", at="x")
def written_twice():
    @transform
    def f(model_in, *, model_out):
        x = read(model_in["x"])
        write(model_out["x"], x)
        write(model_out["x"], -x)  # here

    step(f, None)


@bad(CoverageError, "model_out is written twice", "first at test_bad_inputs.py:", at="x")
def written_and_copied():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], -read(model_in["x"]))
        copy(model_in["x"], model_out["x"])  # here

    step(f, None)


@bad(ProtectedObservationError, "observation of model_out", "latent choices only", at="y")
def write_an_observation():
    @transform
    def f(model_in, *, model_out):
        write(model_out["y"], -read(model_in["y"]))  # here

    step(f, None, observations={"y": 1.0})


@bad(ProtectedObservationError, "observation of model_out", at="y")
def copy_onto_an_observation():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        copy(model_in["x"], aux_out["dx"])
        copy(aux_in["dx"], model_out["y"])  # here

    step(f, observations={"y": 1.0})


@bad(ProtectedObservationError, "removes an observation", "must exist whatever", at=("mu", 1))
def remove_an_observation():
    @transform
    def f(model_in, *, model_out):  # here
        write(model_out["k"], 1, discrete)

    step(f, None, switching, observations={("mu", 1): 1.0}, init={"k": 2})


@bad(ReadError, "model_in has no such choice", at="nu")
def copy_of_a_missing_namespace():
    @transform
    def f(model_in, *, model_out):
        copy(model_in["nu"], model_out["mu"])  # here

    step(f, None, switching)


@bad(HandleError, "can't copy to model_in['x']", "isn't an output trace", "write and copy to model_out[...]")
def copy_to_an_input():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        copy(aux_in["dx"], model_in["x"])  # here

    step(f)


@bad(HandleError, "can't write to model_in['x']", "isn't an output trace")
def write_to_an_input():
    @transform
    def f(model_in, *, model_out):
        write(model_in["x"], 1.0)  # here

    step(f, None)


@bad(HandleError, "can't write to 'x'", "no address")
def write_to_a_name():
    @transform
    def f(model_in, *, model_out):
        write("x", 1.0)  # here

    step(f, None)


@bad(HandleError, "model_in['x'] is an address, not a value", "copy(source, destination)", at="x")
def write_a_handle():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], model_in["x"])  # here

    step(f, None)


@bad(HandleError, "an address, not a value", "copy", at="x")
def write_a_list_of_handles():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], [model_in["x"]])  # here

    step(f, None)


@bad(HandleError, "not assigned to model_out", "write(model_out['x'], value)")
def assign_to_an_output():
    @transform
    def f(model_in, *, model_out):
        model_out["x"] = -read(model_in["x"])  # here

    step(f, None)


@gen
def weighted():
    w = ~dirichlet([1.0, 1.0, 1.0])
    n = ~poisson(3)
    v = ~iid(normal(0, 1), 2)


@bad(DimensionError, "transform f gives this choice a value of shape (2,)", "values of shape (3,)", at="w")
def write_too_few_entries():
    @transform
    def f(model_in, *, model_out):
        w = read(model_in["w"])
        write(model_out["w"], [w[0], w[1] + w[2]])  # here

    step(f, None, weighted)


@bad(DimensionError, "value of shape (2,)", "values of shape (3,)", at="w")
def copy_of_too_few_entries():
    @transform
    def f(model_in, *, model_out):
        copy(model_in["v"], model_out["w"])  # here

    step(f, None, weighted)


@bad(ValueTypeError, "dirichlet: a value is a vector", at="w")
def write_a_number_to_a_vector():
    @transform
    def f(model_in, *, model_out):
        write(model_out["w"], read(model_in["w"])[0])  # here

    step(f, None, weighted)


@bad(ValueTypeError, "poisson: a value must be a number", "'three'", at="n")
def write_a_string_to_a_count():
    @transform
    def f(model_in, *, model_out):
        write(model_out["n"], "three")  # here

    step(f, None, weighted)


@bad(ValueTypeError, "'a' can't be combined", "real numbers", at="v")
def write_a_list_with_a_string():
    @transform
    def f(model_in, *, model_out):
        write(model_out["v"], [read(model_in["v"])[0], "a"])  # here

    step(f, None, weighted)


@bad(UntracedChoiceError, "makes a random choice")
def choice_in_a_transform():
    @transform
    def f(model_in, *, model_out):
        u = ~normal(0, 1)  # here

    step(f, None)


@bad(HandleError, "whole trace", "address")
def write_to_a_whole_trace():
    @transform
    def f(model_in, *, model_out):
        write(model_out, 1.0)  # here

    step(f, None)


@bad(HandleError, "g", "aux_out")
def nested_call_without_an_output():
    @transform
    def g(model_in, aux_in, *, model_out, aux_out):
        pass

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        g(model_in, aux_in, model_out=model_out)  # here

    step(f)


@bad(HandleError, "g", "2 input", "was given 1")
def nested_call_with_too_few_inputs():
    @transform
    def g(model_in, aux_in, *, model_out, aux_out):
        pass

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        g(model_in, model_out=model_out, aux_out=aux_out)  # here

    step(f)


@bad(LabelError, "computed from continuous choices is written to a discrete choice", at="k")
def dual_to_discrete():
    @transform
    def f(model_in, *, model_out):
        write(model_out["k"], read(model_in["mu", 0]))  # here

    step(f, None, switching)


@bad(LabelError, "a discrete choice", "is copied to a continuous one", at="dx")
def copy_discrete_to_continuous():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        copy(aux_in["dx"], model_out["mu", 0])
        copy(model_in["k"], aux_out["dx"])  # here

    step(f, walk, switching)


# --- transforms: derivatives -------------------------------------------------------------------------


@bad(LostDerivativeError, "return value", "read the choices", at="x")
def retval_in_a_write():
    @gen
    def model():
        x = ~normal(0, 1)
        return 2 * x

    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], read(model_in["x"]) + model_in.retval)  # here

    step(f, None, model)


@bad(LostDerivativeError, "float(x)", "np.array(list)")
def float_of_a_traced_number():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], -float(read(model_in["x"])))  # here

    step(f, None)


@bad(LostDerivativeError, "as an integer", "int(x)")
def a_traced_number_as_an_integer():
    @transform
    def f(model_in, *, model_out):
        n = range(read(model_in["x"]))  # here

    step(f, None)


@bad(LostDerivativeError, "round(x, digits)")
def digits_of_a_traced_number():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], round(read(model_in["x"]), 2))  # here

    step(f, None)


@bad(LostDerivativeError, "array of floats", "np.zeros(n, dtype=object)")
def filling_an_array():
    @transform
    def f(model_in, *, model_out):
        out = np.zeros(2)
        out[0] = read(model_in["x"])  # here

    step(f, None)


@bad(LostDerivativeError, "numpy.floor", "math.floor(x)")
def floor_as_a_float():
    @transform
    def f(model_in, *, model_out):
        n = np.floor(read(model_in["x"]))  # here

    step(f, None)


@bad(LostDerivativeError, "divmod(x, y)")
def division_with_a_remainder():
    @transform
    def f(model_in, *, model_out):
        n, rest = divmod(7, read(model_in["x"]))  # here

    step(f, None)


@bad(LostDerivativeError, "unwrap")
def unsupported_numpy_function():
    @transform
    def f(model_in, *, model_out):
        x = np.unwrap([read(model_in["x"]), read(model_in["y"])])  # here

    step(f, None)


@bad(LostDerivativeError, "float(x)", ", in helper")
def derivative_lost_in_a_helper():
    def helper(x):
        return float(x) + 1  # here

    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], helper(read(model_in["x"])))

    step(f, None)


@bad(LostDerivativeError, "return value", at="x")
def retval_object_in_a_write():
    class Node:
        def __init__(self, mean):
            self.children = [self]
            self.mean = mean

    @gen
    def model():
        x = ~normal(0, 1)
        return Node(x)

    @transform
    def f(model_in, *, model_out):
        node = model_in.retval.children[0]
        write(model_out["x"], read(model_in["x"]) + node.mean)  # here

    step(f, None, model)


# --- transforms: dimensions, Jacobians, involutions ---------------------------------------------------


@bad(DimensionError, "transform f maps 2 free continuous coordinates to 1",
     "in:  model_in['x'], aux_in['dx']", "out: aux_out['dx']")  # fmt: skip
def dimensions_differ():
    @gen
    def model():
        k = ~bernoulli(0.5)
        if k:
            x = ~normal(0, 1)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):  # here
        write(model_out["k"], False)
        write(aux_out["dx"], read(aux_in["dx"]) + read(model_in["x"]))

    step(f, walk, model, init={"k": True})


@bad(DimensionError, "maps 2 free continuous coordinates to 3", "model_in['w'] (2)", "model_out['w'] (2)",
     "model_out['x']")  # fmt: skip
def dimensions_of_vectors():
    @gen
    def model():
        k = ~bernoulli(0.5)
        w = ~dirichlet([1.0, 1.0, 1.0])
        if k:
            x = ~normal(0, 1)

    @transform
    def f(model_in, *, model_out):  # here
        write(model_out["k"], True)
        w = read(model_in["w"])
        write(model_out["w"], [w[1], w[0], w[2]])
        write(model_out["x"], w[0])

    step(f, None, model, init={"k": False})


@bad(SingularJacobianError, "no output depends on", "model_in", "read it and write", at="x")
def input_not_used():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):  # here
        dx = read(aux_in["dx"])
        write(model_out["x"], dx)
        write(aux_out["dx"], -dx)

    step(f)


@bad(SingularJacobianError, "model_out, depends on no continuous input", "sample it", at="x")
def output_constant():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        write(model_out["x"], 1.0)  # here
        write(aux_out["dx"], read(model_in["x"]) + read(aux_in["dx"]))

    step(f)


@bad(SingularJacobianError, "no output depends on", "model_in", at="y")
def duplicated_copy():
    @transform
    def f(model_in, *, model_out):  # here
        copy(model_in["x"], model_out["x"])
        copy(model_in["x"], model_out["y"])

    step(f, None)


@bad(SingularJacobianError, "not independent", "in:  model_in['x'], model_in['y']", "functions of each other")
def dependent_outputs():
    @transform
    def f(model_in, *, model_out):  # here
        total = read(model_in["x"]) + read(model_in["y"])
        write(model_out["x"], total)
        write(model_out["y"], 2 * total)

    step(f, None)


@bad(InvolutionError, "not an involution", "comes back as 6.0", "which was 2.0", "transform f", at="x")
def not_an_involution():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], read(model_in["x"]) + 2)  # here

    step(f, None, init={"x": 2.0}, check=True)


@bad(InvolutionError, "not an involution", "which was 'a'", "comes back as 'c'", at="s")
def not_an_involution_on_strings():
    class Letter:
        support = FiniteSet(("a", "b", "c"))

        def sample(self, rng):
            return "a"

        def logpdf(self, value):
            return math.log(1 / 3)

    @gen
    def model():
        s = ~Letter()

    @transform
    def f(model_in, *, model_out):
        s = read(model_in["s"], discrete)
        write(model_out["s"], {"a": "b", "b": "c", "c": "a"}[s], discrete)  # here

    step(f, None, model, check=True)


@bad(InvolutionError, "determinants", "transform f", "don't cancel", "0.69314718 there and 0.69314718 back")
def determinants_do_not_cancel():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):  # here
        write(model_out["x"], 2 * read(model_in["x"]) - 1)  # 1 is a fixed point, but of slope 2
        copy(aux_in["dx"], aux_out["dx"])

    step(f, init={"x": 1.0}, check=True)


@bad(ReadError, "applied to its own output, transform f fails: aux_in has no such choice", at="u")
def fails_on_its_own_output():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        write(model_out["k"], 1 + min(read(model_in["k"]), 1), discrete)
        mu = read(model_in["mu", 0])
        u = read(aux_in["u"])  # here
        write(model_out["mu", 0], mu - u)
        write(model_out["mu", 1], mu + u)

    step(f, offset, switching, init={"k": 1}, check=True)


@bad(InvolutionError, "applied to its own output", "ValueError: math domain error")
def raises_on_its_own_output():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], -math.sqrt(read(model_in["x"])))  # here

    step(f, None, init={"x": 4.0}, check=True)


@bad(SupportError, "probability zero", "the way back from there fails",
     "(transform f is not an involution", 'check="reject"', at="u")  # fmt: skip
def out_of_support():
    @gen
    def bounded(trace):
        u = ~uniform(0, 1)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        copy(model_in["x"], model_out["x"])
        write(aux_out["u"], read(aux_in["u"]) + 1)  # here

    step(f, bounded, check=True)


@bad(MoveNaNError, "value written here is NaN", "division by zero", at="x")
def nan_in_a_write():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], read(model_in["x"]) * math.nan)  # here

    step(f, None)


@bad(MoveNaNError, "derivative of the value written here is NaN or infinite", at="x")
def infinite_derivative():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], math.sqrt(read(model_in["x"])))  # here

    step(f, None, init={"x": 0.0})


@bad(NaNError, "log density of", "is NaN", "-inf outside its support", at="x")
def nan_in_a_density():
    class Broken:
        support = Real()

        def sample(self, rng):
            return 0.5

        def logpdf(self, value):
            return math.nan if value < 0 else 0.0

    @gen
    def model():  # here
        x = ~Broken()

    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], -read(model_in["x"]))

    step(f, None, model)


# --- kernels -----------------------------------------------------------------------------------------


@transform
def flip(model_in, *, model_out):
    write(model_out["x"], -read(model_in["x"]))


@bad(KernelError, "check='yes'", 'True, False or "reject"')
def check_of_a_wrong_value():
    involutive(None, flip, check="yes")  # here


@bad(KernelError, "auxiliary program", "@gen")
def auxiliary_program_not_gen():
    involutive(lambda trace: None, flip)  # here


@bad(ValueTypeError, "must be a tuple, got array([", "write (x,) for a single argument")
def arguments_are_one_array():
    one_normal.simulate(np.zeros((100, 3)), rng=1)  # here


@bad(KernelError, "nuts needs a selection or an address, got ['beta'", "write nuts(select('beta', 'sd'))")
def gradient_kernel_of_a_list_of_addresses():
    nuts(["beta", "sd"])  # here


@bad(KernelError, "mh needs a selection or an address, got ['mu', 'k']", "write mh(select('mu', 'k'))")
def mh_of_a_list_of_addresses():
    mh(["mu", "k"])  # here


@bad(KernelError, "q_args must be a tuple", "(x,)")
def q_args_not_a_tuple():
    involutive(walk, flip, 3)  # here


@bad(HandleError, "is no transform", "@transform")
def transform_not_decorated():
    involutive(None, lambda model_in, *, model_out: None)  # here


@bad(HandleError, "flip takes 1 of the 2 traces", "(model_in, aux_in, *, model_out, aux_out)")
def transform_of_too_few_traces():
    involutive(walk, flip)  # here


@bad(KernelError, "needs a trace", "model.generate")
def involutive_without_a_trace():
    involutive_mcmc(one_normal, None, (), flip)  # here


@bad(HandleError, "pair needs two transforms", "@transform")
def pair_of_a_function():
    pair(flip, lambda model_in, *, model_out: None)  # here


@bad(HandleError, "the inputs of each must be the outputs of the other")
def pair_of_different_sizes():
    @transform
    def two(model_in, aux_in, *, model_out, aux_out):
        pass

    pair(flip, two)  # here


@bad(HandleError, "pair takes 2 traces", "(model_in, *, model_out)")
def pair_of_the_wrong_size_as_a_move():
    @transform
    def pair(model_in, aux_in, *, model_out, aux_out):
        pass

    involutive(None, gendsl.pair(pair, pair))  # here


@bad(KernelError, "3 is no kernel", "(trace, rng) -> (trace, info)")
def kernel_not_callable():
    sample(3, start(), 10)  # here


@bad(KernelError, "one_normal", "generative function", "mh(one_normal)")
def model_as_a_kernel():
    sample(one_normal, start(), 10)  # here


@bad(KernelError, "flip", "transform", "involutive(")
def transform_as_a_kernel():
    sample(flip, start(), 10)  # here


@bad(KernelError, "kernel lazy returned", "pair (trace, info)")
def kernel_with_a_wrong_result():
    def lazy(trace, rng):  # here
        return trace

    sample(lazy, start(), 10)


@bad(KernelError, "no kernels", "at least one")
def empty_cycle():
    cycle()  # here


@bad(KernelError, "is no kernel", "cycle(a, b)")
def cycle_of_a_list():
    cycle([mh(select("x")), mh(select("y"))])  # here


@bad(KernelError, "mixture", "mixture([a, b])")
def mixture_without_a_list():
    mixture(mh(select("x")))  # here


@bad(KernelError, "mixture got distributions", "gendsl.mixture(weights, distributions)")
def mixture_of_distributions_made_as_a_kernel():
    mixture([0.3, 0.7], [normal(0, 1), normal(5, 1)])  # here


@bad(KernelError, "2 kernels", "weights [1.0]", "one non-negative finite number per kernel")
def mixture_weights_of_a_wrong_length():
    mixture([mh(select("x")), mh(select("y"))], [1.0])  # here


@bad(KernelError, "weights [1.0, -1.0]")
def negative_mixture_weight():
    mixture([mh(select("x")), mh(select("y"))], [1.0, -1.0])  # here


@bad(KernelError, "weights ['a', 'b']")
def mixture_weights_of_a_wrong_type():
    mixture([mh(select("x")), mh(select("y"))], ["a", "b"])  # here


@bad(KernelError, "times=0", "1 or more")
def repeat_no_times():
    repeat(mh(select("x")), 0)  # here


@bad(UnknownAddressError, "the selection", "did you mean 'x'?", at="xx")
def mh_of_a_wrong_address():
    sample(mh("xx"), start(), 10)  # here


@bad(KernelError, "with a selection", "leave them out")
def mh_selection_with_arguments():
    mh(select("x"), (1.0,))  # here


@bad(UnknownAddressError, "the selection", "did you mean 'x'?", at="xx")
def mh_typo():
    sample(mh(select("xx")), start(), 10)  # here


@bad(ObservedError, "observation is selected", at="y")
def mh_of_an_observation():
    sample(mh(select("y")), start(observations={"y": 1.0}), 10)  # here


@bad(UnknownAddressError, "proposes a choice that the model doesn't make", "did you mean 'x'?", at="xx")
def proposal_typo():
    @gen
    def proposal(trace):  # here
        xx = ~normal(0, 1)

    sample(mh(proposal), start(), 10)


@bad(ObservedError, "proposal proposes an observation", "latent choices only", at="y")
def proposal_of_an_observation():
    @gen
    def proposal(trace):  # here
        y = ~normal(0, 1)

    sample(mh(proposal), start(observations={"y": 1.0}), 10)


@bad(CoverageError, "proposal is not reversible", "it proposes a choice that it did not change", at="y")
def proposal_not_reversible():
    @gen
    def proposal(trace):
        x = ~normal(0, 1)
        if trace["x"] != 2.0:
            y = ~normal(0, 1)  # here

    sample(mh(proposal), start(init={"x": 2.0}), 10)


@bad(CoverageError, "proposal is not reversible", "doesn't propose a choice that it changed", at="y")
def proposal_without_a_way_back():
    @gen
    def proposal(trace):  # here
        x = ~normal(0, 1)
        if trace["x"] == 2.0:
            y = ~normal(0, 1)

    sample(mh(proposal), start(init={"x": 2.0}), 10)


@bad(CoverageError, "proposal (", "a choice that it doesn't propose", "every choice that is new", at="w")
def proposal_incomplete():
    @gen
    def model():
        k = ~bernoulli(0.5)
        if k:
            w = ~normal(0, 1)  # here

    @gen
    def proposal(trace):
        k = ~bernoulli(1.0)

    sample(mh(proposal), start(model, init={"k": False}), 10)


@bad(LabelError, "proposes a discrete choice", "in the model it is continuous", "same space", at="x")
def proposal_of_the_wrong_kind():
    @gen
    def proposal(trace):  # here
        x = ~uniform_discrete(0, 1)

    sample(mh(proposal), start(), 10)


@bad(LabelError, "transform f keeps this choice", "was discrete and is now continuous", "different addresses",
     at="x")  # fmt: skip
def implicit_copy_of_another_kind():
    @gen
    def model():  # here
        k = ~bernoulli(0.5)
        if k:
            x = ~normal(0, 1)
        else:
            x = ~poisson(3)

    @transform
    def f(model_in, *, model_out):
        write(model_out["k"], not read(model_in["k"]))

    step(f, None, model, init={"k": False})


@bad(LabelError, "the move keeps this choice", "was discrete and is now continuous", at="x")
def mh_keeps_a_choice_of_another_kind():
    @gen
    def model():  # here
        k = ~bernoulli(0.5)
        if k:
            x = ~normal(0, 1)
        else:
            x = ~poisson(3)

    sample(mh(select("k")), start(model, init={"k": False, "x": 1}), 100, seed=1)


# --- runs --------------------------------------------------------------------------------------------


@bad(ValueTypeError, "draws=-1", "0 or more")
def negative_draws():
    sample(mh(select("x")), start(), -1)  # here


@bad(ValueTypeError, "draws=2.5", "whole number")
def fractional_draws():
    sample(mh(select("x")), start(), 2.5)  # here


@bad(ValueTypeError, "thin=0", "1 or more")
def no_thinning():
    sample(mh(select("x")), start(), 10, thin=0)  # here


@bad(ValueTypeError, "sample starts from a trace", "model.generate")
def sample_without_a_trace():
    sample(mh(select("x")), one_normal.generate(), 10)  # here


@bad(UnknownAddressError, "record", "did you mean 'x'?", at="xx")
def record_typo():
    sample(mh(select("x")), start(), 10, warmup=1000, record=["y", "xx"])  # here


@bad(UnknownAddressError, "every draw", "lambda trace", at=("mu", 1))
def recorded_choice_that_comes_and_goes():
    def forget(trace, rng):
        return trace.update({"k": 1})[0], None

    sample(forget, start(switching, init={"k": 2}), 10, record=[("mu", 1)])  # here


@bad(ValueTypeError, "two recorded quantities", "dict")
def recorded_names_collide():
    sample(mh(select("x")), start(), 10, record=[lambda t: t["x"], lambda t: t["y"]])  # here


@bad(UnknownAddressError, "was not recorded", "recorded: x", "record=")
def quantity_not_recorded():
    sample(mh(select("x")), start(), 10, record="x")["y"]  # here


@bad(ValueTypeError, "arrays and lists", "tuple")
def frequency_of_arrays():
    sample(mh(select("x")), start(), 10, record={"z": lambda t: [t["x"]]}).frequency("z")  # here


@bad(ValueTypeError, "draw 1 has the quantities b", "have a", "same names")
def recorded_names_change():
    names = iter("abab")
    sample(mh(select("x")), start(), 3, record=lambda trace: {next(names): 1.0})  # here


@bad(ValueTypeError, "check_involutive needs a model", "@gen")
def check_involutive_without_a_model():
    check_involutive(start(), (), None, flip)  # here


@bad(ValueTypeError, "check_involutive got n=0", "1 or more")
def check_involutive_of_no_cases():
    check_involutive(one_normal, (), None, flip, n=0)  # here


@bad(HandleError, "is no transform", "@transform")
def check_involutive_of_a_function():
    check_involutive(one_normal, (), walk, lambda a, b: None)  # here


def test_at_least_eighty_rows():
    assert len(TABLE) >= 80


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.function.__name__)
def test_bad_input(row):
    with pytest.raises(GenDSLError) as caught:
        row.function()
    error = caught.value
    assert type(error) is row.error, str(error)
    text = str(error)
    for fragment in row.fragments:
        assert fragment in text
    assert error.address == row.address, text
    assert error.location is not None
    assert (error.location.filename, error.location.lineno) == (__file__, marked_line(row.function)), text
    # "sd must be positive and finite, got -1.0" says what to do
    assert error.fix or isinstance(error, ParameterError | ValueTypeError), text
