"""gendsl: involutive and reversible-jump MCMC from a model, an auxiliary program and a map between traces.

Cusumano-Towner, Lew and Mansinghka, "Automating Involutive MCMC using Probabilistic and Differentiable
Programming".
"""

from gendsl import distributions as _distributions
from gendsl.choices import ChoiceMap, choicemap
from gendsl.distributions import *  # noqa: F403
from gendsl.errors import GenDSLError
from gendsl.inference import involutive_mcmc, load_run, resume, sample
from gendsl.interface import GenerativeFunction, Trace
from gendsl.runtime.generative import gen
from gendsl.runtime.saving import load_trace
from gendsl.selection import Selection, select
from gendsl.transforms.language import continuous, copy, discrete, pair, read, transform, write
from gendsl.transforms.random_cases import check_involutive

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
    "resume",
    "sample",
    "select",
    "transform",
    "write",
]
__all__ += _distributions.__all__  # this way, as type checkers understand it
