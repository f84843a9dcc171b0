"""The listings of the paper, verbatim but for Python's syntax, do what the paper says of them.

Its figures are pictures and not here; `examples/` has what they show.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gendsl import (
    bernoulli,
    beta,
    check_involutive,
    continuous,
    copy,
    discrete,
    gen,
    inv_gamma,
    involutive_mcmc,
    mixture_of_normals,
    normal,
    poisson,
    read,
    transform,
    uniform_discrete,
    write,
)
from gendsl.errors import DimensionError
from tests.laws.modules import imported


def poisson_plus_one(rate):
    """The paper's distribution of that name."""
    return 1 + poisson(rate)


def ones(k):
    """Julia's."""
    return np.ones(k)


# --- section 2: a Gaussian mixture with an unknown number of components -----------------------------

HEAD = """
from gendsl import dirichlet, gen, inv_gamma, mixture_of_normals, normal, poisson

def poisson_plus_one(rate):
    return 1 + poisson(rate)
"""

MIXTURE = """
@gen
def p(n):
    k = ~poisson_plus_one(1)
    means = [
        (("mu", j) @ ~normal(0, 10)) for j in range(1, k + 1)]
    vars = [
        (("var", j) @ ~inv_gamma(1, 10)) for j in range(1, k + 1)]
    weights = ~dirichlet([2.0 for j in range(1, k + 1)])
    for i in range(1, n + 1):
        ("x", i) @ ~mixture_of_normals(
            weights, means, vars)
"""


@pytest.fixture(scope="module")
def mixture():
    with imported(HEAD + MIXTURE) as module:
        yield module.p


@pytest.fixture(scope="module")
def renamed():
    """The program with another name in place of `vars`, which is a builtin's."""
    with imported(HEAD + MIXTURE.replace("vars", "vals")) as module:
        yield module.p


def test_the_mixture_has_the_density_that_the_paper_gives_it(mixture):
    for seed in range(5):
        trace = mixture.simulate((3,), rng=seed)
        k = trace["k"]
        means = [trace["mu", j] for j in range(1, k + 1)]
        variances = [trace["var", j] for j in range(1, k + 1)]
        weights = trace["weights"]
        expected = stats.poisson.logpmf(k - 1, 1) + sum(map(stats.norm(0, 10).logpdf, means))
        expected += sum(map(stats.invgamma(1, scale=10).logpdf, variances))
        expected += stats.dirichlet.logpdf(weights, [2.0] * k) if k > 1 else 0.0
        for i in (1, 2, 3):
            densities = stats.norm.pdf(trace["x", i], means, np.sqrt(variances))
            expected += math.log(np.dot(weights, densities))
        assert trace.log_prob == pytest.approx(expected, rel=1e-10)


def test_a_variable_called_vars_changes_nothing_but_its_name(mixture, renamed):
    def pieces(program):
        return sorted(program.source.replace("vals", "vars").splitlines())

    assert pieces(mixture) == pieces(renamed)
    assert "opaque" not in mixture.explain()
    other = renamed.explain().replace("vals", "vars").splitlines()
    assert mixture.explain().splitlines()[1:] == other[1:]


def test_one_change_of_a_large_mixture_costs_what_it_costs_under_another_name(mixture, renamed):
    observed = {"x": {i: math.sin(i) for i in range(1, 2001)}}
    init = {"k": 2, "mu": {1: -1.0, 2: 1.0}, "var": {1: 1.0, 2: 2.0}, "weights": [0.5, 0.5]}

    def edits_of(program):
        trace = program.generate((2000,), observed, init=init, rng=1).trace
        for step in range(20):  # the first are compared with a second execution
            trace.update({("mu", 1): 0.01 * step})
        return lambda: [trace.update({("x", 7): 0.1 * step}) for step in range(20)]

    usual, named_vars = calls_of(edits_of(renamed)), calls_of(edits_of(mixture))
    assert named_vars < 2 * usual


def calls_of(function: Callable[[], Any]) -> int:
    """How many functions of Python's are called while a function runs."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


# --- section 4: split and merge -----------------------------------------------------------------------


@gen
def p():
    k = ~uniform_discrete(1, 2)
    means = [("mu", j) @ ~normal(0, 10) for j in range(1, k + 1)]
    weights = ones(k) / k
    vars = ones(k)
    for i in range(1, 101):
        ("x", i) @ ~mixture_of_normals(weights, means, vars)


@gen
def q(model_trace):
    if model_trace["k"] == 1:
        # we are doing a split, sample extra DoF
        u = ~beta(2, 2)


@transform
def f(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    if k == 1:
        write(model_out["k"], 2, discrete)

        # split bijection
        mu = read(model_in["mu", 1], continuous)
        u = read(aux_in["u"], continuous)
        mu1 = mu - u; mu2 = mu + u  # noqa: E702
        write(model_out["mu", 1], mu1, continuous)
        write(model_out["mu", 2], mu2, continuous)
    else:
        write(model_out["k"], 1, discrete)

        # merge bijection
        mu1 = read(model_in["mu", 1], continuous)
        mu2 = read(model_in["mu", 2], continuous)
        mu = (mu2 + mu1) / 2
        u = mu2 - mu
        write(model_out["mu", 1], mu, continuous)
        write(aux_out["u"], u, continuous)


@transform
def copy_u_to_v(model_in, *, model_out):
    copy(model_in["u"], model_out["v"])
    copy(model_in["v"], model_out["u"])
    val = read(model_in["a"], continuous)
    write(model_out["a"], val, continuous)


def log_likelihood(xs, means):
    densities = stats.norm.pdf(np.asarray(xs)[:, None], means, 1.0).mean(axis=1)
    return float(np.log(densities).sum())


def test_the_split_has_the_ratio_that_the_paper_gives_it():
    xs = np.random.default_rng(3).normal(0.3, 1.2, 100)
    observed = {"x": dict(enumerate(xs.tolist(), 1))}
    trace = p.generate((), observed, init={"k": 1, "mu": {1: 0.25}}, rng=1).trace
    for seed in range(20):
        u = q.simulate((trace,), rng=seed)["u"]  # the generator's first draw, in the step too
        _, info = involutive_mcmc(trace, q, (), f, check=True, rng=seed)
        expected = log_likelihood(xs, [0.25 - u, 0.25 + u]) - log_likelihood(xs, [0.25])
        expected += stats.norm.logpdf([0.25 - u, 0.25 + u], 0, 10).sum() - stats.norm.logpdf(0.25, 0, 10)
        expected += math.log(2.0) - stats.beta.logpdf(u, 2, 2)
        assert info.log_accept_ratio == pytest.approx(expected, rel=1e-9)
        assert info.log_abs_det == pytest.approx(math.log(2.0))


def test_the_merge_is_the_way_back_of_the_split():
    means = {1: 0.1, 2: 0.7}
    trace = p.generate((), {"x": dict.fromkeys(range(1, 101), 0.4)}, init={"k": 2, "mu": means}, rng=1).trace
    after, info = involutive_mcmc(trace, q, (), f, check=True, rng=2)
    expected = log_likelihood([0.4] * 100, [0.4]) - log_likelihood([0.4] * 100, [0.1, 0.7])
    expected += stats.norm.logpdf(0.4, 0, 10) - stats.norm.logpdf([0.1, 0.7], 0, 10).sum()
    expected += stats.beta.logpdf(0.3, 2, 2) - math.log(2.0)
    assert info.log_accept_ratio == pytest.approx(expected, rel=1e-9)
    if info.accepted:
        assert after["mu", 1] == pytest.approx(0.4)
    assert check_involutive(p, (), q, f, n=50, rng=3)


def test_copy_moves_a_value_from_one_address_to_another():
    @gen
    def two():
        u = ~normal(0, 1)
        v = ~normal(0, 1)
        a = ~normal(0, 1)

    trace = two.generate((), init={"u": 1.0, "v": 2.0, "a": 3.0}, rng=1).trace
    after, info = involutive_mcmc(trace, None, (), copy_u_to_v, check=True, rng=1)
    assert info.log_accept_ratio == pytest.approx(0.0)
    assert (after["u"], after["v"], after["a"]) == (2.0, 1.0, 3.0)


# --- section 5: a birth/death move that is wrong -----------------------------------------------------


@gen
def births(trace):
    current_k = trace["k"]
    is_birth = ~bernoulli(1.0 if current_k == 1 else 0.5)
    if is_birth:
        new_mu = ~normal(0, 10)
        new_var = ~inv_gamma(1, 10)
    else:
        deletion_idx = ~uniform_discrete(1, current_k)


def add_weight(weights):
    """With the mean of the weights as the new one."""
    return [*(w * len(weights) / (len(weights) + 1) for w in weights), 1 / (len(weights) + 1)]


def delete_weight(weights, idx):
    rest = [*weights[: idx - 1], *weights[idx:]]
    return [w / sum(rest) for w in rest]


@transform
def h(tr1, tr2, *, tr3, tr4):
    is_birth = read(tr2["is_birth"], discrete)
    write(tr4["is_birth"], not is_birth, discrete)
    k = read(tr1["k"], discrete)
    weights = read(tr1["weights"], continuous)
    if is_birth:
        write(tr3["k"], k + 1, discrete)
        new_mu = read(tr2["new_mu"], continuous)
        new_var = read(tr2["new_var"], continuous)
        write(tr3["mu", k + 1], new_mu, continuous)
        write(tr3["var", k + 1], new_var, continuous)
        new_weights = add_weight(weights)
        write(tr4["deletion_idx"], k + 1, discrete)
    else:
        idx = read(tr2["deletion_idx"], discrete)
        copy(tr1["mu", idx], tr4["new_mu"])
        copy(tr1["var", idx], tr4["new_var"])
        for i in range(idx + 1, k + 1):
            copy(tr1["mu", i], tr3["mu", i - 1])
            copy(tr1["var", i], tr3["var", i - 1])
        write(tr3["k"], k - 1, discrete)
        new_weights = delete_weight(weights, idx)
    write(tr3["weights"], new_weights, continuous)


def test_a_birth_needs_a_degree_of_freedom_for_the_weight(mixture):
    """The listing draws none: its dimension check finds that before the involution check can."""
    trace = mixture.generate((0,), init={"k": 1}, rng=1).trace
    with pytest.raises(DimensionError):
        involutive_mcmc(trace, births, (), h, check=True, rng=1)


# --- section 6: walks of a tree of covariance functions -----------------------------------------------


@dataclass(frozen=True)
class Leaf:
    scale: float


@dataclass(frozen=True)
class Node:
    left: Any
    right: Any


def size(node):
    """How many nodes a tree has."""
    return 1 + size(node.left) + size(node.right) if isinstance(node, Node) else 1


@gen
def cov_function_prior():
    is_leaf = ~bernoulli(0.6)
    if is_leaf:
        scale = ~normal(0, 1)
        return Leaf(scale)
    left = "left_node" @ ~cov_function_prior()
    right = "right_node" @ ~cov_function_prior()
    return Node(left, right)


@gen
def walk_tree(node, path):
    if isinstance(node, Leaf):
        "done" @ ~bernoulli(1.0)
        return path
    if "done" @ ~bernoulli(0.5):
        return path
    elif "recurse_left" @ ~bernoulli(0.5):
        path = (*path, "left_node")
        return "left" @ ~walk_tree(node.left, path)
    else:
        path = (*path, "right_node")
        return "right" @ ~walk_tree(node.right, path)


@gen
def walk_tree_uniformly(node, path):
    if isinstance(node, Leaf):
        "done" @ ~bernoulli(1.0)
        return path
    n1 = size(node.left); n2 = size(node.right)  # noqa: E702
    if "done" @ ~bernoulli(1 / (1 + n1 + n2)):
        return path
    elif "recurse_left" @ ~bernoulli(n1 / (n1 + n2)):
        path = (*path, "left_node")
        return "left" @ ~walk_tree_uniformly(node.left, path)
    else:
        path = (*path, "right_node")
        return "right" @ ~walk_tree_uniformly(node.right, path)


@gen
def process():
    cov_function = ~cov_function_prior()
    y = ~normal(size(cov_function), 1)


@gen
def swap_proposal(trace, walk):
    prev_cov_function = trace["cov_function"]
    path = ~walk(prev_cov_function, ())
    new_subtree = ~cov_function_prior()
    return path


@transform
def swap(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["path"], aux_out["path"])
    subtree_address = ("cov_function", *aux_in.retval)
    copy(model_in[subtree_address], aux_out["new_subtree"])
    copy(aux_in["new_subtree"], model_out[subtree_address])


def nodes_of(node, path=()):
    """The probabilities that the first walk stops at each node of a tree, by its path."""
    if isinstance(node, Leaf):
        return {path: 1.0}
    found = {path: 0.5}
    for name in ("left", "right"):
        for inner, probability in nodes_of(getattr(node, name), (*path, f"{name}_node")).items():
            found[inner] = 0.25 * probability
    return found


TREE = Node(Node(Leaf(0.1), Node(Leaf(0.2), Leaf(0.3))), Leaf(0.4))


def probability_of(walk, path):
    """The probability that a walk of the tree stops at a path."""
    choices: dict[Any, Any] = {}
    prefix: tuple[str, ...] = ()
    node = TREE
    for part in path:
        choices[(*prefix, "done")] = False
        choices[(*prefix, "recurse_left")] = part == "left_node"
        prefix, node = (*prefix, part.removesuffix("_node")), getattr(node, part.removesuffix("_node"))
    choices[(*prefix, "done")] = True
    assessed = walk.assess((TREE, ()), choices)
    assert assessed.retval == path
    return math.exp(assessed.log_prob)


def test_walks_stop_at_each_node_with_the_probability_of_the_paper():
    expected = nodes_of(TREE)
    for path, probability in expected.items():
        assert probability_of(walk_tree, path) == pytest.approx(probability)
        assert probability_of(walk_tree_uniformly, path) == pytest.approx(1 / size(TREE))


def test_addresses_of_a_recursion_are_nested():
    trace = walk_tree.generate(
        (TREE, ()), {("left", "right", "done"): True}, init={"done": False, "recurse_left": True,
        ("left", "done"): False, ("left", "recurse_left"): False}, rng=1,
    ).trace  # fmt: skip
    assert trace["left", "right", "done"] == 1
    assert trace.retval == ("left_node", "right_node")


def node_at(node, path):
    for part in path:
        node = getattr(node, part.removesuffix("_node"))
    return node


@pytest.mark.parametrize("walk", [walk_tree, walk_tree_uniformly])
def test_swapping_subtrees_has_the_ratio_of_the_walks(walk):
    trace = process.generate((), {"y": 3.0}, rng=4).trace
    ratios = set()
    for seed in range(200):
        before = trace["cov_function"]
        path = swap_proposal.simulate((trace, walk), rng=seed).retval  # as the step draws it
        trace, info = involutive_mcmc(trace, swap_proposal, (walk,), swap, check=True, rng=seed)
        if not info.accepted:
            continue
        after = trace["cov_function"]
        if walk is walk_tree_uniformly:
            walks = size(before) / size(after)
        else:
            inner = [isinstance(node_at(tree, path), Node) for tree in (before, after)]
            walks = (0.5 if inner[1] else 1.0) / (0.5 if inner[0] else 1.0)
        likelihood = stats.norm.logpdf(3.0, size(after), 1) - stats.norm.logpdf(3.0, size(before), 1)
        assert info.log_accept_ratio == pytest.approx(likelihood + math.log(walks), abs=1e-9)
        ratios.add(walks)
    assert ratios == {0.5, 1.0, 2.0} if walk is walk_tree else len(ratios) > 3
