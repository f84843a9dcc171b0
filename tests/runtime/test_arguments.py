"""A trace's own copies of its arguments: what is the same is not copied again."""

from collections import Counter, OrderedDict, deque

import numpy as np
import pytest

from gendsl.runtime.arguments import private
from tests.conformance.test_arguments import Numbers, Pair, of_list


def test_what_is_given_again_is_not_copied_again():
    ys, x, table = [1.0, 2.0], np.arange(3.0), {"a": [1.0]}
    first = private((ys, x, table, 3, "a"))
    assert all(a is not b for a, b in zip(first[:3], (ys, x, table), strict=True))
    again = private((ys, x.copy(), table, 4, "a"), first)
    assert all(a is b for a, b in zip(again[:3], first[:3], strict=True)) and again[3] == 4
    others = Numbers([1.0]), deque([1.0]), Pair([1.0], []), Counter("ab"), OrderedDict(a=1.0)
    kept = private(others)
    assert all(a is not b for a, b in zip(kept, others, strict=True))
    assert all(a is b for a, b in zip(private(others, kept), kept, strict=True))
    table["a"][0] = 2.0
    assert private((table,), first[2:])[0] == {"a": [2.0]} and first[2] == {"a": [1.0]}


@pytest.mark.parametrize(
    ("old", "new"),
    [(np.zeros(1), np.zeros(1, int)), ({"a": 1, "b": 1}, {"b": 1, "a": 1}), ([1.0], [1]), ([0.0], [-0.0]),
     (np.array([0.0]), np.array([-0.0])), ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
     (np.array([1.0]), np.array([1])), ([1.0, 2.0], (1.0, 2.0)), ([[1.0]], [[True]]),
     (np.array([[1.0, 2.0]]), np.array([1.0, 2.0]))],
)  # fmt: skip
def test_equal_is_not_the_same(old, new):
    (kept,) = private((new,), private((old,)))
    assert type(kept) is type(new) and repr(kept) == repr(new)


def test_tables_that_are_given_again():
    pandas = pytest.importorskip("pandas")
    times = pandas.to_datetime([0, 1])
    data = pandas.DataFrame({"x": [0.0, 1.0], "s": ["a", "b"], "o": [[1], None], "t": times})
    (kept,) = private((data,))
    assert kept is not data and private((data.copy(),), (kept,))[0] is kept
    assert private((data["x"],), private((data["x"],)))[0].equals(data["x"])
    others = [data.rename(columns={"x": "y"}), data.astype({"x": int}), data.rename_axis("row"), data[:1]]
    others += [data.assign(s=["a", "c"]), data.assign(x=[-0.0, 1.0]), data.assign(o=[[1], None]), data.copy()]
    others[-1].attrs["unit"] = "m"
    for other in others:
        (found,) = private((other,), (kept,))
        assert found is not kept and found is not other and found.attrs == other.attrs
        pandas.testing.assert_frame_equal(found, other)
    column = data["x"]
    (kept,) = private((column,))
    assert private((column.copy(),), (kept,))[0] is kept
    assert private((column.rename("y"),), (kept,))[0].name == "y"


def test_other_objects_are_kept_as_they_are():
    class Data:
        pass

    data, trace = Data(), of_list.simulate(([1.0],), rng=1)
    assert private((data, trace, len)) == (data, trace, len)
