"""A plain run leaves slow tests out, and nothing else does: each can be asked for, and CI runs them all."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TESTS = {
    "test_any.py": """
import pytest

def test_quick():
    pass

@pytest.mark.statistical
def test_statistical():
    pass

@pytest.mark.slow
def test_slow():
    pass
""",
    "statistical/test_sampler.py": "def test_sampler(): pass",
}
MARKERS = "[pytest]\nmarkers =\n    statistical: s\n    slow: s\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments, expected",
    [
        ((), {"test_quick"}),
        (("--all",), {"test_quick", "test_statistical", "test_slow", "test_sampler"}),
        (("-m", "slow"), {"test_statistical", "test_slow", "test_sampler"}),
        (("tests/test_any.py::test_slow",), {"test_slow"}),
        (("-n", "1"), {"test_quick"}),
    ],
)
def test_which_tests_run(tmp_path, arguments, expected):
    for name, text in TESTS.items():
        path = tmp_path / "tests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "pytest.ini").write_text(MARKERS)
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests")
    place = () if "::" in " ".join(arguments) else ("tests",)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *place, *arguments],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(re.findall(r"(test_\w+)(?: PASSED|\s*$)", done.stdout, re.MULTILINE)) & {
        "test_quick", "test_statistical", "test_slow", "test_sampler"
    } == expected  # fmt: skip


def test_ci_runs_what_the_plain_run_leaves_out():
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert 'eval "$tests"' in ci and "-m pytest -n auto -m slow" in ci
