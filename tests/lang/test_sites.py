"""Sites: the addresses that assignments give, and which site an error came from."""

import ast
import sys

import pytest

from gendsl import gen, normal
from gendsl.lang.sites import (
    Site,
    address_in_frame,
    assigned_address,
    is_addressed,
    is_choice,
    is_program,
    is_splice,
    known_value,
)
from gendsl.runtime.lowering.build import compile_function


def expression(text):
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    "target, address",
    {
        "x": "('x',)",
        "mu[i]": "('mu', i)",
        "mu[i, j]": "('mu', i, j)",
        "mu[i][j, 'k'][f(x)]": "('mu', i, j, 'k', f(x))",
        "mu[()]": "('mu',)",
        "mu[(1, 2), 3]": "('mu', (1, 2), 3)",
        "x.y": None,
        "x.y[0]": None,
        "f()[0]": None,
        "mu[1:2]": None,
        "mu[0, 1:]": None,
        "mu[...]": None,
        "mu[0, ...]": None,
        "mu[*i]": None,
        "(a, b)": None,
    }.items(),
)
def test_assigned_address(target, address):
    found = assigned_address(expression(target))
    assert (None if found is None else ast.unparse(found)) == address


def test_shapes_of_expressions():
    assert is_choice(expression("~x")) and not is_choice(expression("-x"))
    assert is_addressed(expression("a @ ~x")) and not is_addressed(expression("a * ~x"))
    assert not is_addressed(expression("a @ x"))
    assert is_splice(expression("...")) and not is_splice(expression("None"))
    for text, expected in {
        "@gen\ndef f(): pass": True,
        "@gendsl.gen(debug=True)\ndef f(): pass": True,
        "@other\n@gen\ndef f(): pass": True,
        "@other\ndef f(): pass": False,
        "@gen\nclass C: pass": False,
    }.items():
        assert is_program(ast.parse(text).body[0]) is expected


def test_spans():
    site = Site((2, 4), (8, 3), None)
    inside = [(2, 8), (3, 0), (4, 2)]
    outside = [(2, 7), (1, 9), (4, 3), (5, 0)]
    assert all(site.spans(*p) for p in inside) and not any(site.spans(*p) for p in outside)


class Holder:
    attribute = 7


def test_known_values():
    outer, later = 3, None

    def function(parameter):
        local = ast
        [[comprehended] for comprehended in ()]
        return outer, later, local, sys.version, Holder.attribute, missing  # noqa: F821

    source = compile_function(function).origin
    known = {
        name: known_value(source, expression(name))
        for name in ("outer", "sys.version", "pytest.raises", "Holder", "Holder.attribute", "f()")
    }
    assert known == {
        "outer": 3,
        "sys.version": sys.version,
        "pytest.raises": pytest.raises,
        "Holder": Holder,
        "Holder.attribute": None,  # a class may compute it
        "f()": None,
    }
    for name in ("parameter", "local", "comprehended", "missing", "local.parse"):
        assert known_value(source, expression(name)) is None


def test_an_empty_cell_is_not_known():
    def function():
        return later

    source = compile_function(function).origin
    assert known_value(source, expression("later")) is None
    later = 1


def test_address_in_frame_evaluates_only_what_is_pure():
    calls = []

    def here():
        i = 2
        calls_too = calls.append
        return sys._getframe()

    frame = here()

    def at(text):
        sites = [Site((1, 1), (0, 100), expression(text)), Site((1, 1), (90, 95), expression("'inner'"))]
        return address_in_frame(sites, frame, 1, 10)

    assert at("('x', i + 1)") == ("x", 3)
    assert at("('x', calls_too(1))") is None and calls == []
    assert at("('x', undefined)") is None
    assert address_in_frame([], frame, 1, 10) is None
    sites = [Site((1, 1), (0, 100), expression("'outer'")), Site((1, 1), (5, 20), expression("'inner'"))]
    assert address_in_frame(sites, frame, 1, 10) == "inner"
    assert address_in_frame(sites, frame, 1, 30) == "outer"


def test_sites_of_a_program():
    @gen
    def model(n):
        x = ~normal(0, 1)
        y = [0]
        y[n - 1] = ~normal("inner" @ ~normal(0, 1), 1)
        ... @ ~other(1)  # noqa: F821
        return ~n

    found = [None if s.address is None else ast.unparse(s.address) for s in model.compiled.sites]
    assert found == ["('x',)", "('y', n - 1)", "'inner'", None, None]
