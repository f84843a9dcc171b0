"""The models of `benchmarks/models`: each generates, its moves pass every check, and its kernels accept."""

import numpy as np
import pytest

from benchmarks.models import FAMILIES, families, models
from gendsl import check_involutive, sample
from gendsl.inference import Run

ALL = [
    pytest.param(model, id=f"{family}-{model.name}")
    for family, found in families().items()
    for model in found
]


def accepted(run: Run) -> dict[str, int]:
    """How many proposals of each kernel were accepted."""
    return {name: tally.accepted for name, tally in run.acceptance.items()}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_two_or_more_models(family):
    found = models(family)
    assert len(found) >= 2
    assert len({model.name for model in found}) == len(found)


@pytest.mark.slow
@pytest.mark.parametrize("model", ALL)
def test_every_kernel_accepts_with_all_checks(model):
    """Steps with check=True, until each kernel has accepted a proposal."""
    trace = model.start()
    observed = set(trace.observed)
    assert observed and np.isfinite(trace.log_prob)
    kernel, seen = model.kernel(True), {}
    for seed in range(20):
        run = sample(kernel, trace, 25, seed=seed, progress=False)
        for name, count in accepted(run).items():
            seen[name] = seen.get(name, 0) + count
        trace = run.last
        if all(seen.values()):
            break
    assert all(seen.values()), seen
    assert set(trace.observed) == observed


@pytest.mark.parametrize("model", [case for case in ALL if case.values[0].moves])
def test_every_move_passes_its_checks(model):
    rng = np.random.default_rng(1)
    observed = [*{path[0]: None for path in model.start(6).observed}]
    for move in model.moves:
        args = model.program, model.args(6), move.q, move.f
        report = check_involutive(*args, q_args=move.q_args, observed=observed, n=10, rng=rng)
        assert report.ok, str(report)
