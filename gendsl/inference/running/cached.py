"""How functions and properties that remember their results reach other processes.

cloudpickle takes along what a script or a notebook defines, but not `functools.lru_cache` functions, which
pickle finds by name only, nor, on Python 3.11, a `functools.cached_property`, which holds a lock. What is
registered here sends the function itself; in the other process it begins with nothing remembered.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gendsl.runtime.travel import register, travels_whole


def _reduce_function(function: Any) -> Any:
    if not travels_whole(function.__module__) and "<locals>" not in function.__qualname__:
        return function.__reduce__()
    return _function_again, (function.__wrapped__, function.cache_parameters())


def _function_again(function: Callable[..., Any], parameters: dict[str, Any]) -> Any:
    return functools.lru_cache(**parameters)(function)


def _reduce_property(cached: functools.cached_property[Any]) -> Any:
    return _property_again, (cached.func, cached.attrname)


def _property_again(function: Callable[[Any], Any], name: str) -> Any:
    cached = functools.cached_property(function)
    cached.__set_name__(object, name)
    return cached


register(type(functools.lru_cache(len)), _reduce_function)
register(functools.cached_property, _reduce_property)
