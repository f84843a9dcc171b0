"""The runtimes that tests of behaviour run on.

A module whose tests use nothing but what is public says `pytestmark = pytest.mark.usefixtures("runtime")`:
each of them is then run on all `runtimes()` but "native" and "python", which are others for chains alone.
"""

import pytest

from gendsl.runtime import column_loops, fused, small
from gendsl.testing import running_on
from tests.conformance.comparing import STEPWISE


@pytest.fixture(params=STEPWISE)
def runtime(request, monkeypatch):
    """The runtime that all programs of a test run on.

    The incremental one is made to update block by block at once, which it does for large traces only.
    """
    monkeypatch.setattr(small, "CHOICES", 0)
    monkeypatch.setattr(fused, "AFTER", 1)
    monkeypatch.setattr(column_loops, "FIXED", column_loops.LEAST)
    with running_on(request.param):
        yield request.param
