"""The hand-written programs of all tests, examples and benchmarks, each with arguments that it is run on.

There are more than 500. Whatever way to run programs there is must do with them what the reference does.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.models import families
from tests.conformance.chains import example
from tests.programs import PROGRAMS

TESTS = Path(__file__).parents[1]


class Idiom(NamedTuple):
    """A program and tuples of arguments, one or more."""

    model: Any
    args: list[tuple[Any, ...]]


EXAMPLES = {
    "galaxies.clusters": [(8,), (9,), (0,)],
    "one_or_two_means.one_or_two": [(6,), (5,), (0,)],
    "birth_death.clusters": [(5,), (6,), (1,)],
    "polar.point": [()],
    "coal.step_function": [()],
    "coal.disasters": [()],
    "clustering.clusters": [(5,), (3,)],
    "hmm_smc.animal": [(4,), (3,)],
    "hmc_by_involution.bioassay": [()],
    "mixture_hyper.mixture": [(6,), (7,)],
    "state_dependent_mixture.signal": [(7,), (5,)],
}


def of_registries(module: str) -> dict[str, Idiom]:
    """The programs that a test module registers."""
    found: dict[str, Idiom] = {}
    for registry in vars(importlib.import_module(module)).values():
        if isinstance(registry, dict) and hasattr(registry, "written"):
            found |= {name: Idiom(model, args) for name, (model, args) in registry.items()}
    return found


def of_examples() -> dict[str, Idiom]:
    """The models of the examples."""
    found = {}
    for name, args in EXAMPLES.items():
        file, program = name.split(".")
        found[name] = Idiom(getattr(example(file), program), args)
    return found


def of_models() -> dict[str, Idiom]:
    """The models of the benchmarks."""
    return {
        f"{family}, {model.name}": Idiom(model.program, [model.args(n) for n in (6, 5)])
        for family, models in families().items()
        for model in models
    }


GROUPS: dict[str, Callable[[], dict[str, Idiom]]] = {
    "examples": of_examples,
    "models": of_models,
    "programs": lambda: {program.name: Idiom(program.model, [*program.args]) for program in PROGRAMS},
    **{
        path.stem: partial(of_registries, f"tests.runtime.{path.stem}")
        for path in sorted((TESTS / "runtime").glob("test_*.py"))
        if "Programs(" in path.read_text()
    },
}
"""Where programs come from. A group is loaded when it is asked for."""


def idioms() -> dict[str, Idiom]:
    """All programs, by group and name."""
    return {f"{group}, {name}": idiom for group, load in GROUPS.items() for name, idiom in load().items()}
