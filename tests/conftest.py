"""What all tests share: which are left out of a plain run, which begin first, and that Ctrl-C works in them.

A plain run leaves out what is marked `slow`, and `statistical` tests, which are slow. They run with `--all`,
where a mark is asked for by `-m`, and where a test is named: `pytest tests/test_docs.py::test_name`.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

BEGIN_FIRST = {
    "test_benchmarks.py",
    "test_command_line.py",
    "test_executors.py",
    "test_plugin.py",
    "test_readme.py",
}
"""Files with tests that wait for other processes, each for many seconds."""


SLOW_FOLDERS = ("statistical", "examples")
"""Folders whose tests are all slow: together they take most of the time."""


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run the slow tests, too")


def is_slow(item):
    """Whether a plain run leaves a test out."""
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    return bool(folder in SLOW_FOLDERS or item.get_closest_marker("statistical"))


def wants_all(config):
    """Whether slow tests were asked for."""
    named = any("::" in str(argument) for argument in config.args)
    return config.getoption("--all") or bool(config.getoption("markexpr")) or named


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item):
    """Marked as it is collected, before `-m` is applied."""
    if is_slow(item):
        item.add_marker("slow")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Slow tests are left out; long ones come first, so that there is short work to share at the end."""
    if not wants_all(config):
        left_out = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
    items.sort(key=lambda item: not (item.get_closest_marker("statistical") or item.path.name in BEGIN_FIRST))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Workers without work take it from others, where pytest-xdist would hand it out in large pieces."""
    if config.getvalue("dist") != "load":  # another way was asked for
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def interruptible():
    """A job in the background, and every process that it starts, ignores Ctrl-C; some tests press it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
