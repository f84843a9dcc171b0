"""The garbage collector waits while a text is made, and is as it was afterwards."""

import gc

import pytest

from gendsl import gen, normal
from gendsl.compiler.run import closed
from gendsl.compiler.run.closed import ClosedDensity


@gen
def model():
    x = ~normal(0, 1)


@pytest.mark.parametrize("is_on", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_it_is_as_it_was(is_on, fails, monkeypatch):
    seen, plain = [], closed.invariants.simplify

    def simplify(mains):
        seen.append(gc.isenabled())
        if fails:
            raise KeyboardInterrupt
        plain(mains)

    monkeypatch.setattr(closed.invariants, "simplify", simplify)
    if not is_on:
        gc.disable()
    try:
        if fails:
            with pytest.raises(KeyboardInterrupt):
                ClosedDensity(model, ())
        else:
            ClosedDensity(model, ())
        assert seen == [False]
        assert gc.isenabled() == is_on
    finally:
        gc.enable()
