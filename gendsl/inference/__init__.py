"""Kernels, and runs of them. A kernel is any callable `(trace, rng) -> (trace, info)`."""

from gendsl.inference.birth_death import birth_death
from gendsl.inference.components import ComponentKernel, Place
from gendsl.inference.compose import ComposedKernel, cycle, mixture, repeat
from gendsl.inference.coordinates import Coordinates
from gendsl.inference.elliptical import EllipticalInfo, elliptical_slice
from gendsl.inference.enumeration import Enumeration, enumerate_posterior
from gendsl.inference.gibbs import GibbsInfo, gibbs
from gendsl.inference.hmc import HMCInfo, hmc
from gendsl.inference.importance import Drawn, importance_resampling, importance_sampling
from gendsl.inference.infos import ComposedInfo, PickedInfo
from gendsl.inference.involutive import InvolutiveInfo, involutive, involutive_mcmc
from gendsl.inference.kernel import Kernel
from gendsl.inference.mala import MALAInfo, mala
from gendsl.inference.mh import MHInfo, independent, mh, single_site
from gendsl.inference.nuts import NUTSInfo, nuts
from gendsl.inference.optimise import Maximum, maximise
from gendsl.inference.particle_filter import particle_filter
from gendsl.inference.particles import Estimate, Particles, Rejuvenated
from gendsl.inference.random_walk import RandomWalkInfo, random_walk
from gendsl.inference.results.convergence import effective_draws, r_hat
from gendsl.inference.results.diagnosis import Diagnosis
from gendsl.inference.results.run import Run
from gendsl.inference.results.summary import Frequency, Group, Share, monte_carlo_error
from gendsl.inference.results.summary_table import Summary, SummaryRow
from gendsl.inference.running.adapt import Adapted, adapt
from gendsl.inference.running.chains import load_run, resume, sample
from gendsl.inference.running.tally import RejectedTerms, Tally
from gendsl.inference.slice import SliceInfo, slice_sampling
from gendsl.inference.smc import SMCRun, log_likelihood, smc, tempered_mh, tempered_smc
from gendsl.inference.split_merge import split_merge
from gendsl.inference.tempered import TemperedInfo, tempered
from gendsl.transforms.extending import extending_translator
from gendsl.transforms.translators import (
    TraceTranslator,
    Translated,
    TranslationInfo,
    deterministic_translator,
    general_translator,
    symmetric_translator,
)

__all__ = [
    "Adapted",
    "ComponentKernel",
    "ComposedInfo",
    "ComposedKernel",
    "Coordinates",
    "Diagnosis",
    "Drawn",
    "EllipticalInfo",
    "Enumeration",
    "Estimate",
    "Frequency",
    "GibbsInfo",
    "Group",
    "HMCInfo",
    "InvolutiveInfo",
    "Kernel",
    "MALAInfo",
    "MHInfo",
    "Maximum",
    "NUTSInfo",
    "Particles",
    "PickedInfo",
    "Place",
    "RandomWalkInfo",
    "RejectedTerms",
    "Rejuvenated",
    "Run",
    "SMCRun",
    "Share",
    "SliceInfo",
    "Summary",
    "SummaryRow",
    "Tally",
    "TemperedInfo",
    "TraceTranslator",
    "Translated",
    "TranslationInfo",
    "adapt",
    "birth_death",
    "cycle",
    "deterministic_translator",
    "effective_draws",
    "elliptical_slice",
    "enumerate_posterior",
    "extending_translator",
    "general_translator",
    "gibbs",
    "hmc",
    "importance_resampling",
    "importance_sampling",
    "independent",
    "involutive",
    "involutive_mcmc",
    "load_run",
    "log_likelihood",
    "mala",
    "maximise",
    "mh",
    "mixture",
    "monte_carlo_error",
    "nuts",
    "particle_filter",
    "r_hat",
    "random_walk",
    "repeat",
    "resume",
    "sample",
    "single_site",
    "slice_sampling",
    "smc",
    "split_merge",
    "symmetric_translator",
    "tempered",
    "tempered_mh",
    "tempered_smc",
]
