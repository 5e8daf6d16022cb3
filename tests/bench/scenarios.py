"""What is asked of the proxy when its work is counted or measured: requests of an agent, and what its model replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from tests.bench.seed import questions
from tests.bench.sessions import CHAT, Growing, Person, Result, Turn
from tests.bench.shapes import LOOP
from tests.bench.workload import Workload
from tests.proxy.wire.rounds.scripts import Call, Round, Say

DECIDED = Round((Say("The retries stay at three, as decided."),))


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. One that is not ``counted`` only leads to the next; an ``opening`` one is a person's question before
    the results of tools that are looked at."""

    session: str
    body: bytes
    reply: Round = DECIDED
    counted: bool = True
    opening: bool = False


Scenario = Callable[[int], Iterator[Asked]]
"""So many requests that are counted, and those that lead to them, in each session before the first that is counted."""


def human_message(size: int, seed: int = 3) -> Scenario:
    """New human messages in sessions of a few turns, without tools."""

    def asked(count: int) -> Iterator[Asked]:
        workload = Workload(size, stream=True, seed=seed)
        requests = (Asked(*each) for _ in range(count) for each in workload.session())
        yield from islice(requests, count)

    return asked


def agent_message(count: int) -> Iterator[Asked]:
    """New human messages to an agent, which offers tools and has just run one; each in a session of its own."""
    for number, question in zip(range(count), questions(11), strict=False):
        session = f"agent-{number}"
        growing, turns = _listed(session)
        for turn in turns:
            yield Asked(session, growing.hear(turn), turn.reply, counted=False)
            growing.answered(turn)
        yield Asked(session, growing.hear(Turn((Person(question),), Round((Say("As decided."),)))))


def tool_results(texts: Sequence[str]) -> Scenario:
    """Results of tools in sessions of a person's one message and :data:`LOOP` results, of which all but the first are
    counted."""

    def asked(count: int) -> Iterator[Asked]:
        for begin in range(0, count, LOOP - 1):
            yield from _loop(texts, begin, min(LOOP, count - begin + 1))

    return asked


def _loop(texts: Sequence[str], begin: int, results: int) -> Iterator[Asked]:
    session = f"loop-{begin}"
    growing, (first, _) = _listed(session)
    turns, call = [first], first.reply.calls[0]
    for number in range(begin, begin + results):
        result = Result(call.id, texts[number % len(texts)].replace("NUMBER", f"{number}"))
        call = Call(f"call-{number}", "bash", json.dumps({"command": f"pytest tests/orders/part_{number}.py"}))
        turns.append(Turn((result,), Round((Say(f"On to part {number}."), call))))
    for place, turn in enumerate(turns):
        yield Asked(session, growing.hear(turn), turn.reply, counted=place > 1)
        growing.answered(turn)


def known_history(size: int) -> Scenario:
    """A history that is known comes under session ids that are not, each time with a new question behind it."""

    def asked(count: int) -> Iterator[Asked]:
        workload = Workload(size, stream=True, seed=5)
        for place in range(count + 1):
            yield Asked(*next(workload.session()), counted=place > 0)

    return asked


def _listed(session: str) -> tuple[Growing, tuple[Turn, Turn]]:
    """A session in which files were listed."""
    call = Call("call-first", "bash", json.dumps({"command": "ls orders"}))
    said = Person(f"Bring the parts of {session} in order, one after the other.")
    first = Turn((said,), Round((Say("I look what there is."), call)))
    listed = Turn((Result(call.id, "parse.py\nwrite.py\nretry.py"),), Round((Say("There are three files."),)))
    return Growing(CHAT, [first]), (first, listed)


PLAIN = (
    "    1 from orders.rows import Order\n    2 \n"
    "    3 def parse_NUMBER(row: list[str]) -> Order | None:\n"
    '    4     """One line of a file."""\n    5     if len(row) != 7:\n'
    "    6         raise ValueError(f'line {row}: {len(row)} fields')\n    7     return Order(*row)\n" * 6,
    "tests/orders/test_part_NUMBER.py::test_short_rows_are_refused PASSED\n" * 20 + "20 passed in 0.41s",
    "parse.py\nwrite.py\nretry.py\nbatch_NUMBER.py\nrows.py\n" * 8,
)
"""What tools give back where nothing failed. The first is source code that names an error."""

FAILED = (
    'Traceback (most recent call last):\n  File "orders/part_NUMBER.py", line 12, in parse\n    raise ValueError(row)\n'
    "ValueError: line NUMBER has 3 fields\n",
    "FAILED tests/orders/test_part_NUMBER.py::test_short - AssertionError: 3 != 7\n1 failed, 19 passed in 0.52s\n",
    "error[E0308]: mismatched types in part NUMBER\n  --> src/part.rs:4:12\nerror: aborting due to 1 previous error\n",
)

SCENARIOS: Mapping[str, tuple[Scenario, int]] = {
    "plain tool result": (tool_results(PLAIN), 12),
    "failed tool result": (tool_results(FAILED), 12),
    "human message of 2 KB": (human_message(2_000), 16),
    "human message to an agent": (agent_message, 8),
    "known history of 400 KB, new id": (known_history(400_000), 4),
}
"""By name, each with how many requests are counted."""
