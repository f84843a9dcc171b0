"""Tests that a sampler is right: exactly on discrete models, by z-scores on all others."""

from gendsl.testing.enumeration import CannotEnumerateError, enumerate_outcomes
from gendsl.testing.exact import Transitions, assert_exact, transitions
from gendsl.testing.stationarity import Score, StationarityReport, assert_stationary, stationarity

__all__ = [
    "CannotEnumerateError",
    "Score",
    "StationarityReport",
    "Transitions",
    "assert_exact",
    "assert_stationary",
    "enumerate_outcomes",
    "stationarity",
    "transitions",
]
