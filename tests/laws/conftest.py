"""What the laws run on: sequences whose second update is that of their generated function already."""

import pytest

from gendsl.inference.compiled import by_hand
from gendsl.runtime import fused, small


@pytest.fixture(autouse=True, scope="module")
def kernels_as_they_are_written():
    """Kernels that are called often run on today's runtime, which is tested here."""
    with by_hand.off():
        yield


@pytest.fixture(autouse=True, scope="module")
def blocks_soon_fused():
    after, fused.AFTER = fused.AFTER, 1
    choices, small.CHOICES = small.CHOICES, 0  # traces of few choices, too, are updated block by block
    yield
    fused.AFTER, small.CHOICES = after, choices
