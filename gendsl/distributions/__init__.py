"""Every distribution, by name; what is listed here is public, everything else may change."""

from gendsl.distributions.arithmetic import affine
from gendsl.distributions.base import Distribution
from gendsl.distributions.bounded import (
    beta,
    beta_uniform,
    flat,
    piecewise_uniform,
    truncated_normal,
    uniform,
)
from gendsl.distributions.compound import iid, product
from gendsl.distributions.discrete import (
    bernoulli,
    binom,
    categorical,
    geometric,
    neg_binom,
    poisson,
    uniform_discrete,
)
from gendsl.distributions.factors import factor
from gendsl.distributions.location_scale import cauchy, laplace, normal, student_t, von_mises
from gendsl.distributions.matrices import inv_wishart, lkj, wishart
from gendsl.distributions.mixtures import mixture, mixture_of_normals
from gendsl.distributions.multivariate import dirichlet, multinomial, mvnormal
from gendsl.distributions.order_statistics import ordered
from gendsl.distributions.positive import (
    exponential,
    gamma,
    half_cauchy,
    half_normal,
    half_student_t,
    inv_gamma,
    log_normal,
)
from gendsl.distributions.scipy_frozen import as_distribution

__all__ = [
    "Distribution",
    "affine",
    "as_distribution",
    "bernoulli",
    "beta",
    "beta_uniform",
    "binom",
    "categorical",
    "cauchy",
    "dirichlet",
    "exponential",
    "factor",
    "flat",
    "gamma",
    "geometric",
    "half_cauchy",
    "half_normal",
    "half_student_t",
    "iid",
    "inv_gamma",
    "inv_wishart",
    "laplace",
    "lkj",
    "log_normal",
    "mixture",
    "mixture_of_normals",
    "multinomial",
    "mvnormal",
    "neg_binom",
    "normal",
    "ordered",
    "piecewise_uniform",
    "poisson",
    "product",
    "student_t",
    "truncated_normal",
    "uniform",
    "uniform_discrete",
    "von_mises",
    "wishart",
]
