"""Structure learning for Gaussian processes: the moves are exact on enumerable grammars."""

import numpy as np
import pytest

from gendsl import categorical, check_involutive, gen, mvnormal, select
from gendsl.inference import Run, involutive, mh
from gendsl.inference.kernel import accept
from gendsl.inference.running.chain import Chain
from gendsl.inference.running.columns import Columns
from gendsl.testing import assert_exact, assert_stationary
from tests.statistical import broken


@pytest.fixture(scope="module")
def gp(load_example):
    return load_example("gp_structure")


@pytest.fixture(scope="module")
def tiny(gp):
    """A grammar of ten trees, as a prior and with three observations."""
    leaves = (gp.Linear(1.0, 0.0), gp.SquaredExponential(1.0, 1.0))
    probabilities = ((0.2, 0.3, 0.3, 0.2), (0.4, 0.6, 0.0, 0.0), (0.4, 0.6, 0.0, 0.0))

    @gen
    def grammar(depth):
        kind = ~categorical(probabilities[depth])
        if kind < 2:
            return leaves[kind]
        left = ~grammar(depth + 1)
        right = ~grammar(depth + 1)
        return gp.Plus(left, right) if kind == 2 else gp.Times(left, right)

    @gen
    def prior():
        tree = ~grammar(0)

    @gen
    def process(grid):
        tree = ~grammar(0)
        y = ~mvnormal(np.zeros(3), gp.with_noise(gp.covariance(tree, grid), 0.5))

    return grammar, prior, process


def both_walks(gp):
    return gp.walk_tree, gp.walk_tree_uniformly


# --- the moves -------------------------------------------------------------------------------------


@pytest.mark.parametrize("walk", [0, 1])
def test_replacing_a_subtree_keeps_the_prior_and_a_posterior_exactly(gp, tiny, walk):
    grammar, prior, process = tiny
    kernel = involutive(gp.from_prior, gp.swap_subtrees, (both_walks(gp)[walk], grammar))
    found = assert_exact(kernel, prior)
    assert len(found.traces) == 10 and found.imbalance < 1e-12
    found = assert_exact(kernel, process, (gp.Grid(np.arange(3.0)),), {"y": np.array([0.3, -0.4, 1.2])})
    assert found.imbalance < 1e-12


def test_without_the_probability_of_walking_back_the_move_is_wrong(gp, tiny):
    """The planted mistake: the node is picked first, and its subtree regenerated as if it were fixed."""
    grammar, prior, _ = tiny

    def uncorrected(trace, rng):
        path = gp.walk_tree_uniformly.simulate((trace["tree"], ()), rng=rng).retval
        proposed, log_weight = trace.regenerate(select(("tree", *path)), rng=rng)
        return (proposed if accept(log_weight, rng) else trace), None

    with pytest.raises(AssertionError, match="doesn't leave the posterior invariant"):
        assert_exact(uncorrected, prior)


@pytest.fixture(scope="module")
def small(gp):
    """A grammar of 34 trees with its operators numbered as in the example, and three observations."""
    leaves = (gp.Linear(1.0, 0.0), gp.SquaredExponential(1.0, 1.0))
    probabilities = ((0.2, 0.3, 0, 0, 0.3, 0.2), (0.4, 0.3, 0, 0, 0.1, 0.2), (1.0, 0, 0, 0, 0, 0))

    @gen
    def grammar(depth):
        kind = ~categorical(probabilities[min(depth, 2)])
        if kind < 2:
            return leaves[kind]
        left = ~grammar(depth + 1)
        right = ~grammar(depth + 1)
        return gp.KINDS[kind](left, right)

    @gen
    def process(grid):
        tree = ~grammar(0)
        y = ~mvnormal(np.zeros(3), gp.with_noise(gp.covariance(tree, grid), 0.5))

    return grammar, process, (gp.Grid(np.arange(3.0)),), {"y": np.array([0.3, -0.4, 1.2])}


MOVES = {
    "another operator": lambda gp, walk, grammar: involutive(gp.pick_node, gp.other_operator, (walk,)),
    "other brackets": lambda gp, walk, grammar: involutive(gp.pick_brackets, gp.other_brackets, (walk,)),
    "insert or remove": lambda gp, walk, grammar: involutive(gp.insert_or_remove, gp.graft, (walk, grammar)),
}


LONG = pytest.param("insert or remove", marks=pytest.mark.gendsl_long)  # a sibling comes out in many ways


@pytest.mark.parametrize("walk", [pytest.param(0, marks=pytest.mark.gendsl_long), 1])
@pytest.mark.parametrize("move", ["another operator", "other brackets", LONG])
def test_moves_that_change_operators_keep_a_posterior_exactly(gp, small, move, walk):
    grammar, process, args, observed = small
    found = assert_exact(MOVES[move](gp, both_walks(gp)[walk], grammar), process, args, observed)
    assert len(found.traces) == 34 and found.imbalance < 1e-12


@pytest.mark.parametrize("move", ["other brackets", LONG])
def test_a_wrong_ratio_of_moves_that_change_operators_is_seen(gp, small, move, monkeypatch):
    grammar, process, args, observed = small
    broken.always_accept(monkeypatch)
    with pytest.raises(AssertionError, match="doesn't leave the posterior invariant"):
        assert_exact(MOVES[move](gp, gp.walk_tree_uniformly, grammar), process, args, observed)


def test_brackets_and_operators_change_what_they_say(gp):
    """(LIN + SE) × C becomes LIN + (SE × C), and back; times becomes plus."""
    kinds = {("kind",): 5, ("left", "kind"): 4, ("right", "kind"): 0, ("right", "amplitude"): 2.0}
    kinds |= {("left", "left", "kind"): 1, ("left", "left", "slope"): 0.5, ("left", "left", "origin"): 1.0}
    kinds |= {("left", "right", "kind"): 2, ("left", "right", "amplitude"): 1.5}
    kinds |= {("left", "right", "length"): 3.0}
    init = {("tree", *path): value for path, value in kinds.items()} | {"noise": 0.3}
    args = (gp.Grid(np.arange(3.0)), gp.covariance_function)
    trace = gp.gaussian_process.generate(args, {"y": np.zeros(3)}, init=init).trace
    lin, se, c = gp.Linear(0.5, 1.0), gp.SquaredExponential(1.5, 3.0), gp.Constant(2.0)
    assert trace["tree"] == gp.Times(gp.Plus(lin, se), c)
    seen = set()
    for q, f in ((gp.pick_brackets, gp.other_brackets), (gp.pick_node, gp.other_operator)):
        for seed in range(40):
            after, _ = involutive(q, f, (gp.walk_tree_uniformly,))(trace, seed)
            seen.add(after["tree"])
    assert gp.Plus(lin, gp.Times(se, c)) in seen and gp.Plus(gp.Plus(lin, se), c) in seen
    assert len(seen) <= 4  # with itself and (LIN × SE) × C


def test_every_move_passes_every_check(gp):
    args = (gp.Grid(np.linspace(0, 3, 3)), gp.covariance_function)
    for walk in both_walks(gp):
        for q, f, extra in (
            (gp.from_prior, gp.swap_subtrees, (gp.yearly_covariance_function,)),
            (gp.insert_or_remove, gp.graft, (gp.covariance_function,)),
            (gp.pick_node, gp.other_operator, ()),
            (gp.pick_brackets, gp.other_brackets, ()),
            (gp.from_nearby, gp.swap_subtrees, (0.3,)),
        ):
            report = check_involutive(
                gp.gaussian_process, args, q, f, q_args=(walk, *extra), observed="y", n=25, rng=1
            )
            assert report.ok, str(report)


def test_errors_are_those_between_chains(gp, capsys):
    """Two chains of which each stays where it is."""
    names = "level", "nodes", "log density"
    stuck = [
        [{"structure": tree, **dict.fromkeys(names, x)} for x in (0.0, 1.0) * 8] for tree in ("LIN", "SE")
    ]
    chains = [Chain(Columns(rows), [], None) for rows in stuck]
    run = Run(chains)
    assert gp.shares(run, "structure") == {"LIN": (0.5, 0.5), "SE": (0.5, 0.5)}
    assert run.frequency("structure")["LIN"].standard_error > 0.5
    assert gp.r_hat(run, "level") == pytest.approx(np.sqrt(15 / 16))
    apart = [{**row, "level": row["level"] + 3.0} for row in stuck[1]]
    run = Run([chains[0], Chain(Columns(apart), [], None)])
    assert gp.r_hat(run, "level") == pytest.approx(np.sqrt(15 / 16 + 4.5 / np.var([0, 1] * 8, ddof=1)))
    gp.print_disagreement(run)
    out = capsys.readouterr().out
    assert "2 chains. R-hat of the log density: 0.97" in out and "a chain: log density 0.5; 100% SE" in out


def test_the_uniform_walk_is_uniform_and_the_other_stops_half_of_the_time(gp):
    leaf, other = gp.Linear(1.0, 0.0), gp.Constant(1.0)
    tree = gp.Plus(gp.Times(leaf, other), leaf)
    choices = {"done": False, "recurse_left": True, ("left", "done"): True}
    uniform = gp.walk_tree_uniformly.assess((tree, ()), choices)
    assert uniform.log_prob == pytest.approx(np.log(1 / 5))
    assert uniform.retval == ("left",)
    assert gp.walk_tree.assess((tree, ()), choices).log_prob == pytest.approx(np.log(1 / 8))


@pytest.mark.statistical
def test_all_moves_are_stationary_with_parameters(gp):
    report = assert_stationary(
        gp.cycle(
            gp.structure_moves(gp.walk_tree_uniformly, gp.yearly_covariance_function),
            gp.rearrange(gp.walk_tree),
            gp.perturb(gp.walk_tree, 0.5),
            mh(gp.walk_noise, (0.5,)),
        ),
        gp.gaussian_process,
        (gp.Grid(np.array([0.0, 0.7, 1.9])), gp.covariance_function),
        observed="y",
        statistics={
            "nodes": lambda trace: trace["tree"].size,
            "one node": lambda trace: trace["tree"].size == 1,
            "product": lambda trace: isinstance(trace["tree"], gp.Times),
            "periodic": lambda trace: any(isinstance(x, gp.Periodic) for x in gp.leaves(trace["tree"])),
            "log noise": lambda trace: np.log(trace["noise"]),
            "y²": lambda trace: np.log1p(trace["y"] @ trace["y"]),
        },
        chains=64,
        steps=36,
        draws=3000,
        rng=1,
    )
    assert report.moved > 0.5


@pytest.mark.statistical
@pytest.mark.parametrize("walk", [0, 1])
def test_the_chain_agrees_with_all_2596_trees(gp, walk):
    assert len(gp.all_trees()) == 2596
    chain, exact = gp.run_small(2500, seed=2, walk=both_walks(gp)[walk], progress=False)
    assert sum(exact.values()) == pytest.approx(1.0)
    shares = chain.frequency("structure")
    for name in list(exact)[:6]:
        probability, error = shares[name]
        assert abs(probability - exact[name]) < 4 * error, (name, probability, error, exact[name])


# --- covariance functions --------------------------------------------------------------------------


def test_trees_of_the_prior_are_covariances_whatever_their_parameters(gp):
    grid = gp.Grid(np.arange(60) / 12)
    rng = np.random.default_rng(1)
    for _ in range(150):
        tree = gp.covariance_function.simulate((0,), rng=rng).retval
        matrix = gp.with_noise(gp.covariance(tree, grid), 1e-6)
        np.testing.assert_array_equal(matrix, matrix.T)
        np.linalg.cholesky(matrix)


def test_operators_add_and_multiply(gp):
    grid = gp.Grid(np.array([0.0, 1.0, 2.5]))
    a, b = gp.Linear(0.5, 1.0), gp.Periodic(1.0, 2.0, 0.7)
    for kind, function in ((gp.Plus, np.add), (gp.Times, np.multiply)):
        expected = function(gp.covariance(a, grid), gp.covariance(b, grid))
        np.testing.assert_allclose(gp.covariance(kind(a, b), grid), expected)


def test_a_structure_has_no_order_and_no_constant_factors(gp):
    lin, per, se, c = (
        gp.Linear(1.0, 0.0), gp.Periodic(1.0, 1.0, 1.01), gp.SquaredExponential(1.0, 1.0), gp.Constant(2.0),
    )  # fmt: skip
    one = gp.Plus(gp.Times(gp.Times(c, per), se), lin)
    assert gp.structure(one) == gp.structure(gp.Plus(lin, gp.Times(se, per))) == "LIN + PER × SE"
    assert gp.structure(gp.Times(gp.Plus(lin, per), se)) == "(LIN + PER) × SE"
    assert gp.structure(gp.Times(c, gp.Plus(lin, per))) == "LIN + PER"
    assert gp.structure(gp.Times(c, c)) == "C"
    assert gp.has_yearly_cycle(one) and gp.has_changing_cycle(one)
    assert not gp.has_changing_cycle(gp.Plus(gp.Times(c, per), se))


def test_predictions_are_those_of_the_precision_matrix(gp):
    """The conditional distribution again, from the blocks of the inverse of the joint covariance."""
    ahead, known = gp.Grid(np.array([0.0, 0.5, 1.0, 1.7, 2.0])), gp.Grid(np.array([0.0, 0.5, 1.0]))
    y = np.array([0.3, -0.2, 0.9])
    init = {"noise": 0.3, ("tree", "kind"): 2, ("tree", "amplitude"): 1.2, ("tree", "length"): 0.8}
    args = (known, gp.covariance_function)
    trace = gp.gaussian_process.generate(args, {"y": y}, init=init).trace
    mean, sd = gp.predictive(trace, ahead)
    precision = np.linalg.inv(gp.with_noise(gp.covariance(trace["tree"], ahead), 0.3))
    covariance = np.linalg.inv(precision[3:, 3:])
    np.testing.assert_allclose(mean, -covariance @ precision[3:, :3] @ y, rtol=1e-6)
    np.testing.assert_allclose(sd, np.sqrt(np.diag(covariance)), rtol=1e-6)


def test_the_command_prints_its_result(gp, run_main):
    out, size = run_main(gp, "--draws", "12", "--chains", "1", "--small-draws", "150")
    assert out.count("all passed") == 8
    assert "exact" in out and "standard errors" in out and "held-out months" in out
    assert size > 20_000
