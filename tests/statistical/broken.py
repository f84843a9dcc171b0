"""Mistakes to plant in the shipped kernels, so that the tests of the kernels are tested.

Each takes pytest's monkeypatch. These are mistakes that samplers really had (see the first lines of each).
"""

from __future__ import annotations

from importlib import import_module

import numpy as np

from gendsl.inference import proposal as proposal_module
from gendsl.runtime import fused
from gendsl.runtime import trace as trace_module
from gendsl.runtime.edits import RegenerateEdit, UpdateEdit
from gendsl.runtime.executions import Execution
from gendsl.runtime.groups import GroupBlock
from gendsl.runtime.inlined import Makers
from gendsl.runtime.reexecutions import Regenerate, Update
from gendsl.runtime.sites import SiteBlock
from gendsl.runtime.trace import ReferenceTrace
from gendsl.supports import Simplex
from gendsl.transforms import apply as apply_module

# the package's `involutive` and `mh` are functions, which hide the modules of the same names
involutive_module = import_module("gendsl.inference.involutive")
mh_module = import_module("gendsl.inference.mh")


def _reweighted(monkeypatch, change):
    """Add a term to the log acceptance ratio of involutive moves.

    Args:
        change: gives it, of the proposal and the auxiliary trace.
    """
    log_ratio = involutive_module._log_ratio

    def planted(f, proposal, aux):
        ratio, log_aux = log_ratio(f, proposal, aux)
        return ratio + change(proposal, aux), log_aux

    monkeypatch.setattr(involutive_module, "_log_ratio", planted)


def dropped_jacobian(monkeypatch):
    """log |det J| is left out."""
    _reweighted(monkeypatch, lambda proposal, aux: -proposal.log_abs_det)


def inverted_jacobian(monkeypatch):
    """log |det J| is subtracted."""
    _reweighted(monkeypatch, lambda proposal, aux: -2 * proposal.log_abs_det)


def wrong_sign(monkeypatch):
    """The auxiliary ratio is subtracted."""
    _reweighted(monkeypatch, lambda proposal, aux: 2 * (aux.log_prob - proposal.log_aux))


def dropped_auxiliary(monkeypatch):
    """The auxiliary ratio is left out."""
    _reweighted(monkeypatch, lambda proposal, aux: aux.log_prob - proposal.log_aux)


def dropped_backward_auxiliary(monkeypatch):
    """log q_x'(y') is left out."""
    _reweighted(monkeypatch, lambda proposal, aux: -proposal.log_aux)


def stale_auxiliary(monkeypatch):
    """y' is scored by the auxiliary program at the old trace, not at the new one."""
    image, assess = proposal_module.image, apply_module._assess_auxiliary
    old = []

    def planted_image(f, trace, q, q_args, aux, **options):
        old[:] = [trace]
        return image(f, trace, q, q_args, aux, **options)

    monkeypatch.setattr(proposal_module, "image", planted_image)

    def planted_assess(*parts):
        parts = [(old[0], *part[1:]) if isinstance(part, tuple) else part for part in parts]
        return assess(*parts)

    monkeypatch.setattr(apply_module, "_assess_auxiliary", planted_assess)


def dropped_backward(monkeypatch):
    """mh with a proposal program: the density of proposing the way back is left out."""
    monkeypatch.setattr(mh_module, "_reverse_score", lambda proposal, args, values: 0.0)


def stale_backward(monkeypatch):
    """mh with a proposal program: the way back is scored at the old trace."""
    reverse = mh_module._reverse_score

    def planted(proposal, args, values):
        stale = args[0].update({path: value for path, value in values.items() if path in args[0]}).trace
        return reverse(proposal, (stale, *args[1:]), values)

    monkeypatch.setattr(mh_module, "_reverse_score", planted)


def backward_at_proposed_values(monkeypatch):
    """mh with a proposal program: the way back is scored at the new values."""

    def planted(proposal, args, values):
        return proposal.score(args, {path: args[0][path] for path in values}).log_prob

    monkeypatch.setattr(mh_module, "_reverse_score", planted)


def stale_scores(monkeypatch):
    """A choice that keeps its value keeps its score, too, though its parameters may have changed."""
    update, regenerate = Update.choose, Regenerate.choose

    def planted_update(self, path, distribution):
        record = update(self, path, distribution)
        before = self.old.get(path)
        kept = before is not None and self.given.values.get(path) is None
        return (*record[:2], before[2]) if kept else record

    def planted_regenerate(self, path, distribution):
        weight = self.weight
        record = regenerate(self, path, distribution)
        self.weight = weight
        return record

    for execution in (Update, Regenerate):  # and so by `choose`
        monkeypatch.setattr(execution, "makers", Makers(None))
        monkeypatch.setattr(execution, "at", Execution.at)
    monkeypatch.setattr(trace_module, "executed_again", lambda *_: None)
    monkeypatch.setattr(GroupBlock, "_executed_again", lambda *_: None)
    monkeypatch.setattr(fused, "AFTER", 10**9)  # and so by `SiteBlock`
    monkeypatch.setattr(Update, "choose", planted_update)
    monkeypatch.setattr(Regenerate, "choose", planted_regenerate)
    for edit in (UpdateEdit, RegenerateEdit):
        monkeypatch.setattr(edit, "revisit", _with_stale_score(edit.revisit))
    monkeypatch.setattr(SiteBlock, "_rescore", _rescored_stale(SiteBlock._rescore))


def _rescored_stale(rescore):
    """`SiteBlock._rescore` with that mistake."""

    def planted(self, execution, old, new, changes, state):
        weight = execution.weight
        mask = rescore(self, execution, old, new, changes, state)
        record = new[-1][self.state]
        if not mask and record[1] is state[1]:
            new[-1][self.state] = (*record[:2], state[2])
            execution.weight = weight
        return mask

    return planted


def _with_stale_score(revisit):
    """`revisit` of the compiled runtime with that mistake."""

    def planted(self, path, distribution, before):
        weight = self.weight
        record = revisit(self, path, distribution, before)
        if path in self.overwritten:
            return record
        self.weight = weight
        return (*record[:2], before[2])

    return planted


def implicit_resampling(monkeypatch):
    """What a transform forgets to write is drawn from the prior, and its score counted as the model's."""
    rng = np.random.default_rng(8)
    edit = ReferenceTrace.edit

    def planted(self, values, **options):
        drawn = self.update(values, rng=rng).trace.choices
        return edit(self, {**values, **{path: drawn[path] for path in drawn if path not in self}}, **options)

    monkeypatch.setattr(ReferenceTrace, "edit", planted)


def ambient_coordinates(monkeypatch):
    """The weights of a simplex are differentiated as if all of them were free."""

    monkeypatch.setattr(Simplex, "embedding", property(lambda self: np.eye(self.k)))
    monkeypatch.setattr(Simplex, "free_entries", property(lambda self: np.arange(self.k)))
    monkeypatch.setattr(Simplex, "dim", property(lambda self: self.k, lambda self, dim: None), raising=False)


def always_accept(monkeypatch):
    """Every proposal is accepted."""
    for module in (involutive_module, mh_module):
        monkeypatch.setattr(module, "accept", lambda ratio, rng: bool(rng.random() < 1.0) and ratio > -np.inf)
