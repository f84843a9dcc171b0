"""What the texts of a program make of a trace of the reference."""

import pytest

from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.llvm.native import available
from gendsl.compiler.run.closed import ClosedDensity

NATIVE = available() is None


def equal(a, b):
    return a == b or abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


def outcome(model, args, *, native=NATIVE, rng=1):
    """What the texts of a program make of a trace: "equal", or why there is none; never another value."""
    try:
        trace = model.reference.simulate(args, rng=rng)
    except Exception as error:  # as some of the programs are meant to
        return f"raised: {error}"
    choices = dict(trace.choices.items())
    try:
        closed = ClosedDensity(model, trace.args)
        ways = [closed.assess_python, closed.assess_native] if native else [closed.assess_python]
        for way in ways:
            found = way(trace.args, choices)
            told = f"{way.__name__}: {found}, reference {trace.log_prob}\n{closed.text}"
            assert equal(found, trace.log_prob), told
    except NotClosed as refusal:
        return f"refused: {refusal}"
    except FailedText as failure:
        return f"failed: {failure}"
    return "equal"


def raises_everywhere(model, args, choices):
    """Where the reference raises, the texts of a program fail; or there is none."""
    with pytest.raises(Exception):  # noqa: B017 (whatever the program raises)
        model.reference.assess(args, choices)
    try:
        closed = ClosedDensity(model, args)
    except NotClosed:
        return
    for way in [closed.assess_python, closed.assess_native] if NATIVE else [closed.assess_python]:
        with pytest.raises((FailedText, NotClosed)):
            way(args, choices)
