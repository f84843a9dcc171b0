"""Lifted functions: every call, and where asked for every assignment, goes through the lifter."""

import ast
import gc
import importlib.util
import math
import os.path
import weakref

import numpy as np

from gendsl.lang.lift import Lifter, lift_assignments, lift_calls


def lifted_text(text):
    return ast.unparse(lift_calls(ast.parse(text).body[0])).splitlines()[1:]


class Recorder(Lifter):
    """Notes what is called, and gives a version of `math.sqrt` that it can be told by."""

    def __init__(self, **options):
        super().__init__(self.replacement, **options)
        self.called = []

    def replacement(self, function):
        self.called.append(getattr(function, "__name__", function))
        return (lambda x: -1.0) if function is math.sqrt else None

    def put(self, value, container, index, *deeper):
        container = self.put(value, container[index], *deeper) if deeper else container
        return ("put", index, value) if not deeper else container

    def inplace(self, name, left, right):
        return name, left, right


def plain(x):
    return math.sqrt(x)


def nested(x, *, twice=False):
    def inner(y):
        return plain(y)

    return [inner(x) for _ in range(2)] if twice else inner(x)


class Thing:
    def __init__(self, x):
        self.x = x

    def method(self):
        return math.sqrt(self.x)

    @classmethod
    def of_class(cls, x):
        return cls.static(x)

    @staticmethod
    def static(x):
        return math.sqrt(x)

    def __private(self):
        return plain(self.x)

    def mangled(self):
        return self.__private()


class Child(Thing):
    def method(self):
        return super().method() + 1


def test_calls():
    assert lifted_text("def f(x):\n    return g(h(x), k=x.y(1)(2))") == [
        "    return __gendsl__.lift(g)(__gendsl__.lift(h)(x), k=__gendsl__.lift(__gendsl__.lift(x.y)(1))(2))"
    ]


def test_programs_inside_keep_their_calls():
    text = "def f():\n    @gen\n    def g():\n        h()\n    def k():\n        h()"
    assert "\n".join(lifted_text(text)).count("__gendsl__") == 1


def test_the_users_functions_are_lifted_in_their_turn():
    lifter = Recorder()
    assert lifter.lift(plain)(4.0) == -1.0 and plain(4.0) == 2.0
    assert lifter.lift(nested)(4.0) == -1.0
    assert lifter.lift(nested)(4.0, twice=True) == [-1.0, -1.0]
    assert lifter.lift(Thing(4.0).method)() == -1.0
    assert lifter.lift(Thing.of_class)(4.0) == -1.0
    assert lifter.lift(Thing.static)(4.0) == -1.0
    assert lifter.lift(Thing(4.0).mangled)() == -1.0
    assert lifter.lift(Child(4.0).method)() == 0.0


def test_closures_share_code_but_not_cells():
    def make(k):
        def add(x):
            return math.sqrt(x) + k

        return add

    lifter = Recorder()
    one, two = make(1), make(2)
    assert lifter.lift(one)(4.0) == 0.0 and lifter.lift(two)(4.0) == 1.0
    assert lifter.lift(one) is lifter.lift(one)
    gone = weakref.ref(make(3))
    temporary = make(4)
    gone = weakref.ref(temporary)
    lifter.lift(temporary)
    del temporary
    gc.collect()
    assert gone() is None  # the lifter doesn't keep closures alive


def test_recursion_through_a_cell():
    def count(n):
        return 0 if n == 0 else math.sqrt(n) + count(n - 1)

    assert Recorder().lift(count)(3) == -3.0


def test_what_stays_as_it_is():
    lifter = Recorder()
    square_root = lambda x: math.sqrt(x)
    assert lifter.lift(square_root) is square_root  # a lambda has no definition to find
    for function in (os.path.join, np.linspace, len, Thing, lifter):
        assert lifter.lift(function) is function
    namespace = {}
    exec("def made(x): return x", namespace)
    assert lifter.lift(namespace["made"]) is namespace["made"]


def test_equal_code_in_two_files(tmp_path):
    results = []
    for name, value in (("one", 1), ("two", 2)):
        path = tmp_path / f"{name}.py"
        path.write_text(f"def f():\n    return K()\ndef K():\n    return {value}\n")
        spec = importlib.util.spec_from_file_location(f"lifted_{name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        lifted = LIFTER.lift(module.f)
        results.append((lifted(), lifted.__code__.co_filename == str(path)))
    assert results == [(1, True), (2, True)]


LIFTER = Recorder()


def test_assignments():
    namespace = {}
    exec(ASSIGNMENTS, namespace)
    tree = ast.parse(ASSIGNMENTS).body[0]
    text = ast.unparse(lift_assignments(tree, namespace["function"])).splitlines()[1:]
    assert [line.strip() for line in text if line.strip()] == [
        "a = __gendsl__.put(1, a, 0)",
        "b = __gendsl__.put(2, b, (1, __gendsl__.slice(2, None, None)), b)",
        "a = __gendsl__.put(__gendsl__.inplace('add', a[1], 3), a, 1)",
        "a = __gendsl__.inplace('sub', a, 4)",
        "outside[0] = 5",
        "a.x[0] = 7",
        "a.x += 8",
        "a[f()] += 9",
        "c = a[0] = 10",
        "a[0]: int = 11",
        "if a:",
        "a = __gendsl__.put(12, a, 0)",
        "def inner(a):",
        "a[0] = 13",
    ]


ASSIGNMENTS = """
def function(a, b):
    a[0] = 1
    b[1, 2:][b] = 2
    a[1] += 3
    a -= 4
    outside[0] = 5
    a.x[0] = 7
    a.x += 8
    a[f()] += 9
    c = a[0] = 10
    a[0]: int = 11
    if a:
        a[0] = 12
    def inner(a):
        a[0] = 13
"""


def assigns(a):
    a[1:3] = 5
    b = a
    b += 1
    return a, b


def test_assignments_run():
    lifter = Recorder(assignments=True)
    put = ("put", slice(1, 3, None), 5)
    assert lifter.lift(assigns)([]) == (put, ("add", put, 1))
