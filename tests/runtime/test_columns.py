"""Persistent columns against NumPy arrays; every version stays what it was."""

import gc
import math
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gendsl.runtime.columns import Column

DTYPES = [np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool_)]
ELEMENTS = {
    "f": st.floats(),
    "i": st.integers(-(2**63), 2**63 - 1),
    "b": st.booleans(),
}
SIZES = [0, 1, 2, 255, 256, 257, 512, 5000, 16_383, 16_384, 16_385, 40_000]


def drawn(dtype, size, seed=0):
    rng = np.random.default_rng(seed)
    return {"f": rng.normal(size=size), "i": rng.integers(-9, 9, size), "b": rng.random(size) < 0.5}[
        dtype.kind
    ]


def check(column, model):
    assert len(column) == len(model)
    assert column.dtype == model.dtype
    array = column.array()
    assert array.dtype == model.dtype and not array.flags.writeable
    assert array.tobytes() == model.tobytes()
    assert column.array() is array


class AgainstArrays(RuleBasedStateMachine):
    """Each rule changes one of the last versions, and keeps the result."""

    @initialize(dtype=st.sampled_from(DTYPES), size=st.one_of(st.integers(0, 40), st.sampled_from(SIZES)))
    def start(self, dtype, size):
        model = drawn(dtype, size)
        self.element = ELEMENTS[dtype.kind]
        self.versions = [(Column.of(model.copy()), model)]

    def pick(self, back):
        return self.versions[max(-back, -len(self.versions))]

    @rule(data=st.data(), back=st.integers(1, 3))
    def set(self, data, back):
        column, model = self.pick(back)
        if len(model):
            i, x = data.draw(st.integers(0, len(model) - 1)), data.draw(self.element)
            changed, model = column.set(i, x), model.copy()
            model[i] = x
            assert type(changed[i]) is type(x)
            assert changed[i] == x or math.isnan(x)
            self.versions.append((changed, model))

    @rule(data=st.data(), back=st.integers(1, 3), seed=st.integers(0, 2**32))
    def set_many(self, data, back, seed):
        column, model = self.pick(back)
        if len(model):
            count = data.draw(st.sampled_from([0, 1, 2, 30, 2000]))
            indices = np.random.default_rng(seed).integers(0, len(model), count)
            values = drawn(model.dtype, count, seed)
            model = model.copy()
            for i, x in zip(indices, values, strict=True):
                model[i] = x
            self.versions.append((column.set_many(indices, values), model))

    @rule(data=st.data(), back=st.integers(1, 3))
    def append(self, data, back):
        column, model = self.pick(back)
        x = data.draw(self.element)
        self.versions.append((column.append(x), np.append(model, np.array([x], model.dtype))))

    @rule(data=st.data(), back=st.integers(1, 3))
    def truncate(self, data, back):
        column, model = self.pick(back)
        size = data.draw(st.integers(0, len(model)))
        self.versions.append((column.truncate(size), model[:size]))

    @rule(data=st.data(), back=st.integers(1, 3))
    def take(self, data, back):
        column, model = self.pick(back)
        indices = data.draw(st.lists(st.integers(0, len(model) - 1), max_size=5)) if len(model) else []
        taken = column.take(np.array(indices, np.int64))
        assert taken.dtype == model.dtype
        assert taken.tobytes() == model[np.array(indices, np.int64)].tobytes()

    @rule(back=st.integers(1, 3))
    def flatten(self, back):
        check(*self.pick(back))

    @rule()
    def pickle(self):
        column, model = self.versions[-1]
        self.versions.append((pickle.loads(pickle.dumps(column)), model))

    @invariant()
    def elements_are_python_numbers(self):
        column, model = self.versions[-1]
        for i in {0, len(model) // 2, len(model) - 1} if len(model) else ():
            assert type(column[i]) is type(model.dtype.type(0).item())
            assert column[i] == model[i] or math.isnan(model[i])

    def teardown(self):
        for column, model in getattr(self, "versions", ()):
            check(column, model)


TestAgainstArrays = AgainstArrays.TestCase
TestAgainstArrays.settings = settings(
    max_examples=60, stateful_step_count=25, deadline=None, derandomize=True
)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_an_array_is_taken_over_without_a_copy(dtype):
    array = drawn(dtype, 1000)
    column = Column.of(array)
    assert column.array() is array
    assert not array.flags.writeable
    with pytest.raises(ValueError):
        array[0] = 1
    column.set(3, array[5].item())
    assert column.array() is array


def test_an_array_with_gaps_is_copied():
    array = np.arange(10.0)
    column = Column.of(array[::2])
    array[0] = 7.0
    assert column.array().tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


@pytest.mark.parametrize(
    "array",
    [np.zeros((2, 2)), np.float64(1.0), np.zeros(3, np.float32), np.zeros(3, ">f8"), np.array(["a"]),
     np.array([None]), np.zeros(3, np.uint64), np.zeros(3, complex)],
)  # fmt: skip
def test_other_arrays_are_no_columns(array):
    with pytest.raises(TypeError, match="no column"):
        Column.of(array)


REFUSED = [
    ("f", 1), ("f", True), ("f", "1.0"), ("f", None), ("f", 1j), ("f", np.ones(1)), ("f", np.int64(1)),
    ("i", 1.0), ("i", True), ("i", 2**63), ("i", -(2**63) - 1), ("i", np.uint64(2**63)), ("i", np.float64(1)),
    ("i", None), ("i", np.True_), ("b", 1), ("b", 0.0), ("b", None), ("b", "x"),
]  # fmt: skip


@pytest.mark.parametrize("kind, x", REFUSED)
def test_what_would_come_back_as_something_else_is_refused(kind, x):
    (dtype,) = [dtype for dtype in DTYPES if dtype.kind == kind]
    for column in (Column.of(np.zeros(3, dtype)), Column.of(np.zeros(3, dtype)).append(dtype.type(0).item())):
        with pytest.raises(TypeError):
            column.set(1, x)
        with pytest.raises(TypeError):
            column.append(x)
        with pytest.raises((TypeError, ValueError)):
            column.set_many([1], [x])
        with pytest.raises((TypeError, ValueError)):
            column.set_many(np.array([1]), np.array([x]))
        check(column, np.zeros(len(column), dtype))


@pytest.mark.parametrize("kind, x", [("f", np.float64(0.5)), ("f", np.float32(0.1)), ("i", np.int32(-3)),
                                     ("i", np.uint8(3)), ("b", np.True_)])  # fmt: skip
def test_numpy_numbers_become_python_numbers(kind, x):
    (dtype,) = [dtype for dtype in DTYPES if dtype.kind == kind]
    for column in (Column.of(np.zeros(3, dtype)).set(1, x), Column.of(np.zeros(1, dtype)).append(x)):
        assert column[1] == x
        assert type(column[1]) is type(x.item())
    assert Column.of(np.zeros(3, dtype)).set_many([2], np.array([x]))[2] == x


def test_nan_and_signed_zeros_and_infinities_are_kept():
    column = Column.of(np.zeros(5)).set(0, -0.0).set(1, math.nan).set(2, math.inf).set(3, -math.inf)
    assert math.copysign(1, column[0]) == -1
    check(column, np.array([-0.0, math.nan, math.inf, -math.inf, 0.0]))


@pytest.mark.parametrize("size", SIZES)
def test_indices_outside_are_refused(size):
    flat = Column.of(np.zeros(size))
    for column in (flat, flat.append(0.0).truncate(size)):
        for i in (-1, -size - 1, size, size + 1, size + 512, 10**7):
            with pytest.raises(IndexError):
                column[i]
            with pytest.raises(IndexError):
                column.set(i, 1.0)
            with pytest.raises(IndexError):
                column.set_many([i], [1.0])
        for length in (-1, size + 1):
            with pytest.raises(IndexError):
                column.truncate(length)


def test_as_many_values_as_indices():
    with pytest.raises(ValueError):
        Column.of(np.zeros(3)).set_many([0, 1], [1.0])


@pytest.mark.slow
def test_memory_stays_flat_over_a_run_of_sets():
    column = Column.of(np.zeros(20_000))
    rng = np.random.default_rng(1)

    def run(column):
        for i in rng.integers(0, 20_000, 3000).tolist():
            column = column.set(i, 1.5)
        return column

    tracemalloc.start()
    try:
        column = run(column)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        column = run(column)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 20_000


@pytest.mark.parametrize("values", [[0, 3, 5], [0.0, 3.0, 5.0]])
@pytest.mark.parametrize("size", [3, 2000])
def test_whether_no_element_is_negative(values, size):
    column = Column.of(np.resize(np.array(values), size))
    below = type(values[0])(-1)
    untouched = column.set(1, values[2])  # made before anybody asks
    assert column.never_negative()
    assert column.set(2, values[1]).never_negative()
    assert untouched.never_negative()
    for changed in (column.set(0, below), column.append(below), column.set_many([0], [below])):
        assert not changed.never_negative()
        assert not changed.set(1, values[1]).never_negative()
    assert column.append(below).truncate(size).never_negative()
    assert column.never_negative()
