"""Tests of models, moves and kernels that a user can run on his own.

`check_involutive`, `assert_involution`, `assert_bijection` test moves; `assert_stationary`, `assert_exact`
and `simulation_based_calibration` test kernels; `assert_laws` and `assert_weight_laws` test generative
functions; `running_on` says on which of the `runtimes()` programs run. The hypothesis strategies are in
`gendsl.testing.strategies`, which alone needs hypothesis.
"""

import sys as _sys

from gendsl.testing.calibration import Calibration, simulation_based_calibration
from gendsl.testing.enumeration import CannotEnumerateError, enumerate_outcomes
from gendsl.testing.exact import Transitions, assert_exact, transitions
from gendsl.testing.law_suite import assert_laws, assert_weight_laws
from gendsl.testing.moves import TracePair, assert_bijection, assert_involution
from gendsl.testing.running import running_on, runtimes
from gendsl.testing.scores import Score
from gendsl.testing.stationarity import StationarityReport, assert_stationary, stationarity
from gendsl.transforms.random_cases import CheckReport, check_involutive

if _sys.modules.get("hypothesis") is not None:  # else its entry point does this when it is imported
    from gendsl.testing import strategies as _strategies  # noqa: F401 # importing it registers them

__all__ = [
    "Calibration",
    "CannotEnumerateError",
    "CheckReport",
    "Score",
    "StationarityReport",
    "TracePair",
    "Transitions",
    "assert_bijection",
    "assert_exact",
    "assert_involution",
    "assert_laws",
    "assert_stationary",
    "assert_weight_laws",
    "check_involutive",
    "enumerate_outcomes",
    "running_on",
    "runtimes",
    "simulation_based_calibration",
    "stationarity",
    "transitions",
]
