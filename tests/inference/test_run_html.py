"""How runs and traces show themselves in notebooks."""

from html.parser import HTMLParser

import numpy as np
import pytest

from gendsl import choicemap, gen, normal, poisson, sample, select
from gendsl.inference import Run, mh


class Balance(HTMLParser):
    """Checks that every tag is closed in its place; collects the text."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def checked(page):
    parser = Balance()
    parser.feed(page)
    parser.close()
    assert not parser.open
    return parser.text


@gen
def model(n):
    k = ~poisson(2)
    for i in range(n):
        ("x", i) @ ~normal(k, 1)


def run_of(record, name="draw <k> & more"):
    trace, _ = model.generate((2,), {"x": [1.0, 2.0]}, rng=1)
    return sample(mh(select("k"), name=name), trace, 50, record=record, seed=1, progress=False)


def test_a_run_shows_its_kernels_and_quantities():
    run = run_of({"k": "k", "<b>": lambda trace: np.ones(3), "half": lambda trace: trace["k"] / 2})
    text = checked(run._repr_html_())
    assert "draw <k> & more" in text and f"{run.acceptance['draw <k> & more'].rate:.1%}" in text
    assert "<b>" in text and any(part.startswith("last: array") for part in text)
    assert f"{run['k'].mean():.5g}" in text
    shares = run.frequency("k")
    assert ", ".join(f"{k}: {share.probability:.4f}" for k, share in shares.items()) in text
    assert "failed checks" not in text


@pytest.mark.parametrize(
    ("seconds", "rate"), [(0.01, "5000/s"), (2.0, "25/s"), (10.0, "5/s"), (800.0, "0.062/s")]
)
def test_the_rate_of_slow_runs_is_not_zero(seconds, rate):
    run = Run(run_of("k").chains, ["k"], seconds)
    assert f"50 draws in {seconds:.1f} s ({rate})" in str(run)
    assert rate in run._repr_html_()


def test_failed_checks_are_shown():
    run = run_of("k")
    next(iter(run.chains[0].acceptance.values())).failed_checks = 3
    text = checked(run._repr_html_())
    assert text[text.index("failed checks") :].count("3") == 1 and "diverged" not in text
    next(iter(run.chains[0].acceptance.values())).divergences = 7
    text = checked(run._repr_html_())
    assert text[text.index("diverged") :].count("7") == 1


def test_many_quantities_are_cut():
    run = run_of({f"q{i}": "k" for i in range(25)})
    text = checked(run._repr_html_())
    assert "… 5 more" in text and "q19" in text and "q20" not in text


def test_a_run_of_whole_traces_and_one_without_draws():
    text = checked(run_of(None)._repr_html_())
    assert "quantity" not in text
    trace = model.simulate((2,), rng=1)
    empty = sample(mh(select("k")), trace, 0, record="k", progress=False)
    assert "no draws" in checked(empty._repr_html_())


def test_a_trace_shows_observations_apart():
    trace, _ = model.generate((100,), {"x": np.arange(100.0)}, rng=1)
    text = checked(trace._repr_html_())
    assert text.index("latent") < text.index(f"k: {trace['k']}") < text.index("observed")
    assert "… 87 more" in text and "… 87 more" not in text[: text.index("observed")]
    assert "<trace of model: 101 choices" in text[0]
    assert "observed" not in checked(model.simulate((2,), rng=1)._repr_html_())


@pytest.mark.parametrize("width", [5, 30])
def test_a_map_that_branches_much_is_cut(width):
    cm = choicemap({(a, b, c): 0 for a in range(width) for b in range(width) for c in range(width)})
    text = checked(cm._repr_html_())
    assert f"choicemap, {width**3} choices" in text
    assert sum(part.endswith(": 0") for part in text) == (125 if width == 5 else 930)
    assert len(text) < 4000
