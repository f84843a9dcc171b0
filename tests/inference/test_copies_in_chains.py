"""What copies a continuous choice twice has no Jacobian; machine code finds that as the interpreter does."""

import pytest

from gendsl import continuous, copy, gen, normal, read, sample, transform, write
from gendsl.compiler.llvm.native import available
from gendsl.errors import SingularJacobianError
from gendsl.inference import involutive
from gendsl.testing import running_on


@gen
def model():
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    c = ~normal(0, 1)


@gen
def step_size(trace):
    u = ~normal(0, 1)


@transform
def sometimes_twice(model_in, aux_in, *, model_out, aux_out):
    """Where a step is large, b takes the value of a, and what c was is lost."""
    u = read(aux_in["u"], continuous)
    if abs(u) > 2.0:
        copy(model_in["a"], model_out["a"])
        copy(model_in["a"], model_out["b"])
        copy(model_in["c"], model_out["c"])
    else:
        write(model_out["c"], read(model_in["c"], continuous) + u, continuous)
    write(aux_out["u"], -u, continuous)


@pytest.mark.skipif(available() is not None, reason="there is no LLVM here")
def test_a_choice_that_is_copied_twice(form):
    told = []
    for runtime in ("compiled", form):
        with running_on(runtime), pytest.raises(SingularJacobianError) as caught:
            start = model.simulate((), rng=1)
            sample(involutive(step_size, sometimes_twice), start, 2000, record="c", seed=3, progress=False)
        told.append(str(caught.value))
    assert told[0] == told[1]
