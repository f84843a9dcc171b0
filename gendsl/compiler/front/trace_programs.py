"""What the program of a trace has there: distributions of its choices, and what its calls returned."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.hir import Expr, Var
from gendsl.compiler.hir.rewriting import replaced, variables_of
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.types import NEVER, leaves
from gendsl.compiler.hir.values import Value


def distribution_at(
    frame: Frame,
    template: Template,
    indices: tuple[Expr, ...],
    *,
    is_given: bool = False,
    counted: tuple[Template, Expr] | None = None,
) -> Value:
    """The distribution of a choice of a trace: what its program has there.

    Args:
        counted: a choice of an integer, and which one the program finds in its place: then it may come to
            choices that the trace does not have, as those of more components.
        is_given: whether the program in which this is asked is given the trace; else it is the state,
            whose choices have other values while they are updated than what is read of a trace.
    """
    program = frame.program
    fixed = program.fixed_parameters(template)
    if fixed is not None and counted is None and (is_given or not program.deciding(template, fixed)):
        return _fixed_distribution(frame, template, fixed)
    noted = program.distributions[template.number]
    _, kind = noted[0]
    if any(other != kind for _, other in noted):
        program.facts.flag(program.told(template))  # from the next walk on they are of one type
        kind = program.facts.canonical(program.facts.get(program.told(template)))
        if kind == NEVER:
            raise frame.not_closed("the distribution of a choice, of one type or another")
    key = template.number, None if counted is None else counted[0].number
    if key not in program.asked:
        name, origin = f"distribution_of_{template.name}", f"the distribution of {template.name}"
        made = hir.Function(program.function_name(name), results=list(leaves(kind)), origin=origin)
        program.asked[key] = template, made, None if counted is None else counted[0]
    given = [leaf for value in program.arguments_of(template.trace) for leaf in value.leaves]
    targets = [frame.fresh("parameter", leaf) for leaf in leaves(kind)]
    number = [] if counted is None else [counted[1]]
    frame.emit(hir.Call(list(targets), program.asked[key][1], [*indices, *number, *given]))
    return Value(kind, tuple(targets))


def _fixed_distribution(frame: Frame, template: Template, parameters: Sequence[Expr]) -> Value:
    program = frame.program
    read: dict[int, list[Var]] = {}
    for one in program.deciding(template, parameters):
        read[one.number] = [frame.fresh(one.label, kind) for kind in leaves(one.type)]
        frame.emit(hir.Read(list(read[one.number]), one, ()))
    sources = program.definitions(template).sources
    numbers: dict[Var, Expr] = {}
    for var in variables_of(*parameters):
        source, leaf = sources[var]
        if isinstance(source, int):
            numbers[var] = program.arguments_of(template.trace)[source].leaves[leaf]
        else:
            numbers[var] = read[source.number][leaf]
    found = [frame.atom(replaced(parameter, numbers)) for parameter in parameters]
    return Value(program.distributions[template.number][0][0].type, tuple(found))


def returned_at(
    frame: Frame, trace: str, called: Template | FunctionType, indices: tuple[Expr, ...]
) -> Value | None:
    """What a call of a trace's program returned; None if that is not known.

    Args:
        called: the template of the call, or the program, if it calls itself.
        indices: those of the call's address, or its node.
    """
    program = frame.program
    results = program.results.get((trace, called), set())
    if len(results) != 1:
        if results:
            raise frame.not_closed("what a call returned, of one type or another")
        return None
    (result,) = results
    key = trace, called
    if key not in program.returned:
        name = called.name if isinstance(called, Template) else called.__name__
        made = hir.Function(
            program.function_name(f"{name}_returned"),
            results=list(leaves(result)),
            origin=f"what a call of {name} returned",
        )
        program.returned[key] = made
    program.returned[key].is_discrete = program.facts.is_discrete(result)
    given = [leaf for value in program.arguments_of(trace) for leaf in value.leaves]
    targets = [frame.fresh("value", kind) for kind in leaves(result)]
    frame.emit(hir.Call(list(targets), program.returned[key], [*indices, *given]))
    return Value(result, tuple(targets))
