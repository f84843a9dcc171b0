"""Programs in the words of statisticians and of NumPy mean on both runtimes the same."""

import numpy as np
import pytest

from gendsl import bernoulli, gen, normal
from tests.laws.edits import Session, random_edits

PROGRAMS = {}


def written(*sizes):
    """Register a program, with the sizes that it is run at."""

    def register(model):
        PROGRAMS[model.name] = model, [(n,) for n in sizes or (3, 2, 5)]
        return model

    return register


# --- several entries of an array at once ------------------------------------------------------------


@written()
@gen
def new_axes(n):
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    x = np.array([a, b])
    whole = x[None]
    ("first", 0) @ ~normal(whole.sum() + x[...].max(), 1)
    differences = x[:, None] - x[None, :]
    ("second", 0) @ ~normal((differences**2).sum() + x[1,] + x[(0,)], 1)


@written(3, 60, 1)
@gen
def masks_and_groups(n):
    mu = np.zeros(n)
    for j in range(n):
        mu[j] = ~normal(0, 2)
    groups = np.arange(2 * n) % n
    means = mu[groups]
    for i in range(2 * n):
        ("x", i) @ ~normal(means[i], 1)
    y = ~normal(mu[mu > 0].sum() + mu[[0, -1]].mean() + mu[None].max(), 1)
    return mu[:, None].shape, y


@written(3, 2)
@gen
def cells_of_rows(n):
    cells = np.zeros((n, 2))
    a = ~normal(0, 1)
    for i in range(n):
        cells[i] = [a * i, ("b", i) @ ~normal(0, 1)]
    ("y", 0) @ ~normal(cells[1, 0] + cells[0][1], 1)
    ("y", 1) @ ~normal(cells[:, 1].sum() - cells[-1, -1], 1)
    return cells


@written(3, 1, 60)
@gen
def entries_so_far(n):
    x = np.zeros(n + 2)
    for i in range(n):
        x[i] = ~normal(x[[i, -1]].sum() + x[x > 1].sum() + x[None].min(), 1)
    return x[0,]


@written()
@gen
def truth_as_index(n):
    listed = [("m", j) @ ~normal(0, 3) for j in range(2)]
    filled = np.zeros(2)
    for j in range(2):
        filled[j] = listed[j] * 2
    z = ~bernoulli(0.5)
    ("x", 0) @ ~normal(listed[z], 1)
    ("x", 1) @ ~normal(filled[z].sum() + np.array(listed)[z].sum(), 1)
    return filled[z].shape


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(4))
def test_both_runtimes_agree(name, seed):
    model, args = PROGRAMS[name]

    def vary(before, rng):
        return args[int(rng.integers(len(args)))]

    Session(model, [args[seed % len(args)], *args], vary).run(random_edits(seed), seed)
