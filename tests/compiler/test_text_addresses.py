"""Addresses that are strings made of values: `f"mu_{i}"`, `"beta_" + name`."""

# ruff: noqa: UP031, UP032 (strings made in all ways)

import itertools

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    continuous,
    copy,
    discrete,
    exponential,
    gen,
    normal,
    read,
    select,
    transform,
    uniform_discrete,
    write,
)
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.joined import is_readable, may_be_one, parsed, spelled
from gendsl.compiler.hir.meetings import meetings
from gendsl.compiler.hir.types import Joined, Padded
from gendsl.compiler.run.closed import ClosedDensity
from gendsl.inference import (
    cycle,
    gibbs,
    involutive,
    mh,
    random_walk,
    repeat,
    single_site,
    slice_sampling,
)
from tests.compiler.closed_outcomes import outcome
from tests.compiler.closed_steps import needs_llvm
from tests.compiler.test_recursive_moves import same_chains

YS = {f"y_{i}": y for i, y in enumerate([0.3, 1.2, -0.4, 2.0, 3.0])}

# --- strings -----------------------------------------------------------------------------------------

PIECES = [
    ("mu_", None), (None,), (None, "_mu"), ("mu_", None, "_", None), ("has_", ...), (...,), (..., "_", None),
    ("x-", None), (None, "-", None), ("mu", None, "sd"), ("mu_", None, "_sd"), (None, ":", ...),
]  # fmt: skip


@pytest.mark.parametrize("pieces", PIECES, ids=str)
def test_values_are_read_from_the_string_that_they_make(pieces):
    joined = Joined(pieces)
    assert is_readable(joined)
    kinds = [piece for piece in pieces if not isinstance(piece, str)]
    texts = {0: "a", 1: "ar_1", 2: "-x", 3: ""}
    values = [texts if kind is ... else (0, 7, 10, 123, -3) for kind in kinds]
    for one in itertools.product(*values):
        text = spelled(joined, iter(one), texts)
        found = tuple(texts[value] if kind is ... else value for kind, value in zip(kinds, one, strict=True))
        assert parsed(joined, text) == found


def test_no_other_string_is_read():
    for text in ("mu_", "mu_01", "mu_-0", "mu_1.0", "mu_+1", "mu_1 ", "mu_١", "nu_1", "mu_1_2", "xmu_1"):
        assert parsed(Joined(("mu_", None)), text) is None


@pytest.mark.parametrize(
    "pieces", [("x1", None), (None, "0"), (None, None), (None, ...), (..., ...), (..., "-", None)], ids=str
)
def test_strings_that_may_be_made_in_two_ways(pieces):
    assert not is_readable(Joined(pieces))


def test_which_strings_may_be_one():
    numbers = range(-12, 124)
    texts = {0: "", 1: "x", 2: "_1", 3: "mu"}
    made = {}
    for pieces in [*PIECES, ("mu_-", None), ("mu_1_", None), ("mu_", None, "_1"), ("mu", None)]:
        kinds = [piece for piece in pieces if not isinstance(piece, str)]
        values = [texts if kind is ... else numbers for kind in kinds]
        joined = Joined(pieces)
        made[joined] = {spelled(joined, iter(one), texts) for one in itertools.product(*values)}
    never = 0
    for (one, mine), (other, theirs) in itertools.combinations(made.items(), 2):
        may = may_be_one(one, other)
        assert may == may_be_one(other, one)
        assert may or not mine & theirs, f"{one} and {other}: {mine & theirs}"
        never += not may
    assert never > len(made)
    assert may_be_one("mu_3", Joined(("mu_", None))) and not may_be_one("mu_x", Joined(("mu_", None)))
    assert may_be_one(..., Joined(("mu_", None))) and not may_be_one(None, Joined(("mu_", None)))


# --- programs ----------------------------------------------------------------------------------------


@gen
def in_all_ways(n, names):
    total = 0.0
    for i in range(n):
        total += f"a_{i}" @ ~normal(0, 1)
        total += ("b_" + str(i)) @ ~normal(total, 1)
        total += ("c_%d_%s" % (i, "end")) @ ~normal(total, 1)
        total += "d_{}_{}".format(i, i + 1) @ ~normal(total, 1)
        total += (f"group_{i % 2}", i) @ ~normal(total, 1)
        key = f"e{i!s}"
        total += key @ ~normal(total, 1)
    for name in names:
        total += f"beta_{name}" @ ~normal(0, 1)
    for name in ["u", "v"]:
        total += f"{name}_last" @ ~normal(0, 1)
    "a_total" @ ~normal(total, 1)


@gen
def meets_a_constant(n):
    total = "mu_0" @ ~normal(0, 1)
    for i in range(1, n):
        total += f"mu_{i}" @ ~normal(total, 1)
    return total


@gen
def part(i):
    return f"x{i}" @ ~normal(0, 1)


@gen
def with_calls(n):
    total = 0.0
    for i in range(n):
        total += f"part_{i}" @ ~part(i)
    "y" @ ~normal(total, 1)


@pytest.mark.parametrize(
    ("model", "args"),
    [(in_all_ways, (4, ["x", "y_1"])), (meets_a_constant, (4,)), (with_calls, (3,))],
    ids=lambda one: getattr(one, "name", ""),
)
def test_the_density(model, args):
    assert outcome(model, args) == "equal"


@gen
def in_two_ways(n):
    for i in range(n):
        f"x_{i}" @ ~normal(0, 1)
        f"x_-{i + 5}" @ ~normal(0, 1)


@gen
def of_data_and_made(n, names):
    for i, name in enumerate(names):
        f"x_{i}" @ ~normal(0, 1)
        name @ ~normal(0, 1)


@gen
def ambiguous(n):
    for i in range(n):
        f"x{i}{i + 1}" @ ~normal(0, 1)


@gen
def of_floats(n):
    for i in range(n):
        f"x{i / 2}" @ ~normal(0, 1)


@pytest.mark.parametrize(
    ("model", "args", "reason"),
    [
        (ambiguous, (3,), "two may be one"),
        (of_floats, (3,), "a string that is made of float"),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_what_is_refused(model, args, reason):
    with pytest.raises(NotClosed, match=reason):
        ClosedDensity(model, args)


@pytest.mark.parametrize(("model", "args"), [(in_two_ways, (3,)), (of_data_and_made, (2, ["a", "b"]))])
def test_what_may_be_one_string_is_never_wrong(model, args):
    found = outcome(model, args)
    assert found == "equal" or found.startswith("refused: ")


# --- chains ------------------------------------------------------------------------------------------


@gen
def clusters(n):
    k = ~uniform_discrete(1, 4)
    means = [f"mu_{j}" @ ~normal(0, 3) for j in range(k)]
    sd = "sd_1" @ ~exponential(1)
    for i in range(n):
        z = f"z{i}" @ ~uniform_discrete(0, k - 1)
        f"y_{i}" @ ~normal(means[z], sd)


@gen
def which_mean(trace):
    j = ~uniform_discrete(0, trace["k"] - 1)
    step = ~normal(0, 0.5)


@transform
def shifted(model_in, aux_in, *, model_out, aux_out):
    j, step = read(aux_in["j"], discrete), read(aux_in["step"], continuous)
    mean = read(model_in[f"mu_{j}"], continuous)
    write(model_out[f"mu_{j}"], mean + step, continuous)
    copy(aux_in["j"], aux_out["j"])
    write(aux_out["step"], -step, continuous)


@gen
def walk_means(trace):
    for j in range(trace["k"]):
        f"mu_{j}" @ ~normal(trace[f"mu_{j}"], 0.3)


@gen
def more_or_fewer(trace):
    k = trace["k"]
    up = ~bernoulli(1.0 if k == 1 else 0.0 if k == 4 else 0.5)
    if up:
        new = ~normal(0, 3)


@transform
def grown_or_shrunk(model_in, aux_in, *, model_out, aux_out):
    up, k = read(aux_in["up"], discrete), read(model_in["k"], discrete)
    write(aux_out["up"], not up, discrete)
    if up:
        write(model_out["k"], k + 1, discrete)
        copy(aux_in["new"], model_out[f"mu_{k}"])
    else:
        write(model_out["k"], k - 1, discrete)
        copy(model_in["mu_%d" % (k - 1)], aux_out["new"])


@needs_llvm
def test_chains_of_clusters(monkeypatch):
    start, _ = clusters.generate((5,), YS, rng=2)
    every = cycle(
        involutive(which_mean, shifted),
        involutive(more_or_fewer, grown_or_shrunk),
        mh(walk_means),
        mh(select("z0", "z3")),
        single_site(select("z1", "z2")),
        gibbs("z4"),
        slice_sampling("sd_1"),
        random_walk("sd_1", 0.3),
    )
    recorded = {"k": "k", "sd": "sd_1", "first": "mu_0", "z": "z4"}
    assert same_chains(repeat(every, 5), start, monkeypatch, draws=20, record=recorded) is not None


NAMES = ["age", "sex", "income"]
X = np.array([[0.1, 1.0, 0.3], [0.4, 0.0, 1.3], [1.1, 1.0, -0.3], [0.7, 0.0, 0.2], [0.2, 1.0, 2.0]])


@gen
def regression(names):
    effects = {}
    for name in names:
        if f"has_{name}" @ ~bernoulli(0.5):
            effects[name] = f"beta_{name}" @ ~normal(0, 1)
    sd = ~exponential(1)
    for i in range(len(X)):
        mean = 0.0
        for j, name in enumerate(names):
            if name in effects:
                mean += X[i, j] * effects[name]
        f"y_{i}" @ ~normal(mean, sd)


@gen
def which_effect(trace, names):
    name = names["i" @ ~uniform_discrete(0, 2)]
    if not trace[f"has_{name}"]:
        effect = ~normal(0, 1)


@transform
def toggled(model_in, aux_in, *, model_out, aux_out):
    name = NAMES[read(aux_in["i"], discrete)]
    has = read(model_in[f"has_{name}"], discrete)
    copy(aux_in["i"], aux_out["i"])
    write(model_out["has_" + name], not has, discrete)
    if has:
        copy(model_in["beta_" + name], aux_out["effect"])
    else:
        copy(aux_in["effect"], model_out["beta_" + name])


@needs_llvm
def test_chains_of_a_regression(monkeypatch):
    start, _ = regression.generate((NAMES,), YS, rng=2)
    every = cycle(
        involutive(which_effect, toggled, (NAMES,)), mh(select("sd")), single_site(select("has_age"))
    )
    recorded = {"sd": "sd", **{name: f"has_{name}" for name in NAMES}}
    assert same_chains(repeat(every, 5), start, monkeypatch, draws=20, record=recorded) is not None


@gen
def padded(n):
    k = ~uniform_discrete(1, 3)
    total = 0.0
    for i in range(9, 9 + k):
        total += f"mu_{i:02d}" @ ~normal(i, 1)
        total += "sd_%03d" % i @ ~exponential(1)
        total += "{:04d}-{}".format(i, i + 1) @ ~normal(0, 1)
    for i in range(n):
        f"y_{i:d}" @ ~normal(total, 1)
    f"z_{3:.1f}" @ ~normal(total, 1)


@needs_llvm
def test_integers_with_zeros_before_them(monkeypatch):
    assert outcome(padded, (3,)) == "equal"
    start, _ = padded.generate((3,), {"y_0": 9.5, "y_1": 10.0, "y_2": 9.0}, rng=2)
    every = cycle(
        mh(select("k")),
        random_walk("mu_09", 0.5),
        slice_sampling("sd_009"),
        random_walk(select("mu_10", "0010-11"), 0.5, skip_absent=True),
    )
    recorded = {"k": "k", "mu": "mu_09", "sd": "sd_009"}
    assert same_chains(repeat(every, 5), start, monkeypatch, draws=20, record=recorded) is not None


@gen
def padded_in_two_ways(n):
    for i in range(n):
        f"x_{i:02d}" @ ~normal(0, 1)
        f"x_{i}" @ ~normal(0, 1)


@gen
def of_no_integer(n):
    x = ~normal(0, 1)
    f"y_{x:02.1f}" @ ~normal(0, 1)


@gen
def of_braces(n):
    for i in range(n):
        "{{{}".format(i) @ ~normal(0, 1)


@gen
def of_closing_braces(n):
    for i in range(n):
        "{}}}".format(i) @ ~normal(0, 1)


def test_what_is_not_read_of_formats():
    for program in (of_braces, of_closing_braces):
        assert "the format" in outcome(program, (3,))
    with pytest.raises(NotClosed, match="may be one"):
        meetings(ClosedDensity(padded_in_two_ways, (3,)).lowered)
    assert outcome(of_no_integer, (3,)).startswith("refused")


@pytest.mark.parametrize("width", [2, 3])
def test_padded_integers_are_told_from_others(width):
    joined = Joined(("x_", Padded(width), "_y"))
    for value in (0, 5, 12, 123, -1, -12):
        text = f"x_{value:0{width}d}_y"
        assert spelled(joined, iter([value]), {}) == text
        assert parsed(joined, text) == (value,)
    for text in ("x_5_y", "x_0005_y", "x_-0_y", "x_+1_y", "x__y"):
        assert parsed(joined, text) is None
    assert may_be_one(joined, Joined(("x_", None, "_y")))
    assert not may_be_one(joined, "x_5_y")
    assert may_be_one(Joined(("x_", Padded(width))), Joined((f"x_{-5:0{width}d}",)))
    assert not may_be_one(joined, Joined(("x_", None, "_z")))


# --- strings that are one of some constants, beside strings that are made of values ------------------------


@gen
def parts_of(n):
    has_ar = ~bernoulli(0.5)
    has_ma = ~bernoulli(0.5)
    phi = theta = 0.0
    if has_ar:
        phi = ~normal(0, 1)
    if has_ma:
        theta = ~normal(0, 1)
    level = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(level + phi * i + theta * i * i, 1)


@gen
def which(trace):
    ma = ~bernoulli(0.5)
    if not trace["has_ma" if ma else "has_ar"]:
        u = ~normal(0, 1)


@transform
def switched(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["ma"], aux_out["ma"])
    part = "ma" if read(aux_in["ma"], discrete) else "ar"
    name = {"ma": "theta", "ar": "phi"}[part]
    has = read(model_in[f"has_{part}"], discrete)
    write(model_out["has_" + part], not has, discrete)
    if has:
        copy(model_in[name], aux_out["u"])
    else:
        copy(aux_in["u"], model_out[name])


@gen
def scaled(trace):
    up = ~bernoulli(0.5)
    u = ~normal(0, 0.2)


@transform
def scales(model_in, aux_in, *, model_out, aux_out):
    names = ["level", "phi", "theta"]
    u = read(aux_in["u"], continuous)
    name = names[2 if read(aux_in["up"], discrete) else 0]
    if name in model_in:
        write(model_out[name], read(model_in[name], continuous) + u, continuous)
        write(aux_out["u"], -u, continuous)
    else:
        copy(aux_in["u"], aux_out["u"])
    copy(aux_in["up"], aux_out["up"])


@needs_llvm
@pytest.mark.parametrize("check", [False, True])
def test_strings_that_are_one_of_some_constants(monkeypatch, check):
    start, _ = parts_of.generate((4,), {("y", i): 0.3 * i for i in range(4)}, rng=3)
    kernel = cycle(involutive(which, switched, check=check), involutive(scaled, scales, check=check))
    made = same_chains(kernel, start, monkeypatch, draws=300, record=["has_ar", "has_ma", "level"])
    assert sum(made.fallbacks.values()) <= 3, made.fallbacks


# --- strings that are one of some constants each, in the address of a program that proposes -----------------


@gen
def line():
    level = ~normal(0, 1)
    slope = ~normal(0, 1)
    return level, slope


@gen
def lines(xs):
    top = [("line", j) @ ~line() for j in range(2)]
    sd = ~exponential(1)
    for i, x in enumerate(xs):
        level, slope = top[i % 2]
        ("y", i) @ ~normal(level + slope * x, sd)


@gen
def each_by_name(trace):
    for j in range(2):
        for name, scale in zip(["level", "slope"], [0.1, 0.3], strict=True):
            ("line", j, name) @ ~normal(trace["line", j, name], scale)


@needs_llvm
def test_proposals_for_choices_that_the_model_has_one_by_one(monkeypatch):
    xs = np.linspace(0, 1, 6)
    start, _ = lines.generate((xs,), {("y", i): 2 * x for i, x in enumerate(xs)}, rng=1)
    record = [("line", 0, "level"), ("line", 1, "slope")]
    made = same_chains(repeat(mh(each_by_name), 3), start, monkeypatch, draws=50, record=record)
    assert made is not None and not made.fallbacks, made.fallbacks


@gen
def graph(n):
    effect = {}
    for cause in ("rain", "sun"):
        for result in ("crop", "price"):
            if f"{cause}->{result}" @ ~bernoulli(0.5):
                effect[cause, result] = f"{cause}{result}" @ ~normal(0, 1)
    for i in range(n):
        for result in ("crop", "price"):
            total = sum(value for (_, other), value in effect.items() if other == result)
            (result, i) @ ~normal(total, 1)


@gen
def an_edge(trace):
    wet = ~bernoulli(0.5)
    dear = ~bernoulli(0.3)
    if not trace[f"{'rain' if wet else 'sun'}->{'price' if dear else 'crop'}"]:
        u = ~normal(0, 1)


@transform
def edge_toggled(model_in, aux_in, *, model_out, aux_out):
    for name in ("wet", "dear"):
        copy(aux_in[name], aux_out[name])
    cause = "rain" if read(aux_in["wet"], discrete) else "sun"
    result = "price" if read(aux_in["dear"], discrete) else "crop"
    present = read(model_in[f"{cause}->{result}"], discrete)
    write(model_out[f"{cause}->{result}"], not present, discrete)
    if present:
        copy(model_in[f"{cause}{result}"], aux_out["u"])
    else:
        copy(aux_in["u"], model_out[f"{cause}{result}"])


@needs_llvm
def test_strings_made_of_several_that_are_one_of_some_constants(monkeypatch):
    data = {(name, i): 0.5 * i for name in ("crop", "price") for i in range(4)}
    start, _ = graph.generate((4,), data, rng=1)
    kernel = involutive(an_edge, edge_toggled, check=True)
    made = same_chains(kernel, start, monkeypatch, draws=300, record=["rain->crop", "sun->price"])
    assert made is not None and sum(made.fallbacks.values()) <= 3, made.fallbacks


def key_of(i, j):
    return f"x_{i}_{j}"


@gen
def at(key, mean):
    return ("here", key) @ ~normal(mean, 1)


@gen
def of_two_numbers(n):
    total = 0.0
    for i in range(n):
        for j in range(i):
            key = key_of(i, j) if i < 2 else f"x_{j}_{i}"
            total += key @ ~normal(total, 1)
            total += ("of", i, j) @ ~at(f"y_{i}_{j}", total)
    return total


def test_strings_of_two_numbers_are_given_to_functions():
    assert outcome(of_two_numbers, (4,)) == "equal"
