"""What tests of hand-written programs have in common."""

import cProfile
import os
import pstats

import pytest

from gendsl import select
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.gradients import Differentiate
from gendsl.runtime.link import Linked
from tests.laws.edits import Session, random_edits

SEEDS = range(12 if os.environ.get("GENDSL_LONG", "") not in ("", "0") else 1)


def kept_as(program, *, columns_from):
    """The program, linked so that loops of this many iterations are kept as columns."""
    compiled = type(program.compiled)(
        **{name: getattr(program.compiled, name) for name in program.compiled.__dataclass_fields__}
    )
    object.__setattr__(compiled, "_linked", Linked(compiled, compiled.program, columns_from=columns_from))
    return GenFunction(compiled)


def calls_of_an_update(trace, address):
    """How many calls an update of one choice makes, when it isn't the first."""
    for value in (0.1, 0.2, 0.3):
        trace = trace.update({address: value}).trace
    profile = cProfile.Profile()
    profile.enable()
    trace.update({address: 0.25})
    profile.disable()
    return pstats.Stats(profile).total_calls


def slopes_are_right(trace, name, monkeypatch):
    """Compare a gradient with differences; whether all plates ran at once to find it."""
    runs = []
    plate = Differentiate.plate

    def watched(self, *arguments):
        runs.append(plate(self, *arguments))
        return runs[-1]

    monkeypatch.setattr(Differentiate, "plate", watched)
    slopes = trace.gradients(select(name))
    assert slopes
    for path, slope in slopes.items():
        up, down = (trace.update({path: trace[path] + d}).trace.log_prob for d in (1e-6, -1e-6))
        assert slope == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-4)
    return bool(runs) and all(runs)


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

        edits = random_edits(seed)
        if model is not self[name][0]:  # it is no program of a module, which can be pickled
            edits = [(kind, number) for kind, number in edits if kind != "pickled"]
        Session(model, [args[seed % len(args)], *args], vary).run(edits, seed)

    def follow(self, name, steps):
        """An update to some arguments after others gives what the reference runtime does."""
        model, _ = self[name]
        first = trace = model.simulate(steps[0], rng=1)
        for args in steps[1:]:
            trace = trace.update({}, args=args, rng=2).trace
            apart = first.update({}, args=args, rng=3).trace  # two traces that come from one
            for after in (trace, apart):
                fresh = model.reference.assess(args, after.choices)
                assert after.log_prob == pytest.approx(fresh.log_prob, rel=1e-9)

    # --- tests of all of them, for a module to name --------------------------------------------------

    def test_of_agreement(self, *, columns_from, seeds=SEEDS):
        """A test that both runtimes agree on each program, with columns from each of these lengths on."""

        @pytest.mark.parametrize("columns_from", columns_from)
        @pytest.mark.parametrize("name", self)
        @pytest.mark.parametrize("seed", seeds)
        def test(name, seed, columns_from):
            self.agree(name, seed, columns_from=columns_from)

        return test

    def test_of_blocks(self):
        """A test that no part of any program is executed whole, whatever its arguments."""

        @pytest.mark.parametrize("name", self)
        def test(name):
            model, args = self[name]
            for given in args:
                model.simulate(given, rng=1)
            assert "opaque" not in model.explain()

        return test
