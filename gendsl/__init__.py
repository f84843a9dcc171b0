"""gendsl: involutive and reversible-jump MCMC from a model, an auxiliary program and a map between traces.

Cusumano-Towner, Lew and Mansinghka, "Automating Involutive MCMC using Probabilistic and Differentiable
Programming".

Distributions, choice maps and selections are imported at once. What compiles and runs programs is imported
when one of its names is first used, so that `import gendsl` costs little more than NumPy and scipy.special.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

from gendsl import distributions as _distributions
from gendsl.choices import ChoiceMap, choicemap
from gendsl.distributions import *  # noqa: F403
from gendsl.errors import GenDSLError
from gendsl.interface import GenerativeFunction, Trace
from gendsl.selection import Selection, select

if TYPE_CHECKING:  # the same names, for type checkers and editors
    from gendsl.inference import involutive_mcmc, load_run, resume, sample
    from gendsl.runtime.generative import gen
    from gendsl.runtime.saving import load_trace, read_choices
    from gendsl.transforms.language import continuous, copy, discrete, pair, read, transform, write
    from gendsl.transforms.random_cases import check_involutive
else:
    _FIRST_USED = {
        "gendsl.inference": ("involutive_mcmc", "load_run", "resume", "sample"),
        "gendsl.runtime.generative": ("gen",),
        "gendsl.runtime.saving": ("load_trace", "read_choices"),
        "gendsl.transforms.language": (
            "continuous", "copy", "discrete", "pair", "read", "transform", "write",
        ),
        "gendsl.transforms.random_cases": ("check_involutive",),
    }  # fmt: skip
    _PACKAGES = ("compiler", "inference", "runtime", "transforms")

    def __getattr__(name: str) -> _Any:
        if name in _PACKAGES:
            return _import_module(f"gendsl.{name}")
        for module, names in _FIRST_USED.items():
            if name in names:
                found = _import_module(module)
                globals().update({each: getattr(found, each) for each in names})
                return globals()[name]
        raise AttributeError(f"module 'gendsl' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, *_PACKAGES})


__version__ = "0.1.0"

__all__ = [
    "ChoiceMap",
    "GenDSLError",
    "GenerativeFunction",
    "Selection",
    "Trace",
    "check_involutive",
    "choicemap",
    "continuous",
    "copy",
    "discrete",
    "gen",
    "involutive_mcmc",
    "load_run",
    "load_trace",
    "pair",
    "read",
    "read_choices",
    "resume",
    "sample",
    "select",
    "transform",
    "write",
]
__all__ += _distributions.__all__  # this way, as type checkers understand it
