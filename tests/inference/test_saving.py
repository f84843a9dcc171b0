"""Traces in files: what comes back is what was saved, and nothing else is believed."""

import json
import math
import pickle
import subprocess
import sys

import cloudpickle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendsl import bernoulli, choicemap, gen, load_trace, mvnormal, normal, select, uniform_discrete
from gendsl.errors import FileFormatError, UntrustedFileError, ValueTypeError
from gendsl.runtime.encoding import decode, encode
from gendsl.runtime.program_names import Programs


@gen
def part(scale):
    z = ~normal(0, scale)
    return z


@gen
def model(n, options, data):
    k = ~uniform_discrete(1, 3)
    for j in range(k):
        ("mu", j) @ ~normal(0, options["scale"])
    v = ~mvnormal(data.mean(axis=0), np.eye(2))
    low = ~bernoulli(0.5)
    inner = ~part(2.0)
    for i in range(n):
        ("x", i) @ ~normal(inner, 1)


class Owner:
    @gen
    def method(self):
        x = ~normal(0, 1)


ARGS = (2, {"scale": 1.5, 3: (1, None)}, np.arange(6.0).reshape(3, 2))


def trace(seed=1):
    return model.generate(ARGS, {"x": [0.25, 0.1 + 0.2]}, init={"k": 2}, rng=seed).trace


# --- there and back ----------------------------------------------------------------------------------


def same(a, b):
    assert a.choices == b.choices and a.observed == b.observed and a.gen_fn == b.gen_fn
    assert [type(v) for v in a.choices.values()] == [type(b.choices[at]) for at in a.choices]
    assert a.log_prob == b.log_prob and repr(a.args) == repr(b.args)


def test_a_trace_comes_back(tmp_path):
    trace().save(tmp_path / "trace.json")
    same(load_trace(tmp_path / "trace.json", model), trace())
    same(load_trace(str(tmp_path / "trace.json"), trust=True), trace())
    assert [p.name for p in tmp_path.iterdir()] == ["trace.json"]


def test_another_process_reads_it(tmp_path):
    file = tmp_path / "trace.json"
    trace().save(file)
    read = f"import gendsl; t = gendsl.load_trace({str(file)!r}, trust=True)"
    read += "; print(t.gen_fn.name, t['inner'].hex())"
    done = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["model", float(trace()["inner"]).hex()], done.stderr


def test_what_comes_back_can_be_updated(tmp_path):
    trace().save(tmp_path / "trace.json")
    again = load_trace(tmp_path / "trace.json", model)
    assert again.update({("mu", 0): 1.0})[1] == trace().update({("mu", 0): 1.0})[1]
    moved = [t.regenerate(select("k"), rng=3).trace.choices for t in (again, trace())]
    assert moved[0] == moved[1] != again.choices


def test_a_trace_is_pickled():
    for pickler in (pickle, cloudpickle):
        same(pickler.loads(pickler.dumps(trace())), trace())


def test_a_program_without_a_name_is_passed(tmp_path):
    @gen
    def local():
        x = ~normal(0, 1)

    local.simulate((), rng=1).save(tmp_path / "a")
    with pytest.raises(FileFormatError, match=r"there is no generative function .*<locals>\.local"):
        load_trace(tmp_path / "a", trust=True)
    assert load_trace(tmp_path / "a", local)["x"] == local.simulate((), rng=1)["x"]
    owner = Owner()
    owner.method.simulate((), rng=2).save(tmp_path / "b")
    assert load_trace(tmp_path / "b", owner.method)["x"] == owner.method.simulate((), rng=2)["x"]


def test_programs_are_arguments_by_name(tmp_path):
    higher.simulate((part,), rng=1).save(tmp_path / "a")
    name = f"{__name__}:part"
    assert load_trace(tmp_path / "a", higher, programs={name: part}).args == (part,)
    assert load_trace(tmp_path / "a", programs={name: part, f"{__name__}:higher": higher}).args == (part,)
    assert load_trace(tmp_path / "a", trust=True).args == (part,)
    with pytest.raises(UntrustedFileError, match=f"the file names the program {name}") as caught:
        load_trace(tmp_path / "a", higher)
    assert f"pass it, programs={{'{name}': ...}}; or, if you trust the file, trust=True" in str(caught.value)
    for bad in ({"part": 1}, {1: part}, [part], part):
        with pytest.raises(ValueTypeError, match="got programs="):
            load_trace(tmp_path / "a", higher, programs=bad)
    with pytest.raises(ValueTypeError, match="got trust='yes'"):
        load_trace(tmp_path / "a", higher, trust="yes")


@gen
def higher(program):
    a = ~program(1.0)


# --- what is refused ---------------------------------------------------------------------------------


def refused(path, model=None):
    with pytest.raises(FileFormatError) as caught:
        load_trace(path, model, trust=model is None)
    assert path.name in str(caught.value)
    return str(caught.value)


@pytest.fixture
def small(tmp_path):
    part.simulate((2.0,), rng=1).save(tmp_path / "small.json")
    return tmp_path / "small.json"


def test_a_file_cut_off_at_every_byte(small):
    data = small.read_bytes()
    for size in range(len(data)):
        small.write_bytes(data[:size])
        message = refused(small)
        assert ("damaged" in message) == (size > 23) and ("no file of" in message) == (size <= 23), size


def test_a_file_with_any_byte_changed(small):
    data = small.read_bytes()
    for place in range(len(data)):
        small.write_bytes(data[:place] + bytes([data[place] ^ 2]) + data[place + 1 :])
        refused(small)


def test_foreign_files(small):
    for data in (b"", b"{}", b"[]", b"hello", b"\xff\xfe", pickle.dumps(trace()), b'{"format": "pickle"}'):
        small.write_bytes(data)
        assert "is no file of the format 'gendsl trace'" in refused(small)
    with pytest.raises(FileNotFoundError):
        load_trace(small.with_name("nowhere"))


def test_a_newer_version(small):
    content = json.loads(small.read_text())
    small.write_text(json.dumps({**content, "version": 2}))
    assert "has version 2 of the format 'gendsl trace', and this gendsl reads version 1" in refused(small)


def test_another_program(small):
    @gen
    def other(scale):
        z = ~normal(0, 2 * scale)

    with pytest.raises(FileFormatError, match=r"had the log density -.* and other now gives it"):
        load_trace(small, other)
    with pytest.raises(ValueTypeError, match="pass a @gen function"):
        load_trace(small, lambda scale: 1)


def test_nothing_but_programs_is_looked_up():
    for name in ("os:system", "builtins:eval", "gendsl:normal", "nowhere:f", ":", "x"):
        with pytest.raises(FileFormatError, match="there is no generative function"):
            decode({"program": name}, Programs(trust=True))
        with pytest.raises(UntrustedFileError, match="reading a file imports nothing"):
            decode({"program": name})


@pytest.mark.parametrize("value", [object(), lambda: 1, Owner(), np.array(["2020"], dtype="M8[D]"), max])
def test_what_has_no_open_format(tmp_path, value):
    with pytest.raises(ValueTypeError, match="without pickled code"):
        encode(value)


def test_a_failed_save_leaves_what_was_there(small):
    before = small.read_bytes()
    with pytest.raises(ValueTypeError, match="an argument of the trace"):
        _unsaveable().save(small)
    assert small.read_bytes() == before


def _unsaveable():
    @gen
    def holds(thing):
        x = ~normal(0, 1)

    return holds.simulate((object(),), rng=1)


# --- values ------------------------------------------------------------------------------------------

NUMBERS = st.booleans() | st.integers() | st.floats() | st.complex_numbers()
PLAIN = NUMBERS | st.none() | st.text() | st.binary()
KEYS = st.none() | st.booleans() | st.integers() | st.text() | st.tuples(st.integers(), st.text())
ARRAYS = st.sampled_from(["<f8", ">f8", "<f4", "<i2", "|b1", "<u8", "<c16", "<U3"]).flatmap(
    lambda dtype: st.lists(st.integers(0, 1), max_size=6).map(lambda v: np.array(v).astype(dtype))
)
VALUES = st.recursive(
    PLAIN | ARRAYS | st.floats(width=32).map(np.float32) | st.booleans().map(np.bool_),
    lambda inner: st.lists(inner, max_size=4)
    | st.lists(inner, max_size=4).map(tuple)
    | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_every_value_comes_back_exactly(value):
    again = decode(json.loads(json.dumps(encode(value), allow_nan=False)))
    assert _exact(again) == _exact(value)


def _exact(value):
    """Something that is equal for values that are the same to the last bit, and for no others."""
    if isinstance(value, np.generic) and value != value:
        return type(value), "nan"
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value), value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (list, tuple)):
        return type(value), [_exact(entry) for entry in value]
    if isinstance(value, dict):
        return dict, [(_exact(k), _exact(v)) for k, v in value.items()]
    return type(value), repr(value)


def test_object_arrays_of_lists_of_one_length():
    array = np.empty(2, dtype=object)
    array[0], array[1] = [1, 2], (3, 4)
    again = decode(encode(array))
    assert again.shape == (2,) and again.tolist() == [[1, 2], (3, 4)]


def test_sets_choice_maps_and_object_arrays():
    for value in ({1, "a"}, frozenset({(1, 2)}), choicemap({"a": 1, ("b", 0): 2.5})):
        again = decode(encode(value))
        assert again == value and type(again) is type(value)
    array = np.empty((2, 1), dtype=object)
    array[0, 0], array[1, 0] = (1, "a"), None
    again = decode(encode(array))
    assert again.dtype == object and again.tolist() == array.tolist()


def test_floats_are_exact():
    for value in (0.1, 5e-324, 1.7976931348623157e308, -0.0, math.pi, np.float64(2) / 3):
        again = np.float64(decode(json.loads(json.dumps(encode(value)))))
        assert again.tobytes() == np.float64(value).tobytes()
