"""Runtimes do with all hand-written programs what the reference does.

A run takes a part of them; GENDSL_LONG=1 takes all.
"""

import os

import pytest

from tests.conformance.comparing import STEPWISE, compare
from tests.conformance.idioms import GROUPS

LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")
PARTS = 1 if LONG else 6


@pytest.mark.parametrize("runtime", STEPWISE[1:])
@pytest.mark.parametrize("group", GROUPS)
def test_a_runtime_does_what_the_reference_does(group, runtime):
    found = {}
    for name, (model, args) in [*GROUPS[group]().items()][::PARTS]:
        found[name] = compare(model, args[0], args[1:], second=runtime, draws=False, identity=False)
    assert found and not any(found.values()), {name: text for name, text in found.items() if text}


def test_there_are_many():
    """The number of all programs, so that none is lost from a group."""
    loaded = {group: load() for group, load in GROUPS.items() if group in ("examples", "models", "programs")}
    assert {group: len(programs) for group, programs in loaded.items()} == {
        "examples": 11, "models": 48, "programs": 16,
    }  # fmt: skip
    assert len(GROUPS) > 35
