"""Closed programs as text: what classes of the user's say of operators and attributes of their instances."""

# ruff: noqa: E711, SIM300 (in the ways of users)
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

from gendsl import (
    categorical,
    factor,
    gen,
    iid,
    mixture,
    mvnormal,
    normal,
    poisson,
    supports,
    uniform,
    uniform_discrete,
)
from tests.compiler.closed_outcomes import outcome


class Total:
    def __init__(self):
        self.log = []

    def __iadd__(self, value):
        self.log.append(value)
        return self

    def __add__(self, value):
        made = Total()
        made.log = [*self.log, 10 * value]
        return made

    def __isub__(self, value):
        return value


class Holder:
    def __init__(self):
        self.total = Total()


class Bits:
    def __init__(self, n):
        self.n = n

    def __and__(self, other):
        return Bits(self.n & other.n)

    def __or__(self, other):
        return Bits(self.n | other.n)

    def __ror__(self, other):
        return 100 + other + self.n

    def __xor__(self, k):
        return Bits(self.n ^ k)

    def __lshift__(self, k):
        return Bits(self.n * 2**k)

    def __rrshift__(self, k):
        return Bits(k - self.n)


class Level:
    level = 3

    def __init__(self, level):
        if level > 1:
            self.level = level

    def up(self, by=1):
        self.level = self.level + by
        return self.__class__(self.level)


class Rate:
    def __init__(self, n):
        self._rate = n
        self.changes = 0

    @property
    def rate(self):
        return self._rate

    @rate.setter
    def rate(self, value):
        self._rate = abs(value) + 1
        self.changes += 1


@gen
def operators():
    a = ~uniform_discrete(0, 3)
    b = ~uniform_discrete(-2, 2)
    holder, first = Holder(), Total()
    named = {0: holder.total}
    second = first
    for i in range(a):
        holder.total += i
        named[0] += b
        first += 2
    first = first + b
    ("y", 0) @ ~normal(sum((i + 1) * one for i, one in enumerate(holder.total.log)), 1)
    ("y", 1) @ ~normal(sum(first.log) + 100 * sum(second.log) + len(second.log), 1)
    second -= b
    ("y", 2) @ ~normal(second, 1)
    ("y", 3) @ ~normal((Bits(a) & Bits(2)).n + 10 * (Bits(a) | Bits(1)).n + (a | Bits(1)), 1)
    ("y", 4) @ ~normal((Bits(a) ^ 2).n + 10 * (Bits(a) << a).n + (7 >> Bits(a)).n, 1)


@gen
def attributes():
    a = ~uniform_discrete(0, 3)
    b = ~uniform_discrete(-2, 2)
    level, other = Level(a), Level(b)
    made = level.up(by=a)
    ("y", 0) @ ~normal(level.level + 10 * other.level + 100 * made.level + Level.level, 1)
    rate = Rate(a)
    same = rate
    same.changes = 5
    rate.rate = b
    same.rate += 10
    ("y", 1) @ ~normal(rate.rate + 100 * rate.changes, 1)


class Weighed(NamedTuple):
    n: int
    weight: int = 2

    def __bool__(self):
        return self.n > 1

    def __gt__(self, other):
        return self.weight > other.weight


class Moved(Weighed):
    def __new__(cls, n):
        return super().__new__(cls, n + 5)


@gen
def named_tuples():
    a = ~uniform_discrete(0, 3)
    b = ~uniform_discrete(-2, 2)
    ("y", 0) @ ~normal((1 if Weighed(a) else 2) + 10 * (not Weighed(b)), 1)
    ("y", 1) @ ~normal(any([Weighed(a), Weighed(b)]) + (Weighed(a, b).n or 7), 1)


@gen
def united():
    a = ~uniform_discrete(0, 3)
    first = {a: 1, 2: 5} | {1: 7, 2: 8}
    second = first | {}
    second[9] = 4
    counted = defaultdict(int, {})
    counted[a] += 2
    third = counted | {5: 1}
    third[8] += 1
    ("y", 0) @ ~normal(sum((i + 1) * (k + 3 * v) for i, (k, v) in enumerate(first.items())), 1)
    ("y", 1) @ ~normal(len(first) + 10 * len(second) + 100 * len(third) + 1000 * len(counted), 1)


@pytest.mark.parametrize("program", [operators, attributes, named_tuples, united])
@pytest.mark.parametrize("rng", range(10))
def test_what_is_understood(program, rng):
    assert outcome(program, (), rng=rng) == "equal"


# --- what only Python knows ------------------------------------------------------------------------


class Hidden:
    def __init__(self, n):
        self.n = n

    def __getattribute__(self, name):
        return 7


class Doubled:
    def __init__(self, n):
        self.n = n

    def __setattr__(self, name, value):
        object.__setattr__(self, name, 2 * value)


class Made:
    def __init__(self, n):
        self.n = n

    def __getattr__(self, name):
        return 9


class Thrice:
    def __get__(self, owner, cls=None):
        return 3 * owner.n if owner is not None else 0


class Described:
    thrice = Thrice()

    def __init__(self, n):
        self.n = n


class Checked:
    def __init__(self, n):
        self.rate = n

    @property
    def rate(self):
        return self._rate

    @rate.setter
    def rate(self, value):
        self._rate = abs(value) + 1


class Unequal:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return True

    def __add__(self, other):
        return 1


class Derived(Unequal):
    def __eq__(self, other):
        return False

    def __radd__(self, other):
        return 2


class Inherits(Unequal):
    pass


@dataclass
class Instead:
    n: int = 0

    def __new__(cls, *args):
        made = super().__new__(cls)
        made.m = 5
        return made


@dataclass(frozen=True)
class Point:
    n: int


class Sized:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __eq__(self, other):
        return self.n == other


class Partly:
    def __init__(self, n):
        if n > 1:
            self.n = n


ORIGIN, SIZED, MADE = Point(0), Sized(0), Made(0)


def looked_up(a):
    return Hidden(a).n


def doubled(a):
    return Doubled(a).n


def missing(a):
    return Made(a).other


def missing_of_a_constant(a):
    return a + MADE.other


def described(a):
    return Described(a).thrice


def set_by_a_property(a):
    return Checked(a).rate


def unequal(a):
    return Inherits(a) != Inherits(a)


def equal_to_derived(a):
    return a + (Unequal(a) == Derived(a))


def none_equal(a):
    return a + (None == Inherits(a))


def added_to_derived(a):
    return a + (Unequal(a) + Derived(a))


def made_anew(a):
    return a + Instead(a).m


def equal_to_a_constant(a):
    return Point(a) == ORIGIN


def constant_equal(a):
    return SIZED == a


def true_constant(a):
    return a if SIZED else a + 5


def may_have(a):
    return 5 if hasattr(Partly(a), "n") else 2


def counters_united(a):
    found = Counter([a, 1])
    found |= Counter([1, 1])
    return found[1]


def heavier(a):
    return Weighed(1, a) > Weighed(2, 1)


def heaviest(a):
    return max(Weighed(1, a), Weighed(2, 1)).n


def moved(a):
    return Moved(a).n


@pytest.mark.parametrize(
    "function",
    [
        looked_up, doubled, missing, missing_of_a_constant, described, set_by_a_property, unequal,
        equal_to_derived, none_equal, added_to_derived, made_anew, equal_to_a_constant, constant_equal,
        true_constant, may_have, counters_united, heavier, heaviest, moved,
    ],
)  # fmt: skip
@pytest.mark.parametrize("rng", range(4))
def test_what_only_python_knows_is_refused(function, rng):
    @gen
    def program():
        a = ~uniform_discrete(0, 3)
        y = ~normal(function(a), 1)

    told = outcome(program, (), rng=rng)
    assert told.startswith("refused: line"), told


# --- families that are derived from those of gendsl ------------------------------------------------


class Sharper(normal):
    def logpdf(self, x):
        return 2 * super().logpdf(x) + 0.5


class Bonus:
    def bonus(self, x):
        return 0.1 * x


class Sharpest(Bonus, Sharper):
    def logpdf(self, x):
        return 3 * super().logpdf(x) + self.bonus(x)


class Mixed(Bonus, normal):
    def logpdf(self, x):
        return super().logpdf(x) + self.bonus(x)


class Positive(normal):
    support = supports.Positive()

    def logpdf(self, x):
        return -x * self.mean * self.mean

    def sample(self, rng):
        return abs(super().sample(rng))


class Counted(poisson):
    def logpdf(self, x):
        return super().logpdf(x) - 0.1 * x


class Wide(normal):
    def __init__(self, mean):
        super().__init__(mean, 2.0)


FIXED = Sharper(1.0, 2.0)


@gen
def derived():
    a = ~uniform_discrete(0, 3)
    x = ~Sharper(a, 1.0)
    y = ~Positive(a, 1.0)
    c = ~Counted(a + 0.5)
    w = ~Wide(c)
    f = ~FIXED
    s = ~Sharpest(f, 1.0)
    m = ~Mixed(s, 1.0)
    z = ~mixture([0.5, 0.5], [Sharper(x, 1.0), normal(y, w * w + 1)])
    u = ~iid(Sharper(z, 1.0), 2)
    "t" @ ~factor(Sharper(a, 1.0).logpdf(f + u[0]))


@pytest.mark.parametrize("rng", range(6))
def test_the_density_of_a_derived_family_is_its_own(rng):
    assert outcome(derived, (), rng=rng) == "equal"


class Kernel:
    def __add__(self, other):
        return Sum(self, other)

    def __mul__(self, other):
        return Product(self, other)


class Smooth(Kernel):
    def __init__(self, width):
        self.width = width

    def __call__(self, s, t):
        return np.exp(-0.5 * (s[:, None] - t[None, :]) ** 2 / self.width**2)


class Line(Kernel):
    def __init__(self, at):
        self.at = at

    def __call__(self, s, t):
        return np.outer(s - self.at, t - self.at)


class Sum(Kernel):
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __call__(self, s, t):
        return self.a(s, t) + self.b(s, t)


class Product(Kernel):
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __call__(self, s, t):
        return self.a(s, t) * self.b(s, t)


@gen
def grammar(depth):
    kind = ~categorical([0.2, 0.2, 0.3, 0.3] if depth < 3 else [0.5, 0.5, 0.0, 0.0])
    if kind == 0:
        width = ~uniform(0.5, 2)
        return Smooth(width)
    if kind == 1:
        at = ~normal(0, 1)
        return Line(at)
    left = "left" @ ~grammar(depth + 1)
    right = "right" @ ~grammar(depth + 1)
    return left + right if kind == 2 else left * right


@gen
def process(t):
    kernel = "kernel" @ ~grammar(0)
    y = ~mvnormal(np.zeros(len(t)), kernel(t, t) + 0.1 * np.eye(len(t)))


@pytest.mark.parametrize("seed", range(8))
def test_sums_and_products_that_methods_make_of_what_holds_such(seed):
    assert outcome(process, (np.linspace(0, 1, 4),), rng=seed) == "equal"


@dataclass(order=True)
class Place:
    at: float
    rank: int
    name: str = field(default="", compare=False)


@dataclass
class Named(Place):
    note: int = 0


@gen
def in_order(places):
    x = ~normal(0, 1)
    z = ~uniform_discrete(0, 2)
    here, there = Place(x, z, "b"), Place(x, 1, "a")
    found = [here < there, here <= there, here > there, here >= there]
    ("order",) @ ~normal(sum(2**i * one for i, one in enumerate(found)), 1)
    first = min([*places, here])
    ("first",) @ ~normal(first.at + sorted([there, here, Place(0.0, z)])[-1].rank, 1)


@gen
def of_other_fields():
    x = ~normal(0, 1)
    ("y",) @ ~normal(1.0 if Named(x, 1, note=2) < Named(0.5, 1, note=1) else 2.0, 1)


@pytest.mark.parametrize("seed", range(4))
def test_dataclasses_in_order(seed):
    assert outcome(in_order, ([Place(0.2, 1), Place(-0.4, 2)],), rng=seed) == "equal"
    assert "the order of Named and Named" in outcome(of_other_fields, (), rng=seed)
