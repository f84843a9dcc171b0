"""The live display: what a line says, when there is none, and what it costs."""

import io
import re
import sys
import types

import pytest

from gendsl import gen, normal, sample, select, uniform_discrete
from gendsl.errors import UnknownAddressError
from gendsl.inference import cycle, mh, progress
from gendsl.inference.chain import Plan, Report
from tests.inference.test_executors import InTurn


@gen
def model():
    k = ~uniform_discrete(1, 3)
    for j in range(k):
        ("mu", j) @ ~normal(0, 1)


KERNEL = cycle(mh(select("k")), mh(select(("mu", 0)), name="move"))


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Shown on it is what the test's own part shows: pytest puts its stream in place for each part."""
    terminal = Terminal()
    monkeypatch.setattr("gendsl.inference.chains.can_be_shown", lambda: True)
    monkeypatch.setattr("tqdm.std.sys", types.SimpleNamespace(**{**vars(sys), "stderr": terminal}))
    return terminal


def start():
    return model.simulate((), rng=1)


def lines(terminal):
    """What was shown, one after the other."""
    return [line for line in re.split(r"[\r\n]|\x1b\[A", terminal.getvalue()) if line.strip()]


def test_a_line_has_what_matters(terminal, monkeypatch):
    monkeypatch.setattr("gendsl.inference.chain.REPORT_EVERY", 0.0)
    run = sample(KERNEL, start(), 30, warmup=20, thin=2, progress="k", record="k", seed=1)
    shown = lines(terminal)
    assert any("chain 0 warm-up:" in line and "10/20" in line and "step/s" in line for line in shown)
    last = shown[-1]
    assert "chain 0:" in last and "30/30" in last and "draw/s" in last and "100%" in last
    assert f"k={run['k'][-1]}" in last
    for name, tally in run.acceptance.items():
        assert f"{name} {tally.rate:.0%}" in last
    middle = next(line for line in shown if "15/30" in line)
    assert re.search(r"\d\d:\d\d<\d\d:\d\d", middle)  # time gone, time left


def test_every_chain_has_a_line(terminal):
    run = sample(KERNEL, start(), 10, chains=3, progress=lambda t: t["mu", 0], seed=1, executor=InTurn())
    for number, chain in enumerate(run.chains):
        last = [line for line in lines(terminal) if f"chain {number}:" in line][-1]
        assert "10/10" in last and f"value={chain.last['mu', 0]:.4g}" in last


def test_a_choice_that_comes_and_goes(terminal, monkeypatch):
    monkeypatch.setattr("gendsl.inference.chain.REPORT_EVERY", 0.0)
    sample(KERNEL, start(), 60, progress=("mu", 1), seed=1)
    assert "('mu', 1)=-" in terminal.getvalue() and re.search(r"\('mu', 1\)=-?\d", terminal.getvalue())


def test_a_chain_that_is_made_again_starts_anew(terminal):
    display = progress.Display([Plan(0, KERNEL, start(), None, {}, 100)], shown=True)
    for step in (40, 80, 10, 100):
        display.show(0, Report(step, {"move": 0.25}))
    display.close()
    shown = lines(terminal)
    assert any("10/100" in line for line in shown) and "100/100" in shown[-1] and "move 25%" in shown[-1]


def test_nothing_is_shown_where_nobody_looks(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    sample(KERNEL, start(), 10, chains=2, progress="k", seed=1, executor=InTurn())
    assert stream.getvalue() == ""


def test_a_notebook_is_looked_at(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    for config, looked_at in (({"IPKernelApp": {}}, True), ({}, False)):
        shell = types.SimpleNamespace(config=config)
        monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda s=shell: s))
        assert progress.can_be_shown() is looked_at


def test_a_typo_is_an_error(terminal):
    with pytest.raises(UnknownAddressError, match="the progress display"):
        sample(KERNEL, start(), 10, progress="kk")
