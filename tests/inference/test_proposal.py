"""What a kernel proposes: the weight is the change in log density; the trace is made once, when asked for."""

from importlib import import_module

import numpy as np
import pytest

from gendsl import gamma, gen, normal, read, select, transform, uniform_discrete, write
from gendsl.inference import (
    elliptical_slice,
    gibbs,
    independent,
    involutive,
    mh,
    proposal,
    random_walk,
    single_site,
    slice_sampling,
    tempered,
)
from gendsl.inference.compiled import by_hand
from gendsl.inference.coordinates import Coordinates
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.watched import runs_whole


@gen
def model(n, rate):
    s = ~gamma(2, rate)
    z = ~uniform_discrete(0, 3)
    x = [("x", i) @ ~normal(0.5 * z, s) for i in range(n)]
    "y" @ ~normal(x[0] + x[1], 1)


START = model.generate((30, 1.0), {"y": 0.7}, init={"s": 1.1}, rng=1).trace


@gen
def walk(trace):
    "x" @ ~pushed(trace["x", 0])


@gen
def pushed(x):
    0 @ ~normal(x, 0.5)


@gen
def stretch(trace):
    d = ~normal(0, 0.3)


@transform
def stretched(model_in, aux_in, *, model_out, aux_out):
    d = read(aux_in["d"])
    write(model_out["s"], read(model_in["s"]) * (1 + d) if d > 0 else read(model_in["s"]) / (1 - d))
    write(aux_out["d"], -d)


KERNELS = {
    "mh": mh(select("s", "z")),
    "mh of one": mh(select(("x", 3))),
    "mh by a program": mh(walk),
    "mh of what a function picks": mh(lambda trace: select(("x", 0))),
    "single_site": single_site(select("s", "z", ("x", 2))),
    "independent": independent({"s": gamma(3, 2)}),
    "involutive": involutive(stretch, stretched),
    "involutive with a check": involutive(stretch, stretched, check=True),
    "gibbs": gibbs("z"),
    "gibbs of a block": gibbs(select("z"), block=True),
    "slice_sampling": slice_sampling(select("s", ("x", 1))),
    "elliptical_slice": elliptical_slice(select(("x", 0), ("x", 2))),
    "random_walk": random_walk(select(("x", 0), ("x", 4)), 0.5),
    "tempered": tempered(mh(select("s")), [(30, 0.4), (30, 0.3)]),
}
MODULES = [import_module(f"gendsl.inference.{name}") for name in (
    "blocks", "coordinates", "involutive", "lines", "mh", "scan", "tempered",
)]  # fmt: skip


@pytest.fixture
def proposed(monkeypatch):
    """The traces that proposals were made from, the proposals, and what was drawn from the prior, or None."""
    found = []

    def noting(propose):
        def noted(*parts):
            made = propose(*parts)
            before = parts[2][0] if propose.__name__ == "propose_image" else parts[0]
            drawn = parts[1] if "redraw" in propose.__name__ else None
            found.append((before, made, select(drawn) if type(drawn) is tuple else drawn))
            return made

        return noted

    for module in MODULES:
        for name in dir(module):
            if name.startswith("propose_") and name != "propose_trace":
                monkeypatch.setattr(module, name, noting(getattr(module, name)))
    return found


def log_density(trace):
    return model.assess(trace.args, trace.choices).log_prob


@pytest.mark.parametrize("name", KERNELS)
def test_the_weight_is_the_change_in_log_density(proposed, name):
    trace, rng = START, np.random.default_rng(1)
    with by_hand.off():
        for _ in range(20):
            trace, _ = KERNELS[name](trace, rng)
    assert len(proposed) >= 10
    for before, made, drawn in proposed:
        after = made.trace()
        assert made.trace() is after
        change = log_density(after) - log_density(before)
        if drawn is not None:
            change -= after.project(drawn) - before.project(drawn)
        assert made.log_weight == pytest.approx(change, abs=1e-9)


def test_a_point_of_unconstrained_coordinates_has_the_charts_in_its_weight():
    coordinates = Coordinates(START, select("s"))
    made = coordinates.propose(coordinates.position + 0.3)
    change = log_density(made.trace()) - log_density(START)
    assert made.log_weight == pytest.approx(change + 0.3, abs=1e-9)  # s = exp(u)


@gen
def plate(n):
    m = ~normal(0, 1)
    for i in range(n):
        x = ("x", i) @ ~normal(m, 1)
        ("y", i) @ ~normal(x, 0.5)


@pytest.mark.skipif(runs_whole(), reason="the reference runtime makes traces at once")
def test_a_redraw_of_one_choice_makes_its_trace_when_it_is_asked_for(monkeypatch):
    start, path, rng = plate.simulate((30,), rng=1), ("x", 3), np.random.default_rng(1)
    start._called.linked.watch.due = 10**9  # no redraw is compared with the reference, which needs its trace
    made, with_frame = [], CompiledTrace.with_frame
    monkeypatch.setattr(CompiledTrace, "with_frame", lambda *parts: made.append(None) or with_frame(*parts))
    one = proposal.propose_redraw(start, path, rng)
    other = proposal.propose_redraws(start, select(path), rng)
    assert one.is_local and other.trace()[path] != start[path]
    assert len(made) == 1
    assert one.trace() is one.trace() and other.trace() is other.trace()
    assert len(made) == 2
    for found in (one, other):
        likelihoods = found.trace().project(select(("y", 3))) - start.project(select(("y", 3)))
        assert found.log_weight == pytest.approx(likelihoods, abs=1e-9)
