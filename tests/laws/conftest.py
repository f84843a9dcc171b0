"""What the laws run on: sequences whose second update is that of their generated function already."""

import pytest

from gendsl.runtime import fused, small


@pytest.fixture(autouse=True, scope="module")
def blocks_soon_fused():
    after, fused.AFTER = fused.AFTER, 1
    choices, small.CHOICES = small.CHOICES, 0  # traces of few choices, too, are updated block by block
    yield
    fused.AFTER, small.CHOICES = after, choices
