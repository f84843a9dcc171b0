"""What all tests share: those that take long begin first, and Ctrl-C works in them."""

from __future__ import annotations

import signal

import pytest

BEGIN_FIRST = {
    "test_benchmarks.py",
    "test_command_line.py",
    "test_executors.py",
    "test_plugin.py",
    "test_readme.py",
}
"""Files with tests that wait for other processes, each for many seconds."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Long tests first: at the end of a run there is only short work to be shared by the last workers."""
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
