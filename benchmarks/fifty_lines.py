"""A body of 50 lines with a bit of everything, for the time it takes to compile."""

from __future__ import annotations

import math

from gendsl import bernoulli, beta, categorical, gamma, inv_gamma, normal, poisson, uniform_discrete


def fifty_lines(groups, steps):
    k = ~(1 + poisson(2))
    centre = ~normal(0, 10)
    spread = ~gamma(2, 1)
    means = [("mu", j) @ ~normal(centre, spread) for j in range(k)]
    variances = [("var", j) @ ~inv_gamma(3, 2) for j in range(k)]
    level = math.log(1.0 + spread)
    robust = ~bernoulli(0.2)
    if robust:
        inflation = ~gamma(2, 2)
        share = ~beta(1, 9)
        scale = 1.0 + inflation
    else:
        share = 0.0
        scale = 1.0
    effects = []
    for g in range(groups):
        effect = ("effect", g) @ ~normal(0, level)
        effects.append(effect)
    labels = []
    for g in range(groups):
        label = ("label", g) @ ~uniform_discrete(0, k - 1)
        labels.append(label)
        mean = means[label] + effects[g]
        deviation = math.sqrt(variances[label])
        for t in range(2):
            ("y", g, t) @ ~normal(mean, deviation * scale)
    state = centre
    path = [state]
    for t in range(steps):
        drift = ("drift", t) @ ~normal(0, 0.1)
        state = ("state", t) @ ~normal(0.9 * state + drift, 1)
        path.append(state)
        outlier = ("outlier", t) @ ~bernoulli(share)
        if outlier:
            ("seen", t) @ ~normal(state, 10 * level)
        else:
            ("seen", t) @ ~normal(state, level)
    total = sum(effects)
    summary = total / groups
    weights = [math.exp(-abs(m - summary)) for m in means]
    norm = sum(weights)
    weights = [w / norm for w in weights]
    chosen = ~categorical(weights)
    difference = means[chosen] - summary
    if difference > 0:
        tail = ~normal(difference, 1)
    else:
        tail = ~normal(-difference, 2)
    final = ~normal(tail + path[-1], math.sqrt(variances[chosen]))
    return final, effects, labels
