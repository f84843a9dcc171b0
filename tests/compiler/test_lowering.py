"""Bodies that change values in place: what can't be followed is executed whole, and nothing is wrong."""

import os
import re

import pytest

from gendsl import errors, gen, normal
from tests.compiler.shared_values import ALONE, SHARED
from tests.laws.edits import GENERATED_ARGS, Session, random_edits, vary_generated
from tests.laws.expressions import HEADER
from tests.laws.modules import imported


def programs(text):
    """The programs of a text, each with its first comment as its name."""
    found = [part.partition("\n") for part in re.split(r"(?m)^# ", text)[1:]]
    return [pytest.param(body, id=name) for name, _, body in found]


def agree(model, seeds):
    """Both runtimes agree after random edits."""
    for seed in seeds:
        pool = GENERATED_ARGS[seed % 4 :] + GENERATED_ARGS[: seed % 4]
        Session(model, pool, vary_generated).run(random_edits(seed, 5), seed)


@pytest.mark.parametrize("text", programs(SHARED))
def test_shared_values(text):
    with imported(HEADER + text) as module:
        agree(module.program, range(2))


@pytest.mark.parametrize("text", programs(ALONE))
def test_values_of_the_bodys_own_are_followed(text):
    with imported(HEADER + text) as module:
        assert module.program.compiled.program.opaque is None
        agree(module.program, range(2))


@pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME") == "reference", reason="the reference runtime changes the list"
)
def test_a_list_that_an_argument_may_be_is_not_changed_behind_it():
    @gen
    def model(start):
        total = start
        total += "step" @ ~normal(0, 1)
        return total

    assert type(model.simulate((1.5,), rng=1).retval) is float
    with pytest.raises(errors.ValueTypeError, match=r"write `total = total \.\.\.` with an operator"):
        model.simulate(([],), rng=1)
