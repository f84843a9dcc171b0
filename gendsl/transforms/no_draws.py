"""A random number generator that draws nothing: for programs all of whose choices are given."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from gendsl.errors import MissingChoiceError


class _NoDraws(np.random.Generator):
    """A generator whose every method raises."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))


def _refuse(self: _NoDraws, *args: Any, **kwargs: Any) -> NoReturn:
    raise MissingChoiceError(
        "the program makes a choice that was not given", fix="give every choice of the program a value"
    )


for _name in dir(np.random.Generator):
    if not _name.startswith("_") and _name != "bit_generator":
        setattr(_NoDraws, _name, _refuse)

NO_DRAWS = _NoDraws()
