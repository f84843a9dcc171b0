"""Steps that change one choice: what has to do with it is scored, and the step is that of the interpreter."""

import contextlib
from collections import Counter

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    categorical,
    continuous,
    copy,
    discrete,
    gamma,
    gen,
    normal,
    pair,
    read,
    select,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.compiler.hir.failures import NotClosed
from gendsl.inference import cycle, involutive, mh, mixture, repeat, sample
from gendsl.testing import running_on, runtimes
from tests.compiler import chain_programs
from tests.compiler.blanket_programs import program
from tests.compiler.closed_steps import WAYS, compared, needs_llvm
from tests.compiler.test_blankets import (
    CONTINUOUS,
    PARTS,
    K,
    closed_of,
    updating,
)
from tests.laws.modules import imported

AT = 4

# --- a model, and moves of one choice of it -----------------------------------------------------------------


@gen
def groups(n):
    means = [("mean", j) @ ~normal(3.0 * j, 2) for j in range(3)]
    sd = ~gamma(4, 0.3)
    labels = []
    for i in range(n):
        labels.append(("label", i) @ ~categorical([0.2, 0.3, 0.5]))
    for i in range(n):
        ("y", i) @ ~normal(means[labels[i]], sd)
    return labels


@gen
def another(trace):
    i = ~uniform_discrete(0, trace.args[0] - 1)
    label = ~uniform_discrete(0, 3)  # there is no label 3


@transform
def exchanged(model_in, aux_in, *, model_out, aux_out):
    i = read(aux_in["i"], discrete)
    copy(aux_in["i"], aux_out["i"])
    write(aux_out["label"], read(model_in["label", i], discrete), discrete)
    write(model_out["label", i], read(aux_in["label"], discrete), discrete)


@gen
def next_label(trace):
    """A proposal that depends on what the label is, here and back."""
    i = ~uniform_discrete(0, trace.args[0] - 1)
    p = [0.1, 0.1, 0.1]
    p[(trace["label", i] + 1) % 3] += 0.7
    label = ~categorical(p)


@gen
def one_or_two(trace):
    i = ~uniform_discrete(0, trace.args[0] - 1)
    j = ~uniform_discrete(0, trace.args[0] - 1)


@transform
def swapped(model_in, aux_in, *, model_out, aux_out):
    """Two labels are exchanged; of one choice with itself nothing but it is written."""
    i, j = read(aux_in["i"], discrete), read(aux_in["j"], discrete)
    copy(aux_in["i"], aux_out["i"])
    copy(aux_in["j"], aux_out["j"])
    write(model_out["label", i], read(model_in["label", j], discrete), discrete)
    if i != j:
        write(model_out["label", j], read(model_in["label", i], discrete), discrete)


@gen
def walk_sd(trace):
    sd = ~gamma(30, trace["sd"] / 30)


@gen
def step_of_mean(trace):
    up = ~bernoulli(0.5)
    by = ~uniform(0, 1)


@transform
def upwards(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["up"], aux_out["up"])
    by = read(aux_in["by"], continuous)
    write(model_out["mean", 1], read(model_in["mean", 1], continuous) + by, continuous)
    write(aux_out["by"], by, continuous)


@transform
def downwards(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["up"], aux_out["up"])
    by = read(aux_in["by"], continuous)
    write(model_out["mean", 1], read(model_in["mean", 1], continuous) - by, continuous)
    write(aux_out["by"], by, continuous)


def start(n=37, seed=3):
    rng = np.random.default_rng(seed)
    data = {("y", i): float(rng.normal(3.0 * (i % 3), 1.0)) for i in range(n)}
    return groups.generate((n,), data, rng=seed).trace


KERNELS = {
    "one label": involutive(another, exchanged),
    "one label, checked": involutive(next_label, exchanged, check=True),
    "by what it is": involutive(next_label, exchanged),
    "two labels": involutive(one_or_two, swapped),
    "a mean, up and down": involutive(step_of_mean, pair(upwards, downwards), check=True),
}


def scores_a_part(text):
    return "keep_choices" in text


# --- tests --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", KERNELS)
def test_steps_are_those_of_the_interpreter(name, way):
    kernel, trace = KERNELS[name], start()
    closed = closed_of(kernel, trace)
    found = Counter(what for what, *_ in compared(way, closed, trace, kernel, 60))
    assert found["accepted"] > 3 and found["accepted"] + found["rejected"] == 60


def test_texts_score_a_part_where_one_choice_is_written():
    trace = start()
    for name, kernel in KERNELS.items():
        is_label = name.startswith(("one", "by"))
        assert scores_a_part(kernel.source_of("step", trace)) == is_label or name == "two labels"
    assert "others = 0.999 * (abs(lp) + abs(lp_here))" in KERNELS["one label"].source_of("step", trace)
    assert not scores_a_part(mh(walk_sd).source_of("step", trace)), "all data depend on it"


def proposing(model):
    """A kernel that proposes another value of one choice at ("z", i)."""

    if model in CONTINUOUS:

        @gen
        def moved(trace):
            ("z", AT) @ ~normal(trace["z", AT], 0.3)

        return mh(moved)

    @gen
    def other(trace):
        ("z", AT) @ ~uniform_discrete(0, 2)

    return mh(other)


def has_one(model):
    return isinstance(updating(model)[1].choices._flat.get(("z", AT)), (int, float, np.number))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", PARTS, ids=lambda one: one.name)
def test_proposals_are_those_of_the_interpreter(model, way):
    if not has_one(model):
        pytest.skip("no choice at this address, or an array")
    _, trace = updating(model)
    kernel = proposing(model)
    try:
        closed = closed_of(kernel, trace)
    except NotClosed:
        pytest.skip("the model makes these choices in several places, or of several types")
    found = Counter(what for what, *_ in compared(way, closed, trace, kernel, 12))
    assert found["accepted"] + found["rejected"] == 12 and found["accepted"]


def test_proposals_of_most_of_these_score_a_part():
    parts = []
    for model in filter(has_one, PARTS):
        with contextlib.suppress(NotClosed):
            parts.append(scores_a_part(closed_of(proposing(model), updating(model)[1]).text))
    assert sum(parts) >= 0.7 * len(parts) and len(parts) >= 40


@gen
def any_label(trace):
    i = ~uniform_discrete(1, trace.args[0] - 1)
    label = ~uniform_discrete(0, 2)


@transform
def relabelled(model_in, aux_in, *, model_out, aux_out):
    i = read(aux_in["i"], discrete)
    copy(aux_in["i"], aux_out["i"])
    write(aux_out["label"], read(model_in["z", i], discrete), discrete)
    write(model_out["z", i], read(aux_in["label"], discrete), discrete)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("seeds", [range(6), range(6, 12)], ids=["some", "more"])
def test_random_programs(seeds, check, way):
    parts = 0
    for seed in seeds:
        kernel = involutive(any_label, relabelled, check=check)
        with imported(program(seed)) as module:
            first = module.model.simulate((7, K), rng=seed)
            seen = {at: x for at, x in first.choices.items() if str(at).lstrip("('").startswith("y")}
            trace = module.model.generate((7, K), seen, rng=seed + 1).trace
            closed = closed_of(kernel, trace)
            found = Counter(what for what, *_ in compared(way, closed, trace, kernel, 12))
        assert found["accepted"] + found["rejected"] == 12, program(seed)
        parts += scores_a_part(closed.text)
    assert parts >= (2 if check else 4)


@gen
def moved_state(trace):
    i = ~uniform_discrete(1, 6)
    by = ~normal(0, 0.5)


@transform
def shifted(model_in, aux_in, *, model_out, aux_out):
    i, by = read(aux_in["i"], discrete), read(aux_in["by"], continuous)
    copy(aux_in["i"], aux_out["i"])
    write(aux_out["by"], -by, continuous)
    write(model_out["z", i], read(model_in["z", i], continuous) + by, continuous)


@pytest.mark.parametrize("way", WAYS)
def test_random_chains(way):
    rows = [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.1, 0.1, 0.8]]
    args = 7, rows, np.array([[1.0, 0.4], [0.4, 0.8]])
    parts = 0
    for seed in range(12):
        text, has_states = chain_programs.program(seed)
        with imported(text) as module:
            first = module.model.simulate(args, rng=seed)
            seen = {at: x for at, x in first.choices.items() if at[0] == "y"}
            trace = module.model.generate(args, seen, rng=seed + 1).trace
            if not isinstance(trace.choices._flat.get(("z", 0)), (int, float)):
                continue
            kernel = involutive(any_label, relabelled) if has_states else involutive(moved_state, shifted)
            closed = closed_of(kernel, trace)
            found = Counter(what for what, *_ in compared(way, closed, trace, kernel, 12))
        assert found["accepted"] + found["rejected"] == 12, text
        parts += scores_a_part(closed.text)
    assert parts >= 5


def fresh(trace):
    """The log density, scored anew."""
    return groups.reference.assess(trace.args, trace.choices).log_prob


def ran(kernel, trace, draws, **record):
    """By each runtime: what was recorded, the tallies, and the last choices."""
    found = {}
    for runtime in runtimes():
        with running_on(runtime):
            run = sample(repeat(kernel, 5), trace(), draws, record=record, seed=7, progress=False)
        tallies = {name: (one.proposed, one.accepted, one.reasons) for name, one in run.acceptance.items()}
        found[runtime] = {name: run[name].tolist() for name in record}, tallies, dict(run.last.choices)
        assert run.last.log_prob == pytest.approx(fresh(run.last), abs=1e-9)
    return found


COMPOSED = {
    "by itself": KERNELS["one label"],
    "checked": KERNELS["one label, checked"],
    "in turn": cycle(KERNELS["by what it is"], mh(walk_sd), KERNELS["two labels"], mh(select("mean"))),
    "one of several": mixture([KERNELS["one label"], mh(walk_sd)], [0.7, 0.3]),
    "by the state": mixture(
        [KERNELS["by what it is"], repeat(KERNELS["one label"], 2), mh(walk_sd)],
        lambda trace: [1.0 + trace["label", 0], 1.0, 2.0 + trace["label", 1]],
    ),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_one_seed_gives_one_chain(name):
    found = ran(COMPOSED[name], start, 40, label=("label", 0), other=("label", 20), sd="sd")
    expected = found["reference"]
    assert any(accepted > 10 for _, accepted, _ in expected[1].values())
    for runtime, other in found.items():
        assert other == expected, runtime


def test_what_is_out_of_support_is_told():
    (_, tallies, _), *others = ran(KERNELS["one label"], start, 40, sd="sd").values()
    (reasons,) = (reasons for _, _, reasons in tallies.values())
    assert len(reasons) > 10 and all("label" in why or "other" in why for why in reasons)
    assert all(other[1] == tallies for other in others)


@gen
def with_shift(n):
    is_shifted = ~bernoulli(0.5)
    shift = ("shift" @ ~normal(0, 1)) if is_shifted else 0.0
    for i in range(n):
        label = ("label", i) @ ~categorical([0.2, 0.3, 0.5])
        ("y", i) @ ~normal(3.0 * label + shift, 1)


@gen
def a_shift(trace):
    if not trace["is_shifted"]:
        new = ~normal(0, 1)


@transform
def comes_or_goes(model_in, aux_in, *, model_out, aux_out):
    is_shifted = read(model_in["is_shifted"], discrete)
    write(model_out["is_shifted"], not is_shifted, discrete)
    if is_shifted:
        write(aux_out["new"], read(model_in["shift"], continuous), continuous)
    else:
        write(model_out["shift"], read(aux_in["new"], continuous), continuous)


@pytest.mark.parametrize("check", [False, True])
def test_choices_come_and_go_between_such_steps(check):
    local = involutive(next_label, exchanged, check=check)
    kernel = cycle(local, involutive(a_shift, comes_or_goes, check=check), local)
    data = {("y", i): 3.0 * (i % 3) + 0.5 for i in range(12)}
    found = {}
    for runtime in runtimes():
        trace = with_shift.generate((12,), data, rng=2).trace
        with running_on(runtime):
            run = sample(kernel, trace, 150, record=["is_shifted", ("label", 3)], seed=5, progress=False)
        found[runtime] = [run[name].tolist() for name in ("is_shifted", ("label", 3))], dict(run.last.choices)
        assert "by the interpreter" not in str(run.ran)
    expected = found["reference"]
    assert 20 < sum(expected[0][0]) < 130
    for runtime, other in found.items():
        assert other == expected, runtime


@needs_llvm
def test_the_log_density_keeps_its_digits():
    trace = start(60)
    kernel = cycle(KERNELS["by what it is"], mh(walk_sd))
    with running_on("native"):
        run = sample(repeat(kernel, 1000), trace, 200, record="sd", seed=1, progress=False)
    assert all(how.startswith("as machine code") for how in run.ran)
    assert run.acceptance["exchanged"].accepted > 20_000
    assert run.last.log_prob == pytest.approx(fresh(run.last), rel=1e-10)


@needs_llvm
@pytest.mark.parametrize("n", [50, 5_000])
def test_a_step_takes_as_long_however_many_data_there_are(n):
    text = KERNELS["one label"].source_of("step", start(n))
    (part,) = [one for one in text.split("\ndef ") if one.startswith("groups_of_label(")]
    assert "for " not in part
