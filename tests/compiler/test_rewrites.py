"""What compiles does not depend on how it is written: each model in other ways, with the same density."""

import inspect
import linecache
import os
import sys
import types
from importlib import import_module

import pytest

from benchmarks.models import FAMILIES, models
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.rewrites import rewritten

REFUSED = {"grammar"}
LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 50 if LONG else 2))]


def loaded(family, seed):
    """The models of a family, written in another way."""
    original = import_module(f"benchmarks.models.{family}")
    text = rewritten(inspect.getsource(original), seed)
    name = f"benchmarks.models.{family}_{seed}"
    module = types.ModuleType(name)
    module.__package__ = "benchmarks.models"
    linecache.cache[f"<{name}>"] = len(text), None, text.splitlines(keepends=True), f"<{name}>"
    sys.modules[name] = module
    exec(compile(text, f"<{name}>", "exec"), module.__dict__)
    return module.MODELS, text


def compare(family, seed):
    """How the rewritten models of a family differ from the original ones."""
    found, text = loaded(family, seed)
    for before, after in zip(models(family), found, strict=True):
        expected = before.start(seed=seed).log_prob
        trace = after.start(seed=seed)
        assert trace.log_prob == pytest.approx(expected, rel=1e-9), f"the rewrite is wrong:\n{text}"
        try:
            closed = ClosedDensity(after.program, trace.args)
            value = closed.assess_python(trace.args, dict(trace.choices.items()))
        except (NotClosed, FailedText) as refusal:
            assert before.name in REFUSED, (before.name, str(refusal), text)
            continue
        assert value == pytest.approx(expected, rel=1e-9), (before.name, text)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_other_ways_to_write_a_model(family, seed):
    compare(family, seed)
