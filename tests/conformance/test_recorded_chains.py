"""The chains of the examples, of the models and of every kernel are as recorded at commit 12c1e2d."""

import copy
import json
import math

import pytest

from gendsl.testing import running_on, runtimes
from tests.conformance.chains import CHAINS, RECORD, written

RECORDED = json.loads(RECORD.read_text())
RELATIVE = 1e-12


def same(found, expected):
    """Whether two values are equal; floats, up to rounding."""
    if type(found) is not type(expected):
        return False
    if isinstance(found, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(found, float) and math.isfinite(expected):
        return abs(found - expected) <= RELATIVE * max(1.0, abs(expected))
    return found == expected


def difference(found, expected):
    """Where two chains are first different, in words; None if nowhere."""
    for step, (now, then) in enumerate(zip(found, expected, strict=False)):
        if now[0] != then[0]:
            return f"step {step}: decisions {now[0]!r}, not {then[0]!r}"
        if not same(now[1], then[1]):
            return f"step {step}: log probability {now[1]!r}, not {then[1]!r}"
        if [*now[2]] != [*then[2]] or now[3] != then[3]:
            return f"step {step}: {[*now[2]]} new, {now[3]} gone, not {[*then[2]]} and {then[3]}"
        for path, value in then[2].items():
            if not same(now[2][path], value):
                return f"step {step}: {path} is {now[2][path]!r}, not {value!r}"
    if len(found) != len(expected):
        return f"{len(found)} states, not {len(expected)}"
    return None


def test_every_chain_is_recorded():
    assert [*RECORDED] == [*CHAINS]


@pytest.mark.parametrize("runtime", runtimes())
@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_is_as_recorded(name, runtime):
    with running_on(runtime):
        found = written(CHAINS[name]())
    assert difference(found, RECORDED[name]) is None


@pytest.mark.parametrize(
    "change, message",
    [
        (
            lambda states: states[3].__setitem__(0, states[3][0].swapcase()),
            "step 3: decisions 'YY', not 'yy'",
        ),
        (lambda states: states[3].__setitem__(1, states[3][1] * (1 + 1e-11)), "step 3: log probability"),
        (lambda states: states[-1][2].__setitem__("next", 0), f"step {len(RECORDED['polar']) - 1}: next is"),
        (lambda states: states[2][3].append("polar"), "step 2: "),
        (lambda states: states.pop(), f"{len(RECORDED['polar']) - 1} states, not"),
    ],
)
def test_a_difference_is_found(change, message):
    states = copy.deepcopy(RECORDED["polar"])
    change(states)
    assert difference(states, RECORDED["polar"]).startswith(message)
