"""Moves of the grids: a cell is scored with the cells that come after it, in lists of lists."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

from .common import Hand, array, gamma_walk, log_beta, pick, toward, values

Grid = list[list[Any]]

# --- two colours ----------------------------------------------------------------------------------


def agreement(x: Grid, i: int, j: int) -> int:
    """1 if a cell has the colour of those before it, -1 if it has the other, 0 where they differ."""
    if i and j:
        above = x[i - 1][j]
        if above != x[i][j - 1]:
            return 0
    elif i:
        above = x[i - 1][j]
    elif j:
        above = x[i][j - 1]
    else:
        return 0
    return 1 if x[i][j] == above else -1


class TwoColours(Hand):
    def __init__(self, trace: Any) -> None:
        (self.side,) = trace.args
        self.x = array(trace, "x", self.side, self.side).astype(bool).tolist()
        self.seen = array(trace, "seen", self.side, self.side).tolist()
        self.agree = trace["agree"]


class Flip(TwoColours):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.score = {0: log(0.5), 1: log(self.agree), -1: log(1.0 - self.agree)}

    def log_prior(self, i: int, j: int) -> float:
        """Of a cell and of those that come after it."""
        x, score = self.x, self.score
        total = score[agreement(x, i, j)]
        if i + 1 < self.side:
            total += score[agreement(x, i + 1, j)]
        if j + 1 < self.side:
            total += score[agreement(x, i, j + 1)]
        return total

    def propose(self, rng: np.random.Generator) -> float:
        i, j = self.new = pick(rng, self.side), pick(rng, self.side)
        row, before = self.x[i], self.log_prior(i, j)
        row[j] = not row[j]
        after = self.log_prior(i, j)
        data = (self.seen[i][j] - 0.5) / 0.36
        ratio = after - before + (data if row[j] else -data)
        row[j] = not row[j]
        return float(ratio)

    def keep(self) -> None:
        i, j = self.new
        self.x[i][j] = not self.x[i][j]


class WalkAgree(TwoColours):
    """How many cells agree with those before them is all of the grid."""

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        all_cells = [agreement(self.x, i, j) for i in range(self.side) for j in range(self.side)]
        self.same, self.other = all_cells.count(1), all_cells.count(-1)

    def propose(self, rng: np.random.Generator) -> float:
        a = self.agree
        self.new = b = rng.beta(20.0 * a, 20.0 * (1.0 - a))
        walk = log_beta(a, 20.0 * b, 20.0 * (1.0 - b)) - log_beta(b, 20.0 * a, 20.0 * (1.0 - a))
        return walk + (3.0 + self.same) * log(b / a) + self.other * log((1.0 - b) / (1.0 - a))

    def keep(self) -> None:
        self.agree = self.new


# --- several colours ------------------------------------------------------------------------------


class Colours(Hand):
    """A cell's colour has probability exp(votes) / norm, whose logarithm depends on how votes are spread."""

    def __init__(self, trace: Any) -> None:
        self.rows, self.columns, self.k = trace.args
        self.colour = array(trace, "colour", self.rows, self.columns).astype(int).tolist()
        self.count = array(trace, "count", self.rows, self.columns).tolist()
        self.rates, self.strength = values(trace, "rate", self.k), trace["strength"]
        self.norms = self.log_norms(self.strength)

    def log_norms(self, strength: float) -> tuple[float, ...]:
        """Where no cell, one, two of one colour, and two of two colours come before."""
        k, e = self.k, exp(strength)
        return log(k), log(e + k - 1), log(e * e + k - 1), log(2.0 * e + k - 2)

    def votes(self, r: int, c: int) -> tuple[int, int]:
        """How many cells before a cell have its colour, and how the votes are spread."""
        grid = self.colour
        colour = grid[r][c]
        if r and c:
            above, left = grid[r - 1][c], grid[r][c - 1]
            return (above == colour) + (left == colour), 2 if above == left else 3
        if r or c:
            return int((grid[r - 1][c] if r else grid[r][c - 1]) == colour), 1
        return 0, 0


class TurnColour(Colours):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.log_rates = list(map(log, self.rates))

    def log_prior(self, r: int, c: int) -> float:
        """Of a cell and of those that come after it."""
        cells = [(r, c)]
        if r + 1 < self.rows:
            cells.append((r + 1, c))
        if c + 1 < self.columns:
            cells.append((r, c + 1))
        total = 0.0
        for cell in cells:
            same, spread = self.votes(*cell)
            total += same * self.strength - self.norms[spread]
        return total

    def propose(self, rng: np.random.Generator) -> float:
        r, c = divmod(pick(rng, self.rows * self.columns), self.columns)
        row = self.colour[r]
        old = row[c]
        new = (old + 1 + pick(rng, self.k - 1)) % self.k
        self.new = r, c, new
        before = self.log_prior(r, c)
        row[c] = new
        after = self.log_prior(r, c)
        row[c] = old
        data = self.count[r][c] * (self.log_rates[new] - self.log_rates[old])
        return float(after - before + data - self.rates[new] + self.rates[old])

    def keep(self) -> None:
        r, c, self.colour[r][c] = self.new


class ExchangeColours(Hand):
    """The same picture under other names: always accepted."""

    looks_at = "part"

    def __init__(self, trace: Any) -> None:
        rows, columns, self.k = trace.args
        self.colour = array(trace, "colour", rows, columns).astype(int)
        self.rates = values(trace, "rate", self.k)

    def propose(self, rng: np.random.Generator) -> float:
        a, b = pick(rng, self.k), pick(rng, self.k)
        self.new = (a, b) if a != b else None
        return 0.0

    def keep(self) -> None:
        a, b = self.new
        names = np.arange(self.k)
        names[a], names[b] = b, a
        self.colour = names[self.colour]
        self.rates[a], self.rates[b] = self.rates[b], self.rates[a]


class WalkColourRates(Colours):
    """The sums of counts, and how often votes are spread in each way, are all of the picture."""

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        cells = [(r, c) for r in range(self.rows) for c in range(self.columns)]
        votes = [self.votes(*cell) for cell in cells]
        self.same = sum(same for same, _ in votes)
        self.spread = [sum(s == i for _, s in votes) for i in range(4)]
        colours = [self.colour[r][c] for r, c in cells]
        counts = [self.count[r][c] for r, c in cells]
        sums = np.bincount(colours, counts, self.k).tolist()
        self.sums = list(zip(np.bincount(colours, minlength=self.k).tolist(), sums, strict=True))

    def propose(self, rng: np.random.Generator) -> float:
        old = self.strength
        strength = toward(rng, old, 20.0)
        norms, rates = self.log_norms(strength), []
        ratio = gamma_walk(strength, old, 20.0) + 3.0 * log(strength / old) - (strength - old) / 0.3
        ratio += self.same * (strength - old)
        for n, new, now in zip(self.spread, norms, self.norms, strict=True):
            ratio -= n * (new - now)
        for before, (n, count) in zip(self.rates, self.sums, strict=True):
            rate = toward(rng, before, 20.0)
            rates.append(rate)
            ratio += gamma_walk(rate, before, 20.0)
            ratio += (1.0 + count) * log(rate / before) - (0.5 + n) * (rate - before)
        self.new = strength, norms, rates
        return ratio

    def keep(self) -> None:
        self.strength, self.norms, self.rates = self.new


# --- heights --------------------------------------------------------------------------------------


class Heights(Hand):
    """`left` are the heights less what is expected of them, `errors` those of the data."""

    def __init__(self, trace: Any) -> None:
        self.n, self.m = trace.args
        self.h = array(trace, "h", self.n, self.m).tolist()
        self.seen = array(trace, "seen", self.n, self.m).tolist()
        self.rough = trace["rough"]
        cells = range(self.n), range(self.m)
        self.left, self.errors = (
            [[f(i, j) for j in cells[1]] for i in cells[0]] for f in (self.surplus, self.error)
        )

    def surplus(self, i: int, j: int) -> float:
        h = self.h
        if i and j:
            above = h[i - 1]
            return float(h[i][j] - (above[j - 1] + above[j] + h[i][j - 1]) / 3.0)
        return float(h[i][j] - (h[i - 1][j] if i else h[i][j - 1] if j else 0.0))

    def error(self, i: int, j: int) -> float:
        h, seen = self.h, self.seen[i][j]
        if 0 < i < self.n - 1:
            return float(seen - (h[i - 1][j] + h[i][j] + h[i + 1][j]) / 3.0)
        return float(seen - h[i][j])


class TiltPatch(Heights):
    looks_at = "few"

    def propose(self, rng: np.random.Generator) -> float:
        n, m, h = self.n, self.m, self.h
        i, j = pick(rng, n - 1), pick(rng, m - 1)
        u, v = 0.15 * rng.standard_normal(), 0.15 * rng.standard_normal()
        patch = ((i, j, u + v), (i, j + 1, u - v), (i + 1, j, u - v), (i + 1, j + 1, u + v))
        old = [h[a][b] for a, b, _ in patch]
        for a, b, up in patch:
            h[a][b] += up
        changes = []
        ratio = 0.0
        for table, value, rows, columns, precision in (
            (self.left, self.surplus, range(i, min(i + 3, n)), range(j, min(j + 3, m)), self.rough**-2),
            (self.errors, self.error, range(max(i - 1, 0), min(i + 3, n)), (j, j + 1), 0.3**-2),
        ):
            squares = 0.0
            for a in rows:
                row = table[a]
                for b in columns:
                    now = value(a, b)
                    squares += now * now - row[b] * row[b]
                    changes.append((row, b, now))
            ratio -= 0.5 * precision * squares
        for (a, b, _), height in zip(patch, old, strict=True):
            h[a][b] = height
        self.new = patch, changes
        return float(ratio)

    def keep(self) -> None:
        patch, changes = self.new
        for a, b, up in patch:
            self.h[a][b] += up
        for row, b, now in changes:
            row[b] = now


class WalkRough(Heights):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.squares = float((np.array(self.left) ** 2).sum())

    def propose(self, rng: np.random.Generator) -> float:
        old = self.rough
        self.new = new = toward(rng, old, 30.0)
        ratio = gamma_walk(new, old, 30.0) + 2.0 * log(new / old) - (new - old) / 0.2
        return ratio - self.n * self.m * log(new / old) - 0.5 * self.squares * (new**-2 - old**-2)

    def keep(self) -> None:
        self.rough = self.new


MOVES = [
    ("two_colours", 0, Flip),
    ("two_colours", "walk_agree", WalkAgree),
    ("colours", 0, TurnColour),
    ("colours", 1, ExchangeColours),
    ("colours", "walk_rates", WalkColourRates),
    ("heights", 0, TiltPatch),
    ("heights", "walk_rough", WalkRough),
]
