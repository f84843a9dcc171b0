"""What a chain says of an argument that machine code can't be given: which one, and which part of it."""

from dataclasses import dataclass

import numpy as np
import pytest

from gendsl import gen, normal, select
from gendsl.inference import mh


@dataclass
class Study:
    site: str
    columns: dict


@gen
def model(n, data):
    m = ~normal(0, 1)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"x": np.ones(2), "name": np.array(["a", "b"])}, "argument data['name']: an array of <U1"),
        (
            Study("here", {"x": [np.ones(2), np.ones(2, "f4")]}),
            "argument data.columns['x'][1]: an array of float32",
        ),
        ((1, np.ones(2, "i4")), "argument data[1]: an array of int32"),
        (np.ones(2, "i4"), "are read: give array.astype(int)"),
        (np.ones(2, "f4"), "are read: give array.astype(float)"),
        (np.array(["a", "b"]), "are read: give array.tolist()"),
        (np.array(["a", "b"], object), "are read: give array.tolist()"),
        (np.ones((1, 1, 1, 1, 1)), "an array of float64 with 5 axes, where those of"),
    ],
)
def test_a_refused_argument_is_named(data, told):
    trace = model.simulate((3, data), rng=1)
    assert told in str(mh(select("m")).explain(trace))


def test_of_a_table_it_is_said_what_is_compiled():
    pandas = pytest.importorskip("pandas")
    trace = model.simulate((3, pandas.DataFrame({"x": [1.0]})), rng=1)
    told = mh(select("m")).explain(trace)
    assert "data: a value of type DataFrame: give its columns as arrays, by to_numpy()" in told
