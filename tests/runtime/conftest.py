"""The tests here are about updates block by block, which small traces of light programs are spared."""

import pytest

from gendsl.inference.compiled import by_hand
from gendsl.runtime import column_loops, small
from gendsl.runtime.verify import Schedule
from tests.laws import edits


@pytest.fixture(autouse=True, scope="module")
def kernels_as_they_are_written():
    """Kernels that are called often run on today's runtime, which is tested here."""
    with by_hand.off():
        yield


@pytest.fixture(autouse=True, scope="module")
def block_by_block():
    """Short loops over data keep frames, as others do, but in test_data_loops.py."""
    choices, small.CHOICES = small.CHOICES, 0
    fixed, column_loops.FIXED = column_loops.FIXED, column_loops.LEAST
    yield
    small.CHOICES, column_loops.FIXED = choices, fixed


@pytest.fixture
def unwatched(monkeypatch):
    """No edit is compared with the reference runtime unasked: for tests of what one edit does, or costs."""
    monkeypatch.setattr(Schedule, "keep", lambda *_, **__: True)


@pytest.fixture
def in_columns(monkeypatch):
    """Short loops that are kept as columns are run at once, too."""
    monkeypatch.setitem(edits.KINDS, "pickled", edits.nothing)  # a pickle names a program as it is linked
    monkeypatch.setattr(column_loops, "_FEW", 1)  # so few iterations aren't visited one by one
