"""Tuples in addresses whose lengths are known only when the text runs: `("split", at)`, `("mean", *at)`."""

# ruff: noqa: RUF005 (tuples made in all ways)

from collections import Counter

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    choicemap,
    continuous,
    copy,
    discrete,
    gen,
    normal,
    poisson,
    read,
    select,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.hir.key_paths import apart, code_of, key_of, segments
from gendsl.compiler.hir.types import Joined, Nested, PathPart
from gendsl.compiler.llvm.native_layout import Word
from gendsl.compiler.python.state import MOST_NEW_NODES
from gendsl.compiler.run.closed import ClosedDensity
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.compiler.run.closed_sampler import ClosedSampler
from gendsl.errors import AddressConflictError, UnknownAddressError
from gendsl.inference import cycle, involutive, mh, sample, single_site
from gendsl.testing import running_on, runtimes
from tests.compiler.closed_outcomes import NATIVE, raises_everywhere
from tests.compiler.closed_steps import WAYS, AsPython, compared, needs_llvm
from tests.compiler.test_closed_move import Move, compiled, outcomes
from tests.compiler.test_recursive_moves import same_chains

# --- programs ----------------------------------------------------------------------------------------


@gen
def one_part(n):
    stack = [()]
    total = 0.0
    while stack:
        at = stack.pop()
        split = ("split", at) @ ~bernoulli(0.55 / (1 + len(at)))
        if split:
            cut = ("cut", at) @ ~uniform(0, 1)
            total += cut
            stack.append((*at, "left"))
            stack.append((*at, "right"))
        else:
            mean = ("mean", at) @ ~normal(0.1 * len(at), 1)
            total += mean
    for i in range(n):
        ("y", i) @ ~normal(total, 1)
    return total


@gen
def parts_at_the_end(n):
    queue = [()]
    total = 0.0
    while queue:
        at = queue.pop(0)
        split = ("split", at) @ ~bernoulli(0.4)
        if split:
            for k in range(2):
                queue.append(at + (k,))
        else:
            mean = ("mean", *at) @ ~normal(1.0 if at == () else -1.0, 1)
            total += mean
    for i in range(n):
        ("y", i) @ ~normal(total, 1)


@gen
def parts_before(n):
    stack = [()]
    total = 0.0
    while stack:
        at = stack.pop()
        split = (*at, "split") @ ~bernoulli(0.6 * 0.5 ** len(at))
        if split:
            (at + ("cut",)) @ ~uniform(0, 1)
            stack.append(("a", *at))
            stack.append((1,) + at)
        else:
            mean = (*at, "mean") @ ~normal(0, 1)
            total += mean
    for i in range(n):
        ("y", i) @ ~normal(total, 1)


@gen
def below(at, names, sd):
    count = ("tree", at, "count") @ ~poisson(1.5 * 0.4 ** len(at))
    total = ("tree", at, "value") @ ~normal(0, sd)
    for j in range(count):
        more = ... @ ~below(at + (names[j % len(names)], j), names, sd)
        total += more
    return total


@gen
def spliced(names):
    sd = ~uniform(0.5, 2)
    total = ... @ ~below((), names, sd)
    "y" @ ~normal(total, 1)


@gen
def leaf(m):
    mean = ~normal(m, 1)
    return mean


@gen
def with_calls(at, depth):
    split = ("split", *at, "is") @ ~bernoulli(0.5**depth)
    if split:
        left = ... @ ~with_calls((*at, "L"), depth + 1)
        right = ... @ ~with_calls((*at, "R"), depth + 1)
        return left + right
    value = ("leaf", at) @ ~leaf(0.1 * depth)
    return value


@gen
def called(n):
    total = ... @ ~with_calls((), 1)
    for i in range(n):
        ("y", i) @ ~normal(total, 1)


PROGRAMS = {
    "one part": (one_part, (2,)),
    "parts at the end": (parts_at_the_end, (2,)),
    "parts before": (parts_before, (2,)),
    "spliced": (spliced, (["a", "bb"],)),
    "called": (called, (2,)),
}


def paths_of(trace):
    return {path if isinstance(path, tuple) else (path,): x for path, x in trace.choices.items()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_texts_make_and_score_what_the_reference_does(name):
    model, args = PROGRAMS[name]
    density, sampler = ClosedDensity(model, args), ClosedSampler(model, args)
    sizes = set()
    for seed in range(40):
        trace = model.reference.simulate(args, rng=seed)
        choices = paths_of(trace)
        sizes.add(len(choices))
        some = dict([*choices.items()][::2])
        for form in ("python", "native") if NATIVE else ("python",):
            made = getattr(sampler, f"generate_{form}")(args, {}, np.random.default_rng(seed))
            assert made.choices == choices
            assert made.log_prob == pytest.approx(trace.log_prob, rel=1e-9)
            assess = getattr(density, f"assess_{form}")
            assert assess(args, choices) == pytest.approx(trace.log_prob, rel=1e-9)
            rng = np.random.default_rng(seed + 100)
            try:
                given = model.reference.generate(args, choicemap(some), rng=seed + 100)
            except Exception:  # what is given is not made
                with pytest.raises((FailedText, NotClosed)):
                    getattr(sampler, f"generate_{form}")(args, some, rng)
            else:
                made = getattr(sampler, f"generate_{form}")(args, some, rng)
                assert made.choices == paths_of(given.trace)
                assert made.weight == pytest.approx(given.log_weight, rel=1e-9, abs=1e-9)
    assert len(sizes) > 3  # trees of many shapes


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("runtime", runtimes()[1:])
def test_traces_are_those_of_the_reference(name, runtime):
    model, args = PROGRAMS[name]
    for seed in range(6):
        with running_on("reference"):
            expected = model.simulate(args, rng=seed)
        with running_on(runtime):
            trace = model.simulate(args, rng=seed)
            weight = model.assess(args, trace.choices)[0]
        assert [*trace.choices.items()] == [*expected.choices.items()]
        assert weight == pytest.approx(expected.log_prob, rel=1e-9)


def test_choices_that_are_missing_or_left_over():
    trace = next(
        t for seed in range(99) if len((t := one_part.reference.simulate((1,), rng=seed)).choices) > 6
    )
    choices = paths_of(trace)
    first = next(path for path in choices if path[0] == "mean")
    for wrong in (
        {path: x for path, x in choices.items() if path != first},
        {**choices, ("mean", (*first[1], "left")): 0.5},
        {**choices, ("mean", (*first[1], "up", "up")): 0.5},
        {**choices, ("mean", (*first[1], 2.5)): 0.5},
        {**{path: x for path, x in choices.items() if path != first}, ("mean", *first[1]): 0.5},
    ):
        raises_everywhere(one_part, (1,), choicemap(wrong))


@gen
def above_another(n):
    stack = [()]
    while stack:
        at = stack.pop()
        split = ("split", at) @ ~bernoulli(0.3)
        ("mean", *at) @ ~normal(0, 1)
        if split and len(at) < n:
            stack.append((*at, 0))


def test_a_choice_above_another_one_is_the_users_error():
    sampler = ClosedSampler(above_another, (3,))
    for seed in range(20):
        try:
            expected = paths_of(above_another.reference.simulate((3,), rng=seed))
        except AddressConflictError:
            expected = None
        for form in ("python", "native") if NATIVE else ("python",):
            rng = np.random.default_rng(seed)
            if expected is None:
                with pytest.raises(FailedText):
                    getattr(sampler, f"generate_{form}")((3,), {}, rng)
            else:
                assert getattr(sampler, f"generate_{form}")((3,), {}, rng).choices == expected


@gen
def large(n):
    at = ()
    for i in range(8):
        x = ("x", at) @ ~normal(0, 1)
        squares = []
        for j in range(n if i == 3 else 1):
            squares.append(x * j)
        ("y", i) @ ~normal(squares[len(squares) - 1], 1)
        at = (*at, i)


@needs_llvm
def test_where_memory_grows_numbers_are_given_once():
    args = (200_000,)
    drawn = ClosedSampler(large, args).generate_native(args, {}, np.random.default_rng(1))
    assert drawn.choices == paths_of(large.reference.simulate(args, rng=1))


# --- moves -------------------------------------------------------------------------------------------


@gen
def one_node(trace):
    stack = [()]
    nodes = []
    while stack:
        at = stack.pop()
        nodes.append(at)
        if trace["split", at]:
            stack.append((*at, "left"))
            stack.append((*at, "right"))
    node = ~uniform_discrete(0, len(nodes) - 1)
    if not trace["split", nodes[node]]:
        u = ~normal(0, 1)
        cut = ~uniform(0, 1)


@transform
def split_or_join(model_in, aux_in, *, model_out, aux_out):
    stack = [()]
    nodes = []
    while stack:
        at = stack.pop()
        nodes.append(at)
        if read(model_in["split", at], discrete):
            stack.append((*at, "left"))
            stack.append((*at, "right"))
    copy(aux_in["node"], aux_out["node"])
    at = nodes[read(aux_in["node"], discrete)]
    left, right = (*at, "left"), at + ("right",)
    if not read(model_in["split", at], discrete):
        mean, u = read(model_in["mean", at], continuous), read(aux_in["u"], continuous)
        write(model_out["split", at], True, discrete)
        copy(aux_in["cut"], model_out["cut", at])
        write(model_out["split", left], False, discrete)
        write(model_out["split", right], False, discrete)
        write(model_out["mean", left], mean - u, continuous)
        write(model_out["mean", right], mean + u, continuous)
    elif ("mean", left) in model_in and ("mean", right) in model_in:
        one, other = read(model_in["mean", left], continuous), read(model_in["mean", right], continuous)
        write(model_out["split", at], False, discrete)
        copy(model_in["cut", at], aux_out["cut"])
        write(model_out["mean", at], (one + other) / 2, continuous)
        write(aux_out["u"], (other - one) / 2, continuous)


@gen
def a_leaf(trace):
    queue = [()]
    leaves = []
    while queue:
        at = queue.pop(0)
        if trace["split", at]:
            queue.append((*at, 0))
            queue.append((*at, 1))
        else:
            leaves.append(at)
    leaf = ~uniform_discrete(0, len(leaves) - 1)
    step = ~normal(0, 1)
    grow = ~bernoulli(0.5)
    if grow:
        left = ~normal(0, 1)


@transform
def shifted(model_in, aux_in, *, model_out, aux_out):
    """What moves a leaf; it may put a choice above those that stay, or below them."""
    queue = [()]
    leaves = []
    while queue:
        at = queue.pop(0)
        if read(model_in["split", at], discrete):
            queue.append((*at, 0))
            queue.append((*at, 1))
        else:
            leaves.append(at)
    copy(aux_in["leaf"], aux_out["leaf"])
    at = leaves[read(aux_in["leaf"], discrete)]
    step = read(aux_in["step"], continuous)
    mean = read(model_in["mean", *at], continuous)
    write(model_out["mean", *at], mean + step, continuous)
    write(aux_out["step"], -step, continuous)
    copy(aux_in["grow"], aux_out["grow"])
    if read(aux_in["grow"], discrete):
        copy(aux_in["left"], aux_out["left"])


@gen
def one_below(n, lower_first):
    at = ()
    for i in range(n):
        at = (*at, i)
    longer = (*at, n)
    has_part = ~bernoulli(0.5)
    if has_part and lower_first:
        ("x", *longer) @ ~normal(0, 1)
    ("x", *at) @ ~normal(0, 1)
    if has_part and not lower_first:
        ("x", *longer) @ ~normal(0, 1)


@gen
def the_one_below(trace):
    if not trace["has_part"]:
        u = ~normal(0, 1)


@transform
def with_or_without(model_in, aux_in, *, model_out, aux_out):
    at = ()
    for i in range(model_in.args[0]):
        at = (*at, i)
    longer = (*at, model_in.args[0])
    has_part = read(model_in["has_part"], discrete)
    write(model_out["has_part"], not has_part, discrete)
    if has_part:
        copy(model_in["x", *longer], aux_out["u"])
    else:
        copy(aux_in["u"], model_out["x", *longer])


@gen
def written_out_below(n, lower_first):
    at = ()
    for i in range(n):
        at = (*at, i)
    has_part = ~bernoulli(0.5)
    if has_part and lower_first:
        ("x", 0, 1, n) @ ~normal(0, 1)
    ("x", *at) @ ~normal(0, 1)
    if has_part and not lower_first:
        ("x", 0, 1, n) @ ~normal(0, 1)


@transform
def with_or_without_written_out(model_in, aux_in, *, model_out, aux_out):
    has_part = read(model_in["has_part"], discrete)
    write(model_out["has_part"], not has_part, discrete)
    if has_part:
        copy(model_in["x", 0, 1, model_in.args[0]], aux_out["u"])
    else:
        copy(aux_in["u"], model_out["x", 0, 1, model_in.args[0]])


def start(model=one_part, args=(2,), seed=3):
    return model.generate(args, {("y", i): 0.5 + i for i in range(2)}, rng=seed).trace


MOVES = {
    "one part": (start, Move(one_node, split_or_join)),
    "parts at the end": (lambda: start(parts_at_the_end, seed=2), Move(a_leaf, shifted)),
}


@pytest.mark.parametrize("check", [False, True], ids=["", "checked"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MOVES)
def test_steps(name, way, check):
    make, move = MOVES[name]
    results = outcomes(way, compiled(make(), move, check=check), make(), move, 200, check)
    assert results.keys() == {"accepted", "rejected"}, results
    assert results["accepted"] > 20


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lower_first", [False, True])
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize(
    ("model", "move"),
    [(one_below, with_or_without), (written_out_below, with_or_without_written_out)],
    ids=["of any length", "written out"],
)
def test_a_choice_below_one_that_stays_is_the_users_error(model, move, n, lower_first, way):
    trace = model.generate((n, lower_first), rng=3, init={"has_part": False}).trace
    move = Move(the_one_below, move)
    results = outcomes(way, compiled(trace, move), trace, move, 10)
    assert results == {"raises": 10}


def quantities(trace):
    return {"choices": len(trace.choices), "log_prob": trace.log_prob}


KERNELS = {
    "splits": (start, lambda: cycle(involutive(one_node, split_or_join), mh(select("mean")))),
    "redraws": (start, lambda: cycle(mh(select("split")), single_site(select("mean")))),
    "ends": (lambda: start(parts_at_the_end), lambda: mh(select("split"))),
    "calls": (lambda: start(called), lambda: cycle(mh(select("split")), mh(select("leaf")))),
}


@needs_llvm
@pytest.mark.parametrize("name", KERNELS)
def test_chains(name, monkeypatch):
    make, kernel = KERNELS[name]
    native = same_chains(kernel(), make(), monkeypatch, draws=300, record=quantities)
    assert not native.fallbacks


@gen
def ever_new(n):
    at = ()
    for i in range(n):
        label = ("label", i) @ ~uniform_discrete(0, 9)
        at = (*at, label)
        if i % 2:
            ("x", at) @ ~normal(0, 1)
    ("mean", *at) @ ~normal(0, 1)


class Forgets(AsPython):
    """What forgets before each step all that the current trace does not have."""

    def step(self):
        self.state.forget_nodes()
        for column in self.state.columns:
            tables = column.values, column.current, column.visited, column.written, column.covered
            assert all(len(table) <= 5 for table in tables), column.template
        return super().step()


@pytest.mark.parametrize("way", [Forgets, *WAYS])
@pytest.mark.parametrize("name", ["label", "x"])
def test_numbers_of_tuples_are_those_of_the_current_trace(name, way):
    trace, kernel = ever_new.simulate((5,), rng=1), mh(select(name))
    closed = ClosedKernel(trace.gen_fn, trace.args, [kernel.move])
    results = Counter(what for what, *_ in compared(way, closed, trace, lambda t, rng: kernel(t, rng), 60))
    assert results == {"accepted": 60}


def test_numbers_of_tuples_that_are_gone_are_forgotten_by_python_text():
    trace, kernel = ever_new.simulate((5,), rng=1), mh(select("label"))
    closed = ClosedKernel(trace.gen_fn, trace.args, [kernel.move])
    running = AsPython(closed, trace, np.random.default_rng(1))
    for _ in range(1200):
        running.step()
    assert running.state.nodes > 3 * MOST_NEW_NODES
    assert all(len(column.values) <= 2 * MOST_NEW_NODES for column in running.state.columns)


@needs_llvm
def test_numbers_of_tuples_that_are_gone_are_forgotten(monkeypatch):
    """They are numbered anew once there is no room for their numbers."""
    trace, kernel = ever_new.simulate((5,), rng=1), mh(select("label"))
    monkeypatch.setattr("gendsl.compiler.run.native_state._NODES_AT_LEAST", 10)
    native = same_chains(kernel, trace, monkeypatch, draws=400, record=quantities)
    assert not native.fallbacks
    assert native.state.words[Word.NODES] < 200  # a step gives three numbers, or more


@gen
def fails_at_times(n):
    at = ()
    for i in range(n):
        label = ("label", i) @ ~uniform_discrete(0, 9)
        at = (*at, label)
    if label == 7:
        raise ValueError("a seven")
    ("mean", *at) @ ~normal(0, 1)


def test_numbers_that_were_forgotten_are_those_before_where_a_step_fails(monkeypatch):
    """And the steps before it are made again."""
    monkeypatch.setattr("gendsl.compiler.python.state.MOST_NEW_NODES", 3)
    trace, kernel, found = fails_at_times.simulate((5,), rng=1), mh(select("label", "mean")), {}
    for runtime in ("python", "compiled"):
        made = []
        with running_on(runtime), pytest.raises(ValueError, match="a seven"):
            sample(kernel, trace, 60, seed=3, progress=False, record=lambda t: made.append(t.log_prob))
        found[runtime] = made
    assert len(found["python"]) > 3
    np.testing.assert_allclose(found["python"], found["compiled"], rtol=1e-9)


READ = {
    "root": ("split", ()),
    "leaf": ("mean", ("left",)),
    "deep": ("mean", ("right", "left")),
    "parts": ("mean", 1),
    "more parts": ("mean", 0, 1),
    "none": ("mean", ("up", "up")),
}


@pytest.mark.slow
@needs_llvm
@pytest.mark.parametrize("model", [one_part, parts_at_the_end], ids=["one part", "parts at the end"])
def test_recorded_addresses_are_found(model):
    """Whatever numbers their tuples have in a chain."""

    def found(trace):
        known = dict(trace.choices.items())
        return {name: float(known.get(path, -9.0)) for name, path in READ.items()}

    def asked(trace):
        values = {}
        for name, path in READ.items():
            try:
                values[name] = float(trace[path])
            except UnknownAddressError:
                values[name] = -9.0
        return values

    runs = {}
    for runtime in ("native", "python", "compiled"):
        for what in (found, asked):
            with running_on(runtime):
                runs[runtime, what] = sample(
                    mh(select("split")), start(model), 300, seed=8, progress=False, record=what
                )
    for name in READ:
        expected = runs["compiled", found][name]
        for run in runs.values():
            np.testing.assert_allclose(run[name], expected)
    assert len(set(runs["compiled", found]["leaf" if model is one_part else "parts"])) > 5


@gen
def asks(trace):
    u = ~normal(0, 1)
    if ("mean", 0) in trace:  # above choices, or one
        v = ~normal(0, 1)


def test_whether_there_is_a_namespace_is_not_asked_of_choices_alone():
    trace = start(parts_at_the_end)
    with pytest.raises(NotClosed, match="of a namespace"):
        compiled(trace, Move(asks, shifted))


def test_a_selection_by_items_of_a_tuple_is_the_interpreters():
    trace = start(seed=3)
    for kernel in (mh(select(("mean", ("left",))), skip_absent=True), mh(select(("split", ...)))):
        found = {}
        for runtime in ("native", "compiled"):
            with running_on(runtime):
                run = sample(kernel, trace, 40, seed=2, progress=False, record=quantities)
                found[runtime] = run["log_prob"]
        np.testing.assert_allclose(found["native"], found["compiled"], rtol=1e-9)


@gen
def item_after(n):
    at = ()
    for _ in range(n):
        at = at + ("a",)
        (*at, "a") @ ~normal(0, 1)  # which is above the next


def test_a_tuple_does_not_stand_before_what_may_be_an_item_of_it():
    with pytest.raises(NotClosed, match="before what may be an item of it"):
        ClosedDensity(item_after, (2,))


@gen
def part_below(n, lower_first):
    at = ()
    for i in range(n):
        at = (*at, i)
    has_part = ~bernoulli(0.5)
    if has_part and lower_first:
        ("x", *at, "part") @ ~normal(0, 1)
    ("x", *at) @ ~normal(0, 1)
    if has_part and not lower_first:
        ("x", *at, "part") @ ~normal(0, 1)


@gen
def tuple_below(n, lower_first):
    at = ()
    for i in range(n):
        at = (*at, i)
    has_part = ~bernoulli(0.5)
    if has_part and lower_first:
        ("x", at) @ ~normal(0, 1)
    "x" @ ~normal(0, 1)
    if has_part and not lower_first:
        ("x", at) @ ~normal(0, 1)


@pytest.mark.parametrize("lower_first", [False, True])
@pytest.mark.parametrize("model", [part_below, tuple_below])
def test_addresses_with_tuples_that_may_be_one_are_refused(model, lower_first):
    """As a choice may be below another: nothing of a text would find that."""
    trace = model.generate((2, lower_first), rng=3, init={"has_part": False}).trace
    kernel = mh(select("has_part"))
    with pytest.raises(NotClosed, match="which may be one"):
        ClosedKernel(trace.gen_fn, trace.args, [kernel.move])
    for runtime in runtimes():
        with running_on(runtime), pytest.raises(AddressConflictError):
            sample(kernel, trace, 10, seed=2, progress=False)


# --- what addresses are ------------------------------------------------------------------------------

ONE, SEVERAL = PathPart(False), PathPart(True)


def test_parts_of_addresses_are_found_in_templates():
    def same(part, given):
        return part == given

    assert segments(("m", SEVERAL), ("m",), same) == [("m", 0, 1), (SEVERAL, 1, 1)]
    assert segments(("m", SEVERAL), ("m", "a", 0), same) == [("m", 0, 1), (SEVERAL, 1, 3)]
    assert segments((SEVERAL, "m"), (0, "b", "m"), same) == [(SEVERAL, 0, 2), ("m", 2, 3)]
    assert segments(("m", ONE, "x"), ("m", Nested(2), 0, 1, "x"), same) == [
        ("m", 0, 1), (ONE, 2, 4), ("x", 4, 5)
    ]  # fmt: skip
    assert segments(("m", ONE), ("m", 0), same) is None
    assert segments(("m", SEVERAL), ("m", Nested(0)), same) is None
    assert segments((SEVERAL, "m"), ("a", "x"), same) is None


def test_which_addresses_are_apart():
    def key(text):
        return text in ("a", "b")

    assert apart(("m", SEVERAL), ("n", SEVERAL), key)
    assert apart((SEVERAL, "m"), (SEVERAL, "n"), key)
    assert apart((SEVERAL, "m"), ("y", None), key)
    assert apart(("m", ONE), ("m", "x"), key)
    assert apart((SEVERAL, "m"), ("s", ONE), key)
    assert not apart((SEVERAL, "a"), (SEVERAL, "n"), key)  # "a" may be an item
    assert not apart(("m", SEVERAL), ("m", SEVERAL, "x"), key)
    assert not apart((SEVERAL, "m"), ("a", None), key)
    assert not apart((SEVERAL, "m"), (None, "x"), key)
    assert not apart((SEVERAL, "m"), (Joined(("x", None)),), key)
    assert not apart(("m", ONE), ("m", Nested(1), "a"), key)
    assert not apart(("m", ONE), ("m",), key)


def test_items_have_codes():
    texts = {}
    keys = ["a", 0, "b", 1, "", 17]
    codes = [code_of(key, lambda text: texts.setdefault(text, len(texts))) for key in keys]
    assert len(set(codes)) == len(keys)
    assert [key_of(code, {n: text for text, n in texts.items()}) for code in codes] == keys
