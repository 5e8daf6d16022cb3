"""The requests: an agent's sessions of a given size, which grow turn by turn."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator

from tests.bench.seed import questions

_LINES = (
    "    def parse(self, row: list[str], *, strict: bool = True) -> Order | None:",
    "        if len(row) != len(self.columns): raise ValueError(f'line {self.number}: {len(row)} fields')",
    "tests/orders/test_parse.py::test_short_rows_are_refused PASSED                        [ 41%]",
    "2026-03-02T10:14:07Z INFO worker-3 batch 118 of 240 written in 412 ms, 0 retried, 2 skipped",
    "The importer reads a file line by line, and a line that cannot be read is kept beside the others.",
)


TURNS = 8
"""Requests of one session."""

_REPLY = json.dumps({"role": "assistant", "content": "The retries stay at three, as decided."})


class Workload:
    """Sessions whose requests have about ``size`` bytes. All begin with the same long history, as the requests of one
    project do with the same files and rules, and go on with questions that no other has."""

    def __init__(self, size: int, *, stream: bool, seed: int = 1, asking: Iterator[str] | None = None) -> None:
        self.size = size
        self.stream = stream
        self._questions = asking or questions(seed)
        self._numbers = itertools.count()
        rng = random.Random(seed)
        messages: list[dict[str, str]] = [{"role": "system", "content": "You are a coding agent. Answer briefly."}]
        length = 1300
        while length < size:
            text = "\n".join(rng.choice(_LINES) for _ in range(rng.randrange(4, 40)))[: size - length]
            messages.append({"role": "user" if len(messages) % 2 else "assistant", "content": text})
            length += len(text) + 40
        if len(messages) % 2 == 0:
            messages.append({"role": "assistant", "content": "Done."})
        rest = {"stream": True, "stream_options": {"include_usage": True}} if stream else {"stream": False}
        whole = json.dumps({"model": "bench", "messages": [*messages, "@@@"], **rest})
        self._before, self._after = whole.encode().split(b'"@@@"')

    def session(self) -> Iterator[tuple[str, bytes]]:
        """The requests of a new session: its id, and the body."""
        session, said = f"bench-{self.size}-{self.stream}-{next(self._numbers)}", list[str]()
        for turn in range(TURNS):
            question = f"{next(self._questions)} ({session}, {turn})"
            said.append(json.dumps({"role": "user", "content": question}))
            yield session, self._before + ", ".join(said).encode() + self._after
            said.append(_REPLY)
