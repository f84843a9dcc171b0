"""Lists that are only read item by item are not made."""

import math
import random

import numpy as np
import pytest

from gendsl import gen, normal
from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Block,
    Const,
    Fill,
    For,
    Function,
    If,
    Leave,
    Length,
    Load,
    New,
    Op,
    Return,
    Set,
    Store,
    Var,
)
from gendsl.compiler.hir.text_effects import TextEffects
from gendsl.compiler.passes import fusion
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.python.print_python import compile_python, print_python
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.closed_outcomes import outcome, raises_everywhere

XS = [0.5, -1.0, 2.0, 0.25, 1.5]
ARRAY = np.array(XS)


def lists_in(program, args):
    """How many lists and loops the main function of a program has, by its text."""
    closed = ClosedDensity(program, args)
    made = [one for one in hir.walk(closed.main.body) if isinstance(one, (New, Fill))]
    loops = [one for one in hir.walk(closed.main.body) if isinstance(one, For)]
    assert outcome(program, args) == "equal"
    return len(made), len(loops)


# --- what is merged ------------------------------------------------------------------------------------


@gen
def chain(xs):
    a = ~normal(0, 1)
    total = (np.exp(-0.5 * (xs - a) ** 2) * 2.0 + xs).sum()
    y @ ~normal(total, 1)


@gen
def sums(xs):
    a = ~normal(0, 1)
    terms = [math.exp(a * x) for x in xs]
    y @ ~normal(sum(terms), len(terms))


@gen
def in_place(xs):
    a = ~normal(0, 1)
    total = np.zeros(len(xs))
    for j in range(3):
        total += np.cos(a * j * xs) / (j + 1)
    for i in range(len(xs)):
        ("y", i) @ ~normal(total[i], 1)


y = "y"


def test_an_expression_of_arrays_is_one_loop():
    assert lists_in(chain, (ARRAY,)) == (1, 1)  # that which is summed


def test_a_sum_of_a_comprehension_has_no_list():
    assert lists_in(sums, (XS,)) == (0, 1)


def test_what_is_added_to_an_array_is_not_made():
    assert lists_in(in_place, (ARRAY,)) == (1, 3)


# --- what is not ---------------------------------------------------------------------------------------


@gen
def changed_between(xs):
    a = ~normal(0, 1)
    values = [x + a for x in xs]
    found = [v * 2 for v in values]
    values[1] = 9.0
    y @ ~normal(sum(found) + sum(values), 1)


@gen
def view_changed_between(xs):
    a = ~normal(0, 1)
    values = xs + a
    part = values[1:]
    found = values * 2.0
    part[0] = 7.0
    y @ ~normal(found.sum() + part.sum(), 1)


@gen
def changed_by_the_reader(xs):
    a = ~normal(0, 1)
    values = [x + a for x in xs]
    found = [values[len(values) - 1 - i] for i in range(len(values))]
    for i in range(len(values)):
        values[i] = found[i] * 2
    y @ ~normal(sum(values), 1)


def emptied(values):
    values[0] = 5.0
    return 1.0


@gen
def changed_by_a_call(xs):
    a = ~normal(0, 1)
    values = [x + a for x in xs]
    found = [v * 2 for v in values]
    z = emptied(values)
    y @ ~normal(sum(found) + z + values[0], 1)


@gen
def read_twice(xs):
    a = ~normal(0, 1)
    values = [math.exp(a * x) for x in xs]
    top = max(values)
    y @ ~normal(sum(v / top for v in values), 1)


@gen
def read_elsewhere(xs):
    a = ~normal(0, 1)
    values = [math.exp(a * x) for x in xs]
    total = 0.0
    for i in range(len(values)):
        total += values[i] * values[-1] - values[len(xs) - 1 - i]
    y @ ~normal(total, 1)


@gen
def read_many_times(xs):
    a = ~normal(0, 1)
    values = [math.exp(a * x) for x in xs]
    total = 0.0
    for j in range(3):
        for v in values:
            total += v * j
    y @ ~normal(total, 1)


@gen
def of_a_variable_that_changes(xs):
    a = ~normal(0, 1)
    c = 2.0
    values = [x * c for x in xs]
    c = 5.0 + a
    y @ ~normal(sum(v + c for v in values), 1)


@gen
def partly_made(xs):
    a = ~normal(0, 1)
    values = []
    for x in xs:
        if x > a:
            values.append(x)
    y @ ~normal(sum(values), 1 + len(values))


@gen
def longer_and_shorter(xs):
    a = ~normal(0, 1)
    values = [a * x for x in xs]
    total = 0.0
    for i in range(len(xs) - 2):
        total += values[i]
    values.append(1.0)
    y @ ~normal(total, len(values))


@gen
def length_before(xs):
    a = ~normal(0, 1)
    values = []
    none = len(values)
    for x in xs:
        values.append(a * x)
    y @ ~normal(sum(values) + none, 1 + len(values))


@gen
def kept(xs):
    a = ~normal(0, 1)
    values = [a * x for x in xs]
    both = [values, values]
    both[0][0] = 3.0
    y @ ~normal(sum(values), 1)


@pytest.mark.parametrize(
    ("program", "xs"),
    [
        (changed_between, XS), (view_changed_between, ARRAY), (changed_by_the_reader, XS),
        (changed_by_a_call, XS), (read_twice, XS), (read_elsewhere, XS), (read_many_times, XS),
        (of_a_variable_that_changes, XS), (partly_made, XS), (longer_and_shorter, XS),
        (length_before, XS), (kept, XS),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)  # fmt: skip
def test_a_list_that_is_needed_is_what_it_was(program, xs):
    for seed in range(1, 5):
        assert outcome(program, (xs,), rng=seed) == "equal"


@gen
def left_early(xs):
    a = ~normal(0, 1)
    values = [1.0 / x for x in xs]
    total = 0.0
    for v in values:
        if v > 1.5:
            break
        total += v
    y @ ~normal(total + a, 1)


@gen
def unread(xs):
    a = ~normal(0, 1)
    values = [1.0 / x for x in xs]
    total = 0.0
    for i in range(len(values)):
        if xs[i] > 0:
            total += values[i]
    y @ ~normal(total + a, 1)


@gen
def left_before(xs):
    """What reads the list may not be come to, from where it is made."""
    a = ~normal(0, 1)
    total = 0.0
    for k in range(2):
        values = [1.0 / x for x in xs]
        if a < 5:
            total += 1.0
            if k < 2:
                break
        total += sum(values)
    y @ ~normal(total + a, 1)


@pytest.mark.parametrize("program", [left_early, unread, left_before])
def test_an_item_that_fails_fails_though_it_is_not_read(program):
    assert outcome(program, (XS,)) == "equal"
    raises_everywhere(program, ([2.0, 0.5, -1.0, 0.0],), {"a": 0.0, "y": 0.0})


# --- functions of HIR -----------------------------------------------------------------------------------

F, INT, R = "f", "i", "r"
N, TOTAL = Var("n", INT), Var("total", F)
LIST, VALUES, SIZE = Var("xs", R), Var("values", R), Var("size", INT)
AT, TO, X, Y = Var("i", INT), Var("j", INT), Var("x", F), Var("y", F)
ZERO, ONE = Const(0, INT), Const(1, INT)


def makes(*, stop=N, more=()):
    """values = [1 / x for x in xs[:n]]"""
    item = (Op("truediv", (Const(1.0, F), X), F),)
    load = Load([X], LIST, (F,), AT)
    return [New(VALUES, (F,), []), For(AT, ZERO, stop, ONE, [load, *more, Append(VALUES, (F,), item)], 1)]


def reads(*, start=ZERO, stop=N, step=ONE, index=TO, more=()):
    """total += values[j], for some of them"""
    body = [*more, Load([Y], VALUES, (F,), index), adds(Y)]
    return For(TO, start, stop, step, body, 2)


def adds(expr):
    return Set([TOTAL], [Op("add", (TOTAL, expr), F)])


def minus(one, other):
    return Op("sub", (one, other), INT)


def with_length(stop):
    length = [Length(SIZE, VALUES, (F,)), adds(Op("float", (SIZE,), F))]
    return [*makes(stop=stop), *length, reads(stop=stop)]


def with_first_length(stop):
    """The length of the list that has no items yet."""
    made, loop = makes(stop=stop)
    return [made, Length(SIZE, VALUES, (F,)), loop, adds(Op("float", (SIZE,), F)), reads(stop=stop)]


SCALE = Var("scale", F)


def scaled(*, between=(), more=()):
    """values = [1 / (x * scale) for x in xs[:n]], where the scale is set twice before."""
    load = Load([X], LIST, (F,), AT)
    item = (Op("truediv", (Const(1.0, F), Op("mul", (X, SCALE), F)), F),)
    made = [New(VALUES, (F,), []), For(AT, ZERO, N, ONE, [load, Append(VALUES, (F,), item)], 1)]
    before = [Set([SCALE], [Const(2.0, F)]), If(Op("gt", (N, ONE), "b"), [Set([SCALE], [Const(4.0, F)])], [])]
    return [*before, *made, *between, reads(more=more)]


CHANGED = Set([SCALE], [Op("add", (SCALE, Const(1.0, F)), F)])

NEEDED = {
    "what is set to something else before it is read": lambda: scaled(between=[CHANGED]),
    "what each iteration that reads it sets": lambda: scaled(more=[CHANGED]),
    "what is set in a branch before it is read": lambda: scaled(
        between=[If(Op("gt", (N, ONE), "b"), [CHANGED], [])]
    ),
    "a length, where a number is negative": lambda: with_length(N),
    "a length, where a constant is": lambda: with_length(Const(-2, INT)),
    "a length, before there are items": lambda: with_first_length(Const(3, INT)),
    "from the second on": lambda: [*makes(), reads(start=ONE)],
    "the other way round": lambda: [*makes(), reads(start=minus(N, ONE), stop=ZERO, step=Const(-1, INT))],
    "each second one": lambda: [*makes(), reads(step=Const(2, INT))],
    "a counter that is set": lambda: [*makes(), reads(more=[Set([TO], [ZERO])])],
    "a number that changes": lambda: [*makes(), Set([N], [minus(N, ONE)]), reads()],
    "another list in its place": lambda: [
        *makes(),
        If(Op("gt", (N, ONE), "b"), [Fill(VALUES, (F,), N, (Const(9.0, F),))], []),
        reads(),
    ],
    "what its loop computes": lambda: [*makes(more=[adds(X)]), Set([Y], [TOTAL]), reads(), adds(Y)],
    "what its loop last reads": lambda: [*makes(), adds(X), reads()],
    "left before it is read": lambda: [
        Block([*makes(), If(Op("gt", (N, ONE), "b"), [Leave(3)], []), reads()], 3)
    ],
}


@pytest.mark.parametrize("name", NEEDED)
def test_a_function_that_needs_a_list_is_what_it_was(name):
    texts = []
    for change in (False, True):
        body = [Set([TOTAL], [Const(0.0, F)]), *NEEDED[name](), Return([TOTAL])]
        main = Function("main", [N, LIST], [F], body)
        if change:
            fusion.fuse(main, TextEffects())
        texts.append(print_python(main))
    for n in (-2, 0, 1, 3):
        for xs in ([4.0, 2.0, 0.5], [4.0, 2.0, 0.0]):
            expected, found = (result(text, (n, xs)) for text in texts)
            assert found == expected, "\n".join(texts)


def test_what_is_set_several_times_but_not_meanwhile_may_be_moved():
    main = Function("main", [N, LIST], [F], [Set([TOTAL], [Const(0.0, F)]), *scaled(), Return([TOTAL])])
    plain = print_python(main)
    assert fusion.fuse(main, TextEffects())
    for n in (0, 1, 3):
        assert result(print_python(main), (n, [4.0, 2.0, 0.5])) == result(plain, (n, [4.0, 2.0, 0.5]))


# --- random functions ---------------------------------------------------------------------------------


class Chains:
    """A random function of two lists: chains of lists, some changed, read twice, or read in another order."""

    def __init__(self, seed):
        self.random, self.count = random.Random(seed), 0

    def fresh(self, kind):
        self.count += 1
        return Var(f"{kind}{self.count}", kind)

    def number(self, scope, depth=0):
        chance = self.random.random()
        if chance < 0.5 or depth > 1:
            return self.random.choice([var for var in scope if var.kind == F])
        if chance < 0.6:
            return Const(self.random.choice([0.5, 2.0, -1.0]), F)
        name = self.random.choice(["add", "mul", "sub"])
        if self.random.random() < 0.1:
            return Op("truediv", (self.number(scope, depth + 1), self.number(scope, depth + 1)), F)
        return Op(name, (self.number(scope, depth + 1), self.number(scope, depth + 1)), F)

    def loop(self, scope, lists):
        """A loop that reads some lists, and makes or changes one, or adds to the total."""
        at, inner = self.fresh(INT), list(scope)
        body, before = [], []
        for _ in range(self.random.randint(1, 2)):
            target, index = self.fresh(F), at
            if self.random.random() < 0.15:
                index = Op("sub", (Op("sub", (N, Const(1, INT)), INT), at), INT)
            body.append(Load([target], self.random.choice(lists), (F,), index))
            inner.append(target)
        if self.random.random() < 0.4:
            target = self.fresh(F)
            body.append(Set([target], [self.number(inner)]))
            inner.append(target)
        chance = self.random.random()
        if self.random.random() < 0.08:
            body.append(
                If(Op("gt", (self.number(inner), Const(3.0, F)), "b"), [Leave(self.count + 1000)], [])
            )
        label = self.count + 1000
        if chance < 0.35:
            made = self.fresh(R)
            before.append(New(made, (F,), []))
            body.append(Append(made, (F,), (self.number(inner),)))
            lists.append(made)
        elif chance < 0.65:
            made = self.fresh(R)
            before.append(Fill(made, (F,), N, (Const(0.0, F),)))
            body.append(Store(made, (F,), at, (self.number(inner),)))
            lists.append(made)
        elif chance < 0.75:
            body.append(Store(self.random.choice(lists), (F,), at, (self.number(inner),)))
        else:
            body.append(Set([TOTAL], [Op("add", (TOTAL, self.number(inner)), F)]))
        return [*before, For(at, Const(0, INT), N, Const(1, INT), body, label)]

    def other(self, scope, lists):
        chance = self.random.random()
        if chance < 0.3:
            index = Const(self.random.choice([0, -1]), INT)
            return [Store(self.random.choice(lists), (F,), index, (self.number(scope),))]
        if chance < 0.5:
            again = self.fresh(R)
            found = [Set([again], [self.random.choice(lists)])]
            lists.append(again)
            return found
        if chance < 0.7:
            var = self.random.choice([var for var in scope if var.kind == F])
            return [Set([var], [self.number(scope)])]
        size, target = self.fresh(INT), self.fresh(F)
        scope.append(target)
        return [Length(size, self.random.choice(lists), (F,)), Set([target], [Op("float", (size,), F)])]

    def main(self):
        a, b = self.fresh(F), self.fresh(F)
        xs, ys = self.fresh(R), self.fresh(R)
        scope, lists = [a, b], [xs, ys]
        body = [Set([TOTAL], [Const(0.0, F)])]
        for _ in range(self.random.randint(3, 8)):
            body += self.loop(scope, lists) if self.random.random() < 0.8 else self.other(scope, lists)
        if self.random.random() < 0.3:
            self.count += 1
            body = [body[0], For(self.fresh(INT), Const(0, INT), Const(2, INT), Const(1, INT), body[1:], 1)]
        return Function("main", [N, a, b, xs, ys], [F], [*body, Return([TOTAL])])


def result(text, args):
    try:
        return compile_python(text, {})["main"](None, *(list(x) if isinstance(x, list) else x for x in args))
    except (ZeroDivisionError, IndexError, OverflowError):
        return "failed"
    except UnboundLocalError:
        return None


def test_random_chains_mean_the_same():
    merged = compared = 0
    for seed in range(400):
        before, after = Chains(seed).main(), Chains(seed).main()
        for one in (*hir.functions(before), *hir.functions(after)):
            clean_one(one)
        if not fusion.fuse(after, TextEffects()):
            continue
        clean_one(after)
        merged += 1
        plain, text = print_python(before), print_python(after)
        for n in (0, 1, 3):
            source = random.Random(seed + n)
            xs = [source.choice([0.5, 1.0, -2.0, 0.0]) for _ in range(n)]
            ys = xs if source.random() < 0.3 else [source.choice([1.0, 3.0]) for _ in range(n)]
            expected = result(plain, (n, 0.5, -1.5, xs, ys))
            if expected is None:
                continue
            compared += 1
            found = result(text, (n, 0.5, -1.5, xs, ys))
            assert repr(found) == repr(expected), f"{seed}, {n}\n{plain}\n{text}"
    assert merged > 100 and compared > 300
