"""Compiled kernels that are kept: they are used again by who made them from the same, and by nobody else."""

import importlib.util
import sys
import threading

import numpy as np
import pytest

from gendsl import sample
from gendsl.compiler.closed_move import ClosedKernel
from gendsl.compiler.native import available
from gendsl.inference import kept_kernels, random_walk
from gendsl.inference.fingerprints import FAILURES, Fingerprint
from gendsl.inference.kept_kernels import KeptKernel
from gendsl.inference.moves import flattened
from gendsl.testing import running_on

pytestmark = pytest.mark.skipif(available() is not None, reason="there is no LLVM here")

TEXT = """
import math
from typing import NamedTuple

import numpy as np

from gendsl import Distribution, continuous, gen, normal, read, transform, write
from gendsl.inference import cycle, involutive, mh
from gendsl.supports import Real

SCALE = 2.0
WEIGHTS = [1.0, 2.0]
TABLE = np.array([0.5, 1.5])
NAMES = {"a", "b"}


class Wide(NamedTuple):
    scale: float = 3.0

    def doubled(self):
        return 2 * self.scale


class settings:
    shift = 0.25


class flat_tailed(Distribution):
    support = Real()

    def __init__(self, centre):
        self.centre = centre

    def sample(self, rng):
        return self.centre + rng.normal()

    def logpdf(self, x):
        return -math.log(math.pi) - math.log1p((x - self.centre) ** 2)


def helper(x, power=2):
    return x**power + 1.0


def made(offset):
    def inner(x):
        return x + offset

    return inner


closure = made(0.5)
wide = Wide()


@gen
def model(n, known=0.0):
    mu = ~normal(known, SCALE)
    nu = ~flat_tailed(settings.shift)
    for i in range(n):
        spread = wide.doubled() + WEIGHTS[i % 2] + TABLE[i % 2] + math.sqrt(helper(nu)) + len(NAMES)
        ("y", i) @ ~normal(closure(mu), spread)


@gen
def step(trace, width):
    u = ~normal(0, width)


@transform
def moved(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"], continuous)
    write(model_out["mu"], read(model_in["mu"], continuous) + u, continuous)
    write(aux_out["u"], -u, continuous)


kernel = cycle(involutive(step, moved, q_args=(0.5,)), mh("nu"))
ARGS = (4,)
"""
LOCKED = """
import threading


class Locked:
    def __init__(self):
        self.lock = threading.Lock()

    def doubled(self):
        return 6.0


wide = Locked()
"""
CHANGES = {
    "a number of the module": ("SCALE = 2.0", "SCALE = 2.5"),
    "a list of the module": ("[1.0, 2.0]", "[1.0, 2.0, 3.0]"),
    "an array of the module": ("[0.5, 1.5]", "[0.5, 1.25]"),
    "a set of the module": ('{"a", "b"}', '{"a", "b", "c"}'),
    "a helper": ("x**power + 1.0", "x**power + 1.5"),
    "a default": ("power=2", "power=4"),
    "what a closure has": ("made(0.5)", "made(0.75)"),
    "a method": ("2 * self.scale", "3 * self.scale"),
    "a default of a class": ("scale: float = 3.0", "scale: float = 4.0"),
    "an attribute of a class": ("shift = 0.25", "shift = 0.5"),
    "a family": ("math.log1p((x", "math.log1p(2 * (x"),
    "a draw": ("self.centre + rng.normal()", "self.centre + rng.standard_normal()"),
    "the model": ("normal(known, SCALE)", "normal(known, SCALE + 1)"),
    "the auxiliary program": ("u = ~normal(0, width)", "u = ~normal(0, width + 0.25)"),
    "the transform": ("read(model_in", "1.0 * read(model_in"),
    "its arguments": ("q_args=(0.5,)", "q_args=(0.25,)"),
    "the kernel": ('mh("nu")', 'mh("mu")'),
    "the types of arguments": ("ARGS = (4,)", "ARGS = (4, 1)"),
    "a line": ("class settings:", "\nclass settings:"),
}


def module_of(folder, text):
    """A module of this text, whose name and file are always the same."""
    path = folder / "kept_programs.py"
    path.write_text(text)
    importlib.invalidate_caches()
    spec = importlib.util.spec_from_file_location("kept_programs", path)
    module = sys.modules["kept_programs"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def made(monkeypatch, tmp_path):
    """What kind of kernel was made each time, with a folder of its own to keep them in."""
    monkeypatch.setenv("GENDSL_CACHE", str(tmp_path / "code"))
    found, whole = [], kept_kernels.kernel_of

    def noted(*given):
        found.append(whole(*given))
        return found[-1]

    monkeypatch.setattr(kept_kernels, "kernel_of", noted)
    yield found
    sys.modules.pop("kept_programs", None)


def chain_of(module, kernel=None, args=None, shift=0.0):
    args = module.ARGS if args is None else args
    data = {("y", i): 0.3 * i + shift for i in range(args[0])}
    start = module.model.generate(args, data, rng=1).trace
    with running_on("native"):
        run = sample(kernel or module.kernel, start, 30, record=["mu", "nu"], seed=2, progress=False)
    assert run.ran == ["as machine code"]
    return np.array([run["mu"], run["nu"]])


def test_a_kernel_is_used_again(made, tmp_path):
    first = chain_of(module_of(tmp_path, TEXT))
    again = chain_of(module_of(tmp_path, TEXT))
    assert [type(one) for one in made] == [ClosedKernel, KeptKernel]
    assert (first == again).all()
    assert made[1].text == made[0].text


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_made_of_something_else_is_another_kernel(made, tmp_path, what):
    chain_of(module_of(tmp_path, TEXT))
    changed = TEXT.replace(*CHANGES[what])
    assert changed != TEXT
    found = chain_of(module_of(tmp_path, changed))
    assert [type(one) for one in made] == [ClosedKernel, ClosedKernel]
    again = chain_of(module_of(tmp_path, changed))
    assert type(made[2]) is KeptKernel
    assert (found == again).all()


def test_data_of_the_same_types_have_the_same_kernel(made, tmp_path):
    first = chain_of(module_of(tmp_path, TEXT), args=(4, 0.0))
    other = chain_of(module_of(tmp_path, TEXT), args=(6, 0.5), shift=1.0)
    assert [type(one) for one in made] == [ClosedKernel, KeptKernel]
    assert (first != other).any()
    made.clear()
    kernels = [random_walk("mu", size) for size in (0.5, 0.75)]
    walks = [chain_of(module_of(tmp_path, TEXT), kernel) for kernel in kernels]
    assert [type(one) for one in made] == [ClosedKernel, KeptKernel]
    assert (walks[0] != walks[1]).any()


def test_a_kept_kernel_notices_that_something_is_another_now(made, tmp_path):
    chain_of(module_of(tmp_path, TEXT))
    module = module_of(tmp_path, TEXT)
    chain_of(module)
    kept = made[1]
    assert type(kept) is KeptKernel
    assert kept.changed() is None
    module.SCALE = 5.0
    assert kept.changed() == "SCALE"
    chain_of(module)  # the same kernel, of another program now
    assert [type(one) for one in made] == [ClosedKernel, KeptKernel, ClosedKernel]


def test_what_a_library_has_may_be_replaced(made, tmp_path, monkeypatch):
    import math

    chain_of(module_of(tmp_path, TEXT))
    monkeypatch.setattr(math, "sqrt", lambda x: x**0.5 + 1.0)
    chain_of(module_of(tmp_path, TEXT))
    assert [type(one) for one in made] == [ClosedKernel, ClosedKernel]


def test_what_can_not_be_gone_through_is_made_each_time(made, tmp_path):
    text = TEXT.replace("wide = Wide()", LOCKED)
    first, again = chain_of(module_of(tmp_path, text)), chain_of(module_of(tmp_path, text))
    assert [type(one) for one in made] == [ClosedKernel, ClosedKernel]
    assert (first == again).all()


def test_nothing_is_looked_at_where_nothing_is_kept(made, tmp_path, monkeypatch):
    monkeypatch.setenv("GENDSL_CACHE", "0")
    monkeypatch.setattr(kept_kernels, "Fingerprint", None)
    chain_of(module_of(tmp_path, TEXT))
    assert [type(one) for one in made] == [ClosedKernel]


def test_a_fingerprint_is_the_same_for_equal_objects_only(tmp_path):
    def bytes_of(text):
        module = module_of(tmp_path, text)
        return Fingerprint(module.model, [part.move for part in flattened(module.kernel).parts]).bytes

    assert bytes_of(TEXT) == bytes_of(TEXT)
    assert Fingerprint({("a", 1), ("b", 2)}).bytes == Fingerprint({("b", 2), ("a", 1)}).bytes
    assert Fingerprint({1}).bytes != Fingerprint({True}).bytes != Fingerprint({1.0}).bytes
    assert Fingerprint({1}).bytes != Fingerprint(frozenset({1})).bytes != Fingerprint([1]).bytes
    assert Fingerprint(np.exp).bytes != Fingerprint(np.log).bytes
    assert Fingerprint(lambda x: x).bytes != Fingerprint(lambda x: x + 1).bytes
    for unknown in (threading.Lock(), {object()}, (n for n in ())):
        with pytest.raises(FAILURES):
            Fingerprint(unknown)


def test_warm_ups_are_kept_without_what_they_found(made, tmp_path):
    def walked(shift):
        module = module_of(tmp_path, TEXT)
        start = module.model.generate((4,), {("y", i): 0.3 * i + shift for i in range(4)}, rng=1).trace
        with running_on("native"):
            run = sample(random_walk(), start, 40, warmup=60, record=["mu", "nu"], seed=2, progress=False)
        return np.array([run["mu"], run["nu"]])

    first, again, other = walked(0.0), walked(0.0), walked(1.0)
    kinds = [type(one) for one in made]
    assert kinds == [ClosedKernel] * (len(made) // 3) + [KeptKernel] * (2 * len(made) // 3)
    assert (first == again).all() and (first != other).any()
