"""Where a move changes the order in which choices are made, kernels go through them in the order of now."""

import pytest

from gendsl import bernoulli, gen, normal, sample, select, uniform_discrete
from gendsl.inference import cycle, mh, random_walk, single_site, slice_sampling
from gendsl.testing import running_on, runtimes


@gen
def in_two_orders():
    a = ~bernoulli(0.5)
    if a:
        u = ~normal(0, 1)
        v = ~normal(0, 1)
    else:
        v = ~normal(0, 1)
        u = ~normal(0, 1)
    x = ~normal(u + v, 1)


@gen
def made_when_needed(n):
    means = {}
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 4)
        if z not in means:
            means[z] = ("mu", z) @ ~normal(0, 2)
        ("x", i) @ ~normal(means[z], 1)


OF_TWO = (in_two_orders, (), {"x": 1.0}, "a", [random_walk(scale=0.5), slice_sampling(select("u", "v"))])
OF_SOME, OF_MANY = (
    (made_when_needed, (n,), {("x", i): float(i % 3) for i in range(n)}, "z", [
        random_walk(select("mu"), 0.4), slice_sampling(select("mu")), single_site(select("mu")), mh("mu"),
    ])
    for n in (5, 14)
)  # fmt: skip
CASES = [(*case[:4], kernel) for case in (OF_TWO, OF_SOME, OF_MANY) for kernel in case[4]]


@pytest.mark.parametrize(("model", "args", "observed", "structure", "kernel"), CASES)
def test_the_chain_is_the_same_on_all_runtimes(model, args, observed, structure, kernel):
    drawn = {}
    for name in runtimes():
        with running_on(name):
            start = model.generate(args, observed, rng=3).trace
            both = cycle(single_site(select(structure)), kernel)
            run = sample(both, start, 60, seed=2, progress=False)
        drawn[name] = [(list(t.choices), [*t.choices.values()]) for t in run.traces]
    expected = drawn["reference"]
    assert len({tuple(paths) for paths, _ in expected}) > 1
    for name, draws in drawn.items():
        for (paths, values), (others, found) in zip(expected, draws, strict=True):
            assert others == paths and found == pytest.approx(values, rel=1e-9), name


def test_what_is_selected_is_in_the_order_of_now():
    latent = ~select("a", "x")
    for name in runtimes():
        with running_on(name):
            trace = in_two_orders.generate((), {"x": 1.0}, init={"a": True}, rng=1).trace
            assert list(trace.selected(latent)) == [("u",), ("v",)], name
            other = trace.update({"a": False})[0]
            assert list(other.selected(latent)) == [("v",), ("u",)], name
