"""Functions of a text that say the same are one, and those that do not stay two."""

from gendsl.compiler.hir import Call, Const, Function, Op, Return, Var
from gendsl.compiler.passes.merge import merge
from gendsl.compiler.python.print_python import compile_python, print_python

X = Var("x", "f")


def plus(name, number, origin="f, line 3"):
    return Function(name, [X], ["f"], [Return([Op("add", (X, Const(number, "f")), "f")])], origin)


def calling(name, *called):
    targets = [Var(f"t{place}", "f") for place in range(len(called))]
    calls = [Call([target], one, [X]) for target, one in zip(targets, called, strict=True)]
    return Function(name, [X], [one.kind for one in targets], [*calls, Return(list(targets))])


def test_what_says_the_same_is_one():
    inner = [calling("once_draw", plus("f_draw", 1.0)), calling("once_score", plus("f_score", 1.0))]
    main = calling("main", *inner)
    merge([main], str)
    assert [call.function.name for call in main.body[:2]] == ["once", "once"]
    text = print_python(main)
    assert text.count("def ") == 3
    assert compile_python(text, {})["main"](None, 2.0) == (3.0, 3.0)


def test_what_differs_is_not():
    zeros = [plus("a", 0.0), plus("b", -0.0), plus("c", 0.0, "g, line 4")]
    main = calling("main", *zeros)
    merge([main], str)
    assert [call.function.name for call in main.body[:3]] == ["a", "b", "c"]


def test_steps_stay_apart():
    """Each step has a place of its own in a schedule, though two say the same."""
    steps = [plus("step_a", 1.0), plus("step_b", 1.0)]
    merge(steps, str)
    assert [step.name for step in steps] == ["step_a", "step_b"]
