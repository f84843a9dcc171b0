"""Chains that find too little memory in the middle of a call: they go on as with enough of it."""

import numpy as np

from gendsl import bernoulli, copy, discrete, gamma, gen, normal, poisson, read, select, transform, write
from gendsl.inference import cycle, involutive, mh, sample
from gendsl.testing import running_on
from tests.compiler.closed_steps import needs_llvm

XS = np.linspace(0, 1, 12)


@gen
def bumps(xs):
    near = np.exp(-(np.subtract.outer(xs, xs) ** 2))
    k = ~poisson(3.0)
    total = np.zeros(len(xs))
    for i in range(k):
        h = ("h", i) @ ~normal(0, 1)
        total = total + h * near[i % len(xs)]
    noise = ~gamma(2.0, 1.0)
    for i in range(len(xs)):
        ("y", i) @ ~normal(total[i], noise)


@gen
def last_one(trace):
    birth = ~bernoulli(0.5 if trace["k"] > 0 else 1.0)
    if birth:
        h = ~normal(0, 1)


@transform
def born_or_dead(model_in, aux_in, *, model_out, aux_out):
    k, birth = read(model_in["k"], discrete), read(aux_in["birth"], discrete)
    write(aux_out["birth"], not birth, discrete)
    if birth:
        write(model_out["k"], k + 1, discrete)
        copy(aux_in["h"], model_out["h", k])
    else:
        write(model_out["k"], k - 1, discrete)
        copy(model_in["h", k - 1], aux_out["h"])


@needs_llvm
def test_steps_are_made_again_with_as_little_room(monkeypatch):
    """What kernels are given once in a call fills a small arena at other steps, if other calls make these."""
    kernel = cycle(involutive(last_one, born_or_dead), mh(select("noise")), mh(select("h")))
    start, _ = bumps.generate((XS,), {("y", i): float(np.sin(6 * x)) for i, x in enumerate(XS)}, rng=1)

    def chain():
        with running_on("native"):
            result = sample(kernel, start, 40, record=["k", "noise"], seed=3, progress=False)
        assert "as machine code" in result.ran[0]
        return [*result["k"], *result["noise"]]

    expected = chain()
    assert max(expected) >= 7
    for words in range(40, 1600, 40):
        monkeypatch.setattr("gendsl.compiler.run.native_state._FIRST_WORDS", words)
        assert chain() == expected, words
