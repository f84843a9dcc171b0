"""Involutions put together at random, of models put together at random.

An involution is made of pairs of a choice x of the model and an auxiliary one u, with a and b of what stays:

    x' = b + a u,         u' = (x - b) / a         and ((x - b) / a)² + u² stays
    x' = x exp(a u),      u' = -u                  and log(x) + a u / 2 stays
    (x, u)' = 2 m - (x, u)                         with m the mean of all entries, which stays
"""

import numpy as np

HEADER = """\
import math
import numpy as np
from gendsl import (
    bernoulli, beta, cauchy, continuous, copy, dirichlet, discrete, exponential, gamma, gen, laplace,
    mixture_of_normals, mvnormal, normal, poisson, read, transform, uniform, uniform_discrete, write,
)

SCALE = 1.25

def shifted(x, by=0.5):
    return x + by * SCALE if x < 1 else x - by

"""


class Writer:
    """Writes a model, an auxiliary program and an involution."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.model = ["k = ~uniform_discrete(1, 3)", "c = ~normal(0.3, 1)", "s = ~gamma(3, 2)"]
        self.auxiliary = ['k, c = trace["k"], trace["c"]']
        self.transform = []
        self.stays = ["c"]  # numbers that are there after as before
        self.count = 0

    def one_of(self, *options):
        return options[self.rng.integers(len(options))]

    def chance(self, p):
        return self.rng.random() < p

    def name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def number(self, names):
        """An expression of some of these numbers."""
        a, b = self.one_of(*names), self.one_of(*names)
        return self.one_of(
            a, f"(0.5 * {a} - {b} / 3)", f"math.sin({a})", f"math.tanh({a} * {b})",
            f"({a} if {b} > 0.2 else 0.4)", f"max({a}, {b})", f"abs({a})", f"shifted({a})",
            f"{a} ** 2 / (1 + {b} ** 2)", "0.7",
            f"math.log1p({a} * {a})", f"-{a}", f"math.hypot({a}, {b})", f"math.atan2({a}, 1 + {b} * {b})",
            f"math.asin(math.tanh({a}))", f"math.erf({a})", f"math.asinh({a} + {b})", f"np.arctan({a})",
            f"math.log10(1 + abs({a}))", f"math.cbrt({a} * {a} + 0.1)", f"min({a}, {b}, 0.9)", f"np.sin({a})",
            f"math.cosh(math.sin({a}))", f"math.atanh(0.5 * math.sin({a}))",
        )  # fmt: skip

    def positive(self, names):
        e = self.number(names)
        return self.one_of(
            f"math.exp(0.3 * math.tanh({e}))", f"(0.5 + abs({e}))", f"math.sqrt(1 + ({e}) ** 2)", "1.3",
            f"(1 + math.atan({e}) ** 2)",
        )  # fmt: skip

    def let(self, text):
        """A number of the transform's that stays."""
        name = self.name("t")
        self.transform.append(f"{name} = {text}")
        return name

    def swap(self, x, out, u, u_out):
        """The values there and back for a choice that takes any value."""
        a, b = self.let(self.positive(self.stays)), self.let(self.number(self.stays))
        label = self.one_of("", ", continuous")
        x, u = self.let(f"read({x}{label})"), self.let(f"read({u})")
        self.transform += [f"write({out}, {b} + {a} * {u})", f"write({u_out}, ({x} - {b}) / {a}{label})"]
        return f"((({x} - {b}) / {a}) ** 2 + {u} ** 2)"

    def stretch(self, x, out, u, u_out):
        """The values there and back for a positive choice."""
        a = self.let(self.positive(self.stays))
        x, u = self.let(f"read({x})"), self.let(f"read({u})")
        self.transform += [f"write({out}, {x} * math.exp({a} * {u}))", f"write({u_out}, -{u})"]
        return f"(math.log({x}) + {a} * {u} / 2)"

    def reflect(self, x, u, n):
        """The same for vectors of n numbers."""
        xs, us = self.name("t"), self.name("t")
        self.transform += [f'{xs} = read(model_in["{x}"])', f'{us} = read(aux_in["{u}"])']
        sums = [" + ".join(f"{v}[{i}]" for i in range(n)) for v in (xs, us)]
        total = self.let(f"({sums[0]} + {sums[1]}) / {n}")
        for v, out in ((xs, f'model_out["{x}"]'), (us, f'aux_out["{u}"]')):
            self.transform.append(f"write({out}, [{', '.join(f'{total} - {v}[{i}]' for i in range(n))}])")
        return total

    def addressed(self, x, u):
        return f"model_in[{x}]", f"model_out[{x}]", f"aux_in[{u!r}]", f"aux_out[{u!r}]"

    def draw(self, law):
        """An auxiliary choice."""
        u = self.name("u")
        self.auxiliary.append(f"{u} = ~{law}")
        return u

    def spread(self):
        return f"normal({self.number(['c'])}, {self.positive(['c'])})"

    def pairs(self):
        """The parts of the move, in any order."""
        parts = [self.component, self.positive_one, self.vector, self.branch, self.unit]
        for i in self.rng.permutation(len(parts))[: self.rng.integers(1, 4)]:
            stays = parts[i]()
            if stays is not None and self.chance(0.6):
                self.stays.append(self.let(stays))

    def component(self):
        """One of the means, or one more or less."""
        if self.chance(0.5):
            self.auxiliary.append("j = ~uniform_discrete(0, k - 1)")
            self.transform += ['j = read(aux_in["j"], discrete)', 'copy(aux_in["j"], aux_out["j"])']
            return self.swap(*self.addressed('"mu", j', self.draw(self.spread())))
        self.auxiliary += [
            "up = ~bernoulli(1.0 if k == 1 else 0.0 if k == 3 else 0.5)",
            "if up:",
            f"    new = ~{self.spread()}",
        ]  # fmt: skip
        a, b = self.let(self.positive(self.stays)), self.let(self.number(self.stays))
        self.transform += [
            'k = read(model_in["k"])',
            'if read(aux_in["up"]):',
            '    write(model_out["k"], k + 1)',
            f'    write(model_out["mu", k], {b} + {a} * read(aux_in["new"]))',
            '    write(aux_out["up"], False)',
            "else:",
            '    write(model_out["k"], k - 1)',
            f'    write(aux_out["new"], (read(model_in["mu", k - 1]) - {b}) / {a})',
            '    write(aux_out["up"], True)',
        ]
        return None

    def positive_one(self):
        return self.stretch(*self.addressed('"s"', self.draw(f"normal(0, {self.positive(['c'])})")))

    def vector(self):
        self.model.append("v = ~mvnormal(np.zeros(2), np.array([[1.0, 0.3], [0.3, 2.0]]))")
        u = self.draw("mvnormal([0.1, -0.2], np.eye(2))")
        return self.reflect("v", u, 2)

    def branch(self):
        """A choice that is there on one side only, of which nobody else may know."""
        self.model += ["if c > 0:", f"    e = ~normal({self.number(['c', 's'])}, 1)"]
        u = self.name("u")
        self.auxiliary += ["if c > 0:", f"    {u} = ~{self.spread()}"]
        a = self.let(self.positive(self.stays))
        self.transform += [
            'if read(model_in["c"]) > 0:',
            f'    write(model_out["e"], {a} * read(aux_in["{u}"]))',
            f'    write(aux_out["{u}"], read(model_in["e"]) / {a})',
        ]
        return None

    def unit(self):
        """A number between 0 and 1, or of which any is possible, by its logit."""
        self.model.append(self.one_of("f = ~beta(2, 3)", "f = ~uniform(0, 1)"))
        u = self.draw(self.spread())
        p = self.let('read(model_in["f"])')
        z = self.let(f"math.log({p} / (1 - {p}))")
        w = self.let(f'read(aux_in["{u}"])')
        self.transform += [f'write(model_out["f"], 1 / (1 + math.exp(-{w})))', f'write(aux_out["{u}"], {z})']
        return f"({z} * {w})"

    def observed(self):
        """What the model says of the data."""
        self.model.append(f'mu = [("mu", j) @ ~normal({self.number(["c", "s"])}, 1.5) for j in range(k)]')
        known = ["c", "s", "mu[0]"]
        if any(line.startswith("v =") for line in self.model):
            known += ["v[0]", "v[1]"]
        if any(line.startswith("f =") for line in self.model):
            known.append("f")
        a, b = self.number(known), self.positive(known)
        law = self.one_of(
            f"normal({a}, {b})", f"laplace({a}, {b})", "normal(mu[i % k], s)", f"normal({a} + 0.1 * i, {b})",
            f"mixture_of_normals([1 / k] * k, mu, [{b}] * k)", f"normal(xs[i] * {a}, {b})",
            f"cauchy({a}, {b})",
        )  # fmt: skip
        self.model += ["for i in range(n):", f'    ("y", i) @ ~{law}']
        self.model.append(f"z = ~normal({self.number(known)}, {self.positive(known)})")
        if self.chance(0.3):
            self.model.append(f"count = ~poisson({self.positive(known)})")
            return True
        return False

    def source(self):
        """The module's text, and whether there is a count among the data."""
        self.pairs()
        if self.chance(0.5):
            self.transform.insert(0, 'copy(model_in["k"], model_out["k"])')
            if any("up" in line for line in self.transform):
                self.transform.pop(0)
        counts = self.observed()
        programs = {
            "@gen\ndef model(n, xs):": self.model,
            "@gen\ndef auxiliary(trace):": self.auxiliary,
            "@transform\ndef move(model_in, aux_in, *, model_out, aux_out):": [
                'c = read(model_in["c"])', *self.transform
            ],
        }  # fmt: skip
        parts = ["\n".join([head, *(f"    {line}" for line in body)]) for head, body in programs.items()]
        return HEADER + "\n\n\n".join(parts) + "\n", counts


def start(module, seed, counts):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([3, 40, 150]))
    observations = {"y": rng.normal(0.5, 1.5, n), "z": float(rng.normal())} | ({"count": 2} if counts else {})
    return module.model.generate((n, rng.normal(size=n)), observations, rng=seed).trace
