"""What a chain says of an argument that machine code can't be given, where the program looks at it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from gendsl import gen, normal, select
from gendsl.inference import mh, sample
from gendsl.testing import running_on
from tests.compiler.closed_outcomes import outcome


@dataclass
class Study:
    site: str
    columns: dict
    source: Any = None


@gen
def model(n, data, look):
    m = ~normal(0, 1)
    found = look(data)


def itself(data):
    return data


@pytest.mark.parametrize(
    ("data", "look", "told"),
    [
        ({"x": np.ones(2), "name": np.array(["a", "b"])}, itself, "argument data['name']: an array of <U1"),
        (
            Study("here", {"x": [np.ones(2), np.ones(2, "f4")]}),
            lambda data: data.columns,
            "argument data.columns['x'][1]: an array of float32",
        ),
        ((1, np.ones(2, "i4")), lambda data: data[1], "argument data[1]: an array of int32"),
        ([(1, np.ones(2, "i4"))], lambda data: data[0][1], "argument data[0][1]: an array of int32"),
        (np.ones(2, "i4"), itself, "are read: give array.astype(int)"),
        (np.ones(2, "f4"), itself, "are read: give array.astype(float)"),
        (np.array(["a", "b"]), itself, "are read: give array.tolist()"),
        (np.array(["a", "b"], object), itself, "are read: give array.tolist()"),
        (np.ones((1, 1, 1, 1, 1)), itself, "an array of float64 with 5 axes, where those of"),
    ],
)
def test_a_refused_argument_is_named(data, look, told):
    trace = model.simulate((3, data, look), rng=1)
    assert told in str(mh(select("m")).explain(trace))


def test_of_a_table_it_is_said_what_is_compiled():
    pandas = pytest.importorskip("pandas")
    trace = model.simulate((3, pandas.DataFrame({"x": [1.0]}), itself), rng=1)
    told = mh(select("m")).explain(trace)
    assert "data: a value of type DataFrame: give its columns as arrays, by to_numpy()" in told


@gen
def of_some(images, study, rows):
    m = ~normal(study.columns["x"][0], 1)
    for i, (y, _) in enumerate(rows):
        ("y", i) @ ~normal(m, y)


STUDY = Study("here", {"x": [0.5]}, np.ones(2, "f4"))
ROWS = [(1.0, np.ones(2, "i4")), (2.0, np.zeros(3, "i4"))]


def test_what_is_not_looked_at_does_no_harm():
    args = np.zeros((2, 2), np.uint8), STUDY, ROWS
    assert outcome(of_some, args) == "equal"
    found = {}
    for runtime in ("reference", "python"):
        with running_on(runtime):
            trace = of_some.simulate(args, rng=1)
            found[runtime] = sample(mh(select("m")), trace, 50, record="m", seed=2, progress=False)
    np.testing.assert_array_equal(found["reference"]["m"], found["python"]["m"])
    assert not any("step by step" in one for one in found["python"].ran)


class Node:
    def __init__(self, name):
        self.name, self.neighbours = name, []


@gen
def of_neighbours(nodes):
    x = {}
    for node in nodes:
        x[node.name] = ("x", node.name) @ ~normal(0, 1)
    for node in nodes:
        ("y", node.name) @ ~normal(sum(x[one.name] for one in node.neighbours), 1)


@gen
def of_neighbours_of_neighbours(nodes):
    y = ~normal(sum(len(one.neighbours) for one in nodes[0].neighbours), 1)


def ring(n):
    nodes = [Node(i) for i in range(n)]
    for i, node in enumerate(nodes):
        node.neighbours += [nodes[(i + 1) % n], nodes[i - 1]]
    return nodes


def test_objects_that_refer_to_one_another():
    assert outcome(of_neighbours, (ring(4),)) == "equal"
    told = outcome(of_neighbours_of_neighbours, (ring(4),))
    assert told.startswith("refused") and "a value that is a part of itself" in told
