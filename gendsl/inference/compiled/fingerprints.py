"""What a text is made from, as bytes that are the same in another process if all of it is.

All that a reader of a program may come to is gone through by `pickle`: functions by their code, with the
values of the names that they use, of closures and of defaults; classes by what is in them; modules by what
the names in functions are there; other objects by their class and state. What belongs to Python, to NumPy and
SciPy or to gendsl is told by its name. What can't be gone through is never found to be the same.
"""

from __future__ import annotations

import builtins
import copyreg
import dis
import functools
import io
import os
import pickle
import random
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy
import scipy

from gendsl.compiler.moves import Walk, Warming
from gendsl.runtime.generative import GenFunction
from gendsl.transforms.language import Transform

FAILURES = (Exception,)
"""What is raised where an object can't be gone through: classes say themselves why they can't be."""

_VERSIONED = frozenset({"gendsl", "numpy", "scipy"})
"""What is told by `installation`, beside Python's own modules."""
_OF_NO_MATTER = frozenset(
    {"__dict__", "__weakref__", "__doc__", "_abc_impl", "__firstlineno__", "__static_attributes__"}
)
"""What there is in a class that decides nothing."""
OF_LIBRARIES = (
    FunctionType, BuiltinFunctionType, numpy.ufunc, type(numpy.sum), type, ModuleType,
    int, float, complex, str,
)  # fmt: skip
"""What is looked at in libraries: somebody may have put something else there."""
_SCALARS = (str, int, float, bool, bytes, type(None))
_IMPORT = dis.opmap["IMPORT_NAME"]
_GENERATORS = (random.Random, numpy.random.Generator, numpy.random.RandomState)
_WAYS = ("__reduce_ex__", "__reduce__", "__getstate__", "__getnewargs_ex__", "__getnewargs__")
"""The methods by which a class says what there is of its objects."""


class Fingerprint(pickle.Pickler):
    """The bytes of some objects, and all objects that were met on the way, in order.

    Attributes:
        met: these; of two processes with the same bytes, the n-th of one stands for the n-th of the other.
        numbers: their places, by their identity.
    """

    def __init__(self, *roots: Any) -> None:
        """
        Raises:
            FAILURES: there is something that can't be gone through.
        """
        self._file = io.BytesIO()
        super().__init__(self._file, protocol=5)
        self.met: list[Any] = []
        self.numbers: dict[int, int] = {}
        self._names: set[str] = set()
        self._modules: dict[str, ModuleType] = {}
        self._told: set[tuple[str, str]] = set()
        self.dump(roots)
        while found := list(self._of_modules()):
            self.dump(found)

    @property
    def bytes(self) -> bytes:
        """What is the same where all that was gone through is."""
        return self._file.getvalue()

    def meet(self, found: Any) -> None:
        """Give an object its place, if it has none."""
        if id(found) not in self.numbers:
            self.numbers[id(found)] = len(self.met)
            self.met.append(found)

    def _of_modules(self) -> Iterator[tuple[str, str, Any]]:
        """What the names in functions are in the user's modules, as far as it is not told yet."""
        for module, name in sorted((module, name) for module in self._modules for name in self._names):
            if (module, name) in self._told:
                continue
            self._told.add((module, name))
            if not is_library(module):
                yield module, name, getattr(self._modules[module], name, None)
                continue
            # asking a library for what it doesn't have may be answered with a warning
            found = vars(self._modules[module]).get(name)
            # its own objects, such as its generator of random numbers, are no part of a program
            if isinstance(found, OF_LIBRARIES):
                yield module, name, found

    # --- how an object is told ----------------------------------------------------------------------

    def persistent_id(self, found: Any) -> Any:
        """Note an object; sets, whose order is another in each process, are told in order."""
        if isinstance(found, _SCALARS):
            return None
        self.meet(found)
        if type(found) in (set, frozenset):
            if not all(map(_is_plain, found)):
                raise pickle.PicklingError("a set of what has no order")
            return type(found).__name__, sorted(map(repr, found))
        return None

    def reducer_override(self, found: Any) -> Any:
        match found:
            case FunctionType():
                return NotImplemented if _is_by_name(found) else self._function(found)
            case CellType():
                try:
                    return _told, ("cell",), found.cell_contents
                except ValueError:
                    return _told, ("empty cell",)
            case CodeType():
                return _told, ("code", *_code(found))
            case BuiltinFunctionType() if not isinstance(found.__self__, (ModuleType, type, type(None))):
                owner = found.__self__
                of_generator = isinstance(owner, _GENERATORS)  # which changes all the time
                return _told, ("method", found.__name__, type(owner)), None if of_generator else owner
            case ModuleType():
                self._modules[found.__name__] = found
                return _told, ("module", found.__name__)
            case MethodType():
                return _told, ("method", found.__func__, found.__self__)
            case property():
                return _told, ("property", found.fget, found.fset, found.fdel)
            case functools.cached_property():
                return _told, ("cached property", found.func)
            case classmethod() | staticmethod():
                return _told, (type(found).__name__, found.__func__)
            case MappingProxyType():
                return _told, ("mapping", dict(found))
            case GenFunction():
                return _told, ("program",), (found.compiled.original, found.bound, found.kind, found.direct)
            case Transform(origin=origin, inputs=inputs, outputs=outputs, parameters=parameters):
                bound = found.body.args if isinstance(found.body, functools.partial) else ()
                return _told, ("transform",), (origin.function, inputs, outputs, parameters, bound)
            case Walk():
                return _told, ("walk", *found.layout)
            case Warming():
                return _told, ("warming", found.name, found.walk, found.rule)
            case functools._lru_cache_wrapper():
                return _told, ("remembered",), (found.__wrapped__, vars(found))
            case type():
                return NotImplemented if _is_by_name(found) else self._class(found)
        cls = type(found)
        if cls.__name__ in ("member_descriptor", "getset_descriptor", "wrapper_descriptor"):
            return _told, (cls.__name__, found.__name__)
        if not _is_told_whole(cls):
            raise pickle.PicklingError(f"a {cls.__qualname__}, whose class says what is to be told of it")
        return NotImplemented

    def _function(self, function: FunctionType) -> Any:
        code, known, attributes = function.__code__, function.__globals__, vars(function)
        self.meet(known)
        told = _told, ("function", function.__module__, function.__qualname__, code)
        if not is_library(str(known.get("__name__"))):
            names = sorted(_names(code))
            self._names |= set(names)
            for module in sorted(_imported(code)):
                if module not in sys.modules and not is_library(module):
                    raise pickle.PicklingError(f"{module}, which is not imported yet")
                self._modules |= {at: sys.modules[at] for at in _around(module) if at in sys.modules}
            every = {**vars(builtins), **known}
            named = [(name, every[name]) for name in names if name in every]
        elif "__wrapped__" in attributes:  # what gendsl puts around a function may remember things
            return *told, attributes["__wrapped__"]
        else:
            named = []
        given = function.__closure__, function.__defaults__, function.__kwdefaults__
        return *told, (named, given, attributes)

    def _class(self, cls: type) -> Any:
        inside = [(name, value) for name, value in vars(cls).items() if name not in _OF_NO_MATTER]
        return _told, ("class", cls.__module__, cls.__qualname__), (type(cls), cls.__bases__, inside)


def _told(*_: Any) -> Any:
    """Stands in the bytes for what makes an object: they are never read."""
    raise pickle.UnpicklingError("a fingerprint is not to be read")


def _is_plain(found: Any) -> bool:
    """Whether an object is told by how it is shown."""
    if type(found) is tuple:
        return all(map(_is_plain, found))
    return type(found) in _SCALARS


def _is_by_name(found: Any) -> bool:
    """Whether a function or a class is told by its name: it is a library's, and that is where it is."""
    module, name = found.__module__, found.__qualname__
    if not isinstance(module, str) or module not in sys.modules or not is_library(module):
        return False
    at: Any = sys.modules[module]
    for part in name.split("."):
        at = getattr(at, part, None)
    return at is found


@functools.cache
def is_library(module: str) -> bool:
    """Whether a module is Python's own, or of a package that `installation` tells."""
    package = module.partition(".")[0]
    if package in _VERSIONED:
        return True
    if package not in sys.stdlib_module_names:
        return False
    file = getattr(sys.modules.get(package), "__file__", None)
    if file is None:
        return package in sys.builtin_module_names
    folders = sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")
    return any(Path(file).is_relative_to(folder) for folder in folders) and "site-packages" not in file


def _is_told_whole(cls: type) -> bool:
    """Whether Python or a library says what there is of the objects of a class, and not the user."""
    ways = [copyreg.dispatch_table.get(cls)]
    for way in _WAYS:
        base = next((base for base in cls.__mro__ if way in vars(base)), object)
        method = vars(base).get(way)
        ways.append(method if isinstance(method, FunctionType) else base)
    return all(one is None or is_library(str(one.__module__)) for one in ways)


def _code(code: CodeType) -> tuple[Any, ...]:
    """What a function does, and the numbers of its lines; but not in which file."""
    return (
        code.co_code, code.co_consts, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars,
        code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount,
        code.co_firstlineno, code.co_linetable, code.co_exceptiontable,
    )  # fmt: skip


def _names(code: CodeType) -> set[str]:
    """The names in a function and in those inside of it, and its strings, which may be names, too."""
    found = {*code.co_names, *(one for one in code.co_consts if isinstance(one, str))}
    for one in code.co_consts:
        if isinstance(one, CodeType):
            found |= _names(one)
    return found


def _imported(code: CodeType) -> set[str]:
    """The modules that a function imports, and those inside of it."""
    found = set[str]()
    if _IMPORT in code.co_code[::2]:
        found |= {str(one.argval) for one in dis.get_instructions(code) if one.opcode == _IMPORT}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= _imported(inner)
    return found


def _around(module: str) -> Iterator[str]:
    """A module and the packages that it is in, by their names."""
    while module:
        yield module
        module = module.rpartition(".")[0]


@functools.cache
def installation() -> str:
    """What is the same as long as nobody changes gendsl or what it is made of: versions, and its files."""
    files = sorted(_files(Path(__file__).parents[2]))
    return " ".join(map(str, (sys.version, numpy.__version__, scipy.__version__, *files)))


def _files(folder: Path) -> Iterator[tuple[str, int, int, int]]:
    for entry in os.scandir(folder):
        if entry.is_dir():
            yield from _files(Path(entry.path))
        elif entry.name.endswith(".py"):
            found = entry.stat()
            yield entry.path, found.st_size, found.st_mtime_ns, found.st_ctime_ns
