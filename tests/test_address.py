"""Addresses: what is one, how it is written, and which one was meant."""

from collections import namedtuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gendsl.address import as_path, did_you_mean, format_address, nearest
from gendsl.errors import InvalidAddressError

laws = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
components = st.one_of(st.text(max_size=4), st.integers(), st.booleans(), st.none(), st.tuples(st.integers()))


@laws
@given(st.lists(components, min_size=1, max_size=4).map(tuple))
def test_a_tuple_is_its_own_path(path):
    assert as_path(path) is path


@laws
@given(components.filter(lambda c: not isinstance(c, tuple)))
def test_anything_else_is_a_path_of_length_one(component):
    assert as_path(component) == (component,)
    assert as_path((component,)) == as_path(component)


def test_a_named_tuple_is_one_component():
    place = namedtuple("place", "row column")(1, 2)
    assert as_path(place) == (place,)


def test_numpy_integers_equal_integers():
    assert as_path(("x", np.int64(3))) == ("x", 3)
    assert {as_path(("x", np.int64(3))): 1} == {("x", 3): 1}


@pytest.mark.parametrize(
    ("address", "problem", "fix"),
    [
        ((), "() is not an address", "use at least one component, such as 'x' or ('x', 0)"),
        (
            ["x", 0],
            "['x', 0] of type list can't be part of an address: it is not hashable",
            "build addresses from strings, numbers and tuples",
        ),
        (
            ("x", {}),
            "{} of type dict can't be part of an address: it is not hashable",
            "build addresses from strings, numbers and tuples",
        ),
        (
            ("x", ([],)),
            "([],) of type tuple can't be part of an address: it is not hashable",
            "build addresses from strings, numbers and tuples",
        ),
        (..., "... can't be part of an address", "`... @ ~f(x)` splices; it names no address"),
        (("x", ...), "... can't be part of an address", "`... @ ~f(x)` splices; it names no address"),
    ],
)
def test_invalid_addresses(address, problem, fix):
    with pytest.raises(InvalidAddressError) as error:
        as_path(address)
    assert error.value.problem == problem
    assert error.value.fix == fix
    with pytest.raises(TypeError):
        as_path(address)


@pytest.mark.parametrize("address", [slice(0, 2), ("x", slice(None))])
def test_slices(address):
    with pytest.raises(InvalidAddressError, match="slice"):
        as_path(address)


def test_arrays_are_no_components():
    with pytest.raises(InvalidAddressError, match="of type ndarray can't be part of an address"):
        as_path(np.arange(3))


def test_formatting():
    assert format_address(("k",)) == "'k'"
    assert format_address((3,)) == "3"
    assert format_address(("mu", 2)) == "('mu', 2)"
    assert format_address((("a", 1),)) == "('a', 1)"


def test_nearest():
    known = [("mu", 0), ("mu", 1), ("sigma",), ("weights",)]
    assert nearest(("sigm",), known) == ("sigma",)
    assert nearest(("weigths",), known) == ("weights",)
    assert nearest(("mu", 11), known) == ("mu", 1)
    assert nearest(("something else",), known) is None
    assert nearest(("x",), []) is None
    assert nearest(("j",), [("z",), ("y",)]) is None
    assert nearest(("K",), [("j",), ("k",)]) == ("k",)


def test_did_you_mean_names_namespaces_too():
    known = [("left", "right", "done"), ("left", "value")]
    assert did_you_mean(("lefft",), known) == "did you mean 'left'?"
    assert did_you_mean(("left", "rigth"), known) == "did you mean ('left', 'right')?"
    assert did_you_mean(("zzzzzz",), known) is None
    assert did_you_mean(("zzzzzz",), known, otherwise="look again") == "look again"
    assert did_you_mean(("a",), iter(()), otherwise="look again") == "look again"


def test_suggestions_stay_fast_in_large_traces():
    known = (("x", i) for i in range(10**9))  # only the first few thousand are looked at
    assert did_you_mean(("x", -1), known) is not None
