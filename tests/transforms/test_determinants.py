"""Formulas for the determinants of patterns, against exact arithmetic."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from gendsl.transforms import determinants
from gendsl.transforms.determinants import Expansion, determinant_of_few, formula_of, known_determinant


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(determinants, "_seen", {})
    monkeypatch.setattr(determinants, "_formulas", {})


def pattern_of(rows, columns):
    return (tuple(rows), *map(tuple, columns))


def a_matrix(seed):
    """A random sparse matrix, as a pattern with its entries: the columns also have entries in other rows."""
    rng = np.random.default_rng(seed)
    n, others = int(rng.integers(1, 6)), int(rng.integers(0, 3))
    rows = [int(row) for row in 1 + rng.permutation(n + others)]
    density = rng.choice([0.3, 0.5, 1.0])
    columns = [[row for row in rows if rng.random() < density] for _ in range(n)]
    for column, row in zip(columns, rng.permutation(rows[:n]), strict=True):
        if row not in column and rng.random() < 0.9:  # or there is a good chance that it is singular
            column.append(int(row))
    return (rows[:n], columns), rng.normal(size=sum(map(len, columns))).tolist()


def exact(pattern, entries):
    """|det| by Leibniz' formula, and the sum of the sizes of its terms."""
    rows, columns = pattern
    values = iter(map(Fraction, entries))
    columns = [{row: next(values) for row in column} for column in columns]
    total = size = Fraction(0)
    for order in itertools.permutations(range(len(rows))):
        term = Fraction(1)
        for i, j in enumerate(order):
            term *= columns[j].get(rows[i], 0)
        inversions = sum(a > b for a, b in itertools.combinations(order, 2))
        total += (-1) ** inversions * term
        size += abs(term)
    return abs(total), size


def far_off(formula, seeds):
    """How many matrices have another determinant by their formula than by exact arithmetic."""
    count = 0
    for seed in seeds:
        pattern, entries = a_matrix(seed)
        det, size = exact(pattern, entries)
        count += abs(formula(pattern_of(*pattern))(*entries) - det) > 1e-14 * size
    return count


def test_formulas_are_exact_but_for_rounding():
    assert far_off(formula_of, range(300)) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "planted",
    [
        {"(-1) ** (i + j)": "1"},
        {"'+' if sign == first else '-'": "'+'"},
        {"return first, name": "return 1, name"},
        {"return terms[0] if terms": "return (1, terms[0][1]) if terms"},
        {"known.get((rows, columns))": "known.get(rows)", "known[rows, columns] =": "known[rows] ="},
    ],
    ids=str,
)
def test_planted_mistakes_are_seen(planted):
    with open(determinants.__file__) as file:
        source = file.read()
    for was, wrong in planted.items():
        assert source.count(was) == 1
        source = source.replace(was, wrong)
    namespace = {"__name__": "planted", "__file__": determinants.__file__}
    exec(compile(source, determinants.__file__, "exec"), namespace)
    assert far_off(namespace["formula_of"], range(300)) > 10


def dense(n):
    return pattern_of(range(1, n + 1), [range(1, n + 1)] * n)


def test_long_formulas_are_not_made():
    assert formula_of(dense(4)) is not None
    for n in (6, 10):
        assert formula_of(dense(n)) is None
        for _ in range(20):
            assert known_determinant(dense(n), np.eye(n).ravel().tolist()) is None


def test_there_is_none_of_what_depends_on_a_return_value():
    assert formula_of(((1,), (0, 1))) is None
    for _ in range(20):
        assert known_determinant(((1,), (0, 1)), [1.0, 1.0]) is None


DIAGONAL = ((1, 2), (1,), (2, 1))


def test_a_pattern_has_a_formula_when_it_has_come_often():
    found = [known_determinant(DIAGONAL, [2.0, -3.0, 7.0]) for _ in range(12)]
    assert found == [None] * 8 + [6.0] * 4


@pytest.mark.parametrize("entry", [0.0, math.nan, math.inf, -math.inf, 1e30, 1e-60])
@pytest.mark.parametrize("place", [0, 1])
def test_what_may_be_inaccurate_is_left_to_others(entry, place):
    entries = [2.0, -3.0, 7.0]
    entries[place] = entry
    assert [known_determinant(DIAGONAL, entries) for _ in range(12)] == [None] * 12


def test_other_entries_may_be_anything_but_huge():
    for _ in range(12):
        found = known_determinant(DIAGONAL, [2.0, -3.0, 0.0])
    assert found == 6.0
    assert known_determinant(DIAGONAL, [2.0, -3.0, math.nan]) is None


@pytest.mark.parametrize("n", [1, 3, 10])
def test_at_the_bounds_nothing_is_lost(n):
    """Of products of ten numbers none overflows, and the smallest determinant is not made of rounded ones."""
    diagonal = pattern_of(range(1, n + 1), [[i] for i in range(1, n + 1)])
    formula = formula_of(diagonal)
    assert formula(*[9e24] * n) == pytest.approx(9e24**n, rel=1e-12)
    low = 1.1 * 1e-50 ** (1 / n)
    assert formula(*[low] * n) == pytest.approx(low**n, rel=1e-12) and low**n > determinants.SMALLEST


def test_not_all_patterns_are_kept(monkeypatch):
    monkeypatch.setattr(determinants, "_KEPT", 5)
    for i in range(1, 100):
        for _ in range(1 + 8 * (i > 50)):
            found = known_determinant(((i,), (i,)), [2.0])
        assert found == (2.0 if i > 50 else None)
        assert len(determinants._seen) <= 5 and len(determinants._formulas) <= 5


def test_one_or_two_columns_have_a_determinant_without_a_formula():
    found = 0
    for seed in range(2000):
        (rows, columns), entries = a_matrix(seed)
        if len(rows) > 2:
            continue
        values = iter(entries)
        given = [{row: next(values) for row in column} for column in columns]
        det, size = exact((rows, columns), entries)
        answer = determinant_of_few(rows, given)
        if any(not set(column) <= set(rows) for column in columns) or det == 0:
            assert answer is None
            continue
        found += 1
        assert abs(answer - det) <= 1e-14 * size
        assert determinant_of_few(rows[::-1], given[::-1]) == pytest.approx(answer, rel=1e-12)
    assert found > 100


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, 1e30, 1e-60])
def test_one_or_two_columns_that_might_not_be_accurate_are_for_others(wrong):
    assert determinant_of_few([3], [{3: wrong}]) is None
    assert determinant_of_few([3, 1], [{3: wrong}, {1: 1.0}]) is None
    assert determinant_of_few([3, 1], [{3: wrong, 1: 1.0}, {1: wrong}]) is None


def test_entries_that_are_known_are_a_part_of_the_formula():
    """Ones, minus ones, zeros that there are, and variables with either sign."""
    products = 0
    for seed in range(300):
        (rows, columns), _ = a_matrix(seed)
        columns = [[rows.index(row) for row in column if row in rows] for column in columns]
        rng = np.random.default_rng(seed)
        count = sum(map(len, columns))
        texts = [str(text) for text in rng.choice(["1.0", "-1.0", "a", "-a", "b", "-b", "0.5", "0.0"], count)]
        expansion = Expansion([tuple(column) for column in columns], texts, first=7)
        sign, det = expansion.minor(tuple(range(len(rows))), tuple(range(len(columns))))
        known = {"a": float(rng.normal()), "b": 0.7}
        found = dict(known)
        for i, line in enumerate(expansion.lines):
            assert line.startswith(f"m{i + 7} = ")
            exec(line, {}, found)
        entries = [eval(text, {}, known) for text in texts]
        wanted, size = exact((range(len(rows)), columns), entries)
        assert abs(abs(sign * eval(det, {}, found)) - wanted) <= 1e-14 * size
        assert expansion.used <= {"a", "b", "0.5", "0.0", "1.0"}
        plain = Expansion([tuple(column) for column in columns])
        plain.minor(tuple(range(len(rows))), tuple(range(len(columns))))
        assert expansion.products <= plain.products
        products += expansion.products < plain.products
        changed = [t if t.removeprefix("-") in expansion.used else "9.0" for t in texts]
        entries = [eval(text, {}, known) for text in changed]
        assert exact((range(len(rows)), columns), entries)[0] == wanted
    assert products > 100
