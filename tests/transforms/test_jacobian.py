"""log |det J| against exact formulas, numeric differentiation of the whole map, and autograd.

`numeric` differentiates everything: the coordinates of all latent choices of both traces, those that are
copied or stay included. So it also checks which rows and columns gendsl leaves out.
"""

import math

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import jacobian

from gendsl import (
    bernoulli,
    beta,
    copy,
    dirichlet,
    discrete,
    gamma,
    gen,
    iid,
    inv_wishart,
    involutive_mcmc,
    lkj,
    mvnormal,
    normal,
    product,
    read,
    transform,
    uniform_discrete,
    wishart,
    write,
)
from gendsl.errors import SingularJacobianError
from gendsl.transforms import elimination
from gendsl.transforms import jacobian as jacobian_module
from gendsl.transforms.apply import image, output_values, run_transform
from gendsl.transforms.checks import check_round_trip
from gendsl.transforms.elimination import eliminate

STEP = 1e-5


def traces_of(trace, q=None, q_args=(), seed=3, init=None):
    """An auxiliary trace, or None."""
    return None if q is None else q.generate((trace, *q_args), init=init, rng=seed).trace


def latent(trace):
    """The latent continuous choices of a trace, with their supports."""
    records = {} if trace is None else trace.records
    return {
        path: record[0].support
        for path, record in records.items()
        if not record[0].support.discrete and path not in trace.observed_paths
    }


def coordinates(trace):
    """The free coordinates of the latent continuous choices, one after the other."""
    parts = [support.coordinates(trace.records[path][1]) for path, support in latent(trace).items()]
    return np.concatenate(parts) if parts else np.zeros(0)


def moved(trace, point):
    """The trace with other free coordinates, and everything else as it was."""
    if trace is None:
        return None
    values, start = trace.choices.to_flat_dict(), 0
    for path, support in latent(trace).items():
        values[path] = support.from_coordinates(point[start : start + support.dim])
        start += support.dim
    there, _ = trace.gen_fn.generate(trace.args, init=values)
    there.observed_paths = trace.observed_paths
    return there


def numeric(f, trace, q=None, q_args=(), aux=None):
    """log |det| of the map on all free coordinates, by central differences."""
    points = coordinates(trace), coordinates(aux)
    size, split = sum(map(len, points)), len(points[0])
    start = np.concatenate(points)
    there = image(f, trace, q, q_args, aux)
    outputs = [latent(there.trace), latent(there.aux)]
    assert sum(s.dim for side in outputs for s in side.values()) == size

    def run(point):
        new = moved(trace, point[:split])
        new_aux = moved(aux, point[split:])
        run = run_transform(f, new, new_aux, q_args)
        parts = []
        for side, (old, output) in enumerate(zip((new, new_aux), run.outputs, strict=False)):
            written = output_values(output)
            for path, support in outputs[side].items():
                value = written[path] if path in written else old.records[path][1]
                parts.append(support.coordinates(value))
        return np.concatenate(parts)

    matrix = np.empty((size, size))
    for i in range(size):
        forward, backward = start.copy(), start.copy()
        h = STEP * max(1.0, abs(start[i]))
        forward[i] += h
        backward[i] -= h
        matrix[i] = (run(forward) - run(backward)) / (2 * h)
    sign, log_det = np.linalg.slogdet(matrix)
    assert sign != 0
    return log_det


def check(f, trace, q=None, q_args=(), init=None, seed=3, involution=True):
    """log |det J| of a move, which has passed comparison with numeric differentiation."""
    aux = traces_of(trace, q, q_args, seed, init)
    there = image(f, trace, q, q_args, aux)
    assert there.log_abs_det == pytest.approx(numeric(f, trace, q, q_args, aux), rel=1e-6, abs=2e-7)
    if involution:
        check_round_trip(f, f, trace, aux, q_args, there)
    return there.log_abs_det


# --- scalars -----------------------------------------------------------------------------------------


@gen
def scalars(n):
    for i in range(n):
        ("x", i) @ ~normal(0, 1)


@gen
def noise(trace, m):
    for i in range(m):
        ("u", i) @ ~normal(0, 1)


def mixed(values, weights, bends, xp):
    """A smooth bijection of R^n: a linear map, and after it a bend of each coordinate."""
    out = []
    for row, bend in zip(weights, bends, strict=True):
        total = sum(w * v for w, v in zip(row, values, strict=True))
        out.append(total + 0.4 * xp.tanh(bend * total) + 0.3 * xp.exp(-total * total))
    return out


@pytest.mark.parametrize(("n", "m"), [(1, 0), (1, 1), (2, 1), (3, 3), (2, 6), (8, 8)])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("small", [0, 10])
def test_random_maps_against_autograd(n, m, seed, small, monkeypatch):
    monkeypatch.setattr(elimination, "SMALL", small)
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(n + m, n + m)) + 2 * np.eye(n + m)
    bends = rng.normal(size=n + m)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        values = [read(model_in["x", i]) for i in range(n)] + [read(aux_in["u", i]) for i in range(m)]
        out = mixed(values, weights, bends, np)
        for i in range(n):
            write(model_out["x", i], out[i])
        for i in range(m):
            write(aux_out["u", i], out[n + i])

    trace = scalars.simulate((n,), rng=seed)
    aux = noise.simulate((trace, m), rng=seed + 1)
    point = np.concatenate([coordinates(trace), coordinates(aux)])
    expected = np.linalg.slogdet(jacobian(lambda v: anp.array(mixed(list(v), weights, bends, anp)))(point))[1]
    there = image(f, trace, noise, (m,), aux)
    assert there.log_abs_det == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert there.log_abs_det == pytest.approx(numeric(f, trace, noise, (m,), aux), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_arrays_against_autograd(seed):
    n = 4
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(n, n)) + 2 * np.eye(n)

    @gen
    def model():
        v = ~iid(normal(0, 1), n)

    @transform
    def f(model_in, *, model_out):
        v = read(model_in["v"])
        y = weights @ v
        write(model_out["v"], y + np.tanh(y) * 0.5 + np.concatenate([np.sin(y[1:]) / 4, y[:1] / 5]))

    def plain(v):
        y = anp.dot(weights, v)
        return y + anp.tanh(y) * 0.5 + anp.concatenate([anp.sin(y[1:]) / 4, y[:1] / 5])

    trace = model.simulate((), rng=seed)
    expected = np.linalg.slogdet(jacobian(plain)(trace["v"]))[1]
    assert image(f, trace, None, (), None).log_abs_det == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_split_and_merge_of_a_mean():
    @gen
    def model():
        k = ~uniform_discrete(1, 2)
        mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]

    @gen
    def q(trace):
        if trace["k"] == 1:
            u = ~normal(0, 1)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        if read(model_in["k"], discrete) == 1:
            write(model_out["k"], 2)
            mu, u = read(model_in["mu", 0]), read(aux_in["u"])
            write(model_out["mu", 0], mu - u)
            write(model_out["mu", 1], mu + u)
        else:
            write(model_out["k"], 1)
            a, b = read(model_in["mu", 0]), read(model_in["mu", 1])
            write(model_out["mu", 0], (a + b) / 2)
            write(aux_out["u"], (b - a) / 2)

    for k, expected in ((1, math.log(2)), (2, -math.log(2))):
        trace, _ = model.generate((), init={"k": k}, rng=1)
        assert check(f, trace, q) == pytest.approx(expected)


def test_polar_coordinates():
    @gen
    def model():
        polar = ~bernoulli(0.5)
        if polar:
            r = ~gamma(2, 1)
            angle = ~normal(0, 1)
        else:
            x = ~normal(0, 1)
            y = ~normal(0, 1)

    @transform
    def f(model_in, *, model_out):
        polar = read(model_in["polar"], discrete)
        write(model_out["polar"], not polar, discrete)
        if polar:
            r, angle = read(model_in["r"]), read(model_in["angle"])
            write(model_out["x"], r * math.cos(angle))
            write(model_out["y"], r * math.sin(angle))
        else:
            x, y = read(model_in["x"]), read(model_in["y"])
            write(model_out["r"], math.hypot(x, y))
            write(model_out["angle"], math.atan2(y, x))

    trace, _ = model.generate((), init={"polar": True, "r": 1.7, "angle": 0.4}, rng=1)
    assert check(f, trace) == pytest.approx(math.log(1.7))
    assert check(f, image(f, trace, None, (), None).trace) == pytest.approx(-math.log(1.7))


# --- copies, and what stays --------------------------------------------------------------------------


def test_moves_of_copies_have_no_matrix(monkeypatch):
    @transform
    def rotate(model_in, aux_in, *, model_out, aux_out):
        copy(model_in["x", 0], aux_out["u", 0])
        copy(aux_in["u", 0], model_out["x", 0])
        copy(model_in["x", 1], model_out["x", 2])
        copy(model_in["x", 2], model_out["x", 1])

    trace = scalars.simulate((4,), rng=1)
    assert check(rotate, trace, noise, (1,)) == 0.0

    def refuse(*_):
        raise AssertionError("a matrix was made")

    monkeypatch.setattr(jacobian_module, "_log_abs_det", refuse)
    monkeypatch.setattr(elimination, "_log_abs_det", refuse)
    aux = traces_of(trace, noise, (1,))
    assert image(rotate, trace, noise, (1,), aux).log_abs_det == 0.0


def test_copies_and_writes_together():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        a, b, u = read(model_in["x", 0]), read(model_in["x", 1]), read(aux_in["u", 0])
        copy(model_in["x", 2], aux_out["u", 1])
        copy(aux_in["u", 1], model_out["x", 2])
        write(model_out["x", 0], u * math.exp(a - a) + b * 0)
        write(aux_out["u", 0], a)
        copy(model_in["x", 1], model_out["x", 1])

    trace = scalars.simulate((5,), rng=1)
    assert check(f, trace, noise, (2,)) == pytest.approx(0.0, abs=1e-12)


def test_a_copied_choice_enters_a_write():
    """The row of a copied choice goes with its column, whatever else depends on it."""

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        u = read(aux_in["u", 0])
        copy(aux_in["u", 0], aux_out["u", 0])
        write(model_out["x", 0], math.exp(u) * read(model_in["x", 0]) + math.sin(u) + read(model_in["x", 1]))

    trace = scalars.simulate((2,), rng=1)
    aux = traces_of(trace, noise, (1,))
    assert check(f, trace, noise, (1,), involution=False) == pytest.approx(aux["u", 0])


def test_a_choice_may_be_copied_into_a_vector_by_hand():
    """A write of what was read is as good as a copy."""

    @gen
    def model():
        v = ~iid(normal(0, 1), 3)

    @transform
    def f(model_in, *, model_out):
        v = read(model_in["v"])
        write(model_out["v"], [v[2], v[1], v[0]])

    assert check(f, model.simulate(rng=1)) == pytest.approx(0.0, abs=1e-12)


def test_copy_between_supports_of_different_coordinates():
    """A simplex copied onto a vector determines it no better than a constant does."""

    @gen
    def model():
        w = ~dirichlet([1.0, 1.0, 1.0])
        v = ~iid(normal(0, 1), 3)

    @transform
    def f(model_in, *, model_out):
        copy(model_in["w"], model_out["v"])

    with pytest.raises(SingularJacobianError, match="no output depends on") as caught:
        image(f, model.simulate(rng=1), None, (), None)
    assert caught.value.address == ("v",)


def test_copy_of_a_vector_to_a_product_of_the_same_shape():
    @gen
    def model():
        a = ~iid(normal(0, 1), 2)
        b = ~product(normal(0, 1), normal(0, 2))

    @transform
    def f(model_in, *, model_out):
        copy(model_in["a"], model_out["b"])
        copy(model_in["b"], model_out["a"])

    assert check(f, model.simulate(rng=1)) == pytest.approx(0.0, abs=1e-12)


# --- simplexes ---------------------------------------------------------------------------------------


def split_by_sum(weights, j, u):
    """Split weight j; the last weight is what is left."""
    out = list(weights)
    out[j : j + 1] = [weights[j] * u, weights[j] * (1 - u)]
    return [*out[:-1], 1 - sum(out[:-1])]


def split_by_normalising(weights, j, u):
    """Split weight j; then divide by the sum."""
    out = list(weights)
    out[j : j + 1] = [weights[j] * u, weights[j] * (1 - u)]
    total = sum(out)
    return [w / total for w in out]


def split_as_array(weights, j, u):
    """Split weight j of an array."""
    parts = [weights[:j], np.array([weights[j] * u, weights[j] * (1 - u)]), weights[j + 1 :]]
    return np.concatenate(parts)


@gen
def weights_model():
    k = ~uniform_discrete(2, 6)
    w = ~dirichlet([1.5] * k)


@gen
def weights_aux(trace):
    split = ~bernoulli(0.5)
    if split:
        j = ~uniform_discrete(0, trace["k"] - 1)
        u = ~beta(2, 2)
    else:
        j = ~uniform_discrete(0, trace["k"] - 2)


@pytest.mark.parametrize("rebuild", [split_by_sum, split_by_normalising, split_as_array])
@pytest.mark.parametrize("j", [0, 1, 3])
def test_split_of_a_weight(rebuild, j):
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        k = read(model_in["k"], discrete)
        w = read(model_in["w"])
        split = read(aux_in["split"], discrete)
        write(aux_out["split"], not split, discrete)
        copy(aux_in["j"], aux_out["j"])
        j = read(aux_in["j"], discrete)
        if split:
            write(model_out["k"], k + 1, discrete)
            write(model_out["w"], rebuild(w, j, read(aux_in["u"])))
        else:
            write(model_out["k"], k - 1, discrete)
            write(model_out["w"], [*w[:j], w[j] + w[j + 1], *w[j + 2 :]])
            write(aux_out["u"], w[j] / (w[j] + w[j + 1]))

    trace, _ = weights_model.generate((), init={"k": 4}, rng=2)
    got = check(f, trace, weights_aux, init={"split": True, "j": j})
    assert got == pytest.approx(math.log(trace["w"][j]))


@pytest.mark.parametrize("renormalise", [False, True])
def test_birth_of_a_weight(renormalise):
    @gen
    def q(trace):
        birth = ~bernoulli(0.5)
        if birth:
            u = ~beta(1, 3)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        k = read(model_in["k"], discrete)
        w = list(read(model_in["w"]))
        birth = read(aux_in["birth"], discrete)
        write(aux_out["birth"], not birth, discrete)
        if birth:
            u = read(aux_in["u"])
            write(model_out["k"], k + 1, discrete)
            new = [*(x * (1 - u) for x in w), u]
            write(model_out["w"], [x / sum(new) for x in new] if renormalise else new)
        else:
            write(model_out["k"], k - 1, discrete)
            write(model_out["w"], [x / (1 - w[-1]) for x in w[:-1]])
            write(aux_out["u"], w[-1])

    trace, _ = weights_model.generate((), init={"k": 4}, rng=2)
    aux = traces_of(trace, q, init={"birth": True})
    got = check(f, trace, q, init={"birth": True})
    assert got == pytest.approx(3 * math.log1p(-aux["u"]))


def test_permuted_weights_have_determinant_one():
    @transform
    def f(model_in, *, model_out):
        write(model_out["w"], read(model_in["w"])[::-1])

    trace, _ = weights_model.generate((), init={"k": 5}, rng=2)
    assert check(f, trace) == pytest.approx(0.0, abs=1e-12)


# --- matrices ----------------------------------------------------------------------------------------

MATRIX = np.array([[1.2, 0.3, -0.4], [0.1, 0.9, 0.2], [0.5, -0.3, 1.1]])


@pytest.mark.parametrize("family", [wishart, inv_wishart])
def test_congruence_of_a_covariance(family):
    """S -> A S A' has determinant |A|^(d + 1) on the d (d + 1) / 2 free entries."""

    @gen
    def model():
        s = ~family(6.0, np.eye(3))

    @transform
    def f(model_in, *, model_out):
        write(model_out["s"], MATRIX @ read(model_in["s"]) @ MATRIX.T)

    expected = 4 * math.log(abs(np.linalg.det(MATRIX)))
    assert check(f, model.simulate(rng=1), involution=False) == pytest.approx(expected)


def test_inverse_of_a_covariance():
    """S -> S^-1 has determinant |S|^-(d + 1)."""

    @gen
    def model():
        s = ~wishart(6.0, np.eye(2))

    @transform
    def f(model_in, *, model_out):
        write(model_out["s"], np.linalg.inv(read(model_in["s"])))

    trace = model.simulate(rng=1)
    assert check(f, trace) == pytest.approx(-3 * math.log(np.linalg.det(trace["s"])))


def test_correlations_to_a_vector_and_back():
    @gen
    def model():
        as_matrix = ~bernoulli(0.5)
        if as_matrix:
            r = ~lkj(3, 2.0)
        else:
            v = ~iid(normal(0, 1), 3)

    @transform
    def f(model_in, *, model_out):
        as_matrix = read(model_in["as_matrix"], discrete)
        write(model_out["as_matrix"], not as_matrix, discrete)
        if as_matrix:
            r = read(model_in["r"])
            write(model_out["v"], [2 * r[1, 0], 3 * r[2, 0], r[2, 1]])
        else:
            v = read(model_in["v"])
            a, b, c = v[0] / 2, v[1] / 3, v[2]
            write(model_out["r"], [[1.0, a, b], [a, 1.0, c], [b, c, 1.0]])

    trace, _ = model.generate((), init={"as_matrix": True}, rng=1)
    assert check(f, trace) == pytest.approx(math.log(6))
    assert check(f, image(f, trace, None, (), None).trace) == pytest.approx(-math.log(6))


def test_vector_and_its_scale():
    @gen
    def model():
        v = ~mvnormal(np.zeros(3), np.eye(3))
        s = ~gamma(2, 1)

    @gen
    def q(trace):
        t = ~gamma(2, 1)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        v, s, t = read(model_in["v"]), read(model_in["s"]), read(aux_in["t"])
        write(model_out["v"], v * (t / s))
        write(model_out["s"], t)
        write(aux_out["t"], s)

    trace = model.simulate(rng=1)
    aux = traces_of(trace, q)
    assert check(f, trace, q) == pytest.approx(3 * math.log(aux["t"] / trace["s"]))


# --- extremes ----------------------------------------------------------------------------------------


def test_determinants_of_extreme_size():
    """Products that under- and overflow, of 40 factors, have a finite log."""
    n = 40

    @gen
    def model():
        v = ~iid(normal(0, 1e80), n)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        write(model_out["v"], read(aux_in["v"]) * 1e40)
        write(aux_out["v"], read(model_in["v"]) * 1e30)

    @gen
    def q(trace):
        v = ~iid(normal(0, 1), n)

    trace = model.simulate(rng=1)
    there = image(f, trace, q, (), traces_of(trace, q))
    assert there.log_abs_det == pytest.approx(n * 70 * math.log(10))


def test_a_few_factors_of_extreme_size_keep_their_digits():
    """1e-160 * 1.1e-160 has hardly any digits, and what it is multiplied by does not bring them back."""

    @gen
    def few():
        for i in range(3):
            ("x", i) @ ~normal(0, 1e160)

    @transform
    def f(model_in, *, model_out):
        for i, slope in enumerate((1e-160, 1.1e-160, 1e200)):
            write(model_out["x", i], slope * read(model_in["x", i]))

    found = image(f, few.simulate(rng=1), None, (), None, stop_at_zero=False).log_abs_det
    assert found == pytest.approx(math.log(1.1) - 120 * math.log(10), abs=1e-10)


def test_a_number_that_was_a_constant_zero_is_singular():
    @transform
    def f(model_in, *, model_out):
        write(model_out["x", 0], 0 * read(model_in["x", 0]))

    with pytest.raises(SingularJacobianError, match=r"no output depends on this continuous input"):
        involutive_mcmc(scalars.simulate((1,), rng=1), None, (), f)


@pytest.mark.parametrize("size", range(1, 9))
def test_elimination_agrees_with_lapack(size):
    rng = np.random.default_rng(size)
    for density in (0.3, 0.6, 1.0):
        for _ in range(40):
            matrix = np.where(rng.random((size, size)) < density, rng.normal(size=(size, size)), 0.0)
            columns = [{i: x for i, x in enumerate(column) if x} for column in matrix.T.tolist()]
            expected = abs(np.linalg.det(matrix))
            assert math.exp(eliminate(columns)) == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_elimination_takes_the_largest_pivot():
    """[[1e-20, 1], [1, 1]]: with the small pivot first, the 1 in the corner would be lost."""
    assert eliminate([{0: 1e-20, 1: 1.0}, {0: 1.0, 1: 1.0}]) == 0.0
    assert eliminate([{0: 1.0, 1: 2.0}, {0: 2.0, 1: 4.0}]) == -math.inf
    assert eliminate([{0: 0.0}]) == eliminate([{}]) == -math.inf
