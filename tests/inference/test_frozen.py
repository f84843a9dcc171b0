"""Frozen dataclasses that are made quickly, against the usual ones."""

import copy
import dataclasses
import inspect
import pickle

import pytest

from gendsl.inference import InvolutiveInfo
from gendsl.inference.frozen import frozen


@frozen
class Quick:
    """What it is about."""

    accepted: bool
    ratio: float
    reason: str | None = None
    names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Usual:
    """What it is about."""

    accepted: bool
    ratio: float
    reason: str | None = None
    names: tuple[str, ...] = ()


GIVEN = [
    ((True, 0.5), {}),
    ((False, -1.0, "why"), {}),
    ((True,), {"ratio": 2.0, "names": ("a", "b")}),
]


@pytest.mark.parametrize(("args", "options"), GIVEN)
def test_it_is_what_a_frozen_dataclass_is(args, options):
    quick, usual = Quick(*args, **options), Usual(*args, **options)
    assert type(quick) is Quick and quick.__doc__ == usual.__doc__
    assert dataclasses.astuple(quick) == dataclasses.astuple(usual)
    assert repr(quick) == repr(usual).replace("Usual", "Quick")
    assert quick == Quick(*args, **options) and hash(quick) == hash(Quick(*args, **options))
    assert inspect.signature(Quick) == inspect.signature(Usual)
    for other in (copy.copy(quick), copy.deepcopy(quick), pickle.loads(pickle.dumps(quick))):
        assert other == quick and type(other) is Quick
    assert dataclasses.replace(quick, ratio=7.0).ratio == 7.0
    assert not hasattr(quick, "__dict__")


def test_it_can_not_be_changed():
    for info in (Quick(True, 0.5), InvolutiveInfo(True, 0.5)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            info.accepted = False
        with pytest.raises(dataclasses.FrozenInstanceError):
            del info.accepted
        assert info.accepted


@pytest.mark.parametrize(("args", "options"), [((), {}), ((1, 2, 3, 4, 5), {}), ((1, 2), {"other": 3})])
def test_other_arguments_are_refused(args, options):
    with pytest.raises(TypeError, match=r"^Quick\.__init__\(\) .*argument"):
        Quick(*args, **options)
