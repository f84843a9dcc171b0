"""Kernels are pickled by pickle itself: what comes back makes the same steps."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import gendsl.inference
from gendsl import (
    bernoulli,
    continuous,
    gen,
    normal,
    pair,
    poisson,
    read,
    sample,
    select,
    transform,
    write,
)
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
    nuts,
    random_walk,
    repeat,
    single_site,
    slice_sampling,
    tempered,
    tempered_mh,
)


@gen
def model(n):
    k = ~(1 + poisson(1))
    for j in range(k):
        ("mu", j) @ ~normal(0, 2)
    flag = ~bernoulli(0.5)
    w = ~normal(0, 1)
    for i in range(n):
        ("x", i) @ ~normal(w + flag, 1)


@gen
def walk(trace):
    w = ~normal(trace["w"], 0.5)


@gen
def step(trace):
    u = ~normal(0, 0.5)


@transform
def move(model_in, aux_in, *, model_out, aux_out, scale=1.0):
    u = read(aux_in["u"], continuous)
    write(aux_out["u"], -u, continuous)
    write(model_out["w"], read(model_in["w"], continuous) + scale * u, continuous)


def stay(trace, rng):
    return trace, None


def by_flag(trace):
    return [1.0, 2.0 + trace["flag"]]


def at_power(beta):
    return tempered_mh(select("w"), beta)


def apart(mu, u):
    return mu - u, mu + u


def start():
    return model.generate((3,), {"x": [0.5, 1.5, 1.0]}, rng=1).trace


def tuned():
    return adapt(cycle(nuts(select("w")), gibbs("flag")), start(), steps=20, rng=1).kernel


KERNELS = {
    "mh": lambda: mh(walk),
    "mh of a selection": lambda: mh(select("w")),
    "independent": lambda: independent({"w": normal(0.5, 1)}),
    "single_site": lambda: single_site(select("w")),
    "involutive": lambda: involutive(step, move.bind(scale=0.5), check=True),
    "pair": lambda: involutive(step, pair(move, move)),
    "gibbs": lambda: gibbs("flag"),
    "random_walk": lambda: random_walk(select("w"), 0.3),
    "slice": lambda: slice_sampling(select("w")),
    "elliptical": lambda: elliptical_slice(select("w")),
    "hmc": lambda: hmc(select("w"), step_size=0.2, steps=3),
    "mala": lambda: mala(select("w"), step_size=0.2),
    "nuts": lambda: nuts(select("w"), step_size=0.2),
    "birth_death": lambda: birth_death("mu"),
    "cycle": lambda: cycle(mh(walk), stay, gibbs("flag")),
    "repeat": lambda: repeat(mh(walk), 3, name="three"),
    "mixture": lambda: gendsl.inference.mixture([mh(walk), mh(select("flag"))], by_flag),
    "tempered": lambda: tempered(at_power, [0.5, 0.2]),
    "adapted": tuned,
    "renamed": lambda: replace(mh(walk), name="another name"),
}


@pytest.mark.parametrize("kind", KERNELS)
def test_a_kernel_comes_back_with_the_same_steps(kind):
    kernel = KERNELS[kind]()
    again = pickle.loads(pickle.dumps(kernel))
    assert again.name == kernel.name and again.reversible == kernel.reversible
    assert again.structure == kernel.structure
    mine, theirs = (sample(k, start(), 30, record=["w", "flag", "k"], seed=2) for k in (kernel, again))
    for name in ("w", "flag", "k"):
        np.testing.assert_array_equal(mine[name], theirs[name])


def test_one_kernel_in_two_places_is_still_one():
    a = mh(select("w"))
    again = pickle.loads(pickle.dumps(cycle(a, mh(walk), a)))
    assert again.parts[0] is again.parts[2] and again.reversible


def test_what_was_found_in_warm_up_comes_back():
    kernel = tuned()
    again = pickle.loads(pickle.dumps(kernel))
    assert again.parts[0].tuning.step_size == kernel.parts[0].tuning.step_size is not None
    once_more = pickle.loads(pickle.dumps(again))
    assert once_more.parts[0].tuning.step_size == kernel.parts[0].tuning.step_size


def test_kernels_of_the_user_s_own():
    """A step with a name is pickled by it; one that was put in place of gendsl's isn't forgotten."""
    own = pickle.loads(pickle.dumps(Kernel(stay, "stay", reversible=True)))
    assert own.step is stay and own.name == "stay" and own.reversible
    other = pickle.loads(pickle.dumps(replace(mh(walk), step=stay)))
    assert other.step is stay
    with pytest.raises((AttributeError, pickle.PicklingError), match=r"local object|<lambda>"):
        pickle.dumps(Kernel(lambda trace, rng: (trace, None), "local"))
