"""The README's program runs as printed, and its commands are those that CI runs."""

import configparser
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy import stats

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def one_cluster():
    """p(k = 1 | x) for the program's data: p(x | k = 1) is a normal density, p(x | k = 2) an integral."""
    data = np.random.default_rng(0).normal([-0.9] * 20 + [0.9] * 20)
    one = stats.multivariate_normal(np.zeros(40), np.eye(40) + 100.0).pdf(data)
    nodes, weights = np.polynomial.legendre.leggauss(120)
    means, weights = 4 * nodes, 4 * weights * stats.norm.pdf(4 * nodes, 0, 10)
    density = stats.norm.pdf(data[:, None, None], means)
    two = weights @ np.prod((density + density.transpose(0, 2, 1)) / 2, axis=0) @ weights
    return one / (one + two)


def test_the_program_runs_as_printed_and_agrees_with_the_exact_answer(tmp_path):
    program = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    script = tmp_path / "program.py"
    script.write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", script],
        capture_output=True, text=True, timeout=300, cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert re.match(r"5000 draws in .* s", lines[0])
    assert [line.split()[:2] for line in lines[1:3]] == [["split_merge", "accepted"], ["relabel", "accepted"]]
    assert "warning" not in done.stdout
    printed = re.findall(r"p\(k = (\d) \| x\) = ([\d.]+) ± ([\d.]+), exactly ([\d.]+)", done.stdout)
    found = {int(k): tuple(map(float, numbers)) for k, *numbers in printed}
    assert set(found) == {1, 2}
    assert abs(found[1][0] + found[2][0] - 1) < 2e-3
    exact = one_cluster()
    for k, (probability, error, beside) in found.items():
        assert math.isclose(beside, exact if k == 1 else 1 - exact, abs_tol=6e-4)
        assert 0 < error < 0.02
        assert abs(probability - beside) < 3 * error


def test_the_program_is_less_than_fifty_lines():
    program = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    code = [line for line in program.splitlines() if line.strip()]
    assert len(code) < 50


def test_the_two_commands_are_there():
    for name in ("galaxies", "tests"):
        command = re.search(rf"<!-- command: {name} -->\n```sh\n(.*?)\n```", README).group(1)
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install -q '.[")


def test_only_contributors_install_the_folder_itself():
    """Type checkers see the types of an installed copy; of an editable one only if it is compat."""
    for page in (README, (ROOT / "docs" / "index.md").read_text(encoding="utf-8")):
        installs = re.findall(r"pip install (.*?)(?: &&|$)", page, re.MULTILINE)
        assert installs and not any("-e" in options.split() for options in installs)
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (options,) = re.findall(r"pip install (.*)", contributing)
    assert options == "-e '.[test,docs]' --config-settings editable_mode=compat"


def test_what_is_shown_is_installed():
    """The extras of the README's command bring what the calls need that the README shows."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    command = re.search(r"<!-- command: install -->\n```sh\n(.*?)\n```", README).group(1)
    extras = re.search(r"\.\[(.*?)\]", command).group(1).split(",")
    brought = {
        re.match(r"[\w-]+", line)[0]
        for extra in extras
        for line in config["options.extras_require"][extra].split()
    }
    needs = {"plot_k_trace(": "matplotlib", "run.to_arviz()": "arviz",
             "gendsl.testing.strategies": "hypothesis"}  # fmt: skip
    assert all(shown in README for shown in needs)
    assert set(needs.values()) <= brought


def test_every_example_is_listed():
    for path in (ROOT / "examples").glob("*.py"):
        assert f"examples/{path.name}" in README


def test_what_explain_says_is_what_it_says(tmp_path):
    """The listing is that of the program in it."""
    shown = re.search(r"```\n(model, mixture.py:5\n.*?)```", README, re.DOTALL).group(1)
    body = re.findall(r"(?m)^\d \| ( *.*?)(?: {2,}\S.*)?$", shown)
    program = "from gendsl import *\n\n\n@gen\n" + "\n".join(body) + "\n\n\nprint(model.explain())\n"
    (tmp_path / "mixture.py").write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "mixture.py"],
        capture_output=True, text=True, timeout=300, cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "GENDSL_RUNTIME": "compiled"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.sub(r", .*mixture\.py:", ", mixture.py:", done.stdout, count=1) == shown


def test_what_the_quick_look_runs_is_there():
    command = re.search(r"pytest -n auto (tests/.*)", README).group(1)
    assert all((ROOT / place).exists() for place in command.split())
