"""Each law fails where the mistake that it is there for is planted into the reference runtime."""

from dataclasses import replace

import numpy as np
import pytest

from gendsl import normal
from gendsl.choices import MISSING, Constraints
from gendsl.runtime.executions import Execution, Generate
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.reexecutions import Regenerate, Update
from gendsl.runtime.trace import ReferenceTrace
from gendsl.testing import laws
from tests.laws.agreement import reference_of
from tests.programs import PROGRAMS


def forget_fresh_score(monkeypatch):
    fresh = Update._fresh

    def planted(self, path, distribution):
        record = fresh(self, path, distribution)
        self.fresh_score = 0.0
        return record

    monkeypatch.setattr(Update, "_fresh", planted)


def keep_stale_score(monkeypatch):
    choose = Update.choose

    def planted(self, path, distribution):
        record = choose(self, path, distribution)
        before = self.old.get(path)
        kept = before is not None and self.given.lookup(path) is MISSING
        return (*record[:2], before[2]) if kept else record

    monkeypatch.setattr(Update, "choose", planted)


def forget_the_removed(monkeypatch):
    monkeypatch.setattr(ReferenceTrace, "removed", lambda self, execution: {})


def weigh_what_was_drawn(monkeypatch):
    choose = Generate.choose

    def planted(self, path, distribution):
        record = choose(self, path, distribution)
        if path not in self.observed and self.init.lookup(path) is MISSING:
            self.weight += record[2]
        return record

    monkeypatch.setattr(Generate, "choose", planted)


def forget_the_old_score(monkeypatch):
    choose = Regenerate.choose

    def planted(self, path, distribution):
        weight = self.weight
        record = choose(self, path, distribution)
        if self.weight != weight:
            self.weight = weight + record[2]
        return record

    monkeypatch.setattr(Regenerate, "choose", planted)


def keep_the_selected(monkeypatch):
    choose = Regenerate.choose

    def planted(self, path, distribution):
        if path in self.old:
            value = self.old[path][1]
            return distribution, value, distribution.logpdf(value)
        return choose(self, path, distribution)

    monkeypatch.setattr(Regenerate, "choose", planted)


def project_everything(monkeypatch):
    monkeypatch.setattr(ReferenceTrace, "project", lambda self, selection: self.log_prob)


def ignore_surplus(monkeypatch):
    monkeypatch.setattr(Constraints, "check_used", lambda self, *args: None)


def change_the_old_trace(monkeypatch):
    update = ReferenceTrace.update

    def planted(self, *args, **kwargs):
        result = update(self, *args, **kwargs)
        self.records.update(result.trace.records)
        return result

    monkeypatch.setattr(ReferenceTrace, "update", planted)


def forget_observations(monkeypatch):
    generate = GenFunction.generate

    def planted(self, *args, **kwargs):
        result = generate(self, *args, **kwargs)
        result.trace.observed_paths = frozenset()
        return result

    monkeypatch.setattr(GenFunction, "generate", planted)


def wrong_density(monkeypatch):
    at = normal.at
    monkeypatch.setattr(normal, "at", lambda self, x: at(self, x) + 0.01)


def wrong_prefix(monkeypatch):
    """Choices below a call of the same name share one score."""
    at = Execution.at

    def planted(self, address, thing, sugar=False):
        score = self.score
        value = at(self, address, thing, sugar)
        if len(self.prefix) > 1:
            self.score = score
        return value

    monkeypatch.setattr(Execution, "at", planted)


def same_seed_twice(monkeypatch):
    propose = GenFunction.propose

    def planted(self, args=(), *, rng=None):
        return propose(self, args, rng=np.random.default_rng(rng).spawn(1)[0])

    monkeypatch.setattr(GenFunction, "propose", planted)


def lose_observations_on_pickling(monkeypatch):
    reduce = ReferenceTrace.__reduce__

    def planted(self):
        restore, state = reduce(self)
        return restore, (*state[:-1], frozenset())

    monkeypatch.setattr(ReferenceTrace, "__reduce__", planted)


def lose_a_gradient(monkeypatch):
    gradients = ReferenceTrace.gradients

    def planted(self, selection):
        found = gradients(self, selection)
        return type(found)._from_flat({path: 1.01 * value for path, value in found.items()})

    monkeypatch.setattr(ReferenceTrace, "gradients", planted)


@pytest.mark.parametrize(
    ("mistake", "law"),
    [
        (wrong_density, laws.simulate_law),
        (wrong_prefix, laws.simulate_law),
        (ignore_surplus, laws.assess_law),
        (same_seed_twice, laws.propose_law),
        (weigh_what_was_drawn, laws.generate_law),
        (forget_observations, laws.generate_law),
        (forget_fresh_score, laws.update_law),
        (forget_fresh_score, laws.update_args_law),
        (keep_stale_score, laws.update_law),
        (forget_the_removed, laws.update_law),
        (change_the_old_trace, laws.persistence_law),
        (forget_observations, laws.persistence_law),
        (lose_observations_on_pickling, laws.pickle_law),
        (forget_the_old_score, laws.regenerate_law),
        (keep_the_selected, laws.regenerate_law),
        (project_everything, laws.project_law),
        (lose_a_gradient, laws.gradients_law),
    ],
    ids=lambda plan: plan.__name__,
)
def test_the_law_notices(mistake, law, monkeypatch):
    mistake(monkeypatch)
    failed = []
    for program in PROGRAMS:
        program = replace(program, model=reference_of(program.model))
        try:
            for seed in range(3):
                rng = np.random.default_rng([seed, 2])
                law(program, program.model.simulate(program.args[0], rng=rng), rng)
        except (AssertionError, KeyError):
            failed.append(program.name)
    assert failed
