"""The default runtime and the reference interpreter agree, after any sequence of edits.

They do so on programs that hypothesis writes, on those of the tests and on the models of the examples.

GENDSL_LONG=1 runs thousands of cases.
"""

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from gendsl.runtime import column_loops, filled, small
from tests.laws.edits import GENERATED_ARGS, Session, edits, random_edits, vary_generated
from tests.laws.modules import imported
from tests.laws.source_text import programs, random_source
from tests.programs import PROGRAMS

LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")
EXAMPLES = Path(__file__).parent.parent.parent / "examples"
MODELS = {
    "galaxies.clusters": ((8,), (9,), (0,)),
    "one_or_two_means.one_or_two": ((6,), (5,), (0,)),
    "birth_death.clusters": ((5,), (6,), (1,)),
    "polar.point": ((),),
    "coal.step_function": ((),),
    "coal.disasters": ((),),
}


@pytest.mark.slow
@settings(
    max_examples=5000 if LONG else 40, derandomize=True, deadline=None, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(programs(), st.integers(0, len(GENERATED_ARGS) - 1), st.integers(0, 999), edits())
def test_generated_programs(text, first, start, steps):
    note(text)
    with imported(text) as module:
        pool = GENERATED_ARGS[first:] + GENERATED_ARGS[:first]
        Session(module.program, pool, vary_generated).run(steps, start)


@pytest.mark.parametrize("block", range(160 if LONG else 8))
def test_programs_written_at_random(block, monkeypatch):
    """The same without hypothesis, which likes small programs: these are as long as chance makes them.

    In every other block, traces of up to ten choices are executed whole; in some of the others, loops are
    columns wherever they can be, and are edited at once, beside groups of statements with up to six choices,
    and containers that are computed are followed entry by entry.
    """
    if block % 4 == 2:
        monkeypatch.setattr(column_loops, "LEAST", 2)
        monkeypatch.setattr(column_loops, "MANY", 1)
        for name, value in (("LEAST", 1), ("PART", 0), ("ASKED", 0)):
            monkeypatch.setattr(filled, name, value)
        monkeypatch.setattr(small, "CHOICES", 6)
        monkeypatch.setattr(small, "may_be_small", lambda compiled: False)
    if block % 2:
        monkeypatch.setattr(small, "CHOICES", 10)
        monkeypatch.setattr(small, "may_be_small", lambda compiled: not small.is_forced())
    for seed in range(15 * block, 15 * (block + 1)):
        with imported(random_source(seed)) as module:
            pool = GENERATED_ARGS[seed % 4 :] + GENERATED_ARGS[: seed % 4]
            Session(module.program, pool, vary_generated).run(random_edits(seed, 32 if LONG else 16), seed)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_programs_of_the_tests(program):
    for seed in range(200 if LONG else 12):
        Session(program.model, program.args).run(random_edits(seed), seed)


@pytest.fixture
def example(request, monkeypatch):
    """A model of an example, from a module that is imported in the usual way."""
    module_name, name = request.param.split(".")
    spec = importlib.util.spec_from_file_location(f"agreement_{module_name}", EXAMPLES / f"{module_name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return getattr(module, name), MODELS[request.param]


@pytest.mark.slow
@pytest.mark.parametrize("example", MODELS, indirect=True)
def test_models_of_the_examples(example):
    model, pool = example
    for seed in range(200 if LONG else 12):
        Session(model, pool).run(random_edits(seed), seed)
