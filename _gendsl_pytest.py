"""The pytest plugin of gendsl: the fixtures `rng`, `gendsl_long`, the switch `--gendsl-long` and its marker.

Tracebacks leave out the frames of gendsl between a test and the line of a model where an error comes from, or
below the line that an error of gendsl points at; `--full-trace` shows them.

pytest loads this before anything else, in every test suite of an environment that has gendsl. So it lies
outside of the package and imports nothing of it: nobody's tests start later, and coverage that starts after
the plugins still sees gendsl's and NumPy's imports.
"""

from __future__ import annotations

import os
import sys
import zlib
from typing import Any

import pytest

LONG = "GENDSL_LONG"
"""The environment variable that the switch sets, which worker processes inherit."""

MORE_EXAMPLES = 20


def pytest_addoption(parser: Any) -> None:
    """Add the switch."""
    parser.getgroup("gendsl").addoption(
        "--gendsl-long",
        action="store_true",
        help=f"run tests marked gendsl_long, and {MORE_EXAMPLES} times as many hypothesis examples "
        f"(sets {LONG}=1)",
    )


def is_long() -> bool:
    """Whether long tests are to run: by the switch, or by the environment variable."""
    return os.environ.get(LONG, "") not in ("", "0")


def pytest_configure(config: Any) -> None:
    """Register the marker; with the switch, set the environment variable and ask hypothesis for more."""
    config.addinivalue_line("markers", "gendsl_long: runs only with --gendsl-long (or GENDSL_LONG=1)")
    if not config.getoption("--gendsl-long"):
        return
    os.environ[LONG] = "1"
    try:
        from hypothesis import settings
    except ImportError:
        return
    current = settings()
    settings.register_profile("gendsl-long", current, max_examples=MORE_EXAMPLES * current.max_examples)
    settings.load_profile("gendsl-long")


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Skip long tests unless they are asked for."""
    if is_long():
        return
    skip = pytest.mark.skip(reason="long: run with --gendsl-long")
    for item in items:
        if item.get_closest_marker("gendsl_long"):
            item.add_marker(skip)


@pytest.fixture
def gendsl_long() -> bool:
    """Whether long tests are to run."""
    return is_long()


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> Any:
    """A NumPy generator whose seed is the test's name: the same in every run, another in every test."""
    import numpy as np

    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(call: Any) -> None:
    """Let pytest leave out gendsl's frames, which it asks of each by the name `__tracebackhide__`."""
    if call.excinfo is None:
        return
    for name, module in list(sys.modules.items()):
        if name == "gendsl" or name.startswith("gendsl."):
            vars(module).setdefault("__tracebackhide__", is_hidden)


def is_hidden(excinfo: Any) -> bool:
    """Whether gendsl's frames are left out: the error is gendsl's own, or a line of the user's raised it."""
    from gendsl.errors import GenDSLError, is_users_file

    if isinstance(excinfo.value, GenDSLError):
        return True
    package = os.path.dirname(sys.modules["gendsl"].__file__ or "") + os.sep
    users, traceback = False, excinfo.tb
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        users = not file.startswith(package) and (users or is_users_file(file))
        traceback = traceback.tb_next
    return users
