"""What tests of hand-written programs have in common."""

import os

from tests.laws.edits import Session, random_edits

SEEDS = range(12 if os.environ.get("GENDSL_LONG", "") not in ("", "0") else 2)


class Programs(dict):
    """Programs by name, each with the arguments that it is run on."""

    def written(self, *sizes):
        """Register a program, with the sizes, or the arguments, that it is run at."""

        def register(model):
            given = [size if isinstance(size, tuple) else (size,) for size in sizes or (3, 2, 5)]
            self[model.name] = model, given
            return model

        return register

    def agree(self, name, seed):
        """Both runtimes give the same, whatever the edits."""
        model, args = self[name]

        def vary(before, rng):
            return args[int(rng.integers(len(args)))]

        Session(model, [args[seed % len(args)], *args], vary).run(random_edits(seed), seed)
