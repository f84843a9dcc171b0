"""What kernels build on: `trace.edit` and `q.score`."""

import numpy as np
import pytest

from gendsl import bernoulli, gen, normal, poisson, select, uniform
from gendsl.errors import MissingChoiceError, NaNError
from gendsl.runtime.impossible import ZeroProbability
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


@gen
def bounded(n):
    s = ~normal(0, 1)
    for i in range(n):
        ("x", i) @ ~uniform(0, 1)


@pytest.mark.parametrize("size", [3, 40])
@pytest.mark.parametrize("reference", [False, True])
def test_a_trace_of_probability_zero_has_no_weight_relative_to_it(size, reference):
    model = bounded.reference if reference else bounded
    outside = model.score((size,), {("s",): 0.0, **{("x", i): 2.0 * (i == 1) for i in range(size)}})
    assert outside.log_prob == -float("inf")
    rng = np.random.default_rng(1)
    for operation in (
        lambda: outside.edit({("s",): 1.0}),
        lambda: outside.edit({("x", 0): 0.5}),
        lambda: outside.edit({("x", 1): 3.0}),
        lambda: outside.resample(select("s"), rng),
        lambda: outside.resample(select(("x", 0)), rng),
        lambda: outside.update({"s": 1.0}),
        lambda: outside.regenerate(select("s"), rng=rng),
    ):
        with pytest.raises(NaNError, match="the old trace has log probability -inf"):
            operation()
    assert outside.edit({("x", 1): 0.5}).log_weight == float("inf")
    assert outside.resample(select(("x", 1)), rng).log_weight == 0.0  # all that was kept is as it was
