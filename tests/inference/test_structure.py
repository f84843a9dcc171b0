"""What a kernel is made of: a run goes on with no other than the one that it was started with."""

import json
import pickle
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from gendsl import continuous, gamma, gen, normal, pair, read, resume, sample, select, transform, write
from gendsl.errors import FileFormatError
from gendsl.inference import (
    Kernel,
    adapt,
    birth_death,
    cycle,
    elliptical_slice,
    gibbs,
    hmc,
    independent,
    involutive,
    mala,
    mh,
    mixture,
    nuts,
    random_walk,
    repeat,
    single_site,
    slice_sampling,
    split_merge,
    tempered,
    tempered_mh,
)
from gendsl.inference.structure import describe, difference


@gen
def model():
    x = ~normal(0, 1)
    z = ~normal(x, 1)
    y = ~normal(z, 1)


@gen
def proposal(trace, scale=1.0):
    x = ~normal(trace["x"], scale)


@gen
def other(trace, scale=1.0):
    x = ~normal(trace["x"], 2 * scale)


@transform
def shift(model_in, aux_in, *, model_out, aux_out, by=1.0):
    write(model_out["x"], read(model_in["x"], continuous) + by, continuous)
    write(aux_out["x"], -read(aux_in["x"], continuous), continuous)


@transform
def back(model_in, aux_in, *, model_out, aux_out):
    write(model_out["x"], read(model_in["x"], continuous), continuous)
    write(aux_out["x"], read(aux_in["x"], continuous), continuous)


def weights(trace):
    return [1, 2]


def otherwise(trace):
    return [2, 1]


def step(trace, rng):
    return trace, None


@dataclass(frozen=True)
class Own:
    """A kernel of the user's."""

    scale: float
    target: object = select("x")

    def __call__(self, trace, rng):
        return trace, None


class Plain:
    """Another, with what changes and what is large."""

    def __init__(self, scale):
        self.scale = scale
        self.seen = []
        self._calls = 0

    def __call__(self, trace, rng):
        self._calls += 1
        self.seen.append(1)
        return trace, None


X, Z = select("x"), select("z")
PRIOR = {"mu": normal(0, 1)}

ALIKE_AND_OTHERS = {
    "selection": [lambda: mh(X), lambda: mh(Z), lambda: mh(X | Z), lambda: mh(select("x", ("z", ...)))],
    "name": [lambda: mh(X, name="a"), lambda: mh(Z, name="a"), lambda: mh(X, name="a", skip_absent=True)],
    "program": [lambda: mh(proposal), lambda: mh(other), lambda: mh(proposal, (2.0,)),
                lambda: mh(proposal, (2.5,))],
    "maker": [lambda: mh(X, name="k"), lambda: single_site(X, name="k"), lambda: gibbs(X, name="k"),
              lambda: slice_sampling(X, name="k"), lambda: elliptical_slice(X, name="k")],
    "numbers": [lambda: random_walk(X, 0.5), lambda: random_walk(X, 0.5 + 1e-16 * 2),
                lambda: random_walk(X, {"x": 0.5}), lambda: random_walk(X)],
    "gradients": [lambda: hmc(X, step_size=0.1, steps=10), lambda: hmc(X, step_size=0.1, steps=11),
                  lambda: hmc(X, step_size=0.2, steps=10), lambda: nuts(X), lambda: nuts(X, max_depth=8),
                  lambda: nuts(X, mass=np.array([1.0])), lambda: nuts(X, mass=np.array([2.0])),
                  lambda: mala(X)],
    "distributions": [lambda: independent({"x": normal(0, 1)}), lambda: independent({"x": normal(0, 2)}),
                      lambda: independent({"x": gamma(1, 1)})],
    "transforms": [lambda: involutive(proposal, shift), lambda: involutive(proposal, shift.bind(by=2.0)),
                   lambda: involutive(proposal, shift, check=True),
                   lambda: involutive(proposal, pair(shift, back)),
                   lambda: involutive(proposal, pair(back, shift))],
    "cycle": [lambda: cycle(mh(X), mh(Z)), lambda: cycle(mh(Z), mh(X)), lambda: cycle(mh(X), mh(Z), mh(Z)),
              lambda: cycle(mh(X), cycle(mh(Z)))],
    "mixture": [lambda: mixture([mh(X), mh(Z)]), lambda: mixture([mh(X), mh(Z)], [1, 2]),
                lambda: mixture([mh(X), mh(Z)], [2, 1]), lambda: mixture([mh(X), mh(Z)], weights),
                lambda: mixture([mh(X), mh(Z)], otherwise)],
    "deep": [lambda: cycle(mixture([repeat(cycle(mh(X), random_walk(Z, 0.5)), 3)])),
             lambda: cycle(mixture([repeat(cycle(mh(X), random_walk(Z, 0.6)), 3)])),
             lambda: cycle(mixture([repeat(cycle(mh(X), random_walk(Z, 0.5)), 4)]))],
    "tempered": [lambda: tempered(partial(tempered_mh, X), [0.5, 0.2]),
                 lambda: tempered(partial(tempered_mh, X), [0.5, 0.1]),
                 lambda: tempered_mh(X, 0.5, name="t"), lambda: tempered_mh(X, 0.4, name="t")],
    "own": [lambda: Own(0.5), lambda: Own(0.6), lambda: Own(0.5, Z), lambda: Plain(0.5), lambda: Plain(0.6),
            lambda: step, lambda: Kernel(step, "step"), lambda: Kernel(step, "step", reversible=True)],
}  # fmt: skip


@pytest.mark.parametrize("name", ALIKE_AND_OTHERS)
def test_kernels_made_alike_are_alike_and_others_are_not(name):
    descriptions = [describe(make()) for make in ALIKE_AND_OTHERS[name]]
    for i, make in enumerate(ALIKE_AND_OTHERS[name]):
        again = json.loads(json.dumps(describe(make()), allow_nan=False))
        assert [difference(each, again) is None for each in descriptions] == [
            j == i for j in range(len(descriptions))
        ], again


def test_moves_of_components_are_described():
    for make in (
        lambda most: birth_death("mu", propose=proposal, most=most, birth=weights),
        lambda most: split_merge("mu", bijection=(weights, otherwise), most=most, vectors=["w"]),
    ):
        three = describe(make(3))
        (name,) = three
        assert difference(three, describe(make(3))) is None
        assert difference(three, describe(make(4))) == f"{name}, most: it was 3, and is 4"


def test_a_kernel_that_travelled_is_made_of_the_same():
    for name in ("own", "mixture", "gradients"):
        for make in ALIKE_AND_OTHERS[name]:
            again = pickle.loads(pickle.dumps(make()))
            assert difference(describe(make()), describe(again)) is None
    assert describe(Kernel(step, "step")) == {
        "Kernel": {"step": {"function": "step"}, "name": "step", "reversible": None}
    }


def test_a_difference_names_its_place():
    before = cycle(mh(X), mixture([nuts(X), random_walk(Z, 0.5)]))
    now = cycle(mh(X), mixture([nuts(X), random_walk(Z, 2)]))
    found = difference(describe(before), describe(now))
    assert found == "parts, 1, parts, 1, random_walk, scale: it was 0.5, and is 2"
    longer = difference(describe(mh(X)), describe(mh(select(*map(str, range(1000))))))
    assert len(longer) < 300


def test_a_step_and_a_warmup_change_nothing():
    trace = model.simulate(rng=1)
    kernel = cycle(mh(X), nuts(Z), repeat(random_walk(X), 2))
    before = json.dumps(describe(kernel))
    sample(kernel, trace, 5, warmup=30, seed=1)
    assert json.dumps(describe(kernel)) == before
    own = Plain(0.5)
    before = describe(own)
    own(trace, None)
    assert describe(own) == before


def test_what_was_found_is_part_of_what_an_adapted_kernel_is_made_of():
    trace = model.simulate(rng=1)
    kernel = mixture([hmc(X, steps=3), mh(Z)], weights=[2, 1])
    adapted = [describe(adapt(kernel, trace, steps=50, rng=seed).kernel) for seed in (1, 1, 2)]
    assert adapted[0] == adapted[1] and adapted[0] != adapted[2] and adapted[0] != describe(kernel)
    assert adapted[0]["mixture"]["weights"] == [2, 1] and adapted[0]["parts"][0]["hmc"]["steps"] == 3
    assert "tuned" in difference(adapted[0], adapted[2])
    longer = describe(adapt(mixture([hmc(X, steps=4), mh(Z)], weights=[2, 1]), trace, steps=50, rng=1).kernel)
    assert longer["parts"][0]["hmc"]["steps"] == 4


def test_a_run_goes_on_with_the_kernel_as_it_was_given(tmp_path):
    def made(steps):
        return cycle(mh(Z), hmc(X, steps=steps))

    trace = model.simulate(rng=1)
    whole = sample(made(3), trace, 150, warmup=60, record="x", seed=1, checkpoint=tmp_path / "run")
    assert resume(tmp_path / "run", made(3), model)["x"].tolist() == whole["x"].tolist()
    with pytest.raises(FileFormatError) as caught:
        resume(tmp_path / "run", made(4), model)
    problem = "made of, parts, 1, hmc, steps: it was 3, and is 4"
    assert caught.value.problem == f"the kernel of this run is made of other things: {problem}"
    assert "pass the kernel that the run was started with, as it was before its warm-up" in caught.value.fix
    adapted = adapt(made(3), trace, steps=60, rng=1).kernel
    with pytest.raises(FileFormatError, match="the kernel of this run is made of other things"):
        resume(tmp_path / "run", adapted, model)
    with pytest.raises(FileFormatError, match="the kernel of this run is 'cycle', and not"):
        resume(tmp_path / "run", mh(X), model)
