"""Random generators as JSON and back: the kind and state of their bits, and what they spawn others from."""

from __future__ import annotations

from reprlib import repr as short
from typing import Any

import numpy as np

from gendsl.errors import FileFormatError, ValueTypeError
from gendsl.runtime.encoding import decode, encode
from gendsl.runtime.fields import Fields

_KINDS: dict[str, Any] = {
    "PCG64": np.random.PCG64,
    "PCG64DXSM": np.random.PCG64DXSM,
    "MT19937": np.random.MT19937,
    "Philox": np.random.Philox,
    "SFC64": np.random.SFC64,
}
_SEED = ("entropy", "spawn_key", "pool_size", "n_children_spawned")
_POOLS = range(4, 257)  # words of a seed sequence's pool
_LARGEST = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "uinteger": 2**32 - 1}
"""The largest values of what NumPy takes unseen: with larger positions it would read foreign memory."""


def encode_rng(rng: np.random.Generator) -> Any:
    """A generator: the kind and state of its bits, and what it spawns others from.

    Raises:
        ValueTypeError: it is of a kind that files don't know.
    """
    bits: Any = rng.bit_generator
    seed = bits.seed_seq
    state = None
    if type(seed) is np.random.SeedSequence:
        state = {name: encode(getattr(seed, name)) for name in _SEED}
        if seed.pool_size not in _POOLS:
            raise ValueTypeError(
                f"a generator whose seed has a pool of {seed.pool_size} words can't be saved",
                fix=f"use at most {_POOLS[-1]}, or np.random.default_rng(seed), which has 4",
            )
    if _KINDS.get(type(bits).__name__) is not type(bits):
        raise ValueTypeError(
            f"a generator of {type(bits).__name__} can't be saved", fix="use np.random.default_rng(seed)"
        )
    return {"bits": type(bits).__name__, "state": encode(bits.state), "seed": state}


def decode_rng(encoded: Any) -> np.random.Generator:
    """The generator that `encode_rng` encoded.

    Raises:
        FileFormatError: it is none.
    """
    try:
        kind = _KINDS[encoded["bits"]]
        seed, state = encoded["seed"], decode(encoded["state"])
        bits: Any = kind(0) if seed is None else kind(_seed({name: decode(seed[name]) for name in _SEED}))
        _check(state, kind(0).state)
        bits.state = state
    except FileFormatError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FileFormatError(
            f"{short(encoded)[:60]} is no generator in gendsl's format ({error})",
            fix="it was written by something else, or by another version of gendsl",
        ) from None
    return np.random.Generator(bits)


def read_rng(fields: Fields) -> np.random.Generator:
    """The generator that a file has as `rng`.

    Raises:
        FileFormatError: it has none.
    """
    return fields.decoded(lambda: decode_rng(fields.entry("rng", dict)))


def _seed(given: dict[str, Any]) -> np.random.SeedSequence:
    """A seed sequence of checked numbers: NumPy makes a pool of any size."""
    entropy = () if given["entropy"] is None else given["entropy"]
    several = isinstance(entropy, (list, tuple, np.ndarray))
    counts = given["pool_size"], given["n_children_spawned"]
    numbers = [*(entropy if several else [entropy]), *given["spawn_key"], *counts]
    if any(isinstance(number, bool) or not isinstance(number, (int, np.integer)) for number in numbers):
        raise TypeError("a seed is made of whole numbers")
    if min(numbers) < 0 or given["pool_size"] not in _POOLS or given["n_children_spawned"] >= 2**32:
        raise ValueError("a number of the seed is out of range")
    return np.random.SeedSequence(**given)


def _check(state: Any, pattern: Any, name: str = "state") -> None:
    """Raise unless a state has the form of another of its kind, and its numbers are in range."""
    if type(state) is not type(pattern):
        raise TypeError(f"{name} is of type {type(state).__name__}")
    if isinstance(pattern, dict):
        if state.keys() != pattern.keys():
            raise ValueError(f"{name} has other names")
        for key, part in pattern.items():
            _check(state[key], part, str(key))
    elif isinstance(pattern, np.ndarray):
        if state.dtype != pattern.dtype or state.shape != pattern.shape:
            raise ValueError(f"{name} is an array of another form")
        if len(pattern) > 4 and not state[1:].any():  # the Mersenne twister gives nothing but zeros then
            raise ValueError(f"{name} has no bits")
    elif isinstance(pattern, str):
        if state != pattern:
            raise ValueError(f"{name} is {state!r}")
    elif not 0 <= state <= _LARGEST.get(name, 2**128 - 1) or (name == "inc" and state % 2 == 0):
        raise ValueError(f"{name} is out of range")
