"""How programs reach other processes: by name where they can be imported, else whole, by cloudpickle.

pickle finds a program by its name, which is how one of a module travels. Those of `__main__`, of a notebook
and of closures can't be found so elsewhere. cloudpickle takes along the functions that they were made from,
and what is registered here tells it how a program is made of them again. Programs may refer to each other and
to themselves, so that each is an empty object first, which is filled in once what it refers to is there.
"""

from __future__ import annotations

import linecache
import pickle
from collections import ChainMap
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any, ClassVar

import cloudpickle

from gendsl.runtime.generative import GenFunction
from gendsl.runtime.lowering.build import Compiled


def travels_whole(module: str | None) -> bool:
    """Whether what a module defines can't be imported elsewhere, or the user said so to cloudpickle."""
    if module is None or module == "__main__":
        return True
    whole: set[str] = cloudpickle.list_registry_pickle_by_value()
    return any(module == name or module.startswith(f"{name}.") for name in whole)


def register(kind: type, reduce: Callable[[Any], Any]) -> None:
    """Tell cloudpickle how objects of a class are reduced."""
    cloudpickle.CloudPickler.dispatch_table[kind] = reduce


def empty(kind: type) -> Any:
    """An object of a class with nothing in it yet."""
    return object.__new__(kind)


def _reduce_function(function: GenFunction) -> Any:
    if not travels_whole(function.__module__):
        try:
            return function.__reduce__()
        except pickle.PicklingError:
            pass  # made in a function: it has no name to be found by
    names = function.__name__, function.__qualname__, function.__module__, function.__doc__
    state = function.compiled, function.bound, function.kind, function.direct, function.__wrapped__, names
    return empty, (GenFunction,), state, None, None, _fill_function


def _fill_function(function: GenFunction, state: Any) -> None:
    # not by the constructor: what was compiled may itself be empty still, where programs form a circle
    function.compiled, function.bound, function.kind, function.direct, function.__wrapped__, names = state
    function.__name__, function.__qualname__, function.__module__, function.__doc__ = names


def _reduce_compiled(compiled: Compiled) -> Any:
    state = compiled.origin, source_texts([compiled.origin.filename])
    return empty, (Compiled,), state, None, None, _fill_compiled


def _fill_compiled(compiled: Compiled, state: Any) -> None:
    origin, texts = state
    remember_texts(texts)
    for name, value in vars(Compiled(origin)).items():
        object.__setattr__(compiled, name, value)  # frozen for everybody else


def source_text(filename: str) -> str:
    """The text of a file or a notebook's cell, as far as this process knows it."""
    return "".join(linecache.getlines(filename))


def source_texts(filenames: Iterable[str]) -> dict[str, str]:
    """The texts of files, by name, without those that are not known."""
    texts = {filename: source_text(filename) for filename in filenames}
    return {filename: text for filename, text in texts.items() if text}


def remember_texts(texts: dict[str, str]) -> None:
    """Let this process find the source of functions that came from another one.

    What a transform calls is differentiated by its source, and errors show the user's line.
    """
    for filename, text in texts.items():
        if text and text != source_text(filename):
            linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename


register(GenFunction, _reduce_function)
register(Compiled, _reduce_compiled)


_reduce_code = cloudpickle.CloudPickler.dispatch_table[CodeType]


def _reduce_code_with_file(code: CodeType) -> Any:
    """Code as cloudpickle reduces it, which may leave out its file, by which its text is found."""
    make, arguments = _reduce_code(code)
    return _code_of_file, (code.co_filename, make, arguments)


def _code_of_file(filename: str, make: Callable[..., CodeType], arguments: tuple[Any, ...]) -> CodeType:
    return make(*arguments).replace(co_filename=filename)


class Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
    """cloudpickle, and the names of the files that functions come from which travel whole."""

    dispatch_table: ClassVar[Any] = ChainMap(
        {CodeType: _reduce_code_with_file}, cloudpickle.CloudPickler.dispatch_table
    )

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.filenames: set[str] = set()

    def reducer_override(self, obj: Any) -> Any:
        reduced = super().reducer_override(obj)
        if reduced is not NotImplemented and hasattr(obj, "__code__"):
            self.filenames.add(obj.__code__.co_filename)
        return reduced
