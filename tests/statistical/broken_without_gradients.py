"""Mistakes to plant in the kernels without gradients and in compositions; see `broken`."""

from __future__ import annotations

import math
from importlib import import_module

from gendsl.selection import Selection

# functions of the package hide the modules of the same names
mh_module = import_module("gendsl.inference.mh")
gibbs_module = import_module("gendsl.inference.gibbs")
slice_module = import_module("gendsl.inference.slice")
ellipses_module = import_module("gendsl.inference.ellipses")
compose_module = import_module("gendsl.inference.compose")
tempered_module = import_module("gendsl.inference.tempered")


def _always(ratio, rng):
    return bool(rng.random() < 1.0)


def even_draws(monkeypatch):
    """gibbs: all values of positive density are as likely."""
    draw = gibbs_module._draw

    def planted(weights, rng):
        return draw([weight if weight == -math.inf else 0.0 for weight in weights], rng)

    monkeypatch.setattr(gibbs_module, "_draw", planted)


def always_another_value(monkeypatch):
    """gibbs: the current value is left out where there is another."""
    draw = gibbs_module._draw

    def planted(weights, rng):
        others = [-1e9 if w == 0.0 else w for w in weights]
        return draw(others if max(others) > -1e9 else weights, rng)

    monkeypatch.setattr(gibbs_module, "_draw", planted)


def uncorrected_count(monkeypatch):
    """single_site: the number of choices to pick from is taken to be the same afterwards."""
    monkeypatch.setattr(mh_module, "log", lambda ratio: 0.0)


def unchecked_selection(monkeypatch):
    """mh with a function: what would be picked from the proposed trace is not compared."""

    class Same(Selection):
        __slots__ = ("selection",)

        def __init__(self, selection):
            self.selection = selection

        def contains(self, path):
            return self.selection.contains(path)

        def addresses(self):
            return self.selection.addresses()

        def reach(self):
            return self.selection.reach()

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 0

    chosen = mh_module._chosen_step

    def planted(choose, takes_generator, *options):
        def same(*arguments):
            return Same(choose(*arguments))

        return chosen(same, takes_generator, *options)

    monkeypatch.setattr(mh_module, "_chosen_step", planted)


def even_split(monkeypatch):
    """Slice sampling: the steps out are limited to the same number on both sides, not divided at random."""
    monkeypatch.setattr(
        slice_module, "split", lambda most, rng: ((most - 1) // 2, most - 1 - (most - 1) // 2)
    )


def level_of_the_square_root(monkeypatch):
    """Slice sampling: the slice is that of another density."""
    level = slice_module._level

    def planted(rng):
        reached = level(rng)
        return lambda weight: reached(0.5 * weight)

    monkeypatch.setattr(slice_module, "_level", planted)


def prior_counted_twice(monkeypatch):
    """Elliptical slice sampling: the level is one of the posterior, not of the likelihood."""
    monkeypatch.setattr(ellipses_module, "rest_weight", lambda trace, proposal, *rest: proposal.log_weight)


def mean_forgotten(monkeypatch):
    """Elliptical slice sampling: the ellipse is around zero."""
    mean = ellipses_module.normal_mean
    monkeypatch.setattr(ellipses_module, "normal_mean", lambda *arguments: 0.0 * mean(*arguments))


def uncorrected_weights(monkeypatch):
    """mixture: weights depend on the state, and the step isn't corrected for it."""
    monkeypatch.setattr(compose_module, "accept", _always)


def uncorrected_climb(monkeypatch):
    """tempered: where a transition leads is always accepted."""
    monkeypatch.setattr(tempered_module, "accept", _always)


def unweighted_descent(monkeypatch):
    """tempered: only the way up counts."""
    by_arguments, by_powers = tempered_module._by_arguments, tempered_module._by_powers

    def upwards(make):
        def planted(ladder):
            change = make(ladder)

            def counted(trace, old, new, start):
                proposal = change(trace, old, new, start)
                if new < old:
                    proposal.log_weight = 0.0
                return proposal

            return counted

        return planted

    monkeypatch.setattr(tempered_module, "_by_arguments", upwards(by_arguments))
    monkeypatch.setattr(tempered_module, "_by_powers", upwards(by_powers))
