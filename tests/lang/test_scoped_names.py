"""What a name means is decided by scope: variables that have names of builtins are variables."""

import builtins
import os

import pytest

from gendsl import gen, normal
from gendsl.errors import DuplicateAddressError
from gendsl.inference import random_walk, sample
from gendsl.testing import running_on
from tests.compiler.closed_outcomes import outcome
from tests.laws.modules import imported

REACHING = ["dir", "eval", "exec", "globals", "locals", "super", "vars"]
OTHERS = ["breakpoint", "dict", "enumerate", "filter", "input", "iter", "len", "list", "map", "max", "min",
          "next", "open", "reversed", "sorted", "sum", "tuple", "type", "zip"]  # fmt: skip

PROGRAM = """
import numpy as np
from gendsl import gen, mixture_of_normals, normal, uniform_discrete

@gen
def variable(n):
    k = ~uniform_discrete(1, 2)
    means = [("mu", j) @ ~normal(0.0, 10.0) for j in range(k)]
    weights = np.ones(k) / k
    NAME = np.ones(k)
    for i in range(n):
        ("x", i) @ ~mixture_of_normals(weights, means, NAME)

@gen
def argument(n, NAME=1.0):
    k = ~uniform_discrete(1, 2)
    means = [("mu", j) @ ~normal(NAME, 10.0) for j in range(k)]
    for i in range(n):
        ("x", i) @ ~normal(means[0] + NAME, 1.0)
    return NAME

@gen
def choice(n):
    NAME = ~normal(0.0, 1.0)
    means = [NAME * i for i in range(n)]
    for i in range(n):
        ("x", i) @ ~normal(means[i], 1.0)
    return NAME

class Model:
    @gen
    def method(self, n):
        NAME = 2.0 * n
        mean = ~normal(NAME, 1.0)
        for i in range(n):
            ("x", i) @ ~normal(mean + NAME, 1.0)

method = Model().method
"""
PROGRAMS = ["variable", "argument", "choice", "method"]


@pytest.mark.parametrize("name", REACHING)
def test_a_program_is_its_renamed_twin(name):
    other = name[:-1] + "_"  # of the same length, so that lines break where they did
    with imported(PROGRAM.replace("NAME", name)) as mine, imported(PROGRAM.replace("NAME", other)) as twins:
        for program in PROGRAMS:
            model, twin = getattr(mine, program), getattr(twins, program)
            assert "opaque" not in model.explain()
            assert model.source.replace(name, other) == twin.source
            assert model.compiled.is_spread


@pytest.mark.parametrize("name", REACHING + OTHERS)
def test_a_variable_may_have_the_name_of_any_builtin(name):
    with imported(PROGRAM.replace("NAME", name)) as mine, imported(PROGRAM.replace("NAME", "twin")) as twins:
        for program in PROGRAMS:
            model, twin = getattr(mine, program), getattr(twins, program)
            trace, other = model.simulate((3,), rng=1), twin.simulate((3,), rng=1)
            assert trace.log_prob == other.log_prob
            for path in trace.choices:
                changed = trace.update({path: trace[path]}).trace
                assert changed.log_prob == pytest.approx(other.log_prob)


def programs_that_reach_every_variable():
    look, see = locals, builtins

    @gen
    def by_another_name():
        x = ~normal(0, 1)
        return look()["x"]

    @gen
    def as_an_attribute():
        x = ~normal(0, 1)
        return see.vars()["x"]

    @gen
    def beside_another_scopes_variable(xs):
        x = ~normal(0, 1)
        doubled = [2 * vars for vars in xs]
        return vars()["x"], doubled

    return by_another_name, as_an_attribute, beside_another_scopes_variable


@pytest.mark.skipif(os.environ.get("GENDSL_RUNTIME") == "reference", reason="about the compiled runtime")
def test_what_reaches_every_variable_is_found_under_any_name():
    for program, name in zip(programs_that_reach_every_variable(), ("look", "see.vars", "vars"), strict=True):
        assert f"do without `{name}`" in program.explain()


def test_what_reaches_every_variable_finds_it_under_any_name():
    for program in programs_that_reach_every_variable()[:2]:
        trace = program.simulate(rng=1)
        assert trace.retval == trace["x"]


def test_a_function_of_the_users_may_have_such_a_name():
    def vars(x):
        return 2.0 * x

    @gen
    def doubled():
        x = ~normal(0, 1)
        y = ~normal(vars(x), 1)
        return vars(y)

    assert "opaque" not in doubled.explain()
    trace = doubled.simulate(rng=1).update({"y": 3.0}).trace
    assert trace.retval == 6.0


OTHER_RANGE = """
from gendsl import gen, normal

counted = range

def twice(n):
    return [0] * n

def program():
    range = twice

    @gen
    def in_pairs(n):
        for i in counted(2):
            for j in range(n):
                ("x", i, j) @ ~normal(0, 1)

    return in_pairs
"""


def test_another_range_may_give_a_number_twice():
    with imported(OTHER_RANGE) as module, pytest.raises(DuplicateAddressError):
        module.program().simulate((2,), rng=1)


def entry(xs):
    return xs[0]


def schedule(xs):
    return xs[-1]


@gen
def helpers_of_any_name(n):
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    phi = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(entry(xs) - phi * schedule(xs), 1)


def test_no_name_of_a_helper_is_taken_in_machine_code():
    """That of a density has a function to begin with, that of a chain one more."""
    assert outcome(helpers_of_any_name, (3,)) == "equal"
    ends = []
    for runtime in ("reference", "native"):
        with running_on(runtime):
            start = helpers_of_any_name.simulate((3,), rng=1)
            run = sample(random_walk("phi", scale=0.5), start, 9, seed=2, progress=False, record=["phi"])
            ends.append(run["phi"].tolist())
    assert ends[0] == pytest.approx(ends[1], rel=1e-12)
