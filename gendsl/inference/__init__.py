"""Kernels, and runs of them. A kernel is any callable `(trace, rng) -> (trace, info)`."""

from gendsl.inference.chains import Run, sample
from gendsl.inference.compose import ComposedInfo, cycle, mixture, repeat
from gendsl.inference.involutive import InvolutiveInfo, involutive, involutive_mcmc
from gendsl.inference.mh import MHInfo, mh
from gendsl.inference.summary import Share, monte_carlo_error

__all__ = [
    "ComposedInfo",
    "InvolutiveInfo",
    "MHInfo",
    "Run",
    "Share",
    "cycle",
    "involutive",
    "involutive_mcmc",
    "mh",
    "mixture",
    "monte_carlo_error",
    "repeat",
    "sample",
]
