"""Every law on programs that hypothesis writes."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, note, settings

from gendsl.testing.laws import LAWS
from tests.laws.generated import loaded, sources

pytestmark = pytest.mark.usefixtures("runtime")


@pytest.mark.slow
@settings(
    max_examples=25, derandomize=True, deadline=None, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(sources())
def test_generated_programs_obey_the_laws(texts):
    note(texts[0])
    with loaded(texts) as program:
        assume(all(len(program.model.simulate(args, rng=1).choices) < 300 for args in program.args))
        for number, law in enumerate(LAWS):
            note(law.__name__)
            rng = np.random.default_rng(number)
            trace = program.model.simulate(program.args[number % len(program.args)], rng=rng)
            law(program, trace, rng)
