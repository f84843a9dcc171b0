"""Bodies that change values in place: what can't be followed is executed whole, and nothing is wrong."""

import re

import numpy as np
import pytest

from gendsl import gen, normal
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


def test_a_list_that_an_argument_may_be_is_not_changed_behind_it():
    @gen
    def model(start):
        total = start
        total += "step" @ ~normal(0, 1)
        return total, start

    assert type(model.simulate((1.5,), rng=1).retval[0]) is float
    assert model.compiled.program.opaque is None
    trace = model.simulate((np.zeros(2),), rng=1)
    assert trace.retval[0][1] == trace.retval[1][1] == trace["step"] and trace.args[0][1] == 0
    again = trace.update({"step": 2.0}).trace
    assert again.retval[0][1] == 2.0 and trace.retval[0][1] == trace["step"]
    assert model.is_reference or "total in place: a ndarray" in model.compiled.program.opaque[0]
