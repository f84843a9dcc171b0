"""What is known of the values of gendsl's own distributions before a body runs."""

from __future__ import annotations

from typing import Any

import gendsl.distributions as d

SCALARS: frozenset[Any] = frozenset((
    d.bernoulli, d.beta, d.beta_uniform, d.binom, d.categorical, d.cauchy, d.exponential, d.flat, d.gamma,
    d.geometric, d.half_cauchy, d.half_normal, d.half_student_t, d.inv_gamma, d.laplace, d.log_normal,
    d.mixture_of_normals, d.neg_binom, d.normal, d.piecewise_uniform, d.poisson, d.student_t,
    d.truncated_normal, d.uniform, d.uniform_discrete, d.von_mises,
))  # fmt: skip
"""The distributions whose values are numbers."""
INTEGERS: frozenset[Any] = frozenset((
    d.binom, d.categorical, d.geometric, d.neg_binom, d.poisson, d.uniform_discrete,
))  # fmt: skip
"""Those whose values are integers."""
ARRAYS: frozenset[Any] = frozenset((d.dirichlet, d.inv_wishart, d.lkj, d.multinomial, d.mvnormal, d.wishart))
"""Those whose values are arrays."""


def is_in(value: Any, values: frozenset[Any]) -> bool:
    """Whether something is one of some distributions."""
    return isinstance(value, type) and value in values
