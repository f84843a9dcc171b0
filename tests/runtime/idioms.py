"""What tests of hand-written programs have in common."""

import os

from gendsl.runtime.generative import GenFunction
from gendsl.runtime.link import Linked
from tests.laws.edits import Session, random_edits

SEEDS = range(12 if os.environ.get("GENDSL_LONG", "") not in ("", "0") else 2)


def kept_as(program, *, columns_from):
    """The program, linked so that loops of this many iterations are kept as columns."""
    compiled = type(program.compiled)(
        **{name: getattr(program.compiled, name) for name in program.compiled.__dataclass_fields__}
    )
    object.__setattr__(compiled, "_linked", Linked(compiled, compiled.program, columns_from=columns_from))
    return GenFunction(compiled)


class Programs(dict):
    """Programs by name, each with the arguments that it is run on."""

    def written(self, *sizes):
        """Register a program, with the sizes, or the arguments, that it is run at."""

        def register(model):
            given = [size if isinstance(size, tuple) else (size,) for size in sizes or (3, 2, 5)]
            self[model.name] = model, given
            return model

        return register

    def agree(self, name, seed, *, columns_from=None):
        """Both runtimes give the same, whatever the edits; loops are kept as columns from a length on."""
        model, args = self[name]
        if columns_from is not None and model.compiled.program.opaque is None:
            model = kept_as(model, columns_from=columns_from)

        def vary(before, rng):
            return args[int(rng.integers(len(args)))]

        Session(model, [args[seed % len(args)], *args], vary).run(random_edits(seed), seed)
