"""Enumerations in closed programs: their members as numbers, keys and addresses, and loops over them."""

from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum

import pytest

from gendsl import categorical, gen, normal
from tests.compiler.closed_outcomes import outcome, raises_everywhere


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


@dataclass(frozen=True)
class Site:
    kind: Kind
    area: float


class Plain:
    pass


SITE, PLAIN = Site(Kind.OAK, 2.0), Plain()


@gen
def given(kind):
    one = 1.0 if kind is Kind.OAK else 2.0
    two = 1.0 if kind != Kind.ELM else 3.0
    three = 5.0 if kind in (Kind.OAK,) else 7.0
    match kind:
        case Kind.OAK:
            four = 11.0
        case _:
            four = 13.0
    five = {Kind.OAK: 0.1, Kind.ELM: 0.2}[kind] + len(kind.value)
    "y" @ ~normal(one + 10 * two + 100 * three + 1000 * four + five, 1)


@gen
def given_many(kinds, site):
    means = {kind: (kind.value,) @ ~normal(0, 1) for kind in Kind}
    for i, kind in enumerate(kinds):
        ("y", i) @ ~normal(means[kind] * (2.0 if kind is site.kind else 1.0), site.area)


@gen
def other_instances(site, plain):
    same = 1.0 if site is SITE else 2.0
    "y" @ ~normal(same + (0.5 if site == SITE else 0.25) + (0.1 if plain is PLAIN else 0.2), 1)


@gen
def equal_instances(plain):
    "y" @ ~normal(1.0 if plain == PLAIN else 2.0, 1)


@pytest.mark.parametrize("kind", Kind)
def test_members_that_a_program_is_given(kind):
    assert outcome(given, (kind,)) == "equal"


def test_many_members_and_instances_with_some():
    assert outcome(given_many, ([Kind.OAK, Kind.ELM] * 20, Site(Kind.ELM, 0.5))) == "equal"


@pytest.mark.parametrize("args", [(SITE, PLAIN), (Site(Kind.OAK, 2.0), PLAIN), (SITE, Plain())])
def test_whether_an_instance_that_is_given_is_one_that_was_there_is_not_guessed(args):
    assert "`is` of Site and the constant" in outcome(other_instances, args)
    assert "== of Plain" in outcome(equal_instances, args[1:])


@gen
def called(code, word):
    z = ~categorical([0.3, 0.4, 0.3])
    grade = Grade(z)
    kind = Kind(word)
    other = Kind("elm" if z == 2 else "oak")
    table = {Kind.OAK: 1.0, Kind.ELM: -1.0}
    ("y", other.value) @ ~normal(table[kind] + 2 * (kind is other) + grade * 0.5 + (grade == Grade.MID), 1)
    ("given",) @ ~normal(len(Kind(word).name) + Grade(code), 1)


@gen
def without_a_member(code):
    x = ~normal(0, 1)
    ("y",) @ ~normal(x if Grade(code) == 1 else 0.0, 1)


@pytest.mark.parametrize("rng", range(4))
def test_members_by_their_values(rng):
    assert outcome(called, (2, "elm"), rng=rng) == "equal"


def test_a_value_without_a_member_is_an_error():
    raises_everywhere(without_a_member, (3,), {"x": 0.1, ("y",): 0.2})
