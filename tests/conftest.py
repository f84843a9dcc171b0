"""What all tests share: which are left out of a plain run, which begin first, and that Ctrl-C works in them.

A plain run leaves out what is marked `slow`, and `statistical` tests, which are slow; and of a test with many
cases it takes a sample, the same in every run. All run with `--all`, where a mark is asked for by `-m` (the
cases that are left out count as slow), and where a test is named: `pytest tests/test_docs.py::test_name`.
Where a file is named, all its cases run. With `--turn N` it is the turn of a quarter of the slow tests, and
of one in 24 of the cases that only the sample leaves out; that of others comes with another number.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path
from zlib import crc32

import pytest

os.environ["GENDSL_CACHE"] = "0"  # nothing of the user's is used, and nothing left there

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

MANY = 6
"""How many cases a test has of which a plain run takes a sample."""

ONE_IN = 9
"""The sample: about one case in so many."""

TURNS, TURNS_OF_OTHERS = 4, 24
"""In how many turns all slow tests have run, and all cases that only the sample leaves out."""


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run the slow tests, too")
    parser.addoption(
        "--turn", type=int, metavar="N",
        help="a number that says which quarter of the slow tests run, and which of the others",
    )  # fmt: skip


def is_slow(item):
    """Whether a plain run leaves a test out."""
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    return bool(folder in SLOW_FOLDERS or item.get_closest_marker("statistical"))


def wants_all(config):
    """Whether slow tests were asked for."""
    named = any("::" in str(argument) for argument in config.args)
    return config.getoption("--all") or bool(config.getoption("markexpr")) or named


def names_a_file(config):
    """Whether the command names files alone, no folders."""
    return all(str(argument).endswith(".py") for argument in config.args)


def mark_slow(config, items):
    """Mark the tests that a plain run leaves out, before `-m` is applied."""
    cases = Counter(item.nodeid.partition("[")[0] for item in items)
    sampled = not names_a_file(config) or config.getoption("markexpr")
    turn, dropped = config.getoption("turn"), []
    for item in items:
        name, number = item.nodeid.partition("[")[0], crc32(item.nodeid.encode())
        left_out = sampled and cases[name] >= MANY and number % ONE_IN
        always = is_slow(item) or item.get_closest_marker("slow")
        if is_slow(item) or left_out:
            item.add_marker("slow")
        turns = TURNS if always else TURNS_OF_OTHERS
        if turn is not None and (always or left_out) and (number // ONE_IN - turn) % turns:
            dropped.append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        gone = set(dropped)
        items[:] = [item for item in items if item not in gone]


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config, items):
    """Slow tests are left out; long ones come first, so that there is short work to share at the end."""
    mark_slow(config, items)
    yield
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
