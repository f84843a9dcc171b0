"""What is recorded is held by quantity: values of any kind, and numbers of machine code in arrays."""

import pickle

import numpy as np
import pytest

from gendsl.inference.running.columns import Columns


def mixed():
    """Five draws, of which machine code gave the second and third, and the last."""
    columns = Columns([{"a": 1, "b": "x"}])
    columns.extend(2, {"a": [np.array([2, 3])], "b": [["y"], ["z"]]})
    columns.append({"a": 4.5, "b": None})
    columns.extend(1, {"a": [np.array([True])], "b": [["w"]]})
    return columns


ROWS = [
    {"a": 1, "b": "x"},
    {"a": 2, "b": "y"},
    {"a": 3, "b": "z"},
    {"a": 4.5, "b": None},
    {"a": True, "b": "w"},
]


@pytest.mark.parametrize("made", [mixed, lambda: Columns(ROWS), lambda: pickle.loads(pickle.dumps(mixed()))])
def test_a_draw_has_what_was_recorded_of_it(made):
    columns = made()
    assert len(columns) == 5 and columns.names == ["a", "b"] and list(columns) == ROWS
    assert (
        columns[1:4] == ROWS[1:4]
        and columns[-1] == ROWS[-1]
        and list(columns.part([4, 0])) == [ROWS[4], ROWS[0]]
    )
    assert columns.values("a") == [1, 2, 3, 4.5, True] and columns.values("b") == ["x", "y", "z", None, "w"]
    assert [type(value) for value in columns.values("a")] == [int, int, int, float, bool]
    with pytest.raises(IndexError):
        columns[5]


def test_an_array_is_given_where_all_came_in_arrays_of_a_type():
    columns = Columns()
    columns.extend(2, {"a": [np.array([1.0, 2.0])], "b": [np.array([1, 2])]})
    columns.extend(1, {"a": [np.array([3.0])], "b": [np.array([0.5])]})
    np.testing.assert_array_equal(columns.array("a"), [1.0, 2.0, 3.0], strict=True)
    assert columns.array("b") is None and columns.values("b") == [1, 2, 0.5] and mixed().array("a") is None


def test_what_an_interrupt_left_of_a_draw_is_forgotten():
    for noted in ([], ROWS[:2]):
        columns = Columns(noted)
        columns._parts.setdefault("a", []).append(np.array([7, 8]))  # and the interrupt before the others
        columns.cut()
        assert list(columns) == noted
        columns.append({"a": 5, "b": "v"})
        assert list(columns) == [*noted, {"a": 5, "b": "v"}] and columns.values("a")[-1] == 5


def test_draws_of_which_nothing_is_recorded_are_counted():
    assert list(Columns([{}, {}])) == [{}, {}]
