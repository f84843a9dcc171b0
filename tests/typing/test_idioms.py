"""Idiomatic programs type-check, and run as their types say."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gendsl import bernoulli, dirichlet, gen, iid, mixture_of_normals, mvnormal, normal, poisson, wishart

IDIOMS = Path(__file__).with_name("idioms.py")
ROOT = Path(__file__).parents[2]


@gen
def values():
    real = ~normal(0, 1)
    named = ("named", 0) @ ~normal(0, 1)
    count = ~poisson(3)
    flag = ~bernoulli(0.5)
    mixed = ~mixture_of_normals([0.5, 0.5], [0.0, 1.0], [1.0, 1.0])
    weights = ~dirichlet([1.0, 1.0])
    many = ~iid(normal(0, 1), 3)
    vector = ~mvnormal([0.0, 0.0], np.eye(2))
    matrix = ~wishart(3, np.eye(2))
    return [real, named, count, flag, mixed, weights, many, vector, matrix]


def test_a_value_is_of_the_type_that_checkers_are_told():
    told = [float, float, int, bool, float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    assert [type(value) for value in values()] == told


def test_mypy_reads_the_idioms_in_ci():
    assert "tests/typing/idioms.py" in (ROOT / "setup.cfg").read_text()


def has_pyright():
    """Whether pyright is installed, with a node to run it: its package would load one from the network."""
    return importlib.util.find_spec("pyright") is not None and shutil.which("node") is not None


@pytest.mark.statistical  # for its time
@pytest.mark.skipif(not has_pyright(), reason="pyright or node is not installed")
def test_pyright_has_no_complaint():
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, str(IDIOMS)],
        capture_output=True, text=True, timeout=300, cwd=ROOT,
        env={**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 errors" in done.stdout
