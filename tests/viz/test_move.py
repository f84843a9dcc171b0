"""What the picture of a move shows: what became of each address, the arrows, and the Jacobian's sparsity."""

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    continuous,
    copy,
    dirichlet,
    discrete,
    gen,
    normal,
    pair,
    read,
    transform,
    uniform_discrete,
    write,
)
from gendsl.errors import CoverageError, HandleError, ValueTypeError
from gendsl.viz.move import apply_move


@gen
def clusters():
    k = ~uniform_discrete(1, 3)
    for j in range(k):
        ("mu", j) @ ~normal(0, 10)
    w = ~dirichlet([1.0] * k)
    x = ~normal(0, 1)


@gen
def offset(trace):
    split = ~bernoulli(0.5)
    if split:
        u = ~normal(0, 1)
        v = ~normal(0, 1)


@transform
def split_merge(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    split = read(aux_in["split"], discrete)
    weights = list(read(model_in["w"], continuous))
    write(aux_out["split"], not split, discrete)
    if split:
        other = k + 1
        write(model_out["k"], other, discrete)
        mu, u, v = read(model_in["mu", 0]), read(aux_in["u"]), read(aux_in["v"])
        write(model_out["mu", 0], mu - u)
        write(model_out["mu", k], mu + u)
        weights[0], last = weights[0] * v, weights[0] * (1 - v)
        write(model_out["w"], [*weights, last])


def traces(split=True, k=2):
    trace, _ = clusters.generate((), {"x": 0.5}, init={"k": k}, rng=1)
    aux, _ = offset.generate((trace,), {}, init={"split": split}, rng=2)
    return trace, aux


def test_what_became_of_each_address():
    move = apply_move(split_merge, *traces())
    assert {key for key, after in move.after.items() if after.kind == "kept"} == {(0, ("mu", 1)), (0, ("x",))}
    assert move.after[0, ("k",)].kind == "discrete" and move.after[0, ("k",)].value == 3
    assert move.after[0, ("mu", 2)].kind == "continuous" and (0, ("mu", 2)) not in move.before
    assert move.before[0, ("x",)].observed and not move.before[0, ("x",)].read
    reads = {key for key, before in move.before.items() if before.read}
    assert reads == {(0, ("k",)), (0, ("mu", 0)), (0, ("w",)), (1, ("split",)), (1, ("u",)), (1, ("v",))}
    assert move.names == (("model_in", "aux_in"), ("model_out", "aux_out"))


def test_arrows_are_the_nonzero_derivatives_and_the_reads_of_discrete_values():
    move = apply_move(split_merge, *traces())
    found = {(arrow.source, arrow.target) for arrow in move.arrows}
    mu, u, v, w = (0, ("mu", 0)), (1, ("u",)), (1, ("v",)), (0, ("w",))
    assert found == {
        (mu, (0, ("mu", 0))), (u, (0, ("mu", 0))), (mu, (0, ("mu", 2))), (u, (0, ("mu", 2))),
        (w, w), (v, w), ((0, ("k",)), (0, ("k",))), ((1, ("split",)), (1, ("split",))),
    }  # fmt: skip


def test_sparsity_is_that_of_finite_differences():
    """Rows mu0, w0, u, v; columns mu0, mu2, w0, w1."""
    trace, aux = traces()
    move = apply_move(split_merge, trace, aux)
    assert move.sparsity.rows == {(0, ("mu", 0)): 1, (0, ("w",)): 1, (1, ("u",)): 1, (1, ("v",)): 1}
    assert move.sparsity.columns == {(0, ("mu", 0)): 1, (0, ("mu", 2)): 1, (0, ("w",)): 2}

    def outputs(mu, w, u, v):
        return np.array([mu - u, mu + u, w * v, 1 - w])

    point = np.array([trace["mu", 0], trace["w"][0], aux["u"], aux["v"]])
    jacobian = np.array([(outputs(*(point + d)) - outputs(*(point - d))) / 2e-6 for d in 1e-6 * np.eye(4)])
    assert (move.sparsity.nonzero == (np.abs(jacobian) > 1e-6)).all()
    assert move.log_abs_det == pytest.approx(np.linalg.slogdet(jacobian)[1], abs=1e-6)


@transform
def swap(model_in, *, model_out):
    copy(model_in["mu", 0], model_out["mu", 1])
    copy(model_in["mu", 1], model_out["mu", 0])
    write(model_out["w"], read(model_in["w"])[::-1])


def test_copies_are_left_out_of_the_jacobian():
    move = apply_move(swap, traces()[0])
    a, b = (0, ("mu", 0)), (0, ("mu", 1))
    assert {(x.source, x.target) for x in move.arrows if x.kind == "copied"} == {(a, b), (b, a)}
    assert move.sparsity.copied == ({a, b}, {a, b})
    assert move.sparsity.nonzero.sum() == 3 and move.log_abs_det == 0
    assert not move.before[a].read


@transform
def merged(model_in, *, model_out):
    total = read(model_in["mu", 0]) + read(model_in["mu", 1])
    write(model_out["k"], 1)
    write(model_out["mu", 0], total)
    write(model_out["w"], np.array([1.0]))


def test_what_is_gone_and_a_jacobian_that_is_not_square():
    move = apply_move(merged, traces()[0])
    assert move.before[0, ("mu", 1)].gone and not move.before[0, ("mu", 0)].gone
    assert move.log_abs_det is None and "maps 3 free continuous coordinates to 1" in move.problem
    assert move.sparsity.nonzero.shape == (3, 1)


@gen
def flags(n):
    for i in range(n):
        ("z", i) @ ~bernoulli(0.5)
    s = ~uniform_discrete(0, 100)


@transform
def shift(model_in, *, model_out):
    n = model_in.args[0]
    for i in range(n - 1):
        z = read(model_in["z", i])
        write(model_out["z", i + 1], z)
    values = [read(model_in["z", i]) for i in range(n)]
    read(model_in["s"])
    write(model_out["s"], sum(values))


def test_in_a_loop_a_discrete_value_comes_from_what_was_read_in_its_turn():
    move = apply_move(shift, flags.simulate((4,), rng=1))
    found = {(a.source[1], a.target[1]) for a in move.arrows}
    assert found == {(("z", i), ("z", i + 1)) for i in range(3)} | {(("z", i), ("s",)) for i in range(4)}


@transform
def signs(model_in, *, model_out):
    for j in range(2):
        value = int(read(model_in["mu", j]) > read(model_in["x"]))
        write(model_out["mu", j], -1.0 * read(model_in["mu", j]))
    read(model_in["k"])
    write(model_out["k"], 1 + max(1, value))


def test_a_discrete_value_may_come_from_continuous_ones_and_what_only_decides_is_not_counted():
    move = apply_move(signs, traces()[0])
    to_k = {arrow.source for arrow in move.arrows if arrow.target == (0, ("k",))}
    assert to_k == {(0, ("mu", 0)), (0, ("mu", 1)), (0, ("x",))}


def test_nothing_but_traces_and_one_transform():
    trace, aux = traces()
    with pytest.raises(HandleError, match=r"pair\.forward"):
        apply_move(pair(split_merge, split_merge), trace, aux)
    with pytest.raises(HandleError, match="takes 2 traces"):
        apply_move(split_merge, trace)
    with pytest.raises(ValueTypeError, match="applied to traces"):
        apply_move(split_merge, trace, {"u": 1})


@transform
def forgets(model_in, *, model_out):
    write(model_out["k"], 3)


def test_a_move_that_leads_to_no_trace_is_an_error():
    with pytest.raises(CoverageError, match="neither writes nor copies"):
        apply_move(forgets, traces(k=1)[0])
