"""The tests here are about updates block by block, which small traces of light programs are spared."""

import pytest

from gendsl.runtime import small
from gendsl.runtime.verify import Schedule


@pytest.fixture(autouse=True, scope="module")
def block_by_block():
    choices, small.CHOICES = small.CHOICES, 0
    yield
    small.CHOICES = choices


@pytest.fixture
def unwatched(monkeypatch):
    """No edit is compared with the reference runtime unasked: for tests of what one edit does, or costs."""
    monkeypatch.setattr(Schedule, "keep", lambda *_: None)
