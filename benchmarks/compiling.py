"""The time from a function to its first trace, for a body of 50 lines."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import itertools
from pathlib import Path
from types import ModuleType

from harness import Row, Scale

from gendsl import gen

BODY = Path(__file__).with_name("fifty_lines.py")
MOST_US = 50_000
ARGS = (5, 3)
_numbers = itertools.count()


def fresh_module() -> ModuleType:
    """The module of the body, loaded anew, so that nothing is known of its code."""
    spec = importlib.util.spec_from_file_location(f"fifty_lines_{next(_numbers)}", BODY)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def decorate_and_run(module: ModuleType) -> None:
    gen(module.fifty_lines).simulate(ARGS, rng=1)


def parse_and_compile(module: ModuleType) -> None:
    """What Python itself needs for the same lines."""
    compile(ast.parse(inspect.getsource(module.fifty_lines)), str(BODY), "exec")


def first_run(scale: Scale) -> list[Row]:
    """Decorate, and simulate once."""
    lines = len(inspect.getsource(fresh_module().fifty_lines).splitlines()) - 1
    return [
        Row(
            "decorate a body of N lines and run it", lines, decorate_and_run, "ast.parse, compile",
            parse_and_compile, fresh=fresh_module, most_us=MOST_US,
        )
    ]  # fmt: skip


GROUPS = {"compile": first_run}
