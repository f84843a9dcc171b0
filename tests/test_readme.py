"""The README's program runs as printed, and its commands are those that CI runs."""

import configparser
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_program_runs_as_printed_and_finds_two_clusters(tmp_path):
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
    assert lines[1].split()[:2] == ["split_merge", "accepted"]
    probability = {k: float(p) for k, p in re.findall(r"p\(k = (\d) \| x\) = ([\d.]+)", done.stdout)}
    assert set(probability) == {"1", "2"}
    assert abs(sum(probability.values()) - 1) < 2e-3
    assert probability["2"] > 0.5


def test_the_program_is_about_thirty_lines():
    program = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    code = [line for line in program.splitlines() if line.strip()]
    assert len(code) <= 40


def test_the_two_commands_are_there():
    for name in ("galaxies", "tests"):
        command = re.search(rf"<!-- command: {name} -->\n```sh\n(.*?)\n```", README).group(1)
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install -q -e ")


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
    needs = {"plot_k_trace(": "matplotlib", "run.summary()": "arviz", "run.to_arviz()": "arviz",
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
