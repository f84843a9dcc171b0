"""Families of models, each as two or more programs with data and moves.

`families()` has them by name. A family is a module with a list `MODELS`; `model.py` says what a model is.
The programs are written as users of the README write, in many styles on purpose: loops and NumPy, lists and
dicts, helpers and classes, moves by hand and by the library's own kernels.
"""

from __future__ import annotations

import importlib

from .model import Model

FAMILIES = (
    "mixtures", "change_points", "piecewise_regression", "sinusoids", "point_sources",
    "variable_selection", "hierarchical_logistic", "hidden_markov", "state_space", "block_models", "grids",
    "networks", "clustering", "regression_trees", "gp_kernels", "autoregressions", "point_processes",
)  # fmt: skip


def models(family: str) -> list[Model]:
    """The models of one family."""
    module = importlib.import_module(f".{family}", __package__)
    found: list[Model] = module.MODELS
    return found


def families() -> dict[str, list[Model]]:
    """The models of every family, by its name."""
    return {family: models(family) for family in FAMILIES}
