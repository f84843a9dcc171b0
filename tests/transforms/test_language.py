"""The transform language: what `read`, `write` and `copy` do, on one trace and on two."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    beta,
    categorical,
    check_involutive,
    continuous,
    copy,
    dirichlet,
    discrete,
    gen,
    iid,
    involutive_mcmc,
    multinomial,
    normal,
    pair,
    poisson,
    read,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.errors import HandleError, LostDerivativeError, ReadError, SingularJacobianError
from gendsl.runtime.executions import Simulate
from gendsl.transforms.apply import image
from gendsl.transforms.checks import check_round_trip


def apply(f, trace, q=None, q_args=(), aux=None):
    """f(trace, aux), checked to be an involution there."""
    if q is not None:
        aux = q.generate((trace, *q_args), init=aux, rng=3).trace
    there = image(f, trace, q, q_args, aux)
    check_round_trip(f, f, trace, aux, q_args, there)
    return there


def values(trace):
    return trace.choices.to_flat_dict()


# --- one trace ---------------------------------------------------------------------------------------


@gen
def pair_of_normals():
    x = ~normal(0, 1)
    y = ~normal(0, 1)
    z = ~normal(x + y, 1)


def start(model=pair_of_normals, args=(), **options):
    return model.generate(args, rng=1, **options).trace


def test_read_and_write_one_trace():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], -read(model_in["x"], continuous), continuous)

    there = apply(f, start(init={"x": 0.7}))
    assert there.trace["x"] == -0.7
    assert there.log_abs_det == 0.0
    assert type(there.trace["x"]) is float


def test_what_is_not_mentioned_stays():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], -read(model_in["x"]))

    before = start()
    after = apply(f, before).trace
    assert after["y"] == before["y"] and after["z"] == before["z"]
    assert list(after.records) == list(before.records)


def test_the_old_trace_is_unchanged():
    @transform
    def f(model_in, *, model_out):
        counts = read(model_in["counts"], discrete)
        counts[0], counts[1] = counts[1], counts[0]
        write(model_out["counts"], counts, discrete)
        counts[:] = -1

    @gen
    def model():
        counts = ~multinomial(9, [0.3, 0.7])

    before = start(model, init={"counts": np.array([4, 5])})
    after = apply(f, before).trace
    assert before["counts"].tolist() == [4, 5]
    assert after["counts"].tolist() == [5, 4]


def test_a_list_may_change_after_it_was_written():
    @transform
    def f(model_in, *, model_out):
        w = list(read(model_in["w"]))
        w.reverse()
        write(model_out["w"], w)
        w.clear()

    @gen
    def model():
        w = ~dirichlet([1.0, 2.0, 3.0])

    before = start(model)
    np.testing.assert_array_equal(apply(f, before).trace["w"], before["w"][::-1])


def test_an_array_may_change_after_it_was_read_and_written():
    @transform
    def f(model_in, *, model_out):
        w = read(model_in["w"])
        flipped = w[::-1]
        write(model_out["w"], flipped)
        w[0] = 0.0

    @gen
    def model():
        w = ~dirichlet([1.0, 2.0, 3.0])

    before = start(model)
    np.testing.assert_array_equal(apply(f, before).trace["w"], before["w"][::-1])


def test_an_array_that_was_changed_is_read_again_as_it_is_in_the_trace():
    def spoil(v):
        v[0] = 0.0

    @transform
    def f(model_in, *, model_out):
        w = read(model_in["w"])
        w[1] = 5.0
        spoil(read(model_in["w"]))
        read(model_in["w"]).__setitem__(2, 7.0)
        write(model_out["w"], read(model_in["w"])[::-1])

    @gen
    def model():
        w = ~dirichlet([1.0, 2.0, 3.0])

    before = start(model)
    np.testing.assert_array_equal(apply(f, before).trace["w"], before["w"][::-1])


def test_reading_twice_keeps_both_derivatives():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], 3 * read(model_in["x"]) - 4 * read(model_in["x"]))

    assert apply(f, start()).log_abs_det == pytest.approx(0.0, abs=1e-12)

    @transform
    def g(model_in, *, model_out):
        write(model_out["x"], 3 * read(model_in["x"]) + 4 * read(model_in["x"]))

    assert image(g, start(), None, (), None).log_abs_det == pytest.approx(math.log(7))


def test_reading_what_stays():
    """The derivative with respect to a choice that stays is above the diagonal, and drops out."""

    @transform
    def f(model_in, *, model_out):
        x, y = read(model_in["x"]), read(model_in["y"])
        write(model_out["x"], math.exp(y) - x)

    there = apply(f, start())
    assert there.log_abs_det == 0.0


def test_observations_are_read_as_plain_values():
    seen = []

    @transform
    def f(model_in, *, model_out):
        z = read(model_in["z"], continuous)
        seen.append(z)
        write(model_out["x"], z - read(model_in["x"]))

    trace, _ = pair_of_normals.generate((), {"z": 1.5}, rng=1)
    there = apply(f, trace)
    assert seen[0] == 1.5 and type(seen[0]) is float
    assert there.trace.observed.to_flat_dict() == {("z",): 1.5}


def test_labels_may_be_left_out_or_in_one_place():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        write(model_out["k"], read(aux_in["k"], discrete))
        write(aux_out["k"], read(model_in["k"]), discrete)

    @gen
    def model():
        k = ~poisson(4)

    @gen
    def q(trace):
        k = ~poisson(4)

    there = apply(f, start(model, init={"k": 2}), q, aux={"k": 5})
    assert (there.trace["k"], there.aux["k"]) == (5, 2)
    assert there.log_abs_det == 0.0


def test_asking_whether_an_address_exists():
    answers = []

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        answers.append(("mu" in model_in, ("mu", 0) in model_in, ("mu", 7) in model_in, 0 in model_in["mu"]))
        answers.append(("u" in aux_in, "v" in aux_in))
        copy(aux_in["u"], aux_out["u"])

    @gen
    def model():
        mu = [("mu", j) @ ~normal(0, 1) for j in range(2)]

    @gen
    def q(trace):
        u = ~normal(0, 1)

    apply(f, start(model), q)
    assert answers[0] == (True, True, False, True) and answers[1] == (True, False)


def test_arguments():
    seen = []

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        seen.append((model_in.args, aux_in.args))
        scale = aux_in.args[0]
        x, u = read(model_in["x"]), read(aux_in["u"])
        write(model_out["x"], x + scale * u)
        write(aux_out["u"], -u)

    @gen
    def model(sd):
        x = ~normal(0, sd)

    @gen
    def q(trace, scale, kind):
        u = ~normal(0, 1)

    trace = start(model, (2.0,))
    there = apply(f, trace, q, (0.5, "a"))
    assert seen[0] == ((2.0,), (0.5, "a"))
    assert there.trace.args == (2.0,)
    assert there.log_abs_det == pytest.approx(0.0)


# --- whole numbers of what was read ------------------------------------------------------------------


@gen
def cell_or_point():
    if "fine" @ ~bernoulli(0.5):
        x = ~uniform(0, 1)
    else:
        i = ~uniform_discrete(0, 9)


@gen
def place_in_cell(trace):
    if not trace["fine"]:
        u = ~uniform(0, 1)


def rounded_up(x):
    return math.ceil(x) - 1


CELL_OF = {
    "floor": lambda x: math.floor(x),
    "ceil": rounded_up,
    "trunc": lambda x: math.trunc(x),
    "int": lambda x: int(x),
    "round": lambda x: round(x - 0.5),
    "//": lambda x: int(x // 1),
    "in array": lambda x: int((np.array([x, 0.5]) // 1)[0]),
}


@pytest.mark.parametrize("name", CELL_OF)
@pytest.mark.parametrize("program", [cell_or_point, cell_or_point.reference], ids=["default", "reference"])
def test_a_point_to_its_cell_and_back(name, program):
    """By hand: p(fine, x) = 1/2; p(coarse, i) p(u) = 1/2 * 1/10 * 1, and |dx/du| = 1/10."""
    cell_of = CELL_OF[name]

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        fine = read(model_in["fine"], discrete)
        write(model_out["fine"], not fine, discrete)
        if fine:
            x = 10 * read(model_in["x"], continuous)
            i = cell_of(x)
            write(model_out["i"], i, discrete)
            write(aux_out["u"], x - i, continuous)
        else:
            i, u = read(model_in["i"], discrete), read(aux_in["u"], continuous)
            write(model_out["x"], (i + u) / 10, continuous)

    trace = program.generate((), {}, init={"fine": True, "x": 0.678}, rng=1).trace
    cells = set()
    for seed in range(60):
        trace, info = involutive_mcmc(trace, place_in_cell, (), f, check=True, rng=seed)
        assert info.accepted and info.log_accept_ratio == pytest.approx(0.0, abs=1e-9)
        if not trace["fine"]:
            assert type(trace["i"]) is int
            cells.add(trace["i"])
    assert cells == {6} and 0.6 < trace["x"] < 0.7
    assert check_involutive(program, (), place_in_cell, f, n=40, rng=1).ok


def test_a_whole_number_has_no_derivative_to_write():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], math.floor(read(model_in["x"], continuous)), continuous)

    with pytest.raises(SingularJacobianError):
        involutive_mcmc(start(), None, (), f, rng=1)


# --- return values -----------------------------------------------------------------------------------


class Found(NamedTuple):
    count: int
    mean: float


class Node:
    __slots__ = ("children", "kind", "mean")

    def __init__(self, kind, mean):
        self.kind, self.mean, self.children = kind, mean, []


@gen
def returns():
    k = ~poisson(3)
    x = ~normal(0, 1)
    node = Node("leaf", 2 * x)
    node.children.append(Node("twig", np.float32(x)))
    return {
        "found": Found(k, x), "list": [k, (x,)], "array": np.array([x, x]), "set": {"a", "b"}, "node": node,
        "objects": np.array([None, node], dtype=object), "range": range(k),
    }  # fmt: skip


def test_discrete_parts_of_a_return_value_may_be_written():
    @transform
    def f(model_in, *, model_out):
        value = model_in.retval
        assert value["set"] == {"a", "b"} and value["node"].kind == "leaf"
        assert value["objects"][1].children[0].kind == "twig" and value["objects"][0] is None
        if abs(value["found"].mean) > 0.1:  # deciding by a float is allowed
            write(model_out["x"], -read(model_in["x"]))
        write(model_out["k"], 7 - value["found"].count)
        assert value["list"][0] == value["found"].count == len(value["range"])

    there = apply(f, start(returns, init={"k": 2, "x": 0.5}))
    assert there.trace["k"] == 5

    # the trace's own return value is as it was
    assert there.trace.retval["node"].mean == pytest.approx(-1.0)


@pytest.mark.parametrize(
    "part",
    [
        lambda value: value["found"].mean,
        lambda value: value["list"][1][0],
        lambda value: value["array"][0],
        lambda value: value["array"].sum(),
        lambda value: value["node"].mean,
        lambda value: value["node"].children[0].mean,
        lambda value: value["objects"][1].mean,
        lambda value: np.exp(value["array"])[1],
    ],
)
def test_floats_of_a_return_value_may_not_be_written(part):
    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], read(model_in["x"]) + part(model_in.retval))

    trace = start(returns)
    with pytest.raises(LostDerivativeError, match="return value") as caught:
        image(f, trace, None, (), None)
    assert caught.value.address == ("x",)
    assert isinstance(trace.retval["node"].mean, float)


def test_an_array_of_a_return_value_may_not_be_written_to_a_vector():
    @gen
    def model():
        v = ~iid(normal(0, 1), 2)
        return 2 * v

    @transform
    def f(model_in, *, model_out):
        write(model_out["v"], read(model_in["v"]) + model_in.retval)

    with pytest.raises(LostDerivativeError, match="return value") as caught:
        image(f, start(model), None, (), None)
    assert caught.value.address == ("v",)


def test_return_value_of_a_call():
    @gen
    def inner():
        k = ~poisson(3)
        return k + 1

    @gen
    def model():
        first = ~inner()
        second = ~inner()

    @transform
    def f(model_in, *, model_out):
        write(model_out["first", "k"], model_in["second"].retval - 1)
        write(model_out["second", "k"], model_in["first"].retval - 1)

    there = apply(f, start(model, init={("first", "k"): 2, ("second", "k"): 5}))
    assert (there.trace["first"], there.trace["second"]) == (6, 3)


def test_the_return_value_of_a_choice_is_read():
    @transform
    def f(model_in, *, model_out):
        model_in["k"].retval

    with pytest.raises(ReadError, match="no traced call") as caught:
        apply(f, start(returns, init={"k": 2}))
    assert caught.value.fix == "it is a choice: read(model_in['k'])"


def test_a_whole_trace_is_no_value():
    @transform
    def f(model_in, *, model_out):
        for _ in model_in:
            pass

    with pytest.raises(HandleError, match="model_in is a whole trace, not a value") as caught:
        apply(f, start(returns, init={"k": 2}))
    assert caught.value.fix == "name an address: model_in['x']"


# --- copies ------------------------------------------------------------------------------------------


@gen
def tree(depth):
    branch = ~bernoulli(0.5 if depth < 4 else 0.0)
    if branch:
        left = ~tree(depth + 1)
        right = ~tree(depth + 1)
        return (left, right)
    value = ~normal(0, 1 + depth)
    return value


@gen
def pick_node(trace):
    flip = ~bernoulli(0.5)


@transform
def swap_subtrees(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["flip"], aux_out["flip"])
    if read(aux_in["flip"], discrete) and read(model_in["branch"], discrete):
        copy(model_in["left"], model_out["right"])
        copy(model_in["right"], model_out["left"])


def test_subtree_swap_with_three_copies():
    swapped = 0
    for seed in range(60):
        trace = tree.simulate((0,), rng=seed)
        there = apply(swap_subtrees, trace, pick_node, aux={"flip": True})
        assert there.log_abs_det == 0.0  # exactly: no matrix is made
        if trace["branch"]:
            swapped += 1
            assert there.trace["left"] == trace["right"] and there.trace["right"] == trace["left"]
            assert there.trace.choices.submap("left") == trace.choices.submap("right")
        else:
            assert there.trace.choices == trace.choices
    assert swapped > 10


def test_copies_between_the_traces():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        copy(model_in["x"], aux_out["u"])
        copy(aux_in["u"], model_out["x"])

    @gen
    def q(trace):
        u = ~normal(0, 3)

    trace = start(init={"x": 1.0})
    there = apply(f, trace, q, aux={"u": 4.0})
    assert (there.trace["x"], there.aux["u"], there.log_abs_det) == (4.0, 1.0, 0.0)


def test_a_copied_choice_may_be_read_as_well():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        copy(aux_in["u"], aux_out["u"])
        write(model_out["x"], math.exp(read(aux_in["u"])) - read(model_in["x"]))

    @gen
    def q(trace):
        u = ~normal(0, 3)

    there = apply(f, start(), q)
    assert there.log_abs_det == 0.0


def test_copied_vectors_and_writes_together():
    @gen
    def model():
        w = ~dirichlet([1.0, 1.0, 1.0])
        x = ~normal(0, 1)

    @gen
    def q(trace):
        w = ~dirichlet([2.0, 2.0, 2.0])
        s = ~normal(0, 1)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        copy(model_in["w"], aux_out["w"])
        copy(aux_in["w"], model_out["w"])
        write(model_out["x"], read(aux_in["s"]) / 3)
        write(aux_out["s"], read(model_in["x"]) * 3)

    trace = start(model)
    there = apply(f, trace, q)
    np.testing.assert_array_equal(there.aux["w"], trace["w"])
    assert there.log_abs_det == pytest.approx(0.0)


def test_copying_a_namespace_that_has_no_choices():
    @gen
    def nothing():
        return 1

    @gen
    def model():
        left = ~nothing()
        x = ~normal(0, 1)

    @transform
    def f(model_in, *, model_out):
        copy(model_in["left"], model_out["left"])

    assert apply(f, start(model)).log_abs_det == 0.0


def test_a_discrete_move_has_no_determinant():
    @gen
    def model():
        z = [("z", i) @ ~categorical([0.2, 0.3, 0.5]) for i in range(3)]

    @gen
    def q(trace):
        i = ~uniform_discrete(0, 2)
        new = ~uniform_discrete(0, 2)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        i = read(aux_in["i"], discrete)
        copy(aux_in["i"], aux_out["i"])
        copy(aux_in["new"], model_out["z", i])
        copy(model_in["z", i], aux_out["new"])

    trace = start(model, init={("z", 1): 0})
    there = apply(f, trace, q, aux={"i": 1, "new": 2})
    assert there.trace["z", 1] == 2 and there.aux["new"] == 0
    assert there.log_abs_det == 0.0
    assert there.log_weight == pytest.approx(math.log(0.5 / 0.2))


# --- transforms made of transforms -------------------------------------------------------------------


@gen
def component():
    mean = ~normal(0, 1)
    scale = ~beta(2, 2)


@gen
def two_components():
    left = ~component()
    right = ~component()


@gen
def walk_component(trace):
    d = ~normal(0, 1)


@gen
def walk_both(trace):
    left = ~walk_component(trace)
    right = ~walk_component(trace)


@transform
def shift(model_in, aux_in, *, model_out, aux_out, scale=1.0):
    d = read(aux_in["d"], continuous)
    write(model_out["mean"], read(model_in["mean"], continuous) + scale * d, continuous)
    write(aux_out["d"], -d, continuous)


def test_nested_transforms_with_deeper_handles():
    @transform
    def both(model_in, aux_in, *, model_out, aux_out):
        for side in ("left", "right"):
            shift(model_in[side], aux_in[side], model_out=model_out[side], aux_out=aux_out[side])

    trace = start(two_components)
    there = apply(both, trace, walk_both, aux={("left", "d"): 0.25, ("right", "d"): -0.5})
    assert there.trace["left", "mean"] == trace["left", "mean"] + 0.25
    assert there.trace["right", "mean"] == trace["right", "mean"] - 0.5
    assert there.aux["left", "d"] == -0.25
    assert there.log_abs_det == 0.0


def test_nested_transform_with_an_extra_parameter_and_keyword_inputs():
    @transform
    def doubled(model_in, aux_in, *, model_out, aux_out):
        shift(model_in=model_in, aux_in=aux_in, model_out=model_out, aux_out=aux_out, scale=2.0)

    trace = start(component)
    there = apply(doubled, trace, walk_component, aux={"d": 0.25})
    assert there.trace["mean"] == trace["mean"] + 0.5


def test_a_transform_that_calls_itself():
    @transform
    def mirror(model_in, *, model_out):
        if read(model_in["branch"], discrete):
            mirror(model_in["left"], model_out=model_out["right"])
            mirror(model_in["right"], model_out=model_out["left"])
        else:
            copy(model_in["value"], model_out["value"])
        copy(model_in["branch"], model_out["branch"])

    def mirrored(value):
        return tuple(map(mirrored, value[::-1])) if isinstance(value, tuple) else value

    for seed in range(20):
        trace = tree.simulate((0,), rng=seed)
        assert apply(mirror, trace).trace.retval == mirrored(trace.retval)


def test_bind():
    bound = shift.bind(scale=3.0)
    trace = start(component)
    assert apply(bound, trace, walk_component, aux={"d": 1.0}).trace["mean"] == trace["mean"] + 3.0
    assert apply(shift, trace, walk_component, aux={"d": 1.0}).trace["mean"] == trace["mean"] + 1.0
    assert bound.bind(scale=2.0).parameters == {"scale": 2.0}
    assert "scale=3.0" in repr(bound) and repr(bound).startswith("<transform shift")
    assert bound.inputs == ("model_in", "aux_in") and bound.outputs == ("model_out", "aux_out")


class Mover:
    def __init__(self, scale):
        self.scale = scale

    @transform
    def move(self, model_in, aux_in, *, model_out, aux_out, sign=1.0):
        d = read(aux_in["d"])
        write(model_out["mean"], self.stretch(d) * sign + read(model_in["mean"]))
        write(aux_out["d"], -d)

    def stretch(self, d):
        return self.scale * math.sinh(d)


def test_methods():
    trace = start(component)
    mover = Mover(2.0)
    for f, factor in ((mover.move, 2.0), (mover.move.bind(sign=-1.0), -2.0), (Mover(0.5).move, 0.5)):
        there = apply(f, trace, walk_component, aux={"d": 1.0})
        assert there.trace["mean"] == pytest.approx(trace["mean"] + factor * math.sinh(1.0))
    assert Mover.move.inputs == ("model_in", "aux_in")


def test_a_closure_over_a_changing_variable():
    scale = 1.0

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        d = read(aux_in["d"])
        write(model_out["mean"], read(model_in["mean"]) + scale * d)
        write(aux_out["d"], -d)

    trace = start(component)
    assert apply(f, trace, walk_component, aux={"d": 1.0}).trace["mean"] == trace["mean"] + 1.0
    scale = 10.0
    assert apply(f, trace, walk_component, aux={"d": 1.0}).trace["mean"] == trace["mean"] + 10.0


def test_names_place_and_source():
    assert shift.name == "shift" and shift.__name__ == "shift"
    assert shift.location.filename == __file__
    assert "def shift" in shift.source and "write_at(write" in shift.source.replace("\n", "")
    assert Mover.move.name == "Mover.move"


def test_pair_and_its_inverse():
    @transform
    def back(model_in, *, model_out):
        write(model_out["x"], read(model_in["x"]) - 1)

    @transform
    def forth(model_in, *, model_out):
        write(model_out["x"], read(model_in["x"]) + 1)

    both = pair(forth, back)
    assert (both.forward, both.backward) == (forth, back)
    assert both.inverse == pair(back, forth) and both.inverse.inverse == both
    trace = start()
    there = image(both.forward, trace, None, (), None)
    assert image(both.inverse.forward, there.trace, None, (), None).trace["x"] == pytest.approx(trace["x"])


def test_handles_show_what_they_name():
    shown = []

    @transform
    def f(model_in, *, model_out):
        shown.append((repr(model_in), repr(model_in["x"]), repr(model_out["a"]["b", 1])))

    apply(f, start())
    assert shown[0] == ("model_in", "model_in['x']", "model_out[('a', 'b', 1)]")


def test_a_handle_refuses_to_be_a_value_in_every_operator():
    failures = []

    @transform
    def f(model_in, *, model_out):
        h = model_in["x"]
        for use in (
            lambda: h + 1, lambda: 1 - h, lambda: h * h, lambda: h / 2, lambda: h**2, lambda: 2**h,
            lambda: h % 2, lambda: h // 2, lambda: -h, lambda: abs(h), lambda: h == 1, lambda: h < 1,
            lambda: bool(h), lambda: float(h), lambda: int(h), lambda: len(h), lambda: list(h),
            lambda: hash(h), lambda: round(h), lambda: h in {1: 2}, lambda: [1][h], lambda: np.array(h),
            lambda: np.sin(h), lambda: h @ h, lambda: ~h, lambda: not h, lambda: math.floor(h),
        ):  # fmt: skip
            with pytest.raises(HandleError, match="is an address, not a value"):
                failures.append(use())

    apply(f, start())
    assert failures == []


def test_vectors_of_independent_choices():
    @gen
    def model():
        v = ~iid(normal(0, 1), 4)

    @gen
    def q(trace):
        d = ~iid(normal(0, 1), 4)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        v, d = read(model_in["v"], continuous), read(aux_in["d"], continuous)
        write(model_out["v"], v + np.exp(0.5) * d, continuous)
        write(aux_out["d"], -d, continuous)

    trace = start(model)
    there = apply(f, trace, q)
    aux = q.generate((trace,), None, rng=3).trace
    np.testing.assert_allclose(there.trace["v"], trace["v"] + np.exp(0.5) * aux["d"])
    assert isinstance(there.trace["v"], np.ndarray) and there.trace["v"].dtype == float
    assert there.log_abs_det == pytest.approx(0.0)


def test_a_move_of_one_step_is_the_image():
    """What involutive_mcmc returns when it accepts is the image of the transform."""
    trace = start(component)
    rng = np.random.default_rng(5)
    moved, info = involutive_mcmc(trace, walk_component, (), shift, rng=rng, check=True)
    aux = walk_component._trace(Simulate(np.random.default_rng(5)), (trace,))
    there = image(shift, trace, walk_component, (), aux)
    assert info.log_model_ratio == there.log_weight
    if info.accepted:
        assert values(moved) == values(there.trace)
    else:
        assert moved is trace


# --- vectors without entries -------------------------------------------------------------------------


@gen
def vector():
    k = ~poisson(1)
    v = ~iid(normal(0, 1), k)


@gen
def one_more(trace):
    grow = ~bernoulli(1.0 if trace["k"] == 0 else 0.5)
    if grow:
        u = ~normal(0, 1)


@transform
def longer_or_shorter(model_in, aux_in, *, model_out, aux_out):
    k, grow, v = read(model_in["k"]), read(aux_in["grow"]), read(model_in["v"], continuous)
    write(aux_out["grow"], not grow)
    if grow:
        write(model_out["k"], k + 1)
        write(model_out["v"], np.append(v, read(aux_in["u"])))
    else:
        write(model_out["k"], k - 1)
        write(model_out["v"], v[:-1])
        write(aux_out["u"], v[-1])


@pytest.mark.parametrize("size, grow", [(0, True), (1, True), (1, False), (2, False)])
def test_a_vector_can_have_no_entries(size, grow):
    trace = start(vector, init={"k": size, "v": np.arange(1.0, 1.0 + size)})
    there = apply(longer_or_shorter, trace, one_more, aux={"grow": grow})
    assert len(there.trace["v"]) == there.trace["k"] == (size + 1 if grow else size - 1)
    assert there.log_abs_det == 0.0
