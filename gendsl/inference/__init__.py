"""Kernels, and runs of them. A kernel is any callable `(trace, rng) -> (trace, info)`."""

from gendsl.inference.birth_death import birth_death
from gendsl.inference.chains import Run, sample
from gendsl.inference.components import ComponentKernel, Place
from gendsl.inference.compose import ComposedInfo, cycle, mixture, repeat
from gendsl.inference.involutive import InvolutiveInfo, involutive, involutive_mcmc
from gendsl.inference.mh import MHInfo, mh
from gendsl.inference.split_merge import split_merge
from gendsl.inference.summary import Share, monte_carlo_error

__all__ = [
    "ComponentKernel",
    "ComposedInfo",
    "InvolutiveInfo",
    "MHInfo",
    "Place",
    "Run",
    "Share",
    "birth_death",
    "cycle",
    "involutive",
    "involutive_mcmc",
    "mh",
    "mixture",
    "monte_carlo_error",
    "repeat",
    "sample",
    "split_merge",
]
