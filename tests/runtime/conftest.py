"""The tests here are about updates block by block, which small traces of light programs are spared."""

import pytest

from gendsl.runtime import small


@pytest.fixture(autouse=True, scope="module")
def block_by_block():
    choices, small.CHOICES = small.CHOICES, 0
    yield
    small.CHOICES = choices
