"""Kernels that go through many addresses, one by one as they are named, as machine code."""

import numpy as np
import pytest

from gendsl import categorical, gen, normal, sample, select
from gendsl.inference import elliptical_slice, gibbs, repeat, single_site, slice_sampling
from gendsl.testing import running_on
from tests.compiler.closed_steps import needs_llvm

N = 30
RECORDED = [(name, i) for name in "zwu" for i in range(N)]


@gen
def model(descending):
    mu = ~normal(0, 5)
    order = range(N - 1, -1, -1) if descending else range(N)
    for i in order:
        z = ("z", i) @ ~categorical([0.2, 0.3, 0.5])
        ("y", i) @ ~normal(mu + 0.5 * z, 1)
    for i in order:
        ("w", i) @ ~normal(0, 1)
        ("u", i) @ ~normal(0, 1)


def each(name, numbers):
    return [(name, i) for i in numbers]


KERNELS = [
    gibbs(select(*each("z", range(N)))),
    gibbs(select(*each("z", range(2, N + 9))), skip_absent=True),
    gibbs(select(*each("z", range(9, N)), ("z", 2), ("z", 1), *each("z", range(3, 8)))),
    gibbs(select(*each("z", [7 * i % N for i in range(N)]))),
    gibbs(select(*each("z", range(N))), scan="random"),
    slice_sampling(select(*each("w", range(N)), "mu", *each("u", range(3, N)))),
    elliptical_slice(select(*each("w", range(N)), *each("u", range(3)))),
    single_site(select(*each("w", range(N)), *each("z", range(4, N)))),
]


@needs_llvm
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=range(len(KERNELS)))
def test_same_chain(kernel, descending):
    start = model.simulate((descending,), rng=1)
    runs = {}
    for runtime in ("reference", "native"):
        with running_on(runtime):
            runs[runtime] = sample(repeat(kernel, 5), start, 8, record=["mu", *RECORDED], seed=2)
    assert runs["native"].ran == ["as machine code"]
    moved = 0
    for name in ["mu", *RECORDED]:
        expected, found = (np.array(runs[one][name]) for one in ("reference", "native"))
        assert np.allclose(found, expected, rtol=1e-9)
        moved += len(np.unique(found)) > 1
    assert moved >= 10


@gen
def nested(depth):
    for j in range(3):
        ("z", j) @ ~categorical([0.2, 0.3, 0.5])
    for i in range(20 if depth == 0 else 1 if depth == 1 else 0):
        ("c", i) @ ~nested(depth + 1)


@needs_llvm
@pytest.mark.filterwarnings("error")
def test_the_integers_of_calls_are_not_taken_for_those_of_choices():
    start, runs, names = nested.simulate((0,), rng=1), [], [("c", 7, "z", 2), ("c", 19, "z", 0)]
    kernel = gibbs(select(*[("c", i) for i in range(20)]), skip_absent=True)
    for runtime in ("reference", "native"):
        with running_on(runtime):
            runs.append(sample(kernel, start, 5, record=names, seed=1))
    for name in names:
        assert list(runs[0][name]) == list(runs[1][name])
