"""Reads, writes and copies that are one call each do what those of handles do."""

import math
import sys
from importlib import import_module

import pytest

from gendsl import bernoulli, continuous, copy, discrete, gen, normal, poisson, read, transform, write
from gendsl.errors import (
    CoverageError,
    GenDSLError,
    HandleError,
    LabelError,
    LostDerivativeError,
    ProtectedObservationError,
)
from gendsl.transforms import handles
from gendsl.transforms.access import Accessor
from gendsl.transforms.apply import image, run_transform
from gendsl.transforms.forward import Dual

fetch, store, carry = read, write, copy  # names that are not known while the code is generated


@gen
def model(n):
    k = ~poisson(2)
    for i in range(n):
        ("x", i) @ ~normal(0, 1)


@gen
def q(trace):
    u = ~normal(0, 1)


def moved(f):
    trace = model.generate((3,), init={"k": 2, "x": [0.5, -1.0, 2.0]}).trace
    aux = q.generate((trace,), init={"u": 0.25}).trace
    return trace, aux, run_transform(f, trace, aux, ())


@transform
def by_address(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    write(model_out["k"], k + 1, label=discrete)
    u = read(aux_in["u"])
    x = model_in["x"]
    write(model_out["x"][0], u * read(x[0], continuous))
    write(aux_out["u"], 1 / u, continuous)
    copy(x[1], model_out["x", 2])
    copy(model_in["x", 2], model_out["x"][1])


@transform
def by_handle(model_in, aux_in, *, model_out, aux_out):
    k = fetch(model_in["k"], discrete)
    store(model_out["k"], k + 1, label=discrete)
    u = fetch(aux_in["u"])
    x = model_in["x"]
    store(model_out["x"][0], u * fetch(x[0], continuous))
    store(aux_out["u"], 1 / u, continuous)
    carry(x[1], model_out["x", 2])
    carry(model_in["x", 2], model_out["x"][1])


def entries(f):
    _, _, run = moved(f)
    first = f.origin.node.lineno
    return [
        {
            path: (type(entry), output.values[path], entry.line[1] - first, entry.line[::2])
            for path, entry in output.entries.items()
        }
        for output in run.outputs
    ]


def test_both_ways_write_the_same():
    assert "read_at" in by_address.source and "write_at" in by_address.source
    assert "_at(" not in by_handle.source
    by_address_entries, by_handle_entries = entries(by_address), entries(by_handle)
    for one, other in zip(by_address_entries, by_handle_entries, strict=True):
        assert one.keys() == other.keys()
        for path, (kind, value, line, place) in one.items():
            assert (kind, value, line, (place[0], "by_handle")) == other[path], path


def test_both_ways_have_one_determinant():
    """u x0 and 1 / u: the determinant is u * (-1 / u^2), up to its sign 1 / u."""
    for f in (by_address, by_handle):
        trace, aux, _ = moved(f)
        assert image(f, trace, q, (), aux).log_abs_det == pytest.approx(-math.log(0.25))


def test_no_handle_is_made_on_the_way(monkeypatch):
    def refuse(self, address):
        raise AssertionError("a handle was made")

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        write(model_out["x", 0], read(model_in["x", 0]) + read(aux_in["u"]), continuous)
        copy(aux_in["u"], aux_out["u"])

    trace, aux, _ = moved(f)
    monkeypatch.setattr(handles.Handle, "__getitem__", refuse)
    assert image(f, trace, q, (), aux).log_abs_det == 0.0


# --- what only looks like it -------------------------------------------------------------------------


class Shelf(dict):
    """Something else that reads, writes and copies."""

    def read(self, value, label=None):
        return value, label

    def write(self, value, more, label=None):
        return value, more, label

    def copy(self, a, b):
        return a, b


def test_methods_of_other_objects():
    lifter = Accessor()
    shelf = Shelf(a=1, b=2)
    assert lifter.read_at(shelf.read, shelf, "a") == (1, None)
    assert lifter.read_at(shelf.read, shelf, "a", 5) == (1, 5)
    assert lifter.write_at(shelf.write, ("f", 1, "f"), shelf, "b", 3) == (2, 3, None)
    assert lifter.copy_at(shelf.copy, ("f", 1, "f"), shelf, "a", shelf, "b") == (1, 2)


def test_handles_in_a_container():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        inputs, outputs = {"x": model_in["x", 0]}, [model_out["x", 0], aux_out["u"]]
        write(outputs[0], 2 * read(inputs["x"]), continuous)
        copy({"u": aux_in["u"]}["u"], outputs[1])

    trace, aux, _ = moved(f)
    assert image(f, trace, q, (), aux).log_abs_det == pytest.approx(math.log(2))


def test_a_local_function_of_that_name():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        def read(handle, label=None):
            return 3 * fetch(handle, label)

        write(model_out["x", 0], read(model_in["x", 0], continuous))
        copy(aux_in["u"], aux_out["u"])

    trace, aux, _ = moved(f)
    assert image(f, trace, q, (), aux).log_abs_det == pytest.approx(math.log(3))


@gen
def kinds():
    x = ~normal(0, 1)
    k = ~poisson(2)
    b = ~bernoulli(0.5)
    half = ~(0.5 * poisson(3))  # discrete, with values that are no integers


@pytest.mark.parametrize(("name", "right", "wrong"), [
    ("x", continuous, discrete), ("k", discrete, continuous), ("b", discrete, continuous),
    ("half", discrete, continuous),
])  # fmt: skip
def test_labels_of_reads(name, right, wrong):
    for label, given in ((right, True), (wrong, True), (None, True), (None, False)):
        @transform
        def f(model_in, *, model_out):
            value = read(model_in[name], label) if given else read(model_in[name])
            assert type(value) is {"x": Dual, "k": int, "b": bool, "half": float}[name]

        trace = kinds.simulate(rng=1)
        if label is wrong:
            with pytest.raises(LabelError, match="is labelled") as caught:
                run_transform(f, trace, None, ())
            assert caught.value.address == (name,)
        else:
            (state,) = run_transform(f, trace, None, ()).inputs
            assert state.supports[name,].discrete == (right is discrete)
            assert (name,) not in state.seeds or right is continuous


def write_number(source, target, x):  # a lambda's calls would stay as they are
    write(target["x", 0], x)


def write_float(source, target, x):
    write(target["x", 0], 1.5)


def write_list(source, target, x):
    write(target["x", 0], [x])


def copy_another(source, target, x):
    copy(source["x", 1], target["x", 0])


WRITES = [write_number, write_float, write_list, copy_another]


@pytest.mark.parametrize("first", WRITES)
@pytest.mark.parametrize("second", WRITES)
def test_an_address_is_written_once(first, second):
    @transform
    def f(model_in, *, model_out):
        x = read(model_in["x", 0])
        first(model_in, model_out, x)
        second(model_in, model_out, x)

    with pytest.raises(CoverageError, match="written twice at one address"):
        run_transform(f, model.simulate((3,), rng=1), None, ())


@pytest.mark.parametrize("write_it", WRITES)
def test_observations_are_not_written(write_it):
    @transform
    def f(model_in, *, model_out):
        write_it(model_in, model_out, read(model_in["x", 2]))

    with pytest.raises(ProtectedObservationError) as caught:
        run_transform(f, model.generate((3,), {("x", 0): 1.0}, rng=1).trace, None, ())
    assert caught.value.address == ("x", 0)


@pytest.mark.parametrize("write_it", WRITES)
def test_observations_in_columns_are_neither_written_nor_traced(write_it):
    @gen
    def plate(n):
        mu = ~normal(0, 1)
        for i in range(n):
            ("x", i) @ ~normal(mu, 1)

    @transform
    def f(model_in, *, model_out):
        assert read(model_in["x", 1], continuous) == 0.5 and type(read(model_in["x", 1])) is float
        assert type(read(model_in["mu"])) is Dual
        write(model_out["mu"], 1.0)
        write_it(model_in, model_out, read(model_in["mu"]))

    with pytest.raises(ProtectedObservationError) as caught:
        run_transform(f, plate.generate((60,), {"x": [0.5] * 60}, rng=1).trace, None, ())
    assert caught.value.address == ("x", 0)


@pytest.mark.parametrize("value", ["x", "1.5", "[x]"])
def test_what_is_no_label_of_a_write(value):
    @transform
    def f(model_in, *, model_out):
        x = read(model_in["x", 0])
        if value == "x":
            write(model_out["x", 0], x, "continuous")
        elif value == "1.5":
            write(model_out["x", 0], 1.5, "continuous")
        else:
            write(model_out["x", 0], [x], "continuous")

    with pytest.raises(LabelError, match="is no label"):
        run_transform(f, model.simulate((3,), rng=1), None, ())


def test_what_is_no_label():
    @transform
    def f(model_in, *, model_out):
        read(model_in["k"], "discrete")

    with pytest.raises(LabelError, match="is no label"):
        run_transform(f, kinds.simulate(rng=1), None, ())


# --- errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "kind", "text"),
    [
        ("read(model_in[model_in['k']])", HandleError, r"model_in\['k'\] is an address, not a value"),
        ("read(model_in['x', read(aux_in['u'])])", LostDerivativeError, "part of an address"),
        ("read(model_in[['x']])", GenDSLError, r"\['x'\]"),
        ("read(model_out['x', 0])", HandleError, "can't read model_out"),
        ("write(model_in['x', 0], 1.0)", HandleError, "can't write to model_in"),
        ("write(model_out[()], 1.0)", HandleError, "model_out is a whole trace"),
        ("write(model_out[['x']], 1.0)", GenDSLError, r"\['x'\]"),
        ("write(model_out['x', 0], model_in['k'])", HandleError, "is an address, not a value"),
        ("copy(model_in['x', 0], aux_in['u'])", HandleError, "can't copy to aux_in"),
        ("copy(model_in['x', 0], model_out[()])", HandleError, "whole trace"),
        ("copy(model_in[['x']], model_out['k'])", GenDSLError, r"\['x'\]"),
        (
            "write(model_out['k'], 1)\n    copy(model_in['k'], model_out['k'])",
            CoverageError,
            r"written twice at one address \(first at .*:4\)",
        ),
    ],
)
def test_errors(statement, kind, text, tmp_path, monkeypatch):
    (tmp_path / "moves.py").write_text(
        "from gendsl import copy, read, transform, write\n"
        f"@transform\ndef f(model_in, aux_in, *, model_out, aux_out):\n    {statement}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "moves", None)  # so that what is imported is taken away again
    del sys.modules["moves"]
    f = import_module("moves").f
    with pytest.raises(kind, match=text):
        moved(f)
