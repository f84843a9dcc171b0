"""A second choice or call at one address: whatever runs a program, the error is the reference's.

In each program z = 1 makes the mistake, or numbers that are drawn equal do; operations and kernels meet it.
"""

import functools
import traceback

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    copy,
    discrete,
    gen,
    normal,
    read,
    sample,
    select,
    transform,
    uniform,
    uniform_discrete,
    write,
)  # fmt: skip
from gendsl.errors import AddressConflictError, DuplicateAddressError
from gendsl.inference import cycle, enumerate_posterior, gibbs, importance_sampling, involutive, mh
from gendsl.runtime import column_loops, fused, small
from gendsl.testing import running_on, runtimes
from tests.conformance.comparing import STEPWISE, seen

MISTAKES = {DuplicateAddressError, AddressConflictError}

# --- programs ----------------------------------------------------------------------------------------


@gen
def point(m):
    y = ~normal(m, 1)
    return y


@gen
def slope(m):
    w = ~normal(m, 1)
    return w


@gen
def nothing():
    return 1.0


@gen
def point_twice(m, z):
    y = ~normal(m, 1)
    if z == 1:
        "y" @ ~normal(m, 1)
    return y


@gen
def row(z):
    for j in range(2):
        ("q", j * (1 - z)) @ ~normal(0, 1)
    return 0.0


@gen
def tree(depth, z):
    v = ~normal(0, 1)
    if depth > 0:
        "left" @ ~tree(depth - 1, z)
        ("left" if z == 1 and depth == 1 else "right") @ ~tree(depth - 1, z)
    return v


def address(i, z):
    return ("x", 0 if z == 1 else i)


@gen
def one_branch():
    z = ~bernoulli(0.5)
    a = ~normal(0, 1)
    if z == 1:
        "a" @ ~normal(a, 1)
    b = ~normal(a, 1)


@gen
def a_failure_behind():
    z = ~bernoulli(0.5)
    a = ~normal(0, 1)
    if z == 1:
        "a" @ ~normal(a, 1)
    b = ~normal(1 / (1 - z), 1)


@gen
def impossible_behind():
    z = ~bernoulli(0.5)
    a = ~normal(0, 1)
    if z == 1:
        "a" @ ~normal(a, 1)
    u = ~uniform(0, 1 - 0.999 * z)
    b = ~normal(u, 1)


@gen
def in_a_loop():
    z = ~bernoulli(0.5)
    m = ~normal(0, 1)
    for i in range(5):
        ("x", i % 2 if z == 1 else i) @ ~normal(m, 1)
    b = ~normal(m, 1)


@gen
def behind_a_loop():
    z = ~bernoulli(0.5)
    m = ~normal(0, 1)
    for i in range(30):
        ("x", i) @ ~normal(m, 1)
    if z == 1:
        ("x", 3) @ ~normal(m, 1)
    b = ~normal(m, 1)


@gen
def two_loops():
    z = ~bernoulli(0.5)
    m = ~normal(0, 1)
    for i in range(30):
        ("x", i) @ ~normal(m, 1)
    for i in range(30):
        ("x", i + 30 * (1 - z)) @ ~normal(m, 2)
    b = ~normal(m, 1)


@gen
def in_a_comprehension():
    z = ~bernoulli(0.5)
    m = ~normal(0, 1)
    xs = [("x", i * (1 - z)) @ ~normal(m, 1) for i in range(5)]
    b = ~normal(sum(xs), 1)


@gen
def by_a_helper():
    z = ~bernoulli(0.5)
    m = ~normal(0, 1)
    for i in range(5):
        address(i, z) @ ~normal(m, 1)
    b = ~normal(m, 1)


@gen
def in_a_call():
    z = ~bernoulli(0.5)
    m = ~normal(0, 1)
    s = ~point_twice(m, z)
    b = ~normal(s, 1)


@gen
def in_calls_of_a_loop():
    z = ~bernoulli(0.5)
    m = ~normal(0, 1)
    for i in range(5):
        ("c", i) @ ~row(z)
    b = ~normal(m, 1)


@gen
def in_a_tree():
    z = ~bernoulli(0.5)
    t = ~tree(2, z)
    b = ~normal(t, 1)


@gen
def spliced():
    z = ~bernoulli(0.5)
    m = ~normal(0, 1)
    y = ~normal(m, 1)
    if z == 1:
        ... @ ~point(m)
    b = ~normal(y, 1)


@gen
def two_calls():
    z = ~bernoulli(0.5)
    s = ("s", 0) @ ~point(0.0)
    t = ("s", 1 - z) @ ~point(s)
    b = ~normal(t, 1)


@gen
def two_calls_of_others():
    z = ~bernoulli(0.5)
    s = ("s", 0) @ ~point(0.0)
    t = ("s", 1 - z) @ ~slope(s)
    b = ~normal(t, 1)


@gen
def two_calls_without_choices():
    z = ~bernoulli(0.5)
    s = ("s", 0) @ ~nothing()
    t = ("s", 1 - z) @ ~nothing()
    b = ~normal(s + t, 1)


@gen
def caught():
    z = ~bernoulli(0.5)
    a = ~normal(0, 1)
    try:
        if z == 1:
            "a" @ ~normal(a, 1)
    except Exception:
        pass
    b = ~normal(a, 1)


@gen
def call_under_try():
    z = ~bernoulli(0.5)
    s = ("s", 0) @ ~point(0.0)
    try:
        t = ("s", 1 - z) @ ~slope(0.0)
    except KeyError:
        t = 0.0
    b = ~normal(s + t, 1)


@gen
def namespace():
    z = ~bernoulli(0.5)
    m = ~normal(0, 1)
    for i in range(5):
        ("x", i) @ ~normal(m, 1)
    if z == 1:
        x = ~normal(0, 1)
    b = ~normal(m, 1)


@gen
def namespace_of_a_call():
    z = ~bernoulli(0.5)
    s = ~point(0.0)
    if z == 1:
        ("s", "y", "u") @ ~normal(0, 1)
    b = ~normal(s, 1)


@gen
def choice_at_a_call():
    z = ~bernoulli(0.5)
    s = ("s", 0) @ ~nothing()
    ("s", 1 - z) @ ~normal(0, 1)
    b = ~normal(s, 1)


@gen
def call_at_a_choice():
    z = ~bernoulli(0.5)
    s = ("s", 0) @ ~normal(0, 1)
    ("s", 1 - z) @ ~nothing()
    b = ~normal(s, 1)


@gen
def drawn():
    z = ~bernoulli(0.5)
    ks = [("k", i) @ ~uniform_discrete(0, 9) for i in range(4)]
    for k in ks:
        ("x", k) @ ~normal(0, 1)
    b = ~normal(z, 1)


@gen
def drawn_in_calls():
    z = ~bernoulli(0.5)
    for i in range(4):
        k = ("k", i) @ ~uniform_discrete(0, 9)
        ("x", k) @ ~point(0.0)
    b = ~normal(z, 1)


@gen
def drawn_below():
    z = ~bernoulli(0.5)
    for i in range(3):
        k = ("k", i) @ ~uniform_discrete(0, 9)
        if i == 1:
            ("x", k) @ ~normal(0, 1)
        else:
            ("x", k, "below") @ ~normal(0, 1)
    b = ~normal(z, 1)


BY_Z = [
    one_branch, a_failure_behind, impossible_behind, in_a_loop, behind_a_loop, two_loops, in_a_comprehension,
    by_a_helper, in_a_call, in_calls_of_a_loop, in_a_tree, spliced, two_calls, two_calls_of_others,
    two_calls_without_choices, caught, call_under_try, namespace, namespace_of_a_call, choice_at_a_call,
    call_at_a_choice,
]  # fmt: skip
BY_DRAWS = [drawn, drawn_in_calls, drawn_below]

# --- moves -------------------------------------------------------------------------------------------


@gen
def set_z(trace):
    z = ~uniform_discrete(1, 1)


@gen
def another_z(trace):
    u = ~uniform_discrete(1, 1)


@transform
def swap_z(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["u"], model_out["z"])
    copy(model_in["z"], aux_out["u"])


@gen
def set_k(trace):
    ("k", 1) @ ~uniform_discrete(0, 9)


@gen
def another_k(trace):
    u = ~uniform_discrete(0, 9)


@transform
def swap_k(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k", 1], discrete)
    u = read(aux_in["u"], discrete)
    write(model_out["k", 1], u, discrete)
    write(aux_out["u"], k, discrete)
    copy(model_in["x", k], model_out["x", u])


# --- what is compared --------------------------------------------------------------------------------


def start(program):
    """A trace in which no two are at one address."""
    init = {"z": 0}
    if program is impossible_behind:
        init["u"] = 0.9
    if program in BY_DRAWS:
        init |= {("k", i): i for i in range(3 if program is drawn_below else 4)}
    return program.generate((), {"b": 0.3}, init=init, rng=1).trace


def operations(program, trace):
    """Operations that meet the mistake, by their names: functions of a generator."""
    one = {**trace.choices.to_flat_dict(), ("z",): 1}
    rest = {path: value for path, value in one.items() if path != ("z",)}
    yield "simulate", lambda rng: [program.simulate(rng=rng) for _ in range(20)]
    yield "propose", lambda rng: [program.propose(rng=rng) for _ in range(20)]
    yield "importance_sampling", lambda rng: importance_sampling(program, (), {"b": 0.3}, 20, rng=rng)
    if program in BY_Z:
        yield "generate", lambda rng: program.generate((), {"z": 1}, rng=rng)
        yield "assess", lambda rng: program.assess((), one)
        yield "enumerate_posterior", lambda rng: enumerate_posterior(program, (), rest)
        yield "update", lambda rng: trace.update({"z": 1}, rng=rng)
        yield "update of two", lambda rng: trace.update({"z": 1, "b": 0.1}, rng=rng)
        yield "regenerate", lambda rng: [trace.regenerate(select("z"), rng=rng) for _ in range(20)]
    else:
        yield "update", lambda rng: [trace.update({("k", 1): k}, rng=rng) for k in (7, 0)]
        yield "regenerate", lambda rng: [trace.regenerate(select("k"), rng=rng) for _ in range(20)]


def kernels(program):
    """Kernels that meet the mistake, by their names."""
    if program in BY_Z:
        yield "mh of a selection", mh(select("z"))
        yield "mh", mh(set_z)
        yield "gibbs", gibbs(select("z"))
        yield "involutive", involutive(another_z, swap_z)
        yield "involutive with check", involutive(another_z, swap_z, check=True)
        yield "cycle", cycle(mh(select("b")), mh(set_z))
    else:
        yield "mh of a selection", mh(select(("k", 1)))
        yield "mh", mh(set_k)
        yield "involutive", involutive(another_k, swap_k)


def outcome(operation):
    """What is told of an operation: its error, what this says, the lines it came by, and the next draw."""
    rng = np.random.default_rng(5)
    try:
        operation(rng)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = list(dict.fromkeys(frame.lineno for frame in frames if frame.filename == __file__))
        return type(error), str(error), lines, type(error.__context__), rng.random()
    return None, rng.random()


@pytest.fixture
def block_by_block(monkeypatch):
    """Traces are edited block by block however small they are."""
    monkeypatch.setattr(small, "CHOICES", 0)
    monkeypatch.setattr(fused, "AFTER", 1)
    monkeypatch.setattr(column_loops, "FIXED", column_loops.LEAST)


programs = pytest.mark.parametrize("program", [*BY_Z, *BY_DRAWS], ids=lambda program: program.__name__)
pytestmark = pytest.mark.usefixtures("block_by_block")


@programs
def test_operations(program):
    found = {}
    for runtime in STEPWISE:
        with running_on(runtime):
            trace = start(program)
            before = seen(trace)
            found[runtime] = {}
            for name, operation in operations(program, trace):
                found[runtime][name] = outcome(operation)
                assert seen(trace) == before, name
    for runtime in STEPWISE:
        assert found[runtime] == found["reference"]
    assert {kind for kind, *_ in found["reference"].values()} & MISTAKES


@programs
def test_chains(program):
    found = {}
    for runtime in runtimes():
        with running_on(runtime):
            trace = start(program)
            before = seen(trace)
            found[runtime] = {}
            for name, kernel in kernels(program):
                steps = functools.partial(sample, kernel, trace, 60, seed=3, progress=False)
                found[runtime][name] = outcome(lambda _, steps=steps: steps())
                assert seen(trace) == before, name
    for runtime in runtimes():
        assert found[runtime] == found["reference"]
    assert {kind for kind, *_ in found["reference"].values()} & MISTAKES


@gen
def half_drawn():
    z = ~bernoulli(0.5)
    k = 2
    if z == 1:
        k = ~uniform_discrete(0, 1)
    ("x", 0) @ ~normal(0, 1)
    if k != 2:
        ("x", k) @ ~normal(0, 3)


@pytest.mark.parametrize("runtime", STEPWISE)
def test_an_update_without_a_generator_makes_the_same_draws_again(runtime):
    """Whether the reference meets the mistake depends on what it draws."""
    met = 0
    with running_on(runtime):
        trace = half_drawn.generate((), {"z": 0}, rng=1).trace
        for _ in range(20):
            try:
                trace.update({"z": 1})
            except DuplicateAddressError as error:
                met += 1
                assert '("x", k) @ ~normal(0, 3)' in str(error)
    assert met
