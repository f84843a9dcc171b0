"""Machine code that is kept: it is used again, and only what the user made from the same."""

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.models import FAMILIES
from gendsl import gen, normal, read, transform, write
from gendsl.compiler.llvm import native, native_cache
from gendsl.compiler.llvm.native import available
from gendsl.compiler.llvm.shared import shared
from gendsl.compiler.moves import Involution
from gendsl.compiler.run.closed import ClosedDensity
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.transforms.language import directions

pytestmark = pytest.mark.skipif(available() is not None, reason="there is no LLVM here")


@gen
def model(n):
    mu = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(mu, 1)


CHOICES = model.simulate((3,), rng=1).choices


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The folder, empty."""
    monkeypatch.setenv("GENDSL_CACHE", str(tmp_path / "code"))
    return tmp_path / "code"


def compiled():
    """Whether the machine code of the model was made before, once it was found to be right."""
    closed = ClosedDensity(model, (3,))
    assert closed.assess_native((3,), dict(CHOICES)) == pytest.approx(model.assess((3,), CHOICES)[0])
    return closed.native.was_kept


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_it_is_used_again(kept):
    assert not compiled()
    made = files(kept)
    assert len(made) == 1
    assert compiled()
    assert files(kept) == made


def test_another_text_or_processor_has_another_name():
    names = {
        native_cache.key_of("a", "b"),
        native_cache.key_of("ab", ""),
        native_cache.key_of("", "ab"),
        native_cache.key_of("a", "b", ""),
        native_cache.key_of("a", "c"),
    }
    assert len(names) == 5


def test_what_is_damaged_is_made_again(kept):
    assert not compiled()
    (path,) = kept.iterdir()
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:40], b"", whole[:50] + b"?" + whole[51:]):
        path.write_bytes(damaged)
        assert not compiled()
        assert path.read_bytes() == whole
    assert compiled()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owners here")
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_can_write_to_is_not_used(kept, mode):
    assert not compiled()
    kept.chmod(mode)
    assert not compiled()
    kept.chmod(0o755)
    assert compiled()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owners here")
def test_a_folder_of_another_user_is_not_used(kept, monkeypatch):
    assert not compiled()
    monkeypatch.setattr(os, "getuid", lambda: kept.stat().st_uid + 1)
    assert not compiled()


def test_nothing_is_kept_where_that_is_said(kept, monkeypatch):
    monkeypatch.setenv("GENDSL_CACHE", "0")
    assert not compiled()
    assert not compiled()
    assert not kept.exists()


def test_a_folder_that_can_not_be_made(kept, monkeypatch):
    kept.write_text("a file")
    monkeypatch.setenv("GENDSL_CACHE", str(kept / "below"))
    assert not compiled()
    assert not compiled()


def test_what_was_used_longest_ago_is_forgotten(kept, monkeypatch):
    monkeypatch.setattr(native_cache, "MOST_BYTES", 400)
    for number in range(3):
        native_cache.store(str(number), bytes(68))
        os.utime(kept / f"{number}.o", (number, number))
    assert native_cache.load("0") == bytes(68)  # now it was used last
    native_cache.store("3", bytes(100))
    assert files(kept) == ["0.o", "2.o", "3.o"]


def test_a_disk_that_is_full_leaves_nothing_behind(kept, monkeypatch):
    def full(*args):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    native_cache.store("a", b"code")
    assert files(kept) == []
    assert native_cache.load("a") is None


SCRIPT = """
import sys
from benchmarks.models import models
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.compiler.llvm.shared import shared
from gendsl.inference.compiled.moves import flattened
print(shared().text)
for model in models(sys.argv[1])[:int(sys.argv[2])]:
    start = model.start(20)
    parts = flattened(model.kernel(False)).parts
    moves = [part.move for part in parts if part.move is not None]
    print(ClosedKernel(start.gen_fn, start.args, moves).llvm[0])
"""


@pytest.mark.parametrize(("family", "models"), [
    ("mixtures", 1), ("regression_trees", 1), ("point_sources", 1),
    *(pytest.param(family, 9, marks=pytest.mark.slow) for family in FAMILIES),
])  # fmt: skip
def test_a_text_is_the_same_in_every_process(family, models):
    made = []
    for seed in "12":
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, family, str(models)], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed}, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        made.append(done.stdout)
    assert made[0] == made[1]
    assert len(made[0]) > 10_000


@gen
def step_size(trace):
    u = ~normal(0, 1)


def moved(scale):
    @transform
    def move(model_in, aux_in, *, model_out, aux_out):
        mu, u = read(model_in["mu"]), read(aux_in["u"])
        write(model_out["mu"], mu + scale * u)
        write(aux_out["u"], -u)

    return move


def test_what_texts_share_is_compiled_once(monkeypatch):
    """The determinant is the same for all; each text calls it by its name."""
    made = []
    monkeypatch.setenv("GENDSL_CACHE", "0")
    monkeypatch.setattr(native, "_shared_code", functools.cache(native._shared_code.__wrapped__))
    plain = native._compiled
    monkeypatch.setattr(native, "_compiled", lambda *given: made.append(given[0]) or plain(*given))
    texts = set()
    for scale in (1.0, 2.0, 0.5):
        move = Involution("move", step_size, (), tuple(one for one, _ in directions(moved(scale))))
        closed = ClosedKernel(model, (3,), [move])
        assert closed.native.entry is not None
        texts.add(closed.llvm[0])
        assert "declare {i32, double} @gendsl_slopes_log_abs_det(" in closed.llvm[0]
    assert len(texts) == 3 and len(made) == 4 and made.count(shared().text) == 1
