"""The terms that one choice has to do with: of the right size, and what a step decides by as before.

Each step is compared with the interpreter's, which scores whole traces.
"""

import re
from collections import Counter

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    categorical,
    dirichlet,
    factor,
    gamma,
    gen,
    iid,
    mvnormal,
    normal,
    poisson,
    select,
    uniform,
    uniform_discrete,
)
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.errors import GenDSLError
from gendsl.inference import cycle, gibbs, repeat, sample, slice_sampling
from gendsl.inference.compiled import policy
from gendsl.inference.compiled.moves import flattened
from gendsl.testing import running_on
from tests.compiler import chain_programs, grid_programs
from tests.compiler.blanket_programs import program
from tests.compiler.closed_steps import WAYS, FailedText, compared, needs_llvm
from tests.laws.modules import imported

GROUPS = [0, 1, 1, 2, 0, 2, 1, 0, 2, 2]
X = np.linspace(-1, 1, 10)
N, K = 10, 3


# --- models: each choice at ("z", i, ...) is updated --------------------------------------------------------


@gen
def lists(n, k):
    mus = []
    for j in range(k):
        mus.append(("mu", j) @ ~normal(0, 10))
    w = "w" @ ~dirichlet(np.ones(k))
    zs = []
    for i in range(n):
        zs.append(("z", i) @ ~categorical(w))
    for i in range(n):
        ("y", i) @ ~normal(mus[zs[i]], 1.0)


@gen
def comp(n, k):
    mus = np.array([("mu", j) @ ~normal(0, 10) for j in range(k)])
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i, z in enumerate(zs):
        ("y", i) @ ~normal(mus[z], 1.0)


@gen
def arr(n, k):
    mus = np.zeros(k)
    for j in range(k):
        mus[j] = ("mu", j) @ ~normal(0, 10)
    zs = np.zeros(n, dtype=int)
    for i in range(n):
        zs[i] = ("z", i) @ ~categorical([1 / k] * k)
    means = mus[zs]
    for i in range(n):
        ("y", i) @ ~normal(means[i], 1.0)


@gen
def dicts(n, k):
    mus = {j: ("mu", j) @ ~normal(0, 10) for j in range(k)}
    zs = {}
    for i in range(n):
        zs[i] = ("z", i) @ ~categorical([1 / k] * k)
    for i in range(n):
        ("y", i) @ ~normal(mus[zs[i]], 1.0)


@gen
def counts(n, k):
    tally = [0] * k
    for i in range(n):
        z = ("z", i) @ ~categorical([(1 + c) / (k + i) for c in tally])
        tally[z] += 1
        ("y", i) @ ~normal(3 * z, 1.0)


@gen
def counted_after(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    c = np.bincount(np.array(zs), minlength=k)
    for j in range(k):
        ("m", j) @ ~normal(c[j], 1.0)
    for i in range(n):
        ("y", i) @ ~normal(zs[i], 1.0)


@gen
def hmm(n, k):
    z = 0
    for t in range(n):
        p = [0.8 if j == z else 0.2 / (k - 1) for j in range(k)]
        z = ("z", t) @ ~categorical(p)
        ("y", t) @ ~normal(3 * z, 1.0)


@gen
def hmm_list(n, k):
    zs = []
    for t in range(n):
        if t == 0:
            zs.append(("z", 0) @ ~categorical([1 / k] * k))
        else:
            zs.append(("z", t) @ ~categorical([0.8 if j == zs[t - 1] else 0.2 / (k - 1) for j in range(k)]))
    for t in range(n):
        ("y", t) @ ~normal(3 * zs[t], 1.0)


@gen
def point(i, k, mus):
    z = "z" @ ~categorical([1 / k] * k)
    "y" @ ~normal(mus[z], 1.0)
    return z


@gen
def called(n, k):
    mus = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        ("p", i) @ ~point(i, k, mus)


@gen
def data(n, k, mus):
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        ("y", i) @ ~normal(mus[z], 1.0)


@gen
def params(k):
    return [("mu", j) @ ~normal(0, 10) for j in range(k)]


@gen
def nested_call(n, k):
    mus = ~params(k)
    "d" @ ~data(n, k, mus)


def mean_of(mus, z, x):
    return mus[z] + 0.1 * x


@gen
def helper(n, k):
    mus = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        ("y", i) @ ~normal(mean_of(mus, z, X[i]), 1.0)


@gen
def neighbours(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(1, n):
        ("e", i) @ ~factor(1.0 if zs[i] == zs[i - 1] else 0.0)
    for i in range(n):
        ("y", i) @ ~normal(3 * zs[i], 1.0)


@gen
def permuted(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(n):
        ("y", i) @ ~normal(3 * zs[n - 1 - i], 1.0)


@gen
def grouped(n, k):
    zs = [("z", g) @ ~categorical([1 / k] * k) for g in range(3)]
    for i in range(n):
        ("y", i) @ ~normal(3 * zs[GROUPS[i]], 1.0)


@gen
def nested(n, k):
    for g in range(3):
        a = ("a", g) @ ~normal(0, 1)
        for i in range(n):
            z = ("z", g, i) @ ~categorical([1 / k] * k)
            ("y", g, i) @ ~normal(a + z, 1.0)


@gen
def nested_outer(n, k):
    for g in range(3):
        z = ("z", g) @ ~categorical([1 / k] * k)
        for i in range(n):
            ("y", g, i) @ ~normal(3 * z, 1.0)


@gen
def transposed(n, k):
    zs = [[("z", i, j) @ ~bernoulli(0.5) for j in range(4)] for i in range(n)]
    for i in range(n):
        ("y", i) @ ~normal(sum(zs[i]), 1.0)


@gen
def grid(n, k):
    s = np.zeros((4, 5))
    for i in range(4):
        for j in range(5):
            s[i, j] = ("z", i, j) @ ~bernoulli(0.5)
    for i in range(4):
        for j in range(5):
            if i > 0:
                ("v", i, j) @ ~factor(0.7 if s[i, j] == s[i - 1, j] else 0.0)
            if j > 0:
                ("h", i, j) @ ~factor(0.7 if s[i, j] == s[i, j - 1] else 0.0)
            ("y", i, j) @ ~normal(s[i, j], 1.0)


@gen
def structural(n, k):
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.5)
        if z:
            ("b", i) @ ~bernoulli(0.3)
        ("y", i) @ ~normal(3 * z, 1.0)


@gen
def two_ranges(n, k):
    total = 0
    for i in range(4):
        z = ("z", i) @ ~categorical([1 / k] * k)
        ("y", i) @ ~normal(3 * z, 1.0)
    for i in range(4, n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        ("y", i) @ ~normal(2 * z, 1.5)


@gen
def offset(n, k):
    for i in range(n):
        z = ("z", i + 1) @ ~categorical([1 / k] * k)
        ("y", i) @ ~normal(3 * z, 1.0)


@gen
def skipping(n, k):
    for i in range(n):
        if i % 3 == 1:
            ("y", i) @ ~normal(0, 1.0)
            continue
        z = ("z", i) @ ~categorical([1 / k] * k)
        ("y", i) @ ~normal(3 * z, 1.0)


@gen
def passed_on(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    ms = [3 * z + 0.1 for z in zs]
    ss = [m + 1 for m in ms]
    for i in range(n):
        ("y", i) @ ~normal(ss[i], 1.0)


@gen
def alias(n, k):
    zs = []
    other = zs
    for i in range(n):
        other.append(("z", i) @ ~categorical([1 / k] * k))
    zs[2] = 0
    for i in range(n):
        ("y", i) @ ~normal(3 * zs[i], 1.0)


@gen
def last(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(n):
        ("y", i) @ ~normal(3 * zs[i] + zs[-1], 1.0)


@gen
def mean(n, k):
    zs = np.array([("z", i) @ ~categorical([1 / k] * k) for i in range(n)])
    m = zs.mean()
    for i in range(n):
        ("y", i) @ ~normal(3 * zs[i] + m, 1.0)


@gen
def difference(n, k):
    zs = np.array([("z", i) @ ~categorical([1 / k] * k) for i in range(n)])
    d = np.diff(zs)
    for i in range(n - 1):
        ("y", i) @ ~normal(3 * d[i], 1.0)


@gen
def latent(n, k):
    s = "s" @ ~gamma(2, 1)
    for i in range(n):
        z = ("z", i) @ ~normal(0, s)
        ("y", i) @ ~normal(z, 1.0)


@gen
def walk(n, k):
    x = 0.0
    for i in range(n):
        x = ("z", i) @ ~normal(x, 1.0)
        ("y", i) @ ~normal(x, 1.0)


@gen
def ar2(n, k):
    xs = [("z", 0) @ ~normal(0, 1), ("z", 1) @ ~normal(0, 1)]
    for i in range(2, n):
        xs.append(("z", i) @ ~normal(0.5 * xs[i - 1] + 0.2 * xs[i - 2], 1.0))
    for i in range(n):
        ("y", i) @ ~normal(xs[i], 1.0)


@gen
def vectors(n, k):
    for i in range(n):
        z = ("z", i) @ ~iid(normal(0, 1), 3)
        ("y", i) @ ~normal(z.sum(), 1.0)


@gen
def scalar(n, k):
    m = "z" @ ~normal(0, 3)
    s = "s" @ ~gamma(2, 1)
    for i in range(n):
        ("u", i) @ ~normal(0, s)
    for i in range(n):
        ("y", i) @ ~normal(m, s)


@gen
def support(n, k):
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        ("y", i) @ ~uniform(z - 1.5, 8.0)


@gen
def while_loop(n, k):
    i = 0
    while i < n:
        z = ("z", i) @ ~categorical([1 / k] * k)
        ("y", i) @ ~normal(3 * z, 1.0)
        i += 1


@gen
def early(n, k):
    j = "j" @ ~poisson(2)
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        ("y", i) @ ~normal(3 * z, 1.0)
    if j == 0:
        return 0
    for i in range(n):
        ("v", i) @ ~normal(j, 1.0)
    return j


@gen
def sorted_values(n, k):
    zs = [("z", i) @ ~normal(0, 3) for i in range(n)]
    for i, z in enumerate(sorted(zs)):
        ("y", i) @ ~normal(z, 1.0)


@gen
def zipped(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    for i, (z, x) in enumerate(zip(zs, xs, strict=True)):
        ("y", i) @ ~normal(3 * z + x, 1.0)


@gen
def objects(n, k):
    mus = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    groups = [[] for _ in range(k)]
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        groups[z].append(i)
    for j in range(k):
        for i in groups[j]:
            ("y", i) @ ~normal(mus[j], 1.0)


@gen
def mixed_reads(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    first = zs[0]
    for i in range(n):
        ("y", i) @ ~normal(3 * zs[i] + 0.1 * first, 1.0)


@gen
def first_too(n, k):
    first = ("z", 0) @ ~categorical([1 / k] * k)
    for i in range(1, n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        ("y", i) @ ~normal(3 * z + first, 1.0)


@gen
def broken_off(n, k):
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        m = 0.0
        for j in range(k):
            if z == j:
                break
            m = m + X[j]
        ("y", i) @ ~normal(m, 0.1)


@gen
def passed_over(n, k):
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        m = 0.0
        for j in range(k):
            if z == j:
                continue
            m = m + X[j]
        ("y", i) @ ~normal(m, 0.1)


@gen
def other_first(n, k):
    zs = [("z", 99) @ ~categorical([1 / k] * k)]
    for i in range(1, n):
        zs.append(("z", i) @ ~categorical([1 / k] * k))
    for i in range(n):
        ("y", i) @ ~normal(3 * zs[i], 1.0)


@gen
def begun_with(n, k):
    zs = [("z", 0) @ ~categorical([1 / k] * k)]
    for i in range(1, n):
        zs.append(("x", i) @ ~categorical([1 / k] * k))
    for i in range(n):
        ("y", i) @ ~normal(3 * zs[i], 1.0)


@gen
def from_a_choice(n, k):
    z = ("z", 0) @ ~categorical([1 / k] * k)
    ("y", 0) @ ~normal(3 * z, 1.0)
    for i in range(1, n):
        z = ("z", i) @ ~categorical([(1 + (j == z)) / (k + 1) for j in range(k)])
        ("y", i) @ ~normal(3 * z, 1.0)


@gen
def from_another(n, k):
    x = ~categorical([1 / k] * k)
    z = x
    for i in range(n):
        z = ("z", i) @ ~categorical([(1 + (j == z)) / (k + 1) for j in range(k)])
        ("y", i) @ ~normal(3 * z, 1.0)


@gen
def walk_from_a_choice(n, k):
    z = ("z", 0) @ ~normal(0.0, 2.0)
    for i in range(1, n):
        z = ("z", i) @ ~normal(0.5 * z, 1.0)
        ("y", i) @ ~normal(z, 1.0)


@gen
def walk_from_two(n, k):
    a = ("z", 0) @ ~normal(0.0, 2.0)
    b = ("z", 1) @ ~normal(a, 1.0)
    for i in range(2, n):
        a, b = b, ("z", i) @ ~normal(1.2 * b - 0.4 * a, 1.0)
        ("y", i) @ ~normal(b, 1.0)


@gen
def in_the_plane(n, k):
    cov = np.array([[1.0, 0.4], [0.4, 0.8]])
    c = [("c", j) @ ~mvnormal(np.zeros(2), 4 * np.eye(2)) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        ("y", i) @ ~mvnormal(c[z], cov)


@gen
def states_in_the_plane(n, k):
    c = [("c", j) @ ~mvnormal(np.zeros(2), 4 * np.eye(2)) for j in range(k)]
    rows = [("row", j) @ ~dirichlet([1.0] * k) for j in range(k)]
    z = ("z", 0) @ ~categorical([1 / k] * k)
    ("y", 0) @ ~mvnormal(c[z], np.eye(2))
    for i in range(1, n):
        z = ("z", i) @ ~categorical(rows[z])
        ("y", i) @ ~mvnormal(c[z], np.eye(2))


@gen
def addressed(n, k):
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        ("x", i, z) @ ~normal(0, 1.0)


@gen
def in_rows(n, k):
    zs = []
    for g in range(2):
        for i in range(5):
            zs.append(("z", g, i) @ ~categorical([1 / k] * k))
    for i in range(n):
        ("y", i) @ ~normal(3 * zs[i], 1.0)


@gen
def skipped(n, k):
    zs = []
    for i in range(n):
        if i % 3 == 1:
            continue
        zs.append(("z", i) @ ~categorical([1 / k] * k))
    for i in range(len(zs)):
        ("y", i) @ ~normal(3 * zs[i], 1.0)


@gen
def both_lists(n, k):
    zs, xs = [], []
    for i in range(n):
        zs.append(("z", i) @ ~categorical([1 / k] * k))
        xs.append(("x", i) @ ~normal(0, 1.0))
    m = sum(xs)
    for i in range(n):
        ("y", i) @ ~normal(zs[i] * m + xs[i], 1.0)


@gen
def appended_beside(n, k):
    zs, xs = [], []
    for i in range(n):
        zs.append(("z", i) @ ~categorical([1 / k] * k))
        append(xs, ("x", i) @ ~normal(0, 1.0))
    m = sum(xs)
    for i in range(n):
        ("y", i) @ ~normal(zs[i] * m + xs[i], 1.0)


@gen
def longer_array(n, k):
    zs = np.zeros(n + 1, dtype=int)
    for i in range(n):
        zs[i] = ("z", i) @ ~categorical([1 / k] * k)
    for i in range(n + 1):
        ("y", i) @ ~normal(3 * zs[i], 1.0)


def append(values, value):
    values.append(value)


@gen
def appended_to(n, k):
    zs = []
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        append(zs, z)
    for i in range(n):
        ("y", i) @ ~normal(3 * zs[i], 1.0)


@gen
def divided(n, k):
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        ratio = 1 / z
        ("y", i) @ ~normal(3 * z, 1.0)
    return ratio


@gen
def divided_in_a_test(n, k):
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        m = 1.0 if 6 / z > 2.5 else 2.0
        if 6 // z > 2:
            m = 3.0
        ("y", i) @ ~normal(z, 1.0)


@gen
def looked_for(n, k):
    names = [1.0, 2.0, 3.0]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        names[z]
        ("y", i) @ ~normal(z, 1.0)


@gen
def checked(n, k):
    zs = [("z", i) @ ~uniform_discrete(0, 3) for i in range(n)]
    twice = [2 * z for z in zs]
    for i in range(1, n):
        if twice[i - 1] > 5:
            raise ValueError("too many")
        ("y", i) @ ~normal(zs[i], 1.0)


@gen
def branched(n, k):
    a = "a" @ ~bernoulli(0.5)
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        if z == 3:
            rest = 1 / (a - a)
            if a < 2:
                raise ValueError(rest)
        ("y", i) @ ~normal(z, 1.0)


@gen
def branched_twice(n, k):
    a = "a" @ ~bernoulli(0.5)
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        if z == 3:
            b = a + 1
            if b < 9:
                raise ValueError(b)
        ("y", i) @ ~normal(z, 1.0)


@gen
def no_probabilities(n, k):
    z = 0
    for i in range(n):
        p = [0.5, 0.5 - 0.1 * (z > 0)]
        z = ("z", i) @ ~categorical(p)


# --- in two indices, in a ring, and by data ---------------------------------------------------------------


@gen
def array_of_cells(n, k):
    s = np.zeros((n, k))
    for i in range(n):
        for j in range(k):
            t = 0.0
            if i > 0:
                t += s[i - 1, j]
            if j > 0:
                t += s[i, j - 1]
            s[i, j] = ("z", i, j) @ ~bernoulli(0.2 + 0.3 * t)
            ("y", i, j) @ ~normal(s[i, j], 1.0)


@gen
def rows_of_cells(n, k):
    s = [[0] * k for _ in range(n)]
    for i in range(n):
        for j in range(k):
            t = s[i - 1][j] if i > 0 else 0
            s[i][j] = ("z", i, j) @ ~bernoulli(0.2 + 0.3 * t)
    for i in range(n):
        for j in range(k):
            if j + 1 < k:
                ("y", i, j) @ ~normal(0.0 if s[i][j] == s[i][j + 1] else 2.0, 1.0)


@gen
def dict_of_cells(n, k):
    s = {}
    for i in range(n):
        for j in range(k):
            before = [s[at] for at in ((i - 1, j), (i, j - 1)) if at in s]
            s[i, j] = ("z", i, j) @ ~bernoulli(0.2 + 0.3 * sum(before))
            ("y", i, j) @ ~normal(2.0 * s[i, j], 1.0)


@gen
def dict_from_one(n, k):
    s = {}
    for i in range(1, n):
        s[i] = ("z", i) @ ~categorical([1 / k] * k)
    for i in range(n):
        ("y", i) @ ~normal(2.0 * s[i] if i in s else -1.0, 1.0)


@gen
def triangle(n, k):
    s = {}
    for i in range(n):
        for j in range(i, n):
            s[i, j] = ("z", i, j) @ ~bernoulli(0.4)
    for i in range(n):
        for j in range(n):
            ("y", i, j) @ ~normal(2.0 * s[min(i, j), max(i, j)], 1.0)


@gen
def rows_of_other_lengths(n, k):
    s = [[("z", i, j) @ ~bernoulli(0.4) for j in range(i + 1)] for i in range(n)]
    for i in range(n):
        ("y", i) @ ~normal(2.0 * s[i][-1] + s[i][0], 1.0)


@gen
def array_from_one(n, k):
    s = np.zeros((n, k))
    for i in range(1, n):
        for j in range(1, k):
            s[i, j] = ("z", i, j) @ ~bernoulli(0.2 + 0.3 * s[i - 1, j])
    for i in range(n):
        for j in range(k):
            ("y", i, j) @ ~normal(2.0 * s[i, j], 1.0)


@gen
def ring(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(n):
        ("y", i) @ ~normal(1.0 if zs[i] == zs[i - 1] else 0.0, 1.0)


@gen
def pairs(n, k):
    p = np.zeros((k, k))
    for a in range(k):
        for b in range(a + 1):
            p[a, b] = p[b, a] = ("p", a, b) @ ~uniform(0.1, 0.9)
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(n):
        for j in range(i + 1, n):
            ("y", i, j) @ ~bernoulli(p[zs[i], zs[j]])


EDGES = [(0, 1), (1, 1), (4, 2), (9, 0), (2, 7), (0, -1)]


@gen
def edges(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for e, (a, b) in enumerate(EDGES):
        ("y", e) @ ~normal(1.0 if zs[a] == zs[b] else 0.0, 1.0)


@gen
def by_groups(n, k):
    s = ~gamma(2, 1)
    theta = np.array([("z", j) @ ~normal(0, s) for j in range(3)])
    means = theta[np.array(GROUPS)] + X
    for i in range(n):
        ("y", i) @ ~normal(means[i], 1.0)


@gen
def pairs_of_neighbours(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(n):
        if i % 2 == 1:
            continue
        ("y", i) @ ~normal(zs[i // 2] + 0.5 * zs[(3 * i + 1) % n], 1.0)


@gen
def some_chains(n, k):
    for c in range(3):
        last = 0
        for t in range(n):
            last = ("z", c, t) @ ~categorical([0.8, 0.2] if last == 0 else [0.3, 0.7])
            ("y", c, t) @ ~normal(2.0 * last, 1.0)


@gen
def by_last(n, k):
    zs = []
    for t in range(n):
        if t == 0:
            zs.append(("z", t) @ ~categorical([1 / k] * k))
        else:
            zs.append(("z", t) @ ~categorical([0.8 if j == zs[-1] else 0.1 for j in range(3)]))
        ("y", t) @ ~normal(3 * zs[-1], 1.0)


@gen
def one_more(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    zs.append(5)
    for i in range(len(zs)):
        ("y", i) @ ~normal(2.0 * zs[i], 1.0)


@gen
def read_before(n, k):
    zs = np.zeros(n)
    for i in range(n):
        ("x", i) @ ~normal(2.0 * zs[i], 1.0)
    for i in range(n):
        zs[i] = ("z", i) @ ~bernoulli(0.4)
    for i in range(n):
        ("y", i) @ ~normal(2.0 * zs[i], 1.0)


@gen
def asked_before(n, k):
    zs = {}
    a = 1.0 if 2 in zs else 0.0
    for i in range(n):
        zs[i] = ("z", i) @ ~bernoulli(0.4)
    for i in range(n):
        ("y", i) @ ~normal(zs[i] + a, 1.0)


@gen
def other_row(n, k):
    zs = [0] * (n * k)
    for i in range(n):
        for j in range(k):
            zs[i * k + j] = ("z", i, j) @ ~bernoulli(0.4)
    for i in range(n):
        for j in range(k):
            ("y", i, j) @ ~normal(1.0 * zs[i * k + (j - 1)], 1.0)


@gen
def other_row_put(n, k):
    zs = [0] * (n * k + 1)
    for i in range(n):
        for j in range(k):
            zs[i * k + (j + 1)] = ("z", i, j) @ ~bernoulli(0.4)
    for i in range(n):
        for j in range(k):
            ("y", i, j) @ ~normal(1.0 * zs[i * k + j], 1.0)


@gen
def two_axes(n, k):
    s = np.zeros((k, k))
    for i in range(k):
        for j in range(k):
            s[i, j] = ("z", i, j) @ ~bernoulli(0.4)
    for i in range(k):
        for j in range(k):
            ("y", i, j) @ ~normal(s[i, j] + 2 * s[-1, -1], 1.0)


@gen
def turned(n, k):
    s = [[("z", i, j) @ ~bernoulli(0.4) for j in range(k)] for i in range(k)]
    for i in range(k):
        for j in range(k):
            ("y", i, j) @ ~normal(s[i][GROUPS[j]] - 2.0 * s[j][i], 1.0)


@gen
def by_numbers(n, k):
    zs = [("z", i) @ ~bernoulli(0.4) for i in range(n)]
    for e in range(n):
        if X[e] > 0.0:
            t = X[e] * 6.0
            ("y", e) @ ~normal(2.0 * zs[int(t)], 1.0)


@gen
def divided_where_it_may_be(n, k):
    zs = [("z", i) @ ~bernoulli(0.4) for i in range(n)]
    for i in range(n):
        if i > 0:
            ("y", i) @ ~normal(2.0 * zs[6 // i % n] + zs[(i + 3) % i], 1.0)


@gen
def skipped_where_there_is_none(n, k):
    zs = [("z", i) @ ~bernoulli(0.4) for i in range(n)]
    for e in range(2 * n):
        if e >= len(GROUPS):
            continue
        ("y", e) @ ~normal(2.0 * zs[GROUPS[e]], 1.0)


MISSING = [3, 1, 10**9, 0, 2]


@gen
def missing_marks(n, k):
    zs = [("z", i) @ ~bernoulli(0.4) for i in range(n)]
    for e in range(len(MISSING)):
        at = MISSING[e]
        if at < n:
            ("y", e) @ ~normal(2.0 * zs[at], 1.0)


@gen
def far_indices(n, k):
    zs = {}
    for i in range(n):
        zs[3000 + 2 * i] = ("z", 3000 + 2 * i) @ ~bernoulli(0.4)
    for i in range(n):
        ("y", i) @ ~normal(2.0 * zs[3000 + 2 * ((i + 1) % n)], 1.0)


@gen
def read_ahead(n, k):
    s = np.zeros(n + 1)
    for i in range(n):
        s[i] = ("z", i) @ ~bernoulli(0.3 + 0.2 * s[i + 1])
    for i in range(n):
        ("y", i) @ ~normal(2.0 * s[i], 1.0)


@gen
def mirrored(n, k):
    zs = [("z", i) @ ~bernoulli(0.4) for i in range(n + 1)]
    for i in range(n + 1):
        ("y", i) @ ~normal(2.0 * zs[i] + zs[n - i], 3.0)


@gen
def small_rings(n, k):
    for r in range(1, 4):
        zs = [("z", r, i) @ ~bernoulli(0.4) for i in range(r)]
        for i in range(r):
            ("y", r, i) @ ~normal(2.0 * zs[i] + zs[i - 1], 3.0)


@gen
def totals(n, k):
    totals = [0.0]
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        z = ("z", i) @ ~categorical([1 / k] * k)
        ("y", i) @ ~normal(totals[-1] + z, 3.0)
        totals.append(totals[-1] + x)


@gen
def one_of_two_lists(n, k):
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.4)
        p = [0.2 + 0.5 * z, 0.8 - 0.5 * z] if i % 2 == 0 else [0.5, 0.5]
        ("y", i) @ ~categorical(p)


@gen
def dict_up_to(n, k):
    zs = {}
    for i in range(n):
        zs[i] = ("z", i) @ ~bernoulli(0.4)
    for i in range(n + 2):
        mean = -1.0
        if i in zs:
            mean = zs[i]
        ("y", i) @ ~normal(mean, 3.0)


@gen
def pairs_and_a_list(n, k):
    zs = [("z", i) @ ~bernoulli(0.4) for i in range(n)]
    xs = []
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        if i % 2 == 0:
            xs.append(x)
        for j in range(i + 1, n):
            ("y", i, j) @ ~normal(1.0 * zs[i] + zs[j], 3.0)
    least = sorted(xs)[0]
    for i in range(n):
        ("v", i) @ ~normal(zs[i] * least, 3.0)


@gen
def rows_so_far(n, k):
    s = []
    for i in range(n):
        row = []
        for j in range(k):
            row.append(("z", i, j) @ ~bernoulli(0.4))
            ("y", i, j) @ ~normal(row[j] * len(s) + len(row), 3.0)
        s.append(row)
    ("y", n) @ ~normal(s[0][0] * len(s), 3.0)


@gen
def longer_ring(n, k):
    zs = np.zeros(n + 1)
    for i in range(n):
        zs[i] = ("z", i) @ ~bernoulli(0.4)
    for i in range(n + 1):
        ("y", i) @ ~normal(2.0 * zs[i] + zs[i - 1], 3.0)


@gen
def two_before(n, k):
    zs = [("z", i) @ ~bernoulli(0.4) for i in range(n)]
    for i in range(n):
        mean = 2.0 * zs[i]
        if i > 0:
            mean += zs[i - 2]
        ("y", i) @ ~normal(mean, 3.0)


@gen
def carried_in_rows(n, k):
    zs = [("z", i) @ ~bernoulli(0.4) for i in range(n)]
    g = np.zeros((n, k))
    for i in range(n):
        before = 0.0
        for j in range(k):
            g[i, j] = before + zs[i]
            before = zs[j] * 2.0
    for i in range(n):
        for j in range(k):
            ("y", i, j) @ ~normal(g[i][j], 3.0)


def push(values, value, most):
    k = 0
    while k <= most:
        values.append(value + k)
        k += 1


@gen
def pushed_rows(n, k):
    zs = [("z", i) @ ~bernoulli(0.4) for i in range(n)]
    xs = []
    for i in range(n):
        row = []
        push(row, zs[i], 0)
        push(row, zs[0], 2)
        xs.append(row[0] + 2.0 * row[-1] + len(row))
    for i in range(n):
        ("y", i) @ ~normal(xs[i], 3.0)


@gen
def pushed_indices(n, k):
    zs = [("z", i) @ ~bernoulli(0.4) for i in range(n)]
    for i in range(n - 4):
        at = [i]
        push(at, i, 2)
        ("y", i) @ ~normal(2.0 * zs[at[-1]], 3.0)


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


@gen
def changed_objects(n, k):
    zs = [("z", i) @ ~bernoulli(0.4) for i in range(n)]
    xs = [Pair(z * 1.0, 0.0) for z in zs]
    for x in xs:
        x.b = x.a + 1
    for x in xs:
        x.a = x.a + x.b
    "y" @ ~normal(sum(x.a for x in xs), 3.0)


@gen
def changed_pairs(n, k):
    zs = [("z", i) @ ~bernoulli(0.4) for i in range(n)]
    xs = []
    for i in range(n):
        xs.append((zs[i] * 1.0, [2.0, zs[i] * 1.0]))
    for i in range(n):
        s, values = xs[n - 1 - i]
        values[1] = values[1] + s
    total = 0.0
    for _, values in xs:
        total += values[1]
    "y" @ ~normal(total, 3.0)


@gen
def set_after(n, k):
    s = np.zeros((n, k))
    for i in range(n):
        for j in range(k):
            s[i, j] = ("z", i, j) @ ~bernoulli(0.4)
    s[1, 1] = 7.0
    for i in range(n):
        for j in range(k):
            ("y", i, j) @ ~normal(s[i, j], 1.0)


@gen
def summed_before(n, k):
    total = 0
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        total += z
        ("y", i) @ ~normal(total, 1.0)


ROWS = [[0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.6, 0.1, 0.3]]


@gen
def first_is_none(n, k):
    s = None
    for t in range(n):
        if s is None:
            s = ("z", t) @ ~categorical([1 / k] * k)
        else:
            s = ("z", t) @ ~categorical(ROWS[s])
        ("y", t) @ ~normal(2.0 * s, 1.0)


@gen
def first_of_a_dict(n, k):
    s = {}
    for t in range(n):
        p = [1 / k] * k if t == 0 else ROWS[s[t - 1]]
        s[t] = ("z", t) @ ~categorical(p)
        ("y", t) @ ~normal(2.0 * s[t], 1.0)


@gen
def first_of_a_list(n, k):
    s = []
    for t in range(n):
        if t == 0:
            s.append(("z", t) @ ~categorical([1 / k] * k))
        else:
            s.append(("z", t) @ ~categorical(ROWS[s[-1]]))
        ("y", t) @ ~normal(2.0 * s[t], 1.0)


@gen
def rows_made_anew(n, k):
    """The row of the state before is made by a comprehension, in a branch."""
    s = {}
    for t in range(n):
        p = [1 / k] * k if t == 0 else [0.6 if j == s[t - 1] else 0.4 / (k - 1) for j in range(k)]
        s[t] = ("z", t) @ ~categorical(p)
        ("y", t) @ ~normal(2.0 * s[t], 1.0)


@gen
def row_of_the_last(n, k):
    """A row has the name of the one that counts only where the iteration comes so far."""
    row = [1 / k] * k
    for t in range(n):
        s = ("z", t) @ ~categorical([1 / k] * k)
        made = [0.6 if j == s else 0.4 / (k - 1) for j in range(k)]
        if t % 3 == 2:
            continue
        row = made
        ("y", t) @ ~normal(row[0] + s, 1.0)
    ("y", n) @ ~normal(row[1], 1.0)


@gen
def neighbours_by_zip(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i, (a, b) in enumerate(zip(zs, zs[1:])):  # noqa: B905, RUF007
        ("y", i) @ ~normal(a - b, 1.0)


@gen
def backwards(n, k):
    zs = [0] * n
    for t in range(n - 1, -1, -1):
        zs[t] = ("z", t) @ ~categorical(ROWS[zs[t + 1]] if t < n - 1 else [1 / k] * k)
        ("y", t) @ ~normal(2.0 * zs[t], 1.0)


@gen
def backwards_in_an_array(n, k):
    x = np.zeros(n + 1)
    for t in reversed(range(n)):
        x[t] = ("z", t) @ ~normal(0.8 * x[t + 1], 0.5)
    for t in range(n):
        ("y", t) @ ~normal(x[t] - 0.3 * x[t + 1], 1.0)


@gen
def filled_from_the_end(n, k):
    """The first and the last item are none of the choices."""
    zs = [2] * (n + 2)
    for i in range(n):
        zs[n - i] = ("z", i) @ ~categorical([1 / k] * k)
    for i in range(n + 1):
        ("y", i) @ ~normal(zs[i] - 2.0 * zs[i + 1], 1.0)


@gen
def filled_twice_over(n, k):
    """An index of the end that may be another item's, as it is negative."""
    zs = [0] * n
    for i in range(n):
        zs[2 - i] = ("z", i) @ ~categorical([1 / k] * k)
    for i in range(n):
        ("y", i) @ ~normal(zs[i], 1.0)


@gen
def filled_behind(n, k):
    """The first three are the last items."""
    zs = [0] * n
    for i in range(n):
        zs[i - 3] = ("z", i) @ ~categorical([1 / k] * k)
    for i in range(n):
        ("y", i) @ ~normal(zs[i], 1.0)


@gen
def rows_filled_behind(n, k):
    zs = [[0] * k for _ in range(n)]
    for i in range(n):
        for j in range(k):
            zs[i - 1][j - 1] = ("z", i, j) @ ~categorical([1 / k] * k)
    for i in range(n):
        ("y", i) @ ~normal(zs[i][0] - 2 * zs[i][k - 1], 1.0)


@gen
def all_but_the_first(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    rest = zs[2:]
    for i in range(n - 2):
        ("y", i) @ ~normal(zs[i] - 2 * rest[i], 1.0)
    ("y", n) @ ~normal(rest[-1], 1.0)


@gen
def while_states(n, k):
    t, s = 0, 0
    while t < n:
        s = ("z", t) @ ~categorical(ROWS[s])
        ("y", t) @ ~normal(2.0 * s, 1.0)
        t += 1


@gen
def while_walk(n, k):
    x, t = 0.0, 0
    while True:
        if t >= n:
            break
        x = ("z", t) @ ~normal(0.9 * x, 0.5)
        t = 1 + t
        ("y", t) @ ~normal(x, 1.0)


@gen
def list_or_row(n, k):
    """The first probabilities are a list, and the others rows of arrays."""
    rows = [("row", s) @ ~dirichlet([2.0 if r == s else 1.0 for r in range(k)]) for s in range(k)]
    z = []
    for t in range(n):
        s = ("z", t) @ ~categorical(rows[z[t - 1]] if t > 0 else [1 / k] * k)
        z.append(s)
    for t in range(n):
        ("y", t) @ ~normal(2.0 * z[t], 1.0)


@gen
def as_many_groups(n, k):
    theta = []
    for g in range(max(GROUPS[:n]) + 1):
        theta.append(("z", g) @ ~normal(0, 2))
    for i in range(n):
        ("y", i) @ ~normal(theta[GROUPS[i]], 1.0)


@gen
def last_group(n, k):
    last = 0
    for i in range(n):
        last = last if GROUPS[i] < last else GROUPS[i]
    theta = [("z", g) @ ~normal(0, 2) for g in range(last + 1)]
    for i in range(n):
        ("y", i) @ ~normal(theta[GROUPS[i]], 1.0)


NEAR = [[1, 4], [0, 2, 5], [1], [], [0, 5, 5], [1, 4, 6], [5, 7, 9], [6, 8], [7], [6, -10]]
"""The sites near a site: one twice, and one counted from the end."""


@gen
def near(n, k):
    zs = []
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        zs.append(z)
    for i in range(n):
        ("y", i) @ ~normal(sum(zs[j] for j in NEAR[i]) - 0.5 * zs[i], 1.0)


@gen
def near_of_those_near(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(n):
        total = 0.0
        for j in NEAR[i]:
            for other in NEAR[j]:
                total += zs[other] * (1 + zs[j])
        ("y", i) @ ~normal(total, 1.0)


@gen
def some_of_those_near(n, k):
    """What decides which they are is data."""
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(n):
        if X[i] > 0.9:
            continue
        total = 0.0
        for j in NEAR[i]:
            if GROUPS[j] == 1:
                continue
            if GROUPS[j] == 2 and X[j] > 0:
                break
            total += X[j] * zs[j]
        ("y", i) @ ~normal(total, 1.0)


@gen
def those_near_where_it_is_one(n, k):
    """What decides it is a choice."""
    w = "w" @ ~bernoulli(0.5)
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(n):
        total = 0.0
        for j in NEAR[i][: 1 + w]:
            total += zs[j]
        ("y", i) @ ~normal(total, 1.0)


@gen
def means_of_those_near(n, k):
    x = np.zeros(n)
    for i in range(n):
        x[i] = ("z", i) @ ~normal(0.0, 1.0)
    for i in range(n):
        ("y", i) @ ~normal(np.mean([x[j] for j in [i, *NEAR[i]]]), 1.0)


@gen
def sums_of_three(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(n - 2):
        ("y", i) @ ~normal(sum(zs[i : i + 3]), 1.0)


@gen
def lagged(n, k):
    x = []
    for t in range(n):
        m = 0.0
        for lag in range(1, 4):
            if t - lag >= 0:
                m += 0.3 * x[t - lag]
        x.append(("z", t) @ ~normal(m, 1.0))
        ("y", t) @ ~normal(x[t], 0.5)


@gen
def halved_indices(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(n):
        total, j = 0, i
        while j > 0:
            total += zs[j]
            j = j // 2
        ("y", i) @ ~normal(total, 1.0)


@gen
def halved(n, k):
    """A loop within one of whose iterations few run: it ends in those that run for nothing, too."""
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        m, j = 0.0, i
        while j > 0:
            m += 0.1 * z
            j = j // 2
        ("y", i) @ ~normal(m, 1.0)


@gen
def walk_of_vectors(n, k):
    x = "x" @ ~mvnormal(np.zeros(2), np.eye(2))
    for t in range(n):
        x = ("z", t) @ ~mvnormal(np.array([[0.9, 0.1], [0.0, 0.8]]) @ x, 0.3 * np.eye(2))
        ("y", t) @ ~normal(x[0] - x[1], 0.5)


@gen
def vectors_changed(n, k):
    """What an iteration leaves is not what the trace has."""
    x = np.zeros(2)
    for t in range(n):
        x = ("z", t) @ ~mvnormal(0.9 * x, np.eye(2))
        ("y", t) @ ~normal(x[0] - x[1], 0.5)
        x = np.array(x)
        x[0] = 2.0 * x[1]


PARENTS = [-1, 0, 0, 1, 1, 2, 5, 5, 4, 0]


@gen
def parents(n, k):
    """The value at a parent is read of the array that is being filled."""
    x = np.zeros(n)
    for i in range(n):
        x[i] = ("z", i) @ ~normal(x[PARENTS[i]] if PARENTS[i] >= 0 else 0.5, 0.5)
        ("y", i) @ ~normal(x[i], 1.0)


@gen
def some_not_there_yet(n, k):
    x = np.ones(n)
    for i in range(n):
        before, after = x[(7 * i) % n], 0.0
        x[i] = ("z", i) @ ~normal(0.3 * before, 0.5)
        after = x[(3 * i + 1) % n]
        ("y", i) @ ~normal(after + before, 1.0)


@gen
def in_a_list_of_before(n, k):
    zs = []
    for i in range(n):
        odds = 1.0
        for j in NEAR[i]:
            if 0 <= j < i:
                odds += 2.0 * zs[j]
        zs.append(("z", i) @ ~bernoulli(odds / (1.0 + odds)))
    for i in range(n):
        ("y", i) @ ~normal(zs[i], 1.0)


@gen
def factors(n, k):
    u, v = np.zeros((n, 2)), np.zeros((k, 2))
    for i in range(n):
        for d in range(2):
            u[i, d] = ("z", i, d) @ ~normal(0, 1)
    for j in range(k):
        for d in range(2):
            v[j, d] = ("v", j, d) @ ~normal(0, 1)
    for e in range(2 * n):
        ("y", e) @ ~normal(u[(3 * e) % n] @ v[e % k], 0.5)


@gen
def windows(n, k):
    x = np.zeros(n)
    for i in range(n):
        x[i] = ("z", i) @ ~normal(0, 1)
    for i in range(n - 2):
        ("y", i) @ ~normal(x[i : i + 3].mean() - x[i : i + 2].max(), 0.5)


LONGER = [*GROUPS, 1]


@gen
def last_for_the_first(n, k):
    """What the program itself asks of an index is not whether it is negative."""
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    f = []
    for i in range(n):
        f.append(zs[LONGER[i]])
    for i in range(n):
        ("y", i) @ ~normal(f[-1 if i == 0 else i - 1], 1.0)


@gen
def least_or_last(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    f = []
    for i in range(n):
        f.append(zs[LONGER[i]])
    for i in range(n):
        ("y", i) @ ~normal(f[max(i - 2, -1)], 1.0)


@gen
def less_where_it_is_not_negative(n, k):
    """What is asked is not the index itself."""
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    f = []
    for i in range(n):
        f.append(zs[LONGER[i]])
    for i in range(n):
        j = GROUPS[i] - 1
        ("y", i) @ ~normal(f[0 if j < 0 else j - 2], 1.0)


@gen
def more_where_it_is_negative(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    f = []
    for i in range(n):
        f.append(zs[LONGER[i]])
    for i in range(n):
        j = GROUPS[i] - 3
        ("y", i) @ ~normal(f[j + 1 if j < 0 else j], 1.0)


@gen
def indices_in_a_dict(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    chosen = {}
    for i in range(n):
        chosen[i] = (i + zs[i]) % n
    for i in range(n):
        ("y", i) @ ~normal(zs[chosen[GROUPS[i]]], 1.0)


@gen
def indices_in_dicts_of_a_list(n, k):
    """What changes one of the dicts does so by another name."""
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    every = [{0: i} for i in range(n)]
    for i in range(n):
        one = every[i]
        one[0] = (i + zs[i]) % n
    for i in range(n):
        other = every[GROUPS[i]]
        ("y", i) @ ~normal(zs[other[0]], 1.0)


@gen
def those_near_up_to_a_two(n, k):
    """A choice says where a loop over those near ends."""
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(n):
        total = 0.0
        for j in NEAR[i]:
            if zs[j] == 2:
                break
            total += 1.5 * zs[j] - 1.0
        ("y", i) @ ~normal(total, 1.0)


@gen
def shifted(n, k):
    """Which choices are read depends on another one."""
    w, by = ("w" @ ~bernoulli(0.5)), 0
    if w:
        by = 1
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(n):
        ("y", i) @ ~normal(0.3 * zs[(3 * i + by) % n], 1.0)


@gen
def shifted_in_a_loop(n, k):
    w, by = ("w" @ ~bernoulli(0.5)), 0
    for i in range(k):
        if w and GROUPS[i] != 1:
            by += 1
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(n):
        ("y", i) @ ~normal(0.3 * zs[(3 * i + by) % n], 1.0)


@gen
def last_where_it_is_zero(n, k):
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    f = []
    for i in range(n):
        f.append(zs[LONGER[i]])
    for i in range(n):
        ("y", i) @ ~normal(f[-1 if zs[i] == 0 else i], 1.0)


NAMES = ["rain", "wind", "snow", "cold", "wet", "dry", "dark", "light", "hot", "mild"]
CAUSES = {name: [NAMES[j] for j in range(i) if (3 * i + j) % 4 == 1] for i, name in enumerate(NAMES)}


@gen
def by_names(n, k):
    x = {}
    for name in NAMES[:n]:
        score = -1.0
        for other in CAUSES[name]:
            score += 1.2 if x[other] else -0.3
        x[name] = ("z", name) @ ~bernoulli(1 / (1 + np.exp(-score)))
        ("y", name) @ ~normal(1.5 * x[name], 1.0)


@gen
def some_by_names(n, k):
    """Only those that data say are in the dict."""
    x = {}
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.4)
        if GROUPS[i] == 0:
            x[i] = z
    for i in range(n):
        if GROUPS[i] == 0:
            ("y", i) @ ~normal(1.5 * x[i] - x[0], 1.0)


@gen
def by_names_of_choices(n, k):
    """Which name is looked up is a choice."""
    x = {}
    for name in NAMES[:n]:
        x[name] = ("z", name) @ ~bernoulli(0.4)
    at = ~uniform_discrete(0, n - 1)
    for i in range(n):
        ("y", i) @ ~normal(x[NAMES[at]] + 2 * x[NAMES[i]], 1.0)


@gen
def put_twice(n, k):
    """An item is not the choice any more."""
    x = {}
    for name in NAMES[:n]:
        x[name] = ("z", name) @ ~bernoulli(0.4)
    for name in NAMES[1:n]:
        x[name] = 1 - x[name]
    for name in NAMES[:n]:
        ("y", name) @ ~normal(1.5 * x[name], 1.0)


@gen
def passed_over_for_one(n, k):
    """What is read at one index ends the iteration before another one is read."""
    zs = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(n):
        ("a", i) @ ~normal(zs[PARENTS[i]] if PARENTS[i] >= 0 else 0.5, 1.0)
        if X[i] > 0.2:
            continue
        ("y", i) @ ~normal(zs[PARENTS[i]] - zs[GROUPS[i]], 0.5)


# --- tests --------------------------------------------------------------------------------------------------

PARTS = [
    broken_off, passed_over, lists, comp, arr, hmm, hmm_list, helper, neighbours, nested, nested_outer,
    two_ranges, offset, skipping, passed_on, difference, support, early, zipped, latent, walk, ar2, vectors,
    scalar, both_lists, dicts, permuted, grouped, transposed, grid, last, longer_array, array_of_cells,
    rows_of_cells, dict_of_cells, dict_from_one, rows_of_other_lengths, array_from_one, ring, pairs, edges,
    by_groups, pairs_of_neighbours, some_chains, by_last, by_numbers, missing_marks,
    two_axes, turned, mirrored, small_rings, one_of_two_lists, dict_up_to, longer_ring,
    two_before, changed_objects, changed_pairs, other_first, begun_with, from_a_choice, from_another,
    walk_from_a_choice, walk_from_two, in_the_plane, states_in_the_plane,
    backwards, backwards_in_an_array, filled_from_the_end, rows_made_anew, neighbours_by_zip,
    all_but_the_first,
    first_is_none, first_of_a_dict, first_of_a_list, while_loop, while_states, while_walk,
    as_many_groups, last_group, list_or_row,
    near, near_of_those_near, some_of_those_near, means_of_those_near, sums_of_three, lagged, halved_indices,
    halved, walk_of_vectors, triangle, divided_where_it_may_be, skipped_where_there_is_none, pairs_and_a_list,
    parents, some_not_there_yet, in_a_list_of_before, factors, windows, last_for_the_first, least_or_last,
    by_names, some_by_names, passed_over_for_one, less_where_it_is_not_negative, more_where_it_is_negative,
    shifted,
]  # fmt: skip
"""The models of which terms are left out, or iterations."""
WHOLE = [
    first_too, addressed, in_rows, skipped, appended_beside, appended_to, counts,
    counted_after, structural, alias, mean, objects, mixed_reads, sorted_values,
    summed_before, one_more, set_after, read_before, asked_before, other_row, other_row_put,
    far_indices, read_ahead, totals, those_near_where_it_is_one, vectors_changed, last_where_it_is_zero,
    by_names_of_choices, put_twice, indices_in_a_dict, indices_in_dicts_of_a_list,
    those_near_up_to_a_two, shifted_in_a_loop,
    rows_so_far, carried_in_rows, pushed_rows, pushed_indices, row_of_the_last,
    filled_twice_over, filled_behind, rows_filled_behind,
]  # fmt: skip
"""Those of which all is scored: what a choice is read for is not known, or it may be anything."""
CONTINUOUS = {
    while_walk, backwards_in_an_array, latent, walk, walk_from_a_choice, walk_from_two, ar2,
    vectors, scalar, sorted_values, by_groups, as_many_groups, last_group, means_of_those_near, lagged,
    walk_of_vectors, vectors_changed, parents, some_not_there_yet, factors, windows,
}  # fmt: skip
SELECTED = {called: select(("p", ..., "z")), nested_call: select(("d", "z"))}


def updating(model):
    """A kernel that updates the choices of a model, and a trace that has observations."""
    first = model.simulate((N, K), rng=3)
    seen = {address: x for address, x in first.choices.items() if is_seen(address)}
    trace = model.generate((N, K), seen, rng=4).trace
    target = SELECTED.get(model, select("z"))
    return (slice_sampling if model in CONTINUOUS else gibbs)(target), trace


def is_seen(address):
    parts = address if isinstance(address, tuple) else (address,)
    return bool({"y", "m", "v"} & {part for part in parts if isinstance(part, str)})


def closed_of(kernel, trace):
    (part,) = flattened(kernel).parts
    return ClosedKernel(trace.gen_fn, trace.args, [part.move])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", [*PARTS, *WHOLE, *SELECTED], ids=lambda one: one.name)
def test_steps_are_those_of_the_interpreter(model, way):
    kernel, trace = updating(model)
    closed = closed_of(kernel, trace)
    assert closed.scores_parts == (model not in WHOLE)
    found = Counter(what for what, *_ in compared(way, closed, trace, kernel, 6))
    assert found == {"raises" if model in (structural, addressed) else "accepted": 6}


@needs_llvm
@pytest.mark.parametrize("model", [shifted, shifted_in_a_loop], ids=lambda one: one.name)
def test_an_index_of_iterations_is_made_of_data_alone(model):
    """What other kernels change in the same run would not be seen in it."""
    _, trace = updating(model)
    kernel, found = cycle(gibbs("w"), gibbs("z")), {}
    record = ["w", *(("z", i) for i in range(N))]
    for runtime in ("reference", "native", "python"):
        with running_on(runtime):
            run = sample(kernel, trace, 60, record=record, seed=1, progress=False)
        found[runtime] = [np.asarray(run[name]).tolist() for name in ("w", ("z", 0), ("z", N - 1))]
    assert 5 < sum(found["reference"][0]) < 55
    assert found["native"] == found["python"] == found["reference"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seeds", [range(8), range(8, 16)], ids=["some", "more"])
def test_random_programs(seeds, way):
    parts = 0
    for seed in seeds:
        with imported(program(seed)) as module:
            model = module.model
            first = model.simulate((7, K), rng=seed)
            seen = {at: x for at, x in first.choices.items() if str(at).lstrip("('").startswith("y")}
            trace = model.generate((7, K), seen, rng=seed + 1).trace
            closed = closed_of(gibbs("z"), trace)
            found = {what for what, *_ in compared(way, closed, trace, gibbs("z"), 3)}
        assert found == {"accepted"}, program(seed)
        parts += closed.scores_parts
    assert parts >= 5


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seeds", [range(10), range(10, 20)], ids=["some", "more"])
def test_random_programs_of_rows_pairs_and_data(seeds, way):
    parts = 0
    for seed in seeds:
        with imported(grid_programs.program(seed)) as module:
            rng = np.random.default_rng(seed)
            n, m = rng.integers(2, 5, 2).tolist()
            size = n * m
            args = n, m, rng.integers(-size, size, 7).tolist(), rng.integers(0, size, (6, 2)).tolist()
            first = module.model.simulate(args, rng=seed)
            seen = {at: x for at, x in first.choices.items() if str(at).lstrip("('").startswith("y")}
            trace = module.model.generate(args, seen, rng=seed + 1).trace
            closed = closed_of(gibbs("z"), trace)
            found = {what for what, *_ in compared(way, closed, trace, gibbs("z"), 3)}
        assert found == {"accepted"}, grid_programs.program(seed)
        parts += closed.scores_parts
    assert parts >= 8


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seeds", [range(8), range(8, 16)], ids=["some", "more"])
def test_random_chains(seeds, way):
    rows = [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.1, 0.1, 0.8]]
    args = 7, rows, np.array([[1.0, 0.4], [0.4, 0.8]])
    for seed in seeds:
        text, has_states = chain_programs.program(seed)
        with imported(text) as module:
            first = module.model.simulate(args, rng=seed)
            seen = {at: x for at, x in first.choices.items() if at[0] == "y"}
            trace = module.model.generate(args, seen, rng=seed + 1).trace
            selected = "w" if ("w",) in trace.choices and seed % 2 else "z"
            kernel = (gibbs if has_states else slice_sampling)(selected)
            closed = closed_of(kernel, trace)
            found = {what for what, *_ in compared(way, closed, trace, kernel, 3)}
        assert closed.scores_parts and found == {"accepted"}, text


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "model",
    [divided, divided_in_a_test, looked_for, checked, branched, branched_twice, no_probabilities],
    ids=lambda one: one.name,
)
def test_what_fails_for_another_value_is_found(model, way):
    """Though no term needs it: the interpreter raises an error there, in the first step."""
    start = {("z", i): 0 if model is no_probabilities else 1 for i in range(N)}
    trace = model.generate((N, K), start, rng=2).trace
    trace = model.generate((N, K), {}, init=dict(trace.choices.items()), rng=2).trace
    closed = closed_of(gibbs("z"), trace)
    assert closed.scores_parts
    with pytest.raises((ZeroDivisionError, IndexError, ValueError, GenDSLError)):
        gibbs("z")(trace, np.random.default_rng(1))
    with pytest.raises(FailedText):
        way(closed, trace, np.random.default_rng(1)).step()


def test_the_terms_of_the_current_trace_are_found_once_in_an_update():
    """They are kept until the update of another choice begins; not beside kernels that move several."""
    kernel, trace = updating(hmm)
    for every, once in (([kernel], True), ([kernel, gibbs(select(("z", 1), ("z", 2)), block=True)], False)):
        parts = [part.move for one in every for part in flattened(one).parts]
        text = ClosedKernel(hmm, trace.args, parts).text
        (weight,) = re.findall(r"^def log_weight_of_z\(.*?(?=^def )", text, re.S | re.M)
        assert weight.count("hmm_of_z(") == 2
        assert ("if isnan(lp_before):\n        lp_before = hmm_of_z(" in weight) == once


# --- the distribution of a choice is found without those before it ------------------------------------------


@pytest.mark.parametrize(
    "model",
    [lists, arr, hmm, skipping, called, nested_call, first_is_none, first_of_a_dict, while_states],
    ids=lambda one: one.name,
)
def test_the_distribution_of_a_choice_needs_one_iteration(model):
    kernel, trace = updating(model)
    text = kernel.source_of("step", trace)
    start = text.index("def distribution_of_")
    made = text[start : text.index("\ndef ", start + 1)]
    assert "in range(n)" not in made and "distribution of" in made


@pytest.mark.parametrize("model", [first_of_a_dict, rows_made_anew, while_states], ids=lambda one: one.name)
def test_a_part_has_no_loop_that_only_looks_for_failures(model):
    """The trace has been scored: a key that is there for all iterations is not looked for again."""
    kernel, trace = updating(model)
    made = kernel.source_of("step", trace).partition(f"def {model.name}_of_z(")[2].partition("\ndef ")[0]
    assert "state.z.look(at0)" in made and "in range(n)" not in made


@gen
def carried_on(n):
    """What is left to the next iteration is not set in all of them."""
    z = 0
    for i in range(n):
        if i % 3 == 2:
            continue
        z = ("z", i) @ ~categorical([0.2 + 0.1 * z, 0.8 - 0.1 * z])


@gen
def counted_on(n):
    """What is left is computed from what was left."""
    total = 0
    for i in range(n):
        z = ("z", i) @ ~categorical([0.5, 0.5] if total % 2 else [0.3, 0.3, 0.4])
        total += z


@gen
def listed_on(n):
    """The same by a list."""
    totals = [0]
    for i in range(n):
        z = ("z", i) @ ~categorical([0.5, 0.5] if totals[i] % 2 else [0.3, 0.3, 0.4])
        totals.append(totals[i] + z)


@gen
def left_behind(n):
    """What a loop has set is read behind it."""
    z = 0
    for i in range(4):
        z = ("z", i) @ ~categorical([0.3, 0.3, 0.4])
    for i in range(4, n):
        ("z", i) @ ~categorical([0.5, 0.5] if z else [0.3, 0.3, 0.4])


@gen
def two_left(n):
    """What is left by the iteration before the last."""
    a, b = 1, 0
    for i in range(n):
        p = [0.5, 0.5] if (a + 2 * b) % 3 else [0.3, 0.3, 0.4]
        a, b = b, ("z", i) @ ~categorical(p)


@gen
def left_by_a_branch(n):
    """What the iteration before has left depends on what that was left."""
    first, z = None, 0
    for i in range(n):
        p = [0.5, 0.5] if first is None or z == 1 else [0.3, 0.3, 0.4]
        if first is None:
            first = z = ("z", i) @ ~categorical(p)
        else:
            z = 1 - ("z", i) @ ~categorical(p) % 2
            first = 7


@gen
def later_numbers(n):
    """The number in the address is not that of the iteration, and two items before are read."""
    zs = [("z", 0) @ ~categorical([0.5, 0.5]), ("z", 1) @ ~categorical([0.5, 0.5])]
    for i in range(2, n):
        both = zs[i - 1] + 2 * zs[i - 2]
        zs.append(("z", i) @ ~categorical([0.5, 0.5] if both % 3 else [0.3, 0.3, 0.4]))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "model",
    [carried_on, counted_on, listed_on, left_behind, later_numbers, two_left, left_by_a_branch],
    ids=lambda one: one.name,
)
def test_what_an_iteration_is_left(model, way):
    trace = model.simulate((9,), rng=2)
    closed = closed_of(gibbs("z"), trace)
    assert {what for what, *_ in compared(way, closed, trace, gibbs("z"), 40)} == {"accepted"}


# --- chains -------------------------------------------------------------------------------------------------


def labels(n):
    first = lists.simulate((n, K), rng=1)
    seen = {("y", i): first["y", i] for i in range(n)}
    return lists.generate((n, K), seen, rng=2).trace


@needs_llvm
def test_sweeps_over_many_labels_run_as_machine_code(monkeypatch):
    monkeypatch.setattr(policy, "wanted", lambda: "")
    trace, kernel = labels(1500), repeat(gibbs("z"), 2)
    decided = policy.decide(kernel, trace, np.random.default_rng(1), 10**4, 2, {})
    assert decided.machine is not None and decided.machine.closed.scores_parts
    whole = policy.decide(gibbs("z"), whole_of(3000), np.random.default_rng(1), 10**4, 1, {})
    assert whole.machine is None and whole.reason == policy.FEW_DEPEND


def whole_of(n):
    """A trace of a model whose choices all have to do with each."""
    first = far_apart.simulate((n,), rng=1)
    seen = {at: first[at] for at in first.choices if at[0] == "y"}
    return far_apart.generate((n,), seen, rng=2).trace


@gen
def far_apart(n):
    zs = []
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / 3] * 3)
        if i % 3 != 1:
            zs.append(z)
    for i in range(len(zs)):
        ("y", i) @ ~normal(zs[i], 1.0)


def log_prob(trace):
    return trace.log_prob


RECORDED = {"z": "z", "log_prob": log_prob}


@needs_llvm
def test_long_sweeps_are_the_same_chain():
    found = {}
    for runtime in ("native", "compiled"):
        with running_on(runtime):
            found[runtime] = sample(gibbs("z"), labels(150), 40, record=RECORDED, seed=3, progress=False)
    np.testing.assert_array_equal(found["native"]["z"], found["compiled"]["z"])
    np.testing.assert_allclose(found["native"]["log_prob"], found["compiled"]["log_prob"], rtol=1e-11)
    assert found["native"].ran == ["as machine code"]


def test_ties_are_those_of_parts():
    """A decision by whole log densities, in a function of its own, is not taken for one by parts."""
    trace = labels(20)
    assert "lp_ = 0.001 * lp_" in gibbs("z").source_of("step", trace)
    whole = gibbs(select(*(("z", i) for i in range(3))), block=True).source_of("step", trace)
    assert "0.001" not in whole
