"""Where mistakes are planted, in today's runtime, chains run on it."""

import inspect

import pytest

from gendsl.inference.compiled.policy import Decision
from gendsl.inference.running import chain


@pytest.fixture(autouse=True)
def step_by_step(request, monkeypatch):
    """Machine code and Python text know nothing of what is planted, and find that their steps differ."""
    if "monkeypatch" in inspect.signature(request.function).parameters:
        monkeypatch.setattr(chain, "decide", lambda *args, **named: Decision(None, "a mistake is planted"))
