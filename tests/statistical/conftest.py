"""Where mistakes are planted, in today's runtime, chains run on it."""

import inspect

import pytest

from gendsl.runtime import watched


@pytest.fixture(autouse=True)
def step_by_step(request, monkeypatch):
    """Machine code and Python text know nothing of what is planted, and find that their steps differ."""
    if "monkeypatch" in inspect.signature(request.function).parameters:
        monkeypatch.setattr(watched, "_RUNTIME", "compiled")
