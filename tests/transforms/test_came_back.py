"""What is seen at once of the way back: the determinant without its rows being looked up."""

import pytest

from gendsl import (
    bernoulli,
    copy,
    dirichlet,
    gen,
    involutive_mcmc,
    normal,
    poisson,
    read,
    transform,
    write,
)
from gendsl.errors import GenDSLError, SingularJacobianError
from gendsl.transforms import came_back, checks, jacobian
from gendsl.transforms.apply import image
from gendsl.transforms.checks import check_round_trip


@gen
def model():
    k = ~poisson(3)
    for i in range(3):
        ("x", i) @ ~normal(0, 1)
    if k > 2:
        y = ~normal(0, 1)
    w = ~dirichlet([2.0, 2.0, 2.0])


@gen
def q(trace):
    if trace["k"] < 3:
        u = ~normal(0, 1)
    v = ~normal(0, 1)


@transform
def swap(model_in, aux_in, *, model_out, aux_out):
    write(model_out["x", 0], 2.0 * read(aux_in["u"]))
    write(aux_out["u"], 0.5 * read(model_in["x", 0]))
    write(aux_out["v"], -read(aux_in["v"]))


@transform
def walk(model_in, aux_in, *, model_out, aux_out):
    """Reads a choice that stays as it is."""
    step = read(aux_in["u"]) * read(model_in["x", 1])
    write(model_out["x", 0], read(model_in["x", 0]) + step)
    write(aux_out["u"], -read(aux_in["u"]))
    copy(aux_in["v"], aux_out["v"])


@transform
def split(model_in, aux_in, *, model_out, aux_out):
    """x0 turns into u and a new choice."""
    write(model_out["k"], read(model_in["k"]) + 1)
    write(model_out["y"], read(model_in["x", 0]) - 2.0 * read(aux_in["u"]))
    write(model_out["x", 0], read(model_in["x", 0]) + 2.0 * read(aux_in["u"]))
    w = read(model_in["w"])
    write(model_out["w"], [w[2], w[0], w[1]])
    write(aux_out["v"], read(aux_in["v"]))


@transform
def copied(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["u"], model_out["x", 0])
    copy(model_in["x", 0], aux_out["u"])
    copy(aux_in["v"], aux_out["v"])


@transform
def from_another(model_in, aux_in, *, model_out, aux_out):
    """Undoes `swap` where x1 is u; it doesn't look at what has become of u."""
    write(aux_out["u"], read(model_in["x", 1]))
    write(model_out["x", 0], 2.0 * read(aux_in["u"]))
    write(aux_out["v"], -read(aux_in["v"]))


@transform
def copied_from_another(model_in, aux_in, *, model_out, aux_out):
    """Undoes `copied` where x2 is x0; it doesn't look at what has become of it."""
    copy(model_in["x", 2], model_out["x", 0])
    copy(model_in["x", 0], aux_out["u"])
    copy(aux_in["v"], aux_out["v"])


@transform
def twice_as_far(model_in, aux_in, *, model_out, aux_out):
    """Undoes `swap` where u is 0.4."""
    write(aux_out["u"], read(model_in["x", 0]) - 0.4)
    write(model_out["x", 0], 2.0 * read(aux_in["u"]))
    write(aux_out["v"], -read(aux_in["v"]))


@transform
def stretched(model_in, aux_in, *, model_out, aux_out):
    """Nearly undoes `swap`."""
    write(aux_out["u"], 0.5000001 * read(model_in["x", 0]))
    write(model_out["x", 0], read(aux_in["u"]) / 0.5000001)
    write(aux_out["v"], -read(aux_in["v"]))


def merged(weights):
    """Undoes `split`, with the weights written in another way."""

    @transform
    def merge(model_in, aux_in, *, model_out, aux_out):
        write(model_out["k"], read(model_in["k"]) - 1)
        write(model_out["x", 0], 0.5 * (read(model_in["x", 0]) + read(model_in["y"])))
        write(aux_out["u"], 0.25 * (read(model_in["x", 0]) - read(model_in["y"])))
        write(model_out["w"], weights(read(model_in["w"])))
        write(aux_out["v"], read(aux_in["v"]))

    return merge


@transform
def a_list_for_a_number(model_in, aux_in, *, model_out, aux_out):
    """Undoes `swap`, but for the shape of what was drawn."""
    write(aux_out["u"], 0.5 * read(model_in["x", 0]))
    write(model_out["x", 0], 2.0 * read(aux_in["u"]))
    write(aux_out["v"], [-read(aux_in["v"])])


@transform
def copied_and_read(model_in, aux_in, *, model_out, aux_out):
    """Undoes `copied` where u is v; it loses what has become of v."""
    write(aux_out["v"], read(model_in["x", 0]))
    copy(model_in["x", 0], aux_out["u"])
    copy(aux_in["u"], model_out["x", 0])


KNOWN = {"swap": (swap, swap), "split": (split, merged(lambda w: [w[1], w[2], w[0]]))}
OTHERS = {
    "walk": (walk, walk),
    "copied": (copied, copied),
    "a constant weight": (split, merged(lambda w: [w[1], w[2], 0.5])),
}
WRONG = {
    "from another": (swap, from_another),
    "copied from another": (copied, copied_from_another),
    "copied and read": (copied, copied_and_read),
    "twice as far": (swap, twice_as_far),
    "stretched": (swap, stretched),
    "swapped weights": (split, merged(lambda w: [w[2], w[1], w[0]])),
    "too few weights": (split, merged(lambda w: [w[1], w[2]])),
    "a list for a number": (swap, a_list_for_a_number),
}
WAYS = KNOWN | OTHERS | WRONG


def problem_of(f, inverse):
    """What is said of a way there and back; None if nothing is wrong."""
    init = {"k": 2, ("x", 0): 0.3, ("x", 1): 0.4, ("x", 2): 0.3, "w": [0.2, 0.3, 0.5]}
    trace = model.generate((), {}, init=init, rng=1).trace
    aux = q.generate((trace,), {}, init={"u": 0.4, "v": 0.4}, rng=1).trace
    there = image(f, trace, q, (), aux)
    try:
        check_round_trip(f, inverse, trace, aux, (), there)
    except GenDSLError as error:
        return type(error).__name__, error.problem
    return None


@gen
def one_or_none():
    flag = ~bernoulli(0.5)
    if flag:
        x = ~normal(0, 1)


@gen
def one_if_none(trace):
    if not trace["flag"]:
        u = ~normal(0, 1)


@transform
def put_back(model_in, aux_in, *, model_out, aux_out):
    """Takes x away, and gives it one value on the way back, whatever it was."""
    flag = read(model_in["flag"])
    write(model_out["flag"], not flag)
    if flag:
        copy(model_in["x"], aux_out["u"])
    else:
        write(model_out["x"], 1.5)


def test_a_continuous_choice_that_comes_back_as_a_constant_is_seen():
    """It comes back where it happens to be that constant; nothing tells so but its kind."""
    start, _ = one_or_none.generate((), {}, init={"flag": True, "x": 1.5})
    with pytest.raises(SingularJacobianError, match="no output depends on this continuous input"):
        involutive_mcmc(start, one_if_none, (), put_back, check=True, rng=1)


@pytest.mark.parametrize("way", WAYS)
def test_the_same_is_said_whether_the_rows_are_known_or_looked_up(way, monkeypatch):
    found = problem_of(*WAYS[way])
    monkeypatch.setattr(checks, "known_log_abs_det", lambda *_: None)
    monkeypatch.setattr(jacobian, "small_log_abs_det", lambda *_: None)
    assert found == problem_of(*WAYS[way])
    assert (found is not None) == (way in WRONG)


@pytest.mark.parametrize("way", KNOWN)
def test_the_rows_of_a_usual_move_are_known(way, monkeypatch):
    found = []

    def spy(*arguments):
        found.append(came_back.known_log_abs_det(*arguments))
        return found[0]

    monkeypatch.setattr(checks, "known_log_abs_det", spy)
    assert problem_of(*WAYS[way]) is None and found[0] is not None


@pytest.mark.parametrize(
    "was, wrong",
    [
        ("if state.copied or", "if"),
        ("or not state.seeds.keys() <= made.entries.keys()", ""),
        ("if y != x and not", "if y != x and False and not"),
        ("if y.value != x.value and not", "if y.value != x.value and False and not"),
        ("or len(parts) != len(before)", ""),
        ("if type(y) is not Dual:", "if False:"),
        ("type(before) is not list or not", "not"),
    ],
)
def test_planted_mistakes_are_seen(was, wrong, monkeypatch):
    before = problems()
    with open(came_back.__file__) as file:
        source = file.read()
    assert source.count(was) == 1
    planted = {"__name__": "planted"}
    exec(compile(source.replace(was, wrong), came_back.__file__, "exec"), planted)
    for name in ("known_log_abs_det", "seen_to_come_back"):
        monkeypatch.setattr(checks, name, planted[name])
    assert problems() != before


def problems():
    """What is said of every way, even if it is said in no error of gendsl's."""
    found = {}
    for way in WAYS:
        try:
            found[way] = problem_of(*WAYS[way])
        except Exception as error:
            found[way] = type(error).__name__, str(error)
    return found
