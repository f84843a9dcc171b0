"""Transforms put together at random from lines of Python and NumPy: values and log |det J| against the same
lines executed as they are, on plain numbers, and differentiated numerically."""

import functools
import itertools
import linecache
import math
import os

import numpy as np
import pytest
import scipy.special

from gendsl import (
    bernoulli,
    beta,
    continuous,
    copy,
    discrete,
    gamma,
    gen,
    iid,
    mvnormal,
    normal,
    poisson,
    read,
    transform,
    uniform,
    write,
)
from gendsl.errors import LostDerivativeError, MoveNaNError
from gendsl.transforms.apply import image

SEEDS = range(1500 if os.environ.get("GENDSL_LONG", "") not in ("", "0") else 40)
TRAPEZOID = "trapezoid" if hasattr(np, "trapezoid") else "trapz"

HELPERS = """\
CONST = np.array([0.3, -0.2, 0.5])
MATRIX = np.array([[1.0, 0.2, 0.0], [0.1, 1.5, 0.3], [0.0, -0.2, 2.0]])

def smooth(x, y=0.5, *rest, scale=1.0):
    total = math.tanh(x) + y * scale
    for z in rest:
        total += z / 3
    return total

class Pair:
    def __init__(self, one, two):
        self.one, self.two = one, two

    def mean(self):
        return (self.one + self.two) / 2

    def __add__(self, other):
        return Pair(self.one + other, self.two)
"""

# {n} is a new name; {s} and {t} are numbers there are, {l} and {o} arrays of three.
NUMBERS = """\
{n} = {s} + {t}
{n} = {s} * {t} / 2 - +{s}
{n} = math.sin({s}) - np.cos({t})
{n} = {s} ** 2 / (1 + {t} ** 2)
{n} = math.exp(-{s} ** 2) + abs({t})
{n} = max({s}, {t}) - min({s}, {t}, 0.3)
{n} = {s} if {t} > 0.1 else 2 * {t}
{n} = smooth({s}, *[{t}, {s}], scale={t})
{n} = (Pair({s}, {t}) + {s}).mean()
{n} = sum([{s}, {t}, 1.0]) + sum(z * z for z in ({s}, {t}))
{n} = sorted([{s}, {t}, 0.0])[1]
{n} = {s}; {n} += {t}; {n} *= 0.5; {n} -= 1
{n} = (lambda q, z: q - z * {s})({t}, {s})
{n} = float(k) * {s} + b * {t} - divmod(k, 2)[1]
{n} = {{'one': {s}, 'two': {t}}}['two'] * [{s}, {t}][b]
{n} = (m := {s} * {t}) + m
*{n}r, {n} = {s}, {t}, {s} - {t}
{n} = math.hypot({s}, {t} + 3) + math.atan2({s}, {t} ** 2 + 1)
{n} = math.log1p({s} ** 2) + math.expm1({t} / 9)
{n} = math.erf({s}) + math.lgamma({t} ** 2 + 1)
{n} = math.fsum([{s}, {t}]) + math.prod([{s}, {t}, 2]) + math.dist([{s}, 1.0], [{t}, 4.0])
{n} = np.clip({s}, -0.4, 0.4) + np.maximum({s}, {t}) + np.where({s} > 0, {s}, {t})
{n} = ({s} ** 2 + 1) ** ({t} / 7) + 2.0 ** ({s} / 4)
{n} = {s} % 1.3 + {t}
{n} = functools.reduce(lambda q, z: q * 0.5 + z, [{s}, {t}, {s}])
{n} = list(itertools.accumulate([{s}, {t}]))[-1]
{n} = [z for z in ({s}, {t}) if z > -1e99][1] + list(map(lambda z: z * z, [{s}, {t}]))[0]
{n} = {l}[0] * {s} + {l}[-1] - {l}[k % 3]
{n} = {l} @ CONST + np.dot({l}, {o}) + {l}.dot(MATRIX @ {o})
{n} = np.max({l}) + {l}.sum() * {t} - {l}.mean()
{n} = np.prod({l}) + np.var({l}) + sum({l})
{n} = math.log(sum(math.exp(z) for z in {l})) - scipy.special.logsumexp({o})
{n} = sum(z * y for z, y in zip({l}, {o}))
{n} = np.linalg.norm({l} + 3.0) + np.linalg.det(MATRIX + 0.1 * np.outer({l}, {o}))
{n} = np.linalg.slogdet(MATRIX + np.diag({l} ** 2))[1]
{n} = np.median({l}) + np.quantile({l}, 0.3) + np.ptp({o})
{n} = np.interp(0.5, [0.0, 1.0, 2.0], {l}) + np.TRAPEZOID({o})
{n} = np.einsum('i,ij,j', {l}, MATRIX, {o})
{n} = np.average({l}, weights=[1, 2, 3]) + np.polyval([1.0, {s}, 2.0], {t})
for {n} in [{s}]: {n} = {n} / 2 + {t}
""".replace("TRAPEZOID", TRAPEZOID).splitlines()
ARRAYS = """\
{n} = {l} * {s} + {o}
{n} = np.exp({l} / 4) - {o}
{n} = MATRIX @ {l} + {o} @ MATRIX
{n} = np.array([{s}, {t}, 1.0 + {s}])
{n} = np.cumsum({l}) + {o}[::-1]
{n} = {l}.copy(); {n}[1] += {s}; {n}[:2] *= 2
{n} = list({l}); {n}[0] = {s}; {n} = np.array({n})
{n} = np.where({l} > 0, {l}, {o} / 2)
{n} = np.concatenate([{l}[:1], {o}[1:]])
{n} = np.stack([{l}, {o}])[1] + np.outer({l}, {o})[0]
{n} = np.tanh({l}) * CONST
{n} = np.sort({l}) + np.roll({o}, 1)
{n} = np.maximum({l}, {o}) / (1 + {l} ** 2)
{n} = np.array([z * {s} for z in {l}])
{n} = np.linalg.solve(MATRIX, {l})
{n} = {l}.reshape(3, 1)[:, 0] + {l}[[2, 0, 1]]
{n} = ({l} - {l}.mean()) / ({l}.var() + 1)
{n} = np.diff({l}, prepend={s})
{n} = np.append({l}[:2], {s}) + np.insert({l}[1:], 0, {s})
{n} = np.repeat({l}, 2)[:3] + np.clip({l}, -0.5, 0.5)
{n} = np.convolve({l}, [1.0, 0.5])[:3] + np.cross({l}, {o})
{n} = scipy.special.softmax({l})
{n} = np.mean(np.stack([{l}, {o}]), axis=0)
{n} = np.zeros(3); {n} = {n} + {l} / ({o} ** 2 + 1)
""".splitlines()

MODEL = [("a",), ("c",), ("g",), ("p",), ("v",), ("w",), ("x", 0), ("x", 1), ("x", 2)]
AUXILIARY = [("u",), ("r",), ("e",)]


@gen
def model():
    k = ~poisson(3)
    b = ~bernoulli(0.5)
    a = ~normal(0, 1)
    c = ~normal(1, 2)
    g = ~gamma(2, 1)
    p = ~beta(2, 3)
    v = ~mvnormal(np.zeros(3), np.eye(3))
    w = ~iid(normal(0, 1), 4)
    for i in range(3):
        ("x", i) @ ~normal(0, 1)
    return a + v


@gen
def auxiliary(trace):
    u = ~normal(0, 1)
    r = ~uniform(0, 1)
    e = ~mvnormal(np.zeros(2), np.eye(2))


def written(rng, lines=None):
    """The source of a transform: some lines, and what they come to added to every choice."""
    numbers, arrays = ["a", "c", "g", "p", "u", "r", "x0", "x1"], ["v"]

    def one(names, last=100):
        return names[-int(rng.integers(1, min(last, len(names)) + 1))]

    body = []
    for i in range(int(rng.integers(1, 7)) if lines is None else 0):
        kind, names = (NUMBERS, numbers) if rng.random() < 0.55 else (ARRAYS, arrays)
        given = {"s": one(numbers), "t": one(numbers), "l": one(arrays), "o": one(arrays)}
        body.append(one(kind).format(n=f"t{i}", **given))
        names.append(f"t{i}")
    s = [one(numbers, 4) for _ in range(6)]
    whole = f"""\
def f(model_in, aux_in, *, model_out, aux_out):
    k, b = read(model_in["k"], discrete), read(model_in["b"])
    a, c, g = (read(model_in[name], continuous) for name in ("a", "c", "g"))
    p, v = read(model_in["p"]), read(model_in["v"])
    u, r, e = read(aux_in["u"]), read(aux_in["r"]), read(aux_in["e"])
    x0, x1 = [read(model_in["x", i]) for i in range(2)]
    LINES
    copy(model_in["k"], model_out["k"])
    write(model_out["a"], a + math.tanh({s[0]}), continuous)
    write(model_out["c"], c * math.exp(math.tanh({s[1]})))
    write(model_out["g"], g * np.exp(np.tanh({s[2]})))
    write(model_out["p"], 1 / (1 + math.exp(-math.log(p / (1 - p)) - math.tanh({s[3]}))))
    write(model_out["v"], v + np.tanh({one(arrays, 4)}))
    write(aux_out["u"], u + math.sin({s[4]}))
    copy(aux_in["r"], aux_out["r"])
    write(aux_out["e"], e * 2 + np.tanh({one(arrays, 4)})[:2])
    for i in range(2):
        write(model_out["x", i], read(model_in["x", i]) * 1.5 + math.atan({s[5]}))
"""
    return whole.replace("LINES", "\n    ".join(body if lines is None else lines))


def defined(text, name, **names):
    """The function f of a text, with these names and the modules that it uses."""
    names |= {"math": math, "np": np, "functools": functools, "itertools": itertools, "scipy": scipy}
    for part, filename in ((HELPERS, "<helpers>"), (text, name)):
        linecache.cache[filename] = len(part), None, part.splitlines(keepends=True), filename
        exec(compile(part, filename, "exec"), names)
    return names["f"]


class Plain:
    """A trace as a dict, for the transform as it stands."""

    def __init__(self, values):
        self.values = values

    def __getitem__(self, address):
        return self.values, address if isinstance(address, tuple) else (address,)


def plain(text):
    """What the transform does to vectors of all continuous coordinates, given the discrete choices."""

    def put(target, value, label=None):
        target[0][target[1]] = value

    def get(source, label=None):
        return np.copy(source[0][source[1]]) if np.ndim(source[0][source[1]]) else source[0][source[1]]

    f = defined(text, "<plain>", read=get, write=put, copy=lambda source, target: put(target, get(source)),
                continuous=None, discrete=None)  # fmt: skip

    def apply(values, auxiliary_values):
        model_out, aux_out = dict(values), {}
        f(Plain(values), Plain(auxiliary_values), model_out=Plain(model_out), aux_out=Plain(aux_out))
        return model_out, aux_out

    return apply


def flat(values, auxiliary_values):
    parts = [values[path] for path in MODEL] + [auxiliary_values[path] for path in AUXILIARY]
    return np.concatenate([np.ravel(part) for part in parts])


def numeric(apply, values, auxiliary_values):
    """log |det J| by central differences at two steps; None where they don't agree, as beside a kink."""
    point = flat(values, auxiliary_values)

    def at(x):
        filled, start = [], 0
        for before, paths in ((values, MODEL), (auxiliary_values, AUXILIARY)):
            after = dict(before)
            for path in paths:
                size = np.size(before[path])
                part = x[start : start + size]
                after[path] = part.copy() if np.ndim(before[path]) else float(part[0])
                start += size
            filled.append(after)
        return flat(*apply(*filled))

    found = []
    for step in (1e-5, 3e-6):
        steps = step * np.eye(len(point))
        found.append(np.linalg.slogdet([(at(point + h) - at(point - h)) / (2 * step) for h in steps])[1])
    return found[0] if abs(found[0] - found[1]) < 1e-5 else None


@pytest.mark.parametrize("part", range(4))
def test_any_program(part):
    compared = 0
    for seed in SEEDS[part::4]:
        rng = np.random.default_rng(seed)
        text = written(rng)
        trace = model.simulate((), rng=seed)
        aux_trace = auxiliary.simulate((trace,), rng=seed)
        values, auxiliary_values = dict(trace.choices.items()), dict(aux_trace.choices.items())
        apply = plain(text)
        expected, _ = apply(values, auxiliary_values)
        f = transform(defined(text, f"<transform {seed}>", read=read, write=write, copy=copy,
                              continuous=continuous, discrete=discrete))  # fmt: skip
        try:
            made = image(f, trace, auxiliary, (), aux_trace)
            for path in MODEL:
                np.testing.assert_allclose(made.trace.choices[path], expected[path], rtol=1e-9, atol=1e-12)
            log_det = numeric(apply, values, auxiliary_values)
            if log_det is not None:
                compared += 1
                assert made.log_abs_det == pytest.approx(log_det, rel=1e-4, abs=1e-4)
        except Exception as error:
            error.add_note(text)
            raise
    assert compared > 0.8 * len(SEEDS[part::4])


def undefined(lines):
    f = transform(defined(written(np.random.default_rng(0), lines), "<undefined>", read=read, write=write,
                          copy=copy, continuous=continuous, discrete=discrete))  # fmt: skip
    trace = model.simulate((), rng=1)
    return image(f, trace, auxiliary, (), auxiliary.simulate((trace,), rng=2))


def test_a_slope_that_is_none_is_not_taken_for_a_return_value():
    with pytest.raises(MoveNaNError, match="a derivative of the value written here is NaN"):
        undefined(["v = v / (np.cross(v, v).std() + 1)"])
    with pytest.raises(LostDerivativeError, match="depends on a float in a return value"):
        undefined(["v = v + model_in.retval"])
    with pytest.raises(LostDerivativeError, match="depends on a float in a return value"):
        undefined(["v = v + np.sqrt(np.array([0.0, 1.0, 1.0]) * v ** 2) + model_in.retval"])
