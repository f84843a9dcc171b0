"""What `model.explain()` says of a body."""

import linecache
import re

import numpy as np
import pytest

import gendsl.runtime.watched
from gendsl import bernoulli, categorical, gen, normal, poisson
from gendsl.runtime.lowering.explain import annotated, explain, explain_reference
from gendsl.runtime.lowering.lines import WIDTH
from tests.laws.modules import imported


def notes(model, **options):
    """For each line of code what is said of it."""
    origin = model.compiled.origin
    listing, _ = annotated(model.compiled.program, origin, **options)
    assert all(len(line) <= WIDTH and line == line.rstrip() for line in str(listing).split("\n"))
    return {
        linecache.getline(__file__, line).strip(): "; ".join(texts) for line, texts in listing.notes.items()
    }


def summary(model):
    """What holds for the whole body, with lines counted from its `def`."""
    origin = model.compiled.origin
    _, text = annotated(model.compiled.program, origin)
    return re.sub(r"\d+", lambda found: str(int(found[0]) - origin.node.lineno), text)


@gen
def leaf(x):
    y = ~normal(x, 1)
    return y


# --- whole texts -------------------------------------------------------------------------------------


def whole(text):
    """What is said of the program `model` in a text that begins on line 3."""
    with imported(f"from gendsl import *\n\n{text}") as module:
        head, _, rest = module.model.explain().partition("\n")
        assert head == f"model, <{module.__name__}>:4"
        return rest + "\n"


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """The compiled runtime, under a debugger and a coverage tool too."""
    monkeypatch.setattr(gendsl.runtime.watched, "_RUNTIME", "compiled")
    monkeypatch.setattr(gendsl.runtime.generative, "runs_whole", lambda: False)


MIXTURE = """\
@gen
def model(xs, sigma):
    \"\"\"Not shown.\"\"\"
    k = ~poisson(3)

    w = ~dirichlet([1.0] * (k + 1))
    mu = [
        ("mu", j) @ ~normal(0, 10)
        for j in range(k + 1)
    ]
    scale = 2.0
    zs = []
    for i, x in enumerate(xs):
        z = ("z", i) @ ~categorical(w)
        zs.append(z)
        if z > 1:  # far away
            y = ("y", i) @ ~normal(mu[z] + x, sigma * scale)
        else:
            y = 0.0
    return mu, zs
"""


def test_a_mixture():
    assert whole(MIXTURE) == """\
Updates incrementally: a change is followed to what depends on it; nothing else runs.

 4 | def model(xs, sigma):
 6 |     k = ~poisson(3)                                 choice: depends on nothing
 8 |     w = ~dirichlet([1.0] * (k + 1))                 choice: scored again when k changes
 9 |     mu = [                                          plate over range(k + 1): each iteration by
   |                                                       itself, kept as columns
10 |         ("mu", j) @ ~normal(0, 10)                  choice: depends on nothing
11 |         for j in range(k + 1)
12 |     ]
13 |     scale = 2.0                                     fixed: computed once
14 |     zs = []                                         fixed: computed once
15 |     for i, x in enumerate(xs):                      plate over enumerate(xs), filling zs: each
   |                                                       iteration by itself
   |                                                     every iteration is visited when w changes
   |                                                     those whose branch reads it are visited
   |                                                       when sigma changes
16 |         z = ("z", i) @ ~categorical(w)              choice: scored again when w changes
17 |         zs.append(z)                                the iteration's entry of zs
18 |         if z > 1:  # far away                       branch on z: the arm that isn't taken costs
   |                                                       nothing
19 |             y = ("y", i) @ ~normal(mu[z] + x, sigma * scale)
   |                                                     choice: scored again when mu at [z], z,
   |                                                       sigma or x changes
20 |         else:
21 |             y = 0.0                                 fixed: computed once
22 |     return mu, zs                                   return: gathered when it is asked for
"""


CHAIN = """\
@gen
def model(n):
    z = 0.0
    for t in range(n):
        z = ("z", t) @ ~normal(z, 1)
        ("y", t + 1) @ ~normal(z, 1)
    return z
"""


def test_a_chain_and_what_slows_it():
    assert whole(CHAIN) == """\
Updates incrementally: a change is followed to what depends on it; nothing else runs.
A change of an address of line 8 is found by an index, which the first one makes.

4 | def model(n):
5 |     z = 0.0                           fixed: computed once
6 |     for t in range(n):                chain over range(n), carrying z: a change is followed
  |                                         while z changes
7 |         z = ("z", t) @ ~normal(z, 1)  choice: scored again when z changes
8 |         ("y", t + 1) @ ~normal(z, 1)  choice: scored again when z changes
  |                                       its address is computed from t: an index finds its
  |                                         iteration
  |                                       instead: let the loop's own variable be a component, as
  |                                         `range(1, n + 1)` or `enumerate(xs, 1)` allow
9 |     return z                          return: gathered when it is asked for
"""


def test_a_file_that_has_changed_since():
    with imported("from gendsl import *\n\n@gen\ndef model():\n    return 'x' @ ~normal(0, 1)\n") as module:
        before = module.model.explain()
        filename = module.model.compiled.origin.filename
        linecache.cache[filename] = 15, None, ["# nothing left\n"], filename
        assert module.model.explain() == before


OPAQUE = """\
@gen
def model(n):
    def twice(x):
        return 2 * x

    return "y" @ ~normal(twice(n), 1)
"""


def test_an_opaque_body():
    assert whole(OPAQUE) == """\
Nothing updates incrementally, because of line 5: the whole body is executed.

4 | def model(n):
5 |     def twice(x):                      opaque, and with it the whole body: it defines twice
  |                                          inside
  |                                        instead: define it outside
6 |         return 2 * x
8 |     return "y" @ ~normal(twice(n), 1)
"""


# --- phrases -----------------------------------------------------------------------------------------


def test_an_opaque_statement():
    @gen
    def model():
        z = ~normal(0, 1)
        try:
            x = "x" @ ~normal(z, 1)
        except ValueError:
            x = 0.0
        return x

    assert summary(model) == "Updates incrementally but for line 2, executed whole at every update."
    assert notes(model)["try:"] == (
        "opaque, executed whole at every update: choices inside `try`; "
        "instead: move the choices out of it, or into a @gen function"
    )


def test_a_comprehension_with_a_condition():
    @gen
    def model(n):
        return [("x", i) @ ~normal(0, 1) for i in range(n) if i % 2]

    # what follows a `return` depends on it, so that the whole body is opaque
    assert summary(model) == "Nothing updates incrementally, because of line 1: the whole body is executed."
    assert notes(model)["return [(\"x\", i) @ ~normal(0, 1) for i in range(n) if i % 2]"] == (
        "opaque, and with it the whole body: a comprehension with `if` or with two `for`; "
        "instead: make it a statement of its own: `if`, or a `for` with .append"
    )


def test_calls():
    @gen
    def model(n, x):
        a = ~leaf(x)
        for i in range(n):
            ("b", i) @ ~leaf(0.0)

    said = notes(model)
    assert said["a = ~leaf(x)"] == "call of leaf: updated when x changes or something inside it does"
    assert said['("b", i) @ ~leaf(0.0)'] == "call of leaf: updated when something inside it does"


def test_what_is_known_only_when_it_runs():
    @gen
    def model(d, xs):
        x = ~d
        mask = ~np.isnan(xs)
        return mask

    said = notes(model)
    assert said["x = ~d"] == "choice or call: scored again when d changes"
    assert said["mask = ~np.isnan(xs)"] == "ordinary value: computed again when xs changes"


def test_indices_and_lengths():
    @gen
    def model(xs, n):
        z = ~categorical([0.5, 0.5])
        mu = [("mu", j) @ ~normal(0, 1) for j in range(n)]
        a = ~normal(mu[z] + mu[0], 1)
        b = ~normal(len(mu), 1)
        c = xs[z + 1]

    said = notes(model)
    assert said["a = ~normal(mu[z] + mu[0], 1)"] == "choice: scored again when mu at [0] and [z] or z changes"
    assert said["b = ~normal(len(mu), 1)"] == "choice: scored again when length of mu changes"
    assert said["c = xs[z + 1]"] == "computed again when xs at [z + 1] or z changes"


def test_a_container_that_its_loop_reads():
    @gen
    def model(n):
        x = [0.0] * n
        for i in range(1, n):
            x[i] = ~normal(x[i - 1], 1)

    said = notes(model)
    assert said["for i in range(1, n):"] == (
        "chain over range(1, n), filling x: "
        "a change is followed to the iterations that read that entry of x"
    )
    assert said["x[i] = ~normal(x[i - 1], 1)"] == (
        "the iteration's entry of x; choice: scored again when x at [i - 1] changes"
    )


def test_while():
    @gen
    def model(m):
        n = 0
        while n < m:
            if ("stop", n) @ ~bernoulli(0.5):
                break
            n += 1
        return n

    said = notes(model)
    assert said["while n < m:"] == (
        "while-chain on m and n, carrying n: a change is followed while n changes; "
        "every iteration is visited when m changes"
    )
    assert said['if ("stop", n) @ ~bernoulli(0.5):'].endswith(
        "a `while` has no variable that its address could have: an index finds its iteration; "
        "instead: `for i in range(...)` with `break`, and i in the address; "
        "branch on a choice in it: the arm that isn't taken costs nothing"
    )
    assert said["break"] == "ends the loop"
    assert summary(model).endswith(
        "\nA change of an address of line 3 is found by an index, which the first one makes."
    )


def test_addresses_that_say_nothing_of_the_iteration():
    @gen
    def model(xs, pairs, address):
        for i, x in enumerate(xs):
            "same" @ ~normal(x, 1)
            ... @ ~leaf(x)
            address(i) @ ~normal(0, 1)
        for a, (b, c) in pairs:
            for j in range(3):
                ("x", j) @ ~normal(a + b + c, 1)

    said = notes(model)
    line = model.compiled.origin.node.lineno
    assert said['"same" @ ~normal(x, 1)'].endswith(
        f"its address lacks the variable of the loop in line {line + 1}: an index finds its iteration; "
        "instead: put i into the address, as it is"
    )
    assert said["... @ ~leaf(x)"].endswith(
        "its addresses are the callee's: an index finds its iteration; "
        "instead: give the call an address of its own, with i in it"
    )
    assert said["address(i) @ ~normal(0, 1)"].endswith(
        "its address is an expression: an index finds its iteration; "
        "instead: write the address as a tuple, with i in it"
    )
    assert said['("x", j) @ ~normal(a + b + c, 1)'].endswith(
        f"its address lacks the variable of the loop in line {line + 5}: an index finds its iteration; "
        "instead: number the iterations by `enumerate`, and put the number into the address"
    )


def test_a_moving_address():
    @gen
    def model():
        k = ~poisson(3)
        ("x", k) @ ~normal(0, 1)

    assert notes(model)['("x", k) @ ~normal(0, 1)'] == (
        "choice: depends on nothing; taken back and made anew when k changes: its address"
    )


def test_columns():
    @gen
    def model(n):
        for i in range(n):
            ("x", i) @ ~normal(0, 1)

    line = "for i in range(n):"
    assert notes(model)[line] == "plate over range(n): each iteration by itself"
    columns = notes(model, columns=lambda loop: True)
    assert columns[line] == "plate over range(n): each iteration by itself, kept as columns"


# --- the runtimes ------------------------------------------------------------------------------------


def test_the_reference_runtime_executes_everything(monkeypatch):
    text = leaf.reference.explain()
    assert text == explain_reference(leaf.compiled.origin)
    assert "incrementally: the reference runtime executes the whole body every time.\n" in text
    assert "    y = ~normal(x, 1)\n" in text
    assert leaf.explain() == explain(leaf.compiled.program, leaf.compiled.origin)
    monkeypatch.setattr(gendsl.runtime.generative, "runs_whole", lambda: True)
    assert leaf.explain() == text
