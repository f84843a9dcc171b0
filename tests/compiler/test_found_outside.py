"""What a text finds outside of itself is looked at again and again: whatever is another now is noticed."""

import numpy as np
import pytest

from gendsl.compiler.hir.facts import Facts
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import Array, List, Number, Text
from gendsl.compiler.run.compiled import Found


def listed(item):
    facts = Facts()
    site = facts.site("here")
    facts.grow_item(site, item)
    return facts, List(site)


CHANGES = {
    "an item": lambda one: one.__setitem__(2, 7.5),
    "the sign of a zero": lambda one: one.__setitem__(0, -0.0),
    "another order": list.reverse,
    "one more": lambda one: one.append(1.0),
    "one less": list.pop,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_list_that_is_changed(change):
    facts, kind = listed(Number("f"))
    numbers, found = [0.0, 1.5, 2.5, 1e300], Found()
    before = found.look(facts, [(numbers, kind)])
    assert found.look(facts, [(numbers, kind)]) == before
    assert found.look(facts, [(list(numbers), kind)]) == before  # another list with the same in it
    CHANGES[change](numbers)
    after = found.look(facts, [(numbers, kind)])
    assert after != before
    assert found.look(facts, [(numbers, kind)]) == after == Found().look(facts, [(numbers, kind)])


def test_items_of_another_type():
    facts, kind = listed(Number("i"))
    numbers, found = [1, 2, 3], Found()
    found.look(facts, [(numbers, kind)])
    numbers[1] = 2.0
    with pytest.raises(NotClosed):
        found.look(facts, [(numbers, kind)])
    numbers[1] = 2
    assert found.look(facts, [(numbers, kind)]) == Found().look(facts, [(numbers, kind)])


def test_an_array_in_place_of_a_list_and_arrays_that_change():
    facts, kind = listed(Number("f"))
    numbers, found = [1.0, 2.0], Found()
    before = found.look(facts, [(numbers, kind)])
    array = np.array([1.0, 2.0, 3.0, 4.0])
    as_vector = found.look(facts, [(array, Array("f", 1))])
    assert as_vector != before
    array[3] = 5.0
    assert found.look(facts, [(array, Array("f", 1))]) != as_vector
    matrix = found.look(facts, [(array.reshape(2, 2), Array("f", 2))])
    assert matrix != found.look(facts, [(array, Array("f", 1))])


def test_lists_in_a_list_and_strings():
    facts, inner = listed(Number("f"))
    outer = facts.site("outer")
    facts.grow_item(outer, inner)
    rows, found = [[1.0], [2.0]], Found()
    before = found.look(facts, [(rows, List(outer))])
    rows[1][0] = 3.0
    assert found.look(facts, [(rows, List(outer))]) != before
    facts, kind = listed(Text())
    names = ["a", "b"]
    before = found.look(facts, [(names, kind)])
    names[0] = "c"
    assert found.look(facts, [(names, kind)]) != before
