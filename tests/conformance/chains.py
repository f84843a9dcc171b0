"""The chains that are recorded: every example's, every model's of `benchmarks/models`, and every kernel's.

A chain is a sequence of states after its steps: what was decided, the latent choices, the log probability.
From the same seed it is the same whichever way programs run, so `recorded_chains.json`, which
`record_chains.py` wrote, holds for all.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from benchmarks.models import families
from gendsl import gen, normal, sample, select, uniform_discrete
from gendsl.inference import (
    cycle,
    elliptical_slice,
    gibbs,
    hmc,
    independent,
    mala,
    mh,
    nuts,
    particle_filter,
    random_walk,
    repeat,
    single_site,
    slice_sampling,
)

ROOT = Path(__file__).parents[2]
RECORD = Path(__file__).with_name("recorded_chains.json")


class State(NamedTuple):
    """Where a chain is after a step.

    Attributes:
        decisions: a letter for each kernel that ran, in order: y accepted, n rejected, - no decision.
        choices: the latent choices by their paths.
        log_prob: the log probability of the trace.
    """

    decisions: str
    choices: Mapping[Any, Any]
    log_prob: float


Chain = Callable[[], Iterator[State]]


def decisions(info: Any) -> str:
    """What was decided in a step, kernel by kernel."""
    parts = getattr(info, "parts", None)
    if parts is not None:
        return "".join(decisions(part) for _, part in parts)
    accepted = getattr(info, "accepted", None)
    return {True: "y", False: "n", None: "-"}[accepted]


def latent(trace: Any) -> dict[Any, Any]:
    """The choices of a trace that are not observed."""
    seen = trace.observed
    return {path: value for path, value in trace.choices.items() if path not in seen}


def of_kernel(kernel: Any, trace: Any, steps: int, seed: int = 1) -> Iterator[State]:
    """The states of a chain. One more draw at its end says how often the generator was asked."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        trace, info = kernel(trace, rng)
        yield State(decisions(info), latent(trace), trace.log_prob)
    yield State("", {("next",): int(rng.integers(2**31))}, 0.0)


# --- the examples ------------------------------------------------------------------------------------


@cache
def example(name: str) -> ModuleType:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(f"recorded_{name}", ROOT / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def birth_death() -> Iterator[State]:
    e = example("birth_death")
    kernel = e.involutive(e.propose, e.birth_death, check=True)
    return of_kernel(kernel, e.clusters.simulate((0,), rng=1), 40)


def clustering(kernel: str) -> Iterator[State]:
    e = example("clustering")
    return of_kernel(e.kernels()[kernel], e.start(e.POINTS), 20)


def clustering_many() -> Iterator[State]:
    e = example("clustering")
    x, labels, _ = e.many_points(40)
    kernel = cycle(repeat(e.STEPS["split or merge"], 3), mh(e.draw_labels), mh(e.draw_parameters))
    return of_kernel(cycle(kernel, *e.STEPS.values()), e.start(x, labels), 6)


def coal(greens: bool) -> Iterator[State]:
    e = example("coal")
    dates = e.read_dates()
    start = e.trace_of([10_000.0, 20_000.0], [0.009, 0.004, 0.003], dates)
    return of_kernel(e.greens_kernel() if greens else e.kernel(), start, 40)


def galaxies() -> Iterator[State]:
    e = example("galaxies")
    x = np.loadtxt(e.DATA, skiprows=1)
    init = {"k": 1, ("mu", 0): 20.0, ("var", 0): 20.0}
    return of_kernel(e.KERNEL, e.clusters.generate((len(x),), {"x": x}, init=init, rng=1).trace, 15)


def gp_structure() -> Iterator[State]:
    e = example("gp_structure")
    series = e.read_series()
    grid = e.Grid(series.times[:24])
    start = e.gaussian_process.generate((grid, e.covariance_function), {"y": series.y[:24]}, rng=(1, 0)).trace
    return of_kernel(e.KERNEL, start, 10)


def gp_small() -> Iterator[State]:
    e = example("gp_structure")
    series = e.read_series()
    few = slice(0, 36, 3)
    grid, y = e.Grid(series.times[few]), series.y[few] - series.y[few].mean()
    start = e.small_process.generate((grid,), {"y": y}, rng=1).trace
    return of_kernel(e.structure_moves(e.walk_tree, e.small_grammar), start, 20)


def hmc_by_involution() -> Iterator[State]:
    e = example("hmc_by_involution")
    return of_kernel(e.KERNEL, e.start_trace(), 20)


def hmm_rejuvenation() -> Iterator[State]:
    e = example("hmm_smc")
    _, sounds = e.simulate(8)
    seen = {"east": sounds[:, 0], "north": sounds[:, 1]}
    start = e.animal.generate((8,), seen, rng=1).trace
    return of_kernel(e.rejuvenation(sounds), start, 20)


def hmm_filter() -> Iterator[State]:
    """The particles of a filter with proposals after each number of steps, and the estimated evidence."""
    e = example("hmm_smc")
    _, sounds = e.simulate(5)
    steps = [
        ((t + 1,), {("east", t): east, ("north", t): north}, (np.array([east, north]),))
        for t, (east, north) in enumerate(sounds.tolist())
    ]
    options = {"proposal": e.listen, "first_proposal": e.listen_first, "kernel": e.rejuvenation(sounds)}
    for count in (1, 3, 5):
        run = particle_filter(e.animal, steps[:count], 6, rng=1, **options)
        last = {
            (i, *path): value
            for i, trace in enumerate(run.particles.traces)
            for path, value in latent(trace).items()
        }
        yield State("", last, run.log_evidence)


def mixture_hyper() -> Iterator[State]:
    e = example("mixture_hyper")
    return of_kernel(e.kernel(), e.start(), 6)


def one_or_two_means() -> Iterator[State]:
    e = example("one_or_two_means")
    x = e.simulated_data()
    start = e.one_or_two.generate((len(x),), {"x": x}, init={"k": 1, ("mu", 0): 3.0}, rng=1).trace
    return of_kernel(e.KERNEL, start, 40)


def polar() -> Iterator[State]:
    e = example("polar")
    return of_kernel(e.KERNEL, e.point.generate((), {"z": e.OBSERVED}, rng=1).trace, 40)


def state_dependent_mixture() -> Iterator[State]:
    e = example("state_dependent_mixture")
    x = e.simulate_data()
    start = e.signal.generate((len(x),), {"x": x}, init={"z": np.ones(len(x), dtype=int)}).trace
    return of_kernel(repeat(e.kernel(), 5), start, 20)


def variable_selection() -> Iterator[State]:
    e = example("variable_selection")
    x, y = e.read_data()
    start = e.regression.generate((x,), {"y": y}, init={"included": [False] * x.shape[1]}, rng=1).trace
    return of_kernel(e.KERNEL, start, 15)


EXAMPLES: dict[str, Chain] = {
    "birth_death": birth_death,
    "clustering, Gibbs": lambda: clustering("Gibbs"),
    "clustering, split and merge": lambda: clustering("split/merge"),
    "clustering, both": lambda: clustering("both"),
    "clustering, many points": clustering_many,
    "coal": lambda: coal(False),
    "coal, Green's moves": lambda: coal(True),
    "galaxies": galaxies,
    "gp_structure": gp_structure,
    "gp_structure, small grammar": gp_small,
    "hmc_by_involution": hmc_by_involution,
    "hmm_smc, rejuvenation": hmm_rejuvenation,
    "hmm_smc, filter": hmm_filter,
    "mixture_hyper": mixture_hyper,
    "one_or_two_means": one_or_two_means,
    "polar": polar,
    "state_dependent_mixture": state_dependent_mixture,
    "variable_selection": variable_selection,
}

# --- the models of the benchmarks ---------------------------------------------------------------------

MODELS: dict[str, Chain] = {
    f"{family}, {model.name}": lambda model=model: of_kernel(model.kernel(True), model.start(), 20)
    for family, models in families().items()
    for model in models
}

# --- kernels that the above don't use ----------------------------------------------------------------


@gen
def points(n):
    mu = [("mu", j) @ ~normal(0, 3) for j in range(2)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 1)
        ("x", i) @ ~normal(mu[z], 1)


def of_run(kernel: Any) -> Iterator[State]:
    """The draws of a run with warm-up."""
    x = np.random.default_rng(4).normal([-2, 2] * 4)
    start = points.generate((8,), {"x": x}, init={"z": [0, 1] * 4}, rng=1).trace
    run = sample(kernel, start, 15, warmup=20, seed=1, progress=False)
    tallies = "".join(f"{tally.accepted}/{tally.proposed} " for tally in run.acceptance.values())
    for trace in run.traces:
        yield State("", latent(trace), trace.log_prob)
    yield State(tallies, {}, 0.0)


MEANS = select("mu")
KERNELS: dict[str, Chain] = {
    name: lambda kernel=kernel: of_run(cycle(kernel, gibbs("z")))
    for name, kernel in {
        "elliptical_slice": elliptical_slice(MEANS),
        "hmc": hmc(MEANS),
        "independent": independent({("mu", 0): normal(-1, 2)}),
        "mala": mala(MEANS),
        "mh of a selection": mh(MEANS),
        "nuts": nuts(MEANS),
        "random_walk": random_walk(MEANS),
        "single_site": single_site(MEANS),
        "slice_sampling": slice_sampling(MEANS),
    }.items()
}

CHAINS: dict[str, Chain] = {**EXAMPLES, **MODELS, **KERNELS}

# --- as they are written down -------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A value as JSON has it: 15 digits of a float, other numbers as they are, arrays as lists."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    return float(f"{value:.15g}") if type(value) is float and math.isfinite(value) else value


def written(states: Iterator[State]) -> list[list[Any]]:
    """What changes from state to state: decisions, log probability, new values, paths of what is gone."""
    before: dict[str, Any] = {}
    found = []
    for state in states:
        now = {" ".join(map(str, path)): plain(value) for path, value in state.choices.items()}
        new = {path: value for path, value in now.items() if path not in before or before[path] != value}
        gone = [path for path in before if path not in now]
        found.append([state.decisions, plain(state.log_prob), new, gone])
        before = now
    return found
