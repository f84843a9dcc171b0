"""Random sequences of edits of random programs lead where they do on the reference runtime.

GENDSL_LONG=1 makes thousands.
"""

import os

import pytest

from gendsl.testing import running_on
from tests.conformance.comparing import STEPWISE
from tests.laws.edits import GENERATED_ARGS, Session, random_edits, vary_generated
from tests.laws.modules import imported
from tests.laws.source_text import random_source
from tests.programs import PROGRAMS

LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")


@pytest.mark.parametrize("runtime", STEPWISE[1:])
@pytest.mark.parametrize("block", range(100 if LONG else 1))
def test_random_programs(block, runtime):
    """Other programs than those of tests/laws."""
    for seed in range(100_000 + 20 * block, 100_000 + 20 * (block + 1)):
        pool = GENERATED_ARGS[seed % 4 :] + GENERATED_ARGS[: seed % 4]
        with running_on(runtime), imported(random_source(seed)) as module:
            Session(module.program, pool, vary_generated).run(random_edits(seed, 12), seed)


@pytest.mark.parametrize("runtime", STEPWISE[1:])
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_programs_of_the_tests(program, runtime):
    with running_on(runtime):
        for seed in range(100, 300 if LONG else 102):
            Session(program.model, program.args).run(random_edits(seed), seed)
