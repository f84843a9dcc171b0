"""The live display: what a line says, when there is none, and what it costs."""

import io
import re
import sys
import threading
import time
import types

import numpy as np
import pytest

from gendsl import gen, normal, sample, select, uniform_discrete
from gendsl.errors import UnknownAddressError
from gendsl.inference import cycle, mh
from gendsl.inference.running import progress
from gendsl.inference.running.chain import Plan, Report, run_chain
from gendsl.inference.running.line import Line, Switchboard
from tests.inference.test_executors import InTurn


@gen
def model():
    k = ~uniform_discrete(1, 3)
    for j in range(k):
        ("mu", j) @ ~normal(0, 1)


KERNEL = cycle(mh(select("k")), mh(select(("mu", 0)), name="move"))


WALK = mh(select("k"), name="walk")


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True

    def screen(self):
        """What it shows in the end, and the line that the cursor is on."""
        lines, row, column = [""], 0, 0
        for part in re.findall(r"\x1b\[A|[\r\n]|[^\x1b\r\n]+", self.getvalue()):
            if part == "\x1b[A":
                row -= 1
            elif part == "\r":
                column = 0
            elif part == "\n":
                row, column = row + 1, 0
                lines += [""] * (row + 1 - len(lines))
            else:
                line = lines[row].ljust(column)
                lines[row] = line[:column] + part + line[column + len(part) :]
                column += len(part)
        return [line.rstrip() for line in lines], row


@pytest.fixture
def terminal(monkeypatch):
    """Shown on it is what the test's own part shows: pytest puts its stream in place for each part."""
    terminal = Terminal()
    monkeypatch.setattr("gendsl.inference.running.chains.can_be_shown", lambda: True)
    monkeypatch.setattr("tqdm.std.sys", types.SimpleNamespace(**{**vars(sys), "stderr": terminal}))
    monkeypatch.setenv("COLUMNS", "81")
    monkeypatch.setenv("LINES", "24")
    return terminal


def start():
    return model.simulate((), rng=1)


def lines(terminal):
    """What was shown, one after the other."""
    return [line for line in re.split(r"[\r\n]|\x1b\[A", terminal.getvalue()) if line.strip()]


def test_a_line_has_what_matters(terminal, monkeypatch):
    monkeypatch.setattr("gendsl.inference.running.chain.REPORT_EVERY", 0.0)
    run = sample(WALK, start(), 30, warmup=20, thin=2, progress="k", record="k", seed=1)
    shown = lines(terminal)
    assert any("chain 0 warm-up:" in line and "10/20" in line and "step/s" in line for line in shown)
    middle = next(line for line in shown if "15/30" in line)
    assert re.search(r"\d\d:\d\d<\d\d:\d\d", middle)  # time gone, time left
    (line, below), row = terminal.screen()
    assert line.startswith("chain 0: 100%") and "30/30" in line and "draw/s" in line
    assert line.endswith(f"k={run['k'][-1]}, walk {run.acceptance['walk'].rate:.0%}]") and len(line) <= 80
    assert (below, row) == ("", 1)


def test_every_chain_has_a_line_and_several_kernels_a_table(terminal):
    run = sample(KERNEL, start(), 10, chains=3, progress=lambda t: t["mu", 0], seed=1, executor=InTurn())
    shown, row = terminal.screen()
    for number, (line, chain) in enumerate(zip(shown, run.chains, strict=False)):
        assert line.startswith(f"chain {number}: 100%") and "10/10" in line and "draw/s" in line
        assert f"value={chain.last['mu', 0]:.4g}]" in line and len(line) <= 80
        assert float(re.search(r"([\d.]+)draw/s", line)[1]) < 3 * 10 / chain.seconds
    assert shown[3] == "accepted, chain      0     1     2"
    for line, name in zip(shown[4:6], run.acceptance, strict=True):
        rates = [f"{chain.acceptance[name].rate:.0%}" for chain in run.chains]
        assert line.split() == [*name.split(), *rates]
    assert (shown[6:], row) == ([""], 6)


def test_the_table_of_acceptance():
    table = progress.acceptance_table({"a" * 40: [0.5, None], "walk": [1.0, 0.004]})
    assert table == [
        "accepted, chain                        0     1",
        f"  {'a' * 31}…   50%     -",
        f"  {'walk':<32}  100%    0%",
    ]
    table = progress.acceptance_table({"a": [0.5], "bb": [0.25]})
    assert table == ["accepted", "  a        50%", "  bb       25%"]
    many = progress.acceptance_table({f"kernel {i}": [0.5] for i in range(20)})
    assert len(many) == 18 and many[-1] == "  … 4 more"


def test_a_chain_that_is_done_keeps_its_time(terminal, monkeypatch):
    """Another one may go on for long; its last report is shown once more in the end."""
    now = [100.0]
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    display = progress.Display([Plan(i, WALK, start(), None, {}, 100) for i in range(2)], shown=True)
    for seconds, number, step in ((0, 0, 1), (0, 1, 1), (2, 0, 100), (20, 1, 100), (0, 0, 100)):
        now[0] += seconds
        display.show(number, Report(step, {"walk": 0.25}))
    display.close()
    shown, _ = terminal.screen()
    assert "[00:02<00:00, 50.00draw/s, walk 25%]" in shown[0] and "[00:22<00:00" in shown[1]


def test_the_time_is_that_of_the_chain(terminal):
    """Not that since the display was made, when there was no worker yet, nor that since the first report."""
    display = progress.Display([Plan(0, WALK, start(), None, {}, 100, warmup=50)], shown=True)
    for step, seconds in ((25, 10.0), (100, 4.0), (150, 8.0)):
        display.show(0, Report(step, {"walk": 0.25}, None, seconds))
    display.close()
    shown = lines(terminal)
    assert any("25/50 [00:10<00:10,  2.50step/s" in line for line in shown)
    assert any("50/100 [00:04<00:04, 12.50draw/s" in line for line in shown)
    last = re.search(r"100/100 \[00:08<00:00, ([\d.]+)draw/s", terminal.screen()[0][0])
    assert float(last[1]) == pytest.approx(12.5, abs=0.2)  # with the time that showing it took


def test_a_short_run_has_the_rate_that_it_says(terminal):
    """Its only report comes at its end."""
    run = sample(WALK, start(), 2000, record="k", seed=1)
    rate = float(re.search(r"([\d.]+)draw/s", terminal.screen()[0][0])[1])
    assert rate < 10 * len(run) / run.seconds


def test_a_chain_says_how_long_it_has_been_drawing():
    waits = iter([0.005] * 40)

    def slow_at_first(trace, rng):
        time.sleep(next(waits, 0.0))
        return WALK(trace, rng)

    reports = []
    began = time.perf_counter()
    run_chain(
        Plan(0, slow_at_first, start(), np.random.default_rng(1), {}, 10, warmup=40),
        lambda number, report: reports.append(report),
    )
    assert 0 < reports[-1].seconds < time.perf_counter() - began - 40 * 0.005
    assert reports[0].step <= 40 and reports[0].seconds >= 0.1


def test_the_last_report_of_a_chain_arrives():
    with Switchboard(elsewhere=False) as board:
        with Line(board.contacts, ("another machine", 0)) as line:
            until(lambda: board.lines)
            line.report(3, Report(7, {"walk": 0.5}, "2", 1.5))
        arrived = until(board.reports)
    assert arrived == [(3, Report(7, {"walk": 0.5}, "2", 1.5))]


def test_nothing_waits_for_a_chain_that_was_stopped_any_more():
    """It was told so twice, and the other end is closed before its own."""
    before = set(threading.enumerate())
    with Switchboard(elsewhere=False) as board:
        line = Line(board.contacts, ("another machine", 0))
        line.__enter__()
        until(lambda: board.lines)
        board.stop()
        assert until(lambda: line.stopped)
        board.stop()
    line.__exit__()
    assert until(lambda: not any("_talk" in one.name for one in set(threading.enumerate()) - before), 5.0)


def until(condition, seconds=20.0):
    """What a condition comes to be."""
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.01)
    return found


def test_a_choice_that_comes_and_goes(terminal, monkeypatch):
    monkeypatch.setattr("gendsl.inference.running.chain.REPORT_EVERY", 0.0)
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


class Cell:
    """What a cell of a notebook shows."""

    def __init__(self):
        self.shown = []

    def display(self, data, *, raw, display_id):
        assert raw and display_id
        self.shown.append([data["text/plain"]])
        return types.SimpleNamespace(update=lambda data, raw: self.shown[-1].append(data["text/plain"]))


def test_a_notebook_shows_one_text_that_is_replaced(monkeypatch):
    cell, stream = Cell(), io.StringIO()
    shell = types.SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=cell.display))
    monkeypatch.setattr("gendsl.inference.running.progress._PAUSE", 0.0)
    run = sample(KERNEL, start(), 10, chains=2, progress="k", record="k", seed=1, executor=InTurn())
    (texts,) = cell.shown
    assert "chain 1:   0%" in texts[0] and len(texts) > 1 and stream.getvalue() == ""
    shown = texts[-1].splitlines()
    assert len(shown) == 5 and all(len(line) <= 88 for line in shown)
    for number, line in enumerate(shown[:2]):
        assert line.startswith(f"chain {number}: 100%|█") and "10/10" in line
        assert line.endswith(f"k={run['k'][number][-1]}]")
    assert [line.split()[-2:] for line in shown[3:]] == [
        [f"{chain.acceptance[name].rate:.0%}" for chain in run.chains] for name in run.acceptance
    ]


def test_a_notebook_is_not_shown_every_report(monkeypatch):
    cell = Cell()
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=cell.display))
    monkeypatch.setattr("gendsl.inference.running.progress._in_notebook", lambda: True)
    display = progress.Display([Plan(0, WALK, start(), None, {}, 100)], shown=True)
    for step in range(1, 100):
        display.show(0, Report(step, {"walk": 0.25}))
    assert len(cell.shown[0]) < 10
    display.close()
    assert " 99/100 " in cell.shown[0][-1]


def test_a_notebook_is_looked_at(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    for config, looked_at in (({"IPKernelApp": {}}, True), ({}, False)):
        shell = types.SimpleNamespace(config=config)
        monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda s=shell: s))
        assert progress.can_be_shown() is looked_at


def test_a_typo_is_an_error(terminal):
    with pytest.raises(UnknownAddressError, match="the progress display"):
        sample(KERNEL, start(), 10, progress="kk")
