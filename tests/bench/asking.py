"""What the clients of the bench ask: sessions without end, each with questions that have an answer in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Protocol

from tests.bench.planted import question
from tests.bench.scenarios import DECIDED, LOOP, PLAIN, Asked
from tests.bench.sessions import CHAT, Growing, Person, Result, Turn
from tests.bench.workload import Workload
from tests.proxy.wire.rounds.scripts import Call, Round, Say

SMALL, LARGE = 2_000, 400_000


class Requests(Protocol):
    """Where sessions come from."""

    def session(self) -> Iterator[Asked]:
        """The requests of a new one."""


class Questions:
    """Sessions of some turns behind a history of so many bytes, which all of them have; a question in each turn.
    ``first`` says whether a session's first request is counted, ``further`` whether there are others."""

    def __init__(self, size: int, *, first: bool, further: bool) -> None:
        self._workload = Workload(size, stream=True, asking=map(question, count()))
        self._first = first
        self._further = further

    def session(self) -> Iterator[Asked]:
        """See :class:`Requests`."""
        for place, (session, body) in enumerate(self._workload.session()):
            if place and not self._further:
                return
            yield Asked(session, body, counted=self._first or place > 0)


class Loops:
    """Sessions of an agent: a person's question, then the results of tools, one after the other."""

    def __init__(self) -> None:
        self._numbers = count()

    def session(self) -> Iterator[Asked]:
        """See :class:`Requests`."""
        number = next(self._numbers)
        session = f"bench-loop-{number}"
        call = Call(f"call-{number}-0", "bash", json.dumps({"command": "ls orders"}))
        turns = [Turn((Person(question(number)),), Round((Say("I look what there is."), call)))]
        for place in range(LOOP):
            text = PLAIN[place % len(PLAIN)].replace("NUMBER", f"{number}_{place}")
            before = call
            call = Call(f"call-{number}-{place + 1}", "bash", json.dumps({"command": f"cat part_{place}"}))
            turns.append(Turn((Result(before.id, text),), Round((Say(f"On to part {place}."), call))))
        growing = Growing(CHAT, turns[:1])
        for turn in turns:
            yield Asked(session, growing.hear(turn), DECIDED)
            growing.answered(turn)


SCENARIOS: Mapping[str, Callable[[], Requests]] = {
    "question of 2 KB": lambda: Questions(SMALL, first=True, further=True),
    "history of 400 KB, known session": lambda: Questions(LARGE, first=False, further=True),
    "history of 400 KB, new id": lambda: Questions(LARGE, first=True, further=False),
    "tool loop of 20 results": Loops,
}
"""By name. With sixteen clients the last is sixteen agents at work."""
