"""pi K = pi to 1e-12, by enumerating every state and everything that a kernel can do from it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from gendsl import (
    bernoulli,
    binom,
    categorical,
    copy,
    discrete,
    gen,
    iid,
    multinomial,
    normal,
    read,
    select,
    transform,
    uniform_discrete,
    write,
)
from gendsl.errors import InvolutionError, TransformError
from gendsl.inference import cycle, involutive, mh, mixture, repeat
from gendsl.inference.kernel import Kernel
from gendsl.testing import CannotEnumerateError, assert_exact, enumerate_outcomes, transitions
from tests.statistical import broken

# --- one state, one auxiliary choice, and any map at all ---------------------------------------------


@gen
def states():
    x = ~categorical([0.1, 0.2, 0.3, 0.4])
    y = ~bernoulli([0.9, 0.2, 0.5, 0.3][x])


@gen
def auxiliary(trace):
    u = ~categorical([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1], [0.4, 0.6, 0.0]][trace["x"]])


@transform
def tabled(model_in, aux_in, *, model_out, aux_out, table=None):
    x, u = table[read(model_in["x"], discrete), read(aux_in["u"], discrete)]
    write(model_out["x"], x, discrete)
    write(aux_out["u"], u, discrete)


PAIRS = list(itertools.product(range(4), range(3)))


def random_involution(seed):
    """A random pairing of all pairs (x, u), some of them with themselves."""
    order = np.random.default_rng(seed).permutation(len(PAIRS))
    table = {}
    for i in range(0, len(order) - 1, 2):
        a, b = PAIRS[order[i]], PAIRS[order[i + 1]]
        table[a], table[b] = (b, a) if i < 10 else (a, b)
    return table


def random_map(seed):
    """A random map of all pairs (x, u), an involution on some of them only."""
    rng = np.random.default_rng(seed)
    table = random_involution(seed)
    for i in rng.permutation(len(PAIRS))[:5]:
        table[PAIRS[i]] = PAIRS[rng.integers(len(PAIRS))]
    return table


@pytest.mark.parametrize("check", [False, True, "reject"])
def test_random_involutions_are_exact_and_reversible(check):
    for seed in range(12):
        kernel = involutive(auxiliary, tabled.bind(table=random_involution(seed)), check=check)
        found = assert_exact(kernel, states, (), {"y": True})
        assert found.imbalance < 1e-12


def test_rejecting_where_the_check_fails_is_exact_whatever_the_map():
    """The lemma of section 6 of the paper."""
    moved = 0
    for seed in range(40):
        kernel = involutive(auxiliary, tabled.bind(table=random_map(seed)), check="reject")
        found = transitions(kernel, states, (), {"y": True})
        assert max(found.error, found.imbalance) < 1e-12
        moved += found.moves
    assert moved > 30  # what is left of the involutions is enough to move


def test_without_the_check_a_map_that_is_no_involution_is_wrong():
    wrong = 0
    for seed in range(40):
        kernel = involutive(auxiliary, tabled.bind(table=random_map(seed)))
        wrong += transitions(kernel, states, (), {"y": True}).error > 1e-3
    assert wrong > 30  # a few happen to be right
    with pytest.raises(AssertionError, match="doesn't leave the posterior invariant"):
        assert_exact(involutive(auxiliary, tabled.bind(table=random_map(0))), states, (), {"y": True})


def test_a_map_that_is_no_involution_is_an_error_where_it_is_checked():
    with pytest.raises(InvolutionError):
        assert_exact(involutive(auxiliary, tabled.bind(table=random_map(0)), check=True), states)


@transform
def permuted(model_in, *, model_out, order=()):
    write(model_out["x"], order[read(model_in["x"])])


def test_deterministic_transforms_without_auxiliary_choices():
    for order in itertools.permutations(range(4)):
        kernel = involutive(None, permuted.bind(order=order), check="reject")
        found = transitions(kernel, states, (), {"y": False})
        assert found.error < 1e-12
        if all(order[order[x]] == x for x in range(4)):
            plain = transitions(involutive(None, permuted.bind(order=order)), states, (), {"y": False})
            assert np.array_equal(plain.matrix, found.matrix)
            assert plain.moves == (order != (0, 1, 2, 3))


# --- structure that changes: birth and death of discrete components ------------------------------------


@gen
def components():
    k = ~uniform_discrete(1, 3)
    total = 0
    for j in range(k):
        total += ("z", j) @ ~categorical([0.6, 0.3, 0.1] if j % 2 else [0.2, 0.2, 0.6])
    signal = ~bernoulli(0.05 + 0.15 * total)


@gen
def choose_birth(trace):
    k = trace["k"]
    birth = ~bernoulli({1: 1.0, 2: 0.4, 3: 0.0}[k])
    if birth:
        place = ~uniform_discrete(0, k)
        z = ~categorical([0.3, 0.3, 0.4])
    else:
        place = ~categorical([0.7, 0.3] if k == 2 else [0.2, 0.2, 0.6])


@transform
def birth_or_death(model_in, aux_in, *, model_out, aux_out):
    k, place = read(model_in["k"]), read(aux_in["place"])
    birth = read(aux_in["birth"])
    write(aux_out["birth"], not birth)
    copy(aux_in["place"], aux_out["place"])
    if birth:
        write(model_out["k"], k + 1)
        for j in range(place, k):
            copy(model_in["z", j], model_out["z", j + 1])
        copy(aux_in["z"], model_out["z", place])
    else:
        write(model_out["k"], k - 1)
        copy(model_in["z", place], aux_out["z"])
        for j in range(place + 1, k):
            copy(model_in["z", j], model_out["z", j - 1])


@transform
def flawed_birth_or_death(model_in, aux_in, *, model_out, aux_out):
    """A death removes any component, but a birth adds a last one only."""
    k, place = read(model_in["k"]), read(aux_in["place"])
    birth = read(aux_in["birth"])
    write(aux_out["birth"], not birth)
    if birth:
        write(model_out["k"], k + 1)
        write(aux_out["place"], k)
        copy(aux_in["z"], model_out["z", k])
    else:
        write(model_out["k"], k - 1)
        write(aux_out["place"], min(place, k - 1))
        copy(model_in["z", place], aux_out["z"])
        for j in range(place + 1, k):
            copy(model_in["z", j], model_out["z", j - 1])


def test_birth_and_death():
    for check in (False, True):
        found = assert_exact(
            involutive(choose_birth, birth_or_death, check=check), components, (), {"signal": True}
        )
        assert len(found.traces) == 3 + 9 + 27
        assert found.imbalance < 1e-12


def test_the_flawed_birth_and_death_is_caught_or_rejected():
    move = choose_birth, flawed_birth_or_death
    with pytest.raises(AssertionError, match="doesn't leave the posterior invariant"):
        assert_exact(involutive(*move), components, (), {"signal": True})
    with pytest.raises(TransformError):
        assert_exact(involutive(*move, check=True), components, (), {"signal": True})
    assert_exact(involutive(*move, check="reject"), components, (), {"signal": True})


# --- discrete arrays, namespaces, implicit copies ------------------------------------------------------


@gen
def leaf(p):
    bits = ~iid(bernoulli(p), 2)
    counts = ~multinomial(2, [p, 1 - p])
    return int(bits.sum() + counts[0])


@gen
def two_leaves():
    left = ~leaf(0.3)
    right = ~leaf(0.8)
    sure = ~bernoulli(0.9 if left >= right else 0.4)


@gen
def pick_bit(trace):
    side = ~uniform_discrete(0, 1)
    bit = ~categorical([0.8, 0.2] if trace["left", "bits"][0] else [0.5, 0.5])


@transform
def flip_bit(model_in, aux_in, *, model_out, aux_out):
    side = "left" if read(aux_in["side"]) == 0 else "right"
    bits = read(model_in[side, "bits"]).copy()
    bit = read(aux_in["bit"])
    bits[bit] = not bits[bit]
    write(model_out[side, "bits"], bits)
    copy(aux_in["side"], aux_out["side"])
    copy(aux_in["bit"], aux_out["bit"])


@transform
def swap_leaves(model_in, *, model_out):
    copy(model_in["left"], model_out["right"])
    copy(model_in["right"], model_out["left"])


def test_arrays_and_namespaces():
    kernels = [involutive(pick_bit, flip_bit, check=True), involutive(None, swap_leaves, check=True)]
    for kernel in kernels:
        assert assert_exact(kernel, two_leaves, (), {"sure": True}).imbalance < 1e-12
    assert_exact(mh(select(("left", "bits"), ("right", "counts"))), two_leaves, (), {"sure": False})


# --- Metropolis-Hastings -----------------------------------------------------------------------------


@gen
def network():
    a = ~bernoulli(0.3)
    b = ~categorical([0.2, 0.5, 0.3] if a else [0.6, 0.2, 0.2])
    c = ~binom(2, 0.2 + 0.2 * b)
    if b == 1:
        e = ~uniform_discrete(1, 3)
        g = ~bernoulli(0.2 * e)
    seen = ~bernoulli([0.1, 0.5, 0.8][c])


def test_mh_on_every_selection():
    for size in (1, 2, 3):
        for names in itertools.combinations("abc", size):
            found = assert_exact(mh(select(*names)), network, (), {"seen": True})
            assert found.imbalance < 1e-12
    assert_exact(mh(~select("seen")), network, (), {"seen": False})


def test_the_evidence_is_what_it_should_be():
    found = transitions(mh(select("a")), network, (), {"seen": True})
    by_hand = 0.0
    for a, b, c in itertools.product((0, 1), (0, 1, 2), (0, 1, 2)):
        by_hand += (
            stats.bernoulli.pmf(a, 0.3) * [[0.6, 0.2, 0.2], [0.2, 0.5, 0.3]][a][b]
            * stats.binom.pmf(c, 2, 0.2 + 0.2 * b) * [0.1, 0.5, 0.8][c]
        )  # fmt: skip
    assert found.log_evidence == pytest.approx(np.log(by_hand), rel=1e-12)


@gen
def drifting(trace, pull):
    b = ~categorical([pull, 0.9 - pull, 0.1] if trace["b"] == 0 else [0.3, 0.3, 0.4])
    if b == 1:
        e = ~categorical([0.0, 0.5, 0.25, 0.25] if trace["a"] else [0.0, 0.1, 0.1, 0.8])
        g = ~bernoulli(0.5)


@gen
def tempted(trace):
    a = ~bernoulli(0.7 if trace["c"] else 0.4)


@gen
def one_way(trace):
    c = ~uniform_discrete(trace["c"], 2)


@gen
def neighbour(trace):
    c = ~categorical({0: [0.3, 0.7, 0.0], 1: [0.5, 0.0, 0.5], 2: [0.0, 0.2, 0.8]}[trace["c"]])


def test_mh_with_proposals():
    for kernel in (mh(drifting, (0.2,)), mh(neighbour)):
        assert assert_exact(kernel, network, (), {"seen": True}).imbalance < 1e-12
    # a proposal that can't be undone is never accepted, and that is right
    assert transitions(mh(one_way), network, (), {"seen": True}).error < 1e-12


# --- kernels of kernels ------------------------------------------------------------------------------


def test_cycle_mixture_and_repeat():
    a, b, c = mh(select("a")), mh(tempted), mh(neighbour)
    parts = {k: transitions(k, network, (), {"seen": True}).matrix for k in (a, b, c)}
    seen = {"seen": True}
    cycled = assert_exact(cycle(a, b, c), network, (), seen)
    assert np.allclose(cycled.matrix, parts[a] @ parts[b] @ parts[c], atol=1e-13)
    assert cycled.imbalance > 1e-4  # invariant, not reversible
    mixed = assert_exact(mixture([a, b, c], [1, 2, 5]), network, (), seen)
    assert np.allclose(mixed.matrix, (parts[a] + 2 * parts[b] + 5 * parts[c]) / 8, atol=1e-13)
    assert mixed.imbalance < 1e-12
    repeated = assert_exact(repeat(b, 2), network, (), seen)
    assert np.allclose(repeated.matrix, parts[b] @ parts[b], atol=1e-13)


def test_picking_a_kernel_by_the_state_is_wrong():
    def by_state(trace, rng):
        return (mh(select("c")) if trace["c"] == 0 else mh(select("a", "c")))(trace, rng)

    with pytest.raises(AssertionError, match="doesn't leave the posterior invariant"):
        assert_exact(Kernel(by_state, "by state"), network, (), {"seen": True})


# --- planted mistakes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mistake",
    [
        broken.wrong_sign,
        broken.dropped_auxiliary,
        broken.dropped_backward_auxiliary,
        broken.stale_auxiliary,
        broken.stale_scores,
        broken.always_accept,
    ],
    ids=lambda mistake: mistake.__name__,
)
def test_a_mistake_in_involutive_moves_is_seen(mistake, monkeypatch):
    mistake(monkeypatch)
    for kernel, model, seen in (
        (involutive(auxiliary, tabled.bind(table=random_involution(1))), states, "y"),
        (involutive(choose_birth, birth_or_death), components, "signal"),
    ):
        with pytest.raises(AssertionError):
            assert_exact(kernel, model, (), {seen: True})


@pytest.mark.parametrize(
    "mistake",
    [
        broken.dropped_backward,
        broken.stale_backward,
        broken.backward_at_proposed_values,
        broken.stale_scores,
        broken.always_accept,
    ],
    ids=lambda mistake: mistake.__name__,
)
def test_a_mistake_in_mh_is_seen(mistake, monkeypatch):
    mistake(monkeypatch)
    with pytest.raises(AssertionError):
        assert_exact(mh(neighbour), network, (), {"seen": True})


@pytest.mark.parametrize("mistake", [broken.stale_scores, broken.always_accept])
def test_a_mistake_in_mh_on_a_selection_is_seen(mistake, monkeypatch):
    mistake(monkeypatch)
    with pytest.raises(AssertionError):
        assert_exact(mh(select("c")), network, (), {"seen": True})


@transform
def forgetful(model_in, aux_in, *, model_out, aux_out):
    """`birth_or_death` that forgets to say what a new component is."""
    k = read(model_in["k"])
    birth = read(aux_in["birth"])
    write(aux_out["birth"], not birth)
    copy(aux_in["place"], aux_out["place"])
    write(model_out["k"], k + 1 if birth else k - 1)
    if not birth:
        copy(model_in["z", k - 1], aux_out["z"])


@gen
def choose_last(trace):
    k = trace["k"]
    birth = ~bernoulli({1: 1.0, 2: 0.4, 3: 0.0}[k])
    place = ~uniform_discrete(k - birth, k - birth)
    if birth:
        z = ~categorical([0.3, 0.3, 0.4])


def test_a_forgotten_write_is_an_error_and_would_be_wrong(monkeypatch):
    kernel = involutive(choose_last, forgetful)
    with pytest.raises(TransformError, match="neither writes nor copies"):
        assert_exact(kernel, components)


# --- the tools themselves ------------------------------------------------------------------------------


def test_every_outcome_once_with_its_probability():
    def two_uniforms(rng):
        u, v = rng.random(), rng.random()
        return (u < 0.25, 3 * v - 1 > 0.5, int(4 * u), rng.integers(3))

    outcomes: dict[object, float] = {}
    for outcome, probability in enumerate_outcomes(two_uniforms):
        assert outcome not in outcomes
        outcomes[outcome] = probability
    assert len(outcomes) == 4 * 2 * 3
    assert sum(outcomes.values()) == pytest.approx(1.0, abs=1e-14)
    assert outcomes[True, False, 0, 1] == pytest.approx(0.25 * 0.5 / 3, abs=1e-15)


def test_counts_have_their_probabilities():
    law = stats.multinomial(3, [0.2, 0.5, 0.3])
    found = {tuple(v.tolist()): p for v, p in enumerate_outcomes(lambda rng: rng.multinomial(3, law.p))}
    assert len(found) == 10
    for counts, probability in found.items():
        assert probability == pytest.approx(law.pmf(counts), rel=1e-12)


def test_what_has_no_finite_list_of_outcomes_is_refused():
    @gen
    def continuous_model():
        x = ~normal(0, 1)

    with pytest.raises(CannotEnumerateError, match="standard_normal"):
        assert_exact(mh(select("x")), continuous_model)
    with pytest.raises(CannotEnumerateError, match="infinitely many values"):
        list(enumerate_outcomes(lambda rng: float(rng.random())))
    with pytest.raises(CannotEnumerateError, match="4611686018427387904 outcomes"):
        list(enumerate_outcomes(lambda rng: rng.integers(2**62)))
    with pytest.raises(CannotEnumerateError, match="single"):
        list(enumerate_outcomes(lambda rng: rng.random(2)))


def test_a_kernel_that_never_moves_shows_nothing():
    with pytest.raises(AssertionError, match="never moves"):
        assert_exact(Kernel(lambda trace, rng: (trace, None), "stay"), network)


def test_a_kernel_that_returns_a_wrong_trace_is_seen():
    def forgets_observations(trace, rng):
        return network.generate((), init=trace.choices).trace, None

    with pytest.raises(AssertionError, match="changed what is observed"):
        assert_exact(Kernel(forgets_observations, "forgets"), network, (), {"seen": True})
    with pytest.raises(AssertionError, match="observations have probability zero"):
        assert_exact(mh(select("x")), states, (), {"y": 2})
