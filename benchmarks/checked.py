"""What check=True costs: moves of the examples with it, against the same moves without.

Moves start from states that a chain of the example visited, and are warm: what there is to learn of them is
known.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from harness import Row, Scale

from gendsl import Trace, involutive_mcmc

EXAMPLES = Path(__file__).parents[1] / "examples"
WARM_UP = 20_000
"""How many moves of a kind come first."""


def example(name: str) -> ModuleType:
    """The module examples/NAME.py."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        assert spec is not None and spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


def visited(kernel: Any, trace: Trace, n: int, thin: int) -> list[Trace]:
    """States of a chain, `thin` steps apart."""
    rng, states = np.random.default_rng(1), []
    for _ in range(n):
        for _ in range(thin):
            trace, _ = kernel(trace, rng)
        states.append(trace)
    return states


def row(name: str, points: int, move: tuple[Any, Any], kernel: Any, start: Trace, scale: Scale) -> Row:
    """A move from each of the same states, of a model of so many points."""
    n, thin, warm_up = (20, 20, WARM_UP // 20) if scale.largest > 1000 else (2, 5, 1)
    states, (q, f) = visited(kernel, start, n, thin), move
    rng = np.random.default_rng(2)

    def moves(check: bool = True) -> None:
        for trace in states:
            involutive_mcmc(trace, q, (), f, check=check, rng=rng)

    work = f"{name}, check=True"
    return Row(work, points, moves, "unchecked", lambda: moves(check=False), n, None, warm_up)


def rows(scale: Scale) -> list[Row]:
    means = example("one_or_two_means")
    data = means.simulated_data()
    one, _ = means.one_or_two.generate((len(data),), {"x": data}, init={"k": 1, ("mu", 0): 3.0}, rng=1)
    first = row("one mean or two", len(data), (means.offset, means.split_merge), means.KERNEL, one, scale)
    if scale.largest <= 1000:
        return [first]
    galaxies, coal, richardson = example("galaxies"), example("coal"), example("mixture_hyper")
    velocities = np.loadtxt(galaxies.DATA, skiprows=1)
    init = {"k": 1, ("mu", 0): 20.0, ("var", 0): 20.0}
    clusters, _ = galaxies.clusters.generate((len(velocities),), {"x": velocities}, init=init, rng=1)
    split_merge = galaxies.split_or_merge, galaxies.split_merge
    dates = coal.read_dates()
    disasters = coal.trace_of([14_000.0], [0.009, 0.0025], dates)
    sweep = richardson.kernel()
    split, birth = ((part.q, part.f) for part in sweep.parts[-2:])
    components, n = richardson.start(), len(richardson.VELOCITIES)
    return [
        first,
        row("galaxies, split or merge", len(velocities), split_merge, galaxies.KERNEL, clusters, scale),
        row("coal mining, birth or death", len(dates), coal.GREENS[0], coal.kernel(False), disasters, scale),
        row("mixture_hyper, split or merge", n, split, sweep, components, scale),
        row("mixture_hyper, birth or death", n, birth, sweep, components, scale),
    ]


GROUPS = {"checked": rows}
