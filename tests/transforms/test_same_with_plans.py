"""What once was another with plans than without: errors, digits that cancel, and what may change."""

import logging
import math
from collections import Counter
from importlib import import_module

import numpy as np
import pytest

from gendsl import (
    dirichlet,
    gamma,
    gen,
    involutive_mcmc,
    mvnormal,
    normal,
    read,
    transform,
    uniform,
    write,
)
from gendsl.errors import InvolutionError, MoveNaNError
from gendsl.runtime.watched import runs_whole
from gendsl.transforms.moves import Scored
from tests.laws.modules import imported

pytestmark = pytest.mark.skipif(runs_whole(), reason="the reference runtime has no plans")


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Plans and moves are made early, so that short chains have them."""
    monkeypatch.setattr(import_module("gendsl.transforms.plans"), "SEEN", 4)
    monkeypatch.setattr(import_module("gendsl.transforms.moves"), "SEEN", 2)
    monkeypatch.setattr(import_module("gendsl.transforms.moves"), "_OFTEN", 2.0)


@gen
def one(trace):
    u = ~normal(0, 1)


@transform
def walk(model_in, aux_in, *, model_out, aux_out):
    x, u = read(model_in["x"]), read(aux_in["u"])
    write(model_out["x"], x + 3 * u)
    write(aux_out["u"], -u)


def both(f, run):
    """What a run gives with plans, and without."""
    found = []
    for off in (False, True):
        f.plans.__init__()
        f.plans.off = off
        found.append(run())
    return found


def after_steps(f, traces, q=one, count=100, **options):
    """A log acceptance ratio from the last of some traces, or what it raises, after steps from the first."""
    first, *_, last = traces

    def run():
        for seed in range(count):
            involutive_mcmc(first, q, (), f, rng=seed, **options)
        found = []
        for seed in range(20):
            try:
                found.append(involutive_mcmc(last, q, (), f, rng=seed, **options)[1].log_accept_ratio)
            except Exception as error:
                found.append(type(error))
        return found

    return both(f, run)


# --- errors -----------------------------------------------------------------------------------------


@gen
def scaled():
    s = ~gamma(3, 2)
    y = ~normal(0, s)


@transform
def leads_nowhere(model_in, aux_in, *, model_out, aux_out):
    """Its way back has probability zero, from some places."""
    s, u = read(model_in["s"]), read(aux_in["u"])
    write(model_out["s"], 3.0 - s if s > 4 else s * math.exp(u))
    write(aux_out["u"], -u)


@transform
def raises(model_in, aux_in, *, model_out, aux_out):
    """Its way back raises, from some places."""
    s, u = read(model_in["s"]), read(aux_in["u"])
    if s > 4:
        raise RuntimeError("too large")
    write(model_out["s"], s * math.exp(u))
    write(aux_out["u"], -u)


@pytest.mark.parametrize("check", [True, "reject"])
@pytest.mark.parametrize("f", [leads_nowhere, raises])
def test_a_way_back_that_fails_while_it_is_learnt_is_no_involution(f, check, caplog):
    caplog.set_level(logging.CRITICAL)
    start = scaled.generate((), {"y": 2.5}, init={"s": 1.0}, rng=0).trace

    def run():
        trace, found = start, Counter()
        rng = np.random.default_rng(2)
        for _ in range(300):
            try:
                trace, info = involutive_mcmc(trace, one, (), f, check=check, rng=rng)
                found[info.accepted] += 1
            except InvolutionError:
                found["error"] += 1
        return found

    known, plain = both(f, run)
    assert known == plain
    assert (known["error"] > 50) is (check is True)


@gen
def between():
    x = ~uniform(0, 1)
    y = ~normal(x, 1)


AT_AN_EDGE = """\
import math
import numpy as np
from gendsl import read, transform, write

@transform
def f(model_in, aux_in, *, model_out, aux_out):
    x, u = read(model_in["x"]), read(aux_in["u"])
    write(model_out["x"], x)
    write(aux_out["u"], {} - u)
"""


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "math.sqrt(x)", "np.sqrt(x)", "math.cbrt(x)", "math.asin(1 - x)", "math.acos(x - 1)",
        "math.acosh(1 + x)", "math.log(x + 1e-310)",
    ],
)  # fmt: skip
def test_a_slope_that_is_infinite_is_an_error_where_no_determinant_needs_it(text, check):
    traces = [between.generate((), {"y": 0.4}, init={"x": x}, rng=0).trace for x in (0.3, 0.0)]
    with imported(AT_AN_EDGE.format(text)) as module:
        known, plain = after_steps(module.f, traces, check=check)
        assert known == plain == [MoveNaNError] * 20


# --- digits -----------------------------------------------------------------------------------------


@gen
def far_off(n):
    x = ~normal(0, 1)
    b = ~normal(0, 1e6)
    for i in range(n):
        ("z", i) @ ~normal(b, 0.01)
    y = ~normal(x, 1)


@pytest.mark.parametrize("scale", [1.0, 1e1, 1e3, 1e5])
def test_what_a_move_does_not_touch_takes_no_digits_of_its_ratio(scale):
    z = scale + 0.01 * np.random.default_rng(0).normal(size=200)
    start = far_off.generate((200,), {"y": 0.4, "z": z}, init={"x": 0.4, "b": 0.0}, rng=0).trace
    known, plain = after_steps(walk, [start, start])
    assert known == pytest.approx(plain, rel=0, abs=1e-9)


# --- what may change --------------------------------------------------------------------------------


@gen
def pair():
    c = ~normal(0, 1)
    x = ~normal(0, 1)


@transform
def asks_for_a_value(model_in, aux_in, *, model_out, aux_out):
    s = 2.0 if read(model_in["c"]).value > 0 else 3.0
    x, u = read(model_in["x"]), read(aux_in["u"])
    write(model_out["x"], s * u)
    write(aux_out["u"], x / s)


def test_an_attribute_of_a_number_is_not_that_of_a_recorded_one():
    traces = [pair.generate((), init={"c": c, "x": 0.3}, rng=0).trace for c in (1.0, -1.0)]
    known, plain = after_steps(asks_for_a_value, traces)
    assert known == plain


def helper():
    """A function with an attribute."""


def with_default(x, *, by=2.0):
    return x * by


@transform
def by_an_attribute(model_in, aux_in, *, model_out, aux_out):
    x, u = read(model_in["x"]), read(aux_in["u"])
    write(model_out["x"], helper.scale * u)
    write(aux_out["u"], x / helper.scale)


@transform
def by_a_default(model_in, aux_in, *, model_out, aux_out):
    x, u = read(model_in["x"]), read(aux_in["u"])
    write(model_out["x"], with_default(u))
    write(aux_out["u"], x / with_default(1.0))


@transform
def counts(model_in, aux_in, *, model_out, aux_out):
    helper.calls = 1
    x, u = read(model_in["x"]), read(aux_in["u"])
    write(model_out["x"], u)
    write(aux_out["u"], x)


def test_attributes_of_functions_may_change(monkeypatch):
    trace = pair.generate((), {"c": 1.0}, init={"x": 0.3}, rng=0).trace
    for scale in (2.0, 3.0):
        monkeypatch.setattr(helper, "scale", scale, raising=False)
        if scale == 2.0:
            by_an_attribute.plans.__init__()
        ratios = [involutive_mcmc(trace, one, (), by_an_attribute, rng=s)[1].log_abs_det for s in range(60)]
    assert by_an_attribute.plans.uses == 0
    assert ratios == pytest.approx([0.0] * 60)


def test_a_default_that_changes_in_place_ends_a_plan(monkeypatch):
    trace = pair.generate((), {"c": 1.0}, init={"x": 0.3}, rng=0).trace

    def run():
        monkeypatch.setitem(with_default.__kwdefaults__, "by", 2.0)
        for seed in range(60):
            involutive_mcmc(trace, one, (), by_a_default, rng=seed)
        monkeypatch.setitem(with_default.__kwdefaults__, "by", 3.0)
        return [involutive_mcmc(trace, one, (), by_a_default, rng=s)[1].log_accept_ratio for s in range(20)]

    known, plain = both(by_a_default, run)
    assert known == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize("gone", [None, {}])
def test_defaults_that_are_gone_end_a_plan(gone, monkeypatch):
    """Asking what an entry is, of what has none any more, once raised in the middle of a step."""
    trace = pair.generate((), {"c": 1.0}, init={"x": 0.3}, rng=0).trace

    def run():
        for seed in range(60):
            involutive_mcmc(trace, one, (), by_a_default, rng=seed)
        with monkeypatch.context() as patch:
            patch.setattr(with_default, "__kwdefaults__", gone)
            try:
                return involutive_mcmc(trace, one, (), by_a_default, rng=1)[1].log_abs_det
            except Exception as error:
                return type(error), str(error)

    known, plain = both(by_a_default, run)
    assert known == pytest.approx(plain) if isinstance(plain, float) else known == plain


def test_what_a_transform_does_besides_is_done_in_each_step(monkeypatch):
    trace = pair.generate((), {"c": 1.0}, init={"x": 0.3}, rng=0).trace
    monkeypatch.setattr(helper, "calls", 0, raising=False)
    for seed in range(60):
        involutive_mcmc(trace, one, (), counts, rng=seed)
    helper.calls = 0
    involutive_mcmc(trace, one, (), counts, rng=1)
    assert helper.calls == 1


class Config:
    def __init__(self, text):
        self.text = text


@gen
def configured(config):
    x = ~normal(0, 1)
    y = ~normal(x, 1.0 if config.text else 5.0)


@gen
def signed(a):
    x = ~normal(math.copysign(1.0, a), 1)


def test_an_attribute_of_an_argument_is_not_that_of_a_recorded_one():
    traces = [
        configured.generate((Config(text),), {"y": 0.5}, init={"x": 0.3}, rng=0).trace for text in ("a", "")
    ]
    known, plain = after_steps(walk, traces)
    assert known == plain


def test_minus_zero_is_another_argument():
    traces = [signed.generate((a,), init={"x": 0.3}, rng=0).trace for a in (0.0, -0.0)]
    known, plain = after_steps(walk, traces)
    assert known == plain


# --- vectors that are only read ---------------------------------------------------------------------


@gen
def with_weights():
    w = ~dirichlet([1.0, 2.0, 3.0])
    v = ~mvnormal(np.zeros(2), np.eye(2))
    x = ~normal(w[0] + v[1], 1)


@transform
def by_weights(model_in, aux_in, *, model_out, aux_out):
    w, v = read(model_in["w"]), read(model_in["v"])
    x, u = read(model_in["x"]), read(aux_in["u"])
    write(model_out["x"], w[0] * u + v[0])
    write(aux_out["u"], (x - v[0]) / w[0])


def test_a_vector_that_is_read_and_not_written_may_be_part_of_a_move(kinds):
    trace = with_weights.simulate(rng=1)
    known, plain = after_steps(by_weights, [trace, trace])
    assert known == pytest.approx(plain, rel=1e-12)
    assert kinds[Scored] > 80
