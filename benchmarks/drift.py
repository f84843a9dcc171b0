"""A million updates of one trace: what they cost, and how far its log probability is from a fresh sum."""

from __future__ import annotations

import time

import numpy as np
from harness import Line, Scale
from local_moves import NOISE, plate

CHOICES = 1000
UPDATES = 1_000_000
MOST_DRIFT = 1e-9
MOST_SECONDS = 60.0


def update_by_hand(x: list[float], y: list[float], sites: list[int], values: list[float]) -> float:
    """The same updates of a list, the log density followed by plain addition."""
    change = 0.0
    for t, new in zip(sites, values, strict=True):
        old = x[t]
        change += 0.5 * (old * old - new * new) + ((y[t] - old) ** 2 - (y[t] - new) ** 2) / (2.0 * NOISE**2)
        x[t] = new
    return change


def many_updates(scale: Scale) -> list[Line]:
    """As many as fit in a minute, a million at most."""
    rng = np.random.default_rng(1)
    n = scale.sizes(CHOICES)[0]
    x = rng.standard_normal(n)
    y = x + NOISE * rng.standard_normal(n)
    trace = plate.generate((n,), {"y": y}, init={"x": x}).trace

    def run(sites, values):
        nonlocal trace
        begin = time.perf_counter()
        for t, new in zip(sites, values, strict=True):
            trace = trace.update({("x", t): new}).trace
        return time.perf_counter() - begin

    def edits(m):
        return rng.integers(n, size=m).tolist(), rng.standard_normal(m).tolist()

    pilot = 100
    each = run(*edits(pilot)) / pilot
    allowed = min(MOST_SECONDS, scale.group_seconds * 3)
    updates = int(min(UPDATES, scale.largest, allowed / each))
    sites, values = edits(updates)
    ours = run(sites, values)
    begin = time.perf_counter()
    update_by_hand(x.tolist(), y.tolist(), sites, values)
    by_hand = time.perf_counter() - begin

    choices = trace.choices
    fresh = plate.assess((n,), choices).log_prob
    drift = abs(trace.log_prob - fresh) / abs(fresh)
    return [
        Line(
            f"update, the mean of N on a plate of {n}", updates, 1e6 * ours / updates,
            1e6 * by_hand / updates, "plain addition",
        ),
        Line(
            "relative error of log_prob after N updates", updates, value=f"{drift:.2g}",
            baseline="a fresh assess", limit=f"<= {MOST_DRIFT:g}", ok=drift <= MOST_DRIFT,
        ),
    ]  # fmt: skip


GROUPS = {"drift": many_updates}
