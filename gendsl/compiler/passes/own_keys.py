"""Dicts of choices, by the indices of their addresses, are looked up as these choices.

    x = {}                                               for i in range(n):
    for i in range(n):                                       name = names[i]
        name = names[i]                                      state.x[name]
        x[name] = state.x[name]                              ...
        ...                                              for i in range(n):
    for i in range(n):                           ->          v = state.x.look(names[i])
        v = x[names[i]]                                      ...
        ...

Each choice is made once, and so has one place in the dict. Where data say which keys are put, and which are
looked up, a key that is not there would have been missed in the current trace.
"""

from __future__ import annotations

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Body,
    Call,
    Function,
    If,
    Loop,
    Read,
    Var,
    Visit,
)
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.text_effects import TextEffects
from gendsl.compiler.passes.made_lists import MadeLists, item_of
from gendsl.compiler.passes.of_data import given
from gendsl.compiler.passes.slices import rewritten


def look_up(function: Function, effects: TextEffects) -> None:
    """Let choices be looked up in place of items of dicts that have them by their own indices."""
    lists = MadeLists(function, effects)
    data = given(function, lists.indices, effects, in_loops=True, made=True)
    found: dict[Var, Template] = {}
    for one in lists.every:
        root = _dict_made_by(one)
        if root is not None:
            template = _template_of(lists, data, root)
            if template is not None:
                found[root] = template

    def changed(one: hir.Statement) -> Body | None:
        if _dict_made_by(one) in found:
            return []
        if not isinstance(one, Call) or not one.args or one.args[0] not in found:
            return None
        if one.function.on_dict[0] == "put":
            return []
        ref, *keys = one.args
        return [Read(list(one.targets), found[ref], tuple(keys), False, line=one.line)]  # type: ignore[index]

    function.body = rewritten(function.body, changed)


def _dict_made_by(one: hir.Statement) -> Var | None:
    return one.targets[0] if isinstance(one, Call) and one.function.on_dict[0] == "new_dict" else None


def _template_of(lists: MadeLists, data: set[Var], root: Var) -> Template | None:
    """The template of the choices that a dict has, if it has nothing else, by keys that are data."""
    if lists.indices.sets[root] != 1:
        return None
    templates: list[Template] = []
    for one in lists.users.get(root, []):
        if not isinstance(one, Call) or one.args.count(root) != 1 or one.args[0] != root:
            return None
        does, rank = one.function.on_dict
        keys = tuple(one.args[1 : 1 + rank])
        if does not in ("get", "put") or not variables_of(*keys) <= data:
            return None
        if does == "put":
            item = item_of(one)
            maker = lists.makers.get(item[0]) if isinstance(item[0], Var) else None
            if not isinstance(maker, Visit) or tuple(maker.targets) != item or tuple(maker.indices) != keys:
                return None
            around = lists.indices.around[id(one)]
            tests = [outer.test for outer in around if isinstance(outer, If)]
            if any(isinstance(outer, Loop) for outer in around) or not variables_of(*tests) <= data:
                return None
            templates.append(maker.template)
    return templates[0] if templates and all(one == templates[0] for one in templates) else None
