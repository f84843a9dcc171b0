"""Enumerations in closed programs: their members as numbers, keys and addresses, and loops over them."""

from enum import Enum, IntEnum, StrEnum

import pytest

from gendsl import categorical, gen, normal
from tests.compiler.closed_outcomes import outcome


class Grade(IntEnum):
    LOW = 0
    MID = 1
    HIGH = 2


class Size(float, Enum):
    SMALL = 0.5
    LARGE = -0.0


class Kind(Enum):
    OAK = "oak"
    ELM = "elm"


class Side(StrEnum):
    LEFT = "left"
    RIGHT = "right"


@gen
def numbers(n):
    z = ~categorical([1 / len(Grade)] * len(Grade))
    for i in range(n):
        ("y", i) @ ~normal(Grade.HIGH * 0.5 if z == Grade.MID else Size.SMALL + len(Kind) * z, 1)
    "w" @ ~normal(1 / Size.SMALL + max(z, Grade.MID) + [3.0, 4.0, 5.0][Grade.MID], 1)


@gen
def loops(n):
    z = ~categorical([1 / 3] * 3)
    total = 0.0
    for grade in Grade:
        if z == grade:
            total += 2.0 * grade
    for at, grade in enumerate(Grade):
        total += at * grade
    "y" @ ~normal(total + sum(g for g in Grade) + sum(size for size in Size) + n, 1)


@gen
def keys(n):
    means = {kind: (kind.value, 0) @ ~normal(0, 1) for kind in Kind}
    more = {grade: ("more", grade) @ ~normal(0, 1) for grade in Grade}
    sides = [side @ ~normal(0, 1) for side in Side]
    z = ~categorical([1 / 3] * 3)
    "y" @ ~normal(means[Kind.OAK] - means[Kind.ELM] + more[z] + sides[0] * sides[1] + n, 1)


@gen
def identities(n):
    kind = Kind.OAK
    z = ~categorical([0.5, 0.5])
    if z:
        kind = Kind.ELM
    "y" @ ~normal(1.0 if kind is Kind.OAK else 2.0 + (kind.name == "ELM"), 1)


@pytest.mark.parametrize("program", [numbers, loops, keys, identities], ids=lambda one: one.name)
def test_programs_with_enumerations(program):
    assert outcome(program, (2,)) == "equal"
