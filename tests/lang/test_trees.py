"""Trees: gone through, copied, changed and placed as the standard library does it."""

import ast
import copy
import sys
from pathlib import Path

import numpy as np
import pytest

import gendsl
from gendsl.lang.trees import Transformer, Visitor, children, clone, located, walk

RARE = """
import a.b as c, d
from ..e import f as g, h
from . import *
@first
@second(1, key=2)
async def run(x, /, y: int = 1, *rest: str, z, w=None, **more) -> None:
    global u, v
    async with x as y, z:
        async for i in await y:
            yield i
    return [j async for j in i if j if not i]
class Made(Base, metaclass=Meta):
    value: int
    (other): float = 1.0
def inner():
    nonlocal_ = 1
    def deeper():
        nonlocal nonlocal_
        del nonlocal_, x[1], y.z
        yield from x
    return lambda a, b=1, *c, d, e=2, **f: (a, b)
match point:
    case {"x": 1, "y": Point(a, b=2), **rest} if rest: pass
    case [first, *others] | (first, others): pass
    case 1 + 2j | None | "text" as whole: raise Error from cause
    case _: assert x, "message"
try:
    x = y = 1
except (A, B) as error:
    raise
except:
    pass
else:
    x |= y @ z
finally:
    while not x: break
    else: continue
try: pass
except* A: pass
{**a, "b": c, 1: ...}, {1, *x}, x[1:2:3, ::, ...], f"{x!r:>{width}} {y=}", b"", -x ** ~y
a if b else c, a < b <= c is not d not in e, (a and b or c), (n := 1), {k: v for k, v in x}, {k for k in x}
f(*a, b, **c, d=e), [x, y], (i for i in x)
if x: pass
for i in x: pass
with x: pass
"""
if sys.version_info >= (3, 12):
    RARE += "type A[T: int, *Ts, **P] = B[T]\ndef f[T](x: T): pass\nclass C[T: (int, str)]: pass\n"
if sys.version_info >= (3, 13):
    RARE += "type A[T = int] = B\n"

FILES = [
    Path(gendsl.__file__).parent / name
    for name in ("runtime/lowering/effects.py", "runtime/lowering/lower.py", "lang/source.py")
]
TEXTS = [RARE, *(path.read_text() for path in FILES)]
UNPLACED = ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop
PLACE = "lineno", "col_offset", "end_lineno", "end_col_offset"

texts = pytest.mark.parametrize("text", TEXTS, ids=["rare", *(path.stem for path in FILES)])


def parts(nodes):
    return [node for node in nodes if not isinstance(node, UNPLACED)]


def lists(tree):
    return [value for node in ast.walk(tree) for value in vars(node).values() if isinstance(value, list)]


def test_rare_syntax_has_every_class_of_node():
    def last(kind):
        return not kind.__subclasses__()

    def kinds(kind):
        return [kind, *(inner for one in kind.__subclasses__() for inner in kinds(one))]

    old = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice", "Suite", "Param"}
    old |= {"AugLoad", "AugStore", "TypeIgnore", "FunctionType", "Expression", "Interactive", "slice"}
    every = {kind.__name__ for kind in kinds(ast.AST) if last(kind) and kind.__module__ in ("ast", "_ast")}
    found = {type(node).__name__ for node in ast.walk(ast.parse(RARE))}
    operators = {kind.__name__ for base in UNPLACED for kind in base.__subclasses__()}
    assert every - found - operators - old == set()


# --- going through ---------------------------------------------------------------------------------


@texts
def test_walk_and_children_find_what_the_standard_library_finds(text):
    tree = ast.parse(text)
    assert walk(tree) == parts(ast.walk(tree))
    for node in ast.walk(tree):
        assert children(node) == parts(ast.iter_child_nodes(node))


def test_a_node_without_some_of_its_fields():
    bare = ast.Expr.__new__(ast.Expr)
    assert walk(bare) == [bare]
    assert children(bare) == []
    assert vars(clone(bare)) == {}


@texts
def test_a_visitor_goes_where_the_standard_librarys_goes(text):
    def made(base):
        class Seen(base):
            def visit_Name(self, node):
                seen.append(node)

            def visit_Call(self, node):
                seen.append(node)
                self.generic_visit(node)

            def visit_FunctionDef(self, node):
                for statement in node.body:
                    self.visit(statement)

        seen = []
        Seen().visit(tree)
        return seen

    tree = ast.parse(text)
    assert made(Visitor) == made(ast.NodeVisitor)


# --- changing --------------------------------------------------------------------------------------


@texts
def test_a_transformer_changes_what_the_standard_librarys_changes(text):
    def made(base):
        class Changed(base):
            def visit_Name(self, node):
                return ast.copy_location(ast.Attribute(node, "part", node.ctx), node)

            def visit_Call(self, node):
                self.generic_visit(node)
                node.args.append(ast.Constant(1))
                return node

            def visit_Assign(self, node):
                self.generic_visit(node)
                return [node, ast.copy_location(ast.Pass(), node)]

            def visit_ClassDef(self, node):
                return node

        return ast.dump(Changed().visit(ast.parse(text)), include_attributes=True)

    assert made(Transformer) == made(ast.NodeTransformer)


# --- making ----------------------------------------------------------------------------------------


@texts
def test_a_clone_is_equal_and_shares_no_part(text):
    tree = ast.parse(text)
    before = ast.dump(tree, include_attributes=True)
    made = clone(tree)
    assert ast.dump(made, include_attributes=True) == before
    assert [type(node) for node in ast.walk(made)] == [type(node) for node in ast.walk(copy.deepcopy(tree))]
    assert {*map(id, walk(made))}.isdisjoint(map(id, walk(tree)))
    assert {*map(id, lists(made))}.isdisjoint(map(id, lists(tree)))
    for node in walk(made):
        node.__dict__.clear()
    assert ast.dump(tree, include_attributes=True) == before


def test_a_clone_keeps_what_was_noted_on_a_node():
    name = ast.Name("x", ast.Load())
    name.stands_for = "a[i]"
    made = clone(ast.Expr(name))
    assert made.value is not name
    assert made.value.stands_for == "a[i]"


def test_a_part_in_two_places_is_copied_twice():
    name = ast.Name("x", ast.Load())
    made = clone(ast.Tuple([name, name], ast.Load()))
    assert made.elts[0] is not made.elts[1]


@texts
def test_parts_without_a_place_get_one_as_by_the_standard_library(text):
    rng = np.random.default_rng(1)
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if node._attributes and rng.random() < 0.5:
            for name in PLACE:
                if rng.random() < 0.8:
                    delattr(node, name)
                elif name.startswith("end") and rng.random() < 0.5:
                    setattr(node, name, None)
    expected = ast.dump(ast.fix_missing_locations(copy.deepcopy(tree)), include_attributes=True)
    assert located(tree) is tree
    assert ast.dump(tree, include_attributes=True) == expected


def test_what_is_nowhere_stands_at_the_beginning():
    made = located(ast.Expression(ast.Name("x", ast.Load())))
    assert [getattr(made.body, name) for name in PLACE] == [1, 0, 1, 0]
