"""Files that somebody wrote by hand, with a right checksum: an error says so, quickly, in little memory."""

import copy
import json
import os
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gendsl import (
    bernoulli,
    gen,
    load_run,
    load_trace,
    mvnormal,
    normal,
    read_choices,
    resume,
    sample,
    select,
)
from gendsl.errors import FileFormatError, ValueTypeError
from gendsl.inference import cycle, mh
from gendsl.inference.running.folder import DRAWS, RUN, START, STATE
from gendsl.inference.running.generators import decode_rng, encode_rng
from gendsl.runtime import files
from gendsl.runtime.encoding import DEEPEST, LARGEST, decode, encode
from gendsl.runtime.saving import TRACE


@gen
def model(n, data, options):
    x = ~normal(0, options["scale"])
    v = ~mvnormal(data.mean(axis=0), np.eye(2))
    low = ~bernoulli(0.5)
    for i in range(n):
        ("y", i) @ ~normal(x, 1)


KERNEL = cycle(mh(select("x")), mh(select("v")))
ARGS = (3, np.arange(4.0).reshape(2, 2), {"scale": 1.5, 2: ("a", None, {1, 2}, b"b", 1 + 2j)})


def start():
    return model.generate(ARGS, {"y": [0.5, np.float64(1.0), 0.1]}, rng=1).trace


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The content of the files of a trace and of a run: kind, version and content by name."""
    path = tmp_path_factory.mktemp("whole")
    start().save(path / "trace.json")
    rng = np.random.Generator(np.random.MT19937(1))
    record = {"x": "x", "v": "v", "kind": lambda trace: "low" if trace["low"] else (1, np.int8(2))}
    for folder, recorded in (("run", record), ("traces", None)):
        sample(KERNEL, start(), 2, warmup=98, record=recorded, seed=rng, checkpoint=path / folder)
    return path


PLACES = {
    "trace.json": (TRACE, 1),
    "run/run.json": (RUN, 2),
    "run/chain-0.start.json": (START, 2),
    "run/chain-0.state.json": (STATE, 2),
    "run/chain-0.draws.jsonl": (DRAWS, 2),
    "traces/chain-0.state.json": (STATE, 2),
    "traces/chain-0.draws.jsonl": (DRAWS, 2),
}


def content_of(path, place):
    kind, version = PLACES[place]
    if kind == DRAWS:
        return [json.loads(line) for line in (path / place).read_text().splitlines()]
    return files.read_file(path / place, kind, [version]).content


class Text(str):
    """Content as it is in the file."""


def write(path, place, content):
    """Put content in place of a file's, with a right checksum."""
    kind, version = PLACES[place]
    if kind != DRAWS:
        if not isinstance(content, Text):
            content = Text(files.to_json(content))
        head = {"format": kind, "version": version, "crc32": files.checksum(content.encode())}
        (path / place).write_text(f'{files.to_json(head)[:-1]},"content":{content}}}\n')
        return
    lines = content if isinstance(content, list) else [content]
    data = "".join(f"{files.to_json(line)}\n" for line in lines).encode()
    (path / place).write_bytes(data)
    at = place.replace("draws.jsonl", "state.json")
    state = content_of(path, at)
    files.write_file(path / at, STATE, {**state, "size": len(data), "crc32": files.checksum(data)}, 2)


def read(path, place):
    """Read a file in all the ways there are: the errors, of which some need more of it than others."""
    folder = path / place.partition("/")[0]
    if place == "trace.json":
        calls = [lambda: load_trace(path / place, model), lambda: read_choices(path / place)]
    else:
        record = {"x": "x", "v": "v", "kind": lambda trace: 0} if place.startswith("run") else None
        calls = [
            lambda: resume(folder, KERNEL, model, record=record, progress=False),
            lambda: load_run(folder, model).traces,
        ]
    errors = []
    for call in calls:
        began = time.process_time()
        try:
            call()
        except FileFormatError as error:
            errors.append(str(error))
        assert time.process_time() - began < 4
    return errors


@pytest.fixture
def copied(whole, tmp_path):
    """A copy of the files, which may be spoilt."""
    return restored(whole, tmp_path)


def restored(whole, path):
    for file in whole.rglob("*"):
        if file.is_file() and not file.name.endswith(".lock"):
            (path / file.relative_to(whole)).parent.mkdir(exist_ok=True)
            (path / file.relative_to(whole)).write_bytes(file.read_bytes())
    return path


# --- by hand -----------------------------------------------------------------------------------------


def at(content, *keys):
    for key in keys[:-1]:
        content = content[key]
    return content, keys[-1]


def put(value, *keys):
    def change(content):
        inner, key = at(content, *keys)
        inner[key] = value

    return change


def array(dtype, shape, entries):
    return {"array": {"dtype": dtype, "shape": shape, "entries": entries}}


def in_place_of_the_args(content, text):
    """What Python itself wouldn't write."""
    return Text(files.to_json({**content, "args": ["here"]}).replace('"here"', text))


def deep(levels):
    value = 1
    for _ in range(levels):
        value = {"tuple": [value]}
    return value


TRACES = {
    "an integer of thousands of digits": lambda content: in_place_of_the_args(content, "9" * 5000),
    "a wide dtype": put(array("<U900000000", [1], ["a"]), "args", 1),
    "a dtype of 10^9 bytes": put(array("|V1000000000", [1], [0]), "args", 1),
    "a shape of 10^9": put(array("<f8", [10**9, 10**9], [1.0]), "args", 1),
    "a negative shape": put(array("<f8", [-1, -1], [1.0]), "args", 1),
    "a shape that is no list": put(array("<f8", "ab", []), "args", 1),
    "entries that are a string": put(array("<U1", [3], "abc"), "args", 1),
    "a dtype that is a list": put(array([["a", "<f8", [10**9]]], [1], [1.0]), "args", 1),
    "an entry out of range": put(array("|i1", [1], [300]), "args", 1),
    "a scalar of another kind": put({"scalar": ["<f8", "1"]}, "args", 0),
    "a scalar out of range": put({"scalar": ["<i8", 2**100]}, "args", 0),
    "many levels": lambda content: in_place_of_the_args(content, '{"tuple":[' * 10**5 + "]}" * 10**5),
    "more levels than are written": put(deep(DEEPEST + 2), "args", 0),
    "a key that is there twice": put({"dict": [[1, 2], [1, 3]]}, "args", 2),
    "a list as a key": put({"dict": [[[1], 2]]}, "args", 2),
    "a path that can't be one": put([[[[1]], 0.5]], "choices"),
    "no list of choices": put({"x": 1}, "choices"),
    "choices without a value": put([[["x"]]], "choices"),
    "args that are no list": put("abc", "args"),
    "a program that is no name": put(7, "program"),
    "a density that is no number": put("high", "log_prob"),
    "a density that is a large integer": put(10**400, "log_prob"),
    "no density": lambda content: content.pop("log_prob"),
    "too few arguments": put([], "args"),
    "arguments of other types": put([{"tuple": []}, None, "a"], "args"),
    "a choice of another type": put([[["x"], "one"]], "choices"),
    "more iterations than there are choices": put(10**12, "args", 0),
    "two kinds in one": put({"float": "nan", "tuple": []}, "args", 0),
    "a complex number of strings": put({"complex": ["1", "2"]}, "args", 0),
    "bytes that are none": put({"bytes": "ä"}, "args", 0),
    "an unknown kind": put({"code": "1"}, "args", 0),
}


@pytest.mark.parametrize("name", TRACES)
def test_a_crafted_trace(copied, name):
    content = content_of(copied, "trace.json")
    made = TRACES[name](content)
    write(copied, "trace.json", made if isinstance(made, Text) else content)
    size = os.path.getsize(copied / "trace.json")
    tracemalloc.start()
    try:
        errors = read(copied, "trace.json")
    finally:
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert errors and all(str(copied) in error for error in errors), errors
    assert most < 2e7 + 400 * size, most


def draws_of(name, value):
    def change(lines):
        for line in lines[1:]:
            line[0][name] = value

    return change


RUNS = {
    "chains: 10^9": ("run/run.json", put(10**9, "chains")),
    "chains: 0": ("run/run.json", put(0, "chains")),
    "chains: -1": ("run/run.json", put(-1, "chains")),
    "chains: true": ("run/run.json", put(True, "chains")),
    "thin: 0": ("run/run.json", put(0, "thin")),
    "draws: -5": ("run/run.json", put(-5, "draws")),
    "draws: 1e3": ("run/run.json", put(1e3, "draws")),
    "warmup: 10^30": ("run/run.json", put(10**30, "warmup")),
    "fewer draws than were made": ("run/run.json", put(1, "draws")),
    "no structure": ("run/run.json", lambda content: content.pop("structure")),
    "record: a string": ("run/run.json", put("x", "record")),
    "record: no pairs": ("run/run.json", put([["x"]], "record")),
    "record: twice": ("run/run.json", put([["x", {"function": None}]] * 2, "record")),
    "record: an address without parts": ("run/run.json", put([["x", {"address": []}]], "record")),
    "record: lists": ("run/run.json", put([["x", {"address": [[1]]}]], "record")),
    "files: a list": ("run/run.json", put([1], "files")),
    "files: numbers": ("run/run.json", put({"m": 1}, "files")),
    "run: nothing": ("run/run.json", put("", "run")),
    "run: a number": ("run/run.json", put(1, "run")),
    "every: 0": ("run/chain-0.start.json", put(0, "every")),
    "every: -1": ("run/chain-0.start.json", put(-1, "every")),
    "a density of -inf": ("run/chain-0.start.json", put({"float": "-inf"}, "log_prob")),
    "bits: nothing of NumPy's": ("run/chain-0.start.json", put("bytes", "rng", "bits")),
    "bits: a list": ("run/chain-0.start.json", put(["PCG64"], "rng", "bits")),
    "pool_size: 10^9": ("run/chain-0.start.json", put(10**9, "rng", "seed", "pool_size")),
    "pool_size: 0": ("run/chain-0.start.json", put(0, "rng", "seed", "pool_size")),
    "entropy: text": ("run/chain-0.start.json", put("1", "rng", "seed", "entropy")),
    "spawn_key: negative": ("run/chain-0.start.json", put({"tuple": [-1]}, "rng", "seed", "spawn_key")),
    "a state of other bits": ("run/chain-0.start.json", put({"dict": []}, "rng", "state")),
    "step: -1": ("run/chain-0.state.json", put(-1, "step")),
    "step: 10^18": ("run/chain-0.state.json", put(10**18, "step")),
    "size: 10^18": ("run/chain-0.state.json", put(10**18, "size")),
    "size: -1": ("run/chain-0.state.json", put(-1, "size")),
    "size: 0": ("run/chain-0.state.json", put(0, "size")),
    "draws: 10^9": ("run/chain-0.state.json", put(10**9, "draws")),
    "seconds: nan": ("run/chain-0.state.json", put({"float": "nan"}, "seconds")),
    "seconds: 10^400": ("run/chain-0.state.json", put(10**400, "seconds")),
    "seconds of a kernel: 10^400": (
        "run/chain-0.state.json",
        put(10**400, "acceptance", "mh select('x')", "seconds"),
    ),
    "seconds: -1": ("run/chain-0.state.json", put(-1.0, "seconds")),
    "crc32: no hexadecimal": ("run/chain-0.state.json", put("hello", "crc32")),
    "acceptance: a list": ("run/chain-0.state.json", put([], "acceptance")),
    "acceptance: negative": ("run/chain-0.state.json", put(-1, "acceptance", "mh select('x')", "accepted")),
    "acceptance: unknown": ("run/chain-0.state.json", put(1, "acceptance", "mh select('x')", "lost")),
    "no choices": ("run/chain-0.state.json", lambda content: content.pop("choices")),
    "draws that are a string": ("run/chain-0.draws.jsonl", put("draw", 1)),
    "a draw of other quantities": ("run/chain-0.draws.jsonl", put([{"y": 1}, [0.0]], 1)),
    "a draw with a wide dtype": ("run/chain-0.draws.jsonl", draws_of("x", array("<U900000000", [1], ["a"]))),
    "counts that are text": ("run/chain-0.draws.jsonl", put("ab", 1, 1)),
    "counts that are large": ("run/chain-0.draws.jsonl", put([0.0, [2**80, 0, 0], [0, 0, 0]], 1, 1)),
    "fewer counts": ("run/chain-0.draws.jsonl", put([0.0], 2, 1)),
    "more counts": ("run/chain-0.draws.jsonl", put([0.0, *[[0, 0, 0]] * 9], 1, 1)),
    "no head": ("run/chain-0.draws.jsonl", lambda lines: lines.pop(0)),
    "one draw less": ("run/chain-0.draws.jsonl", lambda lines: lines.pop()),
    "a trace without a choice": ("traces/chain-0.state.json", put([], "choices")),
    "a draw that is a number": ("traces/chain-0.draws.jsonl", put([1, [0.0]], 1)),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_crafted_run(copied, name):
    place, change = RUNS[name]
    content = content_of(copied, place)
    change(content)
    write(copied, place, content)
    assert read(copied, place)


@pytest.mark.parametrize("kind", ["MT19937", "Philox", "PCG64", "SFC64"])
def test_states_that_would_read_foreign_memory_or_never_end(kind):
    rng = np.random.Generator(getattr(np.random, kind)(3))
    rng.random(5)
    names = {"MT19937": "pos", "Philox": "buffer_pos"}
    spoilt = [("has_uint32", 2), ("uinteger", -1)] if kind != "MT19937" else []
    if kind in names:
        spoilt += [(names[kind], 10**6), (names[kind], -1), (names[kind], True), (names[kind], "1")]
    for name, value in spoilt:
        encoded = encode_rng(rng)
        text = json.dumps(encoded)
        was = f'"{name}", '
        assert was in text
        place = text.index(was) + len(was)
        end = place + len(text[place:].split("]", 1)[0])
        with pytest.raises(FileFormatError, match="is no generator in gendsl's format"):
            decode_rng(json.loads(f"{text[:place]}{json.dumps(value)}{text[end:]}"))
    if kind == "MT19937":
        state = rng.bit_generator.state
        state["state"]["key"][:] = 0
        with pytest.raises(FileFormatError, match="has no bits"):
            decode_rng({**encode_rng(rng), "state": encode(state)})
    if kind == "PCG64":
        state = rng.bit_generator.state
        state["state"]["inc"] -= 1
        with pytest.raises(FileFormatError, match="inc is out of range"):
            decode_rng({**encode_rng(rng), "state": encode(state)})
    again = decode_rng(json.loads(json.dumps(encode_rng(rng))))
    assert again.random() == rng.random()


def test_seeds_of_many_kinds_come_back():
    for seed in (None, 5, [1, 2], (3, 2**70), np.array([4, 5], dtype=np.uint32), 2**1000):
        for size in (4, 8, 256):
            sequence = np.random.SeedSequence(seed, pool_size=size)
            rng = np.random.default_rng(sequence)
            rng.spawn(2)
            again = decode_rng(json.loads(json.dumps(encode_rng(rng))))
            assert again.spawn(1)[0].random() == rng.spawn(1)[0].random()
    with pytest.raises(ValueTypeError, match="a pool of 2000 words can't be saved"):
        encode_rng(np.random.default_rng(np.random.SeedSequence(1, pool_size=2000)))


def test_keys_that_have_one_hash_take_no_time_that_grows_with_its_square():
    keys = [i * (2**61 - 1) for i in range(40_000)]
    began = time.process_time()
    for encoded in (
        {"dict": [[key, 0] for key in keys]},
        {"set": keys},
        {"frozenset": keys},
        {"choices": [[[key], 0] for key in keys]},
    ):
        with pytest.raises(FileFormatError, match="the keys have too few different hashes"):
            decode(encoded)
    assert time.process_time() - began < 4


def test_what_would_not_be_read_is_not_saved():
    for value, problem in (
        (2**LARGEST, f"an integer of {LARGEST + 1} bits, and files have at most {LARGEST}"),
        (nested(DEEPEST + 2), f"values nested more than {DEEPEST} deep"),
        (np.array(["a"] * 9, dtype="<U10000"), "an array of dtype <U10000, far wider than its entries"),
        (np.longdouble(1) / 3, "numbers of dtype"),
    ):
        with pytest.raises(ValueTypeError, match=problem):
            encode(value)
    for value in (2**LARGEST - 1, -(2**LARGEST) + 1, nested(DEEPEST), np.array(["a", ""], dtype="<U90")):
        again = decode(json.loads(json.dumps(encode(value))))
        assert type(again) is type(value) and np.all(again == value)


def nested(levels):
    value = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_a_pipe_is_no_file(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no pipes by name here")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileFormatError, match="is no file of data, but a pipe or a device"):
        read_choices(tmp_path / "pipe")
    with pytest.raises(FileFormatError, match="is no file of data"):
        load_trace("/dev/zero", model)


# --- at random ---------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
KINDS = (
    "float", "complex", "tuple", "dict", "set", "frozenset", "bytes", "choices", "program", "scalar", "array",
)  # fmt: skip
ENCODED = JSON | st.builds(
    lambda kind, content: {kind: content},
    st.sampled_from(KINDS),
    JSON | st.builds(array, st.sampled_from(["<f8", "<U3", "|O", "<i8", "|b1"]), JSON, JSON),
)
SIZES = st.sampled_from([-1, 0, 1, 2, 2**31, 2**63, 10**9, 10**30, 10**400, True, 1e300, 0.5])


def places_in(value, path=()):
    """The place of every part of a JSON value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places_in(part, (*path, key))


@st.composite
def spoilings(draw):
    """How a part is changed: by its number, and by what."""
    number = draw(st.integers(0, 10**6))
    how = draw(st.sampled_from(["put", "put", "size", "remove", "twice", "move"]))
    by = {"put": ENCODED, "size": SIZES, "move": st.integers(0, 10**6)}
    return number, how, draw(by.get(how, st.none()))


def spoil(content, spoiling):
    number, how, value = spoiling
    places = [place for place in places_in(content) if place]
    place = places[number % len(places)]
    inner, key = at(content, *place)
    if how == "remove":
        del inner[key]
    elif how == "twice" and isinstance(inner, list):
        inner.insert(key, copy.deepcopy(inner[key]))
    elif how == "move":
        other, name = at(content, *places[value % len(places)])
        inner[key] = copy.deepcopy(other[name])
    elif how in ("put", "size"):
        inner[key] = value
    return content


@settings(
    max_examples=int(os.environ.get("GENDSL_CRAFTED", "60")), deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(place=st.sampled_from(sorted(PLACES)), several=st.lists(spoilings(), min_size=1, max_size=3))
def test_any_content_is_read_or_refused(whole, tmp_path, place, several):
    restored(whole, tmp_path)
    content = content_of(tmp_path, place)
    for spoiling in several:
        if list(places_in(content)) != [()]:
            content = spoil(content, spoiling)
    write(tmp_path, place, content)
    read(tmp_path, place)  # which lets no error pass but FileFormatError


@settings(max_examples=150, deadline=None, derandomize=True)
@given(ENCODED)
def test_any_value_is_decoded_or_refused(encoded):
    try:
        decode(encoded)
    except FileFormatError:
        return
