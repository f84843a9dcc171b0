"""Things by their names: in modules that can be imported, and in files that are out of reach."""

import math
import os
import sys
from types import ModuleType

import pytest

from gendsl import gen, normal
from gendsl.errors import FileFormatError
from gendsl.inference import mh
from gendsl.inference.running.by_name import files_of, found, function_name, load_file, variable_of


@gen
def walk(trace):
    x = ~normal(trace["x"], 1)


KERNEL = mh(walk)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with modules that isn't on the path, as another program would find it."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    (tmp_path / "alone_by_name.py").write_text("import neighbour_by_name\nVALUE = neighbour_by_name.VALUE\n")
    (tmp_path / "neighbour_by_name.py").write_text("VALUE = 'here'\n")
    package = tmp_path / "package_by_name" / "inner"
    package.mkdir(parents=True)
    (tmp_path / "package_by_name" / "__init__.py").write_text("TOP = 1\n")
    (package / "__init__.py").write_text("class Kernels:\n    slow = 2\n")
    (package / "moves.py").write_text("from package_by_name import TOP\nDEEP = TOP + 2\n")
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_what_can_be_imported_is_found_by_its_name():
    assert variable_of(KERNEL, __name__) == f"{__name__}:KERNEL"
    assert variable_of(mh(walk), __name__) is None
    assert found(f"{__name__}:KERNEL", {}, "the kernel", "kernel") is KERNEL
    assert function_name(math.sqrt) == "math:sqrt" and function_name(lambda trace: 1) is None
    assert files_of(["math:sqrt", None, f"{__name__}:KERNEL"]).keys() <= {"math", __name__}
    assert files_of([f"{__name__}:KERNEL"]) == {__name__: os.path.abspath(__file__)}


@pytest.mark.parametrize(
    ("place", "file", "value"),
    [
        ("alone_by_name:VALUE", "alone_by_name.py", "here"),
        ("package_by_name:TOP", "package_by_name/__init__.py", 1),
        ("package_by_name.inner:Kernels.slow", "package_by_name/inner/__init__.py", 2),
        ("package_by_name.inner.moves:DEEP", "package_by_name/inner/moves.py", 3),
    ],
)
def test_a_module_out_of_reach_is_found_by_its_file(folder, place, file, value):
    module = place.partition(":")[0]
    with pytest.raises(FileFormatError, match="x is not found: it was "):
        found(place, {}, "x", "kernel")
    assert found(place, {module: str(folder / file)}, "x", "kernel") == value
    assert sys.modules[module].__file__ == str(folder / file)


def test_a_script_is_imported_if_it_can_be(folder):
    script = folder / "script_by_name.py"
    script.write_text("VALUE = 5\nif __name__ == '__main__':\n    raise SystemExit\n")
    assert found("__main__:VALUE", {"__main__": str(script)}, "x", "kernel") == 5
    script.write_text("VALUE = 5\nraise SystemExit\n")
    with pytest.raises(FileFormatError, match="can't be imported without running it") as caught:
        found("__main__:OTHER", {"__main__": str(script)}, "x", "kernel")
    assert 'under `if __name__ == "__main__":`, or pass it: resume(path, kernel=...)' in caught.value.fix


@pytest.mark.parametrize(
    ("place", "files", "reason"),
    [
        (None, {}, "no variable of a module held it"),
        ("__main__:nothing", {}, "it was nothing in a notebook or an interactive session"),
        ("no_such_module:nothing", {}, "it was nothing in module no_such_module"),
        ("math:f.<locals>.g", {}, "it was made inside a function, f.<locals>.g"),
        ("math:nothing", {"math": "/no/such/file.py"}, "in the file /no/such/file.py, which is gone"),
        (f"{__name__}:nothing", {__name__: __file__}, f"{__file__} has no nothing any more"),
    ],
)
def test_what_is_not_found_says_why(monkeypatch, place, files, reason):
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    with pytest.raises(FileFormatError, match=r"x is not found|has no nothing") as caught:
        found(place, files, "x", "kernel")
    assert reason in caught.value.problem and "pass it: resume(path, kernel=...)" in caught.value.fix


def test_a_file_with_the_name_of_another_module(folder):
    (folder / "math.py").write_text("")
    with pytest.raises(FileFormatError, match="has the name of another module, math"):
        load_file(folder / "math.py")
