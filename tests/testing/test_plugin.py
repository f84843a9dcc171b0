"""The pytest plugin and the entry points, each in a process of its own; and the page that explains them."""

import configparser
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import _gendsl_pytest
from gendsl import gen, normal, poisson

ROOT = Path(__file__).parent.parent.parent
TESTS = """
import os
import pytest
from hypothesis import settings

def test_rng(rng):
    print("drew", rng.integers(10**9))

def test_other_rng(rng):
    print("drew", rng.integers(10**9))

@pytest.mark.gendsl_long
def test_long(gendsl_long):
    assert gendsl_long and os.environ["GENDSL_LONG"] == "1"
    assert settings().max_examples == 2000

def test_short():
    assert settings().max_examples in (100, 2000)
"""


def run(arguments, folder, **environment):
    """Run Python in a folder with this checkout on the path."""
    unwanted = ("GENDSL", "PYTEST", "CI")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=300,
        env={**kept, "PYTHONPATH": str(ROOT), **environment},
    )  # fmt: skip
    return done.stdout + done.stderr


def pytest_in(folder, *arguments, **environment):
    plugin = ["-m", "pytest", "-p", "no:gendsl", "-p", "_gendsl_pytest", "-p", "no:cacheprovider"]
    return run([*plugin, "-s", "-q", "-W", "error", *arguments], folder, **environment)


@pytest.mark.slow
def test_the_fixture_the_marker_and_the_switch(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    short, again = (pytest_in(tmp_path) for _ in range(2))
    assert "3 passed, 1 skipped" in short, short
    drawn = re.findall(r"drew (\d+)", short)
    assert drawn == re.findall(r"drew (\d+)", again)
    assert len(set(drawn)) == 2
    long = pytest_in(tmp_path, "--gendsl-long")
    assert "4 passed" in long, long
    assert "2 passed" in pytest_in(tmp_path, "-k", "rng or nothing", GENDSL_LONG="1")


@gen
def out_of_range(n):
    k = ~poisson(3)
    return [1, 2, 3][n + k]


@gen
def negative():
    x = ~normal(0, -1)


@gen
def library():
    x = ~normal(0, 1)
    return np.linalg.cholesky(np.array([[-1.0]]))


def files_shown(run):
    """The files in the traceback that pytest shows of an error."""
    with pytest.raises(Exception) as caught:
        run()
    _gendsl_pytest.pytest_runtest_makereport(SimpleNamespace(excinfo=caught))
    return [Path(entry.path).name for entry in caught.traceback.filter(caught)]


def test_tracebacks_are_of_the_users_lines(monkeypatch):
    own = "test_plugin.py"
    assert files_shown(lambda: out_of_range.simulate((5,), rng=1)) == [own] * 3
    assert set(files_shown(lambda: negative.simulate(rng=1))) == {own}
    shown = files_shown(lambda: library.simulate(rng=1))
    assert shown[:3] == [own] * 3 and "linalg.py" in shown[3]
    monkeypatch.setattr("gendsl.runtime.generative.as_rng", int)  # a bug of gendsl's shows its frames
    assert "generative.py" in files_shown(lambda: out_of_range.simulate((5,), rng=1))


def test_passing_tests_are_left_alone():
    _gendsl_pytest.pytest_runtest_makereport(SimpleNamespace(excinfo=None))


def test_the_entry_modules_import_nothing_heavy(tmp_path):
    code = (
        "import sys, _gendsl_pytest, _gendsl_hypothesis\n"
        "_gendsl_hypothesis.register()\n"
        "print(sorted(sys.modules))"
    )
    found = run(["-c", code], tmp_path)
    assert "_gendsl_pytest" in found, found
    for module in ("'numpy'", "'gendsl'", "'hypothesis'"):
        assert module not in found, module


@pytest.mark.slow
def test_types_are_registered_in_either_order(tmp_path):
    use = (
        "\nfrom hypothesis import strategies as st\nfrom gendsl import Selection\n"
        "print(st.from_type(Selection))"
    )
    hook = "import _gendsl_hypothesis; _gendsl_hypothesis.register()"
    for order in ("import hypothesis, gendsl.testing", f"import gendsl.testing, hypothesis; {hook}"):
        found = run(["-c", order + use], tmp_path, HYPOTHESIS_NO_PLUGINS="1")
        assert "sampled_from" in found or "recursive" in found or "lists" in found, found
    # with the entry point, which is called while the module of strategies is being imported
    found = run(["-c", "import gendsl.testing.strategies" + use], tmp_path)
    assert "sampled_from" in found or "recursive" in found or "lists" in found, found


@pytest.mark.slow
def test_testing_works_without_hypothesis(tmp_path):
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import gendsl.testing as t; print(len(t.__all__))\n"
        "import gendsl.testing.strategies"
    )
    found = run(["-c", code], tmp_path)
    assert re.match(r"\d+\n", found), found
    assert "ModuleNotFoundError" in found or "ImportError" in found


def test_entry_points():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    points = setup["options.entry_points"]
    assert points["hypothesis"].strip() == "gendsl = _gendsl_hypothesis:register"
    assert points["pytest11"].strip() == "gendsl = _gendsl_pytest"
    assert setup["options"]["py_modules"].split() == ["_gendsl_hypothesis", "_gendsl_pytest"]


@pytest.mark.slow
def test_the_page_runs(tmp_path):
    page = (ROOT / "docs" / "how-to" / "property-tests.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    printed = run(["-W", "error", str(script)], tmp_path)
    shown = re.search(r"```text\n(.*?)```", page, re.DOTALL).group(1).split("  ...\n")
    for part in shown:
        assert part.strip() in printed, printed
