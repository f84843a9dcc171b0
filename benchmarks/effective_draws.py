"""Effective draws per second of the number of components, of every example that has an unknown number.

    python benchmarks/effective_draws.py
    python benchmarks/effective_draws.py --seconds 10        # of each chain; 60 if not given

A chain's n draws of k are worth var(k) / error^2 independent ones, with the standard error of their mean by
batch means. Seconds are of processor time of the one process, warm-up not counted, so that what else the
machine does matters little. The estimate itself is uncertain by about sqrt(2 / batches), which is shown.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gendsl.inference import cycle, involutive, mh, repeat

EXAMPLES = Path(__file__).parents[1] / "examples"
WANTED = {"coal": 50.0}
"""What was set as the least number of effective draws of k per second."""


def example(name: str) -> ModuleType:
    """The module examples/<name>.py."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        assert spec is not None and spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


def coal() -> tuple[Any, Any]:
    """The kernel and a starting trace of examples/coal.py: ten moves a step."""
    module = example("coal")
    dates = module.read_dates()
    return repeat(module.kernel(check=False), 10), module.trace_of([], [len(dates) / module.DAYS], dates)


def galaxies() -> tuple[Any, Any]:
    """The paper's split/merge sampler, examples/galaxies.py, without its checks."""
    module = example("galaxies")
    velocities = np.loadtxt(module.DATA, skiprows=1)
    init = {"k": 1, ("mu", 0): 20.0, ("var", 0): 20.0}
    start, _ = module.clusters.generate((len(velocities),), {"x": velocities}, init=init, rng=1)
    jumps = repeat(involutive(module.split_or_merge, module.split_merge), 5)
    walks = [mh(walk) for walk in (module.walk_means, module.walk_variances, module.walk_weights)]
    return cycle(jumps, involutive(module.pick_cluster, module.swap), *walks), start


def mixture_hyper() -> tuple[Any, Any]:
    """Richardson and Green's mixture, examples/mixture_hyper.py: a sweep of all moves a step."""
    module = example("mixture_hyper")
    return module.kernel(check=False), module.start()


CHAINS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "coal": coal, "galaxies": galaxies, "mixture_hyper": mixture_hyper,
}  # fmt: skip


@dataclass(frozen=True)
class Effective:
    """How many independent draws of k a chain is worth.

    Attributes:
        steps: the steps of the chain.
        seconds: the processor time they took.
        draws: the effective number of draws.
        uncertainty: the relative standard error of that number.
    """

    name: str
    steps: int
    seconds: float
    draws: float
    uncertainty: float

    @property
    def per_second(self) -> float:
        """Effective draws per second."""
        return self.draws / self.seconds


def effective(k: Any) -> tuple[float, float]:
    """The effective number of a chain's draws, and its relative standard error."""
    k = np.asarray(k, dtype=float)
    batches = int(np.sqrt(len(k)))
    size = len(k) // batches
    means = k[len(k) - batches * size :].reshape(batches, size).mean(axis=1)
    error = float(np.sqrt(size * means.var(ddof=1) / len(k)))
    draws = float(k.var() / error**2) if error > 0 else float("nan")
    return draws, float(np.sqrt(2 / (batches - 1)))


def measure(name: str, seconds: float) -> Effective:
    """Run a chain for some seconds after a tenth as many of warm-up."""
    kernel, trace = CHAINS[name]()
    rng, drawn = np.random.default_rng(1), []
    begin = time.process_time()
    while time.process_time() - begin < 0.1 * seconds:
        trace, _ = kernel(trace, rng)
    begin = time.process_time()
    while (spent := time.process_time() - begin) < seconds or len(drawn) < 16:
        trace, _ = kernel(trace, rng)
        drawn.append(trace["k"])
    return Effective(name, len(drawn), spent, *effective(drawn))


def lines(seconds: float) -> Iterator[str]:
    """One line for each chain."""
    yield f"{'example':<16}{'steps':>8}{'ms a step':>11}{'effective draws of k per second':>34}{'wanted':>9}"
    for name in CHAINS:
        found = measure(name, seconds)
        shown = f"{found.per_second:.1f} ± {found.uncertainty * found.per_second:.1f}"
        wanted = f">= {WANTED[name]:.0f}" if name in WANTED else ""
        yield f"{name:<16}{found.steps:>8,}{1e3 * found.seconds / found.steps:>11.2f}{shown:>34}{wanted:>9}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    for line in lines(parser.parse_args().seconds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
