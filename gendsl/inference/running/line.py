"""The line between a run and its chains in other processes: their reports come in, the word to stop goes out.

Plain connections over TCP, which reach workers on other machines as well; where they don't, there is no live
display and Ctrl-C waits for the chains, and everything else works. Messages are JSON, never pickled.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

from gendsl.inference.running.chain import Report

_LOG = logging.getLogger("gendsl")
_STOP = b"stop"
_PAUSE = 0.1  # seconds
_LOST = (OSError, EOFError, AuthenticationError, ValueError)


class Switchboard:
    """Where the reports of chains come in.

    Args:
        elsewhere: whether chains may run on other machines.

    Attributes:
        begun: the numbers of the chains that have reported.
    """

    def __init__(self, *, elsewhere: bool) -> None:
        self.key = os.urandom(32)
        self.listener = Listener(("" if elsewhere else "127.0.0.1", 0), authkey=self.key)
        self.port = self.listener.address[1]
        self.stopped = False
        self.closed = False
        self.latest: dict[int, Report] = {}
        self.begun: set[int] = set()
        self.attempts: dict[int, int] = {}
        self.lock = threading.Lock()
        self.lines: list[Connection] = []

    @property
    def contacts(self) -> Any:
        """What a worker needs to connect."""
        return socket.gethostname(), self.port, self.key

    def __enter__(self) -> Switchboard:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True
        try:  # a thread that waits for a connection ends when one comes
            socket.create_connection(("127.0.0.1", self.port), timeout=1.0).close()
        except OSError as error:
            _LOG.debug("the switchboard was closed already: %s", error)
        self.listener.close()
        with self.lock:
            for line in self.lines:
                line.close()

    def _accept(self) -> None:
        while not self.closed:
            try:
                line = self.listener.accept()
            except _LOST as error:
                _LOG.debug("a connection was refused: %s", error)
                continue
            with self.lock:
                self.lines.append(line)
            threading.Thread(target=self._listen, args=(line,), daemon=True).start()
            if self.stopped:
                self._send_stop(line)

    def _listen(self, line: Connection) -> None:
        try:
            while not self.closed:
                number, attempt, *report = json.loads(line.recv_bytes())
                with self.lock:
                    outdated = attempt < self.attempts.get(number, 0)
                    if not outdated:
                        self.latest[number] = Report(*report)
                        self.begun.add(number)
                if outdated:
                    self._send_stop(line)
        except (*_LOST, TypeError) as error:
            _LOG.debug("a chain hung up: %s", error)

    def expect(self, number: int, attempt: int) -> None:
        """Hear no more of earlier attempts at a chain; one that goes on somewhere is told to stop."""
        with self.lock:
            self.attempts[number] = attempt
            self.latest.pop(number, None)
            self.begun.discard(number)

    def reports(self) -> list[tuple[int, Report]]:
        """The last report of each chain that has sent one since this was called."""
        with self.lock:
            latest, self.latest = self.latest, {}
        return list(latest.items())

    def stop(self) -> None:
        """Tell all chains to stop."""
        self.stopped = True
        with self.lock:
            lines = list(self.lines)
        for line in lines:
            self._send_stop(line)

    def _send_stop(self, line: Connection) -> None:
        try:
            line.send_bytes(_STOP)
        except _LOST as error:
            _LOG.debug("a chain can't be told to stop: %s", error)


class Line:
    """A worker's end. All waiting is done by a thread: the chain leaves its report there and goes on.

    A worker process that the run itself started ends when the run was killed. Else it would go on with a
    chain that nobody waits for, and write to a folder in which `resume` may write by then.
    """

    def __init__(self, contacts: Any, home: tuple[str, int], attempt: int = 0) -> None:
        self.contacts = contacts
        self.home = home
        self.attempt = attempt
        self.message: bytes | None = None
        self.stopped = False
        self.ended = threading.Event()
        self.started_by_run = home == (socket.gethostname(), os.getppid())

    def __enter__(self) -> Line:
        threading.Thread(target=self._talk, daemon=True).start()
        if self.started_by_run:
            threading.Thread(target=self._end_with_the_run, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()

    def report(self, number: int, report: Report) -> bool:
        """Leave a report to be sent; whether the chain was told to stop."""
        content = [number, self.attempt, report.step, report.rates, report.value, report.seconds]
        self.message = json.dumps(content).encode()
        return self.stopped

    def _end_with_the_run(self) -> None:
        while not self.ended.wait(_PAUSE):
            if os.getppid() != self.home[1]:  # it is dead; a checkpoint withstands an end at any moment
                os._exit(1)

    def _talk(self) -> None:
        host, port, key = self.contacts
        if host == socket.gethostname():
            host = "127.0.0.1"
        try:
            with Client((host, port), authkey=key) as line:
                ended = False
                while not ended:
                    ended = self.ended.wait(_PAUSE)  # the last report was left just before
                    message, self.message = self.message, None
                    if message is not None:
                        line.send_bytes(message)
                    while line.poll():
                        is_stop = line.recv_bytes() == _STOP  # read also by a chain that was stopped before
                        self.stopped = self.stopped or is_stop
        except _LOST as error:
            _LOG.debug("no progress is shown of a chain: %s", error)
