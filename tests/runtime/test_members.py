"""What is known of the iterations that read one key: their entries of columns, and what these score."""

import gc
import weakref

import numpy as np
import pytest

from gendsl import laplace, normal, student_t
from gendsl.runtime import members
from gendsl.runtime.column_steps import column_total
from gendsl.runtime.columns import Column
from gendsl.runtime.lowering.tables import Entry, NotColumnsError
from gendsl.runtime.lowering.vectors import gather
from gendsl.runtime.members import gathered
from gendsl.runtime.reverse import ReverseIndex


@pytest.fixture
def index():
    return ReverseIndex.of([(t % 3, t) for t in range(120)])


@pytest.fixture
def column():
    return Column.of(np.random.default_rng(1).standard_normal(120))


def test_entries_are_gathered_once_for_a_column(index, column):
    bucket = index.bucket(1)
    first = gathered(bucket, 0, column)
    assert first.array.tolist() == column.array()[1::3].tolist()
    assert gathered(bucket, 0, column) is first
    other = column.set(4, 0.25)
    second = gathered(bucket, 0, other)
    assert second.array[1] == 0.25
    assert gathered(bucket, 0, column).array.tolist() == first.array.tolist()  # the old one is what it was
    assert gathered(bucket, 1, other) is not second


def test_another_member_is_another_bucket(index, column):
    first = gathered(index.bucket(1), 0, column)
    moved = index.moved(0, 1, 3)
    expected = column.array()[[1, 3, *range(4, 120, 3)]]
    assert gathered(moved.bucket(1), 0, column).array.tolist() == expected.tolist()
    assert moved.bucket(2) is index.bucket(2)
    assert gathered(index.bucket(1), 0, column) is first


def test_it_keeps_no_column_alive(index):
    column = Column.of(np.arange(120.0))
    found = gathered(index.bucket(1), 0, column)
    gone = weakref.ref(column)
    del column
    gc.collect()
    assert gone() is None
    assert found.column() is None


@pytest.mark.parametrize(
    "family, parameters",
    [
        (normal, (0.5, 2.0)),
        (normal, (1, 2)),
        (normal, (np.float64(0.5), 2)),
        (normal, (np.linspace(-1, 1, 40), 2.0)),
        (normal, (0.5, np.linspace(1, 2, 40))),
        (normal, (1e9, 1.0)),  # so far that digits count
        (laplace, (0.5, 2.0)),
        (student_t, (3, 0.5, 2.0)),
    ],
    ids=repr,
)
def test_the_total_is_that_of_the_column(index, column, family, parameters):
    own = gathered(index.bucket(1), 0, column)
    for _ in range(2):
        total, expected = own.total(family, parameters), column_total(family, own.array, parameters)
        assert sum(total[:2]) == pytest.approx(sum(expected[:2]), rel=1e-13)
        assert total[2] == expected[2] == 0
        assert type(total[0]) is float


def test_columns_are_looked_at_once_where_there_is_a_summary(index, column, monkeypatch):
    own = gathered(index.bucket(1), 0, column)
    own.total(normal, (0.0, 1.0))
    monkeypatch.setattr(members, "column_total", None)
    own.total(normal, (0.5, 2.0))
    with pytest.raises(TypeError):
        own.total(normal, (np.zeros(40), 2.0))


def test_what_is_impossible_is_met_as_without_a_summary(index, column):
    own = gathered(index.bucket(1), 0, column)
    with pytest.raises(NotColumnsError):
        own.total(normal, (0.5, -1.0))


def test_the_last_two_values_are_known(index, column):
    own = gathered(index.bucket(1), 0, column)
    assert own.known(0.5) is None
    for value in (0.5, 1.5, 2.5):
        own.keep(value, (value, 0.0, 0))
    assert own.known(0.5) is None
    assert own.known(1.5) == (1.5, 0.0, 0)  # and stays while others are proposed
    own.keep(3.5, (3.5, 0.0, 0))
    assert own.known(2.5) is None
    assert own.known(1.5) == (1.5, 0.0, 0)
    own.keep(0.0, (0.0, 0.0, 0))
    assert own.known(0.0) is own.known(-0.0) is None  # these may decide on different parameters


def test_an_entry_stands_for_one_key():
    entry = Entry([1.0, 2.0, 3.0], 1)
    entry.value = 0.5
    assert len(entry) == 3
    assert gather(entry, 1) == entry[1] == 0.5
    for other in (0, 2, 3, -2):
        with pytest.raises(NotColumnsError):
            gather(entry, other)
    with pytest.raises(NotColumnsError):
        gather(entry, np.array([1, 1]))
