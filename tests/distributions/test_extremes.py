"""Densities at parameters and values near the ends of the floats, and derivatives of those that lose digits.

The expected numbers are those of the textbook formulas, in as many digits as their terms have (200 and more).
"""

import math

import numpy as np
import pytest
from autograd import elementwise_grad
from autograd.test_util import check_grads

from gendsl import (
    beta,
    beta_uniform,
    cauchy,
    gamma,
    half_cauchy,
    inv_gamma,
    neg_binom,
    student_t,
    truncated_normal,
    von_mises,
)
from gendsl.distributions.columns import MADE, score_columns, total_columns
from gendsl.distributions.made import partials

INF = math.inf

DENSITIES = [
    (gamma(5e-324, 1.0), 1e-300, -53.66454402316756),
    (gamma(5e-324, 10.0), 103742.6, -11130.24974003163),
    (gamma(5e-324, 1000000000000000.0), 5e-324, 3.012399831378605e-182),
    (inv_gamma(5e-324, 0.16), 1e16, -781.281433409286),
    (inv_gamma(1e-310, 1.3e-07), 220000000.0, -733.0105169324708),
    (inv_gamma(4395426466.97, 5e-324), 167991.4, -3418215784792.175),
    (beta(7599.0, 5e-324), 0.76, -2828.1841092077157),
    (beta(300.0, 3.3e-309), 0.45, -948.4608354350457),
    (beta(1e-312, 2.0), 1e-10, -695.3806980843033),
    (beta_uniform(0.3, 1e-310, 110000.0), 1e-320, 21.821889258727136),
    (neg_binom(1e-310, 0.28), 0, -1.2729656758129e-310),
    (neg_binom(5e-324, 0.5), 3, -747.6181257517292),
    (student_t(1e-310, 0.0, 0.1), 111474.9, -726.1160807411472),
    (student_t(5e-324, 0.0, 1.0), 0.5, -744.4400719213812),
    (student_t(1e-300, -1.5, 618288.0), 6e305, -1395.5488879111856),
    (student_t(1000000000.0, 0.0, 1e200), 4.5e199, -461.5372071323548),
    (cauchy(0.0, 5e-324), 0.36, -743.5414993121667),
    (cauchy(0.0, 1e-300), -1e300, -2073.4713135804905),
    (half_cauchy(5e-324), 1961.8, -760.0548900229312),
    (half_cauchy(0.09), 1.7e308, -1422.3132021003978),
    (von_mises(1000000000.0, 2.0), 0.3, -0.7383266736655847),
    (von_mises(-1e16, 300.0), -1.0, -202.73805062444893),
    (von_mises(1e300, 5.0), 1.5, -9.425230394272345),
    (von_mises(-0.46, 1.7e308), -0.46, 353.94447991340945),
    (von_mises(3.2, 1000000000000.0), 1.0, -1588501117242.4492),
    (von_mises(3.2, 1000000000000.0), -3.0, -3457902963.885938),
    (truncated_normal(0.0, 1.0, 0.3, 0.300001), 0.3000002, 13.815510647935662),
    (truncated_normal(0.0, 1.0, 1000000.0, 1000000.000001), 1000000.0000002, 14.074179749021704),
    (truncated_normal(0.0, 1.0, -1000000.000001, -1000000.0), -1000000.0000002, 14.074179749021704),
    (truncated_normal(0.0, 1.0, 100000000.0, INF), 100000000.00000001, 16.9305646245676),
    (truncated_normal(0.0, 1.0, 40.0, 50.0), 40.1, -0.31549651945094154),
    (truncated_normal(0.0, 1.0, -INF, -40.0), -40.1, -0.31549651945094154),
    (
        truncated_normal(1000000000.0, 0.001, 1000000000.0, 1000000000.00001),
        1000000000.000001,
        11.511584611141506,
    ),
    (truncated_normal(0.0, 0.001, 1000000000000.0, 2000000000000.0), 1000000000000.0, 41.44653167389282),
    (truncated_normal(0.5, 2.0, -1.0, INF), 0.2, -1.366341446926253),
    (truncated_normal(0.0, 1.0, 0.0, 1e-323), 5e-324, 743.7469247408213),
]


def parameters_of(law):
    return tuple(getattr(law, name) for name in law.parameters)


@pytest.mark.parametrize(("law", "x", "expected"), DENSITIES, ids=lambda value: repr(value)[:60])
def test_one_density_however_it_is_computed(law, x, expected):
    family, parameters = type(law), parameters_of(law)
    xs = np.full(40, x, dtype=int if family is neg_binom else float)
    same = lambda value: pytest.approx(value, rel=1e-9, abs=1e-9)
    assert law.logpdf(x) == same(expected)
    with np.errstate(all="ignore"):
        assert family.elementwise(xs, *parameters) == same(expected)
        columns = tuple(np.full(40, parameter) for parameter in parameters)
        assert family.elementwise(xs, *columns) == same(expected)
    for given in (parameters, columns):
        assert score_columns(family, xs, given) == same(expected)
        assert total_columns(family, xs, given) == same(40 * expected)
        assert total_columns(family, xs[:3], tuple(np.resize(p, 3) for p in given)) == same(3 * expected)


DERIVATIVES = [
    (
        truncated_normal(0.0, 1.0, 0.3, 0.300001),
        0.3000002,
        [
            -0.3000002,
            -2.9999997500858505e-07,
            -1.8000027833845936e-07,
            1000000.1499714185,
            -999999.8499709185,
        ],
    ),
    (
        truncated_normal(0.0, 1.0, 1000000.0, 1000000.000001),
        1000000.0000002,
        [
            -1000000.0000002,
            -2.1802434923278963e-07,
            -0.43604869846579336,
            1581969.696464305,
            -581969.696463887,
        ],
    ),
    (
        truncated_normal(0.0, 1.0, -INF, -1000.0),
        -1000.0002,
        [1000.0002, 0.000799998000060204, -1.5999979601104082, 0.0, -1000.000999998],
    ),
    (
        truncated_normal(0.0, 1.0, 100000000.0, INF),
        100000000.00000001,
        [-100000000.00000001, 4.9011611938476585e-09, 0.9802322387695317, 100000000.00000001, 0.0],
    ),
    (
        truncated_normal(0.0, 1.0, 12.0, 12.3),
        12.1,
        [-12.1, 0.02558253077025621, 0.6141485193407373, 12.3982779695553, -0.32386050032555636],
    ),
    (
        truncated_normal(0.5, 2.0, -1.0, 4.0),
        0.2,
        [0.075, -0.22149949580623046, -0.23180778714619144, 0.20532653220588476, -0.05882703639965429],
    ),
    (
        truncated_normal(0.5, 1.0, 45.0, 45.3),
        45.1,
        [-44.6, 0.077551182367601, 6.911047954207413, 44.522516613796085, -6.779616368222314e-05],
    ),
    (von_mises(1000000000.0, 2.0), 0.3, [0.5477031432259662, -0.5477031432259662, 0.26399730914935055]),
    (von_mises(0.3001, 100000000.0), 0.3, [9999.999983332233, -9999.999983332233, 1.6667768131516373e-17]),
    (
        student_t(1000000000.0, 0.0, 1.3),
        1.0,
        [-0.591715976572949, 4.583260388982314e-19, 0.591715976572949, -0.3140646334054238],
    ),
    (student_t(0.001, 0.0, 1e-10), 1e200, [-1.001e-200, 512.8109272176362, 1.001e-200, 10000000.0]),
    (cauchy(0.0, 1e-200), 1.0, [-2.0, 2.0, 1e200]),
    (half_cauchy(1e-180), 2.0, [-1.0, 1e180]),
    (beta(1000000000.0, 2.0), 0.999999998, [500000014.6146096, -5.745843964624864e-17, 0.27036287419069754]),
    (gamma(1000000000.0, 1.0), 1000030000.0, [-3.000009999700009e-05, 3.0000050008999882e-05, 30000.0]),
    (
        inv_gamma(1000000000.0, 1.0),
        1.00003e-09,
        [-29999200050903.72, -2.9999050008905764e-05, 29999.100026905242],
    ),
]


@pytest.mark.parametrize(("law", "x", "expected"), DERIVATIVES, ids=lambda value: repr(value)[:60])
def test_derivatives_keep_their_digits(law, x, expected):
    """With respect to the value and to each parameter."""
    family, arguments = type(law), [x, *parameters_of(law)]
    for i, wanted in enumerate(expected):
        size = abs(arguments[i])
        same = pytest.approx(wanted, rel=1e-6, abs=1e-13 / size if size else 0.0)
        if (
            max(map(abs, arguments[1:])) < 1e155
            and x < 1e100
            and min(filter(None, map(abs, arguments))) > 1e-155
        ):
            with np.errstate(all="ignore"):
                assert elementwise_grad(family.elementwise, i)(*arguments) == same, i
        if family not in MADE:
            continue
        for given in (arguments, [np.full(3, argument) for argument in arguments]):
            with np.errstate(all="ignore"):
                assert partials(family, given, [i])[1] == same, i


INTERVALS = [
    (0.5, 2.0, -1.0, 4.0), (0.5, 2.0, 1.0, 1.01), (0.5, 2.0, 5.0, 9.0), (0.5, 2.0, -9.0, -6.0),
    (0.3, 1.5, 60.0, 62.0), (0.3, 1.5, -62.0, -60.0),
]  # fmt: skip


@pytest.mark.parametrize("interval", INTERVALS)
def test_intervals_of_every_kind_have_two_derivatives(interval):
    x = interval[2] + 0.3 * (interval[3] - interval[2])
    check_grads(truncated_normal.elementwise, modes=["rev"], order=2)(x, *interval)
    kinds = [np.array(column) for column in zip(*INTERVALS, strict=True)]
    xs = kinds[2] + 0.3 * (kinds[3] - kinds[2])
    check_grads(truncated_normal.elementwise, modes=["rev"])(xs, *kinds)
    expected = [truncated_normal(*each).logpdf(x) for x, *each in zip(xs.tolist(), *kinds, strict=True)]
    assert truncated_normal.elementwise(xs, *kinds) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_half_infinite_intervals_have_two_derivatives():
    for low, high in ((2.0, INF), (-INF, -2.0), (-1.0, INF), (-INF, INF)):
        x = 2.5 if low == 2.0 else -2.5 if high < 0.0 else 0.5
        check_grads(lambda x, m, s: truncated_normal.elementwise(x, m, s, low, high), modes=["rev"], order=2)(
            x, 0.3, 1.7
        )
        ends = (low, high) if low > -INF else (high, low)
        if abs(ends[0]) < INF:
            along = lambda end: truncated_normal.elementwise(
                x, 0.3, 1.7, *((end, high) if low > -INF else (low, end))
            )
            check_grads(along, modes=["rev"], order=2)(ends[0])


def test_far_and_near_means_of_angles_have_two_derivatives():
    for kappa in (0.7, 20.0, 2e4):
        check_grads(von_mises.elementwise, modes=["rev"], order=2)(0.3, 7.1, kappa)
