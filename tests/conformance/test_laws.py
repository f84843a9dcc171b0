"""Every law on every hand-written program."""

import numpy as np
import pytest

from gendsl.testing.laws import LAWS
from tests.programs import PROGRAMS

pytestmark = pytest.mark.usefixtures("runtime")


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_law(program, law):
    for seed in range(6):
        rng = np.random.default_rng([seed, 1])
        trace = program.model.simulate(program.args[seed % len(program.args)], rng=rng)
        law(program, trace, rng)
