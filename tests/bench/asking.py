"""What the clients of the bench ask: sessions without end, each with questions that have an answer in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import count, islice
from typing import Protocol

from tests.bench.planted import marked, question
from tests.bench.scenarios import Asked
from tests.bench.sessions import CHAT, Growing, Person
from tests.bench.shapes import loop
from tests.bench.workload import Workload

SMALL, LARGE = 2_000, 400_000
BEFORE = 3
"""Requests of a session before the server is started anew."""


class Requests(Protocol):
    """Where sessions come from. ``restarts`` says that the server is started anew before a session's last request."""

    restarts: bool

    def session(self) -> Iterator[Asked]:
        """The requests of a new one."""


class Questions:
    """Sessions of some turns behind a history of so many bytes, which all of them have; a question in each turn.
    ``first`` says whether a session's first request is counted, ``further`` whether there are others."""

    restarts = False

    def __init__(self, size: int, *, first: bool, further: bool) -> None:
        self._workload = Workload(size, stream=True, asking=self._questions())
        self._first = first
        self._further = further
        self._number = 0

    def _questions(self) -> Iterator[str]:
        for self._number in count():
            yield question(self._number)

    def session(self) -> Iterator[Asked]:
        """See :class:`Requests`."""
        for place, (session, body) in enumerate(self._workload.session()):
            if place and not self._further:
                return
            yield Asked(session, marked(body, self._number), counted=self._first or place > 0)


class Loops:
    """Sessions of an agent: a person's question, then the results of tools, one after the other."""

    restarts = False

    def __init__(self) -> None:
        self._numbers = count()

    def session(self) -> Iterator[Asked]:
        """See :class:`Requests`."""
        number = next(self._numbers)
        turns = loop(number)
        growing = Growing(CHAT, turns)
        asked = replace(turns[0], heard=(Person(question(number)),))
        for step, turn in enumerate((asked, *turns[1:]), 1):
            body = marked(growing.hear(turn), number, step)
            yield Asked(f"bench-loop-{number}", body, turn.reply, opening=step == 1)
            growing.answered(turn)


class Interrupted:
    """Sessions of a few questions behind a history of so many bytes, of which only the last is counted: before that the
    server is started anew."""

    restarts = True

    def __init__(self, size: int) -> None:
        self._questions = Questions(size, first=True, further=True)

    def session(self) -> Iterator[Asked]:
        """See :class:`Requests`."""
        for place, each in enumerate(islice(self._questions.session(), BEFORE + 1)):
            yield replace(each, counted=place == BEFORE)


SCENARIOS: Mapping[str, Callable[[], Requests]] = {
    "question of 2 KB": lambda: Questions(SMALL, first=True, further=True),
    "history of 400 KB, known session": lambda: Questions(LARGE, first=False, further=True),
    "history of 400 KB, new id": lambda: Questions(LARGE, first=True, further=False),
    "tool loop of 20 results": Loops,
    "cold start in a session of 400 KB": lambda: Interrupted(LARGE),
}
"""By name. With sixteen clients the last is sixteen agents at work."""
