"""Closed programs as text: the characters of strings, and what their methods give for strings of the data."""

# ruff: noqa: RUF007 (characters with those behind them, as users write it)

from dataclasses import dataclass

import numpy as np
import pytest

from gendsl import gen, normal, uniform_discrete
from gendsl.inference import mh, random_walk, sample
from gendsl.selection import select
from gendsl.testing import running_on
from tests.compiler.closed_outcomes import NATIVE, outcome, raises_everywhere

LONG = "ACGTTGCAAC" * 12


@gen
def alignment(rows):
    rate = ~normal(0, 1)
    for i, row in enumerate(rows):
        for j, other in enumerate(rows[:i]):
            differ = sum(a != b for a, b in zip(row, other, strict=True))
            ("distance", i, j) @ ~normal(differ * rate, 1)
        steps = sum(1 for a, b in zip(row, row[1:], strict=False) if a == b)
        ("steps", i) @ ~normal(steps, 1)
        ("ends", i) @ ~normal((row[0] == row[-1]) + 2 * (row[::-1] == row) + 4 * (row[1:-1] in rows), 1)


@gen
def counted(row, weights):
    counts = {}
    for c in row:
        counts[c] = counts.get(c, 0) + 1
    for c in sorted(set(row)):
        ("count", c) @ ~normal(counts[c] * weights[c], 1)
    for place, c in reversed(list(enumerate(row))):
        ("place", place) @ ~normal("TGCA".index(c) - "GA".find(c) + (c in "CT") + ord(c) / 100, 1)
    letters = list(row)
    letters.append("A")
    ("letters",) @ ~normal(letters.count("A") + len(letters), 1)


@gen
def of_constants(k):
    z = ~uniform_discrete(0, 3)
    base = "ACGT"[z]
    (base, "x") @ ~normal("TGCA".index(base), 1)
    table = {"A": 1.0, "C": -1.0, "G": 0.5, "T": 2.0}
    y = ~normal(table[base] + table["GATTACA"[-k]], 1)
    same = 0
    for i, c in enumerate(LONG):
        same += (c == base) * (i + 1)
    s = ~normal(same / 100, 1)


@gen
def read_as_numbers(codes):
    for i, code in enumerate(codes):
        ("sum", i) @ ~normal(sum(int(digit) for digit in code) + int(code), 1)


@gen
def changed(names):
    for i, name in enumerate(names):
        first = name.strip().lower()
        ("x", i) @ ~normal(len(first) + (first == "ab") + 2 * (name[:2].upper() in ("AB", "B")), 1)
        ("rest", i) @ ~normal(name.rfind("b") + name.index("b") + first.count("a"), 1)


@gen
def taken_apart(lines):
    for i, line in enumerate(lines):
        fields = line.split(",")
        fields.append("7")
        name, *numbers = fields
        ("x", i) @ ~normal(sum(int(one) for one in numbers) + len(name) + (name == "a"), 1)
        ("words", i) @ ~normal(len(line.split()) + len(line.rsplit(",", 1)), 1)


@gen
def without_a_separator(line):
    x = ~normal(len(line.split("")), 1)


@gen
def past_the_end(row, at):
    x = ~normal(1.0 if row[at] == "A" else 2.0, 1)


@gen
def two_of_the_data(row, part):
    x = ~normal(1.0 if part in row else 2.0, 1)


@dataclass(frozen=True)
class Read:
    bases: str
    quality: list


@gen
def reads(given):
    error = ~normal(0, 0.1)
    for i, read in enumerate(given):
        total = 0.0
        for base, quality in zip(read.bases, read.quality, strict=True):
            if base not in "-N":
                total += quality * error
        ("y", i) @ ~normal(total, 1)


@pytest.mark.parametrize(
    "program, args",
    [
        (alignment, (["ACGT", "AGGA", "TTTT"],)),
        (alignment, ([LONG, LONG[::-1]],)),
        (counted, ("GATTACA", {"A": 1.0, "C": 2.0, "G": -1.0, "T": 0.0})),
        (counted, (LONG, {"A": 1.0, "C": 2.0, "G": -1.0, "T": 0.0})),
        (of_constants, (3,)),
        (read_as_numbers, (["113", "7", "-0"[1:]],)),
        (changed, ([" Ab", "b", "ab ", "abba"],)),
        (taken_apart, (["a,1,2", "bcd", "a, 3,40"],)),
        (past_the_end, ("CCA", -1)),
        (reads, ([Read("AC-G", [0.5, 1.0, 2.0, 3.0]), Read("N", [1.0])],)),
    ],
)
def test_characters_mean_what_python_means(program, args):
    assert outcome(program, args) == "equal"


@pytest.mark.parametrize(
    "program, args, choices",
    [
        (past_the_end, ("CCA", 3), {("x",): 0.0}),
        (past_the_end, ("CCA", -4), {("x",): 0.0}),
        (past_the_end, ("", 0), {("x",): 0.0}),
        (read_as_numbers, (["11x"],), {("sum", 0): 0.0}),
        (taken_apart, (["a,x"],), {("x", 0): 0.0, ("words", 0): 0.0}),
        (without_a_separator, ("a b",), {("x",): 0.0}),
        (changed, (["aa"],), {("x", 0): 0.0, ("rest", 0): 0.0}),
        (alignment, (["ACG", "AC"],), {("rate",): 0.0}),
    ],
)
def test_what_raises_in_python_fails(program, args, choices):
    raises_everywhere(program, args, choices)


def test_what_no_column_says_is_refused():
    assert "`in` of two strings of the data" in outcome(two_of_the_data, ("GATTACA", "TTA"))


@gen
def evolution(rows):
    rate = ~normal(0, 1)
    root = ~uniform_discrete(0, 3)
    for j, (a, b) in enumerate(zip(*rows, strict=True)):
        mean = rate if a == b else -rate
        if a == "ACGT"[root]:
            mean += 0.5
        ("y", j) @ ~normal(mean, 1)


@pytest.mark.skipif(not NATIVE, reason="there is no machine code here")
@pytest.mark.parametrize("address", ["rate", "root"])
def test_chains_over_strings_are_those_of_the_reference(address):
    rows = (LONG[:20], LONG[3:23])
    observed = {("y", j): np.sin(j) for j in range(20)}
    chains = {}
    for way in ("reference", "native", "python"):
        with running_on(way):
            trace, _ = evolution.generate((rows,), observed, rng=1)
            run = sample(mh(select(address)), trace, 200, seed=2, record=[address], progress=False)
        chains[way] = np.array(run[address])
    assert len(set(chains["reference"])) > 2
    np.testing.assert_allclose(chains["native"], chains["reference"], rtol=1e-12)
    np.testing.assert_allclose(chains["python"], chains["reference"], rtol=1e-12)


SAID = {"native": "as machine code", "python": "as Python text"}


@gen
def by_length(names):
    z = ~normal(0, 1)
    for i, name in enumerate(names):
        ("y", i) @ ~normal(z * len(name) + (1.0 if name[0] == "a" else 0.0), 1)


@pytest.mark.skipif(not NATIVE, reason="there is no machine code here")
@pytest.mark.parametrize("way", ["python", "native"])
def test_chains_know_what_there_is_of_strings(way):
    for names in (["ab", "c"], ["zebra", "ant", "abba"], ["ab", "c"]):
        trace = by_length.generate((names,), {("y", i): 1.0 for i in range(len(names))}, rng=1).trace
        found = {}
        for runtime in ("compiled", way):
            with running_on(runtime):
                run = sample(
                    random_walk(select("z"), scale=0.3), trace, 50, seed=2, record=["z"], progress=False
                )
            found[runtime] = np.array(run["z"])
        assert run.ran[0].startswith(SAID[way]) and "interpreter" not in run.ran[0], run.ran
        np.testing.assert_allclose(found[way], found["compiled"], rtol=1e-12)
