"""An iteration that reads the entry that it has just written reads no container: such loops are plates."""

import os

import numpy as np
import pytest

from gendsl import categorical, gen, normal, poisson
from gendsl.runtime.loops import LoopBlock
from tests.laws.edits import Session, random_edits

LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")
THIRDS = [0.2, 0.3, 0.5]


@gen
def in_list(n):
    mu = [("mu", j) @ ~normal(0, 3) for j in range(3)]
    z = [0] * n
    for i in range(n):
        z[i] = ~categorical(THIRDS)
        ("x", i) @ ~normal(mu[z[i]] + z[i], 1)
    return z


@gen
def in_dict(n):
    mu = [("mu", j) @ ~normal(0, 3) for j in range(3)]
    z = {}
    x = {}
    for i in range(2, 2 + n):
        z[i] = ~categorical(THIRDS)
        k = z[i]
        x[i] = ~normal(mu[k], 1 + k)
        if z[i] > 1:
            ("w", i) @ ~normal(x[i], 1)
    return x


@gen
def in_arrays(n):
    mu = [("mu", j) @ ~normal(0, 3) for j in range(3)]
    z = np.zeros(n, int)
    x = np.empty(n, dtype=np.int64)
    for i in range(n):
        z[i] = ~categorical(THIRDS)
        x[i] = ~poisson(abs(mu[z[i]]))
    return x, z


@gen
def nested(n):
    rows = [0.0] * n
    for i in range(n):
        rows[i] = ~normal(0, 1)
        for j in range(2):
            ("y", i, j) @ ~normal(rows[i] * j, 1)
        cells = [0.0] * 2
        for j in range(2):
            cells[j] = rows[i] + j
        ("c", i) @ ~normal(cells[0] + cells[1], 1)
    return rows


PLATES = [in_list, in_dict, in_arrays]


@gen
def truncates(n):
    """What an array of integers gives back is not what was put there."""
    z = np.zeros(n, int)
    mu = [5.0, 6.0, 7.0]
    for i in range(n):
        z[i] = 2.5
        ("x", i) @ ~normal(mu[z[i]], 1)
    return z


@gen
def narrow(n):
    """Nor need it have the type that was put there."""
    z = np.zeros(n, np.int8)
    total = []
    for i in range(n):
        z[i] = ~categorical(THIRDS)
        total.append(z[i])
        ("x", i) @ ~normal(float(z[i]), 1)
    return total


@gen
def numbers(n):
    """An entry of an array of floats is NumPy's, where it is no index."""
    x = np.zeros(n)
    kept = []
    for i in range(n):
        x[i] = ~normal(0, 1)
        kept.append(x[i])
    return kept


@gen
def another_scope(n):
    """A comprehension's own i is another."""
    z = [7] * n
    for i in range(n):
        z[i] = ~categorical(THIRDS)
        before = sum([z[i] for i in range(n)])
        ("x", i) @ ~normal(before, 1)
    return z


@gen
def looks_back(n):
    z = [0] * (n + 1)
    for i in range(n):
        z[i] = ~categorical(THIRDS)
        ("x", i) @ ~normal(z[i] - z[i - 1] + z[i + 1], 1)
    return z


@gen
def before_and_after(n):
    z = [9] * n
    for i in range(n):
        was = z[i]
        z[i] = ~categorical(THIRDS)
        ("x", i) @ ~normal(was - z[i], 1)
    for i in range(n):
        ("y", i) @ ~normal(z[i], 1)
    return z


@gen
def too_short(n):
    z = [0] * 3
    for i in range(n):
        z[i] = ~categorical(THIRDS)
        ("x", i) @ ~normal(z[i], 1)


@gen
def changed_twice(n):
    z = [0] * n
    for i in range(n):
        z[i] = ~categorical(THIRDS)
        z[i] += 1
        ("x", i) @ ~normal(z[i], 1)
    return z


PROGRAMS = [
    *PLATES, nested, truncates, narrow, numbers, another_scope, looks_back, before_and_after, too_short,
    changed_twice,
]  # fmt: skip
SIZES = [(3,), (2,), (50,), (0,)]


@pytest.mark.parametrize("model", PROGRAMS, ids=lambda model: model.name)
@pytest.mark.parametrize("seed", range(12 if LONG else 1))
def test_both_runtimes_agree(model, seed):
    sizes = SIZES[:2] if model is too_short else SIZES

    def vary(args, rng):
        return sizes[int(rng.integers(len(sizes)))]

    Session(model, [sizes[seed % len(sizes)], *sizes], vary).run(random_edits(seed), seed)


def loops_of(model):
    return [block for block in model.linked.body.blocks if isinstance(block, LoopBlock)]


@gen
def looked_up_by_what_is_appended(n):
    mu = [("mu", j) @ ~normal(0, 3) for j in range(3)]
    labels = []
    for i in range(n):
        labels.append(("z", i) @ ~categorical(THIRDS))
        ("x", i) @ ~normal(mu[labels[i]], 1)
    return labels


@gen
def looked_up_by_the_last(n):
    mu = [("mu", j) @ ~normal(0, 3) for j in range(3)]
    labels = []
    for i in range(n):
        labels.append(("z", i) @ ~categorical(THIRDS))
        ("x", i) @ ~normal(mu[labels[-1]], 1)


@pytest.mark.parametrize(
    "model", [looked_up_by_what_is_appended, looked_up_by_the_last, in_list], ids=lambda model: model.name
)
@pytest.mark.parametrize("n", [30, 80])
def test_an_iteration_looks_up_by_what_it_has_just_written(model, n):
    """It then reads another entry of mu, and is among those that an edit of that one concerns."""
    trace = model.simulate((n,), rng=1)
    other = trace.whole()
    for step in range(12):
        for values in ({("z", 5): step % 3}, {("mu", step % 3): 0.1 * step}, {("mu", (step + 1) % 3): 1.0}):
            trace, weight, _ = trace.update(values)
            other, expected, _ = other.update(values)
            assert weight == pytest.approx(expected, rel=1e-9, abs=1e-9)
            assert trace.log_prob == pytest.approx(other.log_prob, rel=1e-9)


@pytest.mark.parametrize("model", PLATES, ids=lambda model: model.name)
def test_such_loops_are_plates(model):
    if model.linked is None:
        pytest.skip("the reference runtime has no blocks")
    assert loops_of(model)[-1].is_plain and "chain" not in model.explain()
    if model is not in_dict:  # which has a branch
        assert "kept as columns" in model.explain().split("for i in")[1]


@pytest.mark.parametrize("model", [numbers, narrow, looks_back], ids=lambda model: model.name)
def test_others_are_chains(model):
    assert "chain" in model.explain() or model.linked is None


def test_the_entry_is_named_as_the_user_wrote_it():
    assert "mu at [z[i]]" in in_list.explain() or in_list.is_reference


# --- names that mean something else in a scope inside -----------------------------------------------


@gen
def after_a_loop(n):
    mu = []
    for j in range(n):
        mu.append(("mu", j) @ ~normal(0, 1))
    y = ~normal(sum(mu[j] for j in range(n)), 1)
    for i in range(2):
        ("x", i) @ ~normal(sum([mu[i] for i in range(n)]) + (lambda j: mu[j])(0) if mu else 0.0, 1)
    w = ~normal(sum(mu[len(mu) - 1 - j] for j in range(n)), 1)
    return y + w


@pytest.mark.parametrize("seed", range(8))
def test_the_variable_of_a_comprehension_is_not_that_of_a_loop_before(seed):
    Session(after_a_loop, SIZES, lambda args, rng: SIZES[int(rng.integers(4))]).run(random_edits(seed), seed)


def test_all_that_a_comprehension_looks_up_is_read():
    trace = after_a_loop.simulate((4,), rng=1)
    for j in range(4):
        new = trace.update({("mu", j): 5.0}).trace
        assert new.log_prob == pytest.approx(after_a_loop.assess((4,), new.choices).log_prob)
