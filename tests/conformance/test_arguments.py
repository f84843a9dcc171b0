"""Arguments that their owner changes in place: a trace keeps what it was given."""

import copy
import math
import pickle
from collections import Counter, OrderedDict, deque
from typing import NamedTuple

import numpy as np
import pytest

from gendsl import gen, mvnormal, normal
from gendsl.errors import ValueTypeError

pytestmark = pytest.mark.usefixtures("runtime")


@gen
def of_list(ys):
    mu = ~normal(0, 1)
    for i, y in enumerate(ys):
        ("y", i) @ ~normal(mu + y, 1)


@gen
def of_array(x):
    mu = ~normal(0, 1)
    for i in range(len(x)):
        ("y", i) @ ~normal(mu * x[i], 1)


@gen
def of_rows(rows):
    for i, row in enumerate(rows):
        for j, x in enumerate(row):
            ("y", i, j) @ ~normal(x, 1)


@gen
def of_table(table):
    for name in table:
        ("y", name) @ ~normal(table[name], 1)


class Numbers(list):
    by = 1.0


class Vector(np.ndarray):
    pass


class Pair(NamedTuple):
    first: list
    second: list


@gen
def of_scaled(ys):
    for i, y in enumerate(ys):
        ("y", i) @ ~normal(ys.by * y, 1)


def scale(ys):
    ys.by += 2.0


def grow(ys):
    ys.append(5.0)


def change(ys):
    ys[0] += 3.0


def change_array(x):
    x[1] -= 2.0


def change_row(rows):
    rows[1][0] += 4.0


def add_key(table):
    table[f"c{len(table)}"] = 7.0


def change_key(table):
    table["a"] += 7.0


CASES = [
    (of_list, [1.0, 2.0], grow), (of_list, [1.0, 2.0], change), (of_list, [0.5] * 100, grow),
    (of_list, [0.5] * 100, change), (of_array, np.arange(3.0), change_array),
    (of_array, np.arange(100.0), change_array), (of_rows, [[1.0], [2.0, 3.0]], change_row),
    (of_rows, ([1.0], np.array([2.0, 3.0])), change_row), (of_table, {"a": 1.0, "b": 2.0}, add_key),
    (of_table, {"a": 1.0, "b": 2.0}, change_key), (of_list, Numbers([1.0, 2.0]), grow),
    (of_list, deque([1.0, 2.0], maxlen=9), grow), (of_list, deque([1.0, 2.0]), change),
    (of_rows, deque([[1.0], [2.0, 3.0]]), change_row), (of_rows, Pair([1.0], [2.0]), change_row),
    (of_table, OrderedDict(a=1.0, b=2.0), add_key), (of_table, Counter(a=1, b=2), change_key),
    (of_array, np.arange(3.0).view(Vector), change_array), (of_scaled, Numbers([1.0, 2.0]), scale),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("model", "value", "mutate"), CASES)
def test_what_has_changed_is_found(model, value, mutate, seed):
    given = copy.deepcopy(value)
    trace = model.simulate((given,), rng=seed)
    before, log_prob = trace.choices.to_flat_dict(), trace.log_prob
    mutate(given)
    # the old trace is what it was
    assert model.assess(trace.args, trace.choices).log_prob == pytest.approx(log_prob, rel=1e-12)
    assert trace.update({}).trace.log_prob == pytest.approx(log_prob, rel=1e-12)
    assert model.assess((value,), before).log_prob == pytest.approx(log_prob, rel=1e-12)
    # an update sees what is new
    new = trace.update(args=(given,), rng=1).trace
    after = model.assess((given,), new.choices).log_prob
    assert new.log_prob == pytest.approx(after, rel=1e-12)
    assert not math.isclose(new.log_prob, log_prob, rel_tol=1e-9)
    # and so does one of what it led to
    again = copy.deepcopy(given)
    assert new.update(args=(again,), rng=1).log_weight == pytest.approx(0.0, abs=1e-12)
    # which is a value, too
    kept = new.log_prob
    for _ in range(2):
        mutate(given)
    assert model.assess(new.args, new.choices).log_prob == pytest.approx(kept, rel=1e-12)


@gen
def of_frame(data):
    slope = ~normal(0, 1)
    for i in range(len(data)):
        ("y", i) @ ~normal(slope * data["x"].iloc[i], 1)


def set_entry(data):
    data.loc[data.index[1], "x"] += 2.0


def add_row(data):
    data.loc[len(data)] = [4.0, "c"]


@pytest.mark.parametrize("size", [2, 60])
@pytest.mark.parametrize("mutate", [set_entry, add_row])
def test_what_has_changed_in_a_table_is_found(mutate, size):
    pandas = pytest.importorskip("pandas")
    value = pandas.DataFrame({"x": np.arange(1.0, size + 1), "name": ["a", "b"] * (size // 2)})
    test_what_has_changed_is_found(of_frame, value, mutate, 0)
    data = pandas.Series(value["x"])
    test_what_has_changed_is_found(of_series, data, set_first, 0)


@gen
def of_series(data):
    slope = ~normal(0, 1)
    for i in range(len(data)):
        ("y", i) @ ~normal(slope * data.iloc[i], 1)


def set_first(data):
    data.iloc[0] += 3.0


# --- what a trace shows of its arguments can't be written to ---------------------------------------


def arrays_in(value):
    if isinstance(value, np.ndarray):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    return [array for part in parts if not isinstance(part, float) for array in arrays_in(part)]


@gen
def of_arrays(x, parts):
    v = ~mvnormal(x[:2], np.eye(2))
    ("y", 0) @ ~normal(parts["a"][0][0] + v[0], 1)
    return x


@pytest.mark.parametrize("size", [2, 100])
def test_arrays_of_a_trace_are_read_only(size):
    x, inner, other = np.arange(float(size)), np.ones(size), np.ones(size).view(Vector)
    args = x, {"a": [inner], "b": (other,), "c": Pair([inner], deque([other]))}
    trace = of_arrays.simulate(args, rng=1)
    made = trace, pickle.loads(pickle.dumps(trace)), copy.deepcopy(trace)
    edited = trace.update({("y", 0): 1.0}).trace, trace.update(args=(x + 1.0, args[1])).trace
    for each in (*made, *edited, of_arrays.generate(args, {("y", 0): 0.5}, rng=1).trace):
        arrays = arrays_in(each.args)
        assert len(arrays) == 5
        for array in [*arrays, each["v"]]:
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 7.0
        assert of_arrays.assess(each.args, each.choices).log_prob == pytest.approx(each.log_prob, rel=1e-12)
    # who gave them may go on; what the body returned is a copy, or read-only
    assert all(array.flags.writeable for array in (x, inner, other))
    assert trace.update(args=trace.args).trace.args is trace.args
    retval = trace.retval
    if retval.flags.writeable:
        retval[0] = 3.0
    assert trace.args[0].tolist() == x.tolist()


@gen
def changes_a_variable(x):
    total = x
    total += 1.0
    z = ~normal(total.sum(), 1)
    return total


@gen
def changes_unseen(x):
    z = ~normal(0, 1)
    getattr(x, "fill")(z)  # noqa: B009 (that nobody sees what it does is what this is about)
    w = ~normal(x[0], 1)


def test_a_body_changes_its_arguments_without_harm_or_not_at_all():
    x = np.arange(3.0)
    trace = changes_a_variable.simulate((x,), rng=1)
    assert trace.args[0].tolist() == x.tolist() == [0.0, 1.0, 2.0]
    assert trace.retval.tolist() == [1.0, 2.0, 3.0]
    assert trace.update({"z": 6.0}).trace.log_prob == pytest.approx(-0.5 * math.log(2 * math.pi))
    with pytest.raises(ValueError, match="read-only"):
        changes_unseen.simulate((x,), rng=1)
    assert x.tolist() == [0.0, 1.0, 2.0]


def test_lists_and_dicts_that_are_parts_of_themselves_are_refused():
    nodes = [{"id": i, "next": []} for i in range(3)]
    for i, node in enumerate(nodes):
        node["next"].append(nodes[i - 1])
    told = r"(?s)a part of itself.*neighbours = \[\[1, 2\], \[0\], \[0\]\]"
    with pytest.raises(ValueTypeError, match=told):
        of_list.simulate((nodes,))
