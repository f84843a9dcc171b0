"""Idiomatic programs as type checkers see them: nothing here may be an error, and nothing may be unknown.

mypy reads this file with the package (`files` in setup.cfg), pyright by `test_idioms.py`. Every line whose
mistake is expected says `type: ignore`; both checkers complain about such a comment that isn't needed.
"""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np

from gendsl import (
    Trace,
    bernoulli,
    choicemap,
    dirichlet,
    gen,
    iid,
    mixture_of_normals,
    normal,
    poisson,
    sample,
    select,
    uniform_discrete,
)
from gendsl.inference import Run, cycle, mh

Array = np.ndarray[Any, np.dtype[Any]]


@gen
def subtree(depth: int) -> float:
    return 1.0


@gen
def model(n: int) -> float:
    k = ~uniform_discrete(1, 4)
    assert_type(k + 1, int)
    means = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    assert_type(means, list[float])
    scale: float = ~normal(0, 1)
    count: int = ~poisson(3)
    flag: bool = ~bernoulli(0.5)
    assert_type("flag" @ ~bernoulli(0.5), bool)
    assert_type(("z", 0) @ ~poisson(1), int)
    assert_type({("z", 1)} @ ~poisson(1), int)
    {("z", 2)} @ ~poisson(1)
    weights = ~dirichlet([1.0] * k)
    assert_type(weights.sum() + 1.0, Any)
    assert_type("w" @ ~iid(normal(0, 1), 3), Array)
    noise: dict[int, float] = {}
    for i in range(n):
        noise[i] = ~normal(0, scale)
        ("x", i) @ ~mixture_of_normals(weights, means, [1.0] * k)
    more: int = ~(1 + poisson(1))
    left = "left" @ ~subtree(count)
    whole: float = ... @ ~subtree(more)
    words: str = ~normal(0, 1)  # type: ignore[assignment]
    text: str = ("y", 0) @ ~normal(0, 1)  # type: ignore[assignment]
    number: int = "u" @ ~normal(0, 1)  # type: ignore[assignment]
    del words, text, number
    return sum(means) + whole + left if flag else 0.0


def use() -> None:
    trace, weight = model.generate((3,), {"x": [0.0, 1.0, 2.0]}, init={"k": 1}, rng=1)
    assert_type(trace, Trace)
    assert_type(weight, float)
    new, log_weight, discard = trace.update(choicemap({("mu", 0): 1.0}))
    assert_type(log_weight, float)
    assert_type(trace.project(select("mu")), float)
    assert_type(sample(cycle(mh(select("mu")), mh(select("k"))), new, 10, seed=1), Run)
    del discard
