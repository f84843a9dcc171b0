"""Choice maps: construction, look-up, the algebra of maps, round trips, errors."""

import copy
import operator
import pickle
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gendsl.choices import MISSING, ChoiceMap, choicemap, explain_unknown
from gendsl.errors import (
    AddressConflictError,
    DuplicateAddressError,
    InvalidAddressError,
    UnknownAddressError,
    ValueTypeError,
)
from gendsl.selection import select

laws = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)

components = st.sampled_from(["a", "b", "mu", "a b", 0, 1, 2, ("t", 1), None, 2.5])
paths = st.lists(components, min_size=1, max_size=3).map(tuple)

numbers = st.one_of(st.integers(-(2**53), 2**53), st.booleans(), st.floats())
numeric_arrays = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, np.int8, np.uint16, np.bool_]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    elements=None,
).filter(lambda array: array.dtype.kind not in "iu" or (np.abs(array.astype(float)) <= 2.0**53).all())
numeric_values = st.recursive(
    st.one_of(numbers, numeric_arrays, st.floats().map(np.float64), st.integers(0, 9).map(np.int32)),
    lambda entry: st.one_of(st.lists(entry, max_size=3), st.lists(entry, max_size=3).map(tuple)),
    max_leaves=4,
)
other_values = st.one_of(
    st.none(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.frozensets(st.integers(0, 5), max_size=3),
    st.complex_numbers(),
    hnp.arrays(np.dtype("U2"), hnp.array_shapes(max_dims=2, max_side=3)),
    hnp.arrays(object, hnp.array_shapes(max_dims=2, max_side=2), elements=st.one_of(numbers, st.none())),
    hnp.arrays(np.complex128, (2,)),
)
values = st.recursive(
    st.one_of(numeric_values, other_values),
    lambda entry: st.one_of(st.lists(entry, max_size=3), st.lists(entry, max_size=3).map(tuple)),
    max_leaves=4,
)


def without_conflicts(flat):
    """The entries of `flat` whose path doesn't begin with another entry's path."""
    return {p: v for p, v in flat.items() if not any(p[:n] in flat for n in range(1, len(p)))}


def flat_dicts(of=values):
    """Valid flat dicts from paths to values."""
    return st.dictionaries(paths, of, max_size=8).map(without_conflicts)

EXAMPLE = {"k": 2, ("mu", 0): 1.5, ("mu", 1): -0.5, "left": {"x": "s", "right": {"done": True}}}


@pytest.fixture
def example():
    return choicemap(EXAMPLE)


# --- construction ------------------------------------------------------------------------------


def test_nested_dicts_are_namespaces(example):
    flat = {
        ("k",): 2,
        ("mu", 0): 1.5,
        ("mu", 1): -0.5,
        ("left", "x"): "s",
        ("left", "right", "done"): True,
    }
    assert example.to_flat_dict() == flat
    assert list(example) == list(flat)
    assert choicemap(flat) == example
    assert choicemap(flat.items()) == example
    assert choicemap(pair for pair in flat.items()) == example
    assert choicemap({"mu": [0]}) != choicemap({"mu": {0: 0}})


def test_a_choice_map_in_a_dict_is_a_namespace():
    inner = choicemap({"x": 1, ("y", 0): 2})
    assert choicemap({"a": inner, ("b", 1): inner}).to_flat_dict() == {
        ("a", "x"): 1,
        ("a", "y", 0): 2,
        ("b", 1, "x"): 1,
        ("b", 1, "y", 0): 2,
    }


def test_namespaces_may_be_given_in_parts():
    given_in_parts = choicemap({"a": {"x": 1}, "k": 0, ("a",): {"y": 2}})
    assert given_in_parts.paths() == (("a", "x"), ("k",), ("a", "y"))


def test_none_and_empty_dicts_give_no_choices():
    assert len(choicemap()) == len(choicemap(None)) == len(choicemap({})) == 0
    assert len(choicemap({"a": {}, "b": {"c": {}}})) == 0
    assert "a" not in choicemap({"a": {}})


def test_a_choice_map_is_taken_as_it_is(example):
    assert choicemap(example) is example
    assert ChoiceMap(example) == example
    assert choicemap(OrderedDict(EXAMPLE)) == example


def test_deeply_nested_dicts():
    depth = 3000
    nested: dict = {"x": 1}
    for _ in range(depth):
        nested = {"next": nested}
    deep = choicemap(nested)
    assert deep.paths() == (("next",) * depth + ("x",),)
    walked = deep.to_dict()
    for _ in range(depth):
        walked = walked["next"]
    assert walked == {"x": 1}
    assert str(deep).endswith("next: … 1 choice below")
    assert "1 choice" in deep._repr_html_()


# --- looking up --------------------------------------------------------------------------------


def test_looking_up(example):
    assert example["k"] == example[("k",)] == 2
    assert example["mu", 1] == example[("mu", 1)] == -0.5
    assert example["mu", np.int64(1)] == -0.5
    assert example["mu"] == choicemap({0: 1.5, 1: -0.5})
    assert example["left", "right"].to_dict() == {"done": True}
    assert isinstance(example["left"], ChoiceMap)
    for address in ("k", ("mu", 0), "mu", "left", ("left", "right"), ("left", "right", "done")):
        assert address in example
    for address in ("mux", ("mu", 2), ("k", 0), ("left", "done")):
        assert address not in example
    assert example.get("k") == 2
    assert example.get("mu") == example["mu"]
    assert example.get("nu") is None
    assert example.get("nu", 7) == 7
    assert len(example) == 5
    assert list(example.items()) == list(zip(example.paths(), example.values(), strict=True))
    assert tuple(example.keys()) == example.paths()
    assert dict(example) == example.to_flat_dict()
    assert example.namespaces() == (("mu",), ("left",), ("left", "right"))


def test_a_submap_may_be_empty_and_keeps_the_order():
    mixed = choicemap({("a", 0, "x"): 1, "k": 0, ("a", 1, "x"): 2, ("a", 0, "y"): 3})
    assert mixed.submap("a").paths() == ((0, "x"), (1, "x"), (0, "y"))
    assert len(mixed.submap("k")) == len(mixed.submap("nothing")) == 0


def test_values_none_and_false_are_values():
    falsy = choicemap({"a": None, "b": False, "c": 0, "d": ""})
    assert falsy["a"] is None
    assert falsy["b"] is False
    assert falsy.get("a", 1) is None
    assert all(address in falsy for address in "abcd")


def test_values_are_the_same_objects():
    array = np.arange(3.0)
    cm = choicemap({"x": array})
    assert cm["x"] is array
    assert cm.to_dict()["x"] is array
    assert cm.to_flat_dict()[("x",)] is array
    assert (cm | {"y": 1})["x"] is array
    assert cm.prefixed("a").submap("a")["x"] is array


# --- immutability ------------------------------------------------------------------------------


def test_choice_maps_do_not_change(example):
    with pytest.raises(TypeError):
        example["k"] = 3
    with pytest.raises(TypeError):
        del example["k"]
    with pytest.raises(AttributeError):
        example.k = 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(example)


def test_what_goes_in_and_out_is_not_shared():
    source = {"k": 1, "a": {"x": 2}}
    cm = choicemap(source)
    source["k"] = 5
    source["a"]["x"] = 5
    cm.to_dict()["k"] = 6
    cm.to_dict()["a"]["x"] = 6
    cm.to_flat_dict()[("k",)] = 7
    array, structure = cm.to_array()
    array[:] = 8
    assert cm.to_flat_dict() == {("k",): 1, ("a", "x"): 2}
    restored = ChoiceMap.from_array(structure, np.array([3.0, 4.0]))
    assert restored == {"k": 3, ("a", "x"): 4}


@pytest.mark.slow
@laws
@given(flat_dicts(), flat_dicts(), paths)
def test_no_operation_changes_its_operands(mine, other, address):
    a, b = choicemap(mine), choicemap(without_conflicts({**mine, **other}))
    before_a, before_b = list(a.items()), list(b.items())
    a.submap(address), a.prefixed(address), a.get(address), address in a
    a.restrict(select(address)), a.without(select(address)), a.to_dict(), str(a), repr(a)
    assert a.difference(b) is None or a != b
    if set(mine) <= set(b):
        a | b
    for before, after in ((before_a, a), (before_b, b)):
        assert [p for p, _ in before] == list(after)
        assert all(v is w for (_, v), w in zip(before, after.values(), strict=True))


# --- algebra -----------------------------------------------------------------------------------


def test_merging(example):
    merged = example | {"k": 3, "new": {"z": 0}}
    assert merged["k"] == 3
    assert merged["new", "z"] == 0
    assert merged.paths() == (*example.paths(), ("new", "z"))
    assert example["k"] == 2
    assert ({"k": 3, "j": 1} | example).to_flat_dict() == {("j",): 1, **example.to_flat_dict()}
    assert example.merge(None) == example
    assert example.merge([("k", 9)])["k"] == 9
    with pytest.raises(TypeError):
        example | 3
    with pytest.raises(TypeError):
        3 | example


family = st.dictionaries(paths, st.integers(0, 3), max_size=12).map(without_conflicts)


@laws
@given(family, st.data())
def test_merge_laws(flat, data):
    """Identity, idempotence, associativity, and the right map wins, on parts of one valid map."""

    def part():
        kept = data.draw(st.sets(st.sampled_from(sorted(flat, key=repr))) if flat else st.just(set()))
        return choicemap({p: data.draw(st.integers(0, 3)) for p in flat if p in kept})

    a, b, c = part(), part(), part()
    nothing = choicemap()
    assert a | nothing == nothing | a == a | a == a
    assert (a | b) | c == a | (b | c)
    assert (a | b).to_flat_dict() == {**a.to_flat_dict(), **b.to_flat_dict()}
    assert b | a | b == a | b
    assert (a == b) == (b == a)


@laws
@given(flat_dicts(), paths, paths)
def test_restrict_and_without_partition(flat, first, second):
    cm = choicemap(flat)
    selection = select(first) | (~select(second) & select(("a", ...)))
    inside, outside = cm.restrict(selection), cm.without(selection)
    assert len(inside) + len(outside) == len(cm)
    assert inside | outside == outside | inside == cm
    assert all(path in selection for path in inside)
    assert not any(path in selection for path in outside)
    assert [p for p in cm if p in inside] == list(inside)
    assert cm.without(~selection) == inside
    assert cm.restrict(select.all) == cm
    assert len(cm.restrict(select())) == 0


@laws
@given(flat_dicts(), paths)
def test_prefix_and_submap_undo_each_other(flat, address):
    cm = choicemap(flat)
    assert cm.prefixed(address).submap(address) == cm
    assert cm.prefixed(address).submap(address).paths() == cm.paths()
    assert cm.submap(address).prefixed(address) == choicemap(
        {p: v for p, v in flat.items() if len(p) > len(address) and p[: len(address)] == address}
    )


@laws
@given(flat_dicts(), paths)
def test_lookup_agrees_with_the_flat_dict(flat, address):
    cm = choicemap(flat)
    below = {p[len(address) :]: v for p, v in flat.items() if p[: len(address)] == address}
    assert (address in cm) == bool(below)
    if address in flat:
        assert cm[address] is flat[address]
    elif below:
        assert cm[address] == choicemap(below)
        assert address in cm.namespaces()
    else:
        assert cm.get(address, MISSING) is MISSING
        with pytest.raises(UnknownAddressError):
            cm[address]


# --- round trips -------------------------------------------------------------------------------


@laws
@given(flat_dicts())
def test_dict_round_trips(flat):
    cm = choicemap(flat)
    assert choicemap(cm.to_flat_dict()) == cm
    assert choicemap(cm.to_dict()) == cm
    assert set(choicemap(cm.to_dict())) == set(flat)
    assert ChoiceMap._from_flat(dict(flat)) == cm


@laws
@given(flat_dicts())
def test_pickle_and_copy(flat):
    cm = choicemap(flat)
    for again in (pickle.loads(pickle.dumps(cm)), copy.deepcopy(cm), copy.copy(cm)):
        assert again == cm
        assert again.paths() == cm.paths()


def test_to_dict_of_tuple_components():
    cm = choicemap({(("a", 1),): 1, ("b", ("c",), "d"): 2})
    assert cm.to_dict() == {(("a", 1),): 1, "b": {(("c",),): {"d": 2}}}
    assert choicemap(cm.to_dict()) == cm


def test_pickled_missing_is_the_same_object():
    assert pickle.loads(pickle.dumps(MISSING)) is MISSING
    assert repr(MISSING) == str(MISSING) == "MISSING"


def same_types(a, b):
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and all(map(same_types, a, b))
    if isinstance(a, np.ndarray):
        return type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape
    return type(a) is type(b)


@laws
@given(flat_dicts(numeric_values))
def test_array_round_trip(flat):
    cm = choicemap(flat)
    array, structure = cm.to_array()
    assert array.dtype == np.float64
    assert array.shape == (structure.size,)
    again = ChoiceMap.from_array(structure, array)
    assert again == cm
    assert again.paths() == cm.paths()
    assert all(map(same_types, cm.values(), again.values()))
    array_again, structure_again = again.to_array()
    assert np.array_equal(array, array_again, equal_nan=True)
    assert structure == structure_again
    assert hash(structure) == hash(structure_again)
    assert pickle.loads(pickle.dumps(structure)) == structure


def test_to_array():
    cm = choicemap({"k": 2, "b": True, "x": 0.5, "m": np.array([[1, 2], [3, 4]]), "l": [5, (6.0,)]})
    array, structure = cm.to_array()
    assert array.tolist() == [2, 1, 0.5, 1, 2, 3, 4, 5, 6]
    assert structure.paths == cm.paths()
    changed = ChoiceMap.from_array(structure, [3, 0, -0.5, 4, 3, 2, 1, 0, 0.5])
    assert changed == {"k": 3, "b": False, "x": -0.5, "m": np.array([[4, 3], [2, 1]]), "l": [0, (0.5,)]}
    assert type(changed["k"]) is int
    assert changed["b"] is False
    assert changed["m"].dtype == int


def test_the_array_of_an_empty_map():
    array, structure = choicemap().to_array()
    assert array.shape == (0,)
    assert array.dtype == float
    assert len(ChoiceMap.from_array(structure, array)) == 0


# --- comparing ---------------------------------------------------------------------------------


@pytest.mark.slow
@laws
@given(flat_dicts(values), flat_dicts(values))
def test_equality_laws(mine, theirs):
    a, b = choicemap(mine), choicemap(theirs)
    assert a == a
    assert a.allclose(a)
    assert a == choicemap(dict(reversed(mine.items())))
    assert (a == b) == (b == a) == (a.difference(b) is None)
    assert a.allclose(b) == b.allclose(a)
    assert a.__eq__(b) is not (a != b)
    if a == b:
        assert a.allclose(b, rtol=0)
    if set(mine) != set(theirs):
        assert a != b


@laws
@given(flat_dicts(numbers))
def test_equality_is_independent_of_identity(flat):
    rebuilt = {path: type(value)(repr(value)) if value else value for path, value in flat.items()}
    assert choicemap(flat) == choicemap(rebuilt)


def test_difference(example):
    assert example.difference(EXAMPLE) is None
    assert example.difference(example | {"k": 3, ("mu", 0): 9}) == (("k",), 2, 3)
    assert example.difference(example.without(select("left"))) == (("left", "x"), "s", MISSING)
    assert example.difference(example | {"z": 0}) == (("z",), MISSING, 0)
    assert example.difference(example | {("mu", 0): 1.5 + 1e-9}) == (("mu", 0), 1.5, 1.5 + 1e-9)
    assert example.difference(example | {("mu", 0): 1.5 + 1e-9}, atol=2e-9) is None
    assert example.difference(example | {("mu", 0): 1.5 + 1e-9}, rtol=1e-9) is None
    assert example.difference(example | {("mu", 0): 1.5 + 1e-9}, rtol=1e-10) is not None
    assert choicemap().difference(None) is None


def test_allclose(example):
    assert example.allclose(example | {("mu", 0): 1.5 * (1 + 1e-9)})
    assert not example.allclose(example | {("mu", 0): 1.5 * (1 + 1e-7)})
    assert example.allclose(example | {("mu", 0): 1.6}, atol=0.2)
    assert not example.allclose(example | {"k": 3}, rtol=10.0)
    assert not example.allclose(example | {("left", "x"): "t"}, rtol=10.0)
    assert not example.allclose(example | {"more": 1})


def test_comparing_with_dicts_and_others(example):
    assert example == EXAMPLE
    assert operator.eq(EXAMPLE, example)
    assert example != {}
    assert example != {"a": 1, ("a", 0): 2}
    assert example != example | {("mu", 0): np.nextafter(1.5, 2.0)}
    assert choicemap({"x": np.array([1.0, 2.0])}) != {"x": np.array([1.0, np.nextafter(2.0, 3.0)])}
    assert example != 3
    assert example != "k"
    assert example is not None


# --- errors ------------------------------------------------------------------------------------


def parts(error):
    return error.value.problem, error.value.address, error.value.fix


@pytest.mark.parametrize(
    ("address", "fix"),
    [
        ("muu", "did you mean 'mu'?"),
        (("mux", 0), "did you mean ('mu', 0)?"),
        (("left", "rigth", "done"), "did you mean ('left', 'right', 'done')?"),
        (("mu", 7), "'mu' has 2 addresses below it; the last is ('mu', 1)"),
        (("mu", 7, "x"), "'mu' has 2 addresses below it; the last is ('mu', 1)"),
        (("mu", -1), "'mu' has 2 addresses below it; the last is ('mu', 1)"),
        (("k", 0), "'k' is a choice, so nothing is below it"),
        (("left", "right", 0), "('left', 'right') has one address below it, ('left', 'right', 'done')"),
        ("completely different", "the addresses here start with 'k', 'mu', 'left'"),
    ],
)
def test_unknown_addresses(example, address, fix):
    with pytest.raises(UnknownAddressError) as error:
        example[address]
    path = address if isinstance(address, tuple) else (address,)
    assert parts(error) == ("the choice map has nothing at this address", path, fix)
    with pytest.raises(KeyError):
        example[address]


def test_unknown_addresses_in_small_and_wide_maps():
    with pytest.raises(UnknownAddressError) as error:
        choicemap()["x"]
    assert error.value.fix == "there are no addresses here"
    with pytest.raises(UnknownAddressError) as error:
        choicemap({f"name{i}": i for i in range(8)})["?"]
    assert error.value.fix == (
        "the addresses here start with 'name0', 'name1', 'name2', 'name3', 'name4' and 3 more"
    )


@laws
@given(paths, st.lists(paths, max_size=4))
def test_explaining_never_fails(address, known):
    assert explain_unknown(address, known)
    assert explain_unknown(address, iter([*known, address]))


def test_duplicates():
    for twice in ({"x": 1, ("x",): 2}, {"a": {"b": 1}, ("a", "b"): 2}, [("x", 1), ("x", 1)]):
        with pytest.raises(DuplicateAddressError) as error:
            choicemap(twice)
        assert error.value.problem == "two values are given for one address"
        assert error.value.fix == "keep one of them"
        assert error.value.address in {("x",), ("a", "b")}


def test_conflicts():
    for conflict in ({"x": 1, ("x", 0): 2}, {("x", 0): 2, "x": 1}, {"x": 1, "y": 2, ("x",): {0: 3}}):
        with pytest.raises(AddressConflictError) as error:
            choicemap(conflict)
        assert parts(error) == (
            "'x' has a value, and so has ('x', 0) below it",
            ("x",),
            "an address is either a choice or a namespace: rename one of the two",
        )
    with pytest.raises(AddressConflictError):
        choicemap({"x": 1}) | {("x", 0): 1}
    with pytest.raises(AddressConflictError):
        choicemap({("x", 0): 1}) | {"x": 1}
    with pytest.raises(AddressConflictError):
        choicemap({("x", 0, "y", 1): 1, ("x", 0): 1})


@laws
@given(st.dictionaries(paths, st.integers(), max_size=6))
def test_exactly_the_conflicting_maps_are_refused(flat):
    conflict = any(p != q and q[: len(p)] == p for p in flat for q in flat)
    if conflict:
        with pytest.raises(AddressConflictError):
            choicemap(flat)
    else:
        assert choicemap(flat).to_flat_dict() == flat


def test_invalid_addresses(example):
    for make in (
        lambda: choicemap({(): 1}),
        lambda: choicemap([([1, 2], 3)]),
        lambda: choicemap({("x", ...): 1}),
        lambda: example[()],
        lambda: example["mu", ...],
        lambda: example["mu", :],
        lambda: example[[1]],
        lambda: [1] in example,
        lambda: example.get({}),
        lambda: example.submap(()),
        lambda: example.prefixed(()),
    ):
        with pytest.raises(InvalidAddressError):
            make()


@pytest.mark.parametrize(
    ("thing", "shown"),
    [(3, "3"), ("ab", "'ab'"), (b"ab", "b'ab'"), ([1, 2], "[1, 2]"), ([(1, 2, 3)], "[(1, 2, 3)]")],
)
def test_what_no_choice_map_can_be_made_from(thing, shown):
    with pytest.raises(ValueTypeError) as error:
        choicemap(thing)
    assert parts(error) == (
        f"a choice map can't be made from {shown}",
        None,
        'give a dict from addresses to values, such as {"k": 2, ("mu", 0): 1.5}',
    )


@pytest.mark.parametrize("method", ["restrict", "without"])
@pytest.mark.parametrize(("thing", "shown"), [("mu", "'mu'"), (["mu"], "['mu']"), (None, "None")])
def test_restrict_takes_a_selection(example, method, thing, shown):
    with pytest.raises(ValueTypeError) as error:
        getattr(example, method)(thing)
    assert parts(error) == (
        f"a selection is needed here, got {shown}",
        None,
        "make one with select(address, ...)",
    )


@pytest.mark.parametrize(
    ("value", "kind"), [("s", "str"), (None, "NoneType"), (1j, "complex"), ([1, "s"], "str")]
)
def test_values_that_do_not_go_into_an_array(value, kind):
    with pytest.raises(ValueTypeError) as error:
        choicemap({"a": 1, ("x", 0): value}).to_array()
    assert parts(error) == (
        f"a value of type {kind} can't go into an array of floats",
        ("x", 0),
        "keep the numeric choices only, with restrict(...) or without(...)",
    )


@pytest.mark.parametrize(
    "value", [2**53 + 1, -(2**60), np.array([2**62]), np.uint64(2**63), np.longdouble(1) / 3], ids=repr
)
def test_values_that_a_float_would_round(value):
    with pytest.raises(ValueTypeError) as error:
        choicemap({"x": value}).to_array()
    assert parts(error) == (
        f"{value!r} can't go into an array of floats without being rounded",
        ("x",),
        "leave it out with without(...)",
    )


@pytest.mark.parametrize(
    ("value", "entry", "problem"),
    [
        (2, 2.5, "2.5 is no value of type int, and values are never rounded"),
        (2, np.nan, "nan is no value of type int, and values are never rounded"),
        (2, np.inf, "inf is no value of type int, and values are never rounded"),
        (2, 2.0**54, "1.8014398509481984e+16 is no value of type int, and values are never rounded"),
        (True, 2.0, "2.0 is no value of type bool, and values are never rounded"),
        (np.array([1, 2], np.int8), 200.0, "200.0 is no value of type int8, and values are never rounded"),
        (np.uint8(1), -1.0, "-1.0 is no value of type uint8, and values are never rounded"),
    ],
)
def test_nothing_is_rounded_on_the_way_back(value, entry, problem):
    array, structure = choicemap({"k": value}).to_array()
    array[-1] = entry
    with pytest.raises(ValueTypeError) as error:
        ChoiceMap.from_array(structure, array)
    assert parts(error) == (problem, ("k",), "change only the entries of float-valued choices")


def test_from_array_checks_the_array():
    _, structure = choicemap({"x": 1.0, "y": 2.0}).to_array()
    with pytest.raises(ValueTypeError) as error:
        ChoiceMap.from_array(structure, np.zeros(3))
    assert parts(error) == (
        "from_array got an array of shape (3,); the structure needs (2,)",
        None,
        "use the structure that came with this array from to_array()",
    )
    for wrong in (0.0, np.zeros((2, 1))):
        with pytest.raises(ValueTypeError, match="from_array got an array of shape"):
            ChoiceMap.from_array(structure, wrong)
    for wrong in (["a", "b"], [None, {}], "ab"):
        with pytest.raises(ValueTypeError, match="from_array takes an array of floats, got"):
            ChoiceMap.from_array(structure, wrong)


# --- what the hot paths rely on ----------------------------------------------------------------


def test_the_internal_constructor_neither_copies_nor_checks():
    flat = {("x",): 1, ("x", 0): 2}
    cm = ChoiceMap._from_flat(flat)
    assert cm._flat is flat
    assert cm._index is None
    assert cm["x"] == 1
    assert cm._index is None


def test_a_choice_map_is_no_array_of_its_addresses():
    with pytest.raises(ValueTypeError, match="values"):
        np.mean(choicemap({("a", 0): 1.0, ("a", 1): 3.0}))
