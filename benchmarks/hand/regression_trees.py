"""Moves of the regression trees: a move is scored with the data of the leaves that it changes."""

from __future__ import annotations

from bisect import bisect_left
from math import log
from typing import Any

import numpy as np

from .common import Hand, array, gamma_walk, index, log_normal, pick, prefix, toward, values


def gain(n: int, total: float, mean: float) -> float:
    """Of n data with this sum: the part of minus half their squared deviations that depends on the mean."""
    return mean * (total - 0.5 * n * mean)


# --- recursion; the data are sorted ---------------------------------------------------------------


class Node:
    """A leaf with a value, or a branch with a cut and two nodes; its data are those from `start` to `end`."""

    __slots__ = ("cut", "end", "left", "right", "start", "value")

    def __init__(self, start: int, end: int, value: float) -> None:
        self.start, self.end, self.value = start, end, value
        self.cut, self.left, self.right = 0.0, None, None

    def branch(self, cut: float, middle: int, left: float, right: float) -> None:
        self.cut, self.left, self.right = cut, Node(self.start, middle, left), Node(middle, self.end, right)

    @property
    def is_cherry(self) -> bool:
        return self.left is not None and self.left.left is None and self.right.left is None


class Recursive(Hand):
    def __init__(self, trace: Any) -> None:
        (self.x,) = trace.args
        y = array(trace, "y", len(self.x))
        self.sums, self.squares, self.sd = prefix(y), float(y @ y), trace["sd"]
        self.root = self.node(trace, ("root",), 0, len(y))

    def node(self, trace: Any, path: tuple[str, ...], start: int, end: int) -> Node:
        if not trace[(*path, "branch")]:
            return Node(start, end, trace[(*path, "value")])
        node, cut = Node(start, end, 0.0), trace[(*path, "cut")]
        middle = min(max(bisect_left(self.x, cut), start), end)
        node.cut = cut
        node.left = self.node(trace, (*path, "left"), start, middle)
        node.right = self.node(trace, (*path, "right"), middle, end)
        return node

    def gain(self, start: int, end: int, mean: float) -> float:
        return gain(end - start, self.sums[end] - self.sums[start], mean)


class GrowOrPrune(Recursive):
    """The density of a cut is its proposal; (value, u) -> (value - u, value + u) has determinant 2."""

    looks_at = "few"

    def log_growth(self, depth: int, under_cherry: bool, parts: Any, bounds: Any) -> float:
        """The log ratio when a leaf becomes a branch; on the way back the walk stops there with 1/2.

        If the leaf was one of a cherry, the walk went on from there with 1/2, and surely goes on afterwards.
        """
        value, left, right = parts
        start, middle, end = bounds
        now, below = 0.7 * 0.6**depth, 0.7 * 0.6 ** (depth + 1) if depth < 3 else 0.0
        prior = log(now / (1.0 - now)) + 2.0 * log(1.0 - below)
        prior += log_normal(left, 0.0, 2.0) - (right * right - value * value) / 8.0
        u = 0.5 * (right - left)
        walk = log(2.0 if under_cherry else 1.0) - log(2.0)
        fit = self.gain(start, middle, left) + self.gain(middle, end, right) - self.gain(start, end, value)
        return prior + walk + log(2.0) - log_normal(u, 0.0, 1.0) + fit / self.sd**2

    def propose(self, rng: np.random.Generator) -> float:
        node, low, high, depth, under_cherry = self.root, 0.0, 10.0, 0, False
        self.new = None
        while node.left is not None:
            if rng.random() < (0.5 if node.is_cherry else 0.0):
                rng.random()  # whether to grow, which it can't
                left, right = node.left.value, node.right.value
                value = 0.5 * (left + right)
                self.new = node, value, None, 0, 0.0, 0.0
                bounds = node.start, node.left.end, node.end
                return -self.log_growth(depth, under_cherry, (value, left, right), bounds)
            if rng.random() < 0.5:
                beside, high, node = node.right, node.cut, node.left
            else:
                beside, low, node = node.left, node.cut, node.right
            under_cherry = beside.left is None  # when the node is a leaf
            depth += 1
        rng.random(), rng.random()  # here, and to grow: both certain
        if depth == 4:
            return 0.0
        cut, u = low + (high - low) * rng.random(), rng.standard_normal()
        left, right = node.value - u, node.value + u
        middle = min(max(bisect_left(self.x, cut), node.start), node.end)
        self.new = node, node.value, cut, middle, left, right
        return self.log_growth(depth, under_cherry, (node.value, left, right), (node.start, middle, node.end))

    def keep(self) -> None:
        node, value, cut, middle, left, right = self.new
        if cut is None:
            node.value, node.left, node.right = value, None, None
        else:
            node.branch(cut, middle, left, right)


class WalkLeaves(Recursive):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.leaves, self.sums_of = [], []
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node.left is None:
                self.leaves.append(node.value)
                self.sums_of.append((node.end - node.start, self.sums[node.end] - self.sums[node.start]))
            else:
                waiting += [node.right, node.left]
        self.about = self.squares_about(self.leaves)

    def squares_about(self, leaves: list[float]) -> float:
        return self.squares - 2.0 * sum(
            gain(*sums, value) for sums, value in zip(self.sums_of, leaves, strict=True)
        )

    def propose(self, rng: np.random.Generator) -> float:
        leaves = [value + 0.3 * rng.standard_normal() for value in self.leaves]
        old = self.sd
        sd = toward(rng, old, 20.0)
        about = self.squares_about(leaves)
        self.new = leaves, sd, about
        prior = sum(b * b - a * a for a, b in zip(leaves, self.leaves, strict=True)) / 8.0
        prior += gamma_walk(sd, old, 20.0) + (4.0 - len(self.x)) * log(sd / old) - (sd - old) / 0.1
        return prior - 0.5 * (about / sd**2 - self.about / old**2)

    def keep(self) -> None:
        self.leaves, self.sd, self.about = self.new


# --- a heap ---------------------------------------------------------------------------------------

BRANCHES = 7
PRECISION = 0.7**-2


class Heap(Hand):
    """`means` of the leaves and `cuts` of the branches by their numbers; `rows` are the data of each leaf."""

    def __init__(self, trace: Any) -> None:
        self.x = np.array(trace.args[0])
        self.y = np.array(values(trace, "y", len(self.x)))
        self.means, self.cuts, self.rows = {}, {}, {}
        waiting = [(0, np.arange(len(self.x)))]
        while waiting:
            h, rows = waiting.pop()
            if trace["split", h]:
                self.cuts[h] = column, cut = trace["column", h], trace["cut", h]
                below = self.x[rows, column] < cut
                waiting += [(2 * h + 1, rows[below]), (2 * h + 2, rows[~below])]
            else:
                self.means[h], self.rows[h] = trace["mean", h], rows

    def chances(self, leaves: int, cherries: int) -> tuple[float, float]:
        """The probabilities of each leaf to be split, and of each cherry to be joined."""
        split = 1.0 if not cherries else 0.0 if not leaves else 0.5
        return split / max(leaves, 1), (1.0 - split) / max(cherries, 1)

    def leaves_and_cherries(self) -> tuple[list[int], list[int]]:
        means = self.means
        leaves = sorted(h for h in means if h < BRANCHES)
        return leaves, sorted(h for h in self.cuts if 2 * h + 1 in means and 2 * h + 2 in means)


class SplitOrJoin(Heap):
    """The densities of column and cut are their proposals; the Jacobian is 2."""

    looks_at = "part"

    def log_split(self, h: int, parts: Any, left: Any, right: Any, leaves: int, cherries: int) -> float:
        """The log ratio of a split of leaf h; `left` and `right` are numbers and sums of data."""
        mean, a, b = parts
        has_leaves = 2 * h + 1 < BRANCHES
        parent = (h - 1) // 2
        sibling = h + 1 if h % 2 else h - 1
        was_cherry = h > 0 and parent in self.cuts and sibling in self.means
        leaves_then, cherries_then = leaves - 1 + 2 * has_leaves, cherries + 1 - was_cherry
        prior = 2.0 * log(0.5) * has_leaves + log_normal(a, 0.0, 2.0) - (b * b - mean * mean) / 8.0
        u = 0.5 * (b - a)
        walk = log(self.chances(leaves_then, cherries_then)[1] / self.chances(leaves, cherries)[0])
        fit = gain(*left, a) + gain(*right, b) - gain(left[0] + right[0], left[1] + right[1], mean)
        return float(prior + walk + log(2.0) - log_normal(u, 0.0, 0.7) + PRECISION * fit)

    def sums(self, rows: np.ndarray) -> tuple[int, float]:
        return len(rows), float(self.y[rows].sum())

    def propose(self, rng: np.random.Generator) -> float:
        leaves, cherries = self.leaves_and_cherries()
        if rng.random() < (1.0 if not cherries else 0.0 if not leaves else 0.5):
            h = leaves[index(rng, [1.0 / len(leaves)] * len(leaves))]
            column, cut, u = pick(rng, 2), rng.standard_normal(), 0.7 * rng.standard_normal()
            rows, mean = self.rows[h], self.means[h]
            below = self.x[rows, column] < cut
            left, right = rows[below], rows[~below]
            self.new = h, (column, cut), left, right, mean - u, mean + u
            parts = mean, mean - u, mean + u
            return self.log_split(h, parts, self.sums(left), self.sums(right), len(leaves), len(cherries))
        h = cherries[index(rng, [1.0 / len(cherries)] * len(cherries))]
        first, second = 2 * h + 1, 2 * h + 2
        a, b = self.means[first], self.means[second]
        mean = 0.5 * (a + b)
        left, right = self.rows[first], self.rows[second]
        self.new = h, None, np.concatenate([left, right]), None, mean, 0.0
        has_leaves, sibling = first < BRANCHES, h + 1 if h % 2 else h - 1
        was_cherry = h > 0 and sibling in self.means
        before = len(leaves) + 1 - 2 * has_leaves, len(cherries) - 1 + was_cherry
        return -self.log_split(h, (mean, a, b), self.sums(left), self.sums(right), *before)

    def keep(self) -> None:
        h, cut, left, right, a, b = self.new
        if cut is None:
            for child in (2 * h + 1, 2 * h + 2):
                del self.means[child], self.rows[child]
            del self.cuts[h]
            self.means[h], self.rows[h] = a, left
        else:
            del self.means[h], self.rows[h]
            self.cuts[h] = cut
            for child, mean, rows in ((2 * h + 1, a, left), (2 * h + 2, b, right)):
                self.means[child], self.rows[child] = mean, rows


class WalkHeap(Heap):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        numbers = sorted(self.means)
        self.each = [self.means[h] for h in numbers]
        self.sums = [(len(self.rows[h]), float(self.y[self.rows[h]].sum())) for h in numbers]

    def propose(self, rng: np.random.Generator) -> float:
        self.new, ratio = [], 0.0
        for old, (n, total) in zip(self.each, self.sums, strict=True):
            new = old + 0.3 * rng.standard_normal()
            self.new.append(new)
            ratio += (new - old) * (PRECISION * (total - 0.5 * n * (new + old)) - (new + old) / 8.0)
        return ratio

    def keep(self) -> None:
        self.each = self.new


MOVES = [
    ("recursive", 0, GrowOrPrune),
    ("recursive", "walk_leaves", WalkLeaves),
    ("heap", 0, SplitOrJoin),
    ("heap", "walk_heap", WalkHeap),
]
