"""Constraints: what a run of a program was given, and which of it was used."""

import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gendsl import gen, normal
from gendsl.choices import MISSING, Constraints, choicemap
from gendsl.errors import PartialObservationWarning, UnknownAddressError

laws = settings(
    max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


def test_exact_hits_and_misses():
    constraints = Constraints({"k": 2, ("mu", 0): 1.5, "left": {"x": None}})
    assert constraints.lookup(("k",)) == 2
    assert constraints.lookup(("mu", 1)) is MISSING
    assert constraints.lookup(("left", "x")) is None
    assert constraints.lookup(("left",)) is MISSING
    assert constraints.unused() == [("mu", 0)]
    assert constraints.lookup(("mu", 0)) == 1.5
    assert constraints.lookup(("mu", 0)) == 1.5
    assert constraints.unused() == []


def test_nothing_given():
    for nothing in (None, {}, choicemap()):
        constraints = Constraints(nothing)
        assert constraints.lookup(("x",)) is MISSING
        assert constraints.lookup(("x", 0)) is MISSING
        assert constraints.unused() == []
        constraints.check_used([])


def test_an_array_stands_for_its_entries():
    constraints = Constraints({"x": np.array([1.5, 2.5, 3.5]), ("y", "z"): np.array([True, False])})
    assert constraints.lookup(("x", 1)) == 2.5
    assert type(constraints.lookup(("x", 1))) is float
    assert constraints.lookup(("x", np.int64(0))) == 1.5
    assert constraints.lookup(("y", "z", 1)) is False
    assert constraints.lookup(("y", 1)) is MISSING
    assert constraints.unused() == [("x", 2), ("y", "z", 0)]


def test_what_is_no_index_of_an_array():
    constraints = Constraints({"x": np.arange(3), "s": "abc", "n": 5, "b": b"abc", "zero": np.array(3)})
    for path in (
        ("x", 3),
        ("x", -1),
        ("x", "0"),
        ("x", 1.5),
        ("x", None),
        ("x", 0, 0),
        ("x", "a", 0),
        ("s", 0),
        ("n", 0),
        ("b", 0),
        ("zero", 0),
        (0, "x"),
        (0,),
    ):
        assert constraints.lookup(path) is MISSING
    assert constraints.unused() == [("x",), ("s",), ("n",), ("b",), ("zero",)]


def test_the_whole_array_may_be_one_choice():
    weights = np.array([0.25, 0.75])
    constraints = Constraints({"w": weights, "pair": (1, "a")})
    assert constraints.lookup(("w",)) is weights
    assert constraints.lookup(("pair",)) == (1, "a")
    assert constraints.unused() == []


def test_rows_and_entries_of_a_matrix():
    matrix = np.arange(6.0).reshape(3, 2)
    constraints = Constraints({"x": matrix})
    row = constraints.lookup(("x", 0))
    assert isinstance(row, np.ndarray)
    assert row.tolist() == [0.0, 1.0]
    assert constraints.lookup(("x", 1, 1)) == 3.0
    assert type(constraints.lookup(("x", 1, 1))) is float
    assert constraints.lookup(("x", 1, 2)) is MISSING
    assert constraints.lookup(("x", 1, 1, 0)) is MISSING
    assert constraints.unused() == [("x", 1, 0), ("x", 2)]
    assert constraints.lookup(("x", 1)).tolist() == [2.0, 3.0]
    assert constraints.unused() == [("x", 2)]


def test_lists_and_tuples():
    array = np.array([1, 2])
    constraints = Constraints({"x": [1, [2.5, "s", (3,)], array, np.float64(0.5), None]})
    assert constraints.lookup(("x", 0)) == 1
    assert constraints.lookup(("x", 1, 0)) == 2.5
    assert constraints.lookup(("x", 1, 2, 0)) == 3
    assert constraints.lookup(("x", 1, 1, 0)) is MISSING
    assert constraints.lookup(("x", 2, 1)) == 2
    assert type(constraints.lookup(("x", 2, 1))) is int
    assert constraints.lookup(("x", 2)) is array
    assert type(constraints.lookup(("x", 3))) is float
    assert constraints.lookup(("x", 4)) is None
    assert constraints.unused() == [("x", 1, 1)]


def test_arrays_of_objects_and_strings():
    constraints = Constraints(
        {"o": np.array([[1], None], dtype=object), "s": np.array(["a", "bc"]), "i": np.array([1, 2], np.int8)}
    )
    assert constraints.lookup(("o", 0)) == [1]
    assert constraints.lookup(("o", 0, 0)) == 1
    assert constraints.lookup(("o", 1)) is None
    assert type(constraints.lookup(("s", 1))) is str
    assert type(constraints.lookup(("i", 1))) is int
    assert constraints.unused() == [("s", 0), ("i", 0)]


def test_an_array_below_indices():
    """A list of arrays of unequal lengths, given one by one."""
    constraints = Constraints({("x", 0): np.array([1.0]), ("x", 1): np.array([2.0, 3.0])})
    assert constraints.lookup(("x", 1, 0)) == 2.0
    assert constraints.lookup(("x", 2, 0)) is MISSING
    assert constraints.unused() == [("x", 0), ("x", 1, 1)]


def test_empty_arrays_stand_for_nothing():
    empty = {"a": [], "b": np.zeros((0, 3)), "c": np.zeros((2, 0)), "d": ([], ()), "e": np.array([])}
    assert Constraints(empty).unused() == []
    constraints = Constraints({"x": [[], [1]]})
    assert constraints.lookup(("x", 1, 0)) == 1
    assert constraints.unused() == []


def test_an_untouched_array_is_named_as_a_whole():
    constraints = Constraints({"x": np.arange(5)})
    assert constraints.lookup(("x", 9)) is MISSING
    assert constraints.unused() == [("x",)]


nested = st.recursive(
    st.integers(0, 9),
    lambda entry: st.one_of(
        st.lists(entry, max_size=3),
        st.lists(entry, max_size=3).map(tuple),
        st.lists(st.integers(0, 9), max_size=3).map(lambda entries: np.array(entries, dtype=int)),
    ),
    max_leaves=6,
)


def leaves(value, path):
    """The paths of the numbers in nested lists, and the numbers."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [leaf for i, entry in enumerate(value) for leaf in leaves(entry, (*path, i))]
    return [(path, value)]


@laws
@given(st.lists(nested, min_size=1, max_size=3), st.data())
def test_every_entry_is_used_or_unused(given_values, data):
    constraints = Constraints({("v", i): value for i, value in enumerate(given_values)})
    numbers = [leaf for i, value in enumerate(given_values) for leaf in leaves(value, ("v", i))]
    used = {path for path, _ in numbers if data.draw(st.booleans())}
    for path, number in numbers:
        if path in used:
            assert constraints.lookup(path) == number
    unused = constraints.unused()
    for path, _ in numbers:
        covered = [p for p in unused if path[: len(p)] == p]
        assert len(covered) == (path not in used)
    # an unused address is as short as it can be without covering a used one
    for path in unused:
        assert len(path) <= 2 or any(p[: len(path) - 1] == path[:-1] for p in used)
    for path, number in numbers:
        assert constraints.lookup(path) == number
    assert constraints.unused() == []
    constraints.check_used([])


# --- errors ------------------------------------------------------------------------------------


def error_of(constraints, known, **options):
    with pytest.raises(UnknownAddressError) as error:
        constraints.check_used(known, **options)
    return error.value.problem, error.value.address, error.value.fix


def test_one_unused_address():
    assert error_of(Constraints({"muu": 1}), [("mu",), ("k",)], what="the observations") == (
        "the program has no choice at an address given in the observations",
        ("muu",),
        "did you mean 'mu'?",
    )


def test_more_entries_than_the_program_makes_choices():
    constraints = Constraints({"x": np.arange(90)})
    for i in range(80):
        constraints.lookup(("x", i))
    assert error_of(constraints, [("x", i) for i in range(80)]) == (
        "the program has no choice at 10 addresses given in the choice map: "
        "('x', 80), ('x', 81), ('x', 82), ('x', 83), ('x', 84) and 5 more; 'x' has 90 entries for 80 choices",
        ("x", 80),
        "'x' has 80 addresses below it; the last is ('x', 79)",
    )


def test_a_value_for_a_namespace_and_below_a_choice():
    assert error_of(Constraints({"x": 1}), [("x", "a"), ("x", "b")])[2] == (
        "'x' is a namespace: name what is below it, such as ('x', 'a')"
    )
    assert error_of(Constraints({("x", "a"): 1}), [("x",)])[2] == "'x' is a choice, so nothing is below it"
    assert error_of(Constraints({"x": 1}), [])[2] == "there are no addresses here"


def test_used_up_constraints_pass():
    constraints = Constraints({"x": [1, 2]})
    constraints.lookup(("x", 0))
    constraints.lookup(("x", 1))
    constraints.check_used([("x", 0), ("x", 1)])


# --- lists that end too early ------------------------------------------------------------------------


@gen
def plate(n):
    m = ~normal(0, 1)
    for i in range(n):
        ("x", i) @ ~normal(m, 1)
    for i in range(n):
        for j in range(2):
            ("y", i, j) @ ~normal(m, 1)


@gen
def chained(n):
    x = 0.0
    for i in range(n):
        x = ("x", i) @ ~normal(x, 1)


BOTH = pytest.mark.parametrize("runtime", [lambda model: model, lambda model: model.reference])


@BOTH
@pytest.mark.parametrize("model", [plate, chained])
@pytest.mark.parametrize("given", [np.zeros(3), [0.0, 0.0, 0.0], (0.0,), []])
def test_observations_that_end_too_early_are_warned_of(runtime, model, given):
    with pytest.warns(PartialObservationWarning, match="ends before the choices do") as caught:
        line = sys._getframe().f_lineno + 1
        trace = runtime(model).generate((5,), {"x": given}, rng=1).trace
    (warning,) = caught
    assert (warning.filename, warning.lineno) == (__file__, line)
    assert f"the program makes ('x', {len(given)}), too, which is latent" in str(warning.message)
    assert "one by one: {('x', i): x[i] for i in ...}" in str(warning.message)
    assert len(trace.observed) == len(given)


@BOTH
def test_complete_observations_are_not_warned_of(runtime):
    model, y = runtime(plate), np.zeros((4, 2))
    model.generate((4,), {"x": np.zeros(4), "y": y}, rng=1)  # warnings are errors here
    model.generate((4,), {("x", 0): 0.0, ("x", 2): 1.0, ("y", 3): y[3]}, rng=1)
    model.generate((4,), {"x": np.zeros(4)}, init={"y": y[:2]}, rng=1)
    model.generate((0,), {"x": [], "y": []}, rng=1)
    model.generate((4,), None, rng=1).trace.update({"x": [0.0, 0.1]})
    trace = model.generate((2,), {"x": [0.0, 0.1]}, rng=1).trace
    assert trace.update(args=(3,), rng=1).trace["x", 2] != 0.0
    with pytest.raises(UnknownAddressError, match=r"given in observations") as caught:
        model.generate((4,), {"x": np.zeros(5)}, rng=1)
    assert caught.value.address == ("x", 4)


@BOTH
def test_a_row_that_is_too_short_is_warned_of(runtime):
    with pytest.warns(PartialObservationWarning, match=r"makes \('y', 1, 1\), too"):
        runtime(plate).generate((2,), {"y": [[0.0, 0.1], [0.2]]}, rng=1)
    with pytest.warns(PartialObservationWarning, match=r"makes \('y', 0, 1\), too"):
        runtime(plate).generate((3,), {"y": np.zeros((3, 1))}, rng=1)
