"""Pictures: texts stay inside and apart, nothing global changes, wrong arguments are errors."""

import builtins
import importlib
import sys
from itertools import combinations

import matplotlib
import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from matplotlib.figure import Figure
from matplotlib.text import Text

from gendsl import bernoulli, gen, normal, poisson, read, sample, select, transform, write
from gendsl.errors import UnknownAddressError, ValueTypeError
from gendsl.inference import cycle, mh
from gendsl.viz import (
    plot_acceptance,
    plot_k_trace,
    plot_posterior_structure,
    plot_trace_tree,
    plot_transform,
)


@gen
def many(n):
    for i in range(n):
        ("x", i) @ ~normal(0, 1)
        ("a_rather_long_name_of_a_flag", i) @ ~bernoulli(0.5)


@gen
def momenta(trace, n):
    for i in range(n):
        ("momentum", i) @ ~normal(0, 1)


@transform
def exchange(model_in, aux_in, *, model_out, aux_out):
    for i in range(model_in.args[0]):
        write(model_out["x", i], read(aux_in["momentum", i]))
        write(aux_out["momentum", i], read(model_in["x", i]))


def boxes(figure):
    """The visible texts of a figure, each with its box in pixels: x0, y0, x1, y1."""
    figure.draw_without_rendering()  # which settles the layout
    hidden = set()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks():
            if not low <= tick.get_loc() <= high:
                hidden |= {tick.label1, tick.label2}
    texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip() and t not in hidden]
    return [(text.get_text(), text.get_window_extent().extents.tolist()) for text in texts]


def assert_tidy(figure):
    """All text is inside the figure, and none overlaps another."""
    found = boxes(figure)
    width, height = figure.bbox.size
    for text, (x0, y0, x1, y1) in found:
        assert x0 >= -1 and y0 >= -1 and x1 <= width + 1 and y1 <= height + 1, text
    for (a, box_a), (b, box_b) in combinations(found, 2):
        across = min(box_a[2], box_b[2]) - max(box_a[0], box_b[0])
        down = min(box_a[3], box_b[3]) - max(box_a[1], box_b[1])
        assert across <= 1 or down <= 1, (a, b)


@pytest.mark.parametrize("n", [1, 6, 14, 40])
def test_texts_of_a_transform_are_apart(n):
    trace = many.simulate((n,), rng=1)
    figure = plot_transform(exchange, trace, momenta.simulate((trace, n), rng=1))
    assert_tidy(figure)
    assert max(figure.get_size_inches()) < 20


@transform
def doubled(model_in, *, model_out):
    total = read(model_in["x", 0]) + read(model_in["x", 1])
    write(model_out["x", 0], total)
    write(model_out["x", 1], 2 * total)


@transform
def one_of_two(model_in, aux_in, *, model_out, aux_out):
    write(model_out["x", 0], read(aux_in["momentum", 0]) ** 2)


@gen
def some_momenta(trace):
    if trace["x", 0] < 0:
        for i in range(2):
            ("momentum", i) @ ~normal(0, 1)


def test_what_is_wrong_with_a_jacobian_is_written_beneath():
    trace = many.simulate((3,), rng=1)
    figure = plot_transform(doubled, trace)
    assert_tidy(figure)
    assert any("its outputs are not independent" in text for text in texts(figure))
    trace, _ = many.generate((2,), init={("x", 0): -1.0}, rng=1)
    aux = some_momenta.simulate((trace,), rng=1)
    figure = plot_transform(one_of_two, trace, aux)
    assert_tidy(figure)
    assert any("maps 3 free continuous coordinates to 1" in text for text in texts(figure))


def test_overlap_is_found():
    figure = plot_trace_tree(many.simulate((1,), rng=1))
    figure.axes[0].text(0.5, 0.12, "planted")
    with pytest.raises(AssertionError):
        assert_tidy(figure)


def texts(figure):
    return [text for text, _ in boxes(figure)]


def test_neighbours_that_are_left_alone_share_a_line():
    trace = many.simulate((3,), rng=1)
    shown = texts(plot_transform(exchange, trace, momenta.simulate((trace, 3), rng=1)))
    assert shown.count("x, 1") == 4  # before, after, row, column
    trace = many.simulate((100,), rng=1)
    shown = texts(plot_transform(exchange, trace, momenta.simulate((trace, 100), rng=1), most=12))
    assert sum(text.startswith("… ") for text in shown) == 4


@gen
def deep(n):
    if n:
        x = ~normal(0, 1)
        "next" @ ~deep(n - 1)


@pytest.mark.parametrize(("model", "n"), [(many, 1), (many, 30), (many, 500), (deep, 5), (deep, 40)])
def test_texts_of_a_tree_are_apart(model, n):
    trace = model.simulate((n,), rng=1)
    figure = plot_trace_tree(trace)
    assert_tidy(figure)
    assert figure.get_size_inches()[1] < 17
    shown = "\n".join(texts(figure))
    assert f"{len(trace.records)} choices" in shown
    if n == 500:
        counted = sum(int(line.split()[1]) for line in shown.splitlines() if line.endswith("more"))
        leaves = sum(": " in line and "log p" not in line for line in shown.splitlines())
        assert counted + leaves == 1000


def test_observations_of_a_tree_are_cut():
    trace, _ = many.generate((20,), {"x": np.arange(20.0)}, rng=1)
    shown = texts(plot_trace_tree(trace))
    assert "… 15 more" in shown and "19: 19" in shown and "7: 7" not in shown


@gen
def groups():
    k = ~poisson(2)
    for j in range(k):
        ("mu", j) @ ~normal(0, 1)
    if k == 1:
        lonely = ~normal(0, 1)


KERNEL = cycle(mh(select("k"), name="draw k"), mh(select("k"), name="draw k again, with a long name"))


@pytest.fixture(scope="module")
def run():
    return sample(KERNEL, groups.simulate(rng=1), 200, seed=1, progress=False)


def test_pictures_of_a_run_are_tidy(run):
    for figure in (plot_acceptance(run), plot_k_trace(run, "k"), plot_posterior_structure(run),
                   plot_posterior_structure(run, "k")):  # fmt: skip
        assert_tidy(figure)


def test_structures(run):
    figure = plot_posterior_structure(run, most=2)
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels[-1].endswith(" more") and {"k, mu, lonely", "k, mu ×2"} == set(labels[:2])
    lengths = [bar.get_width() for bar in figure.axes[0].patches]
    assert sum(lengths) == pytest.approx(1.0)
    heights = [bar.get_height() for bar in plot_posterior_structure(run, "k").axes[0].patches]
    assert heights == pytest.approx([share.probability for share in run.frequency("k").values()])


def test_long_names_that_differ_in_the_middle_stay_apart():
    long = "part, " * 9
    record = {"name": lambda trace: f"{long}{trace['k']} {long}"}
    kernel = cycle(*(mh(select("k"), name=f"{long}{i} {long}") for i in range(2)))
    run = sample(kernel, groups.simulate(rng=1), 50, seed=1, record=record, progress=False)
    for figure in (plot_posterior_structure(run, "name"), plot_acceptance(run)):
        assert_tidy(figure)
        labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
        assert len(labels) > 1 and len(set(labels)) == len(labels)
        assert labels[1].endswith(" (2)")


@pytest.mark.slow
def test_structures_in_axes_of_the_callers(run):
    figure = Figure()
    axes = figure.subplots()
    assert plot_posterior_structure(run, "k", axes=axes) is figure
    assert plot_acceptance(run, axes=figure.subplots()) is figure


def test_k_trace_has_the_draws_and_their_shares(run):
    left, right = plot_k_trace(run, "k").axes
    assert left.lines[0].get_ydata().tolist() == run["k"].tolist()
    shares = {round(bar.get_y() + bar.get_height() / 2): bar.get_width() for bar in right.patches}
    assert shares == pytest.approx({k: s.probability for k, s in run.frequency("k").items()})


def test_a_k_that_is_no_number_is_an_error():
    record = {"name": lambda trace: "a", "gap": lambda trace: None if trace["k"] > 2 else 1.5}
    run = sample(KERNEL, groups.simulate(rng=1), 50, seed=1, record=record, progress=False)
    with pytest.raises(ValueTypeError, match="a number in every draw"):
        plot_k_trace(run, "name")
    assert np.isnan(plot_k_trace(run, "gap").axes[0].lines[0].get_ydata()).any()
    with pytest.raises(UnknownAddressError):
        plot_k_trace(run, "nothing")


@pytest.mark.parametrize("plot", [plot_acceptance, plot_k_trace, plot_posterior_structure])
def test_nothing_but_runs_with_draws(plot, run):
    with pytest.raises(ValueTypeError, match="draws a run"):
        plot([1, 2])
    with pytest.raises(ValueTypeError, match="without draws"):
        plot(run.part([[]]))
    with pytest.raises(ValueTypeError, match="draws a trace"):
        plot_trace_tree(run)


def test_nothing_global_changes(run):
    before = dict(matplotlib.rcParams)
    figure = plot_trace_tree(run.last)
    figure._repr_svg_()
    assert dict(matplotlib.rcParams) == before
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or all(pyplot.figure(number) is not figure for number in pyplot.get_fignums())


def test_notebooks_show_svg_and_png(run):
    shown, sizes = DisplayFormatter().format(plot_acceptance(run))
    assert shown["image/png"] and sizes["image/png"]["width"] > 300
    shown, _ = DisplayFormatter().format(plot_trace_tree(run.last))
    assert shown["image/png"] and "<svg" in shown["image/svg+xml"]


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def missing(name, *rest, **options):
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")
        return real(name, *rest, **options)

    for name in [name for name in sys.modules if name.startswith("gendsl.viz")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r"pip install 'gendsl\[plot\]'"):
        importlib.import_module("gendsl.viz")
