"""Selections against brute force, and what they refuse."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gendsl.choices import choicemap
from gendsl.errors import InvalidAddressError, UnknownAddressError, ValueTypeError
from gendsl.selection import Selection, select

laws = settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)

COMPONENTS = ("a", "b", 0, 1)
UNIVERSE = [path for n in (1, 2, 3) for path in itertools.product(COMPONENTS, repeat=n)]

patterns = st.lists(st.sampled_from([*COMPONENTS, ...]), min_size=1, max_size=3).map(tuple)
named = st.tuples(st.just("select"), st.lists(patterns, max_size=3))
expressions = st.recursive(
    st.one_of(named, st.just(("all",))),
    lambda e: st.one_of(st.tuples(st.sampled_from("|&-"), e, e), st.tuples(st.just("~"), e)),
    max_leaves=6,
)


def built(expression):
    """The selection that an expression stands for."""
    match expression:
        case ("select", named):
            return select(*named)
        case ("all",):
            return select.all
        case ("~", e):
            return ~built(e)
        case ("|", a, b):
            return built(a) | built(b)
        case ("&", a, b):
            return built(a) & built(b)
        case ("-", a, b):
            return built(a) - built(b)


def brute_force(expression):
    """The addresses of the universe that it selects, as a set."""
    match expression:
        case ("select", named):
            return {
                path
                for path in UNIVERSE
                for pattern in named
                if len(path) >= len(pattern)
                and all(pattern[i] in (..., path[i]) for i in range(len(pattern)))
            }
        case ("all",):
            return set(UNIVERSE)
        case ("~", e):
            return set(UNIVERSE) - brute_force(e)
        case ("|", a, b):
            return brute_force(a) | brute_force(b)
        case ("&", a, b):
            return brute_force(a) & brute_force(b)
        case ("-", a, b):
            return brute_force(a) - brute_force(b)


def selected(selection):
    return {path for path in UNIVERSE if path in selection}


@laws
@given(expressions)
def test_membership_against_brute_force(expression):
    selection = built(expression)
    expected = brute_force(expression)
    assert selected(selection) == expected
    assert {path for path in UNIVERSE if selection.contains(path)} == expected
    assert selected(~selection) == set(UNIVERSE) - expected


@laws
@given(expressions, expressions, expressions)
def test_boolean_algebra(first, second, third):
    a, b, c = built(first), built(second), built(third)
    assert a | b == b | a
    assert a & b == b & a
    assert (a | b) | c == a | (b | c)
    assert (a & b) & c == a & (b & c)
    assert ~~a == a
    assert selected(~(a | b)) == selected(~a & ~b)
    assert selected(a - b) == selected(a & ~b)
    assert selected(a & (b | c)) == selected((a & b) | (a & c))
    assert a & select.all == a
    assert a | select() == a
    assert a | a == a & a == a


@laws
@given(expressions, expressions)
def test_equality_hash_repr_and_pickle(first, second):
    a, b = built(first), built(second)
    assert a == built(first)
    assert hash(a) == hash(built(first))
    if a == b:
        assert hash(a) == hash(b)
        assert selected(a) == selected(b)
    assert eval(repr(a)) == a
    for again in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a)):
        assert again == a
        assert selected(again) == selected(a)


# --- meaning -----------------------------------------------------------------------------------


def test_an_address_selects_what_is_below_it():
    selection = select("mu", ("left", "x"))
    for address in ("mu", ("mu",), ("mu", 0), ("mu", 0, "y"), ("left", "x"), ("left", "x", 1)):
        assert address in selection
    for address in ("nu", "left", ("left",), ("left", "y"), ("x", "mu"), 0):
        assert address not in selection


def test_dots_stand_for_any_one_component():
    below = select(("mu", ...))
    assert ("mu", 0) in below
    assert ("mu", "a", 1) in below
    assert "mu" not in below
    assert ("nu", 0) not in below
    inner = select(("node", ..., "x"))
    assert ("node", 3, "x") in inner
    assert ("node", 3, "x", 0) in inner
    assert ("node", 3) not in inner
    assert ("node", 3, "y") not in inner
    assert "anything" in select(...)


def test_everything_and_nothing():
    assert Selection.all() == select.all == ~select()
    assert "x" in select.all
    assert "x" not in select()
    assert selected(~select.all) == set()
    assert ~select.all == select()
    assert select.all | select("a") == select("a") | select.all


def test_numpy_integers_are_integers():
    assert ("mu", np.int64(2)) in select(("mu", 2))
    assert ("mu", 2) in select(("mu", np.int64(2)))


def test_selecting_what_a_choice_map_has():
    cm = choicemap({"k": 1, "mu": {0: 0.5, 1: 1.5}})
    assert select(cm) == select("k", ("mu", 0), ("mu", 1))
    assert select(cm, "w").addresses() == (("k",), ("mu", 0), ("mu", 1), ("w",))


def test_selecting_a_selection():
    a, b = select("a"), ~select("b")
    assert select(a) == a
    assert select(b) == b
    assert select(a, b, "c") == a | b | select("c")


def test_unions_of_addresses_are_one_look_up():
    union = select("a") | select(("b", 0)) | ~select("c") | select("d")
    assert union == select("a", ("b", 0), "d") | ~select("c")
    assert union.addresses() == (("a",), ("b", 0), ("d",), ("c",))
    assert select("a") | select("b") == select("b", "a")


def test_addresses_are_named_once_and_in_order():
    selection = (select("b", "a") & ~select("c", "a")) | select(("d", ...))
    assert selection.addresses() == (("d", ...), ("b",), ("a",), ("c",))
    assert select("a", ("a",), "a").addresses() == (("a",),)
    assert select.all.addresses() == select().addresses() == ()


def test_repr():
    assert repr(select()) == "select()"
    assert repr(select.all) == "select.all"
    assert repr(select) == "select"
    assert repr(select("mu", ("x", 0), ("y", ..., 1), ...)) == "select('mu', ('x', 0), ('y', ..., 1), ...)"
    assert repr(~select("a")) == "~select('a')"
    assert repr(select("a") - select("b")) == "(select('a') & ~select('b'))"
    assert repr(select("a") | ~select("b")) == "(select('a') | ~select('b'))"
    assert repr(select(*range(20))) == "select(0, 1, 2, 3, 4, 5, 6, 7, … 12 more)"


# --- unknown addresses -------------------------------------------------------------------------

KNOWN = [("k",), ("mu", 0), ("mu", 1), ("left", "right", "done")]


@pytest.mark.parametrize(
    "known", [KNOWN, dict.fromkeys(KNOWN), set(KNOWN), choicemap(dict.fromkeys(KNOWN, 1))]
)
@pytest.mark.parametrize(
    "selection",
    [
        select(),
        select.all,
        select("k", "mu", ("mu", 1), "left", ("left", "right"), ("left", "right", "done")),
        select(("mu", ...), ("left", ..., "done"), (..., 0), ...),
        ~select("k") & select(("mu", 0)),
    ],
)
def test_known_addresses_pass(selection, known):
    selection.check(known)


@pytest.mark.parametrize(
    ("selection", "address", "fix"),
    [
        (select("muu"), ("muu",), "did you mean 'mu'?"),
        (select("k", ("mu", 2)), ("mu", 2), "'mu' has 2 addresses below it; the last is ('mu', 1)"),
        (select(("k", 0)), ("k", 0), "'k' is a choice, so nothing is below it"),
        (select("k") & ~select("lefft"), ("lefft",), "did you mean 'left'?"),
        (select.all - select(("left", "rigth")), ("left", "rigth"), "did you mean ('left', 'right')?"),
        (select("something"), ("something",), "the addresses here start with 'k', 'mu', 'left'"),
    ],
)
@pytest.mark.parametrize("known", [KNOWN, dict.fromkeys(KNOWN), choicemap(dict.fromkeys(KNOWN, 1))])
def test_unknown_addresses(selection, address, fix, known):
    with pytest.raises(UnknownAddressError) as error:
        selection.check(known)
    assert error.value.problem == "an address named in the selection doesn't exist"
    assert error.value.address == address
    assert error.value.fix == fix


def test_unknown_patterns():
    with pytest.raises(UnknownAddressError) as error:
        select("k", ("muu", ...)).check(KNOWN, "the selection of regenerate")
    assert error.value.problem == "('muu', ...), named in the selection of regenerate, matches no address"
    assert error.value.address is None
    assert error.value.fix is not None
    with pytest.raises(UnknownAddressError) as error:
        select(("k", ...)).check(KNOWN)
    assert error.value.problem == "('k', ...), named in the selection, matches no address"
    with pytest.raises(UnknownAddressError) as error:
        select(...).check([])
    assert error.value.problem == "..., named in the selection, matches no address"
    assert error.value.fix == "there are no addresses here"


@laws
@given(expressions, st.sets(st.sampled_from(UNIVERSE), max_size=6))
def test_check_raises_exactly_for_what_matches_nothing(expression, known):
    selection = built(expression)
    unmatched = {p for p in selection.addresses() if not brute_force(("select", [p])) & known}
    if unmatched:
        with pytest.raises(UnknownAddressError) as error:
            selection.check(known)
        assert error.value.address in {p for p in unmatched if ... not in p} | {None}
    else:
        selection.check(known)


def test_a_large_selection_is_checked_in_one_pass():
    known = [("x", i, "v") for i in range(20_000)]
    select(*[("x", i) for i in range(20_000)]).check(known)
    with pytest.raises(UnknownAddressError) as error:
        select(*[("x", i) for i in range(20_001)]).check(known)
    assert error.value.address == ("x", 20_000)


# --- misuse ------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [(), ["a"], ("a", [1]), {"a": 1}, ("a", slice(0, 2)), slice(None)])
def test_what_is_no_address(wrong):
    with pytest.raises(InvalidAddressError):
        select(wrong)


def test_a_selection_has_no_truth_value():
    with pytest.raises(ValueTypeError) as error:
        select("a") and select("b")
    assert error.value.problem == "a selection is neither true nor false"
    assert error.value.fix == "ask `address in selection`, or write |, & and ~ for or, and, not"


@pytest.mark.parametrize("other", ["a", ("a",), None, {"a"}])
def test_operators_take_selections(other):
    for combine in (lambda a, b: a | b, lambda a, b: a & b, lambda a, b: a - b):
        with pytest.raises(TypeError):
            combine(select("a"), other)
        with pytest.raises(TypeError):
            combine(other, select("a"))
    assert select("a") != other


def test_a_class_of_ones_own_is_told_what_it_must_define():
    class Nothing(Selection):
        pass

    with pytest.raises(TypeError, match=r"^Nothing must define contains\(self, path\)$"):
        Nothing().contains(("a",))
    with pytest.raises(TypeError, match=r"^Nothing must define addresses\(self\)$"):
        (~Nothing()).addresses()
