"""Sweeps that update N choices one after another, each given all others: labels, hidden states, cells of a
grid, latents and effects of groups.

gendsl's side is `sample` with one sweep a draw, with the checks that are always on, and with what a call
takes besides, which of 20 sweeps over 10,000 is most; the other is the same update by hand, in a loop in
Python over what NumPy computes for one choice, or in one that numba compiles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Line, Row, Scale

from gendsl import bernoulli, categorical, gen, normal, sample
from gendsl.inference import gibbs, slice_sampling

K = 4
MEANS = 3.0 * np.arange(K)
STAY = 0.8
OTHER = (1.0 - STAY) / (K - 1)
EACH = 3
"""How many data a group has on average."""


@gen
def mixture_of_points(n):
    mu = [("mu", j) @ ~normal(3.0 * j, 1) for j in range(K)]
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / K] * K)
        ("y", i) @ ~normal(mu[z], 1)


@gen
def hidden_states(n):
    z = 0
    for t in range(n):
        z = ("z", t) @ ~categorical([STAY if j == z else OTHER for j in range(K)])
        ("y", t) @ ~normal(3.0 * z, 1)


@gen
def random_walk_seen(n):
    x = 0.0
    for t in range(n):
        x = ("z", t) @ ~normal(x, 1)
        ("y", t) @ ~normal(x, 0.5)


@gen
def grid_of_cells(n):
    side = math.isqrt(n)
    x = np.zeros((side, side))
    for i in range(side):
        for j in range(side):
            field = 0.0
            if i > 0:
                field += 2 * x[i - 1, j] - 1
            if j > 0:
                field += 2 * x[i, j - 1] - 1
            x[i, j] = ("z", i, j) @ ~bernoulli(1 / (1 + math.exp(-field)))
            ("y", i, j) @ ~normal(x[i, j], 1)


@gen
def effects_of_groups(n, group):
    effects = [("z", j) @ ~normal(0, 2) for j in range(n)]
    for i in range(len(group)):
        ("y", i) @ ~normal(effects[group[i]], 1)


def args_of(model: Any, n: int) -> tuple[Any, ...]:
    """The arguments of a model of n choices."""
    if model is effects_of_groups:
        return n, np.random.default_rng(n).integers(0, n, EACH * n)
    return (n,)


def start(model: Any, n: int) -> Any:
    """A trace whose data are drawn from the model."""
    args = args_of(model, n)
    seen = model.simulate(args, rng=n).choices["y"]
    return model.generate(args, {"y": seen}, rng=n + 1).trace


def values(trace: Any, name: str) -> np.ndarray:
    """What there is at the addresses (name, 0), (name, 1), ..."""
    return np.array(list(trace.choices[name].values()))


class Sweep:
    """Sweeps of gendsl, which go on from the last."""

    def __init__(self, kernel: Any, trace: Any) -> None:
        self.kernel, self.trace, self.rng = kernel, trace, np.random.default_rng(1)
        self.first = next(address for address in trace.choices if address[0] == "z")

    def __call__(self, draws: int) -> None:
        run = sample(self.kernel, self.trace, draws, record=self.first, seed=self.rng, progress=False)
        self.trace = run.last


class ByHand:
    """The same by hand: `update(i)` gives choice i another value."""

    def __init__(self, trace: Any) -> None:
        self.z, self.y = values(trace, "z"), values(trace, "y")
        self.rng = np.random.default_rng(1)

    def __call__(self, draws: int) -> None:
        for _ in range(draws):
            for i in range(len(self.z)):
                self.update(i)

    def update(self, i: int) -> None:
        raise NotImplementedError

    def drawn(self, logs: np.ndarray) -> int:
        upto = np.cumsum(np.exp(logs - logs.max()))
        return int(upto.searchsorted(self.rng.random() * upto[-1]))


class Labels(ByHand):
    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.mu = values(trace, "mu")

    def update(self, i: int) -> None:
        self.z[i] = self.drawn(-0.5 * (self.y[i] - self.mu) ** 2)


class States(ByHand):
    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.log_p = np.log(np.full((K, K), OTHER) + np.eye(K) * (STAY - OTHER))

    def update(self, i: int) -> None:
        logs = self.log_p[self.z[i - 1] if i else 0] - 0.5 * (self.y[i] - MEANS) ** 2
        if i + 1 < len(self.z):
            logs = logs + self.log_p[:, self.z[i + 1]]
        self.z[i] = self.drawn(logs)


class Cells(ByHand):
    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.side = math.isqrt(len(self.z))
        self.z, self.y = self.z.astype(float).tolist(), self.y.tolist()
        self.log_p = [-math.log1p(math.exp(-field)) for field in range(-4, 5)]  # of one; zero is its mirror

    def field(self, i: int, j: int) -> int:
        """The sum of those before a cell, each -1 or 1."""
        z, side = self.z, self.side
        above = 2 * int(z[(i - 1) * side + j]) - 1 if i > 0 else 0
        return above + (2 * int(z[i * side + j - 1]) - 1 if j > 0 else 0)

    def log_odds(self, i: int, j: int) -> float:
        """What the cells behind one, which are what they are, make of it."""
        found = 0.0
        for below, right in ((i + 1, j), (i, j + 1)):
            if below < self.side and right < self.side:
                here = self.z[below * self.side + right]
                fields = []
                for x in (1, 0):
                    self.z[i * self.side + j] = x
                    fields.append(self.field(below, right))
                sign = 1 if here else -1
                one, zero = sign * fields[0], sign * fields[1]
                found += self.log_p[4 + one] - self.log_p[4 + zero]
        return found

    def update(self, i: int) -> None:
        row, column = divmod(i, self.side)
        odds = self.field(row, column) + self.y[i] - 0.5 + self.log_odds(row, column)
        self.z[i] = float(self.rng.random() < 1.0 / (1.0 + math.exp(-odds)))


class Steps(ByHand):
    """Slice sampling, by stepping out and shrinking."""

    def log_p(self, i: int, x: float) -> float:
        found = -2.0 * (self.y[i] - x) ** 2 - 0.5 * (x - (self.z[i - 1] if i else 0.0)) ** 2
        if i + 1 < len(self.z):
            found -= 0.5 * (self.z[i + 1] - x) ** 2
        return float(found)

    def update(self, i: int) -> None:
        rng, now = self.rng, float(self.z[i])
        level = self.log_p(i, now) + math.log(rng.random())
        low = now - rng.random()
        high = low + 1.0
        while self.log_p(i, low) > level:
            low -= 1.0
        while self.log_p(i, high) > level:
            high += 1.0
        while True:
            x = low + (high - low) * rng.random()
            if self.log_p(i, x) > level:
                break
            low, high = (x, high) if x < now else (low, x)
        self.z[i] = x


class Effects(Steps):
    """The same of effects, each with the data of its group at hand."""

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        group = trace.args[1]
        self.data = [self.y[group == j] for j in range(len(self.z))]

    def log_p(self, i: int, x: float) -> float:
        return float(-0.5 * ((self.data[i] - x) ** 2).sum() - 0.125 * x * x)


def compiled() -> dict[str, Callable[[Any], Any]]:
    """The same in loops that numba compiles, where there is numba."""
    try:
        from numba import njit
    except ImportError:
        return {}

    @njit
    def drawn(logs: Any, rng: Any) -> int:
        top = logs.max()
        total = 0.0
        for j in range(len(logs)):
            logs[j] = math.exp(logs[j] - top)
            total += logs[j]
        left = rng.random() * total
        for j in range(len(logs)):
            left -= logs[j]
            if left < 0.0:
                return j
        return len(logs) - 1

    @njit
    def labels(z: Any, y: Any, mu: Any, rng: Any, draws: int) -> None:
        logs = np.empty(len(mu))
        for _ in range(draws):
            for i in range(len(y)):
                for j in range(len(mu)):
                    logs[j] = -0.5 * (y[i] - mu[j]) ** 2
                z[i] = drawn(logs, rng)

    @njit
    def states(z: Any, y: Any, mu: Any, log_p: Any, rng: Any, draws: int) -> None:
        logs = np.empty(len(mu))
        for _ in range(draws):
            for i in range(len(y)):
                before = z[i - 1] if i else 0
                for j in range(len(mu)):
                    logs[j] = log_p[before, j] - 0.5 * (y[i] - mu[j]) ** 2
                    if i + 1 < len(y):
                        logs[j] += log_p[j, z[i + 1]]
                z[i] = drawn(logs, rng)

    def of_labels(trace: Any) -> Callable[[int], None]:
        hand = Labels(trace)
        return lambda draws: labels(hand.z, hand.y, hand.mu, hand.rng, draws)

    def of_states(trace: Any) -> Callable[[int], None]:
        hand = States(trace)
        return lambda draws: states(hand.z, hand.y, MEANS, hand.log_p, hand.rng, draws)

    return {"labels of a mixture": of_labels, "hidden states": of_states}


WORKS: list[tuple[str, Any, Callable[[], Any], type[ByHand]]] = [
    ("labels of a mixture", mixture_of_points, lambda: gibbs("z"), Labels),
    ("hidden states", hidden_states, lambda: gibbs("z"), States),
    ("a random walk that is seen", random_walk_seen, lambda: slice_sampling("z"), Steps),
    ("cells of a grid", grid_of_cells, lambda: gibbs("z"), Cells),
    ("effects of groups", effects_of_groups, lambda: slice_sampling("z"), Effects),
]


def sweeps(scale: Scale) -> list[Row | Line]:
    """An update of one of N choices, in sweeps."""
    rows: list[Row | Line] = []
    by_numba = compiled() if scale.round_seconds else {}
    for n in scale.sizes(100, 1000, 10_000):
        draws = max(20, 100_000 // n) if scale.round_seconds else 1
        for work, model, kernel, by_hand in WORKS:
            trace = start(model, n)
            chain, other = Sweep(kernel(), trace), by_hand(trace)
            chain(max(1, 3 * draws))  # by then what is worth compiling is compiled
            name = f"{work}, one of N updated"
            rows.append(_row(name, n, chain, draws, "NumPy, one by one", other))
            if work in by_numba:
                compiled_chain = by_numba[work](trace)
                rows.append(_row(name, n, chain, draws, "numba, one by one", compiled_chain))
    return rows


def _row(name: str, n: int, chain: Any, draws: int, baseline: str, by_hand: Any) -> Row:
    """A row whose two sides make so many sweeps a call."""
    return Row(name, n, lambda: chain(draws), baseline, lambda: by_hand(draws), draws * n, cpu=True)


GROUPS = {"sweeps": sweeps}
