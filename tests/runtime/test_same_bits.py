"""Whether a value has changed is decided by its type and its bits, and by what the reference would do."""

import cmath
import os

import numpy as np
import pytest

from gendsl import bernoulli, gen, normal, poisson, uniform_discrete
from gendsl.errors import RuntimeMismatchError
from gendsl.runtime.arguments import private
from gendsl.runtime.change import difference, is_same
from gendsl.runtime.verify import compare_with_reference

pytestmark = pytest.mark.usefixtures("unwatched")

on_the_compiled_runtime = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME") == "reference", reason="about the compiled runtime"
)


# --- the last entry of a list that becomes empty ----------------------------------------------------


@gen
def listed():
    k = ~poisson(3)
    mu = [("mu", j) @ ~normal(0, 1) for j in range(k)]
    y = ~normal(mu[-1], 1)


@gen
def appended():
    k = ~poisson(3)
    mu = []
    for j in range(k):
        m = ("mu", j) @ ~normal(0, 1)
        mu.append(m)
    y = ~normal(mu[-1], 1)


@gen
def sliced():
    k = ~poisson(3)
    every = [0.5, 1.5, 2.5]
    mu = every[:k]
    for i in range(3):
        ("y", i) @ ~normal(mu[-1], 1)


@gen
def in_an_array():
    k = ~poisson(3)
    mu = np.array([0.5, 1.5, 2.5])[:k]
    y = ~normal(mu[np.int64(-1)], 1)


@pytest.mark.parametrize("model", [listed, appended, sliced, in_an_array])
def test_the_last_entry_of_what_becomes_empty(model):
    trace = model.simulate(rng=1).update({"k": 1}, rng=2).trace
    with pytest.raises(IndexError):
        trace.update({"k": 0})
    longer = trace.update({"k": 2}, rng=3).trace
    compare_with_reference(longer)
    compare_with_reference(longer.update({"k": 1}, rng=3).trace)


@gen
def keyed():
    k = ~uniform_discrete(0, 1)
    entries = {-1: 0.5 * k, 0: 1.0}
    y = ~normal(entries[-1], 1)


def test_a_negative_key_of_a_dict_is_a_key():
    trace = keyed.generate((), init={"k": 0}, rng=1).trace
    changed = trace.update({"k": 1}).trace
    again = keyed.reference.score((), changed.choices.to_flat_dict())
    assert changed.log_prob == pytest.approx(again.log_prob)


# --- ranges, and signs of zero ---------------------------------------------------------------------


@gen
def of_a_range():
    k = ~uniform_discrete(0, 5)
    empty = range(k, 5) if k else range(0)
    y = ~normal(empty.start, 1)
    return empty.stop


@gen
def of_a_complex_number():
    above = ~bernoulli(0.5)
    z = complex(-1.0, 0.0 if above else -0.0)
    y = ~normal(cmath.sqrt(z).imag, 1)
    return z.imag


@gen
def of_a_pair():
    above = ~bernoulli(0.5)
    pair = (complex(0.0 if above else -0.0, 1.0), range(0, 3, 2) if above else range(0, 4, 2))
    y = ~normal(np.copysign(1.0, pair[0].real) + pair[1].stop, 1)


@pytest.mark.parametrize(
    ("model", "before", "after"),
    [(of_a_range, {"k": 0}, {"k": 5}), (of_a_complex_number, {"above": 0}, {"above": 1}),
     (of_a_pair, {"above": 0}, {"above": 1})],
)  # fmt: skip
def test_equal_values_that_are_not_the_same(model, before, after):
    trace = model.generate((), init=before, rng=1).trace
    changed = trace.update(after).trace
    again = model.reference.score((), changed.choices.to_flat_dict())
    assert changed.log_prob == pytest.approx(again.log_prob)
    assert repr(changed.retval) == repr(again.retval)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (range(0), range(5, 5)),
        (range(0, 3, 2), range(0, 4, 2)),
        (complex(0.0, 1.0), complex(-0.0, 1.0)),
        (complex(1.0, 0.0), complex(1.0, -0.0)),
        (0.0, -0.0),
        (1, 1.0),
        (1, True),
        (np.float64(0.0), np.float64(-0.0)),
        (np.array([0.0]), np.array([-0.0])),
        (np.array([1]), np.array([1.0])),
        ("a", b"a"),
        ({1: 0.0}, {True: 0.0}),
        ({1: 0.0}, {1: -0.0}),
    ],
)
def test_what_differs_in_type_or_bits_has_changed(old, new):
    for make in (lambda x: x, lambda x: [x], lambda x: (x,), lambda x: {"a": x}, lambda x: [(1, x)]):
        assert difference(make(old), make(new)) is not None
        assert not is_same(make(old), make(new))


def test_the_same_bits_are_no_change():
    for make in (lambda: range(2, 9, 3), lambda: complex(0.0, -0.0), lambda: [1, 2.0, "a", b"b", None, True]):
        assert difference(make(), make()) is None
        assert is_same(make(), make())


def test_sets_that_are_equal_are_other_arguments():
    given = ({1, 2, 3},)
    known = private(given)
    assert private(given, known)[0] is known[0]
    assert type(next(iter(private(({True},), private(({1},)))[0]))) is bool
    assert type(next(iter(private(({1.0},), private(({1},)))[0]))) is float


# --- the reference raises --------------------------------------------------------------------------


@on_the_compiled_runtime
def test_what_the_reference_raises_is_carried_by_the_mismatch():
    allowed = [True]

    def checked(x):
        if not allowed[0]:
            raise ArithmeticError("not any more")
        return x

    @gen
    def checking():
        x = ~normal(0, 1)
        y = ~normal(checked(x), 1)

    trace = checking.simulate(rng=1)
    allowed[0] = False
    with pytest.raises(RuntimeMismatchError, match="ArithmeticError: not any more") as caught:
        compare_with_reference(trace)
    assert type(caught.value.__cause__) is ArithmeticError
    assert "deterministic" in str(caught.value)
    assert "def checking" in str(caught.value)
