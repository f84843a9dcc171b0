"""What all tests share: Ctrl-C works in them, and those that take long begin first."""

import signal

import pytest


@pytest.fixture(scope="session", autouse=True)
def interruptible():
    """A job in the background, and every process that it starts, ignores Ctrl-C; some tests press it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
