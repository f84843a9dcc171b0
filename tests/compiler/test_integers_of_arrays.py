"""What functions of NumPy give for integers: integers, where NumPy computes with these, else floats."""

import numpy as np
import pytest

from gendsl import gen, normal, uniform_discrete
from tests.compiler.closed_outcomes import outcome


@gen
def used(look):
    k = ~uniform_discrete(0, 2)
    found = look(k, np.array([[1, k], [2, 3]]))
    is_whole = isinstance(found, (int, np.integer))
    y = ~normal(float(found) + (3.0 if is_whole else 5.0), 1)


LOOKS = {
    "dot": lambda k, m: np.dot([1, k], [2, 3]),
    "product with a vector": lambda k, m: (m @ np.array([1, k]))[0],
    "product from the left": lambda k, m: (np.array([1, k]) @ m)[1],
    "product of matrices": lambda k, m: (m @ m)[0, 1],
    "product with floats": lambda k, m: (m @ np.array([1.0, k]))[0],
    "dot with truth values": lambda k, m: np.dot(np.array([True, False]), np.array([k, 2])),
    "vdot": lambda k, m: np.vdot([1, k], [2, 3]),
    "inner": lambda k, m: np.inner([1, k], [2, 3]),
    "trace": lambda k, m: np.trace(m),
    "trace of a column": lambda k, m: np.trace(m[:, :1]),
    "trace as an index": lambda k, m: [1.0, 2.0, 3.0, 4.0, 5.0][np.trace(m)],
    "matrix_power": lambda k, m: np.linalg.matrix_power(m, 3)[0, 1],
    "inverse power": lambda k, m: 1.0 if k == 1 else np.linalg.matrix_power(m * 1.0, -1)[0, 0],
    "polyval": lambda k, m: np.polyval([1, 2, k], 3),
    "polyval of a float": lambda k, m: np.polyval([1, 2, k], 3.0),
    "kron": lambda k, m: np.kron(m, m).sum(),
    "cross": lambda k, m: np.cross([1, k, 2], [2, 3, 4])[0],
    "vander": lambda k, m: np.vander([1, k, 2])[1, 0],
    "convolve": lambda k, m: np.convolve([1, k], [2, 3])[1],
    "floor": lambda k, m: np.floor(k),
    "ceil of entries": lambda k, m: np.ceil(m)[0, 1],
    "trunc": lambda k, m: np.trunc(np.array([k]))[0],
    "rint": lambda k, m: np.rint(k),
    "rint of entries": lambda k, m: np.rint(m)[0, 1],
    "floor_divide": lambda k, m: np.floor_divide(m, 2)[1, 1],
    "floor_divide of floats": lambda k, m: np.floor_divide(k + 0.5, 2),
    "bits": lambda k, m: np.bitwise_or(k, 4) + np.bitwise_xor(k, 1) + np.bitwise_and(m, 1)[1, 1],
    "shifts": lambda k, m: np.left_shift(m, 2)[1, 1] + np.right_shift(k, 1),
}


@pytest.mark.parametrize("name", LOOKS)
def test_kinds_and_values(name):
    for seed in range(5):
        assert outcome(used, (LOOKS[name],), rng=seed) == "equal"


def test_integers_that_floats_may_round_are_left_to_the_interpreter():
    found = outcome(used, (lambda k, m: np.polyval([2**26, 2**26, k], 2**26) % 1000,))
    assert found.startswith("failed") and "no integer below 2 ** 53" in found
