"""What kernels build on: `trace.edit` and `q.score`."""

import pytest

from gendsl import bernoulli, gen, normal, poisson
from gendsl.errors import MissingChoiceError
from gendsl.runtime.executions import ZeroProbability
from gendsl.runtime.trace import Edit


@gen
def program():
    many = ~bernoulli(0.5)
    if many:
        x = ~poisson(2.0)
        extra = ~normal(0.0, 1.0)
        "seen" @ ~normal(extra, 1.0)
    else:
        x = ~normal(0.0, 1.0)
        "seen" @ ~poisson(1.0 + x * x)


def start(**choices):
    return program.generate((), {"seen": 1}, init=choices).trace


def test_an_edit_changes_what_is_given_and_keeps_the_rest():
    old = start(many=False, x=2.0)
    edit = old.edit({("x",): 3.0})
    assert type(edit) is Edit
    assert edit.trace.choices == {"many": False, "x": 3.0, "seen": 1}
    assert edit.log_weight == pytest.approx(edit.trace.log_prob - old.log_prob)
    assert edit.removed == {} and edit.remeasured == {}
    assert old["x"] == 2.0 and ("seen",) in edit.trace.observed_paths


def test_an_edit_says_which_choices_are_gone_and_which_changed_their_measure():
    old = start(many=True, x=2, extra=0.5)
    edit = old.edit({("many",): False})
    assert list(edit.removed) == [("extra",)] and edit.removed["extra",][1] == 0.5
    ((path, (before, after)),) = edit.remeasured.items()  # the observation may be scored by anything
    assert path == ("x",) and before.support.discrete and not after.support.discrete
    assert old.edit({("many",): False, ("x",): 2.0}).remeasured == {}


def test_an_edit_draws_nothing():
    with pytest.raises(MissingChoiceError) as caught:
        start(many=False, x=2.0).edit({("many",): True, ("x",): 2})
    assert caught.value.address == ("extra",)


def test_an_edit_can_stop_at_probability_zero():
    old, impossible = start(many=True, x=2, extra=0.5), {("x",): -1}
    assert old.edit(impossible).log_weight == -float("inf")
    with pytest.raises(ZeroProbability) as caught:
        old.edit(impossible, stop_at_zero=True)
    assert caught.value.path == ("x",)


def test_a_score_is_the_trace_of_the_choices_given():
    values = {("many",): False, ("x",): 1.0, ("seen",): 2}
    trace = program.score((), values)
    assert trace.log_prob == pytest.approx(program.assess((), values).log_prob)
    with pytest.raises(ZeroProbability):
        program.score((), {**values, ("seen",): -1}, stop_at_zero=True)
    with pytest.raises(MissingChoiceError):
        program.score((), {("many",): False})
