"""Compiled kernels that are kept: they are used again by who made them from the same, and by nobody else."""

import importlib.util
import sys
import threading

import numpy as np
import pytest

from gendsl import sample
from gendsl.compiler.llvm.native import available
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.inference import random_walk
from gendsl.inference.compiled import kept_kernels
from gendsl.inference.compiled.fingerprints import FAILURES, Fingerprint
from gendsl.inference.compiled.kept_kernels import KeptKernel, _fingerprint
from gendsl.inference.compiled.moves import flattened
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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)  # by its time and size a changed file may be the same
        spec.loader.exec_module(module)
    return module


@pytest.fixture
def made(monkeypatch, tmp_path):
    """What kind of kernel was made each time, with a folder of its own to keep them in."""
    monkeypatch.setenv("GENDSL_CACHE", str(tmp_path / "code"))
    found, whole = [], kept_kernels.kernel_of

    def noted(*given, **options):
        found.append(whole(*given, **options))
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


def fingerprint(module):
    return _fingerprint(
        module.model, module.ARGS, [part.move for part in flattened(module.kernel).parts]
    ).bytes


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_made_of_something_else_is_told(tmp_path, what):
    changed = TEXT.replace(*CHANGES[what])
    assert changed != TEXT
    one, same, other = (fingerprint(module_of(tmp_path, text)) for text in (TEXT, TEXT, changed))
    assert one == same != other


@pytest.mark.slow
@pytest.mark.parametrize("what", ["a helper", "the types of arguments"])
def test_what_is_made_of_something_else_is_another_kernel(made, tmp_path, what):
    chain_of(module_of(tmp_path, TEXT))
    changed = TEXT.replace(*CHANGES[what])
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


def test_a_fingerprint_is_the_same_for_equal_objects_only():
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


OTHERS = {
    "remembered": ("@functools.cache\ndef spread(x):\n    return 1.0 + x * x", "1.0 +", "1.5 +"),
    "said by its class": (
        "class One:\n    def __init__(self, size=0.5):\n        self.size = size\n"
        "    def __reduce__(self):\n        return One, ()\none = One(1.0)\n"
        "def spread(x):\n    return one.size",
        "One(1.0)", "One(1.5)",
    ),
    "said by a name": (
        "class One:\n    def __init__(self, size):\n        self.size = size\n"
        "    def __reduce__(self):\n        return 'one'\none = One(1.0)\n"
        "def spread(x):\n    return one.size",
        "One(1.0)", "One(1.5)",
    ),
    "left out by its class": (
        "class One:\n    def __init__(self, size):\n        self.size, self.other = size, 1\n"
        "    def __getstate__(self):\n        return {'other': 1}\none = One(1.0)\n"
        "def spread(x):\n    return one.size",
        "One(1.0)", "One(1.5)",
    ),
    "imported where it is used": ("def spread(x):\n    from kept_other import SIZE\n    return SIZE", "", ""),
    "a module imported where it is used": (
        "def spread(x):\n    import kept_other as other\n    return other.SIZE", "", ""
    ),
    "read by a descriptor": (
        "class Size:\n    def __get__(self, one, cls=None):\n        import os\n"
        "        return float(os.environ['KEPT_SIZE'])\n"
        "class One:\n    size = Size()\none = One()\ndef spread(x):\n    return one.size",
        "", "",
    ),
    "read by a descriptor of the class": (
        "class Size:\n    def __get__(self, one, cls=None):\n        import os\n"
        "        return float(os.environ['KEPT_SIZE'])\n"
        "class One:\n    size = Size()\ndef spread(x):\n    return One.size",
        "", "",
    ),
}  # fmt: skip
SPREAD = """
import functools

from gendsl import gen, normal
from gendsl.inference import mh


{}


@gen
def model(n):
    mu = ~normal(0, 2)
    nu = ~normal(0, 2)
    for i in range(n):
        ("y", i) @ ~normal(mu, spread(nu))


kernel = mh("mu")
ARGS = (4,)
"""


@pytest.mark.parametrize("what", OTHERS)
def test_what_a_program_comes_to_in_other_ways(made, tmp_path, monkeypatch, what):
    text, one, other = OTHERS[what]
    monkeypatch.syspath_prepend(str(tmp_path))

    def chain(text, size):
        (tmp_path / "kept_other.py").write_text(f"SIZE = {size}\n")
        sys.modules["kept_other"] = module = type(sys)("kept_other")
        module.SIZE = size
        monkeypatch.setenv("KEPT_SIZE", str(size))
        return chain_of(module_of(tmp_path, SPREAD.format(text)))

    first, again = chain(text, 1.0), chain(text, 1.0)
    changed = chain(text.replace(one, other) if one else text, 1.5)
    sys.modules.pop("kept_other")
    assert (first == again).all() and (first != changed).any()
    assert type(made[0]) is type(made[2]) is ClosedKernel


def test_what_can_not_be_pickled_for_a_reason_of_its_own(made, tmp_path):
    text = (
        "class One:\n    def __init__(self):\n        self.size = 1.0\n"
        "    def __getstate__(self):\n        raise NotImplementedError\none = One()\n"
        "def spread(x):\n    return one.size"
    )
    locked = text.replace(
        "    def __getstate__(self):\n        raise NotImplementedError\n",
        "        import multiprocessing\n        self.lock = multiprocessing.Lock()\n",
    )
    for one in (text, locked):
        made.clear()
        first, again = (chain_of(module_of(tmp_path, SPREAD.format(one))) for _ in range(2))
        assert [type(kernel) for kernel in made] == [ClosedKernel] * 2
        assert (first == again).all()


@pytest.mark.filterwarnings("error")
def test_libraries_are_not_asked_for_what_they_do_not_have(made, tmp_path):
    text = "import numpy as np\ndef spread(x):\n    return np.abs(x) + (1.0 if isinstance(x, str) else 2.0)"
    chain_of(module_of(tmp_path, SPREAD.format(text)))
    chain_of(module_of(tmp_path, SPREAD.format(text)))
    assert [type(one) for one in made] == [ClosedKernel, KeptKernel]


LIBRARIES = {
    "by way of a function of gendsl": ("from gendsl import poisson", "poisson(2.0)", "1.0 + x * x"),
    "functions of NumPy": ("import numpy as np", "normal(0, 2)", "np.sum(np.array([1.0, np.exp(-x)]))"),
    "its functions for vectors": (
        "import numpy as np", "normal(0, 2)", "np.dot(np.array([1.0, x]), np.array([1.0, x]))"
    ),
    "families of SciPy": ("import scipy.stats", "normal(0, 2)", "1.0 + scipy.stats.norm.pdf(x)"),
    "functions of SciPy": ("import scipy.special", "normal(0, 2)", "1.0 + scipy.special.expit(x)"),
}  # fmt: skip


@pytest.mark.parametrize("what", LIBRARIES)
def test_a_kernel_that_uses_a_library_is_used_again(made, tmp_path, what):
    imported, prior, returned = LIBRARIES[what]
    text = SPREAD.format(f"{imported}\n\n\ndef spread(x):\n    return {returned}")
    text = text.replace("nu = ~normal(0, 2)", f"nu = ~{prior}")
    first, again = (chain_of(module_of(tmp_path, text)) for _ in range(2))
    assert [type(one) for one in made] == [ClosedKernel, KeptKernel]
    assert (first == again).all()


ATTRIBUTES = {
    "a module's": ("import kept_other as other\ndef spread(x):\n    return other.SIZE",
                   lambda module: setattr(module.other, "SIZE", 2.0)),
    "a function of a module": ("import math\ndef spread(x):\n    return math.sqrt(2.0)", None),
    "a class's": ("class One:\n    size = 1.0\ndef spread(x):\n    return One.size",
                  lambda module: setattr(module.One, "size", 2.0)),
    "a method": ("class One:\n    def size(self):\n        return 1.0\none = One()\n"
                 "def spread(x):\n    return one.size()",
                 lambda module: setattr(module.One, "size", lambda self: 2.0)),
    "a class method": ("class One:\n    @classmethod\n    def size(cls):\n        return 1.0\n"
                       "def spread(x):\n    return One.size()",
                       lambda module: setattr(module.One, "size", classmethod(lambda cls: 2.0))),
    "a property": ("class One:\n    @property\n    def size(self):\n        return 1.0\none = One()\n"
                   "def spread(x):\n    return one.size",
                   lambda module: setattr(module.One, "size", property(lambda self: 2.0))),
    "a method of what is made": ("class One:\n    def __init__(self, x):\n        self.x = x\n"
                                 "    def size(self):\n        return 1.0\n"
                                 "def spread(x):\n    return One(x).size()",
                                 lambda module: setattr(module.One, "size", lambda self: 2.0)),
    "defaults": ("def spread(x, size=1.0):\n    return size",
                 lambda module: setattr(module.spread, "__defaults__", (2.0,))),
}  # fmt: skip


@pytest.mark.parametrize("what", ATTRIBUTES)
def test_the_text_notices_that_an_attribute_is_another_now(made, tmp_path, monkeypatch, what):
    import math

    text, change = ATTRIBUTES[what]
    other = sys.modules["kept_other"] = type(sys)("kept_other")
    other.SIZE = 1.0
    for _ in range(2):
        module = module_of(tmp_path, SPREAD.format(text))
        first = chain_of(module)
        with monkeypatch.context() as patch:
            if change is None:
                patch.setattr(math, "sqrt", lambda x: 2.0)
            else:
                change(module)
            changed = chain_of(module)
        other.SIZE = 1.0
        assert (first != changed).any()
    sys.modules.pop("kept_other")
    assert type(made[0]) is ClosedKernel and type(made[-1]) is KeptKernel
