"""The terms that one choice has to do with: of the right size, and what a step decides by as before.

Each step is compared with the interpreter's, which scores whole traces.
"""

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
    normal,
    poisson,
    select,
    uniform,
    uniform_discrete,
)
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.errors import GenDSLError
from gendsl.inference import gibbs, repeat, sample, slice_sampling
from gendsl.inference.compiled import policy
from gendsl.inference.compiled.moves import flattened
from gendsl.testing import running_on
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


# --- tests --------------------------------------------------------------------------------------------------

PARTS = [
    broken_off, passed_over, lists, comp, arr, hmm, hmm_list, helper, neighbours, nested, nested_outer,
    two_ranges, offset, skipping, passed_on, difference, support, early, zipped, latent, walk, ar2, vectors,
    scalar, both_lists,
]  # fmt: skip
"""The models of which terms are left out, or iterations."""
WHOLE = [
    first_too, other_first, begun_with, addressed, in_rows, skipped, longer_array, appended_beside,
    appended_to, dicts, counts, counted_after, permuted, grouped, transposed, grid, structural, alias, last,
    mean, while_loop, objects, mixed_reads, sorted_values,
]  # fmt: skip
"""Those of which all is scored: what a choice is read for is not known, or it may be anything."""
CONTINUOUS = {latent, walk, ar2, vectors, scalar, sorted_values}
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
    assert parts >= 6


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


# --- the distribution of a choice is found without those before it ------------------------------------------


@pytest.mark.parametrize("model", [lists, arr, hmm, skipping, called, nested_call], ids=lambda one: one.name)
def test_the_distribution_of_a_choice_needs_one_iteration(model):
    kernel, trace = updating(model)
    text = kernel.source_of("step", trace)
    start = text.index("def distribution_of_")
    made = text[start : text.index("\ndef ", start + 1)]
    assert "in range(n)" not in made and "distribution of" in made


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
def later_numbers(n):
    """The number in the address is not that of the iteration, and two items before are read."""
    zs = [("z", 0) @ ~categorical([0.5, 0.5]), ("z", 1) @ ~categorical([0.5, 0.5])]
    for i in range(2, n):
        both = zs[i - 1] + 2 * zs[i - 2]
        zs.append(("z", i) @ ~categorical([0.5, 0.5] if both % 3 else [0.3, 0.3, 0.4]))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "model", [carried_on, counted_on, listed_on, left_behind, later_numbers], ids=lambda one: one.name
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
    seen = {("y", i): first["y", i] for i in range(n)}
    return far_apart.generate((n,), seen, rng=2).trace


@gen
def far_apart(n):
    zs = [("z", i) @ ~categorical([1 / 3] * 3) for i in range(n)]
    for i in range(n):
        ("y", i) @ ~normal(zs[n - 1 - i], 1.0)


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
