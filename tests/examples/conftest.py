"""What tests of examples share: how a script that isn't in a package is loaded."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def load_example():
    """A function from an example's name to its module."""

    def load(name):
        spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look their module up
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture
def run_main(tmp_path, monkeypatch, capsys):
    """A function that runs an example as a command, and gives what it printed and its figure's size."""

    def run(module, *options):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [f"{module.__name__}.py", *options])
        module.main()
        return capsys.readouterr().out, (tmp_path / f"{module.__name__}.png").stat().st_size

    return run
