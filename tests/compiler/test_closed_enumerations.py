"""Enumerations in closed programs: their members as numbers, keys and addresses, and loops over them."""

from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum

import numpy as np
import pytest

from gendsl import categorical, gen, normal, sample
from gendsl.inference import mh
from gendsl.testing import running_on
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


@gen
def one_of_several(table):
    z = ~categorical([0.3, 0.4, 0.3])
    grade = Grade(z)
    other = Grade.LOW if z == 2 else 0
    side = Side("left" if z else "right")
    word = side if z == 1 else "left"
    match grade:
        case Grade.HIGH:
            first = 1.0
        case Grade.MID | Grade.LOW:
            first = 2.0
    table[z] = len(side) + {Grade.LOW: 1.0, Grade.MID: 2.0, Grade.HIGH: 3.0}[z]
    second = table[z] * max(grade, 1) - (grade + other) / (1 + grade) + (word == "left") + (side == "right")
    y = ~normal(first + second + sum([grade, other, z]), 1)


@gen
def kept_in_lists(n):
    states, sides = [], ["left"] * n
    for i in range(n):
        z = ("z", i) @ ~categorical([0.3, 0.4, 0.3])
        states.append(Grade(z))
        sides[i] = Side.RIGHT if z == 1 else "left"
    scale = np.array([1.0, 2.0, 3.0])
    counts = [0.0] * len(Grade)
    for i, state in enumerate(states):
        counts[state] += scale[state] + (sides[i] == "right")
        ("y", i) @ ~normal(sum(states[: i + 1]) + counts[0] - counts[2], 1 + (state > Grade.LOW))


@gen
def constants():
    z = ~categorical([0.5, 0.5])
    names = [len(kind.name) + len(kind.upper()) for kind in Side]
    y = ~normal(sum(names) + isinstance(Grade.LOW, Grade) + isinstance(Side.LEFT, Side) + z, 1)


@pytest.mark.parametrize("rng", range(5))
@pytest.mark.parametrize(
    "program, args", [(one_of_several, ([0.0] * 3,)), (kept_in_lists, (4,)), (constants, ())]
)
def test_members_as_numbers_and_strings(program, args, rng):
    assert outcome(program, args, rng=rng) == "equal"


def by_isinstance(z):
    return isinstance(Grade(z), Grade) + 2.0 * isinstance(Grade.LOW if z else 0, Grade)


def by_pattern(z):
    match Grade(z):
        case Grade():
            return 1.0
    return 2.0


def by_name(z):
    return len(Side("left" if z else "right").name) + len(Grade(z).name)


def by_text(z):
    return isinstance(Side.LEFT if z else "right", Side) + 0.5


def by_identity(z):
    return 1.0 if Grade(z) is Grade.MID else 2.0


@pytest.mark.parametrize("function", [by_isinstance, by_pattern, by_name, by_text, by_identity])
@pytest.mark.parametrize("rng", range(3))
def test_members_are_not_taken_for_plain_numbers_and_strings(function, rng):
    @gen
    def program():
        z = ~categorical([0.5, 0.5])
        y = ~normal(function(z), 1)

    found = outcome(program, (), rng=rng)
    assert found == "equal" or found.startswith("refused")


def test_members_that_are_recorded_keep_their_classes():
    @gen
    def program():
        z = ~categorical([0.5, 0.5])
        y = ~normal(z, 1)

    start = program.generate((), {"y": 0.3}, init={"z": 0}, rng=1).trace
    record = {"member": lambda t: Grade.MID if t["z"] else 0, "side": lambda t: Side.LEFT if t["z"] else "o"}
    with running_on("native"):
        run = sample(mh("z"), start, 50, record=record, seed=1)
    assert set(run["member"]) == {Grade.MID, 0}
    assert {type(one) for one in run["side"]} == {Side, str}
