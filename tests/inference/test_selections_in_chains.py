"""Kernels of selections that are combined of others: chains are the reference's, whatever runs them."""

import numpy as np
import pytest

from gendsl import Selection, bernoulli, gen, normal, poisson, sample, select, uniform_discrete
from gendsl.errors import ObservedError, UnknownAddressError
from gendsl.inference import cycle, elliptical_slice, gibbs, mh, random_walk, single_site, slice_sampling
from gendsl.inference.compiled.policy import why_no_machine_code
from gendsl.testing import running_on

AS = {"python": "as Python text", "native": "as machine code"}
FORMS = ["python", *(["native"] if why_no_machine_code() is None else [])]


@gen
def model():
    k = ~(1 + poisson(1))
    sizes = []
    for j in range(k):
        label = ("z", j) @ ~uniform_discrete(0, 2)
        size = ("mu", j) @ ~normal(0, 2)
        ("other", j, "x") @ ~normal(label, 1)
        sizes.append(size + label)
    on = ~bernoulli(0.5)
    shift = ~normal(0, 1)
    for i in range(4):
        ("y", i) @ ~normal(sum(sizes) + on + shift, 1.0)


@gen
def tree(depth):
    split = ~bernoulli(0.4 if depth < 3 else 0.0)
    mean = ~normal(0, 1)
    if split:
        left = ~tree(depth + 1)
        right = ~tree(depth + 1)
        mean = left + right
    return mean


@gen
def rooted():
    total = ~tree(0)
    y = ~normal(total, 1.0)


@gen
def grid():
    on = ~bernoulli(0.5)
    rows = [("row", i) @ ~normal(0, 1) for i in range(40)]
    for i in range(40):
        for j in range(3):
            ("cell", i, j) @ ~normal(rows[i] + j * on, 1.0)
    for i in range(0, 10, 3):
        ("mark", i) @ ~normal(rows[i], 1.0)


@gen
def columns():
    for i in range(4):
        for j in range(3):
            ("u", i, j) @ ~normal(0, 1)
        ("y", i) @ ~normal(1.0, 0.5)


DATA = {("cell", i, j): 0.1 * i - j for i in range(40) for j in range(3)}
GRID = grid.generate((), {**DATA, ("mark", 6): 1.0, ("mark", 3): 0.0}, rng=1).trace
ROWS = select(*(("row", i) for i in range(30)))
OBSERVED = select("y")
STARTS = {
    "grid": GRID,
    "model": model.generate((), {("y", i): 1.5 * i for i in range(4)}, init={"k": 3}, rng=1).trace,
    "columns": columns.simulate((), rng=1),
    "rooted": rooted.generate((), {"y": 1.0}, init={("total", "split"): True}, rng=1).trace,
}
KERNELS = {
    "all but some": ("model", mh(~(select("k") | OBSERVED))),
    "one left out": ("model", mh(select("z", "on") - select(("z", 0)))),
    "what is in both": ("model", mh(select("mu", "other", "shift") & select(("mu", ...), ("other", 1)))),
    "not the other": ("model", mh(select("k") | (select("mu") & ~select(("mu", 1))), skip_absent=True)),
    "all": ("model", cycle(mh(~OBSERVED), single_site(select.all - OBSERVED - select("k")))),
    "one of them": ("model", single_site(~(OBSERVED | select("mu")))),
    "values in turn": ("model", gibbs(select("on", "z") - select(("z", 0)))),
    "values at random": ("model", gibbs(~select("k", "mu", "other", "shift", "y"), scan="random")),
    "a block": ("model", gibbs(select("on", ("z", 1), ("z", 0)) - select(("z", 1)), block=True)),
    "along lines": ("model", slice_sampling(~select("k", "z", "on", "y"))),
    "an ellipse": ("model", elliptical_slice((select("shift", "mu") | select("other")) - select(("mu", 0)))),
    "a walk": ("model", random_walk(select("shift", "mu") & ~select(("mu", 0)), 0.4)),
    "an adapted walk": ("model", random_walk(~select("k", "z", "on", "y"))),
    "below calls": ("rooted", mh(select("total") - select(("total", "left")), skip_absent=True)),
    "means": ("rooted", random_walk(
        select(("total", "mean"), ("total", "right", "mean")) - select(("total", "right")), 0.3,
        skip_absent=True,
    )),
    "one of each row": ("columns", random_walk(select(("u", ..., 1)), 0.3)),
    "all of one row": ("columns", mh(select(("u", 2, ...)))),
    "all but observations": ("grid", mh(~select(GRID.observed))),
    "one but observations": ("grid", single_site(select.all - select(GRID.observed))),
    "a walk but observations": ("grid", random_walk(~select(GRID.observed) - select("on"), 0.2)),
    "values but observations": ("grid", gibbs(select("on", "row") - select("row") - select(GRID.observed))),
    "many that are named": ("grid", mh(ROWS - select(("row", 3)))),
    "some and many that are named": ("grid", mh(select(("row", 3), ("row", 35)) | (ROWS & ~select("on")))),
    "every other": ("grid", mh(select(*(("row", i) for i in (*range(0, 40, 2), 5, 7))))),
}  # fmt: skip


def draws_of(name, runtime):
    which, kernel = KERNELS[name]
    seen = {"model": "k", "columns": ("u", 2, 1), "rooted": ("total", "mean"), "grid": "on"}[which]
    warmup = 60 if "adapted" in name else 0
    with running_on(runtime):
        return sample(kernel, STARTS[which], 120, warmup=warmup, record=seen, seed=4, progress=False)


def log_densities(run):
    return run.chains[0].steps.log_prob


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KERNELS)
def test_the_same_chain(name, form):
    expected, run = draws_of(name, "reference"), draws_of(name, form)
    assert run.ran[0].partition(" (")[0] == AS[form]
    np.testing.assert_allclose(log_densities(run), log_densities(expected), rtol=1e-9)
    assert run.last.choices.keys() == expected.last.choices.keys()
    for tally, other in zip(run.acceptance.values(), expected.acceptance.values(), strict=True):
        assert (tally.proposed, tally.accepted) == (other.proposed, other.accepted)


@gen
def long_column():
    for i in range(300):
        ("u", i, "x") @ ~normal(0, 1)


@pytest.mark.parametrize("form", FORMS)
def test_many_that_differ_by_a_number_within_their_addresses(form):
    """They are one pattern, where a text would not have hundreds."""
    kernel = mh(select(*(("u", i, "x") for i in range(290))))
    start, runs = long_column.simulate((), rng=1), []
    for runtime in ("reference", form):
        with running_on(runtime):
            runs.append(sample(kernel, start, 5, record=("u", 7, "x"), seed=4, progress=False))
    expected, run = runs
    assert run.ran[0].partition(" (")[0] == AS[form]
    np.testing.assert_allclose(log_densities(run), log_densities(expected), rtol=1e-9)


@pytest.mark.parametrize("form", ["reference", *FORMS])
def test_an_observation_that_is_not_left_out_is_an_error(form):
    with running_on(form), pytest.raises(ObservedError, match="an observation is selected"):
        sample(mh(~select("k")), STARTS["model"], 20, record="k", seed=1, progress=False)


@pytest.mark.parametrize("form", ["reference", *FORMS])
def test_an_address_that_is_left_out_and_not_there_is_an_error(form):
    """A mistake in writing it would select what was to be left out."""
    kernel = mh(select("mu") - select(("mu", "first")))
    with running_on(form), pytest.raises(UnknownAddressError, match="doesn't exist"):
        sample(kernel, STARTS["model"], 20, record="k", seed=1, progress=False)


class Even(Selection):
    """A selection of a class of the user's."""

    def contains(self, path):
        return path[0] == "mu" and path[1] % 2 == 0

    def addresses(self):
        return (("mu",),)


@pytest.mark.parametrize("selection", [Even(), Even() | select("on"), ~Even() & select("mu")])
def test_selections_of_the_users_own_are_not_compiled(selection):
    with running_on("native"):
        run = sample(mh(selection), STARTS["model"], 20, record="k", seed=1, progress=False)
    with running_on("reference"):
        expected = sample(mh(selection), STARTS["model"], 20, record="k", seed=1, progress=False)
    assert run.ran != ["as machine code"]
    np.testing.assert_allclose(log_densities(run), log_densities(expected), rtol=1e-9)
