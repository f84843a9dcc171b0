"""Closed programs as text: errors that a program handles."""

import math

import numpy as np
import pytest

from gendsl import gen, normal, uniform, uniform_discrete
from gendsl.inference import mh, sample
from gendsl.selection import select
from gendsl.testing import running_on
from tests.compiler.closed_outcomes import NATIVE, outcome


class TooFarError(ValueError):
    pass


def inverse(z):
    if z == 3:
        raise TooFarError("three")
    return 1.0 / z


def first_above(values, level):
    for at, value in enumerate(values):
        if value > level:
            return at
    raise LookupError("none")


@gen
def of_numbers(counts, values):
    z = ~uniform_discrete(0, 3)
    x = ~normal(0, 1)
    try:
        rate = 2.0 / z
    except ZeroDivisionError:
        rate = -1.0
    try:
        root = math.sqrt(x)
        logarithm = math.log(x - 0.5)
    except ValueError:
        logarithm = 5.0
    else:
        rate += root
    try:
        count = counts[z]
    except KeyError:
        count = 7
    try:
        value = values[z]
    except (IndexError, TypeError):
        value = 0.25
    try:
        other = inverse(z)
    except ZeroDivisionError:
        other = 11.0
    except TooFarError:
        other = 13.0
    ("y",) @ ~normal(rate + 2 * logarithm + 3 * count + 5 * value + 7 * other, 1)


@gen
def in_loops(rows, names):
    z = ~uniform_discrete(0, 2)
    x = 5
    done, total, seen = 0, 0.0, []
    try:
        for i, row in enumerate(rows):
            seen.append(i)
            total += row / (i - z)
            done = i
            part = total * 2
    except ZeroDivisionError:
        total -= 100.0
        part = -1.0
    try:
        found = first_above(rows, z)
    except LookupError:
        found = -1
    numbers = 0
    for name in names:
        try:
            numbers += int(name)
        except ValueError:
            numbers -= 1
            continue
        numbers += 10
    try:
        inverses = [1 / x for x in rows if x != z]
    except ZeroDivisionError:
        inverses = [x]
    ("y",) @ ~normal(done + total + part + found + len(seen) + numbers + sum(inverses), 1)


@gen
def nested(z):
    x = ~uniform(0, 1)
    total = 0.0
    try:
        try:
            total += 1.0 / z
            total += {1: x}[z]
        except ZeroDivisionError:
            total += 10.0
            raise ValueError(f"{z}") from None
        total += 100.0
    except (KeyError, ValueError):
        total += 1000.0
    try:
        assert z > 1
        total += 3.0
    except Exception:
        total += 5.0
    ("y",) @ ~normal(total, 1)


def outer(values, at):
    try:
        return values[at]
    except IndexError:
        return None


@gen
def of_arrays(rows, n):
    x = ~uniform(0.1, 2)
    matrix = np.array([[1.0, x], [x, 1.0]])
    try:
        factor = np.linalg.cholesky(matrix)
        total = factor[1, 1]
    except np.linalg.LinAlgError:
        total = -3.0
    found = outer(rows, n)
    ("y",) @ ~normal(total if found is None else total + found, 1)
    try:
        first, second = rows
    except ValueError:
        first = second = 0.5
    ("z",) @ ~normal(first + second, 1)


@pytest.mark.parametrize("rng", range(3))
def test_errors_that_are_handled(rng):
    assert outcome(of_numbers, ({1: 4, 2: 5}, [0.5, 1.5]), rng=rng) == "equal"
    assert outcome(in_loops, ([1.0, 2.0, 4.0], ["12", "x", "7"]), rng=rng) == "equal"
    assert outcome(nested, (rng % 3,), rng=rng) == "equal"
    assert outcome(of_arrays, (np.array([0.2, 0.3, 0.4][: 2 + rng % 2]), rng), rng=rng) == "equal"


@gen
def with_finally(z):
    x = ~normal(0, 1)
    total = 0.0
    try:
        try:
            total += 1.0 / z
        finally:
            total += 10.0
    except ZeroDivisionError:
        total += 100.0
    ("y",) @ ~normal(total + x, 1)


@gen
def asked_what_it_was(z):
    x = ~normal(0, 1)
    try:
        total = 1.0 / z
    except ZeroDivisionError as error:
        total = float(len(str(error)))
    ("y",) @ ~normal(total + x, 1)


@gen
def of_a_variable(z):
    x = ~normal(0, 1)
    kinds = (ZeroDivisionError,) if x > 100 else (KeyError,)
    try:
        total = 1.0 / z
    except kinds:
        total = 1.0
    except ZeroDivisionError:
        total = 2.0
    ("y",) @ ~normal(total + x, 1)


@gen
def not_read(z):
    x = ~normal(0, 1)
    try:
        total = 1.0 / z
    except ZeroDivisionError:
        if z == 0:
            print(end="")
        total = 1.0
    ("y",) @ ~normal(total + x, 1)


@pytest.mark.parametrize("program", [with_finally, asked_what_it_was, of_a_variable, not_read])
def test_what_the_interpreter_decides(program):
    assert outcome(program, (2,)) == "equal"
    assert "failed: " in outcome(program, (0,))


@pytest.mark.skipif(not NATIVE, reason="there is no machine code")
def test_chains_with_errors_stay_machine_code():
    args = {1: 4, 2: 5}, [0.5, 1.5]
    kernel = mh(select("z", "x"))
    found = {}
    for runtime in ("reference", "native"):
        with running_on(runtime):
            trace, _ = of_numbers.generate(args, {("y",): 1.0}, rng=1)
            run = sample(kernel, trace, 300, seed=2, record=["z", "x"], progress=False)
            found[runtime] = run["z"], run["x"]
    assert not any("interpreter" in one for one in run.ran)
    np.testing.assert_array_equal(found["reference"], found["native"])


@gen
def left_from_a_handler(n, level):
    x = ~uniform(0, 1)
    total = 0.0
    for i in range(n):
        try:
            total += inverse(i)
        except ZeroDivisionError:
            total += 0.5
        except TooFarError:
            if x > level:
                break
    else:
        total += 3.0
    i = 0
    while i < n:
        try:
            i += 1
            total += math.sqrt(2.0 - i)
        except ValueError:
            if x > level:
                break
        else:
            for _ in range(i):
                if i > 1 and x > level:
                    break
            else:
                continue
            break
    else:
        total += 30.0
    ("y",) @ ~normal(total, 1)


@pytest.mark.parametrize("n", range(6))
@pytest.mark.parametrize("level", [0.0, 1.0])
def test_a_handler_may_leave_a_loop_that_has_an_else(n, level):
    assert outcome(left_from_a_handler, (n, level)) == "equal"


def left_by_handler(x):
    try:
        root = math.sqrt(x)
    except ValueError:
        return 0.0
    finally:
        math.log(1.0)
    return root


def left_behind_else(x, counts):
    for _ in range(2):
        try:
            root = math.sqrt(x)
        except ValueError:
            root = 0.0
        else:
            break
        finally:
            counts.append(root)
    return sum(counts)


@gen
def finally_behind_a_handler():
    x = ~normal(0, 1)
    ("y",) @ ~normal(left_by_handler(x), 1)


@gen
def finally_behind_an_else():
    x = ~normal(0, 1)
    ("y",) @ ~normal(left_behind_else(x, []), 1)


@pytest.mark.parametrize("program", [finally_behind_a_handler, finally_behind_an_else])
def test_what_is_done_finally_is_never_left_out(program):
    assert "`finally` behind a jump" in outcome(program, ())
