"""Lists of selected choices end behind the last of these, with all that is noted of it."""

import pytest

from gendsl import bernoulli, gen, normal, sample, select
from gendsl.inference import elliptical_slice, gibbs
from gendsl.inference.compiled.policy import why_no_machine_code
from gendsl.testing import running_on
from tests.inference.forms import AS

pytestmark = pytest.mark.skipif(why_no_machine_code() is not None, reason="there is no machine code")


@gen
def alone():
    a = ~bernoulli(0.4)
    b = ~bernoulli(0.7 if a else 0.2)
    x = ~normal(1.0 if b else 0.0, 1.5)
    y = ~normal(x, 0.5)


KERNELS = {"ellipse": elliptical_slice(select("x")), "block": gibbs(select("a", "b"), block=True)}


@pytest.mark.parametrize("form", AS)
@pytest.mark.parametrize("name", KERNELS)
def test_last_choice_is_no_part_of_a_branch(name, form):
    start = alone.generate((), {"y": 0.8}, init={"a": True, "b": False, "x": 0.3}, rng=1).trace
    runs = []
    for one in ("compiled", form):
        with running_on(one):
            runs.append(sample(KERNELS[name], start, 400, record=["a", "b", "x"], seed=5, progress=False))
    assert runs[1].ran == [AS[form]]
    for what in ("a", "b", "x"):
        assert list(runs[0][what]) == pytest.approx(list(runs[1][what]), rel=1e-12)
    assert len(set(runs[1]["x" if name == "ellipse" else "b"])) > 1
