"""The requests: a growing agent's conversation of a given size, each time with another newest question."""

from __future__ import annotations

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


class Workload:
    """Bodies of about ``size`` bytes. The history is the same in all of them, as in a session that goes on; the newest
    message is another one each time, and the session too, so that no reply can come from what was done before."""

    def __init__(self, size: int, *, stream: bool, seed: int = 1) -> None:
        self.size = size
        self.stream = stream
        self._questions = questions(seed)
        rng = random.Random(seed)
        messages: list[dict[str, str]] = [{"role": "system", "content": "You are a coding agent. Answer briefly."}]
        length = 600
        while length < size:
            text = "\n".join(rng.choice(_LINES) for _ in range(rng.randrange(4, 40)))[: size - length]
            messages.append({"role": "user" if len(messages) % 2 else "assistant", "content": text})
            length += len(text) + 40
        if len(messages) % 2 == 0:
            messages.append({"role": "assistant", "content": "Done."})
        rest = {"stream": True, "stream_options": {"include_usage": True}} if stream else {"stream": False}
        whole = json.dumps({"model": "bench", "messages": [*messages, {"role": "user", "content": "@@@"}], **rest})
        self._before, self._after = whole.encode().split(b'"@@@"')

    def bodies(self) -> Iterator[bytes]:
        """Bodies without end."""
        for number, question in enumerate(self._questions):
            yield self._before + json.dumps(f"{question} ({number})").encode() + self._after
