"""Involutions put together at random, of models put together at random: a chain is that of the reference."""

import os

import numpy as np
import pytest

from gendsl import sample
from gendsl.inference import involutive
from gendsl.testing import running_on, runtimes
from tests.laws.modules import imported
from tests.transforms.random_moves import Writer, start

LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")
SEEDS = range(2000 if LONG else 32)
STEPS = 120


def chain(module, trace, check, runtime):
    """The last trace, how many steps were accepted, and a number that is drawn after them."""
    rng = np.random.default_rng(1)
    kernel = involutive(module.auxiliary, module.move, check=check)
    with running_on(runtime):
        run = sample(kernel, trace, STEPS, record=["k", "c"], seed=rng)
    (tally,) = run.acceptance.values()
    return run.last, tally.accepted, [run["k"].tolist(), run["c"].tolist()], rng.random()


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in (1, 2, 3))])
def test_any_move(part):
    reference, *others = runtimes()
    for seed in SEEDS[part::4]:
        text, counts = Writer(seed).source()
        with imported(text) as module:
            try:
                trace = start(module, seed, counts)
                expected, accepted, recorded, after = chain(module, trace, seed % 8 >= 4, reference)
                for runtime in others:
                    last, *found = chain(module, trace, seed % 8 >= 4, runtime)
                    assert found[0] == accepted
                    assert found[2] == after
                    np.testing.assert_allclose(found[1], recorded, rtol=1e-9)
                    assert last.choices.keys() == expected.choices.keys()
                    for path, value in expected.choices.items():
                        np.testing.assert_allclose(last[path], value, rtol=1e-7, atol=1e-9)
                    assert last.log_prob == pytest.approx(expected.log_prob, rel=1e-9, abs=1e-9)
            except Exception as error:
                error.add_note(f"seed {seed}, {text}")
                raise
