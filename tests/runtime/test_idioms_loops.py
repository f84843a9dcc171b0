"""Loops, conditions and what they go through, as Python allows them, mean on both runtimes the same."""

import ast

import pytest

from gendsl import gen, normal
from gendsl.compiler.lower import lower
from gendsl.compiler.source import find_source
from gendsl.runtime import small
from tests.runtime.idioms import SEEDS, Programs

PROGRAMS = Programs()
written = PROGRAMS.written


# --- assignments in conditions ---------------------------------------------------------------------


@written()
@gen
def assigned_in_conditions(n):
    top = -1.0
    xs = [("x", i) @ ~normal(0, 1) for i in range(n)]
    doubled = [y for x in xs if (y := x * 2) > 0]
    if (top := max(xs)) > 0.5:
        ("above", 0) @ ~normal(top, 1)
    if (low := min(xs)) + (high := top + 1) > 0:
        ("between", 0) @ ~normal(high - low, 1)
    return doubled, top


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed):
    PROGRAMS.agree(name, seed)


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_runtimes_agree_where_bodies_are_executed_whole(name, monkeypatch):
    monkeypatch.setattr(small, "CHOICES", 24)
    monkeypatch.setattr(small, "may_be_small", lambda compiled: not small.is_forced())
    PROGRAMS.agree(name, 7)


@pytest.mark.parametrize("name", PROGRAMS)
def test_lowering_leaves_the_definition_as_it_is(name):
    model, _ = PROGRAMS[name]
    source = find_source(model.__wrapped__, "gen")
    before = ast.dump(source.node)
    lower(source)
    assert ast.dump(source.node) == before
